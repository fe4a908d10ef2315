"""Slowdowns of flows in bins by their size."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from rocelab._percentile import percentile
from rocelab.plot.span import Span

if TYPE_CHECKING:
    import polars as pl

    from rocelab._rocelab import SizeBin
    from rocelab.result import Result

_MAX_BINS = 20
"""Bins of equal flow count, as in the summary."""

_MAX_APART = 3
"""Up to this number of sizes, points are not connected."""


@dataclass(frozen=True)
class Bin:
    """Flows of about one size."""

    upper_bytes: int
    """The largest size."""
    flows: int
    p50: float
    """Percentiles of the slowdown."""
    p95: float
    p99: float
    tags: frozenset[str] = frozenset()
    """Tags of its flows. Only bins with equal ones are connected."""

    def percentile(self, percent: int) -> float:
        """One of the percentiles that it has."""
        return {50: self.p50, 95: self.p95, 99: self.p99}[percent]


def of_summary(bins: Sequence[SizeBin]) -> list[Bin]:
    """The bins of a summary."""
    return [Bin(one.upper_bytes, one.flows, one.p50, one.p95, one.p99) for one in bins]


def size_bins(run: Result, span: Span) -> list[Bin]:
    """The summary's bins by size, of the flows that start within ``span``, with their tags."""
    flows = span.cut(run.flows.to_polars(), "start_ps")
    done = flows.select("size_bytes", "slowdown", "tag").drop_nulls("slowdown")
    done = done.sort("size_bytes", "slowdown")
    sizes = done["size_bytes"]
    begins = (sizes != sizes.shift(1)).fill_null(value=True).arg_true().to_list()
    cuts = begins
    if len(begins) > _MAX_BINS:
        # Flows of one size are never split: a cut that would split them moves up to the next size.
        spots = [bisect_left(begins, at * len(done) // _MAX_BINS) for at in range(_MAX_BINS)]
        cuts = list(dict.fromkeys(begins[spot] for spot in spots if spot < len(begins)))
    parts = [done[begin:end] for begin, end in pairwise([*cuts, len(done)])]
    return [_bin(part["size_bytes"], part["slowdown"].sort(), part["tag"]) for part in parts]


def _bin(sizes: pl.Series, slowdowns: pl.Series, tags: pl.Series) -> Bin:
    p50, p95, p99 = (percentile(slowdowns, percent) for percent in (50, 95, 99))
    return Bin(sizes[-1], len(sizes), p50, p95, p99, frozenset(tags.unique().to_list()))


def connected(bins: Sequence[Bin]) -> list[list[Bin]]:
    """``bins`` in parts whose points a line connects: their flows have the same tags.

    A line through few sizes would claim what nobody measured, so each of few is alone.
    """
    if len(bins) <= _MAX_APART:
        return [[entry] for entry in bins]
    return _of_equal_tags(bins)


def _of_equal_tags(bins: Sequence[Bin]) -> list[list[Bin]]:
    """``bins`` in parts whose flows have the same tags."""
    return [list(part) for _, part in groupby(bins, lambda entry: entry.tags)]


def mixes_traffic(lists: Sequence[Sequence[Bin]]) -> bool:
    """Whether a line of ``lists`` ends where other traffic begins."""
    return any(len(_of_equal_tags(bins)) > 1 for bins in lists if len(bins) > _MAX_APART)
