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
from rocelab.cli.output import check_doubts, hush, interrupted, tell
from rocelab.errors import Interrupted, RecordingError
from rocelab.io.files import scratch_beside
from rocelab.io.save import reserved
from rocelab.signals import stoppable
from rocelab.simulate import run as simulate


def run(
    scenario: ScenarioFile,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Result directory; default: out/NAME.")
    ] = None,
    threads: Threads = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed; as --set run.seed=N.")
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
    hush(quiet)
    directory = out if out is not None else Path("out") / loaded.name
    lost: RecordingError | None = None
    with reserved(directory, force=force, run=True) as place, stoppable() as stop:
        try:
            result = simulate(
                loaded,
                threads=threads,
                progress=not quiet,
                scratch=scratch_beside(directory.parent),
            )
        except (Interrupted, RecordingError) as ended:
            result = ended.result
            lost = ended if isinstance(ended, RecordingError) else None
        stop.too_late = True
        place.save(result)
        tell(result, ("result", str(directory)), as_json=as_json, quiet=quiet)
        if stop.heard:
            interrupted(f"{directory} holds", result)
    if lost is not None:
        raise lost
    check_doubts(result.doubts, strict=strict, told=not quiet)
