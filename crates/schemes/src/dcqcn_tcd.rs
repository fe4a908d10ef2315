//! DCQCN with TCD's detection: "Congestion Detection in Lossless Networks", Zhang et al., SIGCOMM
//! 2021.
//!
//! Switches distinguish congestion from the effects of PFC ([`tcd`](crate::tcd)). CE notifies and
//! cuts as in [DCQCN](crate::dcqcn). UE has its own notification. On UE the sender holds its rate:
//! it neither cuts nor increases.
//!
//! Our choices:
//!
//! - UE travels like CE: in its own CNPs with the same minimum interval, or as the echo in ACKs.
//! - UE holds the rate for `hold_time`, which is longer than that interval. A CNP is sent with the
//!   first packet after the interval. So the holds of a port that stays undetermined have gaps if
//!   packets come further apart than the difference of the two. With the presets' difference of 5
//!   us this is the case at rates below about 1.7 Gb/s, and in a long pause, when no packets come.
//! - CE overrides UE at the sender, too: it ends a hold, and UE has no effect for `hold_time` after
//!   it. A flow that gets both has a part in real congestion.
//! - The cut is DCQCN's.

use crate::contract::{
    Absent, Ack, Ctl, EcnCodePoint, Header, HostCx, HostFacts, Needs, Np, PathFacts, Present,
    Preset, RateFloor, Rp, RpTimer, Scheme, SendLimits, SenderMetric, SwitchFacts,
};
use crate::dcqcn::{
    self, Cnp, Dcqcn, DcqcnParams, Form, MarkFeedback, NotificationPoint, ReactionPoint,
};
use crate::params::ParamError;
use crate::tcd::{Tcd, TcdParams};
use units::{Rate, Time};

crate::params! {
    /// Parameters of the sender's reaction to UE.
    pub struct HoldParams {
        /// How long a UE notification holds the rate.
        hold_time: Time, "", Time::from_ns(100)..=Time::from_ms(100),
            "decided: cnp_interval and a margin";
    }
}

crate::join_params! {
    /// Parameters of DCQCN+TCD.
    pub struct DcqcnTcdParams {
        /// Parameters of DCQCN.
        dcqcn: DcqcnParams;
        /// Parameters of the detector.
        tcd: TcdParams;
        /// The reaction to UE.
        hold: HoldParams;
    }
}

/// The scheme `dcqcn+tcd`.
#[derive(Debug)]
pub struct DcqcnTcd;

impl Scheme for DcqcnTcd {
    const NAME: &'static str = "dcqcn+tcd";
    const TITLE: &'static str = "DCQCN+TCD";
    const PAPER: &'static str = "Zhang et al., Congestion Detection in Lossless Networks, \
                                 SIGCOMM 2021";
    const CAVEAT: &'static str = "TCD's settings and reactions are second-hand; max(Ton) by a \
                                  formula derived here.";
    const PRESETS: &'static [Preset<DcqcnTcdParams>] = &[
        Preset {
            name: "dcqcn-paper+tcd",
            summary: "TCD with epsilon 0.05 over dcqcn-paper",
            source: "epsilon: SIGCOMM'21, second-hand; the rest as dcqcn-paper",
            ecn: Some(dcqcn::presets::PAPER_ECN),
            params: presets::paper,
        },
        Preset {
            name: "dcqcn-hpcc+tcd",
            summary: "TCD with epsilon 0.05 over dcqcn-hpcc",
            source: "epsilon: SIGCOMM'21, second-hand; the rest as dcqcn-hpcc",
            ecn: Some(dcqcn::presets::HPCC_ECN),
            params: presets::hpcc,
        },
        Preset {
            name: "dcqcn-hpcc-paper+tcd",
            summary: "TCD with epsilon 0.05 over dcqcn-hpcc-paper",
            source: "epsilon: SIGCOMM'21, second-hand; the rest as dcqcn-hpcc-paper",
            ecn: Some(dcqcn::presets::HPCC_ECN),
            params: presets::hpcc_paper,
        },
    ];
    const NEEDS: Needs = Dcqcn::NEEDS;

    type Params = DcqcnTcdParams;
    type Meta = ();
    type Ctl = Notification;
    type Host = ();
    type Rp = HoldingReactionPoint;
    type Np = TernaryNotificationPoint;
    type Cp = Tcd;

    fn check(params: &DcqcnTcdParams) -> Result<(), ParamError> {
        let (interval, hold) = (params.dcqcn.cnp_interval, params.hold.hold_time);
        if params.dcqcn.notification == MarkFeedback::Cnp && hold <= interval {
            let why =
                format!("must be above cnp_interval, which is {interval}, or all holds have gaps");
            return Err(ParamError::Conflict("hold_time", why));
        }
        let check = params.dcqcn.decrease_interval;
        if params.dcqcn.variant == Form::Mellanox && hold <= check {
            let why = format!(
                "must be above decrease_interval, which is {check}: the firmware's cut may come so \
                 long after its notification, and a hold would undo it"
            );
            return Err(ParamError::Conflict("hold_time", why));
        }
        Dcqcn::check(&params.dcqcn)
    }
    fn rate_floor(params: &DcqcnTcdParams) -> Option<RateFloor> {
        Some(params.dcqcn.rate_floor())
    }
    fn host(_params: &DcqcnTcdParams, _facts: &HostFacts) {}
    fn congestion_point(params: &DcqcnTcdParams, _facts: &SwitchFacts<'_>) -> Option<Tcd> {
        Some(Tcd(params.tcd.clone()))
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `dcqcn-paper+tcd`: TCD with epsilon 0.05 over dcqcn-paper.
    pub fn paper(host_rate: Rate) -> DcqcnTcdParams {
        DcqcnTcdParams {
            dcqcn: dcqcn::presets::paper(host_rate),
            tcd: TcdParams::default(),
            hold: HoldParams { hold_time: Time::from_us(55) },
        }
    }

    /// Preset `dcqcn-hpcc+tcd`: TCD with epsilon 0.05 over dcqcn-hpcc.
    pub fn hpcc(host_rate: Rate) -> DcqcnTcdParams {
        DcqcnTcdParams {
            dcqcn: dcqcn::presets::hpcc(host_rate),
            tcd: TcdParams::default(),
            hold: HoldParams { hold_time: Time::from_us(55) },
        }
    }

    /// Preset `dcqcn-hpcc-paper+tcd`: TCD with epsilon 0.05 over dcqcn-hpcc-paper.
    pub fn hpcc_paper(host_rate: Rate) -> DcqcnTcdParams {
        DcqcnTcdParams { dcqcn: dcqcn::presets::hpcc_paper(host_rate), ..hpcc(host_rate) }
    }
}

/// A CNP: the mark of the packet that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notification {
    /// The packet had met congestion (CE).
    Congestion,
    /// The packet had met an undetermined port (UE).
    Undetermined,
}

impl Ctl<DcqcnTcdParams> for Notification {
    const MAX_FRAME_BYTES: u32 = Cnp::FRAME_BYTES;

    fn is_cnp(&self) -> bool {
        true
    }
}

/// DCQCN's reaction point with the ability to hold its rate.
#[derive(Clone, Debug)]
pub struct HoldingReactionPoint {
    dcqcn: ReactionPoint,
    hold_time: Time,
    /// Before this time, UE has no effect.
    congested_until: Time,
}

impl HoldingReactionPoint {
    /// Returns the state of a new QP.
    pub fn new(params: &DcqcnTcdParams, path: &PathFacts) -> HoldingReactionPoint {
        HoldingReactionPoint {
            dcqcn: ReactionPoint::new(&params.dcqcn, path),
            hold_time: params.hold.hold_time,
            congested_until: Time::ZERO,
        }
    }

    /// Reacts to a CE notification: ends a hold and cuts.
    pub fn on_congestion(&mut self, now: Time) {
        self.dcqcn.hold(now, now);
        self.dcqcn.notify(now);
        self.congested_until = now + self.hold_time;
    }

    /// Reacts to a UE notification: holds the rate, unless CE came less than `hold_time` ago.
    pub fn on_undetermined(&mut self, now: Time) {
        if now >= self.congested_until {
            self.dcqcn.hold(now, now + self.hold_time);
        }
    }
}

impl Rp<DcqcnTcd> for HoldingReactionPoint {
    type Timer = Present;
    fn open(
        params: &DcqcnTcdParams,
        _host: &mut (),
        path: &PathFacts,
        _now: Time,
    ) -> HoldingReactionPoint {
        HoldingReactionPoint::new(params, path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.dcqcn.limits()
    }
    #[inline]
    fn on_send(&mut self, cx: &mut HostCx<'_, DcqcnTcd>, data: &mut Header, _meta: &mut ()) {
        self.dcqcn.count_bytes(cx.now, u64::from(data.size));
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, DcqcnTcd>, ack: &Ack<'_, DcqcnTcd>) {
        match ack.echo {
            _ if !self.dcqcn.uses_ecn_echo() => {}
            EcnCodePoint::CongestionExperienced => self.on_congestion(cx.now),
            EcnCodePoint::Undetermined => self.on_undetermined(cx.now),
            _ => {}
        }
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, DcqcnTcd>, ctl: &Notification) {
        match ctl {
            Notification::Congestion => self.on_congestion(cx.now),
            Notification::Undetermined => self.on_undetermined(cx.now),
        }
    }
    fn observe(&self, now: Time, what: SenderMetric) -> Option<f64> {
        self.dcqcn.metric_at(now, what)
    }
}

impl RpTimer<DcqcnTcd> for HoldingReactionPoint {
    #[inline]
    fn next_timer(&self) -> Time {
        self.dcqcn.next_window()
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, DcqcnTcd>) {
        self.dcqcn.advance_to(cx.now);
    }
}

/// The notification point. CE and UE have CNPs of their own, each with DCQCN's minimum interval.
#[derive(Clone, Copy, Debug)]
pub struct TernaryNotificationPoint {
    congestion: NotificationPoint,
    /// No CNP for UE before this time. `NEVER` if ACKs echo the marks.
    silent_until: Time,
}

impl TernaryNotificationPoint {
    /// Returns the state of a new QP.
    pub fn new(params: &DcqcnParams) -> TernaryNotificationPoint {
        let sends = params.notification == MarkFeedback::Cnp;
        TernaryNotificationPoint {
            congestion: NotificationPoint::new(params),
            silent_until: if sends { Time::ZERO } else { Time::NEVER },
        }
    }

    /// Returns the CNP to send for a data packet that arrived with this code point, if any.
    #[inline]
    pub fn answer(
        &mut self,
        now: Time,
        params: &DcqcnParams,
        code_point: EcnCodePoint,
    ) -> Option<Notification> {
        if self.congestion.should_send_cnp(now, params, code_point) {
            return Some(Notification::Congestion);
        }
        let undetermined = code_point == EcnCodePoint::Undetermined && now >= self.silent_until;
        undetermined.then(|| {
            self.silent_until = now + params.cnp_interval;
            Notification::Undetermined
        })
    }
}

impl Np<DcqcnTcd> for TernaryNotificationPoint {
    type Timer = Absent;
    fn open(params: &DcqcnTcdParams, _host: &mut (), _now: Time) -> TernaryNotificationPoint {
        TernaryNotificationPoint::new(&params.dcqcn)
    }
    #[inline]
    fn on_packet(&mut self, cx: &mut HostCx<'_, DcqcnTcd>, data: &Header, _meta: &()) {
        if let Some(notification) = self.answer(cx.now, &cx.params.dcqcn, data.code_point) {
            cx.send(notification);
        }
    }
}
