from __future__ import annotations

import copy
import enum
import json
import multiprocessing
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocelab
from conftest import INCAST
from rocelab import _rocelab, catalogue
from rocelab._plain import plain, setting
from rocelab.io import files
from rocelab.io import write as write_module
from rocelab.scenario import compact

TOPOLOGY = {"kind": "star", "hosts": 5, "host_rate": "100Gbps", "host_delay": "1us"}


def test_scenario_in_code_equals_scenario_in_toml() -> None:
    built = rocelab.Scenario(
        topology=TOPOLOGY,
        scheme={"name": "dcqcn"},
        traffic=[
            {
                "kind": "incast",
                "tag": "incast",
                "senders": ["h0", "h1", "h2"],
                "receiver": "h4",
                "size": "300KB",
            },
            {
                "kind": "flows",
                "tag": "victim",
                "flows": [{"src": "h0", "dst": "h3", "size": "100KB", "start": "10us"}],
            },
        ],
        probe=[
            {"name": "bottleneck", "kind": "queue", "ports": ["s0:h4"], "interval": "1us"},
            {
                "name": "goodput",
                "kind": "throughput",
                "ports": ["s0:h3", "s0:h4"],
                "interval": "5us",
            },
        ],
    )
    assert built.to_dict() == rocelab.Scenario.from_toml(INCAST).to_dict()


def test_complete_scenario_is_its_own_fixed_point() -> None:
    complete = rocelab.Scenario.from_toml(INCAST).to_toml()
    assert rocelab.Scenario.from_toml(complete).to_toml() == complete


def test_with_settings_changes_a_copy() -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    other = scenario.with_settings(run__seed=2).with_settings(**{"scheme.name": "hpcc"})
    assert other.to_dict()["run"]["seed"] == 2
    assert other.to_dict()["scheme"]["name"] == "hpcc"
    assert scenario.to_dict()["run"]["seed"] == 1
    assert other != scenario
    with pytest.raises(AttributeError, match="'with_': it is called `with_settings` now"):
        # Without an error here mypy would say that this remark is not needed.
        scenario.with_(run__seed=2)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"^'Scenario' object has no attribute 'sead'$"):
        scenario.sead  # type: ignore[attr-defined]  # noqa: B018


def test_load_sets_keys_and_takes_the_name_of_the_file(incast_file: Path) -> None:
    scenario = rocelab.load(incast_file, set={"run.seed": 5, "topology.host_delay": "2us"})
    assert scenario.name == "incast"
    assert scenario.to_dict()["run"]["seed"] == 5


def test_plain_data_is_what_the_text_says_in_its_order() -> None:
    examples = [one.name for one in catalogue.examples() if one.path.endswith(".toml")]
    assert "incast" in examples
    for example in examples:
        scenario = rocelab.example(example)
        data, read = scenario.to_dict(), tomllib.loads(scenario.to_toml())
        assert json.dumps(data) == json.dumps(read), example


def test_config_error_says_where(incast_file: Path) -> None:
    incast_file.write_text(INCAST.replace("hosts =", "hostz ="))
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.load(incast_file)
    error = caught.value
    assert isinstance(error, ValueError)
    assert isinstance(error, rocelab.RocelabError)
    assert error.key == "topology.hostz"
    assert error.line == 3
    assert error.file == str(incast_file)
    assert str(error).startswith(f"{incast_file}:3: topology.hostz: ")
    assert error.hint
    assert "hosts" in error.hint
    assert str(error).endswith(f"\nhint: {error.hint}")


def test_a_typo_in_a_sweep_shows_what_was_meant() -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    with pytest.raises(rocelab.ConfigError, match="unknown key\nhint: did you mean `name`"):
        scenario.with_settings(scheme__nme="hpcc")
    with pytest.raises(rocelab.ConfigError) as caught:
        scenario.with_settings(scheme__nme="hpcc")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - its own
    assert str(again) == str(caught.value)


def test_what_is_not_there_is_told_with_what_is(incast: rocelab.Result, tmp_path: Path) -> None:
    traced = rocelab.run(incast.scenario.with_settings(trace={"pfc": True}))
    copied = pickle.loads(pickle.dumps(traced))  # noqa: S301 - its own
    for result in (traced, copied, rocelab.open(traced.save(tmp_path / "saved"))):
        with pytest.raises(KeyError, match=r"called 'queue'; .*: bottleneck, goodput"):
            result.series["queue"]
        assert "queue" not in result.series
        assert result.series.get("queue") is None
        assert list(result.series) == ["bottleneck", "goodput"]
        with pytest.raises(KeyError, match="no trace is called 'packets'; there are: pfc"):
            result.traces["packets"]
        with pytest.raises(KeyError, match=r"called 'queue'; .*: bottleneck, goodput"):
            result.probes["queue"]
    assert repr(traced.series) == "<probes: bottleneck, goodput>"
    assert repr(traced.traces) == "<traces: pfc>"
    bare = rocelab.run(incast.scenario.with_settings(probe=[]))
    with pytest.raises(KeyError, match="there are: none"):
        bare.series["queue"]


def test_a_method_of_data_frames_is_told_where_it_is(incast: rocelab.Result) -> None:
    """A table prints as a frame, so that people take it for one."""
    table: object = incast.flows
    for name in ("head", "filter"):
        with pytest.raises(AttributeError, match=rf"no '{name}'; to_polars\(\) and to_pandas\(\)"):
            getattr(table, name)
    assert not hasattr(table, "group_by")
    assert copy.deepcopy(incast.flows).columns == incast.flows.columns


def test_errors_of_scenarios_in_code_tell_no_line() -> None:
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.Scenario(topology={**TOPOLOGY, "host_rate": "1000Tbps"})
    assert caught.value.line is None
    assert str(caught.value).startswith("topology.host_rate: 1000Tbps is out of range")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scheme": {"name": "mercury+hpcc"}}, "paths have up to 7 switches"),
        (
            {"scheme": {"name": "hiercc"}, "switch": {"architecture": "cioq"}},
            "switch.architecture: hiercc keeps queues",
        ),
    ],
)
def test_what_only_the_network_shows_is_found_without_a_run(
    changes: dict[str, Any], words: str
) -> None:
    scenario = rocelab.Scenario(
        topology={
            "kind": "dumbbell",
            "switches": 7,
            "senders": 1,
            "host_rate": "100Gbps",
            "host_delay": "1us",
            "rate": "100Gbps",
            "delay": "1us",
        },
        traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "1KB"}]}],
    )
    scenario.validate()
    refused = scenario.with_settings(**changes)
    for check in (refused.validate, refused.plan, lambda: rocelab.run(refused)):
        with pytest.raises(rocelab.ConfigError) as caught:
            check()
        assert words in str(caught.value)


@pytest.mark.parametrize("number", [float("inf"), -float("inf"), float("nan"), np.float32("inf")])
def test_numbers_are_finite(number: float) -> None:
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.Scenario.from_toml(INCAST).with_settings(scheme__params__gain=number)
    assert str(caught.value) == (
        f"scheme.params.gain: must be a finite number, got {float(number)}"
    )


def test_keys_are_strings() -> None:
    with pytest.raises(rocelab.ConfigError, match=r"topology: a key must be a string, got 1"):
        rocelab.Scenario(topology={1: 2})  # type: ignore[dict-item]


def test_keys_to_set_are_strings(incast_file: Path) -> None:
    text = incast_file.read_text(encoding="utf-8")
    wrong: Any = {1: 2}
    with pytest.raises(rocelab.ConfigError, match=r"set: a key must be a string, got 1"):
        rocelab.load(incast_file, set=wrong)
    with pytest.raises(rocelab.ConfigError, match=r"set: a key must be a string, got 1"):
        rocelab.Scenario.from_toml(text, set=wrong)
    wrong = ["run.seed=2"]
    with pytest.raises(TypeError, match=r"set: must be a dictionary"):
        rocelab.load(incast_file, set=wrong)
    assert rocelab.load(incast_file, set={}) == rocelab.load(incast_file)


def test_data_that_toml_cannot_say_is_refused() -> None:
    with pytest.raises(rocelab.ConfigError, match=r"topology\.hosts: a set cannot"):
        rocelab.Scenario(topology={**TOPOLOGY, "hosts": {1}})


def test_numbers_of_any_library_are_numbers() -> None:
    data: dict[str, object] = {
        "float": np.float64(0.1),
        "float32": np.float32(0.5),
        "int": np.int64(-3),
        "flag": np.bool_(True),
        "text": np.str_("h0"),
        "list": np.arange(3),
        "matrix": np.array([[0.0, 0.5], [1e9, 1.0]]),
        "fraction": Fraction(1, 4),
    }
    assert (
        plain(data, "data")
        == tomllib.loads(f"data = {setting(data, 'data')}")["data"]
        == {
            "float": 0.1,
            "float32": 0.5,
            "int": -3,
            "flag": True,
            "text": "h0",
            "list": [0, 1, 2],
            "matrix": [[0, 0.5], [1e9, 1]],
            "fraction": 0.25,
        }
    )
    scenario = rocelab.Scenario.from_toml(INCAST)
    swept = [scenario.with_settings(run__seed=seed) for seed in np.arange(1, 3)]
    assert [one.to_dict()["run"]["seed"] for one in swept] == [1, 2]
    changed = scenario.with_settings(wire__error_rate=np.float64(0.1))
    assert changed.to_dict()["wire"]["error_rate"] == 0.1
    for wrong in (np.float64("nan"), np.float64("inf")):
        with pytest.raises(rocelab.ConfigError, match=r"wire\.error_rate: must be a finite number"):
            scenario.with_settings(wire__error_rate=wrong)
    for other in (np.complex128(1j), 1j):
        with pytest.raises(rocelab.ConfigError, match=r"wire\.error_rate: a \w+ cannot stand"):
            scenario.with_settings(wire__error_rate=other)


def test_members_of_enumerations_are_their_values() -> None:
    class Word(str, enum.Enum):  # noqa: UP042 - of which `str` gives the name
        WEB = "web"
        HPCC = "hpcc"
        SCHEME = "scheme.name"

    class Number(enum.IntEnum):
        SEED = 7

    scenario = rocelab.Scenario.from_toml(INCAST)
    changes = {"traffic.0.tag": Word.WEB, "run.seed": Number.SEED, Word.SCHEME: Word.HPCC}
    changed = scenario.with_settings(**changes).to_dict()
    assert changed["traffic"][0]["tag"] == "web"
    assert changed["run"]["seed"] == 7
    assert changed["scheme"]["name"] == "hpcc"
    data = {Word.WEB: [Word.HPCC]}
    assert repr(plain(data, "data")) == "{'web': ['hpcc']}"
    assert setting(data, "data") == '{web = ["hpcc"]}'


def test_progress_is_reported(incast: rocelab.Result) -> None:
    seen: list[rocelab.Progress] = []
    result = rocelab.run(rocelab.Scenario.from_toml(INCAST), progress=seen.append)
    assert seen[-1].flows_done == seen[-1].flows == 4
    assert 0 <= seen[-1].fraction <= 1
    assert result.summary["digest"] == incast.summary["digest"]


def test_run_takes_no_path(incast_file: Path) -> None:
    for wrong in (str(incast_file), incast_file, {"topology": TOPOLOGY}, None):
        with pytest.raises(TypeError, match=r"rocelab\.load"):
            rocelab.run(wrong)  # type: ignore[arg-type]


def test_more_threads_than_a_word_holds(incast: rocelab.Result) -> None:
    result = rocelab.run(rocelab.Scenario.from_toml(INCAST), threads=10**30)
    assert result.summary["digest"] == incast.summary["digest"]


@pytest.mark.parametrize("threads", [0, -1, -(10**30)])
def test_run_takes_one_thread_or_more(threads: int) -> None:
    with pytest.raises(rocelab.ConfigError, match=f"threads: must be 1 or more, not {threads}"):
        rocelab.run(rocelab.Scenario.from_toml(INCAST), threads=threads)


@pytest.mark.parametrize("threads", ["2", 2.0])
def test_threads_are_a_whole_number(threads: object) -> None:
    with pytest.raises(TypeError, match=r"threads.*integer"):
        rocelab.run(rocelab.Scenario.from_toml(INCAST), threads=threads)  # type: ignore[arg-type]


def test_errors_of_a_progress_function_end_the_run(long_scenario: str) -> None:
    def fail(progress: rocelab.Progress) -> None:
        raise LookupError(progress.flows)

    with pytest.raises(LookupError):
        rocelab.run(rocelab.Scenario.from_toml(long_scenario), progress=fail)


def test_ctrl_c_carries_the_partial_result(long_scenario: str, tmp_path: Path) -> None:
    def interrupt(progress: rocelab.Progress) -> None:
        if progress.flows_done:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(rocelab.Interrupted) as caught:
        rocelab.run(rocelab.Scenario.from_toml(long_scenario), progress=interrupt)
    assert isinstance(caught.value, KeyboardInterrupt)
    result = caught.value.result
    assert result.partial
    assert 0 < result.summary["flows_done"] < result.summary["flows"]
    flows = result.flows.to_polars()
    assert flows["fct_ps"].null_count() == (~flows["done"]).sum() > 0
    result.save(tmp_path / "partial")
    assert rocelab.open(tmp_path / "partial").partial


def test_other_threads_go_on_while_a_run_does(long_scenario: str) -> None:
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.wait(0.01):
            ticks += 1

    def enough(progress: rocelab.Progress) -> None:
        if progress.wall_s > 0.5:
            raise TimeoutError

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(TimeoutError):
        rocelab.run(rocelab.Scenario.from_toml(long_scenario), progress=enough)
    stop.set()
    thread.join()
    assert ticks > 10


def test_a_build_for_development_warns_of_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each program's own, and not only of the one that imports the package first."""
    monkeypatch.setattr(_rocelab, "DEBUG_BUILD", True)
    with pytest.warns(RuntimeWarning, match="built for development") as caught:
        rocelab.run(rocelab.Scenario.from_toml(INCAST))
    assert caught[0].filename == __file__


_OF_SCENARIO = "from_toml name paths plan tags to_dict to_toml validate with_settings"
_OF_RESULT = (
    "balance capture directory doubts drops flows has_capture partial plot ports probes save "
    "scenario scenario_toml series summary traces unverified warnings write_capture"
)


@pytest.mark.parametrize(
    ("kind", "names"),
    [(rocelab.Scenario, _OF_SCENARIO), (rocelab.Result, _OF_RESULT)],
)
def test_what_is_public_is_meant_to_be(kind: type, names: str) -> None:
    """A name without an underscore is documented, and may not change without notice."""
    every = {*vars(kind), *kind.__annotations__}
    assert sorted(name for name in every if not name.startswith("_")) == names.split()


def test_classes_of_the_extension_are_frozen() -> None:
    checked = rocelab.Scenario.from_toml(INCAST)._checked
    with pytest.raises(AttributeError):
        checked.name = "other"  # type: ignore[misc]
    assert _rocelab.__version__ == rocelab.__version__


def test_saved_result_reads_back(incast: rocelab.Result, tmp_path: Path) -> None:
    incast.save(tmp_path / "a")
    back = rocelab.open(tmp_path / "a")
    assert back.summary == incast.summary
    assert back.flows.to_polars().equals(incast.flows.to_polars())
    assert back.ports.to_polars().equals(incast.ports.to_polars())
    assert set(back.series) == {"bottleneck", "goodput"}
    series = back.series["bottleneck"]
    assert (series.kind, series.unit, series.column) == ("queue", "bytes", "queue_bytes")
    assert series.to_polars().equals(incast.series["bottleneck"].to_polars())
    assert back.scenario.to_toml() == incast.scenario.to_toml()
    assert back.drops == []
    with pytest.raises(rocelab.ResultError, match="already") as caught:
        back.save(tmp_path / "a")
    assert caught.value.hint
    assert "force=True" in caught.value.hint


@pytest.mark.parametrize("mask", [0o022, 0o027])
def test_who_may_read_a_result_is_as_the_umask_says(
    incast: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: int
) -> None:
    def change(_: int) -> int:
        pytest.fail("other threads would make files under this mask")

    before = os.umask(mask)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", change)
            saved = incast.save(tmp_path / "saved")
    finally:
        os.umask(before)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o777 & ~mask
    assert stat.S_IMODE((saved / "series").stat().st_mode) == 0o777 & ~mask


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_wait_until_a_result_is_saved(
    incast: rocelab.Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
) -> None:
    class HeardError(Exception):
        pass

    def hear(*_: object) -> None:
        raise HeardError

    def write(path: Path, data: bytes) -> None:
        for _ in range(2):
            signal.raise_signal(number)
        plain_write(path, data)

    plain_write = files.write
    monkeypatch.setattr(write_module, "write", write)
    before = signal.signal(number, hear)
    try:
        with pytest.raises(HeardError):
            incast.save(tmp_path / "saved")
        assert signal.getsignal(number) is hear
    finally:
        signal.signal(number, before)
    assert rocelab.open(tmp_path / "saved").flows.to_polars().equals(incast.flows.to_polars())
    assert [entry.name for entry in tmp_path.iterdir()] == ["saved"]


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))],  # noqa: S301 - its own
    ids=["copy", "pickle"],
)
def test_scenarios_and_results_are_copied(
    incast: rocelab.Result, incast_file: Path, tmp_path: Path, copied: Callable[[Any], Any]
) -> None:
    scenario = rocelab.load(incast_file, set={"run.seed": 7})
    again = copied(scenario)
    assert (again, again.name) == (scenario, "incast")
    # Another scheme leaves the parameters of the first behind.
    assert again.with_settings(scheme__name="hpcc") == scenario.with_settings(scheme__name="hpcc")
    incast.save(tmp_path / "saved")
    for result in (rocelab.run(scenario), rocelab.open(tmp_path / "saved")):
        other = copied(result)
        assert other.summary == result.summary
        assert other.scenario == result.scenario
        assert other.directory == result.directory
        assert other.flows.to_polars().equals(result.flows.to_polars())
        assert pl.DataFrame(other.ports).equals(result.ports.to_polars())
        series = other.series["bottleneck"]
        assert (series.kind, series.unit, series.column) == ("queue", "bytes", "queue_bytes")
        assert series.to_polars().equals(result.series["bottleneck"].to_polars())
        assert rocelab.open(other.save(tmp_path / "copy", force=True)).drops == result.drops


def test_a_scenario_without_its_messages_draws_them_again(incast_file: Path) -> None:
    whole = rocelab.load(incast_file, set={"run.seed": 7})
    light = compact(whole)
    assert (light, light.name, light.tags) == (whole, "incast", whole.tags)
    assert light.plan().to_dict() == whole.plan().to_dict()
    runs = [rocelab.run(one).flows.to_polars() for one in (light, whole)]
    assert runs[0].equals(runs[1])
    assert light.with_settings(scheme__name="hpcc") == whole.with_settings(scheme__name="hpcc")
    for copied in (compact(light), pickle.loads(pickle.dumps(light))):  # noqa: S301 - its own
        assert copied == whole


def test_a_scenario_without_its_messages_keeps_what_files_said(tmp_path: Path) -> None:
    """Its result would be kept as that of the file as it was."""
    flows = tmp_path / "flows.csv"
    flows.write_text("src,dst,size\nh0,h1,1KB\n")
    star = INCAST.partition("[[traffic]]")[0]
    text = f'{star}[[traffic]]\nkind = "flows"\nflows_file = "flows.csv"\n'
    light = compact(rocelab.Scenario.from_toml(text, origin=tmp_path / "s.toml"))
    flows.write_text("src,dst,size\nh0,h1,2KB\n")
    result = rocelab.run(light)
    assert result.flows["size_bytes"].to_list() == [1000]
    assert result.scenario_toml == light.to_toml()
    flows.unlink()
    assert rocelab.run(light).summary.digest == result.summary.digest


def test_a_scenario_brings_the_files_that_it_names(tmp_path: Path) -> None:
    """Where it is unpickled they may be missing, or have changed since it was read."""
    flows = tmp_path / "flows.csv"
    flows.write_text("src,dst,size\nh0,h1,1KB\n")
    star = INCAST.partition("[[traffic]]")[0]
    text = f'{star}[[traffic]]\nkind = "flows"\nflows_file = "flows.csv"\n'
    scenario = rocelab.Scenario.from_toml(text, origin=tmp_path / "s.toml")
    pickled = [pickle.dumps(one) for one in (scenario, compact(scenario))]
    before = scenario.with_settings(scheme__name="hpcc").to_toml()
    for change in (lambda: flows.write_text("src,dst,size\nh0,h1,2KB\n"), flows.unlink):
        change()
        for one in (scenario, *map(pickle.loads, pickled)):
            assert one.to_toml() == scenario.to_toml()
            # Settings change what was given, which still names the file.
            assert one.with_settings(scheme__name="hpcc").to_toml() == before
        with pytest.raises(rocelab.ConfigError, match=r"cannot read .*other\.csv"):
            scenario.with_settings(traffic__0__flows_file="other.csv")


def test_other_processes_run_scenarios() -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    seeds = [scenario.with_settings(run__seed=seed) for seed in (1, 2)]
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawning) as pool:
        results = list(pool.map(rocelab.run, seeds))
        refused = pool.submit(scenario.with_settings, run__sede=3).exception()
    assert [result.summary["seed"] for result in results] == [1, 2]
    assert isinstance(refused, rocelab.ConfigError)
    assert refused.key == "run.sede"


def test_catalogues_agree_with_each_other() -> None:
    names = [scheme.name for scheme in rocelab.schemes()]
    assert {"none", "dcqcn", "hpcc"} <= set(names)
    assert {"star", "fat-tree"} <= {kind.name for kind in rocelab.topologies()}
    assert len(rocelab.workloads()) >= 10
    assert rocelab.schema()["type"] == "object"


def test_import_is_light() -> None:
    script = (
        "import sys, rocelab\n"
        "print({'polars', 'matplotlib', 'rich', 'typer', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_the_package_imports_what_it_is_asked_for() -> None:
    script = (
        "import sys, rocelab, rocelab.cli\n"
        "print(sorted(name for name in sys.modules if name.startswith('rocelab')))\n"
        "print(sorted(set(rocelab.__all__) - set(dir(rocelab))))\n"
        "print(rocelab.plot.fct.__module__, rocelab.open.__name__, rocelab.__version__ != '')\n"
        "print(all(getattr(rocelab, name) is not None for name in rocelab.__all__))\n"
        "from rocelab import *\n"
        "print(open is rocelab.open)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "['rocelab', 'rocelab.cli', 'rocelab.errors']",
        "[]",
        "rocelab.plot.slowdown open_result True",
        "True",
        "True",
    ]
    assert set(rocelab._HOMES) == set(rocelab.__all__)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"rocelab\.MemoryShortage is called MemoryWarning"):
        rocelab.MemoryShortage  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="module 'rocelab' has no attribute 'simulat'"):
        rocelab.simulat  # type: ignore[attr-defined]  # noqa: B018


values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), values, max_size=5))
def test_plain_data_is_taken_as_it_is(data: dict[str, object]) -> None:
    assert plain(data, "") == data
    assert tomllib.loads(f"data = {setting(data, 'data')}") == {"data": data}


def test_a_scenario_keeps_the_data_that_it_was_given() -> None:
    topology = {**TOPOLOGY}
    scenario = rocelab.Scenario(topology=topology, run={"stop": "1us"})
    before = scenario.to_toml()
    topology["hosts"] = 2
    assert scenario.to_toml() == before
    # What was given is read again where keys change, and where it is unpickled.
    again = pickle.loads(pickle.dumps(scenario))  # noqa: S301 - our own
    assert again.with_settings(run__seed=2) == scenario.with_settings(run__seed=2)
    assert again.to_toml() == before


def test_data_without_an_end_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(rocelab.ConfigError, match=r"^traffic: is nested too deeply"):
        rocelab.Scenario(topology=TOPOLOGY, traffic=loop)  # type: ignore[arg-type]
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(rocelab.ConfigError, match=r"^topology\.hosts: needs a whole number"):
        rocelab.Scenario(topology={**TOPOLOGY, "hosts": deep}, run={"stop": "1us"})


def test_errors_in_data_name_no_line() -> None:
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.Scenario(topology={**TOPOLOGY, "hosts": "x"}, run={"sed": 1}, pfc={"xoff": 1})
    errors = [caught.value, *caught.value.others]
    assert {one.key for one in errors} == {"topology.hosts", "run.sed", "pfc.xoff"}
    assert {one.line for one in errors} == {None}


def test_a_description_may_have_lines_that_look_like_tables(
    incast: rocelab.Result, tmp_path: Path
) -> None:
    described = incast.scenario.with_settings(
        description='Lines:\n[[probe]]\nname = "x"\n[[failure]]\n'
    )
    result = rocelab.run(described)
    opened = rocelab.open(result.save(tmp_path / "saved"))
    assert list(opened.series) == list(incast.series)
    for one in (result, opened):
        assert one.plot.queue().axes[0].lines


@pytest.mark.parametrize(
    ("module", "function"), [("report", "write_report"), ("view", "write_view"), ("plot", "fct")]
)
def test_modules_are_there_after_the_package_is_imported(module: str, function: str) -> None:
    """And are loaded where they are asked for: the command is to start fast."""
    code = (
        "import sys, rocelab; "
        f"assert 'rocelab.{module}' not in sys.modules; "
        f"assert callable(rocelab.{module}.{function}); "
        f"assert '{module}' in dir(rocelab)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
