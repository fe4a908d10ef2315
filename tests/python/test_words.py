"""Numbers and warnings as people read them."""

from __future__ import annotations

import pytest

from rocelab import _format
from rocelab.cli.sweep import cells
from rocelab.sweeps.warnings import dedup_warnings


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0"), (999, "999"), (999_499, "999 k"), (999_600, "1 M"), (31_249_999, "31.2 M")],
)
def test_counts(number: float, words: str) -> None:
    assert _format.count(number) == words


@pytest.mark.parametrize(
    ("ps", "words"),
    [(0, "0 ps"), (1250, "1.25 ns"), (999_949_999, "999.9 us"), (999_999_999, "1 ms")],
)
def test_durations(ps: float, words: str) -> None:
    assert _format.duration(ps) == words


def test_a_small_mean_beside_large_ones_is_not_told_as_nothing() -> None:
    assert cells([(0.5, 6.35), (0.0, 0.0), (123_456.0, 2.0)]) == [
        "0.5 ± 6",
        "0 ± 0",
        "123,456 ± 2",
    ]


def test_warnings_that_differ_in_numbers_alone_are_told_once() -> None:
    told = [("a", "3 of 5 left"), ("b", "4 of 6.5 left"), ("b", "other"), ("c", "1,200 of 9 left")]
    assert dedup_warnings(told, 3) == [
        "3 of 3 runs, the first in a: 3 of 5 left",
        "1 of 3 runs, the first in b: other",
    ]
