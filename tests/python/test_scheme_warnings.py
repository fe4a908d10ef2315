"""Parameters of schemes that do nothing, or harm, in a network, and laws of single classes."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rocelab
from rocelab import ConfigError

Table = dict[str, Any]


def star(rate: str = "100Gbps", delay: str = "1us", size: str = "1MB", **tables: Any) -> Any:  # noqa: ANN401
    return rocelab.Scenario(
        topology={"kind": "star", "hosts": 3, "host_rate": rate, "host_delay": delay},
        traffic=[{"kind": "incast", "senders": ["h0", "h1"], "receiver": "h2", "size": size}],
        **tables,
    )


def scheme(name: str, preset: str | None = None, **params: Any) -> Table:  # noqa: ANN401
    return {"name": name, "params": params, **({"preset": preset} if preset else {})}


def one_after_the_other(law: Table) -> Any:  # noqa: ANN401
    """Two flows to one host over links of 1 Gb/s, of which one begins when the other has ended."""
    flows = [{"src": f"h{n}", "dst": "h2", "size": "1MB", "start": f"{n * 10}ms"} for n in range(2)]
    return rocelab.Scenario(
        topology={"kind": "star", "hosts": 3, "host_rate": "1Gbps", "host_delay": "1us"},
        traffic=[{"kind": "flows", "flows": flows}],
        scheme=law,
    )


def never_posted(law: Table) -> Any:  # noqa: ANN401
    """Two flows to one host that wait for others, which the run is too short for."""
    first = [{"src": "h2", "dst": f"h{n}", "size": "100MB"} for n in range(2)]
    then = {"kind": "incast", "senders": ["h0", "h1"], "receiver": "h2", "size": "1MB"}
    return rocelab.Scenario(
        topology={"kind": "star", "hosts": 3, "host_rate": "1Gbps", "host_delay": "1us"},
        traffic=[{"kind": "flows", "tag": "first", "flows": first}, then | {"after": "first"}],
        scheme=law,
    )


UNUSED = [
    ("dctcp", None, {"window": "none"}, "variant = ns3"),
    ("dctcp", None, {"rate_ai": "10Gbps"}, "variant = ns3"),
    ("hpcc", None, {"max_hops": 3}, "variant = ns3"),
    ("hpcc", None, {"sample_feedback": True}, "variant = ns3"),
    ("hpcc", None, {"int_multi": 8}, "int_format = hpcc-ns3 or hpcc-ns3-uncoded"),
    ("hpcc", "hpcc-ns3", {"expected_flows": 7}, "rate_ai = 0bps"),
    ("hpcc-pint", None, {"window": "none"}, "variant = ns3"),
    ("dcqcn", None, {"decrease_interval": "3us"}, "variant = mellanox"),
    ("dcqcn", None, {"first_cnp_rate": 0.25}, "variant = mellanox"),
    ("dcqcn", "dcqcn-hpcc", {"cnp_interval": "3us"}, "notification = cnp"),
    ("timely", "timely-hpcc", {"segment": "4KB"}, "variant = paper"),
]


@pytest.mark.parametrize(("name", "preset", "params", "switch"), UNUSED)
def test_a_parameter_that_nothing_reads_is_told(
    name: str, preset: str | None, params: Table, switch: str
) -> None:
    with_it, without = (star(scheme=scheme(name, preset, **some)) for some in (params, {}))
    (param,) = params
    told = [one for one in with_it.plan().warnings if f"scheme.params.{param} = " in one]
    assert len(told) == 1
    assert switch in told[0]
    assert not any("has no effect" in one for one in without.plan().warnings)
    # It really has none.
    runs = [rocelab.run(one, threads=1) for one in (with_it, without)]
    assert runs[0].summary.digest == runs[1].summary.digest


def test_a_parameter_that_is_read_is_not_told() -> None:
    switched = star(scheme=scheme("dctcp", variant="ns3", rate_ai="10Gbps", window="bdp"))
    assert not any("has no effect" in one for one in switched.plan().warnings)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (star("1Gbps", scheme=scheme("dcqcn", "dcqcn-hpcc")), "min_rate is 1Gbps"),
        (star("10Gbps", scheme="mercury"), "takes packets that meet for congestion"),
        (star(wire={"payload": "9000B"}, scheme="mercury"), "less than 3 packets"),
        (star("1Gbps", scheme=scheme("dcqcn", min_rate="600Mbps")), "2 flows sent to h2 at a time"),
        (star("1Gbps", scheme=scheme("hpcc", min_rate="500Kbps")), "a flow that is cut to this"),
        (star(delay="5us", scheme="hiercc"), "hop_rtt is 2us"),
        (star("1Gbps", scheme="hiercc"), "switch takes 10us or more"),
        (star("400Gbps", "100us", "20KB", scheme=scheme("hpcc-pint", "hpcc-pint-ns3")), "too low"),
        (star("25Gbps", "200us", "20KB", scheme="timely"), "slows timely down; raise t_high"),
        (star("400Gbps", "5us", "20KB", scheme="swift"), "max_cwnd is 373.76 packets"),
    ],
)
def test_parameters_that_harm_in_this_network_are_told(made: Any, words: str) -> None:  # noqa: ANN401
    result = rocelab.run(made.with_settings(run__stop="200us"), threads=1)
    assert any(words in one for one in result.warnings), result.warnings


@pytest.mark.parametrize(
    "made",
    [
        one_after_the_other(scheme("dcqcn", min_rate="600Mbps")),
        never_posted(scheme("dcqcn", min_rate="600Mbps")),
        star("1Gbps", scheme=scheme("dcqcn", min_rate="600Mbps", window="bdp")),
        star("1Gbps", scheme=scheme("hpcc", min_rate="600Mbps")),
        star("1Gbps", scheme=scheme("hpcc", min_rate="1Mbps")),
        star("10Gbps", scheme="hiercc"),
        star("100Gbps", scheme=scheme("hpcc-pint", "hpcc-pint-ns3")),
        star("400Gbps", "100us", "20KB", scheme=scheme("hpcc-pint", "hpcc-pint-paper")),
    ],
)
def test_parameters_that_do_no_harm_are_not_told(made: Any) -> None:  # noqa: ANN401
    result = rocelab.run(made.with_settings(run__stop="20ms"), threads=1)
    told = ("scheme.params", "too low")
    assert not [one for one in result.warnings if any(word in one for word in told)]


@pytest.mark.parametrize("name", sorted(one.name for one in rocelab.schemes()))
def test_defaults_in_an_ordinary_network_are_told_of_nothing(name: str) -> None:
    try:
        warnings = star(scheme=name).plan().warnings
    except ConfigError:
        pytest.skip("it needs another network")
    assert not any("scheme.params" in one for one in warnings), warnings


def congested_from(**tables: Any) -> int:  # noqa: ANN401
    """The shortest queue that was sampled while TCD said that it was congested."""
    probes = [
        {"name": kind, "kind": kind, "interval": "500ns", "ports": ["s0:h2"]}
        for kind in ("port-state", "queue")
    ]
    made = star(scheme="dcqcn+tcd", probe=probes, run={"stop": "100us"}, **tables)
    series = rocelab.run(made, threads=1).series
    both = series["port-state"].to_polars().join(series["queue"].to_polars(), on="time_ps")
    congested = both.filter(pl.col("port_state") == 1)["queue_bytes"].to_list()
    return int(min(congested))


def test_detectors_have_the_threshold_of_the_class() -> None:
    own = [{"priority": 3, "ecn": {"kmin": "200KB", "kmax": "300KB"}}]
    of_class = congested_from(classes={"settings": own})
    of_all = congested_from(ecn={"kmin": "200KB", "kmax": "300KB"})
    # With a law of the class alone.
    alone = congested_from(ecn={"enabled": False}, classes={"settings": own})
    # Half a microsecond brings 6.25 KB.
    for shortest in (of_class, of_all, alone):
        assert 200_000 < shortest < 213_000


def test_hiercc_grants_what_a_slower_downlink_carries() -> None:
    made = rocelab.Scenario(
        topology={
            "kind": "leaf-spine",
            "leaves": 2,
            "spines": 1,
            "hosts_per_leaf": 4,
            "host_rate": "100Gbps",
            "host_delay": "1us",
            "rate": "400Gbps",
            "delay": "1us",
        },
        scheme="hiercc",
        run={"stop": "1ms"},
        failure=[{"link": "leaf1:h4", "at": "200us", "rate": "25Gbps"}],
        traffic=[
            {
                "kind": "flows",
                "flows": [{"src": f"h{n}", "dst": "h4", "size": "100MB"} for n in range(2)],
            }
        ],
    )
    result = rocelab.run(made, threads=1)
    assert result.summary["pause_frames"] == 0
    down = result.ports.to_polars().filter((pl.col("node") == "leaf1") & (pl.col("peer") == "h4"))
    assert down["max_queue_bytes"][0] < 200_000


@pytest.mark.parametrize(("name", "preset"), [("hpcc", "hpcc-ns3"), ("fncc", None)])
def test_a_rate_that_int_cannot_say_is_refused_for_a_time_too(
    name: str, preset: str | None
) -> None:
    slow = [{"link": "s0:h2", "at": "10us", "rate": "30Gbps"}]
    format_ = {} if preset else {"int_format": "fncc-64"}
    made = star(failure=slow, scheme=scheme(name, preset, **format_))
    with pytest.raises(ConfigError, match="30Gbps"):
        rocelab.run(made)
    assert rocelab.run(
        star(
            failure=[{"link": "s0:h2", "at": "10us", "rate": "50Gbps"}],
            scheme=scheme(name, preset, **format_),
        )
    ).summary["flows_done"]
