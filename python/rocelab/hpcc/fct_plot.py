"""Pictures of completion times, from result directories and the HPCC simulator's ``fct.txt``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab.catalogue import caveats
from rocelab.hpcc.fct_groups import Group, by_size, split_by_tag
from rocelab.plot import slowdown
from rocelab.plot.footnotes import unfinished
from rocelab.plot.labels import label_text
from rocelab.plot.size_bins import Bin
from rocelab.plot.write import save

if TYPE_CHECKING:
    import polars as pl

    from rocelab.hpcc.fct import Selection

_MAX_NAME = 24
"""Two longer ones do not fit side by side."""


def left_out(
    selected: Sequence[Selection], tag: str | None, cut: float, scheme: str | None
) -> list[str]:
    """What a picture must say of the flows that are in it, and that are not."""
    notes = []
    if scheme is not None:
        notes.append(f"Flows with scheme {scheme} alone.")
    schemes = sorted({name for each in selected for name in each.schemes})
    if len(schemes) > 1:
        notes.append(f"Flows of {' and '.join(schemes)} together.")
    if tag is not None:
        notes.append(f"Flows with {'port' if selected[0].result is None else 'tag'} {tag} alone.")
    if any(each.late for each in selected):
        counts = " and ".join(f"{each.late:,}" for each in selected)
        notes.append(f"Flows that end at {cut:g} s or later are left out: {counts}.")
    return notes


def plot_slowdowns(
    out: Path, selected: Sequence[Selection], notes: Sequence[str], *, split_by_tag: bool = False
) -> None:
    """Writes the slowdowns of ``selected`` to the picture ``out``, with ``notes`` below."""
    runs = [each.result for each in selected]
    names = [label_text(name) for name in _names([each.path for each in selected])]
    notes = [*notes, *unfinished(runs, names), *caveats([run for run in runs if run])]
    # Of several groups at one size a line would go up and down for no reason.
    lists = [(name, each.flows) for name, each in zip(names, selected, strict=True)]
    if split_by_tag:
        lists = [one for name, each in lists for one in _of_tags(name, each, len(names) > 1)]
    groups = [(name, _tagged(each)) for name, each in lists]
    if any(
        len(few) < len(by_size(each)) for (_, few), (_, each) in zip(groups, lists, strict=True)
    ):
        notes = ["Bins with the same largest size are drawn as one.", *notes]
    drawn = slowdown.by_size(groups, notes, needed=slowdown.SCRIPT_RANK)
    save(drawn, out.with_suffix(""), formats=(out.suffix[1:],))


def _of_tags(name: str, flows: pl.DataFrame, several: bool) -> Iterator[tuple[str, pl.DataFrame]]:
    """The flows of each tag, with the tag as name, and where there are several files their name."""
    for tag, part in split_by_tag(flows).items():
        yield label_text(f"{name} {tag}" if several else tag), part


def _tagged(flows: pl.DataFrame) -> list[Bin]:
    """Groups by size with the tags of their flows: a line ends where other traffic begins."""
    return [
        Bin(group.upper_bytes, group.flows, group.p50, group.p95, group.p99, _tags(flows, group))
        for group in by_size(flows, distinct=True)
    ]


def _tags(flows: pl.DataFrame, group: Group) -> frozenset[str]:
    within = flows["size"].is_between(group.lower_bytes, group.upper_bytes)
    return frozenset(flows.filter(within)["tag"].unique())


def _names(paths: Sequence[Path]) -> list[str]:
    """What to call them in the picture: their directories, if those are short and differ."""
    directories = [path.parent if path.name == "fct.txt" else path for path in paths]
    names = [directory.name for directory in directories]
    good = len(set(names)) == len(names) and all(0 < len(name) <= _MAX_NAME for name in names)
    return names if good else ["a", "b"][: len(names)]
