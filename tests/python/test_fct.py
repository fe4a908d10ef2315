"""``rocelab fct``: the analysis of the HPCC simulator's fct.txt."""

from __future__ import annotations

import csv
import io
import json
import struct
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure

import rocelab
from conftest import Command
from rocelab.cli.fct import fct
from rocelab.hpcc.fct import read, select_flows
from rocelab.hpcc.fct_groups import by_size
from rocelab.hpcc.fct_plot import plot_slowdowns


def line(size: int, fct: int, ideal: int = 1000, port: int = 100, start: int = 2 * 10**9) -> str:
    return f"0b000001 0b000201 10000 {port} {size} {start} {fct} {ideal}"


def write(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def hundred(tmp_path: Path) -> Path:
    """A hundred flows of 1 to 100 KB, largest first; that of n KB has a slowdown of n / 10."""
    lines = [line(1000 * size, 100 * size) for size in range(100, 0, -1)]
    return write(tmp_path / "hundred" / "fct.txt", lines)


def test_twenty_groups_of_equal_count(command: Command, hundred: Path) -> None:
    done = command("fct", hundred, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    groups = json.loads(done.stdout)
    assert len(groups) == 20
    # Slowdowns below 1 count as 1.
    assert groups[0] == {
        "part": 5, "lower_bytes": 1000, "upper_bytes": 5000, "flows": 5,
        "p50": 1.0, "p95": 1.0, "p99": 1.0,
    }  # fmt: skip
    # 96 to 100 KB: ranks int(5 p) are 2, 4 and 4.
    assert groups[19] == {
        "part": 100, "lower_bytes": 96_000, "upper_bytes": 100_000, "flows": 5,
        "p50": 9.8, "p95": 10.0, "p99": 10.0,
    }  # fmt: skip


def test_table_and_csv(command: Command, hundred: Path) -> None:
    done = command("fct", hundred.parent)
    table = done.stdout.splitlines()
    assert table[0].split() == ["%", "size", "flows", "p50", "p95", "p99"]
    assert table[20].split() == ["100", "100000", "5", "9.800", "10.000", "10.000"]
    assert len({len(row) for row in table[:21]}) == 1
    assert table[-1] == "p50, p95, p99: FCT slowdown"
    rows = list(csv.DictReader(io.StringIO(command("fct", hundred, "--csv").stdout)))
    assert [int(row["part"]) for row in rows] == list(range(5, 101, 5))
    assert float(rows[19]["p50"]) == 9.8


def test_groups_of_one_size_are_explained(command: Command, hundred: Path, tmp_path: Path) -> None:
    """Their percentiles rise from row to row though the size does not: it looks like an effect."""
    lines = [line(1000, 100 * rank) for rank in range(1, 41)]
    incast = write(tmp_path / "incast" / "fct.txt", lines)
    for paths in ((incast,), (hundred, incast), (incast, incast)):
        told = command("fct", *paths).stdout
        assert told.endswith("in order of their slowdown;\n--by-tag joins them.\n")
    for arguments in ((hundred,), (hundred, hundred), (incast, "--by-tag")):
        assert "in order of their slowdown" not in command("fct", *arguments).stdout


def test_groups_where_flows_do_not_divide() -> None:
    def sizes(count: int) -> list[tuple[int, int]]:
        columns = {"size": range(1, count + 1), "slowdown": [1.0] * count}
        flows = pl.DataFrame(columns, {"size": pl.Int64, "slowdown": pl.Float64})
        return [(group.upper_bytes, group.flows) for group in by_size(flows)]

    assert sizes(20) == [(size, 1) for size in range(1, 21)]
    # Edges at 23 i / 20, rounded down: the last three groups begin at 19, 20 and 21.
    assert sizes(23)[-3:] == [(20, 1), (21, 1), (23, 2)]
    assert sizes(3) == [(1, 1), (2, 1), (3, 1)]
    assert sizes(0) == []


def test_types_and_cut(command: Command, tmp_path: Path) -> None:
    path = write(
        tmp_path / "fct.txt",
        [
            line(1000, 3000),
            line(2000, 4000, port=200),
            # Ends at exactly 3 s.
            line(3000, 5000, start=3 * 10**9 - 5000),
        ],
    )

    def sizes(*options: object) -> list[int]:
        done = command("fct", path, "--json", *options)
        assert done.returncode == 0, done.stderr
        return [group["upper_bytes"] for group in json.loads(done.stdout)]

    assert sizes() == [1000, 2000]
    assert "1 of 3 flows" in command("fct", path).stderr
    assert sizes("--finished-before", 3.1) == [1000, 2000, 3000]
    assert sizes("--port-type", 0, "--finished-before", "inf") == [1000, 3000]
    assert sizes("--port-type", 1) == [2000]


def test_two_side_by_side(command: Command, hundred: Path, tmp_path: Path) -> None:
    lines = [line(1000 * size, 120 * size) for size in range(1, 101)]
    other = write(tmp_path / "other" / "fct.txt", lines)
    done = command("fct", hundred, other)
    assert done.returncode == 0, done.stderr
    first, second, _explained = done.stdout.split("\n\n")
    a, b, titles, *rows = first.splitlines()
    assert (a, b) == (f"a: {hundred}", f"b: {other}")
    assert titles.split()[:3] == ["%", "size", "flows"]
    cells = rows[19].split()
    assert cells[:6] == ["100", "100000", "5", "9.800", "11.760", "+20.0%"]
    # The third percentile has no room beside the others in 80 columns.
    last = second.splitlines()[20].split()
    assert last[:3] == cells[:3]
    assert cells[6:] == last[3:] == ["10.000", "12.000", "+20.0%"]
    last = json.loads(command("fct", hundred, other, "--json").stdout)[19]
    assert last["p50_percent"] == pytest.approx(20)
    # Where flows differ, both sizes are shown, and only groups whose sizes overlap are compared.
    fewer = write(tmp_path / "fewer.txt", lines[:60])
    done = command("fct", hundred, fewer)
    titles, *rows = done.stdout.splitlines()[2:]
    assert "size a" in titles
    assert "flows b" in titles
    # 1 to 5 and 1 to 3 KB, 6 to 10 and 4 to 6 KB, 11 to 15 and 7 to 9 KB.
    assert [row.split()[7] for row in rows[:3]] == ["+0.0%", "+0.0%", "-"]
    assert done.stderr.startswith("18 of 20 rows are not compared: ")


def test_unlike_flows_are_all_shown_and_not_compared(command: Command, tmp_path: Path) -> None:
    few = write(tmp_path / "few.txt", [line(50_000_000, 2000), line(50_000_000, 3000)])
    many = write(tmp_path / "many.txt", [line(64_000, 5000)] * 3 + [line(1000, 4000)])
    done = command("fct", few, many, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [(row["part"], row["flows_a"], row["flows_b"]) for row in rows] == [
        (25, None, 1),
        (50, 1, 1),
        (75, None, 1),
        (100, 1, 1),
    ]
    assert [row["p50_b"] for row in rows] == [4.0, 5.0, 5.0, 5.0]
    assert [row["p50_a"] for row in rows] == [None, 2.0, None, 3.0]
    assert {row["p99_percent"] for row in rows} == {None}
    assert done.stderr.startswith("4 of 4 rows are not compared: ")


def test_a_result_of_ours(command: Command, incast: rocelab.Result, tmp_path: Path) -> None:
    directory = incast.save(tmp_path / "result")
    groups = json.loads(command("fct", directory, "--json").stdout)
    assert [group["upper_bytes"] for group in groups] == [100_000, 300_000, 300_000, 300_000]
    flows = incast.flows.to_polars()
    assert groups[0]["p50"] == flows["slowdown"][3]
    assert set(read(directory)[0]["tag"]) == {"incast", "victim"}
    (victim,) = json.loads(command("fct", directory, "--tag", "victim", "--json").stdout)
    assert (victim["flows"], victim["upper_bytes"]) == (1, 100_000)
    refused = command("fct", directory, "--port-type", 1)
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        f"error: {directory}: no flow with tag 200",
        "hint: its flows have incast, victim; choose with --tag",
    ]
    # Tags are named whether their flows are done or not.
    cut = rocelab.run(incast.scenario.with_settings(run__stop="1us")).save(tmp_path / "cut")
    assert command("fct", cut, "--tag", "web").stderr.splitlines() == [
        f"error: {cut}: no flow with tag web",
        "hint: its flows have incast, victim; choose with --tag",
    ]
    topology = write(tmp_path / "topology.txt", [TOPOLOGY])
    refused = command("fct", directory, "--topology", topology)
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: {directory}: names or addresses")


def test_places_of_a_result_whose_hosts_have_numbers(command: Command, tmp_path: Path) -> None:
    nodes = [{"name": f"n{n}", "kind": "host" if n < 3 else "switch"} for n in range(5)]
    ends = [("n0", "n3"), ("n1", "n3"), ("n2", "n4"), ("n3", "n4")]
    links = [
        {"a": a, "b": b, "rate": "100Gbps", "delay": "500us" if a == "n3" else "1us"}
        for a, b in ends
    ]
    pairs = [("n0", "n1"), ("n0", "n2"), ("n1", "n2")]
    scenario = rocelab.Scenario(
        topology={"kind": "custom", "nodes": nodes, "links": links},
        traffic=[
            {"kind": "flows", "flows": [{"src": a, "dst": b, "size": "1KB"} for a, b in pairs]}
        ],
    )
    directory = rocelab.run(scenario).save(tmp_path / "result")
    topology = write(tmp_path / "topology.txt", [TOPOLOGY])
    done = command("fct", directory, "--topology", topology, "--json")
    assert done.returncode == 0, done.stderr
    assert [row["flows"] for row in json.loads(done.stdout)[:2]] == [1, 2]


def test_groups_with_the_same_largest_size_are_drawn_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [500] * 3 + [1000] * 57 + [2000 * n for n in range(1, 41)]
    slowdowns = [1.0 + n % 7 for n in range(len(sizes))]
    flows = pl.DataFrame({"size": sizes, "slowdown": slowdowns})
    groups = by_size(flows, distinct=True)
    assert [group.upper_bytes for group in by_size(flows)][:13] == [1000] * 12 + [10_000]
    assert [group.upper_bytes for group in groups][:2] == [1000, 10_000]
    small = sorted(slowdowns[:60])
    assert groups[0].to_dict() == {
        "part": 60,
        "lower_bytes": 500,
        "upper_bytes": 1000,
        "flows": 60,
        **{f"p{p}": small[int(60 * p / 100)] for p in (50, 95, 99)},
    }
    assert groups[1:] == by_size(flows)[12:]
    lines = [line(size, int(1000 * one)) for size, one in zip(sizes, slowdowns, strict=True)]
    drawn = picture(write(tmp_path / "fct.txt", lines), monkeypatch)
    curves: Any = drawn.axes[0].lines
    for curve in curves:
        x = list(curve.get_xdata())
        assert len(x) == len(set(x)) == 9
    assert "same largest size are drawn as one" in drawn.get_supxlabel()


def test_the_part_of_a_group_is_the_share_of_flows_up_to_it() -> None:
    """Also of fewer flows than groups, of which some groups have none."""

    def parts(*sizes: int) -> list[tuple[int, int]]:
        flows = pl.DataFrame({"size": sizes, "slowdown": [2.0] * len(sizes)})
        return [(group.part, group.flows) for group in by_size(flows, distinct=True)]

    assert parts(1, 2, 3) == [(35, 1), (70, 1), (100, 1)]
    assert parts(1, 1, 2) == [(70, 2), (100, 1)]
    assert parts(1, 2, 2) == [(35, 1), (100, 2)]
    assert parts(7) == [(100, 1)]
    for count in range(1, 60):
        flows = pl.DataFrame({"size": range(count), "slowdown": [2.0] * count})
        assert by_size(flows, distinct=True) == by_size(flows)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (19, "p95 and p99 are their maximum."),
        (20, "p95 and p99 are their maximum."),
        (21, "p99 is their maximum."),
        (100, "p99 is their maximum."),
        (101, None),
    ],
)
def test_the_picture_says_which_percentiles_are_the_maximum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, said: str | None
) -> None:
    lines = [line(1 + n // count, 1000 + n) for n in range(20 * count)]
    path = write(tmp_path / "fct.txt", lines)
    for group in by_size(read(path)[0]):
        largest = (999 + group.part // 5 * count) / 1000
        assert (group.p95 == largest) == (count < 21)
        assert (group.p99 == largest) == (count < 101)
    note = picture(path, monkeypatch).get_supxlabel().replace("\n", " ")
    assert note == (f"Bins have {count} flows: {said}" if said else "")


def test_the_picture_says_which_flows_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line(1000 + n, 1000, start=n * 10**6) for n in range(200)]
    path = write(tmp_path / "fct.txt", lines)
    said = "Flows with port 100 alone. Flows that end at 0.15 s or later are left out: 50."
    note = picture(path, monkeypatch, finished_before=0.15, tag="100").get_supxlabel()
    assert said in note.replace("\n", " ")
    assert "Flows" not in picture(path, monkeypatch).get_supxlabel()


def picture(path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Figure:  # noqa: ANN401
    """What ``rocelab fct --out`` draws of ``path``."""
    figures: list[Figure] = []

    def keep(drawn: Figure, *_: object, **__: object) -> None:
        figures.append(drawn)

    monkeypatch.setattr("rocelab.hpcc.fct_plot.save", keep)
    fct(path, out=path.with_name("fct.png"), **options)
    (drawn,) = figures
    return drawn


def test_a_result_is_opened_once(incast: rocelab.Result, tmp_path: Path) -> None:
    """Its flows, how many are done, and the picture are those of one state of it.

    A result of an earlier version warns each time that it is opened.
    """
    directory = incast.save(tmp_path / "old")
    summary = json.loads((directory / "summary.json").read_text())
    del summary["checksums"]
    (directory / "summary.json").write_text(json.dumps({**summary, "schema": 1}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selected = select_flows(directory, None, 3.0)
        plot_slowdowns(tmp_path / "a.svg", [selected], [])
    assert [one.category for one in caught] == [rocelab.UnverifiedResultWarning]


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_figure(command: Command, hundred: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "new" / f"a.b.{kind}"
    done = command("fct", hundred, hundred, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    if kind == "png":
        assert struct.unpack(">I", out.read_bytes()[16:20]) == (1020,)
    else:
        assert out.read_text().startswith("<?xml")


def test_line_ends_do_not_matter(hundred: Path, tmp_path: Path) -> None:
    text = hundred.read_text()
    other = tmp_path / "crlf.txt"
    other.write_bytes(text.replace("\n", "\r\n").encode())
    assert read(other)[0].equals(read(hundred)[0])


BAD = [
    ("missing column", "\n" + line(1, 1)[:-5] + "\n", [":2: a flow has 8 columns", "7"]),
    ("too large", line(1 << 63, 1) + "\n", [":1: no flow has 9223372036854775808 bytes"]),
    ("not a number", line(1, 1).replace("10000", "x"), [":1: ", "whole numbers"]),
    ("negative", line(-1, 1), [":1: ", "whole numbers"]),
    ("huge", line(10**400, 1), [":1: ", "whole numbers"]),
    ("no ideal", line(1, 1, ideal=0) + "\n", [":1: ", "standalone FCT is 0"]),
    ("fewer columns", f"{line(1, 1)}\n{line(1, 1)[:40]}\n", [":2: a flow has 8 columns"]),
    ("cut short", f"{line(1, 1)}\n{line(1, 1)[:-1]}", [":2: ", "has no end", "cut short"]),
    ("empty", "", ["no flow finished before 3 s"]),
    ("too late", line(1, 1, start=4 * 10**9) + "\n", ["no flow finished before 3 s"]),
]


@pytest.mark.parametrize(("text", "words"), [case[1:] for case in BAD], ids=[c[0] for c in BAD])
def test_bad_files(command: Command, tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text, encoding="utf-8")
    done = command("fct", path)
    assert (done.returncode, done.stdout) == (2, "")
    error = done.stderr.splitlines()[0]
    assert error.startswith(f"error: {path}")
    assert all(word in error for word in words), error


def test_bad_arguments(command: Command, hundred: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    for arguments, words in (
        ([tmp_path / "none"], "No such file"),
        ([tmp_path / "empty"], "neither fct.txt nor flows.parquet"),
        ([tmp_path / "binary"], "columns"),
        ([hundred, "--port-type", 1], "no flow with port 200\nhint: its flows have 100;"),
        ([hundred, "--port-type", 1, "--tag", "100"], "choose one"),
        ([hundred, "--csv", "--json"], "choose one"),
        ([hundred, "--out", tmp_path / "a.gif"], ".png, .svg or .pdf"),
        ([hundred, "--out", hundred / "a.png"], f"a.png: {hundred} is not a directory"),
        ([hundred, "--out", tmp_path / "folder.png"], "folder.png: is a directory"),
        ([hundred, "--finished-before", "nan"], "--finished-before nan: must be above 0"),
        ([hundred, "--finished-before", "-1"], "--finished-before -1: must be above 0"),
        ([hundred, "--port-type", 2], "2"),
    ):
        done = command("fct", *arguments)
        assert done.returncode == 2, done.stderr
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == ""


TOPOLOGY = """5 2 4
3 4
0 3 100Gbps 1us 0
1 3 100Gbps 0.001ms 0
2 4 100Gbps 1000ns 0
3 4 400Gbps 500us 0"""


def flow_line(src: int, dst: int, size: int, fct: int) -> str:
    return f"0b{src << 8 | 1:06x} 0b{dst << 8 | 1:06x} 10000 100 {size} 2000000000 {fct} 1000"


def test_within_and_between_data_centres(command: Command, tmp_path: Path) -> None:
    topology = write(tmp_path / "topology.txt", [TOPOLOGY])
    flows = [(0, 1, 5_000, 6000), (1, 0, 20_000, 9000), (0, 2, 5_000, 1500), (2, 1, 9_999, 3500)]
    path = write(tmp_path / "fct.txt", [flow_line(*flow) for flow in flows])
    done = command("fct", path, "--topology", topology, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    intra, inter, ratio = json.loads(done.stdout)
    assert (intra["place"], intra["flows"], intra["mean"]) == ("intra", 2, 7.5)
    assert (intra["below_10KB"], intra["below_100KB"], intra["from_1MB"]) == (6.0, 9.0, None)
    assert (inter["flows"], inter["mean"], inter["p50"], inter["p99"]) == (2, 2.5, 1.5, 3.5)
    assert (ratio["place"], ratio["mean"], ratio["below_1MB"]) == ("intra/inter", 3.0, None)
    both = command("fct", path, path, "--topology", topology)
    rows = [row.split() for row in both.stdout.splitlines()[2:]]
    assert rows[0][:4] == ["file", "place", "flows", "mean"]
    assert [row[:4] for row in rows[3:5]] == [
        ["a", "intra/inter", "1.000", "3.000"],
        ["b", "intra", "2", "7.500"],
    ]


def test_conweave_numbers_of_hosts_are_read_as_numbers(command: Command, tmp_path: Path) -> None:
    """ConWeave's simulator writes node numbers, where the HPCC simulator writes addresses."""
    topology = write(tmp_path / "topology.txt", [TOPOLOGY])
    rows = [f"{src} {dst} 10000 100 5000 2000000000 6000 1000" for src, dst in ((0, 1), (1, 2))]
    path = write(tmp_path / "fct.txt", rows)
    done = command("fct", path, "--topology", topology, "--json")
    assert done.returncode == 0, done.stderr
    assert [row["flows"] for row in json.loads(done.stdout)[:2]] == [1, 1]


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        # 300 is no node of the topology, and 0x300 no address.
        ("0 300", "the flows are not those of the topology"),
        ("0b000001 0a000201", "names or addresses of its hosts are not numbers"),
        ("0b000001 0b000202", "names or addresses of its hosts are not numbers"),
        ("here there", "names or addresses of its hosts are not numbers"),
    ],
)
def test_hosts_that_are_not_of_the_topology(
    command: Command, tmp_path: Path, ends: str, said: str
) -> None:
    topology = write(tmp_path / "topology.txt", [TOPOLOGY])
    path = write(tmp_path / "fct.txt", [f"{ends} 10000 100 5000 2000000000 6000 1000"])
    done = command("fct", path, "--topology", topology)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[0]
    # Without places the addresses do not matter.
    assert command("fct", path).returncode == 0


@pytest.mark.parametrize(
    ("topology", "said"),
    [
        ("5 2", "the file ends where the number of links should be"),
        ("5 2 1\n3 4\n0 3 100Gbps 1us", "the file ends where the error rate of a link should be"),
        ("5 2 1\n3 4\n0 5 100Gbps 1us 0", "topology.txt:3: "),
        ("5 2 1\n3 4\n0 3 100Gbps soon 0", "topology.txt:3: "),
        ("5 2 1\n3 4\n0 3 100Gbps 1.2.3us 0", "topology.txt:3: "),
        ("2 1 1\n1\n0 1 100Gbps 1us 0", "the flows are not those of the topology"),
    ],
)
def test_topology_that_does_not_fit(
    command: Command, tmp_path: Path, topology: str, said: str
) -> None:
    write(tmp_path / "topology.txt", [topology])
    path = write(tmp_path / "fct.txt", [flow_line(0, 2, 5_000, 6000)])
    done = command("fct", path, "--topology", tmp_path / "topology.txt")
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[0]
