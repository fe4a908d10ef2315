"""FCT slowdowns by flow size as the analysis script of the HPCC simulator reports them.

Flows are sorted by size and split into twenty groups of equal count; of each group there are the
largest size and percentiles of the slowdown, where anything below 1 counts as 1.

With the simulator's topology file flows are split by place, too: within a data centre, between two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rocelab._percentile import percentile
from rocelab.errors import ResultError

if TYPE_CHECKING:
    import polars as pl

    from rocelab.hpcc.fct import Selection

GROUPS = 20
PERCENTILES = ("p50", "p95", "p99")


@dataclass(frozen=True)
class Group:
    """Flows of about one size."""

    part: int
    """The share of flows up to the end of this group, in per cent."""
    lower_bytes: int
    """The smallest size."""
    upper_bytes: int
    """The largest size."""
    flows: int
    p50: float
    """Percentiles of the slowdown, by the script's own rank."""
    p95: float
    p99: float
    tag: str | None = None
    """The tag of its flows, or their port, where flows are split by that."""

    def to_dict(self) -> dict[str, Any]:
        """Its values by name; the tag stands first."""
        return _with_tag(self.tag, asdict(self))


@dataclass(frozen=True)
class Compared:
    """The groups of two files that end at the same part of the flows."""

    part: int
    a: Group | None
    b: Group | None
    tag: str | None = None
    """The tag of the flows, or their port, where flows are split by that."""

    @property
    def comparable(self) -> bool:
        """Whether the sizes of both overlap: other sizes have other slowdowns."""
        a, b = self.a, self.b
        if a is None or b is None:
            return False
        return a.lower_bytes <= b.upper_bytes and b.lower_bytes <= a.upper_bytes

    def to_dict(self) -> dict[str, Any]:
        """Its values by name: those of both, and by how many per cent a percentile of b is higher.

        Names end in ``_a``, ``_b`` and ``_percent``. Values are ``None`` where one side has no such
        group, and differences where they are not comparable.
        """
        a, b = (None if one is None else one.to_dict() for one in (self.a, self.b))
        values: dict[str, Any] = {"part": self.part}
        for name in ("lower_bytes", "upper_bytes", "flows", *PERCENTILES):
            values |= {f"{name}_a": a and a[name], f"{name}_b": b and b[name]}
            if name in PERCENTILES:
                values[f"{name}_percent"] = self._percent(name)
        return _with_tag(self.tag, values)

    def _percent(self, name: str) -> float | None:
        if self.a is None or self.b is None or not self.comparable:
            return None
        higher: float = getattr(self.b, name) / getattr(self.a, name)
        return 100 * (higher - 1)


@dataclass(frozen=True)
class Place:
    """Slowdowns as they were written within or between data centres, or the quotient of both.

    ``None`` where there is no flow.
    """

    place: str
    """``intra``, ``inter``, or ``intra/inter``."""
    flows: float | None
    mean: float | None
    """Its quotient is the unfairness."""
    p50: float | None
    """Percentiles by nearest rank."""
    p95: float | None
    p99: float | None
    below_10KB: float | None  # noqa: N815 - units as everywhere
    """Means of four classes of sizes; each begins where the one before ends."""
    below_100KB: float | None  # noqa: N815
    below_1MB: float | None  # noqa: N815
    from_1MB: float | None  # noqa: N815

    def to_dict(self) -> dict[str, Any]:
        """Its values by name."""
        return asdict(self)


def _with_tag(tag: str | None, values: dict[str, Any]) -> dict[str, Any]:
    others = {name: value for name, value in values.items() if name != "tag"}
    return others if tag is None else {"tag": tag, **others}


def by_size(flows: pl.DataFrame, *, distinct: bool = False, tag: str | None = None) -> list[Group]:
    """The groups, smallest flows first; none is empty, so few flows have fewer groups.

    ``flows`` has columns of :data:`rocelab.hpcc.fct.COLUMNS`. Flows of equal size are in order of
    their slowdown. With ``distinct`` the groups that have the same largest size are one. All groups
    get ``tag``.
    """
    ordered = flows.select("size", flows["slowdown"].clip(1.0)).sort("size", "slowdown")
    sizes = ordered["size"]
    groups: list[Group] = []
    begin = 0
    for index in range(GROUPS):
        end, *later = (len(ordered) * edge // GROUPS for edge in range(index + 1, GROUPS + 1))
        if begin == end:
            continue
        # Of few flows some groups are empty: the next one is the next that has flows.
        next_end = next((one for one in later if one > end), None)
        if distinct and next_end is not None and sizes[end - 1] == sizes[next_end - 1]:
            continue
        slowdowns = ordered["slowdown"][begin:end].sort()
        # The script's own rank, not the nearest.
        p50, p95, p99 = (slowdowns[int(len(slowdowns) * (p / 100))] for p in (50, 95, 99))
        groups.append(
            Group(
                part=100 * (index + 1) // GROUPS,
                lower_bytes=sizes[begin],
                upper_bytes=sizes[end - 1],
                flows=end - begin,
                p50=p50,
                p95=p95,
                p99=p99,
                tag=tag,
            )
        )
        begin = end
    return groups


def by_tag(flows: pl.DataFrame) -> list[Group]:
    """The groups of :func:`by_size` of each tag (or port)."""
    parts = split_by_tag(flows).items()
    return [group for tag, part in parts for group in by_size(part, distinct=True, tag=tag)]


def split_by_tag(flows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The flows of each tag (or port), in the order of the tags."""
    parts = flows.partition_by("tag", as_dict=True)
    return {tag: parts[tag,] for (tag,) in sorted(parts)}


def _of_tag(parts: Mapping[str, pl.DataFrame], tag: str) -> list[Group]:
    return by_size(parts[tag], distinct=True, tag=tag) if tag in parts else []


def compare_by_size(ours: Sequence[Group], theirs: Sequence[Group]) -> list[Compared]:
    """All groups of both, those of the same part of the flows in one row."""
    ours_by, theirs_by = ({group.part: group for group in each} for each in (ours, theirs))
    return [
        Compared(part, ours_by.get(part), theirs_by.get(part))
        for part in sorted({*ours_by, *theirs_by})
    ]


def compare_by_tag(ours: pl.DataFrame, theirs: pl.DataFrame) -> list[Compared]:
    """The rows of :func:`compare_by_size` of each tag (or port)."""
    a, b = split_by_tag(ours), split_by_tag(theirs)
    return [
        replace(row, tag=tag)
        for tag in sorted({*a, *b})
        for row in compare_by_size(_of_tag(a, tag), _of_tag(b, tag))
    ]


def by_data_centre(selected: Selection, sites: Sequence[int]) -> list[Place]:
    """Slowdowns within and between data centres, and their quotients."""
    import polars as pl

    flows = selected.flows
    ends = flows["src"], flows["dst"]
    if any(one.null_count() for one in ends):
        raise ResultError(
            f"{selected.path}: names or addresses of its hosts are not numbers of a topology file",
            hint="choose flows with --tag; or take the fct.txt of `rocelab hpcc`, or a result "
            "of the scenario that its --print-scenario prints",
        )
    if any((one >= len(sites)).any() for one in ends):
        raise ResultError(f"{selected.path}: the flows are not those of the topology")
    site = pl.Series(sites)
    within = site.gather(ends[0]) == site.gather(ends[1])
    intra, inter = _place("intra", flows.filter(within)), _place("inter", flows.filter(~within))
    return [intra, inter, _quotients(intra, inter)]


def _place(name: str, flows: pl.DataFrame) -> Place:
    ordered, sizes = flows["slowdown"].sort(), flows["size"]
    p50, p95, p99 = (percentile(ordered, p) if len(flows) else None for p in (50, 95, 99))
    edges = (0, 10**4, 10**5, 10**6, math.inf)
    means = [
        _mean(flows["slowdown"].filter((sizes >= least) & (sizes < most)))
        for least, most in pairwise(edges)
    ]
    return Place(name, len(flows), _mean(ordered), p50, p95, p99, *means)


def _mean(values: pl.Series) -> float | None:
    # Correctly rounded, whatever the order.
    return None if values.is_empty() else fmean(values.to_list())


def _quotients(intra: Place, inter: Place) -> Place:
    a, b = asdict(intra), asdict(inter)
    names = [name for name in a if name != "place"]
    return Place(place="intra/inter", **{name: _quotient(a[name], b[name]) for name in names})


def _quotient(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None
