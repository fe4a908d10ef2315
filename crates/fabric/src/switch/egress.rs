//! What every kind of switch does with a packet at the queues of a port: when it joins one and when
//! it leaves.

use crate::compat::mrg::MarkDraws;
use crate::hooks::EnqueuesOf;
use crate::observe::recorder::{PacketEventKind, Recorder};
use crate::packet::{EcnCodePoint, Packet, PacketKind, Scheme};
use crate::port::Port;
use crate::port::red::Red;
use schemes::contract::{Cp, Departure, EnqueueSlot, FullCx, Level, PortView, SwitchEffects};
use units::{Priority, Time};

/// The level of the congestion point of scheme `S`.
pub(crate) type LevelOf<S> = <<S as Scheme>::Cp as Cp<S>>::Level;

/// A port of a switch with all that acts on its packets.
pub(crate) struct Egress<'a, S: Scheme> {
    pub(crate) number: usize,
    pub(crate) port: &'a mut Port,
    /// RED; `None` if nothing is marked.
    pub(crate) red: Option<&'a mut Red>,
    /// The generator that marks are drawn from, if it is not one of each port.
    pub(crate) draws: Option<&'a mut MarkDraws>,
    /// The congestion point and its state of the port.
    pub(crate) cp: Option<(&'a mut S::Cp, &'a mut <S::Cp as Cp<S>>::Port)>,
    pub(crate) effects: &'a mut SwitchEffects<S::Ctl>,
    /// All ports as the scheme sees them, if the order is strict.
    pub(crate) views: &'a Vec<PortView>,
    pub(crate) recorder: Option<&'a mut Recorder>,
}

impl<S: Scheme> Egress<'_, S> {
    /// Lets RED mark a packet that sees `queue` bytes.
    #[inline(always)]
    pub(crate) fn mark(&mut self, queue: u64, priority: u8, packet: &mut Packet<S>, now: Time) {
        if packet.header.kind == PacketKind::Data
            && self.cp.as_ref().is_none_or(|(cp, state)| {
                let view = self.port.view(self.number, priority);
                cp.may_mark(state, &view, packet, now)
            })
            && self
                .red
                .as_mut()
                .is_some_and(|red| red.marks(queue, priority, self.draws.as_deref_mut()))
        {
            packet.header.code_point = EcnCodePoint::CongestionExperienced;
            self.port.counters.ecn_marked_packets += 1;
        }
    }

    /// Handles a packet that is about to join a queue. `marks`: RED decides now.
    #[inline(always)]
    pub(crate) fn on_enqueue(&mut self, now: Time, marks: bool, packet: &mut Packet<S>) {
        if marks {
            let (priority, size) = (packet.header.priority, packet.header.size);
            let queue = self.port.class_bytes(priority) + u64::from(size);
            self.mark(queue, priority, packet, now);
        }
        self.record_enqueue(now, packet);
        self.notify_enqueue(now, packet);
    }

    /// Records that a packet is about to join a queue.
    #[inline(always)]
    pub(crate) fn record_enqueue(&mut self, now: Time, packet: &Packet<S>) {
        if let Some(recorder) = &mut self.recorder {
            let (bytes, number) = (self.port.class_bytes(packet.header.priority), self.number);
            recorder.packet(now, number as u16, PacketEventKind::Enqueued, bytes, &packet.header);
            let Port { free_at, queue_bytes, .. } = *self.port;
            recorder.queue_changes(now, number, queue_bytes, free_at < now);
        }
    }

    /// Calls the scheme's enqueue hook for a packet that is about to join a queue of this port.
    #[inline(always)]
    pub(crate) fn notify_enqueue(&mut self, now: Time, packet: &mut Packet<S>) {
        if let Some((cp, state)) = &mut self.cp {
            let view = self.port.view(self.number, packet.header.priority);
            let full = FullCx::new(now, self.effects, self.views);
            let mut cx = LevelOf::<S>::arrive(full);
            EnqueuesOf::<S>::on_enqueue(cp, &mut cx, state, &view, packet);
        }
    }

    /// Handles a packet that begins to leave. It is not a PFC frame. `marks`: RED decides now.
    #[inline(always)]
    pub(crate) fn on_dequeue(&mut self, now: Time, marks: bool, packet: &mut Packet<S>) {
        let (kind, priority, size) = packet.header.kind_priority_size();
        if let Some(recorder) = &mut self.recorder {
            let Port { last_departure, queue_bytes, .. } = *self.port;
            recorder.packet_leaves(now, self.number, queue_bytes, last_departure);
        }
        self.port.count_out(priority, size);
        if marks {
            self.mark(self.port.class_bytes(priority), priority, packet, now);
            if kind != PacketKind::Data
                && let Some(draws) = &mut self.draws
                && let Some(red) = &mut self.red
            {
                // The HPCC simulator draws for ACKs, too. Their marks mean nothing.
                red.marks(self.port.class_bytes(priority), priority, Some(draws));
            }
        }
        self.notify_dequeue(now, packet);
        if let Some(recorder) = &mut self.recorder {
            let (bytes, number) = (self.port.class_bytes(priority), self.number);
            recorder.packet(now, number as u16, PacketEventKind::Dequeued, bytes, &packet.header);
        }
    }

    /// Calls the scheme's hook for a packet that begins to leave.
    #[inline(always)]
    pub(crate) fn notify_dequeue(&mut self, now: Time, packet: &mut Packet<S>) {
        if let Some((cp, state)) = &mut self.cp {
            let view = self.port.view(self.number, packet.header.priority);
            let departure = Departure { now, effects: self.effects, views: self.views };
            let mut cx = LevelOf::<S>::depart(departure);
            cp.on_depart(&mut cx, state, &view, packet);
        }
    }

    /// Calls the scheme's hook for a packet that waited and is dropped.
    pub(crate) fn notify_drop(&mut self, now: Time, packet: &Packet<S>) {
        if let Some((cp, state)) = &mut self.cp {
            let view = self.port.view(self.number, packet.header.priority);
            let full = FullCx::new(now, self.effects, self.views);
            cp.on_drop(&mut LevelOf::<S>::arrive(full), state, &view, packet);
        }
    }

    /// Calls the scheme's hook for a priority that the peer has paused or resumed.
    pub(crate) fn notify_pfc(&mut self, now: Time, priority: u8, paused: bool) {
        if let Some((cp, state)) = &mut self.cp {
            let view = self.port.view(self.number, priority);
            let full = FullCx::new(now, self.effects, self.views);
            let mut cx = LevelOf::<S>::arrive(full);
            cp.on_pfc(&mut cx, state, &view, Priority::new(priority), paused);
        }
    }
}
