"""All schemes in FNCC's dumbbell: two flows over time, to hold against each scheme's own paper."""

from __future__ import annotations

from collections.abc import Sequence

from rocelab import catalogue
from rocelab.catalogue import SchemeInfo
from rocelab.papers import setups
from rocelab.papers.measurements import gbps, over_us, queue_kb
from rocelab.papers.model import Figure, Line, Panel, Paper
from rocelab.scenario import Scenario

_JOIN_US = 300
_END_US = 1000
_FLOWS = ("first flow", "second flow")


def _dumbbell(scheme: SchemeInfo) -> Scenario:
    """FNCC's figure 10: a chain of three switches, links of 100 Gb/s and 1.5 us."""
    return Scenario(
        name=f"two-flows-{scheme.name}",
        topology=setups.chain("100Gbps", "1.5us", senders=2),
        scheme={"name": scheme.name, "preset": scheme.presets[0].name},
        traffic=[setups.flows("", [("h0", "h2"), ("h1", "h2")], starts_us=(0, _JOIN_US))],
        probe=[
            {"name": "queue", "kind": "queue", "ports": ["s0:s1"], "interval": "1us"},
            {"name": "sent", "kind": "throughput", "nodes": ["h0", "h1"], "interval": "5us"},
        ],
        run={"stop": f"{_END_US}us"},
        # As in FNCC's figures.
        wire={"payload": "1456B"},
        pfc={"threshold": "static", "xoff": "500KB", "xon": "496964B"},
        routing={"hash": "symmetric"},
        # Where these thresholds are those of input queues, they need the room.
        switch={"input_queue": "1MB"} if scheme.input_queues else {},
    )


def _panels(scheme: SchemeInfo) -> list[Panel]:
    """Rates and queue of a scheme."""
    case, preset = scheme.name, scheme.presets[0].name
    rates = [Line(name, gbps(case, "sent", node=f"h{n}")) for n, name in enumerate(_FLOWS)]
    queue = [Line("queue", queue_kb(case))]
    name = case if preset == case else f"{case} ({preset})"
    return [
        over_us(name, "Sent (Gb/s)", rates, (0, _END_US)),
        over_us(f"{name}: queue", "Queue length (KB)", queue, (0, _END_US)),
    ]


def two_flows(schemes: Sequence[SchemeInfo], columns: int) -> Figure:
    """The figure for some of the schemes, as :func:`rocelab.schemes` has them."""
    return Figure(
        "two-flows",
        "Two flows over one link with each scheme's default preset; the second joins at "
        f"{_JOIN_US} us",
        lambda _reading, _quick: {one.name: _dumbbell(one) for one in schemes},
        [panel for one in schemes for panel in _panels(one)],
        [],
        columns,
        completion_times=False,
    )


PAPER = Paper(
    "baselines",
    "The network of FNCC, figure 10, for all schemes",
    [two_flows(catalogue.schemes(), 4)],
    {name: look for look, name in enumerate((*_FLOWS, "queue"))},
    ["What was sent is link time in 5 us, and what a host sends, not what it may send."],
)
