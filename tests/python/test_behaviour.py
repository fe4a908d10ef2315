"""``rocelab compare``: how all schemes behave, held to the last digit.

Where a law was changed on purpose, or a scheme added, `python docs/figures.py` and the command of
``REMAKE`` make everything again; the difference is what the change did.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import rocelab
from conftest import Command
from rocelab.compare import measure
from rocelab.compare import page as pages
from rocelab.compare.measure import Row
from rocelab.compare.networks import RATES_GBPS

GOLDEN = Path(__file__).parent / "behaviour.csv"
DOCS = Path(__file__).parents[2] / "docs"
REMAKE = "rocelab compare --csv tests/python/behaviour.csv --markdown docs/behaviour.md"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Every scheme with its default preset in every network, from no cache."""
    return measure.compare(measure.presets([]), cache=tmp_path_factory.mktemp("cache"))


def test_every_scheme_behaves_as_ever(rows: list[Row]) -> None:
    golden = GOLDEN.read_text(encoding="utf-8").splitlines()
    now = pages.to_csv(rows).splitlines()
    changed = [f"was {line}" for line in golden if line not in set(now)]
    changed += [f"now {line}" for line in now if line not in set(golden)]
    assert not changed, "\n".join([f"if that was meant: {REMAKE}", *changed])
    assert now == golden


def test_the_page_is_that_of_the_numbers(rows: list[Row]) -> None:
    page = (DOCS / "behaviour.md").read_text(encoding="utf-8")
    assert page == pages.page(rows, "rocelab compare"), f"make it anew: {REMAKE}"


def test_every_scheme_has_a_picture_on_its_page() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "schemes").iterdir()}
    for scheme in rocelab.schemes():
        picture = f"../figures/{scheme.name}.png"
        assert (DOCS / "schemes" / picture).is_file(), "make them anew: python docs/figures.py"
        assert any(picture in text for text in pages.values()), picture
    assert "figures/two-flows.png" in (DOCS / "README.md").read_text(encoding="utf-8")


# What the papers promise, in these numbers.

Pick = Callable[..., list[Row]]


@pytest.fixture(scope="module")
def pick(rows: list[Row]) -> Pick:
    def choose(**wanted: object) -> list[Row]:
        found = [
            row for row in rows if all(getattr(row, key) == value for key, value in wanted.items())
        ]
        assert found, wanted
        return found

    return choose


def test_without_control_the_victim_suffers_and_with_it_does_not(pick: Pick) -> None:
    for row in pick(network="victim"):
        share = (row.victim_mbps or 0) / row.gbps / 1000
        if row.scheme == "none":
            assert share < 0.2
            assert row.pauses > 1_000
        elif row.scheme == "rcm":
            # On input queues that pause at 70 KB; see its page.
            assert 0.1 < share < 0.3
        else:
            # All that a link has for the data of one flow under ExpressPass.
            assert share > 0.86, row


def test_credits_keep_queues_below_five_packets(pick: Pick) -> None:
    for row in pick(scheme="expresspass"):
        assert row.queue_bytes < 5 * 1090
        assert row.pauses == 0
        # Credits of data the other way would take the rest: 92 of 1182 B on average.
        assert 88 < row.used_percent < 92.4


def test_hpcc_leaves_its_headroom_and_no_queue(pick: Pick) -> None:
    for scheme in ("hpcc", "hpcc+tcd", "fncc"):
        for row in pick(scheme=scheme):
            assert row.used_percent < 97
            assert row.queue_bytes < 5_000


def test_rocc_is_fair_after_milliseconds_at_its_reference_queue(pick: Pick) -> None:
    for gbps, reference in ((40, 150_000), (100, 300_000)):
        for network in ("two-to-one", "incast", "victim", "parking-lot"):
            (row,) = pick(scheme="rocc", gbps=gbps, network=network)
            assert row.jain > 0.999
            assert row.queue_bytes == pytest.approx(reference, rel=0.02)
            assert row.settles_us is not None
            assert row.settles_us > 1_000


def test_swift_stays_at_its_target_delay(pick: Pick) -> None:
    # 25 us, 1 us for the switch and at most 2 us for flows of many packets, less 4 us of way.
    for gbps in RATES_GBPS:
        (row,) = pick(scheme="swift", gbps=gbps, network="two-to-one")
        delay_us = row.queue_bytes * 8e-3 / gbps
        assert 0.9 * 22 < delay_us < 1.1 * 26


def test_without_pauses_tcd_is_the_scheme_below_it(pick: Pick) -> None:
    # TIMELY knows no CE, so it differs.
    for below in ("dcqcn", "hpcc"):
        for row, alone in zip(pick(scheme=f"{below}+tcd"), pick(scheme=below), strict=True):
            if not row.pauses and not alone.pauses:
                assert row.jain == alone.jain
                assert row.queue_peak_bytes == alone.queue_peak_bytes


# The command.


def test_a_table_for_people(command: Command, tmp_path: Path) -> None:
    arguments = ("none", "dcqcn-hpcc", "--network", "two-to-one", "--rate-gbps", "40")
    done = command("compare", *arguments, "--cache", tmp_path)
    assert done.returncode == 0, done.stderr
    title, head, *lines = done.stdout.splitlines()
    assert title.startswith("two-to-one, 40 Gb/s: ")
    assert head.startswith("scheme")
    assert "victim" not in head
    assert [line.split()[0] for line in lines[:2]] == ["none", "dcqcn"]
    assert len(list(tmp_path.iterdir())) == 2
    # What has no room goes below; then what columns are, and what to know of the schemes.
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert lines[3].split() == ["scheme", "queue", "peak,", "B", "queue,", "B", "pauses"]
    assert "slowest, fastest: the smallest and the largest share" in done.stdout
    assert "caveat: dcqcn (dcqcn-hpcc): Presets" in done.stdout

    both = command("compare", "dcqcn", *arguments[1:], "--cache", tmp_path)
    names = [line.split()[0] for line in both.stdout.splitlines()[2:4]]
    assert names == ["dcqcn-paper", "dcqcn-hpcc"]


def test_json_csv_and_page(command: Command, tmp_path: Path) -> None:
    # Directories that are not there are made, as those of pictures.
    table, page = tmp_path / "new/rows.csv", tmp_path / "new/deep/page.md"
    arguments = ("pacc", "--network", "victim", "--rate-gbps", "100", "--cache", tmp_path / "cache")
    done = command("compare", *arguments, "--json", "--csv", table, "--markdown", page)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert (row["scheme"], row["preset"], row["gbps"]) == ("pacc", "pacc", 100)
    (line,) = csv.DictReader(io.StringIO(table.read_text()))
    assert line == {key: "" if value is None else str(value) for key, value in row.items()}
    text = page.read_text()
    assert "`rocelab compare pacc --network victim --rate-gbps 100`" in text
    # It may lie anywhere, with nothing beside it.
    assert "](" not in text
    assert f"| pacc | {row['slowest_mbps']:,} |" in text
    (caveat,) = (one.caveat for one in rocelab.schemes() if one.name == "pacc")
    assert f"| `pacc` | `pacc` | {caveat} |" in text


@pytest.mark.parametrize(
    ("arguments", "error", "mend"),
    [
        (("dcqn",), "no scheme or preset 'dcqn'", "did you mean dcqcn?"),
        (("nobody",), "no scheme or preset 'nobody'", "`rocelab list` has all of them"),
        (
            ("--network", "star"),
            "no network 'star'",
            "networks: two-to-one, incast, victim, parking-lot, join-leave",
        ),
    ],
)
def test_unknown_names(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], error: str, mend: str
) -> None:
    done = command("compare", *arguments, "--cache", tmp_path / "cache")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {error}\nhint: {mend}\n"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        ("--csv", "rows.txt", "must end in .csv"),
        ("--markdown", "page.txt", "must end in .md"),
        ("--csv", "file/rows.csv", "is not a directory"),
        ("--markdown", "folder.md", "is a directory"),
    ],
)
def test_files_that_cannot_be_written_are_known_before_the_runs(
    command: Command, tmp_path: Path, option: str, name: str, words: str
) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder.md").mkdir()
    before = sorted(tmp_path.rglob("*"))
    arguments = (
        "none",
        "--network",
        "two-to-one",
        "--rate-gbps",
        "40",
        "--cache",
        tmp_path / "cache",
    )
    done = command("compare", *arguments, option, tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    (error,) = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert f"{tmp_path / name}: " in error
    assert words in error
    assert sorted(tmp_path.rglob("*")) == before


def test_jain() -> None:
    assert measure.jain([3.0, 3.0, 3.0]) == 1.0
    assert measure.jain([5.0, 0.0, 0.0, 0.0]) == 0.25
    assert measure.jain([0.0, 0.0]) == 0.0
