"""The numbers of a run by which sweeps compare runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocelab._percentile import of_column
from rocelab.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result

Number = int | float | None
"""None where the run has no such number: the slowdown where no message completed."""

SMALL_BYTES = 100_000
"""Messages up to this size are small."""


@dataclass(frozen=True)
class Metric:
    """A number of a run."""

    name: str
    """Its column, which ends with the unit where it is not that of a probe's column."""
    title: str
    """What it is called beside an axis."""
    unit: str
    """``bytes``, ``bps``, ``ps``, ``ns``, ``s`` or nothing."""
    read: Callable[[Result], Number]
    whole: bool = False
    """Whether it is an integer."""


def _summary(name: str, title: str, unit: str = "", *, whole: bool = True) -> Metric:
    return Metric(name, title, unit, lambda run: run.summary[name], whole)


def _slowdown(statistic: str, title: str) -> Metric:
    def read(run: Result) -> Number:
        value: Number = run.summary["slowdown"].get(statistic)
        return value

    return Metric(f"slowdown_{statistic}", title, "", read)


def _fct(statistic: str, title: str, read: Callable[[pl.Series], Number]) -> Metric:
    def of_run(run: Result) -> Number:
        return read(run.flows.to_polars()["fct_ps"].drop_nulls())

    return Metric(f"fct_{statistic}_ps", title, "ps", of_run)


def _small_p99(run: Result) -> Number:
    flows = run.flows.to_polars()
    small = flows.filter(flows["size_bytes"] <= SMALL_BYTES)
    return _percentile(99)(small["slowdown"].drop_nulls())


def _mean(values: pl.Series) -> Number:
    return math.fsum(values) / len(values) if len(values) else None


def _percentile(percent: int) -> Callable[[pl.Series], Number]:
    return lambda values: of_column(values, percent) if len(values) else None


METRICS: tuple[Metric, ...] = (
    _summary("flows", "Messages"),
    _summary("flows_done", "Messages done"),
    _slowdown("mean", "Mean FCT slowdown"),
    _slowdown("p50", "p50 FCT slowdown"),
    _slowdown("p95", "p95 FCT slowdown"),
    _slowdown("p99", "p99 FCT slowdown"),
    Metric("small_slowdown_p99", "p99 FCT slowdown up to 100 KB", "", _small_p99),
    _fct("mean", "Mean FCT", _mean),
    _fct("p50", "p50 FCT", _percentile(50)),
    _fct("p95", "p95 FCT", _percentile(95)),
    _fct("p99", "p99 FCT", _percentile(99)),
    _summary("intra_inter_slowdown", "Slowdown intra / inter", whole=False),
    _summary("max_queue_bytes", "Longest queue", "bytes"),
    _summary("pause_frames", "PFC pauses"),
    _summary("paused_ns", "Time paused, all ports", "ns"),
    _summary("drops", "Packets dropped"),
    _summary("lossless_drops", "Lossless packets dropped"),
    _summary("lost_packets", "Packets lost on links"),
    _summary("out_of_order_packets", "Packets out of order"),
    _summary("simulated_ns", "Simulated time", "ns"),
)

_OF_SAMPLES: Mapping[str, tuple[str, Callable[[pl.Series], Number]]] = {
    "mean": ("Mean", _mean),
    "p99": ("p99", _percentile(99)),
    "max": ("Largest", _percentile(100)),
}


def probe_metrics(units: Mapping[str, str]) -> list[Metric]:
    """``NAME.mean``, ``NAME.p99`` and ``NAME.max`` over all samples of each probe in ``units``."""
    return [
        Metric(f"{name}.{statistic}", f"{title} of {name}", unit, _of_samples(name, read))
        for name, unit in units.items()
        for statistic, (title, read) in _OF_SAMPLES.items()
    ]


def _of_samples(name: str, read: Callable[[pl.Series], Number]) -> Callable[[Result], Number]:
    def of_run(run: Result) -> Number:
        series = run.series.get(name)
        return None if series is None else read(series.to_polars()[series.column].drop_nulls())

    return of_run


def select_metrics(names: Iterable[str], known: Sequence[Metric]) -> list[Metric]:
    """Those of ``known`` that have these names, each once."""
    by_name = {metric.name: metric for metric in known}
    found = list(dict.fromkeys(names))
    for name in found:
        if name not in by_name:
            raise ConfigError(f"no metric {name!r}", hint=f"there are: {', '.join(by_name)}")
    return [by_name[name] for name in found]
