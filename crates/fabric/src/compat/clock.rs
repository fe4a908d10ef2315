//! How long bytes take on a wire.

use units::{Bytes, Rate, Time};

/// How the time that bytes take at a rate is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Rounded up to a picosecond.
    #[default]
    Exact,
    /// Cut to whole nanoseconds.
    WholeNanoseconds,
}

impl Clock {
    /// Returns how long `bytes` take at `rate`.
    #[inline]
    pub(crate) fn time_for(self, rate: Rate, bytes: u64) -> Time {
        match self {
            Clock::Exact => rate.time_for(Bytes::new(bytes)),
            Clock::WholeNanoseconds => whole_nanoseconds(rate, bytes),
        }
    }
}

/// Returns the time that ns-3 computes. It takes seconds as a double, converts them to a 64.64-bit
/// fixed-point number, multiplies by 10^9 and cuts. A product that should be a whole number of
/// nanoseconds often comes out one lower.
pub fn whole_nanoseconds(rate: Rate, bytes: u64) -> Time {
    if rate == Rate::ZERO {
        return Time::NEVER;
    }
    let seconds = bytes as f64 * 8.0 / rate.bps() as f64;
    let whole = seconds.floor();
    let fraction = ((seconds - whole) * (1u128 << 64) as f64) as u128;
    let ns = whole as u64 * 1_000_000_000 + ((fraction * 1_000_000_000) >> 64) as u64;
    Time::from_ns(ns)
}

/// Returns the HPCC simulator's time for `bytes` at the rate of the slowest link, `bps`: cut to
/// whole nanoseconds, [`Time::NEVER`] if it exceeds the range of times.
pub(crate) fn transfer_time(bytes: u128, bps: u64) -> Time {
    let ns = bytes * 8_000_000_000 / u128::from(bps);
    u64::try_from(ns * 1000).map_or(Time::NEVER, Time::from_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_is_cut_to_nanoseconds() {
        let time = |bytes, gbps| whole_nanoseconds(Rate::from_gbps(gbps), bytes).ps() / 1000;
        assert_eq!(time(1048, 100), 83, "83.84");
        assert_eq!(time(1048, 400), 20, "20.96");
        assert_eq!(time(1090, 100), 87, "87.2");
        assert_eq!(time(60, 400), 1, "1.2");
        assert_eq!(time(43, 400), 0, "0.86");
        assert_eq!(time(125_000_000, 1), 1_000_000_000, "a whole second stays one");
    }
}
