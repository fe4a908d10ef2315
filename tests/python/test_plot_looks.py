"""Whether pictures can be read: legends, looks, room for what is written and drawn."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import rocelab
from conftest import INCAST
from pictures import assert_picture, legend_texts
from rocelab.plot import scales, slowdown, theme
from rocelab.plot.crowding import crowding
from rocelab.plot.size_bins import Bin


def drawn_times(drawn: Figure) -> list[float]:
    return [
        float(x) for axes in drawn.axes for line in axes.lines for x in np.asarray(line.get_xdata())
    ]


@pytest.mark.parametrize("starts", [("0us", "60us"), ("60us", "0us")], ids=["rising", "falling"])
def test_panels_share_a_range_of_time_that_holds_all_samples(starts: tuple[str, str]) -> None:
    flows = [
        {"src": src, "dst": "h3", "size": "200KB", "start": start}
        for src, start in zip(("h0", "h1"), starts, strict=True)
    ]
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(
        traffic=[{"kind": "flows", "flows": flows}],
        probe=[{"name": "rate", "kind": "rate", "flows": [0, 1], "interval": "1us"}],
    )
    runs = [rocelab.run(scenario.with_settings(scheme=name)) for name in ("dcqcn", "hpcc")]
    drawn = rocelab.plot.series(runs, "rate")
    assert len(drawn.axes) == 2
    times = drawn_times(drawn)
    assert max(times) > 60 > min(times)
    for axes in drawn.axes:
        left, right = axes.get_xlim()
        assert left == min(times)
        assert max(times) <= right < 1.2 * max(times)


def test_a_sample_alone_stands_in_the_middle(incast: rocelab.Result) -> None:
    """On the edge half of its marker would be on the axis."""
    probe = {"name": "q", "kind": "queue", "interval": "1s", "start": "10us", "nodes": ["s0"]}
    drawn = rocelab.run(incast.scenario.with_settings(probe=[probe])).plot.queue()
    (axes,) = drawn.axes
    left, right = axes.get_xlim()
    assert left < 10 < right


@pytest.mark.parametrize(
    "kind", ["queue", "throughput", "utilisation", "rate", "goodput", "latency"]
)
def test_time_begins_where_the_probe_does(incast: rocelab.Result, kind: str) -> None:
    places = {"nodes": ["s0"]} if kind in ("queue", "throughput", "utilisation") else {"flows": [0]}

    def left(start: str, posted: str) -> float:
        probe = {"name": kind, "kind": kind, "interval": "5us", "start": start, **places}
        flows = [{"src": "h0", "dst": "h4", "size": "300KB", "start": posted}]
        scenario = incast.scenario.with_settings(
            traffic=[{"kind": "flows", "flows": flows}], probe=[probe]
        )
        (axes,) = rocelab.run(scenario).plot.series(kind).axes
        assert axes.get_xlabel() == "Time (µs)"
        return float(axes.get_xlim()[0])

    assert left("0ns", "0ns") == 0
    assert left("7us", "0ns") == pytest.approx(7)
    if kind in ("rate", "latency"):
        # Of a flow that is posted late there is nothing to see before.
        assert 200 <= left("0ns", "200us") <= 205
    else:
        assert left("0ns", "200us") == 0


def test_queues_of_priorities_are_told_apart(incast: rocelab.Result) -> None:
    common = {"kind": "queue", "ports": ["s0:h4"], "interval": "1us"}
    flows = [
        {"src": src, "dst": "h4", "size": "300KB", "priority": priority}
        for src, priority in (("h0", 3), ("h1", 4))
    ]
    scenario = incast.scenario.with_settings(
        traffic=[{"kind": "flows", "flows": flows}],
        probe=[{"name": f"class{of}", "priority": of, **common} for of in (3, 4)],
    )
    run = rocelab.run(scenario)
    (legend,) = rocelab.plot.series(run, "queue").legends
    said = [text.get_text() for text in legend.get_texts()]
    assert said == ["s0:h4, priority 3", "s0:h4, priority 4"]
    peaks = [max(run.series[name].to_polars()["queue_bytes"]) for name in ("class3", "class4")]
    assert min(peaks) > 0


def test_legend_names_results_that_only_a_later_panel_shows(incast: rocelab.Result) -> None:
    def with_queues(scheme: str, port: str, receiver: str) -> rocelab.Result:
        probe = {"name": "queue", "kind": "queue", "ports": [port], "interval": "1us"}
        traffic = {"kind": "incast", "senders": ["h1", "h2"], "receiver": receiver, "size": "1MB"}
        return rocelab.run(
            incast.scenario.with_settings(scheme=scheme, probe=[probe], traffic=[traffic])
        )

    runs = [with_queues("dcqcn", "s0:h4", "h4"), with_queues("hpcc", "s0:h3", "h3")]
    drawn = rocelab.plot.queue(runs)
    assert [axes.get_title(loc="right") for axes in drawn.axes] == ["s0:h4", "s0:h3"]
    assert legend_texts(drawn) == ["dcqcn", "hpcc"]
    runs[1] = with_queues("hpcc", "s0:h3", "h4")
    drawn = rocelab.plot.queue(runs)
    assert [axes.get_title(loc="right") for axes in drawn.axes] == ["s0:h4"]
    assert "hpcc: no queue is drawn" in drawn.get_supxlabel()


def test_many_results_look_different(incast: rocelab.Result) -> None:
    runs = [rocelab.run(incast.scenario.with_settings(run__seed=seed)) for seed in range(22)]
    (tags,) = rocelab.plot.tags(runs).axes
    named = [line for line in tags.lines if not str(line.get_label()).startswith("_")]
    assert len({(line.get_color(), line.get_marker()) for line in named}) == 22
    looks = [theme.line_style(index) for index in range(49)]
    assert len({(one.colour, one.marker) for one in looks}) == 49
    assert len({(one.colour, str(one.line)) for one in looks}) == 49
    for part in zip(*looks[:7], strict=True):
        assert len(set(part)) == 7


def test_legend_of_many_results_leaves_room_for_the_panels(incast: rocelab.Result) -> None:
    names = [one.name for one in rocelab.schemes() if not one.input_queues]
    runs = [rocelab.run(incast.scenario.with_settings(scheme=name)) for name in names]
    for function in (rocelab.plot.fct, rocelab.plot.tags, rocelab.plot.throughput):
        few, many = function(runs[:3]), function(runs)
        # A layout without room would be an error here: it comes with a warning.
        heights = []
        for drawn in (few, many):
            with theme.theme(), crowding(drawn) as faults:
                drawn.draw_without_rendering()
            assert faults == []
            heights.append(drawn.axes[-1].get_window_extent().height)
        assert legend_texts(many) == names
        assert heights[1] > 0.9 * heights[0]
        assert many.legends[0].get_window_extent().width < many.bbox.width


@pytest.mark.parametrize("count", [1, 3])
def test_markers_of_slowdowns_are_whole(three_runs: list[rocelab.Result], count: int) -> None:
    size = "300KB"
    traffic = {"kind": "incast", "senders": 4, "receiver": "h4", "size": size}
    runs = [
        rocelab.run(run.scenario.with_settings(traffic=[traffic])) for run in three_runs[:count]
    ]
    for function in (rocelab.plot.fct, rocelab.plot.tags):
        drawn = function(runs)
        drawn.draw_without_rendering()
        for axes in drawn.axes:
            top = axes.get_window_extent().y1
            for line in axes.lines:
                radius = line.get_markersize() / 2 * drawn.dpi / 72
                for y in np.asarray(line.get_ydata()):
                    assert axes.transData.transform((1, y))[1] + radius < top


def test_slowdowns_of_one_size_are_side_by_side(three_runs: list[rocelab.Result]) -> None:
    traffic = {"kind": "incast", "senders": 4, "receiver": "h4", "size": "300KB"}
    runs = [rocelab.run(run.scenario.with_settings(traffic=[traffic])) for run in three_runs]
    for several in (runs, runs[:1]):
        drawn = rocelab.plot.fct(several)
        (axes,) = drawn.axes
        assert axes.get_xlabel() == "Flow size"
        assert [text.get_text() for text in axes.get_xticklabels()] == ["300 KB"]
        lines = {str(line.get_label()): line for line in axes.lines}
        places = set()
        for run in several:
            line = lines[run.summary["scheme"]]
            assert list(np.asarray(line.get_ydata())) == [run.summary["slowdown"]["p50"]]
            places.add(float(np.asarray(line.get_xdata())[0]))
        assert len(places) == len(several)


@pytest.mark.parametrize(("slowdown_", "low", "high"), [(1.2, 0.95, 2.3), (50.0, 0.95, 70.0)])
def test_the_axis_of_a_single_slowdown_is_no_longer_than_it_must_be(
    slowdown_: float, low: float, high: float
) -> None:
    group = Bin(upper_bytes=300_000, flows=1, p50=slowdown_, p95=slowdown_, p99=slowdown_)
    (axes,) = slowdown.by_size([("a", [group])]).axes
    bottom, top = axes.get_ylim()
    assert bottom == low
    assert max(2.2, 1.04 * slowdown_) <= top <= high


LONG_TAGS = [
    "background-websearch",
    "incast-16-to-1",
    "victim-flow-long",
    "storage_read_reqs",
    "_hidden",
    "a tag that is far too long to stand below a panel as it is",
]


@pytest.mark.parametrize(
    "tags",
    [["incast", "victim"], LONG_TAGS, [f"{tag} {turn}" for turn in range(3) for tag in LONG_TAGS]],
    ids=["two", "six", "eighteen"],
)
def test_names_of_tags_are_apart(incast: rocelab.Result, tags: list[str], tmp_path: Path) -> None:
    traffic = [
        {"kind": "incast", "senders": 2, "receiver": "h4", "size": "10KB", "tag": tag}
        for tag in tags
    ]
    result = rocelab.run(incast.scenario.with_settings(traffic=traffic))
    drawn = result.plot.tags()
    rocelab.plot.save(drawn, tmp_path / "tags")
    (axes,) = drawn.axes
    drawn.draw_without_rendering()
    assert axes.get_window_extent().height > 0.5 * theme.HEIGHT_IN * drawn.dpi
    places = [text.get_window_extent() for text in axes.get_xticklabels()]
    assert len(places) == len(tags)
    assert min(place.x0 for place in places) >= 0
    names = [text.get_text() for text in axes.get_xticklabels()]
    assert len(set(names)) == len(tags)
    # Boxes of turned texts overlap where these do not, so look along their baselines.
    slant = np.radians(axes.get_xticklabels()[0].get_rotation())
    spots = [place.x1 if slant else (place.x0 + place.x1) / 2 for place in places]
    for left, right in zip(range(len(tags)), range(1, len(tags)), strict=False):
        if slant:
            height = 8 / 72 * drawn.dpi
            assert (spots[right] - spots[left]) * np.sin(slant) > 0.9 * height
        else:
            assert places[left].x1 < places[right].x0


def test_a_tag_is_no_formula(incast: rocelab.Result, tmp_path: Path) -> None:
    traffic = {"kind": "incast", "senders": 2, "receiver": "h4", "size": "10KB", "tag": "$\\frac$"}
    drawn = rocelab.run(incast.scenario.with_settings(traffic=[traffic])).plot.tags()
    assert_picture(rocelab.plot.save(drawn, tmp_path / "tags"))


def test_labels_of_stacked_panels_are_no_longer_than_the_panels(incast: rocelab.Result) -> None:
    probe = [{"name": "q", "kind": "flow-queue", "flows": ["incast"], "interval": "1us"}]
    scenario = incast.scenario.with_settings(
        scheme="hiercc",
        probe=probe,
        topology={
            "kind": "leaf-spine",
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": 4,
            **dict.fromkeys(("host_rate", "rate"), "100Gbps"),
            **dict.fromkeys(("host_delay", "delay"), "1us"),
        },
    )
    runs = [rocelab.run(scenario.with_settings(run__seed=seed)) for seed in (1, 2)]
    for drawn in (
        rocelab.plot.series(runs[0], "flow-queue"),
        rocelab.plot.series(runs, "flow-queue"),
    ):
        drawn.savefig(io.BytesIO(), format="png", dpi=72)
        for axes in drawn.axes:
            assert "own (" in axes.get_ylabel()
            label = axes.yaxis.label.get_window_extent()
            assert label.height <= 1.05 * axes.get_window_extent().height


def test_large_numbers_have_prefixes_and_no_offset(incast: rocelab.Result) -> None:
    probe = [{"name": "p", "kind": "port-state", "nodes": ["*"], "interval": "1us"}]
    run = rocelab.run(incast.scenario.with_settings(scheme="rocc", probe=probe))
    drawn = rocelab.plot.series(run, "port-state")
    drawn.savefig(io.BytesIO(), format="png", dpi=72)
    (axes,) = drawn.axes
    assert axes.yaxis.get_offset_text().get_text() == ""
    assert any(text.get_text() == "100G" for text in axes.get_yticklabels())


@pytest.mark.parametrize(
    "name",
    ["/long/" + "WWWW%%" * 14, "a scenario with many words in its name " * 3, "x" * 120],
    ids=["wide", "words", "narrow"],
)
def test_names_longer_than_the_picture_are_broken(incast: rocelab.Result, name: str) -> None:
    drawn = rocelab.plot.tags({f"{name} {number}": incast for number in range(3)})
    drawn.draw_without_rendering()
    (legend,) = drawn.legends
    assert legend.get_window_extent().x0 >= 0
    assert legend.get_window_extent().x1 <= drawn.bbox.width
    joined = ["".join(text.get_text().split()) for text in legend.get_texts()]
    assert joined == ["".join(f"{name} {number}".split()) for number in range(3)]
    bars = rocelab.plot.series({f"{name} {number}": incast for number in range(3)}, "queue")
    bars.draw_without_rendering()
    assert bars.axes[0].get_window_extent().width > 0.5 * bars.bbox.width


def test_runs_of_a_sweep_are_told_apart_by_what_differs(
    incast: rocelab.Result, tmp_path: Path
) -> None:
    places = [f"scheme={name}%2C{size}" for name in ("a", "b") for size in ("1KB", "2KB")]
    runs = [rocelab.open(incast.save(tmp_path / place / "1")) for place in places]
    drawn = rocelab.plot.tags(runs)
    assert legend_texts(drawn) == [place.replace("%2C", ",") for place in places]


def test_one_sample_is_seen_and_a_constant_is_not_cut(incast: rocelab.Result) -> None:
    # One message is too short for a second sample, the other takes as long for each packet.
    flows = [
        {"src": "h0", "dst": "h2", "size": "1KB"},
        {"src": "h1", "dst": "h3", "size": "200KB"},
    ]
    probe = {"name": "latency", "kind": "latency", "interval": "5us", "flows": [0, 1]}
    scenario = incast.scenario.with_settings(
        scheme="none", traffic=[{"kind": "flows", "flows": flows}], probe=[probe]
    )
    (axes,) = rocelab.plot.series(rocelab.run(scenario), "latency").axes
    short, long = axes.lines
    assert len(np.asarray(short.get_xdata())) == 1
    assert short.get_marker() not in ("", "None")
    assert len(np.asarray(long.get_xdata())) > 3
    assert long.get_marker() in ("", "None")
    assert axes.get_ylim()[1] > 1.02 * np.max(np.asarray(long.get_ydata()))


@pytest.mark.parametrize(
    "rates",
    [
        ["25Gbps", "40Gbps", "50Gbps", "100Gbps", "125Gbps", "200Gbps", "220Gbps", "250Gbps"],
        ["90Gbps", "91Gbps"],
        ["10Gbps", "399Gbps", "400Gbps"],
    ],
)
def test_values_that_were_swept_are_named_where_they_have_room(rates: list[str]) -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    drawn = rocelab.sweep(scenario, {"topology.host_rate": rates}).plot("max_queue_bytes")
    drawn.draw_without_rendering()
    (axes,) = drawn.axes
    names = axes.get_xticklabels()
    assert [names[0].get_text(), names[-1].get_text()] == [rates[0], rates[-1]]
    places = [name.get_window_extent() for name in names]
    for left, right in itertools.pairwise(places):
        assert left.x1 < right.x0


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ((0.3, 3), ["0.5", "1", "2"]),
        ((1, 2e6), ["1", "10", "100", "1,000", "10,000", "100,000", "1,000,000"]),
    ],
)
def test_values_on_a_logarithmic_axis_are_numbers_in_full(
    values: tuple[float, float], numbers: list[str]
) -> None:
    drawn = Figure()
    axes = drawn.subplots()
    axes.plot(values, values)
    scales.log_values(axes)
    drawn.canvas.draw()
    low, high = axes.get_ylim()
    ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    assert [label.get_text() for at, label in ticks if low <= at <= high] == numbers


def labels_in_view(drawn: Figure) -> list[Text]:
    """The labels below the lowest panel that are drawn, from left to right."""
    drawn.draw_without_rendering()
    axes = drawn.axes[-1]
    low, high = axes.get_xlim()
    ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    return [text for place, text in ticks if low <= place <= high and text.get_text()]


def assert_apart(labels: list[Text]) -> None:
    for left, right in itertools.pairwise(label.get_window_extent() for label in labels):
        assert left.x1 + 2 < right.x0


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([300e3, 500e3], ["300 KB", "500 KB"]),
        ([30e3, 90e3], ["30 KB", "90 KB"]),
        ([600e3, 900e3], ["600 KB", "900 KB"]),
        ([300e3, 301e3], ["300 KB", "301 KB"]),
        ([300e3, 300e3 + 1], ["100 KB", "1 MB"]),
        ([15e3, 800e3], ["15 KB", "800 KB"]),
        ([4e6, 10e6], ["4 MB", "10 MB"]),
        ([1e3, 4e6, 5e6, 10e9], ["10 KB", "1 MB", "100 MB"]),
        ([1e3 * 3**turn for turn in range(5)], ["1 KB", "10 KB"]),
        ([300e3 * 1.05**turn for turn in range(10)], ["300 KB", "465.4 KB"]),
    ],
)
def test_labels_of_sizes_are_apart(sizes: list[float], words: list[str]) -> None:
    bins = [Bin(int(size), flows=9, p50=1.0, p95=2.0, p99=3.0) for size in sizes]
    for lists in ([("a", bins)], [("a", bins), ("b", bins)]):
        labels = labels_in_view(slowdown.by_size(lists))
        assert len(labels) > 1
        assert {label.get_text() for label in labels} >= set(words)
        assert_apart(labels)


def test_labels_of_sizes_are_apart_however_far_these_are() -> None:
    for first in (1234, 60_000):
        for turn in (1, 2, 4, 7, 11, 15, 16, 19, 25, 45):
            bins = [
                Bin(int(size), flows=9, p50=1.0, p95=2.0, p99=3.0)
                for size in (first, first * 1.25**turn)
            ]
            labels = labels_in_view(slowdown.by_size([("a", bins)]))
            assert len(labels) > 1
            assert_apart(labels)


def late(start: str, trace: dict[str, object] | None = None) -> rocelab.Scenario:
    """Two hosts send to a third from ``start`` on, and are paused; probes begin then too."""
    probe = [
        {"name": kind, "kind": kind, "interval": "1us", "nodes": ["*"], "start": start}
        for kind in ("queue", "pause")
    ]
    incast = {
        "kind": "incast",
        "senders": ["h0", "h1"],
        "receiver": "h2",
        "size": "200KB",
        "start": start,
    }
    return rocelab.Scenario(
        name="late",
        topology={"kind": "star", "hosts": 3, "host_rate": "100Gbps", "host_delay": "1us"},
        traffic=[incast],
        probe=probe,
        pfc={"threshold": "static", "xoff": "20KB", "xon": "18KB"},
        trace=trace or {},
    )


def test_pauses_that_are_probed_late_begin_where_the_samples_do() -> None:
    result = rocelab.run(late("500us"))
    drawn = result.plot.series("pause")
    (axes,) = drawn.axes
    samples = result.series["pause"].to_polars()["time_ps"].to_list()
    assert axes.get_xlim() == pytest.approx((min(samples) / 1e6, max(samples) / 1e6))
    paused = [path for bars in axes.collections for path in bars.get_paths()]
    assert min(path.get_extents().x0 for path in paused) >= axes.get_xlim()[0]
    # Traces have what happened from when they were asked to begin.
    for begin in ("0ns", "400us"):
        (axes,) = rocelab.run(late("500us", {"pfc": True, "start": begin})).plot.pauses().axes
        assert axes.get_xlim()[0] == pytest.approx(float(begin[:-2]))


def test_a_pause_ends_where_its_link_fails() -> None:
    def run(*failures: dict[str, str]) -> rocelab.Result:
        incast = {"kind": "incast", "senders": 7, "receiver": "h0", "size": "400KB"}
        topology = {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4}
        rates = {"host_rate": "100Gbps", "host_delay": "1us", "rate": "100Gbps", "delay": "1us"}
        return rocelab.run(
            rocelab.Scenario(
                topology=topology | rates,
                traffic=[incast],
                pfc={"threshold": "static", "xoff": "20KB", "xon": "18KB"},
                host={"retransmit_timeout": "1ms"},
                trace={"pfc": True},
                failure=failures,
            )
        )

    def bars(result: rocelab.Result, place: str) -> list[tuple[float, float]]:
        (axes,) = result.plot.pauses().axes
        row = [label.get_text() for label in axes.get_yticklabels()].index(place)
        drawn = [path.get_extents() for bars in axes.collections for path in bars.get_paths()]
        return [(bar.x0, bar.x1) for bar in drawn if bar.y0 < axes.get_yticks()[row] < bar.y1]

    whole = bars(run(), "spine0:leaf0")
    begin, end = max(whole, key=lambda bar: bar[1] - bar[0])
    at = round(1e3 * (begin + end) / 2)
    cut = run({"link": "leaf0:spine0", "at": f"{at}ns"})
    assert bars(cut, "spine0:leaf0")[-1] == pytest.approx((begin, at / 1e3))


@pytest.mark.parametrize(
    ("start", "after"),
    [
        ("0ns", ""),
        ("20us", ""),
        ("1ms", ""),
        ("1003us", ""),
        ("2ms", ""),
        ("50ms", "50 ms"),
        ("50123us", "50 ms"),
        ("500ms", "500 ms"),
        ("2s", "2 s"),
        ("2123456789ns", "2.1234 s"),
    ],
)
def test_labels_of_late_times_are_apart(start: str, after: str) -> None:
    result = rocelab.run(late(start))
    samples = result.series["queue"].to_polars()["time_ps"].to_list()
    queue, pause = result.plot.queue(), result.plot.series("pause")
    for drawn in (queue, pause):
        (axes,) = drawn.axes
        said = axes.get_xlabel().replace("\n", " ")
        if after:
            assert said == f"Time after {after} (µs)"
        else:
            assert said in ("Time (µs)", "Time (ms)")
        number, unit = after.split() if after else ("0", "s")
        origin_ps = float(number) * {"s": 1e12, "ms": 1e9}[unit]
        scale = 1e6 if "(µs)" in said else 1e9
        assert axes.get_xlim()[0] == pytest.approx((min(samples) - origin_ps) / scale)
        labels = labels_in_view(drawn)
        assert len(labels) > 1
        assert_apart(labels)
        assert axes.xaxis.label.get_window_extent().x1 <= drawn.bbox.width
    line = queue.axes[0].lines[0]
    assert np.asarray(line.get_xdata())[-1] == pytest.approx((max(samples) - origin_ps) / scale)


def titles(drawn: Figure) -> list[list[Text]]:
    """The remark and the title above each panel, where there are."""
    drawn.draw_without_rendering()
    return [
        [
            text
            for side in ("left", "right")
            for text in axes.findobj(Text)
            if isinstance(text, Text)
            and text.get_text()
            and text.get_text() == axes.get_title(side)
        ]
        for axes in drawn.axes
    ]


def assert_titles_are_readable(drawn: Figure) -> None:
    """No title is cut, and none is over another one."""
    for above, axes in zip(titles(drawn), drawn.axes, strict=True):
        spots = [spot for text in above for spot in lines_of(text)]
        for spot in spots:
            assert 0 <= spot.x0 <= spot.x1 <= drawn.bbox.width
            assert axes.get_window_extent().y1 - 2 < spot.y0 <= spot.y1 <= drawn.bbox.height
        low, high = sorted(axes.get_ylim())
        ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
        spots += [text.get_window_extent() for at, text in ticks if low <= at <= high]
        for one, other in itertools.combinations(spots, 2):
            assert not one.overlaps(other)


def lines_of(text: Text) -> list[Bbox]:
    """Where the lines of ``text`` are that have letters."""
    lines = text.get_text().split("\n")
    whole = text.get_window_extent()
    high = whole.height / len(lines)
    # A pixel less, as the lines of one text touch each other.
    return [
        Bbox([[whole.x0, whole.y1 - (at + 1) * high + 1], [whole.x1, whole.y1 - at * high - 1]])
        for at, line in enumerate(lines)
        if line
    ]


@pytest.mark.parametrize(
    "name",
    ["dcqcn", "themis+hpcc", "a scenario with many words " * 3, "/long/" + "WWWW%%" * 14],
    ids=["short", "usual", "words", "wide"],
)
def test_titles_and_remarks_do_not_meet(name: str) -> None:
    host = "host-of-the-third-rack-on-the-left-side"
    nodes = [{"name": f"{host}-{number}", "kind": "host"} for number in range(4)]
    switch = "switch-of-the-third-rack-on-the-left-side"
    links = [{"a": node["name"], "b": switch, "rate": "100Gbps", "delay": "1us"} for node in nodes]
    traffic = {"kind": "incast", "senders": 2, "receiver": f"{host}-3", "size": "200KB"}
    base = late("0ns")
    probe = [{**one, "start": "0ns"} for one in base.to_dict()["probe"]]
    named = rocelab.run(
        base.with_settings(
            topology={
                "kind": "custom",
                "nodes": [*nodes, {"name": switch, "kind": "switch"}],
                "links": links,
            },
            traffic=[traffic],
            probe=probe,
        )
    )
    short = rocelab.run(base)
    for one in (short, named):
        for runs in ({name: one}, {name: one, f"{name} 2": one}):
            pictures = [rocelab.plot.series(runs, kind) for kind in ("queue", "pause")]
            for drawn in (*pictures, rocelab.plot.fct(runs), rocelab.plot.tags(runs)):
                assert_titles_are_readable(drawn)
            said = " ".join(pictures[0].axes[0].get_title("left").split())
            assert said.endswith("more stayed at 0")
            place = "".join(pictures[0].axes[0].get_title("right").split())
            where = f"{switch}:{host}-3" if one is named else "s0:h2"
            assert place == ("" if len(runs) > 1 else "".join(name.split()) + ",") + where


def test_panels_with_long_titles_are_as_high_as_others(incast: rocelab.Result) -> None:
    few, many = (rocelab.plot.queue({name: incast}) for name in ("short", "many words " * 12))
    heights = []
    for drawn in (few, many):
        drawn.draw_without_rendering()
        heights.append(drawn.axes[0].get_window_extent().height)
    assert heights[1] > 0.95 * heights[0]
