"""``rocelab reproduce``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocelab._text import json_text
from rocelab.cli.options import (
    Cache,
    Dask,
    Jobs,
    NoBar,
    Strict,
    check_text_file,
    renamed,
    write_text,
)
from rocelab.cli.output import check_doubts, report_kept_runs, show
from rocelab.errors import ConfigError
from rocelab.io.files import check_output_directory, to_json, write_atomic

if TYPE_CHECKING:
    from rocelab.papers.reproduce import Reproduction


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Figures such as fncc/fig9, or whole papers."),
    ] = None,
    as_list: Annotated[bool, typer.Option("--list", help="Print every id, one a line.")] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Smaller and shorter runs where the full version takes minutes."
        ),
    ] = False,
    reading: Annotated[
        str | None,
        typer.Option(
            "--reading",
            metavar="NAME",
            help="A reading other than the headline's, or the headline's with other options of "
            "decisions, such as F1d,F11.",
        ),
    ] = None,
    readings: Annotated[
        bool,
        typer.Option(
            "--readings",
            help="Judge the claims in all readings, too, and write readings.md and readings.json.",
        ),
    ] = False,
    quick_readings: Annotated[
        bool,
        typer.Option(
            "--quick-readings",
            help="With --readings: all readings but the headline's in the quick version.",
        ),
    ] = False,
    flows: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="For themis: the directory mix of its prototype, with the published flows.",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Each figure has a directory in it."),
    ] = Path("out/reproduce"),
    cache: Cache = None,
    jobs: Jobs = None,
    dask: Dask = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", help="Write the claims as a Markdown page, too."),
    ] = None,
    strict: Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the claims as JSON.")] = False,
    quiet: NoBar = False,
    old_page: Annotated[str | None, renamed("--page", "--markdown")] = None,
) -> None:
    """Make published figures again and judge the papers' claims.

    A reading makes one choice for each thing that a paper leaves open. The headline's reading is
    chosen by a rule that never looks at results.
    """
    del old_page
    from rocelab.papers import reproduce as papers
    from rocelab.papers.matrix import evaluate, single
    from rocelab.papers.pages import page
    from rocelab.sweeps.cache import default_cache
    from rocelab.sweeps.remote import dask_executor

    if as_list:
        show("\n".join(papers.ids()))
        return
    if not figures:
        raise ConfigError("no figure given", hint="`rocelab reproduce --list` has all")
    if reading is not None and readings:
        raise ConfigError("--reading: --readings has all readings", hint="leave one of them out")
    if quick_readings and not readings:
        raise ConfigError("--quick-readings: it is a way of --readings", hint="add --readings")
    if flows is not None and not any(id_.split("/")[0] == "themis" for id_ in figures):
        raise ConfigError("--flows: only themis has published flows", hint="name themis, too")
    chosen = papers.chosen(figures, flows)
    by_paper = {paper.id: paper for paper, _ in chosen}
    check_text_file("--markdown", markdown, ".md")
    named = {
        id_: papers.reading_of(paper, _reading_name(id_, reading, flows, readings))
        for id_, paper in by_paper.items()
    }
    for paper, figure in chosen:
        check_output_directory(out / paper.id / figure.id)
    words = [*figures, *(["--quick"] if quick else []), *(["--readings"] if readings else [])]
    words += ["--quick-readings"] if quick_readings else []
    words += ["--flows DIR"] if flows else []
    words += [f"--reading {shlex.quote(reading)}"] if reading else []
    command = " ".join(["rocelab reproduce", *words])
    place = cache or default_cache()
    made = []
    with report_kept_runs("the cache"), dask_executor(dask) as executor:
        for paper, figure in chosen:
            one = papers.reproduce(
                paper,
                figure,
                out,
                cache=place,
                reading=named[paper.id],
                quick=quick,
                jobs=jobs,
                executor=executor,
                progress=not quiet,
            )
            made.append(one)
            if not as_json:
                show(f"{papers.table(one)}\n  written to {one.directory}\n", flush=True)
        matrices = {}
        for paper in by_paper.values() if readings else ():
            matrices[paper.id] = evaluate(
                paper,
                [figure for other, figure in chosen if other is paper],
                cache=place,
                command=command,
                quick=quick,
                named_quick=quick_readings,
                jobs=jobs,
                executor=executor,
                progress=not quiet,
                done=lambda text: None if as_json else show(text, flush=True),
            )
    for id_, matrix in matrices.items():
        write_atomic(out / id_ / "readings.json", to_json(matrix.to_dict()))
        write_atomic(out / id_ / "readings.md", page(matrix).encode())
        if not as_json:
            show(f"{id_}: readings.json and readings.md written to {out / id_}")
    if markdown is not None:
        shown = [
            matrices.get(id_)
            or single(paper, _of_paper(made, id_), named[id_], command=command, quick=quick)
            for id_, paper in by_paper.items()
        ]
        write_text(markdown, "\n".join(page(matrix) for matrix in shown))
    if as_json:
        claims = {one.id: one.claims_as_data() for one in made}
        judged = {id_: matrix.to_dict() for id_, matrix in matrices.items()}
        show(json_text({"figures": claims, "readings": judged} if readings else claims))
    doubts = [f"{one.id}: {text}" for one in made for text in one.doubts]
    check_doubts(doubts, strict=strict, told=False)


def _of_paper(made: Sequence[Reproduction], paper: str) -> dict[str, Reproduction]:
    """The figures of a paper that were made, by their ids in it."""
    start = f"{paper}/"
    return {one.id.removeprefix(start): one for one in made if one.id.startswith(start)}


def _reading_name(
    paper: str, reading: str | None, flows: Path | None, readings: bool
) -> str | None:
    """What figures are made in: with published flows in their reading, unless all are asked for."""
    from rocelab.papers.themis.decisions import PUBLISHED

    if reading is None and flows is not None and paper == "themis" and not readings:
        return PUBLISHED.name
    return reading
