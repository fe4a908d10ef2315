"""Figure 8: hot spots in a fat tree."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import polars as pl

from rocelab import _format
from rocelab.papers import by_load, setups, verdict
from rocelab.papers.model import Claim, Figure, Reading, Runs, Value
from rocelab.papers.rcm.setup import COMPARED, DELAY, RATE, scenario
from rocelab.result import Result
from rocelab.scenario import Scenario
from rocelab.series import US

_SIZES = [[32_000, 0.0], [96_000, 1.0]]
_HOT = "hot"
_LOADS = (40, 60, 80)
"""In per cent."""


def _hot_spot(quick: bool, _workload: str, percent: int, seed: int, scheme: str) -> Scenario:
    """85 % to all, 15 % to every eighth host."""
    k, load = 4 if quick else 12, percent / 100
    hot = [f"h{host}" for host in range(0, k**3 // 4, 8)]
    arrive = {"kind": "poisson", "cdf": _SIZES, "duration": "1ms" if quick else "300us"}
    return scenario(
        scheme,
        f"hot-{load:g}",
        seed,
        None,
        topology=setups.fat_tree(k, RATE, DELAY),
        traffic=[
            {**arrive, "tag": "background", "load": 0.85 * load},
            {**arrive, "tag": "hot", "load": 0.15 * load, "receivers": hot},
        ],
    )


def _late(run: Result) -> tuple[float, float]:
    """The last three quarters of the time in which messages arrive, in ps."""
    end_ps = _format.picoseconds(run.scenario.to_dict()["traffic"][0]["duration"])
    return end_ps / 4, end_ps


def _of(run: Result, tags: Sequence[str]) -> pl.DataFrame:
    return run.flows.to_polars().filter(pl.col("tag").is_in(tags))


def _delivered(*tags: str) -> Callable[[str], Reading]:
    """Reads what the messages carried that ended in that time, in Gb/s for each host."""

    def read(case: str) -> Reading:
        def reading(runs: Runs) -> Value:
            run = runs[case]
            begin_ps, end_ps = _late(run)
            ended = (pl.col("start_ps") + pl.col("fct_ps")).is_between(begin_ps, end_ps)
            total = int(_of(run, tags).filter(ended)["size_bytes"].sum())
            return total * 8000 / (end_ps - begin_ps) / int(run.summary["hosts"])

        return reading

    return read


def _time_us(*tags: str) -> Callable[[str], Reading]:
    """Reads the mean completion time of all messages that arrived in that time."""

    def read(case: str) -> Reading:
        def reading(runs: Runs) -> Value:
            run = runs[case]
            begin_ps, _ = _late(run)
            times = _of(run, tags).filter(pl.col("start_ps") >= begin_ps)["fct_ps"]
            return statistics.fmean(times) / US

        return reading

    return read


_TAGS: Mapping[str, tuple[str, ...]] = {
    "background": ("background",),
    "hot": ("hot",),
    "all": ("background", "hot"),
}
_ALL_HOT = (*COMPARED, "RCM without SAR", "RCM without RCC")

_HEAVY = 80
_AT_HEAVY = "80 % injection, at which hot hosts are offered 164 % of their link, headers aside"
_ENDED = (
    "what messages carried that ended in the last three quarters of the 300 us in which they "
    f"arrive; {_AT_HEAVY}"
)
_ALL_ENDED = (
    "mean FCT of messages that arrived in the last three quarters of the 300 us, however late they "
    f"ended; {_AT_HEAVY}"
)


def _heavy(name: str, tag: str) -> Reading:
    return by_load.at_load(_HOT, _HEAVY, name, _delivered(*_TAGS[tag]))


def _heavy_us(name: str, tag: str) -> Reading:
    return by_load.at_load(_HOT, _HEAVY, name, _time_us(*_TAGS[tag]))


FIG8 = Figure(
    id="fig8",
    title="Hot spots: 85 % to all hosts, 15 % to an eighth of them",
    cases=lambda quick: by_load.cases(
        (_HOT,), _LOADS[::2] if quick else _LOADS, 3, _ALL_HOT, partial(_hot_spot, quick)
    ),
    quick="16 hosts in place of 432, arrivals for 1 ms in place of 0.3, two loads in place of "
    "three",
    panels=[
        by_load.panel(
            f"({letter}) {words}, {tag}", label, _HOT, _ALL_HOT, read(*tags), "Injection rate (%)"
        )
        for letter, (tag, tags) in zip("abc", _TAGS.items(), strict=True)
        for words, label, read in (
            ("Throughput", "Gb/s for each host", _delivered),
            ("Latency", "Mean FCT (µs)", _time_us),
        )
    ],
    claims=[
        Claim(
            "background",
            "RCM gives background flows more throughput than DCQCN",
            "+12.2 %",
            verdict.change(
                _heavy("RCM", "background"),
                _heavy("DCQCN", "background"),
                12.2,
                "Gb/s for each host",
            ),
            assumption=_ENDED,
        ),
        Claim(
            "hot",
            "Hot flows get a little less throughput",
            "a little lower performance",
            verdict.lowest(
                {name: _heavy(name, "hot") for name in COMPARED}, "RCM", "Gb/s for each host"
            ),
            assumption=_ENDED,
            reason="messages to hot hosts pass the same congested links as others and gain from "
            "SAR, too: without it they get 4.69 Gb/s",
        ),
        Claim(
            "hot-latency",
            "Hot flows take a little longer",
            "a little lower performance",
            verdict.highest({name: _heavy_us(name, "hot") for name in COMPARED}, "RCM", "us"),
            assumption=_ALL_ENDED,
        ),
        Claim(
            "all",
            "All flows together get more",
            "RCM higher",
            verdict.highest(
                {name: _heavy(name, "all") for name in COMPARED}, "RCM", "Gb/s for each host"
            ),
            assumption=_ENDED,
        ),
        Claim(
            "latency",
            "All flows together take less time",
            "lower; no number",
            verdict.lowest({name: _heavy_us(name, "all") for name in COMPARED}, "RCM", "us"),
            assumption=_ALL_ENDED,
            reason="SAR turns it: without it it is 274 ± 14 us, without RCC 297. SAR reorders 47 "
            "to 50 thousand packets of a run, and nine messages of the three runs wait for a "
            "timeout of 20 ms; without these it is 281 us. At 60 % it is 128 us with RCM and 141 "
            "with DCQCN, at 40 % 42.0 and 41.3",
        ),
    ],
)
