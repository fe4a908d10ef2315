"""Sweeps in shards, on executors, and on the workers of a cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import rocelab
from conftest import INCAST, POISSON, Command

OVER = {"scheme.name": ["none", "dcqcn", "hpcc"]}


def digests(sweep: rocelab.Sweep) -> list[str]:
    return [result.summary["digest"] for result in sweep.results]


def test_processes_give_what_threads_give(tmp_path: Path) -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    here = rocelab.sweep(scenario, OVER, seeds=2)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        there = rocelab.sweep(scenario, OVER, seeds=2, executor=executor)
        stored = rocelab.sweep(scenario, OVER, seeds=2, executor=executor, out=tmp_path / "s")
    assert digests(here) == digests(there) == digests(stored)
    assert rocelab.open_sweep(tmp_path / "s").found == 0


def test_shards_make_each_run_once(tmp_path: Path, command: Command) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    options = ("sweep", "s.toml", "--over", "scheme.name=none,dcqcn,hpcc", "--out", "s")
    first = command(*options, "--shard", "1/2", cwd=tmp_path)
    assert (first.returncode, first.stdout) == (0, "")
    assert first.stderr.endswith("s: 1 of 3 runs are left to other shards\n")
    made = sorted(path.name for path in (tmp_path / "s/runs").iterdir())
    assert made == ["scheme.name=hpcc", "scheme.name=none"]
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "s/runs").glob("*/*/*.json")}
    second = command(*options, "--shard", "2/2", cwd=tmp_path)
    assert second.returncode == 0
    assert "3 runs in s" in second.stdout
    assert all(path.stat().st_mtime_ns == made_at for path, made_at in times.items())
    assert len(rocelab.open_sweep(tmp_path / "s").results) == 3
    for wrong in ("0/2", "3/2", "x"):
        failed = command(*options, "--shard", wrong, cwd=tmp_path)
        assert failed.returncode == 2
        assert failed.stderr.startswith(f"error: --shard {wrong}: must be I/N with I from 1 to N")


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two worker processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        yield cluster


@pytest.mark.filterwarnings("ignore")
def test_a_lost_worker_loses_only_its_run(cluster: Any, tmp_path: Path) -> None:  # noqa: ANN401
    distributed = pytest.importorskip("distributed")
    scenario = rocelab.Scenario.from_toml(POISSON.format(stop="3ms"))
    over = {"traffic.0.load": [0.3, 0.5, 0.7, 0.8]}
    expected = digests(rocelab.sweep(scenario, over))
    stored = tmp_path / "s/runs"

    def kill_one() -> None:
        # When the first run is stored, the others have begun.
        while not list(stored.glob("*/*/simulator.sha256")):
            time.sleep(0.01)
        worker = next(iter(cluster.workers.values()))
        os.kill(worker.process.pid, signal.SIGKILL)

    with distributed.Client(cluster) as client:
        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        executor = client.get_executor(retries=3)
        done = rocelab.sweep(scenario, over, executor=executor, out=tmp_path / "s")
    killer.join(10)
    assert not killer.is_alive()
    assert digests(done) == expected


def test_a_scheduler_that_is_not_there_is_one_line(tmp_path: Path, command: Command) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "s.toml").write_text(INCAST)
    options = ("--over", "scheme.name=none,hpcc", "--dask", "nonsense://x")
    failed = command("sweep", "s.toml", *options, cwd=tmp_path)
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: --dask nonsense://x: cannot reach a Dask scheduler")


@pytest.mark.filterwarnings("ignore")
def test_papers_tournaments_and_searches_run_on_a_cluster(
    cluster: Any,  # noqa: ANN401
    tmp_path: Path,
    command: Command,
) -> None:
    address = ("--dask", cluster.scheduler_address)
    commands = {
        "reproduce": ("reproduce", "hiercc/fig1", "--quick", "--quiet", "--cache", "cache"),
        "tournament": (
            *("tournament", "dcqcn", "hpcc", "--paper", "hiercc", "--quick", "--quiet"),
            *("--json", "--cache", "cache"),
        ),
        "tune": (
            *("tune", "s.toml", "--over", "ecn.kmin=5KB..50KB", "--runs", "3"),
            *("--out", "tune"),
        ),
    }
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "s.toml").write_text(INCAST)
    for name, arguments in commands.items():
        here = command(*arguments, cwd=tmp_path / "here")
        there = command(*arguments, *address, cwd=tmp_path / "there")
        assert (here.returncode, there.returncode) == (0, 0), (name, here.stderr, there.stderr)
        assert here.stdout == there.stdout, name
    # What the workers made lies where it would lie otherwise.
    made = [
        sorted(path.name for path in (tmp_path / place / "cache").iterdir())
        for place in ("here", "there")
    ]
    assert made[0] == made[1] != []
