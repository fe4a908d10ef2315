//! The congestion point of a toy.

use super::{Caps, Parts, Toy, ToyScheme};
use schemes::contract::{
    Cp, CpTimer, Crossing, DequeueAction, Gate, Header, HoldVerdict, Holding, InputQueues,
    InputView, Level, OnArrival, OnArrivalOrHold, OnEnqueue, Packet, PortFacts, PortView, Ports,
    Present, Requeue, Stack, Strict, SubQueues, SwitchFacts, SwitchFlowMetric, Verdict,
};
use units::{PortId, Priority, Time};

/// What a congestion point keeps per port.
pub type Port = [u64; 3];

type ArriveCx<'a, S> = <<S as ToyScheme>::Level as Level>::Arrive<'a, S>;
type DepartCx<'a, S> = <<S as ToyScheme>::Level as Level>::Depart<'a, S>;

/// The congestion point of a switch. A hook of a capability is called only if the toy has that
/// capability.
pub trait Switch<S: ToyScheme>: Send {
    fn on_arrival(&mut self, _: &mut ArriveCx<'_, S>, _: PortId, _: &mut Packet<S>) -> HoldVerdict {
        HoldVerdict::Forward
    }
    fn on_enqueue(
        &mut self,
        _: &mut ArriveCx<'_, S>,
        _: &mut Port,
        _: &PortView,
        _: &mut Packet<S>,
    ) {
    }
    fn may_mark(&self, _: &PortView, _: &Packet<S>) -> bool {
        true
    }
    fn on_depart(
        &mut self,
        _: &mut DepartCx<'_, S>,
        _: &mut Port,
        _: &PortView,
        _: &mut Packet<S>,
    ) {
    }
    fn on_pfc(
        &mut self,
        _: &mut ArriveCx<'_, S>,
        _: &mut Port,
        _: &PortView,
        _: Priority,
        _paused: bool,
    ) {
    }
    fn on_rate(&mut self, _: &mut Port, _: &PortFacts) {}
    fn observe(&self, _: &Port, _now: Time) -> Option<f64> {
        None
    }
    fn observe_flow(
        &self,
        _src: u32,
        _dst: u32,
        _now: Time,
        _what: SwitchFlowMetric,
    ) -> Option<f64> {
        None
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    fn sub_queue(&self, _: &Packet<S>) -> u32 {
        0
    }
    fn gate(&self, _sub_queue: u32, _head: &Packet<S>, _now: Time) -> Gate {
        Gate::Open
    }
    fn at_head(&mut self, _: &mut Port, _: &Packet<S>) -> DequeueAction {
        DequeueAction::Send
    }
    fn on_input(&mut self, _: &InputView<'_>, _out_port: PortId, _: &Header) {}
    fn reroute(&mut self, _: &Header, _equal_cost: &[PortId], chosen: PortId) -> PortId {
        chosen
    }
    fn may_block(&self, _out_port: PortId, _now: Time) -> bool {
        false
    }
    fn crossing(&self, _: &Header) -> Crossing {
        Crossing::Allowed
    }
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    fn on_timer(&mut self, _: &mut ArriveCx<'_, S>, _: &mut dyn Ports<Port>) {}
}

/// A congestion point that can be made from a toy's parameters.
pub trait Make<S: ToyScheme>: Sized {
    fn make(parts: &Parts<S>, facts: &SwitchFacts<'_>) -> Option<Self>;
}

/// The congestion point of a toy.
pub struct SwitchPart<L: Level, C: Caps<L>>(Box<dyn Switch<Toy<L, C>>>);

impl<L: Level, C: Caps<L>> Make<Toy<L, C>> for SwitchPart<L, C> {
    fn make(parts: &Parts<Toy<L, C>>, facts: &SwitchFacts<'_>) -> Option<Self> {
        (parts.switch)(facts).map(SwitchPart)
    }
}

impl<L: Level, C: Caps<L>> Make<Toy<L, C>> for Stack<SwitchPart<L, C>, SwitchPart<L, C>> {
    fn make(parts: &Parts<Toy<L, C>>, facts: &SwitchFacts<'_>) -> Option<Self> {
        Some(Stack(SwitchPart((parts.switch)(facts)?), SwitchPart((parts.lower)(facts)?)))
    }
}

impl<L: Level, C: Caps<L>> Cp<Toy<L, C>> for SwitchPart<L, C> {
    type Level = L;
    type Port = Port;
    type Arrivals = C::Arrivals;
    type Enqueues = C::Enqueues;
    type SubQueues = C::SubQueues;
    type Requeue = C::Requeue;
    type InputQueues = C::InputQueues;
    type Timer = C::Timer;

    fn port(&self, _: &Parts<Toy<L, C>>, _: &PortFacts) -> Port {
        Port::default()
    }
    fn may_mark(&self, _: &Port, view: &PortView, packet: &Packet<Toy<L, C>>, _: Time) -> bool {
        self.0.may_mark(view, packet)
    }
    fn on_depart(
        &mut self,
        cx: &mut L::Depart<'_, Toy<L, C>>,
        port: &mut Port,
        view: &PortView,
        packet: &mut Packet<Toy<L, C>>,
    ) {
        self.0.on_depart(cx, port, view, packet);
    }
    fn on_pfc(
        &mut self,
        cx: &mut L::Arrive<'_, Toy<L, C>>,
        port: &mut Port,
        view: &PortView,
        priority: Priority,
        paused: bool,
    ) {
        self.0.on_pfc(cx, port, view, priority, paused);
    }
    fn on_rate(&mut self, _: &Parts<Toy<L, C>>, port: &mut Port, facts: &PortFacts) {
        self.0.on_rate(port, facts);
    }
    fn observe(&self, port: &Port, now: Time) -> Option<f64> {
        self.0.observe(port, now)
    }
    fn observe_flow(&self, src: u32, dst: u32, now: Time, what: SwitchFlowMetric) -> Option<f64> {
        self.0.observe_flow(src, dst, now, what)
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.0.counters()
    }
}

impl<L: Level, C: Caps<L, Arrivals = Present>> OnArrival<Toy<L, C>> for SwitchPart<L, C> {
    fn on_arrival(
        &mut self,
        cx: &mut L::Arrive<'_, Toy<L, C>>,
        in_port: PortId,
        packet: &mut Packet<Toy<L, C>>,
    ) -> Verdict {
        match self.0.on_arrival(cx, in_port, packet) {
            HoldVerdict::Forward => Verdict::Forward,
            HoldVerdict::Consume => Verdict::Consume,
            HoldVerdict::Drop => Verdict::Drop,
            HoldVerdict::Hold(_) => unreachable!("a toy that holds needs `holding_arrivals`"),
        }
    }
}

impl<L: Level, C: Caps<L, Arrivals = Holding>> OnArrivalOrHold<Toy<L, C>> for SwitchPart<L, C> {
    fn on_arrival(
        &mut self,
        cx: &mut L::Arrive<'_, Toy<L, C>>,
        in_port: PortId,
        packet: &mut Packet<Toy<L, C>>,
    ) -> HoldVerdict {
        self.0.on_arrival(cx, in_port, packet)
    }
}

impl<L: Level, C: Caps<L, Enqueues = Present>> OnEnqueue<Toy<L, C>> for SwitchPart<L, C> {
    fn on_enqueue(
        &mut self,
        cx: &mut L::Arrive<'_, Toy<L, C>>,
        port: &mut Port,
        view: &PortView,
        packet: &mut Packet<Toy<L, C>>,
    ) {
        self.0.on_enqueue(cx, port, view, packet);
    }
}

impl<C> SubQueues<Toy<Strict, C>> for SwitchPart<Strict, C>
where
    C: Caps<Strict, SubQueues = Present>,
{
    fn sub_queue(&self, _: PortId, _: PortId, packet: &Packet<Toy<Strict, C>>) -> u32 {
        self.0.sub_queue(packet)
    }
    fn gate(&self, _: &Port, sub_queue: u32, head: &Packet<Toy<Strict, C>>, now: Time) -> Gate {
        self.0.gate(sub_queue, head, now)
    }
}

impl<L: Level, C: Caps<L, Requeue = Present>> Requeue<Toy<L, C>> for SwitchPart<L, C> {
    fn at_head(&mut self, port: &mut Port, head: &Packet<Toy<L, C>>, _: Time) -> DequeueAction {
        self.0.at_head(port, head)
    }
}

impl<L: Level, C: Caps<L, InputQueues = Present>> InputQueues<Toy<L, C>> for SwitchPart<L, C> {
    fn on_input(
        &mut self,
        _: &mut L::Arrive<'_, Toy<L, C>>,
        input: &InputView<'_>,
        out_port: PortId,
        header: &Header,
    ) {
        self.0.on_input(input, out_port, header);
    }
    fn reroute(
        &mut self,
        _: &mut L::Arrive<'_, Toy<L, C>>,
        header: &Header,
        equal_cost: &[PortId],
        chosen: PortId,
    ) -> PortId {
        self.0.reroute(header, equal_cost, chosen)
    }
    fn may_block(&self, out_port: PortId, now: Time) -> bool {
        self.0.may_block(out_port, now)
    }
    fn crossing(&self, _: PortId, header: &Header, _: Time) -> Crossing {
        self.0.crossing(header)
    }
}

impl<L: Level, C: Caps<L, Timer = Present>> CpTimer<Toy<L, C>> for SwitchPart<L, C> {
    fn next_timer(&self) -> Time {
        self.0.next_timer()
    }
    fn on_timer(&mut self, cx: &mut L::Arrive<'_, Toy<L, C>>, ports: &mut dyn Ports<Port>) {
        self.0.on_timer(cx, ports);
    }
}
