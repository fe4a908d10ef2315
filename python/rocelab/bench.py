"""Speed of the simulator on fixed cases.

A case is a scenario file of this package; payload, ACKs, seed and duration are fixed in it. Each
case runs in a process of its own, so that the peak memory is its own.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

from rocelab import _rocelab, catalogue
from rocelab._text_table import aligned
from rocelab.errors import ConfigError, RocelabError, SimulationError
from rocelab.scenario import Scenario, parse_with_settings
from rocelab.simulate import check_count

_CASES = "bench_cases"
#: Where the two runs end whose instructions are compared.
_COUNTED = ("100us", "300us")
_FORKS = "--forks"


@dataclass(frozen=True)
class Measurement:
    """The fastest run of a case."""

    case: str
    scheme: str
    hosts: int
    threads: int
    packet_hops: int
    """A packet-hop is one packet of any kind serialised by one port."""
    wall_s: float
    ns_per_packet_hop: float
    ns_per_data_packet_hop: float
    max_rss_bytes: int
    """The peak memory of the process."""


@dataclass(frozen=True)
class InstructionCount:
    """Instructions of a case."""

    case: str
    packet_hops: int
    instructions_per_packet_hop: float


def case_names() -> list[str]:
    """The names of the cases."""
    files = resources.files("rocelab").joinpath(_CASES).iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".toml"))


def measure(
    cases: Sequence[str],
    *,
    schemes: Sequence[str | None] = (None,),
    settings: Sequence[tuple[str, str]] = (),
    threads: int = 1,
    repeat: int = 5,
) -> list[Measurement]:
    """Runs each case under each scheme, its own where that is None; all are checked first.

    ``settings`` are other values for keys of all of them. Of ``repeat`` runs the fastest counts.
    """
    threads = check_count("threads", threads)
    check_count("repeat", repeat)
    runs = checked_runs(cases, schemes, settings)
    return [_measure_in_subprocess(case, changes, threads, repeat) for case, changes in runs]


def checked_runs(
    cases: Sequence[str], schemes: Sequence[str | None], settings: Sequence[tuple[str, str]]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each case with the settings for each scheme; all can run.

    Raises :class:`ConfigError` for the first that cannot.
    """
    runs = [(case, [*_settings(scheme), *settings]) for case in cases for scheme in schemes]
    for case, changes in runs:
        _scenario(case, changes).validate()
    return runs


def _settings(scheme: str | None) -> list[tuple[str, str]]:
    """What a case needs to run under another scheme, as ``--set`` takes it."""
    if scheme is None:
        return []
    known = [known.name for known in catalogue.schemes()]
    if scheme not in known:
        raise ConfigError(f"no scheme {scheme!r}", hint=f"schemes: {', '.join(known)}")
    # Here, as what it imports would count as memory of the process that measures.
    from rocelab.compare.networks import input_queues

    tables = input_queues(scheme).items()
    others = [(f"{table}.{key}", value) for table, keys in tables for key, value in keys.items()]
    return [("scheme", scheme), *others]


def _scenario(case: str, settings: Sequence[tuple[str, str]]) -> Scenario:
    if case not in case_names():
        raise ConfigError(f"no case {case!r}", hint=f"cases: {', '.join(case_names())}")
    text = resources.files("rocelab").joinpath(_CASES, f"{case}.toml").read_text(encoding="utf-8")
    return parse_with_settings(text, settings)


def _measure_in_subprocess(
    case: str, settings: Sequence[tuple[str, str]], threads: int, repeat: int
) -> Measurement:
    """Measures in a process of its own."""
    command = [sys.executable, "-m", "rocelab.bench", case, str(threads), str(repeat)]
    command += [f"{key}={value}" for key, value in settings]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    if done.returncode != 0:
        raise SimulationError(
            f"case {case}: {done.stderr.strip() or _exit_reason(done.returncode)}"
        )
    return Measurement(**json.loads(done.stdout))


def _exit_reason(code: int) -> str:
    """The error text for a process that failed without output: its exit code or signal."""
    # The system kills, by signal 9, where it has no memory left.
    how = f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code}"
    return f"the run {how}"


def count_instructions(cases: Sequence[str]) -> list[InstructionCount]:
    """Instructions that a packet-hop of each case takes on one thread, counted by cachegrind.

    They repeat exactly where times do not. Two runs of different length are compared, so that
    starting, set-up and results do not count.
    """
    for case in cases:
        if case not in case_names():
            raise ConfigError(f"no case {case!r}", hint=f"cases: {', '.join(case_names())}")
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise ConfigError("there is no valgrind on the path", hint="install valgrind")
    runs = _instructions_of_runs(valgrind, cases)
    counted = []
    for case, (before, hops_before), (after, hops_after) in zip(
        cases, runs[::2], runs[1::2], strict=True
    ):
        hops = hops_after - hops_before
        counted.append(InstructionCount(case, hops, (after - before) / hops))
    return counted


def _instructions_of_runs(valgrind: str, cases: Sequence[str]) -> list[tuple[int, int]]:
    """Instructions and packet-hops of the runs of :func:`_run_in_forks`."""
    cachegrind = [valgrind, "--tool=cachegrind", "--cache-sim=no"]
    cachegrind += ["--cachegrind-out-file=/dev/null"]
    command = [*cachegrind, sys.executable, "-m", "rocelab.bench", _FORKS, *cases]
    # Without it, strings hash differently from run to run, and Python takes other ways.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, check=False, text=True, env=environment)
    counted = dict(re.findall(r"==(\d+)== I +refs: +([\d,]+)", done.stderr))
    runs = [line.split() for line in done.stdout.splitlines()]
    if done.returncode != 0 or not {process for process, _ in runs} <= counted.keys():
        last = done.stderr.strip()[-500:]
        raise SimulationError(f"cases {', '.join(cases)} under valgrind: {last}")
    return [(int(counted[process].replace(",", "")), int(hops)) for process, hops in runs]


def _run_in_forks(cases: Sequence[str]) -> None:
    """Runs each case until each time of :data:`_COUNTED`; prints process and packet-hops of each.

    The runs are forks of this process, so that Python starts once.
    """
    for case, stop in itertools.product(cases, _COUNTED):
        process = os.fork()
        if process == 0:
            measured = _measure_here(case, 1, 1, f"run.stop={stop}")
            print(os.getpid(), measured.packet_hops, flush=True)
            os._exit(0)
        _, status = os.waitpid(process, 0)
        if status != 0:
            sys.exit(1)


def table(measured: Sequence[Measurement]) -> str:
    """The measurements, a case a line."""
    columns = ("case", "scheme", "hosts", "threads", "M packet-hops/s", "ns/hop", "MB")
    rows = [
        (
            one.case,
            one.scheme,
            str(one.hosts),
            str(one.threads),
            f"{one.packet_hops / one.wall_s / 1e6:.1f}",
            f"{one.ns_per_packet_hop:.1f}",
            f"{one.max_rss_bytes / 1e6:.0f}",
        )
        for one in measured
    ]
    return aligned([columns, *rows], left=2)


def instructions_table(counted: Sequence[InstructionCount]) -> str:
    """The instructions, a case a line."""
    rows = [
        (one.case, str(one.packet_hops), f"{one.instructions_per_packet_hop:.1f}")
        for one in counted
    ]
    return aligned([("case", "packet-hops", "instructions/hop"), *rows], left=1)


def _measure_here(case: str, threads: int, repeat: int, *settings: str) -> Measurement:
    pairs = [setting.partition("=") for setting in settings]
    scenario = _scenario(case, [(key, value) for key, _, value in pairs])
    runs = []
    for _ in range(repeat):
        raw = _rocelab.run(scenario._checked, threads)
        if raw.interrupted:
            raise KeyboardInterrupt
        runs.append(raw.summary)
    if len({run.digest for run in runs}) != 1:
        raise SimulationError("two runs of the same scenario differ; this is a bug in rocelab")
    best = min(runs, key=lambda run: run.wall_s)
    wall_ns = best.wall_s * 1e9
    return Measurement(
        case=case,
        scheme=best.scheme,
        hosts=best.hosts,
        threads=best.threads,
        packet_hops=best.packet_hops,
        wall_s=best.wall_s,
        ns_per_packet_hop=wall_ns / max(best.packet_hops, 1),
        ns_per_data_packet_hop=wall_ns / max(best.data_packet_hops, 1),
        max_rss_bytes=_peak_memory(),
    )


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
    try:
        if sys.argv[1] == _FORKS:
            _run_in_forks(sys.argv[2:])
            sys.exit()
        name, thread_count, run_count, *given = sys.argv[1:]
        fastest = _measure_here(name, int(thread_count), int(run_count), *given)
        print(json.dumps(asdict(fastest)))
    except RocelabError as error:
        sys.exit(str(error))
