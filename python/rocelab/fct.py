"""FCT slowdowns by flow size as the analysis script of the HPCC simulator reports them.

Flows are sorted by size and split into twenty groups of equal count; of each group there are the
largest size and percentiles of the slowdown, where anything below 1 counts as 1. Only flows that
finished before a cut are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocelab.errors import ResultError

GROUPS = 20
PERCENTILES = (50, 95, 99)
PORTS = {0: "100", 1: "200"}
"""The destination ports of flow types: 0 a flow of the workload, 1 one of an incast."""

_COLUMNS = 8


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


def read(path: Path) -> list[Flow]:
    """The flows in ``path``: a ``fct.txt``, a directory that holds one, or a result directory."""
    if is_result(path):
        return _result(path)
    if path.is_dir():
        if (path / "fct.txt").is_file():
            return list(_lines(path / "fct.txt"))
        raise ResultError(f"{path}: holds neither fct.txt nor flows.parquet")
    return list(_lines(path))


def is_result(path: Path) -> bool:
    """Whether ``path`` is a result directory of rocelab, with no ``fct.txt`` in it."""
    return (path / "flows.parquet").is_file() and not (path / "fct.txt").is_file()


def _lines(path: Path) -> Iterator[Flow]:
    for number, words in rows(path):
        size, start, fct, ideal = map(int, words[4:])
        if ideal == 0:
            raise ResultError(f"{path}:{number}: the standalone FCT is 0")
        yield Flow(size, fct / ideal, (start + fct) / 1e9, words[3])


def rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of a ``fct.txt`` that hold a flow: their numbers and columns, which are checked."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ResultError(f"{path}: cannot read: {error.strerror or error}") from None
    for number, line in enumerate(text.split("\n"), start=1):
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
        yield number, words


def _result(directory: Path) -> list[Flow]:
    from rocelab.store import open_result

    done = open_result(directory).flows.to_polars().drop_nulls("slowdown")
    columns = ("size_bytes", "slowdown", "start_ps", "fct_ps", "tag")
    return [
        Flow(size, slowdown, (start + fct) / 1e12, tag)
        for size, slowdown, start, fct, tag in done.select(columns).iter_rows()
    ]


def by_size(flows: Sequence[Flow]) -> list[dict[str, Any]]:
    """The groups, smallest flows first; none is empty, so few flows have fewer groups.

    A group has ``part`` (the share of flows up to its end, in per cent), ``upper_bytes``,
    ``flows``, ``p50``, ``p95`` and ``p99``. Flows of equal size are in order of their slowdown.
    """
    ordered = sorted((flow.size, max(flow.slowdown, 1.0)) for flow in flows)
    groups = []
    for index in range(GROUPS):
        begin, end = (len(ordered) * edge // GROUPS for edge in (index, index + 1))
        if begin == end:
            continue
        slowdowns = sorted(slowdown for _, slowdown in ordered[begin:end])
        groups.append(
            {
                "part": 100 * (index + 1) // GROUPS,
                "upper_bytes": ordered[end - 1][0],
                "flows": end - begin,
                # The script's own rank, not the nearest.
                **{f"p{p}": slowdowns[int(len(slowdowns) * (p / 100))] for p in PERCENTILES},
            }
        )
    return groups
