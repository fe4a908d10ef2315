"""What the command does on a terminal, and on Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import rocelab
from conftest import wait_until_running


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_leaves_a_partial_result(tmp_path: Path, long_scenario: str, threads: int) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(long_scenario, encoding="utf-8")
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "rocelab", "run", scenario, "--out", out, f"--threads={threads}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until_running(process, worked_s=0.1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    assert b"interrupted" in stderr
    assert b"Traceback" not in stderr
    summary = json.loads((out / "summary.json").read_text())
    assert summary["partial"] is True
    flows = pl.read_parquet(out / "flows.parquet")
    assert len(flows) == summary["flows"]
    assert flows["done"].sum() == summary["flows_done"] < summary["flows"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["long.toml", "out"]


@pytest.mark.parametrize("gap_s", [0, 0.02, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_that_follow_change_nothing(
    tmp_path: Path, long_scenario: str, number: signal.Signals, gap_s: float
) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(long_scenario, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "rocelab", "run", scenario, "--out", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until_running(process, worked_s=0.1)
    for _ in range(2):
        process.send_signal(number)
        time.sleep(gap_s)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    result = rocelab.open(tmp_path / "out")
    assert result.partial
    assert len(result.flows) == result.summary["flows"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["long.toml", "out"]


def test_ctrl_c_while_a_whole_result_is_saved(tmp_path: Path, incast_file: Path) -> None:
    script = (
        "import signal, sys\n"
        "from rocelab.io import write as module\n"
        "from rocelab.cli import main\n"
        "write = module.write\n"
        "module.write = lambda *args: (signal.raise_signal(signal.SIGINT), write(*args))\n"
        "main()\n"
    )
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", script, "run", incast_file, "--out", out],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130
    assert done.stderr.endswith(f"interrupted: {out} holds the whole result\n")
    assert "flows" in done.stdout
    assert not rocelab.open(out).partial


def test_progress_bar_on_a_terminal(tmp_path: Path, long_scenario: str) -> None:
    # The name is shown as it is, also where it looks like markup.
    scenario = tmp_path / "[bold] long[.toml"
    scenario.write_text(long_scenario, encoding="utf-8")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "rocelab", "run", scenario, "--out", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    wait_until_running(process)
    process.send_signal(signal.SIGINT)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # how a terminal says that its other end is closed
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    process.communicate(timeout=120)
    assert b"packet-hops/s" in seen
    assert b"flows" in seen
    assert b"[bold] long[" in seen


@pytest.mark.parametrize("module", ["typer", "rocelab._rocelab", "rocelab.scenario"])
def test_ctrl_c_while_the_command_is_imported(module: str) -> None:
    script = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from rocelab.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_commands_that_draw_nothing_import_no_pictures() -> None:
    script = (
        "import sys, rocelab.cli.app\n"
        "print([name for name in sys.modules if name.startswith('rocelab.plot')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
