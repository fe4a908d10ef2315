"""ConWeave: Song et al., rerouting with reordering in switches, SIGCOMM 2023."""

from __future__ import annotations

from rocelab.papers.conweave.decisions import DECISIONS, READINGS
from rocelab.papers.conweave.figures import FIG12, FIG13, FIG14, FIG15
from rocelab.papers.conweave.setup import FIVE
from rocelab.papers.model import Paper

PAPER = Paper(
    id="conweave",
    citation='Song et al., "Network Load Balancing with In-network Reordering Support for RDMA", '
    "SIGCOMM 2023",
    figures=(FIG12, FIG13, FIG14, FIG15),
    looks={**{name: look for look, name in enumerate(FIVE)}, "PFC": 0, "IRN": 1},
    assumptions=(
        "eight leaves and eight spines, 16 hosts on each leaf; 100 Gb/s and 1 us on all links",
        "AliStorage2019; a load of 50 % is that of the uplinks, and half of it that of each host",
        "arrivals for 100 ms, of which the first 5 are left out; three seeds",
        (
            "buffers of 9 MiB, which the simulator takes for 9 MB; Kmin 100 KB, Kmax 400 KB and "
            "Pmax 0.2 at all ports"
        ),
        (
            "DCQCN as its simulator's scripts have it for Mellanox NICs: 40 and 100 Mb/s, 300 us, "
            "a cut every 4 us at most, at least 100 Mb/s, no window; packets out of order make CNPs"
        ),
        "selective repeat (IRN): 104 KB, a BDP, may be in flight, as in the simulator's scripts",
        "flowlets end with 100 us of silence; DRILL compares two drawn ports and the last best one",
        (
            "DRILL is in figure 14 alone, and no claim on completion times is against it; with "
            "selective repeat its mean slowdown is 1.71 at 50 % load, above ConWeave's 1.36, and "
            "209 at 80 %, where packets sent again after timeouts fill the buffers (three seeds, "
            "29 November 2026)"
        ),
        (
            "the quick version is too short for what PFC does in the reading `one buffer` at 80 % "
            "load: over 100 ms the mean slowdown of ConWeave was 8.1 there, and that of CONGA "
            "5.7 (three seeds, 29 November 2026)"
        ),
        "figure 15 is of the paper's figures 15 and 16, and has the largest values alone",
        (
            "figures 12 to 16 alone are made, and not those of other topologies, workloads and "
            "parameters, nor of the testbed"
        ),
    ),
    decisions=DECISIONS,
    readings=READINGS,
)
