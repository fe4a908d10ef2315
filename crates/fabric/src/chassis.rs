//! What every switch has, whatever its architecture: ports, limits, the scheme's congestion point, and
//! what is counted and recorded.

use crate::common::Common;
use crate::due::Due;
use crate::egress::{Egress, LevelOf};
use crate::mmu::Mmu;
use crate::mrg::Draws;
use crate::packet::Scheme;
use crate::port::Port;
use crate::probe::PortProbes;
use crate::record::Recorder;
use crate::red::Red;
use crate::routing::Here;
use engine::fetch;
use schemes::contract::{Cp, Full, Level, Order, PortView, Ports, SwitchFx};
use std::sync::Arc;
use units::{PortId, Time};

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

/// What every switch has.
pub(crate) struct Chassis<S: Scheme> {
    pub(crate) common: Arc<Common<S>>,
    pub(crate) node: u32,
    pub(crate) ports: Vec<Port>,
    /// When each port's next packet begins.
    pub(crate) due: Due,
    pub(crate) mmu: Mmu,
    /// By port, where anything is marked.
    pub(crate) red: Vec<Red>,
    /// Where marks are drawn from, if not from a stream of each port.
    pub(crate) draws: Option<Box<Draws>>,
    /// The congestion point, and what it keeps of each port.
    pub(crate) cp: Option<S::Cp>,
    pub(crate) cp_ports: Vec<<S::Cp as Cp<S>>::Port>,
    /// What its hooks asked for.
    pub(crate) effects: SwitchFx<S::Ctl>,
    /// All ports as the scheme sees them; kept where the order is strict.
    pub(crate) views: Vec<PortView>,
    /// Where its next hops are.
    pub(crate) here: Here,
    pub(crate) probes: PortProbes,
    pub(crate) recorder: Option<Box<Recorder>>,
    pub(crate) drops_listed: Vec<LosslessDrop>,
    pub(crate) audit: SwitchAudit,
}

impl<S: Scheme> Chassis<S> {
    /// The congestion point wants departures in time order.
    #[inline]
    pub(crate) fn is_strict(&self) -> bool {
        LevelOf::<S>::ORDER == Order::Strict && self.cp.is_some()
    }

    /// Has the processor fetch what most packets touch.
    pub(crate) fn fetch(&self) {
        for port in &self.ports {
            fetch(port, 3);
        }
        self.due.fetch();
        self.mmu.fetch();
        self.common.routes.fetch(&self.here);
    }

    /// A port, and what has a say there.
    #[inline(always)]
    pub(crate) fn egress(&mut self, port: usize) -> Egress<'_, S> {
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

    /// When the congestion point wants to be woken.
    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        self.cp.as_ref().map_or(Time::NEVER, |cp| cp.next_timer())
    }

    /// Wakes the congestion point; all ports have been drained to `now`.
    pub(crate) fn on_timer(&mut self, now: Time) {
        let cp = self.cp.as_mut().expect("it has a timer");
        let full = Full::new(now, &mut self.effects, &self.views);
        let mut cx = LevelOf::<S>::arrive(full);
        cp.on_timer(&mut cx, &mut AllPorts::new(&mut self.cp_ports, &self.ports));
        drop(cx);
        assert!(cp.next_timer() > now, "a congestion point's timer must move on");
    }

    /// Keeps the view of a port up to date.
    #[inline]
    pub(crate) fn look_at(&mut self, port: usize) {
        if LevelOf::<S>::ORDER == Order::Strict && !self.views.is_empty() {
            self.views[port] = self.ports[port].view_without_packet(port);
        }
    }

    /// Probes look, after the departures of this instant.
    pub(crate) fn sample(&mut self, now: Time) {
        let (states, ports, mmu) = (&self.cp_ports, &self.ports, &self.mmu);
        let (cp, flows) = (self.cp.as_ref(), &self.common.flows);
        self.probes.sample(
            now,
            |port| &ports[port],
            |port| mmu.of_port(port),
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
}

/// All ports of a switch, for a timer hook.
struct AllPorts<'a, P> {
    states: &'a mut [P],
    ports: &'a [Port],
    /// Of the port that was asked for last.
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
