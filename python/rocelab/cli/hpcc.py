"""``rocelab hpcc`` and ``rocelab compare-hpcc``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rocelab._text import json_text
from rocelab.cli import BAD_INPUT
from rocelab.cli.options import (
    NoBar,
    Quiet,
    Settings,
    Strict,
    SummaryAsJson,
    Threads,
    changes_of,
    choose_one,
    renamed,
)
from rocelab.cli.output import (
    check_doubts,
    exit_interrupted,
    note,
    print_errors_alone,
    print_result,
    print_warnings,
    show,
    show_toml,
)
from rocelab.errors import ConfigError, Interrupted, RecordingError, ResultError
from rocelab.io.files import check_output_directory
from rocelab.io.names import file_name
from rocelab.signals import interruptible

if TYPE_CHECKING:
    from rocelab.simulate import Progress


def hpcc(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG.txt", help="The experiment's configuration.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where the files go; default: where the configuration says.",
        ),
    ] = None,
    trust_paths: Annotated[
        bool,
        typer.Option(
            "--trust-paths",
            help="Write also outside of the working directory, if the configuration says so.",
        ),
    ] = False,
    order: Annotated[
        Literal["fast", "ns3"],
        typer.Option(
            metavar="fast|ns3",
            help="Order of events of one nanosecond; with ns3 the results equal that simulator's.",
        ),
    ] = "fast",
    threads: Threads = None,
    settings: Settings = None,
    print_scenario: Annotated[
        bool,
        typer.Option(
            "--print-scenario", help="Print the scenario that does the same; run nothing."
        ),
    ] = False,
    strict: Strict = False,
    as_json: SummaryAsJson = False,
    quiet: Quiet = False,
    old_to_scenario: Annotated[bool, renamed("--to-scenario", "--print-scenario")] = False,
) -> None:
    """Run an experiment of the HPCC ns-3 simulator.

    It reads that simulator's files and writes the files that the simulator would write.

    Ctrl-C and SIGTERM stop the run and leave the files of a partial result.

    Names in the configuration are relative to the working directory. What that simulator does
    differently is a key of the scenario's [quirks], to be changed with --set. With --order ns3
    all files equal those that it writes; such a run takes one thread, and --set run.seed alone.
    """
    del old_to_scenario
    from rocelab.hpcc.experiment import Experiment

    if print_scenario:
        others = {
            "out": out,
            "trust_paths": trust_paths,
            "order": None if order == "fast" else order,
            "threads": threads,
            "strict": strict,
            "json": as_json,
        }
        choose_one(print_scenario=True, **others)
    try:
        experiment = Experiment(config)
    except ConfigError as error:
        if not quiet:
            print_warnings(error.warnings)
        raise
    changes = changes_of(settings)
    if not quiet:
        print_warnings(experiment.warnings_with(changes, order))
    if print_scenario:
        show_toml(experiment.scenario(changes).to_toml())
        return
    print_errors_alone(quiet)
    lost: RecordingError | None = None
    with interruptible() as stop:
        try:
            result, written = experiment.run(
                settings=changes,
                threads=threads,
                progress=not quiet,
                into=out,
                trust_paths=trust_paths,
                order=order,
            )
        except (Interrupted, RecordingError) as ended:
            result, written = ended.result, ended.files
            lost = ended if isinstance(ended, RecordingError) else None
        stop.committed = True
        files = "  ".join(map(str, written)) or "none"
        print_result(result, ("files", files), as_json=as_json, quiet=quiet)
        if stop.interrupted:
            exit_interrupted("the files hold" if written else "no files were written of", result)
    if lost is not None:
        raise lost
    check_doubts(result.doubts, strict=strict, told=not quiet)


def compare_hpcc(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Holds cases: folders with config.txt and the fct.txt and pfc.txt it gave there.",
            show_default=False,
        ),
    ],
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Runs of a case that differs, each with its own seed."
        ),
    ] = 1,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Draw the cases that hold ts_queue.txt and ts_rate.txt (or .gz) to DIR/CASE.png: "
            "queue and rates over time, there and here.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A list of cases, as JSON.")] = False,
    quiet: NoBar = False,
) -> None:
    """Compare with the HPCC simulator's own runs.

    Prints a Markdown table. Each case has a row for a run in rocelab's own order of events
    and one for a run in that simulator's (see rocelab hpcc --order). Cases that cannot be read are
    named and left out; the exit code is 2 then.
    """
    from rocelab.hpcc.compare import compare, find_cases, table
    from rocelab.hpcc.overlay_plot import draw, has_series

    cases, others = find_cases(directory)
    if figures is not None:
        check_output_directory(figures)
    for other in others:
        note(f"warning: {other}: left out: it has a config.txt and no fct.txt")
    rows, code = [], 0
    for number, case in enumerate(cases, 1):
        inside = case.relative_to(directory)
        name = str(inside) if inside.name else directory.resolve().name
        note(name)
        try:
            with _bar(f"{name} ({number} of {len(cases)})", shown=not quiet) as progress:
                of_case = [compare(case, name, seeds, "fast", progress=progress)]
            try:
                with _bar(f"{name} ({number} of {len(cases)}, ns3)", shown=not quiet) as progress:
                    of_case.append(compare(case, name, seeds, "ns3", progress=progress))
            except ConfigError as refusal:
                note(f"no run in the order of ns-3: {refusal}")
            if figures is not None and has_series(case):
                draw(case, figures.joinpath(*map(file_name, Path(name).parts)))
            rows.extend(of_case)
        except (ConfigError, ResultError) as error:
            note(f"error: {error}")
            code = BAD_INPUT
    if as_json:
        show(json_text([asdict(row) for row in rows]))
    elif rows:
        show(table(rows))
    raise typer.Exit(code)


def _bar(name: str, *, shown: bool) -> AbstractContextManager[bool | Callable[[Progress], None]]:
    """What shows the progress of the runs of the case called ``name``."""
    from rocelab._progress import bar

    return bar(name) if shown else nullcontext(False)


def validate_hpcc() -> None:
    """Fails and names the command that has its place."""
    raise ConfigError("`rocelab validate-hpcc` is called `rocelab compare-hpcc` now")
