"""What came of a paper's claims in all readings: what ``readings.json`` holds.

docs/reproduce.md describes it.
"""

from __future__ import annotations

import builtins
import collections.abc
import json
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rocelab.errors import ResultError
from rocelab.io.files import os_errors_as_result_error
from rocelab.papers.model import ClaimKind, Outcome

ColumnKind = Literal["headline", "named", "flip"]
"""A reading by the rule, a named one, or the headline with a single decision changed."""


@dataclass(frozen=True)
class OptionWords:
    """An answer to a decision."""

    name: str
    source: str
    """Where it is from; empty of a trial."""


@dataclass(frozen=True)
class DecisionWords:
    """A question that the paper leaves open or answers twice."""

    id: str
    question: str
    step: int
    """Of the rule, the step that selects the first option."""
    argument: str
    options: tuple[OptionWords, ...]
    """The first is the headline's."""


@dataclass(frozen=True)
class ColumnWords:
    """A reading, and how it was run."""

    id: str
    """What outcomes go by: the headline may be there in both versions."""
    name: str
    summary: str
    kind: ColumnKind
    quick: bool
    choices: Mapping[str, str]
    """By the ids of decisions, the options that differ from the headline's."""
    doubts: tuple[str, ...]
    """Warnings that cast doubt on numbers, each after its figure."""


@dataclass(frozen=True)
class ClaimWords:
    """What the paper claims, and where; or a check of ours."""

    id: str
    kind: ClaimKind
    claim: str
    paper: str
    """The paper's value; empty where the check is ours."""
    place: str
    """Where the paper states it."""
    expected: str
    """What is expected where the check is ours."""
    assumption: str
    """What the measured value rests on, where the paper says nothing."""
    reason: str
    """Why it does not hold in the headline reading, where that was worked out."""


@dataclass(frozen=True)
class JudgedClaim(ClaimWords):
    """A claim, and what came of it in each column."""

    outcomes: Mapping[str, Outcome]
    """By the ids of columns."""


@dataclass(frozen=True)
class FigureWords:
    """A figure and its claims."""

    id: str
    title: str
    quick: str
    """What its quick version changes."""
    claims: tuple[JudgedClaim, ...]


@dataclass(frozen=True)
class Matrix:
    """All claims of a paper in all of its readings."""

    command: str
    """What made it."""
    paper: str
    citation: str
    quick: bool
    """Whether all of it was run in the quick version."""
    assumptions: tuple[str, ...]
    decisions: tuple[DecisionWords, ...]
    columns: tuple[ColumnWords, ...]
    figures: tuple[FigureWords, ...]

    def to_dict(self) -> dict[str, Any]:
        """It as plain data, for JSON."""
        return asdict(self)


def read_matrix(file: Path) -> Matrix:
    """What a ``readings.json`` holds.

    Raises :class:`ResultError` where it cannot be read, or where a key is missing, unknown, or has
    a value of another type.
    """
    with os_errors_as_result_error(file, "read"):
        text = file.read_text(encoding="utf-8")
    try:
        matrix: Matrix = _read(Matrix, json.loads(text), "")
    except ValueError as error:
        raise ResultError(f"{file}: {error}") from None
    return matrix


def _read(kind: Any, data: object, place: str) -> Any:  # noqa: ANN401 - of any kind
    """``data`` as a ``kind``: a dataclass, a tuple, a mapping by texts, or a plain value.

    ``place`` has the keys that lead to it, for errors.
    """
    arguments = get_args(kind)
    match get_origin(kind):
        case builtins.tuple:
            if not isinstance(data, list):
                raise ValueError(f"{place or 'it'} must be a list")
            return tuple(_read(arguments[0], one, f"{place}[{at}]") for at, one in enumerate(data))
        case collections.abc.Mapping:
            table = _table(data, place)
            return {key: _read(arguments[1], one, f"{place}.{key}") for key, one in table.items()}
        case typing.Literal:
            if data not in arguments:
                raise ValueError(f"{place} must be one of {', '.join(arguments)}")
            return data
        case _ if is_dataclass(kind):
            return _read_fields(kind, _table(data, place), f"{place}." if place else "")
        case _:
            if type(data) is not kind:
                raise ValueError(f"{place} must be of the type {kind.__name__}")
            return data


def _read_fields(kind: Any, data: dict[str, object], place: str) -> Any:  # noqa: ANN401
    names = [field.name for field in fields(kind)]
    for name in (*names, *data):
        if (name in names) != (name in data):
            raise ValueError(f"{place}{name} is {'missing' if name in names else 'unknown'}")
    hints = get_type_hints(kind)
    return kind(**{name: _read(hints[name], data[name], f"{place}{name}") for name in names})


def _table(data: object, place: str) -> dict[str, object]:
    if not isinstance(data, dict):
        raise ValueError(f"{place or 'it'} must be a table")
    return data
