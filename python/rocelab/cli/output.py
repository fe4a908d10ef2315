"""What commands print about runs: warnings, the summary, what an interrupted run left."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging import ERROR, getLogger
from typing import TYPE_CHECKING, NoReturn
from warnings import simplefilter

import typer

from rocelab._coverage import Coverage
from rocelab._format import count, duration, pluralise, size
from rocelab._text import filled, json_text, printable, printable_lines
from rocelab.cli import FAILED, INTERRUPTED
from rocelab.errors import MemoryWarning

if TYPE_CHECKING:
    from rocelab._rocelab import Summary, TagStatistics
    from rocelab.result import Result


_MAX_WARNING = 1000
"""Characters of a warning that are shown."""
_MAX_TAGS = 12
"""Tags that the summary of a run lists."""
_SHOWN_BELOW_ONE = 0.995
"""A slowdown below this is shown as one below 1."""
_MAX_TAG = 24
"""Characters of a tag that are shown."""


def show(text: str, *, end: str = "\n", flush: bool = False) -> None:
    """Writes ``text`` to the standard output, without what no terminal should be sent."""
    print(printable_lines(text), end=end, flush=flush)


def note(text: str) -> None:
    """Writes ``text`` to the standard error stream, without what no terminal should be sent."""
    print(printable_lines(text), file=sys.stderr)


def show_caveats(caveats: Sequence[str]) -> None:
    """Writes what is to be known before numbers are trusted, after these; none: nothing."""
    if caveats:
        show("\n" + "\n".join(filled(one, first="caveat: ", others="  ") for one in caveats))


def show_toml(text: str) -> None:
    """Writes a scenario to the standard output: to a file or a pipe as it is, letter by letter."""
    print(printable_lines(text) if sys.stdout.isatty() else text, end="")


def print_result(result: Result, place: tuple[str, str], *, as_json: bool, quiet: bool) -> None:
    """Prints the warnings and the summary of a run as ``--json`` and ``--quiet`` ask."""
    if not quiet:
        print_warnings(result.warnings)
    if as_json:
        show(json_text(result.summary.to_dict()))
    elif not quiet:
        show(_describe(result, place))


def exit_interrupted(where: str, result: Result) -> NoReturn:
    """Ends a command after Ctrl-C or SIGTERM. ``where`` begins the sentence about ``result``."""
    what = "a partial" if result.partial else "the whole"
    note(f"interrupted: {where} {what} result")
    raise typer.Exit(INTERRUPTED)


def print_errors_alone(quiet: bool) -> None:
    """With ``quiet``, leaves out the warnings of memory and of what killed processes left."""
    if quiet:
        simplefilter("ignore", MemoryWarning)
        getLogger("rocelab").setLevel(ERROR)


def print_warnings(warnings: Sequence[str]) -> None:
    """Prints ``warnings`` to the standard error stream, a line each."""
    for warning in warnings:
        note(f"warning: {printable(warning, _MAX_WARNING)}")


def check_doubts(doubts: Sequence[str], *, strict: bool, told: bool) -> None:
    """With ``--strict``, ends a command whose numbers are doubtful with exit code 1.

    If ``told`` is false, they have not been printed before, and are printed first.
    """
    if not strict or not doubts:
        return
    if not told:
        print_warnings(doubts)
    what = pluralise(len(doubts), "warning casts", "warnings cast")
    print(f"error: --strict: {what} doubt on the numbers", file=sys.stderr)
    raise typer.Exit(FAILED)


def _describe(result: Result, place: tuple[str, str]) -> str:
    """The summary as people read it; ``place`` says what was written and where."""
    summary = result.summary
    speed = summary.packet_hops_per_s
    threads = pluralise(summary.threads, "thread", "threads")
    frames = pluralise(summary.pause_frames, "frame", "frames")
    rows = [
        ("simulated", f"{duration(summary.simulated_ns * 1000)} in {summary.wall_s:.2f} s"),
        ("speed", f"{count(speed)} packet-hops/s on {threads}"),
        ("flows", f"{Coverage.of(summary)} done"),
        ("FCT slowdown", _of_all(summary)),
        *_by_group(summary.by_tag),
        *_by_group(summary.by_scheme),
        *_below_one(summary, place),
        ("pauses", f"{frames}, {duration(summary.paused_ns * 1000)} over all ports"),
        ("drops", _drops(summary, place)),
        *([("lost on links", f"{summary.lost_packets:,}")] if summary.lost_packets else []),
        ("longest queue", size(summary.max_queue_bytes)),
        *((name.replace("_", " "), f"{n:,}") for name, n in summary.counters.items()),
        ("digest", summary.digest),
        place,
    ]
    told = (summary.name, summary.scheme, summary.preset)
    name, scheme, preset = (printable(text) for text in told)
    title = f"{name}: {scheme} ({preset}), seed {summary.seed}"
    width = max(14, *(len(name) + 2 for name, _ in rows))
    lines = [title, *(f"  {name:<{width}}{text}" for name, text in rows)]
    if summary.caveat:
        lines.append(
            filled(summary.caveat, first=f"  {'caveat':<{width}}", others=" " * (width + 2))
        )
    return "\n".join(lines)


def _drops(summary: Summary, place: tuple[str, str]) -> str:
    lossless = f"{summary.lossless_drops:,} in lossless classes"
    if summary.lossless_drops and place[0] == "result":
        lossless += ": see drops.json"
    if watchdog := summary.counters.get("watchdog_drops"):
        lossless += f", {watchdog:,} more by the PFC watchdog"
    return f"{summary.drops:,} ({lossless})"


def _slowdowns(summary: Summary | TagStatistics) -> str:
    statistics = summary.slowdown.items()
    told = [f"{name} {one:.2f}" for name, one in statistics if isinstance(one, float)]
    if not told:
        return "no flow completed"
    covered = Coverage.of(summary)
    if not covered.complete:
        told.append(f"({covered} flows)")
    return "  ".join(told)


def _below_one(summary: Summary, place: tuple[str, str]) -> list[tuple[str, str]]:
    """Why slowdowns of the HPCC simulator's experiments are below 1, where they are."""
    median = summary.slowdown.p50
    if place[0] != "files" or median is None or median >= _SHOWN_BELOW_ONE:
        return []
    return [
        (
            "  below 1",
            "times are cut to whole nanoseconds, as in that simulator, but the ideal FCT is not",
        )
    ]


def _of_all(summary: Summary) -> str:
    """Slowdowns of all flows; a single tag has no row of its own, so its time stands here."""
    tags = [one for one in summary.by_tag.values() if one.flows]
    return _slowdowns(summary) + (_within(tags[0]) if len(tags) == 1 else "")


def _by_group(groups: dict[str, TagStatistics]) -> list[tuple[str, str]]:
    """A row for each tag or scheme, if there are several; for many tags, where their rows are."""
    used = {name: one for name, one in groups.items() if one.flows}
    if len(used) > _MAX_TAGS:
        return [("  by tag", f"{len(used):,} tags: see rocelab fct --by-tag")]
    if len(used) == 1:
        return []
    return [(f"  {printable(name, _MAX_TAG)}", _of_group(one)) for name, one in used.items()]


def _of_group(one: TagStatistics) -> str:
    return _slowdowns(one) + _within(one)


def _within(one: TagStatistics) -> str:
    return "" if one.makespan_ps is None else f"  within {duration(one.makespan_ps)}"


@contextmanager
def report_kept_runs(place: str) -> Iterator[None]:
    """On Ctrl-C, prints where the complete runs are and ends the command."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"interrupted: runs that are complete stay in {place}")
        raise typer.Exit(INTERRUPTED) from None
