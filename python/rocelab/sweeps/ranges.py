"""Ranges of values: ``50KB..400KB/8`` is eight values at equal distances.

With ``log`` after the number of values, each value is the one before it times a constant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocelab._format import parse
from rocelab.errors import ConfigError

_RANGE = re.compile(
    r"(?P<low>[^.\s]+(?:\.[0-9]+)?[^.\s]*)\.\.(?P<high>[^/\s]+)/(?P<count>[0-9]{1,6})(?P<log>log)?"
)
_NUMBER = re.compile(r"(?P<number>-?[0-9]+(?:\.[0-9]+)?)(?P<unit>[A-Za-z]*)")
_DIGITS = 4
"""Significant digits of the values between the two ends."""
_MAX_VALUES = 1000


def expand(key: str, text: str) -> list[str]:
    """The values of ``text``, if it is a range; else ``text`` alone."""
    found = _RANGE.fullmatch(text)
    if found is None:
        return [text]
    ends = [_NUMBER.fullmatch(found[end]) for end in ("low", "high")]
    if ends[0] is None or ends[1] is None:
        # It may be a text that looks like a range, such as a list of hosts.
        return [text]
    (low, unit), (high, other) = (_base(end["number"], end["unit"]) for end in ends if end)
    count = int(found["count"])
    if unit != other:
        raise ConfigError(
            f"{text}: the ends of a range need units of one kind",
            key=key,
            hint="such as 50KB..1MB/8",
        )
    if not 2 <= count <= _MAX_VALUES:
        raise ConfigError(f"{text}: a range has 2 to {_MAX_VALUES} values", key=key)
    if found["log"] and not (low > 0 and high > 0):
        raise ConfigError(f"{text}: a logarithmic range needs ends above 0", key=key)
    steps = [n / (count - 1) for n in range(1, count - 1)]
    if found["log"]:
        between = [low * (high / low) ** step for step in steps]
    else:
        between = [low + (high - low) * step for step in steps]
    suffix = ends[0]["unit"]
    scale = _base("1", suffix)[0]
    whole = not unit and all("." not in end["number"] for end in ends if end)
    middle = [_written(value, scale, suffix, whole=whole) for value in between]
    return list(dict.fromkeys([found["low"], *middle, found["high"]]))


def _base(number: str, unit: str) -> tuple[float, str]:
    """A number in the smallest unit of its kind, and that unit."""
    if not unit:
        return float(number), ""
    # `parse` takes no sign: no quantity with a unit is negative.
    parsed = parse(f"{number}{unit}")
    return parsed or (float(number), unit)


def _written(value: float, scale: float, suffix: str, *, whole: bool) -> str:
    """``value``, in the smallest unit, as a quantity in the unit ``suffix``, which is ``scale``."""
    rounded = float(f"{value:.{_DIGITS}g}")
    if whole or suffix:
        # Bytes, picoseconds and bits per second are whole.
        rounded = round(rounded)
    shown = rounded / scale
    text = f"{shown:.12f}".rstrip("0").rstrip(".") if "." in f"{shown:.12f}" else f"{shown}"
    return f"{text}{suffix}"


@dataclass(frozen=True)
class Span:
    """All values from one to another."""

    low: float
    """In the smallest unit of its kind, as ``high`` is."""
    high: float
    log: bool
    """Whether values are chosen by their logarithms."""
    suffix: str
    """The unit in which values are written."""
    whole: bool
    """Whether only whole numbers are values."""

    def written(self, value: float) -> str:
        """``value`` as a scenario has it."""
        return _written(value, _base("1", self.suffix)[0], self.suffix, whole=self.whole)


_SPAN = re.compile(r"(?P<low>[^.\s]+(?:\.[0-9]+)?[^.\s]*)\.\.(?P<high>.+?)(?P<log>log)?")


def span_of(key: str, text: str) -> Span | None:
    """The values from ``LOW..HIGH`` or, by their logarithms, ``LOW..HIGHlog``; None for others."""
    found = _SPAN.fullmatch(text)
    ends = [_NUMBER.fullmatch(found[end]) for end in ("low", "high")] if found else []
    if found is None or not all(ends):
        return None
    (low, unit), (high, other) = (_base(end["number"], end["unit"]) for end in ends if end)
    if unit != other or not low < high:
        raise ConfigError(
            f"{text}: a range goes from a smaller to a larger value of one kind",
            key=key,
            hint="such as 50KB..1MB",
        )
    if found["log"] and low <= 0:
        raise ConfigError(f"{text}: a logarithmic range needs ends above 0", key=key)
    whole = not unit and all("." not in end["number"] for end in ends if end)
    suffix = ends[0]["unit"] if ends[0] else ""
    return Span(low, high, found["log"] is not None, suffix, whole)
