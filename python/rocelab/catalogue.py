"""What a scenario can name: schemes, topologies, workloads, traffic, probes, examples."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from rocelab import _examples, _rocelab

if TYPE_CHECKING:
    from rocelab.result import Result

Schema = dict[str, Any]
"""A JSON Schema, or a part of one."""


@dataclass(frozen=True)
class Named:
    """What a scenario can name."""

    name: str
    summary: str
    """What it is, in a line."""


@dataclass(frozen=True)
class Marking:
    """The ECN marking of a preset."""

    kmin: str
    kmax: str
    pmax: float
    at: str
    """The rate that these are for. Others scale with it."""


@dataclass(frozen=True)
class PresetInfo(Named):
    """Values of all parameters of a scheme."""

    source: str
    """Where the values are from."""
    ecn: Marking | None
    """None where packets are not marked."""


@dataclass(frozen=True)
class SchemePreset(PresetInfo):
    """A preset, with what it is of."""

    scheme: str
    """The name of its scheme."""
    caveat: str
    """That of its scheme."""


@dataclass(frozen=True)
class ParameterInfo:
    """A parameter of a scheme."""

    name: str
    symbol: str
    """Its symbol in the paper; empty where it has none."""
    kind: str
    """``time``, ``rate``, ``bytes``, ``number``, ``count``, ``flag`` or ``choice``."""
    choices: tuple[str, ...] | None
    """The values that it can have, if it is a choice."""
    range: tuple[str, str] | None
    """The lowest and the highest value; None where all of its kind are."""
    summary: str
    """What it is, in a line."""
    source: str
    """Where it is from."""


@dataclass(frozen=True)
class Tolerance:
    """How a scheme goes together with a way to spread or recover packets."""

    name: str
    """The way."""
    fit: Literal["works", "note", "refused"]
    why: str
    """The note or the reason; empty if it works."""


@dataclass(frozen=True)
class SchemeInfo(Named):
    """A congestion-control scheme."""

    paper: str
    caveat: str
    """What to know before its numbers are trusted; empty where there is nothing."""
    symmetric_paths: bool
    """Whether ACKs must take the path of the data."""
    input_queues: bool
    """Whether its switches have input queues."""
    tolerates: tuple[Tolerance, ...]
    beside: tuple[str, ...]
    """The schemes that one run may have beside it."""
    presets: tuple[PresetInfo, ...]
    """The first is the default."""
    params: tuple[ParameterInfo, ...]


@dataclass(frozen=True)
class TopologyKey(Named):
    """A key of a kind of topology."""

    required: bool
    default: str | None
    """As JSON; None where it has none."""


@dataclass(frozen=True)
class TopologyInfo(Named):
    """A kind of topology."""

    keys: tuple[TopologyKey, ...]


@dataclass(frozen=True)
class WorkloadInfo(Named):
    """A flow-size distribution."""

    source: str
    """Where it is from."""
    mean_bytes: float
    p50_bytes: float
    p99_bytes: float


@dataclass(frozen=True)
class Quantity(Named):
    """A number that a run has."""

    unit: str
    """Its unit; empty for plain numbers."""


@dataclass(frozen=True)
class ExampleInfo(Named):
    """An example."""

    path: str
    """Its file, or its folder."""


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


@cache
def schemes() -> tuple[SchemeInfo, ...]:
    """Every congestion-control scheme, with its presets and parameters."""
    return tuple(
        SchemeInfo(
            **one
            | {
                "tolerates": tuple(Tolerance(**each) for each in one["tolerates"]),
                "beside": tuple(one["beside"]),
                "presets": tuple(_preset(each) for each in one["presets"]),
                "params": tuple(_parameter(each) for each in one["params"]),
            }
        )
        for one in _list(_rocelab.schemes())
    )


def _preset(one: dict[str, Any]) -> PresetInfo:
    return PresetInfo(**one | {"ecn": one["ecn"] and Marking(**one["ecn"])})


def _parameter(one: dict[str, Any]) -> ParameterInfo:
    choices, ends = one.get("choices"), one["range"]
    words = choices if choices is None else tuple(choices)
    return ParameterInfo(**one | {"choices": words, "range": ends if ends is None else tuple(ends)})


def caveats_of(chosen: Iterable[tuple[str, str]]) -> list[str]:
    """The caveats of ``chosen``, pairs of scheme and preset, each once."""
    known = {one.name: one.caveat for one in schemes()}
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


@cache
def topologies() -> tuple[TopologyInfo, ...]:
    """Every kind of topology, with its keys."""
    return tuple(
        TopologyInfo(**one | {"keys": tuple(TopologyKey(**key) for key in one["keys"])})
        for one in _list(_rocelab.topologies())
    )


@cache
def workloads() -> tuple[WorkloadInfo, ...]:
    """Every flow-size distribution that comes with rocelab."""
    return tuple(WorkloadInfo(**one) for one in _list(_rocelab.workloads()))


def traffic() -> tuple[Named, ...]:
    """Every kind of traffic."""
    kinds = schema()["$defs"]["TrafficSpec"]["oneOf"]
    return tuple(
        Named(kind["properties"]["kind"]["const"], " ".join(kind["description"].split()))
        for kind in kinds
    )


def probes() -> tuple[Quantity, ...]:
    """Everything that a probe can record, with its unit."""
    return tuple(Quantity(kind.name, kind.title, kind.unit) for kind in probe_kinds().values())


def balance() -> tuple[Named, ...]:
    """How switches can choose among next hops: ``routing.balance``."""
    return _words("BalanceKind")


def spray() -> tuple[Named, ...]:
    """How senders can spread the packets of a queue pair over paths: ``host.spray``."""
    return _words("SprayKind")


def examples() -> tuple[ExampleInfo, ...]:
    """The examples that ``rocelab new`` writes."""
    return tuple(ExampleInfo(one.name, one.summary, str(one.path)) for one in _examples.EXAMPLES)


def presets() -> tuple[SchemePreset, ...]:
    """Every preset of every scheme."""
    return tuple(
        SchemePreset(**vars(preset), scheme=scheme.name, caveat=scheme.caveat)
        for scheme in schemes()
        for preset in scheme.presets
    )


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
        params = [one for scheme in schemes() for one in scheme.params if one.name == name]
        return bool(params) and all(one.kind == "count" for one in params)
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


def _words(kind: str) -> tuple[Named, ...]:
    """The words of an enumeration in the schema, with what they mean."""
    return tuple(
        Named(one["const"], " ".join(one["description"].split()))
        for one in schema()["$defs"][kind]["oneOf"]
    )


def _list(text: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(text)
    return loaded
