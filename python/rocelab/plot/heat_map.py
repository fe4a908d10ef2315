"""A number of many runs over two keys, as a map of colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocelab.errors import ResultError
from rocelab.plot.footnotes import caveats
from rocelab.plot.labels import plot_number, plot_unit
from rocelab.plot.look import Look
from rocelab.plot.panels import figure, fit_titles, title
from rocelab.plot.theme import WIDTH_IN, theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocelab.sweeps import Sweep
    from rocelab.sweeps.grid import Axis
    from rocelab.sweeps.metrics import Metric
    from rocelab.sweeps.plan import Plan

_MIN_VALUES = 3
"""Values of each key from which a map shows more than lines do."""
_MAX_WRITTEN = 8
"""Values of each key up to which the numbers stand in the map."""


def fits_heat_map(plan: Plan) -> bool:
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
    with theme():
        notes += caveats(sweep.results)
        drawn, (panel,) = figure(height_in=WIDTH_IN * 0.75, notes=notes, look=look)
        image = panel.imshow(grid, origin="lower", aspect="auto", cmap="viridis")
        panel.set_xticks(range(len(columns)), columns, parse_math=False)
        panel.set_yticks(range(len(rows)), rows, parse_math=False)
        panel.grid(visible=False)
        panel.set_xlabel(across.key, parse_math=False)
        panel.set_ylabel(up.key, parse_math=False)
        if len(columns) <= _MAX_WRITTEN and len(rows) <= _MAX_WRITTEN:
            middle = (image.norm.vmin + image.norm.vmax) / 2  # type: ignore[operator]
            for y, line in enumerate(grid):
                for x, value in enumerate(line):
                    colour = "black" if value > middle else "white"
                    if value == value:
                        panel.text(
                            x,
                            y,
                            plot_number(value),
                            ha="center",
                            va="center",
                            color=colour,
                            fontsize=6,
                        )
        label = f"{metric.title} ({unit})" if unit else metric.title
        drawn.colorbar(image, ax=panel, label=label)
        title(panel, sweep.plan.scenario.name)
        fit_titles(drawn, [panel])
    return drawn


def _several(plan: Plan) -> list[Axis]:
    return [axis for axis in plan.axes if len(axis.values) > 1]


def _ordered(axis: Axis) -> list[str]:
    """The labels of an axis in the order of their numbers."""
    numbers = axis.numbers or {}
    return sorted(numbers, key=numbers.__getitem__)
