"""FNCC: Xu et al., "FNCC: Fast Notification Congestion Control in Data Center Networks", 2024."""

from rocelab.papers.fncc import dumbbell, fat_tree
from rocelab.papers.fncc.schemes import COMMON, FOUR, TABLE
from rocelab.papers.model import Paper

__all__ = ["COMMON", "PAPER"]

PAPER = Paper(
    id="fncc",
    citation='Xu et al., "FNCC: Fast Notification Congestion Control in Data Center Networks", '
    "2024",
    looks={
        **{name: look for look, name in enumerate(FOUR)},
        "FNCC without LHCS": 4,
        TABLE: 5,
        "FNCC with 64-bit INT": 0,
        "flow 0": 0,
        "flow 1": 3,
        "flow 2": 5,
        "flow 3": 6,
    },
    figures=(
        dumbbell.FIG1,
        dumbbell.FIG3,
        dumbbell.FIG9,
        dumbbell.FIG12,
        dumbbell.FIG13,
        fat_tree.FIG14,
        fat_tree.FIG15,
        dumbbell.HW,
    ),
    assumptions=(
        (
            "an MTU of 1518 B is 1456 B of payload; INT and RETH come on top of it: frames of HPCC "
            "have 1560 B, the first of a message 16 B more; an ACK for every packet"
        ),
        (
            "the PFC threshold of 500 KB is Xoff of each ingress port and priority, at all rates; "
            "Xon is two packets less"
        ),
        "buffers of 32 MB",
        "DCQCN's rates and marking thresholds are scaled to the link rate",
        "RoCC with its 100G set, queue levels scaled to the link rate; HPCC as in its paper",
        "FNCC's tables are always up to date; the paper gives no period",
        "N counts flows with data in this or the last base round trip",
        "Figure 11 is a drawing: joining flows start at the switch whose port is congested",
        (
            "fig14: of flows above 1 MB section 5.5 says up to 12.4 and 42.8 %, the caption 12.4 "
            "and 42.8 % in the median; the section is taken, the largest change of the median over "
            "sizes above 1 MB, and variants have the caption, the median of all these flows"
        ),
    ),
    departures=(
        (
            "ACKs have a priority of their own, where section 5 has one service level for all: "
            "that is the default of this simulator; with ACKs among the data no verdict of the "
            "quick versions of figures 14 and 15 changes"
        ),
        (
            "the paths are those of symmetric ECMP, where section 3.1 employs spanning trees: "
            "section 5.5 has ECMP at ToR and aggregation switches, and all schemes are to have the "
            "same paths; with spanning trees for all no verdict of the quick versions of figures "
            "14 and 15 changes"
        ),
        "of figure 1 only (b) to (d) are made: (a), trends of hardware, is no experiment",
    ),
)
