//! Which groups are due in a window, and when anything happens next.

use super::{NEAR_WINDOWS, RunShared, Worker};
use crate::arrival_key;
use crate::device::Device;
use crate::mailbox::{MailSender, SLOTS};
use std::cmp::Reverse;
use units::Time;

impl<D: Device> Worker<'_, D> {
    /// Publishes the groups that are due in the window: those with arrivals, and those whose
    /// devices have events of their own. `parity` is that of the window before.
    pub(super) fn collect_due_groups(&mut self, window: u64, parity: usize) {
        let RunShared { mailboxes, grid, .. } = self.shared;
        let slot = window as usize % SLOTS;
        for from in 0..self.shared.reports.len() {
            // SAFETY: the list is for this thread. Its writer has passed the barrier, and writes
            // lists of the other parity in this window.
            let deferred = unsafe { mailboxes.deferred(parity, from, self.thread).get() };
            for entry in deferred.drain(..) {
                self.calendar.entry(grid.window_of(entry.time)).or_default().push(entry);
            }
        }
        while let Some(due) = self.calendar.first_entry()
            && *due.key() <= window
        {
            debug_assert_eq!(*due.key(), window, "a packet was overtaken by time");
            let start = grid.start(window);
            for packet in due.remove() {
                // SAFETY: in this window, only the thread that claims the group touches the
                // mailbox, and the group has not been published.
                let mailbox = unsafe { mailboxes.mailbox(slot, self.thread, packet.device).get() };
                mailbox.push(arrival_key::entry((packet.time - start).ps(), packet.tail));
                mark_listed(&mut self.listed, self.shared.group_of[packet.device as usize]);
            }
        }
        for from in 0..self.shared.reports.len() {
            // SAFETY: the lists of this window's slot are complete since the last barrier, and this
            // one is for this thread.
            let touched = unsafe { mailboxes.touched(slot, from, self.thread).get() };
            for device in touched.drain(..) {
                mark_listed(&mut self.listed, self.shared.group_of[device as usize]);
            }
        }
        for by in 0..self.shared.reports.len() {
            // SAFETY: the list is for this thread. Its writer has passed the barrier, and writes
            // lists of the other parity in this window.
            let returned = unsafe { mailboxes.returned_groups(parity, by, self.thread).get() };
            for (group, wake) in returned.drain(..) {
                self.set_wake(group, wake);
            }
        }
        let end = self.ends[0];
        for group in self.near_groups[window as usize % NEAR_WINDOWS].drain(..) {
            if self.wake[group as usize] < end {
                mark_listed(&mut self.listed, group);
            }
        }
        while let Some(&Reverse((time, group))) = self.far_groups.peek()
            && time < end
        {
            self.far_groups.pop();
            self.queued_at[group as usize] = Time::NEVER;
            if self.wake[group as usize] < end {
                mark_listed(&mut self.listed, group);
            } else {
                self.schedule_far(group, self.wake[group as usize]);
            }
        }
        // In order of their index: neighbours in memory share pages, and usually a pod.
        let words = self.listed.iter_mut().enumerate();
        let groups =
            words.flat_map(|(word, bits)| set_bits(std::mem::take(bits), word as u32 * 64));
        self.shared.ranges[self.thread].publish(self.windows, groups);
    }

    /// Sets the time of the next event of a group.
    #[inline]
    pub(super) fn set_wake(&mut self, group: u32, wake: Time) {
        self.wake[group as usize] = wake;
        // Counted without branches, which would be mispredicted.
        let ahead = self.ends.iter().filter(|&&end| end <= wake).count();
        if ahead < NEAR_WINDOWS {
            self.near_groups[(self.window as usize + ahead) % NEAR_WINDOWS].push(group);
        } else if wake != Time::NEVER {
            self.schedule_far(group, wake);
        }
    }

    /// Schedules a group for a window beyond the near ones.
    #[inline]
    fn schedule_far(&mut self, group: u32, time: Time) {
        if time < self.queued_at[group as usize] {
            self.queued_at[group as usize] = time;
            self.far_groups.push(Reverse((time, group)));
        }
    }

    /// Returns the earliest time at which anything will happen that this worker knows of.
    pub(super) fn next_event(&self, sender: &MailSender<'_>) -> Time {
        let mut next = match sender.posted {
            // Nothing can be earlier.
            [true, _] => return sender.ends[0],
            [false, true] => sender.ends[1],
            [false, false] => sender.earliest_deferred,
        };
        next = next.min(self.next_elsewhere);
        for &group in self.near_groups.iter().flatten() {
            next = next.min(self.wake[group as usize]);
        }
        if let Some(&Reverse((time, _))) = self.far_groups.peek() {
            next = next.min(time);
        }
        if let Some((&window, _)) = self.calendar.first_key_value() {
            next = next.min(self.shared.grid.start(window));
        }
        next
    }
}

/// Returns the positions of the bits that are set. The first bit has position `first`.
fn set_bits(mut bits: u64, first: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| first + bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        bit
    })
}

/// Marks a group as due in this window.
#[inline]
fn mark_listed(listed: &mut [u64], group: u32) {
    listed[group as usize / 64] |= 1 << (group % 64);
}
