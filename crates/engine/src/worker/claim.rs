//! Which groups a worker takes, one after the other, and what it has fetched of those to come.

use super::{RunShared, Worker};
use crate::arrival_key;
use crate::mailbox::{PhaseCell, SLOTS};
use crate::prefetch::{LINE, prefetch};
use crate::window::{Device, PREFETCH_DISTANCE};

/// Each time a thread takes one of so many parts of the groups that it has left, where others may take
/// some.
const PARTS: u32 = 8;

/// More packets than most devices get in a window of 100 ns.
const FEW: usize = 4;

impl<D: Device> Worker<'_, D> {
    /// The next group to work: one of its own, else one that another thread has not come to.
    #[inline]
    pub(super) fn claim_group(&mut self, alone: bool) -> Option<u32> {
        if self.claimed.is_empty() {
            self.claim_range(alone);
        }
        match self.claimed.next() {
            Some(place) => Some(self.shared.ranges[self.claimed_from].group(place)),
            None if self.steals && !alone => self.steal_group(),
            None => None,
        }
    }

    /// Takes several groups of its own, or who is alone all of somebody's.
    #[inline]
    fn claim_range(&mut self, alone: bool) {
        let ranges = self.shared.ranges;
        self.claimed_from = self.thread;
        self.claimed = match (alone, self.steals) {
            (false, true) => ranges[self.thread].take_front(PARTS),
            _ => ranges[self.thread].take_front(1),
        };
        if alone && self.claimed.is_empty() {
            for (thread, range) in ranges.iter().enumerate() {
                let taken = range.take_front(1);
                if !taken.is_empty() {
                    (self.claimed_from, self.claimed) = (thread, taken);
                    return;
                }
            }
        }
    }

    #[inline(never)]
    fn steal_group(&self) -> Option<u32> {
        if self.shared.barrier.all_others_wait() {
            // Who waits at the barrier has left nothing.
            return None;
        }
        let (before, from_own) = self.shared.ranges.split_at(self.thread);
        from_own[1..].iter().chain(before).find_map(|range| range.steal_back(self.windows))
    }

    /// Has the processor fetch the devices of a group that will be worked soon, and their boxes.
    #[inline]
    pub(super) fn prefetch_devices(&self, group: u32, window: u64) {
        let RunShared { devices, mailboxes, reports, .. } = self.shared;
        if let Some(device) = self.single_device(group) {
            prefetch(&devices[device as usize], size_of::<PhaseCell<D>>().div_ceil(LINE));
            for from in 0..reports.len() {
                prefetch(mailboxes.mailbox(window as usize % SLOTS, from, device), 1);
            }
        }
    }

    /// Has the processor fetch what the device of a group touches first, and its first packets.
    #[inline]
    pub(super) fn prefetch_work(&self, group: u32, window: u64) {
        let RunShared { devices, mailboxes, reports, .. } = self.shared;
        if let Some(device) = self.single_device(group) {
            // SAFETY: a group's devices, and the boxes of this window's slot for them, belong to who
            // took it alone, and no other reference to them is alive between two groups.
            let device_to_come = unsafe { devices[device as usize].get() };
            let mut arrivals = 0;
            for from in 0..reports.len() {
                // SAFETY: the boxes of this window's slot for the device are its group's, which this
                // thread took.
                let mailbox =
                    unsafe { mailboxes.mailbox(window as usize % SLOTS, from, device).get() };
                arrivals += mailbox.len();
                let Some(last) = mailbox.len().checked_sub(1) else { continue };
                // As many as are looked at before the device has the next ones fetched. How many there are
                // can't be guessed, but for whether windows are short and have few.
                let prefetch = |place: usize| {
                    self.packets.prefetch(arrival_key::handle(mailbox[place.min(last)]))
                };
                (0..FEW).for_each(prefetch);
                if last >= FEW {
                    (FEW..PREFETCH_DISTANCE + 2).for_each(prefetch);
                }
            }
            device_to_come.prefetch(arrivals);
        }
    }
}
