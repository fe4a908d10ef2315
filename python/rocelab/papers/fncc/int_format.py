"""FNCC: INT in 64 bits beside exact INT, in the chain of three switches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from rocelab.papers import verdict
from rocelab.papers.fncc.dumbbell import SHOWN_US, dumbbell, mean_busy, peak_queue
from rocelab.papers.measurements import MS, each, lines, mean, over_us, queue_kb, rate
from rocelab.papers.model import Claim, Figure, Measure, Panel

_FORMATS = ("FNCC with exact INT", "FNCC with 64-bit INT")
_WRAPPED_US = 20000.0
"""Longer than it takes the fields for time (16.8 ms) and bytes (10.7 ms at 100 Gb/s) to wrap."""


_SAME = 0.02
_ROUNDED = (
    "records of 64 bits are rounded to 1 ns, 128 B and 80 B, which counts over the few packets "
    "between two ACKs"
)


def _same(id_: str, text: str, readings: Mapping[str, Measure], unit: str) -> Claim:
    return Claim(
        id_,
        f"{text} with 64-bit records as with exact ones",
        "",
        verdict.agree(readings, unit, _SAME),
        assumption="20 ms, in which time and bytes wrap around",
        reason=_ROUNDED,
        expected=f"the same within {100 * _SAME:g} %",
    )


HW = Figure(
    id="hw",
    title="INT in 64 bits, as All_INT_Table of section 4.3 holds it",
    cases=lambda reading, _quick: {
        name: dumbbell(reading, name, 100, stop_us=_WRAPPED_US, interval="5us") for name in _FORMATS
    },
    completion_times=False,
    panels=[
        over_us(
            "Queue",
            "Queue length (KB)",
            lines(_FORMATS, queue_kb),
            SHOWN_US,
        ),
        Panel(
            "Rate of the first flow",
            "Time (ms)",
            "Flow rate (Gb/s)",
            lines(_FORMATS, partial(rate, flow=0, per_tick=MS)),
        ),
    ],
    claims=[
        _same("queue", "Peak queue", each(_FORMATS, peak_queue), "KB"),
        _same("utilisation", "Utilisation", each(_FORMATS, mean_busy), "%"),
        _same(
            "rate",
            "The first flow's rate after 17 ms",
            {name: mean(rate(name, 0), 17000) for name in _FORMATS},
            "Gb/s",
        ),
    ],
)
