"""What FNCC is compared with, and what all its runs have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DELAY = "1.5us"
"""Of each link."""

SCHEMES: Mapping[str, dict[str, Any]] = {
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-paper"},
    "HPCC": {"name": "hpcc", "preset": "hpcc-paper"},
    "FNCC": {"name": "fncc", "preset": "fncc-paper"},
    "RoCC": {"name": "rocc", "preset": "rocc-paper"},
    "FNCC without LHCS": {
        "name": "fncc",
        "preset": "fncc-paper",
        "params": {"last_hop_speedup": "off"},
    },
    "FNCC, tables every 1 us": {
        "name": "fncc",
        "preset": "fncc-paper",
        "params": {"update_period": "1us"},
    },
    "FNCC with 64-bit INT": {
        "name": "fncc",
        "preset": "fncc-paper",
        "params": {"int_format": "fncc-64"},
    },
}
THREE = ("DCQCN", "HPCC", "FNCC")
FOUR = (*THREE, "RoCC")
TABLE = "FNCC, tables every 1 us"
COMMON: Mapping[str, Any] = {
    "wire": {"payload": "1456B"},
    "pfc": {"threshold": "static", "xoff": "500KB", "xon": "496964B"},
    "routing": {"hash": "symmetric"},
}
"""An MTU of 1518 is 1456 B of payload and 62 B of headers. Of PFC's thresholds Xoff is given."""
