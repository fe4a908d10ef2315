"""``rocelab plan``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rocelab._format import count, duration, nodes, pluralise, rate, size
from rocelab._text import filled, json_text, printable
from rocelab._text_table import aligned
from rocelab.cli.options import ScenarioFile, Settings, load_scenario
from rocelab.cli.output import print_warnings, show
from rocelab.plan import spreading

_MAX_NAME = 24
"""Characters of a tag or node that are shown."""


def plan(
    scenario: ScenarioFile,
    settings: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a scenario asks of its network.

    Prints sizes, round trips, the load by tier, the buffers that PFC needs, marking thresholds, and
    the time and memory of a run. Nothing is run. Warnings say what may go wrong in a run.
    """
    from rocelab.scenario import MAX_TAGS

    plan = load_scenario(scenario, settings).plan()
    found = plan.to_dict()
    print_warnings(found["warnings"])
    if as_json:
        show(json_text(found))
    else:
        together = plan._together().to_dicts() if len(found["traffic"]) > MAX_TAGS else []
        show(_describe(found, together, spreading(plan.scenario)))


def _describe(found: dict[str, Any], together: list[dict[str, Any]], spreading: list[str]) -> str:
    """``together`` is a row for all tags if there are too many for a row each."""
    network = nodes(found["hosts"], found["switches"])
    links = pluralise(found["links"], "link", "links")
    parts = [f"{printable(found['name'])}: {network}, {links}, {found['scheme']}"]
    if found["traffic"]:
        shown = together or found["traffic"]
        parts.append(aligned(_sizes(shown), 1))
        parts.append(aligned(_times(shown), 1))
        if together:
            parts.append("traffic: all tags together; rocelab plan --json has each")
        if waiting := [_tag(entry) for entry in found["traffic"] if entry["waits"]]:
            names = pluralise(len(waiting), "tag", "tags") if together else ", ".join(waiting)
            told = f"waiting for other messages, so that times are the earliest: {names}"
            parts.append(filled(told))
    parts.append(aligned(_ports(found["ports"]), 2))
    parts.append(aligned(_loads(found), 2))
    if found["span_ps"]:
        span = duration(found["span_ps"])
        parts.append(f"load: time to send, over the {span} from the first message to the last")
    if spreading:
        told = (
            f"data: the same share through each next hop, because of {' and '.join(spreading)}; "
            "in a run some may carry more"
        )
        parts.append(filled(told))
    if found["buffers"]:
        parts.append(aligned(_buffers(found["buffers"]), 1))
    if any(row["needed_bytes"] is not None for row in found["buffers"]):
        parts.append("needed: what a buffer must hold until all ports have paused their peers")
    if found["marking"]:
        parts.append(aligned(_marking(found["marking"], found["buffers"]), 1))
    hops = f"{count(found['packet_hops']).strip()} packet-hops or more"
    least, most = (duration(1e12 * _rounded(seconds)) for seconds in found["run_s"])
    memory = f"{size(found['memory_bytes'])} of memory"
    parts.append(f"a run: {hops}, about {memory},\n       {least} to {most} on an idle core")
    return "\n\n".join(parts)


def _rounded(value: float) -> float:
    """``value`` with two digits: it is an estimate."""
    return float(f"{value:.2g}")


def _sizes(entries: list[dict[str, Any]]) -> list[list[str]]:
    names = ("bytes", "smallest_bytes", "median_bytes", "largest_bytes")
    head = ["traffic", "messages", "bytes", "smallest", "median", "largest"]
    rows = [
        [_tag(entry), f"{entry['messages']:,}", *(size(entry[name]) for name in names)]
        for entry in entries
    ]
    return [head, *rows]


def _times(entries: list[dict[str, Any]]) -> list[list[str]]:
    head = ["traffic", "first", "last", "base RTT", "BDP"]
    rows = [
        [
            _tag(entry),
            duration(entry["first_start_ps"]),
            duration(entry["last_start_ps"]),
            _span(duration(entry["least_base_rtt_ps"]), duration(entry["most_base_rtt_ps"])),
            size(entry["most_bdp_bytes"]),
        ]
        for entry in entries
    ]
    return [head, *rows]


def _tag(entry: dict[str, Any]) -> str:
    return printable(entry["tag"], _MAX_NAME)


def _buffers(rows: list[dict[str, Any]]) -> list[list[str]]:
    by_class = any(row["priority"] is not None for row in rows)
    classes = ["priority"] if by_class else []
    head = [
        *("buffers of", "number", "buffer", "headroom", "reserved"),
        *(*classes, "pause at", "needed"),
    ]
    tiers = [(row["tier"], row["priority"]) for row in rows]
    lines = [
        [
            # Those of a tier that differ have the name of their first switch.
            f"{_tier(row['tier'])}: {printable(row['first'], _MAX_NAME)}"
            if tiers.count((row["tier"], row["priority"])) > 1
            else _tier(row["tier"]),
            f"{row['switches']:,}",
            size(row["buffer_bytes"]),
            size(row["max_headroom_bytes"]),
            size(row["reserved_bytes"]),
            *([", ".join(map(str, row["priorities"])) or "-"] if by_class else []),
            _threshold(row),
            _size_or_dash(row["needed_bytes"]),
        ]
        for row in rows
    ]
    return [head, *lines]


def _threshold(row: dict[str, Any]) -> str:
    at = row["pause_threshold_bytes"]
    if at is None:
        return "-"
    return size(at) if row["is_fixed"] else f"up to {size(at)}"


def _marking(rows: list[dict[str, Any]], buffers: list[dict[str, Any]]) -> list[list[str]]:
    """Thresholds of marks beside what they are chosen by: the BDP, and where PFC begins."""
    by_class = any(row["priority"] is not None for row in rows)
    classes = ["priority"] if by_class else []
    marked = {row["priority"] for row in rows if row["priority"] is not None}
    head = ["marking at", *classes, "Kmin", "Kmax", "Pmax", "BDP", "pause at"]
    lines = [
        [
            rate(row["rate_bps"]),
            *([_class(row["priority"])] if by_class else []),
            *(_size_or_dash(row[name]) for name in ("kmin_bytes", "kmax_bytes")),
            "-" if row["pmax"] is None else f"{row['pmax']:g}",
            size(row["bdp_bytes"]),
            _least_threshold(row["priority"], marked, buffers),
        ]
        for row in rows
    ]
    return [head, *lines]


def _least_threshold(priority: int | None, marked: set[int], buffers: list[dict[str, Any]]) -> str:
    """Where PFC begins for this priority; None: for those that are not ``marked`` by their own."""

    def is_meant(one: int) -> bool:
        return one not in marked if priority is None else one == priority

    found = [
        row
        for row in buffers
        if row["pause_threshold_bytes"] is not None and any(map(is_meant, row["priorities"]))
    ]
    at = min(found, key=lambda row: row["pause_threshold_bytes"], default=None)
    return "-" if at is None else _threshold(at)


def _class(priority: int | None) -> str:
    return "others" if priority is None else str(priority)


def _size_or_dash(count: int | None) -> str:
    return "-" if count is None else size(count)


def _span(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def _ports(entries: list[dict[str, Any]]) -> list[list[str]]:
    head = ["ports of", "to", "number", "rate", "data", "ACKs"]
    rows = [
        [
            *_ends(entry),
            f"{entry['ports']:,}",
            rate(entry["rate_bps"]),
            size(entry["data_bytes"]),
            size(entry["ack_bytes"]),
        ]
        for entry in entries
    ]
    return [head, *rows]


def _loads(found: dict[str, Any]) -> list[list[str]]:
    """How busy ports are. With ``_ports`` it would be too wide for 80 columns."""
    loaded = bool(found["span_ps"])
    head = ["ports of", "to", "rate", "load" if loaded else "to send", "most", "at"]
    rows = [
        [
            *_ends(entry),
            rate(entry["rate_bps"]),
            *(
                (f"{entry['mean_load']:.1%}", f"{entry['most_load']:.1%}")
                if loaded
                else (duration(entry["mean_busy_ps"]), duration(entry["most_busy_ps"]))
            ),
            printable(f"{entry['busiest_node']}:{entry['busiest_peer']}", _MAX_NAME)
            if entry["most_busy_ps"]
            else "",
        ]
        for entry in found["ports"]
    ]
    return [head, *rows]


def _ends(entry: dict[str, Any]) -> tuple[str, str]:
    return _tier(entry["tier"]), _tier(entry["peer_tier"])


def _tier(tier: int) -> str:
    return "hosts" if tier == 0 else f"tier {tier}"
