"""Networks and traffic that several papers have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def links(rate: str, delay: str) -> dict[str, str]:
    """All links of a network alike, those of hosts and those between switches."""
    return {"host_rate": rate, "host_delay": delay, "rate": rate, "delay": delay}


def chain(rate: str, delay: str, **more: object) -> dict[str, Any]:
    """Three switches in a row, the senders at the first and the receivers at the last."""
    return {"kind": "dumbbell", "switches": 3, **links(rate, delay), **more}


def fat_tree(k: int, rate: str, delay: str) -> dict[str, Any]:
    """A fat tree of switches with ``k`` ports."""
    return {"kind": "fat-tree", "k": k, **links(rate, delay)}


WHOLE = {"pods": 5, "tors_per_pod": 4, "aggs_per_pod": 4, "cores": 16, "hosts_per_tor": 16}
"""20 ToR, 20 aggregation and 16 core switches, and 320 hosts, in five pods."""


def pods(host_rate: str, rate: str, delay: str, size: Mapping[str, int]) -> dict[str, Any]:
    """Three tiers of switches, with links of ``rate`` among them."""
    return {
        "kind": "three-tier",
        **size,
        "host_rate": host_rate,
        "host_delay": delay,
        "agg_rate": rate,
        "agg_delay": delay,
        "core_rate": rate,
        "core_delay": delay,
    }


def flows(
    tag: str, ends: Iterable[tuple[str, str]], size: str = "10GB", starts_us: Sequence[float] = ()
) -> dict[str, Any]:
    """A flow for each pair of hosts, from zero on or when ``starts_us`` says."""
    listed = []
    for number, (src, dst) in enumerate(ends):
        flow = {"src": src, "dst": dst, "size": size}
        if number < len(starts_us) and starts_us[number]:
            flow["start"] = f"{starts_us[number]:g}us"
        listed.append(flow)
    return {"kind": "flows", **({"tag": tag} if tag else {}), "flows": listed}
