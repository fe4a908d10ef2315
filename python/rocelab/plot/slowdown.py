"""FCT slowdown: completion time over what it takes alone in the network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rocelab import _format
from rocelab._percentile import percentile
from rocelab._text import printable
from rocelab.catalogue import caveats
from rocelab.errors import ResultError
from rocelab.plot.footnotes import disturbances, unfinished
from rocelab.plot.growth import grow, width_in
from rocelab.plot.labels import resolve_names, width_pt
from rocelab.plot.look import DEFAULT_LOOK, Look, Scale
from rocelab.plot.panels import figure, fit_titles, fit_y_labels, legend, panel_note, title
from rocelab.plot.scales import linear_sizes, log_sizes, scale_slowdown
from rocelab.plot.size_bins import Bin, connected, mixes_traffic, of_summary, size_bins
from rocelab.plot.span import Span
from rocelab.plot.theme import FONT_PT, WIDTH_IN, line_style, theme
from rocelab.scenario import MAX_TAGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rocelab.plot.labels import Results
    from rocelab.result import Result

PERCENTILES = (50, 95, 99)
"""The percentiles that are drawn; by nearest rank."""

NEAREST_RANK: Mapping[int, int] = {95: 20, 99: 100}
"""Of fewer values than these, the percentile by nearest rank is the largest."""
SCRIPT_RANK: Mapping[int, int] = {95: 21, 99: 101}
"""Of fewer values than these, the one at index int(n p) is the largest, as in
``hpcc/fct_groups.py``."""

_COMPLETED = "completed flow that starts"
_MAX_TAG = 24
"""Letters of a tag below a panel; of longer ones the middle is left out."""
_TAGS_WIDTH = 40
"""Letters side by side in all below a panel."""
_MAX_SLANTED = 10
_UPRIGHT_PT = 10
"""Room that the upright name of a tag takes beside others."""
_BESIDE_IN = 0.6
"""What is beside a panel: its numbers, and the label of its axis."""
_UNDONE_PT = 6
"""Size of the letters that say of a tag that nothing is done."""


def fct(
    results: Results,
    *,
    start: str | None = None,
    end: str | None = None,
    notes: bool | Sequence[str] = True,
    size: tuple[float, float] | None = None,
    x_scale: Scale | None = None,
    y_scale: Scale | None = None,
) -> Figure:
    """FCT slowdown by flow size: p50, p95 and p99 over size bins of equal flow count.

    A point stands at its bin's largest size. Several results share a picture with a panel for each
    percentile; a dictionary gives them their labels: ``fct({"eta 0.9": one, "eta 0.95": other})``.
    Points whose flows have other tags are not connected: they are of different traffic.
    Where all flows have one size, all is drawn in one panel, as by :func:`tags`.

    ``start`` and ``end`` are simulated times, such as ``"1.5ms"``: flows that start before or after
    are left out. ``notes``, ``size``, ``x_scale`` and ``y_scale`` are those of :func:`series`.
    """
    look, span = Look(notes, size, x_scale, y_scale), Span.of(start, end)
    runs, names = resolve_names(results)
    bins = [size_bins(run, span) for run in runs]
    for one, name in zip(bins, names, strict=True):
        if not one:
            raise span.nothing(_COMPLETED) or _nothing_completed(name)
    said = [
        *span.flows_note(),
        *unfinished(runs, names),
        *disturbances(runs, names),
        *caveats(runs),
    ]
    drawn = by_size(list(zip(names, bins, strict=True)), said, look=look)
    if len(runs) == 1:
        with theme():
            title(drawn.axes[0], names[0])
            fit_titles(drawn, drawn.axes)
    return drawn


def fct_by_tag(
    result: Result,
    *,
    notes: bool | Sequence[str] = True,
    size: tuple[float, float] | None = None,
    x_scale: Scale | None = None,
    y_scale: Scale | None = None,
) -> Figure:
    """FCT slowdown by flow size of each tag: p50, p95 and p99, in a panel for each percentile.

    ``notes``, ``size``, ``x_scale`` and ``y_scale`` are those of :func:`series`.
    Raises :class:`ResultError` if no flow completed, or if there are more than 256 tags.
    """
    look = Look(notes, size, x_scale, y_scale)
    (run,), (name,) = resolve_names([result])
    by_tag = run.summary.by_tag
    lists = [(tag, of_summary(one.slowdown.bins)) for tag, one in by_tag.items()]
    lists = [(tag, bins) for tag, bins in lists if bins]
    if not by_tag and run.summary.flows:
        count = run.flows.to_polars()["tag"].n_unique()
        raise ResultError(
            f"{name}: there are {count} tags, and up to {MAX_TAGS} have slowdowns of their own",
            hint="give fewer tags, or draw all flows together: fct",
        )
    if not lists:
        raise _nothing_completed(name)
    said = [*unfinished([run], [name]), *disturbances([run], [name]), *caveats([run])]
    drawn = by_size(lists, said, look=look)
    # The legend names several tags, and percentiles where there is one.
    alone = lists[0][0] if len(lists) == 1 else ""
    with theme():
        title(drawn.axes[0], name, alone)
        fit_titles(drawn, drawn.axes)
    return drawn


def _nothing_completed(name: str) -> ResultError:
    return ResultError(f"{name}: no flow completed, so there are no slowdowns to draw")


def by_size(
    lists: Sequence[tuple[str, Sequence[Bin]]],
    notes: Sequence[str] = (),
    needed: Mapping[int, int] = NEAREST_RANK,
    look: Look = DEFAULT_LOOK,
) -> Figure:
    """The picture of :func:`fct` from lists of bins with their names, with ``notes`` below.

    The bins of a list have different ``upper_bytes``. Of fewer flows than ``needed`` a percentile
    is the maximum. The name of a single list is not shown.
    """
    counts = [entry.flows for _, bins in lists for entry in bins]
    notes = [*maxima("Bins", counts, needed), *notes]
    if mixes_traffic([bins for _, bins in lists]):
        notes = ["Points of different traffic are not connected.", *notes]
    sizes = {entry.upper_bytes for _, bins in lists for entry in bins}
    if len(sizes) == 1:
        spots = [(name, {0: [one.percentile(p) for p in PERCENTILES]}) for name, (one,) in lists]
        return _at_places([_format.size(sizes.pop())], spots, notes, "Flow size", look=look)
    with theme():
        if len(lists) == 1:
            ((_, bins),) = lists
            drawn, (axes,) = figure(notes=notes, look=look)
            names = [f"p{percent}" for percent in PERCENTILES]
            for index, (percent, name) in enumerate(zip(PERCENTILES, names, strict=True)):
                _line(axes, bins, percent, name, index)
            axes.set_ylabel("FCT slowdown")
            panels = [axes]
        else:
            names = [name for name, _ in lists]
            drawn, panels = figure(rows=len(PERCENTILES), notes=notes, look=look)
            for axes, percent in zip(panels, PERCENTILES, strict=True):
                for index, (name, bins) in enumerate(lists):
                    _line(axes, bins, percent, name, index)
                axes.set_ylabel(f"p{percent} slowdown")
        for axes in panels:
            scale_slowdown(axes, look)
        panels[-1].set_xlabel("Flow size")
        if look.x_scale == "linear":
            linear_sizes(panels[-1])
        else:
            log_sizes(panels[-1])
        legend(drawn, panels, names)
        fit_y_labels(drawn, panels)
    return drawn


def tags(
    results: Results,
    *,
    start: str | None = None,
    end: str | None = None,
    notes: bool | Sequence[str] = True,
    size: tuple[float, float] | None = None,
    y_scale: Scale | None = None,
) -> Figure:
    """FCT slowdown by tag: for each the median (filled), p95 (bar) and p99 (open).

    A tag of which no flow completed is there, too, and says so. Of more tags than have room the
    picture has those with the highest p99. ``start`` and ``end`` are those of :func:`fct`;
    ``notes``, ``size`` and ``y_scale`` those of :func:`series`.
    """
    look, span = Look(notes, size, y_scale=y_scale), Span.of(start, end)
    runs, names = resolve_names(results)
    by_run = [slowdowns_by_tag(run, span) for run in runs]
    if not any(by_run):
        raise span.nothing(_COMPLETED) or _nothing_completed(", ".join(names))
    flows = [_flows_by_tag(run, span) for run in runs]
    every = list(dict.fromkeys(tag for counted in flows for tag in counted))
    found = _slowest(every, by_run, _most_tags(look))
    done = {tag for tagged in by_run for tag in tagged}
    left_out = [tag for tag in every if tag not in found]
    never = sum(tag not in done for tag in left_out)
    by_run = [{tag: tagged[tag] for tag in found if tag in tagged} for tagged in by_run]
    totals = {tag: sum(counted.get(tag, 0) for counted in flows) for tag in found}
    undone = {at: f"0 of {totals[tag]:,}" for at, tag in enumerate(found) if tag not in done}
    counts = [len(values) for tagged in by_run for values in tagged.values()]
    said = [
        *maxima("Tags", counts, NEAREST_RANK),
        *span.flows_note(),
        *unfinished(runs, names),
        *_undone(names, by_run, flows, [tag for at, tag in enumerate(found) if at not in undone]),
        *([f"Not drawn: {never:,} more tags of which no flow is done."] if never else []),
        *disturbances(runs, names),
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
    lists = list(zip(names, spots, strict=True))
    drawn = _at_places(found, lists, said, undone=undone, look=look)
    with theme():
        if never < len(left_out):
            panel_note(drawn.axes[0], f"the {len(found)} slowest of {len(done):,}")
        if len(runs) == 1:
            title(drawn.axes[0], names[0])
        fit_titles(drawn, drawn.axes)
    return drawn


def _most_tags(look: Look) -> int:
    """How many tags have room side by side, with their names upright."""
    width_in = look.size[0] if look.size else WIDTH_IN
    return max(1, int((width_in - _BESIDE_IN) * 72 / _UPRIGHT_PT))


def _slowest(
    tags: Sequence[str], by_run: Sequence[Mapping[str, Sequence[float]]], most: int
) -> list[str]:
    """The ``most`` of ``tags`` with the highest p99, in their order; last those with none."""

    def highest(tag: str) -> float:
        return max((percentile(one[tag], 99) for one in by_run if tag in one), default=0.0)

    chosen = set(sorted(tags, key=highest, reverse=True)[:most])
    return [tag for tag in tags if tag in chosen]


def _at_places(
    words: Sequence[str],
    lists: Sequence[tuple[str, Mapping[int, Sequence[float]]]],
    notes: Sequence[str],
    x_label: str = "",
    undone: Mapping[int, str] | None = None,
    look: Look = DEFAULT_LOOK,
) -> Figure:
    """The percentiles of each of ``lists`` at the places of ``words``, side by side.

    ``undone`` is what stands at places where none of them has any.
    """
    with theme():
        drawn, (axes,) = figure(notes=["Filled p50, bar p95, open p99.", *notes], look=look)
        for index, (name, spots) in enumerate(lists):
            shift = (index - (len(lists) - 1) / 2) * 0.6 / len(lists)
            x = [at + shift for at in spots]
            low, bar, high = zip(*spots.values(), strict=True) if spots else ((), (), ())
            colour, _, marker = line_style(index)
            axes.vlines(x, low, high, color=colour, linewidth=1)
            axes.plot(x, bar, linestyle="", marker="_", markersize=6, color=colour)
            axes.plot(x, high, linestyle="", marker=marker, markerfacecolor="white", color=colour)
            axes.plot(x, low, linestyle="", marker=marker, color=colour, label=name)
        _say_undone(drawn, axes, undone or {}, len(words))
        name_places(drawn, axes, words)
        axes.set_xlim(-0.5, len(words) - 0.5)
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(x_label)
        axes.set_ylabel("FCT slowdown (p50, p95, p99)")
        scale_slowdown(axes, look)
        legend(drawn, [axes], [name for name, _ in lists])
        fit_y_labels(drawn, [axes])
    return drawn


def _say_undone(drawn: Figure, axes: Axes, undone: Mapping[int, str], places: int) -> None:
    """Writes above the places of ``undone`` that nothing is done: upright where room is scarce."""
    room_pt = (width_in(drawn) - _BESIDE_IN) * 72 / places
    shrunk = _UNDONE_PT / FONT_PT
    upright = any(width_pt(text) * shrunk > room_pt for text in undone.values())
    between = " " if upright else "\n"
    for at, text in undone.items():
        axes.text(
            at,
            0.03,
            f"{text}{between}done",
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=_UNDONE_PT,
            rotation="vertical" if upright else "horizontal",
        )


def name_places(drawn: Figure, axes: Axes, words: Sequence[str]) -> None:
    """Writes words below the panel, at 0, 1 and so on: level where they have room, else turned."""
    names = [_short(word) for word in words]
    longest = max(map(len, names))
    axes.set_xticks(range(len(names)), names, parse_math=False)
    if longest * len(names) <= _TAGS_WIDTH * width_in(drawn) / WIDTH_IN:
        return
    # Beside each other, slanted lines need more room than upright ones.
    slant = 30 if len(names) <= _MAX_SLANTED else 90
    axes.tick_params(axis="x", labelrotation=slant)
    for text in axes.get_xticklabels():
        text.set(ha="right", va="top" if slant < 90 else "center", rotation_mode="anchor")
    grow(drawn, 0.07 * longest * math.sin(math.radians(slant)))


def _short(tag: str) -> str:
    """``tag`` in one line without the middle of what is too long; tags differ at their ends."""
    line = printable(" ".join(tag.split()))
    if len(line) <= _MAX_TAG:
        return line
    half = _MAX_TAG // 2
    return f"{line[:half]}…{line[1 - half :]}"


def maxima(groups: str, counts: Sequence[int], needed: Mapping[int, int]) -> list[str]:
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


def _flows_by_tag(run: Result, span: Span) -> dict[str, int]:
    """How many flows of each tag ``run`` has."""
    flows = span.cut(run.flows.to_polars(), "start_ps")
    return dict(flows.group_by("tag", maintain_order=True).len().iter_rows())


def slowdowns_by_tag(run: Result, span: Span | None = None) -> dict[str, list[float]]:
    """The slowdowns of the flows of ``run`` that completed, sorted, for each tag."""
    flows = (span or Span()).cut(run.flows.to_polars(), "start_ps")
    grouped = flows.drop_nulls("slowdown").group_by("tag", maintain_order=True).agg("slowdown")
    return {tag: sorted(values) for tag, values in grouped.iter_rows()}


def _line(axes: Axes, bins: Sequence[Bin], percent: int, label: str, index: int) -> None:
    colour, line, marker = line_style(index)
    parts = connected(bins)
    x: list[float] = []
    y: list[float] = []
    for part in parts:
        # A line ends at a point that is none.
        x += [*(entry.upper_bytes for entry in part), part[-1].upper_bytes]
        y += [*(entry.percentile(percent) for entry in part), math.nan]
    axes.plot(
        x[:-1],
        y[:-1],
        color=colour,
        linestyle=line if len(parts) < len(bins) else "",
        marker=marker,
        label=label,
    )
