"""Congestion trees: which ports are congested, whom PFC pauses because of them, and who suffers.

Time is divided into intervals by the samples of probes. In an interval

- the **queue** of a port is the longer one of the samples at the two ends of the interval;
- a port is **paused** if its peer paused it for any part of the interval;
- a port is **congested** if its queue takes it ``CONGESTED_PS`` or longer to send;
- a flow is **under way** from its start to its last ACK.

A paused port **waits for** ports of its peer: for each through which a flow that is under way goes
on from there, if that one is congested or paused itself. If no flow under way is known to pass the
paused port, it waits for all ports of its peer that are congested or paused, but the one that leads
back. So following "waits for" leads downstream, to where packets pile up. There it ends in

- a **root**: a port that is congested, at the end of the interval too, and not paused, and whose
  queue has grown since its last pause. A queue that a pause left behind makes no root; it is
  forgotten when the port is no longer congested.
- a **draining** port: congested and not paused, but the queue is gone at the end of the interval,
  or no longer than what its last pause left.
- a **stalled** receiver: a port that a host pauses, which passes data on more slowly than it comes.
- a **deadlock**: a circle of ports each of which waits for the next one and was paused for the
  whole interval.

The **tree** of each of them has the paused ports from which it can be reached. A **victim** of a
tree is a flow under way that passes a paused port of the tree, but no port of its root: it waits
for a port that it does not use. Paused ports from which nothing of that kind is reached are
**unexplained**: what paused them came and went between two samples, or they wait for each other in
a circle in which something still moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

CONGESTED_PS = 2_000_000
"""A port whose queue takes this long to send is congested: 25 KB at 100 Gb/s."""

Kind = Literal["root", "draining", "stalled", "deadlock"]


@dataclass(frozen=True)
class Port:
    """An end of a link, as the port that sends into it."""

    node: str
    number: int
    """Its number at its node."""
    peer: str
    rate_bps: int
    back: int
    """The index of the port at the other end."""
    peer_is_host: bool


@dataclass(frozen=True)
class Flow:
    """A message and its path."""

    number: int
    start_ps: int
    end_ps: int | None
    """Its last ACK; None if it did not end."""
    path: tuple[int, ...]
    """The indices of the ports that its data leaves through, from the sender on."""


@dataclass(frozen=True)
class Interval:
    """What probes saw of all ports between two samples; lists are by index of the port."""

    begin_ps: int
    end_ps: int
    queue: Sequence[int]
    """Bytes: the longer of the samples at both ends."""
    queue_at_end: Sequence[int]
    """Bytes at the end."""
    paused: Sequence[float]
    """The share of the time in which the port was paused."""
    slow: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    """Of ports whose link has another rate than its own: the lowest, and that at the end, bit/s."""


@dataclass(frozen=True)
class Tree:
    """A congested port, or a circle of them, and what waits for it."""

    kind: Kind
    root: tuple[int, ...]
    """The port; of a deadlock the circle, each waits for the next one. A stalled one is paused."""
    paused: Mapping[int, tuple[int, ...]]
    """The other ports that wait, those next to the root first, and what they wait for."""
    victims: tuple[int, ...]
    """Numbers of flows."""


@dataclass(frozen=True)
class Moment:
    """All trees of an interval."""

    trees: tuple[Tree, ...]
    """Deadlocks, stalled receivers, roots, draining ports; of each those with most paused first."""
    unexplained: tuple[int, ...]
    """Paused ports of no tree."""


def congestion(
    ports: Sequence[Port], flows: Iterable[Flow], intervals: Iterable[Interval]
) -> list[Moment]:
    """The congestion trees of each of ``intervals``, which are in the order of time."""
    waiting = sorted(flows, key=lambda flow: flow.start_ps, reverse=True)
    under_way: dict[int, Flow] = {}
    left_by_pause = [0] * len(ports)
    to_hosts = {at for at, port in enumerate(ports) if port.peer_is_host}
    moments = []
    for interval in intervals:
        while waiting and waiting[-1].start_ps < interval.end_ps:
            flow = waiting.pop()
            under_way[flow.number] = flow
        over = [
            flow.number
            for flow in under_way.values()
            if flow.end_ps is not None and flow.end_ps <= interval.begin_ps
        ]
        for number in over:
            del under_way[number]
        flows_now = list(under_way.values())
        moments.append(_moment(ports, interval, flows_now, left_by_pause, to_hosts))
        for port, share in enumerate(interval.paused):
            if share > 0:
                left_by_pause[port] = interval.queue_at_end[port]
            elif left_by_pause[port] and not _is_congested(ports, interval, port)[0]:
                left_by_pause[port] = 0
    return moments


def _is_congested(ports: Sequence[Port], interval: Interval, port: int) -> tuple[bool, bool]:
    """Whether a port is congested in an interval, and at its end."""
    own = ports[port].rate_bps
    lowest, at_end = interval.slow.get(port, (own, own))

    def is_long(queue: int, rate_bps: float) -> bool:
        return queue * 8 * 10**12 >= CONGESTED_PS * rate_bps

    queue = interval.queue[port]
    return is_long(queue, lowest), is_long(interval.queue_at_end[port], at_end)


@dataclass
class _Graph:
    """Which ports wait for which."""

    waits_for: dict[int, list[int]] = field(default_factory=dict)
    waited_for_by: dict[int, list[int]] = field(default_factory=dict)


def _moment(
    ports: Sequence[Port],
    interval: Interval,
    flows: Sequence[Flow],
    left_by_pause: Sequence[int],
    to_hosts: Set[int],
) -> Moment:
    paused = [port for port, share in enumerate(interval.paused) if share > 0]
    kinds: dict[int, Kind] = {}
    for port, queue in enumerate(interval.queue):
        if interval.paused[port] > 0 or not queue:
            continue
        congested, lasts = _is_congested(ports, interval, port)
        if congested:
            grown = queue > left_by_pause[port]
            kinds[port] = "root" if lasts and grown else "draining"
    passing: dict[int, list[Flow]] = {port: [] for port in paused}
    for flow in flows:
        for port in flow.path:
            if port in passing:
                passing[port].append(flow)
    graph = _graph(ports, kinds, passing)
    stuck = {port for port in paused if interval.paused[port] >= 1}
    found = [_tree("deadlock", circle, graph, passing) for circle in _circles(graph, stuck)]
    found += [_tree("stalled", (port,), graph, passing) for port in paused if port in to_hosts]
    found += [_tree(kind, (port,), graph, passing) for port, kind in kinds.items()]
    order = ("deadlock", "stalled", "root", "draining")
    found.sort(key=lambda tree: (order.index(tree.kind), -len(tree.paused), tree.root))
    reached = {port for tree in found for port in (*tree.paused, *tree.root)}
    return Moment(tuple(found), tuple(port for port in paused if port not in reached))


def _graph(
    ports: Sequence[Port], congested: Mapping[int, Kind], passing: Mapping[int, Sequence[Flow]]
) -> _Graph:
    """Finds what each paused port waits for; ``passing`` has the flows of all of these."""
    graph = _Graph()
    of_node: dict[str, list[int]] = {}
    for port in sorted({*passing, *congested}):
        of_node.setdefault(ports[port].node, []).append(port)
    for port, flows in passing.items():
        there = of_node.get(ports[port].peer, [])
        if flows:
            onward = {
                after for flow in flows for here, after in pairwise(flow.path) if here == port
            }
            causes = [one for one in there if one in onward]
        else:
            causes = [one for one in there if one != ports[port].back]
        graph.waits_for[port] = causes
        for one in causes:
            graph.waited_for_by.setdefault(one, []).append(port)
    return graph


def _tree(
    kind: Kind, root: tuple[int, ...], graph: _Graph, passing: Mapping[int, Sequence[Flow]]
) -> Tree:
    """Collects upstream what waits for ``root``."""
    order = list(root)
    roots = frozenset(root)
    reached = set(root)
    for port in order:
        for upstream in graph.waited_for_by.get(port, ()):
            if upstream not in reached:
                reached.add(upstream)
                order.append(upstream)
    paused = {
        port: tuple(one for one in graph.waits_for[port] if one in reached)
        for port in order[len(root) :]
    }
    victims = {
        flow.number for port in paused for flow in passing[port] if roots.isdisjoint(flow.path)
    }
    return Tree(kind, root, paused, tuple(sorted(victims)))


def _circles(graph: _Graph, stuck: set[int]) -> list[tuple[int, ...]]:
    """A circle of each group of ``stuck`` ports that wait for each other."""
    circles = []
    seen: set[int] = set()
    for start in sorted(stuck):
        if start in seen:
            continue
        circle = _circle(graph, stuck, start)
        if circle:
            circles.append(circle)
            # Whatever waits for this circle and is waited for by it belongs to the same group.
            seen |= _reachable(graph.waits_for, stuck, start) & _reachable(
                graph.waited_for_by, stuck, start
            )
    return circles


def _circle(graph: _Graph, within: set[int], start: int) -> tuple[int, ...]:
    """The shortest circle through ``start``; empty if there is none."""
    came_from: dict[int, int] = {}
    order = [start]
    for port in order:
        for after in graph.waits_for[port]:
            if after == start:
                circle = [port]
                while circle[-1] != start:
                    circle.append(came_from[circle[-1]])
                return tuple(reversed(circle))
            if after in within and after not in came_from:
                came_from[after] = port
                order.append(after)
    return ()


def _reachable(edges: Mapping[int, Sequence[int]], within: set[int], start: int) -> set[int]:
    order = [start]
    found = {start}
    for port in order:
        for after in edges.get(port, ()):
            if after in within and after not in found:
                found.add(after)
                order.append(after)
    return found
