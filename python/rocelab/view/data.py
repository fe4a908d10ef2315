"""What the page of a result shows, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocelab._begun import flows_that_began
from rocelab._coverage import Coverage
from rocelab._format import nodes, picoseconds
from rocelab._text import printable
from rocelab.errors import ResultError
from rocelab.plan import spreading
from rocelab.plot.footnotes import (
    failure_in_words,
    failures_in_words,
    receiver_in_words,
    receivers_in_words,
)
from rocelab.plot.labels import plot_duration
from rocelab.result import failures_of
from rocelab.view.network import Network, called, damaged, network_of, nodes_of, ports_of
from rocelab.view.samples import PAUSED, QUEUE, UTILISATION, Grid
from rocelab.view.tree import Flow, Moment, congestion

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result

RATE, WINDOW = "view-rate", "view-window"
"""Series that depend on the scheme."""

MAX_FLOWS = 20_000
"""Flows of which the page has path and series."""
MAX_VICTIMS = 100
"""Victims of a tree that are named."""
MAX_HOSTS = 400
"""From this number of hosts on pods are drawn as one box each."""


@dataclass(frozen=True)
class View:
    """All that the page shows."""

    title: str
    facts: list[tuple[str, str]]
    """Names and values that stand at the top."""
    warnings: list[str]
    data: dict[str, Any]
    """What the page draws; ``types.js`` says what is in it."""


def collect(result: Result) -> View:
    """What is shown of ``result``. Raises :class:`ResultError` if its series are not there."""
    import polars as pl

    missing = [name for name in (QUEUE, UTILISATION, PAUSED) if name not in result.series]
    if missing:
        raise ResultError(
            f"{called(result)}: has no series {missing[0]!r}",
            hint="run it again with --set 'probe=[{ preset = \"view\" }]', or add that [[probe]]",
        )
    network = network_of(result)
    flows = _flows(result, network)
    grid = Grid(result, network)
    intervals = grid.intervals()
    begun = set(flows_that_began(result)["flow_id"].to_list())
    sent = [flow for flow in flows.values() if flow.number in begun]
    moments = congestion(network.ports, sent, intervals)
    shown = _choose_flows(flows, moments)
    warnings = list(result.warnings)
    if len(shown) < len(flows):
        warnings.append(
            f"The page has path and series of {len(shown):,} of {len(flows):,} flows: victims of "
            "congestion, then the first ones."
        )
    if spread := spreading(result.scenario):
        warnings.append(
            f"Paths, trees and victims are those of ECMP, and data took others, because of "
            f"{' and '.join(spread)}: trees may be wrong."
        )
    if grid.joined > 1:
        warnings.append(
            f"Each step of the page is {grid.joined} intervals of the probes: the longest queue, "
            "and the mean of utilisation and paused time."
        )
    summary = result.summary
    facts = [
        ("scheme", f"{summary.scheme} ({summary.preset}), seed {summary.seed}"),
        ("network", nodes(summary.hosts, summary.switches)),
        ("flows", f"{Coverage.of(summary)} done"),
        ("step", plot_duration(grid.step_ps)),
        *([("links", failed)] if (failed := failures_in_words(result)) else []),
        *([("receivers", slow)] if (slow := receivers_in_words(result)) else []),
        *([("caveat", summary.caveat)] if summary.caveat else []),
    ]
    data = {
        "nodes": nodes_of(network),
        "ports": ports_of(network),
        "times": [interval.end_ps / 1e6 for interval in intervals],
        "step": grid.step_ps / 1e6,
        "queue": grid.rows(grid.queue),
        "utilisation": grid.rows(_percent(grid.utilisation)),
        # A pause never is rounded away.
        "paused": grid.rows(_percent(grid.paused).clip((grid.paused > 0).cast(pl.Int64))),
        "moments": [_moment(moment) for moment in moments],
        "faults": _faults(result, network),
        "flows": _shown_flows(result, network, flows, shown, begun),
        "rates": _flow_series(result, RATE, grid, shown),
        "windows": _flow_series(result, WINDOW, grid, shown),
        "collapse": sum(tier == 0 for tier in network.tiers) >= MAX_HOSTS,
    }
    return View(str(summary.name), facts, warnings, data)


def _flows(result: Result, network: Network) -> dict[int, Flow]:
    """All flows by number, in the order of the table."""
    at_port = {(port.node, port.number): at for at, port in enumerate(network.ports)}
    paths: dict[int, list[int]] = {}
    for number, node, port in result.scenario.paths().to_polars().iter_rows():
        paths.setdefault(number, []).append(at_port[node, port])
    columns = ("flow_id", "start_ps", "fct_ps")
    return {
        number: Flow(
            number, start, None if fct is None else start + fct, tuple(paths.get(number, ()))
        )
        for number, start, fct in result.flows.to_polars().select(columns).iter_rows()
    }


def _percent(shares: pl.Series) -> pl.Series:
    import polars as pl

    return (shares.clip(0, 1) * 100).round().cast(pl.Int64)


def _choose_flows(flows: Mapping[int, Flow], moments: Iterable[Moment]) -> list[int]:
    """Numbers of the flows that the page has: victims, then the first ones."""
    if len(flows) <= MAX_FLOWS:
        return list(flows)
    victims = {
        flow for moment in moments for tree in moment.trees for flow in tree.victims[:MAX_VICTIMS]
    }
    others = (flow for flow in flows if flow not in victims)
    return sorted([*sorted(victims), *others][:MAX_FLOWS])


def _faults(result: Result, network: Network) -> list[dict[str, Any]]:
    """Links that fail, are slow or damage packets, and hosts that take data slowly, and when.

    Of a host the ports are those that send to it.
    """

    def fault(
        kind: str, text: str, begin_ps: int, end_ps: int | None, ports: list[int], node: int = -1
    ) -> dict[str, Any]:
        end = None if end_ps is None else end_ps / 1e6
        times = {"begin": begin_ps / 1e6, "end": end}
        return {"kind": kind, "text": printable(text), **times, "ports": ports, "node": node}

    between: dict[frozenset[str], list[int]] = {}
    to: dict[str, list[int]] = {}
    for at, port in enumerate(network.ports):
        between.setdefault(frozenset((port.node, port.peer)), []).append(at)
        to.setdefault(port.peer, []).append(at)
    links = [
        fault(
            "impaired" if one.keys() & {"rate", "error_rate"} else "down",
            failure_in_words(one),
            picoseconds(one["at"]),
            picoseconds(one["until"]) if "until" in one else None,
            between[frozenset(one["link"].split(":"))],
        )
        for one in failures_of(result.scenario_toml)
    ]
    hosts = [
        fault(
            "receiver",
            receiver_in_words(
                {
                    "hosts": [name],
                    "rate": f"{bps}bps",
                    "at": f"{begin_ps}ps",
                    **({} if end_ps is None else {"until": f"{end_ps}ps"}),
                }
            ),
            begin_ps,
            end_ps,
            to[name],
            network.nodes[name],
        )
        for name, bps, begin_ps, end_ps in result.scenario._checked.slow_receivers()
    ]
    return [*links, *hosts]


def _moment(moment: Moment) -> dict[str, Any]:
    trees = [
        {
            "kind": tree.kind,
            "root": list(tree.root),
            "paused": [[port, *because] for port, because in tree.paused.items()],
            "victims": list(tree.victims[:MAX_VICTIMS]),
            "count": len(tree.victims),
        }
        for tree in moment.trees
    ]
    return {"trees": trees, "unexplained": list(moment.unexplained)}


def _shown_flows(
    result: Result,
    network: Network,
    flows: Mapping[int, Flow],
    shown: Sequence[int],
    begun: Set[int],
) -> dict[str, Any]:
    """Columns of the flows of the page, in the order of ``shown``.

    Those that are not in ``begun`` have no start.
    """
    import polars as pl

    table = result.flows.to_polars().filter(pl.col("flow_id").is_in(shown))
    tags = list(dict.fromkeys(table["tag"].to_list()))
    place = {tag: at for at, tag in enumerate(tags)}
    rows = table.select("tag", "src", "dst", "size_bytes", "start_ps", "fct_ps", "slowdown").rows()
    if not {*table["src"], *table["dst"]} <= network.nodes.keys():
        raise damaged(result, "there are flows of hosts that are not in the network")
    return {
        "tags": [printable(tag) for tag in tags],
        "number": [int(one) for one in table["flow_id"]],
        "tag": [place[row[0]] for row in rows],
        "src": [network.nodes[row[1]] for row in rows],
        "dst": [network.nodes[row[2]] for row in rows],
        "size": [row[3] for row in rows],
        "start": [
            row[4] / 1e6 if number in begun else None
            for number, row in zip(table["flow_id"], rows, strict=True)
        ],
        "end": [None if row[5] is None else (row[4] + row[5]) / 1e6 for row in rows],
        "slowdown": [None if row[6] is None else round(row[6], 2) for row in rows],
        "path": [list(flows[number].path) for number in table["flow_id"]],
    }


def _flow_series(
    result: Result, name: str, grid: Grid, shown: Sequence[int]
) -> dict[str, list[float | None]]:
    """The last sample of each interval by flow, from the first interval that has one.

    The list of a flow begins with the number of that interval.
    """
    import polars as pl

    if name not in result.series:
        return {}
    series = result.series[name]
    frame = series.to_polars().drop_nulls(series.column).rename({series.column: "value"})
    last = (
        frame.filter(pl.col("flow_id").is_in(shown))
        .with_columns(pl.col("time_ps").cast(pl.Int64))
        .with_columns(grid.step().alias("step"))
        .filter(pl.col("step").is_between(0, grid.steps - 1))
        .sort("flow_id", "time_ps")
        .group_by("flow_id", "step", maintain_order=True)
        .agg(pl.col("value").last())
    )
    found: dict[str, list[float | None]] = {}
    for flow, step, value in last.iter_rows():
        values = found.setdefault(str(flow), [step])
        values += [None] * (step - int(values[0] or 0) - (len(values) - 1))
        values.append(round(value))
    return found
