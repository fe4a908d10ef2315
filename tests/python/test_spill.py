"""Samples and events that are too many for memory: they go to a file, and nothing else changes."""

from __future__ import annotations

import os
import pickle
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hpcc_config
import rocelab
from rocelab import simulate
from rocelab.hpcc.experiment import Experiment
from rocelab.io import write

TOPOLOGY = "6 1 5\n5\n" + "".join(f"{host} 5 100Gbps 1us 0\n" for host in range(5))
CONFIG = """\
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
TRACE_FILE trace.txt
TRACE_OUTPUT_FILE mix.tr
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
QLEN_MON_FILE qlen.txt
QLEN_MON_START 2000000000
QLEN_MON_END 2000100000
SIMULATOR_STOP_TIME 2.5
ENABLE_TRACE 1
"""
CONFIG += hpcc_config.HPCC
FILES = ("fct.txt", "pfc.txt", "qlen.txt", "mix.tr")


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    """An incast of the HPCC simulator that traces all nodes, as is its default."""
    files = {"config": CONFIG, "topology": TOPOLOGY, "trace": "6\n0 1 2 3 4 5\n"}
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="ascii")
    _send(tmp_path, 200_000)
    return Experiment(tmp_path / "config.txt", tmp_path)


def _send(directory: Path, size: int) -> None:
    flows = "".join(f"{host} 4 3 100 {size} 2.0\n" for host in range(4))
    (directory / "flow.txt").write_text(f"4\n{flows}", encoding="ascii")


def _watched() -> rocelab.Scenario:
    return rocelab.Scenario(
        name="watched",
        topology={"kind": "star", "hosts": 6, "host_rate": "100Gbps", "host_delay": "1us"},
        traffic=[{"kind": "incast", "senders": 5, "receiver": "h5", "size": "200KB"}],
        scheme={"name": "hpcc"},
        pfc={"threshold": "static", "xoff": "20KB", "xon": "18KB"},
        probe=[
            {
                "name": "queues",
                "kind": "queue",
                "ports": [f"s0:h{host}" for host in range(6)],
                "interval": "100ns",
            },
            {"name": "rates", "kind": "rate", "flows": ["incast"], "interval": "500ns"},
        ],
        trace={"pfc": True, "packets": ["h0", "s0"], "capture": True},
    )


class _Unlimited:
    """A law that holds nothing back."""

    def __init__(self, _path: object, _now_ps: int) -> None:
        pass

    def limits(self) -> rocelab.Limits:
        return rocelab.Limits()


def test_results_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rocelab.run(_watched()).save(tmp_path / "whole")
    monkeypatch.setattr(simulate, "IN_MEMORY", 10_000)
    for threads in (1, 3):
        result = rocelab.run(_watched(), threads=threads, scratch=tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["whole"]
        saved = result.save(tmp_path / "spilled")
        data = [path.relative_to(whole) for path in whole.rglob("*.p*") if path.is_file()]
        assert len(data) == 7
        for path in data:
            assert (saved / path).read_bytes() == (whole / path).read_bytes(), path
        assert result.capture == rocelab.open(whole).capture
        read = rocelab.open(whole)
        for name in ("queues", "rates"):
            assert len(result.series[name]) == len(read.series[name]) > 100
            assert result.series[name].to_polars().equals(read.series[name].to_polars())
        shutil.rmtree(saved)


def test_long_tables_are_written_in_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = [f"h{host}:s0" for host in range(30)]
    scenario = rocelab.Scenario(
        run={"stop": "300us"},
        topology={"kind": "star", "hosts": 30, "host_rate": "100Gbps", "host_delay": "1us"},
        traffic=[{"kind": "incast", "senders": 5, "receiver": "h5", "size": "200KB"}],
        probe=[{"name": "long", "kind": "throughput", "ports": ports, "interval": "30ns"}],
    )
    monkeypatch.setattr(simulate, "IN_MEMORY", 1 << 20)
    saved = rocelab.run(scenario).save(tmp_path / "out")
    result = rocelab.run(scenario)
    assert len(result.series["long"]) > write._ROWS_PER_GROUP
    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device$"):
        write._write_table(Path("/dev/full"), result.series["long"])
    frame = result.series["long"].to_polars()
    assert (saved / "series" / "long.parquet").read_bytes() == write.to_parquet(frame)


def test_hpcc_files_are_the_same(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment.run(into=tmp_path / "whole")
    monkeypatch.setattr(simulate, "IN_MEMORY", 10_000)
    for threads in (1, 3):
        experiment.run(into=tmp_path / "spilled", threads=threads)
        for name in FILES:
            spilled = (tmp_path / "spilled" / name).read_bytes()
            assert spilled == (tmp_path / "whole" / name).read_bytes(), name
        assert len(spilled) > 300_000
        assert sorted(path.name for path in (tmp_path / "spilled").iterdir()) == sorted(FILES)


def test_an_experiment_is_the_scenario_that_it_prints(experiment: Experiment) -> None:
    settings = (("run.seed", "7"), ("pfc.alpha", "0.25"))
    made = experiment.scenario(settings)
    read = rocelab.Scenario.from_toml(experiment._read.to_toml([])).with_settings(
        **{"run.seed": 7, "pfc.alpha": 0.25}
    )
    assert made == read
    assert made.to_dict()["traffic"][0]["flows"][3]["src"] == "n3"
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301
    assert made.with_settings(run__seed=8).to_dict()["run"]["seed"] == 8


def test_most_samples_holds_for_hpcc_files(experiment: Experiment, tmp_path: Path) -> None:
    whole, _ = experiment.run(into=tmp_path / "whole")
    assert not any("run.max_samples" in warning for warning in whole.warnings)
    settings = [("run.max_samples", "5000")]
    some, _ = experiment.run(into=tmp_path / "some", settings=settings)
    assert some.summary["digest"] == whole.summary["digest"]
    (warning,) = (text for text in some.warnings if "run.max_samples" in text)
    assert warning.startswith("probes and traces recorded nothing from")
    short, long = ((tmp_path / name / "mix.tr").read_bytes() for name in ("some", "whole"))
    # A thousand events, and what came of the microsecond at whose end they were counted.
    assert 56_000 <= len(short) < 150_000
    assert long.startswith(short)


@pytest.mark.usefixtures("experiment")
def test_a_long_trace_takes_little_memory(tmp_path: Path) -> None:
    def most_kilobytes(in_memory: int) -> int:
        code = (
            "import resource; from rocelab import simulate; from rocelab.hpcc import experiment; "
            f"simulate.IN_MEMORY = {in_memory}; "
            f"experiment.Experiment('config.txt').run(into='out'); "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return int(done.stdout)

    _send(tmp_path, 1_500_000)
    short = most_kilobytes(1 << 20)
    _send(tmp_path, 5_000_000)
    long = most_kilobytes(1 << 20)
    size = (tmp_path / "out" / "mix.tr").stat().st_size
    # In memory events take more than in the file.
    assert size > 10_000_000
    assert (long - short) * 1024 < 6_000_000, long - short


def test_a_directory_for_records_is_checked_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    law = rocelab.prototype(_Unlimited)
    for place in (tmp_path / "missing", tmp_path / "file"):
        for run in (rocelab.run, law.run):
            with pytest.raises(rocelab.ConfigError, match="scratch: no file can be made in"):
                run(_watched(), scratch=place)


def test_a_directory_that_is_missing_costs_only_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rocelab.run(_watched())
    monkeypatch.setattr(simulate, "IN_MEMORY", 100_000)
    with pytest.raises(rocelab.RecordingError) as raised:
        # The directory was there when it was checked.
        simulate.run_checked(_watched(), scratch=tmp_path / "missing")
    assert "cannot write to a file in" in str(raised.value)
    assert raised.value.hint
    assert "missing" in str(raised.value)
    result = raised.value.result
    assert result.summary["digest"] == whole.summary["digest"]
    some, whole_frame = (it.series["queues"].to_polars() for it in (result, whole))
    assert 0 < len(some) < len(whole_frame)
    assert some.equals(whole_frame[: len(some)])


def test_a_full_disk_keeps_the_result(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    traffic = [{"kind": "incast", "senders": 3, "receiver": "h3", "size": "2MB"}]
    watched = rocelab.Scenario(
        name="full",
        topology={"kind": "star", "hosts": 4, "host_rate": "100Gbps", "host_delay": "1us"},
        traffic=traffic,
        scheme={"name": "none"},
        trace={"packets": ["h0", "h1", "h2", "h3", "s0"]},
    )
    scenario.write_text(watched.to_toml(), encoding="utf-8")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    code = "from rocelab import cli, simulate; simulate.IN_MEMORY = 1 << 18; cli.main()"
    command = [sys.executable, "-c", code, "run", str(scenario), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert done.returncode == 1, done.stderr
    errors = re.findall("^error: .*", done.stderr, re.MULTILINE)
    assert len(errors) == 1
    assert os.strerror(27) in errors[0]
    assert "Traceback" not in done.stderr
    result = rocelab.open(tmp_path / "out")
    assert result.summary["flows_done"] == 3
    assert len(result.traces["packets"]) > 0
    assert result.summary["traces"][0]["end_ps"] < result.summary["simulated_ns"] * 1000
