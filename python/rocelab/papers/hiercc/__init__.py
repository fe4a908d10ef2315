"""HierCC: Zhang et al., "HierCC: Hierarchical RDMA Congestion Control", APNet 2021."""

from __future__ import annotations

from rocelab.papers.hiercc.bursts import FIG4
from rocelab.papers.hiercc.decisions import DECISIONS, READINGS
from rocelab.papers.hiercc.hpcc import FIG1, FIG2
from rocelab.papers.hiercc.loads import FIG5
from rocelab.papers.hiercc.racks import RACKS
from rocelab.papers.model import Paper

PAPER = Paper(
    id="hiercc",
    citation='Zhang et al., "HierCC: Hierarchical RDMA Congestion Control", APNet 2021',
    figures=(FIG1, FIG2, FIG4, FIG5, RACKS),
    looks={
        "HierCC": 0,
        "DCQCN": 1,
        "HPCC": 2,
        "TIMELY": 3,
        "ExpressPass": 4,
        "RTT 12 µs": 0,
        "RTT 6 µs": 1,
        "fullest": 0,
        "after 100 µs": 1,
        "racks x C0": 2,
    },
    assumptions=(
        "a payload of 1000 B; PFC with dynamic thresholds; buffers of 32 MB",
        "fig1, fig2 and fig4: long flows come from other pods than the receiver's",
        (
            "fig2: 100 KB each from hosts drawn at random, beside the two long flows of fig1; the "
            "paper gives none of these, and beyond a window the size does not count"
        ),
        (
            "fig4: (b) is the queue at the receiver, with the VOQ beside it, as the paper does not "
            "say which it shows"
        ),
        "fig5: loads of 30 to 80 %, arrivals for 10 ms, two seeds",
        (
            "parameters that the paper does not give are those of the preset hiercc-paper, among "
            "them the least rate of a sender, min_rate"
        ),
    ),
    decisions=DECISIONS,
    readings=READINGS,
)
