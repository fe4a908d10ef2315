//! The values of the field in packets.

use crate::shared_law::Shared;
use std::sync::Arc;

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
    pub(super) fn shared(base: f64) -> Arc<Codebook> {
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
    pub(super) fn bytes(base: f64) -> u32 {
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
