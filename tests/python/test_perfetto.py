from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

import rocelab
from conftest import INCAST, Command
from rocelab import Scenario, perfetto
from rocelab.errors import MissingPackageError
from rocelab.perfetto import write_trace
from rocelab.report import charts

BEGIN, END, COUNTER = (
    getattr(proto.TrackEvent, f"TYPE_{name}") for name in ("SLICE_BEGIN", "SLICE_END", "COUNTER")
)


class Read:
    """A trace as a viewer reads it: slices and counters by the names of their tracks."""

    def __init__(self, path: Path) -> None:
        trace = proto.Trace()
        trace.ParseFromString(path.read_bytes())
        names: dict[int, str] = {}
        self.units: dict[str, Any] = {}
        self.slices: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        self.notes: dict[str, dict[str, Any]] = {}
        self.counters: dict[str, list[tuple[int, float]]] = defaultdict(list)
        opened: dict[int, tuple[int, str]] = {}
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                assert track.uuid not in names
                parent = f"{names[track.parent_uuid]} / " if track.parent_uuid else ""
                names[track.uuid] = parent + track.name
                self.units[names[track.uuid]] = track.counter
                continue
            event = packet.track_event
            name = names[event.track_uuid]
            if event.type == COUNTER:
                self.counters[name].append((packet.timestamp, event.double_counter_value))
            elif event.type == BEGIN:
                assert event.track_uuid not in opened, f"two slices at a time on {name}"
                opened[event.track_uuid] = (packet.timestamp, event.name)
                self.notes[event.name] = {
                    note.name: getattr(note, note.WhichOneof("value"))
                    for note in event.debug_annotations
                }
            else:
                begin, title = opened.pop(event.track_uuid)
                assert begin <= packet.timestamp
                self.slices[name].append((begin, packet.timestamp, title))
        assert not opened, "slices that do not end"


@pytest.fixture(scope="module")
def congested() -> rocelab.Result:
    """An incast with pauses, a queue, rates, and a flow that is cut off."""
    probes = [
        {"name": "queue", "kind": "queue", "ports": ["s0:h4"], "interval": "1us"},
        {"name": "speed", "kind": "goodput", "flows": [0], "interval": "2us"},
    ]
    scenario = Scenario.from_toml(INCAST).with_settings(
        probe=probes,
        trace={"pfc": True},
        pfc={"threshold": "static", "xoff": "20KB", "xon": "10KB"},
        run={"stop": "75us"},
    )
    return rocelab.run(scenario)


def test_a_trace_has_what_the_tables_have(congested: rocelab.Result, tmp_path: Path) -> None:
    write_trace(congested, tmp_path / "trace.pftrace")
    read = Read(tmp_path / "trace.pftrace")
    flows = congested.flows.to_polars()
    end = congested.summary["simulated_ns"]
    expected = sorted(
        (
            start // 1000,
            end if fct is None else (start + fct) // 1000,
        )
        for start, fct in flows.select("start_ps", "fct_ps").iter_rows()
    )
    sent = {name: found for name, found in read.slices.items() if " / flows " in name}
    assert sorted(slice_[:2] for found in sent.values() for slice_ in found) == expected
    assert {name.split(" / ")[0] for name in sent} == set(flows["src"])
    cut = flows.filter(~pl.col("done"))
    assert 0 < len(cut) < len(flows)
    noted = [note for note in read.notes.values() if "unfinished" in note]
    assert {note["flow_id"] for note in noted} <= set(cut["flow_id"])

    queue = congested.series["queue"].to_polars()
    (name,) = (name for name in read.counters if name.endswith(" queue"))
    assert name == "s0 / s0:h4 queue"
    # A viewer shows a value until the next one, so only other values are there.
    changes = _changes(queue, "queue_bytes")
    assert 10 < len(changes) < len(queue)
    assert read.counters[name] == changes
    assert read.units[name].unit == proto.CounterDescriptor.UNIT_SIZE_BYTES
    assert read.units["flows / flow 0 speed"].unit_name == "bps"
    # What a receiver took in the two microseconds before a sample stands where these begin.
    speed = congested.series["speed"].to_polars()
    assert read.counters["flows / flow 0 speed"] == [
        (time - 2000, value) for time, value in _changes(speed, "goodput_bps")
    ]


def _changes(samples: pl.DataFrame, column: str) -> list[tuple[int, float]]:
    """Nanoseconds and values of the samples that are not equal to the one before."""
    different = samples.filter(pl.col(column).ne_missing(pl.col(column).shift(1)))
    return [(time // 1000, value) for time, value in different["time_ps", column].iter_rows()]


def test_counters_that_stand_where_their_time_begins_are_those_of_the_schema() -> None:
    """A new kind of probe must not be forgotten."""
    means = {
        one["const"]
        for one in rocelab.schema()["$defs"]["ProbeKind"]["oneOf"]
        if "since the last sample" in " ".join(one["description"].split())
    }
    assert means == perfetto.MEANS


def test_counters_are_0_where_the_probe_had_no_value(tmp_path: Path) -> None:
    """A viewer shows a value until the next one: a flow that is over would seem to go on."""
    scenario = Scenario(
        topology={"kind": "star", "hosts": 3, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme="dcqcn",
        traffic=[
            {
                "kind": "flows",
                "flows": [
                    {"src": "h0", "dst": "h1", "size": "100KB"},
                    {"src": "h0", "dst": "h1", "size": "100KB", "start": "40us"},
                ],
            }
        ],
        probe=[
            {"name": "rate", "kind": "rate", "flows": [0, 1], "interval": "2us"},
            {"name": "early", "kind": "rate", "flows": [0], "interval": "2us", "end": "6us"},
            {"name": "delay", "kind": "latency", "flows": [0, 1], "interval": "2us"},
        ],
        run={"stop": "70us"},
    )
    result = rocelab.run(scenario)
    ends = (result.flows["start_ps"] + result.flows["fct_ps"]).to_list()
    assert ends[0] < 38e6
    assert 48e6 < ends[1] < 66e6
    write_trace(result, tmp_path / "t.pftrace")
    counters = Read(tmp_path / "t.pftrace").counters
    for flow, end_ps in enumerate(ends):
        *values, (zero_ns, zero) = counters[f"flows / flow {flow} rate"]
        assert zero == 0
        assert 0 <= zero_ns - end_ps / 1000 < 2000
        assert all(value > 0 for _, value in values)
    # It was not looked at any longer, and the rate was the same until then.
    assert set(result.series["early"]["rate_bps"]) == {100e9}
    assert counters["flows / flow 0 early"] == [(0, 100e9)]
    # The first packet arrives between the samples at 2 and at 4 us.
    latencies = counters["flows / flow 0 delay"]
    assert latencies[0][0] == 2000
    assert latencies[-1][1] == 0
    assert latencies[-1][0] <= ends[0] // 1000


def test_pauses_last_as_long_as_the_ports_were_paused(
    congested: rocelab.Result, tmp_path: Path
) -> None:
    write_trace(congested, tmp_path / "trace.pftrace")
    read = Read(tmp_path / "trace.pftrace")
    lasted: dict[str, int] = defaultdict(int)
    for name, found in read.slices.items():
        if " paused, priority " in name:
            lasted[name.split(" / ")[0]] += sum(end - begin for begin, end, _ in found)
    ports = congested.ports.to_polars().filter(pl.col("paused_ns") > 0)
    paused = {node: int(ns) for node, ns in ports.select("node", "paused_ns").iter_rows()}
    assert set(lasted) == set(paused) != set()
    for node, ns in paused.items():
        # Each slice begins and ends on a whole nanosecond.
        assert lasted[node] == pytest.approx(ns, abs=200)


def test_parallel_links_have_a_track_each(tmp_path: Path) -> None:
    """Their samples must not be mixed, and none may be lost."""
    links = {"host_rate": "100Gbps", "host_delay": "1us", "rate": "100Gbps", "delay": "1us"}
    scenario = Scenario.from_toml(INCAST).with_settings(
        topology={
            "kind": "leaf-spine",
            "leaves": 3,
            "spines": 1,
            "hosts_per_leaf": 2,
            "links_per_pair": 2,
            **links,
        },
        probe=[{"name": "queue", "kind": "queue", "ports": ["leaf0:spine0"], "interval": "10us"}],
    )
    result = rocelab.run(scenario)
    write_trace(result, tmp_path / "t.pftrace")
    counters = Read(tmp_path / "t.pftrace").counters
    names = [f"leaf0 / leaf0:spine0 ({port}) queue" for port in (2, 3)]
    assert sorted(counters) == names
    queue = result.series["queue"].to_polars()
    for name, port in zip(names, (2, 3), strict=True):
        assert counters[name] == _changes(queue.filter(port=port), "queue_bytes")
    (chart,) = (one for one in charts.of_results([("run", result)]) if one.title == "Queue length")
    assert [line["name"] for line in chart.data] == ["leaf0:spine0 (2)", "leaf0:spine0 (3)"]


def test_flows_of_a_host_do_not_overlap_on_a_track(tmp_path: Path) -> None:
    flows = [
        {"src": "h0", "dst": "h1", "size": "10KB", "start": f"{start}us"} for start in (0, 0, 0, 50)
    ]
    scenario = Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": "10Gbps", "host_delay": "1us"},
        scheme={"name": "none"},
        traffic=[{"kind": "flows", "flows": flows}],
    )
    write_trace(rocelab.run(scenario), tmp_path / "trace.pftrace")
    read = Read(tmp_path / "trace.pftrace")
    # Three at a time, and the fourth on a track that is free again.
    assert sorted(read.slices) == [f"h0 / flows {lane}" for lane in (1, 2, 3)]
    assert sorted(map(len, read.slices.values())) == [1, 1, 2]


def test_export_from_end_to_end(
    command: Command, congested: rocelab.Result, tmp_path: Path
) -> None:
    congested.save(tmp_path / "run")
    done = command("export", "perfetto", "run", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "run/trace.pftrace\n", "")
    assert Read(tmp_path / "run/trace.pftrace").counters
    # The result is still sound, and has no say on what else lies there.
    assert rocelab.open(tmp_path / "run").summary["digest"] == congested.summary["digest"]
    done = command("export", "perfetto", "run", "-o", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: run: is a directory\n"
    done = command("export", "perfetto", "nowhere", "-o", "t", cwd=tmp_path)
    assert done.returncode == 2
    assert not (tmp_path / "t").exists()


def test_what_a_trace_lacks_is_said(command: Command, tmp_path: Path) -> None:
    rocelab.run(Scenario.from_toml(INCAST)).save(tmp_path / "run")
    done = command("export", "perfetto", "run", cwd=tmp_path)
    assert done.returncode == 0
    assert "no pauses in it: the scenario's [trace] has no pfc = true" in done.stderr


def test_without_the_package(
    congested: rocelab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace", None)
    with pytest.raises(MissingPackageError, match="perfetto, which is not installed") as raised:
        write_trace(congested, tmp_path / "t")
    assert raised.value.hint == "pip install 'rocelab[perfetto]'"
    assert list(tmp_path.iterdir()) == []


def test_flows_that_had_not_started_have_no_slices(tmp_path: Path) -> None:
    late = {"src": "h0", "dst": "h1", "size": "1KB", "start": "1ms"}
    made = Scenario.from_toml(INCAST).with_settings(
        run__stop="50us", traffic=[{"kind": "flows", "flows": [late, {**late, "start": "0ns"}]}]
    )
    result = rocelab.run(made)
    assert result.flows.to_polars()["unfinished"].to_list() == [None, "not_started"]
    write_trace(result, tmp_path / "t.pftrace")
    slices = Read(tmp_path / "t.pftrace").slices
    assert sum("flows to" in title for some in slices.values() for *_, title in some) == 1


def test_flows_that_wait_for_others_have_no_slices(tmp_path: Path) -> None:
    """One waits for a flow that does not end, the other for a time after one that did."""
    short, long = ({"src": "h1", "dst": "h0", "size": size} for size in ("1KB", "1MB"))
    flows = [{**short, "tag": "short"}, {**long, "tag": "long"}]
    flows += [
        {"src": "h0", "dst": "h1", "size": "1KB", "after": tag, "after_delay": "1ms"}
        for tag in ("short", "long")
    ]
    made = Scenario.from_toml(INCAST).with_settings(
        run__stop="20us", traffic=[{"kind": "flows", "flows": flows}]
    )
    result = rocelab.run(made)
    why = result.flows.to_polars()["unfinished"].to_list()
    assert why == [None, "sending", "not_started", "waiting"]
    write_trace(result, tmp_path / "t.pftrace")
    slices = Read(tmp_path / "t.pftrace").slices
    titles = {title.split()[0] for some in slices.values() for *_, title in some}
    assert titles == {"short", "long"}


def test_results_that_do_not_say_why_flows_are_unfinished_have_slices(tmp_path: Path) -> None:
    """An earlier version wrote them."""
    late = {"src": "h0", "dst": "h1", "size": "1KB", "start": "1ms"}
    early = [{**late, "start": "0ns", "size": size} for size in ("1KB", "1MB")]
    made = Scenario.from_toml(INCAST).with_settings(
        run__stop="20us", traffic=[{"kind": "flows", "flows": [*early, late]}]
    )
    result = rocelab.run(made)
    older = result.flows.to_polars().drop("unfinished")
    result.flows = rocelab.Table(lambda: older)
    write_trace(result, tmp_path / "t.pftrace")
    slices = Read(tmp_path / "t.pftrace").slices
    assert sum("flows to" in title for some in slices.values() for *_, title in some) == 2
