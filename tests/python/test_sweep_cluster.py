"""Sweeps in shards, on executors, and on the workers of a cluster."""

from __future__ import annotations

import json
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import rocelab
from conftest import INCAST, POISSON, Command, command_here
from rocelab.sweeps import remote

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


class Worker(Executor):
    """A worker on which something is wrong: ``run`` takes the place of each run."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def submit(self, fn: Callable[..., Any], /, *args: object, **kwargs: object) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(self._run(fn, *args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_worker_with_another_simulator_runs_nothing() -> None:
    """It may not know the scheme: its own error would be about the scenario."""

    def other(fn: Callable[..., Any], scenario_toml: str, simulator: str) -> object:
        assert len(simulator) == 64
        return fn(scenario_toml.replace("dcqcn", "their-scheme"), "0" * 64)

    scenario = rocelab.Scenario.from_toml(INCAST)
    with pytest.raises(rocelab.SimulationError, match="a worker has another rocelab than") as told:
        rocelab.sweep(scenario, OVER, executor=Worker(other))
    assert rocelab.__version__ in str(told.value)


@pytest.mark.parametrize(
    "wrong",
    [
        CancelledError(),
        BrokenProcessPool("a process was terminated abruptly"),
        ModuleNotFoundError("No module named 'rocelab'"),
    ],
)
def test_what_is_wrong_with_an_executor_is_an_error_of_rocelab(
    wrong: Exception, tmp_path: Path
) -> None:
    scenario, calls = rocelab.Scenario.from_toml(INCAST), [0]

    def one_run(fn: Callable[..., Any], *args: object) -> object:
        calls[0] += 1
        if calls[0] > 1:
            raise wrong
        return fn(*args)

    with pytest.raises(rocelab.SimulationError, match="the executor cannot make a run: ") as told:
        rocelab.sweep(scenario, OVER, executor=Worker(one_run), out=tmp_path / "s")
    assert isinstance(told.value.__cause__, Exception)
    # What was complete stays, and the next command makes the rest.
    again = rocelab.sweep(scenario, OVER, out=tmp_path / "s")
    assert again.found == 1


def test_an_executor_that_takes_no_runs_is_an_error_of_rocelab() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(rocelab.SimulationError, match="cannot schedule new futures"):
        rocelab.sweep(rocelab.Scenario.from_toml(INCAST), OVER, executor=executor)


def test_ctrl_c_is_noticed_while_runs_are_submitted() -> None:
    """It may take minutes to submit all of them."""
    submitted = []

    def interrupted(fn: Callable[..., Any], *args: object) -> Any:  # noqa: ANN401
        submitted.append(args)
        signal.raise_signal(signal.SIGINT)
        return fn(*args)

    with pytest.raises(KeyboardInterrupt):
        rocelab.sweep(rocelab.Scenario.from_toml(INCAST), OVER, executor=Worker(interrupted))
    assert len(submitted) == 1


def test_results_are_stored_before_all_runs_are_submitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_MAX_PENDING", 2)
    stored = []

    def counted(fn: Callable[..., Any], *args: object) -> Any:  # noqa: ANN401
        stored.append(len(list(tmp_path.rglob("summary.json"))))
        return fn(*args)

    scenario = rocelab.Scenario.from_toml(INCAST)
    rocelab.sweep(scenario, OVER, seeds=2, executor=Worker(counted), out=tmp_path / "out")
    assert stored == [0, 0, 2, 2, 4, 4]


def test_an_error_of_a_run_comes_back_from_another_process() -> None:
    """One that cannot be unpickled breaks the pool of processes that brings it."""
    result = rocelab.run(rocelab.Scenario.from_toml(INCAST))
    for error in (rocelab.RecordingError("disk", result, [Path("f")]), rocelab.Interrupted(result)):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - its own
        assert (type(again), str(again), again.files) == (type(error), str(error), error.files)
        assert again.result.summary.digest == result.summary.digest


def test_shards_make_each_run_once(tmp_path: Path, command: Command) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    over = ("--over", "scheme.name=none,dcqcn,hpcc")
    options = ("sweep", "s.toml", *over, "--out", "s", "--metric", "max_queue_bytes")
    first = command(*options, "--shard", "1/2", cwd=tmp_path)
    assert (first.returncode, first.stdout) == (0, "")
    assert first.stderr.endswith("s: 1 of 3 runs is left to other shards\n")
    made = sorted(path.name for path in (tmp_path / "s/runs").iterdir())
    assert made == ["scheme.name=hpcc", "scheme.name=none"]
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "s/runs").glob("*/*/*.json")}
    second = command(*options, "--shard", "2/2", cwd=tmp_path)
    assert second.returncode == 0
    assert "3 runs in s" in second.stdout
    assert all(path.stat().st_mtime_ns == made_at for path, made_at in times.items())
    assert len(rocelab.open_sweep(tmp_path / "s").results) == 3
    # A shard says nothing of the runs of others, which it does not make.
    (tmp_path / "s/runs/scheme.name=none/1/summary.json").write_text("damaged")
    again = command(*options, "--shard", "2/2", cwd=tmp_path)
    assert again.stderr.splitlines()[-1] == "s: 1 of 3 runs is left to other shards"
    assert "run again" not in again.stderr
    quiet = command(*options, "--shard", "2/2", "--quiet", cwd=tmp_path)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    as_json = command(*options, "--shard", "2/2", "--json", cwd=tmp_path)
    assert json.loads(as_json.stdout) == []
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers are threads of this process; those of other tests are processes."""
    distributed = pytest.importorskip("distributed")
    commands = {
        "reproduce": ("reproduce", "hiercc/fig1", "--quick", "--quiet", "--cache", "cache"),
        "tournament": (
            *("tournament", "dcqcn", "--paper", "hiercc", "--quick", "--quiet"),
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
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None
    ) as cluster:
        for name, arguments in commands.items():
            monkeypatch.chdir(tmp_path / "here")
            here, told_here, said_here = command_here(*arguments)
            monkeypatch.chdir(tmp_path / "there")
            before = cluster.scheduler.transition_counter
            there, told, said = command_here(*arguments, "--dask", cluster.scheduler_address)
            assert (here, there) == (0, 0), (name, said_here, said)
            assert told_here == told, name
            assert cluster.scheduler.transition_counter > before, f"{name} made no run there"
    # What the workers made lies where it would lie otherwise.
    made = [
        sorted(path.name for path in (tmp_path / place / "cache").iterdir())
        for place in ("here", "there")
    ]
    assert made[0] == made[1] != []
