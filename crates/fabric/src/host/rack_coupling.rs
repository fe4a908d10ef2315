//! What may have a host send to its neighbours, the other hosts of its rack, or get something from them: where
//! nothing does, it can be worked without an eye on them ([`Device::add_couplings`](engine::Device::add_couplings)).

use super::Host;
use crate::packet::{Flags, Header, Scheme};
use units::Time;

/// Kept from when on something has tied a host to a neighbour.
pub(super) struct Neighbours {
    /// By place in the group, for both hosts that they are between: its ends of QPs, its messages that wait for
    /// others, and packets that it made, less those that it got. Those that get lost count for ever.
    ties: Vec<i64>,
    /// The ends and messages alone.
    ends: u32,
}

impl<S: Scheme> Host<S> {
    /// Adds what ties hosts of the group before `until`, by place.
    pub(crate) fn add_couplings(&self, until: Time, ties: &mut [i64]) {
        if let Some(neighbours) = &self.neighbours {
            for (tie, more) in ties.iter_mut().zip(&neighbours.ties) {
                *tie += more;
            }
        }
        if self.next_post >= until {
            return;
        }
        let flows = &self.common.flows;
        let outgoing = self.outgoing[self.posted..].iter().map(|&flow| &flows[flow as usize]);
        let due = outgoing.take_while(|row| row.waits || row.start < until);
        for row in due.filter(|row| self.common.is_neighbourly(row)) {
            for host in [row.src, row.dst] {
                ties[self.common.place_in_group(host)] += 1;
            }
        }
    }

    /// An end of a message's QP opens, or it waits for another.
    pub(super) fn tie(&mut self, flow: u32) {
        let row = &self.common.flows[flow as usize];
        if self.common.is_neighbourly(row) {
            self.count([row.src, row.dst], 1).ends += 1;
        }
    }

    /// No more.
    pub(super) fn untie(&mut self, flow: u32) {
        let row = &self.common.flows[flow as usize];
        if self.common.is_neighbourly(row) {
            self.count([row.src, row.dst], -1).ends -= 1;
        }
    }

    /// Whether packets that it makes may be for neighbours.
    #[inline]
    pub(super) fn has_ties(&self) -> bool {
        self.neighbours.as_ref().is_some_and(|neighbours| neighbours.ends > 0)
    }

    /// A packet of a message between neighbours was made.
    #[cold]
    pub(super) fn tie_packet(&mut self, flow: u32) {
        let row = &self.common.flows[flow as usize];
        self.count([row.src, row.dst], 1);
    }

    /// A packet was made.
    #[inline]
    pub(super) fn tie_by(&mut self, header: &Header) {
        if header.flags.contains(Flags::NEIGHBOURLY) {
            self.count([header.address.src, header.address.dst], 1);
        }
    }

    /// It arrived.
    #[inline]
    pub(super) fn untie_by(&mut self, header: &Header) {
        if header.flags.contains(Flags::NEIGHBOURLY) {
            self.count([header.address.src, header.address.dst], -1);
        }
    }

    /// Counts at the places of two hosts.
    #[inline(never)]
    fn count(&mut self, hosts: [u32; 2], more: i64) -> &mut Neighbours {
        let common = &self.common;
        let neighbours = self.neighbours.get_or_insert_with(|| {
            let ties = vec![0; common.groups.size(self.node)];
            Box::new(Neighbours { ties, ends: 0 })
        });
        for host in hosts {
            neighbours.ties[common.place_in_group(host)] += more;
        }
        neighbours
    }
}
