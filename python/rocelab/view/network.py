"""The network that the page draws: nodes, their places, and ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocelab._text import printable
from rocelab.errors import ResultError
from rocelab.view.tree import Port

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result


@dataclass(frozen=True)
class Network:
    """The nodes and ports of a result."""

    names: list[str]
    """Of nodes."""
    tiers: list[int]
    ports: list[Port]
    nodes: dict[str, int]
    """Nodes by name."""
    index: pl.DataFrame
    """``node``, ``port`` and the index in ``ports``."""


def network_of(result: Result) -> Network:
    """The nodes, and the ports in the order of ``result.ports``."""
    import polars as pl

    table = result.ports.to_polars().select("node", "port", "peer", "rate_bps")
    planned = result.scenario.plan().ports.to_polars()
    plain = pl.Schema(
        {"node": pl.String, "port": pl.Int64, "peer": pl.String, "rate_bps": pl.Int64}
    )
    table = table.cast(plain)
    if not table.sort("node", "port").equals(
        planned.select(table.columns).cast(plain).sort("node", "port")
    ):
        raise damaged(result, "the ports are not those of its scenario")
    tiers = dict(planned.select("node", "tier").unique(maintain_order=True).iter_rows())
    # The n-th link from a to b is the n-th from b to a: ports are numbered in the order of links.
    between: dict[tuple[str, str], list[int]] = {}
    rows = list(table.iter_rows())
    for at, (node, _, peer, _) in enumerate(rows):
        between.setdefault((node, peer), []).append(at)
    back = {
        at: other
        for (node, peer), ends in between.items()
        for at, other in zip(ends, between[peer, node], strict=True)
    }
    ports = [
        Port(node, number, peer, rate, back[at], peer_is_host=tiers[peer] == 0)
        for at, (node, number, peer, rate) in enumerate(rows)
    ]
    names = list(tiers)
    return Network(
        names=names,
        tiers=list(tiers.values()),
        ports=ports,
        nodes={name: at for at, name in enumerate(names)},
        index=table.select("node", "port").with_row_index("at").cast({"at": pl.Int64}),
    )


def nodes_of(network: Network) -> list[dict[str, Any]]:
    """Nodes with tier, pod, and their place among those of their tier."""
    neighbours = _neighbours(network)
    pods = _pods(network.tiers, neighbours)
    places = _places(network.tiers, neighbours)
    return [
        {"name": printable(name), "tier": tier, "pod": pods[at], "place": places[at]}
        for at, (name, tier) in enumerate(zip(network.names, network.tiers, strict=True))
    ]


def _neighbours(network: Network) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in network.names]
    for port in network.ports:
        found[network.nodes[port.node]].append(network.nodes[port.peer])
    return found


def _pods(tiers: Sequence[int], neighbours: Sequence[Sequence[int]]) -> list[int]:
    """The pod of each node: what is joined without the switches of the top tier; of those -1.

    A host that then is alone is of the pod of the others at its switch.
    """
    top = max(tiers)
    pods = [-1] * len(tiers)
    of_switch: dict[int, int] = {}
    count = 0
    for first, tier in enumerate(tiers):
        if tier == top or pods[first] >= 0:
            continue
        group = [first]
        pods[first] = count
        for node in group:
            for other in neighbours[node]:
                if tiers[other] != top and pods[other] < 0:
                    pods[other] = count
                    group.append(other)
        if len(group) == 1 and tier == 0:
            pods[first] = of_switch.setdefault(neighbours[first][0], count)
        if pods[first] == count:
            count += 1
    return pods


def _places(tiers: Sequence[int], neighbours: Sequence[Sequence[int]]) -> list[float]:
    """What nodes of a tier are ordered by: the mean place of their neighbours below."""
    places = [0.0] * len(tiers)
    for node in sorted(range(len(tiers)), key=tiers.__getitem__):
        below = [places[one] for one in neighbours[node] if tiers[one] < tiers[node]]
        places[node] = sum(below) / len(below) if below else float(node)
    return places


def ports_of(network: Network) -> list[list[int]]:
    """Of each port its node, its peer, the port at the other end, rate in bit/s, and number."""
    nodes = network.nodes
    return [
        [nodes[port.node], nodes[port.peer], port.back, port.rate_bps, port.number]
        for port in network.ports
    ]


def called(result: Result) -> str:
    """What errors call ``result``."""
    return str(result.directory or result.summary.name)


def damaged(result: Result, why: str) -> ResultError:
    """The error that ``result`` cannot be shown because of ``why``."""
    return ResultError(f"{called(result)}: damaged: {why}")
