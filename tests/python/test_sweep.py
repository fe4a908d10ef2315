"""``rocelab sweep``: what is run, what is kept, and the statistics."""

from __future__ import annotations

import csv
import json
import os
import pickle
import signal
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rocelab
from conftest import Command, wait_until_running
from pictures import assert_picture, legend_texts
from rocelab import report
from rocelab.io import locks
from rocelab.io.checksums import Stored
from rocelab.io.save import check_result_directory
from rocelab.plot.gallery import stale_pictures
from rocelab.plot.look import DEFAULT_LOOK
from rocelab.sweeps import confidence, grid, parallel, store
from rocelab.sweeps.pictures import save_plots, stems

RANDOM = """\
[topology]
kind = "star"
hosts = 4
host_rate = "100Gbps"
host_delay = "1us"

[[traffic]]
kind = "poisson"
workload = "FB_Hadoop"
load = 0.5
duration = "100us"

[[probe]]
name = "queue"
kind = "queue"
ports = ["s0:h0"]
interval = "10us"
"""
Over = dict[str, list[Any]]

LOADS = "traffic.0.load=0.3,0.6"
SCHEMES = "scheme.name=hpcc,dcqcn"


@pytest.fixture
def random_file(tmp_path: Path) -> Path:
    path = tmp_path / "random.toml"
    path.write_text(RANDOM, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def scenario() -> rocelab.Scenario:
    return rocelab.Scenario.from_toml(RANDOM)


@pytest.fixture(scope="module")
def swept(scenario: rocelab.Scenario) -> rocelab.Sweep:
    """Schemes and loads with three seeds."""
    over: Over = {"scheme.name": ["hpcc", "dcqcn"], "traffic.0.load": [0.3, 0.6]}
    return rocelab.sweep(scenario, over, seeds=3)


def made(out: Path) -> dict[str, int]:
    """When each run of a sweep was written."""
    return {
        path.parent.relative_to(out).as_posix(): path.stat().st_mtime_ns
        for path in out.rglob("summary.json")
    }


# What is run, and what comes of it.


def test_all_combinations_are_run_with_all_seeds(
    swept: rocelab.Sweep, scenario: rocelab.Scenario
) -> None:
    runs = swept.runs.to_polars()
    assert runs.select("scheme.name", "traffic.0.load", "seed").rows() == [
        (scheme, load, seed)
        for scheme in ("hpcc", "dcqcn")
        for load in (0.3, 0.6)
        for seed in (1, 2, 3)
    ]
    for row, result in zip(runs.iter_rows(named=True), swept.results, strict=True):
        changes = {"scheme.name": row["scheme.name"], "traffic.0.load": row["traffic.0.load"]}
        alone = rocelab.run(scenario.with_settings(**changes, run__seed=row["seed"]))
        assert result.scenario == alone.scenario
        assert row["digest"] == result.summary["digest"] == alone.summary["digest"]


def test_a_run_has_the_numbers_of_its_result(swept: rocelab.Sweep) -> None:
    row = swept.runs.to_polars().row(4, named=True)
    result = swept.results[4]
    done = result.flows.to_polars().filter("done")
    summary = result.summary
    for name in ("flows", "flows_done", "max_queue_bytes", "pause_frames", "paused_ns", "drops"):
        assert row[name] == summary[name]
    for name in ("mean", "p50", "p95", "p99"):
        assert row[f"slowdown_{name}"] == summary["slowdown"][name]
    assert row["fct_mean_ps"] == pytest.approx(done["fct_ps"].mean())
    assert row["fct_p99_ps"] in done["fct_ps"].to_list()
    small = done.filter(pl.col("size_bytes") <= 100_000)
    assert 0 < len(small) < len(done)
    assert row["small_slowdown_p99"] in small["slowdown"].sort()[-2:].to_list()
    queue = result.series["queue"].to_polars()["queue_bytes"]
    assert row["queue.mean"] == pytest.approx(queue.mean())
    assert row["queue.max"] == queue.max()


def test_statistics_are_over_the_seeds(swept: rocelab.Sweep) -> None:
    runs, rows = swept.runs.to_polars(), swept.statistics.to_polars()
    assert rows.select("scheme.name", "traffic.0.load", "runs").rows() == [
        (scheme, load, 3) for scheme in ("hpcc", "dcqcn") for load in (0.3, 0.6)
    ]
    values = runs.filter(pl.col("scheme.name") == "dcqcn", pl.col("traffic.0.load") == 0.6)
    several = values["slowdown_p99"].to_list()
    row = rows.row(3, named=True)
    assert row["slowdown_p99"] == pytest.approx(statistics.fmean(several))
    # Student's t with two degrees of freedom, from a table.
    half = 4.303 * statistics.stdev(several) / 3**0.5
    assert row["slowdown_p99_ci95"] == pytest.approx(half, rel=1e-3)


def test_sweeps_can_be_pickled(swept: rocelab.Sweep) -> None:
    again = pickle.loads(pickle.dumps(swept))  # noqa: S301
    assert again.statistics.to_polars().equals(swept.statistics.to_polars())
    assert [one.name for one in again.metrics] == [one.name for one in swept.metrics]


def test_quantiles_of_students_t() -> None:
    """As in every table of them."""
    table = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 10: 2.228, 30: 2.042, 120: 1.980}
    for freedom, value in table.items():
        assert confidence.quantile(freedom) == pytest.approx(value, abs=5e-4)
    assert confidence.quantile(100_000) == pytest.approx(
        statistics.NormalDist().inv_cdf(0.975), 1e-4
    )
    assert confidence.interval([3.0]) == (3.0, None)
    assert confidence.interval([3.0, 3.0]) == (3.0, 0.0)


def test_a_combination_with_a_run_without_a_number_has_none(scenario: rocelab.Scenario) -> None:
    """The mean of the runs that have one would be that of the better ones."""
    flow = {"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "1MB"}]}
    base = scenario.with_settings(traffic=[flow])
    done = rocelab.sweep(base, {"run.stop": ["50us", "200us"]}, seeds=2)
    rows = done.statistics.to_polars()
    assert rows["slowdown_mean"].is_null().to_list() == [True, False]
    assert rows["flows_done"].to_list() == [0.0, 1.0]
    assert "Not drawn: 1 of the combinations" in done.plot("slowdown_mean").get_supxlabel()
    told = " ".join(done.plot("flows").get_supxlabel().split())
    assert "In 2 of 4 runs not all flows were done" in told
    assert "slowdowns and FCTs cover 2 of 4 flows" in told
    none, every = done.coverage()
    assert (none.done, none.flows, str(none)) == (0, 2, "0 of 2")
    assert not none.complete
    assert every.complete
    unfinished, same = done.warnings
    assert unfinished.startswith("2 of 4 runs, the first in runs/stop=50us/1: 1 of 1 flows is ")
    assert done.doubts == [unfinished]
    assert same == "all seeds give the same: nothing here is drawn at random"


def test_seeds_begin_with_the_scenarios_own(scenario: rocelab.Scenario) -> None:
    done = rocelab.sweep(scenario.with_settings(run__seed=7), seeds=2)
    assert done.runs.to_polars()["seed"].to_list() == [7, 8]
    assert done.runs.to_polars()["directory"].to_list() == ["runs/7", "runs/8"]
    assert done.warnings == []


def test_warnings_of_runs_are_told_once(
    command: Command, random_file: Path, tmp_path: Path
) -> None:
    arguments = ("--set", "run.stop=100us", "--seeds", 4)
    done = command("sweep", random_file, *arguments, "--out", tmp_path / "out", "--json")
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("warning: 4 of 4 runs, the first in runs/1: ")
    assert "flows are unfinished at 100us" in warning


# The directory.


def test_the_directory_of_a_sweep(command: Command, random_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command(
        "sweep", random_file, "--over", SCHEMES, "--over", LOADS, "--seeds", 2, "--out", out
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(entry.name for entry in out.iterdir()) == [
        "plots", "runs", "runs.csv", "runs.parquet", "sweep.json",
    ]  # fmt: skip
    runs = pl.read_parquet(out / "runs.parquet")
    assert runs.schema["traffic.0.load"] == pl.Float64
    assert runs["directory"][0] == "runs/scheme.name=hpcc,load=0.3/1"
    for place, digest in runs.select("directory", "digest").rows():
        assert rocelab.open(out / place).summary["digest"] == digest
    with (out / "runs.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["digest"] for line in lines] == runs["digest"].to_list()
    assert [float(line["slowdown_p99"]) for line in lines] == runs["slowdown_p99"].to_list()
    told = json.loads((out / "sweep.json").read_text())
    assert told["over"] == {"scheme.name": ["hpcc", "dcqcn"], "traffic.0.load": [0.3, 0.6]}
    assert told["seeds"] == [1, 2]
    assert told["version"] == rocelab.__version__
    assert told["partial"] is False
    assert told["scenario"] == rocelab.load(random_file).to_dict()
    assert told["units"]["queue.mean"] == "bytes"
    assert [row["scheme.name"] for row in told["statistics"]] == ["hpcc"] * 2 + ["dcqcn"] * 2
    pictures = sorted((out / "plots").iterdir())
    assert len(pictures) == 8
    assert_picture(pictures[:2])
    head, first, *_ = done.stdout.splitlines()
    assert head.split()[:3] == ["scheme.name", "traffic.0.load", "slowdown_mean"]
    told_of = f"8 runs in {out}, 8 pictures in {out / 'plots'}"
    assert done.stdout.splitlines()[-1] == told_of
    assert "\ncaveat: dcqcn (dcqcn-paper): " in done.stdout
    mean = told["statistics"][0]["slowdown_mean"]
    assert first.split()[:4] == ["hpcc", "0.3", f"{mean:.2f}", "±"]


def test_runs_that_were_there_are_counted(
    command: Command, random_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    def last_line(seeds: int) -> str:
        done = command("sweep", random_file, "--seeds", seeds, "--out", out)
        assert (done.returncode, done.stderr) == (0, "")
        return str(done.stdout.splitlines()[-1])

    assert last_line(2) == f"2 runs in {out}"
    assert last_line(3) == f"3 runs in {out}; 2 of 3 runs were there before"
    assert last_line(3) == f"3 runs in {out}; 3 of 3 runs were there before"
    done = command("sweep", random_file, "--over", "scheme=hpcc", "--out", tmp_path / "one")
    assert f"\n1 run in {tmp_path / 'one'}, " in done.stdout


def test_tables_have_the_same_bytes_on_any_number_of_jobs(
    scenario: rocelab.Scenario, tmp_path: Path
) -> None:
    over: Over = {"scheme.name": ["hpcc", "dcqcn"]}
    for jobs in (1, 3):
        rocelab.sweep(scenario, over, seeds=2, jobs=jobs, out=tmp_path / f"{jobs}")
    for name in ("runs.parquet", "runs.csv", "sweep.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes()


def test_what_is_there_is_not_run_again(scenario: rocelab.Scenario, tmp_path: Path) -> None:
    small = rocelab.sweep(scenario, {"scheme.name": ["hpcc"]}, seeds=1, out=tmp_path / "out")
    before = made(tmp_path / "out")
    assert list(before) == ["runs/scheme.name=hpcc/1"]
    larger = {"scheme.name": ["dcqcn", "hpcc"]}
    rocelab.sweep(scenario, larger, seeds=2, out=tmp_path / "out")
    after = made(tmp_path / "out")
    assert len(after) == 4
    assert before.items() <= after.items()
    # A run that was not written to its end, and one whose table is damaged.
    (tmp_path / "out/runs/scheme.name=dcqcn/1/simulator.sha256").unlink()
    (tmp_path / "out/runs/scheme.name=dcqcn/2/flows.parquet").write_bytes(b"PAR1")
    assert small.found == 0
    again = rocelab.sweep(scenario, larger, seeds=2, out=tmp_path / "out")
    changed = {place for place, time in made(tmp_path / "out").items() if time != after[place]}
    assert changed == {"runs/scheme.name=dcqcn/1", "runs/scheme.name=dcqcn/2"}
    assert again.found == 2
    row = again.runs.to_polars().row(2, named=True)
    assert row["digest"] == small.runs.to_polars()["digest"][0]


def test_runs_of_other_scenarios_and_simulators_are_replaced_only_when_told(
    scenario: rocelab.Scenario, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    over: Over = {"scheme.name": ["hpcc", "dcqcn"]}
    rocelab.sweep(scenario, over, out=out)
    before = made(out)
    home = out / "runs/scheme.name=hpcc/1"
    (home / "simulator.sha256").write_text("0" * 64)
    for changed, count in ((scenario, 1), (scenario.with_settings(traffic__0__load=0.1), 2)):
        with pytest.raises(rocelab.ResultError) as refused:
            rocelab.sweep(changed, over, out=out)
        told = "1 of its runs is" if count == 1 else "2 of its runs are"
        assert refused.value.args[0] == (
            f"{out}: {told} of another scenario or simulator, such as {home}"
        )
        assert "--force" in (refused.value.hint or "")
    assert made(out) == before
    (home / "note.txt").write_text("mine")
    rocelab.sweep(scenario, over, out=out, force=True)
    after = made(out)
    assert after["runs/scheme.name=hpcc/1"] != before["runs/scheme.name=hpcc/1"]
    assert after["runs/scheme.name=dcqcn/1"] == before["runs/scheme.name=dcqcn/1"]
    assert (home / "note.txt").read_text() == "mine"
    rocelab.sweep(scenario, over, out=out)
    assert made(out) == after


def test_a_run_is_never_beside_the_hash_of_another_simulator(
    scenario: rocelab.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ends between a run that replaces another and its hash."""

    class EndedError(Exception):
        pass

    def end(*_: object, **__: object) -> None:
        raise EndedError

    home, result = tmp_path / "run", rocelab.run(scenario)
    store.store_case(result, home, force=True)
    whole = [("run", result.scenario_toml)]
    (tmp_path / "sweep.json").write_text("{}")
    assert store.prepare_directory(tmp_path, whole, force=False) == set()
    with monkeypatch.context() as other:
        other.setattr(store, "simulator_hash", lambda: "0" * 64)
        other.setattr(store, "write_atomic", end)
        with pytest.raises(EndedError):
            store.store_case(result, home, force=True)
    assert store.prepare_directory(tmp_path, whole, force=False) == {"run"}


def test_a_run_that_another_command_completes_meanwhile_is_not_removed(
    scenario: rocelab.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run without a summary may be one that another command is about to write."""
    swept = rocelab.sweep(scenario, seeds=2, out=tmp_path)
    place = swept.plan.cases[0].place
    home, wanted = tmp_path / place, swept.results[0].scenario_toml
    summary = (home / "summary.json").read_bytes()
    (home / "summary.json").unlink()
    assert store.missing_cases(tmp_path, [(place, wanted)]) == {place}
    assert home.is_dir(), "who asks what is missing removes nothing"

    with ExitStack() as other:
        other.enter_context(locks.locked(home))

        def complete(_seconds: float) -> None:
            (home / "summary.json").write_bytes(summary)
            other.close()

        monkeypatch.setattr("rocelab.io.locks.time.sleep", complete)
        store.prepare_directory(tmp_path, [(place, wanted)], force=False)
    assert (home / "flows.parquet").is_file()


def test_runs_go_on_the_processors_that_the_process_may_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert parallel.available_cores() >= 1
    if hasattr(os, "sched_getaffinity"):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 8})
        monkeypatch.setattr(os, "cpu_count", lambda: 64)
        assert parallel.available_cores() == 3
        pools: list[int] = []

        def pool(workers: int) -> ThreadPoolExecutor:
            pools.append(workers)
            return ThreadPoolExecutor(workers)

        monkeypatch.setattr(parallel, "ThreadPoolExecutor", pool)
        for workers in (parallel.Workers(), parallel.Workers(jobs=2)):
            parallel.run_parallel(["a"], lambda _name, _tick: None, threads=workers.threads)
        assert pools == [3, 2]


def test_a_sweep_is_saved_as_it_would_have_been_written(
    swept: rocelab.Sweep, scenario: rocelab.Scenario, tmp_path: Path
) -> None:
    over: Over = {"scheme.name": ["hpcc", "dcqcn"], "traffic.0.load": [0.3, 0.6]}
    rocelab.sweep(scenario, over, seeds=3, out=tmp_path / "a")
    assert swept.save(tmp_path / "b") == tmp_path / "b"
    for name in ("runs.parquet", "runs.csv", "sweep.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert made(tmp_path / "a").keys() == made(tmp_path / "b").keys()
    before = made(tmp_path / "b")
    swept.save(tmp_path / "b")
    assert made(tmp_path / "b") == before


def test_ctrl_c_keeps_complete_runs(tmp_path: Path, long_scenario: str) -> None:
    path = tmp_path / "long.toml"
    path.write_text(long_scenario, encoding="utf-8")
    out = tmp_path / "out"
    # The first is over at once.
    arguments = ["--over", "run.stop=10us,500ms", "--jobs", "1", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "rocelab", "sweep", path, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not (out / "runs/stop=10us/1/simulator.sha256").exists():
        wait_until_running(process)
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout) == (130, b"")
    assert stderr.decode() == (
        f"interrupted: runs that are complete stay in {out}; the same command makes the rest\n"
    )
    assert list(made(out)) == ["runs/stop=10us/1"]
    assert json.loads((out / "sweep.json").read_text())["partial"] is True
    before = made(out)
    rocelab.sweep(rocelab.load(path), {"run.stop": ["10us", "20us"]}, out=out)
    assert before.items() < made(out).items()
    assert json.loads((out / "sweep.json").read_text())["partial"] is False


# The command line.


def test_values_are_read_as_set_reads_them(
    command: Command, random_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = command(
        "sweep", random_file, "--json", "--out", out,
        "--over", 'probe.0.ports=["s0:h0", "s0:h1"], [ "s0:h2" ]',
        "--over", 'scheme={name = "hpcc", params = {eta = 0.9}},"dcqcn"',
        "--over", "topology.host_rate=25Gbps",
        "--metric", "queue.max", "--metric", "flows", "--metric", "flows",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [list(row) for row in rows] == [
        [
            "probe.0.ports", "scheme", "topology.host_rate", "runs",
            "queue.max", "queue.max_ci95", "flows", "flows_ci95",
        ]
    ] * 4  # fmt: skip
    assert [row["probe.0.ports"] for row in rows] == ['["s0:h0", "s0:h1"]'] * 2 + ['["s0:h2"]'] * 2
    assert [row["scheme"] for row in rows][1] == "dcqcn"
    assert all(row["flows_ci95"] is None for row in rows)
    (place,) = (path for path in out.glob("runs/*/1") if "h2" in str(path) and "eta" in str(path))
    complete = rocelab.open(place).scenario.to_dict()
    assert complete["scheme"]["params"]["eta"] == 0.9
    assert complete["probe"][0]["ports"] == ["s0:h2"]
    assert complete["topology"]["host_rate"] == "25Gbps"


@pytest.mark.parametrize(
    "values",
    [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), pl.Series([1, 2])],
    ids=lambda values: type(values).__name__,
)
def test_values_come_in_all_kinds_of_lists(values: Any) -> None:  # noqa: ANN401
    (axis,) = grid.make_axes({"wire.priority": values})
    assert [value.data for value in axis.values] == [1, 2]


def test_long_values_have_directories_of_their_own(
    scenario: rocelab.Scenario, tmp_path: Path
) -> None:
    flows = [[{"src": "h0", "dst": f"h{n % 3 + 1}", "size": "1KB"} for n in range(9)] for _ in "ab"]
    flows[1][-1]["size"] = "2KB"
    values = [[{"kind": "flows", "flows": several}] for several in flows]
    done = rocelab.sweep(scenario, {"traffic": values}, out=tmp_path / "out")
    assert done.runs.to_polars()["directory"].n_unique() == 2
    assert len(made(tmp_path / "out")) == 2


def test_pictures_of_an_earlier_sweep_are_told(
    command: Command, random_file: Path, tmp_path: Path
) -> None:
    run = ("sweep", random_file, "--over", LOADS, "--out", "out")
    for metric in ("flows", "slowdown_p99"):
        done = command(*run, "--metric", metric, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    said = "warning: out/plots: there from an earlier time: flows.png, flows.svg"
    assert said in done.stderr.splitlines()
    assert "earlier time" not in command(*run, "--metric", "flows", "--quiet", cwd=tmp_path).stderr


def test_maps_and_pictures_of_odd_names_of_an_earlier_sweep_are_told(tmp_path: Path) -> None:
    place = tmp_path / "sweep"
    scenario = rocelab.example("incast")
    entries = scenario.to_dict()["traffic"]
    scenario = scenario.with_settings(traffic=[{**one, "tag": "a/b"} for one in entries])
    over = {"run.stop": ["20us", "30us", "40us"], "ecn.kmin": ["5KB", "6KB", "7KB"]}
    done = rocelab.sweep(scenario, over)
    (flows,) = (one for one in done.metrics if one.name == "a/b.flows")
    assert len(save_plots(done, [flows], place, DEFAULT_LOOK)) == 4
    (told,) = stale_pictures(place, [], stems(done.metrics))
    names = ("a%2Fb.flows.png", "a%2Fb.flows.svg", "a%2Fb.flows-map.png", "a%2Fb.flows-map.svg")
    assert told == f"{place}: there from an earlier time: {', '.join(names)}"


def test_quiet_prints_nothing(command: Command, random_file: Path, tmp_path: Path) -> None:
    done = command("sweep", random_file, "--seeds", 2, "-q", "--out", tmp_path / "out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # There is nothing to draw them against.
    assert not (tmp_path / "out" / "plots").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ["a sweep of one run", "hint: ", "--over", "--seeds"]),
        (("--over", "scheme.name"), ["--over scheme.name: needs a key and its values", "hint: "]),
        (("--over", "scheme.name="), ["scheme.name: one of the values is empty"]),
        (("--over", "scheme.name=hpcc,,dcqcn"), ["scheme.name: one of the values is empty"]),
        (("--over", "traffic.0.load=0.5,0.50"), ["traffic.0.load: 0.5 is there twice"]),
        (("--over", SCHEMES, "--over", SCHEMES), ["scheme.name: is varied twice"]),
        (
            ("--over", SCHEMES, "--over", "scheme=hpcc,dcqcn"),
            ["scheme.name: is varied, and so is scheme, which is written over it", "hint: "],
        ),
        (
            ("--over", LOADS, "--over", "traffic.00.load=0.4,0.5"),
            ["traffic.0.load: is varied twice"],
        ),
        (("--over", "run.seed=1,2"), ["run.seed", "--seeds"]),
        (("--seeds", 300_000_000), ["300,000,000 runs are more than the 100,000"]),
        (
            ("--over", "ecn.kmin=1KB..5KB"),
            ["ecn.kmin: 1KB..5KB: a range needs the number of its values", "1KB..5KB/2 for its"],
        ),
        (("--over", "ecn.kmin=1KB..5KBlog"), ["such as 1KB..5KB/2log for its ends"]),
        (("--over", "run.stop=nan"), ["run.stop: must be a finite number, got nan"]),
        (
            ("--over", "scheme.name=hpcc,vegas", "--over", LOADS),
            ["error: scheme.name: unknown scheme `vegas`; with scheme.name=vegas,traffic.0.lo"],
        ),
        (("--over", "name=a,\udcff"), ["'\\udcff' is no letter; with name=\\udcff"]),
        (
            ("--over", "traffic.0.load=0.5,5"),
            ["error: traffic.0.load: ", "; with traffic.0.load=5"],
        ),
        (("--over", "switch.latency=1us,1ms"), ["switch.buffer", "; with switch.latency=1ms"]),
        (("--over", SCHEMES, "--metric", "p99"), ["no metric 'p99'", "slowdown_p99", "queue.mean"]),
        (("--seeds", "0"), ["seeds: must be 1 or more, not 0"]),
        (("--seeds", "2", "--jobs", "0"), ["jobs: must be 1 or more, not 0"]),
        (
            ("--seeds", "2", "--set", "run.seed=9223372036854775807"),
            ["error: run.seed: needs a whole"],
        ),
        (("--seeds", "2", "--out", "full"), ["full: exists and is not a sweep of rocelab"]),
        (("--seeds", "2", "--out", "random.toml"), ["random.toml: is not a directory"]),
        (("--seeds", "2", "--out", "lost"), ["lost: the link lost leads to nothing that is there"]),
        (("--seeds", "2", "--out", "lost/x"), ["lost/x: the link lost leads to nothing"]),
        (("--over", f"run.seed_2={'1' * 5000},{'2' * 5000}"), ["run.seed_2"]),
        (("--over", f"pfc.xoff={'[' * 3000},1KB"), ["pfc.xoff"]),
    ],
)
def test_bad_sweeps_are_refused_before_the_first_run(
    command: Command, random_file: Path, arguments: tuple[str, ...], words: list[str]
) -> None:
    (random_file.parent / "full").mkdir()
    (random_file.parent / "full" / "thesis.tex").write_text("years of work")
    (random_file.parent / "lost").symlink_to("nowhere")
    before = sorted(random_file.parent.rglob("*"))
    done = command("sweep", random_file, *arguments, cwd=random_file.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) <= 2
    assert [word for word in words if word not in done.stderr] == [], done.stderr
    assert sorted(random_file.parent.rglob("*")) == before


def test_scenarios_of_all_seeds_are_checked_before_the_first_run(tmp_path: Path) -> None:
    """Whether ACKs take the way of the data depends here on who sends to whom."""
    ends = ["h0 s0", "h1 s1", "h2 s2", "h3 s3", "h4 s4", "s1 s0", "s2 s0", "s3 s1", "s4 s3"]
    ends += ["s5 s4", "s0 s4", "s0 s3", "s2 s4", "s1 s5"]
    pairs = [pair.split() for pair in ends]
    links = [{"a": a, "b": b, "rate": "100Gbps", "delay": "1us"} for a, b in pairs]
    hosts = [{"name": f"h{index}", "kind": "host"} for index in range(5)]
    switches = [{"name": f"s{index}", "kind": "switch"} for index in range(6)]
    scenario = rocelab.Scenario(
        topology={"kind": "custom", "nodes": [*hosts, *switches], "links": links},
        traffic=[{"kind": "poisson", "workload": "WebSearch", "load": 0.3, "messages": 2}],
        scheme={"name": "fncc"},
    )
    scenario.validate()
    out = tmp_path / "out"
    with pytest.raises(rocelab.ConfigError, match=r"same path.*; with seed 3"):
        rocelab.sweep(scenario, seeds=5, out=out)
    assert not out.exists()


def test_an_interrupted_save_can_be_made_again(
    swept: rocelab.Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = store.store_case
    kept: list[Path] = []

    def interrupted(result: rocelab.Result, home: Path, *, force: bool) -> None:
        if len(kept) == 2:
            raise KeyboardInterrupt
        kept.append(home)
        keep(result, home, force=force)

    monkeypatch.setattr(store, "store_case", interrupted)
    with pytest.raises(KeyboardInterrupt):
        swept.save(tmp_path / "out")
    monkeypatch.undo()
    swept.save(tmp_path / "out")
    assert len(made(tmp_path / "out")) == len(swept.results)


def test_a_sweep_that_was_interrupted_while_it_replaced_runs_is_not_read(
    scenario: rocelab.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All runs are there, but some are of the scenario before."""
    out, over = tmp_path / "out", {"scheme.name": ["hpcc", "dcqcn"]}
    rocelab.sweep(scenario, over, out=out)
    other = scenario.with_settings(**{"traffic.0.load": 0.3})
    keep = store.store_case

    def interrupted(result: rocelab.Result, home: Path, *, force: bool) -> None:
        keep(result, home, force=force)
        raise KeyboardInterrupt

    with monkeypatch.context() as once:
        once.setattr(store, "store_case", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rocelab.sweep(other, over, out=out, force=True, jobs=1)
    assert len(made(out)) == 2
    with pytest.raises(rocelab.ResultError, match="that wrote to it has not ended"):
        rocelab.open_sweep(out)
    with pytest.raises(rocelab.ResultError, match="that wrote to it has not ended"):
        report.write_report([out], tmp_path / "r.html")
    rocelab.sweep(other, over, out=out, force=True)
    assert len(rocelab.open_sweep(out).results) == 2


def test_a_place_that_another_has_taken_is_known_before_the_runs(
    scenario: rocelab.Scenario, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    rocelab.sweep(scenario, {"scheme.name": ["hpcc"]}, out=out)
    taken = out / "runs/scheme.name=dcqcn/1"
    taken.mkdir(parents=True)
    (taken / "thesis.tex").write_text("years of work")
    with pytest.raises(rocelab.ResultError, match="is not a result of rocelab"):
        rocelab.sweep(scenario, {"scheme.name": ["none", "dcqcn"]}, out=out, force=True)
    assert list(made(out)) == ["runs/scheme.name=hpcc/1"]
    with pytest.raises(rocelab.ResultError, match="is not a result"):
        check_result_directory(taken, force=True)


@pytest.mark.parametrize(
    ("over", "error", "words"),
    [
        ({"scheme.name": "hpcc"}, rocelab.ConfigError, "needs a list of values, got 'hpcc'"),
        ({"scheme.name": []}, rocelab.ConfigError, "scheme.name: no value to vary it over"),
        ({"scheme.name": [object()]}, rocelab.ConfigError, "cannot stand in a scenario"),
        ({1: [2]}, rocelab.ConfigError, "a key must be a string"),
        ([("scheme.name", ["hpcc"])], TypeError, "over: must be a dictionary"),
        ({"run.time_limit": [10**5000]}, rocelab.ConfigError, "whole number that 64 bits hold"),
    ],
)
def test_bad_values_in_python(
    scenario: rocelab.Scenario, over: object, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        rocelab.sweep(scenario, over)  # type: ignore[arg-type]


def test_force_needs_a_directory(scenario: rocelab.Scenario) -> None:
    with pytest.raises(rocelab.ConfigError, match="force= replaces runs of a directory"):
        rocelab.sweep(scenario, {"scheme.name": ["hpcc"]}, force=True)


# Pictures.


def test_the_metric_of_a_tag_with_a_long_name_fits_beside_its_axis(tmp_path: Path) -> None:
    """The warning that labels are cut off would be an error."""
    tag = "checkpoints-of-the-training-cluster-to-the-storage-node-a"
    scenario = rocelab.example("incast", set={"traffic.0.tag": tag})
    sweep = rocelab.sweep(scenario, {"scheme": ["hpcc", "dcqcn"]})
    drawn = sweep.plot(f"{tag}.slowdown_p99")
    rocelab.plot.save(drawn, tmp_path / "p99")
    label = " ".join(drawn.axes[0].get_ylabel().split())
    assert label == "p99 FCT slowdown of checkpoints-of…-node-a"


def test_a_line_for_each_scheme_over_the_load(swept: rocelab.Sweep) -> None:
    drawn = swept.plot("max_queue_bytes")
    (axes,) = drawn.axes
    assert axes.get_xlabel() == "traffic.0.load"
    assert axes.get_ylabel().replace("\n", " ") == "Longest queue (KB)"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.3", "0.6"]
    assert legend_texts(drawn) == ["hpcc", "dcqcn"]
    lines = {str(line.get_label()): line for line in axes.lines}
    rows = swept.statistics.to_polars()
    for at, name in enumerate(("hpcc", "dcqcn")):
        assert list(lines[name].get_xdata()) == [0.3, 0.6]  # type: ignore[arg-type]
        means = rows["max_queue_bytes"][2 * at : 2 * at + 2] / 1e3
        assert list(lines[name].get_ydata()) == pytest.approx(means.to_list())  # type: ignore[arg-type]
    assert "95 % confidence intervals" in drawn.get_supxlabel()
    (caveat,) = (one.caveat for one in rocelab.schemes() if one.name == "dcqcn")
    assert caveat in " ".join(drawn.get_supxlabel().split())


def test_quantities_are_numbers_and_words_are_places(scenario: rocelab.Scenario) -> None:
    over: Over = {"scheme.name": ["hpcc", "dcqcn"], "switch.buffer": ["1MB", "500KB", "32MB"]}
    (axes,) = rocelab.sweep(scenario, over).plot().axes
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["500KB", "1MB", "32MB"]
    assert list(axes.get_xticks()) == [5e5, 1e6, 3.2e7]
    over = {"scheme.name": ["hpcc", "dcqcn"], "pfc.enabled": [True, False]}
    drawn = rocelab.sweep(scenario, over).plot()
    (axes,) = drawn.axes
    assert axes.get_xlabel() == "scheme.name"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["hpcc", "dcqcn"]
    assert legend_texts(drawn) == ["enabled true", "enabled false"]
    assert all(line.get_linestyle() == "None" for line in axes.lines)


def test_a_third_key_has_panels(scenario: rocelab.Scenario) -> None:
    base = scenario.with_settings(traffic__0__duration="20us", probe=[])
    over: Over = {
        "scheme": ["hpcc", "dcqcn"],
        "traffic.0.load": [0.3, 0.6],
        "topology.host_rate": ["25Gbps", "100Gbps"],
    }
    done = rocelab.sweep(base, over)
    drawn = done.plot("slowdown_mean")
    assert [axes.get_title("right") for axes in drawn.axes] == [
        "scenario, host_rate 25Gbps",
        "host_rate 100Gbps",
    ]
    assert legend_texts(drawn) == ["hpcc", "dcqcn"]
    assert len({axes.get_ylim() for axes in drawn.axes}) == 1, "they are there to be compared"
    means = {
        (row["scheme"], row["topology.host_rate"], row["traffic.0.load"]): row["slowdown_mean"]
        for row in done.statistics.to_polars().iter_rows(named=True)
    }
    shown = [
        list(line.get_ydata())  # type: ignore[arg-type]
        for axes in drawn.axes
        for line in axes.lines
        if not str(line.get_label()).startswith("_")
    ]
    assert [y for values in shown for y in values] == pytest.approx(list(by_panel(means)))
    # Too many panels: the other key has them.
    over["topology.host_rate"] = [f"{rate}Gbps" for rate in range(10, 80, 10)]
    drawn = rocelab.sweep(base, over).plot("slowdown_mean")
    assert [axes.get_title("right") for axes in drawn.axes] == ["scenario, hpcc", "dcqcn"]
    assert len(legend_texts(drawn)) == 7


def by_panel(means: dict[tuple[str, str, float], float]) -> Iterator[float]:
    for rate in ("25Gbps", "100Gbps"):
        for scheme in ("hpcc", "dcqcn"):
            for load in ("0.3", "0.6"):
                yield next(
                    mean
                    for (one, other, at), mean in means.items()
                    if scheme in one and other == rate and float(at) == float(load)
                )


def test_counts_have_whole_ticks_and_markers_at_0_are_whole(scenario: rocelab.Scenario) -> None:
    drawn = rocelab.sweep(scenario, {"traffic.0.load": [0.1, 0.2]}).plot("pause_frames")
    (axes,) = drawn.axes
    low, high = axes.get_ylim()
    assert [tick for tick in axes.get_yticks() if low <= tick <= high] == [0, 1]
    (line,) = (line for line in axes.lines if line.get_marker() == "o")
    assert list(line.get_ydata()) == [0, 0]  # type: ignore[arg-type]
    assert not line.get_clip_on()
    assert line.get_zorder() > axes.spines["bottom"].get_zorder()


def test_tables_of_schemes_are_called_by_their_names(scenario: rocelab.Scenario) -> None:
    def legend(*schemes: object) -> list[str]:
        over = {"scheme": schemes, "traffic.0.load": [0.3, 0.6]}
        return legend_texts(rocelab.sweep(scenario, over).plot("flows"))

    slow = {"name": "dcqcn", "params": {"rate_ai": "80Mbps"}}
    assert legend("hpcc", slow) == ["hpcc", "dcqcn"]
    presets = [{"name": "dcqcn", "preset": name} for name in ("dcqcn-paper", "dcqcn-hpcc")]
    assert legend(*presets) == ["dcqcn (dcqcn-paper)", "dcqcn (dcqcn-hpcc)"]
    # Of parameters those are said that tell the tables of one name apart.
    assert legend("dcqcn", slow) == ["dcqcn", "dcqcn, rate_ai 80Mbps"]
    several = [{"name": "hpcc", "params": {"eta": eta, "max_stage": 3}} for eta in (0.9, 0.95)]
    assert legend(*several, slow) == ["hpcc, eta 0.9", "hpcc, eta 0.95", "dcqcn"]
    (axes,) = rocelab.sweep(scenario, {"scheme": ["hpcc", slow]}).plot("flows").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["hpcc", "dcqcn"]


def test_every_value_of_a_few_has_a_tick(scenario: rocelab.Scenario) -> None:
    def ticks(sizes: list[str]) -> tuple[str, list[str], list[float]]:
        probe = {"name": "queue", "kind": "queue", "ports": ["s0:h0"], "interval": "10us"}
        incast = {"kind": "incast", "senders": 2, "receiver": "h0", "size": "1KB"}
        base = scenario.with_settings(traffic=[incast], probe=[probe])
        (axes,) = rocelab.sweep(base, {"traffic.0.size": sizes}).plot("flows").axes
        names = [text.get_text() for text in axes.get_xticklabels()]
        return axes.get_xscale(), names, list(axes.xaxis.get_minorticklocs())

    doubled = ["50KB", "100KB", "200KB", "400KB"]
    assert ticks(doubled) == ("log", doubled, [])
    even = ["100KB", "200KB", "300KB"]
    assert ticks(even) == ("linear", even, [])
    # One has no room for its name on either axis.
    assert ticks(["100KB", "198KB", "200KB"]) == ("linear", ["100KB", "200KB"], [198e3])


def test_what_cannot_be_drawn_is_said(scenario: rocelab.Scenario) -> None:
    seeds = rocelab.sweep(scenario, seeds=2)
    with pytest.raises(rocelab.ResultError, match="only the seed was varied"):
        seeds.plot()
    with pytest.raises(rocelab.ConfigError, match="no metric 'p99'"):
        seeds.plot("p99")
    silent = scenario.with_settings(traffic=[], run__stop="10us")
    never = rocelab.sweep(silent, {"scheme.name": ["hpcc"]})
    with pytest.raises(rocelab.ResultError, match="no slowdown_mean to draw"):
        never.plot("slowdown_mean")


def test_pauses_by_tier_add_up_where_external_switches_are_a_fourth_tier() -> None:
    inside: dict[str, Any] = {"kind": "three-tier", "pods": 1, "tors_per_pod": 1, "cores": 1}
    inside |= {"aggs_per_pod": 1, "hosts_per_tor": 4, "core_wiring": "full"}
    for part in ("host", "agg", "core"):
        inside |= {f"{part}_rate": "400Gbps", f"{part}_delay": "1us"}
    network = {"kind": "cross-dc", "data_centre": inside, "wan_length": "2km"}
    network |= {"rate": "400Gbps", "delay": "1us", "wan_rate": "400Gbps"}
    incast = {"kind": "incast", "senders": ["dc0/h0", "dc0/h1"], "receiver": "dc1/h0"}
    scenario = rocelab.Scenario(
        topology=network,
        pfc={"xoff": "20KB"},
        traffic=[incast | {"size": "1MB"}],
        receiver=[{"hosts": ["dc1/h0"], "rate": "40Gbps", "buffer": "400KB"}],
    )
    (run,) = rocelab.sweep(scenario, {"run.time_limit": ["10ms"]}).runs.to_polars().to_dicts()
    tiers = ("hosts", "tier1", "tier2", "tier3", "tier4")
    assert run["tier4_paused_ns"] > 0
    assert sum(run[f"{tier}_paused_ns"] for tier in tiers) == run["paused_ns"]


def test_tables_of_runs_that_are_there_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That they are whole is seen by their checksums; their numbers are those of the tables."""
    scenario, over = rocelab.example("incast"), {"ecn.kmin": ["20KB", "30KB"]}
    rocelab.sweep(scenario, over, out=tmp_path / "s")
    read: Counter[Path] = Counter()
    frame = Stored.frame

    def counted(stored: Stored, name: str, rows: int | None = None) -> pl.DataFrame:
        read[stored.directory / name] += 1
        return frame(stored, name, rows)

    monkeypatch.setattr(Stored, "frame", counted)
    assert rocelab.sweep(scenario, over, out=tmp_path / "s").found == 2
    assert set(read.values()) == {1}
