from __future__ import annotations

import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

import polars as pl
import pytest
from matplotlib.container import ErrorbarContainer

import rocelab
from conftest import INCAST, Command, wait_until_running
from rocelab import Scenario
from rocelab.errors import ConfigError
from rocelab.io.files import to_json
from rocelab.papers import (
    baselines,
    by_load,
    by_size,
    fncc,
    hiercc,
    measurements,
    pages,
    places,
    plots,
    rcm,
    reproduce,
    themis,
    verdict,
)
from rocelab.papers.decisions import HEADLINE, Decision, Option, Reading, flips
from rocelab.papers.matrix import evaluate, joined, reworded, single, with_reading
from rocelab.papers.mercury.loads import _large as large_ones
from rocelab.papers.model import (
    Claim,
    Figure,
    Line,
    Measure,
    Outcome,
    Panel,
    Paper,
    Points,
    Runs,
    Verdict,
)
from rocelab.papers.rcm import victim
from rocelab.papers.record import JudgedClaim, Matrix, read_matrix
from rocelab.papers.themis import published
from rocelab.simulate import run_checked
from rocelab.sweeps import remote
from rocelab.sweeps.cache import run_all

FIGURE = "fncc/fig3"
"""Six short runs."""
LONG = "fncc/fig14"
"""Many runs of a minute and more."""


NAN, INF = float("nan"), float("inf")


def reading(value: float | list[float]) -> Measure:
    return lambda _runs: value


def judged(judge: verdict.Judge) -> Outcome:
    runs: Runs = {}
    return judge(runs)


def test_list_has_every_figure(command: Command) -> None:
    done = command("reproduce", "--list")
    assert done.returncode == 0, done.stderr
    listed = done.stdout.splitlines()
    assert listed == reproduce.ids()
    assert len(set(listed)) == len(listed)
    assert {"fncc/fig1", "fncc/fig9", "fncc/fig15", "fncc/hw"} <= set(listed)
    assert {f"mercury/fig{n}" for n in (3, 4, 9, 10, 11, 12, 13, 14)} <= set(listed)
    assert {f"hiercc/fig{n}" for n in (1, 2, 4, 5)} <= set(listed)


def test_a_figure_from_end_to_end(command: Command, tmp_path: Path) -> None:
    made, again, cache = tmp_path / "made", tmp_path / "again", tmp_path / "cache"
    page = tmp_path / "claims.md"
    done = command(
        "reproduce", FIGURE, "--quick", "--out", made, "--cache", cache, "--markdown", page
    )
    assert done.returncode == 0, done.stderr
    assert "FNCC has the fewest pause frames at 400 Gb/s" in done.stdout

    directory = made / FIGURE
    told = json.loads((directory / "claims.json").read_text(encoding="utf-8"))
    assert told["id"] == FIGURE
    assert [claim["id"] for claim in told["claims"]] == ["pauses-200", "pauses-400"]
    for claim in told["claims"]:
        assert claim["verdict"] in get_args(Verdict)
        assert (claim["verdict"] == "holds") == (not claim["by"])
        assert claim["claim"] in page.read_text(encoding="utf-8")
    frame = pl.read_parquet(directory / "data.parquet")
    assert frame["line"].unique(maintain_order=True).to_list() == ["FNCC", "HPCC", "DCQCN"]
    pauses = frame.filter((pl.col("line") == "HPCC") & (pl.col("word") == "400 Gb/s"))["y"].item()
    assert f"HPCC {pauses:g}" in told["claims"][1]["measured"]
    assert (directory / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert any("fncc-paper" in note for note in told["notes"])

    # From the cache: nothing is run, and every byte is the same.
    results = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    assert len(list(cache.iterdir())) == 6
    done = command("reproduce", FIGURE, "--quick", "--out", again, "--cache", cache)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == results
    for path in directory.iterdir():
        assert path.read_bytes() == (again / FIGURE / path.name).read_bytes(), path.name


def _tried(letter: Verdict, other: Verdict) -> Claim:
    """A claim with these verdicts in the reading ``letter`` and where decision D1 is ``other``."""

    def judge(runs: Runs) -> Outcome:
        found = other if "other" in runs else letter
        return Outcome("1 us", found, "" if found == "holds" else "+1 %")

    return Claim(f"{letter}-{other}", f"{letter} to {other}", "2 us", judge)


def _readings_paper() -> Paper:
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
    paper = _readings_paper()
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
    paper = _readings_paper()
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
    paper = _readings_paper()
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
    paper = _readings_paper()
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
    paper = _readings_paper()
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
    paper = _readings_paper()
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
    paper = _readings_paper()
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
    paper = _readings_paper()
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
    paper = _readings_paper()
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
    paper = _readings_paper()
    matrix = evaluate(paper, paper.figures, cache=tmp_path / "cache").to_dict()
    change(matrix)
    file = tmp_path / "readings.json"
    file.write_bytes(to_json(matrix))
    with pytest.raises(rocelab.ResultError, match=f"^{re.escape(f'{file}: {words}')}"):
        read_matrix(file)


@pytest.mark.parametrize(("reading", "preset"), [("letter", "rcm-letter"), ("as built", "rcm")])
def test_presets_of_rcm_are_the_readings_of_their_name(reading: str, preset: str) -> None:
    (chosen,) = (one for one in rcm.PAPER.readings if one.name == reading)
    figure = next(one for one in rcm.PAPER.figures if one.id == "fig7")
    scenarios = figure.cases(chosen, True).values()
    (used,) = {
        json.dumps(one.to_dict()["scheme"]["params"], sort_keys=True)
        for one in scenarios
        if one.to_dict()["scheme"]["name"] == "rcm"
    }
    star = {"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"}
    switch = {"architecture": "cioq"}
    law = {"name": "rcm", "preset": preset}
    plain = Scenario(topology=star, switch=switch, scheme=law, run={"stop": "1us"})
    assert json.loads(used) == plain.to_dict()["scheme"]["params"]


def test_named_readings_take_no_option_without_a_source() -> None:
    paper = _readings_paper()
    trial = Reading("third", "a trial", {"D1": "a trial"})
    with pytest.raises(AssertionError):
        replace(paper, readings=(*paper.readings, trial))
    with pytest.raises(AssertionError):
        replace(paper, readings=(trial,))


def test_readings_from_end_to_end(command: Command, tmp_path: Path) -> None:
    figure, options = "hiercc/fig1", ["--quick", "--out", "out", "--cache", "cache", "--quiet"]
    done = command("reproduce", figure, "--readings", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    matrix = json.loads((tmp_path / "out/hiercc/readings.json").read_text(encoding="utf-8"))
    assert [figure["id"] for figure in matrix["figures"]] == ["fig1"]
    named = [column["name"] for column in matrix["columns"] if column["kind"] == "named"]
    assert named == ["as built", "C0 fills the path", "S ahead", "simulator", "mixed"]
    page = (tmp_path / "out/hiercc/readings.md").read_text(encoding="utf-8")
    assert "Written by `rocelab reproduce hiercc/fig1 --quick --readings`." in page
    claims = matrix["figures"][0]["claims"]
    for claim in claims:
        assert claim["claim"] in page
    # One of the readings alone: the same runs, and so the same outcomes.
    done = command("reproduce", figure, "--reading", "simulator", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "out" / figure / "claims.json").read_text(encoding="utf-8"))
    assert (told["reading"], told["notes"][0]) == ("simulator", "Reading: simulator.")
    measured = [one["measured"] for one in told["claims"]]
    assert measured == [claim["outcomes"]["simulator, quick"]["measured"] for claim in claims]
    assert measured != [claim["outcomes"]["letter, quick"]["measured"] for claim in claims]
    # A single decision, as the page calls it.
    flips_ = [column for column in matrix["columns"] if column["kind"] == "flip"]
    (option,) = (one["options"][1]["name"] for one in matrix["decisions"] if one["id"] == "H1")
    turned = next(one for one in flips_ if one["choices"] == {"H1": option})
    done = command("reproduce", figure, "--reading", "H1", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "(reading: H1)" in done.stdout
    told = json.loads((tmp_path / "out" / figure / "claims.json").read_text(encoding="utf-8"))
    assert told["options"] == ["--quick", "--reading", "H1"]
    assert told["notes"][0] == f"Reading: The headline's, but for H1 ({option})."
    measured = [one["measured"] for one in told["claims"]]
    assert measured == [claim["outcomes"][turned["id"]]["measured"] for claim in claims]


@pytest.mark.parametrize("paper", reproduce.PAPERS, ids=lambda paper: paper.id)
def test_each_single_change_is_a_reading_by_what_pages_call_it(paper: Paper) -> None:
    changes = {id_: one for one in paper.decisions for id_ in one.changes}
    readings = {
        id_: reproduce.reading_of(paper, id_)
        for id_, decision in changes.items()
        if decision.changes[id_].alone
    }
    assert [one.choices for one in readings.values()] == [
        reading.choices for _, reading in flips(paper.decisions)
    ]
    for id_, reading in readings.items():
        # Its name is what the command of a page and of `claims.json` has.
        assert reproduce.reading_of(paper, reading.name) == reading
        assert changes[id_].changes[id_].name in reading.summary


def test_options_of_several_decisions_make_one_reading() -> None:
    reading = reproduce.reading_of(fncc.PAPER, " F11,F1d ")
    assert reading.name == "F11, F1d"
    assert reading.choices == {"F1": "every 1 us", "F11": "its simulator's"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--reading", "nobody"], "--reading: fncc has no reading 'nobody'"),
        (["--reading", "F1"], "--reading: fncc has no reading 'F1'"),
        (["--reading", "F1d,"], "--reading: fncc has no reading 'F1d,'"),
        (["--reading", "F1b,F1d"], "--reading: 'F1b,F1d' has two options of decision F1"),
        (["--reading", "scaled", "--readings"], "--reading: --readings has all readings"),
        (["--quick-readings"], "--quick-readings: it is a way of --readings"),
        (["--flows", "."], "--flows: only themis has published flows"),
    ],
)
def test_options_of_readings_that_do_not_go(
    command: Command, tmp_path: Path, options: list[str], words: str
) -> None:
    done = command("reproduce", FIGURE, *options, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"error: {words}"
    assert not (tmp_path / "out").exists()


FLOWS = """3
0 20 3 100 5000 2.000000184
17 16 3 100 70000 2.000003075
4 5 3 101 1000 2.5
"""


def test_published_flows_of_themis(tmp_path: Path) -> None:
    (tmp_path / "flow.txt").write_text(FLOWS, encoding="utf-8")
    first, second, third = published.read(tmp_path)
    assert first == {
        "src": "dc0/h0",
        "dst": "dc1/h4",
        "port": 100,
        "size": "5000B",
        "start": "184ns",
        "tag": "inter",
    }
    assert (second["src"], second["dst"], second["tag"]) == ("dc1/h1", "dc1/h0", "intra")
    assert (third["start"], third["tag"]) == ("500000000ns", "intra")
    paper = themis.with_flows(tmp_path)
    (table,) = (figure for figure in paper.figures if figure.id == "tab1")
    cases = table.cases(paper.readings[-1], True)
    assert list(cases) == ["1 DCQCN", "1 HPCC"]
    plan = cases["1 DCQCN"].plan()
    assert plan.messages.to_polars()["size_bytes"].to_list() == [5000, 70000, 1000]
    # The others have draws.
    assert len(table.cases(paper.headline, True)["1 DCQCN"].plan().messages) > 100


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot read"),
        ("", "is no file of the prototype's flows"),
        ("2\n0 20 3 100 5000 2.0\n", "it has 1 flows and says 2"),
        ("1\n0 40 3 100 5000 2.0\n", "host 40 is not one of 32"),
        ("1\n0 20 3 100 5000\n", "is no file of the prototype's flows"),
        ("1\n0 20 3 100 5k 2.0\n", "is no file of the prototype's flows"),
    ],
)
def test_published_flows_that_cannot_be_read(
    command: Command, tmp_path: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "flow.txt").write_text(text, encoding="utf-8")
    done = command("reproduce", "themis/tab1", "--flows", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --flows: ")
    assert words in done.stderr
    assert not (tmp_path / "out").exists()


def test_checks_of_ours_have_no_value_of_the_paper() -> None:
    for paper in reproduce.PAPERS:
        for figure in paper.figures:
            for claim in figure.claims:
                assert bool(claim.paper) != bool(claim.expected), f"{figure.id} {claim.id}"


def test_every_decision_is_argued_and_every_headline_has_a_source() -> None:
    for paper in reproduce.PAPERS:
        for decision in paper.decisions:
            assert decision.argument, f"{paper.id} {decision.id}"
            assert len(decision.options) > 1, f"{paper.id} {decision.id}"
            assert decision.options[0].source, f"{paper.id} {decision.id}"


def test_every_claim_has_its_place_in_the_paper_and_every_number_its_claim() -> None:
    claims = {
        (paper.id, figure.id, claim.id)
        for paper in reproduce.PAPERS
        for figure in paper.figures
        for claim in figure.claims
        if claim.kind == "paper"
    }
    table = places.numbers()
    listed = {tuple(row) for row in table.select("paper", "figure", "claim").iter_rows()}
    assert claims - listed == set()
    assert listed - claims == set()
    assert not (table["place"].str.len_chars() == 0).any()
    assert table.filter(pl.col("number").is_null() & pl.col("unit").is_not_null()).is_empty()


def test_numbers_of_the_papers_stand_in_the_claims_that_judge_them() -> None:
    """A number that is judged is the one of the table, however the claim writes it."""
    texts = {
        (paper.id, figure.id, claim.id): f"{claim.paper} {claim.text} {claim.assumption}"
        for paper in reproduce.PAPERS
        for figure in paper.figures
        for claim in figure.claims
    }
    for row in places.numbers().drop_nulls("number").iter_rows(named=True):
        # A change has its sign in the text, or in a word.
        text = texts[row["paper"], row["figure"], row["claim"]].replace(",", "")
        if (row["figure"], row["claim"]) in _DERIVED:
            continue
        number = abs(row["number"])
        assert re.search(rf"(?<![\d.]){number:g}(?![\d.]*\d)", text), (row, text)


def test_what_an_abstract_has_with_up_to_is_judged_so() -> None:
    """ConWeave's abstract has the text's least gains of one load as the largest of all."""
    claims = {
        (figure.id, claim.id): claim
        for _, figure in reproduce.chosen(["conweave"])
        for claim in figure.claims
    }
    table = places.numbers().filter(paper="conweave", place="abstract")
    assert table["number"].to_list() == [-42.3, -66.8]
    for figure, claim in table.select("figure", "claim").iter_rows():
        assert claims[figure, claim].paper.startswith("up to"), claim


_DERIVED = {("fig9", "reaction-times"), ("fig13", "lhcs-rate")}
"""Claims whose text has what follows from the numbers: moments less that of the join, a share."""


def test_every_option_changes_a_run() -> None:
    """A decision that no figure heeds would be one without effect."""
    for paper in reproduce.PAPERS:
        for decision, flipped in flips(paper.decisions):
            assert any(
                figure.cases(flipped, True) != figure.cases(paper.headline, True)
                for figure in paper.figures
            ), f"{paper.id} {decision.id} {flipped.name}"


Tables = Mapping[str, Any]
"""What a scenario is made of."""


def tables_of(figure: Figure, reading: Reading, *, quick: bool) -> dict[str, Tables]:
    """The tables of the scenarios, of which none is checked: to draw their messages takes long."""

    def keep(one: Scenario, given: Tables, *_: object) -> None:
        one._source, one._origin, one._overrides, one._generated = dict(given), None, (), False
        one._whole, one._text, one._files = None, "", {}

    large_ones.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scenario, "_fill", keep)
        cases = figure.cases(reading, quick)
        large_ones.cache_clear()
    return {name: cast("Tables", case._source) for name, case in cases.items()}


def test_all_readings_make_scenarios_that_can_run() -> None:
    def but_for_seeds(tables: Tables) -> str:
        run = {key: value for key, value in tables["run"].items() if key != "seed"}
        return repr({**tables, "name": None, "run": run})

    def network(scenario: Scenario) -> str:
        """All but what the seed and the load decide."""
        _, *tables = re.split(r"^(?=\[)", scenario.to_toml(), flags=re.MULTILINE)
        return "".join(one for one in tables if not re.match(r"\[+(run|traffic)\b", one))

    for paper in reproduce.PAPERS:
        readings = [*paper.readings, *(flipped for _, flipped in flips(paper.decisions))]
        for figure in paper.figures:
            distinct = {
                but_for_seeds(tables): tables
                for reading in readings
                for tables in tables_of(figure, reading, quick=True).values()
            }
            scenarios = [Scenario(**tables) for tables in distinct.values()]
            for scenario in {network(one): one for one in scenarios}.values():
                scenario.validate()


@pytest.mark.parametrize("name", ["fncc/fig99", "nobody", "fncc/"])
def test_unknown_figure(command: Command, tmp_path: Path, name: str) -> None:
    done = command("reproduce", name, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"error: no figure '{name}'"
    assert not (tmp_path / "out").exists()


def test_no_figure(command: Command) -> None:
    done = command("reproduce")
    assert done.returncode == 2
    assert done.stderr.startswith("error: no figure given")


def test_out_that_cannot_be_written(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = command("reproduce", FIGURE, "--quick", "--out", tmp_path / "file", "--cache", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("option", "place", "words"),
    [
        ("--markdown", "folder.md", "folder.md: is a directory"),
        ("--markdown", "file/page.md", "file/page.md: "),
        ("--markdown", "page.txt", "--markdown page.txt: must end in .md"),
        ("--out", "file", f"file/{FIGURE}: "),
        ("--out", "/proc/rocelab", f"/proc/rocelab/{FIGURE}: cannot write"),
    ],
)
def test_places_that_cannot_be_written_are_known_before_the_runs(
    command: Command, tmp_path: Path, option: str, place: str, words: str
) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    done = command("reproduce", FIGURE, LONG, option, place, "--cache", "cache", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (error,) = done.stderr.splitlines()
    assert error.startswith(f"error: {words}")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_paper_stands_for_its_figures() -> None:
    whole = [figure.id for _, figure in reproduce.chosen(["fncc"])]
    assert [f"fncc/{each}" for each in whole] == [
        each for each in reproduce.ids() if each.startswith("fncc/")
    ]
    assert len(reproduce.chosen(["fncc/fig1", "fncc/fig1"])) == 1
    with pytest.raises(ConfigError):
        reproduce.chosen(["fncc/fig1", "fncc/fig"])


def test_lines_of_a_figure_look_different() -> None:
    for paper in reproduce.PAPERS:
        for figure in paper.figures:
            lines = {
                line.name: (paper.looks[line.name], line.thin)
                for panel in figure.panels
                for line in panel.lines
            }
            assert len(set(lines.values())) == len(lines), figure.id
            assert len({panel.title for panel in figure.panels}) == len(figure.panels)
            assert len({claim.id for claim in figure.claims}) == len(figure.claims)


def test_a_quick_version_says_what_it_changes() -> None:
    for paper in reproduce.PAPERS:
        for figure in paper.figures:
            full, quick = (tables_of(figure, paper.headline, quick=it) for it in (False, True))
            assert (full != quick) == bool(figure.quick), figure.id


def test_lines_from_zero_end_below_the_top_and_the_judged_one_is_thick() -> None:
    lines = [
        Line("judged", lambda _runs: ([30.0, 80.0], [99.0, 100.0])),
        Line("other", lambda _runs: ([30.0, 80.0], [99.5, 99.0])),
    ]
    figure = _drawing([Panel("x", "x", "y", lines, marked=True, ticks=(30, 80))])
    looks = {line.name: look for look, line in enumerate(lines)}
    (axes,) = plots.picture(figure, plots.data(figure, {}), looks, []).axes
    assert axes.get_ylim() == pytest.approx((0, 105))
    assert axes.get_xticks().tolist() == [30, 80]
    first, second = axes.lines
    assert first.get_linewidth() > second.get_linewidth()
    assert first.get_zorder() < second.get_zorder()


def _drawing(panels: list[Panel]) -> Figure:
    return Figure("x", "x", lambda _reading, _quick: {}, panels, [])


def test_bars_over_seeds_have_their_spread() -> None:
    line = measurements.bars("a", {"one": reading([1.0, 3.0]), "two": reading(5.0)})
    figure = _drawing([Panel("x", "", "y", [line])])
    frame = plots.data(figure, {})
    assert frame["y"].to_list() == [2.0, 5.0]
    assert frame["spread"].to_list() == [pytest.approx(2**0.5), None]
    (axes,) = plots.picture(figure, frame, {"a": 0}, []).axes
    (bars,) = [each for each in axes.containers if isinstance(each, ErrorbarContainer)]
    assert bars.has_yerr


@pytest.mark.parametrize(("words", "turned"), [(2, False), (3, False), (6, True), (9, True)])
def test_numbers_of_bars_are_apart_and_all_the_same_way(words: int, turned: bool) -> None:
    def points(value: float) -> Callable[[Runs], Points]:
        return lambda _runs: ([f"w{n}" for n in range(words)], [value] * words)

    # The second one has fewer bars, which is no reason to write its numbers another way.
    short: Points = (["w0"], [12.3])
    lines = [Line("a", points(12.3)), Line("b", points(45.6)), Line("c", lambda _runs: short)]
    figure = _drawing([Panel("x", "", "y", lines)])
    looks = {line.name: n for n, line in enumerate(lines)}
    drawn = plots.picture(figure, plots.data(figure, {}), looks, [])
    drawn.savefig(io.BytesIO(), format="png")
    (axes,) = drawn.axes
    assert {text.get_rotation() for text in axes.texts} == {90.0 * turned}
    boxes = sorted((text.get_window_extent() for text in axes.texts), key=lambda box: box.x0)
    for left, right in itertools.pairwise(boxes):
        assert not left.overlaps(right)


def test_orders() -> None:
    ours = {"a": reading(1.0), "b": reading(2.0), "c": reading(2.0)}
    assert judged(verdict.lowest(ours, "a", "KB")) == Outcome("a 1, b 2, c 2 KB", "holds")
    assert judged(verdict.rising(ours, "KB")).by == "b = c"
    assert judged(verdict.highest(ours, "a", "KB")).by == "b > a, c > a"
    never = {"a": reading(float("inf")), "b": reading(5.0)}
    assert judged(verdict.lowest(never, "a", "us")) == Outcome(
        "a never, b 5 us", "differs", "a > b"
    )


@pytest.mark.parametrize("nothing", [NAN, [NAN, 1.0]])
def test_claims_of_which_nothing_was_measured_differ(nothing: float | list[float]) -> None:
    other: float | list[float] = 1.0 if isinstance(nothing, float) else [2.0, 2.0]
    readings = {"a": reading(nothing), "b": reading(other)}
    ours, theirs = curve(other, nothing), {"b": curve(other, other)}
    judges = {
        "below": verdict.below(readings, 5, ""),
        "above": verdict.above(readings, 0, ""),
        "lowest": verdict.lowest(readings, "a", ""),
        "highest": verdict.highest(readings, "a", ""),
        "rising": verdict.rising(readings, ""),
        "close": verdict.close(readings, {"a": 1, "b": 1}, ""),
        "agree": verdict.agree(readings, ""),
        "new": verdict.change(reading(nothing), reading(other), -10, ""),
        "old": verdict.change(reading(other), reading(nothing), 10, ""),
        "up to": verdict.up_to(ours, theirs, -10, ""),
        "up to, the other": verdict.up_to(theirs["b"], {"a": ours}, 10, ""),
        "between": verdict.between(ours, theirs, (-5, -10), ""),
        "at least": verdict.at_least(readings["b"], {"a": readings["a"]}, -10, ""),
        "at least, the other": verdict.at_least(readings["a"], {"b": readings["b"]}, -10, ""),
        "lowest at all": verdict.lowest_at_all({"a": ours, **theirs}, "a", ""),
        "lowest at all, the other": verdict.lowest_at_all({"a": ours, **theirs}, "b", ""),
    }
    for name, judge in judges.items():
        outcome = judged(judge)
        assert (outcome.verdict, outcome.by) == ("differs", verdict.UNMEASURED), name


def test_what_never_happens_is_above_all_that_does() -> None:
    never, once = {"a": reading(INF), "b": reading(INF)}, {"a": reading(5.0), "b": reading(INF)}
    assert judged(verdict.above(never, 3, "us")).verdict == "holds"
    assert judged(verdict.below(never, 3, "us")).verdict == "differs"
    assert judged(verdict.lowest(once, "a", "us")).verdict == "holds"
    assert judged(verdict.lowest(never, "a", "us")).by == "a = b"
    for judge in (verdict.close(never, {"a": 5, "b": 5}, ""), verdict.agree(never, "")):
        assert judged(judge).verdict == "differs"
    # No per cent is that.
    for new in (INF, 5.0):
        for percent in (-10, 10):
            outcome = judged(verdict.change(reading(INF), reading(new), percent, "us"))
            assert (outcome.verdict, outcome.by) == ("differs", verdict.UNMEASURED)
    ours, others = curve(50.0, INF), {"b": curve(100.0, INF)}
    for judge in (
        verdict.up_to(ours, others, -50, ""),
        verdict.between(ours, others, (-1, -9), ""),
    ):
        assert judged(judge).by == verdict.UNMEASURED
    # Where the other is a number, the largest change in the claim's direction is one, too.
    assert judged(verdict.up_to(ours, {"b": curve(100.0, 100.0)}, -50, "")).verdict == "holds"
    at_all = {"a": curve(5.0, 5.0), "b": curve(6.0, INF)}
    assert judged(verdict.lowest_at_all(at_all, "a", "us")).verdict == "holds"


def test_what_comes_in_turn_must_come() -> None:
    def turn(first: float, second: float) -> Outcome:
        return judged(verdict.in_turn({"a": reading(first), "b": reading(second)}, "us"))

    assert turn(1.0, 2.0) == Outcome("a 1, b 2 us", "holds")
    assert turn(2.0, 1.0).by == "a > b"
    assert turn(1.0, INF) == Outcome("a 1, b never us", "differs", "b not at all")
    assert turn(INF, INF).by == "a, b not at all"
    assert turn(1.0, NAN).by == verdict.UNMEASURED


def test_a_slight_difference_has_the_right_sign_and_is_no_multiple() -> None:
    def slight(low: float | list[float], high: float | list[float]) -> Outcome:
        return judged(verdict.slightly_below(("a", reading(low)), ("b", reading(high)), "us"))

    assert slight(1.0, 2.0) == Outcome("a 1, b 2 us", "holds")
    assert slight(2.0, 1.0).by == "a > b"
    assert slight(1.0, 2.1) == Outcome("a 1, b 2.1 us", "differs", "by a factor of more than 2")
    assert slight(1.0, INF).verdict == "differs"
    assert slight([1.0, 3.0], [2.0, 2.0]).verdict == "undecidable"
    assert slight(NAN, 1.0).by == verdict.UNMEASURED


def test_nothing_is_a_share_of_nothing() -> None:
    """As where the scheme that is compared with sends no pause."""
    none, some = reading(0.0), reading(4.0)
    judges = {
        "change": verdict.change(some, none, 10, ""),
        "over seeds": verdict.change(reading([1.0, 2.0]), reading([0.0, 0.0]), -10, ""),
        "by more than": verdict.by_more_than(none, none, -10, ""),
        "at least": verdict.at_least(some, {"a": some, "b": none}, -10, ""),
        "up to": verdict.up_to(curve(1.0, 1.0), {"b": curve(2.0, 0.0)}, -10, ""),
        "between": verdict.between(curve(1.0, 1.0), {"b": curve(2.0, 0.0)}, (-5, -10), ""),
    }
    for name, judge in judges.items():
        outcome = judged(judge)
        assert (outcome.verdict, outcome.by) == ("differs", verdict.UNMEASURED), name


@pytest.mark.parametrize("own", [False, True])
def test_a_reason_is_told_of_the_reading_that_it_is_about(tmp_path: Path, own: bool) -> None:
    """It was worked out by hand for the headline, and says nothing of other readings."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    claim = Claim(
        "c", "A claim", "", verdict.below({"a": reading(5.0)}, 3, "us"), reason="of the headline"
    )
    line = Line("a", lambda _runs: ([0.0, 1.0], [1.0, 2.0]))
    panel = Panel("", "x", "y", [line])
    figure = Figure("f", "A figure", lambda _reading, _quick: {"a": scenario}, [panel], [claim])
    other = Reading("other", "Another one")
    paper = Paper("p", "A paper", [figure], {"a": 0}, [], readings=(HEADLINE, other))
    made = reproduce.reproduce(
        paper, figure, tmp_path, cache=tmp_path / "cache", reading=None if own else other
    )
    assert ("reason" in reproduce.table(made)) == own
    (told,) = json.loads((tmp_path / "p/f/claims.json").read_text())["claims"]
    assert (told["verdict"], told["reason"]) == ("differs", "of the headline" if own else "")


def test_bars_of_which_a_seed_has_no_number_have_no_spread() -> None:
    line = measurements.bars(
        "A", {"one": reading([NAN, 1.0]), "never": reading([INF, 1.0]), "both": reading([1.0, 3.0])}
    )
    assert line.spread is not None
    assert line.spread({}) == [None, None, pytest.approx(2**0.5)]
    panel = Panel("p", "", "y", [line])
    frame = plots.data(Figure("f", "t", lambda *_: {}, [panel], []), {})
    assert frame["spread"].null_count() == 2


def test_a_bound_at_the_mean_of_seeds_is_within_their_spread() -> None:
    for judge in (verdict.above, verdict.below):
        outcome = judged(judge({"a": reading([9.0, 11.0])}, 10, "us"))
        assert outcome == Outcome("a 10.0 ± 1.4 us", "undecidable", "a around 10")
        assert judged(judge({"a": reading([10.0, 10.0])}, 10, "us")).verdict == "differs"
        assert judged(judge({"a": reading(10.0)}, 10, "us")).verdict == "differs"


def test_orders_over_seeds_of_which_some_never_happen() -> None:
    def order(low: list[float], high: list[float]) -> Outcome:
        return judged(verdict.lowest({"a": reading(low), "b": reading(high)}, "a", "us"))

    assert order([1.0, 2.0], [INF, INF]) == Outcome("a 1.50 ± 0.71, b never us", "holds")
    assert order([1.0, 2.0], [INF, 5.0]).verdict == "holds"
    assert order([INF, INF], [1.0, 2.0]).by == "a > b"
    # Alike in one seed, or above in one and below in another.
    for tied in (order([INF, 5.0], [INF, 6.0]), order([INF, 5.0], [1.0, 6.0])):
        assert (tied.verdict, tied.by) == ("undecidable", "a ≈ b")


def test_orders_over_seeds_must_exceed_the_spread() -> None:
    # Differences 1 and 1, though the seeds themselves are far apart; then 3 and -1.
    apart = {"a": reading([1.0, 10.0]), "b": reading([2.0, 11.0])}
    assert judged(verdict.lowest(apart, "a", "")).verdict == "holds"
    mixed = {"a": reading([1.0, 10.0]), "b": reading([4.0, 9.0])}
    assert judged(verdict.lowest(mixed, "a", "")) == Outcome(
        "a 5.50 ± 6.36, b 6.50 ± 3.54", "undecidable", "a ≈ b"
    )


@pytest.mark.parametrize(
    ("new", "expected", "by"),
    [
        (60.0, "holds", ""),
        (79.0, "holds", ""),
        (81.0, "weaker", "+21.0 points"),
        (100.0, "differs", "+40.0 points, no change"),
        (101.0, "differs", "+41.0 points, other sign"),
    ],
)
def test_changes(new: float, expected: str, by: str) -> None:
    outcome = judged(verdict.change(reading(new), reading(100.0), -40.0, "KB"))
    assert (outcome.verdict, outcome.by) == (expected, by)


def curve(*values: float | list[float]) -> verdict.Curve:
    return lambda _runs: {f"{10 * n} %": value for n, value in enumerate(values, 3)}


def test_the_largest_change_counts_where_it_is_up_to_so_many_per_cent() -> None:
    # -10 and -30 % against a, +10 and -40 % against b.
    ours, others = curve(90.0, 70.0), {"a": curve(100.0, 100.0), "b": curve(82.0, 117.0)}
    outcome = judged(verdict.up_to(ours, others, -50, "us"))
    assert outcome == Outcome("-40.2 % (70 against b at 40 % 117 us)", "holds")
    assert judged(verdict.up_to(ours, others, -81, "us")).verdict == "weaker"
    assert judged(verdict.up_to(curve(101.0), {"a": curve(100.0)}, -5, "us")).verdict == "differs"


def test_a_span_holds_where_both_its_ends_do() -> None:
    ours = curve(90.0, 60.0)
    others = {"a": curve(100.0, 100.0)}
    assert judged(verdict.between(ours, others, (-19, -79), "us")).verdict == "holds"
    assert judged(verdict.between(ours, others, (-21, -79), "us")).verdict == "weaker"
    assert judged(verdict.between(ours, others, (-5, -81), "us")).verdict == "weaker"
    assert judged(verdict.between(ours, others, (-5, -20), "us")).verdict == "holds"
    outcome = judged(verdict.between(ours, others, (-5, -19), "us"))
    assert (outcome.verdict, outcome.by) == ("differs", "more than twice what is claimed")
    above = {"a": curve(89.0, 100.0)}
    assert judged(verdict.between(ours, above, (-5, -40), "us")).verdict == "differs"


def test_at_least_is_against_the_nearest_of_the_others() -> None:
    others = {"a": reading(100.0), "b": reading(80.0), "c": reading(200.0)}
    outcome = judged(verdict.at_least(reading(60.0), others, -50, "us"))
    assert outcome == Outcome("-25.0 % (60 against b 80 us)", "holds")
    assert judged(verdict.at_least(reading(60.0), others, -51, "us")).verdict == "weaker"
    assert judged(verdict.at_least(reading(81.0), others, -5, "us")).verdict == "differs"
    spread = {"a": reading([100.0, 100.0]), "b": reading([80.0, 60.0])}
    assert judged(verdict.at_least(reading([60.0, 60.0]), spread, -10, "")).verdict == "undecidable"


def test_lowest_at_each_point_names_the_pairs_that_are_not() -> None:
    # The second point of b is above on average, but not by more than the seeds differ.
    curves = {
        "a": curve([1.0, 2.0], [3.0, 3.0]),
        "b": curve([2.0, 3.0], [2.0, 5.0]),
        "c": curve([0.0, 1.0], [4.0, 4.0]),
    }
    outcome = judged(verdict.lowest_at_all(curves, "a", "us"))
    assert outcome.measured == "a lowest at 0 of 2 points, 1.5 to 3 us"
    assert (outcome.verdict, outcome.by) == ("differs", "a > c at 30 %")
    del curves["c"]
    outcome = judged(verdict.lowest_at_all(curves, "a", "us"))
    assert (outcome.verdict, outcome.by) == ("undecidable", "a ≈ b at 40 %")
    del curves["b"]
    assert judged(verdict.lowest_at_all(curves, "a", "us")).verdict == "holds"


def test_where_a_probe_ends_a_flow_has_no_more_rates(tmp_path: Path) -> None:
    """Where the scheme sets none it has the line rate, up to the probe's end alone."""
    flow = {"src": "h0", "dst": "h1", "size": "10MB", "start": "2us"}
    probe = {"name": "rate", "kind": "flow-rate", "interval": "1us", "flows": [0]}
    scenario = Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme={"name": "none"},
        traffic=[{"kind": "flows", "flows": [flow]}],
        run={"stop": "8us"},
    )
    cases = {
        "ends": scenario.with_settings(probe=[{**probe, "end": "5us"}]),
        "ends late": scenario.with_settings(probe=[{**probe, "end": "1ms"}]),
        "whole": scenario.with_settings(probe=[probe]),
    }
    read = {name: measurements.rate(name, 0)(run_all(cases, tmp_path)) for name in cases}
    assert read["ends"] == ([2.0, 3.0, 4.0, 5.0], [100.0] * 4)
    assert read["ends late"] == read["whole"] == ([2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [100.0] * 6)


def test_the_sample_at_the_begin_of_a_span_is_of_the_time_before() -> None:
    samples = ([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0])
    assert measurements.mean_since(lambda _: samples, 2.0)({}) == 35.0
    assert measurements.mean_since(lambda _: samples, 1.0, 3.0)({}) == 25.0


def test_fct_by_load_leaves_the_warm_up_out(tmp_path: Path) -> None:
    flows = [
        {"src": "h0", "dst": "h1", "size": f"{size}KB", "start": f"{start}us"}
        for size, start in ((1, 0), (1, 10), (1, 50), (200, 100))
    ]
    scenario = Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme={"name": "none"},
        traffic=[{"kind": "flows", "flows": flows}],
    )
    cases = by_load.cases(("W",), (30, 80), 1, ("none",), lambda _w, _l, _s, _n: scenario)
    assert list(cases) == ["W 30 1 none", "W 80 1 none"]
    runs = run_all(cases, tmp_path)
    # The first tenth of 100 us is left out: two short flows, and a long one, remain.
    fcts = runs["W 30 1 none"].flows.to_polars()["fct_ps"][1:].to_list()
    tail = by_load.fct(by_load.TAIL, by_load.Sizes(most=1e5))
    whole = by_load.at_loads("W", "none", by_load.fct(by_load.AVERAGE))(runs)
    assert whole == {"30 %": [sum(fcts) / 3e6], "80 %": [sum(fcts) / 3e6]}
    assert by_load.at_load("W", 80, "none", tail)(runs) == [max(fcts[:2]) / 1e6]


def test_the_seeds_of_rcms_victim_make_the_paths_of_the_figure(tmp_path: Path) -> None:
    """PFC alone gives 25 Gb/s to each where Sv shares its uplink with two of the four."""
    cases = {
        f"{seed} PFC alone": victim.victim(HEADLINE, "PFC alone", seed).with_settings(
            run__stop="2001us"
        )
        for seed in victim.SEEDS
    }
    runs = run_all(cases, tmp_path)
    for flow, sender in enumerate(victim.SENDERS):
        got = victim.of_sender("PFC alone", flow)(runs)
        assert isinstance(got, list)
        assert got == pytest.approx([25.0] * len(cases), abs=0.5), sender


def test_more_than_so_many_per_cent_is_a_bound() -> None:
    old = reading(100.0)
    assert judged(verdict.by_more_than(reading(89.0), old, -10, "us")).verdict == "holds"
    for new in (91.0, 90.0, 120.0):
        outcome = judged(verdict.by_more_than(reading(new), old, -10, "us"))
        assert (outcome.verdict, outcome.by) == ("differs", "not by more than 10 %")
    assert judged(verdict.by_more_than(reading(111.0), old, 10, "us")).verdict == "holds"


def test_numbers_just_out_of_the_tolerance_do_not_look_as_if_they_were_within() -> None:
    close = verdict.close({"a": reading(115.2), "b": reading(84.96)}, {"a": 100, "b": 100}, "us")
    assert judged(close).by == "a +15.2 %, b -15.04 %"
    assert judged(verdict.agree({"a": reading(100.0), "b": reading(109.0)}, "us")).by == ""
    narrow = verdict.agree({"a": reading(100.0), "b": reading(109.0)}, "us", 0.02)
    assert judged(narrow).by == "b +9 %"


def test_numbers() -> None:
    close = verdict.close({"a": reading(114.0), "b": reading(84.0)}, {"a": 100, "b": 100}, "us")
    assert judged(close) == Outcome("a 114, b 84 us", "differs", "b -16 %")
    agree = verdict.agree({"a": reading(100.0), "b": reading(100.5)}, "us")
    assert judged(agree).verdict == "holds"
    apart = {"a": reading(100.0), "b": reading(107.0)}
    assert judged(verdict.agree(apart, "us")).verdict == "holds"
    assert judged(verdict.agree(apart, "us", 0.05)).by == "b +7 %"


def test_a_cache_that_cannot_be_written_is_known_before_the_runs(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = command("reproduce", FIGURE, LONG, "--cache", "file", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: file: is not a directory\n"


def test_what_is_measured_over_seeds_has_its_spread() -> None:
    old = reading([1000.0, 1004.0])
    lower = judged(verdict.change(reading([799.0, 801.0]), old, -20.0, "KB"))
    assert lower.measured == "-20.2 % (800 ± 1 against 1,002 ± 3 KB)"
    kept = judged(verdict.below({"a": reading([11.7, 12.3])}, 15, "us"))
    assert kept == Outcome("a 12.0 ± 0.4 us", "holds")
    assert judged(verdict.agree({"": reading([0.5, 0.5])}, "")).measured == "0.500 ± 0.000"
    # One seed has no spread, and what never happens has none.
    assert judged(verdict.below({"a": reading([12.0])}, 15, "us")).measured == "a 12 us"
    never = {"a": reading([5.0, float("inf")])}
    assert judged(verdict.above(never, 3, "us")).measured == "a never us"


def test_moments_are_judged_from_the_join_on(tmp_path: Path) -> None:
    ((_, figure),) = reproduce.chosen(["fncc/fig9"])
    (claim,) = (claim for claim in figure.claims if claim.id == "reaction-times")
    cases = {
        name: case for name, case in figure.cases(HEADLINE, True).items() if name.startswith("100 ")
    }
    outcome = claim.judge(run_all(cases, tmp_path))
    # Of a join at 300 us: 317 us would be within 15 % of 330.
    assert outcome.measured == "HPCC 19, DCQCN 29, RoCC 77 us"
    assert (outcome.verdict, outcome.by) == ("differs", "HPCC -37 %, DCQCN -37 %")


def test_causes_tell_what_hpcc_has_on_the_wire() -> None:
    ((_, figure),) = reproduce.chosen(["hiercc/fig1"])
    (claim,) = (claim for claim in figure.claims if claim.id == "queue-6us")
    plan = figure.cases(HEADLINE, False)["6 us"].plan()
    round_trip = plan.messages.to_polars()["base_rtt_ps"].max()
    senders = plan.ports.to_polars().filter(pl.col("node").is_in([f"h{n}" for n in range(16)]))
    sent = int(senders["data_bytes"].sum())
    assert sent == 16 * (20 * 1124 + 16)
    assert f"{sent / 1e3:.0f} KB on the wire" in claim.reason
    assert isinstance(round_trip, int)
    assert f"T of {round_trip / 1e6:.2f} us" in claim.reason


def test_causes_tell_what_the_checks_work_out() -> None:
    """A closed form that a cause quotes is that of the check it names."""
    claims = {
        f"{figure.id}/{claim.id}": claim
        for _, figure in reproduce.chosen(["fncc"])
        for claim in figure.claims
    }
    expected = claims["fig12/closed-form"].expected
    (delay_us,) = re.findall(r"first HPCC ([\d.]+)", expected)
    assert f"HPCC's cut comes {delay_us} us after" in claims["fig9/reaction-times"].reason


def test_a_rate_that_is_right_on_average_alone_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """RCM's burst, headline: above a quarter, then far below it."""
    monkeypatch.setattr(rcm.burst, "_SEEDS", range(1, 3))
    (claim,) = (claim for claim in rcm.burst.FIG6.claims if claim.id == "quarter")
    runs = run_all(rcm.burst.FIG6.cases(HEADLINE, True), tmp_path)
    whole = measurements.single(rcm.burst._until_its_end("RCM", rcm.burst._BURST)(runs))
    assert whole == pytest.approx(25, rel=verdict.TOLERANCE)
    outcome = claim.judge(runs)
    assert outcome.verdict == "differs"
    assert re.fullmatch(r"second half -\d+ %", outcome.by), outcome


def test_spans_of_rcms_burst_have_the_intervals_within_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sample is of the 2 us before it; the one in which the burst ends is not of it alone."""
    times = [float(time) for time in range(150, 200, 2)]
    from_cut = [50.0 if time <= 164 else time for time in times]
    ends = [
        rate if time < 190 else 1.0 if time == 190 else 0.0
        for time, rate in zip(times, from_cut, strict=True)
    ]
    monkeypatch.setattr(rcm.burst, "throughput", lambda *_: lambda _: lambda _: (times, ends))
    runs = cast("Runs", {"1 RCM": None})

    def read(measure: Measure) -> float:
        return measurements.single(measure(runs))

    assert read(rcm.burst._in_span("RCM", rcm.burst._FIRST, 4)) == 50.0
    assert read(rcm.burst._in_span("RCM", rcm.burst._CUT, 4)) == 175.0
    whole, first, second = (
        read(rcm.burst._until_its_end("RCM", 4, part=part))
        for part in ((0.0, 1.0), *rcm.burst._HALVES.values())
    )
    assert (whole, first, second) == (177.0, 171.0, 183.0)


def test_who_gains_more_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    """RCM's figure 9: losing less than elsewhere is no gain."""
    (claim,) = (claim for claim in rcm.groups.FIG9.claims if claim.id == "datamining-more")

    def judged_at(enterprise: float, data_mining: float) -> Outcome:
        of_rcm = {"Enterprise": enterprise, "DataMining": data_mining}

        def of_size(workload: str, name: str, _size: str) -> Callable[[Runs], list[float]]:
            return lambda _runs: [of_rcm[workload] if name == "RCM" else 50.0] * 2

        monkeypatch.setattr(rcm.groups, "_of_size", of_size)
        return judged(claim.judge)

    assert judged_at(49.0, 45.0).verdict == "holds"
    assert judged_at(45.0, 49.0).by == "DataMining > Enterprise"
    assert judged_at(60.0, 55.0).by == "DataMining > DCQCN"


def test_hierccs_short_flows_have_ended_when_bandwidth_may_be_wasted(tmp_path: Path) -> None:
    """HierCC's figure 4: while they send, DCQCN's link is full."""
    cases = hiercc.bursts.FIG4.cases(HEADLINE, True)
    runs = run_all({"DCQCN": cases["DCQCN"]}, tmp_path)
    assert measurements.single(hiercc.bursts._used_percent("DCQCN")(runs)) > 20
    assert measurements.single(hiercc.bursts._afterwards_percent("DCQCN")(runs)) < 5


def test_hierccs_use_of_the_link_is_that_from_the_bursts_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """HierCC's figure 4: a sample is of the 50 us before it, and bursts begin at 1 ms."""
    samples = [950.0, 1000.0, 1050.0, 1100.0], [25.0, 25.0, 10.0, 10.0]
    monkeypatch.setattr(hiercc.bursts, "gbps", lambda *_: lambda _runs: samples)
    assert hiercc.bursts._used_percent("HierCC")({}) == 40.0


def test_queues_of_hiercc_are_those_in_front_of_the_network_too(tmp_path: Path) -> None:
    """HierCC's figure 5: VOQs are at the uplinks of the senders' ToRs."""
    cases = hiercc.loads.FIG5.cases(HEADLINE, True)
    case = "CacheFollower 30 1 HierCC"
    runs = run_all({case: cases[case]}, tmp_path)
    everywhere, at_receivers = (
        measurements.single(hiercc.loads._fullest_kb(peers)(case)(runs)) for peers in ("", "h")
    )
    assert everywhere > 2 * at_receivers


def test_unfairness_the_other_way_round_is_no_fairness(monkeypatch: pytest.MonkeyPatch) -> None:
    """THEMIS near the source, and how much is significantly."""
    (claim,) = (claim for claim in themis.parts.ABLATION.claims if claim.id == "themis-source")

    def judged_at(ours: float) -> Verdict:
        def of_scheme(name: str, _metric: str) -> Measure:
            return reading([ours if name.endswith("THEMIS") else 2.0] * 2)

        monkeypatch.setattr(themis.parts, "of_scheme", of_scheme)
        return judged(claim.judge).verdict

    assert claim.paper == "significantly: -65.3 % in table 2"
    assert judged_at(1.1) == "holds"
    assert judged_at(0.9) == "holds"
    assert judged_at(1.7) == "weaker"
    assert judged_at(0.4) == "differs"


def test_a_class_of_sizes_of_which_a_seed_has_nothing_done_is_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Means of the other seeds would be of other traffic than the others' means."""
    none = [None] * 30

    def flows(scheme_and_seed: str, _warm_up: float) -> pl.DataFrame:
        done = [3.0] * 30 if scheme_and_seed == "1 A" else [2.0] * 30
        large = none if scheme_and_seed == "2 B" else [5.0] * 30
        # Of the largest size the second seed has no flow at all.
        more = 30 if scheme_and_seed[0] == "1" else 0
        return pl.DataFrame(
            {
                "size_bytes": [900] * 30 + [9000] * 30 + [90_000] * more,
                "slowdown": [*done, *large, *[4.0] * more],
            },
            schema_overrides={"slowdown": pl.Float64},
        )

    monkeypatch.setattr(
        by_size, "_directories", lambda _runs, name: [f"{n} {name}" for n in (1, 2)]
    )
    monkeypatch.setattr(by_size, "_all_flows", flows)
    ours, theirs = (by_size.at_sizes(name, "Median") for name in "AB")
    assert ours({}) == {"1 KB": [3.0, 2.0], "10 KB": [5.0, 5.0], "100 KB": [4.0]}
    _, y = by_size.points("B", "Median")({})
    assert y == [2.0, pytest.approx(NAN, nan_ok=True), 4.0]
    for judge in (
        verdict.lowest_at_all({"A": ours, "B": theirs}, "A", ""),
        verdict.up_to(theirs, {"A": ours}, -30, ""),
    ):
        assert judged(judge).by == verdict.UNMEASURED


def test_a_size_at_the_edge_of_classes_is_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [10**power for power in range(3, 10) for _ in range(20)]
    flows = pl.DataFrame({"size_bytes": sizes, "slowdown": [1.0] * len(sizes)})
    monkeypatch.setattr(by_size, "_directories", lambda *_: ["1 A"])
    monkeypatch.setattr(by_size, "_all_flows", lambda *_: flows)
    assert list(by_size.at_sizes("A", "Median")({})) == [
        "1 KB", "10 KB", "100 KB", "1 MB", "10 MB", "100 MB", "1 GB",
    ]  # fmt: skip


def test_a_statistic_by_size_may_leave_out_smaller_flows(tmp_path: Path) -> None:
    ((_, figure),) = reproduce.chosen([LONG])
    cases = {case: of for case, of in figure.cases(HEADLINE, True).items() if case == "1 FNCC"}
    runs = run_all(cases, tmp_path)
    every = by_size.at_sizes("FNCC", "Median")(runs)
    longer = by_size.at_sizes("FNCC", "Median", 1e6)(runs)
    sizes = list(every)
    assert sizes[sizes.index("1 MB") :] == ["1 MB", *longer]
    assert longer == {size: every[size] for size in longer} != {}


def test_damaged_entries_of_the_cache_are_made_anew(
    incast: rocelab.Result, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scenario = incast.scenario
    scenarios = {f"{seed}": scenario.with_settings(run__seed=seed) for seed in range(6)}
    before = run_all(scenarios, tmp_path)
    digests = {name: run.summary["digest"] for name, run in before.items()}
    homes = [run.directory for run in before.values() if run.directory]
    (homes[0] / "summary.json").write_text("{")
    (homes[1] / "summary.json").unlink()
    flows = homes[2] / "flows.parquet"
    flows.write_bytes(flows.read_bytes()[:-10])
    (homes[3] / "series" / "goodput.parquet").unlink()
    # In the middle, where neither its length nor its end tells.
    bottleneck = homes[4] / "series" / "bottleneck.parquet"
    whole = bottleneck.read_bytes()
    third = len(whole) // 3
    bottleneck.write_bytes(whole[:4] + bytes(third) + whole[4 + third :])
    caplog.clear()
    again = run_all(scenarios, tmp_path)
    assert {name: run.summary["digest"] for name, run in again.items()} == digests
    assert all(len(run.flows) == 4 for run in again.values())
    told = caplog.messages[:]
    caplog.clear()
    assert len(told) == 5
    for home, text in zip(homes, told, strict=False):
        assert text.startswith(f"{home}")
        assert text.endswith("; its scenario is run again")
    run_all(scenarios, tmp_path)
    assert caplog.messages == []


def test_ctrl_c_stops_all_runs(tmp_path: Path) -> None:
    cache, out = tmp_path / "cache", tmp_path / "out"
    places = ["--out", str(out), "--cache", str(cache)]
    process = subprocess.Popen(
        [sys.executable, "-m", "rocelab", "reproduce", LONG, "--jobs", "2", *places],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_until_running(process, threads=2, worked_s=0.1)
    # As a terminal does it: every process of the group receives it.
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.05)
    # And once more, from who has no patience.
    os.killpg(process.pid, signal.SIGINT)
    try:
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, stderr
    assert stderr == b"interrupted: runs that are complete stay in the cache\n"
    assert stdout == b""
    # Nothing goes on, and nothing is half there.
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    results = list(cache.iterdir()) if cache.exists() else []
    assert all((result / "summary.json").is_file() for result in results)
    assert not (out / LONG / "claims.json").exists()


def test_a_run_that_fails_stops_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, long_scenario: str
) -> None:
    def fail(scenario: rocelab.Scenario, **options: Any) -> rocelab.Result:  # noqa: ANN401
        if scenario.name == "bad":
            raise rocelab.SimulationError("it is bad")
        return run_checked(scenario, **options)

    monkeypatch.setattr(remote, "run_checked", fail)
    long = rocelab.Scenario.from_toml(long_scenario)
    scenarios = {
        "long": long,
        "bad": long.with_settings(name="bad"),
        "more": long.with_settings(run__seed=2),
    }
    with pytest.raises(rocelab.SimulationError, match="it is bad"):
        run_all(scenarios, tmp_path / "cache", jobs=2)
    assert not list((tmp_path / "cache").glob("*/summary.json"))


def test_flows_that_were_not_done_are_told_below_the_figures_of_papers(tmp_path: Path) -> None:
    whole = Scenario.from_toml(INCAST)
    line = Line("flows", lambda runs: ([float(n) for n in range(len(runs))], [1.0] * len(runs)))

    def notes(id_: str, cases: dict[str, Scenario], *, fct: bool = True) -> list[str]:
        panel = Panel("flows", "run", "", [line])
        figure = Figure(
            id_, "Flows", lambda _reading, _quick: cases, [panel], [], completion_times=fct
        )
        paper = Paper("paper", "", [figure], {"flows": 0}, [])
        made = reproduce.reproduce(paper, figure, tmp_path, cache=tmp_path / "cache")
        told = json.loads((made.directory / "claims.json").read_text(encoding="utf-8"))["notes"]
        return [note for note in told if not note.startswith(("dcqcn (", "none ("))]

    cut = whole.with_settings(run__stop="45us")
    assert notes("whole", {"a": whole}) == []
    some = {"a": whole, "b": cut, "c": whole.with_settings(scheme__name="none")}
    done, warning = notes("cut", some)
    assert done == "Flows done: dcqcn 5 of 8."
    by_line = {"one flows": whole, "two flows": cut}
    assert notes("lines", by_line)[0] == "Flows done: flows 5 of 8."
    assert warning.startswith("1 of 3 runs, the first in b: 3 of 4 flows are unfinished at 45us")
    # No caveat of what shows no completion times.
    assert notes("rates", some, fct=False) == []
    # Other warnings stay.
    limited = whole.with_settings(run__time_limit="45us")
    assert "3 of 4 flows are unfinished" in notes("limit", {"a": limited}, fct=False)[0]
    (none,) = notes("endless", {"a": whole.with_settings(run__stop="5us")})
    assert "4 of 4 flows are unfinished at 5us" in none


def test_files_of_a_figure_that_is_made_again_are_replaced_whole(tmp_path: Path) -> None:
    """Who reads them meanwhile reads the old ones or the new ones."""
    panel = Panel("flows", "run", "", [Line("flows", lambda runs: ([0.0], [float(len(runs))]))])
    cases = {"a": Scenario.from_toml(INCAST)}

    def made(title: str) -> Path:
        figure = Figure("one", title, lambda _reading, _quick: cases, [panel], [])
        paper = Paper("paper", "", [figure], {"flows": 0}, [])
        return reproduce.reproduce(paper, figure, tmp_path, cache=tmp_path / "cache").directory

    names = ("claims.json", "data.parquet")
    old = made("Old")
    for name in names:
        (tmp_path / name).hardlink_to(old / name)
    before = {name: (tmp_path / name).read_bytes() for name in names}
    new = made("New")
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    assert not any((tmp_path / name).samefile(new / name) for name in names)
    assert json.loads((new / "claims.json").read_text(encoding="utf-8"))["title"] == "New"


def test_what_a_reading_sets_apart_from_presets_is_told(tmp_path: Path) -> None:
    """A caveat tells the default; a reading may have another value."""
    ((paper, figure),) = reproduce.chosen(["fncc/fig3"])
    made = reproduce.reproduce(paper, figure, tmp_path / "out", cache=tmp_path / "cache")
    told = json.loads((made.directory / "claims.json").read_text(encoding="utf-8"))
    (note,) = (note for note in told["notes"] if note.startswith("Other than in presets"))
    assert "fncc base_rtt = path, flow_count = open, update_period = 64ns;" in note
    assert "expected_flows" not in note
    assert "hpcc" not in note

    plain = Scenario.from_toml(INCAST)
    runs = run_all({"a": plain}, tmp_path / "cache")
    assert reproduce._set_apart(runs) == []
    changed = plain.to_dict()
    changed["scheme"]["params"]["min_rate"] = "2Gbps"
    runs = run_all({"a": Scenario(**changed), "b": plain}, tmp_path / "cache")
    name = changed["scheme"]["name"]
    assert reproduce._set_apart(runs) == [f"Other than in presets: {name} min_rate = 2Gbps."]


def test_caveats_stand_below_the_figures_of_papers(tmp_path: Path) -> None:
    """All figures with PACC, whose text was not available, say so; here in one of one panel."""
    (pacc,) = (one for one in rocelab.schemes() if one.name == "pacc")
    figure = baselines.two_flows([pacc], columns=2)
    made = reproduce.reproduce(baselines.PAPER, figure, tmp_path, cache=tmp_path / "cache")
    told = json.loads((made.directory / "claims.json").read_text(encoding="utf-8"))
    assert told["notes"] == [f"pacc (pacc): {pacc.caveat}"]
    runs = run_all(figure.cases(HEADLINE, False), tmp_path / "cache")
    drawn = plots.picture(figure, plots.data(figure, runs), baselines.PAPER.looks, told["notes"])
    assert " ".join(drawn.get_supxlabel().split()) == told["notes"][0]
    assert reproduce.table(made) == f"{made.id}  {made.title}"
