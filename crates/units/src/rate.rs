use crate::{Bytes, Time};
use std::fmt;

/// Picoseconds in a second times bits in a byte: the constant of every size/rate conversion.
const PS_BITS: u64 = 8_000_000_000_000;

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Rate(u64);

impl Rate {
    /// Nothing moves.
    pub const ZERO: Rate = Rate(0);
    /// A rate of `bps` bits per second.
    #[inline]
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }
    /// A rate of `mbps` megabits per second.
    #[inline]
    pub const fn from_mbps(mbps: u64) -> Rate {
        Rate(mbps * 1_000_000)
    }
    /// A rate of `gbps` gigabits per second.
    #[inline]
    pub const fn from_gbps(gbps: u64) -> Rate {
        Rate(gbps * 1_000_000_000)
    }
    /// In bits per second.
    #[inline]
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// Returns the time that `bytes` take at this rate, rounded up to a picosecond, or
    /// [`Time::NEVER`] if the rate is zero.
    #[inline]
    pub const fn time_for(self, bytes: Bytes) -> Time {
        if self.0 == 0 {
            return Time::NEVER;
        }
        // Up to 2.3 MB the product fits 64 bits; that is every packet.
        if bytes.get() < u64::MAX / PS_BITS {
            return Time::from_ps((bytes.get() * PS_BITS).div_ceil(self.0));
        }
        let ps = (bytes.get() as u128 * PS_BITS as u128).div_ceil(self.0 as u128);
        if ps > u64::MAX as u128 { Time::NEVER } else { Time::from_ps(ps as u64) }
    }
    /// The bytes that pass in `span` at this rate, rounded down.
    #[inline]
    pub const fn bytes_in(self, span: Time) -> Bytes {
        Bytes::new((self.0 as u128 * span.ps() as u128 / PS_BITS as u128) as u64)
    }
    /// Picoseconds a byte takes, where that is a whole number.
    #[inline]
    pub const fn exact_ps_per_byte(self) -> Option<u64> {
        if self.0 != 0 && PS_BITS.is_multiple_of(self.0) { Some(PS_BITS / self.0) } else { None }
    }
}

/// Written with the largest unit that keeps it exact, as a scenario file takes it: `100Gbps`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0 => (0, "bps"),
            bps if bps % 1_000_000_000_000 == 0 => (bps / 1_000_000_000_000, "Tbps"),
            bps if bps % 1_000_000_000 == 0 => (bps / 1_000_000_000, "Gbps"),
            bps if bps % 1_000_000 == 0 => (bps / 1_000_000, "Mbps"),
            bps if bps % 1_000 == 0 => (bps / 1_000, "Kbps"),
            bps => (bps, "bps"),
        };
        write!(f, "{value}{unit}")
    }
}
