"""What ports are called wherever they are shown."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocelab.result import Result


def port_names_of(run: Result) -> dict[tuple[str, int], str]:
    """What to call each port: by the nodes of its link, as probes do.

    Ports of parallel links have their number, too.
    """
    rows = run.ports.to_polars().select("node", "port", "peer").rows()
    links = Counter((node, peer) for node, _, peer in rows)
    return {
        (node, port): f"{node}:{peer}" if links[node, peer] == 1 else f"{node}:{peer} ({port})"
        for node, port, peer in rows
    }
