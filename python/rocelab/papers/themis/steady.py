"""Requests and responses of both kinds throughout."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from rocelab.papers import by_load, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.measurements import warmed_up
from rocelab.papers.model import Claim, Figure, Measure, Runs
from rocelab.papers.themis.setup import LABELS, PROTOTYPE, TAGS, THREE, TOPOLOGY
from rocelab.result import Result
from rocelab.scenario import Scenario

_LOADS = (50, 70, 90)
"""In per cent."""
_WORKLOAD = "WebSearch"
_SHORT = "DCQCN, 2 km"
STEADY: Mapping[str, dict[str, Any]] = {
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-paper"},
    "THEMIS": {"name": "themis", "preset": "themis"},
    "Annulus": {"name": "annulus", "preset": "annulus"},
    _SHORT: {"name": "dcqcn", "preset": "dcqcn-paper"},
    "DCQCN, prototype's set": {"name": "dcqcn", "preset": "dcqcn-themis"},
    "THEMIS prototype": {**PROTOTYPE, "params": {"stall_after_requeue": False}},
}


def _steady(ms: int, load: int, seed: int, scheme: str) -> Scenario:
    topology = {**TOPOLOGY, "external_buffer": "1GB"}
    if scheme == _SHORT:
        # The shortest that counts as a link between data centres.
        topology["wan_delay"] = "10us"
    return Scenario(
        name=f"themis-steady-{scheme}-{load / 100:g}-{seed}",
        topology=topology,
        scheme=STEADY[scheme],
        traffic=[
            {
                "kind": "request-response",
                "workload": _WORKLOAD,
                "load": load / 100,
                "duration": f"{ms}ms",
            }
        ],
        run={"seed": seed},
    )


def _steadies(_reading: Reading, quick: bool) -> Mapping[str, Scenario]:
    ms, count = (2, 1) if quick else (5, 5)
    return by_load.cases(
        (_WORKLOAD,),
        _LOADS,
        count,
        tuple(STEADY),
        lambda _workload, load, seed, scheme: _steady(ms, load, seed, scheme),
    )


def _settled(run: Result, tag: str) -> pl.DataFrame:
    """Responses of a kind that arrived after the first tenth of the time."""
    flows = warmed_up(run.flows.to_polars().drop_nulls("slowdown"))
    return flows.filter(pl.col("tag") == TAGS[tag])


def _steady_slowdown(metric: str) -> Callable[[str], Measure]:
    """Reads the slowdown by ``metric`` off a case, without the first responses."""

    def read(case: str) -> Measure:
        def mean(runs: Runs, tag: str) -> float:
            flows = _settled(runs[case], tag)
            if case.endswith(f" {_SHORT}") and tag == "Inter-DC":
                # The time lost there on top of what the same flow takes alone over the long link.
                long = runs[case.removesuffix(_SHORT) + "DCQCN"].flows.to_polars()
                ideal = long.select("flow_id", "ideal_fct_ps")
                both = flows.join(ideal, on="flow_id", suffix="_long")
                lost = both["fct_ps"].cast(pl.Float64) - both["ideal_fct_ps"]
                return statistics.fmean(1 + lost / both["ideal_fct_ps_long"])
            return statistics.fmean(flows["slowdown"])

        def reading(runs: Runs) -> float:
            if metric == "Unfairness":
                return mean(runs, "Intra-DC") / mean(runs, "Inter-DC")
            return mean(runs, metric)

        return reading

    return read


def _ratio(load: int, new: str, old: str, metric: str) -> Measure:
    """``new`` over ``old``, seed by seed."""
    read = _steady_slowdown(metric)

    def reading(runs: Runs) -> list[float]:
        news, olds = (by_load.at_load(_WORKLOAD, load, scheme, read)(runs) for scheme in (new, old))
        return [a / b for a, b in zip(news, olds, strict=True)]

    return reading


def _ratios(new: str, old: str, metric: str) -> Mapping[str, Measure]:
    return {f"load {load / 100:g}:": _ratio(load, new, old, metric) for load in _LOADS}


_PAIRS = {"THEMIS": "DCQCN", "THEMIS prototype": "DCQCN, prototype's set"}
_WARM = (
    "the poster shows one load alone, about 0.96, with all flows between data centres at the "
    "beginning; means over the seeds of the quotients, the first tenth of the arrivals left out"
)


def _compared(new: str) -> list[Claim]:
    old, name = _PAIRS[new], new.lower().replace(" ", "-")
    return [
        Claim(
            f"{name}-less-unfair",
            f"{new} is less unfair than {old}",
            "",
            verdict.below(_ratios(new, old, "Unfairness"), 1, "of DCQCN's unfairness"),
            assumption=_WARM,
            expected="below 1, as 6.48 against 18.7 in the poster's table",
        ),
        Claim(
            f"{name}-half",
            f"{new} has at most half of the unfairness",
            "",
            verdict.below(_ratios(new, old, "Unfairness"), 0.5, "of DCQCN's unfairness"),
            assumption=_WARM,
            expected="below 0.5, as 0.347 of DCQCN's in the poster's table",
        ),
        Claim(
            f"{name}-cost",
            f"{new} slows flows between data centres by less than 15 %",
            "",
            verdict.below(_ratios(new, old, "Inter-DC"), 1.15, "times DCQCN's"),
            assumption=_WARM,
            expected="below 1.15, as 1.07 times DCQCN's in the poster's table",
        ),
    ]


STEADY_FIGURE = Figure(
    id="steady",
    title="Requests and responses, one response of six between data centres",
    cases=_steadies,
    quick="2 ms in place of 5, one seed in place of five",
    columns=3,
    panels=[
        by_load.panel(
            f"({letter}) {metric}",
            LABELS[metric],
            _WORKLOAD,
            STEADY,
            _steady_slowdown(metric),
            y_range=(1.0, 1.3) if metric == "Inter-DC" else None,
        )
        for letter, metric in zip("abc", THREE, strict=True)
    ],
    claims=[
        Claim(
            "equal-loops",
            "THEMIS is as fair as DCQCN where the data centres are 2 km apart, or fairer",
            "",
            verdict.below(_ratios("THEMIS", _SHORT, "Unfairness"), 1.15, "of DCQCN's over 2 km"),
            assumption="the poster shows no such network; there flows between data centres count "
            "with what they take alone over 100 km; 15 % more is as fair",
            expected="below 1.15, as the poster aims at an equal feedback loop for both kinds",
        ),
        *_compared("THEMIS"),
        *_compared("THEMIS prototype"),
    ],
)
