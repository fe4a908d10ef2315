"""Measures the tables of load-balancing.md: each scheme with each way to balance load.

``python docs/load_balancing.py`` runs ``examples/load-balancing.toml`` with every scheme, way to
spread packets and seed, and rewrites what stands between ``<!-- measured -->`` and
``<!-- end -->`` in load-balancing.md. Combinations that are refused have a dash.
"""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path
from typing import Any

import rocelab
from rocelab.errors import ConfigError

HERE = Path(__file__).parent
PAGE = HERE / "load-balancing.md"
SCHEMES = ("none", "dcqcn", "dctcp", "swift", "timely", "hpcc", "hpcc-pint", "rocc", "mercury")
SEEDS = (1, 2, 3)
KEEP: dict[str, Any] = {"recovery": "selective-repeat"}
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ECMP": ({"balance": "ecmp"}, {}),
    "LetFlow": ({"balance": "letflow"}, {}),
    "CONGA": ({"balance": "conga"}, {}),
    "ConWeave": ({"balance": "conweave"}, {}),
    "random": ({"balance": "random"}, {}),
    "adaptive": ({"balance": "adaptive", "quantise": ["10KB", "30KB", "100KB"]}, {}),
    "DRILL": ({"balance": "drill"}, {}),
    "REPS": ({"balance": "ecmp"}, {"spray": "reps"}),
}


def measure(scheme: str, way: str) -> tuple[str, str]:
    """The mean and the p99 slowdown, or why there is none."""
    routing, host = WAYS[way]
    base = rocelab.load(HERE.parent / "examples" / "load-balancing.toml")
    means, tails = [], []
    for seed in SEEDS:
        tables = base.to_dict()
        tables.pop("host")
        tables["routing"] = routing
        tables["scheme"] = scheme
        for section in ("ecn", "pfc", "switch"):
            tables.pop(section)
        tables["run"] = {"seed": seed}
        try:
            result = rocelab.run(rocelab.Scenario(**tables, host={**KEEP, **host}))
        except ConfigError:
            return "-", "-"
        summary = result.summary
        if summary.flows_done < summary.flows:
            return "unfinished", "unfinished"
        means.append(summary.slowdown["mean"])
        tails.append(summary.slowdown["p99"])
    return f"{statistics.mean(means):.2f}", f"{statistics.mean(tails):.1f}"


def table(index: int, cells: dict[tuple[str, str], tuple[str, str]]) -> str:
    """A table of schemes by ways; the least number of each row is bold."""
    lines = ["| scheme | " + " | ".join(WAYS) + " |", "|---|" + "---|" * len(WAYS)]
    for scheme in SCHEMES:
        row = [cells[scheme, way][index] for way in WAYS]
        numbers = [float(text) for text in row if text[0].isdigit()]
        best = min(numbers) if numbers else None
        bold = [
            f"**{text}**" if text[0].isdigit() and float(text) == best else text for text in row
        ]
        lines.append(f"| `{scheme}` | " + " | ".join(bold) + " |")
    return "\n".join(lines)


def main() -> None:
    """Writes the tables."""
    cells = {}
    for scheme in SCHEMES:
        for way in WAYS:
            cells[scheme, way] = measure(scheme, way)
            sys.stderr.write(f"{scheme} {way}: {cells[scheme, way]}\n")
    text = f"Mean slowdown:\n\n{table(0, cells)}\n\np99 slowdown:\n\n{table(1, cells)}\n"
    page = PAGE.read_text(encoding="utf-8")
    page = re.sub(
        r"(<!-- measured -->\n).*?(<!-- end -->)",
        lambda match: f"{match[1]}\n{text}\n{match[2]}",
        page,
        flags=re.DOTALL,
    )
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
