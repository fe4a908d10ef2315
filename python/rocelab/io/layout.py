"""How a result directory is laid out: its files and the columns of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

SCHEMA_VERSION = 2
"""The layout of the result directories that this version writes, and the newest that it reads.

Version 1 had no checksums.
"""

SWEEP = "sweep.json"
"""The file by which the directory of a sweep is known."""

TUNE = "tune.json"
"""The file by which the directory of a search (``rocelab tune``) is known."""

SCENARIO = "scenario.toml"
SUMMARY = "summary.json"
"""Holds the checksums of all files."""
FLOWS = "flows.parquet"
PORTS = "ports.parquet"
SERIES = "series"
TRACES = "traces"
CAPTURE = "packets.pcapng"
DROPS = "drops.json"

PARTS = (SUMMARY, SCENARIO, FLOWS, PORTS, SERIES, TRACES, DROPS)
"""What a result consists of; in ``series`` and ``traces`` that is what ``OWN`` ends with."""

OWN = (".parquet", ".pcapng")


Columns: TypeAlias = Mapping[str, type]
"""What the values of columns are: ``int``, ``float``, ``str`` or ``bool``."""

PORT_COLUMNS: Columns = {"node": str, "port": int}

TABLE_COLUMNS: dict[str, Columns] = {
    FLOWS: {
        "flow_id": int,
        "tag": str,
        "src": str,
        "dst": str,
        "size_bytes": int,
        "start_ps": int,
        "fct_ps": int,
        "slowdown": float,
        "done": bool,
    },
    PORTS: {
        **PORT_COLUMNS,
        "peer": str,
        "rate_bps": int,
        "pause_frames_sent": int,
        "max_queue_bytes": int,
    },
}
"""Columns that flows and ports must have to be opened."""

TRACE_COLUMNS: dict[str, Columns] = {
    "pfc": {"time_ps": int, **PORT_COLUMNS, "peer": str, "priority": int, "pause": bool},
    "packets": {"time_ps": int, **PORT_COLUMNS, "event": str, "kind": str},
}
"""Columns that each trace must have to be opened."""
