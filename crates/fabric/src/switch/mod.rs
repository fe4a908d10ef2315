//! An output-queued switch with a shared buffer.
//!
//! # Order of events
//! At one instant, arrivals come before timers, timers before departures,
//! departures before probes.
//!
//! Departures are not events. Before a port is touched at time t, it is *drained*: it sends all
//! that it would have sent before t. This is exact as long as no departure can act on another port.
//! A departure can if an ingress pauses its peer, because each departure may end the pause. It also
//! can if the scheme's congestion point is [`Strict`](schemes::contract::Strict), and if all ports
//! draw marks from one generator. In these cases departures are handled one by one in time order.
//!
//! While ports lag behind, the buffer's counters are upper bounds. When a bound comes near a limit,
//! all ports are drained first.

pub(crate) mod actions;
mod arriving;
mod by_port;
pub(crate) mod chassis;
mod departing;
pub(crate) mod departure_times;
mod drops;
pub(crate) mod egress;
mod fast_paths;
pub(crate) mod held;
mod link_failure;
mod ns3_order;
pub(crate) mod pause_times;
mod plain;
mod rack;
mod reordering;
pub(crate) mod sub_queue;

use crate::forwarding::{Depends, Router};
use crate::hooks::{ArrivalsOf, RequeueOf, SubQueuesOf};
use crate::observe::recorder::Recorder;
use crate::packet::{Header, NO_INGRESS, PfcFrame, Scheme, Win};
use crate::port::Port;
use crate::port::emission_order::EmissionOrder;
use crate::port::losses::Losses;
use crate::switch::actions::{SwitchAction, SwitchCore};
use crate::switch::chassis::{Chassis, SwitchAudit};
use crate::switch::egress::LevelOf;
use crate::switch::fast_paths::{Conditions, FastPaths};
use crate::switch::held::HeldPackets;
use crate::switch::pause_times::PauseTimes;
use crate::switch::sub_queue::SubQueues;
use engine::{Bucketing, Fifo};
use rack::RackPorts;
use schemes::contract::{ArrivalSlot, Level, RequeueSlot, SubQueueSlot};
use units::Time;

/// An output-queued switch.
pub(crate) struct Switch<S: Scheme> {
    pub(crate) chassis: Chassis<S>,
    sub_queues: Vec<SubQueues>,
    /// By port: when packets were last requeued, and how many in a row at that time. Empty if the
    /// scheme never requeues.
    requeued: Vec<(Time, u32)>,
    /// Shapers or gates may hold packets that are at the head of a queue.
    gated: bool,
    fast_paths: FastPaths,
    /// What the forwarding policy depends on, and how arrivals are put into buckets by it.
    depends: Depends,
    bucketing: Bucketing,
    /// Something besides the congestion point may have timers.
    has_rare_timers: bool,
    /// The ports of a rack's switch that may be advanced in three parts; `None` in other switches.
    rack: Option<Box<RackPorts>>,
    /// RED marks packets when they begin to leave.
    marks_at_dequeue: bool,
    /// Index of the present epoch, and when it ends.
    epoch: usize,
    epoch_end: Time,
    /// Losses on the links to the switch; `None` if there are none.
    losses: Option<Box<Losses>>,
    emission_order: EmissionOrder,
    /// Some packets come over a link so fast that arrivals are not always scheduled before the
    /// departures and the samples of queues of the same instant.
    has_short_links: bool,
    /// Departures must be handled one by one in time order even while no ingress pauses its peer.
    always_in_time_order: bool,
    /// Boxed, because few schemes hold packets.
    held: Box<HeldPackets>,
    /// By number: packets that wait for others that left before them, for ConWeave.
    reordering: Vec<Fifo>,
}

impl<S: Scheme> Switch<S> {
    pub(crate) fn new(chassis: Chassis<S>, losses: Option<Box<Losses>>) -> Switch<S> {
        let Chassis { common, node, ports, router, cp, recorder, .. } = &chassis;
        let count = ports.len();
        const {
            assert!(
                !(SubQueuesOf::<S>::ENABLED && RequeueOf::<S>::ENABLED),
                "packets go back to the tail of ordinary queues only"
            );
        }
        let sub_queues = if SubQueuesOf::<S>::ENABLED && cp.is_some() {
            (0..count).map(|_| SubQueues::default()).collect()
        } else {
            Vec::new()
        };
        let emission_order = if common.compat.orders_by_emission() {
            EmissionOrder::new(&common.graph, *node, ports.iter())
        } else {
            EmissionOrder::default()
        };
        let has_short_links = !emission_order.is_off() && {
            let slowest = ports.iter().map(|port| port.serialisation(common.wire.max_packet.get()));
            let shortest = emission_order.shortest_way(common.wire.min_packet() as u16);
            slowest.max().is_some_and(|slowest| slowest > shortest)
                || recorder.as_ref().is_some_and(|this| this.samples_queues_within(shortest))
        };
        let conditions = Conditions::of(&chassis, losses.as_deref(), has_short_links);
        let fast_paths = FastPaths::under(&conditions);
        Switch {
            gated: !sub_queues.is_empty() || ports.iter().any(Port::is_shaped),
            fast_paths,
            depends: router.depends(),
            bucketing: router.bucketing(),
            has_rare_timers: chassis.tags || chassis.pause_clock.is_some(),
            rack: fast_paths.rack.then(|| Box::new(RackPorts::new(common, *node))),
            marks_at_dequeue: common.marks_at_dequeue,
            epoch: 0,
            epoch_end: common.graph.end_of(0),
            losses,
            emission_order,
            has_short_links,
            always_in_time_order: chassis.is_strict() || chassis.draws.is_some() || has_short_links,
            sub_queues,
            requeued: if RequeueOf::<S>::ENABLED {
                vec![(Time::NEVER, 0); count]
            } else {
                Vec::new()
            },
            held: Box::default(),
            reordering: Vec::new(),
            chassis,
        }
    }

    /// Prefetches what most packets touch, if the arrivals are enough for it to pay.
    pub(crate) fn prefetch(&self, arrivals: usize) {
        if arrivals >= self.chassis.ports.len() {
            self.chassis.prefetch();
        }
    }

    pub(crate) fn advance(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        let until = window.until();
        Recorder::begin(&mut self.chassis.recorder, window);
        while self.epoch_end < until {
            self.advance_until(window, self.epoch_end);
            self.begin_epoch(window);
        }
        let next = self.advance_until(window, until).min(self.epoch_end);
        Recorder::end(&mut self.chassis.recorder, window);
        next
    }

    /// Handles all that is due before `until`. Returns when something is due next.
    fn advance_until(&mut self, window: &mut Win<'_, '_, S>, until: Time) -> Time {
        loop {
            // Whether a port sends at the instant of the next arrival, if departures are handled in
            // time order.
            let mut coincides = None;
            if self.departs_in_time_order() {
                let Some(sends_too) = self.depart_in_order(window, until) else { continue };
                coincides = Some(sends_too);
            } else {
                // Until then only arrivals are due. One of them may set a timer: it may be held, or
                // make the congestion point ask for a wake-up.
                let quiet = self.next_timer().min(self.chassis.probes.next()).min(until);
                if self.fast_paths.plain {
                    match self.depends {
                        Depends::Header => self.forward_batch(window, quiet),
                        _ => self.forward_each(window, quiet),
                    }
                } else {
                    let last = quiet.min(until - Time::from_ps(1));
                    while let Some((time, port, handle)) = window.next_arrival_by(last) {
                        self.on_arrival(window, time, port, handle);
                        if LevelOf::<S>::EMITS
                            || self.next_timer() < last
                            || self.departs_in_time_order()
                        {
                            break;
                        }
                    }
                }
                if self.departs_in_time_order() {
                    continue;
                }
            }
            let arrival = window.next_arrival_time();
            let (timer, probe) = (self.next_timer(), self.chassis.probes.next());
            let next = arrival.min(timer).min(probe);
            if next >= until {
                break;
            }
            if next == arrival {
                if self.fast_paths.plain && next < timer.min(probe) {
                    self.forward_next(window, coincides);
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
        let departure = self.drain_until(window, until);
        departure.min(self.next_timer()).min(self.chassis.probes.next())
    }

    /// Handles the departures that come before anything else in time order. Returns whether a port
    /// sends at the instant of the next arrival, too, or `None` as soon as that order is not needed
    /// any more.
    fn depart_in_order(&mut self, window: &mut Win<'_, '_, S>, until: Time) -> Option<bool> {
        let limit = window.next_arrival_time().min(until);
        let probe = self.chassis.probes.next();
        loop {
            // Most arrivals find that all ports send later.
            if self.chassis.due.lower_bound() > limit {
                return Some(false);
            }
            let (due, port) = self.chassis.due.earliest();
            if due >= limit || due >= self.next_timer() || due > probe {
                return Some(due <= limit);
            }
            self.depart(window, port);
            self.chassis.due.raise_lower_bound(port);
            if !self.departs_in_time_order() {
                return None;
            }
        }
    }

    /// Returns whether departures must be handled one by one in time order.
    #[inline]
    fn departs_in_time_order(&self) -> bool {
        self.chassis.mmu.pauses_any_peer() || self.always_in_time_order
    }

    /// Returns when the switch must act next, apart from arrivals and departures.
    #[inline]
    fn next_timer(&self) -> Time {
        let cp = self.chassis.next_timer();
        let cp = if ArrivalsOf::<S>::HOLDS { cp.min(self.held.next()) } else { cp };
        if self.has_rare_timers { cp.min(self.next_rare_timer()) } else { cp }
    }

    /// Returns when the load balancing or a time of a pause makes the switch act next.
    #[cold]
    fn next_rare_timer(&self) -> Time {
        let Chassis { tags, router, pause_clock, .. } = &self.chassis;
        let of_pauses = pause_clock.as_ref().map_or(Time::NEVER, |clock| clock.next());
        if *tags { of_pauses.min(router.next_timer()) } else { of_pauses }
    }

    /// Lets `port` send all that it sends before `time`.
    #[inline]
    fn drain(&mut self, window: &mut Win<'_, '_, S>, port: usize, time: Time) {
        if self.fast_paths.plain && self.chassis.due.at(port) < time {
            return self.drain_plain(window, port, time);
        }
        while self.chassis.due.at(port) < time {
            self.depart(window, port);
        }
    }

    /// Lets all ports send all that they send before `time`.
    #[inline]
    fn drain_all(&mut self, window: &mut Win<'_, '_, S>, time: Time) {
        if self.chassis.due.lower_bound() < time {
            self.drain_until(window, time);
        }
    }

    /// Lets all ports send all that they send before `time`. Returns when the next packet leaves
    /// after that.
    fn drain_until(&mut self, window: &mut Win<'_, '_, S>, time: Time) -> Time {
        while self.departs_in_time_order() {
            let (due, port) = self.chassis.due.earliest();
            if due >= time {
                return due;
            }
            self.depart(window, port);
        }
        let (mut next, mut from) = (Time::NEVER, 0);
        while let Some(port) = self.chassis.due.next_busy(from) {
            self.drain(window, port, time);
            next = next.min(self.chassis.due.at(port));
            from = port + 1;
        }
        next
    }

    fn on_pfc(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize, header: &Header) {
        self.drain(window, port, now);
        let immediate = self.sends_immediately(window, port, now);
        let changed = self.chassis.apply_pfc(now, port, header);
        self.update_due(window, port, now);
        if immediate {
            self.send_immediately(window, now, port);
        }
        if changed {
            self.chassis.egress(port).notify_pfc(now, header.priority, header.is_pause());
            self.apply_effects(window, now);
        }
    }

    fn on_timer(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        if self.chassis.tags {
            self.release_due(window, now);
        }
        while let Some((in_port, handle)) = self.held.take(now) {
            self.on_held(window, now, in_port, handle);
        }
        if self.chassis.next_timer() <= now {
            self.drain_all(window, now);
            self.chassis.on_timer(now);
            self.apply_effects(window, now);
        }
        if self.chassis.pause_clock.is_some() {
            self.on_pause_times(window, now);
        }
    }

    /// Takes samples for probes, after the departures of this instant.
    fn sample(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        self.drain_all(window, now + Time::from_ps(1));
        self.chassis.sample(window, now);
    }

    /// Returns the audit at the end of a run.
    pub(crate) fn final_audit(&self) -> SwitchAudit {
        let held = match &self.chassis.router {
            Router::ConWeave(policy) => policy.bytes_in_own_memory(),
            _ => 0,
        };
        self.chassis.final_audit(self.chassis.mmu.used() + held)
    }
}

impl<S: Scheme> SwitchCore<S> for Switch<S> {
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
        if let Some(draws) = &mut self.chassis.draws {
            draws.on_pfc_frame();
        }
        if self.chassis.ports[port].is_down() {
            return;
        }
        self.drain(window, port, now);
        self.chassis.enqueue_pfc(window, now, port, priority, frame);
        self.update_due(window, port, now);
    }

    fn act(&mut self, window: &mut Win<'_, '_, S>, now: Time, action: SwitchAction<S>) {
        match action {
            SwitchAction::ToHost(packet) => {
                let handle = window.packets.insert(packet);
                self.forward(window, now, NO_INGRESS, handle);
            }
            SwitchAction::ToLink(port, _) if self.chassis.ports[port].is_down() => {}
            SwitchAction::ToLink(port, packet) => {
                let handle = window.packets.insert(packet);
                if let Some(handle) = self.chassis.limit_own_control(window, now, port, handle) {
                    self.enqueue(window, now, NO_INGRESS, port, handle);
                }
            }
            SwitchAction::Wake(port) => {
                self.drain(window, port, now);
                self.update_due(window, port, now);
            }
        }
    }
}
