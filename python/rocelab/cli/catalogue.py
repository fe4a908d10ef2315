"""``rocelab list`` and ``rocelab schema``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rocelab import catalogue
from rocelab._text import json_text
from rocelab.cli.output import show

_LISTS = {
    "schemes": catalogue.schemes,
    "presets": catalogue.presets,
    "topologies": catalogue.topologies,
    "workloads": catalogue.workloads,
}


def _topic(word: str | None) -> str | None:
    # Not an enumeration: some versions of Typer describe its values in words of their own.
    if word is None or word in _LISTS:
        return word
    raise typer.BadParameter(f"{word!r} is not one of {', '.join(map(repr, _LISTS))}.")


def list_(
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar=f"[{'|'.join(_LISTS)}]", callback=_topic, help="What to list; default: all."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All fields, as JSON.")] = False,
) -> None:
    """List schemes, presets, topologies and workloads."""
    topics = [topic] if topic else list(_LISTS)
    if as_json:
        found = {each: _LISTS[each]() for each in topics}
        show(json_text(found[topic] if topic else found))
        return
    for index, each in enumerate(topics):
        if topic is None:
            show(f"{each}:" if index == 0 else f"\n{each}:")
        _print_names(_LISTS[each]())


def _print_names(entries: list[dict[str, Any]]) -> None:
    width = max((len(entry["name"]) for entry in entries), default=0)
    for entry in entries:
        summary = entry["summary"]
        if "scheme" in entry:
            summary = f"{entry['scheme']}: {summary}"
        show(f"{entry['name']:<{width}}  {summary}".rstrip())
        if entry.get("caveat") and "scheme" not in entry:
            show(f"{'':<{width}}  caveat: {entry['caveat']}")


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    show(json_text(catalogue.schema()))
