"""FCT slowdown by flow size, as the papers with Poisson traffic show it.

Cases are named as in ``seeds``; statistics are those of each seed, then their mean.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import polars as pl

from rocelab import _format
from rocelab._percentile import of_column
from rocelab.io.open import open_result
from rocelab.papers import seeds
from rocelab.papers.measurements import WARM_UP, directory_of, warmed_up
from rocelab.papers.model import Line, Measure, Panel, Points, Runs

STATISTICS: Mapping[str, Callable[[pl.Series], float]] = {
    "Average": lambda values: float(values.sum()) / len(values) if len(values) else math.nan,
    "Median": lambda values: of_column(values, 50),
    "95th percentile": lambda values: of_column(values, 95),
    "99th percentile": lambda values: of_column(values, 99),
}

_MIN_FLOWS = 20
"""A class of sizes with fewer flows, over all seeds, is not drawn."""


def panels(schemes: tuple[str, ...]) -> list[Panel]:
    """A panel for each statistic, with a line for each scheme."""
    return [
        Panel(
            f"({letter}) {statistic}",
            "Flow size",
            "FCT slowdown",
            [Line(name, points(name, statistic)) for name in schemes],
            by_size=True,
        )
        for letter, statistic in zip("abcd", STATISTICS, strict=True)
    ]


def of_seeds(
    scheme: str,
    statistic: str,
    least: float = 0,
    most: float = math.inf,
    *,
    warm_up: float = WARM_UP,
) -> Measure:
    """The statistic over flows of ``least`` to ``most`` bytes, for each seed.

    ``warm_up`` is the share of the time in which flows arrive that is left out.
    """
    return lambda runs: _of_seeds(runs, scheme, statistic, least, most, warm_up)


def _of_seeds(
    runs: Runs, scheme: str, statistic: str, least: float, most: float, warm_up: float
) -> list[float]:
    return [
        STATISTICS[statistic](_flows(run, least, most, warm_up)["slowdown"].drop_nulls())
        for run in _directories(runs, scheme)
    ]


def at_sizes(
    scheme: str, statistic: str, above: float = 0, most: float = math.inf
) -> Callable[[Runs], Mapping[str, list[float]]]:
    """The statistic at each size that is drawn, for each seed with flows of that size.

    ``above`` leaves out smaller sizes, and ``most`` larger ones; both are ends of classes.
    """
    return lambda runs: {
        _format.size(float(f"{top:.3g}")): values
        for top, values in _classes(runs, scheme, statistic, WARM_UP).items()
        if above < top <= most
    }


def points(scheme: str, statistic: str, *, warm_up: float = WARM_UP) -> Callable[[Runs], Points]:
    """The statistic over the tops of the classes of sizes, means over the seeds."""

    def read(runs: Runs) -> Points:
        found = _classes(runs, scheme, statistic, warm_up)
        return list(found), [statistics.fmean(values) for values in found.values()]

    return read


def _classes(runs: Runs, scheme: str, statistic: str, warm_up: float) -> dict[float, list[float]]:
    """By the top of each class of sizes, what the seeds have that have flows of it.

    That is no number where none of these is done.
    """
    found = {}
    directories = _directories(runs, scheme)
    # Half decades: 0.1 to 0.316 KB and so on.
    for step in range(4, 20):
        least, top = math.floor(10 ** (step / 2)) + 1, 10 ** ((step + 1) / 2)
        counts = [len(_flows(run, least, top, warm_up)) for run in directories]
        if sum(counts) >= _MIN_FLOWS:
            of_seeds = _of_seeds(runs, scheme, statistic, least, top, warm_up)
            pairs = zip(counts, of_seeds, strict=True)
            found[top] = [value for count, value in pairs if count]
    return found


def _directories(runs: Runs, scheme: str) -> list[Path]:
    """Where the runs of a scheme are, one for each seed."""
    return [directory_of(runs[case]) for case in seeds.named(runs, scheme)]


def _flows(directory: Path, least: float, most: float, warm_up: float) -> pl.DataFrame:
    """Flows of these sizes, without those that arrive in the share ``warm_up`` of the time."""
    return _all_flows(directory, warm_up).filter(pl.col("size_bytes").is_between(least, most))


@lru_cache(maxsize=8)
def _all_flows(directory: Path, warm_up: float) -> pl.DataFrame:
    """Of a run; kept for some runs, as each class of sizes and statistic reads it again."""
    flows = open_result(directory).flows.to_polars().select("start_ps", "size_bytes", "slowdown")
    return warmed_up(flows, warm_up).drop("start_ps")
