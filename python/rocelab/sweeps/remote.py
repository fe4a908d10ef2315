"""Runs on executors: processes, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rocelab._progress import runs_bar
from rocelab.errors import ConfigError, SimulationError
from rocelab.scenario import Scenario
from rocelab.signals import deferred_signals
from rocelab.sweeps.cache import simulator_hash

if TYPE_CHECKING:
    from rocelab.result import Result
    from rocelab.sweeps.plan import Case

_TICK_S = 0.1
"""Interval in which signals are checked."""

_RETRIES = 3
"""How often a cluster runs a case again whose worker was lost."""


def run_scenario(scenario_toml: str) -> tuple[Result, str]:
    """Runs a complete scenario on one thread. Returns the result and the simulator's hash."""
    from rocelab.simulate import run_checked

    scenario = Scenario.from_toml(scenario_toml)
    return run_checked(scenario, threads=1), simulator_hash()


def run_on(
    executor: Executor,
    cases: Sequence[Case],
    text_of: Callable[[Case], str],
    store: Callable[[Case, Result], None],
    *,
    progress: bool = False,
) -> None:
    """Runs ``cases`` on ``executor``, and hands each result to ``store`` when it is there.

    ``text_of`` gives the complete scenario of a case. Results come back as they are pickled, so
    workers need no directory that they share with this process. On Ctrl-C, runs that have not
    begun are cancelled; what was stored stays.
    """
    with deferred_signals() as signals, runs_bar(len(cases), shown=progress) as show:
        pending: dict[Future[tuple[Result, str]], Case] = {
            executor.submit(run_scenario, text_of(case)): case for case in cases
        }
        try:
            while pending:
                if signals:
                    raise KeyboardInterrupt
                done, _ = wait(pending, _TICK_S, FIRST_COMPLETED)
                for future in done:
                    case = pending.pop(future)
                    result, simulator = future.result()
                    if simulator != simulator_hash():
                        raise SimulationError(
                            "a worker has another rocelab than this process; install the same "
                            "version on all"
                        )
                    store(case, result)
                    show(case, 1.0)
        finally:
            for future in pending:
                future.cancel()


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The workers of the Dask cluster at ``address``, as an executor."""
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError(
            "--dask needs dask.distributed, which is not installed",
            hint="pip install 'rocelab[dask]'",
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
