"""``rocelab report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocelab.cli.options import check_ending
from rocelab.cli.output import show


def report(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="Result directories, a sweep's directory, or one of reproduced figures.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE.html", help="The file to write.")
    ] = Path("report.html"),
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What tables and figures show; repeatable; a sweep is sorted by the first. "
            "Default: slowdowns by tag, queues, pauses and drops.",
        ),
    ] = None,
) -> None:
    """Write a report with interactive figures, in one HTML file.

    It opens from disk and loads nothing from elsewhere.
    """
    from rocelab.report import write_report

    check_ending("--out", out, ".html", ".htm")
    show(str(write_report(directories, out, metrics=metric or ())))
