//! Shortest paths, and the equal-cost choice among them; or the paths of spanning trees.
//!
//! Hosts that hang on the same switches form an *attachment*. Tables go by attachment, not by
//! host: for each switch and attachment one number that names a set of ports. What a pair of hosts
//! needs (its path, its base RTT) is walked when it is asked for.

mod spanning;

use crate::network::{Cable, Node, NodeKind, Paths};
use crate::quirks::{Quirks, murmur3};
use crate::run::Refusal;
use engine::fetch;
use std::collections::BTreeMap;
use units::{Bytes, NodeId, PortId, Rate, Time};

/// A port's link as seen from its node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkEnd {
    pub(crate) peer: u32,
    pub(crate) peer_port: u16,
    pub(crate) rate: Rate,
    pub(crate) delay: Time,
    pub(crate) pfc: bool,
    pub(crate) error_rate: f64,
    pub(crate) fails_at: Time,
}

/// The network as a graph, ports numbered.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) kinds: Vec<NodeKind>,
    pub(crate) tiers: Vec<u8>,
    first_port: Vec<u32>,
    ends: Vec<LinkEnd>,
    /// Node of each host.
    pub(crate) hosts: Vec<u32>,
    /// Index among the hosts of each node that is one.
    pub(crate) host_of: Vec<u32>,
    /// When links fail, ascending: each begins an epoch after the first.
    failures: Vec<Time>,
    /// The epoch whose links the graph has.
    epoch: usize,
}

impl Graph {
    /// Of each link's two ends.
    pub(crate) fn rates(&self) -> impl Iterator<Item = Rate> + '_ {
        self.ends.iter().map(|end| end.rate)
    }

    pub(crate) fn new(nodes: &[Node], cables: &[Cable]) -> Graph {
        let mut degree = vec![0u32; nodes.len() + 1];
        for cable in cables {
            degree[cable.a.index()] += 1;
            degree[cable.b.index()] += 1;
        }
        let mut first_port = Vec::with_capacity(nodes.len() + 1);
        let mut total = 0;
        for count in degree {
            first_port.push(total);
            total += count;
        }
        let mut next: Vec<u32> = first_port.clone();
        let none = LinkEnd {
            peer: 0,
            peer_port: 0,
            rate: Rate::ZERO,
            delay: Time::ZERO,
            pfc: true,
            error_rate: 0.0,
            fails_at: Time::NEVER,
        };
        let mut ends = vec![none; total as usize];
        for cable in cables {
            let (a, b) = (cable.a.index(), cable.b.index());
            let (at, bt) = (next[a], next[b]);
            next[a] += 1;
            next[b] += 1;
            let end = |peer: NodeId, peer_port: u32| LinkEnd {
                peer: peer.get(),
                peer_port: peer_port as u16,
                rate: cable.rate,
                delay: cable.delay,
                pfc: cable.pfc,
                error_rate: cable.error_rate,
                fails_at: cable.fails_at,
            };
            ends[at as usize] = end(cable.b, bt - first_port[b]);
            ends[bt as usize] = end(cable.a, at - first_port[a]);
        }
        let mut hosts = Vec::new();
        let mut host_of = vec![u32::MAX; nodes.len()];
        for (node, &Node { kind, .. }) in nodes.iter().enumerate() {
            if kind == NodeKind::Host {
                host_of[node] = hosts.len() as u32;
                hosts.push(node as u32);
            }
        }
        let mut failures: Vec<Time> = cables.iter().map(|cable| cable.fails_at).collect();
        failures.retain(|&time| time != Time::NEVER);
        failures.sort_unstable();
        failures.dedup();
        Graph {
            failures,
            epoch: 0,
            kinds: nodes.iter().map(|node| node.kind).collect(),
            tiers: nodes.iter().map(|node| node.tier).collect(),
            first_port,
            ends,
            hosts,
            host_of,
        }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.kinds.len()
    }

    pub(crate) fn ports(&self, node: u32) -> &[LinkEnd] {
        let node = node as usize;
        &self.ends[self.first_port[node] as usize..self.first_port[node + 1] as usize]
    }

    /// How many epochs there are.
    pub(crate) fn epochs(&self) -> usize {
        self.failures.len() + 1
    }

    /// When an epoch ends.
    pub(crate) fn end_of(&self, epoch: usize) -> Time {
        self.failures.get(epoch).copied().unwrap_or(Time::NEVER)
    }

    /// The graph with the links of an epoch alone; ports keep their numbers.
    fn in_epoch(&self, epoch: usize) -> Graph {
        Graph { epoch, ..self.clone() }
    }

    /// The ports of a node whose links have not failed, with their numbers.
    fn live_ports(&self, node: u32) -> impl Iterator<Item = (usize, &LinkEnd)> + Clone {
        let begin = self.epoch.checked_sub(1).map_or(Time::ZERO, |before| self.failures[before]);
        let ends = self.ports(node).iter().enumerate();
        ends.filter(move |(_, end)| end.fails_at > begin)
    }

    pub(crate) fn is_host(&self, node: u32) -> bool {
        self.kinds[node as usize] == NodeKind::Host
    }
}

/// Where a host hangs: its attachment and its place in it.
#[derive(Clone, Copy, Debug)]
struct Place {
    attachment: u32,
    index: u32,
}

/// Stands for the port of a switch that has no way to a host.
pub(crate) const NOWHERE: u16 = u16::MAX;

/// A switch, as its look-ups need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here {
    node: u32,
    begin: usize,
    salt: u32,
}

/// Next hops of all switches to all hosts.
#[derive(Debug)]
pub(crate) struct Routes {
    places: Vec<Place>,
    /// Row of each node in `table`; hosts with one port need none.
    rows: Vec<u32>,
    /// Rows of an epoch; those of the next follow.
    rows_of_epoch: u32,
    /// By row, then attachment: the name of the set of ports. With [`LOCAL`] the attachment hangs on
    /// the switch itself, and its hosts' ports lie one after another: the name is the first host's.
    /// Where a host has several of them the count is 0, and sets are in `local`.
    table: Vec<u32>,
    attachments: usize,
    /// Sets of ports by place in the attachment.
    local: Vec<u32>,
    /// Sets of ports, one after another; a set is named by where it begins and how many it has.
    members: Vec<PortId>,
    /// Salt of each node's hash: one per tier, or one for all.
    salts: Vec<u32>,
    /// Node of each host, where switches hash as in the HPCC simulator.
    addresses: Option<Vec<u32>>,
    /// The largest base round trip of any pair of hosts.
    pub(crate) network_rtt: Time,
    /// The largest base round trip times lowest rate of any pair, where paths are shortest.
    pub(crate) network_bdp: Option<Bytes>,
    /// Most switches on any path.
    pub(crate) max_switches: usize,
}

const LOCAL: u32 = 1 << 31;
const NO_ROW: u32 = u32::MAX;

/// A set's name keeps the number of its ports in this many low bits.
const COUNT_BITS: u32 = 11;
const COUNT_MASK: u32 = (1 << COUNT_BITS) - 1;

/// Interns sets of ports.
#[derive(Default)]
struct Sets {
    known: BTreeMap<Vec<PortId>, u32>,
    members: Vec<PortId>,
}

impl Sets {
    /// The name of a set; `None` where there is no room for another.
    fn name(&mut self, set: Vec<PortId>) -> Option<u32> {
        if let Some(&name) = self.known.get(&set) {
            return Some(name);
        }
        let begin = self.members.len();
        if begin >= 1 << (31 - COUNT_BITS) {
            return None;
        }
        let name = (begin as u32) << COUNT_BITS | set.len() as u32;
        self.members.extend(&set);
        self.known.insert(set, name);
        Some(name)
    }

    /// The same for sets of which there can't be too many.
    fn intern(&mut self, set: Vec<PortId>) -> u32 {
        self.name(set).expect("too many different sets of ports")
    }
}

/// What a packet of a size costs on a link, for round trips.
pub(crate) struct Sizes {
    /// Wire bytes of a full data packet, and of an ACK.
    pub(crate) data: u64,
    pub(crate) ack: u64,
    /// Where only this payload counts, and one way only, in whole nanoseconds.
    pub(crate) payload_only: Option<u64>,
    /// Time that a node takes between the wire and its queues, by kind.
    pub(crate) host_latency: Time,
    pub(crate) switch_latency: Time,
}

impl Sizes {
    fn hop(&self, graph: &Graph, from: &LinkEnd, bytes: u64) -> Time {
        let latency =
            if graph.is_host(from.peer) { self.host_latency } else { self.switch_latency };
        from.rate.time_for(units::Bytes::new(bytes)) + from.delay + latency
    }
    /// A data packet one way and its ACK the other, over one link.
    pub(crate) fn both(&self, graph: &Graph, from: &LinkEnd, back: &LinkEnd) -> Time {
        if let Some(payload) = self.payload_only {
            let ns = payload * 8_000_000_000 / from.rate.bps().max(1);
            return from.delay * 2 + Time::from_ns(ns);
        }
        self.hop(graph, from, self.data) + self.hop(graph, back, self.ack)
    }
}

/// The attachments of a network.
struct Attachments {
    /// By host.
    places: Vec<Place>,
    /// The hosts of each, by node.
    members: Vec<Vec<u32>>,
}

impl Attachments {
    fn new(epochs: &[Graph]) -> Attachments {
        let graph = &epochs[0];
        // Hosts with the same set of neighbours, in all epochs.
        let mut numbers: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut places = Vec::with_capacity(graph.hosts.len());
        for &host in &graph.hosts {
            let mut neighbours: Vec<u32> = Vec::new();
            for (number, epoch) in epochs.iter().enumerate() {
                let mut now: Vec<u32> = epoch.live_ports(host).map(|(_, end)| end.peer).collect();
                now.sort_unstable();
                now.dedup();
                if number > 0 {
                    neighbours.push(u32::MAX);
                }
                neighbours.append(&mut now);
            }
            // Hosts that are wired to hosts are a matter of their own.
            if graph.ports(host).iter().any(|end| graph.is_host(end.peer)) {
                neighbours.push(u32::MAX);
                neighbours.push(host);
            }
            let number = *numbers.entry(neighbours).or_insert_with(|| {
                members.push(Vec::new());
                members.len() as u32 - 1
            });
            let index = members[number as usize].len() as u32;
            members[number as usize].push(host);
            places.push(Place { attachment: number, index });
        }
        Attachments { places, members }
    }
}

/// Next hops while they are worked out.
struct Table {
    /// Row of each node in `entries`; hosts with one port need none.
    rows: Vec<u32>,
    rows_of_epoch: u32,
    /// The one being filled; its rows follow those of the epochs before.
    epoch: usize,
    attachments: usize,
    entries: Vec<u32>,
    local: Vec<u32>,
    sets: Sets,
    network_rtt: Time,
    network_bdp: Option<Bytes>,
    max_switches: usize,
}

impl Table {
    fn new(graph: &Graph, attachments: usize) -> Table {
        let mut rows = vec![NO_ROW; graph.nodes()];
        let mut count = 0;
        for (node, row) in rows.iter_mut().enumerate() {
            if !graph.is_host(node as u32) || graph.ports(node as u32).len() > 1 {
                *row = count;
                count += 1;
            }
        }
        Table {
            rows,
            rows_of_epoch: count,
            epoch: 0,
            attachments,
            entries: Vec::new(),
            local: Vec::new(),
            sets: Sets::default(),
            network_rtt: Time::ZERO,
            network_bdp: None,
            max_switches: 0,
        }
    }

    /// Where the next hops of a node to an attachment are kept.
    fn slot(&self, node: u32, attachment: usize) -> usize {
        let row = self.rows[node as usize] as usize + self.epoch * self.rows_of_epoch as usize;
        row * self.attachments + attachment
    }

    /// Makes room for the rows of an epoch. What nothing leads to has no ports.
    fn begin(&mut self, epoch: usize) {
        self.epoch = epoch;
        let none = self.sets.intern(Vec::new());
        let count = (epoch + 1) * self.rows_of_epoch as usize * self.attachments;
        self.entries.resize(count, none);
    }

    /// A round trip between two hosts, and how many switches it passes. Hosts go by the network as
    /// it was at the start.
    fn widen(&mut self, rtt: Time, switches: usize) {
        if self.epoch == 0 {
            self.network_rtt = self.network_rtt.max(rtt);
        }
        self.max_switches = self.max_switches.max(switches);
    }

    /// The same for a round trip whose lowest rate is known.
    fn widen_at(&mut self, rtt: Time, rate: Rate, switches: usize) {
        if self.epoch == 0 {
            self.network_bdp = self.network_bdp.max(Some(rate.bytes_in(rtt)));
        }
        self.widen(rtt, switches);
    }

    /// Shortest paths by hop count. Every host reaches every other: the scenario has checked it.
    fn shortest(&mut self, graph: &Graph, sizes: &Sizes, attached: &Attachments, quirks: &Quirks) {
        let table = self;
        let mut search = Search::new(graph, sizes, quirks);
        let on_switch = hosts_on_switches(graph, sizes, &attached.places);
        for (number, hosts) in attached.members.iter().enumerate() {
            search.run(graph, sizes, hosts);
            for &node in hosts.iter().chain(&search.order) {
                if table.rows[node as usize] == NO_ROW {
                    continue;
                }
                let slot = table.slot(node, number);
                let ports_to = |leads: &dyn Fn(u32) -> bool| {
                    let mut ports = ports_to(graph, node, leads);
                    if quirks.node_hash {
                        by_rank(graph, node, &search.rank, &mut ports);
                    }
                    ports
                };
                if search.distance[node as usize] == 0 {
                    // To a host on the same switches.
                    table.entries[slot] = table.sets.intern(ports_to(&|peer| !graph.is_host(peer)));
                } else if search.distance[node as usize] == 1 {
                    let sets: Vec<_> =
                        hosts.iter().map(|&host| ports_to(&|peer| peer == host)).collect();
                    table.entries[slot] = if sets.iter().all(|set| set.len() == 1) {
                        let first = table.sets.intern(sets.concat()) >> COUNT_BITS;
                        LOCAL | first << COUNT_BITS | 1
                    } else {
                        let first = table.local.len() as u32;
                        table.local.extend(sets.into_iter().map(|set| table.sets.intern(set)));
                        LOCAL | first << COUNT_BITS
                    };
                } else {
                    let nearer = search.distance[node as usize] - 1;
                    let ports = ports_to(&|peer| {
                        search.distance[peer as usize] == nearer && !graph.is_host(peer)
                    });
                    table.entries[slot] = table.sets.intern(ports);
                }
            }
            for &node in &search.order {
                let (cost, rate) = (search.cost[node as usize], search.rate[node as usize]);
                let distance = search.distance[node as usize] as usize;
                if graph.is_host(node) {
                    // Wired to a host of the attachment without a switch between them.
                    table.widen_at(cost, rate, 0);
                    continue;
                }
                for &OnSwitch { attachment, farthest, second, fastest } in &on_switch[node as usize]
                {
                    let rate = rate.min(fastest);
                    if attachment != number as u32 {
                        table.widen_at(cost + farthest, rate, distance);
                    } else if second > Time::ZERO {
                        table.widen_at(farthest + second, fastest, distance);
                    }
                }
            }
        }
    }
}

impl Routes {
    /// Next hops of `paths`.
    pub(crate) fn new(
        graph: &Graph,
        sizes: &Sizes,
        seed: u64,
        quirks: &Quirks,
        paths: Paths,
    ) -> Result<Routes, Refusal> {
        let epochs: Vec<Graph> = (0..graph.epochs()).map(|epoch| graph.in_epoch(epoch)).collect();
        let attached = Attachments::new(&epochs);
        let mut table = Table::new(graph, attached.members.len());
        for (epoch, graph) in epochs.iter().enumerate() {
            table.begin(epoch);
            match paths {
                Paths::FiveTuple | Paths::Symmetric => {
                    table.shortest(graph, sizes, &attached, quirks);
                }
                Paths::SpanningTrees(count) => {
                    spanning::fill(&mut table, graph, sizes, &attached, count)?;
                }
            }
        }
        let salt = |tier: u8| crate::stream::seed(seed, "ecmp", u64::from(tier)) as u32 | 1;
        // All nodes of a path must take the same tree.
        let one_salt = matches!(paths, Paths::SpanningTrees(_));
        let tiers = graph.tiers.iter();
        Ok(Routes {
            places: attached.places,
            rows: table.rows,
            rows_of_epoch: table.rows_of_epoch,
            table: table.entries,
            attachments: table.attachments,
            local: table.local,
            members: table.sets.members,
            salts: tiers.map(|&tier| salt(if one_salt { 0 } else { tier })).collect(),
            addresses: quirks
                .node_hash
                .then(|| graph.hosts.iter().map(|&node| crate::quirks::address(node)).collect()),
            network_rtt: table.network_rtt,
            network_bdp: table.network_bdp,
            max_switches: table.max_switches,
        })
    }

    /// The row of a node in the table of an epoch; hosts with one port have none.
    pub(crate) fn row(&self, node: u32, epoch: usize) -> u32 {
        match self.rows[node as usize] {
            NO_ROW => NO_ROW,
            row => row + epoch as u32 * self.rows_of_epoch,
        }
    }

    /// The ports of `node` that lead to `host` in an epoch: on shortest paths, or one for each tree.
    pub(crate) fn candidates(&self, node: u32, host: u32, epoch: usize) -> &[PortId] {
        match self.row(node, epoch) {
            NO_ROW => const { &[PortId::new(0)] },
            row => self.candidates_at(row as usize * self.attachments, host),
        }
    }

    /// The same for a switch.
    #[inline]
    pub(crate) fn candidates_from(&self, here: &Here, host: u32) -> &[PortId] {
        self.candidates_at(here.begin, host)
    }

    #[inline]
    fn candidates_at(&self, row_begin: usize, host: u32) -> &[PortId] {
        let set = self.set(row_begin, host);
        let begin = (set >> COUNT_BITS) as usize;
        &self.members[begin..begin + (set & COUNT_MASK) as usize]
    }

    /// What a switch keeps of its row: where the row begins in the table, and the switch's salt.
    pub(crate) fn here(&self, node: u32, epoch: usize) -> Here {
        let row = self.row(node, epoch);
        let begin = if row == NO_ROW { 0 } else { row as usize * self.attachments };
        Here { node, begin, salt: self.salts[node as usize] }
    }

    /// Has the processor fetch a switch's row.
    pub(crate) fn fetch(&self, here: &Here) {
        let row = &self.table[here.begin..][..self.attachments];
        fetch(row, size_of_val(row).div_ceil(64).min(32));
    }

    /// The port that a switch takes to `to` for what comes from host `from` with this hash: the same
    /// as [`ecmp`](Self::ecmp) among its candidates. [`NOWHERE`] where there is no way.
    #[inline(always)]
    pub(crate) fn next_port(&self, here: &Here, (from, to): (u32, u32), hash: u32) -> u16 {
        let (set, _) = self.named_set(here.begin, to);
        if set & COUNT_MASK == 0 || self.addresses.is_some() {
            return self.next_port_among(here, (from, to), hash);
        }
        one_of(&self.members, set, hash ^ here.salt)
    }

    /// The look-ups of a switch for many packets, where they are simple ones.
    pub(crate) fn ways(&self, here: &Here) -> Option<Ways<'_>> {
        self.addresses.is_none().then(|| Ways {
            places: &self.places,
            row: &self.table[here.begin..][..self.attachments],
            members: &self.members,
            salt: here.salt,
        })
    }

    /// The same where it takes longer.
    #[inline(never)]
    fn next_port_among(&self, here: &Here, ends: (u32, u32), hash: u32) -> u16 {
        let candidates = self.candidates_from(here, ends.1);
        if candidates.is_empty() {
            return NOWHERE;
        }
        self.ecmp(here.node, candidates, ends, hash).get()
    }

    /// The name of the set of ports that lead to `host` from the node whose row begins there.
    #[inline]
    fn set(&self, row_begin: usize, host: u32) -> u32 {
        let (set, is_local) = self.named_set(row_begin, host);
        if set & COUNT_MASK == 0 && is_local {
            self.local[(set >> COUNT_BITS) as usize]
        } else {
            set
        }
    }

    /// The same, where a local set without ports only names its place in `local`; and whether it is
    /// local.
    #[inline(always)]
    fn named_set(&self, row_begin: usize, host: u32) -> (u32, bool) {
        let place = self.places[host as usize];
        let entry = self.table[row_begin + place.attachment as usize];
        (set_at(entry, place), entry & LOCAL != 0)
    }

    /// The one of them that is taken for what goes from host `from` to host `to` with this hash.
    #[inline]
    pub(crate) fn ecmp(
        &self,
        node: u32,
        candidates: &[PortId],
        (from, to): (u32, u32),
        hash: u32,
    ) -> PortId {
        match (candidates, &self.addresses) {
            (&[only], _) => only,
            (several, None) => {
                let mixed = spread(hash ^ self.salts[node as usize]);
                several[share(mixed, several.len() as u32)]
            }
            (several, Some(addresses)) => {
                let words = [addresses[from as usize], addresses[to as usize], hash];
                let (hash, count) = (murmur3(words, node), several.len() as u32);
                // A division takes longer than all of the hash.
                let place = if count.is_power_of_two() { hash & (count - 1) } else { hash % count };
                several[place as usize]
            }
        }
    }

    /// Whether what goes between two hosts takes the same cables there, with the first hash, as
    /// back with the second.
    pub(crate) fn is_symmetric(
        &self,
        graph: &Graph,
        (src, dst): (u32, u32),
        hashes: (u32, u32),
        epoch: usize,
    ) -> bool {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        self.path(graph, (src, dst), hashes.0, epoch, &mut there);
        self.path(graph, (dst, src), hashes.1, epoch, &mut back);
        // A cable is told by its end away from `src`.
        let away = there.iter().map(|end| (end.peer, end.peer_port));
        away.eq(back.iter().rev().map(|end| {
            let end = graph.ports(end.peer)[end.peer_port as usize];
            (end.peer, end.peer_port)
        }))
    }

    /// The links that a packet takes in an epoch from host `src` to host `dst`, node by node.
    pub(crate) fn path(
        &self,
        graph: &Graph,
        (src, dst): (u32, u32),
        hash: u32,
        epoch: usize,
        path: &mut Vec<LinkEnd>,
    ) {
        path.clear();
        let (mut node, target) = (graph.hosts[src as usize], graph.hosts[dst as usize]);
        while node != target {
            let candidates = self.candidates(node, dst, epoch);
            let port = self.ecmp(node, candidates, (src, dst), hash);
            let end = graph.ports(node)[port.index()];
            path.push(end);
            node = end.peer;
        }
    }
}

/// What a switch looks up for each packet.
pub(crate) struct Ways<'a> {
    places: &'a [Place],
    /// Its row of the table.
    row: &'a [u32],
    members: &'a [PortId],
    salt: u32,
}

impl Ways<'_> {
    /// The port to host `to` for this hash, as [`Routes::next_port`]; [`NOWHERE`] also where that takes a
    /// closer look.
    #[inline(always)]
    pub(crate) fn port(&self, to: u32, hash: u32) -> u16 {
        let place = self.places[to as usize];
        let set = set_at(self.row[place.attachment as usize], place);
        if set & COUNT_MASK == 0 { NOWHERE } else { one_of(self.members, set, hash ^ self.salt) }
    }
}

/// The port of a set that is taken for a salted hash. Of one port the first is, whatever the hash: cheaper
/// than a guess whether it is one.
#[inline(always)]
fn one_of(members: &[PortId], set: u32, hash: u32) -> u16 {
    let (begin, count) = ((set >> COUNT_BITS) as usize, set & COUNT_MASK);
    members[begin + share(spread(hash), count)].get()
}

/// The name of the set of ports that lead to a host, where the table has `entry` for its attachment.
#[inline(always)]
fn set_at(entry: u32, place: Place) -> u32 {
    // All ones where it is local: which it is can't be guessed.
    let local = ((entry as i32) >> 31) as u32;
    (entry & !LOCAL) + ((place.index & local) << COUNT_BITS)
}

/// The place of a hash among `count`.
#[inline(always)]
fn share(mixed: u32, count: u32) -> usize {
    ((u64::from(mixed) * u64::from(count)) >> 32) as usize
}

/// The hosts of an attachment that hang on a switch.
#[derive(Clone, Copy, Debug)]
struct OnSwitch {
    attachment: u32,
    /// The largest round trip over a host's cable, and the second largest (zero where there is one
    /// host).
    farthest: Time,
    second: Time,
    /// The highest rate of the cables.
    fastest: Rate,
}

/// The attachments with hosts on each switch.
fn hosts_on_switches(graph: &Graph, sizes: &Sizes, places: &[Place]) -> Vec<Vec<OnSwitch>> {
    let mut found: Vec<Vec<OnSwitch>> = vec![Vec::new(); graph.nodes()];
    for (place, &host) in places.iter().zip(&graph.hosts) {
        for (_, end) in graph.live_ports(host) {
            let back = graph.ports(end.peer)[end.peer_port as usize];
            let cost = sizes.both(graph, end, &back);
            let known = &mut found[end.peer as usize];
            match known.iter_mut().find(|here| here.attachment == place.attachment) {
                Some(here) => {
                    here.second = here.second.max(cost.min(here.farthest));
                    here.farthest = here.farthest.max(cost);
                    here.fastest = here.fastest.max(end.rate);
                }
                None => known.push(OnSwitch {
                    attachment: place.attachment,
                    farthest: cost,
                    second: Time::ZERO,
                    fastest: end.rate,
                }),
            }
        }
    }
    found
}

fn ports_to(graph: &Graph, node: u32, leads: impl Fn(u32) -> bool) -> Vec<PortId> {
    let ends = graph.live_ports(node);
    ends.filter(|(_, end)| leads(end.peer)).map(|(port, _)| PortId::new(port as u16)).collect()
}

/// As the HPCC simulator lists next hops: one link to each neighbour, the last; neighbours in the
/// order in which its search from the destination came upon them.
fn by_rank(graph: &Graph, node: u32, rank: &[u32], ports: &mut Vec<PortId>) {
    let ends = graph.ports(node);
    let peer = |port: &PortId| ends[port.index()].peer;
    ports.sort_by_key(|port| (rank[peer(port) as usize], peer(port), std::cmp::Reverse(*port)));
    ports.dedup_by_key(|port| peer(port));
}

/// Spreads the hash so that each tier's digit of it is independent of the others'.
#[inline]
fn spread(hash: u32) -> u32 {
    let hash = (hash ^ hash >> 16).wrapping_mul(0x7feb_352d);
    let hash = (hash ^ hash >> 15).wrapping_mul(0x846c_a68b);
    hash ^ hash >> 16
}

/// Hash of the five-tuple of a QP. RoCEv2's destination port is always 4791, and the source port
/// is the QP's entropy; with `symmetric` the addresses count without order, so that both
/// directions hash alike.
pub(crate) fn flow_hash(src: u32, dst: u32, entropy: u32, symmetric: bool, to_source: bool) -> u32 {
    let (a, b) = match (symmetric, to_source) {
        (true, _) => (src.min(dst), src.max(dst)),
        (false, false) => (src, dst),
        (false, true) => (dst, src),
    };
    let mut hash = 0x811c_9dc5u32;
    for word in [a, b, entropy] {
        hash = spread(hash ^ word).wrapping_add(0x9e37_79b9);
    }
    hash
}

/// Breadth-first search from the hosts of an attachment.
struct Search {
    distance: Vec<u32>,
    /// Round trip from the node to the farthest host of the attachment over any shortest path, or
    /// over the one that the search found first.
    cost: Vec<Time>,
    /// The lowest rate on the path that the search found first.
    rate: Vec<Rate>,
    order: Vec<u32>,
    /// Place in that order.
    rank: Vec<u32>,
    /// Ports of each node in the order in which the search looks at them.
    ports: Vec<Vec<u16>>,
    first_path: bool,
}

impl Search {
    /// The HPCC simulator looks at neighbours by their place in memory: the last one made first.
    fn new(graph: &Graph, sizes: &Sizes, quirks: &Quirks) -> Search {
        let nodes = graph.nodes();
        let ports = (0..nodes as u32).map(|node| {
            let mut live: Vec<(usize, &LinkEnd)> = graph.live_ports(node).collect();
            if quirks.node_hash {
                live.sort_by_key(|(port, end)| std::cmp::Reverse((end.peer, *port)));
            }
            live.into_iter().map(|(port, _)| port as u16).collect()
        });
        Search {
            distance: vec![u32::MAX; nodes],
            cost: vec![Time::ZERO; nodes],
            rate: vec![Rate::ZERO; nodes],
            order: Vec::new(),
            rank: vec![u32::MAX; nodes],
            ports: ports.collect(),
            first_path: sizes.payload_only.is_some(),
        }
    }

    /// `order` becomes the nodes reached, nearest first, without the hosts searched from.
    fn run(&mut self, graph: &Graph, sizes: &Sizes, hosts: &[u32]) {
        self.distance.fill(u32::MAX);
        self.cost.fill(Time::ZERO);
        self.rank.fill(u32::MAX);
        self.order.clear();
        for &host in hosts {
            self.distance[host as usize] = 0;
        }
        // The first round goes from the hosts, later ones from switches: hosts do not forward.
        for &host in hosts {
            self.reach_from(graph, sizes, host, 1);
        }
        let mut next = 0;
        while next < self.order.len() {
            let node = self.order[next];
            next += 1;
            if !graph.is_host(node) {
                self.reach_from(graph, sizes, node, self.distance[node as usize] + 1);
            }
        }
    }

    /// Steps from `node` to its neighbours, against the packets' direction.
    fn reach_from(&mut self, graph: &Graph, sizes: &Sizes, node: u32, distance: u32) {
        for place in 0..self.ports[node as usize].len() {
            let end = &graph.ports(node)[self.ports[node as usize][place] as usize];
            let peer = end.peer as usize;
            let is_first = self.distance[peer] == u32::MAX;
            if is_first {
                self.distance[peer] = distance;
                self.rank[peer] = self.order.len() as u32;
                self.order.push(end.peer);
                let before = if distance == 1 { end.rate } else { self.rate[node as usize] };
                self.rate[peer] = before.min(end.rate);
            }
            // Hosts of an attachment may have cables of different length.
            let counts = is_first || !self.first_path || distance == 1;
            if self.distance[peer] == distance && counts {
                let back = graph.ports(end.peer)[end.peer_port as usize];
                let cost = self.cost[node as usize] + sizes.both(graph, &back, end);
                self.cost[peer] = self.cost[peer].max(cost);
            }
        }
    }
}
