"""What pictures say of the runs that they show."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rocelab
from conftest import INCAST, Command, reseal
from pictures import legend_texts
from rocelab.plot.footnotes import failures_in_words, receivers_in_words
from rocelab.report import write_report
from rocelab.report.charts import of_results
from rocelab.scenario import MAX_TAGS
from rocelab.sweeps.metrics import known_metrics
from rocelab.view import write_view
from rocelab.view.data import collect

CUT = "nothing was recorded from 12 µs on."


@pytest.fixture(scope="module")
def cut() -> rocelab.Result:
    """A run that had room for no more than its first samples."""
    scenario = rocelab.Scenario.from_toml(INCAST)
    return rocelab.run(scenario.with_settings(run__max_samples=16))


def said(drawn: object) -> str:
    """What stands below a picture, in one line."""
    return " ".join(drawn.get_supxlabel().split())  # type: ignore[attr-defined]


def test_a_series_that_was_cut_off_does_not_look_like_its_end(
    cut: rocelab.Result, incast: rocelab.Result, tmp_path: Path, command: Command
) -> None:
    (warning,) = (one for one in cut.warnings if "max_samples" in one)
    assert "nothing from 12us on" in warning
    assert f"N{CUT[1:]}" in said(cut.plot.queue())
    assert f"cut: {CUT}" in said(rocelab.plot.throughput({"cut": cut, "whole": incast}))
    assert "recorded" not in said(incast.plot.queue())
    # A table of flows has all of them.
    assert "recorded" not in said(cut.plot.fct())
    assert cut.summary.recording_stopped_ps == 12_000_000
    assert incast.summary.recording_stopped_ps is None
    cut.save(tmp_path / "cut")
    done = command("plot", tmp_path / "cut", "--out", tmp_path / "plots")
    assert f"warning: N{CUT[1:]}" in done.stderr


def test_a_result_of_an_older_version_has_it_in_a_warning(
    cut: rocelab.Result, tmp_path: Path
) -> None:
    out = cut.save(tmp_path / "old")
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    del summary["recording_stopped_ps"]
    (out / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    reseal(out)
    assert rocelab.open(out).summary.recording_stopped_ps == 12_000_000


@pytest.fixture(scope="module")
def failing() -> rocelab.Result:
    """A run in which a link fails, one slows down and one damages packets."""
    faults = [
        {"link": "leaf0:spine0", "at": "300us", "until": "700us"},
        {"link": "leaf1:spine0", "at": "400us", "rate": "25Gbps"},
        {"link": "leaf2:spine0", "at": "500us", "error_rate": 1e-5},
        {"link": "leaf0:spine1", "at": "9s"},
    ]
    probe = [{"preset": "view"}]
    return rocelab.run(rocelab.example("failing-link").with_settings(failure=faults, probe=probe))


def test_pictures_and_the_page_say_which_links_failed_and_when(
    failing: rocelab.Result, tmp_path: Path
) -> None:
    words = (
        "leaf0:spine0 failed from 300 µs to 700 µs; leaf1:spine0 at 25 Gb/s from 400 µs on; "
        "leaf2:spine0 damaged packets with probability 1e-05 from 500 µs on"
    )
    assert failures_in_words(failing) == words, "what begins after the end never happened"
    for drawn in (failing.plot.fct(), failing.plot.queue(), failing.plot.balance()):
        assert f"Links: {words}." in said(drawn)
    series = [one.text for one in of_results([("", failing)]) if "over time" in one.text]
    assert series
    assert all(f"Links: {words}." in text for text in series)
    write_view(failing.save(tmp_path / "run"), tmp_path / "view.html")
    assert words in (tmp_path / "view.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def stalling() -> rocelab.Result:
    """A run in which one host takes nothing for a while, and others are slow to the end."""
    receivers = [
        {"hosts": ["h0"], "rate": "0bps", "at": "200us", "until": "2200us"},
        {"hosts": ["h1..h2", "h5"], "rate": "10Gbps", "at": "1ms"},
        {"hosts": ["h9"], "rate": "0bps", "at": "9s"},
    ]
    probe = [{"preset": "view"}]
    return rocelab.run(
        rocelab.example("pause-storm").with_settings(receiver=receivers, probe=probe)
    )


def test_pictures_and_pages_say_which_hosts_took_data_slowly_and_when(
    stalling: rocelab.Result, tmp_path: Path
) -> None:
    words = "h0 took no data from 200 µs to 2.2 ms; h1..h2, h5 took data at 10 Gb/s from 1 ms on"
    assert receivers_in_words(stalling) == words, "what begins after the end never happened"
    for drawn in (stalling.plot.fct(), stalling.plot.queue(), stalling.plot.balance()):
        assert f"Receivers: {words}." in said(drawn)
    series = [one.text for one in of_results([("", stalling)]) if "over time" in one.text]
    assert series
    assert all(f"Receivers: {words}." in text for text in series)
    out = stalling.save(tmp_path / "run")
    write_view(out, tmp_path / "view.html")
    assert words in (tmp_path / "view.html").read_text(encoding="utf-8")
    write_report([out], tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"<dt>receivers</dt><dd>{words}</dd>" in report


def test_the_page_of_a_run_has_its_faults_of_links_and_hosts(
    failing: rocelab.Result, stalling: rocelab.Result
) -> None:
    data = collect(failing).data
    names = [(data["nodes"][a]["name"], data["nodes"][b]["name"]) for a, b, *_ in data["ports"]]
    down, slow, lossy, late = data["faults"]
    assert (down["kind"], down["begin"], down["end"]) == ("down", 300, 700)
    assert down["text"] == "leaf0:spine0 failed from 300 µs to 700 µs"
    ends = {("leaf0", "spine0"), ("spine0", "leaf0")}
    assert {names[port] for port in down["ports"]} == ends
    assert (slow["kind"], slow["begin"], slow["end"]) == ("impaired", 400, None)
    assert (lossy["kind"], late["kind"]) == ("impaired", "down")
    data = collect(stalling).data
    hosts = [data["nodes"][one["node"]]["name"] for one in data["faults"]]
    assert hosts == ["h0", "h1", "h2", "h5", "h9"], "patterns stand for their hosts"
    first, second, *_ = data["faults"]
    assert (first["kind"], first["begin"], first["end"]) == ("receiver", 200, 2200)
    assert second["text"] == "h1 took data at 10 Gb/s from 1 ms on"
    (port,) = first["ports"]
    assert data["ports"][port][1] == first["node"], "the port that sends to the host"


def test_pictures_of_a_sweep_say_what_all_of_its_runs_had(tmp_path: Path) -> None:
    made = rocelab.example("failing-link").with_settings(traffic__0__size="100KB")
    done = rocelab.sweep(made, {"scheme": ["hpcc", "none"]}, out=tmp_path / "same", progress=False)
    failed = "Links: leaf0:spine0 failed from 3 µs on."
    failure = {"link": "leaf0:spine0", "at": "3us"}
    assert failed not in said(done.plot("slowdown_mean"))
    failing = made.with_settings(failure=[failure])
    over = {"scheme": ["hpcc", "none"], "host.latency": ["0ns", "100ns"]}
    done = rocelab.sweep(failing, over, out=tmp_path / "failing", progress=False)
    assert failed in said(done.plot("slowdown_mean"))
    write_report([tmp_path / "failing"], tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"<dt>links</dt><dd>{failed[7:-1]}</dd>" in report


def test_failures_of_some_results_are_said_with_their_names(failing: rocelab.Result) -> None:
    whole = rocelab.run(failing.scenario.with_settings(failure=[]))
    assert "Links" not in said(whole.plot.fct())
    assert "Links of broken: leaf0:spine0 failed" in said(
        rocelab.plot.queue({"broken": failing, "whole": whole})
    )
    assert "Links: leaf0:spine0 failed" in said(rocelab.plot.fct({"a": failing, "b": failing}))


def tagged(count: int, tags: int) -> rocelab.Scenario:
    """``count`` small flows to one host, with ``tags`` tags."""
    flows = [
        {"kind": "flows", "tag": f"t{tag}", "flows": [flow] * (count // tags)}
        for flow in ({"src": "h0", "dst": "h1", "size": "1KB"},)
        for tag in range(tags)
    ]
    topology = {"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"}
    return rocelab.Scenario(topology=topology, traffic=flows)


def test_flows_outside_of_the_chosen_part_have_not_failed(incast: rocelab.Result) -> None:
    assert incast.summary.flows_done == incast.summary.flows
    for draw in (incast.plot.fct, incast.plot.tags):
        with pytest.raises(
            rocelab.ResultError, match=r"no completed flow that starts from 1 ms to the end"
        ):
            draw(start="1ms")


def test_with_too_many_tags_the_number_of_tags_is_the_reason() -> None:
    """A metric of theirs is refused before the runs, and not after them."""
    many, fits = tagged(MAX_TAGS + 1, MAX_TAGS + 1), tagged(MAX_TAGS, MAX_TAGS)
    assert rocelab.run(fits).summary.by_tag
    result = rocelab.run(many)
    assert not result.summary.by_tag
    with pytest.raises(rocelab.ResultError, match="257 tags, and up to 256 have"):
        result.plot.fct_by_tag()
    assert "t0.jain" in [one.name for one in known_metrics(fits)]
    assert "t0.jain" not in [one.name for one in known_metrics(many)]


def assert_apart(texts: list[Any]) -> None:
    """None of ``texts`` lies on another."""
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    for at, one in enumerate(boxes):
        for other in boxes[:at]:
            assert not one.overlaps(other), (one, other)


@pytest.mark.parametrize("size", [None, (7.0, 3.0)])
def test_of_many_tags_those_with_room_are_drawn(size: tuple[float, float] | None) -> None:
    result = rocelab.run(tagged(100, 100))
    drawn = result.plot.tags(size=size)
    drawn.draw_without_rendering()
    (axes,) = drawn.axes
    labels = axes.get_xticklabels()
    assert_apart(labels)
    names = [text.get_text() for text in labels]
    assert axes.get_title("left") == f"the {len(names)} slowest of 100"
    assert len(names) == (20 if size is None else 46)
    flows = result.flows.to_polars().sort("slowdown", descending=True)
    assert set(names) <= set(flows.filter(pl.col("slowdown") >= flows["slowdown"][45])["tag"])


def test_notes_on_unfinished_tags_are_legible() -> None:
    result = rocelab.run(tagged(1_100, 11).with_settings(run__stop="7us"))
    drawn = result.plot.tags()
    drawn.draw_without_rendering()
    (axes,) = drawn.axes
    assert {text.get_text() for text in axes.texts} == {"0 of 100 done"}
    assert len(axes.texts) >= 8
    assert_apart(list(axes.texts))
    many = rocelab.run(tagged(6_000, 60).with_settings(run__stop="7us"))
    assert "Not drawn: 40 more tags of which no flow is done." in said(many.plot.tags())


def test_y_labels_fit_into_panels_of_a_chosen_size(spread: rocelab.Result) -> None:
    for drawn, shared, own in (
        (spread.plot.fct_by_tag(size=(7, 3)), "Slowdown", ["p50", "p95", "p99"]),
        (rocelab.plot.queue([spread, spread], size=(7, 3)), "Queue length (KB)", [""] * 4),
    ):
        drawn.draw_without_rendering()
        assert drawn.get_supylabel() == shared
        assert [axes.get_ylabel() for axes in drawn.axes] == own
        assert_apart([axes.yaxis.label for axes in drawn.axes])
    assert spread.plot.fct_by_tag().get_supylabel() == ""


@pytest.fixture(scope="module")
def spread() -> rocelab.Result:
    """Flows of two tags and several sizes, and the queues of four ports."""
    flows = [
        {"kind": "flows", "tag": tag, "flows": [{"src": "h0", "dst": to, "size": size}]}
        for tag in ("a", "b")
        for to in ("h1", "h2", "h3", "h4")
        for size in ("1KB", "10KB", "100KB", "200KB")
    ]
    probe = {"name": "queue", "kind": "queue", "interval": "1us", "nodes": ["*"]}
    topology = {"kind": "star", "hosts": 5, "host_rate": "100Gbps", "host_delay": "1us"}
    more = {"kind": "incast", "tag": "a", "senders": 3, "receiver": "h4", "size": "100KB"}
    return rocelab.run(rocelab.Scenario(topology=topology, traffic=[*flows, more], probe=[probe]))


def test_letters_that_no_font_has_are_named(
    incast: rocelab.Result, tmp_path: Path, command: Command
) -> None:
    """Two words of equal length would look alike, as boxes."""
    unknown = "\U0001f680"
    labels = {f"{unknown} one": incast, "β µ → é": incast}
    drawn = rocelab.plot.queue(labels)
    with pytest.warns(rocelab.MissingGlyphWarning, match=f"in place of {unknown}: no font") as told:
        rocelab.plot.save(drawn, tmp_path / "queue", "png")
    assert len(told) == 1
    rocelab.run(incast.scenario.with_settings(traffic__0__tag=unknown)).save(tmp_path / "run")
    done = command("plot", tmp_path / "run", "--out", tmp_path)
    assert done.stderr.count("warning: pictures have boxes") == 1


def test_letters_of_usual_labels_have_a_font(incast: rocelab.Result, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rocelab.plot.save(rocelab.plot.queue({"β µ → é…\n": incast}), tmp_path / "queue")


def test_a_result_with_an_empty_label_has_its_line_in_the_legend(incast: rocelab.Result) -> None:
    assert legend_texts(rocelab.plot.queue({"": incast, "b": incast})) == ['""', "b"]
    assert legend_texts(rocelab.plot.fct({" ": incast, "b": incast})) == ['" "', "b"]
