"""Ctrl-C and SIGTERM: deferring them, and stopping a run once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def deferred_signals() -> Iterator[list[int]]:
    """Defers Ctrl-C and SIGTERM to the end of the block. The list holds those that came.

    Python handles signals only in the main thread; in other threads this does nothing. When Polars
    is imported it installs a handler below Python's, which would stop its work: import it before
    the block.
    """
    waiting: list[int] = []
    try:
        with _handled(waiting.append):
            yield waiting
    finally:
        if waiting:
            signal.raise_signal(waiting[0])


class Interruption:
    """The state of a block that Ctrl-C or SIGTERM may stop."""

    interrupted = False
    """Whether a signal came."""
    committed = False
    """Set by the block when signals must not stop it any more."""

    def receive(self, _number: int) -> None:
        """Raises KeyboardInterrupt for the first signal, unless the block is committed."""
        first, self.interrupted = not self.interrupted, True
        if first and not self.committed:
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """The first Ctrl-C or SIGTERM in the block raises KeyboardInterrupt. Others are ignored.

    If one came, signals are also ignored after the block: the process ends with the exit code of
    the first.
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
