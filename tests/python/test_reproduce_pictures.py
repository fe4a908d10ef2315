"""Pictures of reproduced figures: what their lines and error bars stand for."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.container import ErrorbarContainer

import rocelab
from conftest import INCAST
from rocelab.papers import measurements, plots, reproduce, seeds
from rocelab.papers.model import Figure, Line, Measure, Panel, Paper, Points, Runs
from test_verdicts import INF, NAN, reading


@pytest.mark.parametrize("id_", reproduce.ids())
def test_no_two_lines_of_a_figure_look_alike(id_: str) -> None:
    ((paper, figure),) = reproduce.chosen([id_])
    names = {line.name for panel in figure.panels for line in panel.lines}
    assert len({paper.looks[name] for name in names}) == len(names)


def test_pictures_write_microseconds_as_their_axes_do() -> None:
    texts = [
        text
        for paper in reproduce.PAPERS
        for figure in paper.figures
        for panel in figure.panels
        for text in (panel.title, panel.x, panel.y, *(line.name for line in panel.lines))
    ]
    assert any("µs" in text for text in texts)
    assert not [text for text in texts if "us" in text.replace("(", " ").replace(")", " ").split()]


def slowdown(name: str) -> Measure:
    return seeds.reading(name, lambda case: lambda runs: runs[case].summary.slowdown.mean or 0.0)


@pytest.mark.parametrize(
    ("seen", "said"),
    [((1, 2), ["Over 2 seeds; error bars: standard deviation."]), ((1,), [])],
)
def test_a_picture_says_how_many_seeds_it_stands_for(
    seen: tuple[int, ...], said: list[str], tmp_path: Path
) -> None:
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(
        traffic=[
            {"kind": "poisson", "workload": "Hadoop", "load": 0.5, "duration": "100us"},
        ]
    )
    figure = Figure(
        "f",
        "A figure",
        lambda _reading, _quick: seeds.cases(
            seen, ["a"], lambda _, seed: scenario.with_settings(run__seed=seed)
        ),
        [Panel("", "", "Slowdown", [measurements.bars("a", {"all": slowdown("a")})])],
        [],
    )
    paper = Paper("p", "A paper", [figure], {"a": 0}, [])
    made = reproduce.reproduce(paper, figure, tmp_path / "out", cache=tmp_path / "cache", jobs=1)
    notes = json.loads((made.directory / "claims.json").read_text())["notes"]
    assert notes[: len(said)] == said
    assert any("seeds" in note for note in notes) == bool(said)


def test_a_line_that_is_always_alone_has_no_gaps() -> None:
    """They would hide samples."""
    first, second, third = (
        Line(name, lambda _runs: ([0.0, 1.0], [1.0, 2.0])) for name in ("a", "b", "c")
    )
    panels = [Panel("x", "x", "y", [first, second]), Panel("z", "x", "y", [third])]
    figure = Figure("f", "f", lambda _reading, _quick: {}, panels, [])
    looks = {"a": 0, "b": 1, "c": 2}
    together, alone = plots.picture(figure, plots.data(figure, {}), looks, []).axes
    assert [line.get_linestyle() for line in together.lines] == ["-", "--"]
    assert [line.get_linestyle() for line in alone.lines] == ["-"]


@pytest.mark.parametrize("log_y", [False, True])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, INF], ["1", "never"]),
        ([INF, INF], ["never", "never"]),
        ([NAN, 2.0], ["-", "2"]),
        ([NAN, INF], ["-", "never"]),
        ([0.0, 0.0, INF], ["0", "0", "never"]),
    ],
)
def test_a_bar_without_a_height_has_a_word_in_its_place(
    tmp_path: Path, values: list[float], words: list[str], log_y: bool
) -> None:
    """What never happens has no bar, and matplotlib warns of none."""
    line = Line(
        "a",
        lambda _runs: ([f"x{at}" for at in range(len(values))], values),
        spread=lambda _: [0.5] + [None] * (len(values) - 1),
    )
    panel = Panel("p", "", "Time (µs)", [line], log_y=log_y)
    figure = Figure("f", "f", lambda _reading, _quick: {}, [panel], [])
    drawn = plots.picture(figure, plots.data(figure, {}), {"a": 0}, [])
    drawn.savefig(tmp_path / "f.png")
    drawn.savefig(tmp_path / "f.svg")
    (axes,) = drawn.axes
    shown = [text.get_text() for text in axes.texts]
    assert shown == words
    box = axes.get_window_extent()
    for text in axes.texts:
        assert box.contains(*text.get_window_extent().min)
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        f"x{at}" for at in range(len(values))
    ]


def test_lines_of_a_figure_look_different() -> None:
    for paper in reproduce.PAPERS:
        for figure in paper.figures:
            lines = {
                line.name: (paper.looks[line.name], line.thin)
                for panel in figure.panels
                for line in panel.lines
            }
            assert len(set(lines.values())) == len(lines), figure.id
            assert len({panel.title for panel in figure.panels}) == len(figure.panels)
            assert len({claim.id for claim in figure.claims}) == len(figure.claims)


def test_lines_from_zero_end_below_the_top_and_the_judged_one_is_thick() -> None:
    lines = [
        Line("judged", lambda _runs: ([30.0, 80.0], [99.0, 100.0])),
        Line("other", lambda _runs: ([30.0, 80.0], [99.5, 99.0])),
    ]
    figure = _drawing([Panel("x", "x", "y", lines, marked=True, ticks=(30, 80))])
    looks = {line.name: look for look, line in enumerate(lines)}
    (axes,) = plots.picture(figure, plots.data(figure, {}), looks, []).axes
    assert axes.get_ylim() == pytest.approx((0, 105))
    assert axes.get_xticks().tolist() == [30, 80]
    first, second = axes.lines
    assert first.get_linewidth() > second.get_linewidth()
    assert first.get_zorder() < second.get_zorder()


def _drawing(panels: list[Panel]) -> Figure:
    return Figure("x", "x", lambda _reading, _quick: {}, panels, [])


def test_bars_over_seeds_have_their_spread() -> None:
    line = measurements.bars("a", {"one": reading([1.0, 3.0]), "two": reading(5.0)})
    figure = _drawing([Panel("x", "", "y", [line])])
    frame = plots.data(figure, {})
    assert frame["y"].to_list() == [2.0, 5.0]
    assert frame["spread"].to_list() == [pytest.approx(2**0.5), None]
    (axes,) = plots.picture(figure, frame, {"a": 0}, []).axes
    (bars,) = [each for each in axes.containers if isinstance(each, ErrorbarContainer)]
    assert bars.has_yerr


@pytest.mark.parametrize(("words", "turned"), [(2, False), (3, False), (6, True), (9, True)])
def test_numbers_of_bars_are_apart_and_all_the_same_way(words: int, turned: bool) -> None:
    def points(value: float) -> Callable[[Runs], Points]:
        return lambda _runs: ([f"w{n}" for n in range(words)], [value] * words)

    # The second one has fewer bars, which is no reason to write its numbers another way.
    short: Points = (["w0"], [12.3])
    lines = [Line("a", points(12.3)), Line("b", points(45.6)), Line("c", lambda _runs: short)]
    figure = _drawing([Panel("x", "", "y", lines)])
    looks = {line.name: n for n, line in enumerate(lines)}
    drawn = plots.picture(figure, plots.data(figure, {}), looks, [])
    drawn.savefig(io.BytesIO(), format="png")
    (axes,) = drawn.axes
    assert {text.get_rotation() for text in axes.texts} == {90.0 * turned}
    boxes = sorted((text.get_window_extent() for text in axes.texts), key=lambda box: box.x0)
    for left, right in itertools.pairwise(boxes):
        assert not left.overlaps(right)


def test_bars_of_which_a_seed_has_no_number_have_no_spread() -> None:
    line = measurements.bars(
        "A", {"one": reading([NAN, 1.0]), "never": reading([INF, 1.0]), "both": reading([1.0, 3.0])}
    )
    assert line.spread is not None
    assert line.spread({}) == [None, None, pytest.approx(2**0.5)]
    panel = Panel("p", "", "y", [line])
    frame = plots.data(Figure("f", "t", lambda *_: {}, [panel], []), {})
    assert frame["spread"].null_count() == 2
