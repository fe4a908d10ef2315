"""Schemes, switches and networks that RCM's figures share, and what is read off their runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from rocelab.papers import seeds
from rocelab.papers.measurements import mean
from rocelab.papers.model import Reading, Runs
from rocelab.scenario import Scenario
from rocelab.series import US, Samples

_SCHEMES: Mapping[str, dict[str, Any]] = {
    "PFC alone": {"name": "none"},
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-mlx"},
    "RCM": {"name": "rcm", "preset": "rcm"},
    "RCM to the letter": {"name": "rcm", "preset": "rcm-letter"},
    "RCM, timer 55 us": {"name": "rcm", "params": {"increase_timer": "55us"}},
    "RCM, Q_eq 16 KB": {"name": "rcm", "params": {"equilibrium": "16KB"}},
    "RCM, cuts of cuts": {"name": "rcm", "params": {"cut_rule": "compound"}},
    "RCM without SAR": {"name": "rcm", "params": {"sar": False}},
    "RCM without RCC": {"name": "rcm", "params": {"rcc": False}},
    "RCM, no marking": {"name": "rcm"},
}
_MARKING = {
    "enabled": True,
    "kmin": "5KB",
    "kmax": "200KB",
    "pmax": 0.01,
    "reference_rate": "40Gbps",
}
RATE, DELAY = "100Gbps", "1us"
_PACKET = 1082
"""Bytes that a full packet takes on a link, 1000 of them data."""


def scenario(
    scheme: str,
    name: str,
    seed: int,
    stop: str | None,
    *,
    topology: Mapping[str, Any],
    traffic: Sequence[Mapping[str, Any]],
    probe: Sequence[Mapping[str, Any]] = (),
    traced: Sequence[str] = (),
) -> Scenario:
    """CIOQ switches with the paper's queues; the same marking for all that mark.

    Without ``stop`` it lasts until all messages have ended. ``traced`` are nodes whose packets are
    recorded.
    """
    marks = scheme not in ("PFC alone", "RCM, no marking")
    return Scenario(
        name=f"rcm-{name}",
        scheme=_SCHEMES[scheme],
        switch={"architecture": "cioq"},
        ecn=_MARKING if marks else {"enabled": False},
        topology=topology,
        traffic=traffic,
        probe=probe,
        trace={"packets": traced},
        run={"seed": seed} if stop is None else {"stop": stop, "seed": seed},
    )


def custom(
    hosts: Sequence[str], switches: Mapping[str, int], links: Sequence[tuple[str, str, str]]
) -> dict[str, Any]:
    """A network; links have two ends and a rate."""
    return {
        "kind": "custom",
        "nodes": [
            *({"name": name, "kind": "host"} for name in hosts),
            *({"name": name, "kind": "switch", "tier": tier} for name, tier in switches.items()),
        ],
        "links": [{"a": a, "b": b, "rate": rate, "delay": DELAY} for a, b, rate in links],
    }


# What is read off the runs.


def throughput(*flows: int) -> Callable[[str], Callable[[Runs], Samples]]:
    """Reads the link time that the data of flows take at their receiver, in Gb/s over us."""

    def read(case: str) -> Callable[[Runs], Samples]:
        def samples(runs: Runs) -> Samples:
            series = runs[case].series["goodput"]
            frame = series.to_polars().filter(pl.col("flow_id").is_in(flows)).sort("time_ps")
            sums = frame.group_by("time_ps", maintain_order=True).agg(pl.col(series.column).mean())
            rates = sums[series.column] * (_PACKET / 1000 / 1e9)
            return (sums["time_ps"] / US).to_list(), rates.to_list()

        return samples

    return read


def in_span(name: str, span: tuple[float, ...], *flows: int) -> Reading:
    """Its mean over microseconds, for each seed."""
    return seeds.reading(name, lambda case: mean(throughput(*flows)(case), *span))


COMPARED = ("DCQCN", "RCM")
