"""What the tables of load-balancing.md have in bold."""

from __future__ import annotations

import runpy
from pathlib import Path

PAGE = runpy.run_path(str(Path(__file__).parents[2] / "docs/load_balancing.py"))
leading = PAGE["leading"]


def test_bold_is_what_the_seeds_separate_from_all_others() -> None:
    """Not the least mean alone, which may be noise."""
    far = [9.0, 12.0, 10.0]
    assert leading({"a": [1.0, 4.0, 2.0], "b": [1.1, 3.8, 2.1], "far": far}) == {"a", "b"}
    # Wide apart from seed to seed, but always in the same order.
    assert leading({"a": [1.0, 50.0, 9.0], "b": [2.0, 51.2, 10.1]}) == {"a"}
    # The least mean of an erratic way is separated from nothing.
    assert leading({"erratic": [1.0, 20.0, 1.0], "b": [9.0, 9.0, 9.0]}) == set()
    assert leading({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}) == set()
