//! Queues beside the ordinary ones of a port, with gates.

use super::sealed::Marker;
use super::{Absent, Both, Present};
use crate::contract::{Cp, Level, Packet, Scheme, Stack, Strict};
use units::{PortId, Time};

/// Whether the head of a sub-queue may leave now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It may, in turn with the port's own queue of its priority.
    Open,
    /// It may, before what waits in the port's own queue of its priority.
    OpenFirst,
    /// It may not before an effect wakes the port.
    Closed,
    /// It may not before this time.
    ClosedUntil(Time),
}

/// Has sub-queues per priority and port beside the ordinary queue. Needs the level [`Strict`]:
/// departures are worked one by one in time order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `hooks!(sub_queues)` and does not implement `SubQueues`",
    label = "named here"
)]
pub trait SubQueues<S: Scheme>: Cp<S, SubQueues = Present, Level = Strict> {
    /// Returns the sub-queue of `out_port` that a packet joins; 0 is the ordinary queue. Numbers
    /// should be small and dense, because memory is proportional to the largest. A number from 2^24
    /// on ends the run with a panic. Called after [`on_enqueue`](super::OnEnqueue::on_enqueue).
    fn sub_queue(&self, in_port: PortId, out_port: PortId, packet: &Packet<S>) -> u32;
    /// Whether the head of a sub-queue other than 0 may leave.
    fn gate(&self, port: &Self::Port, sub_queue: u32, head: &Packet<S>, now: Time) -> Gate;
}

/// What the fabric calls for sub-queues.
pub trait SubQueueSlot<S: Scheme, C: Cp<S>>: Marker {
    /// There are sub-queues.
    const ENABLED: bool;
    /// The sub-queue that a packet joins.
    fn sub_queue(cp: &C, in_port: PortId, out_port: PortId, packet: &Packet<S>) -> u32;
    /// Whether the head of a sub-queue may leave.
    fn gate(cp: &C, port: &C::Port, sub_queue: u32, head: &Packet<S>, now: Time) -> Gate;
}

impl<S: Scheme, C: Cp<S>> SubQueueSlot<S, C> for Absent {
    const ENABLED: bool = false;
    #[inline(always)]
    fn sub_queue(_: &C, _: PortId, _: PortId, _: &Packet<S>) -> u32 {
        0
    }
    #[inline(always)]
    fn gate(_: &C, _: &C::Port, _: u32, _: &Packet<S>, _: Time) -> Gate {
        Gate::Open
    }
}

impl<S: Scheme, C: SubQueues<S>> SubQueueSlot<S, C> for Present {
    const ENABLED: bool = true;
    #[inline(always)]
    fn sub_queue(cp: &C, in_port: PortId, out_port: PortId, packet: &Packet<S>) -> u32 {
        cp.sub_queue(in_port, out_port, packet)
    }
    #[inline(always)]
    fn gate(cp: &C, port: &C::Port, sub_queue: u32, head: &Packet<S>, now: Time) -> Gate {
        cp.gate(port, sub_queue, head, now)
    }
}

/// The upper part chooses the sub-queue; the lower one if the upper one chose the ordinary queue.
/// A head may leave if both gates are open.
impl<S, L, A, B, X, Y> SubQueueSlot<S, Stack<A, B>> for Both<X, Y>
where
    S: Scheme,
    L: Level,
    A: Cp<S, Level = L>,
    B: Cp<S, Level = L>,
    X: SubQueueSlot<S, A>,
    Y: SubQueueSlot<S, B>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    #[inline(always)]
    fn sub_queue(
        stack: &Stack<A, B>,
        in_port: PortId,
        out_port: PortId,
        packet: &Packet<S>,
    ) -> u32 {
        match X::sub_queue(&stack.0, in_port, out_port, packet) {
            0 => Y::sub_queue(&stack.1, in_port, out_port, packet),
            queue => queue,
        }
    }
    #[inline(always)]
    fn gate(
        stack: &Stack<A, B>,
        port: &(A::Port, B::Port),
        sub_queue: u32,
        head: &Packet<S>,
        now: Time,
    ) -> Gate {
        match X::gate(&stack.0, &port.0, sub_queue, head, now) {
            Gate::Open => Y::gate(&stack.1, &port.1, sub_queue, head, now),
            Gate::OpenFirst => match Y::gate(&stack.1, &port.1, sub_queue, head, now) {
                Gate::Open => Gate::OpenFirst,
                other => other,
            },
            closed => closed,
        }
    }
}
