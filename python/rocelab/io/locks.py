"""Locks on files and directories that are written, and what killed processes leave.

A process that writes ``NAME`` holds a lock on ``.NAME.rocelab-lock`` beside it (``flock``, which
ends with the process), writes to ``.NAME.xxxxxxxx`` and renames that. A lock file
that nobody holds was left by a killed process; :func:`locked` says so, and its other files can then
be removed.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rocelab._text import printable
from rocelab.errors import ResultError

REFUSED = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
"""Error codes of a system or file system that does not know the flags, or no locks."""

_POLL_S = 0.02

_LOCK = re.compile(r"\.(.+)\.rocelab-lock", re.DOTALL)

_RUN, _WRITE = "run", "write"

_MAX_REPORT = 1000
"""Characters of a report, which names paths."""

_log = logging.getLogger("rocelab")


@contextmanager
def locked(
    target: Path, *, run: bool = False, wait: bool = True, named: Path | None = None
) -> Iterator[bool]:
    """Holds the lock of ``target``; yields whether a killed process had left it behind.

    Waits while another process or thread writes ``target``. With ``run`` the lock is held for
    as long as a simulation takes: others do not wait for such a lock. Where the file system has no
    locks, there is none, and nothing counts as left behind.

    Raises :class:`ResultError`, which calls it ``named``, where a run holds the lock, and
    :class:`OSError` where it cannot be made. Without ``wait`` that is :class:`BlockingIOError`
    where anyone holds it.
    """
    path = _lock_file(target)
    handle, found = _acquire(path, wait, named or target)
    if handle is None:
        yield False
        return
    try:
        os.ftruncate(handle, 0)
        told = f"{_RUN if run else _WRITE} {os.getpid()} {platform.node()}\n"
        os.pwrite(handle, told.encode(errors="replace"), 0)
        yield found
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(handle)


def has_lock_file(target: Path) -> bool:
    """Whether ``target`` has a lock file: another process writes it, or did when it was killed."""
    return os.path.lexists(_lock_file(target))


def locked_targets(directory: Path) -> list[Path]:
    """What in ``directory`` has a lock file."""
    try:
        names = [entry.name for entry in directory.iterdir()]
    except OSError:
        return []
    found = filter(None, map(_LOCK.fullmatch, names))
    return sorted(directory / match[1] for match in found)


def leftovers(target: Path) -> list[Path]:
    """The temporary files and directories of ``target``: to be called with its lock held."""
    plain = re.escape(target.name)
    # The second is what outputs of the HPCC simulator are called until they are complete.
    name = re.compile(rf"\.{plain}\.[0-9a-f]{{8}}|{plain}\.[0-9]+-[0-9]+\.partial")
    return sorted(one for one in target.parent.iterdir() if name.fullmatch(one.name))


def remove_leftover_files(target: Path) -> None:
    """Removes the temporary files of ``target``, and logs it: to be called with its lock held."""
    for path in leftovers(target):
        if not path.is_dir() or path.is_symlink():
            path.unlink()
            report(f"{target}: removed {path.name}, which a killed process had left")


def report(text: str) -> None:
    """Logs ``text`` as a warning of the logger ``rocelab``."""
    # It names files, whose names may hold anything.
    _log.warning("%s", printable(text, _MAX_REPORT))


def _lock_file(target: Path) -> Path:
    return target.parent / f".{target.name}.rocelab-lock"


def _acquire(path: Path, wait: bool, named: Path) -> tuple[int | None, bool]:
    """A handle that holds the lock, and whether its file was there before."""
    while True:
        found = False
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            found = True
            try:
                handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            try:
                if not wait:
                    raise
                _check_holder(handle, named)
            finally:
                os.close(handle)
            time.sleep(_POLL_S)
            continue
        except OSError as error:
            os.close(handle)
            if error.errno not in (*REFUSED, errno.ENOLCK):
                raise
            if not found:
                path.unlink(missing_ok=True)
            return None, False
        # Its last holder removes the file: what is locked must still be the one of this name.
        if _is_at(handle, path):
            return handle, found
        os.close(handle)


def _check_holder(handle: int, named: Path) -> None:
    """Raises where the process that holds the lock runs a simulation."""
    words = os.pread(handle, 400, 0).decode(errors="replace").split()
    if words[:1] == [_RUN]:
        process, *host = words[1:] or ["?"]
        raise ResultError(
            f"{named}: process {process} is running and will write its result there"
            + (f" (on {host[0]})" if host and host[0] != platform.node() else ""),
            hint="choose another directory, or wait until it has ended",
        )


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False
