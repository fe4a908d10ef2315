"""The progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from rocelab._format import count, duration
from rocelab._text import printable

if TYPE_CHECKING:
    from rocelab.simulate import Progress


_MAX_NAME = 60
"""Characters of a scenario's name beside the bar."""


@contextmanager
def bar(name: str) -> Iterator[Callable[[Progress], None]]:
    """A bar on the standard error stream, drawn only if that is a terminal.

    It shows simulated time, packet-hops per second, flows done and the time left.
    """
    bars = Bars(
        # A name is the user's, and may look like markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bars.disable = not bars.console.is_terminal
    with bars:
        task = bars.add_task(printable(name, _MAX_NAME), total=1.0, state="")

        def show(progress: Progress) -> None:
            bars.update(task, completed=progress.fraction, state=_state(progress))

        yield show


def _state(progress: Progress) -> str:
    speed = progress.packet_hops / progress.wall_s if progress.wall_s else 0.0
    return (
        f"{duration(progress.simulated_ps)}  {count(speed)} packet-hops/s  "
        f"{progress.flows_done:,}/{progress.flows:,} flows"
    )


@contextmanager
def runs_bar(runs: int, *, shown: bool) -> Iterator[Callable[[object, float], None]]:
    """A bar for several runs at once, drawn only if ``shown`` and if stderr is a terminal.

    The function that it yields takes a run and the fraction of it that is done.
    """
    bars = Bars(
        TextColumn("{task.completed:.1f} of {task.total:.0f} runs"),
        BarColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bars.disable = not shown or not bars.console.is_terminal
    done: dict[object, float] = {}
    with bars:
        task = bars.add_task("runs", total=float(runs))

        def show(run: object, fraction: float) -> None:
            done[run] = fraction
            bars.update(task, completed=sum(list(done.values())))

        yield show
