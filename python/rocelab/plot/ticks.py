"""Where a time axis has its labels."""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import AutoLocator, MaxNLocator

from rocelab.plot.labels import width_pt

_GAP_PT = 3
"""Between two labels."""


class RoomyLocator(AutoLocator):
    """Matplotlib's own places on an x axis, fewer where their labels would run together.

    Matplotlib takes labels to be four letters long.
    """

    def tick_values(self, vmin: float, vmax: float) -> Any:  # noqa: ANN401
        """As matplotlib's."""
        places = super().tick_values(vmin, vmax)
        count = len(places)
        while count > 1 and not self._have_room(places, vmax - vmin):
            count -= 1
            places = MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]).tick_values(vmin, vmax)
        return places

    def _have_room(self, places: Any, span: float) -> bool:  # noqa: ANN401
        axis: Any = self.axis
        panel = axis.axes
        room_pt = panel.bbox.width / panel.get_figure().dpi * 72 * (places[1] - places[0]) / span
        labels = axis.get_major_formatter().format_ticks(places)
        return bool(max(map(width_pt, labels)) + _GAP_PT <= room_pt)
