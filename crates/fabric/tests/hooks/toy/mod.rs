//! The toy scheme of these tests.
//!
//! Each scheme type compiles the whole fabric again, which takes seconds. So there is one scheme,
//! [`Toy`], for all tests. What it does is an object that the test passes in its parameters
//! ([`Parts`]): a [`Sender`] for each QP, a [`Receiver`] for each QP, a [`Switch`] for each switch.
//! Types say only what the fabric must know when it is compiled: the level, and the capabilities
//! of the congestion point ([`Caps`]). Hosts always have a timer; it is off unless a test sets it.

mod caps;
mod switch;

pub use caps::*;
pub use switch::{Port, Switch};

use schemes::contract::{
    Ack, ClassSpec, Classes, Ctl, Header, HostCx, HostFacts, Level, Needs, Np, NpTimer, Pacing,
    PathFacts, Present, Preset, Rp, RpTimer, Scheme, SendLimits, SwitchFacts, WireFacts,
};
use schemes::fncc::AckReport;
use schemes::params::{ParamError, ParamSpec, Params, Value};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use switch::Make;
use units::{Bytes, Priority, Time};

/// The scheme. Its congestion point has the level `L` and the capabilities `C`.
#[derive(Debug)]
pub struct Toy<L, C>(PhantomData<fn() -> (L, C)>);

/// What a toy's data packets and their ACKs carry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meta {
    pub number: u64,
    pub report: AckReport<5>,
}

/// A control packet of a toy: what it says, and a value. Its frame has the least size, 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub &'static str, pub u64);

impl<S: ToyScheme> Ctl<Parts<S>> for Word {
    const MAX_FRAME_BYTES: u32 = 64;

    fn priority(&self, parts: &Parts<S>) -> Option<Priority> {
        parts.word_priority
    }
}

/// What the QPs of a host share.
#[derive(Debug)]
pub struct Host {
    pub facts: HostFacts,
    /// For the test.
    pub number: u64,
    /// Control packets that came too late.
    pub strays: u64,
}

/// A toy of any level and capabilities.
pub trait ToyScheme: Scheme<Params = Parts<Self>, Meta = Meta, Ctl = Word, Host = Host> {
    type Level: Level;
    const PACING: Pacing;
}

impl<L: Level, C: Caps<L>> ToyScheme for Toy<L, C> {
    type Level = L;
    const PACING: Pacing = C::PACING;
}

/// The reaction point of a QP. Without hooks it sends at line rate.
pub trait Sender<S: ToyScheme>: Send {
    fn limits(&self) -> SendLimits {
        SendLimits::UNLIMITED
    }
    fn on_send(&mut self, _: &mut HostCx<'_, S>, _data: &mut Header, _: &mut Meta) {}
    fn on_ack(&mut self, _: &mut HostCx<'_, S>, _: &Ack<'_, S>) {}
    fn on_ctl(&mut self, _: &mut HostCx<'_, S>, _: Word) {}
    fn on_backlog(&mut self, _: &mut HostCx<'_, S>, _left: Bytes) {}
    fn on_retransmission_timeout(&mut self, _: &mut HostCx<'_, S>) {}
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    fn on_timer(&mut self, _: &mut HostCx<'_, S>) {}
}

/// The notification point of a QP.
pub trait Receiver<S: ToyScheme>: Send {
    fn on_kept_data(&mut self, _: &mut HostCx<'_, S>, _data: &Header, _: &mut Meta) {}
    fn on_ctl(&mut self, _: &mut HostCx<'_, S>, _: Word) {}
    fn on_message_end(&mut self, _: &mut HostCx<'_, S>, _is_last: bool) {}
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    fn on_timer(&mut self, _: &mut HostCx<'_, S>) {}
}

/// A part without hooks: a sender at line rate, a receiver that only sends ACKs.
pub struct Plain;

impl<S: ToyScheme> Sender<S> for Plain {}
impl<S: ToyScheme> Receiver<S> for Plain {}
impl<S: ToyScheme> Switch<S> for Plain {}

type OpenSender<S> = dyn Fn(&mut Host, &PathFacts, Time) -> Box<dyn Sender<S>> + Send + Sync;
type OpenReceiver<S> = dyn Fn() -> Box<dyn Receiver<S>> + Send + Sync;
type MakeSwitch<S> = dyn Fn(&SwitchFacts<'_>) -> Option<Box<dyn Switch<S>>> + Send + Sync;
type MakeClasses = dyn Fn(&WireFacts) -> Vec<ClassSpec> + Send + Sync;

/// The parameters of a toy: what makes its parts.
pub struct Parts<S> {
    sender: Arc<OpenSender<S>>,
    receiver: Arc<OpenReceiver<S>>,
    switch: Arc<MakeSwitch<S>>,
    lower: Arc<MakeSwitch<S>>,
    classes: Arc<MakeClasses>,
    word_priority: Option<Priority>,
}

impl<S> Clone for Parts<S> {
    fn clone(&self) -> Parts<S> {
        Parts {
            sender: self.sender.clone(),
            receiver: self.receiver.clone(),
            switch: self.switch.clone(),
            lower: self.lower.clone(),
            classes: self.classes.clone(),
            word_priority: self.word_priority,
        }
    }
}

/// Plain hosts, and switches that take no part.
pub fn parts<S: ToyScheme>() -> Parts<S> {
    Parts {
        sender: Arc::new(|_, _, _| Box::new(Plain)),
        receiver: Arc::new(|| Box::new(Plain)),
        switch: Arc::new(|_| None),
        lower: Arc::new(|_| Some(Box::new(Plain))),
        classes: Arc::new(|_| Vec::new()),
        word_priority: None,
    }
}

impl<S: ToyScheme> Parts<S> {
    /// With reaction points that `open` makes.
    pub fn sender<T: Sender<S> + 'static>(
        mut self,
        open: impl Fn(&mut Host, &PathFacts, Time) -> T + Send + Sync + 'static,
    ) -> Self {
        self.sender = Arc::new(move |host, path, now| Box::new(open(host, path, now)));
        self
    }
    /// With notification points that `open` makes.
    pub fn receiver<T: Receiver<S> + 'static>(
        mut self,
        open: impl Fn() -> T + Send + Sync + 'static,
    ) -> Self {
        self.receiver = Arc::new(move || Box::new(open()));
        self
    }
    /// With congestion points that `make` makes; `None` for a switch that takes no part.
    pub fn switch<T: Switch<S> + 'static>(
        mut self,
        make: impl Fn(&SwitchFacts<'_>) -> Option<T> + Send + Sync + 'static,
    ) -> Self {
        self.switch = Arc::new(move |facts| Some(Box::new(make(facts)?)));
        self
    }
    /// With these below the other congestion points, if the toy has stacks of two.
    pub fn lower_switch<T: Switch<S> + 'static>(
        mut self,
        make: impl Fn(&SwitchFacts<'_>) -> Option<T> + Send + Sync + 'static,
    ) -> Self {
        self.lower = Arc::new(move |facts| Some(Box::new(make(facts)?)));
        self
    }
    /// With classes of its own, if the toy may have some.
    pub fn classes(
        mut self,
        make: impl Fn(&WireFacts) -> Vec<ClassSpec> + Send + Sync + 'static,
    ) -> Self {
        self.classes = Arc::new(make);
        self
    }
    /// With control packets in this class.
    pub fn word_priority(mut self, priority: Priority) -> Self {
        self.word_priority = Some(priority);
        self
    }
}

impl<S: ToyScheme> Params for Parts<S> {
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

impl<L: Level, C: Caps<L>> Scheme for Toy<L, C> {
    const NAME: &'static str = "toy";
    const TITLE: &'static str = "a toy";
    const PAPER: &'static str = "none";
    const PRESETS: &'static [Preset<Parts<Self>>] = &[];
    const NEEDS: Needs = C::NEEDS;
    const CLASSES: Option<Classes<Parts<Self>>> =
        if C::OWN_CLASSES { Some(|parts, wire| (parts.classes)(wire)) } else { None };
    type Params = Parts<Self>;
    type Meta = Meta;
    type Ctl = Word;
    type Host = Host;
    type Rp = SenderPart<Self>;
    type Np = ReceiverPart<Self>;
    type Cp = C::Cp;

    fn host(_: &Parts<Self>, facts: &HostFacts) -> Host {
        Host { facts: *facts, number: 0, strays: 0 }
    }
    fn on_late_ctl(host: &mut Host, _: &Word) {
        host.strays += 1;
    }
    fn counters(host: &Host) -> Vec<(&'static str, u64)> {
        vec![("hosts", 1), ("strays", host.strays)]
    }
    fn congestion_point(parts: &Parts<Self>, facts: &SwitchFacts<'_>) -> Option<C::Cp> {
        C::Cp::make(parts, facts)
    }
}

/// The reaction point of a toy.
pub struct SenderPart<S>(Box<dyn Sender<S>>);

impl<S: ToyScheme> Rp<S> for SenderPart<S> {
    type Timer = Present;

    fn pacing(&self) -> Pacing {
        S::PACING
    }
    fn open(parts: &Parts<S>, host: &mut Host, path: &PathFacts, now: Time) -> Self {
        SenderPart((parts.sender)(host, path, now))
    }
    fn limits(&self) -> SendLimits {
        self.0.limits()
    }
    fn on_send(&mut self, cx: &mut HostCx<'_, S>, data: &mut Header, meta: &mut Meta) {
        self.0.on_send(cx, data, meta);
    }
    fn on_ack(&mut self, cx: &mut HostCx<'_, S>, ack: &Ack<'_, S>) {
        self.0.on_ack(cx, ack);
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, S>, word: &Word) {
        self.0.on_ctl(cx, *word);
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, S>, left: Bytes) {
        self.0.on_backlog(cx, left);
    }
    fn on_retransmission_timeout(&mut self, cx: &mut HostCx<'_, S>) {
        self.0.on_retransmission_timeout(cx);
    }
}

impl<S: ToyScheme> RpTimer<S> for SenderPart<S> {
    fn next_timer(&self) -> Time {
        self.0.next_timer()
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, S>) {
        self.0.on_timer(cx);
    }
}

/// The notification point of a toy.
pub struct ReceiverPart<S>(Box<dyn Receiver<S>>);

impl<S: ToyScheme> Np<S> for ReceiverPart<S> {
    type Timer = Present;
    fn open(parts: &Parts<S>, _: &mut Host, _: Time) -> Self {
        ReceiverPart((parts.receiver)())
    }
    fn on_kept_data(&mut self, cx: &mut HostCx<'_, S>, data: &Header, meta: &mut Meta) {
        self.0.on_kept_data(cx, data, meta);
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, S>, word: &Word) {
        self.0.on_ctl(cx, *word);
    }
    fn on_message_end(&mut self, cx: &mut HostCx<'_, S>, is_last: bool) {
        self.0.on_message_end(cx, is_last);
    }
}

impl<S: ToyScheme> NpTimer<S> for ReceiverPart<S> {
    fn next_timer(&self) -> Time {
        self.0.next_timer()
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, S>) {
        self.0.on_timer(cx);
    }
}

/// What a hook saw, for the test to read.
#[derive(Clone, Debug)]
pub struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log(Arc::default())
    }
}

impl<T: Clone> Log<T> {
    pub fn push(&self, value: T) {
        self.0.lock().unwrap().push(value);
    }
    pub fn all(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }
}
