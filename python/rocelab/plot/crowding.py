"""Whether a picture has room for what it shows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rocelab.plot.growth import width_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

_LEAST_IN = 0.3
"""Height and width of a panel below which nothing can be read off it."""
_COLOUR_BAR = "<colorbar>"
"""What matplotlib calls the panel of a colour bar, which is narrow."""
_SLACK_IN = 0.0133
"""How far letters may reach beyond where they should end."""


@contextmanager
def crowding(drawn: Figure) -> Iterator[list[str]]:
    """Looks at ``drawn`` when it is drawn within, for the first time.

    Then texts know their places, so it need not be drawn once more. The list gets what cannot be
    read, and what helps; it stays empty if all can.
    """
    faults: list[str] = []

    def look(event: Any) -> None:  # noqa: ANN401 - there are two types of events
        drawn.canvas.mpl_disconnect(number)
        if fault := _fault_of_figure(drawn, event.renderer):
            faults.append(fault)

    number = drawn.canvas.mpl_connect("draw_event", look)
    try:
        yield faults
    finally:
        drawn.canvas.mpl_disconnect(number)


def _fault_of_figure(drawn: Figure, renderer: RendererBase) -> str:
    """What is wrong with the first panel with a fault, and what helps."""
    panels = [axes for axes in drawn.axes if axes.axison]
    fault = next(filter(None, (_fault(axes, renderer) for axes in panels)), "")
    if not fault:
        return ""
    size = f"{width_in(drawn):.3g} x {drawn.get_figheight():.3g} in"
    helps = "choose a larger size"
    if drawn.get_supxlabel():
        helps += ", or leave out the notes: notes=False, --no-notes"
    return f"{size} are too small: {fault}; {helps}"


def _fault(axes: Axes, renderer: RendererBase) -> str:
    """What is wrong with a panel."""
    drawn = axes.get_figure(root=True)
    assert drawn is not None  # noqa: S101 - panels of a figure have it
    slack = _SLACK_IN * drawn.dpi
    box = axes.get_window_extent()
    narrow = min(box.height, box.width) / drawn.dpi < _LEAST_IN
    if narrow and axes.get_label() != _COLOUR_BAR:
        return f"a panel is {box.width / drawn.dpi:.2g} x {box.height / drawn.dpi:.2g} in"
    # Its labels included.
    whole, page = axes.get_tightbbox(renderer), drawn.bbox
    if whole is None:
        return ""
    ends = (whole.x0, whole.y0, page.x1 - whole.x1, page.y1 - whole.y1)
    if min(ends) < -slack:
        return "labels are cut off"
    if whole.y0 < _notes_top(drawn) - slack:
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
