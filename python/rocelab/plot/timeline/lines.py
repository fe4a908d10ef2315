"""Curves over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocelab.plot.labels import plot_unit
from rocelab.plot.look import Scale
from rocelab.plot.panels import figure, fit_titles, fit_y_labels, legend, panel_note, title, y_label
from rocelab.plot.scales import log_values
from rocelab.plot.theme import HEADROOM, LineStyle, line_style, theme
from rocelab.plot.timeline.axes import Clock, set_time_axis
from rocelab.plot.timeline.deadlock import mark_deadlocks
from rocelab.plot.timeline.scene import Scene
from rocelab.plot.timeline.select import Line

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_PREFIXED_FROM = 1e5
"""From here on numbers whose unit has no larger ones get prefixes: 100G."""
_COLUMNS = 200
"""Means of a line that has more samples than there is room for."""
_MAX_SAMPLES = 4 * _COLUMNS
"""Samples up to which a line is drawn as it is."""
_CALM = 0.05
"""A line whose samples in a column lie within this part of the highest value is drawn as it is."""
_SHADE = 0.25
_MAX_DECADES = 1e6
"""A logarithmic axis shows no more than this quotient of the largest and the least."""


def draw_curves(scene: Scene, what: str, unit: str) -> Figure:
    """``what`` over time: all of one result in a panel, of several each place in one."""
    from matplotlib.ticker import EngFormatter

    lines, names, places, clock = scene.lines, scene.names, scene.places, scene.clock
    alone = len(names) == 1
    one_panel = alone or len(places) == 1
    peak = max(line.peak for line in lines)
    value_unit, value_scale = plot_unit(unit, peak)
    curves = [_curve(line, peak) for line in lines]
    notes = [*_envelope_notes(curves), *scene.notes]
    with theme():
        drawn, panels = figure(rows=1 if one_panel else len(places), notes=notes, look=scene.look)
        for axes, where in zip(panels, places, strict=False):
            for line, curve in zip(lines, curves, strict=True):
                if one_panel or line.where == where:
                    called = line.where if alone else names[line.run]
                    look = line_style(scene.look_of(line))
                    # Gaps set lines apart; of a line alone they would only hide samples.
                    look = look._replace(line="-") if len(lines) == 1 else look
                    _draw(axes, curve, clock, value_scale, called, look)
            mark_deadlocks(axes, scene.deadlocks, clock)
            label = f"{what} ({value_unit})" if value_unit else what
            y_label(axes, label, len(panels))
            _set_value_axis(axes, lines, peak, value_scale, scene.look.y_scale)
            if peak / value_scale >= _PREFIXED_FROM:
                axes.yaxis.set_major_formatter(EngFormatter(sep=""))
            place = where if len(places) == 1 or not one_panel else ""
            title(axes, names[0] if alone else "", place)
        set_time_axis(panels[-1], clock.label("Time"))
        # Once for all panels: a limit that is set keeps what is drawn later from moving the others.
        if max(int(line.time_ps[-1]) for line in lines) > scene.begin_ps:
            panels[-1].set_xlim(left=clock.read(scene.begin_ps))
        panel_note(panels[0], scene.left_out)
        legend(drawn, panels, places if alone else names)
        fit_y_labels(drawn, panels)
        fit_titles(drawn, panels)
    return drawn


@dataclass(frozen=True)
class _Curve:
    """What is drawn of a line."""

    time_ps: pl.Series
    values: pl.Series
    envelope: tuple[pl.Series, pl.Series] | None
    """The least and the largest of the samples that each value is the mean of."""


def _curve(line: Line, highest: float) -> _Curve:
    """``line`` as it is, or mean and envelope of one that goes up and down in too many samples."""
    import polars as pl

    whole = _Curve(line.time_ps, line.values, None)
    if len(line.values) <= _MAX_SAMPLES:
        return whole
    begin, end = int(line.time_ps[0]), int(line.time_ps[-1])
    samples = pl.DataFrame({"time": line.time_ps, "value": line.values})
    spans = samples.group_by(
        ((pl.col("time") - begin) * _COLUMNS // (end - begin + 1)).alias("column"),
        maintain_order=True,
    ).agg(
        pl.col("time").mean(),
        pl.col("value").mean().alias("mean"),
        pl.col("value").min().alias("least"),
        pl.col("value").max().alias("largest"),
    )
    heights = spans["largest"] - spans["least"]
    middle: Any = heights.mean()
    if middle <= _CALM * highest:
        return whole
    return _Curve(spans["time"], spans["mean"], (spans["least"], spans["largest"]))


def _envelope_notes(curves: Sequence[_Curve]) -> list[str]:
    if any(curve.envelope for curve in curves):
        return ["Line: mean; shaded: least to largest sample."]
    return []


def _draw(
    axes: Axes, curve: _Curve, clock: Clock, value_scale: float, name: str, chosen: LineStyle
) -> None:
    """Draws ``curve`` in the look ``chosen`` under ``name``."""
    times = (curve.time_ps - clock.origin_ps) / clock.ps
    if curve.envelope is not None:
        least, largest = curve.envelope
        axes.fill_between(
            times,
            least / value_scale,
            largest / value_scale,
            color=chosen.colour,
            alpha=_SHADE,
            linewidth=0,
        )
    axes.plot(
        times,
        curve.values / value_scale,
        color=chosen.colour,
        linestyle=chosen.line,
        linewidth=1.0,
        # One sample makes no line.
        marker=chosen.marker if len(curve.values) == 1 else "",
        clip_on=len(curve.values) > 1,
        label=name,
    )


def _set_value_axis(
    axes: Axes, lines: Sequence[Line], peak: float, value_scale: float, scale: Scale | None
) -> None:
    """From 0 on, or logarithmic from the least value above 0 on."""
    highest = peak / value_scale
    if scale != "log" or highest <= 0:
        axes.set_ylim(0, highest * HEADROOM or 1)
        return
    above = [line.values.filter(line.values > 0).min() for line in lines]
    lowest: Any = min(value for value in above if value is not None)
    axes.set_ylim(max(lowest / value_scale, highest / _MAX_DECADES) * 0.8, highest)
    log_values(axes)
