//! What a CIOQ switch sends: its output queues, PFC frames and packets that it makes.

use super::CioqSwitch;
use crate::packet::{Header, NO_INGRESS, PfcFrame, Scheme, Win};
use crate::port::scheduler::PFC;
use crate::switch::actions::{SwitchAction, SwitchCore};
use crate::switch::chassis::Chassis;
use engine::Handle;
use units::Time;

impl<S: Scheme> CioqSwitch<S> {
    /// Lets `port` send all that it sends before `time`.
    #[inline(always)]
    pub(super) fn drain(&mut self, window: &mut Win<'_, '_, S>, port: usize, time: Time) {
        while self.chassis.due.at(port) < time {
            self.depart(window, port);
        }
    }

    /// Lets all ports send all that they send before `time`. Returns when the next packet leaves
    /// after that.
    pub(super) fn drain_all(&mut self, window: &mut Win<'_, '_, S>, time: Time) -> Time {
        if Self::STRICT {
            return self.chassis.due.earliest().0;
        }
        self.drain_others(window, usize::MAX, time)
    }

    /// Drains all ports except `but`; see [`drain_all`](CioqSwitch::drain_all).
    pub(super) fn drain_others(
        &mut self,
        window: &mut Win<'_, '_, S>,
        but: usize,
        time: Time,
    ) -> Time {
        let (mut next, mut from) = (Time::NEVER, 0);
        while let Some(port) = self.chassis.due.next_busy(from) {
            if port != but {
                self.drain(window, port, time);
            }
            next = next.min(self.chassis.due.at(port));
            from = port + 1;
        }
        next
    }

    /// Puts a packet into an output queue of `out`.
    pub(super) fn enqueue(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        out: usize,
        mut handle: Handle,
    ) {
        if !Self::STRICT {
            self.drain(window, out, now);
        }
        let packet = window.packets.get_mut(&mut handle);
        let (priority, size) = (packet.header.priority, packet.header.size);
        let marks = self.chassis.common.marks_at_enqueue;
        self.chassis.egress(out).on_enqueue(now, marks, packet);
        self.chassis.ports[out].enqueue(window.packets, priority, size, handle);
        self.after_enqueue(out, priority, now);
    }

    /// Updates when `port` sends next, after a packet joined one of its queues.
    #[inline]
    pub(super) fn after_enqueue(&mut self, port: usize, priority: u8, now: Time) {
        if self.chassis.after_enqueue(port, priority, now) {
            self.schedule_crossing(port);
        }
        self.chassis.refresh_view(port);
    }

    /// Updates when `port` sends next, after something changed.
    pub(super) fn update_due(&mut self, port: usize, now: Time) {
        self.chassis.update_due(port, now);
        self.schedule_crossing(port);
        self.chassis.refresh_view(port);
    }

    /// Sends the next packet of `port` at the time it is due.
    pub(super) fn depart(&mut self, window: &mut Win<'_, '_, S>, port: usize) {
        let now = self.chassis.due.at(port);
        let this = &mut self.chassis.ports[port];
        let queue = this.pick(window.packets, this.open(), None);
        let mut handle = this.dequeue(window.packets, queue);
        if queue == PFC {
            self.chassis.transmit_pfc(window, now, port, handle);
        } else {
            let packet = window.packets.get_mut(&mut handle);
            let (ingress, kind_priority_size) =
                (packet.header.ingress, packet.header.kind_priority_size());
            let (_, _, size) = kind_priority_size;
            let marks = self.chassis.common.marks_at_dequeue;
            let mut egress = self.chassis.egress(port);
            egress.on_dequeue(now, marks, packet);
            egress.port.transmit(window, now, kind_priority_size, handle);
            if ingress != NO_INGRESS {
                self.crossed -= u64::from(size);
            } else {
                self.chassis.generated_bytes += u64::from(size);
            }
        }
        self.chassis.next_departure(port);
        self.chassis.refresh_view(port);
        self.after_dequeue(port, now);
    }

    pub(super) fn on_pfc(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        header: &Header,
    ) {
        if !Self::STRICT {
            self.drain(window, port, now);
        }
        let changed = self.chassis.apply_pfc(now, port, header);
        self.update_due(port, now);
        if changed {
            self.chassis.egress(port).notify_pfc(now, header.priority, header.is_pause());
            self.apply_effects(window, now);
        }
    }
}

impl<S: Scheme> SwitchCore<S> for CioqSwitch<S> {
    #[inline(always)]
    fn chassis(&mut self) -> &mut Chassis<S> {
        &mut self.chassis
    }

    fn send_pfc(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        priority: u8,
        frame: PfcFrame,
    ) {
        if !Self::STRICT {
            self.drain(window, port, now);
        }
        self.chassis.enqueue_pfc(window, now, port, priority, frame);
        self.update_due(port, now);
    }

    /// Puts a packet that the switch makes into its output queue. It does not cross.
    fn act(&mut self, window: &mut Win<'_, '_, S>, now: Time, action: SwitchAction<S>) {
        match action {
            SwitchAction::ToHost(packet) => {
                let out = self.select_port(&packet, now);
                let priority = packet.header.priority;
                let handle = window.packets.insert(packet);
                if self.chassis.watchdog_drops(out, priority) {
                    return self.chassis.discard(window, now, NO_INGRESS, handle);
                }
                if let Some(handle) = self.chassis.limit_own_control(window, now, out, handle) {
                    self.enqueue(window, now, out, handle);
                }
            }
            SwitchAction::ToLink(port, packet) => {
                let handle = window.packets.insert(packet);
                if let Some(handle) = self.chassis.limit_own_control(window, now, port, handle) {
                    self.enqueue(window, now, port, handle);
                }
            }
            SwitchAction::Wake(_) => self.recheck_outputs(now),
        }
    }
}
