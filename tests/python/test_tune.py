"""``rocelab tune``: the search for the best values of keys."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from pathlib import Path

import optuna
import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command
from rocelab._format import parse
from rocelab.sweeps.metrics import METRICS, known_metrics, select_metrics
from rocelab.sweeps.tune import (
    Range,
    Trial,
    Tuning,
    _importance,
    parse_condition,
    parse_space,
    tune,
)

SPACE = ("ecn.kmin=5KB..100KBlog", "scheme.name=dcqcn,hpcc")


def search(out: Path, runs: int, *conditions: str, jobs: int | None = None) -> Tuning:
    """The shortest queue of the incast over :data:`SPACE`."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    known = known_metrics(scenario)
    return tune(
        scenario,
        [parse_space(one) for one in SPACE],
        select_metrics(["max_queue_bytes"], known),
        [parse_condition(one, known) for one in conditions],
        runs=runs,
        seeds=1,
        out=out,
        jobs=jobs,
    )


def test_a_search_is_the_same_whatever_the_jobs_and_goes_on(tmp_path: Path) -> None:
    short = search(tmp_path / "a", 6, jobs=1)
    whole = search(tmp_path / "b", 10, jobs=2)
    resumed = search(tmp_path / "a", 10)
    assert whole.table().equals(resumed.table())
    assert whole.table()[:6].equals(short.table())
    assert resumed.found == len(short.trials) == 6
    (best, *_) = resumed.best()
    queues = [one.goals[0] for one in resumed.trials if one.goals]
    assert best.goals == (min(queues),)


def test_memory_must_suffice_for_the_runs_that_go_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[tuple[int, int]] = []

    def check_runs(scenarios: Collection[object], at_a_time: int) -> None:
        checked.append((len(scenarios), at_a_time))

    monkeypatch.setattr("rocelab.sweeps.parallel.check_runs", check_runs)
    search(tmp_path / "a", 3, jobs=2)
    ((runs, at_a_time),) = checked
    assert at_a_time == min(2, runs)
    assert runs > 1


def test_every_trial_is_a_stored_run_of_its_values(tmp_path: Path) -> None:
    found = search(tmp_path / "a", 4)
    for path in (tmp_path / "a/runs").iterdir():
        result = rocelab.open(path / "1")
        scheme = result.summary["scheme"]
        kmin = result.scenario.to_dict()["ecn"]["kmin"]
        (trial,) = (one for one in found.trials if parse(one.values[0].label) == parse(kmin))
        assert trial.values[1].label == scheme
        assert trial.goals == (result.summary["max_queue_bytes"],)


def test_conditions_rule_out_what_misses_them(tmp_path: Path) -> None:
    found = search(tmp_path / "a", 8, "drops=0", "max_queue_bytes>=100KB")
    for one in found.trials:
        assert one.goals is not None
        assert one.holds == (one.goals[0] >= 100_000)
    assert all(one.holds for one in found.best())
    impossible = search(tmp_path / "a", 4, "flows_done>=99")
    assert not impossible.best()


def test_how_near_the_trials_come_to_the_conditions_is_told(
    tmp_path: Path, command: Command
) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    over = ("--over", "ecn.kmin=5KB..100KBlog", "--goal", "victim.slowdown_p99", "--runs", 2)
    limits = ("max_queue_bytes<=1B", "max_queue_bytes<=1GB", "flows>=1")
    conditions = [word for one in limits for word in ("--subject-to", one)]
    done = command("tune", "s.toml", *over, *conditions, "--out", "t", cwd=tmp_path)
    table = pl.read_csv(tmp_path / "t/trials.csv")
    columns = ["ecn.kmin", "victim.slowdown_p99", "max_queue_bytes", "flows", "holds"]
    assert table.columns == columns
    least = f"{float(table['max_queue_bytes'].min()) / 1000:.4g} KB"  # type: ignore[arg-type]
    (warning,) = [one for one in done.stderr.splitlines() if "meets all conditions" in one]
    assert warning.endswith(f": max_queue_bytes was {least} at best, not <= 0.001 KB")


def test_the_front_of_two_goals() -> None:
    goals = select_metrics(["slowdown_p99", "flows_done"], METRICS)
    trials = [Trial((), one) for one in ((1.0, 1.0), (2.0, 5.0), (3.0, 4.0))]
    missed = Trial((), (0.0, 9.0), excess=(1.0,))
    found = Tuning([], goals, trials=[*trials, Trial((), None), missed])
    assert [one.goals for one in found.best()] == [(1.0, 1.0), (2.0, 5.0)]


def test_ranges_and_conditions_are_read_or_refused() -> None:
    space = parse_space("ecn.kmin=5KB..1MBlog")
    assert isinstance(space, Range)
    assert (space.values.low, space.values.high, space.values.log) == (5_000, 1_000_000, True)
    assert space.values.written(123_456.7) == "123.5KB"
    whole = parse_space("host.ack_every=1..8")
    assert isinstance(whole, Range)
    assert whole.values.whole
    share = parse_space("ecn.pmax=0..1")
    assert isinstance(share, Range)
    assert not share.values.whole
    assert share.values.written(0.68521) == "0.6852"
    narrow = parse_space("traffic.0.size=100000B..100020B")
    assert isinstance(narrow, Range)
    assert narrow.values.written(100_013.2) == "100013B"
    assert parse_condition("paused_ns<=5us", METRICS).limit == 5_000
    assert parse_condition("max_queue_bytes<=1MB", METRICS).limit == 1_000_000
    for text in ("drops", "drops=x", "drops<0"):
        with pytest.raises(rocelab.ConfigError, match="needs a metric, =, <= or >=, and a number"):
            parse_condition(text, METRICS)
    for text in ("ecn.kmin=1MB..5KB", "ecn.kmin=1us..5KB"):
        with pytest.raises(rocelab.ConfigError, match="from a smaller to a larger value"):
            parse_space(text)


def test_the_command_prints_the_best_and_what_each_key_explains(
    tmp_path: Path, command: Command
) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    over = [word for one in SPACE for word in ("--over", one)]
    options = ("--goal", "victim.slowdown_p99", "--subject-to", "drops=0", "--runs", 5)
    done = command("tune", "s.toml", *over, *options, "--out", "t", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split() == ["ecn.kmin", "scheme.name", "victim.slowdown_p99"]
    told = "5 combinations tried for victim.slowdown_p99 (low is good); 5 meet all conditions"
    assert told in done.stdout
    assert "\ncaveat: dcqcn (dcqcn-paper): " in done.stdout
    assert len(pl.read_csv(tmp_path / "t/trials.csv")) == 5
    for other in ("report", "plot"):
        failed = command(other, "t", cwd=tmp_path)
        assert failed.returncode == 2
        assert "hint: it is a search, whose trials are in t/trials.csv" in failed.stderr
    failed = command("tune", "s.toml", *over, "--goal", "x", "--out", "t", cwd=tmp_path)
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: no metric 'x'")


def test_heads_of_columns_are_those_of_a_sweep(tmp_path: Path, command: Command) -> None:
    """The unit stands once, in the one that the numbers have."""
    (tmp_path / "s.toml").write_text(INCAST)
    over = ("s.toml", "--over", "ecn.kmin=50KB,100KB")
    done = command(
        "tune", *over, "--goal", "max_queue_bytes,slowdown_p99", "--out", "t", cwd=tmp_path
    )
    swept = command("sweep", *over, "--metric", "max_queue_bytes", "--out", "s", cwd=tmp_path)
    assert "max_queue (KB)" in done.stdout.splitlines()[0]
    assert "max_queue (KB)" in swept.stdout.splitlines()[0]


def tuned(
    out: Path,
    space: list[str],
    goal: str,
    *conditions: str,
    runs: int = 6,
    probe: dict[str, object] | None = None,
) -> Tuning:
    probes = [{"name": "p", "interval": "5us", **probe}] if probe else []
    scenario = rocelab.Scenario.from_toml(INCAST).with_settings(probe=probes)
    known = known_metrics(scenario)
    return tune(
        scenario,
        [parse_space(one) for one in space],
        select_metrics([goal], known),
        [parse_condition(one, known) for one in conditions],
        runs=runs,
        seeds=1,
        out=out,
    )


def test_of_rates_that_a_probe_samples_high_ones_are_good(tmp_path: Path) -> None:
    probe: dict[str, object] = {"kind": "throughput", "ports": ["s0:h4"]}
    found = tuned(tmp_path, ["topology.host_rate=25Gbps,100Gbps"], "p.mean", probe=probe)
    means = [one.goals[0] for one in found.trials if one.goals]
    assert len(set(means)) == 2
    assert found.best()[0].goals == (max(means),)


def test_limits_have_the_unit_of_the_probe(tmp_path: Path) -> None:
    probe: dict[str, object] = {"kind": "latency", "nodes": ["h0"]}
    space = ["ecn.kmax=6KB,400KB"]
    loose = tuned(tmp_path / "a", space, "slowdown_mean", "p.mean<=1s", probe=probe)
    tight = tuned(tmp_path / "b", space, "slowdown_mean", "p.mean<=1ns", probe=probe)
    assert all(one.holds for one in loose.trials)
    assert not any(one.holds for one in tight.trials)


@pytest.mark.parametrize(
    ("condition", "unit"),
    [
        ("max_queue_bytes<=1us", "is in bytes"),
        ("drops=0KB", "is a plain number"),
        ("slowdown_p99<=5KB", "is a plain number"),
        ("paused_ns<=1KB", "is in ns"),
    ],
)
def test_a_limit_in_another_unit_is_refused(condition: str, unit: str) -> None:
    known = known_metrics(rocelab.Scenario.from_toml(INCAST))
    with pytest.raises(rocelab.ConfigError, match=unit):
        parse_condition(condition, known)


@pytest.mark.parametrize(
    ("space", "why"),
    [
        (["ecn.kmin=5KB..50KB", "ecn.kmin=60KB,70KB"], r"ecn\.kmin: is varied twice"),
        (["scheme.name=dcqcn,hpcc", "scheme=dcqcn,hpcc"], r"scheme\.name: is varied, and so is"),
        (["run.seed=1..9"], "seeds are not values to vary"),
    ],
)
def test_keys_of_a_search_are_those_of_a_sweep(tmp_path: Path, space: list[str], why: str) -> None:
    with pytest.raises(rocelab.ConfigError, match=why):
        tuned(tmp_path, space, "max_queue_bytes", runs=3)
    assert list(tmp_path.iterdir()) == []


def test_listed_values_are_tried_once_each(tmp_path: Path) -> None:
    space = ["ecn.kmax=50KB,100KB,400KB,1600KB", "scheme.name=dcqcn,hpcc"]
    found = tuned(tmp_path, space, "max_queue_bytes", runs=30)
    tried = [tuple(value.label for value in one.values) for one in found.trials]
    assert len(tried) == len(set(tried)) == 8
    assert found.found == 0


def test_combinations_that_make_no_scenario_are_left_out_and_told(tmp_path: Path) -> None:
    space = ["ecn.kmin=5KB,200KB", "ecn.kmax=100KB,400KB"]
    found = tuned(tmp_path, space, "max_queue_bytes")
    assert len(found.trials) == 3
    (refused,) = found.refused
    assert refused.startswith("ecn.kmin = 200KB, ecn.kmax = 100KB: ")
    with pytest.raises(rocelab.ConfigError, match="no combination"):
        tuned(tmp_path / "b", ["ecn.kmin=200KB", "ecn.kmax=100KB"], "max_queue_bytes")


def test_keys_that_change_nothing_explain_nothing_and_are_named(tmp_path: Path) -> None:
    """Neither pause offsets nor the share of lossy packets matter here: nothing is paused."""
    line = "changes nothing: its values give equal results"
    space = ["pfc.resume_offset=1KB..9KB", "switch.lossy_alpha=1..5"]
    found = tuned(tmp_path / "a", space, "slowdown_mean", runs=4)
    assert found.importance == {}
    assert found.warnings == [f"pfc.resume_offset {line}", f"switch.lossy_alpha {line}"]
    space = ["scheme.name=dcqcn,hpcc", "pfc.resume_offset=1KB,2KB"]
    found = tuned(tmp_path / "b", space, "slowdown_mean")
    assert found.warnings == [f"pfc.resume_offset {line}"]
    assert set(found.importance) == {"scheme.name", "pfc.resume_offset"}


@pytest.mark.parametrize("others", [0, 1])
def test_shares_are_of_good_values_whatever_the_direction(others: int) -> None:
    """The high values depend on x alone, the low ones on y alone, and z never varies."""
    low, high = optuna.study.StudyDirection.MINIMIZE, optuna.study.StudyDirection.MAXIMIZE
    study = optuna.create_study(directions=[high, *([low] * others)])
    unit = optuna.distributions.FloatDistribution(0, 1)
    places = [(2 * place + 1) / 40 for place in range(20)]
    for x, y in itertools.product(places, places):
        goal = 1.0 if x > 0.9 else -1.0 if y < 0.1 else 0.0
        study.add_trial(
            optuna.trial.create_trial(
                params={"x": x, "y": y, "z": 0.5},
                distributions=dict.fromkeys("xyz", unit),
                values=[goal, *([0.0] * others)],
            )
        )
    (jain,) = select_metrics(["jain"], METRICS)
    shares = _importance(study, jain)
    assert shares.keys() == {"x", "y"}
    assert shares["x"] > 0.9


def test_a_goal_that_is_the_same_everywhere_has_no_shares(tmp_path: Path, command: Command) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    over = ("--over", "scheme.name=dcqcn,hpcc", "--goal", "flows_done", "--runs", 5)
    done = command("tune", "s.toml", *over, "--out", "t", cwd=tmp_path)
    assert done.stderr.splitlines() == ["warning: flows_done is 4 in all combinations"]
    table = done.stdout.split("\n\n")[1]
    (share,) = (line.split()[1:2] for line in table.splitlines() if "scheme" in line)
    assert share == ["-"]
    assert "\n2 combinations tried (5 were asked for) for flows_done" in done.stdout
    one = ("--over", "scheme.name=dcqcn", "--goal", "flows_done", "--subject-to", "drops=0")
    done = command("tune", "s.toml", *one, "--out", "t", cwd=tmp_path)
    told = "1 combination tried (40 were asked for) for flows_done (high is good); 1 meets all"
    assert told in done.stdout
    assert "; 1 run was there before\n" in done.stdout


def test_unfinished_flows_are_not_taken_for_fast_ones(tmp_path: Path, command: Command) -> None:
    """A combination that leaves the slowest flows unfinished has the best slowdowns."""
    (tmp_path / "s.toml").write_text(INCAST)
    options = ("--over", "ecn.kmin=5KB,20KB", "--set", "run.stop=60us", "--goal", "slowdown_mean")
    done = command("tune", "s.toml", *options, "--out", "t", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "warning: 2 of 2 runs, the first in runs/kmin=" in done.stderr
    assert "flows are unfinished at 60us" in done.stderr
    head, first = (line.split() for line in done.stdout.splitlines()[:2])
    assert head[-2:] == ["flows", "done"]
    assert int(first[-3]) < int(first[-1]) == 4
    assert "meet all conditions" not in done.stdout
    whole = command("tune", "s.toml", *options[:2], "--out", "w", cwd=tmp_path)
    assert "unfinished" not in whole.stderr
    assert "flows done" not in whole.stdout


@pytest.mark.parametrize(
    ("kmin", "told"),
    [
        ("10KB,300KB", "1 combination makes no valid scenario and was left out: ecn.kmin = 300KB"),
        (
            "10KB,300KB,400KB",
            "2 combinations make no valid scenario and were left out, such as ecn.kmin = ",
        ),
    ],
)
def test_combinations_that_were_left_out_are_counted(
    tmp_path: Path, command: Command, kmin: str, told: str
) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    over = ("--over", f"ecn.kmin={kmin}", "--set", "ecn.kmax=200KB", "--runs", len(kmin.split(",")))
    done = command("tune", "s.toml", *over, "--out", "t", cwd=tmp_path)
    assert f"warning: {told}" in done.stderr


def test_a_key_that_is_none_is_told_with_what_was_meant(tmp_path: Path, command: Command) -> None:
    (tmp_path / "s.toml").write_text(INCAST)
    options = ("--over", "ecn.kmix=5KB,10KB", "--out", "t")
    done = command("tune", "s.toml", "--goal", "slowdown_p99", *options, cwd=tmp_path)
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert "ecn.kmix = 5KB: unknown key" in error
    assert hint == "hint: did you mean `kmin`?"
