"""Stored results: damage is found, and whatever goes wrong while one is read is one error."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
from pathlib import Path

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command, reseal
from rocelab.cli import run_command
from rocelab.hpcc import fct
from rocelab.io.open import check_files
from rocelab.sweeps.cache import run_all

FLIPS = int(os.environ.get("ROCELAB_BIT_FLIPS", "300"))
"""Single bits that are flipped, in all files together."""


@pytest.fixture(scope="session")
def traced() -> rocelab.Result:
    """A result with every kind of file."""
    text = INCAST.replace('size = "300KB"', 'size = "30KB"')
    text += '[trace]\npfc = true\npackets = ["s0"]\ncapture = true\n'
    text += '\n[pfc]\nxoff = "20KB"\nxon = "18KB"\nheadroom = "1KB"\n'
    return rocelab.run(rocelab.Scenario.from_toml(text))


def values(directory: Path) -> tuple[object, ...]:
    """Everything that a result says."""
    result = rocelab.open(directory)
    check_files(result)
    tables = [result.flows, result.ports, *result.series.values(), *result.traces.values()]
    content = [table.to_polars().write_csv() for table in tables]
    return (result.summary, result.scenario_toml, result.drops, result.capture, *content)


def files_of(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


# Damage.


def test_the_summary_has_checksums_of_all_files_and_of_itself(
    traced: rocelab.Result, tmp_path: Path
) -> None:
    """By the rule in docs/results.md, with nothing of the package's own."""
    out = traced.save(tmp_path / "out")
    (out / "plots").mkdir()
    (out / "plots" / "fct.png").write_text("a picture")
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["schema"] == 2
    files = summary["checksums"]["files"]
    assert set(files) == {
        "scenario.toml", "flows.parquet", "ports.parquet", "drops.json",
        "series/bottleneck.parquet", "series/goodput.parquet",
        "traces/pfc.parquet", "traces/packets.parquet", "traces/packets.pcapng",
    }  # fmt: skip
    for name, checksum in files.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == checksum
    own = summary["checksums"].pop("summary")
    text = json.dumps(summary, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == own
    assert values(out)[0] == traced.summary


def test_a_flipped_bit_is_found_or_changes_nothing(traced: rocelab.Result, tmp_path: Path) -> None:
    """Bits of all files in turn; small files are not flipped less than large ones."""
    out = traced.save(tmp_path / "out")
    whole = values(out)
    draw = random.Random(36)  # noqa: S311 - to be repeated
    files = files_of(out)
    outcomes = {"same": 0, "error": 0}
    told: list[tuple[str, rocelab.ResultError]] = []
    for number in range(FLIPS):
        file = files[number % len(files)]
        content = bytearray(file.read_bytes())
        bit = draw.randrange(8 * len(content))
        content[bit // 8] ^= 1 << bit % 8
        before = file.read_bytes()
        file.write_bytes(content)
        try:
            assert values(out) == whole, f"bit {bit} of {file.name} gives other values"
            outcomes["same"] += 1
        except rocelab.ResultError as error:
            outcomes["error"] += 1
            told.append((str(file), error))
        file.write_bytes(before)
    for name, refusal in told:
        assert len(refusal.args[0].splitlines()) == 1
        assert name in refusal.args[0] or "newer rocelab" in (refusal.hint or "")
    print(f"{FLIPS} bits flipped: {outcomes}")
    assert values(out) == whole
    assert outcomes["error"] > 0.9 * FLIPS


@pytest.mark.parametrize("name", ["flows.parquet", "scenario.toml", "traces/packets.pcapng"])
def test_damage_is_one_error_line(
    command: Command, traced: rocelab.Result, tmp_path: Path, name: str
) -> None:
    out = traced.save(tmp_path / "out")
    content = bytearray((out / name).read_bytes())
    content[len(content) // 2] ^= 1
    (out / name).write_bytes(content)
    done = command("plot", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f"error: {out / name}: damaged: its checksum does not match\nhint: "
    )
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("name", ["flows.parquet", "drops.json", "traces/packets.pcapng"])
def test_a_file_that_is_gone_is_missed(traced: rocelab.Result, tmp_path: Path, name: str) -> None:
    out = traced.save(tmp_path / "out")
    (out / name).unlink()
    with pytest.raises(rocelab.ResultError, match=f"{name}: cannot read: No such file"):
        values(out)


def test_files_that_the_summary_does_not_know_are_not_read(
    incast: rocelab.Result, tmp_path: Path
) -> None:
    out = incast.save(tmp_path / "out")
    (out / "drops.json").write_text('[{"time_ps": 1}]')
    (out / "traces").mkdir()
    (out / "traces" / "packets.pcapng").write_bytes(b"of another run")
    result = rocelab.open(out)
    assert result.drops == []
    assert result.capture is None


def test_an_edited_summary_is_found(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    text = (out / "summary.json").read_text()
    for old, new, words in (
        ('"flows_done": 4', '"flows_done": 5', "its checksum does not match"),
        ('"checksums"', '"checksumz"', "has no valid checksums"),
        ('"files"', '"filez"', "has no valid checksums"),
        ('"schema": 2', '"schema": 1', "its checksum does not match"),
    ):
        assert old in text
        (out / "summary.json").write_text(text.replace(old, new))
        with pytest.raises(rocelab.ResultError, match=f"summary.json: damaged: {words}"):
            rocelab.open(out)
    # As other programs may write it.
    (out / "summary.json").write_text(json.dumps(dict(reversed(json.loads(text).items()))))
    assert rocelab.open(out).summary == incast.summary


def test_opening_reads_no_table(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    (out / "series" / "goodput.parquet").write_bytes(b"")
    result = rocelab.open(out)
    assert len(result.flows) == 4
    assert len(result.series["bottleneck"]) > 0
    with pytest.raises(rocelab.ResultError, match=r"goodput.parquet: damaged: its checksum"):
        len(result.series["goodput"])


def test_a_result_that_is_replaced_while_it_is_open(
    incast: rocelab.Result, three_runs: list[rocelab.Result], tmp_path: Path
) -> None:
    out = incast.save(tmp_path / "out")
    result = rocelab.open(out)
    three_runs[0].save(out, force=True)
    with pytest.raises(rocelab.ResultError, match="was replaced after it had been opened"):
        len(result.flows)


def as_version_1(out: Path) -> None:
    """Makes the result what the first version would have written."""
    summary = json.loads((out / "summary.json").read_text())
    del summary["checksums"]
    (out / "summary.json").write_text(json.dumps({**summary, "schema": 1}))


def test_results_of_version_1_have_one_warning(
    command: Command, incast: rocelab.Result, tmp_path: Path
) -> None:
    # Without series there are few pictures.
    plain = rocelab.run(incast.scenario.with_settings(probe=[]))
    out = plain.save(tmp_path / "out")
    as_version_1(out)
    with pytest.warns(rocelab.UnverifiedResultWarning) as caught:
        result = rocelab.open(out)
    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"{out}: an earlier version wrote it")
    assert caught[0].filename == __file__
    assert result.unverified
    assert result.flows.to_polars().equals(plain.flows.to_polars())
    with pytest.warns(rocelab.UnverifiedResultWarning) as others:
        fct.read(out)
    assert {one.filename for one in others} == {__file__}, "also through other functions"
    for words in (["plot"], ["fct"], ["fct", "--out", tmp_path / "a.svg"]):
        done = command(*words, out)
        assert done.returncode == 0, done.stderr
        assert done.stderr == f"warning: {caught[0].message}\n"
    # Saved again it has them.
    again = result.save(tmp_path / "again")
    assert not rocelab.open(again).unverified


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (pl.col("slowdown") * float("nan"), "the column slowdown has values that are no numbers"),
        (pl.col("slowdown") * 0.0, "the column slowdown has values that are not positive"),
        (pl.lit(None, pl.UInt64).alias("fct_ps"), "fct_ps and done do not agree"),
        (pl.lit(False).alias("done"), "fct_ps and done do not agree"),
    ],
    ids=["nan", "zero", "no-fct", "none-done"],
)
def test_tables_that_contradict_themselves(
    incast: rocelab.Result, tmp_path: Path, change: pl.Expr, words: str
) -> None:
    out = incast.save(tmp_path / "out")
    path = out / "flows.parquet"
    pl.read_parquet(path).with_columns(change).write_parquet(path)
    reseal(out)
    with pytest.raises(rocelab.ResultError, match=f"{path}: damaged: {words}"):
        len(rocelab.open(out).flows)


@pytest.mark.parametrize("name", ["flows", "series/goodput"])
def test_tables_of_another_length(incast: rocelab.Result, tmp_path: Path, name: str) -> None:
    out = incast.save(tmp_path / "out")
    path = out / f"{name}.parquet"
    pl.read_parquet(path)[1:].write_parquet(path)
    reseal(out)
    with pytest.raises(rocelab.ResultError, match=r"damaged: has [0-9]+ rows, and summary.json"):
        check_files(rocelab.open(out))


class PanicError(BaseException):
    """As Polars raises it: its module tells what it is."""


PanicError.__module__ = "pyo3_runtime"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "not enough memory"),
        (PanicError("index out of bounds\nmore"), "index out of bounds"),
        (ValueError("not a number"), "not a number"),
        (OverflowError(), "OverflowError"),
        (pl.exceptions.ComputeError("corrupt\n\nmore"), "corrupt"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_a_library_raises_is_a_result_error(
    incast: rocelab.Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    words: str,
) -> None:
    def fail(_: object) -> None:
        raise error

    out = incast.save(tmp_path / "out")
    monkeypatch.setattr(pl, "read_parquet", fail)
    with pytest.raises(rocelab.ResultError) as caught:
        len(rocelab.open(out).flows)
    assert str(caught.value) == f"{out / 'flows.parquet'}: cannot read: {words}"


def test_a_panic_elsewhere_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise PanicError("index out of bounds\nmore")

    with pytest.raises(SystemExit) as caught:
        run_command(command)
    assert caught.value.code == 1
    assert capsys.readouterr().err == "error: a library failed: index out of bounds\n"


# The cache.


def test_the_cache_compares_the_scenario(
    incast: rocelab.Result, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scenarios = {f"{seed}": incast.scenario.with_settings(run__seed=seed) for seed in (1, 2)}
    runs = run_all(scenarios, tmp_path)
    one, two = (run.directory for run in runs.values())
    assert one
    assert two
    rocelab.open(two).save(one, force=True)
    caplog.clear()
    again = run_all(scenarios, tmp_path)
    assert [run.summary["seed"] for run in again.values()] == [1, 2]
    assert caplog.messages == [
        f"{one}: is the result of another scenario; its scenario is run again"
    ]
    caplog.clear()
    as_version_1(two)
    again = run_all(scenarios, tmp_path)
    assert not any(run.unverified for run in again.values())
    assert caplog.messages == [f"{two}: has no checksums; its scenario is run again"]
