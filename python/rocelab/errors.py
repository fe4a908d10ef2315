"""The exceptions of rocelab. Those about scenarios and results carry advice in ``hint``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rocelab.result import Result


MAX_ERRORS = 20
"""Errors of a scenario that are reported together."""
_MAX_KEY = 200
"""Characters of a key that are shown."""
_MAX_MESSAGE = 1000
"""Characters of what is wrong, which may name long paths."""
_MAX_HINT = 2000
"""Characters of advice, which may list what there is to choose from."""


class RocelabError(Exception):
    """The base of all errors that rocelab raises. Their text ends with the hint.

    It is fit for a terminal, whatever stands in the file that is at fault.
    """

    hint: str | None
    """What to do about it, where there is advice."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(_printable(message, _MAX_MESSAGE))
        self.hint = None if hint is None else _printable(hint, _MAX_HINT)

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\nhint: {self.hint}" if self.hint else text


class ModuleChoiceError(RocelabError, ImportError):
    """The compiled module that the user chose (ROCELAB_MODULE, a project) cannot be used."""

    def __init__(self, message: str) -> None:
        # What makes texts fit for a terminal is in that module.
        Exception.__init__(self, message)
        self.hint = None


class MissingPackageError(RocelabError, ImportError):
    """A package that only some functions need is not installed. ``hint`` says how to install it."""

    def __init__(self, what: str, packages: str, *, install: str) -> None:
        """``what`` needs ``packages``, which the command ``install`` installs."""
        are = "are" if " " in packages else "is"
        super().__init__(f"{what} needs {packages}, which {are} not installed", hint=install)


class ConfigError(RocelabError, ValueError):
    """A scenario or an argument is wrong.

    The text begins with its place, where that is known: ``file:line: key: what is wrong``. It goes
    on with the other errors of the same scenario, if there are any.
    """

    message: str
    """What is wrong, alone."""
    file: str | None
    """The scenario file, where there is one."""
    key: str | None
    """The key at fault with its path, such as ``topology.k``."""
    line: int | None
    """The line of the file, counted from 1, where it is known."""
    others: list[ConfigError]
    """The other errors of the scenario, in the order of their lines; they have no others."""
    warnings: list[str]
    """Warnings about the HPCC simulator's files found before the error; they may explain it."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        key: str | None = None,
        line: int | None = None,
        hint: str | None = None,
        warnings: Sequence[str] = (),
    ) -> None:
        place = file or ""
        if line is not None:
            place = f"{file}:{line}" if file else f"line {line}"
        message = _printable(message, _MAX_MESSAGE)
        key = None if key is None else _printable(key, _MAX_KEY)
        super().__init__(": ".join(part for part in (place, key, message) if part), hint=hint)
        self.message = message
        self.file = file
        self.key = key
        self.line = line
        self.others = []
        self.warnings = [_printable(warning, _MAX_MESSAGE) for warning in warnings]

    def is_of(self, key: str) -> bool:
        """Whether the fault is not in a file, but in a value that ``key`` was given elsewhere."""
        # A value may be a table, with keys of its own, and an unknown key is that of its table.
        return self.line is None and f"{self.key}.".startswith(f"{key}.")

    @property
    def texts(self) -> list[str]:
        """The text of this error, and that of each of the others."""
        return [RocelabError.__str__(error) for error in (self, *self.others)]

    @property
    def count(self) -> str:
        """How many errors were found in the scenario, as words."""
        found = 1 + len(self.others)
        # More are not looked for.
        return ("the first " if found == MAX_ERRORS else "") + f"{found} errors"

    def __str__(self) -> str:
        return "\n".join([*self.texts, *([self.count] if self.others else [])])


class SimulationError(RocelabError):
    """A run failed through no fault of its scenario."""


class RecordingError(SimulationError):
    """Samples and events of a run found no room on disk, though the run itself ended as it should.

    ``result`` holds everything up to then, and what does not depend on them.
    """

    result: Result
    files: list[Path]
    """The files that were written, where the run was an experiment of the HPCC simulator."""

    def __init__(self, message: str, result: Result, files: Sequence[Path] = ()) -> None:
        super().__init__(
            f"samples and events were lost: {message}",
            hint="free space there or record less; another --out, in Python another scratch=, "
            "leads to another disk, as TMPDIR does where there is neither",
        )
        self.result = result
        self.files = list(files)
        self._message = message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._message, self.result, self.files)


class ResultError(RocelabError):
    """A result could not be written, read or drawn."""


class UnverifiedResultWarning(UserWarning):
    """A result of an earlier version has no checksums, so that damage to it goes unnoticed."""


class MemoryWarning(UserWarning):
    """Memory may not suffice for what has been asked for."""


class MissingGlyphWarning(UserWarning):
    """No font has some letters of a picture, so that boxes stand for them."""


class CrowdedPictureWarning(UserWarning):
    """A picture is too small for what it shows: panels without height, labels over each other."""


class Interrupted(KeyboardInterrupt):
    """A run was stopped with Ctrl-C. ``result`` holds what it had done, marked partial.

    A second Ctrl-C before that is there raises a plain KeyboardInterrupt instead.
    """

    result: Result
    files: list[Path]
    """The files that were written, where the run was an experiment of the HPCC simulator."""

    def __init__(self, result: Result, files: Sequence[Path] = ()) -> None:
        super().__init__("the run was interrupted")
        self.result = result
        self.files = list(files)


def _printable(text: str, most: int) -> str:
    # Loaded where there is an error, as the command is to start fast.
    from rocelab._text import printable

    return printable(text, most)
