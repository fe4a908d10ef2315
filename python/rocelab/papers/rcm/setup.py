"""Schemes, switches and networks that RCM's figures share, and what is read off their runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from rocelab.papers.decisions import Reading
from rocelab.papers.model import Runs
from rocelab.papers.rcm import decisions as decided
from rocelab.scenario import Scenario
from rocelab.series import US, Samples

RATE, DELAY = "100Gbps", "1us"
_QUEUE_KB = 100
"""Section 4.1."""
_HEADROOM_KB = 30
"""What an input queue keeps free above Xoff, also with a single VOQ: its default is 70 %."""
_PACKET = 1082
"""Bytes that a full packet takes on a link, 1000 of them data."""


def _scheme(reading: Reading, name: str) -> dict[str, Any]:
    if name == "PFC alone":
        return {"name": "none"}
    params = dict(reading.of(decided.TIMER))
    if name == "DCQCN":
        return {"name": "dcqcn", "preset": "dcqcn-mlx", **({"params": params} if params else {})}
    for decision in decided.OF_RCM:
        params |= reading.of(decision)
    return {"name": "rcm", "preset": "rcm", "params": params}


def scenario(
    reading: Reading,
    scheme: str,
    name: str,
    seed: int,
    stop: str | None,
    *,
    topology: Mapping[str, Any],
    traffic: Sequence[Mapping[str, Any]],
    voqs: int,
    probe: Sequence[Mapping[str, Any]] = (),
    traced: Sequence[str] = (),
) -> Scenario:
    """CIOQ switches with the paper's queues; the same marking for all that mark.

    Without ``stop`` it lasts until all messages have ended. ``voqs`` is how many an input has;
    ``traced`` are nodes whose packets are recorded.
    """
    marking = {"enabled": True, **reading.of(decided.MARKING)}
    return Scenario(
        name=f"rcm-{name}",
        scheme=_scheme(reading, scheme),
        ecn={"enabled": False} if scheme == "PFC alone" else marking,
        host=reading.of(decided.ORDER),
        topology=topology,
        traffic=traffic,
        probe=probe,
        trace={"packets": traced},
        run={"seed": seed} if stop is None else {"stop": stop, "seed": seed},
        **_switches(reading, voqs),
    )


def _switches(reading: Reading, voqs: int) -> dict[str, Any]:
    """The queues, and PFC's thresholds where they are not those of 100 KB."""
    if not reading.of(decided.QUEUES):
        return {"switch": {"architecture": "cioq"}}
    room_kb = _QUEUE_KB * voqs
    return {
        "switch": {"architecture": "cioq", "input_queue": f"{room_kb}KB"},
        "pfc": {"xoff": f"{room_kb - _HEADROOM_KB}KB"},
    }


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


COMPARED = ("DCQCN", "RCM")
