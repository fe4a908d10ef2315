"""Results of ``rocelab bench`` by machine: keeps them, and makes the tables of performance.md.

``rocelab bench --json > one.json`` measures. ``python docs/bench_results.py MACHINE one.json ...``
adds what the files hold to ``performance/machines.json``; of each case, scheme and number of
threads the fastest counts. A new machine gets an entry there by hand first, with its processor.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

STORE = Path(__file__).parent / "performance" / "machines.json"
CASES = ("k8-hpcc", "three-tier-dcqcn", "incast-64", "k16-hpcc", "k32-hpcc")
OF_SCHEMES = "k8-hpcc"
"""The case that is run under every scheme."""

_OF_MACHINE = {
    "processor": "processor",
    "cores": "cores",
    "l2": "second-level cache of each core",
    "date": "measured",
}
"""What the table of machines shows, and its headings."""

Machine = dict[str, Any]
Table = tuple[list[str], list[list[str]]]
Row = dict[str, Any]


def machines() -> list[Machine]:
    """What has been measured, machine by machine."""
    stored: list[Machine] = json.loads(STORE.read_text(encoding="utf-8"))
    return stored


def _key(row: Row) -> tuple[str, str, int]:
    return row["case"], row["scheme"], row["threads"]


def _scheme_of(case: str) -> str:
    return "hpcc" if case.endswith("hpcc") else "dcqcn"


def _ns(machine: Machine, case: str, scheme: str, threads: int) -> float | None:
    found = [row for row in machine["rows"] if _key(row) == (case, scheme, threads)]
    return found[0]["ns_per_packet_hop"] if found else None


def _machine_table() -> Table:
    rows = [[one["name"], *(str(one[key]) for key in _OF_MACHINE)] for one in machines()]
    return ["", *_OF_MACHINE.values()], rows


def _case_table() -> Table:
    """A row for each case: ns per packet-hop on one thread and on two, by machine."""
    rows = []
    for case in CASES:
        scheme = _scheme_of(case)
        cells = []
        for machine in machines():
            both = [_ns(machine, case, scheme, threads) for threads in (1, 2)]
            cells.append(" / ".join("" if ns is None else f"{ns:.1f}" for ns in both))
        memory = [
            row["max_rss_bytes"]
            for machine in machines()
            for row in machine["rows"]
            if _key(row) == (case, scheme, 1) and "max_rss_bytes" in row
        ]
        rows.append([f"`{case}`", *cells, f"{memory[-1] / 1e6:.0f}"])
    return ["case", *(one["name"] for one in machines()), "memory"], rows


def _scheme_table() -> Table:
    """A row for each scheme: ns per packet-hop on one thread, and over ``hpcc``, by machine."""
    measured = [one for one in machines() if _ns(one, OF_SCHEMES, "none", 1) is not None]
    names = dict.fromkeys(row["scheme"] for one in measured for row in one["rows"])
    rows = []
    for name in names:
        cells = [f"`{name}`"]
        for machine in measured:
            ns, base = (_ns(machine, OF_SCHEMES, scheme, 1) for scheme in (name, "hpcc"))
            known = ns is not None and base is not None
            cells += [f"{ns:.1f}", f"{ns / base:.2f}"] if known else ["", ""]
        rows.append(cells)
    header = [cell for one in measured for cell in (one["name"], "over `hpcc`")]
    return ["scheme", *header], rows


TABLES = {"machines": _machine_table, "cases": _case_table, "schemes": _scheme_table}
"""Tables of performance.md by name: functions that return a header and rows."""


def add(machine: Machine, measured: Iterable[Row]) -> None:
    """Adds rows to those of a machine; the fastest of equals stays."""
    kept = {_key(row): row for row in machine["rows"]}
    for row in measured:
        before = kept.get(_key(row))
        if before is None or row["ns_per_packet_hop"] < before["ns_per_packet_hop"]:
            kept[_key(row)] = {
                key: round(value, 2) if isinstance(value, float) else value
                for key, value in row.items()
            }
    machine["rows"] = list(kept.values())


def main() -> None:
    """Adds results to the store."""
    parser = argparse.ArgumentParser(description="Adds results of `rocelab bench --json`.")
    parser.add_argument("machine", help="its name in performance/machines.json")
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    stored = machines()
    one = next((one for one in stored if one["name"] == arguments.machine), None)
    if one is None:
        names = ", ".join(one["name"] for one in stored)
        parser.error(f"no machine {arguments.machine!r} in {STORE.name}: {names}")
    for file in arguments.files:
        add(one, json.loads(file.read_text(encoding="utf-8")))
    STORE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
