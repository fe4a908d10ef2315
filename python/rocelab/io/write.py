"""The files of a result, written to an empty directory."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab.io.checksums import add_checksums
from rocelab.io.files import sync, to_json, write
from rocelab.io.layout import (
    CAPTURE,
    DROPS,
    FLOWS,
    PORTS,
    SCENARIO,
    SCHEMA_VERSION,
    SERIES,
    SUMMARY,
    TRACES,
)
from rocelab.io.names import file_name
from rocelab.table import Table

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result

_ROWS_PER_GROUP = 1 << 18
"""Rows in a Parquet row group: fixed, as the bytes must not depend on the machine."""


def write_result(result: Result, directory: Path) -> None:
    """Writes the files of ``result`` to the empty ``directory``, the summary last."""
    write(directory / SCENARIO, result.scenario_toml.encode())
    write(directory / FLOWS, to_parquet(result.flows.to_polars()))
    write(directory / PORTS, to_parquet(result.ports.to_polars()))
    for part, tables in ((SERIES, result.series), (TRACES, result.traces)):
        if tables:
            (directory / part).mkdir()
            for name, table in tables.items():
                _write_table(directory / part / f"{file_name(name)}.parquet", table)
            if part == TRACES and result.has_capture:
                result._copy_capture(directory / part / CAPTURE)
                sync(directory / part / CAPTURE)
            sync(directory / part)
    if result.drops:
        write(directory / DROPS, to_json(result.drops))
    # The files as they are now, whoever wrote them.
    summary = add_checksums({**result.summary.to_dict(), "schema": SCHEMA_VERSION}, directory)
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
        # The system's number stands at the end: "... No space left on device (os error 28)".
        number = re.search(r"\(os error (\d+)\)$", str(error))
        why = (int(number[1]), os.strerror(int(number[1]))) if number else (None, str(error))
        raise OSError(*why) from None
    sync(path)


def to_parquet(frame: pl.DataFrame) -> bytes:
    """``frame`` as a Parquet file; equal frames give equal bytes."""
    buffer = io.BytesIO()
    frame.rechunk().write_parquet(
        buffer, compression="zstd", compression_level=3, row_group_size=_ROWS_PER_GROUP
    )
    return buffer.getvalue()
