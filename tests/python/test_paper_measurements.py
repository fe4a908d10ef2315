"""What figures of papers measure: spans, warm-ups, classes of sizes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

import polars as pl
import pytest

from conftest import Command
from rocelab import Scenario
from rocelab.papers import by_load, by_size, hiercc, measurements, rcm, reproduce, themis, verdict
from rocelab.papers.decisions import HEADLINE
from rocelab.papers.model import Measure, Outcome, Runs
from rocelab.papers.rcm import victim
from rocelab.papers.themis import published
from rocelab.sweeps.cache import run_all
from test_reproduce import LONG
from test_verdicts import NAN, judged

FLOWS = """3
0 20 3 100 5000 2.000000184
17 16 3 100 70000 2.000003075
4 5 3 101 1000 2.5
"""


def test_published_flows_of_themis(tmp_path: Path) -> None:
    (tmp_path / "flow.txt").write_text(FLOWS, encoding="utf-8")
    first, second, third = published.read(tmp_path)
    assert first == {
        "src": "dc0/h0",
        "dst": "dc1/h4",
        "port": 100,
        "size": "5000B",
        "start": "184ns",
        "tag": "inter",
    }
    assert (second["src"], second["dst"], second["tag"]) == ("dc1/h1", "dc1/h0", "intra")
    assert (third["start"], third["tag"]) == ("500000000ns", "intra")
    paper = themis.with_flows(tmp_path)
    (table,) = (figure for figure in paper.figures if figure.id == "tab1")
    cases = table.cases(paper.readings[-1], True)
    assert list(cases) == ["1 DCQCN", "1 HPCC"]
    plan = cases["1 DCQCN"].plan()
    assert plan.messages.to_polars()["size_bytes"].to_list() == [5000, 70000, 1000]
    # The others have draws.
    assert len(table.cases(paper.headline, True)["1 DCQCN"].plan().messages) > 100


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot read"),
        ("", "is no file of the prototype's flows"),
        ("2\n0 20 3 100 5000 2.0\n", "it has 1 flows and says 2"),
        ("1\n0 40 3 100 5000 2.0\n", "host 40 is not one of 32"),
        ("1\n0 20 3 100 5000\n", "is no file of the prototype's flows"),
        ("1\n0 20 3 100 5k 2.0\n", "is no file of the prototype's flows"),
    ],
)
def test_published_flows_that_cannot_be_read(
    command: Command, tmp_path: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "flow.txt").write_text(text, encoding="utf-8")
    done = command("reproduce", "themis/tab1", "--flows", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --flows: ")
    assert words in done.stderr
    assert not (tmp_path / "out").exists()


def test_where_a_probe_ends_a_flow_has_no_more_rates(tmp_path: Path) -> None:
    """Where the scheme sets none it has the line rate, up to the probe's end alone."""
    flow = {"src": "h0", "dst": "h1", "size": "10MB", "start": "2us"}
    probe = {"name": "rate", "kind": "flow-rate", "interval": "1us", "flows": [0]}
    scenario = Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme={"name": "none"},
        traffic=[{"kind": "flows", "flows": [flow]}],
        run={"stop": "8us"},
    )
    cases = {
        "ends": scenario.with_settings(probe=[{**probe, "end": "5us"}]),
        "ends late": scenario.with_settings(probe=[{**probe, "end": "1ms"}]),
        "whole": scenario.with_settings(probe=[probe]),
    }
    read = {name: measurements.rate(name, 0)(run_all(cases, tmp_path)) for name in cases}
    assert read["ends"] == ([2.0, 3.0, 4.0, 5.0], [100.0] * 4)
    assert read["ends late"] == read["whole"] == ([2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [100.0] * 6)


def test_the_sample_at_the_begin_of_a_span_is_of_the_time_before() -> None:
    samples = ([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0])
    assert measurements.mean_since(lambda _: samples, 2.0)({}) == 35.0
    assert measurements.mean_since(lambda _: samples, 1.0, 3.0)({}) == 25.0


def test_fct_by_load_leaves_the_warm_up_out(tmp_path: Path) -> None:
    flows = [
        {"src": "h0", "dst": "h1", "size": f"{size}KB", "start": f"{start}us"}
        for size, start in ((1, 0), (1, 10), (1, 50), (200, 100))
    ]
    scenario = Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme={"name": "none"},
        traffic=[{"kind": "flows", "flows": flows}],
    )
    cases = by_load.cases(("W",), (30, 80), 1, ("none",), lambda _w, _l, _s, _n: scenario)
    assert list(cases) == ["W 30 1 none", "W 80 1 none"]
    runs = run_all(cases, tmp_path)
    # The first tenth of 100 us is left out: two short flows, and a long one, remain.
    fcts = runs["W 30 1 none"].flows.to_polars()["fct_ps"][1:].to_list()
    tail = by_load.fct(by_load.TAIL, by_load.Sizes(most=1e5))
    whole = by_load.at_loads("W", "none", by_load.fct(by_load.AVERAGE))(runs)
    assert whole == {"30 %": [sum(fcts) / 3e6], "80 %": [sum(fcts) / 3e6]}
    assert by_load.at_load("W", 80, "none", tail)(runs) == [max(fcts[:2]) / 1e6]


def test_the_seeds_of_rcms_victim_make_the_paths_of_the_figure(tmp_path: Path) -> None:
    """PFC alone gives 25 Gb/s to each where Sv shares its uplink with two of the four."""
    cases = {
        f"{seed} PFC alone": victim.victim(HEADLINE, "PFC alone", seed).with_settings(
            run__stop="2001us"
        )
        for seed in victim.SEEDS
    }
    runs = run_all(cases, tmp_path)
    for flow, sender in enumerate(victim.SENDERS):
        got = victim.of_sender("PFC alone", flow)(runs)
        assert isinstance(got, list)
        assert got == pytest.approx([25.0] * len(cases), abs=0.5), sender


def test_moments_are_judged_from_the_join_on(tmp_path: Path) -> None:
    ((_, figure),) = reproduce.chosen(["fncc/fig9"])
    (claim,) = (claim for claim in figure.claims if claim.id == "reaction-times")
    cases = {
        name: case for name, case in figure.cases(HEADLINE, True).items() if name.startswith("100 ")
    }
    outcome = claim.judge(run_all(cases, tmp_path))
    # Of a join at 300 us: 317 us would be within 15 % of 330.
    assert outcome.measured == "HPCC 19, DCQCN 29, RoCC 77 us"
    assert (outcome.verdict, outcome.by) == ("differs", "HPCC -37 %, DCQCN -37 %")


def test_a_rate_that_is_right_on_average_alone_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """RCM's burst, headline: above a quarter, then far below it."""
    monkeypatch.setattr(rcm.burst, "_SEEDS", range(1, 3))
    (claim,) = (claim for claim in rcm.burst.FIG6.claims if claim.id == "quarter")
    runs = run_all(rcm.burst.FIG6.cases(HEADLINE, True), tmp_path)
    whole = measurements.single(rcm.burst._until_its_end("RCM", rcm.burst._BURST)(runs))
    assert whole == pytest.approx(25, rel=verdict.TOLERANCE)
    outcome = claim.judge(runs)
    assert outcome.verdict == "differs"
    assert re.fullmatch(r"second half -\d+ %", outcome.by), outcome


def test_spans_of_rcms_burst_have_the_intervals_within_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sample is of the 2 us before it; the one in which the burst ends is not of it alone."""
    times = [float(time) for time in range(150, 200, 2)]
    from_cut = [50.0 if time <= 164 else time for time in times]
    ends = [
        rate if time < 190 else 1.0 if time == 190 else 0.0
        for time, rate in zip(times, from_cut, strict=True)
    ]
    monkeypatch.setattr(rcm.burst, "throughput", lambda *_: lambda _: lambda _: (times, ends))
    runs = cast("Runs", {"1 RCM": None})

    def read(measure: Measure) -> float:
        return measurements.single(measure(runs))

    assert read(rcm.burst._in_span("RCM", rcm.burst._FIRST, 4)) == 50.0
    assert read(rcm.burst._in_span("RCM", rcm.burst._CUT, 4)) == 175.0
    whole, first, second = (
        read(rcm.burst._until_its_end("RCM", 4, part=part))
        for part in ((0.0, 1.0), *rcm.burst._HALVES.values())
    )
    assert (whole, first, second) == (177.0, 171.0, 183.0)


def test_who_gains_more_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    """RCM's figure 9: losing less than elsewhere is no gain."""
    (claim,) = (claim for claim in rcm.groups.FIG9.claims if claim.id == "datamining-more")

    def judged_at(enterprise: float, data_mining: float) -> Outcome:
        of_rcm = {"Enterprise": enterprise, "DataMining": data_mining}

        def of_size(workload: str, name: str, _size: str) -> Callable[[Runs], list[float]]:
            return lambda _runs: [of_rcm[workload] if name == "RCM" else 50.0] * 2

        monkeypatch.setattr(rcm.groups, "_of_size", of_size)
        return judged(claim.judge)

    assert judged_at(49.0, 45.0).verdict == "holds"
    assert judged_at(45.0, 49.0).by == "DataMining > Enterprise"
    assert judged_at(60.0, 55.0).by == "DataMining > DCQCN"


def test_hierccs_short_flows_have_ended_when_bandwidth_may_be_wasted(tmp_path: Path) -> None:
    """HierCC's figure 4: while they send, DCQCN's link is full."""
    cases = hiercc.bursts.FIG4.cases(HEADLINE, True)
    runs = run_all({"DCQCN": cases["DCQCN"]}, tmp_path)
    assert measurements.single(hiercc.bursts._used_percent("DCQCN")(runs)) > 20
    assert measurements.single(hiercc.bursts._afterwards_percent("DCQCN")(runs)) < 5


def test_hierccs_use_of_the_link_is_that_from_the_bursts_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """HierCC's figure 4: a sample is of the 50 us before it, and bursts begin at 1 ms."""
    samples = [950.0, 1000.0, 1050.0, 1100.0], [25.0, 25.0, 10.0, 10.0]
    monkeypatch.setattr(hiercc.bursts, "gbps", lambda *_: lambda _runs: samples)
    assert hiercc.bursts._used_percent("HierCC")({}) == 40.0


def test_queues_of_hiercc_are_those_in_front_of_the_network_too(tmp_path: Path) -> None:
    """HierCC's figure 5: VOQs are at the uplinks of the senders' ToRs."""
    cases = hiercc.loads.FIG5.cases(HEADLINE, True)
    case = "CacheFollower 30 1 HierCC"
    runs = run_all({case: cases[case]}, tmp_path)
    everywhere, at_receivers = (
        measurements.single(hiercc.loads._fullest_kb(peers)(case)(runs)) for peers in ("", "h")
    )
    assert everywhere > 2 * at_receivers


def test_a_class_of_sizes_of_which_a_seed_has_nothing_done_is_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Means of the other seeds would be of other traffic than the others' means."""
    none = [None] * 30

    def flows(scheme_and_seed: str, _warm_up: float) -> pl.DataFrame:
        done = [3.0] * 30 if scheme_and_seed == "1 A" else [2.0] * 30
        large = none if scheme_and_seed == "2 B" else [5.0] * 30
        # Of the largest size the second seed has no flow at all.
        more = 30 if scheme_and_seed[0] == "1" else 0
        return pl.DataFrame(
            {
                "size_bytes": [900] * 30 + [9000] * 30 + [90_000] * more,
                "slowdown": [*done, *large, *[4.0] * more],
            },
            schema_overrides={"slowdown": pl.Float64},
        )

    monkeypatch.setattr(
        by_size, "_directories", lambda _runs, name: [f"{n} {name}" for n in (1, 2)]
    )
    monkeypatch.setattr(by_size, "_all_flows", flows)
    ours, theirs = (by_size.at_sizes(name, "Median") for name in "AB")
    assert ours({}) == {"1 KB": [3.0, 2.0], "10 KB": [5.0, 5.0], "100 KB": [4.0]}
    _, y = by_size.points("B", "Median")({})
    assert y == [2.0, pytest.approx(NAN, nan_ok=True), 4.0]
    for judge in (
        verdict.lowest_at_all({"A": ours, "B": theirs}, "A", ""),
        verdict.up_to(theirs, {"A": ours}, -30, ""),
    ):
        assert judged(judge).by == verdict.UNMEASURED


def test_a_size_at_the_edge_of_classes_is_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [10**power for power in range(3, 10) for _ in range(20)]
    flows = pl.DataFrame({"size_bytes": sizes, "slowdown": [1.0] * len(sizes)})
    monkeypatch.setattr(by_size, "_directories", lambda *_: ["1 A"])
    monkeypatch.setattr(by_size, "_all_flows", lambda *_: flows)
    assert list(by_size.at_sizes("A", "Median")({})) == [
        "1 KB", "10 KB", "100 KB", "1 MB", "10 MB", "100 MB", "1 GB",
    ]  # fmt: skip


def test_a_statistic_by_size_may_leave_out_smaller_flows(tmp_path: Path) -> None:
    ((_, figure),) = reproduce.chosen([LONG])
    cases = {case: of for case, of in figure.cases(HEADLINE, True).items() if case == "1 FNCC"}
    runs = run_all(cases, tmp_path)
    every = by_size.at_sizes("FNCC", "Median")(runs)
    longer = by_size.at_sizes("FNCC", "Median", 1e6)(runs)
    sizes = list(every)
    assert sizes[sizes.index("1 MB") :] == ["1 MB", *longer]
    assert longer == {size: every[size] for size in longer} != {}
