"""Files of other simulators become inputs of a scenario, or are refused with their line."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest

import rocelab
from conftest import Command

MATRIX = """Nodes 4
Connections 3
# a comment
0->1 id 1 start 0 size 002000000
2->3 start 1500000.750000 size 100
3->0 id 3 start 0 size 5000 prio 2
"""

BARRIER = """Nodes 4
Connections 3
Triggers 1
0->3 id 3 trigger 1 size 9000
1->0 id 1 start 0 size 500000 recv_done_trigger 1
2->0 id 2 start 70 size 4000 recv_done_trigger 1
trigger id 1 barrier count 2
"""

ONESHOT = "trigger id 1 oneshot\n"

CIRCLE = """Nodes 2
Connections 2
Triggers 2
0->1 trigger 2 size 1 recv_done_trigger 1
1->0 trigger 1 size 1 recv_done_trigger 2
trigger id 1 oneshot
trigger id 2 oneshot
"""

SCENARIO = """name = "matrix"
[topology]
kind = "star"
hosts = 4
host_rate = "100Gbps"
host_delay = "1us"
[scheme]
name = "dcqcn"
[[traffic]]
kind = "flows"
flows_file = "flows.csv"
"""


def test_a_connection_matrix_becomes_flows_of_a_scenario(command: Command, tmp_path: Path) -> None:
    (tmp_path / "m.cm").write_text(MATRIX, encoding="utf-8")
    done = command("import", "cm", "m.cm", "--out", "flows.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "warning: m.cm: the prio of 1 connection is left out: only receivers of htsim heed it",
        "flows.csv: 3 flows among 4 hosts",
    ]
    flows = "src,dst,size_bytes,start_ps\nh0,h1,2000000,0\nh2,h3,100,1500000\nh3,h0,5000,0\n"
    assert (tmp_path / "flows.csv").read_text() == flows
    printed = command("import", "cm", "m.cm", "--prefix", "n", cwd=tmp_path)
    assert printed.stdout == flows.replace("h", "n")
    (tmp_path / "s.toml").write_text(SCENARIO, encoding="utf-8")
    run = command("run", "s.toml", "--quiet", cwd=tmp_path)
    assert run.returncode == 0, run.stderr


def run_matrix(command: Command, folder: Path, matrix: str) -> pl.DataFrame:
    (folder / "m.cm").write_text(matrix, encoding="utf-8")
    (folder / "s.toml").write_text(SCENARIO, encoding="utf-8")
    for arguments in (
        ("import", "cm", "m.cm", "--out", "flows.csv"),
        ("run", "s.toml", "-o", "out"),
    ):
        done = command(*arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
    return rocelab.open(folder / "out").flows.to_polars()


def test_a_connection_waits_for_all_that_fire_its_trigger(command: Command, tmp_path: Path) -> None:
    flows = run_matrix(command, tmp_path, BARRIER)
    assert (tmp_path / "flows.csv").read_text() == (
        "src,dst,size_bytes,start_ps,tag,after\n"
        "h1,h0,500000,0,step 1,\nh2,h0,4000,70,step 1,\nh0,h3,9000,0,,step 1\n"
    )
    start_ps, fct_ps = {}, {}
    for src, start, fct in flows.select("src", "start_ps", "fct_ps").iter_rows():
        start_ps[src], fct_ps[src] = start, fct
    # 500 KB take 40 us, and the ACK's way back 2 us and more.
    assert 40_000_000 < start_ps["h0"] < fct_ps["h1"] - 2_000_000


def test_recursive_doubling_goes_step_by_step(command: Command, tmp_path: Path) -> None:
    """Of eight nodes each exchanges with those at distances 1, 2 and 4."""
    lines: list[str] = []
    triggers: list[str] = []
    for step, distance in enumerate((1, 2, 4)):
        for node in range(8):
            line = f"{node}->{node ^ distance} id {len(lines) + 1} size 100000"
            line += f" trigger {8 * step + node - 7}" if step else " start 0"
            if step < 2:
                fired = 8 * step + (node ^ distance) + 1
                line += f" recv_done_trigger {fired}"
                triggers.append(f"trigger id {fired} oneshot")
            lines.append(line)
    head = ["Nodes 8", f"Connections {len(lines)}", f"Triggers {len(triggers)}"]
    matrix = "\n".join([*head, *reversed(lines), *triggers, ""])
    scenario = SCENARIO.replace("hosts = 4", "hosts = 8")
    with patch.dict(globals(), SCENARIO=scenario):
        flows = run_matrix(command, tmp_path, matrix)
    assert set(flows["tag"]) == {"step 1", "step 2", "flows"}
    starts = {tag: set(of["start_ps"]) for (tag,), of in flows.group_by("tag")}
    # All links carry the same, so that all nodes are equally fast: 8 us for the bytes and a way.
    assert starts["step 1"] == {0}
    (second,), (third,) = starts["step 2"], starts["flows"]
    assert third == pytest.approx(2 * second, rel=0.01)
    assert 8_000_000 + 2_000_000 < second < 12_000_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("16\n", "m.cm:1: '16' where the number of nodes should be"),
        ("Nodes 2\nConnections 1\n", "promises 1 connection, but lists 0"),
        ("Nodes 2\n0->1 start 0 size 1\n", "has no line Connections, but lists 1"),
        ("Nodes 2\nConnections 1\n0->2 start 0 size 1\n", "m.cm:3: node 2, but the nodes are 0"),
        ("Nodes 2\nConnections 1\n1->1 start 0 size 1\n", "m.cm:3: the connection joins node 1"),
        ("Nodes 2\nConnections 1\n0-1 start 0 size 1\n", "m.cm:3: '0-1' is no connection"),
        ("Nodes 2\nConnections 1\n0->1 start 0\n", "m.cm:3: the connection has no size"),
        ("Nodes 2\nConnections 1\n0->1 start 0 size\n", "m.cm:3: size needs a whole number"),
        ("Nodes 2\nConnections 1\n0->1 start 0. size 1\n", "m.cm:3: start needs a whole number"),
        ("Nodes 2\nConnections 1\n0->1 start 0 size 1.0\n", "m.cm:3: size needs a whole number"),
        ("Nodes 2\nConnections 1\n0->1 start 0 size 0\n", "m.cm:3: the connection has no end"),
        # More digits than Python reads.
        (f"Nodes 2\nConnections 1\n0->1 start 0 size {'9' * 5000}\n", "m.cm:3: size has more than"),
        (
            f"Nodes 2\nConnections 1\n0->1 start {10**18 + 1} size 1\n",
            "m.cm:3: the connection starts at 1000000000000000001 ps, which is too late",
        ),
        (
            f"Nodes 2\nConnections 1\n0->1 start 0 size {4 * 10**12 + 1}\n",
            "m.cm:3: the connection has 4000000000001 bytes; the most of a message",
        ),
        ("Nodes 2\nConnections 1\n0->1 weight 1\n", "m.cm:3: unknown word 'weight'"),
        (
            "Nodes 2\nConnections 1\n0->1 trigger 1 size 1\n",
            "m.cm:3: there is no trigger 1",
        ),
        (
            "Nodes 2\nConnections 1\n0->1 trigger 1 start 0 size 1\n",
            "m.cm:3: the connection has both a start and a trigger",
        ),
        (
            "Nodes 2\nConnections 1\n0->1 start 0 size 1 send_done_trigger 1\n",
            "m.cm:3: the connection has a send_done_trigger, which is not served",
        ),
        ("Nodes 2\nConnections 0\ntrigger id 1 oneshot\n", "has no line Triggers, but lists 1"),
        (
            "Nodes 2\nConnections 0\nTriggers 1\ntrigger id 1\n",
            "m.cm:4: a trigger needs an id and one kind",
        ),
        (
            "Nodes 2\nConnections 0\nTriggers 1\ntrigger id 1 oneshot\n",
            "m.cm:4: trigger 1: no connection fires it",
        ),
        (
            "Nodes 2\nConnections 1\nTriggers 1\n0->1 start 0 size 1 recv_done_trigger 1\n"
            + ONESHOT,
            "m.cm:5: trigger 1: no connection waits for it",
        ),
        (BARRIER.replace("barrier count 2", "oneshot"), "m.cm:7: trigger 1: 2 connections fire it"),
        (BARRIER.replace("count 2", "count 3"), "m.cm:7: trigger 1: its count is 3, and 2"),
        (
            BARRIER.replace(
                "2->0 id 2 start 70 size 4000 recv_done_trigger 1", "2->0 start 0 size 1"
            ),
            "m.cm:7: trigger 1: its count is 2, and 1 connection fires it",
        ),
        (BARRIER.replace("barrier", "multishot"), "m.cm:7: trigger 1: a multishot of several"),
        (
            BARRIER.replace("0->3", "1->3"),
            "m.cm:7: trigger 1: what waits for it starts at another node",
        ),
        (BARRIER + ONESHOT, "m.cm:8: trigger 1 is there twice"),
        (
            CIRCLE,
            "m.cm:4: the connection waits for itself, through triggers",
        ),
        ("", "m.cm: is empty\nhint: a connection matrix of htsim begins"),
        ("Nodes 2\nNodes 3\n", "m.cm:2: Nodes is there twice"),
        ("Nodes 2\nConnections 1\n0->1 size 1 start 0 size 2\n", "m.cm:3: size is there twice"),
        (BARRIER.replace("count 2", "count 3 count 2"), "m.cm:7: count is there twice"),
        ("Nodes 2\nfailure switch_type TOR\n", "m.cm:2: failures are not served"),
    ],
)
def test_what_is_no_matrix_is_refused(
    text: str, says: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "m.cm").write_text(text, encoding="utf-8")
    done = command("import", "cm", "m.cm", "--out", "flows.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "flows.csv").exists()


def test_a_scenario_takes_the_latest_start_and_the_largest_size(
    command: Command, tmp_path: Path
) -> None:
    matrix = f"Nodes 2\nConnections 1\n0->1 start {10**18} size {4 * 10**12}\n"
    (tmp_path / "m.cm").write_text(matrix, encoding="utf-8")
    (tmp_path / "s.toml").write_text(SCENARIO, encoding="utf-8")
    for arguments in (("import", "cm", "m.cm", "-o", "flows.csv"), ("validate", "s.toml")):
        done = command(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_matrix_that_is_missing(command: Command, tmp_path: Path) -> None:
    done = command("import", "cm", "m.cm", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: m.cm: cannot read: No such file or directory\n"
