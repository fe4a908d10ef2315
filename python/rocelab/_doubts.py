"""Warnings that cast doubt on the numbers of a run, and how many flows its statistics cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocelab.result import Result

UNFINISHED = "unfinished-flows"
"""The kind of the warning that flows are unfinished."""
CUT_OFF = "cut-off-flows"
"""The kind of the warning that flows are unfinished only because the run stopped."""


def warnings_of(result: Result, *, completion_times: bool = True) -> list[tuple[str, bool]]:
    """The warnings of ``result``, and whether each casts doubt on its numbers.

    Without ``completion_times``, where rates, shares or queues are measured, flows that only the
    stop time cuts off are left out.
    """
    summary = result.summary
    pairs = zip(summary.warnings, summary.warning_kinds, strict=True)
    return [
        (text, about.casts_doubt)
        for text, about in pairs
        if completion_times or about.kind != CUT_OFF
    ]


def doubts_of(result: Result, *, completion_times: bool = True) -> list[str]:
    """The warnings of ``result`` that cast doubt on its numbers, as :func:`warnings_of`."""
    pairs = warnings_of(result, completion_times=completion_times)
    return [text for text, casts_doubt in pairs if casts_doubt]


def coverage(done: int, flows: int) -> str:
    """``1,987 of 2,000 flows``; nothing where all are done."""
    return f"{done:,} of {flows:,} flows" if done < flows else ""
