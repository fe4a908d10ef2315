"""Warnings of many runs."""

from __future__ import annotations

import re
from collections.abc import Iterable


def dedup_warnings(warnings: Iterable[tuple[str, str]], runs: int) -> list[str]:
    """Warnings, each with the run that it is of, out of ``runs``.

    Of those that are alike but for their numbers the first, and how many runs have it.
    """
    kinds: dict[str, tuple[str, str, int]] = {}
    for run, text in warnings:
        kind = re.sub(r"[0-9][0-9.,]*", "0", text)
        first_run, first, count = kinds.get(kind, (run, text, 0))
        kinds[kind] = (first_run, first, count + 1)
    return [
        f"{count} of {runs} runs, the first in {run}: {text}" for run, text, count in kinds.values()
    ]
