"""``rocelab plot``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rocelab.cli.output import print_warnings, show
from rocelab.errors import ResultError
from rocelab.io.files import check_output_directory
from rocelab.io.open import check_files, open_result
from rocelab.io.read import leads_out


def plot(
    results: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Result directories.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where to; default: DIR/plots, or plots for several."),
    ] = None,
) -> None:
    """Draw results, several in one picture.

    The paths of the pictures (PNG and SVG) are printed.

    What not all results have the data for is not drawn. That is said, and so is which pictures of
    an earlier time are left beside the new ones.
    """
    from rocelab.plot.gallery import plot_all, stale_pictures, stems

    target = out or (results[0] / "plots" if len(results) == 1 else Path("plots"))
    if out is None and len(results) == 1 and leads_out(target, results[0]):
        raise ResultError(
            f"{target}: leads out of the result, to {os.path.realpath(target)}",
            hint="say where the pictures go: --out DIR",
        )
    opened = [open_result(directory) for directory in results]
    # All of it, as a picture is written before the next one's table is read.
    for result in opened:
        check_files(result)
    check_output_directory(target)
    paths, left_out = plot_all(opened, target)
    if not paths:
        raise ResultError(
            "nothing to draw: no flow completed and no series that all results have holds samples"
        )
    print_warnings([*left_out, *stale_pictures(target, paths, stems())])
    for path in paths:
        show(str(path))
