"""The congestion region of RCM, on the network."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

import polars as pl

from rocelab.catalogue import caveats
from rocelab.errors import ResultError
from rocelab.plot.footnotes import cut_off, disturbances
from rocelab.plot.look import Look
from rocelab.plot.panels import figure
from rocelab.plot.theme import COLOURS, theme
from rocelab.series import US

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rocelab.result import Result

_ROLES = (
    (1.0, "root", COLOURS[1], "-"),
    (3.0, "inner", COLOURS[4], "--"),
    (2.0, "edge", COLOURS[0], ":"),
)
_MAX_NAMES = 40
"""Names of more nodes in a layer would overlap."""

Place = tuple[float, float]
"""Where a node is drawn: from 0 to 1 in its layer, and the layer's number."""


def region(
    result: Result,
    time_us: float,
    *,
    notes: bool | Sequence[str] = True,
    size: tuple[float, float] | None = None,
) -> Figure:
    """Which ports were root, inner and edge of the congestion region, as last seen by then.

    An arrow stands for a port and points along its link. Needs probes of kind ``port-state`` and
    the scheme ``rcm``; ports without one are drawn as outside. Raises :class:`ResultError` for a
    time before their first sample or after the run's end. ``notes`` and ``size`` are those of
    :func:`series`.
    """
    look = Look(notes, size)
    if result.summary.scheme != "rcm":
        raise ResultError(f"{result.summary.scheme} has no congestion region; rcm has")
    roles = _roles(result, time_us)
    ports = result.ports.to_polars()
    if "tier" not in ports.columns:
        # An earlier version wrote it.
        ports = result.scenario.plan().ports.to_polars()
    peers = {(node, port): peer for node, port, peer in ports.select("node", "port", "peer").rows()}
    hosts = set(ports.filter(pl.col("tier") == 0)["node"])
    places = _places([(node, peer) for (node, _), peer in peers.items()], hosts)
    name = [str(result.summary.name)]
    notes_below = [*cut_off([result], name), *disturbances([result], name), *caveats([result])]
    with theme():
        drawn, (axes,) = figure(height_in=2.8, notes=notes_below, look=look)
        axes.axis("off")
        _draw_network(axes, peers, places)
        for value, word, colour, line in _ROLES:
            chosen = [key for key, role in roles.items() if role == value]
            for node, port in chosen:
                axes.annotate(
                    "",
                    xy=places[peers[node, port]],
                    xytext=places[node],
                    arrowprops={
                        "arrowstyle": "-|>",
                        "color": colour,
                        "linestyle": line,
                        "linewidth": 1.4,
                        "shrinkA": 3,
                        "shrinkB": 3,
                    },
                    zorder=2,
                )
            axes.plot([], [], color=colour, linestyle=line, label=f"{word} ({len(chosen)})")
        axes.set_title(f"Congestion region at {time_us:g} µs")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3)
    return drawn


def _draw_network(
    axes: Axes, peers: Mapping[tuple[str, int], str], places: Mapping[str, Place]
) -> None:
    """Links, and nodes with their names where these have room."""
    for (node, _), peer in peers.items():
        if node < peer:
            (x0, y0), (x1, y1) = places[node], places[peer]
            axes.plot([x0, x1], [y0, y1], color="#d0d0d0", linewidth=0.5, zorder=1)
    layers = Counter(y for _, y in places.values())
    for name, (x, y) in places.items():
        axes.plot(x, y, marker="o" if y == 0 else "s", color="#404040", markersize=3, zorder=3)
        if layers[y] <= _MAX_NAMES:
            axes.annotate(
                name,
                (x, y),
                textcoords="offset points",
                xytext=(0, -5 if y == 0 else 5),
                ha="center",
                va="top" if y == 0 else "bottom",
                fontsize=6,
                bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
                zorder=4,
            )


def _roles(result: Result, time_us: float) -> dict[tuple[str, int], float]:
    """The last state of each port that was seen by then."""
    frames = [
        series.to_polars().rename({series.column: "state"})
        for series in result.series.values()
        if series.kind == "port-state"
    ]
    if not frames:
        raise ResultError("no probe of kind port-state was recorded")
    samples = pl.concat(frames)
    seen = samples.filter(pl.col("time_ps") <= time_us * US).sort("time_ps")
    end_us = result.summary.simulated_ns / 1e3
    if seen.is_empty() or not time_us <= end_us:
        first = samples["time_ps"].min()
        began = f"saw nothing before {first / US:g} us" if isinstance(first, int) else "saw nothing"
        raise ResultError(
            f"no region to draw at {time_us:g} us",
            hint=f"probes of kind port-state {began}, and the run ended at {end_us:g} us",
        )
    last = seen.group_by("node", "port", maintain_order=True).last()
    return {
        (node, port): state for node, port, state in last.select("node", "port", "state").rows()
    }


def _places(links: list[tuple[str, str]], hosts: Set[str]) -> dict[str, Place]:
    """Hosts at the bottom, switches above them by their distance from there."""
    peers: dict[str, list[str]] = defaultdict(list)
    for node, peer in links:
        peers[node].append(peer)
    layer = {node: 0 for node in peers if node in hosts}
    row = list(layer)
    while row:
        above = [peer for node in row for peer in peers[node]]
        level = layer[row[0]] + 1
        row = [peer for peer in dict.fromkeys(above) if peer not in layer]
        layer.update(dict.fromkeys(row, level))
    rows: dict[int, list[str]] = defaultdict(list)
    for node in peers:
        rows[layer.get(node, 0)].append(node)
    return {
        node: ((place + 0.5) / len(nodes), float(level))
        for level, nodes in rows.items()
        for place, node in enumerate(nodes)
    }
