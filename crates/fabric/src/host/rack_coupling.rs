//! Counts what may make a host exchange packets with other hosts of its rack.
//!
//! A host without couplings can be advanced through a whole window on its own
//! ([`Device::add_couplings`](engine::Device::add_couplings)).

use super::Host;
use crate::packet::{Flags, Header, Scheme};
use units::Time;

/// The couplings of a host. Created when its first one appears.
pub(super) struct RackCouplings {
    /// By index in the group. Each coupling counts at both hosts that it is between: this host's
    /// ends of QPs, its messages that wait for others, and the packets that it made, minus those
    /// that reached it. A lost packet is never subtracted, so a host may stay coupled for longer
    /// than needed.
    by_host: Vec<i64>,
    /// Ends of QPs and waiting messages alone.
    ends: u32,
}

impl<S: Scheme> Host<S> {
    /// Adds this host's couplings before `until` to those of the group, by index in the group.
    pub(crate) fn add_couplings(&self, until: Time, couplings: &mut [i64]) {
        if let Some(own) = &self.couplings {
            for (coupling, more) in couplings.iter_mut().zip(&own.by_host) {
                *coupling += more;
            }
        }
        if self.next_post >= until {
            return;
        }
        let flows = &self.common.flows;
        let outgoing = self.outgoing[self.posted..].iter().map(|&flow| &flows[flow as usize]);
        let due = outgoing.take_while(|row| row.has_dependency || row.start < until);
        for row in due.filter(|row| self.common.is_same_rack(row)) {
            for host in [row.src, row.dst] {
                couplings[self.common.index_in_group(host)] += 1;
            }
        }
    }

    /// Adds a coupling: an end of the QP of message `flow` opened, or the message waits for
    /// another.
    pub(super) fn couple(&mut self, flow: u32) {
        let row = &self.common.flows[flow as usize];
        if self.common.is_same_rack(row) {
            self.count([row.src, row.dst], 1).ends += 1;
        }
    }

    /// Removes a coupling that [`couple`](Self::couple) added.
    pub(super) fn uncouple(&mut self, flow: u32) {
        let row = &self.common.flows[flow as usize];
        if self.common.is_same_rack(row) {
            self.count([row.src, row.dst], -1).ends -= 1;
        }
    }

    /// Whether packets that this host makes may be for hosts of its rack.
    #[inline]
    pub(super) fn is_coupled(&self) -> bool {
        self.couplings.as_ref().is_some_and(|couplings| couplings.ends > 0)
    }

    /// Counts a packet that this host made for message `flow`, which stays within the rack.
    #[cold]
    pub(super) fn couple_packet(&mut self, flow: u32) {
        let row = &self.common.flows[flow as usize];
        self.count([row.src, row.dst], 1);
    }

    /// Counts a packet that this host made, if it stays within the rack.
    #[inline]
    pub(super) fn couple_by(&mut self, header: &Header) {
        if header.flags.contains(Flags::NEIGHBOURLY) {
            self.count([header.address.src, header.address.dst], 1);
        }
    }

    /// Counts a packet that arrived, if it stayed within the rack.
    #[inline]
    pub(super) fn uncouple_by(&mut self, header: &Header) {
        if header.flags.contains(Flags::NEIGHBOURLY) {
            self.count([header.address.src, header.address.dst], -1);
        }
    }

    /// Adds `more` at the indices of two hosts.
    #[inline(never)]
    fn count(&mut self, hosts: [u32; 2], more: i64) -> &mut RackCouplings {
        let common = &self.common;
        let couplings = self.couplings.get_or_insert_with(|| {
            let by_host = vec![0; common.groups.size(self.node)];
            Box::new(RackCouplings { by_host, ends: 0 })
        });
        for host in hosts {
            couplings.by_host[common.index_in_group(host)] += more;
        }
        couplings
    }
}
