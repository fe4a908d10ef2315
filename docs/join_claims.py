"""Joins what single figures of a paper came to with what its other figures did.

``python docs/join_claims.py out/reproduce/PAPER/readings.json``, after ``rocelab reproduce
PAPER/FIGURE --readings``, takes the figures evaluated there into ``claims/PAPER.json``. So a paper
need not be evaluated as a whole where its other figures take long. Then ``python
docs/generate.py`` writes the page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rocelab.errors import RocelabError
from rocelab.io.files import to_json
from rocelab.papers.matrix import joined
from rocelab.papers.record import read_matrix

CLAIMS = Path(__file__).parent / "claims"


def main() -> None:
    """Joins the file that is named."""
    parser = argparse.ArgumentParser(
        description="Takes single figures of a paper into the claims beside it.",
        allow_abbrev=False,
    )
    parser.add_argument("readings", type=Path, help="the readings.json of `reproduce --readings`")
    newer_file = parser.parse_args().readings
    try:
        newer = read_matrix(newer_file)
        file = CLAIMS / f"{newer.paper}.json"
        told = joined(read_matrix(file), newer)
    except RocelabError as error:
        sys.exit(f"error: {error}")
    file.write_bytes(to_json(told.to_dict()))
    print(file)


if __name__ == "__main__":
    main()
