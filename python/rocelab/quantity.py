"""Quantities as people read them."""

from __future__ import annotations

_TIMES = ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns"))
_SIZES = ((10**9, "GB"), (10**6, "MB"), (10**3, "KB"))
_COUNTS = ((10**9, " G"), (10**6, " M"), (10**3, " k"))


def duration(ps: float) -> str:
    """Picoseconds with a unit that suits them: ``1.25 ms``."""
    return _scaled(ps, _TIMES, "ps")


def size(nbytes: float) -> str:
    """Bytes with a unit that suits them: ``300 KB``; KB is 1000 bytes."""
    return _scaled(nbytes, _SIZES, "B")


def count(number: float) -> str:
    """A number in thousands, millions or billions: ``31.2 M``."""
    for factor, suffix in _COUNTS:
        if abs(number) >= factor:
            return f"{number / factor:.3g}{suffix}"
    return f"{number:.0f}"


def _scaled(value: float, units: tuple[tuple[int, str], ...], smallest: str) -> str:
    for factor, unit in units:
        if abs(value) >= factor:
            return f"{_short(value / factor)} {unit}"
    return f"{_short(value)} {smallest}"


def _short(value: float) -> str:
    """Four digits, without exponent or trailing zeros."""
    digits = 4 - len(str(int(abs(value))))
    text = f"{value:.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
