//! Advances each port independently through a whole window.
//!
//! This is valid if the window holds nothing but arrivals and departures, and no ingress can reach
//! a PFC or drop threshold in it.

mod backlogged;

use super::{LevelOf, Switch};
use crate::forwarding::ForwardingRow;
use crate::hooks::{EnqueuesOf, has_own_classes};
use crate::mmu::Mmu;
use crate::packet::{NO_INGRESS, Packet, Scheme, Win};
use crate::port::scheduler::PFC_BIT;
use crate::routing::NO_ROUTE;
use crate::switch::chassis::Chassis;
use crate::switch::egress::Egress;
pub(super) use backlogged::ArrivalSchedule;
use engine::{Buckets, LinkLane};
use schemes::contract::{EnqueueSlot, Level, Order};
use units::Time;

/// With fewer arrivals per port it does not pay.
const MIN_ARRIVALS_PER_PORT: usize = 3;

/// Returns the port that a packet leaves through. Returns [`NO_ROUTE`] if there is none, or if the
/// packet is not to be forwarded.
#[inline(always)]
pub(super) fn next_hop<S: Scheme, const SPRAYS: bool>(
    row: &ForwardingRow<'_>,
    packet: &Packet<S>,
) -> u16 {
    let Packet { header, .. } = packet;
    let next_hop = row.next_hop::<SPRAYS>(header);
    if header.kind.is_routed() { next_hop } else { NO_ROUTE }
}

/// Buckets the arrivals of a window by the ports that they leave through. Returns them and their
/// bytes, or `None` if some packet has no next hop.
#[inline(always)]
fn bucket<S: Scheme, const SPRAYS: bool>(
    window: &mut Win<'_, '_, S>,
    row: &ForwardingRow<'_>,
    ports: usize,
) -> Option<(Buckets, u64)> {
    let mut bytes = 0;
    let buckets = window.bucket(ports, |packet: &Packet<S>| {
        bytes += u64::from(packet.header.size);
        next_hop::<S, SPRAYS>(row, packet)
    })?;
    Some((buckets, bytes))
}

impl<S: Scheme> Switch<S> {
    /// Whether the scheme's congestion point allows it.
    const POINTS_ARE_LOCAL: bool =
        !LevelOf::<S>::EMITS && matches!(LevelOf::<S>::ORDER, Order::Lazy);

    /// Returns whether the order of events at different ports can have no effect.
    pub(super) fn ports_are_independent(&self) -> bool {
        self.plain
            && !has_own_classes::<S>()
            && (self.chassis.cp.is_none() || Self::POINTS_ARE_LOCAL)
            && self.chassis.draws.is_none()
            && !self.chassis.records_queues_or_packets()
            && self.emission_order.is_off()
            && !self.chassis.common.compat.alternates_packets()
    }

    /// Returns whether the switch wants its arrivals of a window bucketed by port.
    #[inline]
    pub(crate) fn wants_buckets(&self, arrivals: usize) -> bool {
        self.independent_ports && arrivals >= MIN_ARRIVALS_PER_PORT * self.chassis.ports.len()
    }

    /// Advances all ports through a window with arrivals in no order. Returns when something is due
    /// next, or `None` if the window must be handled otherwise.
    #[inline(never)]
    pub(crate) fn advance_ports(&mut self, window: &mut Win<'_, '_, S>) -> Option<Time> {
        // Control packets of the scheme may be larger than data. That is checked below.
        let expected =
            window.remaining_arrivals() as u64 * u64::from(self.chassis.common.wire.full_packet);
        let next = self.quiet_until(window, expected)?;
        let Chassis { common, router, switch_row, ports, .. } = &self.chassis;
        let row = router.row(&common.routes, switch_row)?;
        let (buckets, bytes) = if row.sprays() {
            bucket::<S, true>(window, &row, ports.len())?
        } else {
            bucket::<S, false>(window, &row, ports.len())?
        };
        if bytes > expected {
            window.recycle(buckets);
            return None;
        }
        self.chassis.audit.arrived += bytes;
        let mut schedule = None;
        let mut due = next;
        for out in 0..self.chassis.ports.len() {
            if let Some(port) = self.chassis.ports.get(out + 1) {
                window.link_lane(&port.link).prefetch();
            }
            due = due.min(self.advance_port(window, out, buckets.get(out), &mut schedule));
        }
        window.recycle(buckets);
        Some(due)
    }

    /// Returns when something is due that is neither an arrival nor a departure. Returns `None` if
    /// that is in this window, or if `expected` more bytes can bring an ingress near a limit.
    #[inline]
    pub(super) fn quiet_until(
        &mut self,
        window: &mut Win<'_, '_, S>,
        expected: u64,
    ) -> Option<Time> {
        if self.chassis.probes.next() == window.begin()
            && self.next_timer() > window.begin()
            && !window.begins_with_arrival()
        {
            // Nothing but departures happens at this instant.
            self.sample(window, window.begin());
        }
        let next = self.next_timer().min(self.chassis.probes.next()).min(self.epoch_end);
        let mmu = &self.chassis.mmu;
        let quiet =
            next >= window.until() && !mmu.pauses_any_peer() && mmu.below_all_limits(expected);
        quiet.then_some(next)
    }

    /// Sends what waits at a port and what arrives for it in a window. Returns when the next packet
    /// leaves after that.
    #[inline(always)]
    pub(super) fn advance_port(
        &mut self,
        window: &mut Win<'_, '_, S>,
        out: usize,
        mut arrivals: &[u64],
        schedule: &mut Option<ArrivalSchedule>,
    ) -> Time {
        let until = window.until();
        if arrivals.is_empty() && self.chassis.due.at(out) >= until {
            return self.chassis.due.at(out);
        }
        // PFC frames go first, and what follows need not consider them.
        while self.chassis.ports[out].waiting & PFC_BIT != 0 && self.chassis.due.at(out) < until {
            self.depart(window, out);
        }
        let (egress, mmu) = self.chassis.egress_and_mmu(out);
        let mut isolated = IsolatedPort {
            lane: window.link_lane(&egress.port.link),
            marks: self.marks_at_dequeue,
            // There are none. Stated here, so that no packet has to check for them.
            egress: Egress { draws: None, recorder: None, ..egress },
            mmu,
        };
        // If little waits, the next event is predicted well enough.
        if isolated.egress.port.is_busy() && !EnqueuesOf::<S>::ENABLED {
            let schedule = schedule.get_or_insert_with(ArrivalSchedule::new);
            arrivals = isolated.advance_backlogged(window, arrivals, schedule);
        }
        while let Some((&entry, rest)) = arrivals.split_first() {
            arrivals = rest;
            // SAFETY: each arrival of the port, all of them bucketed in this window, once.
            let (now, tag, mut handle) = unsafe { window.take_bucketed(entry) };
            isolated.drain(window, now);
            let packet = window.packets.get_mut(&mut handle);
            let (kind, priority, size) = packet.header.kind_priority_size();
            if isolated.egress.cp.is_some() {
                packet.header.ingress = tag.port(window);
                isolated.egress.notify_enqueue(now, packet);
            }
            let port = &mut *isolated.egress.port;
            if port.can_send_now(now)
                && rest.first().is_none_or(|&next| tag.is_strictly_before(next))
            {
                // It leaves without waiting. RED does not mark a packet that leaves an empty queue
                // behind.
                isolated.egress.notify_dequeue(now, packet);
                let port = &mut *isolated.egress.port;
                port.count_direct(size);
                port.transmit_by(window, &isolated.lane, now, (kind, size), handle);
            } else {
                packet.header.ingress = tag.port(window);
                isolated.mmu.store(packet.header.ingress, priority, u64::from(size));
                if port.open() == 0 && port.paused & 1 << priority == 0 {
                    port.free_at = port.free_at.max(now);
                }
                port.enqueue(window.packets, priority, size, handle);
            }
        }
        isolated.drain(window, until);
        let port = &*isolated.egress.port;
        let due = port.due(port.open());
        self.chassis.due.set(out, due);
        due
    }
}

/// A port during a span in which nothing else acts on it.
struct IsolatedPort<'a, 'run, S: Scheme> {
    egress: Egress<'a, S>,
    mmu: &'a mut Mmu,
    lane: LinkLane<'run>,
    /// RED marks packets when they begin to leave.
    marks: bool,
}

impl<'run, S: Scheme> IsolatedPort<'_, 'run, S> {
    /// Sends all that leaves before `time`.
    #[inline(always)]
    fn drain(&mut self, window: &mut Win<'_, 'run, S>, time: Time) {
        while self.egress.port.open() != 0 && self.egress.port.free_at < time {
            self.depart(window);
        }
    }

    /// Sends the next packet.
    #[inline(never)]
    fn depart(&mut self, window: &mut Win<'_, 'run, S>) {
        let IsolatedPort { egress, mmu, lane, marks } = self;
        let now = egress.port.free_at;
        let queue = egress.port.pick(window.packets, egress.port.open(), None);
        let mut handle = egress.port.dequeue(window.packets, queue);
        let packet = window.packets.get_mut(&mut handle);
        let (kind, priority, size) = packet.header.kind_priority_size();
        let ingress = packet.header.ingress;
        egress.on_dequeue(now, *marks, packet);
        egress.port.transmit_by(window, lane, now, (kind, size), handle);
        debug_assert!(ingress != NO_INGRESS, "such a switch makes nothing but PFC frames");
        let resumes = mmu.release(ingress, priority, u64::from(size));
        debug_assert!(!resumes, "no ingress has its peer paused");
    }
}
