//! Groups of several devices that short links join: how a thread advances them in lockstep.
//!
//! The device that is due first is advanced until another device of the group could send it a
//! packet. Then the next one is due. Such a step is at least as long as the group's shortest link.

use super::{Span, Worker};
use crate::arrival_key::Entry;
use crate::config::Layout;
use crate::device::{Device, reorder_arrivals};
use crate::mailbox::MailSender;
use crate::window::{GroupDelivery, Window};
use units::Time;

/// The arrivals of one device of a group within a window, as far as they are known.
#[derive(Default)]
pub(super) struct Inbox {
    /// Entries in order, followed by [`COMPARE_WIDTH`] times [`Entry::NONE`].
    arrivals: Vec<Entry>,
    /// Number of arrivals that the device has taken.
    taken: usize,
    /// When the device has something to do.
    pub(super) due: Time,
}

/// Number of arrivals that are compared side by side without a branch, because a branch on each
/// would be mispredicted.
const COMPARE_WIDTH: usize = 3;

/// Number of arrivals beyond which a place among them is found by halving. Racks of many fast
/// hosts have a thousand in a window.
const MAX_COMPARED: usize = 8 * COMPARE_WIDTH;

impl<'a, D: Device> Worker<'a, D> {
    /// Advances the devices of a group through the window, in lockstep. Returns the time of the
    /// group's next event.
    pub(super) fn advance_group(
        &mut self,
        group: u32,
        devices: &[u32],
        span: Span,
        sender: &mut MailSender<'a>,
    ) -> Time {
        let shared = self.schedule.shared;
        for (inbox, &device) in self.inbox.iter_mut().zip(devices) {
            // SAFETY: this thread has claimed the group.
            let arrivals =
                unsafe { shared.mailboxes.arrived(span.window, device, &mut self.arrivals) };
            self.bucketizer.sorter.sort(arrivals);
            inbox.fill(arrivals);
            inbox.due = inbox.next(span.begin).min(shared.device_wake(device)).max(span.begin);
        }
        self.advance_lockstep(group, devices, None, span, sender);
        devices.iter().map(|&device| shared.device_wake(device)).min().unwrap_or(Time::NEVER)
    }

    /// Repeats until the end of the window: advances the device that is due first until another
    /// device could send it a packet.
    ///
    /// The device that is due second could, over the group's shortest link; and a device that the
    /// first one sends to could answer. The inboxes must be filled. A `hub` handles only what goes
    /// to coupled devices ([`Device::advance_coupled`]).
    pub(super) fn advance_lockstep(
        &mut self,
        group: u32,
        devices: &[u32],
        hub: Option<u32>,
        span: Span,
        sender: &mut MailSender<'a>,
    ) {
        let shared = self.schedule.shared;
        let Span { begin, until, .. } = span;
        let shortest = shared.layout.groups[group as usize].internal_lookahead;
        let mut delivery =
            GroupDelivery { group, group_of: shared.group_of, until, sent: Vec::new() };
        std::mem::swap(&mut delivery.sent, &mut self.sent);
        let inboxes = &mut self.inbox[..devices.len()];
        loop {
            let (index, due, second) = first_due(inboxes);
            if due >= until {
                break;
            }
            let (inbox, device) = (&mut inboxes[index], devices[index]);
            let answered = due.saturating_add(shortest).saturating_add(shortest);
            let end = second.saturating_add(shortest).min(answered).min(until);
            let arrivals = inbox.take_before(Entry::first_at((end - begin).ps()));
            self.schedule.delivered += arrivals.len() as u64;
            // SAFETY: this thread has claimed the group, and uses one device at a time.
            let this = unsafe { self.devices.cells[device as usize].get() };
            reorder_arrivals(this, shared.layout.tie_break, &self.packets, begin, arrivals);
            let mut view = Window {
                packets: &mut self.packets,
                begin,
                until: end,
                arrivals,
                in_order: true,
                sender: &mut *sender,
                group: Some(&mut delivery),
                bucketizer: &mut self.bucketizer,
                finished: &mut self.schedule.finished,
                records: &mut self.schedule.records,
            };
            let wake = if hub == Some(device) {
                this.advance_coupled(&mut view)
            } else {
                this.advance(&mut view)
            };
            shared.set_device_wake(device, wake);
            inbox.due = inbox.next(begin).min(wake);
            for (device, arrival, tail) in delivery.sent.drain(..) {
                let inbox = &mut inboxes[self.index_in_group[device as usize] as usize];
                inbox.put(Entry::new((arrival - begin).ps(), tail));
                inbox.due = inbox.due.min(arrival);
            }
        }
        std::mem::swap(&mut delivery.sent, &mut self.sent);
    }
}

impl Inbox {
    /// Makes inboxes for the devices of a group.
    pub(super) fn several(count: usize) -> Vec<Inbox> {
        (0..count).map(|_| Inbox::default()).collect()
    }

    /// Takes all arrivals of a list that is in order, and leaves the list empty.
    pub(super) fn fill(&mut self, arrivals: &mut Vec<Entry>) {
        self.arrivals.clear();
        std::mem::swap(&mut self.arrivals, arrivals);
        self.arrivals.extend([Entry::NONE; COMPARE_WIDTH]);
        self.taken = 0;
    }

    /// Returns when the next packet arrives, or [`Time::NEVER`].
    #[inline]
    pub(super) fn next(&self, begin: Time) -> Time {
        match self.arrivals[self.taken] {
            Entry::NONE => Time::NEVER,
            entry => entry.time(begin),
        }
    }

    /// Counts the arrivals before `entry` that are not taken.
    #[inline]
    fn count_before(&self, entry: Entry) -> usize {
        let left = &self.arrivals[self.taken..];
        let mut count = 0;
        while count < MAX_COMPARED {
            let beside = &left[count..][..COMPARE_WIDTH];
            let more = beside.iter().map(|&other| usize::from(other < entry)).sum::<usize>();
            count += more;
            if more < COMPARE_WIDTH {
                return count;
            }
        }
        count + left[count..].partition_point(|&other| other < entry)
    }

    /// Adds a packet from a device of the group.
    #[inline]
    fn put(&mut self, entry: Entry) {
        self.arrivals.insert(self.taken + self.count_before(entry), entry);
    }

    /// Takes the arrivals before `end`.
    #[inline]
    fn take_before(&mut self, end: Entry) -> &mut [Entry] {
        let count = self.count_before(end);
        let first = self.taken;
        self.taken += count;
        &mut self.arrivals[first..first + count]
    }
}

/// Returns the index of the inbox that is due first, when it is due, and when the second one is.
#[inline]
fn first_due(inboxes: &[Inbox]) -> (usize, Time, Time) {
    let (mut first, mut due, mut second) = (0, Time::NEVER, Time::NEVER);
    for (index, inbox) in inboxes.iter().enumerate() {
        // Selected without a branch, which would be mispredicted.
        first = std::hint::select_unpredictable(inbox.due < due, index, first);
        second = second.min(due.max(inbox.due));
        due = due.min(inbox.due);
    }
    (first, due, second)
}

/// Returns the index of each device in its group.
pub(super) fn indices_in_groups(layout: &Layout, devices: usize) -> Vec<u32> {
    let mut indices = vec![0; devices];
    for group in &layout.groups {
        for (index, &device) in group.devices.iter().enumerate() {
            indices[device as usize] = index as u32;
        }
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(entries: &[Entry]) -> Vec<u64> {
        entries.iter().map(|entry| entry.offset_ps()).collect()
    }

    #[test]
    fn arrivals_have_their_place_among_few_and_among_many() {
        for count in [1, 2, 3, MAX_COMPARED - 1, MAX_COMPARED, MAX_COMPARED + 1, 1_000] {
            let count = count as u64;
            let mut inbox = Inbox::default();
            inbox.fill(&mut Vec::new());
            // Even offsets, each once, in an order in which neighbours are far apart.
            for index in 0..count {
                inbox.put(Entry::first_at(2 * (index * 617 % count)));
            }
            let taken = offsets(inbox.take_before(Entry::first_at(count)));
            assert_eq!(taken, (0..count).step_by(2).collect::<Vec<_>>());
            // Odd ones among those that are left.
            for offset in (count..2 * count).rev().filter(|offset| offset % 2 == 1) {
                inbox.put(Entry::first_at(offset));
            }
            let left = offsets(inbox.take_before(Entry::NONE));
            assert_eq!(left, (count..2 * count).collect::<Vec<_>>());
            assert_eq!(inbox.next(Time::ZERO), Time::NEVER);
        }
    }
}
