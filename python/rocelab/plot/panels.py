"""Panels with their titles, labels and legend."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rocelab._text import printable
from rocelab.plot.footnotes import footnotes
from rocelab.plot.growth import columns, grow, width_in
from rocelab.plot.labels import LEGEND_WIDTH, narrow, width_pt, wrap
from rocelab.plot.look import DEFAULT_LOOK, Look
from rocelab.plot.theme import FONT_PT, HEIGHT_IN, LINE_IN, WIDTH_IN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABEL_WIDTH = 22
"""Letters of a y label in a line beside the one panel of a picture."""

_STACKED_LABEL_WIDTH = 19
"""Letters of a y label in a line beside one of several panels, which are lower."""

_TITLE_PAD_PT = 2
"""Between a panel and its title."""

_BETWEEN_PT = 8
"""Between a remark and the title beside it."""

_EDGE_PT = 3
"""Left free at the picture's edge."""

_NARROW = 0.6
"""Of the picture's width; a panel with numbers beside it is wider."""


def figure(
    rows: int = 1,
    height_in: float | None = None,
    notes: Sequence[str] = (),
    look: Look = DEFAULT_LOOK,
) -> tuple[Figure, list[Axes]]:
    """A picture with ``rows`` panels that share their x axis, as wide as a column by default.

    ``notes`` stand below the panels, which they do not make smaller, unless ``look`` has others, or
    a size.
    """
    from rocelab.plot.figure import LabelledFigure

    height = height_in or HEIGHT_IN * (1 if rows == 1 else 0.4 + 0.55 * rows)
    drawn = LabelledFigure(figsize=look.size or (WIDTH_IN, height), layout="constrained")
    drawn.size_is_fixed = look.size is not None
    axes = drawn.subplots(rows, 1, sharex=True, squeeze=False)
    footnotes(drawn, look.choose_notes(notes))
    return drawn, list(axes[:, 0])


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
    if all(_beside_pt(*pair) <= 0.4 * width_in(drawn) * 72 for pair in texts):
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
    grow(drawn, LINE_IN * lines)


def _fit(axes: Axes, left: str, right: str) -> int:
    """How many lines what stands above the panel has now."""
    box = axes.get_window_extent()
    px_per_pt = axes.figure.dpi / 72
    panel_pt = title_pt = box.width / px_per_pt
    if panel_pt < _NARROW * columns(axes) * WIDTH_IN * 72:
        # Words stand beside it, at bars: the title is also above these. Numbers may be in its way.
        title_pt = box.x1 / px_per_pt - _EDGE_PT
    if _beside_pt(left, right) <= panel_pt or (not left and width_pt(right) <= title_pt):
        title(axes, right)
        panel_note(axes, left)
        return 1
    title_lines = narrow(right, title_pt) if right else []
    remark_lines = narrow(left, panel_pt) if left else []
    title(axes, "\n".join(title_lines))
    # Empty lines raise it above the title: matplotlib has one distance to the panel for both.
    panel_note(axes, "\n".join([*remark_lines, *([""] * len(title_lines) if left else [])]))
    return len(title_lines) + len(remark_lines)


def _beside_pt(left: str, right: str) -> float:
    """How much room both take side by side."""
    between = _BETWEEN_PT if left and right else 0
    return sum(width_pt(text) for text in (left, right) if text) + between


def y_label(axes: Axes, text: str, panels: int) -> None:
    """Says beside one of ``panels`` what it shows, in lines no longer than it is high.

    Words that are longer, as names of tags may be, are shown without their middle.
    """
    letters = _LABEL_WIDTH if panels == 1 else _STACKED_LABEL_WIDTH
    words = " ".join(printable(word, letters) for word in text.split())
    lines = textwrap.wrap(words, letters, break_long_words=False, break_on_hyphens=False)
    axes.set_ylabel("\n".join(lines), parse_math=False)


def fit_y_labels(drawn: Figure, panels: Sequence[Axes]) -> None:
    """Breaks the y label of one panel that is longer than this is high; of several says it once.

    Only pictures of a size that the user has chosen have such panels. The labels of several are
    equal, or differ in their first word.
    """
    if not getattr(drawn, "size_is_fixed", False):
        return
    before = [axes.get_position() for axes in panels]
    drawn.draw_without_rendering()
    room = min(axes.get_window_extent().height for axes in panels)
    tall = max(axes.yaxis.label.get_window_extent().height for axes in panels)
    for axes, place in zip(panels, before, strict=True):
        # The layout begins from there: so what fits is drawn as if it had not been measured.
        axes.set_position(place)
        axes.set_in_layout(True)
    if tall <= room:
        return
    labels = [" ".join(axes.get_ylabel().split()) for axes in panels]
    if len(panels) == 1:
        own, shared = ["\n".join(_broken(labels[0], room / drawn.dpi * 72))], ""
    elif len(set(labels)) == 1:
        own, shared = [""] * len(labels), labels[0]
    else:
        own = [one.partition(" ")[0] for one in labels]
        shared = labels[0].partition(" ")[2].capitalize()
    for axes, text in zip(panels, own, strict=True):
        axes.set_ylabel(text, parse_math=False)
    if shared:
        drawn.supylabel(shared, fontsize=FONT_PT, parse_math=False)


def _broken(label: str, room_pt: float) -> list[str]:
    """``label`` in the fewest lines that are no longer than ``room_pt``; words stay whole."""
    words = label.split()
    most = len(label)
    lines = [label]
    while max(map(width_pt, lines)) > room_pt and len(lines) < len(words):
        most -= 1
        lines = textwrap.wrap(label, most, break_long_words=False, break_on_hyphens=False)
    return lines


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
    # Lengths are in usual letters, of which `LEGEND_WIDTH` fit side by side in a column's width.
    wide = width_in(drawn) / WIDTH_IN
    letters = LEGEND_WIDTH * wide
    beside = handle_length * 1.6 + 3
    lines = [wrap(name, max(1, int(letters - beside))) for name in names]
    longest = max(len(line) for one in lines for line in one)
    most = max(1, round(3 * wide))
    beside_each_other = min(most, len(handles), max(1, int(letters / (longest + beside))))
    rows = -(-len(handles) // beside_each_other) if beside_each_other > 1 else sum(map(len, lines))
    grow(drawn, LINE_IN * max(0, rows - 2))
    written = drawn.legend(
        handles,
        ["\n".join(one) for one in lines],
        loc="outside upper center",
        ncols=beside_each_other,
        handlelength=handle_length,
    )
    for text in written.get_texts():
        text.set_parse_math(False)
