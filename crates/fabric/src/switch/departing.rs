//! What leaves a port of a switch, and when.

use super::{LevelOf, Switch};
use crate::packet::{NO_INGRESS, Packet, Scheme};
use crate::record::Happening;
use crate::scheduler::PFC;
use engine::{Handle, Window};
use schemes::contract::{Cp, Level, Order, Turn};
use units::Time;

impl<S: Scheme> Switch<S> {
    /// What may leave `port` changed at `now`; it has been drained to `now`.
    pub(super) fn refresh(&mut self, window: &Window<'_, '_, Packet<S>>, port: usize, now: Time) {
        let this = &mut self.ports[port];
        // A wire that was idle until now is free from now: nothing can begin in the past.
        this.free_at = this.free_at.max(now);
        if self.gated {
            self.schedule_gated(window, port, now);
        } else {
            let due = if this.open() == 0 { Time::NEVER } else { this.free_at };
            self.due.set(port, due);
        }
    }

    /// A packet joined a queue of `port` at `now`; it has been drained to `now`.
    #[inline]
    pub(super) fn joined(
        &mut self,
        window: &Window<'_, '_, Packet<S>>,
        port: usize,
        priority: u8,
        now: Time,
    ) {
        if self.gated {
            return self.refresh(window, port, now);
        }
        // A port that already had something to send sends next when it would have.
        let this = &mut self.ports[port];
        if self.due.at(port) == Time::NEVER && this.paused & 1 << priority == 0 {
            this.free_at = this.free_at.max(now);
            self.due.begin(port, this.free_at);
        }
    }

    /// Sets when the next packet of `port` begins, where shapers or gates have a say.
    #[cold]
    pub(super) fn schedule_gated(
        &mut self,
        window: &Window<'_, '_, Packet<S>>,
        port: usize,
        now: Time,
    ) {
        let this = &self.ports[port];
        let own = this.open();
        let due = if self.sub_queues.is_empty() || (own != 0 && !this.is_shaped()) {
            // What has no gate may go as soon as the wire is free.
            this.due(own)
        } else {
            let cp = self.cp.as_ref().expect("sub-queues belong to a congestion point");
            let at = this.free_at.max(now);
            let open = self.sub_queues[port].open(window.packets, this.paused, |queue, head| {
                cp.gate(&self.cp_ports[port], queue, head, at)
            });
            let ready = this.due(own | open.priorities);
            if open.wait == Time::NEVER { ready } else { ready.min(open.wait.max(at)) }
        };
        self.due.set(port, due);
    }

    /// Has `port` begin to send its next packet, at the time it is due.
    #[inline(never)]
    pub(super) fn depart(&mut self, window: &mut Window<'_, '_, Packet<S>>, port: usize) {
        self.depart_as::<false>(window, port);
    }

    /// The same. `PLAIN`: the switch is a plain one.
    #[inline(always)]
    pub(super) fn depart_as<const PLAIN: bool>(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        port: usize,
    ) {
        let now = self.due.at(port);
        let (queue, mut handle) = if (!PLAIN || S::CLASSES) && self.gated {
            match self.take_gated(window, port, now) {
                Some(taken) => taken,
                // A gate that was to open by now did not.
                None => return self.schedule_gated(window, port, now + Time::from_ps(1)),
            }
        } else {
            let this = &mut self.ports[port];
            let queue = this.pick(window.packets, this.open(), None);
            (queue, this.dequeue(window.packets, queue))
        };
        if queue == PFC {
            return self.depart_pfc(window, now, port, handle);
        }
        if !PLAIN && S::Cp::RECIRCULATES {
            match self.put_back(window, now, port, queue, handle) {
                Some(leaving) => handle = leaving,
                None => return,
            }
        }
        let marks = self.marks_at_dequeue;
        let packet = window.packets.get_mut(&mut handle);
        let (ingress, on_the_wire) = (packet.header.ingress, packet.header.on_the_wire());
        let (_, priority, size) = on_the_wire;
        let mut egress = self.egress(port);
        egress.leaves(now, marks, packet);
        egress.port.transmit(window, now, on_the_wire, handle);
        self.next_departure::<PLAIN>(window, port, now);
        if ingress != NO_INGRESS {
            if self.mmu.release(ingress, priority, u64::from(size)) {
                self.send_pfc(window, now, ingress as usize, priority, false);
            }
        } else {
            self.own_bytes += u64::from(size);
        }
        if !PLAIN && LevelOf::<S>::ORDER == Order::Strict && !self.views.is_empty() {
            self.views[port] = self.ports[port].view_without_packet(port);
            self.apply_effects(window, now);
        }
    }

    /// The same for a PFC frame.
    #[cold]
    fn depart_pfc(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: usize,
        frame: Handle,
    ) {
        if let Some(recorder) = &mut self.recorder {
            let header = &window.packets.get(&frame).header;
            recorder.packet(now, port as u16, Happening::Dequeued, 0, header);
        }
        self.own_bytes += u64::from(window.packets.get(&frame).header.size);
        self.ports[port].transmit_pfc(window, now, frame);
        self.next_departure::<false>(window, port, now);
        if LevelOf::<S>::ORDER == Order::Strict && !self.views.is_empty() {
            self.views[port] = self.ports[port].view_without_packet(port);
        }
    }

    /// A packet of `port` began to leave at `now`: sets when the next one does.
    #[inline(always)]
    fn next_departure<const PLAIN: bool>(
        &mut self,
        window: &Window<'_, '_, Packet<S>>,
        port: usize,
        now: Time,
    ) {
        if (!PLAIN || S::CLASSES) && self.gated {
            return self.schedule_gated(window, port, now);
        }
        let this = &self.ports[port];
        if this.open() == 0 {
            self.due.rest(port);
        } else {
            self.due.follow(port, this.free_at);
        }
    }

    /// Puts a packet that was about to leave back to the tail of its queue, if the congestion point
    /// says so; else it is returned.
    fn put_back(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: usize,
        queue: usize,
        handle: Handle,
    ) -> Option<Handle> {
        let Some(cp) = &mut self.cp else { return Some(handle) };
        let turn = cp.turn(&mut self.cp_ports[port], window.packets.get(&handle), now);
        if turn == Turn::Leaves {
            return Some(handle);
        }
        let this = &mut self.ports[port];
        this.put_back(window.packets, queue, handle);
        this.free_at = this.free_at.max(now);
        let (at, in_a_row) = &mut self.put_back[port];
        *in_a_row = if *at == now { *in_a_row + 1 } else { 1 };
        *at = now;
        // All went back, and again, with what the first time began: none would ever leave at this instant.
        let in_vain = *in_a_row > 2 * this.packets();
        if turn == Turn::GoesBackAndRests || in_vain {
            self.due.set(port, Time::NEVER);
        } else if self.gated {
            self.schedule_gated(window, port, now);
        } else {
            self.due.set(port, this.free_at);
        }
        None
    }

    /// Takes the next packet of `port` where shapers or gates have a say, if one may go, and tells
    /// of which queue it was.
    #[cold]
    pub(super) fn take_gated(
        &mut self,
        window: &Window<'_, '_, Packet<S>>,
        port: usize,
        now: Time,
    ) -> Option<(usize, Handle)> {
        let packets = &*window.packets;
        let this = &mut self.ports[port];
        this.free_at = this.free_at.max(now);
        let mut open = this.unshaped(this.open(), now);
        if self.sub_queues.is_empty() {
            if open == 0 {
                return None;
            }
            let queue = this.pick(packets, open, None);
            return Some((queue, this.dequeue(packets, queue)));
        }
        let cp = self.cp.as_ref().expect("sub-queues belong to a congestion point");
        let sub_queues = &mut self.sub_queues[port];
        let gate = |queue, head: &Packet<S>| cp.gate(&self.cp_ports[port], queue, head, now);
        let ready = sub_queues.open(packets, this.paused, gate);
        let from_sub_queues = this.unshaped(ready.priorities, now);
        open |= from_sub_queues;
        if open == 0 {
            return None;
        }
        // Sub-queues are alike in their share whatever the size of their heads.
        let queue = this.pick(packets, open, Some(self.common.full_packet));
        let turn =
            from_sub_queues & 1 << queue != 0 && sub_queues.takes_turn(queue, this.has(queue));
        let handle = if turn {
            sub_queues.pop(packets, ready.places[queue & 7])
        } else {
            this.dequeue(packets, queue)
        };
        Some((queue, handle))
    }
}
