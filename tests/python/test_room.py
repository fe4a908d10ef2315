"""Packets find room: buffers hold a packet, and receivers what arrives after their pause."""

from __future__ import annotations

from typing import Any

import pytest

import rocelab
from rocelab import ConfigError

Table = dict[str, Any]

SPINES: Table = {
    "kind": "leaf-spine",
    "leaves": 2,
    "spines": 2,
    "hosts_per_leaf": 2,
    "host_rate": "100Gbps",
    "host_delay": "1us",
    "rate": "100Gbps",
    "delay": "1us",
}


def flow(size: str) -> list[Table]:
    return [{"kind": "flows", "flows": [{"src": "h0", "dst": "h2", "size": size}]}]


def scenario(**tables: Any) -> rocelab.Scenario:  # noqa: ANN401 - tables of a scenario
    return rocelab.Scenario(**({"topology": SPINES, "traffic": flow("5KB")} | tables))


# What no packet of a message fits into, where the message is lossy or its class is lossless.
TOO_SMALL: list[tuple[Table, str]] = [
    ({"pfc": {"enabled": False}, "switch": {"buffer": "1097B"}}, "switch.buffer"),
    ({"classes": {"data": 0}, "switch": {"lossy_alpha": 2e-5}}, "switch.lossy_alpha"),
    (
        {"classes": {"data": 0, "settings": [{"priority": 0, "lossy_alpha": 2e-5}]}},
        "classes.settings",
    ),
    ({"classes": {"data": 0}, "switch": {"buffer": "130KB"}}, "switch.buffer"),
    ({"pfc": {"headroom": "0B", "xoff": "1000B"}}, "switch.buffer"),
    (
        {
            "pfc": {"enabled": False},
            "receiver": [{"hosts": ["h2"], "rate": "9Gbps", "buffer": "1097B"}],
        },
        "receiver",
    ),
    (
        {
            "pfc": {"enabled": False},
            "switch": {"architecture": "cioq", "output_queue": "1097B"},
        },
        "switch",
    ),
]


@pytest.mark.parametrize(("tables", "key"), TOO_SMALL)
def test_messages_that_never_fit_are_refused(tables: Table, key: str) -> None:
    with pytest.raises(ConfigError, match="never completes") as refused:
        rocelab.run(scenario(**tables), threads=1)
    assert str(refused.value).startswith(f"{key}: ")
    assert "1098B" in str(refused.value)


@pytest.mark.parametrize(("size", "packet"), [("100B", 198), ("1KB", 1098)])
def test_messages_that_just_fit_complete(size: str, packet: int) -> None:
    # The first packet has 82 B of headers, a RETH of 16 B, and the payload.
    result = rocelab.run(
        scenario(
            traffic=flow(size),
            pfc={"enabled": False},
            switch={"buffer": f"{packet}B"},
        ),
        threads=1,
    )
    assert result.summary.flows_done == 1


def test_all_links_of_a_host_fill_its_receive_buffer() -> None:
    """After its pause, what is on all four links still arrives, and PFC protects it."""

    def slow(buffer: str) -> rocelab.Scenario:
        keeps = {"recovery": "selective-repeat", "in_flight": "unlimited"}
        return rocelab.Scenario(
            topology={**SPINES, "planes": 4},
            traffic=flow("2MB"),
            host={**keeps, "ports": "spray"},
            receiver=[{"hosts": ["h2"], "rate": "10Gbps", "buffer": buffer, "xoff": "1KB"}],
        )

    with pytest.raises(ConfigError, match="up to 216692B may still arrive at h2"):
        slow("200KB")
    assert rocelab.run(slow("218KB"), threads=1).summary.lossless_drops == 0
