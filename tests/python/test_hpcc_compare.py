"""``rocelab compare-hpcc``: how far runs agree with the HPCC simulator's own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import hpcc_cases
from conftest import Command
from hpcc_small import INPUTS, files, write_case
from rocelab.cli.app import app


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A folder with an experiment, to be run in it."""
    return write_case(tmp_path / "case")


@pytest.fixture
def known(command: Command, case: Path) -> Path:
    """A folder with one case: an experiment and what came of it."""
    done = command("hpcc", "config.txt", "--quiet", cwd=case)
    assert done.returncode == 0, done.stderr
    for name in ("fct", "pfc"):
        shutil.move(case / f"out/{name}.txt", case / f"{name}.txt")
    shutil.rmtree(case / "out")
    return case.parent


def test_agreement_of_a_case(command: Command, known: Path) -> None:
    done = command("compare-hpcc", known)
    assert done.returncode == 0, done.stderr
    head, rule, *rows = done.stdout.splitlines()
    for row, order in zip(rows, ("fast", "ns3"), strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert (head.count("|"), rule.count("|")) == (row.count("|"), row.count("|"))
        assert cells[:7] == ["case", "hpcc", order, "4", "4", "none", "0 / 0"]
    assert files(known / "case") == INPUTS | {"fct.txt", "pfc.txt"}, "nothing was added"


def test_flows_that_are_alike_count_each(command: Command, known: Path) -> None:
    fct = known / "case/fct.txt"
    lines = fct.read_text().splitlines(keepends=True)
    fct.write_text("".join([*lines, lines[0]]))
    row, _ = json.loads(command("compare-hpcc", known, "--json").stdout)
    assert (row["flows"], row["missing"], row["equal"]) == (5, 1, 4)


def test_a_case_whose_run_left_nothing_is_named(command: Command, known: Path) -> None:
    shutil.copytree(known / "case", known / "other")
    (known / "other" / "fct.txt").unlink()
    done = command("compare-hpcc", known)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 4
    warning = f"warning: {known / 'other'}: left out: it has a config.txt and no fct.txt"
    assert done.stderr.splitlines() == [warning, "case"]


@pytest.mark.parametrize("quiet", [False, True])
def test_a_comparison_tells_how_far_its_runs_are(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    known: Path,
    quiet: bool,
) -> None:
    """Protects from minutes without a word: the table comes at the end of all cases."""
    shutil.copytree(known / "case", known / "other")
    told: list[tuple[str, float]] = []

    @contextmanager
    def noting(*, shown: bool) -> Iterator[Callable[[float, str, str], None]]:
        assert shown
        yield lambda fraction, title, _: told.append((title, fraction))

    monkeypatch.setattr("rocelab._progress._open_bar", noting)
    with pytest.raises(SystemExit) as ended:
        app(["compare-hpcc", str(known), *(["--quiet"] if quiet else [])])
    assert ended.value.code == 0
    names = ["case (1 of 2)", "case (1 of 2, ns3)", "other (2 of 2)", "other (2 of 2, ns3)"]
    assert list(dict(told)) == ([] if quiet else names)
    out, err = capsys.readouterr()
    assert err == "case\nother\n"
    assert len(out.splitlines()) == 6


@pytest.mark.parametrize("place", ["file", "file/deep", "/proc/rocelab"])
def test_pictures_of_cases_need_a_directory(command: Command, known: Path, place: str) -> None:
    (known / "file").write_text("in the way")
    done = command("compare-hpcc", known, "--figures", place, cwd=known)
    assert (done.returncode, done.stdout) == (2, "")
    # No case is named: none was run.
    (error,) = done.stderr.splitlines()
    assert error.startswith(f"error: {place}: ")
    assert files(known) == {"file", *(f"case/{name}" for name in (*INPUTS, "fct.txt", "pfc.txt"))}


def test_disagreement_of_a_case(command: Command, known: Path) -> None:
    fct = known / "case" / "fct.txt"
    text = fct.read_text()
    assert " 12376 " in text
    # A flow that takes 1 % longer there, and one that does not finish here.
    missing = text.splitlines()[0].replace(" 10000 ", " 10099 ")
    fct.write_text(text.replace(" 12376 ", " 12500 ") + missing + "\n")
    done = command("compare-hpcc", known, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["order"] for row in rows] == ["fast", "ns3"]
    for row in rows:
        assert (row["flows"], row["missing"], row["extra"], row["equal"]) == (5, 1, 0, 3)
        assert row["largest_percent"] == pytest.approx(100 * (1 - 12376 / 12500))
        assert row["same_pfc"] is True


@pytest.mark.parametrize("seeds", [2, 3, 4, 5])
def test_seeds_that_change_nothing_are_one(command: Command, known: Path, seeds: int) -> None:
    fct = known / "case" / "fct.txt"
    fct.write_text(fct.read_text().replace(" 12376 ", " 12500 "))
    done = command("compare-hpcc", known, "--seeds", str(seeds), "--json")
    assert done.returncode == 0, done.stderr
    for row in json.loads(done.stdout):
        assert (row["seeds"], row["covered"], row["mean_percent"]) == (1, None, None)


def test_large_differences_have_no_power_of_ten(command: Command, known: Path) -> None:
    fct = known / "case" / "fct.txt"
    fct.write_text(fct.read_text().replace(" 12376 ", " 1000 "))
    done = command("compare-hpcc", known)
    assert done.returncode == 0, done.stderr
    assert "| 1,140 % |" in done.stdout


def test_flows_that_one_side_alone_finished_are_told(command: Command, known: Path) -> None:
    fct = known / "case" / "fct.txt"
    first, *rest = fct.read_text().splitlines(keepends=True)

    def cells() -> list[str]:
        done = command("compare-hpcc", known)
        assert done.returncode == 0, done.stderr
        return [cell.strip() for cell in done.stdout.splitlines()[2].strip("|").split("|")][3:6]

    fct.write_text("".join(rest))
    assert cells() == ["3 of 4, 1 extra here", "3", "none"]
    row, _ = json.loads(command("compare-hpcc", known, "--json").stdout)
    assert (row["flows"], row["missing"], row["extra"], row["equal"]) == (3, 0, 1, 3)
    fct.write_text("".join([*rest, first.replace(" 10000 ", " 10099 ")]))
    assert cells() == ["3 of 4, 1 missing here, 1 extra here", "3", "none"]
    fct.write_text(first.replace(" 10000 ", " 10099 "))
    assert cells() == ["0 of 4, 1 missing here, 4 extra here", "0", "-"]


def test_means_of_seeds_are_over_flows_that_finished_on_both_sides(
    command: Command, tmp_path: Path
) -> None:
    fct = hpcc_cases.unpack("errorlink/dcqcn", tmp_path) / "fct.txt"
    lines = sorted(fct.read_text().splitlines(), key=lambda line: int(line.split()[6]))
    # The longest flows did not finish there, and one of a whole second finished there alone.
    other = lines[0].split()
    other[2], other[6] = "9999", "1000000000"
    fct.write_text("\n".join([*lines[:-4], " ".join(other)]) + "\n")
    done = command("compare-hpcc", tmp_path, "--seeds", "3", "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)[0]
    assert (row["flows"], row["missing"], row["extra"]) == (37, 1, 4)
    assert (row["seeds"], row["mean_flows"]) == (3, 36)
    assert abs(row["mean_percent"]) < 10
    table = command("compare-hpcc", tmp_path, "--seeds", "3").stdout
    assert "of the 36 of 40 flows that finished in all runs" in table


def test_a_case_may_hold_other_letters(command: Command, known: Path) -> None:
    with (known / "case" / "config.txt").open("ab") as config:
        config.write(b"# Z\xfcrich\n")
    done = command("compare-hpcc", known)
    assert done.returncode == 0, done.stderr
    assert "| case | hpcc | fast | 4 | 4 | none |" in done.stdout


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("fct.txt", "0b000001 0b000301 10000\n", "fct.txt:1"),
        ("fct.txt", "0b000001 0b000301 10000 100 1 2000000000 soon 12016\n", "fct.txt:1"),
        ("fct.txt", "0b000001 0b000301 10000 100 1 2000000000 0 12016\n", "fct.txt:1"),
        ("summary.json", "[", "summary.json"),
        ("config.txt", "CC_MODE 3\n", "config.txt"),
        ("pfc.txt", None, "pfc.txt"),
    ],
)
def test_a_bad_case_is_a_line(
    command: Command, known: Path, file: str, text: str | None, place: str
) -> None:
    path = known / "case" / file
    path.unlink(missing_ok=True)
    if text is not None:
        path.write_text(text, encoding="ascii")
    done = command("compare-hpcc", known)
    assert done.returncode == 2
    assert done.stdout == ""
    # The first line says which case it is at.
    at, first, *rest = done.stderr.splitlines()
    assert at == "case"
    assert first.startswith("error: ")
    assert place in first
    assert all(line.startswith("hint: ") for line in rest)


def test_names_of_a_case_may_begin_above_it(command: Command, known: Path) -> None:
    """As in the simulator's tree: its configurations name their files from above ``mix``."""
    (known / "case").rename(known / "mix")
    config = known / "mix" / "config.txt"
    text = config.read_text().replace("_FILE ", "_FILE mix/")
    config.write_text(text)
    for name, cwd in ((".", known), ("mix", known), (known, known / "mix")):
        done = command("compare-hpcc", name, cwd=cwd)
        assert done.returncode == 0, done.stderr
        assert "| mix | hpcc | ns3 | 4 | 4 | none |" in done.stdout
    # A file that is nowhere is looked for in the case.
    config.write_text(text.replace("mix/topology.txt", "mix/none.txt"))
    done = command("compare-hpcc", known)
    assert done.returncode == 2
    assert "TOPOLOGY_FILE: cannot read " in done.stderr
    assert "mix/mix/none.txt" in done.stderr
    config.write_text(text.replace("mix/topology.txt", "n" * 5000))
    done = command("compare-hpcc", known)
    assert done.returncode == 2
    assert "File name too long" in done.stderr
    # What lies above the case is not another name's.
    shutil.move(known / "mix" / "topology.txt", known / "topology.txt")
    (known / "mix" / "deep").mkdir()
    shutil.move(config, known / "mix" / "deep" / "config.txt")
    for file in ("fct.txt", "pfc.txt"):
        shutil.move(known / "mix" / file, known / "mix" / "deep" / file)
    config = known / "mix" / "deep" / "config.txt"
    config.write_text(text.replace("mix/topology.txt", "../topology.txt"))
    done = command("compare-hpcc", known)
    assert done.returncode == 2
    assert "deep/../topology.txt" in done.stderr


def test_other_cases_follow_a_bad_one(command: Command, known: Path) -> None:
    shutil.copytree(known / "case", known / "bad")
    (known / "bad" / "config.txt").write_text("CC_MODE 3\n")
    done = command("compare-hpcc", known)
    assert done.returncode == 2
    assert "| case | hpcc | fast | 4 | 4 | none |" in done.stdout
    assert "bad/config.txt" in done.stderr
    assert "| bad |" not in done.stdout
    done = command("compare-hpcc", known, "--json")
    assert (done.returncode, [row["case"] for row in json.loads(done.stdout)]) == (2, ["case"] * 2)


def test_a_folder_without_cases(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "unrun" / "case").mkdir(parents=True)
    (tmp_path / "unrun" / "case" / "config.txt").touch()
    (tmp_path / "empty").mkdir()
    none = (
        "no case in here: a folder with config.txt, what it reads, and the fct.txt and pfc.txt it "
        "gave\n"
    )
    for name, told in (
        ("missing", "no such directory\n"),
        ("file", "is not a directory\n"),
        ("empty", none),
        ("unrun", f"{none}hint: unrun/case has no fct.txt\n"),
    ):
        done = command("compare-hpcc", name, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"error: {name}: {told}"
