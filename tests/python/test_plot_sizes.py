"""Pictures of chosen sizes: labels of low panels, and what says that one is too small."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

import rocelab
from conftest import Command
from rocelab.plot import scales, theme
from rocelab.plot.footnotes import footnotes


def at_column_size(runs: list[rocelab.Result]) -> list[Figure]:
    """All pictures of ``runs`` in a size that is too low for panels of the usual height."""
    size = (3.5, 1.8)
    functions = (rocelab.plot.fct, rocelab.plot.tags, rocelab.plot.queue, rocelab.plot.throughput)
    return [function(runs, size=size) for function in functions]


def labels_beside(axes: Axes) -> list[Bbox]:
    """Where the labels of the y axis are that are seen."""
    low, high = axes.get_ylim()
    ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    return [text.get_window_extent() for at, text in ticks if low <= at <= high]


@pytest.mark.parametrize("count", [1, 3])
def test_labels_of_low_panels_are_whole_and_apart(
    three_runs: list[rocelab.Result], count: int
) -> None:
    # The last one has a caveat.
    runs = [three_runs[at] for at in (0, 2, 1)][-count:]
    for drawn in at_column_size(runs):
        drawn.draw_without_rendering()
        notes = [text for text in drawn.texts if text.get_text() == drawn.get_supxlabel()]
        for axes in drawn.axes:
            whole = axes.yaxis.label.get_window_extent()
            assert all(note.get_window_extent().y1 <= whole.y0 + 1 for note in notes)
            assert whole.y1 <= drawn.bbox.height + 1
            labels = labels_beside(axes)
            assert labels
            for lower, upper in itertools.pairwise(sorted(labels, key=lambda box: box.y0)):
                assert lower.y1 <= upper.y0 + 1


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1.0, 4.5, [1, 2, 3]),
        (1.0, 30.0, [1, 2, 5, 10, 20]),
        (1.05, 1.9, [1.2, 1.4, 1.6, 1.8]),
        (1.0, 3000.0, [1, 10, 100, 1000]),
    ],
)
@pytest.mark.parametrize("height_in", [2.2, 0.6, 0.3])
def test_a_logarithmic_axis_has_labels_that_tell_values(
    low: float, high: float, labels: list[float], height_in: float
) -> None:
    drawn = Figure(figsize=(3.0, height_in + 0.5))
    axes = drawn.add_axes((0.2, 0.2, 0.7, height_in / (height_in + 0.5)))
    axes.plot([0, 1], [low, high])
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    scales.log_values(axes)
    drawn.draw_without_rendering()
    places = labels_beside(axes)
    for lower, upper in itertools.pairwise(places):
        assert not lower.overlaps(upper)
    if height_in > 2:
        assert [round(float(at), 6) for at in axes.get_yticks()] == labels
    assert len(places) >= (2 if height_in > 0.5 else 1)


def test_a_picture_that_is_too_small_says_so(
    three_runs: list[rocelab.Result], tmp_path: Path, command: Command
) -> None:
    drawn = rocelab.plot.fct(three_runs, size=(1.0, 1.0))
    with pytest.warns(
        rocelab.CrowdedPictureWarning, match=r"^small: 1 x 1 in are too small"
    ) as told:
        rocelab.plot.save(drawn, tmp_path / "small")
    assert len(told) == 1
    with pytest.warns(rocelab.CrowdedPictureWarning, match="a picture of 1 x 1 in"):
        drawn.savefig(io.BytesIO(), format="png")
    low = rocelab.plot.fct(three_runs, size=(3.5, 1.6))
    with pytest.warns(
        rocelab.CrowdedPictureWarning, match="a panel is .* in; choose a larger size"
    ):
        rocelab.plot.save(low, tmp_path / "low", "svg")
    # Without series there are few pictures.
    rocelab.run(three_runs[0].scenario.with_settings(probe=[])).save(tmp_path / "run")
    done = command("plot", tmp_path / "run", "--size", "1x1")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("warning: fct: 1 x 1 in are too small: ")
    assert all(line.startswith("warning: ") for line in lines)


def test_a_line_alone_has_no_gaps(incast: rocelab.Result) -> None:
    """They would hide samples; its colour is that of the port in all pictures."""
    probe = {"name": "sent", "kind": "throughput", "interval": "1us", "nodes": ["s0"]}
    run = rocelab.run(incast.scenario.with_settings(probe=[probe]))
    several = rocelab.plot.throughput(run).axes[0].lines
    assert {line.get_linestyle() for line in several} > {"-"}
    ports = run.ports.to_polars().filter(pl.col("node") == "s0")
    for one in several:
        port = ports.filter(pl.col("peer") == str(one.get_label())[3:])["port"][0]
        (line,) = rocelab.plot.throughput(run, nodes=["s0"], ports=[port]).axes[0].lines
        assert line.get_linestyle() == "-"
        assert line.get_color() == one.get_color()


@pytest.mark.parametrize("dpi", [72, 90, 100, 150, 300])
def test_notes_end_within_the_picture_in_any_resolution(dpi: int) -> None:
    """Small letters are wider where they take whole pixels, as in notebooks."""
    notes = [one.caveat for one in rocelab.schemes()] + ["illimitable " * 12, "MWMW " * 20]
    for width_in in (2.0, 3.4, 7.0):
        drawn = Figure(figsize=(width_in, 12), layout="constrained", dpi=dpi)
        with theme.theme():
            drawn.subplots()
            footnotes(drawn, notes)
            drawn.draw_without_rendering()
            (said,) = drawn.texts
            assert said.get_window_extent().x1 <= drawn.bbox.width
    assert " ".join(said.get_text().split()) == " ".join(" ".join(notes).split())
