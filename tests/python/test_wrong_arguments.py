"""Arguments of Python functions that cannot be what they are: one clear error, before the run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import rocelab
from conftest import INCAST, Command


class Unlimited:
    """A law that holds nothing back."""

    def __init__(self, _path: object, _now_ps: int) -> None:
        pass

    def limits(self) -> rocelab.Limits:
        return rocelab.Limits()


@pytest.fixture(scope="module")
def scenario() -> rocelab.Scenario:
    return rocelab.Scenario.from_toml(INCAST)


@pytest.mark.parametrize("start", [1, 1.5, None, b"1ms", "1", ["1ms"], "100KB", "1Gbps", "1m"])
def test_times_of_pictures_have_a_unit(incast: rocelab.Result, start: Any) -> None:  # noqa: ANN401
    calls: list[Callable[..., object]] = [incast.plot.queue, incast.plot.fct, incast.plot.tags]
    for draw in calls:
        if start is None:
            assert draw(start=start)
            continue
        with pytest.raises(rocelab.ConfigError, match=r"start: .* is no time") as caught:
            draw(start=start)
        assert caught.value.hint == 'with its unit, such as "1.5ms"'


def test_the_size_of_a_picture_is_a_pair(incast: rocelab.Result) -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match=r"size must be a pair of inches, such as \(7, 3\), not 3"):
        incast.plot.queue(size=wrong)


def test_progress_is_a_flag_or_a_function(scenario: rocelab.Scenario) -> None:
    wrong: Any = "yes"
    law = rocelab.prototype(Unlimited)
    for run in (rocelab.run, law.run):
        with pytest.raises(
            TypeError, match="progress must be True, False or a function, not 'yes'"
        ):
            run(scenario, progress=wrong)


def test_a_scratch_directory_is_no_open_file(scenario: rocelab.Scenario, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        number: Any = file.fileno()
        for run in (rocelab.run, rocelab.prototype(Unlimited).run):
            with pytest.raises(TypeError, match="not int"):
                run(scenario, scratch=number)
        file.write("still open")
        file.flush()


def test_a_scenario_is_read_from_text() -> None:
    text: Any = INCAST.encode()
    with pytest.raises(TypeError, match="takes the text of a scenario, not bytes"):
        rocelab.Scenario.from_toml(text)


def test_an_executor_has_its_own_number_of_workers(
    scenario: rocelab.Scenario, tmp_path: Path
) -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match=r"executor must be one of concurrent\.futures, not 3"):
        rocelab.sweep(scenario, seeds=2, executor=wrong)
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(rocelab.ConfigError, match="jobs: the executor's workers decide"),
    ):
        rocelab.sweep(scenario, seeds=2, executor=executor, jobs=3, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_progress_of_a_sweep_is_a_flag(scenario: rocelab.Scenario) -> None:
    """A function that would never be called is no silent wish for a bar."""
    wrong: Any = print
    with pytest.raises(TypeError, match="progress must be True or False, not <built-in"):
        rocelab.sweep(scenario, seeds=2, progress=wrong)


@pytest.mark.parametrize("metric", [None, 1, Path("jain")])
def test_metrics_have_names(scenario: rocelab.Scenario, metric: Any) -> None:  # noqa: ANN401
    swept = rocelab.sweep(scenario, {"scheme": ["dcqcn", "hpcc"]})
    calls: list[Callable[[], object]] = [lambda: swept.best([metric]), lambda: swept.plot(metric)]
    for call in calls:
        with pytest.raises(TypeError, match="a metric is given by its name, not by "):
            call()


@pytest.mark.parametrize("histories", [0, -1])
def test_a_check_checks_something(histories: int) -> None:
    with pytest.raises(rocelab.ConfigError, match=f"histories: must be 1 or more, not {histories}"):
        rocelab.prototype(Unlimited).check_invariants(histories)


def test_the_best_are_best_by_a_metric(
    scenario: rocelab.Scenario, tmp_path: Path, command: Command
) -> None:
    swept = rocelab.sweep(scenario, seeds=2)
    with pytest.raises(rocelab.ConfigError, match="best needs a metric"):
        swept.best([])
    with pytest.raises(rocelab.ConfigError, match="best needs a metric"):
        swept.best(iter(()))  # type: ignore[arg-type]
    (tmp_path / "s.toml").write_text(INCAST)
    for option in (("--best", ","), ("--sort", "jain,drops"), ("--sort", "")):
        failed = command("sweep", "s.toml", "--seeds", 2, *option, "--out", "out", cwd=tmp_path)
        assert failed.returncode == 2
        assert "--sort takes one metric" in failed.stderr
        assert not (tmp_path / "out").exists(), "nothing was run"
