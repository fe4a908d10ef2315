//! FNCC: "FNCC: Fast Notification Congestion Control in Data Center Networks", Xu et al., 2024.
//!
//! HPCC with fresher INT: switches write the records into the ACK on its way back and not into the
//! data (section 3.2.1, Algorithm 1). An ACK that came in through a port gets the record of that
//! port's egress, through which the data of its QP left. So data and ACKs must share a path, by
//! symmetric ECMP or by spanning trees (section 3.1, observation 2). The records come in the order
//! of the way back: L\[0\] is the last hop's.
//!
//! Receivers write N, their number of concurrent flows, into the ACK (section 3.2.3). If the last
//! hop is the bottleneck and congested, the sender sets W^c to its fair share at once (Algorithm 2,
//! last-hop congestion speed-up, LHCS). Otherwise the sender is HPCC's.
//!
//! # The table of records
//! All_INT_Table has an entry for each port: time and bytes sent at the port's last departure, and
//! the queue. In the paper it is updated periodically, with no period given. By default an ACK
//! reads the present values of the port. Both counters are of one instant. Otherwise short
//! intervals would count whole packets as sent and look congested. A port that has sent nothing
//! since the previous ACK gives no information about its rate and is skipped.
//!
//! # What N counts
//! The text mentions RDMA QPs and concurrent flows. A QP without traffic would take a share from
//! the others. So by default N counts QPs with data in this or the previous base round trip of the
//! network, until their last message ends. With `flow_count = "open"` it counts all QPs from their
//! first data until their last message ends. It is the receiver's own count, whatever limits its
//! flows.
//!
//! # When W^c is set
//! Algorithm 3 sets it at every ACK that finds the last hop congested, before ComputeWind divides
//! W^c by U / eta: `per-ack`. As U is above eta while the queue drains, the rates are below beta
//! times the share. `per-round-trip` sets W^c only when it follows W. The ACKs in between
//! then divide the share again, and rates fall below it. `direct` is section 3.2.2 in place of
//! Algorithm 3: W is W^c, without the division by U / eta.

mod receiver;
mod switch;

pub use receiver::{ActiveFlows, NotificationPoint};
pub use switch::IntTable;

use crate::contract::{
    Absent, Ack, Fit, HostCx, HostFacts, LinkRates, Needs, NoCtl, Pacing, PathFacts, Preset,
    RateFloor, Rp, Scheme, SendLimits, SenderMetric, SwitchFacts, Tolerates,
};
use crate::hpcc::{self, BaseRtt, Hpcc, HpccParams, SIMULATOR_ONLY, WindowStep};
use crate::int::{IntFormat, IntStack, MAX_RECORD_AGE};
use crate::params::ParamError;
use units::{Rate, Time};
use wire::int::FnccAck;

crate::choice! {
    /// How often W^c may be set to the fair share.
    pub enum LastHopSpeedup {
        /// Never.
        Off = "off",
        /// At each ACK.
        PerAck = "per-ack",
        /// Once per round trip.
        PerRoundTrip = "per-round-trip",
        /// At each ACK, and W is W^c at once: it is not divided by U / eta, nor increased.
        Direct = "direct",
    }
}

crate::choice! {
    /// Which QPs N counts.
    pub enum FlowCount {
        /// Those with data in this or the previous base round trip of the network.
        Active = "active",
        /// Those whose last message has not ended.
        Open = "open",
    }
}

crate::choice! {
    /// How exact INT records are.
    pub enum RecordFormat {
        /// At full precision.
        Full = "full",
        /// Rounded and wrapped around in 64 bits.
        Fncc64 = "fncc-64",
    }
}

crate::params! {
    /// Parameters that FNCC adds to HPCC's.
    pub struct NotificationParams {
        /// Last-hop congestion speed-up: whether and how often W^c may be set to the fair share.
        last_hop_speedup: LastHopSpeedup, "LHCS", (),
            "section 3.2.2, Algorithm 3";
        /// Which QPs N counts: those with data lately, or all that have not ended.
        flow_count: FlowCount, "N", (), "section 3.2.3: concurrent flows, QP connections";
        /// Normalised bytes in flight above which the last hop is congested.
        last_hop_threshold: f64, "alpha", 0.5..=10.0, "section 3.2.2";
        /// Share of the fair window that is used, so that the queue drains.
        last_hop_share: f64, "beta", 0.01..=1.0, "section 3.2.2";
        /// Period in which switches update their tables of records; 0ns updates at every ACK.
        update_period: Time, "", Time::ZERO..=Time::from_ms(10),
            "section 4.1, which gives no value";
        /// INT records at full precision, or rounded and wrapped around in 64 bits.
        int_format: RecordFormat, "", (),
            "section 4.3: B 4, ts 24, txBytes 20, qLen 16 bits";
    }
}

impl NotificationParams {
    /// Returns the format of the INT records.
    fn format(&self) -> IntFormat {
        if self.int_format == RecordFormat::Fncc64 { IntFormat::PAPER } else { IntFormat::FULL }
    }
}

crate::join_params! {
    /// Parameters of FNCC.
    pub struct FnccParams {
        /// Parameters of HPCC's window form.
        hpcc: HpccParams, without SIMULATOR_ONLY;
        /// Parameters that FNCC adds.
        notification: NotificationParams;
    }
}

/// The scheme `fncc`, with room for `N` switches on a path.
#[derive(Debug)]
pub struct Fncc<const N: usize>;

/// Why data keeps to one path.
const PATH_OF_ACKS: &str = "ACKs must pass the ports of their data";

impl<const N: usize> Scheme for Fncc<N> {
    const NAME: &'static str = "fncc";
    const TITLE: &'static str = "FNCC";
    const PAPER: &'static str = "Xu et al., FNCC: Fast Notification Congestion Control in Data \
                                 Center Networks, 2024";
    const CAVEAT: &'static str = "The paper gives no period for the switches' tables; by default \
                                  they are always up to date.";
    const PRESETS: &'static [Preset<FnccParams>] = &[Preset {
        name: "fncc-paper",
        summary: "The paper's alpha and beta on hpcc-paper, tables always up to date",
        source: "section 3.2.2; HPCC's as hpcc-paper",
        ecn: None,
        params: presets::paper,
    }];
    const NEEDS: Needs = Needs {
        symmetric_paths: true,
        max_hops: N,
        max_link_rates: LinkRates::MAX,
        tolerates: Tolerates {
            spraying: Fit::Refused(PATH_OF_ACKS),
            adaptive: Fit::Refused(PATH_OF_ACKS),
            flowlets: Fit::Refused(PATH_OF_ACKS),
            rerouting: Fit::Refused(PATH_OF_ACKS),
            selective_repeat: Fit::Note("a lost ACK is lost telemetry"),
        },
        ..Needs::NONE
    };

    type Params = FnccParams;
    type Meta = AckReport<N>;
    type Ctl = NoCtl;
    type Host = ActiveFlows;
    type Rp = ReactionPoint<N>;
    type Np = NotificationPoint;
    type Cp = IntTable;

    fn check(params: &FnccParams) -> Result<(), ParamError> {
        if !params.hpcc.fast_reaction
            && matches!(
                params.notification.last_hop_speedup,
                LastHopSpeedup::PerAck | LastHopSpeedup::Direct
            )
        {
            let why =
                "without fast_reaction W is computed once a round trip: take \"per-round-trip\"";
            return Err(ParamError::Conflict("last_hop_speedup", why.to_owned()));
        }
        Hpcc::<N>::check(&params.hpcc)
    }
    /// Refuses ports whose rate has no 4-bit code.
    fn check_switch(params: &FnccParams, facts: &SwitchFacts<'_>) -> Result<(), ParamError> {
        let format = params.notification.format();
        match facts.ports.iter().find(|port| !format.encodes(port.rate)) {
            None => Ok(()),
            Some(port) => {
                let known = wire::int::RATES.map(|rate| rate.to_string()).join(", ");
                let why = format!("fncc-64 has no code for a port of {}, only {known}", port.rate);
                Err(ParamError::Conflict("int_format", why))
            }
        }
    }
    fn rate_floor(params: &FnccParams) -> Option<RateFloor> {
        let max_packet_gap = params.notification.format().is_full().then_some(MAX_RECORD_AGE);
        Some(RateFloor { max_packet_gap, ..params.hpcc.rate_floor() })
    }
    /// Data carries nothing. As in HPCC's packets, an ACK has room for all hops from the start,
    /// used or not.
    fn meta_bytes(_params: &FnccParams) -> (u32, u32) {
        (0, FnccAck::bytes_with(N) as u32)
    }
    fn host(params: &FnccParams, facts: &HostFacts) -> ActiveFlows {
        ActiveFlows::new(facts.network_rtt, params.notification.flow_count)
    }
    fn congestion_point(params: &FnccParams, facts: &SwitchFacts<'_>) -> Option<IntTable> {
        Some(IntTable::new(&params.notification, facts))
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `fncc-paper`: the paper's alpha and beta on hpcc-paper, tables always up to date.
    pub fn paper(host_rate: Rate) -> FnccParams {
        FnccParams {
            hpcc: hpcc::presets::paper(host_rate),
            notification: NotificationParams {
                last_hop_speedup: LastHopSpeedup::PerAck,
                flow_count: FlowCount::Active,
                last_hop_threshold: 1.05,
                last_hop_share: 0.9,
                update_period: Time::ZERO,
                int_format: RecordFormat::Full,
            },
        }
    }
}

/// The INT records and N of an ACK. Empty in data packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct AckReport<const N: usize> {
    /// The records of the path, last hop first.
    pub int: IntStack<N>,
    /// N, the number of the receiver's concurrent flows.
    pub flows: u16,
}

/// The reaction point, one per QP: HPCC's with the speed-up (Algorithm 3).
#[derive(Clone, Debug)]
pub struct ReactionPoint<const N: usize> {
    hpcc: hpcc::ReactionPoint<N>,
    speedup: LastHopSpeedup,
    rates: LinkRates,
    threshold: f64,
    /// beta T / 8. Multiplied by a rate in bits per second, it gives the window that LHCS divides
    /// among the flows, in bytes.
    share: f64,
}

impl<const N: usize> ReactionPoint<N> {
    /// Returns the state of a new QP.
    pub fn new(params: &FnccParams, path: &PathFacts) -> ReactionPoint<N> {
        let own = &params.notification;
        let law = hpcc::Law::new(&params.hpcc, path).with_format(own.format());
        let rtt =
            if params.hpcc.base_rtt == BaseRtt::Path { path.base_rtt } else { path.network_rtt };
        ReactionPoint {
            hpcc: hpcc::ReactionPoint::under(law.shared()),
            speedup: own.last_hop_speedup,
            rates: path.rates.clone(),
            threshold: own.last_hop_threshold,
            share: own.last_hop_share * rtt.ps() as f64 / 8e12,
        }
    }

    /// Returns HPCC's part of the state.
    pub fn hpcc(&self) -> &hpcc::ReactionPoint<N> {
        &self.hpcc
    }

    /// Handles an ACK up to `next_expected` that is neither a NACK nor a duplicate (NewAck, lines
    /// 41 to 48).
    pub fn new_ack(
        &mut self,
        now: Time,
        next_expected: u64,
        next_to_send: u64,
        report: &AckReport<N>,
    ) {
        let ReactionPoint { hpcc, speedup, rates, threshold, share } = self;
        let int = &report.int;
        hpcc.new_ack_with(now, next_expected, next_to_send, int, |hpcc, bottleneck, full| {
            // UpdateWc, lines 22 to 28. U_j is the newest value, not its average.
            let wanted = match speedup {
                LastHopSpeedup::Off => false,
                LastHopSpeedup::PerAck | LastHopSpeedup::Direct => true,
                LastHopSpeedup::PerRoundTrip => full,
            };
            if wanted
                && bottleneck.hop == 0
                && bottleneck.inflight > *threshold
                && let Some(last_hop) = int.records().next()
            {
                let rate = rates.rate(last_hop.rate).bps() as f64;
                hpcc.set_reference(rate * *share / f64::from(report.flows.max(1)));
                if *speedup == LastHopSpeedup::Direct {
                    return WindowStep::Reference;
                }
            }
            WindowStep::Computed
        });
    }
}

impl<const N: usize> Rp<Fncc<N>> for ReactionPoint<N> {
    type Timer = Absent;

    /// As in HPCC, a new rate also moves the packet that waits.
    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Continuous
    }
    fn open(
        params: &FnccParams,
        _host: &mut ActiveFlows,
        path: &PathFacts,
        _now: Time,
    ) -> ReactionPoint<N> {
        ReactionPoint::new(params, path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.hpcc.limits()
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, Fncc<N>>, ack: &Ack<'_, Fncc<N>>) {
        if ack.acks_new_data() {
            self.new_ack(cx.now, ack.next_expected, ack.next_to_send, ack.meta);
        }
    }
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        Some(match what {
            SenderMetric::Rate => self.hpcc.limits().rate.bps() as f64,
            SenderMetric::Window => self.hpcc.window(),
            SenderMetric::Alpha => self.hpcc.utilisation(),
        })
    }
}
