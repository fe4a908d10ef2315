"""The congestion region of RCM as a picture."""

from __future__ import annotations

import pytest
from matplotlib.text import Annotation

import rocelab
from rocelab.errors import ResultError


def _incast(scheme: str) -> rocelab.Result:
    return rocelab.run(_scenario(scheme))


def _scenario(scheme: str) -> rocelab.Scenario:
    return rocelab.Scenario(
        topology={
            "kind": "leaf-spine",
            "leaves": 3,
            "spines": 2,
            "hosts_per_leaf": 3,
            "host_rate": "100Gbps",
            "host_delay": "1us",
            "rate": "100Gbps",
            "delay": "1us",
        },
        scheme={"name": scheme},
        traffic=[{"kind": "incast", "senders": 6, "receiver": "h0", "size": "200KB"}],
        probe=[
            {"name": "state", "kind": "port-state", "nodes": ["leaf*"], "interval": "1us"},
        ],
        run={"stop": "60us"},
    )


def test_the_root_is_where_the_incast_ends() -> None:
    result = _incast("rcm")
    states = result.series["state"].to_polars()
    ports = result.ports.to_polars().select("node", "port", "peer")
    roots = states.join(ports, on=["node", "port"]).filter(states["port_state"] == 1.0)
    assert "h0" in roots["peer"].to_list()
    drawn = result.plot.region(30.0)
    legend = drawn.axes[0].get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert [word.split(" ")[0] for word in words] == ["root", "inner", "edge"]
    assert words[0] != "root (0)"
    assert "30 µs" in drawn.axes[0].get_title()
    note = drawn.get_supxlabel().replace("\n", " ")
    assert note == f"rcm (rcm): {result.summary['caveat']}"
    for time_us in (-1.0, 61.0, float("nan")):
        with pytest.raises(ResultError) as caught:
            result.plot.region(time_us)
        assert str(caught.value) == (
            f"no region to draw at {time_us:g} us\n"
            "hint: probes of kind port-state saw nothing before 0 us, and the run ended at 60 us"
        )


def test_hosts_are_at_the_bottom_also_with_several_ports() -> None:
    """A host with a port in each plane is no switch, and a switch with one link no host."""
    scenario = _scenario("rcm").with_settings(
        **{"topology.planes": 2, "probe.0.nodes": ["plane0/leaf*"]}
    )
    drawn = rocelab.run(scenario).plot.region(30.0)
    heights: dict[str, set[float]] = {}
    for text in drawn.axes[0].texts:
        # Arrows are annotations without a text.
        if isinstance(text, Annotation) and text.get_text():
            name = text.get_text().split("/")[-1].rstrip("0123456789")
            heights.setdefault(name, set()).add(text.xy[1])
    assert heights == {"h": {0.0}, "leaf": {1.0}, "spine": {2.0}}


def test_other_schemes_have_no_region() -> None:
    with pytest.raises(ResultError, match="none has no congestion region"):
        _incast("none").plot.region(30.0)
