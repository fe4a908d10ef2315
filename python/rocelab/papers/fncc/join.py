"""FNCC: a flow joins another one at the first of three switches: figures 1, 3 and 9."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from rocelab.papers import verdict
from rocelab.papers.fncc.dumbbell import (
    END_US,
    JOIN_US,
    TO_THE_END,
    busy,
    dumbbells,
    highest_busy,
    mean_busy,
    peak_queue,
    queues,
    rates,
    reaction_us,
)
from rocelab.papers.fncc.schemes import FOUR, THREE
from rocelab.papers.measurements import bars, each, of, pauses_sent, rate, settled
from rocelab.papers.model import Claim, Figure, Measure, Panel, Runs
from rocelab.series import between

_RATES = (100, 200, 400)


def _reacts_after_us(case: str, runs: Runs) -> float:
    return reaction_us(case, runs) - JOIN_US


def _settled_us(case: str, gbps: int, runs: Runs) -> float:
    """From when on both flows are within 15 % of half of eta times the line rate."""
    return settled([rate(case, flow)(runs) for flow in (0, 1)], JOIN_US, gbps * 0.475, 0.15)


def _lowest_queue(gbps: int, names: Sequence[str]) -> Claim:
    return Claim(
        f"queue-{gbps}",
        f"FNCC has the lowest queue peak at {gbps} Gb/s",
        "FNCC lowest",
        verdict.lowest(each(of(f"{gbps}", names), peak_queue), "FNCC", "KB"),
    )


def _mean_step(case: str) -> Measure:
    """By how much both rates change from 1 us to the next, on average, from 400 us on."""

    def measure(runs: Runs) -> float:
        steps = [
            abs(after - before)
            for flow in (0, 1)
            for before, after in pairwise(between(rate(case, flow)(runs), 400.0, END_US))
        ]
        return statistics.fmean(steps)

    return measure


FIG1 = Figure(
    id="fig1",
    title="Queue at the congestion point at 100, 200 and 400 Gb/s, without (a), trends of hardware",
    cases=lambda reading, _quick: dumbbells(reading, _RATES, THREE),
    completion_times=False,
    panels=[
        queues(f"({letter}) {gbps} Gb/s", f"{gbps}", THREE)
        for letter, gbps in zip("bcd", _RATES, strict=True)
    ],
    columns=3,
    claims=[_lowest_queue(gbps, THREE) for gbps in _RATES],
)

FIG3 = Figure(
    id="fig3",
    title="Pause frames at the congestion point",
    cases=lambda reading, _quick: dumbbells(reading, _RATES[1:], THREE),
    completion_times=False,
    panels=[
        Panel(
            "Pause frames",
            "Link rate",
            "Pause frames",
            [
                bars(
                    name,
                    {f"{gbps} Gb/s": pauses_sent(f"{gbps} {name}", "s0") for gbps in _RATES[1:]},
                )
                for name in THREE
            ],
        )
    ],
    claims=[
        Claim(
            f"pauses-{gbps}",
            f"FNCC has the fewest pause frames at {gbps} Gb/s",
            "FNCC fewest",
            verdict.lowest(
                each(of(f"{gbps}", THREE), partial(pauses_sent, node="s0")), "FNCC", "frames"
            ),
            assumption="pauses of the first switch in the first 1 ms",
            reason="Xoff is that of an ingress port, so two flows that send alike pause at a queue "
            "of 1 MB, which none of the three reaches",
        )
        for gbps in _RATES[1:]
    ],
)

_REACTS_AFTER_US = {"HPCC": 30.0, "DCQCN": 46.0, "RoCC": 70.0}
"""The paper's moments of the first reaction less that of the join; FNCC's is about 0."""
_REACTION_TEXT = "FNCC 300, HPCC 330, DCQCN 346, RoCC 370 us"
_REACTION = "a reaction is the first flow's rate 10 % below its mean before the join, every 1 us"
_REACTIONS = {name: partial(reaction_us, f"100 {name}") for name in ("FNCC", *_REACTS_AFTER_US)}

_PRECISE = "a reaction of 10 %: RoCC's first step alone is 5.4 %"

FIG9 = Figure(
    id="fig9",
    title="Response to a joining flow: queue, rates, utilisation",
    cases=lambda reading, _quick: dumbbells(reading, _RATES, FOUR),
    completion_times=False,
    panels=[
        *(
            panel
            for letters, gbps in zip((("a", "b"), ("c", "d"), ("e", "f")), _RATES, strict=True)
            for panel in (
                queues(f"({letters[0]}) Queue, {gbps} Gb/s", f"{gbps}", FOUR),
                rates(f"({letters[1]}) Rates, {gbps} Gb/s (thin: joining)", f"{gbps}", FOUR),
            )
        ),
        busy("(g) Utilisation, 200 Gb/s", "200", FOUR),
        busy("(h) Utilisation, 400 Gb/s", "400", FOUR),
    ],
    claims=[
        Claim(
            "reaction-order",
            "After the join FNCC slows down first, then HPCC, DCQCN, RoCC",
            _REACTION_TEXT,
            verdict.rising(_REACTIONS, "us"),
            assumption=f"{_REACTION}; {_PRECISE}",
        ),
        Claim(
            "reaction-times",
            "How long after the join the first reaction comes",
            "FNCC about 0, HPCC 30, DCQCN 46, RoCC 70 us",
            # From the join on: of the moments themselves 15 % would be 50 us.
            verdict.close(
                {name: partial(_reacts_after_us, f"100 {name}") for name in _REACTS_AFTER_US},
                _REACTS_AFTER_US,
                "us",
            ),
            assumption=f"{_REACTION}; 15 % of FNCC's 0 is nothing, so its order alone is judged",
            reason="in this network HPCC's cut comes 16.8 us after the queue begins to grow, which "
            "is what its news and its law take in closed form: see the check of fig12",
        ),
        *(
            Claim(
                f"first-{gbps}",
                f"FNCC is the first to slow down, {gbps} Gb/s",
                "always the first",
                verdict.lowest(
                    {
                        name: partial(reaction_us, case)
                        for name, case in of(f"{gbps}", FOUR).items()
                    },
                    "FNCC",
                    "us",
                ),
                assumption=_REACTION,
            )
            for gbps in _RATES[1:]
        ),
        *(
            Claim(
                f"converges-{gbps}",
                f"FNCC's flows are the first at a fair rate, {gbps} Gb/s",
                "FNCC first",
                verdict.lowest(
                    {
                        name: partial(_settled_us, case, gbps)
                        for name, case in of(f"{gbps}", FOUR).items()
                    },
                    "FNCC",
                    "us",
                ),
                assumption="both within 15 % of 47.5 % of the line rate until 1 ms",
                reason="FNCC's news cut the first flow before the joining one has its first ACK, a "
                "round trip after its start, where HPCC's cut both at once; W_AI, that of 100 "
                "flows, has hardly evened this out by 1 ms",
            )
            for gbps in _RATES
        ),
        *(_lowest_queue(gbps, FOUR) for gbps in _RATES),
        *(highest_busy(f"{gbps}", f"at {gbps} Gb/s", FOUR) for gbps in _RATES[1:]),
        Claim(
            "jitter",
            "HPCC's rates are more jittery than FNCC's",
            "jitterily",
            verdict.rising({name: _mean_step(f"100 {name}") for name in ("FNCC", "HPCC")}, "Gb/s"),
            assumption="mean step of both rates from 1 us to the next, from 400 us to 1 ms",
        ),
        Claim(
            "dcqcn-recovers",
            "With DCQCN the flows are slow to recover",
            "DCQCN later than HPCC",
            verdict.rising(
                {name: partial(_settled_us, f"100 {name}", 100) for name in ("HPCC", "DCQCN")}, "us"
            ),
            assumption="within 15 % of 47.5 % of the line rate from then on until 1 ms",
        ),
        Claim(
            "rocc-converges",
            "RoCC hardly converges",
            "hard to converge",
            verdict.above({"RoCC": partial(_settled_us, "100 RoCC", 100)}, END_US, "us"),
            assumption="not within 15 % of 47.5 % of the line rate until 1 ms",
        ),
        Claim(
            "hpcc-queue",
            "HPCC outperforms DCQCN and RoCC: lower queue",
            "HPCC lower",
            verdict.lowest(
                {name: peak_queue(f"100 {name}") for name in ("HPCC", "DCQCN", "RoCC")},
                "HPCC",
                "KB",
            ),
        ),
        Claim(
            "hpcc-utilisation",
            "HPCC outperforms DCQCN and RoCC: higher utilisation",
            "HPCC higher",
            verdict.highest(
                {name: mean_busy(f"100 {name}") for name in ("HPCC", "DCQCN", "RoCC")}, "HPCC", "%"
            ),
            assumption=TO_THE_END,
        ),
    ],
)
