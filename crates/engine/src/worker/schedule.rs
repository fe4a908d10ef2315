//! Which groups are due in a window, and when anything happens next.

use crate::arrival_key::Entry;
use crate::config::{Group, Outcome, Progress};
use crate::mailbox::{DeferredPacket, MailSender, Parity, Slot};
use crate::run_state::RunShared;
use crate::sync::Ordering;
use crate::window::RecordBudget;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use units::Time;

/// Windows that have a list of due groups: the current one and the next three.
const NEAR_WINDOWS: usize = 4;

/// Stands for the device of a group that has several.
const NOT_SINGLE: u32 = u32::MAX;

/// Which groups of a thread are due, which it claims, and how far the run has come: a worker
/// without its devices. Compiled once for all types of devices.
pub(crate) struct Schedule<'a> {
    pub(super) shared: RunShared<'a>,
    pub(super) thread: usize,
    /// The device of each group that has only one, else [`NOT_SINGLE`].
    single_device: Vec<u32>,
    /// Time of the next event of each group. Groups of other threads are unused.
    wake: Vec<Time>,
    /// Groups by the window of their next event, for the near windows in turn. An entry may be
    /// outdated: then `wake` differs, and the group is in another list, too.
    near_groups: [Vec<u32>; NEAR_WINDOWS],
    /// When the near windows end.
    pub(super) ends: [Time; NEAR_WINDOWS],
    /// The earliest entry of each group in `far_groups`.
    queued_at: Vec<Time>,
    /// Groups whose next event is after the near windows.
    far_groups: BinaryHeap<Reverse<(Time, u32)>>,
    /// One bit for each group: whether it is due in this window.
    listed: Vec<u64>,
    /// Number of windows so far.
    pub(super) windows: u64,
    /// Whether it steals groups: only if each thread has a core. Otherwise a thread that gets a
    /// core should run its own groups, which are in its cache.
    pub(super) steals: bool,
    /// Indices of groups that it has claimed and not run yet, in the range of thread
    /// `claimed_from`.
    pub(super) claimed: Range<u32>,
    pub(super) claimed_from: usize,
    /// The earliest next event of the groups that it stole in this window.
    pub(super) next_elsewhere: Time,
    /// Packets that arrive beyond the mailbox slots, by window.
    calendar: BTreeMap<u64, Vec<DeferredPacket>>,
    pub(super) finished: u64,
    pub(super) delivered: u64,
    /// Entries that its devices recorded, and when recording stopped.
    pub(super) records: RecordBudget,
    /// Whether the records of all workers take so much memory that they must be collected.
    pub(super) must_collect: bool,
    /// Index of the current window.
    pub(super) window: u64,
    /// End of the last window that was run, or of the run.
    pub(super) end: Time,
    /// Whether it sent, in the last window, a packet that arrives in the window after the current
    /// one.
    pub(super) carried: bool,
    /// Progress of all workers at the last barrier.
    pub(super) seen: Progress,
    pub(super) cancelled: bool,
    over: bool,
}

impl<'a> Schedule<'a> {
    pub(super) fn new(shared: RunShared<'a>, thread: usize) -> Schedule<'a> {
        let groups = &shared.layout.groups;
        let count = groups.len();
        let mine = |group: &u32| usize::from(shared.group_owner[*group as usize]) == thread;
        let single = |group: &Group| match group.devices.as_slice() {
            &[device] => device,
            _ => NOT_SINGLE,
        };
        Schedule {
            single_device: groups.iter().map(single).collect(),
            wake: vec![Time::ZERO; count],
            // Each group is due in the first window, and returns the time of its next event.
            near_groups: [(0..count as u32).filter(mine).collect(), vec![], vec![], vec![]],
            ends: [Time::ZERO; NEAR_WINDOWS],
            queued_at: vec![Time::NEVER; count],
            far_groups: BinaryHeap::new(),
            listed: vec![0; count.div_ceil(64)],
            windows: 0,
            steals: shared.barrier.has_core_each(),
            claimed: 0..0,
            claimed_from: thread,
            next_elsewhere: Time::NEVER,
            calendar: BTreeMap::new(),
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

    /// Begins the current window: publishes the groups that are due.
    pub(crate) fn begin_window(&mut self) {
        self.windows += 1;
        let (window, grid) = (self.window, self.shared.grid);
        self.ends = [1, 2, 3, 4].map(|ahead| grid.start(window + ahead));
        self.collect_due_groups(window, self.parity().other());
    }

    /// Parity of the number of windows so far.
    pub(super) fn parity(&self) -> Parity {
        Parity::of(self.windows)
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

    /// Called when the records of all devices have been collected.
    #[cold]
    pub(crate) fn records_collected(&mut self) {
        (self.must_collect, self.records.held) = (false, 0);
        if self.shared.refused.load(Ordering::Relaxed) {
            self.records.recording_stopped_at = self.records.recording_stopped_at.min(self.ends[0]);
        }
    }

    /// Returns the device of a group that has only one.
    #[inline(always)]
    pub(super) fn single_device(&self, group: u32) -> Option<u32> {
        let device = self.single_device[group as usize];
        (device != NOT_SINGLE).then_some(device)
    }

    /// Publishes the groups that are due in the window: those with arrivals, and those whose
    /// devices have events of their own. `parity` is that of the window before.
    fn collect_due_groups(&mut self, window: u64, parity: Parity) {
        let RunShared { mailboxes, grid, .. } = self.shared;
        let slot = Slot::of(window);
        for sender in 0..self.shared.reports.len() {
            // SAFETY: the list is for this thread. Its writer has passed the barrier, and writes
            // lists of the other parity in this window.
            let deferred = unsafe { mailboxes.deferred(parity, sender, self.thread).get() };
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
                // SAFETY: in this window, only the thread that claims the group touches the
                // mailbox, and the group has not been published.
                let mailbox = unsafe { mailboxes.mailbox(slot, self.thread, packet.device).get() };
                mailbox.push(Entry::new((packet.time - start).ps(), packet.tail));
                mark_listed(&mut self.listed, self.shared.group_of[packet.device as usize]);
            }
        }
        for sender in 0..self.shared.reports.len() {
            // SAFETY: the lists of this window's slot are complete since the last barrier, and this
            // one is for this thread.
            let touched = unsafe { mailboxes.touched(slot, sender, self.thread).get() };
            for device in touched.drain(..) {
                mark_listed(&mut self.listed, self.shared.group_of[device as usize]);
            }
        }
        for by in 0..self.shared.reports.len() {
            // SAFETY: the list is for this thread. Its writer has passed the barrier, and writes
            // lists of the other parity in this window.
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
        // In order of their index: neighbours in memory share pages, and usually a pod.
        let words = self.listed.iter_mut().enumerate();
        let groups =
            words.flat_map(|(word, bits)| set_bits(std::mem::take(bits), word as u32 * 64));
        self.shared.ranges[self.thread].publish(self.windows, groups);
    }

    /// Sets the time of the next event of a group.
    #[inline(always)]
    pub(super) fn set_wake(&mut self, group: u32, wake: Time) {
        self.wake[group as usize] = wake;
        // Counted without branches, which would be mispredicted.
        let ahead = self.ends.iter().filter(|&&end| end <= wake).count();
        if ahead < NEAR_WINDOWS {
            self.near_groups[(self.window as usize + ahead) % NEAR_WINDOWS].push(group);
        } else if wake != Time::NEVER {
            self.schedule_far(group, wake);
        }
    }

    /// Schedules a group for a window beyond the near ones.
    #[inline]
    fn schedule_far(&mut self, group: u32, time: Time) {
        if time < self.queued_at[group as usize] {
            self.queued_at[group as usize] = time;
            self.far_groups.push(Reverse((time, group)));
        }
    }

    /// Returns the earliest time at which anything will happen that this worker knows of.
    pub(super) fn next_event(&self, sender: &MailSender<'_>) -> Time {
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
}

/// Returns the positions of the bits that are set. The first bit has position `first`.
fn set_bits(mut bits: u64, first: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| first + bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        bit
    })
}

/// Marks a group as due in this window.
#[inline]
fn mark_listed(listed: &mut [u64], group: u32) {
    listed[group as usize / 64] |= 1 << (group % 64);
}
