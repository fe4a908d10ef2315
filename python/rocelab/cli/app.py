"""The commands that there are."""

from __future__ import annotations

from typing import Annotated

import typer

from rocelab import __version__
from rocelab.cli.bench import bench
from rocelab.cli.catalogue import list_, schema
from rocelab.cli.compare import compare
from rocelab.cli.export import export
from rocelab.cli.fct import fct
from rocelab.cli.hpcc import compare_hpcc, hpcc, validate_hpcc
from rocelab.cli.import_ import import_
from rocelab.cli.migrate import migrate
from rocelab.cli.new import new
from rocelab.cli.plan import plan
from rocelab.cli.plot import plot
from rocelab.cli.report import report
from rocelab.cli.reproduce import reproduce
from rocelab.cli.run import run
from rocelab.cli.scheme import scheme
from rocelab.cli.sweep import sweep
from rocelab.cli.tournament import tournament
from rocelab.cli.tune import tune
from rocelab.cli.validate import validate
from rocelab.cli.view import view

app = typer.Typer(
    name="rocelab",
    help="A laboratory for congestion control in lossless RDMA (RoCEv2) networks.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(new)
app.command()(run)
app.command()(validate)
app.command()(plan)
app.command()(hpcc)
app.command()(compare_hpcc)
app.command(
    hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)(validate_hpcc)
app.command()(schema)
app.command()(migrate)
app.add_typer(import_, name="import")
app.add_typer(export, name="export")
app.add_typer(scheme, name="scheme")
app.command("list")(list_)
app.command()(plot)
app.command()(report)
app.command()(view)
app.command()(fct)
app.command()(bench)
app.command()(reproduce)
app.command()(compare)
app.command()(tournament)
app.command()(sweep)
app.command()(tune)


def _with_schemes() -> str:
    """What to say of a build that is not the usual one."""
    from rocelab import _module, _rocelab

    choice = _module.chosen()
    if choice is None:
        return ""
    return f", with {', '.join(_rocelab.ADDED)} of {choice.project or choice.file}"


def _print_version(asked: bool) -> None:
    if asked:
        print(f"rocelab {__version__}{_with_schemes()}")
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
