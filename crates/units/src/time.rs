use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A point in simulated time or a span of it, in picoseconds.
///
/// `u64` picoseconds reach 213 days, far beyond any run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Time(u64);

impl Time {
    /// The start of the simulation, or an empty span.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// A time of `ps` picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }
    /// A time of `ns` nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns * 1_000)
    }
    /// A time of `us` microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Time {
        Time(us * 1_000_000)
    }
    /// A time of `ms` milliseconds.
    #[inline]
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }
    /// In picoseconds.
    #[inline]
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// In whole nanoseconds, rounded down.
    #[inline]
    pub const fn ns(self) -> u64 {
        self.0 / 1_000
    }
    /// In seconds, for display and control laws only.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// `self - other`, or zero where `other` is later.
    #[inline]
    pub const fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }
    /// `self + other`, [`Time::NEVER`] where that overflows.
    #[inline]
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
    /// `self * n`, [`Time::NEVER`] where that overflows.
    #[inline]
    pub const fn saturating_mul(self, n: u64) -> Time {
        Time(self.0.saturating_mul(n))
    }
    /// The first multiple of `step` at or after `self`.
    #[inline]
    pub const fn round_up(self, step: Time) -> Time {
        Time(self.0.div_ceil(step.0) * step.0)
    }
}

/// Overflows as `u64` does: use [`Time::saturating_add`] where a time may be [`Time::NEVER`].
impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}
impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}
impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Time) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Time {
    type Output = Time;
    #[inline]
    fn mul(self, n: u64) -> Time {
        Time(self.0 * n)
    }
}
impl Div<u64> for Time {
    type Output = Time;
    #[inline]
    fn div(self, n: u64) -> Time {
        Time(self.0 / n)
    }
}
impl std::iter::Sum for Time {
    fn sum<I: Iterator<Item = Time>>(iter: I) -> Time {
        iter.fold(Time::ZERO, Add::add)
    }
}

/// Written with the largest unit that keeps it exact, as a scenario file takes it: `1500ns`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            u64::MAX => return f.write_str("never"),
            0 => (0, "ns"),
            ps if ps % 1_000_000_000_000 == 0 => (ps / 1_000_000_000_000, "s"),
            ps if ps % 1_000_000_000 == 0 => (ps / 1_000_000_000, "ms"),
            ps if ps % 1_000_000 == 0 => (ps / 1_000_000, "us"),
            ps if ps % 1_000 == 0 => (ps / 1_000, "ns"),
            ps => (ps, "ps"),
        };
        write!(f, "{value}{unit}")
    }
}
