"""Time series: queue length, throughput, rate and whatever else a probe recorded."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from rocelab import _format
from rocelab._format import picoseconds
from rocelab.catalogue import probe_kinds
from rocelab.errors import ResultError
from rocelab.plot.style import (
    HEADROOM,
    LINE_IN,
    caveats,
    figure,
    fit_titles,
    legend,
    line_style,
    panel_note,
    resolve_names,
    style,
    title,
    wrap,
    y_label,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rocelab.plot.style import Results
    from rocelab.result import Result
    from rocelab.table import Series

MAX_LINES = 6
"""Lines in the one panel of one result."""
MAX_BARS = 24
"""Rows of pauses, of all results together."""
_MAX_LISTED = 10
"""Nodes, ports or flows that an error lists."""
MAX_PANELS = 5
"""Panels, each with a line for each of several results."""

_ROW_WIDTH = 22
"""Letters of what names a row of bars in a line."""
_FLOW_WIDTH = 24
"""Letters of what a flow is called other than by its number."""

_PREFIXED_FROM = 1e5
"""From here on numbers whose unit has no larger ones get prefixes: 100G."""

_LATE = 100
"""Times that begin later than so many times their span are told from a moment shortly before."""

_PS_PER = (("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3))
_TITLES = {
    "queue": "Queue length",
    "pause": "Paused",
    "port-state": "Port state",
    "alpha": "Congestion estimate (alpha probe)",
    "latency": "Packet latency",
    "flow-queue": "Queue of the flow's own",
    "flow-credits": "Credits",
    "flow-rate": "Rate given",
    "goodput": "Goodput",
    "input-queue": "Input queue length",
}
_OWN = {
    "port-state": "What the state of a port stands for is each scheme's own.",
    "alpha": "Each scheme estimates congestion in its own way and on its own scale.",
}
"""What pictures of several schemes say of kinds that each scheme gives a meaning."""


@dataclass(frozen=True, slots=True)
class _Line:
    run: int
    where: str
    flow: int | None
    time_ps: pl.Series
    values: pl.Series
    peak: float


@dataclass(frozen=True, slots=True)
class _Clock:
    """How a picture tells times: in a unit of so many ``ps``, after a moment."""

    origin_ps: int
    unit: str
    ps: float

    def read(self, time_ps: float) -> float:
        """``time_ps`` as it is drawn."""
        return (time_ps - self.origin_ps) / self.ps

    def label(self, what: str) -> str:
        """What stands below the axis of ``what``."""
        if not self.origin_ps:
            return f"{what} ({self.unit})"
        unit, ps = _unit(self.origin_ps)
        return f"{what} after {self.origin_ps / ps:.15g} {unit} ({self.unit})"


def queue(
    results: Results,
    *,
    nodes: Sequence[str] | None = None,
    ports: Sequence[int] | None = None,
) -> Figure:
    """Queue length over time."""
    return series(results, "queue", nodes=nodes, ports=ports)


def throughput(
    results: Results,
    *,
    nodes: Sequence[str] | None = None,
    ports: Sequence[int] | None = None,
) -> Figure:
    """Throughput over time."""
    return series(results, "throughput", nodes=nodes, ports=ports)


def series(
    results: Results,
    kind: str,
    *,
    nodes: Sequence[str] | None = None,
    ports: Sequence[int] | None = None,
    flows: Sequence[int] | None = None,
) -> Figure:
    """Everything that probes of ``kind`` recorded, over time, in one picture.

    ``nodes`` and ``ports`` choose among ports, by name and by number; ``flows`` and ``nodes`` among
    flows, by number and by sender. The ports or flows of one result share a panel; with several
    results each port or flow has a panel, in which colour and line style tell the results apart, by
    its keys where ``results`` is a dictionary. Flows are the first that there are, called by their
    hosts where that tells them apart; ports those with the highest peaks; ports that stayed at 0
    are left out. A result of which nothing is drawn is named below.
    """
    runs, names = resolve_names(results)
    wanted = _wanted(nodes=nodes, ports=ports, flows=flows)
    lines: list[_Line] = []
    clocks: list[tuple[int, int]] = []
    unit = ""
    for index, (run, name) in enumerate(zip(runs, names, strict=True)):
        for entry in _of_kind(run, name, kind):
            unit = entry.unit
            frame = entry.to_polars()
            probe = run.probes[entry.name]
            clocks.append((picoseconds(probe["start"]), picoseconds(probe["interval"])))
            frame = _chosen(frame, run, kind, wanted)
            lines.extend(_split(index, frame, entry.column, _places_of(run, entry.name)))
    if not lines:
        raise _nothing_to_draw(runs, names, kind)
    at_most = MAX_LINES if len(runs) == 1 else MAX_PANELS
    shown, left_out = _places(lines, at_most, paused=kind == "pause")
    lines = [line for line in lines if line.where in shown]
    if kind == "goodput":
        lines = _until_done(lines, runs, max(interval for _, interval in clocks))
    notes = [*caveats(runs), *_absent(lines, names, kind)]
    if kind in _OWN and len({runs[line.run].summary["scheme"] for line in lines}) > 1:
        notes.append(_OWN[kind])
    flows_shown = {line.flow for line in lines if line.flow is not None}
    flow_names = _flow_names(runs, flows_shown) if flows_shown else {}
    lines = [replace(line, where=flow_names.get(line.where, line.where)) for line in lines]
    shown = [flow_names.get(where, where) for where in shown]
    begin_ps = _begin(lines, *map(min, zip(*clocks, strict=True)))
    if kind == "pause":
        return _bars(lines, names, shown, left_out, notes, begin_ps)
    what = _TITLES.get(kind, kind.capitalize())
    return _curves(lines, names, shown, left_out, notes, begin_ps, what, unit)


def _until_done(lines: Sequence[_Line], runs: Sequence[Result], interval_ps: int) -> list[_Line]:
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


def _wanted(**chosen: Iterable[object] | None) -> dict[str, list[object]]:
    """What is ``chosen``, as lists. Raises :class:`TypeError` where they cannot be what they are.

    ``nodes`` are names, ``ports`` and ``flows`` numbers.
    """
    wanted: dict[str, list[object]] = {}
    for what, given in chosen.items():
        if given is None:
            continue
        kind, said = (str, 'names such as ["s0"]') if what == "nodes" else (Integral, "numbers")
        several = list(given) if isinstance(given, Iterable) else [None]
        if isinstance(given, str) or not all(isinstance(one, kind) for one in several):
            raise TypeError(f"{what} must be a list of {said}, not {given!r}")
        wanted[what] = several
    return wanted


def _chosen(
    frame: pl.DataFrame, run: Result, kind: str, wanted: Mapping[str, list[object]]
) -> pl.DataFrame:
    """The rows of ``frame``, samples of ``kind``, that are ``wanted``."""
    columns = {"nodes": "node", "ports": "port"}
    if "flow_id" in frame.columns:
        columns = {"nodes": "flow_id", "flows": "flow_id"}
    for what, chosen in wanted.items():
        if what not in columns:
            raise ResultError(
                f"{kind} is of {'flows' if what == 'ports' else 'ports'}: {what} chooses none",
                hint=f"choose with {' or '.join(columns)}",
            )
        if what == "nodes" and columns[what] == "flow_id":
            flows = run.flows.to_polars()
            chosen = flows.filter(flows["src"].is_in(chosen))["flow_id"].to_list()
        frame = frame.filter(frame[columns[what]].is_in(chosen))
    return frame


def _flow_names(runs: Sequence[Result], flows: Collection[int]) -> dict[str, str]:
    """What to call ``flows`` other than by their numbers: by their hosts, with tags if several.

    Empty where that is long, is not the same in all of ``runs``, or does not tell them apart.
    """
    import polars as pl

    known: set[tuple[int, str, str]] = set()
    for run in runs:
        rows = run.flows.to_polars().filter(pl.col("flow_id").is_in(flows))
        ends = pl.format("{} > {}", "src", "dst").alias("ends")
        known.update(rows.select("flow_id", "tag", ends).iter_rows())
    if len({tag for _, tag, _ in known}) > 1:
        found = {f"flow {flow}": f"{tag} {ends}" for flow, tag, ends in known}
    else:
        found = {f"flow {flow}": ends for flow, _, ends in known}
    short = all(len(name) <= _FLOW_WIDTH for name in found.values())
    unique = len(known) == len(found) == len(set(found.values()))
    return found if short and unique else {}


def _begin(lines: Sequence[_Line], start_ps: int, interval_ps: int) -> int:
    """Where the time axis begins: at the probe's start, unless more than half would be empty.

    Means of an interval come at its end, and flows may begin late.
    """
    first_ps = min(int(line.time_ps[0]) for line in lines)
    last_ps = max(int(line.time_ps[-1]) for line in lines)
    return start_ps if first_ps - start_ps <= max(last_ps - first_ps, interval_ps) else first_ps


def pauses(
    results: Results,
    *,
    nodes: Sequence[str] | None = None,
    ports: Sequence[int] | None = None,
) -> Figure:
    """When ports were paused by their peers, from the trace of PFC frames: a row of bars for each.

    ``nodes`` and ``ports`` choose among them. Those are drawn that were paused longest, in the
    order of their first pause: so congestion is seen to spread. Several results share the rows that
    one has, each port with a row for each of them in which it was paused.
    """
    runs, names = resolve_names(results)
    wanted = _wanted(nodes=nodes, ports=ports)
    lines: list[_Line] = []
    for index, (run, name) in enumerate(zip(runs, names, strict=True)):
        if "pfc" not in run.traces:
            raise ResultError(
                f"{name}: no trace of PFC frames", hint="record it: [trace] with `pfc = true`"
            )
        frame = _chosen(run.traces["pfc"].to_polars(), run, "pfc", wanted)
        lines.extend(_paused(index, frame, run))
    if not lines:
        raise ResultError(f"no pause to draw: no PFC frame arrived in {', '.join(names)}")
    longest = sorted(lines, key=_paused_ps, reverse=True)
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
    left_out = f"the {len(drawn)} longest paused of {total}" if len(drawn) < total else ""
    begin_ps = min(_traced(run)["start_ps"] for run in runs)
    notes = [*caveats(runs), *_absent(lines, names, "pause")]
    return _bars(lines, names, places, left_out, notes, begin_ps)


def _absent(lines: Sequence[_Line], names: Sequence[str], what: str) -> list[str]:
    """Says of which results nothing is among ``lines``."""
    drawn = {line.run for line in lines}
    absent = [name for run, name in enumerate(names) if run not in drawn]
    return [f"{', '.join(absent)}: no {what} is drawn"] if absent else []


def _traced(run: Result) -> Mapping[str, Any]:
    """What the summary of ``run`` says of its trace of PFC frames."""
    return next(one for one in run.summary["traces"] if one["name"] == "pfc")


def _paused(run_number: int, frame: pl.DataFrame, run: Result) -> list[_Line]:
    """A line for each port of ``frame``: 1 from the first priority that is paused to the last."""
    import polars as pl

    called = _port_names(run)
    cuts = _cuts(run)
    end_ps = _traced(run)["end_ps"]
    lines = []
    for (node, port), rows in frame.partition_by("node", "port", as_dict=True).items():
        paused: set[int] = set()
        times, values = [], []
        frames = rows.select("time_ps", "priority", "pause").rows()
        cut = [(time_ps, -1, False) for time_ps in cuts.get((str(node), int(port)), [])]
        for time_ps, priority, pause in sorted(frames + cut, key=lambda event: event[0]):
            if priority < 0:
                # No frame says so: who sent the pause is not there any more.
                paused.clear()
            else:
                (paused.add if pause else paused.discard)(priority)
            times.append(time_ps)
            values.append(float(bool(paused)))
        times.append(max(end_ps, times[-1]))
        values.append(0.0)
        where = called[str(node), int(port)]
        line = _Line(run_number, where, None, pl.Series(times), pl.Series(values), max(values))
        lines.append(line)
    return lines


def _curves(
    lines: Sequence[_Line],
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
    clock = _clock(begin_ps, max(int(line.time_ps[-1]) for line in lines))
    with style():
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
        _time_axis(panels[-1], clock.label("Time"))
        # Once for all panels: a limit that is set keeps what is drawn later from moving the others.
        panels[-1].set_xlim(left=clock.read(begin_ps))
        panel_note(panels[0], left_out)
        legend(drawn, panels, places if alone else names)
        fit_titles(drawn, panels)
    return drawn


def _bars(
    lines: Sequence[_Line],
    names: Sequence[str],
    places: Sequence[str],
    left_out: str,
    notes: Sequence[str],
    begin_ps: int,
) -> Figure:
    """When something was paused: a row of bars for each line, the first on top."""
    rows = sorted(lines, key=lambda line: (places.index(line.where), line.run))
    end_ps = max(int(line.time_ps[-1]) for line in lines)
    clock = _clock(begin_ps, end_ps)
    with style():
        called = [wrap(_name(line, names, places), _ROW_WIDTH) for line in rows]
        row_in = max(0.22, 0.14 * max(map(len, called)))
        # The panel beside the names may be too narrow for a moment that is named in the same line.
        label = clock.label("Time").replace(" after", "\nafter").split("\n")
        height_in = 0.7 + row_in * len(rows) + LINE_IN * (len(label) - 1)
        drawn, (axes,) = figure(height_in=height_in, notes=notes)
        for row, line in enumerate(rows):
            axes.broken_barh(
                [(clock.read(begin), (end - begin) / clock.ps) for begin, end in _spans(line)],
                (row - 0.35, 0.7),
                color=line_style(line.run).colour,
                linewidth=0,
                # Not moved to whole pixels: a pixel's shade tells how much of it was paused.
                snap=False,
            )
        axes.set_yticks(range(len(rows)), ["\n".join(lines) for lines in called], parse_math=False)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        # One sample is no span of time.
        left, right = clock.read(begin_ps), clock.read(end_ps)
        axes.set_xlim(left, right if right > left else left + 1)
        axes.grid(visible=False, axis="y")
        axes.set_ylabel(_TITLES["pause"])
        _time_axis(axes, "\n".join(label))
        title(axes, names[0] if len(names) == 1 else places[0] if len(places) == 1 else "")
        panel_note(axes, left_out)
        fit_titles(drawn, [axes])
    return drawn


def _spans(line: _Line) -> list[tuple[int, int]]:
    """When ``line`` was not zero: begins and ends in ps. A sample stands until the next one."""
    spans: list[tuple[int, int]] = []
    times = line.time_ps.to_list()
    for begin, end, value in zip(times, times[1:], line.values, strict=False):
        if not value:
            continue
        if spans and spans[-1][1] == begin:
            begin = spans.pop()[0]
        spans.append((begin, end))
    return spans


def _name(line: _Line, names: Sequence[str], places: Sequence[str]) -> str:
    """What tells a line from the others: its result, its place, or both."""
    if len(names) == 1:
        return line.where
    return names[line.run] if len(places) == 1 else f"{names[line.run]}, {line.where}"


def _of_kind(run: Result, name: str, kind: str) -> list[Series]:
    recorded = [entry for entry in run.series.values() if entry.kind == kind]
    if recorded:
        return recorded
    known = sorted({entry.kind for entry in run.series.values()})
    kinds = probe_kinds()
    raise ResultError(
        f"{name}: no series of kind {kind}; there are: {', '.join(known) or 'none'}",
        hint="record it with a [[probe]]: "
        f'name = "{kind}", kind = "{kind}", interval = "1us", nodes = ["*"]'
        if kind in kinds
        else f"probes record {', '.join(kinds)}",
    )


def _paused_ps(line: _Line) -> float:
    return sum(end - begin for begin, end in _spans(line))


def _nothing_to_draw(runs: Sequence[Result], names: Sequence[str], kind: str) -> ResultError:
    recorded = [entry for run in runs for entry in run.series.values() if entry.kind == kind]
    if any(len(entry) for entry in recorded):
        return ResultError(
            f"no {kind} to draw: nothing was chosen", hint=f"there are {_recorded(runs, kind)}"
        )
    return ResultError(
        f"no {kind} to draw: {', '.join(names)} recorded none",
        hint=f"a series is empty where the scheme has no {kind} or no sample was due",
    )


def _recorded(runs: Sequence[Result], kind: str) -> str:
    """What ``nodes``, ``ports`` and ``flows`` can choose among samples of ``kind``."""
    found: dict[str, set[Any]] = {}
    for run in runs:
        for entry in run.series.values():
            if entry.kind != kind:
                continue
            frame = entry.to_polars()
            if "flow_id" in frame.columns:
                flows = run.flows.to_polars()
                seen = flows.filter(flows["flow_id"].is_in(frame["flow_id"].to_list()))
                chosen = {"nodes": seen["src"], "flows": seen["flow_id"]}
            else:
                chosen = {"nodes": frame["node"].unique(), "ports": frame["port"].unique()}
            for what, several in chosen.items():
                found.setdefault(what, set()).update(several)
    return " and ".join(f"{what} {_first_of(sorted(several))}" for what, several in found.items())


def _first_of(several: Sequence[object]) -> str:
    """The first of ``several``."""
    listed = ", ".join(map(str, several[:_MAX_LISTED]))
    return listed if len(several) <= _MAX_LISTED else f"{listed}, ..."


def _places(lines: Sequence[_Line], at_most: int, *, paused: bool) -> tuple[list[str], str]:
    """The places of ``lines`` to draw, and a remark about those that are left out.

    Flows are the first ones, so that all pictures show the same. Ports are those with the highest
    peaks, or that were ``paused`` longest; those with none are left out, unless all have none.
    """
    flows: dict[str, int] = {}
    heights: dict[str, float] = {}
    for line in lines:
        if line.flow is not None:
            flows[line.where] = line.flow
        height = _paused_ps(line) if paused else line.peak
        heights[line.where] = max(heights.get(line.where, 0.0), height)
    total = len(heights)
    if flows:
        shown = sorted(flows, key=flows.__getitem__)[:at_most]
        return shown, f"the first {at_most} of {total}" if at_most < total else ""
    busy = [where for where in heights if heights[where]]
    highest = sorted(busy or heights, key=lambda where: -heights[where])[:at_most]
    # In the order of their names, which is how people look for them.
    shown = [where for where in heights if where in highest]
    if paused and not busy:
        return shown, f"none of {total} was paused"
    if at_most < len(busy or heights):
        return shown, f"the {at_most} {'longest paused' if paused else 'highest'} of {total}"
    if len(shown) < total:
        idle = "not paused" if paused else "stayed at 0"
        return shown, f"{total - len(shown)} more {idle}"
    return shown, ""


def _draw(
    axes: Axes,
    lines: Sequence[_Line],
    clock: _Clock,
    value_scale: float,
    names: Sequence[str],
    index_of: Callable[[_Line], int],
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


def _clock(begin_ps: int, end_ps: int) -> _Clock:
    """How to tell times from ``begin_ps`` to ``end_ps``: where they differ little, only by that."""
    span_ps = end_ps - begin_ps
    origin_ps = 0
    if 0 < span_ps * _LATE < begin_ps:
        # The roundest moment that is not so long before that the labels would be long again.
        origin_ps = next(
            begin_ps // step * step
            for step in (10**power for power in range(len(str(begin_ps)), -1, -1))
            if begin_ps // step and begin_ps % step <= 10 * span_ps
        )
    return _Clock(origin_ps, *_unit(end_ps - origin_ps, 2))


def _unit(ps: float, at_least: int = 1) -> tuple[str, float]:
    """The largest unit of which ``ps`` is ``at_least`` so many."""
    return next(((unit, size) for unit, size in _PS_PER if ps >= at_least * size), _PS_PER[-1])


def _time_axis(axes: Axes, what: str) -> None:
    """Names the axis ``what``, and has its labels where they have room."""
    from rocelab.plot.ticks import RoomyLocator

    axes.set_xlabel(what)
    axes.xaxis.set_major_locator(RoomyLocator())


def _cuts(run: Result) -> dict[tuple[str, int], list[int]]:
    """When the link of each port fails, in picoseconds within the trace."""
    from rocelab.result import failures_of

    begin_ps, end_ps = (_traced(run)[key] for key in ("start_ps", "end_ps"))
    failed: dict[frozenset[str], list[int]] = defaultdict(list)
    for failure in failures_of(run.scenario_toml):
        at_ps = picoseconds(failure["at"])
        if begin_ps <= at_ps <= end_ps:
            failed[frozenset(failure["link"].split(":"))].append(at_ps)
    rows = run.ports.to_polars().select("node", "port", "peer").rows() if failed else []
    return {(node, port): failed.get(frozenset((node, peer)), []) for node, port, peer in rows}


def _port_names(run: Result) -> dict[tuple[str, int], str]:
    """What to call each port: by the nodes of its link, as probes do."""
    rows = run.ports.to_polars().select("node", "port", "peer").rows()
    links = Counter((node, peer) for node, _, peer in rows)
    return {
        (node, port): f"{node}:{peer}" if links[node, peer] == 1 else f"{node}:{peer} ({port})"
        for node, port, peer in rows
    }


def _places_of(run: Result, probe: str) -> dict[tuple[str, int], str]:
    """What to call the ports of ``probe``: with its priority, where it looks at one alone."""
    priority = run.probes[probe].get("priority")
    suffix = "" if priority is None else f", priority {priority}"
    return {port: name + suffix for port, name in _port_names(run).items()}


def _split(
    run: int, frame: pl.DataFrame, column: str, port_names: Mapping[tuple[str, int], str]
) -> list[_Line]:
    """A line for each port or flow of ``frame``."""
    keys = ["flow_id"] if "flow_id" in frame.columns else ["node", "port"]
    lines = []
    for key, rows in sorted(frame.partition_by(keys, as_dict=True, maintain_order=True).items()):
        flow = key[0] if keys == ["flow_id"] else None
        where = port_names[key[0], key[1]] if flow is None else f"flow {flow}"
        values = rows[column]
        peak = max(values.to_list(), default=0.0)
        lines.append(_Line(run, where, flow, rows["time_ps"], values, peak))
    return lines
