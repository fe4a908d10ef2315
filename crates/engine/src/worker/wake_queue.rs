//! When each group of a thread is due: a queue of groups by the time of their next event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// Windows that have a list of due groups: the current one and the next three.
pub(super) const NEAR_WINDOWS: usize = 4;

/// The groups of a thread by the time of their next event. Groups of other threads are unused.
pub(super) struct WakeQueue {
    /// Index of the current window.
    window: u64,
    /// When the near windows end.
    ends: [Time; NEAR_WINDOWS],
    /// Time of the next event of each group.
    wake: Vec<Time>,
    /// Groups by the window of their next event, for the near windows in turn. An entry may be
    /// outdated: then `wake` differs, and the group is in another list, too.
    near: [Vec<u32>; NEAR_WINDOWS],
    /// Groups whose next event is after the near windows. An entry may be outdated.
    far: BinaryHeap<Reverse<(Time, u32)>>,
    /// The earliest entry of each group in `far`.
    queued_at: Vec<Time>,
    /// One bit for each group: whether it is due in this window.
    due: Vec<u64>,
}

impl WakeQueue {
    /// Makes the queue of a thread that owns some of `groups` groups. All of its `own` groups are
    /// due in the first window.
    pub(super) fn new(groups: usize, own: impl Iterator<Item = u32>) -> WakeQueue {
        WakeQueue {
            window: 0,
            ends: [Time::ZERO; NEAR_WINDOWS],
            wake: vec![Time::ZERO; groups],
            near: [own.collect(), vec![], vec![], vec![]],
            far: BinaryHeap::new(),
            queued_at: vec![Time::NEVER; groups],
            due: vec![0; groups.div_ceil(64)],
        }
    }

    /// Begins a window. `ends` are the ends of the near windows, of which it is the first. No group
    /// may have been due in a window that was skipped.
    pub(super) fn begin_window(&mut self, window: u64, ends: [Time; NEAR_WINDOWS]) {
        (self.window, self.ends) = (window, ends);
    }

    /// When the near windows end.
    #[inline(always)]
    pub(super) fn ends(&self) -> &[Time; NEAR_WINDOWS] {
        &self.ends
    }

    /// Sets the time of the next event of a group, which replaces the time before.
    #[inline(always)]
    pub(super) fn set(&mut self, group: u32, time: Time) {
        self.wake[group as usize] = time;
        // Counted without branches, which would be mispredicted.
        let ahead = self.ends.iter().filter(|&&end| end <= time).count();
        if ahead < NEAR_WINDOWS {
            self.near[(self.window as usize + ahead) % NEAR_WINDOWS].push(group);
        } else if time != Time::NEVER {
            self.push_far(group, time);
        }
    }

    /// Queues a group for a window beyond the near ones.
    #[inline]
    fn push_far(&mut self, group: u32, time: Time) {
        if time < self.queued_at[group as usize] {
            self.queued_at[group as usize] = time;
            self.far.push(Reverse((time, group)));
        }
    }

    /// Makes a group due in the current window, whenever its next event is.
    #[inline]
    pub(super) fn make_due(&mut self, group: u32) {
        mark(&mut self.due, group);
    }

    /// Takes the groups that are due in the current window, by their index: neighbours in memory
    /// share pages, and usually a pod. Their next events are no longer known.
    pub(super) fn take_due(&mut self) -> impl Iterator<Item = u32> {
        let end = self.ends[0];
        for group in self.near[self.window as usize % NEAR_WINDOWS].drain(..) {
            if self.wake[group as usize] < end {
                mark(&mut self.due, group);
            }
        }
        while let Some(&Reverse((time, group))) = self.far.peek()
            && time < end
        {
            self.far.pop();
            self.queued_at[group as usize] = Time::NEVER;
            if self.wake[group as usize] < end {
                mark(&mut self.due, group);
            } else {
                self.push_far(group, self.wake[group as usize]);
            }
        }
        let words = self.due.iter_mut().enumerate();
        words.flat_map(|(word, bits)| set_bits(std::mem::take(bits), word as u32 * 64))
    }

    /// Returns a time that is not after the next event of any group that was [set](Self::set) since
    /// it was last due.
    pub(super) fn next(&self) -> Time {
        let near = self.near.iter().flatten().map(|&group| self.wake[group as usize]);
        let far = self.far.peek().map(|&Reverse((time, _))| time);
        near.chain(far).min().unwrap_or(Time::NEVER)
    }
}

/// Marks a group as due in this window.
#[inline]
fn mark(due: &mut [u64], group: u32) {
    due[group as usize / 64] |= 1 << (group % 64);
}

/// Returns the positions of the bits that are set. The first bit has position `first`.
fn set_bits(mut bits: u64, first: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| first + bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        bit
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WINDOW_PS: u64 = 10;
    const GROUPS: usize = 70;

    fn ends(window: u64) -> [Time; NEAR_WINDOWS] {
        [1, 2, 3, 4].map(|ahead| Time::from_ps((window + ahead) * WINDOW_PS))
    }

    proptest! {
        /// Each group is due exactly in the windows of its events, near or far, also if it is set
        /// again before, is due for another reason, or was run by another thread.
        #[test]
        fn groups_are_due_in_the_windows_of_their_events(
            steps in prop::collection::vec(
                (prop::collection::vec((0u64..90, any::<bool>()), 8), 0..GROUPS as u32), 1..60,
            ),
        ) {
            let own = [0, 3, 62, 63, 64, 69];
            let mut queue = WakeQueue::new(GROUPS, own.into_iter());
            let mut events: Vec<(u32, Time)> = own.map(|group| (group, Time::ZERO)).into();
            let (mut window, mut returned) = (0, Vec::new());
            for (choices, extra) in steps {
                queue.begin_window(window, ends(window));
                for (group, time) in std::mem::take(&mut returned) {
                    queue.set(group, time);
                }
                let end = queue.ends()[0];
                let due = events.iter().filter(|(_, time)| *time < end);
                let mut expected: Vec<u32> = due.map(|(group, _)| *group).collect();
                if own.contains(&extra) && !expected.contains(&extra) {
                    queue.make_due(extra);
                    expected.push(extra);
                }
                expected.sort_unstable();
                prop_assert_eq!(queue.take_due().collect::<Vec<_>>(), expected.clone());
                let mut next = Time::NEVER;
                for (group, (ahead, stolen)) in expected.into_iter().zip(choices) {
                    let time = if ahead < 80 { end + Time::from_ps(ahead) } else { Time::NEVER };
                    events.iter_mut().find(|(known, _)| *known == group).expect("own").1 = time;
                    if stolen {
                        returned.push((group, time));
                        next = next.min(time);
                    } else {
                        queue.set(group, time);
                    }
                }
                next = next.min(queue.next());
                let first = events.iter().map(|(_, time)| *time).min().expect("there are groups");
                prop_assert!(next <= first, "{next:?} would skip {first:?}");
                window = (window + 1).max(next.min(Time::from_us(1)).ps() / WINDOW_PS);
            }
        }
    }
}
