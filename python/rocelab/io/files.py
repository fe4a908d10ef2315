"""Writing single files: whole or not at all, and nothing where it cannot be done."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rocelab.errors import ResultError
from rocelab.io.locks import has_lock_file, locked, remove_leftover_files
from rocelab.io.rename import temporary_name


def check_output_file(path: Path) -> None:
    """Raises :class:`ResultError` if :func:`write_atomic` cannot write ``path``. Leaves nothing."""
    with os_errors_as_result_error(path):
        if path.is_dir():
            raise ResultError(f"{path}: is a directory")
        if not is_special_file(path):
            check_creatable(path, Path(os.path.realpath(path)))


def nearest_directory(path: Path) -> Path:
    """The directory that is there and nearest to ``path``, for files on its file system."""
    target = Path(os.path.realpath(path))
    return next(parent for parent in (target, *target.parents) if parent.is_dir())


def is_special_file(path: Path) -> bool:
    """Whether ``path`` is there and neither a file nor a directory, but a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_output_directory(directory: Path) -> None:
    """Raises :class:`ResultError` where no file could be put in ``directory``; leaves nothing."""
    with os_errors_as_result_error(directory):
        target = Path(os.path.realpath(directory))
        if target.exists() and not target.is_dir():
            raise ResultError(f"{directory}: is not a directory")
        for link in (directory, *directory.parents):
            if link.is_symlink() and not link.exists():
                raise ResultError(f"{directory}: the link {link} leads to nothing that is there")
        check_creatable(directory, target / "file")


def check_creatable(told: Path, target: Path) -> None:
    """Raises if ``target`` or a directory above it cannot be made. Errors name ``told`` instead."""
    ancestor = next(parent for parent in target.parents if parent.exists())
    if not ancestor.is_dir():
        raise ResultError(f"{told}: {ancestor} is not a directory")
    names = target.relative_to(ancestor).parts
    longest = max(names, key=lambda name: len(os.fsencode(name)))
    # Permissions do not say it for every file system, so something is made there.
    probe = ancestor / longest
    if not has_lock_file(probe):
        with suppress(BlockingIOError), locked(probe, wait=False):
            pass


@contextmanager
def os_errors_as_result_error(path: Path, what: str = "write") -> Iterator[None]:
    """What the system refuses becomes a :class:`ResultError`: cannot ``what``."""
    try:
        yield
    except OSError as error:
        raise ResultError(f"{path}: cannot {what}: {error.strerror or error}") from None


def to_json(data: object) -> bytes:
    """``data`` as a JSON file that people can read."""
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def write_atomic(path: Path, data: bytes, *, follow: bool = True) -> None:
    """Writes a file, whole or not at all; one that is there is replaced, with its permissions.

    A device or a pipe is written to, and a link stands for what it leads to. Without ``follow``,
    for directories that others may have made, the file takes the place of any of these.
    """
    with os_errors_as_result_error(path):
        if follow and is_special_file(path):
            path.write_bytes(data)
            return
        if follow:
            path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path) as left:
            if left:
                remove_leftover_files(path)
            temporary = temporary_name(path)
            try:
                if follow and path.exists():
                    # Nobody reads it meanwhile who may not read the one that it replaces.
                    temporary.touch(0o600)
                    write(temporary, data)
                    shutil.copymode(path, temporary)
                else:
                    write(temporary, data)
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            sync(path.parent)


def write(path: Path, data: bytes) -> None:
    """Writes a file and has the system store it."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync(directory: Path) -> None:
    """Has the system store the names in ``directory``."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
