//! The path of most packets through a plain switch: a data packet or ACK arrives, gets its next
//! hop, and leaves without waiting or joins a queue. It does what
//! [`on_arrival`](Switch::on_arrival) does, without the checks that cannot matter in a plain
//! switch.

use super::actions::SwitchCore;
use super::fast_paths::can_point_be_plain;
use super::{LevelOf, Switch};
use crate::compat::event_order::set_ns3_lead;
use crate::forwarding::Depends;
use crate::hooks::has_own_classes;
use crate::packet::{Packet, PacketKind, Scheme, Win};
use crate::routing::NO_ROUTE;
use crate::switch::chassis::Chassis;
use engine::{ArrivalTag, Handle};
use schemes::contract::Level;
use units::Time;

/// How many next hops are looked up side by side. The processor overlaps the look-ups, because none
/// depends on a branch on the packet before.
const LOOKUP_BATCH: usize = 8;

impl<S: Scheme> Switch<S> {
    /// Forwards all that arrives before `limit`. Nothing but arrivals may be due until then.
    /// Returns early if departures must be handled in time order from then on.
    #[inline(always)]
    pub(super) fn forward_batch(&mut self, window: &mut Win<'_, '_, S>, limit: Time) {
        loop {
            let (mut next_hops, mut known) = ([NO_ROUTE; LOOKUP_BATCH], 0);
            for (next_hop, packet) in next_hops.iter_mut().zip(window.upcoming(LOOKUP_BATCH)) {
                *next_hop = self.next_hop(packet);
                known += 1;
            }
            for &next_hop in &next_hops[..known] {
                let Some(arrival) = window.take_before(limit) else { return };
                let passed = self.forward_one(window, arrival, next_hop, None);
                if self.must_stop_after(passed, limit) {
                    return;
                }
            }
            if known < LOOKUP_BATCH {
                return;
            }
        }
    }

    /// Returns whether something else than an arrival may be due before `limit` once a packet was
    /// forwarded. One that `passed` without waiting can have one effect at most: the congestion
    /// point asks to be woken.
    #[inline(always)]
    fn must_stop_after(&self, passed: bool, limit: Time) -> bool {
        (!passed && self.departs_in_time_order())
            || ((!passed || LevelOf::<S>::EMITS) && self.next_timer() < limit)
    }

    /// Returns the port that a packet leaves through, if the policy depends on the header alone.
    /// Returns [`NO_ROUTE`] if there is none, or if the packet is not to be forwarded.
    #[inline(always)]
    pub(super) fn next_hop(&self, packet: &Packet<S>) -> u16 {
        let Chassis { common, router, switch_row, .. } = &self.chassis;
        let next_hop = router.look_up(&common.routes, switch_row, &packet.header);
        if packet.header.kind.is_routed() { next_hop } else { NO_ROUTE }
    }

    /// Forwards a packet that arrives before anything else is due. Returns whether it left without
    /// waiting. `coincides`: whether another port sends at this instant, if departures are handled
    /// in time order.
    #[inline(always)]
    pub(super) fn forward_one(
        &mut self,
        window: &mut Win<'_, '_, S>,
        (now, tag, mut handle): (Time, ArrivalTag, Handle),
        out: u16,
        coincides: Option<bool>,
    ) -> bool {
        if out == NO_ROUTE {
            self.on_arrival(window, now, tag.port(window), handle);
            return false;
        }
        let out = usize::from(out);
        let packet = window.packets.get_mut(&mut handle);
        let (kind, priority, size) = packet.header.kind_priority_size();
        self.chassis.audit.arrived += u64::from(size);
        if has_own_classes::<S>() && !self.has_room(window, now, out, priority) {
            self.chassis.discard(window, now, tag.port(window), handle);
            return false;
        }
        let bytes = u64::from(size);
        if !self.chassis.mmu.below_all_limits(bytes)
            && !self.chassis.mmu.is_below_own_limits(tag.port(window), priority, bytes)
        {
            self.forward_one_near_limits(window, (now, tag, handle), out);
            return false;
        }
        // A packet need not be queued if it leaves at this instant whatever else happens at it. RED
        // does not mark a packet that leaves an empty queue behind. If departures are handled in
        // time order, no other port may send at this instant, and this one must not end a pause.
        let mut open = self.chassis.ports[out].can_send_now(now);
        if !open && self.chassis.due.at(out) < now {
            // The port may have sent by then all that waits.
            self.drain_plain(window, out, now);
            open = self.chassis.ports[out].can_send_now(now);
        }
        let immediate = self.sends_immediately(window, out, now);
        let passes = open
            && (immediate
                || (tag.is_last_of_instant(window) && !self.chassis.samples_queues_at(now)))
            && coincides.is_none_or(|coincides| {
                !coincides && !self.chassis.mmu.pauses_peer(tag.port(window), priority)
            })
            && (!has_own_classes::<S>()
                || self.chassis.ports[out].allowed_by_shaper(1 << priority, now) != 0);
        let wire = (kind, priority, size);
        if passes {
            match self.send_direct(window, (now, tag, handle), out, wire) {
                Some(not_sent) => handle = not_sent,
                None => return true,
            }
        }
        let packet = window.packets.get_mut(&mut handle);
        let in_port = tag.port(window);
        packet.header.ingress = in_port;
        self.chassis.mmu.store(in_port, priority, bytes);
        let mut egress = self.chassis.egress(out);
        egress.record_enqueue(now, packet);
        if !passes {
            egress.notify_enqueue(now, packet);
        }
        egress.port.enqueue(window.packets, priority, size, handle);
        self.after_enqueue(window, out, priority, now);
        self.apply_effects(window, now);
        if immediate {
            self.send_immediately(window, now, out);
        }
        false
    }

    /// Forwards a packet that may reach a limit of the MMU; see
    /// [`forward_one`](Switch::forward_one).
    #[inline(always)]
    fn forward_one_near_limits(
        &mut self,
        window: &mut Win<'_, '_, S>,
        (now, tag, mut handle): (Time, ArrivalTag, Handle),
        out: usize,
    ) {
        let in_port = tag.port(window);
        window.packets.get_mut(&mut handle).header.ingress = in_port;
        let immediate = self.sends_immediately(window, out, now);
        self.forward_near_limits(window, now, in_port, out, handle);
        self.apply_effects(window, now);
        if immediate {
            self.send_immediately(window, now, out);
        }
    }

    /// Sends a packet without queueing it. If the congestion point makes the switch send something
    /// else, that may go first. The packet is then returned, and the point has seen it as enqueued.
    #[inline(always)]
    fn send_direct(
        &mut self,
        window: &mut Win<'_, '_, S>,
        (now, tag, mut handle): (Time, ArrivalTag, Handle),
        out: usize,
        (kind, priority, size): (PacketKind, u8, u16),
    ) -> Option<Handle> {
        let packet = window.packets.get_mut(&mut handle);
        let mut egress = self.chassis.egress(out);
        if can_point_be_plain::<S>() && egress.cp.is_some() {
            packet.header.ingress = tag.port(window);
            egress.notify_enqueue(now, packet);
            if LevelOf::<S>::EMITS && !egress.effects.is_empty() {
                return Some(handle);
            }
            egress.notify_dequeue(now, packet);
        }
        egress.port.count_direct(size);
        if !self.emission_order.is_off() {
            let lead = self.emission_order.lead_of(tag.port(window), size);
            set_ns3_lead(&mut packet.header, lead);
        }
        self.chassis.ports[out].transmit(window, now, (kind, priority, size), handle);
        None
    }

    /// Lets a port of a plain switch send all that it sends before `time`.
    #[inline(never)]
    pub(super) fn drain_plain(&mut self, window: &mut Win<'_, '_, S>, port: usize, time: Time) {
        while self.chassis.due.at(port) < time {
            self.depart_as::<true>(window, port);
        }
    }

    /// Forwards the next arrival, which must be due before anything else. Returns whether it left
    /// without waiting. `coincides`: see [`forward_one`](Self::forward_one).
    #[inline(never)]
    pub(super) fn forward_next(
        &mut self,
        window: &mut Win<'_, '_, S>,
        coincides: Option<bool>,
    ) -> bool {
        let arrival = window.take_next().expect("there is one");
        let (now, tag, mut handle) = arrival;
        let packet = window.packets.get(&handle);
        let next_hop = match self.depends {
            Depends::Header => self.next_hop(packet),
            _ if !packet.header.kind.is_routed() => NO_ROUTE,
            _ => self.select_port(window, &mut handle, now).map_or(NO_ROUTE, |out| out as u16),
        };
        self.forward_one(window, (now, tag, handle), next_hop, coincides)
    }

    /// Forwards all that arrives before `limit`, as [`forward_batch`](Self::forward_batch) does,
    /// but asks the forwarding policy for each packet when its turn comes.
    pub(super) fn forward_each(&mut self, window: &mut Win<'_, '_, S>, limit: Time) {
        while window.next_arrival_time() < limit {
            let passed = self.forward_next(window, None);
            if self.must_stop_after(passed, limit) {
                return;
            }
        }
    }
}
