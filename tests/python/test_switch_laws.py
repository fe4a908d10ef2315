"""Laws of switches and receivers, replayed from packet traces.

As in ``test_laws.py`` each model is written from the paper and the page of its scheme, and shares
nothing with the program.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from heapq import heapify, heappop, heappush

import pytest

import rocelab
from test_laws import (
    PLACES,
    SCALE,
    US,
    Dcqcn,
    Event,
    Run,
    Sampled,
    Series,
    assert_follows,
)


class Downlink:
    """Credits of HierCC's receiving switch for one host: weighted round robin among racks."""

    def __init__(self, racks: list[str]) -> None:
        self.racks = racks
        #: F, S, and C_sent by rack; credits that a rack may still have in a round, and in which.
        self.flows = dict.fromkeys(racks, 0)
        self.sent = dict.fromkeys(racks, 0)
        self.granted = dict.fromkeys(racks, 0)
        self.turns = dict.fromkeys(racks, (-1, 0))
        self.round = self.next = self.filled = self.noted = 0

    def left(self, rack: str) -> int:
        """Credits that the rack may still have in this round."""
        of_round, turns = self.turns[rack]
        return turns if of_round == self.round else self.flows[rack]

    def grant(self) -> str:
        for _ in range(2):
            for at in range(self.next, self.next + len(self.racks)):
                rack = self.racks[at % len(self.racks)]
                if self.granted[rack] < self.sent[rack] and self.left(rack) > 0:
                    self.turns[rack] = (self.round, self.left(rack) - 1)
                    self.granted[rack] += 1000
                    self.next = at % len(self.racks) + 1
                    return rack
            self.round += 1
        raise AssertionError

    def until(self, time: int) -> Iterator[tuple[int, str]]:
        """Grants what is due before ``time``."""
        while any(self.granted[rack] < self.sent[rack] for rack in self.racks):
            due = max(self.filled, self.noted)
            if due >= time:
                return
            self.noted = due
            self.carry(due, 1000)
            yield due, self.grant()

    def carry(self, time: int, size: int) -> None:
        """``size`` bytes of the link, of 100 Gb/s, are spoken for."""
        self.filled = max(self.filled, time) + size * 80
        self.noted = max(self.noted, time)

    def hear(self, time: int, rack: str, flows: int, sent: int) -> None:
        if self.turns[rack][0] != self.round:
            self.turns[rack] = (self.round, flows)
        self.flows[rack], self.sent[rack] = flows, sent
        self.noted = time


class Voq:
    """A virtual output queue of HierCC's: eq. 1, and whom it notifies of a stop or a rate."""

    line, target, stop, resume, drain = 100e9, 80_000, 120_000, 90_000, 0.2 * SCALE / 500_000

    def __init__(self) -> None:
        self.queue = self.arrived = self.credited = self.begin = 0
        self.credits = 40_000
        self.rate, self.stopped = self.line, False
        #: When packets of its flows last came.
        self.seen: dict[int, int] = {}
        self.queues: Series = []
        self.balances: Series = []
        self.given: Series = []

    def note(self, time: int) -> None:
        self.queues.append((time, self.queue))
        self.balances.append((time, self.credits))
        self.given.append((time, 0.0 if self.stopped else self.rate))

    def credit(self, time: int) -> None:
        self.credits += 1000
        self.credited += 1000
        self.note(time)

    def joins(self, it: Event, marked: bool) -> list[tuple[int, float]]:
        """A packet joins; returns which flows get which rate."""
        if not self.queues:
            self.begin = it.time
        self.queue += it.size
        self.arrived += it.size
        self.seen.pop(it.flow, None)
        self.seen[it.flow] = it.time
        told = [(it.flow, 0.0)] if marked else []
        if not self.stopped and self.queue > self.stop:
            self.stopped = True
            told = [(flow, 0.0) for flow, seen in self.seen.items() if seen >= it.time - 100 * US]
        elif not self.stopped and marked:
            self.update(it.time)
            told = [(it.flow, self.rate)]
        self.note(it.time)
        return told

    def update(self, time: int) -> None:
        span = time - self.begin
        if span < 2_500_000:
            return
        if self.queue < self.target:
            self.rate = self.line
        else:
            credited, arrived = self.credited * SCALE / span, self.arrived * SCALE / span
            rate = self.rate * (credited - self.drain * (self.queue - self.target)) / arrived
            self.rate = min(max(rate, 1e9), self.line)
        self.begin, self.arrived, self.credited = time, 0, 0

    def leaves(self, it: Event) -> list[tuple[int, float]]:
        self.queue -= it.size
        self.credits -= it.size
        told = []
        if self.stopped and self.queue < self.resume:
            self.stopped = False
            told = [(flow, self.rate) for flow in self.seen]
        elif not self.stopped:
            self.seen = {f: seen for f, seen in self.seen.items() if seen >= it.time - 100 * US}
        self.note(it.time)
        return told


@pytest.mark.parametrize("counter", ["left", "joined"])
def test_credits_and_rates_of_hiercc(counter: str) -> None:
    """Sections 3.2 and 3.3: who gets which credit when, and which rates senders get."""
    flows = [
        *((f"h{i}", "r0", f"{400 - 100 * i}KB", f"{20 * i}us") for i in range(3)),
        ("r1", "r0", "300KB", "30us"),
        ("r2", "r0", "100KB", "60us"),
        ("r0", "h0", "200KB", "50us"),
    ]
    params = {
        "sent_counter": counter,
        "stop_queue": "120KB",
        "resume_queue": "90KB",
        "hop_rtt": "500ns",
        "mark_interval": "3us",
    }
    run = Run(
        {"name": "hiercc", "preset": "hiercc-paper", "params": params},
        flows,
        dict.fromkeys(("flow-queue", "flow-credits", "flow-rate", "rate"), "200ns"),
        hosts=["100Gbps"] * 3,
        receivers=3,
    )
    # Of the VOQs for r0 at both switches; the queues are those of ports 3 and 1.
    places = {("s0", 3): Voq(), ("s1", 1): Voq()}
    racks = {flow: "s0" if host[0] == "h" else "s1" for flow, host in run.source.items()}
    to_r0 = run.result.flows.to_polars().filter(dst="r0")["flow_id"].to_list()
    downlink = Downlink(["s0", "s1"])
    total: dict[str, int] = defaultdict(int)
    stamps: dict[tuple[int, int], tuple[int, int]] = {}
    told: dict[int, list[float]] = defaultdict(list)
    mark_at: dict[int, int] = defaultdict(int)
    marked: set[tuple[int, int]] = set()
    rates: dict[int, Series] = {flow: [(0, run.line[flow])] for flow in to_r0}
    expected, seen = [], []
    for it in run.events:
        voq = places.get((it.node, it.port))
        of_r0, data = it.flow in to_r0, it.kind == "data"
        for time, rack in downlink.until(it.time + (it.event == "dequeued")):
            if rack == "s1":
                places["s1", 1].credit(time)
            else:
                expected.append(time)
        if data and of_r0 and it.node == run.source[it.flow]:
            if it.time >= mark_at[it.flow]:
                mark_at[it.flow] = it.time + 3 * US
                marked.add((it.flow, it.sequence))
        elif data and of_r0 and voq and racks[it.flow] == it.node:
            if it.event == "enqueued":
                answers = voq.joins(it, (it.flow, it.sequence) in marked)
            else:
                answers = voq.leaves(it)
            if it.event == ("enqueued" if counter == "joined" else "dequeued"):
                total[it.node] += it.size
            for flow, rate in answers:
                told[flow].append(rate)
            if it.event == "dequeued":
                stamps[it.flow, it.sequence] = (max(len(voq.seen), 1), total[it.node])
                if it.node == "s1":
                    downlink.hear(it.time, "s1", *stamps[it.flow, it.sequence])
        elif (it.node, it.port, it.event) == ("s1", 1, "enqueued"):
            if data and of_r0:
                downlink.hear(it.time, "s0", *stamps[it.flow, it.sequence])
            else:
                downlink.carry(it.time, it.size)
        elif it.kind == "control" and of_r0:
            if (it.node, it.port, it.event) == ("s1", 0, "enqueued"):
                seen.append(it.time)
            elif (it.node, it.port, it.event) == ("s0", 3, "received"):
                places["s0", 3].credit(it.time)
            elif it.node == run.source[it.flow] and it.event == "received":
                rates[it.flow].append((it.time, told[it.flow].pop(0)))
    assert len(seen) > 500
    assert seen == expected
    assert not any(told.values())
    series = {kind: run.samples(kind) for kind in ("flow-queue", "flow-credits", "flow-rate")}
    paces = run.samples("rate")
    for flow in to_r0:
        voq = places["s0", 3] if racks[flow] == "s0" else places["s1", 1]
        models = (voq.queues, voq.balances, voq.given)
        for model, samples in zip(models, series.values(), strict=True):
            assert_follows(model, samples[flow], tol=1, least=3)
        assert_follows(rates[flow], paces[flow], tol=1, least=3)
    assert run.result.summary.counters["stop_messages"] > 10


class Resubmission:
    """THEMIS's reaction point: T_block of flows, and the queue of the packets that go round."""

    step, most, quiet, turn = 30 * US, 1000 * US, 150 * US, US

    def __init__(self) -> None:
        #: T_block, and since when it has not been halved.
        self.block: dict[int, tuple[int, int]] = {}
        #: Packets that have not left, by flow, and when the last one has gone round.
        self.waiting: dict[int, list[Event]] = defaultdict(list)
        self.round: dict[int, int] = {}
        self.free = 0

    def blocked_for(self, flow: int, now: int) -> int:
        time, since = self.block.get(flow, (0, now))
        while time and now >= since + self.quiet:
            time, since = time // 2, since + self.quiet
            time = time if time >= self.turn else 0
        self.block[flow] = (time, since)
        return time

    def replay(self, events: list[Event]) -> Iterator[tuple[int, int, int]]:
        """When which packets that came over the long link go on."""
        agenda = [
            (it.time, it.kind == "data", at, it)
            for at, it in enumerate(events)
            if it.event == "received" and (it.kind, it.port) in (("data", 1), ("control", 0))
        ]
        heapify(agenda)
        number = len(events)
        known = set()
        while agenda:
            now, data, at, it = heappop(agenda)
            flow, waiting = it.flow, self.waiting[it.flow]
            if not data:
                self.block[flow] = (min(self.blocked_for(flow, now) + self.step, self.most), now)
                known.add(flow)
                continue
            number += 1
            if flow in known and at < len(events):
                waiting.append(it)
                if len(waiting) > 1:
                    heappush(agenda, (self.round[flow], data, number, it))
                    continue
            blocked = now - it.time < self.blocked_for(flow, now)
            if flow in known and (blocked or waiting[0] is not it):
                self.free = max(self.free, now) + it.size * 80
                if waiting[-1] is it:
                    self.round[flow] = self.free + self.turn
                heappush(agenda, (self.free + self.turn, data, number, it))
                continue
            if flow in known:
                waiting.pop(0)
            yield now, flow, it.sequence


def test_external_switches_of_themis() -> None:
    """Sections 2.1 and 2.2: who is notified when, and how long packets are blocked."""
    flows = [
        ("a0", "b0", "3MB", "0us"),
        ("a1", "b1", "3MB", "50us"),
        ("b2", "b0", "2MB", "150us"),
        ("b2", "a0", "1MB", "400us"),
    ]
    ends = [("a0", "s0"), ("a1", "s0"), *((f"b{i}", "s1") for i in range(3))]
    ends += [("s0", "x0"), ("s1", "x1"), ("x0", "x1")]
    names = [*(host for host, _ in ends[:5]), "s0", "s1", "x0", "x1"]
    keys = ("src", "dst", "size", "start")
    result = rocelab.run(
        rocelab.Scenario(
            topology={
                "kind": "custom",
                "nodes": [{"name": n, "kind": "switch" if n[0] in "sx" else "host"} for n in names],
                "links": [
                    {"a": a, "b": b, "rate": "100Gbps", "delay": "60us" if a == "x0" else "1us"}
                    for a, b in ends
                ],
            },
            traffic=[{"kind": "flows", "flows": [dict(zip(keys, f, strict=True)) for f in flows]}],
            scheme={"name": "themis", "params": {"block_step": "30us", "quiet_time": "150us"}},
            pfc={"threshold": "static", "xoff": "2MB"},
            run={"stop": "2ms"},
            trace={"packets": ["x0", "x1"]},
        )
    )
    rows = result.traces["packets"].to_polars().drop("priority", "queue_bytes")
    events = [Event(*row) for row in rows.iter_rows()]
    events.sort(key=lambda it: (it.time, PLACES[it.event]))
    blocked = notified = 0
    for node in ("x0", "x1"):
        # Port 0 leads to the rack, port 1 to the other data centre.
        here = [it for it in events if it.node == node]
        told: dict[int, int] = {}
        expected = []
        for it in here:
            marked = it.kind == "data" and it.port == 0 and it.ecn == "congestion"
            passes = it.kind == "control" and it.port == 1
            spaced = it.time - told.get(it.flow, -US * 1000) >= 50 * US
            if it.event == "received" and (marked or passes) and spaced:
                told[it.flow] = it.time
                expected.append((it.time, it.flow))
        out = [it for it in here if it.port == 0 and it.event == "enqueued"]
        assert sorted((it.time, it.flow) for it in out if it.kind == "control") == sorted(expected)
        away = [it for it in here if (it.kind, it.port, it.event) == ("data", 1, "dequeued")]
        assert {it.ecn for it in away} == {"not-marked"}
        notified += len(expected)
        left = [(it.time, it.flow, it.sequence) for it in out if it.kind == "data"]
        model = list(Resubmission().replay(here))
        assert left == sorted(model)
        came = {
            (it.flow, it.sequence): it.time
            for it in here
            if (it.kind, it.event) == ("data", "received")
        }
        blocked += sum(time > came[flow, sequence] for time, flow, sequence in left)
    assert notified > 5
    assert blocked > 1000


class NearSource:
    """The rate of Annulus's loop near the source: QCN's, with a timer of 15 us alone."""

    def __init__(self) -> None:
        self.rate = self.target = 100e9
        self.steps = 0
        self.due: int | None = None

    def wait(self, end: int) -> Series:
        """Lets the timer expire up to ``end``; returns what it did."""
        rates: Series = []
        while self.due is not None and self.due <= end:
            self.steps += 1
            if self.steps > 2:
                self.target = min(self.target + 50e6, 100e9)
            self.rate = (self.rate + self.target) / 2
            rates.append((self.due, self.rate))
            self.due = self.due + 15 * US if self.rate < 100e9 - 1 else None
        return rates

    def cut(self, time: int, feedback: int) -> None:
        if self.steps or self.due is None:
            self.target = self.rate
        self.rate = max(self.rate * max(1 - feedback / 128, 0.5), 100e6)
        self.steps, self.due = 0, time + 15 * US


class PapersDcqcn(Dcqcn):
    gain, steps, additive, hyper = 1 / 256, 5, 100e6, 1e9
    quiet, timer, counter = 55 * US, 55 * US, 10_000_000


def test_rates_of_annulus() -> None:
    """QCN at the uplinks, and the lower one of both loops' rates at senders."""
    run = Run(
        {
            "name": "annulus",
            "params": {"sample_every": 20, "near_timer": "15us", "near_recovery_steps": 2},
        },
        [(f"h{i}", "r0", "2MB", f"{20 * i}us") for i in range(4)],
        {"rate": "200ns"},
        hosts=["100Gbps"] * 4,
        stop="800us",
    )
    run.events.sort(key=lambda it: (it.time, PLACES[it.event], it.kind == "control"))
    queue = before = count = 0
    made: dict[tuple[int, int], int] = {}
    passing: dict[int, int] = defaultdict(int)
    #: What senders hear: a feedback of their switch, or 0 for a CNP of the receiver.
    heard: dict[int, deque[int]] = defaultdict(deque)
    for it in run.events:
        if it.node != "s0":
            continue
        if it.kind == "control" and it.event == "received":
            passing[it.flow] += 1
        elif it.kind == "control" and it.event == "enqueued":
            through = passing[it.flow] > 0
            passing[it.flow] -= through
            heard[it.flow].append(0 if through else made.pop((it.time, it.flow)))
        elif (it.kind, it.port, it.event) == ("data", 4, "enqueued"):
            count += 1
            if count % 20 == 0:
                # Kmin is 12.5 KB; the greatest feedback is five times that.
                beyond = (queue - 12_500) + 2 * (queue - before)
                before, feedback = queue, int(min(beyond * 63 / 62_500, 63))
                if feedback > 0:
                    made[it.time, it.flow] = feedback
            queue += it.size
        elif (it.port, it.event) == (4, "dequeued"):
            queue -= it.size
    assert not made
    assert sum(feedback > 0 for notes in heard.values() for feedback in notes) > 50
    for flow, samples in run.samples("rate").items():
        near, law = NearSource(), PapersDcqcn(100e9)
        model: Series = [(0, 100e9)]
        for it in run.at_sender(flow):
            is_note = it.kind == "control" and it.event == "received"
            if it.kind != "data" and not is_note:
                continue
            model += [(time, min(rate, law.rate)) for time, rate in near.wait(it.time)]
            law.wait(it.time + (not is_note))
            if is_note:
                feedback = heard[flow].popleft()
                near.cut(it.time, feedback) if feedback else law.notified(it.time)
            else:
                law.sent(it.size)
            model.append((it.time, min(near.rate, law.rate)))
        model += [(time, min(rate, law.rate)) for time, rate in near.wait(800 * US)]
        assert_follows(model, samples, rel=1e-6)


class CreditRate:
    """Algorithm 1 of ExpressPass, or what its authors' code has in its place."""

    def __init__(self, packets: int, *, code: bool) -> None:
        self.code = code
        self.rate, self.w = 0.5 * min(packets / 40, 1), 1 / 16
        self.increasing = False
        self.expected = self.counted = self.dropped = self.begin = 0
        self.rtt = 0.0

    def hears(self, time: int, number: int, sent_at: int) -> None:
        """Data came for a credit."""
        self.counted += number + 1 - self.expected
        self.dropped += number - self.expected
        self.expected = number + 1
        rtt = time - sent_at
        self.rtt = 0.8 * self.rtt + 0.2 * rtt if self.rtt else rtt

    def control(self, time: int, gap: float) -> None:
        """Once a round trip; ``gap`` is that of credits at the highest rate."""
        span = time - self.begin
        if not self.counted or span < self.rtt:
            return
        loss = self.dropped / self.counted
        tolerated = 0.125 * (1 - self.rate) if self.code else 0.1
        highest = 1.0 if self.code else 1.1
        if loss > tolerated:
            through = (self.counted - self.dropped) * gap / span
            kept = through if self.code else self.rate * (1 - loss)
            self.rate = min(kept * (1 + tolerated), self.rate)
            self.w = max(self.w / 2, 0.01)
            self.increasing = False
        else:
            if self.increasing:
                self.w = min(self.w + 0.05 if self.code else (self.w + 0.5) / 2, 0.5)
            self.increasing = True
            self.rate = (1 - self.w) * self.rate + self.w * highest
        self.rate = min(max(self.rate, gap / self.rtt), highest)
        self.counted, self.dropped, self.begin = 0, 0, time


@pytest.mark.parametrize("feedback", ["code", "paper"])
def test_credits_of_expresspass(feedback: str) -> None:
    """When receivers send credits, some of which ports drop."""
    flows = [
        ("h0", "r0", "1MB", "0us"),
        ("h1", "r0", "1MB", "10us"),
        ("h2", "r1", "1MB", "30us"),
        ("h3", "r0", "15KB", "50us"),
    ]
    params = {
        "feedback": feedback,
        "jitter": 0.0,
        "credit_spread": "0B",
        "initial_w": 0.0625,
        "target_loss": 0.125 if feedback == "code" else 0.1,
        "early_stop": False,
    }
    run = Run(
        {"name": "expresspass", "params": params}, flows, {}, hosts=["100Gbps"] * 4, receivers=2
    )
    sizes = run.result.flows.to_polars()["size_bytes"].to_list()
    # A credit of 84 B for each packet of 1082 B with 8 B for the credit's number.
    gap = (84 + 1090) * 80
    for flow, source in run.source.items():
        receiver = flows[flow][1]
        asked, number, dropped = 0, 0, 0
        sent: list[int] = []
        data: deque[tuple[int, int]] = deque()
        #: Credits on their way to s1, to s0 and to the sender; those it has; data and its credits.
        path = [deque[tuple[int, int]]() for _ in range(6)]
        came: deque[tuple[int, int, int]] = deque()
        for it in run.events:
            if it.flow != flow:
                continue
            at = {receiver: 0, "s1": 1, "s0": 3, source: 5}.get(it.node)
            towards = (it.node, it.port) in (("s1", 0), ("s0", flow)) or at == 0
            if it.kind == "control" and at == 0 and it.event in ("enqueued", "dropped"):
                if it.event == "enqueued":
                    path[0].append((number, it.time))
                number += 1
                sent.append(it.time)
            elif it.kind == "control" and at == 0 and it.event == "received":
                asked = asked or it.time
            elif it.kind == "control" and at in (1, 3):
                if it.event == "received" and not towards:
                    path[at].append(path[at - 1].popleft())
                elif it.event == "dropped":
                    path[at].pop()
                    dropped += 1
                elif it.event == "dequeued" and towards:
                    path[at + 1].append(path[at].popleft())
            elif it.kind == "control" and at == 5 and it.event == "received":
                path[5].append(path[4].popleft())
            elif it.kind == "data" and at == 5:
                data.append(path[5].popleft())
            elif it.kind == "data" and at == 0 and it.event == "received":
                came.append((it.time, *data.popleft()))
        law = CreditRate(-(-sizes[flow] // 1000), code=feedback == "code")
        law.begin = time = asked
        model = []
        for _ in sent:
            while came and came[0][0] <= time:
                law.hears(*came.popleft())
            law.control(time, gap)
            model.append(time)
            time += int(gap / law.rate)
        assert sent == model
        assert flow == 3 or (len(sent) > 1000 and dropped > 50)


class SendWindow:
    """RCC of RCM at one output of 100 Gb/s: equations 3 to 6."""

    packet = 1082

    def __init__(self, *, compound: bool) -> None:
        self.compound = compound
        self.state = "off"
        self.sent = self.harmful = self.ends = self.held_until = 0
        self.whole = self.measured = self.limit = self.least = 0.0
        self.share = 1.0

    def find_held(self) -> None:
        spent = self.harmful >= max(self.limit, self.least) and self.sent < self.whole
        self.held_until = self.ends if self.state == "limits" and spent else 0

    def over(self) -> None:
        self.state = "off"
        self.find_held()

    def cut(self, degree: int) -> None:
        """The greatest degree, 63, takes a half."""
        self.share = 1 - degree / 126
        if self.state == "off":
            self.state, self.sent, self.harmful = "measures", 0, 0
        elif self.state == "limits":
            self.limit = (self.limit if self.compound else self.measured) * self.share
        self.find_held()

    def begin(self, time: int, excess: int) -> None:
        self.sent, self.harmful = 0, excess
        self.ends = time + int(self.whole) * 80

    def sends(self, time: int, size: int, unsent: int, flows: int, *, harmful: bool) -> None:
        """A packet crosses; ``unsent`` of ``flows`` harmful flows have not yet sent."""
        if self.state == "limits" and (time >= self.ends or self.sent >= self.whole):
            excess = max(self.harmful - max(self.limit, self.least), 0)
            self.begin(time, min(int(excess), self.packet))
        self.sent += size
        self.harmful += size if harmful else 0
        if self.state == "measures" and self.sent >= (100_000 if unsent else 10_000):
            self.state, self.whole = "limits", self.sent
            at_least = min(self.packet * max(flows, 1), self.sent)
            self.least = max(at_least, self.packet)
            self.measured = self.limit = max(self.harmful, at_least)
            self.limit *= self.share
            self.begin(time, 0)
        self.find_held()


class Output:
    """An output of RCM's: its CAM, what the neighbour has notified, and its window."""

    def __init__(self, share: float, *, compound: bool) -> None:
        self.queue = 0
        self.detector = Sampled()
        self.window = SendWindow(compound=compound)
        self.share = share
        self.left = 16_000
        #: Flows of the last samples, and when.
        self.cam: deque[tuple[int, int]] = deque(maxlen=16)
        self.found: set[int] = set()
        #: The degree of the last CN and until when it counts, and that of its flows.
        self.notified = self.noticed_until = 0
        self.remote: dict[int, int] = {}
        self.unsent: set[int] = set()
        self.flows = 0

    def passes(self, it: Event) -> None:
        """CFR: samples flows by bytes; those with the mean's entries or more are harmful."""
        self.left -= it.size
        if self.left <= 0:
            self.left = 16_000
            self.cam.append((it.flow, it.time))
            counts = Counter(flow for flow, time in self.cam if it.time <= time + 100 * US)
            mean = counts.total() / len(counts)
            self.found = {flow for flow, n in counts.items() if n >= self.share * mean}

    def harmful(self, time: int) -> set[int]:
        if time < self.noticed_until:
            return {flow for flow, until in self.remote.items() if time < until}
        return self.found if self.cam and time <= self.cam[-1][1] + 100 * US else set()


class RcmSwitch:
    """CRD, CFR and RCC of a switch whose data comes to each port from one neighbour."""

    def __init__(self, share: float, *, compound: bool) -> None:
        self.outputs: dict[int, Output] = defaultdict(lambda: Output(share, compound=compound))
        self.inputs: dict[int, Sampled] = defaultdict(Sampled)
        self.voqs: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self.ways: dict[int, int] = {}
        self.blames: dict[int, int] = {}
        self.cuts = 0
        #: Harmful packets that crossed while they should have waited.
        self.early = 0

    def calm(self, port: int, time: int) -> None:
        output = self.outputs[port]
        blaming = [self.inputs[by].until for by, blamed in self.blames.items() if blamed == port]
        if time >= max(output.detector.until, output.noticed_until, *blaming, 0):
            output.window.over()

    def react(self, port: int, degree: int, time: int) -> None:
        self.cuts += 1
        output = self.outputs[port]
        if output.window.state == "off":
            output.unsent = set(output.harmful(time))
            output.flows = len(output.unsent)
        output.window.cut(degree)

    def comes(self, it: Event, out: int) -> tuple[int, set[int]] | None:
        """A packet joins an input queue. Returns a CN to the neighbour: degree and flows."""
        self.ways[it.flow] = it.port
        voqs, detector, time = self.voqs[it.port], self.inputs[it.port], it.time
        voqs[out] += it.size
        if not detector.joins(time, sum(voqs.values()), it.size):
            return None
        blamed = max(voqs, key=lambda to: (voqs[to], -to))
        before = self.blames.get(it.port, blamed)
        self.calm(blamed, time)
        self.blames[it.port] = blamed
        self.calm(before, time)
        if detector.feedback <= 0:
            self.calm(blamed, time)
            return None
        self.react(blamed, detector.degree, time)
        output = self.outputs[blamed]
        degree = detector.degree
        if time < output.noticed_until:
            degree = int(0.5 * degree + 0.5 * output.notified + 0.5)
        through = {flow for flow in output.harmful(time) if self.ways.get(flow) == it.port}
        return degree, through

    def crosses(self, it: Event) -> None:
        """A packet joins an output queue."""
        output, time = self.outputs[it.port], it.time
        self.voqs[self.ways[it.flow]][it.port] -= it.size
        self.calm(it.port, time)
        self.early += time < output.window.held_until and it.flow in output.harmful(time)
        output.queue += it.size
        output.passes(it)
        if output.detector.joins(time, output.queue, it.size):
            if output.detector.feedback > 0:
                self.react(it.port, output.detector.degree, time)
            else:
                self.calm(it.port, time)
        if output.window.state != "off":
            harmful = it.flow in output.harmful(time)
            if output.window.state == "measures":
                output.unsent.discard(it.flow)
            unsent, flows = len(output.unsent), output.flows
            output.window.sends(time, it.size, unsent, flows, harmful=harmful)

    def hears(self, port: int, time: int, degree: int, flows: set[int]) -> None:
        """A CN comes."""
        self.calm(port, time)
        output = self.outputs[port]
        output.notified, output.noticed_until = degree, time + 50 * US
        output.remote |= dict.fromkeys(flows, time + 50 * US)
        self.react(port, degree, time)


@pytest.mark.parametrize(("share", "cut"), [(1.0, "measured"), (0.0, "compound")])
def test_windows_of_rcm(share: float, cut: str) -> None:
    """Equations 1 to 6: how often ports cut, whom they notify of which flows, and who waits."""
    flows = [
        *((f"h{i}", f"r{i % 3}", "300KB", f"{i}us") for i in range(8)),
        ("r4", "r0", "150KB", "60us"),
        ("r5", "r1", "150KB", "70us"),
        ("r1", "h0", "200KB", "30us"),
        ("h1", "h0", "150KB", "40us"),
    ]
    params = {"sample_jitter": 0.0, "release_rule": "never"}
    run = Run(
        {"name": "rcm", "params": {**params, "harmful_share": share, "cut_rule": cut}},
        flows,
        {},
        hosts=["100Gbps"] * 8,
        receivers=6,
        stop="300us",
    )
    # In these switches what leaves makes room first for what crosses at that instant.
    places = {"received": 0, "dequeued": 1, "enqueued": 2}
    run.events.sort(key=lambda it: (it.time, it.kind != "link-control", places[it.event]))
    out = {
        (it.node, it.flow): it.port
        for it in run.events
        if it.kind == "data" and it.event == "enqueued"
    }
    compound = cut == "compound"
    switches = {name: RcmSwitch(share, compound=compound) for name in ("s0", "s1")}
    # CNs that are on their way to the other switch, when each may send the next, and all.
    flying: dict[str, deque[tuple[int, set[int]]]] = {"s0": deque(), "s1": deque()}
    quiet_until: dict[str, int] = defaultdict(int)
    expected, seen = [], []
    for it in run.events:
        if it.node[0] != "s":
            continue
        switch, between = switches[it.node], 8 if it.node == "s0" else 0
        if it.kind == "link-control":
            if it.event == "received":
                switch.hears(it.port, it.time, *flying[it.node].popleft())
            elif it.event == "enqueued":
                seen.append((it.time, it.node, it.port, it.size))
        elif it.kind != "data":
            continue
        elif it.event == "received":
            notice = switch.comes(it, out[it.node, it.flow])
            told = it.port == between and notice and notice[1]
            if notice and told and it.time >= quiet_until[it.node]:
                quiet_until[it.node] = it.time + US
                flying["s1" if it.node == "s0" else "s0"].append(notice)
                size = 64 + 20 + 13 * len(notice[1])
                expected.append((it.time, it.node, it.port, size))
        elif it.event == "enqueued":
            switch.crosses(it)
        else:
            switch.outputs[it.port].queue -= it.size
    assert len(seen) > 30
    assert seen == expected
    counters = run.result.summary.counters
    assert counters["cuts"] == sum(switch.cuts for switch in switches.values()) > 500
    assert not any(switch.early for switch in switches.values())
