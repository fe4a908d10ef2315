//! What leaves a port of a switch, and when.

use super::actions::SwitchCore;
use super::{LevelOf, Switch};
use crate::compat::event_order::set_ns3_lead;
use crate::hooks::{RequeueOf, SubQueuesOf, has_own_classes};
use crate::packet::{NO_INGRESS, Packet, Scheme, Win};
use crate::port::scheduler::PFC;
use crate::switch::chassis::Chassis;
use engine::Handle;
use schemes::contract::{DequeueAction, Level, Order, RequeueSlot, SubQueueSlot};
use units::Time;

impl<S: Scheme> Switch<S> {
    /// Updates when `port` sends next, after something changed. It must have been drained to `now`.
    pub(super) fn update_due(&mut self, window: &Win<'_, '_, S>, port: usize, now: Time) {
        self.chassis.update_due(port, now);
        if self.gated {
            self.schedule_gated(window, port, now);
        }
    }

    /// Updates when `port` sends next, after a packet joined one of its queues. It must have been
    /// drained to `now`.
    #[inline(always)]
    pub(super) fn after_enqueue(
        &mut self,
        window: &Win<'_, '_, S>,
        port: usize,
        priority: u8,
        now: Time,
    ) {
        if self.gated {
            self.update_due(window, port, now);
        } else {
            self.chassis.after_enqueue(port, priority, now);
        }
    }

    /// Computes when `port` sends next if shapers or gates may hold packets.
    #[cold]
    pub(super) fn schedule_gated(&mut self, window: &Win<'_, '_, S>, port: usize, now: Time) {
        let Chassis { ports, due, cp, cp_ports, .. } = &mut self.chassis;
        let this = &ports[port];
        let own = this.open();
        let next = if self.sub_queues.is_empty() || (own != 0 && !this.is_shaped()) {
            // What has no gate may leave as soon as the wire is free.
            this.due(own)
        } else {
            let cp = cp.as_ref().expect("sub-queues belong to a congestion point");
            let at = this.free_at.max(now);
            let open = self.sub_queues[port].open(window.packets, this.paused, |queue, head| {
                SubQueuesOf::<S>::gate(cp, &cp_ports[port], queue, head, at)
            });
            // The gate was asked at `at`, and may open later than the time that it gave.
            let ready = this.due(own | open.priorities).max(at);
            if open.wait == Time::NEVER { ready } else { ready.min(open.wait.max(at)) }
        };
        due.set(port, next);
    }

    /// Sends the next packet of `port` at the time it is due.
    #[inline(never)]
    pub(super) fn depart(&mut self, window: &mut Win<'_, '_, S>, port: usize) {
        self.depart_as::<false>(window, port);
    }

    /// Sends the next packet of `port` at the time it is due. `PLAIN`: the switch is plain, which
    /// leaves out the checks that need a congestion point or gates.
    #[inline(always)]
    pub(super) fn depart_as<const PLAIN: bool>(
        &mut self,
        window: &mut Win<'_, '_, S>,
        port: usize,
    ) {
        let now = self.chassis.due.at(port);
        let (queue, mut handle) = if (!PLAIN || has_own_classes::<S>()) && self.gated {
            match self.take_gated(window, port, now) {
                Some(taken) => taken,
                // A gate is still closed that was expected to be open by now.
                None => return self.schedule_gated(window, port, now + Time::from_ps(1)),
            }
        } else {
            let this = &mut self.chassis.ports[port];
            let queue = this.pick(window.packets, this.open(), None);
            (queue, this.dequeue(window.packets, queue))
        };
        if queue == PFC {
            return self.depart_pfc(window, now, port, handle);
        }
        if !PLAIN && RequeueOf::<S>::ENABLED {
            match self.requeue(window, now, port, queue, handle) {
                Some(leaving) => handle = leaving,
                None => return,
            }
        }
        let marks = self.marks_at_dequeue;
        let packet = window.packets.get_mut(&mut handle);
        let (ingress, kind_priority_size) =
            (packet.header.ingress, packet.header.kind_priority_size());
        let (_, priority, size) = kind_priority_size;
        let mut egress = self.chassis.egress(port);
        egress.on_dequeue(now, marks, packet);
        if !self.emission_order.is_off() && ingress != NO_INGRESS {
            set_ns3_lead(&mut packet.header, self.emission_order.lead_of(ingress, size));
        }
        if !PLAIN {
            self.chassis.tag_departure(window, now, port, size, &mut handle);
        }
        self.chassis.ports[port].transmit(window, now, kind_priority_size, handle);
        self.next_departure::<PLAIN>(window, port, now);
        if ingress != NO_INGRESS {
            self.release_ingress(window, now, ingress, priority, size);
        } else {
            self.chassis.generated_bytes += u64::from(size);
        }
        if !PLAIN && LevelOf::<S>::ORDER == Order::Strict {
            self.chassis.refresh_view(port);
            self.apply_effects(window, now);
        }
    }

    /// Sends a PFC frame.
    #[cold]
    fn depart_pfc(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize, frame: Handle) {
        self.chassis.transmit_pfc(window, now, port, frame);
        self.next_departure::<false>(window, port, now);
        self.chassis.refresh_view(port);
    }

    /// Computes when `port` sends next, after a packet began to leave.
    #[inline(always)]
    fn next_departure<const PLAIN: bool>(
        &mut self,
        window: &Win<'_, '_, S>,
        port: usize,
        now: Time,
    ) {
        if (!PLAIN || has_own_classes::<S>()) && self.gated {
            self.schedule_gated(window, port, now);
        } else {
            self.chassis.next_departure(port);
        }
    }

    /// Puts a packet that was about to leave back to the tail of its queue if the congestion point
    /// says so. Returns it otherwise.
    fn requeue(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        queue: usize,
        handle: Handle,
    ) -> Option<Handle> {
        let Chassis { ports, due, cp, cp_ports, .. } = &mut self.chassis;
        let Some(cp) = cp else { return Some(handle) };
        let turn =
            RequeueOf::<S>::at_head(cp, &mut cp_ports[port], window.packets.get(&handle), now);
        if turn == DequeueAction::Send {
            return Some(handle);
        }
        let this = &mut ports[port];
        this.requeue(window.packets, queue, handle);
        this.free_at = this.free_at.max(now);
        let (at, in_a_row) = &mut self.requeued[port];
        *in_a_row = if *at == now { *in_a_row + 1 } else { 1 };
        *at = now;
        // All packets were requeued, and then all of them again: none would ever leave at this
        // instant.
        let in_vain = *in_a_row > 2 * this.packets();
        if turn == DequeueAction::RequeueAndStall || in_vain {
            due.set(port, Time::NEVER);
        } else if self.gated {
            self.schedule_gated(window, port, now);
        } else {
            due.set(port, this.free_at);
        }
        None
    }

    /// Takes the next packet that shapers and gates let leave `port`, if there is one. Returns its
    /// queue and the packet.
    #[cold]
    pub(super) fn take_gated(
        &mut self,
        window: &Win<'_, '_, S>,
        port: usize,
        now: Time,
    ) -> Option<(usize, Handle)> {
        let packets = &*window.packets;
        let Chassis { common, ports, cp, cp_ports, .. } = &mut self.chassis;
        let this = &mut ports[port];
        this.free_at = this.free_at.max(now);
        let mut open = this.allowed_by_shaper(this.open(), now);
        if self.sub_queues.is_empty() {
            if open == 0 {
                return None;
            }
            let queue = this.pick(packets, open, None);
            return Some((queue, this.dequeue(packets, queue)));
        }
        let cp = cp.as_ref().expect("sub-queues belong to a congestion point");
        let sub_queues = &mut self.sub_queues[port];
        let gate =
            |queue, head: &Packet<S>| SubQueuesOf::<S>::gate(cp, &cp_ports[port], queue, head, now);
        let ready = sub_queues.open(packets, this.paused, gate);
        let from_sub_queues = this.allowed_by_shaper(ready.priorities, now);
        open |= from_sub_queues;
        if open == 0 {
            return None;
        }
        // Sub-queues have equal shares whatever the sizes of their heads.
        let queue = this.pick(packets, open, Some(common.wire.full_packet));
        let bit = 1 << queue;
        let turn = from_sub_queues & bit != 0
            && (ready.ahead & bit != 0 || sub_queues.is_turn_of_sub_queue(queue, this.has(queue)));
        let handle = if turn {
            sub_queues.pop(packets, ready.indices[queue & 7])
        } else {
            this.dequeue(packets, queue)
        };
        Some((queue, handle))
    }
}
