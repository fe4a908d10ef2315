"""What probes saw, as values over time."""

from __future__ import annotations

import math

import polars as pl

from rocelab.result import Result

US = 1e6
"""Picoseconds in a microsecond."""

Samples = tuple[list[float], list[float]]
"""Times, in microseconds where nothing else is said, and the values then."""


def series(
    run: Result, name: str, scale: float, *, node: str | None = None, flow: int | None = None
) -> Samples:
    """The probe ``name``, its values divided by ``scale``: of a node, of a flow, or of all."""
    entry = run.series[name]
    frame = entry.to_polars()
    if node is not None:
        frame = frame.filter(pl.col("node") == node)
    if flow is not None:
        frame = frame.filter(pl.col("flow_id") == flow)
    frame = frame.sort("time_ps")
    return (frame["time_ps"] / US).to_list(), (frame[entry.column] / scale).to_list()


def between(samples: Samples, begin_us: float, end_us: float = math.inf) -> list[float]:
    """The values from ``begin_us`` to before ``end_us``."""
    return [value for time, value in zip(*samples, strict=True) if begin_us <= time < end_us]
