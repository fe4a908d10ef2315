"""Reproductions: runs what a figure needs, draws it, judges the paper's claims."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocelab._doubts import doubts_of, warnings_of
from rocelab._text_table import markdown
from rocelab.errors import ConfigError
from rocelab.io.files import to_json, write_atomic
from rocelab.io.write import to_parquet
from rocelab.papers import baselines, fncc, hiercc, mercury, plots, rcm, themis
from rocelab.papers.model import Figure, Paper, Runs
from rocelab.plot.footnotes import caveats
from rocelab.plot.write import save
from rocelab.sweeps.cache import run_all
from rocelab.sweeps.warnings import dedup_warnings

PAPERS: tuple[Paper, ...] = (
    fncc.PAPER,
    mercury.PAPER,
    rcm.PAPER,
    hiercc.PAPER,
    themis.PAPER,
    baselines.PAPER,
)


@dataclass(frozen=True)
class Reproduction:
    """A figure, made again."""

    id: str
    title: str
    claims: list[dict[str, Any]]
    """As in ``claims.json``."""
    directory: Path
    doubts: Sequence[str] = ()
    """Warnings that cast doubt on what it shows."""


def ids() -> list[str]:
    """What can be reproduced: ``paper/figure``."""
    return [f"{paper.id}/{figure.id}" for paper in PAPERS for figure in paper.figures]


def chosen(names: Iterable[str]) -> list[tuple[Paper, Figure]]:
    """The figures that ``names`` stand for; a paper's name stands for all of its figures."""
    known = {
        f"{paper.id}/{figure.id}": (paper, figure) for paper in PAPERS for figure in paper.figures
    }
    found: dict[str, tuple[Paper, Figure]] = {}
    for name in names:
        hits = [id_ for id_ in known if name in (id_, id_.split("/")[0])]
        if not hits:
            words = [*(paper.id for paper in PAPERS), *known]
            near = difflib.get_close_matches(name, words, n=1)
            raise ConfigError(
                f"no figure {name!r}",
                hint=f"did you mean {near[0]}?" if near else "`rocelab reproduce --list` has all",
            )
        found |= {id_: known[id_] for id_ in hits}
    return list(found.values())


def reproduce(
    paper: Paper,
    figure: Figure,
    out: Path,
    *,
    cache: Path,
    quick: bool = False,
    jobs: int | None = None,
    progress: bool = False,
) -> Reproduction:
    """Writes picture, data and ``claims.json`` to the figure's own directory in ``out``."""
    directory = out / paper.id / figure.id
    runs = run_all(figure.cases(quick), cache, jobs=jobs, progress=progress)
    frame = plots.data(figure, runs)
    claims = [
        {
            "id": claim.id,
            "kind": claim.kind,
            "claim": claim.text,
            "paper": claim.paper,
            "expected": claim.expected,
            "measured": outcome.measured,
            "verdict": outcome.verdict,
            "by": outcome.by,
            "assumption": claim.assumption,
            "reason": "" if outcome.verdict == "holds" else claim.reason,
        }
        for claim in figure.claims
        for outcome in (claim.judge(runs),)
    ]
    notes = _notes(figure, runs)
    if quick and figure.cases(False) != figure.cases(True):
        notes.insert(0, f"Quick version: {figure.quick}.")
    save(plots.picture(figure, frame, paper.looks, notes), directory / "figure")
    write_atomic(directory / "data.parquet", to_parquet(frame))
    id_ = f"{paper.id}/{figure.id}"
    told = {
        "id": id_,
        "title": figure.title,
        "paper": paper.citation,
        "quick": quick,
        "claims": claims,
        "assumptions": list(paper.assumptions),
        "departures": list(paper.departures),
        "notes": notes,
    }
    write_atomic(directory / "claims.json", to_json(told))
    return Reproduction(id_, figure.title, claims, directory, _doubts(figure, runs))


def table(made: Reproduction) -> str:
    """The claims of a figure, a paragraph each."""
    lines = [f"{made.id}  {made.title}"]
    for claim in made.claims:
        by = f" ({claim['by']})" if claim["by"] else ""
        kind = "" if claim["kind"] == "paper" else f"[{claim['kind']}] "
        lines += [f"  {claim['verdict']:<8}{kind}{claim['claim']}{by}"]
        lines += [
            f"          {key:<11}{claim[key]}"
            for key in ("paper", "expected", "measured", "assumption", "reason")
            if claim[key]
        ]
    return "\n".join(lines)


def page(made: Sequence[Reproduction], command: str) -> str:
    """All claims of ``made`` as a Markdown page; those that do not hold by their causes."""
    parts = [
        "# Claims of the papers, and what rocelab measures\n",
        f"Written by `{command}`; [Reproduce](reproduce.md) says what verdicts mean.\n",
    ]
    for paper in PAPERS:
        figures = [one for one in made if one.id.startswith(f"{paper.id}/")]
        if not figures:
            continue
        parts.append(f"## {paper.id}\n\n{paper.citation}\n")
        for heading, texts in (
            ("Where the paper is silent", paper.assumptions),
            ("Departs from the paper", paper.departures),
        ):
            if texts:
                parts.append(f"{heading}:\n\n" + "\n".join(f"- {text}" for text in texts) + "\n")
        causes = _causes(figures)
        parts += _summary(figures, causes)
        numbers = {cause: number for number, cause in enumerate(causes, 1)}
        for one in figures:
            parts.append(f"### `{one.id}`\n\n{one.title}.\n")
            for kind, heading in _HEADINGS.items():
                claims = [claim for claim in one.claims if claim["kind"] == kind]
                if claims:
                    parts += [heading] if heading else []
                    parts.append(_rows(claims, kind, numbers))
    return "\n".join(parts)


def _rows(claims: Sequence[dict[str, Any]], kind: str, numbers: Mapping[str, int]) -> str:
    """The table of the claims of a kind, with the numbers of their causes."""
    value, head = ("expected", "check") if kind == "ours" else ("paper", "claim")
    rows = [(head, value, "measured", "verdict", "rests on")]
    for claim in claims:
        verdict = claim["verdict"] + (f": {claim['by']}" if claim["by"] else "")
        if claim["verdict"] != "holds":
            verdict += f" (cause {numbers[claim['reason']]})"
        what = (claim["claim"], claim[value], claim["measured"])
        rows.append((*what, verdict, claim["assumption"]))
    return markdown(rows, left=5) + "\n"


_HEADINGS = {
    "paper": "",
    "variant": "With other parameters or in another form:\n",
    "ours": "Checks of ours, which the paper does not claim:\n",
}
_KINDS = {
    "paper": ("claim of the paper", "claims of the paper"),
    "variant": (
        "variant, a claim with other parameters or in another form",
        "variants, claims with other parameters or in another form",
    ),
    "ours": (
        "check of ours, which the paper does not claim",
        "checks of ours, which the paper does not claim",
    ),
}


def _causes(figures: Sequence[Reproduction]) -> dict[str, dict[str, int]]:
    """By the reason why claims do not hold, how many of each figure."""
    found: dict[str, dict[str, int]] = {}
    for one in figures:
        for claim in one.claims:
            if claim["verdict"] != "holds":
                counts = found.setdefault(claim["reason"], {})
                counts[one.id] = counts.get(one.id, 0) + 1
    return found


def _summary(figures: Sequence[Reproduction], causes: dict[str, dict[str, int]]) -> list[str]:
    """How many claims of each kind hold, and why the others do not."""
    said = []
    for kind, (one, several) in _KINDS.items():
        verdicts = [
            claim["verdict"] for each in figures for claim in each.claims if claim["kind"] == kind
        ]
        if verdicts:
            counts = [f"{verdicts.count(each)} {words}" for each, words in _WORDS.items()]
            what = one if len(verdicts) == 1 else several
            said.append(f"- {len(verdicts)} {what}: {', '.join(counts)}")
    if not said:
        return []
    parts = ["Verdicts:\n", "\n".join(said) + "\n"]
    if not causes:
        return parts
    listed = []
    for number, (cause, counted) in enumerate(causes.items(), 1):
        where = ", ".join(f"{count} of `{id_}`" for id_, count in counted.items())
        text = f"{cause[:1].upper()}{cause[1:]}" if cause else "Not known"
        listed.append(f"{number}. {text}. ({where})")
    return [*parts, "Causes of those that do not hold:\n", "\n".join(listed) + "\n"]


_WORDS = {"holds": "hold", "weaker": "weaker", "differs": "differ"}


def _notes(figure: Figure, runs: Runs) -> list[str]:
    """What a reader of the picture must know: flows that were not done, caveats, warnings."""
    times = figure.completion_times
    told = (
        (name, text)
        for name, run in runs.items()
        for text, _ in warnings_of(run, completion_times=times)
    )
    warnings = dedup_warnings(told, len(runs))
    unfinished = _unfinished(figure, runs) if times else []
    return [*unfinished, *caveats(list(runs.values())), *warnings]


def _doubts(figure: Figure, runs: Runs) -> list[str]:
    """The warnings that cast doubt on what the figure shows, each once."""
    told = (
        (name, text)
        for name, run in runs.items()
        for text in doubts_of(run, completion_times=figure.completion_times)
    )
    return dedup_warnings(told, len(runs))


def _unfinished(figure: Figure, runs: Runs) -> list[str]:
    """How many flows of each line's runs were done, over all of these, where not all were.

    Runs of no line count for their scheme. Where none was done, none was meant to be.
    """
    counts: dict[str, tuple[int, int]] = {}
    for case, run in runs.items():
        name = _line_of(figure, case) or run.summary["scheme"]
        done, flows = counts.get(name, (0, 0))
        counts[name] = (done + run.summary["flows_done"], flows + run.summary["flows"])
    told = [
        f"{name} {done:,} of {flows:,}"
        for name, (done, flows) in counts.items()
        if 0 < done < flows
    ]
    return [f"Flows done: {', '.join(told)}."] if told else []


def _line_of(figure: Figure, case: str) -> str:
    """The line whose name ends that of ``case``, the longest of several; none: empty."""
    names = {line.name for panel in figure.panels for line in panel.lines}
    hits = [name for name in names if case == name or case.endswith(f" {name}")]
    return max(hits, key=len, default="")
