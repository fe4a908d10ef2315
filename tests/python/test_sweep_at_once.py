"""Commands that write to one directory at once: no number of one is taken for the other's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

import rocelab
from conftest import INCAST
from rocelab.simulate import run_checked
from rocelab.sweeps import remote
from rocelab.sweeps.metrics import METRICS
from rocelab.sweeps.plan import Case, SweepPlan
from rocelab.sweeps.tune import parse_space, tune

OVER = {"scheme.name": ["none", "hpcc"]}


class Meanwhile(Executor):
    """Runs each scenario here, and lets something else happen before the first one."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self._happens = [happens]

    def submit(self, fn: Callable[..., Any], /, *args: object, **kwargs: object) -> Future[Any]:
        if self._happens:
            self._happens.pop()()
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@pytest.fixture(scope="module")
def scenario() -> rocelab.Scenario:
    return rocelab.Scenario.from_toml(INCAST)


@pytest.fixture(scope="module")
def larger(scenario: rocelab.Scenario) -> rocelab.Scenario:
    return scenario.with_settings(**{"traffic.0.size": "600KB"})


def written(out: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in out.rglob("summary.json")}


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("on_executor", [True, False])
def test_a_file_of_flows_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stored: bool, on_executor: bool
) -> None:
    """All runs are of the file as it was when the sweep began, even if it is gone."""
    flows = tmp_path / "flows.csv"
    flows.write_text("src,dst,size\nh1,h0,5KB\n")
    (tmp_path / "one.toml").write_text(
        '[topology]\nkind = "star"\nhosts = 4\nhost_rate = "100Gbps"\nhost_delay = "1us"\n'
        '[[traffic]]\nkind = "flows"\nflows_file = "flows.csv"\n'
    )
    base = rocelab.load(tmp_path / "one.toml")
    if on_executor:
        executor = Meanwhile(flows.unlink)
    else:
        executor = None

        def run_and_remove(*args: Any, **more: Any) -> rocelab.Result:  # noqa: ANN401
            flows.unlink(missing_ok=True)
            return run_checked(*args, **more)

        monkeypatch.setattr(remote, "run_checked", run_and_remove)
    out = tmp_path / "out" if stored else None
    jobs = None if on_executor else 1
    done = rocelab.sweep(base, OVER, out=out, executor=executor, jobs=jobs)
    assert not flows.exists()
    assert [one.flows.to_polars()["size_bytes"].to_list() for one in done.results] == [[5000]] * 2
    assert [one.scenario.name for one in done.results] == ["one"] * 2


def test_a_file_of_flows_that_changes_while_runs_are_checked_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both a file that the scenario names, and one that a setting of the sweep names."""
    for name, size in (("a", 5), ("b", 6)):
        (tmp_path / f"{name}.csv").write_text(f"src,dst,size\nh1,h0,{size}KB\n")
    (tmp_path / "one.toml").write_text(
        '[topology]\nkind = "star"\nhosts = 4\nhost_rate = "100Gbps"\nhost_delay = "1us"\n'
        '[[traffic]]\nkind = "flows"\nflows_file = "a.csv"\n'
    )
    base = rocelab.load(tmp_path / "one.toml")
    plain = SweepPlan.checked

    def check_and_change(plan: SweepPlan, case: Case, at_a_time: int) -> Any:  # noqa: ANN401
        checked = plain(plan, case, at_a_time)
        for file in tmp_path.glob("*.csv"):
            if file.name == "a.csv" or "b.csv" in str(case.combination):
                file.write_text("src,dst,size\nh1,h0,9KB\n")
        return checked

    monkeypatch.setattr(SweepPlan, "checked", check_and_change)
    over = {"traffic.0.flows_file": ["a.csv", "b.csv"]}
    done = rocelab.sweep(base, over, seeds=2)
    sizes = [one.flows.to_polars()["size_bytes"].to_list() for one in done.results]
    assert sizes == [[5000], [5000], [6000], [6000]]


def test_another_sweep_in_the_directory_is_noticed_when_a_run_is_stored(
    scenario: rocelab.Scenario, larger: rocelab.Scenario, tmp_path: Path
) -> None:
    """Both begin with an empty directory, as where neither command says ``--out``."""
    executor = Meanwhile(lambda: rocelab.sweep(larger, OVER, out=tmp_path / "out"))
    with pytest.raises(rocelab.ResultError, match="another command has put a run of another"):
        rocelab.sweep(scenario, OVER, out=tmp_path / "out", executor=executor)
    there = {path.read_text() for path in (tmp_path / "out").rglob("scenario.toml")}
    assert all('size = "600KB"' in text for text in there), "runs of the other stay"


def test_another_sweep_that_replaces_runs_is_noticed_at_the_end(
    scenario: rocelab.Scenario, larger: rocelab.Scenario, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    rocelab.sweep(scenario, OVER, out=out)
    executor = Meanwhile(lambda: rocelab.sweep(larger, OVER, out=out, force=True))
    more = {"scheme.name": ["none", "hpcc", "dcqcn"]}
    with pytest.raises(rocelab.ResultError, match="another command has put a run of another"):
        rocelab.sweep(scenario, more, out=out, executor=executor)


def test_tables_of_a_sweep_that_was_replaced_are_refused(
    scenario: rocelab.Scenario, larger: rocelab.Scenario, tmp_path: Path
) -> None:
    """Metrics of one run must not stand beside the digest of another."""
    out = tmp_path / "out"
    rocelab.sweep(scenario, OVER, out=out)
    opened = rocelab.open_sweep(out)
    rocelab.sweep(larger, OVER, out=out, force=True)
    with pytest.raises(rocelab.ResultError, match="was replaced after it had been opened"):
        opened.runs.to_polars()


def test_tables_of_a_sweep_keep_no_table_of_its_runs(
    scenario: rocelab.Scenario, tmp_path: Path
) -> None:
    """There may be many; and the runs are opened, and warned about, once."""
    swept = rocelab.sweep(scenario, OVER, out=tmp_path / "out")
    for path in (tmp_path / "out").rglob("*.parquet"):
        path.unlink()
    with pytest.raises(rocelab.ResultError, match="cannot read"):
        swept.results[0].flows.to_polars()


def test_another_search_in_the_directory_is_noticed(
    scenario: rocelab.Scenario, larger: rocelab.Scenario, tmp_path: Path
) -> None:
    pytest.importorskip("optuna")
    space = [parse_space("scheme.name=none,hpcc")]
    goals = [one for one in METRICS if one.name == "slowdown_mean"]

    def search(base: rocelab.Scenario, executor: Executor | None = None) -> object:
        return tune(
            base, space, goals, (), runs=2, seeds=1, out=tmp_path / "out", executor=executor
        )

    with pytest.raises(rocelab.ResultError, match="another command has put a run of another"):
        search(scenario, Meanwhile(lambda: search(larger)))


def test_the_same_sweep_at_once_makes_no_run_again(
    scenario: rocelab.Scenario, tmp_path: Path
) -> None:
    """A run that another process is about to complete must not be replaced under its hands."""
    out = tmp_path / "out"
    times: dict[Path, int] = {}

    def other() -> None:
        rocelab.sweep(scenario, OVER, out=out)
        times.update(written(out))

    done = rocelab.sweep(scenario, OVER, out=out, executor=Meanwhile(other))
    assert len(times) == len(done.results) == 2
    assert written(out) == times
    assert [one.summary.digest for one in done.results] == [
        one.summary.digest for one in rocelab.sweep(scenario, OVER).results
    ]
