"""Time series: queue length, throughput, rate and whatever else a probe recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rocelab._format import picoseconds
from rocelab._pauses import pfc_trace, watchdog_acted
from rocelab.catalogue import caveats, probe_kinds
from rocelab.errors import ResultError
from rocelab.plot.footnotes import cut_off, disturbances
from rocelab.plot.labels import resolve_names
from rocelab.plot.look import Look, Scale
from rocelab.plot.span import Span
from rocelab.plot.timeline.axes import axis_begin
from rocelab.plot.timeline.bars import cut_pauses, draw_bars, paused_lines
from rocelab.plot.timeline.deadlock import Deadlock, deadlock_notes, deadlocks_of
from rocelab.plot.timeline.lines import draw_curves
from rocelab.plot.timeline.looks import looks_of
from rocelab.plot.timeline.ranking import paused_ps, ranking_of
from rocelab.plot.timeline.scene import Scene
from rocelab.plot.timeline.select import (
    Line,
    absent_results,
    check_selection,
    choose_places,
    flow_names_of,
    nothing_to_draw,
    place_names,
    select_rows,
    series_of_kind,
    split_into_lines,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocelab.plot.labels import Results
    from rocelab.result import Result


MAX_LINES = 6
"""Lines in the one panel of one result."""

MAX_BARS = 24
"""Rows of pauses, of all results together."""

MAX_PANELS = 5
"""Panels, each with a line for each of several results."""

_OWN = {
    "port-state": "What the state of a port stands for is each scheme's own.",
    "alpha": "Each scheme estimates congestion in its own way and on its own scale.",
}
"""What pictures of several schemes say of kinds that each scheme gives a meaning."""


def queue(
    results: Results,
    *,
    nodes: Sequence[str] | None = None,
    ports: Sequence[int] | None = None,
    start: str | None = None,
    end: str | None = None,
    notes: bool | Sequence[str] = True,
    size: tuple[float, float] | None = None,
    y_scale: Scale | None = None,
) -> Figure:
    """Queue length over time; see :func:`series`."""
    return series(
        results,
        "queue",
        nodes=nodes,
        ports=ports,
        start=start,
        end=end,
        notes=notes,
        size=size,
        y_scale=y_scale,
    )


def throughput(
    results: Results,
    *,
    nodes: Sequence[str] | None = None,
    ports: Sequence[int] | None = None,
    start: str | None = None,
    end: str | None = None,
    notes: bool | Sequence[str] = True,
    size: tuple[float, float] | None = None,
    y_scale: Scale | None = None,
) -> Figure:
    """Throughput over time; see :func:`series`."""
    return series(
        results,
        "throughput",
        nodes=nodes,
        ports=ports,
        start=start,
        end=end,
        notes=notes,
        size=size,
        y_scale=y_scale,
    )


def series(
    results: Results,
    kind: str,
    *,
    nodes: Sequence[str] | None = None,
    ports: Sequence[int] | None = None,
    flows: Sequence[int] | None = None,
    start: str | None = None,
    end: str | None = None,
    notes: bool | Sequence[str] = True,
    size: tuple[float, float] | None = None,
    y_scale: Scale | None = None,
) -> Figure:
    """Everything that probes of ``kind`` recorded, over time, in one picture.

    ``nodes`` and ``ports`` choose among ports, by name and by number; ``flows`` and ``nodes`` among
    flows, by number and by sender. The ports or flows of one result share a panel; with several
    results each port or flow has a panel, in which colour and line style tell the results apart, by
    its keys where ``results`` is a dictionary. Flows are the first that there are, called by their
    hosts where that tells them apart; ports those with the highest samples, of throughput,
    utilisation and pauses those with the highest means; ports that stayed at 0 are left out. A
    result of which nothing is drawn is named below.

    ``start`` and ``end`` are simulated times, such as ``"1.5ms"``: samples before and after are
    left out. If a line goes up and down in more samples than there is room for, their mean is
    drawn, and the span from the least to the largest is shaded.

    ``notes=False`` leaves out what stands below the picture, and a list of lines takes its place.
    ``size`` is width and height of the whole picture in inches. ``y_scale`` is ``"linear"`` or
    ``"log"``.
    """
    look, span = Look(notes, size, y_scale=y_scale), Span.of(start, end)
    runs, names = resolve_names(results)
    wanted = check_selection(nodes=nodes, ports=ports, flows=flows)
    lines: list[Line] = []
    clocks: list[tuple[int, int]] = []
    unit = ""
    for index, (run, name) in enumerate(zip(runs, names, strict=True)):
        for entry in series_of_kind(run, name, kind):
            unit = entry.unit
            frame = entry.to_polars()
            probe = run.probes[entry.name]
            clocks.append((picoseconds(probe["start"]), picoseconds(probe["interval"])))
            frame = span.cut(select_rows(frame, run, kind, wanted))
            lines.extend(split_into_lines(index, frame, entry.column, place_names(run, entry.name)))
    if not lines:
        raise span.nothing(f"sample of {kind}") or nothing_to_draw(runs, names, kind)
    at_most = MAX_LINES if len(runs) == 1 else MAX_PANELS
    choice = choose_places(lines, at_most, ranking_of(kind))
    lines = [line for line in lines if line.where in choice.places]
    if kind == "goodput":
        lines = _until_done(lines, runs, max(interval for _, interval in clocks))
    circles = deadlocks_of(runs)
    said = [*_notes(runs, names, circles), *absent_results(lines, names, kind)]
    if kind in _OWN and len({runs[line.run].summary.scheme for line in lines}) > 1:
        said.append(_OWN[kind])
    indices = looks_of(runs[0], choice.places) if len(runs) == 1 else []
    flows_shown = {line.flow for line in lines if line.flow is not None}
    called = flow_names_of(runs, flows_shown) if flows_shown else choice.called
    lines = [replace(line, where=called.get(line.where, line.where)) for line in lines]
    shown = [called.get(where, where) for where in choice.places]
    begin_ps = max(span.start_ps, axis_begin(lines, *map(min, zip(*clocks, strict=True))))
    scene = Scene(
        lines, names, shown, indices, choice.remark, said, begin_ps, _whole_ps(runs), circles, look
    )
    if kind == "pause":
        return draw_bars(scene)
    return draw_curves(scene, probe_kinds()[kind].title, unit)


def _notes(
    runs: Sequence[Result], names: Sequence[str], deadlocks: Sequence[Deadlock]
) -> list[str]:
    """What is to be said of ``runs`` below a picture over time."""
    of_runs = [*cut_off(runs, names), *disturbances(runs, names)]
    return [*deadlock_notes(deadlocks, names), *of_runs, *caveats(runs)]


def _whole_ps(runs: Sequence[Result]) -> int:
    """How long the longest of ``runs`` was."""
    return 1000 * max(int(run.summary.simulated_ns) for run in runs)


def _until_done(lines: Sequence[Line], runs: Sequence[Result], interval_ps: int) -> list[Line]:
    """``lines`` up to where the last of their flows is done, if all are, and to the 0 after it."""
    ends = [
        start_ps + fct_ps if fct_ps is not None else None
        for number, run in enumerate(runs)
        for start_ps, fct_ps in _times(run, {line.flow for line in lines if line.run == number})
    ]
    done = [end for end in ends if end is not None]
    if len(done) < len(ends):
        return list(lines)
    until_ps = max(done, default=0) + 2 * interval_ps
    within = (line.time_ps <= until_ps for line in lines)
    cut = [
        replace(line, time_ps=line.time_ps.filter(kept), values=line.values.filter(kept))
        for line, kept in zip(lines, within, strict=True)
    ]
    return cut if all(len(line.time_ps) for line in cut) else list(lines)


def _times(run: Result, flows: Collection[int | None]) -> list[tuple[int, int | None]]:
    """When ``flows`` started, and how long they took, in picoseconds."""
    table = run.flows.to_polars()
    chosen = table.filter(table["flow_id"].is_in([*flows]))
    return chosen.select("start_ps", "fct_ps").rows()


def pauses(
    results: Results,
    *,
    nodes: Sequence[str] | None = None,
    ports: Sequence[int] | None = None,
    start: str | None = None,
    end: str | None = None,
    notes: bool | Sequence[str] = True,
    size: tuple[float, float] | None = None,
) -> Figure:
    """When ports were paused by their peers, from the trace of PFC frames: a row of bars for each.

    ``nodes`` and ``ports`` choose among them. Those are drawn that were paused longest, in the
    order of their first pause: so congestion is seen to spread. Several results share the rows that
    one has, each port with a row for each of them in which it was paused. If a run ended in a
    deadlock, the ports of its circle are written in bold. A pause ends when it is taken back or
    expires, or when its link fails; that a watchdog ended one is not in the trace.

    ``start``, ``end``, ``notes`` and ``size`` are those of :func:`series`; a port that was paused
    at ``start`` is shown as paused from then on.
    """
    look, span = Look(notes, size), Span.of(start, end)
    runs, names = resolve_names(results)
    wanted = check_selection(nodes=nodes, ports=ports)
    lines: list[Line] = []
    for index, (run, name) in enumerate(zip(runs, names, strict=True)):
        if "pfc" not in run.traces:
            raise ResultError(
                f"{name}: no trace of PFC frames", hint="record it: [trace] with `pfc = true`"
            )
        frame = select_rows(run.traces["pfc"].to_polars(), run, "pfc", wanted)
        lines.extend(paused_lines(index, frame, run))
    lines = [cut for line in lines if (cut := cut_pauses(line, span))]
    if not lines:
        raise span.nothing("pause") or ResultError(
            f"no pause to draw: no PFC frame was traced in {', '.join(names)}"
        )
    longest = sorted(lines, key=lambda one: paused_ps(one.time_ps, one.values), reverse=True)
    total = len({line.where for line in lines})
    rows = Counter(line.where for line in lines)
    drawn: list[str] = []
    for where in dict.fromkeys(line.where for line in longest):
        # A port has a row for each result in which it was paused.
        if drawn and sum(map(rows.__getitem__, [*drawn, where])) > MAX_BARS:
            break
        drawn.append(where)
    lines = [line for line in lines if line.where in drawn]
    first = sorted(lines, key=lambda line: (line.time_ps[0], line.where))
    places = list(dict.fromkeys(line.where for line in first))
    left_out = f"the {len(drawn)} longest paused of {total:,}" if len(drawn) < total else ""
    begin_ps = max(span.start_ps, min(pfc_trace(run)["start_ps"] for run in runs))
    circles = deadlocks_of(runs)
    said = [*_notes(runs, names, circles), *absent_results(lines, names, "pause")]
    if any(map(watchdog_acted, runs)):
        said.append("Pauses that a watchdog ended are drawn until they were taken back.")
    return draw_bars(
        Scene(lines, names, places, [], left_out, said, begin_ps, _whole_ps(runs), circles, look)
    )
