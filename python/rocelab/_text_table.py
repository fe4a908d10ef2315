"""Tables as text. The first ``left`` columns keep to the left, the others to the right."""

from __future__ import annotations

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


def markdown(lines: Sequence[Sequence[str]], left: int) -> str:
    """For Markdown pages; the first line is the head."""
    head, *rows = (f"| {' | '.join(line)} |" for line in lines)
    columns = len(lines[0])
    return "\n".join([head, "|" + "---|" * left + "---:|" * (columns - left), *rows])
