"""Schemes and the network that HierCC's figures share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocelab.papers import setups

SCHEMES: Mapping[str, dict[str, Any]] = {
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-hpcc"},
    "TIMELY": {"name": "timely", "preset": "timely-paper"},
    "HPCC": {"name": "hpcc", "preset": "hpcc-paper"},
    "ExpressPass": {"name": "expresspass", "preset": "expresspass-xpass"},
    "HierCC": {"name": "hiercc", "preset": "hiercc-path"},
    "HierCC to the letter": {"name": "hiercc", "preset": "hiercc-paper"},
    "HierCC, S ahead": {"name": "hiercc", "preset": "hiercc-ahead"},
    "HPCC, paths' T": {
        "name": "hpcc",
        "preset": "hpcc-paper",
        "params": {"base_rtt": "path"},
    },
}
FORMS = ("HierCC", "HierCC to the letter", "HierCC, S ahead")
OTHERS = ("DCQCN", "TIMELY", "HPCC", "ExpressPass")
SEVEN = (*OTHERS, *FORMS)


FIFTH = {"pods": 2, "tors_per_pod": 2, "aggs_per_pod": 2, "cores": 2, "hosts_per_tor": 16}
"""4 ToR, 4 aggregation and 2 core switches, and 64 hosts, in two pods."""


DATA_B, FIRST_B, ACK_B = 1082, 16, 86
"""A packet of 1000 B of payload and an ACK on the wire; the first of a message has more."""
INT_B = 42
"""What HPCC adds to packets and ACKs."""


def on_wire_kb(packets: int, more_b: int = 0) -> float:
    """The size of a message of full packets, each with ``more_b`` for the scheme."""
    return (packets * (DATA_B + more_b) + FIRST_B) / 1e3


def hpcc_rtt_us(delay_us: float) -> float:
    """HPCC's T: a full packet's way from pod to pod, and that of its ACK."""
    return 12 * delay_us + (DATA_B + ACK_B + 2 * INT_B) * 8e-3 * (2 / 25 + 4 / 100)


def network(delay: str, size: Mapping[str, int] = setups.WHOLE) -> dict[str, Any]:
    """Links of 25 Gb/s to hosts and of 100 Gb/s between switches, all of this delay."""
    return setups.pods("25Gbps", "100Gbps", delay, size)
