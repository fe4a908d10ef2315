from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import rocelab
from conftest import INCAST, POISSON


def parquet_bytes(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*.parquet")
    }


RUN = """\
import sys
from rocelab.cli import _code_of
from rocelab.cli.app import app

file, threads, out = sys.argv[1:]
for scheme in ("none", "dcqcn", "hpcc"):
    run = ["run", file, "--set", f"scheme.name={scheme}", "--threads", threads]
    code = _code_of(lambda: app([*run, "--out", f"{out}/{scheme}"]))
    assert code == 0, code
"""
"""Runs the command for three schemes."""


def test_same_bytes_in_every_process_on_any_number_of_threads(
    incast_file: Path, tmp_path: Path
) -> None:
    written = []
    for index, (threads, polars_threads) in enumerate([("1", "1"), ("2", "2"), ("3", "1")]):
        out = tmp_path / str(index)
        subprocess.run(
            [sys.executable, "-c", RUN, incast_file, threads, out],
            env={**os.environ, "POLARS_MAX_THREADS": polars_threads},
            capture_output=True,
            check=True,
        )
        written.append(parquet_bytes(out))
    assert written[0] == written[1] == written[2]
    assert len(written[0]) == 3 * 4


def test_seed_changes_random_traffic_alone() -> None:
    scenario = rocelab.Scenario.from_toml(POISSON.format(stop="100us"))
    first, again, other = (
        rocelab.run(scenario.with_settings(run__seed=seed)).summary["digest"] for seed in (1, 1, 2)
    )
    assert first == again != other


def test_probes_do_not_change_the_run() -> None:
    with_probes = rocelab.run(rocelab.Scenario.from_toml(INCAST))
    without = rocelab.run(rocelab.Scenario.from_toml(INCAST[: INCAST.index("[[probe]]")]))
    assert with_probes.summary["digest"] == without.summary["digest"]
    assert without.series == {}
