"""Random scenarios that are valid: every scheme, topology, traffic kind and setting in turn."""

from __future__ import annotations

import random
from typing import Any

import rocelab
from rocelab import ConfigError

Table = dict[str, Any]

RATES = ["10Gbps", "25Gbps", "40Gbps", "100Gbps", "200Gbps", "400Gbps"]
DELAYS = ["50ns", "333ns", "600ns", "1us", "1.5us", "4us"]
SIZES = ["1B", "64B", "999B", "1000B", "1001B", "4KB", "20KB", "77777B", "150KB", "300KB", "1MB"]
CDFS = [
    [[1, 0.0], [1, 0.2], [2000, 0.6], [60000, 1.0]],
    [[0, 0.0], [300, 0.5], [40000, 0.9], [200000, 1.0]],
]
PORT_PROBES = [
    "queue",
    "throughput",
    "utilisation",
    "pause",
    "port-state",
    "paused-share",
    "input-queue",
    "reorder-queue",
]
FLOW_PROBES = [
    "rate",
    "window",
    "alpha",
    "latency",
    "flow-queue",
    "flow-credits",
    "flow-rate",
    "goodput",
    "reorder-buffer",
]
PRESETS = [(scheme.name, preset.name) for scheme in rocelab.schemes() for preset in scheme.presets]
"""Every scheme with each of its presets."""

BESIDE = {scheme.name: scheme.beside for scheme in rocelab.schemes()}
"""The schemes that may be beside each one."""

MOST_TRIES = 60
"""Random settings contradict each other now and then; so often others are tried."""


def scenario(seed: int) -> tuple[rocelab.Scenario, int]:
    """The scenario of this number, and how many others were refused before it was found.

    Numbers in a row have the presets of all schemes in turn.
    """
    refused = []
    for attempt in range(MOST_TRIES):
        dice = random.Random(f"{seed}/{attempt}")  # noqa: S311 - not for secrets
        try:
            # Dice of its own, so that it changes no scenario that has none of it.
            more = random.Random(f"{seed}/{attempt}/more")  # noqa: S311
            copies = random.Random(f"{seed}/{attempt}/planes")  # noqa: S311
            phases = random.Random(f"{seed}/{attempt}/phases")  # noqa: S311
            maker = _Maker((dice, more, copies, phases), *PRESETS[seed % len(PRESETS)])
            made = maker.scenario(f"random-{seed}")
            made.validate()
        except ConfigError as error:
            refused.append(str(error))
        else:
            return made, attempt
    raise AssertionError(f"no valid scenario for {seed}: " + "; ".join(refused[-5:]))


class _Maker:
    def __init__(self, dice: tuple[random.Random, ...], scheme: str, preset: str) -> None:
        self.dice, self.more, self.copies, self.later = dice
        self.scheme: Table = {"name": scheme, "preset": preset}
        self.cioq = scheme == "rcm" or self.dice.random() < 0.12

    def one(self, *values: Any) -> Any:  # noqa: ANN401 - any value of a key
        return self.dice.choice(values)

    def maybe(self, table: Table, key: str, chance: float, *values: Any) -> None:  # noqa: ANN401
        if self.dice.random() < chance:
            table[key] = self.one(*values)

    def scenario(self, name: str) -> rocelab.Scenario:
        tables = self.settings()
        topology = self.topology()
        if tables.get("routing", {}).get("balance") == "conga":
            topology = self.regular("leaf-spine")
        self.planes(topology, tables)
        # The names of its nodes, as the plan of a scenario without traffic has them.
        bare = rocelab.Scenario(topology=topology, run={"stop": "1us"})
        ports = bare.plan().ports.to_polars()
        self.links = list(ports.select("node", "peer", "tier", "peer_tier").iter_rows())
        self.hosts = sorted({node for node, _, tier, _ in self.links if tier == 0})
        run: Table = {"seed": self.dice.randrange(1 << 40), "time_limit": "20ms"}
        self.maybe(run, "stop", 0.15, "30us", "123456ns", "700us", "3ms")
        traffic = [self.traffic(index) for index in range(self.one(1, 1, 2, 3))]
        self.phases(traffic)
        failures = self.failures()
        self.impair(failures)
        self.second_scheme(tables)
        self.class_settings(tables)
        self.pause_times(tables)
        self.class_pauses(tables)
        self.own_memory(tables)
        return rocelab.Scenario(
            name=name,
            topology=topology,
            traffic=traffic,
            scheme=self.scheme,
            run=run,
            probe=self.probes(),
            **tables,
            **failures,
            **self.slow_receivers(),
            **self.trace(),
        )

    def rates(self, *keys: str) -> Table:
        alike = self.one(*RATES)
        return {
            key: self.one(*DELAYS)
            if key.endswith("delay")
            else alike
            if self.dice.random() < 0.6
            else self.one(*RATES)
            for key in keys
        }

    def topology(self) -> Table:
        two_way = self.dice.random() < 0.4
        kind = self.one(
            "star", "dumbbell", "leaf-spine", "fat-tree", "three-tier", "cross-dc", "custom"
        )
        if kind == "cross-dc" or (self.scheme["name"].startswith("themis") and two_way):
            return self.data_centres()
        if kind == "custom":
            return self.graph()
        return self.regular(kind)

    def regular(self, kind: str) -> Table:
        host = self.rates("host_rate", "host_delay")
        link = self.rates("rate", "delay")
        if kind == "star":
            return {"kind": kind, "hosts": self.one(2, 3, 5, 9), **host}
        if kind == "dumbbell":
            chain = self.one(1, 2, 3, 4)
            table = {"kind": kind, "switches": chain, "senders": self.one(1, 3, 6), **host, **link}
            self.maybe(table, "receivers", 0.5, 1, 2, 4)
            self.maybe(table, "side_hosts", 0.3, [1] * chain)
            return table
        if kind == "leaf-spine":
            table = {"kind": kind, "leaves": self.one(2, 3), "spines": self.one(1, 2, 3), **host}
            self.maybe(table, "links_per_pair", 0.3, 2)
            return table | {"hosts_per_leaf": self.one(1, 2, 4), **link}
        if kind == "fat-tree":
            return {"kind": kind, "k": self.one(2, 4), **host, **link}
        aggs = self.one(1, 2)
        return {
            "kind": "three-tier",
            "pods": 2,
            "tors_per_pod": self.one(1, 2),
            "aggs_per_pod": aggs,
            "cores": aggs * self.one(1, 2),
            "hosts_per_tor": self.one(1, 2, 3),
            "core_wiring": self.one("planes", "full"),
            **host,
            **self.rates("agg_rate", "agg_delay", "core_rate", "core_delay"),
        }

    def planes(self, topology: Table, tables: Table) -> None:
        """Hosts with several ports, over which packets take turns."""
        if topology["kind"] not in ("leaf-spine", "fat-tree") or self.copies.random() > 0.4:
            return
        topology["planes"] = self.copies.choice([2, 2, 3])
        if self.copies.random() < 0.7:
            tables.setdefault("host", {})["ports"] = "spray"

    def data_centres(self) -> Table:
        table = {
            "kind": "cross-dc",
            "data_centre": self.regular(self.one("star", "leaf-spine", "fat-tree", "three-tier")),
            "wan_rate": self.one(*RATES),
            **self.rates("rate", "delay"),
        }
        table |= self.one({"wan_delay": "10us"}, {"wan_delay": "120us"}, {"wan_length": "30km"})
        self.maybe(table, "data_centres", 0.2, 3)
        self.maybe(table, "wan_pfc", 0.2, False)
        self.maybe(table, "external_buffer", 0.5, "128MB", "64MB")
        return table

    def graph(self) -> Table:
        """A random connected graph of switches with hosts at them."""
        switches = self.one(1, 2, 3, 5, 7)
        pairs = [(f"s{self.dice.randrange(node)}", f"s{node}") for node in range(1, switches)]
        for _ in range(self.dice.randrange(switches)):
            a, b = self.dice.randrange(switches), self.dice.randrange(switches)
            if a != b:
                pairs.append((f"s{a}", f"s{b}"))
        hosts = self.one(2, 3, 6, 9)
        pairs += [(f"h{host}", f"s{self.dice.randrange(switches)}") for host in range(hosts)]
        nodes: list[Table] = [{"name": f"h{host}", "kind": "host"} for host in range(hosts)]
        for switch in range(switches):
            node: Table = {"name": f"s{switch}", "kind": "switch"}
            self.maybe(node, "buffer", 0.1, "16MB", "40MB")
            nodes.append(node)
        links: list[Table] = []
        damages = not self.cioq and self.dice.random() < 0.1
        for one, other in pairs:
            link: Table = {"a": one, "b": other, **self.rates("rate", "delay")}
            if self.dice.random() < 0.1:
                link["length"] = self.one("5m", "300m", "1.5km")
                del link["delay"]
            if damages:
                self.maybe(link, "error_rate", 0.5, 0.0, 1e-3, 1e-2)
            self.maybe(link, "pfc", 0.04, False)
            links.append(link)
        self.dice.shuffle(links)
        return {"kind": "custom", "nodes": nodes, "links": links}

    def some_hosts(self, least: int) -> list[str]:
        return self.dice.sample(
            self.hosts, self.dice.randint(min(least, len(self.hosts)), len(self.hosts))
        )

    def traffic(self, index: int) -> Table:
        kind = self.one(
            "flows", "poisson", "request-response", "incast", "permutation", "bursts", "collective"
        )
        table: Table = {"kind": kind, **getattr(self, "_" + kind.replace("-", "_"))()}
        self.maybe(table, "tag", 0.3, "a", "b", f"of {index}")
        self.maybe(table, "priority", 0.1, 0, 1, 3, 4)
        self.maybe(table, "start", 0.3, "1us", "17us", "100us") if kind != "flows" else None
        return table

    def phases(self, traffic: list[Table]) -> None:
        """Hosts wait for all parts of an all-to-all, and send more after a collective operation."""
        for index, table in enumerate(traffic.copy()):
            if table["kind"] != "collective" or self.later.random() < 0.3:
                continue
            if table["operation"] == "all-to-all" and self.later.random() < 0.7:
                table |= {"repeat": self.later.choice((2, 3)), "barrier": True}
            table["tag"] = f"phase {index}"
            kind = self.later.choice(("permutation", "collective", "flows"))
            after: Table = {"kind": kind, "after": table["tag"]}
            if self.later.random() < 0.5:
                after["after_delay"] = self.later.choice(("700ns", "30us"))
            hosts = table["hosts"]
            if kind == "flows":
                sizes, pairs = self.later.choices(SIZES, k=2), (hosts[:2], hosts[1::-1])
                after["flows"] = [
                    {"src": src, "dst": dst, "size": size}
                    for size, (src, dst) in zip(sizes, pairs, strict=True)
                ]
            else:
                after |= {"hosts": hosts, "size": self.later.choice(SIZES[2:])}
            if kind == "collective":
                after["operation"] = self.later.choice(("reduce-scatter", "all-to-all"))
            traffic.append(after)

    def _flows(self) -> Table:
        flows = []
        for _ in range(self.one(1, 3, 10)):
            src, dst = self.dice.sample(self.hosts, 2)
            flow = {"src": src, "dst": dst, "size": self.one(*SIZES)}
            self.maybe(flow, "start", 0.5, "1ns", "2us", "50us")
            self.maybe(flow, "qp", 0.2, f"{src}>{dst}")
            flows.append(flow)
        return {"flows": flows}

    def _poisson(self) -> Table:
        table = {
            "cdf": self.one(*CDFS),
            "load": self.one(0.1, 0.5, 0.9),
            "messages": self.one(5, 20, 60, 200),
        }
        if self.dice.random() < 0.3:
            table["receivers"] = self.some_hosts(2)
        return table

    def _request_response(self) -> Table:
        table = {
            "cdf": self.one(*CDFS),
            "load": self.one(0.1, 0.5),
            "messages": self.one(5, 20, 60),
        }
        self.maybe(table, "request_size", 0.4, "0B", "64B", "5KB")
        self.maybe(table, "service_time", 0.3, "1us", "20us")
        self.maybe(table, "destination_mix", 0.3, "quota")
        self.maybe(table, "inter_share", 0.3, 0.5, 1.0)
        return table

    def _incast(self) -> Table:
        senders = self.dice.randint(1, len(self.hosts) - 1)
        table: Table = {"senders": senders, "size": self.one(*SIZES[2:])}
        if self.dice.random() < 0.5:
            table["receiver"] = self.one(*self.hosts)
        if self.dice.random() < 0.3:
            table |= {"repeat": self.one(2, 3), "period": self.one("5us", "80us")}
        return table

    def _permutation(self) -> Table:
        return {"size": self.one(*SIZES[2:])}

    def _bursts(self) -> Table:
        src, *dst = self.dice.sample(self.hosts, 2)
        size, period = self.one("64B", "3KB", "20KB"), self.one("500ns", "10us")
        return {"src": [src], "dst": dst, "size": size, "period": period, "count": self.one(1, 6)}

    def _collective(self) -> Table:
        table = {
            "operation": self.one("all-reduce", "reduce-scatter", "all-gather", "all-to-all"),
            "size": self.one("1KB", "33333B", "100KB"),
            "hosts": self.some_hosts(2)[:6],
        }
        self.maybe(table, "repeat", 0.3, 2)
        self.maybe(table, "compute_time", 0.3, "3us")
        return table

    def settings(self) -> dict[str, Any]:
        tables: dict[str, Table] = {
            key: {} for key in ("wire", "host", "switch", "pfc", "ecn", "classes", "routing")
        }
        wire, host, switch, pfc, ecn, classes, routing = tables.values()
        self.maybe(wire, "payload", 0.4, "64B", "256B", "1000B", "1500B", "4096B", "9000B")
        self.maybe(wire, "profile", 0.15, "hpcc-ns3")
        if not self.cioq:
            self.maybe(wire, "error_rate", 0.08, 1e-4, 1e-3, 5e-3)
        self.maybe(host, "ack_every", 0.2, 2, 4, 16)
        self.maybe(host, "latency", 0.2, "100ns", "2us")
        self.maybe(host, "nack", 0.1, False)
        self.maybe(host, "nack_interval", 0.15, "20us")
        self.maybe(host, "retransmit_timeout", 0.2, "100us", "400us", "2ms")
        if self.cioq:
            switch["architecture"] = "cioq"
            self.maybe(switch, "speedup", 0.4, 1, 1.5, 3)
            self.maybe(switch, "input_queue", 0.3, "300KB", "2MB")
            self.maybe(switch, "output_queue", 0.3, "30KB", "200KB")
        else:
            self.maybe(switch, "buffer", 0.5, "1MB", "4MB", "12MB", "64MB")
            self.maybe(switch, "lossy_alpha", 0.15, 0.5, 4.0)
        self.maybe(switch, "latency", 0.25, "50ns", "700ns")
        mode = self.one("off", "static", "dynamic", "default", "default")
        if mode == "off":
            pfc["enabled"] = False
        elif mode == "static":
            if not self.cioq:
                pfc |= self.one(
                    {"xoff": "60KB"}, {"xoff": "100KB", "xon": "50KB"}, {"xoff": "25KB"}
                )
        elif mode == "dynamic" and not self.cioq:
            pfc["threshold"] = "dynamic"
            self.maybe(pfc, "alpha", 0.5, 0.03125, 0.5, 1.0)
            self.maybe(pfc, "reserve", 0.3, "0B", "10KB")
            self.maybe(pfc, "resume_offset", 0.3, "0B", "9KB")
        if self.dice.random() < 0.25:
            ecn |= {"enabled": True, "kmin": "10KB", "kmax": "60KB", "pmax": self.one(0.1, 1.0)}
        self.maybe(ecn, "mark_at", 0.2, "enqueue")
        self.maybe(classes, "ack", 0.15, "data", 2)
        self.maybe(classes, "control", 0.15, 5)
        self.maybe(classes, "data", 0.1, 0, 5)
        if "data" in classes or self.dice.random() < 0.2:
            classes["lossless"] = self.one([classes.get("data", 3)], [0, 3, 4, 5], [4])
        self.maybe(classes, "strict", 0.15, [], [7], [3, 6])
        self.maybe(classes, "weights", 0.15, [1, 2, 3, 4, 5, 6, 7, 8])
        self.maybe(routing, "hash", 0.4, "five-tuple", "symmetric", "spanning-trees")
        if routing.get("hash") == "spanning-trees":
            routing["paths"] = routing.pop("hash")
            self.maybe(routing, "trees", 0.5, 1, 2, 4)
        self.spreading(host, routing)
        return {key: table for key, table in tables.items() if table}

    def spreading(self, host: Table, routing: Table) -> None:
        """Load balancing, spraying and how losses are recovered."""
        if self.dice.random() < 0.25:
            host["recovery"] = "selective-repeat"
            for key in ("nack", "nack_interval", "retransmit_timeout"):
                host.pop(key, None)
            self.maybe(host, "loss_after", 0.5, "gap", "bdp", "timeout", 3, "15us")
            self.maybe(host, "in_flight", 0.3, "bdp", "unlimited", 20, "100KB")
            self.maybe(host, "rto_low", 0.3, "60us", "200us")
            self.maybe(host, "rto_low_packets", 0.2, 0, 10)
            self.maybe(host, "reorder", 0.3, 1, 8, 300, "bdp")
        else:
            self.maybe(host, "reorder", 0.15, 1, 16, "30KB", "bdp")
            self.maybe(host, "in_flight", 0.1, "bdp", 20)
        keeps = "reorder" in host or "recovery" in host
        if keeps:
            self.maybe(host, "reordering_makes_cnp", 0.2, True)
        if self.dice.random() < 0.3:
            routing["balance"] = self.one(
                "random",
                "round-robin",
                "adaptive",
                "adaptive",
                "drill",
                "letflow",
                "conga",
                "conweave",
            )
            if routing["balance"] == "drill":
                self.maybe(routing, "samples", 0.4, 1, 3)
                self.maybe(routing, "memory", 0.4, 0, 2)
            if routing["balance"] in ("adaptive", "letflow", "conga"):
                self.maybe(routing, "flowlet_gap", 0.5, "0ns", "2us", "50us")
            if routing["balance"] == "adaptive":
                self.maybe(routing, "quantise", 0.3, ["5KB", "20KB"])
                self.maybe(routing, "update", 0.3, "1us")
            if routing["balance"] == "conweave":
                hasty = {"reply_extra": "200ns", "inactive": "4us", "queues": self.one(1, 9)}
                extra = {"resume_extra": self.one("0ns", "40us"), "resume_default": "2us"}
                self.maybe(routing, "conweave", 0.7, hasty, hasty | extra)
            if routing["balance"] == "conga":
                dre = {"dre_period": self.one("1us", "50us"), "alpha": self.one(0.01, 0.2, 1.0)}
                self.maybe(routing, "conga", 0.5, dre, {"bits": 8, "age": "20us"})
        elif self.dice.random() < 0.2:
            host["spray"] = self.one("random", "cycle", "reps", "bitmap", "flowcell")
            self.maybe(host, "entropies", 0.4, 4, 64)
            if host["spray"] == "flowcell":
                self.maybe(host, "cell", 0.5, "4KB")
            if host["spray"] == "reps":
                self.maybe(host, "reps", 0.5, {"cache": 2, "freeze": "30us", "explore": 3})

    def slow_receivers(self) -> Table:
        if self.dice.random() > 0.12:
            return {}
        slow: Table = {"hosts": [self.one(*self.hosts)]}
        slow["rate"] = self.one("0bps", "1Gbps", "10Gbps", "40Gbps")
        slow["buffer"] = self.one("200KB", "1MB", "4MB")
        self.maybe(slow, "at", 0.5, "10us", "100us")
        slow["until"] = self.one("300us", "2ms")
        return {"receiver": [slow]}

    def failures(self) -> Table:
        between = [(node, peer) for node, peer, tier, other in self.links if tier and other]
        if self.cioq or not between or self.dice.random() > 0.15:
            return {}
        node, peer = self.one(*between)
        failure = {"link": f"{node}:{peer}", "at": self.one("1us", "40us", "200us")}
        self.maybe(failure, "until", 0.6, "400us", "3ms")
        return {"failure": [failure]}

    def impair(self, failures: Table) -> None:
        """A link that is slow or lossy for a time."""
        between = [(node, peer) for node, peer, *_ in self.links]
        if self.cioq or self.more.random() > 0.12:
            return
        node, peer = self.more.choice(between)
        entry: Table = {"link": f"{node}:{peer}", "at": self.more.choice(["3us", "70us"])}
        if self.more.random() < 0.6:
            entry["rate"] = self.more.choice(["1Gbps", "7Gbps"])
        if "rate" not in entry or self.more.random() < 0.3:
            entry["error_rate"] = self.more.choice([0.001, 0.05])
        if self.more.random() < 0.7:
            entry["until"] = self.more.choice(["90us", "600us"])
        failures.setdefault("failure", []).append(entry)

    def second_scheme(self, tables: Table) -> None:
        """Some hosts send with another scheme."""
        beside = BESIDE[self.scheme["name"]]
        if not beside or self.more.random() > 0.3:
            return
        count = self.more.randrange(1, len(self.hosts))
        also: Table = {"name": self.more.choice(beside)}
        also["hosts"] = self.more.sample(self.hosts, count)
        if self.more.random() < 0.3:
            also["priority"] = self.more.choice([4, 6])
        self.scheme["also"] = [also]
        law = {"kmin": "20KB", "kmax": "80KB", "pmax": 0.5}
        tables["ecn"] = law | {"enabled": True} | tables.get("ecn", {})

    def class_settings(self, tables: Table) -> None:
        """Marking of a class of its own."""
        if self.more.random() > 0.12:
            return
        ecn = self.more.choice([{"enabled": False}, {"kmin": "5KB", "kmax": "30KB"}])
        entry = {"priority": self.more.choice([0, 3, 4]), "ecn": ecn}
        tables.setdefault("classes", {})["settings"] = [entry]

    def pause_times(self, tables: Table) -> None:
        """Pauses that take hold late, or expire, or are not heeded for ever."""
        if self.more.random() > 0.2:
            return
        pfc = tables.setdefault("pfc", {})
        if self.more.random() < 0.5:
            # Input queues of CIOQ switches have no room for what arrives in 2 us.
            pfc["response"] = self.more.choice(["200ns"] if self.cioq else ["200ns", "2us"])
        if self.more.random() < 0.5:
            pfc["pause_time"] = self.more.choice([3000, 65535, "20us"])
            if pfc["pause_time"] == "20us":
                # "arrivals" loses data of a lossless class where a queue stands still.
                pfc["refresh"] = "8us"
        if self.more.random() < 0.4:
            action = self.more.choice(["drop", "forward"])
            times = {"detect": "30us", "restore": "100us"}
            pfc["watchdog"] = times | {"action": action}

    def class_pauses(self, tables: Table) -> None:
        """A pause threshold of a class of its own."""
        pfc, classes = tables.get("pfc", {}), tables.get("classes", {})
        if pfc.get("enabled") is False or self.more.random() > 0.2:
            return
        lossless = classes.get("lossless", [3])
        entries = classes.get("settings", [])
        priority = self.more.choice(lossless)
        entry = next((one for one in entries if one["priority"] == priority), None)
        if entry is None:
            entry = {"priority": priority}
            tables.setdefault("classes", {}).setdefault("settings", []).append(entry)
        if self.cioq or "xoff" in pfc:
            entry["pfc"] = self.more.choice([{"xoff": "20KB"}, {"xoff": "25KB", "xon": "12KB"}])
        else:
            entry["pfc"] = {"alpha": self.more.choice([0.01, 0.25, 2.0])}

    def own_memory(self, tables: Table) -> None:
        """Memory of its own for what ConWeave holds."""
        routing = tables.get("routing", {})
        is_static = "xoff" in tables.get("pfc", {})
        if routing.get("balance") == "conweave" and not is_static and self.more.random() < 0.5:
            routing.setdefault("conweave", {})["own_memory"] = True

    def probes(self) -> list[Table]:
        if self.dice.random() < 0.4:
            return []
        probes = []
        for index in range(self.one(1, 2, 4)):
            probe: Table = {"name": f"p{index}", "interval": self.one("1us", "7us", "50us")}
            if self.dice.random() < 0.5:
                node, peer, *_ = self.one(*self.links)
                probe |= {"kind": self.one(*PORT_PROBES)}
                probe |= self.one({"ports": [f"{node}:{peer}"]}, {"nodes": [node]})
                if probe["kind"] in ("queue", "pause", "input-queue"):
                    self.maybe(probe, "priority", 0.3, 3, 6)
            else:
                probe |= {"kind": self.one(*FLOW_PROBES)}
                probe |= self.one({"flows": [0]}, {"nodes": [self.one(*self.hosts)]})
            self.maybe(probe, "start", 0.2, "3us", "100us")
            probe["end"] = self.one("500us", "2ms")
            probes.append(probe)
        return probes

    def trace(self) -> Table:
        if self.dice.random() < 0.7:
            return {}
        trace: Table = {"pfc": self.one(True, False)}
        if self.dice.random() < 0.7:
            trace["packets"] = [self.one(*self.links)[0]]
            self.maybe(trace, "capture", 0.5, True)
        self.maybe(trace, "end", 0.2, "50us")
        return {"trace": trace}
