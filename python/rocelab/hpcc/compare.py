"""How far runs agree with the HPCC ns-3 simulator's own: a table of cases."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from rocelab._coverage import Coverage
from rocelab._text_table import markdown
from rocelab.errors import ConfigError, ResultError
from rocelab.hpcc.experiment import Experiment, Order, directory_of_names
from rocelab.hpcc.fct import read_text_file, rows
from rocelab.io.files import os_errors_as_result_error

if TYPE_CHECKING:
    from rocelab.simulate import Progress

_SEEDS_TO_CHANGE_SOMETHING = 4
"""Runs that draw nothing are the same with this many seeds, and no more are tried."""

Flow = tuple[str, ...]
"""A flow in ``fct.txt``: addresses, ports, size, start, and how many before it have the same."""


@dataclass(frozen=True, slots=True)
class Ns3Comparison:
    """What a case of the simulator and its run here have in common."""

    case: str
    scheme: str
    order: Order
    """The order of events of one nanosecond here."""
    posted: int
    """Flows that the case has, finished or not."""
    flows: int
    """Flows that finished there."""
    missing: int
    """Those of them that did not finish here."""
    extra: int
    """Flows that finished here alone."""
    equal: int
    """Those whose FCT is the same to the nanosecond."""
    largest_percent: float
    """The largest difference of an FCT."""
    pauses_there: int
    pauses_here: int
    same_pfc: bool
    """Every PFC frame arrived at the same time and place."""
    queue_there: int | None
    """The longest queue in bytes, if the case has it."""
    queue_here: int
    seeds: int
    """Runs with different seeds; 1 where seeds change nothing or the first run is the same."""
    covered: bool | None
    """With several seeds: the mean FCT there lies within those here."""
    mean_percent: float | None
    """With several seeds: how far the mean of the mean FCTs here is from the one there."""
    mean_flows: int
    """The flows of these means: those that finished there and with every seed here."""


def find_cases(directory: Path) -> tuple[list[Path], list[Path]]:
    """The folders below ``directory`` with a configuration: those with what came of it, others."""
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "no such directory"
        raise ConfigError(what, file=str(directory))
    cases: list[Path] = []
    others: list[Path] = []
    for path in sorted(directory.rglob("config.txt")):
        case = path.parent
        (cases if (case / "fct.txt").is_file() else others).append(case)
    if not cases:
        raise ConfigError(
            "no case in here: a folder with config.txt, what it reads, and the fct.txt and pfc.txt "
            "it gave",
            file=str(directory),
            hint=f"{others[0]} has no fct.txt" if others else None,
        )
    return cases, others


def compare(
    case: Path,
    name: str,
    seeds: int,
    order: Order,
    *,
    progress: bool | Callable[[Progress], None] = False,
) -> Ns3Comparison:
    """Runs a case in an order of events and compares.

    With ``seeds`` above 1 a run that differs is run again with others, if they change anything.
    ``progress`` is that of each run.
    Raises :class:`ConfigError` where the case cannot be run, or not in this order.
    """
    config = case / "config.txt"
    experiment = Experiment(config, directory_of_names(config))
    there, pfc_there = _fcts(case / "fct.txt"), _lines(case / "pfc.txt")
    with tempfile.TemporaryDirectory() as scratch:
        into = Path(scratch)
        result, _ = experiment.run(into=into, order=order, progress=progress)
        outputs = experiment.outputs(into)
        here = _fcts(outputs["FCT_OUTPUT_FILE"])
        pfc_here = _lines(outputs["PFC_OUTPUT_FILE"])
        common = [flow for flow in there if flow in here]
        differences = [abs(here[flow] / there[flow] - 1) for flow in common]
        runs = [{flow: here[flow] for flow in common}]
        changed = False
        if any(differences) and seeds > 1:
            for seed in range(2, seeds + 1):
                changes = [("run.seed", str(seed))]
                experiment.run(settings=changes, into=into, order=order, progress=progress)
                finished = _fcts(outputs["FCT_OUTPUT_FILE"])
                changed |= finished != here
                runs.append({flow: finished[flow] for flow in there if flow in finished})
                if seed == _SEEDS_TO_CHANGE_SOMETHING and not changed:
                    break
            runs = runs if changed else runs[:1]
    everywhere = [flow for flow in there if all(flow in run for run in runs)]
    covered = mean_percent = None
    if len(runs) > 1 and everywhere:
        target = fmean(there[flow] for flow in everywhere)
        means = [fmean(run[flow] for flow in everywhere) for run in runs]
        covered = min(means) <= target <= max(means)
        mean_percent = 100 * (fmean(means) / target - 1)
    return Ns3Comparison(
        case=name,
        scheme=result.summary.scheme,
        order=order,
        posted=result.summary.flows,
        flows=len(there),
        missing=len(there) - len(common),
        extra=len(here) - len(common),
        equal=sum(difference == 0 for difference in differences),
        largest_percent=100 * max(differences, default=0.0),
        pauses_there=_pauses(pfc_there),
        pauses_here=_pauses(pfc_here),
        same_pfc=pfc_here == pfc_there,
        queue_there=_longest_queue(case / "summary.json"),
        queue_here=result.summary.max_queue_bytes,
        seeds=len(runs),
        covered=covered,
        mean_percent=mean_percent,
        mean_flows=len(everywhere),
    )


def table(cases: Sequence[Ns3Comparison]) -> str:
    """The agreement as a Markdown table."""
    columns = (
        "case",
        "scheme",
        "order",
        "flows",
        "FCT equal to the ns",
        "largest difference",
        "pauses there / here",
        "longest queue there / here",
    )
    lines = [columns]
    for row in cases:
        flows, common = str(row.flows), row.flows - row.missing
        if common < row.posted:
            flows = f"{common} of {row.posted}"
        for number, what in ((row.missing, "missing here"), (row.extra, "extra here")):
            if number:
                flows += f", {number} {what}"
        difference = "none" if row.equal == common else _percent(row.largest_percent)
        if row.flows and not common:
            difference = "-"
        if row.mean_percent is not None:
            inside = "within" if row.covered else "outside"
            covered = Coverage(row.mean_flows, row.posted)
            part = f", of the {covered} flows that finished in all runs"
            of = "" if covered.complete else part
            difference += (
                f"; mean FCT of {row.seeds} seeds {row.mean_percent:+.2g} %{of}, "
                f"theirs {inside} ours"
            )
        pauses = f"{row.pauses_there} / {row.pauses_here}"
        if row.pauses_there and row.same_pfc:
            pauses += ", each at its time and place"
        queue = f"{row.queue_there:,}" if row.queue_there is not None else "?"
        queues = f"{queue} / {row.queue_here:,} B"
        equal = str(row.equal)
        lines.append((row.case, row.scheme, row.order, flows, equal, difference, pauses, queues))
    return markdown(lines, left=len(columns))


def _percent(value: float) -> str:
    """Three digits, and never a power of ten: 1230 per cent is `1,230 %`."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f} %" if rounded >= 1000 else f"{rounded:g} %"


def _fcts(path: Path) -> dict[Flow, int]:
    """Completion times, ns. Of flows that nothing tells apart, each has its place in the file."""
    fcts: dict[Flow, int] = {}
    alike: Counter[Flow] = Counter()
    for number, words in rows(path):
        fct = int(words[6])
        if fct == 0:
            raise ResultError(
                f"{path}:{number}: the FCT is 0", hint="a flow takes 1 ns or more: is it complete?"
            )
        flow = tuple(words[:6])
        fcts[*flow, str(alike[flow])] = fct
        alike[flow] += 1
    return fcts


def _lines(path: Path) -> list[str]:
    """The lines of a text file, sorted."""
    with os_errors_as_result_error(path, "read"):
        return sorted(read_text_file(path).splitlines())


def _pauses(lines: Sequence[str]) -> int:
    return sum(line.endswith(" 1") for line in lines)


def _longest_queue(path: Path) -> int | None:
    if not path.is_file():
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8")).get("max_port_q_bytes")
        return None if value is None else int(value)
    except (
        OSError,
        ValueError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise ResultError(f"{path}: cannot read: {error}") from None
