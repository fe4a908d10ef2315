//! Equal-cost multi-path: a hash of the five-tuple selects the next hop, so a flow keeps its path.
//!
//! Spanning trees are the same choice among one port for each tree: all nodes then use one salt, so
//! that a flow takes the ports of one tree everywhere.

use super::{Choice, Depends, Forwarding, ForwardingRow, RowHash};
use crate::compat::Compat;
use crate::compat::murmur3::{Scrambled, address, of_scrambled};
use crate::network::graph::Graph;
use crate::packet::Header;
use crate::routing::hash::{mix32, scale_to};
use crate::routing::{NO_ROUTE, Routes, SwitchRow};
use crate::stream;
use model::Paths;
use std::sync::Arc;
use units::PortId;

/// The seed of the hash by which hosts of the HPCC simulator choose a NIC.
const NIC_SEED: u32 = 0x8bad_f00d;

/// How all nodes of a run turn hashes into choices.
#[derive(Debug)]
pub(crate) struct EcmpHashes {
    /// By node: what makes its hash differ from others'. There is one salt for each tier, or one
    /// for all; in the HPCC simulator a seed for each switch, and one for all hosts.
    salts: Vec<u32>,
    /// Addresses of hosts, if nodes hash as in the HPCC simulator.
    addresses: Option<Arc<[Scrambled]>>,
}

impl EcmpHashes {
    pub(crate) fn new(graph: &Graph, seed: u64, compat: &Compat, paths: Paths) -> EcmpHashes {
        let salt = |tier: u8| stream::seed(seed, "ecmp", u64::from(tier)) as u32 | 1;
        // All nodes of a path must take the same tree.
        let one_salt = matches!(paths, Paths::SpanningTrees(_));
        if compat.hashes_with_murmur3() {
            let mut seeds: Vec<u32> = (0..graph.tiers.len() as u32).collect();
            graph.hosts.iter().for_each(|&host| seeds[host as usize] = NIC_SEED);
            let addresses = graph.hosts.iter().map(|&node| Scrambled::new(address(node))).collect();
            return EcmpHashes { salts: seeds, addresses: Some(addresses) };
        }
        let tiers = graph.tiers.iter();
        let salts = tiers.map(|&tier| salt(if one_salt { 0 } else { tier })).collect();
        EcmpHashes { salts, addresses: None }
    }

    /// The policy of a switch.
    pub(crate) fn at(&self, node: u32) -> Ecmp {
        Ecmp { salt: self.salts[node as usize], addresses: self.addresses.clone() }
    }

    /// The one of `next_hops` that `node` takes for what goes from one host to another (`ends`)
    /// with this hash.
    #[inline(always)]
    pub(crate) fn pick(
        &self,
        node: u32,
        next_hops: &[PortId],
        ends: (u32, u32),
        hash: u32,
    ) -> PortId {
        pick(self.salts[node as usize], self.addresses.as_deref(), next_hops, ends, hash)
    }
}

/// ECMP in one switch.
#[derive(Debug)]
pub(crate) struct Ecmp {
    /// As in [`EcmpHashes`].
    salt: u32,
    addresses: Option<Arc<[Scrambled]>>,
}

impl Forwarding for Ecmp {
    const DEPENDS: Depends = Depends::Header;

    #[inline(always)]
    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        let next_hops = choice.next_hops();
        if next_hops.is_empty() {
            return None;
        }
        let addresses = self.addresses.as_deref();
        Some(pick(self.salt, addresses, next_hops, header.route_ends(), header.address.hash))
    }
}

impl Ecmp {
    /// See [`Router::look_up`](super::Router::look_up).
    #[inline(always)]
    pub(super) fn look_up(&self, routes: &Routes, row: &SwitchRow, header: &Header) -> u16 {
        let ends = header.route_ends();
        let hash = header.address.hash;
        match (routes.port_set(row, ends.1), &self.addresses) {
            (Some(set), None) => routes.pick(set, mix(hash, self.salt)),
            (Some(set), Some(addresses)) => {
                let hash = ns3_hash(addresses, self.salt, ends, hash);
                routes.pick_at(set, |count| ns3_choice(hash, count))
            }
            (None, _) => self.look_up_slow(routes, row, header),
        }
    }

    /// Looks up the next hop of a packet where the table alone does not decide.
    #[inline(never)]
    fn look_up_slow(&self, routes: &Routes, row: &SwitchRow, header: &Header) -> u16 {
        let ends = header.route_ends();
        let next_hops = routes.members(routes.ports_to(row, ends.1));
        if next_hops.is_empty() {
            return NO_ROUTE;
        }
        let addresses = self.addresses.as_deref();
        pick(self.salt, addresses, next_hops, ends, header.address.hash).get()
    }

    /// See [`Router::row`](super::Router::row).
    pub(super) fn row<'a>(&'a self, routes: &'a Routes, row: &SwitchRow) -> ForwardingRow<'a> {
        let hash = self.addresses.as_deref().map_or(RowHash::Flow, RowHash::Murmur3);
        ForwardingRow { row: routes.table_row(row), salt: self.salt, hash, at_once: false }
    }

    /// Whether it hashes as the HPCC simulator does.
    pub(super) fn hashes_with_murmur3(&self) -> bool {
        self.addresses.is_some()
    }
}

/// The hash of a packet, mixed for a node with this salt.
#[inline(always)]
pub(super) fn mix(hash: u32, salt: u32) -> u32 {
    mix32(hash ^ salt)
}

#[inline(always)]
fn pick(
    salt: u32,
    addresses: Option<&[Scrambled]>,
    next_hops: &[PortId],
    ends: (u32, u32),
    hash: u32,
) -> PortId {
    match (next_hops, addresses) {
        (&[only], _) => only,
        (several, None) => several[scale_to(mix(hash, salt), several.len() as u32)],
        (several, Some(addresses)) => {
            let hash = ns3_hash(addresses, salt, ends, hash);
            several[ns3_choice(hash, several.len() as u32)]
        }
    }
}

/// The hash of a packet in the HPCC simulator.
#[inline(always)]
pub(super) fn ns3_hash(
    addresses: &[Scrambled],
    seed: u32,
    (from, to): (u32, u32),
    ports: u32,
) -> u32 {
    let words = [addresses[from as usize], addresses[to as usize], Scrambled::new(ports)];
    of_scrambled(words, seed)
}

/// The one of `count` next hops that a hash selects in the HPCC simulator.
#[inline(always)]
pub(super) fn ns3_choice(hash: u32, count: u32) -> usize {
    // A division takes longer than all of the hash.
    (if count.is_power_of_two() { hash & (count - 1) } else { hash % count }) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Quirks;
    use crate::forwarding::Router;
    use crate::forwarding::test_network::{LEAVES, SPINES, leaf_spine, routes};
    use crate::packet::{Address, PacketKind, blank};
    use proptest::prelude::*;
    use units::Time;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        /// All ways to ask agree, in any order: the policy is a pure function of the header.
        #[test]
        fn the_choice_depends_on_the_header_alone(
            packets in prop::collection::vec(
                (0..LEAVES + SPINES, 0u32..8, 0u32..8, any::<u32>()),
                1..50,
            ),
            order in any::<prop::sample::Index>(),
            ns3_ecmp_hash in any::<bool>(),
            trees in any::<bool>(),
        ) {
            let compat = Compat::new(Quirks { ns3_ecmp_hash, ..Quirks::default() });
            let paths = if trees { Paths::SpanningTrees(SPINES) } else { Paths::FiveTuple };
            let graph = leaf_spine();
            let routes = routes(&graph, &compat, paths);
            let hashes = EcmpHashes::new(&graph, 7, &compat, paths);
            let mut routers: Vec<Router> =
                (0..LEAVES + SPINES).map(|node| Router::Ecmp(hashes.at(node))).collect();
            let rotated = order.index(packets.len());
            let again = packets.iter().cycle().skip(rotated).take(packets.len());
            for &(node, src, dst, hash) in packets.iter().chain(again) {
                let address = Address { src, dst, hash, ..Address::default() };
                let header = blank(PacketKind::Data, address, 0, 1000);
                let row = routes.switch_row(node, 0);
                let router = &mut routers[node as usize];
                let choice = Choice::new(&routes, routes.ports_to(&row, dst), Time::ZERO);
                let port = router.select(&choice, &header).unwrap();
                let next_hops = routes.next_hops(node, dst, 0);
                prop_assert!(next_hops.contains(&port));
                prop_assert_eq!(choice.next_hops(), next_hops);
                prop_assert_eq!(hashes.pick(node, next_hops, (src, dst), hash), port);
                prop_assert_eq!(router.look_up(&routes, &row, &header), port.get());
                let row = router.row(&routes, &row).unwrap();
                let of_batch = match row.hash() {
                    RowHash::Flow => row.by_flow(&header),
                    RowHash::Murmur3(addresses) => row.by_murmur3(addresses, &header),
                    RowHash::Packet => unreachable!("ECMP"),
                };
                prop_assert_eq!(matches!(row.hash(), RowHash::Murmur3(_)), ns3_ecmp_hash);
                // A batch leaves what takes a second look-up to the others.
                prop_assert!(of_batch == port.get() || (of_batch == NO_ROUTE && trees));
            }
        }
    }
}
