"""Memory: needs are estimated before a command begins. What exceeds them still ends well."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hpcc_config
import rocelab
from conftest import Command, reseal
from rocelab.errors import MemoryWarning
from rocelab.io.open import check_files

STAR = """\
[topology]
kind = "star"
hosts = 16
host_rate = "100Gbps"
host_delay = "1us"
[scheme]
name = "none"
[[traffic]]
kind = "poisson"
cdf = [[100, 0.0], [101, 1.0]]
load = 0.3
messages = {flows}
"""

FAT_TREE = """\
[topology]
kind = "fat-tree"
k = {k}
host_rate = "100Gbps"
host_delay = "1us"
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "poisson"
workload = "WebSearch"
load = 0.5
duration = "20us"
[run]
stop = "40us"
"""

AT_ONCE = """\
[topology]
kind = "star"
hosts = 64
host_rate = "100Gbps"
host_delay = "1us"
[[traffic]]
kind = "incast"
senders = 63
receiver = "h0"
size = "2KB"
repeat = {repeat}
period = "1ns"
[run]
stop = "100us"
"""

LISTED = """\
[topology]
kind = "star"
hosts = 4
host_rate = "100Gbps"
host_delay = "1us"
[[traffic]]
kind = "flows"
flows_file = "flows.csv"
"""


def limited(gigabytes: float) -> Callable[[], None]:
    """Limits the address space of a process that is about to start."""
    limit = int(gigabytes * 1e9)
    return partial(resource.setrlimit, resource.RLIMIT_AS, (limit, limit))


def python(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        **options,
    )


# ---- before a command begins ----

MEASURE = """
import json, re, sys, tempfile
import rocelab

def told(name):
    return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

command, text = sys.argv[1:]
scenario = rocelab.Scenario.from_toml(text)
needs = scenario._checked.memory(command)
before = told("VmRSS")
if command == "check":
    scenario.validate()
elif command == "plan":
    scenario.plan().to_dict()
else:
    with tempfile.TemporaryDirectory() as directory:
        rocelab.run(scenario, threads=1).save(directory + "/result")
print(json.dumps([before + sum(needs.values()), told("VmHWM")]))
"""


HOLD = """
import re, sys
import rocelab
from rocelab.scenario import compact

def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

compact(rocelab.Scenario.from_toml(sys.argv[1]))
before = resident()
held = [compact(rocelab.Scenario.from_toml(sys.argv[1])) for _ in range(40)]
print(resident() - before)
"""


def test_many_scenarios_are_held_without_their_messages() -> None:
    done = python(HOLD, STAR.format(flows=100_000))
    assert done.returncode == 0, done.stderr
    messages = 40 * 100_000 * 64
    assert int(done.stdout) < messages / 4


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("check", STAR.format(flows=200_000)),
        ("plan", STAR.format(flows=100_000)),
        ("run", STAR.format(flows=30_000)),
        ("check", FAT_TREE.format(k=16)),
        ("check", FAT_TREE.format(k=32)),
        ("run", FAT_TREE.format(k=8)),
        ("run", AT_ONCE.format(repeat=2_000)),
        ("run", AT_ONCE.format(repeat=2_000) + '[scheme]\nname = "expresspass"\n'),
    ],
)
def test_estimates_are_within_a_factor_of_two_of_what_is_measured(command: str, text: str) -> None:
    done = python(MEASURE, command, text)
    estimated, measured = json.loads(done.stdout)
    assert measured / 2 < estimated < measured * 2, (estimated / 1e6, measured / 1e6)


def test_a_scenario_is_read_in_little_address_space(command: Command, incast_file: Path) -> None:
    done = command("validate", incast_file, preexec_fn=limited(2))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("what", ["validate", "run", "plan", "sweep"])
def test_fifty_million_messages_are_refused_before_they_are_made(
    what: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(STAR.format(flows=50_000_000), encoding="utf-8")
    options = ["--seeds", 2, "--metric", "drops"] if what == "sweep" else []
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = command(what, "s.toml", *options, preexec_fn=limited(8), cwd=tmp_path)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines[0].startswith(
        "error: s.toml:8: traffic.0: the 50000000 messages up to here need at least 12.5 GB of "
        "memory; the limit on address space is 8.0 GB, which leaves 7."
    )
    assert lines[1:] == ["hint: have fewer messages; or raise that limit (ulimit -v)"]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used < 5
    # The fix works.
    fixed = STAR.format(flows=5_000)
    (tmp_path / "s.toml").write_text(fixed, encoding="utf-8")
    done = command(what, "s.toml", *options, preexec_fn=limited(8), cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_network_is_refused_before_it_is_built(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(FAT_TREE.format(k=64), encoding="utf-8")
    done = command("validate", path, preexec_fn=limited(0.6))
    assert done.returncode == 2
    told = done.stderr
    assert "topology: checking the scenario needs about" in told
    assert "hosts and switches 511 MB" in told
    assert "hint: take a smaller network; or raise that limit (ulimit -v)" in told


def test_long_files_are_refused_before_they_are_understood(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(LISTED, encoding="utf-8")
    (tmp_path / "flows.csv").write_text("src,dst,size\n" + "h0,h1,1KB\n" * 4_000_000)
    done = command("validate", tmp_path / "s.toml", preexec_fn=limited(1))
    assert done.returncode == 2
    assert "the 4000001 lines of the file need at least 1.6 GB of memory" in done.stderr
    rows = '{ src = "h0", dst = "h1", size = "1KB" },\n' * 1_000_000
    (tmp_path / "long.toml").write_text(LISTED.replace('_file = "flows.csv"', f" = [{rows}]"))
    done = command("validate", tmp_path / "long.toml", preexec_fn=limited(1))
    assert done.returncode == 2
    assert "to read a scenario file of 42 MB takes about 1.7 GB of memory" in done.stderr
    assert "hint: list messages in a `flows_file`, which takes less; or raise" in done.stderr


def test_runs_at_a_time_are_counted(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(STAR.format(flows=20_000), encoding="utf-8")
    out = ("--out", tmp_path / "sweep")
    sweep = ("sweep", path, "--seeds", 64, *out, "--jobs")
    done = command(*sweep, 64, preexec_fn=limited(3))
    assert done.returncode == 2
    assert "64 runs at a time need about" in done.stderr
    hint = done.stderr.splitlines()[-1]
    assert hint.startswith("hint: take fewer at a time: --jobs "), hint
    fits = int(hint.split("--jobs ")[1].split(",")[0])
    assert 10 < fits < 64
    assert not (tmp_path / "sweep").exists()


def test_an_experiment_is_refused_before_it_runs(command: Command, tmp_path: Path) -> None:
    topology = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"
    config = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nFCT_OUTPUT_FILE out/fct.txt\n"
    flows = "0 1 3 100 1000 2.0\n" * 1_000_000
    files = {"config": config + hpcc_config.HPCC, "topology": topology, "flow": f"1000000\n{flows}"}
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="ascii")
    done = command("hpcc", "config.txt", preexec_fn=limited(0.75), cwd=tmp_path)
    assert done.returncode == 2
    assert "FLOW_FILE: the run needs about 34" in done.stderr
    assert "hint: have fewer messages; or raise that limit (ulimit -v)" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "runs"), [(("compare",), 200), (("reproduce", "rcm/fig6", "--out", "out"), 32)]
)
def test_many_runs_at_a_time_are_refused_before_they_begin(
    arguments: tuple[str, ...], runs: int, command: Command, tmp_path: Path
) -> None:
    options = ("--cache", "cache", "--jobs", runs)
    done = command(*arguments, *options, preexec_fn=limited(3), cwd=tmp_path)
    assert done.returncode == 2
    assert f"{runs} runs at a time need about" in done.stderr
    assert "hint: take fewer at a time: --jobs " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_less_than_is_free_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = rocelab.Scenario.from_toml(STAR.format(flows=1_000))
    told = "the run needs about 9.0 GB of memory; 8.0 GB is free now"

    class Checked:
        def check_memory(self, _command: str, _runs: int) -> str:
            return told

        def check(self) -> None:
            pass

    monkeypatch.setattr(scenario, "_whole", Checked())
    with pytest.warns(MemoryWarning, match=told) as caught:
        scenario.validate()
    assert caught[0].filename == __file__, "the user's line, and not one of the package"


# ---- when it runs out ----

# The allocator reserves a GiB, from which more could be had, unless an option says otherwise.
FRUGAL = {**os.environ, "MIMALLOC_ARENA_RESERVE": "1MiB"}

SHORT = """
import re, resource, sys
import rocelab

scenario = rocelab.Scenario.from_toml(sys.argv[2])
size = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
# The thread that works has a stack, of which little is used.
limit = size + (8 << 20) + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    scenario._checked.check()
except MemoryError as error:
    print(error)
"""


def test_a_list_that_cannot_be_allocated_is_a_memory_error() -> None:
    short = STAR.format(flows=1_000_000)
    done = python(SHORT, "2000000", short, env=FRUGAL)
    assert done.returncode == 0, done.stderr
    told = r"out of memory: the system refused [0-9]+ bytes for 1000000 messages"
    assert pl.Series([done.stdout.strip()]).str.contains(f"^{told}$").all(), done.stdout


def test_any_other_allocation_that_fails_ends_the_process_with_a_line() -> None:
    done = python(SHORT, "2000000", FAT_TREE.format(k=32), env=FRUGAL)
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: out of memory: the system refused ")
    assert line.endswith(" bytes; runs that are complete stay where they are")


ONE_RUN_HAS_ROOM = """
import rocelab.sweeps.remote
from rocelab import cli

run_checked = rocelab.sweeps.remote.run_checked
runs = 0

def short_of_memory(scenario, **options):
    global runs
    runs += 1
    if runs >= 2:
        raise MemoryError("out of memory: the system refused 80 bytes for 20 messages")
    return run_checked(scenario, **options)

rocelab.sweeps.remote.run_checked = short_of_memory
cli.main()
"""


def test_a_sweep_keeps_its_runs_when_a_later_one_runs_out_of_memory(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(STAR.format(flows=10), encoding="utf-8")
    sweep = ("sweep", "s.toml", "--seeds=3", "--jobs=1", "--out=out", "--metric=drops")
    done = python(ONE_RUN_HAS_ROOM, *sweep, "-q", cwd=tmp_path)
    told = "out of memory: the system refused 80 bytes for 20 messages"
    kept_too = "runs that are complete stay where they are"
    assert (done.returncode, done.stderr) == (1, f"error: {told}; {kept_too}\n")
    (kept,) = (tmp_path / "out" / "runs").glob("*/summary.json")
    check_files(rocelab.open(kept.parent))
    written = kept.stat().st_mtime_ns
    done = command(*sweep, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 of 3 runs was there before" in done.stdout
    assert kept.stat().st_mtime_ns == written


# ---- tables that are larger than they look ----


def test_rows_are_counted_before_a_table_is_read(
    command: Command, incast: rocelab.Result, tmp_path: Path
) -> None:
    directory = incast.save(tmp_path / "result")
    flows = directory / "flows.parquet"
    frame = pl.read_parquet(flows)
    many = pl.concat([frame[:1]]).select(pl.all().repeat_by(4_000_000).explode())
    many.write_parquet(flows, compression="zstd")
    reseal(directory)
    assert flows.stat().st_size < 1_000_000
    done = command("fct", directory)
    assert done.returncode == 2
    assert "damaged: has 4,000,000 rows, and summary.json says 4" in done.stderr
    # A summary that agrees with it.
    summary = json.loads((directory / "summary.json").read_text())
    summary["flows"] = 4_000_000
    (directory / "summary.json").write_text(json.dumps(summary))
    reseal(directory)
    done = command("fct", directory, preexec_fn=limited(1.5))
    assert done.returncode == 2
    assert f"error: {directory}: to read it takes about 2.0 GB of memory" in done.stderr
    assert "hint: raise that limit (ulimit -v)" in done.stderr
