//! The congestion point: what a scheme does in switches.

use super::{
    ArrivalSlot, CpTimerSlot, EnqueueSlot, InputQueueSlot, Level, Packet, PortFacts, PortLocal,
    RequeueSlot, Scheme, SubQueueSlot,
};
use units::{PortId, Priority, Rate, Time};

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
    /// Written by [`hooks!`](crate::hooks!), as the five below: whether it sees arrivals.
    type Arrivals: ArrivalSlot<S, Self>;
    /// Whether it sees packets join queues.
    type Enqueues: EnqueueSlot<S, Self>;
    /// Whether it has sub-queues.
    type SubQueues: SubQueueSlot<S, Self>;
    /// Whether it sends packets back to the tail of their queue.
    type Requeue: RequeueSlot<S, Self>;
    /// Whether it works on input queues.
    type InputQueues: InputQueueSlot<S, Self>;
    /// Whether it has a timer.
    type Timer: CpTimerSlot<S, Self>;

    /// The state of a port at the start.
    fn port(&self, params: &S::Params, facts: &PortFacts) -> Self::Port;
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
    crate::hooks!();
    fn port(&self, _params: &S::Params, _facts: &PortFacts) {}
}
