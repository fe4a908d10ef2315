"""The times of PFC: how fast a pause takes hold, how long it lasts, and the watchdog."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rocelab
from conftest import Command

SLOW = {"hosts": ["h0"], "rate": "0bps", "buffer": "500KB"}
"""A NIC that takes nothing: it pauses its link and never resumes it."""


CIOQ: dict[str, Any] = {"architecture": "cioq", "input_queue": "1MB"}

SWITCHES = pytest.mark.parametrize("switch", [{}, CIOQ], ids=["shared", "cioq"])
"""Of either architecture. The storm fills the queues of the output and those of the inputs."""


def star(pfc: dict[str, Any] | None = None, **settings: Any) -> rocelab.Scenario:  # noqa: ANN401
    """Two senders to a receiver that stalls, and one to another that does not."""
    return rocelab.Scenario(
        topology={"kind": "star", "hosts": 5, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme="none",
        run={"stop": "2ms"},
        pfc=pfc or {},
        **{
            "receiver": [SLOW],
            "traffic": [
                {
                    "kind": "flows",
                    "tag": "stalled",
                    "flows": [
                        {"src": "h1", "dst": "h0", "size": "20MB"},
                        {"src": "h2", "dst": "h0", "size": "20MB"},
                    ],
                },
                {
                    "kind": "flows",
                    "tag": "victim",
                    "flows": [{"src": "h1", "dst": "h3", "size": "2MB", "start": "300us"}],
                },
            ],
            **settings,
        },
    )


def pauses(result: rocelab.Result, node: str) -> pl.DataFrame:
    return result.ports.to_polars().filter(pl.col("node") == node)


def test_a_receiver_has_room_for_what_arrives_in_the_response_time() -> None:
    """Buffers of a slow receiver are refused if data could be dropped in spite of PFC."""
    receiver = [SLOW | {"buffer": "120KB", "xoff": "60KB"}]
    result = rocelab.run(star(receiver=receiver))
    assert result.summary["drops"] == 0
    with pytest.raises(rocelab.ConfigError, match="120KB is too small: after the pause"):
        rocelab.run(star({"response": "20us"}, receiver=receiver))
    result = rocelab.run(star({"response": "20us"}, receiver=[receiver[0] | {"buffer": "365KB"}]))
    assert result.summary["drops"] == 0


def test_a_receiver_may_be_slow_several_times() -> None:
    """It begins each time with an empty buffer, and is as fast as its link in between."""
    times = [("200us", "300us", "0bps"), ("500us", None, "10Gbps"), ("300us", "320us", "0bps")]
    slow = [
        {"hosts": ["h0"], "rate": rate, "at": at, "xoff": "100KB"}
        | ({"until": until} if until else {})
        for at, until, rate in times
    ]
    result = rocelab.run(star(receiver=slow, trace={"pfc": True}))
    frames = result.traces["pfc"].to_polars().filter(pl.col("node") == "s0", pl.col("port") == 0)
    pauses, resumes = (frames.filter(pause=state)["time_ps"] / 1e6 for state in (True, False))
    # 100 KB take 8 us at 100 Gb/s; data and frames take a microsecond on the link.
    assert pauses[:3].to_list() == pytest.approx([209, 311, 510], abs=1)
    assert resumes[:2].to_list() == pytest.approx([301, 321], abs=0.1)
    assert len(pauses) > 10
    assert result.summary["lossless_drops"] == 0
    assert (
        rocelab.run(star(receiver=sorted(slow, key=str), trace={"pfc": True})).summary["digest"]
        == result.summary["digest"]
    )


def test_times_of_a_slow_receiver_do_not_overlap() -> None:
    for at, until in (("0us", None), ("0us", "201us"), ("250us", "260us"), ("299us", "1ms")):
        times: list[dict[str, Any]] = [{"at": "200us", "until": "300us"}, {"at": at}]
        times[1] |= {"until": until} if until else {}
        slow = [{"hosts": ["h0"], "rate": "1Gbps"} | one for one in times]
        with pytest.raises(
            rocelab.ConfigError, match=r"receiver\.1\.hosts: h0 has an entry for this"
        ):
            star(receiver=slow)


def test_a_receiver_has_room_for_what_is_not_handled_yet() -> None:
    """Data that arrives while the host handles what came before fills the buffer, too."""
    slow = {"host": {"latency": "20us"}}
    with pytest.raises(rocelab.ConfigError, match="154KB is too small: after the pause"):
        rocelab.run(star(receiver=[SLOW | {"buffer": "154KB", "xoff": "100KB"}], **slow))
    result = rocelab.run(star(receiver=[SLOW | {"buffer": "405KB", "xoff": "100KB"}], **slow))
    assert result.summary["drops"] == 0


def test_a_receiver_has_room_for_packets_of_any_size() -> None:
    """Each link may still deliver three: of the HPCC simulator's profile they may have 65,000 B."""
    long = {"wire": {"profile": "hpcc-ns3", "payload": "65000B"}}
    slow = SLOW | {"xoff": "100KB"}
    with pytest.raises(rocelab.ConfigError, match="200KB is too small: after the pause"):
        rocelab.run(star(receiver=[slow | {"buffer": "200KB"}], **long))
    result = rocelab.run(star(receiver=[slow | {"buffer": "323KB"}], **long))
    assert result.summary["drops"] == 0


def test_a_pause_that_protects_nothing_has_no_times() -> None:
    with pytest.raises(rocelab.ConfigError, match="has no effect with classes"):
        star({"pause_time": 100}, classes={"lossless": []}).plan()


@pytest.mark.parametrize("recovery", ["go-back-n", "selective-repeat"])
def test_a_sender_that_waits_to_send_again_has_no_timeouts(recovery: str) -> None:
    """The first takes all for lost that is on the way; there is nothing then that could be lost."""
    short = dict.fromkeys(("rto_low", "rto_high"), "100us")
    host = short if recovery == "selective-repeat" else {"retransmit_timeout": "100us"}
    stall = SLOW | {"until": "1500us"}
    made = star(
        {"xoff": "50KB", "xon": "40KB"}, receiver=[stall], host={"recovery": recovery, **host}
    )
    flows = rocelab.run(made).flows.to_polars().filter(pl.col("tag") == "stalled")
    assert flows["timeouts"].to_list() == [1, 1]


@SWITCHES
def test_a_pause_takes_hold_after_the_response_time(switch: dict[str, Any]) -> None:
    """The receiver gets what the link and the response time hold, and no more."""
    received = {}
    for response in ("0ns", "2us", "10us"):
        made = star({"response": response}, receiver=[SLOW | {"xoff": "100KB"}], switch=switch)
        ports = rocelab.run(made).ports.to_polars()
        row = ports.filter((pl.col("node") == "s0") & (pl.col("peer") == "h0"))
        received[response] = row["tx_bytes"][0]
    rate = 12_500  # bytes in a microsecond
    assert received["2us"] - received["0ns"] == pytest.approx(2 * rate, abs=1100)
    assert received["10us"] - received["0ns"] == pytest.approx(10 * rate, abs=1100)


@pytest.mark.parametrize("switch", [{"buffer": "16MB"}, CIOQ], ids=["shared", "cioq"])
def test_the_headroom_holds_what_arrives_in_the_response_time(switch: dict[str, Any]) -> None:
    made = star({"response": "802.3"}, switch=switch)
    result = rocelab.run(made)
    assert result.summary["pause_frames"] > 0
    assert result.summary["lossless_drops"] == 0


@SWITCHES
def test_a_pause_that_is_refreshed_lasts(switch: dict[str, Any]) -> None:
    """With 65535 quanta, 335.5 us at 100 Gb/s, a frame goes out each 168 us."""
    endless = rocelab.run(star(switch=switch))
    timed = rocelab.run(star({"pause_time": 65535}, switch=switch))
    # The receiver pauses at about 40 us of 2 ms, and refreshes until the end.
    link = {
        one: pauses(run, "h0")["pause_frames_sent"][0]
        for one, run in (("endless", endless), ("timed", timed))
    }
    assert link["endless"] == 1
    assert link["timed"] == 1 + int((2000 - 40) / 167.77)
    assert timed.summary["counters"]["pauses_expired"] == 0
    flows = "flow_id", "fct_ps"
    assert timed.flows.to_polars().select(flows).equals(endless.flows.to_polars().select(flows))


@SWITCHES
def test_a_pause_is_sent_again_with_each_packet_that_arrives(switch: dict[str, Any]) -> None:
    """The peer sends whenever a pause has ended, and each of its packets is one frame."""
    result = rocelab.run(
        star(
            {"pause_time": "20us", "refresh": "arrivals"},
            receiver=[SLOW | {"xoff": "100KB", "buffer": "10MB"}],
            switch=switch,
        )
    )
    link = result.ports.to_polars().filter((pl.col("node") == "s0") & (pl.col("peer") == "h0"))
    # Each is 1082 bytes; the 93rd fills 100 KB.
    packets = link["tx_bytes"][0] // 1082
    frames = pauses(result, "h0")["pause_frames_sent"][0]
    assert abs(frames - (packets - 92)) <= 1
    # A pause of 20 us, then a packet each 87 ns until the next frame, which takes 2 us and less
    # than two packets more.
    rounds = (2_000 - 10) / (20 + 2.2)
    assert frames == pytest.approx(rounds * 2.2e-6 * 100e9 / 8 / 1082, rel=0.1)
    assert link["paused_ns"][0] == pytest.approx(rounds * 20_000, rel=0.05)


@pytest.mark.parametrize("rate", ["25Gbps", "100Gbps"])
def test_a_pause_time_may_be_the_same_at_links_of_all_rates(rate: str) -> None:
    """The receiver's frames are lost from 100 us on."""
    made = star(
        {"pause_time": "30us"},
        receiver=[SLOW | {"xoff": "100KB"}],
        failure=[{"link": "h0:s0", "at": "100us", "error_rate": 1.0}],
        trace={"pfc": True},
    )
    result = rocelab.run(made.with_settings(topology__host_rate=rate))
    frames = result.traces["pfc"].to_polars().filter(node="s0", port=0)
    first_ps, last_ps = frames["time_ps"].min(), frames["time_ps"].max()
    assert isinstance(first_ps, int)
    assert isinstance(last_ps, int)
    switch = result.ports.to_polars().filter((pl.col("node") == "s0") & (pl.col("peer") == "h0"))
    assert switch["paused_ns"][0] == (last_ps - first_ps) // 1000 + 30_000


def test_a_pause_expires_if_its_frame_is_lost() -> None:
    """All frames of the receiver are lost from 100 us on: no pause outlasts its time."""
    made = star(
        {"pause_time": 10000},  # 51.2 us
        failure=[{"link": "h0:s0", "at": "100us", "error_rate": 1.0}],
    )
    result = rocelab.run(made)
    assert result.summary["counters"]["pauses_expired"] >= 1
    switch = result.ports.to_polars().filter((pl.col("node") == "s0") & (pl.col("peer") == "h0"))
    # Paused from about 20 us to at most 51.2 us after the last frame that arrived.
    assert switch["paused_ns"][0] <= (100 - 20 + 51.2) * 1000


@SWITCHES
@pytest.mark.parametrize("action", ["drop", "forward"])
def test_a_watchdog_frees_the_victims_of_a_storm(action: str, switch: dict[str, Any]) -> None:
    watched = {"detect": "100us", "restore": "500us", "action": action}
    pfcs: list[dict[str, Any]] = [{}, {"watchdog": watched}]
    storm, freed = (rocelab.run(star(pfc, switch=switch)) for pfc in pfcs)
    done = {
        name: dict(run.flows.to_polars().select("tag", "done").iter_rows())
        for name, run in (("storm", storm), ("freed", freed))
    }
    assert not done["storm"]["victim"], "h1's link is paused for the flow to h0"
    assert done["freed"]["victim"]
    assert freed.summary["counters"]["watchdog_storms"] >= 1
    assert (freed.summary["counters"]["watchdog_drops"] > 0) == (action == "drop")
    (warning,) = [text for text in freed.warnings if "pfc.watchdog found" in text]
    assert ("dropped" in warning) == (action == "drop")
    assert "paused for 100us (detect)" in warning
    assert "in the 500us (restore) that followed" in warning


@SWITCHES
def test_a_pause_ends_when_its_peer_resumes_whatever_the_watchdog_drops(
    switch: dict[str, Any],
) -> None:
    """A port counts as paused from the pause to the resume, not until packets are sent again."""
    watched = {"watchdog": {"detect": "100us", "restore": "500us", "action": "drop"}}
    result = rocelab.run(
        star(watched, switch=switch, receiver=[SLOW | {"until": "300us"}], trace={"pfc": True})
    )
    assert result.summary["counters"]["watchdog_storms"] == 1
    frames = result.traces["pfc"].to_polars().filter(pl.col("node") == "s0", pl.col("peer") == "h0")
    assert frames["pause"].to_list() == [True, False]
    paused_ps, resumed_ps = frames["time_ps"]
    row = pauses(result, "s0").filter(pl.col("peer") == "h0")
    assert row["paused_ns"][0] == (resumed_ps - paused_ps) // 1000


def test_the_summary_tells_what_the_watchdog_dropped(command: Command, tmp_path: Path) -> None:
    watched = {"watchdog": {"detect": "100us", "restore": "500us", "action": "drop"}}
    (tmp_path / "s.toml").write_text(star(watched).to_toml())
    told = command("run", "s.toml", cwd=tmp_path).stdout
    assert re.search(r"drops +[0-9,]+ \(0 in lossless classes, [0-9,]+ more by the PFC watch", told)


def test_a_watchdog_leaves_short_pauses_alone() -> None:
    busy = {"hosts": ["h0"], "rate": "20Gbps", "buffer": "500KB"}
    quiet, watched = (
        rocelab.run(star(pfc, receiver=[busy])) for pfc in ({}, {"watchdog": {"detect": "1ms"}})
    )
    assert watched.summary["counters"]["watchdog_storms"] == 0
    assert watched.summary["digest"] == quiet.summary["digest"]


def test_a_host_pauses_its_link_again_after_a_repair() -> None:
    made = rocelab.Scenario(
        topology={
            "kind": "custom",
            "nodes": [
                {"name": "a", "kind": "host"},
                {"name": "b", "kind": "host"},
                {"name": "s", "kind": "switch"},
                {"name": "t", "kind": "switch"},
            ],
            "links": [
                {"a": "a", "b": "s", "rate": "100Gbps", "delay": "1us"},
                {"a": "b", "b": "s", "rate": "100Gbps", "delay": "1us"},
                {"a": "b", "b": "t", "rate": "100Gbps", "delay": "1us"},
                {"a": "s", "b": "t", "rate": "100Gbps", "delay": "1us"},
            ],
        },
        scheme="none",
        run={"stop": "1ms"},
        receiver=[{"hosts": ["b"], "rate": "0bps"}],
        failure=[{"link": "b:s", "at": "300us", "until": "400us"}],
        traffic=[{"kind": "flows", "flows": [{"src": "a", "dst": "b", "size": "50MB"}]}],
    )
    result = rocelab.run(made)
    # Both of its links when its buffer filled, and the repaired one again.
    assert pauses(result, "b")["pause_frames_sent"].sum() == 3
    assert result.summary["lossless_drops"] == 0


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_change_nothing(threads: int) -> None:
    made = rocelab.example("pause-storm").with_settings(
        pfc={
            "response": "500ns",
            "pause_time": 2000,
            "watchdog": {"detect": "50us", "restore": "80us"},
        }
    )
    one = rocelab.run(made, threads=1)
    assert rocelab.run(made, threads=threads).summary["digest"] == one.summary["digest"]


@pytest.mark.parametrize(
    ("pfc", "error"),
    [
        ({"refresh": "1us"}, "pfc.refresh: has no effect without pfc.pause_time"),
        ({"pause_time": 0}, "pfc.pause_time: must be above zero"),
        ({"pause_time": "0us"}, "pfc.pause_time: must be above zero"),
        (
            {"pause_time": 70_000},
            "pause_time: needs a number of quanta, 1 to 65535, or a time",
        ),
        (
            {"pause_time": "long"},
            "pause_time: needs a number of quanta, 1 to 65535, or a time",
        ),
        ({"pause_time": "9us", "refresh": "departures"}, 'needs "arrivals" or a quantity'),
        ({"pause_time": 100, "refresh": "1us"}, "pfc.refresh: a pause is sent again after 1us"),
        ({"pause_time": 300}, "ends before the queue can have seen it"),
        ({"watchdog": {"detect": "0us"}}, "pfc.watchdog.detect: must be above zero"),
        ({"enabled": False, "response": "1us"}, "has no effect with pfc.enabled = false"),
    ],
)
def test_errors_name_the_place_and_a_fix(pfc: dict[str, Any], error: str) -> None:
    with pytest.raises(rocelab.ConfigError, match=error):
        star(pfc, receiver=[])


def test_the_standard_has_no_bound_for_some_rates() -> None:
    with pytest.raises(
        rocelab.ConfigError, match="no bound that is known here for links of 50Gbps"
    ):
        rocelab.Scenario(
            topology={"kind": "star", "hosts": 3, "host_rate": "50Gbps", "host_delay": "1us"},
            scheme="none",
            pfc={"response": "802.3"},
            traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "1KB"}]}],
        )
