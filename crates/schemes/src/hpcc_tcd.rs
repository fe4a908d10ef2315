//! HPCC with TCD's detection. TCD: "Congestion Detection in Lossless Networks", Zhang et al.,
//! SIGCOMM 2021.
//!
//! An ACK that echoes UE comes from a port that PFC held back. The bytes in flight in its records
//! are then no reason to cut. Our choice, as no combination of the two is published: with UE, U
//! counts as at most eta. So window or rate keeps its additive increase, and may rise as without
//! TCD if U is lower. With CE, which overrides UE, and without either, the law is
//! [HPCC](crate::hpcc)'s.

use crate::contract::{
    Absent, Ack, EcnCodePoint, HostCx, HostFacts, Needs, NoCtl, Pacing, PathFacts, PlainReceiver,
    Preset, RateFloor, Rp, Scheme, SendLimits, SenderMetric, Stack, SwitchFacts,
};
use crate::dcqcn;
use crate::hpcc::{self, Hpcc, HpccParams, Variant};
use crate::int::{IntStack, StampInt};
use crate::params::ParamError;
use crate::tcd::{Tcd, TcdParams};
use units::{Rate, Time};

crate::join_params! {
    /// Parameters of HPCC+TCD.
    pub struct HpccTcdParams {
        /// Parameters of HPCC.
        hpcc: HpccParams;
        /// Parameters of the detector.
        tcd: TcdParams;
    }
}

/// The scheme `hpcc+tcd`, with room for `N` switches on a path.
#[derive(Debug)]
pub struct HpccTcd<const N: usize>;

impl<const N: usize> Scheme for HpccTcd<N> {
    const NAME: &'static str = "hpcc+tcd";
    const TITLE: &'static str = "HPCC+TCD";
    const PAPER: &'static str = "Zhang et al., Congestion Detection in Lossless Networks, \
                                 SIGCOMM 2021; Li et al., SIGCOMM 2019";
    const CAVEAT: &'static str = "No published combination: the reaction to UE was decided here. \
                                  TCD's settings are second-hand.";
    const PRESETS: &'static [Preset<HpccTcdParams>] = &[
        Preset {
            name: "hpcc-paper+tcd",
            summary: "TCD with epsilon 0.05 over hpcc-paper",
            source: "epsilon: SIGCOMM'21, second-hand; marking as dcqcn-hpcc, the rest as \
                     hpcc-paper",
            ecn: Some(dcqcn::presets::HPCC_ECN),
            params: presets::paper,
        },
        Preset {
            name: "hpcc-ns3+tcd",
            summary: "TCD with epsilon 0.05 over hpcc-ns3",
            source: "epsilon: SIGCOMM'21, second-hand; marking as dcqcn-hpcc, the rest as hpcc-ns3",
            ecn: Some(dcqcn::presets::HPCC_ECN),
            params: presets::ns3,
        },
    ];
    const NEEDS: Needs = Hpcc::<N>::NEEDS;

    type Params = HpccTcdParams;
    type Meta = IntStack<N>;
    type Ctl = NoCtl;
    type Host = ();
    type Rp = OverloadMaskingReactionPoint<N>;
    type Np = PlainReceiver;
    type Cp = Stack<Tcd, StampInt>;

    fn check_switch(params: &HpccTcdParams, facts: &SwitchFacts<'_>) -> Result<(), ParamError> {
        Hpcc::<N>::check_switch(&params.hpcc, facts)
    }
    fn rate_floor(params: &HpccTcdParams) -> Option<RateFloor> {
        Some(params.hpcc.rate_floor())
    }
    fn meta_bytes(params: &HpccTcdParams) -> (u32, u32) {
        Hpcc::<N>::meta_bytes(&params.hpcc)
    }
    fn host(_params: &HpccTcdParams, _facts: &HostFacts) {}
    fn congestion_point(
        params: &HpccTcdParams,
        facts: &SwitchFacts<'_>,
    ) -> Option<Stack<Tcd, StampInt>> {
        let stamp = StampInt::with_format(facts, params.hpcc.format());
        Some(Stack(Tcd(params.tcd.clone()), stamp))
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `hpcc-paper+tcd`: TCD with epsilon 0.05 over hpcc-paper.
    pub fn paper(host_rate: Rate) -> HpccTcdParams {
        HpccTcdParams { hpcc: hpcc::presets::paper(host_rate), tcd: TcdParams::default() }
    }

    /// Preset `hpcc-ns3+tcd`: TCD with epsilon 0.05 over hpcc-ns3.
    pub fn ns3(host_rate: Rate) -> HpccTcdParams {
        HpccTcdParams { hpcc: hpcc::presets::ns3(host_rate), tcd: TcdParams::default() }
    }
}

/// HPCC's reaction point. On UE it does not cut.
#[derive(Clone, Debug)]
pub struct OverloadMaskingReactionPoint<const N: usize>(Variant<N>);

impl<const N: usize> Rp<HpccTcd<N>> for OverloadMaskingReactionPoint<N> {
    type Timer = Absent;

    #[inline]
    fn pacing(&self) -> Pacing {
        self.0.pacing()
    }
    fn open(
        params: &HpccTcdParams,
        _host: &mut (),
        path: &PathFacts,
        _now: Time,
    ) -> OverloadMaskingReactionPoint<N> {
        OverloadMaskingReactionPoint(Variant::new(&params.hpcc, path))
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.0.limits()
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, HpccTcd<N>>, ack: &Ack<'_, HpccTcd<N>>) {
        if ack.echo == EcnCodePoint::Undetermined {
            self.0.acknowledge_ignoring(cx.now, ack);
        } else {
            self.0.acknowledge(cx.now, ack);
        }
    }
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        self.0.observe(what)
    }
}
