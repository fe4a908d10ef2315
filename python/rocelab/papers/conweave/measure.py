"""What is read off ConWeave's runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import polars as pl

from rocelab._balance import imbalance_over_time
from rocelab._percentile import percentile
from rocelab.io.open import open_result
from rocelab.papers import seeds
from rocelab.papers.conweave.setup import INTERVAL_US, LOADS, UPLINKS, WARM_UP
from rocelab.papers.measurements import directory_of, single
from rocelab.papers.model import Measure, Points, Runs
from rocelab.series import US

_PERCENTS = range(101)


def at_loads(
    read: Callable[[str], Measure], scheme: str
) -> Callable[[Runs], Mapping[str, list[float]]]:
    """What ``read`` finds for a case of ``scheme``, at each load the values of all seeds."""
    return lambda runs: {
        f"{load} %": [single(read(case)(runs)) for case in seeds.named(runs, f"{load} {scheme}")]
        for load in LOADS
    }


def imbalance(case: str) -> Measure:
    """The median over leaves and intervals of (max - min) / mean of what uplinks send."""
    return lambda runs: _percentiles(directory_of(runs[case]))[50]


def imbalances(load: int, scheme: str) -> Callable[[Runs], Points]:
    """Their distribution: per cent of leaves and intervals up to a value, means over the seeds."""

    def points(runs: Runs) -> Points:
        of_seeds = [
            _percentiles(directory_of(runs[case])) for case in seeds.named(runs, f"{load} {scheme}")
        ]
        return [statistics.fmean(values) for values in zip(*of_seeds, strict=True)], _PERCENTS

    return points


def counter(name: str, scale: float = 1.0) -> Callable[[str], Measure]:
    """A counter of ConWeave's, over all of a run."""
    return lambda case: lambda runs: runs[case].summary.counters[name] / scale


@cache
def _percentiles(directory: Path) -> list[float]:
    """All percentiles of the imbalance while flows arrive, once the network is warm."""
    run = open_result(directory)
    last_ps = run.flows.to_polars()["start_ps"].max()
    assert isinstance(last_ps, int), "there are flows"  # noqa: S101
    # A sample is of the interval that ends with it.
    begin_ps = last_ps * WARM_UP + INTERVAL_US * US
    sampled = imbalance_over_time(run, UPLINKS).filter(
        pl.col("time_ps").is_between(begin_ps, last_ps)
    )
    ordered = sampled["imbalance"].sort()
    return [percentile(ordered, percent) for percent in _PERCENTS]
