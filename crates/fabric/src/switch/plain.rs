//! The short way of most packets through a plain switch: data or an answer to it comes, is told its way,
//! and leaves at once or joins a queue. The same as [`on_arrival`](Switch::on_arrival) with all left out
//! that can't matter there.

use super::{LevelOf, Switch};
use crate::packet::{Packet, Scheme, Win};
use crate::routing::NOWHERE;
use engine::{ArrivalTag, Handle};
use schemes::contract::Level;
use units::Time;

/// How many arrivals' ways are looked up at once. A processor looks several up side by side as long as
/// it need not guess what becomes of the packet before.
const AT_ONCE: usize = 8;

impl<S: Scheme> Switch<S> {
    /// Handles all that arrives before `limit`, before which nothing else happens here, or until
    /// departures must be worked in order.
    #[inline(always)]
    pub(super) fn pass_on(&mut self, window: &mut Win<'_, '_, S>, limit: Time) {
        loop {
            let (mut ways, mut known) = ([NOWHERE; AT_ONCE], 0);
            for (way, packet) in ways.iter_mut().zip(window.upcoming(AT_ONCE)) {
                *way = self.way(packet);
                known += 1;
            }
            for &way in &ways[..known] {
                let Some(arrival) = window.take_before(limit) else { return };
                let passed = self.pass_one_on(window, arrival, way, None);
                // Where it only passed, at most the congestion point wants to be woken.
                if !passed && self.works_in_order() {
                    return;
                }
                if (!passed || LevelOf::<S>::EMITS) && self.next_timer() < limit {
                    return;
                }
            }
            if known < AT_ONCE {
                return;
            }
        }
    }

    /// The port that a packet leaves through; [`NOWHERE`] also where it is not meant to be passed on.
    #[inline(always)]
    pub(super) fn way(&self, packet: &Packet<S>) -> u16 {
        let (ends, hash) = (packet.header.ends(), packet.header.address.hash);
        let way = self.chassis.common.routes.next_port(&self.chassis.here, ends, hash);
        if packet.header.kind.is_passed_on() { way } else { NOWHERE }
    }

    /// Passes a packet on that arrives before anything else happens here, and tells whether it left at
    /// once. `pausing`: some ingress has its peer paused, and this is when some port sends next.
    #[inline(always)]
    pub(super) fn pass_one_on(
        &mut self,
        window: &mut Win<'_, '_, S>,
        (now, place, mut handle): (Time, ArrivalTag, Handle),
        out: u16,
        pausing: Option<Time>,
    ) -> bool {
        if out == NOWHERE {
            self.on_arrival(window, now, place.port(window), handle);
            return false;
        }
        let out = usize::from(out);
        let packet = window.packets.get_mut(&mut handle);
        let (kind, priority, size) = packet.header.on_the_wire();
        self.chassis.audit.arrived += u64::from(size);
        if S::CLASSES && !self.has_room(window, now, out, priority) {
            self.chassis.discard(window, now, place.port(window), handle);
            return false;
        }
        let bytes = u64::from(size);
        if !self.chassis.mmu.is_calm(bytes)
            && !self.chassis.mmu.is_far_from_limits(place.port(window), priority, bytes)
        {
            let in_port = place.port(window);
            packet.header.ingress = in_port;
            let at_once = self.sends_at_once(window, out, now);
            self.forward_near_limits(window, now, in_port, out, handle);
            self.apply_effects(window, now);
            if at_once {
                self.send_at_once(window, now, out);
            }
            return false;
        }
        // Where a packet that arrives now leaves now, whatever else happens at this instant, it need
        // not be queued. RED does not mark where nothing is left waiting. While some ingress has its
        // peer paused, no other port may send at this instant, and this departure must not end a
        // pause.
        let in_turn = pausing.is_none_or(|next_departure| {
            next_departure > now && !self.chassis.mmu.pauses(place.port(window), priority)
        });
        let mut open = self.chassis.ports[out].is_open(now);
        if !open && self.chassis.due.at(out) < now {
            // Perhaps it will have sent all by then that waits.
            self.drain_plain(window, out, now);
            open = self.chassis.ports[out].is_open(now);
        }
        let at_once = self.sends_at_once(window, out, now);
        let passes = open
            && (at_once || place.is_last_of_instant(window))
            && in_turn
            && (!S::CLASSES || self.chassis.ports[out].unshaped(1 << priority, now) != 0);
        let packet = window.packets.get_mut(&mut handle);
        if passes {
            let mut egress = self.chassis.egress(out);
            let mut leaves = true;
            if Self::PLAIN_WITH_POINT && egress.cp.is_some() {
                packet.header.ingress = place.port(window);
                egress.tells_join(now, packet);
                // What the congestion point has the switch send may go first.
                leaves = !LevelOf::<S>::EMITS || egress.effects.is_empty();
                if leaves {
                    egress.tells_leave(now, packet);
                }
            }
            if leaves {
                egress.port.count_through(size);
                if !self.trains.is_empty() {
                    packet.header.ingress = self.lead(place.port(window), size);
                }
                self.chassis.ports[out].transmit(window, now, (kind, priority, size), handle);
                return true;
            }
        }
        let in_port = place.port(window);
        packet.header.ingress = in_port;
        self.chassis.mmu.store(in_port, priority, bytes);
        let mut egress = self.chassis.egress(out);
        egress.records_join(now, packet);
        if !passes {
            egress.tells_join(now, packet);
        }
        egress.port.enqueue(window.packets, priority, size, handle);
        self.joined(window, out, priority, now);
        self.apply_effects(window, now);
        if at_once {
            self.send_at_once(window, now, out);
        }
        false
    }

    /// Has a port send what it sends before `time`. The same as [`drain`](Switch::drain) in a plain
    /// switch.
    #[inline(never)]
    pub(super) fn drain_plain(&mut self, window: &mut Win<'_, '_, S>, port: usize, time: Time) {
        while self.chassis.due.at(port) < time {
            self.depart_as::<true>(window, port);
        }
    }

    /// Passes on what arrives next, before anything else happens here.
    #[inline(never)]
    pub(super) fn pass_next_on(&mut self, window: &mut Win<'_, '_, S>, pausing: Option<Time>) {
        let packet = window.peek_ahead(0).expect("there is one");
        let way = self.way(packet);
        let arrival = window.take_before(Time::NEVER).expect("as above");
        self.pass_one_on(window, arrival, way, pausing);
    }
}
