"""Plain Python data as TOML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import PurePath

from rocelab.errors import ConfigError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def value(data: object, key: str) -> str:
    """``data`` as an inline TOML value; ``key`` is where it stands, for the error."""
    if hasattr(data, "tolist"):
        # An array or a scalar of NumPy.
        data = data.tolist()
    match data:
        case bool():
            return "true" if data else "false"
        case Integral():
            return str(_needs_64_bits(int(data), key))
        case Real() if math.isfinite(data):
            return repr(float(data))
        case Real():
            raise ConfigError(f"must be a finite number, got {float(data)}", key=key)
        case str() | PurePath():
            return _string(str(data))
        case Mapping():
            entries = (
                f"{_key(name, key)} = {value(item, f'{key}.{name}')}" for name, item in data.items()
            )
            return "{" + ", ".join(entries) + "}"
        case Sequence() if not isinstance(data, bytes):
            items = (value(item, f"{key}.{index}") for index, item in enumerate(data))
            return "[" + ", ".join(items) + "]"
        case _:
            raise ConfigError(
                f"a {type(data).__name__} cannot stand in a scenario, got {data!r}", key=key
            )


def document(data: Mapping[str, object]) -> str:
    """``data`` as a TOML document with a line for each top-level key."""
    lines = []
    for name, item in data.items():
        try:
            lines.append(f"{_key(name, '')} = {value(item, name)}\n")
        except RecursionError:
            raise ConfigError("is nested too deeply, or holds itself", key=name) from None
    return "".join(lines)


def _needs_64_bits(data: int, key: str) -> int:
    if not -(2**63) <= data < 2**63:
        raise ConfigError("must be a whole number that 64 bits hold", key=key)
    return data


def _key(name: object, place: str) -> str:
    if not isinstance(name, str):
        raise ConfigError(f"a key must be a string, got {name!r}", key=place)
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    # A JSON string is a TOML basic string, but for one control character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
