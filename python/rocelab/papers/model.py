"""What a reproduction is made of: figures with their runs, panels and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rocelab.papers.decisions import HEADLINE, Decision, Reading
from rocelab.result import Result
from rocelab.scenario import Scenario

Runs = Mapping[str, Result]
"""The results of a figure by the names of its cases."""

Points = tuple[Sequence[float] | Sequence[str], Sequence[float]]
"""Places on the x axis, numbers or words, and the values there."""

Value = float | Sequence[float]
"""A number, or one for each seed."""

Measure = Callable[[Runs], Value]
"""A number that is read off the runs."""


@dataclass(frozen=True)
class Line:
    """A line, or a group of bars, of a panel."""

    name: str
    """Its name in the legend; lines of a name look the same in all panels."""
    points: Callable[[Runs], Points]
    """What it shows, in the units of the axes."""
    thin: bool = False
    """Drawn thin: the second of two that belong together."""
    spread: Callable[[Runs], Sequence[float | None]] | None = None
    """How far the seeds' values are apart at each point: a standard deviation, or None for one."""


@dataclass(frozen=True)
class Panel:
    """Axes with lines; with bars where x is words."""

    title: str
    x: str
    """Label of the x axis, with its unit."""
    y: str
    """Label of the y axis, with its unit."""
    lines: Sequence[Line]
    x_range: tuple[float, float] | None = None
    """What of the x axis is drawn; default: all. The data have all."""
    y_range: tuple[float, float] | None = None
    """What of the y axis is drawn, where that is not from 0 to the largest value."""
    by_size: bool = False
    """FCT slowdown by flow size, both logarithmic."""
    log_y: bool = False
    """The y axis is logarithmic: what is compared is a share of values far apart."""
    marked: bool = False
    """The points, few, have marks."""
    ticks: Sequence[float] = ()
    """Where the x axis has ticks; default: at round numbers."""


Verdict = Literal["holds", "weaker", "differs", "undecidable"]
ClaimKind = Literal["paper", "ours"]
"""What the paper claims, or a check of ours."""


@dataclass(frozen=True)
class Outcome:
    """What came of a claim."""

    measured: str
    """What was measured, with units."""
    verdict: Verdict
    by: str = ""
    """Where it does not hold: by how much, or what is out of order."""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper about a figure, or a check of ours."""

    id: str
    text: str
    """What is claimed."""
    paper: str
    """The paper's value; empty where the check is ours."""
    judge: Callable[[Runs], Outcome]
    """Measures in the runs what the paper shows."""
    assumption: str = ""
    """What the measured value rests on, where the paper says nothing."""
    reason: str = ""
    """Why it does not hold in the headline reading, where that can be worked out by hand."""
    expected: str = ""
    """What is expected where the check is ours, and no claim of the paper."""

    @property
    def kind(self) -> ClaimKind:
        """Whose it is."""
        return "ours" if self.expected else "paper"


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper."""

    id: str
    title: str
    cases: Callable[[Reading, bool], Mapping[str, Scenario]]
    """The runs of a reading by name; True asks for a version in seconds that keeps the shape."""
    panels: Sequence[Panel]
    claims: Sequence[Claim]
    columns: int = 2
    """Panels side by side."""
    quick: str = ""
    """What the quick version has in place of the full one, where ``cases`` make a difference."""
    completion_times: bool = True
    """Whether it shows any, so that it tells which flows were not done."""


@dataclass(frozen=True)
class Paper:
    """A paper and its figures."""

    id: str
    citation: str
    figures: Sequence[Figure]
    looks: Mapping[str, int]
    """Which colour and line style each line has, by its name."""
    assumptions: Sequence[str]
    """What holds for all figures and all readings where the paper is silent."""
    decisions: Sequence[Decision[Any]] = ()
    readings: Sequence[Reading] = (HEADLINE,)
    """The named readings. The first is the headline, which changes no decision."""

    def __post_init__(self) -> None:
        by_id = {decision.id: decision for decision in self.decisions}
        assert len(by_id) == len(self.decisions), self.id  # noqa: S101
        assert not self.readings[0].choices, self.id  # noqa: S101
        for reading in self.readings:
            for id_ in reading.choices:
                option = reading.option(by_id[id_])
                assert option.source, f"{self.id}: {reading.name} has {option.name}"  # noqa: S101

    @property
    def headline(self) -> Reading:
        """The reading that the rule selects."""
        return self.readings[0]
