//! TIMELY on TCD's detection: "Congestion Detection in Lossless Networks", Zhang et al., SIGCOMM
//! 2021.
//!
//! A round trip lengthens by what PFC holds up as by what congests. ACKs echo what their packets met,
//! and an update goes by the gravest of the ACKs since the update before:
//!
//! - UE: the rate stays. The round trip is measured all the same, and a run of good news ends.
//! - CE: the rate falls whatever the gradient is.
//! - neither: [TIMELY](crate::timely)'s update.
//!
//! Decided here, as the paper's text was not available: how far CE lowers the rate. Where TIMELY
//! cuts, it cuts as ever. Where it would raise, the rate keeps 1 - beta (1 - T_low / rtt): TIMELY's
//! cut that looks at no gradient, taken from T_low on, as CE says that the queue is one of
//! congestion. Such a cut is made once in a round trip, as the ACKs of a round trip tell of one
//! queue; in between, and below T_low, the rate stays.

use crate::contract::{
    Absent, Ack, EcnCodePoint, HostCx, HostFacts, NoCtl, PathFacts, PlainReceiver, Preset, Rp,
    Scheme, SendLimits, SwitchFacts,
};
use crate::dcqcn;
use crate::params::ParamError;
use crate::tcd::{Tcd, TcdParams};
use crate::timely::{self, Timely, TimelyParams};
use units::{Rate, Time};

crate::join_params! {
    /// Parameters of TIMELY+TCD.
    pub struct TimelyTcdParams {
        /// TIMELY's.
        timely: TimelyParams;
        /// The detector's.
        tcd: TcdParams;
    }
}

/// The scheme `timely+tcd`.
#[derive(Debug)]
pub struct TimelyTcd;

impl Scheme for TimelyTcd {
    const NAME: &'static str = "timely+tcd";
    const TITLE: &'static str = "TIMELY+TCD";
    const PAPER: &'static str = "Zhang et al., Congestion Detection in Lossless Networks, \
                                 SIGCOMM 2021; Mittal et al., SIGCOMM 2015";
    const CAVEAT: &'static str = "TCD's settings and reactions are second-hand; how far CE lowers \
                                  the rate was decided here. TIMELY has no fixed point.";
    const PRESETS: &'static [Preset<TimelyTcdParams>] = &[
        Preset {
            name: "timely-paper+tcd",
            summary: "TCD with epsilon 0.05 over timely-paper",
            source: "epsilon: SIGCOMM'21, second-hand; marking as dcqcn-hpcc, the rest as \
                     timely-paper",
            ecn: Some(dcqcn::presets::HPCC_ECN),
            params: presets::paper,
        },
        Preset {
            name: "timely-hpcc+tcd",
            summary: "TCD with epsilon 0.05 over timely-hpcc",
            source: "epsilon: SIGCOMM'21, second-hand; marking as dcqcn-hpcc, the rest as \
                     timely-hpcc",
            ecn: Some(dcqcn::presets::HPCC_ECN),
            params: presets::hpcc,
        },
    ];

    type Params = TimelyTcdParams;
    type Meta = ();
    type Ctl = NoCtl;
    type Host = ();
    type Rp = TernaryReactionPoint;
    type Np = PlainReceiver;
    type Cp = Tcd;

    fn check(params: &TimelyTcdParams) -> Result<(), ParamError> {
        Timely::check(&params.timely)
    }
    fn meta_bytes(params: &TimelyTcdParams) -> (u32, u32) {
        Timely::meta_bytes(&params.timely)
    }
    fn host(_params: &TimelyTcdParams, _facts: &HostFacts) {}
    fn congestion_point(params: &TimelyTcdParams, _facts: &SwitchFacts<'_>) -> Option<Tcd> {
        Some(Tcd(params.tcd.clone()))
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `timely-paper+tcd`: TCD with epsilon 0.05 over timely-paper.
    pub fn paper(host_rate: Rate) -> TimelyTcdParams {
        TimelyTcdParams { timely: timely::presets::paper(host_rate), tcd: TcdParams::default() }
    }

    /// Preset `timely-hpcc+tcd`: TCD with epsilon 0.05 over timely-hpcc.
    pub fn hpcc(host_rate: Rate) -> TimelyTcdParams {
        TimelyTcdParams { timely: timely::presets::hpcc(host_rate), tcd: TcdParams::default() }
    }
}

/// The reaction point: TIMELY's, which heeds CE and UE.
#[derive(Clone, Debug)]
pub struct TernaryReactionPoint {
    timely: timely::ReactionPoint,
    /// The gravest that was echoed since the last update.
    met: EcnCodePoint,
    /// The next cut that TIMELY itself would not make, not before this time.
    next_cut: Time,
}

impl TernaryReactionPoint {
    /// The reaction point of a QP that begins.
    pub fn new(params: &TimelyParams, path: &PathFacts) -> TernaryReactionPoint {
        TernaryReactionPoint {
            timely: timely::ReactionPoint::new(params, path),
            met: EcnCodePoint::NotMarked,
            next_cut: Time::ZERO,
        }
    }

    /// An ACK up to `acknowledged`, `rtt` after its packet left, with what that met, where the sender
    /// has sent up to `sent`.
    #[inline]
    pub fn acknowledge(
        &mut self,
        params: &TimelyParams,
        now: Time,
        acknowledged: u64,
        sent: u64,
        rtt: Time,
        echo: EcnCodePoint,
    ) {
        self.met = self.met.max(echo);
        if !self.timely.measure(params, acknowledged, sent, rtt) {
            return;
        }
        let met = std::mem::replace(&mut self.met, EcnCodePoint::NotMarked);
        match met {
            EcnCodePoint::Undetermined => self.timely.scale_rate(1.0),
            EcnCodePoint::CongestionExperienced => self.congested(params, now, rtt),
            _ => self.timely.update(params, rtt),
        }
    }

    fn congested(&mut self, params: &TimelyParams, now: Time, rtt: Time) {
        let factor = if let Some(factor) = self.timely.rate_factor(params, rtt) {
            factor
        } else if now >= self.next_cut && rtt > params.t_low {
            self.next_cut = now + rtt;
            1.0 - params.decrease * (1.0 - params.t_low.ps() as f64 / rtt.ps() as f64)
        } else {
            1.0
        };
        self.timely.scale_rate(factor);
    }
}

impl Rp<TimelyTcd> for TernaryReactionPoint {
    type Timer = Absent;
    fn open(
        params: &TimelyTcdParams,
        _host: &mut (),
        path: &PathFacts,
        _now: Time,
    ) -> TernaryReactionPoint {
        TernaryReactionPoint::new(&params.timely, path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.timely.limits()
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, TimelyTcd>, ack: &Ack<'_, TimelyTcd>) {
        let sent = ack.highest_sent();
        let params = &cx.params.timely;
        self.acknowledge(params, cx.now, ack.next_expected, sent, ack.rtt, ack.echo);
    }
}
