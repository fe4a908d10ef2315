"""Traces for Perfetto, a viewer of timelines: flows and pauses as slices, series as counters."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from rocelab import _format
from rocelab._begun import flows_that_began
from rocelab._format import picoseconds
from rocelab._pauses import Pause, pauses_of
from rocelab._ports import port_names_of
from rocelab.errors import MissingPackageError
from rocelab.io.files import write_atomic

if TYPE_CHECKING:
    from rocelab.result import Result
    from rocelab.table import Series

PS_PER_NS = 1000
MEANS = frozenset({"throughput", "utilisation", "paused-share", "latency", "goodput"})
"""Kinds of probes whose samples are of the time since the last one, and not of a moment."""
_SEQUENCE = 1
"""All packets are of one writer."""
_BATCH = 10_000
"""Packets that are encoded at once."""


def write_trace(result: Result, path: Path) -> None:
    """Writes what ``result`` has to ``path``: flows, series, and pauses where they were traced.

    Times are rounded down to nanoseconds. Each node is a group of tracks. A host has the flows that
    it sent, on as many tracks as there were at a time; a port has its pauses and its counters. A
    flow that was not over ends with the run, a pause with the trace of PFC frames; one that a
    watchdog ended is there until it was taken back. Viewers show a counter's value until the next
    one. So a sample equal to the one before is left out, a mean since the last sample stands where
    that time begins, and where a probe had no value, as after the end of a flow, the counter is 0.
    Raises :class:`MissingPackageError` without the package perfetto.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto
    except ImportError:
        raise MissingPackageError(
            "a trace", "perfetto", install="pip install 'rocelab[perfetto]'"
        ) from None
    made = _Trace(proto)
    made.add_flows(flows_that_began(result), int(result.summary.simulated_ns))
    names = port_names_of(result)
    if "pfc" in result.traces:
        made.add_pauses(pauses_of(result, result.traces["pfc"].to_polars()), names)
    for series in result.series.values():
        made.add_series(series, _Samples.of(result, series), names)
    write_atomic(path, made.encoded())


@dataclass(frozen=True)
class _Samples:
    """When a probe looked."""

    interval_ps: int
    until_ps: int
    """No sample was taken after this time."""

    @staticmethod
    def of(result: Result, series: Series) -> _Samples:
        """When the probe of ``series`` looked."""
        probe = result.probes[series.name]
        summary = result.summary
        stopped = summary.recording_stopped_ps
        # None is taken at the end of the run itself, and none from when on nothing is recorded.
        ends = [int(summary.simulated_ns) * PS_PER_NS - 1]
        ends += [] if stopped is None else [int(stopped) - 1]
        ends += [picoseconds(probe["end"])] if "end" in probe else []
        return _Samples(picoseconds(probe["interval"]), min(ends))


def _changes(
    table: pl.DataFrame, keys: Sequence[str], column: str, samples: _Samples
) -> pl.DataFrame:
    """Values of ``column`` that differ from the one before, and 0 where a probe had no value.

    A row for each of ``keys``, which come last, with lists of times and of these values.
    """
    at, value = pl.col("at"), pl.col("value")
    end = at + samples.interval_ps
    seen = (
        table.select(*keys, at=pl.col("time_ps").cast(pl.Int64), value=pl.col(column))
        .drop_nulls()
        .with_columns(
            ends=(end < at.shift(-1, fill_value=samples.until_ps + 1)).over(keys),
            follows=(at.shift(1) + samples.interval_ps >= at).fill_null(value=False).over(keys),
            before=value.shift(1).over(keys),
        )
    )
    changed = seen.filter(~pl.col("follows") | (value != pl.col("before")))
    ends = seen.filter("ends", value != 0).select(*keys, at=end, value=pl.lit(0.0))
    points = pl.concat([changed.select(*keys, "at", value.cast(pl.Float64)), ends])
    points = points.sort("at", maintain_order=True)
    return points.group_by(keys, maintain_order=True).agg("at", "value")


class _Trace:
    """The packets of a trace, in the order in which they are added."""

    def __init__(self, proto: Any) -> None:  # noqa: ANN401
        self._proto = proto
        self._packets: list[Any] = []
        self._done: list[bytes] = []
        self._tracks: dict[tuple[str, ...], int] = {}

    def encoded(self) -> bytes:
        """The whole; messages of a kind that are written one after the other are one."""
        self._encode()
        return b"".join(self._done)

    def add_flows(self, flows: pl.DataFrame, end_ns: int) -> None:
        """A slice for each flow, on the first track of its sender that is free."""
        lanes: dict[str, list[tuple[int, int]]] = {}
        for flow in flows.sort("start_ps", "flow_id").iter_rows(named=True):
            begin, end = flow["start_ps"] // PS_PER_NS, end_ns
            if flow["fct_ps"] is not None:
                end = (flow["start_ps"] + flow["fct_ps"]) // PS_PER_NS
            used = lanes.setdefault(flow["src"], [])
            # The lane that has been free for the longest, or another one.
            lane = heapq.heappop(used)[1] if used and used[0][0] <= begin else len(used)
            heapq.heappush(used, (end, lane))
            track = self._track(flow["src"], f"flows {lane + 1}")
            notes = {
                key: flow[key]
                for key in ("flow_id", "tag", "dst", "size_bytes", "slowdown", "unfinished")
                # Earlier versions did not say why a flow is unfinished.
                if flow.get(key) is not None
            }
            title = f"{flow['tag']} to {flow['dst']}, {_format.size(flow['size_bytes'])}"
            self._slice(track, begin, end, title, notes)

    def add_pauses(self, pauses: Iterable[Pause], names: Mapping[tuple[str, int], str]) -> None:
        """A slice for each time in which a port's priority is paused."""
        for node, port, priority, begin_ps, end_ps in pauses:
            called = f"{names[node, port]} paused, priority {priority}"
            span_ns = begin_ps // PS_PER_NS, end_ps // PS_PER_NS
            self._slice(self._track(node, called), *span_ns, "paused", {"priority": priority})

    def add_series(
        self, series: Series, samples: _Samples, names: Mapping[tuple[str, int], str]
    ) -> None:
        """A counter for each port or flow that a probe looked at."""
        table = series.to_polars()
        is_of_ports = "node" in table.columns
        keys = ["node", "port"] if is_of_ports else ["flow_id"]
        unit = series.column.rsplit("_", 1)[-1]
        before_ps = samples.interval_ps if series.kind in MEANS else 0
        changes = _changes(table, keys, series.column, samples)
        for *key, times, values in changes.iter_rows():
            group, what = (
                (str(key[0]), names[str(key[0]), int(key[1])])
                if is_of_ports
                else ("flows", f"flow {key[0]}")
            )
            track = self._track(group, f"{what} {series.name}", unit=unit)
            for at_ps, value in zip(times, values, strict=True):
                self._count(track, (at_ps - before_ps) // PS_PER_NS, value)

    def _slice(self, track: int, begin: int, end: int, title: str, notes: dict[str, Any]) -> None:
        events = self._proto.TrackEvent
        packet = self._packet(begin)
        packet.track_event.type = events.TYPE_SLICE_BEGIN
        packet.track_event.track_uuid = track
        packet.track_event.name = title
        for key, value in notes.items():
            note = packet.track_event.debug_annotations.add()
            note.name = key
            if isinstance(value, int):
                note.uint_value = value
            elif isinstance(value, float):
                note.double_value = value
            else:
                note.string_value = value
        packet = self._packet(end)
        packet.track_event.type = events.TYPE_SLICE_END
        packet.track_event.track_uuid = track

    def _count(self, track: int, at: int, value: float) -> None:
        packet = self._packet(at)
        packet.track_event.type = self._proto.TrackEvent.TYPE_COUNTER
        packet.track_event.track_uuid = track
        packet.track_event.double_counter_value = value

    def _track(self, *names: str, unit: str | None = None) -> int:
        """The track of this name below those before it, made where it is not there yet.

        With ``unit`` it has a counter's values.
        """
        if names in self._tracks:
            return self._tracks[names]
        parent = self._track(*names[:-1]) if len(names) > 1 else 0
        track = self._tracks[names] = len(self._tracks) + 1
        descriptor = self._packet(None).track_descriptor
        descriptor.uuid = track
        descriptor.name = names[-1]
        if parent:
            descriptor.parent_uuid = parent
        if unit == "bytes":
            descriptor.counter.unit = self._proto.CounterDescriptor.UNIT_SIZE_BYTES
        elif unit is not None:
            descriptor.counter.unit_name = unit
        return track

    def _packet(self, at: int | None) -> Any:  # noqa: ANN401
        if len(self._packets) >= _BATCH:
            self._encode()
        packet = self._proto.TracePacket()
        packet.trusted_packet_sequence_id = _SEQUENCE
        if at is not None:
            packet.timestamp = at
        self._packets.append(packet)
        return packet

    def _encode(self) -> None:
        self._done.append(self._proto.Trace(packet=self._packets).SerializeToString())
        self._packets = []
