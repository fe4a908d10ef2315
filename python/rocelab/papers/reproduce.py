"""Reproductions: runs what a figure needs, draws it, judges the paper's claims."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from rocelab._coverage import Coverage
from rocelab._doubts import doubts_of, warnings_of
from rocelab.catalogue import caveats
from rocelab.errors import ConfigError
from rocelab.io.files import to_json, write_atomic
from rocelab.io.write import to_parquet
from rocelab.papers import baselines, conweave, fncc, hiercc, mercury, plots, rcm, themis
from rocelab.papers.decisions import Reading
from rocelab.papers.model import Claim, Figure, Outcome, Panel, Paper, Runs
from rocelab.papers.places import places
from rocelab.papers.record import ClaimWords
from rocelab.plot.write import save
from rocelab.scenario import Scenario
from rocelab.sweeps.cache import run_all
from rocelab.sweeps.warnings import dedup_warnings

if TYPE_CHECKING:
    from rocelab._rocelab import Summary

PAPERS: tuple[Paper, ...] = (
    fncc.PAPER,
    mercury.PAPER,
    rcm.PAPER,
    hiercc.PAPER,
    themis.PAPER,
    conweave.PAPER,
    baselines.PAPER,
)


@dataclass(frozen=True)
class Reproduction:
    """A figure, made again."""

    id: str
    title: str
    reading: str
    """The name of its reading."""
    claims: Sequence[tuple[ClaimWords, Outcome]]
    """Its claims, and what came of them."""
    directory: Path
    doubts: Sequence[str] = ()
    """Warnings that cast doubt on what it shows."""

    def claims_as_data(self) -> list[dict[str, str]]:
        """The claims as in ``claims.json``."""
        return _as_data(self.claims)


def ids() -> list[str]:
    """What can be reproduced: ``paper/figure``."""
    return [f"{paper.id}/{figure.id}" for paper in PAPERS for figure in paper.figures]


def chosen(names: Iterable[str], flows: Path | None = None) -> list[tuple[Paper, Figure]]:
    """The figures that ``names`` stand for; a paper's name stands for all of its figures.

    With ``flows`` THEMIS has the flows that its prototype's authors publish in that directory.
    """
    papers = [
        themis.with_flows(flows) if flows and paper is themis.PAPER else paper for paper in PAPERS
    ]
    known = {
        f"{paper.id}/{figure.id}": (paper, figure) for paper in papers for figure in paper.figures
    }
    found: dict[str, tuple[Paper, Figure]] = {}
    for name in names:
        hits = [id_ for id_ in known if name in (id_, id_.split("/")[0])]
        if not hits:
            words = [*(paper.id for paper in papers), *known]
            near = difflib.get_close_matches(name, words, n=1)
            raise ConfigError(
                f"no figure {name!r}",
                hint=f"did you mean {near[0]}?" if near else "`rocelab reproduce --list` has all",
            )
        found |= {id_: known[id_] for id_ in hits}
    return list(found.values())


def reading_of(paper: Paper, name: str | None) -> Reading:
    """The reading of ``paper`` with this name; none: the headline.

    Options of decisions, as pages call them, with commas between, make a reading of their own: the
    headline with these changes. Raises :class:`ConfigError` where the paper has no such reading.
    """
    if name is None:
        return paper.headline
    known = {reading.name: reading for reading in paper.readings}
    if name in known:
        return known[name]
    changes = {
        id_: (decision, option)
        for decision in paper.decisions
        for id_, option in decision.changes.items()
        if option.alone
    }
    words = [word.strip() for word in name.split(",")]
    choices: dict[str, str] = {}
    for word in words:
        if word not in changes:
            hint = f"its readings are {', '.join(map(repr, known))}"
            if changes:
                hint += f"; options of decisions are {', '.join(changes)}, with commas between"
            raise ConfigError(f"--reading: {paper.id} has no reading {name!r}", hint=hint)
        decision, option = changes[word]
        if decision.id in choices:
            raise ConfigError(
                f"--reading: {name!r} has two options of decision {decision.id}",
                hint="leave one of them out",
            )
        choices[decision.id] = option.name
    told = ", ".join(f"{word} ({changes[word][1].name})" for word in words)
    return Reading(", ".join(words), f"The headline's, but for {told}", choices)


def reproduce(
    paper: Paper,
    figure: Figure,
    out: Path,
    *,
    cache: Path,
    reading: Reading | None = None,
    quick: bool = False,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Reproduction:
    """Writes picture, data and ``claims.json`` to the figure's own directory in ``out``."""
    directory = out / paper.id / figure.id
    reading = reading or paper.headline
    cases = figure.cases(reading, quick)
    runs = run_all(cases, cache, jobs=jobs, executor=executor, progress=progress)
    frame = plots.data(figure, runs)
    words = [described(paper, figure, claim) for claim in figure.claims]
    if reading != paper.headline:
        # Reasons were worked out for the headline.
        words = [replace(one, reason="") for one in words]
    outcomes = [claim.judge(runs) for claim in figure.claims]
    claims = list(zip(words, outcomes, strict=True))
    notes = [*_seeds_note(runs, frame), *_notes(figure, runs)]
    if quick and figure.cases(reading, False) != cases:
        notes.insert(0, f"Quick version: {figure.quick}.")
    if reading != paper.headline:
        named = reading in paper.readings
        notes.insert(0, f"Reading: {reading.name if named else reading.summary}.")
    save(plots.picture(figure, frame, paper.looks, notes), directory / "figure")
    write_atomic(directory / "data.parquet", to_parquet(frame))
    id_ = f"{paper.id}/{figure.id}"
    told = {
        "id": id_,
        "title": figure.title,
        "paper": paper.citation,
        "reading": reading.name,
        "quick": quick,
        "options": _options(paper, reading, quick),
        "version": _each(str(run.summary.version) for run in runs.values()),
        "seeds": sorted({int(run.summary.seed) for run in runs.values()}),
        "panels": [_view(panel) for panel in figure.panels],
        "claims": _as_data(claims),
        "assumptions": list(paper.assumptions),
        "notes": notes,
    }
    write_atomic(directory / "claims.json", to_json(told))
    return Reproduction(id_, figure.title, reading.name, claims, directory, doubts_on(figure, runs))


def _options(paper: Paper, reading: Reading, quick: bool) -> list[str]:
    """The options of the command that made a figure."""
    found = ["--quick"] if quick else []
    if reading == themis.decisions.PUBLISHED:
        return [*found, "--flows", "DIR"]
    return found if reading == paper.headline else [*found, "--reading", reading.name]


def _each(texts: Iterable[str]) -> str:
    """All different texts."""
    return ", ".join(dict.fromkeys(texts))


def _view(panel: Panel) -> dict[str, Any]:
    """How a panel is drawn."""
    return {
        "title": panel.title,
        "x_range": panel.x_range,
        "y_range": panel.y_range,
        "log_x": panel.by_size,
        "log_y": panel.by_size or panel.log_y,
    }


def described(paper: Paper, figure: Figure, claim: Claim) -> ClaimWords:
    """What the paper claims, and where."""
    return ClaimWords(
        id=claim.id,
        kind=claim.kind,
        claim=claim.text,
        paper=claim.paper,
        place=places().get((paper.id, figure.id, claim.id), ""),
        expected=claim.expected,
        assumption=claim.assumption,
        reason=claim.reason,
    )


def _as_data(claims: Iterable[tuple[ClaimWords, Outcome]]) -> list[dict[str, str]]:
    return [asdict(claim) | asdict(outcome) for claim, outcome in claims]


def table(made: Reproduction) -> str:
    """The claims of a figure, a paragraph each."""
    reading = f"  (reading: {made.reading})" if made.claims else ""
    lines = [f"{made.id}  {made.title}{reading}"]
    for claim, outcome in made.claims:
        by = f" ({outcome.by})" if outcome.by else ""
        kind = "" if claim.kind == "paper" else f"[{claim.kind}] "
        lines += [f"  {outcome.verdict:<13}{kind}{claim.claim}{by}"]
        rows = (
            ("paper", claim.paper),
            ("place", claim.place),
            ("expected", claim.expected),
            ("measured", outcome.measured),
            ("assumption", claim.assumption),
            ("reason", "" if outcome.verdict == "holds" else claim.reason),
        )
        lines += [f"               {name:<11}{text}" for name, text in rows if text]
    return "\n".join(lines)


def _seeds_note(runs: Runs, frame: pl.DataFrame) -> list[str]:
    """How many seeds ``frame`` stands for, and what its error bars are."""
    seeds = len({run.summary.seed for run in runs.values()})
    parts = [f"over {seeds} seeds"] if seeds > 1 else []
    if (frame["spread"] > 0).any():
        parts.append("error bars: standard deviation")
    said = "; ".join(parts)
    return [f"{said[0].upper()}{said[1:]}."] if said else []


def _notes(figure: Figure, runs: Runs) -> list[str]:
    """What a reader of the picture must know: flows that were not done, caveats, warnings."""
    times = figure.completion_times
    told = (
        (name, [warning.text for warning in warnings_of(run, completion_times=times)])
        for name, run in runs.items()
    )
    warnings = dedup_warnings(told, len(runs))
    unfinished = _unfinished(figure, runs) if times else []
    return [*unfinished, *caveats(list(runs.values())), *_set_apart(runs), *warnings]


def _set_apart(runs: Runs) -> list[str]:
    """The parameters by which the schemes of ``runs`` differ from their presets."""
    seen: set[str] = set()
    told: dict[str, None] = {}
    for run in runs.values():
        scenario = run.scenario.to_dict()
        scheme = scenario["scheme"]
        if (text := json.dumps(scheme)) in seen:
            continue
        seen.add(text)
        plain = {key: value for key, value in scheme.items() if key != "params"}
        implied = Scenario(**{**scenario, "scheme": plain}).to_dict()["scheme"]["params"]
        changed = [
            f"{key} = {value}" if isinstance(value, str) else f"{key} = {json.dumps(value)}"
            for key, value in scheme["params"].items()
            if value != implied.get(key)
        ]
        if changed:
            told[f"{scheme['name']} {', '.join(changed)}"] = None
    return [f"Other than in presets: {'; '.join(told)}."] if told else []


def doubts_on(figure: Figure, runs: Runs) -> list[str]:
    """The warnings that cast doubt on what the figure shows, each once."""
    told = (
        (name, doubts_of(run, completion_times=figure.completion_times))
        for name, run in runs.items()
    )
    return dedup_warnings(told, len(runs))


def _unfinished(figure: Figure, runs: Runs) -> list[str]:
    """How many flows of each line's runs were done, over all of these, where not all were.

    Runs of no line count for their scheme. Where none was done, none was meant to be.
    """
    summaries: dict[str, list[Summary]] = {}
    for case, run in runs.items():
        name = _line_of(figure, case) or run.summary.scheme
        summaries.setdefault(name, []).append(run.summary)
    covered = {name: Coverage.of(*each) for name, each in summaries.items()}
    told = [f"{name} {one}" for name, one in covered.items() if one.done and not one.complete]
    return [f"Flows done: {', '.join(told)}."] if told else []


def _line_of(figure: Figure, case: str) -> str:
    """The line whose name ends that of ``case``, the longest of several; none: empty."""
    names = {line.name for panel in figure.panels for line in panel.lines}
    hits = [name for name in names if case == name or case.endswith(f" {name}")]
    return max(hits, key=len, default="")
