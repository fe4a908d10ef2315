//! Two schemes in one run: each QP has the one or the other.

mod receiver;
mod sender;
mod switch;

pub use receiver::MixReceiver;
pub use sender::MixSender;
pub use switch::MixSwitch;

use super::{
    Absent, Classes, Cp, Ctl, Fit, HostCx, HostFacts, Join, Needs, Preset, Scheme, SwitchFacts,
    Tolerates, add_counter,
};
use crate::params::{ParamError, ParamSpec, Params, Value};
use std::marker::PhantomData;
use units::splitmix::mix;
use units::{MixSide, Priority};

/// What belongs to a QP of the first or of the second scheme of a [`Mix`].
#[derive(Clone, Copy, Debug)]
pub enum Either<X, Y> {
    /// Of the first scheme.
    First(X),
    /// Of the second scheme.
    Second(Y),
}

impl<X: Default, Y> Default for Either<X, Y> {
    fn default() -> Either<X, Y> {
        Either::First(X::default())
    }
}

/// A scheme that can be mixed with another: its switches have no sub-queues, no requeueing and no
/// input queues, so that two congestion points can share the ports of a switch.
pub trait Mixable:
    Scheme<Cp: Cp<Self, SubQueues = Absent, Requeue = Absent, InputQueues = Absent>>
{
}

impl<S> Mixable for S
where
    S: Scheme,
    S::Cp: Cp<S, SubQueues = Absent, Requeue = Absent, InputQueues = Absent>,
{
}

/// The level of a scheme's congestion point.
pub type LevelOf<S> = <<S as Scheme>::Cp as Cp<S>>::Level;
/// The level at which the switches of a mix work: the stricter one.
type MixLevel<A, B> = <LevelOf<A> as Join<LevelOf<B>>>::Stricter;

/// Schemes `A` and `B` in one network.
///
/// A QP has one of them for life: [`PathFacts::side`](super::PathFacts::side) says which. Its hooks
/// are called as if the scheme were alone. A switch shows a packet to the congestion point of the
/// packet's own scheme only; PFC frames and timers go to both. What hooks see of a port counts the
/// packets of both. Each packet has room for what either scheme writes; on the wire it has the size
/// that its own scheme gives it. Traffic classes of both hold.
#[derive(Debug)]
pub struct Mix<A, B>(PhantomData<(A, B)>);

/// Parameters of a [`Mix`]: those of each scheme. They have no names of their own.
#[derive(Clone, Debug)]
pub struct MixParams<P, Q> {
    /// Those of the first scheme.
    pub first: P,
    /// Those of the second scheme.
    pub second: Q,
}

impl<P: Params, Q: Params> Params for MixParams<P, Q> {
    fn specs() -> &'static [ParamSpec] {
        &[]
    }
    fn get(&self, _name: &str) -> Option<Value> {
        None
    }
    fn set(&mut self, name: &str, _value: Value) -> Result<(), ParamError> {
        Err(ParamError::UnknownParam(name.to_owned(), Vec::new()))
    }
}

/// What the QPs of a host share, for each scheme, and what they send.
#[derive(Debug)]
pub struct MixHost<A: Scheme, B: Scheme> {
    first: A::Host,
    second: B::Host,
    first_outbox: Vec<A::Ctl>,
    second_outbox: Vec<B::Ctl>,
}

impl<X, Y, P, Q> Ctl<MixParams<P, Q>> for Either<X, Y>
where
    X: Ctl<P>,
    Y: Ctl<Q>,
    MixParams<P, Q>: 'static,
{
    const MAX_FRAME_BYTES: u32 = if X::MAX_FRAME_BYTES > Y::MAX_FRAME_BYTES {
        X::MAX_FRAME_BYTES
    } else {
        Y::MAX_FRAME_BYTES
    };

    fn frame_bytes(&self) -> u32 {
        match self {
            Either::First(ctl) => ctl.frame_bytes(),
            Either::Second(ctl) => ctl.frame_bytes(),
        }
    }
    fn is_cnp(&self) -> bool {
        match self {
            Either::First(ctl) => ctl.is_cnp(),
            Either::Second(ctl) => ctl.is_cnp(),
        }
    }
    fn priority(&self, params: &MixParams<P, Q>) -> Option<Priority> {
        match self {
            Either::First(ctl) => ctl.priority(&params.first),
            Either::Second(ctl) => ctl.priority(&params.second),
        }
    }
    fn for_all_qps(&self, params: &MixParams<P, Q>) -> bool {
        match self {
            Either::First(ctl) => ctl.for_all_qps(&params.first),
            Either::Second(ctl) => ctl.for_all_qps(&params.second),
        }
    }
    fn needs_ack(&self, params: &MixParams<P, Q>) -> bool {
        match self {
            Either::First(ctl) => ctl.needs_ack(&params.first),
            Either::Second(ctl) => ctl.needs_ack(&params.second),
        }
    }
}

/// The longest name of a mix.
const MAX_NAME: usize = 64;

/// The names of two schemes with "and" between them, and the length of that.
const fn joined(first: &str, second: &str) -> ([u8; MAX_NAME], usize) {
    let parts = [first.as_bytes(), b" and ", second.as_bytes()];
    let (mut name, mut length, mut part) = ([0; MAX_NAME], 0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            name[length] = parts[part][at];
            length += 1;
            at += 1;
        }
        part += 1;
    }
    (name, length)
}

/// The fit that restricts users more.
const fn worse(one: Fit, other: Fit) -> Fit {
    match (one, other) {
        (Fit::Refused(_), _) | (Fit::Note(_), Fit::Works | Fit::Note(_)) => one,
        (Fit::Works | Fit::Note(_), _) => other,
    }
}

const fn smaller(one: usize, other: usize) -> usize {
    if one < other { one } else { other }
}

impl<A: Scheme, B: Scheme> Mix<A, B> {
    const JOINED: ([u8; MAX_NAME], usize) = joined(A::NAME, B::NAME);

    /// Calls a hook of the first scheme in a host.
    #[inline]
    fn as_first<R>(cx: &mut HostCx<'_, Mix<A, B>>, hook: impl FnOnce(&mut HostCx<'_, A>) -> R) -> R
    where
        Mix<A, B>: MixOf<A, B>,
    {
        let outbox = &mut cx.host.first_outbox;
        let result = hook(&mut HostCx {
            now: cx.now,
            params: &cx.params.first,
            host: &mut cx.host.first,
            outbox,
        });
        if !outbox.is_empty() {
            cx.outbox.extend(outbox.drain(..).map(Either::First));
        }
        result
    }

    /// Calls a hook of the second scheme in a host.
    #[inline]
    fn as_second<R>(cx: &mut HostCx<'_, Mix<A, B>>, hook: impl FnOnce(&mut HostCx<'_, B>) -> R) -> R
    where
        Mix<A, B>: MixOf<A, B>,
    {
        let outbox = &mut cx.host.second_outbox;
        let result = hook(&mut HostCx {
            now: cx.now,
            params: &cx.params.second,
            host: &mut cx.host.second,
            outbox,
        });
        if !outbox.is_empty() {
            cx.outbox.extend(outbox.drain(..).map(Either::Second));
        }
        result
    }
}

/// What the parts of a mix know of it: short for its associated types.
pub(super) trait MixOf<A: Scheme, B: Scheme>:
    Scheme<
        Params = MixParams<A::Params, B::Params>,
        Meta = Either<A::Meta, B::Meta>,
        Ctl = Either<A::Ctl, B::Ctl>,
        Host = MixHost<A, B>,
    >
{
}

impl<A, B> MixOf<A, B> for Mix<A, B>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
}

impl<A, B> Scheme for Mix<A, B>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
    const NAME: &'static str = {
        let (name, _) = Self::JOINED.0.split_at(Self::JOINED.1);
        match str::from_utf8(name) {
            Ok(name) => name,
            Err(_) => panic!("names are texts"),
        }
    };
    const TITLE: &'static str = Self::NAME;
    const PAPER: &'static str = "as those of each scheme";
    const PRESETS: &'static [Preset<Self::Params>] = &[];
    const NEEDS: Needs = Needs {
        symmetric_paths: A::NEEDS.symmetric_paths || B::NEEDS.symmetric_paths,
        one_data_priority: A::NEEDS.one_data_priority || B::NEEDS.one_data_priority,
        marks_if_asked: A::NEEDS.marks_if_asked || B::NEEDS.marks_if_asked,
        max_hops: smaller(A::NEEDS.max_hops, B::NEEDS.max_hops),
        max_link_rates: smaller(A::NEEDS.max_link_rates, B::NEEDS.max_link_rates),
        tolerates: {
            let (a, b) = (A::NEEDS.tolerates, B::NEEDS.tolerates);
            Tolerates {
                spraying: worse(a.spraying, b.spraying),
                adaptive: worse(a.adaptive, b.adaptive),
                flowlets: worse(a.flowlets, b.flowlets),
                rerouting: worse(a.rerouting, b.rerouting),
                selective_repeat: worse(a.selective_repeat, b.selective_repeat),
            }
        },
    };
    const CLASSES: Option<Classes<Self::Params>> = if A::CLASSES.is_some() || B::CLASSES.is_some() {
        Some(|params, wire| {
            let mut classes = A::CLASSES.map_or(Vec::new(), |classes| classes(&params.first, wire));
            classes
                .extend(B::CLASSES.into_iter().flat_map(|classes| classes(&params.second, wire)));
            classes
        })
    } else {
        None
    };
    const IS_MIX: bool = true;

    type Params = MixParams<A::Params, B::Params>;
    type Meta = Either<A::Meta, B::Meta>;
    type Ctl = Either<A::Ctl, B::Ctl>;
    type Host = MixHost<A, B>;
    type Rp = MixSender<A, B>;
    type Np = MixReceiver<A, B>;
    type Cp = MixSwitch<A, B>;

    fn check_switch(params: &Self::Params, facts: &SwitchFacts<'_>) -> Result<(), ParamError> {
        A::check_switch(&params.first, facts)?;
        B::check_switch(&params.second, facts)
    }
    fn meta_bytes(params: &Self::Params) -> (u32, u32) {
        let (first, second) = (A::meta_bytes(&params.first), B::meta_bytes(&params.second));
        (first.0.max(second.0), first.1.max(second.1))
    }
    fn meta_bytes_of_side(params: &Self::Params, side: MixSide) -> (u32, u32) {
        match side {
            MixSide::First => A::meta_bytes(&params.first),
            MixSide::Second => B::meta_bytes(&params.second),
        }
    }
    fn blank_meta(side: MixSide) -> Self::Meta {
        match side {
            MixSide::First => Either::First(A::Meta::default()),
            MixSide::Second => Either::Second(B::Meta::default()),
        }
    }
    fn host(params: &Self::Params, facts: &HostFacts) -> Self::Host {
        MixHost {
            first: A::host(&params.first, facts),
            second: B::host(&params.second, &HostFacts { seed: mix(facts.seed), ..*facts }),
            first_outbox: Vec::new(),
            second_outbox: Vec::new(),
        }
    }
    fn on_late_ctl(host: &mut Self::Host, ctl: &Self::Ctl) {
        match ctl {
            Either::First(ctl) => A::on_late_ctl(&mut host.first, ctl),
            Either::Second(ctl) => B::on_late_ctl(&mut host.second, ctl),
        }
    }
    fn counters(host: &Self::Host) -> Vec<(&'static str, u64)> {
        added(A::counters(&host.first), B::counters(&host.second))
    }
    fn congestion_point(params: &Self::Params, facts: &SwitchFacts<'_>) -> Option<Self::Cp> {
        MixSwitch::new(params, facts)
    }
}

/// The counters of both schemes. Those of one name are put together.
fn added(
    mut first: Vec<(&'static str, u64)>,
    second: Vec<(&'static str, u64)>,
) -> Vec<(&'static str, u64)> {
    for (name, count) in second {
        match first.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => add_counter(known, name, count),
            None => first.push((name, count)),
        }
    }
    first
}
