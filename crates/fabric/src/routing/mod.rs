//! Shortest paths, and the equal-cost choice among them; or the paths of spanning trees.
//!
//! Hosts that hang on the same switches form an *attachment*. Tables go by attachment, not by
//! host: for each switch and attachment one number that names a set of ports. What a pair of hosts
//! needs (its path, its base RTT) is walked when it is asked for.

mod builder;
mod shortest;
mod spanning;

pub(crate) use builder::HopCosts;

use crate::compat::Compat;
use crate::compat::murmur3::{address, murmur3};
use crate::error::SetupError;
use crate::network::graph::{Epoch, Graph, LinkEnd};
use crate::network::setup::Paths;
use builder::{Attachments, HostSlot, LOCAL, NO_ROW, PortSetCodec, Table};
use engine::prefetch;
use units::{Bytes, PortId, Time};

/// Stands for the port of a switch that has no way to a host.
pub(crate) const NO_ROUTE: u16 = u16::MAX;

/// A switch, as its look-ups need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchRow {
    node: u32,
    begin: usize,
    salt: u32,
}

/// Next hops of all switches to all hosts.
#[derive(Debug)]
pub(crate) struct Routes {
    places: Vec<HostSlot>,
    /// Row of each node in `table`; hosts with one port need none.
    rows: Vec<u32>,
    /// Rows of an epoch; those of the next follow.
    rows_of_epoch: u32,
    /// By row, then attachment: the name of the set of ports. With [`LOCAL`] the attachment hangs on
    /// the switch itself, and its hosts' ports lie one after another: the name is the first host's.
    /// Where a host has several of them the count is 0, and sets are in `local`.
    table: Vec<u32>,
    attachments: usize,
    /// Sets of ports by a host's index in its attachment.
    local: Vec<u32>,
    /// The ports of all sets, one set after another.
    members: Vec<PortId>,
    /// A set is named by where it begins and how many it has.
    codec: PortSetCodec,
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

impl Routes {
    /// Next hops of `paths`.
    pub(crate) fn new(
        graph: &Graph,
        hop_costs: &HopCosts,
        seed: u64,
        compat: &Compat,
        paths: Paths,
    ) -> Result<Routes, SetupError> {
        let epochs: Vec<Epoch<'_>> =
            (0..graph.epochs()).map(|epoch| graph.in_epoch(epoch)).collect();
        let attached = Attachments::new(&epochs);
        let most_ports = (0..graph.nodes() as u32).map(|node| graph.ports(node).len()).max();
        let largest_set = match paths {
            Paths::FiveTuple | Paths::Symmetric => most_ports.unwrap_or(0),
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
            codec: table.sets.codec,
            local: table.sets.local,
            members: table.sets.members,
            salts: tiers.map(|&tier| salt(if one_salt { 0 } else { tier })).collect(),
            addresses: compat
                .hashes_with_murmur3()
                .then(|| graph.hosts.iter().map(|&node| address(node)).collect()),
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
    pub(crate) fn next_hops(&self, node: u32, host: u32, epoch: usize) -> &[PortId] {
        match self.row(node, epoch) {
            NO_ROW => const { &[PortId::new(0)] },
            row => self.next_hops_at(row as usize * self.attachments, host),
        }
    }

    /// The same for a switch.
    #[inline]
    pub(crate) fn next_hops_from(&self, here: &SwitchRow, host: u32) -> &[PortId] {
        self.next_hops_at(here.begin, host)
    }

    #[inline]
    fn next_hops_at(&self, row_begin: usize, host: u32) -> &[PortId] {
        let set = self.set(row_begin, host);
        &self.members[self.codec.place(set)..][..self.codec.count(set) as usize]
    }

    /// What a switch keeps of its row: where the row begins in the table, and the switch's salt.
    pub(crate) fn switch_row(&self, node: u32, epoch: usize) -> SwitchRow {
        let row = self.row(node, epoch);
        let begin = if row == NO_ROW { 0 } else { row as usize * self.attachments };
        SwitchRow { node, begin, salt: self.salts[node as usize] }
    }

    /// Has the processor fetch a switch's row.
    pub(crate) fn prefetch(&self, here: &SwitchRow) {
        let row = &self.table[here.begin..][..self.attachments];
        prefetch(row, size_of_val(row).div_ceil(64).min(32));
    }

    /// The port that a switch takes to `to` for what comes from host `from` with this hash: the same
    /// as [`ecmp`](Self::ecmp) among its next hops. [`NO_ROUTE`] where there is no way.
    #[inline(always)]
    pub(crate) fn next_port(&self, here: &SwitchRow, ends: (u32, u32), hash: u32) -> u16 {
        self.select_port(here, ends, hash).0
    }

    /// The same, and the ports that it was chosen from.
    #[inline(always)]
    pub(crate) fn select_port(
        &self,
        here: &SwitchRow,
        (from, to): (u32, u32),
        hash: u32,
    ) -> (u16, &[PortId]) {
        let (set, _) = self.named_set(here.begin, to);
        let count = self.codec.count(set);
        if count == 0 || self.addresses.is_some() {
            return self.select_port_slow(here, (from, to), hash);
        }
        let chosen = pick(&self.members, self.codec, set, hash ^ here.salt);
        (chosen, &self.members[self.codec.place(set)..][..count as usize])
    }

    /// The look-ups of a switch for many packets, where they are simple ones.
    pub(crate) fn forwarding_row(&self, here: &SwitchRow) -> Option<ForwardingRow<'_>> {
        self.addresses.is_none().then(|| ForwardingRow {
            places: &self.places,
            row: &self.table[here.begin..][..self.attachments],
            members: &self.members,
            codec: self.codec,
            salt: here.salt,
        })
    }

    /// The same as [`select_port`](Self::select_port) where it takes longer.
    #[inline(never)]
    fn select_port_slow(&self, here: &SwitchRow, ends: (u32, u32), hash: u32) -> (u16, &[PortId]) {
        let next_hops = self.next_hops_from(here, ends.1);
        if next_hops.is_empty() {
            return (NO_ROUTE, next_hops);
        }
        (self.ecmp(here.node, next_hops, ends, hash).get(), next_hops)
    }

    /// The name of the set of ports that lead to `host` from the node whose row begins there.
    #[inline]
    fn set(&self, row_begin: usize, host: u32) -> u32 {
        let (set, is_local) = self.named_set(row_begin, host);
        if self.codec.count(set) == 0 && is_local { self.local[self.codec.place(set)] } else { set }
    }

    /// The same, where a local set without ports only names its place in `local`; and whether it is
    /// local.
    #[inline(always)]
    fn named_set(&self, row_begin: usize, host: u32) -> (u32, bool) {
        let place = self.places[host as usize];
        let entry = self.table[row_begin + place.attachment as usize];
        (set_at(self.codec, entry, place), entry & LOCAL != 0)
    }

    /// The one of them that is taken for what goes from host `from` to host `to` with this hash.
    #[inline(always)]
    pub(crate) fn ecmp(
        &self,
        node: u32,
        next_hops: &[PortId],
        (from, to): (u32, u32),
        hash: u32,
    ) -> PortId {
        match (next_hops, &self.addresses) {
            (&[only], _) => only,
            (several, None) => {
                let mixed = mix32(hash ^ self.salts[node as usize]);
                several[scale_to(mixed, several.len() as u32)]
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
        self.walk(graph, (src, dst), epoch, path, |node, next_hops| {
            self.ecmp(node, next_hops, (src, dst), hash)
        });
    }

    /// The links of the path that a search from host `dst` comes upon first, while all links are up: each
    /// node's first next hop, where these are listed as the HPCC simulator does.
    pub(crate) fn ns3_path(&self, graph: &Graph, ends: (u32, u32), path: &mut Vec<LinkEnd>) {
        self.walk(graph, ends, 0, path, |_, next_hops| next_hops[0]);
    }

    fn walk(
        &self,
        graph: &Graph,
        (src, dst): (u32, u32),
        epoch: usize,
        path: &mut Vec<LinkEnd>,
        choose: impl Fn(u32, &[PortId]) -> PortId,
    ) {
        path.clear();
        let (mut node, target) = (graph.hosts[src as usize], graph.hosts[dst as usize]);
        while node != target {
            let port = choose(node, self.next_hops(node, dst, epoch));
            let end = graph.ports(node)[port.index()];
            path.push(end);
            node = end.peer;
        }
    }
}

/// What a switch looks up for each packet.
pub(crate) struct ForwardingRow<'a> {
    places: &'a [HostSlot],
    /// Its row of the table.
    row: &'a [u32],
    members: &'a [PortId],
    codec: PortSetCodec,
    salt: u32,
}

impl ForwardingRow<'_> {
    /// The port to host `to` for this hash, as [`Routes::next_port`]; [`NO_ROUTE`] also where that takes a
    /// closer look.
    #[inline(always)]
    pub(crate) fn port(&self, to: u32, hash: u32) -> u16 {
        let place = self.places[to as usize];
        let set = set_at(self.codec, self.row[place.attachment as usize], place);
        if self.codec.count(set) == 0 {
            return NO_ROUTE;
        }
        pick(self.members, self.codec, set, hash ^ self.salt)
    }
}

/// The port of a set that is taken for a salted hash. Of one port the first is, whatever the hash: cheaper
/// than a guess whether it is one.
#[inline(always)]
fn pick(members: &[PortId], codec: PortSetCodec, set: u32, hash: u32) -> u16 {
    members[codec.place(set) + scale_to(mix32(hash), codec.count(set))].get()
}

/// The name of the set of ports that lead to a host, where the table has `entry` for its attachment.
#[inline(always)]
fn set_at(codec: PortSetCodec, entry: u32, place: HostSlot) -> u32 {
    // All ones where it is local: which it is can't be guessed.
    let local = ((entry as i32) >> 31) as u32;
    codec.offset_by(entry & !LOCAL, place.index & local)
}

/// The place of a hash among `count`.
#[inline(always)]
fn scale_to(mixed: u32, count: u32) -> usize {
    ((u64::from(mixed) * u64::from(count)) >> 32) as usize
}

/// Spreads the hash so that each tier's digit of it is independent of the others'.
#[inline]
fn mix32(hash: u32) -> u32 {
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
        hash = mix32(hash ^ word).wrapping_add(0x9e37_79b9);
    }
    hash
}
