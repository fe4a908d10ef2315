"""What RCM's paper leaves open or says twice, and the readings of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocelab.papers.decisions import Decision, Option, Reading

Params = Mapping[str, Any]

_DEFAULT = "this simulator's default, rcm.md"

HARMFUL: Decision[Params] = Decision(
    "R1",
    "Which flows of the CAM are harmful?",
    1,
    'section 3.3 ends with a definition: "the flows whose IDs are being stored in the CAM"; that '
    "they have a high rate is a sentence before it",
    (
        Option("any flow in the CAM", {"harmful_share": 0.0}, "section 3.3"),
        Option(
            "a flow with at least the mean's entries",
            {"harmful_share": 1.0},
            'section 3.3, "relatively high injection rate"; rcm.md',
        ),
    ),
)
CUT: Decision[Params] = Decision(
    "R2",
    "What does a sample or notification cut?",
    1,
    "equations 4 and 5 are recurrences: each cuts what the last one left",
    (
        Option("what the last cut left", {"cut_rule": "compound"}, "equations 4 and 5"),
        Option("what was measured", {"cut_rule": "measured"}, _DEFAULT),
    ),
)
WAIT: Decision[Params] = Decision(
    "R3",
    "Do harmful flows that have spent Wc wait where the link idles?",
    5,
    "the paper has them wait until W has been sent, but where nobody else sends W never ends; so "
    "a root, whose link is the congested one, lets them use what would be idle",
    (
        Option("not at the root", {"release_rule": "root"}, "section 3.4, as far as it can run"),
        Option(
            "always, until W could have left",
            {"release_rule": "never"},
            "section 3.4; the limit of time is rcm.md's",
        ),
    ),
)
DETOUR: Decision[Params] = Decision(
    "R4",
    "Which flows does SAR move, and from when on?",
    1,
    'section 3.4 has "non-congested or new flows" and "several" notifications, section 3.1 a '
    "neighbour's notification again or a reserved buffer that is almost full: any flow, from two "
    "notifications in a row or half of the greatest Fb on",
    (
        Option(
            "any flow, from two notifications on",
            {"detour": "any", "detour_notices": 2, "detour_degree": 0.5},
            "sections 3.1 and 3.4",
        ),
        Option(
            "new flows alone",
            {"detour": "new-flows", "detour_notices": 2, "detour_degree": 0.5},
            'section 3.1, "especially new flows"',
        ),
        Option(
            "any flow, at any degree of congestion",
            {"detour": "any", "detour_notices": 2, "detour_degree": 0.0},
            'section 3.4, "itself undergoing congestion"',
        ),
    ),
)
NEW: Decision[Params] = Decision(
    "R5",
    "When is a flow new at a switch?",
    1,
    'a "new" flow is one that begins; the longest time without a packet that PFC causes here is '
    "below 5 ms",
    (
        Option("after 5 ms without a packet", {"flow_gap": "5ms"}, "section 3.4"),
        Option("after 500 us", {"flow_gap": "500us"}),
        Option("after 50 us", {"flow_gap": "50us"}, _DEFAULT),
    ),
)
QUEUES: Decision[bool] = Decision(
    "R6",
    'What holds 100 KB, "each queue in the switch"?',
    1,
    "each VOQ is a queue; they share their input's room here, as PFC pauses an input",
    (
        Option("each VOQ", True, "section 4.1"),
        Option("all VOQs of an input", False, _DEFAULT),
    ),
)
EQUILIBRIUM: Decision[Params] = Decision(
    "R7",
    "What is Q_eq?",
    5,
    "20 KB, a fifth of the queue, QCN's ratio",
    (
        Option("20 KB", {}, "QCN, rcm.md"),
        Option("16 KB, where a full queue has the greatest Fb", {"equilibrium": "16KB"}),
    ),
)
MARKING: Decision[Mapping[str, Any]] = Decision(
    "R8",
    "Where do switches mark?",
    3,
    "as in DCQCN's paper; the adapter's defaults, which the paper names, say nothing on switches",
    (
        Option(
            "as in DCQCN's paper",
            {"kmin": "5KB", "kmax": "200KB", "pmax": 0.01, "reference_rate": "40Gbps"},
            "DCQCN's paper",
        ),
        Option(
            "as in the HPCC simulator",
            {"kmin": "100KB", "kmax": "400KB", "pmax": 0.2, "reference_rate": "25Gbps"},
            "the HPCC simulator",
        ),
    ),
)
ORDER: Decision[Mapping[str, Any]] = Decision(
    "R9",
    "What does a receiver do with packets that SAR has reordered?",
    5,
    'the paper leaves reordering open ("not performed in-depth study"); most RoCE NICs discard '
    "what is out of order, and the sender goes back",
    (
        Option("discards them", {}, "RoCE's go-back-N, as in DCQCN's paper"),
        Option(
            "keeps them",
            {"reorder": 16384},
            "NICs for adaptive routing, which place data in any order",
        ),
    ),
)
TIMER: Decision[Params] = Decision(
    "R10",
    "What is DCQCN's increase timer?",
    1,
    'section 4.1: "default values for Mellanox 100G adapter", which have 300 us',
    (
        Option("300 us", {}, "section 4.1; Mellanox's defaults"),
        Option("55 us", {"increase_timer": "55us"}, "DCQCN's paper"),
    ),
)

OF_RCM = (HARMFUL, CUT, WAIT, DETOUR, NEW, EQUILIBRIUM)
"""The decisions on parameters of RCM itself."""

DECISIONS: tuple[Decision[Any], ...] = (
    HARMFUL,
    CUT,
    WAIT,
    DETOUR,
    NEW,
    QUEUES,
    EQUILIBRIUM,
    MARKING,
    ORDER,
    TIMER,
)

_AS_BUILT = {
    "R1": "a flow with at least the mean's entries",
    "R2": "what was measured",
    "R4": "new flows alone",
    "R6": "all VOQs of an input",
}
READINGS = (
    Reading("letter", "The paper's words, as far as they can run"),
    Reading(
        "letter, order kept",
        "The same, but SAR moves new flows alone, as moved flows are reordered",
        {"R4": "new flows alone"},
    ),
    Reading(
        "letter, strict",
        "Harmful flows wait at the root, too, and SAR moves any flow at any congestion",
        {
            "R3": "always, until W could have left",
            "R4": "any flow, at any degree of congestion",
        },
    ),
    Reading(
        "letter, any order",
        "The paper's words, and receivers that keep what is out of order",
        {"R9": "keeps them"},
    ),
    Reading("as built", "This simulator's preset rcm", {**_AS_BUILT, "R5": "after 50 us"}),
    Reading("as built, gap 5 ms", "The same, but a flow is new after 5 ms", _AS_BUILT),
)
