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
        "RCM, cuts of cuts": 4,
        "RCM without SAR": 3,
        "RCM without RCC": 4,
        "RCM, no marking": 5,
        "RCM, timer 55 us": 6,
        "BurstFlow": 1,
        **{f"IncastFlow {flow}": look for flow, look in enumerate((0, 2, 3, 4))},
    },
    figures=(FIG6, FIG7, FIG8, FIG9),
    assumptions=(
        (
            "links of 1 us, a payload of 1000 B; throughput counts headers, preamble and gap in "
            "fig6 and fig7, payload alone in fig8"
        ),
        "CIOQ switches for all, speed-up 2; Xoff is 70 and Xon 50 KB of an input queue",
        "marking as in DCQCN's paper, at output queues",
        "RCM as its page says; the paper gives no value of any parameter",
        "fig6: means of 16 seeds; what its samples hit upon makes single runs differ",
        "fig7: means of 8 seeds, which make ECMP choose the paths",
        "fig8, fig9: means of three seeds",
        "fig8: messages of 32 to 96 KB, every eighth host is hot, groups of fig9 are pods",
        "fig8: messages arrive for 300 us, and a run goes on until all have ended",
        (
            "fig8: at an injection of 40, 60 and 80 % hot hosts are offered 82, 123 and 164 % of "
            "their link as payload, 89, 133 and 177 % with headers, so that queues grow at the "
            "latter two as long as messages arrive; by then 85, 58 and 38 % of the messages have "
            "ended with DCQCN, 85, 60 and 40 % with RCM, 85, 58 and 38 % without SAR, 86, 60 and "
            "40 % without RCC"
        ),
    ),
    departures=(
        (
            "fig6 has three switches and six hosts in place of a fat tree of 432, because nobody "
            "else sends there, and all that counts is by which ports the flows come to the last "
            "switch"
        ),
        (
            "fig7 has two ToR and two aggregation switches and seven hosts in place of the fat "
            "tree, because nobody else sends there either, and few seeds give ECMP the figure's "
            "paths"
        ),
        "all VOQs of an input share 100 KB, where each queue has them, because PFC pauses a port",
        (
            "a flow is harmful that has at least as many entries in the CAM as the mean flow "
            "there, where the paper has any flow in the CAM, because then the four are harmful, "
            "too, and the burst has 68.5 Gb/s (fig6), though the victim of fig7 has 47.8"
        ),
        (
            "a sample cuts what was measured, where equations 4 and 5 cut what the last cut left, "
            "because then a window does not grow again before congestion is over: the burst of "
            "fig6 has its quarter, but of fig7 the victim has 33.6 Gb/s in place of 43.4 and the "
            "incast 57.9 in place of 97.4, and in fig9 enterprise has 96.4 % of DCQCN's mean FCT "
            "in place of 85.0 and data mining 111 in place of 96.6; 15 of the 21 claims hold with "
            "it, 16 without"
        ),
        (
            "a root lets held flows use what else is idle, where the paper has them wait for the "
            "window's end, because then its link idles: the four have 15.4 Gb/s each before the "
            "burst comes (fig6), and the incast 44.9 together (fig7)"
        ),
        (
            "SAR moves new flows alone, where the paper has any other flow, too, because one that "
            "is moved while it sends is reordered"
        ),
    ),
)
