"""Warnings and errors on settings that do nothing: of paths, receivers, failures and classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rocelab
from rocelab import ConfigError

Table = dict[str, Any]

HOSTS = {"host_rate": "100Gbps", "host_delay": "1us", "rate": "100Gbps", "delay": "1us"}
SPINES: Table = {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2, **HOSTS}
STAR: Table = {"kind": "star", "hosts": 4, "host_rate": "100Gbps", "host_delay": "1us"}
FLOWS: Table = {
    "kind": "flows",
    "tag": "flows",
    "flows": [{"src": "h0", "dst": "h2", "size": "5KB"}, {"src": "h1", "dst": "h3", "size": "5KB"}],
}
KEEPS = {"recovery": "selective-repeat"}
THRESHOLDS = {"kmin": "10KB", "kmax": "40KB", "pmax": 1.0}
MARKS: Table = {"enabled": True, **THRESHOLDS}


def scenario(**tables: Any) -> rocelab.Scenario:  # noqa: ANN401 - tables of a scenario
    return rocelab.Scenario(**({"topology": SPINES, "traffic": [FLOWS]} | tables))


def dual(fast: str, slow: str) -> Table:
    """Two hosts with a port of each rate."""
    nodes = [{"name": name, "kind": "host"} for name in ("h0", "h1")]
    nodes += [{"name": name, "kind": "switch"} for name in ("a", "b")]
    rates = {"a": fast, "b": slow}
    links = [
        {"a": host, "b": switch, "rate": rate, "delay": "1us"}
        for host in ("h0", "h1")
        for switch, rate in rates.items()
    ]
    links.append({"a": "a", "b": "b", "rate": "100Gbps", "delay": "1us"})
    return {"kind": "custom", "nodes": nodes, "links": links}


def dual_homed(links: int) -> Table:
    """Two hosts at two switches each, or only one of these, below a third."""
    nodes = [{"name": name, "kind": "host"} for name in ("h0", "h1")]
    nodes += [{"name": name, "kind": "switch"} for name in ("a", "b", "top")]
    pairs = [(host, switch) for host in ("h0", "h1") for switch in ("a", "b")[:links]]
    pairs += [("a", "top"), ("b", "top"), ("h2", "b"), ("h3", "b")]
    nodes += [{"name": name, "kind": "host"} for name in ("h2", "h3")]
    links_of = [{"a": a, "b": b, "rate": "100Gbps", "delay": "1us"} for a, b in pairs]
    return {"kind": "custom", "nodes": nodes, "links": links_of}


def own_buffer(size: str) -> Table:
    """As :func:`dual`, where a switch has a buffer of its own."""
    made = dual("100Gbps", "100Gbps")
    made["nodes"][2]["buffer"] = size
    return made


def to_h1(size: str) -> list[Table]:
    return [{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": size}]}]


def all_reduce(**more: Any) -> Table:  # noqa: ANN401 - values of a table
    return {"kind": "collective", "operation": "all-reduce", "size": "4KB", **more}


# Each has settings that do nothing, words of the warning, and settings that do something.
CASES: list[tuple[Table, str, Table]] = [
    (
        {"topology": STAR, "routing": {"balance": "letflow"}},
        "routing.balance has no effect: switches have one way",
        {"routing": {"balance": "letflow"}},
    ),
    (
        # Each plane is a tree.
        {"topology": SPINES | {"planes": 2, "spines": 1}, "routing": {"balance": "letflow"}},
        "routing.balance has no effect: switches have one way",
        {"topology": SPINES | {"planes": 2}, "routing": {"balance": "letflow"}},
    ),
    (
        # From the spine there are two ways to a host.
        {"topology": dual_homed(1), "host": {**KEEPS, "spray": "random"}},
        "host.spray has no effect: switches have one way",
        {"topology": dual_homed(2), "host": {**KEEPS, "spray": "random"}},
    ),
    (
        {
            "routing": {"paths": "spanning-trees", "trees": 1},
            "host": {**KEEPS, "spray": "random"},
        },
        "host.spray has no effect: switches have one way",
        {
            "routing": {"paths": "spanning-trees", "trees": 2},
            "host": {**KEEPS, "spray": "random"},
        },
    ),
    (
        {"topology": STAR, "host": {**KEEPS, "spray": "random"}},
        "host.spray has no effect: switches have one way",
        {"host": {**KEEPS, "spray": "random"}},
    ),
    (
        {"host": {**KEEPS, "spray": "cycle", "entropies": 1}},
        "host.spray has no effect: with host.entropies = 1",
        {"host": {**KEEPS, "spray": "cycle", "entropies": 2}},
    ),
    (
        {"routing": {"balance": "conweave"}},
        "switches mark nothing: any path is drawn",
        {"routing": {"balance": "conweave"}, "ecn": MARKS},
    ),
    (
        {"receiver": [{"hosts": ["h0", "h2"], "rate": "10Gbps"}]},
        "[[receiver]] has no effect at h0: there is no message",
        {"receiver": [{"hosts": ["h2"], "rate": "10Gbps"}]},
    ),
    (
        {"receiver": [{"hosts": ["h2", "h3"], "rate": "100Gbps"}]},
        "no effect at h2, h3: its rate is not below",
        {"receiver": [{"hosts": ["h2", "h3"], "rate": "99Gbps"}]},
    ),
    (
        # With an Xoff of less than a packet it pauses for each packet.
        {"receiver": [{"hosts": ["h2", "h3"], "rate": "100Gbps", "xoff": "9KB"}]},
        "no effect at h2, h3: its rate is not below",
        {"receiver": [{"hosts": ["h2", "h3"], "rate": "100Gbps", "xoff": "1KB"}]},
    ),
    (
        {"failure": [{"link": "leaf0:spine0", "at": "1us", "error_rate": 0.0}]},
        "[[failure]] has no effect at leaf0:spine0",
        {"failure": [{"link": "leaf0:spine0", "at": "1us", "error_rate": 1e-9}]},
    ),
    (
        {"classes": {"settings": [{"priority": 1, "ecn": {"kmin": "9KB", "kmax": "9KB"}}]}},
        "ecn in [[classes.settings]] of priority 1 has no effect",
        {"classes": {"settings": [{"priority": 3, "ecn": {"kmin": "9KB", "kmax": "9KB"}}]}},
    ),
    (
        # ACKs have thresholds of PFC, but no share of the buffer and no marks.
        {"classes": {"ack": 1, "settings": [{"priority": 1, "lossy_alpha": 1.0}]}},
        "lossy_alpha in [[classes.settings]] of priority 1 has no effect",
        {
            "classes": {
                "ack": 1,
                "lossless": [1, 3],
                "settings": [{"priority": 1, "pfc": {"alpha": 1.0}}],
            }
        },
    ),
    (
        {"switch": {"lossy_alpha": 1.0}},
        "switch.lossy_alpha has no effect",
        {"switch": {"lossy_alpha": 1.0}, "classes": {"lossless": [2]}},
    ),
    (
        {"switch": {"architecture": "cioq", "buffer": "1MB"}},
        "switch.buffer has no effect",
        {"switch": {"buffer": "1MB"}},
    ),
    (
        {"topology": own_buffer("1MB"), "switch": {"architecture": "cioq"}},
        "the buffer that a has of its own has no effect",
        {"topology": own_buffer("1MB")},
    ),
    (
        {"pfc": {"enabled": False, "xoff": "50KB", "xon": "40KB"}},
        "pfc.xoff and pfc.xon have no effect: pfc.enabled is false",
        {"pfc": {"xoff": "50KB", "xon": "40KB"}},
    ),
    (
        {"pfc": {"enabled": False, "alpha": 0.5, "reserve": "9KB", "resume_offset": "9KB"}},
        "pfc.alpha and pfc.resume_offset and pfc.reserve have no effect",
        {"pfc": {"alpha": 0.5, "reserve": "9KB", "resume_offset": "9KB"}},
    ),
    (
        {"pfc": {"enabled": False, "threshold": "static", "headroom": "90KB"}},
        "pfc.threshold and pfc.headroom have no effect",
        {"pfc": {"threshold": "static", "headroom": "90KB"}},
    ),
    (
        {"classes": {"lossless": []}, "pfc": {"xoff": "50KB", "headroom": "90KB"}},
        "pfc.xoff and pfc.headroom have no effect: classes.lossless is empty",
        {"classes": {"lossless": [1]}, "pfc": {"xoff": "50KB", "headroom": "90KB"}},
    ),
    (
        {"ecn": MARKS | {"by_rate": [{"rate": "10Gbps", **THRESHOLDS}]}, "scheme": "dcqcn"},
        "ecn.by_rate for 10Gbps has no effect",
        {"ecn": MARKS | {"by_rate": [{"rate": "100Gbps", **THRESHOLDS}]}, "scheme": "dcqcn"},
    ),
    (
        {"scheme": {"name": "dcqcn", "also": [{"name": "hpcc", "hosts": ["h*"]}]}},
        "scheme dcqcn has no effect: all messages have",
        {"scheme": {"name": "dcqcn", "also": [{"name": "hpcc", "hosts": ["h0"]}]}},
    ),
    (
        {"ecn": MARKS},
        "scheme none does not react to marks",
        {"ecn": MARKS, "scheme": "dcqcn"},
    ),
    (
        {"host": {"reordering_makes_cnp": True}, "scheme": "hpcc"},
        "reordering_makes_cnp has no effect",
        {"host": {"reordering_makes_cnp": True}, "scheme": "dcqcn"},
    ),
    (
        # It reacts to marks, which its ACKs echo.
        {"host": {"reordering_makes_cnp": True}, "scheme": "dctcp"},
        "receivers of scheme dctcp send no CNPs",
        {"host": {"reordering_makes_cnp": True}, "scheme": "dcqcn+tcd"},
    ),
    (
        {"classes": {"weights": [1, 1, 1, 2, 1, 1, 5, 1]}},
        "classes.weights.6 has no effect",
        {"classes": {"weights": [2, 2, 2, 2, 2, 2, 2, 2]}},
    ),
    (
        {"topology": dual("100Gbps", "10Gbps"), "host": {**KEEPS, "ports": "spray"}},
        "h0 has ports of 10Gbps to 100Gbps",
        {"topology": dual("100Gbps", "100Gbps"), "host": {**KEEPS, "ports": "spray"}},
    ),
    (
        {"traffic": [all_reduce(compute_time="5us")]},
        "traffic.0.compute_time has no effect",
        {"traffic": [all_reduce(compute_time="5us", repeat=2)]},
    ),
]


@pytest.mark.parametrize(("idle", "words", "works"), CASES)
def test_settings_that_do_nothing_are_told(idle: Table, words: str, works: Table) -> None:
    def told(tables: Table) -> list[str]:
        more = {"traffic": to_h1("5KB")} if tables.get("topology", {}).get("nodes") else {}
        return [one for one in scenario(**tables, **more).plan().warnings if words in one]

    assert len(told(idle)) == 1
    assert not told(works)


@pytest.mark.parametrize(
    "tables",
    [{"routing": {"balance": "random"}}, {"host": {"spray": "random"}}],
    ids=["routing.balance", "host.spray"],
)
def test_what_spreads_nothing_reorders_nothing(tables: Table) -> None:
    def told(topology: Table) -> list[str]:
        made = scenario(topology=topology, scheme="dcqcn", **tables)
        words = ("overtake", "paths")
        return [one for one in made.plan().warnings if any(word in one for word in words)]

    assert told(SPINES)
    assert not told(STAR)
    assert not told(SPINES | {"spines": 1})


@pytest.mark.parametrize(
    ("off", "why"),
    [
        ({"pfc.enabled": False}, "pfc.enabled is false"),
        ({"classes.lossless": []}, "classes.lossless is empty"),
    ],
)
@pytest.mark.parametrize(
    ("pfc", "count"), [({}, 0), ({"pfc.xoff": "50KB"}, 1), ({"pfc.alpha": 0.25}, 1)]
)
def test_thresholds_without_pauses_are_told_only_where_they_were_given(
    off: Table, why: str, pfc: Table, count: int
) -> None:
    one = scenario().with_settings(**off, **pfc)
    again = rocelab.Scenario.from_toml(one.to_toml())
    for made in (one, again):
        told = [each for each in made.plan().warnings if why in each]
        assert len(told) == count, told
        ran = rocelab.run(made, threads=1).warnings
        assert [each for each in ran if "no effect" in each] == told


@pytest.mark.parametrize("off", [{"pfc.enabled": False}, {"classes.lossless": []}])
def test_a_default_threshold_that_pauses_nothing_fits_any_buffer(off: Table) -> None:
    fixed = {"pfc.threshold": "static", "switch.buffer": "200KB", "pfc.headroom": "9KB"}
    with pytest.raises(ConfigError, match=r"pfc\.xoff: 320KB is more than"):
        scenario().with_settings(**fixed)
    made = scenario().with_settings(**fixed, **off)
    assert any(
        "pfc.threshold and pfc.headroom have no effect" in one for one in made.plan().warnings
    )
    assert rocelab.run(made, threads=1).summary["pause_frames"] == 0


def test_buffers_that_cioq_switches_lack_change_no_timeout() -> None:
    def timeout(topology: Table, **switch: str) -> str:
        made = scenario(topology=topology, traffic=to_h1("5KB"), switch=switch)
        return str(made.to_dict()["host"]["retransmit_timeout"])

    plain, large = dual("100Gbps", "100Gbps"), own_buffer("64MB")
    assert timeout(large, architecture="cioq") == timeout(plain, architecture="cioq")
    assert timeout(large) == "40960us" != timeout(plain)


def test_a_run_tells_them_too() -> None:
    idle = scenario(topology=STAR, routing={"balance": "letflow"})
    assert any(
        "routing.balance has no effect" in one for one in rocelab.run(idle, threads=1).warnings
    )


def test_turns_over_unequal_ports_are_as_slow_as_told() -> None:
    host = {**KEEPS, "in_flight": "unlimited"}
    alone, turns = (
        rocelab.run(
            rocelab.Scenario(
                topology=dual("100Gbps", "10Gbps"), traffic=to_h1("1MB"), host={**host, **ports}
            ),
            threads=1,
        ).ports.to_polars()
        for ports in ({}, {"ports": "spray"})
    )
    sent = turns.filter(node="h0")["tx_bytes"].to_list()
    assert max(sent) - min(sent) < 2000, "each port has the same share"
    assert 0 in alone.filter(node="h0")["tx_bytes"].to_list()


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        (
            {"host": {**KEEPS, "spray": "reps", "reps": {"freeze": "0ns", "explore": 9}}},
            "host.reps.explore: counts the packets after a freeze",
        ),
        (
            {"host": KEEPS, "routing": {"balance": "adaptive", "quantise": ["0B"]}},
            "routing.quantise: the sizes must be above zero",
        ),
        (
            {
                "pfc": {"enabled": False},
                "receiver": [{"hosts": ["h2"], "rate": "10Gbps", "xon": "10KB"}],
            },
            "receiver.0.xon: has no effect with pfc.enabled = false",
        ),
        (
            {
                "classes": {"lossless": []},
                "receiver": [{"hosts": ["h2"], "rate": "10Gbps", "xoff": "10KB"}],
            },
            "receiver.0.xoff: has no effect with classes.lossless = ",
        ),
    ],
)
def test_values_without_effect_are_refused(tables: Table, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        scenario(**tables)


@pytest.mark.parametrize("off", [{"pfc": {"enabled": False}}, {"classes": {"lossless": []}}])
def test_a_receiver_without_pauses_is_read_back(off: Table) -> None:
    """What is written for it has no thresholds that would be refused."""
    one = scenario(receiver=[{"hosts": ["h2"], "rate": "10Gbps"}], **off)
    again = rocelab.Scenario.from_toml(one.to_toml())
    assert rocelab.run(again, threads=1).summary["drops"] == 0


def test_traffic_without_a_message_is_told_beside_other_traffic(tmp_path: Path) -> None:
    """Files of flows that have a head alone, empty lists, and times in which nothing begins."""
    (tmp_path / "flows.csv").write_text("src,dst,size\n")
    empty: list[Table] = [
        {"kind": "flows", "tag": "file", "flows_file": str(tmp_path / "flows.csv")},
        {"kind": "flows", "tag": "list", "flows": []},
        {"kind": "poisson", "load": 0.01, "workload": "websearch", "duration": "10ns"},
    ]
    said = "no message to send: a list may be empty, or a time or load too small"
    for one in empty:
        found = scenario(traffic=[FLOWS, one]).plan().warnings
        assert found == [f"traffic.1 has {said}"]
    found = rocelab.run(scenario(traffic=[empty[0], FLOWS, *empty[1:]])).warnings
    assert found == [f"traffic.0 and traffic.2 and traffic.3 have {said}"]
    # Where there is nothing else, a run that ends with its flows is refused.
    assert not scenario(traffic=empty, run={"stop": "1us"}).plan().warnings
