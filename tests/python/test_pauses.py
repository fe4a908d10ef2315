"""Pictures and Perfetto show the pauses that the ports counted, whatever ended them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import polars as pl
import pytest

import rocelab
from rocelab._pauses import pauses_of
from rocelab.plot.timeline.bars import paused_lines
from rocelab.plot.timeline.ranking import paused_ps, paused_spans

NETWORK = {
    "kind": "leaf-spine",
    "leaves": 2,
    "spines": 2,
    "hosts_per_leaf": 6,
    "host_rate": "25Gbps",
    "host_delay": "600ns",
    "rate": "40Gbps",
    "delay": "1500ns",
}
TRAFFIC = [
    {"kind": "poisson", "load": 0.9, "workload": "FB_Hadoop", "messages": 200},
    {"kind": "incast", "senders": 6, "size": "200KB", "start": "20us"},
]
LINK = {"link": "leaf0:spine0", "at": "62us", "until": "203us"}
WAIT = {"retransmit_timeout": "2ms"}


def run(**tables: Any) -> rocelab.Result:  # noqa: ANN401
    made = rocelab.Scenario(
        topology=NETWORK,
        traffic=TRAFFIC,
        switch={"buffer": "500KB"},
        host=WAIT,
        trace={"pfc": True},
        run={"seed": 3},
        **tables,
    )
    return rocelab.run(made, threads=1)


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {"failure": [{**LINK, "rate": "10Gbps"}]},
        {"failure": [{**LINK, "error_rate": 1e-7}]},
        {"failure": [LINK]},
        {"pfc": {"pause_time": 2000}, "wire": {"error_rate": 0.01}, "scheme": "dcqcn"},
        {"pfc": {"pause_time": 400, "response": "500ns"}, "failure": [{**LINK, "rate": "10Gbps"}]},
    ],
    ids=["resumed", "slow link", "lossy link", "failed link", "expired", "expired on slow link"],
)
def test_pauses_last_as_long_as_the_ports_counted(tables: dict[str, Any]) -> None:
    result = run(**tables)
    frames = result.traces["pfc"].to_polars()
    counted = {
        (node, port): ns
        for node, port, ns in result.ports.to_polars().select("node", "port", "paused_ns").rows()
    }
    # Those of all priorities: there is one lossless class.
    spans: dict[tuple[str, int], int] = defaultdict(int)
    for pause in pauses_of(result, frames):
        spans[pause.node, pause.port] += pause.end_ps - pause.begin_ps
    assert len(spans) > 5
    for place, ns in counted.items():
        # Counted in whole nanoseconds for each pause.
        assert spans[place] / 1000 == pytest.approx(ns, abs=2000), place
    drawn = sum(paused_ps(one.time_ps, one.values) for one in paused_lines(0, frames, result))
    assert drawn == sum(spans.values())


def test_a_picture_says_that_a_watchdog_is_not_in_the_trace() -> None:
    stalled = [{"hosts": ["h0", "h1"], "rate": "0bps", "at": "10us", "until": "3ms"}]
    watchdog = {"detect": "100us", "restore": "2ms", "action": "forward"}
    result = run(receiver=stalled, pfc={"watchdog": watchdog})
    assert "a watchdog ended" in result.plot.pauses().get_supxlabel()
    assert "a watchdog ended" not in run().plot.pauses().get_supxlabel()


def test_samples_in_a_row_are_one_pause() -> None:
    """A sample stands until the next one; what comes after the last one is not known."""
    times = pl.Series([10, 20, 30, 40, 50, 60])
    for values, spans in (
        ([0.0, 1.0, 0.5, 0.0, 1.0, 1.0], [(20, 40), (50, 60)]),
        ([1.0] * 6, [(10, 60)]),
        ([0.0] * 5 + [1.0], []),
        ([0.0] * 6, []),
    ):
        assert paused_spans(times, pl.Series(values)) == spans
