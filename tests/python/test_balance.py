"""How evenly switches use their uplinks."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rocelab
import rocelab.plot
from rocelab._balance import imbalance_over_time
from rocelab.errors import ResultError
from rocelab.sweeps.metrics import METRICS


def leaf_spine(**tables: Any) -> rocelab.Result:  # noqa: ANN401 - tables of a scenario
    """One flow from the first leaf to the second, which have four spines between them."""
    flow = {"src": "h0", "dst": "h4", "size": "4MB"}
    return rocelab.run(
        rocelab.Scenario(
            topology={
                "kind": "leaf-spine",
                "leaves": 2,
                "spines": 4,
                "hosts_per_leaf": 4,
                "host_rate": "100Gbps",
                "host_delay": "1us",
                "rate": "100Gbps",
                "delay": "1us",
            },
            **{
                "scheme": "none",
                "traffic": [{"kind": "flows", "flows": [flow]}],
                "probe": [
                    {
                        "name": "load",
                        "kind": "throughput",
                        "nodes": ["leaf0"],
                        "interval": "20us",
                    }
                ],
                **tables,
            },
        )
    )


SPRAY: dict[str, Any] = {"routing": {"balance": "round-robin"}, "host": {"reorder": "bdp"}}


def test_a_flow_on_one_path_uses_one_of_four_uplinks() -> None:
    """(max - min) / mean = (x - 0) / (x / 4) = 4."""
    result = leaf_spine()
    table = result.balance.to_polars()
    assert table["node"].to_list() == ["leaf0", "leaf1"]
    assert table["uplinks"].to_list() == [4, 4]
    assert table["imbalance"][0] == pytest.approx(4)
    over_time = imbalance_over_time(result, "load")
    assert over_time["imbalance"].min() == pytest.approx(4)


def test_packets_that_take_turns_are_even() -> None:
    result = leaf_spine(**SPRAY)
    table = result.balance.to_polars()
    assert table.filter(pl.col("node") == "leaf0")["imbalance"][0] < 0.01
    assert table["max_bytes"][0] - table["min_bytes"][0] <= 1100, "a packet"


def test_the_metric_is_the_mean_over_switches() -> None:
    metric = next(one for one in METRICS if one.name == "uplink_imbalance")
    result = leaf_spine()
    assert metric.read(result) == pytest.approx(result.balance.to_polars()["imbalance"].mean())
    star = rocelab.Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme="none",
        traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "1KB"}]}],
    )
    assert metric.read(rocelab.run(star)) is None, "no switch has several uplinks"


def test_the_picture_shows_the_distribution() -> None:
    results = {"one path": leaf_spine(), "in turn": leaf_spine(**SPRAY)}
    (axes,) = rocelab.plot.balance(results).axes
    one_path, in_turn = (list(map(float, line.get_xdata())) for line in axes.lines)  # type: ignore[arg-type]
    assert min(one_path) == pytest.approx(4)
    assert max(in_turn) < 0.5


def test_the_picture_says_whose_it_is_and_of_which_intervals() -> None:
    """Over longer intervals loads are more even."""
    run = leaf_spine()
    drawn = rocelab.plot.balance(run)
    assert drawn.axes[0].get_title(loc="right") == "none"
    said = "Of 1 switch, intervals of 20 µs in which something was sent up."
    assert drawn.get_supxlabel() == said
    probe = {"name": "load", "kind": "throughput", "nodes": ["leaf*"], "interval": "10us"}
    drawn = rocelab.plot.balance({"a": run, "b": leaf_spine(probe=[probe], **SPRAY)})
    assert "intervals of 20 µs and 10 µs" in " ".join(drawn.get_supxlabel().split())


def test_without_a_probe_the_picture_says_what_to_add() -> None:
    with pytest.raises(ResultError, match="no series has the load of several uplinks") as error:
        rocelab.plot.balance(leaf_spine(probe=[]))
    assert 'kind = "throughput"' in str(error.value)


def test_uplinks_of_several_rates_are_compared_by_the_time_for_which_they_send() -> None:
    names = ["h0", "h1", "leaf0", "leaf1", "spine0", "spine1", "spine2"]
    tiers = {"h": 0, "l": 1, "s": 2}
    nodes = [
        {"name": name, "kind": "host"}
        if name[0] == "h"
        else {"name": name, "kind": "switch", "tier": tiers[name[0]]}
        for name in names
    ]
    ends = [("h0", "leaf0"), ("h1", "leaf1")]
    ends += [(f"leaf{leaf}", f"spine{spine}") for leaf in range(2) for spine in range(3)]
    links = [
        {
            "a": a,
            "b": b,
            "rate": "25Gbps" if (a, b) == ("leaf0", "spine2") else "100Gbps",
            "delay": "1us",
        }
        for a, b in ends
    ]
    result = rocelab.run(
        rocelab.Scenario(
            topology={"kind": "custom", "nodes": nodes, "links": links},
            traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "4MB"}]}],
            **SPRAY,
        )
    )
    row = result.balance.to_polars().filter(pl.col("node") == "leaf0").row(0, named=True)
    assert row["uplinks"] == 3
    assert row["rate_bps"] is None
    # Each got a third of the bytes, and the slow one took four times as long: (4 - 1) / 2.
    assert row["imbalance"] == pytest.approx(1.5, abs=0.01)
    assert row["max_bytes"] - row["min_bytes"] <= 1100, "a packet"


def between_borders(**tables: Any) -> rocelab.Result:  # noqa: ANN401 - tables of a scenario
    """Two racks whose switches are joined by four long paths: each is external for THEMIS.

    Three flows come over these, and two of the rack itself share their receiver.
    """
    hosts = [{"name": f"{rack}{at}", "kind": "host"} for rack in "ab" for at in range(3)]
    switches = [{"name": name, "kind": "switch", "tier": 1} for name in "AB"]
    middle = [{"name": f"m{at}", "kind": "switch", "tier": 2} for at in range(4)]
    rate = "100Gbps"
    links = [
        *({"a": f"{r}{at}", "b": r.upper(), "delay": "1us"} for r in "ab" for at in range(3)),
        *({"a": rack, "b": f"m{at}", "delay": "20us"} for rack in "AB" for at in range(4)),
    ]
    flows = [{"src": f"a{at}", "dst": "b0", "size": "5MB"} for at in range(3)]
    flows += [{"src": f"b{at}", "dst": "b0", "size": "5MB"} for at in (1, 2)]
    return rocelab.run(
        rocelab.Scenario(
            topology={
                "kind": "custom",
                "nodes": [*hosts, *switches, *middle],
                "links": [{**link, "rate": rate} for link in links],
            },
            switch={"buffer": "64MB"},
            **{"traffic": [{"kind": "flows", "flows": flows}], **tables},
        )
    )


@pytest.mark.parametrize("scheme", ["themis", "themis+hpcc"])
def test_conweave_puts_nothing_in_order_where_themis_blocks_packets(scheme: str) -> None:
    """What the switch held would miss what it does about order, and much would be sent again."""
    conweave = {"balance": "conweave"}
    with pytest.raises(
        rocelab.ConfigError, match=r"blocks packets at A, which has hosts"
    ) as refused:
        between_borders(scheme=scheme, routing=conweave)
    assert refused.value.key == "routing.balance"
    assert "react = false" in (refused.value.hint or "")
    notifies = {"name": scheme, "params": {"react": False}}
    result = between_borders(scheme=notifies, routing=conweave)
    assert result.flows.to_polars()["retransmitted_bytes"].sum() == 0
    assert between_borders(scheme=scheme).summary.flows_done == 5
    example = rocelab.example("cross-dc").with_settings(scheme=scheme, routing=conweave)
    (note,) = [one for one in example.plan().warnings if "longer than ConWeave waits" in one]
    assert note.startswith(f"routing.balance with scheme {scheme}: ")
