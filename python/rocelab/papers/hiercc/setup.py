"""The network that HierCC's figures share, and the schemes of a reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocelab.papers import setups
from rocelab.papers.decisions import Reading
from rocelab.papers.hiercc import decisions as decided

OTHERS = ("DCQCN", "TIMELY", "HPCC", "ExpressPass")
FIVE = (*OTHERS, "HierCC")

FIFTH = {"pods": 2, "tors_per_pod": 2, "aggs_per_pod": 2, "cores": 2, "hosts_per_tor": 16}
"""4 ToR, 4 aggregation and 2 core switches, and 64 hosts, in two pods."""

LINE_GBPS = 25.0
"""Of the hosts."""
DATA_B, FIRST_B, ACK_B = 1082, 16, 86
"""A packet of 1000 B of payload and an ACK on the wire; the first of a message has more."""
INT_B = 42
"""What HPCC adds to packets and ACKs."""


def scheme(reading: Reading, name: str) -> dict[str, Any]:
    """The scheme of this name, in a reading."""
    if name == "HierCC":
        params = {
            **reading.of(decided.INITIAL_CREDITS),
            **reading.of(decided.SENT),
            **reading.of(decided.FULL_RATE),
        }
        return {"name": "hiercc", "preset": "hiercc-paper", "params": params}
    found = dict(reading.of(decided.BASELINES)[name])
    if name == "HPCC" and reading.of(decided.HPCC_RTT) == "path":
        form = found["preset"]
        # The simulator's form has a window of its own.
        window = {"window": "path-bdp"} if form == "hpcc-ns3" else {}
        found["params"] = {"base_rtt": "path", **window}
    return found


def wire(reading: Reading) -> dict[str, Any]:
    """The packets' sizes on the wire."""
    return {"wire": {"profile": reading.of(decided.WIRE)}}


def on_wire_kb(packets: int, more_b: int = 0) -> float:
    """The size of a message of full packets, each with ``more_b`` for the scheme."""
    return (packets * (DATA_B + more_b) + FIRST_B) / 1e3


def hpcc_rtt_us(delay_us: float) -> float:
    """HPCC's T: a full packet's way from pod to pod, and that of its ACK."""
    return 12 * delay_us + (DATA_B + ACK_B + 2 * INT_B) * 8e-3 * (2 / LINE_GBPS + 4 / 100)


def network(delay: str, size: Mapping[str, int] = setups.WHOLE) -> dict[str, Any]:
    """Links of 25 Gb/s to hosts and of 100 Gb/s between switches, all of this delay."""
    return setups.pods("25Gbps", "100Gbps", delay, size)
