//! The shortest path of packets through a plain switch. Where nothing but arrivals happens in a window, and
//! they can't bring any ingress near a limit, ports have nothing to do with each other: each is worked alone,
//! from the beginning of the window to its end.

mod backlogged;

use super::{LevelOf, Switch};
use crate::forwarding::ForwardingRow;
use crate::hooks::EnqueuesOf;
use crate::mmu::Mmu;
use crate::packet::{NO_INGRESS, Packet, Scheme, Win};
use crate::port::scheduler::PFC_BIT;
use crate::routing::NO_ROUTE;
use crate::switch::chassis::Chassis;
use crate::switch::egress::Egress;
pub(super) use backlogged::ArrivalSchedule;
use engine::LinkLane;
use schemes::contract::{EnqueueSlot, Level, Order};
use units::Time;

/// For fewer arrivals per port it is not worth while.
const MIN_ARRIVALS_PER_PORT: usize = 3;

/// The port that a packet leaves through; [`NO_ROUTE`] also where it is not meant to be passed on.
#[inline(always)]
pub(super) fn next_hop<S: Scheme>(row: &ForwardingRow<'_>, packet: &Packet<S>) -> u16 {
    let Packet { header, .. } = packet;
    let next_hop = row.next_hop(header);
    if header.kind.is_routed() { next_hop } else { NO_ROUTE }
}

impl<S: Scheme> Switch<S> {
    /// Whether a congestion point allows it.
    const POINTS_ARE_LOCAL: bool =
        !LevelOf::<S>::EMITS && matches!(LevelOf::<S>::ORDER, Order::Lazy);

    /// Whether nobody sees in which order ports do what they do.
    pub(super) fn ports_are_independent(&self) -> bool {
        self.plain
            && !S::CLASSES
            && (self.chassis.cp.is_none() || Self::POINTS_ARE_LOCAL)
            && self.chassis.draws.is_none()
            && !self.chassis.records_queues_or_packets()
            && self.trains.is_empty()
            && !self.chassis.common.compat.alternates_packets()
    }

    /// Whether it wants so many arrivals dealt out by port.
    #[inline]
    pub(crate) fn wants_buckets(&self, arrivals: usize) -> bool {
        self.independent_ports && arrivals >= MIN_ARRIVALS_PER_PORT * self.chassis.ports.len()
    }

    /// Handles a window port by port, with arrivals in no order, and returns when something is due after it;
    /// `None` where it must be handled otherwise.
    #[inline(never)]
    pub(crate) fn advance_ports(&mut self, window: &mut Win<'_, '_, S>) -> Option<Time> {
        // Packets of the scheme's own may be larger than data: that is seen below.
        let expected =
            window.remaining_arrivals() as u64 * u64::from(self.chassis.common.full_packet);
        let next = self.quiet_until(window, expected)?;
        let Chassis { common, router, switch_row, ports, .. } = &self.chassis;
        let mut bytes = 0;
        let row = router.row(&common.routes, switch_row)?;
        let buckets = window.bucket(ports.len(), |packet: &Packet<S>| {
            bytes += u64::from(packet.header.size);
            next_hop(&row, packet)
        })?;
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

    /// When something else happens than arrivals and departures, if it is after the window and so many bytes
    /// that arrive can't bring any ingress near a limit.
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
            // Nothing else happens at this instant but departures.
            self.sample(window, window.begin());
        }
        let next = self.next_timer().min(self.chassis.probes.next()).min(self.epoch_end);
        let mmu = &self.chassis.mmu;
        let quiet =
            next >= window.until() && !mmu.pauses_any_peer() && mmu.below_all_limits(expected);
        quiet.then_some(next)
    }

    /// Passes on what arrives in a window for a port, and what waits there; returns when the next packet
    /// leaves after it.
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
        // They go first, and leave nothing for others to see.
        while self.chassis.ports[out].waiting & PFC_BIT != 0 && self.chassis.due.at(out) < until {
            self.depart(window, out);
        }
        let (egress, mmu) = self.chassis.egress_and_mmu(out);
        let mut isolated = IsolatedPort {
            lane: window.link_lane(&egress.port.link),
            marks: self.marks_at_dequeue,
            // There are none: said here, nobody looks for them at each packet.
            egress: Egress { draws: None, recorder: None, ..egress },
            mmu,
        };
        // Where little waits, what comes next is guessed well enough.
        if isolated.egress.port.is_busy() && !EnqueuesOf::<S>::ENABLED {
            let schedule = schedule.get_or_insert_with(ArrivalSchedule::new);
            arrivals = isolated.advance_backlogged(window, arrivals, schedule);
        }
        while let Some((&entry, rest)) = arrivals.split_first() {
            arrivals = rest;
            // SAFETY: each of the port's arrivals, which were dealt out in this window, once.
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
                // It leaves at once. RED does not mark where nothing is left waiting.
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

/// A port with which nothing else has anything to do for a while.
struct IsolatedPort<'a, 'run, S: Scheme> {
    egress: Egress<'a, S>,
    mmu: &'a mut Mmu,
    lane: LinkLane<'run>,
    /// RED decides as packets begin to leave.
    marks: bool,
}

impl<'run, S: Scheme> IsolatedPort<'_, 'run, S> {
    /// Sends what is sent before `time`.
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
        let goes_on = mmu.release(ingress, priority, u64::from(size));
        debug_assert!(!goes_on, "no ingress has its peer paused");
    }
}
