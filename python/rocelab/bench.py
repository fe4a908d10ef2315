"""Speed of the simulator on fixed cases.

A case is a scenario file of this package; payload, ACKs, seed and duration are fixed in it. Each
case runs in a process of its own, so that the peak memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from rocelab import _rocelab
from rocelab.errors import ConfigError, SimulationError
from rocelab.scenario import Scenario
from rocelab.simulate import check_count

_CASES = "bench_cases"


def case_names() -> list[str]:
    """The names of the cases."""
    files = resources.files("rocelab").joinpath(_CASES).iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".toml"))


def measure(case: str, *, threads: int = 1, repeat: int = 5) -> dict[str, Any]:
    """Runs ``case`` ``repeat`` times; the fastest run counts.

    Times are in seconds and ns, ``max_rss_bytes`` is the peak memory of the process. A packet-hop
    is one packet of any kind serialised by one port.
    """
    if case not in case_names():
        raise ConfigError(f"no case {case!r}", hint=f"cases: {', '.join(case_names())}")
    check_count("threads", threads)
    check_count("repeat", repeat)
    command = [sys.executable, "-m", "rocelab.bench", case, str(threads), str(repeat)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        raise SimulationError(f"case {case}: the run failed with exit code {done.returncode}")
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def table(measured: list[dict[str, Any]]) -> str:
    """The measurements, a case a line."""
    columns = ("case", "scheme", "hosts", "threads", "M packet-hops/s", "ns/hop", "MB")
    rows = [
        (
            one["case"],
            one["scheme"],
            str(one["hosts"]),
            str(one["threads"]),
            f"{one['packet_hops'] / one['wall_s'] / 1e6:.1f}",
            f"{one['ns_per_packet_hop']:.1f}",
            f"{one['max_rss_bytes'] / 1e6:.0f}",
        )
        for one in measured
    ]
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    return "\n".join(
        "  ".join(
            f"{cell:<{width}}" if index < 2 else f"{cell:>{width}}"
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (columns, *rows)
    )


def _measure_here(case: str, threads: int, repeat: int) -> dict[str, Any]:
    text = resources.files("rocelab").joinpath(_CASES, f"{case}.toml").read_text(encoding="utf-8")
    scenario = Scenario.from_toml(text)
    runs = []
    for _ in range(repeat):
        raw, interrupted = _rocelab.run(scenario.checked, threads)
        if interrupted:
            raise KeyboardInterrupt
        runs.append(json.loads(raw.summary))
    if len({run["digest"] for run in runs}) != 1:
        raise SimulationError("two runs of the same scenario differ; this is a bug in rocelab")
    best = min(runs, key=lambda run: run["wall_s"])
    wall_ns = best["wall_s"] * 1e9
    return {
        "case": case,
        "scheme": best["scheme"],
        "hosts": best["hosts"],
        "threads": best["threads"],
        "packet_hops": best["packet_hops"],
        "wall_s": best["wall_s"],
        "ns_per_packet_hop": wall_ns / max(best["packet_hops"], 1),
        "ns_per_data_packet_hop": wall_ns / max(best["data_packet_hops"], 1),
        "max_rss_bytes": _peak_memory(),
    }


def _peak_memory() -> int:
    """Peak resident memory of this process, in bytes."""
    # getrusage would count what the parent had when it started this process.
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(lines["VmHWM"].split()[0]) * 1024


if __name__ == "__main__":
    name, thread_count, run_count = sys.argv[1:]
    print(json.dumps(_measure_here(name, int(thread_count), int(run_count))))
