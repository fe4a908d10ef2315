"""Figure 5: completion times against load."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import polars as pl

from rocelab.papers import by_load, setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.hiercc.setup import FIFTH, FIVE, network, scheme, wire
from rocelab.papers.model import Claim, Figure, Measure, Runs
from rocelab.scenario import Scenario

_WORKLOAD = "CacheFollower"


def _large(
    reading: Reading, quick: bool, _workload: str, load: int, seed: int, name: str
) -> Scenario:
    return Scenario(
        name=f"hiercc-{load}-{name}-{seed}",
        topology=network("1us", FIFTH if quick else setups.WHOLE),
        scheme=scheme(reading, name),
        traffic=[
            {
                "kind": "poisson",
                "workload": _WORKLOAD,
                "load": load / 100,
                "duration": "4ms" if quick else "10ms",
            }
        ],
        run={"seed": seed},
        **wire(reading),
    )


def _larges(reading: Reading, quick: bool) -> dict[str, Scenario]:
    loads = (30, 50, 80) if quick else by_load.LOADS
    return by_load.cases((_WORKLOAD,), loads, 2, FIVE, partial(_large, reading, quick))


_REDUCTIONS = {
    by_load.AVERAGE: {"HPCC": -10, "TIMELY": -20, "ExpressPass": -50, "DCQCN": -60},
    by_load.TAIL: {"HPCC": -20, "TIMELY": -20, "DCQCN": -40, "ExpressPass": -50},
}


def _curve(name: str, statistic: str) -> verdict.Curve:
    return by_load.at_loads(_WORKLOAD, name, by_load.fct(statistic))


def _fullest_kb(peers: str) -> Callable[[str], Measure]:
    """Reads the longest queue of any port of a switch, to nodes whose name begins so."""

    def read(case: str) -> Measure:
        def measure(runs: Runs) -> float:
            ports = runs[case].ports.to_polars()
            switches = ports.filter(~pl.col("node").str.starts_with("h"))
            shown = switches.filter(pl.col("peer").str.starts_with(peers))
            return float(shown["max_queue_bytes"].to_numpy().max()) / 1e3

        return measure

    return read


def _times_below_dcqcn(peers: str = "") -> Measure:
    """Of all loads, how many times as long DCQCN's longest queue is, at most."""

    def measure(runs: Runs) -> float:
        ours, theirs = (
            by_load.at_loads(_WORKLOAD, name, _fullest_kb(peers))(runs)
            for name in ("HierCC", "DCQCN")
        )
        return max(sum(theirs[load]) / sum(ours[load]) for load in ours)

    return measure


_FURTHEST = "at the load where they are furthest apart"

FIG5 = Figure(
    id="fig5",
    title="FCT against load, CacheFollower",
    cases=_larges,
    quick="64 hosts in place of 320, arrivals for 4 ms in place of 10, three loads in place of six",
    panels=[
        by_load.panel(
            f"({letter}) {words}",
            by_load.LABELS[statistic],
            _WORKLOAD,
            FIVE,
            by_load.fct(statistic),
            log_y=True,
        )
        for letter, (statistic, words) in zip(
            "ab",
            {by_load.AVERAGE: "Average", by_load.TAIL: "99th percentile"}.items(),
            strict=True,
        )
    ],
    claims=[
        *(
            Claim(
                f"lowest-{statistic}",
                f"HierCC has the lowest FCT at each load: {statistic}",
                "HierCC lowest",
                verdict.lowest_at_all(
                    {name: _curve(name, statistic) for name in FIVE}, "HierCC", "us"
                ),
                assumption=by_load.WARM,
            )
            for statistic in _REDUCTIONS
        ),
        *(
            Claim(
                f"{statistic}-{other.lower()}",
                f"FCT of HierCC against {other}: {statistic}",
                f"up to {-percent} % lower",
                verdict.up_to(
                    _curve("HierCC", statistic), {other: _curve(other, statistic)}, percent, "us"
                ),
                assumption=f"over loads; {by_load.WARM}",
            )
            for statistic, reductions in _REDUCTIONS.items()
            for other, percent in reductions.items()
        ),
        Claim(
            "times",
            "The longest queue of HierCC is shorter than DCQCN's",
            "up to about 10 times, with realistic traffic",
            verdict.close({"": _times_below_dcqcn()}, {"": 10.0}, "times"),
            assumption=f"the fullest port of a switch, with its part of the VOQs, {_FURTHEST}: the "
            "paper does not say which queue",
            reason="the queue that HierCC keeps from the receiver waits in the senders' VOQs",
        ),
        Claim(
            "times-receiver",
            "The longest queue at a receiver is shorter than DCQCN's",
            "",
            verdict.close({"": _times_below_dcqcn("h")}, {"": 10.0}, "times"),
            assumption=f"the fullest port to a host, {_FURTHEST}",
            expected="about 10 times, as section 1 says of the queue",
        ),
    ],
)
