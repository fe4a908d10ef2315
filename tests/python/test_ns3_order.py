"""``rocelab hpcc --order ns3``: files equal to those that the HPCC simulator wrote.

What is compared are the simulator's own runs.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path
from struct import unpack_from
from typing import get_args

import pytest

import hpcc_cases
import hpcc_config
from conftest import Command
from rocelab.errors import ConfigError
from rocelab.hpcc.experiment import Experiment, Order
from rocelab.result import Result

RECORD, PORT = 56, 11
"""Bytes of a record of a packet trace, and of a row of the table of ports in front of them."""


def run(name: str, scratch: Path, seed: int = 1) -> tuple[Result, Path, Path]:
    """Runs a case; returns the result, the folder of the case and that of the files."""
    case, out = hpcc_cases.unpack(name, scratch), scratch / "out"
    experiment = Experiment(case / "config.txt", case)
    result, _ = experiment.run(into=out, order="ns3", settings=[("run.seed", str(seed))])
    return result, case, out


@pytest.mark.parametrize("name", hpcc_cases.CONFIGS)
def test_every_file_is_equal(name: str, tmp_path: Path) -> None:
    _, case, out = run(name, tmp_path)
    for file in ("fct.txt", "pfc.txt", "qlen.txt"):
        if (case / file).is_file():
            assert (out / file).read_text() == (case / file).read_text(), file


def test_files_of_conweaves_simulator_are_equal(tmp_path: Path) -> None:
    """The first 400 us of a run at 80 % load of the fabric, with the first pauses.

    Of that simulator's files, what lies in this time is compared.
    """
    config = hpcc_cases.unpack_conweave("flow_80.txt.xz", 2.0004, tmp_path)
    out = tmp_path / "out"
    Experiment(config, tmp_path).run(into=out, order="ns3")
    assert (out / "fct.txt").read_text() == hpcc_cases.conweave_file("fct_80.txt.xz")
    assert (out / "pfc.txt").read_text() == hpcc_cases.conweave_file("pfc_80.txt")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


@pytest.mark.parametrize("irn", [False, True], ids=["pfc", "irn"])
@pytest.mark.parametrize("balance", hpcc_cases.CONWEAVE_MODES)
def test_every_way_to_balance_load_is_equal(balance: str, irn: bool, tmp_path: Path) -> None:
    """The first 900 us of a run at 50 % load: digests of that simulator's files."""
    table = csv.DictReader(hpcc_cases.conweave_file("digests_50.csv").splitlines())
    recovery = "irn" if irn else "lossless"
    (there,) = (row for row in table if (row["balance"], row["recovery"]) == (balance, recovery))
    config = hpcc_cases.unpack_conweave("flow_50.txt.xz", 2.0009, tmp_path, balance, irn=irn)
    out = tmp_path / "out"
    Experiment(config, tmp_path).run(into=out, order="ns3")
    fct, pfc = ((out / name).read_text() for name in ("fct.txt", "pfc.txt"))
    assert (fct.count("\n"), pfc.count("\n")) == (int(there["flows"]), int(there["frames"]))
    assert (digest(fct), digest(pfc)) == (there["fct"], there["pfc"])


def fields(record: bytes) -> tuple[object, ...]:
    """What a record says. The bytes between fields are not initialised there."""
    kind = record[26]
    head: tuple[object, ...] = (*unpack_from("<QHBBIIIHBBBB", record),)
    if kind in (0x06, 0x11):
        return head + unpack_from("<HHIQHH", record, 32)
    if kind in (0xFC, 0xFD):
        return head + unpack_from("<HHHHI", record, 32) + unpack_from("<Q", record, 48)
    # The bytes of the queue that a PFC frame is about are of no use, and are not compared.
    assert kind == 0xFE, f"protocol {kind:#x}"
    return head + unpack_from("<I", record, 32) + (record[40],)


def records(path: Path) -> tuple[bytes, list[tuple[object, ...]]]:
    """What is in front of the records of a packet trace, and what each of them says."""
    content = path.read_bytes()
    begin = 8 + PORT * int.from_bytes(content[:4], "little")
    assert (len(content) - begin) % RECORD == 0
    return content[:begin], [
        fields(content[at : at + RECORD]) for at in range(begin, len(content), RECORD)
    ]


@pytest.mark.parametrize(
    "name", ["dual_trace/hpcc", "leak_trace/dcqcn", "minimal/hpcc", "tie_hpcc/hpcc"]
)
def test_every_record_of_a_packet_trace_is_equal(name: str, tmp_path: Path) -> None:
    _, case, out = run(name, tmp_path)
    assert records(out / "mix.tr") == records(case / "mix.tr")


def line(record: tuple[object, ...]) -> str:
    """A record as the simulator's ``trace_reader`` prints it."""
    time, node, port, queue, held, src, dst, size, kind, event, ecn, _, *rest = record
    assert isinstance(src, int)
    assert isinstance(dst, int)
    assert isinstance(event, int)
    name = ("Recv", "Enqu", "Dequ", "Drop")[event]
    head = f"{time} n:{node} {port}:{queue} {held} {name} ecn:{ecn:x} {src:08x} {dst:08x}"
    if kind == 0x11:
        sport, dport, seq, stamp, priority, payload = rest
        return f"{head} {sport} {dport} U {seq} {stamp} {priority} {size}({payload})"
    if kind == 0xFE:
        pause, priority = rest
        return f"{head} P {pause} {priority} {size}"
    sport, dport, flags, priority, seq, stamp = rest
    letter = "A" if kind == 0xFC else "N"
    return f"{head} {sport} {dport} {letter} 0x{flags:02X} {priority} {seq} {stamp} {size}"


@pytest.mark.parametrize(
    "name", [name for name in hpcc_cases.CONFIGS if name.startswith("golden_")]
)
def test_every_line_of_a_printed_trace_is_equal(name: str, tmp_path: Path) -> None:
    _, case, out = run(name, tmp_path)
    there = (case / "events.txt").read_text().splitlines()
    pfc = re.compile(r"( P \d+) \d+ ")
    _, here = records(out / "mix.tr")
    assert [line(record) for record in here] == [pfc.sub(r"\1 ", text) for text in there]


@pytest.mark.parametrize("law", ["dcqcn", "hpcc"])
def test_draws_follow_the_run_number(law: str, tmp_path: Path) -> None:
    name = f"errorlink/{law}"
    numbers = 0
    for number, fct in hpcc_cases.seeds(name):
        run(name, tmp_path, seed=number)
        assert (tmp_path / "out/fct.txt").read_text() == fct, number
        numbers += 1
    assert numbers == 12


def test_the_result_is_that_of_the_files(tmp_path: Path) -> None:
    result, case, _ = run("golden_pfc/dcqcn", tmp_path)
    lines = (case / "fct.txt").read_text().split("\n")[:-1]
    fcts = sorted((1000 * int(text.split()[6]), 1000 * int(text.split()[7])) for text in lines)
    flows = result.flows.to_polars().select("fct_ps", "ideal_fct_ps").rows()
    assert sorted(flows) == fcts
    summary = result.summary
    assert summary["flows_done"] == len(lines)
    assert summary["pause_frames"] == 26
    assert summary["max_queue_bytes"] == 482_080
    assert summary["threads"] == 1
    # All flows share a port, and some of them march in step.
    assert summary["counters"]["unordered_events"] > 0


FILES = {
    "topology.txt": "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n",
    "flow.txt": "1\n0 1 3 100 10000 2.0\n",
    "trace.txt": "0\n",
    "config.txt": "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nTRACE_FILE trace.txt\n"
    "FCT_OUTPUT_FILE fct.txt\nPFC_OUTPUT_FILE pfc.txt\nSIMULATOR_STOP_TIME 2.05\n"
    "ENABLE_TRACE 0\n" + hpcc_config.HPCC,
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with an experiment of one flow."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    return tmp_path


def test_the_command_runs_in_that_order(command: Command, small: Path) -> None:
    done = command("hpcc", "config.txt", "--order", "ns3", "--json", cwd=small)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counters"] == {"unordered_events": 0}
    fct = (small / "fct.txt").read_text()
    assert fct.count("\n") == 1
    assert command("hpcc", "config.txt", cwd=small).returncode == 0
    assert (small / "fct.txt").read_text() == fct


def told(command: Command, folder: Path, more: str = "") -> tuple[str, dict[str, object]]:
    """What the command says of a run in ns-3's order with more keys, and its summary."""
    (folder / "config.txt").write_text(FILES["config.txt"] + more, encoding="ascii")
    done = command("hpcc", "config.txt", "--order", "ns3", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr, json.loads(done.stdout)


def test_flows_without_an_ack_are_told_with_what_ends_them(command: Command, small: Path) -> None:
    """Nothing is lost: the flows end before the interval, and at no multiple of the chunk."""
    (small / "flow.txt").write_text("2\n0 1 3 100 400 2.0\n1 0 3 100 8000 2.0\n")
    stderr, summary = told(command, small, "L2_ACK_INTERVAL 4000\n")
    *_, before, after = stderr.splitlines()
    assert before.startswith("warning: L2_ACK_INTERVAL 4000: packets that end before this byte")
    assert "1 of 2 flows never ends" in before
    assert "1 whose last data L2_ACK_INTERVAL leaves without an ACK" in after
    assert after.endswith("To finish it, set L2_ACK_INTERVAL to 1 in the configuration")
    assert summary["counters"]["unacknowledged_flows"] == 1  # type: ignore[index]
    stderr, summary = told(command, small, "L2_ACK_INTERVAL 1\n")
    assert ("unfinished" in stderr, summary["flows_done"]) == (False, 2)


def test_no_warning_advises_to_set_a_key_alone(command: Command, small: Path) -> None:
    """With this order keys cannot be set."""
    (small / "topology.txt").write_text("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 40Gbps 1us 0\n")
    stderr, _ = told(command, small)
    assert "; without --order ns3, --set scheme.params.int_format=full has it say" in stderr
    stderr, _ = told(command, small, "CC_MODE 1\nENABLE_QCN 0\n")
    (warning,) = [line for line in stderr.splitlines() if "ecn.enabled" in line]
    assert warning.endswith("change the configuration, or leave out the order")


def test_what_finishes_flows_can_be_done(command: Command, small: Path) -> None:
    """No key can be set in this order: what the warning says to set is for the other one."""
    (small / "flow.txt").write_text("2\n0 1 3 100 30000 2.0\n0 1 3 100 30000 2.04\n")
    (small / "topology.txt").write_text(FILES["topology.txt"].replace("ns 0\n", "ns 0.5\n"))
    stderr, _ = told(command, small, "SIMULATOR_STOP_TIME 2.03\n")
    fixes = stderr.splitlines()[-1].split("To finish them, ")[1].split("; ")
    keys = ("host.retransmit_timeout=1ms", "quirks.silent_duplicates=false")
    values = 'set host.retransmit_timeout = "1ms" and quirks.silent_duplicates = false'
    assert fixes == [f"leave out the order and {values}", "raise SIMULATOR_STOP_TIME"]
    config = small / "config.txt"
    config.write_text(config.read_text().replace("2.03", "3"))
    options = [word for key in keys for word in ("--set", key)]
    done = command("hpcc", "config.txt", *options, "--json", cwd=small)
    assert json.loads(done.stdout)["flows_done"] == 2, done.stderr


def test_a_pause_of_no_length_is_written_as_a_resume(command: Command, small: Path) -> None:
    """That simulator tells the two apart by the time in the frame."""
    links = [f"{host} 4 100Gbps 1us 0\n" for host in range(4)]
    (small / "topology.txt").write_text("5 1 4\n4\n" + "".join(links))
    flows = [f"{host} 0 3 100 900000 2.0\n" for host in (1, 2, 3)]
    (small / "flow.txt").write_text("3\n" + "".join(flows))
    keys = "CC_MODE 12\nHAS_WIN 0\nBUFFER_SIZE 1\n"

    def kinds() -> set[str]:
        return {line[-1] for line in (small / "pfc.txt").read_text().splitlines()}

    assert told(command, small, keys)[1]["pause_frames"] != 0
    assert kinds() == {"0", "1"}
    assert told(command, small, keys + "PAUSE_TIME 0\n")[1]["pause_frames"] == 0
    assert kinds() == {"0"}


@pytest.mark.parametrize("law", [1, 3, 7, 8])
def test_a_flow_begins_at_the_rate_of_its_own_nic(law: int, small: Path) -> None:
    """A host has NICs of 100 and 25 Gb/s, and its flows take one or the other."""
    rates = {2: "100Gbps", 3: "25Gbps"}
    links = [f"0 {switch} {rate} 1us 0\n" for switch, rate in rates.items()]
    links += [f"1 {switch} 100Gbps 1us 0\n" for switch in rates]
    (small / "topology.txt").write_text("4 2 4\n2 3\n" + "".join(links))
    flows = [f"0 1 3 {100 + flow} 40000 {2 + flow / 10_000:.4f}\n" for flow in range(6)]
    (small / "flow.txt").write_text("6\n" + "".join(flows))
    config = small / "config.txt"
    maps = [f"{key}_MAP 2 25000000000 {at} 100000000000 {at}\n" for key, at in MAPS.items()]
    config.write_text(f"{FILES['config.txt']}CC_MODE {law}\n{''.join(maps)}")

    def times(order: Order) -> list[int]:
        Experiment(config, small).run(into=small / order, order=order)
        lines = (small / order / "fct.txt").read_text().splitlines()
        return [int(line.split()[6]) for line in lines]

    there = times("ns3")
    assert len(there) == 6
    assert min(there) < 0.8 * max(there), "both NICs are in use"
    assert times("fast") == there


MAPS = {"KMIN": 400, "KMAX": 1600, "PMAX": 0.2}


@pytest.mark.parametrize("order", get_args(Order))
def test_a_flow_whose_port_nothing_wakes_is_told_with_what_wakes_it(
    small: Path, order: Order
) -> None:
    """Two flows lose packets. Then DCQCN's timers open a window, and no timer wakes a port."""
    links = [f"{host} 4 100Gbps 1us {rate}\n" for host, rate in enumerate((0, 0, 0.05, 0.05))]
    (small / "topology.txt").write_text("5 1 4\n4\n" + "".join(links))
    (small / "flow.txt").write_text("2\n0 2 3 100 100000 2.0\n1 2 3 100 30000 2.0\n")
    config = small / "config.txt"
    maps = "KMIN_MAP 1 100000000000 5\nKMAX_MAP 1 100000000000 50\n"
    config.write_text(FILES["config.txt"] + f"CC_MODE 1\nBUFFER_SIZE 1\n{maps}")
    experiment = Experiment(config, small)

    def run(**more: object) -> tuple[dict[str, int], Result]:
        result, _ = experiment.run(into=small / "out", **more)  # type: ignore[arg-type]
        return {why: n for why, n in result.summary["unfinished"].items() if n}, result

    causes, result = run(order=order)
    assert set(causes) == {"waiting"}
    (doubt,) = result.doubts
    assert "one that wakes their port" in doubt
    assert result.summary["warning_kinds"][0]["kind"] == "unfinished-flows"
    _, fix = doubt.split(", leave out the order and set " if order == "ns3" else ", set ")
    settings = [pair.split(" = ") for pair in fix.split(" and ")]
    assert ["quirks.missed_wakeup", "false"] in settings
    assert run(settings=[(key, value.strip('"')) for key, value in settings])[0] == {}


@pytest.mark.parametrize("order", get_args(Order))
def test_a_node_that_is_listed_twice_is_recorded_twice(small: Path, order: Order) -> None:
    config = small / "config.txt"
    text = FILES["config.txt"].replace("ENABLE_TRACE 0", "ENABLE_TRACE 1")
    config.write_text(text + "TRACE_OUTPUT_FILE mix.tr\n", encoding="ascii")

    def trace(nodes: str) -> list[tuple[object, ...]]:
        (small / "trace.txt").write_text(nodes, encoding="ascii")
        Experiment(config, small).run(order=order)
        return records(small / "mix.tr")[1]

    once = trace("2\n2 1\n")
    assert {record[1] for record in once} == {1, 2}
    doubled = [record for record in once for _ in range(2 if record[1] == 2 else 1)]
    assert trace("3\n2 2 1\n") == doubled


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("BUFFER_SIZE 1\n", "takes 3016384 bytes, more than BUFFER_SIZE: its PFC never fires"),
        ("PAUSE_TIME 0\n", "PAUSE_TIME 0 pauses nobody, as in the original"),
    ],
)
def test_pfc_that_never_fires_is_told(command: Command, small: Path, keys: str, said: str) -> None:
    links = [f"{host} 4 100Gbps 20us 0\n" for host in range(4)]
    (small / "topology.txt").write_text("5 1 4\n4\n" + "".join(links))
    flows = [f"{host} 0 3 100 900000 2.0\n" for host in (1, 2, 3)]
    (small / "flow.txt").write_text("3\n" + "".join(flows))
    stderr, summary = told(command, small, keys)
    assert summary["pause_frames"] == 0
    assert said in stderr
    assert said not in told(command, small)[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--threads", "2"], "takes one thread, not 2"),
        (["--set", "switch.buffer=1MB"], "switch.buffer: cannot be set"),
        (["--print-scenario"], "--print-scenario and --order: choose one"),
    ],
)
def test_what_goes_not_with_it_is_refused(
    command: Command, small: Path, arguments: list[str], said: str
) -> None:
    done = command("hpcc", "config.txt", "--order", "ns3", *arguments, cwd=small)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not (small / "fct.txt").exists()


def test_a_key_that_it_does_not_reproduce_is_named(small: Path) -> None:
    config = small / "config.txt"
    config.write_text(FILES["config.txt"] + "ENABLE_THEMIS 0\n", encoding="ascii")
    with pytest.raises(ConfigError, match="ENABLE_THEMIS") as raised:
        Experiment(config, small).run(order="ns3")
    assert raised.value.line == FILES["config.txt"].count("\n") + 1


def test_an_unknown_order_is_refused(small: Path) -> None:
    with pytest.raises(ConfigError, match='"fast" or "ns3"'):
        Experiment(small / "config.txt", small).run(order="slow")  # type: ignore[arg-type]


def test_an_ideal_fct_that_wraps_around_is_told(small: Path) -> None:
    """That simulator multiplies the bytes on the wire by 8e9 in 64 bits."""
    config = small / "config.txt"

    def warnings(size: int, order: Order) -> list[str]:
        (small / "flow.txt").write_text(f"1\n0 1 3 100 {size} 2.04\n", encoding="ascii")
        return Experiment(config, small).warnings_with((), order)

    # 1,048 bytes on the wire for each 1,000 of a flow.
    most = 2**64 // 8_000_000_000
    fits, wraps = most * 1000 // 1048 // 1000 * 1000, 2_300_000_000
    for order in get_args(Order):
        assert warnings(fits, order) == []
        (warning,) = warnings(wraps, order)
        assert warning.startswith(f"1 flow has more than {most} bytes with headers")
    (small / "flow.txt").write_text(f"1\n0 1 3 100 {wraps} 2.04\n", encoding="ascii")
    ideals = []
    for order in get_args(Order):
        result, _ = Experiment(config, small).run(order=order)
        ideals.append(result.flows.to_polars()["ideal_fct_ps"][0] // 1000)
    wire = wraps * 1048 // 1000
    trip = ideals[0] - wire * 8 * 10**9 // 10**11
    assert ideals[1] == (wire * 8 * 10**9 % 2**64) // 10**11 + trip
