"""``rocelab bench``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rocelab._text import json_text
from rocelab.catalogue import schemes
from rocelab.cli.options import Settings, changes_of, choose_one
from rocelab.cli.output import show

if TYPE_CHECKING:
    from rocelab.bench import InstructionCount, Measurement


def bench(
    case: Annotated[
        list[str] | None,
        typer.Option("--case", metavar="NAME", help="Only this case; repeatable; default: all."),
    ] = None,
    scheme: Annotated[
        list[str] | None,
        typer.Option(
            "--scheme",
            metavar="SCHEME",
            help='Under this scheme; repeatable; "all" for every one; default: each case\'s own.',
        ),
    ] = None,
    settings: Settings = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Threads of each run; default: 1.")
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Runs of each case, the fastest of which counts; default: 5."
        ),
    ] = None,
    instructions: Annotated[
        bool,
        typer.Option(
            "--instructions",
            help="Count instructions per packet-hop instead, with valgrind; they repeat exactly. "
            "Of cases as they are, on one thread.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A list of cases, as JSON.")] = False,
) -> None:
    """Measure the simulator's speed on fixed cases.

    Each runs in a process of its own.
    """
    from rocelab.bench import (
        case_names,
        count_instructions,
        instructions_table,
        measure,
        table,
    )

    names = case or case_names()
    if instructions:
        others_given = {"scheme": scheme, "set": settings, "threads": threads, "repeat": repeat}
        choose_one(instructions=True, **others_given)
        counted = count_instructions(names)
        show(_json(counted) if as_json else instructions_table(counted))
        return
    others: list[str | None] = [None] if scheme is None else [*scheme]
    if "all" in (scheme or ()):
        others = [known.name for known in schemes()]
    measured = measure(
        names,
        schemes=others,
        settings=changes_of(settings),
        threads=1 if threads is None else threads,
        repeat=5 if repeat is None else repeat,
    )
    show(_json(measured) if as_json else table(measured))


def _json(rows: Sequence[Measurement] | Sequence[InstructionCount]) -> str:
    return json_text([asdict(row) for row in rows])
