"""Quantities as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_TIMES = ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns"))
_SIZES = ((10**9, "GB"), (10**6, "MB"), (10**3, "KB"))
_RATES = ((10**9, "Gb/s"), (10**6, "Mb/s"), (10**3, "kb/s"))
_COUNTS = ((10**9, " G"), (10**6, " M"), (10**3, " k"))

_SCALED: dict[str, tuple[int, tuple[tuple[int, str], ...], str]] = {
    "bytes": (1, _SIZES, "B"),
    "bps": (1, _RATES, "b/s"),
    "s": (10**12, _TIMES, "ps"),
    "ns": (10**3, _TIMES, "ps"),
    "ps": (1, _TIMES, "ps"),
}
"""How many of the smallest unit a unit is, the units from the largest on, and the smallest."""

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([A-Za-z]+)")
_UNITS = {
    **{name: (factor, "ps") for factor, name in (*_TIMES, (1, "ps"))},
    **{name: (factor, "B") for factor, name in (*_SIZES, (1, "B"))},
    **{f"{letter}iB": (1024**power, "B") for power, letter in enumerate("KMG", 1)},
    **{f"{letter}bps": (1000**power, "bps") for power, letter in enumerate(("", *"KMGT"))},
    "m": (1, "m"),
    "km": (1000, "m"),
}
"""As in scenario files."""


def duration(ps: float) -> str:
    """Picoseconds with a unit that suits them: ``1.25 ms``."""
    return _scaled(ps, _TIMES, "ps")


def size(nbytes: float) -> str:
    """Bytes with a unit that suits them: ``300 KB``; KB is 1000 bytes."""
    return _scaled(nbytes, _SIZES, "B")


def rate(bps: float) -> str:
    """Bits per second with a unit that suits them: ``100 Gb/s``."""
    return _scaled(bps, _RATES, "b/s")


def unit(name: str, largest: float) -> tuple[str, float]:
    """The unit that suits numbers up to ``largest`` of the unit ``name``, and what to divide by.

    Names are those at the ends of columns: ``bytes``, ``bps``, ``ps``, ``ns``, ``s``.
    """
    if name not in _SCALED:
        return name, 1.0
    here, units, smallest = _SCALED[name]
    for factor, larger in units:
        if largest * here >= factor:
            return larger, factor / here
    return smallest, 1 / here


def parse(text: str) -> tuple[float, str] | None:
    """What ``text`` such as ``"320KB"`` says, and in which of the units B, bps, ps and m."""
    found = _QUANTITY.fullmatch(text.strip())
    if found is None or found[2] not in _UNITS:
        return None
    factor, base = _UNITS[found[2]]
    return float(found[1]) * factor, base


def picoseconds(time: str) -> int:
    """A time of a scenario, such as ``"1.5us"``, in picoseconds. Raises :class:`ValueError`."""
    parsed = parse(time)
    if parsed is None or parsed[1] != "ps":
        raise ValueError(f"{time!r} is no time")
    return round(parsed[0])


def count(number: float) -> str:
    """A number in thousands, millions or billions: ``31.2 M``."""
    for factor, suffix in _COUNTS:
        # Not 1000 of the next one.
        if abs(number) >= factor * 0.9995:
            return f"{number / factor:.3g}{suffix}"
    return f"{number:.0f}"


def pluralise(number: int, one: str, more: str) -> str:
    """A number with its noun: ``1 switch``, ``80 switches``."""
    return f"{number:,} {one if number == 1 else more}"


def nodes(hosts: int, switches: int) -> str:
    """How many nodes a network has: ``16 hosts, 1 switch``."""
    return f"{pluralise(hosts, 'host', 'hosts')}, {pluralise(switches, 'switch', 'switches')}"


def is_or_are(number: int) -> str:
    """The verb of a number of things."""
    return "is" if number == 1 else "are"


def with_intervals(numbers: Sequence[tuple[float, float | None] | None]) -> list[str]:
    """Means with what is behind their plus and minus; all of a column with the same decimals."""
    means = [abs(one[0]) for one in numbers if one]
    whole = all(value == int(value) for one in numbers if one for value in one if value is not None)
    # Three digits of the smallest, but no more than five of the largest.
    decimals = min(
        (2 - math.floor(math.log10(mean)) for mean in means if mean), default=0, key=lambda n: -n
    )
    largest = max(means, default=0)
    most = 4 - math.floor(math.log10(largest)) if largest else 0
    places = 0 if whole else max(0, min(decimals, most))

    def word(number: float) -> str:
        text = f"{number:,.{places}f}"
        # A number that rounds to 0 is shown with one digit.
        return f"{number:.1g}" if number and not any(map(int, filter(str.isdigit, text))) else text

    return [
        "-" if one is None else " ± ".join(word(n) for n in one if n is not None) for one in numbers
    ]


def _scaled(value: float, units: tuple[tuple[int, str], ...], smallest: str) -> str:
    for factor, unit in units:
        # Four digits are shown: what rounds to 1000 of this unit is 1 of the next.
        if abs(value) >= factor * 0.99995:
            return f"{_short(value / factor)} {unit}"
    return f"{_short(value)} {smallest}"


def _short(value: float) -> str:
    """Four digits, without exponent or trailing zeros."""
    digits = 4 - len(str(int(abs(value))))
    text = f"{value:.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
