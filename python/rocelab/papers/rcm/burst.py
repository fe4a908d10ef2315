"""Figure 6: a burst beside four flows."""

from __future__ import annotations

from rocelab.papers import seeds, setups, verdict
from rocelab.papers.model import Claim, Figure, Line, Panel
from rocelab.papers.rcm.setup import RATE, custom, in_span, scenario, throughput
from rocelab.scenario import Scenario

_INCAST = ("i0", "i1", "i2", "i3")


_SEEDS = range(1, 17)
"""What the samples hit upon makes the burst's share 15 to 40 Gb/s, run by run."""


def _burst(scheme: str, seed: int) -> Scenario:
    """Four flows by one port of the last switch, a burst of 20 us by another."""
    near = [(host, "near", "25Gbps") for host in _INCAST]
    rest = [("b", "far", RATE)]
    rest += [(end, "last", RATE) for end in ("near", "far", "d")]
    return scenario(
        scheme,
        "burst",
        seed,
        "221us",
        topology=custom((*_INCAST, "b", "d"), {"near": 1, "far": 1, "last": 1}, [*near, *rest]),
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
    )


def _burst_panel(title: str, name: str) -> Panel:
    shown = [
        Line("BurstFlow", seeds.mean_line(name, throughput(4))),
        *(
            Line(f"IncastFlow {flow}", seeds.mean_line(name, throughput(flow)), thin=True)
            for flow in range(4)
        ),
    ]
    return Panel(title, "Time (us)", "Throughput (Gb/s)", shown, x_range=(140, 200))


_FIRST = (155.0, 160.0)
_THEN = (164.0, 180.0)
_MEAN = f"mean of {len(_SEEDS)} seeds"
_FIG6_SCHEMES = ("RCM", "DCQCN", "RCM to the letter", "RCM, Q_eq 16 KB")

FIG6 = Figure(
    id="fig6",
    title="A burst beside four flows, throughput at the last switch",
    cases=lambda _quick: seeds.cases(_SEEDS, _FIG6_SCHEMES, _burst),
    completion_times=False,
    panels=[
        _burst_panel(f"({letter}) {name}, {_MEAN}", name)
        for letter, name in zip("abcd", _FIG6_SCHEMES, strict=True)
    ],
    claims=[
        Claim(
            "half",
            "The burst first takes half of the link, the four an eighth each",
            "50 and 12.5 Gb/s",
            verdict.close(
                {
                    "burst": in_span("RCM", _FIRST, 4),
                    "incast": in_span("RCM", _FIRST, 0, 1, 2, 3),
                },
                {"burst": 50, "incast": 12.5},
                "Gb/s",
            ),
            assumption=f"155 to 160 us; {_MEAN}; inputs take turns at the crossbar",
        ),
        Claim(
            "quarter",
            "RCM cuts the burst to a quarter",
            "25 Gb/s",
            verdict.close({"burst": in_span("RCM", _THEN, 4)}, {"burst": 25}, "Gb/s"),
            assumption=f"164 to 180 us; {_MEAN}",
        ),
        Claim(
            "recover",
            "The four flows recover to what the burst leaves",
            "18.75 Gb/s each",
            verdict.close({"incast": in_span("RCM", _THEN, 0, 1, 2, 3)}, {"incast": 18.75}, "Gb/s"),
            assumption=f"164 to 180 us; {_MEAN}",
        ),
        Claim(
            "saturated",
            "The same with Q_eq = 16 KB, where a full queue has the greatest Fb",
            "25 and 18.75 Gb/s",
            verdict.close(
                {
                    "burst": in_span("RCM, Q_eq 16 KB", _THEN, 4),
                    "incast": in_span("RCM, Q_eq 16 KB", _THEN, 0, 1, 2, 3),
                },
                {"burst": 25, "incast": 18.75},
                "Gb/s",
            ),
            assumption=f"164 to 180 us; {_MEAN}",
        ),
        Claim(
            "dcqcn",
            "With DCQCN the burst keeps half of the link",
            "50 Gb/s",
            verdict.close({"burst": in_span("DCQCN", _THEN, 4)}, {"burst": 50}, "Gb/s"),
            assumption=f"164 to 180 us; {_MEAN}",
        ),
        Claim(
            "letter",
            "With any flow in the CAM harmful, too, RCM cuts the burst",
            "25 Gb/s",
            verdict.close({"burst": in_span("RCM to the letter", _THEN, 4)}, {"burst": 25}, "Gb/s"),
            assumption=f"164 to 180 us; {_MEAN}; the paper's sections 3.3 and 3.4 to the letter",
            reason="all five flows are in a CAM of 16 entries and all are held, so that the link "
            "idles until a window is over, and each sample cuts Wc anew; the burst has 36.7 Gb/s "
            "where samples cut what was measured, and 46.1 where a root lets held flows go",
        ),
    ],
)
