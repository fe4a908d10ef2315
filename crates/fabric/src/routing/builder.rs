//! The parts of routes, and how they are built: attachments, sets of ports, tables of next hops.

use crate::error::SetupError;
use crate::network::graph::{Epoch, Graph, LinkEnd};
use std::collections::BTreeMap;
use units::{Bytes, PortId, Rate, Time, cancel};

/// The attachment of a host, and the host's index in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostSlot {
    pub(super) attachment: u32,
    pub(super) index: u32,
}

/// Bit of an entry for an attachment that hangs on the node itself, see `Routes::table`.
pub(super) const LOCAL: u32 = 1 << 31;
/// The row of a node that has none.
pub(super) const NO_ROW: u32 = u32::MAX;

/// How names of sets of ports are encoded: the number of ports in the low bits, the index of the
/// first port in the others. The largest set decides how many bits the number takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortSetCodec {
    count_bits: u32,
    count_mask: u32,
}

impl PortSetCodec {
    /// Makes a code for sets of up to `max_ports` ports.
    pub(super) fn new(max_ports: usize) -> PortSetCodec {
        let count_bits = usize::BITS - max_ports.leading_zeros();
        PortSetCodec { count_bits, count_mask: (1 << count_bits) - 1 }
    }

    /// Returns the name of a set of `count` ports that begins at `index`. Fails if one of the
    /// `numbers` indices from there on cannot be encoded.
    fn name(self, index: usize, numbers: usize, count: usize) -> Result<u32, SetupError> {
        if index + numbers > (LOCAL >> self.count_bits) as usize {
            return Err(SetupError::RoutingTableFull);
        }
        Ok((index as u32) << self.count_bits | count as u32)
    }

    /// Returns the number of ports of a set.
    #[inline(always)]
    pub(super) fn count(self, name: u32) -> u32 {
        name & self.count_mask
    }

    /// Returns the index of the first port of a set.
    #[inline(always)]
    pub(super) fn index(self, name: u32) -> usize {
        (name >> self.count_bits) as usize
    }

    /// Returns the name of the set with as many ports that begins `offset` ports after `name`.
    #[inline(always)]
    pub(super) fn offset_by(self, name: u32, offset: u32) -> u32 {
        name + (offset << self.count_bits)
    }
}

/// All sets of ports, each kept once.
pub(super) struct PortSets {
    pub(super) codec: PortSetCodec,
    known: BTreeMap<Vec<PortId>, u32>,
    pub(super) members: Vec<PortId>,
    /// Names of sets; those for the hosts of an attachment follow each other.
    pub(super) local: Vec<u32>,
}

impl PortSets {
    fn new(codec: PortSetCodec) -> PortSets {
        PortSets { codec, known: BTreeMap::new(), members: Vec::new(), local: Vec::new() }
    }

    /// The name of a set, which is added if it is new.
    pub(super) fn name(&mut self, set: &[PortId]) -> Result<u32, SetupError> {
        if let Some(&name) = self.known.get(set) {
            return Ok(name);
        }
        let name = self.codec.name(self.members.len(), set.len(), set.len())?;
        self.members.extend(set);
        self.known.insert(set.to_vec(), name);
        Ok(name)
    }

    /// The entry for an attachment whose hosts hang on the node, each with one of `ports`.
    pub(super) fn single_ports(&mut self, ports: &[PortId]) -> Result<u32, SetupError> {
        let all = self.name(ports)?;
        Ok(LOCAL | (all - self.codec.count(all) + 1))
    }

    /// The entry for an attachment whose hosts hang on the node, each with one of `sets`.
    pub(super) fn of_hosts(
        &mut self,
        sets: impl ExactSizeIterator<Item = Vec<PortId>>,
    ) -> Result<u32, SetupError> {
        let entry = LOCAL | self.codec.name(self.local.len(), sets.len(), 0)?;
        for set in sets {
            let name = self.name(&set)?;
            self.local.push(name);
        }
        Ok(entry)
    }
}

/// What is needed to compute the time of a data packet and its ACK on a link.
pub(crate) struct HopCosts {
    /// Bytes on the wire of a full data packet and of an ACK.
    pub(crate) data: u64,
    pub(crate) ack: u64,
    /// If set, only this payload counts, one way only and in whole nanoseconds.
    pub(crate) payload_only: Option<u64>,
    /// Time from the wire to the queues of a node, for hosts and for switches.
    pub(crate) host_latency: Time,
    pub(crate) switch_latency: Time,
}

impl HopCosts {
    /// For tests in which sizes and latencies do not matter.
    #[cfg(test)]
    pub(crate) const PLAIN: HopCosts = HopCosts {
        data: 1000,
        ack: 60,
        payload_only: None,
        host_latency: Time::ZERO,
        switch_latency: Time::ZERO,
    };

    fn hop(&self, graph: &Graph, from: &LinkEnd, bytes: u64) -> Time {
        let latency =
            if graph.is_host(from.peer) { self.host_latency } else { self.switch_latency };
        from.rate.time_for(Bytes::new(bytes)) + from.delay + latency
    }

    /// The time of a data packet over a link and of its ACK back.
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
    /// By index among the hosts.
    pub(super) slots: Vec<HostSlot>,
    /// The hosts of each attachment, as nodes.
    pub(super) members: Vec<Vec<u32>>,
}

impl Attachments {
    pub(super) fn new(epochs: &[Epoch<'_>]) -> Attachments {
        let graph = &epochs[0];
        // Hosts that have the same links to the same neighbours in every epoch belong together.
        let mut numbers: BTreeMap<Vec<(u32, Rate, Time)>, u32> = BTreeMap::new();
        let mark = |of: u32| (of, Rate::ZERO, Time::ZERO);
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut slots = Vec::with_capacity(graph.hosts.len());
        for &host in &graph.hosts {
            cancel::check();
            let mut neighbours = Vec::new();
            for (number, epoch) in epochs.iter().enumerate() {
                let live = epoch.live_ports(host);
                let mut now: Vec<_> =
                    live.map(|(_, end)| (end.peer, end.rate, end.delay)).collect();
                now.sort_unstable();
                now.dedup();
                if number > 0 {
                    neighbours.push(mark(u32::MAX));
                }
                neighbours.append(&mut now);
            }
            // A host with a link to another host has an attachment of its own.
            if graph.ports(host).iter().any(|end| graph.is_host(end.peer)) {
                neighbours.extend([mark(u32::MAX), mark(host)]);
            }
            let number = *numbers.entry(neighbours).or_insert_with(|| {
                members.push(Vec::new());
                members.len() as u32 - 1
            });
            let index = members[number as usize].len() as u32;
            members[number as usize].push(host);
            slots.push(HostSlot { attachment: number, index });
        }
        Attachments { slots, members }
    }
}

/// Tables of next hops, while they are filled.
pub(super) struct Table {
    /// The row of each node in `entries`; hosts with one port need none.
    pub(super) rows: Vec<u32>,
    pub(super) rows_of_epoch: u32,
    /// The epoch being filled. Its rows follow those of the epochs before.
    pub(super) epoch: usize,
    pub(super) attachments: usize,
    pub(super) entries: Vec<u32>,
    pub(super) sets: PortSets,
    pub(super) network_rtt: Time,
    pub(super) network_bdp: Option<Bytes>,
    pub(super) max_switches: usize,
}

impl Table {
    pub(super) fn new(graph: &Graph, attachments: usize, codec: PortSetCodec) -> Table {
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
            sets: PortSets::new(codec),
            network_rtt: Time::ZERO,
            network_bdp: None,
            max_switches: 0,
        }
    }

    /// The index in `entries` of the next hops from a node to an attachment.
    pub(super) fn slot(&self, node: u32, attachment: usize) -> usize {
        let row = self.rows[node as usize] as usize + self.epoch * self.rows_of_epoch as usize;
        row * self.attachments + attachment
    }

    /// Adds the rows of an epoch. Attachments that cannot be reached have no ports.
    pub(super) fn begin(&mut self, epoch: usize) -> Result<(), SetupError> {
        self.epoch = epoch;
        let none = self.sets.name(&[])?;
        let count = (epoch + 1) * self.rows_of_epoch as usize * self.attachments;
        self.entries.resize(count, none);
        Ok(())
    }

    /// Counts a round trip between two hosts, over `switches` switches. The largest round trip is
    /// that of the first epoch, the largest number of switches that of all epochs.
    pub(super) fn note_round_trip(&mut self, rtt: Time, switches: usize) {
        if self.epoch == 0 {
            self.network_rtt = self.network_rtt.max(rtt);
        }
        self.max_switches = self.max_switches.max(switches);
    }

    /// Counts a round trip whose lowest rate is known, also towards the largest BDP.
    pub(super) fn note_round_trip_at_rate(&mut self, rtt: Time, rate: Rate, switches: usize) {
        if self.epoch == 0 {
            self.network_bdp = self.network_bdp.max(Some(rate.bytes_in(rtt)));
        }
        self.note_round_trip(rtt, switches);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(count: u16, first: u16) -> Vec<PortId> {
        (first..first + count).map(PortId::new).collect()
    }

    #[test]
    fn names_tell_index_and_count() {
        for max_ports in [0, 1, 24, 1023, 1024] {
            let codec = PortSetCodec::new(max_ports);
            let name = codec.name(77, max_ports, max_ports).unwrap();
            assert_eq!((codec.index(name), codec.count(name)), (77, max_ports as u32));
            assert_eq!(codec.index(codec.offset_by(name, 5)), 82);
            assert_eq!(codec.count(codec.offset_by(name, 5)), max_ports as u32);
            assert!(name < LOCAL);
        }
    }

    /// Protects against names that stand for two sets: a set without a name of its own is refused.
    #[test]
    fn sets_end_where_names_do() {
        // 21 bits for the count leave 1024 indices.
        let mut sets = PortSets::new(PortSetCodec::new(1 << 20));
        for first in 0..512 {
            let name = sets.name(&ports(2, first)).unwrap();
            assert_eq!(sets.codec.index(name), 2 * usize::from(first));
        }
        assert_eq!(sets.name(&ports(1, 0)), Err(SetupError::RoutingTableFull));
        assert!(sets.name(&ports(2, 7)).is_ok(), "it has a name already");
        let known = |count: usize| vec![ports(2, 7); count].into_iter();
        let entry = sets.of_hosts(known(1000)).unwrap();
        assert_eq!((entry & LOCAL, sets.codec.index(entry & !LOCAL)), (LOCAL, 0));
        assert_eq!(sets.of_hosts(known(25)), Err(SetupError::RoutingTableFull));
        assert_eq!(sets.codec.index(sets.of_hosts(known(24)).unwrap() & !LOCAL), 1000);
    }
}
