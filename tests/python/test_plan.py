"""What a scenario asks of its network, before it is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rocelab
from conftest import INCAST, Command

DATA = 300 * 1082 + 16
"""Wire bytes of 300 KB: 82 around each 1000, 16 more with the first."""


def test_a_plan_says_what_the_messages_are_and_what_each_port_would_send() -> None:
    plan = rocelab.Scenario.from_toml(INCAST).plan()
    assert plan.messages.columns == [
        "flow_id",
        "qp_id",
        "tag",
        "src",
        "dst",
        "priority",
        "size_bytes",
        "start_ps",
        "switches",
        "bottleneck_bps",
        "base_rtt_ps",
        "ideal_fct_ps",
    ]
    ports = {(row["node"], row["peer"]): row for row in plan.ports.to_polars().to_dicts()}
    receiver = ports["s0", "h4"]
    assert (receiver["messages"], receiver["data_bytes"]) == (3, 3 * DATA)
    assert receiver["busy_ps"] == 3 * DATA * 80
    assert (receiver["tier"], receiver["peer_tier"]) == (1, 0)
    assert ports["h4", "s0"]["ack_bytes"] == 3 * 300 * 86
    assert plan.span_ps == 10_000_000
    hosts, switch = plan.by_tier().to_dicts()
    assert (hosts["tier"], hosts["ports"], switch["peer_tier"]) == (0, 5, 0)
    assert (switch["busiest_node"], switch["busiest_peer"]) == ("s0", "h4")
    assert switch["most_load"] == pytest.approx(3 * DATA * 80 / 10e6)
    first, second = plan.by_tag().to_dicts()
    assert (first["tag"], first["messages"], first["bytes"]) == ("incast", 3, 900_000)
    assert (second["tag"], second["first_start_ps"]) == ("victim", 10_000_000)
    # 100 Gb/s over 4 us of cables, and a full packet and an ACK on two links.
    round_trip = 4_000_000 + 2 * (1_082 + 86) * 80
    assert first["most_bdp_bytes"] == pytest.approx(round_trip / 80)


def test_the_command_prints_tables_or_json(command: Command, incast_file: Path) -> None:
    done = command("plan", incast_file)
    assert (done.returncode, done.stderr) == (0, "")
    title, traffic, times, ports, meaning, buffers, marking, run = done.stdout.split("\n\n")
    assert title == "incast: 5 hosts, 1 switch, 5 links, dcqcn"
    assert traffic.splitlines()[1].split()[:4] == ["incast", "3", "900", "KB"]
    assert times.splitlines()[1].split()[:3] == ["incast", "0", "ps"]
    assert ports.splitlines()[2].endswith(" s0:h4")
    assert meaning == "load: time to send, over the 10 us from the first message to the last"
    assert buffers.splitlines()[1].startswith("tier 1           1   32 MB")
    assert marking.splitlines()[1].split()[:2] == ["100", "Gb/s"]
    assert run.startswith("a run: ")
    assert max(map(len, done.stdout.splitlines())) <= 80
    as_json = command("plan", incast_file, "--set", "traffic.0.size=1KB", "--json")
    assert json.loads(as_json.stdout)["traffic"][0]["bytes"] == 3_000


def test_without_a_span_there_is_no_load(command: Command, incast_file: Path) -> None:
    done = command("plan", incast_file, "--set", "traffic.1.flows.0.start=0ns")
    assert done.returncode == 0
    assert "load" not in done.stdout


def test_what_could_not_run_has_no_plan(command: Command, incast_file: Path) -> None:
    done = command("plan", incast_file, "--set", "switch.buffer=100KB")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "switch.buffer" in done.stderr


def test_plan_and_validate_warn_before_a_run(command: Command, incast_file: Path) -> None:
    settings = ("--set", "pfc.xoff=300KB", "--set", "switch.buffer=1MB")
    for name in ("plan", "validate"):
        done = command(name, incast_file, *settings)
        assert done.returncode == 0
        (told,) = done.stderr.splitlines()
        assert told.startswith("warning: s0: its buffer of 1MB is full before all of its 5 ingres")
    plan = rocelab.load(incast_file, set={"pfc.xoff": "300KB", "switch.buffer": "1MB"}).plan()
    assert len(plan.warnings) == 1
    (row,) = plan.checks["buffers"]
    assert row["needed_bytes"] == 5 * 300_000 + row["reserved_bytes"]
