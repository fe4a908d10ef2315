//! HPCC over PINT: "PINT: Probabilistic In-band Network Telemetry", Ben Basat et al., SIGCOMM 2020.
//!
//! Each switch port computes HPCC's U itself, as an average over its packets. Every packet carries
//! the largest U of its path in one field of one or two bytes, rounded at random to a power of a
//! base (value approximation by randomised rounding, per-packet aggregation by the maximum). The
//! sender uses that value as U in HPCC's Algorithm 1.
//!
//! A switch has no multiplier. So the average is computed as in the paper's appendix and in the
//! HPCC simulator: logarithms of the leading bits from a table, sums of them, and powers of two.
//! The bits that are cut off are rounded at random, too, so that the error averages out. In the
//! paper's form so are the logarithms, and U before it is multiplied, of which there are 8192 units
//! in 1. The simulator's form rounds U to the nearest unit and logarithms down: on long paths it
//! reads too low, and where a packet is less than half a unit it sees no load at all.

mod codebook;
mod switch;

pub use codebook::Codebook;
pub use switch::{PortMeter, UtilisationMeter};

use crate::contract::{
    Absent, Ack, Fit, Header, HostCx, HostFacts, Needs, NetworkFacts, NoCtl, Pacing, PathFacts,
    PlainReceiver, Preset, RateFloor, Rp, Scheme, SendLimits, SenderMetric, SwitchFacts, Tolerates,
};
use crate::form::Form;
use crate::hpcc::{self, BaseRtt, HpccParams, Variant};
use crate::rate_window::{FLOOR, WindowMode};
use std::sync::Arc;
use units::splitmix::mix;
use units::{Rate, Time};

crate::params! {
    /// Parameters of HPCC over PINT.
    pub struct HpccPintParams {
        /// Reaction point: HPCC's paper form, or the HPCC simulator's. Switches take logarithms of
        /// 9 leading bits, as in that simulator's first version, or of 16, as in its later ones.
        variant: Form, "", (),
            "HPCC, SIGCOMM'19 Algorithm 1; HPCC simulator, CC_MODE 10";
        /// Target utilisation.
        eta: f64, "eta", 0.1..=10.0, "HPCC, SIGCOMM'19 section 3.3";
        /// Additive steps before the window may rise multiplicatively.
        max_stage: u64, "maxStage", 0..=1_000_000, "HPCC, SIGCOMM'19 section 3.3";
        /// Additive increase as a rate, W_AI / T; 0bps derives it from `expected_flows`.
        rate_ai: Rate, "W_AI / T", Rate::ZERO..=Rate::from_gbps(100), "HPCC simulator, RATE_AI";
        /// Maximum number of flows that share a link without a queue: W_AI = W_init (1 - eta) / N.
        expected_flows: u64, "N", 1..=1_000_000, "HPCC, SIGCOMM'19 section 3.3",
            only rate_ai = ["0bps"];
        /// The rate never falls below this.
        min_rate: Rate, "", FLOOR, "HPCC simulator, MIN_RATE";
        /// Limit of the bytes in flight in addition to the rate (ns3 only): none, the BDP of the
        /// network or of the path scaled by rate over line rate, or that BDP at any rate.
        window: WindowMode, "", (), "HPCC simulator, HAS_WIN, VAR_WIN and GLOBAL_T",
            only variant = ["ns3"];
        /// Base of the powers to which U is rounded. The field takes one byte with bases from about
        /// 1.05 on, and two bytes below.
        log_base: f64, "(1 + epsilon)^2", 1.001..=2.0,
            "SIGCOMM'20 section 4.3; HPCC simulator, PINT_LOG_BASE";
        /// Share of the packets whose U the sender uses.
        probability: f64, "p", 0.0001..=1.0, "SIGCOMM'20 section 6; HPCC simulator, PINT_PROB";
    }
}

impl HpccPintParams {
    /// Returns HPCC's part of the parameters.
    fn hpcc(&self) -> HpccParams {
        HpccParams {
            variant: self.variant,
            eta: self.eta,
            max_stage: self.max_stage,
            rate_ai: self.rate_ai,
            expected_flows: self.expected_flows,
            // The T that the switches use.
            base_rtt: BaseRtt::Network,
            min_rate: self.min_rate,
            window: self.window,
            // T is the network's, as in the switches.
            ..hpcc::presets::paper(Rate::ZERO)
        }
    }
}

/// The scheme `hpcc-pint`.
#[derive(Debug)]
pub struct HpccPint;

/// What several paths mean for a sampled utilisation.
const BUSIEST_PATH: &str = "it follows the busiest of the paths that its samples saw";

/// Warns of paths so long that a packet is next to nothing of the units in which switches keep U in
/// the HPCC simulator's form.
fn coarse_utilisation(params: &HpccPintParams, facts: &NetworkFacts) -> Option<String> {
    // Switches read 0.92 there at a load of 0.95.
    const MAX_PACKETS: f64 = 500.0;
    let fastest = facts.max_link_rate;
    let in_flight = fastest.bytes_in(facts.network_rtt);
    let packets = in_flight.get() as f64 / facts.payload.get() as f64;
    (params.variant == Form::Ns3 && packets > MAX_PACKETS).then(|| {
        format!(
            "with variant = ns3 switches of {} round U to units of 1/8192, and the longest round \
             trip holds {packets:.0} packets at {fastest}: U reads too low there, from about \
             16000 packets on 0, and links are overloaded; take variant = paper, which rounds at \
             random",
            facts.scheme
        )
    })
}

impl Scheme for HpccPint {
    const NAME: &'static str = "hpcc-pint";
    const TITLE: &'static str = "HPCC over PINT";
    const PAPER: &'static str =
        "Ben Basat et al., PINT: Probabilistic In-band Network Telemetry, SIGCOMM 2020";
    const PRESETS: &'static [Preset<HpccPintParams>] = &[
        Preset {
            name: "hpcc-pint-paper",
            summary: "HPCC's own settings and a field of one byte",
            source: "SIGCOMM'20 sections 4.3 and 6; HPCC, SIGCOMM'19 section 3.3",
            ecn: None,
            params: presets::paper,
        },
        Preset {
            name: "hpcc-pint-ns3",
            summary: "The HPCC simulator's settings: always multiplicative, a finer field",
            source: "HPCC simulator, run.py, `hpccPint`",
            ecn: None,
            params: presets::ns3,
        },
    ];
    const NEEDS: Needs = Needs {
        tolerates: Tolerates {
            flowlets: Fit::Note(BUSIEST_PATH),
            rerouting: Fit::Note(BUSIEST_PATH),
            ..Tolerates::several_paths(BUSIEST_PATH)
        },
        ..Needs::NONE
    };

    type Params = HpccPintParams;
    type Meta = Digest;
    type Ctl = NoCtl;
    type Host = Arc<Codebook>;
    type Rp = ReactionPoint;
    type Np = PlainReceiver;
    type Cp = UtilisationMeter;

    fn rate_floor(params: &HpccPintParams) -> Option<RateFloor> {
        Some(RateFloor {
            rate: params.min_rate,
            has_window: params.variant == Form::Paper || params.window != WindowMode::None,
            max_packet_gap: None,
        })
    }
    fn warnings(params: &HpccPintParams, facts: &NetworkFacts) -> Vec<String> {
        coarse_utilisation(params, facts).into_iter().collect()
    }
    fn meta_bytes(params: &HpccPintParams) -> (u32, u32) {
        let field = Codebook::bytes(params.log_base);
        (field, field)
    }
    fn host(params: &HpccPintParams, _facts: &HostFacts) -> Arc<Codebook> {
        Codebook::shared(params.log_base)
    }
    fn congestion_point(
        params: &HpccPintParams,
        facts: &SwitchFacts<'_>,
    ) -> Option<UtilisationMeter> {
        Some(UtilisationMeter::new(params, facts))
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `hpcc-pint-paper`: HPCC's own settings and a field of one byte.
    pub fn paper(_host_rate: Rate) -> HpccPintParams {
        HpccPintParams {
            variant: Form::Paper,
            eta: 0.95,
            max_stage: 5,
            rate_ai: Rate::ZERO,
            expected_flows: 100,
            min_rate: Rate::from_mbps(100),
            window: WindowMode::Bdp,
            log_base: 1.05,
            probability: 1.0,
        }
    }

    /// Preset `hpcc-pint-ns3`: the HPCC simulator's settings: always multiplicative, a finer field.
    pub fn ns3(host_rate: Rate) -> HpccPintParams {
        HpccPintParams {
            variant: Form::Ns3,
            max_stage: 0,
            // 10 Mb/s at 25G.
            rate_ai: Rate::from_bps(host_rate.bps() / 2500),
            min_rate: Rate::from_mbps(1000),
            log_base: 1.01,
            ..paper(host_rate)
        }
    }
}

/// The content of a packet: the largest U of the ports through which it left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// The largest U, by [`Codebook::encode`].
    code: u16,
    /// The sender uses this packet's U. Any hop can compute this by a hash of the packet, so it
    /// takes no bytes on the wire.
    chosen: bool,
}

impl Digest {
    /// Returns the digest of a packet as it leaves its sender. It is chosen with this probability,
    /// by a hash that any hop can compute.
    fn new(header: &Header, probability: f64) -> Digest {
        let packet = u64::from(header.address.hash) << 32 ^ header.sequence;
        let chance = (mix(packet) >> 48) as f64 / 65_536.0;
        Digest { code: 0, chosen: chance < probability }
    }
}

/// The reaction point, one per QP: HPCC's, without INT records.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    hpcc: Variant<0>,
}

impl Rp<HpccPint> for ReactionPoint {
    type Timer = Absent;

    /// As in HPCC, a new rate also moves the packet that waits.
    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Continuous
    }
    fn open(
        params: &HpccPintParams,
        _host: &mut Arc<Codebook>,
        path: &PathFacts,
        _now: Time,
    ) -> ReactionPoint {
        ReactionPoint { hpcc: Variant::new(&params.hpcc(), path) }
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.hpcc.limits()
    }
    #[inline]
    fn on_send(&mut self, cx: &mut HostCx<'_, HpccPint>, data: &mut Header, digest: &mut Digest) {
        *digest = Digest::new(data, cx.params.probability);
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, HpccPint>, ack: &Ack<'_, HpccPint>) {
        if ack.meta.chosen {
            let utilisation = cx.host.decode(ack.meta.code);
            self.hpcc.acknowledge_with_utilisation(ack, utilisation);
        }
    }
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        self.hpcc.observe(what)
    }
}
