"""Flows that are unfinished when a run ends are always reported, and ``--strict`` fails on them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rocelab
from conftest import INCAST, LOSSY, reseal
from rocelab import demo
from rocelab._rocelab import Ack, Context, PathFacts
from rocelab.compare import measure
from rocelab.compare.networks import NETWORKS
from rocelab.papers import reproduce
from rocelab.papers.model import Figure, Line, Panel, Paper

Command = Callable[..., Any]

NEVER_END = Path(__file__).parent / "cases" / "flows-never-end"
"""2000 flows over links that lose one packet in a thousand, with no retransmission timeout."""

CAUSES = {
    "lost",
    "stopped",
    "deadlock",
    "paused",
    "disconnected",
    "waiting",
    "sending",
    "not_started",
}


@pytest.fixture
def never_end(tmp_path: Path) -> Path:
    return Path(shutil.copytree(NEVER_END, tmp_path / "never-end"))


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """A scenario of which one flow of four is done when it stops."""
    path = tmp_path / "cut.toml"
    path.write_text(f'[run]\nstop = "45us"\n{INCAST}', encoding="utf-8")
    return path


def settings(warning: str) -> list[str]:
    """The options that set what the warning says, word for word."""
    _, fix = warning.rsplit("To finish them, set ", 1)
    keys = re.findall(r'([a-z_.]+) = "?([^" ]+)', fix)
    return [word for key, value in keys for word in ("--set", f"{key}={value}")]


def test_flows_that_never_end_are_told_with_the_whole_fix(
    command: Command, never_end: Path
) -> None:
    done = command("hpcc", "config.txt", "--out", "out", cwd=never_end)
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()[-1]
    assert told.startswith("warning: 13 of 2000 flows are unfinished at 4s, and in no statistic")
    assert "13 with a lost packet that nothing sends again" in told
    fix = settings(told)
    timeout, silent = "host.retransmit_timeout=1ms", "quirks.silent_duplicates=false"
    assert fix == ["--set", timeout, "--set", silent]
    assert "(1,987 of 2,000 flows)" in done.stdout
    strict = ("hpcc", "config.txt", "--out", "out", "--json", "--strict")
    half = command(*strict, *fix[:2], cwd=never_end)
    assert half.returncode == 1
    assert half.stderr.splitlines()[-1] == "error: --strict: 1 warning casts doubt on the numbers"
    # What is named then is the other key.
    assert settings(half.stderr.splitlines()[-2]) == fix[2:]
    summary = json.loads(half.stdout)
    assert summary["unfinished"] == {**dict.fromkeys(CAUSES, 0), "lost": 2}
    whole = command(*strict, *fix, cwd=never_end)
    assert whole.returncode == 0, whole.stderr
    summary = json.loads(whole.stdout)
    assert (summary["flows_done"], summary["warnings"]) == (2000, [])
    assert summary["unfinished"] == dict.fromkeys(CAUSES, 0)


def test_a_result_has_the_cause_of_each_flow(command: Command, cut: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command("run", cut, "--out", out)
    assert done.returncode == 0, done.stderr
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("warning: 3 of 4 flows are unfinished at 45us, ")
    assert warning.endswith(": 3 still sending. To finish them, raise run.stop")
    assert "(1 of 4 flows)" in done.stdout
    result = rocelab.open(out)
    assert result.doubts == result.warnings == [warning.removeprefix("warning: ")]
    assert result.summary["warning_kinds"] == [{"kind": "cut-off-flows", "casts_doubt": True}]
    assert {cause for cause, count in result.summary["unfinished"].items() if count} == {"sending"}
    flows = pl.read_parquet(out / "flows.parquet")
    assert flows["unfinished"].is_null().to_list() == flows["done"].to_list()
    assert set(flows["unfinished"].drop_nulls()) == {"sending"}


def test_nothing_is_added_where_all_flows_are_done(
    command: Command, incast_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = command("run", incast_file, "--out", out, "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert " of 4 flows" not in done.stdout
    assert rocelab.open(out).doubts == []
    assert "flows" not in command("fct", out).stdout.splitlines()[-1]
    swept = command("sweep", incast_file, "--seeds", 2, "--out", tmp_path / "sweep", "--strict")
    assert swept.returncode == 0, swept.stderr
    assert "flows done" not in swept.stdout


def test_strict_writes_the_result_and_fails(command: Command, cut: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command("run", cut, "--out", out, "--strict", "--quiet")
    assert (done.returncode, done.stdout) == (1, "")
    warning, error = done.stderr.splitlines()
    assert warning.startswith("warning: 3 of 4 flows are unfinished")
    assert error == "error: --strict: 1 warning casts doubt on the numbers"
    assert rocelab.open(out).summary["flows_done"] == 1
    lossy = tmp_path / "lossy.toml"
    lossy.write_text(LOSSY, encoding="utf-8")
    done = command("run", lossy, "--out", tmp_path / "lossy", "--strict")
    assert done.returncode == 1
    assert "lossless class" in done.stderr
    # Of other warnings none fails.
    far = ("--set", "scheme.name=swift", "--set", "scheme.params.base_target=1us")
    plain = tmp_path / "plain.toml"
    plain.write_text(INCAST, encoding="utf-8")
    done = command("run", plain, *far, "--out", tmp_path / "far", "--strict")
    assert "Swift's target" in done.stderr
    assert done.returncode == 0, done.stderr


def test_sweeps_say_how_many_flows_their_means_cover(
    command: Command, cut: Path, tmp_path: Path
) -> None:
    over = ("--over", "run.stop=45us,1ms")
    arguments = (*over, "--out", tmp_path / "sweep", "--metric", "slowdown_p99")
    done = command("sweep", cut, *arguments)
    assert done.returncode == 0, done.stderr
    head, first, second = (re.split(r"  +", line.strip()) for line in done.stdout.splitlines()[:3])
    assert (head[-1], first[-1], second[-1]) == ("flows done", "1 of 4", "4 of 4")
    strict = command("sweep", cut, *arguments, "--strict")
    assert strict.returncode == 1
    assert "2 of 2 runs were there before" in strict.stdout
    assert strict.stderr.splitlines()[-1].startswith("error: --strict: 1 warning casts doubt")


def test_slowdowns_of_a_result_say_how_many_flows_they_cover(
    command: Command, cut: Path, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    rocelab.run(rocelab.load(cut)).save(one)
    rocelab.run(rocelab.load(cut, set={"run.stop": "1ms"})).save(other)
    told = f"{one}: 1 of 4 flows done"
    assert command("fct", one).stdout.splitlines()[-1] == told
    assert command("fct", one, other).stdout.splitlines()[-1] == told
    data = command("fct", one, "--json")
    assert json.loads(data.stdout)
    assert data.stderr.splitlines() == [told]
    none = command("fct", one, "--tag", "incast")
    assert none.returncode == 2
    assert none.stderr == f"error: {one}: 3 flows, and none is done\n"


def test_the_table_of_the_demo_says_how_many_flows_it_covers(cut: Path) -> None:
    some = rocelab.run(rocelab.load(cut))
    whole = rocelab.run(rocelab.load(cut, set={"run.stop": "1ms"}))
    lines = demo.table([some, whole]).splitlines()
    ends = [re.split(r"  +", line)[-1] for line in lines]
    assert ends == ["flows done", "1 of 4", "4 of 4"]
    assert "flows done" not in demo.table([whole])


def test_results_of_an_earlier_version_are_judged_by_their_numbers(
    cut: Path, tmp_path: Path
) -> None:
    out = rocelab.run(rocelab.load(cut)).save(tmp_path / "out")
    path = out / "summary.json"
    summary = json.loads(path.read_text(encoding="utf-8"))
    for key in ("unfinished", "warning_kinds", "checksums"):
        del summary[key]
    summary["schema"] = 1
    path.write_text(json.dumps({**summary, "warnings": []}), encoding="utf-8")
    with pytest.warns(rocelab.UnverifiedResultWarning):
        (doubt,) = rocelab.open(out).doubts
    assert doubt == "3 of 4 flows are unfinished, and in no statistic of completion times"
    older = ["3 flows were not done at the limit of 45us; raise run.limit", "something else"]
    path.write_text(json.dumps({**summary, "warnings": older}), encoding="utf-8")
    with pytest.warns(rocelab.UnverifiedResultWarning):
        assert rocelab.open(out).doubts == older[:1]


def test_comparisons_of_rates_take_no_offence_at_flows_that_are_cut_off(
    command: Command, tmp_path: Path
) -> None:
    arguments = ("--network", "two-to-one", "--rate-gbps", 100, "--cache", tmp_path / "cache", "-q")
    done = command("compare", "none", *arguments, "--strict")
    assert (done.returncode, done.stderr) == (0, "")


def test_deadlocks_in_a_comparison_are_told(tmp_path: Path) -> None:
    (network,) = (one for one in NETWORKS if one.id == "two-to-one")

    def doubts() -> list[str]:
        _, found = measure.run_networks(
            [("none", "none")], cache=tmp_path, networks=[network], rates_gbps=[100]
        )
        return found

    assert doubts() == []
    # The next time the result is read, and says this.
    (path,) = tmp_path.glob("*/summary.json")
    summary = json.loads(path.read_text(encoding="utf-8"))
    summary["warnings"].insert(0, "deadlock: s0 > s1")
    summary["warning_kinds"].insert(0, {"kind": "deadlock", "casts_doubt": True})
    path.write_text(json.dumps(summary), encoding="utf-8")
    reseal(path.parent)
    assert doubts() == ["1 of 1 runs, the first in two-to-one 100 none: deadlock: s0 > s1"]


def test_figures_of_completion_times_are_doubtful_where_flows_are_cut_off(
    cut: Path, tmp_path: Path
) -> None:
    panel = Panel("flows", "run", "", [Line("flows", lambda _runs: ([0.0], [1.0]))])

    def doubts(id_: str, *, fct: bool) -> list[str]:
        cases = {"a": rocelab.load(cut)}
        figure = Figure(
            id_, "Flows", lambda _reading, _quick: cases, [panel], [], completion_times=fct
        )
        paper = Paper("paper", "", [figure], {"flows": 0}, [])
        made = reproduce.reproduce(paper, figure, tmp_path, cache=tmp_path / "cache")
        return list(made.doubts)

    (doubt,) = doubts("times", fct=True)
    assert doubt.startswith("1 of 1 runs, the first in a: 3 of 4 flows are unfinished")
    assert doubts("rates", fct=False) == []


@pytest.mark.parametrize(
    ("tables", "mend"),
    [
        (
            {"failure": [{"link": "h0:s0", "at": "10us", "error_rate": 1.0}]},
            "lower error_rate of the links on their paths below 1",
        ),
        (
            {"receiver": [{"hosts": ["h1"], "rate": "0bps"}]},
            "give the [[receiver]] of rate 0bps an `until`, or a rate",
        ),
    ],
)
def test_flows_that_nothing_lets_through_are_disconnected(
    tables: dict[str, Any], mend: str
) -> None:
    result = rocelab.run(
        rocelab.Scenario(
            topology={"kind": "star", "hosts": 3, "host_rate": "100Gbps", "host_delay": "1us"},
            run={"time_limit": "5ms"},
            traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "10MB"}]}],
            **tables,
        )
    )
    assert result.flows.to_polars()["unfinished"].to_list() == ["disconnected"]
    assert mend in result.warnings[0]


def test_flows_that_a_scheme_lets_send_no_more_are_stopped(tmp_path: Path) -> None:
    """They lost nothing, and nothing has to be sent again."""

    class Closing:
        """Sends for one round trip, then closes its window."""

        def __init__(self, path: PathFacts, now_ps: int) -> None:
            del path, now_ps
            self.acked = False

        def limits(self) -> rocelab.Limits:
            return rocelab.Limits(window_bytes=0 if self.acked else 1_000)

        def on_ack(self, cx: Context, ack: Ack) -> None:
            del cx, ack
            self.acked = True

    path = tmp_path / "scenario.toml"
    path.write_text(INCAST, encoding="utf-8")
    # The run ends at its limit, until when probes would have many samples.
    result = rocelab.prototype(Closing).run(rocelab.load(path, set={"probe": []}))
    assert result.summary.unfinished.stopped == result.summary.flows
    assert set(result.flows.to_polars()["unfinished"]) == {"stopped"}
    assert "that the scheme lets send no more" in result.warnings[0]
    assert "lost packet" not in result.warnings[0]


def test_results_of_older_versions_count_no_stopped_flows(cut: Path, tmp_path: Path) -> None:
    out = rocelab.run(rocelab.load(cut)).save(tmp_path / "older")
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    del summary["unfinished"]["stopped"]
    (out / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    reseal(out)
    assert rocelab.open(out).summary.unfinished.stopped == 0
