from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import final

__all__ = [
    "DEBUG_BUILD",
    "HpccExperiment",
    "RunResult",
    "Scenario",
    "Table",
    "__version__",
    "json_schema",
    "printable",
    "run",
    "schemes",
    "topologies",
    "topology_sites",
    "workloads",
]

__version__: str
DEBUG_BUILD: bool

@final
class Scenario:
    @staticmethod
    def parse(
        text: str,
        origin: str | PathLike[str] | None,
        overrides: list[tuple[str, str]],
        generated: bool,
    ) -> Scenario: ...
    @property
    def name(self) -> str: ...
    def check(self) -> None: ...
    def plan(self) -> tuple[Table, Table]: ...
    def to_toml(self) -> str: ...

@final
class Table:
    @property
    def columns(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class HpccExperiment:
    def __new__(
        cls, path: str | PathLike[str], directory: str | PathLike[str]
    ) -> HpccExperiment: ...
    def to_toml(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def outputs(self) -> list[tuple[str, Path]]: ...
    def write(
        self,
        result: RunResult,
        directory: str | PathLike[str],
        into: str | PathLike[str] | None,
    ) -> list[Path]: ...

@final
class RunResult:
    @property
    def flows(self) -> Table: ...
    @property
    def ports(self) -> Table: ...
    @property
    def series(self) -> list[tuple[str, Table]]: ...
    @property
    def capture(self) -> bytes | None: ...
    @property
    def traces(self) -> list[tuple[str, Table]]: ...
    @property
    def summary(self) -> str: ...
    @property
    def drops(self) -> str: ...

def run(
    scenario: Scenario,
    threads: int | None = None,
    progress: Callable[[int, int, int, int, int], object] | None = None,
    experiment: HpccExperiment | None = None,
) -> tuple[RunResult, bool]: ...
def topology_sites(path: str | PathLike[str]) -> list[int]: ...
def json_schema() -> str: ...
def printable(text: str, most: int) -> str: ...
def schemes() -> str: ...
def topologies() -> str: ...
def workloads() -> str: ...
