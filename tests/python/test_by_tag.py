"""Numbers by tag: in summaries, on the terminal, in sweeps and in pictures."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command, reseal
from rocelab._format import duration
from rocelab.hpcc.fct import select_flows
from rocelab.hpcc.fct_plot import plot_slowdowns
from rocelab.plot.gallery import plot_all
from rocelab.sweeps.metrics import all_metrics, select_metrics, tag_metrics


@pytest.fixture(scope="module")
def result(incast: rocelab.Result) -> rocelab.Result:
    return incast


def test_the_summary_has_the_numbers_of_each_tag(result: rocelab.Result) -> None:
    flows = result.flows.to_polars()
    assert set(result.summary["by_tag"]) == {"incast", "victim"}
    for tag, numbers in result.summary["by_tag"].items():
        own = flows.filter(pl.col("tag") == tag)
        assert numbers["flows"] == numbers["flows_done"] == len(own)
        assert numbers["slowdown"]["mean"] == pytest.approx(own["slowdown"].mean())
        assert numbers["slowdown"]["p99"] == own["slowdown"].max()
        ends = own["start_ps"] + own["fct_ps"]
        span_s = (max(ends) - min(own["start_ps"])) / 1e12
        assert numbers["goodput_bps"] == pytest.approx(8 * sum(own["size_bytes"]) / span_s)
        assert numbers["makespan_ps"] == max(ends) - min(own["start_ps"])
        shares = list(own["size_bytes"] / own["fct_ps"])
        jain = sum(shares) ** 2 / (len(own) * sum(share**2 for share in shares))
        assert numbers["jain"] == pytest.approx(jain)


def test_paused_time_by_tier_adds_up(result: rocelab.Result) -> None:
    ports = result.ports.to_polars()
    by_tier = result.summary["paused_by_tier_ns"]
    assert set(by_tier) == {"hosts", "tier1"}
    assert sum(by_tier.values()) == result.summary["paused_ns"]
    hosts = ports.filter(pl.col("node").str.starts_with("h"))
    assert by_tier["hosts"] == hosts["paused_ns"].sum()


def test_run_prints_a_row_for_each_tag(tmp_path: Path, command: Command) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    told = command("run", "s.toml", "--out", "out", cwd=tmp_path).stdout
    rows = {line.split()[0]: line for line in told.splitlines() if line.startswith("    ")}
    assert set(rows) >= {"incast", "victim"}
    assert "p99" in rows["victim"]
    assert re.search(r"  within [\d.]+ us$", rows["victim"])


def test_more_tags_than_are_shown_are_told(tmp_path: Path, command: Command) -> None:
    entry = (
        '\n[[traffic]]\nkind = "flows"\ntag = "t{0}"\nflows = [{{src="h1",dst="h0",size="1KB"}}]\n'
    )
    many = "".join(map(entry.format, range(12)))
    (tmp_path / "s.toml").write_text(INCAST + many)
    told = command("run", "s.toml", "--out", "out", cwd=tmp_path).stdout
    assert re.search(r"^    by tag +14 tags: see rocelab fct --by-tag$", told, re.MULTILINE)
    assert "2 more in summary.by_tag" in rocelab.open(tmp_path / "out")._repr_html_()


def test_run_prints_how_long_a_single_tag_takes(tmp_path: Path, command: Command) -> None:
    """It is what a collective operation is run for."""
    small = ["--set", "traffic.0.size=160KB", "--out", tmp_path / "run"]
    done = command("run", "collective", *small)
    (line,) = (one for one in done.stdout.splitlines() if one.startswith("  FCT slowdown"))
    makespan = rocelab.open(tmp_path / "run").summary.by_tag["all-reduce"].makespan_ps
    assert makespan is not None
    assert line.endswith(f"  within {duration(makespan)}")


def test_run_prints_one_pause_as_one(tmp_path: Path, command: Command) -> None:
    """Of a host that takes nothing any more."""
    stalled = ["--set", 'receiver=[{hosts=["h3"],rate="0bps"}]', "--set", "run.time_limit=5ms"]
    small = ["--set", "traffic.0.size=2MB", "--out", tmp_path / "run"]
    done = command("run", "collective", *small, *stalled)
    (line,) = (one for one in done.stdout.splitlines() if one.startswith("  pauses"))
    assert rocelab.open(tmp_path / "run").summary.pause_frames == 1
    assert " 1 frame, " in line


def test_metrics_of_tags_are_those_of_the_summary(result: rocelab.Result) -> None:
    metrics = {one.name: one for one in tag_metrics(["incast"])}
    incast = result.summary["by_tag"]["incast"]
    assert metrics["incast.slowdown_p99"].read(result) == incast["slowdown"]["p99"]
    assert metrics["incast.goodput_bps"].read(result) == incast["goodput_bps"]
    assert metrics["incast.flows_done"].read(result) == 3
    assert metrics["incast.makespan_ps"].read(result) == incast["makespan_ps"] > 0
    (absent,) = select_metrics(["absent.jain"], tag_metrics(["absent"]))
    assert absent.read(result) is None


def test_recovery_ends_when_the_queue_is_a_tenth_of_its_peak(result: rocelab.Result) -> None:
    (recovery,) = select_metrics(
        ["bottleneck.recovery_ps"], all_metrics((), {"bottleneck": "queue"})
    )
    took = recovery.read(result)
    series = result.series["bottleneck"]
    samples, column = series.to_polars(), series.column
    peak = max(samples[column])
    at = samples.filter(pl.col(column) == peak)["time_ps"][0]
    assert isinstance(took, int)
    assert took > 0
    after = samples.filter(pl.col("time_ps") >= at)
    before_end = after.filter(pl.col("time_ps") < at + took)
    assert min(before_end[column]) > 0.1 * peak
    end = after.filter(pl.col("time_ps") == at + took)
    assert max(end[column]) <= 0.1 * peak


def test_a_sweep_compares_tags(tmp_path: Path, command: Command) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    over = ("--over", "scheme.name=dcqcn,hpcc", "--metric")
    options = (*over, "victim.slowdown_p99", "--json")
    rows = json.loads(command("sweep", "s.toml", *options, cwd=tmp_path).stdout)
    assert all(row["victim.slowdown_p99"] >= 1 for row in rows)
    failed = command("sweep", "s.toml", *over, "victims.slowdown_p99", cwd=tmp_path)
    assert failed.returncode == 2
    assert "no metric 'victims.slowdown_p99'" in failed.stderr
    assert "hint: did you mean victim.slowdown_p99? there are: flows, " in failed.stderr


def test_fct_splits_by_tag(tmp_path: Path, command: Command) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    command("run", "s.toml", "--out", "out", "--quiet", cwd=tmp_path)
    rows = json.loads(command("fct", "out", "--by-tag", "--json", cwd=tmp_path).stdout)
    assert [(row["tag"], row["upper_bytes"], row["flows"]) for row in rows] == [
        ("incast", 300_000, 3),
        ("victim", 100_000, 1),
    ]
    table = command("fct", "out", "--by-tag", cwd=tmp_path).stdout
    assert table.split()[0] == "tag"
    failed = command("fct", "out", "--by-tag", "--topology", "t.txt", cwd=tmp_path)
    assert (failed.returncode, failed.stderr) == (2, "error: --by-tag and --topology: choose one\n")


def test_fct_tells_and_chooses_the_flows_of_one_of_two_schemes(
    tmp_path: Path, command: Command
) -> None:
    also = """\n[[scheme.also]]\nname = "hpcc"\ntraffic = ["victim"]\n"""
    (tmp_path / "s.toml").write_text(INCAST + also)
    assert command("run", "s.toml", "--out", "out", "--quiet", cwd=tmp_path).returncode == 0
    both = command("fct", "out", "--json", cwd=tmp_path)
    assert "out: flows of dcqcn and hpcc together; --scheme chooses those of one" in both.stderr
    of = {}
    for name in ("dcqcn", "hpcc"):
        done = command("fct", "out", "--scheme", name, "--json", "--out", "a.svg", cwd=tmp_path)
        assert "together" not in done.stderr
        assert f"Flows with scheme {name} alone." in (tmp_path / "a.svg").read_text()
        of[name] = sum(row["flows"] for row in json.loads(done.stdout))
    assert of == {"dcqcn": 3, "hpcc": 1}
    failed = command("fct", "out", "--scheme", "timely", cwd=tmp_path)
    assert (failed.returncode, failed.stderr) == (
        2,
        "error: out: no flow with scheme timely\nhint: its flows have dcqcn, hpcc\n",
    )
    failed = command("fct", "out", "--scheme", "hpcc", "--tag", "incast", cwd=tmp_path)
    assert (failed.returncode, failed.stderr) == (
        2,
        (
            "error: out: no flow of hpcc with tag incast\n"
            "hint: its flows of hpcc have victim; choose with --tag\n"
        ),
    )


def test_fct_compares_two_results_tag_by_tag(tmp_path: Path, command: Command) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    for name in ("none", "hpcc"):
        command("run", "s.toml", "--set", f"scheme.name={name}", "--out", name, cwd=tmp_path)
    both = json.loads(command("fct", "none", "hpcc", "--by-tag", "--json", cwd=tmp_path).stdout)
    assert [(row["tag"], row["flows_a"], row["flows_b"]) for row in both] == [
        ("incast", 3, 3),
        ("victim", 1, 1),
    ]
    for name, side in (("none", "a"), ("hpcc", "b")):
        alone = json.loads(command("fct", name, "--by-tag", "--json", cwd=tmp_path).stdout)
        assert [row[f"p99_{side}"] for row in both] == [row["p99"] for row in alone]
    table = command("fct", "none", "hpcc", "--by-tag", cwd=tmp_path).stdout.splitlines()
    assert max(map(len, table)) <= 80
    # What does not fit beside each other stands below each other, with the tags again.
    assert sum(line.startswith("victim") for line in table) == 2


def test_pictures_of_fct_connect_no_points_of_different_traffic(tmp_path: Path) -> None:
    """As pictures of results, and with a line for each tag where that is asked for."""
    scenario = rocelab.example("leaf-spine").with_settings(traffic__1__duration="1ms")
    rocelab.run(scenario).save(tmp_path / "run")
    selected = select_flows(tmp_path / "run", None, 3.0)
    for split, gaps in ((False, 2), (True, 0)):
        with patch("rocelab.hpcc.fct_plot.save") as saved:
            plot_slowdowns(tmp_path / "a.png", [selected], [], split_by_tag=split)
        lines = [line for axes in saved.call_args.args[0].axes for line in axes.get_lines()]
        values = [list(line.get_ydata()) for line in lines if len(line.get_ydata()) > 3]
        assert values
        assert {sum(map(math.isnan, one)) for one in values} == {gaps}


def test_the_picture_by_tag_has_a_line_for_each(result: rocelab.Result) -> None:
    drawn = result.plot.fct_by_tag()
    labels = {text.get_text() for legend in drawn.legends for text in legend.get_texts()}
    labels |= {
        text.get_text()
        for axes in drawn.axes
        if (legend := axes.get_legend())
        for text in legend.get_texts()
    }
    assert labels >= {"incast", "victim"}


def test_a_picture_of_one_tag_names_it_and_is_not_drawn_unasked(tmp_path: Path) -> None:
    """Of the other tag no flow is done: it would look like the picture of all flows."""
    flows = [{"src": "h0", "dst": "h2", "size": size} for size in ("1KB", "10KB", "20KB")]
    late = [{"src": "h1", "dst": "h3", "size": "1MB", "start": "90us"}]
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(
        traffic=[
            {"kind": "flows", "tag": "early", "flows": flows},
            {"kind": "flows", "tag": "late", "flows": late},
        ],
        run__stop="100us",
    )
    run = rocelab.run(scenario)
    assert run.plot.fct_by_tag().axes[0].get_title(loc="right") == "dcqcn, early"
    paths, _ = plot_all([run], tmp_path)
    assert "tags.png" in {path.name for path in paths}
    assert "fct-by-tag.png" not in {path.name for path in paths}


def test_older_results_without_tags_open(tmp_path: Path, result: rocelab.Result) -> None:
    place = result.save(tmp_path / "old")
    path = place / "summary.json"
    summary = json.loads(path.read_text())
    for tag in summary["by_tag"].values():
        del tag["makespan_ps"]
    path.write_text(json.dumps(summary))
    reseal(place)
    assert rocelab.open(place).summary["by_tag"]["incast"]["makespan_ps"] is None
    for key in ("by_tag", "jain", "paused_by_tier_ns"):
        del summary[key]
    path.write_text(json.dumps(summary))
    reseal(place)
    assert rocelab.open(place).summary["by_tag"] == {}
