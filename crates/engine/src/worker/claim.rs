//! Which groups a worker takes, one after the other, and what it has fetched of those to come.

use super::{Shared, Worker};
use crate::arrival_key;
use crate::mailbox::{SLOTS, Turns};
use crate::prefetch::{LINE, prefetch};
use crate::window::{AHEAD, Device};

/// Each time a thread takes one of so many parts of the groups that it has left, where others may take
/// some.
const PARTS: u32 = 8;

/// More packets than most devices get in a window of 100 ns.
const FEW: usize = 4;

impl<D: Device> Worker<'_, D> {
    /// The next group to work: one of its own, else one that another thread has not come to.
    #[inline]
    pub(super) fn take_group(&mut self, alone: bool) -> Option<u32> {
        if self.taken.is_empty() {
            self.take_several(alone);
        }
        match self.taken.next() {
            Some(place) => Some(self.shared.shares[self.taken_from].group(place)),
            None if self.helps && !alone => self.take_from_others(),
            None => None,
        }
    }

    /// Takes several groups of its own, or who is alone all of somebody's.
    #[inline]
    fn take_several(&mut self, alone: bool) {
        let shares = self.shared.shares;
        self.taken_from = self.thread;
        self.taken = match (alone, self.helps) {
            (false, true) => shares[self.thread].take_first(PARTS),
            _ => shares[self.thread].take_first(1),
        };
        if alone && self.taken.is_empty() {
            for (thread, share) in shares.iter().enumerate() {
                let taken = share.take_first(1);
                if !taken.is_empty() {
                    (self.taken_from, self.taken) = (thread, taken);
                    return;
                }
            }
        }
    }

    #[inline(never)]
    fn take_from_others(&self) -> Option<u32> {
        if self.shared.barrier.is_last() {
            // Who waits at the barrier has left nothing.
            return None;
        }
        let (before, from_own) = self.shared.shares.split_at(self.thread);
        from_own[1..].iter().chain(before).find_map(|share| share.take_last(self.windows))
    }

    /// Has the processor fetch the devices of a group that will be worked soon, and their boxes.
    #[inline]
    pub(super) fn prefetch_devices(&self, group: u32, window: u64) {
        let Shared { devices, mail, reports, .. } = self.shared;
        if let Some(device) = self.lone(group) {
            prefetch(&devices[device as usize], size_of::<Turns<D>>().div_ceil(LINE));
            for from in 0..reports.len() {
                prefetch(mail.mailbox(window as usize % SLOTS, from, device), 1);
            }
        }
    }

    /// Has the processor fetch what the device of a group touches first, and its first packets.
    #[inline]
    pub(super) fn prefetch_work(&self, group: u32, window: u64) {
        let Shared { devices, mail, reports, .. } = self.shared;
        if let Some(device) = self.lone(group) {
            // SAFETY: a group's devices, and the boxes of this window's slot for them, belong to who
            // took it alone, and no other reference to them is alive between two groups.
            let device_to_come = unsafe { devices[device as usize].get() };
            let mut arrivals = 0;
            for from in 0..reports.len() {
                // SAFETY: the boxes of this window's slot for the device are its group's, which this
                // thread took.
                let mailbox = unsafe { mail.mailbox(window as usize % SLOTS, from, device).get() };
                arrivals += mailbox.len();
                let Some(last) = mailbox.len().checked_sub(1) else { continue };
                // As many as are looked at before the device has the next ones fetched. How many there are
                // can't be guessed, but for whether windows are short and have few.
                let prefetch = |place: usize| {
                    self.packets.prefetch(arrival_key::handle(mailbox[place.min(last)]))
                };
                (0..FEW).for_each(prefetch);
                if last >= FEW {
                    (FEW..AHEAD + 2).for_each(prefetch);
                }
            }
            device_to_come.prefetch(arrivals);
        }
    }
}
