"""How all pictures look: sized for a paper's column, legible without colour.

Colours are those of Okabe and Ito, which people with any colour vision tell apart; line styles and
markers differ too.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from rocelab._text import printable
from rocelab.errors import ResultError
from rocelab.io.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rocelab.result import Result

    Results: TypeAlias = Result | Iterable[Result] | Mapping[str, Result]

WIDTH_IN = 3.4
"""Width of a column in a two-column paper."""
HEIGHT_IN = 2.2
"""Height of a picture with one panel."""
DPI = 300
"""Resolution of bitmaps."""
SCREEN_DPI = 150
"""Resolution in notebooks."""

_NOTE_WIDTH = 66
"""Letters of a note in a line of a column's width."""
_LABEL_WIDTH = 22
"""Letters of a y label in a line beside the one panel of a picture."""
_STACKED_LABEL_WIDTH = 19
"""The same beside one of several panels, which are lower."""
_LEGEND_WIDTH = 50
"""Letters of a legend in a line of a column's width."""
_LETTER_PT = WIDTH_IN * 72 / _LEGEND_WIDTH
"""How wide a usual letter is."""
_TITLE_PAD_PT = 2
"""Between a panel and its title."""
_BETWEEN_PT = 8
"""Between a remark and the title beside it."""
_EDGE_PT = 3
"""Left free at the picture's edge."""
_NARROW = 0.6
"""Of the picture's width; a panel with numbers beside it is wider."""
_MAX_LABEL = 200
"""Characters of what a result is called in a picture."""
LINE_IN = 0.16
"""Height of a line of text."""

HEADROOM = 1.05
"""How far an axis that begins at 0 goes beyond what it shows, so that no mark is cut off."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 0.8)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""As many as there are colours, and as many line styles: the first seven looks share nothing."""

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

_SETTINGS: Any = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.linewidth": 0.4,
    "grid.color": "#d9d9d9",
    "axes.axisbelow": True,
    # Numbers in full: an offset or a power of ten above an axis would meet titles and remarks.
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-99, 99),
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "svg.hashsalt": "rocelab",
    "svg.fonttype": "path",
}


class LineStyle(NamedTuple):
    """How one of several things in a picture is drawn."""

    colour: str
    line: Any
    marker: str


def line_style(index: int) -> LineStyle:
    """The look of the thing number ``index`` from 0; the first 49 differ."""
    turn, place = divmod(index, len(COLOURS))
    # Each turn through the colours begins three lines and markers later: so no colour gets two
    # lines that are hard to tell apart, such as dotted and densely dotted, in the first 21 looks.
    other = (place + 3 * turn) % len(LINES)
    return LineStyle(COLOURS[place], LINES[other], MARKERS[other])


@contextmanager
def style() -> Iterator[None]:
    """The settings under which pictures are drawn and saved."""
    import matplotlib as mpl

    # Explicit settings alone, so that a user's own style does not change the pictures.
    with mpl.rc_context(), warnings.catch_warnings():
        # A letter that no font has is drawn as a box, which tells as much.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        mpl.rcParams["font.family"] = _families()
        yield


@cache
def _families() -> list[str]:
    """Our font, and for letters that it lacks those of the others that are installed."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return [_FONT, *(family for family in _OTHER_FONTS if family in installed)]


def figure(
    rows: int = 1, height_in: float | None = None, notes: Sequence[str] = ()
) -> tuple[Figure, list[Axes]]:
    """A picture of a column's width with ``rows`` panels that share their x axis.

    ``notes`` stand below the panels, which they do not make smaller.
    """
    from rocelab.plot.figure import LabelledFigure

    height = height_in or HEIGHT_IN * (1 if rows == 1 else 0.4 + 0.55 * rows)
    drawn = LabelledFigure(figsize=(WIDTH_IN, height), layout="constrained")
    axes = drawn.subplots(rows, 1, sharex=True, squeeze=False)
    footnotes(drawn, notes)
    return drawn, list(axes[:, 0])


def caveats(results: Sequence[Result]) -> list[str]:
    """What a reader of a picture must know of the schemes of ``results``, each once."""
    presets: dict[tuple[str, str], list[str]] = {}
    for result in results:
        scheme, preset, caveat = (result.summary[key] for key in ("scheme", "preset", "caveat"))
        known = presets.setdefault((scheme, caveat), [])
        if preset not in known:
            known.append(preset)
    return [
        f"{scheme} ({', '.join(known)}): {caveat}"
        for (scheme, caveat), known in presets.items()
        if caveat
    ]


def unfinished(results: Sequence[Result | None], names: Sequence[str]) -> list[str]:
    """How many flows were done, of those of ``results`` where that is not all of them."""
    counts = {
        name: f"{result.summary['flows_done']:,} of {result.summary['flows']:,}"
        for name, result in zip(names, results, strict=True)
        if result and result.summary["flows_done"] < result.summary["flows"]
    }
    if len(results) == 1:
        return [f"{count} flows done." for count in counts.values()]
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    return [f"Flows done: {told}."] if told else []


def footnotes(drawn: Figure, notes: Sequence[str]) -> None:
    """Writes ``notes`` in small letters below all panels of ``drawn``, which grows by them."""
    if not notes:
        return
    width, height = drawn.get_size_inches()
    letters = int(_NOTE_WIDTH * width / WIDTH_IN)
    lines = [line for note in notes for line in textwrap.wrap(note, letters)]
    drawn.set_size_inches(width, height + 0.12 * (len(lines) + 1))
    drawn.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=6, parse_math=False)


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
    return runs, [drawable(name) for name in names]


def drawable(name: str) -> str:
    """``name`` in one line, without the middle of what is too long.

    What is no letter, as names of files may have, has an escape.
    """
    return printable(name, _MAX_LABEL)


def _labels(results: Sequence[Result]) -> list[str]:
    """What to call each of ``results``: as short as tells them apart."""
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


def title(axes: Axes, *parts: str) -> None:
    """Says above the right of a panel what it shows, as far as the legend does not."""
    text = ", ".join(filter(None, parts))
    axes.set_title(text, loc="right", y=1.0, pad=_TITLE_PAD_PT, parse_math=False)


def panel_note(axes: Axes, text: str) -> None:
    """Says above the left of a panel what it leaves out."""
    axes.set_title(text, loc="left", color="#555555", y=1.0, pad=_TITLE_PAD_PT)


def fit_titles(drawn: Figure, panels: Sequence[Axes]) -> None:
    """Breaks titles and remarks into lines, the remark above the title, where they have no room.

    To be called last: how wide the panels are is known once all else is there. ``drawn`` grows by
    the lines that are more than one for each panel.
    """
    texts = [(axes.get_title("left"), axes.get_title("right")) for axes in panels]
    # Even the narrowest panels are wide enough for these.
    if all(_beside_pt(*pair) <= 0.4 * WIDTH_IN * 72 for pair in texts):
        return
    before = [axes.get_position() for axes in panels]
    for axes in panels:
        # The layout leaves room where the middle of a title is, even outside of the picture.
        title(axes)
        panel_note(axes, "")
    drawn.draw_without_rendering()
    lines = sum(_fit(axes, *pair) - 1 for axes, pair in zip(panels, texts, strict=True))
    for axes, place in zip(panels, before, strict=True):
        # The layout begins from there: so what fits is drawn as if it had not been measured.
        axes.set_position(place)
        axes.set_in_layout(True)
    width, height = drawn.get_size_inches()
    drawn.set_size_inches(width, height + LINE_IN * lines)


def _fit(axes: Axes, left: str, right: str) -> int:
    """How many lines what stands above the panel has now."""
    box = axes.get_window_extent()
    px_per_pt = axes.figure.dpi / 72
    panel_pt = title_pt = box.width / px_per_pt
    if panel_pt < _NARROW * WIDTH_IN * 72:
        # Words stand beside it, at bars: the title is also above these. Numbers may be in its way.
        title_pt = box.x1 / px_per_pt - _EDGE_PT
    if _beside_pt(left, right) <= panel_pt or (not left and width_pt(right) <= title_pt):
        title(axes, right)
        panel_note(axes, left)
        return 1
    title_lines = _narrow(right, title_pt) if right else []
    remark_lines = _narrow(left, panel_pt) if left else []
    title(axes, "\n".join(title_lines))
    # Empty lines raise it above the title: matplotlib has one distance to the panel for both.
    panel_note(axes, "\n".join([*remark_lines, *([""] * len(title_lines) if left else [])]))
    return len(title_lines) + len(remark_lines)


def _beside_pt(left: str, right: str) -> float:
    """How much room both take side by side."""
    between = _BETWEEN_PT if left and right else 0
    return sum(width_pt(text) for text in (left, right) if text) + between


def _narrow(text: str, room_pt: float) -> list[str]:
    """``text`` in lines that are no wider than so much."""
    # More than usual letters: what breaks at words may be narrower than it could be.
    letters = max(1, int(1.4 * room_pt / _LETTER_PT))
    lines = wrap(text, letters)
    while letters > 1 and max(map(width_pt, lines)) > room_pt:
        letters -= 1
        lines = wrap(text, letters)
    return lines


def y_label(axes: Axes, text: str, panels: int) -> None:
    """Says beside one of ``panels`` what it shows, in lines no longer than it is high."""
    letters = _LABEL_WIDTH if panels == 1 else _STACKED_LABEL_WIDTH
    lines = textwrap.wrap(text, letters, break_long_words=False, break_on_hyphens=False)
    axes.set_ylabel("\n".join(lines), parse_math=False)


def legend(drawn: Figure, panels: Sequence[Axes], names: Sequence[str]) -> None:
    """One legend for all ``panels``, above them, of those of ``names`` that some panel shows.

    As many columns as have room; ``drawn`` grows by the rows that are more than two.
    """
    if len(names) < 2:
        return
    # Not what matplotlib finds by itself: it leaves out names that begin with an underscore.
    shown: dict[str, Any] = {str(line.get_label()): line for axes in panels for line in axes.lines}
    names = [name for name in names if name in shown]
    handles = [shown[name] for name in names]
    markers_alone = all(handle.get_linestyle() == "None" for handle in handles)
    handle_length = 1.0 if markers_alone else 2.2
    # Lengths are in letters, of which a column's width holds so many.
    beside = handle_length * 1.6 + 3
    lines = [wrap(name, int(_LEGEND_WIDTH - beside)) for name in names]
    longest = max(len(line) for one in lines for line in one)
    columns = min(3, len(handles), max(1, int(_LEGEND_WIDTH / (longest + beside))))
    rows = -(-len(handles) // columns) if columns > 1 else sum(map(len, lines))
    width, height = drawn.get_size_inches()
    drawn.set_size_inches(width, height + LINE_IN * max(0, rows - 2))
    written = drawn.legend(
        handles,
        ["\n".join(one) for one in lines],
        loc="outside upper center",
        ncols=columns,
        handlelength=handle_length,
    )
    for text in written.get_texts():
        text.set_parse_math(False)


def wrap(name: str, letters: int) -> list[str]:
    """``name`` in lines that are no wider than so many usual letters.

    Also where it has no spaces, as paths, and where its letters are wide ones.
    """
    line = " ".join(name.split()) or " "
    share = min(1.0, 0.9 * len(line) * _LETTER_PT / width_pt(line))
    return textwrap.wrap(line, max(1, int(letters * share))) or [""]


def width_pt(line: str) -> float:
    """How wide a line of text is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=_families(), size=_SETTINGS["font.size"])
    width, _, _ = text_to_path.get_text_width_height_descent(line, font, ismath=False)
    return float(width)


def save(
    drawn: Figure,
    stem: Path | str,
    formats: str | Sequence[str] = ("png", "svg"),
    *,
    dpi: int = DPI,
    follow: bool = True,
) -> list[Path]:
    """Writes ``drawn`` to ``stem`` with each format's ending; returns the paths.

    A file that is there is replaced by a whole one or stays.
    ``formats`` are one or several of those that matplotlib has. ``dpi`` is the resolution of
    bitmaps. The same picture gives the same bytes as ``png``, ``svg`` and ``pdf``. Without
    ``follow`` a link that is there is replaced, and not what it leads to.
    """
    from matplotlib.figure import Figure

    if not isinstance(drawn, Figure):
        raise TypeError(f"save takes a picture such as result.plot.fct(), not {drawn!r}")
    paths = []
    kinds = [formats] if isinstance(formats, str) else list(formats)
    known = drawn.canvas.get_supported_filetypes()
    for kind in kinds:
        if kind not in known:
            raise ResultError(f"no picture format {kind!r}; there are: {', '.join(sorted(known))}")
    for kind in kinds:
        path = Path(f"{stem}.{kind}")
        buffer = io.BytesIO()
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        # Most formats take no such argument, not even an empty one.
        dated: Any = {"metadata": dates[kind]} if kind in dates else {}
        with style():
            try:
                drawn.savefig(buffer, format=kind, dpi=dpi, **dated)
            except RuntimeError as error:
                # As pgf where there is no LaTeX.
                raise ResultError(f"no picture as {kind}: {error}") from None
        write_atomic(path, buffer.getvalue(), follow=follow)
        paths.append(path)
    return paths
