"""What a picture over time shows, before it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocelab.plot.look import Look
from rocelab.plot.timeline.axes import Clock, choose_clock
from rocelab.plot.timeline.deadlock import Deadlock
from rocelab.plot.timeline.select import Line


@dataclass(frozen=True)
class Scene:
    """Lines with all that is said of them."""

    lines: Sequence[Line]
    names: Sequence[str]
    """What the results are called."""
    places: Sequence[str]
    """The ports or flows, in the order in which they are drawn."""
    indices: Sequence[int]
    """Which look each of ``places`` has, where there is one result."""
    left_out: str
    notes: Sequence[str]
    begin_ps: int
    whole_ps: int
    """How long the longest run was: it decides the unit of time."""
    deadlocks: Sequence[Deadlock]
    look: Look

    @property
    def clock(self) -> Clock:
        """How its times are shown."""
        end_ps = max(int(line.time_ps[-1]) for line in self.lines)
        return choose_clock(self.begin_ps, end_ps, self.whole_ps)

    def look_of(self, line: Line) -> int:
        """The number of the look of ``line``: that of its place, or of its result."""
        if len(self.names) > 1:
            return line.run
        return self.indices[self.places.index(line.where)]
