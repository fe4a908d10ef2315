from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

import rocelab
from conftest import Command
from rocelab import bench
from rocelab.compare import networks
from rocelab.errors import ConfigError, SimulationError

FIELDS = {
    "case",
    "scheme",
    "hosts",
    "threads",
    "packet_hops",
    "wall_s",
    "ns_per_packet_hop",
    "ns_per_data_packet_hop",
    "max_rss_bytes",
}


def test_the_process_that_measures_holds_little_else() -> None:
    code = (
        "import sys, rocelab.bench; "
        "print(*{'numpy', 'polars', 'matplotlib'}.intersection(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_cases_are_there() -> None:
    cases = ["incast-64", "k16-hpcc", "k32-hpcc", "k8-hpcc", "three-tier-dcqcn"]
    assert bench.case_names() == cases


def test_incasts_pause() -> None:
    path = Path(rocelab.__file__).parent / "bench_cases" / "incast-64.toml"
    summary = rocelab.run(rocelab.load(path)).summary
    assert summary["pause_frames"] > 100
    assert summary["lossless_drops"] == 0


def test_bench_measures(command: Command) -> None:
    done = command("bench", "--case", "incast-64", "--repeat", 1, "--json")
    assert done.returncode == 0, done.stderr
    (measured,) = json.loads(done.stdout)
    assert set(measured) == FIELDS
    assert measured["hosts"] == 128
    assert measured["threads"] == 1
    assert measured["packet_hops"] > 10**5
    assert measured["ns_per_packet_hop"] == measured["wall_s"] * 1e9 / measured["packet_hops"]
    assert measured["ns_per_data_packet_hop"] > measured["ns_per_packet_hop"]
    assert 10**7 < measured["max_rss_bytes"] < 10**10


def test_a_case_runs_under_another_scheme(command: Command) -> None:
    run = ("bench", "--case", "incast-64", "--repeat", 1, "--json")
    done = command(*run, "--scheme", "none", "--scheme", "hpcc")
    assert done.returncode == 0, done.stderr
    assert [measured["scheme"] for measured in json.loads(done.stdout)] == ["none", "hpcc"]
    done = command(*run, "--scheme", "tcp")
    assert done.returncode == 2
    assert "dcqcn" in done.stderr


def test_a_case_runs_with_another_value(command: Command) -> None:
    run = ("bench", "--case", "incast-64", "--repeat", 1, "--json")
    done = command(*run, "--set", "traffic.0.repeat=2", "--set", "topology.host_delay=10ns")
    assert done.returncode == 0, done.stderr
    (measured,) = json.loads(done.stdout)
    path = Path(rocelab.__file__).parent / "bench_cases" / "incast-64.toml"
    whole = rocelab.run(rocelab.load(path)).summary
    assert measured["packet_hops"] < whole["packet_hops"] / 5
    for wrong, words in [("topology.k=7", "topology.k: "), ("topology.k", "needs a key")]:
        done = command(*run, "--set", wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr


def test_every_case_goes_with_every_scheme() -> None:
    names = [one.name for one in rocelab.schemes()]
    # The two large fat trees differ from the small one in their size alone.
    cases = ["incast-64", "k8-hpcc", "three-tier-dcqcn"]
    runs = bench.checked_runs(cases, names, [])
    assert [(case, dict(changes)["scheme"]) for case, changes in runs] == [
        *itertools.product(cases, names)
    ]


def test_what_cannot_run_is_known_before_the_first_measurement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(networks, "input_queues", lambda _: {})
    # A process that measured would end with another error.
    monkeypatch.setattr(sys, "executable", "/nowhere")
    with pytest.raises(ConfigError, match=r"switch\.input_queue"):
        bench.measure(["three-tier-dcqcn"], schemes=["none", "rcm"])


def test_a_failed_run_says_why_in_a_line() -> None:
    with pytest.raises(SimulationError) as caught:
        bench._measure_in_subprocess("incast-64", [("topology.k", "7")], 1, 1)
    assert str(caught.value).startswith("case incast-64: topology.k: ")
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("#!/bin/sh\nkill -KILL $$\n", "the run was killed by signal 9"),
        ("#!/bin/sh\nexit 3\n", "the run ended with exit code 3"),
    ],
)
def test_a_run_that_ends_without_a_word_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, said: str
) -> None:
    python = tmp_path / "python"
    python.write_text(program)
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(SimulationError) as caught:
        bench.measure(["incast-64"])
    assert str(caught.value) == f"case incast-64: {said}"


@pytest.mark.parametrize(
    "option", [("--scheme", "none"), ("--set", "run.seed=2"), ("--threads", 2), ("--repeat", 1)]
)
def test_instructions_are_those_of_a_case_as_it_is(
    command: Command, option: tuple[str, str | int]
) -> None:
    """Options that would change nothing are refused."""
    done = command("bench", "--case", "incast-64", "--instructions", *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: --instructions and {option[0]}: choose one\n")


def test_unknown_case(command: Command) -> None:
    done = command("bench", "--case", "none")
    assert done.returncode == 2
    assert "k8-hpcc" in done.stderr


def test_table_has_a_line_for_each_case() -> None:
    one = bench.Measurement(
        case="x",
        scheme="hpcc",
        hosts=128,
        threads=1,
        packet_hops=2_000_000,
        wall_s=0.1,
        ns_per_packet_hop=50.0,
        ns_per_data_packet_hop=100.0,
        max_rss_bytes=50_000_000,
    )
    header, line = bench.table([one]).splitlines()
    assert header.split()[:2] == ["case", "scheme"]
    assert line.split() == ["x", "hpcc", "128", "1", "20.0", "50.0", "50"]


def test_more_threads_than_a_word_holds() -> None:
    stop = [("run.stop", "200us")]
    (measured,) = bench.measure(["incast-64"], settings=stop, threads=10**30, repeat=1)
    assert measured.packet_hops > 10**4
