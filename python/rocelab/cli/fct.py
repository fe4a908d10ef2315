"""``rocelab fct``."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocelab._rocelab import topology_sites
from rocelab._text import json_text, printable
from rocelab._text_table import fitted
from rocelab.cli.options import renamed
from rocelab.cli.output import note, show
from rocelab.errors import ResultError
from rocelab.io.files import check_output_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocelab.hpcc.fct import Flow

_EXPLAINED = (
    "\n%: share of the flows up to this size; size: largest of the group, in bytes;\n"
    "p50, p95, p99: FCT slowdown"
)
_FORMATS = (".png", ".svg", ".pdf")


def fct(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="An fct.txt, a directory that holds one, or a result directory.",
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
    """
    del old_type, old_cut
    from rocelab.hpcc.fct import (
        PORTS,
        by_data_centre,
        by_size,
        by_tag,
        compare_by_size,
        compare_by_tag,
        select_flows,
    )

    if as_csv and as_json:
        raise ResultError("--csv and --json: choose one")
    if kind is not None and tag is not None:
        raise ResultError("--port-type and --tag: choose one")
    if split_by_tag and topology is not None:
        raise ResultError("--by-tag and --topology: choose one")
    if not finished_before > 0:
        raise ResultError(
            f"--finished-before {finished_before:g}: must be above 0",
            hint="in seconds; inf for all flows",
        )
    if out is not None:
        if out.suffix not in _FORMATS:
            raise ResultError(f"--out {out}: must end in .png, .svg or .pdf")
        check_output_file(out)
    paths = [path] if other is None else [path, other]
    chosen = tag if kind is None else PORTS[kind]
    flows: list[list[Flow]] = []
    late: list[int] = []
    told: list[str] = []
    for each in paths:
        selected, too_late, covered = select_flows(each, chosen, finished_before)
        if too_late:
            total = len(selected) + too_late
            note(f"{each}: {too_late} of {total} flows end at {finished_before:g} s or later")
        told += [f"{each}: {covered} done"] if covered else []
        flows.append(selected)
        late.append(too_late)
    groups = [by_size(each) for each in flows]
    if topology is not None:
        sites = topology_sites(topology)
        rows = [
            ({} if other is None else {"file": name}) | row
            for name, file, each in zip("ab", paths, flows, strict=False)
            for row in by_data_centre(each, sites, file)
        ]
    elif split_by_tag:
        rows = by_tag(flows[0]) if other is None else compare_by_tag(*flows)
        _tell_unlike(rows)
    else:
        rows = groups[0] if other is None else compare_by_size(*groups)
        _tell_unlike(rows)
    if as_json:
        show(json_text(rows))
    elif as_csv:
        writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    elif other is None:
        show(_table(rows))
    else:
        show(f"a: {printable(str(path))}\nb: {printable(str(other))}\n{_table(rows)}")
    if not as_json and not as_csv and topology is None:
        show(_EXPLAINED)
    for line in told:
        # Below a table; beside data.
        (note if as_json or as_csv else show)(line)
    if out is not None:
        from rocelab.hpcc.fct_plot import left_out, plot_slowdowns

        notes = left_out(paths, chosen, late, finished_before)
        plot_slowdowns(out, flows, paths, notes, split_by_tag=split_by_tag)


def _tell_unlike(rows: Sequence[dict[str, Any]]) -> None:
    unlike = sum(row.get("p50_percent", 0) is None for row in rows)
    if unlike:
        note(
            f"{unlike} of {len(rows)} rows are not compared: sizes that do not overlap, or a group "
            "that only one of the two has"
        )


def _table(rows: Sequence[dict[str, Any]]) -> str:
    columns = [(key, key) for key in rows[0]] if "place" in rows[0] else _columns(rows)
    lines = [[title for title, _ in columns]]
    lines += [[_cell(row[key], key) for _, key in columns] for row in rows]
    left = int("tag" in rows[0])
    if "p50_percent" not in rows[0]:
        return fitted(lines, left)
    # Two results have three columns for each percentile.
    return fitted(lines, left, repeated=len(columns) - 9, together=3)


def _columns(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Title and key of each column; what never differs is shown once."""
    from rocelab.hpcc.fct import PERCENTILES

    percentiles = [f"p{percent}" for percent in PERCENTILES]
    columns = [("tag", "tag")] if "tag" in rows[0] else []
    columns += [("%", "part")]
    if "flows" in rows[0]:
        columns += [("size", "upper_bytes"), ("flows", "flows")]
        return columns + [(name, name) for name in percentiles]
    for title, key in (("size", "upper_bytes"), ("flows", "flows")):
        if all(row[f"{key}_a"] == row[f"{key}_b"] for row in rows):
            columns.append((title, f"{key}_a"))
        else:
            columns += [(f"{title} a", f"{key}_a"), (f"{title} b", f"{key}_b")]
    for name in percentiles:
        columns += [(f"{name} a", f"{name}_a"), (f"{name} b", f"{name}_b")]
        columns.append(("change", f"{name}_percent"))
    return columns


def _cell(value: float | str | None, key: str) -> str:
    if value is None:
        return "-"
    if key.endswith("_percent") and isinstance(value, float):
        return f"{value:+.1f}%"
    return f"{value:.3f}" if isinstance(value, float) else printable(str(value))
