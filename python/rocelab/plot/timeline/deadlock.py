"""Deadlocks: pauses that wait for each other in a circle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rocelab.plot.labels import plot_duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rocelab.plot.timeline.axes import Clock
    from rocelab.result import Result


@dataclass(frozen=True)
class Deadlock:
    """The circle of a run."""

    run: int
    since_ps: int
    nodes: tuple[str, ...]
    """Each is paused by the next one, and the last one by the first."""

    @property
    def links(self) -> list[str]:
        """The paused ports, as pictures call them."""
        return [f"{node}:{peer}" for node, peer in pairwise([*self.nodes, self.nodes[0]])]

    def holds(self, run: int, where: str) -> bool:
        """Whether the port ``where`` of a run is one of the circle.

        Its name may go on with its number and its priority.
        """
        begins = tuple(f"{link}{more}" for link in self.links for more in (" (", ", priority "))
        return run == self.run and (where in self.links or where.startswith(begins))


def deadlocks_of(runs: Sequence[Result]) -> list[Deadlock]:
    """The deadlocks in which runs ended."""
    return [
        Deadlock(number, found.since_ns * 1000, tuple(found.nodes))
        for number, found in enumerate(run.summary.deadlock for run in runs)
        if found
    ]


def deadlock_notes(deadlocks: Sequence[Deadlock], names: Sequence[str]) -> list[str]:
    """A line for each deadlock."""
    return [
        f"{f'{names[one.run]}: deadlock' if len(names) > 1 else 'Deadlock'} from "
        f"{plot_duration(one.since_ps)} on (dotted line): "
        f"{' > '.join([*one.nodes, one.nodes[0]])}."
        for one in deadlocks
    ]


def mark_deadlocks(axes: Axes, deadlocks: Sequence[Deadlock], clock: Clock) -> None:
    """A dotted line from where all links of a circle are paused."""
    for one in deadlocks:
        axes.axvline(clock.read(one.since_ps), color="black", linestyle=":", linewidth=0.8)
