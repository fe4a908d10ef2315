"""What Mercury's paper leaves open or says twice, and the readings of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocelab.papers.decisions import Decision, Option, Reading

Scheme = Mapping[str, Any]
Params = Mapping[str, Any]

OVER_DCQCN = ("DCQCN", "DCQCN+TCD", "PACC", "Mercury")
"""The schemes whose senders are DCQCN's."""


@dataclass(frozen=True)
class Baselines:
    """The schemes of a reading, and the packets' sizes on the wire."""

    schemes: Mapping[str, Scheme]
    wire: str
    """The profile."""
    senders: Params = field(default_factory=dict)
    """Parameters of all schemes over DCQCN."""
    marks_in_acks: bool = False
    """Whether ACKs carry marks to the sender in place of CNPs, with DCQCN."""
    coded_int: bool = False
    """Whether HPCC has the simulator's INT records, which have no code for all link rates."""


_PAPERS: Mapping[str, Scheme] = {
    "Timely": {"name": "timely", "preset": "timely-paper"},
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-paper"},
    "DCQCN+TCD": {"name": "dcqcn+tcd", "preset": "dcqcn-paper+tcd"},
    "PACC": {"name": "pacc", "preset": "pacc"},
    "HPCC": {"name": "hpcc", "preset": "hpcc-paper"},
    "Mercury": {"name": "mercury", "preset": "mercury-paper"},
}
_NS3: Mapping[str, Scheme] = {
    "Timely": {"name": "timely", "preset": "timely-hpcc"},
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-hpcc"},
    "DCQCN+TCD": {"name": "dcqcn+tcd", "preset": "dcqcn-hpcc+tcd"},
    "PACC": {"name": "pacc", "preset": "pacc-ns3"},
    "HPCC": {"name": "hpcc", "preset": "hpcc-ns3"},
    "Mercury": {"name": "mercury", "preset": "mercury-ns3"},
}
_NS3_PAPER: Mapping[str, Scheme] = {
    **_NS3,
    "DCQCN": {"name": "dcqcn", "preset": "dcqcn-hpcc-paper"},
    "DCQCN+TCD": {"name": "dcqcn+tcd", "preset": "dcqcn-hpcc-paper+tcd"},
    "PACC": {"name": "pacc", "preset": "pacc-ns3-paper"},
    "Mercury": {"name": "mercury", "preset": "mercury-ns3-paper"},
}
_CODE_PAPERS_VALUES: Mapping[str, Scheme] = {
    **_PAPERS,
    "Timely": {**_PAPERS["Timely"], "params": {"variant": "ns3"}},
    "HPCC": {"name": "hpcc", "preset": "hpcc-ns3", "params": {"max_stage": 5, "rate_ai": "0bps"}},
}
_CODE_SENDERS: Params = {
    # The simulator's reaction point with the values of DCQCN's paper: K and T of 55 us, F of 5,
    # and N, 50 us, as the least time between two cuts. It has no byte counter.
    "variant": "mellanox",
    "decrease_interval": "50us",
    "byte_counter": "0B",
    "clamp_target": False,
    "min_rate": "1Gbps",
}

BASELINES: Decision[Baselines] = Decision(
    "M1",
    "Which code and which parameters have the compared schemes, and the DCQCN under Mercury?",
    1,
    'section "Experiment settings" has two sentences, and both can be obeyed: "implemented based '
    'on the open-source code [29]" and "the parameter settings recommended in their papers". That '
    "[29] is the HPCC simulator is assumed: the list of references is not in the text at hand",
    (
        Option(
            "the code's forms, the papers' values",
            Baselines(_CODE_PAPERS_VALUES, "hpcc-ns3", _CODE_SENDERS, True, True),
            "Experiment settings, both sentences",
        ),
        Option(
            "the papers' forms and values",
            Baselines(_PAPERS, "rocev2"),
            "Experiment settings, the second sentence",
        ),
        Option(
            "the code's mode dcqcn_paper",
            Baselines(_NS3_PAPER, "hpcc-ns3", coded_int=True),
            "the HPCC simulator's run.py",
        ),
        Option(
            "the code's defaults",
            Baselines(_NS3, "hpcc-ns3", coded_int=True),
            "the HPCC simulator's run.py",
        ),
    ),
)
FIRST_ALPHA: Decision[Params] = Decision(
    "M2",
    "What is DCQCN's alpha at the first notification?",
    3,
    "DCQCN's paper and the HPCC simulator begin with 1",
    (
        Option("1", {}, "DCQCN's paper, section 3.1"),
        Option("0.5", {"initial_alpha": 0.5}, "the simulator of DCQCN's authors, its first value"),
        Option("0.1", {"initial_alpha": 0.1}),
    ),
)
THRESHOLD: Decision[Params] = Decision(
    "M3",
    'What is "the specified congestion threshold"?',
    5,
    "Kmin of the reading's DCQCN, as Mercury takes the place of its marking",
    (
        Option("Kmin of DCQCN", {}, "mercury.md"),
        Option("100 KB at 100 Gb/s", {"congestion_threshold": "100KB"}),
        Option("400 KB at 100 Gb/s", {"congestion_threshold": "400KB"}, "Kmin, HPCC simulator"),
    ),
)
WINDOW: Decision[Params] = Decision(
    "M4",
    "Whose packets in flight does a CNP's window limit?",
    1,
    'the flow table goes by [sip, dip], and the window limits the packets in flight of that "flow"',
    (
        Option(
            "a pair of hosts, all its QPs together", {"window_scope": "host-pair"}, "Algorithm 2"
        ),
        Option("a pair of hosts, each QP the whole window", {}, "mercury.md"),
        Option("a QP", {"flow_key": "five-tuple"}),
    ),
)
SMALL_PFC: Decision[Mapping[str, Any]] = Decision(
    "M5",
    "What does an Xoff of 320 KB count?",
    2,
    "a fixed threshold, of each ingress port and priority as the HPCC simulator's switches count",
    (
        Option(
            "each ingress port",
            {"threshold": "static", "xoff": "320KB", "xon": "318KB"},
            "Parameter settings; the HPCC simulator's MMU",
        ),
        Option(
            "dynamic thresholds of 1/8",
            {"threshold": "dynamic", "alpha": 0.125},
            "the HPCC simulator",
        ),
        Option("70 KB", {"threshold": "static", "xoff": "70KB", "xon": "68KB"}),
    ),
)
MARKING: Decision[str] = Decision(
    "M7",
    "Are packets marked as they leave or as they join a queue?",
    2,
    "as they leave, in the HPCC simulator",
    (
        Option("as they leave", "dequeue", "the HPCC simulator"),
        Option("as they join", "enqueue", "RED as commonly drawn"),
    ),
)
RATE_SCALE: Decision[bool] = Decision(
    "M8",
    "Are DCQCN's steps, given for 40 Gb/s, scaled with the hosts' rate?",
    2,
    "the HPCC simulator scales them with the hosts' rate; where hosts have 20 and 40 Gb/s, with "
    "the lower one: 20 Mb/s at all hosts of figures 3 and 9",
    (
        Option("with the hosts' rate", True, "the HPCC simulator's run.py"),
        Option("40 Mb/s at all rates", False, "DCQCN's paper"),
    ),
)
NOTICES: Decision[Params] = Decision(
    "M10",
    "How long after a CNP does a port send the next to a flow?",
    5,
    "50 us, DCQCN's N; without one for 55 us the window no longer limits",
    (
        Option("50 us", {}, "mercury.md"),
        Option("10 us", {"notice_interval": "10us"}),
    ),
)

DECISIONS: tuple[Decision[Any], ...] = (
    BASELINES,
    FIRST_ALPHA,
    THRESHOLD,
    WINDOW,
    SMALL_PFC,
    MARKING,
    RATE_SCALE,
    NOTICES,
)

READINGS = (
    Reading(
        "code-with-papers-values",
        "Forms of the HPCC simulator, values of each scheme's paper",
    ),
    Reading(
        "papers", "Forms and values of each scheme's paper", {"M1": "the papers' forms and values"}
    ),
    Reading(
        "dcqcn_paper",
        "The HPCC simulator with its own mode for the values of DCQCN's paper",
        {"M1": "the code's mode dcqcn_paper"},
    ),
    Reading("simulator", "The HPCC simulator's defaults", {"M1": "the code's defaults"}),
)
