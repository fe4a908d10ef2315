"""Whether the memory that a command needs is there, before it begins.

Needs are estimated; limits are those of the process (``ulimit``), of its control group and the
groups above it, and what the machine has.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rocelab import _rocelab
from rocelab._warn import warn
from rocelab.errors import MemoryWarning, ResultError

if TYPE_CHECKING:
    from rocelab.scenario import Scenario

Command = Literal["check", "plan", "run"]
"""What a command does with a scenario, which decides how much memory it needs."""


def check(scenario: Scenario, command: Command) -> None:
    """Compares what ``command`` needs for ``scenario`` with the limits of this process.

    Raises :class:`ConfigError` if it clearly exceeds a limit. Warns with :class:`MemoryWarning` if
    it may exceed one, or exceeds what is free now.
    """
    warn_of_shortage(shortage(scenario, command))


def check_runs(scenarios: Iterable[Scenario], at_a_time: int) -> None:
    """Compares the memory of ``at_a_time`` parallel runs with the limits of this process.

    Each run is assumed to need as much as the largest of ``scenarios``. Raises and warns as
    :func:`check`, but warns at most once.
    """
    told = None
    for scenario in scenarios:
        told = shortage(scenario, "run", at_a_time) or told
    warn_of_shortage(told)


def check_reading(path: Path, need: int) -> None:
    """Compares ``need``, the bytes of memory to read ``path``, with the limits of this process.

    Raises :class:`ResultError` if it clearly exceeds a limit. Warns with :class:`MemoryWarning` if
    it may exceed one.
    """
    found = _rocelab.judge_memory("to read it takes about", need)
    if found is not None:
        text = f"{path}: {found.text}"
        if found.is_certain:
            raise ResultError(text, hint=found.hint)
        warn_of_shortage(text)


def shortage(scenario: Scenario, command: Command, runs: int = 1) -> str | None:
    """Returns the warning that :func:`check` would give for ``runs`` parallel runs, or None.

    Raises :class:`ConfigError` as :func:`check` does.
    """
    return scenario._checked.check_memory(command, runs)


def warn_of_shortage(text: str | None) -> None:
    """Warns with :class:`MemoryWarning`, if there is a ``text``."""
    if text is not None:
        warn(MemoryWarning(text))
