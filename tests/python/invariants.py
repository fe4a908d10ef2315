"""What must hold in every result, checked from its tables and summary alone."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import polars as pl

import rocelab

MEASURED = ("wall_s", "threads", "packet_hops_per_s")
"""Figures of a summary that tell of the machine."""

WITHOUT_CONTROL_PACKETS = ("none", "dctcp", "timely", "swift", "hpcc", "hpcc-pint")
"""Schemes that send data and ACKs alone."""

CHOOSES_PORTS = ("rcm",)
"""Schemes whose packets may leave the path that the plan has for them."""


def outcome(result: rocelab.Result) -> dict[str, Any]:
    """All that a result says of the simulation, to be compared with another's."""
    summary = {key: value for key, value in result.summary.items() if key not in MEASURED}
    tables = {"flows": result.flows, "ports": result.ports}
    tables |= {f"series/{name}": table for name, table in result.series.items()}
    tables |= {f"traces/{name}": table for name, table in result.traces.items()}
    frames = {name: table.to_polars() for name, table in tables.items()}
    return {"summary": summary, "drops": result.drops, "capture": result.capture, **frames}


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Which parts of two outcomes differ."""
    if one.keys() != other.keys():
        return sorted(one.keys() ^ other.keys())
    return [
        key
        for key, value in one.items()
        if not (
            value.equals(other[key]) if isinstance(value, pl.DataFrame) else value == other[key]
        )
    ]


def check(result: rocelab.Result) -> None:
    """Raises :class:`AssertionError` where the result contradicts itself or its scenario."""
    _Check(result).all()


class _Check:
    def __init__(self, result: rocelab.Result) -> None:
        self.result = result
        self.summary = result.summary
        self.flows = result.flows.to_polars()
        self.ports = result.ports.to_polars()
        self.scenario = result.scenario.to_dict()
        self.end_ps = self.summary["simulated_ns"] * 1000
        self.pfc = self.scenario["pfc"]
        self.cioq = self.scenario["switch"]["architecture"] == "cioq"
        self.failures = self.scenario.get("failure", [])
        self.damages = bool(self.scenario["wire"]["error_rate"]) or any(
            link.get("error_rate") for link in self.scenario["topology"].get("links", [])
        )
        # A watchdog drops packets, or sends what was paused.
        self.sound = not self.failures and not self.damages and "watchdog" not in self.pfc
        self.spreads = (
            self.scenario["routing"]["balance"] != "ecmp"
            or self.scenario["host"]["spray"] != "off"
            or self.scenario["host"]["ports"] == "spray"
        )
        self.chooses_ports = self.summary["scheme"] in CHOOSES_PORTS or self.spreads
        self.all_done = self.summary["flows_done"] == self.summary["flows"]

    def all(self) -> None:
        self.no_odd_numbers()
        self.completion()
        self.statistics()
        self.sums()
        self.losses()
        self.buffers()
        self.rates()
        self.marks()
        self.planned_bytes()
        self.samples()
        self.pauses()
        self.packets()

    def no_odd_numbers(self) -> None:
        tables = {"flows": self.flows, "ports": self.ports}
        tables |= {name: table.to_polars() for name, table in self.result.series.items()}
        tables |= {name: table.to_polars() for name, table in self.result.traces.items()}
        for name, frame in tables.items():
            for column, kind in frame.schema.items():
                values = frame[column]
                if kind == pl.Float64:
                    assert values.drop_nulls().is_finite().all(), (name, column)
                    assert (values.drop_nulls() >= 0).all(), (name, column)
                may_be_null = (name, column) in {
                    ("flows", "fct_ps"),
                    ("flows", "slowdown"),
                    ("flows", "unfinished"),
                    ("flows", "path_changes"),
                    ("packets", "flow_id"),
                }
                assert may_be_null or not values.null_count(), (name, column)

    def completion(self) -> None:
        flows = self.flows
        done = flows.filter("done")
        assert len(done) == self.summary["flows_done"]
        assert len(flows) == self.summary["flows"]
        assert done["fct_ps"].null_count() == 0
        open_ = flows.filter(~pl.col("done"))
        assert open_["fct_ps"].null_count() == open_["slowdown"].null_count() == len(open_)
        assert (done["start_ps"] + done["fct_ps"] <= self.end_ps).all()
        expected = done["fct_ps"].cast(pl.Float64) / done["ideal_fct_ps"].cast(pl.Float64)
        assert ((done["slowdown"] - expected).abs() <= 1e-9 * expected).all()
        # The ideal time is that of one path.
        if not self.failures and not self.spreads:
            assert (done["slowdown"] >= 1 - 1e-9).all(), done["slowdown"].min()
        assert done["unfinished"].null_count() == len(done)
        causes = Counter(cause.replace("-", "_") for cause in open_["unfinished"])
        told = {cause: count for cause, count in self.summary["unfinished"].items() if count}
        assert causes == told
        if self.all_done:
            return
        kinds = [warning["kind"] for warning in self.summary["warning_kinds"]]
        assert kinds[0] in ("unfinished-flows", "cut-off-flows"), kinds
        run = self.scenario["run"]
        end = run["time_limit"] if run["stop"] == "flows-done" else run["stop"]
        assert self.end_ps >= _ps(end), "ended early"

    def statistics(self) -> None:
        slowdowns = sorted(self.flows["slowdown"].drop_nulls())
        told = self.summary["slowdown"]
        if not slowdowns:
            return
        for key, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            rank = max(1, math.ceil(share * len(slowdowns) - 1e-9))
            assert told[key] == slowdowns[rank - 1], key
        assert math.isclose(told["mean"], math.fsum(slowdowns) / len(slowdowns), rel_tol=1e-9)
        assert sum(one["flows"] for one in told["bins"]) == len(slowdowns)

    def sums(self) -> None:
        for column, key in (
            ("tx_packets", "packet_hops"),
            ("pause_frames_sent", "pause_frames"),
            ("paused_ns", "paused_ns"),
            ("dropped_packets", "drops"),
            ("lost_packets", "lost_packets"),
        ):
            assert self.ports[column].sum() == self.summary[key], key
        assert self.ports["max_queue_bytes"].max() == self.summary["max_queue_bytes"]
        received = self.ports["pause_frames_received"].sum()
        assert received <= self.summary["pause_frames"]
        assert self.summary["lossless_drops"] <= self.summary["drops"]
        assert len(self.result.drops) <= self.summary["lossless_drops"]
        assert self.summary["data_packet_hops"] <= self.summary["packet_hops"]

    def losses(self) -> None:
        if not self.pfc["enabled"]:
            assert self.summary["pause_frames"] == 0
            assert self.summary["lossless_drops"] == 0
        if self.sound:
            assert self.summary["lost_packets"] == 0
            if self.pfc["headroom"] == "auto" or self.cioq:
                assert self.summary["lossless_drops"] == 0, self.result.warnings
        if self.summary["lossless_drops"]:
            kinds = [warning["kind"] for warning in self.summary["warning_kinds"]]
            assert "lossless-drops" in kinds, kinds
        # The prototype of THEMIS knows a packet by its sequence number, so that a copy that is
        # sent again can end a round of the queue early.
        copies = self.summary["preset"] == "themis-prototype" and (
            self.flows["retransmitted_bytes"].sum() > 0
        )
        if self.sound and not self.summary["drops"] and not self.chooses_ports and not copies:
            assert self.summary["out_of_order_packets"] == 0
        flows, summary = self.flows, self.summary
        assert flows["out_of_order_packets"].sum() == summary["out_of_order_packets"]
        for column in ("max_reorder_packets", "max_reorder_bytes"):
            assert max(flows[column], default=0) == summary[column], column
        assert (flows["timeout_bytes"] <= flows["retransmitted_bytes"]).all()
        assert summary["timeouts"] or not summary["timeout_bytes"]
        for column in ("retransmitted_bytes", "duplicate_bytes", "timeout_bytes", "timeouts"):
            assert flows[column].sum() == summary[column], column
        moved = flows["path_changes"]
        counted = summary["counters"].get("path_changes")
        assert moved.null_count() == (len(moved) if counted is None else 0)
        assert moved.sum() == (counted or 0)
        # What comes twice was sent again.
        assert (flows["duplicate_bytes"] <= flows["retransmitted_bytes"]).all()
        keeps = self.scenario["host"].get("reorder", 0) != 0
        assert keeps or summary["max_reorder_bytes"] == 0

    def buffers(self) -> None:
        switches = self.ports.filter(~pl.col("node").is_in(self.hosts()))
        for node, queue in (
            switches.group_by("node").agg(pl.col("max_queue_bytes").max()).iter_rows()
        ):
            assert queue <= self.buffer(node), (node, queue)

    def hosts(self) -> list[str]:
        plan = self.result.scenario.plan().ports.to_polars()
        return plan.filter(pl.col("tier") == 0)["node"].unique().to_list()

    def buffer(self, node: str) -> int:
        """Most bytes that the output queues of a port of this switch can hold."""
        switch, topology = self.scenario["switch"], self.scenario["topology"]
        if self.cioq:
            return 8 * _bytes(switch["output_queue"])
        own = {one["name"]: one["buffer"] for one in topology.get("nodes", []) if "buffer" in one}
        sizes = [own.get(node, switch["buffer"]), topology.get("external_buffer", "0B")]
        return max(map(_bytes, sizes))

    def rates(self) -> None:
        # A packet counts as a whole when it begins to leave.
        longest = 20_000
        most = (pl.col("rate_bps").cast(pl.Float64) * self.end_ps / 8e12) + longest
        over = self.ports.filter(pl.col("tx_bytes") > most)
        assert over.is_empty(), over
        assert (self.ports["paused_ns"] <= self.summary["simulated_ns"]).all()

    def marks(self) -> None:
        marked = self.ports.filter(pl.col("ecn_marked_packets") > pl.col("tx_packets"))
        queued = self.scenario["ecn"]["mark_at"] == "enqueue"
        assert marked.is_empty() or queued, marked

    def planned_bytes(self) -> None:
        if not self.all_done or not self.sound or self.scenario["run"]["stop"] != "flows-done":
            return
        if self.chooses_ports:
            return
        plan = self.result.scenario.plan().ports.to_polars()
        both = self.ports.join(plan, on=["node", "port"])
        assert len(both) == len(self.ports)
        resent = self.flows["retransmitted_bytes"].sum()
        exact = (
            self.summary["scheme"] in WITHOUT_CONTROL_PACKETS
            and not resent
            and not self.summary["pause_frames"]
            and not self.summary["drops"]
            and self.scenario["host"]["ack_every"] == 1
        )
        if exact:
            wrong = both.filter(pl.col("tx_bytes") != pl.col("data_bytes") + pl.col("ack_bytes"))
            assert wrong.is_empty(), wrong.select(
                "node", "peer", "tx_bytes", "data_bytes", "ack_bytes"
            )
        else:
            less = both.filter(pl.col("tx_bytes") < pl.col("data_bytes"))
            assert less.is_empty(), less.select(
                "node", "peer", "tx_bytes", "data_bytes", "ack_bytes"
            )

    def samples(self) -> None:
        ports = {(node, port): row for node, port, *row in self.ports.iter_rows()}
        columns = self.ports.columns[2:]
        hosts = self.hosts()
        sizes = dict(self.flows.select("flow_id", "size_bytes").iter_rows())
        for name, series in self.result.series.items():
            probe = self.result.probes[name]
            frame = series.to_polars()
            assert frame["time_ps"].is_sorted()
            assert (frame["time_ps"] < self.end_ps + 1).all()
            if series.kind == "queue":
                queues = frame.group_by("node", "port").agg(pl.col("queue_bytes").max())
                for node, port, most in queues.iter_rows():
                    row = dict(zip(columns, ports[node, port], strict=True))
                    assert most <= row["max_queue_bytes"], (name, node, port)
            if series.kind == "input-queue":
                for node, most in (
                    frame.group_by("node").agg(pl.col("input_queue_bytes").max()).iter_rows()
                ):
                    if node not in hosts and not self.cioq:
                        assert most <= self.buffer(node), (name, node)
            if series.kind == "reorder-buffer":
                kept = frame.group_by("flow_id").agg(pl.col("reorder_buffer_bytes").max())
                most = dict(self.flows.select("flow_id", "max_reorder_bytes").iter_rows())
                for flow, held in kept.iter_rows():
                    qp = self.flows.filter(pl.col("flow_id") == flow)["qp_id"][0]
                    flows = self.flows.filter(pl.col("qp_id") == qp)["flow_id"]
                    assert held <= max(most[one] for one in flows), (name, flow)
            if series.kind == "reorder-queue":
                held = frame.group_by("time_ps", "node").agg(pl.col("reorder_queue_bytes").sum())
                most_held = self.summary["counters"]["max_held_bytes"] if len(held) else 0
                assert (held["reorder_queue_bytes"] <= most_held).all(), name
            if series.kind == "goodput":
                bits = frame.group_by("flow_id").agg(pl.col("goodput_bps").sum())
                interval = _ps(probe["interval"])
                for flow, rate in bits.iter_rows():
                    got = rate * interval / 8e12
                    assert got <= sizes[flow] * (1 + 1e-9) + 1, (name, flow)

    def pauses(self) -> None:
        if "pfc" not in self.result.traces:
            return
        frames = self.result.traces["pfc"].to_polars()
        whole = _whole(self.scenario["trace"])
        if whole:
            got = self.ports["pause_frames_received"].sum()
            assert frames.filter("pause").height == got
        if whole and self.sound and "pause_time" not in self.pfc:
            for key, group in frames.group_by("node", "port", "priority", maintain_order=True):
                states = group["pause"].to_list()
                expected = [index % 2 == 0 for index in range(len(states))]
                assert states == expected, key

    def packets(self) -> None:
        if "packets" not in self.result.traces or not _whole(self.scenario["trace"]):
            return
        events = self.result.traces["packets"].to_polars()
        sent = events.filter(pl.col("event") == "dequeued").group_by("node", "port").len("sent")
        nodes = self.scenario["trace"]["packets"]
        ports = self.ports.filter(pl.col("node").is_in(nodes))
        both = ports.join(sent, on=["node", "port"], how="left").fill_null(0)
        wrong = both.filter(pl.col("sent") != pl.col("tx_packets"))
        assert wrong.is_empty(), wrong.select("node", "peer", "sent", "tx_packets")


def _whole(trace: dict[str, Any]) -> bool:
    """Whether it is of the whole run."""
    return trace.get("start", "0ns") in ("0ns", "0ps", "0s") and "end" not in trace


_UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
_SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20}


def _quantity(text: str, units: dict[str, int]) -> int:
    number = text.rstrip("BGKMimnpsu")
    value = float(number) * units[text[len(number) :]]
    return round(value)


def _ps(text: str) -> int:
    return _quantity(text, _UNITS)


def _bytes(text: str) -> int:
    return _quantity(text, _SIZES)
