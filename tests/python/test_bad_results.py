"""Results that are damaged or none: one clear line that names the file."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command, assert_one_error, reseal
from rocelab.cli.fct import fct
from rocelab.cli.plot import plot


def test_plot_of_no_result(command: Command, tmp_path: Path) -> None:
    done = command("plot", tmp_path)
    assert done.returncode == 2
    assert_one_error(done.stderr)


def test_damaged_result(command: Command, incast_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command("run", incast_file, "--out", out)
    (out / "flows.parquet").write_bytes(b"PAR1")
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    (out / "summary.json").write_text("{")
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("summary.json", b"{", "damaged: "),
        ("summary.json", b"[]", "not a summary of rocelab"),
        ("summary.json", b'{"schema": 1}', "damaged: has no name"),
        ("summary.json", b"\xff", "damaged: not a text file"),
        ("scenario.toml", b"\xff", "damaged: not a text file"),
        ("scenario.toml", b"", "damaged: has no probe 'bottleneck'"),
        ("scenario.toml", b"x = 1", "damaged: has no probe 'bottleneck'"),
        ("scenario.toml", b"\n[[probe]]\nname = ", "damaged: line 3: string values must be"),
        ("scenario.toml", b"\n[[probe]]\n", "damaged: probe.0: has no name, kind, start, interval"),
        ("drops.json", b"[", "damaged: "),
        ("drops.json", b"5", "damaged: not a list"),
    ],
)
def test_damaged_file_of_a_result(
    command: Command,
    incast: rocelab.Result,
    tmp_path: Path,
    file: str,
    content: bytes,
    words: str,
) -> None:
    out = incast.save(tmp_path / "out")
    (out / file).write_bytes(content)
    if file != "summary.json":
        reseal(out)
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert f"{out / file}: {words}" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "goodput"', 'name = "goodputs"', "has no probe 'goodput'"),
        ('interval = "5us"', 'interval = "5m"', 'probe.1: interval cannot be "5m"'),
        ('interval = "5us"', "interval = 5", "probe.1: interval cannot be 5"),
        (
            'interval = "5us"',
            "interval = ",
            "line {line}: string values must be quoted, expected literal string",
        ),
    ],
)
def test_a_damaged_probe_is_told_when_the_result_is_opened(
    incast: rocelab.Result, tmp_path: Path, old: str, new: str, words: str
) -> None:
    out = incast.save(tmp_path / "out")
    file = out / "scenario.toml"
    before, found, after = file.read_text().partition(old)
    assert found
    file.write_text(before + new + after)
    reseal(out)
    with pytest.raises(rocelab.ResultError) as caught:
        rocelab.open(out)
    line = before.count("\n") + 1
    assert str(caught.value) == f"{file}: damaged: {words.format(line=line)}"


def test_a_damaged_scenario_is_told_with_its_file(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    file = out / "scenario.toml"
    before, _, after = file.read_text().partition("hosts = ")
    file.write_text(f"{before}hostz = {after}")
    reseal(out)
    with pytest.raises(rocelab.ResultError) as caught:
        _ = rocelab.open(out).scenario
    line = before.count("\n") + 1
    assert str(caught.value).startswith(f"{file}:{line}: topology.hostz: ")
    assert "the result is damaged" in str(caught.value)


@pytest.mark.parametrize("sweep", [False, True])
def test_a_scheme_that_this_build_lacks_is_no_damage(
    incast_file: Path, tmp_path: Path, sweep: bool
) -> None:
    """Protects results of the user's own schemes, opened outside of their projects."""
    scenario = rocelab.load(incast_file)
    if sweep:
        rocelab.sweep(scenario, seeds=2, out=tmp_path / "out")
        file = tmp_path / "out/sweep.json"
        file.write_text(file.read_text().replace('"name": "dcqcn"', '"name": "mine"'))
    else:
        out = rocelab.run(scenario).save(tmp_path / "out")
        file = out / "scenario.toml"
        file.write_text(file.read_text().replace('name = "dcqcn"', 'name = "mine"'))
        reseal(out)
    with pytest.raises(rocelab.ResultError) as caught:
        _ = rocelab.open_sweep(tmp_path / "out") if sweep else rocelab.open(out).scenario
    assert str(caught.value).startswith(str(file))
    assert "unknown scheme `mine`; the result was made by another build" in str(caught.value)
    assert "damaged" not in str(caught.value)
    assert "ROCELAB_MODULE" in (caught.value.hint or "")


def test_a_directory_is_no_scenario(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.load(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is a directory"
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.load(out)
    assert caught.value.hint == f"the scenario of that result is {out / 'scenario.toml'}"


def test_what_a_scenario_of_a_result_refuses_is_told_with_its_file(
    incast: rocelab.Result, tmp_path: Path
) -> None:
    scenario = rocelab.open(incast.save(tmp_path / "out")).scenario
    with pytest.raises(rocelab.ConfigError) as caught:
        # It has the parameters of its scheme filled in.
        scenario.with_settings(scheme__name="hpcc")
    file = tmp_path / "out" / "scenario.toml"
    assert (caught.value.file, caught.value.key) == (str(file), "scheme.params.alpha_timer")
    assert caught.value.line
    assert file.read_text().splitlines()[caught.value.line - 1].startswith("alpha_timer = ")


def test_what_is_no_result_says_what_it_is(command: Command, tmp_path: Path) -> None:
    with pytest.raises(rocelab.ResultError, match=r"none: no such directory$"):
        rocelab.open(tmp_path / "none")
    scenario = rocelab.Scenario.from_toml(INCAST)
    rocelab.sweep(scenario, {"scheme.name": ["none", "hpcc"]}, out=tmp_path / "sweep")
    done = command("plot", "sweep", "sweep", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: sweep: not a result directory: summary.json is missing\n"
        "hint: it is a sweep, whose results are sweep/runs/COMBINATION/SEED\n"
    )
    done = command("fct", "sweep", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: sweep: holds neither fct.txt nor flows.parquet\n"
        "hint: it is a sweep, whose results are sweep/runs/COMBINATION/SEED\n"
    )
    assert rocelab.open(tmp_path / "sweep/runs/scheme.name=hpcc/1").summary.scheme == "hpcc"


CAUSES = dict.fromkeys(
    ("lost", "stopped", "deadlock", "paused", "disconnected", "waiting", "sending", "not_started"),
    0,
)
"""The causes of unfinished flows."""


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("series", 5, "series: cannot be 5"),
        ("series", [{}], "series.0: has no name, kind, unit, column, rows"),
        ("series", [3], "series.0: not a table"),
        ("slowdown", None, "slowdown: not a table"),
        ("slowdown", {}, "slowdown: has no mean, p50, p95, p99, bins"),
        (
            "slowdown",
            {"bins": [{"upper_bytes": "x"}]},
            "slowdown: has no mean, p50, p95, p99",
        ),
        (
            "slowdown",
            {**dict.fromkeys(("mean", "p50", "p95", "p99")), "bins": [{"upper_bytes": "x"}]},
            "slowdown.bins.0: has no lower_bytes, flows, mean, p50, p95, p99",
        ),
        ("by_tag", {"web": 3}, "by_tag.web: not a table"),
        (
            "by_tag",
            {"web": {"flows": 1, "flows_done": 1, "slowdown": {}, "goodput_bps": 1, "jain": 1}},
            "by_tag.web.slowdown: has no mean, p50, p95, p99, bins",
        ),
        ("paused_by_tier_ns", {"hosts": "x"}, 'paused_by_tier_ns.hosts: cannot be "x"'),
        ("flows_done", "all", 'flows_done: cannot be "all"'),
        ("warnings", [1], "warnings.0: cannot be 1"),
        ("warnings", ["one"], "warning_kinds: not one for each of warnings"),
        ("warning_kinds", [3], "warning_kinds.0: not a table"),
        ("unfinished", {**CAUSES, "lost": "x"}, 'unfinished.lost: cannot be "x"'),
        ("unfinished", {**CAUSES, "lost": -1}, "unfinished.lost: cannot be -1"),
        ("unfinished", ..., "has no unfinished"),
        ("slowdown", ..., "has no slowdown"),
        ("preset", ..., "has no preset"),
        ("max_queue_bytes", ..., "has no max_queue_bytes"),
    ],
)
def test_a_summary_of_another_kind(
    incast: rocelab.Result, tmp_path: Path, key: str, value: object, words: str
) -> None:
    out = incast.save(tmp_path / "out")
    summary = {**incast.summary.to_dict(), key: value}
    if value is ...:
        del summary[key]
    (out / "summary.json").write_text(json.dumps(summary))
    reseal(out)
    with pytest.raises(rocelab.ResultError) as caught:
        rocelab.open(out)
    assert str(caught.value) == f"{out / 'summary.json'}: damaged: {words}"


@pytest.mark.parametrize(
    "name",
    ["flows.parquet", "ports.parquet", "series/bottleneck.parquet", "series/goodput.parquet"],
)
@pytest.mark.parametrize("damage", ["cut", "directory", "missing"])
def test_nothing_is_drawn_of_a_result_with_a_damaged_table(
    incast: rocelab.Result,
    tmp_path: Path,
    name: str,
    damage: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = incast.save(tmp_path / "out")
    table = out / name
    content = table.read_bytes()
    table.unlink()
    if damage == "cut":
        table.write_bytes(content[: len(content) // 2])
        reseal(out)
    elif damage == "directory":
        table.mkdir()
    with pytest.raises(rocelab.ResultError) as caught:
        plot([out], None)
    text = str(caught.value)
    assert text.startswith(f"{table}: cannot read: ")
    assert damage != "directory" or text == f"{table}: cannot read: is a directory"
    assert not (out / "plots").exists()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("where", ["file", "file/deep"])
def test_pictures_need_a_directory(
    command: Command, incast: rocelab.Result, tmp_path: Path, where: str
) -> None:
    out = incast.save(tmp_path / "out")
    (tmp_path / "file").write_text("in the way")
    done = command("plot", out, "--out", tmp_path / where)
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_error(done.stderr)
    assert f"{tmp_path / where}: " in done.stderr
    assert "is not a directory" in done.stderr


@pytest.mark.parametrize("what", ["plot", "fct"])
def test_a_table_of_another_kind(
    command: Command, incast: rocelab.Result, tmp_path: Path, what: str
) -> None:
    out = incast.save(tmp_path / "out")
    flows = out / "flows.parquet"
    flows.write_bytes((out / "ports.parquet").read_bytes())
    reseal(out)
    done = command(what, out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert f"{flows}: damaged: has no column flow_id, tag" in done.stderr


def test_a_series_of_another_kind(command: Command, incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    series = out / "series" / "bottleneck.parquet"
    series.write_bytes((out / "series" / "goodput.parquet").read_bytes())
    reseal(out)
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert f"{series}: damaged: has no column queue_bytes" in done.stderr


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        (
            "flows",
            pl.col("slowdown").cast(pl.String),
            "the column slowdown does not hold numbers",
        ),
        ("flows", pl.col("tag").cast(pl.Binary), "the column tag does not hold text"),
        ("flows", pl.col("done").cast(pl.Int8), "the column done does not hold flags"),
        ("flows", pl.lit(None, pl.UInt64).alias("size_bytes"), "the column size_bytes has gaps"),
        ("ports", pl.col("port").cast(pl.String), "the column port does not hold whole numbers"),
        (
            "series/bottleneck",
            pl.col("time_ps").cast(pl.String),
            "the column time_ps does not hold whole numbers",
        ),
        (
            "series/bottleneck",
            pl.col("queue_bytes").cast(pl.String),
            "the column queue_bytes does not hold numbers",
        ),
        (
            "series/bottleneck",
            pl.lit("s9").alias("node"),
            "the network has no node s9 with a port 4",
        ),
        ("series/bottleneck", "node", "has no column node"),
    ],
    ids=str,
)
def test_columns_of_another_kind(
    incast: rocelab.Result,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
    change: pl.Expr | str,
    words: str,
) -> None:
    out = incast.save(tmp_path / "out")
    path = out / f"{file}.parquet"
    frame = pl.read_parquet(path)
    frame = frame.drop(change) if isinstance(change, str) else frame.with_columns(change)
    frame.write_parquet(path)
    reseal(out)
    for read in [partial(plot, [out], None), partial(fct, out)][: 2 if file == "flows" else 1]:
        with pytest.raises(rocelab.ResultError) as caught:
            read()
        assert str(caught.value).splitlines()[0] == f"{path}: damaged: {words}"
    assert not (out / "plots").exists()
    assert capsys.readouterr().out == ""


def test_result_of_a_newer_version(command: Command, incast_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command("run", incast_file, "--out", out)
    summary = (out / "summary.json").read_text()
    (out / "summary.json").write_text(summary.replace('"schema": 2', '"schema": 99'))
    done = command("plot", out)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert "newer" in done.stderr
