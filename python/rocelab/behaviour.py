"""How schemes behave in five small networks: what a change of a law must not move unseen.

A flow's share is the link time that its host uses. Shares, the queue and the use of the link are
means over the steady span of a network; the peak of the queue and the pauses are of the whole run.
A run has settled when the shares of all later 100 us are fair by Jain's index, 0.95 or more.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rocelab import catalogue
from rocelab.alike import told_once
from rocelab.doubts import doubts_of
from rocelab.errors import ConfigError
from rocelab.result import Result
from rocelab.runner import run_all
from rocelab.samples import Samples, series, within
from rocelab.scenario import Scenario
from rocelab.text_table import aligned, markdown

RATES_GBPS = (40, 100)
FAIR = 0.95
"""Jain's index from which on shares count as fair."""
_BIN_US = 100
_LONG = "100GB"
"""A message that outlasts every run."""


@dataclass(frozen=True)
class Network:
    """A small network with its traffic. All links have 1 us."""

    id: str
    title: str
    topology: Callable[[str], dict[str, object]]
    """For hosts with ports of a rate."""
    flows: Callable[[int], list[dict[str, str]]]
    """For hosts with ports of so many Gb/s."""
    port: str
    """Where the flows meet."""
    rivals: Sequence[str]
    """The hosts whose flows shall have equal shares."""
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
            "side": list(side),
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


@dataclass(frozen=True)
class Row:
    """What came of one scheme in one network."""

    network: str
    gbps: int
    """Rate of the hosts' links."""
    scheme: str
    preset: str
    slowest_mbps: int
    """The smallest share."""
    fastest_mbps: int
    """The largest share."""
    jain: float
    """Jain's index of the shares."""
    settles_us: int | None
    """From the last join until shares stay fair; none where they do not."""
    victim_mbps: int | None
    """The victim's share, where there is one."""
    used_percent: float
    """How much of its time the link is used."""
    queue_peak_bytes: int
    queue_bytes: int
    pauses: int
    """PFC pause frames in the whole network."""


def presets(names: Iterable[str]) -> list[tuple[str, str]]:
    """Scheme and preset of each name, either's; all schemes with their defaults where none is."""
    schemes = catalogue.schemes()
    default = {one["name"]: one["presets"][0]["name"] for one in schemes}
    known = {one["name"]: one["scheme"] for one in catalogue.presets()}
    chosen = list(names)
    for name in chosen:
        if name not in default and name not in known:
            raise ConfigError(
                f"no scheme or preset {name!r}", hint="`rocelab list` has all of them"
            )
    pairs = [
        (name, default[name]) if name in default else (known[name], name)
        for name in chosen or default
    ]
    return list(dict.fromkeys(pairs))


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


_INPUT_QUEUES = {"switch": {"input_queue": "200KB"}, "pfc": {"xoff": "70KB", "xon": "50KB"}}
"""The usual thresholds, and the headroom of all these networks above them."""


def input_queues(scheme: str) -> dict[str, dict[str, str]]:
    """Tables of a scenario under a scheme whose switches have input queues; none under others."""
    queued = {known["name"] for known in catalogue.schemes() if known["input_queues"]}
    return _INPUT_QUEUES if scheme in queued else {}


def compare(
    chosen: Sequence[tuple[str, str]],
    *,
    cache: Path,
    networks: Sequence[Network] = NETWORKS,
    rates_gbps: Sequence[int] = RATES_GBPS,
    jobs: int | None = None,
    progress: bool = False,
) -> list[Row]:
    """A row for each network, rate, and scheme with its preset; results are kept in ``cache``."""
    rows, _ = run_networks(
        chosen, cache=cache, networks=networks, rates_gbps=rates_gbps, jobs=jobs, progress=progress
    )
    return rows


def run_networks(
    chosen: Sequence[tuple[str, str]],
    *,
    cache: Path,
    networks: Sequence[Network] = NETWORKS,
    rates_gbps: Sequence[int] = RATES_GBPS,
    jobs: int | None = None,
    progress: bool = False,
) -> tuple[list[Row], list[str]]:
    """The rows of :func:`compare`, and the warnings that cast doubt on them.

    Flows that only the end of a run cuts off are meant to be.
    """
    keys = {
        f"{network.id} {gbps} {preset}": (network, gbps, scheme, preset)
        for network in networks
        for gbps in rates_gbps
        for scheme, preset in chosen
    }
    scenarios = {key: scenario(*what) for key, what in keys.items()}
    runs = run_all(scenarios, cache, jobs=jobs, progress=progress)
    rows = [measure(network, gbps, runs[key]) for key, (network, gbps, _, _) in keys.items()]
    told = (
        (key, text) for key, run in runs.items() for text in doubts_of(run, completion_times=False)
    )
    return rows, told_once(told, len(runs))


def measure(network: Network, gbps: int, run: Result) -> Row:
    """Reads a row off the run of ``network``."""
    shares = {host: series(run, "share", 1e6, node=host) for host in network.rivals}
    begin, end = network.steady_us
    # A sample tells of the time before it.
    steady = [statistics.fmean(within(one, begin + 1, end + 1)) for one in shares.values()]
    victim = None
    if network.victim:
        samples = within(series(run, "share", 1e6, node=network.victim), begin + 1, end + 1)
        victim = round(statistics.fmean(samples))
    node, peer = network.port.split(":")
    (port,) = (
        row for row in run.ports.to_polars().iter_rows(named=True)
        if (row["node"], row["peer"]) == (node, peer)
    )  # fmt: skip
    used_begin, used_end = network.used_us
    return Row(
        network=network.id,
        gbps=gbps,
        scheme=run.summary["scheme"],
        preset=run.summary["preset"],
        slowest_mbps=round(min(steady)),
        fastest_mbps=round(max(steady)),
        jain=round(jain(steady), 4),
        settles_us=_settles_us(list(shares.values()), network.joined_us, end),
        victim_mbps=victim,
        used_percent=round(
            statistics.fmean(within(series(run, "busy", 1e-2), used_begin + 1, used_end + 1)), 2
        ),
        queue_peak_bytes=port["max_queue_bytes"],
        queue_bytes=round(statistics.fmean(within(series(run, "queue", 1.0), begin, end))),
        pauses=run.summary["pause_frames"],
    )


def jain(shares: Sequence[float]) -> float:
    """Jain's index: 1 where all have the same, 1/n where one has everything."""
    squares = math.fsum(share * share for share in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares else 0.0


def _settles_us(shares: Sequence[Samples], joined_us: int, end_us: int) -> int | None:
    times = [time for time in shares[0][0] if joined_us < time <= end_us]
    values = [within(one, joined_us + 1, end_us + 1) for one in shares]
    unfair = [
        round(time)
        for time, *now in zip(times, *values, strict=True)
        if jain(now) < FAIR
    ]  # fmt: skip
    last = max(unfair, default=joined_us)
    return None if last == round(times[-1]) else last - joined_us


COLUMNS: Mapping[str, str] = {
    "scheme": "scheme",
    "slowest_mbps": "slowest, Mb/s",
    "fastest_mbps": "fastest, Mb/s",
    "jain": "Jain",
    "settles_us": "settles, us",
    "victim_mbps": "victim, Mb/s",
    "used_percent": "used, %",
    "queue_peak_bytes": "queue peak, B",
    "queue_bytes": "queue, B",
    "pauses": "pauses",
}


def groups(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """The rows of each network and rate under what they are."""
    titles = {network.id: network.title for network in NETWORKS}
    found: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row.network, row.gbps), []).append(row)
    return [
        (f"{network}, {gbps} Gb/s: {titles[network]}", several)
        for (network, gbps), several in found.items()
    ]


def cells(rows: Sequence[Row]) -> list[list[str]]:
    """A table of rows with its head; without the victim's column where there is none."""
    held_up = any(row.victim_mbps is not None for row in rows)
    keys = [key for key in COLUMNS if held_up or key != "victim_mbps"]
    several = len({row.scheme for row in rows}) < len(rows)
    head = [COLUMNS[key] for key in keys]
    return [head, *([_cell(row, key, several=several) for key in keys] for row in rows)]


def _cell(row: Row, key: str, *, several: bool) -> str:
    value = getattr(row, key)
    if key == "scheme":
        return row.preset if several else row.scheme
    if value is None:
        return "never"
    if isinstance(value, float):
        return f"{value:.4f}" if key == "jain" else f"{value:.2f}"
    return f"{value:,}"


def table(rows: Sequence[Row]) -> str:
    """The rows as people read them."""
    return "\n\n".join(
        f"{title}\n{aligned(cells(several), left=1)}" for title, several in groups(rows)
    )


def to_csv(rows: Sequence[Row]) -> str:
    """The rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_data(rows))
    return text.getvalue()


def as_data(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as plain data."""
    return [asdict(row) for row in rows]


_INTRODUCTION = """\
# How the schemes behave

Written by `{command}`. Each scheme has the preset named at the end of the page, and all else is as
it is by default; links have 1 us. Switches with input queues (`rcm`) have
{queues}.
The simulator is deterministic, so these numbers are exact.

- *slowest*, *fastest*: the smallest and the largest share of the rivals, in link time; *Jain* is
  the index of their shares. They are means over the last 4 of 16 ms, where nothing else is said, as
  are the *queue* and the part of its time that the link is *used*.
- *settles*: from the last join until the shares of each later 100 us have an index of {fair} or
  more.
- *queue peak*, *pauses*: of the whole run; pauses are PFC pause frames of all ports.
"""


def page(rows: Sequence[Row], command: str) -> str:
    """The rows as a Markdown page."""
    chosen = dict.fromkeys((row.scheme, row.preset) for row in rows)
    caveats = {one["name"]: one["caveat"] for one in catalogue.schemes()}
    queues = ", ".join(
        f'`{table}.{key} = "{value}"`'
        for table, keys in _INPUT_QUEUES.items()
        for key, value in keys.items()
    )
    parts = [_INTRODUCTION.format(command=command, fair=FAIR, queues=queues)]
    for title, several in groups(rows):
        heading, _, text = title.partition(": ")
        parts.append(f"## {heading}\n\n{text[0].upper()}{text[1:]}.\n")
        parts.append(markdown(cells(several), left=1) + "\n")
    told = [["scheme", "preset", "what to know before trusting its numbers"]]
    told += [[f"`{name}`", f"`{preset}`", caveats[name]] for name, preset in chosen]
    parts.append("## Presets and caveats\n\n" + markdown(told, left=3) + "\n")
    return "\n".join(parts)
