"""The ``rocelab`` command.

Data goes to the standard output, all else to the standard error stream. Exit codes: 0 done, 2 bad
input or a file that cannot be read or written, 130 interrupted. A reader that takes no more of the
output (``rocelab list | head``) ends the command without a word, and with 0. SIGTERM is as Ctrl-C.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from rocelab.errors import RocelabError

BAD_INPUT = 2
INTERRUPTED = 130


def main() -> NoReturn:
    """Runs the command line; errors become a line or two and an exit code."""
    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        if sys.stdout is None:
            # The caller has closed it: nobody reads what is written.
            sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Letters that it cannot show are no reason to fail after a run.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            # Here, as Ctrl-C may come while it is imported.
            from rocelab.cli.app import app

            app()
        except SystemExit as end:
            # Typer makes an exit code of its own of a reader that has gone.
            if isinstance(end.__context__, BrokenPipeError):
                sys.exit(0)
            raise
        finally:
            # Here, where a full disk or a reader that has gone can still be told.
            sys.stdout.flush()
    except RocelabError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        # What could not be written now would fail again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(0)
        place = error.filename or "standard output"
        print(f"error: {place}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(BAD_INPUT)
