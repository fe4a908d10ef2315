"""Laws on their way through a network, replayed from packet traces.

Each model is written from the paper and the page of its scheme, and shares nothing with the
program. It is fed with what a trace says: when packets left which queue, and which ACKs and
notifications reached the sender. What probes recorded must be what the model has at that time.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import rocelab

US = 10**6
#: Bits in a byte times picoseconds in a second.
SCALE = 8e12
RATES = {"10Gbps": 10e9, "25Gbps": 25e9, "100Gbps": 100e9, "400Gbps": 400e9}

Port = tuple[str, int]
Series = list[tuple[int, float]]
FLOWS: dict[str, Any] = {"flows": ["f"]}
PORTS: dict[str, Any] = {"nodes": ["s0", "s1"]}
#: Orders what happens at one node at one instant.
PLACES = {"received": 0, "enqueued": 1, "dropped": 1, "dequeued": 2, "lost": 3}
#: The full link lets nothing through for a while, or damages packets of all kinds.
BREAKS, DAMAGES = (
    {
        "failure": [{"link": "s0:s1", "at": at, "until": until, "error_rate": rate}],
        "host": {"retransmit_timeout": "50us"},
    }
    for at, until, rate in (("120us", "130us", 1.0), ("60us", "300us", 0.01))
)


class Event(NamedTuple):
    time: int
    node: str
    port: int
    event: str
    kind: str
    flow: int
    sequence: int
    payload: int
    size: int
    ecn: str


class Record(NamedTuple):
    """What INT says of a port."""

    rate: float
    time: int
    sent: int
    queue: int


class Ack(NamedTuple):
    """What the sender knows when an ACK comes."""

    time: int
    acked: int
    sent: int
    records: list[Record]
    #: FNCC's N.
    flows: int


class Run:
    """A run with hosts h0, h1, ... on switch s0, and r0, r1, ... of 100 Gb/s on s1."""

    def __init__(
        self,
        scheme: dict[str, Any],
        flows: list[tuple[str, str, str, str]],
        probes: dict[str, str],
        *,
        hosts: list[str],
        link: str = "100Gbps",
        receivers: int = 1,
        stop: str = "500us",
        **tables: Any,  # noqa: ANN401
    ) -> None:
        ends = [(f"h{i}", "s0", rate) for i, rate in enumerate(hosts)]
        ends += [("s0", "s1", link)]
        ends += [(f"r{i}", "s1", "100Gbps") for i in range(receivers)]
        names = [*(a for a, _, _ in ends), "s1"]
        kinds = {"h": "host", "r": "host", "s": "switch"}
        self.ports: dict[Port, float] = {}
        count: dict[str, int] = defaultdict(int)
        for a, b, rate in ends:
            for node in (a, b):
                self.ports[node, count[node]] = RATES[rate]
                count[node] += 1
        keys = ("src", "dst", "size", "start")
        self.result = rocelab.run(
            rocelab.Scenario(
                topology={
                    "kind": "custom",
                    "nodes": [{"name": name, "kind": kinds[name[0]]} for name in names],
                    "links": [{"a": a, "b": b, "rate": r, "delay": "1us"} for a, b, r in ends],
                },
                traffic=[
                    {
                        "kind": "flows",
                        "tag": "f",
                        "flows": [dict(zip(keys, f, strict=True)) for f in flows],
                    }
                ],
                scheme=scheme,
                run={"stop": stop},
                trace={"packets": names},
                probe=[
                    {
                        "name": kind,
                        "kind": kind,
                        "interval": interval,
                        **(PORTS if kind == "port-state" else FLOWS),
                    }
                    for kind, interval in probes.items()
                ],
                **tables,
            )
        )
        rows = self.result.traces["packets"].to_polars().drop("priority", "queue_bytes")
        self.events = [Event(*row) for row in rows.iter_rows()]
        self.events.sort(key=lambda it: (it.time, PLACES[it.event]))
        table = self.result.flows.to_polars()
        self.source = dict(zip(table["flow_id"], table["src"], strict=True))
        self.line = {flow: self.ports[node, 0] for flow, node in self.source.items()}

    def samples(self, kind: str) -> dict[Any, Series]:
        """Samples by flow, or by node and port."""
        series: dict[Any, Series] = defaultdict(list)
        for time, *place, value in self.result.series[kind].to_polars().iter_rows():
            series[place[0] if len(place) == 1 else tuple(place)].append((time, value))
        return series

    def at_sender(self, flow: int) -> list[Event]:
        """What the flow's sender received and sent, for it."""
        here = self.source[flow]
        return [it for it in self.events if it.flow == flow and it.node == here]


class Switches:
    """Queues and counters of all ports of switches over time."""

    def __init__(self, run: Run) -> None:
        self.queues: dict[Port, tuple[list[int], list[int]]] = defaultdict(lambda: ([-1], [0]))
        self.left: dict[Port, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        #: By flow and time, what an ACK or NACK brings: the records of the data that it answers,
        #: in the order of the path.
        self.brought: dict[tuple[int, int], list[Record]] = {}
        #: The records of the last copy of a data packet.
        records: dict[tuple[int, int], list[Record]] = {}
        #: By flow, the records of the data that came last, and of all answers on their way.
        last: dict[int, list[Record]] = {}
        answers: dict[int, list[tuple[str, int, list[Record]]]] = defaultdict(list)
        sent: dict[Port, int] = defaultdict(int)
        for it in run.events:
            if it.kind in ("ack", "nack"):
                flying = answers[it.flow]
                at_source = it.node == run.source[it.flow]
                if it.node[0] == "r" and it.event == "enqueued":
                    flying.append((it.kind, it.sequence, last[it.flow]))
                elif (at_source and it.event == "received") or it.event == "lost":
                    same = (
                        at for at, one in enumerate(flying) if one[:2] == (it.kind, it.sequence)
                    )
                    self.brought[it.flow, it.time] = flying.pop(next(same))[2]
            elif it.kind == "data" and it.node[0] == "h" and it.event == "dequeued":
                records[it.flow, it.sequence] = []
            elif it.kind == "data" and it.node[0] == "r" and it.event == "received":
                last[it.flow] = records[it.flow, it.sequence]
            if (
                it.node[0] != "s"
                or it.event in ("received", "lost")
                or it.kind in ("pause", "resume")
            ):
                continue
            port = (it.node, it.port)
            times, lengths = self.queues[port]
            times.append(it.time)
            lengths.append(lengths[-1] + (it.size if it.event == "enqueued" else -it.size))
            if it.event == "dequeued":
                if it.kind == "data":
                    record = Record(run.ports[port], it.time, sent[port], lengths[-1])
                    records[it.flow, it.sequence].append(record)
                self.left[port][0].append(it.time)
                self.left[port][1].append(sent[port])
                sent[port] += it.size

    def queue(self, port: Port, time: int, *, before: bool = False) -> int:
        times, lengths = self.queues[port]
        find = bisect_left if before else bisect_right
        return lengths[find(times, time) - 1]


def assert_losses(run: Run, tables: dict[str, Any]) -> None:
    """If there is a failure, packets are lost, and flows go back."""
    lost = run.result.summary.lost_packets
    assert (lost > 10) == ("failure" in tables), lost
    again = run.result.flows.to_polars()["retransmitted_bytes"]
    assert ((again > 0).sum() >= 2) == ("failure" in tables)


def assert_follows(
    model: Series, samples: Series, *, rel: float = 1e-9, tol: float = 0.0, least: int = 10
) -> None:
    """All samples are what the model had last; they must have at least ``least`` values."""
    assert len({value for _, value in samples}) >= least
    times = [time for time, _ in model]
    for time, sample in samples:
        at = bisect_right(times, time) - 1
        if at >= 0:
            value = model[at][1]
            assert math.isclose(value, sample, rel_tol=rel, abs_tol=tol), (time, value, sample)


def hpcc_windows(
    arrivals: Iterator[Ack],
    first: float,
    rtt: float,
    share: Callable[[list[Record], int], float] | None = None,
) -> Series:
    """Algorithm 1 of HPCC, SIGCOMM 2019; with `share` Algorithm 3 of FNCC."""
    eta, max_stage, alpha = 0.95, 5, 1.05
    increase = first * (1 - eta) / 100
    lowest = 100e6 * rtt / SCALE
    reference, stage, last_update, average = first, 0, 0, 1.0
    before: list[Record] | None = None
    windows: Series = [(0, first)]
    for time, acked, sent, records, flows in arrivals:
        if before is None:
            before, last_update = records, sent
            continue
        most, span, busiest = 0.0, 0, -1
        for hop, (new, old) in enumerate(zip(records, before, strict=True)):
            if new.time > old.time:
                queue = min(new.queue, old.queue) * SCALE / (new.rate * rtt)
                load = queue + (new.sent - old.sent) * SCALE / (new.time - old.time) / new.rate
                if load > most:
                    most, span, busiest = load, new.time - old.time, hop
        before = records
        if busiest < 0:
            continue
        weight = min(span, rtt) / rtt
        average = (1 - weight) * average + weight * most
        if share is not None and busiest == 0 and most > alpha:
            reference = min(share(records, flows), first)
        multiplies = average >= eta or stage >= max_stage
        window = (reference * eta / average if multiplies else reference) + increase
        window = min(max(window, lowest), first)
        if acked > last_update:
            reference, last_update = window, sent
            stage = 0 if multiplies else stage + 1
        windows.append((time, window))
    return windows


def acks(
    run: Run,
    flow: int,
    records: Callable[[Event], list[Record]],
    active: dict[tuple[int, int], int],
) -> Iterator[Ack]:
    """ACKs that acknowledge something new; others do not count, and NACKs neither."""
    sent = acked = 0
    for it in run.at_sender(flow):
        if it.kind == "data":
            sent = it.sequence + it.payload
        elif it.kind in ("ack", "nack") and it.event == "received" and it.sequence > acked:
            acked = it.sequence
            if it.kind == "nack":
                continue
            yield Ack(it.time, acked, sent, records(it), active.get((flow, acked), 0))


THREE = [
    ("h0", "r0", "700KB", "0us"),
    ("h1", "r0", "500001B", "50us"),
    ("h2", "r0", "300KB", "100us"),
]


@pytest.mark.parametrize(
    ("hosts", "tables"),
    [
        (["100Gbps"] * 3, {}),
        (["10Gbps", "25Gbps", "400Gbps"], {"link": "400Gbps"}),
        (["100Gbps"] * 3, {"host": {"ack_every": 4, "latency": "500ns"}}),
        (["100Gbps"] * 3, {"pfc": {"threshold": "static", "xoff": "20KB", "xon": "18KB"}}),
        (["100Gbps"] * 3, BREAKS),
        (["100Gbps"] * 3, DAMAGES),
    ],
    ids=["equal hosts", "rates of hosts", "fewer acks", "pauses", "broken link", "losses"],
)
def test_windows_of_hpcc(hosts: list[str], tables: dict[str, Any]) -> None:
    run = Run({"name": "hpcc"}, THREE, {"window": "50ns", "rate": "50ns"}, hosts=hosts, **tables)
    if "pfc" in tables:
        assert run.result.summary.pause_frames > 0
    assert_losses(run, tables)
    switches = Switches(run)
    windows, rates = run.samples("window"), run.samples("rate")
    for flow, line in run.line.items():
        first = windows[flow][0][1]
        rtt = round(first * SCALE / line)
        arrivals = acks(run, flow, lambda it: switches.brought[it.flow, it.time], {})
        model = hpcc_windows(arrivals, first, rtt)
        assert_follows(model, windows[flow])
        assert_follows([(t, w * SCALE / rtt) for t, w in model], rates[flow], tol=1.01)


@pytest.mark.parametrize(
    ("hosts", "tables"),
    [
        (["100Gbps"] * 5, {}),
        (["100Gbps"] * 5, {"pfc": {"threshold": "static", "xoff": "60KB"}}),
        (["25Gbps", "10Gbps", "100Gbps", "400Gbps", "100Gbps"], {}),
        (["100Gbps"] * 5, {"host": {"ack_every": 4}}),
    ],
    ids=["equal hosts", "pauses", "rates of hosts", "fewer acks"],
)
def test_windows_of_fncc(hosts: list[str], tables: dict[str, Any]) -> None:
    flows = [(f"h{i}", "r0", "300KB", f"{20 * i}us") for i in range(5)]
    run = Run({"name": "fncc"}, flows, {"window": "50ns"}, hosts=hosts, link="400Gbps", **tables)
    switches, windows = Switches(run), run.samples("window")
    rtt = round(windows[0][0][1] * SCALE / run.line[0])
    # N: flows with data in this or the last round trip that have not ended.
    seen: dict[int, int] = {}
    active: dict[tuple[int, int], int] = {}
    # The port through which an ACK came in is the one through which the data left.
    came: dict[tuple[str, int, int], int] = {}
    records: dict[tuple[int, int], list[Record]] = defaultdict(list)
    for it in run.events:
        end = it.sequence + it.payload
        if it.node == "r0" and it.kind == "data" and it.event == "received":
            seen[it.flow] = it.time // rtt
            active[it.flow, end] = sum(last >= it.time // rtt - 1 for last in seen.values())
            if end == 300_000:
                del seen[it.flow]
        if it.node[0] == "s" and it.kind == "ack" and it.event == "received":
            came[it.node, it.flow, it.sequence] = it.port
        if it.node[0] == "s" and it.kind == "ack" and it.event == "dequeued":
            port = (it.node, came[it.node, it.flow, it.sequence])
            times, sent = switches.left[port]
            at = bisect_right(times, it.time) - 1
            record = Record(run.ports[port], times[at], sent[at], switches.queue(port, it.time))
            records[it.flow, it.sequence].append(record)
    sped_up = 0

    def share(hops: list[Record], flows: int) -> float:
        nonlocal sped_up
        sped_up += 1
        return hops[0].rate * rtt / SCALE * 0.9 / flows

    for flow in run.line:
        first = windows[flow][0][1]
        arrivals = acks(run, flow, lambda it: records[it.flow, it.sequence], active)
        model = hpcc_windows(arrivals, first, rtt, share)
        assert_follows(model, windows[flow])
    assert sped_up > 90


class Dcqcn:
    """The paper's reaction point: rate and alpha of one sender."""

    gain, steps, additive, hyper = 1 / 16, 2, 20e6, 200e6
    quiet, timer, counter = 7 * US, 15 * US, 40_000

    def __init__(self, line: float) -> None:
        self.line = self.rate = self.target = line
        self.alpha = 1.0
        self.limited = False
        self.by_time = self.by_bytes = self.counted = self.quiet_at = self.step_at = 0
        self.hyper_steps = 0
        self.rates: Series = [(0, line)]
        self.alphas: Series = [(0, 1.0)]

    def note(self, time: int) -> None:
        self.rates.append((time, self.rate))
        self.alphas.append((time, self.alpha))

    def notified(self, time: int) -> None:
        self.target, self.rate = self.rate, max(self.rate * (1 - self.alpha / 2), 100e6)
        self.alpha = (1 - self.gain) * self.alpha + self.gain
        self.limited = True
        self.by_time = self.by_bytes = self.counted = 0
        self.quiet_at, self.step_at = time + self.quiet, time + self.timer

    def sent(self, size: int) -> None:
        self.counted += size if self.limited else 0
        if self.counted >= self.counter:
            self.counted -= self.counter
            self.step()
            self.by_bytes += 1

    def step(self) -> None:
        lower, upper = sorted((self.by_time, self.by_bytes))
        if lower > self.steps:
            self.target += (lower - self.steps) * self.hyper
            self.hyper_steps += 1
        elif upper >= self.steps:
            self.target += self.additive
        self.target = min(self.target, self.line)
        self.rate = (self.rate + self.target) / 2

    def wait(self, end: int) -> None:
        """Lets timers expire before `end`."""
        while self.limited and min(self.quiet_at, self.step_at) < end:
            time = min(self.quiet_at, self.step_at)
            if time == self.quiet_at:
                self.alpha *= 1 - self.gain
                self.quiet_at += self.quiet
            else:
                self.step()
                self.by_time += 1
                self.step_at += self.timer
            self.note(time)


@pytest.mark.parametrize(
    "tables", [{}, BREAKS, DAMAGES], ids=["all arrives", "broken link", "losses"]
)
def test_rates_of_dcqcn(tables: dict[str, Any]) -> None:
    """The paper's reaction point, with all three phases."""
    settings = {
        "increase_timer": "15us",
        "byte_counter": "40KB",
        "recovery_steps": 2,
        "alpha_timer": "7us",
        "rate_ai": "20Mbps",
        "rate_hai": "200Mbps",
        "gain": 1 / 16,
    }
    run = Run(
        {"name": "dcqcn", "preset": "dcqcn-paper", "params": settings},
        [(f"h{i}", "r0", "4MB", f"{20 * i}us") for i in range(5)],
        {"rate": "100ns", "alpha": "100ns"},
        hosts=["100Gbps"] * 5,
        stop="1500us",
        **tables,
    )
    assert_losses(run, tables)
    rates, alphas = run.samples("rate"), run.samples("alpha")
    for flow, line in run.line.items():
        model = Dcqcn(line)
        for it in run.at_sender(flow):
            if it.kind == "control" and it.event == "received":
                # At one instant a notification goes before timers, and they before packets.
                model.wait(it.time)
                model.notified(it.time)
            elif it.kind == "data":
                model.wait(it.time + 1)
                model.sent(it.size)
            else:
                continue
            model.note(it.time)
        model.wait(1500 * US + 1)
        assert_follows(model.rates, rates[flow], tol=8)
        assert_follows(model.alphas, alphas[flow])
        assert model.hyper_steps > 2, flow


def test_windows_of_swift() -> None:
    """Windows with flow scaling, from hundreds of packets to less than one."""
    flows = [(f"h{i}", "r0", "2MB", "0us") for i in range(100)]
    run = Run(
        {
            "name": "swift",
            "preset": "swift-htsim",
            "params": {"base_target": "7us", "per_hop": "100ns", "fs_range": "1us"},
        },
        flows,
        {"window": "1us"},
        hosts=["100Gbps"] * 100,
        stop="1500us",
    )
    scaling = US / (1 / math.sqrt(0.1) - 1 / math.sqrt(100))
    least = 1000.0
    for flow, samples in list(run.samples("window").items())[:10]:
        window = samples[0][1] / 1000
        average: float | None = None
        decreased: int | None = None
        sent: dict[int, int] = {}
        acked = 0
        model = [(0, window * 1000)]
        for it in run.at_sender(flow):
            if it.kind == "data":
                sent[it.sequence + it.payload] = it.time
            if it.kind != "ack" or it.event != "received":
                continue
            delay = it.time - sent[it.sequence]
            packets, acked = (it.sequence - acked) / 1000, it.sequence
            of_flows = scaling / math.sqrt(window) - scaling / math.sqrt(100)
            target = 7 * US + 2 * 100_000 + min(max(of_flows, 0), US)
            if delay < target:
                window += packets / max(window, 1)
            elif decreased is None or average is None or it.time - decreased >= average:
                window *= max(1 - 0.8 * (delay - target) / delay, 0.5)
                decreased = it.time
            window = min(max(window, 0.01), 1000)
            average = delay if average is None else 0.875 * average + 0.125 * delay
            model.append((it.time, window * 1000))
            least = min(least, window)
        assert_follows(model, samples)
    assert least < 1


@pytest.mark.parametrize(
    "tables",
    [{}, DAMAGES, {**DAMAGES, "host": {"ack_every": 12}}],
    ids=["all arrives", "losses", "losses and fewer acks"],
)
def test_rates_of_timely(tables: dict[str, Any]) -> None:
    """Algorithm 1 of the paper, an update for each 16 KB; NACKs acknowledge as ACKs do."""
    low, high, step = 8 * US, 30 * US, 100e6
    run = Run(
        {"name": "timely", "params": {"t_low": "8us", "t_high": "30us"}},
        [(f"h{i}", "r0", "1MB", f"{20 * i}us") for i in range(4)],
        {"rate": "200ns"},
        hosts=["100Gbps"] * 4,
        **tables,
    )
    # When copies of packets left that have not arrived, and the one that came last, by flow.
    copies: dict[tuple[int, int], list[int]] = defaultdict(list)
    last: dict[int, int] = {}
    # ACKs and NACKs on their way, with when what they answer left; then the round trips.
    flying: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
    trips: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for it in run.events:
        packet, at_source = (it.flow, it.sequence), it.node == run.source[it.flow]
        if it.kind == "data":
            if at_source:
                copies[packet].append(it.time)
            elif it.event == "lost":
                copies[packet].pop(0)
            elif it.node == "r0" and it.event == "received":
                last[it.flow] = copies[packet].pop(0)
        elif it.node == "r0" and it.event == "enqueued":
            flying[it.flow].append((it.kind, it.sequence, last[it.flow]))
        elif it.event == "lost" or (at_source and it.event == "received"):
            answers = flying[it.flow]
            same = (at for at, one in enumerate(answers) if one[:2] == (it.kind, it.sequence))
            *_, left = answers.pop(next(same))
            if at_source:
                trips[it.flow].append((it.time, it.sequence, it.time - left))
    for flow, samples in run.samples("rate").items():
        rate, before, average, in_a_row, due = 100e9, 0, 0.0, 0, 16_000
        model: Series = [(0, rate)]
        for time, acked, rtt in trips[flow]:
            if acked < due:
                continue
            due = acked + 16_000
            difference, before = rtt - before, rtt
            if len(model) == 1:
                model.append((time, rate))
                continue
            average = 0.125 * average + 0.875 * difference
            gradient = average / (20 * US)
            in_a_row = in_a_row + 1 if low <= rtt <= high and gradient <= 0 else 0
            if rtt < low:
                rate += step
            elif rtt > high:
                rate *= 1 - 0.8 * (1 - high / rtt)
            elif gradient <= 0:
                rate += 5 * step if in_a_row >= 5 else step
            else:
                rate *= 1 - 0.8 * gradient
            rate = min(max(rate, 100e6), 100e9)
            model.append((time, rate))
        assert_follows(model, samples, tol=20, least=4)


def test_rates_of_rocc() -> None:
    """The fair rate of the congested port, and what sources make of it."""
    run = Run(
        {"name": "rocc"},
        [
            ("h0", "r0", "20MB", "0us"),
            ("h1", "r0", "10MB", "50us"),
            ("h2", "r0", "4MB", "400us"),
        ],
        {"rate": "500ns", "port-state": "5us"},
        hosts=["100Gbps"] * 3,
        stop="3ms",
    )
    congested = ("s0", 3)
    switches = Switches(run)
    # Rates are counted in 10 Mb/s, queues in 600 B.
    fair, most, before = 10_000.0, 10_000, 0
    model = [(0, fair * 1e7)]
    levels = set()
    for time in range(40 * US, 3000 * US + 1, 40 * US):
        queue = switches.queue(congested, time, before=True) // 600
        if queue >= 1100 and fair > most / 8:
            fair = 10
        elif queue - before >= 1000 and fair > most / 8:
            fair /= 2
        else:
            level = 2
            while fair < most / level and level < 64:
                level *= 2
            fair -= (0.3 * (queue - 500) + 1.5 * (queue - before)) / (level / 2)
            levels.add(level)
        fair, before = min(max(fair, 10), most), queue
        model.append((time, fair * 1e7))
    assert len(levels) > 2
    assert_follows(model, run.samples("port-state")[congested], tol=2)

    fair_at = dict(model)
    for flow, samples in run.samples("rate").items():
        heard = [it.time for it in run.at_sender(flow) if it.kind == "control"]
        due = [(time + 15 * US, fair_at[time // (40 * US) * 40 * US]) for time in heard]
        rate, free_at = math.inf, 3000 * US
        rates: Series = []
        for time, told in [*due, (3000 * US, 0.0)]:
            while free_at < time:
                rate *= 2
                rates.append((free_at, min(rate, 100e9)))
                free_at = free_at + 55 * US if rate < 100e9 else 3000 * US
            rate, free_at = round(told / 1e7) * 1e7, time + 55 * US
            rates.append((time, rate))
        # A source that is free has no rate, and no sample.
        assert_follows(rates, samples, tol=2)


def mercury_windows(notices: Series, full: float, interval: int, quiet: int) -> Series:
    """Algorithm 2, lines 15 to 20: the smallest window of an interval, then the newest."""
    windows: Series = [(0, full)]
    window, since, quiet_at = full, 0, 0
    for time, told in notices:
        if windows[1:] and time >= quiet_at:
            window = full
            windows.append((quiet_at, window))
        told = min(max(told, 1000), full)
        if told <= window or time >= since + interval:
            window, since = told, time
        quiet_at = time + quiet
        windows.append((time, window))
    return [*windows, (quiet_at, full)]


@pytest.mark.parametrize("key", ["five-tuple", "host-pair"])
def test_states_and_notices_of_mercury(key: str) -> None:
    """Algorithms 1 and 2: which ports are congested, whom they notify when, and of which window."""
    flows = [
        ("h0", "r0", "4MB", "0us"),
        ("h1", "r1", "3MB", "30us"),
        ("h2", "r0", "2MB", "200us"),
        ("h2", "r0", "1MB", "230us"),
        *((f"r{i}", "r0", "200KB", "150us") for i in range(2, 10)),
        *((f"r{i}", "r0", "300KB", "400us") for i in range(10, 18)),
    ]
    interval, quiet = 5 * US, 9 * US
    params = {"flow_key": key, "notice_interval": "5us", "quiet_time": "9us"}
    run = Run(
        {"name": "mercury", "params": params},
        flows,
        {"port-state": "100ns", "window": "200ns"},
        hosts=["100Gbps"] * 3,
        receivers=18,
        pfc={"threshold": "static", "xoff": "20KB", "xon": "16KB"},
    )
    assert run.result.summary.pause_frames > 0
    table_of_flows = run.result.flows.to_polars()
    begin = dict(zip(table_of_flows["flow_id"], table_of_flows["start_ps"], strict=True))
    dst = dict(zip(table_of_flows["flow_id"], table_of_flows["dst"], strict=True))
    by_pair = key == "host-pair"
    keys = {flow: (src, dst[flow]) if by_pair else flow for flow, src in run.source.items()}
    # PFC frames first, then what else arrives, then departures; notices after what makes them.
    run.events.sort(
        key=lambda it: (
            it.time,
            it.kind not in ("pause", "resume"),
            PLACES[it.event],
            it.kind == "control",
        )
    )
    # 3 links of 1 us and both packets, there and back.
    base_rtt = 3 * (2 * US + (1082 + 86) * 80)
    undetermined: set[Port] = set()
    paused: dict[Port, int] = {}
    got: dict[Port, int] = defaultdict(int)
    table: dict[Port, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
    check: dict[Port, tuple[int, int]] = {}
    told: dict[tuple[Port, Any], int] = {}
    states: dict[Port, Series] = defaultdict(list)
    expected, seen = [], []
    #: Windows that a switch has just made, by flow; then those on their way between the switches,
    #: through s0, and to the sender.
    made: dict[tuple[int, int], float] = {}
    between: dict[int, list[float]] = defaultdict(list)
    passing: dict[int, list[float]] = defaultdict(list)
    arriving: dict[int, list[float]] = defaultdict(list)
    notices: dict[int, Series] = defaultdict(list)
    #: The flow of a pair whose packet came last: a notice goes to its sender, and is for all.
    last: dict[tuple[Port, Any], int] = {}
    for it in run.events:
        if it.kind == "control" and it.node == run.source[it.flow]:
            window = arriving[it.flow].pop(0)
            for flow, of_key in keys.items():
                if of_key == keys[it.flow] and it.time >= begin[flow]:
                    notices[flow].append((it.time, window))
        if it.node[0] != "s":
            continue
        port, time = (it.node, it.port), it.time
        threshold = 12_500 * run.ports[port] / 100e9
        if it.kind == "control":
            if it.event == "received":
                passing[it.flow].append(between[it.flow].pop(0))
            elif it.event == "enqueued":
                if passing[it.flow]:
                    window = passing[it.flow].pop(0)
                else:
                    window = made[time, it.flow]
                    seen.append((time, it.flow))
                near = ("s0" if run.source[it.flow][0] == "h" else "s1") == it.node
                (arriving if near else between)[it.flow].append(window)
        elif it.kind == "pause" and it.event == "received":
            paused.setdefault(port, time)
            got[port] = 0
            undetermined.add(port)
        elif it.kind == "resume" and it.event == "received":
            queue = sum(table[port].values())
            drained = run.ports[port] * (time - paused.pop(port)) / SCALE
            if queue <= threshold or got[port] > drained:
                undetermined.discard(port)
            check[port] = (time + 10 * US, queue)
        elif it.kind == "data" and it.event == "enqueued":
            table[port][keys[it.flow]] += it.size
            last[port, keys[it.flow]] = it.flow
            got[port] += it.size
            queue = sum(table[port].values())
            if port not in undetermined and queue > threshold:
                for of_key, waiting in table[port].items():
                    if waiting and time - told.get((port, of_key), -(10**12)) >= interval:
                        told[port, of_key] = time
                        flow = last[port, of_key]
                        expected.append((time, flow))
                        share = waiting / queue
                        made[time, flow] = run.ports[port] * share * base_rtt / SCALE
        elif it.kind == "data" and it.event == "dequeued":
            table[port][keys[it.flow]] -= it.size
            queue = sum(table[port].values())
            if port in undetermined and port not in paused and time >= check[port][0]:
                if queue > threshold and queue < check[port][1]:
                    check[port] = (time + 10 * US, queue)
                else:
                    undetermined.discard(port)
        congested = sum(table[port].values()) > threshold
        states[port].append((time, 2 if port in undetermined else int(congested)))
    assert len(expected) > 20
    assert sorted(seen) == sorted(expected)
    shown = run.samples("port-state")
    assert {value for samples in shown.values() for _, value in samples} == {0, 1, 2}
    for port, model in states.items():
        times = [time for time, _ in model]
        for time, value in shown[port]:
            at = bisect_right(times, time) - 1
            assert at < 0 or model[at][1] == value, (port, time)
    for flow, samples in run.samples("window").items():
        windows = mercury_windows(notices[flow], 100e9 * base_rtt / SCALE, interval, quiet)
        # Windows are whole bytes.
        assert_follows(windows, samples, tol=1, least=3)


class Sampled:
    """CRD of RCM: the detector of one queue, with samples that are neither early nor late."""

    intervals = (150, 75, 50, 37.5, 30, 25, 21.5, 18.5)

    def __init__(self) -> None:
        self.left = 15_000.0
        self.before = self.until = self.calm = self.feedback = self.degree = 0

    def joins(self, time: int, queue: int, size: int) -> bool:
        """A packet joins the queue, which then has `queue` bytes. Returns whether it is sampled."""
        self.left -= size
        if self.left > 0:
            return False
        feedback = min(queue - 20_000 + 2 * (queue - self.before), 100_000)
        self.before = queue
        self.calm = 0 if feedback > 0 else self.calm + 1
        congested = feedback > 0 or (time < self.until and self.calm < 2)
        self.until = time + 50 * US if congested else 0
        self.feedback = feedback
        self.degree = round(max(feedback, 0) * 63 / 100_000)
        self.left = 15_000 * self.intervals[self.degree // 8] / 150
        return True


def test_region_of_rcm() -> None:
    """Which ports are roots, at the edge, or inside of the congestion region."""
    flows = [
        *((f"h{i}", f"r{i % 2}", "500KB", f"{20 * i}us") for i in range(4)),
        *((f"r{i}", "r0", "300KB", "100us") for i in range(2, 6)),
    ]
    run = Run(
        {"name": "rcm", "params": {"sample_jitter": 0.0}},
        flows,
        {"port-state": "100ns"},
        hosts=["100Gbps"] * 4,
        receivers=6,
    )
    # In these switches what leaves makes room first for what crosses at that instant.
    places = {"received": 0, "dequeued": 1, "enqueued": 2}
    run.events.sort(key=lambda it: (it.time, places[it.event]))
    out = {
        (it.node, it.flow): it.port
        for it in run.events
        if it.kind == "data" and it.event == "enqueued"
    }
    inputs: dict[Port, Sampled] = defaultdict(Sampled)
    outputs: dict[Port, Sampled] = defaultdict(Sampled)
    # Bytes by input and output, and in output queues.
    waiting: dict[Port, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    queues: dict[Port, int] = defaultdict(int)
    came: dict[tuple[str, int, int], Port] = {}
    blames: dict[Port, Port] = {}
    noticed: dict[Port, int] = defaultdict(int)
    # Until when the port has found congestion itself, and was notified of it.
    flags: dict[Port, list[tuple[int, int, int]]] = defaultdict(list)
    for it in run.events:
        if it.node[0] != "s":
            continue
        port, time, node = (it.node, it.port), it.time, it.node
        if it.kind == "link-control" and it.event == "received":
            noticed[port] = time + 50 * US
        elif it.kind == "data" and it.event == "received":
            voqs = waiting[port]
            voqs[out[node, it.flow]] += it.size
            came[node, it.flow, it.sequence] = port
            if inputs[port].joins(time, sum(voqs.values()), it.size):
                blames[port] = (node, max(voqs, key=lambda to: (voqs[to], -to)))
        elif it.kind == "data" and it.event == "enqueued":
            waiting[came[node, it.flow, it.sequence]][it.port] -= it.size
            queues[port] += it.size
            outputs[port].joins(time, queues[port], it.size)
        elif it.kind == "data" and it.event == "dequeued":
            queues[port] -= it.size
        for root in [*outputs, *blames.values()]:
            blaming = [inputs[by].until for by, blamed in blames.items() if blamed == root]
            local = max(outputs[root].until, *blaming, 0)
            flags[root].append((time, local, noticed[root]))
    seen = set()
    for port, samples in run.samples("port-state").items():
        times = [time for time, _, _ in flags[port]]
        for time, state in samples:
            at = bisect_right(times, time) - 1
            _, local, notified = flags[port][at] if at >= 0 else (0, 0, 0)
            assert state == (time < local) + 2 * (time < notified), (port, time)
            seen.add(state)
    assert seen == {0, 1, 2, 3}
