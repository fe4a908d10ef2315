"""What a summary may hold, whoever wrote it: text and numbers within limits."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rocelab._format import parse
from rocelab.catalogue import probe_kinds
from rocelab.errors import ResultError
from rocelab.io.layout import TRACE_COLUMNS
from rocelab.io.names import file_name
from rocelab.result import probes_of

if TYPE_CHECKING:
    from rocelab._rocelab import Summary

_MAX_NAME_BYTES = 200
"""Bytes of a name, as of a scenario, a scheme or a column."""
_MAX_TEXT_BYTES = 4000
"""Bytes of other text: warnings and caveats."""
_TEXTS = ("warnings", "caveat")
"""Keys of a summary whose text is no name."""
_MAX_NUMBER = 1 << 64
"""Whole numbers are below."""
_MAX_DEPTH = 8
"""Lists and tables within each other."""


def no_constant(word: str) -> NoReturn:
    """What a reader of JSON is to do about ``NaN`` and ``Infinity``, which are no JSON."""
    raise ValueError(f"{word} is not a number")


def check_values(path: Path, data: object) -> None:
    """Raises :class:`ResultError` where a text or number in ``data``, read from ``path``, is odd.

    Numbers are finite and below 2^64. Text has no half of a surrogate pair; names, which all text
    but warnings and caveats is, have at most 200 bytes.
    """
    _check(path, data, "", _MAX_NAME_BYTES, 0)


def _check(path: Path, data: object, place: str, longest: int, depth: int) -> None:
    where = f"{path}: damaged: {f'{place}: ' if place else ''}"
    if depth > _MAX_DEPTH:
        raise ResultError(f"{where}lists and tables are nested too deep")
    match data:
        case str():
            try:
                size = len(data.encode())
            except UnicodeEncodeError as error:
                raise ResultError(f"{where}{data[error.start]!r} is no character") from None
            if size > longest:
                raise ResultError(f"{where}has {size} bytes; the most is {longest}")
        case bool() | None:
            pass
        case int() if abs(data) >= _MAX_NUMBER:
            raise ResultError(f"{where}is larger than any number here")
        case float() if not math.isfinite(data):
            raise ResultError(f"{where}is not a finite number")
        case list():
            for number, value in enumerate(data):
                _check(path, value, _step(place, str(number)), longest, depth + 1)
        case dict():
            for key, value in data.items():
                _check(path, key, place, _MAX_NAME_BYTES, depth + 1)
                most = _MAX_TEXT_BYTES if not place and key in _TEXTS else longest
                _check(path, value, _step(place, key), most, depth + 1)


def _step(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


_PROBE_KEYS = {"name": str, "kind": str, "start": str, "interval": str}
"""What is looked at of a probe of the scenario."""


def checked_summary(path: Path, data: dict[str, Any]) -> Summary:
    """The summary that ``data``, read from ``path``, holds.

    Raises :class:`ResultError` where a value is missing or does not fit. What this version does
    not know is ignored.
    """
    from rocelab._rocelab import Summary

    try:
        summary = Summary.from_dict(data)
    except ValueError as error:
        raise ResultError(f"{path}: damaged: {error}") from None
    names: set[str] = set()
    kinds = probe_kinds() if summary.series else {}
    for number, series in enumerate(summary.series):
        if file_name(series.name) != series.name or series.name in names:
            raise ResultError(
                f"{path}: damaged: series.{number}: no series can be called {series.name!r}"
            )
        names.add(series.name)
        if series.kind not in kinds:
            raise ResultError(f"{path}: damaged: series.{number}: no probe is a {series.kind!r}")
    for number, trace in enumerate(summary.traces):
        if trace.name not in TRACE_COLUMNS:
            raise ResultError(f"{path}: damaged: traces.{number}: no trace is {trace.name!r}")
    if summary.deadlock is not None and not summary.deadlock.nodes:
        raise ResultError(f"{path}: damaged: deadlock.nodes: has no names")
    if len(summary.warning_kinds) != len(summary.warnings):
        raise ResultError(f"{path}: damaged: warning_kinds: not one for each of warnings")
    return summary


def check_probes(path: Path, scenario_toml: str, summary: Summary) -> None:
    """Raises :class:`ResultError` where the scenario lacks the probe of a series."""
    try:
        probes = probes_of(scenario_toml)
    except ValueError as error:
        raise ResultError(f"{path}: damaged: {error}") from None
    for number, probe in enumerate(probes):
        _check_keys(path, probe, _PROBE_KEYS, f"probe.{number}")
        for key in ("start", "interval"):
            if (parse(probe[key]) or (0, ""))[1] != "ps":
                raise ResultError(
                    f"{path}: damaged: probe.{number}: {key} cannot be {json.dumps(probe[key])}"
                )
    known = {probe["name"] for probe in probes}
    for entry in summary.series:
        if entry.name not in known:
            raise ResultError(f"{path}: damaged: has no probe {entry.name!r}")


def _check_keys(
    path: Path, data: object, keys: Mapping[str, type | tuple[type, ...]], place: str
) -> None:
    """Raises where ``data``, which stands at ``place`` in ``path``, lacks one of ``keys``."""
    where = f"{place}: " if place else ""
    if not isinstance(data, dict):
        raise ResultError(f"{path}: damaged: {where}not a table")
    missing = [key for key in keys if key not in data]
    if missing:
        raise ResultError(f"{path}: damaged: {where}has no {', '.join(missing)}")
    for key, kind in keys.items():
        # To Python alone a flag is a whole number.
        fits = isinstance(data[key], kind) and (kind is bool or not isinstance(data[key], bool))
        if not fits:
            raise ResultError(
                f"{path}: damaged: {where}{key} cannot be {json.dumps(data[key])[:40]}"
            )
