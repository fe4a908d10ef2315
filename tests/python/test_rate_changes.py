"""Links that change their rate: what depends on the rate follows it, what was learnt stays."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rocelab


def star(hosts: int, **settings: Any) -> rocelab.Scenario:  # noqa: ANN401
    return rocelab.Scenario(
        topology={"kind": "star", "hosts": hosts, "host_rate": "100Gbps", "host_delay": "100ns"},
        **settings,
    )


def port(result: rocelab.Result, node: str, peer: str) -> dict[str, Any]:
    rows = result.ports.to_polars().filter((pl.col("node") == node) & (pl.col("peer") == peer))
    return rows.row(0, named=True)


def test_pause_quanta_are_those_of_the_present_rate() -> None:
    """A link that becomes slow before its first pause pauses like one that always was.

    A pause of 100 quanta is 512 ns at 100 Gb/s, too short for a link of 1 Gb/s: refreshes would
    fill it.
    """
    flows = [
        {"src": "h0", "dst": "h2", "size": "10MB", "start": "20us"},
        {"src": "h1", "dst": "h0", "size": "500KB", "start": "20us"},
    ]
    made = star(
        4,
        scheme="none",
        run={"stop": "8ms"},
        pfc={"xoff": "50KB", "pause_time": 100},
        receiver=[{"hosts": ["h2"], "rate": "10Mbps", "buffer": "100KB"}],
        traffic=[{"kind": "flows", "flows": flows}],
        failure=[{"link": "h0:s0", "at": "10us", "rate": "1Gbps"}],
    )
    result = rocelab.run(made)
    assert result.summary["drops"] == 0
    assert result.summary["counters"]["pauses_expired"] == 0
    # A frame for each 25.6 us, not for each 256 ns.
    assert port(result, "s0", "h0")["pause_frames_sent"] <= 8000 / 25.6 + 2
    assert result.flows.to_polars()["done"][1], "the other direction is not full of pauses"


def test_the_response_time_of_a_slower_rate_must_be_known() -> None:
    with pytest.raises(rocelab.ConfigError, match="no bound that is known here for links of 30Gb"):
        star(
            2,
            scheme="none",
            pfc={"response": "802.3"},
            traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "1KB"}]}],
            failure=[{"link": "h0:s0", "at": "10us", "rate": "30Gbps"}],
        )


@pytest.mark.parametrize(("until", "valid"), [("60us", False), ("400us", True)])
def test_no_pause_from_before_an_outage_arrives_after_it(until: str, valid: bool) -> None:
    """A PFC frame takes its response time, and pauses a link that was repaired sooner for ever."""
    fast = {"rate": "100Gbps", "delay": "100ns"}

    def made() -> rocelab.Result:
        return rocelab.run(
            rocelab.Scenario(
                topology={
                    "kind": "custom",
                    "nodes": [
                        *({"name": name, "kind": "host"} for name in ("a", "b")),
                        *({"name": name, "kind": "switch"} for name in ("s", "t", "m0", "m1")),
                    ],
                    "links": [
                        {"a": "a", "b": "s", **fast},
                        {"a": "b", "b": "t", **fast},
                        {"a": "s", "b": "m0", **fast},
                        {"a": "s", "b": "m1", **fast},
                        {"a": "m0", "b": "t", **fast, "rate": "10Gbps"},
                        {"a": "m1", "b": "t", **fast, "rate": "10Gbps"},
                    ],
                },
                scheme="none",
                run={"time_limit": "20ms"},
                host={"retransmit_timeout": "1ms"},
                pfc={"xoff": "20KB", "response": "200us"},
                failure=[{"link": "s:m1", "at": "6us", "until": until}],
                traffic=[
                    {
                        "kind": "bursts",
                        "src": ["a"],
                        "dst": ["b"],
                        "size": "40KB",
                        "period": "1ms",
                        "count": 12,
                    }
                ],
            )
        )

    if valid:
        assert made().flows.to_polars()["done"].all()
    else:
        with pytest.raises(rocelab.ConfigError, match=r"failure\.0"):
            made()


@pytest.mark.parametrize("scheme", ["rocc", "pacc"])
def test_a_controller_keeps_what_it_has_learnt(scheme: str) -> None:
    """When the rate falls by a tenth, fair rate and probability go on from where they were."""
    made = star(
        9,
        scheme=scheme,
        run={"stop": "4200us"},
        probe=[{"name": "state", "kind": "port-state", "ports": ["s0:h8"], "interval": "1us"}],
        traffic=[{"kind": "incast", "senders": 8, "receiver": "h8", "size": "50MB"}],
        failure=[{"link": "h8:s0", "at": "4ms", "rate": "90Gbps"}],
    )
    state = rocelab.run(made).series["state"].to_polars()
    before, after = (
        state.filter(pl.col("time_ps") == time * 1_000_000).select(pl.nth(-1)).item()
        for time in (3999, 4001)
    )
    assert before > 0
    assert after == pytest.approx(before, rel=0.1)


def test_the_line_rate_of_hiercc_follows_the_links_of_its_hosts() -> None:
    """A VOQ that is short gives its senders R_line, the rate of the rack's fastest host."""
    made = star(
        2,
        scheme="hiercc",
        run={"stop": "600us"},
        probe=[{"name": "rate", "kind": "flow-rate", "nodes": ["h0"], "interval": "10us"}],
        traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "50MB"}]}],
        failure=[
            {"link": f"{host}:s0", "at": "200us", "until": "400us", "rate": "10Gbps"}
            for host in ("h0", "h1")
        ],
    )
    rates = rocelab.run(made).series["rate"].to_polars()

    def most(begin_us: int, end_us: int) -> float:
        within = rates.filter(pl.col("time_ps").is_between(begin_us * 10**6, end_us * 10**6))
        return float(within[within.columns[-1]].max())  # type: ignore[arg-type]

    assert most(100, 190) == 100e9
    assert 0 < most(250, 390) <= 10e9
    assert most(450, 590) == 100e9
