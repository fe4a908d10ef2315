"""What a report says, as plain data."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocelab import _format
from rocelab.catalogue import schema
from rocelab.errors import ResultError
from rocelab.io.layout import SUMMARY, SWEEP
from rocelab.io.open import check_files, open_result
from rocelab.io.read import read_text
from rocelab.plot.labels import resolve_names
from rocelab.report import charts
from rocelab.sweeps import Sweep, open_sweep
from rocelab.sweeps.metrics import METRICS, Metric, select_metrics, sort_rows, tag_metrics

if TYPE_CHECKING:
    from rocelab.report.charts import Chart
    from rocelab.result import Result

_CLAIMS = "claims.json"
"""What the directory of a reproduced figure holds."""
_MAX_CLAIMS_BYTES = 1 << 24
_MAX_TAGS = 8
"""Tags that tables have columns of."""
_MAX_ROWS = 10
"""Rows of tables of ports and flows."""
_MAX_DETAILED = 12
"""Results whose series, ports and flows are shown."""
_DETAILS = "Only the first {} of {} runs have figures and tables of their own."

_MAIN = ("max_queue_bytes", "pause_frames", "paused_ns", "drops", "lossless_drops")
"""Metrics that the answer has beside slowdowns."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    best: bool = False
    """Whether it is the best of its column."""
    number: bool = False
    """Whether it is aligned as a number."""


@dataclass(frozen=True)
class Grid:
    """A table."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass
class Report:
    """All that a report says."""

    title: str
    asked: list[tuple[str, str]] = field(default_factory=list)
    """What was asked: names and values."""
    answer: list[Grid] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    details: list[Grid] = field(default_factory=list)
    """Pauses, longest queues, slowest flows."""
    scenario: str = ""
    """The scenario without what has its default value, as TOML."""
    commands: list[str] = field(default_factory=list)
    """What repeats it."""
    versions: list[tuple[str, str]] = field(default_factory=list)


def collect(directories: Sequence[Path]) -> Report:
    """What is in ``directories``: results, or one sweep, or reproduced figures."""
    sweeps = [one for one in directories if (one / SWEEP).is_file()]
    if sweeps:
        if len(directories) > 1:
            raise ResultError(
                f"{sweeps[0]}: is a sweep, and a report has one alone",
                hint="write a report of each",
            )
        return _of_sweep(sweeps[0], open_sweep(sweeps[0]))
    figures = [found for one in directories for found in _figures(one)]
    if figures:
        return _of_figures(directories, figures)
    results = [open_result(one) for one in directories]
    for result in results:
        check_files(result)
    return _of_results(directories, results)


def _of_results(directories: Sequence[Path], results: Sequence[Result]) -> Report:
    runs, names = resolve_names(results)
    schemes = dict.fromkeys(str(run.summary["scheme"]) for run in runs)
    report = Report(
        title=", ".join(dict.fromkeys(str(run.summary["name"]) for run in runs)),
        asked=[
            ("schemes", ", ".join(schemes)),
            ("network", ", ".join(dict.fromkeys(_network(run) for run in runs))),
            ("seeds", ", ".join(dict.fromkeys(str(run.summary["seed"]) for run in runs))),
        ],
    )
    tags = list(dict.fromkeys(tag for run in runs for tag in run.summary["by_tag"]))[:_MAX_TAGS]
    report.answer.append(_answer(names, runs, tags))
    for name, run in zip(names, runs, strict=True):
        prefix = f"{name}: " if len(runs) > 1 else ""
        report.warnings += [f"{prefix}{text}" for text in run.warnings]
        report.warnings += [f"{prefix}{run.summary['caveat']}"] if run.summary["caveat"] else []
    shown = list(islice(zip(names, runs, strict=True), _MAX_DETAILED))
    if len(shown) < len(runs):
        report.warnings.append(_DETAILS.format(len(shown), len(runs)))
    report.charts += charts.of_results(shown)
    for name, run in shown:
        report.details += _details(name if len(runs) > 1 else "", run)
    report.scenario = "\n".join(
        (f"# {name}\n" if len(runs) > 1 else "") + _difference(run)
        for name, run in (shown if len(runs) > 1 else shown[:1])
    )
    report.commands = [
        f"rocelab run {shlex.quote(str(one / 'scenario.toml'))} --out {shlex.quote(one.name)}-again"
        for one in directories
    ]
    report.versions = _versions(results)
    return report


def _of_sweep(directory: Path, sweep: Sweep) -> Report:
    plan = sweep.plan
    report = Report(title=f"{plan.scenario.name}: sweep")
    report.asked = [
        *((axis.key, ", ".join(value.label for value in axis.values)) for axis in plan.axes),
        ("seeds", f"{plan.seeds[0]} to {plan.seeds[-1]}"),
        ("runs", str(len(plan.cases))),
    ]
    report.asked += [("changed together", ", ".join(group)) for group in plan.zipped]
    tags = [name for name in _tags(sweep.results) if len(_tags(sweep.results)) > 1]
    wanted = [f"{tag}.slowdown_p99" for tag in tags[:_MAX_TAGS]]
    metrics = select_metrics(["slowdown_mean", "slowdown_p99", *wanted, *_MAIN], sweep.metrics)
    report.answer.append(_combinations(sweep, metrics))
    report.warnings = sweep.warnings
    report.charts = charts.of_sweep(sweep, metrics)
    report.scenario = _difference(sweep.results[0])
    over = [
        f"--over {shlex.quote(axis.key + '=' + ','.join(value.text for value in axis.values))}"
        for axis in plan.axes
    ]
    zipped = [f"--zip {shlex.quote(','.join(group))}" for group in plan.zipped]
    first = sweep.results[0].directory
    report.commands = [
        f"rocelab sweep {shlex.quote(str(first / 'scenario.toml'))} {' '.join([*over, *zipped])} "
        f"--seeds {len(plan.seeds)} --out {shlex.quote(directory.name)}-again"
        if first
        else ""
    ]
    report.versions = _versions(sweep.results)
    return report


def _tags(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(tag for one in results for tag in one.summary["by_tag"]))


def _figures(directory: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The reproduced figures in ``directory``, by their ids, with their claims."""
    if (directory / SUMMARY).is_file():
        return
    for path in sorted(directory.rglob(_CLAIMS)):
        try:
            found = json.loads(read_text(path, _MAX_CLAIMS_BYTES))
            claims = found["claims"] if isinstance(found, dict) else found
            yield path.parent.relative_to(directory).as_posix() or directory.name, list(claims)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ResultError(f"{path}: damaged: {error}") from None


def _of_figures(
    directories: Sequence[Path], figures: Sequence[tuple[str, list[dict[str, Any]]]]
) -> Report:
    report = Report(title="Reproduced figures")
    verdicts: dict[str, int] = {}
    for name, claims in figures:
        rows = []
        for claim in claims:
            verdict = str(claim.get("verdict", ""))
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
            words = [str(claim.get(key, "")) for key in ("claim", "paper", "measured")]
            rows.append([Cell(words[0]), Cell(words[1]), Cell(words[2]), Cell(verdict)])
        head = ("claim", "paper", "measured", "verdict")
        report.details.append(Grid(name, head, rows))
    report.asked = [("figures", ", ".join(name for name, _ in figures))]
    counts = [[Cell(verdict), Cell(str(n), number=True)] for verdict, n in verdicts.items()]
    report.answer.append(Grid("Claims by verdict", ("verdict", "claims"), counts))
    report.charts = charts.of_pictures(directories)
    report.commands = [f"rocelab reproduce {' '.join(name for name, _ in figures)}"]
    return report


def _network(run: Result) -> str:
    return f"{run.summary['hosts']} hosts, {run.summary['switches']} switches"


def _answer(names: Sequence[str], runs: Sequence[Result], tags: Sequence[str]) -> Grid:
    """A row for each run, a column for each metric, the best of each marked."""
    metrics = [one for one in METRICS if one.name in ("slowdown_mean", "slowdown_p99", *_MAIN)]
    if len(tags) > 1:
        wanted = [f"{tag}.slowdown_{one}" for tag in tags for one in ("p50", "p99")]
        metrics = [*select_metrics(wanted, tag_metrics(tags)), *metrics]
    metrics, zero = _without_zeros(
        metrics, {one: [one.read(run) for run in runs] for one in metrics}
    )
    columns = [_column(metric, [metric.read(run) for run in runs]) for metric in metrics]
    rows = [[Cell(name), *(column[at] for column in columns)] for at, name in enumerate(names)]
    head = ["run", *(_head(metric) for metric in metrics)]
    note = "Marked: the best of a column, if not all are equal." if len(runs) > 1 else ""
    return Grid("Numbers", head, rows, " ".join(filter(None, [note, zero])))


def _combinations(sweep: Sweep, metrics: Sequence[Metric]) -> Grid:
    """A row for each combination, best p99 first, with confidence intervals."""
    table = sweep.statistics.to_polars()
    first = next((one for one in metrics if one.name.endswith("slowdown_p99")), metrics[0])
    order = sort_rows(table, first)
    axes = sweep.plan.axes
    metrics, zero = _without_zeros(metrics, {one: table[one.name].to_list() for one in metrics})
    columns = []
    for metric in metrics:
        means = table[metric.name].to_list()
        halves = table[f"{metric.name}_ci95"].to_list()
        columns.append(_column(metric, [means[at] for at in order], [halves[at] for at in order]))
    rows = []
    for row, at in enumerate(order):
        values = [Cell(value.label) for value in sweep.plan.combinations[at]]
        rows.append([*values, *(column[row] for column in columns)])
    head = [*(axis.key for axis in axes), *(_head(metric) for metric in metrics)]
    several = len(sweep.plan.seeds) > 1
    note = f"Sorted by {first.name}, best first. Marked: the best mean of a column" + (
        ", and what does not differ from it by more than the 95 % confidence intervals."
        if several
        else "."
    )
    return Grid("Combinations", head, rows, " ".join(filter(None, [note, zero])))


def _without_zeros(
    metrics: Sequence[Metric], values: Mapping[Metric, Sequence[Any]]
) -> tuple[list[Metric], str]:
    """The metrics that are not 0 everywhere, and a sentence that names the others."""
    zero = [one for one in metrics if all(value == 0 for value in values[one])]
    left = [one for one in metrics if one not in zero]
    return left, f"0 everywhere: {', '.join(one.title for one in zero)}." if zero else ""


def _head(metric: Metric) -> str:
    return metric.title


def _column(
    metric: Metric, values: Sequence[Any], halves: Sequence[float | None] | None = None
) -> list[Cell]:
    """Cells of a metric's values, the best of which are marked."""
    known = [value for value in values if value is not None]
    unit, scale = _format.unit(metric.unit, max(known, default=0))
    best = None
    if len(set(known)) > 1:
        best = max(known) if metric.more_is_better else min(known)
    cells = []
    for at, value in enumerate(values):
        if value is None:
            cells.append(Cell("-", number=True))
            continue
        half = halves[at] if halves else None
        text = _number(value / scale) + (f" ± {_number(half / scale)}" if half else "")
        near = best is not None and abs(value - best) <= (half or 0)
        cells.append(Cell(f"{text} {unit}".strip(), best=near, number=True))
    return cells


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3g}"


def _details(name: str, run: Result) -> Iterator[Grid]:
    """Where packets waited, and which flows paid for it."""
    prefix = f"{name}: " if name else ""
    ports = run.ports.to_polars()
    paused = ports.filter(ports["paused_ns"] > 0).sort("paused_ns", descending=True)
    if len(paused):
        rows = [
            [
                Cell(f"{row['node']}:{row['port']}"),
                Cell(str(row["peer"])),
                Cell(_format.duration(row["paused_ns"] * 1000), number=True),
                Cell(f"{row['pause_frames_received']:,}", number=True),
            ]
            for row in paused.head(_MAX_ROWS).to_dicts()
        ]
        head = ("port", "paused by", "time paused", "pause frames")
        note = f"{len(paused)} ports were paused." if len(paused) > _MAX_ROWS else ""
        yield Grid(f"{prefix}Ports that PFC paused longest", head, rows, note)
    queues = ports.filter(ports["max_queue_bytes"] > 0).sort("max_queue_bytes", descending=True)
    rows = [
        [
            Cell(f"{row['node']}:{row['port']}"),
            Cell(str(row["peer"])),
            Cell(_format.size(row["max_queue_bytes"]), number=True),
            Cell(f"{row['ecn_marked_packets']:,}", number=True),
            Cell(f"{row['dropped_packets']:,}", number=True),
        ]
        for row in queues.head(_MAX_ROWS).to_dicts()
    ]
    queue_head = ("port", "to", "longest queue", "packets marked", "packets dropped")
    yield Grid(f"{prefix}Longest queues", queue_head, rows)
    flows = run.flows.to_polars().drop_nulls("slowdown").sort("slowdown", descending=True)
    rows = [
        [
            Cell(f"{row['flow_id']}", number=True),
            Cell(str(row["tag"])),
            Cell(f"{row['src']} to {row['dst']}"),
            Cell(_format.size(row["size_bytes"]), number=True),
            Cell(_format.duration(row["start_ps"]), number=True),
            Cell(_format.duration(row["fct_ps"]), number=True),
            Cell(_number(row["slowdown"]), number=True),
        ]
        for row in flows.head(_MAX_ROWS).to_dicts()
    ]
    flow_head = ("flow", "tag", "ends", "size", "start", "FCT", "slowdown")
    yield Grid(f"{prefix}Slowest flows", flow_head, rows)


def _difference(run: Result) -> str:
    """The scenario of ``run`` without what has its default value."""
    found = _without_defaults(run.scenario.to_dict(), schema(), schema())
    lines = [f"{key} = {_toml(value)}" for key, value in found.items() if not _is_table(value)]
    for key, value in found.items():
        for table in value if isinstance(value, list) else [value]:
            if isinstance(table, Mapping):
                lines += ["", f"[[{key}]]" if isinstance(value, list) else f"[{key}]"]
                lines += [f"{name} = {_toml(one)}" for name, one in table.items()]
    return "\n".join(lines).strip() + "\n"


def _is_table(value: object) -> bool:
    tables = isinstance(value, list) and value and isinstance(value[0], Mapping)
    return isinstance(value, Mapping) or bool(tables)


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        shown = [_toml(one) for one in value[:_MAX_ROWS]]
        more = len(value) - len(shown)
        return "[" + ", ".join([*shown, *([f"... {more} more"] if more else [])]) + "]"
    return json.dumps(value, ensure_ascii=False)


def _without_defaults(
    values: Mapping[str, Any], of: Mapping[str, Any], root: Mapping[str, Any]
) -> dict[str, Any]:
    """``values`` without the keys whose value is the default that the schema ``of`` has."""
    properties = of.get("properties", {})
    found = {}
    for key, value in values.items():
        entry = properties.get(key, {})
        if key == "schema" or ("default" in entry and value == entry["default"]):
            continue
        if isinstance(value, Mapping):
            inner = _without_defaults(value, _resolved(entry, root), root)
            if inner:
                found[key] = inner
        elif value not in ([], {}, None):
            found[key] = value
    return found


def _resolved(entry: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = entry.get("$ref")
    return root["$defs"][reference.rsplit("/", 1)[-1]] if reference else entry


def _versions(results: Sequence[Result]) -> list[tuple[str, str]]:
    versions = dict.fromkeys(str(run.summary["version"]) for run in results)
    rows = [("rocelab", ", ".join(versions))]
    if len(results) <= _MAX_DETAILED:
        digests = (f"{run.summary['digest']} (seed {run.summary['seed']})" for run in results)
        rows.append(("digests", ", ".join(digests)))
    return rows
