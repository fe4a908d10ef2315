"""What a paper leaves open, or says in two ways, and how it is answered.

Each paper's module declares its decisions. A reading is a choice for all of them. The headline
reading takes the option that this rule selects, the first step that answers:

1. the paper's own words,
2. the defaults of the code that the paper names,
3. the settings that the papers recommend which it cites for a scheme,
4. what its authors' public code does,
5. an argument of our own, which is stated.

The rule never looks at results, neither at those measured here nor at the paper's. Words on the
experiment beat words on the design, an algorithm or equation beats a sentence about it, and a
number beats "about". Two sentences that can both be obeyed are both obeyed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T", covariant=True)

STEPS = {
    1: "the paper's words",
    2: "the code that it names",
    3: "the papers that it cites",
    4: "its authors' code",
    5: "our argument",
}
"""What answers a decision, by the steps of the rule."""


@dataclass(frozen=True)
class Option(Generic[T]):
    """An answer to a decision."""

    name: str
    value: T
    """What it means for the runs."""
    source: str = ""
    """Where it is from. Without a source it is a trial, and no named reading may take it."""
    alone: bool = True
    """Whether the headline is also run with this as its only change."""


@dataclass(frozen=True, eq=False)
class Decision(Generic[T]):
    """A question that the text leaves open or answers twice."""

    id: str
    question: str
    step: int
    """Of the rule, the step that selects the first option."""
    argument: str
    """Why that step selects it."""
    options: tuple[Option[T], ...]
    """The first is the headline's."""

    def __post_init__(self) -> None:
        names = [option.name for option in self.options]
        assert self.step in STEPS, self.id  # noqa: S101
        assert len(set(names)) == len(names), self.id  # noqa: S101

    def option(self, name: str) -> Option[T]:
        """The option of this name."""
        return next(option for option in self.options if option.name == name)

    @property
    def changes(self) -> dict[str, Option[T]]:
        """The options that the headline does not have, by what pages call them."""
        names = [option.name for option in self.options]
        return {option_id(self.id, names, each.name): each for each in self.options[1:]}


@dataclass(frozen=True)
class Reading:
    """A choice for all decisions of a paper: the headline's but for those named in ``choices``."""

    name: str
    summary: str
    """What it stands for, in a line."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """By the ids of decisions, the names of the options."""

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.choices.items())))

    def of(self, decision: Decision[T]) -> T:
        """What the reading has for ``decision``."""
        return self.option(decision).value

    def option(self, decision: Decision[T]) -> Option[T]:
        """The option that the reading takes."""
        name = self.choices.get(decision.id)
        return decision.options[0] if name is None else decision.option(name)


HEADLINE = Reading("headline", "What the rule selects")
"""The reading of a paper without decisions."""


def option_id(decision: str, names: Sequence[str], option: str) -> str:
    """What pages call an option: ``H1`` the other one of two, ``H1b`` one of several."""
    return decision if len(names) == 2 else f"{decision}{'abcdefgh'[names.index(option)]}"


def flips(decisions: Sequence[Decision[Any]]) -> Iterator[tuple[Decision[Any], Reading]]:
    """The headline with one decision changed, for each other option that is run alone."""
    for decision in decisions:
        for option in (each for each in decision.options[1:] if each.alone):
            name = f"{decision.id} {option.name}"
            yield decision, Reading(name, option.name, {decision.id: option.name})
