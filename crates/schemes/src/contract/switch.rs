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
    /// Bytes waiting in the queue of the packet's priority, without the packet at hand. Equal to
    /// `queue_bytes` if a port is looked at without a packet (peeking, timers).
    pub class_bytes: u64,
    /// Bytes sent before the packet at hand.
    pub tx_bytes: u64,
    /// When its last packet began to leave.
    pub last_departure: Time,
}

/// A quantity that a congestion point keeps for a flow, or for a group of flows.
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
    /// Returns how many there are.
    fn count(&self) -> usize;
    /// Returns the scheme's state of a port, and the port as it is now.
    fn port(&mut self, port: PortId) -> (&mut P, &PortView);
}

/// Congestion point: what a switch does for the scheme. `Self` is the state of a switch,
/// [`Port`](Cp::Port) the state of each of its ports.
///
/// State that depends on the rate of a link must follow it. One that forgets
/// [`on_rate`](Cp::on_rate) does not compile:
/// ```compile_fail,E0046
/// use schemes::contract::{Cp, PortFacts, PortLocal, Scheme};
/// use units::Rate;
/// struct Meter;
/// impl<S: Scheme> Cp<S> for Meter {
///     type Level = PortLocal;
///     type Port = Rate;
///     schemes::hooks!();
///     fn port(&self, _: &S::Params, facts: &PortFacts) -> Rate {
///         facts.rate
///     }
/// }
/// ```
pub trait Cp<S: Scheme>: Sized + Send + 'static {
    /// What its hooks may do, which decides how freely the fabric may order the work of a switch.
    type Level: Level;
    /// State per port.
    type Port: Send + 'static;
    /// Whether it sees arrivals. [`hooks!`](crate::hooks!) writes this type and the five after it.
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

    /// Makes the state of a port.
    fn port(&self, params: &S::Params, facts: &PortFacts) -> Self::Port;
    /// Called when the rate of a port's link has changed: `facts` has the new one. Packets go on
    /// waiting. The hook updates what the state of the port and of the switch has of the rate. It
    /// is required, so that no state keeps an old rate by oversight.
    fn on_rate(&mut self, params: &S::Params, port: &mut Self::Port, facts: &PortFacts);
    /// Returns whether the scenario's RED may mark a data packet at a port. Called when RED
    /// decides: as the packet begins to leave, before [`on_depart`](Cp::on_depart), or as it joins
    /// the queue.
    fn may_mark(
        &self,
        _port: &Self::Port,
        _view: &PortView,
        _packet: &Packet<S>,
        _now: Time,
    ) -> bool {
        true
    }
    /// Returns whether this switch may hold packets that arrive. By default it may if the type has
    /// such a hook.
    fn may_hold(&self) -> bool {
        <Self::Arrivals as ArrivalSlot<S, Self>>::HOLDS
    }
    /// Called for every packet that begins to leave through a port, PFC frames excepted.
    fn on_depart(
        &mut self,
        _cx: &mut <Self::Level as Level>::Depart<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _packet: &mut Packet<S>,
    ) {
    }
    /// Called for a packet that waited at a port and is dropped: the port's link
    /// failed, or the PFC watchdog frees the port.
    fn on_drop(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _packet: &Packet<S>,
    ) {
    }
    /// Called when the peer of a port pauses or resumes one of its priorities, and when the port's
    /// link fails, which ends a pause.
    fn on_pfc(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _priority: Priority,
        _paused: bool,
    ) {
    }
    /// Returns the state of a port as a finite number, for a probe: the state of a ternary
    /// detector, a fair rate.
    fn observe(&self, _port: &Self::Port, _now: Time) -> Option<f64> {
        None
    }
    /// Returns what the switch keeps for a flow from host `src` to host `dst`, which are indices
    /// among the hosts. Called by probes, at the flow's first switch.
    fn observe_flow(
        &self,
        _src: u32,
        _dst: u32,
        _now: Time,
        _what: SwitchFlowMetric,
    ) -> Option<f64> {
        None
    }
    /// Returns what the switch counted, by name. All switches return equal names. A run puts them
    /// together with [`add_counter`](super::add_counter).
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
    fn on_rate(&mut self, _params: &S::Params, (): &mut (), _facts: &PortFacts) {}
}
