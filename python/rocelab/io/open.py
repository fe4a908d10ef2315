"""Opens result directories; each file is compared with its checksum when it is read.

A directory holds ``scenario.toml``, ``summary.json``, ``flows.parquet``, ``ports.parquet``,
``series/NAME.parquet``, ``traces/NAME.parquet``, ``traces/packets.pcapng`` and, where lossless
classes lost packets, ``drops.json``. The same scenario and seed give the same bytes in every
Parquet file and capture. What else is there, as pictures, stays when a result is replaced.
``summary.json`` has checksums of all of them, which are compared when a file is read.
"""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocelab import _rocelab
from rocelab._format import pluralise
from rocelab._warn import warn
from rocelab.errors import ConfigError, ResultError, UnverifiedResultWarning
from rocelab.io.checksums import Stored, StoredCapture, has_checksums, split_checksums
from rocelab.io.files import os_errors_as_result_error
from rocelab.io.layout import (
    CAPTURE,
    DROPS,
    FLOWS,
    PORT_COLUMNS,
    PORTS,
    SCENARIO,
    SCHEMA_VERSION,
    SERIES,
    SUMMARY,
    SWEEP,
    TABLE_COLUMNS,
    TRACE_COLUMNS,
    TRACES,
    TUNE,
    Columns,
)
from rocelab.io.names import file_name
from rocelab.io.upgrade import upgraded
from rocelab.io.validate import (
    check_probes,
    check_values,
    checked_summary,
    no_constant,
)
from rocelab.result import Result, series_of
from rocelab.table import Table

if TYPE_CHECKING:
    import polars as pl

    from rocelab._rocelab import SeriesInfo, Summary, TraceInfo

_OF_DONE = ("fct_ps", "slowdown")
"""Columns of flows that are null in those that are not done, and in no others."""

_KINDS: dict[type, str] = {int: "whole numbers", float: "numbers", str: "text", bool: "flags"}

_OLD_SCENARIO = re.compile(r"\s*schema = 1\s")
"""How a scenario of schema 1 begins, as rocelab writes it."""

_MAX_SCENARIO_BYTES = 1 << 30
"""Bytes of a scenario."""

_MAX_SUMMARY_BYTES = 1 << 26
"""Bytes of a summary, or of a list of drops."""


def open_result(directory: str | os.PathLike[str]) -> Result:
    """The result in ``directory``. Tables are read, and checked, when they are first looked at.

    Raises :class:`ResultError` where there is none, where it is damaged, or where a newer rocelab
    wrote it. A result of a version that knew no checksums has an
    :class:`UnverifiedResultWarning`.
    """
    result = open_without_warning(directory)
    if result.unverified:
        warn(
            UnverifiedResultWarning(
                f"{directory}: an earlier version wrote it, without checksums: "
                "damaged or edited values go unnoticed"
            )
        )
    return result


def open_without_warning(directory: str | os.PathLike[str]) -> Result:
    """Opens a result as :func:`open_result` does, without the warning about missing checksums."""
    directory = Path(directory)
    summary_path = directory / SUMMARY
    try:
        text = _text(Stored(directory, None), SUMMARY, _MAX_SUMMARY_BYTES)
        summary = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{summary_path}: damaged: {error}") from None
    if not isinstance(summary, dict) or not isinstance(summary.get("schema"), int):
        raise ResultError(f"{summary_path}: not a summary of rocelab")
    if summary["schema"] > SCHEMA_VERSION:
        raise ResultError(
            f"{directory}: written by rocelab {summary.get('version')}, which this one cannot read",
            hint="use a newer rocelab",
        )
    checksums = None
    if summary["schema"] > 1 or has_checksums(summary):
        summary, checksums = split_checksums(summary_path, summary)
    stored = Stored(directory, checksums)
    scenario_toml = _text(stored, SCENARIO, _MAX_SCENARIO_BYTES)
    if _OLD_SCENARIO.match(scenario_toml):
        scenario_toml = _migrated(directory / SCENARIO, scenario_toml)
    drops = _drops(stored)
    summary = upgraded(summary)
    check_values(summary_path, summary)
    checked = checked_summary(summary_path, summary)
    check_probes(directory / SCENARIO, scenario_toml, checked)
    return _result(stored, checked, drops, scenario_toml)


def unread(result: Result) -> Result:
    """``result`` with tables that are read again, so that those it keeps stay as they are.

    They are checked against the checksums that ``result`` was opened with. One that was not read
    from a directory is returned itself.
    """
    if result._stored is None:
        return result
    return _result(result._stored, result.summary, result.drops, result.scenario_toml)


def _result(
    stored: Stored, summary: Summary, drops: list[dict[str, Any]], scenario_toml: str
) -> Result:
    """A result whose tables are read when they are first looked at."""
    capture = f"{TRACES}/{CAPTURE}"
    ports = Table(partial(_read_ports, stored))
    return Result(
        flows=Table(partial(_read_flows, stored, summary)),
        ports=ports,
        series=series_of(summary, partial(_read_series, stored, ports)),
        traces={
            entry.name: Table(partial(_read_trace, stored, ports, entry))
            for entry in summary.traces
        },
        capture=StoredCapture(stored, capture) if stored.has(capture) else None,
        summary=summary,
        drops=drops,
        scenario_toml=scenario_toml,
        stored=stored,
    )


def _migrated(path: Path, scenario_toml: str) -> str:
    """The scenario of a result whose keys have other names now."""
    try:
        return _rocelab.migrate(scenario_toml, path)
    except ConfigError as error:
        raise ResultError(f"{path}: damaged: {error.message}") from None


def _text(stored: Stored, name: str, most: int) -> str:
    """The text, of at most ``most`` bytes, of a file that every result has."""
    try:
        return stored.text(name, most)
    except ResultError as error:
        raise _no_result(stored.directory) or error from None


def _no_result(directory: Path) -> ResultError | None:
    """Why ``directory``, whose summary cannot be read, is no result; None where it may be one."""
    with os_errors_as_result_error(directory, "read"):
        if not directory.exists():
            return ResultError(f"{directory}: no such directory")
        missing = [name for name in (SUMMARY, SCENARIO) if not (directory / name).exists()]
    if not missing:
        return None
    hint = results_within(directory) or "`rocelab run SCENARIO.toml --out DIR` makes one"
    return ResultError(f"{directory}: not a result directory: {missing[0]} is missing", hint=hint)


def results_within(directory: Path) -> str | None:
    """Where the results of a sweep or a search are, as a hint; None if this is neither."""
    if (directory / SWEEP).is_file():
        return f"it is a sweep, whose results are {directory / 'runs'}/COMBINATION/SEED"
    if (directory / TUNE).is_file():
        return (
            f"it is a search, whose trials are in {directory / 'trials.csv'} and whose results are "
            f"{directory / 'runs'}/COMBINATION/SEED"
        )
    return None


def check_files(result: Result) -> None:
    """Raises :class:`ResultError` where a file of ``result`` is missing, damaged or another one.

    The files are read for it, and not kept. A result that was not read from a directory has none.
    """
    stored, summary = result._stored, result.summary
    if stored is None:
        return
    _read_flows(stored, summary)
    ports = Table(partial(_read_ports, stored))
    ports.to_polars()
    for entry in summary.series:
        _read_series(stored, ports, entry)
    for trace in summary.traces:
        _read_trace(stored, ports, trace)
    for name in stored.checksums or ():
        if not name.endswith(".parquet"):
            stored.check(name)


def check_bytes(result: Result) -> None:
    """Raises :class:`ResultError` where a file of ``result`` does not match its checksum.

    Its tables are not looked into, which takes most of the time of :func:`check_files`: for many
    results that are read later. One without checksums is checked as by that.
    """
    stored = result._stored
    if stored is None or stored.checksums is None:
        check_files(result)
        return
    for name in stored.checksums:
        stored.check(name)


def _read_flows(stored: Stored, summary: Summary) -> pl.DataFrame:
    path = stored.directory / FLOWS
    frame = stored.frame(FLOWS, summary.flows)
    _need(path, frame, TABLE_COLUMNS[FLOWS], summary.flows)
    for name in _OF_DONE:
        if not (frame["done"] == frame[name].is_not_null()).all():
            raise ResultError(f"{path}: damaged: {name} and done do not agree")
    if not (frame["slowdown"] > 0).all():
        raise ResultError(f"{path}: damaged: the column slowdown has values that are not positive")
    if frame["done"].sum() != summary.flows_done:
        raise ResultError(f"{path}: damaged: {SUMMARY} has another number of flows that are done")
    return frame


def _read_ports(stored: Stored) -> pl.DataFrame:
    frame = stored.frame(PORTS)
    _need(stored.directory / PORTS, frame, TABLE_COLUMNS[PORTS])
    return frame


def _read_series(stored: Stored, ports: Table, entry: SeriesInfo) -> pl.DataFrame:
    """A series that the summary lists."""
    name = f"{SERIES}/{file_name(entry.name)}.parquet"
    path = stored.directory / name
    frame = stored.frame(name, entry.rows)
    keys = {"flow_id": int} if "flow_id" in frame.columns else PORT_COLUMNS
    _need(path, frame, {"time_ps": int, **keys, entry.column: float}, entry.rows)
    if keys is PORT_COLUMNS:
        _need_ports(path, frame, ports)
    return frame


def _read_trace(stored: Stored, ports: Table, entry: TraceInfo) -> pl.DataFrame:
    """A trace that the summary lists."""
    name = f"{TRACES}/{entry.name}.parquet"
    path = stored.directory / name
    frame = stored.frame(name, entry.rows)
    _need(path, frame, TRACE_COLUMNS[entry.name], entry.rows)
    _need_ports(path, frame, ports)
    return frame


def _drops(stored: Stored) -> list[dict[str, Any]]:
    """The drops that the result lists; none where it has no such file."""
    if not stored.has(DROPS):
        return []
    path = stored.directory / DROPS
    try:
        drops = json.loads(stored.text(DROPS, _MAX_SUMMARY_BYTES), parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path}: damaged: {error}") from None
    if not isinstance(drops, list):
        raise ResultError(f"{path}: damaged: not a list")
    check_values(path, drops)
    return drops


def _need(path: Path, frame: pl.DataFrame, needed: Columns, rows: int | None = None) -> None:
    """Raises where ``frame``, read from ``path``, is not a table with the columns ``needed``.

    Also raises if it does not have ``rows``, if they are given.
    """
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise ResultError(
            f"{path}: damaged: has no column {', '.join(missing)}",
            hint="is it the file of another table?",
        )
    for name, kind in needed.items():
        column = frame[name]
        if column.dtype.to_python() is not kind:
            raise ResultError(f"{path}: damaged: the column {name} does not hold {_KINDS[kind]}")
        if name not in _OF_DONE and column.null_count():
            raise ResultError(f"{path}: damaged: the column {name} has gaps")
        if kind is float and not column.is_finite().all():
            raise ResultError(f"{path}: damaged: the column {name} has values that are no numbers")
    if rows is not None and len(frame) != rows:
        found = pluralise(len(frame), "row", "rows")
        raise ResultError(f"{path}: damaged: has {found}, and {SUMMARY} says {rows:,}")


def _need_ports(path: Path, frame: pl.DataFrame, ports: Table) -> None:
    """Raises if ``frame``, read from ``path``, names a port that is not in ``ports``."""
    import polars as pl

    # Files of other versions may have other types of numbers and texts.
    told, known = (
        one.select(pl.col("node").cast(pl.String), pl.col("port").cast(pl.Int64))
        for one in (frame, ports.to_polars())
    )
    strangers = told.join(known, on=list(PORT_COLUMNS), how="anti")
    if len(strangers):
        node, port = min(strangers.iter_rows())
        raise ResultError(f"{path}: damaged: the network has no node {node} with a port {port}")
