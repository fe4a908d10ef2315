//! Advances the switch of a rack through a window in three parts.
//!
//! First come the downlinks of uncoupled hosts, port by port. These hosts neither send to hosts of
//! the rack nor receive from them in this window. Then come the downlinks of coupled hosts, in
//! steps, together with the hosts. When all hosts have been advanced, the uplinks come, port by
//! port.

use super::Switch;
use crate::context::NetworkContext;
use crate::forwarding::ForwardingRow;
use crate::packet::{Packet, Scheme, Win};
use crate::routing::NO_ROUTE;
use crate::switch::chassis::Chassis;
use std::hint::select_unpredictable;
use units::{Rate, Time};

/// The ports of a rack's switch.
pub(super) struct RackPorts {
    /// Ports that lead to the hosts of its group, with the hosts' indices there. Links to other
    /// hosts are longer.
    downlinks: Vec<(u16, usize)>,
    /// All other ports.
    uplinks: Vec<u16>,
    /// The downlinks of hosts that are coupled in the present window.
    coupled: Vec<u16>,
    /// By port: the bucket of its packets. It is the port's own, that of all coupled downlinks, or
    /// that of all uplinks.
    bucket_of_port: Vec<u16>,
    /// The sum of the hosts' rates.
    host_rate: Rate,
}

impl RackPorts {
    /// Makes the ports of `node`, the hub of a group.
    pub(super) fn new(common: &NetworkContext, node: u32) -> RackPorts {
        let NetworkContext { graph, groups, .. } = common;
        let ends = graph.ports(node);
        let peer = |port: u16| ends[usize::from(port)].peer;
        let (downlinks, uplinks): (Vec<u16>, Vec<u16>) =
            (0..ends.len() as u16).partition(|&port| groups.are_in_same_rack(peer(port), node));
        let rate = downlinks.iter().map(|&port| ends[usize::from(port)].rate.bps()).sum();
        let downlinks = downlinks.iter().map(|&port| (port, groups.index(peer(port)))).collect();
        let bucket_of_port = vec![ends.len() as u16 + 1; ends.len()];
        RackPorts {
            downlinks,
            uplinks,
            coupled: Vec::new(),
            bucket_of_port,
            host_rate: Rate::from_bps(rate),
        }
    }

    /// Returns the bucket of packets for coupled downlinks and that of packets for uplinks.
    fn kept_buckets(&self) -> [usize; 2] {
        [self.bucket_of_port.len(), self.bucket_of_port.len() + 1]
    }

    /// Notes which hosts are coupled. `couplings` is by index in the group.
    fn set_coupled(&mut self, couplings: &[i64]) {
        let [for_coupled, _] = self.kept_buckets();
        self.coupled.clear();
        for &(port, index) in &self.downlinks {
            let is_coupled = couplings[index] > 0;
            self.bucket_of_port[usize::from(port)] =
                if is_coupled { for_coupled as u16 } else { port };
            if is_coupled {
                self.coupled.push(port);
            }
        }
    }

    /// Returns how many bytes can arrive from the hosts in `time`. The first packet of each host
    /// may have been on the wire before.
    fn max_bytes_from_hosts(&self, time: Time, max_packet: u64) -> u64 {
        self.host_rate.bytes_in(time).get() + self.downlinks.len() as u64 * (max_packet + 1)
    }
}

impl<S: Scheme> Switch<S> {
    /// Implements [`Device::advance_downlinks`](engine::Device::advance_downlinks).
    #[inline(never)]
    pub(crate) fn advance_downlinks(
        &mut self,
        window: &mut Win<'_, '_, S>,
        couplings: &[i64],
    ) -> bool {
        let Some(mut rack) = self.rack.take() else { return false };
        rack.set_coupled(couplings);
        let done = self.advance_uncoupled(window, &rack);
        self.rack = Some(rack);
        done
    }

    fn advance_uncoupled(&mut self, window: &mut Win<'_, '_, S>, rack: &RackPorts) -> bool {
        let common = &self.chassis.common;
        let known = window.remaining_arrivals() as u64 * u64::from(common.wire.full_packet);
        let to_come = rack
            .max_bytes_from_hosts(window.until() - window.begin(), common.wire.max_packet.get());
        if self.quiet_until(window, known + to_come).is_none() {
            return false;
        }
        let Chassis { common, router, switch_row, .. } = &self.chassis;
        let Some(row) = router.row(&common.routes, switch_row) else { return false };
        let [for_coupled, for_uplinks] = rack.kept_buckets();
        let (mut all, mut kept) = (0, 0);
        let buckets = window.bucket(for_uplinks + 1, |packet: &Packet<S>| {
            let out = usize::from(self.next_hop_by_row(&row, packet));
            let bucket = rack.bucket_of_port.get(out).copied().unwrap_or(NO_ROUTE);
            let size = u64::from(packet.header.size);
            all += size;
            kept += select_unpredictable(usize::from(bucket) < for_coupled, 0, size);
            bucket
        });
        let Some(buckets) = buckets else { return false };
        if all > known {
            window.recycle(buckets);
            return false;
        }
        self.chassis.audit.arrived += all - kept;
        let mut schedule = None;
        for &(port, _) in &rack.downlinks {
            let port = usize::from(port);
            if usize::from(rack.bucket_of_port[port]) == port {
                self.advance_port::<false>(window, port, buckets.get(port), &mut schedule);
            }
        }
        // SAFETY: the two buckets are kept once, and the others, one for each downlink that is not
        // coupled, have just been taken.
        unsafe {
            window.keep_for_coupled(&buckets, for_coupled);
            window.keep_for_uplinks(&buckets, for_uplinks);
        }
        window.recycle(buckets);
        true
    }

    /// Returns the port that a packet leaves through; [`NO_ROUTE`] if it is not to be forwarded.
    #[inline(always)]
    fn next_hop_by_row(&self, row: &ForwardingRow<'_>, packet: &Packet<S>) -> u16 {
        match row.by_flow(&packet.header) {
            out if out != NO_ROUTE && packet.header.kind.is_routed() => out,
            // The full look-up may find one.
            _ => self.next_hop(packet),
        }
    }

    /// Implements [`Device::advance_coupled`](engine::Device::advance_coupled).
    pub(crate) fn advance_coupled(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        let rack = self.rack.take().expect("it is a hub");
        while let Some(packet) = window.peek_ahead(0) {
            let out = self.next_hop(packet);
            if rack.uplinks.contains(&out) {
                window.keep_next_for_uplinks();
            } else {
                assert!(
                    rack.coupled.contains(&out),
                    "a host sent to a neighbour without a coupling"
                );
                let arrival = window.take_before(Time::NEVER).expect("it was looked at");
                self.forward_one(window, arrival, out, None);
            }
        }
        let mut due = Time::NEVER;
        for port in rack.coupled.iter().map(|&port| usize::from(port)) {
            self.drain_plain(window, port, window.until());
            due = due.min(self.chassis.due.at(port));
        }
        self.rack = Some(rack);
        due
    }

    /// Implements [`Device::advance_uplinks`](engine::Device::advance_uplinks).
    #[inline(never)]
    pub(crate) fn advance_uplinks(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        let rack = self.rack.take().expect("it is a hub");
        let Chassis { common, router, switch_row, ports, .. } = &self.chassis;
        let row = router.row(&common.routes, switch_row).expect("downlinks used it");
        let mut bytes = 0;
        let buckets = window.bucket(ports.len(), |packet: &Packet<S>| {
            bytes += u64::from(packet.header.size);
            self.next_hop_by_row(&row, packet)
        });
        let buckets = buckets.expect("what came first was looked at, and hosts send to hosts");
        self.chassis.audit.arrived += bytes;
        let mut due = self.next_timer().min(self.chassis.probes.next()).min(self.epoch_end);
        for &(port, _) in &rack.downlinks {
            let port = usize::from(port);
            assert!(buckets.get(port).is_empty(), "a host sent to a neighbour without a coupling");
            due = due.min(self.chassis.due.at(port));
        }
        let mut schedule = None;
        for &port in &rack.uplinks {
            let port = usize::from(port);
            let arrivals = buckets.get(port);
            due = due.min(self.advance_port::<false>(window, port, arrivals, &mut schedule));
        }
        window.recycle(buckets);
        self.rack = Some(rack);
        due
    }
}
