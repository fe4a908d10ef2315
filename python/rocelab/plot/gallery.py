"""Every picture that fits a set of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab.plot.slowdown import fct, tags
from rocelab.plot.style import named, save
from rocelab.plot.timeline import pauses, series

if TYPE_CHECKING:
    from rocelab.result import Result


def draw_all(results: Sequence[Result] | Mapping[str, Result], directory: Path) -> list[Path]:
    """Draws slowdown by size and by tag, each kind of series that all ``results`` have, and pauses.

    A kind of which no result has samples is left out, and pauses where not all have traced PFC
    frames. Returns the paths of what was written.
    """
    runs, _ = named(results)
    paths: list[Path] = []
    if all(result.summary["flows_done"] for result in runs):
        paths += save(fct(results), directory / "fct")
        if any(result.flows.to_polars()["tag"].n_unique() > 1 for result in runs):
            paths += save(tags(results), directory / "tags")
    probed = [{one.kind for one in result.series.values()} for result in runs]
    sampled = {one.kind for result in runs for one in result.series.values() if len(one)}
    for kind in sorted(sampled.intersection(*probed)):
        paths += save(series(results, kind), directory / kind)
    traced = [result.traces.get("pfc") for result in runs]
    if None not in traced and any(traced):
        paths += save(pauses(results), directory / "pfc")
    return paths
