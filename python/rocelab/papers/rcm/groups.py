"""Figure 9: completion times within groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import polars as pl

from rocelab.papers import by_load, setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.measurements import bars, warmed_up
from rocelab.papers.model import Claim, Figure, Measure, Panel, Runs, Value
from rocelab.papers.rcm.setup import COMPARED, DELAY, RATE, scenario
from rocelab.scenario import Scenario
from rocelab.series import US

_WORKLOADS = ("Enterprise", "DataMining")


def _groups(
    reading: Reading, quick: bool, workload: str, load: int, seed: int, scheme: str
) -> Scenario:
    """Hosts send within their group, which is a pod."""
    k = 4 if quick else 12
    # Long enough for many elephants.
    arrive_ms = 10 if workload == "Enterprise" else 40
    return scenario(
        reading,
        scheme,
        f"groups-{workload}",
        seed,
        None,
        topology=setups.fat_tree(k, RATE, DELAY),
        traffic=[
            {
                "kind": "poisson",
                "tag": workload,
                "workload": workload,
                "load": load / 100,
                "groups": k,
                "duration": f"{arrive_ms}ms",
            }
        ],
        voqs=k,
    )


def _fct_us(low: float, high: float) -> Callable[[str], Measure]:
    """Reads the mean completion time of flows of these sizes."""

    def read(case: str) -> Measure:
        def reading(runs: Runs) -> Value:
            flows = warmed_up(runs[case].flows.to_polars())
            of_size = flows.filter(pl.col("size_bytes").is_between(low, high))
            found = of_size.select(pl.col("fct_ps").mean()).item()
            return float("nan") if found is None else float(found) / US

        return reading

    return read


_CLASSES: Mapping[str, tuple[float, float]] = {
    "all": (0, 1e12),
    "< 1 MB": (0, 1e6 - 1),
    "1-10 MB": (1e6, 1e7),
    "> 10 MB": (1e7 + 1, 1e12),
}
_ALL_END = f"arrivals for 10 ms, of data mining for 40; until all flows have ended; {by_load.WARM}"


_INJECTED = 60


def _of_size(workload: str, name: str, size: str) -> Callable[[Runs], list[float]]:
    return by_load.at_load(workload, _INJECTED, name, _fct_us(*_CLASSES[size]))


def _percent(workload: str, name: str, size: str) -> Measure:
    """Of DCQCN's, seed by seed."""

    def reading(runs: Runs) -> list[float]:
        ours, theirs = (_of_size(workload, one, size)(runs) for one in (name, "DCQCN"))
        return [100 * (a / b) for a, b in zip(ours, theirs, strict=True)]

    return reading


FIG9 = Figure(
    id="fig9",
    title="Average FCT within groups at 60 % injection",
    cases=lambda reading, quick: by_load.cases(
        _WORKLOADS, (_INJECTED,), 3, COMPARED, partial(_groups, reading, quick)
    ),
    quick="16 hosts in place of 432",
    panels=[
        *(
            Panel(
                f"({letter}) {workload}",
                "Flow size",
                "Mean FCT (µs)",
                [
                    bars(name, {size: _of_size(workload, name, size) for size in _CLASSES})
                    for name in COMPARED
                ],
                log_y=True,
            )
            for letter, workload in zip("ab", _WORKLOADS, strict=True)
        ),
        *(
            Panel(
                f"{workload}, of DCQCN's mean FCT",
                "Flow size",
                "Mean FCT (%)",
                [
                    bars(name, {size: _percent(workload, name, size) for size in _CLASSES})
                    for name in COMPARED
                ],
            )
            for workload in _WORKLOADS
        ),
    ],
    claims=[
        claim
        for workload in _WORKLOADS
        for claim in (
            Claim(
                f"{workload.lower()}-all",
                f"{workload}: all flows are faster",
                "lower; no number",
                verdict.lowest(
                    {name: _of_size(workload, name, "all") for name in COMPARED}, "RCM", "us"
                ),
                assumption=_ALL_END,
            ),
            Claim(
                f"{workload.lower()}-mice",
                f"{workload}: mice are faster by more than 10 %",
                "> 10 %",
                verdict.by_more_than(
                    _of_size(workload, "RCM", "< 1 MB"),
                    _of_size(workload, "DCQCN", "< 1 MB"),
                    -10,
                    "us",
                ),
                assumption=_ALL_END,
            ),
            Claim(
                f"{workload.lower()}-elephants",
                f"{workload}: elephants are hardly touched",
                "little impact",
                verdict.agree(
                    {name: _of_size(workload, name, "> 10 MB") for name in COMPARED}, "us"
                ),
                assumption=_ALL_END,
            ),
        )
    ]
    + [
        Claim(
            "datamining-more",
            "Data mining gains more than enterprise",
            "DataMining further below DCQCN",
            # Who is above DCQCN gains nothing, however much more the other loses.
            verdict.lowest(
                {
                    "DataMining": _percent("DataMining", "RCM", "all"),
                    "Enterprise": _percent("Enterprise", "RCM", "all"),
                    "DCQCN": _percent("DataMining", "DCQCN", "all"),
                },
                "DataMining",
                "% of DCQCN's mean FCT",
            ),
            assumption=f"all sizes; seed by seed; {_ALL_END}",
        )
    ],
)
