"""RCM: Liu et al., "Regional Congestion Mitigation in Lossless Datacenter Networks", 2017."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from rocelab.papers import verdict
from rocelab.papers.measure import US, bars, mean
from rocelab.papers.model import Claim, Figure, Line, Panel, Paper, Points, Reading, Runs, Value
from rocelab.result import Result
from rocelab.scenario import Scenario

_SCHEMES: Mapping[str, dict[str, Any]] = {
    "PFC alone": {"name": "none"},
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-mlx"},
    "RCM": {"name": "rcm", "preset": "rcm"},
    "RCM to the letter": {"name": "rcm", "preset": "rcm-letter"},
    "RCM, CAM of 64": {"name": "rcm", "params": {"cam_depth": 64}},
    "RCM, Q_eq 16 KB": {"name": "rcm", "params": {"equilibrium": "16KB"}},
    "RCM without SAR": {"name": "rcm", "params": {"sar": False}},
    "RCM without RCC": {"name": "rcm", "params": {"rcc": False}},
    "RCM, no marking": {"name": "rcm"},
}
_MARKING = {"enabled": True, "kmin": "5KB", "kmax": "200KB", "pmax": 0.01, "at": "40Gbps"}
_LINK = {"rate": "100Gbps", "delay": "1us"}
_PACKET = 1082
"""Bytes that a full packet takes on a link, 1000 of them data."""


def _scenario(scheme: str, name: str, keys: Mapping[str, Any]) -> Scenario:
    """CIOQ switches with the paper's queues; the same marking for all that mark."""
    marks = scheme not in ("PFC alone", "RCM, no marking")
    return Scenario(
        name=f"rcm-{name}",
        scheme=_SCHEMES[scheme],
        switch={"architecture": "cioq"},
        ecn=_MARKING if marks else {"enabled": False},
        **keys,
    )


def _custom(
    hosts: Sequence[str], switches: Mapping[str, int], links: Sequence[tuple[str, str, str]]
) -> dict[str, Any]:
    """A network; links have two ends and a rate."""
    return {
        "kind": "custom",
        "nodes": [
            *({"name": name, "kind": "host"} for name in hosts),
            *({"name": name, "kind": "switch", "tier": tier} for name, tier in switches.items()),
        ],
        "links": [{"a": a, "b": b, "rate": rate, "delay": _LINK["delay"]} for a, b, rate in links],
    }


_INCAST = ("i0", "i1", "i2", "i3")


def _burst(scheme: str) -> Scenario:
    """Figure 6: four flows by one port of the last switch, a burst of 20 us by another."""
    near = [(host, "near", "25Gbps") for host in _INCAST]
    rest = [("b", "far", _LINK["rate"])]
    rest += [(end, "last", _LINK["rate"]) for end in ("near", "far", "d")]
    flows = [{"src": host, "dst": "d", "size": "10GB"} for host in _INCAST]
    return _scenario(
        scheme,
        "burst",
        {
            "topology": _custom(
                (*_INCAST, "b", "d"), {"near": 1, "far": 1, "last": 1}, [*near, *rest]
            ),
            "traffic": [
                {"kind": "flows", "tag": "incast", "flows": flows},
                {
                    "kind": "flows",
                    "tag": "burst",
                    "flows": [{"src": "b", "dst": "d", "size": "231KB", "start": "150us"}],
                },
            ],
            "probe": [
                {
                    "name": "goodput",
                    "kind": "goodput",
                    "flows": ["incast", "burst"],
                    "interval": "2us",
                    "start": "100us",
                },
            ],
            "run": {"stop": "221us"},
        },
    )


_VICTIM_SEED = 40
"""With it ECMP takes S1, S2 and Sv to one aggregation switch, S3 and S4 to the other."""
_SENDERS = ("S1", "S2", "S3", "S4", "Sv")


def _victim(scheme: str) -> Scenario:
    """Figure 7: S1 to S4 send to D0 by two uplinks, Sv to Dv by one of them."""
    ends = [(host, "tor0") for host in _SENDERS] + [(host, "tor1") for host in ("D0", "Dv")]
    ends += [(tor, agg) for tor in ("tor0", "tor1") for agg in ("agg0", "agg1")]
    flows = [
        {"src": host, "dst": "Dv" if host == "Sv" else "D0", "size": "10GB"} for host in _SENDERS
    ]
    return _scenario(
        scheme,
        "victim",
        {
            "topology": _custom(
                (*_SENDERS, "D0", "Dv"),
                {"tor0": 1, "tor1": 1, "agg0": 2, "agg1": 2},
                [(a, b, _LINK["rate"]) for a, b in ends],
            ),
            "traffic": [{"kind": "flows", "tag": "all", "flows": flows}],
            "probe": [{"name": "goodput", "kind": "goodput", "flows": ["all"], "interval": "50us"}],
            "run": {"stop": "1001us", "seed": _VICTIM_SEED},
        },
    )


def _tree(k: int) -> dict[str, Any]:
    return {
        "kind": "fat-tree",
        "k": k,
        "host_rate": _LINK["rate"],
        "host_delay": _LINK["delay"],
        **_LINK,
    }


_LOADS = (0.4, 0.6, 0.8)
_SIZES = [[32_000, 0.0], [96_000, 1.0]]


def _hot_spot(scheme: str, load: float, *, quick: bool) -> Scenario:
    """85 % to all, 15 % to every eighth host."""
    k = 4 if quick else 12
    hot = [f"h{host}" for host in range(0, k**3 // 4, 8)]
    return _scenario(
        scheme,
        f"hot-{load:g}",
        {
            "topology": _tree(k),
            "traffic": [
                {"kind": "poisson", "tag": "background", "cdf": _SIZES, "load": 0.85 * load},
                {
                    "kind": "poisson",
                    "tag": "hot",
                    "cdf": _SIZES,
                    "load": 0.15 * load,
                    "receivers": hot,
                },
            ],
            "run": {"stop": "1ms" if quick else "300us"},
        },
    )


_WORKLOADS = ("Enterprise", "DataMining")


def _groups(scheme: str, workload: str, *, quick: bool) -> Scenario:
    """Hosts send within their group, which is a pod."""
    k = 4 if quick else 12
    # Few hosts need longer for some elephants among their flows.
    arrive_ms = 2 if not quick else 10 if workload == "Enterprise" else 40
    return _scenario(
        scheme,
        f"groups-{workload}",
        {
            "topology": _tree(k),
            "traffic": [
                {
                    "kind": "poisson",
                    "tag": workload,
                    "workload": workload,
                    "load": 0.6,
                    "groups": k,
                    "duration": f"{arrive_ms}ms",
                }
            ],
            "run": {"stop": f"{2 * arrive_ms}ms"},
        },
    )


# What is read off the runs.


def _throughput(case: str, *flows: int) -> Callable[[Runs], Points]:
    """Link time that the data of flows take at their receiver, in Gb/s over microseconds."""

    def points(runs: Runs) -> Points:
        series = runs[case].series["goodput"]
        frame = series.to_polars().filter(pl.col("flow_id").is_in(flows)).sort("time_ps")
        sums = frame.group_by("time_ps", maintain_order=True).agg(pl.col(series.column).mean())
        rates = sums[series.column] * (_PACKET / 1000 / 1e9)
        return (sums["time_ps"] / US).to_list(), rates.to_list()

    return points


def _burst_panel(title: str, case: str) -> Panel:
    shown = [
        Line("BurstFlow", _throughput(case, 4)),
        *(Line(f"IncastFlow {flow}", _throughput(case, flow), thin=True) for flow in range(4)),
    ]
    return Panel(title, "Time (us)", "Throughput (Gb/s)", shown, x_range=(140, 200))


def _done(run: Result, tag: str) -> pl.DataFrame:
    """The flows of a tag that ended in the last three quarters of the run."""
    flows = run.flows.to_polars().filter(pl.col("done") & (pl.col("tag") == tag))
    begin_ps = run.summary["simulated_ns"] * 1000 / 4
    return flows.filter(pl.col("start_ps") + pl.col("fct_ps") >= begin_ps)


def _delivered(case: str, *tags: str) -> Reading:
    """What those flows carried, in Gb/s for each host."""

    def reading(runs: Runs) -> Value:
        run = runs[case]
        total = sum(int(_done(run, tag)["size_bytes"].sum()) for tag in tags)
        span_ns = float(run.summary["simulated_ns"]) * 0.75
        return total * 8 / span_ns / int(run.summary["hosts"])

    return reading


def _time_us(case: str, *tags: str) -> Reading:
    """Their mean completion time."""

    def reading(runs: Runs) -> Value:
        times = [time for tag in tags for time in _done(runs[case], tag)["fct_ps"].to_list()]
        return statistics.fmean(times) / US

    return reading


def _fct_us(case: str, low: float, high: float, runs: Runs) -> float:
    """Mean completion time of flows of these sizes; of those that do not end, until the end."""
    run = runs[case]
    flows = run.flows.to_polars().filter(pl.col("size_bytes").is_between(low, high))
    end_ps = run.summary["simulated_ns"] * 1000
    until = pl.when(pl.col("done")).then(pl.col("fct_ps")).otherwise(end_ps - pl.col("start_ps"))
    found = flows.select(until.mean()).item()
    return float("nan") if found is None else float(found) / US


_TAGS: Mapping[str, tuple[str, ...]] = {
    "background": ("background",),
    "hot": ("hot",),
    "all": ("background", "hot"),
}
_COMPARED = ("DCQCN", "RCM")
_ALL_HOT = (*_COMPARED, "RCM without SAR", "RCM without RCC")


def _by_load(
    title: str, y: str, read: Callable[..., Reading], tag: str, names: Sequence[str]
) -> Panel:
    def line(name: str) -> Line:
        # Quick runs leave loads out.
        def points(runs: Runs) -> Points:
            loads = [load for load in _LOADS if f"{load:g} {name}" in runs]
            read_off = [read(f"{load:g} {name}", *_TAGS[tag])(runs) for load in loads]
            values = [value for value in read_off if isinstance(value, float)]
            return [100 * load for load in loads], values

        return Line(name, points)

    return Panel(title, "Injection rate (%)", y, [line(name) for name in names])


_FIRST = (155.0, 160.0)
_THEN = (164.0, 180.0)
_FIFTHS = (
    "a full output queue that grows no more has Fb at four fifths of its most, which cuts by two "
    "fifths, to 30 Gb/s, and less while it drains; at Q_eq = 16 KB it is the most"
)

_FIG6 = Figure(
    id="fig6",
    title="A burst beside four flows, throughput at the last switch",
    cases=lambda _quick: {
        name: _burst(name) for name in ("RCM", "DCQCN", "RCM to the letter", "RCM, Q_eq 16 KB")
    },
    panels=[
        _burst_panel("(a) RCM", "RCM"),
        _burst_panel("(b) DCQCN", "DCQCN"),
        _burst_panel("(c) RCM to the letter", "RCM to the letter"),
        _burst_panel("(d) RCM, Q_eq 16 KB", "RCM, Q_eq 16 KB"),
    ],
    claims=[
        Claim(
            "half",
            "The burst first takes half of the link, the four an eighth each",
            "50 and 12.5 Gb/s",
            verdict.close(
                {
                    "burst": mean(_throughput("RCM", 4), *_FIRST),
                    "incast": mean(_throughput("RCM", 0, 1, 2, 3), *_FIRST),
                },
                {"burst": 50, "incast": 12.5},
                "Gb/s",
            ),
            assumption="155 to 160 us; inputs take turns at the crossbar",
        ),
        Claim(
            "quarter",
            "RCM cuts the burst to a quarter",
            "25 Gb/s",
            verdict.close({"burst": mean(_throughput("RCM", 4), *_THEN)}, {"burst": 25}, "Gb/s"),
            assumption="164 to 180 us",
            reason=_FIFTHS,
        ),
        Claim(
            "recover",
            "The four flows recover to what the burst leaves",
            "18.75 Gb/s each",
            verdict.close(
                {"incast": mean(_throughput("RCM", 0, 1, 2, 3), *_THEN)}, {"incast": 18.75}, "Gb/s"
            ),
            assumption="164 to 180 us",
            reason=f"they do take what the burst leaves; {_FIFTHS}",
        ),
        Claim(
            "saturated",
            "The same with Q_eq = 16 KB, where a full queue has the greatest Fb",
            "25 and 18.75 Gb/s",
            verdict.close(
                {
                    "burst": mean(_throughput("RCM, Q_eq 16 KB", 4), *_THEN),
                    "incast": mean(_throughput("RCM, Q_eq 16 KB", 0, 1, 2, 3), *_THEN),
                },
                {"burst": 25, "incast": 18.75},
                "Gb/s",
            ),
            assumption="164 to 180 us",
        ),
        Claim(
            "dcqcn",
            "With DCQCN the burst keeps half of the link",
            "50 Gb/s",
            verdict.close({"burst": mean(_throughput("DCQCN", 4), *_THEN)}, {"burst": 50}, "Gb/s"),
            assumption="164 to 180 us",
        ),
        Claim(
            "letter",
            "With any flow in the CAM harmful, too, RCM cuts the burst",
            "25 Gb/s",
            verdict.close(
                {"burst": mean(_throughput("RCM to the letter", 4), *_THEN)}, {"burst": 25}, "Gb/s"
            ),
            assumption="164 to 180 us; the paper's section 3.3 to the letter",
            reason="all five flows are in a CAM of 16 entries, all are held alike, and the link "
            "would idle if they were not let go",
        ),
    ],
)

_VICTIMS = ("PFC alone", *_COMPARED)
_VARIANTS = ("RCM, no marking", "RCM, CAM of 64", "RCM, Q_eq 16 KB")


def _of_flow(case: str, flow: int) -> Reading:
    return mean(_throughput(case, flow), 200.0)


def _senders_panel(title: str, names: Sequence[str]) -> Panel:
    shown = [
        bars(name, {host: _of_flow(name, flow) for flow, host in enumerate(_SENDERS)})
        for name in names
    ]
    return Panel(title, "Sender", "Throughput (Gb/s)", shown)


_FIG7 = Figure(
    id="fig7",
    title="An incast of four and a victim that shares one of its uplinks",
    cases=lambda _quick: {name: _victim(name) for name in (*_VICTIMS, *_VARIANTS)},
    panels=[
        _senders_panel("(a) Mean from 200 us to 1 ms", _VICTIMS),
        _senders_panel("(b) Forms of RCM", _VARIANTS),
    ],
    claims=[
        Claim(
            "pfc",
            "With PFC alone the victim gets no more than the flows of the incast",
            "about 25 Gb/s",
            verdict.close({"Sv": _of_flow("PFC alone", 4)}, {"Sv": 25}, "Gb/s"),
        ),
        Claim(
            "rcm",
            "With RCM the victim gets what the incast leaves of its uplink",
            "nearly 50 Gb/s",
            verdict.close({"Sv": _of_flow("RCM", 4)}, {"Sv": 50}, "Gb/s"),
            reason="marks also reach the victim, as its packets wait in the uplink's queue, and "
            "DCQCN's firmware form comes back slowly; flows of a like rate are in and out of a CAM "
            "of 16 entries; and at Q_eq = 20 KB no cut is as deep as a half: see the claims below",
        ),
        Claim(
            "rcm-unmarked",
            "The same without marking",
            "nearly 50 Gb/s",
            verdict.close({"Sv": _of_flow("RCM, no marking", 4)}, {"Sv": 50}, "Gb/s"),
            assumption="RCC alone; hosts send at line rate",
        ),
        Claim(
            "rcm-cam",
            "The same with a CAM of 64 entries, marking on",
            "nearly 50 Gb/s",
            verdict.close({"Sv": _of_flow("RCM, CAM of 64", 4)}, {"Sv": 50}, "Gb/s"),
        ),
        Claim(
            "rcm-saturated",
            "The same with Q_eq = 16 KB, marking on",
            "nearly 50 Gb/s",
            verdict.close({"Sv": _of_flow("RCM, Q_eq 16 KB", 4)}, {"Sv": 50}, "Gb/s"),
        ),
        Claim(
            "order",
            "The victim gets more with RCM than with DCQCN and with PFC alone",
            "RCM highest",
            verdict.highest(
                {name: _of_flow(name, 4) for name in ("PFC alone", "DCQCN", "RCM")}, "RCM", "Gb/s"
            ),
        ),
    ],
)

_HEAVY = "0.8"
_ENDED = "what messages carried that ended in the last three quarters of the run; 80 % injection"

_FIG8 = Figure(
    id="fig8",
    title="Hot spots: 85 % to all hosts, 15 % to an eighth of them",
    cases=lambda quick: {
        f"{load:g} {name}": _hot_spot(name, load, quick=quick)
        for load in (_LOADS[::2] if quick else _LOADS)
        for name in _ALL_HOT
    },
    panels=[
        panel
        for letter, tag in zip("abc", _TAGS, strict=True)
        for panel in (
            _by_load(
                f"({letter}) Throughput, {tag}", "Gb/s for each host", _delivered, tag, _ALL_HOT
            ),
            _by_load(f"({letter}) Latency, {tag}", "Mean FCT (us)", _time_us, tag, _ALL_HOT),
        )
    ],
    claims=[
        Claim(
            "background",
            "RCM gives background flows more throughput than DCQCN",
            "+12.2 %",
            verdict.change(
                _delivered(f"{_HEAVY} RCM", "background"),
                _delivered(f"{_HEAVY} DCQCN", "background"),
                12.2,
                "Gb/s for each host",
            ),
            assumption=_ENDED,
        ),
        Claim(
            "hot",
            "Hot flows get a little less",
            "a little below DCQCN",
            verdict.lowest(
                {name: _delivered(f"{_HEAVY} {name}", "hot") for name in _COMPARED},
                "RCM",
                "Gb/s for each host",
            ),
            assumption=_ENDED,
            reason="messages to hot hosts pass the same congested links as others and gain from "
            "SAR, too; their completion time does rise",
        ),
        Claim(
            "all",
            "All flows together get more",
            "RCM higher",
            verdict.highest(
                {name: _delivered(f"{_HEAVY} {name}", *_TAGS["all"]) for name in _COMPARED},
                "RCM",
                "Gb/s for each host",
            ),
            assumption=_ENDED,
        ),
    ],
)

_CLASSES: Mapping[str, tuple[float, float]] = {
    "all": (0, 1e12),
    "< 1 MB": (0, 1e6 - 1),
    "1-10 MB": (1e6, 1e7),
    "> 10 MB": (1e7 + 1, 1e12),
}
_UNFINISHED = "a flow that does not end counts until the end of the run"


def _of_size(case: str, size: str) -> Reading:
    return partial(_fct_us, case, *_CLASSES[size])


def _percent(workload: str, name: str, size: str, runs: Runs) -> float:
    times = [_fct_us(f"{workload} {one}", *_CLASSES[size], runs) for one in (name, "DCQCN")]
    return 100 * times[0] / times[1]


def _better(workload: str, size: str, paper_percent: float, text: str, paper: str) -> Claim:
    return Claim(
        f"{workload.lower()}-{'all' if size == 'all' else 'mice'}",
        f"{workload}: {text}",
        paper,
        verdict.change(
            _of_size(f"{workload} RCM", size),
            _of_size(f"{workload} DCQCN", size),
            paper_percent,
            "us",
        ),
        assumption=_UNFINISHED,
    )


_FIG9 = Figure(
    id="fig9",
    title="Average FCT within groups at 60 % injection",
    cases=lambda quick: {
        f"{workload} {name}": _groups(name, workload, quick=quick)
        for workload in _WORKLOADS
        for name in _COMPARED
    },
    panels=[
        Panel(
            f"({letter}) {workload}",
            "Flow size",
            "Mean FCT over DCQCN's (%)",
            [
                bars(name, {size: partial(_percent, workload, name, size) for size in _CLASSES})
                for name in _COMPARED
            ],
        )
        for letter, workload in zip("ab", _WORKLOADS, strict=True)
    ],
    claims=[
        *(
            claim
            for workload in _WORKLOADS
            for claim in (
                _better(workload, "all", -5, "all flows are faster", "lower; no number"),
                _better(workload, "< 1 MB", -10, "mice are faster by more than 10 %", "> 10 %"),
                Claim(
                    f"{workload.lower()}-elephants",
                    f"{workload}: elephants are hardly touched",
                    "within a few per cent",
                    verdict.agree(
                        {name: _of_size(f"{workload} {name}", "> 10 MB") for name in _COMPARED},
                        "us",
                    ),
                    assumption=_UNFINISHED,
                ),
            )
        ),
    ],
)

PAPER = Paper(
    id="rcm",
    citation='Liu et al., "Regional Congestion Mitigation in Lossless Datacenter Networks", NPC '
    "2017",
    looks={
        "DCQCN": 0,
        "RCM": 1,
        "PFC alone": 2,
        "RCM, Q_eq 16 KB": 3,
        "RCM without SAR": 3,
        "RCM without RCC": 4,
        "RCM, no marking": 5,
        "RCM, CAM of 64": 6,
        "BurstFlow": 1,
        **{f"IncastFlow {flow}": look for flow, look in enumerate((0, 2, 3, 4))},
    },
    figures=(_FIG6, _FIG7, _FIG8, _FIG9),
    assumptions=(
        "links of 1 us, a payload of 1000 B; throughput counts headers, preamble and gap",
        "CIOQ switches for all, speed-up 2; 100 KB for a port and priority, Xoff 70, Xon 50 KB",
        "DCQCN with the adapter's defaults; marking as in its paper, at output queues; RCM on top",
        "RCM as its page says; the paper gives no value of any parameter",
        "fig6: the four hosts have links of 25 Gb/s; at 100 DCQCN cuts them before the burst comes",
        "fig7: the paths are chosen by the seed",
        "fig8: messages of 32 to 96 KB, every eighth host is hot; fig9: groups are pods",
    ),
)
