"""What HierCC's paper leaves open, and the readings of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocelab.papers.decisions import Decision, Option, Reading

Scheme = Mapping[str, Any]

_PAPERS: Mapping[str, Scheme] = {
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-paper"},
    "TIMELY": {"name": "timely", "preset": "timely-paper"},
    "HPCC": {"name": "hpcc", "preset": "hpcc-paper"},
    "ExpressPass": {"name": "expresspass", "preset": "expresspass-paper"},
}
_XPASS: Mapping[str, Scheme] = {
    "ExpressPass": {"name": "expresspass", "preset": "expresspass-xpass"}
}
_DCQCN_NS3: Mapping[str, Scheme] = {"DCQCN": {"name": "dcqcn", "preset": "dcqcn-hpcc"}}
_TIMELY_HPCC_NS3: Mapping[str, Scheme] = {
    "TIMELY": {"name": "timely", "preset": "timely-hpcc"},
    "HPCC": {"name": "hpcc", "preset": "hpcc-ns3"},
}
_OURS = "argued here, in hiercc.md"
_SIMULATOR = "the HPCC simulator, on which NS3 work on RoCE builds"

INITIAL_CREDITS: Decision[Mapping[str, Any]] = Decision(
    "H1",
    "What is C0?",
    1,
    'section 5: "C0 = 10KB"',
    (
        Option("10 KB", {"fill_path": False}, "section 5"),
        Option("what fills the path between ToRs, 27 KB", {"fill_path": True}, _OURS),
    ),
)
SENT: Decision[Mapping[str, Any]] = Decision(
    "H2",
    "What does S count, what has left the VOQ or what has joined it?",
    1,
    'section 3.2: bytes "that have been sent" from the VOQ',
    (
        Option("what has left", {"sent_counter": "left"}, "section 3.2"),
        Option("what has joined", {"sent_counter": "joined"}, _OURS),
    ),
)
BASELINES: Decision[Mapping[str, Scheme]] = Decision(
    "H3",
    "Which parameters do the compared schemes have?",
    3,
    'section 5 has "suggested parameters values" and names no code: those of each scheme\'s paper',
    (
        Option("each scheme's paper", _PAPERS, "section 5 and the papers that it cites"),
        Option(
            "HPCC simulator, ExpressPass of its authors' simulator",
            {**_DCQCN_NS3, **_TIMELY_HPCC_NS3, **_XPASS},
            _SIMULATOR,
        ),
        Option(
            "HPCC and TIMELY of the HPCC simulator", {**_PAPERS, **_TIMELY_HPCC_NS3}, _SIMULATOR
        ),
        Option(
            "DCQCN of the HPCC simulator, ExpressPass of its authors'",
            {**_PAPERS, **_DCQCN_NS3, **_XPASS},
            _SIMULATOR,
        ),
    ),
)
HPCC_RTT: Decision[str] = Decision(
    "H4",
    "Which round trip is HPCC's T?",
    3,
    "HPCC's paper takes the network's longest; section 2.2 gives \"the RTT\" as one number, 12 us",
    (
        Option("the network's longest", "network", "HPCC's paper"),
        Option("each path's own, its window too", "path", "the HPCC simulator's GLOBAL_T 0"),
    ),
)
FIG1_SENDERS: Decision[list[str]] = Decision(
    "H5",
    "Figure 1: where do the 16 bursts come from?",
    5,
    "section 2.2 gives the round trip between pods, so they come from another pod; that they come "
    "from one rack there is our argument: a rack has 16 hosts",
    (
        Option("a rack of another pod", ["h0..h15"], "section 2.2"),
        Option("16 racks of other pods", [f"h{16 * rack}" for rack in range(16)], "section 2.2"),
        Option(
            "all racks of the receiver's pod",
            [f"h{256 + 4 * number}" for number in range(16)],
            "section 2.2 names no place",
        ),
    ),
)
FIG4_SENDERS: Decision[list[str]] = Decision(
    "H6",
    "Figure 4: where do the 15 bursts come from?",
    5,
    "section 5.1 says that HierCC limits the VOQs' length there, so they share the long flow's VOQ",
    (
        Option("the rack of the long flow", ["h1..h15"], "section 5.1"),
        Option(
            "the other racks, five each",
            ["h16..h20", "h32..h36", "h48..h52"],
            "section 5.1 names no place",
        ),
    ),
)
FULL_RATE: Decision[Mapping[str, Any]] = Decision(
    "H7",
    'Equation 1: what is a queue "below 0", where hosts send at line rate?',
    5,
    "a queue can't be: it is below q0, from where on equation 1 gives less than the line rate",
    (
        Option("below q0", {"full_rate": "below-target"}, _OURS),
        Option("empty", {"full_rate": "empty"}, "equation 1, the nearest to its bound"),
    ),
)
WIRE: Decision[str] = Decision(
    "H9",
    "How long is a full packet on the wire?",
    5,
    "the paper names no code: what Ethernet has, 1082 B with preamble and gap",
    (
        Option("1082 B", "rocev2", "IEEE 802.3, RoCEv2"),
        Option("1048 B", "hpcc-ns3", _SIMULATOR),
    ),
)

DECISIONS: tuple[Decision[Any], ...] = (
    INITIAL_CREDITS,
    SENT,
    BASELINES,
    HPCC_RTT,
    FIG1_SENDERS,
    FIG4_SENDERS,
    FULL_RATE,
    WIRE,
)


def _with(*chosen: tuple[Decision[Any], int]) -> dict[str, str]:
    return {decision.id: decision.options[number].name for decision, number in chosen}


_C0_PATH = (INITIAL_CREDITS, 1)
_NS3 = ((HPCC_RTT, 1), (FIG1_SENDERS, 2), (WIRE, 1))
READINGS = (
    Reading("letter", "The paper's words, and the settings of each scheme's paper"),
    Reading(
        "as built",
        "C0 fills the path; DCQCN of the HPCC simulator, ExpressPass of its authors' simulator",
        _with(_C0_PATH, (BASELINES, 3)),
    ),
    Reading("C0 fills the path", "C0 is what fills the path between ToRs", _with(_C0_PATH)),
    Reading("S ahead", "S counts what has joined the VOQ", _with((SENT, 1))),
    Reading(
        "simulator",
        "C0 fills the path; the others as in the HPCC simulator, bursts from the receiver's pod",
        _with(_C0_PATH, (BASELINES, 1), *_NS3),
    ),
    Reading(
        "mixed",
        "As simulator, but DCQCN and ExpressPass as in their papers",
        _with(_C0_PATH, (BASELINES, 2), *_NS3),
    ),
)
