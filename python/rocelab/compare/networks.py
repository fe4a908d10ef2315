"""The networks in which schemes are compared, with their traffic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rocelab import catalogue
from rocelab.scenario import Scenario

RATES_GBPS = (40, 100)

_BIN_US = 100

_LONG = "100GB"
"""A message that outlasts every run."""


@dataclass(frozen=True)
class Network:
    """A small network with its traffic. All links have 1 us."""

    id: str
    title: str
    topology: Callable[[str], dict[str, object]]
    """Returns the topology for a rate of the hosts' ports, such as ``"100Gbps"``."""
    flows: Callable[[int], list[dict[str, str]]]
    """Returns the flows for a rate of the hosts' ports in Gb/s."""
    port: str
    """Where the flows meet."""
    rivals: Sequence[str]
    """The hosts whose flows should have equal shares."""
    victim: str = ""
    """A host whose flow is only held up by pauses."""
    joined_us: int = 0
    """When the last rival begins."""
    steady_us: tuple[int, int] = (12_000, 16_000)
    used_us: tuple[int, int] = (12_000, 16_000)
    """The span over which the use of the link is measured."""
    stop_us: int = 16_000


def _star(hosts: int) -> Callable[[str], dict[str, object]]:
    return lambda rate: {
        "kind": "star",
        "hosts": hosts,
        "host_rate": rate,
        "host_delay": "1us",
    }


def _chain(
    switches: int, senders: int, receivers: int, side: Sequence[int] = (), faster: int = 1
) -> Callable[[str], dict[str, object]]:
    def topology(rate: str) -> dict[str, object]:
        gbps = int(rate.removesuffix("Gbps"))
        return {
            "kind": "dumbbell",
            "switches": switches,
            "senders": senders,
            "receivers": receivers,
            "side_hosts": list(side),
            "host_rate": rate,
            "host_delay": "1us",
            "rate": f"{gbps * faster}Gbps",
            "delay": "1us",
        }

    return topology


def _long(*pairs: tuple[str, str]) -> Callable[[int], list[dict[str, str]]]:
    return lambda _gbps: [{"src": src, "dst": dst, "size": _LONG} for src, dst in pairs]


_STEP_US = 2_000


def _join_and_leave(gbps: int) -> list[dict[str, str]]:
    """One more flow every step, then one fewer, where shares are equal and 93 % is payload."""
    thirds = 1 / 3 + 1 / 4 + 1 / 3
    steps = [1 + 1 / 2 + 1 / 3 + 1 / 4, 1 / 2 + thirds, thirds + 1 / 2, 1 / 4 + 1 / 3 + 1 / 2 + 1]
    whole = gbps * 1e3 / 8 * _STEP_US * 0.93
    return [
        {
            "src": f"h{n}",
            "dst": "h4",
            "size": f"{round(share * whole)}B",
            "start": f"{n * _STEP_US}us",
        }
        for n, share in enumerate(steps)
    ]


NETWORKS: tuple[Network, ...] = (
    Network(
        "two-to-one",
        "two hosts send to a third through one switch",
        _star(3),
        _long(("h0", "h2"), ("h1", "h2")),
        "s0:h2",
        ("h0", "h1"),
    ),
    Network(
        "incast",
        "16 hosts send to another one through one switch",
        _star(17),
        _long(*((f"h{n}", "h16") for n in range(16))),
        "s0:h16",
        tuple(f"h{n}" for n in range(16)),
    ),
    Network(
        "victim",
        "seven hosts send to one, and the victim shares with one of them a link twice as fast "
        "as a host's, which the others' port may pause",
        _chain(2, 2, 2, side=(0, 6), faster=2),
        _long(("h0", "h2"), ("h1", "h3"), *((f"h{n}", "h3") for n in range(4, 10))),
        "s1:h3",
        ("h1", *(f"h{n}" for n in range(4, 10))),
        victim="h0",
    ),
    Network(
        "parking-lot",
        "a flow over three links in a row, on each of which it meets another flow; the queue and "
        "the use are those of the middle link",
        _chain(4, 2, 2, side=(0, 2, 2)),
        _long(("h0", "h2"), ("h1", "h4"), ("h5", "h6"), ("h7", "h3")),
        "s1:s2",
        ("h0", "h1", "h5", "h7"),
    ),
    Network(
        "join-leave",
        "four flows over one link: one more every 2 ms, then one fewer; shares and queue from 7 to "
        "8 ms, while there are four, the use of the link from 0 to 12 ms",
        _chain(2, 4, 1),
        _join_and_leave,
        "s0:s1",
        ("h0", "h1", "h2", "h3"),
        joined_us=3 * _STEP_US,
        steady_us=(3 * _STEP_US + _STEP_US // 2, 4 * _STEP_US),
        used_us=(0, 6 * _STEP_US),
        stop_us=7 * _STEP_US,
    ),
)


def scenario(network: Network, gbps: int, scheme: str, preset: str) -> Scenario:
    """The run that a row is read off."""
    topology = network.topology(f"{gbps}Gbps")
    hosts = [*network.rivals, *([network.victim] if network.victim else [])]
    return Scenario(
        name=f"{network.id}-{gbps}G",
        topology=topology,
        scheme={"name": scheme, "preset": preset},
        traffic=[{"kind": "flows", "flows": network.flows(gbps)}],
        probe=[
            {"name": "share", "kind": "throughput", "nodes": hosts, "interval": f"{_BIN_US}us"},
            {"name": "queue", "kind": "queue", "ports": [network.port], "interval": "2us"},
            {"name": "busy", "kind": "utilisation", "ports": [network.port], "interval": "100us"},
        ],
        run={"stop": f"{network.stop_us}us"},
        **input_queues(scheme),
    )


INPUT_QUEUES = {"switch": {"input_queue": "200KB"}, "pfc": {"xoff": "70KB", "xon": "50KB"}}
"""The usual thresholds, and the headroom of all these networks above them."""


def input_queues(scheme: str) -> dict[str, Any]:
    """Tables of a scenario under a scheme whose switches have input queues; none under others."""
    queued = {known.name for known in catalogue.schemes() if known.input_queues}
    return INPUT_QUEUES if scheme in queued else {}
