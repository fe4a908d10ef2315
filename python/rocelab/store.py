"""Result directories: written whole or not at all.

A directory holds ``scenario.toml``, ``summary.json``, ``flows.parquet``, ``ports.parquet``,
``series/NAME.parquet``, ``traces/NAME.parquet``, ``traces/packets.pcapng`` and, where lossless
classes lost packets, ``drops.json``. The same scenario and seed give the same bytes in every
Parquet file and capture. What else is there, as pictures, stays when a result is replaced.
``summary.json`` has checksums of all of them, which are compared when a file is read.
"""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rocelab.catalogue import probe_kinds
from rocelab.doubts import UNFINISHED
from rocelab.errors import ResultError, UnverifiedResultWarning
from rocelab.integrity import SUMMARY, Stored, StoredCapture, has_checksums, sealed, unsealed
from rocelab.placing import (
    locked,
    remove_left_files,
    sync,
    temporary_name,
    was_left,
    write,
)
from rocelab.quantity import parse
from rocelab.result import Result, probes_of, series_of
from rocelab.summary import check_values, no_constant
from rocelab.table import Table
from rocelab.untrusted import file_name

if TYPE_CHECKING:
    import polars as pl

SCHEMA_VERSION = 2
"""The layout of the result directories that this version writes, and the newest that it reads.

Version 1 had no checksums.
"""

SWEEP = "sweep.json"
"""What a directory that is not of a result but of a sweep holds."""

_SCENARIO = "scenario.toml"
_FLOWS = "flows.parquet"
_PORTS = "ports.parquet"
SERIES = "series"
TRACES = "traces"
_CAPTURE = "packets.pcapng"
_DROPS = "drops.json"

PARTS = (SUMMARY, _SCENARIO, _FLOWS, _PORTS, SERIES, TRACES, _DROPS)
"""What a result consists of; in ``series`` and ``traces`` that is what ``OWN`` ends with."""
OWN = (".parquet", ".pcapng")

_SUMMARY_KEYS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "scheme": str,
    "preset": str,
    "caveat": (str, type(None)),
    "seed": int,
    "partial": bool,
    "hosts": int,
    "simulated_ns": int,
    "flows": int,
    "flows_done": int,
    "slowdown": dict,
    "unfairness": (int, float, type(None)),
    "pause_frames": int,
    "paused_ns": int,
    "drops": int,
    "lossless_drops": int,
    "lost_packets": int,
    "out_of_order_packets": int,
    "max_queue_bytes": int,
    "counters": dict,
    "digest": str,
    "series": list,
    "traces": list,
    "warnings": list,
    "warning_kinds": list,
    "unfinished": dict,
}
_SERIES_KEYS = {"name": str, "kind": str, "unit": str, "column": str, "rows": int}
_WARNING_KEYS = {"kind": str, "casts_doubt": bool}
_TRACE_KEYS = {"name": str, "rows": int, "start_ps": int, "end_ps": int}
_BIN_KEYS = dict.fromkeys(("upper_bytes", "flows", "p50", "p95", "p99"), (int, float))
"""What is looked at here of a summary, of a series, warning, trace or bin of slowdowns in it."""
_PROBE_KEYS = {"name": str, "kind": str, "start": str, "interval": str}
"""What is looked at of a probe of the scenario."""

_Columns: TypeAlias = Mapping[str, type]
"""What the values of columns are: ``int``, ``float``, ``str`` or ``bool``."""

_PORT: _Columns = {"node": str, "port": int}
_NEEDED: dict[str, _Columns] = {
    _FLOWS: {
        "flow_id": int,
        "tag": str,
        "src": str,
        "dst": str,
        "size_bytes": int,
        "start_ps": int,
        "fct_ps": int,
        "slowdown": float,
        "done": bool,
    },
    _PORTS: {
        **_PORT,
        "peer": str,
        "rate_bps": int,
        "pause_frames_sent": int,
        "max_queue_bytes": int,
    },
}
"""Columns that are looked at here; a file without them is none of a result."""

_NEEDED_OF_TRACES: dict[str, _Columns] = {
    "pfc": {"time_ps": int, **_PORT, "peer": str, "priority": int, "pause": bool},
    "packets": {"time_ps": int, **_PORT, "event": str, "kind": str},
}
"""The same of traces."""

_OF_DONE = ("fct_ps", "slowdown")
"""Columns of flows that are null in those that are not done, and in no others."""

_KINDS: dict[type, str] = {int: "whole numbers", float: "numbers", str: "text", bool: "flags"}

_LARGEST = 1 << 30
"""Bytes of a scenario."""
_LARGEST_SUMMARY = 1 << 26
"""Bytes of a summary, or of a list of drops."""

_ROWS_PER_GROUP = 1 << 18
"""Rows in a Parquet row group: fixed, as the bytes must not depend on the machine."""


def check_target(directory: Path, *, force: bool) -> None:
    """Raises :class:`ResultError` where ``save`` would refuse ``directory``; leaves nothing."""
    with refusals(directory):
        _check_room(directory, target_of(directory, force=force))


def check_file(path: Path) -> None:
    """Raises :class:`ResultError` where :func:`put` could not write ``path``; leaves nothing."""
    with refusals(path):
        if path.is_dir():
            raise ResultError(f"{path}: is a directory")
        if not is_no_file(path):
            _check_room(path, Path(os.path.realpath(path)))


def scratch_beside(path: Path) -> Path:
    """The directory that is there and nearest to ``path``, for files on its file system."""
    target = Path(os.path.realpath(path))
    return next(parent for parent in (target, *target.parents) if parent.is_dir())


def is_no_file(path: Path) -> bool:
    """Whether ``path`` is there and neither a file nor a directory, but a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_directory(directory: Path) -> None:
    """Raises :class:`ResultError` where no file could be put in ``directory``; leaves nothing."""
    with refusals(directory):
        target = Path(os.path.realpath(directory))
        if target.exists() and not target.is_dir():
            raise ResultError(f"{directory}: is not a directory")
        _check_room(directory, target / "file")


def _check_room(told: Path, target: Path) -> None:
    """Raises where ``target``, which errors call ``told``, and what is above it cannot be made."""
    ancestor = next(parent for parent in target.parents if parent.exists())
    if not ancestor.is_dir():
        raise ResultError(f"{told}: {ancestor} is not a directory")
    names = target.relative_to(ancestor).parts
    longest = max(names, key=lambda name: len(os.fsencode(name)))
    # Whether something can be made there, nothing tells as well as making it.
    probe = ancestor / longest
    if not was_left(probe):
        with suppress(BlockingIOError), locked(probe, wait=False):
            pass


@contextmanager
def refusals(path: Path, what: str = "write") -> Iterator[None]:
    """What the system refuses becomes a :class:`ResultError`: cannot ``what``."""
    try:
        yield
    except OSError as error:
        raise ResultError(f"{path}: cannot {what}: {error.strerror or error}") from None


def target_of(directory: Path, *, force: bool) -> Path:
    """The place that ``directory`` stands for, links followed, if a result may take it.

    Raises :class:`ResultError` where it may not.
    """
    target = Path(os.path.realpath(directory))
    if not target.is_dir():
        if target.exists() or directory.is_symlink():
            raise ResultError(f"{directory}: exists and is not a directory")
        return target
    if any(target.iterdir()):
        if not (target / SUMMARY).is_file():
            raise ResultError(
                f"{directory}: exists and is not a result of rocelab",
                hint="choose another directory",
            )
        if not force:
            raise ResultError(
                f"{directory}: a result is there already",
                hint="--force, in Python force=True, replaces it; or choose another directory",
            )
    # A directory takes its place, and these two can not be moved out of the way.
    here = Path(os.path.realpath(os.curdir))
    for found, what in (
        (here.is_relative_to(target), "the current directory, or it holds that"),
        (os.path.ismount(target), "a mount point"),
    ):
        if found:
            raise ResultError(f"{directory}: is {what}", hint="choose a new directory in it")
    return target


def write_all(result: Result, directory: Path) -> None:
    """Writes the files of ``result`` to the empty ``directory``, the summary last."""
    write(directory / _SCENARIO, result.scenario_toml.encode())
    write(directory / _FLOWS, to_parquet(result.flows.to_polars()))
    write(directory / _PORTS, to_parquet(result.ports.to_polars()))
    for part, tables in ((SERIES, result.series), (TRACES, result.traces)):
        if tables:
            (directory / part).mkdir()
            for name, table in tables.items():
                _write_table(directory / part / f"{file_name(name)}.parquet", table)
            if part == TRACES and result.has_capture:
                result.write_capture(directory / part / _CAPTURE)
                sync(directory / part / _CAPTURE)
            sync(directory / part)
    if result.drops:
        write(directory / _DROPS, to_json(result.drops))
    # The files as they are now, whoever wrote them.
    summary = sealed({**result.summary, "schema": SCHEMA_VERSION}, directory)
    write(directory / SUMMARY, to_json(summary))
    sync(directory)


def _write_table(path: Path, table: Table) -> None:
    """Writes ``table`` as the bytes of :func:`to_parquet`, a row group after the other."""
    if len(table) <= _ROWS_PER_GROUP:
        write(path, to_parquet(table.to_polars()))
        return
    import polars as pl
    from polars.io.plugins import register_io_source

    pieces = table.pieces()
    first = next(pieces)

    def read(*_: object) -> Iterator[pl.DataFrame]:
        return chain((first,), pieces)

    try:
        register_io_source(read, schema=first.schema).sink_parquet(
            path, compression="zstd", compression_level=3, row_group_size=_ROWS_PER_GROUP
        )
    except pl.exceptions.PolarsError as error:
        raise OSError(None, str(error)) from None
    sync(path)


def to_parquet(frame: pl.DataFrame) -> bytes:
    """``frame`` as a Parquet file; equal frames give equal bytes."""
    buffer = io.BytesIO()
    frame.rechunk().write_parquet(
        buffer, compression="zstd", compression_level=3, row_group_size=_ROWS_PER_GROUP
    )
    return buffer.getvalue()


def to_json(data: object) -> bytes:
    """``data`` as a JSON file that people can read."""
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def put(path: Path, data: bytes, *, follow: bool = True) -> None:
    """Writes a file, whole or not at all; one that is there is replaced.

    A device or a pipe is written to, and a link stands for what it leads to. Without ``follow``,
    for directories that others may have made, the file takes the place of any of these.
    """
    with refusals(path):
        if follow and is_no_file(path):
            path.write_bytes(data)
            return
        if follow:
            path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path) as left:
            if left:
                remove_left_files(path)
            temporary = temporary_name(path)
            try:
                write(temporary, data)
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            sync(path.parent)


def open_result(directory: str | os.PathLike[str]) -> Result:
    """The result in ``directory``. Tables are read, and checked, when they are first looked at.

    Raises :class:`ResultError` where there is none, where it is damaged, or where a newer rocelab
    wrote it. A result of a version that knew no checksums has an
    :class:`UnverifiedResultWarning`.
    """
    result = open_quietly(directory)
    if result.unverified:
        warnings.warn(
            UnverifiedResultWarning(
                f"{directory}: an earlier version wrote it, without checksums: "
                "damaged or edited values go unnoticed"
            ),
            stacklevel=2,
        )
    return result


def open_quietly(directory: str | os.PathLike[str]) -> Result:
    """As :func:`open_result`, without its warning."""
    directory = Path(directory)
    summary_path = directory / SUMMARY
    try:
        text = _text(Stored(directory, None), SUMMARY, _LARGEST_SUMMARY)
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
        summary, checksums = unsealed(summary_path, summary)
    stored = Stored(directory, checksums)
    scenario_toml = _text(stored, _SCENARIO, _LARGEST)
    drops = _drops(stored)
    # Older ones have none.
    summary.setdefault("traces", [])
    if "warning_kinds" not in summary:
        _add_kinds(summary)
    check_values(summary_path, summary)
    _check_summary(summary_path, summary)
    _check_probes(directory / _SCENARIO, scenario_toml, summary)
    capture = f"{TRACES}/{_CAPTURE}"
    ports = Table(partial(_read_ports, stored))
    return Result(
        flows=Table(partial(_read_flows, stored, summary)),
        ports=ports,
        series=series_of(summary, partial(_read_series, stored, ports)),
        traces={
            entry["name"]: Table(partial(_read_trace, stored, ports, entry))
            for entry in summary["traces"]
        },
        capture=StoredCapture(stored, capture) if stored.has(capture) else None,
        summary=summary,
        drops=drops,
        scenario_toml=scenario_toml,
        stored=stored,
    )


def _text(stored: Stored, name: str, most: int) -> str:
    """The text, of at most ``most`` bytes, of a file that every result has."""
    try:
        return stored.text(name, most)
    except ResultError as error:
        raise _no_result(stored.directory) or error from None


def _no_result(directory: Path) -> ResultError | None:
    """Why ``directory``, whose summary cannot be read, is no result; None where it may be one."""
    with refusals(directory, "read"):
        if not directory.exists():
            return ResultError(f"{directory}: no such directory")
        missing = [name for name in (SUMMARY, _SCENARIO) if not (directory / name).exists()]
    if not missing:
        return None
    hint = "`rocelab run SCENARIO.toml --out DIR` makes one"
    if (directory / SWEEP).is_file():
        hint = f"it is a sweep, whose results are {directory / 'runs'}/COMBINATION/SEED"
    return ResultError(f"{directory}: not a result directory: {missing[0]} is missing", hint=hint)


def _check_summary(path: Path, summary: dict[str, Any]) -> None:
    """Raises :class:`ResultError` where what is looked at of a summary is not as it should be."""
    _check_keys(path, summary, _SUMMARY_KEYS, "")
    names: set[str] = set()
    kinds = probe_kinds() if summary["series"] else []
    for number, entry in enumerate(summary["series"]):
        _check_keys(path, entry, _SERIES_KEYS, f"series.{number}")
        if file_name(entry["name"]) != entry["name"] or entry["name"] in names:
            raise ResultError(
                f"{path}: damaged: series.{number}: no series can be called {entry['name']!r}"
            )
        names.add(entry["name"])
        if entry["kind"] not in kinds:
            raise ResultError(f"{path}: damaged: series.{number}: no probe is a {entry['kind']!r}")
    for number, entry in enumerate(summary["traces"]):
        _check_keys(path, entry, _TRACE_KEYS, f"traces.{number}")
        if entry["name"] not in _NEEDED_OF_TRACES:
            raise ResultError(f"{path}: damaged: traces.{number}: no trace is {entry['name']!r}")
    _check_keys(path, summary["slowdown"], {"bins": list}, "slowdown")
    for number, entry in enumerate(summary["slowdown"]["bins"]):
        _check_keys(path, entry, _BIN_KEYS, f"slowdown.bins.{number}")
    if not all(isinstance(warning, str) for warning in summary["warnings"]):
        raise ResultError(f"{path}: damaged: warnings: not all are text")
    for number, entry in enumerate(summary["warning_kinds"]):
        _check_keys(path, entry, _WARNING_KEYS, f"warning_kinds.{number}")
    if len(summary["warning_kinds"]) != len(summary["warnings"]):
        raise ResultError(f"{path}: damaged: warning_kinds: not one for each of warnings")
    if not all(isinstance(count, int) for count in summary["unfinished"].values()):
        raise ResultError(f"{path}: damaged: unfinished: not all are numbers")


def _add_kinds(summary: dict[str, Any]) -> None:
    """Adds to the summary of an older version what that did not tell: the kinds of its warnings."""
    warnings, left = summary.get("warnings"), 0
    if not isinstance(warnings, list):
        return
    with suppress(KeyError, TypeError):
        left = summary["flows"] - summary["flows_done"]
    summary.setdefault("unfinished", {})
    kinds = [_kind_of_older(str(text)) for text in warnings]
    if left and UNFINISHED not in kinds:
        told = f"{left} of {summary['flows']} flows are unfinished"
        warnings.insert(0, f"{told}, and in no statistic of completion times")
        kinds.insert(0, UNFINISHED)
    summary["warning_kinds"] = [{"kind": kind, "casts_doubt": kind != ""} for kind in kinds]


def _kind_of_older(text: str) -> str:
    """The kind of an older version's warning, where it casts doubt on the numbers."""
    words = {
        " not done at ": UNFINISHED,
        "no flow begins ": UNFINISHED,
        "deadlock: ": "deadlock",
        "PFC did not protect": "lossless-drops",
    }
    return next((kind for part, kind in words.items() if part in text), "")


def _check_probes(path: Path, scenario_toml: str, summary: Mapping[str, Any]) -> None:
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
    for entry in summary["series"]:
        if entry["name"] not in known:
            raise ResultError(f"{path}: damaged: has no probe {entry['name']!r}")


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


def check_files(result: Result) -> None:
    """Raises :class:`ResultError` where a file of ``result`` is missing, damaged or another one.

    The files are read for it, and not kept. A result that was not read from a directory has none.
    """
    stored, summary = result.stored, result.summary
    if stored is None:
        return
    _read_flows(stored, summary)
    ports = Table(partial(_read_ports, stored))
    ports.to_polars()
    for entry in summary["series"]:
        _read_series(stored, ports, entry)
    for entry in summary["traces"]:
        _read_trace(stored, ports, entry)
    for name in stored.checksums or ():
        if not name.endswith(".parquet"):
            stored.check(name)


def _read_flows(stored: Stored, summary: Mapping[str, Any]) -> pl.DataFrame:
    path = stored.directory / _FLOWS
    frame = stored.frame(_FLOWS, summary["flows"])
    _need(path, frame, _NEEDED[_FLOWS], summary["flows"])
    for name in _OF_DONE:
        if not (frame["done"] == frame[name].is_not_null()).all():
            raise ResultError(f"{path}: damaged: {name} and done do not agree")
    if not (frame["slowdown"] > 0).all():
        raise ResultError(f"{path}: damaged: the column slowdown has values that are not positive")
    if frame["done"].sum() != summary["flows_done"]:
        raise ResultError(f"{path}: damaged: {SUMMARY} has another number of flows that are done")
    return frame


def _read_ports(stored: Stored) -> pl.DataFrame:
    frame = stored.frame(_PORTS)
    _need(stored.directory / _PORTS, frame, _NEEDED[_PORTS])
    return frame


def _read_series(stored: Stored, ports: Table, entry: Mapping[str, Any]) -> pl.DataFrame:
    """A series that the summary lists."""
    name = f"{SERIES}/{file_name(entry['name'])}.parquet"
    path = stored.directory / name
    frame = stored.frame(name, entry["rows"])
    keys = {"flow_id": int} if "flow_id" in frame.columns else _PORT
    _need(path, frame, {"time_ps": int, **keys, entry["column"]: float}, entry["rows"])
    if keys is _PORT:
        _need_ports(path, frame, ports)
    return frame


def _read_trace(stored: Stored, ports: Table, entry: Mapping[str, Any]) -> pl.DataFrame:
    """A trace that the summary lists."""
    name = f"{TRACES}/{entry['name']}.parquet"
    path = stored.directory / name
    frame = stored.frame(name, entry["rows"])
    _need(path, frame, _NEEDED_OF_TRACES[entry["name"]], entry["rows"])
    _need_ports(path, frame, ports)
    return frame


def _drops(stored: Stored) -> list[dict[str, Any]]:
    """The drops that the result lists; none where it has no such file."""
    if not stored.has(_DROPS):
        return []
    path = stored.directory / _DROPS
    try:
        drops = json.loads(stored.text(_DROPS, _LARGEST_SUMMARY), parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path}: damaged: {error}") from None
    if not isinstance(drops, list):
        raise ResultError(f"{path}: damaged: not a list")
    check_values(path, drops)
    return drops


def _need(path: Path, frame: pl.DataFrame, needed: _Columns, rows: int | None = None) -> None:
    """Raises where ``frame``, read from ``path``, is not a table with the columns ``needed``.

    Nor with so many ``rows``, where they are known.
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
        raise ResultError(f"{path}: damaged: has {len(frame):,} rows, and {SUMMARY} says {rows:,}")


def _need_ports(path: Path, frame: pl.DataFrame, ports: Table) -> None:
    """Raises where ``frame``, read from ``path``, tells of a port that is none of ``ports``."""
    told, known = (set(one.select(*_PORT).unique().rows()) for one in (frame, ports.to_polars()))
    if told - known:
        node, port = min(told - known)
        raise ResultError(f"{path}: damaged: the network has no node {node} with a port {port}")
