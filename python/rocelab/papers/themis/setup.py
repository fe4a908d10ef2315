"""What THEMIS's experiments share: the network, the prototype's set, what is read off the runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from rocelab.papers import seeds, setups
from rocelab.papers.model import Measure, Runs

TOPOLOGY: Mapping[str, Any] = {
    "kind": "cross-dc",
    "data_centre": {
        "kind": "leaf-spine",
        "leaves": 4,
        "spines": 4,
        "hosts_per_leaf": 4,
        **setups.links("100Gbps", "1us"),
    },
    "rate": "400Gbps",
    "delay": "1us",
    "wan_rate": "1600Gbps",
    "wan_delay": "500us",
}
"""Figure 1 with the rates of the prototype's topology.txt."""

PROTOTYPE: Mapping[str, Any] = {"name": "themis", "preset": "themis-prototype"}

TAGS = {"Intra-DC": "intra", "Inter-DC": "inter"}
LABELS = {
    **dict.fromkeys(TAGS, "Average FCT slowdown"),
    "Unfairness": "Unfairness (intra / inter)",
}
THREE = tuple(LABELS)


def _slowdown(metric: str) -> Callable[[str], Measure]:
    """Reads the mean slowdown of a kind of responses, or the unfairness, of a case."""

    def read(case: str) -> Measure:
        def reading(runs: Runs) -> float:
            def mean(tag: str) -> float:
                flows = runs[case].flows.to_polars().filter(pl.col("tag") == TAGS[tag])
                return statistics.fmean(flows["slowdown"].drop_nulls())

            return mean("Intra-DC") / mean("Inter-DC") if metric == "Unfairness" else mean(metric)

        return reading

    return read


def of_scheme(scheme: str, metric: str) -> Measure:
    """The slowdown by ``metric`` of a scheme, for each seed."""
    return seeds.reading(scheme, _slowdown(metric))
