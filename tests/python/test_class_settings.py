"""``[[classes.settings]]``: marking and buffer shares of single traffic classes."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rocelab

ECN = {"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}


def incast(tag: str, priority: int, receiver: str, senders: list[str]) -> dict[str, Any]:
    return {
        "kind": "incast",
        "tag": tag,
        "priority": priority,
        "senders": senders,
        "receiver": receiver,
        "size": "2MB",
    }


def settings(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """``[classes]`` with these settings."""
    return {"lossless": [3, 4], "settings": entries}


def star(**tables: Any) -> rocelab.Scenario:  # noqa: ANN401 - tables of a scenario
    """Two incasts to two receivers, each in a class of its own."""
    return rocelab.Scenario(
        topology={"kind": "star", "hosts": 10, "host_rate": "100Gbps", "host_delay": "1us"},
        **{
            "scheme": "dcqcn",
            "ecn": ECN,
            "classes": {"lossless": [3, 4]},
            "switch": {"buffer": "32MB"},
            "traffic": [
                incast("one", 3, "h0", ["h2..h5"]),
                incast("other", 4, "h1", ["h6..h9"]),
            ],
            **tables,
        },
    )


def port(result: rocelab.Result, peer: str, column: str) -> int:
    ports = result.ports.to_polars()
    row = ports.filter((pl.col("node") == "s0") & (pl.col("peer") == peer))
    return int(row[column][0])


def test_a_class_is_marked_by_its_own_law() -> None:
    plain = rocelab.run(star())
    short = {"kmin": "5KB", "kmax": "5KB"}
    own = rocelab.run(star(classes=settings([{"priority": 4, "ecn": short}])))
    # The other class does not notice: it has ports of its own.
    assert port(own, "h0", "ecn_marked_packets") == port(plain, "h0", "ecn_marked_packets")
    assert port(own, "h0", "max_queue_bytes") == port(plain, "h0", "max_queue_bytes")
    marked = "ecn_marked_packets"
    assert port(own, "h1", marked) > port(plain, "h1", marked)


def test_a_class_is_not_marked() -> None:
    off = rocelab.run(star(classes=settings([{"priority": 4, "ecn": {"enabled": False}}])))
    assert port(off, "h1", "ecn_marked_packets") == 0
    assert port(off, "h0", "ecn_marked_packets") > 0


def test_only_a_class_is_marked() -> None:
    only = rocelab.run(
        star(
            ecn={"enabled": False},
            classes=settings([{"priority": 4, "ecn": ECN}]),
        )
    )
    assert port(only, "h0", "ecn_marked_packets") == 0
    assert port(only, "h1", "ecn_marked_packets") > 0
    assert not any("reacts to ECN marks" in warning for warning in only.summary["warnings"])


def test_a_law_for_all_classes_equals_the_law_of_each() -> None:
    each = [{"priority": one, "ecn": ECN} for one in (3, 4)]
    one_by_one = rocelab.run(star(ecn=ECN | {"kmin": "1KB", "kmax": "1KB"}, classes=settings(each)))
    assert one_by_one.summary["digest"] == rocelab.run(star()).summary["digest"]


def test_a_lossy_queue_takes_its_share_of_what_is_free() -> None:
    """A queue of length q fits if q <= alpha (B - q): at most B alpha / (1 + alpha)."""
    longest = {}
    for alpha in (0.25, 1.0):
        result = rocelab.run(
            star(
                scheme="none",
                pfc={"enabled": False},
                switch={"buffer": "4MB"},
                run={"stop": "200us"},
                host={"retransmit_timeout": "10ms"},
                traffic=[incast("other", 4, "h1", ["h6..h9"])],
                classes=settings([{"priority": 4, "lossy_alpha": alpha}]),
            )
        )
        longest[alpha] = port(result, "h1", "max_queue_bytes")
    assert longest[0.25] == pytest.approx(4e6 * 0.25 / 1.25, rel=0.01)
    assert longest[1.0] == pytest.approx(4e6 / 2, rel=0.01)


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ([{"priority": 9, "lossy_alpha": 1.0}], "classes.settings.0.priority"),
        ([{"priority": 1}], "classes.settings.0: sets nothing"),
        ([{"priority": 3, "lossy_alpha": 1.0}], "has no effect on a class that PFC protects"),
        ([{"priority": 3, "ecn": {"kmin": "1KB"}}], "classes.settings.0.ecn.kmax: is missing"),
        (
            [{"priority": 3, "ecn": {"enabled": False, "kmin": "1KB"}}],
            "classes.settings.0.ecn.kmin: has no effect",
        ),
        (
            [{"priority": 1, "lossy_alpha": 1.0}, {"priority": 1, "ecn": {"enabled": False}}],
            "classes.settings.1.priority: priority 1 has an entry already",
        ),
    ],
)
def test_errors_name_the_place_and_a_fix(entries: list[dict[str, Any]], error: str) -> None:
    with pytest.raises(rocelab.ConfigError, match=error):
        star(classes=settings(entries))


def test_a_plan_shows_how_each_class_is_marked() -> None:
    own = [
        {"priority": 3, "ecn": {"enabled": False}},
        {"priority": 4, "ecn": {"kmin": "5KB", "kmax": "50KB"}},
    ]
    rows = star(classes=settings(own)).plan().checks["marking"]
    found = {row["priority"]: (row["kmin_bytes"], row["kmax_bytes"]) for row in rows}
    assert found == {None: (100_000, 400_000), 3: (None, None), 4: (5_000, 50_000)}
    # Without settings of its own no class is named.
    assert [row["priority"] for row in star().plan().checks["marking"]] == [None]


def test_a_class_that_is_marked_after_it_pauses_is_told() -> None:
    late = [{"priority": 4, "ecn": {"kmin": "300KB", "kmax": "300KB"}}]
    pfc = {"threshold": "static", "xoff": "200KB", "xon": "190KB"}
    told = star(pfc=pfc, classes=settings(late)).plan().warnings
    assert any("PFC acts before ECN" in one and "of priority 4" in one for one in told), told
    # What it says to change helps.
    assert any(
        one.endswith("lower ecn.kmin and ecn.kmax in its [[classes.settings]]") for one in told
    )
    lower = [{"priority": 4, "ecn": {"kmin": "100KB", "kmax": "300KB"}}]
    assert not star(pfc=pfc, classes=settings(lower)).plan().warnings
    assert not star(pfc=pfc).plan().warnings
