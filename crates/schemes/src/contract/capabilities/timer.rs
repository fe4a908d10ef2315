//! Timers of reaction points, notification points and congestion points.

use super::sealed::Marker;
use super::{Absent, ArriveCx, Both, Present};
use crate::contract::{Cp, HostCx, Level, Np, PortView, Ports, Rp, Scheme, Stack};
use units::{PortId, Time};

/// A congestion point with a timer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `hooks!(timer)` and does not implement `CpTimer`",
    label = "named here"
)]
pub trait CpTimer<S: Scheme>: Cp<S, Timer = Present> {
    /// When [`on_timer`](CpTimer::on_timer) is to be called; [`Time::NEVER`] for not at all. Read
    /// after each hook; after `on_depart` only if the level is [`Strict`](super::super::Strict).
    fn next_timer(&self) -> Time;
    /// Called when the time has come. Afterwards [`next_timer`](CpTimer::next_timer) must be later
    /// than now.
    fn on_timer(&mut self, cx: &mut ArriveCx<'_, S, Self>, ports: &mut dyn Ports<Self::Port>);
}

/// What the fabric calls for the timer of a congestion point.
pub trait CpTimerSlot<S: Scheme, C: Cp<S>>: Marker {
    /// There is a timer.
    const ENABLED: bool;
    /// When the timer is due.
    fn next_timer(cp: &C) -> Time;
    /// Calls the hook.
    fn on_timer(cp: &mut C, cx: &mut ArriveCx<'_, S, C>, ports: &mut dyn Ports<C::Port>);
}

impl<S: Scheme, C: Cp<S>> CpTimerSlot<S, C> for Absent {
    const ENABLED: bool = false;
    #[inline(always)]
    fn next_timer(_: &C) -> Time {
        Time::NEVER
    }
    #[inline(always)]
    fn on_timer(_: &mut C, _: &mut ArriveCx<'_, S, C>, _: &mut dyn Ports<C::Port>) {}
}

impl<S: Scheme, C: CpTimer<S>> CpTimerSlot<S, C> for Present {
    const ENABLED: bool = true;
    #[inline(always)]
    fn next_timer(cp: &C) -> Time {
        cp.next_timer()
    }
    #[inline(always)]
    fn on_timer(cp: &mut C, cx: &mut ArriveCx<'_, S, C>, ports: &mut dyn Ports<C::Port>) {
        cp.on_timer(cx, ports);
    }
}

/// Each part has its own timer.
impl<S, L, A, B, X, Y> CpTimerSlot<S, Stack<A, B>> for Both<X, Y>
where
    S: Scheme,
    L: Level,
    A: Cp<S, Level = L>,
    B: Cp<S, Level = L>,
    X: CpTimerSlot<S, A>,
    Y: CpTimerSlot<S, B>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    #[inline(always)]
    fn next_timer(stack: &Stack<A, B>) -> Time {
        X::next_timer(&stack.0).min(Y::next_timer(&stack.1))
    }
    #[inline(always)]
    fn on_timer(
        stack: &mut Stack<A, B>,
        cx: &mut L::Arrive<'_, S>,
        ports: &mut dyn Ports<(A::Port, B::Port)>,
    ) {
        let now = L::now::<S>(cx);
        if X::next_timer(&stack.0) <= now {
            X::on_timer(&mut stack.0, cx, &mut Upper(ports));
        }
        if Y::next_timer(&stack.1) <= now {
            Y::on_timer(&mut stack.1, cx, &mut Lower(ports));
        }
    }
}

/// The upper congestion point's view of the ports of a stack.
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

/// The lower congestion point's view of the ports of a stack.
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

/// A reaction point with a timer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `type Timer = Present` and does not implement `RpTimer`",
    label = "named here"
)]
pub trait RpTimer<S: Scheme>: Rp<S, Timer = Present> {
    /// When [`on_timer`](RpTimer::on_timer) is to be called; [`Time::NEVER`] for not at all. Read
    /// after each hook. A time set in [`on_send`](Rp::on_send) must be at least a microsecond
    /// later, because departures are worked in spans of up to that.
    fn next_timer(&self) -> Time;
    /// Called when the time has come. Afterwards [`next_timer`](RpTimer::next_timer) must be later
    /// than now.
    fn on_timer(&mut self, cx: &mut HostCx<'_, S>);
}

/// What the fabric calls for the timer of a reaction point.
pub trait RpTimerSlot<S: Scheme, R: Rp<S>>: Marker {
    /// There is a timer.
    const ENABLED: bool;
    /// When the timer is due.
    fn next_timer(rp: &R) -> Time;
    /// Calls the hook.
    fn on_timer(rp: &mut R, cx: &mut HostCx<'_, S>);
}

impl<S: Scheme, R: Rp<S>> RpTimerSlot<S, R> for Absent {
    const ENABLED: bool = false;
    #[inline(always)]
    fn next_timer(_: &R) -> Time {
        Time::NEVER
    }
    #[inline(always)]
    fn on_timer(_: &mut R, _: &mut HostCx<'_, S>) {}
}

impl<S: Scheme, R: RpTimer<S>> RpTimerSlot<S, R> for Present {
    const ENABLED: bool = true;
    #[inline(always)]
    fn next_timer(rp: &R) -> Time {
        rp.next_timer()
    }
    #[inline(always)]
    fn on_timer(rp: &mut R, cx: &mut HostCx<'_, S>) {
        rp.on_timer(cx);
    }
}

/// A notification point with a timer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `type Timer = Present` and does not implement `NpTimer`",
    label = "named here"
)]
pub trait NpTimer<S: Scheme>: Np<S, Timer = Present> {
    /// When [`on_timer`](NpTimer::on_timer) is to be called; [`Time::NEVER`] for not at all. Read
    /// after each hook.
    fn next_timer(&self) -> Time;
    /// Called when the time has come. Afterwards [`next_timer`](NpTimer::next_timer) must be later
    /// than now.
    fn on_timer(&mut self, cx: &mut HostCx<'_, S>);
}

/// What the fabric calls for the timer of a notification point.
pub trait NpTimerSlot<S: Scheme, N: Np<S>>: Marker {
    /// There is a timer.
    const ENABLED: bool;
    /// When the timer is due.
    fn next_timer(np: &N) -> Time;
    /// Calls the hook.
    fn on_timer(np: &mut N, cx: &mut HostCx<'_, S>);
}

impl<S: Scheme, N: Np<S>> NpTimerSlot<S, N> for Absent {
    const ENABLED: bool = false;
    #[inline(always)]
    fn next_timer(_: &N) -> Time {
        Time::NEVER
    }
    #[inline(always)]
    fn on_timer(_: &mut N, _: &mut HostCx<'_, S>) {}
}

impl<S: Scheme, N: NpTimer<S>> NpTimerSlot<S, N> for Present {
    const ENABLED: bool = true;
    #[inline(always)]
    fn next_timer(np: &N) -> Time {
        np.next_timer()
    }
    #[inline(always)]
    fn on_timer(np: &mut N, cx: &mut HostCx<'_, S>) {
        np.on_timer(cx);
    }
}
