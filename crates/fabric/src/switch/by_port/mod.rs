//! Advances each port independently through a whole window.
//!
//! This is valid if the window holds nothing but arrivals and departures, and no ingress can reach
//! a PFC or drop threshold in it. If arrivals of one instant are ordered by their sending, all of
//! the switch's arrivals come in that order.

mod backlogged;

use super::Switch;
use crate::compat::event_order::set_ns3_lead;
use crate::forwarding::{ForwardingRow, Router, RowHash};
use crate::hooks::EnqueuesOf;
use crate::mmu::Mmu;
use crate::observe::recorder::Recorder;
use crate::packet::{Header, NO_INGRESS, Packet, PacketKind, Scheme, Win};
use crate::port::emission_order::EmissionOrder;
use crate::port::scheduler::PFC_BIT;
use crate::routing::NO_ROUTE;
use crate::switch::chassis::Chassis;
use crate::switch::egress::Egress;
pub(super) use backlogged::ArrivalSchedule;
use engine::{Bucketing, Buckets, Entry, Handle, LinkLane};
use schemes::contract::EnqueueSlot;
use units::Time;

/// With fewer arrivals per port it does not pay.
const MIN_ARRIVALS_PER_PORT: usize = 3;

/// Buckets the arrivals of a window by the ports that they leave through. Returns them and their
/// bytes, or `None` if some packet has no next hop.
#[inline(always)]
fn bucket<S: Scheme>(
    window: &mut Win<'_, '_, S>,
    ports: usize,
    mut next_hop: impl FnMut(&Header) -> u16,
) -> Option<(Buckets, u64)> {
    let mut bytes = 0;
    let sum = &mut bytes;
    // By value, so that the loop need not follow a reference for each packet.
    let buckets = window.bucket(ports, move |Packet { header, .. }: &Packet<S>| {
        *sum += u64::from(header.size);
        let next_hop = next_hop(header);
        if header.kind.is_routed() { next_hop } else { NO_ROUTE }
    })?;
    Some((buckets, bytes))
}

/// Buckets the arrivals of a window by the next hops that a row tells.
#[inline]
fn bucket_by_row<S: Scheme>(
    window: &mut Win<'_, '_, S>,
    ports: usize,
    row: &ForwardingRow<'_>,
) -> Option<(Buckets, u64)> {
    match row.hash() {
        RowHash::Flow => bucket(window, ports, move |header| row.by_flow(header)),
        RowHash::Packet => bucket(window, ports, move |header| row.by_packet(header)),
        RowHash::Murmur3(addresses) => {
            bucket(window, ports, move |header| row.by_murmur3(addresses, header))
        }
    }
}

impl<S: Scheme> Switch<S> {
    /// Returns whether the switch wants its arrivals of a window bucketed by port.
    #[inline]
    pub(crate) fn wants_buckets(&self, arrivals: usize) -> Bucketing {
        if self.fast_paths.independent_ports
            && arrivals >= MIN_ARRIVALS_PER_PORT * self.chassis.ports.len()
        {
            self.bucketing
        } else {
            Bucketing::None
        }
    }

    /// Advances all ports through a window with arrivals in the order that
    /// [`wants_buckets`](Self::wants_buckets) asked for. Returns when something is due next, or
    /// `None` if the window must be handled otherwise.
    #[inline(never)]
    pub(crate) fn advance_ports(&mut self, window: &mut Win<'_, '_, S>) -> Option<Time> {
        // Control packets of the scheme may be larger than data. That is checked below.
        let expected =
            window.remaining_arrivals() as u64 * u64::from(self.chassis.common.wire.full_packet);
        let next = self.quiet_until(window, expected)?;
        let bucketed = self.bucket_by_next_hop(window).and_then(|(buckets, bytes)| {
            let draws = self.chassis.draws.is_some() && self.may_draw(window, &buckets);
            if bytes > expected || draws {
                window.recycle(buckets);
                return None;
            }
            Some((buckets, bytes))
        });
        let Some((buckets, bytes)) = bucketed else {
            self.chassis.router.undo_batch();
            return None;
        };
        self.chassis.audit.arrived += bytes;
        let due = if self.emission_order.is_off() {
            self.advance_each::<false>(window, &buckets)
        } else {
            self.advance_each::<true>(window, &buckets)
        };
        window.recycle(buckets);
        Recorder::end(&mut self.chassis.recorder, window);
        Some(due.min(next))
    }

    /// Buckets the arrivals of a window by their next hops; see [`bucket`].
    #[inline(always)]
    fn bucket_by_next_hop(&mut self, window: &mut Win<'_, '_, S>) -> Option<(Buckets, u64)> {
        let Chassis { common, router, switch_row, ports, .. } = &mut self.chassis;
        if let Router::RoundRobin(policy) = router {
            let mut row = policy.begin_batch(&common.routes, switch_row);
            return bucket(window, ports.len(), move |header| row.next(header));
        }
        let row = router.row(&common.routes, switch_row)?;
        bucket_by_row(window, ports.len(), &row)
    }

    /// Returns whether ports could draw marks from the generator that they share.
    fn may_draw(&self, window: &Win<'_, '_, S>, buckets: &Buckets) -> bool {
        let Chassis { ports, red, .. } = &self.chassis;
        // SAFETY: the entries were bucketed in this window, and nobody has taken them.
        let size = |&entry: &Entry| u64::from(unsafe { window.peek_bucketed(entry).header.size });
        ports.iter().zip(red).enumerate().any(|(number, (port, red))| {
            let arriving = || buckets.get(number).iter().map(size).sum::<u64>();
            red.draws_above().is_some_and(|length| port.queue_bytes + arriving() > length)
        })
    }

    /// Advances all ports; see [`advance_port`](Self::advance_port).
    #[inline(always)]
    fn advance_each<const NS3: bool>(
        &mut self,
        window: &mut Win<'_, '_, S>,
        buckets: &Buckets,
    ) -> Time {
        let (mut schedule, mut due) = (None, Time::NEVER);
        for out in 0..self.chassis.ports.len() {
            if let Some(port) = self.chassis.ports.get(out + 1) {
                window.link_lane(&port.link).prefetch();
            }
            let arrivals = buckets.get(out);
            let next = self.advance_port::<NS3>(window, out, arrivals, &mut schedule);
            due = due.min(next);
        }
        due
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
    /// leaves after that. `NS3`: arrivals of one instant are in the order of their sending, and one
    /// that joins a free port leaves before the next
    /// ([`compat::event_order`](crate::compat::event_order)); priorities may alternate, and lengths
    /// of queues may be recorded.
    #[inline(always)]
    pub(super) fn advance_port<const NS3: bool>(
        &mut self,
        window: &mut Win<'_, '_, S>,
        out: usize,
        mut arrivals: &[Entry],
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
        let recorder = if NS3 { egress.recorder } else { None };
        let mut isolated = IsolatedPort {
            lane: window.link_lane(&egress.port.link),
            marks: self.marks_at_dequeue,
            egress: Egress {
                // There are none. Stated here, so that no packet has to check for them.
                draws: None,
                recorder: recorder.filter(|recorder| recorder.samples_queue_before(out, until)),
                ..egress
            },
            mmu,
            emission_order: &self.emission_order,
        };
        // If little waits, the next event is predicted well enough.
        if isolated.egress.port.is_busy()
            && !EnqueuesOf::<S>::ENABLED
            && isolated.egress.recorder.is_none()
        {
            let schedule = schedule.get_or_insert_with(ArrivalSchedule::new);
            arrivals = isolated.advance_backlogged::<NS3>(window, arrivals, schedule);
        }
        while let Some((&entry, rest)) = arrivals.split_first() {
            arrivals = rest;
            // SAFETY: each arrival of the port, bucketed in this window, is taken once. The callers
            // take or keep all buckets, none by `next_arrival`, and report that they did so.
            let (now, tag, mut handle) = unsafe { window.take_bucketed(entry) };
            isolated.drain::<NS3>(window, now);
            let packet = window.packets.get_mut(&mut handle);
            let (kind, priority, size) = packet.header.kind_priority_size();
            if isolated.egress.cp.is_some() {
                packet.header.ingress = tag.port(window);
                isolated.egress.notify_enqueue(now, packet);
            }
            let port = &mut *isolated.egress.port;
            let immediate = NS3 && port.free_at < now;
            let waits_for_others = || {
                let recorder = &isolated.egress.recorder;
                rest.first().is_some_and(|&next| !tag.is_strictly_before(next))
                    || recorder.as_ref().is_some_and(|recorder| recorder.samples_queues_at(now))
            };
            if port.can_send_now(now) && (immediate || !waits_for_others()) {
                // It leaves without waiting. RED does not mark a packet that leaves an empty queue
                // behind.
                isolated.egress.notify_dequeue(now, packet);
                if NS3 {
                    let lead = isolated.emission_order.lead_of(tag.port(window), size);
                    set_ns3_lead(&mut packet.header, lead);
                }
                let port = &mut *isolated.egress.port;
                port.count_direct(size);
                isolated.transmit::<NS3>(window, now, (kind, priority, size), handle);
            } else {
                packet.header.ingress = tag.port(window);
                isolated.mmu.store(packet.header.ingress, priority, u64::from(size));
                isolated.egress.record_enqueue(now, packet);
                let port = &mut *isolated.egress.port;
                if port.open() == 0 && port.paused & 1 << priority == 0 {
                    port.free_at = port.free_at.max(now);
                }
                port.enqueue(window.packets, priority, size, handle);
                if immediate && port.open() != 0 {
                    isolated.depart::<NS3>(window);
                }
            }
        }
        isolated.drain::<NS3>(window, until);
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
    emission_order: &'a EmissionOrder,
}

impl<'run, S: Scheme> IsolatedPort<'_, 'run, S> {
    /// Sends all that leaves before `time`.
    #[inline(always)]
    fn drain<const NS3: bool>(&mut self, window: &mut Win<'_, 'run, S>, time: Time) {
        while self.egress.port.open() != 0 && self.egress.port.free_at < time {
            self.depart::<NS3>(window);
        }
    }

    /// Sends the next packet.
    #[inline(never)]
    fn depart<const NS3: bool>(&mut self, window: &mut Win<'_, 'run, S>) {
        let IsolatedPort { egress, mmu, marks, emission_order, .. } = self;
        let now = egress.port.free_at;
        let queue = egress.port.pick(window.packets, egress.port.open(), None);
        let mut handle = egress.port.dequeue(window.packets, queue);
        let packet = window.packets.get_mut(&mut handle);
        let (kind, priority, size) = packet.header.kind_priority_size();
        let ingress = packet.header.ingress;
        egress.on_dequeue(now, *marks, packet);
        if NS3 {
            set_ns3_lead(&mut packet.header, emission_order.lead_of(ingress, size));
        }
        debug_assert!(ingress != NO_INGRESS, "such a switch makes nothing but PFC frames");
        let resumes = mmu.release(ingress, priority, u64::from(size));
        debug_assert!(!resumes, "no ingress has its peer paused");
        self.transmit::<NS3>(window, now, (kind, priority, size), handle);
    }

    /// Puts a packet on the wire at `start`.
    #[inline(always)]
    fn transmit<const NS3: bool>(
        &mut self,
        window: &mut Win<'_, 'run, S>,
        start: Time,
        (kind, priority, size): (PacketKind, u8, u16),
        handle: Handle,
    ) {
        let port = &mut *self.egress.port;
        if NS3 {
            // Priorities may alternate.
            port.set_last_priority(priority);
        }
        port.transmit_by(window, &self.lane, start, (kind, size), handle);
    }
}
