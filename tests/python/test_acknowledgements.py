"""Which data is acknowledged when: reordering, losses, short packets, an ACK for several."""

from __future__ import annotations

from typing import Any

import pytest

import rocelab


def leaf_spine(**host: Any) -> rocelab.Scenario:  # noqa: ANN401
    """A permutation over both spines, in which nothing is lost."""
    return rocelab.Scenario(
        topology={
            "kind": "leaf-spine",
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": 8,
            "host_rate": "100Gbps",
            "host_delay": "1us",
            "rate": "100Gbps",
            "delay": "1us",
        },
        scheme="none",
        run={"stop": "5ms"},
        host={"recovery": "selective-repeat", "spray": "random", **host},
        traffic=[{"kind": "permutation", "size": "33KB"}],
    )


@pytest.mark.parametrize("every", [2, 8, 100])
def test_data_that_fills_a_gap_is_acknowledged(every: int) -> None:
    """The last packet may arrive before others: only the ACK of the last gap ends the message."""
    result = rocelab.run(leaf_spine(ack_every=every, rto_low="never"))
    assert result.summary["out_of_order_packets"] > 0
    assert result.flows.to_polars()["done"].all()
    usual = rocelab.run(leaf_spine(rto_low="never"))
    late = result.summary["slowdown"]["p99"] / usual.summary["slowdown"]["p99"]
    assert late < 1.5, "no message waits for a timeout"


@pytest.mark.parametrize("recovery", ["selective-repeat", "go-back-n"])
def test_short_packets_stay_within_what_a_receiver_keeps(recovery: str) -> None:
    """One lost packet of many short messages costs that packet, as it does in one long message.

    A BDP of bytes is many times the packets that a receiver keeps, so packets are counted.
    """
    messages = [{"src": "h0", "dst": "h1", "size": "100B", "qp": "a"} for _ in range(4000)]
    made = rocelab.Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "2us"},
        scheme="none",
        pfc={"enabled": False},
        wire={"error_rate": 0.001},
        host={"recovery": recovery, "reorder": "bdp" if recovery != "go-back-n" else 64},
        run={"time_limit": "50ms"},
        traffic=[{"kind": "flows", "flows": messages}],
    )
    summary = rocelab.run(made).summary
    assert summary["flows_done"] == 4000
    assert 0 < summary["lost_packets"] < 100
    if recovery == "selective-repeat":
        # The last packet may be lost, or a packet twice: a timeout finds that.
        assert summary["timeouts"] <= 2
        assert summary["retransmitted_bytes"] < 100 * 10 * summary["lost_packets"]


def test_a_mark_is_echoed_by_the_ack_that_covers_its_packet() -> None:
    """Whether that ACK answers data in order, data that is kept, or data that fills a gap."""
    made = leaf_spine(ack_every=8).with_settings(
        scheme="dctcp",
        ecn={"kmin": "3KB", "kmax": "3KB", "pmax": 1.0},
        traffic=[{"kind": "incast", "senders": ["h8..h15"], "receiver": "h0", "size": "500KB"}],
        trace={"packets": ["h0"], "end": "5ms"},
    )
    events = rocelab.run(made).traces["packets"].to_polars()
    marked: set[int] = set()
    """Messages with a mark that no ACK has echoed yet."""
    echoes = 0
    for event in events.to_dicts():
        flow, is_marked = event["flow_id"], event["ecn"] == "congestion"
        if event["event"] == "received" and event["kind"] == "data" and is_marked:
            marked.add(flow)
        elif event["event"] == "enqueued" and event["kind"] == "ack":
            assert is_marked or flow not in marked
            marked.discard(flow)
            echoes += is_marked
    assert echoes > 20


@pytest.mark.parametrize("every", [1, 2, 4])
def test_the_ideal_time_counts_acks_that_wait_for_each_other(every: int) -> None:
    """ACKs may take a slower path than the data. A message that is alone has a slowdown of 1."""
    pairs = range(12)
    ends = [(f"{end}{pair}", f"s{end}") for pair in pairs for end in "ab"]
    middle = [(f"s{end}", node, rate) for node, rate in (("m", 100), ("slow", 2)) for end in "ab"]
    links = [(host, switch, 100) for host, switch in ends] + middle
    result = rocelab.run(
        rocelab.Scenario(
            topology={
                "kind": "custom",
                "nodes": [{"name": host, "kind": "host"} for host, _ in ends]
                + [{"name": name, "kind": "switch"} for name in ("sa", "sb", "m", "slow")],
                "links": [
                    {"a": a, "b": b, "rate": f"{rate}Gbps", "delay": "1us"} for a, b, rate in links
                ],
            },
            scheme="none",
            host={"ack_every": every},
            traffic=[
                {
                    "kind": "flows",
                    "flows": [
                        {"src": f"a{one}", "dst": f"b{one}", "size": size, "start": f"{one}ms"}
                        for one, size in zip(pairs, ["50KB", "50500B", "2KB"] * 4, strict=True)
                    ],
                }
            ],
        )
    )
    flows = result.flows.to_polars()
    assert flows["fct_ps"].to_list() == flows["ideal_fct_ps"].to_list()
    # Over the slow switch in one direction alone, and not at all.
    slow = result.ports.to_polars().filter(peer="slow")
    assert min(slow["tx_packets"].to_list()) > 0
    times = flows["ideal_fct_ps"].to_list()
    assert min(times) < max(times) / 10


def slowdown_of_one_flow(**host: Any) -> tuple[float, list[str]]:  # noqa: ANN401
    """That of a flow with selective repeat over a path that holds 7 packets; and the warnings."""
    result = rocelab.run(
        rocelab.Scenario(
            topology={"kind": "star", "hosts": 2, "host_rate": "10Gbps", "host_delay": "1us"},
            scheme="none",
            host={"recovery": "selective-repeat", **host},
            traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "3MB"}]}],
        )
    )
    return result.summary["slowdown"]["mean"], result.warnings


@pytest.mark.parametrize("in_flight", [39, "39KB", "unlimited"])
def test_what_may_be_in_flight_is_what_receivers_keep(in_flight: int | str) -> None:
    slowdown, warnings = slowdown_of_one_flow(in_flight=in_flight, ack_every=16)
    assert (slowdown, warnings) == (1, [])


@pytest.mark.parametrize("every", [2, 4, 16])
def test_acks_for_several_packets_need_more_in_flight(every: int) -> None:
    slowdown, [warning] = slowdown_of_one_flow(ack_every=every)
    assert slowdown > 1.1
    advice, _, packets = warning.rpartition("host.in_flight = ")
    assert "an ACK is for" in advice
    assert slowdown_of_one_flow(ack_every=every, in_flight=int(packets)) == (1, [])
