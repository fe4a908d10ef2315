"""Pages that open from disk: text of results in them is harmless, and they load nothing."""

from __future__ import annotations

from html import escape

from rocelab._text import printable

MAX_TEXT = 2000
"""Characters of a text from a result that are shown."""
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)
"""The browser then loads nothing from elsewhere, whatever the page holds."""


def document(title: str, style: str, body: str) -> str:
    """The whole file of a page with the markup ``body``."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{text(title)}</title><style>{style}</style></head><body>{body}</body></html>\n"
    )


def text(value: str) -> str:
    """Text of unknown origin as markup."""
    return escape(printable(value, MAX_TEXT))


def texts(values: list[str]) -> str:
    """A list of texts."""
    return f"<ul>{''.join(f'<li>{text(one)}</li>' for one in values)}</ul>"


def definitions(pairs: list[tuple[str, str]]) -> str:
    """Names and values."""
    rows = (f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in pairs)
    return f"<dl>{''.join(rows)}</dl>"
