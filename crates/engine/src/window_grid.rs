//! The grid of windows: equal parts of a microsecond, so that every microsecond ends a window.
//!
//! Runs stop at whole microseconds. No window extends across one, so the time at which a run stops
//! does not depend on the length of its windows, and hence not on how devices are grouped.

use units::Time;

const MICROSECOND: u64 = 1_000_000;

/// A microsecond divided into equal windows, none longer than the lookahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    parts: u64,
}

impl Grid {
    /// Makes the coarsest grid whose windows are no longer than `lookahead`.
    pub(crate) fn new(lookahead: Time) -> Grid {
        assert!(lookahead > Time::ZERO, "links between groups take time");
        let mut parts = MICROSECOND.div_ceil(lookahead.ps().min(MICROSECOND));
        while MICROSECOND.div_ceil(parts) > lookahead.ps() {
            parts += 1;
        }
        Grid { parts }
    }

    /// Returns when window `index` begins.
    #[inline]
    pub(crate) fn start(self, index: u64) -> Time {
        if self.parts == 1 {
            return Time::from_ps(index * MICROSECOND);
        }
        let (whole, part) = (index / self.parts, index % self.parts);
        Time::from_ps(whole * MICROSECOND + part * MICROSECOND / self.parts)
    }

    /// Returns the index of the window that contains `time`.
    #[inline]
    pub(crate) fn window_of(self, time: Time) -> u64 {
        let (whole, rest) = (time.ps() / MICROSECOND, time.ps() % MICROSECOND);
        let index = whole * self.parts + rest * self.parts / MICROSECOND;
        if self.start(index + 1) <= time { index + 1 } else { index }
    }

    /// Whether window `index` ends at a whole microsecond.
    #[inline]
    pub(crate) fn is_microsecond_boundary(self, index: u64) -> bool {
        (index + 1).is_multiple_of(self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_cover_time_and_never_exceed_the_lookahead(
            lookahead in 1u64..3_000_000, time in 0u64..1_000_000_000_000,
        ) {
            let (grid, time) = (Grid::new(Time::from_ps(lookahead)), Time::from_ps(time));
            let index = grid.window_of(time);
            prop_assert!(grid.start(index) <= time && time < grid.start(index + 1));
            prop_assert!((grid.start(index + 1) - grid.start(index)).ps() <= lookahead);
            prop_assert_eq!(
                grid.is_microsecond_boundary(index), grid.start(index + 1).ps() % MICROSECOND == 0
            );
        }
    }
}
