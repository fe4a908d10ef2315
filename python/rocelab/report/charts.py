"""Interactive figures of a report, as plain data for plotly."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rocelab import _format
from rocelab.catalogue import probe_kinds
from rocelab.plot.footnotes import cut_off, disturbances
from rocelab.plot.labels import plot_number, plot_unit
from rocelab.plot.size_bins import Bin, connected, mixes_traffic, of_summary, size_bins
from rocelab.plot.slowdown import NEAREST_RANK, maxima
from rocelab.plot.span import Span
from rocelab.plot.theme import SCREEN_COLOURS
from rocelab.plot.timeline.ranking import ranking_of
from rocelab.plot.timeline.select import Line, flow_names_of, place_names, split_into_lines
from rocelab.sweeps.heat_map import cell_texts, fits_heat_map

if TYPE_CHECKING:
    import polars as pl

    from rocelab.report.reproduced import Reproduced
    from rocelab.result import Result
    from rocelab.sweeps import Sweep
    from rocelab.sweeps.metrics import Metric

_MAX_POINTS = 1000
"""Points of a line. Of more samples, each point stands for several in a row."""
_LARGEST = ("bytes", "s")
"""Units of samples of which the largest are drawn, as of queues: they decide. Of others means."""
_MAX_LINES = 16
"""Lines of a figure."""
_MANY_US = 2000
"""From this time on the axis is in milliseconds."""
_DASHES = ("solid", "dash", "dot", "dashdot")
_PATTERNS = ("", "/", ".", "x")

_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "x", "star", "triangle-down")
"""Marks that also those tell apart who see no colours."""
_MAX_PICTURE_BYTES = 2_000_000


@dataclass(frozen=True)
class Chart:
    """A figure: of plotly, or a picture."""

    title: str
    text: str
    """What it shows, in words."""
    data: Sequence[Mapping[str, Any]] = ()
    layout: Mapping[str, Any] | None = None
    picture: str = ""
    """A picture as a data URL, instead."""


def of_results(runs: Sequence[tuple[str, Result]]) -> list[Chart]:
    """Slowdown by size and by tag, and all series, of results with their names."""
    bins = [(name, size_bins(run, Span())) for name, run in runs]
    found = [_slowdown_by_size("Slowdown by flow size", "each run", bins)]
    if any(len(run.summary.by_tag) > 1 for _, run in runs):
        found.append(_slowdown_by_tag(runs))
        if len(runs) == 1:
            tags = runs[0][1].summary.by_tag.items()
            lists = [(tag, of_summary(one.slowdown.bins)) for tag, one in tags]
            found.append(_slowdown_by_size("Slowdown by flow size and tag", "each tag", lists))
    kinds = dict.fromkeys(one.kind for _, run in runs for one in run.series.values())
    found += [_series(runs, kind) for kind in kinds]
    return [chart for chart in found if chart.data]


def of_sweep(sweep: Sweep, metrics: Sequence[Metric]) -> list[Chart]:
    """Each metric over the first key, or over two keys as a heat map."""
    rows = sweep.statistics.to_polars()
    charts = []
    for metric in metrics:
        known = rows[metric.name].drop_nulls()
        if not len(known) or not sweep.plan.axes or not any(known != known[0]):
            continue
        charts.append(_over_keys(sweep, metric, rows))
        if fits_heat_map(sweep.plan):
            charts.append(_heat_map(sweep, metric, rows))
    return charts


def of_figure(figure: Reproduced) -> list[Chart]:
    """The panels of a reproduced figure, or its pictures (PNG) where their data are not there."""
    frame = figure.data()
    if frame is not None:
        return _panels(figure, frame)
    charts = []
    for path in sorted(figure.directory.glob("*.png")):
        if path.stat().st_size > _MAX_PICTURE_BYTES:
            continue
        data = base64.b64encode(path.read_bytes()).decode("ascii")
        text = figure.shows or f"Figure {figure.name}"
        charts.append(Chart(figure.name, text, picture=f"data:image/png;base64,{data}"))
    return charts


def _panels(figure: Reproduced, frame: pl.DataFrame) -> list[Chart]:
    names = list(dict.fromkeys(frame["line"].to_list()))
    charts = []
    for title, part in frame.group_by("panel", maintain_order=True):
        seen: set[str] = set()
        data = []
        for _, points in part.group_by("index", maintain_order=True):
            line = str(points["line"][0])
            data.append(_panel_line(names.index(line), line, points, again=line in seen))
            seen.add(line)
        first = part.row(0, named=True)
        look = figure.panels.get(str(title[0]), {})
        layout = {
            "xaxis": _axis(str(first["x_label"]), **_view(look, "x", part)),
            "yaxis": _axis(str(first["y_label"]), **_view(look, "y", part)),
        }
        name = f"{figure.name} {title[0]}"
        text = f"{first['y_label']} over {first['x_label']}" if first["x_label"] else str(name)
        numbers = part.filter(part["word"].is_null()).group_by("index").len()["len"].to_list()
        more = [_thinning(max(numbers, default=0))]
        if (part["spread"] > 0).any():
            more.append(" Error bars: standard deviation over the seeds.")
        more.append(_without_bars(part, logarithmic=bool(look.get("log_y"))))
        if any(more):
            text += f".{''.join(more)}"
        charts.append(Chart(name, text, data, layout))
    return charts


def _without_bars(part: pl.DataFrame, *, logarithmic: bool) -> str:
    """Says what has no bar: what is no number, and on a logarithmic axis what is 0."""
    said = []
    rows = part.drop_nulls("word").select("line", "word", "y")
    for line, word, value in rows.iter_rows():
        if value is None or math.isnan(value):
            what = "not measured"
        elif math.isinf(value):
            what = "never"
        elif logarithmic and value <= 0:
            what = plot_number(value)
        else:
            continue
        said.append(f"{line}, {' '.join(word.split())}: {what}")
    return f" Without a bar: {'; '.join(said)}." if said else ""


def _panel_line(index: int, name: str, points: pl.DataFrame, *, again: bool) -> dict[str, Any]:
    """A line, or bars where x is words. A second line of a name, ``again``, is dotted."""
    if points["word"].null_count() == len(points):
        # What is no number counts only where nothing is.
        known = [-math.inf if one is None else one for one in _numbers(points["y"])]
        x, y = _thinned(points["x"].to_list(), known)
        line = _line(
            index, name, x=x, y=_numbers(y), mode="lines", legendgroup=name, showlegend=not again
        )
        return line | {"line": line["line"] | {"dash": "dot", "width": 1}} if again else line
    bars = _numbers(points["spread"])
    more: dict[str, Any] = {"error_y": {"type": "data", "array": bars}} if any(bars) else {}
    words = [str(one).replace("\n", " ") for one in points["word"]]
    y = _numbers(points["y"])
    return {"type": "bar", "name": name, "x": words, "y": y, "marker": _bar(index), **more}


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    """``values``, with a gap for each that is no number: not measured, or never."""
    return [one if one is not None and math.isfinite(one) else None for one in values]


def _view(look: Mapping[str, Any], axis: str, points: pl.DataFrame) -> dict[str, Any]:
    """Range and scale of an axis for ``points``."""
    span = look.get(f"{axis}_range")
    if look.get(f"log_{axis}"):
        return _logarithmic(points[axis], "~g")
    return {"range": [float(one) for one in span]} if span else {}


def _line(index: int, name: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    turn, colour = divmod(index, len(SCREEN_COLOURS))
    return {
        "type": "scatter",
        "name": name,
        "line": {"color": SCREEN_COLOURS[colour], "dash": _DASHES[turn % len(_DASHES)], "width": 2},
        **more,
    }


def _bar(index: int) -> dict[str, Any]:
    """The colour of bars, and a pattern where colours begin again."""
    turn, colour = divmod(index, len(SCREEN_COLOURS))
    pattern = {"shape": _PATTERNS[turn % len(_PATTERNS)]}
    return {"color": SCREEN_COLOURS[colour], **({"pattern": pattern} if turn else {})}


def _axis(title: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"title": {"text": title}, **more}


def _logarithmic(values: Iterable[float | None], tick_format: str) -> dict[str, Any]:
    """A logarithmic axis for ``values``, also where no power of ten is among them.

    Plotly puts ticks at 1, 2, 5, 10 and so on, and between them where few of these are in view.
    """
    logarithms = [math.log10(one) for one in values if one and 0 < one < math.inf]
    decades = max(logarithms) - min(logarithms) if logarithms else 0
    return {"type": "log", "nticks": max(3, math.ceil(2 * decades)), "tickformat": tick_format}


def _slowdown_by_size(title: str, of: str, lists: Sequence[tuple[str, Sequence[Bin]]]) -> Chart:
    lines = []
    for index, (name, bins) in enumerate(lists[:_MAX_LINES]):
        parts = connected(bins)
        x = _broken(parts, lambda one: one.upper_bytes)
        hover = [f"{_plain(name)}<br>up to {_format.size(size or 0)}" for size in x]
        for percent, shown in ((50, "legendonly"), (99, True)):
            lines.append(
                _line(
                    index,
                    f"{name} p{percent}",
                    x=x,
                    y=_broken(parts, partial(Bin.percentile, percent=percent)),
                    mode="lines+markers" if len(parts) < len(bins) else "markers",
                    visible=shown,
                    text=hover,
                    hovertemplate="%{text}<br>slowdown %{y:.3~r}<extra></extra>",
                )
            )
    sizes, slowdowns = ([one for line in lines for one in line[axis]] for axis in "xy")
    layout = {
        "xaxis": _axis("Flow size (bytes)", **_logarithmic(sizes, "~s")),
        "yaxis": _axis("FCT slowdown", **_logarithmic(slowdowns, "~g")),
    }
    text = f"FCT slowdown of {of} by flow size: p99, and p50 if it is switched on."
    if mixes_traffic([bins for _, bins in lists]):
        text += " Points of different traffic are not connected."
    text += _few("Bins", [one.flows for _, bins in lists for one in bins])
    return Chart(title, text, [one for one in lines if one["x"]], layout)


def _few(groups: str, counts: Sequence[int]) -> str:
    """Says of which ``groups`` the p99 is the maximum, as they have few flows."""
    return "".join(f" {said}" for said in maxima(groups, counts, {99: NEAREST_RANK[99]}))


def _broken(parts: Sequence[Sequence[Bin]], value: Callable[[Bin], float]) -> list[float | None]:
    """A value of all bins. Between parts is a gap, at which plotly ends a line."""
    values: list[float | None] = []
    for part in parts:
        values += [*([None] if values else []), *map(value, part)]
    return values


def _slowdown_by_tag(runs: Sequence[tuple[str, Result]]) -> Chart:
    bars = []
    for index, (name, run) in enumerate(runs[:_MAX_LINES]):
        tags = {
            tag: one.slowdown
            for tag, one in run.summary.by_tag.items()
            if one.slowdown.p99 is not None
        }
        bars.append(
            {
                "type": "bar",
                "name": name,
                "x": list(tags),
                "y": [one["p99"] for one in tags.values()],
                "marker": _bar(index),
                "hovertemplate": f"{_plain(name)}<br>%{{x}}: p99 %{{y:.3~r}}<extra></extra>",
            }
        )
    layout = {"xaxis": _axis("", type="category"), "yaxis": _axis("p99 FCT slowdown")}
    counts = [one.flows_done for _, run in runs for one in run.summary.by_tag.values()]
    few = _few("Tags", [count for count in counts if count])
    text = f"p99 FCT slowdown of the flows of each tag.{few}"
    return Chart("Slowdown by tag", text, bars, layout)


def _series(runs: Sequence[tuple[str, Result]], kind: str) -> Chart:
    unit, column = "", ""
    recorded = [
        (name, run) for name, run in runs if any(one.kind == kind for one in run.series.values())
    ]
    parts: list[Line] = []
    for number, (_, run) in enumerate(recorded):
        for series in run.series.values():
            if series.kind != kind:
                continue
            unit, column = series.unit, series.column
            frame = series.to_polars().drop_nulls(column)
            parts += split_into_lines(number, frame, column, place_names(run, series.name))
    ranking = ranking_of(kind)
    heights = [ranking.height(part.time_ps, part.values) for part in parts]
    highest = sorted(range(len(parts)), key=lambda at: heights[at], reverse=True)[:_MAX_LINES]
    drawn = [parts[at] for at in sorted(highest)]
    means = unit not in _LARGEST
    most = max((len(part.values) for part in drawn), default=0)
    called = [
        flow_names_of(
            [run], {one.flow for one in drawn if one.run == number and one.flow is not None}
        )
        for number, (_, run) in enumerate(recorded)
    ]
    lines: list[dict[str, Any]] = []
    for part in drawn:
        target = called[part.run].get(part.where, part.where)
        label = f"{recorded[part.run][0]} {target}" if len(runs) > 1 else target
        x, y = _thinned(part.time_ps.to_list(), part.values.to_list(), means=means)
        # A point alone makes no line.
        mode = "lines" if len(x) > 1 else "markers"
        lines.append(_line(len(lines), label, x=x, y=y, mode=mode))
    largest = max((max(line["y"], default=0) for line in lines), default=0)
    shown, scale = plot_unit(unit, largest)
    end = max((line["x"][-1] for line in lines if line["x"]), default=0)
    clock, per_clock = ("ms", 1e9) if end >= _MANY_US * 1e6 else ("µs", 1e6)
    for line in lines:
        line["x"] = [time / per_clock for time in line["x"]]
        line["y"] = [value / scale for value in line["y"]]
        line["hovertemplate"] = f"%{{x:.4~r}} {clock}: %{{y:,.4~r}} {shown}"
    title = probe_kinds()[kind].title
    layout: dict[str, Any] = {
        "xaxis": _axis(f"Time ({clock})"),
        "yaxis": _axis(f"{title} ({shown})" if shown else title, rangemode="tozero"),
    }
    cut = (
        f" Only the {len(lines)} {ranking.words} of {len(parts):,} are drawn."
        if len(lines) < len(parts)
        else ""
    )
    text = f"{title} over time, a line for each port or flow.{_thinning(most, means=means)}{cut}"
    names, results = [name for name, _ in recorded], [run for _, run in recorded]
    text = " ".join([text, *cut_off(results, names), *disturbances(results, names)])
    locked = results[0].summary.deadlock if len(runs) == 1 else None
    if locked:
        begin = locked["since_ns"] * 1000 / per_clock
        layout["shapes"] = [_across_all(begin)]
        text += f" Dotted: from here on {' > '.join(locked['nodes'])} are deadlocked."
    return Chart(title, text, lines, layout)


def _across_all(x: float) -> dict[str, Any]:
    """A dotted line from the bottom of a figure to its top."""
    line = {"dash": "dot", "width": 2, "color": "#D55E00"}
    return {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def _thinned(x: list[Any], y: list[Any], *, means: bool = False) -> tuple[list[Any], list[Any]]:
    """At most ``_MAX_POINTS`` points: the largest of several in a row, or with ``means`` those."""
    step = _step(len(x))
    if step == 1:
        return x, y
    parts = [range(at, min(at + step, len(x))) for at in range(0, len(x), step)]
    if means:
        mean_x, mean_y = (
            [math.fsum(axis[at] for at in part) / len(part) for part in parts] for axis in (x, y)
        )
        return mean_x, mean_y
    spots = [max(part, key=y.__getitem__) for part in parts]
    return [x[at] for at in spots], [y[at] for at in spots]


def _step(count: int) -> int:
    """For how many of ``count`` samples a point stands."""
    return -(-count // _MAX_POINTS) or 1


def _thinning(most: int, *, means: bool = False) -> str:
    """Says what points stand for where a line has up to ``most`` samples; nothing where for one."""
    if (step := _step(most)) == 1:
        return ""
    return f" Each point is the {'mean' if means else 'largest'} of up to {step} samples in a row."


def _over_keys(sweep: Sweep, metric: Metric, rows: pl.DataFrame) -> Chart:
    """A metric over the first key of numbers, a line for each combination of the others."""
    axes = sweep.plan.axes
    several = [axis for axis in axes if len(axis.distinct) > 1] or list(axes)
    across = next((axis for axis in several if axis.numbers), several[0])
    place = axes.index(across)
    means, halves = rows[metric.name].to_list(), rows[f"{metric.name}_ci95"].to_list()
    unit, scale = plot_unit(metric.unit, max(one for one in means if one is not None))
    lines: dict[str, list[tuple[str, float, float]]] = {}
    for combination, mean, half in zip(sweep.plan.combinations, means, halves, strict=True):
        if mean is None:
            continue
        others = [
            f"{axes[at].key}={axes[at].display_names[combination[at].label]}"
            for at in sweep.plan.others(across)
        ]
        shown = across.display_names[combination[place].label]
        point = (shown, mean / scale, (half or 0) / scale)
        lines.setdefault(", ".join(others), []).append(point)
    numbers = across.numbers
    data = []
    for index, (name, points) in enumerate(lines.items()):
        if index == _MAX_LINES:
            break
        if numbers:
            points.sort(key=lambda point: numbers[point[0]])
        labels, y, bars = ([point[at] for point in points] for at in range(3))
        more: dict[str, Any] = {"error_y": {"type": "data", "array": bars}} if any(bars) else {}
        mode = "lines+markers" if numbers else "markers"
        more |= {"marker": {"symbol": _SYMBOLS[index % len(_SYMBOLS)], "size": 8}}
        # plotly sets groups of offset beside each other: bars and points of equal values, too.
        more |= {"offsetgroup": str(index)}
        data.append(_line(index, name or metric.name, x=labels, y=y, mode=mode, **more))
    ordered = sorted(numbers, key=numbers.__getitem__) if numbers else None
    x_axis = _axis(across.key, type="category")
    if ordered:
        x_axis |= {"categoryorder": "array", "categoryarray": ordered}
    title = f"{metric.title} ({unit})" if unit else metric.title
    # No metric is below 0, though an interval may reach there.
    y_axis = _axis(title, rangemode="nonnegative")
    layout = {"xaxis": x_axis, "yaxis": y_axis, "scattermode": "group", "scattergap": 0.7}
    cut = (
        f" Only the first {_MAX_LINES} of {len(lines):,} lines are drawn."
        if len(data) < len(lines)
        else ""
    )
    together = [f" Changed together: {', '.join(group)}." for group in sweep.plan.zipped]
    text = f"{metric.title} over {across.key}.{''.join(together)}{cut}{_intervals(sweep)}"
    return Chart(metric.title, text, data, layout)


def _heat_map(sweep: Sweep, metric: Metric, rows: pl.DataFrame) -> Chart:
    across, up = (axis for axis in sweep.plan.axes if len(axis.values) > 1)
    places = [sweep.plan.axes.index(axis) for axis in (across, up)]
    means = rows[metric.name].to_list()
    unit, scale = plot_unit(metric.unit, max(one for one in means if one is not None))
    columns, lines = (
        sorted(axis.numbers or {}, key=(axis.numbers or {}).__getitem__) for axis in (across, up)
    )
    grid: list[list[float | None]] = [[None] * len(columns) for _ in lines]
    for combination, mean in zip(sweep.plan.combinations, means, strict=True):
        column, line = (combination[at].label for at in places)
        grid[lines.index(line)][columns.index(column)] = None if mean is None else mean / scale
    title = f"{metric.title} ({unit})" if unit else metric.title
    known = [[math.nan if value is None else value for value in line] for line in grid]
    texts = cell_texts(known)
    data = [
        {
            "type": "heatmap",
            "x": columns,
            "y": lines,
            "z": grid,
            "colorscale": "Viridis",
            "text": [
                [texts.get((y, x), "") for x in range(len(columns))] for y in range(len(grid))
            ],
            "texttemplate": "%{text}",
            "hovertemplate": f"{across.key} = %{{x}}<br>{up.key} = %{{y}}<br>%{{z:,.4~r}} {unit}"
            "<extra></extra>",
            "colorbar": {"title": {"text": title, "side": "right"}},
        }
    ]
    layout = {
        "xaxis": _axis(across.key, type="category"),
        "yaxis": _axis(up.key, type="category"),
    }
    means_of = f" Means over {len(sweep.plan.seeds)} seeds." if len(sweep.plan.seeds) > 1 else ""
    text = f"{metric.title} over {across.key} and {up.key}.{means_of}"
    return Chart(f"{metric.title}, map", text, data, layout)


def _intervals(sweep: Sweep) -> str:
    """What points and bars of several seeds stand for."""
    seeds = len(sweep.plan.seeds)
    return f" Means over {seeds} seeds; bars: 95 % confidence intervals." if seeds > 1 else ""


def _plain(name: str) -> str:
    """``name`` without what plotly would read as a mark or a variable."""
    return name.replace("<", "&lt;").replace("%{", "%&#123;")
