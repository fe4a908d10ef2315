"""The fabric view: congestion trees, and the data of its page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import rocelab
from conftest import Command
from rocelab._rocelab import Summary
from rocelab.view.data import collect
from rocelab.view.page import page
from rocelab.view.tree import Flow, Interval, Moment, Port, congestion

US = 10**6
G100 = 100 * 10**9
LONG = 100_000
"""Bytes of a queue that is congested."""


class Net:
    """Ports by name, as ``a>b``, and flows by the nodes that they pass.

    Hosts have a letter and a number, switches a letter.
    """

    def __init__(self, *links: str) -> None:
        self.ports: list[Port] = []
        self.at: dict[str, int] = {}
        for link in links:
            a, b = link.split("-")
            for here, there in ((a, b), (b, a)):
                at = len(self.ports)
                self.at[f"{here}>{there}"] = at
                self.ports.append(Port(here, at, there, G100, at ^ 1, len(there) > 1))
        self.flows: list[Flow] = []

    def flow(self, way: str, start: int = 0, end: int | None = None) -> int:
        nodes = way.split()
        path = tuple(self.at[f"{a}>{b}"] for a, b in pairwise(nodes))
        self.flows.append(Flow(len(self.flows), start * US, end and end * US, path))
        return self.flows[-1].number

    def moments(self, *steps: tuple[Mapping[str, int], Mapping[str, float]]) -> list[Moment]:
        """The moments of steps, each with queues at its end and shares of paused time."""
        intervals = []
        before = [0] * len(self.ports)
        for step, (queues, paused) in enumerate(steps):
            at_end, share = [0] * len(self.ports), [0.0] * len(self.ports)
            for name, length in queues.items():
                at_end[self.at[name]] = length
            for name, part in paused.items():
                share[self.at[name]] = part
            longest = [max(pair) for pair in zip(before, at_end, strict=True)]
            begin = step * 10 * US
            intervals.append(Interval(begin, begin + 10 * US, longest, at_end, share))
            before = at_end
        return congestion(self.ports, self.flows, intervals)

    def name(self, port: int) -> str:
        return f"{self.ports[port].node}>{self.ports[port].peer}"

    def tree(self, moment: Moment, number: int = 0) -> dict[str, list[str]]:
        """The paused ports of a tree with what they wait for."""
        paused = moment.trees[number].paused
        return {
            self.name(port): [self.name(one) for one in because] for port, because in paused.items()
        }

    def roots(self, moment: Moment) -> list[tuple[str, str]]:
        return [
            (tree.kind, " ".join(self.name(port) for port in tree.root)) for tree in moment.trees
        ]


def two_racks() -> Net:
    return Net("a0-x", "a1-x", "x-s", "s-y", "b0-y", "b1-y", "b2-y")


def test_a_tree_is_followed_upstream_from_its_root() -> None:
    """Protects the whole tree of a network small enough to be worked out by hand."""
    net = two_racks()
    net.flow("a0 x s y b0")
    net.flow("b1 y b0")
    passing_by = net.flow("a1 x s y b2")
    at_home = net.flow("a0 x a1")
    net.flow("b2 y s x a1")
    # It was over before, and one begins later.
    net.flow("a1 x s y b1", end=0)
    net.flow("a1 x s y b1", start=50)
    paused = {"s>y": 0.5, "b1>y": 0.2, "x>s": 0.9, "a0>x": 1.0, "a1>x": 0.3}
    (moment,) = net.moments(({"y>b0": LONG, "s>y": 3000, "x>s": LONG}, paused))
    assert net.roots(moment) == [("root", "y>b0")]
    assert net.tree(moment) == {
        "s>y": ["y>b0"],
        "b1>y": ["y>b0"],
        "x>s": ["s>y"],
        "a0>x": ["x>s"],
        "a1>x": ["x>s"],
    }
    assert moment.trees[0].victims == (passing_by, at_home)
    assert moment.unexplained == ()


def test_two_trees_are_told_apart_by_the_paths_of_flows() -> None:
    """Protects that a port is not said to wait for a queue that none of its packets joins."""
    net = two_racks()
    net.flow("a0 x s y b0")
    net.flow("b1 y b2")
    (moment,) = net.moments(({"y>b0": LONG, "y>b2": LONG}, {"s>y": 0.5, "b1>y": 0.5}))
    assert net.roots(moment) == [("root", "y>b0"), ("root", "y>b2")]
    assert net.tree(moment, 0) == {"s>y": ["y>b0"]}
    assert net.tree(moment, 1) == {"b1>y": ["y>b2"]}


def test_a_port_whose_flows_are_unknown_waits_for_all_that_is_congested() -> None:
    net = two_racks()
    (moment,) = net.moments(({"y>b0": LONG, "y>b2": LONG, "y>s": LONG}, {"s>y": 0.5}))
    trees = {root: net.tree(moment, at) for at, (_, root) in enumerate(net.roots(moment))}
    assert trees == {"y>b0": {"s>y": ["y>b0"]}, "y>b2": {"s>y": ["y>b2"]}, "y>s": {}}


def test_a_queue_that_a_pause_left_makes_no_root() -> None:
    net = two_racks()
    net.flow("a0 x s y b0")
    steps = [
        ({"x>s": 60_000, "y>b0": LONG}, {"x>s": 0.5, "s>y": 0.5}),
        # No longer paused, and no longer than before.
        ({"x>s": 60_000}, {"a0>x": 0.1}),
        # It grows.
        ({"x>s": 70_000}, {"a0>x": 0.1}),
        # Gone, and back: what the pause left is forgotten.
        ({}, {}),
        ({}, {}),
        ({"x>s": 50_000}, {"a0>x": 0.1}),
    ]
    found = [net.roots(moment) for moment in net.moments(*steps)]
    assert found == [
        [("root", "y>b0")],
        # What was congested at the beginning is going at the end.
        [("draining", "x>s"), ("draining", "y>b0")],
        [("root", "x>s")],
        [("draining", "x>s")],
        [],
        [("root", "x>s")],
    ]


def test_short_queues_are_no_congestion_and_leave_pauses_unexplained() -> None:
    net = two_racks()
    net.flow("a0 x s y b0")
    # 24 KB take less than 2 us at 100 Gb/s.
    (moment,) = net.moments(({"y>b0": 24_000}, {"s>y": 0.1, "x>s": 0.1}))
    assert moment.trees == ()
    assert [net.name(port) for port in moment.unexplained] == ["x>s", "s>y"]


def test_a_queue_that_a_slow_link_takes_long_to_send_is_congestion() -> None:
    """10 KB take 80 us at 1 Gb/s, and 0.8 us at the link's own rate."""
    made = rocelab.Scenario(
        topology={"kind": "star", "hosts": 3, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme="none",
        pfc={"threshold": "static", "xoff": "5KB", "xon": "4KB", "headroom": "40KB"},
        traffic=[{"kind": "incast", "senders": ["h1"], "receiver": "h0", "size": "300KB"}],
        failure=[{"link": "s0:h0", "at": "10us", "until": "200us", "rate": "1Gbps"}],
        probe=[{"preset": "view"}],
    )
    data = collect(rocelab.run(made)).data
    names = [node["name"] for node in data["nodes"]]
    congested = data["ports"].index(next(p for p in data["ports"] if names[p[0]] == "s0"))
    assert [names[at] for at in data["ports"][congested][:2]] == ["s0", "h0"]
    kinds = {}
    for end_us, moment in zip(data["times"], data["moments"], strict=True):
        kinds[end_us] = [tree["kind"] for tree in moment["trees"] if tree["root"] == [congested]]
        assert end_us > 200 or not moment["unexplained"], (end_us, moment)
    assert all(kinds[end] == ["root"] for end in range(30, 200, 10)), kinds
    # At the end of this interval the link has its own rate again, and sends that queue at once.
    assert kinds[200] == ["draining"]
    assert not any(found for end, found in kinds.items() if end > 200), kinds


def test_a_host_that_pauses_is_the_root_of_all_that_waits_for_it() -> None:
    """Protects pause storms: no queue but that of a paused port is long."""
    net = two_racks()
    net.flow("a0 x s y b0")
    victim = net.flow("a1 x s y b2")
    paused = {"y>b0": 1.0, "s>y": 0.9, "x>s": 0.5, "a1>x": 0.4}
    (moment,) = net.moments((dict.fromkeys(paused, LONG), paused))
    assert net.roots(moment) == [("stalled", "y>b0")]
    assert net.tree(moment) == {"s>y": ["y>b0"], "x>s": ["s>y"], "a1>x": ["x>s"]}
    assert moment.trees[0].victims == (victim,)
    assert moment.unexplained == ()
    # A host that nobody waits for is named, too, and a switch that pauses a host is none.
    (moment,) = net.moments(({}, {"y>b0": 0.1, "a0>x": 0.1}))
    assert net.roots(moment) == [("stalled", "y>b0")]
    assert [net.name(port) for port in moment.unexplained] == ["a0>x"]


def test_a_host_with_two_ports_can_stall_and_a_switch_with_one_cannot() -> None:
    net = Net("a0-x", "x-b0", "y-b0", "y-z")
    net.flow("a0 x b0")
    (moment,) = net.moments(({}, {"x>b0": 1.0, "y>z": 1.0}))
    assert net.roots(moment) == [("stalled", "x>b0")]
    assert [net.name(port) for port in moment.unexplained] == ["y>z"]


def test_a_stalled_receiver_with_a_port_in_each_plane_is_found() -> None:
    scenario = rocelab.Scenario(
        topology={
            "kind": "leaf-spine",
            "planes": 2,
            "leaves": 1,
            "spines": 1,
            "hosts_per_leaf": 3,
            "host_rate": "100Gbps",
            "host_delay": "1us",
            "rate": "100Gbps",
            "delay": "1us",
        },
        scheme={"name": "none"},
        host={"ports": "spray", "recovery": "selective-repeat", "in_flight": "unlimited"},
        pfc={"threshold": "static", "xoff": "50KB", "xon": "40KB"},
        traffic=[{"kind": "incast", "senders": ["h0", "h1"], "receiver": "h2", "size": "1MB"}],
        receiver=[{"hosts": ["h2"], "rate": "10Gbps"}],
        probe=[{"preset": "view"}],
        run={"stop": "100us"},
    )
    data = collect(rocelab.run(scenario)).data
    names = [node["name"] for node in data["nodes"]]
    roots = {
        tuple(names[at] for at in data["ports"][port][:2])
        for moment in data["moments"]
        for tree in moment["trees"]
        if tree["kind"] == "stalled"
        for port in tree["root"]
    }
    assert roots == {("plane0/leaf0", "h2"), ("plane1/leaf0", "h2")}


def ring() -> Net:
    net = Net("p-q", "q-r", "r-p", "hp-p", "hq-q", "hr-r", "vp-p", "wp-p")
    for way in ("hp p q r hr", "hq q r p hp", "hr r p q hq"):
        net.flow(way)
    return net


def test_a_deadlock_has_its_circle_and_its_victims() -> None:
    net = ring()
    victim = net.flow("hp p vp")
    net.flow("vp p wp")
    circle = {"p>q": 1.0, "q>r": 1.0, "r>p": 1.0}
    queues = dict.fromkeys(circle, LONG)
    (moment,) = net.moments((queues, {**circle, "hp>p": 1.0, "hq>q": 0.4}))
    assert net.roots(moment) == [("deadlock", "p>q q>r r>p")]
    assert net.tree(moment) == {"hp>p": ["p>q"], "hq>q": ["q>r"]}
    assert moment.trees[0].victims == (victim,)
    # As long as one of them sends now and then, it is none.
    (moment,) = net.moments((queues, {**circle, "r>p": 0.99}))
    assert moment.trees == ()
    assert len(moment.unexplained) == 3


def large_scenario(**changes: object) -> rocelab.Scenario:
    """The 320 hosts for 2 ms that ``tools/measure_view.py`` measures, with the preset."""
    path = Path(__file__).parents[2] / "tools/measure_view.py"
    spec = spec_from_file_location("measure_view", path)
    assert spec is not None
    assert spec.loader is not None
    measure = module_from_spec(spec)
    spec.loader.exec_module(measure)
    scenario: rocelab.Scenario = measure.scenario([{"preset": "view"}])
    return scenario.with_settings(**changes)


def ring_scenario() -> rocelab.Scenario:
    """Five switches in a ring, whose hosts send two switches on, until PFC blocks all."""
    numbers = range(5)
    cable = {"rate": "100Gbps", "delay": "1us"}
    return rocelab.Scenario(
        name="ring",
        topology={
            "kind": "custom",
            "nodes": [
                {"name": f"{kind}{at}", "kind": "host" if kind == "h" else "switch"}
                for kind in "hs"
                for at in numbers
            ],
            "links": [
                *({"a": f"h{at}", "b": f"s{at}", **cable} for at in numbers),
                *({"a": f"s{at}", "b": f"s{(at + 1) % 5}", **cable} for at in numbers),
            ],
        },
        traffic=[
            {
                "kind": "flows",
                "flows": [
                    {"src": f"h{at}", "dst": f"h{(at + 2) % 5}", "size": "10MB"} for at in numbers
                ],
            }
        ],
        scheme={"name": "none"},
        pfc={"threshold": "static", "xoff": "50KB", "xon": "40KB"},
        run={"stop": "700us"},
        probe=[{"preset": "view"}],
    )


@pytest.fixture(scope="module")
def incast(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of an incast that pauses its way up to the senders, and a victim."""
    scenario = rocelab.load(
        "examples/incast.toml", set={"probe": [{"preset": "view", "interval": "5us"}]}
    )
    return rocelab.run(scenario).save(tmp_path_factory.mktemp("view") / "incast")


def test_a_run_that_deadlocks_shows_the_circle_that_the_run_found() -> None:
    result = rocelab.run(ring_scenario())
    (warning,) = (one for one in result.warnings if one.startswith("deadlock: "))
    data = collect(result).data
    names = [node["name"] for node in data["nodes"]]
    (tree,) = (tree for tree in data["moments"][-1]["trees"] if tree["kind"] == "deadlock")
    circle = [names[data["ports"][port][0]] for port in tree["root"]]
    assert sorted(circle) == [f"s{at}" for at in range(5)]
    assert all(f"{a} > {b}" in warning for a, b in pairwise(circle)), warning


def test_paths_are_those_that_packets_took() -> None:
    """Protects paths: what all of them bring to a port is what the port sent in a run."""
    scenario = rocelab.load(
        "examples/fat-tree.toml",
        set={"traffic.0.duration": "50us", "topology.k": 4, "scheme.name": "none"},
    )
    result = rocelab.run(scenario)
    planned = scenario.plan().ports.to_polars().sort("node", "port")
    hops = scenario.paths().to_polars().group_by("node", "port").len()
    counted = planned.join(hops, on=["node", "port"], how="left").fill_null(0)
    assert counted["messages"].to_list() == counted["len"].to_list()
    assert counted["len"].sum() > 0
    sizes = {row["flow_id"]: row["size_bytes"] for row in result.flows.to_polars().to_dicts()}
    carried: dict[tuple[str, int], int] = {}
    for flow, node, port in scenario.paths().to_polars().iter_rows():
        carried[node, port] = carried.get((node, port), 0) + sizes[flow]
    sent = {
        (row["node"], row["port"]): row["tx_bytes"] for row in result.ports.to_polars().to_dicts()
    }
    assert all(sent[port] >= size for port, size in carried.items())


def test_the_page_has_what_the_probes_saw(incast: Path) -> None:
    """Protects what the page draws: every sample is at its port and in its interval."""
    result = rocelab.open(incast)
    data = collect(result).data
    names = [node["name"] for node in data["nodes"]]
    ports = {(names[row[0]], row[4]): at for at, row in enumerate(data["ports"])}
    assert data["times"][:2] == [5, 10]
    queue = result.series["view-queue"].to_polars().sort("time_ps")
    for (node, port), rows in queue.group_by("node", "port"):
        samples = rows["queue_bytes"].to_list()
        expected = [max(pair) for pair in pairwise(samples)][: len(data["times"])]
        assert data["queue"][ports[node, port]] == expected, (node, port)
    shares = result.series["view-paused-share"].to_polars().sort("time_ps")
    for (node, port), rows in shares.group_by("node", "port"):
        shown = data["paused"][ports[node, port]]
        assert shown == [pytest.approx(100 * one, abs=1) for one in rows["paused_share"]]
        assert [one > 0 for one in shown] == [one > 0 for one in rows["paused_share"]]


def test_the_page_has_the_caveat_of_its_scheme() -> None:
    for scheme, told in (("hpcc", False), ("dcqcn", True)):
        settings = {"probe": [{"preset": "view"}], "scheme.name": scheme}
        result = rocelab.run(rocelab.load("examples/incast.toml", set=settings))
        view = collect(result)
        assert dict(view.facts).get("caveat", "") == result.summary.caveat
        assert ("differ tenfold" in page(view)) == told


def test_the_page_says_where_data_took_other_paths_than_its_trees() -> None:
    made = rocelab.example("load-balancing").with_settings(probe=[{"preset": "view"}])
    (told,) = (one for one in collect(rocelab.run(made)).warnings if "trees may be wrong" in one)
    assert "routing.balance = " in told
    hashed = made.with_settings(routing={})
    assert not any("trees" in one for one in collect(rocelab.run(hashed)).warnings)


def test_the_view_finds_the_victim_of_the_example(incast: Path) -> None:
    """Protects what the example is about: s1 pauses s0 because of h2, and the victim suffers."""
    data = collect(rocelab.open(incast)).data
    names = [node["name"] for node in data["nodes"]]
    port = {f"{names[row[0]]}>{names[row[1]]}": at for at, row in enumerate(data["ports"])}
    found = [
        tree
        for moment in data["moments"]
        for tree in moment["trees"]
        if tree["root"] == [port["s1>h2"]] and [port["s0>s1"], port["s1>h2"]] in tree["paused"]
    ]
    assert len(found) > 10
    flows = data["flows"]
    victims = {
        flows["tag"][flows["number"].index(one)] for tree in found for one in tree["victims"]
    }
    assert [flows["tags"][tag] for tag in victims] == ["victim"]


def test_a_flow_that_waits_for_another_is_no_victim() -> None:
    """It sends nothing, though the pauses of its host would hold it up."""
    senders = [f"h{number}" for number in range(1, 6)]
    incast = {"kind": "incast", "senders": senders, "receiver": "h0", "size": "1MB"}
    flows = [
        {"src": "h6", "dst": "h1", "size": "10MB", "tag": "first"},
        {"src": "h1", "dst": "h7", "size": "1MB", "tag": "late", "after": "first"},
        {"src": "h1", "dst": "h7", "size": "1MB", "tag": "victim"},
    ]
    view = collect(
        rocelab.run(
            rocelab.Scenario(
                topology={
                    "kind": "star",
                    "hosts": 8,
                    "host_rate": "100Gbps",
                    "host_delay": "1us",
                },
                traffic=[incast, {"kind": "flows", "flows": flows}],
                scheme="dcqcn",
                pfc={"xoff": "20KB"},
                probe=[{"preset": "view"}],
                run={"stop": "60us"},
            )
        )
    )
    shown = view.data["flows"]
    tags = [shown["tags"][tag] for tag in shown["tag"]]
    trees = [tree for moment in view.data["moments"] for tree in moment["trees"]]
    victims = {tags[shown["number"].index(one)] for tree in trees for one in tree["victims"]}
    assert victims == {"victim"}
    assert [tag for tag, start in zip(tags, shown["start"], strict=True) if start is None] == [
        "late"
    ]


def test_the_preset_stays_below_its_limit(tmp_path: Path) -> None:
    """Protects the 5 MB for 320 hosts and 2 ms, with a scheme that has rates and windows."""
    saved = rocelab.run(large_scenario(scheme__name="hpcc")).save(tmp_path / "run")
    series = list((saved / "series").iterdir())
    assert len(series) == 5
    assert sum(one.stat().st_size for one in series) < 5_000_000


def test_many_intervals_are_joined(incast: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = rocelab.open(incast)
    whole = collect(result).data
    cells = len(whole["times"]) * len(whole["ports"])
    monkeypatch.setattr("rocelab.view.samples.MAX_CELLS", -(-cells // 4))
    view = collect(result)
    assert any("4 intervals" in one for one in view.warnings)
    joined = view.data
    assert joined["times"][0] == 20
    for before, after in zip(whole["queue"], joined["queue"], strict=True):
        assert after == [max(before[at : at + 4]) for at in range(0, len(before), 4)]
    for before, after in zip(whole["paused"], joined["paused"], strict=True):
        first = sum(before[:4]) / 4
        assert after[0] == pytest.approx(first, abs=1)


def test_flows_beyond_the_limit_are_told(incast: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocelab.view.data.MAX_FLOWS", 3)
    view = collect(rocelab.open(incast))
    assert len(view.data["flows"]["number"]) == 3
    assert any("3 of 10 flows" in one for one in view.warnings)
    flows = view.data["flows"]
    assert "victim" in [flows["tags"][tag] for tag in flows["tag"]]


def test_without_the_series_the_command_says_what_to_do(tmp_path: Path, command: Command) -> None:
    rocelab.run(rocelab.load("examples/incast.toml")).save(tmp_path / "plain")
    failed = command("view", "plain", "--no-browser", cwd=tmp_path)
    assert failed.returncode == 2
    assert "plain: has no series 'view-queue'" in failed.stderr
    assert "--set 'probe=[{ preset = \"view\" }]'" in failed.stderr
    assert not (tmp_path / "plain/view.html").exists()


def test_the_command_writes_one_page(incast: Path, tmp_path: Path, command: Command) -> None:
    done = command("view", incast, "-o", "seen.html", "--no-browser", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "seen.html\n")
    text = (tmp_path / "seen.html").read_text()
    assert "default-src 'none'" in text
    failed = command("view", incast, "-o", "seen.pdf", "--no-browser", cwd=tmp_path)
    assert (failed.returncode, failed.stderr) == (2, "error: --out seen.pdf: must end in .html\n")
    # It opens as a result with the page in it, too.
    done = command("view", incast, "--no-browser", cwd=tmp_path)
    assert rocelab.open(incast).summary["name"] == "incast"


def test_preset_series_that_a_scheme_has_not_are_no_warning(incast: Path) -> None:
    result = rocelab.open(incast)
    assert len(result.series["view-rate"]) == 0
    assert not [one for one in result.warnings if "view-" in one]


def test_results_that_do_not_fit_their_scenario_are_refused(
    incast: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(name: str, column: str, value: object) -> rocelab.Result:
        result = rocelab.open(incast)
        table = result.series[name] if name in result.series else getattr(result, name)
        frame = table.to_polars().with_columns(pl.lit(value).alias(column))
        monkeypatch.setattr(table, "to_polars", lambda: frame)
        return result

    for name, column, value, why in (
        ("flows", "src", "nobody", "flows of hosts that are not in the network"),
        ("ports", "rate_bps", 1, "the ports are not those of its scenario"),
        ("view-queue", "port", 99, "'view-queue' has ports that are not in the network"),
    ):
        with pytest.raises(rocelab.ResultError, match=f"incast: damaged: .*{why}"):
            collect(changed(name, column, value))


def test_names_cannot_become_markup(incast: Path) -> None:
    result = rocelab.open(incast)
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    result.summary = Summary.from_dict({**result.summary.to_dict(), "name": evil})
    text = page(collect(result))
    assert text.count("<script") == 2
    assert "<img" not in text


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("room", ["rocelab.view", "rocelab.report"])
def test_colours_of_pages_have_contrast(room: str) -> None:
    """Protects WCAG 2's ratios: 4.5 for text, 3 for what is drawn."""
    style = files(room).joinpath("page.css").read_text()
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6});", block))
        for block in re.findall(r":root[^{]* \{(.*?)\}", style, re.DOTALL)
    )
    for colours in (light, {**light, **dark}):
        for name, least in {
            "text": 4.5,
            "soft": 4.5,
            "link": 4.5,
            "idle": 3.0,
            "half": 3.0,
            "busy": 3.0,
            "paused": 3.0,
            "root": 3.0,
            "queue": 3.0,
        }.items():
            if name not in colours:
                continue
            pair = sorted(_luminance(colours[one]) for one in (name, "back"))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= least, (name, colours[name])
