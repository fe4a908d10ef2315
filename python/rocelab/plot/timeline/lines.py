"""Curves over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rocelab import _format
from rocelab.plot.panels import figure, fit_titles, legend, panel_note, title, y_label
from rocelab.plot.theme import HEADROOM, line_style, theme
from rocelab.plot.timeline.axes import Clock, choose_clock, set_time_axis
from rocelab.plot.timeline.select import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_PREFIXED_FROM = 1e5
"""From here on numbers whose unit has no larger ones get prefixes: 100G."""


def draw_curves(
    lines: Sequence[Line],
    names: Sequence[str],
    places: Sequence[str],
    left_out: str,
    notes: Sequence[str],
    begin_ps: int,
    what: str,
    unit: str,
) -> Figure:
    """``what`` over time: all of one result in a panel, of several each place in one."""
    from matplotlib.ticker import EngFormatter

    alone = len(names) == 1
    one_panel = alone or len(places) == 1
    value_unit, value_scale = _format.unit(unit, max(line.peak for line in lines))
    clock = choose_clock(begin_ps, max(int(line.time_ps[-1]) for line in lines))
    with theme():
        drawn, panels = figure(rows=1 if one_panel else len(places), notes=notes)
        highest = max(line.peak for line in lines) / value_scale
        for axes, where in zip(panels, places, strict=False):
            chosen = lines if one_panel else [line for line in lines if line.where == where]
            if alone:
                _draw(
                    axes, chosen, clock, value_scale, places, lambda line: places.index(line.where)
                )
            else:
                _draw(axes, chosen, clock, value_scale, names, lambda line: line.run)
            label = f"{what} ({value_unit})" if value_unit else what
            y_label(axes, label, len(panels))
            if highest >= _PREFIXED_FROM:
                axes.yaxis.set_major_formatter(EngFormatter(sep=""))
            place = where if len(places) == 1 or not one_panel else ""
            title(axes, names[0] if alone else "", place)
        set_time_axis(panels[-1], clock.label("Time"))
        # Once for all panels: a limit that is set keeps what is drawn later from moving the others.
        panels[-1].set_xlim(left=clock.read(begin_ps))
        panel_note(panels[0], left_out)
        legend(drawn, panels, places if alone else names)
        fit_titles(drawn, panels)
    return drawn


def _draw(
    axes: Axes,
    lines: Sequence[Line],
    clock: Clock,
    value_scale: float,
    names: Sequence[str],
    index_of: Callable[[Line], int],
) -> None:
    """Draws ``lines``, each in the look and under the name of its index."""
    for line in lines:
        index = index_of(line)
        chosen = line_style(index)
        axes.plot(
            (line.time_ps - clock.origin_ps) / clock.ps,
            line.values / value_scale,
            color=chosen.colour,
            linestyle=chosen.line,
            linewidth=1.0,
            # One sample makes no line.
            marker=chosen.marker if len(line.values) == 1 else "",
            clip_on=len(line.values) > 1,
            label=names[index],
        )
    highest = max(line.peak for line in lines) / value_scale
    axes.set_ylim(0, highest * HEADROOM or 1)
