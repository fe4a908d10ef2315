"""The directory of a sweep: tables, what was asked for, and a result directory for each run.

A run that is there is known by its complete scenario and by the hash of the simulator that made it,
which stands in its directory and is written after all else; where a run replaces another, the
other's hash goes first. Several commands may write to one directory at once: none replaces a run of
another scenario or simulator without `force`, and none reads such a run as its own.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocelab import __version__
from rocelab._format import is_or_are
from rocelab.errors import ConfigError, ResultError
from rocelab.io.files import (
    check_output_directory,
    os_errors_as_result_error,
    to_json,
    write_atomic,
)
from rocelab.io.layout import SUMMARY, SWEEP, TUNE
from rocelab.io.locks import locked
from rocelab.io.open import open_result
from rocelab.io.read import read_text
from rocelab.io.save import check_result_directory, recover, reserved
from rocelab.io.write import to_parquet
from rocelab.result import refused_scenario
from rocelab.scenario import Scenario
from rocelab.sweeps.cache import open_if_valid, open_valid, report_rerun
from rocelab.sweeps.grid import make_axes
from rocelab.sweeps.simulator import simulator_hash

if TYPE_CHECKING:
    from rocelab.result import Result
    from rocelab.sweeps import Sweep
    from rocelab.sweeps.plan import SweepPlan

SCHEMA_VERSION = 1
"""The layout of a sweep's directory."""

_MAX_SWEEP_BYTES = 1 << 28
"""Bytes of ``sweep.json``."""

_RUNS = "runs"
_SIMULATOR = "simulator.sha256"
"""In each run's directory."""
_HASH = re.compile(r"[0-9a-f]{64}")
_MAX_HASH_BYTES = 1 << 10
"""Bytes of it."""


class _Kept(Enum):
    """What is in the place of a run."""

    SAME = "same"
    """The run that belongs there, whole."""
    OTHER = "other"
    """A run of another scenario or simulator."""
    NONE = "none"
    """No whole run."""


def prepare_directory(
    directory: Path, wanted: Iterable[tuple[str, str]], *, force: bool, marker: str = SWEEP
) -> set[str]:
    """Makes ``directory`` ready for the runs ``wanted``, pairs of place and complete scenario.

    Returns the places of those that it lacks. What killed commands left there is restored or
    removed, and runs that are damaged are named. ``marker`` is the file by which the directory is
    known.

    Raises :class:`ResultError` where it is no place for a sweep, or where another run has a place;
    with ``force`` such a run counts as missing.
    """
    check_output_directory(directory)
    if directory.exists() and any(directory.iterdir()) and not (directory / marker).is_file():
        what = "a sweep" if marker == SWEEP else "a search"
        raise ResultError(
            f"{directory}: exists and is not {what} of rocelab",
            hint="choose another directory",
        )
    places, others = set(), []
    for place, scenario in wanted:
        home = directory / place
        kept = _kept(home, scenario)
        if kept is _Kept.SAME:
            continue
        places.add(place)
        if kept is _Kept.OTHER:
            others.append(home)
        elif _lacks_summary(home):
            _discard(home)
        if home.exists():
            check_result_directory(home, force=True)
    if others and not force:
        raise ResultError(
            f"{directory}: {len(others)} of its runs {is_or_are(len(others))} of "
            f"another scenario or simulator, such as {others[0]}",
            hint="--force, in Python force=True, runs them again; or choose another directory",
        )
    return places


def missing_cases(directory: Path, wanted: Iterable[tuple[str, str]]) -> set[str]:
    """The places of the runs ``wanted`` that ``directory`` lacks. Changes and prints nothing."""
    return {
        place
        for place, scenario in wanted
        if _current(directory / place, scenario) is not _Kept.SAME
    }


def _lacks_summary(home: Path) -> bool:
    """Whether a run of a sweep was there, of which the summary is gone."""
    # Nothing else has such a file.
    return (home / _SIMULATOR).is_file() and not (home / SUMMARY).exists()


def _discard(home: Path) -> None:
    """Removes a run without a summary, unless another command has completed it meanwhile."""
    with os_errors_as_result_error(home), locked(home):
        if _lacks_summary(home):
            shutil.rmtree(home, ignore_errors=True)


def _kept(home: Path, scenario: str) -> _Kept:
    """What is in the place of the run of ``scenario``, after what killed commands left is restored.

    Damaged runs are named.
    """
    recover(home)
    result = open_if_valid(home)
    if result is None:
        return _Kept.NONE
    kept = _compare(result, home, scenario)
    if kept is _Kept.NONE and result.unverified:
        report_rerun(f"{home}: has no checksums")
    return kept


def _compare(result: Result, home: Path, scenario: str) -> _Kept:
    """What ``result``, the one in ``home``, is to the run of ``scenario``."""
    if result.scenario_toml != scenario:
        return _Kept.OTHER
    maker = _maker(home)
    if maker != simulator_hash():
        return _Kept.OTHER if _HASH.fullmatch(maker) else _Kept.NONE
    return _Kept.NONE if result.unverified or result.partial else _Kept.SAME


def _maker(home: Path) -> str:
    """The hash of the simulator that made the run there; empty where it cannot be read."""
    try:
        return read_text(home / _SIMULATOR, _MAX_HASH_BYTES).strip()
    except (OSError, UnicodeDecodeError):
        return ""


def store_case(result: Result, home: Path, *, force: bool) -> None:
    """Writes a run to its place, unless another command has put the same one there meanwhile.

    Raises :class:`ResultError` where that put one of another scenario or simulator there. With
    ``force`` it is replaced.
    """
    with reserved(home, force=True) as place:
        kept = _current(home, result.scenario_toml)
        if kept is _Kept.SAME:
            return
        if kept is _Kept.OTHER and not force:
            raise _taken(home)
        # It is no part of a result, and would stay there beside the run of another simulator.
        with os_errors_as_result_error(home):
            (home / _SIMULATOR).unlink(missing_ok=True)
        place.save(result)
        write_atomic(home / _SIMULATOR, f"{simulator_hash()}\n".encode(), follow=False)


def _current(home: Path, scenario: str) -> _Kept:
    """As :func:`_kept`, but only reads: restores nothing, and does not say what is damaged."""
    if not home.exists():
        return _Kept.NONE
    try:
        return _compare(open_valid(home), home, scenario)
    except ResultError:
        return _Kept.NONE


def open_case(home: Path, scenario: str) -> Result:
    """The run in ``home``, which is known to have been that of ``scenario``.

    Raises :class:`ResultError` where another command has put another one there since.
    """
    result = open_result(home)
    if result.scenario_toml != scenario or _maker(home) != simulator_hash():
        raise _taken(home)
    return result


def _taken(home: Path) -> ResultError:
    return ResultError(
        f"{home}: another command has put a run of another scenario or simulator there meanwhile",
        hint="commands that run at once need a directory each: --out, in Python out=",
    )


def write_plan(directory: Path, plan: SweepPlan) -> None:
    """Says what was asked for, before there is anything else."""
    write_atomic(directory / SWEEP, to_json(_asked(plan, partial=True)), follow=False)


def read_sweep(directory: Path) -> tuple[SweepPlan, list[Result]]:
    """What the sweep in ``directory`` was asked for, and the results of all its runs."""
    path = directory / SWEEP
    try:
        asked = json.loads(read_text(path, _MAX_SWEEP_BYTES))
    except FileNotFoundError:
        raise ResultError(f"{directory}: not a sweep of rocelab: has no {SWEEP}") from None
    except OSError as error:
        raise ResultError(f"{path}: cannot read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path}: damaged: {error}") from None
    try:
        if asked["schema"] > SCHEMA_VERSION:
            raise ResultError(
                f"{directory}: written by rocelab {asked['version']}, which this one cannot read",
                hint="use a newer rocelab",
            )
        plan, partial = _plan_of(asked), asked.get("partial", False)
    except (KeyError, TypeError, AttributeError) as error:
        raise ResultError(f"{path}: damaged: {error}") from None
    except ConfigError as error:
        raise refused_scenario(
            ConfigError(error.message, file=str(path), key=error.key, hint=error.hint)
        ) from None
    return plan, _read_results(directory, plan, partial=partial)


def _plan_of(asked: Mapping[str, Any]) -> SweepPlan:
    from rocelab.sweeps.plan import SweepPlan

    scenario = Scenario(**asked["scenario"])
    plan = SweepPlan(scenario, make_axes(asked["over"]), len(asked["seeds"]), asked.get("zip", []))
    if "file" in asked:
        settings = tuple((str(key), str(value)) for key, value in asked["set"])
        plan.written_in = str(asked["file"]), settings
    return plan


def _read_results(directory: Path, plan: SweepPlan, *, partial: bool) -> list[Result]:
    """The results of all runs of ``plan``. A command that is ``partial`` has not ended."""
    homes = [directory / case.place for case in plan.cases]
    missing = [home for home in homes if not (home / SUMMARY).is_file()]
    if missing:
        raise ResultError(
            f"{directory}: {len(missing)} of {len(homes)} runs {is_or_are(len(missing))} missing, "
            f"such as {missing[0]}",
            hint="the command that began the sweep runs them",
        )
    if partial:
        # Where it replaces runs, those that are there may be of another scenario.
        raise ResultError(
            f"{directory}: the last command that wrote to it has not ended, so that runs may be "
            "of an earlier one, with other settings",
            hint="the same command makes the runs that it lacks",
        )
    return [open_result(home) for home in homes]


def write_tune(directory: Path, scenario: Scenario) -> None:
    """Says what is tuned, before there is anything else."""
    asked = {
        "schema": SCHEMA_VERSION,
        "version": __version__,
        "simulator": simulator_hash(),
        "scenario": scenario.to_dict(),
    }
    write_atomic(directory / TUNE, to_json(asked), follow=False)


def write_tables(directory: Path, sweep: Sweep) -> None:
    """Writes all that is not in the directories of the runs."""
    runs = sweep.runs.to_polars()
    write_atomic(directory / f"{_RUNS}.parquet", to_parquet(runs), follow=False)
    write_atomic(directory / f"{_RUNS}.csv", runs.write_csv().encode(), follow=False)
    told = {
        **_asked(sweep.plan, partial=False),
        "units": {metric.name: metric.unit for metric in sweep.metrics},
        "statistics": sweep.statistics.to_polars().to_dicts(),
    }
    write_atomic(directory / SWEEP, to_json(told), follow=False)


def _asked(plan: SweepPlan, *, partial: bool) -> dict[str, Any]:
    return {
        "schema": SCHEMA_VERSION,
        "version": __version__,
        "simulator": simulator_hash(),
        "partial": partial,
        "over": {axis.key: [value.data for value in axis.values] for axis in plan.axes},
        "zip": [list(group) for group in plan.zipped],
        "seeds": list(plan.seeds),
        "scenario": plan.scenario.to_dict(),
        **_written_in(plan),
    }


def _written_in(plan: SweepPlan) -> dict[str, Any]:
    """What a command that repeats the sweep begins with."""
    if plan.written_in is None:
        return {}
    file, settings = plan.written_in
    return {"file": file, "set": [list(pair) for pair in settings]}
