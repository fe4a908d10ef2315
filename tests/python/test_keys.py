"""The keys that editors complete are those of the program. `make lint` runs mypy over this file."""

from __future__ import annotations

import doctest

import rocelab
from rocelab import keys


def test_every_table_of_the_schema_has_its_keys() -> None:
    schema = rocelab.schema()
    assert set(keys.ScenarioKeys.__annotations__) == set(schema["properties"])
    assert keys.ScenarioKeys.__required_keys__ >= {"topology"}
    for name, one in schema["$defs"].items():
        if one.get("type") == "object":
            found = getattr(keys, name.removesuffix("Spec"))
            assert set(found.__annotations__) == set(one["properties"])
    kinds = [one["properties"]["kind"]["const"] for one in schema["$defs"]["TrafficSpec"]["oneOf"]]
    assert "incast" in kinds
    for kind in kinds:
        words = "".join(word.capitalize() for word in kind.split("-"))
        assert hasattr(keys, f"{words}Traffic")


def test_a_scenario_of_typed_keys_runs() -> None:
    topology: keys.StarTopology = {
        "kind": "star",
        "hosts": 3,
        "host_rate": "100Gbps",
        "host_delay": "1us",
    }
    traffic: keys.IncastTraffic = {
        "kind": "incast",
        "senders": 2,
        "receiver": "h2",
        "size": "10KB",
    }
    pfc: keys.Pfc = {"xoff": "100KB"}
    scenario = rocelab.Scenario(topology=topology, traffic=[traffic], pfc=pfc, scheme="dcqcn")
    assert rocelab.run(scenario).summary["flows_done"] == 2


def test_a_misspelt_key_is_an_error_of_types_and_of_the_program() -> None:
    # Without an error here mypy would say that these remarks are not needed.
    pfc: keys.Pfc = {"xof": "100KB"}  # type: ignore[typeddict-unknown-key]
    star: keys.StarTopology = {"kind": "star", "hosts": 3}  # type: ignore[typeddict-item]
    assert "xof" in pfc
    assert "host_rate" not in star


def test_the_example_of_the_module() -> None:
    outcome = doctest.testmod(keys)
    assert (outcome.attempted, outcome.failed) == (2, 0)
