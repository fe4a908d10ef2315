//! Levels: what the hooks of a congestion point may do. The level decides in which order the fabric
//! may handle the events of a switch.
//!
//! A port may be drained lazily, long after its packets left in simulated time, only if their
//! departures cannot act on another port. The level is a type. The contexts that it gives to hooks
//! have no methods for what it forbids, so that a hook that breaks the rule does not compile.

use super::effects::{QpEnd, SwitchEffect, SwitchEffects};
use super::{Address, PortView, Scheme};
use units::{PortId, Time};

/// How the fabric may order the work of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Ports are drained when they are touched.
    Lazy,
    /// Everything in time order.
    Strict,
}

/// What a congestion point's hooks may do: [`PortLocal`], [`Emits`] or [`Strict`].
pub trait Level: 'static {
    /// How its switches are worked.
    const ORDER: Order;
    /// Whether its hooks have effects for the fabric to apply.
    const EMITS: bool;
    /// What arrival, enqueue, PFC and timer hooks work with.
    type Arrive<'a, S: Scheme>;
    /// What departure hooks work with.
    type Depart<'a, S: Scheme>;
    /// Made by the fabric for each call.
    fn arrive<'a, S: Scheme>(full: FullCx<'a, S>) -> Self::Arrive<'a, S>;
    /// Returns the time of the event.
    fn now<S: Scheme>(cx: &Self::Arrive<'_, S>) -> Time;
    /// Made by the fabric for each call.
    fn depart<'a, S: Scheme>(departure: Departure<'a, S>) -> Self::Depart<'a, S>;
    /// For a [`Mix`](super::Mix): all that such a context holds. `spare` takes the place of the
    /// effects where the level has none.
    fn full<'c, S: Scheme>(
        cx: &'c mut Self::Arrive<'_, S>,
        spare: &'c mut SwitchEffects<S::Ctl>,
    ) -> FullCx<'c, S>;
    /// For a [`Mix`](super::Mix): all that the context of a departure holds. `spare` takes the
    /// place of the effects where the level has none.
    fn full_departure<'c, S: Scheme>(
        cx: &'c mut Self::Depart<'_, S>,
        spare: &'c mut SwitchEffects<S::Ctl>,
    ) -> FullCx<'c, S>;
}

/// The stricter of two levels.
pub trait Join<Other: Level>: Level {
    /// The one that allows hooks more.
    type Stricter: Level;
}

macro_rules! join {
    ($($one:ty, $other:ty => $stricter:ty;)*) => {
        $(impl Join<$other> for $one {
            type Stricter = $stricter;
        })*
    };
}

join! {
    PortLocal, PortLocal => PortLocal;
    PortLocal, Emits => Emits;
    PortLocal, Strict => Strict;
    Emits, PortLocal => Emits;
    Emits, Emits => Emits;
    Emits, Strict => Strict;
    Strict, PortLocal => Strict;
    Strict, Emits => Strict;
    Strict, Strict => Strict;
}

/// The time of the event and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct LocalCx {
    /// The time of the event.
    pub now: Time,
}

/// The time of the event. Packets may be sent.
pub struct EmitCx<'a, S: Scheme> {
    /// The time of the event.
    pub now: Time,
    effects: &'a mut SwitchEffects<S::Ctl>,
}

impl<S: Scheme> EmitCx<'_, S> {
    /// Sends `ctl` to an end of a QP.
    pub fn to_host(&mut self, address: Address, target: QpEnd, ctl: S::Ctl) {
        self.effects.push(SwitchEffect::ToHost(address, target, ctl));
    }
    /// Sends `ctl` to the node at the other end of a port's link.
    pub fn to_link(&mut self, port: PortId, ctl: S::Ctl) {
        self.effects.push(SwitchEffect::ToLink(port, ctl));
    }
}

/// The time of the event. Packets may be sent, ports woken, and other ports read.
pub struct FullCx<'a, S: Scheme> {
    /// The time of the event.
    pub now: Time,
    effects: &'a mut SwitchEffects<S::Ctl>,
    views: &'a [PortView],
}

impl<'a, S: Scheme> FullCx<'a, S> {
    /// Made by the fabric. `views` is empty if the level does not read other ports.
    pub fn new(now: Time, effects: &'a mut SwitchEffects<S::Ctl>, views: &'a [PortView]) -> Self {
        FullCx { now, effects, views }
    }
    /// Sends `ctl` to an end of a QP.
    pub fn to_host(&mut self, address: Address, target: QpEnd, ctl: S::Ctl) {
        self.effects.push(SwitchEffect::ToHost(address, target, ctl));
    }
    /// Sends `ctl` to the node at the other end of a port's link.
    pub fn to_link(&mut self, port: PortId, ctl: S::Ctl) {
        self.effects.push(SwitchEffect::ToLink(port, ctl));
    }
    /// Has the gates of `port` called again.
    pub fn wake(&mut self, port: PortId) {
        self.effects.push(SwitchEffect::Wake(port));
    }
    /// For a [`Mix`](super::Mix): the context of a scheme in it.
    pub(super) fn of_scheme<'c, Own: Scheme>(
        &self,
        effects: &'c mut SwitchEffects<Own::Ctl>,
    ) -> FullCx<'c, Own>
    where
        'a: 'c,
    {
        FullCx::new(self.now, effects, self.views)
    }
    /// Has the fabric apply an effect.
    pub(super) fn push(&mut self, effect: SwitchEffect<S::Ctl>) {
        self.effects.push(effect);
    }
    /// A port as it is now.
    pub fn peek(&self, port: PortId) -> &PortView {
        &self.views[port.index()]
    }
}

/// What the fabric has at a departure. A level gives its hooks all of it or a part.
pub struct Departure<'a, S: Scheme> {
    /// The time of the event.
    pub now: Time,
    /// Effects, applied after the hook if the level allows them.
    pub effects: &'a mut SwitchEffects<S::Ctl>,
    /// All ports. Kept up to date if the order is strict.
    pub views: &'a [PortView],
}

impl<'a, S: Scheme> From<FullCx<'a, S>> for Departure<'a, S> {
    #[inline]
    fn from(full: FullCx<'a, S>) -> Departure<'a, S> {
        let FullCx { now, effects, views } = full;
        Departure { now, effects, views }
    }
}

/// Hooks only mark and stamp: RED, INT, a ternary detector. Nothing goes from one port to another.
/// Hooks of one port may be called for times that have passed at another port, so state that ports
/// share must not depend on the order between ports.
#[derive(Clone, Copy, Debug)]
pub struct PortLocal;

impl Level for PortLocal {
    const ORDER: Order = Order::Lazy;
    const EMITS: bool = false;
    type Arrive<'a, S: Scheme> = LocalCx;
    type Depart<'a, S: Scheme> = LocalCx;
    #[inline]
    fn arrive<'a, S: Scheme>(full: FullCx<'a, S>) -> LocalCx {
        LocalCx { now: full.now }
    }
    #[inline]
    fn now<S: Scheme>(cx: &LocalCx) -> Time {
        cx.now
    }
    #[inline]
    fn depart<'a, S: Scheme>(departure: Departure<'a, S>) -> LocalCx {
        LocalCx { now: departure.now }
    }
    #[inline]
    fn full<'c, S: Scheme>(
        cx: &'c mut LocalCx,
        spare: &'c mut SwitchEffects<S::Ctl>,
    ) -> FullCx<'c, S> {
        FullCx::new(cx.now, spare, &[])
    }
    #[inline]
    fn full_departure<'c, S: Scheme>(
        cx: &'c mut LocalCx,
        spare: &'c mut SwitchEffects<S::Ctl>,
    ) -> FullCx<'c, S> {
        FullCx::new(cx.now, spare, &[])
    }
}

/// Hooks may also send packets, but only when something arrives or a timer fires.
#[derive(Clone, Copy, Debug)]
pub struct Emits;

impl Level for Emits {
    const ORDER: Order = Order::Lazy;
    const EMITS: bool = true;
    type Arrive<'a, S: Scheme> = EmitCx<'a, S>;
    type Depart<'a, S: Scheme> = LocalCx;
    #[inline]
    fn arrive<'a, S: Scheme>(full: FullCx<'a, S>) -> EmitCx<'a, S> {
        EmitCx { now: full.now, effects: full.effects }
    }
    #[inline]
    fn now<S: Scheme>(cx: &EmitCx<'_, S>) -> Time {
        cx.now
    }
    #[inline]
    fn depart<'a, S: Scheme>(departure: Departure<'a, S>) -> LocalCx {
        LocalCx { now: departure.now }
    }
    #[inline]
    fn full<'c, S: Scheme>(
        cx: &'c mut EmitCx<'_, S>,
        _spare: &'c mut SwitchEffects<S::Ctl>,
    ) -> FullCx<'c, S> {
        FullCx::new(cx.now, cx.effects, &[])
    }
    #[inline]
    fn full_departure<'c, S: Scheme>(
        cx: &'c mut LocalCx,
        spare: &'c mut SwitchEffects<S::Ctl>,
    ) -> FullCx<'c, S> {
        FullCx::new(cx.now, spare, &[])
    }
}

/// Departures may act on other ports or read them: gates, credits, counters of another port. The
/// fabric handles every departure as an event, in time order.
#[derive(Clone, Copy, Debug)]
pub struct Strict;

impl Level for Strict {
    const ORDER: Order = Order::Strict;
    const EMITS: bool = true;
    type Arrive<'a, S: Scheme> = FullCx<'a, S>;
    type Depart<'a, S: Scheme> = FullCx<'a, S>;
    #[inline]
    fn arrive<'a, S: Scheme>(full: FullCx<'a, S>) -> FullCx<'a, S> {
        full
    }
    #[inline]
    fn now<S: Scheme>(cx: &FullCx<'_, S>) -> Time {
        cx.now
    }
    #[inline]
    fn depart<'a, S: Scheme>(departure: Departure<'a, S>) -> FullCx<'a, S> {
        FullCx::new(departure.now, departure.effects, departure.views)
    }
    #[inline]
    fn full<'c, S: Scheme>(
        cx: &'c mut FullCx<'_, S>,
        _spare: &'c mut SwitchEffects<S::Ctl>,
    ) -> FullCx<'c, S> {
        FullCx::new(cx.now, cx.effects, cx.views)
    }
    #[inline]
    fn full_departure<'c, S: Scheme>(
        cx: &'c mut FullCx<'_, S>,
        _spare: &'c mut SwitchEffects<S::Ctl>,
    ) -> FullCx<'c, S> {
        FullCx::new(cx.now, cx.effects, cx.views)
    }
}
