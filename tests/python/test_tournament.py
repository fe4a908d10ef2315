from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import typer

from conftest import Command
from rocelab.cli.tournament import tournament
from rocelab.errors import ConfigError
from rocelab.sweeps.metrics import Metric
from rocelab.tournament import page, play
from rocelab.tournament.play import Entry, Tournament, chosen_traffics, metrics
from rocelab.tournament.traffics import TRAFFICS

(QUEUE,) = (metric for metric in metrics() if metric.name == "max_queue_bytes")
(JAIN,) = (metric for metric in metrics() if metric.name == "jain")


def played(metric: Metric, values: dict[str, list[float | None]]) -> Tournament:
    traffic = TRAFFICS[0]
    entries = {
        (traffic.id, scheme): Entry({metric.name: found}) for scheme, found in values.items()
    }
    return Tournament(list(values), [traffic], 3, True, entries, {traffic.id: []})


def test_the_best_is_better_than_each_other_by_more_than_noise() -> None:
    id_ = TRAFFICS[0].id
    # Far apart from seed to seed, but always in the same order.
    clear = played(QUEUE, {"a": [10.0, 500.0, 90.0], "b": [20.0, 512.0, 101.0]})
    assert clear.best(id_, QUEUE) == "a"
    noisy = played(QUEUE, {"a": [10.0, 20.0, 30.0], "b": [12.0, 19.0, 36.0], "c": [99.0] * 3})
    assert noisy.best(id_, QUEUE) is None
    # More is better, and equal values are no noise but a tie.
    fair = played(JAIN, {"a": [0.5, 0.5, 0.5], "b": [0.9, 0.9, 0.9]})
    assert fair.best(id_, JAIN) == "b"
    tied = played(JAIN, {"a": [0.5, 0.5, 0.5], "b": [0.5, 0.5, 0.5]})
    assert tied.best(id_, JAIN) is None


def test_a_wide_interval_does_not_make_a_scheme_near_the_best() -> None:
    """Nor does a narrow one keep a scheme that is 3 % behind from being near it."""
    id_ = TRAFFICS[0].id
    values: dict[str, list[float | None]] = {
        "erratic": [1.0, 2.0, 12.0],
        "best": [1.0, 1.0, 1.0],
        "steady": [1.03, 1.03, 1.03],
        "far": [1.11, 1.11, 1.11],
    }
    assert played(QUEUE, values).near_best(id_, QUEUE) == ["best", "steady"]
    assert played(QUEUE, values).best(id_, QUEUE) is None
    fair = played(JAIN, {"a": [1.0] * 3, "b": [0.91] * 3, "c": [0.5, 1.0, 1.0]})
    assert fair.near_best(id_, JAIN) == ["a", "b"]
    # Only as few pauses as none are near none.
    none = played(QUEUE, {"a": [0.0] * 3, "b": [0.0, 1.0, 0.0], "c": [0.0] * 3})
    assert none.near_best(id_, QUEUE) == ["a", "c"]


def test_nobody_is_best_alone() -> None:
    id_ = TRAFFICS[0].id
    one = played(QUEUE, {"a": [1.0, 1.0, 1.0], "b": [None, 1.0, 1.0]})
    assert one.mean(id_, "b", "max_queue_bytes") is None
    assert one.near_best(id_, QUEUE) == ["a"]
    assert one.best(id_, QUEUE) is None
    nothing = played(QUEUE, {"a": [None] * 3})
    assert nothing.near_best(id_, QUEUE) == []


def test_traffics_have_names_of_their_own() -> None:
    assert len({traffic.id for traffic in TRAFFICS}) == len(TRAFFICS)
    assert {traffic.paper for traffic in TRAFFICS} == {"mercury", "rcm", "fncc", "hiercc", "themis"}
    assert {traffic.paper for traffic in chosen_traffics(["rcm"])} == {"rcm"}
    with pytest.raises(ConfigError, match="no paper 'nobody'"):
        chosen_traffics(["nobody"])


def test_all_traffics_are_the_same_for_all_schemes() -> None:
    for traffic in TRAFFICS:
        one, other = (traffic.scenario(name, 1, quick=True) for name in ("dcqcn", "hpcc"))
        assert one.to_dict()["traffic"] == other.to_dict()["traffic"]
        assert one.to_dict()["topology"] == other.to_dict()["topology"]
        assert one.to_dict()["scheme"]["name"] == "dcqcn"
        assert other.to_dict()["scheme"]["name"] == "hpcc"


def test_a_tournament_from_end_to_end(command: Command, tmp_path: Path) -> None:
    files = ["--csv", "t.csv", "--markdown", "t.md", "--cache", "cache"]
    done = command(
        *("tournament", "dcqcn", "expresspass", "--paper", "rcm", "--quick", "--quiet", *files),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * len(metrics())
    (queue,) = (
        row
        for row in rows
        if (row["traffic"], row["scheme"], row["metric"])
        == ("rcm/fig9", "dcqcn", "max_queue_bytes")
    )
    assert float(queue["mean"]) > 0
    # The other has no place for its queues in the switches of this paper, and nobody wins alone.
    assert {row["best"] for row in rows} == {"false"}
    (why,) = {row["refused"] for row in rows if row["scheme"] == "expresspass"}
    assert "CIOQ switches have no place for them" in why
    text = (tmp_path / "t.md").read_text(encoding="utf-8")
    assert "Written by `rocelab tournament dcqcn expresspass --paper rcm --quick`" in text
    assert f"- `expresspass` cannot run there: {why}" in text
    assert "- dcqcn (dcqcn-paper): Presets" in text
    assert "rcm/fig9: groups" in done.stdout
    # What its marks mean, and what to know of the schemes, in lines that a terminal has room for.
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "*: best by more than noise: " in done.stdout
    assert "±: half the width of the 95 % confidence interval." in " ".join(done.stdout.split())
    assert "caveat: dcqcn (dcqcn-paper): Presets" in done.stdout
    # Again, from the cache, as JSON.
    again = command(
        *("tournament", "dcqcn", "expresspass", "--paper", "rcm", "--quick", "--json", "--cache"),
        "cache",
        cwd=tmp_path,
    )
    found = json.loads(again.stdout)
    assert [str(row["mean"] or "") for row in found] == [row["mean"] for row in rows]


def test_warnings_are_of_the_runs_that_were_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(play, "metrics", list)
    monkeypatch.setattr(play, "run_all", lambda wanted, *_, **__: dict.fromkeys(wanted))
    monkeypatch.setattr(play, "doubts_of", lambda _run: ["1 flow is unfinished"])
    (traffic,) = (one for one in TRAFFICS if one.id == "rcm/fig8")
    # The second has no place for its queues in the switches of this paper.
    made = play.play(["dcqcn", "expresspass"], [traffic], cache=tmp_path, quick=True)
    assert made.doubts[traffic.id] == ["3 of 3 runs, the first in dcqcn: 1 flow is unfinished"]


def test_json_has_its_warnings_beside_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """They were in the table alone, and ``--strict`` failed without a word on what is doubtful."""
    monkeypatch.setattr(play, "run_all", lambda wanted, *_, **__: dict.fromkeys(wanted))
    monkeypatch.setattr(play, "metrics", list)
    monkeypatch.setattr(page, "metrics", list)
    monkeypatch.setattr(play, "doubts_of", lambda _run: ["1 flow is unfinished"])
    with pytest.raises(typer.Exit):
        tournament(
            ["dcqcn"], ["rcm"], quick=True, cache=tmp_path, strict=True, as_json=True, quiet=True
        )
    told = capsys.readouterr()
    assert json.loads(told.out) == []
    assert "warning: rcm/fig9: 3 of 3 runs, the first in dcqcn: 1 flow is unfinished" in told.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody"], "no scheme 'nobody'"),
        (["--paper", "nobody"], "no paper 'nobody'"),
        (["--markdown", "t.txt"], "--markdown t.txt: must end in .md"),
    ],
)
def test_what_a_tournament_does_not_know(
    command: Command, tmp_path: Path, arguments: list[str], words: str
) -> None:
    done = command("tournament", *arguments, "--cache", "cache", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {words}")
    assert list(tmp_path.iterdir()) == []


def test_the_page_says_what_it_shows_in_a_line_for_each_metric() -> None:
    lines = page.summary(played(QUEUE, {"a": [1.0, 1.0, 1.0], "b": [2.0, 2.0, 2.0]}))
    (line,) = lines
    assert line == (
        "Longest queue, 1 traffic: within 10 % of the best mean: a on 1; "
        "best by more than noise: a 1"
    )


def test_no_scheme_is_left_out_that_is_near_the_best_as_often_as_one_that_is_named() -> None:
    seven = list("abcdefg")
    (line,) = page.summary(played(QUEUE, {name: [1.0, 1.0, 1.0] for name in seven}))
    assert line.endswith("within 10 % of the best mean: a, b, c, d, e, f, g on 1")
    many = list("abcdefghijk")
    (line,) = page.summary(played(QUEUE, {name: [1.0, 1.0, 1.0] for name in many}))
    assert line.endswith("within 10 % of the best mean: 11 schemes on 1")
