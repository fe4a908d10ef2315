//! Where packets wait between the window they were sent in and the one they arrive in.
//!
//! There is a box for each (slot, sending thread, receiving device). Slots go round by three: in
//! window `w` the threads write into the slots of `w+1` and `w+2`, and whoever takes a group to work it
//! empties its boxes in the slot of `w`; where the group's devices send to each other within the window,
//! through their boxes of `w`, too. What is due later still goes to the calendar of the thread
//! that owns the receiver, which puts it into a box of its own before it lets others take groups. So no
//! two threads ever touch a box at the same time, and the barrier between windows, or the taking of a
//! group, orders their touching it in turn.

use crate::arrival_key::{self, PortRotation};
use crate::link::Link;
use crate::prefetch::prefetch_for_write;
use crate::sync::{UnsafeCell, pointer};
use std::hint::select_unpredictable;
use units::Time;

/// How many windows ahead a box can be, the current one included.
pub(crate) const SLOTS: usize = 3;

/// A cell that one thread at a time touches, by the protocol above.
pub(crate) struct PhaseCell<T>(UnsafeCell<T>);

// SAFETY: the protocol of this module: one thread at a time touches a given cell, and the barrier between
// windows, or the taking of a group, makes its writes visible to the next.
unsafe impl<T: Send> Sync for PhaseCell<T> {}

impl<T> PhaseCell<T> {
    pub(crate) fn new(value: T) -> PhaseCell<T> {
        PhaseCell(UnsafeCell::new(value))
    }
    /// # Safety
    /// It must be this thread's turn, and no other reference from this cell may live.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "that is the point of the cell")]
    pub(crate) unsafe fn get(&self) -> &mut T {
        // SAFETY: the caller's.
        unsafe { &mut *pointer(&self.0) }
    }
    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// A list that one thread writes and another empties, alone on its cache lines: on those of another writer's
/// list, each would wait for the other at each entry.
#[repr(align(128))]
struct Apart<T>(PhaseCell<Vec<T>>);

fn apart<T>(count: usize) -> Vec<Apart<T>> {
    (0..count).map(|_| Apart(PhaseCell::new(Vec::new()))).collect()
}

/// A packet that is due beyond the slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeferredPacket {
    pub(crate) time: Time,
    pub(crate) device: u32,
    pub(crate) tail: u64,
}

/// All boxes of a run.
pub(crate) struct Mailboxes {
    devices: usize,
    threads: usize,
    /// By slot, sending thread, receiving device.
    boxes: Vec<PhaseCell<Vec<u64>>>,
    /// By slot, sending thread, receiving thread: devices that got a first packet.
    touched: Vec<Apart<u32>>,
    /// By parity of the window, sending thread, receiving thread.
    deferred: Vec<Apart<DeferredPacket>>,
    /// By parity of the window, working thread, owner: groups that were worked for their owner, and when
    /// they want to be worked next.
    returned_groups: Vec<Apart<(u32, Time)>>,
}

impl Mailboxes {
    pub(crate) fn new(devices: usize, threads: usize) -> Mailboxes {
        Mailboxes {
            devices,
            threads,
            boxes: (0..SLOTS * threads * devices).map(|_| PhaseCell::new(Vec::new())).collect(),
            touched: apart(SLOTS * threads * threads),
            deferred: apart(2 * threads * threads),
            returned_groups: apart(2 * threads * threads),
        }
    }
    #[inline]
    pub(crate) fn mailbox(&self, slot: usize, from: usize, device: u32) -> &PhaseCell<Vec<u64>> {
        &self.boxes[(slot * self.threads + from) * self.devices + device as usize]
    }
    /// What arrives at `device` in this window: the one box that has anything, else all of them, emptied into
    /// `gathered`. For who has taken the device's group.
    #[inline]
    pub(crate) fn arrived<'m>(
        &'m self,
        window: u64,
        device: u32,
        gathered: &'m mut Vec<u64>,
    ) -> &'m mut Vec<u64> {
        let slot = window as usize % SLOTS;
        // SAFETY: the boxes of this window's slot are complete since the last barrier, or since their
        // thread laid out its share, and the caller took the device's group.
        let mailbox = |from| unsafe { self.mailbox(slot, from, device).get() };
        match self.threads {
            1 => mailbox(0),
            threads => gather((0..threads).map(mailbox), gathered),
        }
    }
    /// The same, brought together in the box that `thread` sends through, and left there.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "as for the cells")]
    pub(crate) fn merged(&self, window: u64, thread: usize, device: u32) -> &mut Vec<u64> {
        let slot = window as usize % SLOTS;
        // SAFETY: the boxes of this window's slot are complete since the last barrier, or since their
        // thread laid out its share, and the caller took the device's group.
        let mailbox = |from| unsafe { self.mailbox(slot, from, device).get() };
        let own = mailbox(thread);
        for from in (0..self.threads).filter(|&from| from != thread) {
            own.append(mailbox(from));
        }
        own
    }
    /// The boxes of a slot and sending thread, by receiving device.
    #[inline]
    pub(crate) fn row(&self, slot: usize, from: usize) -> &[PhaseCell<Vec<u64>>] {
        &self.boxes[(slot * self.threads + from) * self.devices..][..self.devices]
    }
    #[inline]
    pub(crate) fn touched(&self, slot: usize, from: usize, to: usize) -> &PhaseCell<Vec<u32>> {
        &self.touched[(slot * self.threads + from) * self.threads + to].0
    }
    #[inline]
    pub(crate) fn deferred(
        &self,
        parity: usize,
        from: usize,
        to: usize,
    ) -> &PhaseCell<Vec<DeferredPacket>> {
        &self.deferred[(parity * self.threads + from) * self.threads + to].0
    }
    #[inline]
    pub(crate) fn returned_groups(
        &self,
        parity: usize,
        by: usize,
        owner: usize,
    ) -> &PhaseCell<Vec<(u32, Time)>> {
        &self.returned_groups[(parity * self.threads + by) * self.threads + owner].0
    }
}

/// The one box of these that has anything, else all of them, emptied into `gathered`.
fn gather<'m>(
    boxes: impl Iterator<Item = &'m mut Vec<u64>>,
    gathered: &'m mut Vec<u64>,
) -> &'m mut Vec<u64> {
    let mut filled = boxes.filter(|mailbox| !mailbox.is_empty());
    gathered.clear();
    let Some(first) = filled.next() else { return gathered };
    let Some(second) = filled.next() else { return first };
    gathered.append(first);
    gathered.append(second);
    filled.for_each(|mailbox| gathered.append(mailbox));
    gathered
}

/// The boxes at the end of a link, in the slots of the next two windows.
pub struct LinkLane<'a> {
    boxes: [&'a PhaseCell<Vec<u64>>; SLOTS - 1],
    pub(crate) device: u32,
    pub(crate) port: u16,
}

impl LinkLane<'_> {
    /// Has the processor fetch where the next packets go.
    #[inline]
    pub fn prefetch(&self) {
        for mailbox in self.boxes {
            // SAFETY: this thread alone writes these boxes, those it sends through into the slots of
            // the next two windows, and the reference ends here.
            let mailbox = unsafe { mailbox.get() };
            prefetch_for_write(mailbox.as_ptr_range().end.cast(), 1);
        }
    }
}

/// A thread's side of the mail during one window.
pub(crate) struct MailSender<'a> {
    pub(crate) mailboxes: &'a Mailboxes,
    /// Owner thread of each device.
    pub(crate) owner: &'a [u16],
    pub(crate) thread: usize,
    pub(crate) rotation: PortRotation,
    /// The window's end, and the ends of the next two.
    pub(crate) ends: [Time; SLOTS],
    /// From the first of them to the last, picoseconds.
    pub(crate) reach: u64,
    /// Slots of the next two windows, and this thread's boxes in them.
    pub(crate) next_slots: [usize; SLOTS - 1],
    pub(crate) rows: [&'a [PhaseCell<Vec<u64>>]; SLOTS - 1],
    pub(crate) parity: usize,
    /// Whether anything was posted into each of the next two windows.
    pub(crate) posted: [bool; SLOTS - 1],
    /// Earliest arrival posted beyond.
    pub(crate) earliest_deferred: Time,
    /// It is for the devices of a group that send to each other within the window: the first of its slots is
    /// that of the window itself.
    pub(crate) within: bool,
}

impl<'a> MailSender<'a> {
    /// The same for what the devices of a group send to each other, whose boxes of this window are emptied
    /// by who works the group after they have sent. The window begins at `begin`.
    pub(crate) fn within(&self, window: u64, begin: Time) -> MailSender<'a> {
        let MailSender { ends: [end, next, _], next_slots, rows, .. } = *self;
        let slot = window as usize % SLOTS;
        MailSender {
            ends: [begin, end, next],
            reach: (next - begin).ps(),
            next_slots: [slot, next_slots[0]],
            rows: [self.mailboxes.row(slot, self.thread), rows[0]],
            posted: [false; SLOTS - 1],
            within: true,
            ..*self
        }
    }

    /// What was posted by the one for a group was posted.
    pub(crate) fn merge_posted(&mut self, within: &MailSender<'_>) {
        self.posted[0] |= within.posted[1];
        self.earliest_deferred = self.earliest_deferred.min(within.earliest_deferred);
    }

    /// Whether there is a box for what arrives then.
    #[inline(always)]
    pub(crate) fn is_within_slots(&self, arrival: Time) -> bool {
        arrival.ps().wrapping_sub(self.ends[0].ps()) < self.reach
    }

    /// In which of the next two windows that is. It can't be guessed.
    #[inline(always)]
    fn ahead(&self, arrival: Time) -> usize {
        debug_assert!(self.is_within_slots(arrival));
        select_unpredictable(arrival >= self.ends[1], 1, 0)
    }

    /// Puts a packet into the box of the window in which it arrives; `tail` is the rest of its entry.
    #[inline(always)]
    pub(crate) fn put(&mut self, device: u32, arrival: Time, tail: u64) {
        let ahead = self.ahead(arrival);
        self.put_into(&self.rows[ahead][device as usize], ahead, device, arrival, tail);
    }

    /// The same over a link of which the boxes have been found.
    #[inline(always)]
    pub(crate) fn put_by(&mut self, lane: &LinkLane<'_>, arrival: Time, tail: u64) {
        let ahead = self.ahead(arrival);
        self.put_into(lane.boxes[ahead], ahead, lane.device, arrival, tail);
    }

    #[inline(always)]
    fn put_into(
        &mut self,
        mailbox: &PhaseCell<Vec<u64>>,
        ahead: usize,
        device: u32,
        arrival: Time,
        tail: u64,
    ) {
        // SAFETY: this thread alone writes the boxes it sends through into the slots of the next
        // two windows; the receiver comes after the barrier.
        let mailbox = unsafe { mailbox.get() };
        if mailbox.is_empty() {
            self.note(ahead, device);
        }
        mailbox.push(arrival_key::entry(arrival.ps() - self.ends[ahead].ps(), tail));
    }

    /// Finds the boxes at the end of a link.
    #[inline]
    pub(crate) fn link_lane(&self, link: &Link) -> LinkLane<'a> {
        let boxes = self.rows.map(|row| &row[link.device as usize]);
        LinkLane { boxes, device: link.device, port: link.port }
    }

    /// The first packet of a window for a device.
    #[inline(never)]
    fn note(&mut self, ahead: usize, device: u32) {
        if self.within && ahead == 0 {
            // Who works the group comes to it.
            return;
        }
        self.posted[ahead] = true;
        let to = self.owner[device as usize] as usize;
        // SAFETY: this thread alone writes the lists of devices that it sends to in the slots of the
        // next two windows; the receiver comes after the barrier.
        unsafe { self.mailboxes.touched(self.next_slots[ahead], self.thread, to).get() }
            .push(device);
    }

    /// Keeps what arrives later for its receiver's calendar.
    pub(crate) fn defer(&mut self, device: u32, time: Time, tail: u64) {
        debug_assert!(time >= self.ends[SLOTS - 1], "there is a box for it, or it comes too soon");
        self.earliest_deferred = self.earliest_deferred.min(time);
        let to = self.owner[device as usize] as usize;
        // SAFETY: this thread alone writes its lists of this window's parity; the receiver empties them
        // after the barrier, while this thread writes those of the other parity.
        unsafe { self.mailboxes.deferred(self.parity, self.thread, to).get() }
            .push(DeferredPacket { time, device, tail });
    }
}
