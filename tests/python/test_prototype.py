"""Laws in Python: what they may do, and how they fail."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

import rocelab
from conftest import INCAST
from rocelab import _rocelab
from rocelab._rocelab import Ack, Context, Header, PathFacts, PortView

MARKING = {"kmin": "20KB", "kmax": "80KB", "pmax": 1.0}


class Aimd:
    """A window that is halved once in a round trip with a mark."""

    def __init__(self, path: PathFacts, now_ps: int) -> None:
        self.most = path.line_rate_bps * path.base_rtt_ps // (8 * 10**12)
        self.least = path.payload_bytes
        self.window = self.most
        self.round_end = now_ps * 0
        self.marked = False

    def limits(self) -> rocelab.Limits:
        return rocelab.Limits(window_bytes=self.window)

    def on_ack(self, cx: Context, ack: Ack) -> None:
        assert cx.now_ps >= ack.rtt_ps
        self.marked |= ack.marked
        if ack.next_expected < self.round_end:
            return
        self.window = self.window // 2 if self.marked else self.window + 1000
        self.window = min(max(self.window, self.least), self.most)
        self.round_end, self.marked = ack.next_to_send, False


@pytest.fixture(scope="module")
def scenario() -> rocelab.Scenario:
    return rocelab.Scenario.from_toml(INCAST).with_settings(ecn=MARKING)


def test_a_law_runs_deterministically_and_acts(scenario: rocelab.Scenario) -> None:
    law = rocelab.prototype(Aimd)
    first, second = law.run(scenario), law.run(scenario)
    assert first.summary["digest"] == second.summary["digest"]
    assert first.summary["scheme"] == "prototype"
    assert first.summary["flows_done"] == first.summary["flows"]
    assert first.summary["threads"] == 1
    free = rocelab.run(scenario.with_settings(scheme={"name": "none"}))
    longest = [
        max(result.series["bottleneck"].to_polars()["queue_bytes"].to_list())
        for result in (first, free)
    ]
    assert longest[0] < longest[1], "the law keeps the queue shorter than no law does"


class Dctcp:
    """The window of DCTCP, from sections 3.1 and 3.4 of its paper."""

    def __init__(self, path: PathFacts, _now_ps: int) -> None:
        self.packet = path.payload_bytes
        self.window = max(path.network_bdp_bytes, self.packet)
        self.alpha = 1.0
        self.round_end = self.marked = self.total = 0
        self.filled = False
        self.cut_until: int | None = None

    def limits(self) -> rocelab.Limits:
        return rocelab.Limits(window_bytes=self.window)

    def on_ack(self, _cx: Context, ack: Ack) -> None:
        self.total += ack.newly_acked
        self.marked += ack.newly_acked if ack.marked else 0
        before = ack.next_expected - ack.newly_acked
        self.filled |= ack.next_to_send - before >= self.window
        ends = ack.next_expected > self.round_end
        if ends:
            if self.round_end:
                self.alpha = 15 / 16 * self.alpha + self.marked / max(self.total, 1) / 16
            self.round_end, self.marked, self.total = ack.next_to_send, 0, 0
        if self.cut_until is not None and ack.next_expected > self.cut_until:
            self.cut_until = None
        if ack.marked and self.cut_until is None:
            self.window = max(int(self.window * (1 - self.alpha / 2)), self.packet)
            self.cut_until = ack.next_to_send
        if ends:
            if self.cut_until is None and self.filled:
                self.window += self.packet
            self.filled = False


def test_switches_mark_for_a_law_as_ecn_says() -> None:
    """So DCTCP in Python does what the scheme of that name does, and no warning says otherwise."""
    made = rocelab.Scenario.from_toml(INCAST).with_settings(scheme="dctcp", ecn=MARKING)
    here, there = rocelab.prototype(Dctcp).run(made), rocelab.run(made)
    assert here.ports.to_polars()["ecn_marked_packets"].sum() > 0
    assert here.summary["digest"] == there.summary["digest"]
    assert here.warnings == []
    silent = rocelab.prototype(Dctcp).run(made.with_settings(ecn={"enabled": False}))
    assert silent.ports.to_polars()["ecn_marked_packets"].sum() == 0


def test_a_check_of_a_law_ends_with_ctrl_c() -> None:
    """No hook is called for the histories that are left."""

    pressed: list[bool] = []

    class Interrupting(Aimd):
        def on_ack(self, cx: Context, ack: Ack) -> None:
            super().on_ack(cx, ack)
            if not pressed:
                pressed.append(True)
                # Python handles it in the main thread.
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        rocelab.prototype(Interrupting).check_invariants(10_000_000)
    until = time.monotonic() + 60
    while any(
        path.read_text().strip() == "rocelab check"
        for path in Path("/proc/self/task").glob("*/comm")
    ):
        assert time.monotonic() < until, "it goes on"
        time.sleep(0.01)


@pytest.mark.parametrize("kind", [Ack, Context, Header, PathFacts, PortView])
def test_what_hooks_get_is_documented(kind: type) -> None:
    public = [name for name in vars(kind) if not name.startswith("_")]
    assert public
    assert [name for name in public if not getattr(kind, name).__doc__] == []


def test_limits_say_what_each_argument_means() -> None:
    for name in ("rate_bps", "window_bytes", "credit_limit", "not_before_ps"):
        assert f"`{name}`: " in (rocelab.Limits.__doc__ or "")


def test_a_law_equals_the_scheme_that_does_the_same(scenario: rocelab.Scenario) -> None:
    """Protects the way from Python to the fabric: hooks are called as those of Rust."""

    class LineRate:
        def __init__(self, path: PathFacts, now_ps: int) -> None:
            del path, now_ps

        def limits(self) -> rocelab.Limits:
            return rocelab.Limits()

    ours = rocelab.prototype(LineRate).run(scenario)
    theirs = rocelab.run(scenario.with_settings(scheme={"name": "none"}))
    frames = [result.flows.to_polars().drop("scheme") for result in (ours, theirs)]
    assert frames[0].equals(frames[1])


def test_senders_receivers_and_switches_exchange_numbers(scenario: rocelab.Scenario) -> None:
    """The switch stamps the longest queue, the receiver doubles it, and the sender sees both."""
    seen: list[tuple[float, ...]] = []
    told: list[list[float]] = []

    class Sender(Aimd):
        def on_send(self, cx: Context, data: Header, meta: list[float]) -> None:
            assert data.kind == "data"
            assert data.sent_at_ps == cx.now_ps
            meta[0] = float(data.sequence)

        def on_ack(self, cx: Context, ack: Ack) -> None:
            super().on_ack(cx, ack)
            if ack.acks_new_data:
                seen.append(tuple(ack.meta))

        def on_ctl(self, cx: Context, numbers: list[float]) -> None:
            cx.host["told"] = cx.host.get("told", 0) + 1
            told.append([*numbers, cx.host["told"]])

    class Receiver:
        def __init__(self, now_ps: int) -> None:
            self.opened_ps = now_ps

        def on_kept_data(self, cx: Context, data: Header, meta: list[float]) -> None:
            del data
            meta[2] = 2 * meta[1]
            assert cx.now_ps >= self.opened_ps

        def on_message_end(self, cx: Context, is_last: bool) -> None:
            cx.send(7.0, float(is_last))

    class Switch:
        def __init__(self, node: int, tier: int) -> None:
            del node
            assert tier == 1

        def on_depart(
            self,
            now_ps: int,
            port: dict[str, Any],
            view: PortView,
            packet: Header,
            meta: list[float],
        ) -> bool:
            assert port.setdefault("last", 0) <= now_ps
            port["last"] = now_ps
            if packet.kind == "data":
                meta[1] = max(meta[1], float(view.queue_bytes))
            return False

    law = rocelab.prototype(Sender, receiver=Receiver, switch=Switch, meta_bytes=(8, 8))
    result = law.run(scenario)
    assert result.summary["flows_done"] == result.summary["flows"]
    assert {sequence for sequence, *_ in seen} > {0.0, 1000.0}
    assert max(queue for _, queue, _, _ in seen) > 0
    assert all(doubled == 2 * queue for _, queue, doubled, _ in seen)
    assert [numbers[:4] for numbers in told] == [[7.0, 1.0, 0.0, 0.0]] * len(result.flows)


def test_a_timer_and_a_probe(scenario: rocelab.Scenario) -> None:
    class Pulse:
        def __init__(self, path: PathFacts, now_ps: int) -> None:
            self.rate = path.line_rate_bps / 2
            self.due = now_ps + 5_000_000

        def limits(self) -> rocelab.Limits:
            return rocelab.Limits(rate_bps=self.rate)

        def next_timer_ps(self) -> int:
            return self.due

        def on_timer(self, cx: Context) -> None:
            assert cx.now_ps == self.due
            self.rate = max(0.9 * self.rate, 1e9)
            self.due += 5_000_000

        def observe(self, now_ps: int, what: str) -> float | None:
            del now_ps
            return self.rate if what == "rate" else None

    probe = {"name": "rates", "kind": "rate", "interval": "1us", "flows": ["incast"]}
    scenario = scenario.with_settings(probe=[probe])
    table = rocelab.prototype(Pulse).run(scenario).series["rates"].to_polars()
    (column,) = [name for name in table.columns if name.startswith("rate")]
    rates = sorted(set(table[column].to_list()), reverse=True)
    assert rates[0] == 50e9
    assert 44e9 < rates[1] <= 45e9


def test_what_a_hook_raises_ends_the_run_with_its_place(scenario: rocelab.Scenario) -> None:
    class Broken(Aimd):
        def on_ack(self, cx: Context, ack: Ack) -> None:
            del cx
            raise ZeroDivisionError(f"rtt {ack.rtt_ps >= 0}")

    with pytest.raises(ZeroDivisionError, match="rtt True") as caught:
        rocelab.prototype(Broken).run(scenario)
    assert caught.traceback[-1].name == "on_ack"
    with pytest.raises(ZeroDivisionError):
        rocelab.prototype(Broken).check_invariants()
    # The next run is not affected.
    rocelab.prototype(Aimd).run(scenario)


def test_the_promises_of_schemes_are_checked() -> None:
    rocelab.prototype(Aimd).check_invariants()

    class Closed(Aimd):
        def limits(self) -> rocelab.Limits:
            return rocelab.Limits(window_bytes=0)

    with pytest.raises(AssertionError, match="a window of 0 stops the QP for ever"):
        rocelab.prototype(Closed).check_invariants()

    class Fast(Aimd):
        def limits(self) -> rocelab.Limits:
            return rocelab.Limits(rate_bps=1e15)

    with pytest.raises(AssertionError, match="neither within the line rate"):
        rocelab.prototype(Fast).check_invariants()


def test_a_timer_that_does_not_move_on_is_refused(scenario: rocelab.Scenario) -> None:
    """Time would stand still, and the run would never end."""

    class Stuck(Aimd):
        def next_timer_ps(self) -> int:
            return 5_000

        def on_timer(self, cx: Context) -> None:
            del cx

    class Past(Aimd):
        def next_timer_ps(self) -> int | None:
            return 5_000 if self.acked else None

        def on_ack(self, cx: Context, ack: Ack) -> None:
            super().on_ack(cx, ack)
            self.acked = True

        acked = False

        def on_timer(self, cx: Context) -> None:
            del cx

    for law, why in (
        (Stuck, "after on_timer the timer must be due later, or None"),
        (Past, "next_timer_ps is 5000, and it is [0-9]+ already"),
    ):
        with pytest.raises(ValueError, match=why):
            rocelab.prototype(law).run(scenario)
        with pytest.raises(ValueError, match="next_timer_ps is"):
            rocelab.prototype(law).check_invariants()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_a_probe_observes_is_finite(scenario: rocelab.Scenario, value: float) -> None:
    class Odd(Aimd):
        def observe(self, now_ps: int, what: str) -> float:
            del now_ps, what
            return value

    probe = {"name": "rates", "kind": "rate", "interval": "1us", "flows": ["incast"]}
    with pytest.raises(ValueError, match="a finite number or None is needed"):
        rocelab.prototype(Odd).run(scenario.with_settings(probe=[probe]))


def test_mistakes_are_refused(scenario: rocelab.Scenario) -> None:
    class Typo(Aimd):
        def on_akc(self, cx: Context, ack: Ack) -> None: ...

    with pytest.raises(ValueError, match="on_akc, which is never called; hooks are limits"):
        rocelab.prototype(Typo)

    class NoTimer(Aimd):
        def on_timer(self, cx: Context) -> None: ...

    with pytest.raises(ValueError, match="a timer needs both"):
        rocelab.prototype(NoTimer)
    with pytest.raises(TypeError, match="needs a method limits"):
        rocelab.prototype(object)
    with pytest.raises(ValueError, match="window_bytes is NaN"):
        rocelab.Limits(window_bytes=float("nan"))

    class Wrong(Aimd):
        def limits(self) -> int:  # type: ignore[override]
            return 7

    with pytest.raises(TypeError, match=r"returns a rocelab\.Limits"):
        rocelab.prototype(Wrong).run(scenario)

    class Grows(Aimd):
        def on_send(self, cx: Context, data: Header, meta: list[float]) -> None:
            del cx, data
            meta.append(1.0)

    with pytest.raises(ValueError, match="meta has 4 numbers, and a hook left 5"):
        rocelab.prototype(Grows).run(scenario)


@pytest.mark.parametrize("of", ["PathFacts", "Ack", "Header", "PortView", "Context"])
def test_the_help_names_all_that_hooks_are_given(of: str) -> None:
    """The classes are private: nothing else tells a user what they have."""
    text = rocelab.prototype.__doc__ or ""
    values = [name for name in dir(getattr(_rocelab, of)) if not name.startswith("_")]
    assert values
    assert [name for name in values if f"``{name}``" not in text] == []


def test_its_scenario_runs_with_the_law_only(scenario: rocelab.Scenario, tmp_path: Path) -> None:
    result = rocelab.prototype(Aimd).run(scenario)
    result.save(tmp_path / "run")
    again = rocelab.open(tmp_path / "run")
    assert again.summary["scheme"] == "prototype"
    with pytest.raises(rocelab.ConfigError, match=r"rocelab\.prototype\(law\)\.run") as caught:
        rocelab.run(again.scenario)
    assert caught.value.key == "scheme.name"
    assert all(one.name != "prototype" for one in rocelab.schemes())
