"""What notebooks show of an object: a few lines of HTML, with all text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rocelab._text import printable

_MAX_DETAILS = 20_000
"""Characters of a text that can be unfolded."""


def card(
    title: str,
    rows: Sequence[tuple[str, str]],
    warnings: Sequence[str] = (),
    tables: Sequence[str] = (),
    details: tuple[str, str] | None = None,
) -> str:
    """A title and rows of names and values.

    ``tables`` are HTML, and stand below the rows. ``details`` is a name and a text to unfold.
    """
    lines = [f"<div><b>{_text(title)}</b>"]
    if rows:
        cells = "".join(
            f'<tr><td style="text-align:left">{_text(name)}</td>'
            f'<td style="text-align:left">{_text(value)}</td></tr>'
            for name, value in rows
        )
        lines.append(f"<table>{cells}</table>")
    if warnings:
        items = "".join(f"<li>{_text(warning)}</li>" for warning in warnings)
        lines.append(f"Warnings:<ul>{items}</ul>")
    lines.extend(tables)
    if details is not None:
        name, text = details
        shown = text if len(text) <= _MAX_DETAILS else f"{text[:_MAX_DETAILS]}\n..."
        lines.append(
            f"<details><summary>{_text(name)}</summary><pre>{escape(shown)}</pre></details>"
        )
    lines.append("</div>")
    return "\n".join(lines)


def _text(text: str) -> str:
    return escape(printable(text))
