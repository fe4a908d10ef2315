"""``rocelab run`` and ``rocelab validate``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from rocelab.errors import ConfigError, Interrupted
from rocelab.quantity import count, duration, size
from rocelab.scenario import Scenario, load_with_settings
from rocelab.stopping import stoppable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocelab.result import Result

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO.toml", show_default=False)]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key; repeatable."),
]
Threads = Annotated[
    int | None, typer.Option(help="Threads, 1 or more; they change the speed and nothing else.")
]
SummaryAsJson = Annotated[bool, typer.Option("--json", help="Print the summary alone, as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors alone; no progress bar.")]


def run(
    scenario: ScenarioFile,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Result directory; default: out/NAME.")
    ] = None,
    threads: Threads = None,
    seed: Annotated[int | None, typer.Option(help="Seed; as --set run.seed=N.")] = None,
    settings: Settings = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace the result that is there; other files in DIR, pictures too, stay.",
        ),
    ] = False,
    as_json: SummaryAsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario and write its result directory.

    Ctrl-C and SIGTERM stop the run and leave a partial result.
    """
    # Late, so that --help and --version need not wait for it.
    from rocelab.simulate import run as simulate
    from rocelab.store import check_target

    loaded = load_scenario(scenario, settings, seed)
    directory = out if out is not None else Path("out") / loaded.name
    check_target(directory, force=force)
    with stoppable() as stop:
        try:
            result = simulate(loaded, threads=threads, progress=not quiet)
        except Interrupted as stopped:
            result = stopped.result
        stop.too_late = True
        result.save(directory, force=force)
        _tell(result, ("result", str(directory)), as_json=as_json, quiet=quiet)
        if stop.heard:
            _interrupted(f"{directory} holds", result)


def validate(scenario: ScenarioFile, settings: Settings = None) -> None:
    """Check a scenario without running it; print it complete, with every default filled in."""
    loaded = load_scenario(scenario, settings, None)
    loaded.checked.check()
    print(loaded.to_toml(), end="")


def hpcc(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.txt", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the files go; default: where the configuration says."
        ),
    ] = None,
    threads: Threads = None,
    settings: Settings = None,
    to_scenario: Annotated[
        bool,
        typer.Option("--to-scenario", help="Print the scenario that does the same; run nothing."),
    ] = False,
    as_json: SummaryAsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment of the HPCC ns-3 simulator: its files in, its files out.

    Ctrl-C and SIGTERM stop the run and leave the files of a partial result.

    Names in the configuration are relative to the working directory. What that simulator does
    differently is a switch in the scenario's [quirks], to be changed with --set.
    """
    from rocelab.hpcc import Experiment

    experiment = Experiment(config)
    if not quiet:
        _warn(experiment.warnings)
    changes = _changes(settings)
    if to_scenario:
        print(experiment.scenario(changes).to_toml(), end="")
        return
    with stoppable() as stop:
        try:
            result, written = experiment.run(
                settings=changes, threads=threads, progress=not quiet, into=out
            )
        except Interrupted as stopped:
            result, written = stopped.result, stopped.files
        stop.too_late = True
        _tell(result, ("files", "  ".join(map(str, written))), as_json=as_json, quiet=quiet)
        if stop.heard:
            _interrupted("the files hold", result)


def validate_hpcc(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Holds cases: folders with config.txt and the fct.txt and pfc.txt it gave there.",
            show_default=False,
        ),
    ],
    seeds: Annotated[
        int, typer.Option(min=1, help="Runs of a case that differs, each with its own seed.")
    ] = 1,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Draw the cases that hold ts_queue.txt and ts_rate.txt (or .gz): queue and rates "
            "over time, there and here.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A list of cases, as JSON.")] = False,
) -> None:
    """Compare with the HPCC simulator's own runs: a Markdown table, a case a line."""
    from dataclasses import asdict

    from rocelab.agreement import compare, find_cases, table
    from rocelab.overlay import draw, has_series
    from rocelab.store import check_directory

    cases = find_cases(directory)
    if figures is not None:
        check_directory(figures)
    rows = []
    for case in cases:
        inside = case.relative_to(directory)
        name = str(inside) if inside.name else directory.resolve().name
        print(name, file=sys.stderr)
        rows.append(compare(case, name, seeds))
        if figures is not None and has_series(case):
            draw(case, figures / name.replace("/", "-"))
    print(json.dumps([asdict(row) for row in rows], indent=2) if as_json else table(rows))


def _changes(settings: list[str] | None) -> list[tuple[str, str]]:
    changes: list[tuple[str, str]] = []
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise ConfigError(
                f"--set {setting}: needs a key and a value", hint="such as --set run.seed=2"
            )
        changes.append((key.strip(), value.strip()))
    return changes


def load_scenario(path: Path, settings: list[str] | None, seed: int | None) -> Scenario:
    """The scenario of a command's arguments; ``seed`` is that of ``--seed``."""
    changes = _changes(settings)
    if seed is not None:
        changes.append(("run.seed", str(seed)))
    return load_with_settings(path, changes)


def _tell(result: Result, place: tuple[str, str], *, as_json: bool, quiet: bool) -> None:
    """Warnings and the summary of a run, as the options want them."""
    if not quiet:
        _warn(result.warnings)
    if as_json:
        print(json.dumps(result.summary, indent=2, ensure_ascii=False))
    elif not quiet:
        print(describe(result, place))


def _interrupted(where: str, result: Result) -> NoReturn:
    """Ends a command that was told to stop; ``where`` says what has become of the ``result``."""
    what = "a partial" if result.partial else "the whole"
    print(f"interrupted: {where} {what} result", file=sys.stderr)
    raise typer.Exit(130)


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)


def describe(result: Result, place: tuple[str, str]) -> str:
    """The summary as people read it; ``place`` says what was written and where."""
    summary = result.summary
    speed = summary["packet_hops_per_s"]
    rows = [
        ("simulated", f"{duration(summary['simulated_ns'] * 1000)} in {summary['wall_s']:.2f} s"),
        ("speed", f"{count(speed)} packet-hops/s on {_threads(summary['threads'])}"),
        ("flows", f"{summary['flows_done']:,} of {summary['flows']:,} done"),
        ("FCT slowdown", _slowdowns(summary["slowdown"])),
        (
            "pauses",
            f"{summary['pause_frames']:,} frames, {duration(summary['paused_ns'] * 1000)} in all",
        ),
        ("drops", f"{summary['drops']:,} ({summary['lossless_drops']:,} in lossless classes)"),
        *([("lost on links", f"{summary['lost_packets']:,}")] if summary["lost_packets"] else []),
        ("longest queue", size(summary["max_queue_bytes"])),
        *((name.replace("_", " "), f"{n:,}") for name, n in summary["counters"].items()),
        ("digest", summary["digest"]),
        place,
    ]
    title = f"{summary['name']}: {summary['scheme']} ({summary['preset']}), seed {summary['seed']}"
    if summary["caveat"]:
        rows.append(("caveat", summary["caveat"]))
    width = max(14, *(len(name) + 2 for name, _ in rows))
    return "\n".join([title, *(f"  {name:<{width}}{text}" for name, text in rows)])


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"


def _slowdowns(slowdown: dict[str, Any]) -> str:
    if slowdown["mean"] is None:
        return "no flow completed"
    return "  ".join(f"{name} {slowdown[name]:.2f}" for name in ("mean", "p50", "p95", "p99"))
