"""Which ports and flows are drawn, and what they are called."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

from rocelab._ports import port_names_of
from rocelab.catalogue import probe_kinds
from rocelab.errors import ResultError
from rocelab.plot.timeline.ranking import Ranking, peak_of

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result
    from rocelab.table import Series


_MAX_LISTED = 10
"""Nodes, ports or flows that an error lists."""

_FLOW_WIDTH = 24
"""Letters of what a flow is called other than by its number."""


@dataclass(frozen=True, slots=True)
class Line:
    """What was recorded of one port or flow."""

    run: int
    where: str
    flow: int | None
    time_ps: pl.Series
    values: pl.Series
    peak: float


def check_selection(**chosen: Iterable[object] | None) -> dict[str, list[object]]:
    """What is ``chosen``, as lists. Raises :class:`TypeError` where they cannot be what they are.

    ``nodes`` are names, ``ports`` and ``flows`` numbers.
    """
    kinds = {
        "nodes": (str, 'names such as ["s0"]'),
        "ports": (Integral, "numbers, which `result.ports` has beside their peers"),
        "flows": (Integral, "numbers"),
    }
    wanted: dict[str, list[object]] = {}
    for what, given in chosen.items():
        if given is None:
            continue
        kind, said = kinds[what]
        several = list(given) if isinstance(given, Iterable) else [None]
        if isinstance(given, str) or not all(isinstance(one, kind) for one in several):
            raise TypeError(f"{what} must be a list of {said}, not {given!r}")
        wanted[what] = several
    return wanted


def select_rows(
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


def flow_names_of(runs: Sequence[Result], flows: Collection[int]) -> dict[str, str]:
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
        found = {f"flow {flow}": f"{tag}: {ends}" for flow, tag, ends in known}
    else:
        found = {f"flow {flow}": ends for flow, _, ends in known}
    short = all(len(name) <= _FLOW_WIDTH for name in found.values())
    unique = len(known) == len(found) == len(set(found.values()))
    return found if short and unique else {}


def absent_results(lines: Sequence[Line], names: Sequence[str], what: str) -> list[str]:
    """Says of which results nothing is among ``lines``."""
    drawn = {line.run for line in lines}
    absent = [name for run, name in enumerate(names) if run not in drawn]
    return [f"{', '.join(absent)}: no {what} is drawn"] if absent else []


def series_of_kind(run: Result, name: str, kind: str) -> list[Series]:
    """What probes of ``kind`` recorded in ``run``, which errors call ``name``.

    Raises :class:`ResultError` if there is no such probe.
    """
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


def nothing_to_draw(runs: Sequence[Result], names: Sequence[str], kind: str) -> ResultError:
    """The error if no sample of ``kind`` is left to draw, with the reason."""
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
            places = entry._places
            if "flow_id" in places.columns:
                flows = run.flows.to_polars()
                seen = flows.filter(flows["flow_id"].is_in(places["flow_id"].to_list()))
                chosen = {"nodes": seen["src"], "flows": seen["flow_id"]}
            else:
                chosen = {"nodes": places["node"], "ports": places["port"]}
            for what, several in chosen.items():
                found.setdefault(what, set()).update(several)
    return " and ".join(f"{what} {_first_of(sorted(several))}" for what, several in found.items())


def _first_of(several: Sequence[object]) -> str:
    """The first of ``several``."""
    listed = ", ".join(map(str, several[:_MAX_LISTED]))
    return listed if len(several) <= _MAX_LISTED else f"{listed}, ..."


@dataclass(frozen=True)
class Choice:
    """The ports or flows that a picture shows."""

    places: list[str]
    remark: str
    """What is said of those that are left out."""
    called: Mapping[str, str] = field(default_factory=dict)
    """What places are called where that is not their own name."""


def choose_places(lines: Sequence[Line], at_most: int, ranking: Ranking) -> Choice:
    """The places of ``lines`` to draw.

    Flows are the first ones, so that all pictures show the same. Ports are the first by
    ``ranking``, without those whose height is 0. Where the height of all is 0 and there is no room
    for all, the first one stands for them.
    """
    flows: dict[str, int] = {}
    heights: dict[str, float] = {}
    for line in lines:
        if line.flow is not None:
            flows[line.where] = line.flow
        height = ranking.height(line.time_ps, line.values)
        heights[line.where] = max(heights.get(line.where, 0.0), height)
    total = len(heights)
    if flows:
        shown = sorted(flows, key=flows.__getitem__)[:at_most]
        return Choice(shown, f"the first {at_most} of {total:,}" if at_most < total else "")
    busy = [where for where in heights if heights[where]]
    if not busy:
        every, none = list(heights), ranking.none.format(total)
        if total <= at_most:
            return Choice(every, none)
        return Choice(every[:1], none, {every[0]: f"all {total:,}"})
    first = sorted(busy, key=lambda where: -heights[where])[:at_most]
    # In the order of their names, which is how people look for them.
    shown = [where for where in heights if where in first]
    if at_most < len(busy):
        return Choice(shown, f"the {at_most} {ranking.words} of {total:,}")
    idle = total - len(shown)
    return Choice(shown, f"{idle:,} more {ranking.idle}" if idle else "")


def place_names(run: Result, probe: str) -> dict[tuple[str, int], str]:
    """What to call the ports of ``probe``: with its priority, where it looks at one alone."""
    priority = run.probes[probe].get("priority")
    suffix = "" if priority is None else f", priority {priority}"
    return {port: name + suffix for port, name in port_names_of(run).items()}


def split_into_lines(
    run: int, frame: pl.DataFrame, column: str, port_names: Mapping[tuple[str, int], str]
) -> list[Line]:
    """A line for each port or flow of ``frame``."""
    keys = ["flow_id"] if "flow_id" in frame.columns else ["node", "port"]
    # A frame for each of thousands of ports takes many times as long as lists of their samples.
    found = frame.group_by(keys, maintain_order=True).agg("time_ps", column).sort(keys)
    samples = zip(found["time_ps"], found[column], strict=True)
    lines = []
    for key, (times, values) in zip(found.select(keys).iter_rows(), samples, strict=True):
        flow = key[0] if keys == ["flow_id"] else None
        where = port_names[key[0], key[1]] if flow is None else f"flow {flow}"
        lines.append(Line(run, where, flow, times, values, peak_of(values)))
    return lines
