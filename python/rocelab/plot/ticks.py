"""Where axes have their labels: as many as have room."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from matplotlib.ticker import AutoLocator, Locator, MaxNLocator

from rocelab.plot.labels import width_pt
from rocelab.plot.theme import FONT_PT

_GAP_PT = 3
"""Between two labels side by side."""
_LINE = 1.3
"""Height of a label above another one, of its letters' size."""
_WIDE = 200
"""Quotient of the ends of a logarithmic axis from which powers of ten are labels enough."""
_FEW = 3
"""Labels that an axis has if it has room for them."""
_STEPS: Sequence[Sequence[float]] = (
    (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9),
    (1, 1.5, 2, 3, 4, 5, 6, 8),
    (1, 2, 3, 5),
    (1, 2, 5),
    (1, 3),
    (1,),
)
"""Between powers of ten, from many labels to few."""
_USUAL = _STEPS.index((1, 2, 5))


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


class RoomyLogLocator(Locator):
    """Places on a logarithmic y axis: 1, 2 and 5 of each power of ten; powers alone on a long one.

    More where these are hardly any, and fewer where labels would run into each other.
    """

    def __call__(self) -> Any:  # noqa: ANN401
        """The places between the ends of the axis."""
        axis: Any = self.axis
        return self.tick_values(*axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:  # noqa: ANN401
        """As matplotlib's."""
        low, high = sorted((vmin, vmax))
        usual = len(_STEPS) - 1 if high / low > _WIDE else _USUAL
        # From the usual steps to finer ones until there are a few, and back while there is no room.
        finer = [_in_view(_STEPS[at], low, high) for at in range(usual, -1, -1)]
        most = next((found for found in finer if len(found) >= _FEW), finer[-1])
        coarser = [found for found in reversed(finer) if len(found) < len(most)]
        coarser += [_in_view(steps, low, high) for steps in _STEPS[usual + 1 :]]
        for places in (most, *coarser):
            if len(places) > 1 and self._have_room(places, high / low):
                return places
        while len(most) > 1 and not self._have_room(most, high / low):
            most = most[::2]
        return most

    def _have_room(self, places: Sequence[float], span: float) -> bool:
        axis: Any = self.axis
        panel = axis.axes
        high_pt = panel.bbox.height / panel.get_figure().dpi * 72
        pairs = itertools.pairwise(places)
        least = min((math.log(upper / lower) for lower, upper in pairs), default=math.inf)
        return bool(least / math.log(span) * high_pt >= _LINE * FONT_PT)


def _in_view(steps: Sequence[float], low: float, high: float) -> list[float]:
    """Each of ``steps`` times a power of ten that is from ``low`` to ``high``."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = (step * 10.0**power for power in powers for step in steps)
    return [one for one in every if low <= one <= high]
