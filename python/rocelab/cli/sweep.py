"""``rocelab sweep``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocelab import _format
from rocelab._text import json_text
from rocelab._text_table import fitted
from rocelab.catalogue import caveats
from rocelab.cli.options import (
    Dask,
    Jobs,
    Quiet,
    ScenarioFile,
    Settings,
    Strict,
    choose_one,
    load_scenario,
)
from rocelab.cli.output import (
    check_doubts,
    note,
    print_errors_alone,
    print_warnings,
    report_kept_runs,
    show,
    show_caveats,
)
from rocelab.errors import ConfigError
from rocelab.sweeps import DEFAULT_METRICS, Sweep, run_plan, run_shard
from rocelab.sweeps.grid import parse_axis
from rocelab.sweeps.metrics import planned_metrics, select_metrics, sort_rows
from rocelab.sweeps.plan import SweepPlan
from rocelab.sweeps.remote import dask_executor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocelab.sweeps.metrics import Metric


def sweep(
    scenario: ScenarioFile,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=V1,V2,...",
            help="A key and its values, as --set has them, or a range such as 50KB..400KB/8 or "
            "1us..1ms/4log; repeatable: all combinations are run.",
        ),
    ] = None,
    zipped: Annotated[
        list[str] | None,
        typer.Option(
            "--zip",
            metavar="KEY1,KEY2,...",
            help="Keys of --over that change together, first value with first; repeatable.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(metavar="N", help="Runs of each combination: run.seed and those after it."),
    ] = 1,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Directory of its runs; default: out/NAME-sweep."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What to print and draw, of those of `rocelab list metrics`; repeatable; "
            f"default: {', '.join(DEFAULT_METRICS)}.",
        ),
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print combinations by this metric, best first."),
    ] = None,
    best: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME]",
            help="Print only the best combinations; of several metrics the Pareto front.",
        ),
    ] = None,
    jobs: Jobs = None,
    dask: Dask = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Make only the runs of shard I of N, as when N machines share DIR.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Run again what is there of other scenarios or simulators."),
    ] = False,
    strict: Strict = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="A list of combinations, as JSON; empty while other shards are to run.",
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario over values and seeds.

    Prints a table of means, draws pictures, and keeps the result of each run.

    Runs that are in DIR already are not run again, so the same command goes on after Ctrl-C.
    """
    from rocelab.plot.gallery import stale_pictures
    from rocelab.plot.look import DEFAULT_LOOK
    from rocelab.sweeps.pictures import save_plots, stems

    print_errors_alone(quiet)
    base = load_scenario(scenario, settings)
    choose_one(sort=sort, best=best)
    choose_one(shard=shard, dask=dask)
    groups = [[key.strip() for key in one.split(",")] for one in zipped or []]
    plan = SweepPlan(base, [parse_axis(one) for one in over or []], seeds, groups)
    by = [one.strip() for one in (sort or best or "").split(",") if one.strip()]
    if (sort is not None and len(by) != 1) or (best is not None and not by):
        raise ConfigError("--sort takes one metric, and --best one or several")
    # What combinations are sorted by is shown first.
    names = [one.name for one in planned_metrics([*by, *(metric or DEFAULT_METRICS)], plan)]
    place = out or Path("out") / f"{base.name}-sweep"
    part = _shard(shard)
    with report_kept_runs(f"{place}; the same command makes the rest"):
        if part is not None:
            outcome = run_shard(plan, part, out=place, force=force, jobs=jobs, progress=not quiet)
            if outcome.sweep is None:
                if not quiet:
                    missing = f"{outcome.missing} of {len(plan.cases)} runs"
                    left = _format.is_or_are(outcome.missing)
                    note(f"{place}: {missing} {left} left to other shards")
                if as_json:
                    show(json_text([]))
                return
            done = outcome.sweep
        else:
            with dask_executor(dask) as executor:
                done = run_plan(
                    plan,
                    out=place,
                    force=force,
                    jobs=jobs,
                    executor=executor,
                    progress=not quiet,
                )
        shown = select_metrics(names, done.metrics)
        pictures = save_plots(done, shown, place / "plots", DEFAULT_LOOK)
    if not quiet:
        stale = stale_pictures(place / "plots", pictures, stems(done.metrics))
        print_warnings([*done.warnings, *stale])
    order = _order(done, by, only_best=best is not None)
    if as_json:
        rows = _rows(done, shown)
        show(json_text([rows[at] for at in order]))
    elif not quiet:
        show(_table(done, shown, order))
        if best is not None:
            show(_best_note(done, by, len(order)))
        count = _format.pluralise(len(pictures), "picture", "pictures")
        drawn = f", {count} in {place / 'plots'}" if pictures else ""
        runs = len(done.results)
        were = "was" if done.found == 1 else "were"
        before = f"; {done.found} of {runs} runs {were} there before" if done.found else ""
        show_caveats(caveats(done.results))
        show(f"\n{_format.pluralise(runs, 'run', 'runs')} in {place}{drawn}{before}")
    check_doubts(done.doubts, strict=strict, told=not quiet)


def _shard(text: str | None) -> tuple[int, int] | None:
    """The number of a shard, and how many there are."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count:
        raise ConfigError(f"--shard {text}: must be I/N with I from 1 to N", hint="such as 1/4")
    return number, count


def _order(done: Sweep, by: Sequence[str], *, only_best: bool) -> list[int]:
    """The combinations that are printed, by their positions."""
    if only_best:
        return done.best(by)
    if by:
        (metric,) = select_metrics(by, done.metrics)
        return sort_rows(done.statistics.to_polars(), metric)
    return list(range(len(done.plan.combinations)))


def _best_note(done: Sweep, by: Sequence[str], count: int) -> str:
    """What the printed combinations are best in."""
    words = [one.named_with_direction for one in select_metrics(by, done.metrics)]
    total = len(done.plan.combinations)
    front = "best by" if len(by) == 1 else "on the Pareto front of"
    return f"\n{count} of {total} combinations, {front} {', '.join(words)}"


def _rows(done: Sweep, metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """The rows of ``statistics`` as plain data, with the columns of ``metrics`` only."""
    keys = [*(axis.key for axis in done.plan.axes), "runs"]
    columns = [name for one in metrics for name in (one.name, f"{one.name}_ci95")]
    return done.statistics.to_polars().select(keys + columns).to_dicts()


def _table(done: Sweep, metrics: Sequence[Metric], order: Sequence[int]) -> str:
    """A line for each combination of ``order``: its values, and means with their intervals."""
    rows = done.statistics.to_polars()[list(order)]
    chosen = [done.plan.combinations[at] for at in order]
    # Where tables are split, each part has the keys that tell combinations apart.
    followers = done.plan.followers
    axes = sorted(enumerate(done.plan.axes), key=lambda one: one[1].key in followers)
    apart = sum(axis.key not in followers for _, axis in axes)
    columns = [[axis.key, *(one[number].label for one in chosen)] for number, axis in axes]
    for metric in metrics:
        means = rows[metric.name].to_list()
        unit, scale = _format.unit(metric.unit, max((mean or 0 for mean in means), default=0))
        pairs = list(zip(means, rows[f"{metric.name}_ci95"].to_list(), strict=True))
        scaled = [
            None if mean is None else (mean / scale, None if half is None else half / scale)
            for mean, half in pairs
        ]
        columns.append([metric.head(unit), *_format.with_intervals(scaled)])
    every = done.coverage()
    covered = [every[at] for at in order]
    if not all(one.complete for one in covered):
        columns.append(["flows done", *map(str, covered)])
    return fitted(list(zip(*columns, strict=True)), left=len(axes), repeated=apart)
