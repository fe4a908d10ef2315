"""Checksums of stored results, and one place where failed reads become errors.

``summary.json`` holds, under ``checksums``, the SHA-256 of every data file and of itself. A file is
checked when it is read: opening a result costs the same whatever the size of its tables.

The summary's own checksum is that of its canonical form: the object without
``checksums.summary`` as JSON in UTF-8, with sorted keys and no space between tokens. Numbers and
strings are written as Python's ``json.dumps(..., ensure_ascii=False)`` writes them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocelab._format import pluralise
from rocelab._memory import check_reading
from rocelab.errors import ResultError, RocelabError
from rocelab.io.layout import SUMMARY
from rocelab.io.read import leads_out, open_regular, read_bytes, read_rest

if TYPE_CHECKING:
    import polars as pl

_MAX_SUMMARY_BYTES = 1 << 26
"""Bytes of the summary."""

_BYTES_PER_VALUE = 16
"""Memory for a value of a table, the largest of which is a text's."""

_MANY_ROWS = 1_000_000
"""A table with more rows than this is not read where the summary says that it has fewer."""

_COPIED_BYTES = 1 << 20
"""Bytes of a file that are copied at a time."""

_CHECKSUMS = "checksums"
_HEX = re.compile(r"[0-9a-f]{64}")


def add_checksums(summary: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """``summary`` with the checksums of all files in ``directory`` and its own.

    Files are hashed as they stand on disk, whoever wrote them.
    """
    files = {}
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            files[path.relative_to(directory).as_posix()] = _hash(file)
    whole = {key: value for key, value in summary.items() if key != _CHECKSUMS}
    whole[_CHECKSUMS] = {"files": files}
    whole[_CHECKSUMS]["summary"] = _of_summary(whole)
    return whole


def split_checksums(
    path: Path, summary: dict[str, Any]
) -> tuple[dict[str, Any], Mapping[str, str]]:
    """``summary``, read from ``path``, without its checksums, and the checksums of the files.

    Raises :class:`ResultError` where the checksums are malformed, or where the summary's own one
    does not match.
    """
    checksums = summary.get(_CHECKSUMS)
    files = checksums.get("files") if isinstance(checksums, dict) else None
    if not (
        isinstance(checksums, dict)
        and isinstance(files, dict)
        and all(_is_checksum(one) for one in (checksums.get("summary"), *files.values()))
    ):
        raise ResultError(f"{path}: damaged: has no valid checksums")
    try:
        own = _of_summary(summary)
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path}: damaged: {error}") from None
    if own != checksums["summary"]:
        raise ResultError(f"{path}: damaged: its checksum does not match", hint=_AGAIN)
    return {key: value for key, value in summary.items() if key != _CHECKSUMS}, files


def has_checksums(summary: Mapping[str, Any]) -> bool:
    """Whether ``summary``, as read from its file, has checksums, be they right or wrong."""
    return _CHECKSUMS in summary


def is_complete(directory: Path) -> bool:
    """Whether ``directory`` holds a complete result, all of whose files match their checksums.

    Of a result without checksums only the summary is looked at.
    """
    try:
        summary = json.loads(read_bytes(directory / SUMMARY, _MAX_SUMMARY_BYTES))
        if not has_checksums(summary):
            return isinstance(summary, dict) and "schema" in summary
        _, files = split_checksums(directory / SUMMARY, summary)
        stored = Stored(directory, files)
        for name in files:
            stored.check(name)
    except (OSError, ValueError, TypeError, RecursionError, ResultError):
        return False
    return True


class Stored:
    """The files of a result directory. Each is checked against its checksum when it is read."""

    def __init__(self, directory: Path, checksums: Mapping[str, str] | None) -> None:
        """``checksums`` are by path within the directory; None where the result has none."""
        self.directory = directory
        self.checksums = checksums

    def has(self, name: str) -> bool:
        """Whether the result has a file of this name: by its checksums, without them on disk."""
        if self.checksums is None:
            return (self.directory / name).exists()
        return name in self.checksums

    def check(self, name: str) -> None:
        """Raises :class:`ResultError` where the file is missing or does not match its checksum."""
        with self._opened(name):
            pass

    def bytes(self, name: str) -> bytes:
        """What the file holds."""
        with readable(self.directory / name), self._opened(name) as file:
            return file.read()

    def text(self, name: str, most: int) -> str:
        """What the text file holds, with line ends of any kind as newlines.

        Raises :class:`ResultError` where it has more than ``most`` bytes.
        """
        path = self.directory / name
        with readable(path), self._opened(name) as file:
            content = read_rest(file, most, path)
        try:
            return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8").read()
        except UnicodeDecodeError as error:
            raise ResultError(f"{path}: damaged: not a text file (byte {error.start})") from None

    def frame(self, name: str, rows: int | None = None) -> pl.DataFrame:
        """The table of a Parquet file, which must not have more than ``rows`` if they are given.

        The rows are counted, and memory for them is looked for, before they are read: a small file
        may hold very many that are equal.
        """
        import polars as pl

        path = self.directory / name
        # As a file: Polars takes no names that are not UTF-8.
        with readable(path), self._opened(name) as file:
            found = pl.scan_parquet(file).select(pl.len()).collect().item()
            if rows is not None and found > max(rows, _MANY_ROWS):
                many = pluralise(found, "row", "rows")
                raise ResultError(f"{path}: damaged: has {many}, and {SUMMARY} says {rows:,}")
            file.seek(0)
            columns = len(pl.read_parquet_schema(file))
            check_reading(path, found * columns * _BYTES_PER_VALUE)
            file.seek(0)
            return pl.read_parquet(file)

    def copy(self, name: str, path: Path) -> None:
        """Copies the file to ``path``, however large it is.

        Raises :class:`OSError` where ``path`` cannot be written.
        """
        source = self.directory / name
        with self._opened(name) as file, path.open("wb") as target:
            while True:
                with readable(source):
                    part = file.read(_COPIED_BYTES)
                if not part:
                    break
                target.write(part)

    @contextmanager
    def _opened(self, name: str) -> Iterator[BufferedReader]:
        """The file, after it has been checked. What is read is the file that was checked.

        It is a regular file within the directory: a link must not lead out of it. Errors of the
        block are its own.
        """
        path = self.directory / name
        with ExitStack() as stack:
            with readable(path):
                if leads_out(path, self.directory):
                    raise ResultError(
                        f"{path}: leads out of the result, to {os.path.realpath(path)}",
                        hint="put the file itself there, where you trust the result",
                    )
                file = stack.enter_context(open_regular(path))
                if self.checksums is not None:
                    if name not in self.checksums:
                        raise ResultError(f"{path}: damaged: {SUMMARY} has no checksum of it")
                    if _hash(file) != self.checksums[name]:
                        raise self._mismatch(path)
                    file.seek(0)
            yield file

    def _mismatch(self, path: Path) -> ResultError:
        """The error of a file that does not match, or of a result that was replaced meanwhile."""
        try:
            summary = json.loads(read_bytes(self.directory / SUMMARY, _MAX_SUMMARY_BYTES))
            _, now = split_checksums(self.directory / SUMMARY, summary)
        except (OSError, ValueError, RecursionError, AttributeError, ResultError):
            now = self.checksums or {}
        if now != self.checksums:
            return ResultError(
                f"{self.directory}: was replaced after it had been opened", hint="open it again"
            )
        return ResultError(f"{path}: damaged: its checksum does not match", hint=_AGAIN)


class StoredCapture:
    """The capture of a result that is stored."""

    def __init__(self, stored: Stored, name: str) -> None:
        """``name`` is that of its file."""
        self._stored = stored
        self._name = name

    def capture(self) -> bytes:
        """All of it."""
        return self._stored.bytes(self._name)

    def write_capture(self, path: Path) -> None:
        """Copies it to ``path``, as :meth:`Stored.copy` does."""
        self._stored.copy(self._name, path)


_AGAIN = "it was changed or damaged after it had been written; run its scenario again"


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Whatever fails in the block, which reads ``path``, becomes a :class:`ResultError`.

    That includes running out of memory and panics of libraries, which are no Exceptions.
    """
    try:
        yield
    except RocelabError:
        raise
    except MemoryError:
        raise ResultError(f"{path}: cannot read: not enough memory") from None
    except Exception as error:
        raise ResultError(f"{path}: cannot read: {_reason(error)}") from None
    except BaseException as error:
        if not is_panic(error):
            raise
        raise ResultError(f"{path}: cannot read: {_reason(error)}") from None


def is_panic(error: BaseException) -> bool:
    """Whether ``error`` is the panic of an extension module written in Rust, such as Polars."""
    return type(error).__module__ == "pyo3_runtime"


def _reason(error: BaseException) -> str:
    """What the error says, in one line."""
    text = getattr(error, "strerror", None) or str(error)
    return next((line for line in text.splitlines() if line.strip()), type(error).__name__)


def _is_checksum(value: object) -> bool:
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def _hash(file: BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _of_summary(summary: Mapping[str, Any]) -> str:
    """The checksum of the canonical form. Raises :class:`ValueError` where it has none."""
    others = {key: value for key, value in summary[_CHECKSUMS].items() if key != "summary"}
    whole = {**summary, _CHECKSUMS: others}
    text = json.dumps(
        whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.sha256(text.encode()).hexdigest()
