"""``rocelab hpcc``: the HPCC simulator's files in and out."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import rocelab
from conftest import Command, wait_until_running
from hpcc_small import CONFIG, INPUTS, LONE, OUTPUTS, TOPOLOGY, files, write_case
from rocelab.cli.app import app
from rocelab.errors import ConfigError
from rocelab.hpcc.experiment import Experiment
from rocelab.io.locks import locked


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A folder with an experiment, to be run in it."""
    return write_case(tmp_path / "case")


def test_what_a_killed_run_left_is_removed(command: Command, case: Path) -> None:
    (case / "out").mkdir()
    left = ("fct.txt.123-0.partial", ".fct.txt.rocelab-lock")
    for name in (*left, "pfc.txt.123-1.partial"):
        (case / "out" / name).write_text("2 ")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        f"{case / 'out' / 'fct.txt'}: removed {left[0]}, which a killed process had left\n"
    )
    for name in left:
        (case / "out" / name).write_text("2 ")
    assert command("hpcc", "config.txt", "--quiet", cwd=case).stderr == ""
    # Without a lock file the process may still live.
    assert files(case / "out") == OUTPUTS | {"pfc.txt.123-1.partial"}


def test_files_in_files_out(command: Command, case: Path) -> None:
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 0, done.stderr
    assert "4 of 4 done" in done.stdout
    assert "out/fct.txt" in done.stdout
    assert files(case) == INPUTS | {f"out/{name}" for name in OUTPUTS}
    rows = [line.split() for line in (case / "out/fct.txt").read_text().splitlines()]
    assert {int(row[4]): int(row[6]) for row in rows} == LONE
    assert (case / "out/pfc.txt").read_text() == ""


def test_files_go_where_they_are_told_to(command: Command, case: Path, tmp_path: Path) -> None:
    done = command("hpcc", "config.txt", "--out", tmp_path / "else", "--quiet", cwd=case)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert files(case) == INPUTS
    assert files(tmp_path / "else") == OUTPUTS


def test_the_printed_scenario_gives_the_same_run(
    command: Command, case: Path, tmp_path: Path
) -> None:
    printed = command("hpcc", "config.txt", "--print-scenario", cwd=case)
    assert printed.returncode == 0, printed.stderr
    assert files(case) == INPUTS, "nothing was run"
    scenario = tmp_path / "same.toml"
    scenario.write_text(printed.stdout, encoding="utf-8")
    there = command("hpcc", "config.txt", "--json", "--quiet", cwd=case)
    here = command("run", scenario, "--out", tmp_path / "out", "--json", "--quiet")
    assert (there.returncode, here.returncode) == (0, 0), there.stderr + here.stderr
    summaries = [json.loads(done.stdout) for done in (there, here)]
    assert summaries[0]["digest"] == summaries[1]["digest"]
    assert summaries[0]["scheme"] == "hpcc"
    assert summaries[0]["preset"] == "hpcc-ns3"
    assert summaries[0]["flows_done"] == len(LONE)


def test_settings_and_threads(command: Command, case: Path) -> None:
    def summary(*arguments: str) -> dict[str, object]:
        done = command("hpcc", "config.txt", "--json", "--quiet", *arguments, cwd=case)
        assert done.returncode == 0, done.stderr
        told: dict[str, object] = json.loads(done.stdout)
        return told

    plain = summary()
    assert summary("--threads", "2")["digest"] == plain["digest"]
    exact = summary("--set", "quirks.whole_nanoseconds=false")
    assert exact["digest"] != plain["digest"]


def test_quirks_of_a_scan_go_with_it(command: Command, case: Path) -> None:
    off = [("--set", f"quirks.{key}=false") for key in ("scan_queue_pairs", "missed_wakeup")]
    done = command("hpcc", "config.txt", "--quiet", *itertools.chain(*off), cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: quirks.stale_scan_index: goes with scan_queue_pairs = true")
    assert hint.startswith("hint: turn quirks.scan_queue_pairs on")
    off.append(("--set", "quirks.stale_scan_index=false"))
    done = command("hpcc", "config.txt", *itertools.chain(*off), cwd=case)
    assert done.returncode == 0, done.stderr


def test_a_scheme_that_is_set_replaces_the_law(command: Command, case: Path) -> None:
    set_ = ("--set", "scheme=dcqcn")
    done = command("hpcc", "config.txt", *set_, "--json", cwd=case)
    assert done.returncode == 0, done.stderr
    assert "warning: scheme dcqcn is set: its parameters are those of preset" in done.stderr
    summary = json.loads(done.stdout)
    assert (summary["scheme"], summary["warnings"]) == ("dcqcn", [])
    printed = command("hpcc", "config.txt", *set_, "--print-scenario", "-q", cwd=case)
    ecn = printed.stdout[printed.stdout.index("[ecn]") :]
    assert ecn.splitlines()[1:3] == ["enabled = true", 'kmin = "400KB"'], "KMIN_MAP"
    off = command("hpcc", "config.txt", *set_, "--set", "ecn.enabled=false", cwd=case)
    assert off.returncode == 0, off.stderr
    (told,) = [line for line in off.stderr.splitlines() if "ecn.enabled" in line]
    assert told.startswith('warning: scheme.name = "dcqcn" reacts to ECN marks')


def test_a_rate_without_a_code_is_told_unless_int_is_exact(command: Command, case: Path) -> None:
    slow = TOPOLOGY.replace("100Gbps", "10Gbps")
    (case / "topology.txt").write_text(slow, encoding="ascii")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 0, done.stderr
    assert "CC_MODE 3 has no code for 10Gbps" in done.stderr
    setting = re.search(r"--set (scheme\S+)", done.stderr)
    assert setting is not None
    done = command("hpcc", "config.txt", "--set", setting[1], cwd=case)
    assert (done.returncode, "no code" in done.stderr) == (0, False), done.stderr


def test_a_setting_that_is_no_text_is_refused(command: Command, case: Path) -> None:
    done = command("hpcc", "config.txt", "--set", "scheme=\udcff", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in done.stderr


def test_oddities_are_told_unless_quiet(command: Command, case: Path) -> None:
    with (case / "config.txt").open("a", encoding="ascii") as config:
        config.write("NO_SUCH_KEY 1\n")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^warning: .*NO_SUCH_KEY", done.stderr, re.MULTILINE)
    assert command("hpcc", "config.txt", "--quiet", cwd=case).stderr == ""


def test_oddities_are_told_of_what_is_refused(command: Command, case: Path) -> None:
    text = CONFIG.replace("CC_MODE 3", "CC_MODE 1").replace("RP_TIMER", "RP_TIMR")
    (case / "config.txt").write_text(text)
    line = 1 + text.splitlines().index("RP_TIMR 300")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 2
    warning, error, hint = done.stderr.splitlines()
    told = f'warning: config.txt:{line}: "RP_TIMR" is not a key: skipped; did you mean RP_TIMER?'
    assert warning == told
    assert error == f"error: config.txt:{line}: RP_TIMER is missing, and CC_MODE 1 needs it"
    assert hint.startswith('hint: "RP_TIMR" is not a key; did you mean RP_TIMER?')
    assert command("hpcc", "config.txt", "-q", cwd=case).stderr.splitlines() == [error, hint]


def test_warnings_of_the_run_are_told_unless_quiet(command: Command, case: Path) -> None:
    # Both senders at once, and no room for what is on its way when PFC pauses them.
    (case / "flow.txt").write_text("2\n0 2 3 100 500000 2.0\n1 2 3 100 500000 2.0\n")
    lossy = ("--set", "pfc.headroom=0B", "--set", "switch.buffer=100KB")
    done = command("hpcc", "config.txt", *lossy, "--json", cwd=case)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["lossless_drops"] > 0
    assert summary["warnings"]
    assert set(summary["warnings"]) <= {
        line.removeprefix("warning: ") for line in done.stderr.splitlines()
    }
    assert command("hpcc", "config.txt", *lossy, "--quiet", cwd=case).stderr == ""


@pytest.mark.parametrize(
    ("file", "old", "new", "place"),
    [
        ("config.txt", "CC_MODE 3", "CC_MODE three", "config.txt:12"),
        (
            "config.txt",
            "TOPOLOGY_FILE topology.txt",
            "TOPOLOGY_FILE none.txt",
            "config.txt:1: TOPOLOGY_FILE: cannot read none.txt",
        ),
        ("topology.txt", "100Gbps", "100Quarks", "topology.txt:3"),
        ("topology.txt", "0 3 100Gbps", "7 3 100Gbps", "topology.txt:3"),
        ("topology.txt", "6 3 5", "6 3 9", "topology.txt"),
        ("flow.txt", "0 2 3 100 500", "0 9 3 100 500", "flow.txt:3"),
        ("flow.txt", "0 2 3 100 500", "0 2 3 100 minus", "flow.txt:3"),
    ],
)
def test_bad_input_is_a_line_and_writes_nothing(
    command: Command, case: Path, file: str, old: str, new: str, place: str
) -> None:
    text = (case / file).read_text(encoding="ascii")
    assert old in text
    (case / file).write_text(text.replace(old, new, 1), encoding="ascii")
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert done.returncode == 2
    assert done.stdout == ""
    first, *rest = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert place in first
    assert len(rest) <= 1
    assert all(line.startswith("hint: ") for line in rest)
    assert files(case) == INPUTS


def test_values_that_no_scenario_may_have_name_the_configuration(
    command: Command, case: Path
) -> None:
    text = CONFIG.replace("CC_MODE 3", "CC_MODE 1")
    (case / "config.txt").write_text(text)
    setting = ("--set", "scheme.params.rate_ai=200Gbps")
    done = command("hpcc", "config.txt", "--quiet", *setting, cwd=case)
    assert done.returncode == 2
    assert done.stderr.startswith("error: scheme.params.rate_ai: 200Gbps is out of range")
    (case / "config.txt").write_text(text.replace("RATE_AI 50Mb/s", "RATE_AI 200Gb/s"))
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert done.returncode == 2
    line = 1 + text.splitlines().index("RATE_AI 50Mb/s")
    assert done.stderr.startswith(f"error: config.txt:{line}: RATE_AI: 200Gbps is out of range")
    assert files(case) == INPUTS


@pytest.mark.parametrize(
    ("file", "old", "new", "error"),
    [
        (
            "config.txt",
            "INTERVAL 1\nRATE_DECREASE",
            "INTERVAL 200000\nRATE_DECREASE",
            "config.txt:14: ALPHA_RESUME_INTERVAL: 200ms is out",
        ),
        (
            "topology.txt",
            "1 3 100Gbps 1500ns",
            "1 3 100Gbps 0ns",
            "topology.txt:4: a delay of 0 ns",
        ),
    ],
)
def test_what_the_scenario_refuses_is_said_of_the_files(
    command: Command, case: Path, file: str, old: str, new: str, error: str
) -> None:
    config = CONFIG.replace("CC_MODE 3", "CC_MODE 1")
    # The mark that some editors put in front.
    (case / "config.txt").write_text(config, encoding="utf-8-sig")
    text = (case / file).read_text(encoding="utf-8")
    assert old in text
    (case / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {error}")
    assert files(case) == INPUTS


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        # The configuration has LINK_DOWN, which is fine; the setting makes a failure of no link.
        ("failure.0.at=2s", "failure.0.link: is missing"),
        # Its BUFFER_SIZE is fine, too.
        ("switch.buffer=1KB", "pfc.resume_offset: 3072B is more than"),
    ],
)
def test_what_a_setting_makes_wrong_is_not_said_of_the_files(
    command: Command, case: Path, setting: str, error: str
) -> None:
    with (case / "config.txt").open("a") as config:
        config.write("LINK_DOWN 0 0 0\n")
    done = command("hpcc", "config.txt", "--quiet", "--set", setting, cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {error}")
    # What the files alone have wrong is said of them, whatever is set.
    (case / "config.txt").write_text(CONFIG.replace("MIN_RATE 1000Mb/s\n", "MIN_RATE 100\n"))
    done = command("hpcc", "config.txt", "--quiet", "--set", setting, cwd=case)
    assert done.stderr.startswith("error: config.txt:21: MIN_RATE: 100bps is out of range")


def test_what_building_the_network_finds_is_said_of_the_files(command: Command, case: Path) -> None:
    # A chain of more switches than HPCC has room for in its packets.
    switches = range(2, 42)
    links = [(0, 2), *itertools.pairwise(switches), (41, 1)]
    lines = ["42 40 41", " ".join(map(str, switches))]
    lines += [f"{a} {b} 100Gbps 1500ns 0" for a, b in links]
    (case / "topology.txt").write_text("\n".join(lines) + "\n")
    (case / "flow.txt").write_text("1\n0 1 3 100 1000 2.0\n")
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: config.txt:1: TOPOLOGY_FILE: paths have up to 40 switches"
    )
    done = command("hpcc", "config.txt", "--quiet", "--threads", "0", cwd=case)
    assert done.stderr.startswith("error: threads: must be 1 or more")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("RP_TIMER 300\n", "", "RP_TIMER"),
        ("KMAX_MAP 1 100000000000", "KMAX_MAP 1 25000000000", "KMAX_MAP"),
    ],
)
def test_what_dcqcn_needs_must_be_there(
    command: Command, case: Path, old: str, new: str, key: str
) -> None:
    text = CONFIG.replace("CC_MODE 3", "CC_MODE 1")
    (case / "config.txt").write_text(text, encoding="ascii")
    done = command("hpcc", "config.txt", "--print-scenario", cwd=case)
    assert done.returncode == 0, done.stderr
    assert old in text
    (case / "config.txt").write_text(text.replace(old, new), encoding="ascii")
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    first, *rest = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert key in first
    assert all(line.startswith("hint: ") for line in rest)
    assert files(case) == INPUTS


def test_a_configuration_that_is_not_there(command: Command, tmp_path: Path) -> None:
    done = command("hpcc", "nothing.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: nothing.txt")
    assert len(done.stderr.splitlines()) == 1


def test_a_file_beside_the_configuration_is_pointed_to(
    command: Command, case: Path, tmp_path: Path
) -> None:
    done = command("hpcc", "case/config.txt", cwd=tmp_path)
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith(
        "error: case/config.txt:1: TOPOLOGY_FILE: cannot read topology.txt: No such file"
    )
    assert hint.startswith("hint: names are relative to the working directory")
    assert hint.endswith("case/topology.txt")
    (case / "config.txt").write_text(CONFIG.replace("FILE topology.txt", "FILE mix/topology.txt"))
    error, *rest = command("hpcc", "config.txt", cwd=case).stderr.splitlines()
    assert error.startswith("error: config.txt:1: TOPOLOGY_FILE: cannot read mix/topology.txt: ")
    assert rest == [hint.replace("case/", "")]


def test_files_that_cannot_be_written(command: Command, case: Path) -> None:
    (case / "out").write_text("in the way", encoding="ascii")
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert (case / "out").read_text() == "in the way"


ENDLESS = {
    "flow": "1\n0 2 3 100 90000000000 2.0\n",
    "config": CONFIG.replace("SIMULATOR_STOP_TIME 2.05", "SIMULATOR_STOP_TIME 120"),
}
"""A run that takes longer than a command may."""


@pytest.mark.parametrize(
    ("setting", "out", "words"),
    [
        ("FCT_OUTPUT_FILE out/fct.txt", "there", "there/fct.txt: "),
        ("FCT_OUTPUT_FILE out/fct.txt", "there/deep", "there/deep/fct.txt: "),
        ("PFC_OUTPUT_FILE there/pfc.txt", None, "there/pfc.txt: "),
        ("QLEN_MON_FILE /proc/rocelab/qlen.txt", None, "/proc/rocelab/qlen.txt: "),
        ("FCT_OUTPUT_FILE folder", None, "folder: is a directory"),
        ("TRACE_OUTPUT_FILE folder", None, "folder: is a directory"),
    ],
)
def test_files_that_cannot_be_written_are_known_before_the_run(
    command: Command, case: Path, setting: str, out: str | None, words: str
) -> None:
    (case / "flow.txt").write_text(ENDLESS["flow"])
    (case / "config.txt").write_text(f"{ENDLESS['config']}{setting}\nTRACE_FILE flow.txt\n")
    (case / "there").write_text("in the way")
    (case / "folder").mkdir()
    before = sorted(case.rglob("*"))
    place = ["--out", out] if out else ["--trust-paths"]
    done = command("hpcc", "config.txt", "--quiet", *place, cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    (error,) = done.stderr.splitlines()
    assert error.startswith(f"error: {words}")
    assert sorted(case.rglob("*")) == before


@pytest.mark.parametrize(
    ("setting", "out", "words"),
    [
        (
            "FCT_OUTPUT_FILE flow.txt",
            None,
            "FCT_OUTPUT_FILE would replace flow.txt, which is FLOW_",
        ),
        (
            "PFC_OUTPUT_FILE config.txt",
            None,
            "PFC_OUTPUT_FILE would replace config.txt, which is t",
        ),
        (
            "FCT_OUTPUT_FILE out/flow.txt",
            ".",
            "FCT_OUTPUT_FILE would replace flow.txt, which is FL",
        ),
    ],
)
def test_no_file_takes_the_place_of_one_that_is_read(
    command: Command, case: Path, setting: str, out: str | None, words: str
) -> None:
    with (case / "config.txt").open("a") as config:
        config.write(f"{setting}\n")
    before = {path: path.read_bytes() for path in case.iterdir()}
    done = command("hpcc", "config.txt", "--quiet", *(["--out", out] if out else []), cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    line = len(CONFIG.splitlines()) + 1
    assert done.stderr.startswith(f"error: config.txt:{line}: {words}")
    assert {path: path.read_bytes() for path in case.iterdir()} == before


def test_a_pipe_is_written_to_and_a_link_followed(command: Command, case: Path) -> None:
    os.mkfifo(case / "pipe")
    (case / "folder").mkdir()
    (case / "folder" / "target").write_text("old")
    (case / "link").symlink_to("folder/target")
    with (case / "config.txt").open("a") as config:
        config.write("FCT_OUTPUT_FILE pipe\nPFC_OUTPUT_FILE link\n")
    with subprocess.Popen(
        ["/bin/cat", "pipe"], cwd=case, stdout=subprocess.PIPE, text=True
    ) as reader:
        done = command("hpcc", "config.txt", "--quiet", cwd=case)
        told, _ = reader.communicate(timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(told.splitlines()) > 0
    assert (case / "pipe").is_fifo()
    assert (case / "link").is_symlink()
    assert (case / "folder" / "target").read_text() != "old"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("{outside}/fct.txt", "is {outside}/fct.txt: outside of the working directory"),
        ("../outside/fct.txt", "is ../outside/fct.txt: outside of the working directory"),
        ("out/../../outside/fct.txt", "is out/../../outside/fct.txt: outside"),
        ("link/fct.txt", "is link/fct.txt, which leads to {outside}/fct.txt: outside"),
        ("file", "is file, which leads to {outside}/fct.txt: outside"),
    ],
)
@pytest.mark.parametrize("key", ["FCT_OUTPUT_FILE", "QLEN_MON_FILE", "TRACE_OUTPUT_FILE"])
def test_files_outside_of_the_directory_are_written_for_who_trusts_the_file_alone(
    command: Command, case: Path, name: str, words: str, key: str
) -> None:
    outside = case.parent / "outside"
    outside.mkdir()
    (outside / "fct.txt").write_text("mine")
    (case / "link").symlink_to(outside)
    (case / "file").symlink_to(outside / "fct.txt")
    with (case / "config.txt").open("a") as config:
        config.write(f"{key} {name.format(outside=outside)}\n")
    before = files(case)
    line = len((case / "config.txt").read_text().splitlines())
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith(f"error: config.txt:{line}: {key} {words.format(outside=outside)}")
    assert "--out DIR" in hint
    assert "--trust-paths" in hint
    assert files(case) == before
    assert (outside / "fct.txt").read_text() == "mine"
    experiment = Experiment(case / "config.txt", case)
    with pytest.raises(ConfigError, match=f"{key} is"):
        experiment.run()
    assert (outside / "fct.txt").read_text() == "mine"
    done = command("hpcc", "config.txt", "--quiet", "--trust-paths", cwd=case)
    assert (done.returncode, done.stderr) == (0, "")
    assert (outside / "fct.txt").read_bytes() != b"mine"


def test_errors_name_lines_of_the_file_that_was_read(
    case: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where somebody edits the configuration meanwhile."""
    monkeypatch.chdir(case)
    text = (case / "config.txt").read_text() + "FCT_OUTPUT_FILE ../fct.txt\n"
    (case / "config.txt").write_text(text)
    experiment = Experiment("config.txt")
    (case / "config.txt").write_text(f"\n\n{text}")
    with pytest.raises(ConfigError, match="outside of the working directory") as caught:
        experiment.run()
    assert caught.value.line == len(text.splitlines())


def test_a_configuration_from_a_pipe_is_checked_too(command: Command, case: Path) -> None:
    text = (case / "config.txt").read_text()
    done = command("hpcc", "/dev/stdin", "--quiet", cwd=case, input=text)
    assert (done.returncode, done.stderr) == (0, "")
    outside = case.parent / "outside.txt"
    bad = f"{text}FCT_OUTPUT_FILE {outside}\n"
    done = command("hpcc", "/dev/stdin", "--quiet", cwd=case, input=bad)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"FCT_OUTPUT_FILE is {outside}: outside of the working directory" in done.stderr
    assert not outside.exists()


@pytest.mark.parametrize("name", ["config.txt", "topology.txt", "flow.txt"])
def test_a_pipe_in_place_of_an_input_is_refused_at_once(
    command: Command, case: Path, name: str
) -> None:
    (case / name).unlink()
    os.mkfifo(case / name)
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    (error,) = done.stderr.splitlines()
    assert error.startswith("error: config.txt")
    assert error.endswith("it is not a regular file")


def test_the_warning_of_drops_says_where_they_were(command: Command, case: Path) -> None:
    """It names no file of drops, as there is none."""
    hosts, leaves, spines = range(144), range(144, 153), range(153, 157)
    links = [f"{host} {144 + host // 16} 10Gbps 1us 0\n" for host in hosts]
    links += [f"{leaf} {spine} 40Gbps 1us 0\n" for leaf in leaves for spine in spines]
    switches = " ".join(map(str, (*leaves, *spines)))
    (case / "topology.txt").write_text(f"157 13 {len(links)}\n{switches}\n{''.join(links)}")
    flows = [f"{source} 0 3 100 80000 2.0\n" for _ in range(2) for source in hosts[1:]]
    (case / "flow.txt").write_text(f"{len(flows)}\n{''.join(flows)}")
    with (case / "config.txt").open("a") as config:
        config.write("CC_MODE 12\nHAS_WIN 0\nVAR_WIN 0\nBUFFER_SIZE 2\n")
    done = command("hpcc", "config.txt", cwd=case)
    assert done.returncode == 0, done.stderr
    (warning,) = (line for line in done.stderr.splitlines() if "did not protect" in line)
    place = r"packets of lossless classes were dropped, the first at n\d+ at [\d.]+ us: "
    assert re.search(place, warning)
    assert "see drops" not in done.stderr + done.stdout


def test_no_file_takes_the_place_of_another(command: Command, case: Path) -> None:
    names = "FCT_OUTPUT_FILE fct/run1.txt\nPFC_OUTPUT_FILE pfc/run1.txt\n"
    with (case / "config.txt").open("a") as config:
        config.write(names)
    done = command("hpcc", "config.txt", "--quiet", "--out", "else", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error == (
        f"error: config.txt:{len(CONFIG.splitlines()) + 2}: "
        "FCT_OUTPUT_FILE and PFC_OUTPUT_FILE would both be else/run1.txt"
    )
    assert hint.startswith("hint: give them other names; or leave out --out")
    assert files(case) == INPUTS
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert done.returncode == 0, done.stderr
    assert files(case) == INPUTS | {"fct/run1.txt", "pfc/run1.txt", "out/qlen.txt", "out/mix.tr"}


@pytest.mark.parametrize(
    "key", ["traffic", "traffic.0.flows", "topology", "topology.links.0.rate", "trace.pfc"]
)
def test_nodes_and_flows_are_those_of_the_files(command: Command, case: Path, key: str) -> None:
    done = command("hpcc", "config.txt", "--quiet", "--set", f"{key}=[]", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    file = {"traffic": "FLOW_FILE", "topology": "TOPOLOGY_FILE", "trace": "TRACE_FILE"}[
        key.split(".")[0]
    ]
    assert error.startswith(f"error: {key}: comes from the file that {file} names")
    assert hint.startswith("hint: change that file")
    assert files(case) == INPUTS


def test_ctrl_c_leaves_a_partial_result(case: Path) -> None:
    (case / "flow.txt").write_text("1\n0 2 3 100 90000000000 2.0\n", encoding="ascii")
    config = CONFIG.replace("SIMULATOR_STOP_TIME 2.05", "SIMULATOR_STOP_TIME 12")
    (case / "config.txt").write_text(config, encoding="ascii")
    running = subprocess.Popen(
        [sys.executable, "-m", "rocelab", "hpcc", "config.txt"],
        cwd=case,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until_running(running)
    for _ in range(2):
        running.send_signal(signal.SIGINT)
        time.sleep(0.05)
    stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 130, stderr
    assert stderr.splitlines()[-1] == b"interrupted: the files hold a partial result"
    assert b"Traceback" not in stderr
    assert re.search(
        rb"^  files +out/fct.txt  out/pfc.txt  out/qlen.txt  out/mix.tr$", stdout, re.MULTILINE
    )
    assert (case / "out/fct.txt").read_text() == ""


def test_ctrl_c_while_another_process_writes_the_files(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The result is not lost, and nobody says that there are files."""

    def interrupt(_seconds: float) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.chdir(case)
    monkeypatch.setattr("rocelab.io.locks.time.sleep", interrupt)
    (case / "out").mkdir()
    terminate = signal.getsignal(signal.SIGTERM)
    with locked(case / "out/fct.txt"):
        with pytest.raises(rocelab.Interrupted) as caught:
            Experiment("config.txt").run()
        assert caught.value.files == []
        assert caught.value.result.summary.flows_done == len(LONE)
        with pytest.raises(SystemExit) as ended:
            app(["hpcc", "config.txt"])
    # The command leaves them ignored.
    signal.signal(signal.SIGTERM, terminate)
    assert ended.value.code == 130
    out, err = capsys.readouterr()
    assert err.splitlines()[-1] == "interrupted: no files were written of the whole result"
    assert re.search("^  files +none$", out, re.MULTILINE)
    assert files(case) == INPUTS


def test_print_scenario_runs_nothing_and_takes_no_options_of_runs(
    command: Command, case: Path
) -> None:
    for option in (("--out", "there"), ("--threads", "1"), ("--json",)):
        done = command("hpcc", "config.txt", "--print-scenario", *option, cwd=case)
        told = f"error: --print-scenario and {option[0]}: choose one\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    before = sorted(case.rglob("*"))
    done = command("hpcc", "config.txt", "--print-scenario", cwd=case)
    assert done.returncode == 0, done.stderr
    assert tomllib.loads(done.stdout)["topology"]
    assert sorted(case.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "told"), [("fct\0.txt", "config.txt:"), ("f" * 300, "File name too long")]
)
def test_names_that_no_file_has_are_refused(
    command: Command, case: Path, name: str, told: str
) -> None:
    with (case / "config.txt").open("a") as config:
        config.write(f"FCT_OUTPUT_FILE {name}\n")
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize(("key", "value"), [("kmin", "1KB"), ("kmax", "2MB"), ("pmax", "0.5")])
def test_thresholds_without_marks_are_told(
    command: Command, case: Path, key: str, value: str
) -> None:
    setting = ("--set", f"ecn.{key}={value}")
    told = f"warning: ecn.{key} has no effect: ecn.enabled is false"
    done = command("hpcc", "config.txt", *setting, cwd=case)
    assert done.returncode == 0, done.stderr
    assert told in done.stderr
    # What the warning says has switches mark by it.
    done = command("hpcc", "config.txt", *setting, "--set", "ecn.enabled=true", cwd=case)
    assert (done.returncode, "has no effect" in done.stderr) == (0, False), done.stderr
