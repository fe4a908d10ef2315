"""What a scenario asks of its network, before it is run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rocelab._format import pluralise
from rocelab._rocelab import scenario_sections
from rocelab.table import Table

if TYPE_CHECKING:
    import polars as pl

    from rocelab import _rocelab
    from rocelab.scenario import Scenario


_NS_PER_PACKET_HOP = (30, 60)
"""What a packet-hop takes on an idle core: see docs/performance.md."""
_MOST_LOOKS = 3
"""How many times as much it may take where links are so short that a node is looked at for each
packet."""


class Plan:
    """The messages of a scenario, and what each port would carry of them.

    Each message arrives whole and nothing is sent twice, by the ways that messages have as long as
    no link fails. Where data is spread over paths, each next hop counts with the same share; in a
    run some may carry more, above all of flowlets. Where the scheme chooses ways itself, others may
    be taken.

    Columns of ``messages``, a row for each:

    - ``flow_id``, ``qp_id``, ``tag``, ``src``, ``dst``, ``priority``, ``size_bytes``, as in results
    - ``start_ps``, ``ideal_fct_ps``: when it is posted, and the time that it takes alone
    - ``waits``: whether it waits for others to arrive at its sender; ``start_ps`` is then the
      earliest time: that of what it waits for, and ``after_delay``
    - ``switches``, ``bottleneck_bps``: how many are on its way, and the lowest rate there
    - ``base_rtt_ps``: a full packet there and an ACK back in an empty network

    Columns of ``ports``, a row for each end of each link:

    - ``node``, ``port``, ``peer``, ``rate_bps``, as in results
    - ``tier``, ``peer_tier``: of the nodes, 0 for hosts
    - ``messages``, ``data_bytes``, ``ack_bytes``: what leaves through it, as it is on the wire
    - ``busy_ps``: the time that it takes to send them

    Keys of ``checks``:

    - ``packet_hops``: packets that all ports together would send
    - ``span_ps``: as :attr:`span_ps`, and None for 0
    - ``window_ps``: for how long nodes are simulated on their own, which is the shortest delay
      of a link between them, at most a microsecond; with short ones packets cost more
    - ``memory_bytes``: the memory that a run needs, as estimated
    - ``buffers``: a dictionary for the switches of a tier that have equal numbers. It has ``tier``,
      ``switches``, their number, and ``first``, the name of the first; ``buffer_bytes``, and
      ``reserved_bytes`` of it for headroom and reserves; ``max_headroom_bytes`` of a port and
      priority; ``lossless_ingresses``, pairs of port and priority that PFC protects;
      ``pause_threshold_bytes``, at which these pause their peers while nothing else is stored, or
      None; ``is_fixed``, whether it stays as the buffer fills; ``needed_bytes``, what all of them
      take at a fixed threshold, or None; ``priorities`` that PFC protects, and ``priority``, the
      one that the row is of, or None for all without a row of their own
    - ``marking``: a dictionary for ports of a rate, with ``rate_bps`` and ``priority``, as above;
      ``kmin_bytes``, ``kmax_bytes`` and ``pmax``, a probability, or None where nothing is marked;
      ``bdp_bytes``, the rate times the longest base round trip of a message
    - ``buffer_cycle``: the names of nodes on a circle of links that PFC could block for ever
    - ``warnings``: as :attr:`warnings`
    """

    scenario: Scenario
    """What was looked at."""
    messages: Table
    """One row for each message: where from and to, size, start, base round trip, ideal FCT."""
    ports: Table
    """One row for each port: messages, bytes of data and ACKs, how long it takes to send them."""

    checks: dict[str, Any]
    """Buffers and thresholds, as plain data with the keys above."""

    def __init__(
        self, scenario: Scenario, found: tuple[_rocelab.Table, _rocelab.Table, str]
    ) -> None:
        messages, ports, checks = found
        self.checks = json.loads(checks)
        self.scenario = scenario
        self.messages = Table(lambda: messages)
        self.ports = Table(lambda: ports)

    @property
    def warnings(self) -> list[str]:
        """What a run would warn about and is known before it, and what may go wrong in it."""
        return list(self.checks["warnings"])

    @property
    def span_ps(self) -> int:
        """From the start of the first message to that of the last.

        0 where messages wait for others that wait, too: they come as fast as the network carries
        them.
        """
        span: int | None = self.checks["span_ps"]
        return span or 0

    @property
    def run_s(self) -> tuple[float, float]:
        """About how many seconds a run takes on one thread of an idle machine: least and most.

        Schemes that send many packets of their own, such as credits, take longer.
        """
        hops = self.checks["packet_hops"]
        least, most = (hops * ns / 1e9 for ns in _NS_PER_PACKET_HOP)
        # In a window of 1 us what the look at a node costs is shared by several packets.
        looks = 0.6 + 0.4e6 / self.checks["window_ps"]
        return least, most * min(looks, _MOST_LOOKS)

    def by_tag(self) -> pl.DataFrame:
        """One row for each traffic entry, with the sum or the extremes of its messages."""
        import polars as pl

        return self._summed(pl.col("tag"))

    def _together(self) -> pl.DataFrame:
        """One row for all messages, with the columns of :meth:`by_tag`."""
        import polars as pl

        return self._summed(pl.lit(f"{len(self.scenario.tags):,} tags"))

    def _summed(self, tag: pl.Expr) -> pl.DataFrame:
        import polars as pl

        times, rates = pl.col("base_rtt_ps"), pl.col("bottleneck_bps")
        in_flight = times.cast(pl.Float64) * rates / 8e12
        messages = self.messages.to_polars().with_columns(tag.alias("tag"))
        groups = messages.group_by("tag", maintain_order=True)
        return groups.agg(
            pl.len().alias("messages"),
            pl.col("size_bytes").sum().alias("bytes"),
            pl.col("size_bytes").min().alias("smallest_bytes"),
            pl.col("size_bytes").median().alias("median_bytes"),
            pl.col("size_bytes").max().alias("largest_bytes"),
            pl.col("start_ps").min().alias("first_start_ps"),
            pl.col("start_ps").max().alias("last_start_ps"),
            pl.col("waits").any(),
            times.min().alias("least_base_rtt_ps"),
            times.max().alias("most_base_rtt_ps"),
            in_flight.max().alias("most_bdp_bytes"),
        )

    def by_tier(self) -> pl.DataFrame:
        """One row for ports of the same rate between the same tiers, hosts first.

        ``load`` is the time that a port takes to send its bytes, over :attr:`span_ps`; null where
        that is 0.
        """
        import polars as pl

        span = self.span_ps
        busiest = pl.struct("node", "peer").sort_by("busy_ps", descending=True).first()
        kinds = ["tier", "peer_tier", "rate_bps"]
        load = pl.col("busy_ps") / span if span else pl.lit(None, dtype=pl.Float64)
        return (
            self.ports.to_polars()
            .with_columns(load.alias("load"))
            .group_by(kinds)
            .agg(
                pl.len().alias("ports"),
                pl.col("data_bytes").sum(),
                pl.col("ack_bytes").sum(),
                pl.col("busy_ps").mean().alias("mean_busy_ps"),
                pl.col("busy_ps").max().alias("most_busy_ps"),
                pl.col("load").mean().alias("mean_load"),
                pl.col("load").max().alias("most_load"),
                busiest.struct.field("node").alias("busiest_node"),
                busiest.struct.field("peer").alias("busiest_peer"),
            )
            .sort(kinds)
        )

    def to_dict(self) -> dict[str, Any]:
        """The numbers by traffic entry and tier as plain data."""
        import polars as pl

        ports = self.ports.to_polars()
        nodes = ports.group_by("node").agg(pl.col("tier").first())
        hosts = int((nodes["tier"] == 0).sum())
        scheme = self.scenario.to_dict()["scheme"]
        return {
            "name": self.scenario.name,
            "scheme": " and ".join(one["name"] for one in (scheme, *scheme.get("also", []))),
            "hosts": hosts,
            "switches": len(nodes) - hosts,
            "links": len(ports) // 2,
            "run_s": self.run_s,
            "traffic": self.by_tag().to_dicts(),
            "ports": self.by_tier().to_dicts(),
            **self.checks,
            "span_ps": self.span_ps,
        }

    def _repr_html_(self) -> str:
        from rocelab._notebook import card

        rows = [
            ("messages", f"{len(self.messages):,}"),
            ("packet-hops", f"{self.checks['packet_hops']:,}"),
            ("time", f"{self.run_s[0]:.2g} to {self.run_s[1]:.2g} s on an idle core"),
            ("memory", f"{self.checks['memory_bytes'] / 1e6:,.0f} MB"),
        ]
        tables = [self.by_tag()._repr_html_(), self.by_tier()._repr_html_()]
        return card(f"Plan of {self.scenario.name}", rows, self.warnings, tables)

    def __repr__(self) -> str:
        messages = pluralise(len(self.messages), "message", "messages")
        return f"<rocelab.Plan of {self.scenario.name!r}: {messages}>"


def spreading(scenario: Scenario) -> list[str]:
    """The settings by which a flow takes other paths than that of its hash."""
    plain = {"routing.balance": "ecmp", "host.spray": "off", "host.ports": "hash"}
    sections = scenario_sections(scenario.to_toml(), ["routing", "host"])
    found = []
    for name, usual in plain.items():
        table, key = name.split(".")
        value = sections[table][key]
        if value != usual:
            found.append(f"{name} = {json.dumps(value)}")
    return found
