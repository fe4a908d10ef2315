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
        "an MTU of 1518 B is 1456 B of payload; an ACK for every packet, in a priority of its own",
        "Xoff is 500 KB for each ingress port and priority at all rates, Xon two packets less",
        "buffers of 32 MB",
        "DCQCN as in its paper, rates and marking thresholds scaled to the link rate",
        "RoCC with its 100G set, queue levels scaled to the link rate; HPCC as in its paper",
        "LHCS at every ACK, as in Algorithm 3",
        "N counts flows with data in this or the last base round trip",
        "symmetric ECMP for all schemes, so that their paths are the same",
        "Figure 11 is a drawing: joining flows start at the switch whose port is congested",
    ),
)
