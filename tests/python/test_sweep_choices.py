"""Ranges, keys that change together, and the choice of the best combinations of a sweep."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command
from rocelab.catalogue import is_count
from rocelab.plot.labels import plot_number
from rocelab.report.content import collect
from rocelab.sweeps.grid import check_pairs, combinations, make_axes, short_keys
from rocelab.sweeps.metrics import METRICS, pareto, select_metrics, sort_rows
from rocelab.sweeps.plan import SweepPlan
from rocelab.sweeps.ranges import expand


def test_a_range_is_that_many_values() -> None:
    assert expand("k", "50KB..400KB/8") == [f"{n}KB" for n in range(50, 401, 50)]
    assert expand("k", "1us..1ms/4log") == ["1us", "10us", "100us", "1ms"]
    assert expand("k", "0.3..0.9/3") == ["0.3", "0.6", "0.9"]
    assert expand("k", "1..5/5") == ["1", "2", "3", "4", "5"]
    # Bytes are whole.
    assert expand("k", "100B..1KB/3log") == ["100B", "316B", "1KB"]
    assert expand("k", "h0..h15") == ["h0..h15"]
    (axis,) = make_axes({"traffic.0.load": ["0.1..0.3/3", 0.9]})
    assert axis.column == [0.1, 0.2, 0.3, 0.9]
    for text, why in (
        ("1KB..1us/3", "units of one kind"),
        ("1..9/1", "2 to 1000 values"),
        ("0..9/3log", "ends above 0"),
    ):
        with pytest.raises(rocelab.ConfigError, match=why):
            expand("k", text)


@pytest.mark.parametrize(
    ("key", "text", "values"),
    [
        # A key that takes fractions has them, however its ends are written.
        ("ecn.pmax", "0..1/5", ["0", "0.25", "0.5", "0.75", "1"]),
        ("pfc.alpha", "1..4/7", ["1", "1.5", "2", "2.5", "3", "3.5", "4"]),
        ("scheme.params.eta", "0..1/3", ["0", "0.5", "1"]),
        ("topology.k", "1..10/4", ["1", "4", "7", "10"]),
        ("scheme.params.max_stage", "0..3/3", ["0", "2", "3"]),
        # Values of narrow ranges keep the digits in which they differ.
        ("traffic.0.size", "100000B..100020B/3", ["100000B", "100010B", "100020B"]),
        ("run.time_limit", "10000us..10010us/3", ["10000us", "10005us", "10010us"]),
        ("traffic.0.size", "100.0KB..100.1KB/3", ["100.0KB", "100.05KB", "100.1KB"]),
        ("wire.error_rate", "0.0001000..0.0001001/3", ["0.0001000", "0.00010005", "0.0001001"]),
    ],
)
def test_a_range_has_as_many_values_as_it_says(key: str, text: str, values: list[str]) -> None:
    assert expand(key, text) == values


@pytest.mark.parametrize(
    ("key", "text", "hint"),
    [
        ("topology.k", "1..4/7", "1..4/4 has 4 values that differ"),
        ("topology.k", "1..8/7log", "1..8/5log has 5 values that differ"),
        ("traffic.0.size", "10B..13B/7", "10B..13B/4 has 4 values that differ"),
        ("traffic.0.size", "100B..0.1KB/2", None),
    ],
)
def test_a_range_with_fewer_values_is_refused(key: str, text: str, hint: str | None) -> None:
    with pytest.raises(rocelab.ConfigError, match="differ") as refused:
        expand(key, text)
    assert refused.value.hint == hint
    if hint:
        assert len(expand(key, hint.split()[0])) == int(hint.split()[2])


def test_equal_values_are_one_however_they_are_written() -> None:
    for values in (["0.1MB", "100KB"], [1, 1.0], ["50KB..100KB/3", "75000B"]):
        with pytest.raises(rocelab.ConfigError, match="are the same value"):
            check_pairs(make_axes({"pfc.alpha": values}), [])


@pytest.mark.parametrize(
    ("key", "count"),
    [
        ("topology.k", True),
        ("traffic.0.senders", True),
        ("scheme.params.max_stage", True),
        ("scheme.also.0.params.max_stage", True),
        # A number of packets, or a quantity.
        ("host.in_flight", True),
        ("traffic.0.load", False),
        ("scheme.params.eta", False),
        ("scheme.name", False),
        ("no.such.key", False),
    ],
)
def test_which_keys_are_counts(key: str, count: bool) -> None:
    assert is_count(key) == count


def test_zipped_keys_change_together() -> None:
    over = {
        "pfc.xoff": ["50KB", "100KB"],
        "scheme.name": ["none", "hpcc"],
        "pfc.xon": ["1KB", "2KB"],
    }
    axes = make_axes(over)
    groups = check_pairs(axes, [["pfc.xoff", "pfc.xon"]])
    found = [tuple(one.label for one in values) for values in combinations(axes, groups)]
    assert found == [
        ("50KB", "none", "1KB"),
        ("50KB", "hpcc", "1KB"),
        ("100KB", "none", "2KB"),
        ("100KB", "hpcc", "2KB"),
    ]
    for zipped, why in (
        (
            [["pfc.xoff", "ecn.kmin"]],
            "(?s)ecn.kmin: is to be zipped, and is not varied.*--over ecn.kmin=V1,V2,...",
        ),
        ([["pfc.xoff"]], "zip needs two keys or more"),
        ([[""]], "zip has an empty key"),
        ([["pfc.xoff", "pfc.xon"], ["pfc.xon", "scheme.name"]], "pfc.xon: is zipped twice"),
    ):
        with pytest.raises(rocelab.ConfigError, match=why):
            check_pairs(axes, zipped)
    odd = make_axes({"pfc.xoff": ["50KB", "100KB"], "pfc.xon": ["1KB"]})
    with pytest.raises(rocelab.ConfigError, match=r"pfc\.xoff has 2, pfc\.xon has 1"):
        check_pairs(odd, [["pfc.xoff", "pfc.xon"]])


def test_a_zipped_key_may_have_a_value_again(tmp_path: Path, command: Command) -> None:
    """Some schemes with one way of balancing, others with two: pairs differ, single values do not.

    Pictures and tables have what tells the pairs apart.
    """
    over = {"scheme": ["none", "none", "dcqcn"], "ecn.kmin": ["5KB", "9KB", "5KB"]}
    zipped = [["scheme", "ecn.kmin"]]
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(ecn={"kmax": "90KB"})
    done = rocelab.sweep(scenario, over, zipped=zipped, out=tmp_path / "sweep")
    assert len({case.place for case in done.plan.cases}) == 3
    assert rocelab.open_sweep(tmp_path / "sweep").runs.to_polars().equals(done.runs.to_polars())
    (panel,) = done.plot("slowdown_p99").axes
    lines = {str(line.get_label()): np.asarray(line.get_ydata()) for line in panel.get_lines()}
    drawn = {name: len(y) for name, y in lines.items() if not name.startswith("_")}
    assert drawn == {"none": 2, "dcqcn": 1}
    (chart, *_) = (one for one in collect([tmp_path / "sweep"]).charts if one.data)
    assert [(one["name"], len(one["x"])) for one in chart.data] == [
        ("scheme=none", 2),
        ("scheme=dcqcn", 1),
    ]
    (tmp_path / "s.toml").write_text(INCAST)
    words = ("--over", "ecn.kmin=5KB,5KB,9KB", "--over", "ecn.kmax=90KB,80KB,90KB")
    shown = [f"--metric={one}" for one in ("slowdown_p99", "slowdown_p95", "max_queue_bytes")]
    told = command("sweep", "s.toml", *words, "--zip=ecn.kmin,ecn.kmax", *shown, cwd=tmp_path)
    parts = told.stdout.split("\n\n")
    assert all(
        row.split()[:2] == [kmin, kmax]
        for part in parts
        if part.startswith("ecn.kmin")
        for row, kmin, kmax in zip(
            part.splitlines()[1:], ("5KB", "5KB", "9KB"), ("90KB", "80KB", "90KB"), strict=True
        )
    )
    twice = make_axes({"scheme": ["none", "none"], "ecn.kmin": ["5KB", "5KB"]})
    with pytest.raises(rocelab.ConfigError, match=r"scheme=none,ecn\.kmin=5KB is there twice"):
        check_pairs(twice, zipped)
    with pytest.raises(rocelab.ConfigError, match="scheme: none is there twice") as refused:
        check_pairs(twice, [])
    assert "--zip" in str(refused.value.hint)


@pytest.mark.parametrize("kind", [iter, list, tuple])
def test_groups_of_zipped_keys_are_any_iterable(kind: Callable[[Any], Any]) -> None:
    """A generator is empty once it has been looked at: no group would be left."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    over = {"pfc.xoff": ["50KB", "60KB"], "pfc.xon": ["30KB", "40KB"]}
    plan = SweepPlan(scenario, make_axes(over), 1, kind([kind(["pfc.xoff", "pfc.xon"])]))
    assert len(plan.cases) == 2
    assert plan.zipped == (("pfc.xoff", "pfc.xon"),)
    for wrong in ("pfc.xoff", ["pfc.xoff"], [1], None):
        with pytest.raises(rocelab.ConfigError, match="zipped: needs groups of keys"):
            SweepPlan(scenario, make_axes(over), 1, wrong)  # type: ignore[arg-type]


def test_of_zipped_keys_the_first_stands_in_each_part_of_a_table(
    tmp_path: Path, command: Command
) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    over = ("--over", "ecn.kmin=5KB,20KB", "--over", "ecn.kmax=100KB,200KB", "--zip")
    names = ("incast.slowdown_p99", "incast.slowdown_p95", "victim.slowdown_p99", "max_queue_bytes")
    shown = [f"--metric={name}" for name in names]
    done = command("sweep", "s.toml", *over, "ecn.kmin,ecn.kmax", *shown, cwd=tmp_path)
    first, second, *_ = done.stdout.split("\n\n")
    assert first.split()[:2] == ["ecn.kmin", "ecn.kmax"]
    assert second.split()[0] == "ecn.kmin"
    assert "ecn.kmax" not in second
    assert [row.split()[0] for row in second.splitlines()[1:]] == ["5KB", "20KB"]


def test_zipped_keys_are_drawn_as_one(tmp_path: Path) -> None:
    """Protects from a line, or a panel, for each single point."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    over: dict[str, Sequence[object]] = {
        "pfc.xoff": ["50KB", "100KB", "200KB"],
        "pfc.xon": ["45KB", "90KB", "180KB"],
        "scheme.name": ["none", "hpcc"],
    }
    done = rocelab.sweep(scenario, over, zipped=[("pfc.xoff", "pfc.xon")], out=tmp_path / "sweep")
    (panel,) = done.plot("slowdown_p99").axes
    lines = {str(line.get_label()): np.asarray(line.get_xdata()) for line in panel.get_lines()}
    drawn = [name for name, x in lines.items() if len(x) == 3 and not name.startswith("_")]
    assert drawn == ["none", "hpcc"]
    charts = [one for one in collect([tmp_path / "sweep"]).charts if one.data]
    assert {len(one.data) for one in charts} == {2}
    assert {len(line["x"]) for one in charts for line in one.data} == {3}
    assert all("Changed together: pfc.xoff, pfc.xon." in one.text for one in charts)
    # On another axis than the first of them: then the first stands for them.
    schemes = done.plan.axes[2]
    assert done.plan.others(schemes) == [0]


def test_directories_have_the_shortest_names_that_tell_keys_apart() -> None:
    keys = ["ecn.kmin", "scheme.params.kmax", "traffic.0.load"]
    assert short_keys(keys) == ["kmin", "kmax", "load"]
    keys = ["traffic.0.load", "traffic.1.load", "scheme.name"]
    assert short_keys(keys) == ["0.load", "1.load", "scheme.name"]


def test_the_front_has_what_no_other_beats() -> None:
    rows = pl.DataFrame(
        {"slowdown_p99": [1.0, 2.0, 3.0, 2.0, None], "flows_done": [1.0, 5.0, 4.0, 5.0, 9.0]}
    )
    slowdown, done = select_metrics(["slowdown_p99", "flows_done"], METRICS)
    assert pareto(rows, [slowdown]) == [0]
    assert pareto(rows, [done]) == [4]
    assert pareto(rows, [slowdown, done]) == [0, 1, 3]
    assert sort_rows(rows, slowdown) == [0, 1, 3, 2, 4]
    assert sort_rows(rows, done) == [4, 1, 3, 2, 0]


def test_a_stored_sweep_opens_with_its_numbers(tmp_path: Path) -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    over = {"pfc.xoff": ["50KB", "100KB"], "pfc.xon": ["40KB", "90KB"]}
    zipped = [["pfc.xoff", "pfc.xon"]]
    made_ = rocelab.sweep(scenario, over, zipped=zipped, out=tmp_path / "sweep")
    again = rocelab.open_sweep(tmp_path / "sweep")
    assert again.plan.zipped == (("pfc.xoff", "pfc.xon"),)
    assert again.statistics.to_polars().equals(made_.statistics.to_polars())
    shutil.rmtree(tmp_path / "sweep/runs/xoff=50KB,xon=40KB")
    with pytest.raises(rocelab.ResultError, match="1 of 2 runs is missing"):
        rocelab.open_sweep(tmp_path / "sweep")
    with pytest.raises(rocelab.ResultError, match=r"has no sweep\.json"):
        rocelab.open_sweep(tmp_path)


def test_a_key_that_changes_nothing_is_named() -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    done = rocelab.sweep(
        scenario, {"run.time_limit": ["1s", "2s"], "scheme.name": ["none", "hpcc"]}
    )
    told = [line for line in done.warnings if "changes nothing" in line]
    assert told == ["run.time_limit changes nothing: its values give equal results"]


def test_what_is_recorded_is_not_called_without_effect() -> None:
    """The digest has neither series nor traces, but the metrics of probes depend on them."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    done = rocelab.sweep(scenario, {"probe.0.interval": ["1us", "7us"], "trace.pfc": [True, False]})
    assert done.warnings == []


def test_best_and_sorted_combinations(tmp_path: Path, command: Command) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    options = ("--over", "scheme.name=none,dcqcn,hpcc", "--quiet", "--json")
    metric = "max_queue_bytes"
    alone = (*options, "--metric", metric)
    by_queue = json.loads(command("sweep", "s.toml", *alone, "--sort", metric, cwd=tmp_path).stdout)
    queues = [row[metric] for row in by_queue]
    assert queues == sorted(queues)
    best = json.loads(command("sweep", "s.toml", *alone, "--best", metric, cwd=tmp_path).stdout)
    assert [row["scheme.name"] for row in best] == [by_queue[0]["scheme.name"]]
    shown = (*options[:2], "--metric", metric)
    told = command("sweep", "s.toml", *shown, "--best", metric, cwd=tmp_path).stdout
    assert f"1 of 3 combinations, best by {metric} (low is good)" in told
    # What is best stands first, and tables fit into 80 columns: what does not goes below.
    names = ("incast.slowdown_p99", "incast.slowdown_p95", "victim.slowdown_p99")
    several = [f"--metric={name}" for name in names]
    best_first = (*options[:2], *several, "--best", "victim.jain")
    wide = command("sweep", "s.toml", *best_first, cwd=tmp_path).stdout
    table = wide.split("\n\n")
    assert table[0].split()[:2] == ["scheme.name", "victim.jain"]
    assert table[1].split()[0] == "scheme.name"
    assert max(map(len, wide.splitlines()[:-1])) <= 80
    failed = command("sweep", "s.toml", "--sort", metric, "--best", metric, cwd=tmp_path)
    assert (failed.returncode, failed.stderr) == (2, "error: --sort and --best: choose one\n")


def test_metrics_are_those_of_the_runs_and_not_of_the_file(
    tmp_path: Path, command: Command
) -> None:
    """Tags and probes may vary: what no run has is refused before the first one, and no other."""
    (tmp_path / "s.toml").write_text(INCAST)
    tags = ("sweep", "s.toml", "--over", "traffic.0.tag=small,large")
    failed = command(*tags, "--metric", "incast.slowdown_p99", cwd=tmp_path)
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: no metric 'incast.slowdown_p99'\n")
    assert "small.slowdown_p99" in failed.stderr
    assert "large.slowdown_p99" in failed.stderr
    assert not (tmp_path / "out").exists(), "nothing is run before"
    chosen = (*tags, "--sort", "large.flows", "--json", "--quiet")
    rows = json.loads(command(*chosen, cwd=tmp_path).stdout)
    assert [(row["traffic.0.tag"], row["large.flows"]) for row in rows] == [
        ("large", 3),
        ("small", None),
    ]
    probe = '{ name = "added", kind = "queue", ports = ["s0:h4"], interval = "1us" }'
    probes = ("sweep", "s.toml", "--over", f"probe=[],[{probe}]", "--metric", "added.max")
    rows = json.loads(command(*probes, "--json", "--quiet", cwd=tmp_path).stdout)
    assert rows[0]["added.max"] is None
    assert rows[1]["added.max"] > 0
    wrong = ("sweep", "s.toml", "--over", "traffic.0.size=1KB,0KB", "--metric", "nope")
    refused = command(*wrong, cwd=tmp_path).stderr
    assert "traffic.0.size: must be above zero; with traffic.0.size=0KB" in refused


def test_numbers_in_pictures_have_three_digits() -> None:
    assert [plot_number(value) for value in (1588.3, 0.123, 12.34)] == ["1,588", "0.123", "12.3"]


def test_two_keys_of_numbers_have_a_map() -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    over = {"ecn.kmin": ["5KB", "20KB", "80KB"], "ecn.kmax": ["100KB", "200KB", "400KB"]}
    done = rocelab.sweep(scenario, over)
    drawn = done.heat_map("max_queue_bytes")
    panel = drawn.axes[0]
    (image,) = panel.images
    values = image.get_array()
    assert values is not None
    rows = done.statistics.to_polars()
    # Across kmin, up kmax, as the keys were given.
    first = rows.filter((pl.col("ecn.kmin") == "80KB") & (pl.col("ecn.kmax") == "100KB"))
    assert values[0][2] * 1000 == pytest.approx(first["max_queue_bytes"][0])
    written = [text.get_text() for text in panel.texts]
    # A number in each cell, from below; all have three digits or more, and the same decimals.
    assert [float(one) for one in written] == pytest.approx(values.flatten(), rel=0.005)
    assert len({len(one.partition(".")[2]) for one in written}) == 1
    with pytest.raises(rocelab.ResultError, match="needs two keys"):
        rocelab.sweep(scenario, {"ecn.kmin": ["5KB", "20KB"]}).heat_map()


@cache
def swept(count: int) -> rocelab.Sweep:
    """``count`` values of each of two keys."""
    over = {"ecn.kmin": [f"5125B..99625B/{count}"], "ecn.kmax": [f"100125B..400625B/{count}"]}
    return rocelab.sweep(rocelab.Scenario.from_toml(INCAST), over)


@pytest.mark.parametrize("count", [3, 5, 12])
@pytest.mark.parametrize("size", [None, (3.5, 2.5)])
def test_labels_of_a_map_are_apart_and_inside(
    count: int, size: tuple[float, float] | None, tmp_path: Path
) -> None:
    drawn = swept(count).heat_map("max_queue_bytes", size=size)
    # A picture that is too small would be an error here.
    rocelab.plot.save(drawn, tmp_path / "map", "png")
    drawn.draw_without_rendering()
    panel, colours = drawn.axes
    assert colours.yaxis.label.get_window_extent().x1 <= drawn.bbox.width
    texts = [text for text in panel.get_xticklabels() if text.get_text()]
    slant = np.radians(texts[0].get_rotation())
    boxes = [text.get_window_extent() for text in texts]
    for left, right in itertools.pairwise(boxes):
        if slant:
            # Boxes of turned texts overlap where these do not, so look along their baselines.
            height = 8 / 72 * drawn.dpi
            assert (right.x1 - left.x1) * np.sin(slant) > 0.9 * height
        else:
            assert left.x1 < right.x0
    names = [text.get_window_extent() for text in panel.get_yticklabels() if text.get_text()]
    for lower, upper in itertools.pairwise(names):
        assert lower.y1 < upper.y0 + 1
    assert len(texts) >= min(count, 5)


def test_plot_draws_a_stored_sweep(tmp_path: Path, command: Command) -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    over = {"ecn.kmin": ["5KB..80KB/3"], "ecn.kmax": ["100KB..400KB/3"]}
    rocelab.sweep(scenario, over, out=tmp_path / "sweep")
    told = command("plot", "sweep", "--metric", "victim.slowdown_p99", cwd=tmp_path).stdout
    names = {Path(line).name for line in told.splitlines()}
    stems = ("victim.slowdown_p99", "victim.slowdown_p99-map")
    assert names == {f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")}
    failed = command("plot", "sweep/runs/kmin=5KB,kmax=100KB/1", "--metric", "drops", cwd=tmp_path)
    assert failed.returncode == 2
    assert failed.stderr == "error: --metric: is for the directory of a sweep\n"
