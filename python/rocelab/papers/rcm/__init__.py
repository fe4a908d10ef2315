"""RCM: Liu et al., "Regional Congestion Mitigation in Lossless Datacenter Networks", 2017."""

from __future__ import annotations

from rocelab.papers.model import Paper
from rocelab.papers.rcm.burst import FIG6
from rocelab.papers.rcm.groups import FIG9
from rocelab.papers.rcm.hot_spots import FIG8
from rocelab.papers.rcm.victim import FIG7

PAPER = Paper(
    id="rcm",
    citation='Liu et al., "Regional Congestion Mitigation in Lossless Datacenter Networks", NPC '
    "2017",
    looks={
        "DCQCN": 0,
        "RCM": 1,
        "PFC alone": 2,
        "RCM, Q_eq 16 KB": 3,
        "RCM without SAR": 3,
        "RCM without RCC": 4,
        "RCM, no marking": 5,
        "RCM, timer 55 us": 6,
        "BurstFlow": 1,
        **{f"IncastFlow {flow}": look for flow, look in enumerate((0, 2, 3, 4))},
    },
    figures=(FIG6, FIG7, FIG8, FIG9),
    assumptions=(
        "links of 1 us, a payload of 1000 B; throughput counts headers, preamble and gap",
        "CIOQ switches for all, speed-up 2; 100 KB for a port and priority, Xoff 70, Xon 50 KB",
        "DCQCN with the adapter's defaults; marking as in its paper, at output queues; RCM on top",
        "RCM as its page says; the paper gives no value of any parameter",
        "fig6: the four hosts have links of 25 Gb/s; at 100 DCQCN cuts them before the burst comes",
        "fig6: means of 16 seeds; what its samples hit upon makes single runs differ",
        "fig7: means of 8 seeds, which make ECMP choose the paths",
        "fig8, fig9: means of three seeds",
        "fig8: messages of 32 to 96 KB, every eighth host is hot; fig9: groups are pods",
    ),
)
