"""What a scenario can name: schemes, topologies, workloads, traffic, probes, examples."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from rocelab import _examples, _rocelab

if TYPE_CHECKING:
    from rocelab.result import Result

Schema = dict[str, Any]
"""A JSON Schema, or a part of one."""


@dataclass(frozen=True)
class ProbeKind:
    """What a probe can record."""

    name: str
    """Its name in scenario files; also the kind of its series."""
    unit: str
    """The unit of its values; empty for plain numbers."""
    title: str
    """What an axis that shows it is called."""
    no_rows: str
    """Why a probe that looked may have no rows; empty if it has a row whenever it looks."""


def schemes() -> list[dict[str, Any]]:
    """Every congestion-control scheme, with its presets and parameters."""
    return _list(_rocelab.schemes())


def caveats_of(chosen: Iterable[tuple[str, str]]) -> list[str]:
    """The caveats of ``chosen``, pairs of scheme and preset, each once."""
    known = {one["name"]: one["caveat"] for one in schemes()}
    return caveat_lines((name, preset, known[name]) for name, preset in chosen)


def caveat_lines(told: Iterable[tuple[str, str, str]]) -> list[str]:
    """Caveats, each once with the presets of its scheme. ``told`` has scheme, preset and caveat."""
    presets: dict[tuple[str, str], dict[str, None]] = {}
    for scheme, preset, caveat in told:
        if caveat:
            presets.setdefault((scheme, caveat), {})[preset] = None
    return [f"{scheme} ({', '.join(known)}): {why}" for (scheme, why), known in presets.items()]


def caveats(results: Iterable[Result]) -> list[str]:
    """The caveats of the schemes of ``results``, each once."""
    summaries = (result.summary for result in results)
    return caveat_lines((one.scheme, one.preset, one.caveat) for one in summaries)


def topologies() -> list[dict[str, Any]]:
    """Every kind of topology."""
    return _list(_rocelab.topologies())


def workloads() -> list[dict[str, Any]]:
    """Every flow-size distribution that comes with rocelab."""
    return _list(_rocelab.workloads())


def traffic() -> list[dict[str, Any]]:
    """Every kind of traffic."""
    kinds = schema()["$defs"]["TrafficSpec"]["oneOf"]
    return [
        {
            "name": kind["properties"]["kind"]["const"],
            "summary": " ".join(kind["description"].split()),
        }
        for kind in kinds
    ]


def probes() -> list[dict[str, Any]]:
    """Everything that a probe can record, with its unit."""
    return [
        {"name": kind.name, "summary": kind.title, "unit": kind.unit}
        for kind in probe_kinds().values()
    ]


def balance() -> list[dict[str, Any]]:
    """How switches can choose among next hops: ``routing.balance``."""
    return _words("BalanceKind")


def spray() -> list[dict[str, Any]]:
    """How senders can spread the packets of a queue pair over paths: ``host.spray``."""
    return _words("SprayKind")


def examples() -> list[dict[str, Any]]:
    """The examples that ``rocelab new`` writes."""
    return [
        {"name": one.name, "summary": one.summary, "path": str(one.path)}
        for one in _examples.EXAMPLES
    ]


def presets() -> list[dict[str, Any]]:
    """Every preset of every scheme, with the scheme's name and caveat."""
    return [
        {**preset, "scheme": scheme["name"], "caveat": scheme["caveat"]}
        for scheme in schemes()
        for preset in scheme["presets"]
    ]


@cache
def probe_kinds() -> dict[str, ProbeKind]:
    """Everything that a probe can record, by its name in scenario files."""
    kinds = (ProbeKind(**kind) for kind in _list(_rocelab.probe_kinds()))
    return {kind.name: kind for kind in kinds}


def schema() -> Schema:
    """The JSON Schema of scenario files."""
    loaded: Schema = json.loads(_rocelab.json_schema())
    return loaded


@cache
def is_count(key: str) -> bool:
    """Whether the only numbers that a key of scenarios takes are whole: ``topology.k``."""
    *table, name = key.split(".")
    if table[-1:] == ["params"]:
        params = [one for scheme in schemes() for one in scheme["params"] if one["name"] == name]
        return bool(params) and all(one["kind"] == "count" for one in params)
    root = schema()
    found = [root]
    for word in key.split("."):
        found = [value for one in found for value in _below(one, word, root["$defs"])]
    kinds = {kind for one in found for kind in _types(one)}
    return "integer" in kinds and "number" not in kinds


def _below(table: Schema, word: str, defs: Schema) -> list[Schema]:
    """What the schema has for a key of a table, or for a place in a list."""
    inner = table.get("items") if word.isdigit() else table.get("properties", {}).get(word)
    return _variants(inner, defs) if inner else []


def _variants(one: Schema, defs: Schema) -> list[Schema]:
    """``one`` itself, or everything that it refers to or leaves to choose from."""
    if "$ref" in one:
        return _variants(defs[one["$ref"].rsplit("/", 1)[-1]], defs)
    choices = one.get("oneOf") or one.get("anyOf")
    return [each for choice in choices for each in _variants(choice, defs)] if choices else [one]


def _types(one: Schema) -> list[str]:
    kinds = one.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _words(kind: str) -> list[dict[str, Any]]:
    """The words of an enumeration in the schema, with what they mean."""
    return [
        {"name": one["const"], "summary": " ".join(one["description"].split())}
        for one in schema()["$defs"][kind]["oneOf"]
    ]


def _list(text: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(text)
    return loaded
