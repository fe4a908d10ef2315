"""What a summary may hold, whoever wrote it: text and numbers within limits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NoReturn

from rocelab.errors import ResultError

_LONGEST_NAME = 200
"""Bytes of a name, as of a scenario, a scheme or a column."""
_LONGEST_TEXT = 4000
"""Bytes of other text: warnings and caveats."""
_TEXTS = ("warnings", "caveat")
"""Keys of a summary whose text is no name."""
_LARGEST = 1 << 64
"""Whole numbers are below."""
_DEEPEST = 8
"""Lists and tables within each other."""


def no_constant(word: str) -> NoReturn:
    """What a reader of JSON is to do about ``NaN`` and ``Infinity``, which are no JSON."""
    raise ValueError(f"{word} is not a number")


def check_values(path: Path, data: object) -> None:
    """Raises :class:`ResultError` where a text or number in ``data``, read from ``path``, is odd.

    Numbers are finite and below 2^64. Text has no half of a surrogate pair; names, which all text
    but warnings and caveats is, have at most 200 bytes.
    """
    _check(path, data, "", _LONGEST_NAME, 0)


def _check(path: Path, data: object, place: str, longest: int, depth: int) -> None:
    where = f"{path}: damaged: {f'{place}: ' if place else ''}"
    if depth > _DEEPEST:
        raise ResultError(f"{where}lists and tables are nested too deep")
    match data:
        case str():
            try:
                size = len(data.encode())
            except UnicodeEncodeError as error:
                raise ResultError(f"{where}{data[error.start]!r} is no character") from None
            if size > longest:
                raise ResultError(f"{where}has {size} bytes; the most is {longest}")
        case bool() | None:
            pass
        case int() if abs(data) >= _LARGEST:
            raise ResultError(f"{where}is larger than any number here")
        case float() if not math.isfinite(data):
            raise ResultError(f"{where}is not a finite number")
        case list():
            for number, value in enumerate(data):
                _check(path, value, _step(place, str(number)), longest, depth + 1)
        case dict():
            for key, value in data.items():
                _check(path, key, place, _LONGEST_NAME, depth + 1)
                most = _LONGEST_TEXT if not place and key in _TEXTS else longest
                _check(path, value, _step(place, key), most, depth + 1)


def _step(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
