"""Files of other simulators become inputs of a scenario, or are refused with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

MATRIX = """Nodes 4
Connections 3
# a comment
0->1 id 1 start 0 size 002000000
2->3 start 1500000.750000 size 100
3->0 id 3 start 0 size 5000 prio 2
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
        "warning: m.cm: the prio of 1 connections is left out: only receivers of htsim heed it",
        "flows.csv: 3 flows among 4 hosts",
    ]
    flows = "src,dst,size_bytes,start_ps\nh0,h1,2000000,0\nh2,h3,100,1500000\nh3,h0,5000,0\n"
    assert (tmp_path / "flows.csv").read_text() == flows
    printed = command("import", "cm", "m.cm", "--prefix", "n", cwd=tmp_path)
    assert printed.stdout == flows.replace("h", "n")
    (tmp_path / "s.toml").write_text(SCENARIO, encoding="utf-8")
    run = command("run", "s.toml", "--quiet", cwd=tmp_path)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("16\n", "m.cm:1: '16' where the number of nodes should be"),
        ("Nodes 2\nConnections 1\n", "promises 1 connections, but lists 0"),
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
        ("Nodes 2\nConnections 1\n0->1 weight 1\n", "m.cm:3: unknown word 'weight'"),
        (
            "Nodes 2\nConnections 1\n0->1 trigger 1 size 1\n",
            "m.cm:3: the connection has a trigger, which is not served",
        ),
        ("Nodes 2\nTriggers 1\ntrigger id 1 oneshot\n", "m.cm:3: triggers are not served"),
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


def test_a_matrix_that_is_missing(command: Command, tmp_path: Path) -> None:
    done = command("import", "cm", "m.cm", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: m.cm: cannot read: No such file or directory\n"
