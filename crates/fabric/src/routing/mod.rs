//! Next hops: for each switch and host, the ports that are equally good.
//!
//! They are the ports on shortest paths, or one for each spanning tree. Which of them a packet
//! takes is decided by the forwarding policy ([`crate::forwarding`]).
//!
//! Hosts with equal links to the same switches form an *attachment*. The tables have an entry for
//! each node and attachment: one number that names a set of ports. What a pair of hosts needs (its
//! path, its base RTT) is found by walking the tables. There are tables for every epoch.

mod builder;
pub(crate) mod hash;
mod shortest;
mod spanning;

pub(crate) use builder::HopCosts;

use crate::compat::Compat;
use crate::error::SetupError;
use crate::network::graph::{Epoch, Graph, LinkEnd};
use builder::{Attachments, HostSlot, LOCAL, NO_ROW, PortSetCodec, Table};
use engine::prefetch;
use hash::scale_to;
use model::Paths;
use units::{Bytes, PortId, Rate, Time, cancel};

/// Stands for the port of a switch that has no route to a host.
pub(crate) const NO_ROUTE: u16 = u16::MAX;

/// A switch's row of the tables in one epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchRow {
    begin: usize,
}

/// The name of a set of ports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortSet(u32);

impl PortSet {
    /// Its number. Equal sets have equal numbers, unless they are of different epochs.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// Next hops of all nodes to all hosts.
#[derive(Debug)]
pub(crate) struct Routes {
    host_slots: Vec<HostSlot>,
    /// Row of each node in `table`; hosts with one port need none.
    rows: Vec<u32>,
    /// Rows of an epoch; those of the next epoch follow.
    rows_of_epoch: u32,
    /// By row, then attachment: the name of a set of ports.
    ///
    /// With [`LOCAL`] the attachment hangs on the node itself, and the sets of its hosts follow
    /// each other: the name is that of the first host. If some host has several ports there, the
    /// count in the name is 0, and the names of the hosts' sets are in `local`.
    table: Vec<u32>,
    attachments: usize,
    /// Names of sets of ports by a host's index in its attachment.
    local: Vec<u32>,
    /// The ports of all sets, one set after another.
    members: Vec<PortId>,
    /// How names of sets are encoded.
    codec: PortSetCodec,
    /// The largest base round trip of any pair of hosts.
    pub(crate) network_rtt: Time,
    /// The largest product of base round trip and lowest rate of any pair, if paths are shortest.
    pub(crate) network_bdp: Option<Bytes>,
    /// The most switches on any path.
    pub(crate) max_switches: usize,
}

impl Routes {
    /// Finds the next hops of all epochs.
    pub(crate) fn new(
        graph: &Graph,
        hop_costs: &HopCosts,
        compat: &Compat,
        paths: Paths,
    ) -> Result<Routes, SetupError> {
        let epochs: Vec<Epoch<'_>> =
            (0..graph.epochs()).map(|epoch| graph.in_epoch(epoch)).collect();
        let attached = Attachments::new(&epochs);
        let max_ports = (0..graph.nodes() as u32).map(|node| graph.ports(node).len()).max();
        let largest_set = match paths {
            Paths::FiveTuple | Paths::Symmetric => max_ports.unwrap_or(0),
            Paths::SpanningTrees(trees) => trees as usize,
        };
        let mut table = Table::new(graph, attached.members.len(), PortSetCodec::new(largest_set));
        for (epoch, graph) in epochs.iter().enumerate() {
            table.begin(epoch)?;
            match paths {
                Paths::FiveTuple | Paths::Symmetric => {
                    shortest::fill(&mut table, graph, hop_costs, &attached, compat)?;
                }
                Paths::SpanningTrees(count) => {
                    spanning::fill(&mut table, graph, hop_costs, &attached, count)?;
                }
            }
        }
        let mut routes = Routes {
            host_slots: attached.slots,
            rows: table.rows,
            rows_of_epoch: table.rows_of_epoch,
            table: table.entries,
            attachments: table.attachments,
            codec: table.sets.codec,
            local: table.sets.local,
            members: table.sets.members,
            network_rtt: table.network_rtt,
            network_bdp: table.network_bdp,
            max_switches: table.max_switches,
        };
        let has_several_ports = |&host: &u32| graph.ports(host).len() > 1;
        if compat.has_one_way_rtt() && graph.hosts.iter().any(has_several_ports) {
            routes.measure_ns3_paths(graph, hop_costs);
        }
        Ok(routes)
    }

    /// Has a QP send over this many paths at once.
    pub(crate) fn multiply_bdp(&mut self, paths: u64) {
        let of_all = |bdp: Bytes| Bytes::new(bdp.get().saturating_mul(paths));
        self.network_bdp = self.network_bdp.map(of_all);
    }

    /// Finds the largest round trip and BDP over the paths by which the HPCC simulator measures
    /// them. Where hosts have one port, the search that fills the table has found them.
    fn measure_ns3_paths(&mut self, graph: &Graph, hop_costs: &HopCosts) {
        (self.network_rtt, self.network_bdp) = (Time::ZERO, None);
        let hosts = graph.hosts.len() as u32;
        let mut path = Vec::new();
        for src in 0..hosts {
            cancel::check();
            for dst in (0..hosts).filter(|dst| *dst != src) {
                if !self.ns3_path(graph, (src, dst), &mut path) {
                    continue;
                }
                let both = |end: &LinkEnd| {
                    let back = graph.ports(end.peer)[end.peer_port as usize];
                    hop_costs.both(graph, end, &back)
                };
                let rtt = path.iter().map(both).sum();
                let rate = path.iter().map(|end| end.rate).min().unwrap_or(Rate::ZERO);
                self.network_rtt = self.network_rtt.max(rtt);
                self.network_bdp = self.network_bdp.max(Some(rate.bytes_in(rtt)));
            }
        }
    }

    /// The row of a node in the tables of an epoch; hosts with one port have none.
    fn row(&self, node: u32, epoch: usize) -> u32 {
        match self.rows[node as usize] {
            NO_ROW => NO_ROW,
            row => row + epoch as u32 * self.rows_of_epoch,
        }
    }

    /// The row of a switch in an epoch.
    pub(crate) fn switch_row(&self, node: u32, epoch: usize) -> SwitchRow {
        match self.row(node, epoch) {
            NO_ROW => SwitchRow { begin: 0 },
            row => SwitchRow { begin: row as usize * self.attachments },
        }
    }

    /// Prefetches a switch's row.
    pub(crate) fn prefetch(&self, row: &SwitchRow) {
        let row = &self.table[row.begin..][..self.attachments];
        prefetch(row, size_of_val(row).div_ceil(64).min(32));
    }

    /// The ports of `node` that lead to `host` in an epoch: on shortest paths, or one for each
    /// tree.
    pub(crate) fn next_hops(&self, node: u32, host: u32, epoch: usize) -> &[PortId] {
        match self.row(node, epoch) {
            NO_ROW => const { &[PortId::new(0)] },
            row => self.members(self.set_with_ports(row as usize * self.attachments, host)),
        }
    }

    /// The set of ports of a switch that lead to `host`.
    #[inline]
    pub(crate) fn ports_to(&self, row: &SwitchRow, host: u32) -> PortSet {
        self.set_with_ports(row.begin, host)
    }

    /// The ports of a set.
    #[inline]
    pub(crate) fn members(&self, PortSet(set): PortSet) -> &[PortId] {
        &self.members[self.codec.index(set)..][..self.codec.count(set) as usize]
    }

    /// The set of ports that lead to `host` from the node whose row begins there.
    #[inline]
    fn set_with_ports(&self, row_begin: usize, host: u32) -> PortSet {
        let (set, is_local) = self.named_set(row_begin, host);
        let is_elsewhere = self.codec.count(set) == 0 && is_local;
        PortSet(if is_elsewhere { self.local[self.codec.index(set)] } else { set })
    }

    /// The set of ports of a switch that lead to `host`; `None` if there are none, or if it takes
    /// another look-up to find them ([`ports_to`](Self::ports_to)).
    #[inline(always)]
    pub(crate) fn port_set(&self, row: &SwitchRow, host: u32) -> Option<PortSet> {
        let (set, _) = self.named_set(row.begin, host);
        (self.codec.count(set) != 0).then_some(PortSet(set))
    }

    /// The port of a set that a mixed hash selects.
    #[inline(always)]
    pub(crate) fn pick(&self, set: PortSet, mixed: u32) -> u16 {
        pick(&self.members, self.codec, set, mixed)
    }

    /// Returns the port of a set at the index that `choice` returns for the number of its ports.
    #[inline(always)]
    pub(crate) fn pick_at(&self, set: PortSet, choice: impl FnOnce(u32) -> usize) -> u16 {
        pick_at(&self.members, self.codec, set, choice)
    }

    /// The look-ups of a switch for many packets.
    pub(crate) fn table_row(&self, row: &SwitchRow) -> TableRow<'_> {
        TableRow {
            host_slots: &self.host_slots,
            row: &self.table[row.begin..][..self.attachments],
            members: &self.members,
            codec: self.codec,
        }
    }

    /// The name of the set of ports that lead to `host` from the node whose row begins there, and
    /// whether the host hangs on that node. A local set with a count of 0 names its index in
    /// `local`.
    #[inline(always)]
    fn named_set(&self, row_begin: usize, host: u32) -> (u32, bool) {
        let slot = self.host_slots[host as usize];
        let entry = self.table[row_begin + slot.attachment as usize];
        (set_at(self.codec, entry, slot), entry & LOCAL != 0)
    }

    /// The path that a search from host `dst` comes upon first, while all links are up: each node's
    /// first next hop, if next hops are listed as the HPCC simulator does. Returns whether there is
    /// one.
    pub(crate) fn ns3_path(
        &self,
        graph: &Graph,
        ends: (u32, u32),
        path: &mut Vec<LinkEnd>,
    ) -> bool {
        self.try_walk(graph, ends, 0, path, |_, next_hops| next_hops[0])
    }

    /// Fills `path` with the links from host `src` to host `dst` in an epoch, which has a path for
    /// them. `select` chooses among the next hops of a node.
    pub(crate) fn walk(
        &self,
        graph: &Graph,
        ends: (u32, u32),
        epoch: usize,
        path: &mut Vec<LinkEnd>,
        select: impl Fn(u32, &[PortId]) -> PortId,
    ) {
        assert!(self.try_walk(graph, ends, epoch, path, select), "these hosts have a path");
    }

    /// Like [`walk`](Self::walk). Returns whether there is a path: hosts do not forward, and parts
    /// of a network may be apart.
    fn try_walk(
        &self,
        graph: &Graph,
        (src, dst): (u32, u32),
        epoch: usize,
        path: &mut Vec<LinkEnd>,
        select: impl Fn(u32, &[PortId]) -> PortId,
    ) -> bool {
        path.clear();
        let (mut node, target) = (graph.hosts[src as usize], graph.hosts[dst as usize]);
        while node != target {
            let next_hops = self.next_hops(node, dst, epoch);
            if next_hops.is_empty() || (graph.is_host(node) && !path.is_empty()) {
                return false;
            }
            let Some(end) = graph.ports(node).get(select(node, next_hops).index()) else {
                return false;
            };
            path.push(*end);
            node = end.peer;
        }
        true
    }
}

/// What a switch looks up for each packet.
pub(crate) struct TableRow<'a> {
    host_slots: &'a [HostSlot],
    row: &'a [u32],
    members: &'a [PortId],
    codec: PortSetCodec,
}

impl TableRow<'_> {
    /// The port to `host` that a mixed hash selects; [`NO_ROUTE`] as well if
    /// [`Routes::port_set`] returns `None`.
    #[inline(always)]
    pub(crate) fn pick(&self, host: u32, mixed: impl FnOnce() -> u32) -> u16 {
        match self.port_set(host) {
            Some(set) => pick(self.members, self.codec, set, mixed()),
            None => NO_ROUTE,
        }
    }

    /// Returns the port to `host` at the index that `choice` returns for the number of ports.
    /// Returns [`NO_ROUTE`] as [`pick`](Self::pick) does.
    #[inline(always)]
    pub(crate) fn pick_at(&self, host: u32, choice: impl FnOnce(u32) -> usize) -> u16 {
        match self.port_set(host) {
            Some(set) => pick_at(self.members, self.codec, set, choice),
            None => NO_ROUTE,
        }
    }

    /// Returns the port to `host` at the index that `choice` returns for the number of the set
    /// ([`PortSet::number`]) and of its ports. A set of one port has no choice. Returns
    /// [`NO_ROUTE`] as [`pick`](Self::pick) does.
    #[inline(always)]
    pub(crate) fn pick_in_turn(&self, host: u32, choice: impl FnOnce(u32, u32) -> usize) -> u16 {
        match self.port_set(host) {
            Some(set) => pick_at(self.members, self.codec, set, |count| {
                if count == 1 { 0 } else { choice(set.0, count) }
            }),
            None => NO_ROUTE,
        }
    }

    #[inline(always)]
    fn port_set(&self, host: u32) -> Option<PortSet> {
        let slot = self.host_slots[host as usize];
        let set = set_at(self.codec, self.row[slot.attachment as usize], slot);
        (self.codec.count(set) != 0).then_some(PortSet(set))
    }
}

/// The port of a set that a mixed hash selects. A set of one port has no branch of its own: it
/// would be mispredicted more often than it saves time.
#[inline(always)]
fn pick(members: &[PortId], codec: PortSetCodec, set: PortSet, mixed: u32) -> u16 {
    pick_at(members, codec, set, |count| scale_to(mixed, count))
}

/// Returns the port of a set at the index that `choice` returns for the number of its ports.
#[inline(always)]
fn pick_at(
    members: &[PortId],
    codec: PortSetCodec,
    PortSet(set): PortSet,
    choice: impl FnOnce(u32) -> usize,
) -> u16 {
    members[codec.index(set) + choice(codec.count(set))].get()
}

/// The name of the set of ports that lead to a host, if the table has `entry` for its attachment.
#[inline(always)]
fn set_at(codec: PortSetCodec, entry: u32, slot: HostSlot) -> u32 {
    // All ones if it is local. A branch would be mispredicted.
    let local = ((entry as i32) >> 31) as u32;
    codec.offset_by(entry & !LOCAL, slot.index & local)
}
