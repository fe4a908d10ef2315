"""What FNCC's paper leaves open or says twice, and the readings of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from rocelab.papers.decisions import Decision, Option, Reading

_DEFAULT = "this simulator's default, fncc.md"

TABLE_PERIOD: Decision[str] = Decision(
    "F1",
    "How often do switches update All_INT_Table?",
    5,
    'section 4.1: "periodically", so not at every packet; the period is our argument: hardware '
    "that updates one of the 64 ports of section 4.3 in each cycle of 1 GHz",
    (
        Option("every 64 ns", "64ns", "sections 4.1 and 4.3, a clock of 1 GHz"),
        Option("always up to date", "0ns", _DEFAULT),
        Option("every 0.5 us", "500ns", "section 4.1, which allows any period"),
        Option("every 1 us", "1us", "section 4.1, which allows any period"),
        Option("every 2 us", "2us", "section 4.1, which allows any period"),
    ),
)
SPEED_UP: Decision[str] = Decision(
    "F2",
    "Last-hop speed-up: is W^c set and then divided, or is the window set directly?",
    1,
    "an algorithm beats a sentence: line 32 of algorithm 3 divides, section 3.2.2 does not",
    (
        Option("algorithm 3", "per-ack", "algorithms 2 and 3"),
        Option("directly", "direct", "section 3.2.2"),
        Option("once a round trip", "per-round-trip"),
        Option("off", "off"),
    ),
)
Held = Literal["40G", "100G", "scaled"]
RIVALS: Decision[Held] = Decision(
    "F3",
    "Which parameters do DCQCN and RoCC have at 100, 200 and 400 Gb/s?",
    3,
    'section 5: "the default values recommended in research [25, 31]", which are those of 40 Gb/s '
    "for DCQCN and of 100 Gb/s for RoCC; no word of scaling them",
    (
        Option("as in their papers, at all rates", "40G", "section 5"),
        Option("scaled to 100 Gb/s, at all rates", "100G", "section 5.1's rate"),
        Option("scaled to each rate", "scaled", "section 5.2 repeats with larger capacity"),
    ),
)
BASE_RTT: Decision[str] = Decision(
    "F4",
    "What is FNCC's T?",
    1,
    "equation 4: the round trip \"between the sender and receiver\"; HPCC's T is the network's "
    "longest, as in its paper",
    (
        Option("the path's round trip", "path", "equation 4"),
        Option("the network's longest", "network", "HPCC's paper"),
    ),
)
ACK_CLASS: Decision[Mapping[str, Any]] = Decision(
    "F5",
    "Do ACKs wait among the data?",
    1,
    'section 5: "packets from all sources on the same service level"',
    (
        Option("among the data", {"classes": {"ack": "data"}}, "section 5"),
        Option("in a class of their own", {}, _DEFAULT),
    ),
)
PATHS: Decision[Mapping[str, Any]] = Decision(
    "F6",
    "How do ACKs come back on the data's path?",
    1,
    'words on the experiment: section 5.5 implements ECMP; section 3.1 "employs" spanning trees',
    (
        Option("symmetric ECMP", {"hash": "symmetric"}, "section 5.5"),
        Option("spanning trees", {"paths": "spanning-trees"}, "section 3.1"),
    ),
)
PFC_THRESHOLD: Decision[int] = Decision(
    "F7",
    "What does the PFC threshold of 500 KB count?",
    5,
    "each ingress port, as 802.1Qbb pauses by ingress; the paper does not say",
    (
        Option("each ingress port", 500, "802.1Qbb"),
        Option("the two senders' ports together", 250, "section 5, as of a queue"),
    ),
)
FLOWS: Decision[str] = Decision(
    "F8",
    "Which flows does N count?",
    1,
    'section 3.2.3: "the number of RDMA QP connections"',
    (
        Option("QPs that have not ended", "open", "section 3.2.3"),
        Option("QPs with data lately", "active", _DEFAULT),
    ),
)
INT_FORMAT: Decision[str] = Decision(
    "F9",
    "Are INT records exact?",
    1,
    'the words on the simulation name no format; the 64 bits of section 4.3 are of "hardware '
    'feasibility"',
    (
        Option("exact", "full", "section 5"),
        Option("64 bits", "fncc-64", "section 4.3"),
    ),
)
EXPECTED_FLOWS: Decision[int] = Decision(
    "F10",
    "How large is W_AI?",
    3,
    "HPCC's paper: for 100 flows",
    (Option("for 100 flows", 100, "HPCC's paper"), Option("for 5 flows", 5)),
)
HPCC_FORM: Decision[str] = Decision(
    "F11",
    "Which form has HPCC?",
    3,
    "that of its paper, on which FNCC's law builds",
    (
        Option("its paper's", "hpcc-paper", "HPCC's paper"),
        Option("its simulator's", "hpcc-ns3", "the HPCC simulator"),
    ),
)
DCQCN_FORM: Decision[str] = Decision(
    "F12",
    "Which form has DCQCN?",
    3,
    "that of its paper",
    (
        Option("its paper's", "dcqcn-paper", "DCQCN's paper"),
        Option("the HPCC simulator's", "dcqcn-hpcc", "the HPCC simulator"),
    ),
)

DECISIONS: tuple[Decision[Any], ...] = (
    TABLE_PERIOD,
    SPEED_UP,
    RIVALS,
    BASE_RTT,
    ACK_CLASS,
    PATHS,
    PFC_THRESHOLD,
    FLOWS,
    INT_FORMAT,
    EXPECTED_FLOWS,
    HPCC_FORM,
    DCQCN_FORM,
)

READINGS = (
    Reading("letter", "The paper's words, tables updated every 64 ns"),
    Reading("letter, 1 us", "The same with tables updated every 1 us", {"F1": "every 1 us"}),
    Reading(
        "held 100G, 1 us",
        "Tables every 1 us; DCQCN and RoCC scaled to 100 Gb/s, and held at 200 and 400",
        {"F1": "every 1 us", "F3": "scaled to 100 Gb/s, at all rates"},
    ),
    Reading(
        "scaled",
        "This simulator's defaults: tables always up to date, rivals scaled to each rate",
        {
            "F1": "always up to date",
            "F3": "scaled to each rate",
            "F4": "the network's longest",
            "F5": "in a class of their own",
            "F8": "QPs with data lately",
        },
    ),
    Reading("direct LHCS", "The window is set directly, section 3.2.2", {"F2": "directly"}),
)
