"""FCT and the like against load, as the papers with several workloads show it.

Cases are named ``WORKLOAD LOAD SEED SCHEME``, the load in per cent; numbers are those of each seed,
then their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from rocelab._percentile import of_column
from rocelab.io.open import open_result
from rocelab.papers.measurements import directory_of, single, warmed_up
from rocelab.papers.model import Line, Measure, Panel, Points, Runs
from rocelab.scenario import Scenario, compact

LOADS = (30, 40, 50, 60, 70, 80)
"""In per cent of the hosts' rate."""
AVERAGE, TAIL = "average", "p99"
LABELS = {AVERAGE: "Average FCT (µs)", TAIL: "p99 FCT (µs)"}

WARM = "flows of the first tenth of the arrivals are left out"
"""What claims say of :func:`warmed_up`."""


@dataclass(frozen=True)
class Sizes:
    """Flows of more than ``least`` and at most ``most`` bytes."""

    least: float = 0.0
    most: float = math.inf


ALL = Sizes()


def cases(
    workloads: Sequence[str],
    loads: Sequence[int],
    seeds: int,
    schemes: Sequence[str],
    scenario: Callable[[str, int, int, str], Scenario],
) -> dict[str, Scenario]:
    """A run for each of ``workloads``, ``loads``, seeds and ``schemes``, without its messages."""
    return {
        f"{workload} {load} {seed} {scheme}": compact(scenario(workload, load, seed, scheme))
        for workload in workloads
        for load in loads
        for seed in range(1, seeds + 1)
        for scheme in schemes
    }


def fct(statistic: str, sizes: Sizes = ALL) -> Callable[[str], Measure]:
    """Reads the statistic of a case in us."""

    def read(case: str) -> Measure:
        def reading(runs: Runs) -> float:
            return _statistics(directory_of(runs[case]), sizes)[statistic]

        return reading

    return read


def panel(
    title: str,
    y: str,
    workload: str,
    schemes: Iterable[str],
    read: Callable[[str], Measure],
    x: str = "Load (%)",
    *,
    log_y: bool = False,
    y_range: tuple[float, float] | None = None,
) -> Panel:
    """A line over the load for each scheme, means over the seeds."""
    shown = [Line(name, _line(workload, name, read)) for name in schemes]
    return Panel(title, x, y, shown, log_y=log_y, y_range=y_range, marked=True)


def at_loads(
    workload: str, scheme: str, read: Callable[[str], Measure]
) -> Callable[[Runs], Mapping[str, list[float]]]:
    """What ``read`` finds, for each load the values of all seeds."""
    return lambda runs: {
        f"{load} %": [single(read(case)(runs)) for case in found]
        for load, found in _of_loads(runs, workload, scheme).items()
    }


def at_load(
    workload: str, load: int, scheme: str, read: Callable[[str], Measure]
) -> Callable[[Runs], list[float]]:
    """What ``read`` finds at one load, for each seed."""
    return lambda runs: [
        single(read(case)(runs)) for case in _of_loads(runs, workload, scheme)[load]
    ]


def _line(workload: str, scheme: str, read: Callable[[str], Measure]) -> Callable[[Runs], Points]:
    def points(runs: Runs) -> Points:
        found = _of_loads(runs, workload, scheme)
        values = [[single(read(case)(runs)) for case in cases] for cases in found.values()]
        return [float(load) for load in found], [sum(all_) / len(all_) for all_ in values]

    return points


def _of_loads(runs: Runs, workload: str, scheme: str) -> dict[int, list[str]]:
    """The cases of each load, one for each seed."""
    found: dict[int, list[str]] = {}
    for case in runs:
        parts = case.split(" ", 3)
        if (parts[0], parts[3]) == (workload, scheme):
            found.setdefault(int(parts[1]), []).append(case)
    return found


@cache
def _statistics(directory: Path, sizes: Sizes) -> dict[str, float]:
    """Of the run in ``directory``, in us; its table is not kept, as there are many of them."""
    flows = warmed_up(open_result(directory).flows.to_polars())
    size = pl.col("size_bytes")
    fcts = flows.filter((size > sizes.least) & (size <= sizes.most))["fct_ps"].drop_nulls()
    mean = fcts.cast(pl.Float64).mean()
    return {
        AVERAGE: mean / 1e6 if isinstance(mean, float) else math.nan,
        TAIL: of_column(fcts, 99) / 1e6,
    }
