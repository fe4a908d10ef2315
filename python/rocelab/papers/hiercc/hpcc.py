"""Figures 1 and 2: HPCC and bursts."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import polars as pl

from rocelab.papers import setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.hiercc import decisions as decided
from rocelab.papers.hiercc.setup import INT_B, hpcc_rtt_us, network, on_wire_kb, scheme, wire
from rocelab.papers.measurements import gbps, lines, over_us, peak, queue_kb
from rocelab.papers.model import Claim, Figure, Measure, Panel, Points, Runs
from rocelab.scenario import Scenario
from rocelab.series import between, series

_DELAYS = {"12 us": "1us", "6 us": "0.5us"}
"""Delays of the links by the round trip that they make."""
_BURST_US = 100.0
_SHORT_END_US = 600.0
_LONG = (("h17", "h319"), ("h80", "h319"))


def _hpcc(reading: Reading, rtt: str) -> Scenario:
    """Two long flows, and 16 bursts of 20 KB at 100 us, all to h319."""
    return Scenario(
        name=f"hiercc-burst-{rtt}",
        topology=network(_DELAYS[rtt]),
        scheme=scheme(reading, "HPCC"),
        traffic=[
            setups.flows("long", _LONG, "1GB"),
            {
                "kind": "incast",
                "tag": "burst",
                "senders": reading.of(decided.FIG1_SENDERS),
                "receiver": "h319",
                "size": "20KB",
                "start": f"{_BURST_US:g}us",
            },
        ],
        probe=[
            {"name": "queue", "kind": "queue", "ports": ["tor19:h319"], "interval": "500ns"},
            {"name": "used", "kind": "throughput", "ports": ["tor19:h319"], "interval": "5us"},
        ],
        run={"stop": f"{_SHORT_END_US:g}us"},
        **wire(reading),
    )


def _peak(case: str) -> Measure:
    return peak(queue_kb(case), _BURST_US)


def _gap_us(case: str) -> Measure:
    """How long after the bursts the link carries less than three quarters of its rate."""

    def reading(runs: Runs) -> float:
        times, queue = series(runs[case], "queue", 1e3)
        fullest = times[queue.index(max(queue))]
        return 5.0 * sum(rate < 18.75 for rate in between(gbps(case, "used")(runs), fullest))

    return reading


_BELOW = "time below three quarters of the link after the queue's peak, in bins of 5 us"
_FOUR_FIFTHS = {"12 us": "; below four fifths it is 90 us, which would not hold"}
"""What another share of the link changes, in the headline reading."""

_T_US = {rtt: hpcc_rtt_us(delay_us) for rtt, delay_us in (("12 us", 1.0), ("6 us", 0.5))}
_WINDOW_KB = {rtt: 25 / 8 * t_us for rtt, t_us in _T_US.items()}
"""The first, which counts payload."""
_FIRST_PACKETS = {rtt: math.ceil(kb) for rtt, kb in _WINDOW_KB.items()}
_FIRST_KB = {rtt: on_wire_kb(packets, INT_B) for rtt, packets in _FIRST_PACKETS.items()}

_SAME_BYTES = (
    f"16 bursts of 20 KB are {16 * on_wire_kb(20, INT_B):.0f} KB on the wire, and the first window "
    f"holds all of each also with a T of {_T_US['6 us']:.2f} us, as 25 Gb/s times that is "
    f"{_WINDOW_KB['6 us']:.1f} KB: all of them leave before an ACK is back, whatever the delay; "
    "until the peak the link sends 42 KB, and the long flows add 34"
)
_FIG1_PAPER = {"12 us": (340.0, 70.0), "6 us": (250.0, 35.0)}
"""Peak of the queue in KB, and time to take up the bandwidth in us."""
_RTTS = tuple(_DELAYS)
_LINES = {f"RTT {rtt.replace('us', 'µs')}": rtt for rtt in _RTTS}
"""The round trips by what pictures call them."""


def _short(rtt: str) -> str:
    return f"{rtt.split()[0]}us"


def _shortened(number: int) -> float:
    """The change of a number of figure 1 from the longer to the shorter round trip, in per cent."""
    long, short = (_FIG1_PAPER[rtt][number] for rtt in _RTTS)
    return 100 * (short / long - 1)


FIG1 = Figure(
    id="fig1",
    title="HPCC: sixteen bursts and two long flows",
    cases=lambda reading, _quick: {rtt: _hpcc(reading, rtt) for rtt in _RTTS},
    completion_times=False,
    panels=[
        over_us("(a) Queue", "Queue length (KB)", lines(_LINES, queue_kb), (50, 450)),
        over_us(
            "(b) Throughput of the receiver",
            "Throughput (Gb/s)",
            lines(_LINES, partial(gbps, probe="used")),
            (50, 450),
        ),
    ],
    claims=[
        *(
            claim
            for rtt, (queue, gap) in _FIG1_PAPER.items()
            for claim in (
                Claim(
                    f"queue-{_short(rtt)}",
                    f"Peak of the queue with a round trip of {rtt}",
                    f"{queue:g} KB",
                    verdict.close({"": _peak(rtt)}, {"": queue}, "KB"),
                    reason=_SAME_BYTES,
                ),
                Claim(
                    f"gap-{_short(rtt)}",
                    f"Time to take up the bandwidth with a round trip of {rtt}",
                    f"{gap:g} us",
                    verdict.close({"": _gap_us(rtt)}, {"": gap}, "us"),
                    assumption=f"{_BELOW}{_FOUR_FIFTHS.get(rtt, '')}",
                ),
            )
        ),
        Claim(
            "queue-shorter",
            "With the shorter round trip the queue's peak is lower",
            "from 340 to 250 KB",
            verdict.change(_peak("6 us"), _peak("12 us"), _shortened(0), "KB"),
            reason=_SAME_BYTES,
        ),
        Claim(
            "gap-shorter",
            "With the shorter round trip the bandwidth is taken up sooner",
            "from 70 to 35 us",
            verdict.change(_gap_us("6 us"), _gap_us("12 us"), _shortened(1), "us"),
            assumption=_BELOW,
        ),
        Claim(
            "several-rtts",
            "Flows need several round trips to climb back to the fair rate",
            "several RTTs",
            verdict.above({"": _gap_us("12 us")}, 36.0, "us"),
            assumption="several are more than three, 36 us; as the time to take up the bandwidth",
        ),
    ],
)

_INCASTS = (16, 32, 64, 128, 256)


def _incast(reading: Reading, rtt: str, senders: int) -> Scenario:
    """An incast of 100 KB each, from hosts drawn at random, beside two long flows."""
    return Scenario(
        name=f"hiercc-incast-{rtt}-{senders}",
        topology=network(_DELAYS[rtt]),
        scheme=scheme(reading, "HPCC"),
        traffic=[
            setups.flows("long", _LONG, "1GB"),
            {
                "kind": "incast",
                "senders": senders,
                "receiver": "h319",
                "size": "100KB",
                "start": f"{_BURST_US:g}us",
            },
        ],
        run={"stop": "400us"},
        **wire(reading),
    )


def _most_mb(rtt: str, senders: int, runs: Runs) -> float:
    ports = runs[f"{rtt} {senders}"].ports.to_polars()
    port = ports.filter((pl.col("node") == "tor19") & (pl.col("peer") == "h319"))
    return float(port["max_queue_bytes"].item()) / 1e6


def _peaks(rtt: str) -> Callable[[Runs], Points]:
    return lambda runs: (
        [float(senders) for senders in _INCASTS],
        [_most_mb(rtt, senders, runs) for senders in _INCASTS],
    )


_WINDOWS = (
    "each sender's first window is all that counts: C times T, which is "
    + " and ".join(
        f"{_WINDOW_KB[rtt]:.1f} KB where T is {t_us:.2f} us, {_FIRST_PACKETS[rtt]} packets or "
        f"{_FIRST_KB[rtt]:.0f} KB on the wire,"
        for rtt, t_us in _T_US.items()
    )
    + f" so that 256 senders have {0.256 * _FIRST_KB['12 us']:.1f} MB under way with the longer T; "
    "at the peak the link has sent 0.7 MB of them, and 1.0 MB wait one switch before"
)

FIG2 = Figure(
    id="fig2",
    title="HPCC: peak of the queue against the scale of an incast",
    cases=lambda reading, _quick: {
        f"{rtt} {senders}": _incast(reading, rtt, senders) for rtt in _RTTS for senders in _INCASTS
    },
    completion_times=False,
    panels=[
        Panel(
            "Peak queue",
            "Senders",
            "Queue length (MB)",
            lines(_LINES, _peaks),
            marked=True,
            ticks=_INCASTS,
        )
    ],
    claims=[
        *(
            Claim(
                f"peak-{_short(rtt)}-{senders}",
                f"Peak with {senders} senders and a round trip of {rtt}",
                f"{'about ' if senders == 16 else 'up to '}{paper:g} MB",
                verdict.close({"": partial(_most_mb, rtt, senders)}, {"": paper}, "MB"),
                reason=_WINDOWS,
            )
            for rtt, senders, paper in (("12 us", 16, 0.8), ("12 us", 256, 9.0), ("6 us", 256, 6.0))
        ),
        *(
            Claim(
                f"related-{_short(rtt)}",
                f"The more senders, the longer the queue, with a round trip of {rtt}",
                "positively related",
                verdict.rising(
                    {f"{senders}": partial(_most_mb, rtt, senders) for senders in _INCASTS}, "MB"
                ),
            )
            for rtt in _RTTS
        ),
    ],
)
