"""``rocelab new``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from rocelab import _examples
from rocelab.cli.output import note
from rocelab.errors import ConfigError
from rocelab.io.files import check_output_file, write_atomic


def _known(name: str) -> str:
    _find(name)
    return name


def _find(name: str) -> _examples.Example:
    found = _examples.find(name)
    if found is None:
        names = ", ".join(one.name for one in _examples.EXAMPLES)
        raise typer.BadParameter(f"{name!r} is not one of {names}.")
    return found


def _complete(begun: str) -> list[tuple[str, str]]:
    return [(one.name, one.summary) for one in _examples.EXAMPLES if one.name.startswith(begun)]


def new(
    example: Annotated[
        str,
        typer.Argument(
            metavar="EXAMPLE",
            callback=_known,
            autocompletion=_complete,
            help="What to begin from: a name that `rocelab list examples` shows.",
            show_default=False,
        ),
    ],
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH", help="What to write; default: the name, with .toml for a scenario."
        ),
    ] = None,
) -> None:
    """Write an example scenario to begin from.

    `hpcc-files` is a folder with files of the HPCC simulator.
    """
    found = _find(example)
    target = path or Path(found.path.name)
    if target.exists() or target.is_symlink():
        raise ConfigError(
            "exists already", file=str(target), hint="give another name as the second argument"
        )
    sources = sorted(found.path.iterdir()) if found.is_folder else [found.path]
    targets = [target / one.name if found.is_folder else target for one in sources]
    for one in targets:
        check_output_file(one)
    for source, one in zip(sources, targets, strict=True):
        write_atomic(one, source.read_bytes())
    place = shlex.quote(str(target))
    run = f"cd {place} && rocelab hpcc config.txt" if found.is_folder else f"rocelab run {place}"
    note(f"{target}: {found.summary}\nnext: {run}")
