"""From measured values to verdicts; the same rules for all papers.

An order holds when each pair that it names is in that order, over several seeds by more than the
spread of the difference. A change holds with the same sign and at least half the size, is weaker
below that, and differs with the other sign. A number holds within 15 %, a bound when it is kept.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from rocelab.papers.model import Outcome, Reading, Runs, Value

TOLERANCE = 0.15
"""How far a number may be from the paper's."""

Judge = Callable[[Runs], Outcome]
Readings = Mapping[str, Reading]


def lowest(readings: Readings, name: str, unit: str) -> Judge:
    """``name`` is below each of the others."""
    return _ordered(readings, [(name, other) for other in readings if other != name], unit)


def highest(readings: Readings, name: str, unit: str) -> Judge:
    """``name`` is above each of the others."""
    return _ordered(readings, [(other, name) for other in readings if other != name], unit)


def rising(readings: Readings, unit: str) -> Judge:
    """Each is below the next, in the order given."""
    return _ordered(readings, list(pairwise(readings)), unit)


def below(readings: Readings, bound: float, unit: str) -> Judge:
    """Each is below ``bound``."""

    def judge(runs: Runs) -> Outcome:
        values = _means(readings, runs)
        wrong = [f"{name} not below {bound:g}" for name, value in values.items() if value >= bound]
        return _outcome(values, wrong, unit)

    return judge


def above(readings: Readings, bound: float, unit: str) -> Judge:
    """Each is above ``bound``."""

    def judge(runs: Runs) -> Outcome:
        values = _means(readings, runs)
        wrong = [f"{name} not above {bound:g}" for name, value in values.items() if value <= bound]
        return _outcome(values, wrong, unit)

    return judge


def change(new: Reading, old: Reading, paper_percent: float, unit: str) -> Judge:
    """``new`` is that many per cent above ``old``; below it where negative."""

    def judge(runs: Runs) -> Outcome:
        after, before = _mean(new(runs)), _mean(old(runs))
        ours = 100 * (after / before - 1)
        both = f"{_number(after)} against {_number(before)} {unit}".strip()
        text = f"{ours:+.1f} % ({both})"
        by = f"{ours - paper_percent:+.1f} points"
        if ours * paper_percent <= 0:
            return Outcome(text, "differs", f"{by}, other sign")
        if abs(ours) < abs(paper_percent) / 2:
            return Outcome(text, "weaker", by)
        return Outcome(text, "holds")

    return judge


def close(readings: Readings, paper: Mapping[str, float], unit: str) -> Judge:
    """Each is the paper's number, within the tolerance."""
    return lambda runs: _close(_means(readings, runs), paper, unit)


def agree(readings: Readings, unit: str) -> Judge:
    """All are the first one's number, within the tolerance."""

    def judge(runs: Runs) -> Outcome:
        values = _means(readings, runs)
        return _close(values, dict.fromkeys(values, next(iter(values.values()))), unit)

    return judge


def _close(values: Mapping[str, float], paper: Mapping[str, float], unit: str) -> Outcome:
    off = {name: values[name] / paper[name] - 1 for name in values}
    wrong = [
        f"{name} {100 * by:+.0f} %".strip() for name, by in off.items() if not abs(by) <= TOLERANCE
    ]
    return _outcome(values, wrong, unit)


def _ordered(readings: Readings, pairs: Sequence[tuple[str, str]], unit: str) -> Judge:
    def judge(runs: Runs) -> Outcome:
        values = {name: reading(runs) for name, reading in readings.items()}
        found = [(low, _relation(values[low], values[high]), high) for low, high in pairs]
        wrong = [" ".join(words) for words in found if words[1] != "<"]
        return _outcome({name: _mean(value) for name, value in values.items()}, wrong, unit)

    return judge


def _relation(low: Value, high: Value) -> str:
    """``<``, ``>`` or ``=``; the last, too, within the spread of the difference over seeds."""
    if _values(low) == _values(high):
        return "="
    # Seeds have the same traffic in all cases, so it is their differences that spread.
    differences = [b - a for a, b in zip(_values(low), _values(high), strict=True)]
    spread = statistics.stdev(differences) if len(differences) > 1 else 0.0
    mean = statistics.fmean(differences)
    if abs(mean) <= spread:
        return "="
    return "<" if mean > 0 else ">"


def _outcome(values: Mapping[str, float], wrong: Sequence[str], unit: str) -> Outcome:
    words = [f"{name} {_number(value)}".strip() for name, value in values.items()]
    text = f"{', '.join(words)} {unit}".strip()
    return Outcome(text, "differs", ", ".join(wrong)) if wrong else Outcome(text, "holds")


def _means(readings: Readings, runs: Runs) -> dict[str, float]:
    return {name: _mean(reading(runs)) for name, reading in readings.items()}


def _values(value: Value) -> list[float]:
    return list(value) if isinstance(value, Sequence) else [value]


def _mean(value: Value) -> float:
    return statistics.fmean(_values(value))


def _number(value: float) -> str:
    """Three digits, without an exponent."""
    if math.isinf(value):
        return "never"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
