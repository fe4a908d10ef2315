"""How all pictures look: sized for a paper's column, legible without colour.

Seven colours are those of Okabe and Ito. The other three are as far from each of them as these are
from each other, for people with any colour vision. Line styles and markers differ too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

WIDTH_IN = 3.4
"""Width of a column in a two-column paper."""

HEIGHT_IN = 2.2
"""Height of a picture with one panel."""

DPI = 300
"""Resolution of bitmaps."""

SCREEN_DPI = 150
"""Resolution in notebooks."""

LINE_IN = 0.16
"""Height of a line of text."""

HEADROOM = 1.05
"""How far an axis that begins at 0 goes beyond what it shows, so that no mark is cut off."""

_OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
COLOURS = (*_OKABE_ITO, "#8800FF", "#773311", "#99CC77")

SCREEN_COLOURS = tuple(colour for colour in COLOURS if colour != "#000000")
"""Those that are seen on light and on dark pages."""

LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 0.8)), (0, (8, 2)))

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">")
"""As many as there are colours: the first ten looks share neither. There are fewer line styles."""

_FONT = "DejaVu Sans"
"""Comes with matplotlib."""

_OTHER_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans",
    "Malgun Gothic",
    "Arial Unicode MS",
)
"""Have Chinese, Japanese or Korean letters."""

FONT_PT = 8
"""Size of all letters but those of footnotes, as in ``rocelab.mplstyle``."""


class LineStyle(NamedTuple):
    """How one of several things in a picture is drawn."""

    colour: str
    line: Any
    marker: str


def line_style(index: int) -> LineStyle:
    """The look of the thing number ``index`` from 0; the first 70 differ."""
    turn, place = divmod(index, len(COLOURS))
    # Each turn through the colours begins three lines and markers later: so no colour gets two
    # lines that are hard to tell apart, such as dotted and densely dotted, in the first 30 looks.
    other = place + 3 * turn
    return LineStyle(COLOURS[place], LINES[other % len(LINES)], MARKERS[other % len(MARKERS)])


@contextmanager
def theme() -> Iterator[None]:
    """The settings under which pictures are drawn and saved."""
    import matplotlib as mpl

    # Explicit settings alone, so that a user's own style does not change the pictures.
    with mpl.rc_context(), warnings.catch_warnings():
        # `LabelledFigure` names all letters that no font has in one warning.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        # It says so in `CrowdedPictureWarning`, with what helps.
        warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(_settings())
        mpl.rcParams["font.family"] = font_families()
        yield


def missing_letters(texts: Iterable[str]) -> list[str]:
    """The letters of ``texts`` that none of our fonts has, each once, in their order."""
    letters = dict.fromkeys(letter for text in texts for letter in text if letter.isprintable())
    return [letter for letter in letters if ord(letter) not in _known_letters()]


@cache
def _known_letters() -> frozenset[int]:
    """The letters that our fonts have."""
    from matplotlib.font_manager import findfont, get_font

    fonts = (get_font(findfont(family)) for family in font_families())
    return frozenset(letter for font in fonts for letter in font.get_charmap())


@cache
def _settings() -> Any:  # noqa: ANN401 - matplotlib's type for them is none of its public ones
    """The settings of ``rocelab.mplstyle``, without those that it leaves out."""
    import matplotlib as mpl

    path = Path(__file__).with_name("rocelab.mplstyle")
    return mpl.rc_params_from_file(path, use_default_template=False)


@cache
def font_families() -> list[str]:
    """Our font, and for letters that it lacks those of the others that are installed."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return [_FONT, *(family for family in _OTHER_FONTS if family in installed)]
