"""Warnings of several runs."""

from __future__ import annotations

from rocelab.sweeps.warnings import dedup_warnings


def test_warnings_that_differ_in_numbers_alone_are_told_once() -> None:
    told = [("a", ["3 of 5 left"]), ("b", ["4 of 6.5 left", "other"]), ("c", ["1,200 of 9 left"])]
    assert dedup_warnings(told, 3) == [
        "3 of 3 runs, the first in a: 3 of 5 left",
        "1 of 3 runs, the first in b: other",
    ]


def test_a_run_with_several_such_warnings_counts_once() -> None:
    empty = ["probe 'q1' has no rows", "probe 'q2' has no rows"]
    assert dedup_warnings([("a", empty), ("b", empty), ("c", [])], 3) == [
        "2 of 3 runs, the first in a: probe 'q1' has no rows",
    ]
    # Runs of one name, such as those of a scheme with several seeds, are several.
    assert dedup_warnings([("a", ["1 left"]), ("a", ["2 left"])], 2) == [
        "2 of 2 runs, the first in a: 1 left",
    ]
