"""Mercury: He et al., Journal of Cloud Computing 2024."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from rocelab.papers import by_load, verdict
from rocelab.papers.measure import bars, first, lines, over_us, peak, series, within
from rocelab.papers.model import Claim, Figure, Line, Panel, Paper, Points, Reading, Runs, Value
from rocelab.scenario import Scenario

_SCHEMES: Mapping[str, dict[str, Any]] = {
    "Timely": {"name": "timely", "preset": "timely-paper"},
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-paper"},
    "DCQCN+TCD": {"name": "dcqcn+tcd", "preset": "dcqcn-paper+tcd"},
    "PACC": {"name": "pacc", "preset": "pacc"},
    "HPCC": {"name": "hpcc", "preset": "hpcc-paper"},
    "Mercury": {"name": "mercury", "preset": "mercury-paper"},
    "Mercury, ns-3 set": {"name": "mercury", "preset": "mercury-ns3"},
}
_SEVEN = tuple(_SCHEMES)
_SIX = _SEVEN[:-1]
_OTHERS = _SIX[:-1]
_FOUR = ("DCQCN", "Timely", "HPCC", "Mercury")
_FIVE = (*_FOUR, "Mercury, ns-3 set")
_LINK = {"host_rate": "40Gbps", "host_delay": "4us", "rate": "40Gbps", "delay": "4us"}

_BURST_US = 3000.0
_XOFFS_KB = (320, 80)
"""The paper's, and one that is low enough for the pauses to reach the first switch."""


def _chain(scheme: str, xoff_kb: int) -> Scenario:
    """Figure 2: F1 from H1 (h0) to R1 (h2), F2 from H2 (h1) to R2 (h3), bursts to R2."""
    return Scenario(
        name=f"mercury-{scheme}-{xoff_kb}KB",
        topology={
            "kind": "dumbbell",
            "switches": 3,
            "senders": 2,
            "receivers": 2,
            "side": [0, 0, 8],
            "sender_rate": "20Gbps",
            **_LINK,
        },
        scheme=_SCHEMES[scheme],
        pfc={"threshold": "static", "xoff": f"{xoff_kb}KB", "xon": f"{xoff_kb - 2}KB"},
        traffic=[
            {
                "kind": "flows",
                "tag": "long",
                "flows": [
                    {"src": "h0", "dst": "h2", "size": "10GB"},
                    {"src": "h1", "dst": "h3", "size": "10GB"},
                ],
            },
            {
                "kind": "bursts",
                "src": ["h4..h11"],
                "dst": ["h3"],
                "size": "50KB",
                "period": "20us",
                "count": 6,
                "start": f"{_BURST_US:g}us",
            },
        ],
        probe=[
            {
                "name": "sent",
                "kind": "throughput",
                "ports": ["h0:s0", "h1:s0"],
                "interval": "100us",
            },
            {
                "name": "received",
                "kind": "throughput",
                "ports": ["s2:h2"],
                "interval": "100us",
            },
            *(
                {"name": name, "kind": "pause", "ports": [port], "interval": "1us"}
                for name, port in (("p1", "s0:s1"), ("p2", "s1:s2"))
            ),
        ],
        run={"stop": "6ms"},
    )


def _chains(schemes: tuple[str, ...]) -> dict[str, Scenario]:
    return {f"{xoff} {name}": _chain(name, xoff) for xoff in _XOFFS_KB for name in schemes}


def _sent_gbps(host: str, case: str) -> Callable[[Runs], Points]:
    """What a host sends, in 100 us, over milliseconds."""

    def points(runs: Runs) -> Points:
        times, rates = series(runs[case], "sent", 1e9, node=host)
        return [time / 1e3 for time in times], rates

    return points


def _goodput_gbps(case: str) -> Callable[[Runs], Points]:
    """What of F1's payload reaches R1, in 100 us, over milliseconds."""

    def points(runs: Runs) -> Points:
        times, rates = series(runs[case], "received", 1e9)
        return [time / 1e3 for time in times], [rate * 1000 / 1082 for rate in rates]

    return points


def _least(host: str, case: str) -> Reading:
    """The least rate in 100 us from the bursts on."""
    return lambda runs: min(within(_sent_gbps(host, case)(runs), _BURST_US / 1e3 + 0.1))


def _first_pause_us(port: str, case: str, runs: Runs) -> float:
    """When a port is first paused; infinite if never."""
    return first(series(runs[case], port, 1.0), 0.0, above=0.5)


_SENDS = {"F1": "h0", "F2": "h1"}
_WHERE = {xoff: "" if xoff == _XOFFS_KB[0] else f", Xoff {xoff} KB" for xoff in _XOFFS_KB}
_ASSUMED = (
    "six bursts of 50 KB from each of eight hosts at the last switch, 20 us apart; sending rates "
    "in bins of 100 us"
)
_WAITS = (
    "no CNP reaches F1, its rate and window stay; but the window, C baseRTT, is full while its "
    "packets wait for the end of the pause, so that in one bin it sends less. How CNPs are spaced "
    "turns it: with 10 us between those of a flow, in place of 50, F1 keeps its 20 Gb/s, and so it "
    "does with windows that end 500 us after the last CNP, in place of 55, and with the ns-3 set"
)
_LEAST = "Gb/s in the slowest 100 us"
_NO_SPREAD = (
    "at an Xoff of 320 KB for each ingress port F2 is cut before its bytes at the last switch "
    "reach it, so no pause goes to P2. Xoff turns it: the claims at 80 KB. Other bursts (3 of 100 "
    "KB, 12 of 50 KB, one of 300 KB from each host), marking at the queue's entry and the HPCC "
    "simulator's DCQCN do not"
)
_SHORT_QUEUES = (
    "HPCC cuts F2 within a round trip, so that P2 is paused and P1 never is. Xoff turns it again: "
    "with 60 KB HPCC's F1 goes down to 12.0 Gb/s; its simulator's set and maxStage do not"
)
_CUT_TWICE = (
    "where packets are marked matters: marked as they join the queue, not as they leave, F1 goes "
    "down to 3.6 Gb/s; over the HPCC simulator's DCQCN to 12.4"
)


def _slowed(id_: str, text: str, host: str, xoff: int, names: tuple[str, ...]) -> Claim:
    """Below 85 % of the 20 Gb/s."""
    return Claim(
        f"{id_}-{xoff}",
        f"{text}{_WHERE[xoff]}",
        "slowed from 20 Gb/s",
        verdict.below({name: _least(host, f"{xoff} {name}") for name in names}, 17.0, _LEAST),
        assumption=_ASSUMED,
        reason=_NO_SPREAD if xoff == _XOFFS_KB[0] else _SHORT_QUEUES,
    )


def _rates_panels(schemes: tuple[str, ...]) -> list[Panel]:
    sent = [
        Panel(
            f"({letter}) {flow}, Xoff {xoff} KB",
            "Time (ms)",
            "Sending rate (Gb/s)",
            lines({name: f"{xoff} {name}" for name in schemes}, partial(_sent_gbps, host)),
            x_range=(2.5, 6),
        )
        for (xoff, flow, host), letter in zip(
            ((xoff, flow, _SENDS[flow]) for xoff in _XOFFS_KB for flow in ("F2", "F1")),
            "abcd",
            strict=True,
        )
    ]
    received = [
        Panel(
            f"F1 at its receiver, Xoff {xoff} KB",
            "Time (ms)",
            "Goodput (Gb/s)",
            lines({name: f"{xoff} {name}" for name in schemes}, _goodput_gbps),
            x_range=(2.5, 6),
        )
        for xoff in _XOFFS_KB
    ]
    return [*sent, *received]


_FIG3 = Figure(
    id="fig3",
    title="A congested flow F2 and a victim F1, DCQCN",
    cases=lambda _quick: _chains(("DCQCN",)),
    panels=[
        Panel(
            f"Xoff {xoff} KB",
            "Time (ms)",
            "Sending rate (Gb/s)",
            [Line(flow, _sent_gbps(host, f"{xoff} DCQCN")) for flow, host in _SENDS.items()],
            x_range=(2.5, 6),
        )
        for xoff in _XOFFS_KB
    ],
    claims=[
        claim
        for xoff in _XOFFS_KB
        for claim in (
            _slowed("f2", "The congested flow F2 slows down", "h1", xoff, ("DCQCN",)),
            _slowed("f1", "The victim F1 slows down, too", "h0", xoff, ("DCQCN",)),
            Claim(
                f"spread-{xoff}",
                f"The pause spreads from P2 to P1{_WHERE[xoff]}",
                "P2, then P1",
                verdict.rising(
                    {
                        port.upper(): partial(_first_pause_us, port, f"{xoff} DCQCN")
                        for port in ("p2", "p1")
                    },
                    "us",
                ),
                assumption=_ASSUMED,
                reason=_NO_SPREAD if xoff == _XOFFS_KB[0] else "",
            ),
        )
    ],
)


def _incast(scheme: str) -> Scenario:
    """H1 (h0) sends to R1 (h9); at 600 us eight others send 120 KB each."""
    return Scenario(
        name=f"mercury-incast-{scheme}",
        topology={"kind": "dumbbell", "switches": 3, "senders": 9, "receivers": 2, **_LINK},
        scheme=_SCHEMES[scheme],
        pfc={"threshold": "static", "xoff": "320KB", "xon": "318KB"},
        traffic=[
            {
                "kind": "flows",
                "tag": "long",
                "flows": [{"src": "h0", "dst": "h9", "size": "10GB"}],
            },
            {
                "kind": "incast",
                "senders": ["h1..h8"],
                "receiver": "h9",
                "size": "120KB",
                "start": "600us",
            },
        ],
        probe=[
            {"name": "queue", "kind": "queue", "ports": ["s0:s1"], "interval": "1us"},
            {"name": "sent", "kind": "throughput", "ports": ["h0:s0"], "interval": "100us"},
        ],
        run={"stop": "3ms"},
    )


def _queue_kb(case: str) -> Callable[[Runs], Points]:
    return lambda runs: series(runs[case], "queue", 1e3)


def _long_gbps(case: str) -> Callable[[Runs], Points]:
    return lambda runs: series(runs[case], "sent", 1e9)


def _least_long(case: str) -> Reading:
    return lambda runs: min(within(_long_gbps(case)(runs), 600))


def _recovery_us(case: str, runs: Runs) -> float:
    """From when on the long flow stays above half the line rate."""
    times, rates = series(runs[case], "sent", 1e9)
    low = [time for time, gbps in zip(times, rates, strict=True) if gbps < 20]
    last = low[-1] if low else 600.0
    return float("inf") if last == times[-1] else last


_OVER_DCQCN = (
    "each CNP also cuts the rate of DCQCN below, by half while alpha is 1, and it takes "
    "milliseconds to come back. DCQCN's first alpha turns it: with 0.1 the flow keeps 6.3 Gb/s and "
    "is back at 900 us, before all others. So does the spacing of CNPs: 6.4 Gb/s and 1000 us with "
    "100 us, 7.0 and 900 with 1 ms. A threshold of 400 KB at 100 Gb/s (3.0 Gb/s) and the ns-3 set "
    "(2.4 Gb/s, 1100 us) do not"
)

_FIG4 = Figure(
    id="fig4",
    title="An incast of eight and a long flow",
    cases=lambda _quick: {name: _incast(name) for name in _FIVE},
    panels=[
        over_us(
            "(a) Queue of S1",
            "Queue length (KB)",
            lines({name: name for name in _FIVE}, _queue_kb),
            (500, 1500),
        ),
        over_us(
            "(b) Long flow",
            "Throughput (Gb/s)",
            lines({name: name for name in _FIVE}, _long_gbps),
            (500, 3000),
        ),
    ],
    claims=[
        Claim(
            "queue-order",
            "Mercury has the lowest queue peak at S1",
            "Mercury lowest",
            verdict.lowest({name: peak(_queue_kb(name), 600) for name in _FOUR}, "Mercury", "KB"),
        ),
        Claim(
            "queue-others",
            "DCQCN, Timely and HPCC have queues above 1000 KB",
            "above 1000 KB",
            verdict.above({name: peak(_queue_kb(name), 600) for name in _FOUR[:-1]}, 1000, "KB"),
        ),
        Claim(
            "least-rate",
            "The long flow keeps more with Mercury than with the others",
            "the others almost 0",
            verdict.highest({name: _least_long(name) for name in _FOUR}, "Mercury", "Gb/s"),
            assumption="least rate in bins of 100 us, at the sender",
        ),
        Claim(
            "least-rate-mercury",
            "The long flow keeps at least 6 Gb/s with Mercury",
            "above 6 Gb/s",
            verdict.above({"Mercury": _least_long("Mercury")}, 6, "Gb/s"),
            assumption="least rate in bins of 100 us, at the sender",
            reason=_OVER_DCQCN,
        ),
        Claim(
            "recovery",
            "The long flow recovers fastest with Mercury",
            "Mercury first",
            verdict.lowest({name: partial(_recovery_us, name) for name in _FOUR}, "Mercury", "us"),
            assumption="from when on it stays above half the line rate until 3 ms",
            reason=_OVER_DCQCN,
        ),
    ],
)

_FIG9 = Figure(
    id="fig9",
    title="The congested flow F2 and the victim F1 under all schemes",
    cases=lambda _quick: _chains(_SEVEN),
    panels=_rates_panels(_SEVEN),
    claims=[
        claim
        for xoff in _XOFFS_KB
        for claim in (
            _slowed("f2", "All slow the congested flow F2", "h1", xoff, _SIX),
            _slowed("f1", "All but Mercury slow the victim F1", "h0", xoff, _OTHERS),
            Claim(
                f"mercury-{xoff}",
                f"Mercury leaves the victim F1 unchanged{_WHERE[xoff]}",
                "20 Gb/s",
                verdict.above({"F1": _least("h0", f"{xoff} Mercury")}, 19.6, _LEAST),
                assumption=f"{_ASSUMED}; unchanged is within 2 %",
                reason=_WAITS,
            ),
            Claim(
                f"tcd-{xoff}",
                f"DCQCN+TCD slows the victim F1 to 5 Gb/s{_WHERE[xoff]}",
                "5 Gb/s",
                verdict.close({"F1": _least("h0", f"{xoff} DCQCN+TCD")}, {"F1": 5.0}, _LEAST),
                assumption=_ASSUMED,
                reason=_NO_SPREAD if xoff == _XOFFS_KB[0] else _CUT_TWICE,
            ),
        )
    ],
)

_SMALL_THRESHOLD = (
    "the congestion threshold turns it, here Kmin of DCQCN's paper: with the HPCC simulator's, 160 "
    "KB at 40 Gb/s in place of 5, p99 is 4.5 ms in the quick version, and with that one's senders, "
    "too, 2.9 (the ns-3 set)"
)
_CAPPED = (
    "all but HPCC reach what PFC leaves them, twice Xoff and what is on the way. The spacing of "
    "CNPs turns it: with 10 us in place of 50 between those of a flow it is 566 KB with the ns-3 "
    "set in the quick version, and 375 KB, below HPCC's, where only the threshold is that set's"
)

_MERCURIES = {"": ("", "Mercury"), "-ns3": (", ns-3 set", "Mercury, ns-3 set")}
"""What claims' ids and texts have in addition, and the line."""

# Poisson traffic: the small network, all of 40 Gb/s, and the large one.

_SHARED_LOAD = 0.8
"""Of the 40 Gb/s that the two senders share."""


def _small(scheme: str, seed: int, arrivals_ms: int) -> Scenario:
    """Figure 2 with 40 Gb/s everywhere; H1, H2 (h0, h1) send to R1, R2 (h2, h3)."""
    return Scenario(
        name=f"mercury-hadoop-{scheme}-{seed}",
        topology={"kind": "dumbbell", "switches": 3, "senders": 2, "receivers": 2, **_LINK},
        scheme=_SCHEMES[scheme],
        pfc={"threshold": "static", "xoff": "320KB", "xon": "318KB"},
        traffic=[
            {
                "kind": "poisson",
                "workload": "FB_Hadoop",
                "hosts": ["h0", "h1"],
                "receivers": ["h2", "h3"],
                "load": _SHARED_LOAD / 2,
                "duration": f"{arrivals_ms}ms",
            }
        ],
        run={"seed": seed},
    )


def _smalls(quick: bool) -> dict[str, Scenario]:
    arrivals_ms, seeds = (100, 2) if quick else (500, 5)
    return by_load.cases(
        (_SMALL,),
        (80,),
        seeds,
        _SEVEN,
        lambda _workload, _load, seed, scheme: _small(scheme, seed, arrivals_ms),
    )


_SMALL = "Hadoop"


def _tail(scheme: str) -> verdict.Curve:
    """p99 FCT of the small network in ms."""
    curve = by_load.at_loads(_SMALL, scheme, by_load.TAIL)
    return lambda runs: {"": [us / 1e3 for values in curve(runs).values() for us in values]}


def _fullest(scheme: str) -> verdict.Curve:
    """The largest queue of any switch in KB."""

    def curve(runs: Runs) -> Mapping[str, Value]:
        peaks = []
        for case, run in runs.items():
            if case.split(" ", 3)[3] == scheme:
                ports = run.ports.to_polars().filter(pl.col("node").str.starts_with("s"))
                peaks.append(max(ports["max_queue_bytes"].to_list()) / 1e3)
        return {"": peaks}

    return curve


def _at_all(curve: verdict.Curve) -> Reading:
    """Of a curve with one point."""
    return lambda runs: curve(runs)[""]


_SMALL_REASONS = {
    "p99": _SMALL_THRESHOLD,
    "queue": _CAPPED,
}
_TWO = {"p99 FCT": (_tail, "ms"), "Largest queue": (_fullest, "KB")}

_FIG10 = Figure(
    id="fig10",
    title="Hadoop at 80 % load in the small network",
    cases=_smalls,
    panels=[
        Panel(
            f"({letter}) {name}",
            "",
            f"{name} ({unit})",
            [bars(scheme, {"Hadoop, 80 %": _at_all(read(scheme))}) for scheme in _SEVEN],
        )
        for letter, (name, (read, unit)) in zip("ab", _TWO.items(), strict=True)
    ],
    claims=[
        Claim(
            f"{id_}{suffix}",
            f"{name} with Mercury is lower than with the others{where}",
            f"{-percents[0]:.1f} to {-percents[1]:.1f} % lower",
            verdict.between(read(own), {each: read(each) for each in _OTHERS}, percents, unit),
            assumption="H1 and H2 together offer 80 % of the 40 Gb/s that they share",
            reason=_SMALL_REASONS[id_],
        )
        for suffix, (where, own) in _MERCURIES.items()
        for id_, percents, (name, (read, unit)) in zip(
            ("p99", "queue"), ((-16.1, -25.5), (-20.9, -39.2)), _TWO.items(), strict=True
        )
    ],
)

_WORKLOADS = {
    "CacheFollower": "CacheFollower",
    "Hadoop": "FB_Hadoop",
    "WebSearch": "WebSearch",
    "WebServer": "WebServer",
}
_ARRIVALS_MS = 10


def _large(quick: bool, workload: str, load: int, seed: int, scheme: str) -> Scenario:
    """20 ToR, 20 aggregation and 16 core switches in five pods; a tenth of it if quick."""
    size = (
        {"pods": 2, "tors_per_pod": 2, "aggs_per_pod": 2, "cores": 4, "hosts_per_tor": 8}
        if quick
        else {"pods": 5, "tors_per_pod": 4, "aggs_per_pod": 4, "cores": 16, "hosts_per_tor": 16}
    )
    return Scenario(
        name=f"mercury-{workload}-{load}-{scheme}-{seed}",
        topology={
            "kind": "three-tier",
            **size,
            "host_rate": "100Gbps",
            "host_delay": "1us",
            "agg_rate": "400Gbps",
            "agg_delay": "1us",
            "core_rate": "400Gbps",
            "core_delay": "1us",
        },
        scheme=_SCHEMES[scheme],
        pfc={"threshold": "static", "xoff": "620KB", "xon": "618KB"},
        traffic=[
            {
                "kind": "poisson",
                "workload": _WORKLOADS[workload],
                "load": load / 100,
                "duration": f"{_ARRIVALS_MS / (5 if quick else 1):g}ms",
            }
        ],
        run={"seed": seed},
    )


def _larges(workloads: tuple[str, ...], quick: bool) -> dict[str, Scenario]:
    return by_load.cases(
        workloads,
        (30, 50, 80) if quick else by_load.LOADS,
        _SEEDS[quick],
        _SEVEN,
        partial(_large, quick),
    )


_LARGE_REASONS = {
    "": "the congestion threshold turns it: 12.5 KB at 100 Gb/s here, Kmin of DCQCN's paper, and "
    "400 KB in the ns-3 set. In the quick version that threshold alone makes the average FCT at 80 "
    "% of Hadoop 64 us in place of 98, of CacheFollower 222 in place of 353. The spacing of CNPs "
    "(10 us: 152 us for Hadoop), the windows' end (10 us: 101) and the flow's key (a QP: 102) do "
    "not",
    "-ns3": "above a threshold of 400 KB at 100 Gb/s few flows are notified at all (3 CNPs with "
    "Hadoop at 30 % in the quick version), so that where others keep queues short, or loads are "
    "low, there is little between them",
}
_SHORTER = (
    "above 12.5 KB at 100 Gb/s every flow is notified, and queues are as short as HPCC's, whose "
    "packets carry INT besides; with 400 KB, the ns-3 set, it is as in the paper"
)
_SEEDS = {True: 2, False: 1}
"""In the quick version, and in the full one, whose runs have 100,000 flows and more."""
_WARM = "flows of the first tenth of the arrivals are left out"
_FOUND: Mapping[str, Mapping[str, float | tuple[float, float]]] = {
    by_load.AVERAGE: {
        "CacheFollower": (-21.1, -38.5),
        "Hadoop": (-11.2, -36.1),
        "WebSearch": -21.9,
        "WebServer": -32.6,
    },
    by_load.TAIL: {},
}


def _against(
    workload: str, statistic: str, sizes: by_load.Sizes, names: Sequence[str]
) -> dict[str, verdict.Curve]:
    return {name: by_load.at_loads(workload, name, statistic, sizes) for name in names}


def _load_claims(statistic: str, words: str, suffix: str) -> list[Claim]:
    where, own = _MERCURIES[suffix]
    claims = []
    for workload in _WORKLOADS:
        curves = _against(workload, statistic, by_load.ALL, (*_OTHERS, own))
        others = {name: curves[name] for name in _OTHERS}
        claims.append(
            Claim(
                f"lowest-{workload.lower()}{suffix}",
                f"Mercury has the lowest {words} at each load, {workload}{where}",
                "Mercury lowest",
                verdict.lowest_at_all(curves, own, "us"),
                assumption=_WARM,
                reason=_LARGE_REASONS[suffix],
            )
        )
        span = _FOUND[statistic].get(workload)
        if span is None:
            continue
        claims.append(
            Claim(
                f"change-{workload.lower()}{suffix}",
                f"Mercury's {words} is lower than that of the others, {workload}{where}",
                f"{-span[0]:.1f} to {-span[1]:.1f} % lower"
                if isinstance(span, tuple)
                else f"up to {-span:.1f} % lower",
                verdict.between(curves[own], others, span, "us")
                if isinstance(span, tuple)
                else verdict.up_to(curves[own], others, span, "us"),
                assumption=f"over schemes and loads; {_WARM}",
                reason=_LARGE_REASONS[suffix],
            )
        )
    return claims


def _at_loads(id_: str, statistic: str, words: str) -> Figure:
    """Figures 11 and 12: a panel for each workload."""
    return Figure(
        id=id_,
        title=f"{words[0].upper()}{words[1:]} against load, four workloads",
        cases=partial(_larges, tuple(_WORKLOADS)),
        panels=[
            by_load.panel(f"({letter}) {workload}", workload, _SEVEN, statistic)
            for letter, workload in zip("abcd", _WORKLOADS, strict=True)
        ],
        claims=[claim for suffix in _MERCURIES for claim in _load_claims(statistic, words, suffix)],
    )


_FIG11 = _at_loads("fig11", by_load.AVERAGE, "average FCT")
_FIG12 = _at_loads("fig12", by_load.TAIL, "99th percentile of the FCT")

_SIZES = {"short": by_load.Sizes(most=100e3), "long": by_load.Sizes(least=1e6)}
_CUT = "short flows are those up to 100 KB, long ones those above 1 MB"
_STATISTICS = {by_load.AVERAGE: "average", by_load.TAIL: "99th percentile"}
_SHORT = {"Hadoop": (-64.7, -58.7), "WebServer": (-81.1, -80.6)}
_LONG_HADOOP = {
    "Timely": (-26.5, -45.1),
    "DCQCN": (-26.3, -41.8),
    "DCQCN+TCD": (-21.8, -38.7),
    "PACC": (-19.7, -30.9),
    "HPCC": (-27.1, -37.9),
}
"""Of the average and of the 99th percentile."""


def _up_to(
    workload: str, kind: str, statistic: str, names: Sequence[str], percent: float, suffix: str
) -> Claim:
    where, own = _MERCURIES[suffix]
    sizes = _SIZES[kind]
    others = _against(workload, statistic, sizes, names)
    group = "that of the others" if "HPCC" in names else "that of all but HPCC"
    who = f"{names[0]}'s" if len(names) == 1 else group
    id_ = f"-{names[0].lower()}" if len(names) == 1 else ""
    return Claim(
        f"{kind}-{statistic}{id_}{suffix}",
        f"{_STATISTICS[statistic].capitalize()} FCT of {kind} flows is lower than {who}{where}",
        f"up to {-percent:.1f} % lower",
        verdict.up_to(by_load.at_loads(workload, own, statistic, sizes), others, percent, "us"),
        assumption=f"{_CUT}; over schemes and loads; {_WARM}",
        reason=_LARGE_REASONS[suffix],
    )


def _slightly_above(workload: str, suffix: str) -> Claim:
    where, own = _MERCURIES[suffix]
    return Claim(
        f"short-average-hpcc{suffix}",
        f"Average FCT of short flows is slightly higher than HPCC's{where}",
        "slightly above HPCC",
        verdict.rising(
            {
                name: by_load.at_load(workload, 80, name, by_load.AVERAGE, _SIZES["short"])
                for name in ("HPCC", own)
            },
            "us",
        ),
        assumption=f"at 80 % load; {_CUT}; {_WARM}",
        reason=_SHORTER,
    )


def _length_claims(workload: str, suffix: str) -> list[Claim]:
    long: Mapping[tuple[str, ...], tuple[float, float]] = (
        {(name,): percents for name, percents in _LONG_HADOOP.items()}
        if workload == "Hadoop"
        else {_OTHERS: (-56.2, -68.6)}
    )
    kinds = {"short": {_OTHERS[:-1]: _SHORT[workload]}, "long": long}
    return [
        *(
            _up_to(workload, kind, statistic, names, percent, suffix)
            for kind, found in kinds.items()
            for names, percents in found.items()
            for statistic, percent in zip(_STATISTICS, percents, strict=True)
        ),
        _slightly_above(workload, suffix),
    ]


def _by_length(id_: str, workload: str) -> Figure:
    """Figures 13 and 14: short and long flows apart."""
    shown = [
        (kind, sizes, statistic, words)
        for kind, sizes in _SIZES.items()
        for statistic, words in _STATISTICS.items()
    ]
    return Figure(
        id=id_,
        title=f"FCT of short and of long flows, {workload}",
        cases=partial(_larges, (workload,)),
        panels=[
            by_load.panel(
                f"({letter}) {kind.capitalize()} flows, {words}", workload, _SEVEN, statistic, sizes
            )
            for letter, (kind, sizes, statistic, words) in zip("abcd", shown, strict=True)
        ],
        claims=[claim for suffix in _MERCURIES for claim in _length_claims(workload, suffix)],
    )


_FIG13 = _by_length("fig13", "Hadoop")
_FIG14 = _by_length("fig14", "WebServer")

PAPER = Paper(
    id="mercury",
    citation='He et al., "Mercury: accurate and fast congestion feedback for MEC-enabled RDMA data '
    'centers", Journal of Cloud Computing 2024',
    figures=(_FIG3, _FIG4, _FIG9, _FIG10, _FIG11, _FIG12, _FIG13, _FIG14),
    looks={
        "DCQCN": 0,
        "HPCC": 1,
        "Mercury": 2,
        "Timely": 3,
        "DCQCN+TCD": 4,
        "PACC": 5,
        "Mercury, ns-3 set": 6,
        "F1": 0,
        "F2": 1,
    },
    assumptions=(
        "a payload of 1000 B; Xoff and Xon of each ingress port and priority; buffers of 32 MB",
        "the eight burst hosts and R1 are at the last switch, so that F1 does not cross P3",
        "DCQCN, TCD, Timely and HPCC as in their papers; PACC is reconstructed",
        "Mercury over DCQCN as in its paper, congested above that one's Kmin",
        "the ns-3 set is Mercury over the HPCC simulator's DCQCN, and that one's Kmin",
        "which set is meant: most claims of figures 11 to 14 hold with the ns-3 set",
    ),
)
