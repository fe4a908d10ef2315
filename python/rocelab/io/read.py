"""Safe reading of files of unknown origin: regular files, up to a size, within a directory.

Scenarios, results and files of the HPCC simulator are exchanged, so nothing in them is trusted.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from io import BufferedReader
from pathlib import Path

_PIECE = 1 << 20
"""Bytes that are read at a time: memory is taken for what is there."""

_OPEN = (Path("/dev/stdin"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Files that the caller has opened, such as a pipe to the command."""


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
    """The content of a regular file. Raises :class:`OSError` beyond ``most`` bytes."""
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


def read_text(path: Path, most: int, *, newline: str | None = None) -> str:
    """The text of a file of at most ``most`` bytes in UTF-8, with any kind of line ends.

    ``newline`` is that of :func:`open`: with ``""`` line ends stay as they are.
    Raises :class:`OSError` as :func:`read_bytes`, and :class:`UnicodeDecodeError`.
    """
    content = io.BytesIO(read_bytes(path, most))
    return io.TextIOWrapper(content, encoding="utf-8", newline=newline).read()
