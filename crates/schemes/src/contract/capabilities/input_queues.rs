//! Working on the input queues of combined input- and output-queued (CIOQ) switches.

use super::sealed::Marker;
use super::{Absent, ArriveCx, Both, Present};
use crate::contract::{Cp, Header, Level, Scheme, Stack};
use units::{PortId, Time};

/// Whether a packet may cross from its input queue to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// It may.
    Allowed,
    /// It may only if the output's queue is empty and nothing else may cross to it.
    AllowedIfLast,
    /// It may not before a hook wakes the port or a timer fires.
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

/// Works on input queues. Such a scheme runs on combined input- and output-queued (CIOQ) switches
/// only. After a timer, `may_block` and `crossing` are called again for all that waits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `hooks!(input_queues)` and does not implement `InputQueues`",
    label = "named here"
)]
pub trait InputQueues<S: Scheme>: Cp<S, InputQueues = Present> {
    /// Called for data that joins the input queue of the port through which it came, on its way to
    /// `out_port`.
    fn on_input(
        &mut self,
        cx: &mut ArriveCx<'_, S, Self>,
        input: &InputView<'_>,
        out_port: PortId,
        header: &Header,
    );
    /// The port that data takes instead of `chosen`, which the forwarding policy selected. One of
    /// `equal_cost`; `chosen` to leave it.
    /// Called before [`on_input`](InputQueues::on_input).
    fn reroute(
        &mut self,
        cx: &mut ArriveCx<'_, S, Self>,
        header: &Header,
        equal_cost: &[PortId],
        chosen: PortId,
    ) -> PortId;
    /// Whether some packet may have to wait before it crosses to `out_port` now. If not,
    /// [`crossing`](InputQueues::crossing) is not called, and all packets may cross.
    fn may_block(&self, out_port: PortId, now: Time) -> bool;
    /// Whether a data packet may cross from its input queue to `out_port`, for which
    /// [`may_block`](InputQueues::may_block) is true. Packets of other flows behind a blocked
    /// packet may pass it; those of its own flow stay behind it. The answer must not depend on what
    /// crosses to another port at the same instant.
    fn crossing(&self, out_port: PortId, header: &Header, now: Time) -> Crossing;
}

/// What the fabric calls for input queues.
pub trait InputQueueSlot<S: Scheme, C: Cp<S>>: Marker {
    /// There are hooks.
    const ENABLED: bool;
    /// Calls the hook for data that joins an input queue.
    fn on_input(
        cp: &mut C,
        cx: &mut ArriveCx<'_, S, C>,
        input: &InputView<'_>,
        out_port: PortId,
        header: &Header,
    );
    /// The port that data takes.
    fn reroute(
        cp: &mut C,
        cx: &mut ArriveCx<'_, S, C>,
        header: &Header,
        equal_cost: &[PortId],
        chosen: PortId,
    ) -> PortId;
    /// Whether some packet may have to wait.
    fn may_block(cp: &C, out_port: PortId, now: Time) -> bool;
    /// Whether a packet may cross.
    fn crossing(cp: &C, out_port: PortId, header: &Header, now: Time) -> Crossing;
}

impl<S: Scheme, C: Cp<S>> InputQueueSlot<S, C> for Absent {
    const ENABLED: bool = false;
    #[inline(always)]
    fn on_input(_: &mut C, _: &mut ArriveCx<'_, S, C>, _: &InputView<'_>, _: PortId, _: &Header) {}
    #[inline(always)]
    fn reroute(
        _: &mut C,
        _: &mut ArriveCx<'_, S, C>,
        _: &Header,
        _: &[PortId],
        chosen: PortId,
    ) -> PortId {
        chosen
    }
    #[inline(always)]
    fn may_block(_: &C, _: PortId, _: Time) -> bool {
        false
    }
    #[inline(always)]
    fn crossing(_: &C, _: PortId, _: &Header, _: Time) -> Crossing {
        Crossing::Allowed
    }
}

impl<S: Scheme, C: InputQueues<S>> InputQueueSlot<S, C> for Present {
    const ENABLED: bool = true;
    #[inline(always)]
    fn on_input(
        cp: &mut C,
        cx: &mut ArriveCx<'_, S, C>,
        input: &InputView<'_>,
        out_port: PortId,
        header: &Header,
    ) {
        cp.on_input(cx, input, out_port, header);
    }
    #[inline(always)]
    fn reroute(
        cp: &mut C,
        cx: &mut ArriveCx<'_, S, C>,
        header: &Header,
        equal_cost: &[PortId],
        chosen: PortId,
    ) -> PortId {
        cp.reroute(cx, header, equal_cost, chosen)
    }
    #[inline(always)]
    fn may_block(cp: &C, out_port: PortId, now: Time) -> bool {
        cp.may_block(out_port, now)
    }
    #[inline(always)]
    fn crossing(cp: &C, out_port: PortId, header: &Header, now: Time) -> Crossing {
        cp.crossing(out_port, header, now)
    }
}

/// The upper part reroutes; the lower one if the upper one leaves the choice. A packet crosses if
/// both parts let it.
impl<S, L, A, B, X, Y> InputQueueSlot<S, Stack<A, B>> for Both<X, Y>
where
    S: Scheme,
    L: Level,
    A: Cp<S, Level = L>,
    B: Cp<S, Level = L>,
    X: InputQueueSlot<S, A>,
    Y: InputQueueSlot<S, B>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    #[inline(always)]
    fn on_input(
        stack: &mut Stack<A, B>,
        cx: &mut L::Arrive<'_, S>,
        input: &InputView<'_>,
        out_port: PortId,
        header: &Header,
    ) {
        X::on_input(&mut stack.0, cx, input, out_port, header);
        Y::on_input(&mut stack.1, cx, input, out_port, header);
    }
    #[inline(always)]
    fn reroute(
        stack: &mut Stack<A, B>,
        cx: &mut L::Arrive<'_, S>,
        header: &Header,
        equal_cost: &[PortId],
        chosen: PortId,
    ) -> PortId {
        let upper = X::reroute(&mut stack.0, cx, header, equal_cost, chosen);
        if upper == chosen {
            Y::reroute(&mut stack.1, cx, header, equal_cost, chosen)
        } else {
            upper
        }
    }
    #[inline(always)]
    fn may_block(stack: &Stack<A, B>, out_port: PortId, now: Time) -> bool {
        X::may_block(&stack.0, out_port, now) || Y::may_block(&stack.1, out_port, now)
    }
    #[inline(always)]
    fn crossing(stack: &Stack<A, B>, out_port: PortId, header: &Header, now: Time) -> Crossing {
        let upper = if X::may_block(&stack.0, out_port, now) {
            X::crossing(&stack.0, out_port, header, now)
        } else {
            Crossing::Allowed
        };
        match upper {
            Crossing::Allowed if Y::may_block(&stack.1, out_port, now) => {
                Y::crossing(&stack.1, out_port, header, now)
            }
            answer => answer,
        }
    }
}
