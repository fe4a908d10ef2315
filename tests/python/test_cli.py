from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

import rocelab
from conftest import INCAST, LOSSY, Command
from rocelab import cli
from rocelab.cli.app import app

FLOW_COLUMNS = [
    "flow_id",
    "qp_id",
    "tag",
    "scheme",
    "src",
    "dst",
    "priority",
    "size_bytes",
    "start_ps",
    "fct_ps",
    "ideal_fct_ps",
    "slowdown",
    "retransmitted_bytes",
    "out_of_order_packets",
    "max_reorder_packets",
    "max_reorder_bytes",
    "duplicate_bytes",
    "timeout_bytes",
    "timeouts",
    "path_changes",
    "done",
    "unfinished",
]
PORT_COLUMNS = [
    "node",
    "port",
    "peer",
    "tier",
    "peer_tier",
    "rate_bps",
    "tx_bytes",
    "tx_packets",
    "pause_frames_sent",
    "pause_frames_received",
    "paused_ns",
    "max_queue_bytes",
    "ecn_marked_packets",
    "dropped_packets",
    "lost_packets",
]


def test_run_writes_a_result_directory(command: Command, incast_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "result"
    done = command("run", incast_file, "--out", out)
    assert done.returncode == 0, done.stderr
    assert str(out) in done.stdout
    assert done.stderr == ""
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert files == {
        "scenario.toml",
        "summary.json",
        "flows.parquet",
        "ports.parquet",
        "series/bottleneck.parquet",
        "series/goodput.parquet",
    }
    flows = pl.read_parquet(out / "flows.parquet")
    assert flows.columns == FLOW_COLUMNS
    assert flows["tag"].to_list() == ["incast"] * 3 + ["victim"]
    assert flows["done"].all()
    assert (flows["slowdown"] >= 1).all()
    ports = pl.read_parquet(out / "ports.parquet")
    assert ports.columns == PORT_COLUMNS
    assert len(ports) == 10
    summary = json.loads((out / "summary.json").read_text())
    assert summary["flows"] == summary["flows_done"] == 4
    assert summary["scheme"] == "dcqcn"
    assert summary["partial"] is False
    assert summary["packet_hops"] == ports["tx_packets"].sum()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_written_scenario_gives_the_same_run(
    command: Command, incast_file: Path, tmp_path: Path
) -> None:
    first = command("run", incast_file, "--out", tmp_path / "a", "--json")
    again = command("run", tmp_path / "a" / "scenario.toml", "--out", tmp_path / "b", "--json")
    assert json.loads(first.stdout)["digest"] == json.loads(again.stdout)["digest"]


def test_json_is_the_summary_alone(command: Command, incast_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "result"
    done = command("run", incast_file, "--out", out, "--json", "--threads", 2, "--seed", 7)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    written = json.loads((out / "summary.json").read_text())
    assert set(written.pop("checksums")) == {"files", "summary"}
    assert summary == written
    assert summary["seed"] == 7
    assert summary["threads"] == 2


def test_quiet_prints_nothing(command: Command, incast_file: Path, tmp_path: Path) -> None:
    done = command("run", incast_file, "--out", tmp_path / "result", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_set_changes_any_key(command: Command, incast_file: Path) -> None:
    done = command(
        "validate", incast_file, "--set", "scheme.name=hpcc", "--set", "traffic.0.size=1MB"
    )
    assert done.returncode == 0, done.stderr
    complete = tomllib.loads(done.stdout)
    assert complete["scheme"]["name"] == "hpcc"
    assert complete["traffic"][0]["size"] == "1MB"
    assert complete["run"]["seed"] == 1


def test_default_directory_is_named_after_the_scenario(
    command: Command, incast_file: Path, tmp_path: Path
) -> None:
    done = command("run", incast_file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "incast" / "summary.json").is_file()


def test_a_result_is_replaced_only_when_told(
    command: Command, incast_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "result"
    command("run", incast_file, "--out", out, "--seed", 1)
    refused = command("run", incast_file, "--out", out, "--seed", 2)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert rocelab.open(out).summary["seed"] == 1
    assert command("run", incast_file, "--out", out, "--seed", 2, "--force").returncode == 0
    assert rocelab.open(out).summary["seed"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["incast.toml", "result"]


def test_a_directory_that_is_no_result_is_never_replaced(
    command: Command, incast_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter1.tex").write_text("years of work")
    refused = command("run", incast_file, "--out", out, "--force")
    assert refused.returncode == 2
    assert "not a result" in refused.stderr
    assert (out / "chapter1.tex").read_text() == "years of work"


TOPICS = (
    "schemes",
    "presets",
    "topologies",
    "workloads",
    "traffic",
    "balance",
    "spray",
    "probes",
    "metrics",
    "examples",
)


def test_list_begins_lines_with_names(command: Command) -> None:
    for topic, some in (
        ("schemes", {"none", "dcqcn", "hpcc"}),
        ("presets", {"dcqcn-hpcc"}),
        ("topologies", {"star", "dumbbell", "leaf-spine", "fat-tree", "three-tier"}),
        ("workloads", {"WebSearch", "FB_Hadoop"}),
    ):
        plain = command("list", topic)
        assert plain.returncode == 0, plain.stderr
        assert some <= {line.split()[0] for line in plain.stdout.splitlines()}
        entries = json.loads(command("list", topic, "--json").stdout)
        assert some <= {entry["name"] for entry in entries}
        assert all(entry["summary"] for entry in entries)
    assert set(json.loads(command("list", "--json").stdout)) == set(TOPICS)


def test_list_tells_every_caveat(command: Command) -> None:
    lines = command("list", "schemes").stdout.splitlines()
    # Lines that go on with a caveat have no name, either.
    begin = re.compile(r"(?m)^ +caveat: ((?:.|\n {8,}(?!caveat))+)")
    told = [" ".join(text.split()) for text in begin.findall("\n".join(lines))]
    assert told == [" ".join(one.caveat.split()) for one in rocelab.schemes() if one.caveat]
    after = lines[[line.split()[0] for line in lines].index("pacc") + 1]
    assert "caveat: Reconstructed" in after


def test_list_all_has_a_heading_for_each(command: Command) -> None:
    lines = command("list").stdout.splitlines()
    headings = [line for line in lines if line.endswith(":") and " " not in line]
    assert headings == [f"{topic}:" for topic in TOPICS]


@pytest.mark.parametrize("topic", ["", "dcqcn", "expresspass", "themis+hpcc", "rcm"])
def test_lists_fit_into_80_columns(command: Command, topic: str) -> None:
    lines = command("list", *filter(None, [topic])).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("caveat: " in line for line in lines)


def test_the_caveat_of_a_run_fits_into_80_columns(
    incast_file: Path, tmp_path: Path, command: Command
) -> None:
    lines = command("run", incast_file, "--out", tmp_path / "r").stdout.splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("  caveat"))
    assert len(lines) - begin > 1
    for line in lines[begin:]:
        assert len(line) <= 80
    # The rest is below the beginning, as a column.
    assert all(line.startswith(" " * 16) for line in lines[begin + 1 :])


def test_list_says_what_can_be_listed(command: Command) -> None:
    done = command("list", "foo")
    assert done.returncode == 2
    words = f"'foo' is neither a scheme nor one of {', '.join(map(repr, TOPICS))}."
    assert done.stderr.splitlines()[-1].endswith(f": {words}"), done.stderr
    assert "Value error" not in done.stderr
    assert ", ".join(TOPICS) in " ".join(command("list", "--help").stdout.split())


def test_schema_is_json_schema(command: Command) -> None:
    schema = json.loads(command("schema").stdout)
    assert "topology" in schema["properties"]


def test_version(command: Command) -> None:
    assert command("--version").stdout == f"rocelab {rocelab.__version__}\n"


@pytest.mark.parametrize("lines", [0, 1])
@pytest.mark.parametrize("arguments", [["schema"], ["list"], ["list", "workloads"], ["--help"]])
def test_a_reader_that_goes_away_ends_the_command_quietly(arguments: list[str], lines: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "rocelab", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        if lines:
            process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_losses_in_a_lossless_class_are_told(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY, encoding="utf-8")
    out = tmp_path / "result"
    done = command("run", path, "--out", out)
    assert done.returncode == 0, done.stderr
    summary = json.loads((out / "summary.json").read_text())
    assert summary["lossless_drops"] > 0
    assert summary["warnings"]
    assert done.stderr.splitlines() == [f"warning: {text}" for text in summary["warnings"]]
    drops = json.loads((out / "drops.json").read_text())
    assert 0 < len(drops) <= summary["lossless_drops"]
    ports = pl.read_parquet(out / "ports.parquet")
    places = set(ports.select("node", "port").rows())
    for drop in drops:
        assert (drop["node"], drop["port"]) in places
        assert drop["node"] == "s0"
        assert 0 < drop["time_ps"] <= summary["simulated_ns"] * 1000
        assert drop["reason"] == "headroom full"
        assert drop["size_bytes"] > 0
    assert [drop["time_ps"] for drop in drops] == sorted(drop["time_ps"] for drop in drops)
    assert rocelab.open(out).drops == drops
    quiet = command("run", path, "--out", out, "--force", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_probes_without_rows_are_told(command: Command, incast_file: Path, tmp_path: Path) -> None:
    probe = '[[probe]]\nname = "late"\nkind = "queue"\nports = ["s0:h4"]\ninterval = "1us"\n'
    incast_file.write_text(incast_file.read_text() + probe + 'start = "5ms"\n')
    out = tmp_path / "result"
    done = command("run", incast_file, "--out", out)
    assert done.returncode == 0, done.stderr
    (told,) = done.stderr.splitlines()
    assert told.startswith("warning: probe 'late' has no rows: it looked for queue every 1us from ")
    result = rocelab.open(out)
    assert result.warnings == [told.removeprefix("warning: ")]
    assert result.summary["warnings"] == []


def test_probes_of_what_a_scheme_does_not_tell_say_so(incast_file: Path) -> None:
    probe = [
        {"name": kind, "kind": kind, "interval": "1us", "nodes": ["*"], "start": start}
        for kind, start in (("alpha", "0ns"), ("port-state", "0ns"), ("window", "1s"))
    ]
    result = rocelab.run(rocelab.load(incast_file, set={"scheme.name": "none", "probe": probe}))
    alpha, state, window = result.warnings
    assert alpha == (
        "probe 'alpha' has no rows: the scheme none tells no alpha, or none of its flows was "
        "under way when it looked"
    )
    assert state == "probe 'port-state' has no rows: the scheme none has no number for these ports"
    # Here it may be the time.
    assert window.startswith(
        "probe 'window' has no rows: it looked for window every 1us from 1s on"
    )


def test_a_closed_standard_output_is_no_reason_to_fail(incast_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [sys.executable, "-m", "rocelab", "run", str(incast_file), "--out", str(out)]
    closed = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *words]
    done = subprocess.run(closed, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert rocelab.open(out).summary["flows_done"] == 4


def test_what_a_closed_standard_error_is_told_is_no_output(tmp_path: Path) -> None:
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY, encoding="utf-8")
    words = [sys.executable, "-m", "rocelab", "run", "lossy.toml", "--json"]
    closed = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *words]
    done = subprocess.run(closed, stdout=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["lossless_drops"] > 0


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (rocelab.SimulationError("the run was killed"), 1),
        (rocelab.ConfigError("the run was killed"), 2),
        (rocelab.ResultError("the run was killed"), 2),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_exit_code_tells_whose_fault_it_is(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> None:
        raise error

    with pytest.raises(SystemExit) as ended:
        cli.run_command(command)
    assert ended.value.code == code
    assert capsys.readouterr().err == "error: the run was killed\n"


def test_help_says_what_options_take_and_cuts_nothing_short(command: Command) -> None:
    told = command("--help", env={**os.environ, "COLUMNS": "80"}).stdout
    assert "..." not in told.partition("Commands:")[2]
    commands: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
    for name, one in commands.items():
        for option in one.params:
            if getattr(option, "hidden", False):
                continue  # It was renamed, and says so when it is used.
            flag = getattr(option, "is_flag", False)
            choices = option.name == "topic"
            assert flag or choices or option.metavar, f"{name}: {option.name}"
            assert option.help, f"{name}: {option.name}"


def test_help_names_no_types_of_python(command: Command) -> None:
    """Protects from ``<list[Path]>`` beside what stands for a file."""
    for words in ("plot", "compare", "fct", "import cm", "export perfetto", "scheme new"):
        told = command(*words.split(), "--help").stdout
        arguments = told.partition("Arguments:")[2].partition("Options:")[0]
        assert arguments.split()
        assert "<" not in arguments
        assert "[Path]" not in told


def test_one_seed_is_given(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(INCAST, encoding="utf-8")
    done = command("run", "a.toml", "--seed", "2", "--set", "run.seed=3", cwd=tmp_path)
    assert done.returncode == 2
    assert "--seed and --set run.seed: choose one" in done.stderr


def commands(group: Any) -> dict[str, Any]:  # noqa: ANN401
    """All commands by their names, with those of groups."""
    found: dict[str, Any] = {}
    for name, one in group.commands.items():
        inner = commands(one) if hasattr(one, "commands") else {"": one}
        found |= {f"{name} {rest}".strip(): each for rest, each in inner.items()}
    return {name: one for name, one in found.items() if not one.hidden}


@pytest.mark.parametrize(("name", "one"), commands(typer.main.get_command(app)).items())
def test_arguments_and_options_have_one_style(name: str, one: Any) -> None:  # noqa: ANN401
    """Each has a name for its value and a text, and -o is short for --out everywhere."""
    for param in one.params:
        if getattr(param, "hidden", False) or param.name == "help":
            continue
        assert param.help, f"{name}: {param.name}"
        if "--out" in param.opts:
            assert "-o" in param.opts, name
        if param.param_type_name == "argument":
            # Typer adds brackets and dots.
            assert param.metavar, f"{name}: {param.name}"
            assert not param.metavar.startswith("["), f"{name}: {param.metavar}"
            assert "..." not in param.metavar, f"{name}: {param.metavar}"
        elif not param.is_flag:
            assert param.metavar, f"{name}: {param.name}"
