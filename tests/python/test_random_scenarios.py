"""Random valid scenarios keep every invariant; ``make soak N=5000`` runs more of them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

import rocelab
from invariants import check, differences, outcome
from random_scenarios import PRESETS, scenario

COUNT = int(os.environ.get("SCENARIOS", "200"))
FIRST = int(os.environ.get("FIRST_SCENARIO", "0"))
NUMBERS = range(FIRST, FIRST + COUNT)


@pytest.mark.parametrize("number", NUMBERS)
def test_random_scenario(number: int, tmp_path: Path) -> None:
    made, _ = scenario(number)
    # Shown where an assertion fails.
    print(made.to_toml())
    result = rocelab.run(made, threads=1)
    check(result)
    expected = outcome(result)
    for threads in (2, 5):
        other = outcome(rocelab.run(made, threads=threads))
        assert not differences(expected, other), f"{threads} threads"

    unseen = rocelab.run(made.with_settings(probe=[], trace={}), threads=1)
    assert not unseen.series
    assert not unseen.traces
    assert unseen.summary["digest"] == result.summary["digest"], "observation changed the run"

    if number % 5 == 0:
        result.save(tmp_path / "result")
        opened = rocelab.open(tmp_path / "result")
        assert not differences(expected, outcome(opened)), "read back"
        again = rocelab.run(opened.scenario, threads=2)
        assert not differences(expected, outcome(again)), "run again from its scenario.toml"


def test_results_without_flows_are_checked() -> None:
    star = {"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"}
    result = rocelab.run(rocelab.Scenario(topology=star, run={"stop": "10us"}))
    assert len(result.flows) == 0
    check(result)


def test_random_scenarios_have_everything() -> None:
    seen: Counter[str] = Counter()
    tries = 0
    for number in range(200):
        made, refused = scenario(number)
        tries += 1 + refused
        complete = made.to_dict()
        seen[f"scheme {complete['scheme']['name']}/{complete['scheme']['preset']}"] += 1
        seen[f"topology {complete['topology']['kind']}"] += 1
        seen.update({f"traffic {entry['kind']}" for entry in complete["traffic"]})
        seen.update({f"probe {entry['kind']}" for entry in complete.get("probe", [])})
        seen[f"payload {complete['wire']['payload']}"] += 1
        seen[f"profile {complete['wire']['profile']}"] += 1
        seen[complete["switch"]["architecture"]] += 1
        seen[f"hash {complete['routing']['hash']}"] += 1
        seen[f"paths {complete['routing']['paths']}"] += 1
        seen[f"balance {complete['routing']['balance']}"] += 1
        seen[f"recovery {complete['host']['recovery']}"] += 1
        seen["sprays"] += complete["host"]["spray"] != "off"
        seen["ports in turn"] += complete["host"]["ports"] == "spray"
        seen["reorders"] += complete["host"].get("reorder", 0) != 0
        seen[
            f"PFC {complete['pfc'].get('threshold') if complete['pfc']['enabled'] else 'off'}"
        ] += 1
        seen["ECN"] += complete["ecn"]["enabled"]
        seen["enqueue"] += complete["ecn"]["mark_at"] == "enqueue"
        seen["failure"] += "failure" in complete
        failures = complete.get("failure", [])
        seen["slow link"] += any("rate" in one for one in failures)
        seen["lossy link"] += any("error_rate" in one for one in failures)
        seen["two schemes"] += "also" in complete["scheme"]
        seen["class"] += "settings" in complete["classes"]
        for key in ("pause_time", "watchdog"):
            seen[key] += key in complete["pfc"]
        seen["response"] += complete["pfc"]["response"] != "0ps"
        seen["receiver"] += "receiver" in complete
        seen["errors"] += complete["wire"]["error_rate"] > 0
        seen["stop"] += complete["run"]["stop"] != "flows-done"
        seen["lossy"] += complete["classes"]["data"] not in complete["classes"]["lossless"]
        trace = complete.get("trace", {})
        seen["PFC trace"] += bool(trace.get("pfc"))
        seen["packet trace"] += bool(trace.get("packets"))
        seen["capture"] += bool(trace.get("capture"))
    print(seen)
    assert tries < 600, "most settings contradict each other"
    assert sum(name.startswith("scheme ") for name in seen) == len(PRESETS)
    kinds = {
        "topology": 7,
        "traffic": 7,
        "probe": 17,
        "payload": 6,
        "profile": 2,
        "hash": 2,
        "paths": 2,
        "balance": 8,
        "recovery": 2,
    }
    for word, expected in kinds.items():
        assert sum(name.startswith(f"{word} ") for name in seen) == expected, word
    assert {"PFC off", "PFC static", "PFC dynamic", "cioq", "shared-memory"} <= seen.keys()
    rare = [name for name, count in seen.items() if count < 3]
    assert not rare, rare


def test_numbers_make_scenarios_that_stay() -> None:
    first, again, other = (scenario(number)[0].to_toml() for number in (7, 7, 8))
    assert first == again != other
