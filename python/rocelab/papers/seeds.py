"""Runs with several seeds. Cases are named ``SEED NAME``."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable

from rocelab.papers.measurements import single
from rocelab.papers.model import Measure, Points, Runs
from rocelab.scenario import Scenario


def cases(
    seeds: Iterable[int], names: Iterable[str], scenario: Callable[[str, int], Scenario]
) -> dict[str, Scenario]:
    """A run for each seed and name."""
    named = tuple(names)
    return {f"{seed} {name}": scenario(name, seed) for seed in seeds for name in named}


def named(runs: Runs, name: str) -> list[str]:
    """The cases of a name, one for each seed."""
    return [case for case in runs if case.split(" ", 1)[1] == name]


def reading(name: str, read: Callable[[str], Measure]) -> Measure:
    """What ``read`` finds, for each seed."""
    return lambda runs: [single(read(case)(runs)) for case in named(runs, name)]


def mean_line(
    name: str, read: Callable[[str], Callable[[Runs], Points]]
) -> Callable[[Runs], Points]:
    """The mean over the seeds of points that all have at the same places."""

    def points(runs: Runs) -> Points:
        curves = [read(case)(runs) for case in named(runs, name)]
        places = curves[0][0]
        return places, [statistics.fmean(at) for at in zip(*(y for _, y in curves), strict=True)]

    return points
