"""FCT slowdown by flow size, as the papers with Poisson traffic show it.

Cases are named as in ``seeds``; statistics are those of each seed, then their mean.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping

import polars as pl

from rocelab import _format
from rocelab._percentile import of_column
from rocelab.papers import seeds
from rocelab.papers.measurements import warmed_up
from rocelab.papers.model import Line, Measure, Panel, Points, Runs
from rocelab.result import Result

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
            [Line(name, _line(name, statistic)) for name in schemes],
            by_size=True,
        )
        for letter, statistic in zip("abcd", STATISTICS, strict=True)
    ]


def of_seeds(scheme: str, statistic: str, least: float = 0, most: float = math.inf) -> Measure:
    """The statistic over flows of ``least`` to ``most`` bytes, for each seed."""
    return lambda runs: _of_seeds(runs, scheme, statistic, least, most)


def _of_seeds(runs: Runs, scheme: str, statistic: str, least: float, most: float) -> list[float]:
    return [
        STATISTICS[statistic](_flows(run, least, most)["slowdown"].drop_nulls())
        for run in _runs(runs, scheme)
    ]


def at_sizes(
    scheme: str, statistic: str, above: float = 0, most: float = math.inf
) -> Callable[[Runs], Mapping[str, list[float]]]:
    """The statistic at each size that is drawn, for each seed with flows of that size.

    ``above`` leaves out smaller sizes, and ``most`` larger ones; both are ends of classes.
    """
    return lambda runs: {
        _format.size(float(f"{top:.3g}")): values
        for top, values in _classes(runs, scheme, statistic).items()
        if above < top <= most
    }


def _line(scheme: str, statistic: str) -> Callable[[Runs], Points]:
    def points(runs: Runs) -> Points:
        found = _classes(runs, scheme, statistic)
        return list(found), [statistics.fmean(values) for values in found.values()]

    return points


def _classes(runs: Runs, scheme: str, statistic: str) -> dict[float, list[float]]:
    """By the top of each class of sizes, what the seeds have that have flows of it."""
    found = {}
    # Half decades: 0.1 to 0.316 KB and so on.
    for step in range(4, 20):
        low, top = 10 ** (step / 2), 10 ** ((step + 1) / 2)
        counts = [len(_flows(run, low + 1e-9, top)) for run in _runs(runs, scheme)]
        if sum(counts) >= _MIN_FLOWS:
            of_seeds = _of_seeds(runs, scheme, statistic, low + 1e-9, top)
            found[top] = [value for value in of_seeds if not math.isnan(value)]
    return found


def _runs(runs: Runs, scheme: str) -> list[Result]:
    return [runs[case] for case in seeds.named(runs, scheme)]


def _flows(run: Result, least: float, most: float) -> pl.DataFrame:
    """Flows of these sizes; the first tenth of the time in which they arrive is left out."""
    flows = warmed_up(run.flows.to_polars())
    return flows.filter(pl.col("size_bytes").is_between(least, most))
