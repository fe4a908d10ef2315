"""``rocelab tune``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocelab import _format
from rocelab._text_table import aligned, fitted
from rocelab.cli.options import Dask, Jobs, Quiet, ScenarioFile, Settings, load_scenario
from rocelab.cli.output import (
    note,
    print_errors_alone,
    print_warnings,
    report_kept_runs,
    show,
    show_caveats,
)
from rocelab.sweeps.metrics import known_metrics, select_metrics

if TYPE_CHECKING:
    from rocelab.sweeps.tune import Trial, Tuning

_MAX_SHOWN = 10


def tune(
    scenario: ScenarioFile,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=LOW..HIGH",
            help="A key and its range, such as 50KB..1MB or, by logarithms, 1us..1mslog; or its "
            "values V1,V2,...; repeatable.",
        ),
    ],
    goal: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="The metric to make best, of those of `rocelab list metrics`; of several the "
            "Pareto front.",
        ),
    ] = "slowdown_p99",
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="What must hold, such as drops=0 or max_queue_bytes<=1MB; repeatable.",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", help="Combinations that are tried.")
    ] = 40,
    seeds: Annotated[
        int,
        typer.Option(metavar="N", help="Runs of each combination: run.seed and those after it."),
    ] = 1,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Directory of its runs; default: out/NAME-tune."
        ),
    ] = None,
    jobs: Jobs = None,
    dask: Dask = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Run again what is there of other scenarios or simulators."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Search for the values of keys that make a metric best.

    The search is Optuna's (TPE), and deterministic. Runs that are in DIR already are not
    run again, so the same command goes on after Ctrl-C, and with a larger --runs searches further.
    """
    from rocelab.io.files import write_atomic
    from rocelab.sweeps.remote import dask_executor
    from rocelab.sweeps.tune import parse_condition, parse_space
    from rocelab.sweeps.tune import tune as search

    print_errors_alone(quiet)
    base = load_scenario(scenario, settings)
    known = known_metrics(base)
    goals = select_metrics([one.strip() for one in goal.split(",")], known)
    conditions = [parse_condition(one, known) for one in subject_to or []]
    place = out or Path("out") / f"{base.name}-tune"
    with (
        report_kept_runs(f"{place}; the same command goes on"),
        dask_executor(dask) as executor,
    ):
        found = search(
            base,
            [parse_space(one) for one in over],
            goals,
            conditions,
            runs=runs,
            seeds=seeds,
            out=place,
            force=force,
            jobs=jobs,
            executor=executor,
            progress=not quiet,
        )
        write_atomic(place / "trials.csv", found.table().write_csv().encode(), follow=False)
    best = found.best()
    print_warnings(found.warnings)
    if not best and not conditions:
        note(f"warning: no combination that was tried has a value of {goal}")
    elif not best:
        note(f"warning: no combination that was tried meets all conditions{_nearest(found)}")
    elif not quiet:
        # Of combinations with equal numbers the first one stands for all.
        by_goals = {one.goals: one for one in reversed(best)}
        shown = sorted(by_goals.values(), key=best.index)[:_MAX_SHOWN]
        show(_table(found, shown))
        if len(shown) < len(best):
            show(f"and {len(best) - len(shown)} more, with numbers equal to these or behind them")
    if not quiet:
        show(_learned(found, runs, place, conditions=bool(conditions)))
        show_caveats(found.caveats)


def _table(found: Tuning, best: list[Trial]) -> str:
    columns = [
        [axis.key, *(one.values[at].label for one in best)] for at, axis in enumerate(found.axes)
    ]
    for at, metric in enumerate(found.goals):
        values = [one.goals[at] for one in best if one.goals]
        unit, scale = _format.unit(metric.unit, max(values))
        columns.append([metric.head(unit), *(f"{value / scale:.4g}" for value in values)])
    covered = [one.coverage for one in best]
    if not all(one.complete for one in covered):
        columns.append(["flows done", *map(str, covered)])
    return fitted(list(zip(*columns, strict=True)), left=len(found.axes))


def _nearest(found: Tuning) -> str:
    """How near the trials came to each condition that none of them meets."""
    missed = []
    for at, condition in enumerate(found.conditions):
        value = found.nearest(at)
        if value is not None and condition.excess(value) > 0:
            unit, scale = _format.unit(condition.metric.unit, max(value, condition.limit))
            told = [
                f"{one / scale:.4g}{' ' if unit else ''}{unit}" for one in (value, condition.limit)
            ]
            missed.append(
                f"{condition.metric.name} was {told[0]} at best, not {condition.sign} {told[1]}"
            )
    return f": {' and '.join(missed)}" if missed else ", though each is met by some"


def _learned(found: Tuning, asked: int, place: Path, *, conditions: bool) -> str:
    """What is known of each key, and how many combinations were tried of those ``asked`` for."""
    goals = [one.named_with_direction for one in found.goals]
    # Of several goals it is the first.
    explains = f"explains of {found.goals[0].name}" if len(found.goals) > 1 else "explains"
    lines = [["key", explains, "in the best tenth"]]
    for axis in found.axes:
        low, high = found.ranges_of_the_best().get(axis.key, ("-", "-"))
        share = found.importance.get(axis.key)
        told = "-" if share is None else f"{share:.0%}"
        lines.append([axis.key, told, low if low == high else f"{low} to {high}"])
    held = sum(one.holds for one in found.trials)
    tried = f"{_format.pluralise(len(found.trials), 'combination', 'combinations')} tried"
    # There are no more, or the search proposed the others again.
    tried += f" ({asked:,} were asked for)" if len(found.trials) < asked else ""
    tried += f" for {' and '.join(goals)}"
    meet = _format.pluralise(held, "meets", "meet")
    count = f"{tried}; {meet} all conditions" if conditions else tried
    stored = _format.pluralise(found.found, "run was", "runs were")
    before = f"; {stored} there before" if found.found else ""
    return f"\n{aligned(lines, left=1)}\n\n{count}; all in {place / 'trials.csv'}{before}"
