"""``rocelab run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocelab.cli.options import (
    Quiet,
    ScenarioFile,
    Settings,
    Strict,
    SummaryAsJson,
    Threads,
    load_scenario,
)
from rocelab.cli.output import check_doubts, exit_interrupted, print_errors_alone, print_result
from rocelab.errors import Interrupted, RecordingError
from rocelab.io.files import nearest_directory
from rocelab.io.save import reserved
from rocelab.signals import interruptible
from rocelab.simulate import run as simulate


def run(
    scenario: ScenarioFile,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Result directory; default: out/NAME."),
    ] = None,
    threads: Threads = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Seed of all random draws, as --set run.seed=N; default: the file's."
        ),
    ] = None,
    settings: Settings = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace the result that is there; other files in DIR, pictures too, stay.",
        ),
    ] = False,
    strict: Strict = False,
    as_json: SummaryAsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario and write its result directory.

    Ctrl-C and SIGTERM stop the run and leave a partial result.
    """
    loaded = load_scenario(scenario, settings, seed)
    print_errors_alone(quiet)
    directory = out if out is not None else Path("out") / loaded.name
    lost: RecordingError | None = None
    with reserved(directory, force=force, run=True) as place, interruptible() as stop:
        try:
            result = simulate(
                loaded,
                threads=threads,
                progress=not quiet,
                scratch=nearest_directory(directory.parent),
            )
        except (Interrupted, RecordingError) as ended:
            result = ended.result
            lost = ended if isinstance(ended, RecordingError) else None
        stop.committed = True
        place.save(result)
        print_result(result, ("result", str(directory)), as_json=as_json, quiet=quiet)
        if stop.interrupted:
            exit_interrupted(f"{directory} holds", result)
    if lost is not None:
        raise lost
    check_doubts(result.doubts, strict=strict, told=not quiet)
