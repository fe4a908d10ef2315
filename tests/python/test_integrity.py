"""Stored results: damage is found, two writers lose nothing, kills leave nothing behind."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command, reseal, wait_until_running
from rocelab import placing, runner, saving
from rocelab.cli import ended
from rocelab.store import check_files, put

FLIPS = int(os.environ.get("ROCELAB_BIT_FLIPS", "300"))
"""Single bits that are flipped, in all files together."""

REFUSED = pytest.mark.parametrize("refused", [False, True], ids=["flags", "no-flags"])
"""Whether the file system refuses the flags of renameat2."""


@pytest.fixture(scope="session")
def traced() -> rocelab.Result:
    """A result with every kind of file."""
    text = INCAST.replace('size = "300KB"', 'size = "30KB"')
    text += '[trace]\npfc = true\npackets = ["s0"]\ncapture = true\n'
    text += '\n[pfc]\nxoff = "20KB"\nxon = "18KB"\nheadroom = "1KB"\n'
    return rocelab.run(rocelab.Scenario.from_toml(text))


def values(directory: Path) -> tuple[object, ...]:
    """Everything that a result says."""
    result = rocelab.open(directory)
    check_files(result)
    tables = [result.flows, result.ports, *result.series.values(), *result.traces.values()]
    content = [table.to_polars().write_csv() for table in tables]
    return (result.summary, result.scenario_toml, result.drops, result.capture, *content)


def files_of(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


# Damage.


def test_the_summary_has_checksums_of_all_files_and_of_itself(
    traced: rocelab.Result, tmp_path: Path
) -> None:
    """By the rule in docs/results.md, with nothing of the package's own."""
    out = traced.save(tmp_path / "out")
    (out / "plots").mkdir()
    (out / "plots" / "fct.png").write_text("a picture")
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["schema"] == 2
    files = summary["checksums"]["files"]
    assert set(files) == {
        "scenario.toml", "flows.parquet", "ports.parquet", "drops.json",
        "series/bottleneck.parquet", "series/goodput.parquet",
        "traces/pfc.parquet", "traces/packets.parquet", "traces/packets.pcapng",
    }  # fmt: skip
    for name, checksum in files.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == checksum
    own = summary["checksums"].pop("summary")
    text = json.dumps(summary, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == own
    assert values(out)[0] == traced.summary


def test_a_flipped_bit_is_found_or_changes_nothing(traced: rocelab.Result, tmp_path: Path) -> None:
    """Bits of all files in turn; small files are not flipped less than large ones."""
    out = traced.save(tmp_path / "out")
    whole = values(out)
    draw = random.Random(36)  # noqa: S311 - to be repeated
    files = files_of(out)
    outcomes = {"same": 0, "error": 0}
    told: list[tuple[str, rocelab.ResultError]] = []
    for number in range(FLIPS):
        file = files[number % len(files)]
        content = bytearray(file.read_bytes())
        bit = draw.randrange(8 * len(content))
        content[bit // 8] ^= 1 << bit % 8
        before = file.read_bytes()
        file.write_bytes(content)
        try:
            assert values(out) == whole, f"bit {bit} of {file.name} gives other values"
            outcomes["same"] += 1
        except rocelab.ResultError as error:
            outcomes["error"] += 1
            told.append((str(file), error))
        file.write_bytes(before)
    for name, refusal in told:
        assert len(refusal.args[0].splitlines()) == 1
        assert name in refusal.args[0] or "newer rocelab" in (refusal.hint or "")
    print(f"{FLIPS} bits flipped: {outcomes}")
    assert values(out) == whole
    assert outcomes["error"] > 0.9 * FLIPS


@pytest.mark.parametrize("name", ["flows.parquet", "scenario.toml", "traces/packets.pcapng"])
def test_damage_is_one_error_line(
    command: Command, traced: rocelab.Result, tmp_path: Path, name: str
) -> None:
    out = traced.save(tmp_path / "out")
    content = bytearray((out / name).read_bytes())
    content[len(content) // 2] ^= 1
    (out / name).write_bytes(content)
    done = command("plot", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f"error: {out / name}: damaged: its checksum does not match\nhint: "
    )
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("name", ["flows.parquet", "drops.json", "traces/packets.pcapng"])
def test_a_file_that_is_gone_is_missed(traced: rocelab.Result, tmp_path: Path, name: str) -> None:
    out = traced.save(tmp_path / "out")
    (out / name).unlink()
    with pytest.raises(rocelab.ResultError, match=f"{name}: cannot read: No such file"):
        values(out)


def test_files_that_the_summary_does_not_know_are_not_read(
    incast: rocelab.Result, tmp_path: Path
) -> None:
    out = incast.save(tmp_path / "out")
    (out / "drops.json").write_text('[{"time_ps": 1}]')
    (out / "traces").mkdir()
    (out / "traces" / "packets.pcapng").write_bytes(b"of another run")
    result = rocelab.open(out)
    assert result.drops == []
    assert result.capture is None


def test_an_edited_summary_is_found(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    text = (out / "summary.json").read_text()
    for old, new, words in (
        ('"flows_done": 4', '"flows_done": 5', "its checksum does not match"),
        ('"checksums"', '"checksumz"', "has no valid checksums"),
        ('"files"', '"filez"', "has no valid checksums"),
        ('"schema": 2', '"schema": 1', "its checksum does not match"),
    ):
        assert old in text
        (out / "summary.json").write_text(text.replace(old, new))
        with pytest.raises(rocelab.ResultError, match=f"summary.json: damaged: {words}"):
            rocelab.open(out)
    # As other programs may write it.
    (out / "summary.json").write_text(json.dumps(dict(reversed(json.loads(text).items()))))
    assert rocelab.open(out).summary == incast.summary


def test_opening_reads_no_table(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    (out / "series" / "goodput.parquet").write_bytes(b"")
    result = rocelab.open(out)
    assert len(result.flows) == 4
    assert len(result.series["bottleneck"]) > 0
    with pytest.raises(rocelab.ResultError, match=r"goodput.parquet: damaged: its checksum"):
        len(result.series["goodput"])


def test_a_result_that_is_replaced_while_it_is_open(
    incast: rocelab.Result, three_runs: list[rocelab.Result], tmp_path: Path
) -> None:
    out = incast.save(tmp_path / "out")
    result = rocelab.open(out)
    three_runs[0].save(out, force=True)
    with pytest.raises(rocelab.ResultError, match="was replaced after it had been opened"):
        len(result.flows)


def as_version_1(out: Path) -> None:
    """Makes the result what the first version would have written."""
    summary = json.loads((out / "summary.json").read_text())
    del summary["checksums"]
    (out / "summary.json").write_text(json.dumps({**summary, "schema": 1}))


def test_results_of_version_1_have_one_warning(
    command: Command, incast: rocelab.Result, tmp_path: Path
) -> None:
    out = incast.save(tmp_path / "out")
    as_version_1(out)
    with pytest.warns(rocelab.UnverifiedResultWarning) as caught:
        result = rocelab.open(out)
    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"{out}: an earlier version wrote it")
    assert caught[0].filename == __file__
    assert result.unverified
    assert result.flows.to_polars().equals(incast.flows.to_polars())
    for words in (["plot"], ["fct"], ["fct", "--out", tmp_path / "a.svg"]):
        done = command(*words, out)
        assert done.returncode == 0, done.stderr
        assert done.stderr == f"warning: {caught[0].message}\n"
    # Saved again it has them.
    again = result.save(tmp_path / "again")
    assert not rocelab.open(again).unverified


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (pl.col("slowdown") * float("nan"), "the column slowdown has values that are no numbers"),
        (pl.lit(None, pl.UInt64).alias("fct_ps"), "fct_ps and done do not agree"),
        (pl.lit(False).alias("done"), "fct_ps and done do not agree"),
    ],
    ids=["nan", "no-fct", "none-done"],
)
def test_tables_that_contradict_themselves(
    incast: rocelab.Result, tmp_path: Path, change: pl.Expr, words: str
) -> None:
    out = incast.save(tmp_path / "out")
    path = out / "flows.parquet"
    pl.read_parquet(path).with_columns(change).write_parquet(path)
    reseal(out)
    with pytest.raises(rocelab.ResultError, match=f"{path}: damaged: {words}"):
        len(rocelab.open(out).flows)


@pytest.mark.parametrize("name", ["flows", "series/goodput"])
def test_tables_of_another_length(incast: rocelab.Result, tmp_path: Path, name: str) -> None:
    out = incast.save(tmp_path / "out")
    path = out / f"{name}.parquet"
    pl.read_parquet(path)[1:].write_parquet(path)
    reseal(out)
    with pytest.raises(rocelab.ResultError, match=r"damaged: has [0-9]+ rows, and summary.json"):
        check_files(rocelab.open(out))


class PanicError(BaseException):
    """As Polars raises it: its module tells what it is."""


PanicError.__module__ = "pyo3_runtime"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "not enough memory"),
        (PanicError("index out of bounds\nmore"), "index out of bounds"),
        (ValueError("not a number"), "not a number"),
        (OverflowError(), "OverflowError"),
        (pl.exceptions.ComputeError("corrupt\n\nmore"), "corrupt"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_a_library_raises_is_a_result_error(
    incast: rocelab.Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    words: str,
) -> None:
    def fail(_: object) -> None:
        raise error

    out = incast.save(tmp_path / "out")
    monkeypatch.setattr(pl, "read_parquet", fail)
    with pytest.raises(rocelab.ResultError) as caught:
        len(rocelab.open(out).flows)
    assert str(caught.value) == f"{out / 'flows.parquet'}: cannot read: {words}"


def test_a_panic_elsewhere_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise PanicError("index out of bounds\nmore")

    with pytest.raises(SystemExit) as caught:
        ended(command)
    assert caught.value.code == 1
    assert capsys.readouterr().err == "error: a library failed: index out of bounds\n"


# The cache.


def test_the_cache_compares_the_scenario(
    incast: rocelab.Result, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scenarios = {f"{seed}": incast.scenario.with_(run__seed=seed) for seed in (1, 2)}
    runs = runner.run_all(scenarios, tmp_path)
    one, two = (run.directory for run in runs.values())
    assert one
    assert two
    rocelab.open(two).save(one, force=True)
    capfd.readouterr()
    again = runner.run_all(scenarios, tmp_path)
    assert [run.summary["seed"] for run in again.values()] == [1, 2]
    told = capfd.readouterr().err
    assert told == f"{one}: is the result of another scenario; its run is made anew\n"
    as_version_1(two)
    again = runner.run_all(scenarios, tmp_path)
    assert not any(run.unverified for run in again.values())
    assert capfd.readouterr().err == f"{two}: has no checksums; its run is made anew\n"


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


def test_a_run_fails_before_it_begins_where_another_is_running(
    command: Command, tmp_path: Path, long_scenario: str, incast: rocelab.Result
) -> None:
    file = tmp_path / "long.toml"
    file.write_text(long_scenario, encoding="utf-8")
    out = tmp_path / "out"
    first = subprocess.Popen([sys.executable, "-m", "rocelab", "run", file, "--out", out, "-q"])
    wait_until_running(first)
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
    saving.settle_all(tmp_path)
    assert (tmp_path / ".out.rocelab-lock").exists()
    first.send_signal(signal.SIGINT)
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
        monkeypatch.setattr(placing, "_renameat2", lambda *_: errno.EINVAL)
    out = tmp_path / "out"
    other = three_runs[0].save(tmp_path / "other")
    with saving.reserved(out, force=False, run=True) as place:
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
        monkeypatch.setattr(placing, "_renameat2", lambda *_: errno.ENOSYS)
    for name, make in (
        ("new", lambda _: None),
        ("empty", Path.mkdir),
        ("full", lambda path: (path / "deep").mkdir(parents=True)),
        ("file", Path.touch),
        ("link", lambda path: path.symlink_to("nowhere")),
    ):
        target = tmp_path / name
        make(target)
        temporary = placing.make_temporary(target)
        (temporary / "file").touch()
        if name in ("new", "empty"):
            placing.install(temporary, target)
            assert [entry.name for entry in target.iterdir()] == ["file"]
        else:
            with pytest.raises(FileExistsError):
                placing.install(temporary, target)


def test_without_the_function_in_the_c_library(
    incast: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "_of_libc", lambda: None)
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

KILLED = """\
import os, signal, sys
from pathlib import Path
import polars
import rocelab
from rocelab import placing, store

at, refused, action = int(sys.argv[1]), sys.argv[2] == "refused", sys.argv[3]
step = 0

def counted(function):
    def call(*arguments, **options):
        global step
        step += 1
        if step == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return call

if refused:
    placing._renameat2 = lambda *_: 22
placing._renameat2 = counted(placing._renameat2)
os.fsync = counted(os.fsync)
os.rename = counted(os.rename)
os.replace = counted(os.replace)
os.unlink = counted(os.unlink)
os.rmdir = counted(os.rmdir)
Path.rename = counted(Path.rename)
Path.replace = counted(Path.replace)
Path.unlink = counted(Path.unlink)
if action == "put":
    store.put(Path(sys.argv[4]), b"new")
else:
    rocelab.open(sys.argv[4]).save(sys.argv[5], force=action == "force")
"""
"""Kills itself at one of the renames, fsyncs and removals of a save."""


def killed(at: int, *arguments: object) -> bool:
    """Whether the process came as far as step ``at``."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(at), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


@pytest.mark.parametrize(
    ("action", "refused"),
    [("new", False), ("force", False), ("force", True)],
    ids=["new", "force", "force-no-flags"],
)
def test_after_a_kill_at_any_step_the_next_command_restores_or_cleans_up(
    three_runs: list[rocelab.Result],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
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
    at = kills = 0
    while True:
        at += 1
        out = here / str(at) / "out"
        if action == "force":
            old.save(out)
            for name, text in others.items():
                (out / name).parent.mkdir(exist_ok=True)
                (out / name).write_text(text)
        if not killed(at, "refused" if refused else "flags", action, source, out):
            break
        kills += 1
        left = {entry.name for entry in out.parent.iterdir()} if out.parent.exists() else set()
        capsys.readouterr()
        saving.settle_all(out.parent)
        told = capsys.readouterr().err
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
    assert rocelab.open(out).summary == new.summary


def test_after_a_kill_a_file_is_the_old_or_the_new_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "simulator.sha256"
    at = 0
    while True:
        at += 1
        file.write_text("old")
        if not killed(at, "flags", "put", file):
            break
        assert file.read_text() in ("old", "new")
        left = {entry.name for entry in tmp_path.iterdir()}
        capsys.readouterr()
        put(file, b"next")
        assert file.read_text() == "next"
        assert [entry.name for entry in tmp_path.iterdir()] == ["simulator.sha256"]
        told = capsys.readouterr().err
        hidden = sorted(left - {file.name, ".simulator.sha256.rocelab-lock"})
        assert told == "".join(
            f"{file}: removed {name}, which a killed process had left\n" for name in hidden
        )
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


def test_leftovers_of_a_living_process_are_left_alone(
    incast: rocelab.Result, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    script = (
        "import sys, time; from pathlib import Path; from rocelab import placing\n"
        "target = Path(sys.argv[1])\n"
        "with placing.locked(target):\n"
        "    placing.make_temporary(target)\n"
        "    print(flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, out], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        before = sorted(entry.name for entry in tmp_path.iterdir())
        saving.settle_all(tmp_path)
        runner.run_all({"a": incast.scenario}, tmp_path)
        after = {entry.name for entry in tmp_path.iterdir()}
        assert set(before) <= after
        process.kill()
    saving.settle_all(tmp_path)
    assert not [entry for entry in tmp_path.iterdir() if entry.name[0] == "."]
