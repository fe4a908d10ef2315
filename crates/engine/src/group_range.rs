//! Who works which groups of a window: each thread its own, the first one first, and then what others
//! have not come to, the last one first. That changes no result; it evens out what there is to do.

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::ops::Range;

/// The groups that a thread has to work in a window, which others may take from.
#[repr(align(128))]
pub(crate) struct GroupRange {
    /// The window that they are of, by its number; 0 before the first.
    window: AtomicU64,
    /// The places of those that are left: the first in the lower half, the one after the last in the
    /// upper half.
    left: AtomicU64,
    groups: Box<[AtomicU32]>,
}

const HALF: u32 = u32::BITS;

/// The first place and the one after the last.
fn ends(left: u64) -> (u32, u32) {
    (left as u32, (left >> HALF) as u32)
}

impl GroupRange {
    /// The share of a thread that owns so many groups.
    pub(crate) fn new(groups: usize) -> GroupRange {
        GroupRange {
            window: AtomicU64::new(0),
            left: AtomicU64::new(0),
            groups: (0..groups).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Its thread lays out what it has to work in a window. Nobody takes from the window before any
    /// more.
    pub(crate) fn publish(&self, window: u64, groups: impl Iterator<Item = u32>) {
        let mut count = 0;
        for (place, group) in self.groups.iter().zip(groups) {
            place.store(group, Ordering::Relaxed);
            count += 1;
        }
        self.left.store(count << HALF, Ordering::Relaxed);
        // Whoever sees the window sees all that its thread did before.
        self.window.store(window, Ordering::Release);
    }

    /// The places of the next groups for its thread, one of so many parts of those that are left: to take
    /// them one by one would cost as much as a packet each.
    pub(crate) fn take_front(&self, parts: u32) -> Range<u32> {
        let (first, end) = ends(self.left.load(Ordering::Relaxed));
        let count = end.saturating_sub(first).div_ceil(parts);
        if count == 0 {
            return 0..0;
        }
        let (first, end) = ends(self.left.fetch_add(u64::from(count), Ordering::Relaxed));
        first..end.min(first + count)
    }

    /// The group at a place that was taken.
    #[inline]
    pub(crate) fn group(&self, place: u32) -> u32 {
        self.groups[place as usize].load(Ordering::Relaxed)
    }

    /// A group for another thread, if this one's has got as far as this window.
    pub(crate) fn steal_back(&self, window: u64) -> Option<u32> {
        if self.window.load(Ordering::Acquire) != window {
            return None;
        }
        let mut left = self.left.load(Ordering::Relaxed);
        loop {
            let (first, end) = ends(left);
            if first >= end {
                return None;
            }
            let less = left - (1 << HALF);
            match self.left.compare_exchange_weak(left, less, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Some(self.group(end - 1)),
                Err(now) => left = now,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_share_is_taken_from_both_ends_and_only_in_its_window() {
        let range = GroupRange::new(6);
        let take_front = |parts| range.take_front(parts).map(|place| range.group(place)).collect();
        let nothing: Vec<u32> = Vec::new();
        assert_eq!((take_front(1), range.steal_back(1)), (nothing.clone(), None));
        range.publish(1, [7, 8, 9, 4, 6].into_iter());
        assert_eq!(range.steal_back(2), None);
        assert_eq!((take_front(2), range.steal_back(1)), (vec![7, 8, 9], Some(6)));
        assert_eq!((take_front(2), take_front(2)), (vec![4], nothing.clone()));
        assert_eq!((range.steal_back(1), take_front(1)), (None, nothing.clone()));
        range.publish(2, [3].into_iter());
        assert_eq!((range.steal_back(1), range.steal_back(2)), (None, Some(3)));
        assert_eq!(take_front(1), nothing);
        range.publish(3, [3, 2].into_iter());
        assert_eq!(take_front(1), [3, 2]);
    }

    #[test]
    fn each_group_is_taken_once() {
        let count = if cfg!(miri) { 100 } else { 10_000 };
        let range = GroupRange::new(count);
        for window in 1..=20 {
            range.publish(window, 0..count as u32);
            let taken: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let take = |group: u32| {
                taken[group as usize].fetch_add(1, Ordering::Relaxed);
            };
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| std::iter::from_fn(|| range.steal_back(window)).for_each(take));
                }
                while let places = range.take_front(8)
                    && !places.is_empty()
                {
                    places.for_each(|place| take(range.group(place)));
                }
            });
            assert!(taken.iter().all(|times| times.load(Ordering::Relaxed) == 1));
        }
    }
}
