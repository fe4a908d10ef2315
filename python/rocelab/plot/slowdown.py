"""FCT slowdown: completion time over what it takes alone in the network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rocelab import _format
from rocelab._percentile import percentile
from rocelab._text import printable
from rocelab.errors import ResultError
from rocelab.plot.footnotes import caveats, unfinished
from rocelab.plot.labels import resolve_names
from rocelab.plot.panels import figure, fit_titles, legend, title
from rocelab.plot.theme import line_style, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rocelab.plot.labels import Results
    from rocelab.result import Result

Bin = Mapping[str, Any]
"""Flows of about one size."""

PERCENTILES = (50, 95, 99)
"""The percentiles that are drawn; by nearest rank."""

NEAREST_RANK: Mapping[int, int] = {95: 20, 99: 100}
"""Of fewer values than these, the percentile by nearest rank is the largest."""
SCRIPT_RANK: Mapping[int, int] = {95: 21, 99: 101}
"""Of fewer values than these, the one at index int(n p), as in ``hpcc/fct.py``, is the largest."""

_MAX_TAG = 24
"""Letters of a tag below a panel; of longer ones the middle is left out."""
_TAGS_WIDTH = 40
"""Letters side by side in all below a panel."""
_MAX_SLANTED = 10
_MAX_LABELLED_SIZES = 4
"""Maximum number of sizes that have labels of their own."""
AXIS_LETTERS = 38
"""Letters that have room below a panel, those between two values included."""
_GAP_LETTERS = 1
"""Between two of them."""


def fct(results: Results) -> Figure:
    """FCT slowdown by flow size: p50, p95 and p99 over size bins of equal flow count.

    A point stands at its bin's largest size. Several results share a picture with a panel for each
    percentile; a dictionary gives them their labels: ``fct({"eta 0.9": one, "eta 0.95": other})``.
    Where all flows have one size, all is drawn in one panel, as by :func:`tags`.
    """
    runs, names = resolve_names(results)
    for run, name in zip(runs, names, strict=True):
        if not run.summary["slowdown"]["bins"]:
            raise ResultError(f"{name}: no flow completed, so there are no slowdowns to draw")
    bins = (run.summary["slowdown"]["bins"] for run in runs)
    notes = [*unfinished(runs, names), *caveats(runs)]
    drawn = by_size(list(zip(names, bins, strict=True)), notes)
    if len(runs) == 1:
        with theme():
            title(drawn.axes[0], names[0])
            fit_titles(drawn, drawn.axes)
    return drawn


def fct_by_tag(result: Result) -> Figure:
    """FCT slowdown by flow size of each tag: p50, p95 and p99, in a panel for each percentile.

    Raises :class:`ResultError` if no flow completed, or if there are more than 256 tags.
    """
    (run,), (name,) = resolve_names([result])
    by_tag = run.summary["by_tag"]
    lists = [(tag, one["slowdown"]["bins"]) for tag, one in by_tag.items()]
    lists = [(tag, bins) for tag, bins in lists if bins]
    if not lists:
        raise ResultError(f"{name}: no flow completed, so there are no slowdowns to draw")
    drawn = by_size(lists, [*unfinished([run], [name]), *caveats([run])])
    with theme():
        title(drawn.axes[0], name)
        fit_titles(drawn, drawn.axes)
    return drawn


def by_size(
    lists: Sequence[tuple[str, Sequence[Bin]]],
    notes: Sequence[str] = (),
    needed: Mapping[int, int] = NEAREST_RANK,
) -> Figure:
    """The picture of :func:`fct` from lists of bins with their names, with ``notes`` below.

    A bin has ``upper_bytes``, in which those of a list differ, ``flows`` and the percentiles
    ``p50``, ``p95`` and ``p99``; of fewer flows than ``needed`` a percentile is the maximum. The
    name of a single list is not shown.
    """
    counts = [entry["flows"] for _, bins in lists for entry in bins]
    notes = [*_maxima("Bins", counts, needed), *notes]
    sizes = {entry["upper_bytes"] for _, bins in lists for entry in bins}
    if len(sizes) == 1:
        spots = [(name, {0: [one[f"p{p}"] for p in PERCENTILES]}) for name, (one,) in lists]
        return _at_places([_format.size(sizes.pop())], spots, notes, "Flow size")
    with theme():
        if len(lists) == 1:
            ((_, bins),) = lists
            drawn, (axes,) = figure(notes=notes)
            names = [f"p{percent}" for percent in PERCENTILES]
            for index, (percent, name) in enumerate(zip(PERCENTILES, names, strict=True)):
                _line(axes, bins, percent, name, index)
            axes.set_ylabel("FCT slowdown")
            panels = [axes]
        else:
            names = [name for name, _ in lists]
            drawn, panels = figure(rows=len(PERCENTILES), notes=notes)
            for axes, percent in zip(panels, PERCENTILES, strict=True):
                for index, (name, bins) in enumerate(lists):
                    _line(axes, bins, percent, name, index)
                axes.set_ylabel(f"p{percent} slowdown")
        for axes in panels:
            log_slowdown(axes)
        panels[-1].set_xlabel("Flow size")
        log_sizes(panels[-1])
        legend(drawn, panels, names)
    return drawn


def tags(results: Results) -> Figure:
    """FCT slowdown by tag: for each the median (filled), p95 (bar) and p99 (open).

    A tag of which no flow completed is there, too, and says so.
    """
    runs, names = resolve_names(results)
    by_run = [slowdowns_by_tag(run) for run in runs]
    if not any(by_run):
        raise ResultError("no flow completed, so there are no slowdowns to draw")
    flows = [_flows_by_tag(run) for run in runs]
    found = list(dict.fromkeys(tag for counted in flows for tag in counted))
    totals = {tag: sum(counted.get(tag, 0) for counted in flows) for tag in found}
    undone = {
        at: f"0 of {totals[tag]:,}\ndone"
        for at, tag in enumerate(found)
        if not any(tag in tagged for tagged in by_run)
    }
    counts = [len(values) for tagged in by_run for values in tagged.values()]
    notes = [
        *_maxima("Tags", counts, NEAREST_RANK),
        *unfinished(runs, names),
        *_undone(names, by_run, flows, [tag for at, tag in enumerate(found) if at not in undone]),
        *caveats(runs),
    ]
    spots = [
        {
            at: [percentile(tagged[tag], p) for p in PERCENTILES]
            for at, tag in enumerate(found)
            if tag in tagged
        }
        for tagged in by_run
    ]
    drawn = _at_places(found, list(zip(names, spots, strict=True)), notes, undone=undone)
    if len(runs) == 1:
        with theme():
            title(drawn.axes[0], names[0])
            fit_titles(drawn, drawn.axes)
    return drawn


def _at_places(
    words: Sequence[str],
    lists: Sequence[tuple[str, Mapping[int, Sequence[float]]]],
    notes: Sequence[str],
    x_label: str = "",
    undone: Mapping[int, str] | None = None,
) -> Figure:
    """The percentiles of each of ``lists`` at the places of ``words``, side by side.

    ``undone`` is what stands at places where none of them has any.
    """
    with theme():
        drawn, (axes,) = figure(notes=[*notes, "Filled p50, bar p95, open p99."])
        for index, (name, spots) in enumerate(lists):
            shift = (index - (len(lists) - 1) / 2) * 0.6 / len(lists)
            x = [at + shift for at in spots]
            low, bar, high = zip(*spots.values(), strict=True) if spots else ((), (), ())
            colour, _, marker = line_style(index)
            axes.vlines(x, low, high, color=colour, linewidth=1)
            axes.plot(x, bar, linestyle="", marker="_", markersize=6, color=colour)
            axes.plot(x, high, linestyle="", marker=marker, markerfacecolor="white", color=colour)
            axes.plot(x, low, linestyle="", marker=marker, color=colour, label=name)
        for at, text in (undone or {}).items():
            where = axes.get_xaxis_transform()
            axes.text(at, 0.03, text, transform=where, ha="center", va="bottom", fontsize=6)
        name_places(drawn, axes, words)
        axes.set_xlim(-0.5, len(words) - 0.5)
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(x_label)
        axes.set_ylabel("FCT slowdown (p50, p95, p99)")
        log_slowdown(axes)
        legend(drawn, [axes], [name for name, _ in lists])
    return drawn


def name_places(drawn: Figure, axes: Axes, words: Sequence[str]) -> None:
    """Writes words below the panel, at 0, 1 and so on: level where they have room, else turned."""
    names = [_short(word) for word in words]
    longest = max(map(len, names))
    axes.set_xticks(range(len(names)), names, parse_math=False)
    if longest * len(names) <= _TAGS_WIDTH:
        return
    # Beside each other, slanted lines need more room than upright ones.
    slant = 30 if len(names) <= _MAX_SLANTED else 90
    axes.tick_params(axis="x", labelrotation=slant)
    for text in axes.get_xticklabels():
        text.set(ha="right", va="top" if slant < 90 else "center", rotation_mode="anchor")
    width, height = drawn.get_size_inches()
    drawn.set_size_inches(width, height + 0.07 * longest * math.sin(math.radians(slant)))


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


def _short(tag: str) -> str:
    """``tag`` in one line without the middle of what is too long; tags differ at their ends."""
    line = printable(" ".join(tag.split()))
    if len(line) <= _MAX_TAG:
        return line
    half = _MAX_TAG // 2
    return f"{line[:half]}…{line[1 - half :]}"


def _maxima(groups: str, counts: Sequence[int], needed: Mapping[int, int]) -> list[str]:
    """Says which percentiles of ``groups`` are just the maximum, as the groups have few flows."""
    low, high = min(counts, default=0), max(counts, default=0)
    few = {percent: least for percent, least in needed.items() if low < least}
    if not few:
        return []
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    said = f"{groups} have {span} flow{'' if high == 1 else 's'}"
    names = [f"p{percent}" for percent in few]
    if all(high < least for least in few.values()):
        verb = "is" if len(names) == 1 else "are"
        return [f"{said}: {' and '.join(names)} {verb} their maximum."]
    which = ["all" if high < least else f"those with fewer than {least}" for least in few.values()]
    first, *others = zip(names, which, strict=True)
    parts = [f"{first[0]} is the maximum of {first[1]}", *(f"{a} of {b}" for a, b in others)]
    return [f"{said}: {', '.join(parts)}."]


def _undone(
    names: Sequence[str],
    by_run: Sequence[Mapping[str, object]],
    flows: Sequence[Mapping[str, int]],
    tags: Sequence[str],
) -> list[str]:
    """Says for each of ``tags`` in which results it has flows, but none that is done."""
    said = []
    for tag in tags:
        lacking = [
            name
            for name, tagged, counted in zip(names, by_run, flows, strict=True)
            if tag in counted and tag not in tagged
        ]
        if lacking:
            said.append(f"No flow of {_short(tag)} done: {', '.join(lacking)}.")
    return said


def _flows_by_tag(run: Result) -> dict[str, int]:
    """How many flows of each tag ``run`` has."""
    return dict(run.flows.to_polars().group_by("tag", maintain_order=True).len().iter_rows())


def slowdowns_by_tag(run: Result) -> dict[str, list[float]]:
    """The slowdowns of the flows of ``run`` that completed, sorted, for each tag."""
    done = run.flows.to_polars().select("tag", "slowdown").drop_nulls()
    grouped = done.group_by("tag", maintain_order=True).agg("slowdown")
    return {tag: sorted(values) for tag, values in grouped.iter_rows()}


def _line(axes: Axes, bins: Sequence[Bin], percent: int, label: str, index: int) -> None:
    # A line through two or three sizes would claim what nobody measured.
    connected = len(bins) > 3
    colour, line, marker = line_style(index)
    axes.plot(
        [entry["upper_bytes"] for entry in bins],
        [entry[f"p{percent}"] for entry in bins],
        color=colour,
        linestyle=line if connected else "",
        marker=marker,
        label=label,
    )


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
    letters = AXIS_LETTERS / math.log(high / low)
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
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    # Where all values lie together far above the lowest, matplotlib's own margin is no marker high.
    axes.set_ylim(low, high * (high / low) ** 0.05)
    subs = (1.0,) if high / low > 200 else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(_value_tick))


def _value_tick(value: float, _: object) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
