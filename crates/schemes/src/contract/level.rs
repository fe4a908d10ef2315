//! Levels: what a congestion point's hooks may do, and so how freely a switch may be worked.
//!
//! A port may be drained lazily, long after its packets left in simulated time, only if their
//! departure can't reach another port. The level is a type, and the contexts that it hands to the
//! hooks make what it forbids impossible to write.

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
    /// The time of the event.
    fn now<S: Scheme>(cx: &Self::Arrive<'_, S>) -> Time;
    /// Made by the fabric for each call.
    fn depart<'a, S: Scheme>(departure: Departure<'a, S>) -> Self::Depart<'a, S>;
}

/// The time of the event and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct LocalCx {
    /// The time of the event.
    pub now: Time,
}

/// The time of the event, and packets may be sent.
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

/// The time of the event, packets may be sent, ports woken, and other ports looked at.
pub struct FullCx<'a, S: Scheme> {
    /// The time of the event.
    pub now: Time,
    effects: &'a mut SwitchEffects<S::Ctl>,
    views: &'a [PortView],
}

impl<'a, S: Scheme> FullCx<'a, S> {
    /// Made by the fabric. `views` is empty where the level does not look at other ports.
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
    /// Has the gates of `port` looked at again.
    pub fn wake(&mut self, port: PortId) {
        self.effects.push(SwitchEffect::Wake(port));
    }
    /// A port as it is now.
    pub fn peek(&self, port: PortId) -> &PortView {
        &self.views[port.index()]
    }
}

/// What the fabric has at a departure; what a level passes on of it is its own matter.
pub struct Departure<'a, S: Scheme> {
    /// The time of the event.
    pub now: Time,
    /// Effects, drained after the hook where the level allows them.
    pub effects: &'a mut SwitchEffects<S::Ctl>,
    /// All ports, kept up to date where the order is strict.
    pub views: &'a [PortView],
}

/// Marks and stamps only: RED, INT, a ternary detector. Nothing goes from one port to another, so hooks of
/// one port may be called for times that have passed at another: what they share must not depend on it.
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
}

/// Sends packets too, but only when something arrives or a timer fires.
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
}

/// Departures act on other ports too, or look at them: gates, credits, another port's counters.
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
}
