"""Ctrl-C and SIGTERM, where not every moment suits them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def deferred_signals() -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM wait until the block has ended; the list has those that do.

    Python hears them in the main thread alone: in others this does nothing. Polars, from its import
    on, has a handler beneath Python's that would stop what it does: import it before the block.
    """
    waiting: list[int] = []
    try:
        with _handled(waiting.append):
            yield waiting
    finally:
        if waiting:
            signal.raise_signal(waiting[0])


class Interruption:
    """What a block made of Ctrl-C and SIGTERM."""

    interrupted = False
    """Whether one came."""
    committed = False
    """Set where they are to change nothing any more."""

    def receive(self, _number: int) -> None:
        """The first stops what is being done, unless it is too late."""
        first, self.interrupted = not self.interrupted, True
        if first and not self.committed:
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """In the block the first Ctrl-C or SIGTERM raises KeyboardInterrupt; others change nothing.

    Nor do they after it, where one came: the process is to end with the exit code of the first.
    """
    stop = Interruption()
    try:
        with _handled(stop.receive):
            yield stop
    finally:
        if stop.interrupted:
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_IGN)


@contextmanager
def _handled(receive: Callable[[int], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # Those that are ignored, as nohup does, or that are not Python's stay as they are.
    ours = [number for number in _SIGNALS if before[number] not in (signal.SIG_IGN, None)]
    try:
        for number in ours:
            signal.signal(number, lambda number, _: receive(number))
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
