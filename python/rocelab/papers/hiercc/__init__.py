"""HierCC: Zhang et al., "HierCC: Hierarchical RDMA Congestion Control", APNet 2021."""

from __future__ import annotations

from rocelab.papers.hiercc.bursts import FIG4
from rocelab.papers.hiercc.hpcc import FIG1, FIG2
from rocelab.papers.hiercc.loads import FIG5
from rocelab.papers.model import Paper

PAPER = Paper(
    id="hiercc",
    citation='Zhang et al., "HierCC: Hierarchical RDMA Congestion Control", APNet 2021',
    figures=(FIG1, FIG2, FIG4, FIG5),
    looks={
        "DCQCN": 0,
        "HPCC": 1,
        "HierCC": 2,
        "TIMELY": 3,
        "ExpressPass": 4,
        "HierCC to the letter": 5,
        "HierCC, S ahead": 6,
        "12 us": 0,
        "6 us": 1,
        "12 us, in the pod": 5,
        "6 us, in the pod": 4,
        "12 us, T of each path": 5,
        "6 us, T of each path": 4,
    },
    assumptions=(
        "a payload of 1000 B; PFC with dynamic thresholds; buffers of 32 MB",
        "links of 1 us, or of 0.5 us for a round trip of 6 us",
        "HPCC and TIMELY as in their papers, DCQCN as in the HPCC simulator",
        "ExpressPass as in its authors' simulator",
        "HierCC with a C0 that fills the path between ToRs",
        "HierCC to the letter has C0 = 10 KB; with S ahead, S counts what has joined the VOQ, too",
    ),
)
