//! The reference engine: one heap of all events of all devices, handled in order of time.
//!
//! It is slow and has nothing of what makes [`run`](crate::run()) fast: no windows, no mailboxes,
//! no threads, no prefetches. Each call of a device covers one instant. Its result must equal that
//! of `run`; tests compare the two.

use crate::arena::{Arena, Undelivered};
use crate::arrival_key::{Entry, Tail};
use crate::buckets::Bucketizer;
use crate::config::{Layout, Outcome, RunLimits};
use crate::device::{Device, reorder_arrivals};
use crate::mailbox::{MailSender, Mailboxes, Parity, SLOTS, Slot};
use crate::window::{GroupDelivery, RecordBudget, Window};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

const INSTANT: Time = Time::from_ps(1);

/// Runs `devices` on the reference engine until a limit is reached.
///
/// Returns the devices in their final state, and the packets that were still in the network. Of the
/// layout, only [`tie_break`](Layout::tie_break) and [`tags`](Layout::tags) matter.
pub fn run_reference<D: Device>(
    mut devices: Vec<D>,
    layout: &Layout,
    limits: RunLimits,
) -> (Vec<D>, Outcome, Undelivered<D::Packet>) {
    let arena = Arena::<D::Packet>::new().with_tags(layout.tags);
    let mut packets = arena.packets();
    let rotation = layout.tie_break.rotation();
    let stop = limits.stop.min(Time::from_ps(u64::MAX / 4)).round_up(Time::from_us(1));
    // No mailbox is ever used: all packets stay within the one group of all devices.
    let mailboxes = Mailboxes::new(0, 1);
    let owner = vec![0; devices.len()];
    let group_of = vec![0; devices.len()];
    let mut events = EventQueue::new(devices.len());
    let (mut finished, mut bucketizer) = (0, Bucketizer::new());
    let mut records = RecordBudget::NONE;
    let mut goal_end = limits.goal.filter(|&goal| goal == 0).map(|_| Time::ZERO);
    let mut entries = Vec::new();
    while let Some((now, device)) = events.next()
        && now < goal_end.unwrap_or(stop).min(stop)
    {
        events.take(now, device, &mut entries);
        let this = &mut devices[device as usize];
        reorder_arrivals(this, layout.tie_break, &packets, now, &mut entries);
        let mut delivery =
            GroupDelivery { group: 0, group_of: &group_of, until: Time::NEVER, sent: Vec::new() };
        let mut sender = MailSender {
            mailboxes: &mailboxes,
            owner: &owner,
            thread: 0,
            rotation,
            ends: [Time::NEVER; SLOTS],
            span_ps: 0,
            next_slots: [1, 2].map(Slot::of),
            rows: [&[], &[]],
            parity: Parity::of(0),
            posted: [false; SLOTS - 1],
            earliest_deferred: Time::NEVER,
            within: false,
        };
        let mut window = Window {
            packets: &mut packets,
            begin: now,
            until: now + INSTANT,
            arrivals: &entries,
            in_order: true,
            sender: &mut sender,
            group: Some(&mut delivery),
            bucketizer: &mut bucketizer,
            finished: &mut finished,
            records: &mut records,
        };
        let next = this.advance(&mut window);
        events.wake(device, next);
        for (to, arrival, tail) in delivery.sent {
            events.arrive(to, arrival, tail);
        }
        records.limit(records.entries, limits.max_records, now + INSTANT);
        if goal_end.is_none() && limits.goal.is_some_and(|goal| finished >= goal) {
            goal_end = Some((now + INSTANT).round_up(Time::from_us(1)));
        }
    }
    let end = goal_end.unwrap_or(stop).min(stop);
    let RecordBudget { recording_stopped_at, .. } = records;
    let free = vec![packets.into_free_slots()];
    let left = Undelivered::new(arena, free);
    (devices, Outcome { end, finished, cancelled: false, recording_stopped_at }, left)
}

/// All events to come, in order of time and device.
struct EventQueue {
    /// The time, the device, and the entry of a packet that arrives; without an entry, an event of
    /// the device's own.
    events: BinaryHeap<Reverse<(Time, u32, Option<Tail>)>>,
    /// By device: when it asked to be advanced next, and has not been yet.
    wake: Vec<Time>,
}

impl EventQueue {
    /// Each device is advanced at time 0.
    fn new(devices: usize) -> EventQueue {
        let first = |device| Reverse((Time::ZERO, device, None));
        EventQueue {
            events: (0..devices as u32).map(first).collect(),
            wake: vec![Time::ZERO; devices],
        }
    }

    /// Returns the time of the next event, and its device.
    fn next(&self) -> Option<(Time, u32)> {
        self.events.peek().map(|&Reverse((time, device, _))| (time, device))
    }

    /// Takes all events of a device at `now`. Afterwards `entries` has those that are arrivals, in
    /// order.
    fn take(&mut self, now: Time, device: u32, entries: &mut Vec<Entry>) {
        entries.clear();
        let wake = &mut self.wake[device as usize];
        while let Some(&Reverse((time, whose, what))) = self.events.peek()
            && (time, whose) == (now, device)
        {
            self.events.pop();
            match what {
                Some(tail) => entries.push(Entry::new(0, tail)),
                None if *wake == now => *wake = Time::NEVER,
                None => {}
            }
        }
        entries.sort_unstable();
    }

    /// Has a device advanced at `time`, unless it is to be advanced earlier anyway.
    fn wake(&mut self, device: u32, time: Time) {
        if time < self.wake[device as usize] {
            self.wake[device as usize] = time;
            self.events.push(Reverse((time, device, None)));
        }
    }

    /// Has a packet arrive at a device.
    fn arrive(&mut self, device: u32, time: Time, tail: Tail) {
        self.events.push(Reverse((time, device, Some(tail))));
    }
}
