//! RoCC: "RoCC: Robust Congestion Control for RDMA", Taheri et al., CoNEXT 2020.
//!
//! Each egress queue of a switch is a congestion point (CP). Every T it computes one fair rate from
//! its length with a proportional-integral (PI) controller, and sends it to the source of each flow
//! that has a packet in the queue. The source (RP) uses the rate, follows the congestion point with
//! the lowest rate, and doubles its rate if it receives no message for a while.
//!
//! The controller counts rates in steps of 10 Mb/s and queues in steps of 600 B, so that it needs
//! few bits in a switch.
//!
//! The paper's text was not available. The laws are those of a public OMNeT++ model of it (its
//! switch queue and host queue), in the paper's symbols.

mod flow_table;

pub use flow_table::FlowTable;

use crate::contract::{
    Cp, CpTimer, Ctl, EmitCx, Emits, Flags, Header, HostCx, HostFacts, LocalCx, Needs, OnEnqueue,
    Pacing, Packet, PacketKind, PathFacts, PlainReceiver, PortFacts, PortView, Ports, Present,
    Preset, QpEnd, RateFloor, Rp, RpTimer, Scheme, SendLimits, SenderMetric, SwitchFacts,
    Tolerates,
};
use crate::params::ParamError;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use units::{Bytes, NodeId, PortId, Rate, Time};

/// Delta F, bits per second: rates are counted in these steps.
pub const RATE_STEP: u64 = 10_000_000;
/// Delta Q, bytes: queues are counted in these steps.
pub const QUEUE_STEP: u64 = 600;

const SPAN: RangeInclusive<Time> = Time::from_us(1)..=Time::from_ms(100);
const LENGTH: RangeInclusive<Bytes> = Bytes::new(QUEUE_STEP)..=Bytes::new(1_000_000_000);
const GAIN: RangeInclusive<f64> = 0.0001..=100.0;

crate::params! {
    /// Parameters of RoCC.
    pub struct RoccParams {
        /// Period of the fair rate's update.
        update_interval: Time, "T", SPAN, "CoNEXT'20; an OMNeT++ model";
        /// Target queue length at a port of rate `reference_rate`.
        q_ref: Bytes, "Q_ref", LENGTH, "CoNEXT'20, 40G and 100G sets";
        /// Growth of the queue in a period that halves the fair rate, at a port of rate
        /// `reference_rate`.
        q_mid: Bytes, "Q_mid", LENGTH, "CoNEXT'20, 40G and 100G sets";
        /// Queue length that sets the fair rate to its minimum, at a port of rate `reference_rate`.
        q_max: Bytes, "Q_max", LENGTH, "CoNEXT'20, 40G and 100G sets";
        /// Port rate for which the queue lengths are given. Ports of k times the rate use k times
        /// the lengths.
        reference_rate: Rate, "", Rate::from_gbps(1)..=Rate::from_gbps(10_000),
            "CoNEXT'20, 40G and 100G sets; scaling decided";
        /// Gain of the queue's distance from its target, at the highest rates.
        alpha: f64, "alpha", GAIN, "an OMNeT++ model";
        /// Gain of the queue's growth, at the highest rates.
        beta: f64, "beta", GAIN, "an OMNeT++ model";
        /// The fair rate never falls below this.
        min_rate: Rate, "F_min", Rate::from_bps(RATE_STEP)..=Rate::from_gbps(100), "CoNEXT'20";
        /// Time from a message's arrival at a host to its effect on the rate.
        host_delay: Time, "", Time::ZERO..=Time::from_ms(1), "an OMNeT++ model";
        /// Time without an accepted message after which the sender's rate doubles.
        recovery_timer: Time, "", SPAN, "an OMNeT++ model";
        /// Number of flows that a queue can track. While this table is full, further flows get no
        /// messages.
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
    const NEEDS: Needs = Needs {
        tolerates: Tolerates::several_paths(
            "the fair rate is that of one queue, and of several paths the lowest counts for all",
        ),
        ..Needs::NONE
    };

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
                "must be above update_interval, which is {}: a sender would recover between two \
                 messages",
                params.update_interval
            );
            return Err(ParamError::Conflict("recovery_timer", why));
        }
        Ok(())
    }
    fn rate_floor(params: &RoccParams) -> Option<RateFloor> {
        Some(RateFloor { rate: params.min_rate, has_window: false, max_packet_gap: None })
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
        let (q_ref, q_mid, q_max, reference_rate) =
            if host_rate < at_100.3 { at_40 } else { at_100 };
        RoccParams {
            update_interval: Time::from_us(40),
            q_ref,
            q_mid,
            q_max,
            reference_rate,
            alpha: 0.3,
            beta: 1.5,
            min_rate: Rate::from_mbps(100),
            host_delay: Time::from_us(15),
            recovery_timer: Time::from_us(55),
            flow_table: 512,
        }
    }
}

/// A message from a congestion point to the source of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairRate {
    /// The fair rate, in steps of [`RATE_STEP`].
    pub steps: u32,
    /// The congestion point: a switch and its port.
    pub origin: (NodeId, PortId),
}

impl Ctl<RoccParams> for FairRate {
    /// An ICMP message: rate, congestion point and flow fit into the minimum frame.
    const MAX_FRAME_BYTES: u32 = 64;
}

impl FairRate {
    /// Returns the fair rate.
    pub fn rate(&self) -> Rate {
        Rate::from_bps(u64::from(self.steps) * RATE_STEP)
    }
}

/// The controller of an egress queue: computes a fair rate from the queue length every T. Rates are
/// counted in [`RATE_STEP`] and lengths in [`QUEUE_STEP`].
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

/// At or below F_max over this, the two cuts are not used. They are for sudden congestion.
const CUTS_ABOVE: f64 = 8.0;
/// The gains shrink with the fair rate down to F_max over this.
const DEEPEST_LEVEL: f64 = 64.0;

impl Controller {
    /// Returns the controller of a port of this rate. It starts at F_max.
    pub fn new(params: &RoccParams, rate: Rate) -> Controller {
        let length = |bytes: Bytes| {
            let scaled = u128::from(bytes.get()) * u128::from(rate.bps());
            // At a slow port a length may be less than a step, which an empty queue would reach.
            (scaled / u128::from(params.reference_rate.bps()) / u128::from(QUEUE_STEP)).max(1)
                as f64
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

    /// Follows a new rate of the port: lengths, F_min and F_max are those of that rate, and what
    /// the controller has learnt stays, within them.
    fn set_rate(&mut self, params: &RoccParams, rate: Rate) {
        let new = Controller::new(params, rate);
        let fair = self.fair.clamp(new.f_min, new.f_max);
        *self = Controller { fair, before: self.before, ..new };
    }

    /// Returns the fair rate, in whole steps.
    pub fn steps(&self) -> u32 {
        (self.fair + 0.5) as u32
    }

    /// Updates the fair rate at the end of a period, with `queue` bytes waiting.
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

    /// Returns the gains. They scale with the fair rate, that is inversely with the number of
    /// flows, in powers of two.
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
    /// Removes a packet that is no longer in the queue. Data carries a mark if it was counted: when
    /// its flow did not fit into the table, it was not, and the flow may have a place by now.
    #[inline]
    fn forget(&mut self, header: &Header) {
        if header.kind == PacketKind::Data && header.flags.contains(Flags::MARK) {
            self.flows.depart(&header.address);
        }
    }
}

/// The congestion points of a switch. All queues of all switches update at the same times.
#[derive(Debug)]
pub struct CongestionPoint {
    node: NodeId,
    interval: Time,
    next: Time,
}

impl Cp<Rocc> for CongestionPoint {
    /// Departures change only the table of their own port. Messages leave when the timer fires, and
    /// all ports are advanced to that time first.
    type Level = Emits;
    type Port = EgressQueue;
    crate::hooks!(enqueues, timer);

    fn port(&self, params: &RoccParams, facts: &PortFacts) -> EgressQueue {
        EgressQueue {
            controller: Controller::new(params, facts.rate),
            flows: FlowTable::new(params.flow_table as usize),
        }
    }
    fn on_rate(&mut self, params: &RoccParams, port: &mut EgressQueue, facts: &PortFacts) {
        port.controller.set_rate(params, facts.rate);
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
    /// Shows the fair rate, bits per second.
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
    /// The rate limiter's rate. At the line rate there is no limiter.
    rate: Rate,
    /// The congestion point that the sender follows.
    bound: Option<(NodeId, PortId)>,
    /// Time at which the rate doubles.
    recovers: Time,
    /// Messages that have arrived and have no effect yet, with the times at which they have.
    waiting: VecDeque<(Time, FairRate)>,
}

impl ReactionPoint {
    /// Returns the state of a new QP: without a rate limiter.
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

    /// Returns the present rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Handles a message that arrived. It takes effect after `host_delay`.
    pub fn on_rate(&mut self, now: Time, message: FairRate) {
        self.waiting.push_back((now + self.host_delay, message));
        self.advance_to(now);
    }

    /// Handles everything that is due until `now`, messages first and in their order.
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

    /// Returns when something is due without a further message.
    pub fn next_due(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |(due, _)| *due).min(self.recovers)
    }

    /// Applies a message from the congestion point that the sender follows, or from another one
    /// with a lower rate, which it follows from then on.
    fn take(&mut self, now: Time, message: FairRate) {
        let follows = self.bound.is_none_or(|origin| origin == message.origin);
        if !(follows || message.rate() < self.rate) {
            return;
        }
        self.bound = Some(message.origin);
        self.set_rate(message.rate());
        self.recovers = now + self.recovery_timer;
    }

    /// Doubles the rate (fast recovery): no message was accepted for a while.
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

    /// At a low rate a packet may wait long. A message takes effect without waiting for it.
    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Continuous
    }
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
