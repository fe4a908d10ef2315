"""``rocelab tournament``."""

from __future__ import annotations

from typing import Annotated

import typer

from rocelab._text import json_text
from rocelab.cli.options import (
    Cache,
    CsvFile,
    Dask,
    Jobs,
    MarkdownFile,
    NoBar,
    Strict,
    check_text_file,
    write_text,
)
from rocelab.cli.output import check_doubts, print_warnings, report_kept_runs, show, show_caveats


def tournament(
    schemes: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCHEME", help="Schemes; default: all of them."),
    ] = None,
    paper: Annotated[
        list[str] | None,
        typer.Option(
            "--paper",
            metavar="NAME",
            help="Only this paper's traffic, such as fncc; repeatable; default: all.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller networks and three seeds in place of five.")
    ] = False,
    csv: CsvFile = None,
    markdown: MarkdownFile = None,
    cache: Cache = None,
    jobs: Jobs = None,
    dask: Dask = None,
    strict: Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="A list of rows, as JSON.")] = False,
    quiet: NoBar = False,
) -> None:
    """Run schemes on the papers' traffic, and mark the best.

    They are compared by slowdowns of small and large messages, queues, pauses, fairness and
    recovery.
    """
    from rocelab.sweeps.cache import default_cache
    from rocelab.sweeps.remote import dask_executor
    from rocelab.tournament import page as pages
    from rocelab.tournament.play import chosen_schemes, chosen_traffics, play

    chosen = chosen_schemes(schemes or [])
    traffics = chosen_traffics(paper or [])
    check_text_file("--csv", csv, ".csv")
    check_text_file("--markdown", markdown, ".md")
    with report_kept_runs("the cache"), dask_executor(dask) as executor:
        played = play(
            chosen,
            traffics,
            cache=cache or default_cache(),
            quick=quick,
            jobs=jobs,
            executor=executor,
            progress=not quiet,
        )
    command = " ".join(
        [
            "rocelab tournament",
            *(schemes or []),
            *(f"--paper {name}" for name in paper or []),
            *(["--quick"] if quick else []),
        ]
    )
    if csv:
        write_text(csv, pages.to_csv(played))
    if markdown:
        write_text(markdown, pages.page(played, command))
    doubts = [f"{traffic}: {text}" for traffic, texts in played.doubts.items() for text in texts]
    if as_json:
        # The table has them beside its numbers.
        print_warnings(doubts)
        show(json_text(pages.as_data(played)))
    else:
        show(pages.table(played))
        show_caveats(pages.caveats(played))
    check_doubts(doubts, strict=strict, told=True)
