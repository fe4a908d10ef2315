//! TIMELY with TCD's detection: "Congestion Detection in Lossless Networks", Zhang et al., SIGCOMM
//! 2021.
//!
//! PFC lengthens a round trip as congestion does. ACKs echo the marks of their packets, and an
//! update uses the most severe mark since the previous update:
//!
//! - UE: the rate stays. The round trip is still measured, and the run of increases ends.
//! - CE: the rate falls, whatever the gradient is.
//! - neither: [TIMELY](crate::timely)'s update.
//!
//! The paper's text was not available. Our choice is how far CE lowers the rate. If TIMELY cuts,
//! its cut applies. If TIMELY would raise, the rate is multiplied by 1 - beta (1 - T_low / rtt).
//! This is TIMELY's cut without a gradient, taken from T_low on, because CE says that the queue is
//! due to congestion. It is made once per round trip, as the ACKs of one round trip report the same
//! queue. In between, and below T_low, the rate stays.

use crate::contract::{
    Absent, Ack, EcnCodePoint, HostCx, HostFacts, Needs, NetworkFacts, NoCtl, PathFacts,
    PlainReceiver, Preset, RateFloor, Rp, Scheme, SendLimits, SwitchFacts,
};
use crate::dcqcn;
use crate::params::ParamError;
use crate::tcd::{Tcd, TcdParams};
use crate::timely::{self, Timely, TimelyParams};
use units::{Rate, Time};

crate::join_params! {
    /// Parameters of TIMELY+TCD.
    pub struct TimelyTcdParams {
        /// Parameters of TIMELY.
        timely: TimelyParams;
        /// Parameters of the detector.
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
    const NEEDS: Needs = Timely::NEEDS;

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
    fn rate_floor(params: &TimelyTcdParams) -> Option<RateFloor> {
        Timely::rate_floor(&params.timely)
    }
    fn warnings(params: &TimelyTcdParams, facts: &NetworkFacts) -> Vec<String> {
        Timely::warnings(&params.timely, facts)
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

/// TIMELY's reaction point, which also reacts to CE and UE.
#[derive(Clone, Debug)]
pub struct TernaryReactionPoint {
    timely: timely::ReactionPoint,
    /// The most severe mark that was echoed since the last update.
    met: EcnCodePoint,
    /// No cut that TIMELY itself would not make before this time.
    next_cut: Time,
}

impl TernaryReactionPoint {
    /// Returns the state of a new QP.
    pub fn new(params: &TimelyParams, path: &PathFacts) -> TernaryReactionPoint {
        TernaryReactionPoint {
            timely: timely::ReactionPoint::new(params, path),
            met: EcnCodePoint::NotMarked,
            next_cut: Time::ZERO,
        }
    }

    /// Handles an ACK up to `acknowledged`, which came `rtt` after its packet left and echoes the
    /// packet's mark. The sender has sent up to `sent`.
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
