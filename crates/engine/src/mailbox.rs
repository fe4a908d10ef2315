//! Mailboxes: where packets wait between the window in which they are sent and the one in which
//! they arrive.
//!
//! There is a mailbox for each (slot, sending thread, receiving device). Three slots are used in
//! turn:
//!
//! ```text
//!            window w          window w+1        window w+2
//! slot 0     threads empty it  -                 threads write it
//! slot 1     threads write it  threads empty it  -
//! slot 2     threads write it  threads write it  threads empty it
//! ```
//!
//! - In window `w` a thread writes, through its own mailboxes, into the slots of `w+1` and `w+2`.
//! - The thread that has claimed a group empties the group's mailboxes in the slot of `w`. If
//!   devices of the group send to each other within the window, they do so through mailboxes of
//!   `w`, too.
//! - A packet that arrives later than `w+2` is deferred: it goes to the calendar of the thread that
//!   owns the receiver. At the beginning of its window that thread puts it into a mailbox of its
//!   own, before others can steal the group.
//!
//! So no two threads ever touch a mailbox at the same time. Accesses to it are ordered by the
//! barrier between windows, or by the claim of a group.

use crate::arrival_key::{Entry, PortRotation, Tail};
use crate::link::Link;
use crate::prefetch::prefetch_for_write;
use crate::sync::{UnsafeCell, pointer};
use crossbeam_utils::CachePadded;
use std::hint::select_unpredictable;
use units::Time;

/// Number of slots: the current window and the next two.
pub(crate) const SLOTS: usize = 3;

/// The slot of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot(usize);

impl Slot {
    /// Returns the slot of the window with this index.
    #[inline(always)]
    pub(crate) fn of(window: u64) -> Slot {
        Slot(window as usize % SLOTS)
    }
}

/// Which of two lists a window uses: they are used in alternate windows of those that are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parity(usize);

impl Parity {
    /// Returns the parity of the window that is run after `windows` others.
    #[inline(always)]
    pub(crate) fn of(windows: u64) -> Parity {
        Parity((windows & 1) as usize)
    }
    /// Returns the parity of the windows before and after.
    #[inline(always)]
    pub(crate) fn other(self) -> Parity {
        Parity(self.0 ^ 1)
    }
    /// Returns it as an index into a list of two.
    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// A cell that the phases of a window assign to one thread at a time.
///
/// Within a phase no other thread touches it; the [module](crate::mailbox) says why.
pub(crate) struct PhaseCell<T>(UnsafeCell<T>);

// SAFETY: by the protocol of this module one thread at a time touches a cell. The barrier between
// windows, or the claim of a group, makes its writes visible to the next thread.
unsafe impl<T: Send> Sync for PhaseCell<T> {}

impl<T> PhaseCell<T> {
    pub(crate) fn new(value: T) -> PhaseCell<T> {
        PhaseCell(UnsafeCell::new(value))
    }
    /// Returns the content.
    ///
    /// # Safety
    /// The phase must assign the cell to this thread, and no other reference from it may be alive.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "that is the point of the cell")]
    pub(crate) unsafe fn get(&self) -> &mut T {
        // SAFETY: the caller guarantees it.
        unsafe { &mut *pointer(&self.0) }
    }
    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// A list that one thread writes and another empties. It has cache lines of its own: two writers on
/// one line would wait for each other at each entry.
type PaddedList<T> = CachePadded<PhaseCell<Vec<T>>>;

fn padded_lists<T>(count: usize) -> Vec<PaddedList<T>> {
    (0..count).map(|_| CachePadded::new(PhaseCell::new(Vec::new()))).collect()
}

/// A packet that arrives beyond the slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeferredPacket {
    pub(crate) time: Time,
    pub(crate) device: u32,
    pub(crate) tail: Tail,
}

/// All mailboxes of a run.
pub(crate) struct Mailboxes {
    devices: usize,
    threads: usize,
    /// By slot, sending thread, receiving device.
    boxes: Vec<PhaseCell<Vec<Entry>>>,
    /// By slot, sending thread, receiving thread: devices whose mailbox got its first packet.
    touched: Vec<PaddedList<u32>>,
    /// By parity of the window, sending thread, receiving thread: packets for calendars.
    deferred: Vec<PaddedList<DeferredPacket>>,
    /// By parity of the window, thread that ran the group, owner: groups that were stolen from
    /// their owner, and the time of their next event.
    returned_groups: Vec<PaddedList<(u32, Time)>>,
}

impl Mailboxes {
    pub(crate) fn new(devices: usize, threads: usize) -> Mailboxes {
        Mailboxes {
            devices,
            threads,
            boxes: (0..SLOTS * threads * devices).map(|_| PhaseCell::new(Vec::new())).collect(),
            touched: padded_lists(SLOTS * threads * threads),
            deferred: padded_lists(2 * threads * threads),
            returned_groups: padded_lists(2 * threads * threads),
        }
    }
    #[inline]
    pub(crate) fn mailbox(&self, slot: Slot, sender: usize, device: u32) -> &PhaseCell<Vec<Entry>> {
        &self.boxes[(slot.0 * self.threads + sender) * self.devices + device as usize]
    }
    /// Returns what arrives at `device` in this window.
    ///
    /// That is the only mailbox that has packets, if there is only one. Otherwise all of them are
    /// emptied into `gathered`.
    ///
    /// # Safety
    /// The caller has claimed the group of `device` in this window, and no other reference to the
    /// device's mailboxes of this window is alive.
    #[inline]
    pub(crate) unsafe fn arrived<'m>(
        &'m self,
        window: u64,
        device: u32,
        gathered: &'m mut Vec<Entry>,
    ) -> &'m mut Vec<Entry> {
        let slot = Slot::of(window);
        // SAFETY: the mailboxes of this window's slot are complete since the last barrier, or since
        // the owner published its groups, and the caller has claimed the device's group.
        let mailbox = |sender| unsafe { self.mailbox(slot, sender, device).get() };
        match self.threads {
            1 => mailbox(0),
            threads => gather((0..threads).map(mailbox), gathered),
        }
    }
    /// Moves what arrives at `device` in this window into the mailbox that `thread` sends through,
    /// and returns that mailbox.
    ///
    /// # Safety
    /// As for [`arrived`](Self::arrived).
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "it returns the content of a cell")]
    pub(crate) unsafe fn merged(&self, window: u64, thread: usize, device: u32) -> &mut Vec<Entry> {
        let slot = Slot::of(window);
        // SAFETY: the mailboxes of this window's slot are complete since the last barrier, or since
        // the owner published its groups, and the caller has claimed the device's group.
        let mailbox = |sender| unsafe { self.mailbox(slot, sender, device).get() };
        let own = mailbox(thread);
        for other in (0..self.threads).filter(|&other| other != thread) {
            own.append(mailbox(other));
        }
        own
    }
    /// The mailboxes of a slot and a sending thread, by receiving device.
    #[inline]
    pub(crate) fn row(&self, slot: Slot, sender: usize) -> &[PhaseCell<Vec<Entry>>] {
        &self.boxes[(slot.0 * self.threads + sender) * self.devices..][..self.devices]
    }
    #[inline]
    pub(crate) fn touched(&self, slot: Slot, sender: usize, to: usize) -> &PhaseCell<Vec<u32>> {
        &self.touched[(slot.0 * self.threads + sender) * self.threads + to]
    }
    #[inline]
    pub(crate) fn deferred(
        &self,
        parity: Parity,
        sender: usize,
        to: usize,
    ) -> &PhaseCell<Vec<DeferredPacket>> {
        &self.deferred[(parity.0 * self.threads + sender) * self.threads + to]
    }
    #[inline]
    pub(crate) fn returned_groups(
        &self,
        parity: Parity,
        by: usize,
        owner: usize,
    ) -> &PhaseCell<Vec<(u32, Time)>> {
        &self.returned_groups[(parity.0 * self.threads + by) * self.threads + owner]
    }
}

/// Returns the only mailbox that has packets, or empties all of them into `gathered` and returns
/// that.
#[inline(never)]
fn gather<'m>(
    boxes: impl Iterator<Item = &'m mut Vec<Entry>>,
    gathered: &'m mut Vec<Entry>,
) -> &'m mut Vec<Entry> {
    let mut filled = boxes.filter(|mailbox| !mailbox.is_empty());
    gathered.clear();
    let Some(first) = filled.next() else { return gathered };
    let Some(second) = filled.next() else { return first };
    gathered.append(first);
    gathered.append(second);
    filled.for_each(|mailbox| gathered.append(mailbox));
    gathered
}

/// The mailboxes at the end of a link, in the slots of the next two windows.
pub struct LinkLane<'a> {
    boxes: [&'a PhaseCell<Vec<Entry>>; SLOTS - 1],
    pub(crate) device: u32,
    pub(crate) port: u16,
}

impl LinkLane<'_> {
    /// Prefetches the places in the mailboxes to which the next packets go.
    #[inline]
    pub fn prefetch(&self) {
        for mailbox in self.boxes {
            // SAFETY: only this thread writes the mailboxes through which it sends into the slots
            // of the next two windows, and the reference ends here.
            let mailbox = unsafe { mailbox.get() };
            prefetch_for_write(mailbox.as_ptr_range().end.cast(), 1);
        }
    }
}

/// How a thread sends packets during one window.
pub(crate) struct MailSender<'a> {
    pub(crate) mailboxes: &'a Mailboxes,
    /// The thread that owns each device.
    pub(crate) owner: &'a [u16],
    pub(crate) thread: usize,
    pub(crate) rotation: PortRotation,
    /// The ends of the current window and of the next two.
    pub(crate) ends: [Time; SLOTS],
    /// Time from the first of these ends to the last, in picoseconds.
    pub(crate) span_ps: u64,
    /// Slots of the next two windows.
    pub(crate) next_slots: [Slot; SLOTS - 1],
    /// The mailboxes of this thread in these slots.
    pub(crate) rows: [&'a [PhaseCell<Vec<Entry>>]; SLOTS - 1],
    /// Parity of the window.
    pub(crate) parity: Parity,
    /// Whether anything was sent into each of the next two windows.
    pub(crate) posted: [bool; SLOTS - 1],
    /// The earliest arrival of a deferred packet.
    pub(crate) earliest_deferred: Time,
    /// Whether this is the sender of [`within`](MailSender::within): the first of its slots is that
    /// of the current window.
    pub(crate) within: bool,
}

impl<'a> MailSender<'a> {
    /// Returns a sender for the devices of a group that send to each other within the window, which
    /// begins at `begin`. Their mailboxes of this window are emptied after they have sent, by the
    /// thread that runs the group.
    pub(crate) fn within(&self, window: u64, begin: Time) -> MailSender<'a> {
        let MailSender { ends: [end, next, _], next_slots, rows, .. } = *self;
        let slot = Slot::of(window);
        MailSender {
            ends: [begin, end, next],
            span_ps: (next - begin).ps(),
            next_slots: [slot, next_slots[0]],
            rows: [self.mailboxes.row(slot, self.thread), rows[0]],
            posted: [false; SLOTS - 1],
            within: true,
            ..*self
        }
    }

    /// Adds what a sender made by [`within`](MailSender::within) has sent to later windows.
    pub(crate) fn merge_posted(&mut self, within: &MailSender<'_>) {
        self.posted[0] |= within.posted[1];
        self.earliest_deferred = self.earliest_deferred.min(within.earliest_deferred);
    }

    /// Whether a packet that arrives at `arrival` goes to a mailbox. Otherwise it is deferred, or
    /// arrives within the window.
    #[inline(always)]
    pub(crate) fn is_within_slots(&self, arrival: Time) -> bool {
        arrival.ps().wrapping_sub(self.ends[0].ps()) < self.span_ps
    }

    /// Index of the window of `arrival`: 0 for the next one, 1 for the one after. Selected without
    /// a branch because the outcome is random and would be mispredicted.
    #[inline(always)]
    fn ahead(&self, arrival: Time) -> usize {
        debug_assert!(self.is_within_slots(arrival));
        select_unpredictable(arrival >= self.ends[1], 1, 0)
    }

    /// Puts a packet into the mailbox of the window in which it arrives. `tail` is its entry
    /// without the time.
    #[inline(always)]
    pub(crate) fn put(&mut self, device: u32, arrival: Time, tail: Tail) {
        let ahead = self.ahead(arrival);
        self.put_into(&self.rows[ahead][device as usize], ahead, device, arrival, tail);
    }

    /// Puts a packet into a mailbox like [`put`](MailSender::put), if the mailboxes of the link
    /// have been looked up before.
    #[inline(always)]
    pub(crate) fn put_by(&mut self, lane: &LinkLane<'_>, arrival: Time, tail: Tail) {
        let ahead = self.ahead(arrival);
        self.put_into(lane.boxes[ahead], ahead, lane.device, arrival, tail);
    }

    #[inline(always)]
    fn put_into(
        &mut self,
        mailbox: &PhaseCell<Vec<Entry>>,
        ahead: usize,
        device: u32,
        arrival: Time,
        tail: Tail,
    ) {
        // SAFETY: only this thread writes the mailboxes through which it sends into the slots of
        // the next two windows. The receiver reads them after the barrier.
        let mailbox = unsafe { mailbox.get() };
        if mailbox.is_empty() {
            self.note_touched(ahead, device);
        }
        mailbox.push(Entry::new(arrival.ps() - self.ends[ahead].ps(), tail));
    }

    /// Looks up the mailboxes at the end of a link.
    #[inline]
    pub(crate) fn link_lane(&self, link: &Link) -> LinkLane<'a> {
        let boxes = self.rows.map(|row| &row[link.device as usize]);
        LinkLane { boxes, device: link.device, port: link.port }
    }

    /// Tells the owner of a device that a mailbox of the device got its first packet.
    #[inline(never)]
    fn note_touched(&mut self, ahead: usize, device: u32) {
        if self.within && ahead == 0 {
            // The thread that runs the group looks into the mailbox anyway.
            return;
        }
        self.posted[ahead] = true;
        let to = self.owner[device as usize] as usize;
        // SAFETY: only this thread writes its lists of touched devices in the slots of the next two
        // windows. The receiver reads them after the barrier.
        unsafe { self.mailboxes.touched(self.next_slots[ahead], self.thread, to).get() }
            .push(device);
    }

    /// Keeps a packet that arrives beyond the slots for the calendar of its receiver's owner.
    pub(crate) fn defer(&mut self, device: u32, time: Time, tail: Tail) {
        debug_assert!(
            time >= self.ends[SLOTS - 1],
            "it belongs into a mailbox, or arrives too soon"
        );
        self.earliest_deferred = self.earliest_deferred.min(time);
        let to = self.owner[device as usize] as usize;
        // SAFETY: only this thread writes its lists of this window's parity. The receiver empties
        // them after the barrier, while this thread writes the lists of the other parity.
        unsafe { self.mailboxes.deferred(self.parity, self.thread, to).get() }
            .push(DeferredPacket { time, device, tail });
    }
}
