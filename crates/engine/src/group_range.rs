//! The groups that a thread has to run in a window, from which other threads may steal.
//!
//! Each thread takes its own groups from the front. When it has no more, it steals groups that
//! other threads have not reached, from the back. That balances the load and changes no result.

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::ops::Range;

/// A range of groups that one thread takes from the front and others steal from the back.
pub(crate) struct GroupRange {
    /// Number of the window that the groups are due in; 0 before the first.
    window: AtomicU64,
    /// The range of `groups` that is left: its begin in the lower half, its end in the upper half.
    /// Both are in one word, so that one atomic operation takes a group.
    left: AtomicU64,
    groups: Box<[AtomicU32]>,
}

const HALF: u32 = u32::BITS;

/// Begin and end of the range that is left.
fn ends(left: u64) -> (u32, u32) {
    (left as u32, (left >> HALF) as u32)
}

impl GroupRange {
    /// The range of a thread that owns `groups` groups.
    pub(crate) fn new(groups: usize) -> GroupRange {
        GroupRange {
            window: AtomicU64::new(0),
            left: AtomicU64::new(0),
            groups: (0..groups).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Publishes the groups that are due in a window. Called by the owning thread, after which
    /// nobody can steal groups of the window before.
    pub(crate) fn publish(&self, window: u64, mut groups: impl Iterator<Item = u32>) {
        let mut count = 0;
        for (slot, group) in self.groups.iter().zip(groups.by_ref()) {
            slot.store(group, Ordering::Relaxed);
            count += 1;
        }
        debug_assert!(groups.next().is_none(), "more groups than the thread owns");
        self.left.store(count << HALF, Ordering::Relaxed);
        // A thread that sees the new window sees everything that the owner did before.
        self.window.store(window, Ordering::Release);
    }

    /// Takes the next groups for the owning thread: one of `parts` equal parts of what is left.
    /// Returns their indices. To take groups one by one would cost as much as handling a packet
    /// each.
    pub(crate) fn take_front(&self, parts: u32) -> Range<u32> {
        let (first, end) = ends(self.left.load(Ordering::Relaxed));
        let count = end.saturating_sub(first).div_ceil(parts);
        if count == 0 {
            return 0..0;
        }
        let (first, end) = ends(self.left.fetch_add(u64::from(count), Ordering::Relaxed));
        first..end.min(first + count)
    }

    /// Returns the group at an index that was taken.
    #[inline]
    pub(crate) fn group(&self, index: u32) -> u32 {
        self.groups[index as usize].load(Ordering::Relaxed)
    }

    /// Steals a group for another thread. Returns `None` if nothing is left, or if the owner has
    /// not published this window.
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
    fn a_range_is_taken_from_both_ends_and_only_in_its_window() {
        let range = GroupRange::new(6);
        let take_front = |parts| range.take_front(parts).map(|index| range.group(index)).collect();
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
                while let indices = range.take_front(8)
                    && !indices.is_empty()
                {
                    indices.for_each(|index| take(range.group(index)));
                }
            });
            assert!(taken.iter().all(|times| times.load(Ordering::Relaxed) == 1));
        }
    }
}
