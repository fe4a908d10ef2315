"""``python -m rocelab.demo``: one scenario under three schemes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import INCAST, wait_until_running

DEMO = [sys.executable, "-m", "rocelab.demo", "scenario.toml", "--out", "out"]


def test_the_demo_leaves_a_table_pictures_and_results(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(INCAST, encoding="utf-8")
    done = subprocess.run(DEMO, cwd=tmp_path, capture_output=True, text=True, check=True)
    table = (tmp_path / "out" / "table.txt").read_text(encoding="utf-8")
    assert done.stdout.startswith(table)
    assert [line.split()[0] for line in table.splitlines()] == ["scheme", "none", "dcqcn", "hpcc"]
    assert (tmp_path / "out" / "plots" / "fct.png").is_file()
    assert (tmp_path / "out" / "hpcc" / "summary.json").is_file()


def test_a_table_that_cannot_be_written_is_known_before_the_runs(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(INCAST, encoding="utf-8")
    (tmp_path / "out" / "table.txt").mkdir(parents=True)
    done = subprocess.run(DEMO, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: out/table.txt: is a directory\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["table.txt"]


@pytest.mark.parametrize(
    ("full", "code", "told"),
    [(False, 0, ""), (True, 2, "error: standard output: No space left on device\n")],
    ids=["reader gone", "full disk"],
)
def test_output_that_nobody_takes(tmp_path: Path, full: bool, code: int, told: str) -> None:
    if full:
        taker = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, taker = os.pipe()
        os.close(reader)
    with open(taker, "wb") as stdout:  # noqa: PTH123 - it is no path
        done = subprocess.run(
            [*DEMO, "--help"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
            stdout=stdout,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr.decode()) == (code, told)


def test_ctrl_c_ends_the_demo_without_a_traceback(tmp_path: Path, long_scenario: str) -> None:
    (tmp_path / "scenario.toml").write_text(long_scenario, encoding="utf-8")
    process = subprocess.Popen(DEMO, cwd=tmp_path, stderr=subprocess.PIPE)
    wait_until_running(process, worked_s=0.1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in stderr
