"""Runs the ``rocelab`` command in processes that are forked, with its modules imported already.

Tests start it more than a thousand times. To import its modules and the libraries behind them takes
most of a short command.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rocelab.cli import main

_CONTEXT = multiprocessing.get_context("forkserver")
# The command, and what it imports late: what draws takes half a second of processor time, papers a
# tenth. A module that is not there is passed over.
_CONTEXT.set_forkserver_preload(
    [
        "rocelab.cli.app",
        "typer._adapters",
        "polars",
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "rocelab.plot.figure",
        "rocelab.plot.gallery",
        "rocelab.hpcc.fct",
        "rocelab.papers.reproduce",
        "rocelab.plan",
        "rocelab.report",
        "rocelab.report.page",
        "rocelab.sweeps.cache",
    ]
)


def run(
    arguments: list[str], cwd: str | os.PathLike[str] | None, env: dict[str, str], timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """Runs the command as :func:`subprocess.run` would, and captures its output."""
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(scratch) / name for name in ("out", "err")]
        process = _CONTEXT.Process(
            target=_command, args=(arguments, None if cwd is None else str(cwd), env, files)
        )
        process.start()
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(arguments, timeout_s)
        out, err = (file.read_text(encoding="utf-8") for file in files)
    return subprocess.CompletedProcess(["rocelab", *arguments], process.exitcode, out, err)


def _command(arguments: list[str], cwd: str | None, env: dict[str, str], files: list[Path]) -> None:
    for handle, (name, file) in enumerate(zip(("stdout", "stderr"), files, strict=True), 1):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.dup2(opened, handle)
        os.close(opened)
        stream = io.TextIOWrapper(os.fdopen(handle, "wb", closefd=False), encoding="utf-8")
        setattr(sys, name, stream)
    os.environ.clear()
    os.environ.update(env)
    if cwd is not None:
        os.chdir(cwd)
    sys.argv = ["rocelab", *arguments]
    main()
