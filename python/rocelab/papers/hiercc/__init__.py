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
        (
            "of suggested values HPCC and TIMELY have those of their papers, DCQCN those of the "
            "HPCC simulator, ExpressPass those of its authors' simulator"
        ),
        (
            "fig1: the bursts come from a rack of another pod; variants have them from all racks "
            "of the receiver's pod, and T of each path"
        ),
        (
            "fig4: the bursts come from the rack of the long flow; (b) is the queue at the "
            "receiver, with the VOQs beside it, as the paper does not say which it shows"
        ),
    ),
    departures=(
        (
            "HierCC's C0 is what fills the path between ToRs, 25 Gb/s times their round trip and a "
            "packet, 27 KB between pods, where section 5 has 10 KB, because with these a VOQ fills "
            "38 % of its link there (fig4); the paper's C0 is in the variants, to the letter"
        ),
        (
            "in the variants with S ahead S counts what has joined the VOQ, where section 3.2 has "
            "what has left it, because so the paper's C0 fills the link, too"
        ),
    ),
)
