"""What Mercury is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCHEMES: Mapping[str, dict[str, Any]] = {
    "Timely": {"name": "timely", "preset": "timely-paper"},
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-paper"},
    "DCQCN+TCD": {"name": "dcqcn+tcd", "preset": "dcqcn-paper+tcd"},
    "PACC": {"name": "pacc", "preset": "pacc"},
    "HPCC": {"name": "hpcc", "preset": "hpcc-paper"},
    "Mercury": {"name": "mercury", "preset": "mercury-paper"},
    "Mercury, ns-3 set": {"name": "mercury", "preset": "mercury-ns3"},
    "DCQCN, ns-3 set": {"name": "dcqcn", "preset": "dcqcn-hpcc"},
    "DCQCN+TCD, ns-3 set": {"name": "dcqcn+tcd", "preset": "dcqcn-hpcc+tcd"},
}
NINE = tuple(SCHEMES)
SEVEN = NINE[:7]
SIX = SEVEN[:-1]
OTHERS = SIX[:-1]
NS3 = {"DCQCN": "DCQCN, ns-3 set", "DCQCN+TCD": "DCQCN+TCD, ns-3 set"}
"""What Mercury over the HPCC simulator's DCQCN is compared with in place of these."""
FOUR = ("DCQCN", "Timely", "HPCC", "Mercury")
FIVE = (*FOUR, "Mercury, ns-3 set")
SMALL = ("40Gbps", "4us")
"""Rate and delay of the links of the small networks."""


def xoff(kb: int) -> dict[str, str]:
    """PFC's thresholds, section on parameter settings."""
    return {"threshold": "static", "xoff": f"{kb}KB", "xon": f"{kb - 2}KB"}
