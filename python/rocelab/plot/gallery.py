"""Every picture that fits a set of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from rocelab.catalogue import probe_kinds
from rocelab.io.names import file_name
from rocelab.plot.footnotes import cut_off
from rocelab.plot.labels import resolve_names
from rocelab.plot.look import DEFAULT_LOOK, Look, Scale
from rocelab.plot.slowdown import fct, fct_by_tag, tags
from rocelab.plot.span import NothingWithinError
from rocelab.plot.timeline import pauses, series
from rocelab.plot.uplinks import balance, imbalances
from rocelab.plot.write import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocelab.result import Result

_MAX_LINES = 8
"""Tags that share a picture."""


class _Sized(TypedDict):
    """Options of every picture."""

    notes: bool | Sequence[str]
    size: tuple[float, float] | None


class _Scaled(_Sized):
    """Options of pictures whose y axis has values."""

    y_scale: Scale | None


def plot_all(
    results: Sequence[Result] | Mapping[str, Result],
    directory: Path,
    *,
    start: str | None = None,
    end: str | None = None,
    look: Look = DEFAULT_LOOK,
) -> tuple[list[Path], list[str]]:
    """Draws slowdown by size and by tag, each kind of series that all ``results`` have, and pauses.

    Pauses are drawn where all have traced PFC frames. Returns the paths of what was written, and a
    line for each picture that is left out or is drawn without some of the results: why. A result of
    which not all was recorded has a line, too. Links in ``directory`` are not followed.

    ``start`` and ``end`` are for pictures over time, as those of :func:`series`; slowdowns are
    those of all flows. Raises :class:`ResultError` where no picture over time has anything from
    ``start`` to ``end``.
    """
    sized: _Sized = {"notes": look.notes, "size": look.size}
    scaled: _Scaled = {**sized, "y_scale": look.y_scale}
    runs, names = resolve_names(results)
    paths: list[Path] = []
    left_out: list[str] = []
    drawn: list[tuple[str, Figure]] = []
    over_time: list[tuple[str, Figure]] = []
    nothing: list[NothingWithinError] = []

    def lack(what: str, lacking: Sequence[bool], so: str) -> None:
        """Says which results are ``lacking``, if any, and what comes of it."""
        which = ", ".join(name for name, one in zip(names, lacking, strict=True) if one)
        if which:
            left_out.append(f"{which}: no {what}, so {so}")

    def fits(picture: str, empty: Sequence[bool], what: str) -> bool:
        """Whether not all results are ``empty``."""
        lack(what, empty, f"{picture} is not drawn" if all(empty) else f"not in {picture}")
        return not all(empty)

    def draw_over_time(picture: str, draw: Callable[[], Figure]) -> None:
        """Draws what the chosen part of the run has samples for, or says that it has none."""
        try:
            over_time.append((picture, draw()))
        except NothingWithinError as error:
            nothing.append(error)
            left_out.append(f"{error}, so {picture} is not drawn")

    undone = [not run.summary.flows_done for run in runs]
    lack("flow completed", undone, "fct and tags are not drawn")
    if not any(undone):
        drawn.append(("fct", fct(results, **scaled)))
        if any(run.flows.to_polars()["tag"].n_unique() > 1 for run in runs):
            drawn.append(("tags", tags(results, **scaled)))
            if len(runs) == 1 and _has_sizes_by_tag(runs[0]):
                drawn.append(("fct-by-tag", fct_by_tag(runs[0], **scaled)))
    for kind in sorted({one.kind for run in runs for one in run.series.values()}):
        probed = [[len(one) for one in run.series.values() if one.kind == kind] for run in runs]
        lack(f"probe of kind {kind}", [not one for one in probed], f"{kind} is not drawn")
        if all(probed) and fits(kind, [not any(one) for one in probed], f"sample of {kind}"):
            draw = partial(series, results, kind, start=start, end=end, **scaled)
            draw_over_time(file_name(kind), draw)
    if all(imbalances(run) for run in runs):
        drawn.append(("balance", balance(results, **sized)))
    traced = [run.traces.get("pfc") for run in runs]
    if any(trace is not None for trace in traced):
        lack("trace of PFC frames", [trace is None for trace in traced], "pfc is not drawn")
        frames = [len(trace) for trace in traced if trace is not None]
        if len(frames) == len(runs) and fits("pfc", [not one for one in frames], "pause"):
            draw_over_time("pfc", partial(pauses, results, start=start, end=end, **sized))
    if over_time:
        left_out += cut_off(runs, names)
    if nothing and not over_time:
        raise nothing[0]
    # All of them are there before the first is written.
    for picture, figure in (*drawn, *over_time):
        paths += save(figure, directory / picture, follow=False)
    return paths, left_out


def _has_sizes_by_tag(run: Result) -> bool:
    """Whether flows of a tag have several sizes, so that slowdown by size and tag shows more."""
    tags = run.summary.by_tag.values()
    return len(tags) <= _MAX_LINES and any(len(one.slowdown.bins) > 1 for one in tags)


def stems() -> list[str]:
    """What :func:`plot_all` calls pictures."""
    return ["fct", "tags", "fct-by-tag", "balance", *probe_kinds(), "pfc"]


def stale_pictures(directory: Path, paths: Sequence[Path], called: Sequence[str]) -> list[str]:
    """A line that names pictures in ``directory``, of those so ``called``, other than ``paths``."""
    known = {path.name for path in paths}
    names = [f"{stem}.{kind}" for stem in called for kind in ("png", "svg")]
    left = [name for name in names if name not in known and (directory / name).exists()]
    return [f"{directory}: there from an earlier time: {', '.join(left)}"] if left else []
