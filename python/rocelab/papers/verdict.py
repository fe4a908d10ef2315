"""From measured values to verdicts; the same rules for all papers.

An order holds when each pair that it names is in that order, over several seeds by more than the
spread of the difference. A change holds with the same sign and at least half the size, is weaker
below that, and differs with the other sign. A number holds within 15 %, a bound when it is kept.
Where a value is not a number, nothing was measured, and the claim differs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocelab.papers.model import Outcome, Reading, Runs, Value

TOLERANCE = 0.15
"""How far a number may be from the paper's."""
UNMEASURED = "nothing was measured"
"""By what a claim differs where there is no number, or none to divide by."""

Judge = Callable[[Runs], Outcome]
Readings = Mapping[str, Reading]
Curve = Callable[[Runs], Mapping[str, Value]]
"""Values at points, by the points' names."""


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
        values = _read(readings, runs)
        wrong = [
            f"{name} not below {bound:g}" for name in values if not _mean(values[name]) < bound
        ]
        return _outcome(values, wrong, unit)

    return judge


def above(readings: Readings, bound: float, unit: str) -> Judge:
    """Each is above ``bound``."""

    def judge(runs: Runs) -> Outcome:
        values = _read(readings, runs)
        wrong = [
            f"{name} not above {bound:g}" for name in values if not _mean(values[name]) > bound
        ]
        return _outcome(values, wrong, unit)

    return judge


def change(new: Reading, old: Reading, paper_percent: float, unit: str) -> Judge:
    """``new`` is that many per cent above ``old``; below it where negative."""

    def judge(runs: Runs) -> Outcome:
        return _change(_Change(new(runs), old(runs)), paper_percent, unit)

    return judge


def by_more_than(new: Reading, old: Reading, percent: float, unit: str) -> Judge:
    """``new`` is more than that many per cent above ``old``; below it where negative."""

    def judge(runs: Runs) -> Outcome:
        ours = _Change(new(runs), old(runs))
        if not math.isfinite(ours.percent):
            return Outcome(ours.text(unit), "differs", UNMEASURED)
        if ours.percent * math.copysign(1, percent) > abs(percent):
            return Outcome(ours.text(unit), "holds")
        return Outcome(ours.text(unit), "differs", f"not by more than {abs(percent):g} %")

    return judge


def up_to(new: Curve, olds: Mapping[str, Curve], paper_percent: float, unit: str) -> Judge:
    """Somewhere ``new`` is that many per cent above one of ``olds``; below it where negative."""

    def judge(runs: Runs) -> Outcome:
        most = _end(max, _changes(new, olds, runs), paper_percent)
        return _change(most, paper_percent, unit)

    return judge


def between(
    new: Curve, olds: Mapping[str, Curve], paper_percents: tuple[float, float], unit: str
) -> Judge:
    """Everywhere ``new`` is above each of ``olds`` by a per cent in that span.

    It holds where the least and the most hold, by the rule for changes.
    """

    def judge(runs: Runs) -> Outcome:
        found = _changes(new, olds, runs)
        ends = [
            _change(_end(end, found, paper), paper, unit)
            for end, paper in zip((min, max), paper_percents, strict=True)
        ]
        text = " to ".join(end.measured for end in ends)
        worst = max(ends, key=lambda end: ("holds", "weaker", "differs").index(end.verdict))
        return Outcome(text, worst.verdict, worst.by)

    return judge


def lowest_at_all(curves: Mapping[str, Curve], name: str, unit: str) -> Judge:
    """``name`` is below each of the others at each point."""

    def judge(runs: Runs) -> Outcome:
        values = {other: curve(runs) for other, curve in curves.items()}
        ours = values.pop(name)
        relations = {
            other: {at: _relation(ours[at], theirs[at]) for at in ours}
            for other, theirs in values.items()
        }
        wrong = [
            f"{name} {sign} {other} at {', '.join(points)}"
            for other, found in relations.items()
            for sign in (">", "=")
            if (points := [at for at, relation in found.items() if relation == sign])
        ]
        won = sum(all(found[at] == "<" for found in relations.values()) for at in ours)
        span = [_number(end(_mean(value) for value in ours.values())) for end in (min, max)]
        text = f"{name} lowest at {won} of {len(ours)} points, {span[0]} to {span[1]} {unit}"
        if any(_is_unmeasured(curve) for curve in (ours, *values.values())):
            return Outcome(text, "differs", UNMEASURED)
        return Outcome(text, "differs", "; ".join(wrong)) if wrong else Outcome(text, "holds")

    return judge


def close(readings: Readings, paper: Mapping[str, float], unit: str) -> Judge:
    """Each is the paper's number, within the tolerance."""
    return lambda runs: _close(_read(readings, runs), paper, unit)


def agree(readings: Readings, unit: str, tolerance: float = TOLERANCE) -> Judge:
    """All are the first one's number, within the tolerance."""

    def judge(runs: Runs) -> Outcome:
        values = _read(readings, runs)
        first = _mean(next(iter(values.values())))
        return _close(values, dict.fromkeys(values, first), unit, tolerance)

    return judge


@dataclass(frozen=True)
class _Change:
    after: Value
    before: Value
    where: str = ""

    @property
    def percent(self) -> float:
        return 100 * (_mean(self.after) / _mean(self.before) - 1)

    def text(self, unit: str) -> str:
        both = f"{_spread(self.after)} against{self.where} {_spread(self.before)} {unit}".strip()
        return f"{self.percent:+.1f} % ({both})"


def _changes(new: Curve, olds: Mapping[str, Curve], runs: Runs) -> list[_Change]:
    after = new(runs)
    return [
        _Change(after[at], before, f" {name}{f' at {at}' if at else ''}")
        for name, old in olds.items()
        for at, before in old(runs).items()
    ]


def _end(end: Callable[..., _Change], found: Sequence[_Change], paper_percent: float) -> _Change:
    """The least or the most of ``found`` in the paper's direction; what is no number goes first."""
    unmeasured = [one for one in found if math.isnan(one.percent)]
    return (unmeasured or [end(found, key=lambda one: one.percent * paper_percent)])[0]


def _change(ours: _Change, paper_percent: float, unit: str) -> Outcome:
    text = ours.text(unit)
    if not math.isfinite(ours.percent):
        return Outcome(text, "differs", UNMEASURED)
    by = f"{ours.percent - paper_percent:+.1f} points"
    if ours.percent * paper_percent <= 0:
        return Outcome(text, "differs", f"{by}, other sign")
    if abs(ours.percent) < abs(paper_percent) / 2:
        return Outcome(text, "weaker", by)
    return Outcome(text, "holds")


def _close(
    values: Mapping[str, Value],
    paper: Mapping[str, float],
    unit: str,
    tolerance: float = TOLERANCE,
) -> Outcome:
    off = {name: _mean(values[name]) / paper[name] - 1 for name in values}
    wrong = [
        f"{name} {_off(by, tolerance)}".strip()
        for name, by in off.items()
        if not abs(by) <= tolerance
    ]
    return _outcome(values, wrong, unit)


def _off(by: float, tolerance: float) -> str:
    """In per cent, with enough digits to differ from ``tolerance`` when rounded."""
    decimals = 0
    while round(abs(by), decimals + 2) == tolerance:
        decimals += 1
    return f"{100 * by:+.{decimals}f} %"


def _ordered(readings: Readings, pairs: Sequence[tuple[str, str]], unit: str) -> Judge:
    def judge(runs: Runs) -> Outcome:
        values = _read(readings, runs)
        found = [(low, _relation(values[low], values[high]), high) for low, high in pairs]
        wrong = [" ".join(words) for words in found if words[1] != "<"]
        return _outcome(values, wrong, unit)

    return judge


def _relation(low: Value, high: Value) -> str:
    """``<``, ``>`` or ``=``; the last, too, within the spread of the difference over seeds."""
    if _values(low) == _values(high):
        return "="
    # Seeds have the same traffic in all cases, so it is their differences that spread.
    pairs = list(zip(_values(low), _values(high), strict=True))
    differences = [b - a for a, b in pairs]
    if not all(map(math.isfinite, differences)):
        # What never happens is above all that does; over several seeds, where it is so in each.
        signs = {"<" if a < b else ">" if a > b else "=" for a, b in pairs}
        return signs.pop() if len(signs) == 1 else "="
    spread = statistics.stdev(differences) if len(differences) > 1 else 0.0
    mean = statistics.fmean(differences)
    if abs(mean) <= spread:
        return "="
    return "<" if mean > 0 else ">"


def _outcome(values: Mapping[str, Value], wrong: Sequence[str], unit: str) -> Outcome:
    words = [f"{name} {_spread(value)}".strip() for name, value in values.items()]
    text = f"{', '.join(words)} {unit}".strip()
    if _is_unmeasured(values):
        return Outcome(text, "differs", UNMEASURED)
    return Outcome(text, "differs", ", ".join(wrong)) if wrong else Outcome(text, "holds")


def _read(readings: Readings, runs: Runs) -> dict[str, Value]:
    return {name: reading(runs) for name, reading in readings.items()}


def _is_unmeasured(values: Mapping[str, Value]) -> bool:
    return any(math.isnan(_mean(value)) for value in values.values())


def _values(value: Value) -> list[float]:
    return list(value) if isinstance(value, Sequence) else [value]


def _mean(value: Value) -> float:
    return statistics.fmean(_values(value))


def _number(value: float) -> str:
    """Three digits, without an exponent."""
    if math.isinf(value):
        return "never"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _spread(value: Value) -> str:
    """The number as :func:`_number` writes it; over several seeds with its standard deviation."""
    values = _values(value)
    if len(values) == 1 or not all(map(math.isfinite, values)):
        return _number(_mean(value))
    mean = _mean(value)
    text = _number(mean) if abs(mean) >= 100 else f"{mean:#.3g}".rstrip(".")
    decimals = len(text.partition(".")[2])
    return f"{text} ± {statistics.stdev(values):,.{decimals}f}"
