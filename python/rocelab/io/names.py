"""Names of files for things that users name."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

_MAX_NAME_BYTES = 200
"""Bytes of a file's name; file systems take 255 and a few are for names beside it."""


def file_name(name: str) -> str:
    """The name of a file for what is called ``name``; different names have different files.

    It has no separator, does not begin with a dot and is at most 200 bytes long. Letters without
    accents, digits and ``_ . - ~ + : @`` stay as they are; others become ``%`` and two digits for
    each byte. Long names end in a hash.
    """
    return bounded(escaped(name))


def escaped(text: str, plain: str = "+:@") -> str:
    """``text`` for a part of a file's name: what is neither plain nor a letter has an escape."""
    return quote(text, plain, errors="backslashreplace")


def bounded(text: str) -> str:
    """``text``, which is :func:`escaped`, as a whole name of a file."""
    if text.startswith("."):
        text = f"%2E{text[1:]}"
    if 0 < len(text) <= _MAX_NAME_BYTES:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{text[: _MAX_NAME_BYTES - 17]}-{digest}"
