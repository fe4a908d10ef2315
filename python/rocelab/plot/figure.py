"""The figure that every picture is."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.figure import Figure

from rocelab.plot.theme import DPI, SCREEN_DPI, theme


class LabelledFigure(Figure):
    """A figure that notebooks show as it is, and that saves itself in our look and resolution."""

    size_is_fixed = False
    """Whether the user has chosen its size, so that it does not grow by what it shows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **{"dpi": SCREEN_DPI, **kwargs})

    def savefig(self, fname: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """As matplotlib's, in the resolution of :func:`rocelab.plot.save` by default."""
        with theme():
            self._forget_layout()
            super().savefig(fname, **{"dpi": DPI, **kwargs})

    def _forget_layout(self) -> None:
        """Puts the panels where they were at first.

        The layout begins from where they are: without this a second time it gives another picture.
        """
        for axes in self.axes:
            grid = axes.get_subplotspec()
            if grid is not None and axes.get_in_layout():
                axes.set_position(grid.get_position(self))
                # Whose position was set is left alone.
                axes.set_in_layout(True)

    def _repr_png_(self) -> bytes:
        """What IPython asks for; only pyplot's own figures have it without this."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=SCREEN_DPI)
        return buffer.getvalue()
