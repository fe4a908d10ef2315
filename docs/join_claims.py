"""Joins what was evaluated of a paper to what is known of the rest.

After ``rocelab reproduce PAPER/FIGURE --readings``, ``python docs/join_claims.py PAPER --figures
out/reproduce/PAPER/readings.json`` takes the figures evaluated there into ``claims/PAPER.json``.
``python docs/join_claims.py PAPER --reading NAME`` evaluates a named reading in full, and takes it
in place of its quick version. So a paper need not be evaluated as a whole where that takes long.
Then ``python docs/generate.py`` writes the page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rocelab.errors import RocelabError
from rocelab.io.files import to_json
from rocelab.papers import reproduce as papers
from rocelab.papers.matrix import joined, with_reading
from rocelab.papers.record import read_matrix
from rocelab.sweeps.cache import default_cache

CLAIMS = Path(__file__).parent / "claims"


def main() -> None:
    """Joins the file or the reading that is named."""
    parser = argparse.ArgumentParser(
        description="Takes single figures or a reading of a paper into the claims beside it.",
        allow_abbrev=False,
    )
    parser.add_argument("paper", help="such as mercury")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--figures", type=Path, help="the readings.json of `reproduce --readings`")
    what.add_argument("--reading", help="a named reading, evaluated in full")
    parser.add_argument("--cache", type=Path, help="where its runs are kept")
    given = parser.parse_args()
    file = CLAIMS / f"{given.paper}.json"
    try:
        known = read_matrix(file)
        if given.figures is not None:
            told = joined(known, read_matrix(given.figures))
        else:
            ((paper, _), *_) = papers.chosen([given.paper], None)
            cache = given.cache or default_cache()
            told = with_reading(known, paper, given.reading, cache=cache, progress=True)
    except RocelabError as error:
        sys.exit(f"error: {error}")
    file.write_bytes(to_json(told.to_dict()))
    print(file)


if __name__ == "__main__":
    main()
