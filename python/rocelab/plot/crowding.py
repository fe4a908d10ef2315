"""Whether a picture has room for what it shows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocelab.plot.growth import width_in
from rocelab.plot.theme import theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

_LEAST_IN = 0.3
"""Height and width of a panel below which nothing can be read off it."""
_COLOUR_BAR = "<colorbar>"
"""What matplotlib calls the panel of a colour bar, which is narrow."""
_SLACK_PX = 2
"""How far letters may reach beyond where they should end."""


def crowding(drawn: Figure) -> str:
    """What cannot be read in ``drawn``, and what helps; empty if all can."""
    with theme():
        # Texts know their size in the resolution in which they were drawn last.
        drawn.draw_without_rendering()
        panels = [axes for axes in drawn.axes if axes.axison]
        fault = next(filter(None, map(_fault, panels)), "")
    if not fault:
        return ""
    size = f"{width_in(drawn):.3g} x {drawn.get_figheight():.3g} in"
    helps = "choose a larger size"
    if drawn.get_supxlabel():
        helps += ", or leave out the notes: notes=False, --no-notes"
    return f"{size} are too small: {fault}; {helps}"


def _fault(axes: Axes) -> str:
    """What is wrong with a panel."""
    drawn = axes.get_figure(root=True)
    assert drawn is not None  # noqa: S101 - panels of a figure have it
    box = axes.get_window_extent()
    narrow = min(box.height, box.width) / drawn.dpi < _LEAST_IN
    if narrow and axes.get_label() != _COLOUR_BAR:
        return f"a panel is {box.width / drawn.dpi:.2g} x {box.height / drawn.dpi:.2g} in"
    # Its labels included.
    whole, page = axes.get_tightbbox(), drawn.bbox
    if whole is None:
        return ""
    ends = (whole.x0, whole.y0, page.x1 - whole.x1, page.y1 - whole.y1)
    if min(ends) < -_SLACK_PX:
        return "labels are cut off"
    if whole.y0 < _notes_top(drawn) - _SLACK_PX:
        return "labels and notes run into each other"
    if any(one.overlaps(other) for one, other in itertools.pairwise(_y_ticks(axes))):
        return "labels of the y axis run into each other"
    return ""


def _notes_top(drawn: Figure) -> float:
    """Where the notes end above, in pixels."""
    notes = drawn.get_supxlabel()
    boxes = (text.get_window_extent() for text in drawn.texts if notes == text.get_text() != "")
    return max((box.y1 for box in boxes), default=0.0)


def _y_ticks(axes: Axes) -> Iterator[Bbox]:
    """Where the labels beside a panel are that are seen."""
    low, high = sorted(axes.get_ylim())
    for tick in axes.yaxis.get_major_ticks():
        text = tick.label1
        if low <= tick.get_loc() <= high and text.get_visible() and text.get_text():
            yield text.get_window_extent()
