"""`rocelab reproduce`: figures, their files, the cache, and what stops it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command, wait_until_running
from rocelab import Scenario
from rocelab.errors import ConfigError
from rocelab.papers import baselines, plots, reproduce
from rocelab.papers.decisions import HEADLINE
from rocelab.papers.model import Figure, Line, Panel, Paper, Verdict
from rocelab.simulate import run_checked
from rocelab.sweeps import remote
from rocelab.sweeps.cache import run_all

FIGURE = "fncc/fig3"
"""Six short runs."""
LONG = "fncc/fig14"
"""Many runs of a minute and more."""


def test_list_has_every_figure(command: Command) -> None:
    done = command("reproduce", "--list")
    assert done.returncode == 0, done.stderr
    listed = done.stdout.splitlines()
    assert listed == reproduce.ids()
    assert len(set(listed)) == len(listed)
    assert {"fncc/fig1", "fncc/fig9", "fncc/fig15", "fncc/hw"} <= set(listed)
    assert {f"mercury/fig{n}" for n in (3, 4, 9, 10, 11, 12, 13, 14)} <= set(listed)
    assert {f"hiercc/fig{n}" for n in (1, 2, 4, 5)} <= set(listed)


def test_a_figure_from_end_to_end(command: Command, tmp_path: Path) -> None:
    made, again, cache = tmp_path / "made", tmp_path / "again", tmp_path / "cache"
    page = tmp_path / "claims.md"
    done = command(
        "reproduce", FIGURE, "--quick", "--out", made, "--cache", cache, "--markdown", page
    )
    assert done.returncode == 0, done.stderr
    assert "FNCC has the fewest pause frames at 400 Gb/s" in done.stdout

    directory = made / FIGURE
    told = json.loads((directory / "claims.json").read_text(encoding="utf-8"))
    assert told["id"] == FIGURE
    assert [claim["id"] for claim in told["claims"]] == ["pauses-200", "pauses-400"]
    for claim in told["claims"]:
        assert claim["verdict"] in get_args(Verdict)
        assert (claim["verdict"] == "holds") == (not claim["by"])
        assert claim["claim"] in page.read_text(encoding="utf-8")
    frame = pl.read_parquet(directory / "data.parquet")
    assert frame["line"].unique(maintain_order=True).to_list() == ["FNCC", "HPCC", "DCQCN"]
    pauses = frame.filter((pl.col("line") == "HPCC") & (pl.col("word") == "400 Gb/s"))["y"].item()
    assert f"HPCC {pauses:g}" in told["claims"][1]["measured"]
    assert (directory / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert any("fncc-paper" in note for note in told["notes"])

    # From the cache: nothing is run, and every byte is the same.
    results = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    assert len(list(cache.iterdir())) == 6
    done = command("reproduce", FIGURE, "--quick", "--out", again, "--cache", cache)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == results
    for path in directory.iterdir():
        assert path.read_bytes() == (again / FIGURE / path.name).read_bytes(), path.name


@pytest.mark.parametrize("name", ["fncc/fig99", "nobody", "fncc/"])
def test_unknown_figure(command: Command, tmp_path: Path, name: str) -> None:
    done = command("reproduce", name, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"error: no figure '{name}'"
    assert not (tmp_path / "out").exists()


def test_no_figure(command: Command) -> None:
    done = command("reproduce")
    assert done.returncode == 2
    assert done.stderr.startswith("error: no figure given")


def test_out_that_cannot_be_written(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = command("reproduce", FIGURE, "--quick", "--out", tmp_path / "file", "--cache", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("option", "place", "words"),
    [
        ("--markdown", "folder.md", "folder.md: is a directory"),
        ("--markdown", "file/page.md", "file/page.md: "),
        ("--markdown", "page.txt", "--markdown page.txt: must end in .md"),
        ("--out", "file", f"file/{FIGURE}: "),
        ("--out", "/proc/rocelab", f"/proc/rocelab/{FIGURE}: cannot write"),
    ],
)
def test_places_that_cannot_be_written_are_known_before_the_runs(
    command: Command, tmp_path: Path, option: str, place: str, words: str
) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    done = command("reproduce", FIGURE, LONG, option, place, "--cache", "cache", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (error,) = done.stderr.splitlines()
    assert error.startswith(f"error: {words}")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_paper_stands_for_its_figures() -> None:
    whole = [figure.id for _, figure in reproduce.chosen(["fncc"])]
    assert [f"fncc/{each}" for each in whole] == [
        each for each in reproduce.ids() if each.startswith("fncc/")
    ]
    assert len(reproduce.chosen(["fncc/fig1", "fncc/fig1"])) == 1
    with pytest.raises(ConfigError):
        reproduce.chosen(["fncc/fig1", "fncc/fig"])


def test_a_cache_that_cannot_be_written_is_known_before_the_runs(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = command("reproduce", FIGURE, LONG, "--cache", "file", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: file: is not a directory\n"


def test_damaged_entries_of_the_cache_are_made_anew(
    incast: rocelab.Result, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scenario = incast.scenario
    scenarios = {f"{seed}": scenario.with_settings(run__seed=seed) for seed in range(6)}
    before = run_all(scenarios, tmp_path)
    digests = {name: run.summary["digest"] for name, run in before.items()}
    homes = [run.directory for run in before.values() if run.directory]
    (homes[0] / "summary.json").write_text("{")
    (homes[1] / "summary.json").unlink()
    flows = homes[2] / "flows.parquet"
    flows.write_bytes(flows.read_bytes()[:-10])
    (homes[3] / "series" / "goodput.parquet").unlink()
    # In the middle, where neither its length nor its end tells.
    bottleneck = homes[4] / "series" / "bottleneck.parquet"
    whole = bottleneck.read_bytes()
    third = len(whole) // 3
    bottleneck.write_bytes(whole[:4] + bytes(third) + whole[4 + third :])
    caplog.clear()
    again = run_all(scenarios, tmp_path)
    assert {name: run.summary["digest"] for name, run in again.items()} == digests
    assert all(len(run.flows) == 4 for run in again.values())
    told = caplog.messages[:]
    caplog.clear()
    assert len(told) == 5
    for home, text in zip(homes, told, strict=False):
        assert text.startswith(f"{home}")
        assert text.endswith("; its scenario is run again")
    run_all(scenarios, tmp_path)
    assert caplog.messages == []


def test_ctrl_c_stops_all_runs(tmp_path: Path) -> None:
    cache, out = tmp_path / "cache", tmp_path / "out"
    places = ["--out", str(out), "--cache", str(cache)]
    process = subprocess.Popen(
        [sys.executable, "-m", "rocelab", "reproduce", LONG, "--jobs", "2", *places],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_until_running(process, threads=2, worked_s=0.1)
    # As a terminal does it: every process of the group receives it.
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.05)
    # And once more, from who has no patience.
    os.killpg(process.pid, signal.SIGINT)
    try:
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, stderr
    assert stderr == b"interrupted: runs that are complete stay in the cache\n"
    assert stdout == b""
    # Nothing goes on, and nothing is half there.
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    results = list(cache.iterdir()) if cache.exists() else []
    assert all((result / "summary.json").is_file() for result in results)
    assert not (out / LONG / "claims.json").exists()


def test_a_run_that_fails_stops_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, long_scenario: str
) -> None:
    def fail(scenario: rocelab.Scenario, **options: Any) -> rocelab.Result:  # noqa: ANN401
        if scenario.name == "bad":
            raise rocelab.SimulationError("it is bad")
        return run_checked(scenario, **options)

    monkeypatch.setattr(remote, "run_checked", fail)
    long = rocelab.Scenario.from_toml(long_scenario)
    scenarios = {
        "long": long,
        "bad": long.with_settings(name="bad"),
        "more": long.with_settings(run__seed=2),
    }
    with pytest.raises(rocelab.SimulationError, match="it is bad"):
        run_all(scenarios, tmp_path / "cache", jobs=2)
    assert not list((tmp_path / "cache").glob("*/summary.json"))


def test_flows_that_were_not_done_are_told_below_the_figures_of_papers(tmp_path: Path) -> None:
    whole = Scenario.from_toml(INCAST)
    line = Line("flows", lambda runs: ([float(n) for n in range(len(runs))], [1.0] * len(runs)))

    def notes(id_: str, cases: dict[str, Scenario], *, fct: bool = True) -> list[str]:
        panel = Panel("flows", "run", "", [line])
        figure = Figure(
            id_, "Flows", lambda _reading, _quick: cases, [panel], [], completion_times=fct
        )
        paper = Paper("paper", "", [figure], {"flows": 0}, [])
        made = reproduce.reproduce(paper, figure, tmp_path, cache=tmp_path / "cache")
        told = json.loads((made.directory / "claims.json").read_text(encoding="utf-8"))["notes"]
        return [note for note in told if not note.startswith(("dcqcn (", "none ("))]

    cut = whole.with_settings(run__stop="45us")
    assert notes("whole", {"a": whole}) == []
    some = {"a": whole, "b": cut, "c": whole.with_settings(scheme__name="none")}
    done, warning = notes("cut", some)
    assert done == "Flows done: dcqcn 5 of 8."
    by_line = {"one flows": whole, "two flows": cut}
    assert notes("lines", by_line)[0] == "Flows done: flows 5 of 8."
    assert warning.startswith("1 of 3 runs, the first in b: 3 of 4 flows are unfinished at 45us")
    # No caveat of what shows no completion times.
    assert notes("rates", some, fct=False) == []
    # Other warnings stay.
    limited = whole.with_settings(run__time_limit="45us")
    assert "3 of 4 flows are unfinished" in notes("limit", {"a": limited}, fct=False)[0]
    (none,) = notes("endless", {"a": whole.with_settings(run__stop="5us")})
    assert "4 of 4 flows are unfinished at 5us" in none


def test_files_of_a_figure_that_is_made_again_are_replaced_whole(tmp_path: Path) -> None:
    """Who reads them meanwhile reads the old ones or the new ones."""
    panel = Panel("flows", "run", "", [Line("flows", lambda runs: ([0.0], [float(len(runs))]))])
    cases = {"a": Scenario.from_toml(INCAST)}

    def made(title: str) -> Path:
        figure = Figure("one", title, lambda _reading, _quick: cases, [panel], [])
        paper = Paper("paper", "", [figure], {"flows": 0}, [])
        return reproduce.reproduce(paper, figure, tmp_path, cache=tmp_path / "cache").directory

    names = ("claims.json", "data.parquet")
    old = made("Old")
    for name in names:
        (tmp_path / name).hardlink_to(old / name)
    before = {name: (tmp_path / name).read_bytes() for name in names}
    new = made("New")
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    assert not any((tmp_path / name).samefile(new / name) for name in names)
    assert json.loads((new / "claims.json").read_text(encoding="utf-8"))["title"] == "New"


def test_caveats_stand_below_the_figures_of_papers(tmp_path: Path) -> None:
    """All figures with PACC, whose text was not available, say so; here in one of one panel."""
    (pacc,) = (one for one in rocelab.schemes() if one.name == "pacc")
    figure = baselines.two_flows([pacc], columns=2)
    made = reproduce.reproduce(baselines.PAPER, figure, tmp_path, cache=tmp_path / "cache")
    told = json.loads((made.directory / "claims.json").read_text(encoding="utf-8"))
    assert told["notes"] == [f"pacc (pacc): {pacc.caveat}"]
    runs = run_all(figure.cases(HEADLINE, False), tmp_path / "cache")
    drawn = plots.picture(figure, plots.data(figure, runs), baselines.PAPER.looks, told["notes"])
    assert " ".join(drawn.get_supxlabel().split()) == told["notes"][0]
    assert reproduce.table(made) == f"{made.id}  {made.title}"
