//! An output-queued switch with a shared buffer.
//!
//! # In which order things happen
//! Arrivals at t come before timers at t, timers before departures at t, departures before probes.
//! Departures are not events: before a port is touched at t, it is *drained*, that is, it sends what
//! it would have sent before t. That is exact as long as no departure can act on another port.
//! Where one can, because an ingress has its peer paused (each departure may be the one that ends
//! the pause) or because the scheme's congestion point is [`Strict`](schemes::contract::Strict),
//! departures are worked one by one in time order. The buffer's counters are upper bounds while
//! ports lag behind; when a bound comes near a limit, all ports catch up first.

use crate::common::Common;
use crate::due::Due;
use crate::mmu::{Admission, Mmu};
use crate::packet::{
    Body, CodePoint, Header, Kind, NO_INGRESS, Packet, Scheme, blank, is_pause, pfc_frame,
};
use crate::port::Port;
use crate::probe::PortProbes;
use crate::red::Red;
use crate::scheduler::PFC;
use crate::sub_queue::SubQueues;
use engine::{Handle, Window};
use schemes::contract::{
    Cp, Departure, Full, Level, Order, PortView, Ports, Room, SwitchEffect, SwitchFx, Target,
    Verdict,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use units::{PortId, Priority, Time};

/// The level of scheme `S`'s congestion point.
type LevelOf<S> = <<S as Scheme>::Cp as Cp<S>>::Level;

/// A packet dropped for want of room in a class that PFC should have kept from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LosslessDrop {
    /// When.
    pub time: Time,
    /// At which node.
    pub node: u32,
    /// Through which port it came.
    pub port: u16,
    /// Its priority.
    pub priority: u8,
    /// The message that it belonged to.
    pub flow: u32,
    /// Its size on the wire.
    pub size: u16,
    /// What was full.
    pub reason: &'static str,
}

/// What went into and out of a switch, in bytes, PFC frames and its own packets not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchAudit {
    /// Bytes that arrived.
    pub arrived: u64,
    /// Bytes that left.
    pub departed: u64,
    /// Bytes dropped for want of room, or by the congestion point, or taken in by it.
    pub removed: u64,
    /// Bytes still there at the end.
    pub stored: u64,
    /// Packets dropped in lossless classes.
    pub lossless_drops: u64,
    /// Packets that the switch made itself and that found no room.
    pub own_drops: u64,
    /// PFC frames that repeated the state they found.
    pub unmatched_pfc: u64,
}

/// How many lossless drops a switch lists; all are counted.
const DROPS_LISTED: usize = 16;

/// A switch.
pub(crate) struct Switch<S: Scheme> {
    common: Arc<Common<S>>,
    node: u32,
    pub(crate) ports: Vec<Port>,
    /// When each port's next packet begins.
    due: Due,
    mmu: Mmu,
    red: Vec<Red>,
    cp: Option<S::Cp>,
    cp_ports: Vec<<S::Cp as Cp<S>>::Port>,
    effects: SwitchFx<S::Ctl>,
    /// All ports as the scheme sees them; kept where the order is strict.
    views: Vec<PortView>,
    sub_queues: Vec<SubQueues>,
    /// Shapers or gates have a say in what leaves.
    gated: bool,
    /// Nothing has a say in what leaves but priorities and pauses, and joining a queue has no
    /// effects: an idle port may pass packets on at once.
    plain: bool,
    /// Its row in the table of routes.
    row: u32,
    held: BinaryHeap<Reverse<Held>>,
    holds: u64,
    pub(crate) probes: PortProbes,
    pub(crate) drops_listed: Vec<LosslessDrop>,
    pub(crate) audit: SwitchAudit,
}

/// A packet that waits for its congestion point's verdict to run out.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    until: Time,
    order: u64,
    in_port: u16,
    handle: Handle,
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Held {
    fn cmp(&self, other: &Held) -> std::cmp::Ordering {
        (self.until, self.order).cmp(&(other.until, other.order))
    }
}

impl<S: Scheme> Switch<S> {
    #[expect(clippy::too_many_arguments, reason = "made in one place")]
    pub(crate) fn new(
        common: Arc<Common<S>>,
        node: u32,
        ports: Vec<Port>,
        mmu: Mmu,
        red: Vec<Red>,
        cp: Option<S::Cp>,
        cp_ports: Vec<<S::Cp as Cp<S>>::Port>,
        probes: PortProbes,
    ) -> Switch<S> {
        let count = ports.len();
        let strict = LevelOf::<S>::ORDER == Order::Strict;
        let views = if strict {
            ports
                .iter()
                .enumerate()
                .map(|(number, port)| port.view_without_packet(number))
                .collect()
        } else {
            Vec::new()
        };
        let sub_queues = if <S::Cp as Cp<S>>::SUB_QUEUES && cp.is_some() {
            assert!(strict, "a congestion point with sub-queues works in strict order");
            (0..count).map(|_| SubQueues::default()).collect()
        } else {
            Vec::new()
        };
        let gated = !sub_queues.is_empty() || ports.iter().any(Port::is_shaped);
        Switch {
            node,
            gated,
            plain: !gated
                && !LevelOf::<S>::EMITS
                && !common.marks_at_enqueue
                && common.rooms.iter().all(|room| *room == Room::Lossless),
            row: common.routes.row(node),
            common,
            ports,
            due: Due::new(count),
            mmu,
            red,
            cp,
            cp_ports,
            effects: Vec::new(),
            views,
            sub_queues,
            held: BinaryHeap::new(),
            holds: 0,
            probes,
            drops_listed: Vec::new(),
            audit: SwitchAudit::default(),
        }
    }

    pub(crate) fn advance(&mut self, window: &mut Window<'_, '_, Packet<S>>) -> Time {
        let until = window.until();
        loop {
            if self.works_in_order() {
                self.depart_in_order(window, until);
                if !self.works_in_order() {
                    continue;
                }
            } else {
                // Nothing but arrivals happens until then, unless one of them sets a timer (it is
                // held, or has the congestion point want to be woken).
                let quiet = self.next_timer().min(self.probes.next());
                while let Some((time, port, handle)) = window.next_arrival_by(quiet) {
                    self.on_arrival_inlined(window, time, port, handle);
                    if LevelOf::<S>::EMITS || self.next_timer() < quiet || self.works_in_order() {
                        break;
                    }
                }
                if self.works_in_order() {
                    continue;
                }
            }
            let arrival = window.next_arrival_time();
            let (timer, probe) = (self.next_timer(), self.probes.next());
            let next = arrival.min(timer).min(probe);
            if next >= until {
                break;
            }
            if next == arrival {
                let (time, port, handle) = window.next_arrival().expect("there is one");
                self.on_arrival(window, time, port, handle);
            } else if next == timer {
                self.on_timer(window, timer);
            } else {
                self.drain_all(window, probe + Time::from_ps(1));
                self.sample(probe);
            }
        }
        let departure = self.drain_all(window, until);
        departure.min(self.next_timer()).min(self.probes.next())
    }

    /// Works the departures that come before anything else, in time order, as long as that is asked
    /// for.
    fn depart_in_order(&mut self, window: &mut Window<'_, '_, Packet<S>>, until: Time) {
        let limit = window.next_arrival_time().min(until);
        let probe = self.probes.next();
        while self.works_in_order() {
            let (due, port) = self.due.earliest();
            if due >= limit || due >= self.next_timer() || due > probe {
                return;
            }
            self.depart(window, port);
        }
    }

    /// Whether departures must be worked one by one in time order.
    #[inline]
    fn works_in_order(&self) -> bool {
        self.mmu.is_pausing() || (LevelOf::<S>::ORDER == Order::Strict && self.cp.is_some())
    }

    #[inline]
    fn next_timer(&self) -> Time {
        let cp = self.cp.as_ref().map_or(Time::NEVER, |cp| cp.next_timer());
        let held = self.held.peek().map_or(Time::NEVER, |Reverse(held)| held.until);
        cp.min(held)
    }

    /// Has `port` send what it sends before `time`.
    #[inline]
    fn drain(&mut self, window: &mut Window<'_, '_, Packet<S>>, port: usize, time: Time) {
        while self.due.at(port) < time {
            self.depart(window, port);
        }
    }

    /// Has all ports send what they send before `time`; returns when the next packet leaves after.
    fn drain_all(&mut self, window: &mut Window<'_, '_, Packet<S>>, time: Time) -> Time {
        while self.works_in_order() {
            let (due, port) = self.due.earliest();
            if due >= time {
                return due;
            }
            self.depart(window, port);
        }
        let (mut next, mut from) = (Time::NEVER, 0);
        while let Some(port) = self.due.next_busy(from) {
            self.drain(window, port, time);
            next = next.min(self.due.at(port));
            from = port + 1;
        }
        next
    }

    /// What may leave `port` changed at `now`; it has been drained to `now`.
    fn refresh(&mut self, window: &Window<'_, '_, Packet<S>>, port: usize, now: Time) {
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
    fn joined(&mut self, window: &Window<'_, '_, Packet<S>>, port: usize, priority: u8, now: Time) {
        if self.gated {
            return self.refresh(window, port, now);
        }
        // A port that already had something to send sends next when it would have.
        let this = &mut self.ports[port];
        if self.due.at(port) == Time::NEVER && this.paused & 1 << priority == 0 {
            this.free_at = this.free_at.max(now);
            self.due.set(port, this.free_at);
        }
    }

    /// Sets when the next packet of `port` begins, where shapers or gates have a say.
    #[cold]
    fn schedule_gated(&mut self, window: &Window<'_, '_, Packet<S>>, port: usize, now: Time) {
        let this = &self.ports[port];
        let own = this.open();
        let due = if self.sub_queues.is_empty() {
            this.due(own)
        } else {
            let cp = self.cp.as_ref().expect("sub-queues belong to a congestion point");
            let at = this.free_at.max(now);
            let (open, wait) =
                self.sub_queues[port].open(window.packets, this.paused, |queue, head| {
                    cp.gate(&self.cp_ports[port], queue, head, at)
                });
            let ready = this.due(own | u16::from(open));
            if wait == Time::NEVER { ready } else { ready.min(wait.max(at)) }
        };
        self.due.set(port, due);
    }

    #[inline(never)]
    fn on_arrival(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        handle: Handle,
    ) {
        self.on_arrival_inlined(window, now, in_port, handle);
    }

    /// A packet arrived, or is looked at again after it was held. Inlined where most packets come.
    #[inline(always)]
    fn on_arrival_inlined(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        packet.header.ingress = in_port;
        if packet.header.kind == Kind::Pfc {
            let header = window.packets.remove(handle).header;
            return self.on_pfc(window, now, in_port as usize, &header);
        }
        let size = u64::from(packet.header.size);
        let link_control = packet.header.kind == Kind::LinkCtl;
        self.audit.arrived += size;
        match self.verdict(now, in_port, packet) {
            Verdict::Forward if !link_control => self.forward(window, now, in_port, handle),
            Verdict::Forward | Verdict::Consume => {
                self.audit.removed += size;
                window.packets.discard(handle);
            }
            Verdict::Drop => self.discard(window, in_port, handle),
            Verdict::Hold(until) => self.hold_arrival(window, now, in_port, until, handle),
        }
        self.apply_effects(window, now);
    }

    #[inline]
    fn verdict(&mut self, now: Time, in_port: u16, packet: &mut Packet<S>) -> Verdict {
        match &mut self.cp {
            None => Verdict::Forward,
            Some(cp) => {
                let full = Full::new(now, &mut self.effects, &self.views);
                let mut cx = LevelOf::<S>::arrive(full);
                cp.on_arrival(&mut cx, PortId::new(in_port), packet)
            }
        }
    }

    /// A packet that just arrived waits; it takes its room in the buffer now.
    #[cold]
    fn hold_arrival(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        until: Time,
        handle: Handle,
    ) {
        self.drain_all(window, now);
        let header = window.packets.get(&handle).header;
        match self.mmu.admit(in_port, header.priority, u64::from(header.size)) {
            Admission::Stored => self.hold(now, in_port, until, handle),
            Admission::StoredPause => {
                self.hold(now, in_port, until, handle);
                self.send_pfc(window, now, in_port as usize, header.priority, true);
            }
            refused => {
                self.discard(window, in_port, handle);
                self.refuse(now, in_port, &header, refused);
            }
        }
    }

    fn hold(&mut self, now: Time, in_port: u16, until: Time, handle: Handle) {
        self.holds += 1;
        let (order, until) = (self.holds, until.max(now + Time::from_ps(1)));
        self.held.push(Reverse(Held { until, order, in_port, handle }));
    }

    /// A packet that waited is looked at again; it has its room in the buffer.
    fn on_held(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        let header = packet.header;
        match self.verdict(now, in_port, packet) {
            Verdict::Forward => {
                let out = self.choose(window, now, &handle);
                self.enqueue(window, now, in_port, out, handle);
            }
            Verdict::Hold(until) => self.hold(now, in_port, until, handle),
            verdict @ (Verdict::Consume | Verdict::Drop) => {
                self.drain_all(window, now);
                let size = u64::from(header.size);
                if self.mmu.release(in_port, header.priority, size) {
                    self.send_pfc(window, now, in_port as usize, header.priority, false);
                }
                if verdict == Verdict::Drop {
                    self.discard(window, in_port, handle);
                } else {
                    self.audit.removed += size;
                    window.packets.discard(handle);
                }
            }
        }
        self.apply_effects(window, now);
    }

    fn on_pfc(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: usize,
        header: &Header,
    ) {
        self.drain(window, port, now);
        let pause = is_pause(header);
        let changed = self.ports[port].set_paused(header.priority, pause, now);
        self.refresh(window, port, now);
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

    /// Sends a packet that came through `in_port` on its way.
    #[inline(always)]
    fn forward(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        handle: Handle,
    ) {
        let out = self.choose(window, now, &handle);
        let header = &window.packets.get(&handle).header;
        let (priority, size) = (header.priority, u64::from(header.size));
        if !self.plain && !self.has_room(window, now, out, priority) {
            return self.discard(window, in_port, handle);
        }
        if in_port == NO_INGRESS {
            return self.enqueue(window, now, in_port, out, handle);
        }
        if self.mmu.is_far_from_limits(in_port, priority, size) {
            if self.passes_through(window, now, in_port, out, priority) {
                return self.pass_through(window, now, out, handle);
            }
            self.mmu.store(in_port, priority, size);
            return self.enqueue(window, now, in_port, out, handle);
        }
        self.forward_near_limits(window, now, in_port, out, handle);
    }

    /// The port through which a packet goes on.
    #[inline(always)]
    fn choose(&mut self, window: &Window<'_, '_, Packet<S>>, now: Time, handle: &Handle) -> usize {
        let packet = window.packets.get(handle);
        let header = &packet.header;
        let candidates = self.common.routes.candidates_in(self.row, header.destination());
        let chosen = self.cp.as_mut().and_then(|cp| {
            let full = Full::new(now, &mut self.effects, &self.views);
            cp.route(&mut LevelOf::<S>::arrive(full), packet, candidates)
        });
        let hash = header.address.hash;
        chosen.unwrap_or_else(|| self.common.routes.ecmp(self.node, candidates, hash)).index()
    }

    /// Sends a packet on its way that may pause its ingress, or find no room.
    #[cold]
    fn forward_near_limits(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        out: usize,
        handle: Handle,
    ) {
        // The counters are upper bounds while ports lag behind: have them catch up.
        self.drain_all(window, now);
        let header = window.packets.get(&handle).header;
        let priority = header.priority;
        match self.mmu.admit(in_port, priority, u64::from(header.size)) {
            Admission::Stored => self.enqueue(window, now, in_port, out, handle),
            Admission::StoredPause => {
                self.enqueue(window, now, in_port, out, handle);
                self.send_pfc(window, now, in_port as usize, priority, true);
            }
            refused => {
                self.discard(window, in_port, handle);
                self.refuse(now, in_port, &header, refused);
            }
        }
    }

    /// Whether a drop-tail class of `out` takes another packet.
    #[cold]
    fn has_room(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        out: usize,
        priority: u8,
    ) -> bool {
        let Room::DropTail(limit) = self.common.rooms[priority as usize] else { return true };
        self.drain(window, out, now);
        self.ports[out].class_packets(priority) < limit
    }

    /// Drops a packet that came through `in_port`, or was made here.
    #[cold]
    fn discard(&mut self, window: &mut Window<'_, '_, Packet<S>>, in_port: u16, handle: Handle) {
        let header = window.packets.remove(handle).header;
        if in_port != NO_INGRESS {
            self.ports[in_port as usize].counters.dropped_packets += 1;
            self.audit.removed += u64::from(header.size);
        } else {
            self.audit.own_drops += 1;
        }
    }

    /// Whether a packet that arrives now would leave `out` now, whatever else happens at this
    /// instant: then it need not be queued. While some ingress pauses its peer, no other port may
    /// send at this instant, and this packet's departure must not end a pause.
    #[inline]
    fn passes_through(
        &self,
        window: &Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        out: usize,
        priority: u8,
    ) -> bool {
        self.plain
            && self.due.at(out) == Time::NEVER
            && self.ports[out].is_idle(priority, now)
            && window.next_arrival_time() > now
            && self.next_timer() > now
            && (!self.mmu.is_pausing()
                || (!self.mmu.pauses(in_port, priority) && self.due.earliest().0 > now))
    }

    /// Sends a packet on at the instant it arrives. The same as [`enqueue`](Self::enqueue) and
    /// [`depart`](Self::depart) of an empty port; RED does not mark where nothing is left waiting.
    #[inline]
    fn pass_through(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        out: usize,
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        let port = &mut self.ports[out];
        port.count_through(packet.header.size);
        if let Some(cp) = &mut self.cp {
            let state = &mut self.cp_ports[out];
            let view = port.view(out, packet.header.priority);
            let full = Full::new(now, &mut self.effects, &self.views);
            cp.on_enqueue(&mut LevelOf::<S>::arrive(full), state, &view, packet);
            let departure = Departure { now, effects: &mut self.effects, views: &self.views };
            cp.on_depart(&mut LevelOf::<S>::depart(departure), state, &view, packet);
        }
        let header = packet.header;
        self.audit.departed += u64::from(header.size);
        port.transmit(window, now, &header, handle);
    }

    /// Lists a drop that PFC should have prevented.
    #[cold]
    fn refuse(&mut self, time: Time, port: u16, header: &Header, refused: Admission) {
        let priority = header.priority;
        if !self.mmu.is_lossless(priority) {
            return;
        }
        self.audit.lossless_drops += 1;
        if self.drops_listed.len() < DROPS_LISTED {
            let reason = match refused {
                Admission::HeadroomFull => "headroom full",
                _ => "buffer full",
            };
            let node = self.node;
            let (flow, size) = (header.address.flow, header.size);
            self.drops_listed.push(LosslessDrop { time, node, port, priority, flow, size, reason });
        }
    }

    /// Adds a packet to a queue of `out`.
    fn enqueue(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        out: usize,
        mut handle: Handle,
    ) {
        self.drain(window, out, now);
        let packet = window.packets.get_mut(&mut handle);
        let (priority, size) = (packet.header.priority, packet.header.size);
        let port = &mut self.ports[out];
        if self.common.marks_at_enqueue && packet.header.kind == Kind::Data {
            let queue = port.class_bytes(priority) + u64::from(size);
            mark(&mut self.red[out], queue, packet, port);
        }
        let mut sub_queue = 0;
        if let Some(cp) = &mut self.cp {
            let view = port.view(out, priority);
            let full = Full::new(now, &mut self.effects, &self.views);
            let mut cx = LevelOf::<S>::arrive(full);
            cp.on_enqueue(&mut cx, &mut self.cp_ports[out], &view, packet);
            if !self.sub_queues.is_empty() {
                sub_queue = cp.sub_queue(PortId::new(in_port), PortId::new(out as u16), packet);
            }
        }
        if sub_queue == 0 {
            port.enqueue(window.packets, priority, size, handle);
        } else {
            port.count_in(priority, size);
            self.sub_queues[out].push(window.packets, sub_queue, priority, handle);
        }
        self.joined(window, out, priority, now);
        if LevelOf::<S>::ORDER == Order::Strict && !self.views.is_empty() {
            self.views[out] = self.ports[out].view_without_packet(out);
        }
    }

    fn send_pfc(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: usize,
        priority: u8,
        pause: bool,
    ) {
        let frame = window.packets.insert(pfc_frame(priority, pause, self.common.pfc_bytes));
        self.drain(window, port, now);
        self.ports[port].enqueue_pfc(window.packets, frame, pause);
        self.refresh(window, port, now);
    }

    /// Has `port` begin to send its next packet, at the time it is due.
    fn depart(&mut self, window: &mut Window<'_, '_, Packet<S>>, port: usize) {
        let now = self.due.at(port);
        let (queue, mut handle) = if self.gated {
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
        let packet = window.packets.get_mut(&mut handle);
        let this = &mut self.ports[port];
        if queue != PFC {
            let (priority, size) = (packet.header.priority, packet.header.size);
            this.count_out(priority, size);
            if self.common.marks_at_dequeue && packet.header.kind == Kind::Data {
                mark(&mut self.red[port], this.class_bytes(priority), packet, this);
            }
            if let Some(cp) = &mut self.cp {
                let view = this.view(port, priority);
                let departure = Departure { now, effects: &mut self.effects, views: &self.views };
                let mut cx = LevelOf::<S>::depart(departure);
                cp.on_depart(&mut cx, &mut self.cp_ports[port], &view, packet);
            }
        }
        let header = packet.header;
        this.transmit(window, now, &header, handle);
        if self.gated {
            self.schedule_gated(window, port, now);
        } else {
            let due = if this.open() == 0 { Time::NEVER } else { this.free_at };
            self.due.set(port, due);
        }
        if queue != PFC && header.ingress != NO_INGRESS {
            let size = u64::from(header.size);
            self.audit.departed += size;
            if self.mmu.release(header.ingress, header.priority, size) {
                self.send_pfc(window, now, header.ingress as usize, header.priority, false);
            }
        }
        if LevelOf::<S>::ORDER == Order::Strict && !self.views.is_empty() {
            self.views[port] = self.ports[port].view_without_packet(port);
            self.apply_effects(window, now);
        }
    }

    /// Takes the next packet of `port` where shapers or gates have a say, if one may go, and tells
    /// of which queue it was.
    #[cold]
    fn take_gated(
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
        let (ready, _) = sub_queues.open(packets, this.paused, gate);
        let from_sub_queues = this.unshaped(u16::from(ready), now);
        open |= from_sub_queues;
        if open == 0 {
            return None;
        }
        // Sub-queues are alike in their share whatever the size of their heads.
        let queue = this.pick(packets, open, Some(self.common.full_packet));
        let turn =
            from_sub_queues & 1 << queue != 0 && sub_queues.takes_turn(queue, this.has(queue));
        let handle =
            if turn { sub_queues.pop(packets, queue, gate) } else { this.dequeue(packets, queue) };
        Some((queue, handle))
    }

    fn on_timer(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        while let Some(Reverse(held)) = self.held.peek()
            && held.until <= now
        {
            let Reverse(held) = self.held.pop().expect("just seen");
            self.on_held(window, now, held.in_port, held.handle);
        }
        if self.cp.as_ref().is_some_and(|cp| cp.next_timer() <= now) {
            self.drain_all(window, now);
            let views: Vec<PortView> = self
                .ports
                .iter()
                .enumerate()
                .map(|(number, port)| port.view_without_packet(number))
                .collect();
            let cp = self.cp.as_mut().expect("just seen");
            let full = Full::new(now, &mut self.effects, &views);
            let mut cx = LevelOf::<S>::arrive(full);
            cp.on_timer(&mut cx, &mut AllPorts { states: &mut self.cp_ports, views: &views });
            drop(cx);
            assert!(cp.next_timer() > now, "a congestion point's timer must move on");
            self.apply_effects(window, now);
        }
    }

    /// Does what the hooks asked for.
    #[inline]
    fn apply_effects(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        if LevelOf::<S>::EMITS && !self.effects.is_empty() {
            self.apply(window, now);
        }
    }

    fn apply(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            match effect {
                SwitchEffect::ToHost(mut address, target, ctl) => {
                    if target == Target::Source {
                        address.hash = self.common.hash_back(&address);
                    }
                    let mut header = self.control_header(Kind::Ctl, &ctl);
                    header.address = address;
                    header.to_source = target == Target::Source;
                    let handle = window.packets.insert(Packet { header, body: Body::Ctl(ctl) });
                    self.forward(window, now, NO_INGRESS, handle);
                }
                SwitchEffect::ToLink(port, ctl) => {
                    let header = self.control_header(Kind::LinkCtl, &ctl);
                    let handle = window.packets.insert(Packet { header, body: Body::Ctl(ctl) });
                    self.enqueue(window, now, NO_INGRESS, port.index(), handle);
                }
                SwitchEffect::Wake(port) => {
                    self.drain(window, port.index(), now);
                    self.refresh(window, port.index(), now);
                }
            }
        }
        // Effects of effects (an enqueue hook that sends) were collected meanwhile.
        if self.effects.is_empty() {
            self.effects = effects;
        } else {
            self.apply_effects(window, now);
        }
    }

    fn control_header(&self, kind: Kind, ctl: &S::Ctl) -> Header {
        let priority = S::ctl_priority(&self.common.params, ctl);
        let priority = priority.map_or(self.common.classes.control, Priority::get);
        let size = self.common.wire.control_bytes(S::ctl_bytes(ctl)) as u16;
        blank(kind, Default::default(), priority, size)
    }

    fn sample(&mut self, now: Time) {
        let states = &self.cp_ports;
        let cp = self.cp.as_ref();
        let ports = &self.ports;
        self.probes.sample(now, |port| &ports[port], |port| cp?.observe(&states[port], now));
    }

    /// The audit at the end of a run.
    pub(crate) fn final_audit(&self) -> SwitchAudit {
        SwitchAudit { stored: self.mmu.used(), ..self.audit }
    }
}

/// All ports of a switch, for a timer hook.
struct AllPorts<'a, P> {
    states: &'a mut [P],
    views: &'a [PortView],
}

impl<P> Ports<P> for AllPorts<'_, P> {
    fn count(&self) -> usize {
        self.views.len()
    }
    fn port(&mut self, port: PortId) -> (&mut P, &PortView) {
        (&mut self.states[port.index()], &self.views[port.index()])
    }
}

/// Marks a packet that sees `queue` bytes, where RED says so.
#[inline]
fn mark<S: Scheme>(red: &mut Red, queue: u64, packet: &mut Packet<S>, port: &mut Port) {
    if red.marks(queue) {
        packet.header.code_point = CodePoint::CongestionExperienced;
        port.counters.ecn_marked_packets += 1;
    }
}
