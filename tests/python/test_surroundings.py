"""What surrounds a command: its locale, its variables, the directory that it is started in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import rocelab
from conftest import INCAST


def command(
    *arguments: object, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs the command in an interpreter of its own, as all of this is looked at when it starts."""
    return subprocess.run(
        [sys.executable, "-m", "rocelab", *map(str, arguments)],
        capture_output=True,
        check=False,
        timeout=60,
        cwd=cwd,
        env={**os.environ, **variables},
    )


def test_a_name_that_the_locale_cannot_write_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(f'name = "größe"\n{INCAST}', encoding="utf-8")
    ascii_names = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    over = ("--over", "scheme.name=none,hpcc", "--metric", "max_queue_bytes")
    for words in (("run", "s.toml"), ("sweep", "s.toml", *over)):
        failed = command(*words, cwd=tmp_path, **ascii_names)
        assert failed.returncode == 2, failed.stderr
        assert failed.stderr.splitlines() == [
            b"error: '\\xf6\\xdf' cannot be in a file name in ascii",
            b"hint: choose a locale with UTF-8, such as LC_ALL=C.UTF-8",
        ]
        assert command(*words, "--out", words[0], cwd=tmp_path, **ascii_names).returncode == 0


def test_the_backend_of_a_notebook_or_a_desktop_does_not_matter(tmp_path: Path) -> None:
    # Without series there are few pictures.
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(probe=[])
    rocelab.run(scenario).save(tmp_path / "r")
    for backend in ("TkAgg", "nonsense", "module://not_installed"):
        done = command("plot", "r", cwd=tmp_path, MPLBACKEND=backend)
        assert (done.returncode, done.stderr) == (0, b""), backend


def test_a_directory_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    gone = tmp_path / "gone"
    gone.mkdir()
    leave = f"rmdir {gone} && exec {sys.executable} -m rocelab run {tmp_path}/s.toml"
    failed = subprocess.run(
        ["/bin/sh", "-c", leave], cwd=gone, capture_output=True, text=True, check=False, timeout=60
    )
    assert failed.returncode == 2
    assert failed.stderr == "error: current directory: No such file or directory\n"
