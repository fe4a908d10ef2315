"""How evenly uplinks are used: the distribution of their imbalance over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocelab._balance import KINDS, imbalance_over_time
from rocelab.errors import ResultError
from rocelab.plot.footnotes import caveats, cut_off, failures
from rocelab.plot.labels import resolve_names
from rocelab.plot.look import Look
from rocelab.plot.panels import figure, legend
from rocelab.plot.theme import line_style, theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocelab.plot.labels import Results
    from rocelab.result import Result


def balance(
    results: Results,
    *,
    notes: bool | Sequence[str] = True,
    size: tuple[float, float] | None = None,
) -> Figure:
    """The imbalance of the uplinks of switches, as a distribution over switches and intervals.

    It is (max - min) / mean of what the uplinks of a switch send in an interval of a probe of kind
    "throughput" or "utilisation". 0 is an even spread; n with n uplinks says that one has it all.
    ``notes`` and ``size`` are those of :func:`series`.
    """
    look = Look(notes, size)
    runs, names = resolve_names(results)
    values = [imbalances(run) for run in runs]
    lacking = [name for name, found in zip(names, values, strict=True) if not found]
    if lacking:
        raise ResultError(
            f"{', '.join(lacking)}: no series has the load of several uplinks of a switch",
            hint='add a [[probe]] of kind = "throughput" with nodes = [the switches]',
        )
    of_runs = [*cut_off(runs, names), *failures(runs, names), *caveats(runs)]
    said = ["Of intervals in which a switch sent something up.", *of_runs]
    with theme():
        drawn, (axes,) = figure(notes=said, look=look)
        for index, (name, found) in enumerate(zip(names, values, strict=True)):
            shares = [(rank + 1) / len(found) for rank in range(len(found))]
            colour, line, _ = line_style(index)
            axes.step(found, shares, where="post", color=colour, linestyle=line, label=name)
        axes.set_xlabel("Imbalance of uplinks, (max - min) / mean")
        axes.set_ylabel("Share of intervals")
        axes.set_ylim(0, 1)
        axes.set_xlim(left=0)
        legend(drawn, [axes], names)
    return drawn


def imbalances(run: Result) -> list[float]:
    """Those of the first series that has some, ascending."""
    for name, series in run.series.items():
        if series.kind in KINDS:
            found = imbalance_over_time(run, name)["imbalance"].sort().to_list()
            if found:
                return found
    return []
