"""Giving finished files and directories their names."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from rocelab.errors import ResultError
from rocelab.io.locks import REFUSED

_NOREPLACE, _EXCHANGE = 1, 2
"""Flags of ``renameat2``."""

_AT_FDCWD = -100

_IS_THERE = (errno.EEXIST, errno.ENOTEMPTY)


def temporary_name(target: Path) -> Path:
    """A hidden name beside ``target`` that nothing else has."""
    return target.parent / f".{target.name}.{secrets.token_hex(4)}"


def make_temporary(target: Path) -> Path:
    """A new directory beside ``target``, hidden."""
    # Others may read it as the umask says; what tempfile makes, nobody else may.
    while True:
        temporary = temporary_name(target)
        with suppress(FileExistsError):
            temporary.mkdir()
            return temporary


def install(temporary: Path, target: Path) -> None:
    """Gives the directory ``temporary`` the name ``target``, where at most an empty one is.

    Raises :class:`FileExistsError` where anything else has that name.
    """
    try:
        if _rename(temporary, target, _NOREPLACE):
            return
    except FileExistsError:
        pass
    # Plain rename replaces an empty directory and refuses any other.
    if target.is_symlink() or (target.exists() and not is_empty(target)):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    try:
        temporary.rename(target)
    except OSError as error:
        if error.errno in _IS_THERE:
            raise FileExistsError(errno.EEXIST, error.strerror, str(target)) from None
        raise


def is_empty(path: Path) -> bool:
    """Whether ``path`` is a directory with nothing in it."""
    return path.is_dir() and next(path.iterdir(), None) is None


def replace(temporary: Path, target: Path) -> Path:
    """Gives the directory ``temporary`` the name ``target``, which another one has.

    Returns where that one is then. At every moment one of the two has the name, unless the file
    system cannot exchange them: a process that is killed there leaves both under other names.
    """
    if _rename(temporary, target, _EXCHANGE):
        return temporary
    old = temporary_name(target)
    target.rename(old)
    try:
        temporary.rename(target)
    except BaseException:
        try:
            old.rename(target)
        except OSError as error:
            raise ResultError(
                f"{target}: cannot write: {error.strerror or error}",
                hint=f"the result that was there is now {old}",
            ) from None
        raise
    return old


def _rename(source: Path, target: Path, flags: int) -> bool:
    """Renames with ``flags``; false where the system or the file system does not know them."""
    code = _renameat2(os.fsencode(source), os.fsencode(target), flags)
    if code in REFUSED:
        return False
    if code:
        raise OSError(code, os.strerror(code), str(target))
    return True


def _renameat2(source: bytes, target: bytes, flags: int) -> int:
    """The error code of the system call, 0 where it did it."""
    function = _of_libc()
    if function is None:
        return errno.ENOSYS
    if function(_AT_FDCWD, source, _AT_FDCWD, target, flags) == 0:
        return 0
    return ctypes.get_errno()


@cache
def _of_libc() -> Any:  # noqa: ANN401 - a foreign function
    """``renameat2``; None where the C library has none."""
    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    function.argtypes = [
        ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint
    ]  # fmt: skip
    function.restype = ctypes.c_int
    return function
