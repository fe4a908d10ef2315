//! The reference engine: one heap of all events of all devices, handled in order of time.
//!
//! It is slow and has nothing of what makes [`run`](crate::run()) fast: no windows, no mailboxes,
//! no threads, no prefetches. Each call of a device covers one instant. Its result must equal that
//! of `run`; tests compare the two.

use crate::arena::{Arena, Undelivered};
use crate::arrival_key;
use crate::buckets::Bucketizer;
use crate::config::{Layout, Outcome, RunLimits};
use crate::device::{Device, reorder_arrivals};
use crate::mailbox::{MailSender, Mailboxes, SLOTS};
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
    // (time, device, entry): an arrival, or without an entry an event of the device's own.
    let mut events: BinaryHeap<Reverse<(Time, u32, Option<u64>)>> =
        (0..devices.len() as u32).map(|device| Reverse((Time::ZERO, device, None))).collect();
    let mut wake = vec![Time::ZERO; devices.len()];
    let (mut finished, mut bucketizer) = (0, Bucketizer::new());
    let mut records = RecordBudget::NONE;
    let mut goal_end = None;
    if limits.goal == Some(0) {
        goal_end = Some(Time::ZERO);
    }
    let mut entries = Vec::new();
    while let Some(&Reverse((now, device, _))) = events.peek()
        && now < goal_end.unwrap_or(stop).min(stop)
    {
        entries.clear();
        while let Some(&Reverse((time, whose, what))) = events.peek()
            && (time, whose) == (now, device)
        {
            events.pop();
            match what {
                Some(tail) => entries.push(arrival_key::entry(0, tail)),
                None if wake[device as usize] == now => wake[device as usize] = Time::NEVER,
                None => {}
            }
        }
        entries.sort_unstable();
        let this = &mut devices[device as usize];
        reorder_arrivals(this, layout.tie_break, &packets, now, &mut entries);
        let mut delivery =
            GroupDelivery { number: 0, group_of: &group_of, until: Time::NEVER, sent: Vec::new() };
        let mut sender = MailSender {
            mailboxes: &mailboxes,
            owner: &owner,
            thread: 0,
            rotation,
            ends: [Time::NEVER; SLOTS],
            span_ps: 0,
            next_slots: [1, 2],
            rows: [&[], &[]],
            parity: 0,
            posted: [false; SLOTS - 1],
            earliest_deferred: Time::NEVER,
            within: false,
        };
        let mut window = Window {
            packets: &mut packets,
            base: now,
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
        if next < wake[device as usize] {
            wake[device as usize] = next;
            events.push(Reverse((next, device, None)));
        }
        for (to, arrival, tail) in delivery.sent {
            events.push(Reverse((arrival, to, Some(tail))));
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
