//! A window in the switch of a rack, in parts: first what goes to hosts that neither send to neighbours nor get
//! anything from them, port by port; then from time to time what goes to the others; and when all hosts have been
//! worked what goes elsewhere, again port by port.

use super::Switch;
use super::by_port::way;
use crate::context::Common;
use crate::packet::{Packet, Scheme, Win};
use crate::routing::{NOWHERE, Ways};
use crate::switch::chassis::Chassis;
use std::hint::select_unpredictable;
use units::{Rate, Time};

/// The ports of such a switch.
pub(super) struct Parts {
    /// Those that lead to the hosts of its group, and the places of these there. Cables to other hosts are not as
    /// short.
    inner: Vec<(u16, usize)>,
    /// The others.
    outer: Vec<u16>,
    /// The inner ones that are worked from time to time in the window at hand.
    tied: Vec<u16>,
    /// By port, with what its packets are dealt out: alone, with those of all tied ports, or of all outer ones.
    lots: Vec<u16>,
    /// What all hosts can send together.
    rate: Rate,
}

impl Parts {
    /// Of the hub of a group.
    pub(super) fn new<S: Scheme>(common: &Common<S>, node: u32) -> Parts {
        let Common { graph, groups, .. } = common;
        let ends = graph.ports(node);
        let peer = |port: u16| ends[usize::from(port)].peer;
        let (inner, outer): (Vec<u16>, Vec<u16>) =
            (0..ends.len() as u16).partition(|&port| groups.are_neighbours(peer(port), node));
        let rate = inner.iter().map(|&port| ends[usize::from(port)].rate.bps()).sum();
        let inner = inner.iter().map(|&port| (port, groups.place(peer(port)))).collect();
        let lots = vec![ends.len() as u16 + 1; ends.len()];
        Parts { inner, outer, tied: Vec::new(), lots, rate: Rate::from_bps(rate) }
    }

    /// The lots of packets for tied ports, and for outer ones.
    fn kept_lots(&self) -> [usize; 2] {
        [self.lots.len(), self.lots.len() + 1]
    }

    /// Takes in which hosts are tied, by place.
    fn set_ties(&mut self, ties: &[i64]) {
        let [for_tied, _] = self.kept_lots();
        self.tied.clear();
        for &(port, place) in &self.inner {
            let is_tied = ties[place] > 0;
            self.lots[usize::from(port)] = if is_tied { for_tied as u16 } else { port };
            if is_tied {
                self.tied.push(port);
            }
        }
    }

    /// No more bytes arrive from the hosts in so long a time: the first packet of each may have been on the wire
    /// before.
    fn most_bytes(&self, time: Time, largest_packet: u64) -> u64 {
        self.rate.bytes_in(time).get() + self.inner.len() as u64 * (largest_packet + 1)
    }
}

impl<S: Scheme> Switch<S> {
    /// See [`Device::advance_downlinks`](engine::Device::advance_downlinks).
    #[inline(never)]
    pub(crate) fn advance_downlinks(&mut self, window: &mut Win<'_, '_, S>, ties: &[i64]) -> bool {
        let Some(mut parts) = self.parts.take() else { return false };
        parts.set_ties(ties);
        let done = self.work_untied(window, &parts);
        self.parts = Some(parts);
        done
    }

    fn work_untied(&mut self, window: &mut Win<'_, '_, S>, parts: &Parts) -> bool {
        let common = &self.chassis.common;
        let known = window.remaining_arrivals() as u64 * u64::from(common.full_packet);
        let to_come = parts.most_bytes(window.until() - window.begin(), common.largest_packet());
        if self.quiet_after(window, known + to_come).is_none() {
            return false;
        }
        let Chassis { common, here, .. } = &self.chassis;
        let Some(ways) = common.routes.ways(here) else { return false };
        let [for_tied, for_outer] = parts.kept_lots();
        let (mut all, mut kept) = (0, 0);
        let buckets = window.bucket(for_outer + 1, |packet: &Packet<S>| {
            let out = usize::from(self.way_by(&ways, packet));
            let lot = parts.lots.get(out).copied().unwrap_or(NOWHERE);
            let size = u64::from(packet.header.size);
            all += size;
            kept += select_unpredictable(usize::from(lot) < for_tied, 0, size);
            lot
        });
        let Some(buckets) = buckets else { return false };
        if all > known {
            window.recycle(buckets);
            return false;
        }
        self.chassis.audit.arrived += all - kept;
        let mut coming = None;
        for &(port, _) in &parts.inner {
            let port = usize::from(port);
            if usize::from(parts.lots[port]) == port {
                self.work_port(window, port, buckets.group(port), &mut coming);
            }
        }
        window.keep_for_coupled(&buckets, for_tied);
        window.keep_for_uplinks(&buckets, for_outer);
        window.recycle(buckets);
        true
    }

    /// The port that a packet leaves through, [`NOWHERE`] where it is not meant to be passed on.
    #[inline(always)]
    fn way_by(&self, ways: &Ways<'_>, packet: &Packet<S>) -> u16 {
        match way(ways, packet) {
            // It may take a closer look.
            NOWHERE => self.way(packet),
            out => out,
        }
    }

    /// See [`Device::advance_coupled`](engine::Device::advance_coupled).
    pub(crate) fn advance_coupled(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        let parts = self.parts.take().expect("it is a hub");
        while let Some(packet) = window.peek_ahead(0) {
            let out = self.way(packet);
            if parts.outer.contains(&out) {
                window.keep_next_for_uplinks();
            } else {
                assert!(parts.tied.contains(&out), "a host sent to a neighbour without a tie");
                let arrival = window.take_before(Time::NEVER).expect("it was looked at");
                self.pass_one_on(window, arrival, out, None);
            }
        }
        let mut due = Time::NEVER;
        for port in parts.tied.iter().map(|&port| usize::from(port)) {
            self.drain_plain(window, port, window.until());
            due = due.min(self.chassis.due.at(port));
        }
        self.parts = Some(parts);
        due
    }

    /// See [`Device::advance_uplinks`](engine::Device::advance_uplinks).
    #[inline(never)]
    pub(crate) fn advance_uplinks(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        let parts = self.parts.take().expect("it is a hub");
        let Chassis { common, here, ports, .. } = &self.chassis;
        let ways = common.routes.ways(here).expect("as what goes inward");
        let mut bytes = 0;
        let buckets = window.bucket(ports.len(), |packet: &Packet<S>| {
            bytes += u64::from(packet.header.size);
            self.way_by(&ways, packet)
        });
        let buckets = buckets.expect("what came first was looked at, and hosts send to hosts");
        self.chassis.audit.arrived += bytes;
        let mut due = self.next_timer().min(self.chassis.probes.next()).min(self.epoch_end);
        for &(port, _) in &parts.inner {
            let port = usize::from(port);
            assert!(buckets.group(port).is_empty(), "a host sent to a neighbour without a tie");
            due = due.min(self.chassis.due.at(port));
        }
        let mut coming = None;
        for &port in &parts.outer {
            let port = usize::from(port);
            due = due.min(self.work_port(window, port, buckets.group(port), &mut coming));
        }
        window.recycle(buckets);
        self.parts = Some(parts);
        due
    }
}
