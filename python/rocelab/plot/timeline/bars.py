"""Pauses as rows of bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rocelab._pauses import pauses_of, pfc_trace
from rocelab._ports import port_names_of
from rocelab.catalogue import probe_kinds
from rocelab.plot.labels import wrap
from rocelab.plot.panels import figure, fit_titles, panel_note, title
from rocelab.plot.span import Span
from rocelab.plot.theme import LINE_IN, line_style, theme
from rocelab.plot.timeline.axes import set_time_axis
from rocelab.plot.timeline.deadlock import mark_deadlocks
from rocelab.plot.timeline.ranking import paused_spans
from rocelab.plot.timeline.scene import Scene
from rocelab.plot.timeline.select import Line

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from rocelab.result import Result


_ROW_WIDTH = 22
"""Letters of what names a row of bars in a line."""


def paused_lines(run_number: int, frame: pl.DataFrame, run: Result) -> list[Line]:
    """A line for each port of ``frame``: 1 while a priority is paused."""
    import polars as pl

    called = port_names_of(run)
    end_ps = pfc_trace(run).end_ps
    spans: dict[tuple[str, int], list[tuple[int, int]]] = {
        (node, port): [] for node, port in frame.select("node", "port").unique().rows()
    }
    for pause in pauses_of(run, frame):
        of_port = spans[pause.node, pause.port]
        if of_port and pause.begin_ps <= of_port[-1][1]:
            begin_ps, last_ps = of_port.pop()
            of_port.append((begin_ps, max(last_ps, pause.end_ps)))
        else:
            of_port.append((pause.begin_ps, pause.end_ps))
    lines = []
    for place, of_port in sorted(spans.items()):
        times = [time_ps for span in of_port for time_ps in span]
        values = [1.0, 0.0] * len(of_port)
        last_ps = max([end_ps, *times])
        series = pl.Series([*times, last_ps]), pl.Series([*values, 0.0])
        lines.append(Line(run_number, called[place], None, *series, max(values, default=0.0)))
    return lines


def cut_pauses(line: Line, span: Span) -> Line | None:
    """``line`` within ``span``; none where nothing was paused then."""
    import polars as pl

    end_ps = int(line.time_ps[-1]) if span.end_ps is None else span.end_ps
    within = [
        (max(begin, span.start_ps), min(end, end_ps))
        for begin, end in paused_spans(line.time_ps, line.values)
        if begin < end_ps and end > span.start_ps
    ]
    if not within:
        return line if span == Span() else None
    # The end stands there although nothing changes then: it is where the axis ends.
    times = [time for both in within for time in both]
    values = [1.0, 0.0] * len(within)
    times, values = [*times, max(end_ps, times[-1])], [*values, 0.0]
    return replace(line, time_ps=pl.Series(times), values=pl.Series(values))


def draw_bars(scene: Scene) -> Figure:
    """When something was paused: a row of bars for each line, the first on top."""
    names, places, clock = scene.names, scene.places, scene.clock
    rows = sorted(scene.lines, key=lambda line: (places.index(line.where), line.run))
    with theme():
        called = [wrap(_name(line, names, places), _ROW_WIDTH) for line in rows]
        row_in = max(0.22, 0.14 * max(map(len, called)))
        # The panel beside the names may be too narrow for a moment that is named in the same line.
        label = clock.label("Time").replace(" after", "\nafter").split("\n")
        height_in = 0.7 + row_in * len(rows) + LINE_IN * (len(label) - 1)
        drawn, (axes,) = figure(height_in=height_in, notes=scene.notes, look=scene.look)
        for row, line in enumerate(rows):
            axes.broken_barh(
                [
                    (clock.read(begin), (end - begin) / clock.ps)
                    for begin, end in paused_spans(line.time_ps, line.values)
                ],
                (row - 0.35, 0.7),
                color=line_style(line.run).colour,
                linewidth=0,
                # Not moved to whole pixels: a pixel's shade shows how much of it was paused.
                snap=False,
            )
        axes.set_yticks(range(len(rows)), ["\n".join(lines) for lines in called], parse_math=False)
        for line, text in zip(rows, axes.get_yticklabels(), strict=True):
            if any(circle.holds(line.run, line.where) for circle in scene.deadlocks):
                text.set_fontweight("bold")
        axes.set_ylim(len(rows) - 0.5, -0.5)
        # One sample is no span of time.
        end_ps = max(int(line.time_ps[-1]) for line in rows)
        left, right = clock.read(scene.begin_ps), clock.read(end_ps)
        axes.set_xlim(left, right if right > left else left + 1)
        mark_deadlocks(axes, scene.deadlocks, clock)
        axes.grid(visible=False, axis="y")
        axes.set_ylabel(probe_kinds()["pause"].title)
        set_time_axis(axes, "\n".join(label))
        title(axes, names[0] if len(names) == 1 else places[0] if len(places) == 1 else "")
        panel_note(axes, scene.left_out)
        fit_titles(drawn, [axes])
    return drawn


def _name(line: Line, names: Sequence[str], places: Sequence[str]) -> str:
    """What to call a row: its result, its place, or both."""
    if len(names) == 1:
        return line.where
    return names[line.run] if len(places) == 1 else f"{names[line.run]}, {line.where}"
