//! Classes that may not use the whole link.

use schemes::contract::ClassSpec;
use units::Time;

/// Priorities that may not use the whole link.
#[derive(Clone, Debug, Default)]
pub(super) struct Shaper {
    /// Priorities that it shapes.
    shaped: u8,
    /// Link rate over the priority's share, in 65536ths; 0 where it is not shaped.
    stretch: [u64; 8],
    /// Packets that may go at once after a silence, less one.
    saved: [u64; 8],
    /// When so many are saved up again.
    full: [Time; 8],
    earliest: [Time; 8],
}

/// The priorities whose bits are set: mostly one, or none.
#[inline]
fn ones(mut bits: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let priority = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        priority
    })
}

impl Shaper {
    /// Limits a class to its share of the link.
    pub(super) fn limit(&mut self, class: &ClassSpec) {
        let priority = class.priority.index();
        self.shaped |= 1 << priority;
        self.stretch[priority] = (65_536.0 / class.share) as u64;
        self.saved[priority] = u64::from(class.burst.saturating_sub(1));
    }

    /// The next packet of the priority waits until its share of the link has passed, unless some
    /// are saved up.
    pub(super) fn sent(&mut self, priority: usize, start: Time, end: Time) {
        let stretch = self.stretch[priority];
        if stretch != 0 {
            let gap = Time::from_ps(((end - start).ps() * stretch) >> 16);
            self.full[priority] = self.full[priority].max(start) + gap;
            self.earliest[priority] =
                self.full[priority].saturating_sub(gap * self.saved[priority]);
        }
    }

    /// The part of `open` that it lets go at `now`.
    #[inline]
    pub(super) fn allows(&self, open: u16, now: Time) -> u16 {
        ones(open as u8 & self.shaped)
            .filter(|&priority| self.earliest[priority] > now)
            .fold(open, |open, priority| open & !(1 << priority))
    }

    /// When it lets the first of `open` go, in which something is.
    pub(super) fn earliest(&self, open: u16) -> Time {
        if open & !u16::from(self.shaped) != 0 {
            return Time::ZERO;
        }
        let earliest = ones(open as u8).map(|priority| self.earliest[priority]).min();
        earliest.expect("something is open")
    }
}
