"""Hosts with a port in each plane of a network, and packets that take turns over the ports."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rocelab
from rocelab import ConfigError

Table = dict[str, Any]
SPRAY: Table = {"ports": "spray", "recovery": "selective-repeat", "in_flight": "unlimited"}
LINKS: Table = {"host_rate": "100Gbps", "host_delay": "1us", "rate": "100Gbps", "delay": "1us"}


def run(**tables: Any) -> rocelab.Result:  # noqa: ANN401 - tables of a scenario
    base: Table = {
        "topology": {
            "kind": "leaf-spine",
            "planes": 4,
            "leaves": 2,
            "spines": 4,
            "hosts_per_leaf": 4,
            **LINKS,
        },
        # Large packets, so that ACKs, which are not sprayed, load the links by 1 % only.
        "wire": {"payload": "9000B"},
        "host": SPRAY,
    }
    return rocelab.run(rocelab.Scenario(**base | tables), threads=1)


def flows(*pairs: tuple[int, int], size: str = "40MB", **keys: str) -> Table:
    table = [{"src": f"h{a}", "dst": f"h{b}", "size": size, **keys} for a, b in pairs]
    return {"kind": "flows", "flows": table}


ADAPTIVE = {"balance": "adaptive"}
"""The switches of a plane use its links evenly."""

ACROSS = [(n, n + 4) for n in range(4)]
"""From each host of the first leaf to one of the second, which takes all uplinks of all planes."""


def test_switches_of_planes_have_names_and_hosts_a_port_in_each() -> None:
    for topology, switches in (
        ({"kind": "leaf-spine", "leaves": 2, "spines": 3, "hosts_per_leaf": 2}, {"leaf", "spine"}),
        ({"kind": "fat-tree", "k": 2}, {"tor", "agg", "core"}),
    ):
        one, three = (
            rocelab.Scenario(topology={**topology, "planes": planes, **LINKS}, run={"stop": "1us"})
            .plan()
            .ports.to_polars()
            for planes in (1, 3)
        )
        assert len(three) == 3 * len(one)
        of_host = three.filter(pl.col("node") == "h0")["peer"].to_list()
        assert [peer.split("/")[0] for peer in of_host] == ["plane0", "plane1", "plane2"]
        # All planes are the first one once more, with a name before it.
        for plane in range(3):
            own = three.filter(
                pl.col("node").str.starts_with(f"plane{plane}/")
                & pl.col("peer").str.starts_with(f"plane{plane}/")
            )
            bare = own.select(pl.col("node", "peer").str.strip_prefix(f"plane{plane}/"))
            assert set(bare.iter_rows()) == set(
                one.filter((pl.col("tier") > 0) & (pl.col("peer_tier") > 0))
                .select("node", "peer")
                .iter_rows()
            )
            assert {name.rstrip("0123456789") for name in bare["node"]} == switches


def test_a_flow_has_all_ports_or_one() -> None:
    sprayed = run(traffic=[flows((0, 4))]).flows.to_polars()
    hashed = run(traffic=[flows((0, 4))], host={**SPRAY, "ports": "hash"}).flows.to_polars()
    assert sprayed["slowdown"][0] == pytest.approx(1, abs=0.001)
    assert hashed["slowdown"][0] == pytest.approx(1, abs=0.001)
    # 8 us of the round trip do not shrink.
    assert hashed["fct_ps"][0] - sprayed["fct_ps"][0] == pytest.approx(
        0.75 * hashed["fct_ps"][0], rel=0.01
    )


def test_a_permutation_over_all_planes_takes_little_longer_than_alone() -> None:
    result = run(traffic=[flows(*ACROSS, size="20MB")], routing=ADAPTIVE)
    assert max(result.flows.to_polars()["slowdown"]) < 1.03
    assert result.summary["retransmitted_bytes"] == 0
    uplinks = result.ports.to_polars().filter(
        pl.col("node").str.contains("leaf0") & pl.col("peer").str.contains("spine")
    )
    assert len(uplinks) == 16
    assert max(uplinks["tx_bytes"]) < 1.1 * min(uplinks["tx_bytes"])


def goodput(result: rocelab.Result) -> float:
    """Payload over the time to the end of the last flow, in Gb/s, as seen from the first."""
    table = result.flows.to_polars()
    assert table["done"].all()
    begin, end = min(table["start_ps"]), max((table["start_ps"] + table["fct_ps"]).to_list())
    return float(sum(table["size_bytes"]) * 8000 / (end - begin))


@pytest.mark.parametrize(
    ("link", "share"),
    [
        # A host without one of k links has (k - 1)/k of its rate.
        ("h0:plane1/leaf0", 3 / 4),
        # A plane without one of u uplinks has (u - 1)/u of its rate: (k u - 1)/(k u) of all. The
        # pauses of this plane have hosts use the others more.
        ("plane1/leaf0:plane1/spine2", 15 / 16),
    ],
)
def test_a_failed_link_costs_its_share(link: str, share: float) -> None:
    traffic = [flows(*ACROSS, start="10us")]
    # Queues are short, so that what waits at the end takes no time.
    tables: Table = {"traffic": traffic, "routing": ADAPTIVE, "pfc": {"xoff": "100KB"}}
    sound = run(**tables)
    broken = run(**tables, failure=[{"link": link, "at": "1us"}])
    assert goodput(broken) / goodput(sound) == pytest.approx(share, abs=0.03)
    assert broken.summary["retransmitted_bytes"] == 0


def test_a_host_with_two_switches_keeps_half_its_rate() -> None:
    """Dual ToR: each host is at two switches, which are joined above."""
    switches = ["tor0", "tor1", "tor2", "tor3", "agg0", "agg1"]
    nodes: list[Table] = [{"name": f"h{n}", "kind": "host"} for n in range(4)]
    nodes += [{"name": name, "kind": "switch", "tier": 1 + ("agg" in name)} for name in switches]
    links = [
        {"a": f"h{host}", "b": f"tor{2 * (host // 2) + side}", "rate": "100Gbps", "delay": "1us"}
        for host in range(4)
        for side in range(2)
    ]
    links += [
        {"a": f"tor{tor}", "b": f"agg{agg}", "rate": "200Gbps", "delay": "1us"}
        for tor in range(4)
        for agg in range(2)
    ]
    result = run(
        topology={"kind": "custom", "nodes": nodes, "links": links},
        traffic=[flows((0, 2), (1, 3), start="10us")],
        routing=ADAPTIVE,
        failure=[{"link": "h0:tor0", "at": "1us"}],
    )
    halved, whole = result.flows.to_polars().sort("src")["fct_ps"].to_list()
    alone = 40_000_000 * 8 / 200e9 * 1e12 * 9082 / 9000
    assert whole == pytest.approx(alone, rel=0.03)
    assert halved == pytest.approx(2 * alone, rel=0.03)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"topology": {"planes": 1}}, 'host.ports: "spray" needs hosts with several links'),
        ({"topology": {"planes": 0}}, "topology.planes: must be at least 1"),
        ({"topology": {"planes": 65}}, "topology.planes: must be at most 64"),
        ({"scheme": "hpcc"}, "host.ports: does not go with scheme hpcc"),
        ({"quirks": {"packet_round_robin": True}}, "host.ports: does not go with quirks"),
        ({"routing": {"balance": "conga"}}, "host h0 has links to several leaves or planes"),
        ({"routing": {"balance": "conweave"}}, "needs hosts with one link"),
        ({"routing": {"paths": "spanning-trees"}}, "does not go with routing.paths"),
    ],
)
def test_what_does_not_go_together_is_refused(tables: Table, words: str) -> None:
    topology = {
        "kind": "leaf-spine",
        "planes": 2,
        "leaves": 2,
        "spines": 2,
        "hosts_per_leaf": 2,
        **LINKS,
    }
    rest = {key: table for key, table in tables.items() if key != "topology"}
    host = {"ports": "spray"} if "quirks" in tables else SPRAY
    with pytest.raises(ConfigError, match=words):
        rocelab.Scenario(
            topology=topology | tables.get("topology", {}),
            traffic=[flows((0, 2))],
            host=host,
            **rest,
        ).validate()


@pytest.mark.parametrize("routing", [{}, {"balance": "round-robin"}])
def test_the_plan_has_data_and_acks_on_the_ports_that_carry_them(routing: Table) -> None:
    """By hash, switches send the packets of a flow one way, though its host takes turns."""
    tables: Table = {
        "topology": {
            "kind": "leaf-spine",
            "planes": 3,
            "leaves": 2,
            "spines": 3,
            "hosts_per_leaf": 2,
            **LINKS,
        },
        "traffic": [flows((0, 2), (1, 3), (2, 1), size="3MB")],
        # Small packets, so that ACKs are a good part of what is sent.
        "wire": {"payload": "256B"},
        "routing": routing,
    }
    planned = rocelab.Scenario(**tables, host=SPRAY).plan().ports.to_polars()
    both = run(**tables).ports.to_polars().join(planned, on=["node", "port"])
    assert len(both) == len(planned) == 2 * 3 * (4 + 6)
    few_packets = 20 * 350
    for row in both.iter_rows(named=True):
        expected = row["data_bytes"] + row["ack_bytes"]
        assert row["tx_bytes"] == pytest.approx(expected, abs=few_packets), row
    assert 5 * sum(planned["ack_bytes"]) > sum(planned["data_bytes"])


def test_turns_over_ports_reorder_packets_and_a_warning_says_so() -> None:
    result = run(traffic=[flows((0, 4), size="1MB")], host={"ports": "spray"}, run={"stop": "1ms"})
    assert any("host.ports has packets overtake" in str(one) for one in result.warnings)


def test_a_qp_that_wakes_up_passes_over_a_paused_port() -> None:
    """Short messages beside a bulk flow over two ports, of which one is paused most of the time.

    Those that are posted while the port of their hash is paused leave through the other one.
    """
    ends = {"rate": "100Gbps", "delay": "1us"}
    result = rocelab.run(
        rocelab.Scenario(
            topology={
                "kind": "custom",
                "nodes": [
                    *({"name": name, "kind": "host"} for name in ("h0", "h1")),
                    *({"name": name, "kind": "switch"} for name in ("x", "y")),
                ],
                "links": [
                    {"a": "h0", "b": "x", **ends},
                    {"a": "h1", "b": "x", **ends, "rate": "100Mbps"},
                    {"a": "h0", "b": "y", **ends},
                    {"a": "h1", "b": "y", **ends},
                ],
            },
            scheme="none",
            run={"time_limit": "50ms"},
            host={"ports": "spray", "reorder": 16384},
            pfc={"xoff": "20KB", "xon": "18KB"},
            traffic=[
                {**flows((0, 1), size="40MB"), "tag": "bulk"},
                {
                    "kind": "bursts",
                    "tag": "small",
                    "src": ["h0"],
                    "dst": ["h1"],
                    "size": "1KB",
                    "start": "100us",
                    "period": "20us",
                    "count": 100,
                },
            ],
        ),
        threads=1,
    )
    small = result.flows.to_polars().filter(pl.col("tag") == "small")
    # The slow link holds packets that left before it was paused: up to 20 KB, 1.6 ms.
    slow = (small["fct_ps"] > 10_000_000).sum()  # 10 us
    assert slow <= len(small) // 10


def test_cnps_leave_through_the_port_of_the_marked_packet() -> None:
    """Also those for packets that are out of order."""
    result = run(
        topology={
            "kind": "leaf-spine",
            "planes": 4,
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": 4,
            **LINKS,
        },
        wire={},
        scheme="dcqcn",
        host=SPRAY | {"spray": "random"},
        run={"stop": "400us"},
        trace={"packets": ["h4"], "end": "400us"},
        traffic=[
            {"kind": "incast", "senders": ["h0", "h1", "h2"], "receiver": "h4", "size": "4MB"}
        ],
    )
    events = result.traces["packets"].to_polars()
    marked = events.filter((pl.col("event") == "received") & (pl.col("kind") == "data"))
    cnps = events.filter((pl.col("event") == "enqueued") & (pl.col("kind") == "control"))
    assert len(cnps) > 5
    came_in = {(row["time_ps"], row["flow_id"]): row["port"] for row in marked.to_dicts()}
    for cnp in cnps.to_dicts():
        assert came_in[cnp["time_ps"], cnp["flow_id"]] == cnp["port"]


@pytest.mark.parametrize(
    "settings",
    [
        {"host": SPRAY | {"spray": "random"}},
        {"host": SPRAY, "routing": {"balance": "random"}},
    ],
)
def test_random_paths_in_several_planes_are_independent(settings: Table) -> None:
    """Two packets that leave at one instant take the same spine of their planes half the time."""
    result = run(
        topology={
            "kind": "leaf-spine",
            "planes": 2,
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": 2,
            **LINKS,
        },
        wire={},
        trace={"packets": ["plane0/leaf0", "plane1/leaf0"], "end": "40us"},
        traffic=[flows((0, 2), size="400KB")],
        **settings,
    )
    events = result.traces["packets"].to_polars()
    sent = events.filter((pl.col("event") == "dequeued") & (pl.col("kind") == "data"))
    by_time: dict[int, list[int]] = {}
    for row in sent.to_dicts():
        by_time.setdefault(row["time_ps"], []).append(row["port"])
    pairs = [ports for ports in by_time.values() if len(ports) == 2]
    assert len(pairs) > 100
    same = sum(a == b for a, b in pairs) / len(pairs)
    assert 0.3 < same < 0.7
