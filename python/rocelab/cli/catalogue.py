"""``rocelab list`` and ``rocelab schema``."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from rocelab import catalogue


class Topic(StrEnum):
    """What can be listed."""

    SCHEMES = "schemes"
    PRESETS = "presets"
    TOPOLOGIES = "topologies"
    WORKLOADS = "workloads"


_LISTS = {
    Topic.SCHEMES: catalogue.schemes,
    Topic.PRESETS: catalogue.presets,
    Topic.TOPOLOGIES: catalogue.topologies,
    Topic.WORKLOADS: catalogue.workloads,
}


def list_(
    topic: Annotated[Topic | None, typer.Argument(help="What to list; default: all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All fields, as JSON.")] = False,
) -> None:
    """List schemes, presets, topologies and workloads."""
    topics = [topic] if topic else list(Topic)
    if as_json:
        found = {each.value: _LISTS[each]() for each in topics}
        print(json.dumps(found[topic.value] if topic else found, indent=2, ensure_ascii=False))
        return
    for index, each in enumerate(topics):
        if topic is None:
            print(f"{each.value}:" if index == 0 else f"\n{each.value}:")
        _print_names(_LISTS[each]())


def _print_names(entries: list[dict[str, Any]]) -> None:
    width = max((len(entry["name"]) for entry in entries), default=0)
    for entry in entries:
        summary = entry["summary"]
        if "scheme" in entry:
            summary = f"{entry['scheme']}: {summary}"
        print(f"{entry['name']:<{width}}  {summary}".rstrip())
        if entry.get("caveat") and "scheme" not in entry:
            print(f"{'':<{width}}  caveat: {entry['caveat']}")


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    print(json.dumps(catalogue.schema(), indent=2, ensure_ascii=False))
