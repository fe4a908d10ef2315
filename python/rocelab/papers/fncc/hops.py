"""FNCC: congestion at the first, middle and last of three switches: figures 12 and 13."""

from __future__ import annotations

import math
from functools import partial

from rocelab.papers import setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.fncc.dumbbell import (
    JOIN_US,
    JOINS,
    REACTED,
    TO_THE_END,
    busy,
    dumbbell,
    highest_busy,
    mean_busy,
    peak_queue,
    queues,
    rates,
    reaction_us,
)
from rocelab.papers.measurements import (
    MS,
    bars,
    each,
    first,
    mean,
    of,
    queue_kb,
    rate,
    rate_gbps,
)
from rocelab.papers.model import Claim, Figure, Line, Panel, Runs
from rocelab.scenario import Scenario
from rocelab.series import between

_SPEEDUP = ("HPCC", "FNCC without LHCS", "FNCC")
_HOPS = {"first": "s0:s1", "middle": "s1:s2", "last": "s2:h1"}


def _hop(reading: Reading, scheme: str, where: str) -> Scenario:
    """Figure 11: the joining flow's host is at the switch whose port is to be congested."""
    side = {"first": (1,), "middle": (0, 1), "last": (0, 0, 1)}[where]
    flows = setups.flows("long", [("h0", "h1"), ("h2", "h1")], starts_us=JOINS)
    return dumbbell(
        reading, scheme, 100, port=_HOPS[where], flows=flows, senders=1, side=side, interval="100ns"
    )


def _fairness(reading: Reading, step_ms: int) -> Scenario:
    """Four flows, one more every step, then one fewer, by sizes for equal shares."""
    # Of each flow, in steps at line rate; an MTU and its preamble and gap are 1538 B of link time.
    steps = [1 + 1 / 2 + 1 / 3 + 1 / 4, 1 / 2 + 1 / 3 + 1 / 4 + 1 / 3]
    steps += [1 / 3 + 1 / 4 + 1 / 3 + 1 / 2, 1 / 4 + 1 / 3 + 1 / 2 + 1]
    whole = 100e9 / 8 * step_ms * 1e-3 * 0.95 * 1456 / 1538
    flows = [
        {
            "src": f"h{n}",
            "dst": "h4",
            "size": f"{round(share * whole)}B",
            "start": f"{n * step_ms}ms",
        }
        for n, share in enumerate(steps)
    ]
    traffic = {"kind": "flows", "tag": "long", "flows": flows}
    return dumbbell(
        reading,
        "FNCC",
        100,
        flows=traffic,
        senders=4,
        stop_us=7000.0 * step_ms,
        interval=f"{10 * step_ms}us",
    )


def _hops(reading: Reading, schemes: tuple[str, ...]) -> dict[str, Scenario]:
    return {f"{where} {name}": _hop(reading, name, where) for where in _HOPS for name in schemes}


def _delay_us(case: str, runs: Runs) -> float:
    """From the first KB in the queue to the first flow's reaction."""
    return reaction_us(case, runs) - first(queue_kb(case)(runs), JOIN_US, above=1.0)


def _saved_us(where: str, runs: Runs) -> float:
    return _delay_us(f"{where} HPCC", runs) - _delay_us(f"{where} FNCC without LHCS", runs)


_NOTIFIED = ("HPCC", "FNCC without LHCS")

# In closed form: a full packet and an ACK on the wire, and a link, in us. HPCC's INT comes on top
# of both; with FNCC the ACK has N and INT.
_PACKET_US = {"HPCC": 1580 * 8 / 100e3, "FNCC": 1538 * 8 / 100e3}
_ACK_US = {"HPCC": 128 * 8 / 100e3, "FNCC": 130 * 8 / 100e3}
_LINK_US = 1.5


def _round_trip_us(scheme: str) -> float:
    """The base round trip over three switches."""
    return 4 * (_PACKET_US[scheme] + _ACK_US[scheme] + 2 * _LINK_US)


def _expected_us(where: str, scheme: str) -> float:
    """From the queue's beginning to the reaction: the way of the news, and HPCC's law.

    HPCC's news leave with the next packet, go on to the receiver and come back with its ACK;
    FNCC's leave with the next ACK, half a packet's time later on average. From then on the queue
    grows by eta of the link, and U follows 1 + eta x with the time constant T, x = t / T: it is
    (1 - eta) + eta x + (2 eta - 1) exp(-x). The rate goes with eta / U. T is the base round trip.
    """
    hop, eta, family = 1 + list(_HOPS).index(where), 0.95, scheme.split()[0]
    packet, ack = _PACKET_US[family], _ACK_US[family]
    onward = packet + (4 - hop) * (packet + _LINK_US) + 4 * (ack + _LINK_US)
    back = packet / 2 + hop * (ack + _LINK_US)
    x = 0.0
    while 1 - eta + eta * x + (2 * eta - 1) * math.exp(-x) < eta / REACTED:
        x += 1e-4
    return (onward if family == "HPCC" else back) + x * _round_trip_us(family)


_DELAYS = {f"{where} {name}": (where, name) for name in _NOTIFIED for where in _HOPS}

_MEASURED = (
    "the paper's figure is a drawing; measured as the delay from 1 KB of queue to a cut of 10 %, "
    "every 0.1 us, without LHCS"
)

FIG12 = Figure(
    id="fig12",
    title="How old news of congestion is when the sender acts, by hop",
    cases=lambda reading, _quick: _hops(reading, _NOTIFIED),
    completion_times=False,
    panels=[
        Panel(
            "From the queue's onset to the reaction",
            "Congested hop",
            "Delay (µs)",
            [
                bars(name, {where: partial(_delay_us, f"{where} {name}") for where in _HOPS})
                for name in _NOTIFIED
            ],
        )
    ],
    claims=[
        Claim(
            "saved-by-hop",
            "FNCC's gain over HPCC is largest at the first hop, least at the last",
            "first > middle > last",
            verdict.rising(
                {where: partial(_saved_us, where) for where in reversed(_HOPS)}, "us earlier"
            ),
            assumption=_MEASURED,
        ),
        Claim(
            "sub-rtt",
            "FNCC's senders react to congestion in less than a round trip",
            "sub-RTT",
            verdict.below(
                {where: partial(_delay_us, f"{where} FNCC without LHCS") for where in _HOPS},
                _round_trip_us("FNCC"),
                "us",
            ),
            assumption=f"the round trip is {_round_trip_us('FNCC'):.1f} us; {_MEASURED}",
        ),
        Claim(
            "hpcc-rtt",
            "HPCC's senders need at least a round trip to slow down",
            "at least one round trip",
            verdict.above(
                {where: partial(_delay_us, f"{where} HPCC") for where in _HOPS},
                _round_trip_us("HPCC"),
                "us",
            ),
            assumption=f"the round trip is {_round_trip_us('HPCC'):.1f} us; {_MEASURED}",
        ),
        Claim(
            "closed-form",
            "Reactions come when the way of the news and HPCC's law say, in closed form",
            "",
            verdict.close(
                {case: partial(_delay_us, case) for case in _DELAYS},
                {case: _expected_us(*of) for case, of in _DELAYS.items()},
                "us",
            ),
            assumption="worked out for this set-up, as fig9's 300 and 330 us are of another",
            expected=", ".join(f"{case} {_expected_us(*of):.1f}" for case, of in _DELAYS.items())
            + " us",
        ),
    ],
)


_CONGESTED_KB = 10.0
"""Above it the last hop is congested: more than a few packets of each flow wait."""


def _congested_us(runs: Runs) -> float:
    """How long after the join the last hop is congested with FNCC, once it was."""
    times, queue = queue_kb("last FNCC")(runs)
    begin = first((times, queue), JOIN_US, above=_CONGESTED_KB)
    return first((times, queue), begin, below=_CONGESTED_KB) - JOIN_US


def _share(flows: int, runs: Runs) -> float:
    """A flow's rate over the equal share of ``flows`` flows, where it is furthest off."""
    run = runs["fairness"]
    curves = [rate_gbps(run, flow) for flow in range(4)]
    step_us = run.summary.simulated_ns / 7000
    ratios = []
    for step in range(1, 6):
        spans = [between(curve, step_us * (step + 0.5), step_us * (step + 0.9)) for curve in curves]
        rates = [sum(span) / len(span) for span in spans if span]
        if len(rates) == flows:
            ratios += [one * flows / sum(rates) for one in rates]
    return max(ratios, key=lambda ratio: abs(ratio - 1))


_COMPARED = {"first": ("HPCC", "FNCC"), "middle": ("HPCC", "FNCC"), "last": _SPEEDUP}
"""LHCS plays no part but at the last hop."""


def _queue_change(id_: str, where: str, name: str, percent: float, words: str) -> Claim:
    return Claim(
        id_,
        f"Peak queue against HPCC, congestion at the {where} hop{words}",
        f"{percent:+.1f} %",
        verdict.change(peak_queue(f"{where} {name}"), peak_queue(f"{where} HPCC"), percent, "KB"),
    )


FIG13 = Figure(
    id="fig13",
    title="Congestion at the first, middle and last hop; fairness",
    cases=lambda reading, quick: {
        **_hops(reading, _SPEEDUP),
        "fairness": _fairness(reading, 20 if quick else 100),
    },
    quick="flows join and leave every 20 ms in place of 100",
    columns=3,
    completion_times=False,
    panels=[
        *(
            queues(f"({letter}) Queue, {where} hop", where, names)
            for letter, (where, names) in zip("abc", _COMPARED.items(), strict=True)
        ),
        *(
            busy(f"({letter}) Utilisation, {where} hop", where, names)
            for letter, (where, names) in zip("abc", _COMPARED.items(), strict=True)
        ),
        rates("(d) Rates, last hop (thin: joining)", "last", _SPEEDUP),
        Panel(
            "(e) Fairness, FNCC",
            "Time (ms)",
            "Flow rate (Gb/s)",
            [Line(f"flow {flow}", rate("fairness", flow, per_tick=MS)) for flow in range(4)],
        ),
    ],
    claims=[
        _queue_change("queue-first", "first", "FNCC", -37.5, ""),
        _queue_change("queue-middle", "middle", "FNCC", -29.5, ""),
        _queue_change("queue-last-without", "last", "FNCC without LHCS", -8.4, ", without LHCS"),
        _queue_change("queue-last", "last", "FNCC", -38.5, ", with LHCS"),
        *(
            highest_busy(where, f"with congestion at the {where} hop", ("HPCC", "FNCC"))
            for where in _HOPS
        ),
        Claim(
            "utilisation-last-without",
            "FNCC without LHCS has a higher utilisation with congestion at the last hop",
            "higher than HPCC's",
            verdict.rising(each(of("last", _NOTIFIED), mean_busy), "%"),
            assumption=TO_THE_END,
        ),
        Claim(
            "lhcs-rate",
            "With LHCS both flows go to beta times the fair rate at once",
            "45 Gb/s",
            verdict.close(
                {f"flow {flow}": mean(rate("last FNCC", flow), 310.0, 330.0) for flow in (0, 1)},
                {"flow 0": 45.0, "flow 1": 45.0},
                "Gb/s",
            ),
            assumption="mean from 310 to 330 us, while the speed-up acts",
            reason="U is above eta while the queue drains, so line 32 divides the share further",
        ),
        Claim(
            "lhcs-ends",
            "The last hop's congestion lasts for 150 us after the join",
            "it disappears after 450 us",
            verdict.close({"": _congested_us}, {"": 150.0}, "us"),
            assumption="until the queue is first below 10 KB again",
            reason="at 0.9 of the link 150 us drain 188 KB, and the queue's peak is less than half "
            "of that here",
        ),
        Claim(
            "fairness",
            "Flows that join and leave have equal shares",
            "equal",
            verdict.close(
                {f"{flows} flows": partial(_share, flows) for flows in (2, 3, 4)},
                {f"{flows} flows": 1.0 for flows in (2, 3, 4)},
                "of the equal share, furthest off",
            ),
            assumption="means over half to nine tenths of each step",
        ),
    ],
)
