"""``rocelab bench``."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def bench(
    case: Annotated[
        list[str] | None, typer.Option("--case", help="A case alone; repeatable.")
    ] = None,
    scheme: Annotated[
        list[str] | None,
        typer.Option("--scheme", help='Under this scheme; repeatable; "all" for every one.'),
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads of each run.")] = 1,
    repeat: Annotated[int, typer.Option(help="Runs of each case; the fastest counts.")] = 5,
    instructions: Annotated[
        bool,
        typer.Option(
            "--instructions",
            help="Count instructions per packet-hop instead, with valgrind; they repeat exactly.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A list of cases, as JSON.")] = False,
) -> None:
    """Measure the simulator's speed on fixed cases, each in a process of its own."""
    from rocelab.bench import case_names, count_instructions, measure, table
    from rocelab.catalogue import schemes

    names = case or case_names()
    if instructions:
        measured = [count_instructions(name) for name in names]
    else:
        others: list[str | None] = [None] if scheme is None else [*scheme]
        if scheme == ["all"]:
            others = [str(known["name"]) for known in schemes()]
        measured = [
            measure(name, scheme=other, threads=threads, repeat=repeat)
            for name in names
            for other in others
        ]
    print(json.dumps(measured, indent=2) if as_json else table(measured))
