//! Sending packets back to the tail of their queue.

use super::sealed::Marker;
use super::{Absent, Both, Present};
use crate::contract::{Cp, Level, Packet, Scheme, Stack};
use units::Time;

/// What becomes of a packet at the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DequeueAction {
    /// It leaves.
    Send,
    /// It goes back to the tail. The port looks at the next packet at the same instant. If all
    /// packets have gone back twice in a row, the port stalls as under
    /// [`RequeueAndStall`](DequeueAction::RequeueAndStall).
    Requeue,
    /// It goes back to the tail. The port sends nothing until another packet joins one of its
    /// queues or its peer ends a pause.
    RequeueAndStall,
}

/// Sends packets back to the tail of their queue. Turns off the fast paths 1 to 5 of
/// ARCHITECTURE.md, and does not go with sub-queues.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `hooks!(requeue)` and does not implement `Requeue`",
    label = "named here"
)]
pub trait Requeue<S: Scheme>: Cp<S, Requeue = Present> {
    /// Called for every packet that is about to leave a queue.
    fn at_head(&mut self, port: &mut Self::Port, packet: &Packet<S>, now: Time) -> DequeueAction;
}

/// What the fabric calls when a packet is about to leave a queue.
pub trait RequeueSlot<S: Scheme, C: Cp<S>>: Marker {
    /// There is a hook.
    const ENABLED: bool;
    /// Calls the hook.
    fn at_head(cp: &mut C, port: &mut C::Port, packet: &Packet<S>, now: Time) -> DequeueAction;
}

impl<S: Scheme, C: Cp<S>> RequeueSlot<S, C> for Absent {
    const ENABLED: bool = false;
    #[inline(always)]
    fn at_head(_: &mut C, _: &mut C::Port, _: &Packet<S>, _: Time) -> DequeueAction {
        DequeueAction::Send
    }
}

impl<S: Scheme, C: Requeue<S>> RequeueSlot<S, C> for Present {
    const ENABLED: bool = true;
    #[inline(always)]
    fn at_head(cp: &mut C, port: &mut C::Port, packet: &Packet<S>, now: Time) -> DequeueAction {
        cp.at_head(port, packet, now)
    }
}

/// A packet leaves if both parts let it. The lower one is asked if the upper one does.
impl<S, L, A, B, X, Y> RequeueSlot<S, Stack<A, B>> for Both<X, Y>
where
    S: Scheme,
    L: Level,
    A: Cp<S, Level = L>,
    B: Cp<S, Level = L>,
    X: RequeueSlot<S, A>,
    Y: RequeueSlot<S, B>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    #[inline(always)]
    fn at_head(
        stack: &mut Stack<A, B>,
        port: &mut (A::Port, B::Port),
        packet: &Packet<S>,
        now: Time,
    ) -> DequeueAction {
        match X::at_head(&mut stack.0, &mut port.0, packet, now) {
            DequeueAction::Send => Y::at_head(&mut stack.1, &mut port.1, packet, now),
            back => back,
        }
    }
}
