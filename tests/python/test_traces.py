"""Traces: single events, in Python, in files and in pictures."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import polars as pl
import pytest

import rocelab
from conftest import Command, reseal
from pictures import assert_picture
from rocelab.plot.gallery import plot_all


@pytest.fixture(scope="module")
def traced() -> rocelab.Result:
    """Four hosts send to a fifth; all but the third are paused, and the first is traced."""
    return rocelab.run(
        rocelab.Scenario(
            name="traced",
            topology={"kind": "star", "hosts": 5, "host_rate": "100Gbps", "host_delay": "1us"},
            traffic=[
                {"kind": "incast", "senders": ["h0", "h1", "h3"], "receiver": "h4", "size": "1MB"},
                {"kind": "flows", "flows": [{"src": "h2", "dst": "h0", "size": "10KB"}]},
            ],
            switch={"buffer": "2MB"},
            pfc={"threshold": "static", "xoff": "100KB", "xon": "98KB"},
            trace={"pfc": True, "packets": ["h0"]},
        )
    )


def test_traces_are_tables(traced: rocelab.Result) -> None:
    assert list(traced.traces) == ["pfc", "packets"]
    pfc, packets = (pl.DataFrame(table) for table in traced.traces.values())
    assert pfc.columns == ["time_ps", "node", "port", "peer", "priority", "pause"]
    assert set(pfc["node"]) == {"h0", "h1", "h3"}
    assert set(pfc["peer"]) == {"s0"}
    assert pfc["pause"].sum() == traced.summary["pause_frames"] > 3
    # All that h0 has to do with: it sends flow 0, gets flow 3, and has to pause.
    assert set(packets["node"]) == {"h0"}
    kinds = dict(packets.group_by("kind", "event").len().select("kind", "len").rows())
    assert set(kinds) == {"data", "ack", "pause", "resume"}
    sent = packets.filter(pl.col("kind") == "data", pl.col("event") == "dequeued")
    assert sent["payload_bytes"].sum() == 1_000_000
    assert sent["sequence"].is_sorted()
    assert packets.filter(pl.col("kind") == "pause")["flow_id"].null_count() > 0
    assert set(packets["ecn"]) == {"not-marked"}
    told = [(trace["name"], trace["rows"]) for trace in traced.summary["traces"]]
    assert told == [("pfc", len(pfc)), ("packets", len(packets))]


@pytest.mark.parametrize("mark_at", ["enqueue", "dequeue"])
@pytest.mark.parametrize("architecture", ["shared-memory", "cioq"])
def test_a_packet_is_marked_from_the_event_on_that_marks_it(
    mark_at: str, architecture: str
) -> None:
    result = rocelab.run(
        rocelab.Scenario(
            topology={"kind": "star", "hosts": 5, "host_rate": "100Gbps", "host_delay": "1us"},
            traffic=[{"kind": "incast", "senders": 4, "receiver": "h4", "size": "200KB"}],
            switch={"architecture": architecture},
            ecn={"enabled": True, "kmin": "10KB", "kmax": "60KB", "pmax": 0.5, "mark_at": mark_at},
            trace={"packets": ["s0"]},
        )
    )
    packets = result.traces["packets"].to_polars().filter(kind="data", ecn="congestion")
    marked = result.ports.to_polars()["ecn_marked_packets"].sum()
    assert marked > 50
    counts = dict(packets["event"].value_counts().rows())
    before = {"enqueued": marked} if mark_at == "enqueue" else {}
    assert counts == before | {"dequeued": marked}


def test_what_a_failing_link_loses_is_lost_on_it_and_dropped_at_its_ends() -> None:
    """As results.md says of the events and of ``lost_packets``."""
    result = rocelab.run(
        rocelab.Scenario(
            topology={
                "kind": "leaf-spine",
                "leaves": 2,
                "spines": 2,
                "hosts_per_leaf": 4,
                "host_rate": "100Gbps",
                "host_delay": "1us",
                "rate": "100Gbps",
                "delay": "1us",
            },
            traffic=[{"kind": "incast", "senders": ["h0..h3"], "receiver": "h4", "size": "1MB"}],
            failure=[{"link": "leaf0:spine0", "at": "20us"}],
            routing={"balance": "random"},
            trace={"packets": ["*"]},
        )
    )
    packets = result.traces["packets"].to_polars()
    found = packets.filter(pl.col("event").is_in(["dropped", "lost"]))
    of_ports = found.group_by("node", "port").len("lost_packets").sort("node", "port")
    ports = result.ports.to_polars().select("node", "port", "lost_packets", "dropped_packets")
    assert ports["dropped_packets"].sum() == 0
    counted = ports.filter(pl.col("lost_packets") > 0).sort("node", "port")
    assert of_ports.rows() == counted.drop("dropped_packets").rows()
    dropped = found.filter(pl.col("event") == "dropped")
    assert dropped["time_ps"].unique().to_list() == [20_000_000]
    assert 0 < dropped.height < found.height


def test_who_asks_for_none_has_none(incast: rocelab.Result, tmp_path: Path) -> None:
    assert incast.traces == {}
    incast.save(tmp_path / "out")
    assert not (tmp_path / "out" / "traces").exists()
    assert "[trace]" not in incast.scenario_toml
    with pytest.raises(rocelab.ResultError, match=r"(?s)no trace of PFC frames.*pfc = true"):
        incast.plot.pauses()


def test_a_directory_has_them_and_gives_them_back(
    traced: rocelab.Result, incast: rocelab.Result, tmp_path: Path
) -> None:
    out = traced.save(tmp_path / "out")
    names = sorted(path.name for path in (out / "traces").iterdir())
    assert names == ["packets.parquet", "pfc.parquet"]
    before = [(out / "traces" / name).read_bytes() for name in names]
    read = rocelab.open(out)
    for name, table in traced.traces.items():
        assert read.traces[name].to_polars().equals(table.to_polars())
    again = rocelab.run(read.scenario, threads=2).save(out, force=True)
    assert [(again / "traces" / name).read_bytes() for name in names] == before
    # Another result takes their place.
    incast.save(out, force=True)
    assert not (out / "traces").exists()
    assert rocelab.open(out).traces == {}


def test_results_of_older_versions_have_none(incast: rocelab.Result, tmp_path: Path) -> None:
    out = incast.save(tmp_path / "out")
    summary = json.loads((out / "summary.json").read_text())
    del summary["traces"], summary["checksums"]
    summary["schema"] = 1
    (out / "summary.json").write_text(json.dumps(summary))
    with pytest.warns(rocelab.UnverifiedResultWarning):
        assert rocelab.open(out).traces == {}


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (None, "traces/pfc.parquet: cannot read: No such file or directory"),
        (b"PAR1", "traces/pfc.parquet: cannot read: "),
        ("flows.parquet", "traces/pfc.parquet: damaged: has no column time_ps, node, port"),
    ],
)
def test_damaged_traces_are_told(
    command: Command,
    traced: rocelab.Result,
    tmp_path: Path,
    damage: bytes | str | None,
    words: str,
) -> None:
    out = traced.save(tmp_path / "out")
    file = out / "traces" / "pfc.parquet"
    content = (out / damage).read_bytes() if isinstance(damage, str) else damage
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
        reseal(out)
    done = command("plot", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) <= 2
    assert words in done.stderr


def test_pauses_are_drawn_in_the_order_in_which_they_began(
    traced: rocelab.Result, tmp_path: Path
) -> None:
    drawn = traced.plot.pauses()
    assert_picture(rocelab.plot.save(drawn, tmp_path / "pauses"))
    (axes,) = drawn.axes
    pfc = traced.traces["pfc"].to_polars()
    first = pfc.group_by("node").agg(pl.col("time_ps").min()).sort("time_ps", "node")
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == [f"{node}:s0" for node in first["node"]]
    # The bars are as long as the ports counted.
    ports = traced.ports.to_polars()
    for collection, node in zip(axes.collections, first["node"], strict=True):
        spans = [path.get_extents() for path in collection.get_paths()]
        paused_us = sum(span.width for span in spans)
        counted = ports.filter(node=node)["paused_ns"].item() / 1000
        assert paused_us == pytest.approx(counted, abs=0.001)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Time (µs)", "Paused")
    both = rocelab.plot.pauses([traced, traced], nodes=["h0"])
    assert len(both.axes[0].get_yticklabels()) == 2
    with pytest.raises(rocelab.ResultError, match="no pause to draw"):
        traced.plot.pauses(nodes=["h2"])


def test_a_trace_that_ends_early_draws_no_further(traced: rocelab.Result) -> None:
    scenario = traced.scenario.with_settings(trace__end="60us")
    (axes,) = rocelab.run(scenario).plot.pauses().axes
    assert axes.get_xlim()[1] == pytest.approx(60)


def test_the_gallery_has_them(
    traced: rocelab.Result, incast: rocelab.Result, tmp_path: Path
) -> None:
    paths, left_out = plot_all([traced], tmp_path)
    assert "pfc.png" in {path.name for path in paths}
    assert left_out == []
    both = {"traced": traced, "incast": incast}
    paths, left_out = plot_all(both, tmp_path)
    assert "pfc.png" not in {path.name for path in paths}
    assert "incast: no trace of PFC frames, so pfc is not drawn" in left_out


def test_what_was_never_paused_is_named(traced: rocelab.Result, tmp_path: Path) -> None:
    calm = rocelab.run(
        traced.scenario.with_settings(switch__buffer="20MB", pfc__xoff="5MB", pfc__xon="4MB")
    )
    assert not len(calm.traces["pfc"])
    drawn = rocelab.plot.pauses({"traced": traced, "calm": calm})
    assert "calm: no pause is drawn" in drawn.get_supxlabel()
    assert plot_all({"traced": traced, "calm": calm}, tmp_path)[1] == [
        "calm: no traced pause, so not in pfc"
    ]
    assert plot_all({"calm": calm}, tmp_path)[1] == ["calm: no traced pause, so pfc is not drawn"]


def test_of_a_trace_that_ends_before_the_first_pause_nobody_says_that_there_was_none(
    traced: rocelab.Result, tmp_path: Path
) -> None:
    early = rocelab.run(traced.scenario.with_settings(trace__end="100ns"))
    assert early.summary.pause_frames
    assert plot_all({"early": early}, tmp_path)[1] == [
        "early: no traced pause, so pfc is not drawn"
    ]
    with pytest.raises(rocelab.ResultError, match="no PFC frame was traced in early"):
        rocelab.plot.pauses({"early": early})


def test_the_command_line_records_them(command: Command, incast_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    args = ("--set", "trace.pfc=true", "--set", 'trace.packets=["s0"]', "--out", out)
    done = command("run", incast_file, *args)
    assert done.returncode == 0, done.stderr
    packets = pl.read_parquet(out / "traces" / "packets.parquet")
    assert {"received", "enqueued", "dequeued"} <= set(packets["event"])
    done = command("run", incast_file, "--set", 'trace.packets=["sw0"]')
    assert done.returncode == 2
    assert "trace.packets.0: unknown node `sw0`" in done.stderr


def test_a_capture_that_cannot_be_written_is_one_kind_of_error(
    traced: rocelab.Result, tmp_path: Path
) -> None:
    """Whether it comes from a run, from a file or from a pickle, the target is to blame."""
    result = rocelab.run(traced.scenario.with_settings(trace__capture=True))
    opened = rocelab.open(result.save(tmp_path / "out"))
    pickled = pickle.loads(pickle.dumps(result))  # noqa: S301
    for one in (result, opened, pickled):
        with pytest.raises(rocelab.ResultError, match=r"^/dev/full: cannot write: No space left"):
            one.write_capture("/dev/full")
        one.write_capture(tmp_path / "capture")
        assert (tmp_path / "capture").read_bytes() == result.capture
    with pytest.raises(rocelab.ResultError, match="the run has no capture") as caught:
        traced.write_capture(tmp_path / "none")
    assert "trace.capture = true" in str(caught.value)
    assert not (tmp_path / "none").exists()


def test_a_capture_is_kept_with_the_result(
    command: Command, traced: rocelab.Result, tmp_path: Path
) -> None:
    assert traced.capture is None
    result = rocelab.run(traced.scenario.with_settings(trace__capture=True))
    assert result.summary["digest"] == traced.summary["digest"]
    capture = result.capture
    assert capture is not None
    assert capture[:4] == b"\x0a\x0d\x0d\x0a"
    out = result.save(tmp_path / "out")
    assert (out / "traces" / "packets.pcapng").read_bytes() == capture
    read = rocelab.open(out)
    assert read.capture == capture
    # A result that is copied keeps it, one that takes its place without loses it.
    assert pickle.loads(pickle.dumps(result)).capture == capture  # noqa: S301
    copy = read.save(tmp_path / "copy")
    assert (copy / "traces" / "packets.pcapng").read_bytes() == capture
    traced.save(out, force=True)
    assert rocelab.open(out).capture is None
    done = command(
        "run", out / "scenario.toml", "--set", "trace.packets=[]", "--set", "trace.capture=true"
    )
    assert done.returncode == 2
    assert "trace.capture: needs nodes" in done.stderr
