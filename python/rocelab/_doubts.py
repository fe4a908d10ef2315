"""Warnings that cast doubt on the numbers of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rocelab.result import Result

UNFINISHED = "unfinished-flows"
"""The kind of the warning that flows are unfinished."""
CUT_OFF = "cut-off-flows"
"""The kind of the warning that flows are unfinished only because the run stopped."""


class RunWarning(NamedTuple):
    """A warning of a run."""

    text: str
    kind: str
    """What it is about, such as :data:`UNFINISHED`; empty where no program asks."""
    casts_doubt: bool
    """Whether it casts doubt on the numbers of the run."""


def warnings_of(result: Result, *, completion_times: bool = True) -> list[RunWarning]:
    """The warnings of ``result``.

    Without ``completion_times``, where rates, shares or queues are measured, flows that only the
    stop time cuts off are left out.
    """
    summary = result.summary
    pairs = zip(summary.warnings, summary.warning_kinds, strict=True)
    found = [RunWarning(text, about.kind, about.casts_doubt) for text, about in pairs]
    return [one for one in found if completion_times or one.kind != CUT_OFF]


def doubts_of(result: Result, *, completion_times: bool = True) -> list[str]:
    """The warnings of ``result`` that cast doubt on its numbers, as :func:`warnings_of`."""
    found = warnings_of(result, completion_times=completion_times)
    return [one.text for one in found if one.casts_doubt]
