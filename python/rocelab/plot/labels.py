"""What results are called in pictures, and how wide text is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from rocelab import _format
from rocelab._text import printable
from rocelab.errors import ResultError
from rocelab.plot.theme import FONT_PT, WIDTH_IN, font_families

if TYPE_CHECKING:
    from rocelab.result import Result

    Results: TypeAlias = Result | Iterable[Result] | Mapping[str, Result]

LEGEND_WIDTH = 50
"""Letters of a legend in a line of a column's width."""

LETTER_PT = WIDTH_IN * 72 / LEGEND_WIDTH
"""How wide a usual letter is."""

_MAX_LABEL = 200
"""Characters of what a result is called in a picture."""


def plot_duration(ps: float) -> str:
    """Picoseconds with a unit that suits them, as pictures have them: ``1.5 µs``."""
    return _format.duration(ps).replace("us", "µs")


def plot_unit(name: str, largest: float) -> tuple[str, float]:
    """As ``_format.unit``, with units as pictures have them: µs."""
    unit, scale = _format.unit(name, largest)
    return ("µs" if unit == "us" else unit), scale


def plot_number(value: float) -> str:
    """A number in a picture: three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def resolve_names(results: Results) -> tuple[list[Result], list[str]]:
    """``results`` as a list, also where it is one alone, and what to call each in a picture."""
    from rocelab.result import Result

    runs: list[Any]
    if isinstance(results, Mapping):
        runs = list(results.values())
    else:
        runs = list(results) if isinstance(results, Iterable) else [results]
    for one in runs:
        if not isinstance(one, Result):
            raise TypeError(
                "expected a Result, an iterable of them or a dictionary of them by label, "
                f"found {type(one).__name__}"
            )
    if not runs:
        raise ResultError("no result to draw")
    names = map(str, results) if isinstance(results, Mapping) else _labels(runs)
    return runs, [label_text(name) for name in names]


def label_text(name: str) -> str:
    """``name`` in one line, without the middle of what is too long.

    What is no letter, as names of files may have, has an escape. A name that nobody would see is in
    quotes.
    """
    return printable(name if name.strip() else f'"{name}"', _MAX_LABEL)


def _labels(results: Sequence[Result]) -> list[str]:
    """A name for each of ``results``: the shortest kind of name in which they differ."""
    summaries = [result.summary for result in results]
    directories = [result.directory for result in results]
    paths = [path.absolute().parts if path else () for path in directories]
    choices = (
        [str(one["scheme"]) for one in summaries],
        [str(one["name"]) for one in summaries],
        [f"{one['scheme']} ({one['preset']})" for one in summaries],
        [f"{one['scheme']}, {one['name']}" for one in summaries],
        ["".join(path[-1:]) for path in paths],
        [f"{one['name']}, seed {one['seed']}" for one in summaries],
        # The one part of their paths in which they differ, as those of a sweep's runs.
        *([unquote(path[-back]) if back <= len(path) else "" for path in paths] for back in (2, 3)),
        [str(Path(*path)) if path else "" for path in paths],
    )
    for names in choices:
        if len(set(names)) == len(names) and all(names):
            return names
    return [f"{name} {index}" for index, name in enumerate(choices[0], start=1)]


def wrap(name: str, letters: int) -> list[str]:
    """``name`` in lines that are no wider than ``letters`` usual letters.

    Also where it has no spaces, as paths, and where its letters are wide ones.
    """
    line = " ".join(name.split()) or " "
    share = min(1.0, 0.9 * len(line) * LETTER_PT / width_pt(line))
    return textwrap.wrap(line, max(1, int(letters * share))) or [""]


def narrow(text: str, room_pt: float) -> list[str]:
    """``text`` in lines that are no wider than so much."""
    # More than usual letters: what breaks at words may be narrower than it could be.
    letters = max(1, int(1.4 * room_pt / LETTER_PT))
    lines = wrap(text, letters)
    while letters > 1 and max(map(width_pt, lines)) > room_pt:
        letters -= 1
        lines = wrap(text, letters)
    return lines


@lru_cache(maxsize=4096)
def width_pt(line: str) -> float:
    """How wide a line of text is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=font_families(), size=FONT_PT)
    width, _, _ = text_to_path.get_text_width_height_descent(line, font, ismath=False)
    return float(width)
