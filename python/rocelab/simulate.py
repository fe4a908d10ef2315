"""Running a scenario."""

from __future__ import annotations

import operator
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from rocelab import _memory, _rocelab
from rocelab._warn import warn
from rocelab.errors import ConfigError, Interrupted, RecordingError
from rocelab.result import Result
from rocelab.scenario import Scenario

IN_MEMORY = 32 << 20
"""Bytes of samples and events of a run that stay in memory; more go to a file."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    simulated_ps: int
    """Simulated time in picoseconds."""
    end_ps: int | None
    """The simulated time at which the run stops; None where that depends on the flows."""
    packet_hops: int
    """Packets serialised so far, counted at each port that sent them."""
    flows_done: int
    """Flows that have completed."""
    flows: int
    """Flows in all."""
    wall_s: float
    """Seconds since the run began."""

    @property
    def fraction(self) -> float:
        """The share that is done, from 0 to 1: of the time, or of the flows where that is open."""
        if self.end_ps:
            return min(1.0, self.simulated_ps / self.end_ps)
        return self.flows_done / self.flows if self.flows else 0.0


def run(
    scenario: Scenario,
    *,
    threads: int | None = None,
    progress: bool | Callable[[Progress], None] = False,
    scratch: str | PathLike[str] | None = None,
) -> Result:
    """Runs ``scenario`` and returns what came out.

    ``threads``, 1 or more, changes how long that takes and nothing else. ``progress`` shows a bar
    in a notebook or on the standard error stream, or is called ten times a second. Other Python
    threads go on meanwhile. Samples and events beyond 32 MiB go to a file in the directory
    ``scratch``, which must be there, or where temporary files go (``TMPDIR``). The file has no
    name, and is gone with the result.

    Raises :class:`Interrupted`, a KeyboardInterrupt that carries the partial result, on Ctrl-C. It
    is a plain KeyboardInterrupt, and nothing is kept, while the run is still being set up, and on
    another Ctrl-C while the result is being made.
    Raises :class:`SimulationError` where the run fails, :class:`ConfigError` where it clearly needs
    more memory than this process may take, and MemoryError where memory runs out in spite of that.
    :class:`RecordingError`, which carries the result, means that what is recorded finds no room.
    """
    check_scenario(scenario)
    check_scratch(scratch)
    _memory.check(scenario, "run")
    return run_checked(scenario, threads=threads, progress=progress, scratch=scratch)


def run_checked(
    scenario: Scenario,
    *,
    threads: int | None = None,
    progress: bool | Callable[[Progress], None] = False,
    scratch: str | PathLike[str] | None = None,
) -> Result:
    """Runs ``scenario`` as :func:`run` does, without checking memory first.

    For one of several parallel runs, whose memory is checked together.
    """
    threads = check_threads(threads)
    _warn_of_build()
    checked = scenario._checked
    with _callback(progress, checked.name) as show:
        raw = _rocelab.run(checked, threads, show, None, _spill(scratch))
    return _result(raw, scenario)


def run_law(
    scenario: Scenario,
    law: _rocelab.Law,
    *,
    progress: bool | Callable[[Progress], None],
    scratch: str | PathLike[str] | None,
) -> Result:
    """Runs ``scenario``, of the scheme ``prototype``, with this law; else as :func:`run_checked`.

    Such a run has one thread.
    """
    _warn_of_build()
    with _callback(progress, scenario.name) as show:
        raw = _rocelab.run_law(scenario._checked, law, show, _spill(scratch))
    return _result(raw, scenario)


def run_experiment(
    scenario: Scenario,
    experiment: _rocelab.HpccExperiment,
    *,
    ns3_order: bool,
    threads: int | None,
    progress: bool | Callable[[Progress], None],
    scratch: Path,
) -> _rocelab.RunResult:
    """Runs the ``scenario`` of an experiment, so that its files can be written of what it returns.

    ``threads`` has passed :func:`check_threads`, and with ``ns3_order`` the experiment its check.
    """
    _warn_of_build()
    with _callback(progress, scenario.name) as show:
        return _rocelab.run(
            scenario._checked, threads, show, experiment, _spill(scratch), ns3_order
        )


def _result(raw: _rocelab.RunResult, scenario: Scenario) -> Result:
    """The result of a run, if it is whole; else raises what carries it."""
    result = Result._from_run(raw, scenario)
    if raw.interrupted:
        raise Interrupted(result)
    if raw.failure is not None:
        raise RecordingError(raw.failure, result)
    return result


def _spill(scratch: str | PathLike[str] | None) -> tuple[Path, int]:
    """The directory for what is recorded, and how many bytes of it stay in memory."""
    return Path(tempfile.gettempdir() if scratch is None else scratch), IN_MEMORY


def _warn_of_build() -> None:
    """Warns where the build is not the one for use."""
    if _rocelab.DEBUG_BUILD:
        warn(
            RuntimeWarning(
                "rocelab was built for development: it checks itself as it runs, and is slower; "
                "build it with `pip install .` or `maturin develop --release`"
            )
        )


@contextmanager
def _callback(
    progress: bool | Callable[[Progress], None], name: str
) -> Iterator[Callable[[int, int, int, int, int], None] | None]:
    """What the simulator calls as the run called ``name`` goes on; None for nothing."""
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress must be True, False or a function, not {progress!r}")
    if progress is True:
        from rocelab._progress import bar

        with bar(name) as show:
            yield _timed(show)
    else:
        yield _timed(progress) if progress else None


def check_scenario(scenario: Scenario) -> None:
    """Raises :class:`TypeError` unless ``scenario`` is a :class:`Scenario`."""
    if not isinstance(scenario, Scenario):
        raise TypeError(
            f"run takes a Scenario, not {scenario!r}; rocelab.load(path) makes one of a file"
        )


def check_scratch(scratch: str | PathLike[str] | None) -> None:
    """Raises :class:`ConfigError` where no file can be made in the directory ``scratch``."""
    if scratch is None:
        return
    try:
        # Of a number tempfile would take the open file that has it, and close that.
        tempfile.TemporaryFile(dir=Path(scratch)).close()
    except OSError as error:
        raise ConfigError(
            f"no file can be made in {str(scratch)!r}: {error.strerror or error}",
            key="scratch",
            hint="name a directory that is there and may be written to, or leave it out",
        ) from None


def check_threads(threads: int | None) -> int | None:
    """``threads`` as :func:`check_count` has it, or None where the run is to choose."""
    return None if threads is None else check_count("threads", threads)


def check_count(name: str, number: int) -> int:
    """``number``, the argument called ``name``, or as much of it as a machine word holds.

    Raises where it is no integer of 1 or more.
    """
    try:
        number = operator.index(number)
    except TypeError:
        raise TypeError(f"{name}: must be an integer, not {number!r}") from None
    if number < 1:
        raise ConfigError(f"must be 1 or more, not {number}", key=name)
    return min(number, sys.maxsize)


def _timed(show: Callable[[Progress], None]) -> Callable[[int, int, int, int, int], None]:
    begin = time.monotonic()

    def callback(
        simulated_ps: int, end_ps: int, packet_hops: int, flows_done: int, flows: int
    ) -> None:
        wall_s = time.monotonic() - begin
        show(Progress(simulated_ps, end_ps or None, packet_hops, flows_done, flows, wall_s))

    return callback
