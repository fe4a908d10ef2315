//! Two congestion points in one switch: INT stamping below a detector, say.

use super::{
    Cp, Crossing, DequeueAction, Gate, Header, InputView, Level, Packet, PortFacts, PortView,
    Ports, Scheme, SwitchFlowMetric, Verdict,
};
use units::{PortId, Priority, Time};

/// `A` on top of `B`, which must share a level. On the way in `A` sees a packet first, on the way
/// out `B` does. What needs one answer (route, sub-queue, gate) is `A`'s where it has one.
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
    const SUB_QUEUES: bool = A::SUB_QUEUES || B::SUB_QUEUES;
    const RECIRCULATES: bool = A::RECIRCULATES || B::RECIRCULATES;
    const SEES_ARRIVALS: bool = A::SEES_ARRIVALS || B::SEES_ARRIVALS;
    const SEES_JOINS: bool = A::SEES_JOINS || B::SEES_JOINS;
    const ROUTES: bool = A::ROUTES || B::ROUTES;
    const HOLDS: bool = A::HOLDS || B::HOLDS;
    const INPUT_QUEUES: bool = A::INPUT_QUEUES || B::INPUT_QUEUES;

    fn port(&self, params: &S::Params, facts: &PortFacts) -> Self::Port {
        (self.0.port(params, facts), self.1.port(params, facts))
    }
    fn on_arrival(
        &mut self,
        cx: &mut L::Arrive<'_, S>,
        in_port: PortId,
        packet: &mut Packet<S>,
    ) -> Verdict {
        match self.0.on_arrival(cx, in_port, packet) {
            Verdict::Forward => self.1.on_arrival(cx, in_port, packet),
            other => other,
        }
    }
    fn route(
        &mut self,
        cx: &mut L::Arrive<'_, S>,
        packet: &Packet<S>,
        equal_cost: &[PortId],
    ) -> Option<PortId> {
        match self.0.route(cx, packet, equal_cost) {
            None => self.1.route(cx, packet, equal_cost),
            chosen => chosen,
        }
    }
    fn reroute(
        &mut self,
        cx: &mut L::Arrive<'_, S>,
        header: &Header,
        equal_cost: &[PortId],
        chosen: PortId,
    ) -> PortId {
        let upper = self.0.reroute(cx, header, equal_cost, chosen);
        if upper == chosen { self.1.reroute(cx, header, equal_cost, chosen) } else { upper }
    }
    fn on_input(
        &mut self,
        cx: &mut L::Arrive<'_, S>,
        input: &InputView<'_>,
        out_port: PortId,
        header: &Header,
    ) {
        self.0.on_input(cx, input, out_port, header);
        self.1.on_input(cx, input, out_port, header);
    }
    fn may_block(&self, out_port: PortId, now: Time) -> bool {
        self.0.may_block(out_port, now) || self.1.may_block(out_port, now)
    }
    fn crossing(&self, out_port: PortId, header: &Header, now: Time) -> Crossing {
        let first = self.0.may_block(out_port, now);
        match if first { self.0.crossing(out_port, header, now) } else { Crossing::Allowed } {
            Crossing::Allowed if self.1.may_block(out_port, now) => {
                self.1.crossing(out_port, header, now)
            }
            says => says,
        }
    }
    fn sub_queue(&self, in_port: PortId, out_port: PortId, packet: &Packet<S>) -> u32 {
        match self.0.sub_queue(in_port, out_port, packet) {
            0 => self.1.sub_queue(in_port, out_port, packet),
            queue => queue,
        }
    }
    fn gate(&self, port: &Self::Port, sub_queue: u32, head: &Packet<S>, now: Time) -> Gate {
        match self.0.gate(&port.0, sub_queue, head, now) {
            Gate::Open => self.1.gate(&port.1, sub_queue, head, now),
            Gate::OpenFirst => match self.1.gate(&port.1, sub_queue, head, now) {
                Gate::Open => Gate::OpenFirst,
                other => other,
            },
            shut => shut,
        }
    }
    fn turn(&mut self, port: &mut Self::Port, packet: &Packet<S>, now: Time) -> DequeueAction {
        match self.0.turn(&mut port.0, packet, now) {
            DequeueAction::Send => self.1.turn(&mut port.1, packet, now),
            back => back,
        }
    }
    fn may_mark(&self, port: &Self::Port, view: &PortView, packet: &Packet<S>, now: Time) -> bool {
        self.0.may_mark(&port.0, view, packet, now) && self.1.may_mark(&port.1, view, packet, now)
    }
    fn on_enqueue(
        &mut self,
        cx: &mut L::Arrive<'_, S>,
        port: &mut Self::Port,
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        self.0.on_enqueue(cx, &mut port.0, view, packet);
        self.1.on_enqueue(cx, &mut port.1, view, packet);
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
    fn next_timer(&self) -> Time {
        self.0.next_timer().min(self.1.next_timer())
    }
    fn on_timer(&mut self, cx: &mut L::Arrive<'_, S>, ports: &mut dyn Ports<Self::Port>) {
        let now = L::now::<S>(cx);
        if self.0.next_timer() <= now {
            self.0.on_timer(cx, &mut Upper(ports));
        }
        if self.1.next_timer() <= now {
            self.1.on_timer(cx, &mut Lower(ports));
        }
    }
    fn observe(&self, port: &Self::Port, now: Time) -> Option<f64> {
        self.0.observe(&port.0, now).or_else(|| self.1.observe(&port.1, now))
    }
    fn observe_flow(&self, src: u32, dst: u32, now: Time, what: SwitchFlowMetric) -> Option<f64> {
        let upper = self.0.observe_flow(src, dst, now, what);
        upper.or_else(|| self.1.observe_flow(src, dst, now, what))
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.0.counters();
        counters.extend(self.1.counters());
        counters
    }
}

/// The upper congestion point's view of the ports.
struct Upper<'a, A, B>(&'a mut dyn Ports<(A, B)>);

impl<A, B> Ports<A> for Upper<'_, A, B> {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn port(&mut self, port: PortId) -> (&mut A, &PortView) {
        let (state, view) = self.0.port(port);
        (&mut state.0, view)
    }
}

/// The lower one's.
struct Lower<'a, A, B>(&'a mut dyn Ports<(A, B)>);

impl<A, B> Ports<B> for Lower<'_, A, B> {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn port(&mut self, port: PortId) -> (&mut B, &PortView) {
        let (state, view) = self.0.port(port);
        (&mut state.1, view)
    }
}
