"""How wide a picture is, and how it grows by what stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocelab.plot.theme import WIDTH_IN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def width_in(drawn: Figure) -> float:
    """How wide ``drawn`` is, in inches."""
    return float(drawn.get_figwidth())


def columns(axes: Axes) -> float:
    """How wide the picture of ``axes`` is, in columns of a paper."""
    drawn: Any = axes.get_figure(root=True)
    return width_in(drawn) / WIDTH_IN


def grow(drawn: Figure, by_in: float) -> None:
    """Makes ``drawn`` higher, unless the user has chosen its size."""
    if not getattr(drawn, "size_is_fixed", False):
        drawn.set_size_inches(drawn.get_figwidth(), drawn.get_figheight() + by_in)
