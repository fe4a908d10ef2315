"""RCM: Liu et al., "Regional Congestion Mitigation in Lossless Datacenter Networks", 2017."""

from __future__ import annotations

from rocelab.papers.model import Paper
from rocelab.papers.rcm.burst import FIG6
from rocelab.papers.rcm.decisions import DECISIONS, READINGS
from rocelab.papers.rcm.groups import FIG9
from rocelab.papers.rcm.hot_spots import FIG8
from rocelab.papers.rcm.victim import FIG7

PAPER = Paper(
    id="rcm",
    citation='Liu et al., "Regional Congestion Mitigation in Lossless Datacenter Networks", NPC '
    "2017",
    looks={
        "RCM": 0,
        "DCQCN": 1,
        "PFC alone": 2,
        "BurstFlow": 0,
        **{f"IncastFlow {flow}": look for flow, look in enumerate((1, 2, 3, 4))},
    },
    figures=(FIG6, FIG7, FIG8, FIG9),
    assumptions=(
        (
            "links of 1 us, a payload of 1000 B; throughput counts headers, preamble and gap in "
            "fig6 and fig7, payload alone in fig8"
        ),
        "CIOQ switches for all, speed-up 2",
        (
            "an input has room for 100 KB in each VOQ: four in the small networks, as many as the "
            "switch has ports in fat trees; Xoff is 30 KB below that room"
        ),
        "parameters that the paper does not give are those of the preset rcm",
        (
            "fig6 has three switches and six hosts in place of the fat tree of 432, and fig7 four "
            "switches and seven hosts: nobody else sends there, and all that counts is by which "
            "ports flows come to a switch"
        ),
        "fig6: means of 16 seeds; what its samples hit upon makes single runs differ",
        "fig7: means of 8 seeds, which make ECMP choose the figure's paths",
        "fig8, fig9: means of three seeds",
        "fig8: messages of 32 to 96 KB, every eighth host is hot, groups of fig9 are pods",
        "fig8: messages arrive for 300 us, and a run goes on until all have ended",
        (
            "fig8: at an injection of 40, 60 and 80 % hot hosts are offered 82, 123 and 164 % of "
            "their link as payload, so that queues grow at the latter two as long as messages "
            "arrive; throughput counts what ended by then, and so falls as the injection rises"
        ),
        (
            "a reserved buffer that is almost full starts SAR in section 3.1: here a queue with "
            "half of the greatest Fb does, as what is reserved is not said"
        ),
        "moved flows are reordered, and hosts go back by all that was missed, as RoCE's do",
        "fig9: the pie charts, shares of mice and elephants, are not made",
    ),
    decisions=DECISIONS,
    readings=READINGS,
)
