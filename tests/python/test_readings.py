"""Readings of papers: decisions, their options, and the claims that they are judged by."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command
from rocelab import Scenario
from rocelab.papers import fncc, places, rcm, reproduce, verdict
from rocelab.papers.decisions import HEADLINE, Reading, flips
from rocelab.papers.mercury.loads import _large as large_ones
from rocelab.papers.model import Claim, Figure, Line, Panel, Paper
from rocelab.sweeps.cache import run_all
from test_readings_matrix import readings_paper
from test_reproduce import FIGURE


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
    paper = readings_paper()
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


def test_a_quick_version_says_what_it_changes() -> None:
    for paper in reproduce.PAPERS:
        for figure in paper.figures:
            full, quick = (tables_of(figure, paper.headline, quick=it) for it in (False, True))
            assert (full != quick) == bool(figure.quick), figure.id


@pytest.mark.parametrize("own", [False, True])
def test_a_reason_is_told_of_the_reading_that_it_is_about(tmp_path: Path, own: bool) -> None:
    """It was worked out by hand for the headline, and says nothing of other readings."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    claim = Claim(
        "c",
        "A claim",
        "",
        verdict.below({"a": lambda _runs: 5.0}, 3, "us"),
        reason="of the headline",
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
