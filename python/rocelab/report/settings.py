"""The scenarios of a report: what differs from the defaults, and from run to run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from rocelab._format import pluralise
from rocelab.catalogue import schema
from rocelab.errors import ConfigError

if TYPE_CHECKING:
    from rocelab.result import Result

_MAX_TEXT = 100_000
"""Characters of a scenario up to which it is tried for each key whether it can be left out."""
_MAX_TABLES = 20
"""Tables of a list whose keys are tried."""
_MAX_ITEMS = 10
"""Items of a list that are shown."""

_UNTIL = ("poisson", "request-response")
"""Kinds of traffic that take either a duration or a number of messages."""
_FEW = {"messages": 1000, "repeat": 2, "count": 2}
"""Keys of traffic that say how many messages there are, and how many are enough to try others."""

Data = dict[str, Any]


def without_defaults(run: Result) -> Data:
    """The scenario of ``run`` without what it would have anyway.

    That is what has the schema's default, and what follows from other keys: the parameters of a
    preset, its marking thresholds, a timeout that the buffer gives.
    """
    full = run.scenario.to_dict()
    shorter = _without_static(full, schema(), schema())
    if len(run.scenario_toml) > _MAX_TEXT:
        return shorter
    found = _shortest(shorter, full, _with_few_messages)
    if found is None or not _stands_for(found, full):
        found = _shortest(shorter, full, _with_all_messages) or shorter
    return {key: value for key, value in found.items() if value != {}}


def _shortest(shorter: Data, full: Data, sparse: Callable[[Data], Data]) -> Data | None:
    """``shorter`` without keys that follow from others; None if it does not stand for ``full``.

    Scenarios are tried with the messages that ``sparse`` leaves.
    """
    sparse_full = sparse(full)
    if not _stands_for(sparse(shorter), sparse_full):
        return None
    for path in list(_places(shorter)):
        fewer = deepcopy(shorter)
        holder = _at(fewer, path[:-1])
        if holder is None or path[-1] not in holder:
            continue
        del holder[path[-1]]
        if path[0] == "traffic" and path[-1] in ("duration", *_FEW):
            stands = _stands_for(fewer, full)
        else:
            stands = _stands_for(sparse(fewer), sparse_full)
        if stands:
            shorter = fewer
    return shorter


def _with_all_messages(data: Data) -> Data:
    return data


def _with_few_messages(data: Data) -> Data:
    """``data`` with few messages of each generator.

    How many there are changes no other key, but the time to read the scenario.
    """
    traffic = [dict(table) for table in data.get("traffic", [])]
    for table in traffic:
        if table.get("kind") in _UNTIL:
            table.pop("duration", None)
            table.setdefault("messages", _FEW["messages"])
        for key in _FEW.keys() & table.keys():
            if isinstance(table[key], int):
                table[key] = min(table[key], _FEW[key])
    return {**data, "traffic": traffic} if traffic else data


def _stands_for(shorter: Data, full: Data) -> bool:
    """Whether defaults make ``full`` of ``shorter``."""
    from rocelab.scenario import Scenario

    try:
        return Scenario(**shorter).to_dict() == full
    except ConfigError:
        return False


def _places(data: Data) -> Iterator[tuple[Any, ...]]:
    """The places of all values, tables before what is in them, and the network last."""
    for section in sorted(data, key="topology".__eq__):
        if section not in ("name", "topology"):
            yield (section,)
        yield from _within(data[section], (section,))


def _within(value: object, home: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, list):
        for at, table in enumerate(value[:_MAX_TABLES]):
            yield from _within(table, (*home, at))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield (*home, key)
            yield from _within(inner, (*home, key))


def _at(data: Any, path: Sequence[Any]) -> Any:  # noqa: ANN401
    for step in path:
        if isinstance(data, dict) and step not in data:
            return None
        data = data[step]
    return data


def _without_static(
    values: Mapping[str, Any], of: Mapping[str, Any], root: Mapping[str, Any]
) -> Data:
    """``values`` without the keys whose value is the default that the schema ``of`` has."""
    properties = of.get("properties", {})
    found: Data = {}
    for key, value in values.items():
        entry = properties.get(key, {})
        if (of is root and key == "schema") or ("default" in entry and value == entry["default"]):
            continue
        if isinstance(value, Mapping):
            inner = _without_static(value, _resolved(entry, root), root)
            if inner:
                found[key] = inner
        elif value not in ([], None):
            found[key] = value
    return found


def _resolved(entry: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = entry.get("$ref")
    return root["$defs"][reference.rsplit("/", 1)[-1]] if reference else entry


def differences(scenarios: Sequence[Data], whole: Sequence[Data]) -> dict[str, list[str]]:
    """The keys in which ``scenarios``, which lack defaults, differ, and the value of each.

    A default is taken from ``whole``, and said to be one; a value is empty where there is none.
    """
    flat = [dict(_flat(one, "")) for one in scenarios]
    filled = [dict(_flat(one, "")) for one in whole]

    def value(at: int, key: str) -> str:
        default = f"{filled[at][key]} (default)" if key in filled[at] else ""
        return flat[at].get(key, default)

    keys = dict.fromkeys(key for one in flat for key in one)
    found = {key: [value(at, key) for at in range(len(flat))] for key in keys}
    return {key: values for key, values in found.items() if len(set(values)) > 1}


def _flat(value: object, place: str) -> Iterator[tuple[str, str]]:
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, Mapping):
        inner = list(value.items())
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        inner = list(enumerate(value))
    if not inner:
        yield place, value if isinstance(value, str) else toml(value)
    for key, one in inner:
        yield from _flat(one, f"{place}.{key}" if place else str(key))


def document(data: Data) -> str:
    """``data`` as TOML with a section for each table, long lists cut."""
    lines = [f"{key} = {toml(value)}" for key, value in data.items() if not _is_table(value)]
    for key, value in data.items():
        if isinstance(value, list) and _is_table(value):
            for table in value[:_MAX_TABLES]:
                lines += _section(f"[[{key}]]", table)
            more = len(value) - _MAX_TABLES
            lines += [f"# ... and {pluralise(more, 'table', 'tables')} more"] if more > 0 else []
        elif isinstance(value, Mapping):
            parts = {name: one for name, one in value.items() if not isinstance(one, Mapping)}
            lines += _section(f"[{key}]", parts) if parts else []
            for name, one in value.items():
                lines += _section(f"[{key}.{name}]", one) if isinstance(one, Mapping) else []
    return "\n".join(lines).strip() + "\n"


def _section(head: str, table: Mapping[str, Any]) -> list[str]:
    return ["", head, *(f"{name} = {toml(one)}" for name, one in table.items())]


def _is_table(value: object) -> bool:
    tables = isinstance(value, list) and value and isinstance(value[0], Mapping)
    return isinstance(value, Mapping) or bool(tables)


def toml(value: object) -> str:
    """A value as TOML has it in one line, a long list cut."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        shown = [toml(one) for one in value[:_MAX_ITEMS]]
        more = len(value) - len(shown)
        return "[" + ", ".join([*shown, *([f"... {more} more"] if more else [])]) + "]"
    return json.dumps(value, ensure_ascii=False)
