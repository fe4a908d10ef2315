"""``result.plot``: the pictures of one result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocelab.plot import congestion_region, slowdown, timeline

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocelab.result import Result


class Plots:
    """The pictures of one result; :mod:`rocelab.plot` draws several results together."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __repr__(self) -> str:
        return f"<pictures of {self._result!r}>"

    def fct(self) -> Figure:
        """FCT slowdown by flow size."""
        return slowdown.fct(self._result)

    def tags(self) -> Figure:
        """FCT slowdown by tag."""
        return slowdown.tags(self._result)

    def queue(
        self, *, nodes: Sequence[str] | None = None, ports: Sequence[int] | None = None
    ) -> Figure:
        """Queue length over time."""
        return timeline.queue(self._result, nodes=nodes, ports=ports)

    def throughput(
        self, *, nodes: Sequence[str] | None = None, ports: Sequence[int] | None = None
    ) -> Figure:
        """Throughput over time."""
        return timeline.throughput(self._result, nodes=nodes, ports=ports)

    def pauses(
        self, *, nodes: Sequence[str] | None = None, ports: Sequence[int] | None = None
    ) -> Figure:
        """When ports were paused, to the picosecond; needs a trace of PFC frames."""
        return timeline.pauses(self._result, nodes=nodes, ports=ports)

    def region(self, time_us: float) -> Figure:
        """The congestion region of RCM at a moment, on the network; needs ``port-state`` probes."""
        return congestion_region.region(self._result, time_us)

    def series(
        self,
        kind: str,
        *,
        nodes: Sequence[str] | None = None,
        ports: Sequence[int] | None = None,
        flows: Sequence[int] | None = None,
    ) -> Figure:
        """Everything that probes of ``kind`` recorded, over time."""
        return timeline.series(self._result, kind, nodes=nodes, ports=ports, flows=flows)
