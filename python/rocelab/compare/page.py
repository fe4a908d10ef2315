"""The comparison as a table, as CSV and as a Markdown page."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from rocelab import catalogue
from rocelab._text import filled
from rocelab._text_table import fitted, markdown
from rocelab.compare.measure import FAIR, Row
from rocelab.compare.networks import INPUT_QUEUES, NETWORKS

COLUMNS: Mapping[str, str] = {
    "scheme": "scheme",
    "slowest_mbps": "slowest, Mb/s",
    "fastest_mbps": "fastest, Mb/s",
    "jain": "Jain",
    "settles_us": "settles, us",
    "victim_mbps": "victim, Mb/s",
    "used_percent": "used, %",
    "queue_peak_bytes": "queue peak, B",
    "queue_bytes": "queue, B",
    "pauses": "pauses",
}


def groups(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """The rows of each network and rate under what they are."""
    titles = {network.id: network.title for network in NETWORKS}
    found: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row.network, row.gbps), []).append(row)
    return [
        (f"{network}, {gbps} Gb/s: {titles[network]}", several)
        for (network, gbps), several in found.items()
    ]


def cells(rows: Sequence[Row]) -> list[list[str]]:
    """A table of rows with its head; without the victim's column where there is none."""
    held_up = any(row.victim_mbps is not None for row in rows)
    keys = [key for key in COLUMNS if held_up or key != "victim_mbps"]
    several = len({row.scheme for row in rows}) < len(rows)
    head = [COLUMNS[key] for key in keys]
    return [head, *([_cell(row, key, several=several) for key in keys] for row in rows)]


def _cell(row: Row, key: str, *, several: bool) -> str:
    value = getattr(row, key)
    if key == "scheme":
        return row.preset if several else row.scheme
    if value is None:
        return "never"
    if isinstance(value, float):
        return f"{value:.4f}" if key == "jain" else f"{value:.2f}"
    return f"{value:,}"


def table(rows: Sequence[Row]) -> str:
    """The rows as people read them."""
    parts = [
        f"{filled(title)}\n{fitted(cells(several), left=1)}" for title, several in groups(rows)
    ]
    plain = (text.replace("*", "") for text in _COLUMNS)
    return "\n\n".join([*parts, "\n".join(map(filled, plain))])


def to_csv(rows: Sequence[Row]) -> str:
    """The rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_data(rows))
    return text.getvalue()


def as_data(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as plain data."""
    return [asdict(row) for row in rows]


_INTRODUCTION = """\
# How the schemes behave

How does each scheme share a link, how long are the queues that it leaves, and how soon does it
settle? Small networks show it, each with hosts of one rate.

Written by `{command}`. Each scheme has the preset named at the end of the page, and all else is as
it is by default; links have a delay of 1 us. Switches with input queues (`rcm`) have
{queues}.
The simulator is deterministic, so these numbers are exact.

{columns}
"""

_COLUMNS = (
    (
        "*slowest*, *fastest*: the smallest and the largest share of the rivals, in link time; "
        "*Jain* is the index of their shares, which is 1 if they are equal. These are means over "
        "the last 4 of 16 ms unless a network says otherwise. So are the *queue*, and the part of "
        "the time that the link is *used* (higher is better)."
    ),
    (
        "*settles*: from the last join until the shares of each later 100 us have an index of "
        f"{FAIR} or more; lower is better."
    ),
    (
        "*queue peak*, *pauses*: of the whole run, lower is better; pauses are PFC pause frames of "
        "all ports."
    ),
)
"""What the columns are, with their names between asterisks."""


def page(rows: Sequence[Row], command: str) -> str:
    """The rows as a Markdown page."""
    chosen = dict.fromkeys((row.scheme, row.preset) for row in rows)
    caveats = {one.name: one.caveat for one in catalogue.schemes()}
    queues = ", ".join(
        f'`{table}.{key} = "{value}"`'
        for table, keys in INPUT_QUEUES.items()
        for key, value in keys.items()
    )
    columns = "\n".join(
        textwrap.fill(text, 100, initial_indent="- ", subsequent_indent="  ") for text in _COLUMNS
    )
    parts = [_INTRODUCTION.format(command=command, columns=columns, queues=queues)]
    for title, several in groups(rows):
        heading, _, text = title.partition(": ")
        parts.append(f"## {heading}\n\n{text[0].upper()}{text[1:]}.\n")
        parts.append(markdown(cells(several), left=1) + "\n")
    told = [["scheme", "preset", "what to know before trusting its numbers"]]
    told += [[f"`{name}`", f"`{preset}`", caveats[name]] for name, preset in chosen]
    parts.append("## Presets and caveats\n\n" + markdown(told, left=3) + "\n")
    return "\n".join(parts)
