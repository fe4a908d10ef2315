"""Titles of axes, and the clock of the time axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocelab.plot.timeline.select import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LATE = 100
"""If the first time exceeds this multiple of the span, times count from a moment before it."""

_SMALL_PART = 0.05
"""Below this part of the unit that suits the run, a picture has a unit of its own."""

_PS_PER = (("s", 1e12), ("ms", 1e9), ("µs", 1e6), ("ns", 1e3))


@dataclass(frozen=True, slots=True)
class Clock:
    """How a picture shows times: after a moment, in a unit of ``ps`` picoseconds."""

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
        unit, ps = _time_unit(self.origin_ps)
        return f"{what} after {self.origin_ps / ps:.15g} {unit} ({self.unit})"


def axis_begin(lines: Sequence[Line], start_ps: int, interval_ps: int) -> int:
    """Where the time axis begins: at the probe's start, unless more than half would be empty.

    Means of an interval come at its end, and flows may begin late.
    """
    first_ps = min(int(line.time_ps[0]) for line in lines)
    last_ps = max(int(line.time_ps[-1]) for line in lines)
    return start_ps if first_ps - start_ps <= max(last_ps - first_ps, interval_ps) else first_ps


def choose_clock(begin_ps: int, end_ps: int, whole_ps: int) -> Clock:
    """The clock for times from ``begin_ps`` to ``end_ps`` of a run of ``whole_ps``.

    All pictures of a run have the unit that suits its length, unless they show a small part of it.
    Late short spans get an origin, and a unit of their own.
    """
    span_ps = end_ps - begin_ps
    origin_ps = 0
    if 0 < span_ps * _LATE < begin_ps:
        # The roundest moment that is not so long before that the labels would be long again.
        origin_ps = next(
            begin_ps // step * step
            for step in (10**power for power in range(len(str(begin_ps)), -1, -1))
            if begin_ps // step and begin_ps % step <= 10 * span_ps
        )
    unit, ps = _time_unit(whole_ps, 2)
    if origin_ps or end_ps < ps * _SMALL_PART:
        unit, ps = _time_unit(end_ps - origin_ps, 2)
    return Clock(origin_ps, unit, ps)


def _time_unit(ps: float, at_least: int = 1) -> tuple[str, float]:
    """The largest unit of which ``ps`` holds ``at_least`` this many."""
    return next(((unit, size) for unit, size in _PS_PER if ps >= at_least * size), _PS_PER[-1])


def set_time_axis(axes: Axes, what: str) -> None:
    """Names the axis ``what``, and has its labels where they have room."""
    from rocelab.plot.ticks import RoomyLocator

    axes.set_xlabel(what)
    axes.xaxis.set_major_locator(RoomyLocator())
