"""From measured values to verdicts; the same rules for all papers.

An order holds when each pair that it names is in that order. A change holds with the same sign and
at least half the size, is weaker below that, and differs with the other sign. "Up to" a change
differs, too, where it is more than twice the claim, and so does a span with its larger end. A
slight difference is an order, and a factor of two at most. A number holds within 15 %, a bound when
it is kept. Where a value is not a number, nothing was measured, and the claim differs.

Over several seeds a claim is undecidable where their spread, a standard deviation, leaves it open:
the difference of a pair is within its own spread, a change reaches across zero or across half of
the claim, a bound is within the spread of the value, and a number spreads by more than 15 % of the
paper's, unless it is further off than that and twice its spread. Several parts differ if one does,
and are undecidable if one is.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rocelab.papers.model import Measure, Outcome, Runs, Value, Verdict

TOLERANCE = 0.15
"""How far a number may be from the paper's."""
_FACTOR = 2.0
"""Above it a difference is no slight one, and a change not what is claimed with "up to"."""
UNMEASURED = "nothing was measured"
"""By what a claim differs where there is no number, or none to divide by."""

Judge = Callable[[Runs], Outcome]
Measures = Mapping[str, Measure]
Curve = Callable[[Runs], Mapping[str, Value]]
"""Values at points, by the points' names."""


def lowest(measures: Measures, name: str, unit: str) -> Judge:
    """``name`` is below each of the others."""
    return _ordered(measures, [(name, other) for other in measures if other != name], unit)


def highest(measures: Measures, name: str, unit: str) -> Judge:
    """``name`` is above each of the others."""
    return _ordered(measures, [(other, name) for other in measures if other != name], unit)


def rising(measures: Measures, unit: str) -> Judge:
    """Each is below the next, in the order given."""
    return _ordered(measures, list(pairwise(measures)), unit)


def in_turn(measures: Measures, unit: str) -> Judge:
    """Each of these moments is before the next, in the order given, and all of them come."""
    order = rising(measures, unit)

    def judge(runs: Runs) -> Outcome:
        outcome = order(runs)
        missing = [
            name for name, value in _read(measures, runs).items() if math.inf in _values(value)
        ]
        if not missing:
            return outcome
        return Outcome(outcome.measured, "differs", f"{', '.join(missing)} not at all")

    return judge


def slightly_below(low: tuple[str, Measure], high: tuple[str, Measure], unit: str) -> Judge:
    """The first is below the second, by a factor of at most two."""
    order = _ordered(dict((low, high)), [(low[0], high[0])], unit)

    def judge(runs: Runs) -> Outcome:
        outcome = order(runs)
        values = [_mean(measure(runs)) for _, measure in (low, high)]
        if outcome.verdict == "holds" and values[1] > _FACTOR * values[0]:
            return Outcome(outcome.measured, "differs", f"by a factor of more than {_FACTOR:g}")
        return outcome

    return judge


def below(measures: Measures, bound: float, unit: str) -> Judge:
    """Each is below ``bound``."""
    return _bounded(measures, bound, -1, unit)


def above(measures: Measures, bound: float, unit: str) -> Judge:
    """Each is above ``bound``."""
    return _bounded(measures, bound, 1, unit)


def change(new: Measure, old: Measure, paper_percent: float, unit: str) -> Judge:
    """``new`` is that many per cent above ``old``; below it where negative."""

    def judge(runs: Runs) -> Outcome:
        return _change(_Change(new(runs), old(runs)), paper_percent, unit)

    return judge


def by_more_than(new: Measure, old: Measure, percent: float, unit: str) -> Judge:
    """``new`` is more than that many per cent above ``old``; below it where negative."""

    def judge(runs: Runs) -> Outcome:
        ours = _Change(new(runs), old(runs))
        if not math.isfinite(ours.percent):
            return Outcome(ours.text(unit), "differs", UNMEASURED)
        beyond = ours.percent * math.copysign(1, percent) - abs(percent)
        if ours.spread > 0 and abs(beyond) <= ours.spread:
            return Outcome(ours.text(unit), "undecidable", f"± {ours.spread:.1f} points")
        if beyond > 0:
            return Outcome(ours.text(unit), "holds")
        return Outcome(ours.text(unit), "differs", f"not by more than {abs(percent):g} %")

    return judge


def up_to(new: Curve, olds: Mapping[str, Curve], paper_percent: float, unit: str) -> Judge:
    """Somewhere ``new`` is that many per cent above one of ``olds``; below it where negative.

    More than twice as much is not what was claimed.
    """
    return lambda runs: _up_to(_changes(new, olds, runs), paper_percent, unit)


def _up_to(found: Sequence[_Change], paper_percent: float, unit: str) -> Outcome:
    largest = _end(max, found, paper_percent)
    outcome = _change(largest, paper_percent, unit)
    if outcome.verdict == "holds" and abs(largest.percent) > _FACTOR * abs(paper_percent):
        return Outcome(outcome.measured, "differs", "more than twice what is claimed")
    return outcome


def between(
    new: Curve, olds: Mapping[str, Curve], paper_percents: tuple[float, float], unit: str
) -> Judge:
    """Everywhere ``new`` is above each of ``olds`` by a per cent in that span.

    It holds where the least change holds as one of the first per cent, and the largest as one of
    up to the second.
    """
    least, largest = paper_percents

    def judge(runs: Runs) -> Outcome:
        found = _changes(new, olds, runs)
        ends = [_change(_end(min, found, least), least, unit), _up_to(found, largest, unit)]
        text = " to ".join(end.measured for end in ends)
        worst = max(ends, key=lambda end: _WORSE.index(end.verdict))
        return Outcome(text, worst.verdict, worst.by)

    return judge


def at_least(new: Measure, olds: Mapping[str, Measure], paper_percent: float, unit: str) -> Judge:
    """``new`` is that many per cent above each of ``olds``, or more; below it where negative.

    It holds where the least change holds, by the rule for changes.
    """

    def judge(runs: Runs) -> Outcome:
        after = new(runs)
        found = [_Change(after, old(runs), f" {name}") for name, old in olds.items()]
        return _change(_end(min, found, paper_percent), paper_percent, unit)

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
        found = [
            (sign, f"{name} {sign} {other} at {', '.join(points)}")
            for other, of_other in relations.items()
            for sign in (">", "=", "≈")
            if (points := [at for at, relation in of_other.items() if relation == sign])
        ]
        won = sum(all(found[at] == "<" for found in relations.values()) for at in ours)
        span = [_number(end(_mean(value) for value in ours.values())) for end in (min, max)]
        text = (
            f"{name} lowest at {won} of {len(ours)} points, {span[0]} to {span[1]} {unit}".strip()
        )
        if any(_is_unmeasured(curve) for curve in (ours, *values.values())):
            return Outcome(text, "differs", UNMEASURED)
        return _of_signs(text, found, "; ")

    return judge


def most(holding: Mapping[str, Callable[[Runs], tuple[int, int]]], share: float) -> Judge:
    """Of all points more than ``share`` are as claimed; each reader gives how many of how many."""

    def judge(runs: Runs) -> Outcome:
        counts = {name: read(runs) for name, read in holding.items()}
        text = ", ".join(f"{name} {won} of {all_}" for name, (won, all_) in counts.items())
        won, all_ = (sum(count[part] for count in counts.values()) for part in (0, 1))
        if all_ == 0:
            return Outcome(text, "differs", UNMEASURED)
        if won > share * all_:
            return Outcome(text, "holds")
        return Outcome(text, "differs", f"not more than {100 * share:g} %")

    return judge


def is_below(low: Value, high: Value) -> bool:
    """Whether one value is below another by more than the spread over the seeds."""
    return _relation(low, high) == "<"


def is_above_or_tied(high: Value, low: Value) -> bool:
    """Whether one value is not below another by more than the spread over the seeds."""
    return _relation(high, low) != "<"


def close(measures: Measures, paper: Mapping[str, float], unit: str) -> Judge:
    """Each is the paper's number, within the tolerance."""
    return lambda runs: _close(_read(measures, runs), paper, unit)


def agree(measures: Measures, unit: str, tolerance: float = TOLERANCE) -> Judge:
    """All are the first one's number, within the tolerance; over several seeds, seed by seed."""

    def judge(runs: Runs) -> Outcome:
        values = _read(measures, runs)
        first = _values(next(iter(values.values())))
        ratios: dict[str, Value] = {
            name: [a / b if b else math.nan for a, b in zip(_values(value), first, strict=True)]
            for name, value in values.items()
        }
        outcome = _close(ratios, dict.fromkeys(ratios, 1.0), "", tolerance)
        return replace(outcome, measured=_values_text(values, unit))

    return judge


_WORSE: tuple[Verdict, ...] = ("holds", "undecidable", "weaker", "differs")
"""Verdicts, the worse the further on."""


@dataclass(frozen=True)
class _Change:
    after: Value
    before: Value
    where: str = ""

    @property
    def percent(self) -> float:
        """How much is added, in per cent; not a number where there was nothing before."""
        before = _mean(self.before)
        return 100 * (_mean(self.after) / before - 1) if before else math.nan

    @property
    def spread(self) -> float:
        """The standard deviation of the changes seed by seed, in points; 0 for a single one."""
        pairs = list(zip(_values(self.after), _values(self.before), strict=False))
        if len(pairs) < 2 or any(before == 0 for _, before in pairs):
            return 0.0
        return statistics.stdev(100 * (after / before - 1) for after, before in pairs)

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
    size = ours.percent * math.copysign(1, paper_percent)
    half = abs(paper_percent) / 2
    if ours.spread > 0 and any(abs(size - edge) <= ours.spread for edge in (0, half)):
        return Outcome(text, "undecidable", f"{by}, ± {ours.spread:.1f} points")
    if size <= 0:
        return Outcome(text, "differs", f"{by}, {'other sign' if size < 0 else 'no change'}")
    if size < half:
        return Outcome(text, "weaker", by)
    return Outcome(text, "holds")


def _bounded(measures: Measures, bound: float, sign: int, unit: str) -> Judge:
    word = "above" if sign > 0 else "below"

    def judge(runs: Runs) -> Outcome:
        values = _read(measures, runs)
        found: list[tuple[Verdict, str]] = []
        for name, value in values.items():
            beyond, spread = sign * (_mean(value) - bound), _deviation(value)
            if spread > 0 and abs(beyond) <= spread:
                found.append(("undecidable", f"{name} around {bound:g}".strip()))
            elif not beyond > 0:
                found.append(("differs", f"{name} not {word} {bound:g}".strip()))
        return _outcome(values, found, unit)

    return judge


def _close(
    values: Mapping[str, Value],
    paper: Mapping[str, float],
    unit: str,
    tolerance: float = TOLERANCE,
) -> Outcome:
    found: list[tuple[Verdict, str]] = []
    for name, value in values.items():
        by = _mean(value) / paper[name] - 1
        spread = _deviation(value) / abs(paper[name])
        if spread > tolerance and abs(by) <= tolerance + 2 * spread:
            found.append(("undecidable", f"{name} ± {100 * spread:.0f} %".strip()))
        elif not abs(by) <= tolerance:
            found.append(("differs", f"{name} {_off(by, tolerance)}".strip()))
    return _outcome(values, found, unit)


def _off(by: float, tolerance: float) -> str:
    """In per cent, with enough digits to differ from ``tolerance`` when rounded."""
    decimals = 0
    while round(abs(by), decimals + 2) == tolerance:
        decimals += 1
    return f"{100 * by:+.{decimals}f} %"


def _ordered(measures: Measures, pairs: Sequence[tuple[str, str]], unit: str) -> Judge:
    def judge(runs: Runs) -> Outcome:
        values = _read(measures, runs)
        found = [(low, _relation(values[low], values[high]), high) for low, high in pairs]
        text = _values_text(values, unit)
        if _is_unmeasured(values):
            return Outcome(text, "differs", UNMEASURED)
        return _of_signs(text, [(words[1], " ".join(words)) for words in found], ", ")

    return judge


def _of_signs(text: str, found: Sequence[tuple[str, str]], between: str) -> Outcome:
    """The verdict on pairs by their signs, each with what is said of it where it is not ``<``."""
    wrong = [words for sign, words in found if sign in (">", "=")]
    if wrong:
        return Outcome(text, "differs", between.join(wrong))
    tied = [words for sign, words in found if sign == "≈"]
    return Outcome(text, "undecidable", between.join(tied)) if tied else Outcome(text, "holds")


def _relation(low: Value, high: Value) -> str:
    """``<``, ``>``, ``=``, or ``≈`` within the spread of the difference over seeds."""
    if _values(low) == _values(high):
        return "="
    # Seeds have the same traffic in all cases, so it is their differences that spread.
    pairs = list(zip(_values(low), _values(high), strict=True))
    differences = [b - a for a, b in pairs]
    if not all(map(math.isfinite, differences)):
        # What never happens is above all that does; over several seeds, where it is so in each.
        signs = {"<" if a < b else ">" if a > b else "=" for a, b in pairs}
        return signs.pop() if len(signs) == 1 else "≈"
    spread = statistics.stdev(differences) if len(differences) > 1 else 0.0
    mean = statistics.fmean(differences)
    if len(differences) > 1 and abs(mean) <= spread:
        return "≈"
    return "<" if mean > 0 else ">" if mean < 0 else "="


def _outcome(
    values: Mapping[str, Value], found: Sequence[tuple[Verdict, str]], unit: str
) -> Outcome:
    """The worst of what was found of single values, and nothing else of it."""
    text = _values_text(values, unit)
    if _is_unmeasured(values):
        return Outcome(text, "differs", UNMEASURED)
    for verdict in reversed(_WORSE):
        words = [words for each, words in found if each == verdict]
        if words:
            return Outcome(text, verdict, ", ".join(words))
    return Outcome(text, "holds")


def _values_text(values: Mapping[str, Value], unit: str) -> str:
    words = [f"{name} {_spread(value)}".strip() for name, value in values.items()]
    return f"{', '.join(words)} {unit}".strip()


def _read(measures: Measures, runs: Runs) -> dict[str, Value]:
    return {name: measure(runs) for name, measure in measures.items()}


def _deviation(value: Value) -> float:
    """The standard deviation over seeds; 0 for a single one, and where it is no number."""
    values = _values(value)
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return 0.0
    return statistics.stdev(values)


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
