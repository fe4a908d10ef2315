"""Reports: one HTML file that opens from disk."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from statistics import mean
from typing import Any

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command
from rocelab._examples import EXAMPLES
from rocelab.catalogue import probe_kinds
from rocelab.report import settings, write_report
from rocelab.report.charts import Chart, of_results
from rocelab.report.content import collect
from rocelab.report.model import Cell, Grid, Report
from rocelab.report.page import page
from rocelab.report.settings import without_defaults
from rocelab.report.tables import metric_column, runs_table
from rocelab.sweeps.metrics import METRICS, Metric
from test_view import ring_scenario


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Results of two schemes."""
    place = tmp_path_factory.mktemp("runs")
    found = []
    for scheme in ("dcqcn", "hpcc"):
        scenario = rocelab.Scenario.from_toml(INCAST).with_settings(scheme__name=scheme)
        found.append(rocelab.run(scenario).save(place / scheme))
    return found


def test_the_answer_has_the_numbers_of_each_run_and_marks_the_best(runs: list[Path]) -> None:
    report = collect(runs)
    (numbers,) = report.answer
    column = numbers.head.index("p99 FCT slowdown of victim")
    values = [rocelab.open(run).summary["by_tag"]["victim"]["slowdown"]["p99"] for run in runs]
    cells = [row[column] for row in numbers.rows]
    assert [float(cell.text) for cell in cells] == [pytest.approx(one, rel=5e-3) for one in values]
    assert [cell.best for cell in cells] == [one == min(values) for one in values]
    best = ("dcqcn", "hpcc")[values.index(min(values))]
    assert f"Lowest p99 FCT slowdown of victim: {best} ({min(values):.3g})." in report.found
    assert dict(report.asked)["network"] == "5 hosts, 1 switch"
    # What is 0 in all runs has no column, and is named.
    assert "Packets dropped" not in numbers.head
    assert "Packets dropped" in numbers.note
    assert [one for one in report.warnings if one.startswith("dcqcn (dcqcn-")], "whose caveat"


def test_series_are_drawn_as_they_were_sampled(runs: list[Path]) -> None:
    report = collect(runs[:1])
    (chart,) = (one for one in report.charts if one.title == "Queue length")
    (line,) = chart.data
    samples = rocelab.open(runs[0]).series["bottleneck"]
    values = samples.to_polars()[samples.column]
    assert line["name"] == "s0:h4"
    assert max(line["y"]) * 1000 == pytest.approx(max(values))
    assert len(line["x"]) == min(len(values), 1000)


def test_series_of_flows_and_of_many_ports_are_drawn_highest_first(tmp_path: Path) -> None:
    scenario = rocelab.load(
        "examples/incast.toml", set={"probe": [{"preset": "view"}], "scheme": "hpcc"}
    )
    rocelab.run(scenario).save(tmp_path / "run")
    charts = {one.title: one for one in collect([tmp_path / "run"]).charts}
    flows = [line["name"] for line in charts["Rate"].data]
    assert len(flows) == 10
    assert (flows[0], flows[-1]) == ("incast: h0 > h2", "victim: h1 > h3")
    queue = charts["Queue length"]
    assert len(queue.data) == 16
    assert "Only the 16 highest of 26 are drawn." in queue.text
    assert "s1:h2" in [line["name"] for line in queue.data]


@pytest.mark.parametrize(
    ("kind", "statistic"), [("throughput", "mean"), ("pause", "mean"), ("queue", "largest")]
)
def test_points_that_stand_for_several_samples_say_for_what(kind: str, statistic: str) -> None:
    """A pause is not drawn longer than it is, and what is drawn is said beside it."""
    probe = {"name": kind, "kind": kind, "interval": "20ns", "nodes": ["*"]}
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(
        probe=[probe], scheme="none", pfc__xoff="50KB"
    )
    result = rocelab.run(scenario)
    chart = next(
        one for one in of_results([("", result)]) if one.title == probe_kinds()[kind].title
    )
    samples = result.series[kind].to_polars()
    for line in chart.data:
        node, peer = line["name"].split(":")
        ports = result.ports.to_polars().filter(pl.col("node") == node, pl.col("peer") == peer)
        of_port = samples.filter(pl.col("node") == node, pl.col("port") == ports["port"][0])
        values = of_port[result.series[kind].column]
        assert len(values) > 1000 >= len(line["y"])
        statistics = {"mean": mean(line["y"]), "largest": max(line["y"])}
        wanted: Any = values.mean() if statistic == "mean" else values.max()
        scale = 1 if kind == "pause" else {"mean": 1e9, "largest": 1e3}[statistic]
        assert statistics[statistic] * scale == pytest.approx(wanted, rel=0.02)
    step = -(-len(values) // 1000)
    assert f"Each point is the {statistic} of up to {step} samples in a row." in chart.text


def test_slowdowns_of_different_traffic_are_not_connected(tmp_path: Path) -> None:
    """Protects from lines that claim a transition between two kinds of traffic."""
    scenario = rocelab.example("leaf-spine").with_settings(traffic__1__duration="1ms")
    rocelab.run(scenario).save(tmp_path / "run")
    charts = {one.title: one for one in collect([tmp_path / "run"]).charts}
    chart = charts["Slowdown by flow size"]
    (line,) = (one for one in chart.data if one["name"].endswith("p99"))
    storage = line["x"].index(256_000)
    assert line["x"][storage - 1] is line["y"][storage - 1] is None
    assert line["x"][storage + 1] is line["y"][storage + 1] is None
    assert line["mode"] == "lines+markers"
    assert "Points of different traffic are not connected." in chart.text
    # Each tag alone has lines through all of its points.
    by_tag = {one["name"]: one for one in charts["Slowdown by flow size and tag"].data}
    assert by_tag["storage p99"]["mode"] == "markers"
    assert None not in by_tag["web p99"]["x"]


@pytest.mark.parametrize("leave_out_zeros", [False, True])
def test_metrics_of_runs_are_computed_once(runs: list[Path], leave_out_zeros: bool) -> None:
    """Protects from waiting twice for those that look at all flows."""
    read: list[str] = []

    def value(run: rocelab.Result) -> int:
        read.append(run.summary.scheme)
        return len(run.flows)

    metric = Metric("flows", "Flows", "", value)
    runs_table(
        ["a", "b"], [rocelab.open(one) for one in runs], [metric], leave_out_zeros=leave_out_zeros
    )
    assert read == ["dcqcn", "hpcc"]


def test_a_text_in_place_of_a_list_is_refused(runs: list[Path], tmp_path: Path) -> None:
    """Each of its letters would be a directory, and one of them is that of the whole system."""
    target = tmp_path / "x.html"
    for directories in (str(runs[0]), runs[0]):
        with pytest.raises(TypeError, match="directories must be a list of paths, not"):
            write_report(directories, target)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="metrics must be a list of names, not 'jain'"):
        write_report(runs, target, metrics="jain")
    assert not target.exists()


@pytest.mark.parametrize("name", [one.name for one in EXAMPLES if one.path.is_file()])
def test_the_scenario_is_a_difference_from_the_defaults(tmp_path: Path, name: str) -> None:
    """Without any of its keys it would be another scenario, and with them it is the whole one."""
    whole = rocelab.example(name).with_settings(run__time_limit="1us")
    rocelab.run(whole).save(tmp_path / "run")
    shown = without_defaults(rocelab.open(tmp_path / "run"))
    assert rocelab.Scenario(**shown).to_dict() == whole.to_dict()
    for section in ("scheme", "switch", "pfc", "ecn", "host", "classes", "wire", "run"):
        for key in shown.get(section, {}):
            fewer = json.loads(json.dumps(shown))
            del fewer[section][key]
            with suppress(rocelab.ConfigError):
                assert rocelab.Scenario(**fewer).to_dict() != whole.to_dict(), (section, key)


@pytest.mark.parametrize("name", [one.name for one in EXAMPLES if one.path.is_file()])
def test_few_messages_tell_the_same_of_a_scenario(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """Protects from keys that are kept or left out because the real traffic was not looked at."""
    whole = rocelab.example(name).with_settings(run__time_limit="1us")
    rocelab.run(whole).save(tmp_path / "run")
    run = rocelab.open(tmp_path / "run")
    shown = without_defaults(run)
    monkeypatch.setattr(settings, "_with_few_messages", settings._with_all_messages)
    assert shown == without_defaults(run)


@pytest.mark.parametrize(
    "traffic",
    [
        {"kind": "poisson", "cdf": [[1, 0], [2000, 1]], "load": 0.005, "duration": "5ms"},
        {"kind": "poisson", "cdf": [[1, 0], [2000, 1]], "load": 0.005, "messages": 5000},
        {"kind": "incast", "senders": 2, "size": "1KB", "repeat": 2500, "period": "1us"},
        {
            "kind": "bursts",
            "src": ["h0"],
            "dst": ["h1"],
            "size": "1KB",
            "period": "1us",
            "count": 2500,
        },
        {"kind": "collective", "operation": "all-to-all", "size": "1KB", "repeat": 50},
    ],
)
@pytest.mark.parametrize("stop", ["flows-done", "5ms"])
def test_a_scenario_with_many_messages_is_seldom_read(
    monkeypatch: pytest.MonkeyPatch, traffic: dict[str, Any], stop: str
) -> None:
    """Protects from a report that takes as long as its run, where messages are a million."""
    topology = {"kind": "star", "hosts": 8, "host_rate": "400Gbps", "host_delay": "1us"}
    also = {"kind": "permutation", "size": "1KB"}
    scenario = rocelab.Scenario(
        topology=topology, traffic=[traffic, also], scheme="hpcc", run={"stop": stop}
    )
    assert len(scenario.plan().messages) > 2000
    run = rocelab.run(scenario.with_settings(run__stop="1us"))
    run._scenario, run._scenario_toml = scenario, scenario.to_toml()
    long = []
    read = rocelab.Scenario

    def noting(**tables: object) -> rocelab.Scenario:
        made = read(**tables)  # type: ignore[arg-type]
        long.append(len(made.plan().messages) > 2000)
        return made

    monkeypatch.setattr("rocelab.scenario.Scenario", noting)
    shown = without_defaults(run)
    assert sum(long) <= 2 < len(long)
    monkeypatch.setattr("rocelab.scenario.Scenario", read)
    monkeypatch.setattr(settings, "_with_few_messages", settings._with_all_messages)
    assert shown == without_defaults(run)
    assert ("duration" in shown["traffic"][0]) == (
        "duration" in traffic and traffic["duration"] != stop
    )


def test_the_parameters_of_a_second_scheme_are_no_difference(tmp_path: Path) -> None:
    rocelab.run(rocelab.example("two-schemes").with_settings(run__stop="1us")).save(tmp_path / "r")
    (second,) = without_defaults(rocelab.open(tmp_path / "r"))["scheme"]["also"]
    assert set(second) == {"name", "hosts", "priority"}


def test_the_parameters_of_a_preset_are_no_difference(runs: list[Path]) -> None:
    shown = collect(runs[:1]).scenario
    assert 'name = "dcqcn"' in shown
    assert "alpha_timer" not in shown
    assert "retransmit_timeout" not in shown
    assert "[run]" not in shown


def test_runs_are_told_apart_by_the_keys_that_differ(tmp_path: Path) -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    rocelab.run(scenario).save(tmp_path / "first")
    rocelab.run(scenario.with_settings(ecn__kmax="100KB")).save(tmp_path / "second")
    report = collect([tmp_path / "first", tmp_path / "second"])
    (table,) = report.changed
    assert list(table.head) == ["key", "first", "second"]
    default = scenario.to_dict()["ecn"]["kmax"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["ecn.kmax", f"{default} (default)", "100KB"]
    ]
    assert report.scenario.count("[topology]") == 1
    assert not collect([tmp_path / "first"]).changed


def test_many_runs_are_named_once(tmp_path: Path) -> None:
    """A title that names all is longer than a window, and a table would repeat its own head."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    places = []
    for number in range(1, 7):
        run = rocelab.run(scenario.with_settings(name=f"run {number}", run__seed=number))
        places.append(run.save(tmp_path / str(number)))
    report = collect(places)
    assert report.title == "run 1, run 2, run 3, run 4 and 2 more"
    assert not report.changed


def test_a_sample_alone_is_a_point() -> None:
    """A line of one point is none."""
    probe = {"name": "q", "kind": "queue", "interval": "1s", "start": "10us", "nodes": ["s0"]}
    run = rocelab.run(rocelab.Scenario.from_toml(INCAST).with_settings(probe=[probe]))
    (chart,) = (one for one in of_results([("", run)]) if one.title == "Queue length")
    assert {line["mode"] for line in chart.data} == {"markers"}


@pytest.mark.parametrize(("stop", "left"), [("5us", 3), ("1us", 4)])
def test_the_slowest_flows_say_which_are_not_among_them(
    tmp_path: Path, stop: str, left: int
) -> None:
    flows = [{"src": f"h{at}", "dst": "h4", "size": f"{10 ** (at + 3)}B"} for at in range(4)]
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(
        traffic=[{"kind": "flows", "flows": flows}], run__stop=stop
    )
    run = rocelab.run(scenario)
    assert run.summary.flows - run.summary.flows_done == left
    report = collect([run.save(tmp_path / "run")])
    tables = [one for one in report.details if one.title == "Slowest flows"]
    assert [one.note for one in tables] == (
        [f"Without {left} unfinished flows."] if left < 4 else []
    )


def test_bars_of_more_runs_than_colours_have_patterns() -> None:
    run = rocelab.run(rocelab.example("incast"))
    chart = next(
        one for one in of_results([(str(at), run) for at in range(12)]) if "by tag" in one.title
    )
    looks = [str(bars["marker"]) for bars in chart.data]
    assert len(set(looks)) == 12


def test_runs_of_other_networks_or_traffic_are_not_compared_in_silence(
    runs: list[Path], tmp_path: Path
) -> None:
    told = "The runs differ in network and traffic, so a better number may be due to that."
    assert not any("differ" in text for text in collect(runs).found)
    scenario = rocelab.Scenario.from_toml(INCAST)
    more = scenario.to_dict()["traffic"] + [
        {"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "1KB"}]}
    ]
    rocelab.run(scenario.with_settings(topology__hosts=9, traffic=more)).save(tmp_path / "more")
    assert told in collect([runs[0], tmp_path / "more"]).found


def test_a_deadlock_is_in_the_answer_and_in_the_figures(tmp_path: Path) -> None:
    rocelab.run(ring_scenario()).save(tmp_path / "ring")
    report = collect([tmp_path / "ring"])
    assert report.found == [
        "none: no flow completed.",
        "Warnings below cast doubt on the numbers.",
    ]
    (queue,) = (one for one in report.charts if one.title == "Queue length")
    assert queue.layout is not None
    (line,) = queue.layout["shapes"]
    since = rocelab.open(tmp_path / "ring").summary["deadlock"]["since_ns"]
    assert line["x0"] == line["x1"] == pytest.approx(since / 1000)
    assert "Dotted: from here on s0 > s1 > s2 > s3 > s4 are deadlocked." in queue.text


def test_metrics_can_be_chosen(runs: list[Path], tmp_path: Path, command: Command) -> None:
    (table,) = collect(runs, ["jain", "bottleneck.max"]).answer
    assert list(table.head) == ["run", "Jain's fairness index", "Largest of bottleneck (KB)"]
    failed = command("report", *runs, "--metric", "nope", cwd=tmp_path)
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: no metric 'nope'")
    assert not (tmp_path / "report.html").exists()


def test_a_sweep_has_its_combinations_best_first(tmp_path: Path) -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    over = {"ecn.kmin": ["5KB", "20KB", "80KB"], "ecn.kmax": ["100KB", "200KB", "400KB"]}
    rocelab.sweep(scenario, over, out=tmp_path / "sweep")
    report = collect([tmp_path / "sweep"])
    (table,) = report.answer
    # By the first metric, which can be chosen.
    assert table.head[2] == "p99 FCT slowdown of incast"
    values = [float(row[2].text) for row in table.rows]
    assert len(values) == 9
    assert values == sorted(values)
    # Marks change nothing here.
    assert report.found == [
        f"p99 FCT slowdown of incast: {table.rows[0][2].text} in all combinations."
    ]
    (table,) = collect([tmp_path / "sweep"], ["pause_frames"]).answer
    assert list(table.head) == ["ecn.kmin", "ecn.kmax", "PFC pauses"]
    rocelab.sweep(scenario, {"pfc.xoff": ["20KB", "80KB"]}, out=tmp_path / "xoff")
    found = collect([tmp_path / "xoff"], ["pause_frames"])
    (best, *_), (others, *_) = (row[:1] for row in found.answer[0].rows)
    assert found.found == [
        f"PFC pauses: best is {found.answer[0].rows[0][1].text}, with pfc.xoff = {best.text}."
    ]
    assert {best.text, others.text} == {"20KB", "80KB"}
    # Numbers with a unit have it in the sentence, too.
    found = collect([tmp_path / "xoff"], ["incast.makespan_ps"])
    row, key = found.answer[0].rows[0], "First start to last end of incast"
    assert found.answer[0].head[1] == f"{key} (µs)"
    assert found.found[0].startswith(f"{key}: best is {row[1].text} µs, with pfc.xoff = ")
    found = collect([tmp_path / "sweep"], ["max_queue_bytes"])
    value = found.answer[0].rows[0][2].text
    assert found.found[0].startswith(f"Longest queue: best is {value} KB, with ecn.kmin = ")
    maps = [one for one in report.charts if one.data and one.data[0]["type"] == "heatmap"]
    assert maps
    with pytest.raises(rocelab.ResultError, match="is a sweep, and a report has one alone"):
        collect([tmp_path / "sweep", tmp_path / "sweep"])


def test_what_seeds_do_not_separate_from_the_best_is_shaded() -> None:
    (metric,) = (one for one in METRICS if one.name == "slowdown_p99")
    _, cells = metric_column(metric, [10.0, 11.0, 14.0, None], [1.0, 0.5, 0.5, None])
    assert [cell.text for cell in cells] == ["10.0 ± 1.0", "11.0 ± 0.5", "14.0 ± 0.5", "-"]
    assert [cell.best for cell in cells] == [True, False, False, False]
    assert [cell.near for cell in cells] == [True, True, False, False]
    # An interval reaches over the best also where all seeds of that have one value.
    _, cells = metric_column(metric, [0.0, 3.0, 9.0, 9.0], [0.0, 4.0, 4.0, 0.0])
    assert [cell.near for cell in cells] == [True, True, False, False]
    # Without intervals nothing but the best is marked.
    _, cells = metric_column(metric, [10.0, 10.1], None)
    assert [cell.near for cell in cells] == [True, False]


def test_of_two_numbers_that_read_the_same_none_is_better(tmp_path: Path) -> None:
    (metric,) = (one for one in METRICS if one.name == "slowdown_p99")
    _, cells = metric_column(metric, [238.01, 267.0, 238.02, 238.0], None)
    assert [cell.text for cell in cells] == ["238", "267", "238", "238"]
    assert [cell.best for cell in cells] == [True, False, True, True]
    _, cells = metric_column(metric, [238.01, 238.02, None], None)
    assert [cell.best for cell in cells] == [False, False, False]
    # Nothing is lost, so that the timeout changes nothing.
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(scheme="none")
    over = {"host.retransmit_timeout": ["50ms", "60ms"], "topology.host_delay": ["1us", "1.01us"]}
    rocelab.sweep(scenario, over, out=tmp_path / "sweep")
    (found,) = collect([tmp_path / "sweep"], ["slowdown_p99"]).found
    assert found.endswith(" 1 other combination has the same number."), found
    rocelab.sweep(scenario, {"run.time_limit": ["5s", "6s"]}, out=tmp_path / "equal")
    (found,) = collect([tmp_path / "equal"], ["slowdown_p99"]).found
    assert found.startswith("p99 FCT slowdown: "), found
    assert found.endswith(" in all combinations."), found


def test_lines_of_one_port_are_told_apart_by_their_priority(tmp_path: Path) -> None:
    rocelab.run(rocelab.example("two-classes")).save(tmp_path / "run")
    (chart,) = (one for one in collect([tmp_path / "run"]).charts if one.title == "Queue length")
    assert [line["name"] for line in chart.data] == ["s0:h8, priority 3", "s0:h8, priority 0"]


def test_a_figure_tells_of_failures_in_the_runs_that_it_shows(tmp_path: Path) -> None:
    scenario = rocelab.example("failing-link")
    rocelab.run(scenario).save(tmp_path / "fails")
    other = {"name": "queue", "kind": "queue", "nodes": ["leaf0"], "interval": "20us"}
    rocelab.run(scenario.with_settings(failure=[], probe=[other])).save(tmp_path / "works")
    charts = collect([tmp_path / "fails", tmp_path / "works"]).charts
    texts = {one.title: one.text for one in charts}
    assert "leaf0:spine0 failed" in texts["Throughput"]
    assert "failed" not in texts["Queue length"]


def test_figures_of_a_report_say_what_casts_doubt_on_them(tmp_path: Path) -> None:
    """As pictures do: of few flows the p99 is the maximum, and bars are intervals or deviations."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    rocelab.run(scenario).save(tmp_path / "run")
    texts = {one.title: one.text for one in collect([tmp_path / "run"]).charts}
    assert "Bins have 1 to 3 flows: p99 is their maximum." in texts["Slowdown by flow size"]
    assert "Tags have 1 to 3 flows: p99 is their maximum." in texts["Slowdown by tag"]
    over = {"ecn.kmin": ["5KB", "20KB", "80KB"], "ecn.kmax": ["100KB", "200KB", "400KB"]}
    sweep = rocelab.sweep(scenario, over, seeds=2, out=tmp_path / "sweep")
    charts = {one.title: one for one in collect([tmp_path / "sweep"], ["max_queue_bytes"]).charts}
    said = " Means over 2 seeds; bars: 95 % confidence intervals."
    assert charts["Longest queue"].text.endswith(said)
    heat_map = charts["Longest queue, map"]
    assert heat_map.text.endswith(" Means over 2 seeds.")
    # Its numbers are those of the picture, with all digits before the point.
    written = [text.get_text() for text in sweep.heat_map("max_queue_bytes").axes[0].texts]
    assert [one for line in heat_map.data[0]["text"] for one in line] == written


def test_a_report_of_200_runs_has_at_most_10_mb(runs: list[Path], tmp_path: Path) -> None:
    """Of 20 runs it has a tenth of what 200 may add to the page of one."""
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(probe=[{"preset": "view"}])
    over = {"ecn.kmin": ["5KB..50KB/5"], "ecn.kmax": ["100KB..400KB/2"]}
    sweep = rocelab.sweep(scenario, over, seeds=2, out=tmp_path / "sweep")
    assert len(sweep.results) == 20
    one, twenty = (
        write_report([place], tmp_path / "report.html").stat().st_size
        for place in (runs[0], tmp_path / "sweep")
    )
    assert twenty - one <= (10_000_000 - one) / 10


def test_reproduced_figures_have_their_claims_and_pictures(tmp_path: Path) -> None:
    place = tmp_path / "reproduce/fncc/fig9"
    place.mkdir(parents=True)
    claims = [
        {"claim": "queues are short", "paper": "10 KB", "measured": "9 KB", "verdict": "holds"}
    ]
    (place / "claims.json").write_text(json.dumps({"claims": claims}))
    (place / "figure.png").write_bytes(b"no picture, but its bytes are copied")
    report = collect([tmp_path / "reproduce"])
    (table,) = report.answer
    assert table.title == "fncc/fig9"
    assert [cell.text for cell in table.rows[0]][:4] == [
        "holds",
        "queues are short",
        "10 KB",
        "9 KB",
    ]
    assert report.found == ["Of 1 claim of the paper: 1 holds."]
    assert report.charts[0].picture.startswith("data:image/png;base64,")


def test_checks_of_ours_are_not_counted_as_claims_of_papers(tmp_path: Path) -> None:
    common = {"by": "", "assumption": "", "measured": "1 us"}
    papers = {"kind": "paper", "paper": "2 us", "expected": "", **common}
    claims = [
        {**papers, "claim": "it is fast", "verdict": "differs", "reason": "the law has a floor"},
        {**papers, "claim": "it is fair", "verdict": "holds", "reason": "not said of what holds"},
        {
            **common,
            "kind": "ours",
            "claim": "as worked out",
            "paper": "",
            "expected": "1.1 us",
            "verdict": "holds",
            "reason": "",
        },
    ]
    for name, quick in (("fig1", True), ("fig2", False)):
        (tmp_path / name).mkdir()
        told = {"id": f"p/{name}", "paper": "A paper", "quick": quick, "claims": claims}
        (tmp_path / name / "claims.json").write_text(json.dumps(told))
    report = collect([tmp_path])
    assert report.found == [
        "Of 4 claims of the paper: 2 hold, 2 differ.",
        "Of 2 checks of ours: 2 hold.",
        "1 of 2 figures made in the quick version, which is smaller: see the warnings.",
    ]
    of_paper, of_ours = report.answer[:2]
    texts = [[cell.text for cell in row] for row in of_paper.rows]
    assert list(of_paper.head) == ["verdict", "claim", "paper", "measured", "assumption", "why"]
    assert texts == [
        ["differs", "it is fast", "2 us", "1 us", "", "the law has a floor"],
        ["holds", "it is fair", "2 us", "1 us", "", ""],
    ]
    assert of_ours.title == "p/fig1: checks of ours, which the paper does not claim"
    assert list(of_ours.head) == ["verdict", "check", "expected", "measured", "assumption"]
    assert [cell.text for cell in of_ours.rows[0]][:3] == ["holds", "as worked out", "1.1 us"]


def test_a_reproduced_figure_has_its_panels_and_the_command_that_repeats_it(
    tmp_path: Path, command: Command
) -> None:
    out = tmp_path / "made"
    done = command("reproduce", "fncc/fig9", "--quick", "--out", out, "--cache", tmp_path / "cache")
    assert done.returncode == 0
    report = collect([out])
    assert report.commands == ["rocelab reproduce fncc/fig9 --quick"]
    assert dict(report.versions) == {"rocelab": rocelab.__version__, "seeds": "1"}
    assert any("FNCC: Fast Notification" in text for _, text in report.asked)
    charts = {one.title: one for one in report.charts}
    rates = charts["fncc/fig9 (b) Rates, 100 Gb/s (thin: joining)"]
    # Two lines of each scheme: one entry of the legend, and each in the order of time.
    assert [line["name"] for line in rates.data].count("FNCC") == 2
    assert [line.get("showlegend") for line in rates.data].count(True) == 4
    assert all(line["x"] == sorted(line["x"]) for line in rates.data)
    (out / "fncc/fig9/data.parquet").write_bytes(b"damaged")
    with pytest.raises(rocelab.ResultError, match=r"data.parquet: damaged"):
        collect([out])


def test_what_is_no_number_is_a_gap_in_a_reproduced_figure(tmp_path: Path) -> None:
    """As where no flow of a size was done, or a moment never came."""
    panels = [{"title": "bars", "log_y": True}]
    told = {"id": "p/fig1", "claims": [], "panels": panels}
    (tmp_path / "claims.json").write_text(json.dumps(told))
    nan, inf = float("nan"), float("inf")
    many = 1500
    rows: list[tuple[object, ...]] = [
        ("line", 0, float(x), None, nan if x < 3 else 1.0, None) for x in range(many)
    ]
    rows += [("bars", 0, None, "a", inf, nan), ("bars", 0, None, "b", 2.0, 0.5)]
    rows += [("bars", 0, None, "c\n1", 0.0, nan), ("bars", 0, None, "d", nan, nan)]
    names = ["panel", "index", "x", "word", "y", "spread"]
    kinds = [pl.String, pl.UInt16, pl.Float64, pl.String, pl.Float64, pl.Float64]
    frame = pl.DataFrame(rows, dict(zip(names, kinds, strict=True)), orient="row")
    labels = {"line": pl.lit("A"), "x_label": pl.lit("x"), "y_label": pl.lit("y")}
    frame.with_columns(**labels).write_parquet(tmp_path / "data.parquet")
    charts = collect([tmp_path]).charts
    line, bars = (chart.data[0] for chart in charts)
    assert line["y"][:2] == [None, 1.0]
    assert bars["y"] == [None, 2.0, 0.0, None]
    assert bars["error_y"]["array"] == [None, 0.5, None, None]
    # A logarithmic axis has no 0.
    assert charts[1].text.endswith(" Without a bar: A, a: never; A, c 1: 0; A, d: not measured.")
    write_report([tmp_path], tmp_path / "report.html")


@pytest.mark.parametrize("damage", ["[]", '{"claims": 1}', '{"claims": [], "panels": [{}]}', "{"])
def test_damaged_claims_are_refused(tmp_path: Path, damage: str) -> None:
    (tmp_path / "claims.json").write_text(damage)
    with pytest.raises(rocelab.ResultError, match=r"claims.json: damaged"):
        collect([tmp_path])


class _Tags(HTMLParser):
    """Notes all elements, attributes and the text outside of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def test_no_text_of_a_result_becomes_markup() -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'\u202e"
    chart = Chart(evil, evil, [{"type": "scatter", "name": evil, "x": [1], "y": [2]}], {"a": evil})
    grid = Grid(evil, [evil], [[Cell(evil)]], evil)
    report = Report(
        title=evil,
        asked=[(evil, evil)],
        found=[evil],
        answer=[grid],
        warnings=[evil],
        charts=[chart],
        details=[grid],
        scenario=evil,
        changed=[grid],
        commands=[evil],
        versions=[(evil, evil)],
    )
    text = page(report)
    found = _Tags()
    found.feed(text)
    assert [tag for tag, _ in found.elements].count("script") == 3
    assert not [tag for tag, _ in found.elements if tag == "img"]
    assert not [one for _, one in found.elements if any(name.startswith("on") for name in one)]
    assert "\u202e" not in text
    (holder,) = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', text)
    (drawn,) = json.loads(holder)
    assert "<" not in drawn["data"][0]["name"]
    assert drawn["data"][0]["name"].startswith("&lt;/script>")


def test_a_report_is_below_the_limit_and_names_no_other_place(
    runs: list[Path], tmp_path: Path
) -> None:
    text = write_report(runs, tmp_path / "report.html").read_text()
    assert len(text) < 10_000_000
    found = _Tags()
    found.feed(text)
    sources = [one[name] for _, one in found.elements for name in ("src", "href") if name in one]
    assert sources == ["data:,"]
    assert "default-src 'none'" in text


def test_the_command_writes_a_report(runs: list[Path], tmp_path: Path, command: Command) -> None:
    done = command("report", *runs, "-o", "all.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "all.html\n")
    failed = command("report", *runs, "-o", "all.pdf", cwd=tmp_path)
    assert (failed.returncode, failed.stderr) == (2, "error: --out all.pdf: must end in .html\n")
    failed = command("report", tmp_path, cwd=tmp_path)
    assert failed.returncode == 2
    assert "summary.json is missing" in failed.stderr


def test_the_command_of_a_sweep_names_its_file_and_repeats_it(
    command: Command, tmp_path: Path
) -> None:
    # The scheme decides on what a complete scenario has: only the file itself makes all runs.
    (tmp_path / "made.toml").write_text(INCAST, encoding="utf-8")
    asked = ("made.toml", "--set", "run.stop=300us", "--over", "scheme.name=dcqcn,hpcc")
    briefly = ("-q", "--metric", "max_queue_bytes")
    assert command("sweep", *asked, *briefly, "--out", "one", cwd=tmp_path).returncode == 0
    (again,) = collect([tmp_path / "one"], []).commands
    words = shlex.split(again)
    assert words[:2] == ["rocelab", "sweep"]
    words[words.index("--out") + 1] = "two"
    done = command(*words[1:], *briefly, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    one, two = (rocelab.open_sweep(tmp_path / name).runs.to_polars() for name in ("one", "two"))
    assert one["digest"].to_list() == two["digest"].to_list()


def test_results_of_one_name_have_commands_with_places_of_their_own(tmp_path: Path) -> None:
    result = rocelab.run(rocelab.Scenario.from_toml(INCAST))
    homes = [tmp_path / name / "1" for name in ("a", "b")]
    for home in homes:
        result.save(home)
    places = [shlex.split(one)[-1] for one in collect(homes, []).commands]
    assert len(set(places)) == 2


def test_a_metric_that_no_run_has_is_refused(tmp_path: Path) -> None:
    rocelab.run(rocelab.Scenario.from_toml(INCAST)).save(tmp_path / "a")
    with pytest.raises(rocelab.ConfigError, match="no run has a value of tier3_paused_ns"):
        collect([tmp_path / "a"], ["tier3_paused_ns"])
