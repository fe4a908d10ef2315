"""``rocelab plan``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rocelab._format import duration, pluralise, rate, size
from rocelab._text import json_text, printable
from rocelab._text_table import aligned
from rocelab.cli.options import ScenarioFile, Settings, load_scenario
from rocelab.cli.output import show


def plan(
    scenario: ScenarioFile,
    settings: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell what a scenario asks of its network.

    That is sizes, round trips and the load by tier; nothing is run.
    """
    found = load_scenario(scenario, settings).plan().to_dict()
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
        parts.append(aligned(_traffic(found["traffic"]), 1))
    parts.append(aligned(_ports(found), 2))
    if found["span_ps"]:
        span = duration(found["span_ps"])
        parts.append(f"load: time to send, over the {span} from the first message to the last")
    return "\n\n".join(parts)


def _traffic(entries: list[dict[str, Any]]) -> list[list[str]]:
    head = ["traffic", "messages", "bytes", "smallest", "median", "largest"]
    head += ["first", "last", "base RTT", "BDP"]
    rows = [
        [
            entry["tag"],
            f"{entry['messages']:,}",
            *(
                size(entry[name])
                for name in ("bytes", "smallest_bytes", "median_bytes", "largest_bytes")
            ),
            duration(entry["first_start_ps"]),
            duration(entry["last_start_ps"]),
            _span(duration(entry["least_base_rtt_ps"]), duration(entry["most_base_rtt_ps"])),
            size(entry["most_bdp_bytes"]),
        ]
        for entry in entries
    ]
    return [head, *rows]


def _span(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def _ports(found: dict[str, Any]) -> list[list[str]]:
    loaded = bool(found["span_ps"])
    head = ["ports of", "to", "number", "rate", "data", "ACKs", "time to send", "most"]
    head += ["load", "most"] if loaded else []
    rows = [
        [
            _tier(entry["tier"]),
            _tier(entry["peer_tier"]),
            f"{entry['ports']:,}",
            rate(entry["rate_bps"]),
            size(entry["data_bytes"]),
            size(entry["ack_bytes"]),
            duration(entry["mean_busy_ps"]),
            duration(entry["most_busy_ps"]),
            *((f"{entry['mean_load']:.1%}", f"{entry['most_load']:.1%}") if loaded else ()),
            f"at {entry['busiest_node']}:{entry['busiest_peer']}" if entry["most_busy_ps"] else "",
        ]
        for entry in found["ports"]
    ]
    return [[*head, ""], *rows]


def _tier(tier: int) -> str:
    return "hosts" if tier == 0 else f"tier {tier}"
