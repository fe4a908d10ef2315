"""Warnings of several runs."""

from __future__ import annotations

from rocelab.sweeps.warnings import dedup_warnings


def test_warnings_that_differ_in_numbers_alone_are_told_once() -> None:
    told = [("a", "3 of 5 left"), ("b", "4 of 6.5 left"), ("b", "other"), ("c", "1,200 of 9 left")]
    assert dedup_warnings(told, 3) == [
        "3 of 3 runs, the first in a: 3 of 5 left",
        "1 of 3 runs, the first in b: other",
    ]
