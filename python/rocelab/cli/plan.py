"""``rocelab plan``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rocelab._format import count, duration, pluralise, rate, size
from rocelab._text import json_text, printable
from rocelab._text_table import aligned
from rocelab.cli.options import ScenarioFile, Settings, load_scenario
from rocelab.cli.output import print_warnings, show


def plan(
    scenario: ScenarioFile,
    settings: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell what a scenario asks of its network.

    That is sizes, round trips, the load by tier, what PFC needs of buffers, and marking thresholds;
    nothing is run. Warnings say what may go wrong in a run.
    """
    found = load_scenario(scenario, settings).plan().to_dict()
    print_warnings(found["warnings"])
    if as_json:
        show(json_text(found))
    else:
        show(_describe(found))


def _describe(found: dict[str, Any]) -> str:
    nodes = [
        pluralise(found["hosts"], "host", "hosts"),
        pluralise(found["switches"], "switch", "switches"),
        pluralise(found["links"], "link", "links"),
    ]
    parts = [f"{printable(found['name'])}: {', '.join(nodes)}, {found['scheme']}"]
    if found["traffic"]:
        parts.append(aligned(_sizes(found["traffic"]), 1))
        parts.append(aligned(_times(found["traffic"]), 1))
    parts.append(aligned(_ports(found), 2))
    if found["span_ps"]:
        span = duration(found["span_ps"])
        parts.append(f"load: time to send, over the {span} from the first message to the last")
    if found["buffers"]:
        parts.append(aligned(_buffers(found["buffers"]), 1))
    if found["marking"]:
        parts.append(aligned(_marking(found["marking"]), 1))
    hops = f"{count(found['packet_hops']).strip()} packet-hops or more"
    parts.append(f"a run: {hops}, about {size(found['memory_bytes'])} of memory")
    return "\n\n".join(parts)


def _sizes(entries: list[dict[str, Any]]) -> list[list[str]]:
    names = ("bytes", "smallest_bytes", "median_bytes", "largest_bytes")
    head = ["traffic", "messages", "bytes", "smallest", "median", "largest"]
    rows = [
        [entry["tag"], f"{entry['messages']:,}", *(size(entry[name]) for name in names)]
        for entry in entries
    ]
    return [head, *rows]


def _times(entries: list[dict[str, Any]]) -> list[list[str]]:
    head = ["traffic", "first", "last", "base RTT", "BDP"]
    rows = [
        [
            entry["tag"],
            duration(entry["first_start_ps"]),
            duration(entry["last_start_ps"]),
            _span(duration(entry["least_base_rtt_ps"]), duration(entry["most_base_rtt_ps"])),
            size(entry["most_bdp_bytes"]),
        ]
        for entry in entries
    ]
    return [head, *rows]


def _buffers(rows: list[dict[str, Any]]) -> list[list[str]]:
    head = ["buffers of", "number", "buffer", "headroom", "reserved", "pause at", "all paused"]
    lines = [
        [
            _tier(row["tier"]),
            f"{row['switches']:,}",
            size(row["buffer_bytes"]),
            size(row["max_headroom_bytes"]),
            size(row["reserved_bytes"]),
            _threshold(row),
            "-" if row["needed_bytes"] is None else size(row["needed_bytes"]),
        ]
        for row in rows
    ]
    return [head, *lines]


def _threshold(row: dict[str, Any]) -> str:
    at = row["pause_threshold_bytes"]
    if at is None:
        return "-"
    return size(at) if row["is_fixed"] else f"up to {size(at)}"


def _marking(rows: list[dict[str, Any]]) -> list[list[str]]:
    head = ["marking at", "Kmin", "Kmax", "Pmax", "BDP"]
    lines = [
        [
            rate(row["rate_bps"]),
            *(size(row[name]) for name in ("kmin_bytes", "kmax_bytes")),
            f"{row['pmax']:g}",
            size(row["bdp_bytes"]),
        ]
        for row in rows
    ]
    return [head, *lines]


def _span(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def _ports(found: dict[str, Any]) -> list[list[str]]:
    loaded = bool(found["span_ps"])
    head = ["ports of", "to", "number", "rate", "data", "ACKs"]
    head += ["load", "most", "at"] if loaded else ["to send", "most", "at"]
    rows = [
        [
            _tier(entry["tier"]),
            _tier(entry["peer_tier"]),
            f"{entry['ports']:,}",
            rate(entry["rate_bps"]),
            size(entry["data_bytes"]),
            size(entry["ack_bytes"]),
            *(
                (f"{entry['mean_load']:.1%}", f"{entry['most_load']:.1%}")
                if loaded
                else (duration(entry["mean_busy_ps"]), duration(entry["most_busy_ps"]))
            ),
            f"{entry['busiest_node']}:{entry['busiest_peer']}" if entry["most_busy_ps"] else "",
        ]
        for entry in found["ports"]
    ]
    return [head, *rows]


def _tier(tier: int) -> str:
    return "hosts" if tier == 0 else f"tier {tier}"
