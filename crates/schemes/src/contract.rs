//! The plug-in points: what a scheme is made of, all in one place.
//!
//! A [`Scheme`] names its parameters, what its packets carry, and its three parts: [`Rp`] at the
//! sender, [`Np`] at the receiver, [`Cp`] in switches. Every hook has a default that does nothing,
//! so a scheme says only what is its own. The fabric is generic over the scheme: hooks are called
//! by static dispatch and the empty ones vanish.
//!
//! Some hooks cost time at each packet even where they are empty. They are called only where a constant
//! says so, which stands in their documentation: without it the hook does nothing, and nobody says so
//! but a test of this crate (`tests/hooks.rs`).

mod effects;
mod facts;
mod level;
mod packet;
mod rates;
mod stack;

pub use effects::{HostCx, SwitchEffect, SwitchFx, Target};
pub use facts::{
    ClassSpec, HostFacts, HostPlace, PathFacts, PortFacts, Room, SwitchFacts, WireFacts,
};
pub use level::{Departure, Emit, Emits, Full, Level, Local, Order, PortLocal, Strict};
pub use packet::{Address, Body, CodePoint, Flags, Header, Kind, NoCtl, Packet};
pub use rates::{LinkRates, RateCode};
pub use stack::Stack;

use crate::params::{ParamError, Params};
use crate::registry::Preset;
use units::{Bytes, PortId, Priority, Rate, Time};

/// A congestion-control scheme: RP x NP x CP, and the facts that `rocelab list` shows of it.
pub trait Scheme: Sized + Send + Sync + 'static {
    /// Its name in scenario files.
    const NAME: &'static str;
    /// Its full name.
    const TITLE: &'static str;
    /// The paper that defines it.
    const PAPER: &'static str;
    /// What a user must know before trusting a figure made with it.
    const CAVEAT: &'static str = "";
    /// Its named parameter sets; the first is the default.
    const PRESETS: &'static [Preset];
    /// Data and ACKs must take the same path.
    const SYMMETRIC_PATHS: bool = false;
    /// It takes the queues of a port for one: runs whose data has several priorities are refused.
    const ONE_DATA_PRIORITY: bool = false;
    /// Most switch hops that a packet's [`Meta`](Scheme::Meta) has room for; runs with longer paths are
    /// refused. A scheme whose packets carry an [`IntStack`](crate::int::IntStack) has to say it.
    const MAX_HOPS: usize = usize::MAX;
    /// Most rates that links may have: those that its packets can tell apart,
    /// [`LinkRates::MOST`] where they carry a [`RateCode`].
    const MAX_RATES: usize = usize::MAX;
    /// It has traffic classes of its own; without it [`classes`](Scheme::classes) is not asked.
    const CLASSES: bool = false;

    /// Its parameters.
    type Params: Params;
    /// What its data packets and their ACKs carry beside the header: `()`, INT records, a credit.
    type Meta: Copy + Default + Send + Sync + 'static;
    /// What its control packets say: a CNP, a rate, a credit. [`NoCtl`] where it has none.
    type Ctl: Copy + Send + Sync + 'static;
    /// State that all QPs of a host share.
    type Host: Send + 'static;
    /// The reaction point, one per QP at the sender.
    type Rp: Rp<Self>;
    /// The notification point, one per QP at the receiver.
    type Np: Np<Self>;
    /// The congestion point, one per switch that takes part.
    type Cp: Cp<Self>;

    /// The parameters of the preset `name` (one of [`PRESETS`](Scheme::PRESETS)) where hosts have
    /// ports of `host_rate`.
    fn preset(name: &str, host_rate: Rate) -> Self::Params;
    /// Refuses values that do not go together.
    fn check(_params: &Self::Params) -> Result<(), ParamError> {
        Ok(())
    }
    /// Refuses a switch that the parameters do not go with.
    fn check_switch(_params: &Self::Params, _facts: &SwitchFacts<'_>) -> Result<(), ParamError> {
        Ok(())
    }
    /// Bytes that [`Meta`](Scheme::Meta) adds to a data packet and to an ACK on the wire.
    fn meta_bytes(_params: &Self::Params) -> (u32, u32) {
        (0, 0)
    }
    /// Size in bytes of the Ethernet frame, FCS included, that carries `ctl`: 2000 at most.
    fn ctl_bytes(ctl: &Self::Ctl) -> u32;
    /// The priority of `ctl`; `None` for the scenario's control class.
    fn ctl_priority(_params: &Self::Params, _ctl: &Self::Ctl) -> Option<Priority> {
        None
    }
    /// `ctl`, for a sender, is for all its QPs to the same receiver, also where that which it is addressed to
    /// is over.
    fn is_for_all_qps(_params: &Self::Params, _ctl: &Self::Ctl) -> bool {
        false
    }
    /// `ctl`, from a sender, asks for what lets it send: where all has arrived it is answered with an ACK of
    /// all, as data would be.
    fn is_answered(_params: &Self::Params, _ctl: &Self::Ctl) -> bool {
        false
    }
    /// Traffic classes that need more than the scenario says: a drop-tail room, a shaper. They hold
    /// at every port, of switches and of hosts. A run is refused where data, ACKs, other control
    /// packets or PFC use a drop-tail one. Asked only with [`CLASSES`](Scheme::CLASSES).
    fn classes(_params: &Self::Params, _wire: &WireFacts) -> Vec<ClassSpec> {
        Vec::new()
    }
    /// The state shared by the QPs of a host.
    fn host(params: &Self::Params, facts: &HostFacts) -> Self::Host;
    /// A control packet reached a host for a QP that is over.
    fn on_stray(_host: &mut Self::Host, _ctl: &Self::Ctl) {}
    /// What a host counted, by name: the same names at every host. The summary has their sums.
    fn counters(_host: &Self::Host) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// The congestion point of a switch; `None` where that switch takes no part.
    fn cp(params: &Self::Params, facts: &SwitchFacts<'_>) -> Option<Self::Cp>;
}

/// What a sender may do now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allow {
    /// Pacing rate, in wire bytes; at or above the line rate means unpaced. A law keeps to the line
    /// rate or says [`EVERYTHING`](Allow::EVERYTHING)'s, as probes show the number; and to at least the
    /// scheme's parameter `min_rate` (or the line rate, if that is less), where it has one of this
    /// name.
    pub rate: Rate,
    /// A packet may leave while fewer payload bytes than this are in flight: the last one may
    /// overshoot by less than a packet, and a window of one byte is one of a packet. None at all stops
    /// the QP for good, unless [`next_timer`](Rp::next_timer) or a control packet opens it again.
    pub window: Bytes,
    /// First byte of the QP's stream that has no permission yet (credit schemes).
    pub granted: u64,
    /// No data before this time.
    pub hold_until: Time,
}

impl Allow {
    /// Line rate, no window.
    pub const EVERYTHING: Allow = Allow {
        rate: Rate::from_bps(u64::MAX),
        window: Bytes::UNLIMITED,
        granted: u64::MAX,
        hold_until: Time::ZERO,
    };
}

/// An acknowledgement as the reaction point sees it.
#[derive(Debug)]
pub struct Ack<'a, S: Scheme> {
    /// First byte of the QP's stream that the receiver still waits for.
    pub next_expected: u64,
    /// Payload bytes that this ACK newly acknowledges.
    pub newly_acked: Bytes,
    /// First byte of the stream that the sender has not sent yet.
    pub next_to_send: u64,
    /// The receiver saw a gap: the sender goes back to `next_expected`.
    pub nack: bool,
    /// The code point of the data packet that this ACK answers.
    pub echo: CodePoint,
    /// From the data packet's departure at the sender to this ACK's arrival.
    pub rtt: Time,
    /// What the ACK carries for the scheme. A NACK carries what the packet out of order did.
    pub meta: &'a S::Meta,
}

impl<S: Scheme> Ack<'_, S> {
    /// Whether it acknowledges anything; NACKs and repeated ACKs tell of packets that were thrown away.
    #[inline]
    pub fn brings_news(&self) -> bool {
        !self.nack && self.newly_acked != Bytes::ZERO
    }
    /// First byte not sent yet; after a NACK the sender goes back, and what lies beyond is not sent.
    #[inline]
    pub fn sent_up_to(&self) -> u64 {
        if self.nack { self.next_expected } else { self.next_to_send }
    }
}

/// A quantity of the reaction point that a probe can record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observable {
    /// Pacing rate, bits per second.
    Rate,
    /// Window, bytes.
    Window,
    /// The scheme's congestion estimate, such as DCQCN's alpha or HPCC's U.
    Alpha,
}

/// A quantity that a congestion point keeps for a flow, or for the flows that it takes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowObservable {
    /// Bytes that wait in a queue of the flow's own.
    Queue,
    /// Bytes that this queue may send now.
    Credits,
    /// The rate that it gives to the flow, bits per second.
    Rate,
}

/// Reaction point: sets the rate and window of a QP at the sender.
pub trait Rp<S: Scheme>: Sized + Send + 'static {
    /// A rate change moves the time of the next packet that is already being waited for (a pacer
    /// that looks at the rate continuously), rather than only the packets after it.
    const REPACE: bool = false;

    /// A QP begins at `now`.
    fn open(params: &S::Params, host: &mut S::Host, path: &PathFacts, now: Time) -> Self;
    /// What the QP may do now. Read after each hook.
    fn allow(&self) -> Allow;
    /// A data packet leaves; its header and what it carries may still be written. The gap to the
    /// next one is computed from [`allow`](Rp::allow) after this.
    fn on_send(&mut self, _cx: &mut HostCx<'_, S>, _data: &mut Header, _meta: &mut S::Meta) {}
    /// An ACK or NACK arrived.
    fn on_ack(&mut self, _cx: &mut HostCx<'_, S>, _ack: &Ack<'_, S>) {}
    /// One of the scheme's control packets arrived.
    fn on_ctl(&mut self, _cx: &mut HostCx<'_, S>, _ctl: &S::Ctl) {}
    /// A message was posted, or the last byte of all that were posted left for the first time. `left`
    /// bytes are still to be sent for the first time. Not called as other bytes leave.
    fn on_backlog(&mut self, _cx: &mut HostCx<'_, S>, _left: Bytes) {}
    /// Nothing was acknowledged for the retransmission timeout: the sender goes back.
    fn on_retransmission_timeout(&mut self, _cx: &mut HostCx<'_, S>) {}
    /// When [`on_timer`](Rp::on_timer) is wanted; read after each hook. After `on_timer` it must lie
    /// later than now; asked for in [`on_send`](Rp::on_send), at least a microsecond later, because
    /// departures are worked in spans of up to that.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// The time asked for has come.
    fn on_timer(&mut self, _cx: &mut HostCx<'_, S>) {}
    /// The value of a quantity at `now`, for a probe: finite and not negative; must not change what
    /// follows.
    fn observe(&self, _now: Time, what: Observable) -> Option<f64> {
        let allow = self.allow();
        match what {
            Observable::Rate if allow.rate.bps() != u64::MAX => Some(allow.rate.bps() as f64),
            Observable::Window if allow.window != Bytes::UNLIMITED => {
                Some(allow.window.get() as f64)
            }
            _ => None,
        }
    }
}

/// Notification point: answers data packets at the receiver.
pub trait Np<S: Scheme>: Sized + Send + 'static {
    /// The first packet of a QP arrived at `now`.
    fn open(params: &S::Params, host: &mut S::Host, now: Time) -> Self;
    /// A data packet arrived, in order or not: what it tells of the network is told even where its bytes are
    /// discarded.
    fn on_arrival(&mut self, _cx: &mut HostCx<'_, S>, _data: &Header, _meta: &S::Meta) {}
    /// The same packet, after that, where it arrived in order. `meta` is what it carried and becomes what
    /// its ACK carries.
    fn on_data(&mut self, _cx: &mut HostCx<'_, S>, _data: &Header, _meta: &mut S::Meta) {}
    /// One of the scheme's control packets arrived from the sender.
    fn on_ctl(&mut self, _cx: &mut HostCx<'_, S>, _ctl: &S::Ctl) {}
    /// The last byte of a message arrived. `is_last`: the QP has no other.
    fn on_message_end(&mut self, _cx: &mut HostCx<'_, S>, _is_last: bool) {}
    /// When [`on_timer`](Np::on_timer) is wanted; read after each hook.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// The time asked for has come.
    fn on_timer(&mut self, _cx: &mut HostCx<'_, S>) {}
}

/// What becomes of a packet that arrived at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Goes on its way.
    Forward,
    /// Was for the switch.
    Consume,
    /// Is discarded and counted.
    Drop,
    /// Waits, in the buffer of its ingress; [`Cp::on_arrival`] sees it again at that time. Packets
    /// held until the same time keep their order.
    Hold(Time),
}

/// What becomes of a packet at the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It leaves.
    Leaves,
    /// It goes back to the tail, and the port looks at the next one at the same instant; where all have
    /// gone back twice in a row it rests as below.
    GoesBack,
    /// It goes back to the tail, and the port sends nothing until another packet joins one of its
    /// queues or its peer lets it go on.
    GoesBackAndRests,
}

/// Whether the head of a sub-queue may leave now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It may.
    Open,
    /// It may, before what waits in the port's own queue of its priority; otherwise these take turns.
    Ahead,
    /// Not before an effect wakes the port.
    Shut,
    /// Not before this time.
    Until(Time),
}

/// Whether a packet may cross from its input queue to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// It may.
    Open,
    /// Only where the output's queue is empty and nothing else may cross to it.
    Last,
    /// Not before an effect or a timer.
    Held,
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

/// What a hook sees of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortView {
    /// Which port of the switch.
    pub port: PortId,
    /// Its rate.
    pub rate: Rate,
    /// Bytes waiting at it, all priorities, without the packet at hand.
    pub queue_bytes: u64,
    /// Bytes waiting in the queue of the packet's priority, without the packet at hand; where a
    /// port is looked at without a packet (peeking, timers) the same as `queue_bytes`.
    pub class_bytes: u64,
    /// Bytes that it has sent, before the packet at hand.
    pub tx_bytes: u64,
    /// When its last packet began to leave.
    pub last_departure: Time,
}

/// All ports of a switch, for its timer hook.
pub trait Ports<P> {
    /// How many there are.
    fn count(&self) -> usize;
    /// The scheme's state of a port, and the port as it is now.
    fn port(&mut self, port: PortId) -> (&mut P, &PortView);
}

/// Congestion point: what a switch does for the scheme. `Self` is the state per switch,
/// [`Port`](Cp::Port) what it keeps beside each of the fabric's ports.
pub trait Cp<S: Scheme>: Sized + Send + 'static {
    /// What its hooks may do, which decides how freely the fabric may order the work of a switch.
    type Level: Level;
    /// State per port.
    type Port: Send + 'static;
    /// It has sub-queues per priority and port beside the ordinary one; without it
    /// [`sub_queue`](Cp::sub_queue) and [`gate`](Cp::gate) are not asked. Needs [`Strict`].
    const SUB_QUEUES: bool = false;
    /// Packets may go back to the tail of their queue; without it [`turn`](Cp::turn) is not asked.
    const RECIRCULATES: bool = false;
    /// It looks at packets as they arrive; without it [`on_arrival`](Cp::on_arrival) is not called.
    const SEES_ARRIVALS: bool = false;
    /// It looks at packets as they join a queue; without it [`on_enqueue`](Cp::on_enqueue) need not be
    /// called, and ports are worked faster.
    const SEES_JOINS: bool = true;
    /// It chooses among equal-cost ports; without it [`route`](Cp::route) is not asked.
    const ROUTES: bool = false;
    /// [`on_arrival`](Cp::on_arrival) may hold packets ([`Verdict::Hold`]); without it none may be held.
    /// Needs [`SEES_ARRIVALS`](Cp::SEES_ARRIVALS).
    const HOLDS: bool = false;
    /// It works on input queues: its switches are combined input- and output-queued (CIOQ), and
    /// [`on_input`](Cp::on_input), [`detour`](Cp::detour), [`restrains`](Cp::restrains) and
    /// [`crossing`](Cp::crossing) are asked; after a timer, the last two for all that waits.
    const INPUT_QUEUES: bool = false;

    /// The state of a port at the start.
    fn port(&self, params: &S::Params, facts: &PortFacts) -> Self::Port;
    /// A packet arrived that is not PFC. Also called for the switch's own link control. Called only with
    /// [`SEES_ARRIVALS`](Cp::SEES_ARRIVALS).
    fn on_arrival(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _in_port: PortId,
        _packet: &mut Packet<S>,
    ) -> Verdict {
        Verdict::Forward
    }
    /// Chooses among the equal-cost ports; `None` leaves it to ECMP. Asked only with
    /// [`ROUTES`](Cp::ROUTES).
    fn route(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _packet: &Packet<S>,
        _equal_cost: &[PortId],
    ) -> Option<PortId> {
        None
    }
    /// May take data from the port that was chosen for it to another of equal cost. Asked only with
    /// [`INPUT_QUEUES`](Cp::INPUT_QUEUES).
    fn detour(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _header: &Header,
        _equal_cost: &[PortId],
        chosen: PortId,
    ) -> PortId {
        chosen
    }
    /// Data joins the input queue of the port through which it came, on its way to
    /// `out_port`. Called only with [`INPUT_QUEUES`](Cp::INPUT_QUEUES).
    fn on_input(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _input: &InputView<'_>,
        _out_port: PortId,
        _header: &Header,
    ) {
    }
    /// Whether some packet may have to wait before it crosses to `out_port` now; without it
    /// [`crossing`](Cp::crossing) is not asked, and all may. Asked only with
    /// [`INPUT_QUEUES`](Cp::INPUT_QUEUES).
    fn restrains(&self, _out_port: PortId, _now: Time) -> bool {
        false
    }
    /// Whether a data packet may cross from its input queue to `out_port`, at which some packet may
    /// have to wait. Where it may not, packets of other flows behind it may pass; those of its flow stay
    /// behind it. What crosses to another port at the same instant must have no part in it. Asked only
    /// with [`INPUT_QUEUES`](Cp::INPUT_QUEUES).
    fn crossing(&self, _out_port: PortId, _header: &Header, _now: Time) -> Crossing {
        Crossing::Open
    }
    /// The sub-queue of `out_port` that the packet joins; 0 is the ordinary one. Asked only with
    /// [`SUB_QUEUES`](Cp::SUB_QUEUES).
    fn sub_queue(&self, _in_port: PortId, _out_port: PortId, _packet: &Packet<S>) -> u32 {
        0
    }
    /// Whether the head of a sub-queue other than 0 may leave. Asked only with
    /// [`SUB_QUEUES`](Cp::SUB_QUEUES).
    fn gate(&self, _port: &Self::Port, _sub_queue: u32, _head: &Packet<S>, _now: Time) -> Gate {
        Gate::Open
    }
    /// Whether a packet that is about to leave an ordinary queue goes back to its tail instead. Asked
    /// only with [`RECIRCULATES`](Cp::RECIRCULATES).
    fn turn(&mut self, _port: &mut Self::Port, _packet: &Packet<S>, _now: Time) -> Turn {
        Turn::Leaves
    }
    /// Whether the scenario's RED may mark a data packet at a port. Asked where RED decides: as the
    /// packet begins to leave, before [`on_depart`](Cp::on_depart), or as it joins the queue.
    fn may_mark(
        &self,
        _port: &Self::Port,
        _view: &PortView,
        _packet: &Packet<S>,
        _now: Time,
    ) -> bool {
        true
    }
    /// A packet is about to join a queue of a port. Called with [`SEES_JOINS`](Cp::SEES_JOINS), which is
    /// on unless it is switched off.
    fn on_enqueue(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _packet: &mut Packet<S>,
    ) {
    }
    /// A packet begins to leave through a port.
    fn on_depart(
        &mut self,
        _cx: &mut <Self::Level as Level>::Depart<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _packet: &mut Packet<S>,
    ) {
    }
    /// A packet that waited at a port is dropped instead of leaving, as the port's link failed.
    fn on_drop(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _packet: &Packet<S>,
    ) {
    }
    /// The peer of a port paused or resumed one of its priorities, or its link failed, which ends a pause.
    fn on_pfc(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _port: &mut Self::Port,
        _view: &PortView,
        _priority: Priority,
        _paused: bool,
    ) {
    }
    /// When [`on_timer`](Cp::on_timer) is wanted; read after each hook, after `on_depart` only where
    /// the level is [`Strict`].
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// The time asked for has come.
    fn on_timer(
        &mut self,
        _cx: &mut <Self::Level as Level>::Arrive<'_, S>,
        _ports: &mut dyn Ports<Self::Port>,
    ) {
    }
    /// The state of a port as a finite number, for a probe (a ternary detector's state, a fair rate).
    fn observe(&self, _port: &Self::Port, _now: Time) -> Option<f64> {
        None
    }
    /// What the switch keeps for a flow from host `src` to host `dst` on it (their indices among the
    /// hosts), for a probe; asked of the flow's first switch.
    fn observe_flow(&self, _src: u32, _dst: u32, _now: Time, _what: FlowObservable) -> Option<f64> {
        None
    }
    /// What the switch counted, by name: the same names at every switch. The summary has their
    /// sums.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// The congestion point of a scheme whose switches do nothing of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainSwitch;

impl<S: Scheme> Cp<S> for PlainSwitch {
    type Level = PortLocal;
    type Port = ();
    const SEES_JOINS: bool = false;
    fn port(&self, _params: &S::Params, _facts: &PortFacts) {}
}

/// The notification point of a scheme whose receivers only send the transport's ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainReceiver;

impl<S: Scheme> Np<S> for PlainReceiver {
    fn open(_params: &S::Params, _host: &mut S::Host, _now: Time) -> PlainReceiver {
        PlainReceiver
    }
}
