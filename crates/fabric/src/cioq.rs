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
//!
//! Departures are events only where the scheme's congestion point is
//! [`Strict`](schemes::contract::Strict). Else ports are drained when they are touched, as those of the
//! [shared-memory switch](crate::switch): a departure matters to nobody but to the packets that wait
//! for room in its output queue, and the crossbar is looked at when there is some.

mod arriving;
mod crossbar;
mod inputs;
mod matching;
mod port_set;
mod sending;

use crate::common::Common;
use crate::due::Due;
use crate::egress::{AllPorts, LevelOf};
use crate::mmu::Mmu;
use crate::network::Cioq;
use crate::packet::{Packet, Scheme};
use crate::port::Port;
use crate::probe::PortProbes;
use crate::record::Recorder;
use crate::red::Red;
use crate::routing::Here;
use crate::switch::{LosslessDrop, SwitchAudit};
use crossbar::Crossbar;
use engine::{Window, fetch};
use inputs::Inputs;
use matching::Pending;
use schemes::contract::{Cp, Full, Level, Order, PortView, SwitchFx};
use std::sync::Arc;
use units::Time;

/// A CIOQ switch.
pub(crate) struct CioqSwitch<S: Scheme> {
    common: Arc<Common<S>>,
    node: u32,
    /// Where its next hops are.
    here: Here,
    pub(crate) ports: Vec<Port>,
    /// When each port's next packet begins.
    due: Due,
    inputs: Inputs,
    crossbar: Crossbar,
    /// When a packet may cross that could not before.
    cross_at: Time,
    pending: Pending,
    /// Bytes of a priority that an input queue and an output queue hold.
    input_room: u64,
    output_room: u64,
    /// Counts the bytes of each ingress.
    mmu: Mmu,
    red: Vec<Red>,
    cp: Option<S::Cp>,
    cp_ports: Vec<<S::Cp as Cp<S>>::Port>,
    effects: SwitchFx<S::Ctl>,
    /// All ports as the scheme sees them; kept where the order is strict.
    views: Vec<PortView>,
    pub(crate) probes: PortProbes,
    pub(crate) recorder: Option<Box<Recorder>>,
    pub(crate) drops_listed: Vec<LosslessDrop>,
    pub(crate) audit: SwitchAudit,
    /// Bytes that have crossed and not left.
    crossed: u64,
}

impl<S: Scheme> CioqSwitch<S> {
    /// Departures are events.
    const STRICT: bool = matches!(LevelOf::<S>::ORDER, Order::Strict);

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
        let seen = if Self::STRICT { count } else { 0 };
        CioqSwitch {
            here: common.routes.here(node, 0),
            due: Due::new(count),
            inputs: Inputs::new(count),
            crossbar: Crossbar::new(count, rate, common.classes.strict),
            cross_at: Time::NEVER,
            pending: Pending::new(count, !common.short_ways),
            input_room: config.input_queue.get(),
            output_room: config.output_queue.get(),
            views: ports[..seen]
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

    /// Has the processor fetch what most packets touch.
    pub(crate) fn fetch(&self) {
        for port in &self.ports {
            fetch(port, 3);
        }
        self.due.fetch();
        self.mmu.fetch();
        self.crossbar.fetch();
        self.inputs.fetch();
        self.common.routes.fetch(&self.here);
    }

    pub(crate) fn advance(&mut self, window: &mut Window<'_, '_, Packet<S>>) -> Time {
        let until = window.until();
        loop {
            let arrival = window.next_arrival_time();
            let timer = self.next_timer();
            let (due, port) = if Self::STRICT { self.due.earliest() } else { (Time::NEVER, 0) };
            let probe = self.probes.next();
            let own = timer.min(due).min(self.cross_at).min(probe);
            let next = arrival.min(own);
            if next >= until {
                let due = if Self::STRICT { due } else { self.drain_all(window, until) };
                return own.min(due);
            }
            if next == arrival {
                let (time, port, handle) = window.next_arrival().expect("there is one");
                self.on_arrival(window, time, port, handle);
            } else if next == timer {
                self.on_timer(window, timer);
            } else if next == due {
                self.depart(window, port);
                self.apply_effects(window, due);
            } else if next == self.cross_at {
                self.cross_all(window, next);
            } else {
                self.drain_all(window, probe + Time::from_ps(1));
                self.sample(probe);
            }
        }
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.cp.as_ref().map_or(Time::NEVER, |cp| cp.next_timer())
    }

    fn on_timer(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        self.drain_all(window, now);
        let cp = self.cp.as_mut().expect("it has a timer");
        let full = Full::new(now, &mut self.effects, &self.views);
        let mut cx = LevelOf::<S>::arrive(full);
        cp.on_timer(&mut cx, &mut AllPorts::new(&mut self.cp_ports, &self.ports));
        drop(cx);
        assert!(cp.next_timer() > now, "a congestion point's timer must move on");
        if S::Cp::INPUT_QUEUES {
            self.look_again(now);
        }
        self.apply_effects(window, now);
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
