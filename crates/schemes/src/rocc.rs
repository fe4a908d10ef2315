//! RoCC: "RoCC: Robust Congestion Control for RDMA", Taheri et al., CoNEXT 2020.
//!
//! Each egress queue of a switch is a congestion point (CP). Every T it computes one fair rate from
//! its length by a proportional-integral (PI) controller, and tells it to the source of each flow
//! that has a packet in it. The source (RP) takes the rate, follows the congestion point that gave
//! it the lowest, and doubles its rate when it hears nothing.
//!
//! The controller counts rates in steps of 10 Mb/s and queues in steps of 600 B, so that it needs
//! few bits in a switch.
//!
//! The paper's text was not at hand: the laws below are those of a public OMNeT++ model of it (its
//! switch queue and host queue), in the paper's symbols.

mod flow_table;

pub use flow_table::FlowTable;

use crate::contract::{
    Cp, CpTimer, Ctl, EmitCx, Emits, Flags, Header, HostCx, HostFacts, LocalCx, OnEnqueue, Packet,
    PacketKind, PathFacts, PlainReceiver, PortFacts, PortView, Ports, Present, Preset, QpEnd, Rp,
    RpTimer, Scheme, SendLimits, SenderMetric, SwitchFacts,
};
use crate::params::ParamError;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use units::{Bytes, NodeId, PortId, Rate, Time};

/// Delta F: rates are counted in these, bits per second.
pub const RATE_STEP: u64 = 10_000_000;
/// Delta Q: queues are counted in these, bytes.
pub const QUEUE_STEP: u64 = 600;

const SPAN: RangeInclusive<Time> = Time::from_us(1)..=Time::from_ms(100);
const LENGTH: RangeInclusive<Bytes> = Bytes::new(QUEUE_STEP)..=Bytes::new(1_000_000_000);
const GAIN: RangeInclusive<f64> = 0.0001..=100.0;

crate::params! {
    /// Parameters of RoCC.
    pub struct RoccParams {
        /// Period of the fair rate's update.
        update_interval: Time, "T", SPAN, "CoNEXT'20; an OMNeT++ model";
        /// Queue length that the controller aims at, at a port of rate `at`.
        q_ref: Bytes, "Q_ref", LENGTH, "CoNEXT'20, 40G and 100G sets";
        /// Growth of the queue in a period that halves the fair rate, at a port of rate `at`.
        q_mid: Bytes, "Q_mid", LENGTH, "CoNEXT'20, 40G and 100G sets";
        /// Queue length that drops the fair rate to its least, at a port of rate `at`.
        q_max: Bytes, "Q_max", LENGTH, "CoNEXT'20, 40G and 100G sets";
        /// The port rate that the queue lengths are given for; ports of k times the rate use k times
        /// the lengths.
        at: Rate, "", Rate::from_gbps(1)..=Rate::from_gbps(10_000),
            "CoNEXT'20, 40G and 100G sets; scaling decided";
        /// Gain of the queue's distance from its aim, at the highest rates.
        alpha: f64, "alpha", GAIN, "an OMNeT++ model";
        /// Gain of the queue's growth, at the highest rates.
        beta: f64, "beta", GAIN, "an OMNeT++ model";
        /// The fair rate never falls below this.
        min_rate: Rate, "F_min", Rate::from_bps(RATE_STEP)..=Rate::from_gbps(100), "CoNEXT'20";
        /// From a message's arrival at a host to its effect on the rate.
        host_delay: Time, "", Time::ZERO..=Time::from_ms(1), "an OMNeT++ model";
        /// Time without an accepted message after which the sender's rate doubles.
        recovery_timer: Time, "", SPAN, "an OMNeT++ model";
        /// Flows that a queue can tell apart; further ones are not told the rate while it is full.
        flow_table: u64, "", 16..=65_536, "decided here";
    }
}

/// The scheme `rocc`.
#[derive(Debug)]
pub struct Rocc;

impl Scheme for Rocc {
    const NAME: &'static str = "rocc";
    const TITLE: &'static str = "RoCC";
    const PAPER: &'static str =
        "Taheri et al., RoCC: Robust Congestion Control for RDMA, CoNEXT 2020";
    const CAVEAT: &'static str = "The queue lengths of the 40G and 100G sets are not confirmed by \
                                  the paper's text; those of other rates are scaled.";
    const PRESETS: &'static [Preset<RoccParams>] = &[Preset {
        name: "rocc-paper",
        summary: "The paper's 100G set, or its 40G set where hosts have less than 100G",
        source: "CoNEXT'20; an OMNeT++ model",
        ecn: None,
        params: presets::paper,
    }];

    type Params = RoccParams;
    type Meta = ();
    type Ctl = FairRate;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = PlainReceiver;
    type Cp = CongestionPoint;

    fn check(params: &RoccParams) -> Result<(), ParamError> {
        if params.q_ref > params.q_max {
            let why = format!("must not be above q_max, which is {}", params.q_max);
            return Err(ParamError::Conflict("q_ref", why));
        }
        if params.recovery_timer <= params.update_interval {
            let why = format!(
                "must be above update_interval, which is {}: a sender would recover between two messages",
                params.update_interval
            );
            return Err(ParamError::Conflict("recovery_timer", why));
        }
        Ok(())
    }
    fn host(_params: &RoccParams, _facts: &HostFacts) {}
    fn congestion_point(params: &RoccParams, facts: &SwitchFacts<'_>) -> Option<CongestionPoint> {
        Some(CongestionPoint {
            node: facts.node,
            interval: params.update_interval,
            next: params.update_interval,
        })
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `rocc-paper`: the paper's 100G set, or its 40G set where hosts have less than 100G.
    pub fn paper(host_rate: Rate) -> RoccParams {
        let kb = |n: u64| Bytes::new(n * 1000);
        let at_40 = (kb(150), kb(300), kb(360), Rate::from_gbps(40));
        let at_100 = (kb(300), kb(600), kb(660), Rate::from_gbps(100));
        let (q_ref, q_mid, q_max, at) = if host_rate < at_100.3 { at_40 } else { at_100 };
        RoccParams {
            update_interval: Time::from_us(40),
            q_ref,
            q_mid,
            q_max,
            at,
            alpha: 0.3,
            beta: 1.5,
            min_rate: Rate::from_mbps(100),
            host_delay: Time::from_us(15),
            recovery_timer: Time::from_us(55),
            flow_table: 512,
        }
    }
}

/// What a congestion point tells the source of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairRate {
    /// The fair rate, in steps of [`RATE_STEP`].
    pub steps: u32,
    /// Who says so: the switch and its port.
    pub origin: (NodeId, PortId),
}

impl Ctl<RoccParams> for FairRate {
    /// An ICMP message: rate, congestion point and flow fit into the shortest frame.
    fn frame_bytes(&self) -> u32 {
        64
    }
}

impl FairRate {
    /// The fair rate.
    pub fn rate(&self) -> Rate {
        Rate::from_bps(u64::from(self.steps) * RATE_STEP)
    }
}

/// The controller of an egress queue: from its length every T to a fair rate. Rates are counted in
/// [`RATE_STEP`] and lengths in [`QUEUE_STEP`].
#[derive(Clone, Debug)]
pub struct Controller {
    q_ref: f64,
    q_mid: f64,
    q_max: f64,
    f_min: f64,
    f_max: f64,
    alpha: f64,
    beta: f64,
    /// F.
    fair: f64,
    /// Q_old.
    before: f64,
}

/// At or below this part of F_max the two cuts, which are for sudden congestion, are not used.
const CUTS_ABOVE: f64 = 8.0;
/// The gains shrink with the fair rate down to F_max over this.
const DEEPEST_LEVEL: f64 = 64.0;

impl Controller {
    /// The controller of a port of this rate, which begins at F_max.
    pub fn new(params: &RoccParams, rate: Rate) -> Controller {
        let length = |bytes: Bytes| {
            let scaled = u128::from(bytes.get()) * u128::from(rate.bps());
            // At a slow port a length may be less than a step, which an empty queue would reach.
            (scaled / u128::from(params.at.bps()) / u128::from(QUEUE_STEP)).max(1) as f64
        };
        let f_max = (rate.bps() / RATE_STEP).max(1) as f64;
        Controller {
            q_ref: length(params.q_ref),
            q_mid: length(params.q_mid),
            q_max: length(params.q_max),
            f_min: (params.min_rate.bps().div_ceil(RATE_STEP) as f64).min(f_max),
            f_max,
            alpha: params.alpha,
            beta: params.beta,
            fair: f_max,
            before: 0.0,
        }
    }

    /// The fair rate, in whole steps.
    pub fn steps(&self) -> u32 {
        (self.fair + 0.5) as u32
    }

    /// A period ended with `queue` bytes waiting.
    pub fn update(&mut self, queue: u64) {
        let q = (queue / QUEUE_STEP) as f64;
        let growth = q - self.before;
        let may_cut = self.fair > self.f_max / CUTS_ABOVE;
        let fair = if may_cut && q >= self.q_max {
            self.f_min
        } else if may_cut && growth >= self.q_mid {
            self.fair / 2.0
        } else {
            let (a, b) = self.gains();
            self.fair - a * (q - self.q_ref) - b * growth
        };
        self.fair = fair.clamp(self.f_min, self.f_max);
        self.before = q;
    }

    /// The gains go with the fair rate, that is, inversely with the number of flows, by powers of
    /// two.
    fn gains(&self) -> (f64, f64) {
        let mut level = 2.0;
        while level < DEEPEST_LEVEL && self.fair < self.f_max / level {
            level *= 2.0;
        }
        let ratio = level / 2.0;
        (self.alpha / ratio, self.beta / ratio)
    }
}

/// The egress queue of a port: all priorities count as one queue.
#[derive(Debug)]
pub struct EgressQueue {
    controller: Controller,
    flows: FlowTable,
}

impl EgressQueue {
    /// A packet is not in the queue any more. Data carries a mark where it was counted: its flow may
    /// have been left out then, and have room now.
    #[inline]
    fn forget(&mut self, header: &Header) {
        if header.kind == PacketKind::Data && header.flags.contains(Flags::MARK) {
            self.flows.depart(&header.address);
        }
    }
}

/// The congestion points of a switch: all its queues update at the same time, and those of all
/// switches do.
#[derive(Debug)]
pub struct CongestionPoint {
    node: NodeId,
    interval: Time,
    next: Time,
}

impl Cp<Rocc> for CongestionPoint {
    /// Departures change the table of their own port alone; messages leave when the timer fires,
    /// for which all ports have caught up.
    type Level = Emits;
    type Port = EgressQueue;
    crate::hooks!(enqueues, timer);

    fn port(&self, params: &RoccParams, facts: &PortFacts) -> EgressQueue {
        EgressQueue {
            controller: Controller::new(params, facts.rate),
            flows: FlowTable::new(params.flow_table as usize),
        }
    }
    #[inline]
    fn on_depart(
        &mut self,
        _cx: &mut LocalCx,
        port: &mut EgressQueue,
        _view: &PortView,
        packet: &mut Packet<Rocc>,
    ) {
        port.forget(&packet.header);
    }
    fn on_drop(
        &mut self,
        _cx: &mut EmitCx<'_, Rocc>,
        port: &mut EgressQueue,
        _view: &PortView,
        packet: &Packet<Rocc>,
    ) {
        port.forget(&packet.header);
    }
    /// The fair rate, bits per second.
    fn observe(&self, port: &EgressQueue, _now: Time) -> Option<f64> {
        Some(port.controller.fair * RATE_STEP as f64)
    }
}

impl OnEnqueue<Rocc> for CongestionPoint {
    #[inline]
    fn on_enqueue(
        &mut self,
        _cx: &mut EmitCx<'_, Rocc>,
        port: &mut EgressQueue,
        _view: &PortView,
        packet: &mut Packet<Rocc>,
    ) {
        if packet.header.kind == PacketKind::Data {
            let counted = port.flows.arrive(&packet.header.address);
            packet.header.flags.set(Flags::MARK, counted);
        }
    }
}

impl CpTimer<Rocc> for CongestionPoint {
    fn next_timer(&self) -> Time {
        self.next
    }
    fn on_timer(&mut self, cx: &mut EmitCx<'_, Rocc>, ports: &mut dyn Ports<EgressQueue>) {
        self.next = cx.now + self.interval;
        for number in 0..ports.count() {
            let port = PortId::new(number as u16);
            let (queue, view) = ports.port(port);
            queue.controller.update(view.queue_bytes);
            let message = FairRate { steps: queue.controller.steps(), origin: (self.node, port) };
            for address in queue.flows.addresses() {
                cx.to_host(*address, QpEnd::Sender, message);
            }
        }
    }
}

/// The reaction point, one per QP.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    host_delay: Time,
    recovery_timer: Time,
    line_rate: Rate,
    /// The limiter's rate; at the line rate there is no limiter.
    rate: Rate,
    /// The congestion point that it follows.
    bound: Option<(NodeId, PortId)>,
    /// When the rate doubles.
    recovers: Time,
    /// Messages that arrived and have no effect yet, and when they have.
    waiting: VecDeque<(Time, FairRate)>,
}

impl ReactionPoint {
    /// The reaction point of a QP that begins: without a limiter.
    pub fn new(params: &RoccParams, path: &PathFacts) -> ReactionPoint {
        ReactionPoint {
            host_delay: params.host_delay,
            recovery_timer: params.recovery_timer,
            line_rate: path.line_rate,
            rate: path.line_rate,
            bound: None,
            recovers: Time::NEVER,
            waiting: VecDeque::new(),
        }
    }

    /// The rate now.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// A message arrived. It counts when the host has worked on it.
    pub fn on_rate(&mut self, now: Time, message: FairRate) {
        self.waiting.push_back((now + self.host_delay, message));
        self.advance_to(now);
    }

    /// Does what is due until `now`: messages first, in their order.
    pub fn advance_to(&mut self, now: Time) {
        while self.next_due() <= now {
            match self.waiting.front() {
                Some(&(due, message)) if due <= self.recovers => {
                    self.waiting.pop_front();
                    self.take(due, message);
                }
                _ => self.recover(),
            }
        }
    }

    /// When something happens without a message.
    pub fn next_due(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |(due, _)| *due).min(self.recovers)
    }

    /// Follows a congestion point that it is bound to, or that gives less than the one it is bound
    /// to.
    fn take(&mut self, now: Time, message: FairRate) {
        let follows = self.bound.is_none_or(|origin| origin == message.origin);
        if !(follows || message.rate() < self.rate) {
            return;
        }
        self.bound = Some(message.origin);
        self.set_rate(message.rate());
        self.recovers = now + self.recovery_timer;
    }

    /// Fast recovery: nothing was accepted for a while.
    fn recover(&mut self) {
        let now = self.recovers;
        self.recovers = now + self.recovery_timer;
        self.set_rate(Rate::from_bps(self.rate.bps().saturating_mul(2)));
        if self.rate == self.line_rate {
            self.bound = None;
            self.recovers = Time::NEVER;
        }
    }

    fn set_rate(&mut self, rate: Rate) {
        self.rate = rate.min(self.line_rate);
    }
}

impl Rp<Rocc> for ReactionPoint {
    type Timer = Present;
    /// A packet may wait long at a low rate; a message need not wait for it.
    const REPACE: bool = true;

    fn open(params: &RoccParams, _host: &mut (), path: &PathFacts, _now: Time) -> ReactionPoint {
        ReactionPoint::new(params, path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate, ..SendLimits::UNLIMITED }
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Rocc>, message: &FairRate) {
        self.on_rate(cx.now, *message);
    }
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        (what == SenderMetric::Rate).then_some(self.rate.bps() as f64)
    }
}

impl RpTimer<Rocc> for ReactionPoint {
    #[inline]
    fn next_timer(&self) -> Time {
        self.next_due()
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, Rocc>) {
        self.advance_to(cx.now);
    }
}
