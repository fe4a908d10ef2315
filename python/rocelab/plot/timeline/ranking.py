"""Which ports a picture shows where there are more than it has room for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Ranking:
    """How the ports of a kind of samples are put in order."""

    height: Callable[[pl.Series, pl.Series], float]
    """What is larger for ports that come first, of the times of samples and their values."""
    words: str
    """What the first ones are: "the 6 busiest of 26"."""
    idle: str
    """What those did whose height is 0: "20 more stayed at 0"."""
    none: str
    """What is said of all, where the height of each is 0: "none of 1,024 was above 0"."""


def ranking_of(kind: str) -> Ranking:
    """How ports are put in order by samples of ``kind``."""
    return _RANKINGS.get(kind, _BY_PEAK)


def paused_spans(times: pl.Series, values: pl.Series) -> list[tuple[int, int]]:
    """When ``values`` were not zero: begins and ends in ps. A sample stands until the next one."""
    spans: list[tuple[int, int]] = []
    if not peak_of(values):
        # As most ports of a network.
        return spans
    moments = times.to_list()
    for begin, end, value in zip(moments, moments[1:], values.to_list(), strict=False):
        if not value:
            continue
        if spans and spans[-1][1] == begin:
            begin = spans.pop()[0]
        spans.append((begin, end))
    return spans


def paused_ps(times: pl.Series, values: pl.Series) -> float:
    """How long ``values`` were not zero, in picoseconds."""
    return sum(end - begin for begin, end in paused_spans(times, values))


def peak_of(values: pl.Series) -> float:
    """The largest of ``values``; 0 if there is none."""
    most: Any = values.max()
    return float(most or 0)


def _peak(_times: pl.Series, values: pl.Series) -> float:
    return peak_of(values)


def _mean(_times: pl.Series, values: pl.Series) -> float:
    mean: Any = values.mean()
    return float(mean or 0)


_PAUSED = ("longest paused", "not paused", "none of {:,} was paused")
_STAYED = ("stayed at 0", "none of {:,} was above 0")
_BY_PEAK = Ranking(_peak, "highest", *_STAYED)
_BUSIEST = Ranking(_mean, "busiest", *_STAYED)
_RANKINGS = {
    # Nearly every port is at the rate of its link once: the largest sample tells none apart.
    "throughput": _BUSIEST,
    "utilisation": _BUSIEST,
    "pause": Ranking(paused_ps, *_PAUSED),
    "paused-share": Ranking(_mean, *_PAUSED),
}
