"""Bad input: one clear line, exit code 2, nothing written."""

from __future__ import annotations

import errno
import json
import os
import pwd
import re
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command, reseal
from rocelab.cli.fct import fct
from rocelab.cli.plot import plot
from rocelab.errors import MAX_ERRORS
from rocelab.io import rename
from rocelab.io.save import check_result_directory
from rocelab.sweeps.cache import default_cache

STAR = '[topology]\nkind = "star"\nhosts = 4\nhost_rate = "100Gbps"\nhost_delay = "1us"\n'
TREE = (
    '[topology]\nkind = "fat-tree"\nk = {k}\nhost_rate = "100Gbps"\nhost_delay = "1us"\n'
    'rate = "100Gbps"\ndelay = "1us"\n'
)
CUSTOM = """\
[topology]
kind = "custom"
nodes = [
    {{ name = "a", kind = "host" }},
    {{ name = "b", kind = "host" }},
    {{ name = "{third}", kind = "switch" }},
]
links = [
    {{ a = "a", b = "s", rate = "100Gbps", delay = "{delay}" }},
    {more}
]
"""
LINK = '{ a = "b", b = "s", rate = "100Gbps", delay = "1us" },'


def flow(src: str = "h0", dst: str = "h1", size: str = "1KB") -> str:
    return (
        '[[traffic]]\nkind = "flows"\n'
        f'flows = [{{ src = "{src}", dst = "{dst}", size = "{size}" }}]\n'
    )


def poisson(sizes: str, load: str = "0.5") -> str:
    return f'[run]\nstop = "1ms"\n{STAR}[[traffic]]\nkind = "poisson"\n{sizes}\nload = {load}\n'


# What is wrong, the scenario, and words that the error must have.
BAD = [
    ("unknown key", STAR + "hostz = 3\n", ["topology.hostz", "unknown", "hint: ", "hosts"]),
    ("unknown table", STAR + "[topologie]\n", ["topologie", "topology"]),
    ("unknown kind", STAR.replace("star", "start"), ["topology.kind", "star"]),
    ("wrong unit", STAR.replace("100Gbps", "100us"), ["bad.toml:4", "topology.host_rate"]),
    ("bare number", STAR.replace('"100Gbps"', "100"), ["topology.host_rate", "unit"]),
    ("negative rate", STAR.replace("100Gbps", "-100Gbps"), ["topology.host_rate"]),
    ("zero rate", STAR.replace("100Gbps", "0Gbps"), ["topology.host_rate"]),
    ("disconnected", CUSTOM.format(third="s", delay="1us", more="") + flow("a", "b"), ["b"]),
    ("flow to itself", STAR + flow("h1", "h1"), ["h1", "itself"]),
    ("unknown host", STAR + flow("h1", "h9"), ["h9"]),
    ("load 0", poisson('workload = "WebSearch"', "0.0"), ["load", "0"]),
    ("load 2", poisson('workload = "WebSearch"', "2.0"), ["load", "2"]),
    ("odd k", TREE.format(k=7), ["bad.toml:3", "topology.k", "even", "7"]),
    ("truncated", INCAST[: INCAST.index("300KB")], ["bad.toml:"]),
    (
        "CDF not monotone",
        poisson("cdf = [[0, 0.0], [1000, 0.7], [2000, 0.6], [3000, 1.0]]"),
        ["cdf"],
    ),
    ("CDF without end", poisson("cdf = [[0, 0.0], [1000, 0.7]]"), ["cdf", "1"]),
    ("unknown workload", poisson('workload = "WebSerch"'), ["WebSerch", "WebSearch"]),
    ("workload file missing", poisson('workload_file = "none.csv"'), ["none.csv"]),
    ("2^63 bytes", STAR + flow(size="9223372036854775808B"), ["size"]),
    ("2^64 bytes", STAR + flow(size="18446744073709551616B"), ["size"]),
    ("empty message", STAR + flow(size="0B"), ["size"]),
    ("duplicate node", CUSTOM.format(third="a", delay="1us", more=LINK), ["a"]),
    ("zero delay", CUSTOM.format(third="s", delay="0us", more=LINK), ["delay", "hint: "]),
    ("unknown scheme", STAR + '[scheme]\nname = "vegas"\n', ["scheme.name", "vegas"]),
    ("unknown preset", STAR + '[scheme]\nname = "hpcc"\npreset = "x"\n', ["scheme.preset"]),
    (
        "unknown parameter",
        STAR + '[scheme]\nname = "hpcc"\nparams = { x = 1 }\n',
        ["scheme.params"],
    ),
    (
        "two schemes",
        STAR + flow() + '[[scheme]]\nname = "hpcc"\n[[scheme]]\nname = "dcqcn"\n',
        ["scheme"],
    ),
    ("negative seed", STAR + "[run]\nseed = -1\n", ["run.seed"]),
    ("no hosts", STAR.replace("hosts = 4", "hosts = 0"), ["topology.hosts"]),
    ("not text", "\0", ["bad.toml"]),
]


@pytest.mark.parametrize(("scenario", "words"), [case[1:] for case in BAD], ids=[c[0] for c in BAD])
def test_bad_scenario(command: Command, tmp_path: Path, scenario: str, words: list[str]) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(scenario, encoding="utf-8")
    done = command("run", path, "--out", tmp_path / "out")
    assert done.returncode == 2, done.stdout + done.stderr
    assert_one_error(done.stderr)
    assert done.stdout == ""
    assert [word for word in words if word not in done.stderr] == [], done.stderr
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bad.toml"]
    assert command("validate", path).returncode == 2


@pytest.mark.parametrize("what", ["run", "validate"])
@pytest.mark.parametrize(
    ("more", "line", "key", "words"),
    [
        ('[switch]\nbuffer = "120KB"\n', 10, "switch.buffer", "headroom and reserve"),
        (
            '[switch]\narchitecture = "cioq"\nlatency = "1ms"\ninput_queue = "1MB"\n',
            12,
            "switch.input_queue",
            "is too small for PFC",
        ),
        (
            '[scheme]\nname = "expresspass"\n[switch]\narchitecture = "cioq"\n',
            12,
            "switch.architecture",
            "CIOQ switches have no place",
        ),
    ],
)
def test_what_building_the_network_finds_is_said_of_the_line(
    command: Command, tmp_path: Path, what: str, more: str, line: int, key: str, words: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(STAR + flow() + more, encoding="utf-8")
    done = command(what, path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_error(done.stderr)
    assert done.stderr.startswith(f"error: {path}:{line}: {key}: ")
    assert words in done.stderr
    scenario = rocelab.load(path).to_dict()
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.run(rocelab.Scenario(**scenario))
    error = caught.value
    assert (error.file, error.line, error.key) == (None, None, key), "made by a program"


def test_a_link_is_not_repaired_before_it_is_empty(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(
        """\
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 1
host_rate = "100Gbps"
host_delay = "1us"
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "permutation"
size = "1MB"
[[failure]]
link = "leaf0:spine0"
at = "1us"
until = "1ms"
[[failure]]
link = "leaf0:spine0"
at = "2ms"
until = "2001us"
""",
        encoding="utf-8",
    )
    done = command("validate", path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {path}:20: failure.1.until: what was on the link between leaf0 and spine0 may "
        "arrive up to 1088ns after it fails\nhint: repair it later than that\n"
    )


def assert_one_error(stderr: str) -> None:
    lines = stderr.splitlines()
    assert lines, "no error"
    assert lines[0].startswith("error: ")
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("hint: ")), stderr


@pytest.mark.parametrize("name", ["validate", "plan", "run"])
def test_all_errors_of_a_scenario_are_printed(command: Command, tmp_path: Path, name: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(STAR + "[pfc]\nxof = '1MB'\n[ecn]\nkmin = 5\n" + flow("h7"), encoding="utf-8")
    done = command(name, path, "--set", "run.seed=x", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert [line for line in done.stderr.splitlines() if not line.startswith("hint: ")] == [
        f"error: {path}:7: pfc.xof: unknown key",
        f'error: {path}:9: ecn.kmin: a size needs its unit, in quotes, such as "320KB"; got 5',
        f"error: {path}:12: traffic.0.flows.0.src: unknown node `h7`",
        'error: --set run.seed=x: run.seed: needs a whole number, 0 or more, got "x"',
        "4 errors",
    ]
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_has_the_others() -> None:
    with pytest.raises(rocelab.ConfigError, match=r"(?s)hosts.*\n2 errors$") as caught:
        rocelab.Scenario(
            topology={"kind": "star", "hosts": "x", "host_rate": "1Gbps", "host_delay": 1},
            traffic=[],
        )
    error = caught.value
    keys = {error.key, *(one.key for one in error.others)}
    assert keys == {"topology.host_delay", "topology.hosts"}
    assert error.line is None
    assert not error.others[0].others


def test_the_first_errors_are_printed_of_many(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("".join(f"k{number} = 1\n" for number in range(50)) + STAR, encoding="utf-8")
    done = command("validate", path)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("hint: ")]
    assert len(lines) == MAX_ERRORS + 1
    assert lines[-1] == f"the first {MAX_ERRORS} errors"


def test_missing_file(command: Command, tmp_path: Path) -> None:
    done = command("run", tmp_path / "none.toml")
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert "none.toml: no such file" in done.stderr


def test_directory_for_a_file(command: Command, tmp_path: Path) -> None:
    done = command("run", tmp_path)
    assert done.returncode == 2
    assert_one_error(done.stderr)


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rocelab.scenario._MAX_FILE_BYTES", 1 << 20)
    path = tmp_path / "large.toml"
    path.write_bytes(b"#" * (1 << 20))
    with pytest.raises(rocelab.ConfigError, match="topology: is missing"):
        rocelab.load(path)
    path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(rocelab.ConfigError, match=r"large\.toml: larger than 1 MiB"):
        rocelab.load(path)


def test_binary_file(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    done = command("run", path)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert "hint: save it as UTF-8\n" in done.stderr


@pytest.mark.parametrize("setting", ["seed", "name=\udcff", "\udcff=1"])
def test_malformed_set(command: Command, incast_file: Path, setting: str) -> None:
    done = command("run", incast_file, "--set", setting)
    assert done.returncode == 2
    assert_one_error(done.stderr)


def test_unknown_key_in_set(command: Command, incast_file: Path) -> None:
    done = command("run", incast_file, "--set", "run.sede=3")
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert "run.sede" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--threads", 0], "threads: must be 1 or more, not 0"),
        (["run", "--threads", -1], "threads: must be 1 or more, not -1"),
        (["run", "--seed", -1], "error: --seed -1: run.seed: needs a whole number, 0 or more"),
        (["run", "--seed", 10**20], "error: --seed 100000000000000000000: run.seed: needs"),
        (["bench", "--threads", 0], "threads: must be 1 or more, not 0"),
        (["bench", "--repeat", 0], "repeat: must be 1 or more, not 0"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_numbers_out_of_range(
    command: Command, incast_file: Path, arguments: list[object], words: str
) -> None:
    what, *options = arguments
    files = [incast_file] if what == "run" else []
    done = command(what, *files, *options, cwd=incast_file.parent)
    assert done.returncode == 2
    assert done.stdout == ""
    assert_one_error(done.stderr)
    assert words in done.stderr
    assert sorted(entry.name for entry in incast_file.parent.iterdir()) == ["incast.toml"]


@pytest.mark.parametrize(
    "out",
    [
        "file/out",
        "file/deep/out",
        "file",
        "/proc/rocelab",
        "/proc/rocelab/out",
        "x" * 300,
        "new/" + "x" * 300 + "/out",
        ".",
        "a/..",
    ],
    ids=lambda out: out[:20],
)
def test_no_place_to_write_is_known_before_the_run(
    command: Command, long_scenario: str, tmp_path: Path, out: str
) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(long_scenario, encoding="utf-8")
    here = tmp_path / "here"
    here.mkdir()
    if "file" in out:
        (here / "file").write_text("")
    before = sorted(tmp_path.rglob("*"))
    # It would take longer than a command may, if it ran.
    done = command("run", scenario, "--out", out, cwd=here)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission_to_write_is_known_before_the_run(
    command: Command, long_scenario: str, tmp_path: Path
) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(long_scenario, encoding="utf-8")
    for mode, out in ((0o555, "shut/out"), (0o000, "shut/deep/out")):
        shut = tmp_path / "shut"
        shut.mkdir(exist_ok=True)
        shut.chmod(mode)
        done = command("run", scenario, "--out", tmp_path / out)
        shut.chmod(0o755)
        assert done.returncode == 2
        assert_one_error(done.stderr)
        assert "ermission" in done.stderr
        assert list(shut.iterdir()) == []


def test_a_check_leaves_nothing(tmp_path: Path) -> None:
    check_result_directory(tmp_path / "new" / "deep" / "out", force=False)
    assert list(tmp_path.iterdir()) == []


def test_parents_go_when_one_cannot_be_made(
    incast: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir = Path.mkdir

    def fail(path: Path, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        if path.name == "deep" and path.parent.exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        mkdir(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(rocelab.ResultError, match="No space left"):
        incast.save(tmp_path / "new" / "deep" / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_by_the_system_is_a_result_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(rocelab.ResultError, match="cannot write: Permission denied"):
        check_result_directory(tmp_path / "new" / "out", force=False)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def no_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file system refuses the flags of renameat2."""
    monkeypatch.setattr(rename, "_renameat2", lambda *_: errno.EINVAL)


@pytest.mark.usefixtures("no_flags")
@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize("there", [True, False])
def test_a_failed_rename_leaves_nothing(
    incast: rocelab.Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failing: int,
    there: bool,
) -> None:
    out = tmp_path / "new" / "out"
    if there:
        incast.save(out)
    before = sorted(tmp_path.rglob("*"))
    rename = Path.rename
    calls = 0

    def fail(path: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    if not there and failing == 2:
        incast.save(out)
        assert [entry.name for entry in (tmp_path / "new").iterdir()] == ["out"]
        return
    with pytest.raises(rocelab.ResultError, match="Device or resource busy"):
        incast.save(out, force=True)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("no_flags")
def test_an_old_result_that_cannot_be_put_back_is_kept(
    incast: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = incast.save(tmp_path / "out")
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if target.name == "out":
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(rocelab.ResultError, match="Device or resource busy") as caught:
        incast.save(out, force=True)
    (old,) = tmp_path.iterdir()
    assert caught.value.hint
    assert str(old) in caught.value.hint
    assert rocelab.open(old).summary == incast.summary


def with_others(out: Path) -> dict[str, str]:
    """Puts files of others into a result; returns their names and content."""
    others = {"notes.txt": "mine", "plots/fct.png": "picture", "series/readme": "also mine"}
    for name, text in others.items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(text)
    return others


def test_replacing_a_result_keeps_other_files(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    others = with_others(out)
    (out / "drops.json").write_text("[]")
    unprobed = incast.scenario.to_dict()
    del unprobed["probe"]
    other = rocelab.run(rocelab.Scenario(**{**unprobed, "name": "unprobed"}))
    other.save(out, force=True)
    assert rocelab.open(out).summary["name"] == "unprobed"
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    parts = {"scenario.toml", "summary.json", "flows.parquet", "ports.parquet"}
    assert files == parts | set(others)
    assert {name: (out / name).read_text() for name in others} == others
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_other_files_that_cannot_be_moved_are_kept(
    incast: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = incast.save(tmp_path / "out")
    others = with_others(out)
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if target.name in ("notes.txt", "plots", "readme"):
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(rocelab.ResultError, match="Device or resource busy") as caught:
        incast.save(out, force=True)
    assert rocelab.open(out).summary == incast.summary
    (old,) = (entry for entry in tmp_path.iterdir() if entry != out)
    assert caught.value.hint
    assert str(old) in caught.value.hint
    assert {name: (old / name).read_text() for name in others} == others


def test_names_that_are_no_text(command: Command, incast_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "\udcff"
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = command("run", incast_file, "--set", "name=ä", "--out", out, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    result = rocelab.open(out)
    assert result.summary["name"] == "ä"
    assert result.flows.to_polars()["done"].all()
    assert len(result.series["bottleneck"]) > 0


def test_directories_whose_names_are_no_text_are_drawn(
    command: Command, incast: rocelab.Result, tmp_path: Path
) -> None:
    directories = ["n\udcff", "b"]
    # Without series there are few pictures.
    plain = rocelab.run(incast.scenario.with_settings(probe=[]))
    for name in directories:
        plain.save(tmp_path / name)
    for words in (["plot"], ["fct", "--out", "a.svg"]):
        done = command(*words, *directories, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_user_without_a_home_must_say_where_results_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(rocelab.ConfigError, match="--cache DIR"):
        default_cache()


def test_a_link_to_a_directory_stays_a_link(incast: rocelab.Result, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "link"
    link.symlink_to("disk")
    incast.save(link)
    incast.save(link, force=True)
    assert link.is_symlink()
    assert rocelab.open(tmp_path / "disk").summary == incast.summary
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["disk", "link"]


def test_full_disk_leaves_nothing(command: Command, incast_file: Path, tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = command("run", incast_file, "--out", tmp_path / "new/out", preexec_fn=small_files)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["incast.toml"]


def test_full_disk_leaves_the_picture_and_the_page_that_were_there(
    command: Command, incast: rocelab.Result, tmp_path: Path
) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    out = incast.save(tmp_path / "out")
    picture, page = tmp_path / "fct.png", tmp_path / "page.md"
    for file in (picture, page):
        file.write_text("whole")
    networks = ("--network", "two-to-one", "--rate-gbps", 40, "--cache", tmp_path / "cache")
    assert command("compare", "none", *networks).returncode == 0
    for arguments, file in (
        (("fct", out, "--out", picture), picture),
        (("compare", "none", *networks, "--markdown", page), page),
    ):
        done = command(*arguments, preexec_fn=small_files)
        assert done.returncode == 2
        assert f"{file}: cannot write: " in done.stderr
        assert file.read_text() == "whole"
    names = sorted(entry.name for entry in tmp_path.iterdir())
    assert names == ["cache", "fct.png", "out", "page.md"]


def test_full_disk_for_the_output(incast_file: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rocelab", "validate", incast_file],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: standard output: No space left on device\n"


def test_a_reader_that_has_gone_hides_no_error(incast: rocelab.Result, tmp_path: Path) -> None:
    incast.save(tmp_path / "result")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as gone:  # noqa: PTH123 - it is no path
        done = subprocess.run(
            [sys.executable, "-m", "rocelab", "fct", "result", "--out", "a.png"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
            stdout=gone,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            preexec_fn=small_files,
        )
    assert (done.returncode, done.stderr) == (2, "error: a.png: cannot write: File too large\n")


@pytest.mark.parametrize("place", ["{}/r", "{}"])
@pytest.mark.parametrize(
    "words",
    [
        ["fct"],
        ["hpcc"],
        ["compare", "none", "--network=two-to-one", "--rate-gbps=40", "--cache"],
        ["compare", "--csv=a.csv", "--markdown"],
        ["plot"],
        ["validate"],
    ],
    ids=" ".join,
)
def test_a_place_that_may_not_be_looked_into_is_named(
    command: Command, tmp_path: Path, words: list[str], place: str
) -> None:
    """As where there is no permission; root, too, is refused a name that is too long."""
    path = place.format("d" * 300) + ".md"
    done = command(*words, path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_error(done.stderr)
    assert done.stderr.startswith(f"error: {'d' * 300}")
    assert "File name too long" in done.stderr


def test_plot_of_no_result(command: Command, tmp_path: Path) -> None:
    done = command("plot", tmp_path)
    assert done.returncode == 2
    assert_one_error(done.stderr)


def test_damaged_result(command: Command, incast_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command("run", incast_file, "--out", out)
    (out / "flows.parquet").write_bytes(b"PAR1")
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    (out / "summary.json").write_text("{")
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("summary.json", b"{", "damaged: "),
        ("summary.json", b"[]", "not a summary of rocelab"),
        ("summary.json", b'{"schema": 1}', "damaged: has no name"),
        ("summary.json", b"\xff", "damaged: not a text file"),
        ("scenario.toml", b"\xff", "damaged: not a text file"),
        ("scenario.toml", b"", "damaged: has no probe 'bottleneck'"),
        ("scenario.toml", b"x = 1", "damaged: has no probe 'bottleneck'"),
        ("scenario.toml", b"\n[[probe]]\nname = ", "damaged: line 3: string values must be"),
        ("scenario.toml", b"\n[[probe]]\n", "damaged: probe.0: has no name, kind, start, interval"),
        ("drops.json", b"[", "damaged: "),
        ("drops.json", b"5", "damaged: not a list"),
    ],
)
def test_damaged_file_of_a_result(
    command: Command,
    incast: rocelab.Result,
    tmp_path: Path,
    file: str,
    content: bytes,
    words: str,
) -> None:
    out = incast.save(tmp_path / "out")
    (out / file).write_bytes(content)
    if file != "summary.json":
        reseal(out)
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert f"{out / file}: {words}" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "goodput"', 'name = "goodputs"', "has no probe 'goodput'"),
        ('interval = "5us"', 'interval = "5m"', 'probe.1: interval cannot be "5m"'),
        ('interval = "5us"', "interval = 5", "probe.1: interval cannot be 5"),
        (
            'interval = "5us"',
            "interval = ",
            "line {line}: string values must be quoted, expected literal string",
        ),
    ],
)
def test_a_damaged_probe_is_told_when_the_result_is_opened(
    incast: rocelab.Result, tmp_path: Path, old: str, new: str, words: str
) -> None:
    out = incast.save(tmp_path / "out")
    file = out / "scenario.toml"
    before, found, after = file.read_text().partition(old)
    assert found
    file.write_text(before + new + after)
    reseal(out)
    with pytest.raises(rocelab.ResultError) as caught:
        rocelab.open(out)
    line = before.count("\n") + 1
    assert str(caught.value) == f"{file}: damaged: {words.format(line=line)}"


def test_a_damaged_scenario_is_told_with_its_file(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    file = out / "scenario.toml"
    before, _, after = file.read_text().partition("hosts = ")
    file.write_text(f"{before}hostz = {after}")
    reseal(out)
    with pytest.raises(rocelab.ResultError) as caught:
        _ = rocelab.open(out).scenario
    line = before.count("\n") + 1
    assert str(caught.value).startswith(f"{file}:{line}: topology.hostz: ")
    assert "the result is damaged" in str(caught.value)


@pytest.mark.parametrize("sweep", [False, True])
def test_a_scheme_that_this_build_lacks_is_no_damage(
    incast_file: Path, tmp_path: Path, sweep: bool
) -> None:
    """Protects results of the user's own schemes, opened outside of their projects."""
    scenario = rocelab.load(incast_file)
    if sweep:
        rocelab.sweep(scenario, seeds=2, out=tmp_path / "out")
        file = tmp_path / "out/sweep.json"
        file.write_text(file.read_text().replace('"name": "dcqcn"', '"name": "mine"'))
    else:
        out = rocelab.run(scenario).save(tmp_path / "out")
        file = out / "scenario.toml"
        file.write_text(file.read_text().replace('name = "dcqcn"', 'name = "mine"'))
        reseal(out)
    with pytest.raises(rocelab.ResultError) as caught:
        _ = rocelab.open_sweep(tmp_path / "out") if sweep else rocelab.open(out).scenario
    assert str(caught.value).startswith(str(file))
    assert "unknown scheme `mine`; the result was made by another build" in str(caught.value)
    assert "damaged" not in str(caught.value)
    assert "ROCELAB_MODULE" in (caught.value.hint or "")


def test_a_directory_is_no_scenario(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.load(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is a directory"
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.load(out)
    assert caught.value.hint == f"the scenario of that result is {out / 'scenario.toml'}"


def test_what_a_scenario_of_a_result_refuses_is_told_with_its_file(
    incast: rocelab.Result, tmp_path: Path
) -> None:
    scenario = rocelab.open(incast.save(tmp_path / "out")).scenario
    with pytest.raises(rocelab.ConfigError) as caught:
        # It has the parameters of its scheme filled in.
        scenario.with_settings(scheme__name="hpcc")
    file = tmp_path / "out" / "scenario.toml"
    assert (caught.value.file, caught.value.key) == (str(file), "scheme.params.alpha_timer")
    assert caught.value.line
    assert file.read_text().splitlines()[caught.value.line - 1].startswith("alpha_timer = ")


def test_what_is_no_result_says_what_it_is(command: Command, tmp_path: Path) -> None:
    with pytest.raises(rocelab.ResultError, match=r"none: no such directory$"):
        rocelab.open(tmp_path / "none")
    scenario = rocelab.Scenario.from_toml(INCAST)
    rocelab.sweep(scenario, {"scheme.name": ["none", "hpcc"]}, out=tmp_path / "sweep")
    done = command("plot", "sweep", "sweep", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: sweep: not a result directory: summary.json is missing\n"
        "hint: it is a sweep, whose results are sweep/runs/COMBINATION/SEED\n"
    )
    done = command("fct", "sweep", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: sweep: holds neither fct.txt nor flows.parquet\n"
        "hint: it is a sweep, whose results are sweep/runs/COMBINATION/SEED\n"
    )
    assert rocelab.open(tmp_path / "sweep/runs/scheme.name=hpcc/1").summary.scheme == "hpcc"


CAUSES = dict.fromkeys(
    ("lost", "stopped", "deadlock", "paused", "disconnected", "waiting", "sending", "not_started"),
    0,
)
"""The causes of unfinished flows."""


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("series", 5, "series: cannot be 5"),
        ("series", [{}], "series.0: has no name, kind, unit, column, rows"),
        ("series", [3], "series.0: not a table"),
        ("slowdown", None, "slowdown: not a table"),
        ("slowdown", {}, "slowdown: has no mean, p50, p95, p99, bins"),
        (
            "slowdown",
            {"bins": [{"upper_bytes": "x"}]},
            "slowdown: has no mean, p50, p95, p99",
        ),
        (
            "slowdown",
            {**dict.fromkeys(("mean", "p50", "p95", "p99")), "bins": [{"upper_bytes": "x"}]},
            "slowdown.bins.0: has no lower_bytes, flows, mean, p50, p95, p99",
        ),
        ("by_tag", {"web": 3}, "by_tag.web: not a table"),
        (
            "by_tag",
            {"web": {"flows": 1, "flows_done": 1, "slowdown": {}, "goodput_bps": 1, "jain": 1}},
            "by_tag.web.slowdown: has no mean, p50, p95, p99, bins",
        ),
        ("paused_by_tier_ns", {"hosts": "x"}, 'paused_by_tier_ns.hosts: cannot be "x"'),
        ("flows_done", "all", 'flows_done: cannot be "all"'),
        ("warnings", [1], "warnings.0: cannot be 1"),
        ("warnings", ["one"], "warning_kinds: not one for each of warnings"),
        ("warning_kinds", [3], "warning_kinds.0: not a table"),
        ("unfinished", {**CAUSES, "lost": "x"}, 'unfinished.lost: cannot be "x"'),
        ("unfinished", {**CAUSES, "lost": -1}, "unfinished.lost: cannot be -1"),
        ("unfinished", ..., "has no unfinished"),
        ("slowdown", ..., "has no slowdown"),
        ("preset", ..., "has no preset"),
        ("max_queue_bytes", ..., "has no max_queue_bytes"),
    ],
)
def test_a_summary_of_another_kind(
    incast: rocelab.Result, tmp_path: Path, key: str, value: object, words: str
) -> None:
    out = incast.save(tmp_path / "out")
    summary = {**incast.summary.to_dict(), key: value}
    if value is ...:
        del summary[key]
    (out / "summary.json").write_text(json.dumps(summary))
    reseal(out)
    with pytest.raises(rocelab.ResultError) as caught:
        rocelab.open(out)
    assert str(caught.value) == f"{out / 'summary.json'}: damaged: {words}"


@pytest.mark.parametrize(
    "name",
    ["flows.parquet", "ports.parquet", "series/bottleneck.parquet", "series/goodput.parquet"],
)
@pytest.mark.parametrize("damage", ["cut", "directory", "missing"])
def test_nothing_is_drawn_of_a_result_with_a_damaged_table(
    incast: rocelab.Result,
    tmp_path: Path,
    name: str,
    damage: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = incast.save(tmp_path / "out")
    table = out / name
    content = table.read_bytes()
    table.unlink()
    if damage == "cut":
        table.write_bytes(content[: len(content) // 2])
        reseal(out)
    elif damage == "directory":
        table.mkdir()
    with pytest.raises(rocelab.ResultError) as caught:
        plot([out], None)
    text = str(caught.value)
    assert text.startswith(f"{table}: cannot read: ")
    assert damage != "directory" or text == f"{table}: cannot read: is a directory"
    assert not (out / "plots").exists()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("where", ["file", "file/deep"])
def test_pictures_need_a_directory(
    command: Command, incast: rocelab.Result, tmp_path: Path, where: str
) -> None:
    out = incast.save(tmp_path / "out")
    (tmp_path / "file").write_text("in the way")
    done = command("plot", out, "--out", tmp_path / where)
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_error(done.stderr)
    assert f"{tmp_path / where}: " in done.stderr
    assert "is not a directory" in done.stderr


@pytest.mark.parametrize("what", ["plot", "fct"])
def test_a_table_of_another_kind(
    command: Command, incast: rocelab.Result, tmp_path: Path, what: str
) -> None:
    out = incast.save(tmp_path / "out")
    flows = out / "flows.parquet"
    flows.write_bytes((out / "ports.parquet").read_bytes())
    reseal(out)
    done = command(what, out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert f"{flows}: damaged: has no column flow_id, tag" in done.stderr


def test_a_series_of_another_kind(command: Command, incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    series = out / "series" / "bottleneck.parquet"
    series.write_bytes((out / "series" / "goodput.parquet").read_bytes())
    reseal(out)
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert f"{series}: damaged: has no column queue_bytes" in done.stderr


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        (
            "flows",
            pl.col("slowdown").cast(pl.String),
            "the column slowdown does not hold numbers",
        ),
        ("flows", pl.col("tag").cast(pl.Binary), "the column tag does not hold text"),
        ("flows", pl.col("done").cast(pl.Int8), "the column done does not hold flags"),
        ("flows", pl.lit(None, pl.UInt64).alias("size_bytes"), "the column size_bytes has gaps"),
        ("ports", pl.col("port").cast(pl.String), "the column port does not hold whole numbers"),
        (
            "series/bottleneck",
            pl.col("time_ps").cast(pl.String),
            "the column time_ps does not hold whole numbers",
        ),
        (
            "series/bottleneck",
            pl.col("queue_bytes").cast(pl.String),
            "the column queue_bytes does not hold numbers",
        ),
        (
            "series/bottleneck",
            pl.lit("s9").alias("node"),
            "the network has no node s9 with a port 4",
        ),
        ("series/bottleneck", "node", "has no column node"),
    ],
    ids=str,
)
def test_columns_of_another_kind(
    incast: rocelab.Result,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
    change: pl.Expr | str,
    words: str,
) -> None:
    out = incast.save(tmp_path / "out")
    path = out / f"{file}.parquet"
    frame = pl.read_parquet(path)
    frame = frame.drop(change) if isinstance(change, str) else frame.with_columns(change)
    frame.write_parquet(path)
    reseal(out)
    for read in [partial(plot, [out], None), partial(fct, out)][: 2 if file == "flows" else 1]:
        with pytest.raises(rocelab.ResultError) as caught:
            read()
        assert str(caught.value).splitlines()[0] == f"{path}: damaged: {words}"
    assert not (out / "plots").exists()
    assert capsys.readouterr().out == ""


def test_result_of_a_newer_version(command: Command, incast_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command("run", incast_file, "--out", out)
    summary = (out / "summary.json").read_text()
    (out / "summary.json").write_text(summary.replace('"schema": 2', '"schema": 99'))
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert "newer" in done.stderr


@pytest.mark.parametrize(
    ("setting", "key"),
    [("scheme=hpc", "scheme.name"), ("seed=3", "seed"), ("topology.hosts=0", "topology.hosts")],
)
def test_an_error_of_a_setting_is_not_said_of_the_file(
    command: Command, tmp_path: Path, setting: str, key: str
) -> None:
    path = tmp_path / "good.toml"
    path.write_text(STAR + flow("h0"), encoding="utf-8")
    done = command("validate", path, "--set", "run.seed=2", "--set", setting)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --set {setting}: {key}: ")
    assert str(path) not in done.stderr


def test_an_error_of_the_file_is_said_of_its_line(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(STAR + flow("h0") + "[run]\nseed = 'x'\n", encoding="utf-8")
    done = command("validate", path, "--set", "scheme=hpcc")
    assert re.match(rf"error: {re.escape(str(path))}:\d+: run.seed: ", done.stderr), done.stderr
