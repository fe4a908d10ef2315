"""Completion times of flows, from result directories and the HPCC simulator's ``fct.txt``."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab._coverage import Coverage
from rocelab._format import pluralise
from rocelab._memory import check_reading
from rocelab._text import printable
from rocelab.errors import ResultError
from rocelab.io.files import os_errors_as_result_error
from rocelab.io.open import open_result
from rocelab.io.read import open_regular

if TYPE_CHECKING:
    from rocelab.result import Result

PORTS = {0: "100", 1: "200"}
"""The destination ports of flow types: 0 a flow of the workload, 1 one of an incast."""

_MAX_NAMES = 10
"""Tags that an error lists."""
_MAX_TAG = 100
"""Characters of each."""

_COLUMNS = 8

_BYTES_PER_FLOW = 500
"""Memory for a flow of a result, beside its row in the table."""
_BYTES_PER_LETTER = 10
"""Memory for a byte of a ``fct.txt``."""

_NUMBERED = re.compile(r"n([0-9]{1,9})")
"""The name of a node in a scenario made of the simulator's files."""
_ADDRESS = re.compile(r"0b([0-9a-f]{4})01", re.IGNORECASE)
"""The address of a host in the simulator's ``fct.txt``: 11.x.y.1 is host 256 x + y."""
_DECIMAL = re.compile(r"[0-9]{1,7}")
"""The number of a host in the ``fct.txt`` of ConWeave's simulator."""


@dataclass(frozen=True)
class Flow:
    """A flow that finished."""

    size: int
    """Payload in bytes."""
    slowdown: float
    """FCT over what the flow takes alone, as it was written."""
    end_s: float
    """When it finished."""
    port: str
    """Its destination port; in a result of rocelab, its tag."""
    ends: tuple[int, int] | None = None
    """The numbers of the two hosts, where they are known: from the addresses or numbers in a
    ``fct.txt``, and in a result whose scenario was made of the simulator's files."""
    scheme: str | None = None
    """Its scheme, in a result of a run with two."""


@dataclass(frozen=True)
class Selection:
    """The flows of a file or a result that were asked for."""

    path: Path
    flows: list[Flow]
    """Those that finished in time; at least one."""
    late: int
    """How many more finished, but too late."""
    posted: int | None
    """How many there are, done or not; None for an ``fct.txt``, which lists finished ones alone."""
    result: Result | None
    """The result that they are of; None for an ``fct.txt``."""

    @property
    def schemes(self) -> list[str]:
        """The schemes of the flows, in a result of a run with two."""
        return sorted({flow.scheme for flow in self.flows if flow.scheme is not None})

    @property
    def coverage(self) -> Coverage:
        """How many of them are done; of an ``fct.txt`` all."""
        done = len(self.flows) + self.late
        return Coverage(done, done if self.posted is None else self.posted)


def read(path: Path) -> tuple[list[Flow], Result | None]:
    """The flows that finished in ``path``, and the result that they are of, if it is one.

    ``path`` is a ``fct.txt``, a directory that holds one, or a result directory.
    """
    with os_errors_as_result_error(path, "read"):
        if is_result(path):
            result = open_result(path)
            return _of_result(result, path), result
        if path.is_dir():
            if (path / "fct.txt").is_file():
                return list(_lines(path / "fct.txt")), None
            raise ResultError(f"{path}: holds neither fct.txt nor flows.parquet")
        return list(_lines(path)), None


def select_flows(path: Path, tag: str | None, cut: float, scheme: str | None = None) -> Selection:
    """The flows of a file or a result that have ``tag`` and end before ``cut``, in seconds.

    With ``scheme`` those of one scheme of a run with two. Raises :class:`ResultError` if no flow is
    left.
    """
    flows, result = read(path)
    if scheme is not None:
        _check_scheme(path, result, scheme)
        flows = [flow for flow in flows if flow.scheme in {None, scheme}]
    chosen = [flow for flow in flows if tag is None or flow.port == tag]
    posted = None if result is None else _posted(result, tag, scheme)
    if posted and not chosen:
        raise ResultError(f"{path}: {pluralise(posted, 'flow', 'flows')}, and none is done")
    # Tags of flows that are not done, too.
    names = {flow.port for flow in flows} if result is None else set(result.flows["tag"].unique())
    if names and not chosen:
        what = "port" if result is None else "tag"
        known = ", ".join(printable(name, _MAX_TAG) for name in sorted(names)[:_MAX_NAMES])
        raise ResultError(
            f"{path}: no flow with {what} {tag}", hint=f"its flows have {known}; choose with --tag"
        )
    within = [flow for flow in chosen if flow.end_s < cut]
    if not within:
        raise ResultError(f"{path}: no flow finished before {cut:g} s")
    return Selection(path, within, len(chosen) - len(within), posted, result)


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


def _posted(result: Result, tag: str | None, scheme: str | None) -> int:
    """How many flows ``result`` has, done or not; those with ``tag`` and ``scheme``, if given."""
    flows = result.flows.to_polars()
    if tag is not None:
        flows = flows.filter(flows["tag"] == tag)
    if scheme is not None and "scheme" in flows.columns:
        flows = flows.filter(flows["scheme"] == scheme)
    return len(flows)


def is_result(path: Path) -> bool:
    """Whether ``path`` is a result directory of rocelab, with no ``fct.txt`` in it."""
    return (path / "flows.parquet").is_file() and not (path / "fct.txt").is_file()


def _lines(path: Path) -> Iterator[Flow]:
    for number, words in rows(path):
        size, start, fct, ideal = map(int, words[4:])
        if ideal == 0:
            raise ResultError(f"{path}:{number}: the standalone FCT is 0")
        src, dst = _host(words[0]), _host(words[1])
        ends = None if src is None or dst is None else (src, dst)
        yield Flow(size, fct / ideal, (start + fct) / 1e9, words[3], ends)


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
        if len(words) != _COLUMNS:
            raise ResultError(
                f"{place}: a flow has {_COLUMNS} columns, this line {len(words)}",
                hint="sip dip sport dport size start_ns fct_ns standalone_fct_ns",
            )
        if not all(word.isascii() and word.isdigit() and len(word) <= 20 for word in words[2:]):
            raise ResultError(f"{place}: needs whole numbers after the two addresses")
        if number == len(lines):
            # Its last number may lack digits and still be a number.
            raise ResultError(
                f"{place}: the last line has no end, so the file is cut short",
                hint="make it anew; or end the line, if it is whole",
            )
        yield number, words


def _host(word: str) -> int | None:
    """The number of the host with this address or number; none where it is neither."""
    if found := _ADDRESS.fullmatch(word):
        return int(found[1], 16)
    return int(word) if _DECIMAL.fullmatch(word) else None


def _of_result(result: Result, directory: Path) -> list[Flow]:
    check_reading(directory, result.summary.flows * _BYTES_PER_FLOW)
    done = result.flows.to_polars().drop_nulls("slowdown")
    columns = ["size_bytes", "slowdown", "start_ps", "fct_ps", "tag", "src", "dst"]
    if "scheme" in done.columns:
        columns.append("scheme")
    return [
        Flow(size, slowdown, (start + fct) / 1e12, tag, _numbers(src, dst), *scheme)
        for size, slowdown, start, fct, tag, src, dst, *scheme in done.select(columns).iter_rows()
    ]


def _numbers(src: str, dst: str) -> tuple[int, int] | None:
    """The numbers of two hosts, where their names have them."""
    ends = _NUMBERED.fullmatch(src), _NUMBERED.fullmatch(dst)
    return (int(ends[0][1]), int(ends[1][1])) if ends[0] and ends[1] else None
