"""``rocelab plot``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rocelab.cli.output import print_warnings, show
from rocelab.errors import ResultError
from rocelab.io.files import check_output_directory
from rocelab.io.layout import SWEEP
from rocelab.io.open import check_files, open_result
from rocelab.io.read import leads_out
from rocelab.sweeps import DEFAULT_METRICS, open_sweep

if TYPE_CHECKING:
    from rocelab.plot.look import Look


def plot(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR", help="Result directories, or that of a sweep.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Directory of the pictures; default: DIR/plots, or plots for several results.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Of a sweep: what to draw; repeatable; default: {', '.join(DEFAULT_METRICS)}.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Where series over time begin, such as 1.5ms; default: with the run.",
        ),
    ] = None,
    end: Annotated[
        str | None, typer.Option(metavar="TIME", help="Where they end; default: with the run.")
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="WIDTHxHEIGHT",
            help="Of each picture, in inches, such as 7x3; default: as wide as a paper's column.",
        ),
    ] = None,
    y_scale: Annotated[
        Literal["linear", "log"] | None,
        typer.Option(
            metavar="SCALE", help="The y axis: linear or log; default: what suits the values."
        ),
    ] = None,
    notes: Annotated[
        bool, typer.Option("--notes/--no-notes", help="Caveats and remarks below the pictures.")
    ] = True,
) -> None:
    """Draw results, several in one picture.

    Prints the paths of the pictures (PNG and SVG).

    A picture needs data of all results. Messages say which pictures are not drawn, and which of an
    earlier command are left beside the new ones.
    """
    from rocelab.plot.gallery import plot_all, stale_pictures, stems
    from rocelab.plot.look import Look
    from rocelab.plot.span import Span

    look = Look(notes, _inches(size), y_scale=y_scale)
    if len(results) == 1 and (results[0] / SWEEP).is_file():
        if start or end:
            raise ResultError("--start and --end: are for the directories of runs")
        _plot_sweep(results[0], out, metric or DEFAULT_METRICS, look)
        return
    if metric:
        raise ResultError("--metric: is for the directory of a sweep")
    Span.of(start, end)
    target = out or (results[0] / "plots" if len(results) == 1 else Path("plots"))
    if out is None and len(results) == 1:
        _check_inside(target, results[0])
    opened = [open_result(directory) for directory in results]
    # All of it, as a picture is written before the next one's table is read.
    for result in opened:
        check_files(result)
    check_output_directory(target)
    paths, left_out = plot_all(opened, target, start=start, end=end, look=look)
    if not paths:
        raise ResultError(
            "nothing to draw: no flow completed and no series that all results have holds samples"
        )
    print_warnings([*left_out, *stale_pictures(target, paths, stems())])
    for path in paths:
        show(str(path))


def _plot_sweep(directory: Path, out: Path | None, names: Sequence[str], look: Look) -> None:
    from rocelab.plot.gallery import stale_pictures
    from rocelab.sweeps.metrics import select_metrics
    from rocelab.sweeps.pictures import save_plots, stems

    target = out or directory / "plots"
    if out is None:
        _check_inside(target, directory)
    done = open_sweep(directory)
    shown = select_metrics(names, done.metrics)
    check_output_directory(target)
    paths = save_plots(done, shown, target, look)
    if not paths:
        raise ResultError("nothing to draw: no combination has values of these metrics")
    print_warnings(stale_pictures(target, paths, stems(done.metrics)))
    for path in paths:
        show(str(path))


def _inches(size: str | None) -> tuple[float, float] | None:
    """Width and height, as ``--size`` has them."""
    if size is None:
        return None
    try:
        width, height = (float(part) for part in size.lower().split("x"))
    except ValueError:
        raise ResultError(
            f"--size {size}: needs width and height in inches", hint="such as --size 7x3"
        ) from None
    return width, height


def _check_inside(target: Path, directory: Path) -> None:
    if leads_out(target, directory):
        raise ResultError(
            f"{target}: leads out of the result, to {os.path.realpath(target)}",
            hint="say where the pictures go: --out DIR",
        )
