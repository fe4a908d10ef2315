"""Tables 1 and 2: the prototype's experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from rocelab.papers import seeds, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.measurements import bars
from rocelab.papers.model import Claim, Figure, Measure, Panel
from rocelab.papers.themis import decisions as decided
from rocelab.papers.themis.published import Flows
from rocelab.papers.themis.setup import LABELS, PROTOTYPE, THREE, TOPOLOGY, of_scheme
from rocelab.scenario import Scenario


def _both(metric: str) -> dict[str, Measure]:
    return {name: of_scheme(name, metric) for name in ("DCQCN", "HPCC")}


_HPCC: Mapping[str, Any] = {
    "min_rate": "100Mbps",
    "rate_ai": "50Mbps",
    "int_multi": 1,
    "max_hops": 10,
}
_POSTERS_FORM: Mapping[str, Any] = {
    "switch_variant": "paper",
    "notify_interval": "50us",
    "stall_after_requeue": False,
}


def _scheme(reading: Reading, name: str) -> dict[str, Any]:
    """What the prototype ran, in a reading."""
    if name == "DCQCN":
        return {"name": "dcqcn", "preset": "dcqcn-themis"}
    if name == "HPCC":
        params = dict(_HPCC)
        for decision in (decided.INT, decided.HPCC_RTT):
            params |= reading.of(decision)
        return {"name": "hpcc", "preset": "hpcc-ns3", "params": params}
    if reading.of(decided.FORM) == "poster":
        return {**PROTOTYPE, "params": dict(_POSTERS_FORM)}
    params = dict(reading.of(decided.STALL))
    return {**PROTOTYPE, "params": params} if params else dict(PROTOTYPE)


_QUIRKS = (
    "whole_nanoseconds",
    "ns3_ecmp_hash",
    "one_way_rtt",
    "silent_duplicates",
    "scan_queue_pairs",
    "missed_wakeup",
    "stale_scan_index",
    "threshold_wraparound",
    "ns3_ecn_draws",
    "ns3_tie_order",
)


_DRAWN: Mapping[str, Any] = {
    "kind": "request-response",
    "workload": "WebSearch",
    "request_size": "0B",
    "load": 1.0,
    "destination_mix": "quota",
    "duration": "10ms",
}


def _experiment(reading: Reading, traffic: Mapping[str, Any], scheme: str, seed: int) -> Scenario:
    """What the prototype ran with its settings."""
    return Scenario(
        name=f"themis-{scheme}-{seed}",
        # With 200 MiB and a headroom of 300 MB its external switches never pause anybody.
        topology={**TOPOLOGY, "external_buffer": "200MiB"},
        scheme=_scheme(reading, scheme),
        traffic=[traffic],
        wire={"profile": "hpcc-ns3", "payload": "1KB"},
        host={"retransmit_timeout": "never", "nack_interval": "500us"},
        switch={"buffer": "33554432B"},
        pfc={
            "threshold": "dynamic",
            "alpha": 0.125,
            "resume_offset": "3072B",
            "reserve": "4096B",
            "headroom": "3bdp",
        },
        classes={"ack": "data", "lossless": [3], "strict": [6]},
        quirks={**dict.fromkeys(_QUIRKS, True), "rate_scaled_alpha": "100Gbps"},
        run={"seed": seed, "stop": "2s"},
    )


_DRAWS, _PUBLISHED_SEEDS = 20, 5


def _experiments(
    published: Flows | None, schemes: Sequence[str]
) -> Callable[[Reading, bool], Mapping[str, Scenario]]:
    """The runs of a table; of the flows in ``published`` in readings that take those."""

    def cases(reading: Reading, quick: bool) -> Mapping[str, Scenario]:
        traffic, count = _DRAWN, _DRAWS
        if reading.of(decided.FLOWS):
            assert published is not None, "the reading is there with its flows alone"  # noqa: S101
            traffic, count = {"kind": "flows", "flows": published}, _PUBLISHED_SEEDS
        of_one = partial(_experiment, reading, traffic)
        return seeds.cases(range(1, 2 if quick else count + 1), schemes, of_one)

    return cases


_ONE_DRAW = f"one draw of flows in place of {_DRAWS}"


_TABLES: Mapping[str, Mapping[str, float]] = {
    "DCQCN": {"Intra-DC": 33.179, "Inter-DC": 1.7787, "Unfairness": 18.654},
    "HPCC": {"Intra-DC": 56.946, "Inter-DC": 2.3561, "Unfairness": 24.170},
    "THEMIS": {"Intra-DC": 12.389, "Inter-DC": 1.9116, "Unfairness": 6.4810},
}


def _table_panels(schemes: Sequence[str]) -> list[Panel]:
    return [
        Panel(
            f"({letter}) {metric}",
            "",
            LABELS[metric],
            [
                bars("poster", {name: _constant(_TABLES[name][metric]) for name in schemes}),
                bars("here", {name: of_scheme(name, metric) for name in schemes}),
            ],
        )
        for letter, metric in zip("abc", THREE, strict=True)
    ]


def _constant(value: float) -> Measure:
    return lambda _runs: value


_FLOWS = f"mean of {_DRAWS} draws of flows (quick version: one), as the prototype's were drawn"


def _table_claims(scheme: str) -> list[Claim]:
    return [
        Claim(
            f"{scheme.lower()}-{metric.split('-')[0].lower()}",
            f"{metric} with {_LONG[scheme]}",
            f"{_TABLES[scheme][metric]:g}",
            verdict.close(
                {metric: of_scheme(scheme, metric)}, {metric: _TABLES[scheme][metric]}, ""
            ),
            assumption=_FLOWS,
        )
        for metric in THREE
    ]


_LONG = {"DCQCN": "DCQCN", "HPCC": "HPCC", "THEMIS": "DCQCN and THEMIS"}
PERCENT = {
    metric: 100 * (_TABLES["THEMIS"][metric] / _TABLES["DCQCN"][metric] - 1) for metric in THREE
}
"""What THEMIS changes, in table 2."""


_CLAIMS_1 = [
    Claim(
        "suppressed",
        "Flows inside suffer more than those between the data centres",
        "unfairness of 18.7 and 24.2",
        verdict.above(_both("Unfairness"), 5, ""),
        assumption=f"well above 1 is above 5; {_FLOWS}",
    ),
    Claim(
        "hpcc-worse-intra",
        "With HPCC flows inside are slower than with DCQCN",
        "56.9 against 33.2",
        verdict.lowest(_both("Intra-DC"), "DCQCN", ""),
        assumption=_FLOWS,
    ),
    Claim(
        "hpcc-worse",
        "HPCC is more unfair than DCQCN",
        "24.2 against 18.7",
        verdict.lowest(_both("Unfairness"), "DCQCN", ""),
        assumption=_FLOWS,
    ),
    *_table_claims("DCQCN"),
    *_table_claims("HPCC"),
]
_CLAIMS_2 = [
    *(
        Claim(
            f"change-{metric.split('-')[0].lower()}",
            f"{metric} against DCQCN",
            f"{PERCENT[metric]:+.1f} %",
            verdict.change(
                of_scheme("THEMIS", metric), of_scheme("DCQCN", metric), PERCENT[metric], ""
            ),
            assumption=_FLOWS,
        )
        for metric in THREE
    ),
    *_table_claims("THEMIS"),
]


def tables(published: Flows | None = None) -> tuple[Figure, Figure]:
    """Both; with the published flows also for the reading that takes them."""

    def table(number: int, what: str, schemes: Sequence[str], claims: Sequence[Claim]) -> Figure:
        return Figure(
            id=f"tab{number}",
            title=f"FCT slowdown within and between data centres {what}",
            cases=_experiments(published, schemes),
            quick=_ONE_DRAW,
            panels=_table_panels(schemes),
            columns=3,
            claims=claims,
        )

    return (
        table(1, "without THEMIS", ("DCQCN", "HPCC"), _CLAIMS_1),
        table(2, "with THEMIS's prototype", ("DCQCN", "THEMIS"), _CLAIMS_2),
    )
