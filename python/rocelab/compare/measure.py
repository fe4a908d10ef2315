"""How schemes behave in five small networks: what a change of a law must not move unseen.

A flow's share is the link time that its host uses. Shares, the queue and the use of the link are
means over the steady span of a network; the peak of the queue and the pauses are of the whole run.
A run has settled when the shares of all later 100 us are fair by Jain's index, 0.95 or more.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from rocelab import catalogue
from rocelab._doubts import doubts_of
from rocelab.compare.networks import NETWORKS, RATES_GBPS, Network, scenario
from rocelab.errors import ConfigError
from rocelab.result import Result
from rocelab.series import Samples, between, series
from rocelab.sweeps.cache import run_all
from rocelab.sweeps.warnings import dedup_warnings

FAIR = 0.95
"""Jain's index from which on shares count as fair."""


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
    default = {one.name: one.presets[0].name for one in catalogue.schemes()}
    known = {one.name: one.scheme for one in catalogue.presets()}
    chosen = list(names)
    for name in chosen:
        if name not in default and name not in known:
            near = get_close_matches(name, [*default, *known], n=1)
            hint = f"did you mean {near[0]}?" if near else "`rocelab list` has all of them"
            raise ConfigError(f"no scheme or preset {name!r}", hint=hint)
    pairs = [
        (name, default[name]) if name in default else (known[name], name)
        for name in chosen or default
    ]
    return list(dict.fromkeys(pairs))


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
    told = ((key, doubts_of(run, completion_times=False)) for key, run in runs.items())
    return rows, dedup_warnings(told, len(runs))


def measure(network: Network, gbps: int, run: Result) -> Row:
    """Reads a row off the run of ``network``."""
    shares = {host: series(run, "share", 1e6, node=host) for host in network.rivals}
    begin, end = network.steady_us
    # A sample covers the interval before it.
    steady = [statistics.fmean(between(one, begin + 1, end + 1)) for one in shares.values()]
    victim = None
    if network.victim:
        samples = between(series(run, "share", 1e6, node=network.victim), begin + 1, end + 1)
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
        scheme=run.summary.scheme,
        preset=run.summary.preset,
        slowest_mbps=round(min(steady)),
        fastest_mbps=round(max(steady)),
        jain=round(jain(steady), 4),
        settles_us=_settles_us(list(shares.values()), network.joined_us, end),
        victim_mbps=victim,
        used_percent=round(
            statistics.fmean(between(series(run, "busy", 1e-2), used_begin + 1, used_end + 1)), 2
        ),
        queue_peak_bytes=port["max_queue_bytes"],
        queue_bytes=round(statistics.fmean(between(series(run, "queue", 1.0), begin, end))),
        pauses=run.summary.pause_frames,
    )


def jain(shares: Sequence[float]) -> float:
    """Jain's index: 1 where all have the same, 1/n where one has everything."""
    squares = math.fsum(share * share for share in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares else 0.0


def _settles_us(shares: Sequence[Samples], joined_us: int, end_us: int) -> int | None:
    times = [time for time in shares[0][0] if joined_us < time <= end_us]
    values = [between(one, joined_us + 1, end_us + 1) for one in shares]
    unfair = [
        round(time)
        for time, *now in zip(times, *values, strict=True)
        if jain(now) < FAIR
    ]  # fmt: skip
    last = max(unfair, default=joined_us)
    return None if last == round(times[-1]) else last - joined_us
