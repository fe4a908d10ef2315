"""Two schemes in one network: each flow is served by its own, and both share the ports."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rocelab

LEAF_SPINE = {
    "kind": "leaf-spine",
    "leaves": 2,
    "spines": 2,
    "hosts_per_leaf": 4,
    "host_rate": "100Gbps",
    "host_delay": "1us",
    "rate": "100Gbps",
    "delay": "1us",
}
ECN = {"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}


def poisson(tag: str, load: float = 0.3) -> dict[str, Any]:
    return {
        "kind": "poisson",
        "tag": tag,
        "workload": "WebSearch",
        "load": load,
        "duration": "1ms",
    }


def scenario(scheme: dict[str, Any] | str, **settings: Any) -> rocelab.Scenario:  # noqa: ANN401
    return rocelab.Scenario(
        topology=LEAF_SPINE,
        scheme=scheme,
        **{"ecn": ECN, "traffic": [poisson("old"), poisson("new")], **settings},
    )


def also(name: str, **entry: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": name, **(entry or {"traffic": ["new"]})}


def fcts(result: rocelab.Result) -> list[int]:
    return result.flows.to_polars()["fct_ps"].to_list()


def test_flows_have_the_scheme_of_their_tag() -> None:
    result = rocelab.run(scenario({"name": "dcqcn", "also": [also("hpcc")]}))
    flows = result.flows.to_polars()
    assert result.summary["scheme"] == "dcqcn and hpcc"
    by_tag = dict(flows.group_by("tag").agg(pl.col("scheme").unique()).iter_rows())
    assert by_tag == {"old": ["dcqcn"], "new": ["hpcc"]}
    groups = result.summary["by_scheme"]
    assert groups["dcqcn"] == result.summary["by_tag"]["old"]
    assert groups["hpcc"] == result.summary["by_tag"]["new"]


@pytest.mark.parametrize("name", ["hpcc", "swift", "dcqcn"])
def test_each_caveat_says_whose_it_is(name: str) -> None:
    result = rocelab.run(scenario({"name": "dcqcn", "also": [also(name)]}))
    known = {one.name: one.caveat for one in rocelab.schemes()}
    told = [f"{one}: {known[one]}" for one in dict.fromkeys(["dcqcn", name]) if known[one]]
    assert result.summary.caveat == " ".join(told)


def test_it_does_not_matter_which_scheme_is_the_second() -> None:
    one = rocelab.run(scenario({"name": "dcqcn", "also": [also("hpcc")]}))
    other = rocelab.run(scenario({"name": "hpcc", "also": [also("dcqcn", traffic=["old"])]}))
    assert one.summary["digest"] == other.summary["digest"]
    assert one.summary["counters"] == other.summary["counters"]


@pytest.mark.parametrize("name", ["hpcc", "swift", "timely", "dctcp", "none"])
def test_a_scheme_that_all_flows_have_works_as_if_it_were_alone(name: str) -> None:
    alone = rocelab.run(scenario(name))
    beside = rocelab.run(scenario({"name": "dcqcn", "also": [also(name, traffic=["old", "new"])]}))
    assert fcts(beside) == fcts(alone)


def test_a_scheme_without_int_has_no_int_on_the_wire_beside_one_that_has() -> None:
    # One flow, whose completion time shows the size of its packets.
    flow = {"kind": "flows", "tag": "one", "flows": [{"src": "h0", "dst": "h4", "size": "1MB"}]}
    other = {
        "kind": "flows",
        "tag": "new",
        "flows": [{"src": "h1", "dst": "h5", "size": "1KB", "start": "1ms"}],
    }
    alone = rocelab.run(scenario("dcqcn", traffic=[flow]))
    mixed = rocelab.run(scenario({"name": "dcqcn", "also": [also("hpcc")]}, traffic=[flow, other]))
    assert fcts(mixed)[0] == fcts(alone)[0]


def test_hosts_choose_the_scheme_of_what_they_send() -> None:
    result = rocelab.run(
        scenario({"name": "dcqcn", "also": [also("dcqcn", hosts=["h0..h3"], priority=4)]})
    )
    flows = result.flows.to_polars()
    assert result.summary["scheme"] == "dcqcn and dcqcn"
    second = flows.filter(pl.col("scheme") == "dcqcn also")
    assert set(second["src"]) <= {"h0", "h1", "h2", "h3"}
    assert set(second["priority"]) == {4}
    assert set(flows.filter(pl.col("scheme") == "dcqcn")["src"]) <= {"h4", "h5", "h6", "h7"}
    assert result.summary["lossless_drops"] == 0


def test_threads_change_nothing() -> None:
    made = scenario({"name": "dcqcn", "also": [also("hpcc")]})
    digests = {rocelab.run(made, threads=n).summary["digest"] for n in (1, 2, 4)}
    assert len(digests) == 1


def test_a_scheme_without_control_takes_the_bandwidth_of_one_with_it() -> None:
    long = [
        {"kind": "flows", "tag": tag, "flows": [{"src": src, "dst": "h4", "size": "20MB"}]}
        for tag, src in (("old", "h0"), ("new", "h1"))
    ]
    made = scenario({"name": "dcqcn", "also": [also("none")]}, traffic=long)
    by_scheme = rocelab.run(made).summary["by_scheme"]
    assert by_scheme["none"]["goodput_bps"] > 1.3 * by_scheme["dcqcn"]["goodput_bps"]


def test_the_complete_scenario_says_it_all() -> None:
    made = scenario({"name": "dcqcn", "also": [also("hpcc")]})
    again = rocelab.Scenario.from_toml(made.to_toml())
    assert again.to_dict() == made.to_dict()
    [entry] = again.to_dict()["scheme"]["also"]
    assert entry["preset"]
    assert entry["params"]["eta"] == 0.95


@pytest.mark.parametrize(
    ("scheme", "error"),
    [
        (
            {"name": "dcqcn", "also": [also("rcm")]},
            "(?s)scheme.also.0.name: .*beside dcqcn go none",
        ),
        ({"name": "dcqcn", "also": [also("hpc")]}, "scheme.also.0.name: unknown scheme"),
        ({"name": "fncc", "also": [also("hpcc")]}, "these go together: dcqcn and none"),
        (
            {"name": "dcqcn", "also": [{"name": "hpcc", "params": {"etta": 1}} | also("hpcc")]},
            "scheme.also.0.params.etta",
        ),
        ({"name": "dcqcn", "also": [also("hpcc", traffic=["nwe"])]}, "did you mean `new`"),
        ({"name": "dcqcn", "also": [{"name": "hpcc"}]}, "either `hosts`"),
        ({"name": "dcqcn", "also": [also("hpcc"), also("none")]}, "at most two schemes"),
    ],
)
def test_errors_name_the_place_and_a_fix(scheme: dict[str, Any], error: str) -> None:
    with pytest.raises(rocelab.ConfigError, match=error):
        scenario(scheme)


def test_what_one_scheme_does_not_tolerate_names_that_scheme() -> None:
    both = {"name": "dcqcn", "also": [also("hpcc")]}
    host = {"recovery": "selective-repeat", "spray": "random"}
    with pytest.raises(rocelab.ConfigError, match="does not go with scheme hpcc: it subtracts"):
        scenario(both, host=host).validate()


def test_each_scheme_has_its_notes() -> None:
    both = {"name": "dcqcn", "also": [also("swift")]}
    host = {"recovery": "selective-repeat", "spray": "random"}
    warnings = [str(one) for one in scenario(both, host=host).plan().warnings]
    for name in ("dcqcn", "swift"):
        [note] = [one for one in warnings if f"with scheme {name}:" in one]
        assert note.startswith("host.spray with scheme")


def test_two_marking_laws_need_a_decision() -> None:
    with pytest.raises(rocelab.ConfigError, match="come with different thresholds"):
        scenario({"name": "dcqcn", "also": [also("dctcp")]}, ecn={})


def test_a_tag_called_as_a_scheme_of_the_run_is_refused() -> None:
    both = {"name": "dcqcn", "also": [{"name": "hpcc", "traffic": ["new"]}]}
    traffic = [poisson("hpcc"), poisson("new")]
    with pytest.raises(rocelab.ConfigError, match='the tag "hpcc", which is a scheme of this run'):
        scenario(both, traffic=traffic).validate()
