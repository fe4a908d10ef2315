"""Result directories: written whole or not at all.

A directory holds ``scenario.toml``, ``summary.json``, ``flows.parquet``, ``ports.parquet``,
``series/NAME.parquet``, ``traces/NAME.parquet``, ``traces/packets.pcapng`` and, where lossless
classes lost packets, ``drops.json``. The same scenario and seed give the same bytes in every
Parquet file and capture. What else is there, as pictures, stays when a result is replaced.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rocelab.errors import ResultError
from rocelab.quantity import parse
from rocelab.result import Result, probes_of, series_of
from rocelab.stopping import held_back
from rocelab.table import Table

if TYPE_CHECKING:
    import polars as pl

SCHEMA_VERSION = 1
"""The newest layout of a result directory that this version reads."""

SWEEP = "sweep.json"
"""What a directory that is not of a result but of a sweep holds."""

_SUMMARY = "summary.json"
_SCENARIO = "scenario.toml"
_FLOWS = "flows.parquet"
_PORTS = "ports.parquet"
_SERIES = "series"
_TRACES = "traces"
_CAPTURE = "packets.pcapng"
_DROPS = "drops.json"

_PARTS = (_SUMMARY, _SCENARIO, _FLOWS, _PORTS, _SERIES, _TRACES, _DROPS)
"""What a result consists of; in ``series`` and ``traces`` that is what ``_OWN`` ends with."""
_OWN = (".parquet", ".pcapng")

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
}
_SERIES_KEYS = {"name": str, "kind": str, "unit": str, "column": str, "rows": int}
_TRACE_KEYS = {"name": str, "rows": int, "start_ps": int, "end_ps": int}
_BIN_KEYS = dict.fromkeys(("upper_bytes", "flows", "p50", "p95", "p99"), (int, float))
"""What is looked at here of a summary, of a series, trace or bin of slowdowns in it."""
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

_MAY_BE_NULL = ("fct_ps", "slowdown")
_KINDS: dict[type, str] = {int: "whole numbers", float: "numbers", str: "text", bool: "flags"}

_ROWS_PER_GROUP = 1 << 18
"""Rows in a Parquet row group: fixed, as the bytes must not depend on the machine."""


def check_target(directory: Path, *, force: bool) -> None:
    """Raises :class:`ResultError` where ``save`` would refuse ``directory``; leaves nothing."""
    with refusals(directory):
        _check_room(directory, _target(directory, force=force))


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
    # Whether a directory can be made, nothing tells as well as making one.
    _make_temporary(longest, ancestor).rmdir()


def save(result: Result, directory: Path, *, force: bool) -> Path:
    """Writes ``result`` to ``directory``; returns it. Ctrl-C and SIGTERM wait until it is there."""
    import polars as pl  # noqa: F401 (before signals are held back)

    with held_back():
        _save(result, directory, force=force)
    return directory


def _save(result: Result, directory: Path, *, force: bool) -> None:
    check_target(directory, force=force)
    target = Path(os.path.realpath(directory))
    made = [parent for parent in target.parents if not parent.exists()]
    temporary: Path | None = None
    try:
        with refusals(directory):
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = _make_temporary(target.name, target.parent)
            _write_all(result, temporary)
            _put_in_place(temporary, target)
            _sync(target.parent)
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        # Those that hold something stay.
        for parent in made:
            with suppress(OSError):
                parent.rmdir()


@contextmanager
def refusals(path: Path, what: str = "write") -> Iterator[None]:
    """What the system refuses becomes a :class:`ResultError`: cannot ``what``."""
    try:
        yield
    except OSError as error:
        raise ResultError(f"{path}: cannot {what}: {error.strerror or error}") from None


def _target(directory: Path, *, force: bool) -> Path:
    """The place that ``directory`` stands for, links followed, if a result may take it."""
    target = Path(os.path.realpath(directory))
    if not target.is_dir():
        if target.exists() or directory.is_symlink():
            raise ResultError(f"{directory}: exists and is not a directory")
        return target
    if any(target.iterdir()):
        if not (target / _SUMMARY).is_file():
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


def _make_temporary(name: str, parent: Path) -> Path:
    """A new directory in ``parent``, hidden, with ``name`` in its name."""
    # Others may read it as the umask says; what tempfile makes, nobody else may.
    while True:
        temporary = parent / f".{name}.{secrets.token_hex(4)}"
        with suppress(FileExistsError):
            temporary.mkdir()
            return temporary


def _write_all(result: Result, directory: Path) -> None:
    _write(directory / _SCENARIO, result.scenario_toml.encode())
    _write(directory / _FLOWS, to_parquet(result.flows.to_polars()))
    _write(directory / _PORTS, to_parquet(result.ports.to_polars()))
    for part, tables in ((_SERIES, result.series), (_TRACES, result.traces)):
        if tables:
            (directory / part).mkdir()
            for name, table in tables.items():
                _write_table(directory / part / f"{name}.parquet", table)
            if part == _TRACES and result.has_capture:
                result.write_capture(directory / part / _CAPTURE)
                _sync(directory / part / _CAPTURE)
            _sync(directory / part)
    if result.drops:
        _write(directory / _DROPS, to_json(result.drops))
    _write(directory / _SUMMARY, to_json(result.summary))
    _sync(directory)


def _write_table(path: Path, table: Table) -> None:
    """Writes ``table`` as the bytes of :func:`to_parquet`, a row group after the other."""
    if len(table) <= _ROWS_PER_GROUP:
        _write(path, to_parquet(table.to_polars()))
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
    _sync(path)


def _put_in_place(temporary: Path, directory: Path) -> None:
    """Gives ``temporary`` its name, in place of a result that has it; other files there stay."""
    if not directory.exists() or not any(directory.iterdir()):
        temporary.rename(directory)
        return
    old = _make_temporary(directory.name, directory.parent)
    try:
        directory.rename(old)
        try:
            temporary.rename(directory)
        except BaseException:
            _put_back(old, directory)
            raise
    except BaseException:
        # Still empty if nothing could be moved; a result that could not be put back stays.
        with suppress(OSError):
            old.rmdir()
        raise
    try:
        _move_others(old, directory)
    except OSError as error:
        raise ResultError(
            f"{directory}: cannot write: {error.strerror or error}",
            hint=f"the result is replaced; other files that were there are in {old}",
        ) from None
    shutil.rmtree(old, ignore_errors=True)


def _move_others(old: Path, directory: Path) -> None:
    """Moves to ``directory`` what is in ``old`` and no part of a result."""
    for entry in list(old.iterdir()):
        if entry.name not in _PARTS:
            entry.rename(directory / entry.name)
    for part in (_SERIES, _TRACES):
        others = list((old / part).iterdir()) if (old / part).is_dir() else []
        for entry in others:
            if entry.suffix not in _OWN:
                (directory / part).mkdir(exist_ok=True)
                entry.rename(directory / part / entry.name)


def _put_back(old: Path, directory: Path) -> None:
    try:
        old.rename(directory)
    except OSError as error:
        raise ResultError(
            f"{directory}: cannot write: {error.strerror or error}",
            hint=f"the result that was there is now {old}",
        ) from None


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


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def put(path: Path, data: bytes) -> None:
    """Writes a file, whole or not at all; one that is there is replaced.

    A device or a pipe is written to, and a link stands for what it leads to.
    """
    with refusals(path):
        if is_no_file(path):
            path.write_bytes(data)
            return
        path = Path(os.path.realpath(path))
        temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write(temporary, data)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync(path.parent)


def open_result(directory: str | os.PathLike[str]) -> Result:
    """The result in ``directory``. Tables are read when they are first looked at.

    Raises :class:`ResultError` where there is none, or one of a newer rocelab.
    """
    directory = Path(directory)
    summary_path = directory / _SUMMARY
    try:
        summary = json.loads(_text(summary_path))
        scenario_toml = _text(directory / _SCENARIO)
        drops = _drops(directory / _DROPS)
    except FileNotFoundError as error:
        if not directory.exists():
            raise ResultError(f"{directory}: no such directory") from None
        hint = "`rocelab run SCENARIO.toml --out DIR` makes one"
        if (directory / SWEEP).is_file():
            hint = f"it is a sweep, whose results are {directory / 'runs'}/COMBINATION/SEED"
        raise ResultError(
            f"{directory}: not a result directory: {Path(error.filename).name} is missing",
            hint=hint,
        ) from None
    except OSError as error:
        raise ResultError(f"{directory}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{summary_path}: damaged: {error}") from None
    if not isinstance(summary, dict) or not isinstance(summary.get("schema"), int):
        raise ResultError(f"{summary_path}: not a summary of rocelab")
    if summary["schema"] > SCHEMA_VERSION:
        raise ResultError(
            f"{directory}: written by rocelab {summary.get('version')}, which this one cannot read",
            hint="use a newer rocelab",
        )
    # Older ones have none.
    summary.setdefault("traces", [])
    _check_summary(summary_path, summary)
    _check_probes(directory / _SCENARIO, scenario_toml, summary)
    capture = directory / _TRACES / _CAPTURE
    ports = Table(partial(_read, directory, _PORTS))
    return Result(
        flows=Table(partial(_read, directory, _FLOWS)),
        ports=ports,
        series=series_of(summary, partial(_read_series, directory, ports)),
        traces={
            entry["name"]: Table(partial(_read_trace, directory, ports, entry))
            for entry in summary["traces"]
        },
        capture=capture if capture.exists() else None,
        summary=summary,
        drops=drops,
        scenario_toml=scenario_toml,
        directory=directory,
    )


def _check_summary(path: Path, summary: dict[str, Any]) -> None:
    """Raises :class:`ResultError` where what is looked at of a summary is not as it should be."""
    _check_keys(path, summary, _SUMMARY_KEYS, "")
    for number, entry in enumerate(summary["series"]):
        _check_keys(path, entry, _SERIES_KEYS, f"series.{number}")
    for number, entry in enumerate(summary["traces"]):
        _check_keys(path, entry, _TRACE_KEYS, f"traces.{number}")
        if entry["name"] not in _NEEDED_OF_TRACES:
            raise ResultError(f"{path}: damaged: traces.{number}: no trace is {entry['name']!r}")
    _check_keys(path, summary["slowdown"], {"bins": list}, "slowdown")
    for number, entry in enumerate(summary["slowdown"]["bins"]):
        _check_keys(path, entry, _BIN_KEYS, f"slowdown.bins.{number}")
    if not all(isinstance(warning, str) for warning in summary["warnings"]):
        raise ResultError(f"{path}: damaged: warnings: not all are text")


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
        if not isinstance(data[key], kind):
            raise ResultError(
                f"{path}: damaged: {where}{key} cannot be {json.dumps(data[key])[:40]}"
            )


def check_tables(directory: Path, summary: Mapping[str, Any]) -> None:
    """Raises :class:`ResultError` where a table's file is missing, damaged or another one."""
    _read(directory, _FLOWS)
    ports = Table(partial(_read, directory, _PORTS))
    ports.to_polars()
    for entry in summary["series"]:
        _read_series(directory, ports, entry)
    for entry in summary["traces"]:
        _read_trace(directory, ports, entry)


def _read(directory: Path, name: str) -> pl.DataFrame:
    """The flows or the ports."""
    path = directory / name
    frame = _read_parquet(path)
    _need(path, frame, _NEEDED[name])
    return frame


def _read_series(directory: Path, ports: Table, entry: Mapping[str, Any]) -> pl.DataFrame:
    """A series that the summary lists."""
    path = directory / _SERIES / f"{entry['name']}.parquet"
    frame = _read_parquet(path)
    keys = {"flow_id": int} if "flow_id" in frame.columns else _PORT
    _need(path, frame, {"time_ps": int, **keys, entry["column"]: float})
    if keys is _PORT:
        _need_ports(path, frame, ports)
    return frame


def _read_trace(directory: Path, ports: Table, entry: Mapping[str, Any]) -> pl.DataFrame:
    """A trace that the summary lists."""
    path = directory / _TRACES / f"{entry['name']}.parquet"
    frame = _read_parquet(path)
    _need(path, frame, _NEEDED_OF_TRACES[entry["name"]])
    _need_ports(path, frame, ports)
    return frame


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ResultError(f"{path}: damaged: not a text file (byte {error.start})") from None


def _drops(path: Path) -> list[dict[str, Any]]:
    """The drops that ``path`` lists; none where there is no such file."""
    try:
        drops = json.loads(_text(path))
    except FileNotFoundError:
        return []
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path}: damaged: {error}") from None
    if not isinstance(drops, list):
        raise ResultError(f"{path}: damaged: not a list")
    return drops


def _read_parquet(path: Path) -> pl.DataFrame:
    import polars as pl

    # As a file: Polars takes no names that are not UTF-8.
    with _unreadable(path), path.open("rb") as file:
        return pl.read_parquet(file)


def _need(path: Path, frame: pl.DataFrame, needed: _Columns) -> None:
    """Raises where ``frame``, read from ``path``, is not a table with the columns ``needed``."""
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
        if name not in _MAY_BE_NULL and column.null_count():
            raise ResultError(f"{path}: damaged: the column {name} has gaps")


def _need_ports(path: Path, frame: pl.DataFrame, ports: Table) -> None:
    """Raises where ``frame``, read from ``path``, tells of a port that is none of ``ports``."""
    told, known = (set(one.select(*_PORT).unique().rows()) for one in (frame, ports.to_polars()))
    if told - known:
        node, port = min(told - known)
        raise ResultError(f"{path}: damaged: the network has no node {node} with a port {port}")


@contextmanager
def _unreadable(path: Path) -> Iterator[None]:
    import polars as pl

    if path.is_dir():
        raise ResultError(f"{path}: cannot read: is a directory")
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise ResultError(f"{path}: cannot read: {reason}") from None
