"""The ``rocelab`` command.

Data goes to the standard output, all else to the standard error stream. Exit codes: 0 done, 2 bad
input or a file that cannot be read or written, 130 interrupted. A reader that takes no more of the
output (``rocelab list | head``) ends the command without a word, and with 0.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from rocelab import __version__
from rocelab.cli.catalogue import list_, schema
from rocelab.cli.compare import compare
from rocelab.cli.fct import fct
from rocelab.cli.measure import bench
from rocelab.cli.pictures import plot
from rocelab.cli.reproduce import reproduce
from rocelab.cli.running import hpcc, run, validate, validate_hpcc
from rocelab.errors import RocelabError

BAD_INPUT = 2

app = typer.Typer(
    name="rocelab",
    help="A laboratory for congestion control in lossless RDMA (RoCEv2) networks.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run)
app.command()(validate)
app.command()(hpcc)
app.command()(validate_hpcc)
app.command()(schema)
app.command("list")(list_)
app.command()(plot)
app.command()(fct)
app.command()(bench)
app.command()(reproduce)
app.command()(compare)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"rocelab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    del version


def main() -> NoReturn:
    """Runs the command line; errors become a line or two and an exit code."""
    try:
        try:
            app()
        except SystemExit as end:
            # Typer makes an exit code of its own of a reader that has gone.
            if isinstance(end.__context__, BrokenPipeError):
                sys.exit(0)
            raise
        finally:
            # Here, where a full disk or a reader that has gone can still be told.
            sys.stdout.flush()
    except RocelabError as error:
        print(f"error: {error}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
    except OSError as error:
        # What could not be written now would fail again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(0)
        print(f"error: {error.strerror or error}", file=sys.stderr)
    sys.exit(BAD_INPUT)
