//! Limits classes to a share of the link.

use schemes::contract::ClassSpec;
use units::Time;

/// The shapers of a port's priorities.
#[derive(Clone, Debug, Default)]
pub(super) struct Shaper {
    /// Priorities that are shaped.
    shaped: u8,
    /// Link rate divided by the priority's share, in 65536ths; 0 if the priority is not shaped.
    stretch: [u64; 8],
    /// Packets that may leave back to back after an idle time, less one.
    saved: [u64; 8],
    /// When that many may leave back to back again.
    full: [Time; 8],
    earliest: [Time; 8],
}

/// Returns the priorities whose bits are set: mostly one or none.
#[inline]
fn ones(mut bits: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let priority = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        priority
    })
}

impl Shaper {
    /// Limits a class to its share of the link, which is within [`ClassSpec::SHARES`].
    pub(super) fn limit(&mut self, class: &ClassSpec) {
        let priority = class.priority.index();
        self.shaped |= 1 << priority;
        self.stretch[priority] = (65_536.0 / class.share) as u64;
        self.saved[priority] = u64::from(class.burst.saturating_sub(1));
    }

    /// Notes that a packet was sent. The next one of its priority waits until the priority's share
    /// of the link has passed, unless some are saved up.
    pub(super) fn sent(&mut self, priority: usize, start: Time, end: Time) {
        let stretch = self.stretch[priority];
        if stretch != 0 {
            let gap = (u128::from((end - start).ps()) * u128::from(stretch)) >> 16;
            let gap = u64::try_from(gap).map_or(Time::NEVER, Time::from_ps);
            self.full[priority] = self.full[priority].max(start).saturating_add(gap);
            let saved = gap.saturating_mul(self.saved[priority]);
            self.earliest[priority] = self.full[priority].saturating_sub(saved);
        }
    }

    /// Returns the priorities of `open` that may send at `now`.
    #[inline]
    pub(super) fn allows(&self, open: u16, now: Time) -> u16 {
        ones(open as u8 & self.shaped)
            .filter(|&priority| self.earliest[priority] > now)
            .fold(open, |open, priority| open & !(1 << priority))
    }

    /// Returns when the first priority of `open` may send. `open` is not empty.
    pub(super) fn earliest(&self, open: u16) -> Time {
        if open & !u16::from(self.shaped) != 0 {
            return Time::ZERO;
        }
        let earliest = ones(open as u8).map(|priority| self.earliest[priority]).min();
        earliest.expect("something is open")
    }
}
