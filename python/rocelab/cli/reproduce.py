"""``rocelab reproduce``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rocelab.errors import ConfigError, ResultError

Cache = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Where results are kept; default: rocelab in the user's cache."
    ),
]
Jobs = Annotated[int | None, typer.Option(help="Runs at a time; default: one for each processor.")]


@contextmanager
def kept_runs(place: str) -> Iterator[None]:
    """On Ctrl-C, says where what is left of the runs is and ends the command."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"interrupted: runs that are complete stay in {place}", file=sys.stderr)
        raise typer.Exit(130) from None


def check_text_file(option: str, path: Path | None, ending: str) -> None:
    """Raises where ``path``, given with ``option``, could not be written; before the runs."""
    from rocelab.store import check_file

    if path is None:
        return
    if path.suffix != ending:
        raise ResultError(f"{option} {path}: must end in {ending}")
    if not path.parent.exists():
        raise ResultError(f"{path}: there is no directory {path.parent}")
    check_file(path, in_place=True)


def write_text(path: Path, text: str) -> None:
    """Writes what :func:`check_text_file` found a place for."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ResultError(f"{path}: cannot write: {error.strerror or error}") from None


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID...", help="Figures such as fncc/fig9, or whole papers."),
    ] = None,
    as_list: Annotated[bool, typer.Option("--list", help="Print every id, one a line.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A version in seconds that keeps the shape.")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to; each figure has a directory in it.")
    ] = Path("out/reproduce"),
    cache: Cache = None,
    jobs: Jobs = None,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", help="Write the claims as a Markdown page, too."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the claims as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Make figures of published papers again and judge the papers' claims."""
    from rocelab.papers import reproduce as papers
    from rocelab.runner import default_cache
    from rocelab.store import check_directory

    if as_list:
        print("\n".join(papers.ids()))
        return
    if not figures:
        raise ConfigError("no figure given", hint="`rocelab reproduce --list` has all")
    chosen = papers.chosen(figures)
    check_text_file("--page", page, ".md")
    for paper, figure in chosen:
        check_directory(out / paper.id / figure.id)
    made = []
    with kept_runs("the cache"):
        for paper, figure in chosen:
            one = papers.reproduce(
                paper,
                figure,
                out,
                cache=cache or default_cache(),
                quick=quick,
                jobs=jobs,
                progress=not quiet,
            )
            made.append(one)
            if not as_json:
                print(f"{papers.table(one)}\n  written to {one.directory}\n", flush=True)
    if as_json:
        print(
            json.dumps({one.id: one.claims for one in made}, indent=2, ensure_ascii=False),
        )
    if page:
        command = " ".join(["rocelab reproduce", *figures, *(["--quick"] if quick else [])])
        write_text(page, papers.page(made, command))
