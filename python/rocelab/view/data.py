"""What the page of a result shows, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocelab._begun import flows_that_began
from rocelab._coverage import Coverage
from rocelab._format import picoseconds, pluralise
from rocelab._pauses import slow_spans
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
from rocelab.view.tree import Flow, Interval, Moment, Port, congestion

if TYPE_CHECKING:
    import polars as pl

    from rocelab.result import Result

QUEUE, UTILISATION, PAUSED = "view-queue", "view-utilisation", "view-paused-share"
"""Series that must be there."""
RATE, WINDOW = "view-rate", "view-window"
"""Series that depend on the scheme."""

MAX_CELLS = 2_000_000
"""Intervals times ports. More intervals are joined, several to one."""
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


@dataclass(frozen=True)
class _Network:
    names: list[str]
    """Of nodes."""
    tiers: list[int]
    ports: list[Port]
    nodes: dict[str, int]
    """Nodes by name."""
    index: pl.DataFrame
    """``node``, ``port`` and the index in ``ports``."""


def collect(result: Result) -> View:
    """What is shown of ``result``. Raises :class:`ResultError` if its series are not there."""
    import polars as pl

    missing = [name for name in (QUEUE, UTILISATION, PAUSED) if name not in result.series]
    if missing:
        raise ResultError(
            f"{_called(result)}: has no series {missing[0]!r}",
            hint="run it again with --set 'probe=[{ preset = \"view\" }]', or add that [[probe]]",
        )
    network = _network(result)
    flows = _flows(result, network)
    grid = _Grid(result, network)
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
    hosts = pluralise(summary.hosts, "host", "hosts")
    switches = pluralise(summary.switches, "switch", "switches")
    facts = [
        ("scheme", f"{summary.scheme} ({summary.preset}), seed {summary.seed}"),
        ("network", f"{hosts}, {switches}"),
        ("flows", f"{Coverage.of(summary)} done"),
        ("step", plot_duration(grid.step_ps)),
        *([("links", failed)] if (failed := failures_in_words(result)) else []),
        *([("receivers", slow)] if (slow := receivers_in_words(result)) else []),
        *([("caveat", summary.caveat)] if summary.caveat else []),
    ]
    data = {
        "nodes": _nodes(network),
        "ports": _ports(network),
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


def _called(result: Result) -> str:
    """What errors call ``result``."""
    return str(result.directory or result.summary.name)


def _damaged(result: Result, why: str) -> ResultError:
    return ResultError(f"{_called(result)}: damaged: {why}")


def _network(result: Result) -> _Network:
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
        raise _damaged(result, "the ports are not those of its scenario")
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
    return _Network(
        names=names,
        tiers=list(tiers.values()),
        ports=ports,
        nodes={name: at for at, name in enumerate(names)},
        index=table.select("node", "port").with_row_index("at").cast({"at": pl.Int64}),
    )


def _flows(result: Result, network: _Network) -> dict[int, Flow]:
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


def _slow_links(
    result: Result, network: _Network
) -> dict[int, list[tuple[int, int | None, float]]]:
    """When the links of ports have another rate than their own, by index of the port."""
    failures = failures_of(result.scenario_toml)
    slowed = {frozenset(one["link"].split(":")) for one in failures if "rate" in one}
    return {
        at: slow_spans(failures, link)
        for at, port in enumerate(network.ports)
        if (link := frozenset((port.node, port.peer))) in slowed
    }


class _Grid:
    """The samples of ports, in the order of ports and then of intervals."""

    joined: int
    """Intervals of the probe in one of the page."""
    step_ps: int
    utilisation: pl.Series
    paused: pl.Series
    queue: pl.Series
    """The longest of each interval, both ends included."""

    def __init__(self, result: Result, network: _Network) -> None:
        self._network = network
        self._slow = _slow_links(result, network)
        samples = result.series[PAUSED].to_polars()
        times = samples["time_ps"].unique().sort().to_list()
        if not times:
            raise ResultError(
                f"{_called(result)}: there are no samples to show",
                hint="run for longer than two intervals of the probe",
            )
        queue_times = result.series[QUEUE].to_polars()["time_ps"].unique().sort().to_list()
        before = [time for time in queue_times if time < times[0]]
        interval_ps = times[0] - before[-1] if before else times[0]
        self.joined = max(1, -(-len(times) * len(network.ports) // MAX_CELLS))
        self.step_ps = interval_ps * self.joined
        self._begin = times[0] - interval_ps
        self._times = times
        self.utilisation = self._means(result, UTILISATION)
        self.paused = self._means(result, PAUSED)
        self.queue, self._queue_at_end = self._queues(result)

    @property
    def steps(self) -> int:
        return -(-len(self._times) // self.joined)

    def step(self, column: str = "time_ps") -> pl.Expr:
        """The number of the interval in which a sample falls that is taken at its end."""
        import polars as pl

        before: pl.Expr = (pl.col(column) - self._begin - 1) // self.step_ps
        return before.cast(pl.Int64)

    def _samples(self, result: Result, name: str) -> pl.DataFrame:
        """``at``, ``time_ps`` and ``value``."""
        import polars as pl

        series = result.series[name]
        frame = series.to_polars().rename({series.column: "value"})
        frame = frame.cast({"node": pl.String, "port": pl.Int64, "time_ps": pl.Int64})
        found = frame.join(self._network.index, on=["node", "port"])
        if len(found) < len(frame):
            raise _damaged(result, f"the series {name!r} has ports that are not in the network")
        return found.select("at", "time_ps", "value")

    def _means(self, result: Result, name: str) -> pl.Series:
        import polars as pl

        frame = self._samples(result, name).with_columns(self.step().alias("step"))
        frame = frame.filter(pl.col("step").is_between(0, self.steps - 1))
        cell = (pl.col("at") * self.steps + pl.col("step")).alias("cell")
        means = frame.group_by(cell).agg(pl.col("value").mean())
        cells = pl.zeros(len(self._network.ports) * self.steps, pl.Float64, eager=True)
        return cells.scatter(means["cell"], means["value"])

    def _queues(self, result: Result) -> tuple[pl.Series, pl.Series]:
        """The longest queue of each interval, both ends included, and that at its end."""
        import polars as pl

        width = self.steps + 1
        frame = self._samples(result, QUEUE)
        ends = frame.filter(pl.col("time_ps") <= self._times[-1])
        found = (
            ends.with_columns(self.step().alias("step"))
            # What is before the first interval is its beginning.
            .filter(pl.col("step") >= -1)
            .sort("time_ps")
            # With a cell more for each port: the one before the first interval.
            .group_by((pl.col("at") * width + pl.col("step") + 1).alias("cell"))
            .agg(pl.col("value").max().alias("most"), pl.col("value").last().alias("last"))
        )
        empty = pl.zeros(len(self._network.ports) * width, pl.Int64, eager=True)
        most, last = (
            empty.clone().scatter(found["cell"], found[name].cast(pl.Int64))
            for name in ("most", "last")
        )
        cells = pl.DataFrame({"most": most, "last": last, "before": last.shift(1)})
        cells = cells.with_row_index("cell").filter(pl.col("cell") % width > 0)
        longest = cells.select(pl.max_horizontal("most", "before")).to_series()
        return longest, cells["last"]

    def rows(self, cells: pl.Series) -> list[list[Any]]:
        """What ``cells`` have of each port."""
        begins = range(0, len(cells), self.steps)
        return [cells[begin : begin + self.steps].to_list() for begin in begins]

    def intervals(self) -> list[Interval]:
        """All intervals, in order."""
        last = self._times[-1]

        def of_all(cells: pl.Series, step: int) -> list[Any]:
            return cells.gather_every(self.steps, step).to_list()

        def interval(step: int) -> Interval:
            begin_ps = self._begin + step * self.step_ps
            end_ps = min(begin_ps + self.step_ps, last)
            return Interval(
                begin_ps=begin_ps,
                end_ps=end_ps,
                queue=of_all(self.queue, step),
                queue_at_end=of_all(self._queue_at_end, step),
                paused=of_all(self.paused, step),
                slow=self._slow_in(begin_ps, end_ps),
            )

        return [interval(step) for step in range(self.steps)]

    def _slow_in(self, begin_ps: int, end_ps: int) -> dict[int, tuple[float, float]]:
        """Of ports that are slow in an interval: the lowest rate, and that at the end."""
        found: dict[int, tuple[float, float]] = {}
        for at, spans in self._slow.items():
            own = float(self._network.ports[at].rate_bps)
            here = [
                (until, bps)
                for begin, until, bps in spans
                if begin <= end_ps and (until is None or until > begin_ps)
            ]
            if here:
                lasting = [bps for until, bps in here if until is None or until > end_ps]
                found[at] = (min(bps for _, bps in here), lasting[0] if lasting else own)
        return found


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


def _nodes(network: _Network) -> list[dict[str, Any]]:
    """Nodes with tier, pod, and their place among those of their tier."""
    neighbours = _neighbours(network)
    pods = _pods(network.tiers, neighbours)
    places = _places(network.tiers, neighbours)
    return [
        {"name": printable(name), "tier": tier, "pod": pods[at], "place": places[at]}
        for at, (name, tier) in enumerate(zip(network.names, network.tiers, strict=True))
    ]


def _neighbours(network: _Network) -> list[list[int]]:
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


def _ports(network: _Network) -> list[list[int]]:
    """Of each port its node, its peer, the port at the other end, rate in bit/s, and number."""
    nodes = network.nodes
    return [
        [nodes[port.node], nodes[port.peer], port.back, port.rate_bps, port.number]
        for port in network.ports
    ]


def _faults(result: Result, network: _Network) -> list[dict[str, Any]]:
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
    network: _Network,
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
        raise _damaged(result, "there are flows of hosts that are not in the network")
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
    result: Result, name: str, grid: _Grid, shown: Sequence[int]
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
