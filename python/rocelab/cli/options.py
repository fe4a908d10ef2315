"""Options that several commands have, and what they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.models import OptionInfo

from rocelab import _examples
from rocelab.errors import ConfigError, ResultError
from rocelab.io.files import check_output_file, write_atomic
from rocelab.scenario import Scenario, load_with_settings


def _complete_scenario(begun: str) -> list[str]:
    """Examples, and scenario files here; if none of them fits, the shell lists files."""
    here = (path.name for path in Path().glob("*.toml"))
    return [one for one in (*sorted(here), *_examples.scenario_names()) if one.startswith(begun)]


ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file, or the name of an example (`rocelab list examples`).",
        show_default=False,
        readable=False,
        autocompletion=_complete_scenario,
    ),
]
"""If it cannot be read, the code that reads it raises the error."""
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Another value for a key of the scenario, such as scheme=hpcc or ecn.kmin=50KB; "
        "repeatable.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Threads, which change the speed and nothing else; default: one for each processor; "
        "1 with fewer than 64 hosts.",
    ),
]
SummaryAsJson = Annotated[bool, typer.Option("--json", help="Print only the summary, as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors; no progress bar.")]
NoBar = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit with 1 where a warning casts doubt on the numbers: unfinished flows, a PFC "
        "deadlock, drops in a lossless class. What is written stays.",
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Where results are kept for later commands; default: rocelab in $XDG_CACHE_HOME or "
        "~/.cache.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Runs at a time; default: one for each processor that they may use."
    ),
]

CsvFile = Annotated[Path | None, typer.Option("--csv", metavar="FILE.csv", help="Write it as CSV.")]
MarkdownFile = Annotated[
    Path | None,
    typer.Option("--markdown", metavar="FILE.md", help="Write it as a Markdown page."),
]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on the Dask cluster whose scheduler is there, such as tcp://10.0.0.1:8786.",
    ),
]


def renamed(old: str, new: str) -> OptionInfo:
    """A hidden option that fails and names the option that has its place."""

    def refuse(value: object) -> None:
        if value:
            raise ConfigError(f"{old} is called {new} now")

    option: OptionInfo = typer.Option(old, hidden=True, callback=refuse)
    return option


def choose_one(**given: object) -> None:
    """Raises where several options are ``given``, by their names in Python; None is not given."""
    options = [
        f"--{name.replace('_', '-')}"
        for name, value in given.items()
        if value is not None and value is not False
    ]
    if len(options) > 1:
        raise ConfigError(f"{options[0]} and {options[1]}: choose one")


def changes_of(settings: list[str] | None) -> list[tuple[str, str]]:
    """The keys and values of ``--set``."""
    changes: list[tuple[str, str]] = []
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise ConfigError(
                f"--set {setting}: needs a key and a value", hint="such as --set run.seed=2"
            )
        changes.append((key.strip(), value.strip()))
    return changes


def load_scenario(path: Path, settings: list[str] | None, seed: int | None = None) -> Scenario:
    """The scenario of a command's arguments; ``seed`` is that of ``--seed``."""
    changes = changes_of(settings)
    typed = [(key, f"--set {key}={value}") for key, value in changes]
    if seed is not None:
        if any(key == "run.seed" for key, _ in changes):
            raise ConfigError("--seed and --set run.seed: choose one")
        changes.append(("run.seed", str(seed)))
        typed.append(("run.seed", f"--seed {seed}"))
    try:
        return load_with_settings(_examples.file_of(path), changes)
    except ConfigError as error:
        told = [_said_of_option(one, typed) for one in (error, *error.others)]
        told[0].others = told[1:]
        raise told[0] from None


def _said_of_option(error: ConfigError, typed: list[tuple[str, str]]) -> ConfigError:
    """``error`` with the option at fault in place of the file, where it is one of ``typed``.

    These are keys, and the options that set them as they were typed.
    """
    for key, option in reversed(typed):
        if error.is_of(key):
            return ConfigError(error.message, file=option, key=error.key, hint=error.hint)
    return error


def check_ending(option: str, path: Path, *endings: str) -> None:
    """Raises where ``path``, given with ``option``, has none of ``endings``; it names the first."""
    if path.suffix not in endings:
        raise ResultError(f"{option} {path}: must end in {endings[0]}")


def check_text_file(option: str, path: Path | None, ending: str) -> None:
    """Raises where ``path``, given with ``option``, could not be written; before the runs."""
    if path is None:
        return
    check_ending(option, path, ending)
    check_output_file(path)


def write_text(path: Path, text: str) -> None:
    """Writes what :func:`check_text_file` found a place for."""
    write_atomic(path, text.encode())
