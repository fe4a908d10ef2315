//! The same simulation by the book: one heap of all events of all devices, taken in order of time.
//!
//! It is slow and has nothing of what makes [`run`](crate::run()) fast: no windows, no mailboxes, no
//! threads, no look ahead. A device is asked to work an instant at a time. What comes out must be
//! the same; tests compare the two.

use crate::arena::{Arena, Undelivered};
use crate::arrival_key;
use crate::buckets::Dealer;
use crate::mailbox::{Mail, Post, SLOTS};
use crate::run::{Layout, Outcome, RunLimits};
use crate::window::{Device, Inside, Records, Window, reorder_arrivals};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

const INSTANT: Time = Time::from_ps(1);

/// Runs `devices` until the limits and gives them back as they then are, with the packets that have not
/// reached their end. Of the layout, only the rule for ties counts.
pub fn run_reference<D: Device>(
    mut devices: Vec<D>,
    layout: &Layout,
    limits: RunLimits,
) -> (Vec<D>, Outcome, Undelivered<D::Packet>) {
    let arena = Arena::<D::Packet>::new();
    let mut packets = arena.packets();
    let mix = layout.tie_break.mix();
    let stop = limits.stop.min(Time::from_ps(u64::MAX / 4)).round_up(Time::from_us(1));
    // No box is ever used: all is sent within the one group of all devices.
    let mail = Mail::new(0, 1);
    let owner = vec![0; devices.len()];
    let group_of = vec![0; devices.len()];
    // (time, device, entry): an arrival, or a wish to be woken.
    let mut events: BinaryHeap<Reverse<(Time, u32, Option<u64>)>> =
        (0..devices.len() as u32).map(|device| Reverse((Time::ZERO, device, None))).collect();
    let mut wake = vec![Time::ZERO; devices.len()];
    let (mut finished, mut dealer) = (0, Dealer::new());
    let mut records = Records::NONE;
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
        let mut inside =
            Inside { number: 0, group_of: &group_of, until: Time::NEVER, sent: Vec::new() };
        let mut post = Post {
            mail: &mail,
            owner: &owner,
            thread: 0,
            mix,
            ends: [Time::NEVER; SLOTS],
            reach: 0,
            next_slots: [1, 2],
            rows: [&[], &[]],
            parity: 0,
            posted: [false; SLOTS - 1],
            earliest_far: Time::NEVER,
            within: false,
        };
        let mut window = Window {
            packets: &mut packets,
            base: now,
            until: now + INSTANT,
            arrivals: &entries,
            post: &mut post,
            group: Some(&mut inside),
            dealer: &mut dealer,
            finished: &mut finished,
            records: &mut records,
        };
        let next = this.advance(&mut window);
        if next < wake[device as usize] {
            wake[device as usize] = next;
            events.push(Reverse((next, device, None)));
        }
        for (to, arrival, tail) in inside.sent {
            events.push(Reverse((arrival, to, Some(tail))));
        }
        records.limit(records.entries, limits.max_records, now + INSTANT);
        if goal_end.is_none() && limits.goal.is_some_and(|goal| finished >= goal) {
            goal_end = Some((now + INSTANT).round_up(Time::from_us(1)));
        }
    }
    let end = goal_end.unwrap_or(stop).min(stop);
    let Records { recording_stopped_at, .. } = records;
    let free = vec![packets.into_free()];
    let left = Undelivered::new(arena, free);
    (devices, Outcome { end, finished, cancelled: false, recording_stopped_at }, left)
}
