"""Mercury: He et al., Journal of Cloud Computing 2024."""

from rocelab.papers.mercury import loads, micro
from rocelab.papers.mercury.decisions import DECISIONS, READINGS
from rocelab.papers.model import Paper

PAPER = Paper(
    id="mercury",
    citation='He et al., "Accurate and fast congestion feedback in MEC-enabled RDMA datacenters", '
    "Journal of Cloud Computing 13:72, 2024",
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
        "Mercury": 0,
        "DCQCN": 1,
        "HPCC": 2,
        "Timely": 3,
        "DCQCN+TCD": 4,
        "PACC": 5,
        "F1": 0,
        "F2": 1,
    },
    assumptions=(
        "a payload of 1000 B; buffers of 32 MB",
        "figures 3, 4, 9 and 10: links of hosts have a delay of 4 us, too",
        "the eight burst hosts and R1 are at the last switch, so that F1 does not cross P3",
        (
            "eight bursts of 50 KB that last about 500 us contradict each other, as eight times 50 "
            "KB are 80 us at 40 Gb/s: each of the eight hosts sends six, 20 us apart, whether or "
            "not those before have arrived; they are posted within 100 us, and it is their 2.4 MB "
            "that take the last link some 500"
        ),
        (
            "figure 10: H1 and H2 together offer 80 % of the 40 Gb/s that they share; arrivals for "
            "500 ms, means of five seeds"
        ),
        "figures 11 to 14: loads of 30 to 80 %, arrivals for 10 ms, means of two seeds",
        "PACC is reconstructed from a second-hand description",
        (
            "figures 13 and 14 are of Hadoop and WebServer, as all numbers in the text and the "
            "caption of figure 13 say; a sentence there has CacheFollower and WebSearch"
        ),
        (
            "figure 8, the workloads' distributions, is not made: about 60 % of Hadoop's flows are "
            "below 1 KB in the text, 60 % at 1000 B in the one used here"
        ),
        "the abstract's numbers on the tail are those of figure 13",
    ),
    decisions=DECISIONS,
    readings=READINGS,
)
