"""What a report is made of, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocelab.report.charts import Chart


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    best: bool = False
    """Whether it is the best of its column."""
    near: bool = False
    """Whether it is shaded as the best: the seeds do not separate them."""
    number: bool = False
    """Whether it is aligned as a number."""


@dataclass(frozen=True)
class Grid:
    """A table."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    wrapped: bool = False
    """Whether its cells may have several lines."""


@dataclass
class Report:
    """All that a report says."""

    title: str
    asked: list[tuple[str, str]] = field(default_factory=list)
    """What was asked: names and values."""
    found: list[str] = field(default_factory=list)
    """The answer in sentences."""
    answer: list[Grid] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    details: list[Grid] = field(default_factory=list)
    """Pauses, longest queues, slowest flows."""
    scenario: str = ""
    """The scenario without what has its default value, as TOML."""
    changed: list[Grid] = field(default_factory=list)
    """In which keys the scenarios of several runs differ."""
    commands: list[str] = field(default_factory=list)
    """What repeats it."""
    versions: list[tuple[str, str]] = field(default_factory=list)
