"""What a caller may choose of pictures, and that all pictures of a run agree with each other."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

import rocelab
from conftest import INCAST, Command
from pictures import legend_texts, png_size
from rocelab.plot import theme
from rocelab.plot.size_bins import of_summary, size_bins
from rocelab.plot.span import Span

RING = """\
[run]
stop = "4ms"
[topology]
kind = "custom"
nodes = [
    { name = "s0", kind = "switch" }, { name = "h0", kind = "host" },
    { name = "s1", kind = "switch" }, { name = "h1", kind = "host" },
    { name = "s2", kind = "switch" }, { name = "h2", kind = "host" },
    { name = "s3", kind = "switch" }, { name = "h3", kind = "host" },
]
links = [
    { a = "s0", b = "s1", rate = "100Gbps", delay = "1us" },
    { a = "s1", b = "s2", rate = "100Gbps", delay = "1us" },
    { a = "s2", b = "s3", rate = "100Gbps", delay = "1us" },
    { a = "s3", b = "s0", rate = "100Gbps", delay = "1us" },
    { a = "h0", b = "s0", rate = "400Gbps", delay = "1us" },
    { a = "h1", b = "s1", rate = "400Gbps", delay = "1us" },
    { a = "h2", b = "s2", rate = "400Gbps", delay = "1us" },
    { a = "h3", b = "s3", rate = "400Gbps", delay = "1us" },
]
[switch]
buffer = "2MB"
[pfc]
threshold = "static"
xoff = "100KB"
[scheme]
name = "none"
[trace]
pfc = true
[[probe]]
name = "queue"
kind = "queue"
nodes = ["s*"]
interval = "10us"
[[probe]]
name = "pause"
kind = "pause"
nodes = ["s*"]
interval = "10us"
"""
"""Four switches in a ring, and four flows from each host to the one opposite: a deadlock."""


@pytest.fixture(scope="module")
def mixed() -> rocelab.Result:
    """Storage and web traffic with two sizes in common, probed often and in several ways."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    traffic = [
        {"kind": "poisson", "tag": "web", "workload": "FB_Hadoop", "load": 0.8},
        {"kind": "incast", "tag": "storage", "senders": 4, "receiver": "h4", "size": "800KB"},
    ]
    probes = [
        {"name": "queue", "kind": "queue", "ports": ["s0:h3", "s0:h4"], "interval": "100ns"},
        {"name": "other", "kind": "throughput", "ports": ["s0:h4", "h0:s0"], "interval": "5us"},
        {"name": "rate", "kind": "rate", "flows": [2], "interval": "1us"},
        {"name": "goodput", "kind": "goodput", "flows": [0, 1, 2], "interval": "5us"},
    ]
    return rocelab.run(
        scenario.with_settings(
            traffic=traffic,
            probe=probes,
            run__stop="1ms",
            trace={"pfc": True},
            pfc__xoff="20KB",
        )
    )


@pytest.fixture(scope="module")
def deadlock() -> rocelab.Result:
    flows = [
        f'{{ src = "h{host}", dst = "h{(host + 2) % 4}", size = "5MB" }}'
        for host in range(4)
        for _ in range(4)
    ]
    traffic = f'[[traffic]]\nkind = "flows"\nflows = [{", ".join(flows)}]\n'
    return rocelab.run(rocelab.Scenario.from_toml(RING + traffic))


def pictures(run: rocelab.Result, **options: Any) -> list[Figure]:  # noqa: ANN401
    return [
        run.plot.fct(**options),
        run.plot.tags(**options),
        run.plot.fct_by_tag(**options),
        run.plot.queue(**options),
        run.plot.throughput(**options),
        run.plot.series("rate", **options),
        run.plot.pauses(**options),
    ]


def test_every_picture_has_the_size_and_the_notes_that_were_asked_for(
    mixed: rocelab.Result,
) -> None:
    for drawn in pictures(mixed, size=(6, 3), notes=["Measured on Monday."]):
        assert tuple(drawn.get_size_inches()) == (6, 3)
        said = drawn.get_supxlabel()
        assert said == "Measured on Monday."
        width, height = png_size(drawn._repr_png_())  # type: ignore[attr-defined]
        assert (width, height) == (6 * theme.SCREEN_DPI, 3 * theme.SCREEN_DPI)
    for drawn in pictures(mixed, notes=False):
        assert drawn.get_supxlabel() == ""
    assert all(drawn.get_supxlabel() for drawn in pictures(mixed))


def test_a_sweep_has_the_same_options(incast: rocelab.Result) -> None:
    sizes: list[object] = ["10KB", "100KB", "500KB"]
    thresholds: list[object] = ["100KB", "200KB", "300KB"]
    sweep = rocelab.sweep(incast.scenario, {"traffic.0.size": sizes, "pfc.xoff": thresholds})
    for drawn in (sweep.plot(size=(5, 4), notes=["x"]), sweep.heat_map(size=(5, 4), notes=["x"])):
        assert tuple(drawn.get_size_inches()) == (5, 4)
        assert drawn.get_supxlabel() == "x"
    for scale in ("linear", "log"):
        (axes,) = sweep.plot(x_scale=scale, y_scale=scale).axes
        assert (axes.get_xscale(), axes.get_yscale()) == (scale, scale)


@pytest.mark.parametrize("key", ["pfc.xoff", "pfc.enabled"])
def test_what_is_0_stands_on_the_edge_of_a_logarithmic_axis(
    incast: rocelab.Result, key: str
) -> None:
    values: list[object] = ["20KB", "1MB"] if key == "pfc.xoff" else [True, False]
    sweep = rocelab.sweep(incast.scenario.with_settings(pfc={"xoff": "20KB"}), {key: values})
    paused, never = sweep.statistics.to_polars()["pause_frames"]
    assert paused > never == 0
    drawn = sweep.plot("pause_frames", y_scale="log")
    (axes,) = drawn.axes
    drawn.canvas.draw()
    (label,) = [text for text in axes.texts if text.get_text() == "0"]
    edge = axes.get_window_extent()
    assert 0 < label.get_window_extent().y0 - edge.y0 < edge.height / 4
    for line in axes.lines:
        if line.get_marker() not in (None, "None", ""):
            places = line.get_transform().transform(line.get_xydata())
            for x, y in places[~np.isnan(places).any(axis=1)]:
                assert edge.x0 <= x <= edge.x1
                assert edge.y0 - 1 <= y <= edge.y1 + 1


def test_axes_are_linear_or_logarithmic(mixed: rocelab.Result) -> None:
    for scale in ("linear", "log"):
        for drawn in (
            mixed.plot.fct(y_scale=scale, x_scale=scale),
            mixed.plot.tags(y_scale=scale),
            mixed.plot.queue(y_scale=scale),
        ):
            for axes in drawn.axes:
                assert axes.get_yscale() == scale
                low, high = axes.get_ylim()
                assert low == 0 if scale == "linear" else low > 0
                assert high >= axes.dataLim.y1
    assert mixed.plot.fct(x_scale="linear").axes[0].get_xscale() == "linear"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": (0, 3)}, "size"),
        ({"size": (3,)}, "size"),
        ({"y_scale": "symlog"}, "y_scale"),
        ({"start": "soon"}, "start"),
        ({"start": "2us", "end": "1us"}, "end"),
    ],
)
def test_options_that_no_picture_can_have(
    mixed: rocelab.Result, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(rocelab.ConfigError, match=said):
        mixed.plot.queue(**options)
    wrong: tuple[Any, ...] = ("one", [1], 1, None)
    for notes in wrong:
        with pytest.raises(TypeError, match="notes must be True, False or a list of lines"):
            mixed.plot.queue(notes=notes)


def test_the_command_has_the_options(
    mixed: rocelab.Result,
    command: Command,
    tmp_path: Any,  # noqa: ANN401
) -> None:
    # Pictures of one kind of each: of series, of slowdowns by size, by tag and by both, of pauses.
    queue = {"name": "queue", "kind": "queue", "ports": ["s0:h4"], "interval": "10us"}
    rocelab.run(mixed.scenario.with_settings(probe=[queue])).save(tmp_path / "run")
    done = command(
        "plot", tmp_path / "run", "--size", "5x2", "--y-scale", "linear", "--no-notes",
        "--start", "100us", "--end", "900us",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pictures = list((tmp_path / "run/plots").glob("*.png"))
    assert {path.stem for path in pictures} == {"fct", "tags", "fct-by-tag", "queue", "pfc"}
    for path in pictures:
        assert png_size(path.read_bytes()) == (5 * theme.DPI, 2 * theme.DPI)
    for bad in ("5", "5x", "axb", "0x3"):
        done = command("plot", tmp_path / "run", "--size", bad)
        assert done.returncode == 2
        assert "size" in done.stderr


def test_slowdowns_of_a_part_of_the_run(mixed: rocelab.Result) -> None:
    frame = mixed.flows.to_polars()
    late = frame.filter(frame["start_ps"] >= 300e6).drop_nulls("slowdown")
    bins = size_bins(mixed, Span.of("300us", None))
    assert sum(one.flows for one in bins) == len(late) < len(frame)
    drawn = mixed.plot.fct(start="300us")
    assert "Flows that start from 300 µs on." in drawn.get_supxlabel().replace("\n", " ")
    drawn = mixed.plot.tags(start="300us", end="600us")
    assert "from 300 µs to 600 µs" in drawn.get_supxlabel().replace("\n", " ")
    with pytest.raises(rocelab.ResultError, match="no completed flow"):
        mixed.plot.fct(start="999ms")


@pytest.mark.parametrize("scheme", ["dcqcn", "hpcc"])
def test_bins_of_the_whole_run_are_those_of_the_summary(
    mixed: rocelab.Result, incast: rocelab.Result, scheme: str
) -> None:
    runs = [incast, mixed, rocelab.run(mixed.scenario.with_settings(scheme=scheme))]
    for run in runs:
        found = size_bins(run, Span())
        tags = {tag for one in found for tag in one.tags}
        assert tags == {tag for tag, one in run.summary["by_tag"].items() if one["flows_done"]}
        expected = of_summary(run.summary.slowdown.bins)
        assert [replace(one, tags=frozenset()) for one in found] == expected
    assert len(mixed.summary["slowdown"]["bins"]) == 20


def test_points_of_different_traffic_are_not_connected(mixed: rocelab.Result) -> None:
    bins = size_bins(mixed, Span())
    breaks = sum(a.tags != b.tags for a, b in itertools.pairwise(bins))
    assert breaks > 0
    drawn = mixed.plot.fct()
    for line in drawn.axes[0].lines:
        values = np.asarray(line.get_ydata(), dtype=float)
        assert np.isnan(values).sum() == breaks
        assert np.count_nonzero(~np.isnan(values)) == len(bins)
    assert "different traffic" in drawn.get_supxlabel()
    web = rocelab.run(
        mixed.scenario.with_settings(traffic=[mixed.scenario.to_dict()["traffic"][0]])
    )
    alone = web.plot.fct()
    assert not any(np.isnan(line.get_ydata()).any() for line in alone.axes[0].lines)
    assert "different traffic" not in alone.get_supxlabel()


def test_a_line_of_too_many_samples_is_a_mean_in_its_envelope(mixed: rocelab.Result) -> None:
    drawn = mixed.plot.queue()
    (axes,) = drawn.axes
    shades = [one for one in axes.collections if isinstance(one, PolyCollection)]
    samples = mixed.series["queue"].to_polars()
    assert len(shades) == samples["port"].n_unique() == 2
    assert "least to largest" in drawn.get_supxlabel()
    for line, shade, port in zip(axes.lines, shades, ("h3", "h4"), strict=True):
        assert str(line.get_label()) == f"s0:{port}"
        times = np.asarray(line.get_xdata(), dtype=float)
        assert len(times) <= 201
        number = mixed.ports.to_polars().filter(pl.col("node") == "s0", pl.col("peer") == port)
        seen = samples.filter(samples["port"] == number["port"][0])
        high = max(float(np.asarray(path.vertices)[:, 1].max()) for path in shade.get_paths())
        assert high == pytest.approx(seen["queue_bytes"].to_numpy().max() / 1e3)
        # Samples are as far apart as each other, so the means have the mean of all.
        mean = float(np.mean(np.asarray(line.get_ydata(), dtype=float)))
        assert mean == pytest.approx(float(seen["queue_bytes"].to_numpy().mean()) / 1e3, rel=0.02)
    few = mixed.plot.queue(start="100us", end="170us")
    assert not few.axes[0].collections
    assert "largest" not in few.get_supxlabel()


def test_pictures_of_a_run_have_one_unit_of_time(mixed: rocelab.Result) -> None:
    drawn = [mixed.plot.queue(), mixed.plot.series("rate"), mixed.plot.pauses()]
    drawn += [mixed.plot.queue(end="900us"), mixed.plot.pauses(start="200us", end="700us")]
    assert {one.axes[-1].get_xlabel() for one in drawn} == {"Time (µs)"}
    longer = rocelab.run(mixed.scenario.with_settings(run__stop="3ms"))
    drawn = [longer.plot.queue(), longer.plot.series("rate"), longer.plot.queue(end="400us")]
    assert {one.axes[-1].get_xlabel() for one in drawn} == {"Time (ms)"}
    # Parts of a few microseconds could not be read in milliseconds.
    assert longer.plot.queue(end="20us").axes[-1].get_xlabel() == "Time (µs)"


def test_a_flow_and_a_port_have_one_look_in_all_pictures_of_a_run(mixed: rocelab.Result) -> None:
    def looks(drawn: Figure) -> dict[str, tuple[str, str]]:
        return {
            str(line.get_label()): (str(line.get_color()), str(line.get_linestyle()))
            for line in drawn.axes[0].lines
        }

    queue, throughput = looks(mixed.plot.queue()), looks(mixed.plot.throughput())
    assert queue["s0:h4"][0] == throughput["s0:h4"][0]
    assert len({colour for colour, _ in (*queue.values(), *throughput.values())}) == 3
    rate, goodput = looks(mixed.plot.series("rate")), looks(mixed.plot.series("goodput"))
    (flow,) = rate
    # A line alone is whole.
    assert rate[flow] == (goodput[flow][0], "-")
    assert len(set(goodput.values())) == 3


def _lab(colour: str, seen: np.ndarray) -> np.ndarray:
    """A colour in CIELAB, as somebody with the matrix ``seen`` sees it."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.072175],
            [0.0193339, 0.119192, 0.9503041],
        ]
    )
    xyz = to_xyz @ np.clip(seen @ linear, 0, 1) / np.array([0.95047, 1, 1.08883])
    root = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize(
    ("seen", "least"),
    [
        (np.eye(3), 26),
        # Machado, Oliveira and Fernandes 2009, at full severity: red, green, blue blindness.
        (np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]), 20),  # noqa: E501
        (np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]), 17),  # noqa: E501
        (np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]), 16),  # noqa: E501
    ],
    ids=["all", "red-blind", "green-blind", "blue-blind"],
)  # fmt: skip
def test_ten_colours_are_told_apart_with_any_vision(seen: np.ndarray, least: float) -> None:
    assert len(set(theme.COLOURS)) == 10
    colours = [_lab(colour, seen) for colour in theme.COLOURS]
    apart = min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(colours, 2))
    # A difference of 2.3 is just noticed.
    assert apart > least
    white = _lab("#FFFFFF", seen)
    assert min(float(np.linalg.norm(one - white)) for one in colours) > 25


def test_a_deadlock_is_shown_with_its_circle(
    deadlock: rocelab.Result,
    command: Command,
    tmp_path: Any,  # noqa: ANN401
) -> None:
    found = deadlock.summary["deadlock"]
    assert sorted(found["nodes"]) == ["s0", "s1", "s2", "s3"]
    circle = " > ".join([*found["nodes"], found["nodes"][0]])
    links = {f"{a}:{b}" for a, b in itertools.pairwise([*found["nodes"], found["nodes"][0]])}
    for drawn in (deadlock.plot.pauses(), deadlock.plot.queue(), deadlock.plot.series("pause")):
        said = drawn.get_supxlabel().replace("\n", " ")
        assert re.search(rf"Deadlock from [0-9.]+ [µm]s on \(dotted line\): {circle}\.", said), said
        dotted = [line for line in drawn.axes[0].lines if line.get_linestyle() == ":"]
        assert any(len(set(np.asarray(line.get_xdata()).tolist())) == 1 for line in dotted)
    bold = {
        text.get_text()
        for text in deadlock.plot.pauses().axes[0].get_yticklabels()
        if text.get_fontweight() == "bold"
    }
    assert bold == links
    deadlock.save(tmp_path / "run")
    assert rocelab.open(tmp_path / "run").summary["deadlock"] == found
    done = command("plot", tmp_path / "run", "--out", tmp_path / "plots")
    assert done.returncode == 0, done.stderr
    done = command("run", tmp_path / "run/scenario.toml", "--out", tmp_path / "again")
    assert circle in done.stderr


def test_pauses_of_a_part_of_the_run(mixed: rocelab.Result) -> None:
    whole, part = mixed.plot.pauses(), mixed.plot.pauses(start="200us", end="700us")
    assert whole.axes[0].get_xlim()[0] < 200
    assert part.axes[0].get_xlim() == (200, 700)
    for bars in part.axes[0].collections:
        for path in bars.get_paths():
            x = np.asarray(path.vertices)[:, 0]
            assert 200 <= x.min() <= x.max() <= 700
    with pytest.raises(rocelab.ResultError, match="no pause from 2 ms to the end"):
        mixed.plot.pauses(start="2ms")
    assert legend_texts(mixed.plot.throughput())
