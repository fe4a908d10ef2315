"""All claims of a paper under all of its readings, and with single decisions changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rocelab.errors import ConfigError
from rocelab.papers.decisions import Decision, Reading, flips
from rocelab.papers.model import Figure, Outcome, Paper
from rocelab.papers.record import (
    ColumnKind,
    ColumnWords,
    DecisionWords,
    FigureWords,
    JudgedClaim,
    Matrix,
    OptionWords,
)
from rocelab.papers.reproduce import Reproduction, described, doubts_on
from rocelab.result import Result
from rocelab.scenario import Scenario
from rocelab.sweeps.cache import run_all

_QUICK_READINGS = " --quick-readings"
"""What a command has that evaluates named readings in the quick version."""


@dataclass(frozen=True)
class Column:
    """A reading, and how it is run."""

    reading: Reading
    kind: ColumnKind
    quick: bool

    @property
    def id(self) -> str:
        """The name that outcomes go by: the headline may be there in both versions."""
        return f"{self.reading.name}{', quick' if self.quick else ''}"


def columns(paper: Paper, *, quick: bool, named_quick: bool) -> list[Column]:
    """The headline and the named readings, then each single change of the headline.

    Single changes are run in the quick version, and with them the headline, to compare.
    """
    headline, *named = paper.readings
    found = [Column(headline, "headline", quick)]
    found += [Column(reading, "named", quick or named_quick) for reading in named]
    if paper.decisions and not quick:
        found.append(Column(headline, "headline", True))
    found += [Column(reading, "flip", True) for _, reading in flips(paper.decisions)]
    return found


def evaluate(
    paper: Paper,
    figures: Sequence[Figure],
    *,
    cache: Path,
    command: str = "",
    quick: bool = False,
    named_quick: bool = False,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    done: Callable[[str], None] = lambda _text: None,
) -> Matrix:
    """Judges all claims of ``figures`` in all columns; ``done`` gets a line for each.

    ``quick`` takes the quick version of all, ``named_quick`` that of the named readings.
    Runs are kept in ``cache``, so that an evaluation that was stopped goes on where it was.
    """
    listed = columns(paper, quick=quick, named_quick=named_quick)
    run = partial(run_all, directory=cache, jobs=jobs, executor=executor, progress=progress)
    outcomes: dict[tuple[str, str], Sequence[Outcome]] = {}
    doubts: dict[str, list[str]] = {}
    for number, column in enumerate(listed, 1):
        before = listed[: number - 1]
        like = next(
            (other for other in before if _is_headline(other) and other.quick == column.quick),
            None,
        )
        same, rest = ([], figures) if like is None else _alike(figures, column, like)
        doubts[column.id] = []
        for figure in same:
            assert like is not None, "only figures that are like another's"  # noqa: S101
            outcomes[column.id, figure.id] = outcomes[like.id, figure.id]
        for figure, found, why in _judged(column, rest, run):
            outcomes[column.id, figure.id] = found
            doubts[column.id] += why
        verdicts = [each.verdict for figure in figures for each in outcomes[column.id, figure.id]]
        done(
            f"{paper.id}, {number} of {len(listed)}: {column.id}: {verdicts.count('holds')} of "
            f"{len(verdicts)} hold"
        )
    return _matrix(paper, figures, listed, outcomes, doubts, command=command, quick=quick)


def single(
    paper: Paper,
    made: Mapping[str, Reproduction],
    reading: Reading,
    *,
    command: str,
    quick: bool,
) -> Matrix:
    """A matrix of one reading, from what was ``made`` in it, by figure: without decisions."""
    column = Column(reading, "headline" if reading == paper.headline else "named", quick)
    figures = [figure for figure in paper.figures if figure.id in made]
    outcomes = {
        (column.id, id_): [outcome for _, outcome in one.claims] for id_, one in made.items()
    }
    doubts = {column.id: [f"{id_}: {text}" for id_, one in made.items() for text in one.doubts]}
    plain = replace(paper, decisions=(), readings=(replace(reading, choices={}),))
    return _matrix(plain, figures, [column], outcomes, doubts, command=command, quick=quick)


def _matrix(
    paper: Paper,
    figures: Sequence[Figure],
    listed: Sequence[Column],
    outcomes: Mapping[tuple[str, str], Sequence[Outcome]],
    doubts: Mapping[str, Sequence[str]],
    *,
    command: str,
    quick: bool,
) -> Matrix:
    return Matrix(
        command=command,
        paper=paper.id,
        citation=paper.citation,
        quick=quick,
        assumptions=tuple(paper.assumptions),
        decisions=tuple(_words_of(decision) for decision in paper.decisions),
        columns=tuple(
            ColumnWords(
                id=column.id,
                name=column.reading.name,
                summary=column.reading.summary,
                kind=column.kind,
                quick=column.quick,
                choices=dict(column.reading.choices),
                doubts=tuple(doubts[column.id]),
            )
            for column in listed
        ),
        figures=tuple(
            _judged_figure(
                paper,
                figure,
                [
                    {column.id: outcomes[column.id, figure.id][number] for column in listed}
                    for number in range(len(figure.claims))
                ],
            )
            for figure in figures
        ),
    )


def _judged_figure(
    paper: Paper, figure: Figure, outcomes: Sequence[Mapping[str, Outcome]]
) -> FigureWords:
    """``figure`` with the ``outcomes`` of its claims, one after the other."""
    claims = tuple(
        JudgedClaim(**vars(described(paper, figure, claim)), outcomes=each)
        for claim, each in zip(figure.claims, outcomes, strict=True)
    )
    return FigureWords(figure.id, figure.title, figure.quick, claims)


def _words_of(decision: Decision[Any]) -> DecisionWords:
    return DecisionWords(
        id=decision.id,
        question=decision.question,
        step=decision.step,
        argument=decision.argument,
        options=tuple(OptionWords(option.name, option.source) for option in decision.options),
    )


def reworded(matrix: Matrix, paper: Paper) -> Matrix:
    """``matrix`` with the words that ``paper`` has today for what was evaluated then.

    Outcomes stay. Raises :class:`ConfigError` where claims or options are others than were judged.
    """
    figures = {figure.id: figure for figure in paper.figures}
    decisions = {decision.id: decision for decision in paper.decisions}
    summaries = {reading.name: reading.summary for reading in paper.readings}
    renewed = []
    for was in matrix.figures:
        figure = figures.get(was.id)
        ids = [claim.id for claim in was.claims]
        if figure is None or [claim.id for claim in figure.claims] != ids:
            raise _outdated(paper, f"figure {was.id} has other claims")
        renewed.append(_judged_figure(paper, figure, [claim.outcomes for claim in was.claims]))
    for asked in matrix.decisions:
        decision = decisions.get(asked.id)
        names = [option.name for option in asked.options]
        if decision is None or [option.name for option in decision.options] != names:
            raise _outdated(paper, f"decision {asked.id} has other options")
    return replace(
        matrix,
        citation=paper.citation,
        assumptions=tuple(paper.assumptions),
        decisions=tuple(_words_of(decisions[asked.id]) for asked in matrix.decisions),
        columns=tuple(
            replace(column, summary=summaries.get(column.name, column.summary))
            for column in matrix.columns
        ),
        figures=tuple(renewed),
    )


def joined(matrix: Matrix, newer: Matrix) -> Matrix:
    """``matrix`` with the figures of ``newer``, which were evaluated alone, in place of its own.

    Raises :class:`ConfigError` where the two are not of the same readings, and where ``newer`` has
    a figure that ``matrix`` lacks.
    """
    given, known = ([column.id for column in one.columns] for one in (newer, matrix))
    if (newer.paper, given) != (matrix.paper, known):
        raise ConfigError(
            f"{newer.paper}: {', '.join(given)} are not the readings of {matrix.paper} that "
            f"are there: {', '.join(known)}",
            hint=f"its options must be those of `{matrix.command}`",
        )
    figures = {figure.id: figure for figure in newer.figures}
    there = [figure.id for figure in matrix.figures]
    if unknown := [id_ for id_ in figures if id_ not in there]:
        raise ConfigError(
            f"{matrix.paper}: {', '.join(unknown)}: no such figure is there, which are "
            f"{', '.join(there)}",
            hint="evaluate the paper as a whole",
        )
    doubts = {column.id: column.doubts for column in newer.columns}
    return replace(
        matrix,
        columns=tuple(
            replace(
                column,
                doubts=(
                    *(text for text in column.doubts if text.split(":", 1)[0] not in figures),
                    *doubts[column.id],
                ),
            )
            for column in matrix.columns
        ),
        figures=tuple(figures.get(figure.id, figure) for figure in matrix.figures),
    )


def with_reading(
    matrix: Matrix,
    paper: Paper,
    name: str,
    *,
    cache: Path,
    progress: bool = False,
) -> Matrix:
    """``matrix`` with a named reading evaluated in full now, in place of its quick version.

    So the readings of a paper whose runs take hours can be evaluated one at a time. Figures whose
    runs are the headline's have its outcomes. Raises :class:`ConfigError` where ``name`` is not a
    reading of ``matrix``, or its headline was not run in full.
    """
    named = {reading.name: reading for reading in paper.readings[1:]}
    was = next((one for one in matrix.columns if (one.kind, one.name) == ("named", name)), None)
    if was is None or name not in named:
        raise ConfigError(
            f"{paper.id}: {name!r} is no named reading", hint=f"there are {', '.join(named)}"
        )
    column = Column(named[name], "named", quick=False)
    headline = Column(paper.headline, "headline", quick=False)
    if headline.id not in {one.id for one in matrix.columns}:
        raise ConfigError(f"{paper.id}: the headline was not run in full", hint="run it first")
    _, rest = _alike(paper.figures, column, headline)
    found: dict[str, list[Outcome]] = {}
    doubts: list[str] = []
    run = partial(run_all, directory=cache, progress=progress)
    for figure, outcomes, why in _judged(column, rest, run):
        found[figure.id] = outcomes
        doubts += why

    def judged(figure: FigureWords) -> FigureWords:
        claims = []
        for number, claim in enumerate(figure.claims):
            given = {id_: one for id_, one in claim.outcomes.items() if id_ != was.id}
            mine = found[figure.id][number] if figure.id in found else given[headline.id]
            claims.append(replace(claim, outcomes={**given, column.id: mine}))
        return replace(figure, claims=tuple(claims))

    renewed = replace(was, id=column.id, quick=False, doubts=tuple(doubts))
    columns = tuple(renewed if one is was else one for one in matrix.columns)
    all_full = not any(one.quick for one in columns if one.kind == "named")
    return replace(
        matrix,
        command=matrix.command.replace(_QUICK_READINGS, "") if all_full else matrix.command,
        columns=columns,
        figures=tuple(judged(figure) for figure in matrix.figures),
    )


def _outdated(paper: Paper, what: str) -> ConfigError:
    return ConfigError(
        f"{paper.id}: {what} than were evaluated",
        hint=f"evaluate it again, with `rocelab reproduce {paper.id} --readings`",
    )


def _is_headline(column: Column) -> bool:
    return column.kind == "headline"


def _cases(figure: Figure, column: Column) -> Mapping[str, Scenario]:
    return figure.cases(column.reading, column.quick)


def _alike(
    figures: Sequence[Figure], column: Column, other: Column
) -> tuple[list[Figure], list[Figure]]:
    """The figures whose runs are the same in both columns, and the others."""
    same = [figure for figure in figures if _cases(figure, column) == _cases(figure, other)]
    return same, [figure for figure in figures if figure not in same]


def _judged(
    column: Column,
    figures: Sequence[Figure],
    run: Callable[[Mapping[str, Scenario]], Mapping[str, Result]],
) -> Iterator[tuple[Figure, list[Outcome], list[str]]]:
    """Runs what all ``figures`` need in one go; then their outcomes, and doubts on them."""
    cases = {figure.id: _cases(figure, column) for figure in figures}
    results = run(
        {
            f"{id_} {name}": scenario
            for id_, named in cases.items()
            for name, scenario in named.items()
        }
    )
    for figure in figures:
        runs = {name: results[f"{figure.id} {name}"] for name in cases[figure.id]}
        found = [claim.judge(runs) for claim in figure.claims]
        yield figure, found, [f"{figure.id}: {text}" for text in doubts_on(figure, runs)]
