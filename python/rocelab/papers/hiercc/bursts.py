"""Figure 4: a long flow and two rounds of bursts."""

from __future__ import annotations

import math
import statistics
from functools import partial
from itertools import pairwise

import polars as pl

from rocelab.papers import setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.hiercc import decisions as decided
from rocelab.papers.hiercc.setup import FIFTH, network, on_wire_kb, scheme, wire
from rocelab.papers.measurements import MS, each, gbps, lines, peak, queue_kb, single
from rocelab.papers.model import Claim, Figure, Measure, Panel, Runs
from rocelab.scenario import Scenario
from rocelab.series import between

_ROUNDS_MS, _END_MS = (1.0, 3.0), 5.0
_BIN_MS = 0.05


def _bursts(reading: Reading, name: str) -> Scenario:
    """A long flow from h0 to h63; at 1 and 3 ms 15 other hosts send 75 KB each there."""
    voq = [{"name": "voq", "kind": "flow-queue", "nodes": ["h0"], "interval": "1us"}]
    return Scenario(
        name=f"hiercc-bursts-{name}",
        topology=network("1us", FIFTH),
        scheme=scheme(reading, name),
        traffic=[
            setups.flows("long", [("h0", "h63")], "1GB"),
            {
                "kind": "bursts",
                "src": reading.of(decided.FIG4_SENDERS),
                "dst": ["h63"],
                "size": "75KB",
                "start": "1ms",
                "period": "2ms",
                "count": len(_ROUNDS_MS),
            },
        ],
        probe=[
            {"name": "queue", "kind": "queue", "ports": ["tor3:h63"], "interval": "1us"},
            {"name": "used", "kind": "throughput", "ports": ["tor3:h63"], "interval": "50us"},
            *(voq if name == "HierCC" else []),
        ],
        run={"stop": f"{_END_MS:g}ms"},
        **wire(reading),
    )


def _peak(case: str) -> Measure:
    return peak(queue_kb(case))


def _longest_voq(case: str) -> Measure:
    return peak(queue_kb(case, "voq"))


def _times_below_dcqcn(runs: Runs) -> float:
    """How many times as long DCQCN's longest queue is, whatever the kind of HierCC's."""
    own = [single(read("HierCC")(runs)) for read in (_peak, _longest_voq)]
    return single(_peak("DCQCN")(runs)) / max(own)


def _used_percent(case: str) -> Measure:
    """Mean from the first bursts on."""

    def reading(runs: Runs) -> float:
        # A sample is of the time before it.
        rates = between(gbps(case, "used")(runs), (_ROUNDS_MS[0] + _BIN_MS / 2) * MS)
        return 100 * sum(rates) / len(rates) / 25

    return reading


def _afterwards_percent(case: str) -> Measure:
    """Mean from the end of the short flows of a round to the next round, or to the end."""

    def reading(runs: Runs) -> float:
        short = runs[case].flows.to_polars().filter(pl.col("tag").ne_missing("long"))
        ends = short.with_columns(end=(pl.col("start_ps") + pl.col("fct_ps")) / 1e9)
        rates: list[float] = []
        for begin_ms, until_ms in pairwise((*_ROUNDS_MS, _END_MS)):
            of_round = ends.filter(pl.col("start_ps").cast(pl.Float64) == begin_ms * 1e9)["end"]
            last_ms = of_round.max()
            if isinstance(last_ms, float) and of_round.null_count() == 0:
                used = gbps(case, "used", per_tick=MS)(runs)
                # A sample is of the time before it.
                rates += between(used, last_ms + _BIN_MS, until_ms + _BIN_MS / 2)
        return 100 * statistics.fmean(rates) / 25 if rates else math.nan

    return reading


_IN_FLIGHT_KB = 16 * 25 / 8 * (2 + 2 * 0.35)
"""What 16 hosts send at 25 Gb/s until a stop has reached them and its last data is there: 1 us each
way, and the packets of 1.1 KB on the wire that stop and data wait for."""

_BOUND_KB = 70 + _IN_FLIGHT_KB
_BOTH = ("HierCC", "DCQCN")

_FULL = "mean from the first bursts to 5 ms"
_AFTERWARDS = "mean from the end of a round's short flows to the next round, or to 5 ms"
_WINDOW_OF_C0 = (
    "a VOQ moves no more than C0 in a round trip between ToRs, 10 KB in 8.4 us, which is 9.5 of 25 "
    "Gb/s"
)

FIG4 = Figure(
    id="fig4",
    title="A long flow and two rounds of 15 bursts",
    cases=lambda reading, _quick: each(_BOTH, partial(_bursts, reading)),
    columns=3,
    completion_times=False,
    panels=[
        Panel(
            "(a) Throughput",
            "Time (ms)",
            "Throughput (Gb/s)",
            lines(_BOTH, partial(gbps, probe="used", per_tick=MS)),
        ),
        Panel(
            "(b) Queue at the receiver",
            "Time (ms)",
            "Queue length (KB)",
            lines(_BOTH, partial(queue_kb, per_tick=MS)),
            log_y=True,
        ),
        Panel(
            "VOQ at the senders' ToR",
            "Time (ms)",
            "Queue length (KB)",
            lines(["HierCC"], partial(queue_kb, probe="voq", per_tick=MS)),
        ),
    ],
    claims=[
        Claim(
            "queue-dcqcn",
            "DCQCN builds a queue of up to 1000 KB",
            "1000 KB",
            verdict.close({"": _peak("DCQCN")}, {"": 1000.0}, "KB"),
            reason=f"all 1125 KB, {15 * on_wire_kb(75):.0f} KB on the wire, leave at line rate "
            "before a sender slows down, and until the peak the long flow adds nearly as much as "
            "the link sends, 156 KB",
        ),
        Claim(
            "voq",
            "HierCC limits the length of its VOQ",
            "70 KB, the upper bound V_high",
            verdict.below(each(["HierCC"], _longest_voq), 70.0, "KB"),
            reason="a stop takes effect a hop later: until then 16 hosts at line rate send "
            f"{_IN_FLIGHT_KB:.0f} KB; see the check below",
        ),
        Claim(
            "queue",
            "HierCC has a small queue at the receiver",
            "small beside DCQCN's 1000 KB",
            verdict.lowest(each(_BOTH, _peak), "HierCC", "KB"),
        ),
        Claim(
            "times",
            "The longest queue of HierCC is shorter than DCQCN's",
            "up to about 10 times, with incast",
            verdict.close({"": _times_below_dcqcn}, {"": 10.0}, "times"),
            assumption="the VOQ or the queue at the receiver, whichever is longer: the paper does "
            "not say which fig. 4(b) shows",
            reason="the longest is the VOQ, and what hosts send until a stop takes effect is more "
            "than V_high",
        ),
        Claim(
            "dcqcn-wastes",
            "DCQCN wastes bandwidth when the short flows end",
            "wastes",
            verdict.below(each(["DCQCN"], _afterwards_percent), 95.0, "%"),
            assumption=f"{_AFTERWARDS}; full is above 95 %",
        ),
        Claim(
            "throughput",
            "HierCC uses more of the link than DCQCN when the short flows end",
            "HierCC higher",
            verdict.highest(each(_BOTH, _afterwards_percent), "HierCC", "%"),
            assumption=_AFTERWARDS,
        ),
        Claim(
            "full",
            "HierCC has full throughput after the bursts",
            "25 Gb/s",
            verdict.above(each(["HierCC"], _used_percent), 95.0, "%"),
            assumption=f"{_FULL}; full is above 95 %",
            reason=_WINDOW_OF_C0,
        ),
        Claim(
            "voq-in-flight",
            "HierCC's VOQ is bounded by V_high and what is in flight on one hop",
            "",
            verdict.below(each(["HierCC"], _longest_voq), _BOUND_KB, "KB"),
            assumption="16 senders at line rate until the stop has come and their last data is in",
            expected=f"below 70 KB and {_IN_FLIGHT_KB:.0f} KB",
        ),
    ],
)
