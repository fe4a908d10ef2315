"""Compares the two orders of events on loaded networks: the table of hpcc-simulator.md.

``python docs/event_orders.py DIR`` writes the fat tree of ``docs/hpcc_files.py`` into DIR, runs it
and the leaf-spine network of the tests in both orders, and prints a Markdown table. How far the
simulator's own results move is measured in its order, with starts that are 0 or 1 ns later.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from rocelab._percentile import percentile
from rocelab.hpcc.experiment import Experiment, Order

ROOT = Path(__file__).parents[1]
LAWS = ("hpcc", "dcqcn", "timely", "dctcp")
SIZES = (0, 10**4, 10**5, 10**6, math.inf)
PERCENTILES = (50, 95, 99)
SHIFTED_RUNS = 3
HEAD = (
    "network",
    "law",
    "equal FCTs",
    "below 10 KB",
    "10 to 100 KB",
    "100 KB to 1 MB",
    "from 1 MB",
    "pauses ns3 / fast",
    "longest queue ns3 / fast",
)

Slowdowns = list[tuple[float, ...]]
"""By class of sizes: the percentiles."""


@dataclass
class Outcome:
    """What came of a run."""

    fcts: dict[tuple[str, ...], int]
    slowdowns: Slowdowns
    pauses: int
    queue: int


def run(config: Path, directory: Path, into: Path, order: Order) -> Outcome:
    """Runs an experiment."""
    experiment = Experiment(config, directory)
    result, _ = experiment.run(into=into, order=order)
    path = experiment.outputs(into)["FCT_OUTPUT_FILE"]
    rows = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    slowdowns: Slowdowns = []
    for low, high in itertools.pairwise(SIZES):
        values = sorted(int(row[6]) / int(row[7]) for row in rows if low <= int(row[4]) < high)
        slowdowns.append(tuple(percentile(values, percent) for percent in PERCENTILES))
    return Outcome(
        {tuple(row[:6]): int(row[6]) for row in rows},
        slowdowns,
        result.summary.pause_frames,
        result.summary.max_queue_bytes,
    )


def shift_starts(flow: Path, seed: int) -> str:
    """A file of flows whose starts are 0 or 1 ns later."""
    draw = random.Random(seed)  # noqa: S311
    count, *lines = flow.read_text(encoding="ascii").splitlines()
    rows = []
    for line in filter(None, lines):
        *words, start = line.split()
        seconds, _, fraction = start.partition(".")
        time = int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9]) + draw.randrange(2)
        rows.append((time, words))
    rows.sort(key=lambda row: row[0])
    texts = [" ".join([*words, f"{time // 10**9}.{time % 10**9:09}"]) for time, words in rows]
    return "\n".join([count, *texts, ""])


def percent(run: Outcome, exact: Outcome) -> list[list[float]]:
    """By class and percentile: how far slowdowns are from those of the exact run."""
    pairs = zip(run.slowdowns, exact.slowdowns, strict=True)
    return [[100 * (a / b - 1) for a, b in zip(*pair, strict=True)] for pair in pairs]


def row(network: str, law: str, config: Path, flow: Path, scratch: Path) -> tuple[str, ...]:
    """A row of the table. ``flow``: the file of flows that the configuration names."""
    directory = config.parent
    exact = run(config, directory, scratch, "ns3")
    fast = run(config, directory, scratch, "fast")
    kept = flow.read_text(encoding="ascii")
    shifted = []
    for seed in range(SHIFTED_RUNS):
        flow.write_text(shift_starts(flow, seed), encoding="ascii")
        shifted.append(percent(run(config, directory, scratch, "ns3"), exact))
        flow.write_text(kept, encoding="ascii")
    cells = []
    for place, differences in enumerate(percent(fast, exact)):
        own = [max(abs(run[place][at]) for run in shifted) for at in range(len(PERCENTILES))]
        pairs = zip(differences, own, strict=True)
        cells.append(", ".join(f"{here:+.1f} ({there:.1f})" for here, there in pairs))
    equal = sum(fast.fcts.get(flow) == fct for flow, fct in exact.fcts.items())
    return (
        network,
        law,
        f"{equal} of {len(exact.fcts)}",
        *cells,
        f"{exact.pauses} / {fast.pauses}",
        f"{exact.queue:,} / {fast.queue:,} B",
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Compares the two orders of events.")
    parser.add_argument("directory", type=Path)
    directory: Path = parser.parse_args().directory
    for script, arguments in (
        ("docs/hpcc_files.py", [directory / "fat-tree"]),
        ("tests/python/hpcc_cases.py", [directory / "cases"]),
    ):
        subprocess.run([sys.executable, ROOT / script, *arguments], check=True)
    tree, leafspine = directory / "fat-tree", directory / "cases" / "leafspine_hadoop70"
    rows = [HEAD, tuple("---" for _ in HEAD)]
    for law in LAWS:
        config = tree / f"{law}.txt"
        rows.append(row("fat tree", law, config, tree / "flow.txt", directory / "out"))
    for law in LAWS:
        config = leafspine / law / "config.txt"
        rows.append(row("leaf-spine", law, config, leafspine / "flow.txt", directory / "out"))
    for cells in rows:
        sys.stdout.write(f"| {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
