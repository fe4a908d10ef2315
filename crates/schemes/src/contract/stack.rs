//! Two congestion points in one switch: INT stamping below a detector, say.

use super::{Both, Cp, Level, Packet, PortFacts, PortView, Scheme, SwitchFlowMetric};
use units::{Priority, Time};

/// `A` on top of `B`, which must share a level. `A` sees an arriving packet first, `B` a departing
/// one. What needs one answer (a port, a sub-queue, a gate) is `A`'s if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stack<A, B>(
    /// The upper congestion point.
    pub A,
    /// The lower one.
    pub B,
);

impl<S: Scheme, L: Level, A: Cp<S, Level = L>, B: Cp<S, Level = L>> Cp<S> for Stack<A, B> {
    type Level = L;
    type Port = (A::Port, B::Port);
    type Arrivals = Both<A::Arrivals, B::Arrivals>;
    type Enqueues = Both<A::Enqueues, B::Enqueues>;
    type SubQueues = Both<A::SubQueues, B::SubQueues>;
    type Requeue = Both<A::Requeue, B::Requeue>;
    type InputQueues = Both<A::InputQueues, B::InputQueues>;
    type Timer = Both<A::Timer, B::Timer>;

    fn port(&self, params: &S::Params, facts: &PortFacts) -> Self::Port {
        (self.0.port(params, facts), self.1.port(params, facts))
    }
    fn may_mark(&self, port: &Self::Port, view: &PortView, packet: &Packet<S>, now: Time) -> bool {
        self.0.may_mark(&port.0, view, packet, now) && self.1.may_mark(&port.1, view, packet, now)
    }
    fn on_depart(
        &mut self,
        cx: &mut L::Depart<'_, S>,
        port: &mut Self::Port,
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        self.1.on_depart(cx, &mut port.1, view, packet);
        self.0.on_depart(cx, &mut port.0, view, packet);
    }
    fn on_drop(
        &mut self,
        cx: &mut L::Arrive<'_, S>,
        port: &mut Self::Port,
        view: &PortView,
        packet: &Packet<S>,
    ) {
        self.0.on_drop(cx, &mut port.0, view, packet);
        self.1.on_drop(cx, &mut port.1, view, packet);
    }
    fn on_pfc(
        &mut self,
        cx: &mut L::Arrive<'_, S>,
        port: &mut Self::Port,
        view: &PortView,
        priority: Priority,
        paused: bool,
    ) {
        self.0.on_pfc(cx, &mut port.0, view, priority, paused);
        self.1.on_pfc(cx, &mut port.1, view, priority, paused);
    }
    fn on_rate(&mut self, params: &S::Params, port: &mut Self::Port, facts: &PortFacts) {
        self.0.on_rate(params, &mut port.0, facts);
        self.1.on_rate(params, &mut port.1, facts);
    }
    fn observe(&self, port: &Self::Port, now: Time) -> Option<f64> {
        self.0.observe(&port.0, now).or_else(|| self.1.observe(&port.1, now))
    }
    fn observe_flow(&self, src: u32, dst: u32, now: Time, what: SwitchFlowMetric) -> Option<f64> {
        let upper = self.0.observe_flow(src, dst, now, what);
        upper.or_else(|| self.1.observe_flow(src, dst, now, what))
    }
    fn may_hold(&self) -> bool {
        self.0.may_hold() || self.1.may_hold()
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.0.counters();
        counters.extend(self.1.counters());
        counters
    }
}
