"""The examples that come with rocelab, as a place to begin from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "examples"


@dataclass(frozen=True)
class Example:
    """A scenario, or a folder with files of the HPCC simulator."""

    name: str
    summary: str
    is_folder: bool = False

    @property
    def path(self) -> Path:
        """Where it is."""
        return FOLDER / (self.name if self.is_folder else f"{self.name}.toml")


EXAMPLES = (
    Example("incast", "an incast, and a flow that shares a link with it"),
    Example("leaf-spine", "a storage incast beside WebSearch traffic"),
    Example("fat-tree", "WebSearch traffic at 50 % load on 128 hosts"),
    Example("cross-dc", "requests between two data centres, 100 km apart"),
    Example("collective", "a ring all-reduce over four racks"),
    Example("phases", "all-to-alls and an all-reduce, one after the other"),
    Example("load-balancing", "packets sent where the least waits"),
    Example("planes", "hosts with a port in each of four planes, all in use"),
    Example("pause-storm", "a NIC that stalls, and whom its pauses reach"),
    Example("failing-link", "a link that fails under load and is repaired"),
    Example("two-schemes", "DCQCN on some hosts beside HPCC on others"),
    Example("two-classes", "a lossless class beside one without PFC"),
    Example(
        "hpcc-files", "files of the HPCC simulator: config, topology and flows", is_folder=True
    ),
)
"""All of them."""


def find(name: str) -> Example | None:
    """The example of this name."""
    return next((one for one in EXAMPLES if one.name == name), None)


def scenario_names() -> list[str]:
    """The names of all that are one scenario file."""
    return [one.name for one in EXAMPLES if not one.is_folder]


def file_of(argument: Path) -> Path:
    """The file that an argument of the command line stands for: an example, or what is there."""
    found = find(str(argument))
    if found is None or found.is_folder or argument.exists():
        return argument
    return found.path


def name_of(file: Path) -> str | None:
    """The name of the example whose file this is."""
    return file.stem if file in (one.path for one in EXAMPLES) else None


def hint(missing: Path) -> str | None:
    """What to do if this scenario is not there; None where it does not look like an example's."""
    found = find(missing.stem)
    if found is not None and found.is_folder:
        return f"`rocelab new {found.name}` writes a folder, with files for `rocelab hpcc`"
    if found is not None:
        return f"`rocelab new {found.name}` writes the example {found.name}"
    if str(missing) == missing.stem:
        return "`rocelab list examples` shows the names of examples"
    return None
