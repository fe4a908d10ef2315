"""The part of a run that a picture shows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocelab._format import duration, picoseconds
from rocelab.errors import ConfigError, ResultError
from rocelab.plot.labels import plot_duration

if TYPE_CHECKING:
    import polars as pl


class NothingWithinError(ResultError):
    """There is nothing to draw in the chosen part of a run."""


@dataclass(frozen=True)
class Span:
    """From a simulated time to another; all of the run by default."""

    start_ps: int = 0
    end_ps: int | None = None

    @classmethod
    def of(cls, start: str | None, end: str | None) -> Span:
        """From times as scenarios have them. Raises :class:`ConfigError` for what is none."""
        span = cls(
            0 if start is None else _time("start", start),
            None if end is None else _time("end", end),
        )
        if span.end_ps is not None and span.end_ps <= span.start_ps:
            raise ConfigError(f"{end} is not after the start, {start or '0s'}", key="end")
        return span

    def cut(self, frame: pl.DataFrame, column: str = "time_ps") -> pl.DataFrame:
        """The rows of ``frame`` whose ``column`` lies within."""
        if self == Span():
            return frame
        kept = frame[column] >= self.start_ps
        if self.end_ps is not None:
            kept &= frame[column] <= self.end_ps
        return frame.filter(kept)

    def flows_note(self) -> list[str]:
        """Says which flows are shown; nothing for all of the run."""
        if self == Span():
            return []
        until = "" if self.end_ps is None else f" to {plot_duration(self.end_ps)}"
        return [f"Flows that start from {plot_duration(self.start_ps)}{until or ' on'}."]

    def nothing(self, what: str) -> NothingWithinError | None:
        """The error where no ``what`` lies within; none for all of the run."""
        if self == Span():
            return None
        until = "the end" if self.end_ps is None else duration(self.end_ps)
        return NothingWithinError(f"no {what} from {duration(self.start_ps)} to {until}")


def _time(key: str, text: object) -> int:
    if isinstance(text, str):
        with suppress(ValueError):
            return picoseconds(text)
    raise ConfigError(f"{text!r} is no time", key=key, hint='with its unit, such as "1.5ms"')
