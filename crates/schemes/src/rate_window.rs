//! The window that the HPCC simulator adds to a rate (HAS_WIN, VAR_WIN and GLOBAL_T): a BDP, fixed
//! or in proportion to the rate.

use crate::contract::PathFacts;
use std::ops::RangeInclusive;
use units::{Bytes, Rate};

/// What a `min_rate` may be: up to the highest rate of a link.
pub(crate) const FLOOR: RangeInclusive<Rate> = Rate::from_bps(1000)..=Rate::from_gbps(100_000);

crate::choice! {
    /// What a parameter `window` may say.
    pub enum WindowMode {
        /// No limit.
        None = "none",
        /// The BDP of the network's longest path, scaled by rate over line rate.
        Bdp = "bdp",
        /// The BDP of the QP's own path, scaled by rate over line rate.
        PathBdp = "path-bdp",
        /// The BDP of the network's longest path, at any rate.
        FixedBdp = "fixed-bdp",
        /// The BDP of the QP's own path, at any rate.
        FixedPathBdp = "fixed-path-bdp",
    }
}

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
    /// Returns the window that `mode` means on this path.
    pub fn new(mode: WindowMode, path: &PathFacts) -> RateWindow {
        if mode == WindowMode::None {
            return RateWindow { full: u64::MAX, line_rate: 0, min_window: 0 };
        }
        let own = matches!(mode, WindowMode::PathBdp | WindowMode::FixedPathBdp);
        let bdp = if own { path.bottleneck_rate.bytes_in(path.base_rtt) } else { path.network_bdp };
        let fixed = matches!(mode, WindowMode::FixedBdp | WindowMode::FixedPathBdp);
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
        let scaled = match self.full.checked_mul(rate) {
            Some(product) => product / self.line_rate,
            // Division of wider numbers takes long.
            None => (u128::from(self.full) * u128::from(rate) / u128::from(self.line_rate)) as u64,
        };
        Bytes::new(scaled.max(self.min_window))
    }
}
