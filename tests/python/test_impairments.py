"""Links that become slow or lossy for a time."""

from __future__ import annotations

from typing import Any

import pytest

import rocelab

PACKETS = 1000
PAYLOAD = 1000


def star(**settings: Any) -> rocelab.Scenario:  # noqa: ANN401 - tables of a scenario
    """One flow through one switch, without anything that limits it but the links."""
    return rocelab.Scenario(
        topology={"kind": "star", "hosts": 3, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme="none",
        wire={"payload": f"{PAYLOAD}B"},
        pfc={"enabled": False},
        switch={"buffer": "64MB"},
        traffic=[
            {
                "kind": "flows",
                "flows": [{"src": "h0", "dst": "h1", "size": f"{PACKETS * PAYLOAD}B"}],
            }
        ],
        **settings,
    )


def fct(result: rocelab.Result) -> int:
    return int(result.flows.to_polars()["fct_ps"][0])


def packet_ps(result: rocelab.Result) -> int:
    """What a full packet takes on a link of 100 Gb/s, in picoseconds."""
    sent = result.ports.to_polars().row(0, named=True)
    return round(int(sent["tx_bytes"]) / int(sent["tx_packets"])) * 80


def failure(**entry: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of an entry
    return {"failure": [{"link": "h1:s0", **entry}]}


def test_packets_that_begin_while_a_link_is_slow_take_longer() -> None:
    fast = rocelab.run(star())
    one = packet_ps(fast)
    # The first packet begins to leave the switch when it has arrived there.
    first = one + 1_000_000
    for at_us in (5, 31, 60):
        before = -(-(at_us * 1_000_000 - first) // one)
        slow = rocelab.run(star(**failure(at=f"{at_us}us", rate="50Gbps")))
        # The link is slow in both directions: the last ACK takes twice as long, too.
        assert slow.summary["flows_done"] == 1
        extra = fct(slow) - fct(fast) - (PACKETS - before) * one
        # An ACK has a few bytes; the first packet of a message has one header more.
        assert 0 <= extra <= 100 * 80 + 80 * 40, (at_us, extra)


def test_a_link_recovers() -> None:
    fast = rocelab.run(star())
    one = packet_ps(fast)
    slow = rocelab.run(star(**failure(at="20us", until="40us", rate="25Gbps")))
    # In 20 us 100 Gb/s serve four times as many packets as 25 Gb/s.
    missed = 20_000_000 // one - 20_000_000 // (4 * one)
    assert abs((fct(slow) - fct(fast)) / one - missed) <= 4


def test_packets_are_damaged_only_while_the_link_is_lossy() -> None:
    host = {"recovery": "selective-repeat"}
    sound = rocelab.run(star(host=host))
    assert sound.summary["lost_packets"] == 0
    lossy = rocelab.run(star(host=host, **failure(at="20us", until="40us", error_rate=0.2)))
    assert lossy.summary["flows_done"] == 1
    # 20 us have about 230 packets of data, and the ACKs of as many.
    assert 20 < lossy.summary["lost_packets"] < 200
    later = rocelab.run(star(host=host, **failure(at="1ms", error_rate=0.2)))
    assert later.summary["digest"] == sound.summary["digest"]


def test_int_tells_the_rate_that_a_link_has() -> None:
    """HPCC sees the slow link's own rate and shares that; its goodput follows."""
    entry = failure(at="100us", rate="20Gbps")
    flow = {"src": "h0", "dst": "h1", "size": "5MB"}
    made = star(**entry).with_settings(
        scheme={"name": "hpcc"},
        traffic=[{"kind": "flows", "flows": [flow]}],
        probe=[{"name": "q", "kind": "queue", "ports": ["s0:h1"], "interval": "1us"}],
    )
    result = rocelab.run(made)
    queue = result.series["q"].to_polars()
    late = queue.filter(queue["time_ps"] > 300_000_000)["queue_bytes"].to_list()
    # HPCC keeps the link at 95 % with an almost empty queue, at the new rate as at the old one.
    assert max(late) < 20_000


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_change_nothing(threads: int) -> None:
    made = rocelab.example("fat-tree").with_settings(
        **{"run.stop": "300us"},
        failure=[
            {"link": "tor0:agg0", "at": "50us", "rate": "25Gbps"},
            {"link": "tor1:agg0", "at": "70us", "until": "200us", "error_rate": 0.01},
        ],
    )
    one = rocelab.run(made, threads=1)
    assert one.summary["lost_packets"] > 0
    assert rocelab.run(made, threads=threads).summary["digest"] == one.summary["digest"]


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ({"rate": "100Gbps"}, "failure.0.rate: 100Gbps is not below the rate of the link"),
        ({"rate": "0bps"}, "then the link fails"),
        ({"error_rate": 1.5}, "failure.0.error_rate: 1.5 is no probability"),
    ],
)
def test_errors_name_the_place_and_a_fix(entry: dict[str, Any], error: str) -> None:
    with pytest.raises(rocelab.ConfigError, match=error):
        star(**failure(at="20us", **entry))


def test_the_failures_of_a_link_are_apart() -> None:
    entries = [
        {"link": "h1:s0", "at": "20us", "until": "50us", "rate": "50Gbps"},
        {"link": "h1:s0", "at": "30us", "error_rate": 0.1},
    ]
    with pytest.raises(rocelab.ConfigError, match="is slow or lossy from 20us already"):
        star(failure=entries)


@pytest.mark.parametrize("interval", ["50us", "80us"])
def test_a_busy_link_is_used_fully_whatever_its_rate(interval: str) -> None:
    probe = {"name": "use", "kind": "utilisation", "ports": ["h0:s0"], "interval": interval}
    result = rocelab.run(
        star(
            failure=[{"link": "h0:s0", "at": "20us", "until": "70us", "rate": "40Gbps"}],
            probe=[probe],
        ).with_settings(traffic__0__flows__0__size="3MB")
    )
    series = result.series["use"].to_polars()
    busy = series.filter(series["time_ps"] < result.flows.to_polars()["fct_ps"][0] - 10_000_000)
    assert len(busy) >= 2
    # A packet counts where it begins, and takes 0.2 us at 40 Gb/s.
    assert busy["utilisation"].to_list() == pytest.approx([1] * len(busy), abs=0.01)


def test_what_begins_after_the_end_is_told() -> None:
    late = rocelab.run(star(**failure(at="5ms", rate="50Gbps")))
    assert any(
        "[[failure]] begins after the run ended" in one and "had no effect" in one
        for one in late.warnings
    )
    early = rocelab.run(star(**failure(at="5us", rate="50Gbps")))
    assert not early.warnings
