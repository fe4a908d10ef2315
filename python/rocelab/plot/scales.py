"""Axes of sizes, slowdowns and other values, linear and logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rocelab import _format
from rocelab.plot.growth import columns
from rocelab.plot.look import Look
from rocelab.plot.theme import HEADROOM

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_LABELLED_SIZES = 4
"""Maximum number of sizes that have labels of their own."""
AXIS_LETTERS = 38
"""Letters that have room below a panel, those between two values included."""
_GAP_LETTERS = 1
"""Between two of them."""


def with_room(words: Sequence[str], places: Sequence[float]) -> list[int]:
    """The numbers of those of ``words`` that have room at ``places``, in letters: both ends first.

    Of two that read alike only the first is kept.
    """

    def is_apart(one: int, other: int) -> bool:
        needed = (len(words[one]) + len(words[other])) / 2 + _GAP_LETTERS
        return words[one] != words[other] and abs(places[one] - places[other]) >= needed

    last = len(words) - 1
    kept = [0]
    for index in range(1, last):
        if is_apart(index, kept[-1]) and is_apart(index, last):
            kept.append(index)
    if last and is_apart(0, last):
        kept.append(last)
    return kept


def linear_sizes(axes: Axes) -> None:
    """Makes x a linear axis of flow sizes, from 0 on."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlim(0, axes.dataLim.x1 * HEADROOM)
    axes.xaxis.set_major_locator(MaxNLocator(_MAX_LABELLED_SIZES + 1))
    axes.xaxis.set_major_formatter(FuncFormatter(_size_tick))


def scale_slowdown(axes: Axes, look: Look) -> None:
    """Makes y an axis of slowdowns, logarithmic by default."""
    if look.y_scale == "linear":
        axes.set_ylim(0, axes.dataLim.y1 * HEADROOM)
    else:
        log_slowdown(axes)


def log_sizes(axes: Axes) -> None:
    """Makes x a logarithmic axis of flow sizes, with two labels at least.

    A few sizes are the labels themselves.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_xscale("log")
    lines: Any = axes.lines
    sizes = sorted({float(size) for line in lines for size in line.get_xdata() if size > 0})
    if len(sizes) > 1 and _format.size(sizes[0]) == _format.size(sizes[-1]):
        # Their labels would be equal: as wide as matplotlib makes an axis for a single size.
        axes.set_xlim(sizes[0] / 10, sizes[-1] * 10)
    low, high = axes.get_xlim()
    subs: tuple[float, ...] = (1.0,) if high / low > 30 else (1.0, 2.0, 5.0)
    if _in_view(subs, low, high) < 2 and high / low > 30:
        subs = (1.0, 3.0)
    axes.xaxis.set_major_locator(LogLocator(subs=subs))
    if high / low > 10**4:
        axes.xaxis.set_major_locator(LogLocator(numticks=6))
    few = 1 < len(sizes) <= _MAX_LABELLED_SIZES and len(_named_sizes(axes, sizes)) == len(sizes)
    if few or (high / low <= 10**4 and _in_view(subs, low, high) < 2):
        # Of one alone matplotlib would label as many sizes as on a linear axis, one over the other.
        axes.set_xticks(_named_sizes(axes, sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_size_tick))


def _size_tick(nbytes: float, _: object) -> str:
    """The label of a tick."""
    # A function with a name, as pictures with others cannot be pickled.
    return _format.size(nbytes)


def _in_view(subs: Sequence[float], low: float, high: float) -> int:
    """How many of ``subs`` times a power of ten are from ``low`` to ``high``."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return sum(low <= sub * 10.0**power <= high for power in powers for sub in subs)


def _named_sizes(axes: Axes, sizes: Sequence[float]) -> list[float]:
    """As many of ``sizes`` as have room for labels."""
    low, high = axes.get_xlim()
    letters = AXIS_LETTERS * columns(axes) / math.log(high / low)
    places = [math.log(size / low) * letters for size in sizes]
    return [sizes[at] for at in with_room([*map(_format.size, sizes)], places)]


def log_slowdown(axes: Axes) -> None:
    """Makes y a logarithmic axis of slowdowns."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    least, largest = axes.dataLim.intervaly
    if least == largest:
        # Around a single value matplotlib shows two powers of ten.
        low, high = least / 1.05, largest * 1.05
    axes.set_ylim(min(low, 0.95), max(high, 2.2))
    log_values(axes)


def log_values(axes: Axes) -> None:
    """Makes y, as long as it is, a logarithmic axis with numbers in full."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    from rocelab.plot.ticks import RoomyLogLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    # Where all values lie together far above the lowest, matplotlib's own margin is no marker high.
    axes.set_ylim(low, high * (high / low) ** 0.05)
    axes.yaxis.set_major_locator(RoomyLogLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(_value_tick))


def _value_tick(value: float, _: object) -> str:
    # Within a small range matplotlib has ticks at other values than whole ones.
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
