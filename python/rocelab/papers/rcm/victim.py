"""Figure 7: an incast of four and a victim that shares one of its uplinks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rocelab.papers import seeds, setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.measurements import bars, mean_since
from rocelab.papers.model import Claim, Figure, Measure, Panel
from rocelab.papers.rcm.setup import COMPARED, RATE, custom, scenario, throughput
from rocelab.scenario import Scenario

SEEDS = (40, 84, 86, 103, 112, 151, 160, 186)
"""With these ECMP takes S1, S2 and Sv to one aggregation switch, S3 and S4 to the other."""
_INCAST = ("S1", "S2", "S3", "S4")
SENDERS = (*_INCAST, "Sv")


def victim(reading: Reading, scheme: str, seed: int) -> Scenario:
    """S1 to S4 send to D0 by two uplinks, Sv to Dv by one of them."""
    ends = [(host, "tor0") for host in SENDERS] + [(host, "tor1") for host in ("D0", "Dv")]
    ends += [(tor, agg) for tor in ("tor0", "tor1") for agg in ("agg0", "agg1")]
    return scenario(
        reading,
        scheme,
        "victim",
        seed,
        "5001us",
        topology=custom(
            (*SENDERS, "D0", "Dv"),
            {"tor0": 1, "tor1": 1, "agg0": 2, "agg1": 2},
            [(a, b, RATE) for a, b in ends],
        ),
        traffic=[setups.flows("all", [(host, "Dv" if host == "Sv" else "D0") for host in SENDERS])],
        probe=[{"name": "goodput", "kind": "goodput", "flows": ["all"], "interval": "50us"}],
        voqs=4,
    )


_VICTIMS = ("PFC alone", *COMPARED)
_BEGIN_US = 1000.0
_LONG_MEAN = f"mean from 1 to 5 ms and of {len(SEEDS)} seeds"


def of_sender(scheme: str, flow: int) -> Measure:
    """What one of the senders gets, for each seed."""
    return seeds.reading(scheme, lambda case: mean_since(throughput(flow)(case), _BEGIN_US))


def _of_victim(scheme: str) -> Measure:
    return of_sender(scheme, SENDERS.index("Sv"))


def _senders_panel(title: str, names: Sequence[str]) -> Panel:
    shown = [
        bars(name, {host: of_sender(name, flow) for flow, host in enumerate(SENDERS)})
        for name in names
    ]
    return Panel(title, "Sender", "Throughput (Gb/s)", shown)


FIG7 = Figure(
    id="fig7",
    title="An incast of four and a victim that shares one of its uplinks",
    cases=lambda reading, _quick: seeds.cases(SEEDS, _VICTIMS, partial(victim, reading)),
    completion_times=False,
    panels=[
        _senders_panel("(b) Mean from 1 to 5 ms", _VICTIMS),
    ],
    claims=[
        Claim(
            "pfc",
            "With PFC alone the victim gets no more than the flows of the incast",
            "about 25 Gb/s",
            verdict.close({"Sv": _of_victim("PFC alone")}, {"Sv": 25}, "Gb/s"),
            assumption=_LONG_MEAN,
        ),
        Claim(
            "dcqcn",
            "With DCQCN, whose loop is slow, it is the same",
            "about 25 Gb/s",
            verdict.close({"Sv": _of_victim("DCQCN")}, {"Sv": 25}, "Gb/s"),
            assumption=_LONG_MEAN,
        ),
        Claim(
            "rcm",
            "With RCM the victim gets what the incast leaves of its uplink",
            "nearly 50 Gb/s",
            verdict.close({"Sv": _of_victim("RCM")}, {"Sv": 50}, "Gb/s"),
            assumption=_LONG_MEAN,
        ),
        Claim(
            "incast",
            "With RCM each flow of the incast gets a quarter of its receiver's link",
            "25 Gb/s",
            verdict.close(
                {host: of_sender("RCM", flow) for flow, host in enumerate(_INCAST)},
                dict.fromkeys(_INCAST, 25),
                "Gb/s",
            ),
            assumption=f"what the paper calls ideal, and says RCM can achieve; {_LONG_MEAN}",
        ),
        Claim(
            "order",
            "The victim gets more with RCM than with DCQCN and with PFC alone",
            "RCM highest",
            verdict.highest(
                {name: _of_victim(name) for name in ("PFC alone", "DCQCN", "RCM")}, "RCM", "Gb/s"
            ),
            assumption=_LONG_MEAN,
        ),
    ],
)
