"""Time series of the HPCC ns-3 simulator's runs and of the same runs here, in one picture."""

from __future__ import annotations

import gzip
import zlib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from rocelab.errors import ResultError
from rocelab.hpcc.experiment import Experiment
from rocelab.io.read import open_regular
from rocelab.plot.panels import figure
from rocelab.plot.theme import COLOURS, theme
from rocelab.plot.write import save
from rocelab.scenario import Scenario
from rocelab.series import Samples, series
from rocelab.simulate import run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rocelab.result import Result

QUEUES = "ts_queue.txt"
"""Lines ``time_ns node port bytes``, without those of empty ports; may be compressed by gzip."""
RATES = "ts_rate.txt"
"""Lines ``time_ns source destination source_port rate_bps ...`` of flows that have not ended."""

_START_NS = 2_000_000_000
"""Flows begin then, by convention."""
_STEP_NS = 1_000
"""From one sample to the next."""
_MAX_FLOWS = 3
_DPI = 160
"""For the screen: these pictures are to be looked at, not printed."""

Port = tuple[str, int]
"""A node's name and the number of its port, from 1."""
Pair = tuple[str, str]
"""Names of a flow's hosts."""


def has_series(case: Path) -> bool:
    """Whether a case comes with time series."""
    return all(_place(case / name).is_file() for name in (QUEUES, RATES))


def draw(case: Path, stem: Path) -> list[Path]:
    """Runs a case; draws its longest queue and its rates beside the simulator's own."""
    (node, port), there = _longest_queue(case)
    rates, end_ns = _rates(case)
    samples = range(_START_NS + _STEP_NS, end_ns + 1, _STEP_NS)
    queue_there = (
        [_microseconds(time) for time in samples],
        [there.get(time, 0.0) / 1e3 for time in samples],
    )
    result, flows = _run(case, (node, port), list(rates), end_ns)
    with theme():
        drawn, (upper, lower) = figure(rows=2, height_in=3.6)
        _overlay(upper, "black", queue_there, series(result, "queue", 1e3))
        for (flow, pair), colour in zip(flows, COLOURS, strict=False):
            _overlay(lower, colour, rates[pair], series(result, "rate", 1e9, flow=flow))
            lower.plot([], [], color=colour, label=f"{pair[0]} to {pair[1]}")
        upper.plot([], [], color="black", alpha=0.3, linewidth=3.5, label="HPCC simulator")
        upper.plot([], [], color="black", linewidth=0.8, label="rocelab")
        upper.set_ylabel(f"Queue at {node},\nport {port} (KB)")
        lower.set_ylabel("Rate (Gb/s)")
        lower.set_xlabel("Time from the first flow's start (µs)")
        for axes in (upper, lower):
            axes.set_ylim(bottom=0)
            axes.legend(
                loc="lower left",
                bbox_to_anchor=(0, 1),
                ncols=3,
                borderaxespad=0.2,
                borderpad=0.2,
                handlelength=1.2,
                columnspacing=0.8,
            )
        return save(drawn, stem, ("png",), dpi=_DPI)


def _longest_queue(case: Path) -> tuple[Port, dict[int, float]]:
    """The port with the longest queue in the case, and that queue in bytes by the time in ns."""
    queues: dict[Port, dict[int, float]] = defaultdict(dict)
    for (time, node, port), value in _rows(case / QUEUES, 4):
        queues[f"n{node}", port][time] = value
    return max(queues.items(), key=lambda item: max(item[1].values()))


def _rates(case: Path) -> tuple[dict[Pair, Samples], int]:
    """The rates of the case's flows in Gb/s, and when the last sample was taken."""
    rates: dict[Pair, Samples] = defaultdict(lambda: ([], []))
    end_ns = _START_NS
    for (time, src, dst, _), value in _rows(case / RATES, 5):
        end_ns = max(end_ns, time)
        times, values = rates[f"n{src}", f"n{dst}"]
        times.append(_microseconds(time))
        values.append(value / 1e9)
    return rates, end_ns


def _overlay(axes: Axes, colour: str, there: Samples, here: Samples) -> None:
    """The simulator's curve as a broad light line, ours as a thin one on it.

    Its times are from the flows' start on, ours from the run's.
    """
    axes.plot(*there, color=colour, alpha=0.3, linewidth=3.5)
    times, values = here
    axes.plot([time - _START_NS / 1e3 for time in times], values, color=colour, linewidth=0.8)


def _run(
    case: Path, place: Port, pairs: list[Pair], end_ns: int
) -> tuple[Result, list[tuple[int, Pair]]]:
    """The result, with the queue of a port and the rates of some flows; and which flows."""
    scenario = Experiment(case / "config.txt", case).scenario()
    data = scenario.to_dict()
    node, port = place
    links = [link for link in data["topology"]["links"] if node in (link["a"], link["b"])]
    if not 1 <= port <= len(links):
        raise ResultError(f"{_place(case / QUEUES)}: {node} has no port {port} in the topology")
    ends = (links[port - 1]["a"], links[port - 1]["b"])
    peer = ends[1] if ends[0] == node else ends[0]
    known: dict[Pair, int] = {}
    for number, flow in enumerate(data["traffic"][0]["flows"]):
        known.setdefault((flow["src"], flow["dst"]), number)
    for src, dst in pairs:
        if (src, dst) not in known:
            raise ResultError(f"{_place(case / RATES)}: no flow from {src} to {dst} in the case")
    flows = sorted((known[pair], pair) for pair in pairs)
    if len(flows) > _MAX_FLOWS:
        flows = [flows[0], flows[len(flows) // 2], flows[-1]]
    clock = {
        "interval": f"{_STEP_NS}ns",
        "start": f"{_START_NS + _STEP_NS}ns",
        "end": f"{end_ns}ns",
    }
    data["probe"] = [
        {"name": "queue", "kind": "queue", "ports": [f"{node}:{peer}"], **clock},
        {"name": "rate", "kind": "rate", "flows": [number for number, _ in flows], **clock},
    ]
    return run(Scenario(**data)), flows


def _microseconds(time_ns: float) -> float:
    return (time_ns - _START_NS) / 1e3


def _rows(path: Path, columns: int) -> list[tuple[list[int], float]]:
    """The lines of ``path``: the integers of all but the last column, and the value of that."""
    place = _place(path)
    rows = []
    for number, line in enumerate(_text(place).splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        try:
            rows.append(([int(word) for word in words[: columns - 1]], float(words[columns - 1])))
        except (ValueError, IndexError):
            raise ResultError(f"{place}:{number}: needs {columns} numbers") from None
    if not rows:
        raise ResultError(f"{place}: holds no sample")
    return rows


def _text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            content = file.read()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ResultError(f"{path}: cannot read: {reason}") from None
    return content.decode(errors="replace")


def _place(path: Path) -> Path:
    """Where a file of that name is, compressed or not; where it is neither, its own path."""
    places = (path, path.with_name(f"{path.name}.gz"))
    return next((place for place in places if place.is_file()), path)
