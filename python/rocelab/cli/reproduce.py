"""``rocelab reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocelab._text import json_text
from rocelab.cli.options import Cache, Jobs, NoBar, Strict, check_text_file, renamed, write_text
from rocelab.cli.output import check_doubts, report_kept_runs, show
from rocelab.errors import ConfigError
from rocelab.io.files import check_output_directory


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Figures such as fncc/fig9, or whole papers."),
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
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", help="Write the claims as a Markdown page, too."),
    ] = None,
    strict: Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the claims as JSON.")] = False,
    quiet: NoBar = False,
    old_page: Annotated[str | None, renamed("--page", "--markdown")] = None,
) -> None:
    """Make published figures again and judge the papers' claims."""
    del old_page
    from rocelab.papers import reproduce as papers
    from rocelab.sweeps.cache import default_cache

    if as_list:
        show("\n".join(papers.ids()))
        return
    if not figures:
        raise ConfigError("no figure given", hint="`rocelab reproduce --list` has all")
    chosen = papers.chosen(figures)
    check_text_file("--markdown", markdown, ".md")
    for paper, figure in chosen:
        check_output_directory(out / paper.id / figure.id)
    made = []
    with report_kept_runs("the cache"):
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
                show(f"{papers.table(one)}\n  written to {one.directory}\n", flush=True)
    if as_json:
        show(json_text({one.id: one.claims for one in made}))
    if markdown:
        command = " ".join(["rocelab reproduce", *figures, *(["--quick"] if quick else [])])
        write_text(markdown, papers.page(made, command))
    doubts = [f"{one.id}: {text}" for one in made for text in one.doubts]
    check_doubts(doubts, strict=strict, told=False)
