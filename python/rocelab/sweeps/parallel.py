"""Runs side by side, in threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Hashable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

from rocelab._memory import check_runs
from rocelab._progress import runs_bar
from rocelab.errors import ConfigError
from rocelab.scenario import Scenario
from rocelab.signals import deferred_signals
from rocelab.simulate import Progress, check_count

Name = TypeVar("Name", bound=Hashable)

Tick = Callable[[Progress], None]
"""Called with the progress of a run."""

_TICK_S = 0.1
"""Interval in which signals are checked."""


@dataclass(frozen=True)
class Workers:
    """Where runs are made: in ``jobs`` threads of this process, or on an executor.

    Without either, there is a thread for each processor.
    """

    jobs: int | None = None
    executor: Executor | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None:
            check_count("jobs", self.jobs)
        if self.executor is None:
            return
        if not callable(getattr(self.executor, "submit", None)):
            raise TypeError(f"executor must be one of concurrent.futures, not {self.executor!r}")
        if self.jobs is not None:
            raise ConfigError(
                "the executor's workers decide how many runs go at a time",
                key="jobs",
                hint="leave out jobs= or executor=, --jobs or --dask",
            )

    @property
    def threads(self) -> int:
        """The runs that go at a time in this process."""
        return self.jobs or available_cores()

    def check_memory(self, scenarios: Collection[Scenario]) -> None:
        """Compares the memory of their runs with the limits of this process, if they are made here.

        Raises and warns as :func:`rocelab._memory.check_runs`.
        """
        if self.executor is None:
            check_runs(scenarios, min(self.threads, len(scenarios)))


def available_cores() -> int:
    """How many processors this process may use. A scheduler may have given it a part of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_parallel(
    names: Sequence[Name],
    make: Callable[[Name, Tick], None],
    *,
    threads: int,
    progress: bool = False,
) -> None:
    """Calls ``make`` for each of ``names``, in up to ``threads`` threads.

    ``make`` also gets a function that it must call with the progress of its run. That function
    stops the run if another one failed. On Ctrl-C all runs stop; saves that have begun are
    finished.
    """
    if not names:
        return
    import polars as pl  # noqa: F401 (before signals are held back)

    stop = threading.Event()
    with (
        deferred_signals() as signals,
        runs_bar(len(names), shown=progress) as show,
        ThreadPoolExecutor(threads) as pool,
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
    """Raised in a run's progress callback to stop it: another run failed, or Ctrl-C was pressed."""
