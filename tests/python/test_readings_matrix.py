"""The matrix of a paper: which claims hold under which reading, joined and stored."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rocelab
from conftest import INCAST
from rocelab import Scenario
from rocelab.errors import ConfigError
from rocelab.io.files import to_json
from rocelab.papers import pages, reproduce
from rocelab.papers.decisions import HEADLINE, Decision, Option, Reading
from rocelab.papers.matrix import evaluate, joined, reworded, single, with_reading
from rocelab.papers.model import Claim, Figure, Line, Outcome, Panel, Paper, Runs, Verdict
from rocelab.papers.record import JudgedClaim, Matrix, read_matrix


def _tried(letter: Verdict, other: Verdict) -> Claim:
    """A claim with these verdicts in the reading ``letter`` and where decision D1 is ``other``."""

    def judge(runs: Runs) -> Outcome:
        found = other if "other" in runs else letter
        return Outcome("1 us", found, "" if found == "holds" else "+1 %")

    return Claim(f"{letter}-{other}", f"{letter} to {other}", "2 us", judge)


def readings_paper() -> Paper:
    def cases(reading: Reading, quick: bool) -> dict[str, Scenario]:
        scenario = Scenario.from_toml(INCAST).with_settings(name="quick" if quick else "full")
        return {reading.of(decision): scenario}

    decision = Decision(
        "D1",
        "Which?",
        1,
        "it says so",
        (
            Option("the letter", "letter", "section 1"),
            Option("the other", "other", "section 2"),
            Option("a trial", "trial"),
        ),
    )
    ours = Claim("ours", "a check", "", lambda _runs: Outcome("1", "holds"), expected="1")
    claims = [
        _tried("holds", "holds"),
        _tried("differs", "holds"),
        _tried("holds", "weaker"),
        _tried("undecidable", "undecidable"),
        ours,
    ]
    line = Line("flows", lambda runs: ([0.0], [float(len(runs))]))
    figure = Figure("fig1", "One", cases, [Panel("x", "x", "y", [line])], claims, quick="less")
    named = Reading("second", "what section 2 has", {"D1": "the other"})
    return Paper(
        "fncc",
        "An author, 2024",
        [figure],
        {"flows": 0},
        ["what is assumed"],
        [decision],
        (Reading("letter", "the words"), named),
    )


def test_quick_readings_share_what_they_have_in_common_with_the_quick_headline(
    tmp_path: Path,
) -> None:
    """Where the headline is in the full version, its quick one comes after the named readings."""
    paper = readings_paper()
    (figure,) = paper.figures
    same = replace(figure, id="fig2", cases=lambda _reading, quick: figure.cases(HEADLINE, quick))
    paper = replace(paper, figures=[figure, same])
    told: list[str] = []
    matrix = evaluate(
        paper, paper.figures, cache=tmp_path / "cache", named_quick=True, done=told.append
    )
    columns = [(column.id, column.kind) for column in matrix.columns]
    assert columns[:3] == [
        ("letter", "headline"),
        ("second, quick", "named"),
        ("letter, quick", "headline"),
    ]
    assert [text.split(": ")[1] for text in told] == [column for column, _ in columns]
    for claim in matrix.figures[1].claims:
        found = {claim.outcomes[column].verdict for column, _ in columns}
        assert len(found) == 1


def stored(matrix: Matrix, directory: Path) -> Matrix:
    """``matrix`` as it is read from the file that the command writes."""
    file = directory / "readings.json"
    file.write_bytes(to_json(matrix.to_dict()))
    return read_matrix(file)


def test_a_matrix_has_all_readings_and_what_single_decisions_turn(tmp_path: Path) -> None:
    paper = readings_paper()
    told: list[str] = []
    matrix = evaluate(
        paper, paper.figures, cache=tmp_path / "cache", command="the command", done=told.append
    )
    columns = [(column.id, column.kind, column.quick) for column in matrix.columns]
    assert columns == [
        ("letter", "headline", False),
        ("second", "named", False),
        ("letter, quick", "headline", True),
        ("D1 the other, quick", "flip", True),
        ("D1 a trial, quick", "flip", True),
    ]
    # 3 of the 5, the check among them, hold; each column is reported once.
    assert told[0] == "fncc, 1 of 5: letter: 3 of 5 hold"
    assert len(told) == len(columns)
    page = pages.page(stored(matrix, tmp_path))
    assert "Written by `the command`" in page
    assert (
        "Of 4 claims of the paper, in the headline reading `letter` (full version): 2 hold, "
        "0 weaker, 1 differ, 1 undecidable." in page
    )
    assert "2 readings 1 hold in every one, 2 in some, 1 in none" in page
    assert "| 2 | second | what section 2 has | [D1b](#decisions) | full | 2 |" in page
    assert "| [fig1](#fnccfig1) | differs to holds | - | + | D1b + |" in page
    assert "| [fig1](#fnccfig1) | holds to weaker | + | ~ | D1b ~ |" in page
    assert "| [fig1](#fnccfig1) | holds to holds | + | + | none |" in page
    assert "D1b: the other (section 2); D1c: a trial (no source)" in page
    assert "Holds with reading second; decision D1b the other |" in page
    assert "Holds in no reading and with no single decision changed |" in page
    assert "| a check | 1 | 1 | holds |  |  |" in page
    overview = pages.overview([matrix], "docs/claims-{}.md")
    assert (
        "| [FNCC](docs/claims-fncc.md) | 4 | 2 | 1 | 1 | 2 | 1 | D1: Which? (2) | full |"
        in overview
    )


def test_a_matrix_may_have_new_words_but_no_other_claims_or_options(tmp_path: Path) -> None:
    paper = readings_paper()
    made = evaluate(paper, paper.figures, cache=tmp_path / "cache")
    was = stored(made, tmp_path)
    assert reworded(was, paper) == was == made
    (figure,), (decision,) = paper.figures, paper.decisions
    claims = [replace(claim, reason="as we know today") for claim in figure.claims]
    asked = replace(decision, question="Which one?")
    words = replace(
        paper,
        figures=[replace(figure, title="Another", claims=claims)],
        decisions=[asked],
        assumptions=["more"],
    )
    told = reworded(was, words)
    assert (told.assumptions, told.figures[0].title) == (("more",), "Another")
    assert told.decisions[0].question == "Which one?"
    for old, new in zip(was.figures[0].claims, told.figures[0].claims, strict=True):
        assert new == replace(old, reason="as we know today")
    fewer = replace(paper, figures=[replace(figure, claims=claims[1:])])
    with pytest.raises(ConfigError, match="figure fig1 has other claims than were evaluated"):
        reworded(was, fewer)
    options = replace(decision, options=decision.options[:2])
    with pytest.raises(ConfigError, match="decision D1 has other options than were evaluated"):
        reworded(was, replace(paper, decisions=[options]))


def doubted(matrix: Matrix, *doubts: str) -> Matrix:
    """``matrix`` with ``doubts`` on its first column."""
    first, *others = matrix.columns
    return replace(matrix, columns=(replace(first, doubts=doubts), *others))


def with_outcome(matrix: Matrix, claim: JudgedClaim, column: str, outcome: Outcome) -> Matrix:
    """``matrix``, in which ``claim`` of its first figure has another ``outcome`` in ``column``."""
    first, *others = matrix.figures
    changed = replace(claim, outcomes={**claim.outcomes, column: outcome})
    claims = tuple(changed if one.id == claim.id else one for one in first.claims)
    return replace(matrix, figures=(replace(first, claims=claims), *others))


def test_figures_evaluated_alone_are_joined_to_the_others(tmp_path: Path) -> None:
    paper = readings_paper()
    (figure,) = paper.figures
    both = replace(paper, figures=[figure, replace(figure, id="fig2", title="Two")])
    whole = evaluate(both, both.figures, cache=tmp_path / "cache")
    whole = doubted(whole, "fig1: an old doubt", "fig2: another")
    alone = evaluate(both, both.figures[:1], cache=tmp_path / "cache")
    claim = alone.figures[0].claims[0]
    renewed = with_outcome(alone, claim, "letter", replace(claim.outcomes["letter"], measured="9"))
    told = joined(whole, doubted(renewed, "fig1: a new doubt"))
    assert renewed.figures[0] != whole.figures[0]
    assert told.figures == (renewed.figures[0], whole.figures[1])
    assert told.columns[0].doubts == ("fig2: another", "fig1: a new doubt")
    quick = evaluate(both, both.figures[:1], cache=tmp_path / "cache", quick=True)
    with pytest.raises(ConfigError, match="are not the readings of fncc"):
        joined(whole, quick)
    with pytest.raises(ConfigError, match="fncc: fig2: no such figure is there, which are fig1"):
        joined(alone, whole)


def test_a_reading_evaluated_alone_is_joined_to_the_others(tmp_path: Path) -> None:
    paper = readings_paper()
    (figure,) = paper.figures
    same = replace(figure, id="fig2", cases=lambda _reading, quick: figure.cases(HEADLINE, quick))
    paper = replace(paper, figures=[figure, same])
    cache = tmp_path / "cache"
    command = "rocelab reproduce fncc --readings"
    quick = evaluate(
        paper, paper.figures, cache=cache, named_quick=True, command=f"{command} --quick-readings"
    )
    full = evaluate(paper, paper.figures, cache=cache, command=command)
    assert quick != full
    assert with_reading(quick, paper, "second", cache=cache) == full
    with pytest.raises(ConfigError, match="fncc: 'third' is no named reading"):
        with_reading(quick, paper, "third", cache=cache)
    small = evaluate(paper, paper.figures, cache=cache, quick=True)
    with pytest.raises(ConfigError, match="fncc: the headline was not run in full"):
        with_reading(small, paper, "second", cache=cache)


def test_what_the_smaller_network_makes_hold_is_put_down_to_no_reading(tmp_path: Path) -> None:
    paper = readings_paper()
    matrix = evaluate(paper, paper.figures, cache=tmp_path / "cache", named_quick=True)
    (figure,) = matrix.figures
    claim = next(one for one in figure.claims if one.claim == "differs to holds")
    assert claim.outcomes["letter"].verdict == "differs"
    assert claim.outcomes["second, quick"].verdict == "holds"
    assert "Holds with reading second; decision D1b the other |" in pages.page(matrix)
    words = "Holds in the quick version of this reading, which is smaller |"
    quick = with_outcome(matrix, claim, "letter, quick", claim.outcomes["second, quick"])
    assert words in pages.page(quick)
    # A full run of another reading does tell something.
    matrix = evaluate(paper, paper.figures, cache=tmp_path / "cache")
    claim = next(one for one in matrix.figures[0].claims if one.id == claim.id)
    matrix = with_outcome(matrix, claim, "letter, quick", claim.outcomes["second"])
    assert f"{words[:-2]}. Holds with reading second |" in pages.page(matrix)


def test_in_the_quick_version_the_headline_is_there_once(tmp_path: Path) -> None:
    paper = readings_paper()
    matrix = evaluate(paper, paper.figures, cache=tmp_path / "cache", quick=True)
    assert [column.quick for column in matrix.columns] == [True] * 4
    assert "(quick version)" in pages.page(matrix)
    # The headline alone in full, which is for the longest.
    matrix = evaluate(paper, paper.figures, cache=tmp_path / "cache", named_quick=True)
    assert "| full; other readings quick |" in pages.overview([matrix], "{}")
    assert [column.quick for column in matrix.columns] == [False, True, True, True, True]
    assert "| 2 | second | what section 2 has | [D1b](#decisions) | quick | 2 |" in (
        pages.page(matrix)
    )


def test_a_page_of_one_reading_says_which(tmp_path: Path) -> None:
    paper = readings_paper()
    (figure,), (headline, other) = paper.figures, paper.readings
    for reading, words in (
        (headline, "the headline reading `letter`"),
        (other, "the reading `second`"),
    ):
        made = reproduce.reproduce(
            paper, figure, tmp_path, cache=tmp_path / "cache", reading=reading
        )
        matrix = single(paper, {figure.id: made}, reading, command="x", quick=False)
        page = pages.page(matrix)
        assert f"4 claims of the paper, in {words} (full version):" in page
        assert f"In {words}, by the full version." in page


def test_figures_that_a_reading_leaves_alone_have_the_headlines_outcomes(tmp_path: Path) -> None:
    paper = readings_paper()
    judged_in: list[Runs] = []

    def judge(runs: Runs) -> Outcome:
        judged_in.append(runs)
        return Outcome("1 us", "holds")

    (figure,) = paper.figures
    same = replace(
        figure,
        cases=lambda _reading, quick: figure.cases(paper.headline, quick),
        claims=[Claim("same", "the same", "1 us", judge)],
    )
    matrix = evaluate(paper, [same], cache=tmp_path / "cache")
    # Once in the full version and once in the quick one.
    assert len(judged_in) == 2
    (claim,) = matrix.figures[0].claims
    assert {outcome.verdict for outcome in claim.outcomes.values()} == {"holds"}
    assert len(claim.outcomes) == 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one: one.pop("citation"), "citation is missing"),
        (lambda one: one.update(extra=1), "extra is unknown"),
        (lambda one: one["columns"][1].update(quick="no"), "columns[1].quick must be of the type"),
        (lambda one: one["columns"][0].update(kind="x"), "columns[0].kind must be one of headline"),
        (lambda one: one["figures"][0].update(claims={}), "figures[0].claims must be a list"),
        (
            lambda one: one["figures"][0]["claims"][0]["outcomes"]["letter"].pop("verdict"),
            "figures[0].claims[0].outcomes.letter.verdict is missing",
        ),
        (lambda one: one.update(decisions=[3]), "decisions[0] must be a table"),
    ],
)
def test_what_is_wrong_with_stored_claims_is_named(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    """Before a page is written from them."""
    paper = readings_paper()
    matrix = evaluate(paper, paper.figures, cache=tmp_path / "cache").to_dict()
    change(matrix)
    file = tmp_path / "readings.json"
    file.write_bytes(to_json(matrix))
    with pytest.raises(rocelab.ResultError, match=f"^{re.escape(f'{file}: {words}')}"):
        read_matrix(file)
