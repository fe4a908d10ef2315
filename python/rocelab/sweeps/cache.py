"""A cache that has each run made only once.

A result is kept under a hash of its complete scenario and of the simulator.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path

from rocelab._module import cache_directory
from rocelab.errors import ConfigError, ResultError
from rocelab.io.files import check_output_directory, os_errors_as_result_error
from rocelab.io.locks import locked, report
from rocelab.io.open import check_bytes, open_result, open_without_warning
from rocelab.io.save import recover_all, save
from rocelab.result import Result
from rocelab.scenario import Scenario
from rocelab.sweeps.parallel import Workers
from rocelab.sweeps.remote import run_scenarios
from rocelab.sweeps.simulator import simulator_hash


def default_cache() -> Path:
    """``rocelab`` in the user's cache directory."""
    directory = cache_directory()
    if directory is None:
        raise ConfigError(
            "the user has no home directory to keep results in", hint="say where: --cache DIR"
        )
    return directory


def run_all(
    scenarios: Mapping[str, Scenario],
    directory: Path,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> dict[str, Result]:
    """The results of ``scenarios``, from the cache in ``directory`` or by ``jobs`` runs at a time.

    With ``executor`` runs are made there, instead of here.
    An entry of the cache that is damaged, or that is of another scenario, is run again. On Ctrl-C
    what is complete stays there. Raises :class:`ResultError`, before the runs, where no result
    could be put there.
    """
    workers = Workers(jobs, executor)
    recover_all(directory)
    homes = {name: directory / _key(scenario) for name, scenario in scenarios.items()}
    wanted = {homes[name]: scenario for name, scenario in scenarios.items()}
    results = {home: _cached(home, scenario) for home, scenario in wanted.items()}
    missing = {home: scenario for home, scenario in wanted.items() if results[home] is None}
    if missing:
        workers.check_memory(missing.values())
        check_output_directory(directory)

    def keep(home: Path, result: Result) -> None:
        # Another process may have been faster: its result is the same.
        save(result, home, force=True)

    run_scenarios(
        list(missing),
        missing.__getitem__,
        keep,
        workers,
        progress=progress,
    )
    return {name: results[home] or open_result(home) for name, home in homes.items()}


def _cached(home: Path, scenario: Scenario) -> Result | None:
    """The result that the cache has there, if it is sound and of ``scenario``."""
    result = open_if_valid(home, scenario)
    if result is None and home.exists():
        # What another process may have put there since is sound.
        with os_errors_as_result_error(home), locked(home):
            try:
                return open_valid(home, scenario)
            except ResultError:
                shutil.rmtree(home, ignore_errors=True)
    return result


def open_if_valid(home: Path, scenario: Scenario | None = None) -> Result | None:
    """The result in ``home``; None where there is none, or a damaged one, which is logged.

    With ``scenario`` one of another scenario, or without checksums, counts as damaged.
    """
    with os_errors_as_result_error(home, "read"):
        if not home.exists():
            return None
    try:
        return open_valid(home, scenario)
    except ResultError as error:
        report_rerun(error.args[0])
        return None


def report_rerun(why: str) -> None:
    """Logs that a run is made again, and why."""
    report(f"{why}; its scenario is run again")


def open_valid(home: Path, scenario: Scenario | None = None) -> Result:
    """As :func:`open_if_valid`, but raises :class:`ResultError` where that returns None."""
    result = open_without_warning(home)
    check_bytes(result)
    if scenario is not None:
        if result.unverified:
            raise ResultError(f"{home}: has no checksums")
        if result.scenario_toml != scenario.to_toml():
            raise ResultError(f"{home}: is the result of another scenario")
    return result


def _key(scenario: Scenario) -> str:
    text = f"{simulator_hash()}\n{scenario.to_toml()}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]
