"""The pictures of a sweep as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab.io.names import file_name
from rocelab.plot.look import Look
from rocelab.plot.write import save
from rocelab.sweeps.heat_map import fits_heat_map, plot_heat_map
from rocelab.sweeps.metric_plot import plot_metric

if TYPE_CHECKING:
    from rocelab.sweeps import Sweep
    from rocelab.sweeps.metrics import Metric


_MAP = "-map"
"""After the name of a metric, where a picture is a heat map."""


def save_plots(sweep: Sweep, metrics: Sequence[Metric], directory: Path, look: Look) -> list[Path]:
    """Writes a picture of each of ``metrics`` that has values; returns their paths."""
    pictures: list[Path] = []
    statistics = sweep.statistics.to_polars()
    for metric in metrics:
        if sweep.plan.axes and statistics[metric.name].is_not_null().any():
            stem = directory / file_name(metric.name)
            pictures += save(plot_metric(sweep, metric, look), stem, follow=False)
            if fits_heat_map(sweep.plan):
                stem = directory / file_name(f"{metric.name}{_MAP}")
                pictures += save(plot_heat_map(sweep, metric, look), stem, follow=False)
    return pictures


def stems(metrics: Sequence[Metric]) -> list[str]:
    """What :func:`save_plots` calls the pictures of ``metrics``."""
    return [file_name(f"{metric.name}{end}") for metric in metrics for end in ("", _MAP)]
