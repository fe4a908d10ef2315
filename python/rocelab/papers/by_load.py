"""FCT against load, as the papers with several workloads show it.

Cases are named ``WORKLOAD LOAD SEED SCHEME``, the load in per cent; statistics are those of each
seed, then their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from rocelab.papers.measure import rank
from rocelab.papers.model import Line, Panel, Points, Reading, Runs
from rocelab.scenario import Scenario
from rocelab.store import open_result

LOADS = (30, 40, 50, 60, 70, 80)
"""In per cent of the hosts' rate."""
AVERAGE, TAIL = "average", "p99"

_WARM = 0.1
"""Flows that arrive in this share of the time, at its beginning, are left out."""


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
    """A run for each of ``workloads``, ``loads``, seeds and ``schemes``."""
    return {
        f"{workload} {load} {seed} {scheme}": scenario(workload, load, seed, scheme)
        for workload in workloads
        for load in loads
        for seed in range(1, seeds + 1)
        for scheme in schemes
    }


def panel(
    title: str, workload: str, schemes: Sequence[str], statistic: str, sizes: Sizes = ALL
) -> Panel:
    """A line over the load for each scheme."""
    words = {AVERAGE: "Average FCT (us)", TAIL: "p99 FCT (us)"}
    return Panel(
        title,
        "Load (%)",
        words[statistic],
        [Line(name, _line(workload, name, statistic, sizes)) for name in schemes],
        marked=True,
    )


def at_loads(
    workload: str, scheme: str, statistic: str, sizes: Sizes = ALL
) -> Callable[[Runs], Mapping[str, list[float]]]:
    """The statistic in us, for each load the values of all seeds."""
    return lambda runs: {
        f"{load} %": values
        for load, values in _of_loads(runs, workload, scheme, statistic, sizes).items()
    }


def at_load(workload: str, load: int, scheme: str, statistic: str, sizes: Sizes = ALL) -> Reading:
    """The statistic in us at one load, for each seed."""
    return lambda runs: _of_loads(runs, workload, scheme, statistic, sizes)[load]


def _line(workload: str, scheme: str, statistic: str, sizes: Sizes) -> Callable[[Runs], Points]:
    def points(runs: Runs) -> Points:
        found = _of_loads(runs, workload, scheme, statistic, sizes)
        return [float(load) for load in found], [sum(all_) / len(all_) for all_ in found.values()]

    return points


def _of_loads(
    runs: Runs, workload: str, scheme: str, statistic: str, sizes: Sizes
) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for case, run in runs.items():
        parts = case.split(" ", 3)
        if (parts[0], parts[3]) == (workload, scheme) and run.directory is not None:
            value = _statistics(run.directory, sizes)[statistic]
            found.setdefault(int(parts[1]), []).append(value)
    return found


@cache
def _statistics(directory: Path, sizes: Sizes) -> dict[str, float]:
    """Of the run in ``directory``, in us; its table is not kept, as there are many of them."""
    flows = open_result(directory).flows.to_polars()
    last_ps = flows["start_ps"].max()
    warm_ps = last_ps * _WARM if isinstance(last_ps, int) else 0.0
    fcts = flows.filter(
        (pl.col("start_ps") >= warm_ps)
        & (pl.col("size_bytes") > sizes.least)
        & (pl.col("size_bytes") <= sizes.most)
    )["fct_ps"].drop_nulls()
    mean = fcts.cast(pl.Float64).mean()
    return {
        AVERAGE: mean / 1e6 if isinstance(mean, float) else math.nan,
        TAIL: rank(fcts, 99) / 1e6,
    }
