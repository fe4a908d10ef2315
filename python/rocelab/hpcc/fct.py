"""FCT slowdowns by flow size as the analysis script of the HPCC simulator reports them.

Flows are sorted by size and split into twenty groups of equal count; of each group there are the
largest size and percentiles of the slowdown, where anything below 1 counts as 1. Only flows that
finished before a cut are looked at.

With the simulator's topology file flows are split by place, too: within a data centre, between two.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rocelab._doubts import coverage
from rocelab._format import pluralise
from rocelab._memory import check_reading
from rocelab._percentile import percentile
from rocelab._text import printable
from rocelab.errors import ResultError
from rocelab.io.files import os_errors_as_result_error
from rocelab.io.open import open_result
from rocelab.io.read import open_regular

GROUPS = 20
PERCENTILES = (50, 95, 99)
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

SIZES: tuple[tuple[str, float, float], ...] = (
    ("below_10KB", 0, 10**4),
    ("below_100KB", 10**4, 10**5),
    ("below_1MB", 10**5, 10**6),
    ("from_1MB", 10**6, math.inf),
)
"""Classes of sizes in bytes: name, from, to before."""
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


def read(path: Path) -> list[Flow]:
    """The flows in ``path``: a ``fct.txt``, a directory that holds one, or a result directory."""
    with os_errors_as_result_error(path, "read"):
        if is_result(path):
            return _result(path)
        if path.is_dir():
            if (path / "fct.txt").is_file():
                return list(_lines(path / "fct.txt"))
            raise ResultError(f"{path}: holds neither fct.txt nor flows.parquet")
        return list(_lines(path))


def posted(path: Path, tag: str | None) -> int | None:
    """How many flows the result in ``path`` has, done or not; with ``tag`` those that have it.

    None for an ``fct.txt``, which lists finished flows alone.
    """
    if not is_result(path):
        return None
    flows = open_result(path).flows.to_polars()
    return len(flows if tag is None else flows.filter(flows["tag"] == tag))


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


def read_lines(path: Path) -> str:
    """The text of a file of the HPCC simulator."""
    with io.TextIOWrapper(open_regular(path), encoding="utf-8", errors="replace") as file:
        return file.read()


def rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of a ``fct.txt`` that hold a flow: their numbers and columns, which are checked."""
    with os_errors_as_result_error(path, "read"):
        check_reading(path, path.stat().st_size * _BYTES_PER_LETTER)
        text = read_lines(path)
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


def _result(directory: Path) -> list[Flow]:
    result = open_result(directory)
    check_reading(directory, result.summary.flows * _BYTES_PER_FLOW)
    done = result.flows.to_polars().drop_nulls("slowdown")
    columns = ("size_bytes", "slowdown", "start_ps", "fct_ps", "tag", "src", "dst")
    return [
        Flow(size, slowdown, (start + fct) / 1e12, tag, _numbers(src, dst))
        for size, slowdown, start, fct, tag, src, dst in done.select(columns).iter_rows()
    ]


def _numbers(src: str, dst: str) -> tuple[int, int] | None:
    """The numbers of two hosts, where their names have them."""
    ends = _NUMBERED.fullmatch(src), _NUMBERED.fullmatch(dst)
    return (int(ends[0][1]), int(ends[1][1])) if ends[0] and ends[1] else None


def by_size(flows: Sequence[Flow], *, distinct: bool = False) -> list[dict[str, Any]]:
    """The groups, smallest flows first; none is empty, so few flows have fewer groups.

    A group has ``part`` (the share of flows up to its end, in per cent), ``lower_bytes`` and
    ``upper_bytes``, its smallest and largest size, ``flows``, ``p50``, ``p95`` and ``p99``. Flows
    of equal size are in order of their slowdown. With ``distinct`` the groups that have the same
    largest size are one.
    """
    ordered = sorted((flow.size, max(flow.slowdown, 1.0)) for flow in flows)
    groups: list[dict[str, Any]] = []
    begin = 0
    for index in range(GROUPS):
        end, next_end = (len(ordered) * edge // GROUPS for edge in (index + 1, index + 2))
        if begin == end:
            continue
        if distinct and index + 1 < GROUPS and ordered[end - 1][0] == ordered[next_end - 1][0]:
            continue
        slowdowns = sorted(slowdown for _, slowdown in ordered[begin:end])
        groups.append(
            {
                "part": 100 * (index + 1) // GROUPS,
                "lower_bytes": ordered[begin][0],
                "upper_bytes": ordered[end - 1][0],
                "flows": end - begin,
                # The script's own rank, not the nearest.
                **{f"p{p}": slowdowns[int(len(slowdowns) * (p / 100))] for p in PERCENTILES},
            }
        )
        begin = end
    return groups


def by_tag(flows: Sequence[Flow]) -> list[dict[str, Any]]:
    """The groups of :func:`by_size` of each tag (or port), which stands first in a row."""
    tags = sorted({flow.port for flow in flows})
    return [
        {"tag": tag, **group}
        for tag in tags
        for group in by_size([flow for flow in flows if flow.port == tag], distinct=True)
    ]


def compare_by_size(
    ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """All groups of both, those of the same part of the flows in one row.

    Its keys end in ``_a`` and ``_b``, and are ``None`` where one side has no such group. The
    percentiles have the difference of b from a (``_percent``) where the sizes of both overlap;
    elsewhere that is ``None``, too, as other sizes have other slowdowns.
    """
    ours_by, theirs_by = ({group["part"]: group for group in each} for each in (ours, theirs))
    rows = []
    for part in sorted({*ours_by, *theirs_by}):
        a, b = ours_by.get(part, {}), theirs_by.get(part, {})
        like = (
            a
            and b
            and a["lower_bytes"] <= b["upper_bytes"]
            and b["lower_bytes"] <= a["upper_bytes"]
        )
        row = {"part": part}
        for key in ("lower_bytes", "upper_bytes", "flows"):
            row |= {f"{key}_a": a.get(key), f"{key}_b": b.get(key)}
        for key in (f"p{percent}" for percent in PERCENTILES):
            difference = 100 * (b[key] / a[key] - 1) if like else None
            row |= {f"{key}_a": a.get(key), f"{key}_b": b.get(key), f"{key}_percent": difference}
        rows.append(row)
    return rows


def compare_by_tag(ours: Sequence[Flow], theirs: Sequence[Flow]) -> list[dict[str, Any]]:
    """The rows of :func:`compare_by_size` of each tag (or port), which stands first in a row."""
    tags = sorted({flow.port for flow in [*ours, *theirs]})
    return [
        {"tag": tag, **row}
        for tag in tags
        for row in compare_by_size(
            *(
                by_size([flow for flow in each if flow.port == tag], distinct=True)
                for each in (ours, theirs)
            )
        )
    ]


def by_data_centre(flows: Sequence[Flow], sites: Sequence[int], path: Path) -> list[dict[str, Any]]:
    """Slowdowns within (``intra``) and between data centres (``inter``), and their quotients.

    A row has ``place``, ``flows``, ``mean`` (whose quotient is the unfairness), percentiles by
    nearest rank and the means of four classes of sizes; ``None`` where there is no flow. Slowdowns
    are as they were written. Errors name ``path``, where the flows are from.
    """
    places: dict[str, list[Flow]] = {"intra": [], "inter": []}
    for flow in flows:
        if flow.ends is None:
            raise ResultError(
                f"{path}: names or addresses of its hosts are not numbers of a topology file",
                hint="choose flows with --tag; or take the fct.txt of `rocelab hpcc`, or a result "
                "of the scenario that its --print-scenario prints",
            )
        if max(flow.ends) >= len(sites):
            raise ResultError(f"{path}: the flows are not those of the topology")
        src, dst = (sites[end] for end in flow.ends)
        places["intra" if src == dst else "inter"].append(flow)
    intra, inter = (_means(each) for each in places.values())
    ratio = {key: _quotient(intra[key], inter[key]) for key in intra}
    return [
        {"place": "intra", **intra},
        {"place": "inter", **inter},
        {"place": "intra/inter", **ratio},
    ]


def _quotient(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None


def _means(flows: Sequence[Flow]) -> dict[str, float | None]:
    slowdowns = sorted(flow.slowdown for flow in flows)

    def mean(values: Sequence[float]) -> float | None:
        return fmean(values) if values else None

    return {
        "flows": len(flows),
        "mean": mean(slowdowns),
        **{
            f"p{percent}": percentile(slowdowns, percent) if flows else None
            for percent in PERCENTILES
        },
        **{
            name: mean([flow.slowdown for flow in flows if least <= flow.size < most])
            for name, least, most in SIZES
        },
    }


def select_flows(path: Path, tag: str | None, cut: float) -> tuple[list[Flow], int, str]:
    """The flows of a file or a result that have ``tag`` and end before ``cut``, in seconds.

    Also returns how many have the tag and end later, and a text such as ``1,987 of 2,000 flows`` if
    not all with the tag are done. Raises :class:`ResultError` if no flow is left.
    """
    flows = read(path)
    chosen = [flow for flow in flows if tag is None or flow.port == tag]
    total = posted(path, tag)
    if total and not chosen:
        raise ResultError(f"{path}: {pluralise(total, 'flow', 'flows')}, and none is done")
    if flows and not chosen:
        what = "tag" if is_result(path) else "port"
        ports = sorted({flow.port for flow in flows})[:_MAX_NAMES]
        known = ", ".join(printable(port, _MAX_TAG) for port in ports)
        raise ResultError(
            f"{path}: no flow with {what} {tag}", hint=f"its flows have {known}; choose with --tag"
        )
    within = [flow for flow in chosen if flow.end_s < cut]
    if not within:
        raise ResultError(f"{path}: no flow finished before {cut:g} s")
    return within, len(chosen) - len(within), coverage(len(chosen), total or 0)
