//! Seeing packets as they join a queue of a port.

use super::sealed::Marker;
use super::{Absent, ArriveCx, Both, Present};
use crate::contract::{Cp, Level, Packet, PortView, Scheme, Stack};

/// Sees packets as they join a queue. Runs with it do not use the fast path for ports with a
/// backlog.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `hooks!(enqueues)` and does not implement `OnEnqueue`",
    label = "named here"
)]
pub trait OnEnqueue<S: Scheme>: Cp<S, Enqueues = Present> {
    /// Called for every packet that is about to join a queue of a port. `view` is without it.
    fn on_enqueue(
        &mut self,
        cx: &mut ArriveCx<'_, S, Self>,
        port: &mut Self::Port,
        view: &PortView,
        packet: &mut Packet<S>,
    );
}

/// What the fabric calls when a packet joins a queue.
pub trait EnqueueSlot<S: Scheme, C: Cp<S>>: Marker {
    /// There is a hook.
    const ENABLED: bool;
    /// Calls the hook.
    fn on_enqueue(
        cp: &mut C,
        cx: &mut ArriveCx<'_, S, C>,
        port: &mut C::Port,
        view: &PortView,
        packet: &mut Packet<S>,
    );
}

impl<S: Scheme, C: Cp<S>> EnqueueSlot<S, C> for Absent {
    const ENABLED: bool = false;
    #[inline(always)]
    fn on_enqueue(
        _: &mut C,
        _: &mut ArriveCx<'_, S, C>,
        _: &mut C::Port,
        _: &PortView,
        _: &mut Packet<S>,
    ) {
    }
}

impl<S: Scheme, C: OnEnqueue<S>> EnqueueSlot<S, C> for Present {
    const ENABLED: bool = true;
    #[inline(always)]
    fn on_enqueue(
        cp: &mut C,
        cx: &mut ArriveCx<'_, S, C>,
        port: &mut C::Port,
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        cp.on_enqueue(cx, port, view, packet);
    }
}

/// The upper part sees a packet first.
impl<S, L, A, B, X, Y> EnqueueSlot<S, Stack<A, B>> for Both<X, Y>
where
    S: Scheme,
    L: Level,
    A: Cp<S, Level = L>,
    B: Cp<S, Level = L>,
    X: EnqueueSlot<S, A>,
    Y: EnqueueSlot<S, B>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    #[inline(always)]
    fn on_enqueue(
        stack: &mut Stack<A, B>,
        cx: &mut L::Arrive<'_, S>,
        port: &mut (A::Port, B::Port),
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        X::on_enqueue(&mut stack.0, cx, &mut port.0, view, packet);
        Y::on_enqueue(&mut stack.1, cx, &mut port.1, view, packet);
    }
}
