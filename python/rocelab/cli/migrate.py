"""``rocelab migrate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocelab import _rocelab
from rocelab.cli.output import note
from rocelab.io.files import write_atomic
from rocelab.scenario import read_scenario


def migrate(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Scenario files.", show_default=False),
    ],
) -> None:
    """Rewrite scenario files of an earlier version for this one.

    Renamed keys get their new names. Comments, order and white space stay.
    """
    for file in files:
        text = read_scenario(file, newline="")
        new = _rocelab.migrate(text, file)
        if new == text:
            note(f"{file}: nothing to change")
        else:
            write_atomic(file, new.encode())
            note(f"{file}: rewritten")
