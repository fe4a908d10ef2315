//! What every kind of switch has: ports, MMU, the scheme's congestion point, counters and
//! recorders.

use crate::compat::mrg::MarkDraws;
use crate::context::RunContext;
use crate::forwarding::{Choice, Router};
use crate::hooks::{ArrivalsOf, CpTimerOf};
use crate::mmu::Mmu;
use crate::observe::lossless_drops::LosslessDrops;
use crate::observe::probe::{PortProbes, at_first_switch};
use crate::observe::recorder::{PacketEventKind, Recorder};
use crate::observe::samples::Reading;
use crate::observe::spill::Batch;
use crate::packet::{Header, Packet, PacketKind, PfcFrame, Scheme, Win};
use crate::port::Port;
use crate::port::pause_clock::PauseClock;
use crate::port::red::Red;
use crate::routing::{PortSet, SwitchRow};
use crate::switch::departure_times::DepartureTimes;
use crate::switch::egress::{Egress, LevelOf};
use engine::{Handle, prefetch};
use model::ProbeKind;
use schemes::contract::{
    ArrivalSlot, Cp, CpTimerSlot, FullCx, HoldVerdict, Level, Order, PortFacts, PortView, Ports,
    SwitchEffects,
};
use std::sync::Arc;
use units::{PortId, Rate, Time};

/// What went into and out of a switch, in bytes. PFC frames and packets that the switch made are
/// not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchAudit {
    /// Bytes that arrived.
    pub arrived: u64,
    /// Bytes that left.
    pub departed: u64,
    /// Bytes that the switch dropped, or that its congestion point consumed. They found no room or
    /// no route, the congestion point or the PFC watchdog dropped them, or they waited for a link
    /// when it failed.
    pub removed: u64,
    /// Bytes still stored at the end.
    pub stored: u64,
    /// Packets that the switch made and that found no room.
    pub own_drops: u64,
    /// PFC frames that changed nothing: a pause while paused, or a resume while not paused.
    pub unmatched_pfc: u64,
}

/// What every kind of switch has.
pub(crate) struct Chassis<S: Scheme> {
    pub(crate) common: Arc<RunContext<S>>,
    pub(crate) node: u32,
    pub(crate) ports: Vec<Port>,
    /// When each port sends next.
    pub(crate) due: DepartureTimes,
    pub(crate) mmu: Mmu,
    /// RED by port; empty if nothing is marked.
    pub(crate) red: Vec<Red>,
    /// The generator that marks are drawn from, if it is not one of each port.
    pub(crate) draws: Option<MarkDraws>,
    /// The congestion point and its state of each port.
    pub(crate) cp: Option<S::Cp>,
    pub(crate) cp_ports: Vec<<S::Cp as Cp<S>>::Port>,
    /// What the congestion point knows of each port, if the rate of one ever changes.
    pub(crate) port_facts: Vec<PortFacts>,
    /// The times of pauses, if they have some.
    pub(crate) pause_clock: Option<Box<PauseClock>>,
    /// What its hooks have asked for and the switch has not done yet.
    pub(crate) effects: SwitchEffects<S::Ctl>,
    /// All ports as the scheme sees them. Kept up to date only if the order is strict.
    pub(crate) views: Vec<PortView>,
    /// Its row of the routing tables in this epoch.
    pub(crate) switch_row: SwitchRow,
    /// Selects next hops.
    pub(crate) router: Router,
    /// Packets have tags, for the forwarding policy.
    pub(crate) tags: bool,
    pub(crate) probes: PortProbes,
    pub(crate) recorder: Option<Box<Recorder>>,
    pub(crate) lossless_drops: LosslessDrops,
    pub(crate) audit: SwitchAudit,
    /// Bytes sent in PFC frames and in packets that the switch made.
    pub(crate) generated_bytes: u64,
}

impl<S: Scheme> Chassis<S> {
    /// Returns whether the congestion point needs departures in time order.
    #[inline]
    pub(crate) fn is_strict(&self) -> bool {
        LevelOf::<S>::ORDER == Order::Strict && self.cp.is_some()
    }

    /// Sets the rate of the link of `port`, and tells the congestion point.
    pub(crate) fn set_rate(&mut self, port: usize, rate: Rate, now: Time) {
        if self.ports[port].rate() == rate {
            return;
        }
        self.ports[port].set_rate(rate, now);
        if let Some(clock) = &mut self.pause_clock {
            clock.set_rate(port, rate);
        }
        let facts = &mut self.port_facts[port];
        facts.rate = rate;
        facts.transit = self.common.transit(self.node, port, rate);
        if let Some(cp) = &mut self.cp {
            cp.on_rate(&self.common.params, &mut self.cp_ports[port], facts);
        }
        self.refresh_view(port);
    }

    /// Prefetches what most packets touch.
    pub(crate) fn prefetch(&self) {
        for port in &self.ports {
            prefetch(port, 3);
        }
        self.due.prefetch();
        self.mmu.prefetch();
        self.common.routes.prefetch(&self.switch_row);
    }

    /// Returns a port with all that acts on its packets.
    #[inline(always)]
    pub(crate) fn egress(&mut self, port: usize) -> Egress<'_, S> {
        self.egress_and_mmu(port).0
    }

    /// Returns what [`egress`](Chassis::egress) returns, and the MMU.
    #[inline(always)]
    pub(crate) fn egress_and_mmu(&mut self, port: usize) -> (Egress<'_, S>, &mut Mmu) {
        let egress = Egress {
            number: port,
            port: &mut self.ports[port],
            red: self.red.get_mut(port),
            draws: self.draws.as_mut(),
            cp: self.cp.as_mut().map(|cp| (cp, &mut self.cp_ports[port])),
            effects: &mut self.effects,
            views: &self.views,
            recorder: self.recorder.as_deref_mut(),
        };
        (egress, &mut self.mmu)
    }

    /// Returns whether events of packets or lengths of queues are recorded.
    #[inline]
    pub(crate) fn records_queues_or_packets(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.records_queues_or_packets())
    }

    /// Returns whether lengths of queues are sampled at `now`.
    #[inline(always)]
    pub(crate) fn samples_queues_at(&self, now: Time) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.samples_queues_at(now))
    }

    /// Shows the forwarding policy a packet that begins to leave, if its tag may change.
    #[inline(always)]
    pub(crate) fn tag_departure(
        &mut self,
        window: &Win<'_, '_, S>,
        now: Time,
        port: usize,
        size: u16,
        handle: &mut Handle,
    ) {
        if self.tags {
            let (tag, rate) = (window.packets.tag(handle), self.ports[port].rate());
            let port = PortId::new(port as u16);
            window.packets.set_tag(handle, self.router.on_depart(now, (port, rate), size, tag));
        }
    }

    /// Asks the forwarding policy for the port of a packet with a tag. `set`: its next hops.
    #[inline(never)]
    pub(crate) fn select_tagged(
        &mut self,
        window: &Win<'_, '_, S>,
        now: Time,
        handle: &mut Handle,
        set: PortSet,
    ) -> Option<PortId> {
        let Chassis { common, router, ports, .. } = self;
        let header = &window.packets.get(handle).header;
        let choice = Choice::new(&common.routes, set, now)
            .with_ports(ports)
            .with_tag(window.packets.tag(handle), &common.host_locations);
        let port = router.select(&choice, header);
        let tag = choice.tag();
        window.packets.set_tag(handle, tag);
        port
    }

    /// Notes that a packet arrived through `in_port`, and returns its kind. PFC frames are not
    /// audited.
    #[inline(always)]
    pub(crate) fn receive(
        &mut self,
        now: Time,
        in_port: u16,
        packet: &mut Packet<S>,
    ) -> PacketKind {
        packet.header.ingress = in_port;
        if let Some(recorder) = &mut self.recorder {
            recorder.packet(now, in_port, PacketEventKind::Received, 0, &packet.header);
        }
        let kind = packet.header.kind;
        if kind != PacketKind::Pfc {
            self.audit.arrived += u64::from(packet.header.size);
        }
        kind
    }

    /// Returns what the congestion point decides about a packet that arrived.
    #[inline]
    pub(crate) fn verdict(
        &mut self,
        now: Time,
        in_port: u16,
        packet: &mut Packet<S>,
    ) -> HoldVerdict {
        match self.cp.as_mut().filter(|_| ArrivalsOf::<S>::ENABLED) {
            None => HoldVerdict::Forward,
            Some(cp) => {
                let full = FullCx::new(now, &mut self.effects, &self.views);
                let mut cx = LevelOf::<S>::arrive(full);
                ArrivalsOf::<S>::on_arrival(cp, &mut cx, PortId::new(in_port), packet)
            }
        }
    }

    /// Returns when the congestion point asks to be woken.
    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        self.cp.as_ref().map_or(Time::NEVER, |cp| CpTimerOf::<S>::next_timer(cp))
    }

    /// Wakes the congestion point. All ports must have been drained to `now`.
    pub(crate) fn on_timer(&mut self, now: Time) {
        let cp = self.cp.as_mut().expect("it has a timer");
        let full = FullCx::new(now, &mut self.effects, &self.views);
        let mut cx = LevelOf::<S>::arrive(full);
        CpTimerOf::<S>::on_timer(cp, &mut cx, &mut AllPorts::new(&mut self.cp_ports, &self.ports));
        drop(cx);
        assert!(CpTimerOf::<S>::next_timer(cp) > now, "a congestion point's timer must move on");
    }

    /// Updates the scheme's view of a port.
    #[inline]
    pub(crate) fn refresh_view(&mut self, port: usize) {
        if LevelOf::<S>::ORDER == Order::Strict && !self.views.is_empty() {
            self.views[port] = self.ports[port].view_without_packet(port);
        }
    }

    /// Updates when a port sends next, after a packet joined one of its queues. The port must have
    /// been drained to `now`. Returns whether it was idle.
    #[inline]
    pub(crate) fn after_enqueue(&mut self, port: usize, priority: u8, now: Time) -> bool {
        // A port that was busy sends next when it would have anyway.
        let this = &mut self.ports[port];
        let begins = self.due.at(port) == Time::NEVER && this.paused & 1 << priority == 0;
        if begins {
            this.free_at = this.free_at.max(now);
            self.due.schedule(port, this.free_at);
        }
        begins
    }

    /// Sets when `port` sends next, after a packet began to leave.
    #[inline(always)]
    pub(crate) fn next_departure(&mut self, port: usize) {
        let this = &self.ports[port];
        if this.open() == 0 {
            self.due.set_idle(port);
        } else {
            self.due.reschedule(port, this.free_at);
        }
    }

    /// Updates when `port` sends next, after something changed. It must have been drained to `now`.
    pub(crate) fn update_due(&mut self, port: usize, now: Time) {
        let this = &mut self.ports[port];
        // A wire that was idle until now is free from now on: nothing can begin in the past.
        this.free_at = this.free_at.max(now);
        let due = if this.open() == 0 { Time::NEVER } else { this.free_at };
        self.due.set(port, due);
    }

    /// Applies a PFC frame to a port, which must have been drained to `now`. Returns whether it
    /// changed anything.
    pub(crate) fn apply_pfc(&mut self, now: Time, port: usize, header: &Header) -> bool {
        let (frame, priority) = (PfcFrame::of(header), header.priority);
        if let Some(recorder) = &mut self.recorder {
            recorder.pfc(now, port as u16, priority, header.is_pause());
        }
        if let Some(clock) = &mut self.pause_clock {
            // Frames that only refresh a pause change nothing and are no error.
            if clock.received(port, priority, frame, now) {
                return self.ports[port].receive_pfc(priority, frame, now);
            }
            self.ports[port].counters.pause_frames_received += u64::from(header.is_pause());
            return false;
        }
        let changed = self.ports[port].receive_pfc(priority, frame, now);
        self.audit.unmatched_pfc += u64::from(!changed);
        changed
    }

    /// Puts a PFC frame into the queue of a port, which must have been drained to `now`.
    pub(crate) fn enqueue_pfc(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        priority: u8,
        frame: PfcFrame,
    ) {
        let handle = window.packets.insert(frame.packet(now, priority, self.common.wire.pfc_size));
        if let Some(recorder) = &mut self.recorder {
            let header = &window.packets.get(&handle).header;
            recorder.packet(now, port as u16, PacketEventKind::Enqueued, 0, header);
        }
        self.ports[port].enqueue_pfc(window.packets, handle, frame);
        if let Some(clock) = &mut self.pause_clock {
            clock.sent(port, priority, frame, now);
        }
    }

    /// Sends a PFC frame through a port.
    #[cold]
    pub(crate) fn transmit_pfc(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        frame: Handle,
    ) {
        let header = &window.packets.get(&frame).header;
        self.generated_bytes += u64::from(header.size);
        if let Some(recorder) = &mut self.recorder {
            recorder.packet(now, port as u16, PacketEventKind::Dequeued, 0, header);
        }
        self.ports[port].transmit_pfc(window, now, frame);
    }

    /// Takes samples for probes, after the departures of this instant. Stops if there is no room
    /// for more samples.
    pub(crate) fn sample(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        if !window.may_record() {
            return self.probes.stop();
        }
        let (states, ports, mmu) = (&self.cp_ports, &self.ports, &self.mmu);
        let (cp, flows) = (self.cp.as_ref(), &self.common.flows);
        let taken = self.probes.sample(
            now,
            |port| &ports[port],
            |port, priority| mmu.of_port(port, priority),
            |kind, target| match at_first_switch(kind) {
                None if kind == ProbeKind::ReorderQueue => {
                    let Router::ConWeave(policy) = &self.router else { return None };
                    let end = &self.common.graph.ports(self.node)[target as usize];
                    let leads_to_host = self.common.graph.is_host(end.peer);
                    let held = policy.bytes_held(PortId::new(target as u16));
                    held.filter(|_| leads_to_host).map(|bytes| bytes as f64)
                }
                None => cp?.observe(&states[target as usize], now),
                Some(what) => {
                    let flow = &flows[target as usize];
                    cp?.observe_flow(flow.src, flow.dst, now, what)
                }
            },
        );
        window.count_recorded(taken, taken * Reading::BYTES);
    }

    /// Moves to `batch` what was recorded before `end`.
    pub(crate) fn hand_over(&mut self, batch: &mut Batch, end: Time) {
        self.probes.hand_over(&mut batch.readings);
        if let Some(recorder) = &mut self.recorder {
            let ports = &self.ports;
            recorder.hand_over(&mut batch.events, end, &|port| ports[port].queue_bytes);
        }
    }

    /// Returns the audit at the end of a run, when `stored` bytes are in the switch.
    pub(crate) fn final_audit(&self, stored: u64) -> SwitchAudit {
        let sent: u64 = self.ports.iter().map(|port| port.counters.tx_bytes).sum();
        SwitchAudit { departed: sent - self.generated_bytes, stored, ..self.audit }
    }

    /// Returns the scheme's counters.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.cp.as_ref().map_or(Vec::new(), |cp| cp.counters());
        counters.append(&mut self.router.counters());
        counters
    }
}

/// All ports of a switch, for a timer hook.
struct AllPorts<'a, P> {
    states: &'a mut [P],
    ports: &'a [Port],
    /// The view of the port that was asked for last.
    view: Option<PortView>,
}

impl<'a, P> AllPorts<'a, P> {
    fn new(states: &'a mut [P], ports: &'a [Port]) -> AllPorts<'a, P> {
        AllPorts { states, ports, view: None }
    }
}

impl<P> Ports<P> for AllPorts<'_, P> {
    fn count(&self) -> usize {
        self.ports.len()
    }
    fn port(&mut self, port: PortId) -> (&mut P, &PortView) {
        let port = port.index();
        (&mut self.states[port], self.view.insert(self.ports[port].view_without_packet(port)))
    }
}
