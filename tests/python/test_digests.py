"""The digest of every example, HPCC file and scheme: a change that keeps results keeps them all.

`digests.csv` has a line for each run. After an intended change of behaviour, write it again with

    ROCELAB_WRITE_DIGESTS=1 python -m pytest tests/python/test_digests.py

and read the difference: it lists what the change touched.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hpcc_cases
import rocelab
from rocelab.hpcc.experiment import Experiment

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("digests.csv")
EXAMPLES = ROOT / "examples"
UNDER_ALL_SCHEMES = ("failing-link", "two-classes", "cross-dc")
INPUT_QUEUES: dict[str, Any] = {
    "rcm": {"switch": {"input_queue": "200KB"}, "pfc": {"xoff": "70KB", "xon": "50KB"}}
}
"""Settings of the schemes whose switches have input queues."""


def networks() -> dict[str, dict[str, Any]]:
    """A fat tree under random traffic with an incast, and an incast alone at a low rate."""
    web_search = {"kind": "poisson", "workload": "websearch", "load": 0.6}
    incast = {"kind": "incast", "senders": 8, "receiver": "h0", "size": "64KB"}
    fat_tree = {
        "kind": "fat-tree",
        "k": 4,
        "host_rate": "100Gbps",
        "host_delay": "1us",
        "rate": "100Gbps",
        "delay": "1us",
    }
    star = {"kind": "star", "hosts": 9, "host_rate": "25Gbps", "host_delay": "1us"}
    return {
        "fat-tree": {
            "topology": fat_tree,
            "traffic": [web_search, {**incast, "start": "100us"}],
            "run": {"stop": "600us"},
        },
        "star": {"topology": star, "traffic": [incast], "run": {"stop": "2ms"}},
    }


def runs() -> Iterator[tuple[str, rocelab.Scenario]]:
    for path in sorted(EXAMPLES.glob("*.toml")):
        yield f"example {path.stem}", rocelab.load(path)
    for name, network in networks().items():
        for scheme in rocelab.schemes():
            for preset in scheme.presets:
                law = {"name": scheme.name, "preset": preset.name}
                more = INPUT_QUEUES.get(scheme.name, {})
                scenario = rocelab.Scenario(name=name, scheme=law, **network, **more)
                yield f"{name} {preset.name}", scenario


def digest_of_example(path: Path, scheme: str) -> str:
    """The first 2 ms of an example under a scheme."""
    try:
        return digest(rocelab.load(path, set={"scheme": scheme, "run.stop": "2ms"}))
    except rocelab.ConfigError:
        return "refused"


def digest(scenario: rocelab.Scenario) -> str:
    return str(rocelab.run(scenario, threads=1).summary["digest"])


def digest_of_files(case: Path, out: Path) -> str:
    result, _ = Experiment(case / "config.txt", case).run(threads=1, into=out)
    return str(result.summary["digest"])


def digests(out: Path) -> list[tuple[str, str]]:
    """What was run, and the digest of its flows and port counters."""
    with ThreadPoolExecutor(2) as pool:
        jobs = [(name, pool.submit(digest, scenario)) for name, scenario in runs()]
        for example in UNDER_ALL_SCHEMES:
            for scheme in (known.name for known in rocelab.schemes()):
                path = EXAMPLES / f"{example}.toml"
                job = pool.submit(digest_of_example, path, scheme)
                jobs.append((f"example {example} {scheme}", job))
        for case in hpcc_cases.CONFIGS:
            name = f"hpcc {case.replace('/', ' ')}"
            folder = hpcc_cases.unpack(case, out)
            jobs.append((name, pool.submit(digest_of_files, folder, out / name)))
        return [(name, job.result()) for name, job in jobs]


def test_every_digest_is_as_recorded(tmp_path: Path) -> None:
    now = digests(tmp_path)
    if os.environ.get("ROCELAB_WRITE_DIGESTS"):
        with GOLDEN.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("run", "digest"), *now])
    with GOLDEN.open(encoding="utf-8") as file:
        recorded = [(row["run"], row["digest"]) for row in csv.DictReader(file)]
    changed = [f"{name}: {digest}" for name, digest in now if (name, digest) not in recorded]
    assert not changed, "\n".join(["other digests than recorded:", *changed])
    assert len(now) == len(recorded)
