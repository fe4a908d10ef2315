//! What a CIOQ switch sends: its output queues, PFC frames, packets of its own.

use super::CioqSwitch;
use crate::egress::{Egress, LevelOf, Made};
use crate::packet::{Header, NO_INGRESS, Packet, Scheme, pfc_frame};
use crate::record::Happening;
use crate::scheduler::PFC;
use engine::{Handle, Window};
use schemes::contract::{Level, SwitchEffect};
use units::Time;

impl<S: Scheme> CioqSwitch<S> {
    /// A port, and what has a say there.
    #[inline(always)]
    pub(super) fn egress(&mut self, port: usize) -> Egress<'_, S> {
        Egress {
            number: port,
            port: &mut self.ports[port],
            red: self.red.get_mut(port),
            draws: None,
            cp: self.cp.as_mut().map(|cp| (cp, &mut self.cp_ports[port])),
            effects: &mut self.effects,
            views: &self.views,
            recorder: self.recorder.as_deref_mut(),
        }
    }

    /// Has `port` send what it sends before `time`.
    #[inline(always)]
    pub(super) fn drain(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        port: usize,
        time: Time,
    ) {
        while self.due.at(port) < time {
            self.depart(window, port);
        }
    }

    /// Has all ports send what they send before `time`; returns when the next packet leaves after.
    pub(super) fn drain_all(&mut self, window: &mut Window<'_, '_, Packet<S>>, time: Time) -> Time {
        if Self::STRICT {
            return self.due.earliest().0;
        }
        self.drain_others(window, usize::MAX, time)
    }

    /// The same but for one port.
    pub(super) fn drain_others(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        but: usize,
        time: Time,
    ) -> Time {
        let (mut next, mut from) = (Time::NEVER, 0);
        while let Some(port) = self.due.next_busy(from) {
            if port != but {
                self.drain(window, port, time);
            }
            next = next.min(self.due.at(port));
            from = port + 1;
        }
        next
    }

    /// Adds a packet to the queue of `out`.
    pub(super) fn enqueue(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        out: usize,
        mut handle: Handle,
    ) {
        if !Self::STRICT {
            self.drain(window, out, now);
        }
        let packet = window.packets.get_mut(&mut handle);
        let (priority, size) = (packet.header.priority, packet.header.size);
        let marks = self.common.marks_at_enqueue;
        self.egress(out).joins(now, marks, packet);
        self.ports[out].enqueue(window.packets, priority, size, handle);
        self.joined(out, priority, now);
    }

    /// A packet joined a queue of `port` at `now`.
    #[inline]
    pub(super) fn joined(&mut self, port: usize, priority: u8, now: Time) {
        // A port that already had something to send sends next when it would have.
        let this = &mut self.ports[port];
        if self.due.at(port) == Time::NEVER && this.paused & 1 << priority == 0 {
            this.free_at = this.free_at.max(now);
            self.due.set(port, this.free_at);
            self.becomes_due(port);
        }
        self.look_at(port);
    }

    /// Keeps the view of a port up to date.
    #[inline]
    fn look_at(&mut self, port: usize) {
        if Self::STRICT {
            self.views[port] = self.ports[port].view_without_packet(port);
        }
    }

    /// What may leave `port` changed at `now`.
    fn refresh(&mut self, port: usize, now: Time) {
        let this = &mut self.ports[port];
        // A wire that was idle until now is free from now: nothing can begin in the past.
        this.free_at = this.free_at.max(now);
        let due = if this.open() == 0 { Time::NEVER } else { this.free_at };
        self.due.set(port, due);
        if !Self::STRICT {
            self.becomes_due(port);
        }
        self.look_at(port);
    }

    /// Has `port` begin to send its next packet, at the time it is due.
    pub(super) fn depart(&mut self, window: &mut Window<'_, '_, Packet<S>>, port: usize) {
        let now = self.due.at(port);
        let this = &mut self.ports[port];
        let queue = this.pick(window.packets, this.open(), None);
        let mut handle = this.dequeue(window.packets, queue);
        if queue == PFC {
            if let Some(recorder) = &mut self.recorder {
                let header = &window.packets.get(&handle).header;
                recorder.packet(now, port as u16, Happening::Dequeued, 0, header);
            }
            this.transmit_pfc(window, now, handle);
        } else {
            let packet = window.packets.get_mut(&mut handle);
            let on_the_wire = packet.header.on_the_wire();
            let marks = self.common.marks_at_dequeue;
            self.egress(port).leaves(now, marks, packet);
            if packet.header.ingress != NO_INGRESS {
                self.audit.departed += u64::from(packet.header.size);
                self.crossed -= u64::from(packet.header.size);
            }
            self.ports[port].transmit(window, now, on_the_wire, handle);
        }
        let this = &self.ports[port];
        let due = if this.open() == 0 { Time::NEVER } else { this.free_at };
        self.due.set(port, due);
        self.look_at(port);
        self.left(port, now);
    }

    pub(super) fn on_pfc(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: usize,
        header: &Header,
    ) {
        if !Self::STRICT {
            self.drain(window, port, now);
        }
        let changed = self.egress(port).hears_pfc(now, header);
        self.refresh(port, now);
        self.audit.unmatched_pfc += u64::from(!changed);
        if changed {
            self.egress(port).tells_pfc(now, header);
            self.apply_effects(window, now);
        }
    }

    pub(super) fn send_pfc(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: usize,
        priority: u8,
        pause: bool,
    ) {
        if !Self::STRICT {
            self.drain(window, port, now);
        }
        let frame = window.packets.insert(pfc_frame(priority, pause, self.common.pfc_bytes));
        if let Some(recorder) = &mut self.recorder {
            let header = &window.packets.get(&frame).header;
            recorder.packet(now, port as u16, Happening::Enqueued, 0, header);
        }
        self.ports[port].enqueue_pfc(window.packets, frame, pause);
        self.refresh(port, now);
    }

    /// Does what the hooks asked for.
    #[inline]
    pub(super) fn apply_effects(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        if LevelOf::<S>::EMITS && !self.effects.is_empty() {
            self.apply_all(window, now);
        }
    }

    #[cold]
    fn apply_all(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        // Effects of effects (an enqueue hook that sends) are collected meanwhile.
        while !self.effects.is_empty() {
            let mut effects = std::mem::take(&mut self.effects);
            for effect in effects.drain(..) {
                self.apply(window, now, effect);
            }
            if self.effects.is_empty() {
                self.effects = effects;
            }
        }
    }

    /// What the switch sends itself joins the queue of its output at once.
    fn apply(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        effect: SwitchEffect<S::Ctl>,
    ) {
        match Made::of(&self.common, effect) {
            Made::ToHost(packet) => {
                let out = self.choose(&packet, now, false);
                let handle = window.packets.insert(packet);
                self.enqueue(window, now, out, handle);
            }
            Made::ToLink(port, packet) => {
                let handle = window.packets.insert(packet);
                self.enqueue(window, now, port, handle);
            }
            Made::Wake(_) => self.look_again(now),
        }
    }
}
