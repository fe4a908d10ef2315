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


if __name__ == "__main__":
    for case in CONFIGS:
        unpack(case, Path(sys.argv[1]))
