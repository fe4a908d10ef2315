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
        (
            "eight bursts of 50 KB that last about 500 us: each of the eight hosts sends six, 20 "
            "us apart, whether or not those before have arrived; they are posted within 100 us, "
            "and it is their 2.4 MB that take the last link some 500"
        ),
        "figures 11 to 14: means of two seeds",
        "PACC is reconstructed",
        (
            "Mercury runs over DCQCN as in its paper and is congested above that one's Kmin, as "
            "the paper gives no threshold"
        ),
        (
            "figures 13 and 14 are of Hadoop and WebServer, as all numbers in the text and the "
            "caption of figure 13 say; a sentence there has CacheFollower and WebSearch"
        ),
        (
            "variants with the ns-3 set: Mercury over the HPCC simulator's DCQCN, congested above "
            "that one's Kmin, compared with DCQCN and DCQCN+TCD of that set"
        ),
    ),
    departures=(
        (
            "variants with the ns-3 set have DCQCN as in the HPCC simulator, where the paper has "
            "the settings of DCQCN's paper, because the paper names no threshold and builds on "
            "open-source code; that most claims hold with this set was seen afterwards, and is no "
            "reason to take it for the paper's: the claims are those with DCQCN as in its paper"
        ),
        (
            "variants of figures 3 and 9 have an Xoff of 80 KB, where the paper has 320, because "
            "at 320 no pause goes back to P2 here"
        ),
    ),
)
