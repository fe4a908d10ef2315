use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Bytes(u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);
    /// More than any buffer: "no limit".
    pub const UNLIMITED: Bytes = Bytes(u64::MAX);
    /// A size of `n` bytes.
    #[inline]
    pub const fn new(n: u64) -> Bytes {
        Bytes(n)
    }
    /// The number of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
    /// `self - other`, or zero where `other` is larger.
    #[inline]
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}
impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}
impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}
impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Bytes {
    type Output = Bytes;
    #[inline]
    fn mul(self, n: u64) -> Bytes {
        Bytes(self.0 * n)
    }
}

/// Written with the largest decimal unit that keeps it exact, as a scenario file takes it: `320KB`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0 => (0, "B"),
            n if n % 1_000_000_000 == 0 => (n / 1_000_000_000, "GB"),
            n if n % 1_000_000 == 0 => (n / 1_000_000, "MB"),
            n if n % 1_000 == 0 => (n / 1_000, "KB"),
            n => (n, "B"),
        };
        write!(f, "{value}{unit}")
    }
}
