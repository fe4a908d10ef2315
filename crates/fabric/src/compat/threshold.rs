//! How the HPCC simulator's MMU computes dynamic thresholds.

use units::Rate;

/// What a switch's MMU computes differently. A native one has none of this.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThresholdRules {
    /// A port's alpha doubles with each doubling of its rate over this one. Then headroom belongs
    /// to the port, and ingresses that PFC protects have no limits but their own.
    pub(crate) shifted_above: Option<Rate>,
    /// The free buffer is an unsigned 32-bit number.
    pub(crate) wraps: bool,
    /// All that is stored counts as shared, and a packet uses headroom only where the shared part
    /// has no room for it. Each port sets four times the reserve aside.
    pub(crate) shares_first: bool,
}

impl ThresholdRules {
    /// Returns the alpha of a port in 65536ths; `alpha` is that of slow ports.
    pub(crate) fn alpha_of_port(self, alpha: u32, rate: Rate) -> u32 {
        self.shifted_above.map_or(alpha, |at| shifted_alpha(alpha, at, rate))
    }

    /// Returns how many priorities of a port have headroom and a reserve of their own, of which
    /// `lossless` is the bit mask.
    pub(crate) fn reserves_per_port(self, lossless: u8) -> u64 {
        if self.shifted_above.is_some() { 1 } else { u64::from(lossless.count_ones()) }
    }

    /// Returns how many bytes a port sets aside for a reserve of `reserve` bytes.
    pub(crate) fn set_aside(self, reserve: u64) -> u64 {
        if self.shares_first { 4 * reserve } else { reserve }
    }

    /// Returns how many bytes of the buffer may be in use when an ingress that PFC protects stores
    /// a packet.
    pub(crate) fn protected_buffer(self, buffer: u64) -> u64 {
        if self.shifted_above.is_some() { u64::MAX } else { buffer }
    }

    /// Returns whether an ingress that drops a packet may pause its peer. The simulator pauses only
    /// when it stores a packet.
    pub(crate) fn may_pause_on_drop(self) -> bool {
        self.shifted_above.is_none()
    }

    /// Returns whether an ingress that drops a packet may send its pause again, where that is done
    /// with each packet.
    pub(crate) fn renews_on_drop(self) -> bool {
        self.may_pause_on_drop() && !self.shares_first
    }

    /// Returns the free bytes of the shared buffer, `free` of which may be negative.
    #[inline]
    pub(crate) fn free_bytes(self, free: i64) -> u64 {
        if self.wraps { u64::from(free as u32) } else { free.max(0) as u64 }
    }
}

/// Doubles alpha for each doubling of the port's rate over `at`, the last one begun counted, up to
/// 1.
fn shifted_alpha(alpha: u32, at: Rate, rate: Rate) -> u32 {
    let (mut alpha, mut rate) = (alpha, rate.bps());
    while rate > at.bps() && alpha < 1 << 16 {
        alpha = (alpha * 2).min(1 << 16);
        rate /= 2;
    }
    alpha
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_doubles_with_the_rate() {
        let at = Rate::from_gbps(100);
        let shifts = [25, 100, 101, 200, 300, 400, 800, 1600]
            .map(|gbps| (1 << 16) / shifted_alpha(1 << 13, at, Rate::from_gbps(gbps)));
        assert_eq!(shifts, [8, 8, 4, 4, 2, 2, 1, 1]);
    }

    #[test]
    fn a_free_buffer_below_zero_wraps() {
        let wraps = ThresholdRules { wraps: true, ..ThresholdRules::default() };
        assert_eq!(wraps.free_bytes(-1), (1 << 32) - 1);
        assert_eq!(ThresholdRules::default().free_bytes(-1), 0);
    }
}
