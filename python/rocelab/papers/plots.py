"""Figures of reproductions as pictures and as tables of what they show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from rocelab.papers.model import Figure, Line, Panel, Runs
from rocelab.plot.footnotes import footnotes
from rocelab.plot.labels import plot_number
from rocelab.plot.scales import log_sizes, log_slowdown, log_values
from rocelab.plot.theme import HEADROOM, HEIGHT_IN, WIDTH_IN, LineStyle, line_style, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


_WORD_PT = 8
"""Size of the words below bars."""
_TURNED_DEG = 30
"""By how much they are turned where they have no room."""
_NUMBER_PT = 6
"""Size of the numbers above bars."""
_DIGIT_EM = 0.64
"""Width of a digit in the font of the pictures, in its size."""
_LOG_BARS_ROOM = 0.15
"""Of a logarithmic axis's length, what is left above bars for their numbers."""
_BARS_WIDE = 0.8
"""How much of the way to the next word the bars of one take together."""
_JUDGED_PT, _OTHER_PT, _THIN_PT = 2.0, 1.0, 0.6
"""Widths of the line of what a paper is about, which has the first look, and of others."""
_CAP_PT = 1.5
"""Half the length of the ends of error bars."""
_PLOT_SHARE = 0.85
"""Of a panel's width, what is left beside the y axis with its label."""


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
                        "spread": _spread(line, runs, len(y)),
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


def _spread(line: Line, runs: Runs, points: int) -> pl.Series:
    values = [None] * points if line.spread is None else line.spread(runs)
    return pl.Series(values, dtype=pl.Float64)


def picture(
    figure: Figure, frame: pl.DataFrame, looks: Mapping[str, int], notes: Sequence[str]
) -> Picture:
    """Draws ``frame``, the data of ``figure``, with ``notes`` below."""
    from matplotlib.figure import Figure as Drawing

    columns = min(figure.columns, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    names = list(dict.fromkeys(line.name for panel in figure.panels for line in panel.lines))
    beside = {line.name for panel in figure.panels if len(panel.lines) > 1 for line in panel.lines}
    # Gaps set lines apart; of a line that is always alone they would only hide samples.
    styles = {
        name: style if name in beside else style._replace(line="-")
        for name in names
        for style in (line_style(looks[name]),)
    }
    with theme():
        # A little for the legend.
        height = rows * HEIGHT_IN * 0.9 + 0.3
        drawn = Drawing(figsize=(WIDTH_IN * columns, height), layout="constrained")
        grid = list(drawn.subplots(rows, columns, squeeze=False).flat)
        for axes, panel in zip(grid, figure.panels, strict=False):
            _panel(axes, panel, frame.filter(pl.col("panel") == panel.title), looks, styles)
        for axes in grid[len(figure.panels) :]:
            axes.set_axis_off()
        _legend(drawn, grid[: len(figure.panels)], names, columns)
        footnotes(drawn, notes)
    return drawn


def _panel(
    axes: Axes,
    panel: Panel,
    frame: pl.DataFrame,
    looks: Mapping[str, int],
    styles: Mapping[str, LineStyle],
) -> None:
    has_bars = frame["word"].null_count() < len(frame)
    if has_bars:
        _bars(axes, panel, frame, styles)
    else:
        _lines(axes, panel, frame, looks, styles)
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    _scale(axes, panel, has_bars=has_bars)
    if panel.ticks:
        axes.set_xticks(panel.ticks)
    if panel.x_range:
        axes.set_xlim(panel.x_range)
    if panel.y_range:
        axes.set_ylim(panel.y_range)


def _bars(axes: Axes, panel: Panel, frame: pl.DataFrame, styles: Mapping[str, LineStyle]) -> None:
    """Draws the lines of ``panel`` as bars side by side, with their numbers above."""
    turned = not _numbers_fit(frame, len(panel.lines))
    width = _BARS_WIDE / len(panel.lines)
    for index, line in enumerate(panel.lines):
        rows = frame.filter(pl.col("index") == index)
        shift = (index - (len(panel.lines) - 1) / 2) * width
        spots = [at + shift for at in range(len(rows))]
        # What never happens, or was not measured, has no bar; its word stands in its place.
        heights = [value if math.isfinite(value) else 0.0 for value in rows["y"]]
        axes.bar(spots, heights, width, color=styles[line.name].colour, label=line.name)
        spread = rows["spread"].fill_null(0.0)
        if (spread > 0).any():
            axes.errorbar(
                spots,
                heights,
                yerr=spread,
                fmt="none",
                ecolor="black",
                elinewidth=_THIN_PT,
                capsize=_CAP_PT,
            )
        for spot, value, half in zip(spots, rows["y"], spread, strict=True):
            # A logarithmic axis has no 0.
            has_bar = math.isfinite(value) and (value > 0 or not panel.log_y)
            axes.annotate(
                _word(value),
                (spot, value + half if has_bar else 0),
                (0, 1.5),
                xycoords="data" if has_bar else axes.get_xaxis_transform(),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=_NUMBER_PT,
                rotation=90 * turned,
            )
        axes.set_xticks(range(len(rows)), rows["word"].to_list())
    if not _words_fit(frame):
        axes.tick_params(axis="x", labelrotation=_TURNED_DEG)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.2 if turned else 0.12)


def _word(value: float) -> str:
    """What stands above a bar, or in its place."""
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else plot_number(value)


def _lines(
    axes: Axes,
    panel: Panel,
    frame: pl.DataFrame,
    looks: Mapping[str, int],
    styles: Mapping[str, LineStyle],
) -> None:
    for index, line in enumerate(panel.lines):
        rows = frame.filter(pl.col("index") == index)
        look = looks[line.name]
        style = styles[line.name]
        axes.plot(
            rows["x"],
            rows["y"],
            color=style.colour,
            linestyle=style.line,
            linewidth=_THIN_PT if line.thin else _OTHER_PT if look else _JUDGED_PT,
            marker=style.marker if panel.by_size or panel.marked else "",
            label=line.name,
            # Below the others, which are thinner: where they meet both are seen.
            zorder=2.0 if look else 1.9,
        )


def _scale(axes: Axes, panel: Panel, *, has_bars: bool) -> None:
    """Sets the scales of both axes, and where the y axis begins and ends."""
    if panel.by_size:
        log_sizes(axes)
        log_slowdown(axes)
    elif panel.log_y:
        log_values(axes)
        if has_bars:
            low, high = axes.get_ylim()
            axes.set_ylim(low, high * (high / low) ** _LOG_BARS_ROOM)
    elif has_bars:
        # Where all is 0 there is no height to go by.
        axes.set_ylim(0, axes.get_ylim()[1] if axes.dataLim.ymax > 0 else 1)
    else:
        # Nothing here is below 0; where all is 0 there is no height to go by.
        axes.set_ylim(0, max(axes.dataLim.ymax, 0) * HEADROOM or 1)


def _numbers_fit(frame: pl.DataFrame, lines: int) -> bool:
    """Whether the numbers of ``lines`` bars side by side at each word have room beside another."""
    words = frame["word"].n_unique()
    numbers = [_word(value) for value in frame["y"]]
    # A point or comma is half as wide as a digit.
    digits = max(len(number) - sum(map(number.count, ".,")) / 2 for number in numbers)
    # As matplotlib places bars: words are 1 apart, and a twentieth is left free at both ends.
    span = (words - 1 + _BARS_WIDE) * 1.1
    bar_in = WIDTH_IN * _PLOT_SHARE * _BARS_WIDE / lines / span
    return (digits + 0.5) * _DIGIT_EM * _NUMBER_PT / 72 <= bar_in


def _words_fit(frame: pl.DataFrame) -> bool:
    """Whether the words below bars have room beside each other."""
    words = frame["word"].unique().to_list()
    longest = max(len(line) for word in words for line in word.split("\n"))
    span = (len(words) - 1 + _BARS_WIDE) * 1.1
    return (longest + 1) * _DIGIT_EM * _WORD_PT / 72 <= WIDTH_IN * _PLOT_SHARE / span


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
