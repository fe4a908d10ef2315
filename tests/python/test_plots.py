from __future__ import annotations

import copy
import io
import pickle
import signal
import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import matplotlib
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import rocelab
from conftest import INCAST, Command
from pictures import assert_picture, legend_texts, png_size
from rocelab.plot import gallery, save, slowdown, theme
from rocelab.plot.figure import LabelledFigure
from rocelab.plot.gallery import plot_all
from rocelab.plot.size_bins import Bin
from rocelab.report.charts import of_results
from rocelab.view.data import collect

PORT_KINDS = ("queue", "throughput", "utilisation", "pause", "port-state")
FLOW_KINDS = ("rate", "window", "alpha", "latency")


def test_pictures_of_one_result(incast: rocelab.Result, tmp_path: Path) -> None:
    for name in ("fct", "tags", "queue", "throughput"):
        drawn = getattr(incast.plot, name)()
        assert isinstance(drawn, Figure)
        assert_picture(rocelab.plot.save(drawn, tmp_path / name))
    assert isinstance(incast.plot.series("queue"), Figure)


def test_notebooks_show_a_picture(incast: rocelab.Result) -> None:
    drawn = incast.plot.queue()
    assert isinstance(drawn, LabelledFigure)
    width, height = png_size(drawn._repr_png_())
    assert 500 < width < 1000
    assert 300 < height < width


def test_savefig_is_as_sharp_as_save(incast: rocelab.Result, tmp_path: Path) -> None:
    drawn = incast.plot.fct()
    (saved,) = rocelab.plot.save(drawn, tmp_path / "save", ["png"])
    other = tmp_path / "savefig.png"
    # A reader's own settings change neither.
    with matplotlib.rc_context({"savefig.facecolor": "black", "xtick.labelsize": 20}):
        drawn.savefig(other)
    assert png_size(other.read_bytes()) == png_size(saved.read_bytes())
    assert other.read_bytes() == saved.read_bytes()
    drawn.savefig(other, dpi=100)
    assert png_size(other.read_bytes())[0] == pytest.approx(100 * theme.WIDTH_IN, abs=1)


def test_pictures_can_be_pickled_and_copied(incast: rocelab.Result) -> None:
    def png(drawn: Figure) -> bytes:
        buffer = io.BytesIO()
        drawn.savefig(buffer, dpi=40)
        return buffer.getvalue()

    scenario = rocelab.Scenario.from_toml(INCAST)
    sweep = rocelab.sweep(scenario, {"traffic.0.size": ["100KB", "300KB"]})
    for drawn in (incast.plot.fct(), incast.plot.queue(), sweep.plot("max_queue_bytes")):
        others = (pickle.loads(pickle.dumps(drawn)), copy.deepcopy(drawn))  # noqa: S301
        expected = png(drawn)
        for other in others:
            assert isinstance(other, LabelledFigure)
            assert png(other) == expected


def test_axes_say_what_they_show(incast: rocelab.Result) -> None:
    (queue,) = incast.plot.queue().axes
    assert queue.get_xlabel() == "Time (µs)"
    assert queue.get_ylabel() == "Queue length (KB)"
    (throughput,) = incast.plot.throughput().axes
    assert throughput.get_ylabel() == "Throughput (Gb/s)"
    assert {line.get_label() for line in throughput.lines} == {"s0:h3", "s0:h4"}
    (fct,) = incast.plot.fct().axes
    assert (fct.get_xlabel(), fct.get_ylabel()) == ("Flow size", "FCT slowdown")
    assert [line.get_label() for line in fct.lines] == ["p50", "p95", "p99"]


def test_a_picture_says_what_its_legend_does_not(
    incast: rocelab.Result, three_runs: list[rocelab.Result]
) -> None:
    def said(drawn: Figure) -> list[str]:
        return [axes.get_title(loc="right") for axes in drawn.axes]

    assert said(incast.plot.fct()) == said(incast.plot.tags()) == ["dcqcn"]
    assert said(incast.plot.throughput()) == ["dcqcn"]
    assert said(incast.plot.queue()) == ["dcqcn, s0:h4"]
    assert said(rocelab.plot.fct(three_runs)) == ["", "", ""]
    assert said(rocelab.plot.queue(three_runs)) == ["s0:h4"]
    probe = {"name": "pause", "kind": "pause", "interval": "1us", "nodes": ["h0"]}
    paused = [rocelab.run(run.scenario.with_settings(probe=[probe])) for run in three_runs]
    assert said(rocelab.plot.series(paused[0], "pause")) == ["none"]
    assert said(rocelab.plot.series(paused, "pause")) == ["h0:s0"]


def test_several_results_share_a_picture(three_runs: list[rocelab.Result]) -> None:
    panels = rocelab.plot.fct(three_runs).axes
    assert [axes.get_ylabel() for axes in panels] == [f"p{p} slowdown" for p in (50, 95, 99)]
    assert [line.get_label() for line in panels[0].lines] == ["none", "dcqcn", "hpcc"]
    assert len(rocelab.plot.queue(three_runs).axes) == 1
    throughput = rocelab.plot.throughput(three_runs)
    assert [axes.get_title(loc="right") for axes in throughput.axes] == ["s0:h3", "s0:h4"]
    looks = {(line.get_color(), str(line.get_linestyle())) for line in throughput.axes[0].lines}
    assert len(looks) == 3


def test_the_same_flows_in_all_pictures(incast: rocelab.Result) -> None:
    sizes = ["100KB", "1MB", "200KB", "500KB", "300KB", "2MB", "400KB", "600KB"]
    kinds = ("rate", "goodput", "latency")
    scenario = incast.scenario.with_settings(
        traffic=[
            {"kind": "flows", "flows": [{"src": f"h{n % 4}", "dst": "h4", "size": size}]}
            for n, size in enumerate(sizes)
        ],
        probe=[
            {"name": f"{kind}{n}", "kind": kind, "interval": "1us", "flows": [n]}
            for kind in kinds
            for n in reversed(range(8))
        ],
    )
    runs = [rocelab.run(scenario.with_settings(scheme=name)) for name in ("dcqcn", "hpcc")]
    for kind in kinds:
        panels = rocelab.plot.series(runs, kind).axes
        assert [axes.get_title(loc="right") for axes in panels] == [f"flow {n}" for n in range(5)]
        assert panels[0].get_title(loc="left") == "the first 5 of 8"
        few = rocelab.plot.series(runs, kind, flows=[0, 3, 5, 7]).axes
        assert [axes.get_title(loc="right") for axes in few] == [f"flow {n}" for n in (0, 3, 5, 7)]
        assert few[0].get_title(loc="left") == ""
        alone = rocelab.plot.series(runs[0], kind)
        assert legend_texts(alone) == [f"flow {n}" for n in range(6)]
        assert alone.axes[0].get_title(loc="left") == "the first 6 of 8"


def test_flows_are_called_by_their_hosts_where_that_tells_them_apart(
    incast: rocelab.Result,
) -> None:
    probe = {"name": "goodput", "kind": "goodput", "interval": "1us", "nodes": ["*"]}
    run = rocelab.run(incast.scenario.with_settings(probe=[probe]))
    tagged = [*(f"incast: h{n} > h4" for n in range(3)), "victim: h0 > h3"]
    assert legend_texts(run.plot.series("goodput")) == tagged
    incast_alone = run.plot.series("goodput", flows=[0, 1, 2])
    assert legend_texts(incast_alone) == [f"h{n} > h4" for n in range(3)]
    (alone,) = run.plot.series("goodput", flows=[1]).axes
    assert alone.get_title(loc="right") == "dcqcn, h1 > h4"
    # In another result the numbers are those of other flows, or have equal or too long names.
    swapped = {"traffic.0.senders": ["h2", "h1", "h0"]}
    other = rocelab.run(run.scenario.with_settings(name="other", **swapped))
    panels = rocelab.plot.series([run, other], "goodput").axes
    assert [axes.get_title(loc="right") for axes in panels] == [f"flow {n}" for n in range(4)]
    twice = {"traffic.0.repeat": 2, "traffic.0.period": "50us"}
    for change in (twice, {"traffic.1.tag": "a tag that takes much room"}):
        drawn = rocelab.run(run.scenario.with_settings(**change)).plot.series("goodput")
        assert legend_texts(drawn)[0] == "flow 0"


def test_ports_that_were_idle_have_no_panel(incast: rocelab.Result) -> None:
    kinds = ("queue", "throughput")

    def probed(receiver: str, names: Sequence[str]) -> list[rocelab.Result]:
        probe = [
            {"name": kind, "kind": kind, "interval": "1us", "ports": [f"s0:{n}" for n in names]}
            for kind in kinds
        ]
        senders = ["h1", "h2"]
        traffic = {"kind": "incast", "senders": senders, "receiver": receiver, "size": "300KB"}
        scenario = incast.scenario.with_settings(traffic=[traffic], probe=probe)
        return [rocelab.run(scenario.with_settings(scheme=name)) for name in ("none", "hpcc")]

    runs = probed("h4", ["h3", "h4"])
    for kind in kinds:
        for drawn in (rocelab.plot.series(runs, kind), runs[0].plot.series(kind)):
            (axes,) = drawn.axes
            assert "s0:h4" in axes.get_title(loc="right")
            assert axes.get_title(loc="left") == "1 more stayed at 0"
    # Where all were idle, that is what there is to see.
    idle = rocelab.plot.throughput(runs, nodes=["s0"], ports=[3]).axes
    assert [axes.get_title(loc="right") for axes in idle] == ["s0:h3"]
    nothing = rocelab.plot.throughput(probed("h0", ["h3", "h4"])).axes
    assert [axes.get_title(loc="right") for axes in nothing] == ["s0:h3", "s0:h4"]


def test_pauses_of_the_ports_that_were_paused_longest() -> None:
    incasts = [
        {"kind": "incast", "senders": [f"h{n}"], "receiver": "h9", "size": size}
        for n, size in enumerate(["100KB"] * 4 + ["2MB"] * 5)
    ]
    probe = {"name": "pause", "kind": "pause", "interval": "1us", "nodes": ["h*"]}
    topology = {"kind": "star", "hosts": 10, "host_rate": "100Gbps", "host_delay": "1us"}
    result = rocelab.run(
        rocelab.Scenario(
            topology=topology,
            traffic=incasts,
            probe=[probe],
            scheme={"name": "none"},
            switch={"buffer": "1MB"},
        )
    )
    samples = result.series["pause"].to_polars().group_by("node").agg(pl.col("pause").sum())
    paused = dict(samples.iter_rows())
    assert sum(time > 0 for time in paused.values()) > 6
    (axes,) = result.plot.series("pause").axes
    drawn = [text.get_text().split(":")[0] for text in axes.get_yticklabels()]
    left_out = set(paused) - set(drawn)
    assert len(drawn) == 6
    assert drawn == sorted(drawn)
    assert min(paused[node] for node in drawn) >= max(paused[node] for node in left_out)
    assert axes.get_title(loc="left") == "the 6 longest paused of 10"


def test_pauses_of_several_results_share_the_rows_of_one() -> None:
    hosts = 20
    scenario = rocelab.Scenario(
        topology={
            "kind": "star",
            "hosts": hosts + 1,
            "host_rate": "100Gbps",
            "host_delay": "1us",
        },
        traffic=[{"kind": "incast", "senders": hosts, "receiver": f"h{hosts}", "size": "200KB"}],
        pfc={"xoff": "50KB"},
        scheme={"name": "none"},
        trace={"pfc": True},
    )
    one = rocelab.run(scenario)
    others = [rocelab.run(scenario.with_settings(run__seed=seed)) for seed in (2, 3)]
    (axes,) = one.plot.pauses().axes
    assert len(axes.get_yticks()) == hosts
    assert axes.get_title("left") == ""
    (axes,) = rocelab.plot.pauses({"a": one, "b": others[0], "c": others[1]}).axes
    assert len(axes.get_yticks()) == 24
    assert axes.get_title("left") == f"the 8 longest paused of {hosts}"
    # One port at least, however many results.
    (axes,) = rocelab.plot.pauses({str(name): one for name in range(30)}).axes
    assert len(axes.get_yticks()) == 30


def flows(*sizes: str, tag: str) -> dict[str, object]:
    listed = [{"src": "h0", "dst": "h1", "size": size} for size in sizes]
    return {"kind": "flows", "tag": tag, "flows": listed}


def test_a_tag_without_a_completed_flow_has_its_place() -> None:
    base = rocelab.Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
        traffic=[flows("100MB", "100MB", tag="bulk"), flows("1KB", tag="small")],
        run={"stop": "1ms"},
    )
    cut, whole = rocelab.run(base), rocelab.run(base.with_settings(run__stop="50ms"))
    (axes,) = cut.plot.tags().axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["bulk", "small"]
    assert [(text.get_text(), text.get_position()[0]) for text in axes.texts] == [
        ("0 of 2\ndone", 0)
    ]
    both = rocelab.plot.tags({"cut": cut, "whole": whole})
    assert not both.axes[0].texts
    assert "No flow of bulk done: cut." in both.get_supxlabel()
    (axes,) = whole.plot.tags().axes
    assert not axes.texts


@pytest.mark.parametrize("size", ["100MB", "100KB"])
def test_goodput_ends_where_its_flows_are_done(size: str) -> None:
    result = rocelab.run(
        rocelab.Scenario(
            topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
            traffic=[flows("100KB", size, tag="bulk")],
            probe=[{"name": "goodput", "kind": "goodput", "interval": "1us", "flows": ["bulk"]}],
            run={"stop": "1ms"},
        )
    )
    drawn = result.plot.series("goodput")
    (axes,) = drawn.axes
    shown: list[Any] = list(axes.lines)
    last = max(line.get_xdata()[-1] for line in shown)
    if size == "100MB":
        assert axes.get_xlabel() == "Time (µs)"
        assert last >= 999, "one is not done, and its zeros would tell that it stands still"
        return
    done = result.flows.to_polars().select((pl.col("start_ps") + pl.col("fct_ps")).max()).item()
    assert done / 1e6 < last <= done / 1e6 + 2
    assert all(line.get_ydata()[-1] == 0 for line in shown)


def test_where_nothing_was_paused_the_picture_says_so(incast: rocelab.Result) -> None:
    probe = {"name": "pause", "kind": "pause", "interval": "1us", "nodes": ["h*"]}
    result = rocelab.run(incast.scenario.with_settings(probe=[probe]))
    assert result.summary["pause_frames"] == 0
    (axes,) = result.plot.series("pause").axes
    assert axes.get_title(loc="left") == "none of 5 was paused"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Time (µs)", "Paused")


@pytest.fixture(scope="module")
def spread() -> rocelab.Result:
    """Nine hosts send a packet each, and h9 receives much; every port is sampled."""
    kinds = ("utilisation", "throughput", "paused-share", "queue")
    probes = [{"name": one, "kind": one, "interval": "1us", "nodes": ["*"]} for one in kinds]
    scenario = rocelab.Scenario(
        topology={"kind": "star", "hosts": 10, "host_rate": "100Gbps", "host_delay": "1us"},
        traffic=[{"kind": "incast", "senders": 9, "receiver": "h9", "size": "100KB"}],
        scheme="none",
        probe=probes,
    )
    return rocelab.run(scenario)


@pytest.mark.parametrize("kind", ["utilisation", "throughput"])
def test_the_busiest_port_is_drawn_though_all_reach_the_rate_of_their_link(
    spread: rocelab.Result, kind: str
) -> None:
    drawn = spread.plot.series(kind)
    assert "s0:h9" in legend_texts(drawn)
    assert drawn.axes[0].get_title(loc="left") == "the 6 busiest of 20"
    report = next(one for one in of_results([("", spread)]) if kind in one.text.lower())
    assert "busiest" in report.text
    assert "s0:h9" in [line["name"] for line in report.data]


def test_numbers_of_large_networks_are_in_groups_of_three() -> None:
    """As they are in tables and summaries."""
    scenario = rocelab.Scenario(
        topology={"kind": "star", "hosts": 1000, "host_rate": "100Gbps", "host_delay": "1us"},
        traffic=[{"kind": "permutation", "size": "100KB"}],
        scheme="dcqcn",
        switch={"buffer": "1GB"},
        probe=[{"preset": "view", "interval": "5us"}],
    )
    run = rocelab.run(scenario)
    assert run.plot.series("paused-share").axes[0].get_title("left") == "none of 2,000 was paused"
    assert run.plot.series("utilisation").axes[0].get_title("left") == "the 6 busiest of 2,000"
    assert run.plot.series("rate").axes[0].get_title("left") == "the first 6 of 1,000"
    texts = " ".join(one.text for one in of_results([("", run)]))
    assert " busiest of 2,000 are drawn" in texts
    assert ("network", "1,000 hosts, 1 switch") in collect(run).facts


def test_no_port_that_stayed_at_0_is_chosen_by_its_name(spread: rocelab.Result) -> None:
    assert spread.summary.pause_frames == 0
    drawn = spread.plot.series("paused-share")
    (axes,) = drawn.axes
    assert axes.get_title(loc="left") == "none of 20 was paused"
    assert axes.get_title(loc="right") == "none, all 20"
    assert len(axes.lines) == 1
    both = rocelab.plot.series({"a": spread, "b": spread}, "paused-share").axes
    assert [one.get_title(loc="right") for one in both] == ["all 20"]
    few = spread.plot.series("queue", nodes=["h1", "h2"])
    assert legend_texts(few) == ["h1:s0", "h2:s0"]
    assert few.axes[0].get_title(loc="left") == "none of 2 was above 0"


def test_results_come_in_any_iterable(three_runs: list[rocelab.Result]) -> None:
    for function in (rocelab.plot.fct, rocelab.plot.tags, rocelab.plot.queue):
        by_name = {run.summary["scheme"]: run for run in three_runs}
        for runs in (iter(three_runs), by_name.values(), tuple(three_runs), by_name):
            assert legend_texts(function(runs)) == ["none", "dcqcn", "hpcc"]
        wrong: Any
        for wrong in ({"hpcc": "out/hpcc"}, ["out/hpcc"], "out/hpcc", None, 3):
            with pytest.raises(TypeError, match=r"expected a Result, .* found"):
                function(wrong)
        for wrong in ([], {}):
            with pytest.raises(rocelab.ResultError, match="no result"):
                function(wrong)


def test_labels_are_shown_as_they_are(three_runs: list[rocelab.Result], tmp_path: Path) -> None:
    probe = {"name": "pause", "kind": "pause", "interval": "1us", "nodes": ["h0"]}
    paused = [rocelab.run(run.scenario.with_settings(probe=[probe])) for run in three_runs]
    labels = ["eta = 0.9", "_hidden", "$\\frac$"]
    named = dict(zip(labels, three_runs, strict=True))
    for function in (rocelab.plot.fct, rocelab.plot.tags, rocelab.plot.queue):
        assert legend_texts(function(named)) == labels
    bars = rocelab.plot.series(dict(zip(labels, paused, strict=True)), "pause")
    assert [text.get_text() for text in bars.axes[0].get_yticklabels()] == labels
    assert_picture(rocelab.plot.save(bars, tmp_path / "picture"))
    (alone,) = rocelab.plot.fct({"alone": three_runs[0]}).axes
    assert alone.get_title(loc="right") == "alone"
    paths, left_out = plot_all(named, tmp_path / "all")
    assert stems(paths) == {"fct", "tags", "queue", "throughput"}
    assert left_out == []
    for pair in zip(paths[::2], paths[1::2], strict=True):
        assert_picture([*pair])


def test_results_of_one_scheme_are_told_apart_by_their_names(
    command: Command, incast: rocelab.Result, tmp_path: Path
) -> None:
    def legend(runs: Sequence[rocelab.Result]) -> list[str]:
        return legend_texts(rocelab.plot.fct(runs))

    def presets(name: str) -> dict[str, Any]:
        return {"name": "dcqcn", "preset": name}

    plain, other = (
        rocelab.run(incast.scenario.with_settings(scheme=presets(name), probe=[]))
        for name in ("dcqcn-paper", "dcqcn-hpcc")
    )
    assert legend([plain, other]) == ["dcqcn (dcqcn-paper)", "dcqcn (dcqcn-hpcc)"]
    named = [
        rocelab.run(run.scenario.with_settings(name=name))
        for run, name in ((plain, "deep"), (other, "shallow"))
    ]
    assert legend(named) == ["deep", "shallow"]
    more = [
        rocelab.run(named[0].scenario.with_settings(**change))
        for change in ({"scheme": "hpcc"}, {"name": "shallow"})
    ]
    assert legend([more[0], named[0], more[1]]) == ["hpcc, deep", "dcqcn, deep", "dcqcn, shallow"]
    saved = [rocelab.open(plain.save(tmp_path / name)) for name in ("x/a", "x/b", "y/b")]
    assert legend(saved[:2]) == ["a", "b"]
    assert legend(saved[1:]) == ["x", "y"]
    assert legend([plain, plain]) == ["dcqcn 1", "dcqcn 2"]
    done = command("plot", "b", "../x/a", "--out", tmp_path / "plots", cwd=tmp_path / "x")
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "plots" / "fct.svg").read_text()
    assert "<!-- a -->" in drawn
    assert "<!-- b -->" in drawn


def test_formats_are_one_or_several(incast: rocelab.Result, tmp_path: Path) -> None:
    drawn = incast.plot.fct()
    for formats, expected in (
        ("pdf", ["pdf"]),
        (["png"], ["png"]),
        (("svg", "pdf"), ["svg", "pdf"]),
        (["jpg", "webp", "tiff", "raw", "eps"], ["jpg", "webp", "tiff", "raw", "eps"]),
    ):
        paths = rocelab.plot.save(drawn, tmp_path / "fct", formats)
        assert paths == [tmp_path / f"fct.{kind}" for kind in expected]
        assert all(path.is_file() for path in paths)
    for formats in ("p", ["png", "doc"]):
        with pytest.raises(rocelab.ResultError, match=r"no picture format .* there are: .*svg"):
            rocelab.plot.save(drawn, tmp_path / "none", formats)
    assert not list(tmp_path.glob("none*"))


def test_save_takes_pictures_alone(incast: rocelab.Result, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"save takes a picture such as .*, not <rocelab.Result "):
        rocelab.plot.save(cast("Figure", incast), tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_the_same_picture_has_the_same_bytes(incast: rocelab.Result, tmp_path: Path) -> None:
    for directory in ("a", "b"):
        rocelab.plot.save(incast.plot.fct(), tmp_path / directory / "fct")
    for kind in ("png", "svg"):
        a, b = ((tmp_path / directory / f"fct.{kind}").read_bytes() for directory in ("a", "b"))
        assert a == b


def test_a_picture_is_drawn_once_for_a_file(
    incast: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matplotlib would draw it for its layout as well."""
    drawn = incast.plot.fct()
    (panel,) = drawn.axes
    draw, times = panel.draw, []

    def count(renderer: Any) -> None:  # noqa: ANN401
        times.append(renderer)
        draw(renderer)

    monkeypatch.setattr(panel, "draw", count)
    rocelab.plot.save(drawn, tmp_path / "fct")
    assert len(times) == len(list(tmp_path.iterdir())) == 2


def test_a_picture_saved_again_has_the_same_bytes(
    three_runs: list[rocelab.Result], tmp_path: Path
) -> None:
    for draw in (rocelab.plot.fct, rocelab.plot.queue):
        drawn = draw(three_runs)
        first = [path.read_bytes() for path in rocelab.plot.save(drawn, tmp_path / "a")]
        shown = drawn._repr_png_()  # type: ignore[attr-defined]
        assert [path.read_bytes() for path in rocelab.plot.save(drawn, tmp_path / "b")] == first
        assert drawn._repr_png_() == shown  # type: ignore[attr-defined]


def test_a_panel_that_the_user_moved_stays_there(incast: rocelab.Result, tmp_path: Path) -> None:
    drawn = incast.plot.fct()
    drawn.axes[0].set_position((0.3, 0.3, 0.5, 0.5))
    rocelab.plot.save(drawn, tmp_path / "moved")
    assert drawn.axes[0].get_position().bounds == pytest.approx((0.3, 0.3, 0.5, 0.5))


def test_lines_can_be_chosen(incast: rocelab.Result) -> None:
    ports = incast.ports.to_polars()
    port = ports.filter(node="s0", peer="h3")["port"].item()
    (axes,) = incast.plot.throughput(nodes=["s0"], ports=[port]).axes
    assert len(axes.lines) == 1
    with pytest.raises(rocelab.ResultError) as caught:
        incast.plot.throughput(nodes=["s7"])
    assert str(caught.value) == (
        "no throughput to draw: nothing was chosen\nhint: there are nodes s0 and ports 3, 4"
    )


def test_what_was_not_recorded_cannot_be_drawn(incast: rocelab.Result) -> None:
    with pytest.raises(rocelab.ResultError, match="no series of kind rate") as caught:
        incast.plot.series("rate")
    assert caught.value.hint
    before, keys = caught.value.hint.split("[[probe]]: ")
    assert before == "record it with a "
    probe = tomllib.loads(f"probe = {{ {keys} }}")["probe"]
    recorded = rocelab.run(incast.scenario.with_settings(probe=[probe]))
    assert isinstance(recorded.plot.series("rate"), Figure)


def test_nodes_choose_flows_by_their_senders(incast: rocelab.Result) -> None:
    probe = {"name": "goodput", "kind": "goodput", "interval": "1us", "nodes": ["*"]}
    run = rocelab.run(incast.scenario.with_settings(probe=[probe]))
    chosen = run.plot.series("goodput", nodes=["h0", "h2"])
    assert legend_texts(chosen) == ["incast: h0 > h4", "incast: h2 > h4", "victim: h0 > h3"]
    (both,) = run.plot.series("goodput", nodes=["h0"], flows=[3]).axes
    assert both.get_title(loc="right") == "dcqcn, h0 > h3"
    with pytest.raises(rocelab.ResultError) as caught:
        run.plot.series("goodput", nodes=["h4"])
    assert str(caught.value) == (
        "no goodput to draw: nothing was chosen\n"
        "hint: there are nodes h0, h1, h2 and flows 0, 1, 2, 3"
    )
    with pytest.raises(rocelab.ResultError) as caught:
        run.plot.series("goodput", ports=[0])
    assert str(caught.value) == (
        "goodput is of flows: ports chooses none\nhint: choose with nodes or flows"
    )


def test_flows_do_not_choose_ports(incast: rocelab.Result) -> None:
    with pytest.raises(rocelab.ResultError) as caught:
        incast.plot.series("queue", flows=[0])
    assert str(caught.value) == (
        "queue is of ports: flows chooses none\nhint: choose with nodes or ports"
    )


PORTS = "ports must be a list of numbers, which `result.ports` has beside their peers"


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"nodes": "s0"}, "nodes must be a list of names such as [\"s0\"], not 's0'"),
        ({"nodes": [0]}, 'nodes must be a list of names such as ["s0"], not [0]'),
        ({"ports": ["s0:h8"]}, f"{PORTS}, not ['s0:h8']"),
        ({"ports": 8}, f"{PORTS}, not 8"),
        ({"flows": ["bulk"]}, "flows must be a list of numbers, not ['bulk']"),
        ({"flows": ""}, "flows must be a list of numbers, not ''"),
    ],
)
def test_what_is_no_choice_of_lines(
    incast: rocelab.Result, chosen: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError) as caught:
        incast.plot.series("queue", **chosen)
    assert str(caught.value) == words


def test_lines_are_chosen_by_all_kinds_of_lists(incast: rocelab.Result) -> None:
    for ports in ([4], (4,), {4}, np.array([4]), pl.Series([4]), iter([4])):
        (axes,) = incast.plot.queue(ports=cast("Sequence[int]", ports)).axes
        assert axes.get_title(loc="right") == "dcqcn, s0:h4"
    for none in ([], [-1], [1 << 20]):
        with pytest.raises(rocelab.ResultError, match="nothing was chosen"):
            incast.plot.queue(ports=none)


def test_a_series_without_rows_is_harmless_and_said(incast: rocelab.Result, tmp_path: Path) -> None:
    probe = {"name": "window", "kind": "window", "interval": "1us", "flows": [0]}
    scenario = incast.scenario.with_settings(probe=[probe])
    # DCQCN has no window.
    dcqcn, hpcc = (rocelab.run(scenario.with_settings(scheme=name)) for name in ("dcqcn", "hpcc"))
    assert not len(dcqcn.series["window"])
    with pytest.raises(
        rocelab.ResultError, match="no window to draw: dcqcn recorded none"
    ) as caught:
        dcqcn.plot.series("window")
    assert caught.value.hint
    paths, left_out = plot_all([dcqcn], tmp_path / "one")
    assert "window" not in stems(paths)
    assert left_out == ["dcqcn: no sample of window, so window is not drawn"]
    drawn = rocelab.plot.series([dcqcn, hpcc], "window")
    assert "dcqcn: no window is drawn" in footnote(drawn)
    assert legend_texts(drawn) == ["hpcc"]
    paths, left_out = plot_all([dcqcn, hpcc], tmp_path / "both")
    assert "window" in stems(paths)
    assert left_out == ["dcqcn: no sample of window, so not in window"]


def test_what_each_scheme_has_its_own_idea_of_is_called_so(incast: rocelab.Result) -> None:
    probe = [
        {"name": "alpha", "kind": "alpha", "interval": "1us", "flows": [0]},
        {"name": "state", "kind": "port-state", "interval": "1us", "nodes": ["s0"]},
    ]
    runs = [
        rocelab.run(incast.scenario.with_settings(scheme=name, probe=probe))
        for name in ("none", "dcqcn+tcd", "hpcc", "hpcc+tcd")
    ]
    none, dcqcn_tcd, _, hpcc_tcd = runs
    for kind, words in (("alpha", "on its own scale"), ("port-state", "each scheme's own")):
        assert words in footnote(rocelab.plot.series(runs, kind))
        # Where only one scheme is drawn, nothing is to be confused.
        assert words not in footnote(rocelab.plot.series([none, hpcc_tcd], kind))
        assert words not in footnote(dcqcn_tcd.plot.series(kind))
    (axes,) = hpcc_tcd.plot.series("alpha").axes
    assert " ".join(axes.get_ylabel().split()) == "Congestion estimate (alpha probe)"


def test_hint_lists_the_kinds_there_are(incast: rocelab.Result) -> None:
    with pytest.raises(rocelab.ResultError, match="no series of kind windw") as caught:
        incast.plot.series("windw")
    assert caught.value.hint
    assert all(kind in caught.value.hint for kind in PORT_KINDS + FLOW_KINDS)
    assert "windw" not in caught.value.hint


def test_partial_result_can_be_drawn(command: Command, long_scenario: str, tmp_path: Path) -> None:
    def interrupt(progress: rocelab.Progress) -> None:
        if progress.flows_done:
            signal.raise_signal(signal.SIGINT)

    scenario = rocelab.Scenario.from_toml(long_scenario).with_settings(
        probe=[
            {"name": kind, "kind": kind, "interval": "50us", "nodes": ["h0"]}
            for kind in ("queue", "throughput", "pause", "rate")
        ]
    )
    with pytest.raises(rocelab.Interrupted) as caught:
        rocelab.run(scenario, progress=interrupt)
    result = caught.value.result
    for drawn in (result.plot.fct(), result.plot.tags(), result.plot.queue()):
        assert isinstance(drawn, Figure)
    done = command("plot", result.save(tmp_path / "partial"))
    assert done.returncode == 0, done.stderr
    assert "fct.png" in done.stdout


EMPTY = """\
[topology]
kind = "star"
hosts = 2
host_rate = "100Gbps"
host_delay = "1us"
"""
LATE = (
    '[[traffic]]\nkind = "flows"\n'
    'flows = [{ src = "h0", dst = "h1", size = "1MB", start = "10us" }]\n'
)


def stems(paths: Sequence[Path]) -> set[str]:
    return {path.stem for path in paths}


def probes(kinds: Sequence[str]) -> str:
    return "".join(
        f'[[probe]]\nname = "{kind}"\nkind = "{kind}"\ninterval = "1us"\nnodes = ["*"]\n'
        for kind in kinds
    )


PORTS = probes(PORT_KINDS)


@pytest.mark.parametrize("stop", ["1ns", "1us", "20us"])
@pytest.mark.parametrize(
    "rest",
    ["", LATE, PORTS, LATE + probes(PORT_KINDS + FLOW_KINDS)],
    ids=["nothing", "a flow", "ports", "a flow and ports"],
)
def test_result_without_a_completed_flow_is_no_crash(
    stop: str, rest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All that is drawn is in one format, too.
    monkeypatch.setattr(gallery, "save", partial(save, formats="svg"))
    scenario = f'[run]\nstop = "{stop}"\n{EMPTY}[scheme]\nname = "hpcc"\n{rest}'
    result = rocelab.run(rocelab.Scenario.from_toml(scenario))
    assert result.summary["flows_done"] == 0
    for name in ("fct", "tags"):
        with pytest.raises(rocelab.ResultError, match="no flow completed"):
            getattr(result.plot, name)()
    for kind in PORT_KINDS + FLOW_KINDS:
        if any(one.kind == kind and len(one) for one in result.series.values()):
            # It is written below, with all others.
            assert isinstance(result.plot.series(kind), Figure)
        else:
            with pytest.raises(rocelab.ResultError, match="no "):
                result.plot.series(kind)
    back = rocelab.open(result.save(tmp_path / "result"))
    paths, left_out = plot_all([back], tmp_path / "plots")
    kinds = {one.kind for one in result.series.values()}
    drawn = {one.kind for one in result.series.values() if len(one)}
    assert stems(paths) == drawn
    assert left_out == [
        "hpcc: no flow completed, so fct and tags are not drawn",
        *(f"hpcc: no sample of {kind}, so {kind} is not drawn" for kind in sorted(kinds - drawn)),
    ]
    if stop == "1ns" or (stop == "20us" and rest != PORTS):
        # Ports at which nothing happens look the same until any time, as flows before they begin.
        assert stems(plot_all([back, back], tmp_path / "both")[0]) == drawn


def test_plot_command_says_that_there_is_nothing_to_draw(command: Command, tmp_path: Path) -> None:
    result = rocelab.run(rocelab.Scenario.from_toml(f'[run]\nstop = "1us"\n{EMPTY}'))
    done = command("plot", result.save(tmp_path / "empty"))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: nothing to draw")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "empty" / "plots").exists()


def test_plot_command_prints_the_paths(
    command: Command, three_runs: list[rocelab.Result], tmp_path: Path
) -> None:
    directories = [str(result.save(tmp_path / result.summary["scheme"])) for result in three_runs]
    done = command("plot", *directories, "--out", tmp_path / "plots")
    assert done.returncode == 0, done.stderr
    paths = [Path(line) for line in done.stdout.splitlines()]
    assert {path.name for path in paths} >= {"fct.png", "fct.svg", "queue.png", "throughput.svg"}
    assert all(path.stat().st_size > 1000 for path in paths)
    alone = rocelab.run(three_runs[0].scenario.with_settings(probe=[])).save(tmp_path / "alone")
    single = command("plot", alone)
    assert single.returncode == 0, single.stderr
    assert (alone / "plots" / "fct.png").is_file()


def test_plot_command_says_what_it_leaves_out(
    command: Command, three_runs: list[rocelab.Result], tmp_path: Path
) -> None:
    none, dcqcn, hpcc = three_runs
    window = {"name": "window", "kind": "window", "interval": "1us", "flows": [0]}
    queue = dcqcn.scenario.to_dict()["probe"][0]
    runs = [
        # Long enough for the shortest flow, or not even for that.
        rocelab.run(none.scenario.with_settings(probe=[window], run__stop="20us")),
        rocelab.run(dcqcn.scenario.with_settings(probe=[queue, window], trace__pfc=True)),
        rocelab.run(hpcc.scenario.with_settings(probe=[queue, window])),
    ]
    places = [run.save(tmp_path / run.summary["scheme"]) for run in runs]
    plots = tmp_path / "plots"
    plots.mkdir()
    for name in ("fct.png", "queue.svg", "window.png", "mine.png"):
        (plots / name).write_bytes(b"from before")
    done = command("plot", *places, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["plots/window.png", "plots/window.svg"]
    assert done.stderr.splitlines() == [
        "warning: none: no flow completed, so fct and tags are not drawn",
        "warning: none: no probe of kind queue, so queue is not drawn",
        "warning: none, dcqcn: no sample of window, so not in window",
        "warning: none, hpcc: no trace of PFC frames, so pfc is not drawn",
        "warning: plots: there from an earlier time: fct.png, queue.svg",
    ]
    for name in ("fct.png", "queue.svg", "mine.png"):
        assert (plots / name).read_bytes() == b"from before"
    # Where all is drawn, nothing is said.
    done = command("plot", places[2])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def reconstructed() -> rocelab.Result:
    """A run of PACC, whose text was not available."""
    probe = {"name": "paused", "kind": "pause", "interval": "1us", "nodes": ["*"]}
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(scheme="pacc")
    probes = scenario.to_dict()["probe"]
    return rocelab.run(scenario.with_settings(probe=[*probes, probe]))


def footnote(drawn: Figure) -> str:
    return " ".join(drawn.get_supxlabel().split())


def test_slowdowns_say_how_many_flows_were_not_done(
    command: Command, three_runs: list[rocelab.Result], tmp_path: Path
) -> None:
    scenario = three_runs[1].scenario.with_settings(
        run__stop="60us", traffic__1__flows__0__size="10KB"
    )
    cut_short = rocelab.run(scenario)
    assert (cut_short.summary["flows_done"], cut_short.summary["flows"]) == (1, 4)
    for function in (rocelab.plot.fct, rocelab.plot.tags):
        assert "1 of 4 flows done" in footnote(function(cut_short))
        assert "flows done" not in footnote(function(three_runs[0]))
        both = footnote(function([cut_short, three_runs[2]]))
        assert "Flows done: dcqcn 1 of 4." in both
    drawn = tmp_path / "drawn.svg"
    assert command("fct", cut_short.save(tmp_path / "cut"), "--out", drawn).returncode == 0
    assert "1 of 4 flows done" in drawn.read_text()


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([100, 200], ""),
        ([99, 100], "Bins have 99 to 100 flows: p99 is the maximum of those with fewer than 100."),
        ([36, 36], "Bins have 36 flows: p99 is their maximum."),
        (
            [1],
            "Filled p50, bar p95, open p99. Bins have 1 flow: p95 and p99 are their maximum.",
        ),
        (
            [9, 36],
            "Bins have 9 to 36 flows: p95 is the maximum of those with fewer than 20, p99 of all.",
        ),
    ],
)
def test_slowdowns_say_which_percentiles_are_the_maximum(counts: list[int], said: str) -> None:
    bins = [Bin(1000 * at, flows, p50=1.0, p95=2.0, p99=3.0) for at, flows in enumerate(counts, 1)]
    assert footnote(slowdown.by_size([("a", bins)])) == said
    assert footnote(slowdown.by_size([("a", bins), ("b", bins)])) == said


def test_tags_of_few_flows_say_so_too(incast: rocelab.Result) -> None:
    said = "Filled p50, bar p95, open p99. Tags have 1 to 3 flows: p95 and p99 are their maximum."
    note = footnote(incast.plot.tags())
    assert note.startswith(said)


def test_every_picture_tells_the_caveats_of_its_schemes(
    reconstructed: rocelab.Result, three_runs: list[rocelab.Result]
) -> None:
    caveat = "reconstruct"
    (said,) = (one.caveat for one in rocelab.schemes() if one.name == "pacc")
    assert caveat in said.lower()
    draw = {
        "fct": rocelab.plot.fct,
        "tags": rocelab.plot.tags,
        "queue": rocelab.plot.queue,
        "throughput": rocelab.plot.throughput,
    }
    plain = three_runs[0]
    assert plain.summary["caveat"] == ""
    for name, function in draw.items():
        for runs in ([reconstructed], [plain, reconstructed]):
            assert said in footnote(function(runs)), name
        assert said not in footnote(function(plain)), name
    assert said in footnote(reconstructed.plot.series("pause"))
    both = footnote(rocelab.plot.queue([reconstructed, *three_runs, reconstructed]))
    assert both.count(said) == 1
    assert all(run.summary["caveat"] in both for run in three_runs)


def test_slowdowns_of_files_and_results_tell_them_too(
    command: Command, reconstructed: rocelab.Result, tmp_path: Path
) -> None:
    directory = reconstructed.save(tmp_path / "pacc")
    with_note, without = tmp_path / "with.svg", tmp_path / "without.svg"
    assert command("fct", directory, "--out", with_note).returncode == 0
    rows = reconstructed.flows.to_polars().select(
        "size_bytes", "start_ps", "fct_ps", "ideal_fct_ps"
    )
    lines = [
        f"0b000001 0b000201 1 100 {size} {start // 1000} {fct // 1000} {ideal // 1000}"
        for size, start, fct, ideal in rows.iter_rows()
    ]
    (tmp_path / "fct.txt").write_text("\n".join(lines) + "\n")
    assert command("fct", tmp_path / "fct.txt", "--out", without).returncode == 0

    def height(picture: Path) -> float:
        return float(picture.read_text().split('height="')[1].split("pt")[0])

    assert height(with_note) > height(without)


def test_a_footnote_takes_nothing_from_the_panels(
    reconstructed: rocelab.Result, three_runs: list[rocelab.Result], tmp_path: Path
) -> None:
    heights = []
    for run in (three_runs[0], reconstructed):
        drawn = run.plot.queue()
        assert_picture(rocelab.plot.save(drawn, tmp_path / "queue"))
        (axes,) = drawn.axes
        heights.append(axes.get_window_extent().height)
    assert heights[1] > 0.95 * heights[0]


def test_a_span_of_a_series(incast: rocelab.Result) -> None:
    whole: Any = incast.plot.queue().axes[0].lines[0].get_xdata()
    part: Any = incast.plot.queue(start="5us", end="10us").axes[0].lines[0].get_xdata()
    assert min(part) >= 5
    assert max(part) <= 10
    assert 0 < len(part) < len(whole)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--start", "5"), "error: start: '5' is no time"),
        (("--start", "5us", "--end", "5us"), "error: end: 5us is not after the start, 5us"),
        (("--start", "900ms"), "error: no sample of queue from 900 ms to the end"),
    ],
)
def test_spans_without_samples_are_refused(
    options: tuple[str, ...], says: str, incast: rocelab.Result, command: Command, tmp_path: Path
) -> None:
    incast.save(tmp_path / "run")
    done = command("plot", "run", "--out", "plots", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
