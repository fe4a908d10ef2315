"""Runs side by side, and a cache that has each run made only once.

There a result is kept under a hash of its complete scenario and of the simulator.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import TypeVar

from rocelab import _rocelab
from rocelab.errors import ConfigError, ResultError
from rocelab.memory import check_runs
from rocelab.placing import locked
from rocelab.progress import runs_bar
from rocelab.result import Result
from rocelab.saving import save, settle_all
from rocelab.scenario import Scenario
from rocelab.simulate import Progress, check_count, run_checked
from rocelab.stopping import held_back
from rocelab.store import check_directory, check_files, open_quietly, open_result, refusals

Name = TypeVar("Name", bound=Hashable)
Tick = Callable[[Progress], None]
"""What is told how far a run has come."""

_TICK_S = 0.1
"""How often Ctrl-C is looked at."""


def default_cache() -> Path:
    """``rocelab`` in the user's cache directory."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rocelab"
    except RuntimeError:
        raise ConfigError(
            "the user has no home directory to keep results in", hint="say where: --cache DIR"
        ) from None


def run_all(
    scenarios: Mapping[str, Scenario],
    directory: Path,
    *,
    jobs: int | None = None,
    progress: bool = False,
) -> dict[str, Result]:
    """The results of ``scenarios``, from the cache in ``directory`` or by ``jobs`` runs at a time.

    An entry of the cache that is damaged, or that is of another scenario, is run again. On Ctrl-C
    what is complete stays there. Raises :class:`ResultError`, before the runs, where no result
    could be put there.
    """
    check_jobs(jobs)
    settle_all(directory)
    homes = {name: directory / _key(scenario) for name, scenario in scenarios.items()}
    wanted = {homes[name]: scenario for name, scenario in scenarios.items()}
    results = {home: _cached(home, scenario) for home, scenario in wanted.items()}
    missing = {home: scenario for home, scenario in wanted.items() if results[home] is None}
    if missing:
        check_runs(missing.values(), at_a_time(jobs, len(missing)))
        check_directory(directory)

    def make(home: Path, tick: Tick) -> None:
        # Another process may have been faster: its result is the same.
        save(run_checked(missing[home], threads=1, progress=tick), home, force=True)

    side_by_side(list(missing), make, jobs=jobs, progress=progress)
    return {name: results[home] or open_result(home) for name, home in homes.items()}


def check_jobs(jobs: int | None) -> None:
    """Raises where so many runs cannot go at a time; None is one for each of :func:`processors`."""
    if jobs is not None:
        check_count("jobs", jobs)


def at_a_time(jobs: int | None, runs: int) -> int:
    """How many of so many ``runs`` go at a time."""
    return min(jobs or processors(), runs)


def processors() -> int:
    """How many processors this process may use: not all, where a scheduler gave it some."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cached(home: Path, scenario: Scenario) -> Result | None:
    """The result that the cache has there, if it is sound and of ``scenario``."""
    result = open_sound(home, scenario)
    if result is None and home.exists():
        # What another process may have put there since is sound.
        with refusals(home), locked(home):
            try:
                return _sound(home, scenario)
            except ResultError:
                shutil.rmtree(home, ignore_errors=True)
    return result


def open_sound(home: Path, scenario: Scenario | None = None) -> Result | None:
    """The result in ``home``; None where there is none, or a damaged one, which is said.

    With ``scenario`` one of another scenario, or without checksums, counts as damaged.
    """
    with refusals(home, "read"):
        if not home.exists():
            return None
    try:
        return _sound(home, scenario)
    except ResultError as error:
        told_again(error.args[0])
        return None


def told_again(why: str) -> None:
    """Says that a run is made again, and why: the text of an error, which is fit for a terminal."""
    print(f"{why}; its run is made anew", file=sys.stderr)


def _sound(home: Path, scenario: Scenario | None) -> Result:
    """As :func:`open_sound`; raises :class:`ResultError` where there is none, or a damaged one."""
    result = open_quietly(home)
    check_files(result)
    if scenario is not None:
        if result.unverified:
            raise ResultError(f"{home}: has no checksums")
        if result.scenario_toml != scenario.to_toml():
            raise ResultError(f"{home}: is the result of another scenario")
    return result


def side_by_side(
    names: Sequence[Name],
    make: Callable[[Name, Tick], None],
    *,
    jobs: int | None = None,
    progress: bool = False,
) -> None:
    """Calls ``make`` for each of ``names``, in ``jobs`` threads, which :func:`check_jobs` passed.

    What ``make`` is given besides is to be told of its run's progress, and stops the run where
    another one failed. On Ctrl-C all runs are stopped; what is being saved is saved to its end.
    """
    if not names:
        return
    import polars as pl  # noqa: F401 (before signals are held back)

    stop = threading.Event()
    with (
        held_back() as signals,
        runs_bar(len(names), shown=progress) as show,
        ThreadPoolExecutor(jobs or processors()) as pool,
    ):

        def one(name: Name) -> None:
            def tick(state: Progress) -> None:
                if stop.is_set():
                    raise _StoppedError
                show(name, state.fraction)

            make(name, tick)
            show(name, 1.0)

        try:
            pending = {pool.submit(one, name) for name in names}
            while pending:
                if signals:
                    raise KeyboardInterrupt
                done, pending = wait(pending, _TICK_S, FIRST_COMPLETED)
                for future in done:
                    future.result()
        except BaseException:
            # The pool waits for its threads, each of which looks at this ten times a second.
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _StoppedError(Exception):
    """Another run failed, or the user has had enough."""


def _key(scenario: Scenario) -> str:
    text = f"{simulator()}\n{scenario.to_toml()}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@cache
def simulator() -> str:
    """What tells one build of the simulator from another."""
    return hashlib.sha256(Path(_rocelab.__file__).read_bytes()).hexdigest()
