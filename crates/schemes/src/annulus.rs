//! Annulus: "Annulus: A Dual Congestion Control Loop for Datacenter and WAN Traffic Aggregates",
//! Saeed et al., SIGCOMM 2020.
//!
//! Adds a second loop to the end-to-end one. ToRs sample the queues of their uplinks by QCN (IEEE
//! 802.1Qau) and notify the sources directly. End-to-end feedback of traffic to other data centres
//! is slow. With the second loop, such traffic reacts to a bottleneck near its source as soon as
//! its neighbours do. A sender keeps to the lower of the two rates.
//!
//! The paper was not available, only descriptions of it. Our choices:
//!
//! - The end-to-end loop is [DCQCN](crate::dcqcn) for all traffic.
//! - A ToR samples every n-th data packet and does not count bytes. The 6-bit feedback is QCN's.
//! - The set point is Kmin of the port's RED.
//! - The near-source rate recovers by QCN's timer alone.

use crate::contract::{
    Absent, Ack, Cp, Ctl, EmitCx, Emits, Header, HostCx, HostFacts, Needs, Np, OnEnqueue, Packet,
    PacketKind, PathFacts, PortFacts, PortView, Present, Preset, QpEnd, RateFloor, Rp, RpTimer,
    Scheme, SendLimits, SenderMetric, SwitchFacts, Tolerates,
};
use crate::dcqcn::{self, Cnp, DcqcnParams, NotificationPoint, ReactionPoint};
use units::{Bytes, Rate, Time};

crate::params! {
    /// Parameters of Annulus's near-source loop.
    pub struct NearSourceParams {
        /// Data packets from one sample of an uplink's queue to the next.
        sample_every: u64, "", 1..=1_000_000, "decided";
        /// Weight of the queue's growth since the last sample.
        growth_weight: f64, "w", 0.0..=100.0, "802.1Qau";
        /// Set point of the queue if RED is off. If RED is on, the set point is Kmin.
        set_point: Bytes, "Q_eq", Bytes::new(1_000)..=Bytes::new(1_000_000_000), "802.1Qau";
        /// Share of the near-source rate that one unit of feedback cuts.
        feedback_gain: f64, "G_d", 0.0001..=0.015_625, "802.1Qau: 1/128";
        /// Period of the near-source rate's recovery.
        near_timer: Time, "", Time::from_us(1)..=Time::from_ms(100), "decided";
        /// Periods of fast recovery before the target rises.
        near_recovery_steps: u64, "", 0..=1_000, "802.1Qau";
        /// Increase of the target in each later period.
        near_rate_ai: Rate, "R_AI", Rate::from_bps(100_000)..=Rate::from_gbps(100),
            "802.1Qau: 5 Mb/s at 10G, scaled with the port rate";
    }
}

crate::join_params! {
    /// Parameters of Annulus.
    pub struct AnnulusParams {
        /// The end-to-end loop.
        dcqcn: DcqcnParams;
        /// The near-source loop.
        near: NearSourceParams;
    }
}

/// The scheme `annulus`.
#[derive(Debug)]
pub struct Annulus;

impl Scheme for Annulus {
    const NAME: &'static str = "annulus";
    const TITLE: &'static str = "Annulus over DCQCN";
    const PAPER: &'static str = "Saeed et al., Annulus: A Dual Congestion Control Loop for \
                                 Datacenter and WAN Traffic Aggregates, SIGCOMM 2020";
    const CAVEAT: &'static str = "The near-source loop is QCN's as known at second hand; all \
                                  traffic runs DCQCN end to end.";
    const PRESETS: &'static [Preset<AnnulusParams>] = &[
        Preset {
            name: "annulus",
            summary: "QCN at the ToRs' uplinks over dcqcn-paper",
            source: "802.1Qau; the rest as dcqcn-paper",
            ecn: Some(dcqcn::presets::PAPER_ECN),
            params: presets::annulus,
        },
        Preset {
            name: "annulus-themis",
            summary: "QCN at the ToRs' uplinks over dcqcn-themis",
            source: "802.1Qau; the rest as dcqcn-themis",
            ecn: Some(dcqcn::presets::HPCC_ECN),
            params: presets::themis,
        },
    ];
    const NEEDS: Needs = Needs {
        tolerates: Tolerates::several_paths(
            "QCN samples packets at one uplink and slows the whole flow",
        ),
        ..Needs::NONE
    };

    type Params = AnnulusParams;
    type Meta = ();
    type Ctl = Notice;
    type Host = ();
    type Rp = DualReactionPoint;
    type Np = NotificationPoint;
    type Cp = CongestionPoint;

    fn rate_floor(params: &AnnulusParams) -> Option<RateFloor> {
        Some(params.dcqcn.rate_floor())
    }
    fn host(_params: &AnnulusParams, _facts: &HostFacts) {}
    fn congestion_point(
        params: &AnnulusParams,
        facts: &SwitchFacts<'_>,
    ) -> Option<CongestionPoint> {
        let near = &params.near;
        (facts.tier == 1)
            .then_some(CongestionPoint { every: near.sample_every, weight: near.growth_weight })
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    fn near(host_rate: Rate) -> NearSourceParams {
        NearSourceParams {
            sample_every: 100,
            growth_weight: 2.0,
            set_point: Bytes::new(26_000),
            feedback_gain: 1.0 / 128.0,
            near_timer: Time::from_us(300),
            near_recovery_steps: 5,
            near_rate_ai: Rate::from_bps((host_rate.bps() / 2000).max(100_000)),
        }
    }

    /// Preset `annulus`: QCN at the ToRs' uplinks over dcqcn-paper.
    pub fn annulus(host_rate: Rate) -> AnnulusParams {
        AnnulusParams { dcqcn: dcqcn::presets::paper(host_rate), near: near(host_rate) }
    }

    /// Preset `annulus-themis`: QCN at the ToRs' uplinks over dcqcn-themis.
    pub fn themis(host_rate: Rate) -> AnnulusParams {
        AnnulusParams { dcqcn: dcqcn::presets::themis(host_rate), near: near(host_rate) }
    }
}

/// A notification to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// From the receiver: a packet arrived with a CE mark.
    Congestion,
    /// From the sender's ToR: the feedback |Fb|, quantised to 1..=63.
    NearSource(u8),
}

impl Ctl<AnnulusParams> for Notice {
    const MAX_FRAME_BYTES: u32 = Cnp::FRAME_BYTES;

    /// A QCN message of a ToR is none.
    fn is_cnp(&self) -> bool {
        *self == Notice::Congestion
    }
}

/// Maximum of the quantised feedback (6 bits).
const MAX_FEEDBACK: f64 = 63.0;

/// The congestion point of a ToR.
#[derive(Clone, Copy, Debug)]
pub struct CongestionPoint {
    every: u64,
    weight: f64,
}

/// The state of an uplink: QCN's congestion point. Ports to hosts take no samples.
#[derive(Clone, Copy, Debug)]
pub struct Uplink {
    samples: bool,
    /// By the priority of the packet that is the sample.
    set_points: [f64; 8],
    /// Data packets since the last sample.
    packets: u64,
    /// Queue length at the last sample.
    before: f64,
}

impl CongestionPoint {
    /// Counts a data packet that joins the queue, where `queue` bytes wait. Returns the feedback
    /// for its source if this packet is a sample and finds congestion.
    ///
    /// Fb = -(Q_off + w Q_delta). It is sent if it is negative, as a share of its maximum, Q_eq (2
    /// w + 1).
    pub fn sample(&self, uplink: &mut Uplink, queue: u64, priority: u8) -> Option<u8> {
        uplink.packets += 1;
        if !uplink.samples || uplink.packets < self.every {
            return None;
        }
        uplink.packets = 0;
        let queue = queue as f64;
        let set_point = uplink.set_points[usize::from(priority & 7)];
        let congestion = (queue - set_point) + self.weight * (queue - uplink.before);
        uplink.before = queue;
        let max = set_point * (2.0 * self.weight + 1.0);
        let feedback = (congestion * MAX_FEEDBACK / max).min(MAX_FEEDBACK) as u8;
        (feedback > 0).then_some(feedback)
    }
}

impl Cp<Annulus> for CongestionPoint {
    type Level = Emits;
    type Port = Uplink;
    crate::hooks!(enqueues);

    fn port(&self, params: &AnnulusParams, facts: &PortFacts) -> Uplink {
        let own = params.near.set_point;
        let set_point = |kmin| if kmin == Bytes::UNLIMITED { own } else { kmin };
        Uplink {
            samples: !facts.peer_is_host,
            // With Kmin = 0, any queue is too long.
            set_points: facts.kmin.map(|kmin| set_point(kmin).get().max(1) as f64),
            packets: 0,
            before: 0.0,
        }
    }
    /// Feedback is computed from queue lengths alone.
    fn on_rate(&mut self, _params: &AnnulusParams, _uplink: &mut Uplink, _facts: &PortFacts) {}
}

impl OnEnqueue<Annulus> for CongestionPoint {
    #[inline]
    fn on_enqueue(
        &mut self,
        cx: &mut EmitCx<'_, Annulus>,
        port: &mut Uplink,
        view: &PortView,
        packet: &mut Packet<Annulus>,
    ) {
        if packet.header.kind == PacketKind::Data
            && let Some(feedback) = self.sample(port, view.queue_bytes, packet.header.priority)
        {
            cx.to_host(packet.header.address, QpEnd::Sender, Notice::NearSource(feedback));
        }
    }
}

/// The rate of the near-source loop: QCN's reaction point with a timer and no byte counter.
#[derive(Clone, Debug)]
pub struct NearSource {
    gain: f64,
    timer: Time,
    recovery_steps: u64,
    rate_ai: u64,
    min_rate: u64,
    line_rate: u64,
    current: u64,
    target: u64,
    steps: u64,
    due: Time,
}

impl NearSource {
    /// Returns the state of a new QP: at line rate.
    pub fn new(params: &AnnulusParams, line_rate: Rate) -> NearSource {
        let line_rate = line_rate.bps();
        NearSource {
            gain: params.near.feedback_gain,
            timer: params.near.near_timer,
            recovery_steps: params.near.near_recovery_steps,
            rate_ai: params.near.near_rate_ai.bps(),
            min_rate: params.dcqcn.min_rate.bps().min(line_rate),
            line_rate,
            current: line_rate,
            target: line_rate,
            steps: 0,
            due: Time::NEVER,
        }
    }

    /// The rate at the time of the last call that had a time.
    #[inline]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.current)
    }

    /// Cuts the rate by the feedback of a ToR.
    pub fn notify(&mut self, now: Time, feedback: u8) {
        self.advance_to(now);
        // A cut in the first period of recovery does not change the target.
        if self.steps > 0 || self.due == Time::NEVER {
            self.target = self.current;
        }
        let factor = (1.0 - self.gain * f64::from(feedback)).max(0.5);
        self.current = ((self.current as f64 * factor) as u64).max(self.min_rate);
        self.steps = 0;
        self.due = now + self.timer;
    }

    /// Runs the timer until `now`.
    #[inline]
    pub fn advance_to(&mut self, now: Time) {
        while self.due <= now {
            self.steps += 1;
            self.due += self.timer;
            if self.steps > self.recovery_steps {
                self.target = self.target.saturating_add(self.rate_ai).min(self.line_rate);
            }
            self.current = (self.current + self.target).div_ceil(2);
            if self.current == self.line_rate {
                self.due = Time::NEVER;
            }
        }
    }
}

/// The reaction point: sends at the lower of the rates of both loops.
#[derive(Clone, Debug)]
pub struct DualReactionPoint {
    dcqcn: ReactionPoint,
    near: NearSource,
}

impl Rp<Annulus> for DualReactionPoint {
    type Timer = Present;
    fn open(
        params: &AnnulusParams,
        _host: &mut (),
        path: &PathFacts,
        _now: Time,
    ) -> DualReactionPoint {
        DualReactionPoint {
            dcqcn: ReactionPoint::new(&params.dcqcn, path),
            near: NearSource::new(params, path.line_rate),
        }
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        let limits = self.dcqcn.limits();
        SendLimits { rate: limits.rate.min(self.near.rate()), ..limits }
    }
    #[inline]
    fn on_send(&mut self, cx: &mut HostCx<'_, Annulus>, data: &mut Header, _meta: &mut ()) {
        self.dcqcn.count_bytes(cx.now, u64::from(data.size));
        self.near.advance_to(cx.now);
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, Annulus>, ack: &Ack<'_, Annulus>) {
        self.dcqcn.on_ecn_echo(cx.now, ack.echo);
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Annulus>, notice: &Notice) {
        match *notice {
            Notice::Congestion => self.dcqcn.notify(cx.now),
            Notice::NearSource(feedback) => self.near.notify(cx.now, feedback),
        }
    }
    fn observe(&self, now: Time, what: SenderMetric) -> Option<f64> {
        let dcqcn = self.dcqcn.metric_at(now, what);
        if what != SenderMetric::Rate {
            return dcqcn;
        }
        let mut near = self.near.clone();
        near.advance_to(now);
        Some(dcqcn?.min(near.rate().bps() as f64))
    }
}

impl RpTimer<Annulus> for DualReactionPoint {
    #[inline]
    fn next_timer(&self) -> Time {
        self.dcqcn.next_window()
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, Annulus>) {
        self.dcqcn.advance_to(cx.now);
    }
}

impl Np<Annulus> for NotificationPoint {
    type Timer = Absent;
    fn open(params: &AnnulusParams, _host: &mut (), _now: Time) -> NotificationPoint {
        NotificationPoint::new(&params.dcqcn)
    }
    #[inline]
    fn on_packet(&mut self, cx: &mut HostCx<'_, Annulus>, data: &Header, _meta: &()) {
        if self.should_send_cnp(cx.now, &cx.params.dcqcn, data.code_point) {
            cx.send(Notice::Congestion);
        }
    }
}
