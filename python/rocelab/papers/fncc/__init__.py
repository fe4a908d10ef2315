"""FNCC: Xu et al., "FNCC: Fast Notification Congestion Control in Data Center Networks", 2024."""

from rocelab.papers.fncc import fat_tree, hops, int_format, join
from rocelab.papers.fncc.decisions import DECISIONS, READINGS
from rocelab.papers.model import Paper

PAPER = Paper(
    id="fncc",
    citation='Xu et al., "FNCC: Fast Notification Congestion Control in Data Center Networks", '
    "2024",
    looks={
        "FNCC": 0,
        "HPCC": 1,
        "DCQCN": 2,
        "RoCC": 3,
        "FNCC without LHCS": 4,
        "FNCC with exact INT": 0,
        "FNCC with 64-bit INT": 1,
        "flow 0": 5,
        "flow 1": 6,
        "flow 2": 7,
        "flow 3": 8,
    },
    figures=(
        join.FIG1,
        join.FIG3,
        join.FIG9,
        hops.FIG12,
        hops.FIG13,
        fat_tree.FIG14,
        fat_tree.FIG15,
        int_format.HW,
    ),
    assumptions=(
        (
            "an MTU of 1518 B is 1456 B of payload; INT and RETH come on top of it: frames of HPCC "
            "have 1560 B, the first of a message 16 B more; an ACK for every packet"
        ),
        "Xoff and Xon are the same at all rates; Xon is two packets less than Xoff",
        "buffers of 32 MB",
        "fig14: arrivals for 20 ms, fig15: for 10 ms; of each run the first tenth is left out",
        "figure 11 is a drawing: joining flows start at the switch whose port is congested",
        (
            'fig14: of flows above 1 MB section 5.5 says "up to" 12.4 and 42.8 %, the caption 12.4 '
            "and 42.8 %; both are claims: the largest change of the median over sizes above 1 MB, "
            "and the median of all these flows"
        ),
        "of figure 1 only (b) to (d) are made: (a), trends of hardware, is no experiment",
    ),
    decisions=DECISIONS,
    readings=READINGS,
)
