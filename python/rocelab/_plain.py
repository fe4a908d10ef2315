"""Data of users, which may come from any library, as scenarios take it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import PurePath

from rocelab.errors import ConfigError

Plain = bool | int | float | str | list["Plain"] | dict[str, "Plain"]
"""What a scenario file can hold: no dates, no nulls."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def plain(data: object, key: str) -> Plain:
    """``data`` as what a scenario file can hold, in new lists and dictionaries.

    ``key`` is where it stands, for the error.
    """
    try:
        return _plain(data, key)
    except RecursionError:
        raise ConfigError("is nested too deeply, or holds itself", key=key) from None


def setting(data: object, key: str) -> str:
    """``data`` as the text that ``--set key=`` takes for it."""
    return _inline(plain(data, key))


def _plain(data: object, key: str) -> Plain:
    if hasattr(data, "tolist"):
        # An array or a scalar of NumPy.
        data = data.tolist()
    match data:
        case bool():
            return data
        case Integral():
            return _needs_64_bits(int(data), key)
        case Real() if math.isfinite(data):
            return float(data)
        case Real():
            raise ConfigError(f"must be a finite number, got {float(data)}", key=key)
        case str():
            return _text(data)
        case PurePath():
            return str(data)
        case Mapping():
            return {_name(name, key): _plain(item, f"{key}.{name}") for name, item in data.items()}
        case Sequence() if not isinstance(data, bytes):
            return [_plain(item, f"{key}.{index}") for index, item in enumerate(data)]
        case _:
            raise ConfigError(
                f"a {type(data).__name__} cannot stand in a scenario, got {data!r}", key=key
            )


def _needs_64_bits(data: int, key: str) -> int:
    if not -(2**63) <= data < 2**63:
        raise ConfigError("must be a whole number that 64 bits hold", key=key)
    return data


def _name(name: object, place: str) -> str:
    if not isinstance(name, str):
        raise ConfigError(f"a key must be a string, got {name!r}", key=place)
    return _text(name)


def _text(data: str) -> str:
    """The text of ``data``.

    Of a member of a string enumeration it is its value, where ``str()`` gives its name.
    """
    return str.__str__(data)


def _inline(data: Plain) -> str:
    """``data`` as TOML writes it within a line."""
    match data:
        case bool():
            return "true" if data else "false"
        case str():
            return _string(data)
        case list():
            return "[" + ", ".join(map(_inline, data)) + "]"
        case dict():
            entries = (f"{_key(name)} = {_inline(item)}" for name, item in data.items())
            return "{" + ", ".join(entries) + "}"
        case _:
            return repr(data)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    # A JSON string is a TOML basic string, but for one control character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
