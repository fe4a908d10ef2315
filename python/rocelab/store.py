"""Result directories: written whole or not at all.

A directory holds ``scenario.toml``, ``summary.json``, ``flows.parquet``, ``ports.parquet``,
``series/NAME.parquet`` and, where lossless classes lost packets, ``drops.json``. The same scenario
and seed give the same bytes in every Parquet file.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab.errors import ResultError
from rocelab.result import Result, series_of
from rocelab.table import Table

if TYPE_CHECKING:
    import polars as pl

SCHEMA_VERSION = 1
"""The newest layout of a result directory that this version reads."""

_SUMMARY = "summary.json"
_SCENARIO = "scenario.toml"
_FLOWS = "flows.parquet"
_PORTS = "ports.parquet"
_SERIES = "series"
_DROPS = "drops.json"

_ROWS_PER_GROUP = 1 << 18
"""Rows in a Parquet row group: fixed, as the bytes must not depend on the machine."""


def check_target(directory: Path, *, force: bool) -> None:
    """Raises :class:`ResultError` where ``save`` would refuse ``directory``; writes nothing."""
    if directory.is_dir():
        if not any(directory.iterdir()):
            return
        if not (directory / _SUMMARY).is_file():
            raise ResultError(
                f"{directory}: exists and is not a result of rocelab", hint="choose another --out"
            )
        if not force:
            raise ResultError(
                f"{directory}: a result is there already",
                hint="--force replaces it; --out chooses another directory",
            )
    elif directory.exists() or directory.is_symlink():
        raise ResultError(f"{directory}: exists and is not a directory")
    ancestor = directory.absolute().parent
    while not ancestor.exists():
        ancestor = ancestor.parent
    if not ancestor.is_dir():
        raise ResultError(f"{directory}: {ancestor} is not a directory")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise ResultError(f"{directory}: no permission to write in {ancestor}")


def save(result: Result, directory: Path, *, force: bool) -> Path:
    """Writes ``result`` to ``directory``; returns it."""
    check_target(directory, force=force)
    parent = directory.absolute().parent
    temporary: Path | None = None
    try:
        parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=parent))
        temporary.chmod(0o777 & ~_umask())
        _write_all(result, temporary)
        _put_in_place(temporary, directory)
        _sync(parent)
    except OSError as error:
        raise ResultError(f"{directory}: cannot write: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
    return directory


def _write_all(result: Result, directory: Path) -> None:
    _write(directory / _SCENARIO, result.scenario_toml.encode())
    _write(directory / _FLOWS, _parquet(result.flows.to_polars()))
    _write(directory / _PORTS, _parquet(result.ports.to_polars()))
    if result.series:
        (directory / _SERIES).mkdir()
        for name, series in result.series.items():
            _write(directory / _SERIES / f"{name}.parquet", _parquet(series.to_polars()))
        _sync(directory / _SERIES)
    if result.drops:
        _write(directory / _DROPS, _json(result.drops))
    _write(directory / _SUMMARY, _json(result.summary))
    _sync(directory)


def _put_in_place(temporary: Path, directory: Path) -> None:
    """Gives ``temporary`` its name, in place of a result that has it."""
    if not directory.exists() or not any(directory.iterdir()):
        temporary.rename(directory)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{directory.name}.old.", dir=temporary.parent))
    directory.rename(old)
    try:
        temporary.rename(directory)
    except OSError:
        old.rename(directory)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.rechunk().write_parquet(
        buffer, compression="zstd", compression_level=3, row_group_size=_ROWS_PER_GROUP
    )
    return buffer.getvalue()


def _json(data: object) -> bytes:
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def open_result(directory: str | os.PathLike[str]) -> Result:
    """The result in ``directory``. Tables are read when they are first looked at.

    Raises :class:`ResultError` where there is none, or one of a newer rocelab.
    """
    directory = Path(directory)
    summary_path = directory / _SUMMARY
    try:
        summary = json.loads(summary_path.read_text(encoding="utf-8"))
        scenario_toml = (directory / _SCENARIO).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ResultError(
            f"{directory}: not a result directory: {Path(error.filename).name} is missing",
            hint="`rocelab run SCENARIO.toml --out DIR` makes one",
        ) from None
    except OSError as error:
        raise ResultError(f"{directory}: {error.strerror or error}") from None
    except ValueError as error:
        raise ResultError(f"{summary_path}: damaged: {error}") from None
    if not isinstance(summary, dict) or not isinstance(summary.get("schema"), int):
        raise ResultError(f"{summary_path}: not a summary of rocelab")
    if summary["schema"] > SCHEMA_VERSION:
        raise ResultError(
            f"{directory}: written by rocelab {summary.get('version')}, which this one cannot read",
            hint="use a newer rocelab",
        )
    drops = directory / _DROPS
    return Result(
        flows=Table(partial(_read_parquet, directory / _FLOWS)),
        ports=Table(partial(_read_parquet, directory / _PORTS)),
        series=series_of(
            summary, lambda name: _read_parquet(directory / _SERIES / f"{name}.parquet")
        ),
        summary=summary,
        drops=json.loads(drops.read_text(encoding="utf-8")) if drops.exists() else [],
        scenario_toml=scenario_toml,
        directory=directory,
    )


def _read_parquet(path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise ResultError(f"{path}: cannot read: {reason}") from None
