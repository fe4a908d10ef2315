"""What ConWeave's paper leaves open or says otherwise than its code, and the readings of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocelab.papers.decisions import Decision, Option, Reading

Table = Mapping[str, Any]

_CODE = "the published simulator"
_TABLE = "the paper's table of parameters"

HEADER: Decision[str] = Decision(
    "C1",
    "How much longer does ConWeave make a data packet?",
    1,
    "two time stamps of 16 bits; all else takes reserved bits",
    (
        Option("4 B", "4B", "the paper's packet format"),
        Option("nothing", "0B", _CODE),
    ),
)
PATH_BUSY: Decision[str] = Decision(
    "C2",
    "How long is a path busy on which a packet was marked?",
    1,
    "the time in which a queue of Kmin drains",
    (
        Option("8 us", "8us", _TABLE),
        Option("16 us", "16us", _CODE),
    ),
)
RESUME_EXTRA: Decision[Mapping[str, str]] = Decision(
    "C3",
    "How much later than expected may a tail come before packets behind it are released?",
    1,
    "16 us with selective repeat, and 64 us where pauses may hold it up",
    (
        Option("16 us, with PFC 64 us", {"PFC": "64us", "IRN": "16us"}, _TABLE),
        Option("16 us", {"PFC": "16us", "IRN": "16us"}, _CODE),
    ),
)
CONGA: Decision[Table] = Decision(
    "C4",
    "Over what time does CONGA measure a link, and how long does it remember a path?",
    2,
    "the paper gives the gap between flowlets alone; the code measures over 250 us and forgets "
    "after 500 us",
    (
        Option("250 us, 500 us", {"dre_period": "50us", "alpha": 0.2, "age": "500us"}, _CODE),
        Option(
            "160 us, 10 ms",
            {"dre_period": "20us", "alpha": 0.125, "age": "10ms"},
            "CONGA's paper",
        ),
    ),
)
PFC_ALPHA: Decision[float] = Decision(
    "C5",
    "How much of the free buffer may one ingress take before PFC pauses it?",
    2,
    "the paper gives the size of the buffer alone",
    (
        Option("1/16", 1 / 16, _CODE),
        Option("1/8", 1 / 8, "the HPCC simulator"),
    ),
)
ACKS: Decision[Table] = Decision(
    "C6",
    "Do ACKs wait behind data?",
    2,
    "they have a class of their own, which goes first",
    (
        Option("no", {"ack": 6, "control": 6, "strict": [6]}, _CODE),
        Option("yes", {"ack": "data", "strict": []}, "the HPCC simulator"),
    ),
)
OWN_MEMORY: Decision[bool] = Decision(
    "C7",
    "Do packets that wait for a tail take room in the switch's buffer?",
    2,
    "the experiments are those of a simulator, whose switches keep them apart until they leave",
    (
        Option("no", True, _CODE),
        Option("yes", False, "the paper's switch, where paused queues of a port hold them"),
    ),
)
CONGA_FORM: Decision[bool] = Decision(
    "C8",
    "What does CONGA measure, and among which uplinks does a flow choose?",
    2,
    "the paper says no more of CONGA than its gap; in the code ports count data when it arrives, "
    "and a flow chooses among four neighbouring uplinks",
    (
        Option("arrivals, four uplinks", True, _CODE),
        Option("departures, all uplinks", False, "CONGA's paper"),
    ),
)
DRILL_FORM: Decision[bool] = Decision(
    "C9",
    "For whom does DRILL remember the best port?",
    2,
    "the paper gives the numbers of ports that are drawn and remembered alone",
    (
        Option("each destination host", True, _CODE),
        Option("each group of next hops", False, "rocelab's own DRILL"),
    ),
)
RECOVERY: Decision[bool] = Decision(
    "C10",
    "What does a sender with selective repeat send again after a gap?",
    2,
    "the paper says which kind of recovery it has, and not what that sends",
    (
        Option("all that has no answer", True, _CODE),
        Option("what a later packet overtook", False, "IRN's paper"),
    ),
)
PAUSES: Decision[Mapping[str, Table]] = Decision(
    "C11",
    "How long does a pause last, and when does a switch take it back?",
    2,
    "in the code a pause lasts 5 us and is sent again with each packet that arrives above the "
    "threshold; it is taken back just below that; what is stored fills the shared buffer before "
    "any headroom",
    (
        Option(
            "5 us or until below the threshold",
            {
                "pfc": {
                    "pause_time": "5us",
                    "refresh": "arrivals",
                    "reserve": "2096B",
                    "resume_offset": "1B",
                },
                "quirks": {"conweave_buffer": True},
            },
            _CODE,
        ),
        Option(
            "until 3 KB below the threshold",
            {"pfc": {"reserve": "4096B", "resume_offset": "3072B"}, "quirks": {}},
            "the HPCC simulator",
        ),
    ),
)

DECISIONS: tuple[Decision[Any], ...] = (
    HEADER,
    PATH_BUSY,
    RESUME_EXTRA,
    CONGA,
    PFC_ALPHA,
    ACKS,
    OWN_MEMORY,
    CONGA_FORM,
    DRILL_FORM,
    RECOVERY,
    PAUSES,
)

READINGS = (
    Reading("letter", "The paper's parameters; where it gives none, those of the code it names"),
    Reading(
        "code",
        "The parameters of the published simulator's scripts",
        {"C1": "nothing", "C2": "16 us", "C3": "16 us"},
    ),
    Reading(
        "one buffer",
        "Packets that wait for a tail take room in the switch's buffer, and PFC counts them",
        {"C7": "yes"},
    ),
    Reading(
        "own papers",
        "CONGA, DRILL, selective repeat and PFC as their own papers have them, and not the code",
        {
            "C4": "160 us, 10 ms",
            "C8": "departures, all uplinks",
            "C9": "each group of next hops",
            "C10": "what a later packet overtook",
            "C11": "until 3 KB below the threshold",
        },
    ),
)
