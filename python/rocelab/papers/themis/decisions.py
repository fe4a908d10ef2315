"""What THEMIS's poster leaves open or says twice, and the readings of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from rocelab.papers.decisions import Decision, Option, Reading

Params = Mapping[str, Any]

_PROTOTYPE = "the published prototype"

FORM: Decision[Literal["prototype", "poster"]] = Decision(
    "T1",
    "Which form do THEMIS's external switches have?",
    2,
    'section 3: the table is of "an open-source prototype", whose code is another form than '
    "sections 2.1 and 2.2 have",
    (
        Option("the prototype's", "prototype", _PROTOTYPE),
        Option("the poster's", "poster", "sections 2.1 and 2.2, themis.md"),
    ),
)
INT: Decision[Params] = Decision(
    "T2",
    "What do HPCC's INT records hold of links of 1.6 Tb/s, for which the code has no value?",
    2,
    "the field stays 0, which the code reads as 25 Gb/s",
    (
        Option("0, read as 25 Gb/s", {"int_format": "hpcc-ns3-uncoded"}, _PROTOTYPE),
        Option("the rate", {"int_format": "full"}, "HPCC's paper"),
    ),
)
FLOWS: Decision[bool] = Decision(
    "T3",
    "Which flows are run?",
    2,
    "the prototype's file of flows, which is not part of rocelab: without it 20 draws by the rules "
    "of the prototype's generator stand for it",
    (
        Option("20 draws", False, "the prototype's generator"),
        Option("the published file", True, _PROTOTYPE, alone=False),
    ),
)
HPCC_RTT: Decision[Params] = Decision(
    "T4",
    "Which round trip is HPCC's T, and of which is its window?",
    2,
    "the longest, GLOBAL_T 1 in the prototype's configuration",
    (
        Option("the network's longest", {"window": "bdp"}, _PROTOTYPE),
        Option("each path's own", {"base_rtt": "path", "window": "path-bdp"}, "the HPCC simulator"),
    ),
)
STALL: Decision[Params] = Decision(
    "T5",
    "Does a port that puts a packet back rest until another joins it?",
    2,
    "it does in the code; so a few flows never end, and are left out",
    (
        Option("it does", {}, _PROTOTYPE),
        Option("it does not", {"stall_after_requeue": False}, "themis.md"),
    ),
)

DECISIONS: tuple[Decision[Any], ...] = (FORM, INT, FLOWS, HPCC_RTT, STALL)

PUBLISHED = Reading(
    "published flows",
    "The flows that the prototype's authors publish, seeds 1 to 5 for marks",
    {"T3": "the published file"},
)
"""Needs the file: see :func:`rocelab.papers.themis.with_flows`."""

READINGS = (
    Reading("prototype", "The published prototype, its settings and flows drawn as its own"),
    Reading("poster's form", "THEMIS as sections 2.1 and 2.2 have it", {"T1": "the poster's"}),
    Reading("exact INT", "HPCC's INT holds the rate of each link", {"T2": "the rate"}),
)
