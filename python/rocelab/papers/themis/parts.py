"""What each part of THEMIS does."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rocelab.papers import seeds, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.measurements import bars
from rocelab.papers.model import Claim, Figure, Measure, Panel, Runs
from rocelab.papers.themis import decisions as decided
from rocelab.papers.themis.prototype import PERCENT
from rocelab.papers.themis.setup import LABELS, PROTOTYPE, TOPOLOGY, of_scheme
from rocelab.scenario import Scenario

_PARTS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    "poster": {
        "DCQCN": {"name": "dcqcn", "preset": "dcqcn-paper"},
        "NP": {"name": "themis", "preset": "themis", "params": {"react": False}},
        "RP": {"name": "themis", "preset": "themis", "params": {"notify": False}},
        "THEMIS": {"name": "themis", "preset": "themis"},
        "Annulus": {"name": "annulus", "preset": "annulus"},
    },
    "prototype": {
        "DCQCN": {"name": "dcqcn", "preset": "dcqcn-themis"},
        "NP": {**PROTOTYPE, "params": {"react": False}},
        "RP": {**PROTOTYPE, "params": {"notify": False, "stall_after_requeue": False}},
        "THEMIS": {**PROTOTYPE, "params": {"stall_after_requeue": False}},
        "Annulus": {"name": "annulus", "preset": "annulus-themis"},
    },
}
_NAMES = tuple(_PARTS["poster"])
_SIDES = ("near the source", "near the destination")
_SIDED = {f"{side}: {name}": (side, name) for side in _SIDES for name in _NAMES}


def _hosts(dc: int, *numbers: int) -> list[str]:
    return [f"dc{dc}/h{number}" for number in numbers]


def _one_side(reading: Reading, case: str, seed: int) -> Scenario:
    """Two long flows between data centres meet short ones inside at one port of a rack's switch."""
    side, name = _SIDED[case]
    form = reading.of(decided.FORM)
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
        name=f"themis-{side}-{form}-{name}-{seed}".replace(" ", "-"),
        topology={**TOPOLOGY, "data_centre": inside, "external_buffer": "1GB"},
        scheme=_PARTS[form][name],
        traffic=[{"kind": "flows", "flows": flows}],
        run={"seed": seed},
    )


def _sides(reading: Reading, quick: bool) -> Mapping[str, Scenario]:
    return seeds.cases(range(1, 3 if quick else 6), _SIDED, partial(_one_side, reading))


def _of(side: str, metric: str, names: Sequence[str] = _NAMES) -> dict[str, Measure]:
    return {name: of_scheme(f"{side}: {name}", metric) for name in names}


_CONSTRUCTED = (
    "the poster shows no such run: two flows of 30 MB between data centres meet flows of 500 KB "
    "inside, one every 80 us on average, at one port of 100 Gb/s"
)


_INVERSE = (
    "where flows between data centres suffer more than those inside, it is the inverse that counts"
)

_NO_ROUND = {
    _SIDES[
        1
    ]: "the prototype's packets go round a queue, which takes time only where others wait at "
    "the external switch's port into the data centre; here they wait at a rack's, so its reaction "
    "point changes nothing"
}
"""Why the prototype's form, the headline's, does not help there."""


def _part(side: str, name: str, what: str) -> Claim:
    return Claim(
        f"{name.lower()}-{side.split()[-1]}",
        f"The {what} alone speeds up flows inside that meet others {side}",
        "",
        verdict.lowest(_of(side, "Intra-DC", ("DCQCN", name)), name, ""),
        assumption=_CONSTRUCTED,
        reason=_NO_ROUND.get(side, ""),
        expected=f"{name} lower",
    )


def _uneven(side: str, name: str) -> Measure:
    """How many times as much the kind of flows suffers that suffers more, for each seed."""

    def measure(runs: Runs) -> list[float]:
        values = of_scheme(f"{side}: {name}", "Unfairness")(runs)
        assert isinstance(values, list), "a value for each seed"  # noqa: S101
        return [max(value, 1 / value) for value in values]

    return measure


def _annulus_to_dcqcn(runs: Runs) -> list[float]:
    """The unfairness near the destination, seed by seed."""
    both = _of(_SIDES[1], "Unfairness", ("Annulus", "DCQCN"))
    ours, theirs = (measure(runs) for measure in both.values())
    assert isinstance(ours, list), "a value for each seed"  # noqa: S101
    assert isinstance(theirs, list), "a value for each seed"  # noqa: S101
    return [a / b for a, b in zip(ours, theirs, strict=True)]


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
            [bars("here", _of(side, metric))],
        )
        for letter, (metric, side) in zip(
            "abcd",
            [(metric, side) for metric in ("Intra-DC", "Unfairness") for side in _SIDES],
            strict=True,
        )
    ],
    claims=[
        *(
            Claim(
                f"themis-{side.split()[-1]}",
                f"THEMIS mitigates the unfairness {side}",
                f"significantly: {PERCENT['Unfairness']:.1f} % in table 2",
                verdict.change(
                    _uneven(side, "THEMIS"), _uneven(side, "DCQCN"), PERCENT["Unfairness"], ""
                ),
                assumption=f"{_INVERSE}; {_CONSTRUCTED}",
                reason=_NO_ROUND.get(side, ""),
            )
            for side in _SIDES
        ),
        Claim(
            "np-destination",
            "The notification point alone does not resolve the unfairness near the destination",
            "cannot fully resolve",
            verdict.above({"": of_scheme(f"{_SIDES[1]}: NP", "Unfairness")}, 1, ""),
            assumption=f"above 1, where both kinds are slowed alike; {_CONSTRUCTED}",
        ),
        Claim(
            "annulus-destination",
            "Annulus cannot address unfairness near the destination",
            "not less unfair than DCQCN",
            verdict.above({"": _annulus_to_dcqcn}, 0.85, "of DCQCN's unfairness"),
            assumption=f"not lower by more than 15 %, over the same DCQCN; {_CONSTRUCTED}",
        ),
        _part(_SIDES[0], "NP", "notification point"),
        _part(_SIDES[1], "RP", "reaction point"),
    ],
)
