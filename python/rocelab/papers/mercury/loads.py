"""Mercury under Poisson traffic, in the small network and in the large one: figures 10 to 14."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from rocelab.papers import by_load, setups, verdict
from rocelab.papers.measurements import bars
from rocelab.papers.mercury.schemes import NINE, NS3, OTHERS, SCHEMES, SMALL, xoff
from rocelab.papers.model import Claim, Figure, Panel, Reading, Runs, Value
from rocelab.scenario import Scenario

_SMALL_THRESHOLD = (
    "the congestion threshold turns it, here Kmin of DCQCN's paper: with the HPCC simulator's, 160 "
    "KB at 40 Gb/s in place of 5, p99 is 5.9 ms in the quick version, and with that one's senders, "
    "too, 3.5 (the ns-3 set). So does how deep DCQCN's first cuts are: 2.2 ms with a first alpha "
    "of 0.1"
)
_SAME_SENDERS = (
    "beside DCQCN of the same set there is less to gain: 3.3 ms in the quick version, 3.5 with "
    "Mercury. The spacing of CNPs turns it: 2.7 ms with 10 us in place of 50. With QPs as flows it "
    "is 3.1"
)
_ALL_QPS = (
    "a flow is a pair of hosts, and each of its QPs gets the window of all. With QPs as flows the "
    "ns-3 set has 210 KB in the quick version and a p99 of 3.1 ms, in place of 640 KB and 3.5 ms. "
    "The spacing of CNPs does not turn it: 550 KB with 10 us in place of 50"
)

_MERCURIES = {"": ("", "Mercury"), "-ns3": (", ns-3 set", "Mercury, ns-3 set")}
"""What claims' ids and texts have in addition, and the line."""

_SHARED_LOAD = 0.8
"""Of the 40 Gb/s that the two senders share."""


def _small(scheme: str, seed: int, arrivals_ms: int) -> Scenario:
    """Figure 2 with 40 Gb/s everywhere; H1, H2 (h0, h1) send to R1, R2 (h2, h3)."""
    return Scenario(
        name=f"mercury-hadoop-{scheme}-{seed}",
        topology=setups.chain(*SMALL, senders=2, receivers=2),
        scheme=SCHEMES[scheme],
        pfc=xoff(320),
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
    )


def _smalls(quick: bool) -> dict[str, Scenario]:
    arrivals_ms, seeds = (100, 2) if quick else (500, 5)
    return by_load.cases(
        (_SMALL,),
        (80,),
        seeds,
        NINE,
        lambda _workload, _load, seed, scheme: _small(scheme, seed, arrivals_ms),
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


def _at_all(curve: verdict.Curve) -> Reading:
    """Of a curve with one point."""
    return lambda runs: curve(runs)[""]


def _rivals(names: Sequence[str], suffix: str) -> list[str]:
    """These schemes, beside the ns-3 set with that simulator's DCQCN, too."""
    return [NS3.get(name, name) if suffix else name for name in names]


_SECOND_SETS = frozenset(NS3.values())
_SMALL_REASONS = {
    "p99": _SMALL_THRESHOLD,
    "queue": _ALL_QPS,
    "p99-ns3": _SAME_SENDERS,
    "queue-ns3": _ALL_QPS,
}
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
            [
                bars(
                    scheme,
                    {"Hadoop, 80 %": _at_all(read(scheme))},
                    second_set=scheme in _SECOND_SETS,
                )
                for scheme in NINE
            ],
        )
        for letter, (name, (read, unit)) in zip("ab", _TWO.items(), strict=True)
    ],
    claims=[
        Claim(
            f"{id_}{suffix}",
            f"{name} with Mercury is lower than with the others{where}",
            f"{-percents[0]:.1f} to {-percents[1]:.1f} % lower",
            verdict.between(
                read(own), {each: read(each) for each in _rivals(OTHERS, suffix)}, percents, unit
            ),
            assumption="H1 and H2 together offer 80 % of the 40 Gb/s that they share",
            reason=_SMALL_REASONS[f"{id_}{suffix}"],
            variant=bool(suffix),
        )
        for suffix, (where, own) in _MERCURIES.items()
        for id_, percents, (name, (read, unit)) in zip(
            ("p99", "queue"), ((-16.1, -25.5), (-20.9, -39.2)), _TWO.items(), strict=True
        )
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


def _large(quick: bool, workload: str, load: int, seed: int, scheme: str) -> Scenario:
    """A tenth of the paper's network if quick."""
    return Scenario(
        name=f"mercury-{workload}-{load}-{scheme}-{seed}",
        topology=setups.pods("100Gbps", "400Gbps", "1us", _TENTH if quick else setups.WHOLE),
        scheme=SCHEMES[scheme],
        pfc=xoff(620),
        traffic=[
            {
                "kind": "poisson",
                "workload": _WORKLOADS[workload],
                "load": load / 100,
                "duration": f"{_ARRIVALS_MS / (5 if quick else 1):g}ms",
            }
        ],
        run={"seed": seed},
    )


_QUICK = "32 hosts in place of 320, arrivals for 2 ms in place of 10, three loads in place of six"


def _larges(workloads: tuple[str, ...], quick: bool) -> dict[str, Scenario]:
    return by_load.cases(
        workloads,
        (30, 50, 80) if quick else by_load.LOADS,
        _SEEDS,
        NINE,
        partial(_large, quick),
    )


_LARGE_REASONS = {
    "": "the congestion threshold turns most, and so does how deep DCQCN's first cuts are: of the "
    "30 claims of figures 11 to 14 6 hold in the quick version. With 100 KB at 100 Gb/s in place "
    "of 12.5, Kmin of DCQCN's paper, 13 hold, with 400 KB, Kmin of the HPCC simulator, 20, with a "
    "first alpha of 0.1 in place of 1 19, with both 23, with that simulator's senders and 12.5 KB "
    "16, and with its senders and 400 KB, the ns-3 set, 23. Others do not turn them: with CNPs 10 "
    "us apart 5 hold, with windows that end after 500 us 6, with QPs as flows 6. The 99th "
    "percentile is lowest at each load for no workload in any of these, in the quick version. In "
    "the full version 6 hold, and of the variants with the ns-3 set beside DCQCN of the same 29",
    "-ns3": "above a threshold of 400 KB at 100 Gb/s few flows are notified at all (26 CNPs in two "
    "runs with Hadoop at 30 % in the quick version), so that where others keep queues short, or "
    "loads are low, there is little between them",
}
_SHORTER = (
    "above 12.5 KB at 100 Gb/s every flow is notified, and queues are as short as HPCC's, whose "
    "packets carry INT besides; with 400 KB, the ns-3 set, it is as in the paper"
)
_SEEDS = 2
_FOUND: Mapping[str, Mapping[str, float | tuple[float, float]]] = {
    by_load.AVERAGE: {
        "CacheFollower": (-21.1, -38.5),
        "Hadoop": (-11.2, -36.1),
        "WebSearch": -21.9,
        "WebServer": -32.6,
    },
    by_load.TAIL: {},
}


def _against(
    workload: str, statistic: str, sizes: by_load.Sizes, names: Sequence[str], suffix: str
) -> dict[str, verdict.Curve]:
    """The curves of these schemes."""
    read = by_load.fct(statistic, sizes)
    return {name: by_load.at_loads(workload, name, read) for name in _rivals(names, suffix)}


def _load_claims(statistic: str, words: str, suffix: str) -> list[Claim]:
    where, own = _MERCURIES[suffix]
    claims = []
    for workload in _WORKLOADS:
        others = _against(workload, statistic, by_load.ALL, OTHERS, suffix)
        ours = by_load.at_loads(workload, own, by_load.fct(statistic))
        curves = {**others, own: ours}
        claims.append(
            Claim(
                f"lowest-{workload.lower()}{suffix}",
                f"Mercury has the lowest {words} at each load, {workload}{where}",
                "Mercury lowest",
                verdict.lowest_at_all(curves, own, "us"),
                assumption=by_load.WARM,
                reason=_LARGE_REASONS[suffix],
                variant=bool(suffix),
            )
        )
        span = _FOUND[statistic].get(workload)
        if span is None:
            continue
        claims.append(
            Claim(
                f"change-{workload.lower()}{suffix}",
                f"Mercury's {words} is lower than that of the others, {workload}{where}",
                f"{-span[0]:.1f} to {-span[1]:.1f} % lower"
                if isinstance(span, tuple)
                else f"up to {-span:.1f} % lower",
                verdict.between(ours, others, span, "us")
                if isinstance(span, tuple)
                else verdict.up_to(ours, others, span, "us"),
                assumption=f"over schemes and loads; {by_load.WARM}",
                reason=_LARGE_REASONS[suffix],
                variant=bool(suffix),
            )
        )
    return claims


def _at_loads(id_: str, statistic: str, words: str) -> Figure:
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
                NINE,
                by_load.fct(statistic),
                second_set=_SECOND_SETS,
            )
            for letter, workload in zip("abcd", _WORKLOADS, strict=True)
        ],
        claims=[claim for suffix in _MERCURIES for claim in _load_claims(statistic, words, suffix)],
    )


FIG11 = _at_loads("fig11", by_load.AVERAGE, "average FCT")
FIG12 = _at_loads("fig12", by_load.TAIL, "99th percentile of the FCT")

_SIZES = {"short": by_load.Sizes(most=100e3), "long": by_load.Sizes(least=1e6)}
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


def _up_to(
    workload: str, kind: str, statistic: str, names: Sequence[str], percent: float, suffix: str
) -> Claim:
    where, own = _MERCURIES[suffix]
    sizes = _SIZES[kind]
    ours = by_load.at_loads(workload, own, by_load.fct(statistic, sizes))
    others = _against(workload, statistic, sizes, names, suffix)
    group = "that of the others" if "HPCC" in names else "that of all but HPCC"
    who = f"{names[0]}'s" if len(names) == 1 else group
    id_ = f"-{names[0].lower()}" if len(names) == 1 else ""
    return Claim(
        f"{kind}-{statistic}{id_}{suffix}",
        f"{_STATISTICS[statistic].capitalize()} FCT of {kind} flows is lower than {who}{where}",
        f"up to {-percent:.1f} % lower",
        verdict.up_to(ours, others, percent, "us"),
        assumption=f"{_CUT}; over schemes and loads; {by_load.WARM}",
        reason=_LARGE_REASONS[suffix],
        variant=bool(suffix),
    )


def _slightly_above(workload: str, suffix: str) -> Claim:
    where, own = _MERCURIES[suffix]
    read = by_load.fct(by_load.AVERAGE, _SIZES["short"])
    return Claim(
        f"short-average-hpcc{suffix}",
        f"Average FCT of short flows is slightly higher than HPCC's{where}",
        "slightly above HPCC",
        verdict.rising(
            {name: by_load.at_load(workload, 80, name, read) for name in ("HPCC", own)},
            "us",
        ),
        assumption=f"at 80 % load; {_CUT}; {by_load.WARM}",
        reason=_SHORTER,
        variant=bool(suffix),
    )


def _length_claims(workload: str, suffix: str) -> list[Claim]:
    long: Mapping[tuple[str, ...], tuple[float, float]] = (
        {(name,): percents for name, percents in _LONG_HADOOP.items()}
        if workload == "Hadoop"
        else {OTHERS: (-56.2, -68.6)}
    )
    kinds = {"short": {OTHERS[:-1]: _SHORT[workload]}, "long": long}
    return [
        *(
            _up_to(workload, kind, statistic, names, percent, suffix)
            for kind, found in kinds.items()
            for names, percents in found.items()
            for statistic, percent in zip(_STATISTICS, percents, strict=True)
        ),
        _slightly_above(workload, suffix),
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
                NINE,
                by_load.fct(statistic, sizes),
                second_set=_SECOND_SETS,
            )
            for letter, (kind, sizes, statistic, words) in zip("abcd", shown, strict=True)
        ],
        claims=[claim for suffix in _MERCURIES for claim in _length_claims(workload, suffix)],
    )


FIG13 = _by_length("fig13", "Hadoop")
FIG14 = _by_length("fig14", "WebServer")
