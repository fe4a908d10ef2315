"""Stored results: two writers lose nothing, and kills leave nothing behind."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

import rocelab
from conftest import Command, wait_until_running
from rocelab.io import rename
from rocelab.io.files import write_atomic
from rocelab.io.open import check_files
from rocelab.io.save import recover_all, reserved
from rocelab.sweeps.cache import run_all

KILLS = int(os.environ.get("ROCELAB_KILLS", "3"))
"""Times at which a command is killed, in each test of that."""

REFUSED = pytest.mark.parametrize("refused", [False, True], ids=["flags", "no-flags"])
"""Whether the file system refuses the flags of renameat2."""


# Two writers.


def two_runs(scenario: Path, out: Path, *options: str) -> list[tuple[int, str]]:
    """Exit code and standard error of two commands that begin at the same time."""
    arguments: list[str | Path] = [
        sys.executable,
        "-m",
        "rocelab",
        "run",
        scenario,
        "--out",
        out,
        "-q",
        *options,
    ]
    both = [
        subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    return [(one.wait(120), one.communicate()[1].decode()) for one in both]


def test_of_two_runs_to_a_new_directory_one_wins(incast_file: Path, tmp_path: Path) -> None:
    for number in range(3):
        out = tmp_path / "out" / str(number)
        done = sorted(two_runs(incast_file, out))
        assert [code for code, _ in done] == [0, 2], done
        error = done[1][1].splitlines()
        assert error[0].startswith(f"error: {out}: ")
        assert len(error) == 2
        check_files(rocelab.open(out))
        assert [entry.name for entry in out.parent.iterdir() if entry.name[0] == "."] == []


@REFUSED
def test_of_many_saves_to_a_new_directory_one_wins(
    incast: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, refused: bool
) -> None:
    if refused:
        monkeypatch.setattr(rename, "_renameat2", lambda *_: errno.EOPNOTSUPP)

    def save(_: int) -> str:
        try:
            incast.save(tmp_path / "out")
        except rocelab.ResultError as error:
            return str(error.args[0])
        return ""

    with ThreadPoolExecutor(8) as pool:
        told = sorted(pool.map(save, range(8)))
    assert told == ["", *[f"{tmp_path / 'out'}: a result is there already"] * 7]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_run_fails_before_it_begins_where_another_is_running(
    command: Command, tmp_path: Path, long_scenario: str, incast: rocelab.Result
) -> None:
    file = tmp_path / "long.toml"
    file.write_text(long_scenario, encoding="utf-8")
    out = tmp_path / "out"
    first = subprocess.Popen([sys.executable, "-m", "rocelab", "run", file, "--out", out, "-q"])
    wait_until_running(first)
    # It need not work on for what follows.
    first.send_signal(signal.SIGSTOP)
    try:
        for force in ((), ("--force",)):
            done = command("run", file, "--out", out, *force)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == (
                f"error: {out}: process {first.pid} is running and will write its result there\n"
                "hint: choose another directory, or wait until it has ended\n"
            )
        with pytest.raises(rocelab.ResultError, match="is running and will write"):
            incast.save(out)
        # What it writes is left alone.
        recover_all(tmp_path)
        assert (tmp_path / ".out.rocelab-lock").exists()
    finally:
        first.send_signal(signal.SIGINT)
        first.send_signal(signal.SIGCONT)
    assert first.wait(60) == 130
    assert rocelab.open(out).partial
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["long.toml", "out"]


@REFUSED
def test_a_run_whose_place_is_taken_meanwhile_is_kept(
    incast: rocelab.Result,
    three_runs: list[rocelab.Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    refused: bool,
) -> None:
    """By a program that knows no locks, such as an older version."""
    if refused:
        monkeypatch.setattr(rename, "_renameat2", lambda *_: errno.EINVAL)
    out = tmp_path / "out"
    other = three_runs[0].save(tmp_path / "other")
    with reserved(out, force=False, run=True) as place:
        other.rename(out)
        with pytest.raises(rocelab.ResultError, match="something else was put there") as caught:
            place.save(incast)
    assert caught.value.hint == f"the result of the run is {out}-2"
    assert rocelab.open(out).summary == three_runs[0].summary
    assert rocelab.open(f"{out}-2").summary == incast.summary
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "out-2"]


@REFUSED
def test_only_an_empty_place_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, refused: bool
) -> None:
    if refused:
        monkeypatch.setattr(rename, "_renameat2", lambda *_: errno.ENOSYS)
    for name, make in (
        ("new", lambda _: None),
        ("empty", Path.mkdir),
        ("full", lambda path: (path / "deep").mkdir(parents=True)),
        ("file", Path.touch),
        ("link", lambda path: path.symlink_to("nowhere")),
    ):
        target = tmp_path / name
        make(target)
        temporary = rename.make_temporary(target)
        (temporary / "file").touch()
        if name in ("new", "empty"):
            rename.install(temporary, target)
            assert [entry.name for entry in target.iterdir()] == ["file"]
        else:
            with pytest.raises(FileExistsError):
                rename.install(temporary, target)


def test_without_the_function_in_the_c_library(
    incast: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rename, "_of_libc", lambda: None)
    incast.save(tmp_path / "out")
    incast.save(tmp_path / "out", force=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    check_files(rocelab.open(tmp_path / "out"))


def test_without_locks_nothing_is_taken_for_a_leftover(
    incast: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / ".out.01234567").mkdir()
    incast.save(tmp_path / "out")
    with pytest.raises(rocelab.ResultError, match="a result is there already"):
        incast.save(tmp_path / "out")
    incast.save(tmp_path / "out", force=True)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".out.01234567", "out"]


# Kills.

STEPS = """\
import os, signal, sys
from pathlib import Path
import polars
import rocelab
import rocelab.io.open, rocelab.io.save, rocelab.result
from rocelab.io import files, rename

step = at = 0

def counted(function):
    def call(*arguments, **options):
        global step
        step += 1
        if step == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return call

if sys.argv[1] == "refused":
    rename._renameat2 = lambda *_: 22
rename._renameat2 = counted(rename._renameat2)
for name in ("fsync", "rename", "replace", "unlink", "rmdir"):
    setattr(os, name, counted(getattr(os, name)))
for line in sys.stdin:
    number, action, source, target = line.rstrip().split("\\t")
    at = int(number)
    # Polars, whose import takes longer than all else, has started none of the threads that work.
    tasks = Path("/proc/self/task").iterdir()
    assert not any((one / "comm").read_text().startswith("polars-0") for one in tasks)
    if os.fork():
        print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
    elif action == "put":
        files.write_atomic(Path(target), b"new")
        os._exit(0)
    else:
        rocelab.open(source).save(target, force=action == "force")
        os._exit(0)
"""
"""Saves, and is killed at a rename, an fsync or a removal; each time in a process of its own."""


class Steps:
    """Processes that are killed."""

    def __init__(self, *, refused: bool = False) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", STEPS, "refused" if refused else "flags"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def killed(self, at: int, action: str, source: Path, target: Path) -> bool:
        """Whether the process came as far as step ``at``."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{at}\t{action}\t{source}\t{target}\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        assert code in (0, -signal.SIGKILL)
        return code != 0

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


@pytest.mark.parametrize(
    ("action", "refused"),
    [("new", False), ("force", False), ("force", True)],
    ids=["new", "force", "force-no-flags"],
)
def test_after_a_kill_at_any_step_the_next_command_restores_or_cleans_up(
    three_runs: list[rocelab.Result],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    action: str,
    *,
    refused: bool,
) -> None:
    small = rocelab.Scenario(
        **{**three_runs[0].scenario.to_dict(), "probe": [], "name": "small"},
    )
    old, new = three_runs[1], rocelab.run(small)
    source = new.save(tmp_path / "source")
    here = tmp_path / "here"
    others = {"notes.txt": "mine", "plots/fct.png": "picture", "series/readme": "also mine"}
    at = kills = restored = 0
    with Steps(refused=refused) as steps:
        while True:
            at += 1
            out = here / str(at) / "out"
            if action == "force":
                old.save(out)
                for name, text in others.items():
                    (out / name).parent.mkdir(exist_ok=True)
                    (out / name).write_text(text)
            if not steps.killed(at, action, source, out):
                break
            kills += 1
            left = {entry.name for entry in out.parent.iterdir()} if out.parent.exists() else set()
            caplog.clear()
            recover_all(out.parent)
            told = caplog.text
            restored += "restored the result" in told
            now = {entry.name for entry in out.parent.iterdir()} if out.parent.exists() else set()
            assert now <= {"out", "out-2"}, (at, left, now)
            # Said, unless there was an empty lock file alone.
            assert bool(told) == bool(left - {"out", ".out.rocelab-lock"}), (at, left, told)
            if "out-2" in now:
                assert rocelab.open(out.with_name("out-2")).summary == new.summary
            if action == "force":
                assert "out" in now
            if "out" in now:
                result = rocelab.open(out)
                check_files(result)
                assert result.summary in (old.summary, new.summary)
            if action == "force":
                for name, text in others.items():
                    assert (out / name).read_text() == text, (at, name)
            # And the command works.
            new.save(out, force=True)
            assert rocelab.open(out).summary == new.summary
    print(f"{kills} kills")
    assert kills > 8
    # With the flags an old result is never away.
    assert bool(restored) == (action == "new" or refused)
    assert rocelab.open(out).summary == new.summary


def test_names_of_files_that_are_left_reach_no_terminal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Names are those of lock files in a directory that others may write to."""
    name = "x\x1b[31m\n"
    (tmp_path / f".{name}.rocelab-lock").touch()
    (tmp_path / f".{name}.01234567").touch()
    recover_all(tmp_path)
    (message,) = caplog.messages
    assert message.endswith("which a killed process had left")
    assert message.isprintable()


def test_after_a_kill_a_file_is_the_old_or_the_new_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "simulator.sha256"
    at = 0
    with Steps() as steps:
        while True:
            at += 1
            file.write_text("old")
            if not steps.killed(at, "put", file, file):
                break
            assert file.read_text() in ("old", "new")
            left = {entry.name for entry in tmp_path.iterdir()}
            caplog.clear()
            write_atomic(file, b"next")
            assert file.read_text() == "next"
            assert [entry.name for entry in tmp_path.iterdir()] == ["simulator.sha256"]
            hidden = sorted(left - {file.name, ".simulator.sha256.rocelab-lock"})
            assert caplog.messages == [
                f"{file}: removed {name}, which a killed process had left" for name in hidden
            ]
    assert at > 4


def test_a_killed_run_leaves_nothing_to_the_next(
    command: Command, tmp_path: Path, long_scenario: str, incast_file: Path
) -> None:
    file = tmp_path / "long.toml"
    file.write_text(long_scenario, encoding="utf-8")
    here = tmp_path / "here"
    process = subprocess.Popen(
        [sys.executable, "-m", "rocelab", "run", file, "--out", here / "out", "-q"]
    )
    wait_until_running(process)
    process.kill()
    process.wait()
    assert [entry.name for entry in here.iterdir()] == [".out.rocelab-lock"]
    # To another place in the directory.
    done = command("run", incast_file, "--out", here / "other", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert [entry.name for entry in here.iterdir()] == ["other"]


@pytest.mark.parametrize("what", ["sweep", "compare"])
def test_a_command_that_was_killed_comes_to_the_same(
    incast_file: Path, tmp_path: Path, what: str
) -> None:
    """What is left is cleaned up, and what was complete is used."""

    def start(place: str) -> subprocess.Popen[bytes]:
        words: list[str | Path] = ["compare", "none", "hpcc", "--network=two-to-one", "--cache"]
        if what == "sweep":
            # One picture is enough to be killed at.
            words = ["sweep", incast_file, "--over=scheme.name=none,hpcc", "--seeds=4"]
            words += ["--metric=max_queue_bytes", "--out"]
        return subprocess.Popen(
            [sys.executable, "-m", "rocelab", *words, tmp_path / place, "--json", "-q"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    begin = time.monotonic()
    expected, _ = start("whole").communicate()
    took_s = time.monotonic() - begin
    draw = random.Random(what)  # noqa: S311 - to be repeated
    for _ in range(KILLS):
        process = start("killed")
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=took_s * draw.uniform(0.3, 1.0))
        process.kill()
        process.communicate()
    done = start("killed")
    out, err = done.communicate()
    assert (done.returncode, out) == (0, expected), err.decode()
    hidden = [path for path in (tmp_path / "killed").rglob(".*") if path.name != ".."]
    assert hidden == []


def test_two_commands_with_one_cache(tmp_path: Path) -> None:
    words: list[str | Path] = [
        "compare",
        "none",
        "hpcc",
        "--network=two-to-one",
        "--cache",
        tmp_path,
        "--json",
        "-q",
    ]
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "rocelab", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    (a, told_a), (b, told_b) = (one.communicate() for one in both)
    assert (told_a, told_b) == (b"", b"")
    assert a == b != b""
    for home in tmp_path.iterdir():
        check_files(rocelab.open(home))


def test_leftovers_of_a_living_process_are_left_alone(
    incast: rocelab.Result, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    script = (
        "import sys, time; from pathlib import Path; from rocelab.io import locks, rename\n"
        "target = Path(sys.argv[1])\n"
        "with locks.locked(target):\n"
        "    rename.make_temporary(target)\n"
        "    print(flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, out], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        before = sorted(entry.name for entry in tmp_path.iterdir())
        recover_all(tmp_path)
        run_all({"a": incast.scenario}, tmp_path)
        after = {entry.name for entry in tmp_path.iterdir()}
        assert set(before) <= after
        process.kill()
    recover_all(tmp_path)
    assert not [entry for entry in tmp_path.iterdir() if entry.name[0] == "."]
