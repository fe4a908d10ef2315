//! The congestion points of a switch, one for each scheme.

use super::{Either, LevelOf, Mix, MixLevel, MixParams, Mixable, added};
use crate::contract::{
    Absent, ArrivalSlot, Both, Cp, CpTimerSlot, Departure, EnqueueSlot, FullCx, HoldVerdict, Join,
    Level, Packet, PortFacts, PortView, Ports, Scheme, SwitchEffect, SwitchEffects, SwitchFacts,
    SwitchFlowMetric,
};
use units::splitmix::mix;
use units::{PortId, Priority, Time};

/// The congestion points of a [`Mix`] in a switch. Either may be missing: that scheme's switches
/// of this kind take no part.
#[derive(Debug)]
pub struct MixSwitch<A: Mixable, B: Mixable>
where
    LevelOf<A>: Join<LevelOf<B>>,
{
    first: Option<A::Cp>,
    second: Option<B::Cp>,
    first_effects: SwitchEffects<A::Ctl>,
    second_effects: SwitchEffects<B::Ctl>,
    /// Stays empty: effects of a level that has none.
    no_effects: SwitchEffects<Either<A::Ctl, B::Ctl>>,
}

/// What both congestion points keep of a port.
type PortOf<A, B> =
    (Option<<<A as Scheme>::Cp as Cp<A>>::Port>, Option<<<B as Scheme>::Cp as Cp<B>>::Port>);

impl<A, B> MixSwitch<A, B>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
    pub(super) fn new(
        params: &MixParams<A::Params, B::Params>,
        facts: &SwitchFacts<'_>,
    ) -> Option<Self> {
        let first = A::congestion_point(&params.first, facts);
        let seed = mix(facts.seed);
        let second = B::congestion_point(&params.second, &SwitchFacts { seed, ..*facts });
        (first.is_some() || second.is_some()).then(|| MixSwitch {
            first,
            second,
            first_effects: Vec::new(),
            second_effects: Vec::new(),
            no_effects: Vec::new(),
        })
    }
}

/// A packet as its own scheme sees it.
#[inline]
fn own<A, B>(packet: &Packet<Mix<A, B>>) -> Either<Packet<A>, Packet<B>>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
    let header = packet.header;
    match (packet.meta(), packet.ctl()) {
        (Some(Either::First(meta)), _) => Either::First(Packet::with_meta(header, *meta)),
        (Some(Either::Second(meta)), _) => Either::Second(Packet::with_meta(header, *meta)),
        (None, Some(Either::First(ctl))) => Either::First(Packet::with_ctl(header, *ctl)),
        (None, Some(Either::Second(ctl))) => Either::Second(Packet::with_ctl(header, *ctl)),
        (None, None) => unreachable!("a packet carries the one or the other"),
    }
}

/// Writes back what hooks of the packet's own scheme may have changed.
#[inline]
fn store<A, B>(packet: &mut Packet<Mix<A, B>>, own: &Either<Packet<A>, Packet<B>>)
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
    let (header, meta) = packet.split_mut();
    match own {
        Either::First(own) => {
            *header = own.header;
            if let (Some(meta), Some(own)) = (meta, own.meta()) {
                *meta = Either::First(*own);
            }
        }
        Either::Second(own) => {
            *header = own.header;
            if let (Some(meta), Some(own)) = (meta, own.meta()) {
                *meta = Either::Second(*own);
            }
        }
    }
}

/// Calls a hook of scheme `Own` with a context of its level, and hands its effects on.
#[inline]
fn relay<S: Scheme, Own: Scheme, R>(
    full: &mut FullCx<'_, S>,
    effects: &mut SwitchEffects<Own::Ctl>,
    wrap: impl Fn(Own::Ctl) -> S::Ctl,
    hook: impl for<'c> FnOnce(&mut <LevelOf<Own> as Level>::Arrive<'c, Own>) -> R,
) -> R {
    let result = {
        let mut cx = LevelOf::<Own>::arrive(full.of_scheme::<Own>(effects));
        hook(&mut cx)
    };
    hand_on(full, effects, wrap);
    result
}

/// Calls a departure hook of one scheme with a context of the mix.
#[inline]
fn relay_departure<S: Scheme, Own: Scheme>(
    full: &mut FullCx<'_, S>,
    effects: &mut SwitchEffects<Own::Ctl>,
    wrap: impl Fn(Own::Ctl) -> S::Ctl,
    hook: impl for<'c> FnOnce(&mut <LevelOf<Own> as Level>::Depart<'c, Own>),
) {
    {
        let own = full.of_scheme::<Own>(effects);
        let mut cx = LevelOf::<Own>::depart(Departure::from(own));
        hook(&mut cx);
    }
    hand_on(full, effects, wrap);
}

#[inline]
fn hand_on<S: Scheme, C>(
    full: &mut FullCx<'_, S>,
    effects: &mut SwitchEffects<C>,
    wrap: impl Fn(C) -> S::Ctl,
) {
    for effect in effects.drain(..) {
        full.push(match effect {
            SwitchEffect::ToHost(address, end, ctl) => {
                SwitchEffect::ToHost(address, end, wrap(ctl))
            }
            SwitchEffect::ToLink(port, ctl) => SwitchEffect::ToLink(port, wrap(ctl)),
            SwitchEffect::Wake(port) => SwitchEffect::Wake(port),
        });
    }
}

impl<A, B> Cp<Mix<A, B>> for MixSwitch<A, B>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
    type Level = MixLevel<A, B>;
    type Port = PortOf<A, B>;
    type Arrivals = Both<<A::Cp as Cp<A>>::Arrivals, <B::Cp as Cp<B>>::Arrivals>;
    type Enqueues = Both<<A::Cp as Cp<A>>::Enqueues, <B::Cp as Cp<B>>::Enqueues>;
    type SubQueues = Absent;
    type Requeue = Absent;
    type InputQueues = Absent;
    type Timer = Both<<A::Cp as Cp<A>>::Timer, <B::Cp as Cp<B>>::Timer>;

    fn port(&self, params: &MixParams<A::Params, B::Params>, facts: &PortFacts) -> Self::Port {
        let first = self.first.as_ref().map(|cp| cp.port(&params.first, facts));
        let second = self.second.as_ref().map(|cp| cp.port(&params.second, facts));
        (first, second)
    }
    fn may_mark(
        &self,
        port: &Self::Port,
        view: &PortView,
        packet: &Packet<Mix<A, B>>,
        now: Time,
    ) -> bool {
        match own(packet) {
            Either::First(packet) => match (&self.first, &port.0) {
                (Some(cp), Some(port)) => cp.may_mark(port, view, &packet, now),
                _ => true,
            },
            Either::Second(packet) => match (&self.second, &port.1) {
                (Some(cp), Some(port)) => cp.may_mark(port, view, &packet, now),
                _ => true,
            },
        }
    }
    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut <Self::Level as Level>::Depart<'_, Mix<A, B>>,
        port: &mut Self::Port,
        view: &PortView,
        packet: &mut Packet<Mix<A, B>>,
    ) {
        let mut full = <Self::Level as Level>::full_departure(cx, &mut self.no_effects);
        let mut mine = own(packet);
        match &mut mine {
            Either::First(packet) => {
                let (Some(cp), Some(port)) = (&mut self.first, &mut port.0) else { return };
                let effects = &mut self.first_effects;
                relay_departure::<_, A>(&mut full, effects, Either::First, |cx| {
                    cp.on_depart(cx, port, view, packet);
                });
            }
            Either::Second(packet) => {
                let (Some(cp), Some(port)) = (&mut self.second, &mut port.1) else { return };
                let effects = &mut self.second_effects;
                relay_departure::<_, B>(&mut full, effects, Either::Second, |cx| {
                    cp.on_depart(cx, port, view, packet);
                });
            }
        }
        store(packet, &mine);
    }
    fn on_drop(
        &mut self,
        cx: &mut <Self::Level as Level>::Arrive<'_, Mix<A, B>>,
        port: &mut Self::Port,
        view: &PortView,
        packet: &Packet<Mix<A, B>>,
    ) {
        let mut full = <Self::Level as Level>::full(cx, &mut self.no_effects);
        match own(packet) {
            Either::First(packet) => {
                let (Some(cp), Some(port)) = (&mut self.first, &mut port.0) else { return };
                let effects = &mut self.first_effects;
                relay::<_, A, _>(&mut full, effects, Either::First, |cx| {
                    cp.on_drop(cx, port, view, &packet);
                });
            }
            Either::Second(packet) => {
                let (Some(cp), Some(port)) = (&mut self.second, &mut port.1) else { return };
                let effects = &mut self.second_effects;
                relay::<_, B, _>(&mut full, effects, Either::Second, |cx| {
                    cp.on_drop(cx, port, view, &packet);
                });
            }
        }
    }
    fn on_pfc(
        &mut self,
        cx: &mut <Self::Level as Level>::Arrive<'_, Mix<A, B>>,
        port: &mut Self::Port,
        view: &PortView,
        priority: Priority,
        paused: bool,
    ) {
        let mut full = <Self::Level as Level>::full(cx, &mut self.no_effects);
        if let (Some(cp), Some(port)) = (&mut self.first, &mut port.0) {
            relay::<_, A, _>(&mut full, &mut self.first_effects, Either::First, |cx| {
                cp.on_pfc(cx, port, view, priority, paused);
            });
        }
        if let (Some(cp), Some(port)) = (&mut self.second, &mut port.1) {
            relay::<_, B, _>(&mut full, &mut self.second_effects, Either::Second, |cx| {
                cp.on_pfc(cx, port, view, priority, paused);
            });
        }
    }
    fn on_rate(
        &mut self,
        params: &MixParams<A::Params, B::Params>,
        port: &mut Self::Port,
        facts: &PortFacts,
    ) {
        if let (Some(cp), Some(port)) = (&mut self.first, &mut port.0) {
            cp.on_rate(&params.first, port, facts);
        }
        if let (Some(cp), Some(port)) = (&mut self.second, &mut port.1) {
            cp.on_rate(&params.second, port, facts);
        }
    }
    fn observe(&self, port: &Self::Port, now: Time) -> Option<f64> {
        let first = self.first.as_ref().zip(port.0.as_ref());
        let second = self.second.as_ref().zip(port.1.as_ref());
        first
            .and_then(|(cp, port)| cp.observe(port, now))
            .or_else(|| second.and_then(|(cp, port)| cp.observe(port, now)))
    }
    fn observe_flow(&self, src: u32, dst: u32, now: Time, what: SwitchFlowMetric) -> Option<f64> {
        let first = self.first.as_ref().and_then(|cp| cp.observe_flow(src, dst, now, what));
        first.or_else(|| self.second.as_ref()?.observe_flow(src, dst, now, what))
    }
    fn may_hold(&self) -> bool {
        self.first.as_ref().is_some_and(Cp::may_hold)
            || self.second.as_ref().is_some_and(Cp::may_hold)
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let first = self.first.as_ref().map_or(Vec::new(), Cp::counters);
        added(first, self.second.as_ref().map_or(Vec::new(), Cp::counters))
    }
}

/// Each congestion point sees the packets of its own scheme.
impl<A, B, X, Y> ArrivalSlot<Mix<A, B>, MixSwitch<A, B>> for Both<X, Y>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
    X: ArrivalSlot<A, A::Cp>,
    Y: ArrivalSlot<B, B::Cp>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    const HOLDS: bool = X::HOLDS || Y::HOLDS;
    #[inline]
    fn on_arrival(
        cp: &mut MixSwitch<A, B>,
        cx: &mut <MixLevel<A, B> as Level>::Arrive<'_, Mix<A, B>>,
        in_port: PortId,
        packet: &mut Packet<Mix<A, B>>,
    ) -> HoldVerdict {
        let mut full = MixLevel::<A, B>::full(cx, &mut cp.no_effects);
        let mut mine = own(packet);
        let verdict = match &mut mine {
            Either::First(packet) => {
                let Some(point) = &mut cp.first else { return HoldVerdict::Forward };
                relay::<_, A, _>(&mut full, &mut cp.first_effects, Either::First, |cx| {
                    X::on_arrival(point, cx, in_port, packet)
                })
            }
            Either::Second(packet) => {
                let Some(point) = &mut cp.second else { return HoldVerdict::Forward };
                relay::<_, B, _>(&mut full, &mut cp.second_effects, Either::Second, |cx| {
                    Y::on_arrival(point, cx, in_port, packet)
                })
            }
        };
        store(packet, &mine);
        verdict
    }
}

/// Each congestion point sees the packets of its own scheme.
impl<A, B, X, Y> EnqueueSlot<Mix<A, B>, MixSwitch<A, B>> for Both<X, Y>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
    X: EnqueueSlot<A, A::Cp>,
    Y: EnqueueSlot<B, B::Cp>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    #[inline]
    fn on_enqueue(
        cp: &mut MixSwitch<A, B>,
        cx: &mut <MixLevel<A, B> as Level>::Arrive<'_, Mix<A, B>>,
        port: &mut PortOf<A, B>,
        view: &PortView,
        packet: &mut Packet<Mix<A, B>>,
    ) {
        let mut full = MixLevel::<A, B>::full(cx, &mut cp.no_effects);
        let mut mine = own(packet);
        match &mut mine {
            Either::First(packet) => {
                let (Some(point), Some(port)) = (&mut cp.first, &mut port.0) else { return };
                relay::<_, A, _>(&mut full, &mut cp.first_effects, Either::First, |cx| {
                    X::on_enqueue(point, cx, port, view, packet);
                });
            }
            Either::Second(packet) => {
                let (Some(point), Some(port)) = (&mut cp.second, &mut port.1) else { return };
                relay::<_, B, _>(&mut full, &mut cp.second_effects, Either::Second, |cx| {
                    Y::on_enqueue(point, cx, port, view, packet);
                });
            }
        }
        store(packet, &mine);
    }
}

/// Each congestion point has its own timer.
impl<A, B, X, Y> CpTimerSlot<Mix<A, B>, MixSwitch<A, B>> for Both<X, Y>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
    X: CpTimerSlot<A, A::Cp>,
    Y: CpTimerSlot<B, B::Cp>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    #[inline]
    fn next_timer(cp: &MixSwitch<A, B>) -> Time {
        let first = cp.first.as_ref().map_or(Time::NEVER, X::next_timer);
        first.min(cp.second.as_ref().map_or(Time::NEVER, Y::next_timer))
    }
    fn on_timer(
        cp: &mut MixSwitch<A, B>,
        cx: &mut <MixLevel<A, B> as Level>::Arrive<'_, Mix<A, B>>,
        ports: &mut dyn Ports<PortOf<A, B>>,
    ) {
        let now = MixLevel::<A, B>::now::<Mix<A, B>>(cx);
        let mut full = MixLevel::<A, B>::full(cx, &mut cp.no_effects);
        if let Some(point) = cp.first.as_mut().filter(|point| X::next_timer(point) <= now) {
            relay::<_, A, _>(&mut full, &mut cp.first_effects, Either::First, |cx| {
                X::on_timer(point, cx, &mut FirstPorts(ports));
            });
        }
        if let Some(point) = cp.second.as_mut().filter(|point| Y::next_timer(point) <= now) {
            relay::<_, B, _>(&mut full, &mut cp.second_effects, Either::Second, |cx| {
                Y::on_timer(point, cx, &mut SecondPorts(ports));
            });
        }
    }
}

/// The ports as the first scheme sees them.
struct FirstPorts<'a, P, Q>(&'a mut dyn Ports<(Option<P>, Option<Q>)>);

impl<P, Q> Ports<P> for FirstPorts<'_, P, Q> {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn port(&mut self, port: PortId) -> (&mut P, &PortView) {
        let (state, view) = self.0.port(port);
        (state.0.as_mut().expect("its congestion point is there"), view)
    }
}

/// The ports as the second scheme sees them.
struct SecondPorts<'a, P, Q>(&'a mut dyn Ports<(Option<P>, Option<Q>)>);

impl<P, Q> Ports<Q> for SecondPorts<'_, P, Q> {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn port(&mut self, port: PortId) -> (&mut Q, &PortView) {
        let (state, view) = self.0.port(port);
        (state.1.as_mut().expect("its congestion point is there"), view)
    }
}
