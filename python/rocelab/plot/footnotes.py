"""What stands below a picture: caveats, and how many flows were done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rocelab._coverage import Coverage
from rocelab._format import parse, picoseconds, rate
from rocelab.plot.growth import grow, width_in
from rocelab.plot.labels import narrow, plot_duration, width_pt
from rocelab.plot.theme import FONT_PT
from rocelab.result import failures_of, receivers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocelab.result import Result

_NOTE_PT = 6
"""Size of the letters of notes."""
_MARGIN_PT = 6
"""Left free beside notes, in all."""
_COARSE = 1.19
"""How much wider small letters are in low resolutions, where they take whole pixels."""
_MAX_LISTED = 4
"""Link failures, and slow receivers, that a note lists."""


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


def disturbances(results: Sequence[Result], names: Sequence[str]) -> list[str]:
    """What links of ``results`` failed or became worse, what hosts took data slowly, and when."""
    return [
        *_told("Links", results, names, failures_in_words),
        *_told("Receivers", results, names, receivers_in_words),
    ]


def shared_disturbances(results: Sequence[Result]) -> list[str]:
    """What :func:`disturbances` says of all of ``results``; nothing of what only some had."""
    told = [disturbances([result], [""]) for result in results]
    return [text for text in told[0] if all(text in of for of in told)] if told else []


def _told(
    what: str,
    results: Sequence[Result],
    names: Sequence[str],
    in_words: Callable[[Result], str],
) -> list[str]:
    """What ``in_words`` says of ``results``, each text once."""
    whose: dict[str, list[str]] = {}
    for name, result in zip(names, results, strict=True):
        if told := in_words(result):
            whose.setdefault(told, []).append(name)
    if all(len(known) == len(results) for known in whose.values()):
        return [f"{what}: {told}." for told in whose]
    return [f"{what} of {', '.join(known)}: {told}." for told, known in whose.items()]


def failures_in_words(result: Result) -> str:
    """The link failures of a run: ``s0:s1 failed from 3 µs to 7 µs``; empty where none began."""
    return _listed(result, failures_of(result.scenario_toml), failure_in_words)


def receivers_in_words(result: Result) -> str:
    """The slow receivers of a run: ``h0 took no data from 3 µs on``; empty where none began."""
    return _listed(result, receivers_of(result.scenario_toml), receiver_in_words)


def _listed(
    result: Result,
    entries: Sequence[Mapping[str, Any]],
    in_words: Callable[[Mapping[str, Any]], str],
) -> str:
    """The first of ``entries`` in words, of those that began before ``result`` ended."""
    end_ps = result.summary.simulated_ns * 1000
    begun = [one for one in entries if picoseconds(one["at"]) <= end_ps]
    told = [in_words(one) for one in begun[:_MAX_LISTED]]
    more = [f"{len(begun) - len(told)} more"] if len(begun) > len(told) else []
    return "; ".join([*told, *more])


def failure_in_words(failure: Mapping[str, Any]) -> str:
    """What an entry of ``[[failure]]`` made of its link, and when."""
    if "rate" in failure:
        what = f"at {_rate(failure['rate'])}"
    elif "error_rate" in failure:
        what = f"damaged packets with probability {failure['error_rate']:g}"
    else:
        what = "failed"
    return f"{failure['link']} {what} {_while(failure)}"


def receiver_in_words(receiver: Mapping[str, Any]) -> str:
    """How fast hosts of an entry of ``[[receiver]]`` took data, and when."""
    parsed = parse(receiver["rate"])
    stalled = parsed is not None and parsed[0] == 0
    what = "no data" if stalled else f"data at {_rate(receiver['rate'])}"
    hosts: list[str] = receiver["hosts"]
    shown = ", ".join(hosts[:_MAX_LISTED])
    more = f" and {len(hosts) - _MAX_LISTED} more" if len(hosts) > _MAX_LISTED else ""
    return f"{shown}{more} took {what} {_while(receiver)}"


def _rate(given: str) -> str:
    parsed = parse(given)
    return rate(parsed[0]) if parsed else given


def _while(entry: Mapping[str, Any]) -> str:
    """From when to when an entry of a scenario holds."""
    since, until = (entry.get(key) and picoseconds(entry[key]) for key in ("at", "until"))
    return f"from {plot_duration(since or 0)}" + (f" to {plot_duration(until)}" if until else " on")


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
