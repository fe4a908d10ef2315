"""Tables as text. The first ``left`` columns keep to the left, the others to the right."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from rocelab._text import printable


def aligned(lines: Sequence[Sequence[str]], left: int) -> str:
    """For terminals: all cells of a column have the same width, and show what a terminal may."""
    lines = [[printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def fitted(
    lines: Sequence[Sequence[str]], left: int, *, repeated: int | None = None, together: int = 1
) -> str:
    """As :func:`aligned`, in several tables below each other where one is wider than the terminal.

    The first ``repeated`` columns, by default the first ``left``, stand in each of them. Of the
    others each ``together`` stay beside each other. The first ``left`` of all keep to the left.
    """
    first = left if repeated is None else repeated
    room = shutil.get_terminal_size((80, 24)).columns
    columns = list(zip(*lines, strict=True))
    tables, part = [], list(range(first))
    for begin in range(first, len(columns), together):
        group = list(range(begin, min(begin + together, len(columns))))
        if len(part) > first and _width([columns[at] for at in (*part, *group)]) > room:
            tables.append(part)
            part = list(range(first))
        part += group
    tables.append(part)
    return "\n\n".join(
        aligned(
            list(zip(*(columns[at] for at in part), strict=True)), sum(at < left for at in part)
        )
        for part in tables
    )


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(max(len(printable(cell)) for cell in column) + 2 for column in columns) - 2


def markdown(lines: Sequence[Sequence[str]], left: int) -> str:
    """For Markdown pages; the first line is the head."""
    head, *rows = (f"| {' | '.join(line)} |" for line in lines)
    columns = len(lines[0])
    return "\n".join([head, "|" + "---|" * left + "---:|" * (columns - left), *rows])
