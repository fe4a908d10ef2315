"""How a claim is judged by what was measured."""

from __future__ import annotations

import pytest

from rocelab.papers import themis, verdict
from rocelab.papers.model import Measure, Outcome, Runs, Verdict

NAN, INF = float("nan"), float("inf")


def reading(value: float | list[float]) -> Measure:
    return lambda _runs: value


def judged(judge: verdict.Judge) -> Outcome:
    runs: Runs = {}
    return judge(runs)


def test_orders() -> None:
    ours = {"a": reading(1.0), "b": reading(2.0), "c": reading(2.0)}
    assert judged(verdict.lowest(ours, "a", "KB")) == Outcome("a 1, b 2, c 2 KB", "holds")
    assert judged(verdict.rising(ours, "KB")).by == "b = c"
    assert judged(verdict.highest(ours, "a", "KB")).by == "b > a, c > a"
    never = {"a": reading(float("inf")), "b": reading(5.0)}
    assert judged(verdict.lowest(never, "a", "us")) == Outcome(
        "a never, b 5 us", "differs", "a > b"
    )


@pytest.mark.parametrize("nothing", [NAN, [NAN, 1.0]])
def test_claims_of_which_nothing_was_measured_differ(nothing: float | list[float]) -> None:
    other: float | list[float] = 1.0 if isinstance(nothing, float) else [2.0, 2.0]
    readings = {"a": reading(nothing), "b": reading(other)}
    ours, theirs = curve(other, nothing), {"b": curve(other, other)}
    judges = {
        "below": verdict.below(readings, 5, ""),
        "above": verdict.above(readings, 0, ""),
        "lowest": verdict.lowest(readings, "a", ""),
        "highest": verdict.highest(readings, "a", ""),
        "rising": verdict.rising(readings, ""),
        "close": verdict.close(readings, {"a": 1, "b": 1}, ""),
        "agree": verdict.agree(readings, ""),
        "new": verdict.change(reading(nothing), reading(other), -10, ""),
        "old": verdict.change(reading(other), reading(nothing), 10, ""),
        "up to": verdict.up_to(ours, theirs, -10, ""),
        "up to, the other": verdict.up_to(theirs["b"], {"a": ours}, 10, ""),
        "between": verdict.between(ours, theirs, (-5, -10), ""),
        "at least": verdict.at_least(readings["b"], {"a": readings["a"]}, -10, ""),
        "at least, the other": verdict.at_least(readings["a"], {"b": readings["b"]}, -10, ""),
        "lowest at all": verdict.lowest_at_all({"a": ours, **theirs}, "a", ""),
        "lowest at all, the other": verdict.lowest_at_all({"a": ours, **theirs}, "b", ""),
    }
    for name, judge in judges.items():
        outcome = judged(judge)
        assert (outcome.verdict, outcome.by) == ("differs", verdict.UNMEASURED), name


def test_what_never_happens_is_above_all_that_does() -> None:
    never, once = {"a": reading(INF), "b": reading(INF)}, {"a": reading(5.0), "b": reading(INF)}
    assert judged(verdict.above(never, 3, "us")).verdict == "holds"
    assert judged(verdict.below(never, 3, "us")).verdict == "differs"
    assert judged(verdict.lowest(once, "a", "us")).verdict == "holds"
    assert judged(verdict.lowest(never, "a", "us")).by == "a = b"
    for judge in (verdict.close(never, {"a": 5, "b": 5}, ""), verdict.agree(never, "")):
        assert judged(judge).verdict == "differs"
    # No per cent is that.
    for new in (INF, 5.0):
        for percent in (-10, 10):
            outcome = judged(verdict.change(reading(INF), reading(new), percent, "us"))
            assert (outcome.verdict, outcome.by) == ("differs", verdict.UNMEASURED)
    ours, others = curve(50.0, INF), {"b": curve(100.0, INF)}
    for judge in (
        verdict.up_to(ours, others, -50, ""),
        verdict.between(ours, others, (-1, -9), ""),
    ):
        assert judged(judge).by == verdict.UNMEASURED
    # Where the other is a number, the largest change in the claim's direction is one, too.
    assert judged(verdict.up_to(ours, {"b": curve(100.0, 100.0)}, -50, "")).verdict == "holds"
    at_all = {"a": curve(5.0, 5.0), "b": curve(6.0, INF)}
    assert judged(verdict.lowest_at_all(at_all, "a", "us")).verdict == "holds"


def test_what_comes_in_turn_must_come() -> None:
    def turn(first: float, second: float) -> Outcome:
        return judged(verdict.in_turn({"a": reading(first), "b": reading(second)}, "us"))

    assert turn(1.0, 2.0) == Outcome("a 1, b 2 us", "holds")
    assert turn(2.0, 1.0).by == "a > b"
    assert turn(1.0, INF) == Outcome("a 1, b never us", "differs", "b not at all")
    assert turn(INF, INF).by == "a, b not at all"
    assert turn(1.0, NAN).by == verdict.UNMEASURED


def test_a_slight_difference_has_the_right_sign_and_is_no_multiple() -> None:
    def slight(low: float | list[float], high: float | list[float]) -> Outcome:
        return judged(verdict.slightly_below(("a", reading(low)), ("b", reading(high)), "us"))

    assert slight(1.0, 2.0) == Outcome("a 1, b 2 us", "holds")
    assert slight(2.0, 1.0).by == "a > b"
    assert slight(1.0, 2.1) == Outcome("a 1, b 2.1 us", "differs", "by a factor of more than 2")
    assert slight(1.0, INF).verdict == "differs"
    assert slight([1.0, 3.0], [2.0, 2.0]).verdict == "undecidable"
    assert slight(NAN, 1.0).by == verdict.UNMEASURED


def test_nothing_is_a_share_of_nothing() -> None:
    """As where the scheme that is compared with sends no pause."""
    none, some = reading(0.0), reading(4.0)
    judges = {
        "change": verdict.change(some, none, 10, ""),
        "over seeds": verdict.change(reading([1.0, 2.0]), reading([0.0, 0.0]), -10, ""),
        "by more than": verdict.by_more_than(none, none, -10, ""),
        "at least": verdict.at_least(some, {"a": some, "b": none}, -10, ""),
        "up to": verdict.up_to(curve(1.0, 1.0), {"b": curve(2.0, 0.0)}, -10, ""),
        "between": verdict.between(curve(1.0, 1.0), {"b": curve(2.0, 0.0)}, (-5, -10), ""),
    }
    for name, judge in judges.items():
        outcome = judged(judge)
        assert (outcome.verdict, outcome.by) == ("differs", verdict.UNMEASURED), name


def test_a_bound_at_the_mean_of_seeds_is_within_their_spread() -> None:
    for judge in (verdict.above, verdict.below):
        outcome = judged(judge({"a": reading([9.0, 11.0])}, 10, "us"))
        assert outcome == Outcome("a 10.0 ± 1.4 us", "undecidable", "a around 10")
        assert judged(judge({"a": reading([10.0, 10.0])}, 10, "us")).verdict == "differs"
        assert judged(judge({"a": reading(10.0)}, 10, "us")).verdict == "differs"


def test_orders_over_seeds_of_which_some_never_happen() -> None:
    def order(low: list[float], high: list[float]) -> Outcome:
        return judged(verdict.lowest({"a": reading(low), "b": reading(high)}, "a", "us"))

    assert order([1.0, 2.0], [INF, INF]) == Outcome("a 1.50 ± 0.71, b never us", "holds")
    assert order([1.0, 2.0], [INF, 5.0]).verdict == "holds"
    assert order([INF, INF], [1.0, 2.0]).by == "a > b"
    # Alike in one seed, or above in one and below in another.
    for tied in (order([INF, 5.0], [INF, 6.0]), order([INF, 5.0], [1.0, 6.0])):
        assert (tied.verdict, tied.by) == ("undecidable", "a ≈ b")


def test_orders_over_seeds_must_exceed_the_spread() -> None:
    # Differences 1 and 1, though the seeds themselves are far apart; then 3 and -1.
    apart = {"a": reading([1.0, 10.0]), "b": reading([2.0, 11.0])}
    assert judged(verdict.lowest(apart, "a", "")).verdict == "holds"
    mixed = {"a": reading([1.0, 10.0]), "b": reading([4.0, 9.0])}
    assert judged(verdict.lowest(mixed, "a", "")) == Outcome(
        "a 5.50 ± 6.36, b 6.50 ± 3.54", "undecidable", "a ≈ b"
    )


@pytest.mark.parametrize(
    ("new", "expected", "by"),
    [
        (60.0, "holds", ""),
        (79.0, "holds", ""),
        (81.0, "weaker", "+21.0 points"),
        (100.0, "differs", "+40.0 points, no change"),
        (101.0, "differs", "+41.0 points, other sign"),
    ],
)
def test_changes(new: float, expected: str, by: str) -> None:
    outcome = judged(verdict.change(reading(new), reading(100.0), -40.0, "KB"))
    assert (outcome.verdict, outcome.by) == (expected, by)


def curve(*values: float | list[float]) -> verdict.Curve:
    return lambda _runs: {f"{10 * n} %": value for n, value in enumerate(values, 3)}


def test_the_largest_change_counts_where_it_is_up_to_so_many_per_cent() -> None:
    # -10 and -30 % against a, +10 and -40 % against b.
    ours, others = curve(90.0, 70.0), {"a": curve(100.0, 100.0), "b": curve(82.0, 117.0)}
    outcome = judged(verdict.up_to(ours, others, -50, "us"))
    assert outcome == Outcome("-40.2 % (70 against b at 40 % 117 us)", "holds")
    assert judged(verdict.up_to(ours, others, -81, "us")).verdict == "weaker"
    assert judged(verdict.up_to(curve(101.0), {"a": curve(100.0)}, -5, "us")).verdict == "differs"


def test_a_span_holds_where_both_its_ends_do() -> None:
    ours = curve(90.0, 60.0)
    others = {"a": curve(100.0, 100.0)}
    assert judged(verdict.between(ours, others, (-19, -79), "us")).verdict == "holds"
    assert judged(verdict.between(ours, others, (-21, -79), "us")).verdict == "weaker"
    assert judged(verdict.between(ours, others, (-5, -81), "us")).verdict == "weaker"
    assert judged(verdict.between(ours, others, (-5, -20), "us")).verdict == "holds"
    outcome = judged(verdict.between(ours, others, (-5, -19), "us"))
    assert (outcome.verdict, outcome.by) == ("differs", "more than twice what is claimed")
    above = {"a": curve(89.0, 100.0)}
    assert judged(verdict.between(ours, above, (-5, -40), "us")).verdict == "differs"


def test_at_least_is_against_the_nearest_of_the_others() -> None:
    others = {"a": reading(100.0), "b": reading(80.0), "c": reading(200.0)}
    outcome = judged(verdict.at_least(reading(60.0), others, -50, "us"))
    assert outcome == Outcome("-25.0 % (60 against b 80 us)", "holds")
    assert judged(verdict.at_least(reading(60.0), others, -51, "us")).verdict == "weaker"
    assert judged(verdict.at_least(reading(81.0), others, -5, "us")).verdict == "differs"
    spread = {"a": reading([100.0, 100.0]), "b": reading([80.0, 60.0])}
    assert judged(verdict.at_least(reading([60.0, 60.0]), spread, -10, "")).verdict == "undecidable"


def test_lowest_at_each_point_names_the_pairs_that_are_not() -> None:
    # The second point of b is above on average, but not by more than the seeds differ.
    curves = {
        "a": curve([1.0, 2.0], [3.0, 3.0]),
        "b": curve([2.0, 3.0], [2.0, 5.0]),
        "c": curve([0.0, 1.0], [4.0, 4.0]),
    }
    outcome = judged(verdict.lowest_at_all(curves, "a", "us"))
    assert outcome.measured == "a lowest at 0 of 2 points, 1.5 to 3 us"
    assert (outcome.verdict, outcome.by) == ("differs", "a > c at 30 %")
    del curves["c"]
    outcome = judged(verdict.lowest_at_all(curves, "a", "us"))
    assert (outcome.verdict, outcome.by) == ("undecidable", "a ≈ b at 40 %")
    del curves["b"]
    assert judged(verdict.lowest_at_all(curves, "a", "us")).verdict == "holds"


def test_more_than_so_many_per_cent_is_a_bound() -> None:
    old = reading(100.0)
    assert judged(verdict.by_more_than(reading(89.0), old, -10, "us")).verdict == "holds"
    for new in (91.0, 90.0, 120.0):
        outcome = judged(verdict.by_more_than(reading(new), old, -10, "us"))
        assert (outcome.verdict, outcome.by) == ("differs", "not by more than 10 %")
    assert judged(verdict.by_more_than(reading(111.0), old, 10, "us")).verdict == "holds"


def test_numbers_just_out_of_the_tolerance_do_not_look_as_if_they_were_within() -> None:
    close = verdict.close({"a": reading(115.2), "b": reading(84.96)}, {"a": 100, "b": 100}, "us")
    assert judged(close).by == "a +15.2 %, b -15.04 %"
    assert judged(verdict.agree({"a": reading(100.0), "b": reading(109.0)}, "us")).by == ""
    narrow = verdict.agree({"a": reading(100.0), "b": reading(109.0)}, "us", 0.02)
    assert judged(narrow).by == "b +9 %"


def test_numbers() -> None:
    close = verdict.close({"a": reading(114.0), "b": reading(84.0)}, {"a": 100, "b": 100}, "us")
    assert judged(close) == Outcome("a 114, b 84 us", "differs", "b -16 %")
    agree = verdict.agree({"a": reading(100.0), "b": reading(100.5)}, "us")
    assert judged(agree).verdict == "holds"
    apart = {"a": reading(100.0), "b": reading(107.0)}
    assert judged(verdict.agree(apart, "us")).verdict == "holds"
    assert judged(verdict.agree(apart, "us", 0.05)).by == "b +7 %"


def test_what_is_measured_over_seeds_has_its_spread() -> None:
    old = reading([1000.0, 1004.0])
    lower = judged(verdict.change(reading([799.0, 801.0]), old, -20.0, "KB"))
    assert lower.measured == "-20.2 % (800 ± 1 against 1,002 ± 3 KB)"
    kept = judged(verdict.below({"a": reading([11.7, 12.3])}, 15, "us"))
    assert kept == Outcome("a 12.0 ± 0.4 us", "holds")
    assert judged(verdict.agree({"": reading([0.5, 0.5])}, "")).measured == "0.500 ± 0.000"
    # One seed has no spread, and what never happens has none.
    assert judged(verdict.below({"a": reading([12.0])}, 15, "us")).measured == "a 12 us"
    never = {"a": reading([5.0, float("inf")])}
    assert judged(verdict.above(never, 3, "us")).measured == "a never us"


def test_unfairness_the_other_way_round_is_no_fairness(monkeypatch: pytest.MonkeyPatch) -> None:
    """THEMIS near the source, and how much is significantly."""
    (claim,) = (claim for claim in themis.parts.ABLATION.claims if claim.id == "themis-source")

    def judged_at(ours: float) -> Verdict:
        def of_scheme(name: str, _metric: str) -> Measure:
            return reading([ours if name.endswith("THEMIS") else 2.0] * 2)

        monkeypatch.setattr(themis.parts, "of_scheme", of_scheme)
        return judged(claim.judge).verdict

    assert claim.paper == "significantly: -65.3 % in table 2"
    assert judged_at(1.1) == "holds"
    assert judged_at(0.9) == "holds"
    assert judged_at(1.7) == "weaker"
    assert judged_at(0.4) == "differs"
