"""Mercury: He et al., Journal of Cloud Computing 2024."""

from rocelab.papers.mercury import loads, micro
from rocelab.papers.model import Paper

PAPER = Paper(
    id="mercury",
    citation='He et al., "Mercury: accurate and fast congestion feedback for MEC-enabled RDMA data '
    'centers", Journal of Cloud Computing 2024',
    figures=(
        micro.FIG3,
        micro.FIG4,
        micro.FIG9,
        loads.FIG10,
        loads.FIG11,
        loads.FIG12,
        loads.FIG13,
        loads.FIG14,
    ),
    looks={
        "DCQCN": 0,
        "HPCC": 1,
        "Mercury": 2,
        "Timely": 3,
        "DCQCN+TCD": 4,
        "PACC": 5,
        "Mercury, ns-3 set": 6,
        "DCQCN, ns-3 set": 0,
        "DCQCN+TCD, ns-3 set": 4,
        "F1": 0,
        "F2": 1,
    },
    assumptions=(
        "a payload of 1000 B; Xoff and Xon of each ingress port and priority; buffers of 32 MB",
        "the eight burst hosts and R1 are at the last switch, so that F1 does not cross P3",
        "DCQCN, TCD, Timely and HPCC as in their papers; PACC is reconstructed",
        "Mercury over DCQCN as in its paper, congested above that one's Kmin",
        "the ns-3 set is Mercury over the HPCC simulator's DCQCN, and that one's Kmin",
        "in figures 11 to 14 it is compared with DCQCN and DCQCN+TCD of the same set",
        "which set is meant: most claims of figures 11 to 14 hold with the ns-3 set",
    ),
)
