//! Round-robin packet spraying: data packets take the next hops of a group in turn.

use super::group_table::GroupTable;
use super::{Choice, Depends, Ecmp, Forwarding, ForwardingRow, RowHash};
use crate::packet::{Header, PacketKind};
use crate::routing::{Routes, SwitchRow};
use units::PortId;
use units::splitmix;

/// Round-robin spraying in one switch.
#[derive(Debug)]
pub(crate) struct RoundRobin {
    ecmp: Ecmp,
    turns: Turns,
    /// The turns when the last batch began.
    before_batch: GroupTable<u32>,
}

/// Whose turn it is in each group.
#[derive(Debug)]
struct Turns {
    /// Decides where each group begins, so that switches are not in step.
    seed: u64,
    /// By group: the index of the port that is next.
    next: GroupTable<u32>,
}

impl Turns {
    /// Returns the index of the port that is next in a group of `count` ports, and moves on.
    #[inline(always)]
    fn take(&mut self, group: u32, count: u32) -> usize {
        let seed = self.seed;
        let first = || splitmix::mix(seed ^ u64::from(group)) as u32 % count;
        let next = self.next.get(group, first);
        let turn = *next;
        *next = if turn + 1 == count { 0 } else { turn + 1 };
        turn as usize
    }
}

impl RoundRobin {
    pub(crate) fn new(ecmp: Ecmp, seed: u64) -> RoundRobin {
        let turns = Turns { seed, next: GroupTable::new() };
        RoundRobin { ecmp, turns, before_batch: GroupTable::new() }
    }

    /// Begins a batch of packets that are looked up in order, ahead of the rest of their handling.
    pub(crate) fn begin_batch<'a>(
        &'a mut self,
        routes: &'a Routes,
        row: &SwitchRow,
    ) -> TurnRow<'a> {
        self.before_batch.clone_from(&self.turns.next);
        TurnRow { row: self.ecmp.row(routes, row), turns: &mut self.turns }
    }

    /// Gives back all turns that the last batch took.
    pub(crate) fn undo_batch(&mut self) {
        std::mem::swap(&mut self.turns.next, &mut self.before_batch);
    }
}

impl Forwarding for RoundRobin {
    const DEPENDS: Depends = Depends::Order;

    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        if !choice.is_open(header) {
            return self.ecmp.select(choice, header);
        }
        let next_hops = choice.next_hops();
        let turn = self.turns.take(choice.group(), next_hops.len() as u32);
        Some(next_hops[turn])
    }

    fn on_reroute(&mut self) {
        self.turns.next.clear();
    }
}

/// What a switch looks up for each packet of a batch.
pub(crate) struct TurnRow<'a> {
    row: ForwardingRow<'a>,
    turns: &'a mut Turns,
}

impl TurnRow<'_> {
    /// Returns the next hop of the next packet of the batch. Returns
    /// [`NO_ROUTE`](crate::routing::NO_ROUTE) also if the table alone does not tell it.
    #[inline(always)]
    pub(crate) fn next(&mut self, header: &Header) -> u16 {
        if header.kind == PacketKind::Data {
            return self.row.in_turn(header, |group, count| self.turns.take(group, count));
        }
        match self.row.hash() {
            RowHash::Flow | RowHash::Packet => self.row.by_flow(header),
            RowHash::Murmur3(addresses) => self.row.by_murmur3(addresses, header),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::{Compat, Quirks};
    use crate::forwarding::test_network::{LEAVES, SPINES, leaf_spine, routes};
    use crate::forwarding::{EcmpHashes, Router};
    use crate::packet::{Address, blank};
    use model::Paths;
    use proptest::prelude::*;
    use units::Time;

    proptest! {
        /// Packets get the same ports one by one as in batches, whatever was looked up and undone
        /// before.
        #[test]
        fn batches_take_the_turns_that_single_packets_take(
            batches in prop::collection::vec(
                (prop::collection::vec((0u32..8, any::<bool>(), any::<u32>()), 0..12), 0usize..20),
                1..12,
            ),
            node in 0..LEAVES + SPINES,
            seed in any::<u64>(),
            ns3_ecmp_hash in any::<bool>(),
        ) {
            let compat = Compat::new(Quirks { ns3_ecmp_hash, ..Quirks::default() });
            let graph = leaf_spine();
            let routes = routes(&graph, &compat, Paths::FiveTuple);
            let row = routes.switch_row(node, 0);
            let policy = || {
                let ecmp = EcmpHashes::new(&graph, 7, &compat, Paths::FiveTuple).at(node);
                RoundRobin::new(ecmp, seed)
            };
            let (mut one_by_one, mut batched) = (Router::RoundRobin(policy()), policy());
            for (packets, undone) in batches {
                let headers: Vec<Header> = packets.iter().map(|&(dst, is_data, hash)| {
                    let kind = if is_data { PacketKind::Data } else { PacketKind::Ack };
                    blank(kind, Address { dst, hash, ..Address::default() }, 0, 1000)
                }).collect();
                if undone < headers.len() {
                    let mut row = batched.begin_batch(&routes, &row);
                    headers[..undone].iter().for_each(|header| { row.next(header); });
                    batched.undo_batch();
                }
                let mut turns = batched.begin_batch(&routes, &row);
                for header in &headers {
                    let set = routes.ports_to(&row, header.destination());
                    let choice = Choice::new(&routes, set, Time::ZERO);
                    let expected = one_by_one.select(&choice, header).unwrap();
                    prop_assert_eq!(turns.next(header), expected.get());
                }
            }
        }
    }
}
