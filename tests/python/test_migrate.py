"""Scenarios, options and results of an earlier version: old names are refused, files rewritten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rocelab
from conftest import INCAST, Command, reseal

OLD = """schema = 1 # of the format
[run]
limit = "10ms"   # enough
seed = 3
[topology]
kind = "dumbbell"
switches = 2
senders = 2
side = [0, 1]
host_rate = "100Gbps"
host_delay = "1us"
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "incast"
senders = 2
receiver = "h2"
size = "10KB"
"""


def test_a_file_is_rewritten_in_place(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "old.toml"
    path.write_text(OLD, encoding="utf-8")
    refused = command("validate", path)
    assert refused.returncode == 2
    assert "version 1 is old" in refused.stderr
    assert "rocelab migrate" in refused.stderr
    done = command("migrate", path)
    assert (done.returncode, done.stdout) == (0, "")
    new = OLD.replace("schema = 1", "schema = 2").replace("limit =", "time_limit =")
    new = new.replace("side =", "side_hosts =")
    assert path.read_text(encoding="utf-8") == new
    assert command("validate", path).returncode == 0
    assert "nothing to change" in command("migrate", path).stderr
    missing = command("migrate", tmp_path / "none.toml")
    assert (missing.returncode, "no such file" in missing.stderr) == (2, True)


def test_a_file_of_a_later_version_is_refused(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "later.toml"
    path.write_text(OLD.replace("schema = 1", "schema = 3"), encoding="utf-8")
    for name in ("migrate", "validate"):
        refused = command(name, path)
        assert refused.returncode == 2
        assert "later.toml:1: schema: version 3 is unknown; this program reads 2" in refused.stderr
        assert "hint: a later version of rocelab reads it" in refused.stderr
    assert path.read_text(encoding="utf-8").startswith("schema = 3")


def test_line_ends_and_permissions_of_a_rewritten_file_stay(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "old.toml"
    path.write_bytes(OLD.replace("\n", "\r\n").encode())
    path.chmod(0o600)
    assert command("migrate", path).returncode == 0
    new = path.read_bytes()
    assert b"time_limit" in new
    assert new.count(b"\n") == new.count(b"\r\n") == OLD.count("\n")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("key", "new"),
    [
        ("run.limit", "run.time_limit"),
        ("quirks.node_hash", "quirks.ns3_ecmp_hash"),
        ("ecn.at", "ecn.reference_rate"),
    ],
)
def test_an_old_key_is_refused_with_its_new_name(key: str, new: str) -> None:
    with pytest.raises(rocelab.ConfigError, match=f"`{key}` is called `{new}` now"):
        rocelab.Scenario.from_toml(INCAST, set={key: "1us"})


def test_an_old_parameter_is_refused_with_its_new_name() -> None:
    changes = {"scheme": "rocc", "scheme.params.at": "40Gbps"}
    with pytest.raises(rocelab.ConfigError, match=r"called `scheme\.params\.reference_rate` now"):
        rocelab.Scenario.from_toml(INCAST, set=changes)


@pytest.mark.parametrize(
    ("arguments", "new"),
    [
        (["fct", "fct.txt", "--type", "1"], "--port-type"),
        (["fct", "fct.txt", "--cut", "2"], "--finished-before"),
        (["hpcc", "config.txt", "--to-scenario"], "--print-scenario"),
        (["compare", "--page", "page.md"], "--markdown"),
        (["compare", "--rate", "40"], "--rate-gbps"),
        (["reproduce", "--page", "page.md"], "--markdown"),
        (["validate-hpcc", "cases", "--seeds", "3"], "`rocelab compare-hpcc`"),
    ],
)
def test_an_old_option_is_refused_with_its_new_name(
    command: Command, arguments: list[str], new: str
) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert f"is called {new} now" in done.stderr
    assert "--page" not in command(arguments[0], "--help").stdout


def test_results_of_an_earlier_version_open(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    scenario = (out / "scenario.toml").read_text(encoding="utf-8")
    assert scenario.startswith("schema = 2\n")
    old = scenario.replace("schema = 2", "schema = 1").replace("\ntime_limit =", "\nlimit =")
    (out / "scenario.toml").write_text(old, encoding="utf-8")
    summary = json.loads((out / "summary.json").read_text())
    summary["unfairness"] = summary.pop("intra_inter_slowdown")
    (out / "summary.json").write_text(json.dumps(summary))
    reseal(out)
    read = rocelab.open(out)
    assert "intra_inter_slowdown" in read.summary
    assert read.scenario.to_toml() == incast.scenario.to_toml()
