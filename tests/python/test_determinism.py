from __future__ import annotations

import os
from pathlib import Path

import pytest

import rocelab
from conftest import INCAST, POISSON, Command


def parquet_bytes(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*.parquet")
    }


@pytest.mark.parametrize("scheme", ["none", "dcqcn", "hpcc"])
def test_same_bytes_in_every_process_on_any_number_of_threads(
    command: Command, incast_file: Path, tmp_path: Path, scheme: str
) -> None:
    written = []
    for index, (threads, polars_threads) in enumerate([("1", "1"), ("2", "2"), ("3", "1")]):
        out = tmp_path / str(index)
        done = command(
            *("run", incast_file, "--set", f"scheme.name={scheme}"),
            *("--threads", threads, "--out", out),
            env={**os.environ, "POLARS_MAX_THREADS": polars_threads},
        )
        assert done.returncode == 0, done.stderr
        written.append(parquet_bytes(out))
    assert written[0] == written[1] == written[2]
    assert len(written[0]) == 4


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
