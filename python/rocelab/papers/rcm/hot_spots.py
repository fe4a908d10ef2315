"""Figure 8: hot spots in a fat tree."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import polars as pl

from rocelab import _format
from rocelab.papers import by_load, setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.model import Claim, Figure, Measure, Runs, Value
from rocelab.papers.rcm.setup import COMPARED, DELAY, RATE, scenario
from rocelab.result import Result
from rocelab.scenario import Scenario
from rocelab.series import US

_SIZES = [[32_000, 0.0], [96_000, 1.0]]
_HOT = "hot"
_PER_HOST = "Gb/s for each host"
_LOADS = (40, 60, 80)
"""In per cent."""


def _hot_spot(
    reading: Reading, quick: bool, _workload: str, percent: int, seed: int, scheme: str
) -> Scenario:
    """85 % to all, 15 % to every eighth host."""
    k, load = 4 if quick else 12, percent / 100
    hot = [f"h{host}" for host in range(0, k**3 // 4, 8)]
    arrive = {"kind": "poisson", "cdf": _SIZES, "duration": "1ms" if quick else "300us"}
    return scenario(
        reading,
        scheme,
        f"hot-{load:g}",
        seed,
        None,
        topology=setups.fat_tree(k, RATE, DELAY),
        traffic=[
            {**arrive, "tag": "background", "load": 0.85 * load},
            {**arrive, "tag": "hot", "load": 0.15 * load, "receivers": hot},
        ],
        voqs=k,
    )


def _late(run: Result) -> tuple[float, float]:
    """The last three quarters of the time in which messages arrive, in ps."""
    end_ps = _format.picoseconds(run.scenario.to_dict()["traffic"][0]["duration"])
    return end_ps / 4, end_ps


def _of(run: Result, tags: Sequence[str]) -> pl.DataFrame:
    return run.flows.to_polars().filter(pl.col("tag").is_in(tags))


def _delivered(*tags: str) -> Callable[[str], Measure]:
    """Reads what the messages carried that ended in that time, in Gb/s for each host."""

    def read(case: str) -> Measure:
        def reading(runs: Runs) -> Value:
            run = runs[case]
            begin_ps, end_ps = _late(run)
            ended = (pl.col("start_ps") + pl.col("fct_ps")).is_between(begin_ps, end_ps)
            total = int(_of(run, tags).filter(ended)["size_bytes"].sum())
            return total * 8000 / (end_ps - begin_ps) / int(run.summary.hosts)

        return reading

    return read


def _time_us(*tags: str) -> Callable[[str], Measure]:
    """Reads the mean completion time of all messages that arrived in that time."""

    def read(case: str) -> Measure:
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

_QUANTITIES = (
    ("Throughput", _PER_HOST, _delivered),
    ("Latency", "Mean FCT (µs)", _time_us),
)

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


_SENT_AGAIN = (
    "SAR moves flows whose packets are then out of order, and senders go back by all that was "
    "overtaken; where receivers keep it (R9), or new flows alone are moved (R4b), background flows "
    "get more than with DCQCN in the quick version"
)


def _heavy(name: str, tag: str) -> Measure:
    return by_load.at_load(_HOT, _HEAVY, name, _delivered(*_TAGS[tag]))


def _heavy_us(name: str, tag: str) -> Measure:
    return by_load.at_load(_HOT, _HEAVY, name, _time_us(*_TAGS[tag]))


FIG8 = Figure(
    id="fig8",
    title="Hot spots: 85 % to all hosts, 15 % to an eighth of them",
    cases=lambda reading, quick: by_load.cases(
        (_HOT,), _LOADS[::2] if quick else _LOADS, 3, COMPARED, partial(_hot_spot, reading, quick)
    ),
    quick="16 hosts in place of 432, arrivals for 1 ms in place of 0.3, two loads in place of "
    "three",
    panels=[
        by_load.panel(
            f"({letter}) {words}, {tag}",
            label,
            _HOT,
            COMPARED,
            read(*_TAGS[tag]),
            "Injection rate (%)",
        )
        for letter, (tag, (words, label, read)) in zip(
            "abcdef",
            [(tag, quantity) for tag in _TAGS for quantity in _QUANTITIES],
            strict=True,
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
                _PER_HOST,
            ),
            assumption=_ENDED,
            reason=_SENT_AGAIN,
        ),
        *(
            Claim(
                f"{tag}-more",
                f"RCM improves throughput by more than 10 %, {words}",
                "> 10 %",
                verdict.by_more_than(_heavy("RCM", tag), _heavy("DCQCN", tag), 10, _PER_HOST),
                assumption=f"abstract and conclusion do not say of which flows; {_ENDED}",
                reason=_SENT_AGAIN,
            )
            for tag, words in (("background", "background flows"), ("all", "all flows"))
        ),
        Claim(
            "hot",
            "Hot flows get a little less throughput",
            "a little lower performance",
            verdict.slightly_below(
                ("RCM", _heavy("RCM", "hot")), ("DCQCN", _heavy("DCQCN", "hot")), _PER_HOST
            ),
            assumption=_ENDED,
            reason=_SENT_AGAIN,
        ),
        Claim(
            "hot-latency",
            "Hot flows take a little longer",
            "a little lower performance",
            verdict.slightly_below(
                ("DCQCN", _heavy_us("DCQCN", "hot")), ("RCM", _heavy_us("RCM", "hot")), "us"
            ),
            assumption=_ALL_ENDED,
            reason=_SENT_AGAIN,
        ),
        Claim(
            "all",
            "All flows together get more",
            "RCM higher",
            verdict.highest({name: _heavy(name, "all") for name in COMPARED}, "RCM", _PER_HOST),
            assumption=_ENDED,
            reason=_SENT_AGAIN,
        ),
        Claim(
            "latency",
            "All flows together take less time",
            "lower; no number",
            verdict.lowest({name: _heavy_us(name, "all") for name in COMPARED}, "RCM", "us"),
            assumption=_ALL_ENDED,
            reason=_SENT_AGAIN,
        ),
    ],
)
