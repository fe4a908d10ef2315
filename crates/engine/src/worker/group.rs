//! Groups of several devices, which short links join: how a thread works them one after the other.

use super::Worker;
use crate::arrival_key;
use crate::mailbox::MailSender;
use crate::run::Layout;
use crate::window::{Device, GroupDelivery, Window, reorder_arrivals};
use units::Time;

/// The arrivals of a group's device within a window, as they become known.
#[derive(Default)]
pub(super) struct Inbox {
    /// In order, and then as many [`NO_ENTRY`] as are looked at side by side.
    arrivals: Vec<u64>,
    taken: usize,
    /// When the device has something to do.
    pub(super) due: Time,
}

/// Later than any arrival.
const NO_ENTRY: u64 = u64::MAX;

/// So many arrivals are looked at side by side: how many of them come before something can't be guessed.
const COMPARE_WIDTH: usize = 3;

impl<'a, D: Device> Worker<'a, D> {
    /// Works the devices of a group; tells when any wants to be worked next.
    pub(super) fn advance_group(
        &mut self,
        group: u32,
        devices: &[u32],
        window: u64,
        from: Time,
        sender: &mut MailSender<'a>,
    ) -> Time {
        let shared = self.shared;
        for (inbox, &device) in self.inbox.iter_mut().zip(devices) {
            let arrivals = shared.mailboxes.arrived(window, device, &mut self.arrivals);
            self.bucketizer.sorter.sort(arrivals);
            inbox.fill(arrivals);
            inbox.due = inbox.next(from).min(shared.device_wake(device)).max(from);
        }
        self.advance_lockstep(group, devices, None, from, sender);
        devices.iter().map(|&device| shared.device_wake(device)).min().unwrap_or(Time::NEVER)
    }

    /// The device of a group that is due first is worked until another could send it something: the
    /// next one in order may, over their shortest link, or one of those that it sends to may answer. Their
    /// inboxes have been filled. A `hub` does what it does between what goes inward and outward.
    pub(super) fn advance_lockstep(
        &mut self,
        group: u32,
        devices: &[u32],
        hub: Option<u32>,
        from: Time,
        sender: &mut MailSender<'a>,
    ) {
        let shared = self.shared;
        let until = sender.ends[0];
        let shortest = shared.layout.internal_lookahead[group as usize];
        let mut delivery =
            GroupDelivery { number: group, group_of: shared.group_of, until, sent: Vec::new() };
        std::mem::swap(&mut delivery.sent, &mut self.sent);
        let inboxes = &mut self.inbox[..devices.len()];
        loop {
            let (place, due, second) = first_due(inboxes);
            if due >= until {
                break;
            }
            let (inbox, device) = (&mut inboxes[place], devices[place]);
            let answered = due.saturating_add(shortest).saturating_add(shortest);
            let end = second.saturating_add(shortest).min(answered).min(until);
            let arrivals = inbox.take_before(arrival_key::entry((end - from).ps(), 0));
            self.delivered += arrivals.len() as u64;
            // SAFETY: a group is worked by who took it, one device at a time.
            let this = unsafe { shared.devices[device as usize].get() };
            reorder_arrivals(this, shared.layout.tie_break, &self.packets, from, arrivals);
            let mut view = Window {
                packets: &mut self.packets,
                base: from,
                until: end,
                arrivals,
                sender: &mut *sender,
                group: Some(&mut delivery),
                bucketizer: &mut self.bucketizer,
                finished: &mut self.finished,
                records: &mut self.records,
            };
            let wake = if hub == Some(device) {
                this.advance_coupled(&mut view)
            } else {
                this.advance(&mut view)
            };
            shared.set_device_wake(device, wake);
            inbox.due = inbox.next(from).min(wake);
            for (device, arrival, tail) in delivery.sent.drain(..) {
                let inbox = &mut inboxes[self.place[device as usize] as usize];
                inbox.put(arrival_key::entry((arrival - from).ps(), tail));
                inbox.due = inbox.due.min(arrival);
            }
        }
        std::mem::swap(&mut delivery.sent, &mut self.sent);
    }
}

impl Inbox {
    /// Takes over all that arrives, in order.
    pub(super) fn fill(&mut self, arrivals: &mut Vec<u64>) {
        self.arrivals.clear();
        std::mem::swap(&mut self.arrivals, arrivals);
        self.arrivals.extend([NO_ENTRY; COMPARE_WIDTH]);
        self.taken = 0;
    }

    /// When the next packet arrives.
    #[inline]
    pub(super) fn next(&self, from: Time) -> Time {
        match self.arrivals[self.taken] {
            NO_ENTRY => Time::NEVER,
            entry => arrival_key::time(entry, from),
        }
    }

    /// How many of those that were not taken come before `entry`.
    #[inline]
    fn before(&self, entry: u64) -> usize {
        let mut count = 0;
        loop {
            let beside = &self.arrivals[self.taken + count..][..COMPARE_WIDTH];
            let more = beside.iter().map(|&other| usize::from(other < entry)).sum::<usize>();
            count += more;
            if more < COMPARE_WIDTH {
                return count;
            }
        }
    }

    /// A packet comes from within the group.
    #[inline]
    fn put(&mut self, entry: u64) {
        self.arrivals.insert(self.taken + self.before(entry), entry);
    }

    /// Takes the arrivals before the time of `end`.
    #[inline]
    fn take_before(&mut self, end: u64) -> &mut [u64] {
        let count = self.before(end);
        let from = self.taken;
        self.taken += count;
        &mut self.arrivals[from..from + count]
    }
}

/// The place of the inbox that is due first, when, and when the next one is.
#[inline]
fn first_due(inboxes: &[Inbox]) -> (usize, Time, Time) {
    let (mut first, mut due, mut second) = (0, Time::NEVER, Time::NEVER);
    for (place, inbox) in inboxes.iter().enumerate() {
        // Who is first can't be guessed.
        first = std::hint::select_unpredictable(inbox.due < due, place, first);
        second = second.min(due.max(inbox.due));
        due = due.min(inbox.due);
    }
    (first, due, second)
}

/// The place of each device in its group.
pub(super) fn places(layout: &Layout, devices: usize) -> Vec<u32> {
    let mut places = vec![0; devices];
    for group in &layout.groups {
        for (place, &device) in group.iter().enumerate() {
            places[device as usize] = place as u32;
        }
    }
    places
}
