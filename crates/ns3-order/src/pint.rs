//! HPCC-PINT: how switches estimate the load of a port, and how packets carry it. Logarithms and
//! powers are those of the C library, and every draw is of its `rand()`.

use crate::draws::CRand;
use crate::laws::{Law, Reaction};
use crate::network::Port;
use std::hint::black_box;

/// Fractional bits of a logarithm, as a factor.
const ONE: f64 = 32_768.0;
/// Values are encoded in units of 1/512, up to 512.
const UNIT: f64 = 512.0;
/// Switches keep the load in units of 1/8192.
const KEPT: f64 = 8192.0;

/// How values are encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codes {
    base: f64,
    /// 1 / ln(base).
    per_ln: f64,
    one_byte: bool,
    /// A sender looks at an ACK if 16 bits drawn are below this.
    threshold: u32,
}

impl Codes {
    pub(crate) fn new(base: f64, probability: f64) -> Codes {
        let bits = ((UNIT * UNIT).ln() / base.ln()).log2().ceil() as i64;
        Codes {
            base,
            per_ln: 1.0 / base.ln(),
            one_byte: bits <= 8,
            threshold: (65_536.0 * probability) as u32,
        }
    }

    fn power(&self, exponent: f64) -> f64 {
        black_box(self.base).powf(exponent)
    }

    fn encode(&self, load: f64, rand: &mut CRand) -> u16 {
        let units = ((load * UNIT).ceil() as u32).max(1);
        let exact = f64::from(units).ln() * self.per_ln;
        let (high, low) = (exact.ceil(), exact.floor());
        let below = self.power(low);
        let above = if high == low { below * self.base } else { self.power(high) };
        let share = (f64::from(units) - below) / (above - below) * 65_536.0;
        let rounds_up = f64::from(rand.draw() % 65_536) < share;
        (if rounds_up { high } else { low }) as u16
    }

    fn decode(&self, power: u16) -> f64 {
        self.power(f64::from(power)) / UNIT
    }
}

/// Returns the logarithm to base 2 of a number, rounded at random to 16 leading bits.
fn logarithm(number: u64, rand: &mut CRand) -> i32 {
    if number == 0 {
        return i32::MIN;
    }
    let mut number = number;
    let bits = u64::BITS - number.leading_zeros();
    if bits > 16 {
        let step = 1_u64 << (bits - 16);
        let low = number % step;
        number -= low;
        if low > u64::from(rand.draw()) % step {
            number += step;
        }
    }
    ((number as f64).log2() * ONE) as i32
}

/// 2 to the power of a logarithm.
fn power_of_two(logarithm: f64) -> f64 {
    // With a base that it knows, the compiler would take another function of the library.
    black_box(2.0_f64).powf(logarithm / ONE)
}

/// Updates the load of a port as a data packet leaves, and returns what the packet carries then.
pub(crate) fn stamp(
    port: &mut Port,
    now: u64,
    max_rtt: u64,
    codes: &Codes,
    carried: u16,
    rand: &mut CRand,
) -> u16 {
    let span = (now - port.last_time).min(max_rtt);
    let rtt = (max_rtt as f64).log2() * ONE;
    let rate = ((port.rate / 8) as f64).log2() * ONE;
    let second = 1e9_f64.log2() * ONE;
    let (mut queue_term, mut byte_term, mut old_term) = (0.0, 0.0, 0.0);
    let queue = port.queued >> 8;
    if queue > 0 {
        let of_span = logarithm(span, rand);
        let sum = of_span.wrapping_add(logarithm(queue, rand));
        queue_term = power_of_two(f64::from(sum) + second - rate - 2.0 * rtt) * 256.0;
    }
    if port.last_size > 0 {
        let bytes = logarithm(u64::from(port.last_size), rand);
        byte_term = power_of_two(f64::from(bytes) + second - rate - rtt);
    }
    if max_rtt > span && port.utilisation > 0.0 {
        let of_rest = logarithm(max_rtt - span, rand);
        let kept = (port.utilisation * KEPT).round() as u64;
        let sum = of_rest.wrapping_add(logarithm(kept, rand));
        old_term = power_of_two(f64::from(sum) - rtt) / KEPT;
    }
    port.utilisation = queue_term + byte_term + old_term;
    let power = codes.encode(port.utilisation, rand);
    match power > carried {
        true if codes.one_byte => power & 0xff,
        true => power,
        false => carried,
    }
}

/// Lets the sender react to an ACK that carries `power`.
pub(crate) fn react(
    codes: &Codes,
    law: &mut Law,
    seq: u32,
    power: u16,
    snd_nxt: u64,
    rand: &mut CRand,
) -> Reaction {
    let Law::Pint(rp) = law else { return Reaction::Nothing };
    if rand.draw() % 65_536 >= codes.threshold {
        return Reaction::Nothing;
    }
    let load = codes.decode(power);
    let sent = u64::from(snd_nxt as u32);
    if rp.acknowledge_with_utilisation(u64::from(seq), sent, load) {
        Reaction::Rescale(rp.limits().rate.bps())
    } else {
        Reaction::Nothing
    }
}
