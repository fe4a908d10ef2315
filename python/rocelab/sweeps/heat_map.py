"""A number of many runs over two keys, as a map of colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocelab.catalogue import caveats
from rocelab.errors import ResultError
from rocelab.plot.footnotes import shared_disturbances
from rocelab.plot.growth import grow
from rocelab.plot.labels import plot_unit, width_pt
from rocelab.plot.look import Look
from rocelab.plot.panels import figure, fit_titles, title
from rocelab.plot.theme import WIDTH_IN, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rocelab.sweeps import Sweep
    from rocelab.sweeps.grid import Axis
    from rocelab.sweeps.metrics import Metric
    from rocelab.sweeps.plan import SweepPlan

_MIN_VALUES = 3
"""Values of each key from which a map shows more than lines do."""
_SLANT = 30
"""By how many degrees labels are turned that have no room beside each other."""
_COLOURS_NAMED = 6
"""Colours that have numbers beside their bar, at most."""
_GAP_PT = 3
"""Between labels beside each other."""
_LINE_PT = 9.5
"""Room that a label takes across its line."""
_MAX_WRITTEN = 8
"""Values of each key up to which the numbers stand in the map."""


def fits_heat_map(plan: SweepPlan) -> bool:
    """Whether exactly two keys vary on their own, each over three numbers or more."""
    several = _several(plan)
    return (
        not plan.zipped
        and len(several) == 2
        and all(axis.numbers and len(axis.values) >= _MIN_VALUES for axis in several)
    )


def plot_heat_map(sweep: Sweep, metric: Metric, look: Look) -> Figure:
    """The picture of :meth:`rocelab.Sweep.heat_map`."""
    several = _several(sweep.plan)
    if sweep.plan.zipped or len(several) != 2 or not all(axis.numbers for axis in several):
        raise ResultError(
            "a heat map needs two keys that vary on their own over numbers",
            hint="Sweep.plot draws other sweeps",
        )
    across, up = several
    means = sweep.statistics.to_polars()[metric.name].to_list()
    known = [mean for mean in means if mean is not None]
    if not known:
        raise ResultError(f"no {metric.name} to draw: each combination has a run without it")
    unit, scale = plot_unit(metric.unit, max(known))
    places = [sweep.plan.axes.index(axis) for axis in several]
    columns, rows = (_ordered(axis) for axis in several)
    grid = [[float("nan")] * len(columns) for _ in rows]
    for combination, mean in zip(sweep.plan.combinations, means, strict=True):
        if mean is not None:
            column, row = (combination[at].label for at in places)
            grid[rows.index(row)][columns.index(column)] = mean / scale
    notes = [f"Means over {len(sweep.plan.seeds)} seeds."] if len(sweep.plan.seeds) > 1 else []
    if len(known) < len(means):
        notes.append("White: combinations that have a run without a value.")
    from matplotlib.ticker import MaxNLocator

    with theme():
        notes += [*shared_disturbances(sweep.results), *caveats(sweep.results)]
        drawn, (panel,) = figure(height_in=WIDTH_IN * 0.75, notes=notes, look=look)
        image = panel.imshow(grid, origin="lower", aspect="auto", cmap="viridis")
        panel.set_xticks(range(len(columns)), columns, parse_math=False)
        panel.set_yticks(range(len(rows)), rows, parse_math=False)
        panel.grid(visible=False)
        panel.set_xlabel(across.key, parse_math=False)
        panel.set_ylabel(up.key, parse_math=False)
        if len(columns) <= _MAX_WRITTEN and len(rows) <= _MAX_WRITTEN:
            numbers = cell_texts(grid)
            middle = (image.norm.vmin + image.norm.vmax) / 2  # type: ignore[operator]
            for y, line in enumerate(grid):
                for x, value in enumerate(line):
                    colour = "black" if value > middle else "white"
                    if value == value:
                        panel.text(
                            x,
                            y,
                            numbers[y, x],
                            ha="center",
                            va="center",
                            color=colour,
                            fontsize=6,
                        )
        label = f"{metric.title} ({unit})" if unit else metric.title
        # As many numbers at any height: the layout, which has room for them, decides on it later.
        named = MaxNLocator(_COLOURS_NAMED, steps=[1, 2, 5, 10])
        drawn.colorbar(image, ax=panel, label=label, ticks=named)
        _fit_labels(drawn, panel)
        title(panel, sweep.plan.scenario.name)
        fit_titles(drawn, [panel])
    return drawn


def cell_texts(grid: Sequence[Sequence[float]]) -> dict[tuple[int, int], str]:
    """The values of ``grid`` by row and column, all with the decimals that the least one takes."""
    every = {(y, x): value for y, line in enumerate(grid) for x, value in enumerate(line)}
    known = {place: value for place, value in every.items() if value == value}
    least = min(map(abs, filter(None, known.values())), default=0.0)
    whole = all(value == int(value) for value in known.values())
    decimals = 0 if whole or not least else max(0, 2 - math.floor(math.log10(least)))
    return {place: f"{value:,.{decimals}f}" for place, value in known.items()}


def _fit_labels(drawn: Figure, panel: Axes) -> None:
    """Turns labels below the map that have no room beside each other, and leaves out some of many.

    To be called when all that makes the panel narrower is there.
    """
    drawn.draw_without_rendering()
    box = panel.get_window_extent()
    words = [text.get_text() for text in panel.get_xticklabels()]
    room_pt = box.width / drawn.dpi * 72 / len(words)
    if max(map(width_pt, words)) + _GAP_PT > room_pt:
        slant = _SLANT if room_pt * math.sin(math.radians(_SLANT)) >= _LINE_PT else 90
        for text in panel.get_xticklabels():
            align = "top" if slant < 90 else "center"
            text.set(rotation=slant, ha="right", va=align, rotation_mode="anchor")
        grow(drawn, max(map(width_pt, words)) * math.sin(math.radians(slant)) / 72)
        # They take of the height of a picture whose size is chosen.
        drawn.draw_without_rendering()
        box = panel.get_window_extent()
    for axis, length in ((panel.xaxis, box.width), (panel.yaxis, box.height)):
        texts = [text.get_text() for text in axis.get_ticklabels()]
        every = math.ceil(_LINE_PT * len(texts) / (length / drawn.dpi * 72))
        named = [text if at % every == 0 else "" for at, text in enumerate(texts)]
        axis.set_ticks(range(len(texts)), named, parse_math=False)


def _several(plan: SweepPlan) -> list[Axis]:
    return [axis for axis in plan.axes if len(axis.values) > 1]


def _ordered(axis: Axis) -> list[str]:
    """The labels of an axis in the order of their numbers."""
    numbers = axis.numbers or {}
    return sorted(numbers, key=numbers.__getitem__)
