"""Mercury's small networks with long flows and bursts: figures 3, 4 and 9."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rocelab.papers import setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.measurements import (
    MS,
    each,
    first,
    gbps,
    lines,
    mean_since,
    over_us,
    peak,
    queue_kb,
)
from rocelab.papers.mercury import decisions as decided
from rocelab.papers.mercury.schemes import FOUR, OTHERS, SIX, SMALL, settings
from rocelab.papers.model import Claim, Figure, Line, Measure, Panel, Runs
from rocelab.scenario import Scenario
from rocelab.series import Samples, between, series

_BURST_US = 3000.0
_BIN_US = 100.0
"""A sample of what hosts send is of this time before it."""
_F1 = 0
"""The number of flow F1."""


def _chain(reading: Reading, scheme: str) -> Scenario:
    """Figure 2: F1 from H1 (h0) to R1 (h2), F2 from H2 (h1) to R2 (h3), bursts to R2."""
    return Scenario(
        name=f"mercury-{scheme}",
        topology=setups.chain(
            *SMALL, senders=2, receivers=2, side_hosts=[0, 0, 8], sender_rate="20Gbps"
        ),
        pfc=reading.of(decided.SMALL_PFC),
        traffic=[
            setups.flows("long", [("h0", "h2"), ("h1", "h3")]),
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
                "interval": f"{_BIN_US:g}us",
            },
            {
                "name": "received",
                "kind": "goodput",
                "flows": ["long"],
                "interval": f"{_BIN_US:g}us",
            },
            *(
                {"name": name, "kind": "pause", "ports": [port], "interval": "1us"}
                for name, port in (("p1", "s0:s1"), ("p2", "s1:s2"))
            ),
        ],
        run={"stop": "6ms"},
        **settings(reading, scheme),
    )


def _sent_gbps(host: str, case: str) -> Callable[[Runs], Samples]:
    """What a host sends, in 100 us, over milliseconds."""
    return gbps(case, "sent", node=host, per_tick=MS)


def _goodput_gbps(case: str) -> Callable[[Runs], Samples]:
    """What of F1's payload reaches R1, in 100 us, over milliseconds."""

    def samples(runs: Runs) -> Samples:
        times, rates = series(runs[case], "received", 1e9, flow=_F1)
        return [time / MS for time in times], rates

    return samples


def _least(host: str, case: str) -> Measure:
    """The least rate in 100 us from the bursts on."""
    return lambda runs: min(between(_sent_gbps(host, case)(runs), (_BURST_US + _BIN_US) / MS))


def _first_pause_us(port: str, case: str, runs: Runs) -> float:
    """When a port is first paused; infinite if never."""
    return first(series(runs[case], port, 1.0), 0.0, above=0.5)


_SENDS = {"F1": "h0", "F2": "h1"}
_ASSUMED = (
    "six bursts of 50 KB from each of eight hosts at the last switch, 20 us apart; sending rates "
    "in bins of 100 us"
)
_LEAST = "Gb/s in the slowest 100 us"
_NO_SPREAD = (
    "at an Xoff of 320 KB for each ingress port F2 is cut before its bytes at the last switch "
    "reach it, so no pause goes to P2; how deep the first cut is decides, see what turns it"
)


_PACC_ALONE = (
    "with all but PACC F2 is cut before its bytes at the last switch reach an Xoff of 320 KB for "
    "each ingress port, so no pause goes to P2, and F1 has no reason to slow down; with PACC P2 "
    "and P1 are paused, as in the paper"
)


def _slowed(id_: str, text: str, host: str, names: tuple[str, ...], reason: str) -> Claim:
    """Below 85 % of the 20 Gb/s."""
    return Claim(
        id_,
        text,
        "slowed from 20 Gb/s",
        verdict.below(each(names, partial(_least, host)), 17.0, _LEAST),
        assumption=_ASSUMED,
        reason=reason,
    )


def _sent_panel(title: str, host: str, schemes: tuple[str, ...]) -> Panel:
    return Panel(
        title,
        "Time (ms)",
        "Sending rate (Gb/s)",
        lines(schemes, partial(_sent_gbps, host)),
        x_range=(2.5, 6),
    )


FIG3 = Figure(
    id="fig3",
    title="A congested flow F2 and a victim F1, DCQCN",
    cases=lambda reading, _quick: {"DCQCN": _chain(reading, "DCQCN")},
    completion_times=False,
    panels=[
        Panel(
            "DCQCN",
            "Time (ms)",
            "Sending rate (Gb/s)",
            [Line(flow, _sent_gbps(host, "DCQCN")) for flow, host in _SENDS.items()],
            x_range=(2.5, 6),
        )
    ],
    claims=[
        _slowed("f2", "The congested flow F2 slows down", "h1", ("DCQCN",), _NO_SPREAD),
        _slowed("f1", "The victim F1 slows down, too", "h0", ("DCQCN",), _NO_SPREAD),
        Claim(
            "spread",
            "The pause spreads from P2 to P1",
            "P2, then P1",
            verdict.in_turn(
                {port.upper(): partial(_first_pause_us, port, "DCQCN") for port in ("p2", "p1")},
                "us",
            ),
            assumption=_ASSUMED,
            reason=_NO_SPREAD,
        ),
    ],
)


_INCAST_US = 600.0


def _incast(reading: Reading, scheme: str) -> Scenario:
    """H1 (h0) sends to R1 (h9); at 600 us eight others send 120 KB each."""
    return Scenario(
        name=f"mercury-incast-{scheme}",
        topology=setups.chain(*SMALL, senders=9, receivers=2),
        pfc=reading.of(decided.SMALL_PFC),
        traffic=[
            setups.flows("long", [("h0", "h9")]),
            {
                "kind": "incast",
                "senders": ["h1..h8"],
                "receiver": "h9",
                "size": "120KB",
                "start": f"{_INCAST_US:g}us",
            },
        ],
        probe=[
            {"name": "queue", "kind": "queue", "ports": ["s0:s1"], "interval": "1us"},
            {
                "name": "sent",
                "kind": "throughput",
                "ports": ["h0:s0"],
                "interval": f"{_BIN_US:g}us",
            },
        ],
        run={"stop": "3ms"},
        **settings(reading, scheme),
    )


def _peak(case: str) -> Measure:
    return peak(queue_kb(case), _INCAST_US)


def _long_gbps(case: str) -> Callable[[Runs], Samples]:
    return gbps(case, "sent")


def _least_long(case: str) -> Measure:
    return lambda runs: min(between(_long_gbps(case)(runs), _INCAST_US + _BIN_US))


def _recovery_us(case: str) -> Measure:
    """From when on the long flow stays above half the line rate."""

    def reading(runs: Runs) -> float:
        times, rates = series(runs[case], "sent", 1e9)
        low = [time for time, rate in zip(times, rates, strict=True) if rate < 20]
        last = low[-1] if low else _INCAST_US
        return float("inf") if last == times[-1] else last

    return reading


_BINS = "in bins of 100 us, at the sender; in bins of 10 or 20 us it is 0 for all schemes"

FIG4 = Figure(
    id="fig4",
    title="An incast of eight and a long flow",
    cases=lambda reading, _quick: each(FOUR, partial(_incast, reading)),
    completion_times=False,
    panels=[
        over_us("(a) Queue of S1", "Queue length (KB)", lines(FOUR, queue_kb), (500, 1500)),
        over_us("(b) Long flow", "Throughput (Gb/s)", lines(FOUR, _long_gbps), (500, 3000)),
    ],
    claims=[
        Claim(
            "queue-order",
            "Mercury has the lowest queue peak at S1",
            "Mercury lowest",
            verdict.lowest(each(FOUR, _peak), "Mercury", "KB"),
        ),
        Claim(
            "queue-others",
            "DCQCN, Timely and HPCC have queues above 1000 KB",
            "above 1000 KB",
            verdict.above(each(FOUR[1:], _peak), 1000, "KB"),
        ),
        Claim(
            "least-rate",
            "The long flow keeps more with Mercury than with the others",
            "Mercury more",
            verdict.highest(each(FOUR, _least_long), "Mercury", "Gb/s"),
            assumption=f"least rate {_BINS}",
        ),
        Claim(
            "least-rate-others",
            "With DCQCN, Timely and HPCC the long flow goes down almost to zero",
            "almost 0",
            verdict.below(each(FOUR[1:], _least_long), 4, "Gb/s"),
            assumption=f"almost 0 is below 10 % of the line; least rate {_BINS}",
        ),
        Claim(
            "least-rate-mercury",
            "The long flow keeps at least 6 Gb/s with Mercury",
            "above 6 Gb/s",
            verdict.above(each(["Mercury"], _least_long), 6, "Gb/s"),
            assumption=f"least rate {_BINS}",
            reason="each CNP also cuts the rate of DCQCN below, by half while alpha is 1",
        ),
        Claim(
            "recovery",
            "The long flow recovers fastest with Mercury",
            "Mercury first",
            verdict.lowest(each(FOUR, _recovery_us), "Mercury", "us"),
            assumption="from when on it stays above half the line rate until 3 ms",
        ),
    ],
)


def _as_bursts_begin(case: str) -> Measure:
    """F2's rate in the first 100 us of the bursts."""
    return mean_since(_sent_gbps(_SENDS["F2"], case), 3.0, 3.1)


def _after_bursts(case: str) -> Measure:
    """F2's mean rate from 5.7 to 6 ms."""
    return mean_since(_sent_gbps(_SENDS["F2"], case), 5.7, 6.0)


FIG9 = Figure(
    id="fig9",
    title="The congested flow F2 and the victim F1 under all schemes",
    cases=lambda reading, _quick: each(SIX, partial(_chain, reading)),
    completion_times=False,
    panels=[
        _sent_panel("(a) Congested flow F2", _SENDS["F2"], SIX),
        _sent_panel("(b) Victim F1: Mercury, Timely, DCQCN", _SENDS["F1"], SIX[:3]),
        _sent_panel("(b) Victim F1: DCQCN+TCD, PACC, HPCC", _SENDS["F1"], SIX[3:]),
        Panel(
            "F1 at its receiver",
            "Time (ms)",
            "Goodput (Gb/s)",
            lines(SIX, _goodput_gbps),
            x_range=(2.5, 6),
        ),
    ],
    claims=[
        _slowed("f2", "All slow the congested flow F2", "h1", SIX, ""),
        _slowed("f1", "All but Mercury slow the victim F1", "h0", OTHERS, _PACC_ALONE),
        Claim(
            "mercury",
            "Mercury leaves the victim F1 unchanged",
            "20 Gb/s",
            verdict.above({"F1": _least("h0", "Mercury")}, 19.6, _LEAST),
            assumption=f"{_ASSUMED}; unchanged is within 2 %",
        ),
        Claim(
            "tcd",
            "DCQCN+TCD slows the victim F1 to 5 Gb/s",
            "5 Gb/s",
            verdict.close({"F1": _least("h0", "DCQCN+TCD")}, {"F1": 5.0}, _LEAST),
            assumption=_ASSUMED,
            reason=_NO_SPREAD,
        ),
        Claim(
            "occurs",
            "Mercury quickly slows F2 when the congestion occurs",
            "Mercury quickest",
            verdict.lowest(each(SIX, _as_bursts_begin), "Mercury", "Gb/s"),
            assumption=f"F2's mean rate in the first 100 us of the bursts; {_ASSUMED}",
        ),
        Claim(
            "quickly",
            "Mercury quickly gives F2 its rate back when the congestion disappears",
            "Mercury quickest",
            verdict.highest(each(SIX, _after_bursts), "Mercury", "Gb/s"),
            assumption=f"F2's mean rate from 5.7 to 6 ms; {_ASSUMED}",
        ),
    ],
)
