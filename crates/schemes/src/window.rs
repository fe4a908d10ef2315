//! The window that the HPCC simulator puts beside a rate (HAS_WIN, VAR_WIN and GLOBAL_T): the
//! network's BDP at line rate, and less in proportion to the rate.

use crate::contract::PathFacts;
use units::Bytes;

/// How many bytes may be in flight at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateWindow {
    /// The window at line rate, bytes.
    full: u64,
    /// Bits per second; 0 where nothing limits.
    line_rate: u64,
    /// A window below a packet would stop the sender.
    least: u64,
}

impl RateWindow {
    /// No limit at any rate.
    pub const NONE: RateWindow = RateWindow { full: 0, line_rate: 0, least: 0 };

    /// At line rate the BDP of the longest path of the network.
    pub fn new(path: &PathFacts) -> RateWindow {
        RateWindow {
            full: path.line_rate.bytes_in(path.network_rtt).get(),
            line_rate: path.line_rate.bps(),
            least: path.payload.get(),
        }
    }

    /// The window at `rate` bits per second.
    #[inline]
    pub fn at(&self, rate: u64) -> Bytes {
        if self.line_rate == 0 {
            return Bytes::UNLIMITED;
        }
        let scaled = u128::from(self.full) * u128::from(rate) / u128::from(self.line_rate);
        Bytes::new((scaled as u64).max(self.least))
    }
}
