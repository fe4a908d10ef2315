"""``rocelab scheme``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from rocelab import _module, _rocelab, catalogue
from rocelab.cli.command import PlainCommand
from rocelab.cli.output import note

scheme = typer.Typer(
    help="Write a scheme of your own, outside of rocelab's sources.", no_args_is_help=True
)


def _known() -> list[str]:
    """The schemes of rocelab: this command runs on the package's own module."""
    return [*(one.name for one in catalogue.schemes()), *_rocelab.LEFT_OUT]


def _complete(begun: str) -> list[str]:
    *before, last = begun.split(",")
    start = "".join(f"{name}," for name in before)
    return [start + name for name in _known() if name.startswith(last)]


@scheme.command(cls=PlainCommand)
def new(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The scheme's name: small letters, digits and _.",
            show_default=False,
        ),
    ],
    path: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="The directory to make; default: the name."),
    ] = None,
    selection: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="NAMES",
            autocompletion=_complete,
            help="Schemes of rocelab to compile in, with commas between.",
        ),
    ] = "dcqcn",
) -> None:
    """Make a crate for a scheme: a law, a switch part, presets and tests.

    It is an example that works: change it into yours.
    """
    from rocelab import schemes_project

    known = _known()
    chosen = schemes_project.check_selection(selection, known)
    schemes_project.check_name(name, known)
    directory = path or Path(name)
    files = schemes_project.create(name, directory, chosen)
    note(f"{directory}: a crate for the scheme {name}")
    note(f"  {files[0].relative_to(directory)}: its law, switch part, parameters and presets")
    place = shlex.quote(str(directory))
    note(f"next: cd {place} && cargo test && rocelab scheme build && rocelab run incast.toml")


@scheme.command(cls=PlainCommand)
def build(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="The project; default: the one that you are in."),
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="NAMES",
            autocompletion=_complete,
            help="Schemes of rocelab to compile in, with commas between; default: as before.",
        ),
    ] = None,
) -> None:
    """Compile a simulator with your scheme. `rocelab` uses it in the project's directory.

    The first time it compiles all of rocelab, which takes minutes; then only what has changed.
    Elsewhere the environment variable ROCELAB_MODULE selects it.
    """
    from rocelab import schemes_project

    chosen = None if selection is None else schemes_project.check_selection(selection, _known())
    project = schemes_project.find(path or Path.cwd())
    built = schemes_project.build(project, chosen)
    note(f"in {project} and below, rocelab now runs this build")
    note(f"elsewhere: {_module.VARIABLE}={shlex.quote(str(built.file))}")
