"""Load balancing, spraying, loss recovery and slow receivers against closed forms."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl
import pytest

import rocelab
from rocelab import ConfigError

Table = dict[str, Any]

LINK = {"rate": "100Gbps", "delay": "1us"}
HOSTS = {"host_rate": "100Gbps", "host_delay": "1us", **LINK}
SELECTIVE = {"recovery": "selective-repeat", "in_flight": "unlimited"}


def leaf_spine(hosts: int, spines: int) -> Table:
    """Two leaves, each with as many hosts."""
    return {"kind": "leaf-spine", "leaves": 2, "spines": spines, "hosts_per_leaf": hosts, **HOSTS}


def across(hosts: int, size: str) -> list[Table]:
    """From each host of the first leaf to one of the second."""
    flows = [{"src": f"h{n}", "dst": f"h{n + hosts}", "size": size} for n in range(hosts)]
    return [{"kind": "flows", "flows": flows}]


def run(**tables: Any) -> rocelab.Result:  # noqa: ANN401 - tables of a scenario
    return rocelab.run(rocelab.Scenario(**tables), threads=1)


def completion(result: rocelab.Result) -> float:
    """When the last flow was complete, over the ideal time of the longest."""
    flows = result.flows.to_polars()
    assert flows["done"].all()
    last = max((flows["start_ps"] + flows["fct_ps"]).to_list())
    return float(last / max(flows["ideal_fct_ps"].to_list()))


def test_with_ecmp_the_busiest_uplink_decides() -> None:
    hosts, busiest = 8, []
    alone = 300 * 1082 * 8 / 100e9
    for seed in range(150):
        result = run(
            topology=leaf_spine(hosts, hosts),
            traffic=across(hosts, "300KB"),
            run={"seed": seed},
        )
        ports = (
            result.ports.to_polars()
            .filter(node="leaf0")
            .filter(pl.col("peer").str.starts_with("spine"))
        )
        flows = round(max(ports["tx_bytes"].to_list()) / (300 * 1082))
        busiest.append(flows)
        table = result.flows.to_polars()
        later = (max(table["fct_ps"].to_list()) - max(table["ideal_fct_ps"].to_list())) / 1e12
        assert later / alone == pytest.approx(flows - 1, abs=0.1), seed
    # The mean of the largest of 8 cells after 8 balls is 2.597; 150 draws have an error of 2.3 %.
    assert sum(busiest) / len(busiest) == pytest.approx(2.597, rel=0.06)


@pytest.mark.parametrize(
    ("host", "routing", "most"),
    [
        (SELECTIVE, {"balance": "random"}, 1.07),
        (SELECTIVE, {"balance": "drill"}, 1.08),
        (SELECTIVE | {"spray": "reps"}, {}, 1.05),
        ({"reorder": 4000}, {"balance": "random"}, 1.07),
    ],
)
def test_a_sprayed_permutation_takes_little_longer_than_alone(
    host: Table, routing: Table, most: float
) -> None:
    # Large packets, so that ACKs, which are not sprayed, load the links by 1 % only.
    result = run(
        topology={"kind": "fat-tree", "k": 8, **HOSTS},
        wire={"payload": "9000B"},
        traffic=[{"kind": "permutation", "size": "20MB"}],
        host=host,
        routing=routing,
    )
    assert completion(result) < most
    assert result.summary["retransmitted_bytes"] == 0
    assert result.summary["out_of_order_packets"] > 0
    # Packets have paths of their own, and flows have none.
    assert result.flows.to_polars()["path_changes"].null_count() == len(result.flows)


def test_flowlets_need_gaps() -> None:
    result = run(
        topology=leaf_spine(4, 4),
        traffic=across(4, "1MB"),
        scheme="dcqcn",
        routing={"balance": "letflow", "flowlet_gap": "500us"},
    )
    counters = result.summary["counters"]
    assert counters["flowlets"] == 4
    assert counters["path_changes"] == 0
    assert result.flows.to_polars()["path_changes"].to_list() == [0] * 4
    assert result.summary["out_of_order_packets"] == 0


def test_a_flow_that_pauses_changes_its_path_in_order() -> None:
    flows = [
        {"src": "h0", "dst": "h4", "size": "20KB", "start": f"{n * 200}us", "qp": "a"}
        for n in range(30)
    ]
    result = run(
        topology=leaf_spine(4, 4),
        traffic=[{"kind": "flows", "flows": flows}],
        routing={"balance": "letflow", "flowlet_gap": "100us"},
    )
    counters = result.summary["counters"]
    assert counters["flowlets"] == 30
    assert 15 <= counters["path_changes"] < 30, "three of four choices are another path"
    moved = result.flows.to_polars().sort("start_ps")["path_changes"]
    assert moved[0] == 0
    assert set(moved) == {0, 1}
    assert moved.sum() == counters["path_changes"]
    assert result.summary["out_of_order_packets"] == 0


def uneven() -> Table:
    """Two leaves with four hosts each and four spines, one of which has half the rate."""
    nodes = [{"name": f"h{n}", "kind": "host"} for n in range(8)]
    nodes += [{"name": name, "kind": "switch"} for name in ("l0", "l1", "s0", "s1", "s2", "s3")]
    links = [{"a": f"h{n}", "b": f"l{n // 4}", **LINK} for n in range(8)]
    for spine in range(4):
        rate = "50Gbps" if spine == 3 else "100Gbps"
        links += [{"a": leaf, "b": f"s{spine}", **LINK, "rate": rate} for leaf in ("l0", "l1")]
    return {"kind": "custom", "nodes": nodes, "links": links}


@pytest.mark.parametrize(("balance", "rates"), [("random", 2.0), ("adaptive", 3.5)])
def test_of_unequal_uplinks_the_slowest_decides_unless_load_is_looked_at(
    balance: str, rates: float
) -> None:
    result = run(
        topology=uneven(),
        traffic=across(4, "10MB"),
        host=SELECTIVE,
        routing={"balance": balance},
        pfc={"xoff": "60KB"},
    )
    wire = 4 * 10_000 * 1082 * 8
    took = max(result.flows.to_polars()["fct_ps"].to_list()) / 1e12
    assert wire / took / 100e9 == pytest.approx(rates, rel=0.07)
    warned = any("slowest path" in warning for warning in result.warnings)
    assert warned == (balance == "random")


def beside_a_loaded_link(balance: str, share: str) -> rocelab.Result:
    """Flows from a leaf with two spines to another; a third leaf loads the way by one of them."""
    names = [f"h{n}" for n in range(3)] + ["l0", "l1", "l2", "s0", "s1"]
    pairs = [("h0", "l0"), ("h1", "l1"), ("l0", "s0"), ("l0", "s1"), ("l1", "s0"), ("l1", "s1")]
    links = [{"a": a, "b": b, **LINK} for a, b in [*pairs, ("l2", "s0")]]
    topology = {
        "kind": "custom",
        "nodes": [{"name": n, "kind": "host" if n[0] == "h" else "switch"} for n in names],
        "links": [*links, {"a": "h2", "b": "l2", **LINK, "rate": share}],
    }
    flows: list[Table] = [{"src": "h2", "dst": "h1", "size": "40MB"}]
    flows += [
        {"src": "h0", "dst": "h1", "size": "30KB", "start": f"{200 + n * 40}us"} for n in range(80)
    ]
    return run(
        topology=topology,
        traffic=[{"kind": "flows", "flows": flows}],
        routing={"balance": balance},
        run={"stop": "4ms"},
    )


@pytest.mark.parametrize(
    ("balance", "share", "least", "most"),
    [
        ("letflow", "60Gbps", 25, 55),
        # The first flow may go there: nothing is known of the way yet.
        ("conga", "60Gbps", 0, 1),
        # Less than an eighth of the rate, with what the flows add, looks idle.
        ("conga", "2Gbps", 25, 55),
    ],
)
def test_leaves_tell_each_other_which_uplinks_lead_to_loaded_links(
    balance: str, share: str, least: int, most: int
) -> None:
    result = beside_a_loaded_link(balance, share)
    port = result.ports.to_polars().filter(node="l0", peer="s0")
    flows = round(port["tx_bytes"].item() / (30 * 1082))
    assert least <= flows <= most
    assert result.summary["out_of_order_packets"] == 0


def test_a_path_of_which_nothing_is_heard_counts_as_idle_again() -> None:
    scenario = {"balance": "conga", "conga": {"age": "1us"}}
    result = beside_a_loaded_link("conga", "60Gbps")
    aged = rocelab.run(result.scenario.with_settings(routing=scenario), threads=1)
    port = aged.ports.to_polars().filter(node="l0", peer="s0")
    assert port["tx_bytes"].item() > 25 * 30 * 1082


def shares_of_spines(quirks: Table, topology: Table, traffic: list[Table]) -> list[float]:
    """What each uplink of the first leaf carries, over the mean of all."""
    routing = {"balance": "conga", "conga": {"age": "1ns"}}
    result = run(topology=topology, traffic=traffic, routing=routing, quirks=quirks)
    ports = result.ports.to_polars().filter(pl.col("peer").str.starts_with("spine"))
    sent: list[float] = ports.filter(node="leaf0").sort("peer")["tx_bytes"].to_list()
    return [one * len(sent) / sum(sent) for one in sent]


def test_from_how_many_uplinks_a_flow_chooses() -> None:
    """From all, or from four neighbours of eight.

    One of five such quartets has the first uplink, four of them have the fourth.
    """
    flows = [
        {"src": f"h{n % 8}", "dst": f"h{8 + n % 8}", "size": "1KB", "start": f"{n}us"}
        for n in range(4_000)
    ]
    traffic: list[Table] = [{"kind": "flows", "flows": flows}]
    all_uplinks = shares_of_spines({}, leaf_spine(8, 8), traffic)
    quartets = shares_of_spines({"conweave_conga": True}, leaf_spine(8, 8), traffic)
    assert all_uplinks == pytest.approx([1] * 8, rel=0.25)
    expected = [1, 2, 3, 4, 4, 3, 2, 1]
    assert quartets == pytest.approx([share * 2 / 5 for share in expected], rel=0.2)
    # Of fewer than four all are looked at.
    few = shares_of_spines({"conweave_conga": True}, leaf_spine(8, 3), traffic)
    assert few == pytest.approx([1] * 3, rel=0.1)


def test_conga_may_count_packets_before_they_wait() -> None:
    """A burst that arrives at one instant: the flows behind it avoid its uplink at once."""
    slow = {**leaf_spine(6, 2), "rate": "10Gbps"}
    # The burst of h0 waits for 240 us. Six flows begin while it has sent less than an eighth of
    # what the uplink may send in the time over which links are measured.
    flows = [{"src": "h0", "dst": "h6", "size": "300KB"}]
    flows += [
        {"src": f"h{1 + n % 5}", "dst": f"h{7 + n % 5}", "size": "1KB", "start": f"{22 + n}us"}
        for n in range(10)
    ]
    shared = {}
    for name, quirks in (("departure", {}), ("arrival", {"conweave_conga": True})):
        result = run(
            topology=slow,
            traffic=[{"kind": "flows", "flows": flows}],
            routing={"balance": "conga", "conga": {"dre_period": "50us", "alpha": 0.2}},
            quirks=quirks,
        )
        ports = result.ports.to_polars().filter(pl.col("peer").str.starts_with("spine"))
        shared[name] = round(min(ports.filter(node="leaf0")["tx_bytes"].to_list()) / 1082)
    assert shared["arrival"] == 10
    assert shared["departure"] < 10


@pytest.mark.parametrize(
    ("topology", "why"),
    [
        ({"kind": "fat-tree", "k": 4, **HOSTS}, "neither has hosts"),
        ({"kind": "star", "hosts": 4, "host_rate": "100Gbps", "host_delay": "1us"}, "no switch"),
        ({"kind": "dumbbell", "senders": 4, "switches": 2, **HOSTS}, "both have hosts"),
    ],
)
def test_conga_is_for_leaf_spines(topology: Table, why: str) -> None:
    with pytest.raises(ConfigError, match=f"leaf-spine network: .*{why}"):
        rocelab.Scenario(
            topology=topology,
            traffic=[{"kind": "permutation", "size": "1MB"}],
            routing={"balance": "conga"},
        ).validate()


def test_a_flow_alone_is_asked_once_per_round_trip_and_never_rerouted() -> None:
    result = run(
        topology=leaf_spine(2, 4),
        traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h2", "size": "10MB"}]}],
        routing={"balance": "conweave"},
    )
    counters = result.summary["counters"]
    assert counters["reroutes"] == counters["held_packets"] == counters["notifies"] == 0
    # The last reply may come after the last packet.
    assert counters["timely_replies"] >= counters["replies"] - 1
    # Between the leaves: four links, two packets of data with four bytes more, two of 84 bytes; and
    # half a packet until the next one leaves.
    packet = (1082 + 4) * 8 / 100e9
    round_trip = 4e-6 + 2.5 * packet + 2 * 84 * 8 / 100e9
    took = result.flows.to_polars()["fct_ps"].item() / 1e12
    assert counters["replies"] == pytest.approx(took / round_trip, rel=0.03)
    # The ideal time is that without the four bytes.
    assert result.flows.to_polars()["slowdown"].item() == pytest.approx(1086 / 1082, abs=1e-4)


def busy(conweave: Table, seed: int, **tables: Any) -> rocelab.Result:  # noqa: ANN401 - tables
    """WebSearch over a leaf-spine with two hosts for each uplink."""
    topology = {**leaf_spine(8, 4), "leaves": 3}
    traffic = [{"kind": "poisson", "workload": "WebSearch", "load": 0.45, "duration": "1ms"}]
    routing = {"balance": "conweave", "conweave": conweave}
    return run(
        **{"topology": topology, "traffic": traffic, "scheme": "dcqcn"} | tables,
        routing=routing,
        run={"seed": seed},
    )


@pytest.mark.parametrize("seed", range(4))
def test_hosts_see_packets_in_order_as_long_as_the_tail_is_waited_for(seed: int) -> None:
    patient = {"resume_extra": "5ms", "resume_default": "5ms", "inactive": "20ms", "queues": 1000}
    result = busy(patient, seed)
    counters = result.summary["counters"]
    assert counters["reroutes"] > 5
    # A reroute may draw the path that the flow is on.
    assert 0 < counters["path_changes"] <= counters["reroutes"]
    assert result.flows.to_polars()["path_changes"].sum() == counters["path_changes"]
    assert counters["held_packets"] > 50
    assert counters["early_releases"] == counters["unheld_packets"] == 0
    assert counters["clears"] == counters["reroutes"] + counters["aborted_reroutes"]
    assert result.summary["out_of_order_packets"] == 0
    assert result.summary["drops"] == 0
    # What waits is in the buffers of switches.
    assert counters["max_held_bytes"] >= counters["max_reorder_queue_bytes"] > 0


def test_packets_that_wait_in_memory_of_their_own_take_no_room_in_the_buffer() -> None:
    # PFC pauses early, as the buffer is small.
    small = {"switch": {"buffer": "2MB"}, "pfc": {"alpha": 0.05}}
    pauses = {False: 0, True: 0}
    for seed, own in itertools.product(range(4), pauses):
        result = busy({"own_memory": own, "resume_extra": "64us"}, seed, **small)
        assert result.summary["lossless_drops"] == 0
        assert result.summary["flows_done"] == result.summary["flows"]
        assert result.summary["counters"]["max_held_bytes"] > 0
        pauses[own] += result.summary["pause_frames"]
    assert pauses[True] < 0.9 * pauses[False]


def test_packets_that_cannot_wait_or_not_long_enough_are_out_of_order() -> None:
    few = busy({"queues": 1, "resume_extra": "5ms", "resume_default": "5ms"}, 0)
    assert few.summary["counters"]["max_reorder_queues"] == 1
    assert few.summary["counters"]["unheld_packets"] > 0
    assert few.summary["out_of_order_packets"] > 0
    hasty = busy({"resume_extra": "0ns", "resume_default": "0ns"}, 0)
    assert hasty.summary["counters"]["early_releases"] > 0
    assert hasty.summary["out_of_order_packets"] > 0


def test_a_flow_leaves_a_link_that_others_load() -> None:
    routing: Table = {"balance": "conweave"}
    of = {}
    for balance in ("ecmp", "conweave"):
        routing["balance"] = balance
        finished = [
            completion(
                run(
                    topology=leaf_spine(4, 4),
                    traffic=across(4, "8MB"),
                    scheme="dcqcn",
                    routing=routing,
                    run={"seed": seed},
                )
            )
            for seed in range(8)
        ]
        of[balance] = sum(finished) / len(finished)
    assert of["ecmp"] > 1.5
    assert of["conweave"] < 0.8 * of["ecmp"]


def test_what_waits_for_a_tail_is_lost_with_it_at_a_failure_and_all_flows_end() -> None:
    failures = [
        {"link": f"leaf{n}:spine{n}", "at": f"{200 + 50 * n}us", "until": "600us"} for n in range(3)
    ]
    host = {"retransmit_timeout": "300us"}
    result = busy({}, 1, failure=failures, host=host)
    assert result.summary["flows_done"] == result.summary["flows"]
    assert result.summary["counters"]["reroutes"] > 20


def test_conweave_follows_paths_of_several_tiers() -> None:
    result = run(
        topology={"kind": "fat-tree", "k": 4, **HOSTS},
        traffic=[{"kind": "permutation", "size": "4MB"}],
        scheme="dcqcn",
        routing={"balance": "conweave"},
    )
    complete = result.scenario.to_dict()["routing"]["conweave"]
    assert complete["resume_extra"] == "64us"
    assert result.summary["counters"]["reroutes"] > 0
    assert result.summary["flows_done"] == 16


@pytest.mark.parametrize(("loss", "packets"), [(1e-3, 40_000), (1e-2, 4_000)])
def test_what_a_loss_costs(loss: float, packets: int) -> None:
    # Only the link between the switches damages packets.
    names = [("h0", "host"), ("h1", "host"), ("s0", "switch"), ("s1", "switch")]
    topology = {
        "kind": "custom",
        "nodes": [{"name": name, "kind": kind} for name, kind in names],
        "links": [
            {"a": "h0", "b": "s0", **LINK},
            {"a": "s0", "b": "s1", **LINK, "error_rate": loss},
            {"a": "s1", "b": "h1", **LINK},
        ],
    }

    def over(host: Table) -> tuple[float, rocelab.Result]:
        flows = [{"src": "h0", "dst": "h1", "size": f"{packets}KB"}]
        traffic = [{"kind": "flows", "flows": flows}]
        result = run(topology=topology, traffic=traffic, host=host)
        assert result.summary["flows_done"] == 1
        summary = result.summary
        # A packet that is lost twice, or the last one, costs a timeout beside.
        ideal = result.flows.to_polars()["ideal_fct_ps"].item() / 1e12
        return summary["slowdown"]["mean"] - summary["timeouts"] * 320e-6 / ideal, result

    # W packets leave between a packet and the arrival of its NACK.
    window = 6.6e-6 * 100e9 / 8 / 1082
    once = 1 / (1 - loss)
    selective, result = over(SELECTIVE)
    # An ACK that is lost, too, makes its packet look lost if later ones are acknowledged.
    summary = result.summary
    needed = summary["retransmitted_bytes"] - summary["duplicate_bytes"]
    assert needed / (packets * 1000) == pytest.approx(loss * once, rel=0.35)
    assert summary["duplicate_bytes"] < needed
    assert selective == pytest.approx(once, abs=0.02)
    if loss > 1e-3:
        return  # Too few losses for a mean.
    # With one bandwidth-delay product in flight nothing new leaves while a gap is filled: for the
    # round trip of the lost packet's second copy.
    limited, _ = over({"recovery": "selective-repeat", "in_flight": "bdp"})
    assert limited == pytest.approx(once * (1 + loss * window), rel=0.12)
    # Go-back-N sends a round trip again.
    back, _ = over({"nack_interval": "12us"})
    assert back == pytest.approx(1 + window * loss * once, rel=0.12)


def test_a_lost_last_packet_costs_the_short_timeout_to_the_picosecond() -> None:
    found = 0
    for seed in range(12):
        result = run(
            topology=leaf_spine(2, 2),
            traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h2", "size": "1000B"}]}],
            failure=[{"link": "leaf0:spine0", "at": "1500ns"}],
            host={"recovery": "selective-repeat", "rto_low": "100us"},
            run={"seed": seed},
        )
        row = result.flows.to_polars().row(0, named=True)
        if row["retransmitted_bytes"]:
            found += 1
            assert row["timeouts"] == 1
            assert row["timeout_bytes"] == 1000
            assert row["fct_ps"] == 100_000_000 + row["ideal_fct_ps"]
    assert 0 < found < 12, "the flow takes one of two spines"


@pytest.mark.parametrize("recovery", ["go-back-n", "selective-repeat"])
def test_retransmissions_are_counted_by_cause(recovery: str) -> None:
    """One link damages packets for a time: gaps show the losses, unless nobody tells of them."""

    def resent(**host: Any) -> dict[str, int]:  # noqa: ANN401 - keys of [host]
        result = run(
            topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
            traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "1MB"}]}],
            failure=[{"link": "h1:s0", "at": "20us", "until": "40us", "error_rate": 0.02}],
            host={"recovery": recovery, **host},
        )
        assert result.summary["flows_done"] == 1
        keys = ("retransmitted_bytes", "timeout_bytes", "timeouts")
        return {key: result.summary[key] for key in keys}

    shown = resent()
    assert shown["retransmitted_bytes"] > shown["timeout_bytes"]
    never = {"loss_after": "timeout"} if recovery == "selective-repeat" else {"nack": False}
    silent = resent(**never)
    assert silent["timeouts"] > 0
    assert silent["retransmitted_bytes"] == silent["timeout_bytes"] > 0


def test_without_losses_both_recoveries_are_equal() -> None:
    digests = {
        run(
            topology=leaf_spine(4, 2),
            traffic=[{"kind": "incast", "senders": 5, "receiver": "h0", "size": "500KB"}],
            scheme="dcqcn",
            host=host,
        ).summary["digest"]
        for host in ({}, SELECTIVE, {"reorder": 64})
    }
    assert len(digests) == 1


def test_bytes_in_flight_are_limited() -> None:
    result = run(
        topology=leaf_spine(7, 2),
        traffic=[{"kind": "incast", "senders": 6, "receiver": "h0", "size": "1MB"}],
        host={"in_flight": "50KB"},
        pfc={"enabled": False},
    )
    assert result.summary["drops"] == 0
    # Six senders, each with at most its limit and a packet.
    assert result.summary["max_queue_bytes"] <= 6 * 51 * 1098


def test_a_slow_receiver_sets_the_goodput_by_pauses() -> None:
    result = run(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
        traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "10MB"}]}],
        receiver=[{"hosts": ["h1"], "rate": "40Gbps"}],
    )
    summary = result.summary
    assert summary["drops"] == 0
    # Up to Xoff, half a megabyte, arrives at line rate and is acknowledged at once.
    wire = 10_000 * 1082 * 8
    expected = (wire - 4e6) / 40e9 + 4e6 / 100e9
    took = result.flows.to_polars()["fct_ps"].item() / 1e12
    assert took == pytest.approx(expected, rel=0.03)
    towards = result.ports.to_polars().filter(peer="h1")
    share = towards["paused_ns"].item() / 1e9 / took
    assert share == pytest.approx(0.6, abs=0.05)
    assert towards["pause_frames_received"].item() > 5


def test_a_receiver_that_stalls_holds_others_back_until_it_goes_on() -> None:
    def victim(receivers: list[Table]) -> rocelab.Result:
        flows = [
            {"src": "h0", "dst": "h4", "size": "8MB"},
            {"src": "h1", "dst": "h4", "size": "8MB"},
            {"src": "h2", "dst": "h5", "size": "1MB", "start": "300us"},
        ]
        return run(
            topology=leaf_spine(4, 1),
            traffic=[{"kind": "flows", "flows": flows}],
            receiver=receivers,
            pfc={"xoff": "60KB"},
        )

    sound = victim([])
    stalled = victim([{"hosts": ["h4"], "rate": "0bps", "at": "20us", "until": "3ms"}])
    last = [one.flows.to_polars()["fct_ps"].to_list()[2] for one in (sound, stalled)]
    assert last[1] > 5 * last[0], "the bystander waits behind the pause"
    assert stalled.summary["flows_done"] == 3
    assert stalled.summary["drops"] == 0
    lossy = run(
        topology=leaf_spine(4, 1),
        traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h4", "size": "4MB"}]}],
        receiver=[{"hosts": ["h4"], "rate": "10Gbps", "buffer": "100KB"}],
        pfc={"enabled": False},
    )
    assert lossy.summary["drops"] > 0


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({"scheme": "hpcc", "routing": {"balance": "random"}}, "INT counters"),
        ({"scheme": "fncc", "host": {"spray": "random"}}, "ACKs must pass"),
        ({"scheme": "rcm", "routing": {"balance": "letflow"}}, "adaptive routing"),
        ({"scheme": "expresspass", "host": SELECTIVE}, "credits"),
        ({"host": {"loss_after": "gap"}}, "selective-repeat"),
        ({"host": SELECTIVE | {"reorder": 0}}, "keeps nothing"),
        ({"host": SELECTIVE | {"nack": False}}, "go-back-n"),
        (
            {"host": SELECTIVE | {"rto_low": "never", "rto_high": "2us"}},
            "host.rto_high: 2us is below host.rto_low, which is never",
        ),
        ({"host": {"retransmit_timeout": "1ms", **SELECTIVE}}, "go-back-n"),
        ({"host": {"spray": "reps"}}, "learns from the ACK"),
        ({"host": SELECTIVE | {"spray": "bitmap", "ack_every": 4}}, "learns from the ACK"),
        ({"host": {"spray": "cycle", "entropies": 100}}, "power of two"),
        ({"host": {"cell": "64KB"}}, "flowcell"),
        ({"routing": {"samples": 2}}, "drill"),
        ({"routing": {"conga": {"bits": 3}}}, "goes with"),
        ({"routing": {"conweave": {"queues": 3}}}, "goes with"),
        ({"routing": {"balance": "conweave", "conweave": {"queues": 0}}}, "above zero"),
        ({"routing": {"balance": "conweave", "conweave": {"samples": 65}}}, "1 to 64"),
        ({"routing": {"balance": "conweave", "conweave": {"header": "65B"}}}, "up to 64B"),
        ({"routing": {"balance": "conweave"}, "switch": {"architecture": "cioq"}}, "queues of out"),
        (
            {
                "routing": {"balance": "conweave", "conweave": {"own_memory": True}},
                "pfc": {"xoff": "100KB"},
            },
            'own_memory: does not go with pfc.threshold = "static"',
        ),
        ({"routing": {"balance": "conweave"}, "scheme": "hiercc"}, "order the packets"),
        ({"routing": {"balance": "conweave"}, "scheme": "fncc"}, "ACKs must pass"),
        ({"routing": {"balance": "conweave"}, "topology": leaf_spine(2, 256)}, "255 paths"),
        ({"routing": {"balance": "conga", "conga": {"bits": 9}}}, "1 to 8"),
        ({"routing": {"balance": "conga", "conga": {"alpha": 0.0}}}, "at most 1"),
        ({"routing": {"balance": "conga", "conga": {"dre_period": "0ns"}}}, "above zero"),
        ({"routing": {"balance": "conga"}, "switch": {"architecture": "cioq"}}, "crossbars"),
        ({"routing": {"balance": "adaptive", "paths": "spanning-trees"}}, "equal cost"),
        (
            {"routing": {"balance": "drill"}, "switch": {"architecture": "cioq"}},
            "output queues",
        ),
        ({"receiver": [{"hosts": ["h0"], "rate": "1Gbps", "buffer": "20KB"}]}, "too small"),
        (
            {"routing": {"balance": "drill"}, "host": SELECTIVE | {"spray": "random"}},
            "host.spray: changes what ECMP hashes",
        ),
        ({"host": {"nack": False, "nack_interval": "10us"}}, "goes with host.nack = true only"),
        (
            {
                "wire": {"error_rate": 0.01},
                "failure": [{"link": "h0:leaf0", "at": "1us", "error_rate": 0.001}],
            },
            "0.001 is below that of the link, 0.01",
        ),
    ],
)
def test_what_cannot_be_is_refused(tables: Table, why: str) -> None:
    base: Table = {"topology": leaf_spine(2, 2), "traffic": across(2, "1MB")}
    with pytest.raises(ConfigError, match=why):
        rocelab.Scenario(**base | tables).validate()


@pytest.mark.parametrize(
    ("tables", "word"),
    [
        ({"routing": {"balance": "random"}}, "discard what is out of order"),
        (
            {"routing": {"balance": "random"}, "host": SELECTIVE | {"loss_after": "gap"}},
            "duplicate_bytes",
        ),
        ({"scheme": "dcqcn", "host": SELECTIVE | {"spray": "random"}}, "ecn.kmin"),
        ({"host": SELECTIVE | {"spray": "reps"}}, "switches mark nothing"),
        ({"scheme": "hpcc", "routing": {"balance": "letflow"}}, "new path measures nothing"),
    ],
)
def test_what_goes_badly_together_is_said(tables: Table, word: str) -> None:
    base: Table = {"topology": leaf_spine(2, 2), "traffic": across(2, "1MB")}
    assert any(word in warning for warning in rocelab.Scenario(**base, **tables).plan().warnings)


@pytest.mark.parametrize(("delay", "warned"), [("1us", False), ("3ms", True)])
def test_paths_that_hold_more_than_may_be_in_flight_are_named(delay: str, warned: bool) -> None:
    result = run(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": delay},
        traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "10KB"}]}],
        host=SELECTIVE,
        pfc={"enabled": False},
    )
    assert any("16384 packets" in warning for warning in result.warnings) == warned


def test_a_window_that_is_what_receivers_keep_is_named() -> None:
    """With selective repeat a sender sends no further than the receiver keeps."""
    result = run(
        topology=leaf_spine(4, 4),
        routing={"balance": "random"},
        traffic=across(4, "500KB"),
        host=SELECTIVE | {"reorder": 4},
    )
    assert result.summary["retransmitted_bytes"] == 0
    assert any("receivers keep 4KB ahead of a gap" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("tables", "word"),
    [
        ({"host": {"reorder": 4}}, "further ahead of a gap than host.reorder"),
        ({"host": SELECTIVE | {"loss_after": 3}}, "raise host.loss_after"),
        ({"host": SELECTIVE | {"loss_after": "100ns"}}, "raise host.loss_after"),
        (
            {"routing": {"balance": "letflow", "flowlet_gap": "50ns"}},
            'set host.recovery = "selective-repeat"',
        ),
    ],
)
def test_data_that_is_sent_again_for_nothing_is_told_with_the_reason(
    tables: Table, word: str
) -> None:
    base: Table = {
        "topology": leaf_spine(4, 4),
        "routing": {"balance": "random"},
        "traffic": across(4, "500KB"),
    }
    result = run(**base | tables)
    assert result.summary["drops"] == 0
    assert result.summary["retransmitted_bytes"] > 0
    told = [str(one) for one in result.warnings if "sent again though nothing was lost" in one]
    assert len(told) == 1
    assert word in told[0]


@pytest.mark.parametrize("late", ["20us", 200, "bdp"])
def test_a_rule_for_losses_that_the_window_disables_is_told(late: Any) -> None:  # noqa: ANN401
    def losing(**host: Any) -> rocelab.Result:  # noqa: ANN401
        return run(
            topology=leaf_spine(4, 4),
            wire={"error_rate": 0.001},
            routing={"balance": "random"},
            traffic=across(4, "1MB"),
            host={"recovery": "selective-repeat", **host},
        )

    blind, never = losing(loss_after=late), losing(loss_after="timeout")
    assert blind.summary.digest == never.summary.digest
    assert any("host.loss_after" in one and "too long" in one for one in blind.warnings)
    assert not any("too long" in one for one in never.warnings)
    quick = losing(loss_after="5us")
    assert quick.summary.digest != never.summary.digest
    assert not any("too long" in one for one in quick.warnings)


@pytest.mark.parametrize("balance", ["letflow", "conga", "conweave", "adaptive", "drill"])
@pytest.mark.parametrize("change", [{"error_rate": 0.0}, {"rate": "50Gbps"}])
def test_a_link_that_changes_moves_no_flow(balance: str, change: Table) -> None:
    """Routes stay as they are, and so do the paths of flows. The link is one that nobody uses."""

    def at(time: str) -> rocelab.Result:
        return run(
            topology=leaf_spine(5, 4),
            routing={"balance": balance},
            host=SELECTIVE,
            traffic=[
                {
                    "kind": "flows",
                    "flows": [
                        {"src": f"h{n}", "dst": f"h{n + 5}", "size": "2MB"} for n in range(4)
                    ],
                }
            ],
            failure=[{"link": "h4:leaf0", "at": time, **change}],
        )

    assert at("50us").summary.digest == at("100ms").summary.digest


def test_the_default_timeout_is_long_only_where_nothing_is_lost() -> None:
    def timeout(**tables: Any) -> str:  # noqa: ANN401
        scenario = rocelab.Scenario(topology=leaf_spine(4, 1), **tables)
        return str(scenario.to_dict()["host"]["retransmit_timeout"])

    lossless = {"kind": "incast", "senders": ["h0..h2"], "receiver": "h4", "size": "64KB"}
    lossy = {**lossless, "priority": 0}
    assert timeout(traffic=[lossless]) == "20480us"
    assert timeout(traffic=[lossy]) == "1ms"
    assert timeout(traffic=[lossless, lossy]) == "1ms"
    assert timeout(traffic=[lossless], pfc={"enabled": False}) == "1ms"


def test_what_arrives_after_the_end_of_its_message_is_a_duplicate() -> None:
    # The data gets through, and its ACK does not.
    result = run(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
        traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "5KB"}]}],
        failure=[{"link": "h0:s0", "at": "2us", "until": "50us", "error_rate": 1.0}],
    )
    flows = result.flows.to_polars()
    assert flows["retransmitted_bytes"].to_list() == [5000]
    assert flows["duplicate_bytes"].to_list() == [5000]


OVERFLOW: Table = {
    "topology": {"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
    "traffic": [{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "3MB"}]}],
    "receiver": [{"hosts": ["h1"], "rate": "10Gbps", "buffer": "200KB"}],
    "host": SELECTIVE,
}


def test_a_lossless_class_that_overflows_a_slow_receiver_is_told() -> None:
    # The only pause is lost.
    lost = [{"link": "h1:s0", "at": "12us", "until": "25us", "error_rate": 1.0}]
    result = run(**OVERFLOW, failure=lost)
    drops = result.ports.to_polars().filter(pl.col("node") == "h1")["dropped_packets"][0]
    assert result.summary["lossless_drops"] == drops > 0
    assert any("PFC did not protect them" in one for one in result.warnings)
    assert result.drops
    assert {drop["reason"] for drop in result.drops} == {"receive buffer full"}


def test_a_slow_receiver_does_not_pause_a_link_without_pfc() -> None:
    names = [("a", "host"), ("b", "host"), ("s", "switch")]
    topology = {
        "kind": "custom",
        "nodes": [{"name": name, "kind": kind} for name, kind in names],
        "links": [{"a": "a", "b": "s", **LINK}, {"a": "s", "b": "b", **LINK, "pfc": False}],
    }
    traffic = [{"kind": "flows", "flows": [{"src": "a", "dst": "b", "size": "3MB"}]}]
    receiver = [{"hosts": ["b"], "rate": "10Gbps", "buffer": "200KB"}]
    result = run(topology=topology, traffic=traffic, receiver=receiver, host=SELECTIVE)
    assert result.summary["pause_frames"] == 0
    assert result.summary["drops"] > result.summary["lossless_drops"] == 0


def test_the_plan_spreads_what_the_network_spreads() -> None:
    scenario = rocelab.Scenario(
        topology=leaf_spine(4, 4),
        traffic=across(4, "2MB"),
        routing={"balance": "random"},
        host=SELECTIVE,
    )
    uplinks = (pl.col("node") == "leaf0") & pl.col("peer").str.starts_with("spine")
    planned = scenario.plan().ports.to_polars().filter(uplinks)["data_bytes"]
    assert planned.n_unique() == 1
    ports = rocelab.run(scenario).ports.to_polars().filter(uplinks)
    for sent, expected in zip(ports["tx_bytes"], planned, strict=True):
        assert sent == pytest.approx(expected, rel=0.1)


def test_a_trace_has_the_packets_that_a_switch_holds() -> None:
    result = busy({}, 1, trace={"packets": ["leaf0..leaf2"]})
    events = result.traces["packets"].to_polars()
    held = events.filter(pl.col("event") == "held")
    assert len(held) == result.summary["counters"]["held_packets"] > 0
    # What was held joins a queue later, and nothing else does so twice.
    packet = ["node", "flow_id", "sequence"]
    joined = events.filter(pl.col("event") == "enqueued", pl.col("kind") == "data")
    waited = held.join(joined, on=packet, suffix="_joined")
    assert len(waited) == len(held)
    assert (waited["time_ps_joined"] >= waited["time_ps"]).all()


def probe(name: str, kind: str, **where: Any) -> Table:  # noqa: ANN401 - keys of a probe
    return {"name": name, "kind": kind, "interval": "200ns", **where}


def test_a_probe_has_what_conweave_holds_back() -> None:
    result = busy({}, 1, probe=[probe("held", "reorder-queue", nodes=["leaf*"])])
    series = result.series["held"].to_polars()
    hosts = result.ports.to_polars().filter(pl.col("peer").str.starts_with("h"))
    ports = series.select("node", "port").unique()
    assert len(ports.join(hosts, on=["node", "port"])) == len(ports) > 0
    at_once = series.group_by("time_ps", "node").agg(pl.col("reorder_queue_bytes").sum())
    most = max(at_once["reorder_queue_bytes"])
    # Samples may miss the largest value, but not by much.
    assert 0.5 < most / result.summary["counters"]["max_held_bytes"] <= 1


def test_a_probe_has_what_receivers_keep() -> None:
    result = run(
        topology=leaf_spine(4, 4),
        traffic=across(4, "1MB"),
        routing={"balance": "random"},
        host=SELECTIVE,
        probe=[probe("kept", "reorder-buffer", nodes=["h0"])],
    )
    kept = max(result.series["kept"].to_polars()["reorder_buffer_bytes"])
    most = result.flows.to_polars().filter(pl.col("src") == "h0")["max_reorder_bytes"][0]
    assert 0.5 < kept / most <= 1


def test_probes_of_reordering_say_why_they_have_no_rows() -> None:
    kinds = ("reorder-queue", "reorder-buffer")
    result = run(
        topology=leaf_spine(2, 2),
        traffic=across(2, "10KB"),
        probe=[probe(kind, kind, nodes=["leaf0" if "queue" in kind else "h0"]) for kind in kinds],
    )
    assert not any(len(result.series[kind]) for kind in kinds)
    told = " ".join(result.warnings)
    assert 'routing.balance is not "conweave"' in told
    assert "receivers keep no data that is out of order" in told
