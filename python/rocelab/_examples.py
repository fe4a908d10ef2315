"""The examples that come with rocelab, as a place to begin from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "examples"


@dataclass(frozen=True)
class Example:
    """A scenario, or a folder with files of the HPCC simulator."""

    name: str
    file: str
    """Its name below :data:`FOLDER`."""
    summary: str

    @property
    def path(self) -> Path:
        """Where it is."""
        return FOLDER / self.file


EXAMPLES = (
    Example("incast", "incast-victim.toml", "an incast, and a flow that shares a link with it"),
    Example("leaf-spine", "storage-incast.toml", "a storage incast beside WebSearch traffic"),
    Example("fat-tree", "fat-tree-websearch.toml", "WebSearch traffic at 50 % load on 128 hosts"),
    Example("cross-dc", "two-data-centres.toml", "requests between two data centres, 100 km apart"),
    Example("collective", "all-reduce.toml", "a ring all-reduce over four racks"),
    Example("load-balancing", "load-balancing.toml", "packets sent where the least waits"),
    Example("planes", "planes.toml", "hosts with a port in each of four planes, all in use"),
    Example("pause-storm", "pause-storm.toml", "a NIC that stalls, and whom its pauses reach"),
    Example("failing-link", "failing-link.toml", "a link that fails under load and is repaired"),
    Example("two-schemes", "old-and-new.toml", "DCQCN on some hosts beside HPCC on others"),
    Example("two-classes", "lossy-and-lossless.toml", "a lossless class beside one without PFC"),
    Example("hpcc-files", "hpcc-files", "files of the HPCC simulator: config, topology and flows"),
)
"""All of them, with their short names."""


def find(name: str) -> Example | None:
    """The example of this name."""
    return next((one for one in EXAMPLES if one.name == name), None)
