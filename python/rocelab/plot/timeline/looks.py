"""Which look each port and flow has: the same one in all pictures of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocelab._ports import port_names_of
from rocelab.plot.theme import COLOURS

if TYPE_CHECKING:
    from rocelab.result import Result


def looks_of(run: Result, places: Sequence[str]) -> list[int]:
    """The number of the look of each of ``places``, flows or ports of ``run``.

    It is the place's number among all that the probes of the run recorded. Where two of ``places``
    would have one colour so, they are numbered by themselves.
    """
    flows: set[int] = set()
    ports: set[tuple[str, int]] = set()
    for series in run.series.values():
        found = series._places
        if "flow_id" in found.columns:
            flows.update(found["flow_id"])
        else:
            ports.update(found.select("node", "port").iter_rows())
    names = port_names_of(run)
    # Both are numbered from 0: no picture has flows and ports.
    numbers = {f"flow {flow}": number for number, flow in enumerate(sorted(flows))}
    numbers |= {names[port]: number for number, port in enumerate(sorted(ports))}
    looks = [numbers[where.split(", priority ")[0]] for where in places]
    apart = len({look % len(COLOURS) for look in looks}) == len(places)
    return looks if apart else list(range(len(places)))
