"""``rocelab import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocelab._format import pluralise
from rocelab.cli.command import PlainCommand
from rocelab.cli.output import note
from rocelab.io.files import check_output_file, write_atomic

import_ = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make inputs of a scenario from files of other simulators.",
)


@import_.callback()
def _import() -> None:
    """Each kind of file has a command of its own."""


@import_.command(cls=PlainCommand)
def cm(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A connection matrix of htsim (.cm).", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.csv",
            help="The CSV file to write; default: the standard output.",
        ),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            "--prefix", metavar="TEXT", help="What names of hosts begin with, before the number."
        ),
    ] = "h",
) -> None:
    """Make a list of flows of a connection matrix of htsim.

    A scenario takes it as the flows_file of [[traffic]] of kind "flows". In both files sizes are in
    bytes and starts in picoseconds. A connection may wait for a trigger that other connections
    fire when they have arrived at its sender (recv_done_trigger). Other triggers are refused.
    """
    from rocelab.htsim import read_matrix

    if out is not None:
        check_output_file(out)
    matrix = read_matrix(file)
    if matrix.priorities:
        note(
            f"warning: {file}: the prio of "
            f"{pluralise(matrix.priorities, 'connection', 'connections')} is left out: only "
            "receivers of htsim heed it"
        )
    text = matrix.to_csv(prefix)
    if out is None:
        print(text, end="")
        return
    write_atomic(out, text.encode())
    flows = pluralise(len(matrix.connections), "flow", "flows")
    note(f"{out}: {flows} among {pluralise(matrix.nodes, 'host', 'hosts')}")
