"""FNCC in a chain of three switches: the set-up, and what its figures read off the runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rocelab.papers import setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.fncc.schemes import DELAY, common, settings
from rocelab.papers.measurements import (
    busy_percent,
    each,
    first,
    lines,
    mean_since,
    of,
    over_us,
    peak,
    queue_kb,
    rate,
)
from rocelab.papers.model import Claim, Line, Measure, Panel, Runs
from rocelab.scenario import Scenario
from rocelab.series import between

JOIN_US = 300.0
"""When the second flow joins, section 5.1."""
JOINS = (0.0, JOIN_US)
END_US = 1000.0
"""When runs end."""


def dumbbell(
    reading: Reading,
    scheme: str,
    gbps: int,
    *,
    port: str = "s0:s1",
    flows: dict[str, Any] | None = None,
    senders: int = 2,
    side: tuple[int, ...] = (),
    stop_us: float = END_US,
    interval: str = "1us",
) -> Scenario:
    """Figure 10: three switches in a chain; a flow from the start and one that joins."""
    return Scenario(
        name=f"fncc-{scheme}-{gbps}G",
        topology=setups.chain(f"{gbps}Gbps", DELAY, senders=senders, side_hosts=list(side)),
        traffic=[flows or setups.flows("long", [("h0", "h2"), ("h1", "h2")], starts_us=JOINS)],
        probe=[
            {"name": "queue", "kind": "queue", "ports": [port], "interval": interval},
            {"name": "busy", "kind": "utilisation", "ports": [port], "interval": "5us"},
            {"name": "rate", "kind": "rate", "flows": ["long"], "interval": interval},
        ],
        run={"stop": f"{stop_us:g}us"},
        **settings(reading, scheme, gbps),
        **common(reading),
    )


def dumbbells(
    reading: Reading, rates: tuple[int, ...], schemes: tuple[str, ...]
) -> dict[str, Scenario]:
    """One run for each of ``rates``, in Gb/s, and each of ``schemes``."""
    return {f"{gbps} {name}": dumbbell(reading, name, gbps) for gbps in rates for name in schemes}


# What is read off the runs.

SHOWN_US = (250, 1000)
"""The part of runs that is drawn."""


def queues(title: str, prefix: str, names: Sequence[str]) -> Panel:
    """The queue at the probed port, for the cases of ``names`` that begin with ``prefix``."""
    return over_us(title, "Queue length (KB)", lines(of(prefix, names), queue_kb), SHOWN_US)


def busy(title: str, prefix: str, names: Sequence[str]) -> Panel:
    """How busy the probed port is, for the cases of ``names`` that begin with ``prefix``."""
    return over_us(title, "Utilisation (%)", lines(of(prefix, names), busy_percent), SHOWN_US)


def rates(title: str, prefix: str, names: Sequence[str]) -> Panel:
    """The rates of both flows; the joining one is thin."""
    both = [
        Line(name, rate(case, flow), thin=flow == 1)
        for name, case in of(prefix, names).items()
        for flow in (0, 1)
    ]
    return over_us(title, "Flow rate (Gb/s)", both, SHOWN_US)


def peak_queue(case: str) -> Measure:
    """The longest queue from the join on, in KB."""
    return peak(queue_kb(case), JOIN_US)


def mean_busy(case: str) -> Measure:
    """How busy the port is on average from the join on, in percent."""
    return mean_since(busy_percent(case), JOIN_US)


REACTED = 0.9
"""A flow has reacted when its rate is below this share of its mean before."""


def reaction_us(case: str, runs: Runs) -> float:
    """When the first flow has reacted; its mean is that of the 100 us before the join."""
    points = rate(case, 0)(runs)
    before = between(points, JOIN_US - 100, JOIN_US)
    return first(points, JOIN_US, below=REACTED * sum(before) / len(before))


TO_THE_END = "mean from the join to 1 ms"
"""How a mean of a whole run is described."""


_LARGEST_RECORD = (
    "from the congested port on all ports of the path are equally busy, and the largest of their "
    "records counts, each of the few packets between two ACKs: three ports cost more than one; "
    "HPCC's records are all of the same packet, and a longer period of the tables averages"
)


def highest_busy(prefix: str, where: str, names: Sequence[str]) -> Claim:
    """FNCC uses most of the probed port."""
    return Claim(
        f"utilisation-{prefix}",
        f"FNCC has the highest utilisation {where}",
        "FNCC highest",
        verdict.highest(each(of(prefix, names), mean_busy), "FNCC", "%"),
        assumption=TO_THE_END,
        reason=_LARGEST_RECORD,
    )
