"""``rocelab fct``."""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocelab._format import is_or_are
from rocelab._rocelab import topology_sites
from rocelab._text import json_text, printable
from rocelab._text_table import fitted
from rocelab.cli.options import choose_one, renamed
from rocelab.cli.output import note, show
from rocelab.errors import ResultError
from rocelab.io.files import check_output_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocelab.hpcc.fct import Selection
    from rocelab.hpcc.fct_groups import Compared, Group

_EXPLAINED = (
    "\n%: share of the flows up to this size; size: largest of the group, in bytes;\n"
    "p50, p95, p99: FCT slowdown"
)
_SORTED = (
    "Groups with the same size have flows of that size in order of their slowdown;\n"
    "--by-tag joins them."
)
_FORMATS = (".png", ".svg", ".pdf")


def fct(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A result directory, an fct.txt of the HPCC simulator, or a directory with one.",
            show_default=False,
        ),
    ],
    other: Annotated[
        Path | None,
        typer.Argument(metavar="PATH2", help="Another to compare with it.", show_default=False),
    ] = None,
    kind: Annotated[
        int | None,
        typer.Option(
            "--port-type",
            metavar="N",
            min=0,
            max=1,
            help="0: flows to port 100 alone, 1: those to port 200 (incast); default: all.",
        ),
    ] = None,
    tag: Annotated[
        str | None,
        typer.Option(
            metavar="TAG", help="Only flows with this tag; in an fct.txt, those to this port."
        ),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only flows with this scheme, of a run with two."),
    ] = None,
    split_by_tag: Annotated[
        bool,
        typer.Option("--by-tag", help="Rows for each tag; in an fct.txt, for each port."),
    ] = False,
    finished_before: Annotated[
        float, typer.Option(metavar="SECONDS", help="Only flows that finish before this time.")
    ] = 3.0,
    topology: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The topology file of that simulator: rows are slowdowns within and between data "
            "centres, and the quotient of their means.",
        ),
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FIGURE", help="Draw it too: a .png, .svg or .pdf file."
        ),
    ] = None,
    old_type: Annotated[str | None, renamed("--type", "--port-type")] = None,
    old_cut: Annotated[str | None, renamed("--cut", "--finished-before")] = None,
) -> None:
    """Print FCT slowdowns by flow size, or compare two.

    They are computed as the HPCC simulator's own analysis script does.
    Its p-th percentile of n flows is the one at index n p / 100, so that it is higher
    than that of `rocelab run` if there are few flows.
    """
    del old_type, old_cut
    choose_one(csv=as_csv, json=as_json)
    choose_one(port_type=kind, tag=tag)
    choose_one(by_tag=split_by_tag, topology=topology)
    if not finished_before > 0:
        raise ResultError(
            f"--finished-before {finished_before:g}: must be above 0",
            hint="in seconds; inf for all flows",
        )
    if out is not None:
        if out.suffix not in _FORMATS:
            raise ResultError(f"--out {out}: must end in .png, .svg or .pdf")
        check_output_file(out)
    from rocelab.hpcc.fct import PORTS, select_flows

    paths = [path] if other is None else [path, other]
    chosen = tag if kind is None else PORTS[kind]
    selected = []
    for each in paths:
        flows = select_flows(each, chosen, finished_before, scheme)
        if flows.late:
            total = len(flows.flows) + flows.late
            end = "ends" if flows.late == 1 else "end"
            note(f"{each}: {flows.late} of {total} flows {end} at {finished_before:g} s or later")
        if len(flows.schemes) > 1:
            both = " and ".join(map(printable, flows.schemes))
            note(f"{each}: flows of {both} together; --scheme chooses those of one")
        selected.append(flows)
    table = _table(selected, split_by_tag=split_by_tag, topology=topology)
    if table.unlike:
        note(
            f"{table.unlike} of {len(table.rows)} rows {is_or_are(table.unlike)} not compared: "
            "sizes that do not "
            "overlap, or a group that only one of the two has"
        )
    if as_json:
        show(json_text(table.rows))
    elif as_csv:
        writer = csv.DictWriter(sys.stdout, list(table.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table.rows)
    else:
        if other is not None:
            show(f"a: {printable(str(path))}\nb: {printable(str(other))}")
        show(table.text())
        if table.explanation:
            show(table.explanation)
    for flows in selected:
        if not flows.coverage.complete:
            # Below a table; beside data.
            (note if as_json or as_csv else show)(f"{flows.path}: {flows.coverage} flows done")
    if out is not None:
        from rocelab.hpcc.fct_plot import left_out, plot_slowdowns

        notes = left_out(selected, chosen, finished_before, scheme)
        plot_slowdowns(out, selected, notes, split_by_tag=split_by_tag)


@dataclass(frozen=True)
class _Table:
    """What is printed."""

    rows: list[dict[str, Any]]
    """All values of each row by their names, for JSON and CSV."""
    columns: list[tuple[str, str]]
    """Titles and names of what the text shows."""
    left: int = 0
    """How many of the columns are texts."""
    repeated: int | None = None
    """How many columns stand again where the others do not fit beside each other."""
    unlike: int = 0
    """How many rows are of two files that cannot be compared."""
    explanation: str = ""
    """What stands below the text."""

    def text(self) -> str:
        """The rows below the titles, as wide as the terminal."""
        lines = [[title for title, _ in self.columns]]
        lines += [[_cell(row[name], name) for _, name in self.columns] for row in self.rows]
        if self.repeated is None:
            return fitted(lines, self.left)
        # Two results have three columns for each percentile.
        return fitted(lines, self.left, repeated=self.repeated, together=3)


def _table(selected: Sequence[Selection], *, split_by_tag: bool, topology: Path | None) -> _Table:
    from rocelab.hpcc import fct_groups

    flows = [each.flows for each in selected]
    if topology is not None:
        return _of_places(selected, topology_sites(topology))
    if len(flows) == 1:
        (only,) = flows
        return _of_groups(fct_groups.by_tag(only) if split_by_tag else fct_groups.by_size(only))
    if split_by_tag:
        return _of_compared(fct_groups.compare_by_tag(*flows))
    return _of_compared(fct_groups.compare_by_size(*map(fct_groups.by_size, flows)))


def _of_groups(groups: Sequence[Group]) -> _Table:
    from rocelab.hpcc.fct_groups import PERCENTILES

    tag = _tag_column(groups[0].tag)
    columns = [*tag, ("%", "part"), ("size", "upper_bytes"), ("flows", "flows")]
    columns += [(name, name) for name in PERCENTILES]
    rows = [group.to_dict() for group in groups]
    return _Table(rows, columns, left=len(tag), explanation=_explained(rows, "upper_bytes"))


def _of_compared(compared: Sequence[Compared]) -> _Table:
    """The table of two files; what never differs is shown once."""
    from rocelab.hpcc.fct_groups import PERCENTILES

    rows = [row.to_dict() for row in compared]
    tag = _tag_column(compared[0].tag)
    columns = [*tag, ("%", "part")]
    for title, name in (("size", "upper_bytes"), ("flows", "flows")):
        if all(row[f"{name}_a"] == row[f"{name}_b"] for row in rows):
            columns.append((title, f"{name}_a"))
        else:
            columns += [(f"{title} a", f"{name}_a"), (f"{title} b", f"{name}_b")]
    repeated = len(columns)
    for name in PERCENTILES:
        columns += [(f"{name} a", f"{name}_a"), (f"{name} b", f"{name}_b")]
        columns.append(("change", f"{name}_percent"))
    unlike = sum(not row.comparable for row in compared)
    return _Table(
        rows,
        columns,
        left=len(tag),
        repeated=repeated,
        unlike=unlike,
        explanation=_explained(rows, "upper_bytes_a", "upper_bytes_b"),
    )


def _explained(rows: Sequence[dict[str, Any]], *sizes: str) -> str:
    """What stands below rows of groups, in order, with their largest sizes under these names."""
    same = any(
        None is not one[size] == other[size] and one.get("tag") == other.get("tag")
        for one, other in pairwise(rows)
        for size in sizes
    )
    return f"{_EXPLAINED}\n{_SORTED}" if same else _EXPLAINED


def _of_places(selected: Sequence[Selection], sites: Sequence[int]) -> _Table:
    from rocelab.hpcc.fct_groups import by_data_centre

    files = [{}] if len(selected) == 1 else [{"file": name} for name in "ab"]
    rows = [
        file | place.to_dict()
        for file, each in zip(files, selected, strict=True)
        for place in by_data_centre(each, sites)
    ]
    return _Table(rows, [(name, name) for name in rows[0]])


def _tag_column(tag: str | None) -> list[tuple[str, str]]:
    return [] if tag is None else [("tag", "tag")]


def _cell(value: float | str | None, key: str) -> str:
    if value is None:
        return "-"
    if key.endswith("_percent") and isinstance(value, float):
        return f"{value:+.1f}%"
    return f"{value:.3f}" if isinstance(value, float) else printable(str(value))
