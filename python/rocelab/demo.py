"""The demo: one scenario under three schemes, a table and pictures that compare them.

``python -m rocelab.demo examples/incast.toml`` runs it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rocelab._coverage import Coverage
from rocelab._format import duration, size
from rocelab._percentile import percentile
from rocelab._text_table import aligned
from rocelab.cli import run_command
from rocelab.cli.output import print_warnings, show
from rocelab.io.files import check_output_directory, check_output_file, write_atomic
from rocelab.io.save import check_result_directory
from rocelab.plot.gallery import plot_all
from rocelab.plot.slowdown import slowdowns_by_tag
from rocelab.scenario import load
from rocelab.simulate import run

if TYPE_CHECKING:
    from rocelab.result import Result

SCHEMES = ("none", "dcqcn", "hpcc")


def compare(scenario: Path, out: Path) -> None:
    """Runs ``scenario`` under each scheme; writes results, table and pictures to ``out``."""
    results = []
    table_path = out / "table.txt"
    for scheme in SCHEMES:
        check_result_directory(out / scheme, force=True)
    check_output_file(table_path)
    check_output_directory(out / "plots")
    for scheme in SCHEMES:
        result = run(load(scenario, set={"scheme": {"name": scheme}}), progress=True)
        result.save(out / scheme, force=True)
        results.append(result)
    text = table(results)
    write_atomic(table_path, f"{text}\n".encode())
    pictures, left_out = plot_all(results, out / "plots")
    print_warnings(left_out)
    show(f"{text}\n")
    show(f"table     {table_path}")
    for path in pictures:
        show(f"picture   {path}")
    for scheme in SCHEMES:
        show(f"result    {out / scheme}")


def table(results: list[Result]) -> str:
    """What the schemes did, a scheme a line: median slowdown of each tag, pauses, queues."""
    tags = list(dict.fromkeys(tag for result in results for tag in slowdowns_by_tag(result)))
    heads = (f"{tag} slowdown p50" for tag in tags)
    rows = [("scheme", *heads, "pauses", "paused", "longest queue")]
    for result in results:
        summary = result.summary
        slowdowns = slowdowns_by_tag(result)
        medians = (
            f"{percentile(values, 50):.2f}" if (values := slowdowns.get(tag)) else "-"
            for tag in tags
        )
        rows.append(
            (
                summary.scheme,
                *medians,
                f"{summary.pause_frames:,}",
                duration(summary.paused_ns * 1000),
                size(summary.max_queue_bytes),
            )
        )
    covered = [Coverage.of(result.summary) for result in results]
    if not all(one.complete for one in covered):
        told = ["flows done", *map(str, covered)]
        rows = [(*row, word) for row, word in zip(rows, told, strict=True)]
    return aligned(rows, left=1)


def main() -> NoReturn:
    """Reads the command line and runs the demo."""
    run_command(_demo)


def _demo() -> None:
    parser = argparse.ArgumentParser(prog="python -m rocelab.demo", description=__doc__)
    parser.add_argument("scenario", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/demo"))
    arguments = parser.parse_args()
    compare(arguments.scenario, arguments.out)


if __name__ == "__main__":
    main()
