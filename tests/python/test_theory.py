"""What queueing theory and papers that nothing here reproduces say of small networks.

Each expected value is worked out from the formula that is named, never from a run.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from statistics import fmean
from typing import Any

import polars as pl
import pytest

import rocelab

#: Bytes of link time of a full data packet, which has 1000 B, and of the first of a message.
FULL, FIRST = 1082, 1098
NO_PFC = {"enabled": False}


def star(hosts: int, rate: str = "100Gbps", delay: str = "1us") -> dict[str, Any]:
    return {"kind": "star", "hosts": hosts, "host_rate": rate, "host_delay": delay}


def custom(links: list[tuple[str, str, str]]) -> dict[str, Any]:
    """A network of links `(a, b, rate)` of 1 us; names of hosts begin with h."""
    names = sorted({name for a, b, _ in links for name in (a, b)})
    return {
        "kind": "custom",
        "nodes": [
            {"name": name, "kind": "host" if name.startswith("h") else "switch"} for name in names
        ],
        "links": [{"a": a, "b": b, "rate": rate, "delay": "1us"} for a, b, rate in links],
    }


def run(**settings: Any) -> rocelab.Result:  # noqa: ANN401
    return rocelab.run(rocelab.Scenario(**settings))


def long_flows(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    flows = [{"src": src, "dst": dst, "size": "10GB"} for src, dst in pairs]
    return [{"kind": "flows", "flows": flows}]


def incast(senders: int) -> list[dict[str, Any]]:
    return long_flows(*((f"h{sender}", f"h{senders}") for sender in range(senders)))


def probe(kind: str, start: str, interval: str, **of: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": kind, "kind": kind, "start": start, "interval": interval, **of}


def values(result: rocelab.Result, kind: str) -> list[float]:
    table = result.series[kind].to_polars()
    return table[table.columns[-1]].to_list()


def shares(result: rocelab.Result) -> list[float]:
    """The share of each flow in the goodput of all."""
    table = (
        result.series["goodput"].to_polars().group_by("flow_id").agg(pl.col("goodput_bps").sum())
    )
    sums = table.sort("flow_id")["goodput_bps"].to_list()
    return [one / sum(sums) for one in sums]


def test_a_full_buffer_drops_what_finds_no_room_packet_by_packet() -> None:
    """Poisson packets at a port of 10 Gb/s that has room for five: M/D/1 with a finite queue.

    Which packets are dropped follows from their times of arrival alone. The buffer also holds five
    ACKs, so that none of these is dropped.
    """
    senders, room, rate = 32, 5, 10e9
    result = run(
        topology={
            "kind": "custom",
            "nodes": [{"name": "s", "kind": "switch"}]
            + [{"name": f"h{host}", "kind": "host"} for host in range(senders + 1)],
            "links": [
                {
                    "a": "s",
                    "b": f"h{host}",
                    "rate": "10Gbps" if host == senders else "1Tbps",
                    "delay": "10ns",
                }
                for host in range(senders + 1)
            ],
        },
        scheme="none",
        pfc=NO_PFC,
        switch={"buffer": f"{room * FIRST + 5 * 86}B"},
        host={"retransmit_timeout": "never"},
        run={"stop": "40ms"},
        traffic=[
            {
                "kind": "poisson",
                "load": 0.9 * 1000 / FIRST * rate / senders / 1e12,
                "hosts": [f"h0..h{senders - 1}"],
                "receivers": [f"h{senders}"],
                "cdf": [[1000, 0], [1000, 1]],
                "messages": 20_000,
            }
        ],
    )
    service = round(FIRST * 8e12 / rate)
    free, waiting, lost = 0, deque[int](), []
    flows = result.flows.to_polars().sort("start_ps")
    for now in flows["start_ps"]:
        while waiting and waiting[0] <= now:
            waiting.popleft()
        lost.append(len(waiting) == room and free > now)
        if not lost[-1]:
            if free > now:
                waiting.append(free)
            free = max(free, now) + service
    assert 500 < sum(lost) < 2000
    assert lost == [not done for done in flows["done"]]


def test_waits_by_priority() -> None:
    """Two classes of equal load at a port, the higher one strict: Cobham's formula, 1954."""
    senders, load = 32, 0.35
    result = run(
        topology=custom(
            [(f"h{host}", "s", "1Tbps") for host in range(senders)] + [("hot", "s", "10Gbps")]
        ),
        scheme="none",
        pfc=NO_PFC,
        classes={"strict": [5, 6, 7]},
        traffic=[
            {
                "kind": "poisson",
                "tag": f"class {priority}",
                "priority": priority,
                "load": load * 1000 / FIRST * 10e9 / senders / 1e12,
                "hosts": [f"h{host}" for host in range(senders)],
                "receivers": ["hot"],
                "cdf": [[1000, 0], [1000, 1]],
                "messages": 50_000,
            }
            for priority in (5, 3)
        ],
    )
    flows = result.flows.to_polars()
    waits = flows.with_columns(wait=(pl.col("fct_ps") - pl.col("ideal_fct_ps")) / (FIRST * 800))
    high, low = (waits.filter(pl.col("priority") == class_)["wait"].mean() for class_ in (5, 3))
    residual = load  # Half of both loads together, in packets.
    assert high == pytest.approx(residual / (1 - load), rel=0.03)
    assert low == pytest.approx(residual / (1 - load) / (1 - 2 * load), rel=0.1)


@pytest.mark.parametrize(("hosts", "spines"), [(4, 5), (8, 10), (16, 20)])
def test_queues_of_random_spraying(hosts: int, spines: int) -> None:
    """Hosts send in step and spray: the output queues of Karol, Hluchyj and Morgan, 1987."""
    result = run(
        topology={
            "kind": "leaf-spine",
            "leaves": 2,
            "spines": spines,
            "hosts_per_leaf": hosts,
            "host_rate": "100Gbps",
            "host_delay": "1us",
            "rate": "100Gbps",
            "delay": "1us",
        },
        scheme="none",
        pfc=NO_PFC,
        routing={"balance": "random"},
        host={"reorder": 16_000, "nack": False, "ack_every": 1000},
        run={"stop": "400us"},
        traffic=long_flows(*((f"h{host}", f"h{hosts + host}") for host in range(hosts))),
        probe=[
            probe("queue", "50us", "87ns", ports=[f"leaf0:spine{spine}" for spine in range(spines)])
        ],
    )
    load = hosts / spines
    wait = (hosts - 1) / hosts * load / (2 * (1 - load))
    assert fmean(values(result, "queue")) / FULL == pytest.approx(load * wait, rel=0.06)


@pytest.mark.parametrize(("queues", "alpha"), [(1, 1.0), (4, 1.0), (4, 0.25), (2, 8.0)])
def test_dynamic_thresholds(queues: int, alpha: float) -> None:
    """Choudhury and Hahne, 1998: n queues at their limit have a B / (1 + n a) each."""
    pairs = [
        (f"h{3 * queue + way}", f"h{3 * queue + 2}") for queue in range(queues) for way in (0, 1)
    ]
    traffic = long_flows(*pairs)
    traffic[0]["priority"] = 0
    result = run(
        topology=star(3 * queues),
        scheme="none",
        pfc=NO_PFC,
        switch={"buffer": "2MB", "lossy_alpha": alpha},
        host={"nack": False, "retransmit_timeout": "never"},
        run={"stop": "1ms"},
        traffic=traffic,
        probe=[
            probe(
                "queue", "500us", "1us", ports=[f"s0:h{3 * queue + 2}" for queue in range(queues)]
            )
        ],
    )
    assert fmean(values(result, "queue")) == pytest.approx(
        alpha * 2e6 / (1 + queues * alpha), rel=0.01
    )


@pytest.mark.parametrize(("xoff", "xon", "delay_us"), [(100, 50, 1.0), (400, 100, 2.0)])
def test_the_sawtooth_of_pfc(xoff: int, xon: int, delay_us: float) -> None:
    """A host of 100 Gb/s behind a port of 40: the queue swings between the thresholds.

    It goes on growing until the pause takes effect, and shrinking until the resume does.
    """
    topology = custom([("h0", "s", "100Gbps"), ("s", "h1", "40Gbps")])
    topology["links"][0]["delay"] = f"{delay_us}us"
    result = run(
        topology=topology,
        scheme="none",
        pfc={"xoff": f"{xoff}KB", "xon": f"{xon}KB"},
        run={"stop": "20ms"},
        traffic=long_flows(("h0", "h1")),
        probe=[probe("paused-share", "5ms", "1ms", ports=["h0:s"])],
    )
    into, out = 100e9 / 8, 40e9 / 8
    # There and back, the frame, and half of a packet that is being sent.
    late = 2 * delay_us * 1e-6 + (84 + FULL / 2) * 8 / 100e9
    swing = (xoff - xon) * 1e3
    period = (swing + out * late) / (into - out) + (swing + (into - out) * late) / out + 2 * late
    assert result.summary.pause_frames == pytest.approx(20e-3 / period, rel=0.02)
    assert fmean(values(result, "paused-share")) == pytest.approx(1 - 40 / 100, abs=0.01)


def test_pfc_halves_the_share_at_each_switch_of_a_parking_lot() -> None:
    """PFC is fair to ingress ports, not to flows, as DCQCN's paper shows in figure 3."""
    links = [(f"h{place}", f"s{place}", "100Gbps") for place in range(5)]
    links += [(f"s{place}", f"s{place + 1}", "100Gbps") for place in range(4)]
    result = run(
        topology=custom([*links, ("s4", "h5", "100Gbps")]),
        scheme="none",
        run={"stop": "6ms"},
        traffic=long_flows(*((f"h{place}", "h5") for place in range(5))),
        probe=[probe("goodput", "3ms", "100us", nodes=["h*"])],
    )
    assert shares(result) == pytest.approx([1 / 16, 1 / 16, 1 / 8, 1 / 4, 1 / 2], rel=0.03)


def test_rocc_is_max_min_fair() -> None:
    """A flow over two links, which one other flow and three others share (RoCC, CoNEXT 2020)."""
    links = [("s0", "s1", "100Gbps"), ("s1", "s2", "100Gbps")]
    hosts = [("s0", "s2"), ("s0", "s1"), *[("s1", "s2")] * 3]
    pairs = []
    for number, ends in enumerate(hosts):
        links += [(f"h{2 * number + end}", ends[end], "100Gbps") for end in (0, 1)]
        pairs.append((f"h{2 * number}", f"h{2 * number + 1}"))
    result = run(
        topology=custom(links),
        scheme="rocc",
        run={"stop": "30ms"},
        traffic=long_flows(*pairs),
        probe=[probe("goodput", "20ms", "1ms", nodes=["h*"])],
    )
    fair = [0.25, 0.75, 0.25, 0.25, 0.25]
    assert shares(result) == pytest.approx([share / sum(fair) for share in fair], rel=0.01)


@pytest.mark.parametrize("flows", [2, 10])
def test_the_sawtooth_of_dctcp(flows: int) -> None:
    """Windows in step: equations 6 to 10 of DCTCP's paper (SIGCOMM 2010), in packets."""
    threshold = 65
    result = run(
        topology=star(flows + 1, "10Gbps", "25us"),
        scheme={"name": "dctcp", "preset": "dctcp-paper"},
        ecn={"kmin": f"{threshold * FULL}B", "kmax": f"{threshold * FULL}B", "pmax": 1.0},
        run={"stop": "100ms"},
        traffic=incast(flows),
        probe=[
            probe("queue", "50ms", "5us", ports=[f"s0:h{flows}"]),
            probe("window", "50ms", "50us", nodes=["h*"]),
        ],
    )
    bdp = 10e9 / 8 / FULL * (100e-6 + 2 * (FULL + 86) * 8 / 10e9)
    amplitude = math.sqrt(2 * flows * (bdp + threshold)) / 2
    queue = sorted(sample / FULL for sample in values(result, "queue"))
    assert queue[-1] == pytest.approx(threshold + flows, rel=0.05)
    # Not all cut in the same round trip.
    swing = queue[-1] - queue[len(queue) // 100]
    assert 0.7 * amplitude < swing < 1.1 * amplitude
    assert fmean(values(result, "window")) / 1000 == pytest.approx(
        (bdp + threshold) / flows, rel=0.06
    )


@pytest.mark.parametrize("flows", [2, 8, 32])
def test_the_target_of_swift_with_flow_scaling(flows: int) -> None:
    """The window at which all windows make the target delay (Swift, SIGCOMM 2020, section 3.5)."""
    base, hop, most, few, many = 25e-6, 1e-6, 100e-6, 0.1, 256.0
    alpha = most / (1 / math.sqrt(few) - 1 / math.sqrt(many))

    def target(window: float) -> float:
        scaled = alpha / math.sqrt(window) - alpha / math.sqrt(many)
        return base + hop + min(max(scaled, 0.0), most)

    low, high = 0.01, 1e4
    for _ in range(100):
        window = math.sqrt(low * high)
        low, high = (
            (low, window) if window * flows * FULL * 8 / 100e9 > target(window) else (window, high)
        )
    empty = 4e-6 + 2 * (FULL + 86) * 8 / 100e9
    result = run(
        topology=star(flows + 1),
        scheme={"name": "swift", "preset": "swift-bolt"},
        run={"stop": "12ms"},
        traffic=incast(flows),
        probe=[probe("queue", "8ms", "5us", ports=[f"s0:h{flows}"])],
    )
    queue = (target(low) - empty) * 100e9 / 8
    assert fmean(values(result, "queue")) == pytest.approx(queue, rel=0.02)


@pytest.mark.parametrize("flows", [2, 10])
def test_the_fixed_point_of_dcqcn(flows: int) -> None:
    """The marking probability at which rates stand (Zhu et al., CoNEXT 2016, equations 8 to 11).

    The fluid model takes means of products for products of means. A random model of the same law
    says about 1.27 times its probability for 2 and for 10 flows, and the queue moves in addition.
    The line of marking is that of the paper's 40G settings, drawn on beyond 200 KB.
    """
    line, timer, counter, steps = 40e9 / 8 / FULL, 55e-6, 10e6 / FULL, 5
    rate, increase, interval = line / flows, 40e6 / 8 / FULL, 50e-6

    def too_much(p: float) -> bool:
        kept = 1 - p
        cuts = (1 - kept ** (interval * rate)) / interval
        by_bytes, by_time = kept**-counter - 1, kept ** -(timer * rate) - 1
        alpha = 1 - kept ** (timer * rate)
        distance = alpha * cuts / (p * (1 / by_bytes + 1 / by_time))
        gained = kept ** (steps * counter) / by_bytes + kept ** (steps * timer * rate) / by_time
        return bool(distance * cuts > increase * rate * p * gained)

    low, high = 1e-6, 0.5
    for _ in range(100):
        p = math.sqrt(low * high)
        low, high = (low, p) if too_much(p) else (p, high)
    slope = 0.01 / 195e3
    result = run(
        topology=star(flows + 1, "40Gbps"),
        scheme={"name": "dcqcn", "preset": "dcqcn-paper"},
        ecn={"kmin": "5KB", "kmax": "1955KB", "pmax": 0.1, "reference_rate": "40Gbps"},
        pfc=NO_PFC,
        run={"stop": "80ms"},
        traffic=incast(flows),
        probe=[probe("queue", "30ms", "5us", ports=[f"s0:h{flows}"])],
    )
    marked = fmean(max(queue - 5e3, 0) * slope for queue in values(result, "queue"))
    assert 1.1 < marked / low < 1.6


@pytest.mark.parametrize("p", [0.001, 0.01])
def test_what_loss_costs(p: float) -> None:
    """Selective repeat sends 1 / (1 - p) times; go-back-N a round trip more for each loss."""

    def sent(**host: Any) -> float:  # noqa: ANN401
        topology = custom([("h0", "s", "100Gbps"), ("s", "h1", "100Gbps")])
        topology["links"][0]["error_rate"] = p
        result = run(
            topology=topology,
            scheme="none",
            host=host,
            traffic=[{"kind": "flows", "flows": [{"src": "h0", "dst": "h1", "size": "60MB"}]}],
        )
        return result.summary.retransmitted_bytes / 60e6

    packets = 60_000
    few = 4 * math.sqrt(p * packets) / packets
    repeated = sent(recovery="selective-repeat", loss_after="6us", in_flight="unlimited")
    # Where something is missing, a lost ACK has a packet sent again, too.
    round_trip = (4e-6 + 2 * (FULL + 86) * 8 / 100e9) / (FULL * 8 / 100e9) + 1
    assert p - few < repeated < p / (1 - p) + p * min(p * round_trip, 1) + few
    back = sent(nack_interval="5us")
    assert back == pytest.approx(round_trip * p / (1 - p), rel=0.1, abs=round_trip * few)


def test_the_last_of_an_incast_ends_when_all_bytes_have_passed() -> None:
    for senders, packets in ((16, 100), (100, 1), (500, 64)):
        result = run(
            topology=star(senders + 1),
            scheme="none",
            traffic=[
                {
                    "kind": "incast",
                    "senders": senders,
                    "receiver": f"h{senders}",
                    "size": f"{packets}KB",
                }
            ],
        )
        flows = result.flows.to_polars()
        data = senders * (packets * FULL + 16) + FIRST + 2 * 86
        assert flows["fct_ps"].max() == data * 80 + 4_000_000


def test_ecmp_is_as_uneven_as_chance() -> None:
    """Pearson's statistic of flows over uplinks has the mean of its degrees of freedom."""
    flows, uplinks, runs = 128, 8, 60
    statistics = []
    for seed in range(runs):
        plan = rocelab.Scenario(
            topology={
                "kind": "leaf-spine",
                "leaves": 2,
                "spines": uplinks,
                "hosts_per_leaf": flows,
                "host_rate": "100Gbps",
                "host_delay": "1us",
                "rate": "400Gbps",
                "delay": "1us",
            },
            scheme="none",
            run={"seed": seed},
            traffic=[
                {
                    "kind": "flows",
                    "flows": [
                        {"src": f"h{host}", "dst": f"h{flows + host}", "size": "1KB"}
                        for host in range(flows)
                    ],
                }
            ],
        ).plan()
        ports = plan.ports.to_polars()
        taken = ports.filter((pl.col("node") == "leaf0") & pl.col("peer").str.starts_with("spine"))
        counts = [round(sent / FIRST) for sent in taken["data_bytes"]]
        assert sum(counts) == flows
        statistics.append(sum((count - flows / uplinks) ** 2 for count in counts) * uplinks / flows)
    # Four standard errors of the mean.
    error = math.sqrt(2 * (uplinks - 1) / runs)
    assert fmean(statistics) == pytest.approx(uplinks - 1, abs=4 * error)


def test_permutations_are_equally_likely() -> None:
    """Four hosts have nine permutations in which nobody sends to itself."""
    runs = 450
    plan = rocelab.Scenario(
        topology=star(4),
        scheme="none",
        traffic=[
            {"kind": "permutation", "size": "1KB", "tag": str(number)} for number in range(runs)
        ],
    ).plan()
    messages = plan.messages.to_polars().sort("tag", "src")
    counts = Counter(tuple(group["dst"]) for _, group in messages.group_by("tag"))
    assert len(counts) == 9
    # One in a thousand sets of counts is further off.
    assert sum((count - runs / 9) ** 2 for count in counts.values()) * 9 / runs < 26.1


def test_conga_takes_paths_in_proportion_to_their_rate() -> None:
    """One of two paths has half the rate behind the first link (CONGA, SIGCOMM 2014)."""
    links = [(f"h{host}", f"leaf{host // 8}", "25Gbps") for host in range(16)]
    links += [("leaf0", "spine0", "100Gbps"), ("leaf0", "spine1", "100Gbps")]
    links += [("leaf1", "spine0", "100Gbps"), ("leaf1", "spine1", "50Gbps")]
    result = run(
        topology=custom(links),
        scheme="dctcp",
        routing={"balance": "conga"},
        traffic=[
            {
                "kind": "poisson",
                "load": 0.5,
                "hosts": ["h0..h7"],
                "receivers": ["h8..h15"],
                "workload": "WebSearch",
                "duration": "20ms",
            }
        ],
    )
    ports = result.ports.to_polars().filter(pl.col("node") == "leaf0")
    sent = dict(zip(ports["peer"], ports["tx_bytes"], strict=True))
    assert sent["spine0"] / (sent["spine0"] + sent["spine1"]) == pytest.approx(2 / 3, abs=0.05)
