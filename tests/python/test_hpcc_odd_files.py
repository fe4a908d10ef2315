"""``rocelab hpcc`` with files that the HPCC simulator takes, and that few people have."""

from __future__ import annotations

import json
from struct import unpack_from
from typing import TYPE_CHECKING

import pytest

import hpcc_config
from rocelab.errors import ConfigError
from rocelab.hpcc.experiment import Experiment, Order

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

CONFIG = f"""\
TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt TRACE_FILE trace.txt
TRACE_OUTPUT_FILE out/mix.tr FCT_OUTPUT_FILE out/fct.txt PFC_OUTPUT_FILE out/pfc.txt
QLEN_MON_FILE out/qlen.txt QLEN_MON_START 2000000000 QLEN_MON_END 2000050000
SIMULATOR_STOP_TIME 2.01
ENABLE_TRACE 1
{hpcc_config.HPCC}"""
# Hosts 0 and 1 share the way to host 2.
LINKS = """\
0 3 100Gbps 1us 0
1 3 100Gbps 1us 0
3 4 100Gbps 1us 0
4 2 100Gbps 1us 0
"""
WHOLE = f"5 2 4\n3 4\n{LINKS}"
TWO_PARTS = f"9 3 7\n3 4 6\n{LINKS}5 6 100Gbps 2us 0\n7 6 100Gbps 2us 0\n8 6 100Gbps 2us 0\n"
FLOWS = "2\n0 2 3 100 200000 2\n1 2 3 100 100000 2.000005\n"
MARKS = {"KMIN_MAP": "1 100000000000 10", "KMAX_MAP": "1 100000000000 40"}
FILES = ("fct.txt", "pfc.txt", "qlen.txt")


def write(directory: Path, topology: str = WHOLE, flows: str = FLOWS, **keys: str) -> Path:
    """Writes an experiment; of keys that are given the last value counts."""
    directory.mkdir(exist_ok=True)
    config = CONFIG + "".join(f"{key} {value}\n" for key, value in keys.items())
    nodes = int(topology.split()[0])
    trace = f"{nodes}\n{' '.join(map(str, range(nodes)))}\n"
    for name, text in (
        ("config", config),
        ("topology", topology),
        ("flow", flows),
        ("trace", trace),
    ):
        (directory / f"{name}.txt").write_text(text, encoding="ascii")
    return directory


def run(case: Path, order: Order) -> Path:
    """Runs an experiment; returns where its files are."""
    out = case / f"out-{order}"
    Experiment(case / "config.txt", case).run(into=out, order=order)
    return out


def trace(path: Path) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """The table of ports of a packet trace, and the first fields of its sorted records.

    Marks are not among them: the fast order leaves them out where the law does not heed them.
    """
    content = path.read_bytes()
    ports = int.from_bytes(content[:4], "little")
    table = [unpack_from("<HBQ", content, 4 + 11 * port) for port in range(ports)]
    starts = range(8 + 11 * ports, len(content), 56)
    return table, sorted(unpack_from("<QHBBIIIHBB", content, start) for start in starts)


def assert_equal_in_both_orders(case: Path) -> list[list[str]]:
    """Returns the rows of ``fct.txt``."""
    fast, ns3 = run(case, "fast"), run(case, "ns3")
    for name in FILES:
        assert (fast / name).read_text() == (ns3 / name).read_text(), name
    assert trace(fast / "mix.tr") == trace(ns3 / "mix.tr")
    return [line.split() for line in (ns3 / "fct.txt").read_text().splitlines()]


@pytest.mark.parametrize(
    ("topology", "told"),
    [
        (f"6 2 4\n3 4\n{LINKS}", "host 5 has no link: "),
        (f"6 3 4\n3 5 4\n{LINKS}", "switch 5 has no link: "),
        (f"8 3 4\n3 5 4\n{LINKS}", "switch 5 has no link (2 more nodes, too): "),
        (TWO_PARTS, "the network has 2 parts that no link joins: "),
    ],
)
def test_what_no_link_joins_changes_nothing_elsewhere(
    tmp_path: Path, topology: str, told: str
) -> None:
    alone = assert_equal_in_both_orders(write(tmp_path / "alone", GLOBAL_T="0"))
    case = write(tmp_path / "case", topology, GLOBAL_T="0")
    assert told in " ".join(Experiment(case / "config.txt", case).warnings)
    assert assert_equal_in_both_orders(case) == alone
    assert len(alone) == 2


@pytest.mark.parametrize("extra", ["", "5 0 100Gbps 5us 0\n"], ids=["nothing", "a host"])
def test_hosts_with_several_links_beside_what_nothing_reaches(tmp_path: Path, extra: str) -> None:
    """The longest path of the network is over switches, and not over a host."""
    links = LINKS + "0 4 100Gbps 1us 0\n" + extra
    topology = f"7 2 {links.count(chr(10))}\n3 4\n{links}"
    assert len(assert_equal_in_both_orders(write(tmp_path / "case", topology))) == 2


def test_flows_of_several_parts(tmp_path: Path) -> None:
    flows = f"4\n{FLOWS[2:]}5 7 3 100 50000 2.000006\n8 7 3 200 50000 2.000006\n"
    rows = assert_equal_in_both_orders(write(tmp_path / "case", TWO_PARTS, flows))
    assert sorted(row[0] for row in rows) == ["0b000001", "0b000101", "0b000501", "0b000801"]


@pytest.mark.parametrize("order", ["fast", "ns3"])
def test_a_flow_between_parts_is_refused_with_its_line(
    command: Command, tmp_path: Path, order: str
) -> None:
    case = write(tmp_path / "case", TWO_PARTS, f"3\n{FLOWS[2:]}0 7 3 100 50000 2.000006\n")
    done = command("hpcc", "config.txt", "--order", order, "--quiet", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "error: flow.txt:4: n0 and n7 are in parts that no link joins",
        "hint: join the parts with a link, or leave the message out",
    ]
    assert not (case / "out").exists()


def test_the_first_host_needs_a_link(tmp_path: Path) -> None:
    case = write(tmp_path / "case", "4 1 2\n3\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n", "0\n")
    with pytest.raises(ConfigError, match="host 0 has no link, and it is the first one"):
        Experiment(case / "config.txt", case)


def test_the_printed_scenario_has_the_parts(command: Command, tmp_path: Path) -> None:
    case = write(tmp_path / "case", TWO_PARTS)
    printed = command("hpcc", "config.txt", "--print-scenario", cwd=case)
    assert "in_parts = true" in printed.stdout, printed.stderr
    (case / "same.toml").write_text(printed.stdout, encoding="utf-8")
    there = command("hpcc", "config.txt", "--json", "--quiet", cwd=case)
    here = command("run", "same.toml", "--out", "result", "--json", "--quiet", cwd=case)
    assert (there.returncode, here.returncode) == (0, 0), there.stderr + here.stderr
    digests = {json.loads(done.stdout)["digest"] for done in (there, here)}
    assert len(digests) == 1


@pytest.mark.parametrize("payload", ["1", "63", "9001", "65000"])
def test_payloads_that_no_other_scenario_has(tmp_path: Path, payload: str) -> None:
    flows = "2\n0 2 3 100 3000 2\n1 2 3 100 140000 2.000001\n"
    keys = {"PACKET_PAYLOAD_SIZE": payload, "CC_MODE": "7"}
    if payload == "1":
        flows = flows.replace("140000", "4000")
    assert len(assert_equal_in_both_orders(write(tmp_path / "case", WHOLE, flows, **keys))) == 2


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"CC_MODE": "3", "RATE_AI": "0"}, ""),
        ({"CC_MODE": "3", "RATE_AI": "0b/s", "MULTI_RATE": "1", "MI_THRESH": "5"}, ""),
        ({"CC_MODE": "3", "U_TARGET": "1.5"}, "U_TARGET is 1.5: "),
        ({"CC_MODE": "3", "MIN_RATE": "200Gb/s"}, "MIN_RATE 200Gbps is above 100Gbps, "),
        ({"CC_MODE": "1", "EWMA_GAIN": "0"}, "EWMA_GAIN is 0: "),
        ({"CC_MODE": "1", "RATE_AI": "0", "RATE_HAI": "0"}, "RATE_HAI is 0bps: "),
        ({"CC_MODE": "1", "MIN_RATE": "200Gb/s", "VAR_WIN": "0"}, ""),
        ({"CC_MODE": "8", "EWMA_GAIN": "0", "DCTCP_RATE_AI": "0"}, "DCTCP_RATE_AI is 0bps: "),
        ({"CC_MODE": "7", "RATE_AI": "0"}, "RATE_AI is 0bps: "),
        ({"CC_MODE": "3", "LINK_DOWN": "10 0 4"}, "which no link joins: nothing fails, "),
    ],
)
def test_values_that_the_simulator_takes(tmp_path: Path, keys: dict[str, str], told: str) -> None:
    # One switch marks, so that both orders draw the same numbers.
    case = write(tmp_path / "case", **MARKS, **keys)
    experiment = Experiment(case / "config.txt", case)
    for order in ("fast", "ns3"):
        assert told in " ".join(experiment.warnings_with((), order))
    assert len(assert_equal_in_both_orders(case)) == 2


@pytest.mark.parametrize("law", ["1", "8"])
def test_without_a_gain_it_is_zero(tmp_path: Path, law: str) -> None:
    zero = write(tmp_path / "zero", CC_MODE=law, EWMA_GAIN="0", **MARKS)
    case = write(tmp_path / "case", CC_MODE=law, **MARKS)
    config = case / "config.txt"
    config.write_text(config.read_text().replace("EWMA_GAIN 0.00390625\n", ""), encoding="ascii")
    assert "EWMA_GAIN is missing, which means 0: " in " ".join(Experiment(config, case).warnings)
    assert assert_equal_in_both_orders(case) == assert_equal_in_both_orders(zero)


def test_of_parallel_links_the_last_is_in_the_trace(tmp_path: Path) -> None:
    topology = WHOLE.replace("5 2 4", "5 2 6") + "3 4 100Gbps 2us 0\n4 3 100Gbps 3us 0\n"
    case = write(tmp_path / "case", topology)
    assert_equal_in_both_orders(case)
    table, records = trace(case / "out-fast/mix.tr")
    ports = {port[:2] for port in table}
    assert ports == {(0, 1), (1, 1), (2, 1), (3, 1), (3, 2), (3, 5), (4, 2), (4, 4)}
    assert {record[1:3] for record in records} == ports


def test_without_a_window_hpcc_is_refused(tmp_path: Path) -> None:
    case = write(tmp_path / "case", HAS_WIN="0")
    with pytest.raises(ConfigError, match="divides queues by the window: U is infinite") as caught:
        Experiment(case / "config.txt", case)
    assert caught.value.hint == "set HAS_WIN 1"
