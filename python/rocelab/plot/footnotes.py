"""What stands below a picture: caveats, and how many flows were done."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocelab.plot.growth import grow, width_in
from rocelab.plot.theme import WIDTH_IN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocelab.result import Result

_NOTE_WIDTH = 66
"""Letters of a note in a line of a column's width."""


def caveats(results: Sequence[Result]) -> list[str]:
    """What a reader of a picture must know of the schemes of ``results``, each once."""
    presets: dict[tuple[str, str], list[str]] = {}
    for result in results:
        scheme, preset, caveat = (result.summary[key] for key in ("scheme", "preset", "caveat"))
        known = presets.setdefault((scheme, caveat), [])
        if preset not in known:
            known.append(preset)
    return [
        f"{scheme} ({', '.join(known)}): {caveat}"
        for (scheme, caveat), known in presets.items()
        if caveat
    ]


def unfinished(results: Sequence[Result | None], names: Sequence[str]) -> list[str]:
    """How many flows were done, of those of ``results`` where that is not all of them."""
    counts = {
        name: f"{result.summary.flows_done:,} of {result.summary.flows:,}"
        for name, result in zip(names, results, strict=True)
        if result and result.summary.flows_done < result.summary.flows
    }
    if len(results) == 1:
        return [f"{count} flows done." for count in counts.values()]
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    return [f"Flows done: {told}."] if told else []


def footnotes(drawn: Figure, notes: Sequence[str]) -> None:
    """Writes ``notes`` in small letters below all panels of ``drawn``, which grows by them."""
    if not notes:
        return
    letters = int(_NOTE_WIDTH * width_in(drawn) / WIDTH_IN)
    lines = [line for note in notes for line in textwrap.wrap(note, letters)]
    grow(drawn, 0.12 * (len(lines) + 1))
    drawn.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=6, parse_math=False)
