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
from rocelab.plot.uplinks import balance, shows_balance
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
    gallery = _Gallery(*resolve_names(results))
    runs = gallery.runs
    gallery.add_slowdowns(results, scaled)
    for kind in sorted({one.kind for run in runs for one in run.series.values()}):
        draw = partial(series, results, kind, start=start, end=end, **scaled)
        gallery.add_series(kind, draw)
    if all(map(shows_balance, runs)):
        gallery.drawn.append(("balance", balance(results, **sized)))
    gallery.add_pauses(partial(pauses, results, start=start, end=end, **sized))
    return gallery.write(directory)


class _Gallery:
    """Pictures that were drawn, and what is left out."""

    def __init__(self, runs: Sequence[Result], names: Sequence[str]) -> None:
        self.runs, self.names = runs, names
        self.drawn: list[tuple[str, Figure]] = []
        self.over_time: list[tuple[str, Figure]] = []
        self.left_out: list[str] = []
        self.nothing: list[NothingWithinError] = []

    def lack(self, what: str, lacking: Sequence[bool], so: str) -> None:
        """Says which results are ``lacking``, if any, and what comes of it."""
        which = ", ".join(name for name, one in zip(self.names, lacking, strict=True) if one)
        if which:
            self.left_out.append(f"{which}: no {what}, so {so}")

    def fits(self, picture: str, empty: Sequence[bool], what: str) -> bool:
        """Whether not all results are ``empty``."""
        so = f"{picture} is not drawn" if all(empty) else f"not in {picture}"
        self.lack(what, empty, so)
        return not all(empty)

    def draw_over_time(self, picture: str, draw: Callable[[], Figure]) -> None:
        """Draws what the chosen part of the run has samples for, or says that it has none."""
        try:
            self.over_time.append((picture, draw()))
        except NothingWithinError as error:
            self.nothing.append(error)
            self.left_out.append(f"{error}, so {picture} is not drawn")

    def add_slowdowns(
        self, results: Sequence[Result] | Mapping[str, Result], scaled: _Scaled
    ) -> None:
        """Adds slowdowns by size, by tag and by both."""
        runs = self.runs
        undone = [not run.summary.flows_done for run in runs]
        self.lack("flow completed", undone, "fct and tags are not drawn")
        if any(undone):
            return
        self.drawn.append(("fct", fct(results, **scaled)))
        if any(run.flows.to_polars()["tag"].n_unique() > 1 for run in runs):
            self.drawn.append(("tags", tags(results, **scaled)))
            if len(runs) == 1 and _has_sizes_by_tag(runs[0]):
                self.drawn.append(("fct-by-tag", fct_by_tag(runs[0], **scaled)))

    def add_series(self, kind: str, draw: Callable[[], Figure]) -> None:
        """Adds the series of a kind, if all results have some."""
        probed = [
            [len(one) for one in run.series.values() if one.kind == kind] for run in self.runs
        ]
        self.lack(f"probe of kind {kind}", [not one for one in probed], f"{kind} is not drawn")
        empty = [not any(one) for one in probed]
        if all(probed) and self.fits(kind, empty, f"sample of {kind}"):
            self.draw_over_time(file_name(kind), draw)

    def add_pauses(self, draw: Callable[[], Figure]) -> None:
        """Adds pauses, if all results have traced PFC frames."""
        traced = [run.traces.get("pfc") for run in self.runs]
        if all(trace is None for trace in traced):
            return
        self.lack("trace of PFC frames", [trace is None for trace in traced], "pfc is not drawn")
        frames = [len(trace) for trace in traced if trace is not None]
        if len(frames) == len(traced) and self.fits(
            "pfc", [not one for one in frames], "traced pause"
        ):
            self.draw_over_time("pfc", draw)

    def write(self, directory: Path) -> tuple[list[Path], list[str]]:
        """Writes all pictures: their paths, and what is left out."""
        if self.over_time:
            self.left_out += cut_off(self.runs, self.names)
        if self.nothing and not self.over_time:
            raise self.nothing[0]
        # All of them are there before the first is written.
        paths: list[Path] = []
        for picture, figure in (*self.drawn, *self.over_time):
            paths += save(figure, directory / picture, follow=False)
        return paths, self.left_out


def _has_sizes_by_tag(run: Result) -> bool:
    """Whether slowdown by size and tag shows more: of several tags, of one in several sizes."""
    counts = [len(one.slowdown.bins) for one in run.summary.by_tag.values()]
    return sum(count > 0 for count in counts) > 1 and len(counts) <= _MAX_LINES and max(counts) > 1


def stems() -> list[str]:
    """What :func:`plot_all` calls pictures."""
    return ["fct", "tags", "fct-by-tag", "balance", *probe_kinds(), "pfc"]


def stale_pictures(directory: Path, paths: Sequence[Path], called: Sequence[str]) -> list[str]:
    """A line that names pictures in ``directory``, of those so ``called``, other than ``paths``."""
    known = {path.name for path in paths}
    names = [f"{stem}.{kind}" for stem in called for kind in ("png", "svg")]
    left = [name for name in names if name not in known and (directory / name).exists()]
    return [f"{directory}: there from an earlier time: {', '.join(left)}"] if left else []
