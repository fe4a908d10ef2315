"""Text and files of unknown origin: how text is shown, what a name may be, what may be read.

Scenarios, results and files of the HPCC simulator are exchanged, so nothing in them is trusted.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from urllib.parse import quote

from rocelab import _rocelab

MOST_SHOWN = 200
"""Characters of a name or another value that are shown."""

_UNLIMITED = 1 << 31

_PIECE = 1 << 20
"""Bytes that are read at a time: memory is taken for what is there."""

_LONGEST_NAME = 200
"""Bytes of a file's name; file systems take 255 and a few are for names beside it."""

_OPEN = (Path("/dev/stdin"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Files that the caller has opened, such as a pipe to the command."""


def printable(text: str, most: int = MOST_SHOWN) -> str:
    r"""``text`` as a line of at most ``most`` characters, fit for a terminal.

    Control characters, escape sequences, characters that have no width and those that change the
    direction of text become escapes such as ``\u{202e}``. Of longer text the middle is left out.
    """
    # Half of a surrogate pair is no character.
    return _rocelab.printable(text.encode(errors="backslashreplace").decode(), most)


def printable_lines(text: str) -> str:
    """``text`` fit for a terminal, of any length and with its line ends."""
    return "\n".join(printable(line, _UNLIMITED) for line in text.split("\n"))


def json_text(data: object) -> str:
    """``data`` as JSON that people can read, with escapes for what no terminal should be sent."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return text if printable_lines(text) == text else json.dumps(data, indent=2)


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
    if 0 < len(text) <= _LONGEST_NAME:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{text[: _LONGEST_NAME - 17]}-{digest}"


def leads_out(path: Path, directory: Path) -> bool:
    """Whether ``path``, with all links followed, lies outside of ``directory``."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory))


def open_regular(path: Path) -> BufferedReader:
    """Opens ``path`` for reading, where that cannot block and has an end.

    That is a regular file, or what the caller has opened already, as ``/dev/stdin`` or a process
    substitution. Raises :class:`OSError` otherwise.
    """
    if any(path.is_relative_to(one) for one in _OPEN):
        return path.open("rb")
    # A named pipe is opened without waiting for who writes to it.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "is a directory", str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
    except BaseException:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_bytes(path: Path, most: int) -> bytes:
    """What :func:`open_regular` opens, read; raises :class:`OSError` beyond ``most`` bytes."""
    with open_regular(path) as file:
        return read_rest(file, most, path)


def read_rest(file: BufferedReader, most: int, path: Path) -> bytes:
    """The rest of ``file``, opened from ``path``; raises :class:`OSError` beyond ``most`` bytes."""
    # In pieces, as a read takes memory for all the bytes that it is asked for.
    pieces, left = [], most
    while piece := file.read(_PIECE):
        left -= len(piece)
        if left < 0:
            raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB", str(path))
        pieces.append(piece)
    return b"".join(pieces)


def read_text(path: Path, most: int) -> str:
    """The same as UTF-8 with any kind of line ends; raises :class:`UnicodeDecodeError`."""
    return io.TextIOWrapper(io.BytesIO(read_bytes(path, most)), encoding="utf-8").read()
