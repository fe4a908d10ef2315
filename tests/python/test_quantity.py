"""Numbers as people read them."""

from __future__ import annotations

import pytest

from rocelab import _format


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
    assert _format.with_intervals([(0.5, 6.35), (0.0, 0.0), (123_456.0, 2.0)]) == [
        "0.5 ± 6",
        "0 ± 0",
        "123,456 ± 2",
    ]
