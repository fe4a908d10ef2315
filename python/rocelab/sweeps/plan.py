"""The plan of a sweep: base scenario, axes and seeds, and the runs that come of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path

from rocelab import _memory
from rocelab.errors import ConfigError
from rocelab.scenario import Scenario, Settings, Texts, apply_settings
from rocelab.simulate import check_count
from rocelab.sweeps import grid
from rocelab.sweeps.grid import Axis, Combination

MAX_RUNS = 100_000
"""Runs of a sweep: more would take their time before the first begins."""


@dataclass(frozen=True)
class Case:
    """A run of a sweep."""

    combination: Combination
    seed: int
    place: str
    """Its result directory within that of the sweep."""


class SweepPlan:
    """All runs of a sweep, in the order of its tables: each combination with each seed."""

    scenario: Scenario
    """The scenario that all runs start from."""
    axes: Sequence[Axis]
    seeds: Sequence[int]
    cases: Sequence[Case]
    """All runs: combinations in the order of the axes, of each all seeds."""

    zipped: Sequence[Sequence[str]]
    """Groups of keys that change together."""
    written_in: tuple[str, Settings] | None
    """The file of the scenario, and what was set beside that; None if there was none."""
    combinations: Sequence[Combination]
    """Values of all axes, in the order in which tables have them."""
    _files: Texts
    """The files that the scenarios of runs name, each read once: they may change meanwhile."""

    def __init__(
        self,
        scenario: Scenario,
        axes: Sequence[Axis],
        seeds: int,
        zipped: Iterable[Iterable[str]] = (),
    ) -> None:
        """``seeds`` is how many, from the scenario's own on."""
        grid.check_keys([axis.key for axis in axes])
        self.zipped = _key_groups(zipped)
        groups = grid.check_pairs(axes, self.zipped)
        count = check_count("seeds", seeds)
        if not axes and count == 1:
            raise ConfigError(
                "a sweep of one run",
                hint="vary a key with --over (over=), or the seed with --seeds",
            )
        paired = {at for group in groups for at in group[1:]}
        sizes = (len(axis.values) for at, axis in enumerate(axes) if at not in paired)
        runs = count * prod(sizes)
        if runs > MAX_RUNS:
            raise ConfigError(
                f"{runs:,} runs are more than the {MAX_RUNS:,} that a sweep may have",
                hint="take fewer seeds or values, or share them out among several sweeps",
            )
        self.scenario = scenario
        self._files = scenario._files
        self.written_in = scenario._written_in
        self.axes = tuple(axes)
        self.combinations = grid.combinations(axes, groups)
        first = scenario.to_dict()["run"]["seed"]
        self.seeds = range(first, first + count)
        self.cases = [
            Case(combination, seed, (Path("runs") / home / str(seed)).as_posix())
            for combination in self.combinations
            for home in (grid.directory(axes, combination),)
            for seed in self.seeds
        ]

    def others(self, across: Axis) -> list[int]:
        """The positions of the axes that tell combinations with one value of ``across`` apart.

        Keys that change together count as one: none of those with ``across``, else the first. If
        it has a value again, all of them are needed.
        """
        left_out = {across.key}
        for group in self.zipped:
            if across.key in group:
                left_out |= set() if across.repeats else set(group)
            else:
                left_out |= self._followers(group)
        several = [at for at, axis in enumerate(self.axes) if len(axis.distinct) > 1]
        return [at for at in several if self.axes[at].key not in left_out]

    @property
    def followers(self) -> set[str]:
        """Keys that change with an earlier one, which tells their values apart."""
        return {key for group in self.zipped for key in self._followers(group)}

    def _followers(self, group: Sequence[str]) -> set[str]:
        first = next(axis for axis in self.axes if axis.key == group[0])
        return set() if first.repeats else set(group[1:])

    def scenario_of(self, case: Case) -> Scenario:
        """The scenario of a run. Errors name combination and seed."""
        pairs = zip(self.axes, case.combination, strict=True)
        settings = [(axis.key, value.text) for axis, value in pairs]
        with self._naming(case):
            settings.append(("run.seed", str(case.seed)))
            made = apply_settings(self.scenario, tuple(settings), self._files)
        self._files = made._files
        return made

    def checked(self, case: Case, at_a_time: int) -> tuple[Scenario, str | None]:
        """The scenario of a run after all checks, and a warning if memory may not suffice.

        Memory must suffice for ``at_a_time`` parallel runs. Errors name combination and seed.
        """
        scenario = self.scenario_of(case)
        with self._naming(case):
            # Of each seed, as who sends to whom may matter.
            shortage = _memory.shortage(scenario, "run", at_a_time)
            scenario._checked.check()
        return scenario, shortage

    @contextmanager
    def _naming(self, case: Case) -> Iterator[None]:
        """Has errors name combination and seed of a run."""
        try:
            yield
        except ConfigError as error:
            named = [grid.name(self.axes, case.combination)] if self.axes else []
            named += [f"seed {case.seed}"] if case.seed != self.seeds[0] else []
            if not named:
                raise
            varied = ("run.seed", *(axis.key for axis in self.axes))
            raise ConfigError(
                f"{error.message}; with {', '.join(named)}",
                file=None if any(map(error.is_of, varied)) else error.file,
                key=error.key,
                line=error.line,
                hint=error.hint,
            ) from None


def _key_groups(zipped: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Groups of keys as users give them, which may be generators."""
    try:
        groups = [None if isinstance(group, str) else tuple(group) for group in zipped]
    except TypeError:
        groups = [None]
    found = tuple(group for group in groups if group is not None)
    if len(found) < len(groups):
        raise ConfigError("zipped: needs groups of keys", hint='such as [("pfc.xoff", "pfc.xon")]')
    return found
