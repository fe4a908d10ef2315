use crate::arena::{Fifo, Handle, Packets};
use crate::arrival_key::{self, PortRotation, TieBreak};
use crate::buckets::{Bucketizer, Buckets};
use crate::link::{Class, Link};
use crate::mailbox::{LinkLane, MailSender};
use std::hint::select_unpredictable;
use units::Time;

/// How many arrivals ahead packets are fetched.
pub(crate) const PREFETCH_DISTANCE: usize = 6;

/// Something that acts: a host, a switch. It owns all its state.
pub trait Device: Send {
    /// What travels on links.
    type Packet: Copy + Send;

    /// Handles everything due before the window's end: its arrivals, in the order in which the
    /// window gives them, and its own events. Returns the time of its next own event, at or after
    /// the window's end, or [`Time::NEVER`].
    fn advance(&mut self, window: &mut Window<'_, '_, Self::Packet>) -> Time;

    /// Whether it wants to deal so many arrivals out.
    #[inline]
    fn wants_buckets(&self, _arrivals: usize) -> bool {
        false
    }

    /// The same as [`advance`](Device::advance) with arrivals in no order, where it said that it
    /// [`wants_buckets`](Device::wants_buckets) them out ([`Window::bucket`]). `None` where nothing has been done, and `advance`
    /// shall do it; what is due before the first arrival may have been.
    #[inline]
    fn advance_bucketed(&mut self, _window: &mut Window<'_, '_, Self::Packet>) -> Option<Time> {
        None
    }

    /// Where it is joined to the hub of its group ([`Layout::hubs`](crate::Layout::hubs)) alone: adds what may
    /// have a device of the group send to another before `until`, at the places of both in the group. What is on
    /// its way between them counts, too, as who got it may answer: it may be added by who made it, and taken off by
    /// who got it, as all are asked. Where more than nothing comes together, a device is *tied*.
    fn add_couplings(&self, _until: Time, couplings: &mut [i64]) {
        couplings.iter_mut().for_each(|coupling| *coupling += 1);
    }

    /// Where it is the hub of its group: does of the window all that goes to devices of the group that are not tied,
    /// with arrivals in no order. It keeps what goes to those that are ([`Window::keep_for_coupled`]) and elsewhere
    /// ([`Window::keep_for_uplinks`]). `false` where it can't tell these apart, and `advance` shall do all; what is due before
    /// the first arrival may have been done.
    fn advance_downlinks(
        &mut self,
        _window: &mut Window<'_, '_, Self::Packet>,
        _ties: &[i64],
    ) -> bool {
        false
    }

    /// After that, from time to time in the window: does all that goes to devices that are tied, with arrivals in
    /// order, and keeps what goes elsewhere. Returns the time of its next own event there.
    fn advance_coupled(&mut self, _window: &mut Window<'_, '_, Self::Packet>) -> Time {
        unreachable!("who goes inward goes between")
    }

    /// After that: does the rest of the window, what goes elsewhere, with arrivals in no order.
    fn advance_uplinks(&mut self, _window: &mut Window<'_, '_, Self::Packet>) -> Time {
        unreachable!("who goes inward goes outward")
    }

    /// Has the processor fetch what [`advance`](Device::advance) will touch first; called shortly
    /// before it, with the device itself at hand.
    #[inline]
    fn prefetch(&self, _arrivals: usize) {}

    /// Where [ties](TieBreak::DeviceOrder) are so: sees the arrivals of a window before it is asked to
    /// handle them, each once, and may put those of the same instant into another order.
    #[inline]
    fn reorder_arrivals(&mut self, _arrivals: &mut Arrivals<'_, '_, Self::Packet>) {}
}

/// Lets a device arrange the arrivals of a window that begins at `base`, where ties are so.
#[inline(always)]
pub(crate) fn reorder_arrivals<D: Device>(
    device: &mut D,
    tie_break: TieBreak,
    packets: &Packets<'_, D::Packet>,
    base: Time,
    entries: &mut [u64],
) {
    if tie_break == TieBreak::DeviceOrder {
        device.reorder_arrivals(&mut Arrivals {
            packets,
            base,
            rotation: tie_break.rotation(),
            entries,
        });
    }
}

/// The arrivals of a window, in order.
pub struct Arrivals<'w, 'run, P: Copy + Send> {
    pub(crate) packets: &'w Packets<'run, P>,
    pub(crate) base: Time,
    pub(crate) rotation: PortRotation,
    pub(crate) entries: &'w mut [u64],
}

impl<P: Copy + Send> Arrivals<'_, '_, P> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// Has the packets fetched that come some places after `index`: whoever looks at one after the
    /// other need not wait for each.
    #[inline]
    pub fn prefetch_ahead(&self, index: usize) {
        if let Some(&entry) = self.entries.get(index + PREFETCH_DISTANCE) {
            self.packets.prefetch(arrival_key::handle(entry));
        }
    }
    /// When one arrives, at which port, and what.
    #[inline]
    pub fn get(&self, index: usize) -> (Time, u16, &P) {
        let entry = self.entries[index];
        let time = arrival_key::time(entry, self.base);
        (
            time,
            arrival_key::port(self.rotation, entry, time),
            self.packets.peek(arrival_key::handle(entry)),
        )
    }
    /// Has two arrivals change places.
    pub fn swap(&mut self, a: usize, b: usize) {
        debug_assert_eq!(
            arrival_key::time(self.entries[a], self.base),
            arrival_key::time(self.entries[b], self.base),
            "only arrivals of the same instant change places"
        );
        self.entries.swap(a, b);
    }
}

/// Where a packet arrived, told as far as it is asked for.
#[derive(Clone, Copy)]
pub struct ArrivalTag {
    time: Time,
    entry: u64,
}

impl ArrivalTag {
    /// The port.
    #[inline(always)]
    pub fn port<P: Copy + Send>(self, window: &Window<'_, '_, P>) -> u16 {
        arrival_key::port(window.sender.rotation, self.entry, self.time)
    }
    /// Whether `next` arrives later.
    #[inline(always)]
    pub fn is_strictly_before(self, next: u64) -> bool {
        arrival_key::is_later(next, self.entry)
    }
    /// Whether nothing that is still to be taken arrives at the same instant.
    #[inline(always)]
    pub fn is_last_of_instant<P: Copy + Send>(self, window: &Window<'_, '_, P>) -> bool {
        // Whether there is another can't be guessed.
        let coming = window.arrivals;
        self.is_strictly_before(select_unpredictable(coming.is_empty(), &[u64::MAX][..], coming)[0])
    }
}

/// A span of time as one device sees it.
pub struct Window<'w, 'run, P: Copy + Send> {
    /// Where packets live.
    pub packets: &'w mut Packets<'run, P>,
    pub(crate) base: Time,
    pub(crate) until: Time,
    pub(crate) arrivals: &'w [u64],
    pub(crate) sender: &'w mut MailSender<'run>,
    /// The group that the device belongs to, where it has several devices.
    pub(crate) group: Option<&'w mut GroupDelivery<'run>>,
    pub(crate) bucketizer: &'w mut Bucketizer,
    pub(crate) finished: &'w mut u64,
    pub(crate) records: &'w mut RecordBudget,
}

/// What devices record as the run goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordBudget {
    /// Entries so far.
    pub(crate) entries: u64,
    /// Bytes of memory that records take since they were last collected.
    pub(crate) held: u64,
    /// From then on there is no room for more.
    pub(crate) recording_stopped_at: Time,
}

impl RecordBudget {
    pub(crate) const NONE: RecordBudget =
        RecordBudget { entries: 0, held: 0, recording_stopped_at: Time::NEVER };

    /// So many `entries` there are in all, before `end`, and there is `room` for so many.
    pub(crate) fn limit(&mut self, entries: u64, room: u64, end: Time) {
        if entries >= room {
            self.recording_stopped_at =
                self.recording_stopped_at.min(end.round_up(Time::from_us(1)));
        }
    }
}

/// Deliveries within a group.
pub(crate) struct GroupDelivery<'run> {
    pub(crate) number: u32,
    pub(crate) group_of: &'run [u32],
    /// End of the window: what arrives later goes by mail.
    pub(crate) until: Time,
    /// Arrivals within the window: (device, time, tail).
    pub(crate) sent: Vec<(u32, Time, u64)>,
}

impl<'run, P: Copy + Send> Window<'_, 'run, P> {
    /// The end of the window: events at this time or later wait.
    #[inline]
    pub fn until(&self) -> Time {
        self.until
    }

    /// The time of the next arrival, or [`Time::NEVER`].
    #[inline]
    pub fn next_arrival_time(&self) -> Time {
        match self.arrivals.first() {
            Some(&entry) => arrival_key::time(entry, self.base),
            None => Time::NEVER,
        }
    }

    /// Takes the next arrival: when, at which port, what.
    #[inline]
    pub fn next_arrival(&mut self) -> Option<(Time, u16, Handle)> {
        if let Some(&ahead) = self.arrivals.get(PREFETCH_DISTANCE + 1) {
            self.packets.prefetch(arrival_key::handle(ahead));
        }
        let (time, place, handle) = self.take_before(Time::NEVER)?;
        Some((time, place.port(self), handle))
    }

    /// The packet that arrives `places` after the next one: for whoever wants to have fetched what it
    /// will need. No more than a few places ahead, as far as packets themselves are fetched.
    #[inline]
    pub fn peek_ahead(&self, places: usize) -> Option<&P> {
        self.arrivals.get(places).map(|&entry| self.packets.peek(arrival_key::handle(entry)))
    }

    /// The packets that arrive next, `count` of them if there are so many, for whoever takes them with
    /// [`take_before`](Window::take_before): it has those fetched that come after them.
    #[inline(always)]
    pub fn upcoming(&self, count: usize) -> impl Iterator<Item = &P> {
        let (now, later) = self.arrivals.split_at(count.min(self.arrivals.len()));
        for &entry in &later[..count.min(later.len())] {
            self.packets.prefetch(arrival_key::handle(entry));
        }
        now.iter().map(|&entry| self.packets.peek(arrival_key::handle(entry)))
    }

    /// Takes the next arrival if it comes before `limit`: when, where, what.
    #[inline(always)]
    pub fn take_before(&mut self, limit: Time) -> Option<(Time, ArrivalTag, Handle)> {
        let (&entry, rest) = self.arrivals.split_first()?;
        let time = arrival_key::time(entry, self.base);
        if time >= limit {
            return None;
        }
        self.arrivals = rest;
        // The box held the packet for this device, and gives it up here.
        Some((time, ArrivalTag { time, entry }, Handle::from_raw(arrival_key::handle(entry))))
    }

    /// Its beginning.
    #[inline]
    pub fn begin(&self) -> Time {
        self.base
    }

    /// Whether anything arrives at its beginning, in whatever order arrivals are.
    pub fn begins_with_arrival(&self) -> bool {
        self.arrivals.iter().any(|&entry| arrival_key::time(entry, self.base) == self.base)
    }

    /// How many arrivals are still to be taken.
    #[inline]
    pub fn remaining_arrivals(&self) -> usize {
        self.arrivals.len()
    }

    /// Deals the arrivals of the window out into `groups` groups, in order within each, if each belongs to
    /// one of them. Whoever [takes](Window::take_bucketed) one must take all, each once; the list
    /// itself goes back by [`recycle`](Window::recycle).
    #[inline(always)]
    pub fn bucket(&mut self, groups: usize, group_of: impl FnMut(&P) -> u16) -> Option<Buckets> {
        let complete = self.bucketizer.deal(self.packets, self.arrivals, groups, group_of);
        complete.then(|| std::mem::take(&mut self.bucketizer.buckets))
    }

    /// Takes back what was dealt out.
    #[inline]
    pub fn recycle(&mut self, buckets: Buckets) {
        self.bucketizer.buckets = buckets;
    }

    /// Of what was dealt out, keeps a group that goes out of the group of devices
    /// ([`Device::advance_downlinks`]): it is still to be taken.
    #[inline]
    pub fn keep_for_uplinks(&mut self, buckets: &Buckets, group: usize) {
        self.bucketizer.kept.extend_from_slice(buckets.group(group));
    }

    /// The same of what goes to a tied device.
    #[inline]
    pub fn keep_for_coupled(&mut self, buckets: &Buckets, group: usize) {
        self.bucketizer.for_coupled.extend_from_slice(buckets.group(group));
    }

    /// Keeps the next arrival ([`Device::advance_coupled`]).
    #[inline]
    pub fn keep_next_for_uplinks(&mut self) {
        if let Some((&entry, rest)) = self.arrivals.split_first() {
            self.bucketizer.kept.push(entry);
            self.arrivals = rest;
        }
    }

    /// The packet of one of those that were dealt out.
    ///
    /// # Safety
    /// `entry` is of this window's [`Buckets`], and has not been taken.
    #[inline(always)]
    pub unsafe fn peek_bucketed(&self, entry: u64) -> &P {
        self.packets.peek(arrival_key::handle(entry))
    }

    /// The port at which one of them arrives.
    #[inline(always)]
    pub fn port_of(&self, entry: u64) -> u16 {
        arrival_key::port(self.sender.rotation, entry, arrival_key::time(entry, self.base))
    }

    /// Takes the first packet of a queue, if any `waits` there, else one that was dealt out. Which of both
    /// need not be guessed.
    ///
    /// # Safety
    /// `waits` says whether the queue has packets. Where it has none, the same as with
    /// [`dealt`](Window::take_bucketed).
    #[inline(always)]
    pub unsafe fn pop_or_take(&self, queue: &mut Fifo, waits: bool, entry: u64) -> Handle {
        queue.pop_or(self.packets, waits, arrival_key::handle(entry))
    }

    /// Takes one of those that were dealt out: when, where, what.
    ///
    /// # Safety
    /// `entry` is of this window's [`Buckets`], and has not been taken. Who takes one takes all, none of them as
    /// [`next_arrival`](Window::next_arrival), and does not answer [`advance_bucketed`](Device::advance_bucketed) by `None`.
    #[inline(always)]
    pub unsafe fn take_bucketed(&self, entry: u64) -> (Time, ArrivalTag, Handle) {
        let time = arrival_key::time(entry, self.base);
        (time, ArrivalTag { time, entry }, Handle::from_raw(arrival_key::handle(entry)))
    }

    /// Takes the next arrival if it comes no later than `limit`.
    #[inline]
    pub fn next_arrival_by(&mut self, limit: Time) -> Option<(Time, u16, Handle)> {
        if self.next_arrival_time() > limit { None } else { self.next_arrival() }
    }

    /// Puts a packet on a link; it arrives at `arrival`, not before the window's end, or at the
    /// earliest after the shortest delay inside the group where the peer belongs to it.
    #[inline]
    pub fn send(&mut self, link: &mut Link, arrival: Time, class: Class, handle: Handle) {
        let (arrival, position) = link.position(arrival, class);
        self.send_as(link, arrival, class, position, handle);
    }

    /// The same where no two packets of a class ever arrive over the link at the same instant: each
    /// takes time.
    #[inline(always)]
    pub fn send_unique(&mut self, link: &Link, arrival: Time, class: Class, handle: Handle) {
        self.send_as(link, arrival, class, 0, handle);
    }

    /// The way over a link, for [`send_on`](Window::send_on).
    #[inline]
    pub fn link_lane(&self, link: &Link) -> LinkLane<'run> {
        self.sender.link_lane(link)
    }

    /// As [`send_unique`](Window::send_unique), where several packets go over one link.
    #[inline(always)]
    pub fn send_on(&mut self, lane: &LinkLane<'run>, arrival: Time, class: Class, handle: Handle) {
        let rotation = self.sender.rotation;
        let tail =
            arrival_key::tail(rotation, arrival, class as u8, lane.port, 0, handle.into_raw());
        if self.sender.is_within_slots(arrival) {
            self.sender.put_by(lane, arrival, tail);
        } else {
            self.send_elsewhere(lane.device, arrival, tail);
        }
    }

    #[inline(always)]
    fn send_as(&mut self, link: &Link, arrival: Time, class: Class, position: u8, handle: Handle) {
        let tail = arrival_key::tail(
            self.sender.rotation,
            arrival,
            class as u8,
            link.port,
            position,
            handle.into_raw(),
        );
        if self.sender.is_within_slots(arrival) {
            self.sender.put(link.device, arrival, tail);
        } else {
            self.send_elsewhere(link.device, arrival, tail);
        }
    }

    /// To a device of the group within the window, or far ahead.
    #[inline(never)]
    fn send_elsewhere(&mut self, device: u32, arrival: Time, tail: u64) {
        match self.group.as_deref_mut() {
            Some(group) if arrival < group.until => {
                debug_assert_eq!(group.group_of[device as usize], group.number);
                group.sent.push((device, arrival, tail));
            }
            _ => self.sender.defer(device, arrival, tail),
        }
    }

    /// Counts units of the run's goal (messages delivered); the run may stop when all are done.
    #[inline]
    pub fn count_finished(&mut self, units: u64) {
        *self.finished += units;
    }

    /// Counts entries that the device has recorded, and the bytes of memory that they take there
    /// until they are collected ([`Collector`](crate::Collector)).
    #[inline]
    pub fn count_recorded(&mut self, entries: u64, bytes: u64) {
        self.records.entries += entries;
        self.records.held += bytes;
    }

    /// Whether there is room for more of them, in the whole window.
    #[inline]
    pub fn may_record(&self) -> bool {
        self.base < self.records.recording_stopped_at
    }
}
