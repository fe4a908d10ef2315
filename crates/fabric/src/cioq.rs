//! A combined input- and output-queued (CIOQ) switch: virtual output queues (VOQs) at the inputs, an
//! output queue at each port, and a crossbar between them that is faster than the links.
//!
//! A packet waits in the VOQ of its input, priority and output until the crossbar takes it to the
//! queue of its output, which holds so many bytes of each priority and then lets nothing more cross.
//! PFC looks at the input queues: an ingress pauses its peer by what waits in its VOQs.
//!
//! The crossbar takes a packet over at its speed-up times the rate of the fastest port. The packet
//! may begin to leave at once: the crossbar is not slower than any link. So an empty switch takes no
//! time, as the shared-memory switch, and ideal completion times hold for both.
//!
//! # In which order things happen
//! Everything is worked in time order. At the same instant arrivals come before timers, these before
//! departures, these before crossings, and probes last. What crosses to an idle port leaves at that
//! instant.

mod crossbar;
mod inputs;
mod port_set;

use crate::common::Common;
use crate::due::Due;
use crate::mmu::{Admission, Mmu};
use crate::network::Cioq;
use crate::packet::{Address, Body, Header, Kind, NO_INGRESS, Packet, Scheme, is_pause, pfc_frame};
use crate::port::Port;
use crate::probe::PortProbes;
use crate::record::{Happening, Recorder};
use crate::red::Red;
use crate::scheduler::PFC;
use crate::switch::{AllPorts, DROPS_LISTED, LosslessDrop, SwitchAudit, control_header, mark};
use crossbar::{Crossbar, Grant};
use engine::{Handle, Window};
use inputs::{Head, Inputs};
use port_set::{PortSets, following_but, next_but, next_in_both};
use schemes::contract::{
    Cp, Departure, Full, InputView, Level, PortView, SwitchEffect, SwitchFx, Target, Verdict,
};
use std::sync::Arc;
use units::{PortId, Priority, Time};

/// The level of scheme `S`'s congestion point.
type LevelOf<S> = <<S as Scheme>::Cp as Cp<S>>::Level;

/// What a free output would take from the inputs that are free.
enum Claim {
    Packet(Grant),
    /// There is one, for which its queue has no room.
    Full,
    Nothing,
}

/// A CIOQ switch.
pub(crate) struct CioqSwitch<S: Scheme> {
    common: Arc<Common<S>>,
    node: u32,
    /// Its row in the table of routes.
    row: u32,
    pub(crate) ports: Vec<Port>,
    /// When each port's next packet begins.
    due: Due,
    /// The first of them, where it is known.
    next_due: Option<(Time, usize)>,
    inputs: Inputs,
    crossbar: Crossbar,
    /// When a packet may cross that could not before.
    cross_at: Time,
    /// Outputs that may be matched yet at this instant.
    open: PortSets,
    /// Bytes of a priority that an input queue and an output queue hold.
    input_room: u64,
    output_room: u64,
    /// Counts the bytes of each ingress.
    mmu: Mmu,
    red: Vec<Red>,
    cp: Option<S::Cp>,
    cp_ports: Vec<<S::Cp as Cp<S>>::Port>,
    effects: SwitchFx<S::Ctl>,
    views: Vec<PortView>,
    pub(crate) probes: PortProbes,
    pub(crate) recorder: Option<Box<Recorder>>,
    pub(crate) drops_listed: Vec<LosslessDrop>,
    pub(crate) audit: SwitchAudit,
    /// Bytes that have crossed and not left.
    crossed: u64,
}

impl<S: Scheme> CioqSwitch<S> {
    #[expect(clippy::too_many_arguments, reason = "made in one place")]
    pub(crate) fn new(
        common: Arc<Common<S>>,
        node: u32,
        config: &Cioq,
        ports: Vec<Port>,
        mmu: Mmu,
        red: Vec<Red>,
        cp: Option<S::Cp>,
        cp_ports: Vec<<S::Cp as Cp<S>>::Port>,
        probes: PortProbes,
        recorder: Option<Box<Recorder>>,
    ) -> CioqSwitch<S> {
        let count = ports.len();
        let fastest = ports.iter().map(Port::rate).max().unwrap_or(units::Rate::ZERO);
        let rate = units::Rate::from_bps((fastest.bps() as f64 * config.speedup) as u64);
        CioqSwitch {
            row: common.routes.row(node, 0),
            due: Due::new(count),
            next_due: None,
            inputs: Inputs::new(count),
            crossbar: Crossbar::new(count, rate, common.classes.strict),
            cross_at: Time::NEVER,
            open: PortSets::new(1, count),
            input_room: config.input_queue.get(),
            output_room: config.output_queue.get(),
            views: ports
                .iter()
                .enumerate()
                .map(|(number, port)| port.view_without_packet(number))
                .collect(),
            common,
            node,
            ports,
            mmu,
            red,
            cp,
            cp_ports,
            effects: Vec::new(),
            probes,
            recorder,
            drops_listed: Vec::new(),
            audit: SwitchAudit::default(),
            crossed: 0,
        }
    }

    pub(crate) fn advance(&mut self, window: &mut Window<'_, '_, Packet<S>>) -> Time {
        let until = window.until();
        loop {
            let arrival = window.next_arrival_time();
            let timer = self.cp.as_ref().map_or(Time::NEVER, |cp| cp.next_timer());
            let (due, port) = *self.next_due.get_or_insert_with(|| self.due.earliest());
            let probe = self.probes.next();
            let own = timer.min(due).min(self.cross_at).min(probe);
            let next = arrival.min(own);
            if next >= until {
                return own;
            }
            if next == arrival {
                let (time, port, handle) = window.next_arrival().expect("there is one");
                self.on_arrival(window, time, port, handle);
            } else if next == timer {
                self.on_timer(window, timer);
            } else if next == due {
                self.depart(window, port);
            } else if next == self.cross_at {
                self.cross_all(window, next);
            } else {
                self.sample(probe);
            }
        }
    }

    fn on_arrival(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        packet.header.ingress = in_port;
        if let Some(recorder) = &mut self.recorder {
            recorder.packet(now, in_port, Happening::Received, 0, &packet.header);
        }
        if packet.header.kind == Kind::Pfc {
            let header = window.packets.remove(handle).header;
            return self.on_pfc(window, now, in_port as usize, &header);
        }
        let size = u64::from(packet.header.size);
        let link_control = packet.header.kind == Kind::LinkCtl;
        self.audit.arrived += size;
        let verdict = match &mut self.cp {
            None => Verdict::Forward,
            Some(cp) => {
                let full = Full::new(now, &mut self.effects, &self.views);
                cp.on_arrival(&mut LevelOf::<S>::arrive(full), PortId::new(in_port), packet)
            }
        };
        match verdict {
            Verdict::Forward if !link_control => self.admit(window, now, in_port, handle),
            Verdict::Forward | Verdict::Consume => {
                self.audit.removed += size;
                window.packets.discard(handle);
            }
            Verdict::Drop => self.discard(window, in_port, handle),
            Verdict::Hold(_) => unreachable!("refused when the network was built"),
        }
        self.apply_effects(window, now);
    }

    /// Gives a packet room in its input queue; pauses its ingress, or drops it, where the limits say
    /// so.
    fn admit(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        handle: Handle,
    ) {
        let out = self.choose(window.packets.get(&handle), now, in_port != NO_INGRESS);
        let header = window.packets.get(&handle).header;
        let (priority, size) = (header.priority, u64::from(header.size));
        let input = in_port as usize;
        let room = self.inputs.total(input, priority) + size <= self.input_room;
        let admission = if room || self.mmu.is_lossless(in_port, priority) {
            self.mmu.admit(in_port, priority, size)
        } else {
            Admission::BufferFull
        };
        if !matches!(admission, Admission::Stored | Admission::StoredPause) {
            if let Some(recorder) = &mut self.recorder {
                recorder.packet(now, in_port, Happening::Dropped, 0, &header);
            }
            self.discard(window, in_port, handle);
            return self.refuse(now, in_port, &header, admission);
        }
        self.inputs.push(window.packets, (input, out), (priority, size), handle);
        self.cross_at = self.cross_at.min(now);
        if let Some(cp) = &mut self.cp
            && S::Cp::INPUT_QUEUES
        {
            let voqs = self.inputs.voqs(input, priority);
            let view = InputView { port: PortId::new(in_port), voqs };
            let full = Full::new(now, &mut self.effects, &self.views);
            let mut cx = LevelOf::<S>::arrive(full);
            cp.on_input(&mut cx, &view, PortId::new(out as u16), &header);
        }
        if admission == Admission::StoredPause {
            self.send_pfc(window, now, input, priority, true);
        }
    }

    /// The port through which a packet goes on.
    fn choose(&mut self, packet: &Packet<S>, now: Time, from_outside: bool) -> usize {
        let header = &packet.header;
        let candidates = self.common.routes.candidates_in(self.row, header.destination());
        let Address { src, dst, hash, .. } = header.address;
        let ends = if header.to_source { (dst, src) } else { (src, dst) };
        let ecmp = || self.common.routes.ecmp(self.node, candidates, ends, hash);
        let Some(cp) = &mut self.cp else { return ecmp().index() };
        let full = Full::new(now, &mut self.effects, &self.views);
        let mut cx = LevelOf::<S>::arrive(full);
        let routed = if S::Cp::ROUTES { cp.route(&mut cx, packet, candidates) } else { None };
        let chosen = routed.unwrap_or_else(ecmp);
        if S::Cp::INPUT_QUEUES && from_outside {
            return cp.detour(&mut cx, header, candidates, chosen).index();
        }
        chosen.index()
    }

    fn discard(&mut self, window: &mut Window<'_, '_, Packet<S>>, in_port: u16, handle: Handle) {
        let header = window.packets.remove(handle).header;
        self.ports[in_port as usize].counters.dropped_packets += 1;
        self.audit.removed += u64::from(header.size);
    }

    /// Lists a drop that PFC should have prevented.
    fn refuse(&mut self, time: Time, port: u16, header: &Header, refused: Admission) {
        let priority = header.priority;
        if !self.mmu.is_lossless(port, priority) {
            return;
        }
        self.audit.lossless_drops += 1;
        if self.drops_listed.len() < DROPS_LISTED {
            let reason = match refused {
                Admission::HeadroomFull => "headroom full",
                _ => "input queue full",
            };
            let node = self.node;
            let (flow, size) = (header.address.flow, header.size);
            self.drops_listed.push(LosslessDrop { time, node, port, priority, flow, size, reason });
        }
    }

    /// Matches inputs and outputs until nothing more may cross at `now`.
    fn cross_all(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        self.cross_at = Time::NEVER;
        self.crossbar.free(now);
        let mut first = true;
        // An output that finds no packet in one round finds none in those after it either: what
        // crosses elsewhere neither brings it packets nor frees inputs.
        let mut again = true;
        self.open.assign(self.inputs.wanted.set(0), self.crossbar.busy_outputs());
        while again {
            again = false;
            let mut next = self.open.first(0, 0);
            while let Some(output) = next {
                match self.claim(window, output, now) {
                    Claim::Packet(grant) => again |= self.crossbar.offer(grant),
                    // A smaller one of another input may have room.
                    Claim::Full => again = true,
                    Claim::Nothing => self.open.remove(0, output),
                }
                next = self.open.first(0, output + 1);
            }
            let mut crossed = false;
            while let Some(grant) = self.crossbar.accept() {
                self.open.remove(0, grant.output);
                self.cross(window, &grant, now, first);
                crossed = true;
            }
            again &= crossed;
            first = false;
        }
        self.find_next_crossing();
        self.apply_effects(window, now);
    }

    /// What a free output would take.
    fn claim(&mut self, window: &Window<'_, '_, Packet<S>>, output: usize, now: Time) -> Claim {
        let (mut last, mut full) = (None, false);
        let mut priorities = self.inputs.priorities[output];
        while priorities != 0 {
            let priority = self.crossbar.first_priority(output, priorities);
            priorities &= !(1 << priority);
            let from = self.crossbar.first_claim(output, priority);
            let mut next = self.next_claim(output, priority, from, None);
            while let Some(input) = next {
                if let Some(head) = self.head(window, (input, priority, output), now) {
                    let grant = Grant { input, output, priority, head };
                    let waits = self.ports[output].class_bytes(priority as u8);
                    if head.last {
                        let idle = last.is_none() && self.ports[output].queue_bytes == 0;
                        last = if idle { Some(grant) } else { last };
                    } else if waits == 0 || waits + head.size <= self.output_room {
                        return Claim::Packet(grant);
                    } else {
                        // The queue of this priority is full, whatever the input.
                        full = true;
                        break;
                    }
                }
                next = self.next_claim(output, priority, from, next);
            }
        }
        match last {
            Some(grant) => Claim::Packet(grant),
            None if full => Claim::Full,
            None => Claim::Nothing,
        }
    }

    /// The free input after `input` with packets for an output, on the way from `from` around.
    #[inline]
    fn next_claim(
        &self,
        output: usize,
        priority: usize,
        from: usize,
        input: Option<usize>,
    ) -> Option<usize> {
        let waiting = self.inputs.waiting.set(output * 8 + priority);
        following_but(waiting, self.crossbar.busy_inputs(), from, input)
    }

    #[inline]
    fn head(
        &mut self,
        window: &Window<'_, '_, Packet<S>>,
        place: (usize, usize, usize),
        now: Time,
    ) -> Option<Head> {
        self.inputs.head::<S>(window.packets, self.cp.as_ref(), place, now)
    }

    /// Takes a packet from its input queue to the queue of its output.
    fn cross(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        grant: &Grant,
        now: Time,
        first: bool,
    ) {
        let Grant { input, output, priority, head } = *grant;
        let handle = self.inputs.pop(window.packets, (input, priority, output), head);
        self.crossbar.connect(grant, head.size, now, first);
        self.crossed += head.size;
        self.enqueue(window, now, output, handle);
        if self.mmu.release(input as u16, priority as u8, head.size) {
            self.send_pfc(window, now, input, priority as u8, false);
        }
    }

    /// When the crossbar may be able to take a packet that it can't take now.
    fn find_next_crossing(&mut self) {
        let (wanted, busy) = (self.inputs.wanted.set(0), self.crossbar.busy_outputs());
        let mut next = next_in_both(wanted, busy, 0);
        while let Some(output) = next {
            self.cross_at = self.cross_at.min(self.crossbar.output_free(output));
            next = next_in_both(wanted, busy, output + 1);
        }
        let mut next = next_but(wanted, busy, 0);
        while let Some(output) = next {
            let mut priorities = self.inputs.priorities[output];
            while priorities != 0 {
                let priority = priorities.trailing_zeros() as usize;
                priorities &= priorities - 1;
                let waiting = self.inputs.waiting.set(output * 8 + priority);
                let busy = self.crossbar.busy_inputs();
                let mut next = next_in_both(waiting, busy, 0);
                while let Some(input) = next {
                    self.cross_at = self.cross_at.min(self.crossbar.input_free(input));
                    next = next_in_both(waiting, busy, input + 1);
                }
            }
            next = next_but(wanted, busy, output + 1);
        }
    }

    /// Adds a packet to the queue of `out`.
    fn enqueue(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        out: usize,
        mut handle: Handle,
    ) {
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
        self.refresh(out, now);
    }

    /// What may leave `port` changed at `now`.
    #[inline]
    fn refresh(&mut self, port: usize, now: Time) {
        let this = &mut self.ports[port];
        // A wire that was idle until now is free from now: nothing can begin in the past.
        this.free_at = this.free_at.max(now);
        let due = if this.open() == 0 { Time::NEVER } else { this.free_at };
        self.due.set(port, due);
        self.next_due = None;
        self.views[port] = this.view_without_packet(port);
    }

    /// Has `port` begin to send its next packet, at the time it is due.
    fn depart(&mut self, window: &mut Window<'_, '_, Packet<S>>, port: usize) {
        let now = self.due.at(port);
        let this = &mut self.ports[port];
        let queue = this.pick(window.packets, this.open(), None);
        let mut handle = this.dequeue(window.packets, queue);
        let packet = window.packets.get_mut(&mut handle);
        if queue != PFC {
            let (priority, size) = (packet.header.priority, packet.header.size);
            if let Some(recorder) = &mut self.recorder {
                recorder.shrinks(now, port, this.queue_bytes);
            }
            this.count_out(priority, size);
            if self.common.marks_at_dequeue
                && packet.header.kind == Kind::Data
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
        let header = packet.header;
        if let Some(recorder) = &mut self.recorder {
            let bytes = if queue == PFC { 0 } else { this.class_bytes(header.priority) };
            recorder.packet(now, port as u16, Happening::Dequeued, bytes, &header);
        }
        if queue == PFC {
            this.transmit_pfc(window, now, handle);
        } else {
            this.transmit(window, now, (header.kind, header.priority, header.size), handle);
        }
        self.refresh(port, now);
        // There is room for another.
        if self.inputs.priorities[port] != 0 {
            self.cross_at = self.cross_at.min(now);
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

    fn send_pfc(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: usize,
        priority: u8,
        pause: bool,
    ) {
        let frame = window.packets.insert(pfc_frame(priority, pause, self.common.pfc_bytes));
        if let Some(recorder) = &mut self.recorder {
            let header = &window.packets.get(&frame).header;
            recorder.packet(now, port as u16, Happening::Enqueued, 0, header);
        }
        self.ports[port].enqueue_pfc(window.packets, frame, pause);
        self.refresh(port, now);
    }

    fn on_timer(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        let cp = self.cp.as_mut().expect("it has a timer");
        let full = Full::new(now, &mut self.effects, &self.views);
        let mut cx = LevelOf::<S>::arrive(full);
        cp.on_timer(&mut cx, &mut AllPorts { states: &mut self.cp_ports, views: &self.views });
        drop(cx);
        assert!(cp.next_timer() > now, "a congestion point's timer must move on");
        self.apply_effects(window, now);
    }

    /// Does what the hooks asked for.
    #[inline]
    fn apply_effects(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        if LevelOf::<S>::EMITS && !self.effects.is_empty() {
            self.apply_all(window, now);
        }
    }

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
            SwitchEffect::Wake(_) => self.cross_at = self.cross_at.min(now),
        }
    }

    fn sample(&mut self, now: Time) {
        let (states, ports) = (&self.cp_ports, &self.ports);
        let (cp, flows) = (self.cp.as_ref(), &self.common.flows);
        self.probes.sample(
            now,
            |port| &ports[port],
            |port| self.mmu.of_port(port),
            |kind, target| match kind.at_first_switch() {
                None => cp?.observe(&states[target as usize], now),
                Some(what) => {
                    let flow = &flows[target as usize];
                    cp?.observe_flow(flow.src, flow.dst, now, what)
                }
            },
        );
    }

    /// What the scheme counted here.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        self.cp.as_ref().map_or(Vec::new(), |cp| cp.counters())
    }

    /// The audit at the end of a run.
    pub(crate) fn final_audit(&self) -> SwitchAudit {
        debug_assert_eq!(self.inputs.used(), self.mmu.used());
        SwitchAudit { stored: self.inputs.used() + self.crossed, ..self.audit }
    }
}
