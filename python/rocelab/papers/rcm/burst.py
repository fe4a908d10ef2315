"""Figure 6: a burst beside four flows."""

from __future__ import annotations

from functools import partial

import polars as pl

from rocelab.papers import seeds, setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.measurements import mean_since, single
from rocelab.papers.model import Claim, Figure, Line, Measure, Panel, Runs
from rocelab.papers.rcm.setup import COMPARED, RATE, custom, scenario, throughput
from rocelab.scenario import Scenario

_INCAST = ("i0", "i1", "i2", "i3")


_SEEDS = range(1, 17)
"""What the samples hit upon makes the burst's share 33 to 42 Gb/s, run by run."""


_BURST = 4
"""Its flow; those before it are the incast's."""
_END_US = 401.0


def _burst(reading: Reading, scheme: str, seed: int) -> Scenario:
    """Four flows by one port of the last switch, by another a burst of 20 us at line rate."""
    ends = [*((host, "near") for host in _INCAST), ("b", "far")]
    ends += [(end, "last") for end in ("near", "far", "d")]
    return scenario(
        reading,
        scheme,
        "burst",
        seed,
        f"{_END_US:g}us",
        topology=custom(
            (*_INCAST, "b", "d"),
            {"near": 1, "far": 1, "last": 1},
            [(a, b, RATE) for a, b in ends],
        ),
        traffic=[
            setups.flows("incast", [(host, "d") for host in _INCAST]),
            setups.flows("burst", [("b", "d")], "231KB", starts_us=[150]),
        ],
        probe=[
            {
                "name": "goodput",
                "kind": "goodput",
                "flows": ["incast", "burst"],
                "interval": "2us",
                "start": "100us",
            },
        ],
        traced=["last"],
        voqs=4,
    )


def _burst_panel(title: str, name: str) -> Panel:
    shown = [
        Line("BurstFlow", seeds.mean_line(name, throughput(_BURST))),
        *(
            Line(f"IncastFlow {flow}", seeds.mean_line(name, throughput(flow)), thin=True)
            for flow in range(_BURST)
        ),
    ]
    return Panel(
        title, "Time (µs)", "Throughput (Gb/s)", shown, x_range=(140, 230), y_range=(0, 100)
    )


_FIRST = (154.0, 160.0)
"""The first samples that are of both: the burst's data arrive from 153 us on."""
_CUT_US = 164.0
"""From when on RCM's first cut is seen at the receiver, on the mean of the seeds."""
_CUT = (_CUT_US, _CUT_US + 20)
"""The first 20 us of it."""


def _in_span(name: str, span: tuple[float, float], *flows: int) -> Measure:
    """The mean over a span, in microseconds, for each seed."""
    return seeds.reading(name, lambda case: mean_since(throughput(*flows)(case), *span))


def _until_its_end(name: str, *flows: int, part: tuple[float, float] = (0, 1)) -> Measure:
    """What flows get on average from then on while the burst's data arrive, for each seed.

    ``part`` is where the span begins and ends, as shares of that time.
    """

    def read(case: str) -> Measure:
        def reading(runs: Runs) -> float:
            times, rates = throughput(_BURST)(case)(runs)
            # Within the interval of this sample the burst ends: the one before is of it alone.
            last = max(index for index, rate in enumerate(rates) if rate > 0)
            begin, end = (_CUT_US + share * (times[last - 1] - _CUT_US) for share in part)
            return single(mean_since(throughput(*flows)(case), begin, end)(runs))

        return reading

    return seeds.reading(name, read)


def _marked(name: str) -> Measure:
    """Packets of the four that the last switch marked, for each seed."""

    def read(case: str) -> Measure:
        def reading(runs: Runs) -> float:
            packets = runs[case].traces["packets"].to_polars()
            marked = packets.filter(
                pl.col("kind") == "data",
                pl.col("ecn") == "congestion",
                pl.col("flow_id") < _BURST,
            )
            came, went = (
                marked.filter(pl.col("event") == event).height for event in ("received", "dequeued")
            )
            return went - came

        return reading

    return seeds.reading(name, read)


_INCASTS = range(_BURST)
_HALVES = {"first half": (0.0, 0.5), "second half": (0.5, 1.0)}
"""A rate that is above in one and below in the other is not kept."""
_MEAN = f"mean of {len(_SEEDS)} seeds"
_WHILE = f"from {_CUT_US:g} us until the burst's last data; {_MEAN}"
FIG6 = Figure(
    id="fig6",
    title="A burst beside four flows, throughput at the last switch",
    cases=lambda reading, _quick: seeds.cases(_SEEDS, COMPARED, partial(_burst, reading)),
    completion_times=False,
    panels=[
        _burst_panel(f"({letter}) {name}, {_MEAN}", name)
        for letter, name in zip("ab", ("RCM", "DCQCN"), strict=True)
    ],
    claims=[
        Claim(
            "half",
            "The burst first takes half of the link, the four an eighth each",
            "50 and 12.5 Gb/s",
            verdict.close(
                {
                    "burst": _in_span("RCM", _FIRST, _BURST),
                    "incast": _in_span("RCM", _FIRST, *_INCASTS),
                },
                {"burst": 50, "incast": 12.5},
                "Gb/s",
            ),
            assumption=f"{_FIRST[0]:g} to {_FIRST[1]:g} us; {_MEAN}; inputs take turns at the "
            "crossbar",
        ),
        Claim(
            "sharply",
            "RCM cuts the burst to a quarter, sharply",
            "25 Gb/s",
            verdict.close({"burst": _in_span("RCM", _CUT, _BURST)}, {"burst": 25}, "Gb/s"),
            assumption=f"{_CUT[0]:g} to {_CUT[1]:g} us; {_MEAN}",
        ),
        Claim(
            "quarter",
            "The burst keeps a quarter until it ends",
            "25 Gb/s",
            verdict.close(
                {half: _until_its_end("RCM", _BURST, part=part) for half, part in _HALVES.items()},
                dict.fromkeys(_HALVES, 25),
                "Gb/s",
            ),
            assumption=f"both halves of the time {_WHILE}",
        ),
        Claim(
            "recover",
            "The four flows recover to their maximum",
            "to their maximum bandwidth",
            verdict.close({"incast": _until_its_end("RCM", *_INCASTS)}, {"incast": 18.75}, "Gb/s"),
            assumption=f"{_WHILE}; the maximum is what a burst of 25 Gb/s leaves, 18.75 Gb/s each",
        ),
        Claim(
            "dcqcn",
            "With DCQCN the burst keeps half of the link",
            "50 Gb/s",
            verdict.close({"burst": _until_its_end("DCQCN", _BURST)}, {"burst": 50}, "Gb/s"),
            assumption=_WHILE,
        ),
        Claim(
            "marked",
            "With DCQCN the four are marked, too, which RCM spares them",
            "DCQCN marks them",
            verdict.highest({name: _marked(name) for name in COMPARED}, "DCQCN", "packets"),
            assumption="packets of the four that the last switch marks, in which nothing waits "
            f"without the burst; {_MEAN}",
        ),
    ],
)
