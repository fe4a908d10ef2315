"""Saving results: each is installed whole, and none is lost to another process or to a kill."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab.errors import ResultError
from rocelab.io.checksums import is_complete
from rocelab.io.files import check_creatable, os_errors_as_result_error, sync
from rocelab.io.layout import OWN, PARTS, SERIES, SUMMARY, TRACES
from rocelab.io.locks import (
    has_lock_file,
    leftovers,
    locked,
    locked_targets,
    remove_leftover_files,
    report,
)
from rocelab.io.rename import install, is_empty, make_temporary, replace
from rocelab.io.write import write_result
from rocelab.signals import deferred_signals

if TYPE_CHECKING:
    from rocelab.result import Result


def check_result_directory(directory: Path, *, force: bool) -> None:
    """Raises :class:`ResultError` where ``save`` would refuse ``directory``; leaves nothing."""
    with os_errors_as_result_error(directory):
        check_creatable(directory, result_target(directory, force=force))


def result_target(directory: Path, *, force: bool) -> Path:
    """The place that ``directory`` stands for, links followed, if a result may take it.

    Raises :class:`ResultError` where it may not.
    """
    target = Path(os.path.realpath(directory))
    if not target.is_dir():
        if target.exists() or directory.is_symlink():
            raise ResultError(f"{directory}: exists and is not a directory")
        return target
    if any(target.iterdir()):
        if not (target / SUMMARY).is_file():
            raise ResultError(
                f"{directory}: exists and is not a result of rocelab",
                hint="choose another directory",
            )
        if not force:
            raise ResultError(
                f"{directory}: a result is there already",
                hint="--force, in Python force=True, replaces it; or choose another directory",
            )
    # A directory takes its place, and these two can not be moved out of the way.
    here = Path(os.path.realpath(os.curdir))
    for found, what in (
        (here.is_relative_to(target), "the current directory, or it holds that"),
        (os.path.ismount(target), "a mount point"),
    ):
        if found:
            raise ResultError(f"{directory}: is {what}", hint="choose a new directory in it")
    return target


def save(result: Result, directory: Path, *, force: bool) -> Path:
    """Writes ``result`` to ``directory``; returns it. Ctrl-C and SIGTERM wait until it is there."""
    with reserved(directory, force=force) as place:
        place.save(result)
    return directory


@contextmanager
def reserved(directory: Path, *, force: bool, run: bool = False) -> Iterator[ReservedDirectory]:
    """Keeps ``directory`` for one result, so that no other process takes it in the block.

    With ``run`` the block simulates: other processes that want the place fail at once. What a
    killed process left there is restored or removed first, which is logged. Raises
    :class:`ResultError` where no result may or can be written there, and then leaves nothing.
    """
    target = Path(os.path.realpath(directory))
    made: list[Path] = []
    try:
        with ExitStack() as stack:
            with os_errors_as_result_error(directory):
                if not has_lock_file(target):
                    check_result_directory(directory, force=force)
                made += [parent for parent in target.parents if not parent.exists()]
                target.parent.mkdir(parents=True, exist_ok=True)
                recover_all(target.parent)
                if stack.enter_context(locked(target, run=run, named=directory)):
                    _recover_locked(target)
                result_target(directory, force=force)
            yield ReservedDirectory(directory, target, force=force, run=run)
    finally:
        # Those that hold something stay.
        for parent in made:
            with suppress(OSError):
                parent.rmdir()


class ReservedDirectory:
    """A directory that :func:`reserved` keeps for one result."""

    def __init__(self, directory: Path, target: Path, *, force: bool, run: bool) -> None:
        """``directory`` is what users call ``target``."""
        self._directory = directory
        self._target = target
        self._force = force
        self._run = run

    def save(self, result: Result) -> None:
        """Writes ``result`` there. Ctrl-C and SIGTERM wait until that is done.

        Raises :class:`ResultError` where it cannot be written. If something else has taken the
        place during a run, the result is kept beside it, and the error says where.
        """
        import polars as pl  # noqa: F401 (before signals are held back)

        with deferred_signals(), os_errors_as_result_error(self._directory):
            temporary = make_temporary(self._target)
            try:
                write_result(result, temporary)
                old = self._put_in_place(temporary)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
            # Before what it replaces goes.
            sync(self._target.parent)
            if old is not None:
                self._clear(old)

    def _put_in_place(self, temporary: Path) -> Path | None:
        """Gives ``temporary`` its name; returns where the result is that had it, if one had."""
        try:
            install(temporary, self._target)
        except FileExistsError:
            replaceable = self._force and (self._target / SUMMARY).is_file()
            if self._run and not replaceable:
                kept = _install_beside(temporary, self._target)
                raise ResultError(
                    f"{self._directory}: something else was put there during the run",
                    hint=f"the result of the run is {kept}",
                ) from None
            result_target(self._directory, force=self._force)
            if not replaceable:
                raise
            return replace(temporary, self._target)
        return None

    def _clear(self, old: Path) -> None:
        """Removes the result in ``old`` that was replaced; other files there stay in use."""
        try:
            _move_others(old, self._target)
        except OSError as error:
            raise ResultError(
                f"{self._directory}: cannot write: {error.strerror or error}",
                hint=f"the result is replaced; other files that were there are in {old}",
            ) from None
        sync(self._target)
        shutil.rmtree(old, ignore_errors=True)


def recover(target: Path) -> None:
    """Restores or removes what a killed process left of ``target``, and logs what it did.

    Files of a process that still lives, and files without permission, are left alone.
    """
    if has_lock_file(target):
        with suppress(OSError), locked(target, wait=False) as left:
            if left:
                _recover_locked(target)


def recover_all(directory: Path) -> None:
    """:func:`recover` for everything in ``directory``."""
    for target in locked_targets(directory):
        recover(target)


def _recover_locked(target: Path) -> None:
    """Does what :func:`recover` says. The caller holds the lock.

    Where nothing has the name ``target``, the newest complete result gets it. A complete one that
    is newer than what has the name is kept beside it. Other files, such as pictures, are moved to
    the result that has the name.
    """
    remove_leftover_files(target)
    left = leftovers(target)
    whole = sorted(filter(is_complete, left), key=_written, reverse=True)
    if whole and (not target.exists() or is_empty(target)):
        install(whole[0], target)
        left.remove(whole[0])
        report(f"{target}: restored the result that a killed process had left as {whole[0].name}")
    elif whole and _written(whole[0]) > _written(target):
        kept = _install_beside(whole[0], target)
        left.remove(whole[0])
        report(f"{target}: a complete result that a killed process had left there is now {kept}")
    for old in left:
        if target.is_dir():
            _move_others(old, target)
        _remove_parts(old)
        if old.exists():
            report(
                f"{target}: a killed process had left {old}; it has files that are not of a result"
            )
        else:
            report(f"{target}: removed {old.name}, which a killed process had left")
    sync(target.parent)


def _written(directory: Path) -> int:
    """When a result was complete, in nanoseconds; 0 where there is none."""
    try:
        return (directory / SUMMARY).stat().st_mtime_ns
    except OSError:
        return 0


def _install_beside(temporary: Path, target: Path) -> Path:
    """Gives ``temporary`` the name of ``target`` with a number that is free; returns it."""
    number = 2
    while True:
        beside = target.with_name(f"{target.name}-{number}")
        with suppress(FileExistsError):
            install(temporary, beside)
            return beside
        number += 1


def _move_others(old: Path, new: Path) -> None:
    """Moves to ``new`` what is in ``old`` and no part of a result, where ``new`` has no such."""
    for entry in list(old.iterdir()):
        if entry.name not in PARTS:
            _move(entry, new / entry.name)
    for part in (SERIES, TRACES):
        others = list((old / part).iterdir()) if (old / part).is_dir() else []
        for entry in others:
            if entry.suffix not in OWN:
                (new / part).mkdir(exist_ok=True)
                _move(entry, new / part / entry.name)


def _move(entry: Path, target: Path) -> None:
    if not os.path.lexists(target):
        entry.rename(target)


def _remove_parts(old: Path) -> None:
    """Removes the parts of a result from ``old``, and ``old`` if nothing else is in it."""
    for part in PARTS:
        path = old / part
        if part in (SERIES, TRACES) and path.is_dir() and not path.is_symlink():
            for entry in list(path.iterdir()):
                if entry.suffix in OWN:
                    entry.unlink()
            with suppress(OSError):
                path.rmdir()
        else:
            path.unlink(missing_ok=True)
    with suppress(OSError):
        old.rmdir()
