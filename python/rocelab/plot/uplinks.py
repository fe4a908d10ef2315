"""How evenly uplinks are used: the distribution of their imbalance over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocelab._balance import KINDS, imbalance_over_time
from rocelab._format import picoseconds
from rocelab.catalogue import caveats
from rocelab.errors import ResultError
from rocelab.plot.footnotes import cut_off, disturbances
from rocelab.plot.labels import plot_duration, resolve_names
from rocelab.plot.look import Look
from rocelab.plot.panels import figure, fit_titles, legend, title
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
    found = [_first(run) for run in runs]
    lacking = [name for name, one in zip(names, found, strict=True) if one is None]
    if lacking:
        raise ResultError(
            f"{', '.join(lacking)}: no series has the load of several uplinks of a switch",
            hint='add a [[probe]] of kind = "throughput" with nodes = [the switches]',
        )
    known = [one for one in found if one is not None]
    intervals = dict.fromkeys(f"{plot_duration(one.interval_ps)}" for one in known)
    switches = dict.fromkeys(f"{one.switches:,}" for one in known)
    several = "switch" if list(switches) == ["1"] else "switches"
    of_which = (
        f"Of {' and '.join(switches)} {several}, intervals of {' and '.join(intervals)} in which "
        "something was sent up."
    )
    said = [
        of_which,
        *cut_off(runs, names),
        *disturbances(runs, names),
        *caveats(runs),
    ]
    with theme():
        drawn, (axes,) = figure(notes=said, look=look)
        for index, (name, one) in enumerate(zip(names, known, strict=True)):
            shares = [(rank + 1) / len(one.values) for rank in range(len(one.values))]
            colour, line, _ = line_style(index)
            axes.step(one.values, shares, where="post", color=colour, linestyle=line, label=name)
        axes.set_xlabel("Imbalance of uplinks, (max - min) / mean")
        axes.set_ylabel("Share of intervals")
        axes.set_ylim(0, 1)
        axes.set_xlim(left=0)
        legend(drawn, [axes], names)
        if len(runs) == 1:
            title(axes, names[0])
            fit_titles(drawn, [axes])
    return drawn


def shows_balance(run: Result) -> bool:
    """Whether a series of ``run`` has the load of several uplinks of a switch."""
    return _first(run) is not None


@dataclass(frozen=True)
class _Imbalances:
    """What one series shows of the uplinks of switches."""

    values: list[float]
    """Of all switches and intervals, ascending."""
    switches: int
    interval_ps: int


def _first(run: Result) -> _Imbalances | None:
    """Those of the first series that has some.

    Utilisation comes first: it knows links that became slow.
    """
    kinds = sorted(run.series.items(), key=lambda one: one[1].kind != "utilisation")
    for name, series in kinds:
        if series.kind in KINDS:
            table = imbalance_over_time(run, name)
            if len(table):
                interval_ps = picoseconds(run.probes[name]["interval"])
                values = table["imbalance"].sort().to_list()
                return _Imbalances(values, table["node"].n_unique(), interval_ps)
    return None
