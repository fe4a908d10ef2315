"""What pictures say of the runs that they show."""

from __future__ import annotations

from pathlib import Path

import pytest

import rocelab
from conftest import INCAST, Command
from rocelab.plot.footnotes import failures_in_words
from rocelab.scenario import MAX_TAGS
from rocelab.sweeps.metrics import known_metrics
from rocelab.view import write_view

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
    cut.save(tmp_path / "cut")
    done = command("plot", tmp_path / "cut", "--out", tmp_path / "plots")
    assert f"warning: N{CUT[1:]}" in done.stderr


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
    write_view(failing.save(tmp_path / "run"), tmp_path / "view.html")
    assert words in (tmp_path / "view.html").read_text(encoding="utf-8")


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
