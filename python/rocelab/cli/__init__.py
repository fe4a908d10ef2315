"""The ``rocelab`` command.

Data goes to the standard output, all else to the standard error stream. Exit codes: 0 done, 1 a
run failed through no fault of its input or, with ``--strict``, its numbers are doubtful, 2 bad
input or a file that cannot be read or written, 130 interrupted. A reader that takes no more of the
output (``rocelab list | head``) ends the command without a word, and with 0. SIGTERM is as Ctrl-C.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TextIO

from rocelab.errors import (
    ConfigError,
    CrowdedPictureWarning,
    MemoryWarning,
    MissingGlyphWarning,
    ResultError,
    RocelabError,
    SimulationError,
    UnverifiedResultWarning,
)

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130

_OPEN_FILES = 8
"""Files that a command needs to open, beside those that are open when it starts."""
_MAX_ERROR = 1000
"""Characters of an error that are shown."""


def main() -> NoReturn:
    """Runs the command line; errors become a line or two and an exit code."""

    def command() -> None:
        # Here, as Ctrl-C may come while it is imported.
        from rocelab.cli.commands import app_for

        app_for(sys.argv[1] if len(sys.argv) > 1 else None)()

    run_command(command)


def run_command(command: Callable[[], None]) -> NoReturn:
    """Calls ``command`` and ends the process with its exit code."""
    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        for stream in ("stdout", "stderr"):
            if getattr(sys, stream) is None:
                # The caller has closed it: nobody reads what is written.
                setattr(sys, stream, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
            if isinstance(getattr(sys, stream), io.TextIOWrapper):
                # Letters that it cannot show are no reason to fail after a run.
                getattr(sys, stream).reconfigure(errors="backslashreplace")
        # Commands draw to files: what suits a notebook or a desktop may not be there.
        os.environ["MPLBACKEND"] = "agg"
        # Pydantic would look for plug-ins in all packages that are installed.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        _show_warnings_plainly()
        sys.exit(_flushed(_code_of(command)))
    except KeyboardInterrupt:
        # Such as while a reader waits to take the last of the output.
        sys.exit(_interrupted())


def _check_open_files() -> None:
    """Raises where so few files may be open at once that libraries fail in ways of their own."""
    handles: list[int] = []
    with suppress(OSError):
        while len(handles) < _OPEN_FILES:
            handles += [os.open(os.devnull, os.O_RDONLY)]
    for handle in handles:
        os.close(handle)
    if len(handles) < _OPEN_FILES:
        raise ResultError(
            f"fewer than {_OPEN_FILES} more files may be open at once",
            hint="raise the limit, such as with `ulimit -n 256`",
        )


def _code_of(command: Callable[[], None]) -> int:
    """Calls ``command``, prints its error if there is one, and returns the exit code."""
    try:
        _check_open_files()
        from rocelab import _module

        if sys.argv[1:2] == ["scheme"]:
            # A module that cannot be loaded must not keep it from being built again.
            _module.use_own()
        from rocelab import _rocelab

        _rocelab.exit_on_abort()
        _tell_module()
        command()
    except SystemExit as end:
        # Typer makes exit codes of its own of a reader that has gone, and of Ctrl-C.
        if isinstance(end.__context__, BrokenPipeError):
            return 0
        return _interrupted() if end.code == INTERRUPTED else int(end.code or 0)
    except ConfigError as error:
        # Their texts are fit for a terminal.
        for text in error.texts:
            print(f"error: {text}", file=sys.stderr)
        if error.others:
            print(error.count, file=sys.stderr)
        return BAD_INPUT
    except RocelabError as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED if isinstance(error, SimulationError) else BAD_INPUT
    except OSError as error:
        return _told(error)
    except UnicodeEncodeError as error:
        if error.encoding.replace("-", "") == "utf8":
            raise
        odd = error.object[error.start : error.end]
        print(f"error: {odd!r} cannot be in a file name in {error.encoding}", file=sys.stderr)
        print("hint: choose a locale with UTF-8, such as LC_ALL=C.UTF-8", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return _interrupted()
    except MemoryError as error:
        told = str(error) or "out of memory"
        print(f"error: {told}; runs that are complete stay where they are", file=sys.stderr)
        return FAILED
    except BaseException as error:
        # A panic of a library, which is no Exception.
        if type(error).__module__ != "pyo3_runtime":
            raise
        print(f"error: a library failed: {str(error).splitlines()[0]}", file=sys.stderr)
        return FAILED
    return 0


def _tell_module() -> None:
    """Says that a build of the user's is in use, and which."""
    from rocelab import _module

    choice = _module.chosen()
    # A shell that asks for completions wants nothing else.
    if choice is not None and "_ROCELAB_COMPLETE" not in os.environ:
        from rocelab import _rocelab
        from rocelab._text import printable

        where = printable(str(choice.project or choice.file), _MAX_ERROR)
        print(f"using the build with {', '.join(_rocelab.ADDED)} of {where}", file=sys.stderr)


def _interrupted() -> int:
    """The exit code of a command that Ctrl-C ends. Signals that follow change nothing."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    return INTERRUPTED


_OURS = (
    CrowdedPictureWarning,
    MemoryWarning,
    MissingGlyphWarning,
    UnverifiedResultWarning,
)
"""Warnings that are shown as lines."""


def _show_warnings_plainly() -> None:
    """Shows each warning of rocelab once, as a line, and others as Python does."""
    warnings.simplefilter("always", UnverifiedResultWarning)
    show = warnings.showwarning
    shown: set[str] = set()

    def showwarning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, _OURS):
            show(message, category, filename, lineno, file, line)
        elif str(message) not in shown:
            from rocelab._text import printable_lines

            shown.add(str(message))
            print(f"warning: {printable_lines(str(message))}", file=sys.stderr)

    warnings.showwarning = showwarning


def _flushed(code: int) -> int:
    """Flushes stdout and returns ``code``, or the code of the error that this gives.

    A full disk is noticed only here.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        # What could not be written now would fail again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # An error that was printed before counts.
        return code or _told(error)
    return code


def _told(error: OSError) -> int:
    if isinstance(error, BrokenPipeError):
        return 0
    # The two that have no file name.
    lost = error.errno == errno.ENOENT
    place = error.filename or ("current directory" if lost else "standard output")
    from rocelab._text import printable

    text = printable(f"{place}: {error.strerror or error}", _MAX_ERROR)
    print(f"error: {text}", file=sys.stderr)
    return BAD_INPUT
