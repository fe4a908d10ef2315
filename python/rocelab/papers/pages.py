"""What came of the papers' claims, as Markdown: from what ``readings.json`` holds."""

from __future__ import annotations

from collections.abc import Sequence

from rocelab._format import pluralise
from rocelab._text_table import markdown
from rocelab.papers.decisions import STEPS, option_id
from rocelab.papers.model import ClaimKind, Verdict
from rocelab.papers.record import ColumnWords, FigureWords, JudgedClaim, Matrix

_SIGNS: dict[Verdict, str] = {"holds": "+", "weaker": "~", "differs": "-", "undecidable": "?"}
_WORDS: dict[Verdict, str] = {
    "holds": "hold",
    "weaker": "weaker",
    "differs": "differ",
    "undecidable": "undecidable",
}
_WHAT = (
    "Which claims of this paper hold in rocelab? Its figures were run again, and each claim was "
    "judged: it holds, is weaker than claimed, differs, or is undecidable because the seeds spread "
    "too far. Where a paper leaves something open, a *reading* makes one choice for each such "
    "question. The *headline* reading is chosen by a rule that never looks at results. "
    "[Reproduce](reproduce.md) has that rule, and how claims are judged."
)


def page(matrix: Matrix) -> str:
    """A paper's claims, what they depend on, and what was measured."""
    parts = [
        f"# Claims: {matrix.citation}",
        f"{_WHAT} Written by `{matrix.command}`.",
        _counts(matrix),
    ]
    if matrix.decisions:
        parts += ["## Readings", _readings(matrix), *_doubts(matrix)]
        parts += [
            "## Which claims hold in which reading",
            _legend(matrix),
            _claims_by_reading(matrix),
        ]
        parts += ["## Decisions", _DECISIONS, _decisions(matrix)]
    parts += ["## What was measured", _measured_in(matrix)]
    for figure in matrix.figures:
        parts += [f"### `{matrix.paper}/{figure.id}`", f"{figure.title}."]
        parts += [text for text in _tables(matrix, figure) if text]
    if matrix.assumptions:
        parts += ["## Where the paper is silent", "For all figures and readings:"]
        parts += ["\n".join(f"- {text}" for text in matrix.assumptions)]
    return "\n\n".join(parts) + "\n"


def overview(matrices: Sequence[Matrix], link: str) -> str:
    """A table over the papers; ``link`` leads to the page of a paper's name."""
    head = (
        "paper",
        "claims",
        "hold by the rule's reading",
        "undecidable",
        "hold in every reading",
        "depend on the reading",
        "hold in none",
        "what most depends on",
        "version",
    )
    rows: list[Sequence[str]] = [head]
    for matrix in matrices:
        groups = _groups(matrix)
        headline = _verdicts(matrix, _main(matrix)[0])
        rows.append(
            (
                f"[{_NAMES[matrix.paper]}]({link.format(matrix.paper)})",
                str(len(headline)),
                str(headline.count("holds")),
                str(headline.count("undecidable")),
                *(str(len(groups[name])) for name in ("every", "some", "none")),
                _most_turned(matrix),
                _versions(matrix),
            )
        )
    return markdown(rows, left=1)


def _versions(matrix: Matrix) -> str:
    headline, *named = (_version(column) for column in _main(matrix))
    return headline if set(named) <= {headline} else f"{headline}; other readings quick"


_NAMES = {
    "fncc": "FNCC",
    "mercury": "Mercury",
    "rcm": "RCM",
    "hiercc": "HierCC",
    "themis": "THEMIS",
    "conweave": "ConWeave",
}


def _main(matrix: Matrix) -> list[ColumnWords]:
    """The columns of the headline and the named readings, each in its fullest version."""
    found: dict[str, ColumnWords] = {}
    for column in matrix.columns:
        if column.kind != "flip":
            found.setdefault(column.name, column)
    return list(found.values())


def _claims(matrix: Matrix) -> list[tuple[str, JudgedClaim]]:
    """The paper's claims with their figures; checks of ours are not counted."""
    return [
        (figure.id, claim)
        for figure in matrix.figures
        for claim in figure.claims
        if claim.kind == "paper"
    ]


def _verdict(claim: JudgedClaim, column: ColumnWords) -> Verdict:
    return claim.outcomes[column.id].verdict


def _verdicts(matrix: Matrix, column: ColumnWords) -> list[Verdict]:
    return [_verdict(claim, column) for _, claim in _claims(matrix)]


def _groups(matrix: Matrix) -> dict[str, list[tuple[str, JudgedClaim]]]:
    """The claims that hold in every reading, in some, and in none."""
    groups: dict[str, list[tuple[str, JudgedClaim]]] = {"every": [], "some": [], "none": []}
    for figure, claim in _claims(matrix):
        holds = [_verdict(claim, column) == "holds" for column in _main(matrix)]
        name = "every" if all(holds) else "some" if any(holds) else "none"
        groups[name].append((figure, claim))
    return groups


def _counts(matrix: Matrix) -> str:
    verdicts = _verdicts(matrix, _main(matrix)[0])
    if not verdicts:
        return "It has no claims."
    counted = ", ".join(f"{verdicts.count(verdict)} {words}" for verdict, words in _WORDS.items())
    text = (
        f"Of {pluralise(len(verdicts), 'claim', 'claims')} of the paper, in {_shown(matrix)} "
        f"({_version(_main(matrix)[0])} version): {counted}."
    )
    if len(_main(matrix)) > 1:
        groups = _groups(matrix)
        text += (
            f" Over the {len(_main(matrix))} readings {len(groups['every'])} hold in every one, "
            f"{len(groups['some'])} in some, {len(groups['none'])} in none. The headline follows "
            "the rule, not the outcome. A claim that holds in no reading is a finding; one that "
            "holds in some is a question to the authors."
        )
    return text


def _shown(matrix: Matrix) -> str:
    """The reading whose numbers the page has."""
    first = _main(matrix)[0]
    kind = "the headline reading" if first.kind == "headline" else "the reading"
    return f"{kind} `{first.name}`"


def _version(column: ColumnWords) -> str:
    return "quick" if column.quick else "full"


def _readings(matrix: Matrix) -> str:
    head = ("", "reading", "what it stands for", "options that differ", "version")
    rows: list[Sequence[str]] = [(*head, *_WORDS.values())]
    for number, column in enumerate(_main(matrix), 1):
        verdicts = _verdicts(matrix, column)
        choices = [
            f"[{_option_id(matrix, decision, option)}](#decisions)"
            for decision, option in column.choices.items()
        ]
        counts = [str(verdicts.count(verdict)) for verdict in _WORDS]
        rows.append(
            (
                str(number),
                f"**{column.name}**" if column.kind == "headline" else column.name,
                column.summary,
                ", ".join(choices),
                _version(column),
                *counts,
            )
        )
    return markdown(rows, left=5)


def _doubts(matrix: Matrix) -> list[str]:
    """What casts doubt on the numbers of the headline and the named readings."""
    told = [f"- {column.name}: {text}" for column in _main(matrix) for text in column.doubts]
    return ["What casts doubt on numbers:", "\n".join(told)] if told else []


def _legend(matrix: Matrix) -> str:
    headers = ", ".join(
        f"{number} is {column.name}" for number, column in enumerate(_main(matrix), 1)
    )
    return (
        "`+` holds, `~` weaker, `-` differs, `?` undecidable. "
        f"Of the columns {headers}. *Turned by* lists the [decisions](#decisions) that change the "
        "verdict of the headline when they alone are changed, each with the new sign. "
        "Both sides of that comparison are quick versions."
    )


_HEADS = {
    "every": "**Holds in every reading**",
    "some": "**Depends on the reading**",
    "none": "**Holds in no reading**",
}


def _claims_by_reading(matrix: Matrix) -> str:
    listed = _main(matrix)
    numbers = [str(number) for number in range(1, len(listed) + 1)]
    rows = [("figure", "claim", *numbers, "turned by")]
    empty = ("",) * len(listed)
    for name, found in _groups(matrix).items():
        rows.append(("", f"{_HEADS[name]}: {len(found)}", *empty, ""))
        rows += [
            (
                f"[{figure}](#{matrix.paper}{figure})",
                claim.claim,
                *(_SIGNS[_verdict(claim, column)] for column in listed),
                _turned(matrix, claim) or "none",
            )
            for figure, claim in found
        ]
    sums = [str(_verdicts(matrix, column).count("holds")) for column in listed]
    rows.append(("", "**Claims that hold**", *sums, ""))
    return markdown(rows, left=2 + len(listed) + 1)


def _quick_headline(matrix: Matrix) -> ColumnWords:
    """The headline's column that single changes are compared with."""
    return next(
        column
        for column in matrix.columns
        if column.kind == "headline" and (column.quick or matrix.quick)
    )


def _flips(matrix: Matrix, claim: JudgedClaim) -> list[tuple[str, str, str]]:
    """Decision, option and sign of the single changes that turn the headline's verdict."""
    headline = _quick_headline(matrix)
    return [
        (decision, option, _SIGNS[_verdict(claim, column)])
        for column in matrix.columns
        if column.kind == "flip" and _verdict(claim, column) != _verdict(claim, headline)
        for decision, option in column.choices.items()
    ]


def _turned(matrix: Matrix, claim: JudgedClaim) -> str:
    return ", ".join(
        f"{_option_id(matrix, decision, option)} {sign}"
        for decision, option, sign in _flips(matrix, claim)
    )


def _option_id(matrix: Matrix, decision: str, option: str) -> str:
    """What the page calls an option of a decision."""
    found = next(each for each in matrix.decisions if each.id == decision)
    return option_id(decision, [each.name for each in found.options], option)


def _most_turned(matrix: Matrix) -> str:
    """The two decisions that turn most claims."""
    counts: dict[str, set[tuple[str, str]]] = {}
    for figure, claim in _claims(matrix):
        for decision, _, _ in _flips(matrix, claim):
            counts.setdefault(decision, set()).add((figure, claim.id))
    most = sorted(counts, key=lambda decision: -len(counts[decision]))[:2]
    questions = {each.id: each.question for each in matrix.decisions}
    return "; ".join(
        f"{decision}: {questions[decision]} ({len(counts[decision])})" for decision in most
    )


_DECISIONS = (
    "What the paper leaves open or says in two ways. The first option is the headline's; the step "
    "is that of the rule that selects it. An option without a source is a trial, which no reading "
    "takes."
)


def _decisions(matrix: Matrix) -> str:
    rows = [("id", "question", "headline's option", "selected by", "other options")]
    for decision in matrix.decisions:
        first, *others = decision.options
        rows.append(
            (
                decision.id,
                decision.question,
                f"{first.name} ({first.source})",
                f"step {decision.step}, {STEPS[decision.step]}: {decision.argument}",
                "; ".join(
                    f"{_option_id(matrix, decision.id, other.name)}: {other.name} "
                    f"({other.source or 'no source'})"
                    for other in others
                ),
            )
        )
    return markdown(rows, left=5)


def _measured_in(matrix: Matrix) -> str:
    version = "the quick version, which is smaller" if matrix.quick else "the full version"
    text = f"In {_shown(matrix)}, by {version}."
    if matrix.decisions:
        text += (
            " Where a claim does not hold, *why* says which readings and which single decisions "
            "(quick version) make it hold."
        )
    return text


def _tables(matrix: Matrix, figure: FigureWords) -> tuple[str, str]:
    """The claims of the paper, and checks of ours; each empty where there are none."""
    ours = "Checks of ours, which the paper does not claim:\n\n"
    checks = _rows(matrix, figure, "ours")
    return _rows(matrix, figure, "paper"), checks and ours + checks


def _rows(matrix: Matrix, figure: FigureWords, kind: ClaimKind) -> str:
    """The claims of a kind: what was measured, and where they do not hold what turns them."""
    claims = [claim for claim in figure.claims if claim.kind == kind]
    if not claims:
        return ""
    headline = _main(matrix)[0]
    first, second = ("claim", "paper") if kind == "paper" else ("check", "expected")
    rows = [(first, second, "measured", "verdict", "rests on", "why")]
    for claim in claims:
        outcome = claim.outcomes[headline.id]
        verdict = outcome.verdict + (f": {outcome.by}" if outcome.by else "")
        place = f" ({claim.place})" if claim.place else ""
        why = "" if outcome.verdict == "holds" else _why(matrix, claim)
        rows.append(
            (
                claim.claim,
                (claim.paper if kind == "paper" else claim.expected) + place,
                outcome.measured,
                verdict,
                claim.assumption,
                why,
            )
        )
    return markdown(rows, left=6)


def _why(matrix: Matrix, claim: JudgedClaim) -> str:
    """What makes a claim hold that does not, and the cause where it was worked out."""
    parts = [claim.reason] if claim.reason else []
    if matrix.decisions:
        small = _verdict(claim, _quick_headline(matrix)) == "holds"
        if small:
            parts.append("holds in the quick version of this reading, which is smaller")
        # Where the quick version makes it hold, quick versions of other readings tell nothing.
        readings = [
            column.name
            for column in _main(matrix)[1:]
            if _verdict(claim, column) == "holds" and not (small and column.quick)
        ]
        turns = [
            f"{_option_id(matrix, decision, option)} {option}"
            for decision, option, sign in _flips(matrix, claim)
            if sign == "+"
        ]
        found = [f"reading {', '.join(readings)}"] if readings else []
        found += [f"decision {', '.join(turns)}"] if turns else []
        if found:
            parts.append(f"holds with {'; '.join(found)}")
        elif not small:
            parts.append("holds in no reading and with no single decision changed")
    return ". ".join(part[:1].upper() + part[1:] for part in parts)
