"""Completion times of flows, from result directories and the HPCC simulator's ``fct.txt``."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab._coverage import Coverage
from rocelab._format import pluralise
from rocelab._memory import check_reading
from rocelab._text import printable
from rocelab.errors import ResultError
from rocelab.io.files import os_errors_as_result_error
from rocelab.io.open import open_result, results_within
from rocelab.io.read import open_regular

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result

PORTS = {0: "100", 1: "200"}
"""The destination ports of flow types: 0 a flow of the workload, 1 one of an incast."""

_MAX_NAMES = 10
"""Tags that an error lists."""
_MAX_TAG = 100
"""Characters of each."""

_WORDS = 8
"""Columns of a ``fct.txt``."""
_MAX_BYTES = 1 << 63
"""Sizes are below."""

COLUMNS: dict[str, type] = {
    "size": int,
    "slowdown": float,
    "end_s": float,
    "tag": str,
    "src": int,
    "dst": int,
    "scheme": str,
}
"""Of flows that finished: payload in bytes, FCT over what the flow takes alone as it was written,
when it finished, its tag or, in a ``fct.txt``, its destination port, and its scheme, which is null
there. ``src`` and ``dst`` are the numbers of its hosts where they are known: from the addresses or
numbers in a ``fct.txt``, and in a result whose scenario was made of the simulator's files.
"""

_BYTES_PER_FLOW = 500
"""Memory for a flow of a result, with its row in the table."""
_BYTES_PER_LETTER = 10
"""Memory for a byte of a ``fct.txt``."""

_NUMBERS = re.compile(r"[0-9]{1,20}( [0-9]{1,20})*")
"""All columns of a ``fct.txt`` but the two addresses."""
_NUMBERED = "^n([0-9]{1,9})$"
"""The name of a node in a scenario made of the simulator's files."""
_ADDRESS = re.compile(r"0b([0-9a-f]{4})01", re.IGNORECASE)
"""The address of a host in the simulator's ``fct.txt``: 11.x.y.1 is host 256 x + y."""
_DECIMAL = re.compile(r"[0-9]{1,7}")
"""The number of a host in the ``fct.txt`` of ConWeave's simulator."""


@dataclass(frozen=True)
class Selection:
    """The flows of a file or a result that were asked for."""

    path: Path
    flows: pl.DataFrame
    """Those that finished in time, with the columns of :data:`COLUMNS`; at least one."""
    late: int
    """How many more finished, but too late."""
    posted: int | None
    """How many there are, done or not; None for an ``fct.txt``, which lists finished ones alone."""
    result: Result | None
    """The result that they are of; None for an ``fct.txt``."""

    @property
    def schemes(self) -> list[str]:
        """The schemes of the flows, in a result of a run with two."""
        return sorted(self.flows["scheme"].drop_nulls().unique())

    @property
    def coverage(self) -> Coverage:
        """How many of them are done; of an ``fct.txt`` all."""
        done = len(self.flows) + self.late
        return Coverage(done, done if self.posted is None else self.posted)


def read(path: Path) -> tuple[pl.DataFrame, Result | None]:
    """The flows that finished in ``path``, and the result that they are of, if it is one.

    They have the columns of :data:`COLUMNS`. ``path`` is a ``fct.txt``, a directory that holds one,
    or a result directory.
    """
    with os_errors_as_result_error(path, "read"):
        if is_result(path):
            result = open_result(path)
            return _of_result(result, path), result
        if path.is_dir():
            if (path / "fct.txt").is_file():
                return _of_lines(path / "fct.txt"), None
            why = f"{path}: holds neither fct.txt nor flows.parquet"
            raise ResultError(why, hint=results_within(path))
        return _of_lines(path), None


def select_flows(path: Path, tag: str | None, cut: float, scheme: str | None = None) -> Selection:
    """The flows of a file or a result that have ``tag`` and end before ``cut``, in seconds.

    With ``scheme`` those of one scheme of a run with two. Raises :class:`ResultError` if no flow is
    left.
    """
    flows, result = read(path)
    if scheme is not None:
        _check_scheme(path, result, scheme)
        flows = flows.filter(flows["scheme"].is_null() | (flows["scheme"] == scheme))
    # Flows that are not done, too.
    every = flows if result is None else _posted(result, scheme)
    chosen, posted = (
        each if tag is None else each.filter(each["tag"] == tag) for each in (flows, every)
    )
    if chosen.is_empty() and len(posted):
        count = pluralise(len(posted), "flow", "flows")
        raise ResultError(f"{path}: {count}, and none is done")
    names = every["tag"].unique().to_list()
    if names and chosen.is_empty():
        what = "port" if result is None else "tag"
        known = ", ".join(printable(name, _MAX_TAG) for name in sorted(names)[:_MAX_NAMES])
        of = "" if scheme is None else f" of {scheme}"
        raise ResultError(
            f"{path}: no flow{of} with {what} {tag}",
            hint=f"its flows{of} have {known}; choose with --tag",
        )
    within = chosen.filter(chosen["end_s"] < cut)
    if within.is_empty():
        raise ResultError(f"{path}: no flow finished before {cut:g} s")
    late = len(chosen) - len(within)
    return Selection(path, within, late, None if result is None else len(posted), result)


def _check_scheme(path: Path, result: Result | None, scheme: str) -> None:
    """Refuses a scheme that ``path`` has no flows of, and a file that does not tell schemes."""
    if result is None:
        raise ResultError(
            f"{path}: an fct.txt does not tell the scheme of a flow",
            hint="give a result directory, or choose with --tag",
        )
    two = "scheme" in result.flows.columns
    known = result.flows["scheme"].unique().to_list() if two else [result.summary.scheme]
    if scheme not in known:
        raise ResultError(
            f"{path}: no flow with scheme {scheme}",
            hint=f"its flows have {', '.join(sorted(known))}",
        )


def _posted(result: Result, scheme: str | None) -> pl.DataFrame:
    """The flows of ``result``, done or not; those with ``scheme``, if given."""
    flows = result.flows.to_polars()
    if scheme is None or "scheme" not in flows.columns:
        return flows
    return flows.filter(flows["scheme"] == scheme)


def is_result(path: Path) -> bool:
    """Whether ``path`` is a result directory of rocelab, with no ``fct.txt`` in it."""
    return (path / "flows.parquet").is_file() and not (path / "fct.txt").is_file()


def _of_lines(path: Path) -> pl.DataFrame:
    """The flows of a ``fct.txt``."""
    import polars as pl

    flows = [_of_line(f"{path}:{number}", words) for number, words in rows(path)]
    return pl.DataFrame(flows, COLUMNS, orient="row")


def _of_line(place: str, words: list[str]) -> tuple[object, ...]:
    """The values of :data:`COLUMNS` of a line that stands at ``place``."""
    size, start, fct, ideal = map(int, words[4:])
    if ideal == 0:
        raise ResultError(f"{place}: the standalone FCT is 0")
    if size >= _MAX_BYTES:
        raise ResultError(f"{place}: no flow has {size} bytes")
    ends = _host(words[0]), _host(words[1])
    return size, fct / ideal, (start + fct) / 1e9, words[3], *ends, None


def read_text_file(path: Path) -> str:
    """The text of a file of the HPCC simulator; bytes that are not UTF-8 are replaced."""
    with io.TextIOWrapper(open_regular(path), encoding="utf-8", errors="replace") as file:
        return file.read()


def rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of a ``fct.txt`` that hold a flow: their numbers and columns, which are checked."""
    with os_errors_as_result_error(path, "read"):
        check_reading(path, path.stat().st_size * _BYTES_PER_LETTER)
        text = read_text_file(path)
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        place = f"{path}:{number}"
        if len(words) != _WORDS:
            raise ResultError(
                f"{place}: a flow has {_WORDS} columns, this line {len(words)}",
                hint="sip dip sport dport size start_ns fct_ns standalone_fct_ns",
            )
        if not _NUMBERS.fullmatch(" ".join(words[2:])):
            raise ResultError(f"{place}: needs whole numbers after the two addresses")
        if number == len(lines):
            # Its last number may lack digits and still be a number.
            raise ResultError(
                f"{place}: the last line has no end, so the file is cut short",
                hint="make it anew; or end the line, if it is whole",
            )
        yield number, words


@lru_cache(maxsize=1 << 16)
def _host(word: str) -> int | None:
    """The number of the host with this address or number; none where it is neither."""
    if found := _ADDRESS.fullmatch(word):
        return int(found[1], 16)
    return int(word) if _DECIMAL.fullmatch(word) else None


def _of_result(result: Result, directory: Path) -> pl.DataFrame:
    import polars as pl

    check_reading(directory, result.summary.flows * _BYTES_PER_FLOW)
    done = result.flows.to_polars().drop_nulls("slowdown")
    end_ps = pl.sum_horizontal(pl.col("start_ps", "fct_ps").cast(pl.Float64))
    return done.select(
        pl.col("size_bytes").alias("size"),
        "slowdown",
        (end_ps / 1e12).alias("end_s"),
        "tag",
        pl.col("src", "dst").str.extract(_NUMBERED).cast(pl.Int64),
        "scheme" if "scheme" in done.columns else pl.lit(None, pl.String).alias("scheme"),
    )
