"""Figures of reproductions as pictures and as tables of what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from rocelab.papers.model import Figure, Panel, Runs
from rocelab.plot.slowdown import log_sizes, log_slowdown
from rocelab.plot.style import COLOURS, HEIGHT_IN, LINES, MARKERS, WIDTH_IN, footnotes, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


_LEVEL_LABELS = 12
"""The numbers of more bars than these would overlap side by side."""


def data(figure: Figure, runs: Runs) -> pl.DataFrame:
    """What ``figure`` shows: a row for each point; x is in ``word`` where it is one."""
    frames = []
    for panel in figure.panels:
        for index, line in enumerate(panel.lines):
            x, y = line.points(runs)
            words = bool(x) and isinstance(x[0], str)
            frames.append(
                pl.DataFrame(
                    {
                        "panel": panel.title,
                        "line": line.name,
                        "index": index,
                        "x": None if words else pl.Series(x, dtype=pl.Float64),
                        "word": pl.Series(x, dtype=pl.String) if words else None,
                        "y": pl.Series(y, dtype=pl.Float64),
                        "x_label": panel.x,
                        "y_label": panel.y,
                    },
                    schema_overrides={
                        "index": pl.UInt16,
                        "x": pl.Float64,
                        "word": pl.String,
                    },
                )
            )
    return pl.concat(frames)


def picture(
    figure: Figure, frame: pl.DataFrame, looks: Mapping[str, int], notes: Sequence[str]
) -> Picture:
    """Draws ``frame``, the data of ``figure``, with ``notes`` below."""
    from matplotlib.figure import Figure as Drawing

    columns = min(figure.columns, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    names = list(dict.fromkeys(line.name for panel in figure.panels for line in panel.lines))
    with style():
        # A little for the legend.
        height = rows * HEIGHT_IN * 0.9 + 0.3
        drawn = Drawing(figsize=(WIDTH_IN * columns, height), layout="constrained")
        grid = list(drawn.subplots(rows, columns, squeeze=False).flat)
        for axes, panel in zip(grid, figure.panels, strict=False):
            _panel(axes, panel, frame.filter(pl.col("panel") == panel.title), looks)
        for axes in grid[len(figure.panels) :]:
            axes.set_axis_off()
        _legend(drawn, grid[: len(figure.panels)], names, columns)
        footnotes(drawn, notes)
    return drawn


def _panel(axes: Axes, panel: Panel, frame: pl.DataFrame, looks: Mapping[str, int]) -> None:
    bars = frame["word"].null_count() < len(frame)
    for index, line in enumerate(panel.lines):
        rows = frame.filter(pl.col("index") == index)
        look = looks[line.name]
        if bars:
            width = 0.8 / len(panel.lines)
            shift = (index - (len(panel.lines) - 1) / 2) * width
            spots = [at + shift for at in range(len(rows))]
            drawn = axes.bar(spots, rows["y"], width, color=COLOURS[look], label=line.name)
            turned = len(rows) * len(panel.lines) > _LEVEL_LABELS
            axes.bar_label(drawn, fmt="{:.3g}", fontsize=6, padding=1, rotation=90 * turned)
            axes.set_xticks(range(len(rows)), rows["word"].to_list())
            axes.grid(visible=False, axis="x")
            axes.margins(y=0.2 if turned else 0.12)
        else:
            axes.plot(
                rows["x"],
                rows["y"],
                color=COLOURS[look],
                linestyle=LINES[look],
                linewidth=0.6 if line.thin else 1.2,
                marker=MARKERS[look] if panel.by_size or panel.marked else "",
                label=line.name,
            )
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if panel.by_size:
        log_sizes(axes)
        log_slowdown(axes)
    else:
        axes.set_ylim(bottom=0)
    if panel.x_range:
        axes.set_xlim(panel.x_range)


def _legend(drawn: Picture, panels: Sequence[Axes], names: Sequence[str], columns: int) -> None:
    """One legend for all panels, above them."""
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if len(names) > 1:
        rows = -(-len(names) // (3 * columns))
        drawn.legend(
            [handles[name] for name in names],
            names,
            loc="outside upper left",
            ncols=-(-len(names) // rows),
        )
