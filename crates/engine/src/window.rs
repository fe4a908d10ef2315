//! A window: the span of time that a device handles in one call, and what it can do in it.
//!
//! # The timeline of a window
//!
//! ```text
//!                 begin           until
//!                  │   window w     │   window w+1   │   window w+2   │   later
//!  ────────────────┼────────────────┼────────────────┼────────────────┼──────────> simulated time
//!  arrivals of w       x  xx    x        y
//!                      │        │        ^
//!                      │        └────────┘ send: at the earliest one link delay later, and no
//!                      │                   link between groups is shorter than a window
//!                      ├──────────────────> mailbox slot w+1
//!                      ├───────────────────────────────────> mailbox slot w+2
//!                      └────────────────────────────────────────────────────> calendar
//!
//!  thread 0  begin_window   claim groups, advance their devices   steal   barrier   finish_window
//!  thread 1  begin_window   claim groups, advance their devices           barrier   finish_window
//!  ─────────────────────────────────────────────────────────────────────────────> real time
//! ```
//!
//! 1. `begin_window`: each thread finds the groups of its own that are due in window `w`. Packets
//!    from its calendar that are due in `w` go to their mailboxes.
//! 2. Threads claim groups. Who has claimed a group empties the mailboxes of its devices in slot
//!    `w`, sorts the arrivals and calls the devices ([`Device`](crate::Device) says in which
//!    order).
//! 3. A device takes its arrivals, inserts packets, and sends packets. A packet that arrives in
//!    window `w+1` or `w+2` goes to a mailbox of that slot; one that arrives later is deferred to
//!    the calendar of the receiver's thread. Within a group a packet may also arrive in window `w`.
//! 4. All threads meet at the barrier. What they wrote is visible to all threads from then on.
//! 5. `finish_window`: each thread reads what all reported, and so finds the next window: the first
//!    one in which anything happens. All threads find the same.

use crate::arena::{Fifo, Handle, Packets};
use crate::arrival_key::{Entry, PortRotation, Tail};
use crate::buckets::{Bucketizer, Buckets};
use crate::link::{Link, Rank};
use crate::mailbox::{LinkLane, MailSender};
use std::hint::select_unpredictable;
use units::Time;

/// How many arrivals ahead packets are prefetched.
pub(crate) const PREFETCH_DISTANCE: usize = 6;

/// The arrivals of a window, in order, for [`Device::reorder_arrivals`](crate::Device). Those of
/// one instant are in the order of their ports, as [`TieBreak::DeviceOrder`] has them.
///
/// [`TieBreak::DeviceOrder`]: crate::TieBreak::DeviceOrder
pub struct Arrivals<'w, 'run, P: Copy + Send> {
    pub(crate) packets: &'w Packets<'run, P>,
    pub(crate) begin: Time,
    pub(crate) entries: &'w mut [Entry],
}

impl<P: Copy + Send> Arrivals<'_, '_, P> {
    /// Returns the number of arrivals.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Returns whether there are no arrivals.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// Returns the time, the port and the packet of an arrival.
    #[inline]
    pub fn get(&self, index: usize) -> (Time, u16, &P) {
        let entry = self.entries[index];
        let time = entry.time(self.begin);
        // SAFETY: `entries` are the mailbox of the device that puts them in order.
        (time, entry.port(PortRotation::NONE, time), unsafe { self.packets.peek(entry.handle()) })
    }
    /// Returns the index after the last arrival of the same instant as that of index `first`.
    #[inline]
    pub fn end_of_instant(&self, first: usize) -> usize {
        let (entry, mut end) = (self.entries[first], first + 1);
        while self.entries.get(end).is_some_and(|other| !other.is_later(entry)) {
            end += 1;
        }
        end
    }
    /// Calls `pass` with the index and the port of each arrival from `first` on that is alone at
    /// its instant, until one that is not. Returns that one's index, or the number of arrivals.
    #[inline]
    pub fn pass_single(&self, first: usize, mut pass: impl FnMut(usize, u16)) -> usize {
        let mut entries = self.entries[first..].iter().peekable();
        let mut index = first;
        while let Some(entry) = entries.next() {
            if entries.peek().is_some_and(|next| !next.is_later(*entry)) {
                break;
            }
            pass(index, entry.port(PortRotation::NONE, Time::ZERO));
            index += 1;
        }
        index
    }
    /// Swaps two arrivals. They must arrive at the same instant.
    pub fn swap(&mut self, a: usize, b: usize) {
        debug_assert_eq!(
            self.entries[a].time(self.begin),
            self.entries[b].time(self.begin),
            "only arrivals of the same instant may be swapped"
        );
        self.entries.swap(a, b);
    }
}

/// Where an arrival stands among the others of its window. Its parts are decoded on request.
#[derive(Clone, Copy)]
pub struct ArrivalTag {
    time: Time,
    entry: Entry,
}

impl ArrivalTag {
    /// Returns the port at which the packet arrived.
    #[inline(always)]
    pub fn port<P: Copy + Send>(self, window: &Window<'_, '_, P>) -> u16 {
        self.entry.port(window.sender.rotation, self.time)
    }
    /// Returns whether the packet of `next` arrives later, not at the same instant.
    #[inline(always)]
    pub fn is_strictly_before(self, next: Entry) -> bool {
        next.is_later(self.entry)
    }
    /// Returns whether none of the remaining arrivals is at the same instant.
    #[inline(always)]
    pub fn is_last_of_instant<P: Copy + Send>(self, window: &Window<'_, '_, P>) -> bool {
        // Selected without a branch: whether another arrival remains would be mispredicted.
        let upcoming = window.arrivals;
        let none = &[Entry::NONE][..];
        self.is_strictly_before(select_unpredictable(upcoming.is_empty(), none, upcoming)[0])
    }
}

/// A span of time as one device sees it: what arrives, and where to send.
///
/// The [module](crate::window) has a drawing of its timeline.
pub struct Window<'w, 'run, P: Copy + Send> {
    /// The packets of the run, by handle.
    pub packets: &'w mut Packets<'run, P>,
    pub(crate) begin: Time,
    pub(crate) until: Time,
    /// Entries of the arrivals that remain to be taken.
    pub(crate) arrivals: &'w [Entry],
    /// Whether `arrivals` are in the order of handling.
    pub(crate) in_order: bool,
    pub(crate) sender: &'w mut MailSender<'run>,
    /// Deliveries within the device's group, if the group is advanced step by step.
    pub(crate) group: Option<&'w mut GroupDelivery<'run>>,
    pub(crate) bucketizer: &'w mut Bucketizer,
    pub(crate) finished: &'w mut u64,
    pub(crate) records: &'w mut RecordBudget,
}

/// How much devices have recorded, and when recording stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordBudget {
    /// Entries recorded by this thread's devices.
    pub(crate) entries: u64,
    /// Bytes of memory that records take since they were last collected.
    pub(crate) held: u64,
    /// From this time on nothing may be recorded.
    pub(crate) recording_stopped_at: Time,
}

impl RecordBudget {
    pub(crate) const NONE: RecordBudget =
        RecordBudget { entries: 0, held: 0, recording_stopped_at: Time::NEVER };

    /// Stops recording if all threads together recorded `max_records` entries before `end`.
    pub(crate) fn limit(&mut self, entries: u64, max_records: u64, end: Time) {
        if entries >= max_records {
            let stop = end.round_up(Time::from_us(1));
            self.recording_stopped_at = self.recording_stopped_at.min(stop);
        }
    }
}

/// Packets between devices of a group that is advanced step by step.
pub(crate) struct GroupDelivery<'run> {
    /// The index of the group.
    pub(crate) group: u32,
    pub(crate) group_of: &'run [u32],
    /// End of the engine's window. A packet that arrives later goes by mail.
    pub(crate) until: Time,
    /// Packets that arrive within the window: device, time, and entry without the time.
    pub(crate) sent: Vec<(u32, Time, Tail)>,
}

impl<'run, P: Copy + Send> Window<'_, 'run, P> {
    /// Returns the beginning of the window.
    #[inline]
    pub fn begin(&self) -> Time {
        self.begin
    }

    /// Returns the end of the window. Events at this time or later must wait.
    #[inline]
    pub fn until(&self) -> Time {
        self.until
    }

    /// Returns whether anything arrives exactly at the beginning of the window. The arrivals may be
    /// unsorted.
    pub fn begins_with_arrival(&self) -> bool {
        self.arrivals.iter().any(|&entry| entry.time(self.begin) == self.begin)
    }

    /// Returns the number of arrivals that remain to be taken.
    #[inline]
    pub fn remaining_arrivals(&self) -> usize {
        self.arrivals.len()
    }

    /// Returns the time of the next arrival, or [`Time::NEVER`].
    #[inline]
    pub fn next_arrival_time(&self) -> Time {
        match self.arrivals.first() {
            Some(&entry) => entry.time(self.begin),
            None => Time::NEVER,
        }
    }

    /// Takes the next arrival. Returns its time, port and packet.
    #[inline]
    pub fn next_arrival(&mut self) -> Option<(Time, u16, Handle)> {
        let (time, tag, handle) = self.take_next()?;
        Some((time, tag.port(self), handle))
    }

    /// Takes the next arrival. Returns its time, tag and packet. It prefetches as
    /// [`next_arrival`](Window::next_arrival) does.
    #[inline(always)]
    pub fn take_next(&mut self) -> Option<(Time, ArrivalTag, Handle)> {
        if let Some(&ahead) = self.arrivals.get(PREFETCH_DISTANCE + 1) {
            self.packets.prefetch(ahead.handle());
        }
        self.take_before(Time::NEVER)
    }

    /// Takes the next arrival if it is not later than `limit`. Returns its time, port and packet.
    #[inline]
    pub fn next_arrival_by(&mut self, limit: Time) -> Option<(Time, u16, Handle)> {
        if self.next_arrival_time() > limit { None } else { self.next_arrival() }
    }

    /// Takes the next arrival if it is earlier than `limit`. Returns its time, tag and packet. It
    /// prefetches nothing, unlike [`next_arrival`](Window::next_arrival).
    #[inline(always)]
    pub fn take_before(&mut self, limit: Time) -> Option<(Time, ArrivalTag, Handle)> {
        let (&entry, rest) = self.arrivals.split_first()?;
        let time = entry.time(self.begin);
        if time >= limit {
            return None;
        }
        self.arrivals = rest;
        // SAFETY: the mailbox owned the packet for this device. It passes the ownership on here.
        let handle = unsafe { Handle::from_raw(entry.handle()) };
        Some((time, ArrivalTag { time, entry }, handle))
    }

    /// Returns the packet that arrives `places` after the next one, for a device that prefetches
    /// what it will need. `places` must be small: packets themselves are prefetched a few places
    /// ahead.
    #[inline]
    pub fn peek_ahead(&self, places: usize) -> Option<&P> {
        // SAFETY: `arrivals` are in the mailbox of this device.
        let peek = |entry: &Entry| unsafe { self.packets.peek(entry.handle()) };
        self.arrivals.get(places).map(peek)
    }

    /// Returns up to `count` packets that arrive next, and prefetches as many after them. The
    /// device takes them by [`take_before`](Window::take_before).
    #[inline(always)]
    pub fn upcoming(&self, count: usize) -> impl Iterator<Item = &P> {
        let (now, later) = self.arrivals.split_at(count.min(self.arrivals.len()));
        for &entry in &later[..count.min(later.len())] {
            self.packets.prefetch(entry.handle());
        }
        // SAFETY: `arrivals` are in the mailbox of this device.
        now.iter().map(|&entry| unsafe { self.packets.peek(entry.handle()) })
    }

    /// Puts the arrivals of the window into `buckets` buckets, each of them in order. `bucket_of`
    /// says to which bucket a packet belongs. It sees the packets in order only if the device asked
    /// for that ([`Bucketing::InOrder`](crate::Bucketing::InOrder)).
    ///
    /// Returns `None` if a packet belongs to none of them. A device that
    /// [takes](Window::take_bucketed) one arrival must take all, each once. The list itself goes
    /// back by [`recycle`](Window::recycle).
    #[inline(always)]
    pub fn bucket(&mut self, buckets: usize, bucket_of: impl FnMut(&P) -> u16) -> Option<Buckets> {
        let arrivals = (self.arrivals, self.in_order);
        let complete = self.bucketizer.fill(self.packets, arrivals, buckets, bucket_of);
        complete.then(|| std::mem::take(&mut self.bucketizer.buckets))
    }

    /// Takes back the list that [`bucket`](Window::bucket) returned, to use its memory again.
    #[inline]
    pub fn recycle(&mut self, buckets: Buckets) {
        self.bucketizer.buckets = buckets;
    }

    /// Keeps a bucket whose packets leave the group for
    /// [`advance_uplinks`](crate::Device::advance_uplinks). Its arrivals remain to be taken.
    ///
    /// # Safety
    /// `buckets` are of this window. The bucket is kept once, its arrivals are not taken before
    /// that part of the window, and all arrivals of the other buckets are taken.
    #[inline]
    pub unsafe fn keep_for_uplinks(&mut self, buckets: &Buckets, bucket: usize) {
        self.bucketizer.kept.extend_from_slice(buckets.get(bucket));
    }

    /// Keeps a bucket whose packets go to a coupled device for
    /// [`advance_coupled`](crate::Device::advance_coupled). Its arrivals remain to be taken.
    ///
    /// # Safety
    /// As for [`keep_for_uplinks`](Window::keep_for_uplinks).
    #[inline]
    pub unsafe fn keep_for_coupled(&mut self, buckets: &Buckets, bucket: usize) {
        self.bucketizer.for_coupled.extend_from_slice(buckets.get(bucket));
    }

    /// Keeps the next arrival, in [`advance_coupled`](crate::Device::advance_coupled), for
    /// [`advance_uplinks`](crate::Device::advance_uplinks).
    #[inline]
    pub fn keep_next_for_uplinks(&mut self) {
        if let Some((&entry, rest)) = self.arrivals.split_first() {
            self.bucketizer.kept.push(entry);
            self.arrivals = rest;
        }
    }

    /// Returns the packet of an arrival that is in a bucket.
    ///
    /// # Safety
    /// `entry` is in [`Buckets`] of this window, and has not been taken.
    #[inline(always)]
    pub unsafe fn peek_bucketed(&self, entry: Entry) -> &P {
        // SAFETY: the caller says that the mailbox still has it.
        unsafe { self.packets.peek(entry.handle()) }
    }

    /// Returns the port of an arrival that is in a bucket.
    #[inline(always)]
    pub fn port_of(&self, entry: Entry) -> u16 {
        entry.port(self.sender.rotation, entry.time(self.begin))
    }

    /// Takes an arrival that is in a bucket. Returns its time, tag and packet.
    ///
    /// # Safety
    /// `entry` is in [`Buckets`] of this window, and has not been taken. A device that takes one
    /// arrival takes all of them, none of them by [`next_arrival`](Window::next_arrival), and does
    /// not return `None` from [`advance_bucketed`](crate::Device::advance_bucketed).
    #[inline(always)]
    pub unsafe fn take_bucketed(&self, entry: Entry) -> (Time, ArrivalTag, Handle) {
        let time = entry.time(self.begin);
        // SAFETY: the mailbox owned the packet for this device. The caller says that it is the
        // first to take it.
        let handle = unsafe { Handle::from_raw(entry.handle()) };
        (time, ArrivalTag { time, entry }, handle)
    }

    /// Takes the first packet of a queue if the queue has packets, else an arrival that is in a
    /// bucket. Selects without a branch, because the outcome would be mispredicted.
    ///
    /// # Safety
    /// `waits` says whether the queue has packets. If it has none, `entry` is taken: the conditions
    /// of [`take_bucketed`](Window::take_bucketed) hold.
    #[inline(always)]
    pub unsafe fn pop_or_take(&self, queue: &mut Fifo, waits: bool, entry: Entry) -> Handle {
        queue.pop_or(self.packets, waits, entry.handle())
    }

    /// Sends a packet over a link.
    ///
    /// `arrival` must not be before the end of the window. If the receiver is in the same group, it
    /// must be at least the group's shortest delay later than now.
    #[inline]
    pub fn send(&mut self, link: &mut Link, arrival: Time, rank: Rank, handle: Handle) {
        let (arrival, position) = link.position(arrival, rank, 0);
        self.send_as(link, arrival, rank, position, handle);
    }

    /// Sends a packet that takes no time to serialise. It may arrive at the same instant as the one
    /// before it, and comes after that.
    #[inline]
    pub fn send_in_no_time(&mut self, link: &mut Link, arrival: Time, rank: Rank, handle: Handle) {
        let (arrival, position) = link.position(arrival, rank, 1);
        self.send_as(link, arrival, rank, position, handle);
    }

    /// Sends a packet that takes time to serialise, as do all of its rank on the link but those
    /// sent by [`send_in_no_time`](Window::send_in_no_time). So none before it arrives at the same
    /// instant.
    #[inline(always)]
    pub fn send_unique(&mut self, link: &Link, arrival: Time, rank: Rank, handle: Handle) {
        self.send_as(link, arrival, rank, 0, handle);
    }

    /// Returns the mailboxes at the end of a link, for [`send_on`](Window::send_on).
    #[inline]
    pub fn link_lane(&self, link: &Link) -> LinkLane<'run> {
        self.sender.link_lane(link)
    }

    /// Sends a packet like [`send_unique`](Window::send_unique), for a device that sends several
    /// packets over one link and looks up the link's mailboxes once.
    #[inline(always)]
    pub fn send_on(&mut self, lane: &LinkLane<'run>, arrival: Time, rank: Rank, handle: Handle) {
        let (rotation, raw) = (self.sender.rotation, handle.into_raw());
        let tail = Tail::new(rotation, arrival, rank, lane.port, 0, raw);
        if self.sender.is_within_slots(arrival) {
            self.sender.put_by(lane, arrival, tail);
        } else {
            self.send_elsewhere(lane.device, arrival, tail);
        }
    }

    #[inline(always)]
    fn send_as(&mut self, link: &Link, arrival: Time, rank: Rank, position: u8, handle: Handle) {
        let (rotation, raw) = (self.sender.rotation, handle.into_raw());
        let tail = Tail::new(rotation, arrival, rank, link.port, position, raw);
        if self.sender.is_within_slots(arrival) {
            self.sender.put(link.device, arrival, tail);
        } else {
            self.send_elsewhere(link.device, arrival, tail);
        }
    }

    /// Sends a packet that arrives within the window, at a device of the same group, or beyond the
    /// mailbox slots.
    #[inline(never)]
    fn send_elsewhere(&mut self, device: u32, arrival: Time, tail: Tail) {
        match self.group.as_deref_mut() {
            Some(delivery) if arrival < delivery.until => {
                debug_assert_eq!(delivery.group_of[device as usize], delivery.group);
                delivery.sent.push((device, arrival, tail));
            }
            _ => self.sender.defer(device, arrival, tail),
        }
    }

    /// Counts units of the run's goal, for instance completed messages
    /// ([`RunLimits::goal`](crate::RunLimits::goal)).
    #[inline]
    pub fn count_finished(&mut self, units: u64) {
        *self.finished += units;
    }

    /// Counts entries that the device has recorded, and the bytes that they take in the device
    /// until they are collected ([`Collector`](crate::Collector)).
    #[inline]
    pub fn count_recorded(&mut self, entries: u64, bytes: u64) {
        self.records.entries += entries;
        self.records.held += bytes;
    }

    /// Returns whether the device may record more entries in this window
    /// ([`RunLimits::max_records`](crate::RunLimits::max_records)).
    #[inline]
    pub fn may_record(&self) -> bool {
        self.begin < self.records.recording_stopped_at
    }
}
