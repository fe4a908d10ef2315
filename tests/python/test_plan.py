"""What a scenario asks of its network, before it is run."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command
from rocelab._examples import EXAMPLES

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
        "waits",
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
    parts = done.stdout.split("\n\n")
    title, traffic, times, ports, loads, meaning, buffers, marking, run = parts
    assert title == "incast: 5 hosts, 1 switch, 5 links, dcqcn"
    assert traffic.splitlines()[1].split()[:4] == ["incast", "3", "900", "KB"]
    assert times.splitlines()[1].split()[:3] == ["incast", "0", "ps"]
    assert ports.splitlines()[2].startswith("tier 1    hosts        5  100 Gb/s")
    assert loads.splitlines()[2].endswith(" s0:h4")
    assert meaning == "load: time to send, over the 10 us from the first message to the last"
    assert buffers.splitlines()[1].startswith("tier 1           1   32 MB")
    assert marking.splitlines()[1].split()[:2] == ["100", "Gb/s"]
    # Thresholds of marks stand beside where PFC begins.
    assert marking.splitlines()[0].endswith("BDP       pause at")
    assert " up to " in marking.splitlines()[1]
    assert run.startswith("a run: ")
    assert run.endswith(" on an idle core\n")
    as_json = command("plan", incast_file, "--set", "traffic.0.size=1KB", "--json")
    assert json.loads(as_json.stdout)["traffic"][0]["bytes"] == 3_000


@pytest.mark.parametrize("name", [one.name for one in EXAMPLES if one.path.is_file()])
def test_tables_fit_into_80_columns(command: Command, tmp_path: Path, name: str) -> None:
    """Examples have several tiers, long names of nodes, and thresholds of all kinds."""
    example = rocelab.example(name)
    # Others may wait for the tags of those above it.
    last = f"traffic.{len(example.to_dict()['traffic']) - 1}.tag"
    scenario = example.with_settings(**{last: "backup of all " * 5, "probe": []})
    (tmp_path / "long.toml").write_text(scenario.to_toml(), encoding="utf-8")
    done = command("plan", tmp_path / "long.toml")
    assert done.returncode == 0
    assert "backup of" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_plan_tells_which_messages_wait(command: Command) -> None:
    plan = rocelab.example("phases").plan()
    waits = plan.messages.to_polars().group_by("tag").agg(pl.col("waits").sum())
    # In the ring 16 messages begin each of 30 steps, all of which wait.
    assert dict(waits.iter_rows()) == {"dispatch": 0, "combine": 240, "all-reduce": 480}
    told = command("plan", "phases").stdout
    assert "times are the earliest: combine, all-reduce" in " ".join(told.split())


def test_of_many_tags_a_plan_prints_one_row(command: Command, tmp_path: Path) -> None:
    star = '[topology]\nkind = "star"\nhosts = 4\nhost_rate = "100Gbps"\nhost_delay = "1us"\n'
    text = f'{star}[[traffic]]\nkind = "flows"\nflows_file = "flows.csv"\n'
    (tmp_path / "many.toml").write_text(text)
    for tags, rows in ((256, 2 * 256), (257, 2)):
        lines = [f"h1,h2,1KB,{number}us,t{number}," for number in range(tags)]
        lines[-1] = lines[-1].replace("h1,h2", "h2,h3") + "t0"
        (tmp_path / "flows.csv").write_text("\n".join(["src,dst,size,start,tag,after", *lines]))
        told = command("plan", tmp_path / "many.toml").stdout
        tagged = [line for line in told.splitlines() if line.startswith(("t0", "t1", "t2"))]
        assert ("257 tags" in told) == (rows == 2)
        if rows == 2:
            head, *_, first = told.partition("traffic   messages")[2].splitlines()[:2]
            assert first.split()[:5] == ["257", "tags", "257", "257", "KB"], head
            assert "traffic: all tags together" in told
            assert "earliest: 1 tag\n" in told
            assert not tagged
        else:
            assert "earliest: t255\n" in told
        asked = json.loads(command("plan", tmp_path / "many.toml", "--json").stdout)
        assert len(asked["traffic"]) == tags


def test_the_earliest_start_counts_the_delays_of_what_is_waited_for() -> None:
    star = {"kind": "star", "hosts": 4, "host_rate": "100Gbps", "host_delay": "1us"}
    flows = [
        # What waits may stand before what it waits for in time.
        {"src": "h2", "dst": "h3", "tag": "c", "after": "b", "after_delay": "7us"},
        {"src": "h1", "dst": "h2", "tag": "b", "after": "a", "after_delay": "20us"},
        {"src": "h1", "dst": "h3", "tag": "d", "after": "a", "start": "99us"},
        {"src": "h0", "dst": "h1", "tag": "a", "start": "3us"},
        {"src": "h3", "dst": "h1", "tag": "a", "start": "5us"},
    ]
    traffic = [{"kind": "flows", "flows": [flow | {"size": "1KB"}]} for flow in reversed(flows)]
    plan = rocelab.Scenario(topology=star, traffic=traffic).plan()
    starts = plan.by_tag().select("tag", "first_start_ps", "last_start_ps").rows_by_key("tag")
    expected = {"a": (3, 5), "b": (25, 25), "c": (32, 32), "d": (99, 99)}
    told = {tag: tuple(time // 10**6 for time in times) for tag, (times,) in starts.items()}
    assert told == expected
    run = rocelab.run(plan.scenario).flows.to_polars().sort("flow_id")["start_ps"]
    assert (run >= plan.messages.to_polars().sort("flow_id")["start_ps"]).all()


SPREADING = [
    ('routing={balance="letflow"}', 'routing.balance = "letflow"'),
    ('routing={balance="adaptive"}', 'routing.balance = "adaptive"'),
    ('host={spray="random",reorder="bdp"}', 'host.spray = "random"'),
]


@pytest.mark.parametrize(("setting", "told"), SPREADING)
def test_a_plan_tells_that_each_next_hop_has_the_same_share(
    command: Command, setting: str, told: str
) -> None:
    """A run may differ: with LetFlow flows of equal size keep the path that they draw."""
    small = ["--set", "traffic.0.size=160KB", "--set", "scheme=none"]
    plain = command("plan", "collective", *small).stdout
    assert "each next hop" not in plain
    spread = command("plan", "collective", *small, "--set", setting).stdout
    lines = " ".join(spread.split())
    assert f"data: the same share through each next hop, because of {told}; in a run" in lines


def test_a_plan_tells_of_the_same_share_for_ports(command: Command) -> None:
    told = " ".join(command("plan", "planes").stdout.split())
    assert 'because of host.spray = "reps" and host.ports = "spray"; in a run' in told


def test_shares_are_equal_where_a_plan_says_so() -> None:
    scenario = rocelab.example("collective", set={"traffic.0.size": "160KB", "scheme": "none"})
    of_hash = scenario.plan().ports.to_polars().filter(tier=1, peer_tier=2)["data_bytes"]
    assert of_hash.n_unique() > 1
    spread = scenario.with_settings(routing__balance="letflow")
    shares = spread.plan().ports.to_polars().filter(tier=1, peer_tier=2)["data_bytes"]
    assert shares.n_unique() == 1
    ran = rocelab.run(spread, threads=1).ports.to_polars().filter(tier=1, peer_tier=2)
    sent = ran["tx_bytes"].to_list()
    assert max(sent) > 1.5 * sum(sent) / len(sent)


def test_what_comes_as_fast_as_the_network_carries_it_has_no_load() -> None:
    """A phase that follows another has its bytes in no given time."""
    early = {"kind": "permutation", "size": "1KB", "tag": "early"}
    later = {"kind": "permutation", "size": "1MB", "start": "1us", "after": "early"}
    network = {"kind": "star", "hosts": 4, "host_rate": "100Gbps", "host_delay": "1us"}
    plan = rocelab.Scenario(topology=network, traffic=[early, later]).plan()
    assert plan.span_ps == 1_000_000
    last = {"kind": "permutation", "size": "1KB", "tag": "last", "after": "permutation"}
    plan = rocelab.Scenario(topology=network, traffic=[early, later, last]).plan()
    assert plan.span_ps == 0
    assert plan.by_tier()["mean_load"].null_count() == 2
    assert not plan.warnings


def test_switches_of_a_tier_that_differ_are_told_apart(command: Command) -> None:
    done = command("plan", "examples/incast.toml")
    names = [line[:10] for line in done.stdout.splitlines() if line.startswith("tier 1: ")]
    assert names == ["tier 1: s0", "tier 1: s1"]


def test_a_plan_names_both_schemes() -> None:
    assert rocelab.example("two-schemes").plan().to_dict()["scheme"] == "dcqcn and hpcc"


def test_a_plan_says_how_long_a_run_takes() -> None:
    plan = rocelab.Scenario.from_toml(INCAST).plan()
    hops = plan.checks["packet_hops"]
    assert plan.checks["window_ps"] == 1_000_000
    assert plan.run_s == pytest.approx((hops * 30e-9, hops * 60e-9))
    assert plan.to_dict()["run_s"] == plan.run_s
    twice = rocelab.Scenario.from_toml(INCAST).with_settings(traffic__0__size="600KB").plan()
    assert twice.run_s[0] > 1.5 * plan.run_s[0]
    # Links of 100 ns have nodes looked at more often, for fewer packets each time.
    for delay, most in (("500ns", 84), ("250ns", 132), ("1ns", 180)):
        short = rocelab.Scenario.from_toml(INCAST, set={"topology.host_delay": delay}).plan()
        assert short.run_s == pytest.approx((hops * 30e-9, hops * most * 1e-9))


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
    (marking,) = rocelab.load(incast_file, set={"ecn.kmin": "5KB"}).plan().checks["marking"]
    for key in (*plan.checks, *row, *marking):
        assert f"``{key}``" in (rocelab.Plan.__doc__ or ""), "what a program may read is documented"
    assert row["needed_bytes"] == 5 * 300_000 + row["reserved_bytes"]


def test_headroom_is_for_the_longest_packets_which_may_be_control_packets(
    incast: rocelab.Result,
) -> None:
    """Three packets, the link's round trip of 2 us, a byte begun, and a pause frame."""
    for name, longest in (("none", 60), ("expresspass", 128 - 20)):
        made = incast.scenario.with_settings(
            scheme={"name": name},
            wire={"profile": "hpcc-ns3", "payload": "1B"},
            traffic__0__size="1KB",
            pfc__headroom="1KB",
        )
        needed = 25_000 + 1 + 3 * longest + 43
        (told,) = [one for one in made.plan().warnings if "pfc.headroom" in one]
        assert f"is less than {needed}B" in told
        safe = made.with_settings(pfc__headroom="auto")
        (buffer,) = safe.plan().checks["buffers"]
        assert buffer["max_headroom_bytes"] == needed
        assert rocelab.run(safe).summary["lossless_drops"] == 0


def test_a_plan_tells_what_begins_only_when_the_run_has_ended() -> None:
    """As the run itself: nothing happens at its end."""
    flows = [
        {"src": "h1", "dst": "h0", "size": "1KB", "start": start, "tag": start}
        for start in ("0us", "4us", "5us", "6us")
    ]
    answer = {"src": "h0", "dst": "h1", "size": "1KB", "after": "4us", "after_delay": "2us"}
    made = rocelab.example("incast").with_settings(
        traffic=[{"kind": "flows", "flows": [*flows, answer]}],
        failure=[{"link": "h0:s0", "at": "5us", "rate": "1Gbps"}],
    )
    late = "begins only when the run has ended"
    for key in ("run.stop", "run.time_limit"):
        short = made.with_settings(**{key: "5us"})
        told = short.plan().warnings
        assert any(
            one.startswith(f"3 of 5 messages start only when the run has ended, at {key} = 5us")
            for one in told
        ), told
        assert any(one.startswith(f"[[failure]] {late}, at {key} = 5us") for one in told), told
        result = rocelab.run(short)
        unfinished = result.summary.unfinished
        assert unfinished["not_started"] + unfinished["waiting"] == 3
        assert not any(late in one for one in result.warnings), "a run says it in its own words"
        (told_of_one,) = [
            one for one in made.with_settings(**{key: "6us"}).plan().warnings if "messages" in one
        ]
        assert told_of_one.startswith("2 of 5 messages start")
    assert not any("has ended" in one for one in made.plan().warnings)
    one = made.with_settings(traffic=[{"kind": "flows", "flows": flows}], run__stop="6us")
    (told_of_one,) = [text for text in one.plan().warnings if "messages" in text]
    assert told_of_one.startswith("1 of 4 messages starts only when the run has ended")
