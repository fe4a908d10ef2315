"""Measures the tables of load-balancing.md: schemes by ways to balance load, and planes.

``python docs/load_balancing.py`` runs the example ``load-balancing`` with every scheme, way to
spread packets and seed, and a network of four planes with several ways. It rewrites what stands
between ``<!-- measured: NAME -->`` and ``<!-- end -->`` in load-balancing.md. Combinations that
are refused have a dash.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import rocelab
from rocelab.errors import ConfigError
from rocelab.sweeps.confidence import interval

HERE = Path(__file__).parent
PAGE = HERE / "load-balancing.md"
SCHEMES = ("none", "dcqcn", "dctcp", "swift", "timely", "hpcc", "hpcc-pint", "rocc", "mercury")
SEEDS = range(1, 11)
KEEP: dict[str, Any] = {"recovery": "selective-repeat"}
ADAPTIVE = {"balance": "adaptive", "quantise": ["10KB", "30KB", "100KB"]}
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ECMP": ({"balance": "ecmp"}, {}),
    "LetFlow": ({"balance": "letflow"}, {}),
    "CONGA": ({"balance": "conga"}, {}),
    "ConWeave": ({"balance": "conweave"}, {}),
    "random": ({"balance": "random"}, {}),
    "adaptive, `quantise`": (ADAPTIVE, {}),
    "DRILL": ({"balance": "drill"}, {}),
    "REPS": ({"balance": "ecmp"}, {"spray": "reps"}),
}
PLANES = [
    (ports, within, *WAYS[within])
    for ports in ("hash", "spray")
    for within in ("ECMP", "REPS", "adaptive, `quantise`")
]

Seeds = Sequence[float]
"""A number of each seed, in their order."""


def slowdowns(scheme: str, way: str) -> tuple[Seeds, Seeds] | str:
    """The mean and the p99 slowdown of each seed, or why there are none."""
    routing, host = WAYS[way]
    tables = rocelab.example("load-balancing").to_dict()
    for section in ("ecn", "pfc", "switch"):
        tables.pop(section)
    tables |= {"routing": routing, "scheme": scheme, "host": {**KEEP, **host}}
    means, tails = [], []
    for seed in SEEDS:
        try:
            result = rocelab.run(rocelab.Scenario(**tables | {"run": {"seed": seed}}))
        except ConfigError:
            return "-"
        summary = result.summary
        if summary.flows_done < summary.flows:
            return "unfinished"
        means.append(summary.slowdown["mean"])
        tails.append(summary.slowdown["p99"])
    return means, tails


def is_lower(one: Seeds, other: Seeds) -> bool:
    """Returns whether ``one`` is lower by more than the differences of the seeds spread."""
    mean, half = interval([a - b for a, b in zip(one, other, strict=True)])
    return half is not None and mean + half < 0


def leading(row: Mapping[str, Seeds]) -> set[str]:
    """The fewest ways of which each is lower than each way that is not among them."""
    order = sorted(row, key=lambda way: interval(row[way])[0])
    for number in range(1, len(order)):
        ahead, behind = order[:number], order[number:]
        if all(is_lower(row[one], row[other]) for one in ahead for other in behind):
            return set(ahead)
    return set()


def shown(values: Seeds, digits: int) -> str:
    """A mean and its 95 % confidence interval."""
    mean, half = interval(values)
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def table(index: int, cells: Mapping[tuple[str, str], tuple[Seeds, Seeds] | str]) -> str:
    """A table of schemes by ways."""
    lines = ["| scheme | " + " | ".join(WAYS) + " |", "|---|" + "---|" * len(WAYS)]
    for scheme in SCHEMES:
        row: dict[str, Seeds] = {}
        texts = {}
        for way in WAYS:
            cell = cells[scheme, way]
            if isinstance(cell, str):
                texts[way] = cell
            else:
                row[way] = cell[index]
                texts[way] = shown(cell[index], digits=2 - index)
        texts |= {way: f"**{texts[way]}**" for way in leading(row)}
        lines.append(f"| `{scheme}` | " + " | ".join(texts.values()) + " |")
    return "\n".join(lines)


def planes() -> str:
    """A table of a permutation over four planes: ways to use ports, and ways within a plane."""
    lines = ["| ports | within a plane | mean of all flows | last flow |", "|---|---|---|---|"]
    tables = rocelab.example("planes").to_dict()
    for section in ("ecn", "pfc", "switch", "failure"):
        tables.pop(section)
    for ports, within, routing, host in PLANES:
        made = tables | {"routing": routing, "host": {"ports": ports, **KEEP, **host}}
        means, lasts = [], []
        for seed in SEEDS:
            flows = rocelab.run(rocelab.Scenario(**made | {"run": {"seed": seed}})).flows
            times = [fct / 1e9 for fct in flows.to_polars()["fct_ps"].to_list()]
            means.append(statistics.fmean(times))
            lasts.append(max(times))
        row = [f'`"{ports}"`', within, f"{shown(means, 2)} ms", f"{shown(lasts, 2)} ms"]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def rewrite(name: str, text: str) -> None:
    """Puts ``text`` in its place on the page."""
    page, number = re.subn(
        rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)",
        lambda match: f"{match[1]}\n{text}\n\n{match[2]}",
        PAGE.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    if number != 1:
        raise SystemExit(f"{PAGE}: no place for {name}")
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    """Writes the tables."""
    rewrite("planes", planes())
    cells = {}
    for scheme in SCHEMES:
        for way in WAYS:
            cells[scheme, way] = slowdowns(scheme, way)
        sys.stderr.write(f"{scheme} done\n")
    rewrite(
        "slowdowns", f"Mean slowdown:\n\n{table(0, cells)}\n\np99 slowdown:\n\n{table(1, cells)}"
    )


if __name__ == "__main__":
    main()
