"""Percentiles by nearest rank: each is one of the values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def percentile(ordered: Sequence[float] | pl.Series, percent: float) -> float:
    """The smallest of the sorted values that at least ``percent`` per cent do not exceed."""
    return float(ordered[max(math.ceil(len(ordered) * percent / 100) - 1, 0)])


def of_column(values: pl.Series, percent: float) -> float:
    """The percentile by nearest rank of ``values`` in any order. NaN if there are none."""
    return math.nan if values.is_empty() else percentile(values.sort(), percent)
