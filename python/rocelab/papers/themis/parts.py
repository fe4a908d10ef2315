"""What each part of THEMIS does."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from rocelab.papers import seeds, verdict
from rocelab.papers.measurements import bars
from rocelab.papers.model import Claim, Figure, Panel, Reading
from rocelab.papers.themis.setup import LABELS, PROTOTYPE, TOPOLOGY, of_scheme
from rocelab.scenario import Scenario

_PARTS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    "": {
        "DCQCN": {"name": "dcqcn", "preset": "dcqcn-paper"},
        "NP": {"name": "themis", "preset": "themis", "params": {"react": False}},
        "RP": {"name": "themis", "preset": "themis", "params": {"notify": False}},
        "both": {"name": "themis", "preset": "themis"},
    },
    "prototype, ": {
        "DCQCN": {"name": "dcqcn", "preset": "dcqcn-themis"},
        "NP": {**PROTOTYPE, "params": {"react": False}},
        "RP": {**PROTOTYPE, "params": {"notify": False, "stall_after_requeue": False}},
        "both": {**PROTOTYPE, "params": {"stall_after_requeue": False}},
    },
}
_SIDES = ("near the source", "near the destination")
_SIDED = {
    f"{side}: {form}{part}": (side, form, part)
    for side in _SIDES
    for form, parts in _PARTS.items()
    for part in parts
}


def _hosts(dc: int, *numbers: int) -> list[str]:
    return [f"dc{dc}/h{number}" for number in numbers]


def _one_side(case: str, seed: int) -> Scenario:
    """Two long flows between data centres meet short ones inside at one port of a rack's switch."""
    side, form, part = _SIDED[case]
    near_source = side == _SIDES[0]
    # One spine: the port of a rack towards it, or of it towards a rack, is the bottleneck.
    if near_source:
        long = [("dc0/h0", "dc1/h0"), ("dc0/h1", "dc1/h4")]
        sources, sinks = _hosts(0, 2, 3), _hosts(0, 4, 5, 6, 7)
    else:
        long = [("dc0/h0", "dc1/h0"), ("dc0/h4", "dc1/h1")]
        sources, sinks = _hosts(1, 4, 5, 6, 7), _hosts(1, 2, 3)
    drawn = random.Random(seed)  # noqa: S311
    flows = [
        {"src": src, "dst": dst, "size": "30MB", "tag": "inter", "start": "0us"}
        for src, dst in long
    ]
    at_us = 600.0
    while at_us < 4000:
        flows.append(
            {
                "src": drawn.choice(sources),
                "dst": drawn.choice(sinks),
                "size": "500KB",
                "tag": "intra",
                "start": f"{round(1000 * at_us)}ns",
            }
        )
        at_us += drawn.expovariate(1 / 80)
    inside = {**TOPOLOGY["data_centre"], "leaves": 2, "spines": 1}
    return Scenario(
        name=f"themis-{side}-{form}{part}-{seed}".replace(" ", "-"),
        topology={**TOPOLOGY, "data_centre": inside, "external_buffer": "1GB"},
        scheme=_PARTS[form][part],
        traffic=[{"kind": "flows", "flows": flows}],
        run={"seed": seed},
    )


def _sides(quick: bool) -> Mapping[str, Scenario]:
    return seeds.cases(range(1, 3 if quick else 6), _SIDED, _one_side)


def _parts(side: str, form: str, metric: str) -> dict[str, Reading]:
    return {part: of_scheme(f"{side}: {form}{part}", metric) for part in _PARTS[form]}


_CONSTRUCTED = (
    "the poster has no such experiment: two flows of 30 MB between data centres meet flows of "
    "500 KB inside, one every 80 us on average, at one port of 100 Gb/s"
)


def _mends(side: str, form: str, part: str, reason: str = "") -> Claim:
    readings = {name: _parts(side, form, "Intra-DC")[name] for name in ("DCQCN", part)}
    what = {
        "NP": "The notification point alone speeds",
        "RP": "The reaction point alone speeds",
        "both": "Both together speed",
    }[part]
    return Claim(
        f"{part.lower()}-{side.split()[-1]}-{'prototype' if form else 'poster'}",
        f"{what} up flows inside that meet others {side}" + (", prototype" if form else ""),
        "",
        verdict.lowest(readings, part, ""),
        assumption=_CONSTRUCTED,
        reason=reason,
        expected=f"{part} lower",
    )


_NO_TIME = (
    "the prototype's round takes no time of its own: where nothing waits at the external switch's "
    "port, or only blocked packets, its reaction point changes nothing"
)


ABLATION = Figure(
    id="ablation",
    title="Notification point, reaction point and both, by where the congestion is",
    cases=_sides,
    quick="two seeds in place of five",
    panels=[
        Panel(
            f"({letter}) {metric}, congestion {side}",
            "",
            LABELS[metric],
            [
                bars("prototype" if form else "poster's form", _parts(side, form, metric))
                for form in _PARTS
            ],
        )
        for letter, (metric, side) in zip(
            "abcd",
            [(metric, side) for metric in ("Intra-DC", "Unfairness") for side in _SIDES],
            strict=True,
        )
    ],
    claims=[
        _mends(_SIDES[0], "", "NP"),
        _mends(_SIDES[1], "", "RP"),
        _mends(_SIDES[0], "", "both"),
        _mends(_SIDES[1], "", "both"),
        _mends(_SIDES[0], "prototype, ", "NP"),
        _mends(_SIDES[1], "prototype, ", "RP", _NO_TIME),
        _mends(_SIDES[0], "prototype, ", "both"),
        _mends(_SIDES[1], "prototype, ", "both", _NO_TIME),
    ],
)
