"""``rocelab view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocelab.cli.options import check_ending
from rocelab.cli.output import note, show


def view(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A result directory.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE.html", help="The file to write; default: DIR/view.html."
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open it in a browser.")
    ] = True,
) -> None:
    """Show in one page how congestion spreads through a network.

    The run must have recorded what it shows: `rocelab run FILE --set 'probe=[{ preset = "view" }]'`
    does. The page opens from disk and loads nothing from elsewhere.
    """
    import webbrowser

    from rocelab.view import write_view

    path = out or directory / "view.html"
    check_ending("--out", path, ".html", ".htm")
    show(str(write_view(directory, path)))
    if browser and not webbrowser.open(path.resolve().as_uri()):
        note("no browser was found to open it")
