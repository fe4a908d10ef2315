"""``rocelab hpcc`` and ``rocelab compare-hpcc``: the HPCC simulator's files by command."""

from __future__ import annotations

import gzip
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

CONFIG = """
TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt TRACE_FILE trace.txt
FCT_OUTPUT_FILE out/fct.txt PFC_OUTPUT_FILE out/pfc.txt SIMULATOR_STOP_TIME 2.05
ENABLE_TRACE 0 CC_MODE 3 RATE_AI 50Mb/s MIN_RATE 1000Mb/s L2_ACK_INTERVAL 1 L2_CHUNK_SIZE 4000
HAS_WIN 1 GLOBAL_T 1 VAR_WIN 1 FAST_REACT 1 MI_THRESH 0 MULTI_RATE 0 INT_MULTI 4
"""
# Two senders, two ways between the switches, one receiver.
TOPOLOGY = """7 4 7
3 4 5 6
0 3 100Gbps 1us 0
1 3 100Gbps 1us 0
3 4 100Gbps 1us 0
3 5 100Gbps 1us 0
4 6 100Gbps 1us 0
5 6 100Gbps 1us 0
6 2 100Gbps 1us 0
"""
FLOWS = "2\n0 2 3 100 400000 2.0\n1 2 3 100 400000 2.00001\n"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A case with its configuration and inputs."""
    files = {"config.txt": CONFIG, "topology.txt": TOPOLOGY, "flow.txt": FLOWS, "trace.txt": "0\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_failing_link_is_in_the_scenario_and_changes_the_run(
    command: Command, case: Path
) -> None:
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert done.returncode == 0, done.stderr
    whole = (case / "out/fct.txt").read_text()
    assert len(whole.splitlines()) == 2
    digests = set()
    for spine in (4, 5):
        (case / "config.txt").write_text(f"{CONFIG} LINK_DOWN 15 3 {spine}")
        shown = command("hpcc", "--print-scenario", "config.txt", cwd=case)
        assert shown.returncode == 0, shown.stderr
        assert f'link = "n3:n{spine}"' in shown.stdout
        done = command("hpcc", "config.txt", "--quiet", cwd=case)
        assert done.returncode == 0, done.stderr
        digests.add((case / "out/fct.txt").read_text())
    assert len(digests | {whole}) > 1, "at least one of the two was in use"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("L2_BACK_TO_ZERO 1", "set L2_BACK_TO_ZERO 0"),
        ("RATE_BOUND 0", "set RATE_BOUND 1"),
        ("LINK_DOWN 15 0 3", "leaves n0 and n1 without a way"),
        ("LINK_DOWN 15 0 7", "LINK_DOWN names node 7, and the topology has nodes 0 to 6"),
        ("ERROR_RATE_PER_LINK 1.5", "ERROR_RATE_PER_LINK"),
    ],
)
def test_what_is_not_served_is_one_clear_line(
    command: Command, case: Path, key: str, words: str
) -> None:
    (case / "config.txt").write_text(f"{CONFIG} {key}")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (case / "out").exists(), "nothing half-written"


@pytest.fixture
def recorded(command: Command, case: Path) -> Path:
    """A case with its results, time series too."""
    done = command("hpcc", "config.txt", "--out", ".", "--quiet", cwd=case)
    assert done.returncode == 0, done.stderr
    times = range(2_000_001_000, 2_000_060_000, 1_000)
    queue = "".join(f"{time} 6 3 {time % 7 * 1000}\n" for time in times)
    (case / "ts_queue.txt.gz").write_bytes(gzip.compress(queue.encode()))
    rates = "".join(f"{time} {src} 2 10000 50000000000 0 0 0\n" for time in times for src in (0, 1))
    (case / "ts_rate.txt").write_text(rates)
    return case


def test_a_case_with_time_series_gets_a_figure(command: Command, recorded: Path) -> None:
    done = command("compare-hpcc", ".", "--figures", "pictures", cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert "| 2 | 2 | none |" in done.stdout
    (picture,) = (recorded / "pictures").iterdir()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_each_case_has_its_own_figure(
    command: Command, recorded: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Those of ``a/b`` and ``a-b`` had one name."""
    cases, pictures = tmp_path_factory.mktemp("cases"), tmp_path_factory.mktemp("pictures")
    for name in ("a/b", "a-b"):
        shutil.copytree(recorded, cases / name)
    done = command("compare-hpcc", cases, "--figures", pictures, cwd=cases)
    assert done.returncode == 0, done.stderr
    drawn = {path.relative_to(pictures).as_posix() for path in pictures.rglob("*.png")}
    assert drawn == {"a/b.png", "a-b.png"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("ts_queue.txt", b"", "holds no sample"),
        ("ts_queue.txt", b"2000001000 6 3 1000\n2000002000 6\n", "2: needs 4 numbers"),
        ("ts_queue.txt", b"2000001000 6 3 much\n", "1: needs 4 numbers"),
        ("ts_queue.txt", b"2000001000 6 9 1000\n", "n6 has no port 9 in the topology"),
        ("ts_queue.txt.gz", b"no archive", "cannot read: "),
        ("ts_queue.txt.gz", gzip.compress(b"2000001000 6 3 1000\n", mtime=0)[:-9], "cannot read: "),
        ("ts_rate.txt", b"2000001000 2 1 9 1 0\n", "no flow from n2 to n1 in the case"),
    ],
)
def test_time_series_that_are_none_are_one_clear_line(
    command: Command, recorded: Path, name: str, content: bytes, words: str
) -> None:
    (recorded / name).write_bytes(content)
    done = command("compare-hpcc", ".", "--figures", "pictures", cwd=recorded)
    assert (done.returncode, done.stdout) == (2, "")
    # The first line says which case it is at.
    _, error = done.stderr.splitlines()
    assert error.startswith(f"error: {name}:")
    assert words in error
