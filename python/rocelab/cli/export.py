"""``rocelab export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocelab.cli.command import PlainCommand
from rocelab.cli.output import note, show
from rocelab.io.files import check_output_file

export = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Write results as files of other programs.",
)


@export.callback()
def _export() -> None:
    """Each kind of file has a command of its own."""


@export.command(cls=PlainCommand)
def perfetto(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A result directory.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The file to write; default: DIR/trace.pftrace."
        ),
    ] = None,
) -> None:
    """Write a result as a trace for Perfetto, a viewer of timelines.

    Flows and pauses are slices, and what probes saw are counters.
    """
    from rocelab.io.open import open_result
    from rocelab.perfetto import write_trace

    path = out or directory / "trace.pftrace"
    result = open_result(directory)
    check_output_file(path)
    write_trace(result, path)
    if "pfc" not in result.traces:
        note("no pauses in it: the scenario's [trace] has no pfc = true")
    if not result.series:
        note("no counters in it: the scenario has no [[probe]]")
    show(str(path))
