"""Results, names and files of unknown origin: what they print, where they lead, how they end."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rocelab
from conftest import INCAST, SET_UP, processor_s, reseal, wait_until_running
from conftest import command_here as told
from rocelab._text import json_text, printable, printable_lines
from rocelab.errors import ConfigError, ResultError
from rocelab.io.names import file_name

Command = Callable[..., subprocess.CompletedProcess[str]]

UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that no terminal is sent."""

ODD = [
    "\x1b]0;owned\x07",
    "\x9b31m",
    "\u202eabc",
    "a\u200bb",
    "a\u2028b",
    "\ud800",
    "../../x",
    "/x",
]
"""What a stranger may write as a name."""

texts = st.one_of(st.sampled_from(ODD), st.text(st.characters(codec=None), max_size=300))


def unseen(text: str) -> list[str]:
    return [letter for letter in text if unicodedata.category(letter) in UNSEEN and letter != "\n"]


def tree(directory: Path) -> dict[str, bytes]:
    """All files below a directory, and what they hold."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def received(incast: rocelab.Result, tmp_path: Path) -> Path:
    """A result in a directory of its own, which a test may change."""
    return incast.save(tmp_path / "home" / "received")


def edited(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = directory / "summary.json"
    summary = json.loads(path.read_text())
    change(summary)
    path.write_text(json.dumps(summary))
    try:
        reseal(directory)
    except (ValueError, RecursionError):
        # No version seals these. A version that knew no checksums may have written them.
        summary.pop("checksums", None)
        if summary["schema"] == 2:
            summary["schema"] = 1
        path.write_text(json.dumps(summary))


def assert_refused(code: int, out: str, err: str) -> None:
    """One error, perhaps with advice, and nothing else."""
    assert (code, out) == (2, ""), err
    first, *rest = err.splitlines()
    assert first.startswith("error: ")
    assert all(line.startswith("hint: ") for line in rest)
    assert len(rest) <= 1
    assert not unseen(err)
    assert len(first) < 1100


@given(texts, st.integers(1, 300))
def test_any_text_is_printed_as_a_short_line(text: str, most: int) -> None:
    line = printable(text, most)
    assert not unseen(line)
    assert "\n" not in line
    assert len(line) <= most
    assert printable(line, most) == line


def test_what_is_seen_is_printed_as_it_is() -> None:
    for text in ("plain", "Grüße 你好 🙂 e\u0301", "a\u00a0b", "a\u3000b", r"C:\dir"):
        assert printable(text) == text
    assert printable("\x1b[31m\u202e\ud800") == r"\u{1b}[31m\u{202e}\ud800"
    assert printable_lines("a\nb\x1b\n") == "a\nb\\u{1b}\n"
    assert printable("a" * 10_000, 9) == "aaaaaa…aa"


@given(st.dictionaries(texts, texts, max_size=3))
def test_any_text_as_json_is_the_same_and_safe(data: dict[str, str]) -> None:
    text = json_text(data)
    assert not unseen(text)
    assert json.loads(text) == data


@given(texts, texts)
def test_any_name_has_a_file_of_its_own_in_the_directory(name: str, other: str) -> None:
    file = file_name(name)
    assert Path("/home", file).resolve().parent == Path("/home").resolve()
    assert len(os.fsencode(file)) <= 200
    assert file.isascii()
    assert not unseen(file)
    assert not file.startswith(".")
    assert file
    assert name == other or file != file_name(other)


@given(st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}", fullmatch=True))
def test_names_of_probes_are_names_of_files(name: str) -> None:
    assert file_name(name) == name


FIELDS = [
    *("name", "scheme", "preset", "version", "caveat", "digest"),
    *("series.0.name", "series.0.kind", "series.0.unit", "series.0.column"),
    *("warnings.0", "traces.0.name", "counters.KEY", "KEY"),
]
"""Text of a summary; ``KEY`` is one that is called so."""


def put_text(summary: dict[str, Any], field: str, text: str) -> None:
    """Puts a text where ``field`` says."""
    summary["warnings"] = [""]
    if field.startswith("traces"):
        summary["traces"] = [{"name": "", "rows": 0, "start_ps": 0, "end_ps": 0}]
    *steps, last = field.split(".")
    place: Any = summary
    for step in steps:
        place = place[int(step)] if step.isdigit() else place[step]
    if last == "KEY":
        place[text] = 1
    else:
        place[int(last) if last.isdigit() else last] = text


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(field=st.sampled_from(FIELDS), text=texts, newer=st.booleans())
def test_any_text_in_a_summary_prints_no_control_character(
    incast: rocelab.Result,
    tmp_path_factory: pytest.TempPathFactory,
    field: str,
    text: str,
    newer: bool,
) -> None:
    home = tmp_path_factory.mktemp("home")
    directory = incast.save(home / "received")
    edited(directory, lambda summary: put_text(summary, field, text))
    if newer:
        edited(directory, lambda summary: summary.update(schema=99))
    before = tree(home)
    code, out, err = told("fct", directory)
    assert code in (0, 2)
    assert not unseen(out + err)
    with contextlib.suppress(ResultError):
        opened = rocelab.open(directory)
        assert not unseen(repr(opened))
        opened.save(home / "again")
        shutil.rmtree(home / "again")
    assert tree(home) == before


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    field=st.sampled_from(["name", "scheme", "series.0.kind", "warnings.0", "caveat"]), text=texts
)
def test_any_text_in_a_summary_draws_in_its_directory(
    incast: rocelab.Result, tmp_path_factory: pytest.TempPathFactory, field: str, text: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    directory = incast.save(home / "received")
    edited(directory, lambda summary: put_text(summary, field, text))
    before = tree(home)
    code, out, err = told("plot", directory)
    assert code in (0, 2)
    assert not unseen(out + err)
    new = set(tree(home)) - set(before)
    assert all(name.startswith("received/plots/") for name in new)


@pytest.fixture(scope="module")
def without_series() -> rocelab.Result:
    return rocelab.run(rocelab.Scenario.from_toml(INCAST).with_settings(probe=[]))


@pytest.mark.parametrize("text", ODD)
def test_text_of_tables_is_printed_safely(
    without_series: rocelab.Result, tmp_path: Path, text: str
) -> None:
    received = without_series.save(tmp_path / "received")
    # Parquet holds no half of a surrogate pair.
    text = text.replace("\ud800", "\x1b")
    path = received / "flows.parquet"
    flows = pl.read_parquet(path).with_columns(tag=pl.lit(text * 50), src=pl.lit(text))
    flows.write_parquet(path)
    reseal(received)
    for words in (["fct", received, "--tag", "none"], ["plot", received]):
        _, out, err = told(*words)
        assert not unseen(out + err)
        assert all(len(line) < 2200 for line in (out + err).splitlines())


BAD: dict[str, Callable[[dict[str, Any]], object]] = {
    "NaN in a bin": lambda summary: summary["slowdown"]["bins"][0].update(upper_bytes=float("nan")),
    "an infinite number": lambda summary: summary.update(intra_inter_slowdown=float("inf")),
    "a number too large": lambda summary: summary.update(simulated_ns=10**400),
    "half of a surrogate pair": lambda summary: summary.update(scheme="a\ud800"),
    "a long name": lambda summary: summary.update(name="x" * 200_000),
    "a long key": lambda summary: summary.update({"x" * 200_000: 1}),
    "a name with a slash": lambda summary: summary["series"][0].update(name="../../x"),
    "a name from the root": lambda summary: summary["series"][0].update(name="/x"),
    "a kind that leads out": lambda summary: summary["series"][0].update(kind="../../x"),
    "a name twice": lambda summary: summary["series"].append(summary["series"][0]),
    "a flag for a number": lambda summary: summary.update(flows=True),
    "deep lists": lambda summary: summary.update(extra=[[[[[[[[[[]]]]]]]]]]),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_what_no_summary_says_is_refused_in_a_line(
    received: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    edited(received, change)
    before = tree(received.parent)
    for command in ("fct", "plot"):
        begin_s = time.process_time()
        assert_refused(*told(command, received))
        assert time.process_time() - begin_s < 10
    assert tree(received.parent) == before


@pytest.mark.parametrize(
    ("table", "column"), [("flows", "slowdown"), ("series/bottleneck", "queue_bytes")]
)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_tables_hold_finite_numbers(received: Path, table: str, column: str, value: float) -> None:
    path = received / f"{table}.parquet"
    frame = pl.read_parquet(path)
    column = column if column in frame.columns else frame.columns[-1]
    frame = frame.with_columns(pl.lit(value).alias(column))
    frame.write_parquet(path)
    reseal(received)
    code, out, err = told("plot", received)
    assert_refused(code, out, err)
    assert f"{path}: damaged: the column {column} has values that are no numbers" in err


PARTS = [
    "summary.json",
    "scenario.toml",
    "drops.json",
    "flows.parquet",
    "series/bottleneck.parquet",
]


def given_drops(received: Path) -> None:
    """Files that are not in the checksums, as those of drops may be, are not looked at."""
    if not (received / "drops.json").exists():
        (received / "drops.json").write_text("[]")
        reseal(received)


@pytest.mark.parametrize("part", PARTS)
def test_links_do_not_lead_out_of_a_result(received: Path, part: str) -> None:
    outside = received.parent / "outside"
    path = received / part
    given_drops(received)
    path.rename(outside)
    path.symlink_to(outside)
    code, out, err = told("plot", received)
    assert_refused(code, out, err)
    assert f"{part}: leads out of the result" in err
    # Within it a link is a name like any other.
    path.unlink()
    outside.rename(received / "inside")
    path.symlink_to(received / "inside")
    assert told("fct", received)[0] == 0


def test_a_directory_of_a_result_may_be_no_link_either(received: Path) -> None:
    shutil.move(received / "series", received.parent / "series")
    (received / "series").symlink_to(received.parent / "series")
    code, out, err = told("plot", received)
    assert_refused(code, out, err)
    assert "leads out of the result" in err


def test_pictures_replace_links_and_not_what_these_lead_to(received: Path) -> None:
    precious = received.parent / "precious"
    precious.write_text("mine")
    (received / "plots").mkdir()
    for name in ("fct.png", "queue.svg"):
        (received / "plots" / name).symlink_to(precious)
    os.mkfifo(received / "plots" / "fct.svg")
    code, _, err = told("plot", received)
    assert (code, err) == (0, "")
    assert precious.read_text() == "mine"
    for name in ("fct.png", "queue.svg", "fct.svg"):
        picture = received / "plots" / name
        assert picture.is_file()
        assert not picture.is_symlink()


def test_pictures_do_not_go_where_a_link_leads(received: Path) -> None:
    elsewhere = received.parent / "elsewhere"
    elsewhere.mkdir()
    (received / "plots").symlink_to(elsewhere)
    code, out, err = told("plot", received)
    assert_refused(code, out, err)
    assert "--out DIR" in err
    assert not any(elsewhere.iterdir())
    assert told("plot", received, "--out", elsewhere)[0] == 0


@pytest.mark.parametrize("part", PARTS)
def test_a_pipe_in_a_result_is_refused_at_once(command: Command, received: Path, part: str) -> None:
    given_drops(received)
    (received / part).unlink()
    os.mkfifo(received / part)
    done = command("plot", received)
    assert_refused(done.returncode, done.stdout, done.stderr)
    assert "is not a regular file" in done.stderr


def test_a_pipe_is_no_scenario_but_for_one_that_the_caller_has_opened(
    command: Command, incast_file: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        done = command("validate", path)
        assert_refused(done.returncode, done.stdout, done.stderr)
        assert done.stderr == f"error: {path}: is not a regular file\n"
    done = command("fct", tmp_path / "pipe")
    assert_refused(done.returncode, done.stdout, done.stderr)
    text = incast_file.read_text()
    done = command("validate", "/dev/stdin", input=text)
    assert done.returncode == 0, done.stderr
    assert done.stdout == command("validate", incast_file, "--set", "name=stdin").stdout


def test_few_files_at_once_are_told_in_a_line(received: Path) -> None:
    for limit in (5, 8, 12):
        for command in ("fct", "plot"):
            done = subprocess.run(
                [sys.executable, "-m", "rocelab", command, received],
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
                preexec_fn=partial(resource.setrlimit, resource.RLIMIT_NOFILE, (limit, limit)),
            )
            if limit < 11:
                assert_refused(done.returncode, done.stdout, done.stderr)
                assert "ulimit -n" in done.stderr
            else:
                assert (done.returncode, done.stderr) == (0, ""), limit


def test_errors_are_short_lines() -> None:
    long = "x" * 10_000
    for error in (
        ResultError(f"{long}\x1b: bad", hint=long),
        ConfigError(long, file="f", key=long, warnings=[f"{long}\u202e"]),
    ):
        assert len(str(error)) < 4000
        assert not unseen(str(error))
    with pytest.raises(ConfigError) as caught:
        rocelab.Scenario.from_toml(f'name = "a/\u202e{long}"\n[topology]\nkind = "{long}"')
    assert not unseen(str(caught.value))
    assert len(str(caught.value)) < 4000


LARGE = """
[topology]
kind = "fat-tree"
k = 80
host_rate = "100Gbps"
host_delay = "1us"
rate = "100Gbps"
delay = "1us"

[[traffic]]
kind = "permutation"
size = "1KB"
"""
"""A network that takes long to set up."""

MANY = """
[topology]
kind = "star"
hosts = 64
host_rate = "100Gbps"
host_delay = "1us"

[[traffic]]
kind = "poisson"
workload = "WebSearch"
load = 0.5
messages = 40_000_000
"""
"""A scenario whose messages take long to make."""


def workers() -> list[str]:
    """The threads of this process that work for it outside of Python."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            found.append((task / "comm").read_text().strip())
    return [name for name in found if name.startswith("rocelab ")]


def children_s() -> float:
    """Processor time of processes that this one has started, and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["validate", "plan", "run"])
@pytest.mark.parametrize("text", [LARGE, MANY], ids=["large", "many"])
def test_signals_end_a_command_that_sets_up(
    tmp_path: Path, command: str, text: str, number: signal.Signals
) -> None:
    (tmp_path / "s.toml").write_text(text)
    ended_s = children_s()
    process = subprocess.Popen(
        [sys.executable, "-m", "rocelab", command, "s.toml"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # To read the scenario of the large network takes less.
    wait_until_running(process, names=SET_UP, worked_s=0.3 if text == LARGE else 0.1)
    before_s = processor_s(Path(f"/proc/{process.pid}"))
    process.send_signal(number)
    # Others change nothing, also while the process ends.
    for _ in range(20):
        time.sleep(0.02)
        process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    # It does not finish its work, which would take longer.
    assert children_s() - ended_s - before_s < 1
    assert (process.returncode, stdout) == (130, b""), stderr
    assert b"Traceback" not in stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.toml"]


@pytest.mark.parametrize(
    "work",
    [
        lambda _: rocelab.Scenario.from_toml(MANY),
        lambda large: large.validate(),
        lambda large: large.plan(),
        rocelab.run,
    ],
    ids=["load", "validate", "plan", "run"],
)
def test_ctrl_c_is_raised_and_the_work_ends(work: Callable[[rocelab.Scenario], object]) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    large = rocelab.Scenario.from_toml(LARGE)
    before = signal.signal(signal.SIGALRM, interrupt)
    # Each work takes a second or more where it is not interrupted.
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            work(large)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not isinstance(caught.value, rocelab.Interrupted)
    deadline = time.monotonic() + 10
    while workers():
        assert time.monotonic() < deadline, "the work goes on"
        time.sleep(0.05)
