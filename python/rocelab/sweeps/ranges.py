"""Ranges of values: ``50KB..400KB/8`` is eight values at equal distances.

With ``log`` after the number of values, each value is the one before it times a constant.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise

from rocelab._format import parse
from rocelab.catalogue import is_count
from rocelab.errors import ConfigError

_RANGE = re.compile(
    r"(?P<low>[^.\s]+(?:\.[0-9]+)?[^.\s]*)\.\.(?P<high>[^/\s]+)/(?P<count>[0-9]{1,6})(?P<log>log)?"
)
_NUMBER = re.compile(r"(?P<number>-?[0-9]{1,30}(?:\.[0-9]{1,30})?)(?P<unit>[A-Za-z]*)")
_DIGITS = 4
"""Significant digits of a value, or of the distance to the next one where that is smaller."""
_MAX_VALUES = 1000
_WHOLE = {
    "": "whole numbers",
    "B": "whole bytes",
    "bps": "whole bits per second",
    "ps": "whole picoseconds",
}
"""What values are, by the smallest unit of a quantity."""


@dataclass(frozen=True)
class _End:
    """An end of a range."""

    value: float
    """In the smallest unit of its kind."""
    base: str
    """That unit; empty for plain numbers."""
    suffix: str
    """The unit in which it is written."""


def _ends(found: re.Match[str]) -> tuple[_End, _End] | None:
    """The ends of a range; None where they are no numbers and quantities."""
    low, high = (_NUMBER.fullmatch(found[name]) for name in ("low", "high"))
    return (_end(low), _end(high)) if low and high else None


def _end(found: re.Match[str]) -> _End:
    number, unit = found["number"], found["unit"]
    # `parse` takes no sign: no quantity with a unit is negative.
    value, base = (parse(f"{number}{unit}") if unit else None) or (float(number), unit)
    return _End(value, base, unit)


def expand(key: str, text: str) -> list[str]:
    """The values of ``text``, if it is a range; else ``text`` alone."""
    found = _RANGE.fullmatch(text)
    ends = _ends(found) if found else None
    if found is None or ends is None:
        # It may be a text that looks like a range, such as a list of hosts.
        return [text]
    low, high = ends
    count = int(found["count"])
    if low.base != high.base:
        raise ConfigError(
            f"{text}: the ends of a range need units of one kind",
            key=key,
            hint="such as 50KB..1MB/8",
        )
    if not 2 <= count <= _MAX_VALUES:
        raise ConfigError(f"{text}: a range has 2 to {_MAX_VALUES} values", key=key)
    if low.value == high.value:
        raise ConfigError(f"{text}: the ends of a range must differ", key=key)
    if found["log"] and not (low.value > 0 and high.value > 0):
        raise ConfigError(f"{text}: a logarithmic range needs ends above 0", key=key)
    values = ValueRange(low.value, high.value, bool(found["log"]), low.suffix, is_count(key))
    texts = values.several(count)
    if texts is None:
        fewer = next((n for n in range(count - 1, 1, -1) if values.several(n)), None)
        log = found["log"] or ""
        instead = f"{found['low']}..{found['high']}/{fewer}{log} has {fewer} values that differ"
        kind = _WHOLE.get(low.base, "rounded")
        raise ConfigError(
            f"{text}: values are {kind}, so {count} would not all differ",
            key=key,
            hint=instead if fewer else "take ends that are further apart",
        )
    return [found["low"], *texts[1:-1], found["high"]]


@dataclass(frozen=True)
class ValueRange:
    """All values from one to another."""

    low: float
    """In the smallest unit of its kind, as ``high`` is."""
    high: float
    log: bool
    """Whether values are chosen by their logarithms."""
    suffix: str
    """The unit in which values are written."""
    whole: bool
    """Whether only whole numbers are values, as the key is a count."""

    def written(self, value: float) -> str:
        """``value`` as a scenario has it."""
        return self._written(value, abs(self.high - self.low))

    def several(self, count: int) -> list[str] | None:
        """``count`` values from ``low`` to ``high``; None where they would not all differ."""
        shares = [n / (count - 1) for n in range(count)]
        if self.log:
            values = [self.low * (self.high / self.low) ** share for share in shares]
        else:
            values = [self.low + (self.high - self.low) * share for share in shares]
        steps = [abs(b - a) for a, b in pairwise(values)]
        pairs = zip(values, [*steps, steps[-1]], strict=True)
        texts = [self._written(value, step) for value, step in pairs]
        return texts if len(set(texts)) == count else None

    def _written(self, value: float, step: float) -> str:
        """``value``, rounded so that it stays apart from others at a distance of ``step``."""
        smaller = min(abs(value), step) or step
        rounded = round(value, _DIGITS - 1 - math.floor(math.log10(smaller)))
        if self.whole or self.suffix:
            # Bytes, picoseconds and bits per second are whole.
            rounded = round(rounded)
        # The ends themselves may have more digits.
        inside = min(max(rounded, min(self.low, self.high)), max(self.low, self.high))
        shown = inside / _scale(self.suffix)
        text = f"{shown:.12f}".rstrip("0").rstrip(".")
        return f"{text}{self.suffix}"


def _scale(suffix: str) -> float:
    """How many of the smallest unit of its kind a unit is."""
    parsed = parse(f"1{suffix}")
    return parsed[0] if parsed else 1.0


_UNCOUNTED = re.compile(r"(?P<low>[^.\s]+(?:\.[0-9]+)?[^.\s]*)\.\.(?P<high>.+?)(?P<log>log)?")


def range_of(key: str, text: str) -> ValueRange | None:
    """The values from ``LOW..HIGH`` or, by their logarithms, ``LOW..HIGHlog``; None for others."""
    found = _UNCOUNTED.fullmatch(text)
    ends = _ends(found) if found else None
    if found is None or ends is None:
        return None
    low, high = ends
    if low.base != high.base or not low.value < high.value:
        raise ConfigError(
            f"{text}: a range goes from a smaller to a larger value of one kind",
            key=key,
            hint="such as 50KB..1MB",
        )
    if found["log"] and low.value <= 0:
        raise ConfigError(f"{text}: a logarithmic range needs ends above 0", key=key)
    return ValueRange(low.value, high.value, found["log"] is not None, low.suffix, is_count(key))


def check_has_count(key: str, text: str) -> None:
    """Raises where ``text`` is a range without the number of its values."""
    found = _UNCOUNTED.fullmatch(text)
    if found and _ends(found):
        raise ConfigError(
            f"{text}: a range needs the number of its values",
            key=key,
            hint=f"such as {found['low']}..{found['high']}/2{found['log'] or ''} for its ends",
        )
