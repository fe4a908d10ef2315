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


def longest(pfc: dict[str, Any], *entries: dict[str, Any]) -> tuple[int, int]:
    """The longest queue of class 3, and that of class 4, each of what four ingresses store."""
    result = rocelab.run(star(scheme="none", pfc=pfc, classes=settings(list(entries))))
    assert result.summary["drops"] == 0
    return port(result, "h0", "max_queue_bytes"), port(result, "h1", "max_queue_bytes")


def test_a_class_pauses_at_its_own_xoff() -> None:
    usual = {"xoff": "300KB"}
    plain = longest(usual)
    early = longest(usual, {"priority": 4, "pfc": {"xoff": "30KB"}})
    late = longest(usual, {"priority": 4, "pfc": {"xoff": "450KB", "xon": "400KB"}})
    for found, xoff in ((plain, 300_000), (early, 30_000), (late, 450_000)):
        # Above Xoff is what still comes after a pause: two packets, and 2 us of 100 Gb/s.
        assert 4 * xoff < found[1] < 4 * (xoff + 30_000)
        # The other class does not notice.
        assert found[0] == plain[0]
    assert longest(usual, *({"priority": one, "pfc": usual} for one in (3, 4))) == plain


def test_a_class_pauses_at_its_own_share_of_what_is_free() -> None:
    usual = {"alpha": 0.05}
    plain = longest(usual)
    early = longest(usual, {"priority": 4, "pfc": {"alpha": 0.005}})
    late = longest(usual, {"priority": 4, "pfc": {"alpha": 0.5}})
    assert early[1] < plain[1] < late[1]
    # What one class does not take is free for the other.
    assert early[0] > plain[0]
    assert longest(usual, *({"priority": one, "pfc": usual} for one in (3, 4))) == plain


@pytest.mark.parametrize(
    ("pfc", "own", "error"),
    [
        ({}, {"xoff": "1KB"}, 'pfc.xoff: goes with pfc.threshold = "static"'),
        ({}, {}, "pfc.alpha: is missing"),
        ({"xoff": "99KB"}, {"alpha": 1.0}, 'pfc.alpha: goes with pfc.threshold = "dynamic"'),
        ({"xoff": "99KB"}, {"xon": "9KB"}, "pfc.xoff: is missing"),
        ({"xoff": "99KB"}, {"xoff": "0B"}, "pfc.xoff: must be above zero"),
        ({"xoff": "99KB"}, {"xoff": "33MB"}, "pfc.xoff: 33MB is more than the switch's buffer"),
        ({"xoff": "99KB"}, {"xoff": "9KB", "xon": "10KB"}, "pfc.xon: 10KB is above xoff"),
        ({}, {"alpha": 65.0}, r"pfc.alpha: must be from 2\^-16 to 64"),
        ({"enabled": False}, {"alpha": 1.0}, "pfc: has no effect on a class that PFC does not"),
    ],
)
def test_errors_of_pause_thresholds(pfc: dict[str, Any], own: dict[str, Any], error: str) -> None:
    with pytest.raises(rocelab.ConfigError, match=f"classes.settings.0.{error}"):
        star(pfc=pfc, classes=settings([{"priority": 4, "pfc": own}]))


def test_a_plan_shows_where_each_class_pauses() -> None:
    pfc = {"xoff": "200KB", "xon": "190KB"}
    own = [{"priority": 4, "pfc": {"xoff": "90KB"}}]
    plan = star(pfc=pfc, classes=settings(own)).plan()
    rows = {row["priority"]: row for row in plan.checks["buffers"]}
    assert {one: row["pause_threshold_bytes"] for one, row in rows.items()} == {
        None: 200_000,
        4: 90_000,
    }
    assert {one: row["priorities"] for one, row in rows.items()} == {None: [3], 4: [4]}
    # Ten ports, each with both classes.
    reserved = rows[None]["reserved_bytes"]
    assert {row["needed_bytes"] for row in rows.values()} == {10 * 290_000 + reserved}
    # Kmin is 100 KB for both.
    told = [one for one in plan.warnings if "PFC acts before ECN" in one]
    assert len(told) == 1
    assert "an ingress of priority 4 pauses its peer at its xoff = 90KB" in told[0]
    assert told[0].endswith(
        "raise pfc.xoff in its [[classes.settings]], or lower ecn.kmin and ecn.kmax"
    )
    small = star(pfc=pfc, switch={"buffer": "3MB"}, classes=settings(own)).plan().warnings
    assert any("lower pfc.xoff and those of [[classes.settings]] to" in one for one in small), small


@pytest.mark.parametrize("weight", [1, 4])
def test_a_host_shares_its_link_by_bytes_of_whatever_packets(weight: int) -> None:
    """Data in both directions, with ACKs in a class beside it.

    ACKs are 8 % of the bytes of data, so with 1/9 or 4/12 of the link none has to wait for long. A
    host that charged an ACK as a full packet would send one ACK for eight packets of data.
    """
    made = rocelab.Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": "100Gbps", "host_delay": "1us"},
        scheme="none",
        classes={
            "data": 3,
            "ack": 2,
            "control": 2,
            "strict": [],
            "weights": [1, 1, weight, 8, 1, 1, 1, 1],
        },
        traffic=[{"kind": "permutation", "size": "2MB"}],
    )
    ports = rocelab.run(made).ports.to_polars()
    of_hosts = ports.filter(pl.col("node").str.starts_with("h"))
    assert (of_hosts["max_queue_bytes"] < 20_000).all()
