//! What a CIOQ switch sends: its output queues, PFC frames, packets of its own.

use super::{CioqSwitch, LevelOf};
use crate::packet::{Body, Header, Kind, NO_INGRESS, Packet, Scheme, is_pause, pfc_frame};
use crate::record::Happening;
use crate::scheduler::PFC;
use crate::switch::{control_header, mark};
use engine::{Handle, Window};
use schemes::contract::{Cp, Departure, Full, Level, SwitchEffect, Target};
use units::{Priority, Time};

impl<S: Scheme> CioqSwitch<S> {
    /// Has `port` send what it sends before `time`.
    #[inline]
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
        let port = &mut self.ports[out];
        if let Some(recorder) = &mut self.recorder {
            let bytes = port.class_bytes(priority);
            recorder.packet(now, out as u16, Happening::Enqueued, bytes, &packet.header);
            recorder.grows(now, out, port.queue_bytes);
        }
        if self.common.marks_at_enqueue
            && packet.header.kind == Kind::Data
            && self.cp.as_ref().is_none_or(|cp| {
                cp.may_mark(&self.cp_ports[out], &port.view(out, priority), packet, now)
            })
        {
            let queue = port.class_bytes(priority) + u64::from(size);
            mark(&mut self.red[out], None, queue, packet, port);
        }
        if let Some(cp) = &mut self.cp {
            let view = port.view(out, priority);
            let full = Full::new(now, &mut self.effects, &self.views);
            let mut cx = LevelOf::<S>::arrive(full);
            cp.on_enqueue(&mut cx, &mut self.cp_ports[out], &view, packet);
        }
        port.enqueue(window.packets, priority, size, handle);
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
        let packet = window.packets.get_mut(&mut handle);
        let (kind, priority, size) = packet.header.on_the_wire();
        if queue != PFC {
            if let Some(recorder) = &mut self.recorder {
                recorder.shrinks(now, port, this.queue_bytes);
            }
            this.count_out(priority, size);
            if self.common.marks_at_dequeue
                && kind == Kind::Data
                && self.cp.as_ref().is_none_or(|cp| {
                    cp.may_mark(&self.cp_ports[port], &this.view(port, priority), packet, now)
                })
            {
                mark(&mut self.red[port], None, this.class_bytes(priority), packet, this);
            }
            if let Some(cp) = &mut self.cp {
                let view = this.view(port, priority);
                let departure = Departure { now, effects: &mut self.effects, views: &self.views };
                let mut cx = LevelOf::<S>::depart(departure);
                cp.on_depart(&mut cx, &mut self.cp_ports[port], &view, packet);
            }
            if packet.header.ingress != NO_INGRESS {
                self.audit.departed += u64::from(size);
                self.crossed -= u64::from(size);
            }
        }
        if let Some(recorder) = &mut self.recorder {
            let bytes = if queue == PFC { 0 } else { this.class_bytes(priority) };
            recorder.packet(now, port as u16, Happening::Dequeued, bytes, &packet.header);
        }
        if queue == PFC {
            this.transmit_pfc(window, now, handle);
        } else {
            this.transmit(window, now, (kind, priority, size), handle);
        }
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
        let pause = is_pause(header);
        if let Some(recorder) = &mut self.recorder {
            recorder.pfc(now, port as u16, header.priority, pause);
        }
        let changed = self.ports[port].set_paused(header.priority, pause, now);
        self.refresh(port, now);
        self.audit.unmatched_pfc += u64::from(!changed);
        if changed && let Some(cp) = &mut self.cp {
            let view = self.ports[port].view(port, header.priority);
            let full = Full::new(now, &mut self.effects, &self.views);
            let mut cx = LevelOf::<S>::arrive(full);
            let priority = Priority::new(header.priority);
            cp.on_pfc(&mut cx, &mut self.cp_ports[port], &view, priority, pause);
            drop(cx);
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
        match effect {
            SwitchEffect::ToHost(mut address, target, ctl) => {
                if target == Target::Source {
                    address.hash = self.common.hash_back(&address);
                }
                let mut header = control_header(&self.common, Kind::Ctl, &ctl);
                header.address = address;
                header.to_source = target == Target::Source;
                let packet = Packet { header, body: Body::Ctl(ctl) };
                let out = self.choose(&packet, now, false);
                let handle = window.packets.insert(packet);
                self.enqueue(window, now, out, handle);
            }
            SwitchEffect::ToLink(port, ctl) => {
                let header = control_header(&self.common, Kind::LinkCtl, &ctl);
                let handle = window.packets.insert(Packet { header, body: Body::Ctl(ctl) });
                self.enqueue(window, now, port.index(), handle);
            }
            SwitchEffect::Wake(_) => self.look_again(now),
        }
    }
}
