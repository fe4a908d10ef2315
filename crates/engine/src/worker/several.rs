//! Groups of several devices, which short links join: how a thread works them one after the other.

use super::{Worker, mailed};
use crate::key;
use crate::mailbox::Post;
use crate::run::Layout;
use crate::window::{Arrivals, Device, Inside, Window};
use std::sync::atomic::Ordering;
use units::Time;

/// The arrivals of a group's device within a window, as they become known.
#[derive(Default)]
pub(super) struct Inbox {
    mailed: Vec<u64>,
    taken: usize,
    /// From within the group, the next one last.
    inside: Vec<u64>,
    /// When the device has something to do.
    due: Time,
}

impl<'a, D: Device> Worker<'a, D> {
    /// The device of a group that is due first is worked until another could send it something: the
    /// next one in order may, over their shortest link, or one of those that it sends to may answer.
    pub(super) fn work_several(
        &mut self,
        group: u32,
        devices: &[u32],
        window: u64,
        from: Time,
        post: &mut Post<'a>,
    ) -> Time {
        let shared = self.shared;
        let until = post.ends[0];
        let shortest = shared.layout.inside[group as usize];
        let mut inside =
            Inside { number: group, group_of: shared.group_of, until, sent: Vec::new() };
        std::mem::swap(&mut inside.sent, &mut self.sent);
        let inboxes = &mut self.inbox[..devices.len()];
        for (inbox, &device) in inboxes.iter_mut().zip(devices) {
            let threads = shared.reports.len();
            let arrivals = mailed(shared.mail, threads, window, device, &mut self.arrivals);
            self.dealer.sorter.sort(arrivals);
            inbox.mailed.clear();
            std::mem::swap(&mut inbox.mailed, arrivals);
            inbox.taken = 0;
            debug_assert!(inbox.inside.is_empty());
            inbox.due = inbox.next(from).min(shared.device_wake(device)).max(from);
        }
        loop {
            let (place, due, second) = first_due(inboxes);
            if due >= until {
                break;
            }
            let (inbox, device) = (&mut inboxes[place], devices[place]);
            let answered = due.saturating_add(shortest).saturating_add(shortest);
            let end = second.saturating_add(shortest).min(answered).min(until);
            self.arrivals.clear();
            inbox.take_before(end, from, &mut self.arrivals);
            self.delivered += self.arrivals.len() as u64;
            // SAFETY: a group is worked by who took it, one device at a time.
            let this = unsafe { shared.devices[device as usize].get() };
            this.arrange(&mut Arrivals {
                packets: &self.packets,
                base: from,
                mix: post.mix,
                entries: &mut self.arrivals,
            });
            let mut view = Window {
                packets: &mut self.packets,
                base: from,
                until: end,
                arrivals: &self.arrivals,
                post: &mut *post,
                group: Some(&mut inside),
                dealer: &mut self.dealer,
                finished: &mut self.finished,
            };
            let wake = this.advance(&mut view);
            shared.device_wake[device as usize].store(wake.ps(), Ordering::Relaxed);
            inbox.due = inbox.next(from).min(wake);
            for (device, arrival, tail) in inside.sent.drain(..) {
                let inbox = &mut inboxes[self.place[device as usize] as usize];
                inbox.put(key::entry((arrival - from).ps(), tail));
                inbox.due = inbox.due.min(arrival);
            }
        }
        std::mem::swap(&mut inside.sent, &mut self.sent);
        devices.iter().map(|&device| shared.device_wake(device)).min().unwrap_or(Time::NEVER)
    }
}

impl Inbox {
    /// When the next packet arrives.
    #[inline]
    fn next(&self, from: Time) -> Time {
        let time = |entry: Option<&u64>| entry.map_or(Time::NEVER, |&entry| key::time(entry, from));
        time(self.mailed.get(self.taken)).min(time(self.inside.last()))
    }

    /// A packet comes from within the group.
    #[inline]
    fn put(&mut self, entry: u64) {
        let earlier = self.inside.iter().rev().take_while(|&&other| other < entry).count();
        self.inside.insert(self.inside.len() - earlier, entry);
    }

    /// Moves the arrivals before `end` to `arrivals`, in order.
    #[inline]
    fn take_before(&mut self, end: Time, from: Time, arrivals: &mut Vec<u64>) {
        let is_due = |entry: &u64| key::time(*entry, from) < end;
        let rest = &self.mailed[self.taken..];
        let mailed = &rest[..rest.iter().take_while(|entry| is_due(entry)).count()];
        self.taken += mailed.len();
        let mut mailed = mailed.iter().copied().peekable();
        while let Some(&inside) = self.inside.last().filter(|entry| is_due(entry)) {
            while let Some(before) = mailed.next_if(|&entry| entry < inside) {
                arrivals.push(before);
            }
            arrivals.push(inside);
            self.inside.pop();
        }
        arrivals.extend(mailed);
    }
}

/// The place of the inbox that is due first, when, and when the next one is.
#[inline]
fn first_due(inboxes: &[Inbox]) -> (usize, Time, Time) {
    let (mut first, mut due, mut second) = (0, Time::NEVER, Time::NEVER);
    for (place, inbox) in inboxes.iter().enumerate() {
        if inbox.due < due {
            (first, due, second) = (place, inbox.due, due);
        } else {
            second = second.min(inbox.due);
        }
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
