"""What the tests share: small scenarios and a way to start the command."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import command_server
import rocelab
from rocelab.cli import _code_of
from rocelab.io.checksums import add_checksums

# A debug build says so on the standard error stream, which the tests look at.
os.environ["PYTHONWARNINGS"] = "ignore:rocelab was built for development:RuntimeWarning"

# How long a case may take: with other work on the machine a fifth of a second is soon over.
hypothesis.settings.register_profile("rocelab", deadline=None)
hypothesis.settings.load_profile("rocelab")

INCAST = """\
[topology]
kind = "star"
hosts = 5
host_rate = "100Gbps"
host_delay = "1us"

[scheme]
name = "dcqcn"

[[traffic]]
kind = "incast"
tag = "incast"
senders = ["h0", "h1", "h2"]
receiver = "h4"
size = "300KB"

[[traffic]]
kind = "flows"
tag = "victim"
flows = [{ src = "h0", dst = "h3", size = "100KB", start = "10us" }]

[[probe]]
name = "bottleneck"
kind = "queue"
ports = ["s0:h4"]
interval = "1us"

[[probe]]
name = "goodput"
kind = "throughput"
ports = ["s0:h3", "s0:h4"]
interval = "5us"
"""

LOSSY = """\
[topology]
kind = "star"
hosts = 5
host_rate = "100Gbps"
host_delay = "1us"

[pfc]
xoff = "20KB"
xon = "18KB"
headroom = "1KB"

[[traffic]]
kind = "incast"
senders = 4
receiver = "h4"
size = "300KB"
"""
"""Too little headroom: a lossless class loses packets."""

POISSON = """\
[run]
stop = "{stop}"

[topology]
kind = "star"
hosts = 32
host_rate = "100Gbps"
host_delay = "1us"

[[traffic]]
kind = "poisson"
workload = "WebSearch"
load = 0.6
"""

_TIMEOUT_S = 120
"""Until when a command must have ended."""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def reseal(directory: Path) -> None:
    """Gives a result directory the checksums of what it holds: as if it had been written so."""
    summary = json.loads((directory / "summary.json").read_text(encoding="utf-8"))
    (directory / "summary.json").unlink()
    text = json.dumps(add_checksums(summary, directory))
    (directory / "summary.json").write_text(text, encoding="utf-8")


def assert_one_error(stderr: str) -> None:
    """Fails unless this is a line with an error, and at most one with a hint."""
    lines = stderr.splitlines()
    assert lines, "no error"
    assert lines[0].startswith("error: ")
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("hint: ")), stderr


RUN = frozenset({"rocelab run"})
SET_UP = frozenset({"rocelab check", *RUN})
"""Names of threads: scenarios are read and checked in others than those of runs."""


def wait_until_running(
    process: subprocess.Popen[bytes],
    threads: int = 1,
    *,
    names: frozenset[str] = RUN,
    worked_s: float = 0.5,
) -> None:
    """Returns when ``threads`` threads of the process with one of ``names`` have worked a while."""
    deadline = time.monotonic() + 60
    while True:
        working = [
            task
            for task in Path(f"/proc/{process.pid}/task").iterdir()
            if _name(task) in names and processor_s(task) >= worked_s
        ]
        if len(working) >= threads:
            return
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _name(task: Path) -> str:
    try:
        return (task / "comm").read_text(encoding="utf-8").strip()
    except OSError:
        # It is over.
        return ""


def processor_s(place: Path) -> float:
    """Processor time that a process or thread has had, whose directory in /proc this is."""
    try:
        text = (place / "stat").read_text(encoding="utf-8")
    except OSError:
        # It is over.
        return 0.0
    # The name, in brackets, may hold anything; the third field follows. The 14th is the time
    # outside of the system, and the 15th that in it.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def command() -> Command:
    """Runs ``rocelab`` with arguments in a process of its own.

    It is forked from one that has imported the command and its libraries, unless options other than
    ``cwd`` are given: then a new interpreter is started, which sees its environment from the start.
    """

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
        words = [str(argument) for argument in arguments]
        if options.keys() <= {"cwd"}:
            return command_server.run(words, options.get("cwd"), dict(os.environ), _TIMEOUT_S)
        return subprocess.run(
            [sys.executable, "-m", "rocelab", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_S,
            **options,
        )

    return run


def command_here(*words: object) -> tuple[int, str, str]:
    """Exit code and output of ``rocelab`` with these arguments in this process."""
    from rocelab.cli.commands import app_for

    given = [str(word) for word in words]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _code_of(lambda: app_for(given[0])(given))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def incast_file(tmp_path: Path) -> Path:
    path = tmp_path / "incast.toml"
    path.write_text(INCAST, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def incast() -> rocelab.Result:
    return rocelab.run(rocelab.Scenario.from_toml(INCAST))


@pytest.fixture(scope="session")
def three_runs() -> list[rocelab.Result]:
    scenario = rocelab.Scenario.from_toml(INCAST)
    return [rocelab.run(scenario.with_settings(scheme=name)) for name in ("none", "dcqcn", "hpcc")]


@pytest.fixture(scope="session")
def long_scenario() -> str:
    """A scenario that runs for a minute or more unless it is stopped."""
    return POISSON.format(stop="500ms")


@pytest.fixture(autouse=True)
def obeys_ctrl_c() -> Iterator[None]:
    """SIGINT is heeded, also where the shell that started the tests has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
