"""Text that is fit for a terminal, also where its origin is unknown."""

from __future__ import annotations

import json
import shutil
import textwrap

from rocelab import _rocelab

MAX_SHOWN = 200
"""Characters of a name or another value that are shown."""

_UNLIMITED = 1 << 31


def printable(text: str, most: int = MAX_SHOWN) -> str:
    r"""``text`` as a line of at most ``most`` characters, fit for a terminal.

    Control characters, escape sequences, characters that have no width and those that change the
    direction of text become escapes such as ``\u{202e}``. Of longer text the middle is left out.
    """
    # Half of a surrogate pair is no character.
    return _rocelab.printable(text.encode(errors="backslashreplace").decode(), most)


def printable_lines(text: str) -> str:
    """``text`` fit for a terminal, of any length and with its line ends."""
    return "\n".join(printable(line, _UNLIMITED) for line in text.split("\n"))


def filled(text: str, *, first: str = "", others: str = "") -> str:
    """``text`` in lines that a terminal has room for, which begin with ``first`` and ``others``."""
    room = shutil.get_terminal_size((80, 24)).columns
    # An option or a path stays whole.
    return textwrap.fill(
        " ".join(text.split()),
        room,
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
        break_long_words=False,
    )


def json_text(data: object) -> str:
    """``data`` as JSON that people can read, with escapes for what no terminal should be sent."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return text if printable_lines(text) == text else json.dumps(data, indent=2)
