//! Which groups a worker claims, one after the other, and what it prefetches of the next ones.

use super::{Schedule, Worker};
use crate::device::Device;
use crate::mailbox::{PhaseCell, Slot};
use crate::prefetch::{LINE, prefetch};
use crate::run_state::RunShared;
use crate::window::PREFETCH_DISTANCE;

/// A thread claims this fraction of its remaining groups at once, if other threads may steal some.
const CLAIM_PARTS: u32 = 8;

/// More packets than most devices get in a window of 100 ns.
const FEW_PACKETS: usize = 4;

impl Schedule<'_> {
    /// Claims the next group to run: one of its own, else one that another thread has not reached.
    #[inline(always)]
    pub(super) fn claim_group(&mut self, alone: bool) -> Option<u32> {
        if self.claimed.is_empty() {
            self.claim_range(alone);
        }
        match self.claimed.next() {
            Some(index) => Some(self.shared.ranges[self.claimed_from].group(index)),
            None if self.steals && !alone => self.steal_group(),
            None => None,
        }
    }

    /// Claims several groups of its own. A worker that runs `alone` then claims all groups of the
    /// others.
    #[inline(always)]
    fn claim_range(&mut self, alone: bool) {
        let ranges = self.shared.ranges;
        self.claimed_from = self.thread;
        self.claimed = match (alone, self.steals) {
            (false, true) => ranges[self.thread].take_front(CLAIM_PARTS),
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

    /// Steals a group from the thread after this one that has any left.
    #[inline(never)]
    fn steal_group(&self) -> Option<u32> {
        if self.shared.barrier.all_others_wait() {
            // A thread that waits at the barrier has nothing left.
            return None;
        }
        let (before, from_own) = self.shared.ranges.split_at(self.thread);
        from_own[1..].iter().chain(before).find_map(|range| range.steal_back(self.windows))
    }
}

impl<D: Device> Worker<'_, D> {
    /// Prefetches the device of a group that will be run soon, and its mailboxes.
    #[inline]
    pub(super) fn prefetch_devices(&self, group: u32, window: u64) {
        let RunShared { mailboxes, reports, .. } = self.schedule.shared;
        let devices = self.devices.cells;
        if let Some(device) = self.schedule.single_device(group) {
            prefetch(&devices[device as usize], size_of::<PhaseCell<D>>().div_ceil(LINE));
            for sender in 0..reports.len() {
                prefetch(mailboxes.mailbox(Slot::of(window), sender, device), 1);
            }
        }
    }

    /// Prefetches what the device of a group touches first, and its first packets.
    #[inline]
    pub(super) fn prefetch_work(&self, group: u32, window: u64) {
        let RunShared { mailboxes, reports, .. } = self.schedule.shared;
        let devices = self.devices.cells;
        if let Some(device) = self.schedule.single_device(group) {
            // SAFETY: this thread has claimed the device's group, and no other reference to the
            // device is alive between two groups.
            let device_to_come = unsafe { devices[device as usize].get() };
            let mut arrivals = 0;
            for sender in 0..reports.len() {
                // SAFETY: this thread has claimed the device's group, and so its mailboxes of this
                // window's slot.
                let mailbox = unsafe { mailboxes.mailbox(Slot::of(window), sender, device).get() };
                arrivals += mailbox.len();
                let Some(last) = mailbox.len().checked_sub(1) else { continue };
                // As many as are handled before the device prefetches the next ones. Without a
                // branch on their number, which would be mispredicted: only whether there are few
                // is predictable.
                let prefetch =
                    |index: usize| self.packets.prefetch(mailbox[index.min(last)].handle());
                (0..FEW_PACKETS).for_each(prefetch);
                if last >= FEW_PACKETS {
                    (FEW_PACKETS..PREFETCH_DISTANCE + 2).for_each(prefetch);
                }
            }
            device_to_come.prefetch(arrivals);
        }
    }
}
