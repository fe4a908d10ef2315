//! The switch's part of HPCC-PINT: each port computes U without a multiplier.

use super::codebook::Codebook;
use super::{HpccPint, HpccPintParams};
use crate::contract::{
    Cp, LocalCx, Packet, PacketKind, PortFacts, PortLocal, PortView, SwitchFacts,
};
use crate::form::Form;
use crate::random::Stream;
use std::sync::{Arc, LazyLock};
use units::{PortId, Rate, Time};

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
