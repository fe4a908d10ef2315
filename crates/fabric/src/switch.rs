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

mod arriving;
mod by_port;
mod departing;
mod emission;
mod failing;
mod plain;

use crate::common::Common;
use crate::due::Due;
use crate::egress::{AllPorts, Egress, LevelOf, Made};
use crate::held::Held;
use crate::losses::Losses;
use crate::mmu::Mmu;
use crate::mrg::Draws;
use crate::network::ProbeKind;
use crate::packet::{Header, NO_INGRESS, Packet, Scheme, pfc_frame};
use crate::port::Port;
use crate::probe::PortProbes;
use crate::record::{Happening, Recorder};
use crate::red::Red;
use crate::routing::Here;
use crate::sub_queue::SubQueues;
use engine::{Window, fetch};
use schemes::contract::{Cp, Full, Level, Order, PortView, SwitchFx};
use std::sync::Arc;
use units::Time;

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

/// A switch.
pub(crate) struct Switch<S: Scheme> {
    common: Arc<Common<S>>,
    node: u32,
    pub(crate) ports: Vec<Port>,
    /// When each port's next packet begins.
    due: Due,
    mmu: Mmu,
    red: Vec<Red>,
    /// Where marks are drawn from, if not from a stream of each port.
    draws: Option<Box<Draws>>,
    cp: Option<S::Cp>,
    cp_ports: Vec<<S::Cp as Cp<S>>::Port>,
    effects: SwitchFx<S::Ctl>,
    /// All ports as the scheme sees them; kept where the order is strict.
    views: Vec<PortView>,
    sub_queues: Vec<SubQueues>,
    /// By port, the packets put back in a row, and when; kept where packets go back.
    put_back: Vec<(Time, u32)>,
    /// Shapers or gates have a say in what leaves.
    gated: bool,
    /// Nothing has a say in what leaves but priorities, pauses and shapers: an idle port may pass packets
    /// on at once.
    plain: bool,
    /// Each port may be worked alone.
    separate_ports: bool,
    /// RED decides as packets begin to leave.
    marks_at_dequeue: bool,
    /// Where its next hops are, which changes when a link fails somewhere.
    here: Here,
    epoch: usize,
    epoch_end: Time,
    /// The links to it, where they may lose packets.
    losses: Option<Box<Losses>>,
    /// By port, where arrivals come in the order of their sending.
    trains: Vec<emission::Train>,
    /// Room to sort them.
    emissions: Vec<emission::Emission>,
    /// Apart, as few schemes hold packets.
    held: Box<Held>,
    pub(crate) probes: PortProbes,
    pub(crate) recorder: Option<Box<Recorder>>,
    pub(crate) drops_listed: Vec<LosslessDrop>,
    pub(crate) audit: SwitchAudit,
    /// Bytes sent of PFC frames and of packets that it made itself.
    own_bytes: u64,
}

impl<S: Scheme> Switch<S> {
    /// Whether a plain switch can have the scheme's congestion point; one without any can be plain under
    /// each scheme.
    const PLAIN_WITH_POINT: bool = matches!(LevelOf::<S>::ORDER, Order::Lazy)
        && !<S::Cp as Cp<S>>::RECIRCULATES
        && !<S::Cp as Cp<S>>::SEES_ARRIVALS
        && !<S::Cp as Cp<S>>::ROUTES;

    #[expect(clippy::too_many_arguments, reason = "made in one place")]
    pub(crate) fn new(
        common: Arc<Common<S>>,
        node: u32,
        ports: Vec<Port>,
        mmu: Mmu,
        red: Vec<Red>,
        draws: Option<Box<Draws>>,
        cp: Option<S::Cp>,
        cp_ports: Vec<<S::Cp as Cp<S>>::Port>,
        probes: PortProbes,
        recorder: Option<Box<Recorder>>,
        losses: Option<Box<Losses>>,
    ) -> Switch<S> {
        let count = ports.len();
        let strict = LevelOf::<S>::ORDER == Order::Strict && cp.is_some();
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
        assert!(
            sub_queues.is_empty() || !<S::Cp as Cp<S>>::RECIRCULATES,
            "packets go back to the tail of ordinary queues only"
        );
        let gated = !sub_queues.is_empty() || ports.iter().any(Port::is_shaped);
        let mut switch = Switch {
            node,
            gated,
            separate_ports: false,
            plain: (cp.is_none() || Self::PLAIN_WITH_POINT)
                && common.short_ways
                && losses.is_none()
                && sub_queues.is_empty()
                && recorder.as_ref().is_none_or(|recorder| !recorder.takes_packets())
                && !common.marks_at_enqueue,
            marks_at_dequeue: common.marks_at_dequeue,
            here: common.routes.here(node, 0),
            epoch: 0,
            epoch_end: common.graph.end_of(0),
            losses,
            trains: if common.quirks.emission_order {
                let ends = common.graph.ports(node).iter().zip(&ports);
                ends.map(|(end, port)| emission::Train::new(common.graph.is_host(end.peer), port))
                    .collect()
            } else {
                Vec::new()
            },
            emissions: Vec::new(),
            common,
            ports,
            due: Due::new(count),
            mmu,
            red,
            draws,
            cp,
            cp_ports,
            effects: Vec::new(),
            views,
            sub_queues,
            put_back: if <S::Cp as Cp<S>>::RECIRCULATES {
                vec![(Time::NEVER, 0); count]
            } else {
                Vec::new()
            },
            held: Box::default(),
            probes,
            recorder,
            drops_listed: Vec::new(),
            audit: SwitchAudit::default(),
            own_bytes: 0,
        };
        switch.separate_ports = switch.has_separate_ports();
        switch
    }

    /// Has the processor fetch what most packets touch, where there are so many that it is worth while.
    pub(crate) fn fetch(&self, arrivals: usize) {
        if arrivals < self.ports.len() {
            return;
        }
        for port in &self.ports {
            fetch(port, 3);
        }
        self.due.fetch();
        self.mmu.fetch();
        self.common.routes.fetch(&self.here);
    }

    pub(crate) fn advance(&mut self, window: &mut Window<'_, '_, Packet<S>>) -> Time {
        let until = window.until();
        while self.epoch_end < until {
            self.advance_until(window, self.epoch_end);
            self.begin_epoch(window);
        }
        self.advance_until(window, until).min(self.epoch_end)
    }

    /// Handles all that is due before `until`; returns when something is due then.
    fn advance_until(&mut self, window: &mut Window<'_, '_, Packet<S>>, until: Time) -> Time {
        loop {
            // When departures are worked in order: when the next one is due.
            let mut in_order = None;
            if self.works_in_order() {
                in_order = Some(self.depart_in_order(window, until));
                if !self.works_in_order() {
                    continue;
                }
            } else {
                // Nothing but arrivals happens until then, unless one of them sets a timer (it is
                // held, or has the congestion point want to be woken).
                let quiet = self.next_timer().min(self.probes.next()).min(until);
                if self.plain {
                    self.pass_on(window, quiet);
                } else {
                    let last = quiet.min(until - Time::from_ps(1));
                    while let Some((time, port, handle)) = window.next_arrival_by(last) {
                        self.on_arrival(window, time, port, handle);
                        if LevelOf::<S>::EMITS || self.next_timer() < last || self.works_in_order()
                        {
                            break;
                        }
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
                if self.plain && next < timer.min(probe) {
                    self.pass_next_on(window, in_order);
                } else {
                    let (time, port, handle) = window.next_arrival().expect("there is one");
                    self.on_arrival(window, time, port, handle);
                }
            } else if next == timer {
                self.on_timer(window, timer);
            } else {
                self.sample(window, probe);
            }
        }
        let departure = self.drain_all(window, until);
        departure.min(self.next_timer()).min(self.probes.next())
    }

    /// Works the departures that come before anything else, in time order, as long as that is asked
    /// for; returns when the next one is due.
    fn depart_in_order(&mut self, window: &mut Window<'_, '_, Packet<S>>, until: Time) -> Time {
        let limit = window.next_arrival_time().min(until);
        let probe = self.probes.next();
        while self.works_in_order() {
            let (due, port) = self.due.earliest();
            if due >= limit || due >= self.next_timer() || due > probe {
                return due;
            }
            self.depart(window, port);
        }
        Time::NEVER
    }

    /// Whether departures must be worked one by one in time order.
    #[inline]
    fn works_in_order(&self) -> bool {
        self.mmu.is_pausing() || (LevelOf::<S>::ORDER == Order::Strict && self.cp.is_some())
    }

    #[inline]
    fn next_timer(&self) -> Time {
        let cp = self.cp.as_ref().map_or(Time::NEVER, |cp| cp.next_timer());
        if S::Cp::HOLDS { cp.min(self.held.next()) } else { cp }
    }

    /// Has `port` send what it sends before `time`.
    #[inline]
    fn drain(&mut self, window: &mut Window<'_, '_, Packet<S>>, port: usize, time: Time) {
        if self.plain && self.due.at(port) < time {
            return self.drain_plain(window, port, time);
        }
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

    /// A port, and what has a say there.
    #[inline(always)]
    fn egress(&mut self, port: usize) -> Egress<'_, S> {
        Egress {
            number: port,
            port: &mut self.ports[port],
            red: self.red.get_mut(port),
            draws: self.draws.as_deref_mut(),
            cp: self.cp.as_mut().map(|cp| (cp, &mut self.cp_ports[port])),
            effects: &mut self.effects,
            views: &self.views,
            recorder: self.recorder.as_deref_mut(),
        }
    }

    fn on_pfc(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: usize,
        header: &Header,
    ) {
        self.drain(window, port, now);
        let changed = self.egress(port).hears_pfc(now, header);
        self.refresh(window, port, now);
        self.audit.unmatched_pfc += u64::from(!changed);
        if changed {
            self.egress(port).tells_pfc(now, header);
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
        if let Some(draws) = &mut self.draws {
            draws.skip();
        }
        let frame = window.packets.insert(pfc_frame(priority, pause, self.common.pfc_bytes));
        if self.ports[port].is_down() {
            return window.packets.discard(frame);
        }
        self.drain(window, port, now);
        if let Some(recorder) = &mut self.recorder {
            let header = &window.packets.get(&frame).header;
            recorder.packet(now, port as u16, Happening::Enqueued, 0, header);
        }
        self.ports[port].enqueue_pfc(window.packets, frame, pause);
        self.refresh(window, port, now);
    }

    fn on_timer(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        while let Some((in_port, handle)) = self.held.take(now) {
            self.on_held(window, now, in_port, handle);
        }
        if self.cp.as_ref().is_some_and(|cp| cp.next_timer() <= now) {
            self.drain_all(window, now);
            let cp = self.cp.as_mut().expect("just seen");
            let full = Full::new(now, &mut self.effects, &self.views);
            let mut cx = LevelOf::<S>::arrive(full);
            cp.on_timer(&mut cx, &mut AllPorts::new(&mut self.cp_ports, &self.ports));
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
            match Made::of(&self.common, effect) {
                Made::ToHost(packet) => {
                    let handle = window.packets.insert(packet);
                    self.forward(window, now, NO_INGRESS, handle);
                }
                Made::ToLink(port, _) if self.ports[port].is_down() => {}
                Made::ToLink(port, packet) => {
                    let handle = window.packets.insert(packet);
                    self.enqueue(window, now, NO_INGRESS, port, handle);
                }
                Made::Wake(port) => {
                    self.drain(window, port, now);
                    self.refresh(window, port, now);
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

    /// Probes look, after the departures of this instant.
    fn sample(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        self.drain_all(window, now + Time::from_ps(1));
        let states = &self.cp_ports;
        let cp = self.cp.as_ref();
        let ports = &self.ports;
        let flows = &self.common.flows;
        let state = |kind: ProbeKind, target: u32| match kind.at_first_switch() {
            None => cp?.observe(&states[target as usize], now),
            Some(what) => {
                let flow = &flows[target as usize];
                cp?.observe_flow(flow.src, flow.dst, now, what)
            }
        };
        let came_in = |port: usize| self.mmu.of_port(port);
        self.probes.sample(now, |port| &ports[port], came_in, state);
    }

    /// What the scheme counted here.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        self.cp.as_ref().map_or(Vec::new(), |cp| cp.counters())
    }

    /// The audit at the end of a run.
    pub(crate) fn final_audit(&self) -> SwitchAudit {
        let sent: u64 = self.ports.iter().map(|port| port.counters.tx_bytes).sum();
        SwitchAudit { departed: sent - self.own_bytes, stored: self.mmu.used(), ..self.audit }
    }
}
