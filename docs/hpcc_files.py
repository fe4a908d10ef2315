"""Writes the HPCC simulator's files of the comparison in performance.md.

``python docs/hpcc_files.py DIR`` makes a fat tree with k = 8, or with ``--network three-tier`` 320
hosts in 20 racks, WebSearch at 50 % for 1 ms drawn with seed 1, and a configuration for each law.
In DIR, ``rocelab hpcc hpcc.txt`` runs one, as does that simulator itself.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import rocelab

FIRST_START_S = 2.0
SPEEDS = (100, 400)
RED = {"KMIN": (400, 1600), "KMAX": (1600, 6400), "PMAX": (0.2, 0.2)}
DCTCP_RED = {"KMIN": (300, 1200), "KMAX": (300, 1200), "PMAX": (1, 1)}
"""Marking thresholds in KB and probabilities, for each of the speeds."""

FILES = {
    "TOPOLOGY_FILE": "topology.txt",
    "FLOW_FILE": "flow.txt",
    "TRACE_FILE": "trace.txt",
    "TRACE_OUTPUT_FILE": "mix.tr",
    "QLEN_MON_FILE": "qlen.txt",
}
OUTPUTS = ("FCT", "PFC")
COMMON = {
    "ENABLE_QCN": 1,
    "PACKET_PAYLOAD_SIZE": 1000,
    "SIMULATOR_STOP_TIME": 3.0,
    "ALPHA_RESUME_INTERVAL": 1,
    "RATE_DECREASE_INTERVAL": 4,
    "CLAMP_TARGET_RATE": 0,
    "RP_TIMER": 300,
    "EWMA_GAIN": 0.00390625,
    "FAST_RECOVERY_TIMES": 1,
    "MIN_RATE": "1000Mb/s",
    "L2_CHUNK_SIZE": 4000,
    "L2_ACK_INTERVAL": 1,
    "L2_BACK_TO_ZERO": 0,
    "GLOBAL_T": 1,
    "U_TARGET": 0.95,
    "MI_THRESH": 0,
    "RATE_BOUND": 1,
    "ENABLE_TRACE": 0,
    "QLEN_MON_START": 3000000000,
    "QLEN_MON_END": 3000000000,
    "BUFFER_SIZE": 32,
}
NO_WINDOW = {"HAS_WIN": 0, "VAR_WIN": 0, "FAST_REACT": 0, "INT_MULTI": 1, "ACK_HIGH_PRIO": 1}
WINDOW = {"HAS_WIN": 1, "VAR_WIN": 1, "ACK_HIGH_PRIO": 0}
LAWS = {
    "hpcc": {
        "CC_MODE": 3,
        **WINDOW,
        "FAST_REACT": 1,
        "INT_MULTI": 4,
        "RATE_AI": "50Mb/s",
        "RATE_HAI": "50Mb/s",
    },
    "dcqcn": {"CC_MODE": 1, **NO_WINDOW, "RATE_AI": "20Mb/s", "RATE_HAI": "200Mb/s"},
    "timely": {"CC_MODE": 7, **NO_WINDOW, "RATE_AI": "100Mb/s", "RATE_HAI": "500Mb/s"},
    "dctcp": {
        "CC_MODE": 8,
        **WINDOW,
        "FAST_REACT": 0,
        "INT_MULTI": 1,
        "DCTCP_RATE_AI": "615Mb/s",
        "EWMA_GAIN": 0.0625,
        "RATE_AI": "10Mb/s",
        "RATE_HAI": "10Mb/s",
    },
}
"""What its authors publish for 100 Gb/s hosts."""

HOST_LINKS = {"host_rate": "100Gbps", "host_delay": "1us"}
NETWORKS = {
    "fat-tree": {**HOST_LINKS, "k": 8, "rate": "400Gbps", "delay": "1us"},
    "three-tier": {
        **HOST_LINKS,
        "pods": 5,
        "tors_per_pod": 4,
        "aggs_per_pod": 4,
        "cores": 16,
        "hosts_per_tor": 16,
        "agg_rate": "400Gbps",
        "agg_delay": "1us",
        "core_rate": "400Gbps",
        "core_delay": "1us",
    },
}
"""A fat tree of 128 hosts, and 320 hosts in five pods."""


def main() -> None:
    """Writes the files."""
    parser = argparse.ArgumentParser(description="Writes the HPCC simulator's files.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--network", choices=NETWORKS, default="fat-tree")
    arguments = parser.parse_args()
    directory: Path = arguments.directory
    directory.mkdir(parents=True, exist_ok=True)
    plan = rocelab.Scenario(
        run={"seed": 1},
        topology={"kind": arguments.network, **NETWORKS[arguments.network]},
        traffic=[{"kind": "poisson", "workload": "WebSearch", "load": 0.5, "duration": "1ms"}],
        scheme={"name": "none"},
    ).plan()
    (directory / "topology.txt").write_text(_topology(plan))
    (directory / "flow.txt").write_text(_flows(plan))
    (directory / "trace.txt").write_text("0\n")
    for name, keys in LAWS.items():
        files = FILES | {f"{what}_OUTPUT_FILE": f"{name}-{what.lower()}.txt" for what in OUTPUTS}
        red = DCTCP_RED if name == "dctcp" else RED
        maps = {f"{key}_MAP": _map(values) for key, values in red.items()}
        text = "".join(f"{key} {value}\n" for key, value in (files | COMMON | keys | maps).items())
        (directory / f"{name}.txt").write_text(text)


def _numbers(plan: rocelab.Plan) -> dict[str, int]:
    """The number of each node there: hosts first, then switches from the ToRs up."""
    ports = plan.ports.to_polars()
    nodes = list(dict.fromkeys(ports["node"].to_list()))
    return {node: number for number, node in enumerate(nodes)}


def _topology(plan: rocelab.Plan) -> str:
    numbers = _numbers(plan)
    switches = [number for node, number in numbers.items() if not node.startswith("h")]
    links = [
        f"{numbers[node]} {numbers[peer]} {rate // 10**9}Gbps 1000ns 0"
        for node, peer, rate in plan.ports.to_polars()["node", "peer", "rate_bps"].iter_rows()
        if numbers[node] < numbers[peer]
    ]
    head = f"{len(numbers)} {len(switches)} {len(links)}"
    return "\n".join([head, " ".join(map(str, switches)), *links, ""])


def _flows(plan: rocelab.Plan) -> str:
    numbers = _numbers(plan)
    rows = plan.messages.to_polars().sort("start_ps", maintain_order=True)
    lines = [
        f"{numbers[src]} {numbers[dst]} 3 100 {size} {FIRST_START_S + start * 1e-12:.9f}"
        for src, dst, size, start in rows["src", "dst", "size_bytes", "start_ps"].iter_rows()
    ]
    return "\n".join([str(len(lines)), *lines, ""])


def _map(values: tuple[float, ...]) -> str:
    pairs = (f"{speed}000000000 {value}" for speed, value in zip(SPEEDS, values, strict=True))
    return f"{len(values)} {' '.join(pairs)}"


if __name__ == "__main__":
    main()
