//! What routes are made of, and kept in while they are worked out: attachments, sets of ports, next
//! hops.

use crate::graph::{Graph, LinkEnd};
use std::collections::BTreeMap;
use units::{Bytes, PortId, Rate, Time};

/// Where a host hangs: its attachment and its place in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) attachment: u32,
    pub(super) index: u32,
}

/// An entry for an attachment that hangs on the node itself has this bit, see `Routes::table`.
pub(super) const LOCAL: u32 = 1 << 31;
/// In place of the row of a node that has none.
pub(super) const NO_ROW: u32 = u32::MAX;

/// A set's name keeps the number of its ports in this many low bits.
pub(super) const COUNT_BITS: u32 = 11;
pub(super) const COUNT_MASK: u32 = (1 << COUNT_BITS) - 1;

/// Interns sets of ports.
#[derive(Default)]
pub(super) struct Sets {
    known: BTreeMap<Vec<PortId>, u32>,
    pub(super) members: Vec<PortId>,
}

impl Sets {
    /// The name of a set; `None` where there is no room for another.
    pub(super) fn name(&mut self, set: Vec<PortId>) -> Option<u32> {
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
    pub(super) fn intern(&mut self, set: Vec<PortId>) -> u32 {
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
        from.rate.time_for(Bytes::new(bytes)) + from.delay + latency
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
pub(super) struct Attachments {
    /// By host.
    pub(super) places: Vec<Place>,
    /// The hosts of each, by node.
    pub(super) members: Vec<Vec<u32>>,
}

impl Attachments {
    pub(super) fn new(epochs: &[Graph]) -> Attachments {
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
pub(super) struct Table {
    /// Row of each node in `entries`; hosts with one port need none.
    pub(super) rows: Vec<u32>,
    pub(super) rows_of_epoch: u32,
    /// The one being filled; its rows follow those of the epochs before.
    pub(super) epoch: usize,
    pub(super) attachments: usize,
    pub(super) entries: Vec<u32>,
    pub(super) local: Vec<u32>,
    pub(super) sets: Sets,
    pub(super) network_rtt: Time,
    pub(super) network_bdp: Option<Bytes>,
    pub(super) max_switches: usize,
}

impl Table {
    pub(super) fn new(graph: &Graph, attachments: usize) -> Table {
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
    pub(super) fn slot(&self, node: u32, attachment: usize) -> usize {
        let row = self.rows[node as usize] as usize + self.epoch * self.rows_of_epoch as usize;
        row * self.attachments + attachment
    }

    /// Makes room for the rows of an epoch. What nothing leads to has no ports.
    pub(super) fn begin(&mut self, epoch: usize) {
        self.epoch = epoch;
        let none = self.sets.intern(Vec::new());
        let count = (epoch + 1) * self.rows_of_epoch as usize * self.attachments;
        self.entries.resize(count, none);
    }

    /// A round trip between two hosts, and how many switches it passes. Hosts go by the network as
    /// it was at the start.
    pub(super) fn widen(&mut self, rtt: Time, switches: usize) {
        if self.epoch == 0 {
            self.network_rtt = self.network_rtt.max(rtt);
        }
        self.max_switches = self.max_switches.max(switches);
    }

    /// The same for a round trip whose lowest rate is known.
    pub(super) fn widen_at(&mut self, rtt: Time, rate: Rate, switches: usize) {
        if self.epoch == 0 {
            self.network_bdp = self.network_bdp.max(Some(rate.bytes_in(rtt)));
        }
        self.widen(rtt, switches);
    }
}
