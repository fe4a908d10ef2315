"""Summaries of earlier versions, as this version writes them."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from rocelab._doubts import UNFINISHED
from rocelab._format import is_or_are, parse

_LACKING: dict[str, Any] = {
    "traces": [],
    "by_tag": {},
    "by_scheme": {},
    "jain": None,
    "paused_by_tier_ns": {},
    "deadlock": None,
    "timeout_bytes": 0,
}
"""What summaries without these keys stand for."""
_CAUSES = (
    "lost",
    "stopped",
    "deadlock",
    "paused",
    "disconnected",
    "waiting",
    "sending",
    "not_started",
)
"""Causes of unfinished flows, which older versions did not count."""
_RECORDING_STOPPED = re.compile(r"probes and traces recorded nothing from (\S+) on")
"""How the warning begins that there was no room for more samples."""
_DOUBTS = {
    " not done at ": UNFINISHED,
    "no flow begins ": UNFINISHED,
    "deadlock: ": "deadlock",
    "PFC did not protect": "lossless-drops",
}
"""Parts of older warnings that cast doubt on the numbers, and their kinds."""


def upgraded(summary: dict[str, Any]) -> dict[str, Any]:
    """``summary`` with the keys that it lacks, as it is from an earlier version.

    Values are not checked.
    """
    new = {**_LACKING, **summary}
    if "unfairness" in new:
        new["intra_inter_slowdown"] = new.pop("unfairness")
    if "recording_stopped_ps" not in new:
        new["recording_stopped_ps"] = _recording_stopped(new.get("warnings"))
    if "warning_kinds" not in new:
        new |= _with_kinds(new)
    for groups in ("by_tag", "by_scheme"):
        if isinstance(new[groups], dict):
            new[groups] = {name: _with_makespan(one) for name, one in new[groups].items()}
    if isinstance(new.get("unfinished"), dict):
        # Such flows were counted as lost.
        new["unfinished"] = {"stopped": 0, **new["unfinished"]}
    return new


def _with_makespan(statistics: object) -> object:
    return {"makespan_ps": None, **statistics} if isinstance(statistics, dict) else statistics


def _recording_stopped(warnings: object) -> int | None:
    """When records ended, which a warning says."""
    texts = [str(text) for text in warnings] if isinstance(warnings, list) else []
    times = [parse(found[1]) for text in texts if (found := _RECORDING_STOPPED.match(text))]
    return next((round(time[0]) for time in times if time), None)


def _with_kinds(summary: dict[str, Any]) -> dict[str, Any]:
    """Warnings with their kinds; flows that are not done get a warning of their own."""
    warnings, left = summary.get("warnings"), 0
    if not isinstance(warnings, list):
        return {}
    with suppress(KeyError, TypeError):
        left = summary["flows"] - summary["flows_done"]
    kinds = [_kind_of(str(text)) for text in warnings]
    if left and UNFINISHED not in kinds:
        flows = f"{left} of {summary['flows']} flows {is_or_are(left)} unfinished"
        warnings = [f"{flows}, and in no statistic of completion times", *warnings]
        kinds.insert(0, UNFINISHED)
    return {
        "unfinished": summary.get("unfinished", dict.fromkeys(_CAUSES, 0)),
        "warnings": warnings,
        "warning_kinds": [{"kind": kind, "casts_doubt": kind != ""} for kind in kinds],
    }


def _kind_of(text: str) -> str:
    """The kind of a warning, where it casts doubt on the numbers."""
    return next((kind for part, kind in _DOUBTS.items() if part in text), "")
