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

use crate::contract::{
    Absent, Ack, Cp, Fit, Header, HostCx, HostFacts, LocalCx, Needs, NoCtl, Pacing, Packet,
    PacketKind, PathFacts, PlainReceiver, PortFacts, PortLocal, PortView, Preset, Rp, Scheme,
    SendLimits, SenderMetric, SwitchFacts, Tolerates,
};
use crate::form::Form;
use crate::hpcc::{self, BaseRtt, HpccParams, Variant};
use crate::random::Stream;
use crate::rate_window::WindowMode;
use crate::shared_law::Shared;
use std::sync::{Arc, LazyLock};
use units::splitmix::mix;
use units::{PortId, Rate, Time};

crate::params! {
    /// Parameters of HPCC over PINT.
    pub struct HpccPintParams {
        /// Reaction point: HPCC's paper form, or the HPCC simulator's. Switches take logarithms of
        /// 9 leading bits, as in that simulator's first version, or of 16, as in its later ones.
        variant: Form, "", (),
            "HPCC, SIGCOMM'19 Algorithm 1; HPCC simulator, CC_MODE 10";
        /// Target utilisation.
        eta: f64, "eta", 0.1..=1.0, "HPCC, SIGCOMM'19 section 3.3";
        /// Additive steps before the window may rise multiplicatively.
        max_stage: u64, "maxStage", 0..=1_000_000, "HPCC, SIGCOMM'19 section 3.3";
        /// Additive increase as a rate, W_AI / T; 0bps derives it from `expected_flows`.
        rate_ai: Rate, "W_AI / T", Rate::ZERO..=Rate::from_gbps(100), "HPCC simulator, RATE_AI";
        /// Maximum number of flows that share a link without a queue: W_AI = W_init (1 - eta) / N.
        expected_flows: u64, "N", 1..=1_000_000, "HPCC, SIGCOMM'19 section 3.3",
            only rate_ai = ["0bps"];
        /// The rate never falls below this.
        min_rate: Rate, "", Rate::from_bps(1000)..=Rate::from_gbps(100), "HPCC simulator, MIN_RATE";
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

    /// Preset `hpcc-pint-paper`: hPCC's own settings and a field of one byte.
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

static CODEBOOKS: Shared<Codebook> = Shared::new();

/// The values of the field: powers of the base, in units of 1/512.
#[derive(Clone, Debug, PartialEq)]
pub struct Codebook {
    powers: Vec<f64>,
    /// Number of powers below the numbers that begin with these bits, from 1 on.
    below: Vec<u16>,
}

/// U is coded in units of 1/512, up to 512 (max_concurrent in the HPCC simulator).
const UNIT: f64 = 512.0;
/// Number of low bits that are ignored in the index of `below`: all but the exponent and four bits
/// of the fraction.
const SHARED_BITS: u32 = f64::MANTISSA_DIGITS - 1 - 4;

impl Codebook {
    /// Returns the table of this base, which all hosts and switches share.
    fn shared(base: f64) -> Arc<Codebook> {
        CODEBOOKS.share_or_make(|codebook| codebook.powers[1] == base, || Codebook::new(base))
    }

    /// Returns the powers of `base` up to the largest U, and one more, to which no value is
    /// rounded.
    pub fn new(base: f64) -> Codebook {
        let last = Codebook::largest(base) as u32 + 1;
        let powers: Vec<f64> = (0..=last).map(|code| libm::pow(base, f64::from(code))).collect();
        let first =
            |index: usize| f64::from_bits(1.0_f64.to_bits() + ((index as u64) << SHARED_BITS));
        let below = (0..=Codebook::index(UNIT * UNIT) + 1)
            .map(|index| powers.partition_point(|power| *power <= first(index)) as u16)
            .collect();
        Codebook { powers, below }
    }

    /// Returns the index in `below` of a number that is at least 1.
    #[inline]
    fn index(number: f64) -> usize {
        ((number.to_bits() - 1.0_f64.to_bits()) >> SHARED_BITS) as usize
    }

    /// Returns the number of bytes of the field.
    fn bytes(base: f64) -> u32 {
        let bits = libm::ceil(libm::log2(Codebook::largest(base))) as u32;
        bits.div_ceil(8)
    }

    /// Returns the code of the largest U, not rounded.
    fn largest(base: f64) -> f64 {
        libm::log(UNIT * UNIT) / libm::log(base)
    }

    /// Rounds U up to its unit, and then to the power below or above, so that it is right on
    /// average over all `random`.
    #[inline]
    pub fn encode(&self, utilisation: f64, random: u16) -> u16 {
        let max = self.powers[self.powers.len() - 2];
        let exact = utilisation * UNIT;
        let whole = exact as u64 as f64;
        let units = (whole + f64::from(u8::from(whole < exact))).clamp(1.0, max);
        let index = Codebook::index(units);
        let known = usize::from(self.below[index]);
        let rest = &self.powers[known..usize::from(self.below[index + 1])];
        let above = known + rest.partition_point(|power| *power <= units);
        let (lower, upper) = (self.powers[above - 1], self.powers[above]);
        let rounds_up = f64::from(random) < (units - lower) / (upper - lower) * 65_536.0;
        (above - usize::from(!rounds_up)) as u16
    }

    /// Returns the U that a code stands for.
    #[inline]
    pub fn decode(&self, code: u16) -> f64 {
        self.powers[usize::from(code)] / UNIT
    }
}

/// Fractional bits of a logarithm.
const FRACTION: u32 = 15;
/// Number of leading bits of which a logarithm is taken in the paper's form and in the simulator's.
const PAPERS_LEADING_BITS: u32 = 9;
const SIMULATORS_LEADING_BITS: u32 = 16;
/// One, as a logarithm.
const ONE: f64 = (1_u32 << FRACTION) as f64;

/// Number of bits in the lower half of a logarithm's fraction. The upper half has one more.
const FINE: u32 = 7;

/// The look-up tables of a switch.
#[derive(Debug)]
struct Tables {
    /// Logarithms to base 2, rounded down. The entry of 0 is never used.
    logarithms: Vec<u32>,
    /// What was cut off from logarithms of up to 9 bits, in units of 2^-16 of their last bit.
    remainders: [u16; (1 << PAPERS_LEADING_BITS) + 1],
    /// 2 to the power of the upper bits of a logarithm's fraction, and of the lower ones.
    coarse: [f64; 1 << (FRACTION - FINE)],
    fine: [f64; 1 << FINE],
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let logarithm = |number: usize| libm::log2(number.max(1) as f64) * ONE;
    let power = |logarithm: usize| libm::exp2(logarithm as f64 / ONE);
    Tables {
        logarithms: (0..=1 << SIMULATORS_LEADING_BITS).map(|n| logarithm(n) as u32).collect(),
        remainders: std::array::from_fn(|n| (logarithm(n).fract() * 65_536.0) as u16),
        coarse: std::array::from_fn(|upper| power(upper << FINE)),
        fine: std::array::from_fn(power),
    }
});

impl Tables {
    /// Returns the logarithm to base 2 of `number`, which is not 0. It is that of the leading bits,
    /// to which `number` is rounded at random.
    #[inline]
    fn logarithm(&self, number: u64, form: Form, random: &mut Stream) -> u32 {
        let leading = match form {
            Form::Paper => PAPERS_LEADING_BITS,
            Form::Ns3 => SIMULATORS_LEADING_BITS,
        };
        let shift = (u64::BITS - number.leading_zeros()).saturating_sub(leading);
        let rest = (1_u64 << shift) - 1;
        let drawn = random.next();
        let rounds_up = number & rest > drawn & rest;
        let rounded = (number >> shift) as usize + usize::from(rounds_up);
        // The upper bits of the draw have not been used: numbers are shorter than 2^57.
        let is_more = form == Form::Paper && self.remainders[rounded] > (drawn >> 48) as u16;
        self.logarithms[rounded] + (shift << FRACTION) + u32::from(is_more)
    }

    /// Returns 2 to the power of a logarithm, or of the sum of several.
    #[inline]
    fn power(&self, logarithm: u32) -> f64 {
        let fraction = logarithm & ((1 << FRACTION) - 1);
        let (coarse, fine) = ((fraction >> FINE) as usize, (fraction & ((1 << FINE) - 1)) as usize);
        let whole = u64::from(logarithm >> FRACTION) << (f64::MANTISSA_DIGITS - 1);
        let whole = f64::from_bits(1.0_f64.to_bits() + whole);
        self.coarse[coarse] * self.fine[fine] * whole
    }
}

/// Returns the nearest whole number. `number` is not negative; a half is rounded up.
#[inline]
fn nearest(number: f64) -> u64 {
    let whole = number as u64;
    whole + u64::from(number - whole as f64 >= 0.5)
}

/// Returns one of the two whole numbers around `number`, which is not negative, so that the mean is
/// `number`.
#[inline]
fn at_random(number: f64, random: &mut Stream) -> u64 {
    let whole = number as u64;
    whole + u64::from(number - whole as f64 > random.fraction())
}

/// Queues are counted in units of 256 bytes.
const QUEUE_SHIFT: u32 = 8;
/// U is multiplied in units of 1 / 8192.
const KEPT: f64 = 8192.0;

/// The congestion point of a switch.
#[derive(Debug)]
pub struct UtilisationMeter {
    codebook: Arc<Codebook>,
    tables: &'static Tables,
    /// How numbers are rounded.
    form: Form,
    /// T, nanoseconds.
    base_rtt: u64,
    seed: u64,
}

impl UtilisationMeter {
    /// Returns the congestion point of a switch. T is the largest base round trip of the network.
    pub fn new(params: &HpccPintParams, facts: &SwitchFacts<'_>) -> UtilisationMeter {
        UtilisationMeter {
            codebook: Codebook::shared(params.log_base),
            tables: &TABLES,
            form: params.variant,
            base_rtt: facts.network_rtt.ns().max(1),
            seed: facts.seed,
        }
    }
}

/// The state of a port.
#[derive(Clone, Debug)]
pub struct PortMeter {
    /// U.
    utilisation: f64,
    /// When the last packet began to leave, and its size in bytes; 0 before the first packet.
    last: Time,
    last_bytes: u64,
    /// Constants, with T in nanoseconds and B in bytes per nanosecond: 1 / (B T^2) for one unit of
    /// the queue, 1 / (B T), and 1 / T for one unit of U. (Real switches add their logarithms.)
    queue_share: f64,
    sent_share: f64,
    kept_share: f64,
    random: Stream,
}

impl PortMeter {
    /// Returns the state of a port of this rate that has sent nothing. `base_rtt` is T in
    /// nanoseconds.
    fn new(rate: Rate, base_rtt: u64, switch_seed: u64, port: PortId) -> PortMeter {
        let bytes_per_ns = rate.bps() as f64 / 8e9;
        let base_rtt = base_rtt as f64;
        PortMeter {
            utilisation: 0.0,
            last: Time::ZERO,
            last_bytes: 0,
            queue_share: f64::from(1_u32 << QUEUE_SHIFT) / (bytes_per_ns * base_rtt * base_rtt),
            sent_share: 1.0 / (bytes_per_ns * base_rtt),
            kept_share: 1.0 / (base_rtt * KEPT),
            random: Stream::of_port(switch_seed, port),
        }
    }

    /// Updates U for a data packet that begins to leave, while `queue` bytes stay behind:
    ///
    /// U <- (T - dt) / T U + qlen dt / (B T^2) + byte / (B T)
    ///
    /// `byte` left at the start of the time dt that has passed since.
    #[inline]
    fn measure(&mut self, now: Time, meter: &UtilisationMeter, queue: u64) {
        let UtilisationMeter { tables, base_rtt, form, .. } = *meter;
        let span = (now - self.last).ns().min(base_rtt);
        let random = &mut self.random;
        let units = self.utilisation * KEPT;
        let kept = match form {
            Form::Paper => at_random(units, random),
            Form::Ns3 => nearest(units),
        };
        let mut logarithm = |number| tables.logarithm(number, form, random);
        let mut sum = 0.0;
        let units = queue >> QUEUE_SHIFT;
        if units > 0 && span > 0 {
            sum += tables.power(logarithm(span) + logarithm(units)) * self.queue_share;
        }
        if self.last_bytes > 0 {
            sum += tables.power(logarithm(self.last_bytes)) * self.sent_share;
        }
        if span < base_rtt && kept > 0 {
            let logs = logarithm(base_rtt - span) + logarithm(kept);
            sum += tables.power(logs) * self.kept_share;
        }
        self.utilisation = sum;
    }
}

impl Cp<HpccPint> for UtilisationMeter {
    type Level = PortLocal;
    type Port = PortMeter;
    crate::hooks!();

    fn port(&self, _params: &HpccPintParams, facts: &PortFacts) -> PortMeter {
        PortMeter::new(facts.rate, self.base_rtt, self.seed, facts.port)
    }
    /// The constants are those of the new rate. U and the last departure stay.
    fn on_rate(&mut self, params: &HpccPintParams, port: &mut PortMeter, facts: &PortFacts) {
        let PortMeter { queue_share, sent_share, .. } = self.port(params, facts);
        (port.queue_share, port.sent_share) = (queue_share, sent_share);
    }

    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut LocalCx,
        port: &mut PortMeter,
        view: &PortView,
        packet: &mut Packet<HpccPint>,
    ) {
        // ACKs and NACKs carry the digest of the data packet that they answer. The port only counts
        // their bytes.
        if packet.header.kind == PacketKind::Data
            && let Some(digest) = packet.meta_mut()
        {
            port.measure(cx.now, self, view.queue_bytes);
            if digest.chosen {
                let random = (port.random.next() >> 48) as u16;
                digest.code = digest.code.max(self.codebook.encode(port.utilisation, random));
            }
        }
        port.last = cx.now;
        port.last_bytes = u64::from(packet.header.size);
    }

    fn observe(&self, port: &PortMeter, _now: Time) -> Option<f64> {
        Some(port.utilisation)
    }
}

/// The reaction point, one per QP: HPCC's, without INT records.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    hpcc: Variant<0>,
}

impl Rp<HpccPint> for ReactionPoint {
    type Timer = Absent;
    /// As in HPCC.
    const PACING: Pacing = Pacing::Continuous;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_one_table_of_codes() {
        for base in [1.01, 1.0127, 2.0] {
            let (one, other) = (Codebook::shared(base), Codebook::shared(base));
            assert!(Arc::ptr_eq(&one, &other));
            assert_eq!(*one, Codebook::new(base));
        }
    }
}
