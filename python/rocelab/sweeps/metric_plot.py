"""A number of many runs against what was varied."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rocelab._coverage import Coverage
from rocelab.catalogue import caveats
from rocelab.errors import ConfigError, ResultError
from rocelab.plot.footnotes import shared_disturbances
from rocelab.plot.growth import columns
from rocelab.plot.labels import plot_number, plot_unit
from rocelab.plot.look import Look
from rocelab.plot.panels import figure, fit_titles, fit_y_labels, legend, title, y_label
from rocelab.plot.scales import AXIS_LETTERS, log_values, with_room
from rocelab.plot.slowdown import name_places
from rocelab.plot.theme import HEADROOM, line_style, theme
from rocelab.sweeps.grid import Axis, Combination, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform

    from rocelab.sweeps import Sweep
    from rocelab.sweeps.metrics import Metric
    from rocelab.sweeps.plan import SweepPlan

_WIDE = 10
"""From this quotient of the largest and the smallest on the x axis is logarithmic."""
_MAX_TICKS = 8
"""Maximum number of values on the x axis that all have ticks."""
_HIGH = 20
"""From this quotient of the largest and the smallest on the y axis is logarithmic."""
_SPREAD = 0.6
"""How much of the way to the next word the points of one take together."""
_ASIDE_PT = 2.5
"""From one line to the next at the same number, if all of them keep within the following."""
_ALL_ASIDE_PT = 14
_MAX_PANELS = 6
_NUMBER_ABOVE_PT = 4
"""How far above the edge a number stands that has no place on the axis."""
_MARGIN = 0.08
"""Room at both ends of the numbers, as a share of the way between."""

Point = tuple[float, float, float]
"""Place on the x axis, mean, and half the width of the mean's interval; 0 where there is none."""


def plot_metric(sweep: Sweep, metric: Metric, look: Look) -> Figure:
    """The picture of :meth:`rocelab.Sweep.plot`."""
    axes = sweep.plan.axes
    if not axes:
        raise ResultError("only the seed was varied, so there is nothing to draw it against")
    rows = sweep.statistics.to_polars()
    means = rows[metric.name].to_list()
    halves = rows[f"{metric.name}_ci95"].to_list()
    known = {
        combination: (mean, half or 0.0)
        for combination, mean, half in zip(sweep.plan.combinations, means, halves, strict=True)
        if mean is not None
    }
    if not known:
        raise ResultError(f"no {metric.name} to draw: each combination has a run without it")
    unit, scale = plot_unit(metric.unit, max(mean for mean, _ in known.values()))
    varied = _across(axes)
    places = varied.numbers
    panels = _panels(sweep.plan, varied, known, scale)
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    points = [point for lines in panels.values() for line in lines.values() for point in line]
    # Lines without bars need not be moved aside.
    step_pt = min(_ASIDE_PT, _ALL_ASIDE_PT / len(names)) if any(half for *_, half in points) else 0
    from matplotlib.transforms import Affine2D, ScaledTranslation

    logarithmic = _is_logarithmic(points, look)
    with theme():
        absent = len(means) - len(known)
        drawn, found = figure(rows=len(panels), notes=_notes(sweep, absent), look=look)
        for panel, lines in zip(found, panels.values(), strict=True):
            for name, line in lines.items():
                index = names.index(name)
                aside = index - (len(names) - 1) / 2
                if places:
                    beside: Transform = ScaledTranslation(
                        aside * step_pt / 72, 0, drawn.dpi_scale_trans
                    )
                    where = panel.transData + beside
                else:
                    beside = Affine2D().translate(aside * _SPREAD / len(names), 0)
                    where = beside + panel.transData
                if logarithmic:
                    _draw_zeros(panel, line, index, where)
                    line = _gaps_for_zeros(line)
                _draw(panel, line, name, index, where, lined=bool(places))
            if not places:
                panel.grid(visible=False, axis="x")
            y_label(panel, f"{metric.title} ({unit})" if unit else metric.title, len(found))
            # All panels share it, so that they can be compared.
            _value_axis(panel, points, logarithmic=logarithmic, whole=metric.whole and not unit)
        if places:
            _number_axis(found[-1], places, look)
        else:
            name_places(drawn, found[-1], list(varied.display_names.values()))
            found[-1].set_xlim(-0.5, len(varied.distinct) - 0.5)
        found[-1].set_xlabel(varied.key, parse_math=False)
        legend(drawn, found, names)
        fit_y_labels(drawn, found)
        fixed = [one for one in axes if len(one.distinct) == 1 and one is not varied]
        common = [sweep.plan.scenario.name, *(_word(one, one.values[0]) for one in fixed)]
        for at, (panel, word) in enumerate(zip(found, panels, strict=True)):
            title(panel, *(common if at == 0 else []), word)
        fit_titles(drawn, found)
    return drawn


def _across(axes: Sequence[Axis]) -> Axis:
    """The axis that is drawn as x: the first of several numbers, else the first of several."""
    several = [axis for axis in axes if len(axis.distinct) > 1] or axes
    return next((axis for axis in several if axis.numbers), several[0])


def _panels(
    plan: SweepPlan,
    varied: Axis,
    known: Mapping[Combination, tuple[float, float]],
    scale: float,
) -> dict[str, dict[str, list[Point]]]:
    """The lines of each panel, by the names of both.

    Of the keys other than that of the x axis the first has lines, the others have panels; or the
    first has panels, where that makes fewer of too many. Still too many share one panel.
    """
    axes = plan.axes
    number = axes.index(varied)
    places = varied.numbers or {value.label: at for at, value in enumerate(varied.distinct)}
    others = plan.others(varied)
    choices: tuple[list[int], ...] = (others[1:], others[:1], [])
    above = next(
        chosen
        for chosen in choices
        if math.prod(len(axes[at].distinct) for at in chosen) <= _MAX_PANELS
    )
    below = [at for at in others if at not in above]
    panels: dict[str, dict[str, list[Point]]] = {}
    for combination, (mean, half) in known.items():
        panel, line = (
            ", ".join(_word(axes[at], combination[at]) for at in chosen)
            for chosen in (above, below)
        )
        point = (places[combination[number].label], mean / scale, half / scale)
        panels.setdefault(panel, {}).setdefault(line, []).append(point)
    return {
        panel: {name: sorted(points) for name, points in lines.items()}
        for panel, lines in panels.items()
    }


def _word(axis: Axis, value: Value) -> str:
    """What to call a value where its key is not named: words by themselves."""
    name = axis.display_names[value.label]
    if name != value.label or (axis.numbers is None and isinstance(value.data, str)):
        return name
    return f"{axis.key.rsplit('.', 1)[-1]} {name}"


def _draw(
    panel: Axes, points: Sequence[Point], name: str, index: int, where: Transform, *, lined: bool
) -> None:
    """Draws the line number ``index``, or its points alone."""
    x, means, halves = zip(*points, strict=True)
    colour, line, marker = line_style(index)
    panel.errorbar(
        x,
        means,
        yerr=halves,
        fmt="none",
        ecolor=colour,
        elinewidth=0.8,
        capsize=2,
        transform=where,
    )
    panel.plot(
        x,
        means,
        color=colour,
        linestyle=line if lined else "",
        marker=marker,
        label=name,
        transform=where,
        # At 0 a marker stands on the axis, whole.
        clip_on=False,
        zorder=3,
    )


def _gaps_for_zeros(points: Sequence[Point]) -> list[Point]:
    """``points`` with a gap for each that has no place on a logarithmic axis."""
    return [(x, mean if mean > 0 else math.nan, half) for x, mean, half in points]


def _draw_zeros(panel: Axes, points: Sequence[Point], index: int, where: Transform) -> None:
    """Puts those that have no place on a logarithmic axis on its lower edge, with their numbers."""
    from matplotlib.transforms import blended_transform_factory

    colour, _, marker = line_style(index)
    edge = blended_transform_factory(where, panel.transAxes)
    for x, mean, _ in points:
        if mean <= 0:
            panel.plot(x, 0, color=colour, marker=marker, transform=edge, clip_on=False, zorder=3)
            panel.annotate(
                plot_number(mean),
                (x, 0),
                (0, _NUMBER_ABOVE_PT),
                xycoords=edge,
                textcoords="offset points",
                ha="center",
                va="bottom",
                color=colour,
            )


def _number_axis(panel: Axes, places: Mapping[str, float], look: Look) -> None:
    """Names the values that were run, as many as have room; of a few, the others have ticks.

    A logarithmic axis needs values above 0.
    """
    from matplotlib.ticker import FixedLocator, NullFormatter

    ordered = sorted(places, key=places.__getitem__)
    low, high = places[ordered[0]], places[ordered[-1]]
    width = columns(panel)
    named = _with_room(ordered, [places[label] for label in ordered], width)
    if look.x_scale == "log" and low <= 0:
        raise ConfigError(f"a logarithmic axis has no place for {ordered[0]}", key="x_scale")
    if low > 0 and look.x_scale != "linear":
        logs = _with_room(ordered, [math.log(places[label]) for label in ordered], width)
        wide = high / low >= _WIDE or len(named) < len(logs) == len(ordered)
        if wide or look.x_scale == "log":
            named = logs
            panel.set_xscale("log")
    if panel.get_xscale() == "log":
        margin = (high / low) ** _MARGIN
        panel.set_xlim(low / margin, high * margin)
    else:
        margin = (high - low or 1) * _MARGIN
        panel.set_xlim(low - margin, high + margin)
    panel.set_xticks([places[label] for label in named], named, parse_math=False)
    others = [places[label] for label in ordered if label not in named]
    panel.xaxis.set_minor_locator(FixedLocator(others if len(ordered) <= _MAX_TICKS else []))
    panel.xaxis.set_minor_formatter(NullFormatter())


def _with_room(labels: Sequence[str], places: Sequence[float], width: float) -> list[str]:
    """Those of ``labels`` that have room at ``places``, in order, on a picture of some columns."""
    letters = AXIS_LETTERS * width / ((places[-1] - places[0] or 1) * (1 + 2 * _MARGIN))
    return [labels[at] for at in with_room(labels, [place * letters for place in places])]


def _is_logarithmic(points: Sequence[Point], look: Look) -> bool:
    """Whether the axis of values is: where means are far apart, or if it is asked for."""
    low, high = min(mean for _, mean, _ in points), max(mean for _, mean, _ in points)
    suits = low > 0 and high / low >= _HIGH and look.y_scale != "linear"
    return suits or (look.y_scale == "log" and high > 0)


def _value_axis(panel: Axes, points: Sequence[Point], *, logarithmic: bool, whole: bool) -> None:
    """From 0 on, or from the least mean above 0; ``whole`` numbers have such ticks."""
    from matplotlib.ticker import MaxNLocator

    top = max(mean + half for _, mean, half in points)
    if logarithmic:
        # Where an interval begins near 0 or below, its bar ends at the edge.
        above = [(mean, half) for _, mean, half in points if mean > 0]
        bottom = min(max(mean - half, mean / 2) for mean, half in above) * 0.8
        panel.set_ylim(bottom, top)
        log_values(panel)
    elif min(mean for _, mean, _ in points) >= 0:
        panel.set_ylim(0, top * HEADROOM or 1)
        # Means below one have no other ticks than parts of it.
        if whole and (top >= 1 or not top):
            panel.yaxis.set_major_locator(MaxNLocator("auto", integer=True))


def _notes(sweep: Sweep, absent: int) -> list[str]:
    seeds = len(sweep.plan.seeds)
    notes = []
    if seeds > 1:
        notes = [f"Means over {seeds} seeds; bars: 95 % confidence intervals."]
    for group in sweep.plan.zipped:
        notes.append(f"Changed together: {', '.join(group)}.")
    if absent:
        notes.append(f"Not drawn: {absent} of the combinations, which have a run without a value.")
    summaries = [one.summary for one in sweep.results]
    cut = sum(not Coverage.of(one).complete for one in summaries)
    if cut:
        notes.append(
            f"In {cut} of {len(summaries)} runs not all flows were done: slowdowns and FCTs cover "
            f"{Coverage.of(*summaries)} flows."
        )
    return [*notes, *shared_disturbances(sweep.results), *caveats(sweep.results)]
