"""The HPCC simulator's own runs that tests compare with: inputs and the files that came out.

``python tests/python/hpcc_cases.py DIR`` copies all of them to DIR.
"""

from __future__ import annotations

import gzip
import lzma
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

CASES = Path(__file__).parents[2] / "crates/rocelab/tests/data/hpcc-ns3"

CONFIGS = [str(path.parent.relative_to(CASES)) for path in sorted(CASES.glob("*/*/config.txt"))]
"""The cases: a network and its flows, then the control law."""


def unpack(name: str, into: Path) -> Path:
    """Copies a case to ``into``, with all files as the simulator has them; returns its folder."""
    source, target = CASES / name, into / name
    for folder in (source.parent, source):
        (into / folder.relative_to(CASES)).mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if path.is_file():
                _copy(path, into / folder.relative_to(CASES))
    return target


def _copy(path: Path, into: Path) -> None:
    if path.suffix == ".gz":
        (into / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    elif path.suffix == ".xz":
        (into / path.stem).write_bytes(lzma.decompress(path.read_bytes()))
    else:
        shutil.copyfile(path, into / path.name)


def seeds(name: str) -> Iterator[tuple[int, str]]:
    """Other runs of a case: ns-3's run number and the text of ``fct.txt``."""
    for path in sorted((CASES / name / "seeds").glob("fct.run*.txt")):
        yield int(path.stem.removeprefix("fct.run")), path.read_text(encoding="ascii")


CONWEAVE = Path(__file__).parent / "cases/conweave"
"""Runs of ConWeave's simulator (conweave-project/conweave-ns3, commit 236a801) and their flows."""

CONWEAVE_MODES = {"ecmp": 0, "drill": 2, "conga": 3, "letflow": 6, "conweave": 9}
"""``LB_MODE`` by the way to balance load."""

CONWEAVE_CONFIG = """TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
QLEN_MON_FILE qlen.txt
QLEN_MON_START 2.0
QLEN_MON_END 2.0
ENABLE_TRACE 0
CONWEAVE_TX_EXPIRY_TIME 300
CONWEAVE_REPLY_TIMEOUT_EXTRA 4
CONWEAVE_PATH_PAUSE_TIME 16
CONWEAVE_EXTRA_VOQ_FLUSH_TIME 16
CONWEAVE_DEFAULT_VOQ_WAITING_TIME 200
BUFFER_SIZE 9
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
FAST_RECOVERY_TIMES 1
EWMA_GAIN 0.00390625
RATE_AI 40.0Mb/s
RATE_HAI 100.0Mb/s
MIN_RATE 100Mb/s
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
HAS_WIN 0
VAR_WIN 0
FAST_REACT 0
ENABLE_QCN 1
KMAX_MAP 1 100000000000 400
KMIN_MAP 1 100000000000 100
PMAX_MAP 1 100000000000 0.20
"""
"""What the configurations of those runs have in common."""


def unpack_conweave(
    flows: str, stop: float, into: Path, balance: str = "ecmp", *, irn: bool = False
) -> Path:
    """Makes a run of ConWeave's simulator: 8 leaves with 16 hosts each, and 8 spines.

    ``flows`` is a file of :data:`CONWEAVE`. The run ends at ``stop``. With ``irn`` it has selective
    repeat and no PFC. Returns its configuration.
    """
    hosts = [f"{host} {128 + host // 16} 100Gbps 1000ns 0" for host in range(128)]
    uplinks = [(leaf, spine) for leaf in range(128, 136) for spine in range(136, 144)]
    links = hosts + [f"{leaf} {spine} 100Gbps 1000ns 0" for leaf, spine in uplinks]
    switches = " ".join(map(str, range(128, 144)))
    text = "\n".join(["144 16 192", switches, *links])
    (into / "topology.txt").write_text(f"{text}\n", encoding="ascii")
    _copy(CONWEAVE / flows, into)
    (into / flows.removesuffix(".xz")).replace(into / "flow.txt")
    config = into / "config.txt"
    keys = (
        f"LB_MODE {CONWEAVE_MODES[balance]}\nENABLE_IRN {int(irn)}\nENABLE_PFC {int(not irn)}\n"
        f"SIMULATOR_STOP_TIME {stop}\n"
    )
    config.write_text(CONWEAVE_CONFIG + keys, encoding="ascii")
    return config


def conweave_file(name: str) -> str:
    """A file of :data:`CONWEAVE`."""
    path = CONWEAVE / name
    text = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    return text.decode("ascii")


if __name__ == "__main__":
    for case in CONFIGS:
        unpack(case, Path(sys.argv[1]))
