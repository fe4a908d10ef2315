"""The part of a run that a picture shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocelab._format import duration, picoseconds
from rocelab.errors import ConfigError, ResultError

if TYPE_CHECKING:
    import polars as pl


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

    def cut(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of ``frame`` whose ``time_ps`` lies within."""
        if self == Span():
            return frame
        kept = frame["time_ps"] >= self.start_ps
        if self.end_ps is not None:
            kept &= frame["time_ps"] <= self.end_ps
        return frame.filter(kept)

    def nothing(self, kind: str) -> ResultError | None:
        """The error where nothing lies within; none for all of the run."""
        if self == Span():
            return None
        until = "the end" if self.end_ps is None else duration(self.end_ps)
        return ResultError(f"no sample of {kind} from {duration(self.start_ps)} to {until}")


def _time(key: str, text: str) -> int:
    try:
        return picoseconds(text)
    except ValueError:
        raise ConfigError(
            f"{text!r} is no time", key=key, hint='with its unit, such as "1.5ms"'
        ) from None
