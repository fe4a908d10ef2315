"""A small experiment in the HPCC simulator's files: single flows that do not meet."""

from __future__ import annotations

from pathlib import Path

from hpcc_config import HPCC

# Hosts 0, 1 and 2; 0 and 1 share the way to 2 over three switches.
TOPOLOGY = """\
6 3 5
3 4 5
0 3 100Gbps 1500ns 0
1 3 100Gbps 1500ns 0
3 4 100Gbps 1500ns 0
4 5 100Gbps 1500ns 0
5 2 100Gbps 1500ns 0
"""
LONE = {1: 12056, 500: 12216, 1000: 12376, 64_000: 17857}
"""Sizes, and the FCTs in ns that the simulator itself gave these flows under HPCC."""
FLOWS = f"{len(LONE)}\n" + "".join(
    f"0 2 3 100 {size} 2.{number * 2_000:06}\n" for number, size in enumerate(LONE)
)
CONFIG = """\
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
TRACE_FILE none.txt
TRACE_OUTPUT_FILE out/mix.tr
FCT_OUTPUT_FILE out/fct.txt
PFC_OUTPUT_FILE out/pfc.txt
QLEN_MON_FILE out/qlen.txt
QLEN_MON_START 2000000000
QLEN_MON_END 2000001000
SIMULATOR_STOP_TIME 2.05
ENABLE_TRACE 0
"""
CONFIG += HPCC

INPUTS = {"config.txt", "topology.txt", "flow.txt"}
OUTPUTS = {"fct.txt", "pfc.txt", "qlen.txt", "mix.tr"}
"""The last is the trace, which has a header alone unless ENABLE_TRACE."""


def write_case(directory: Path) -> Path:
    """Makes ``directory`` with the experiment, to be run in it."""
    directory.mkdir()
    for name, text in (("config", CONFIG), ("topology", TOPOLOGY), ("flow", FLOWS)):
        (directory / f"{name}.txt").write_text(text, encoding="ascii")
    return directory


def files(directory: Path) -> set[str]:
    """The files below ``directory``, by their paths in it."""
    found = (path.relative_to(directory) for path in directory.rglob("*") if path.is_file())
    return {path.as_posix() for path in found}
