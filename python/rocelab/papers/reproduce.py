"""Reproductions: runs what a figure needs, draws it, judges the paper's claims."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocelab.alike import told_once
from rocelab.errors import ConfigError
from rocelab.papers import baselines, draw, fncc, hiercc, mercury, rcm, themis
from rocelab.papers.model import Figure, Paper, Runs
from rocelab.plot.style import caveats, save
from rocelab.runner import run_all
from rocelab.store import put, to_json, to_parquet
from rocelab.text_table import markdown

PAPERS: tuple[Paper, ...] = (
    fncc.PAPER,
    mercury.PAPER,
    rcm.PAPER,
    hiercc.PAPER,
    themis.PAPER,
    baselines.PAPER,
)


@dataclass(frozen=True)
class Reproduction:
    """A figure, made again."""

    id: str
    title: str
    claims: list[dict[str, Any]]
    """As in ``claims.json``."""
    directory: Path


def ids() -> list[str]:
    """What can be reproduced: ``paper/figure``."""
    return [f"{paper.id}/{figure.id}" for paper in PAPERS for figure in paper.figures]


def chosen(names: Iterable[str]) -> list[tuple[Paper, Figure]]:
    """The figures that ``names`` stand for; a paper's name stands for all of its figures."""
    known = {
        f"{paper.id}/{figure.id}": (paper, figure) for paper in PAPERS for figure in paper.figures
    }
    found: dict[str, tuple[Paper, Figure]] = {}
    for name in names:
        hits = [id_ for id_ in known if name in (id_, id_.split("/")[0])]
        if not hits:
            words = [*(paper.id for paper in PAPERS), *known]
            near = difflib.get_close_matches(name, words, n=1)
            raise ConfigError(
                f"no figure {name!r}",
                hint=f"did you mean {near[0]}?" if near else "`rocelab reproduce --list` has all",
            )
        found |= {id_: known[id_] for id_ in hits}
    return list(found.values())


def reproduce(
    paper: Paper,
    figure: Figure,
    out: Path,
    *,
    cache: Path,
    quick: bool = False,
    jobs: int | None = None,
    progress: bool = False,
) -> Reproduction:
    """Writes picture, data and ``claims.json`` to the figure's own directory in ``out``."""
    directory = out / paper.id / figure.id
    runs = run_all(figure.cases(quick), cache, jobs=jobs, progress=progress)
    frame = draw.data(figure, runs)
    claims = [
        {
            "id": claim.id,
            "claim": claim.text,
            "paper": claim.paper,
            "measured": outcome.measured,
            "verdict": outcome.verdict,
            "by": outcome.by,
            "assumption": claim.assumption,
            "reason": "" if outcome.verdict == "holds" else claim.reason,
        }
        for claim in figure.claims
        for outcome in (claim.judge(runs),)
    ]
    notes = _notes(figure, runs)
    if quick and figure.cases(False) != figure.cases(True):
        notes.insert(0, f"Quick version: {figure.quick}.")
    save(draw.picture(figure, frame, paper.looks, notes), directory / "figure")
    put(directory / "data.parquet", to_parquet(frame))
    id_ = f"{paper.id}/{figure.id}"
    told = {
        "id": id_,
        "title": figure.title,
        "paper": paper.citation,
        "quick": quick,
        "claims": claims,
        "assumptions": list(paper.assumptions),
        "notes": notes,
    }
    put(directory / "claims.json", to_json(told))
    return Reproduction(id_, figure.title, claims, directory)


def table(made: Reproduction) -> str:
    """The claims of a figure, a paragraph each."""
    lines = [f"{made.id}  {made.title}"]
    for claim in made.claims:
        by = f" ({claim['by']})" if claim["by"] else ""
        lines += [f"  {claim['verdict']:<8}{claim['claim']}{by}"]
        lines += [
            f"          {key:<11}{claim[key]}"
            for key in ("paper", "measured", "assumption", "reason")
            if claim[key]
        ]
    return "\n".join(lines)


def page(made: Sequence[Reproduction], command: str) -> str:
    """All claims of ``made`` as a Markdown page; those that do not hold by their causes."""
    parts = [
        "# Claims of the papers, and what rocelab measures\n",
        f"Written by `{command}`; [Reproduce](reproduce.md) says what verdicts mean.\n",
    ]
    for paper in PAPERS:
        figures = [one for one in made if one.id.startswith(f"{paper.id}/")]
        if not figures:
            continue
        parts.append(f"## {paper.id}\n\n{paper.citation}\n\nWhere the paper is silent:\n")
        parts.append("\n".join(f"- {text}" for text in paper.assumptions) + "\n")
        causes = _causes(figures)
        parts += _summary(figures, causes)
        numbers = {cause: number for number, cause in enumerate(causes, 1)}
        for one in figures:
            parts.append(f"### `{one.id}`\n\n{one.title}.\n")
            if not one.claims:
                continue
            rows = [("claim", "paper", "measured", "verdict", "rests on")]
            for claim in one.claims:
                verdict = claim["verdict"] + (f": {claim['by']}" if claim["by"] else "")
                if claim["verdict"] != "holds":
                    verdict += f" (cause {numbers[claim['reason']]})"
                what = (claim["claim"], claim["paper"], claim["measured"])
                rows.append((*what, verdict, claim["assumption"]))
            parts.append(markdown(rows, left=5) + "\n")
    return "\n".join(parts)


def _causes(figures: Sequence[Reproduction]) -> dict[str, dict[str, int]]:
    """By the reason why claims do not hold, how many of each figure."""
    found: dict[str, dict[str, int]] = {}
    for one in figures:
        for claim in one.claims:
            if claim["verdict"] != "holds":
                counts = found.setdefault(claim["reason"], {})
                counts[one.id] = counts.get(one.id, 0) + 1
    return found


def _summary(figures: Sequence[Reproduction], causes: dict[str, dict[str, int]]) -> list[str]:
    """How many claims hold, and why the others do not."""
    verdicts = [claim["verdict"] for one in figures for claim in one.claims]
    counts = [f"{verdicts.count(each)} {words}" for each, words in _WORDS.items()]
    said = f"{len(verdicts)} claims: {', '.join(counts)}."
    if not causes:
        return [f"{said}\n"]
    listed = []
    for number, (cause, counted) in enumerate(causes.items(), 1):
        where = ", ".join(f"{count} of `{id_}`" for id_, count in counted.items())
        text = f"{cause[:1].upper()}{cause[1:]}" if cause else "Not known"
        listed.append(f"{number}. {text}. ({where})")
    return [f"{said} Causes of those that do not hold:\n", "\n".join(listed) + "\n"]


_WORDS = {"holds": "hold", "weaker": "weaker", "differs": "differ"}


_OF_THE_OTHERS = "statistics of completion times are those of the others"
"""What the warning of a run says of flows that its end cuts off."""


def _notes(figure: Figure, runs: Runs) -> list[str]:
    """What a reader of the picture must know: flows that were not done, caveats, warnings."""
    told = (
        (name, text)
        for name, run in runs.items()
        for text in run.summary["warnings"]
        if figure.completion_times or _OF_THE_OTHERS not in text
    )
    warnings = told_once(told, len(runs))
    unfinished = _unfinished(runs) if figure.completion_times else []
    return [*unfinished, *caveats(list(runs.values())), *warnings]


def _unfinished(runs: Runs) -> list[str]:
    """How many flows of each scheme were done, over all its runs, where that is not all of them.

    Where none was, none was meant to be.
    """
    counts: dict[str, tuple[int, int]] = {}
    for run in runs.values():
        done, flows = counts.get(run.summary["scheme"], (0, 0))
        counts[run.summary["scheme"]] = (
            done + run.summary["flows_done"],
            flows + run.summary["flows"],
        )
    told = [
        f"{scheme} {done:,} of {flows:,}"
        for scheme, (done, flows) in counts.items()
        if 0 < done < flows
    ]
    return [f"Flows done: {', '.join(told)}."] if told else []
