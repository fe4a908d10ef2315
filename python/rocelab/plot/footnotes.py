"""What stands below a picture: caveats, and how many flows were done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rocelab._coverage import Coverage
from rocelab._format import parse, picoseconds, rate
from rocelab.plot.growth import grow, width_in
from rocelab.plot.labels import narrow, plot_duration, width_pt
from rocelab.plot.theme import FONT_PT
from rocelab.result import failures_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocelab.result import Result

_NOTE_PT = 6
"""Size of the letters of notes."""
_MARGIN_PT = 6
"""Left free beside notes, in all."""
_COARSE = 1.19
"""How much wider small letters are in low resolutions, where they take whole pixels."""
_MAX_FAILURES = 4
"""Link failures that a note lists."""


def unfinished(results: Sequence[Result | None], names: Sequence[str]) -> list[str]:
    """How many flows were done, of those of ``results`` where that is not all of them."""
    covered = {
        name: Coverage.of(result.summary)
        for name, result in zip(names, results, strict=True)
        if result
    }
    counts = {name: one for name, one in covered.items() if not one.complete}
    if len(results) == 1:
        return [f"{count} flows done." for count in counts.values()]
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    return [f"Flows done: {told}."] if told else []


def cut_off(results: Sequence[Result], names: Sequence[str]) -> list[str]:
    """From when on nothing was recorded, of those of ``results`` that had no more room."""
    found = {
        name: plot_duration(since)
        for name, result in zip(names, results, strict=True)
        if (since := result.summary.recording_stopped_ps) is not None
    }
    if len(results) == 1:
        return [f"Nothing was recorded from {since} on." for since in found.values()]
    return [f"{name}: nothing was recorded from {since} on." for name, since in found.items()]


def failures(results: Sequence[Result], names: Sequence[str]) -> list[str]:
    """Which links of ``results`` failed, slowed down or damaged packets, and when."""
    whose: dict[str, list[str]] = {}
    for name, result in zip(names, results, strict=True):
        if told := failures_in_words(result):
            whose.setdefault(told, []).append(name)
    if all(len(known) == len(results) for known in whose.values()):
        return [f"Links: {told}." for told in whose]
    return [f"Links of {', '.join(known)}: {told}." for told, known in whose.items()]


def failures_in_words(result: Result) -> str:
    """The link failures of a run: ``s0:s1 failed from 3 µs to 7 µs``; empty where none began."""
    end_ps = result.summary.simulated_ns * 1000
    begun = [one for one in failures_of(result.scenario_toml) if picoseconds(one["at"]) <= end_ps]
    told = [_failure(one) for one in begun[:_MAX_FAILURES]]
    more = [f"{len(begun) - len(told)} more"] if len(begun) > len(told) else []
    return "; ".join([*told, *more])


def _failure(failure: Mapping[str, Any]) -> str:
    since, until = (failure.get(key) and picoseconds(failure[key]) for key in ("at", "until"))
    end = f" to {plot_duration(until)}" if until else " on"
    if "rate" in failure:
        parsed = parse(failure["rate"])
        what = f"at {rate(parsed[0]) if parsed else failure['rate']}"
    elif "error_rate" in failure:
        what = f"damaged packets with probability {failure['error_rate']:g}"
    else:
        what = "failed"
    return f"{failure['link']} {what} from {plot_duration(since or 0)}{end}"


def footnotes(drawn: Figure, notes: Sequence[str]) -> None:
    """Writes ``notes`` in small letters below all panels of ``drawn``, which grows by them."""
    if not notes:
        return
    room_pt = (width_in(drawn) * 72 - _MARGIN_PT) / _COARSE * FONT_PT / _NOTE_PT
    lines = [line for note in notes for line in _fill(note, room_pt)]
    grow(drawn, 0.12 * (len(lines) + 1))
    drawn.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=_NOTE_PT, parse_math=False)


def _fill(note: str, room_pt: float) -> list[str]:
    """``note`` in lines that are no wider than ``room_pt`` in letters of the usual size."""
    lines = [""]
    for word in note.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if width_pt(longer) <= room_pt:
            lines[-1] = longer
        else:
            # A word that is wider than a line, such as a path, is broken.
            lines += narrow(word, room_pt)
    return list(filter(None, lines))
