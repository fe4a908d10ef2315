"""Places where nothing can be written: one clear line, and what was there stays."""

from __future__ import annotations

import errno
import os
import pwd
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rocelab
from conftest import Command, assert_one_error
from rocelab.io import rename
from rocelab.io.save import check_result_directory
from rocelab.sweeps.cache import default_cache


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
