"""Runs of one scenario over a grid of values and seeds, with statistics over the seeds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rocelab import _memory
from rocelab._coverage import Coverage
from rocelab._format import pluralise
from rocelab.errors import ConfigError
from rocelab.scenario import Scenario, compact
from rocelab.sweeps import grid
from rocelab.sweeps.plan import Case, SweepPlan
from rocelab.sweeps.warnings import dedup_warnings, without_effect
from rocelab.table import Table

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import polars as pl
    from matplotlib.figure import Figure

    from rocelab.plot.look import Scale
    from rocelab.result import Result
    from rocelab.sweeps.metrics import Metric
    from rocelab.sweeps.parallel import Workers

DEFAULT_METRICS = ("slowdown_mean", "slowdown_p99", "max_queue_bytes", "pause_frames")
"""The metrics that the command prints and draws unless others are named."""


_MAX_TAGS = 8
"""Tags that a notebook shows columns of."""
_SHOWN = (
    "slowdown_mean",
    "slowdown_mean_ci95",
    "slowdown_p99",
    "slowdown_p99_ci95",
    "max_queue_bytes",
    "pause_frames",
    "drops",
)
"""Columns that a notebook shows of a sweep."""


class Sweep:
    """The runs of a sweep and what they come to."""

    plan: SweepPlan
    """What was run."""
    results: list[Result]
    """A result for each run, in the order of the rows of ``runs``."""
    runs: Table
    """One row for each run: the keys that vary, the seed, the metrics, the digest."""
    statistics: Table
    """One row for each combination: of each metric the mean over the seeds and, in the column
    with ``_ci95`` after its name, half the width of the mean's 95 % confidence interval."""
    found: int
    """How many of the results were there already and were not run again."""

    def __init__(self, plan: SweepPlan, results: Sequence[Result], found: int = 0) -> None:
        self.plan = plan
        self.results = list(results)
        self.found = found
        self.runs = Table(self._runs)
        self.statistics = Table(self._statistics)

    @property
    def metrics(self) -> list[Metric]:
        """The numbers that the tables have of each run."""
        from rocelab.sweeps.metrics import all_metrics

        series = [one for result in self.results for one in result.series.values()]
        summaries = [one.summary for one in self.results]
        tags = dict.fromkeys(group for one in summaries for group in (*one.by_tag, *one.by_scheme))
        probes = {one.name: one.kind for one in series}
        return all_metrics(tags, probes)

    def _runs(self) -> pl.DataFrame:
        import polars as pl

        from rocelab.io.open import unread

        metrics = self.metrics
        numbers: dict[str, list[int | float | None]] = {one.name: [] for one in metrics}
        for result in self.results:
            # The tables that are read for it are not kept: there may be many.
            once = unread(result)
            for metric in metrics:
                numbers[metric.name].append(metric.read(once))
        cases = self.plan.cases
        return pl.DataFrame(
            [
                *self._keys(len(self.plan.seeds)),
                pl.Series("seed", [case.seed for case in cases], pl.Int64),
                *(
                    pl.Series(one.name, numbers[one.name], pl.Int64 if one.whole else pl.Float64)
                    for one in metrics
                ),
                pl.Series("digest", [one.summary.digest for one in self.results], pl.String),
                pl.Series("directory", [case.place for case in cases], pl.String),
            ]
        )

    def _statistics(self) -> pl.DataFrame:
        import polars as pl

        from rocelab.sweeps.confidence import interval

        runs = self.runs.to_polars()
        seeds = len(self.plan.seeds)
        combinations = len(runs) // seeds
        columns = [*self._keys(1), pl.Series("runs", [seeds] * combinations, pl.Int64)]
        for metric in self.metrics:
            values = runs[metric.name].to_list()
            means: list[float | None] = []
            halves: list[float | None] = []
            for begin in range(0, len(values), seeds):
                several = values[begin : begin + seeds]
                # The mean of those that have one would be that of the better ones.
                mean, half = (None, None) if None in several else interval(several)
                means.append(mean)
                halves.append(half)
            columns.append(pl.Series(metric.name, means, pl.Float64))
            columns.append(pl.Series(f"{metric.name}_ci95", halves, pl.Float64))
        return pl.DataFrame(columns)

    def _keys(self, times: int) -> list[pl.Series]:
        """A column for each key. The value of each combination is repeated ``times`` times."""
        import polars as pl

        combinations = self.plan.combinations
        columns = []
        for number, axis in enumerate(self.plan.axes):
            worth = dict(zip(axis.values, axis.column, strict=True))
            values = [worth[one[number]] for one in combinations for _ in range(times)]
            columns.append(pl.Series(axis.key, values))
        return columns

    def coverage(self) -> list[Coverage]:
        """For each row of ``statistics`` how many flows of all its seeds were done.

        Slowdowns are of these alone.
        """
        seeds = len(self.plan.seeds)
        summaries = [result.summary for result in self.results]
        return [Coverage.of(*summaries[at : at + seeds]) for at in range(0, len(summaries), seeds)]

    @property
    def doubts(self) -> list[str]:
        """The warnings that cast doubt on numbers of runs, as in ``warnings``."""
        runs = zip(self.plan.cases, self.results, strict=True)
        told = ((case.place, result.doubts) for case, result in runs)
        return dedup_warnings(told, len(self.results))

    @property
    def warnings(self) -> list[str]:
        """What the user should know: warnings of the runs, those alike but for their numbers once.

        And whether the seed changed anything.
        """
        runs = zip(self.plan.cases, self.results, strict=True)
        told = ((case.place, result.warnings) for case, result in runs)
        warnings = dedup_warnings(told, len(self.results))
        outcomes = {
            (case.combination, result.summary.digest)
            for case, result in zip(self.plan.cases, self.results, strict=True)
        }
        seeds = len(self.plan.seeds)
        if seeds > 1 and len(outcomes) * seeds == len(self.results):
            warnings.append("all seeds give the same: nothing here is drawn at random")
        return [*warnings, *self._without_effect()]

    def _without_effect(self) -> list[str]:
        """A line for each key whose value changes no run."""
        seeds = len(self.plan.seeds)
        digests = [result.summary.digest for result in self.results]
        of_seeds = (tuple(digests[at : at + seeds]) for at in range(0, len(digests), seeds))
        outcomes = dict(zip(self.plan.combinations, of_seeds, strict=True))
        return without_effect([axis.key for axis in self.plan.axes], outcomes)

    def best(self, metrics: str | Sequence[str]) -> list[int]:
        """Numbers of the rows of ``statistics`` that are best by ``metrics``, the best one first.

        Rows are counted from 0, and in the order of the first metric. With several metrics these
        are all rows that no other row beats or equals in all of them
        while it beats it in one (the Pareto front). Rows without a value are left out.
        """
        from rocelab.sweeps.metrics import pareto, select_metrics

        names = [metrics] if isinstance(metrics, str) else list(metrics)
        if not names:
            raise ConfigError("best needs a metric", hint="such as slowdown_p99")
        return pareto(self.statistics.to_polars(), select_metrics(names, self.metrics))

    def plot(
        self,
        metric: str = "slowdown_p99",
        *,
        notes: bool | Sequence[str] = True,
        size: tuple[float, float] | None = None,
        x_scale: Scale | None = None,
        y_scale: Scale | None = None,
    ) -> Figure:
        """A metric, by its column's name, against the first key whose values are numbers.

        There is a line for each combination of the other keys; without numbers there are points by
        the values of the first key. Bars are 95 % confidence intervals.

        ``notes=False`` leaves out what stands below the picture, and a list of lines takes its
        place. ``size`` is width and height of the whole picture in inches. ``x_scale`` and
        ``y_scale`` are ``"linear"`` or ``"log"``; by default they suit the values.
        """
        from rocelab.plot.look import Look
        from rocelab.sweeps.metric_plot import plot_metric
        from rocelab.sweeps.metrics import select_metrics

        (one,) = select_metrics([metric], self.metrics)
        return plot_metric(self, one, Look(notes, size, x_scale, y_scale))

    def heat_map(
        self,
        metric: str = "slowdown_p99",
        *,
        notes: bool | Sequence[str] = True,
        size: tuple[float, float] | None = None,
    ) -> Figure:
        """A metric over two keys whose values are numbers: one across, one up, the mean as colour.

        Raises :class:`ResultError` unless exactly two keys have several values, and all of them
        are numbers. ``notes`` and ``size`` are those of :meth:`plot`.
        """
        from rocelab.plot.look import Look
        from rocelab.sweeps.heat_map import plot_heat_map
        from rocelab.sweeps.metrics import select_metrics

        (one,) = select_metrics([metric], self.metrics)
        return plot_heat_map(self, one, Look(notes, size))

    def save(self, directory: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes tables and results to ``directory``, which may hold a sweep already.

        Runs that it holds stay; with ``force`` those of other scenarios or of another simulator
        are replaced if they have the place of one of these. Raises :class:`ResultError` where it
        cannot be written.
        """
        from rocelab.sweeps import store

        place = Path(directory)
        results = {
            case.place: result for case, result in zip(self.plan.cases, self.results, strict=True)
        }
        wanted = ((home, result.scenario_toml) for home, result in results.items())
        missing = sorted(store.prepare_directory(place, wanted, force=force))
        store.write_plan(place, self.plan)
        for home in missing:
            store.store_case(results[home], place / home, force=force)
        store.write_tables(place, self)
        return place

    def _repr_html_(self) -> str:
        from rocelab._notebook import card

        rows = [
            ("runs", f"{len(self.results)}, {self.found} of them made before"),
            ("seeds", f"{len(self.plan.seeds)}"),
            ("varied", ", ".join(axis.key for axis in self.plan.axes) or "seeds alone"),
        ]
        frame = self.statistics.to_polars()
        keys = frame.columns[: frame.columns.index("runs") + 1]
        tags = list(dict.fromkeys(tag for one in self.results for tag in one.summary.by_tag))
        of_tags = [f"{tag}.slowdown_p99{end}" for tag in tags[:_MAX_TAGS] for end in ("", "_ci95")]
        names = [*(of_tags if len(tags) > 1 else []), *_SHOWN]
        shown = frame.select(*keys, *(name for name in names if name in frame.columns))
        rows.append(("columns", f"{len(frame.columns)} in .statistics, of which some are here:"))
        tables = [shown._repr_html_()]
        return card(f"Sweep of {self.plan.scenario.name}", rows, self.warnings, tables)

    def __repr__(self) -> str:
        combinations = len(self.results) // len(self.plan.seeds)
        return (
            f"<rocelab.Sweep {self.plan.scenario.name!r}: "
            f"{pluralise(len(self.results), 'run', 'runs')}, "
            f"{pluralise(combinations, 'combination', 'combinations')}>"
        )


def sweep(
    scenario: Scenario,
    over: Mapping[str, Sequence[object]] | None = None,
    *,
    seeds: int = 1,
    zipped: Iterable[Iterable[str]] = (),
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Sweep:
    """Runs ``scenario`` with all combinations of the values in ``over``, each with ``seeds`` seeds.

    ``over`` has keys as scenario files name them, and their values:
    ``{"scheme.name": ["hpcc", "dcqcn"], "traffic.0.load": [0.3, 0.5]}``. Seeds are the scenario's
    own and those after it. All scenarios are checked before the first one is run. The text
    ``"50KB..400KB/8"`` among the values is a range of eight. Keys of a group in ``zipped`` change
    together: ``zipped=[("pfc.xoff", "pfc.xon")]``.

    ``jobs`` runs go at a time, one for each processor unless given, each on one thread. With
    ``out`` results and tables are written to that directory, each result when its run ends, and a
    run that is there already is not run again; ``force`` replaces those of other scenarios or of
    another simulator. Without, results stay in memory until they are saved.

    ``executor`` runs them elsewhere, instead of ``jobs``: any executor of ``concurrent.futures``,
    such as a ``ProcessPoolExecutor`` or that of a Dask client (``client.get_executor()``). Its
    workers need the same version of rocelab, and no directory that they share with this process.

    ``progress=True`` shows how many runs are made.
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(
            f"sweep takes a Scenario, not {scenario!r}; rocelab.load(path) makes one of a file"
        )
    if not isinstance(progress, bool):
        raise TypeError(f"progress must be True or False, not {progress!r}")
    plan = SweepPlan(scenario, grid.make_axes(over or {}), seeds, zipped)
    place = None if out is None else Path(out)
    return run_plan(plan, out=place, force=force, jobs=jobs, executor=executor, progress=progress)


def open_sweep(directory: str | os.PathLike[str]) -> Sweep:
    """The sweep in ``directory``, as :func:`sweep` or ``rocelab sweep`` wrote it.

    Raises :class:`ResultError` where there is none, where it is damaged, where runs are missing, or
    where the last command that wrote to it has not ended.
    """
    from rocelab.sweeps import store

    return Sweep(*store.read_sweep(Path(directory)))


def run_plan(
    plan: SweepPlan,
    *,
    out: Path | None,
    force: bool,
    jobs: int | None,
    progress: bool,
    executor: Executor | None = None,
) -> Sweep:
    """Makes all runs of ``plan`` that are not in ``out``, as :func:`sweep` does."""
    from rocelab.sweeps.parallel import Workers

    workers = Workers(jobs, executor)
    if out is None:
        if force:
            raise ConfigError("force= replaces runs of a directory", hint="say which: out=")
        made = _make_runs(plan, plan.cases, None, workers, progress=progress)
        return Sweep(plan, [made.results[case.place] for case in plan.cases])
    made = _make_runs(plan, plan.cases, out, workers, force=force, progress=progress)
    return _finished(plan, out, made.scenarios, found=len(plan.cases) - made.total)


@dataclass(frozen=True)
class ShardOutcome:
    """What came of the runs of a shard."""

    missing: int
    """How many runs of the whole sweep are left to other shards."""
    sweep: Sweep | None
    """The sweep, if none is missing."""


def run_shard(
    plan: SweepPlan,
    shard: tuple[int, int],
    *,
    out: Path,
    force: bool,
    jobs: int | None,
    progress: bool,
) -> ShardOutcome:
    """Makes the runs of one shard of ``plan`` that are not in ``out``.

    ``shard`` is its number, from 1 on, and how many there are. If all runs of all shards are there
    then, it writes the tables of the sweep.
    """
    from rocelab.sweeps import store
    from rocelab.sweeps.parallel import Workers

    number, count = shard
    cases = [case for at, case in enumerate(plan.cases) if at % count == number - 1]
    own = {case.place for case in cases}
    others = {
        case.place: plan.scenario_of(case).to_toml() for case in plan.cases if case.place not in own
    }
    made = _make_runs(plan, cases, out, Workers(jobs), force=force, progress=progress)
    if missing := store.missing_cases(out, others.items()):
        return ShardOutcome(len(missing), None)
    scenarios = {**made.scenarios, **others}
    return ShardOutcome(0, _finished(plan, out, scenarios, found=len(cases) - made.total))


def _finished(plan: SweepPlan, out: Path, scenarios: Mapping[str, str], found: int) -> Sweep:
    """The sweep whose runs are all in ``out``, where its tables are written.

    ``scenarios`` has the complete scenario of each run by its place.
    """
    from rocelab.sweeps import store

    results = [store.open_case(out / case.place, scenarios[case.place]) for case in plan.cases]
    done = Sweep(plan, results, found=found)
    store.write_tables(out, done)
    return done


class _Made(NamedTuple):
    """What came of the runs that were wanted."""

    results: dict[str, Result]
    """By their places, if they are not stored."""
    scenarios: dict[str, str]
    """The complete scenario of each run by its place, also of those that were there already."""
    total: int
    """How many runs were made."""


def _make_runs(
    plan: SweepPlan,
    cases: Sequence[Case],
    out: Path | None,
    workers: Workers,
    *,
    progress: bool,
    force: bool = False,
) -> _Made:
    """Makes those of ``cases`` that are not in ``out``."""
    from rocelab.sweeps import store
    from rocelab.sweeps.remote import run_scenarios

    # One after the other: networks may be large.
    several = min(workers.threads, len(cases))
    shortages: list[str] = []
    # Files that they name are read once: they may change while runs are made.
    scenarios: dict[str, Scenario] = {}
    texts: dict[str, str] = {}

    def wanted() -> Iterator[tuple[str, str]]:
        for case in cases:
            scenario, shortage = plan.checked(case, several)
            shortages.extend([shortage] if shortage else [])
            scenarios[case.place] = compact(scenario)
            texts[case.place] = scenarios[case.place].to_toml()
            yield case.place, texts[case.place]

    if out is None:
        places = {place for place, _ in wanted()}
    else:
        places = store.prepare_directory(out, wanted(), force=force)
        store.write_plan(out, plan)
    if shortages and places and workers.executor is None:
        _memory.warn_of_shortage(shortages[0])
    results: dict[str, Result] = {}

    def keep(case: Case, result: Result) -> None:
        if out is None:
            results[case.place] = result
        else:
            store.store_case(result, out / case.place, force=force)

    todo = [case for case in cases if case.place in places]
    run_scenarios(todo, lambda case: scenarios[case.place], keep, workers, progress=progress)
    return _Made(results, texts, len(todo))
