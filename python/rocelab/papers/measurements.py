"""Measurements on runs, as the papers define them.

A reader takes the name of a case and gives what reads it off the runs: points, or a number. Probes
are called ``queue``, ``busy`` (utilisation) and ``rate`` (of flows) unless said otherwise.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl

from rocelab import _format
from rocelab.papers.model import Line, Measure, Panel, Points, Runs, Value
from rocelab.result import Result
from rocelab.series import US, Samples, between, series

T = TypeVar("T")

MS = 1e3
"""Microseconds in a millisecond, a tick of time axes."""


def of(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """By their names, the cases that are called ``PREFIX NAME``."""
    return {name: f"{prefix} {name}" for name in names}


def each(cases: Mapping[str, str] | Iterable[str], read: Callable[[str], T]) -> dict[str, T]:
    """For each name, what ``read`` makes of its case, which is called as it is unless given."""
    named = cases if isinstance(cases, Mapping) else {name: name for name in cases}
    return {name: read(case) for name, case in named.items()}


def queue_kb(
    case: str, probe: str = "queue", *, per_tick: float = 1.0
) -> Callable[[Runs], Samples]:
    """Queue length over time, which counts in ticks of ``per_tick`` microseconds."""
    return _over(case, probe, 1e3, None, per_tick)


def busy_percent(case: str) -> Callable[[Runs], Samples]:
    """Utilisation over microseconds."""
    return _over(case, "busy", 1e-2, None, 1.0)


def gbps(
    case: str, probe: str, *, node: str | None = None, per_tick: float = 1.0
) -> Callable[[Runs], Samples]:
    """Throughput in Gb/s of the ports of ``probe``, or of one of its nodes, over time."""
    return _over(case, probe, 1e9, node, per_tick)


def rate(case: str, flow: int, *, per_tick: float = 1.0) -> Callable[[Runs], Samples]:
    """The rate in Gb/s that a flow may send at, over time in ticks of ``per_tick`` microseconds.

    Where its scheme sets none, that is the line rate of its host.
    """

    def samples(runs: Runs) -> Samples:
        times, rates = rate_gbps(runs[case], flow)
        return [time / per_tick for time in times], rates

    return samples


def rate_gbps(run: Result, flow: int) -> Samples:
    """The rate in Gb/s that ``flow`` may send at in ``run``, over time in microseconds."""
    entry = run.series["rate"]
    frame = entry.to_polars().filter(pl.col("flow_id") == flow)
    message = run.flows.to_polars().row(by_predicate=pl.col("flow_id") == flow, named=True)
    ports = run.ports.to_polars().filter(pl.col("node") == message["src"])
    line_bps = ports["rate_bps"][0]
    start_ps = message["start_ps"]
    end_ps = run.summary.simulated_ns * 1000
    if message["done"]:
        end_ps = start_ps + message["fct_ps"]
    ticks = pl.DataFrame({"time_ps": _ticks(run, "rate")}, schema={"time_ps": pl.UInt64})
    ticks = ticks.filter(pl.col("time_ps").is_between(start_ps, end_ps, closed="left"))
    rates = ticks.join(frame, on="time_ps", how="left").sort("time_ps")
    values = rates[entry.column].cast(pl.Float64).fill_null(line_bps) / 1e9
    return (rates["time_ps"] / US).to_list(), values.to_list()


def lines(
    cases: Mapping[str, str] | Iterable[str], read: Callable[[str], Callable[[Runs], Points]]
) -> list[Line]:
    """A line for each name, as :func:`each`."""
    return [Line(name, points) for name, points in each(cases, read).items()]


def bars(name: str, readings: Mapping[str, Measure]) -> Line:
    """A group's bars by the words below them."""

    def points(runs: Runs) -> Points:
        return list(readings), [single(reading(runs)) for reading in readings.values()]

    def spread(runs: Runs) -> list[float | None]:
        return [deviation(reading(runs)) for reading in readings.values()]

    return Line(name, points, spread=spread)


def over_us(
    title: str, y: str, shown: Sequence[Line], x_range: tuple[float, float] | None = None
) -> Panel:
    """A panel over microseconds."""
    return Panel(title, "Time (µs)", y, shown, x_range=x_range)


def peak(read: Callable[[Runs], Samples], begin_us: float = 0.0) -> Measure:
    """The largest value from then on."""
    return lambda runs: max(between(read(runs), begin_us))


def mean(
    read: Callable[[Runs], Samples], begin_us: float = 0.0, end_us: float = math.inf
) -> Measure:
    """The mean value in a span."""
    return lambda runs: statistics.fmean(between(read(runs), begin_us, end_us))


def mean_since(
    read: Callable[[Runs], Samples], begin_us: float = 0.0, end_us: float = math.inf
) -> Measure:
    """The mean in a span of samples that each tell of the time since the one before."""

    def reading(runs: Runs) -> float:
        samples = zip(*read(runs), strict=True)
        return statistics.fmean(value for time, value in samples if begin_us < time <= end_us)

    return reading


def pauses_sent(case: str, node: str) -> Measure:
    """PFC pauses that ``node`` sent, by all its ports."""

    def reading(runs: Runs) -> float:
        ports = runs[case].ports.to_polars().filter(pl.col("node") == node)
        return float(ports["pause_frames_sent"].sum())

    return reading


WARM_UP = 0.1
"""Of the time in which flows arrive, what figures leave out unless a paper says otherwise."""


def warmed_up(flows: pl.DataFrame, share: float = WARM_UP) -> pl.DataFrame:
    """``flows`` without those of the first ``share`` of the time in which they arrive."""
    last_ps = flows["start_ps"].max()
    if not isinstance(last_ps, int):
        return flows
    return flows.filter(pl.col("start_ps") >= last_ps * share)


def directory_of(run: Result) -> Path:
    """Where a run is; all runs of figures are saved."""
    assert run.directory is not None, run.summary.name  # noqa: S101
    return run.directory


def first(
    samples: Samples, begin_us: float, *, below: float = -math.inf, above: float = math.inf
) -> float:
    """When a value is first ``below`` or ``above`` a bound from ``begin_us`` on, or infinity."""
    for time, value in zip(*samples, strict=True):
        if time >= begin_us and (value < below or value > above):
            return time
    return math.inf


def settled(curves: Sequence[Samples], begin_us: float, share: float, tolerance: float) -> float:
    """From when on all values stay within ``tolerance`` of ``share``; infinite if never."""
    latest = begin_us
    for times, values in curves:
        off = [
            time
            for time, value in zip(times, values, strict=True)
            if time >= begin_us and abs(value / share - 1) > tolerance
        ]
        if off and off[-1] == times[-1]:
            return math.inf
        latest = max(latest, off[-1] if off else begin_us)
    return latest


def single(value: Value) -> float:
    """A number; the mean of one for each seed."""
    return statistics.fmean(value) if isinstance(value, Sequence) else value


def deviation(value: Value) -> float | None:
    """The standard deviation of one for each seed: of two seeds at least, all with a number."""
    values = value if isinstance(value, Sequence) else [value]
    known = len(values) > 1 and all(map(math.isfinite, values))
    return statistics.stdev(values) if known else None


def _over(
    case: str, probe: str, scale: float, node: str | None, per_tick: float
) -> Callable[[Runs], Samples]:
    def samples(runs: Runs) -> Samples:
        times, values = series(runs[case], probe, scale, node=node)
        return [time / per_tick for time in times], values

    return samples


def _ticks(run: Result, name: str) -> list[int]:
    """The instants at which the probe ``name`` looked."""
    probe = run.probes[name]
    step, begin = (_format.picoseconds(probe[key]) for key in ("interval", "start"))
    end = run.summary.simulated_ns * 1000
    if "end" in probe:
        end = min(end, _format.picoseconds(probe["end"]))
    return list(range(begin, end + 1, step))
