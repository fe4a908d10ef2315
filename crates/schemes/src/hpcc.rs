//! HPCC: "HPCC: High Precision Congestion Control", Li et al., SIGCOMM 2019.
//!
//! Switches stamp data packets with INT records, and the receiver returns them in the ACK. The
//! sender keeps the bytes in flight on the busiest link a little below that link's BDP (Algorithm
//! 1).
//!
//! The reaction point has two forms:
//!
//! - `paper`, [`window`]: computes the window W and paces at W / T.
//! - `ns3`, [`rate`], as in the HPCC simulator: computes the rate R = W / T and limits the bytes in
//!   flight to W_init R / R_max. It is the same law, rounded as in the simulator.

pub mod rate;
pub mod window;

pub use window::{Bottleneck, Law, ReactionPoint, WindowStep};

use crate::contract::{
    Absent, Ack, Fit, HostCx, HostFacts, LinkRates, Needs, NoCtl, Pacing, PathFacts, PlainReceiver,
    Preset, RateFloor, Rp, Scheme, SendLimits, SenderMetric, SwitchFacts, Tolerates,
};
use crate::form::Form;
use crate::int::{IntFormat, IntStack, MAX_RECORD_AGE, StampInt};
use crate::params::ParamError;
use crate::rate_window::{FLOOR, WindowMode};
use units::{Rate, Time};

crate::choice! {
    /// Which base round trip T is.
    pub enum BaseRtt {
        /// The largest of the network.
        Network = "network",
        /// The one of the QP's own path.
        Path = "path",
    }
}

crate::choice! {
    /// How exact INT records are.
    pub enum IntPrecision {
        /// At full precision.
        Full = "full",
        /// As the HPCC simulator's 64 bits hold them.
        Ns3 = "hpcc-ns3",
        /// As under `Ns3`; a port whose rate has no code says 25 Gb/s.
        Ns3Uncoded = "hpcc-ns3-uncoded",
    }
}

crate::params! {
    /// Parameters of HPCC.
    pub struct HpccParams {
        /// Reaction point: the paper's, or the HPCC simulator's.
        variant: Form, "", (),
            "SIGCOMM'19 Algorithm 1; HPCC simulator, CC_MODE 3";
        /// Target utilisation.
        eta: f64, "eta", 0.1..=10.0, "SIGCOMM'19 section 3.3";
        /// Additive steps before the window may rise multiplicatively.
        max_stage: u64, "maxStage", 0..=1_000_000, "SIGCOMM'19 section 3.3";
        /// Additive increase as a rate, W_AI / T; 0bps derives it from `expected_flows`.
        rate_ai: Rate, "W_AI / T", Rate::ZERO..=Rate::from_gbps(100), "HPCC simulator, RATE_AI";
        /// Maximum number of flows that share a link without a queue: W_AI = W_init (1 - eta) / N.
        expected_flows: u64, "N", 1..=1_000_000, "SIGCOMM'19 section 3.3", only rate_ai = ["0bps"];
        /// T: the largest base round trip of the network, or that of the QP's own path.
        base_rtt: BaseRtt, "T", (),
            "SIGCOMM'19 section 3.2; HPCC simulator, GLOBAL_T";
        /// The rate never falls below this.
        min_rate: Rate, "", FLOOR, "HPCC simulator, MIN_RATE";
        /// React to every ACK, based on the reference window, and not only once per round trip.
        fast_reaction: bool, "", (), "SIGCOMM'19 section 3.2; HPCC simulator, FAST_REACT";
        /// Between updates of the reference, skip hops without a queue (ns3 only).
        sample_feedback: bool, "", (), "HPCC simulator, SAMPLE_FEEDBACK", only variant = ["ns3"];
        /// Keep a reference and a U for each hop; the lowest of their rates applies (ns3 only).
        rate_per_hop: bool, "", (), "HPCC simulator, MULTI_RATE", only variant = ["ns3"];
        /// Limit of the bytes in flight in addition to the rate (ns3 only): none, the BDP of the
        /// network or of the path scaled by rate over line rate, or that BDP at any rate.
        window: WindowMode, "", (), "HPCC simulator, HAS_WIN, VAR_WIN and GLOBAL_T",
            only variant = ["ns3"];
        /// Precision of INT records: full, or as in the HPCC simulator's 64 bits. With
        /// `hpcc-ns3-uncoded`, a port whose rate has no code reports 25 Gb/s.
        int_format: IntPrecision, "", (),
            "HPCC simulator, IntHeader";
        /// With an `int_format` other than "full", INT records count bytes sent in units of 128 B
        /// and queues in units of 80 B, both times this factor.
        int_multi: u64, "", 1..=32, "HPCC simulator, INT_MULTI",
            only int_format = ["hpcc-ns3", "hpcc-ns3-uncoded"];
        /// Number of records that a packet has room for. On longer paths nothing is measured (ns3
        /// only).
        max_hops: u64, "maxHop", 1..=10, "HPCC simulator, IntHeader; 10 in the THEMIS prototype",
            only variant = ["ns3"];
    }
}

/// Parameters that come from the HPCC simulator only, for schemes that hide them because they use
/// the paper's form. `hpcc` with the paper's form uses two of them, `int_format` and `int_multi`,
/// to get the simulator's records.
pub const SIMULATOR_ONLY: &[&str] = &[
    "variant",
    "sample_feedback",
    "rate_per_hop",
    "window",
    "int_format",
    "int_multi",
    "max_hops",
];

impl HpccParams {
    /// Returns the format of the INT records.
    pub fn format(&self) -> IntFormat {
        match self.int_format {
            IntPrecision::Full => IntFormat::FULL,
            IntPrecision::Ns3 => IntFormat::hpcc_ns3(self.int_multi as u32),
            IntPrecision::Ns3Uncoded => IntFormat::hpcc_ns3(self.int_multi as u32).with_uncoded(),
        }
    }

    /// Returns what `min_rate` means.
    pub(crate) fn rate_floor(&self) -> RateFloor {
        RateFloor {
            rate: self.min_rate,
            has_window: self.variant == Form::Paper || self.window != WindowMode::None,
            max_packet_gap: self.format().is_full().then_some(MAX_RECORD_AGE),
        }
    }
}

/// The scheme `hpcc`, with room for `N` switches on a path.
#[derive(Debug)]
pub struct Hpcc<const N: usize>;

const NEW_PATH: &str = "the first ACK of a new path measures nothing; in the HPCC simulator's INT \
                        format, which has no path number, it is compared with the old path's \
                        counters";

/// HPCC subtracts the counters of a hop in one ACK from those in the next.
pub(crate) const ONE_PATH_FOR_INT: Tolerates = Tolerates {
    spraying: Fit::Refused(
        "it subtracts the INT counters of consecutive ACKs, which must be of one path",
    ),
    adaptive: Fit::Refused(
        "it subtracts the INT counters of consecutive ACKs, which must be of one path",
    ),
    flowlets: Fit::Note(NEW_PATH),
    rerouting: Fit::Note(NEW_PATH),
    ..Tolerates::ALL
};

impl<const N: usize> Scheme for Hpcc<N> {
    const NAME: &'static str = "hpcc";
    const TITLE: &'static str = "HPCC";
    const PAPER: &'static str = "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019";
    const PRESETS: &'static [Preset<HpccParams>] = &[
        Preset {
            name: "hpcc-paper",
            summary: "The paper's settings: eta 0.95, maxStage 5, W_AI for 100 flows",
            source: "SIGCOMM'19 section 3.3",
            ecn: None,
            params: presets::paper,
        },
        Preset {
            name: "hpcc-ns3",
            summary: "The HPCC simulator's form and settings: always multiplicative, rounded INT",
            source: "HPCC simulator, run.py, `hp95`",
            ecn: None,
            params: presets::ns3,
        },
    ];
    const NEEDS: Needs = Needs {
        max_hops: N,
        max_link_rates: LinkRates::MAX,
        tolerates: ONE_PATH_FOR_INT,
        ..Needs::NONE
    };

    type Params = HpccParams;
    type Meta = IntStack<N>;
    type Ctl = NoCtl;
    type Host = ();
    type Rp = Variant<N>;
    type Np = PlainReceiver;
    type Cp = StampInt;

    /// Refuses ports whose rate has no 3-bit code.
    fn check_switch(params: &HpccParams, facts: &SwitchFacts<'_>) -> Result<(), ParamError> {
        match facts.ports.iter().find(|port| !params.format().encodes(port.rate)) {
            None => Ok(()),
            Some(port) => {
                let why = format!(
                    "hpcc-ns3 has codes for ports of 25, 50, 100, 200 and 400 Gbps only, not for \
                     {}; use \"full\", or \"hpcc-ns3-uncoded\" for its mistake",
                    port.rate
                );
                Err(ParamError::Conflict("int_format", why))
            }
        }
    }
    fn rate_floor(params: &HpccParams) -> Option<RateFloor> {
        Some(params.rate_floor())
    }
    /// Number of hops 4 bits, path id 12 bits, and 64 bits per hop, used or not (section 4).
    fn meta_bytes(params: &HpccParams) -> (u32, u32) {
        let room = if params.variant == Form::Ns3 { params.max_hops as usize } else { N };
        let int = 2 + 8 * room as u32;
        (int, int)
    }
    fn host(_params: &HpccParams, _facts: &HostFacts) {}
    fn congestion_point(params: &HpccParams, facts: &SwitchFacts<'_>) -> Option<StampInt> {
        Some(StampInt::with_format(facts, params.format()))
    }
}

/// Converts like `as f64`. Below 2^63, processors have an instruction for the signed conversion.
#[inline(always)]
fn float(number: u64) -> f64 {
    debug_assert!(number < 1 << 63);
    number as i64 as f64
}

/// Converts like `as u64`, for the same reason.
#[inline(always)]
fn whole(number: f64) -> u64 {
    debug_assert!((0.0..i64::MAX as f64).contains(&number));
    number as i64 as u64
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `hpcc-paper`: the paper's settings: eta 0.95, maxStage 5, W_AI for 100 flows.
    pub fn paper(host_rate: Rate) -> HpccParams {
        HpccParams {
            variant: Form::Paper,
            eta: 0.95,
            max_stage: 5,
            rate_ai: Rate::ZERO,
            expected_flows: 100,
            base_rtt: BaseRtt::Network,
            min_rate: Rate::from_mbps(100),
            fast_reaction: true,
            sample_feedback: false,
            rate_per_hop: false,
            window: WindowMode::Bdp,
            int_format: IntPrecision::Full,
            // 1 at 25G.
            int_multi: (host_rate.bps() / 25_000_000_000).clamp(1, 32),
            max_hops: 5,
        }
    }

    /// Preset `hpcc-ns3`: the HPCC simulator's form and settings: always multiplicative, rounded
    /// INT.
    pub fn ns3(host_rate: Rate) -> HpccParams {
        HpccParams {
            variant: Form::Ns3,
            int_format: IntPrecision::Ns3,
            max_stage: 0,
            // 10 Mb/s at 25G.
            rate_ai: Rate::from_bps(host_rate.bps() / 2500),
            min_rate: Rate::from_mbps(1000),
            ..paper(host_rate)
        }
    }
}

/// The reaction point, one per QP, in one of its forms. Its methods take plain values, so that
/// other schemes can use it.
#[derive(Clone, Debug)]
pub enum Variant<const N: usize> {
    /// The paper's form.
    Paper(window::ReactionPoint<N>),
    /// The HPCC simulator's form. Boxed, so that the paper's form needs no discriminant.
    Ns3(Box<rate::ReactionPoint<N>>),
}

impl<const N: usize> Variant<N> {
    /// Returns the state of a new QP.
    pub fn new(params: &HpccParams, path: &PathFacts) -> Variant<N> {
        match params.variant {
            Form::Ns3 => Variant::Ns3(Box::new(rate::ReactionPoint::new(params, path))),
            Form::Paper => Variant::Paper(window::ReactionPoint::new(params, path)),
        }
    }

    /// Rate and window, as limits for the sender.
    #[inline]
    pub fn limits(&self) -> SendLimits {
        match self {
            Variant::Paper(rp) => rp.limits(),
            Variant::Ns3(rp) => rp.limits(),
        }
    }

    /// Handles an ACK or NACK with INT records.
    #[inline(always)]
    pub fn acknowledge<S: Scheme<Meta = IntStack<N>>>(&mut self, now: Time, ack: &Ack<'_, S>) {
        match self {
            Variant::Paper(rp) if ack.acks_new_data() => {
                rp.new_ack(now, ack.next_expected, ack.next_to_send, ack.meta);
            }
            Variant::Paper(_) => {}
            Variant::Ns3(rp) => {
                rp.acknowledge(now, ack.next_expected, ack.highest_sent(), ack.meta);
            }
        }
    }

    /// Handles an ACK or NACK with INT records whose overload is no reason to cut: U counts as at
    /// most eta.
    pub fn acknowledge_ignoring<S: Scheme<Meta = IntStack<N>>>(
        &mut self,
        now: Time,
        ack: &Ack<'_, S>,
    ) {
        let acknowledged = ack.next_expected;
        match self {
            Variant::Paper(rp) if ack.acks_new_data() => {
                rp.new_ack_with(now, acknowledged, ack.next_to_send, ack.meta, |rp, _, _| {
                    rp.ignore_overload();
                    WindowStep::Computed
                });
            }
            Variant::Paper(_) => {}
            Variant::Ns3(rp) => {
                let sent = ack.highest_sent();
                rp.acknowledge_with(now, acknowledged, sent, ack.meta, |rp| rp.ignore_overload());
            }
        }
    }

    /// Handles an ACK or NACK that carries U itself.
    #[inline]
    pub fn acknowledge_with_utilisation<S: Scheme>(&mut self, ack: &Ack<'_, S>, utilisation: f64) {
        match self {
            Variant::Paper(rp) if ack.acks_new_data() => {
                let acknowledged = ack.next_expected;
                rp.new_ack_with_utilisation(acknowledged, ack.next_to_send, utilisation);
            }
            Variant::Paper(_) => {}
            Variant::Ns3(rp) => {
                let acknowledged = ack.next_expected;
                rp.acknowledge_with_utilisation(acknowledged, ack.highest_sent(), utilisation);
            }
        }
    }

    /// Returns the value that a probe shows.
    pub fn observe(&self, what: SenderMetric) -> Option<f64> {
        match self {
            Variant::Paper(rp) => Some(match what {
                SenderMetric::Rate => rp.limits().rate.bps() as f64,
                SenderMetric::Window => rp.window(),
                SenderMetric::Alpha => rp.utilisation(),
            }),
            Variant::Ns3(rp) => rp.observe(what),
        }
    }
}

impl<const N: usize> Rp<Hpcc<N>> for Variant<N> {
    type Timer = Absent;

    /// In the HPCC simulator the pacer moves the next packet when the rate changes.
    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Continuous
    }
    fn open(params: &HpccParams, _host: &mut (), path: &PathFacts, _now: Time) -> Variant<N> {
        Variant::new(params, path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.limits()
    }
    #[inline(always)]
    fn on_ack(&mut self, cx: &mut HostCx<'_, Hpcc<N>>, ack: &Ack<'_, Hpcc<N>>) {
        self.acknowledge(cx.now, ack);
    }
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        Variant::observe(self, what)
    }
}
