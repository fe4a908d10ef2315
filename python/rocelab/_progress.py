"""Progress bars, in terminals and in notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rocelab._format import count, duration
from rocelab._text import printable

if TYPE_CHECKING:
    from rocelab.simulate import Progress


_MAX_NAME = 60
"""Characters of a scenario's name beside the bar."""


@contextmanager
def bar(name: str) -> Iterator[Callable[[Progress], None]]:
    """A bar on the standard error stream, drawn only if that is a terminal, or in a notebook.

    It shows simulated time, packet-hops per second, flows done and the time left.
    """
    called = printable(name, _MAX_NAME)
    with _open_bar(shown=True) as show:

        def update(progress: Progress) -> None:
            show(progress.fraction, called, _state(progress))

        yield update


def _state(progress: Progress) -> str:
    speed = progress.packet_hops / progress.wall_s if progress.wall_s else 0.0
    return (
        f"{duration(progress.simulated_ps)}  {count(speed)} packet-hops/s  "
        f"{progress.flows_done:,}/{progress.flows:,} flows"
    )


@contextmanager
def runs_bar(runs: int, *, shown: bool) -> Iterator[Callable[[object, float], None]]:
    """A bar for several runs at once, drawn as :func:`bar` is, and only if ``shown``.

    The function that it yields takes a run and the fraction of it that is done.
    """
    done: dict[object, float] = {}
    with _open_bar(shown=shown) as show:

        def update(run: object, fraction: float) -> None:
            done[run] = fraction
            finished = sum(list(done.values()))
            show(finished / runs if runs else 1.0, f"{finished:.1f} of {runs} runs", "")

        yield update


Show = Callable[[float, str, str], None]
"""Shows the share that is done, what it is of, and what is said beside the bar."""


@contextmanager
def _open_bar(*, shown: bool) -> Iterator[Show]:
    """A bar in a terminal or a notebook, which disappears at the end; elsewhere nothing."""
    if not shown:
        yield lambda _fraction, _title, _state: None
    elif in_notebook():
        with _notebook_bar() as show:
            yield show
    else:
        with _terminal_bar() as show:
            yield show


@contextmanager
def _terminal_bar() -> Iterator[Show]:
    # Here, as most commands show no bar.
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        # It may have a name in it that looks like markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bars.disable = not bars.console.is_terminal
    with bars:
        task = bars.add_task("", total=1.0, state="")

        def show(fraction: float, title: str, state: str) -> None:
            bars.update(task, completed=fraction, description=title, state=state)

        yield show


def in_notebook() -> bool:
    """Whether this is a kernel of Jupyter, which can replace what a cell shows."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")


@contextmanager
def _notebook_bar() -> Iterator[Show]:
    # It is there: this is a notebook.
    shown: Any = import_module("IPython.display")
    began = time.monotonic()
    handle = shown.display(shown.HTML(_bar_html(0.0, "", "")), display_id=True)

    def show(fraction: float, title: str, state: str) -> None:
        took = time.monotonic() - began
        left = f"{took * (1 / fraction - 1):.0f} s left" if fraction > 0 else ""
        words = "  ".join(filter(None, [state, left]))
        handle.update(shown.HTML(_bar_html(fraction, title, words)))

    try:
        yield show
    finally:
        handle.update(shown.HTML(""))


def _bar_html(fraction: float, title: str, words: str) -> str:
    """HTML that needs no script and no style sheet."""
    bar = f'<progress value="{fraction:.4f}" max="1" aria-label="progress"></progress>'
    return f"<div>{escape(title)} {bar} {escape(words)}</div>"
