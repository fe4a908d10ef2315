//! What is done in each window: its own groups and what others leave it.

mod claim;
mod group;
mod hub;

use crate::arena::{Arena, Packets};
use crate::arrival_key;
use crate::barrier::Barrier;
use crate::buckets::Bucketizer;
use crate::group_range::GroupRange;
use crate::mailbox::{DeferredPacket, MailSender, Mailboxes, PhaseCell, SLOTS};
use crate::run::{Collector, Layout, Outcome, Progress, ProgressCallback};
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crate::window::{Device, RecordBudget, Window, reorder_arrivals};
use crate::window_grid::Grid;
use group::{Inbox, places};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use units::Time;

/// What all threads see of a run.
pub(crate) struct RunShared<'a, D: Device> {
    pub(crate) devices: &'a [PhaseCell<D>],
    pub(crate) layout: &'a Layout,
    pub(crate) group_of: &'a [u32],
    pub(crate) owner: &'a [u16],
    pub(crate) mailboxes: &'a Mailboxes,
    /// By thread.
    pub(crate) ranges: &'a [GroupRange],
    /// By device, where its group has several: when it wants to be worked next, ps. Written by who works
    /// the group.
    pub(crate) device_wake: &'a [AtomicU64],
    pub(crate) arena: &'a Arena<D::Packet>,
    pub(crate) barrier: &'a Barrier,
    pub(crate) grid: Grid,
    pub(crate) goal: Option<u64>,
    pub(crate) max_records: u64,
    pub(crate) stop: Time,
    pub(crate) reports: &'a [WorkerReport],
    pub(crate) watch: ProgressCallback<'a>,
    pub(crate) collector: Collector<'a, D>,
    /// The collector takes no more.
    pub(crate) refused: &'a AtomicBool,
}

impl<D: Device> Clone for RunShared<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D: Device> Copy for RunShared<'_, D> {}

impl<D: Device> RunShared<'_, D> {
    #[inline]
    fn device_wake(&self, device: u32) -> Time {
        Time::from_ps(self.device_wake[device as usize].load(Ordering::Relaxed))
    }

    #[inline]
    fn set_device_wake(&self, device: u32, wake: Time) {
        self.device_wake[device as usize].store(wake.ps(), Ordering::Relaxed);
    }
}

/// What a thread tells the others at the end of a window. Two of each, used in turn, so that a slow
/// reader is not overtaken.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct WorkerReport {
    next: [AtomicU64; 2],
    finished: [AtomicU64; 2],
    delivered: [AtomicU64; 2],
    recorded: [AtomicU64; 2],
    held: [AtomicU64; 2],
    cancel: [AtomicBool; 2],
}

/// Windows for which groups that want to be worked are listed, the one at hand among them.
const NEAR_WINDOWS: usize = 4;

/// Stands for the devices of a group that has not one alone.
const NOT_SINGLE: u32 = u32::MAX;

/// What one thread does in each window; another may do it in its stead. They lie side by side, and no two
/// share a cache line.
#[repr(align(128))]
pub(crate) struct Worker<'a, D: Device> {
    shared: RunShared<'a, D>,
    thread: usize,
    packets: Packets<'a, D::Packet>,
    /// The device of each group that has one alone, else [`NOT_SINGLE`].
    single_device: Vec<u32>,
    /// When each group wants to be worked next, by group. Groups of other threads stay unused.
    wake: Vec<Time>,
    /// By window, the one at hand and those after it in turn: groups that wanted to be worked then. Some
    /// may want otherwise by now, and are in another list, too.
    near_groups: [Vec<u32>; NEAR_WINDOWS],
    /// When these windows end.
    ends: [Time; NEAR_WINDOWS],
    /// The earliest entry of each group in `later`.
    queued_at: Vec<Time>,
    /// Groups that want to be worked after these windows.
    far_groups: BinaryHeap<Reverse<(Time, u32)>>,
    /// A bit for each group that is to be worked in this window.
    listed: Vec<u64>,
    /// Windows so far.
    windows: u64,
    /// It takes from others: all have a core. Else who gets one does well to work what it has at hand.
    steals: bool,
    /// Places in a share, mostly its own, that it has taken and not begun.
    claimed: Range<u32>,
    claimed_from: usize,
    /// Groups of others that this thread worked in this window: when the first of them wants to be
    /// worked next.
    next_elsewhere: Time,
    /// Packets due beyond the mailboxes, by window.
    calendar: BTreeMap<u64, Vec<DeferredPacket>>,
    arrivals: Vec<u64>,
    bucketizer: Bucketizer,
    /// For groups of several devices: one for each device of the group at work,
    inbox: Vec<Inbox>,
    /// its place among them by device,
    place: Vec<u32>,
    /// what they sent to each other in a step,
    sent: Vec<(u32, Time, u64)>,
    /// and by place what ties them.
    couplings: Vec<i64>,
    finished: u64,
    delivered: u64,
    /// Its own entries, and when those of all leave no room.
    records: RecordBudget,
    /// Records of all take so much memory that they are to be collected.
    must_collect: bool,
    /// The window at hand.
    window: u64,
    /// When the last one that was worked ends, or the run.
    end: Time,
    /// In the window before it posted into the one after the window at hand.
    carried: bool,
    /// What all had done when last they met.
    seen: Progress,
    cancelled: bool,
    over: bool,
}

impl<'a, D: Device> Worker<'a, D> {
    pub(crate) fn new(shared: RunShared<'a, D>, thread: usize) -> Worker<'a, D> {
        let groups = shared.layout.groups.len();
        let largest = shared.layout.groups.iter().map(Vec::len).max().unwrap_or(0);
        let mine = |group: &u32| shared.layout.owner[*group as usize] as usize == thread;
        Worker {
            packets: shared.arena.packets(),
            single_device: shared
                .layout
                .groups
                .iter()
                .map(|devices| if let &[device] = devices.as_slice() { device } else { NOT_SINGLE })
                .collect(),
            wake: vec![Time::ZERO; groups],
            // Everybody gets a first window, in which it says when it wants the next.
            near_groups: [(0..groups as u32).filter(mine).collect(), vec![], vec![], vec![]],
            ends: [Time::ZERO; NEAR_WINDOWS],
            queued_at: vec![Time::NEVER; groups],
            far_groups: BinaryHeap::new(),
            listed: vec![0; groups.div_ceil(64)],
            windows: 0,
            steals: shared.barrier.has_core_each(),
            claimed: 0..0,
            claimed_from: thread,
            next_elsewhere: Time::NEVER,
            calendar: BTreeMap::new(),
            arrivals: Vec::new(),
            bucketizer: Bucketizer::new(),
            inbox: (0..largest).map(|_| Inbox::default()).collect(),
            place: places(shared.layout, shared.devices.len()),
            sent: Vec::new(),
            couplings: Vec::new(),
            finished: 0,
            delivered: 0,
            records: RecordBudget::NONE,
            must_collect: false,
            window: 0,
            end: Time::ZERO,
            carried: false,
            seen: Progress::default(),
            cancelled: false,
            over: shared.stop == Time::ZERO || shared.goal == Some(0),
            shared,
            thread,
        }
    }

    /// Whether the run goes on.
    pub(crate) fn should_continue(&self) -> bool {
        !self.over
    }

    /// How the run ended.
    pub(crate) fn outcome(&self) -> Outcome {
        let end = self.end.min(self.shared.stop);
        let Progress { finished, .. } = self.seen;
        let RecordBudget { recording_stopped_at, .. } = self.records;
        Outcome { end, finished, cancelled: self.cancelled, recording_stopped_at }
    }

    /// The free slots for packets that it had in stock, when the run is over.
    pub(crate) fn into_free_slots(self) -> Vec<u32> {
        self.packets.into_free_slots()
    }

    /// Begins the window at hand: lays out what is to be worked.
    pub(crate) fn begin_window(&mut self) {
        self.windows += 1;
        let (window, grid) = (self.window, self.shared.grid);
        self.ends = [1, 2, 3, 4].map(|ahead| grid.start(window + ahead));
        self.collect_due_groups(window, self.parity() ^ 1);
    }

    /// Of the windows so far.
    fn parity(&self) -> usize {
        (self.windows & 1) as usize
    }

    /// Works what it has laid out, or where it is alone what all have, and reports.
    pub(crate) fn run_window(&mut self, alone: bool) {
        let (window, parity) = (self.window, self.parity());
        let next_slots = [(window + 1) as usize % SLOTS, (window + 2) as usize % SLOTS];
        let ends = [self.ends[0], self.ends[1], self.ends[2]];
        let mut sender = MailSender {
            mailboxes: self.shared.mailboxes,
            owner: self.shared.owner,
            thread: self.thread,
            rotation: self.shared.layout.tie_break.rotation(),
            ends,
            reach: (ends[2] - ends[0]).ps(),
            next_slots,
            rows: next_slots.map(|slot| self.shared.mailboxes.row(slot, self.thread)),
            parity,
            posted: [self.carried, false],
            earliest_deferred: Time::NEVER,
            within: false,
        };
        let from = self.shared.grid.start(window);
        self.next_elsewhere = Time::NEVER;
        let (mut this, mut next) = (None, None);
        // What is taken is worked: nothing more is taken after a vain try.
        let mut finds = true;
        while finds || next.is_some() || this.is_some() {
            // Far apart in memory, and each is worked for longer than a fetch takes.
            let later = if finds { self.claim_group(alone) } else { None };
            finds = later.is_some();
            if let Some(group) = later {
                self.prefetch_devices(group, window);
            }
            if let Some(group) = next {
                self.prefetch_work(group, window);
            }
            if let Some(group) = this {
                self.run_group(group, window, from, &mut sender);
            }
            (this, next) = (next, later);
        }
        self.end = ends[0];
        self.carried = sender.posted[1];
        self.report(parity, self.next_event(&sender));
    }

    /// Goes on to the next window, when all have reported: where anything happens again, the same for all.
    pub(crate) fn finish_window(&mut self) {
        let RunShared { grid, stop, goal, .. } = self.shared;
        let next = self.read_reports(self.parity());
        let is_reached = goal.is_some_and(|goal| self.seen.finished >= goal);
        if grid.is_microsecond_boundary(self.window) && is_reached {
            self.over = true;
            return;
        }
        let before = self.window;
        self.window = (before + 1).max(match next {
            // Nothing will ever happen: a goal can't be reached any more.
            Time::NEVER if is_reached => before + 1,
            Time::NEVER => grid.window_of(stop),
            next => grid.window_of(next),
        });
        // A window that was skipped to empties its own slot; there is nothing in the others.
        self.carried &= self.window == before + 1;
        let start = grid.start(self.window);
        // A reached goal ends the run at the microsecond, whatever happens or does not happen then.
        if is_reached {
            self.end = self.end.round_up(Time::from_us(1));
            self.over = start >= self.end;
        } else if start >= stop && !self.cancelled {
            self.end = stop;
        }
        self.over |= start >= stop || self.cancelled;
    }

    /// Whether records are to be collected before the run goes on: the same for all.
    pub(crate) fn must_collect(&self) -> bool {
        self.must_collect && !self.over
    }

    /// Has the records of all devices collected.
    ///
    /// # Safety
    /// No other thread touches a device meanwhile.
    #[cold]
    pub(crate) unsafe fn collect_records(&self) {
        let RunShared { devices, collector, refused, .. } = self.shared;
        // SAFETY: as the caller says; each device is given out once.
        let mut all = devices.iter().map(|device| unsafe { device.get() });
        if !(collector.collect)(&mut all, self.ends[0]) {
            refused.store(true, Ordering::Relaxed);
        }
    }

    /// The records of all devices have been collected.
    #[cold]
    pub(crate) fn records_collected(&mut self) {
        (self.must_collect, self.records.held) = (false, 0);
        if self.shared.refused.load(Ordering::Relaxed) {
            self.records.recording_stopped_at = self.records.recording_stopped_at.min(self.ends[0]);
        }
    }

    /// The groups to work in this window: those that got mail and those that want to.
    fn collect_due_groups(&mut self, window: u64, parity: usize) {
        let RunShared { mailboxes, grid, .. } = self.shared;
        let slot = window as usize % SLOTS;
        for from in 0..self.shared.reports.len() {
            // SAFETY: lists of the last window for this thread; their writer is past the barrier
            // and writes lists of the other parity now.
            let deferred = unsafe { mailboxes.deferred(parity, from, self.thread).get() };
            for entry in deferred.drain(..) {
                self.calendar.entry(grid.window_of(entry.time)).or_default().push(entry);
            }
        }
        while let Some(due) = self.calendar.first_entry()
            && *due.key() <= window
        {
            debug_assert_eq!(*due.key(), window, "a packet was overtaken by time");
            let start = grid.start(window);
            for packet in due.remove() {
                // SAFETY: in its own window, a box that this thread sends to itself through is
                // touched by this thread alone.
                let mailbox = unsafe { mailboxes.mailbox(slot, self.thread, packet.device).get() };
                mailbox.push(arrival_key::entry((packet.time - start).ps(), packet.tail));
                mark_listed(&mut self.listed, self.shared.group_of[packet.device as usize]);
            }
        }
        for from in 0..self.shared.reports.len() {
            // SAFETY: the lists of this window's slot are complete since the last barrier.
            let touched = unsafe { mailboxes.touched(slot, from, self.thread).get() };
            for device in touched.drain(..) {
                mark_listed(&mut self.listed, self.shared.group_of[device as usize]);
            }
        }
        for by in 0..self.shared.reports.len() {
            // SAFETY: lists of the last window for this thread; their writer is past the barrier
            // and writes lists of the other parity now.
            let returned = unsafe { mailboxes.returned_groups(parity, by, self.thread).get() };
            for (group, wake) in returned.drain(..) {
                self.set_wake(group, wake);
            }
        }
        let end = self.ends[0];
        for group in self.near_groups[window as usize % NEAR_WINDOWS].drain(..) {
            if self.wake[group as usize] < end {
                mark_listed(&mut self.listed, group);
            }
        }
        while let Some(&Reverse((time, group))) = self.far_groups.peek()
            && time < end
        {
            self.far_groups.pop();
            self.queued_at[group as usize] = Time::NEVER;
            if self.wake[group as usize] < end {
                mark_listed(&mut self.listed, group);
            } else {
                self.schedule_far(group, self.wake[group as usize]);
            }
        }
        // Neighbours in memory one after the other: they share pages, and mostly a pod.
        let words = self.listed.iter_mut().enumerate();
        let groups =
            words.flat_map(|(word, bits)| set_bits(std::mem::take(bits), word as u32 * 64));
        self.shared.ranges[self.thread].publish(self.windows, groups);
    }

    /// `group` wants to be worked next at `wake`.
    #[inline]
    fn set_wake(&mut self, group: u32, wake: Time) {
        self.wake[group as usize] = wake;
        // In how many windows can't be guessed.
        let ahead = self.ends.iter().filter(|&&end| end <= wake).count();
        if ahead < NEAR_WINDOWS {
            self.near_groups[(self.window as usize + ahead) % NEAR_WINDOWS].push(group);
        } else if wake != Time::NEVER {
            self.schedule_far(group, wake);
        }
    }

    /// Has `group` worked again when `time` comes.
    #[inline]
    fn schedule_far(&mut self, group: u32, time: Time) {
        if time < self.queued_at[group as usize] {
            self.queued_at[group as usize] = time;
            self.far_groups.push(Reverse((time, group)));
        }
    }

    /// The device of a group that has one alone.
    #[inline]
    fn single_device(&self, group: u32) -> Option<u32> {
        let device = self.single_device[group as usize];
        (device != NOT_SINGLE).then_some(device)
    }

    fn run_group(&mut self, group: u32, window: u64, from: Time, sender: &mut MailSender<'a>) {
        let wake = match self.single_device(group) {
            Some(device) => self.advance_single(device, window, from, sender),
            None => {
                let Layout { groups, hubs, .. } = self.shared.layout;
                let devices = &groups[group as usize];
                hubs[group as usize]
                    .and_then(|hub| {
                        self.advance_hub_group((group, hub), devices, window, from, sender)
                    })
                    .unwrap_or_else(|| self.advance_group(group, devices, window, from, sender))
            }
        };
        let owner = usize::from(self.shared.layout.owner[group as usize]);
        if owner != self.thread {
            self.next_elsewhere = self.next_elsewhere.min(wake);
            // SAFETY: this thread alone writes its lists of this parity in this window.
            unsafe { sender.mailboxes.returned_groups(sender.parity, self.thread, owner).get() }
                .push((group, wake));
            return;
        }
        self.set_wake(group, wake);
    }

    #[inline]
    fn advance_single(
        &mut self,
        device: u32,
        window: u64,
        from: Time,
        sender: &mut MailSender<'a>,
    ) -> Time {
        let mut gathered = std::mem::take(&mut self.arrivals);
        let arrivals = self.shared.mailboxes.arrived(window, device, &mut gathered);
        let wake = self.advance_device(device, arrivals, (from, sender.ends[0]), sender);
        arrivals.clear();
        self.arrivals = gathered;
        wake
    }

    #[inline(always)]
    fn advance_device(
        &mut self,
        device: u32,
        arrivals: &mut [u64],
        span: (Time, Time),
        sender: &mut MailSender<'a>,
    ) -> Time {
        self.delivered += arrivals.len() as u64;
        // SAFETY: a group is worked by who took it, once in a window.
        let this = unsafe { self.shared.devices[device as usize].get() };
        if this.wants_buckets(arrivals.len())
            && let Some(wake) = this.advance_bucketed(&mut self.window_of(arrivals, span, sender))
        {
            return wake;
        }
        self.bucketizer.sorter.sort(arrivals);
        reorder_arrivals(this, self.shared.layout.tie_break, &self.packets, span.0, arrivals);
        this.advance(&mut self.window_of(arrivals, span, sender))
    }

    /// The window at hand, from when until when, as a device sees it that has it for itself.
    #[inline]
    fn window_of<'w>(
        &'w mut self,
        arrivals: &'w [u64],
        (base, until): (Time, Time),
        sender: &'w mut MailSender<'a>,
    ) -> Window<'w, 'a, D::Packet> {
        Window {
            packets: &mut self.packets,
            base,
            until,
            arrivals,
            sender,
            group: None,
            bucketizer: &mut self.bucketizer,
            finished: &mut self.finished,
            records: &mut self.records,
        }
    }

    /// The earliest time at which anything this thread knows of will happen.
    fn next_event(&self, sender: &MailSender<'_>) -> Time {
        let mut next = match sender.posted {
            // Nothing can be earlier.
            [true, _] => return sender.ends[0],
            [false, true] => sender.ends[1],
            [false, false] => sender.earliest_deferred,
        };
        next = next.min(self.next_elsewhere);
        for &group in self.near_groups.iter().flatten() {
            next = next.min(self.wake[group as usize]);
        }
        if let Some(&Reverse((time, _))) = self.far_groups.peek() {
            next = next.min(time);
        }
        if let Some((&window, _)) = self.calendar.first_key_value() {
            next = next.min(self.shared.grid.start(window));
        }
        next
    }

    /// Says what the others must know to go on.
    fn report(&mut self, parity: usize, next: Time) {
        let RunShared { reports, watch, .. } = self.shared;
        let report = &reports[self.thread];
        report.next[parity].store(next.ps(), Ordering::Relaxed);
        report.finished[parity].store(self.finished, Ordering::Relaxed);
        report.delivered[parity].store(self.delivered, Ordering::Relaxed);
        report.recorded[parity].store(self.records.entries, Ordering::Relaxed);
        report.held[parity].store(self.records.held, Ordering::Relaxed);
        let cancel = self.thread == 0 && !watch(self.seen);
        report.cancel[parity].store(cancel, Ordering::Relaxed);
    }

    /// What all have done, and the next event of all.
    fn read_reports(&mut self, parity: usize) -> Time {
        let mut next = u64::MAX;
        let (mut finished, mut delivered, mut recorded, mut held) = (0, 0, 0, 0);
        for report in self.shared.reports {
            next = next.min(report.next[parity].load(Ordering::Relaxed));
            finished += report.finished[parity].load(Ordering::Relaxed);
            delivered += report.delivered[parity].load(Ordering::Relaxed);
            recorded += report.recorded[parity].load(Ordering::Relaxed);
            held += report.held[parity].load(Ordering::Relaxed);
            self.cancelled |= report.cancel[parity].load(Ordering::Relaxed);
        }
        self.seen.finished = finished;
        self.seen.packets_delivered = delivered;
        self.records.limit(recorded, self.shared.max_records, self.end);
        self.must_collect = held > self.shared.collector.max_held_bytes;
        if next != u64::MAX {
            self.seen.time = Time::from_ps(next);
        }
        Time::from_ps(next)
    }
}

/// The bits that are set, counted from `first`.
fn set_bits(mut bits: u64, first: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| first + bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        bit
    })
}

/// Has `group` worked in this window.
#[inline]
fn mark_listed(listed: &mut [u64], group: u32) {
    listed[group as usize / 64] |= 1 << (group % 64);
}
