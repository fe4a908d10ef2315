"""The search for the values of keys that make a metric best, with Optuna.

Runs are stored as those of a sweep. The search is deterministic: with the same scenario, ranges and
goals it tries the same values in the same order. So a search that is started again finds its runs,
and one with more runs goes on where the shorter one ended.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocelab._coverage import Coverage
from rocelab._doubts import doubts_of
from rocelab._format import parse, pluralise
from rocelab.catalogue import caveats
from rocelab.errors import ConfigError, MissingPackageError
from rocelab.io.layout import TUNE
from rocelab.scenario import Scenario, apply_settings, compact
from rocelab.simulate import check_count
from rocelab.sweeps import grid, store
from rocelab.sweeps.grid import Axis, Value
from rocelab.sweeps.metrics import Metric, front, select_metrics
from rocelab.sweeps.parallel import Workers
from rocelab.sweeps.ranges import ValueRange, range_of
from rocelab.sweeps.remote import run_scenarios
from rocelab.sweeps.warnings import dedup_warnings, without_effect

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import optuna
    import polars as pl

    from rocelab.result import Result

_BATCH = 4
"""Trials that are chosen together. Not the number of jobs, on which no result may depend."""
_CONDITION = re.compile(r"(?P<name>.+?)(?P<sign><=|>=|=)(?P<limit>[^<>=]+)")
_UNITS = {
    "bytes": ("B", 1.0),
    "bps": ("bps", 1.0),
    "ps": ("ps", 1.0),
    "ns": ("ps", 1e3),
    "s": ("ps", 1e12),
}
"""Units of metrics: that of a quantity, and how much of it one is."""
_LIMITS = {"": "2.5", "B": "1MB", "bps": "10Gbps", "ps": "50us"}
"""What a limit looks like, by the unit of a quantity."""
_MOST_ASKED = 20
"""How many combinations are asked for at most, for each that is to be tried: some come again."""
_BEST_SHARE = 10
"""One trial of this many is among the best ones, whose ranges are printed."""


@dataclass(frozen=True)
class Condition:
    """What a metric must be for a combination to count."""

    metric: Metric
    sign: str
    """``<=``, ``>=`` or ``=``."""
    limit: float

    def excess(self, value: float) -> float:
        """How far a value is from what it must be; 0 or less if it is."""
        match self.sign:
            case "<=":
                return value - self.limit
            case ">=":
                return self.limit - value
            case _:
                return abs(value - self.limit)


@dataclass
class Trial:
    """A combination that was tried."""

    values: tuple[Value, ...]
    goals: tuple[float, ...] | None = None
    """The means over the seeds; None where a run lacks one."""
    limited: tuple[float, ...] = ()
    """Those of the metrics that conditions are about."""
    excess: tuple[float, ...] = ()
    """How far each condition is missed; 0 or less where it holds."""
    digests: tuple[str, ...] = ()
    """Those of its runs, seed by seed."""
    coverage: Coverage = field(default_factory=Coverage.of)
    """How many flows of its runs were done."""

    @property
    def holds(self) -> bool:
        """Whether all conditions hold."""
        return self.goals is not None and all(one <= 0 for one in self.excess)


@dataclass
class Tuning:
    """What a search found."""

    axes: Sequence[Axis | Range]
    goals: Sequence[Metric]
    conditions: Sequence[Condition] = ()
    trials: list[Trial] = field(default_factory=list)
    found: int = 0
    """How many runs were there already."""
    refused: list[str] = field(default_factory=list)
    """Why combinations were left out that make no valid scenario."""
    importance: dict[str, float] = field(default_factory=dict)
    """How much of the first goal's variation each key explains, as shares of 1; empty if there are
    too few trials, or if it does not vary."""
    runs: int = 0
    """How many runs the trials have."""
    doubts: list[tuple[str, list[str]]] = field(default_factory=list)
    """Runs, with warnings that cast doubt on their numbers."""
    caveats: list[str] = field(default_factory=list)
    """What to know of the schemes of the runs, each once."""

    def best(self) -> list[Trial]:
        """The trials that hold and that no other such trial beats, best first by the first goal."""
        costs = {at: self._cost(one) for at, one in enumerate(self.trials) if one.holds}
        return [self.trials[at] for at in sorted(front(costs), key=lambda at: costs[at])]

    @property
    def limits(self) -> dict[int, Metric]:
        """The metrics of conditions that are no goals, each once, by the place of a condition."""
        places = {one.metric.name: at for at, one in reversed([*enumerate(self.conditions)])}
        goals = {metric.name for metric in self.goals}
        return {
            at: self.conditions[at].metric
            for name, at in reversed(places.items())
            if name not in goals
        }

    def nearest(self, at: int) -> float | None:
        """The value of a condition's metric that misses its limit the least, or meets it."""
        tried = [one for one in self.trials if one.limited]
        return min(tried, key=lambda one: one.excess[at]).limited[at] if tried else None

    def ranges_of_the_best(self) -> dict[str, tuple[str, str]]:
        """For each key the smallest and the largest value among the best tenth of the trials."""
        ranked = sorted((one for one in self.trials if one.holds), key=self._cost)
        best = ranked[: max(1, len(ranked) // _BEST_SHARE)]
        found = {}
        for at, axis in enumerate(self.axes):
            labels = [one.values[at].label for one in best]
            if labels:
                ordered = sorted(dict.fromkeys(labels), key=_magnitude)
                found[axis.key] = (ordered[0], ordered[-1])
        return found

    @property
    def warnings(self) -> list[str]:
        """What the user should know of the combinations and of the keys."""
        outcomes = {one.values: one.digests for one in self.trials}
        lines = dedup_warnings(self.doubts, self.runs)
        lines += without_effect([axis.key for axis in self.axes], outcomes)
        if len(set(outcomes.values())) > 1 and len(known := self.first_goals) == 1:
            lines.append(f"{self.goals[0].name} is {known.pop():.6g} in all combinations")
        if self.refused:
            count = len(self.refused)
            makes = pluralise(count, "combination makes", "combinations make")
            were = "was left out:" if count == 1 else "were left out, such as"
            lines.append(f"{makes} no valid scenario and {were} {self.refused[0]}")
        return lines

    def note(self, trial: Trial, results: Mapping[str, Result]) -> None:
        """Notes what casts doubt on the numbers of ``trial``, whose runs are in these places."""
        trial.coverage = Coverage.of(*(one.summary for one in results.values()))
        self.runs += len(results)
        self.doubts += [(place, doubts_of(one)) for place, one in results.items()]
        told = [*self.caveats, *caveats(list(results.values()))]
        self.caveats = list(dict.fromkeys(told))

    @property
    def first_goals(self) -> set[float]:
        """All values of the first goal."""
        return {one.goals[0] for one in self.trials if one.goals is not None}

    def table(self) -> pl.DataFrame:
        """One row for each trial, in their order."""
        import polars as pl

        columns: dict[str, list[Any]] = {
            axis.key: [one.values[at].label for one in self.trials]
            for at, axis in enumerate(self.axes)
        }
        for at, metric in enumerate(self.goals):
            columns[metric.name] = [one.goals[at] if one.goals else None for one in self.trials]
        for at, metric in self.limits.items():
            columns[metric.name] = [one.limited[at] if one.limited else None for one in self.trials]
        columns["holds"] = [one.holds for one in self.trials]
        return pl.DataFrame(columns)

    def _cost(self, trial: Trial) -> tuple[float, ...]:
        pairs = zip(self.goals, trial.goals or (), strict=True)
        return tuple(-value if metric.more_is_better else value for metric, value in pairs)


@dataclass(frozen=True)
class Range:
    """A key whose values are any in a range."""

    key: str
    values: ValueRange


def parse_space(text: str) -> Axis | Range:
    """The values of a key: ``KEY=LOW..HIGH``, ``KEY=LOW..HIGHlog`` or ``KEY=V1,V2,...``."""
    key, equals, values = text.partition("=")
    found = range_of(key.strip(), values.strip()) if equals else None
    if found:
        return Range(key.strip(), found)
    choice = grid.parse_axis(text)
    grid.check_values(choice)
    return choice


def parse_condition(text: str, known: Sequence[Metric]) -> Condition:
    """A condition such as ``drops=0`` or ``max_queue_bytes<=1MB``."""
    found = _CONDITION.fullmatch(text.strip())
    number = None
    if found:
        limit = found["limit"].strip()
        parsed = parse(limit)
        try:
            number = parsed[0] if parsed else float(limit)
        except ValueError:
            number = None
    if found is None or number is None or not math.isfinite(number):
        raise ConfigError(
            f"--subject-to {text}: needs a metric, =, <= or >=, and a number",
            hint="such as drops=0 or max_queue_bytes<=1MB",
        )
    (metric,) = select_metrics([found["name"].strip()], known)
    quantity = parse(found["limit"].strip())
    if quantity is None:
        return Condition(metric, found["sign"], number)
    # Quantities are in bytes, bits per second and picoseconds; columns in ns or s are not.
    base, scale = _UNITS.get(metric.unit, ("", 1.0))
    if quantity[1] != base:
        unit = f"is in {metric.unit}" if metric.unit else "is a plain number"
        raise ConfigError(
            f"--subject-to {text}: {metric.name} {unit}",
            hint=f"such as {metric.name}{found['sign']}{_LIMITS[base]}",
        )
    return Condition(metric, found["sign"], number / scale)


def tune(
    scenario: Scenario,
    space: Sequence[Axis | Range],
    goals: Sequence[Metric],
    conditions: Sequence[Condition],
    *,
    runs: int,
    seeds: int,
    out: Path,
    force: bool = False,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Tuning:
    """Tries ``runs`` combinations, each with ``seeds`` seeds, and stores all results in ``out``.

    With ``executor`` runs are made there, instead of here.
    """
    workers = Workers(jobs, executor)
    check_count("runs", runs)
    check_count("seeds", seeds)
    grid.check_keys([axis.key for axis in space])
    study = _study(scenario, goals, conditions)
    done = Tuning(space, goals, conditions)
    first = scenario.to_dict()["run"]["seed"]
    known: dict[tuple[str, ...], Trial] = {}
    every = _combinations(space, runs)
    if every:
        # There are no more: each is tried once.
        runs = len(every)
        for combination in every:
            study.enqueue_trial(combination)
    asked_for = 0
    hint = None
    while len(done.trials) + len(done.refused) < runs and asked_for < _MOST_ASKED * runs:
        count = min(_BATCH, runs - len(done.trials) - len(done.refused))
        asked_for += count
        asked = [study.ask() for _ in range(count)]
        suggested = [tuple(_suggest(one, axis) for axis in space) for one in asked]
        fresh: dict[tuple[str, ...], Trial] = {}
        planned: dict[tuple[str, ...], dict[str, Scenario]] = {}
        for values in suggested:
            labels = _labels(values)
            if labels in known or labels in fresh:
                continue
            fresh[labels] = Trial(values)
            try:
                planned[labels] = _scenarios(scenario, space, values, range(first, first + seeds))
            except ConfigError as error:
                place = ", ".join(f"{value.key} = {value.label}" for value in values)
                done.refused.append(f"{place}: {error.message}")
                hint = hint or error.hint
        done.found += _make(
            scenario,
            list(planned.values()),
            out,
            workers,
            force=force,
            progress=progress,
        )
        for labels, homes in planned.items():
            results = [store.open_case(out / home, one.to_toml()) for home, one in homes.items()]
            trial = fresh[labels]
            trial.digests = tuple(one.summary.digest for one in results)
            done.note(trial, dict(zip(homes, results, strict=True)))
            means = _means(goals, results)
            limits = _means([condition.metric for condition in conditions], results)
            if means is not None and limits is not None:
                trial.goals, trial.limited = means, limits
                pairs = zip(conditions, limits, strict=True)
                trial.excess = tuple(condition.excess(value) for condition, value in pairs)
            done.trials.append(trial)
        known |= fresh
        for one, values in zip(asked, suggested, strict=True):
            trial = known[_labels(values)]
            if trial.goals is None:
                study.tell(one, state=_failed())
            else:
                one.set_user_attr("excess", list(trial.excess))
                study.tell(one, list(trial.goals))
    if done.refused and not done.trials:
        raise ConfigError(
            f"no combination that was tried makes a valid scenario: {done.refused[0]}",
            hint=hint or "give other ranges by --over",
        )
    if len(done.first_goals) > 1:
        done.importance = _importance(study, goals[0])
    return done


def _optuna() -> Any:  # noqa: ANN401
    try:
        import optuna
    except ImportError:
        raise MissingPackageError("tune", "optuna", install="pip install 'rocelab[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _failed() -> Any:  # noqa: ANN401
    return _optuna().trial.TrialState.FAIL


def _study(
    scenario: Scenario, goals: Sequence[Metric], conditions: Sequence[Condition]
) -> optuna.Study:
    import warnings

    library = _optuna()

    def excess(trial: Any) -> Sequence[float]:  # noqa: ANN401
        found: Sequence[float] = trial.user_attrs.get("excess", [1.0] * len(conditions))
        return found

    with warnings.catch_warnings():
        # Constraints and multivariate sampling are marked as experimental.
        warnings.simplefilter("ignore")
        sampler = library.samplers.TPESampler(
            seed=scenario.to_dict()["run"]["seed"] & 0xFFFF_FFFF,
            constraints_func=excess if conditions else None,
        )
    directions = ["maximize" if one.more_is_better else "minimize" for one in goals]
    study: optuna.Study = library.create_study(directions=directions, sampler=sampler)
    return study


def _suggest(trial: Any, axis: Axis | Range) -> Value:  # noqa: ANN401
    """A value of a key, which the sampler chooses."""
    if isinstance(axis, Axis):
        label = trial.suggest_categorical(axis.key, [value.label for value in axis.values])
        return next(value for value in axis.values if value.label == label)
    one = axis.values
    if one.whole:
        number = trial.suggest_int(axis.key, round(one.low), round(one.high), log=one.log)
    else:
        number = trial.suggest_float(axis.key, one.low, one.high, log=one.log)
    return Value(axis.key, one.written(number))


def _labels(values: Sequence[Value]) -> tuple[str, ...]:
    """The labels of a combination's values, which identify it among the trials."""
    return tuple(value.label for value in values)


def _combinations(space: Sequence[Axis | Range], most: int) -> list[dict[str, str]]:
    """All combinations of listed values, in their order; none where there are more than ``most``.

    A range has any number of them.
    """
    axes = [axis for axis in space if isinstance(axis, Axis)]
    if len(axes) < len(space) or math.prod(len(axis.values) for axis in axes) > most:
        return []
    labels = itertools.product(*(_labels(axis.values) for axis in axes))
    keys = [axis.key for axis in axes]
    return [dict(zip(keys, combination, strict=True)) for combination in labels]


def _scenarios(
    scenario: Scenario, space: Sequence[Axis | Range], values: tuple[Value, ...], seeds: range
) -> dict[str, Scenario]:
    """The scenarios of a combination's runs, by their places, without their messages.

    Raises :class:`ConfigError` where it makes no valid scenario.
    """
    settings = [(value.key, value.text) for value in values]
    name = grid.directory_of([axis.key for axis in space], values)
    found = {}
    for seed in seeds:
        one = apply_settings(scenario, (*settings, ("run.seed", str(seed))))
        one.validate()
        found[f"runs/{name}/{seed}"] = compact(one)
    return found


def _make(
    scenario: Scenario,
    trials: Sequence[Mapping[str, Scenario]],
    out: Path,
    workers: Workers,
    *,
    force: bool,
    progress: bool,
) -> int:
    """Makes the runs of ``trials`` that ``out`` lacks. Returns how many were there."""
    scenarios = {home: found for several in trials for home, found in several.items()}
    workers.check_memory(scenarios.values())
    wanted = ((home, found.to_toml()) for home, found in scenarios.items())
    missing = store.prepare_directory(out, wanted, force=force, marker=TUNE)
    store.write_tune(out, scenario)

    def keep(home: str, result: Result) -> None:
        store.store_case(result, out / home, force=force)

    run_scenarios(
        sorted(missing),
        scenarios.__getitem__,
        keep,
        workers,
        progress=progress,
    )
    return len(scenarios) - len(missing)


def _means(metrics: Sequence[Metric], results: Sequence[Result]) -> tuple[float, ...] | None:
    """The mean of each metric over ``results``; None if one of them lacks one."""
    means = []
    for metric in metrics:
        values = [metric.read(result) for result in results]
        known = [float(value) for value in values if value is not None]
        if len(known) < len(values):
            return None
        means.append(math.fsum(known) / len(known))
    return tuple(means)


def _importance(study: optuna.Study, first: Metric) -> dict[str, float]:
    """How much each key that varies has to do with good values of the ``first`` goal."""
    library = _optuna()
    import warnings

    sign = -1.0 if first.more_is_better else 1.0
    tried = study.get_trials(deepcopy=False, states=(library.trial.TrialState.COMPLETE,))
    keys = dict.fromkeys(key for one in tried for key in one.params)
    varied = [key for key in keys if len({one.params[key] for one in tried}) > 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found: Mapping[str, float] = library.importance.get_param_importances(
                study,
                evaluator=library.importance.PedAnovaImportanceEvaluator(),
                params=varied,
                # Of what it is given it takes low values for good, whatever the study's direction.
                target=lambda trial: sign * trial.values[0],
            )
        except (ValueError, RuntimeError):
            # Too few trials.
            return {}
    return {key: share for key, share in found.items() if math.isfinite(share)}


def _magnitude(label: str) -> tuple[float, str]:
    parsed = parse(label)
    try:
        return (parsed[0] if parsed else float(label)), label
    except ValueError:
        return 0.0, label
