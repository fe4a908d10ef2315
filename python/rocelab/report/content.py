"""What a report says, as plain data."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab import _format, catalogue
from rocelab.errors import ConfigError, ResultError
from rocelab.io.layout import SWEEP
from rocelab.io.open import check_files, open_result
from rocelab.plot.footnotes import failures_in_words, receivers_in_words
from rocelab.plot.labels import resolve_names
from rocelab.report import charts
from rocelab.report.model import Cell, Grid, Report
from rocelab.report.reproduced import Reproduced, reproduced
from rocelab.report.settings import differences, document, without_defaults
from rocelab.report.tables import combinations_table, details, runs_table
from rocelab.scenario import apply_settings
from rocelab.sweeps import Sweep, open_sweep
from rocelab.sweeps.metrics import Metric, all_metrics, select_metrics

if TYPE_CHECKING:
    from rocelab.result import Result

_MAX_NAMED = 4
"""Runs that are named in a title, and of those with a failing link or slow receiver."""
_MAX_TAGS = 8
"""Tags that tables have columns of."""
_VERDICTS = {"holds": "hold", "weaker": "weaker", "differs": "differ", "undecidable": "undecidable"}
"""What came of claims, and what several of them do."""
_MAX_CHANGED = 20
"""Keys in which scenarios differ, beyond which they are shown in full."""
_MAX_DETAILED = 12
"""Results whose series, ports and flows are shown."""
_DOUBTS = "Warnings below cast doubt on the numbers{}."
_DETAILS = "Only the first {} of {} runs have figures and tables of their own."

_MAIN = (
    "slowdown_p99",
    "slowdown_mean",
    "max_queue_bytes",
    "pause_frames",
    "paused_ns",
    "drops",
    "lossless_drops",
)
"""Metrics that the answer has beside slowdowns by tag."""


def collect(directories: Sequence[Path], metrics: Sequence[str] = ()) -> Report:
    """What is in ``directories``: results, or one sweep, or reproduced figures.

    ``metrics`` are the names of those that are shown, the most important first.
    """
    sweeps = [one for one in directories if (one / SWEEP).is_file()]
    if sweeps:
        if len(directories) > 1:
            raise ResultError(
                f"{sweeps[0]}: is a sweep, and a report has one alone",
                hint="write a report of each",
            )
        return _of_sweep(sweeps[0], open_sweep(sweeps[0]), metrics)
    figures = [found for one in directories for found in reproduced(one)]
    if figures:
        if metrics:
            raise ConfigError(
                "reproduced figures have claims, and no metrics",
                hint="leave out --metric, in Python metrics=",
            )
        return _of_figures(figures)
    results = [open_result(one) for one in directories]
    for result in results:
        check_files(result)
    return _of_results(directories, results, metrics)


def _of_results(
    directories: Sequence[Path], results: Sequence[Result], wanted: Sequence[str]
) -> Report:
    runs, names = resolve_names(results)
    summaries = [run.summary for run in runs]
    report = Report(title=_some(list(dict.fromkeys(one.name for one in summaries))))
    report.asked = [
        *_of_each("about", names, [run.scenario.to_dict().get("description", "") for run in runs]),
        ("schemes", _each(f"{one.scheme} ({one.preset})" for one in summaries)),
        ("network", "; ".join(dict.fromkeys(_network(run) for run in runs))),
        ("traffic", _each(f"{tag}" for tag in _tags(runs)[:_MAX_TAGS])),
        ("seeds", _each(str(one.seed) for one in summaries)),
        *_disturbances(names, runs),
    ]
    metrics = _metrics(runs, wanted)
    table, report.found = runs_table(names, runs, metrics, leave_out_zeros=not wanted)
    report.answer.append(table)
    report.found += _unlike(runs)
    doubtful = [name for name, run in zip(names, runs, strict=True) if run.doubts]
    if doubtful:
        report.found.append(_DOUBTS.format(f" of {', '.join(doubtful)}" if len(runs) > 1 else ""))
    warnings: dict[str, list[str]] = {}
    for name, run in zip(names, runs, strict=True):
        for text in run.warnings:
            warnings.setdefault(text, []).append(name)
    for text, whose_runs in warnings.items():
        whose = "" if len(whose_runs) == len(runs) else f"{', '.join(whose_runs)}: "
        report.warnings.append(f"{whose}{text}")
    report.warnings += catalogue.caveats(runs)
    shown = list(islice(zip(names, runs, strict=True), _MAX_DETAILED))
    if len(shown) < len(runs):
        report.warnings.append(_DETAILS.format(len(shown), len(runs)))
    report.charts += charts.of_results(shown)
    for name, run in shown:
        report.details += details(name if len(runs) > 1 else "", run)
    _add_scenarios(report, shown)
    report.commands = [
        f"rocelab run {shlex.quote(str(one / 'scenario.toml'))} --out {shlex.quote(again)}"
        for one, again in zip(directories, _places(directories), strict=True)
    ]
    report.versions = _versions(results)
    return report


def _disturbances(names: Sequence[str], runs: Sequence[Result]) -> list[tuple[str, str]]:
    """Links that failed, and hosts that took data slowly, and when."""
    return [
        *_of_each("links", names, list(map(failures_in_words, runs))),
        *_of_each("receivers", names, list(map(receivers_in_words, runs))),
    ]


def _of_each(what: str, names: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str]]:
    """A row for each of ``texts`` of runs but empty ones, with the runs if not all have it."""
    whose: dict[str, list[str]] = {}
    for name, text in zip(names, texts, strict=True):
        whose.setdefault(text, []).append(name)
    return [
        (what, text if len(known) == len(names) else f"{_some(known)}: {text}")
        for text, known in whose.items()
        if text
    ]


def _some(names: Sequence[str]) -> str:
    """The first of ``names``, and how many more there are."""
    more = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _unlike(runs: Sequence[Result]) -> list[str]:
    """A sentence where numbers of runs differ for other reasons than what is compared."""
    scenarios = [run.scenario.to_dict() for run in runs]
    parts = (("topology", "network"), ("traffic", "traffic"))
    unlike = [
        name for key, name in parts if any(one[key] != scenarios[0][key] for one in scenarios)
    ]
    if not unlike:
        return []
    return [f"The runs differ in {' and '.join(unlike)}, so a better number may be due to that."]


def _places(directories: Sequence[Path]) -> list[str]:
    """A directory for each result that is made again."""
    names = [f"{one.name}-again" for one in directories]
    if len(set(names)) < len(names):
        return [f"{name}-{number}" for number, name in enumerate(names, 1)]
    return names


def _each(texts: Iterable[str]) -> str:
    """All different texts."""
    return ", ".join(dict.fromkeys(texts))


def _add_scenarios(report: Report, runs: Sequence[tuple[str, Result]]) -> None:
    """The first scenario as a difference from the defaults, the others as one from the first."""
    scenarios = [without_defaults(run) for _, run in runs]
    changed = differences(scenarios, [run.scenario.to_dict() for _, run in runs])
    changed.pop("run.seed", None)
    names = [name for name, _ in runs]
    if changed.get("name") == names:
        # The head of the table has them.
        del changed["name"]
    if len(runs) > 1 and 0 < len(changed) <= _MAX_CHANGED:
        rows = [[Cell(key), *(Cell(text) for text in values)] for key, values in changed.items()]
        report.changed.append(Grid("What differs", ["key", *names], rows, wrapped=True))
    whole = runs if len(changed) > _MAX_CHANGED else runs[:1]
    report.scenario = "\n".join(
        (f"# {name}\n" if len(runs) > 1 else "") + document(one)
        for (name, _), one in zip(whole, scenarios, strict=False)
    )


def _of_sweep(directory: Path, sweep: Sweep, wanted: Sequence[str]) -> Report:
    plan = sweep.plan
    report = Report(title=f"{plan.scenario.name}: sweep")
    first = sweep.results[0]
    about = str(plan.scenario.to_dict().get("description", ""))
    report.asked = [
        *([("about", about)] if about else []),
        *((axis.key, ", ".join(value.label for value in axis.distinct)) for axis in plan.axes),
        *(("changed together", ", ".join(group)) for group in plan.zipped),
        ("seeds", _each((str(plan.seeds[0]), str(plan.seeds[-1]))).replace(", ", " to ")),
        ("runs", str(len(plan.cases))),
        ("schemes", _each(str(one.summary.scheme) for one in sweep.results)),
        ("network", "; ".join(dict.fromkeys(_network(one) for one in sweep.results))),
        *_disturbances([case.place for case in plan.cases], sweep.results),
    ]
    metrics = _metrics(sweep.results, wanted)
    table, report.found = combinations_table(sweep, metrics, leave_out_zeros=not wanted)
    report.answer.append(table)
    if sweep.doubts:
        report.found.append(_DOUBTS.format(""))
    report.warnings = [*sweep.warnings, *catalogue.caveats(sweep.results)]
    report.charts = charts.of_sweep(sweep, metrics)
    varied = ", ".join(axis.key for axis in plan.axes)
    head = f"# that of the first run; varied: {varied}\n" if varied else ""
    report.scenario = head + document(without_defaults(first))
    over = [
        f"--over {shlex.quote(axis.key + '=' + ','.join(value.text for value in axis.values))}"
        for axis in plan.axes
    ]
    zipped = [f"--zip {shlex.quote(','.join(group))}" for group in plan.zipped]
    again = f"{shlex.quote(directory.name)}-again"
    one = f"{shlex.quote(str(directory / plan.cases[0].place / 'scenario.toml'))}"
    sweeps = f"{' '.join([*over, *zipped])} --seeds {len(plan.seeds)} --out {again}"
    if plan.written_in is not None:
        file, settings = plan.written_in
        sets = [f"--set {shlex.quote(f'{key}={value}')}" for key, value in settings]
        report.commands = [" ".join(["rocelab sweep", shlex.quote(file), *sets, sweeps])]
    elif _repeats(sweep):
        report.commands = [f"rocelab sweep {one} {sweeps}"]
    else:
        report.commands = [
            f"rocelab run {one} --out {again}",
            "# That is the first run; the others have their scenarios in their directories, too.",
            "# What varies decides on other values, so that one scenario does not make all.",
        ]
    report.versions = _versions(sweep.results)
    return report


def _repeats(sweep: Sweep) -> bool:
    """Whether the scenario of the first run with what varies makes those of all runs.

    A stored scenario is complete: what another scheme or rate would decide otherwise stands in it.
    """
    first = sweep.results[0].scenario
    for case, run in zip(sweep.plan.cases, sweep.results, strict=True):
        settings = [(value.key, value.text) for value in case.combination]
        try:
            made = apply_settings(first, (*settings, ("run.seed", str(case.seed))))
        except ConfigError:
            return False
        if made.to_toml() != run.scenario_toml:
            return False
    return True


def _metrics(results: Sequence[Result], wanted: Sequence[str]) -> list[Metric]:
    """What tables show: ``wanted``, or slowdowns by tag and some of the whole run."""
    tags = _groups(results)
    series = {one.name: one.kind for run in results for one in run.series.values()}
    known = all_metrics(tags, series)
    if wanted:
        selected = select_metrics(wanted, known)
        for metric in selected:
            if all(metric.read(run) is None for run in results):
                raise ConfigError(f"no run has a value of {metric.name}")
        return selected
    of_tags = [f"{tag}.slowdown_p99" for tag in tags[:_MAX_TAGS] if len(tags) > 1]
    if len(results) <= _MAX_DETAILED:
        of_tags = [one.replace("p99", p) for one in of_tags for p in ("p99", "p50")]
    return select_metrics([*of_tags, *_MAIN], known)


def _tags(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(tag for one in results for tag in one.summary.by_tag))


def _groups(results: Sequence[Result]) -> list[str]:
    """The tags of all flows, and their schemes where a run has two."""
    schemes = dict.fromkeys(name for one in results for name in one.summary.by_scheme)
    return [*_tags(results), *schemes]


def _of_figures(figures: Sequence[Reproduced]) -> Report:
    report = Report(title="Reproduced figures")
    for one in figures:
        papers, ours = one.judged("paper"), one.judged("ours")
        if papers or not ours:
            report.answer.append(_claims(one.name, "claim", "paper", papers))
        if ours:
            title = f"{one.name}: checks of ours, which the paper does not claim"
            report.answer.append(_claims(title, "check", "expected", ours))
        report.charts += charts.of_figure(one)
    papers, ours = (
        [claim for one in figures for claim in one.judged(kind)] for kind in ("paper", "ours")
    )
    if papers or not ours:
        of = "of the paper" if len({one.source for one in figures}) == 1 else "of the papers"
        counted = _format.pluralise(len(papers), "claim", "claims")
        report.found.append(f"Of {counted} {of}: {_verdicts(papers)}.")
    if ours:
        counted = _format.pluralise(len(ours), "check", "checks")
        report.found.append(f"Of {counted} of ours: {_verdicts(ours)}.")
    if quick := sum(one.quick for one in figures):
        report.found.append(
            f"{quick:,} of {_format.pluralise(len(figures), 'figure', 'figures')} made in the "
            "quick version, which is smaller: see the warnings."
        )
    report.asked = [(one.name, one.shows) for one in figures]
    report.warnings = list(dict.fromkeys(text for one in figures for text in one.notes))
    # What was made in one way is made by one command.
    ways: dict[str, list[str]] = {}
    for one in figures:
        ways.setdefault(one.options, []).append(one.name)
    report.commands = [
        f"rocelab reproduce {shlex.join(names)}{options}" for options, names in ways.items()
    ]
    report.versions = [
        (name, text)
        for name, text in (
            ("rocelab", _each(one.version for one in figures if one.version)),
            ("seeds", _each(seed for one in figures for seed in one.seeds)),
        )
        if text
    ]
    return report


def _claims(title: str, what: str, value: str, claims: Sequence[Mapping[str, str]]) -> Grid:
    """A row for each of ``claims``, of which ``value`` has what is compared with."""
    # Why a claim does not hold is known of few.
    keys = [what, value, "measured", "assumption", *(["why"] if any(map(_why, claims)) else [])]
    rows = []
    for claim in claims:
        by = f": {claim['by']}" if claim["by"] else ""
        told = {**claim, "check": claim["claim"], "why": _why(claim)}
        texts = [f"{claim['verdict']}{by}", *(told[key] for key in keys)]
        rows.append([Cell(text) for text in texts])
    return Grid(title, ("verdict", *keys), rows, wrapped=True)


def _why(claim: Mapping[str, str]) -> str:
    return "" if claim["verdict"] == "holds" else claim["reason"]


def _verdicts(claims: Sequence[Mapping[str, str]]) -> str:
    """How many of ``claims`` have each verdict."""
    counts = Counter(claim["verdict"] for claim in claims)
    ordered = dict.fromkeys([*(one for one in _VERDICTS if one in counts), *counts])
    return ", ".join(
        f"{counts[one]:,} {one if counts[one] == 1 else _VERDICTS.get(one, one)}" for one in ordered
    )


def _network(run: Result) -> str:
    return _format.nodes(run.summary.hosts, run.summary.switches)


def _versions(results: Sequence[Result]) -> list[tuple[str, str]]:
    versions = dict.fromkeys(str(run.summary.version) for run in results)
    rows = [("rocelab", ", ".join(versions))]
    if len(results) <= _MAX_DETAILED:
        digests = (f"{run.summary.digest} (seed {run.summary.seed})" for run in results)
        rows.append(("digests", ", ".join(digests)))
    return rows
