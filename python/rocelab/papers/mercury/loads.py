"""Mercury under Poisson traffic, in the small network and in the large one: figures 10 to 14."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise

import polars as pl

from rocelab.papers import by_load, setups, verdict
from rocelab.papers.decisions import Reading
from rocelab.papers.measurements import bars, single
from rocelab.papers.mercury import decisions as decided
from rocelab.papers.mercury.schemes import OTHERS, SIX, SMALL, settings, static
from rocelab.papers.model import Claim, Figure, Measure, Panel, Runs, Value
from rocelab.scenario import Scenario, compact

_SHARED_LOAD = 0.8
"""Of the 40 Gb/s that the two senders share."""


def _small(reading: Reading, scheme: str, seed: int, arrivals_ms: int) -> Scenario:
    """Figure 2 with 40 Gb/s everywhere; H1, H2 (h0, h1) send to R1, R2 (h2, h3)."""
    return Scenario(
        name=f"mercury-hadoop-{scheme}-{seed}",
        topology=setups.chain(*SMALL, senders=2, receivers=2),
        pfc=reading.of(decided.SMALL_PFC),
        traffic=[
            {
                "kind": "poisson",
                "workload": "FB_Hadoop",
                "hosts": ["h0", "h1"],
                "receivers": ["h2", "h3"],
                "load": _SHARED_LOAD / 2,
                "duration": f"{arrivals_ms}ms",
            }
        ],
        run={"seed": seed},
        **settings(reading, scheme),
    )


def _smalls(reading: Reading, quick: bool) -> dict[str, Scenario]:
    arrivals_ms, seeds = (100, 2) if quick else (500, 5)
    return by_load.cases(
        (_SMALL,),
        (80,),
        seeds,
        SIX,
        lambda _workload, _load, seed, scheme: _small(reading, scheme, seed, arrivals_ms),
    )


_SMALL = "Hadoop"


def _tail(scheme: str) -> verdict.Curve:
    """p99 FCT of the small network in ms."""
    curve = by_load.at_loads(_SMALL, scheme, by_load.fct(by_load.TAIL))
    return lambda runs: {"": [us / 1e3 for values in curve(runs).values() for us in values]}


def _fullest(scheme: str) -> verdict.Curve:
    """The largest queue of any switch in KB."""

    def curve(runs: Runs) -> Mapping[str, Value]:
        peaks = []
        for case, run in runs.items():
            if case.split(" ", 3)[3] == scheme:
                ports = run.ports.to_polars().filter(pl.col("node").str.starts_with("s"))
                peaks.append(max(ports["max_queue_bytes"].to_list()) / 1e3)
        return {"": peaks}

    return curve


def _at_all(curve: verdict.Curve) -> Measure:
    """Of a curve with one point."""
    return lambda runs: curve(runs)[""]


def _first_hop(scheme: str) -> Callable[[Runs], tuple[int, int]]:
    """In how many runs the fullest port is that of the first switch to the second."""

    def counts(runs: Runs) -> tuple[int, int]:
        found = [run for case, run in runs.items() if case.split(" ", 3)[3] == scheme]
        hits = 0
        for run in found:
            ports = run.ports.to_polars().filter(pl.col("node").str.starts_with("s"))
            fullest = ports.sort("max_queue_bytes").row(-1, named=True)
            hits += (fullest["node"], fullest["peer"]) == ("s0", "s1")
        return hits, len(found)

    return counts


_FEW_PACKETS = (
    "the threshold is Kmin of DCQCN's paper, 5 KB at 40 Gb/s, which is less than five packets: "
    "wherever packets of two flows meet Mercury notifies both, so that queues stay short and flows "
    "slow; with 400 KB at 100 Gb/s (M3c) Mercury's p99 is below that of all others"
)

_TWO = {"p99 FCT": (_tail, "ms"), "Largest queue": (_fullest, "KB")}

FIG10 = Figure(
    id="fig10",
    title="Hadoop at 80 % load in the small network",
    cases=_smalls,
    quick="arrivals for 100 ms in place of 500, two seeds in place of five",
    panels=[
        Panel(
            f"({letter}) {name}",
            "",
            f"{name} ({unit})",
            [bars(scheme, {"Hadoop, 80 %": _at_all(read(scheme))}) for scheme in SIX],
        )
        for letter, (name, (read, unit)) in zip("ab", _TWO.items(), strict=True)
    ],
    claims=[
        *(
            Claim(
                id_,
                f"{name} with Mercury is lower than with the others",
                f"{-percents[0]:.1f} to {-percents[1]:.1f} % lower",
                verdict.between(
                    read("Mercury"), {each: read(each) for each in OTHERS}, percents, unit
                ),
                assumption="H1 and H2 together offer 80 % of the 40 Gb/s that they share",
                reason=_FEW_PACKETS,
            )
            for id_, percents, (name, (read, unit)) in zip(
                ("p99", "queue"), ((-16.1, -25.5), (-20.9, -39.2)), _TWO.items(), strict=True
            )
        ),
        Claim(
            "first-hop",
            "Congestion is mainly in the first switch",
            "first hop",
            verdict.most({scheme: _first_hop(scheme) for scheme in SIX}, 0.5),
            assumption="the fullest port of a run; mainly is in more than half of all runs",
        ),
    ],
)

_WORKLOADS = {
    "CacheFollower": "CacheFollower",
    "Hadoop": "FB_Hadoop",
    "WebSearch": "WebSearch",
    "WebServer": "WebServer",
}
_ARRIVALS_MS = 10
_TENTH = {"pods": 2, "tors_per_pod": 2, "aggs_per_pod": 2, "cores": 4, "hosts_per_tor": 8}


@cache
def _large(
    reading: Reading, quick: bool, workload: str, load: int, seed: int, scheme: str
) -> Scenario:
    """A tenth of the paper's network if quick. Four figures show the same runs."""
    large = Scenario(
        name=f"mercury-{workload}-{load}-{scheme}-{seed}",
        topology=setups.pods("100Gbps", "400Gbps", "1us", _TENTH if quick else setups.WHOLE),
        pfc=static(620),
        traffic=[
            {
                "kind": "poisson",
                "workload": _WORKLOADS[workload],
                "load": load / 100,
                "duration": f"{_ARRIVALS_MS / (5 if quick else 1):g}ms",
            }
        ],
        run={"seed": seed},
        **settings(reading, scheme, coded_rates=True),
    )
    return compact(large)


_QUICK = "32 hosts in place of 320, arrivals for 2 ms in place of 10, three loads in place of six"


def _larges(workloads: tuple[str, ...], reading: Reading, quick: bool) -> dict[str, Scenario]:
    return by_load.cases(
        workloads,
        (30, 50, 80) if quick else by_load.LOADS,
        _SEEDS,
        SIX,
        partial(_large, reading, quick),
    )


_SEEDS = 2
_LONG = by_load.Sizes(least=1e6)
_FOUND: Mapping[str, Mapping[str, float | tuple[float, float]]] = {
    by_load.AVERAGE: {
        "CacheFollower": (-21.1, -38.5),
        "Hadoop": (-11.2, -36.1),
        "WebSearch": -21.9,
        "WebServer": -32.6,
    },
    by_load.TAIL: {},
}


def _curve(
    workload: str, scheme: str, statistic: str, sizes: by_load.Sizes = by_load.ALL
) -> verdict.Curve:
    return by_load.at_loads(workload, scheme, by_load.fct(statistic, sizes))


def _against(
    workload: str, statistic: str, sizes: by_load.Sizes, names: Sequence[str]
) -> dict[str, verdict.Curve]:
    """The curves of these schemes."""
    return {name: _curve(workload, name, statistic, sizes) for name in names}


def _load_claims(statistic: str, words: str) -> list[Claim]:
    claims = []
    for workload in _WORKLOADS:
        others = _against(workload, statistic, by_load.ALL, OTHERS)
        ours = _curve(workload, "Mercury", statistic)
        claims.append(
            Claim(
                f"lowest-{workload.lower()}",
                f"Mercury has the lowest {words} at each load, {workload}",
                "Mercury lowest",
                verdict.lowest_at_all({"Mercury": ours, **others}, "Mercury", "us"),
                assumption=by_load.WARM,
            )
        )
        span = _FOUND[statistic].get(workload)
        if span is None:
            continue
        claims.append(
            Claim(
                f"change-{workload.lower()}",
                f"Mercury's {words} is lower than that of the others, {workload}",
                f"{-span[0]:.1f} to {-span[1]:.1f} % lower"
                if isinstance(span, tuple)
                else f"up to {-span:.1f} % lower",
                verdict.between(ours, others, span, "us")
                if isinstance(span, tuple)
                else verdict.up_to(ours, others, span, "us"),
                assumption=f"over schemes and loads; {by_load.WARM}",
            )
        )
    return claims


def _lower(
    scheme: str, than: str, workload: str, statistic: str, sizes: by_load.Sizes = by_load.ALL
) -> Callable[[Runs], tuple[int, int]]:
    """At how many of how many loads a scheme is below another, beyond the spread."""

    def counts(runs: Runs) -> tuple[int, int]:
        low, high = (_curve(workload, name, statistic, sizes)(runs) for name in (scheme, than))
        return sum(verdict.is_below(low[at], high[at]) for at in low), len(low)

    return counts


def _rising(scheme: str) -> Callable[[Runs], tuple[int, int]]:
    """Of how many of how many curves no load has less than the one before, beyond the spread."""

    def counts(runs: Runs) -> tuple[int, int]:
        curves = [
            list(_curve(workload, scheme, statistic)(runs).values())
            for workload in _WORKLOADS
            for statistic in by_load.LABELS
        ]
        rising = [
            all(verdict.is_above_or_tied(after, before) for before, after in pairwise(curve))
            for curve in curves
        ]
        return sum(rising), len(rising)

    return counts


def _mean_reduction(workload: str) -> Measure:
    """By how many per cent Mercury's average is below that of the others, mean of all points."""

    def measure(runs: Runs) -> float:
        ours = _curve(workload, "Mercury", by_load.AVERAGE)(runs)
        return statistics.fmean(
            100 * (1 - single(ours[at]) / single(value))
            for name in OTHERS
            for at, value in _curve(workload, name, by_load.AVERAGE)(runs).items()
        )

    return measure


_BEYOND = f"beyond the spread over the seeds; {by_load.WARM}"
_GENERAL = [
    *(
        Claim(
            f"{name.lower()}-dcqcn",
            f"{name} reduces the FCT compared with DCQCN",
            words,
            verdict.most(
                {
                    f"{workload} {statistic}": _lower(name, "DCQCN", workload, statistic)
                    for workload in _WORKLOADS
                    for statistic in by_load.LABELS
                },
                0.5,
            ),
            assumption=f"lower at more than half of the loads and workloads, average and p99; "
            f"{_BEYOND}",
            reason=reason,
        )
        for name, words, reason in (
            (
                "PACC",
                "in most scenarios",
                "PACC is reconstructed from a second-hand description, and may be too weak here",
            ),
            ("DCQCN+TCD", "reduces", ""),
        )
    ),
    Claim(
        "rising",
        "Average and 99th percentile of the FCT rise with the load",
        "increase",
        verdict.most({scheme: _rising(scheme) for scheme in SIX}, 0.999),
        assumption=f"all curves; {_BEYOND}",
    ),
    Claim(
        "webserver-most",
        "Mercury gains most with WebServer",
        "more obvious",
        verdict.highest(
            {workload: _mean_reduction(workload) for workload in _WORKLOADS}, "WebServer", "% lower"
        ),
        assumption="mean reduction of the average FCT over the other schemes and all loads",
    ),
    Claim(
        "long-hpcc",
        "HPCC increases the FCT of long flows",
        "increases",
        verdict.most(
            {
                workload: _lower("DCQCN", "HPCC", workload, by_load.AVERAGE, _LONG)
                for workload in ("Hadoop", "WebServer")
            },
            0.5,
        ),
        assumption="average above DCQCN's at more than half of the loads; long flows are those "
        f"above 1 MB; {_BEYOND}",
    ),
]


def _at_loads(id_: str, statistic: str, words: str, more: Sequence[Claim] = ()) -> Figure:
    """Figures 11 and 12: a panel for each workload."""
    return Figure(
        id=id_,
        title=f"{words[0].upper()}{words[1:]} against load, four workloads",
        cases=partial(_larges, tuple(_WORKLOADS)),
        quick=_QUICK,
        panels=[
            by_load.panel(
                f"({letter}) {workload}",
                by_load.LABELS[statistic],
                workload,
                SIX,
                by_load.fct(statistic),
            )
            for letter, workload in zip("abcd", _WORKLOADS, strict=True)
        ],
        claims=[*_load_claims(statistic, words), *more],
    )


FIG11 = _at_loads("fig11", by_load.AVERAGE, "average FCT", _GENERAL)
FIG12 = _at_loads("fig12", by_load.TAIL, "99th percentile of the FCT")

_SIZES = {"short": by_load.Sizes(most=100e3), "long": _LONG}
_CUT = "short flows are those up to 100 KB, long ones those above 1 MB"
_STATISTICS = {by_load.AVERAGE: "average", by_load.TAIL: "99th percentile"}
_SHORT = {"Hadoop": (-64.7, -58.7), "WebServer": (-81.1, -80.6)}
_LONG_HADOOP = {
    "Timely": (-26.5, -45.1),
    "DCQCN": (-26.3, -41.8),
    "DCQCN+TCD": (-21.8, -38.7),
    "PACC": (-19.7, -30.9),
    "HPCC": (-27.1, -37.9),
}
"""Of the average and of the 99th percentile."""


def _up_to(workload: str, kind: str, statistic: str, names: Sequence[str], percent: float) -> Claim:
    sizes = _SIZES[kind]
    ours = _curve(workload, "Mercury", statistic, sizes)
    others = _against(workload, statistic, sizes, names)
    group = "that of the others" if "HPCC" in names else "that of all but HPCC"
    who = f"{names[0]}'s" if len(names) == 1 else group
    id_ = f"-{names[0].lower()}" if len(names) == 1 else ""
    return Claim(
        f"{kind}-{statistic}{id_}",
        f"{_STATISTICS[statistic].capitalize()} FCT of {kind} flows is lower than {who}",
        f"up to {-percent:.1f} % lower",
        verdict.up_to(ours, others, percent, "us"),
        assumption=f"{_CUT}; over schemes and loads; {by_load.WARM}",
    )


def _slightly_above(workload: str) -> Claim:
    read = by_load.fct(by_load.AVERAGE, _SIZES["short"])
    low, high = ((name, by_load.at_load(workload, 80, name, read)) for name in ("HPCC", "Mercury"))
    return Claim(
        "short-average-hpcc",
        "Average FCT of short flows is slightly higher than HPCC's",
        "slightly above HPCC",
        verdict.slightly_below(low, high, "us"),
        assumption=f"at 80 % load; {_CUT}; {by_load.WARM}",
    )


def _length_claims(workload: str) -> list[Claim]:
    long: Mapping[tuple[str, ...], tuple[float, float]] = (
        {(name,): percents for name, percents in _LONG_HADOOP.items()}
        if workload == "Hadoop"
        else {OTHERS: (-56.2, -68.6)}
    )
    kinds: Mapping[str, Mapping[tuple[str, ...], tuple[float, float]]] = {
        "short": {OTHERS[:-1]: _SHORT[workload]},
        "long": long,
    }
    return [
        *(
            _up_to(workload, kind, statistic, names, percent)
            for kind, found in kinds.items()
            for names, percents in found.items()
            for statistic, percent in zip(_STATISTICS, percents, strict=True)
        ),
        _slightly_above(workload),
    ]


def _by_length(id_: str, workload: str) -> Figure:
    """Figures 13 and 14: short and long flows apart."""
    shown = [
        (kind, sizes, statistic, words)
        for kind, sizes in _SIZES.items()
        for statistic, words in _STATISTICS.items()
    ]
    return Figure(
        id=id_,
        title=f"FCT of short and of long flows, {workload}",
        cases=partial(_larges, (workload,)),
        quick=_QUICK,
        panels=[
            by_load.panel(
                f"({letter}) {kind.capitalize()} flows, {words}",
                by_load.LABELS[statistic],
                workload,
                SIX,
                by_load.fct(statistic, sizes),
            )
            for letter, (kind, sizes, statistic, words) in zip("abcd", shown, strict=True)
        ],
        claims=_length_claims(workload),
    )


FIG13 = _by_length("fig13", "Hadoop")
FIG14 = _by_length("fig14", "WebServer")
