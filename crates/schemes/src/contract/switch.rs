//! The congestion point: what a scheme does in switches.

use super::{Header, Level, Packet, PortFacts, PortLocal, Scheme};
use units::{PortId, Priority, Rate, Time};

/// What becomes of a packet that arrived at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Goes on its way.
    Forward,
    /// Was for the switch.
    Consume,
    /// Is discarded and counted.
    Drop,
    /// Waits, in the buffer of its ingress; [`Cp::on_arrival`] sees it again at that time. Packets
    /// held until the same time keep their order.
    Hold(Time),
}

/// What becomes of a packet at the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DequeueAction {
    /// It leaves.
    Send,
    /// It goes back to the tail, and the port looks at the next one at the same instant; where all have
    /// gone back twice in a row it rests as below.
    Requeue,
    /// It goes back to the tail, and the port sends nothing until another packet joins one of its
    /// queues or its peer lets it go on.
    RequeueAndStall,
}

/// Whether the head of a sub-queue may leave now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It may.
    Open,
    /// It may, before what waits in the port's own queue of its priority; otherwise these take turns.
    OpenFirst,
    /// Not before an effect wakes the port.
    Closed,
    /// Not before this time.
    ClosedUntil(Time),
}

/// Whether a packet may cross from its input queue to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// It may.
    Allowed,
    /// Only where the output's queue is empty and nothing else may cross to it.
    AllowedIfLast,
    /// Not before an effect or a timer.
    Blocked,
}

/// What a hook sees of the input queue of a port.
#[derive(Clone, Copy, Debug)]
pub struct InputView<'a> {
    /// Which port of the switch.
    pub port: PortId,
    /// Bytes in the virtual output queue to each port, of the priority of the packet at hand and
    /// without it.
    pub voqs: &'a [u64],
}

impl InputView<'_> {
    /// Bytes in the input queue, of the priority of the packet at hand and without it.
    pub fn bytes(&self) -> u64 {
        self.voqs.iter().sum()
    }
}

/// What a hook sees of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortView {
    /// Which port of the switch.
    pub port: PortId,
    /// Its rate.
    pub rate: Rate,
    /// Bytes waiting at it, all priorities, without the packet at hand.
    pub queue_bytes: u64,
    /// Bytes waiting in the queue of the packet's priority, without the packet at hand; where a
    /// port is looked at without a packet (peeking, timers) the same as `queue_bytes`.
    pub class_bytes: u64,
    /// Bytes that it has sent, before the packet at hand.
    pub tx_bytes: u64,
    /// When its last packet began to leave.
    pub last_departure: Time,
}

/// A quantity that a congestion point keeps for a flow, or for the flows that it takes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchFlowMetric {
    /// Bytes that wait in a queue of the flow's own.
    Queue,
    /// Bytes that this queue may send now.
    Credits,
    /// The rate that it gives to the flow, bits per second.
    Rate,
}

/// All ports of a switch, for its timer hook.
pub trait Ports<P> {
    /// How many there are.
    fn count(&self) -> usize;
    /// The scheme's state of a port, and the port as it is now.
    fn port(&mut self, port: PortId) -> (&mut P, &PortView);
}

/// Congestion point: what a switch does for the scheme. `Self` is the state per switch,
/// [`Port`](Cp::Port) what it keeps beside each of the fabric's ports.
pub trait Cp<S: Scheme>: Sized + Send + 'static {
    /// What its hooks may do, which decides how freely the fabric may order the work of a switch.
    type Level: Level;
    /// State per port.
    type Port: Send + 'static;
    /// It has sub-queues per priority and port beside the ordinary one; without it
    /// [`sub_queue`](Cp::sub_queue) and [`gate`](Cp::gate) are not asked. Needs [`Strict`].
    const SUB_QUEUES: bool = false;
    /// Packets may go back to the tail of their queue; without it [`turn`](Cp::turn) is not asked.
    const RECIRCULATES: bool = false;
    /// It looks at packets as they arrive; without it [`on_arrival`](Cp::on_arrival) is not called.
    const SEES_ARRIVALS: bool = false;
    /// It looks at packets as they join a queue; without it [`on_enqueue`](Cp::on_enqueue) need not be
    /// called, and ports are worked faster.
    const SEES_JOINS: bool = true;
    /// It chooses among equal-cost ports; without it [`route`](Cp::route) is not asked.
    const ROUTES: bool = false;
    /// [`on_arrival`](Cp::on_arrival) may hold packets ([`Verdict::Hold`]); without it none may be held.
    /// Needs [`SEES_ARRIVALS`](Cp::SEES_ARRIVALS).
    const HOLDS: bool = false;
    /// It works on input queues: its switches are combined input- and output-queued (CIOQ), and
    /// [`on_input`](Cp::on_input), [`reroute`](Cp::reroute), [`may_block`](Cp::may_block) and
    /// [`crossing`](Cp::crossing) are asked; after a timer, the last two for all that waits.
    const INPUT_QUEUES: bool = false;

    /// The state of a port at the start.
    fn port(&self, params: &S::Params, facts: &PortFacts) -> Self::Port;
    /// A packet arrived that is not PFC. Also called for the switch's own link control. Called only with
    /// [`SEES_ARRIVALS`](Cp::SEES_ARRIVALS).
    fn on_arrival(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _in_port: PortId,
        _packet: &mut Packet<S>,
    ) -> Verdict {
        Verdict::Forward
    }
    /// Chooses among the equal-cost ports; `None` leaves it to ECMP. Asked only with
    /// [`ROUTES`](Cp::ROUTES).
    fn route(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _packet: &Packet<S>,
        _equal_cost: &[PortId],
    ) -> Option<PortId> {
        None
    }
    /// May take data from the port that was chosen for it to another of equal cost. Asked only with
    /// [`INPUT_QUEUES`](Cp::INPUT_QUEUES).
    fn reroute(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _header: &Header,
        _equal_cost: &[PortId],
        chosen: PortId,
    ) -> PortId {
        chosen
    }
    /// Data joins the input queue of the port through which it came, on its way to
    /// `out_port`. Called only with [`INPUT_QUEUES`](Cp::INPUT_QUEUES).
    fn on_input(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _input: &InputView<'_>,
        _out_port: PortId,
        _header: &Header,
    ) {
    }
    /// Whether some packet may have to wait before it crosses to `out_port` now; without it
    /// [`crossing`](Cp::crossing) is not asked, and all may. Asked only with
    /// [`INPUT_QUEUES`](Cp::INPUT_QUEUES).
    fn may_block(&self, _out_port: PortId, _now: Time) -> bool {
        false
    }
    /// Whether a data packet may cross from its input queue to `out_port`, at which some packet may
    /// have to wait. Where it may not, packets of other flows behind it may pass; those of its flow stay
    /// behind it. What crosses to another port at the same instant must have no part in it. Asked only
    /// with [`INPUT_QUEUES`](Cp::INPUT_QUEUES).
    fn crossing(&self, _out_port: PortId, _header: &Header, _now: Time) -> Crossing {
        Crossing::Allowed
    }
    /// The sub-queue of `out_port` that the packet joins; 0 is the ordinary one. Asked only with
    /// [`SUB_QUEUES`](Cp::SUB_QUEUES).
    fn sub_queue(&self, _in_port: PortId, _out_port: PortId, _packet: &Packet<S>) -> u32 {
        0
    }
    /// Whether the head of a sub-queue other than 0 may leave. Asked only with
    /// [`SUB_QUEUES`](Cp::SUB_QUEUES).
    fn gate(&self, _port: &Self::Port, _sub_queue: u32, _head: &Packet<S>, _now: Time) -> Gate {
        Gate::Open
    }
    /// Whether a packet that is about to leave an ordinary queue goes back to its tail instead. Asked
    /// only with [`RECIRCULATES`](Cp::RECIRCULATES).
    fn turn(&mut self, _port: &mut Self::Port, _packet: &Packet<S>, _now: Time) -> DequeueAction {
        DequeueAction::Send
    }
    /// Whether the scenario's RED may mark a data packet at a port. Asked where RED decides: as the
    /// packet begins to leave, before [`on_depart`](Cp::on_depart), or as it joins the queue.
    fn may_mark(
        &self,
        _port: &Self::Port,
        _view: &PortView,
        _packet: &Packet<S>,
        _now: Time,
    ) -> bool {
        true
    }
    /// A packet is about to join a queue of a port. Called with [`SEES_JOINS`](Cp::SEES_JOINS), which is
    /// on unless it is switched off.
    fn on_enqueue(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _packet: &mut Packet<S>,
    ) {
    }
    /// A packet begins to leave through a port.
    fn on_depart(
        &mut self,
        _cx: &mut <Self::Level as Level>::Depart<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _packet: &mut Packet<S>,
    ) {
    }
    /// A packet that waited at a port is dropped instead of leaving, as the port's link failed.
    fn on_drop(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _packet: &Packet<S>,
    ) {
    }
    /// The peer of a port paused or resumed one of its priorities, or its link failed, which ends a pause.
    fn on_pfc(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _priority: Priority,
        _paused: bool,
    ) {
    }
    /// When [`on_timer`](Cp::on_timer) is wanted; read after each hook, after `on_depart` only where
    /// the level is [`Strict`].
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// The time asked for has come.
    fn on_timer(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _ports: &mut dyn Ports<Self::Port>,
    ) {
    }
    /// The state of a port as a finite number, for a probe (a ternary detector's state, a fair rate).
    fn observe(&self, _port: &Self::Port, _now: Time) -> Option<f64> {
        None
    }
    /// What the switch keeps for a flow from host `src` to host `dst` on it (their indices among the
    /// hosts), for a probe; asked of the flow's first switch.
    fn observe_flow(
        &self,
        _src: u32,
        _dst: u32,
        _now: Time,
        _what: SwitchFlowMetric,
    ) -> Option<f64> {
        None
    }
    /// What the switch counted, by name: the same names at every switch. The summary has their
    /// sums.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// The congestion point of a scheme whose switches do nothing of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainSwitch;

impl<S: Scheme> Cp<S> for PlainSwitch {
    type Level = PortLocal;
    type Port = ();
    const SEES_JOINS: bool = false;
    fn port(&self, _params: &S::Params, _facts: &PortFacts) {}
}
