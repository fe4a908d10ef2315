//! A worker: what one thread does in each window.
//!
//! In each window it finds the groups that are due (`worker/schedule.rs`), claims them one by one
//! (`worker/claim.rs`), advances their devices (here for groups of one device, `worker/group.rs`
//! and `worker/hub.rs` for others), and reports to the other workers (`worker/report.rs`).

mod claim;
mod group;
mod hub;
mod report;
mod schedule;

use self::group::{Inbox, indices_in_groups};
pub(crate) use self::report::WorkerReport;
use crate::arena::{Arena, Packets};
use crate::arrival_key::TieBreak;
use crate::barrier::Barrier;
use crate::buckets::Bucketizer;
use crate::config::{Collector, Layout, Outcome, Progress, ProgressCallback};
use crate::device::{Device, reorder_arrivals};
use crate::group_range::GroupRange;
use crate::mailbox::{DeferredPacket, MailSender, Mailboxes, PhaseCell, SLOTS};
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crate::window::{RecordBudget, Window};
use crate::window_grid::Grid;
use crossbeam_utils::CachePadded;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use units::Time;

/// What all workers of a run share.
pub(crate) struct RunShared<'a, D: Device> {
    pub(crate) devices: &'a [PhaseCell<D>],
    pub(crate) layout: &'a Layout,
    /// The group of each device.
    pub(crate) group_of: &'a [u32],
    /// The thread that owns each device.
    pub(crate) owner: &'a [u16],
    pub(crate) mailboxes: &'a Mailboxes,
    /// For each thread, the groups that it has to run in the current window.
    pub(crate) ranges: &'a [CachePadded<GroupRange>],
    /// The time of each device's next event, ps, if its group has several devices. Written by the
    /// thread that has claimed the group.
    pub(crate) device_wake: &'a [AtomicU64],
    pub(crate) arena: &'a Arena<D::Packet>,
    pub(crate) barrier: &'a Barrier,
    pub(crate) grid: Grid,
    pub(crate) goal: Option<u64>,
    pub(crate) max_records: u64,
    pub(crate) stop: Time,
    /// By thread.
    pub(crate) reports: &'a [CachePadded<WorkerReport>],
    pub(crate) watch: ProgressCallback<'a>,
    pub(crate) collector: Collector<'a, D>,
    /// Whether the collector takes no more records.
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

/// Windows that have a list of due groups: the current one and the next three.
const NEAR_WINDOWS: usize = 4;

/// Stands for the device of a group that has several.
const NOT_SINGLE: u32 = u32::MAX;

/// The state of one thread's part of a run. In a solo period the first thread runs all workers.
pub(crate) struct Worker<'a, D: Device> {
    shared: RunShared<'a, D>,
    thread: usize,
    packets: Packets<'a, D::Packet>,
    /// The device of each group that has only one, else [`NOT_SINGLE`].
    single_device: Vec<u32>,
    /// Time of the next event of each group. Groups of other threads are unused.
    wake: Vec<Time>,
    /// Groups by the window of their next event, for the near windows in turn. An entry may be
    /// outdated: then `wake` differs, and the group is in another list, too.
    near_groups: [Vec<u32>; NEAR_WINDOWS],
    /// When the near windows end.
    ends: [Time; NEAR_WINDOWS],
    /// The earliest entry of each group in `far_groups`.
    queued_at: Vec<Time>,
    /// Groups whose next event is after the near windows.
    far_groups: BinaryHeap<Reverse<(Time, u32)>>,
    /// One bit for each group: whether it is due in this window.
    listed: Vec<u64>,
    /// Number of windows so far.
    windows: u64,
    /// Whether it steals groups: only if each thread has a core. Otherwise a thread that gets a
    /// core should run its own groups, which are in its cache.
    steals: bool,
    /// Indices of groups that it has claimed and not run yet, in the range of thread
    /// `claimed_from`.
    claimed: Range<u32>,
    claimed_from: usize,
    /// The earliest next event of the groups that it stole in this window.
    next_elsewhere: Time,
    /// Packets that arrive beyond the mailbox slots, by window.
    calendar: BTreeMap<u64, Vec<DeferredPacket>>,
    arrivals: Vec<u64>,
    bucketizer: Bucketizer,
    /// For a group of several devices: the arrivals of each device, by its index in the group.
    inbox: Vec<Inbox>,
    /// The index of each device in its group.
    index_in_group: Vec<u32>,
    /// For a group of several devices: what they sent to each other in a step.
    sent: Vec<(u32, Time, u64)>,
    /// For a group with a hub: the couplings of each device, by its index in the group.
    couplings: Vec<i64>,
    finished: u64,
    delivered: u64,
    /// Entries that its devices recorded, and when recording stopped.
    records: RecordBudget,
    /// Whether the records of all workers take so much memory that they must be collected.
    must_collect: bool,
    /// Index of the current window.
    window: u64,
    /// End of the last window that was run, or of the run.
    end: Time,
    /// Whether it sent, in the last window, a packet that arrives in the window after the current
    /// one.
    carried: bool,
    /// Progress of all workers at the last barrier.
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
            // Each group is due in the first window, and returns the time of its next event.
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
            index_in_group: indices_in_groups(shared.layout, shared.devices.len()),
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

    /// Whether the run continues.
    pub(crate) fn should_continue(&self) -> bool {
        !self.over
    }

    /// Returns how the run ended.
    pub(crate) fn outcome(&self) -> Outcome {
        let end = self.end.min(self.shared.stop);
        let Progress { finished, .. } = self.seen;
        let RecordBudget { recording_stopped_at, .. } = self.records;
        Outcome { end, finished, cancelled: self.cancelled, recording_stopped_at }
    }

    /// Returns its free packet slots after the run.
    pub(crate) fn into_free_slots(self) -> Vec<u32> {
        self.packets.into_free_slots()
    }

    /// Begins the current window: publishes the groups that are due.
    pub(crate) fn begin_window(&mut self) {
        self.windows += 1;
        let (window, grid) = (self.window, self.shared.grid);
        self.ends = [1, 2, 3, 4].map(|ahead| grid.start(window + ahead));
        self.collect_due_groups(window, self.parity() ^ 1);
    }

    /// Parity of the number of windows so far.
    fn parity(&self) -> usize {
        (self.windows & 1) as usize
    }

    /// Runs groups that are due, and reports. Runs the groups of all workers if it is `alone`.
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
            span_ps: (ends[2] - ends[0]).ps(),
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
        // A pipeline of three groups: one is run while the next two are prefetched. They lie far
        // apart in memory, and running one takes longer than a prefetch. Nothing is claimed after
        // the first failure.
        let mut finds = true;
        while finds || next.is_some() || this.is_some() {
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

    /// Goes on to the next window in which anything happens, which is equal for all workers. Called
    /// when all have reported.
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
            // Nothing will ever happen, so the goal cannot be reached any more.
            Time::NEVER if is_reached => before + 1,
            Time::NEVER => grid.window_of(stop),
            next => grid.window_of(next),
        });
        // If windows were skipped, the other slots are empty.
        self.carried &= self.window == before + 1;
        let start = grid.start(self.window);
        // If the goal is reached, the run ends at the microsecond, whether anything happens then or
        // not.
        if is_reached {
            self.end = self.end.round_up(Time::from_us(1));
            self.over = start >= self.end;
        } else if start >= stop && !self.cancelled {
            self.end = stop;
        }
        self.over |= start >= stop || self.cancelled;
    }

    /// Whether records must be collected before the run continues, which is equal for all workers.
    pub(crate) fn must_collect(&self) -> bool {
        self.must_collect && !self.over
    }

    /// Lets the collector take the records of all devices.
    ///
    /// # Safety
    /// No other thread touches a device during the call.
    #[cold]
    pub(crate) unsafe fn collect_records(&self) {
        let RunShared { devices, collector, refused, .. } = self.shared;
        // SAFETY: no other thread touches a device, and each is given out once.
        let mut all = devices.iter().map(|device| unsafe { device.get() });
        if !(collector.collect)(&mut all, self.ends[0]) {
            refused.store(true, Ordering::Relaxed);
        }
    }

    /// Called when the records of all devices have been collected.
    #[cold]
    pub(crate) fn records_collected(&mut self) {
        (self.must_collect, self.records.held) = (false, 0);
        if self.shared.refused.load(Ordering::Relaxed) {
            self.records.recording_stopped_at = self.records.recording_stopped_at.min(self.ends[0]);
        }
    }

    /// Returns the device of a group that has only one.
    #[inline]
    fn single_device(&self, group: u32) -> Option<u32> {
        let device = self.single_device[group as usize];
        (device != NOT_SINGLE).then_some(device)
    }

    /// Whether devices may put the arrivals of an instant into an order of their own. Then a hub
    /// can't separate its arrivals before they are in order.
    #[inline]
    fn has_device_order(&self) -> bool {
        self.shared.layout.tie_break == TieBreak::DeviceOrder
    }

    /// Runs the window of a group that it has claimed.
    fn run_group(&mut self, group: u32, window: u64, from: Time, sender: &mut MailSender<'a>) {
        let wake = match self.single_device(group) {
            Some(device) => self.advance_single(device, window, from, sender),
            None => {
                let Layout { groups, hubs, .. } = self.shared.layout;
                let devices = &groups[group as usize];
                hubs[group as usize]
                    .filter(|_| !self.has_device_order())
                    .and_then(|hub| {
                        self.advance_hub_group((group, hub), devices, window, from, sender)
                    })
                    .unwrap_or_else(|| self.advance_group(group, devices, window, from, sender))
            }
        };
        let owner = usize::from(self.shared.layout.owner[group as usize]);
        if owner != self.thread {
            self.next_elsewhere = self.next_elsewhere.min(wake);
            // SAFETY: only this thread writes its lists of this parity in this window.
            unsafe { sender.mailboxes.returned_groups(sender.parity, self.thread, owner).get() }
                .push((group, wake));
            return;
        }
        self.set_wake(group, wake);
    }

    /// Runs the window of a group that has one device. Returns the time of its next event.
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

    /// Advances a device through a whole window, in buckets if it wants to, else in order. Returns
    /// the time of its next event.
    #[inline(always)]
    fn advance_device(
        &mut self,
        device: u32,
        arrivals: &mut [u64],
        span: (Time, Time),
        sender: &mut MailSender<'a>,
    ) -> Time {
        self.delivered += arrivals.len() as u64;
        // SAFETY: this thread has claimed the device's group in this window.
        let this = unsafe { self.shared.devices[device as usize].get() };
        // An order of the device's own concerns all arrivals, whatever bucket they go to.
        let in_order = self.has_device_order();
        if in_order {
            self.bucketizer.sorter.sort(arrivals);
            let tie_break = self.shared.layout.tie_break;
            reorder_arrivals(this, tie_break, &self.packets, span.0, arrivals);
        }
        if this.wants_buckets(arrivals.len())
            && let Some(wake) =
                this.advance_bucketed(&mut self.window_of((arrivals, in_order), span, sender))
        {
            return wake;
        }
        if !in_order {
            self.bucketizer.sorter.sort(arrivals);
        }
        this.advance(&mut self.window_of((arrivals, true), span, sender))
    }

    /// Returns the window as a device sees it that is advanced through all of it.
    #[inline]
    fn window_of<'w>(
        &'w mut self,
        (arrivals, in_order): (&'w [u64], bool),
        (base, until): (Time, Time),
        sender: &'w mut MailSender<'a>,
    ) -> Window<'w, 'a, D::Packet> {
        Window {
            packets: &mut self.packets,
            base,
            until,
            arrivals,
            in_order,
            sender,
            group: None,
            bucketizer: &mut self.bucketizer,
            finished: &mut self.finished,
            records: &mut self.records,
        }
    }
}
