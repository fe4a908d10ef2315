"""Mercury's small networks with long flows and bursts: figures 3, 4 and 9."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rocelab.papers import setups, verdict
from rocelab.papers.measurements import MS, each, first, gbps, lines, of, over_us, peak, queue_kb
from rocelab.papers.mercury.schemes import FIVE, FOUR, OTHERS, SCHEMES, SEVEN, SIX, SMALL, xoff
from rocelab.papers.model import Claim, Figure, Line, Panel, Reading, Runs
from rocelab.scenario import Scenario
from rocelab.series import Samples, between, series

_BURST_US = 3000.0
_F1 = 0
"""The number of flow F1."""
_XOFFS_KB = (320, 80)
"""The paper's, and one that is low enough for the pauses to reach the first switch."""


def _chain(scheme: str, xoff_kb: int) -> Scenario:
    """Figure 2: F1 from H1 (h0) to R1 (h2), F2 from H2 (h1) to R2 (h3), bursts to R2."""
    return Scenario(
        name=f"mercury-{scheme}-{xoff_kb}KB",
        topology=setups.chain(
            *SMALL, senders=2, receivers=2, side_hosts=[0, 0, 8], sender_rate="20Gbps"
        ),
        scheme=SCHEMES[scheme],
        pfc=xoff(xoff_kb),
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
                "interval": "100us",
            },
            {"name": "received", "kind": "goodput", "flows": ["long"], "interval": "100us"},
            *(
                {"name": name, "kind": "pause", "ports": [port], "interval": "1us"}
                for name, port in (("p1", "s0:s1"), ("p2", "s1:s2"))
            ),
        ],
        run={"stop": "6ms"},
    )


def _chains(schemes: tuple[str, ...]) -> dict[str, Scenario]:
    return {f"{xoff} {name}": _chain(name, xoff) for xoff in _XOFFS_KB for name in schemes}


def _sent_gbps(host: str, case: str) -> Callable[[Runs], Samples]:
    """What a host sends, in 100 us, over milliseconds."""
    return gbps(case, "sent", node=host, per_tick=MS)


def _goodput_gbps(case: str) -> Callable[[Runs], Samples]:
    """What of F1's payload reaches R1, in 100 us, over milliseconds."""

    def samples(runs: Runs) -> Samples:
        times, rates = series(runs[case], "received", 1e9, flow=_F1)
        return [time / MS for time in times], rates

    return samples


def _least(host: str, case: str) -> Reading:
    """The least rate in 100 us from the bursts on."""
    return lambda runs: min(between(_sent_gbps(host, case)(runs), _BURST_US / MS + 0.1))


def _first_pause_us(port: str, case: str, runs: Runs) -> float:
    """When a port is first paused; infinite if never."""
    return first(series(runs[case], port, 1.0), 0.0, above=0.5)


_SENDS = {"F1": "h0", "F2": "h1"}
_WHERE = {xoff: "" if xoff == _XOFFS_KB[0] else f", Xoff {xoff} KB" for xoff in _XOFFS_KB}
_ASSUMED = (
    "six bursts of 50 KB from each of eight hosts at the last switch, 20 us apart; sending rates "
    "in bins of 100 us"
)
_LEAST = "Gb/s in the slowest 100 us"
_NO_SPREAD = (
    "at an Xoff of 320 KB for each ingress port F2 is cut before its bytes at the last switch "
    "reach it, so no pause goes to P2. Xoff turns it: the variants at 80 KB. Other bursts (3 of "
    "100 KB, 12 of 50 KB, one of 300 KB from each host), marking at the queue's entry and the HPCC "
    "simulator's DCQCN do not"
)
_SHORT_QUEUES = (
    "HPCC cuts F2 within a round trip, so that P2 is paused and P1 never is. Xoff turns it again: "
    "with 60 KB HPCC's F1 goes down to 12.0 Gb/s; its simulator's set and maxStage do not"
)
_CUT_TWICE = (
    "where packets are marked matters: marked as they join the queue, not as they leave, F1 goes "
    "down to 3.6 Gb/s. Over the HPCC simulator's DCQCN it goes down to 19.0, and marked as they "
    "join the queue to 3.4"
)


def _slowed(id_: str, text: str, host: str, xoff: int, names: tuple[str, ...]) -> Claim:
    """Below 85 % of the 20 Gb/s."""
    return Claim(
        f"{id_}-{xoff}",
        f"{text}{_WHERE[xoff]}",
        "slowed from 20 Gb/s",
        verdict.below(each(of(f"{xoff}", names), partial(_least, host)), 17.0, _LEAST),
        assumption=_ASSUMED,
        reason=_NO_SPREAD if xoff == _XOFFS_KB[0] else _SHORT_QUEUES,
        variant=xoff != _XOFFS_KB[0],
    )


def _rates_panels(schemes: tuple[str, ...]) -> list[Panel]:
    sent = [
        Panel(
            f"({letter}) {flow}, Xoff {xoff} KB",
            "Time (ms)",
            "Sending rate (Gb/s)",
            lines(of(f"{xoff}", schemes), partial(_sent_gbps, host)),
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
            lines(of(f"{xoff}", schemes), _goodput_gbps),
            x_range=(2.5, 6),
        )
        for xoff in _XOFFS_KB
    ]
    return [*sent, *received]


FIG3 = Figure(
    id="fig3",
    title="A congested flow F2 and a victim F1, DCQCN",
    cases=lambda _quick: _chains(("DCQCN",)),
    completion_times=False,
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
                variant=xoff != _XOFFS_KB[0],
            ),
        )
    ],
)


_INCAST_US = 600.0


def _incast(scheme: str) -> Scenario:
    """H1 (h0) sends to R1 (h9); at 600 us eight others send 120 KB each."""
    return Scenario(
        name=f"mercury-incast-{scheme}",
        topology=setups.chain(*SMALL, senders=9, receivers=2),
        scheme=SCHEMES[scheme],
        pfc=xoff(320),
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
            {"name": "sent", "kind": "throughput", "ports": ["h0:s0"], "interval": "100us"},
        ],
        run={"stop": "3ms"},
    )


def _peak(case: str) -> Reading:
    return peak(queue_kb(case), _INCAST_US)


def _long_gbps(case: str) -> Callable[[Runs], Samples]:
    return gbps(case, "sent")


def _least_long(case: str) -> Reading:
    return lambda runs: min(between(_long_gbps(case)(runs), _INCAST_US))


def _recovery_us(case: str) -> Reading:
    """From when on the long flow stays above half the line rate."""

    def reading(runs: Runs) -> float:
        times, rates = series(runs[case], "sent", 1e9)
        low = [time for time, rate in zip(times, rates, strict=True) if rate < 20]
        last = low[-1] if low else _INCAST_US
        return float("inf") if last == times[-1] else last

    return reading


_OVER_DCQCN = (
    "each CNP also cuts the rate of DCQCN below, by half while alpha is 1, and it takes "
    "milliseconds to come back. A first alpha of 0.1 turns the recovery: it is back at 900 us, "
    "before all others. Nothing that was tried turns the least rate: 4.4 Gb/s with a first alpha "
    "of 0 to 0.5; with CNPs of a flow 100 us and 1 ms apart in place of 50 us, and a quiet time of "
    "a tenth more, which must be above that, 2.8 Gb/s (back at 1000 and 1700 us), 10 us apart 0.2; "
    "with a threshold of 25, 100, 200, 400 KB at 100 Gb/s in place of 12.5 KB 4.1, 3.9, 3.5, 3.0; "
    "with QPs as flows 3.7, without windows 0.9; with the ns-3 set 2.3 (1100 us), with that and a "
    "first alpha of 0.1 5.4 (900 us)"
)

FIG4 = Figure(
    id="fig4",
    title="An incast of eight and a long flow",
    cases=lambda _quick: each(FIVE, _incast),
    completion_times=False,
    panels=[
        over_us(
            "(a) Queue of S1",
            "Queue length (KB)",
            lines(FIVE, queue_kb),
            (500, 1500),
        ),
        over_us(
            "(b) Long flow",
            "Throughput (Gb/s)",
            lines(FIVE, _long_gbps),
            (500, 3000),
        ),
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
            verdict.above(each(FOUR[:-1], _peak), 1000, "KB"),
        ),
        Claim(
            "least-rate",
            "The long flow keeps more with Mercury than with the others",
            "the others almost 0",
            verdict.highest(each(FOUR, _least_long), "Mercury", "Gb/s"),
            assumption="least rate in bins of 100 us, at the sender",
        ),
        Claim(
            "least-rate-mercury",
            "The long flow keeps at least 6 Gb/s with Mercury",
            "above 6 Gb/s",
            verdict.above(each(["Mercury"], _least_long), 6, "Gb/s"),
            assumption="least rate in bins of 100 us, at the sender",
            reason=_OVER_DCQCN,
        ),
        Claim(
            "recovery",
            "The long flow recovers fastest with Mercury",
            "Mercury first",
            verdict.lowest(each(FOUR, _recovery_us), "Mercury", "us"),
            assumption="from when on it stays above half the line rate until 3 ms",
            reason=_OVER_DCQCN,
        ),
    ],
)

FIG9 = Figure(
    id="fig9",
    title="The congested flow F2 and the victim F1 under all schemes",
    cases=lambda _quick: _chains(SEVEN),
    completion_times=False,
    panels=_rates_panels(SEVEN),
    claims=[
        claim
        for xoff in _XOFFS_KB
        for claim in (
            _slowed("f2", "All slow the congested flow F2", "h1", xoff, SIX),
            _slowed("f1", "All but Mercury slow the victim F1", "h0", xoff, OTHERS),
            Claim(
                f"mercury-{xoff}",
                f"Mercury leaves the victim F1 unchanged{_WHERE[xoff]}",
                "20 Gb/s",
                verdict.above({"F1": _least("h0", f"{xoff} Mercury")}, 19.6, _LEAST),
                assumption=f"{_ASSUMED}; unchanged is within 2 %",
                variant=xoff != _XOFFS_KB[0],
            ),
            Claim(
                f"tcd-{xoff}",
                f"DCQCN+TCD slows the victim F1 to 5 Gb/s{_WHERE[xoff]}",
                "5 Gb/s",
                verdict.close({"F1": _least("h0", f"{xoff} DCQCN+TCD")}, {"F1": 5.0}, _LEAST),
                assumption=_ASSUMED,
                reason=_NO_SPREAD if xoff == _XOFFS_KB[0] else _CUT_TWICE,
                variant=xoff != _XOFFS_KB[0],
            ),
        )
    ],
)
