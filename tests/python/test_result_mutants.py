"""Damaged and hostile result directories are read or refused, and write nothing elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rocelab
from conftest import INCAST, LOSSY

COUNT = int(os.environ.get("RESULT_MUTANTS", "300"))
FIRST = int(os.environ.get("FIRST_RESULT_MUTANT", "0"))

TRACE = '[trace]\npfc = true\npackets = ["s0"]\ncapture = true\nend = "20us"\n'


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("originals")
    for name, text in (("plain", INCAST), ("lossy", LOSSY), ("traced", INCAST + TRACE)):
        rocelab.run(rocelab.Scenario.from_toml(text), threads=1).save(directory / name)
    return directory


def test_damaged_results_are_read_or_refused(originals: Path, tmp_path: Path) -> None:
    program = Path(__file__).with_name("result_mutants.py")
    done = subprocess.run(
        [sys.executable, program, originals, tmp_path, str(FIRST), str(COUNT)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60 + COUNT,
    )
    wrong = [line for line in done.stdout.splitlines() if "WRONG" in line]
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, (done.returncode, wrong[:5], last, done.stderr[-2000:])
    outcomes = json.loads(last[0].partition("OUTCOMES ")[2])
    print(outcomes)
    # Damage that is never noticed, or always, would test little.
    assert outcomes["read"] > COUNT / 50
    assert outcomes["refused"] > COUNT / 4
