"""The tables of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rocelab import _format
from rocelab._ports import port_names_of
from rocelab.plot.labels import plot_duration, plot_unit
from rocelab.report.model import Cell, Grid
from rocelab.sweeps.metrics import Metric, sort_rows

if TYPE_CHECKING:
    from rocelab.result import Result
    from rocelab.sweeps import Sweep

_MAX_ROWS = 10
"""Rows of tables of ports and flows."""


def runs_table(
    names: Sequence[str],
    runs: Sequence[Result],
    metrics: Sequence[Metric],
    *,
    leave_out_zeros: bool,
) -> tuple[Grid, list[str]]:
    """A row for each run, a column for each metric, the best of each marked; and who is best."""
    values = {one: [one.read(run) for run in runs] for one in metrics}
    zero = ""
    if leave_out_zeros:
        metrics, zero = _without_zeros(metrics, values)
    columns = [metric_column(metric, values[metric]) for metric in metrics]
    rows = [[Cell(name), *(cells[at] for _, cells in columns)] for at, name in enumerate(names)]
    found = []
    for metric, (_, cells) in zip(metrics, columns, strict=True):
        best = [name for name, cell in zip(names, cells, strict=True) if cell.best]
        if best and metric.name.endswith("slowdown_p99"):
            value = next(cell.text for cell in cells if cell.best)
            found.append(f"Lowest {metric.title}: {', '.join(best)} ({value}).")
        elif len(runs) == 1 and metric.name.endswith("slowdown_p99") and cells[0].text != "-":
            found.append(f"{metric.title}: {cells[0].text}.")
    found += [f"{name}: no flow completed." for name in _without_flows(names, runs)]
    note = "★ the best of a column, if not all are equal." if len(runs) > 1 else ""
    head = ["run", *(title for title, _ in columns)]
    return Grid("Numbers", head, rows, " ".join(filter(None, [note, zero]))), found


def _without_flows(names: Sequence[str], runs: Sequence[Result]) -> list[str]:
    pairs = zip(names, runs, strict=True)
    return [name for name, run in pairs if not run.summary.flows_done]


def combinations_table(
    sweep: Sweep, metrics: Sequence[Metric], *, leave_out_zeros: bool
) -> tuple[Grid, list[str]]:
    """A row for each combination, best first by the first metric; and which is best."""
    table = sweep.statistics.to_polars()
    first = next((one for one in metrics if table[one.name].is_not_null().any()), metrics[0])
    order = sort_rows(table, first)
    axes = sweep.plan.axes
    zero = ""
    if leave_out_zeros:
        values = {one: table[one.name].to_list() for one in metrics}
        metrics, zero = _without_zeros(metrics, values)
    columns = []
    for metric in metrics:
        means = table[metric.name].to_list()
        halves = table[f"{metric.name}_ci95"].to_list()
        columns.append(
            metric_column(metric, [means[at] for at in order], [halves[at] for at in order])
        )
    rows = []
    for row, at in enumerate(order):
        keys = [Cell(value.label) for value in sweep.plan.combinations[at]]
        rows.append([*keys, *(cells[row] for _, cells in columns)])
    several = len(sweep.plan.seeds) > 1
    marks = "★ the best mean of a column" + (
        "; shaded: those whose 95 % confidence intervals overlap that of the best."
        if several
        else "."
    )
    note = " ".join(filter(None, [f"Sorted by {first.title}, best first.", marks, zero]))
    head = [*(axis.key for axis in axes), *(title for title, _ in columns)]
    found = []
    if first in metrics and axes:
        title, cells = columns[metrics.index(first)]
        # The heads of columns have the unit in brackets.
        unit = title.removeprefix(first.title).strip(" ()")
        value = f"{cells[0].text} {unit}".strip()
        best = ", ".join(
            f"{axis.key} = {cell.text}" for axis, cell in zip(axes, rows[0], strict=False)
        )
        found = [f"{first.title}: best is {value}, with {best}."]
        same, near = sum(cell.best for cell in cells) - 1, sum(cell.near for cell in cells) - 1
        if not any(cell.best for cell in cells) and len(cells) > 1:
            found = [f"{first.title}: {value} in all combinations."]
        elif same > 0 and not several:
            them = "1 other combination has" if same == 1 else f"{same:,} other combinations have"
            found[0] += f" {them} the same number."
        if near > 0 and several:
            them = (
                "interval of 1 other combination overlaps"
                if near == 1
                else f"intervals of {near:,} other combinations overlap"
            )
            found.append(f"The 95 % confidence {them} that of the best.")
    return Grid("Combinations", head, rows, note), found


def _without_zeros(
    metrics: Sequence[Metric], values: Mapping[Metric, Sequence[Any]]
) -> tuple[list[Metric], str]:
    """The metrics that are not 0 everywhere, and a sentence that names the others."""
    zero = [one for one in metrics if all(value == 0 for value in values[one])]
    left = [one for one in metrics if one not in zero]
    return left, f"0 everywhere: {', '.join(one.title for one in zero)}." if zero else ""


def metric_column(
    metric: Metric, values: Sequence[Any], halves: Sequence[float | None] | None = None
) -> tuple[str, list[Cell]]:
    """The title of a metric's column with its unit, and its cells, the best of which are marked."""
    known = [value for value in values if value is not None]
    unit, scale = plot_unit(metric.unit, max(known, default=0))
    spans: list[tuple[float, float | None] | None] = [
        None if value is None else (value / scale, half and half / scale)
        for value, half in zip(values, halves or [None] * len(values), strict=True)
    ]
    best = None
    if len(set(known)) > 1:
        best = max(known) if metric.more_is_better else min(known)
    widest = max(
        (span[1] or 0 for span, value in zip(spans, values, strict=True) if span and value == best),
        default=0,
    )
    texts = _format.with_intervals(spans)
    # Of numbers that read the same none is better than another.
    leading = {text for text, value in zip(texts, values, strict=True) if value == best}
    if best is not None and leading >= {
        text for text, span in zip(texts, spans, strict=True) if span
    }:
        best = None
    cells = []
    for span, text in zip(spans, texts, strict=True):
        is_best = best is not None and text in leading
        near = is_best
        if span and best is not None and not is_best:
            near = abs(span[0] - best / scale) <= (span[1] or 0) + widest
        cells.append(Cell(text, is_best, near, number=True))
    return f"{metric.title} ({unit})" if unit else metric.title, cells


def details(name: str, run: Result) -> Iterator[Grid]:
    """Where packets waited, and which flows paid for it."""
    prefix = f"{name}: " if name else ""
    names = port_names_of(run)

    def grid(title: str, *columns: tuple[str, str, Callable[[int], str]]) -> Grid | None:
        """The ports that have the most of the first of ``columns``: header, name and format."""
        (_, most, _), *_ = columns
        ports = run.ports.to_polars()
        ports = ports.filter(ports[most] > 0).sort(most, descending=True)
        if ports.is_empty():
            return None
        rows = [
            [
                Cell(names[row["node"], row["port"]]),
                *(Cell(show(row[column]), number=True) for _, column, show in columns),
            ]
            for row in ports.head(_MAX_ROWS).to_dicts()
        ]
        note = f"There are {len(ports)} such ports." if len(ports) > _MAX_ROWS else ""
        return Grid(prefix + title, ("port", *(head for head, _, _ in columns)), rows, note)

    grids = [
        grid(
            "Ports that PFC paused longest",
            ("time paused", "paused_ns", lambda ns: plot_duration(ns * 1000)),
            ("pause frames", "pause_frames_received", "{:,}".format),
        ),
        grid(
            "Longest queues",
            ("longest queue", "max_queue_bytes", _format.size),
            ("packets marked", "ecn_marked_packets", "{:,}".format),
        ),
        # They count where they came in, whatever queue had no room.
        grid(
            "Ports through which dropped packets came in",
            ("packets dropped", "dropped_packets", "{:,}".format),
        ),
    ]
    yield from filter(None, grids)
    flows = run.flows.to_polars().drop_nulls("slowdown").sort("slowdown", descending=True)
    rows = [
        [
            Cell(f"{row['flow_id']}", number=True),
            Cell(str(row["tag"])),
            Cell(f"{row['src']} to {row['dst']}"),
            Cell(_format.size(row["size_bytes"]), number=True),
            Cell(plot_duration(row["start_ps"]), number=True),
            Cell(plot_duration(row["fct_ps"]), number=True),
            Cell(f"{row['slowdown']:,.3g}", number=True),
        ]
        for row in flows.head(_MAX_ROWS).to_dicts()
    ]
    flow_head = ("flow", "tag", "ends", "size", "start", "FCT", "slowdown")
    left = len(run.flows) - len(flows)
    note = f"Without {_format.pluralise(left, 'unfinished flow', 'unfinished flows')}."
    if rows:
        yield Grid(f"{prefix}Slowest flows", flow_head, rows, note=note if left else "")
