"""Runs side by side: in this process, or on executors (processes, the workers of a cluster)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from rocelab import __version__
from rocelab._progress import runs_bar
from rocelab.errors import ConfigError, MissingPackageError, RocelabError, SimulationError
from rocelab.scenario import Scenario
from rocelab.signals import deferred_signals
from rocelab.simulate import run_checked
from rocelab.sweeps.parallel import Tick, Workers, run_parallel
from rocelab.sweeps.simulator import simulator_hash

if TYPE_CHECKING:
    from rocelab.result import Result

Name = TypeVar("Name", bound=Hashable)

_TICK_S = 0.1
"""Interval in which signals are checked."""

_MAX_PENDING = 4096
"""Runs that an executor has at a time. Others are submitted when results have come back."""

_RETRIES = 3
"""How often a cluster runs a scenario again whose worker was lost."""


def run_scenario(scenario_toml: str, simulator: str) -> Result:
    """Runs a complete scenario on one thread. For workers, which may be other machines.

    Raises :class:`SimulationError` where the ``simulator`` that is asked for, by its hash, is
    another one than that of this process. It may know other schemes, or give other numbers.
    """
    if simulator != simulator_hash():
        raise SimulationError(
            "a worker has another rocelab than the process that asks it to run a scenario",
            hint=f"install the same version and build on all: that one has {__version__}",
        )
    return run_checked(Scenario.from_toml(scenario_toml), threads=1)


def run_scenarios(
    names: Sequence[Name],
    scenario_of: Callable[[Name], Scenario],
    store: Callable[[Name, Result], None],
    workers: Workers,
    *,
    progress: bool = False,
) -> None:
    """Runs scenarios on ``workers``.

    Each run has one thread, and each result goes to ``store`` when it is there.
    """
    if workers.executor is not None:
        _run_on(workers.executor, names, scenario_of, store, progress=progress)
        return

    def make(name: Name, tick: Tick) -> None:
        store(name, run_checked(scenario_of(name), threads=1, progress=tick))

    run_parallel(names, make, threads=workers.threads, progress=progress)


def _run_on(
    executor: Executor,
    names: Sequence[Name],
    scenario_of: Callable[[Name], Scenario],
    store: Callable[[Name, Result], None],
    *,
    progress: bool = False,
) -> None:
    """Runs scenarios on ``executor``, and hands each result to ``store`` when it is there.

    Results come back as they are pickled, so workers need no directory that they share with this
    process. On Ctrl-C, runs that have not begun are cancelled; what was stored stays.
    """
    simulator = simulator_hash()
    remaining = iter(names)
    pending: dict[Future[Result], Name] = {}
    with deferred_signals() as signals, runs_bar(len(names), shown=progress) as show:
        try:
            while True:
                for name in islice(remaining, _MAX_PENDING - len(pending)):
                    if signals:
                        raise KeyboardInterrupt
                    scenario_toml = scenario_of(name).to_toml()
                    with _executor_errors():
                        future = executor.submit(run_scenario, scenario_toml, simulator)
                    pending[future] = name
                if not pending:
                    break
                if signals:
                    raise KeyboardInterrupt
                done, _ = wait(pending, _TICK_S, FIRST_COMPLETED)
                failed: RocelabError | MemoryError | None = None
                for future in done:
                    name = pending.pop(future)
                    try:
                        with _executor_errors():
                            result = future.result()
                    except (RocelabError, MemoryError) as error:
                        # Those that ended beside it are stored first.
                        failed = error
                        continue
                    store(name, result)
                    show(name, 1.0)
                if failed is not None:
                    raise failed
        finally:
            for future in pending:
                future.cancel()


@contextmanager
def _executor_errors() -> Iterator[None]:
    """What is wrong with an executor, and not with a run, becomes a :class:`SimulationError`.

    Each kind of executor has its own exceptions for workers that die or cannot be reached.
    """
    try:
        yield
    except (RocelabError, MemoryError):
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise SimulationError(
            f"the executor cannot make a run: {what}",
            hint="runs that are complete stay. Its workers need rocelab and memory for a run each, "
            "and must be in reach until the end",
        ) from error


@contextmanager
def dask_executor(address: str | None) -> Iterator[Executor | None]:
    """The workers of the Dask cluster at ``address``, as an executor; none without an address."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise MissingPackageError(
            "--dask", "dask.distributed", install="pip install 'rocelab[dask]'"
        ) from None
    try:
        client = Client(address)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--dask {address}: cannot reach a Dask scheduler: {error}",
            hint="such as tcp://HOST:8786, as `dask scheduler` prints it",
        ) from None
    with client:
        yield client.get_executor(retries=_RETRIES)  # type: ignore[no-untyped-call]
