"""Files of the HPCC simulator's forks: they run, and what they ask for is done or refused."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import hpcc_cases
import hpcc_config
from conftest import Command
from rocelab.hpcc.experiment import Experiment

DCQCN = (
    hpcc_config.HPCC.replace("CC_MODE 3", "CC_MODE 1")
    .replace("KMAX_MAP 1", "KMAX_MAP 2 25000000000 400")
    .replace("KMIN_MAP 1", "KMIN_MAP 2 25000000000 100")
    .replace("PMAX_MAP 1", "PMAX_MAP 2 25000000000 0.2")
)
CONFIG = f"""TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
ENABLE_TRACE 0
{DCQCN}"""
LINKS = """4 5
0 4 25Gbps 1us 0
1 4 25Gbps 1us 0
2 4 25Gbps 1us 0
3 5 25Gbps 1us 0
4 5 100Gbps 1us 0
"""
TWO_PATHS = """8 4 8
4 5 6 7
0 4 25Gbps 1us 0
1 4 25Gbps 1us 0
2 4 25Gbps 1us 0
3 7 25Gbps 1us 0
4 5 25Gbps 1us 0
4 6 25Gbps 1us 0
5 7 25Gbps 1us 0
6 7 25Gbps 1us 0
"""
"""The flows can pass switch 5 or 6. ECMP sends all three over one of them."""
FLOWS = "3\n0 3 3 100 2000000 2.0\n1 3 3 100 2000000 2.0\n2 3 3 100 2000000 2.0\n"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A folder with an experiment, to be run in it."""
    for name, text in (("config", CONFIG), ("topology", f"6 2 5\n{LINKS}"), ("flow", FLOWS)):
        (tmp_path / f"{name}.txt").write_text(text, encoding="ascii")
    return tmp_path


def fcts(command: Command, case: Path, out: str, *options: str) -> str:
    """What a run wrote."""
    done = command("hpcc", "config.txt", "--out", out, *options, cwd=case)
    assert done.returncode == 0, done.stderr
    return (case / out / "fct.txt").read_text()


@pytest.mark.parametrize("head", ["6 2 1 5", "6 2 1 5 25000000000 100000000000"])
def test_topologies_with_tors_are_the_same_network(head: str, command: Command, case: Path) -> None:
    plain = fcts(command, case, "plain")
    (case / "topology.txt").write_text(f"{head}\n{LINKS}", encoding="ascii")
    assert fcts(command, case, "fork") == plain


def test_an_nvswitch_forwards_and_marks_nothing(command: Command, case: Path) -> None:
    # Three senders over the NVSwitch, whose links have no entry in the maps.
    links = LINKS.replace("25Gbps", "2880Gbps").replace("3 5 2880", "3 4 2880")
    (case / "topology.txt").write_text(f"6 4 1 1 5 H100\n{links}", encoding="ascii")
    done = command("hpcc", "config.txt", "--json", "--out", "out", cwd=case)
    assert done.returncode == 0, done.stderr
    form, speed = done.stderr.splitlines()
    assert form == (
        "warning: topology.txt:1: a topology of SimAI: NVSwitches forward as switches do and mark "
        'nothing; the type of GPU, "H100", changes nothing'
    )
    # 8384 bits at 2.88 bits a picosecond, cut to whole nanoseconds.
    assert speed.startswith("warning: on the link in line 6 of the topology, of 2880Gbps, 1048 ")
    assert "bytes take 2 ns in place of 2.91 ns" in speed
    (setting,) = re.findall(r"--set (quirks\S+)", speed)
    exact = command("hpcc", "config.txt", "--out", "exact", "--set", setting, cwd=case)
    assert (exact.returncode, exact.stderr.splitlines()) == (0, [form])

    def longest(out: str) -> int:
        lines = (case / out / "fct.txt").read_text().splitlines()
        return max(int(line.split()[6]) for line in lines)

    assert longest("exact") > 1.2 * longest("out")
    # Links of switches need thresholds.
    (case / "topology.txt").write_text(f"6 2 5\n{links}", encoding="ascii")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 2
    assert "KMIN_MAP has no entry for 2880Gbps" in done.stderr


def test_flows_without_a_port_are_those_of_port_100(command: Command, case: Path) -> None:
    plain = fcts(command, case, "plain")
    (case / "flow.txt").write_text(FLOWS.replace(" 100 ", " "), encoding="ascii")
    assert fcts(command, case, "fork") == plain


def test_completion_times_of_conweave_are_in_its_form(command: Command, case: Path) -> None:
    """Hosts by number, and ports that each host counts: of flows it sends, of those it receives."""
    (case / "flow.txt").write_text(
        "4\n0 1 3 1000 2.0\n0 2 3 2000 2.0001\n2 1 3 3000 2.0002\n0 1 3 4000 2.0003\n",
        encoding="ascii",
    )
    plain = [line.split() for line in fcts(command, case, "plain").splitlines()]
    assert [row[:4] for row in plain[::3]] == [
        ["0b000001", "0b000101", port, "100"] for port in ("10000", "10001")
    ]
    (case / "config.txt").write_text(f"{CONFIG}LB_MODE 0\nENABLE_IRN 0\n", encoding="ascii")
    text = fcts(command, case, ".")
    rows = [line.split() for line in text.splitlines()]
    assert [" ".join(row[:5]) for row in rows] == [
        "0 1 10000 100 1000",
        "0 2 10001 100 2000",
        "2 1 10000 101 3000",
        "0 1 10002 102 4000",
    ]
    assert [row[4:] for row in rows] == [row[4:] for row in plain]
    # The file of such a run is one to compare with.
    done = command("compare-hpcc", case, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["order"] for row in rows] == ["fast", "ns3"]
    assert all((row["flows"], row["missing"], row["equal"]) == (4, 0, 4) for row in rows)
    # Flows with ports keep them, as tags of the workload.
    (case / "flow.txt").write_text("1\n0 1 3 200 1000 2.0\n", encoding="ascii")
    assert fcts(command, case, ".").startswith("0b000001 0b000101 10000 200 1000 ")


def test_enable_pfc_0_is_pfc_off(command: Command, case: Path) -> None:
    # Without a control law and a window a queue outgrows the buffer.
    config = CONFIG.replace("BUFFER_SIZE 32", "BUFFER_SIZE 1").replace("CC_MODE 1", "CC_MODE 0")
    config = config.replace("HAS_WIN 1", "HAS_WIN 0")
    (case / "config.txt").write_text(config, encoding="ascii")
    on = fcts(command, case, "on")
    off = fcts(command, case, "set", "--set", "pfc.enabled=false")
    assert on != off
    (case / "config.txt").write_text(f"{config}ENABLE_PFC 0\n", encoding="ascii")
    assert fcts(command, case, "key") == off


def scenario_of(command: Command, case: Path, keys: str) -> dict[str, Any]:
    """What the files with these keys are as a scenario."""
    (case / "config.txt").write_text(f"{keys}\n{CONFIG}", encoding="ascii")
    done = command("hpcc", "config.txt", "--print-scenario", cwd=case)
    assert done.returncode == 0, done.stderr
    assert "keys of ConWeave" in done.stderr
    return tomllib.loads(done.stdout)


@pytest.mark.parametrize(
    ("mode", "balance"),
    [(2, "drill"), (6, "letflow"), (9, "conweave")],
)
def test_load_balancing_of_conweave(mode: int, balance: str, command: Command, case: Path) -> None:
    made = scenario_of(command, case, f"LB_MODE {mode}")
    assert made["routing"]["balance"] == balance
    assert made["host"]["recovery"] == "go-back-n"
    assert made["pfc"]["alpha"] == 1 / 16
    assert made["classes"]["ack"] == 6
    assert made["classes"]["strict"] == [6]
    (case / "topology.txt").write_text(TWO_PATHS, encoding="ascii")

    def ways(keys: str) -> list[int]:
        """What the first switch sends over each of the two paths."""
        (case / "config.txt").write_text(f"{keys}\n{CONFIG}", encoding="ascii")
        result, _ = Experiment(case / "config.txt", case).run(into=case / "out")
        ports = result.ports.to_polars().select("node", "peer", "tx_bytes").rows()
        return [sent for node, peer, sent in ports if node == "n4" and peer in ("n5", "n6")]

    assert min(ways("LB_MODE 0")) == 0
    assert min(ways(f"LB_MODE {mode}")) > 50_000


def test_parameters_of_conweave_s_load_balancing(command: Command, case: Path) -> None:
    keys = "LB_MODE 9\nCONWEAVE_TX_EXPIRY_TIME 250\nCONWEAVE_EXTRA_VOQ_FLUSH_TIME 17"
    conweave = scenario_of(command, case, keys)["routing"]["conweave"]
    given = {"inactive": "250us", "resume_extra": "17us", "header": "0B", "own_memory": True}
    assert {key: conweave[key] for key in given} == given
    # What the file does not say is as that simulator has it.
    assert (conweave["path_busy"], conweave["resume_default"]) == ("8us", "500us")


def test_policies_and_recovery_are_those_of_conweaves_simulator(
    command: Command, case: Path
) -> None:
    """Without that, long flows of DRILL with selective repeat take half as long as there."""
    of = ("conweave_drill", "conweave_recovery", "conweave_conga")
    nodes = ("scan_queue_pairs", "conweave_ecn_draws", "ns3_tie_order", "packet_round_robin")
    for keys, quirks in (
        ("LB_MODE 2", (True, False, False)),
        ("LB_MODE 2\nENABLE_IRN 1\nENABLE_PFC 0", (True, True, False)),
        ("LB_MODE 0\nENABLE_IRN 1\nENABLE_PFC 0", (False, True, False)),
        ("LB_MODE 6", (False, False, False)),
    ):
        made = scenario_of(command, case, keys)["quirks"]
        assert tuple(made.get(key, False) for key in of) == quirks, keys
        assert all(made[key] for key in nodes)


def test_pauses_and_buffers_are_those_of_conweaves_simulator(command: Command, case: Path) -> None:
    for keys in ("LB_MODE 0", "LB_MODE 6\nPAUSE_TIME 7", "ENABLE_IRN 0"):
        made = scenario_of(command, case, keys)
        pfc = made["pfc"]
        assert pfc["pause_time"] == ("7us" if "PAUSE_TIME" in keys else "5us")
        assert (pfc["refresh"], pfc["headroom"]) == ("arrivals", "2bdp")
        assert (pfc["reserve"], pfc["resume_offset"]) == ("2096B", "1B")
        assert made["quirks"]["conweave_buffer"]
        # Marks begin when a queue holds a packet more than KMIN.
        assert made["ecn"]["by_rate"][0]["kmin"].removesuffix("B").endswith("049")
    for keys in ("LB_MODE 0\nENABLE_PFC 0", "ENABLE_IRN 1\nENABLE_PFC 0"):
        made = scenario_of(command, case, keys)
        assert not made["quirks"].get("conweave_buffer", False)
        assert "pause_time" not in made["pfc"]
        # No queue has more than half of the buffer.
        assert made["switch"]["lossy_alpha"] == 1


def test_a_pause_of_conweaves_simulator_is_sent_again_with_each_packet(
    command: Command, case: Path
) -> None:
    """Frames as there: several for each pause, and pauses that end with their time."""
    ends = "".join(f"{host} 4 25Gbps 1us 0\n" for host in range(4))
    (case / "topology.txt").write_text(f"5 1 4\n4\n{ends}", encoding="ascii")
    config = CONFIG.replace("HAS_WIN 1", "HAS_WIN 0").replace("BUFFER_SIZE 32", "BUFFER_SIZE 2")
    config = f"LB_MODE 6\n{config.replace('CC_MODE 1', 'CC_MODE 0')}"
    (case / "config.txt").write_text(config, encoding="ascii")
    done = command("hpcc", "config.txt", "--out", "run", "--json", cwd=case)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["lossless_drops"] == 0
    frames = [line.split() for line in (case / "run" / "pfc.txt").read_text().splitlines()]
    pauses = sum(frame[4] == "1" for frame in frames)
    resumes = len(frames) - pauses
    assert pauses > 2 * resumes > 0
    assert summary["counters"]["pauses_refreshed"] == pauses - resumes


def test_switches_of_conweave_are_no_others(command: Command, case: Path) -> None:
    """With ECMP and go-back-N, too, which are the only mechanisms of the HPCC simulator."""
    made = scenario_of(command, case, "LB_MODE 0")
    assert (made["classes"]["ack"], made["routing"]["balance"]) == (6, "ecmp")
    hashes = {key: on for key, on in made["quirks"].items() if key.endswith("_ecmp_hash")}
    assert hashes == {"ns3_ecmp_hash": False, "conweave_ecmp_hash": True}
    assert (made["pfc"]["alpha"], "rate_scaled_alpha" in made["quirks"]) == (1 / 16, False)
    (case / "config.txt").write_text(CONFIG, encoding="ascii")
    plain = tomllib.loads(command("hpcc", "config.txt", "--print-scenario", cwd=case).stdout)
    assert (plain["classes"]["ack"], plain["pfc"]["alpha"]) == ("data", 1 / 8)


@pytest.mark.parametrize(
    "keys", ["LB_MODE 0", "LB_MODE 0\nENABLE_IRN 1\nENABLE_PFC 0", "LB_MODE 9"]
)
def test_times_of_conweave_are_whole_nanoseconds(keys: str, command: Command, case: Path) -> None:
    """A packet on an idle network: there and back four links of 1 us."""
    (case / "topology.txt").write_text(f"6 2 5\n{LINKS.replace('25Gbps', '100Gbps')}")
    (case / "flow.txt").write_text("1\n0 2 3 1000 2.0\n", encoding="ascii")
    (case / "config.txt").write_text(f"{keys}\n{CONFIG}", encoding="ascii")
    (row,) = fcts(command, case, "out").splitlines()
    data, ack = 1048 * 8 // 100, 60 * 8 // 100
    ideal = 4000 + 2 * (1000 * 8 // 100) + data
    assert [int(word) for word in row.split()[6:]] == [4000 + 2 * (data + ack), ideal]


def test_paths_of_conweave(case: Path) -> None:
    """The bytes that each uplink has sent in 10 us: numbers of that simulator's own run."""
    config = hpcc_cases.unpack_conweave("flow_50.txt.xz", 2.00001, case)
    there = {}
    for line in hpcc_cases.conweave_file("uplink.txt").splitlines():
        _, leaf, interface, sent = map(int, line.split(","))
        there[f"n{leaf}", interface - 1] = sent
    result, _ = Experiment(config, case).run(into=case / "out")
    ports = result.ports.to_polars().select("node", "port", "peer", "tx_bytes").rows()
    names = {f"n{spine}" for spine in range(136, 144)}
    here = {(node, port): sent for node, port, peer, sent in ports if peer in names}
    assert here == there


SIMAI = """# INPUT FILES
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
SEND_OUTPUT_FILE send.txt
ENABLE_TRACE 0
# TRACE_FILE none.txt
SIMULATOR_STOP_TIME 40000000000000.00
HAS_WIN 1
GLOBAL_T 1
INT_MULTI 4
KMAX_MAP 2 25000000000 400 100000000000 1600
KMIN_MAP 2 25000000000 100 100000000000 400
PMAX_MAP 2 25000000000 0.2 100000000000 0.2
BUFFER_SIZE 32
# NS3 SETTINGS
ns3::QbbNetDevice::QcnEnabled true
ns3::QbbNetDevice::DynamicThreshold true
ns3::SwitchNode::PfcEnabled true
ns3::RdmaHw::Mtu 1000
ns3::RdmaHw::CcMode 1
ns3::RdmaHw::RateAI 50Mb/s
ns3::RdmaHw::RateHAI 50Mb/s
ns3::RdmaHw::MinRate 1000Mb/s
ns3::RdmaHw::L2ChunkSize 4000
ns3::RdmaHw::L2AckInterval 1
ns3::RdmaHw::L2BackToZero false
ns3::RdmaHw::VarWin true
ns3::RdmaHw::RateBound true
ns3::RdmaHw::NicCoalesceMethod PER_QP
ns3::MellanoxDcqcn::AlphaResumInterval 1.0
ns3::MellanoxDcqcn::RateDecreaseInterval 4.0
ns3::MellanoxDcqcn::ClampTargetRate false
ns3::MellanoxDcqcn::RPTimer 300.0
ns3::MellanoxDcqcn::EwmaGain 0.00390625
ns3::MellanoxDcqcn::FastRecoveryTimes 1
ns3::RealDcqcn::F 1
"""


def test_attributes_of_simai_are_the_keys_that_set_the_same(command: Command, case: Path) -> None:
    plain = fcts(command, case, "plain")
    (case / "config.txt").write_text(SIMAI, encoding="ascii")
    done = command("hpcc", "config.txt", "--out", "simai", "--json", cwd=case)
    assert done.returncode == 0, done.stderr
    assert (case / "simai/fct.txt").read_text() == plain
    unwritten, unserved = done.stderr.splitlines()
    assert unwritten.endswith(":6: keys of SimAI: the files of SEND_OUTPUT_FILE are not written")
    head, names = unserved.split(" that are not served: ")
    assert head == "warning: config.txt:31: attributes of SimAI"
    assert names == "ns3::RdmaHw::NicCoalesceMethod, ns3::RealDcqcn::F"


def test_loss_recovery_of_conweave(command: Command, case: Path) -> None:
    """Of a queue that outgrows the buffer more is sent again: all without an answer."""
    made = scenario_of(command, case, "ENABLE_PFC 0\nENABLE_IRN 1")
    host = made["host"]
    assert (host["recovery"], host["in_flight"], host["loss_after"]) == (
        "selective-repeat",
        "bdp",
        "gap",
    )
    assert host["reordering_makes_cnp"]
    assert not made["pfc"]["enabled"]
    # A queue has half of the buffer.
    options = ("--set", "switch.buffer=40KB", "--json")
    ratios = []
    for off in ((), ("--set", "quirks.conweave_recovery=false")):
        done = command("hpcc", "config.txt", "--out", "run", *options, *off, cwd=case)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert (summary["flows_done"], summary["lossless_drops"]) == (3, 0)
        assert summary["drops"] > 10
        ratios.append(summary["retransmitted_bytes"] / (1_000 * summary["drops"]))
    assert ratios[0] > 1.2
    assert ratios[1] == 1


def test_a_packet_ahead_of_a_gap_slows_its_sender(command: Command, case: Path) -> None:
    """DRILL reorders the packets of two flows. Both kinds of receivers answer with a CNP.

    That of ConWeave's simulator would have each flow stay on its path.
    """
    ends = "0 4 25Gbps 1us 0\n1 4 25Gbps 1us 0\n2 7 25Gbps 1us 0\n3 7 25Gbps 1us 0\n"
    ways = "4 5 25Gbps 1us 0\n4 6 25Gbps 9us 0\n5 7 25Gbps 1us 0\n6 7 25Gbps 1us 0\n"
    (case / "topology.txt").write_text(f"8 4 8\n4 5 6 7\n{ends}{ways}", encoding="ascii")
    flows = "2\n0 2 3 100 2000000 2.0\n1 3 3 100 2000000 2.0\n"
    (case / "flow.txt").write_text(flows, encoding="ascii")
    for keys in ("LB_MODE 2", "LB_MODE 2\nENABLE_IRN 1\nENABLE_PFC 0"):
        made = scenario_of(command, case, keys)["host"]
        assert made["reordering_makes_cnp"]
        if made["recovery"] == "go-back-n":
            assert (made["nack_interval"], made["retransmit_timeout"]) == ("4us", "4ms")
        native = ("--set", "quirks.conweave_drill=false")
        option = (*native, "--set", "host.reordering_makes_cnp=false")
        times = [
            max(int(row.split()[6]) for row in fcts(command, case, "out", *options).splitlines())
            for options in (native, option)
        ]
        assert times[0] > 1.1 * times[1], keys


def test_keys_of_conweave_that_are_none_or_have_no_order(command: Command, case: Path) -> None:
    (case / "config.txt").write_text(f"LB_MODE 5\n{CONFIG}", encoding="ascii")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 2
    assert done.stderr.startswith("error: config.txt:1: LB_MODE 5 is none")
    (case / "config.txt").write_text(f"{CONFIG}ENABLE_PFC 0\n", encoding="ascii")
    done = command("hpcc", "config.txt", "--order", "ns3", cwd=case)
    assert done.returncode == 2
    assert "ENABLE_PFC: it is a key of ConWeave, and the file has neither LB_MODE" in done.stderr
    (case / "config.txt").write_text(f"{CONFIG}LB_MODE 0\n".replace("CC_MODE 1", "CC_MODE 3"))
    done = command("hpcc", "config.txt", "--order", "ns3", cwd=case)
    assert "CC_MODE: in ConWeave's order of events the law is DCQCN" in done.stderr
    (case / "topology.txt").write_text(TWO_PATHS, encoding="ascii")
    (case / "config.txt").write_text(f"{CONFIG}LB_MODE 0\nLINK_DOWN 2001000 4 5\n")
    done = command("hpcc", "config.txt", "--order", "ns3", cwd=case)
    assert "LINK_DOWN: ConWeave's order of events has no failing links" in done.stderr


def topology(switches: range, links: list[tuple[int, int]]) -> str:
    """A topology file with these switches, which come after the hosts."""
    lines = [f"{a} {b} 25Gbps 1us 0" for a, b in links]
    head = f"{switches.stop} {len(switches)} {len(links)}"
    return "\n".join([head, " ".join(map(str, switches)), *lines]) + "\n"


SQUARE = [(0, 4), (1, 4), (2, 4), (3, 7), (4, 5), (4, 6), (5, 7), (6, 7)]
ROW = [(host, 4) for host in (0, 1, 2)] + [(n, n + 1) for n in range(4, 8)] + [(8, 3)]


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (topology(range(4, 8), [*SQUARE, (0, 6)]), "host 0 is linked to others, too, or to a host"),
        (topology(range(4, 8), [*SQUARE, (0, 1)]), "host 0 is linked to others, too, or to a host"),
        (topology(range(4, 9), ROW), ""),
        (
            topology(range(4, 10), [*ROW[:-1], (8, 9), (9, 3)]),
            "no path of up to 4 switches leads from switch 4 to switch 9, and host 0 sends to",
        ),
        (
            topology(range(300, 302), [*((host, 300) for host in range(300)), (300, 301)]),
            "switch 300 has 301 ports, and the numbers of ports in a path go up to 255",
        ),
    ],
)
def test_networks_without_paths_for_conweave_s_leaves_are_told(
    command: Command, case: Path, network: str, said: str
) -> None:
    """LetFlow takes any network by default; ConWeave's simulator knows paths from leaf to leaf."""
    (case / "topology.txt").write_text(network, encoding="ascii")
    (case / "config.txt").write_text(f"LB_MODE 6\n{CONFIG}", encoding="ascii")
    done = command("hpcc", "config.txt", "--order", "ns3", cwd=case)
    assert done.returncode == (2 if said else 0), done.stderr
    assert ("error: config.txt:1: LB_MODE: " in done.stderr) == bool(said)
    assert said in " ".join(done.stderr.split())
    assert command("hpcc", "config.txt", cwd=case).returncode == 0


@pytest.mark.parametrize(("mode", "said"), [(3, '"conga" needs'), (9, '"conweave" needs')])
def test_a_network_that_a_balance_does_not_take_is_an_error_of_its_key(
    command: Command, case: Path, mode: int, said: str
) -> None:
    (case / "topology.txt").write_text(topology(range(4, 8), [*SQUARE, (0, 6)]), encoding="ascii")
    (case / "config.txt").write_text(f"{CONFIG}LB_MODE {mode}\n", encoding="ascii")
    line = CONFIG.count("\n") + 1
    for order in ([], ["--order", "ns3"]):
        done = command("hpcc", "config.txt", *order, cwd=case)
        assert done.returncode == 2
        assert f"error: config.txt:{line}: LB_MODE: {said}" in done.stderr


def test_a_file_of_conweave_may_have_no_flows(command: Command, case: Path) -> None:
    """No class is protected then, and the length of pauses, which no key gave, is no error."""
    (case / "config.txt").write_text(f"{CONFIG}LB_MODE 0\n", encoding="ascii")
    (case / "flow.txt").write_text("0\n", encoding="ascii")
    for order in ("fast", "ns3"):
        assert fcts(command, case, order, "--order", order) == ""


def test_conweave_says_that_a_host_has_no_link(command: Command, case: Path) -> None:
    links = [link for link in SQUARE if link != (2, 4)]
    (case / "topology.txt").write_text(topology(range(4, 8), links), encoding="ascii")
    (case / "flow.txt").write_text("1\n0 3 3 100 2000000 2.0\n", encoding="ascii")
    (case / "config.txt").write_text(f"{CONFIG}LB_MODE 9\n", encoding="ascii")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 2
    assert '"conweave" needs hosts with one link, and n2 has none' in done.stderr


def test_a_stop_time_beyond_200_days_is_the_end_of_all_flows(command: Command, case: Path) -> None:
    plain = fcts(command, case, "plain")
    config = f"{CONFIG}SIMULATOR_STOP_TIME 40000000000000.00\n"
    (case / "config.txt").write_text(config, encoding="ascii")
    assert fcts(command, case, "fork") == plain


def test_the_order_of_ns3_is_that_of_no_fork(command: Command, case: Path) -> None:
    (case / "topology.txt").write_text(f"6 2 1 5\n{LINKS}", encoding="ascii")
    done = command("hpcc", "config.txt", "--order", "ns3", cwd=case)
    assert done.returncode == 2
    assert "TOPOLOGY_FILE: the topology is one of a fork" in done.stderr


def test_a_flow_without_a_path_is_named(command: Command, case: Path) -> None:
    # Host 2 has links to both switches, which have none to each other.
    links = LINKS.replace("4 5 100Gbps", "2 5 25Gbps")
    (case / "topology.txt").write_text(f"6 2 5\n{links}", encoding="ascii")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 2
    assert done.stderr.startswith("error: flow.txt:2: n0 and n3 have no path but through")


def test_slowdowns_below_1_are_explained(command: Command, case: Path) -> None:
    (case / "topology.txt").write_text(
        f"6 2 5\n{LINKS.replace('25Gbps', '400Gbps')}", encoding="ascii"
    )
    config = CONFIG.replace("CC_MODE 1", "CC_MODE 0")
    (case / "config.txt").write_text(config, encoding="ascii")
    (case / "flow.txt").write_text("1\n0 1 3 100 2000000 2.0\n", encoding="ascii")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 0, done.stderr
    assert "below 1      times are cut to whole nanoseconds" in done.stdout
