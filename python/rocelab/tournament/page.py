"""Tournaments as text, as data and as a page."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import polars as pl

from rocelab import catalogue
from rocelab._text import filled
from rocelab._text_table import fitted, markdown
from rocelab.compare.measure import presets
from rocelab.sweeps.metrics import Metric
from rocelab.tournament.play import NEAR, Tournament, metrics
from rocelab.tournament.traffics import Traffic

_HEADS = {
    "max_queue_bytes": "longest queue",
    "pause_frames": "pauses",
    "jain": "Jain",
    "queue.recovery_ps": "recovery",
}

_NEAR = f"within {100 * NEAR:.0f} % of the best mean"

_INTERVAL = "half the width of the 95 % confidence interval"
_BEST = (
    "best by more than noise: the confidence interval of the difference to each other scheme, "
    "taken seed by seed, is on one side of 0"
)

_QUESTION = (
    "Which scheme is best for which traffic? Papers compare their scheme with a few others; here "
    "schemes meet on the traffic of all papers."
)
_EXPLAINED = (
    "Each scheme has its default preset; network, traffic and PFC are those of the paper's figure "
    f"in its headline reading. Values are means with {_INTERVAL}. Lower is better, except for "
    "Jain's index, where 1 is best; it is over the goodputs of the flows that completed. Bold is "
    f"{_BEST}. The lines below count the traffics on which the mean of a scheme is {_NEAR}. With "
    "few seeds it can be so by chance: the tables have the interval. Small messages have at most "
    "100 KB, large ones at least 1 MB; recovery is the time from the longest queue to a "
    "tenth of it. `rcm` has switches with input queues everywhere: its longest queue is that of an "
    "output, which holds 100 KB."
)


def as_data(played: Tournament) -> list[dict[str, Any]]:
    """A row for each traffic, scheme and metric."""
    return [
        {
            "traffic": traffic.id,
            "scheme": scheme,
            "metric": metric.name,
            "mean": None if mean is None else mean[0],
            "ci95": None if mean is None else mean[1],
            "best": played.best(traffic.id, metric) == scheme,
            "refused": played.entries[traffic.id, scheme].refused,
        }
        for traffic in played.traffics
        for scheme in played.schemes
        for metric in metrics()
        for mean in (played.mean(traffic.id, scheme, metric.name),)
    ]


def to_csv(played: Tournament) -> str:
    """The rows of :func:`as_data`."""
    file = io.StringIO()
    pl.DataFrame(as_data(played), infer_schema_length=None).write_csv(file)
    return file.getvalue()


def table(played: Tournament) -> str:
    """For terminals: a table for each traffic, what it says, and what its marks mean."""
    parts = []
    for traffic in played.traffics:
        parts.append(filled(f"{traffic.id}: {traffic.title}"))
        parts.append(fitted(_rows(played, traffic, "{}*"), left=1))
        told = [f"{scheme}: {why}" for scheme, why in _refused(played, traffic)]
        parts += [
            filled(text, first="  ", others="    ") for text in (*told, *played.doubts[traffic.id])
        ]
        parts.append("")
    parts += [filled(line, others="  ") for line in summary(played)]
    return "\n".join([*parts, "", filled(f"*: {_BEST}. ±: {_INTERVAL}.")])


def page(played: Tournament, command: str) -> str:
    """A Markdown page: what it shows in a few lines, then a table for each traffic."""
    version = "quick version, on smaller networks" if played.quick else "full version"
    parts = [
        "# Tournament: every scheme on every paper's traffic",
        _QUESTION,
        f"Written by `{command}`, {version}; {played.seeds} seeds.",
        _EXPLAINED,
        "## What it shows",
        "\n".join(f"- {line}" for line in summary(played)),
    ]
    for traffic in played.traffics:
        parts += [f"## `{traffic.id}`", f"{traffic.title[:1].upper()}{traffic.title[1:]}."]
        parts.append(markdown(_rows(played, traffic, "**{}**"), left=1))
        refused = [
            f"- `{scheme}` cannot run there: {why}" for scheme, why in _refused(played, traffic)
        ]
        doubts = [f"- {text}" for text in played.doubts[traffic.id]]
        if refused or doubts:
            parts.append("\n".join([*refused, *doubts]))
    if told := caveats(played):
        parts += ["## Caveats", "\n".join(f"- {text}" for text in told)]
    return "\n\n".join(parts) + "\n"


def caveats(played: Tournament) -> list[str]:
    """What to know of the schemes, with their default presets, before their numbers are trusted."""
    return catalogue.caveats_of(presets(played.schemes))


def summary(played: Tournament) -> list[str]:
    """A line for each metric: who is near the best most often, and who is best alone."""
    lines = []
    for metric in metrics():
        judged = [traffic for traffic in played.traffics if _measured(played, traffic, metric)]
        if not judged:
            continue
        near = Counter(name for each in judged for name in played.near_best(each.id, metric))
        best = [name for each in judged if (name := played.best(each.id, metric)) is not None]
        traffics = f"{len(judged)} traffic{'s' if len(judged) > 1 else ''}"
        lines.append(
            f"{metric.title}, {traffics}: {_NEAR}: {_often(near)}"
            + (f"; best by more than noise: {_counted(best)}" if best else "")
        )
    return lines


_NAMED = 5
"""Schemes that a line of the summary names, and those that are near the best as often."""

_TIED = 10
"""Schemes with one count, above which their number stands for their names."""


def _often(near: Counter[str]) -> str:
    counts = near.most_common()
    least = counts[:_NAMED][-1][1]
    named = [(name, count) for name, count in counts if count >= least]
    groups = groupby(named, lambda each: each[1])
    return "; ".join(f"{_names([name for name, _ in of])} on {count}" for count, of in groups)


def _names(tied: Sequence[str]) -> str:
    return ", ".join(tied) if len(tied) <= _TIED else f"{len(tied)} schemes"


def _counted(names: Sequence[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())


def _measured(played: Tournament, traffic: Traffic, metric: Metric) -> bool:
    return any(
        played.mean(traffic.id, scheme, metric.name) is not None for scheme in played.schemes
    )


def _refused(played: Tournament, traffic: Traffic) -> list[tuple[str, str]]:
    found = [(scheme, played.entries[traffic.id, scheme].refused) for scheme in played.schemes]
    return [(scheme, why) for scheme, why in found if why]


def _rows(played: Tournament, traffic: Traffic, marked: str) -> list[Sequence[str]]:
    """A row for each scheme that runs, a column for each metric that any of them has."""
    shown = [metric for metric in metrics() if _measured(played, traffic, metric)]
    best = {metric.name: played.best(traffic.id, metric) for metric in shown}
    rows: list[Sequence[str]] = [("scheme", *(_head(metric) for metric in shown))]
    for scheme in played.schemes:
        if played.entries[traffic.id, scheme].refused:
            continue
        cells = [scheme]
        for metric in shown:
            text = _cell(played.mean(traffic.id, scheme, metric.name), metric)
            cells.append(marked.format(text) if best[metric.name] == scheme else text)
        rows.append(cells)
    return rows


def _head(metric: Metric) -> str:
    if metric.name in _HEADS:
        return _HEADS[metric.name]
    sizes, _, statistic = metric.name.partition("_slowdown_")
    return f"{sizes} {statistic}"


def _cell(mean: tuple[float, float | None] | None, metric: Metric) -> str:
    if mean is None:
        return "none"
    value, half = mean
    scale, unit = {"bytes": (1e3, " KB"), "ps": (1e6, " µs")}.get(metric.unit, (1.0, ""))
    value /= scale
    if metric.whole and not half and value.is_integer():
        return f"{value:,.0f}{unit}"
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    text = f"{value:,.{decimals}f}"
    spread = "" if not half else f" ± {half / scale:,.{decimals}f}"
    return f"{text}{spread}{unit}"
