"""The figure that every picture is."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.text import Text

from rocelab._warn import warn
from rocelab.errors import CrowdedPictureWarning, MissingGlyphWarning
from rocelab.plot.crowding import crowding
from rocelab.plot.theme import DPI, SCREEN_DPI, missing_letters, theme

if TYPE_CHECKING:
    from matplotlib.backend_bases import RendererBase

_MAX_LETTERS = 12
"""Letters that a warning names."""


class LabelledFigure(Figure):
    """A figure that notebooks show as it is, and that saves itself in our look and resolution."""

    size_is_fixed = False
    """Whether the user has chosen its size, so that it does not grow by what it shows."""
    _is_saved = False
    """Whether matplotlib writes it to a file at this moment."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **{"dpi": SCREEN_DPI, **kwargs})

    def savefig(self, fname: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """As matplotlib's, in the resolution of :func:`rocelab.plot.save` by default.

        Warns of letters that no font has, and where the picture is too small for what it shows.
        """
        with crowding(self) as faults:
            self.draw_to(fname, **kwargs)
        self.warn_of_boxes()
        for fault in faults:
            warn(CrowdedPictureWarning(f"a picture of {fault}"))

    def draw_to(self, fname: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """As :meth:`savefig`, without a look at what is drawn."""
        with theme():
            self._forget_layout()
            self._is_saved = True
            try:
                super().savefig(fname, **{"dpi": DPI, **kwargs})
            finally:
                self._is_saved = False

    def draw(self, renderer: RendererBase) -> None:
        """As matplotlib's, which draws twice to write a file: at first for the layout alone."""
        layout = self.get_layout_engine()
        # The second time a place-holder stands for the layout.
        if not self._is_saved or layout is None or isinstance(layout, PlaceHolderLayoutEngine):
            super().draw(renderer)
            return
        # It draws on as well where this cannot be laid out.
        with suppress(ValueError):
            layout.execute(self)

    def warn_of_boxes(self) -> None:
        """Names the letters for which boxes stand: words of equal length look alike so."""
        texts: list[Any] = self.findobj(Text)
        if missing := missing_letters(text.get_text() for text in texts):
            shown = ", ".join(missing[:_MAX_LETTERS])
            more = f" and {len(missing) - _MAX_LETTERS} more" if len(missing) > _MAX_LETTERS else ""
            warn(
                MissingGlyphWarning(
                    f"pictures have boxes in place of {shown}{more}: no font here has them; for "
                    "Chinese, Japanese and Korean install Noto Sans CJK, or write labels in other "
                    "letters"
                )
            )

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
