"""``rocelab run`` and ``rocelab validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocelab.cli.options import (
    Quiet,
    ScenarioFile,
    Settings,
    SummaryAsJson,
    Threads,
    load_scenario,
)
from rocelab.cli.telling import interrupted, tell
from rocelab.errors import Interrupted, RecordingError
from rocelab.simulate import run as simulate
from rocelab.stopping import stoppable
from rocelab.store import check_target, scratch_beside


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
    as_json: SummaryAsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario and write its result directory.

    Ctrl-C and SIGTERM stop the run and leave a partial result.
    """
    loaded = load_scenario(scenario, settings, seed)
    directory = out if out is not None else Path("out") / loaded.name
    check_target(directory, force=force)
    lost: RecordingError | None = None
    with stoppable() as stop:
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
        result.save(directory, force=force)
        tell(result, ("result", str(directory)), as_json=as_json, quiet=quiet)
        if stop.heard:
            interrupted(f"{directory} holds", result)
    if lost is not None:
        raise lost


def validate(scenario: ScenarioFile, settings: Settings = None) -> None:
    """Check a scenario without running it.

    It is printed complete, with every default filled in.
    """
    loaded = load_scenario(scenario, settings)
    loaded.validate()
    print(loaded.to_toml(), end="")
