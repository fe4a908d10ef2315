"""Whether the memory that a command needs is there, before it begins.

Needs are estimated; limits are those of the process (``ulimit``), of its control group and the
groups above it, and what the machine has.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rocelab import _rocelab
from rocelab.errors import MemoryShortage, ResultError

if TYPE_CHECKING:
    from rocelab.scenario import Scenario

Command = Literal["check", "plan", "run"]
"""What is done with a scenario."""


def check(scenario: Scenario, command: Command) -> None:
    """Compares what ``command`` needs for ``scenario`` with the limits of this process.

    Raises :class:`ConfigError` where it clearly exceeds a limit. Warns with
    :class:`MemoryShortage` where it may exceed one, or exceeds what is free now.
    """
    _tell(shortage(scenario, command))


def check_runs(scenarios: Iterable[Scenario], at_a_time: int) -> None:
    """As :func:`check` for so many runs at a time, each of which is the largest of ``scenarios``.

    There is one warning at most.
    """
    told = None
    for scenario in scenarios:
        told = shortage(scenario, "run", at_a_time) or told
    _tell(told)


def check_reading(path: Path, need: int) -> None:
    """Compares ``need``, the bytes that what is read from ``path`` takes, as :func:`check` does.

    Raises :class:`ResultError` where it clearly exceeds a limit.
    """
    verdict = _rocelab.judge_memory("to read it takes about", need)
    if verdict is not None:
        why, mend = verdict
        if mend:
            raise ResultError(f"{path}: {why}", hint=mend)
        warn(f"{path}: {why}")


def shortage(scenario: Scenario, command: Command, runs: int = 1) -> str | None:
    """The text of the warning, if there is one to give. Raises as :func:`check`."""
    return scenario.checked.check_memory(command, runs)


def warn(text: str) -> None:
    """Warns with :class:`MemoryShortage`."""
    warnings.warn(MemoryShortage(text), stacklevel=4)


def _tell(text: str | None) -> None:
    if text is not None:
        warn(text)
