"""``rocelab bench``."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def bench(
    case: Annotated[
        list[str] | None, typer.Option("--case", help="A case alone; repeatable.")
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads of each run.")] = 1,
    repeat: Annotated[int, typer.Option(help="Runs of each case; the fastest counts.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="A list of cases, as JSON.")] = False,
) -> None:
    """Measure the simulator's speed on fixed cases, each in a process of its own."""
    from rocelab.bench import case_names, measure, table

    names = case or case_names()
    measured = [measure(name, threads=threads, repeat=repeat) for name in names]
    print(json.dumps(measured, indent=2) if as_json else table(measured))
