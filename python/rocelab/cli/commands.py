"""The commands that there are, and where each is written.

A command imports what it needs. The program imports only the command that it was asked for, which
takes a third off the time that it takes to start.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import typer

from rocelab import __version__
from rocelab.cli.command import PlainCommand


class _Command(NamedTuple):
    """Where a command, or a group of commands, is written, and how it is registered."""

    module: str
    function: str
    settings: dict[str, Any] = {}  # noqa: RUF012


_RENAMED: dict[str, Any] = {
    "hidden": True,
    "context_settings": {"ignore_unknown_options": True, "allow_extra_args": True},
}
"""Of a name that only says what the new name is."""

COMMANDS = {
    "new": _Command("new", "new"),
    "run": _Command("run", "run"),
    "validate": _Command("validate", "validate"),
    "plan": _Command("plan", "plan"),
    "hpcc": _Command("hpcc", "hpcc"),
    "compare-hpcc": _Command("hpcc", "compare_hpcc"),
    "validate-hpcc": _Command("hpcc", "validate_hpcc", _RENAMED),
    "schema": _Command("catalogue", "schema"),
    "migrate": _Command("migrate", "migrate"),
    "list": _Command("catalogue", "list_"),
    "plot": _Command("plot", "plot"),
    "report": _Command("report", "report"),
    "view": _Command("view", "view"),
    "fct": _Command("fct", "fct"),
    "bench": _Command("bench", "bench"),
    "reproduce": _Command("reproduce", "reproduce"),
    "compare": _Command("compare", "compare"),
    "tournament": _Command("tournament", "tournament"),
    "sweep": _Command("sweep", "sweep"),
    "tune": _Command("tune", "tune"),
    "import": _Command("import_", "import_"),
    "export": _Command("export", "export"),
    "scheme": _Command("scheme", "scheme"),
}
"""By name, in the order in which the help lists them; groups of commands come last."""


def app_for(first: str | None) -> typer.Typer:
    """The program for a command line with this first word.

    It has one command if that is the word, else all of them.
    """
    return app_with([first] if first in COMMANDS else COMMANDS)


def app_with(names: Iterable[str]) -> typer.Typer:
    """The program with these commands."""
    app = typer.Typer(
        name="rocelab",
        help="A laboratory for congestion control in lossless RDMA (RoCEv2) networks.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in names:
        module, function, settings = COMMANDS[name]
        command = getattr(importlib.import_module(f"rocelab.cli.{module}"), function)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, cls=PlainCommand, **settings)(command)
    return app


def _with_schemes() -> str:
    """What ``--version`` adds for a build with schemes of the user's; else nothing."""
    from rocelab import _module, _rocelab

    choice = _module.chosen()
    if choice is None:
        return ""
    return f", with {', '.join(_rocelab.ADDED)} of {choice.project or choice.file}"


def _print_version(asked: bool) -> None:
    if asked:
        print(f"rocelab {__version__}{_with_schemes()}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    del version
