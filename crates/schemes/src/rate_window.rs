//! The window that the HPCC simulator adds to a rate (HAS_WIN, VAR_WIN and GLOBAL_T): a BDP, fixed
//! or in proportion to the rate.

use crate::contract::PathFacts;
use units::Bytes;

/// The words of a parameter `window`: no limit; the BDP of the network's longest path, or of the
/// QP's own, scaled by rate over line rate; or one of these BDPs at any rate.
pub const CHOICES: &[&str] = &["none", "bdp", "path-bdp", "fixed-bdp", "fixed-path-bdp"];

/// Limits the bytes in flight, depending on the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateWindow {
    /// The window at line rate, bytes.
    full: u64,
    /// Bits per second; 0 if there is no limit, or if it does not depend on the rate.
    line_rate: u64,
    /// One packet, as a smaller window would stop the sender.
    min_window: u64,
}

impl RateWindow {
    /// Returns the window that `choice`, one of [`CHOICES`], means on this path.
    pub fn new(choice: &str, path: &PathFacts) -> RateWindow {
        if choice == "none" {
            return RateWindow { full: u64::MAX, line_rate: 0, min_window: 0 };
        }
        let own = choice.ends_with("path-bdp");
        let bdp = if own { path.bottleneck_rate.bytes_in(path.base_rtt) } else { path.network_bdp };
        let fixed = choice.starts_with("fixed");
        RateWindow {
            full: bdp.get(),
            line_rate: if fixed { 0 } else { path.line_rate.bps() },
            min_window: path.payload.get(),
        }
    }

    /// Returns whether the window depends on the rate.
    pub fn follows_rate(&self) -> bool {
        self.line_rate != 0
    }

    /// Returns the window at line rate, in bytes; `None` without a limit.
    pub fn full(&self) -> Option<u64> {
        (self.full != u64::MAX).then_some(self.full)
    }

    /// Returns the window at `rate` bits per second.
    #[inline]
    pub fn at(&self, rate: u64) -> Bytes {
        if self.line_rate == 0 {
            return Bytes::new(self.full.max(self.min_window));
        }
        let scaled = u128::from(self.full) * u128::from(rate) / u128::from(self.line_rate);
        Bytes::new((scaled as u64).max(self.min_window))
    }
}
