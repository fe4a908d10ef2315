"""Means of several runs and how far they can be trusted."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import cache

CONFIDENCE = 0.95


def interval(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean, and half the width of its 95 % confidence interval; None for a single value.

    By Student's t, as for independent values that are about normally distributed.
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    error = statistics.stdev(values) / math.sqrt(len(values))
    return mean, quantile(len(values) - 1) * error


@cache
def quantile(freedom: int) -> float:
    """The two-sided 5 % quantile of Student's t with ``freedom`` degrees of freedom."""
    low, high = 0.0, math.pi / 2
    # Until halves are no smaller; t is the tangent of the angle, but for a factor.
    while low < (angle := (low + high) / 2) < high:
        if _within(angle, freedom) < CONFIDENCE:
            low = angle
        else:
            high = angle
    return math.sqrt(freedom) * math.tan(angle)


def _within(angle: float, freedom: int) -> float:
    """How probable it is that t is within ``sqrt(freedom) tan(angle)`` either way of 0.

    The finite series for whole degrees of freedom: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    cosine = math.cos(angle)
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for step in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * step / (step + 1)
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total
