"""Warnings of many runs."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocelab.sweeps.grid import Combination, Value


def dedup_warnings(warnings: Iterable[tuple[str, Iterable[str]]], runs: int) -> list[str]:
    """Warnings of each of some runs, with its name, out of ``runs``.

    Of those that are alike but for their numbers the first, and how many runs have some.
    """
    kinds: dict[str, tuple[str, str, int]] = {}
    for run, texts in warnings:
        firsts: dict[str, str] = {}
        for text in texts:
            firsts.setdefault(re.sub(r"[0-9][0-9.,]*", "0", text), text)
        for kind, text in firsts.items():
            first_run, first, count = kinds.get(kind, (run, text, 0))
            kinds[kind] = (first_run, first, count + 1)
    return [
        f"{count} of {runs} runs, the first in {run}: {text}" for run, text, count in kinds.values()
    ]


_RECORDING = {"probe", "trace"}
"""Keys that say what is recorded. They change no digest, but series, traces and their metrics."""


def without_effect(keys: Sequence[str], outcomes: Mapping[Combination, Hashable]) -> list[str]:
    """A line for each of ``keys`` whose values give equal results.

    ``outcomes`` has what came of each combination, such as the digests of its runs. That a key
    changes nothing is known where each of its values is in combinations that differ in this key
    alone, or where all combinations are equal. Keys of probes and traces are never named.
    """
    equal = len(set(outcomes.values())) == 1
    lines = []
    for at, key in enumerate(keys):
        values = {combination[at] for combination in outcomes}
        by_rest: dict[Combination, dict[Value, Hashable]] = {}
        for combination, outcome in outcomes.items():
            rest = (*combination[:at], *combination[at + 1 :])
            by_rest.setdefault(rest, {})[combination[at]] = outcome
        several = [group for group in by_rest.values() if len(group) > 1]
        compared = {value for group in several for value in group}
        alike = compared == values and all(len(set(group.values())) == 1 for group in several)
        records = key.partition(".")[0] in _RECORDING
        if len(values) > 1 and (equal or alike) and not records:
            lines.append(f"{key} changes nothing: its values give equal results")
    return lines
