use std::sync::Arc;
use units::Rate;
use wire::int::RATES;

/// A link's rate as packets tell it: a number of [`LinkRates`], one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateCode(u8);

/// The rates of a network's links, by code: first those that the 64-bit INT format has a code for,
/// with that code, then the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRates(Arc<[LinkRate]>);

/// A rate, and what it is in the units of the laws that measure with INT.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LinkRate {
    rate: Rate,
    bytes_per_ps: f64,
}

// `bytes_per_ps` is computed from an integer, so it is never NaN.
impl Eq for LinkRate {}

impl LinkRates {
    /// How many rates can have a code.
    pub const MAX: usize = 1 << u8::BITS;

    /// A code for each of these rates, as long as there are codes.
    pub fn new(links: impl IntoIterator<Item = Rate>) -> LinkRates {
        let mut others: Vec<Rate> = links.into_iter().collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|rate| !RATES.contains(rate));
        // A division takes longer than a look-up.
        let known = |rate: &Rate| LinkRate { rate: *rate, bytes_per_ps: rate.bps() as f64 / 8e12 };
        LinkRates(RATES.iter().chain(&others).map(known).collect())
    }

    /// Returns the number of rates. A run with more than [`MAX`](Self::MAX) must be refused:
    /// [`code`](Self::code) would give the others the last code.
    pub fn count(&self) -> usize {
        self.0.len()
    }
    /// Returns the code of a rate that was given to [`new`](Self::new).
    ///
    /// # Panics
    /// If it was not.
    pub fn code(&self, rate: Rate) -> RateCode {
        let index =
            self.0.iter().position(|known| known.rate == rate).expect("it is a link's rate");
        RateCode(u8::try_from(index).unwrap_or(u8::MAX))
    }
    /// Returns the rate that a code stands for.
    #[inline]
    pub fn rate(&self, code: RateCode) -> Rate {
        self.0.get(usize::from(code.0)).map_or(Rate::ZERO, |known| known.rate)
    }
    /// Returns the rate that a code stands for, in bytes per picosecond.
    #[inline]
    pub fn bytes_per_ps(&self, code: RateCode) -> f64 {
        self.0.get(usize::from(code.0)).map_or(0.0, |known| known.bytes_per_ps)
    }
}
