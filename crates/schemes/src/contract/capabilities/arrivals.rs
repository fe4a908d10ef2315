//! Seeing packets as they arrive at a switch, and holding them.

use super::sealed::Marker;
use super::{Absent, ArriveCx, Both, Holding, Present};
use crate::contract::{Cp, Level, Packet, Scheme, Stack};
use units::{PortId, Time};

/// What becomes of a packet that arrived at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is forwarded.
    Forward,
    /// It was for the switch, and ends here.
    Consume,
    /// It is discarded and counted.
    Drop,
}

/// What becomes of a packet that arrived at a switch which may hold packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldVerdict {
    /// It is forwarded.
    Forward,
    /// It was for the switch, and ends here.
    Consume,
    /// It is discarded and counted.
    Drop,
    /// It waits in the buffer of its ingress until this time, and is then shown to
    /// [`on_arrival`](OnArrivalOrHold::on_arrival) again. Packets held until the same time keep
    /// their order.
    Hold(Time),
}

impl From<Verdict> for HoldVerdict {
    #[inline(always)]
    fn from(verdict: Verdict) -> HoldVerdict {
        match verdict {
            Verdict::Forward => HoldVerdict::Forward,
            Verdict::Consume => HoldVerdict::Consume,
            Verdict::Drop => HoldVerdict::Drop,
        }
    }
}

/// Sees packets as they arrive. Turns off the fast paths 1 to 5 of ARCHITECTURE.md.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `hooks!(arrivals)` and does not implement `OnArrival`",
    label = "named here"
)]
pub trait OnArrival<S: Scheme>: Cp<S, Arrivals = Present> {
    /// Called for every packet that arrives, PFC frames excepted, before it is forwarded. Also
    /// called for link control packets, which are for this switch.
    fn on_arrival(
        &mut self,
        cx: &mut ArriveCx<'_, S, Self>,
        in_port: PortId,
        packet: &mut Packet<S>,
    ) -> Verdict;
}

/// Sees packets as they arrive, and may hold them. Turns off the fast paths 1 to 5 of
/// ARCHITECTURE.md.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `hooks!(holding_arrivals)` and does not implement `OnArrivalOrHold`",
    label = "named here"
)]
pub trait OnArrivalOrHold<S: Scheme>: Cp<S, Arrivals = Holding> {
    /// Called for every packet that arrives, PFC frames excepted, before it is forwarded, and for
    /// every held packet when its time has come. Also called for link control packets, which are
    /// for this switch. Not called for data that finds no room in the buffer.
    fn on_arrival(
        &mut self,
        cx: &mut ArriveCx<'_, S, Self>,
        in_port: PortId,
        packet: &mut Packet<S>,
    ) -> HoldVerdict;
}

/// What the fabric calls when a packet arrives.
pub trait ArrivalSlot<S: Scheme, C: Cp<S>>: Marker {
    /// There is a hook.
    const ENABLED: bool;
    /// The hook may hold packets.
    const HOLDS: bool;
    /// Calls the hook.
    fn on_arrival(
        cp: &mut C,
        cx: &mut ArriveCx<'_, S, C>,
        in_port: PortId,
        packet: &mut Packet<S>,
    ) -> HoldVerdict;
}

impl<S: Scheme, C: Cp<S>> ArrivalSlot<S, C> for Absent {
    const ENABLED: bool = false;
    const HOLDS: bool = false;
    #[inline(always)]
    fn on_arrival(
        _: &mut C,
        _: &mut ArriveCx<'_, S, C>,
        _: PortId,
        _: &mut Packet<S>,
    ) -> HoldVerdict {
        HoldVerdict::Forward
    }
}

impl<S: Scheme, C: OnArrival<S>> ArrivalSlot<S, C> for Present {
    const ENABLED: bool = true;
    const HOLDS: bool = false;
    #[inline(always)]
    fn on_arrival(
        cp: &mut C,
        cx: &mut ArriveCx<'_, S, C>,
        in_port: PortId,
        packet: &mut Packet<S>,
    ) -> HoldVerdict {
        cp.on_arrival(cx, in_port, packet).into()
    }
}

impl<S: Scheme, C: OnArrivalOrHold<S>> ArrivalSlot<S, C> for Holding {
    const ENABLED: bool = true;
    const HOLDS: bool = true;
    #[inline(always)]
    fn on_arrival(
        cp: &mut C,
        cx: &mut ArriveCx<'_, S, C>,
        in_port: PortId,
        packet: &mut Packet<S>,
    ) -> HoldVerdict {
        cp.on_arrival(cx, in_port, packet)
    }
}

/// The upper part sees a packet first, the lower one only what the upper one forwards.
impl<S, L, A, B, X, Y> ArrivalSlot<S, Stack<A, B>> for Both<X, Y>
where
    S: Scheme,
    L: Level,
    A: Cp<S, Level = L>,
    B: Cp<S, Level = L>,
    X: ArrivalSlot<S, A>,
    Y: ArrivalSlot<S, B>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    const HOLDS: bool = X::HOLDS || Y::HOLDS;
    #[inline(always)]
    fn on_arrival(
        stack: &mut Stack<A, B>,
        cx: &mut L::Arrive<'_, S>,
        in_port: PortId,
        packet: &mut Packet<S>,
    ) -> HoldVerdict {
        match X::on_arrival(&mut stack.0, cx, in_port, packet) {
            HoldVerdict::Forward => Y::on_arrival(&mut stack.1, cx, in_port, packet),
            other => other,
        }
    }
}
