//! Which groups are due in a window, and when anything happens next.

use super::wake_queue::WakeQueue;
use crate::arrival_key::Entry;
use crate::config::{Group, Outcome, Progress};
use crate::mailbox::{DeferredPacket, MailSender, Parity, Slot};
use crate::run_state::RunShared;
use crate::sync::Ordering;
use crate::window::RecordBudget;
use std::collections::BTreeMap;
use std::ops::Range;
use units::Time;

/// Stands for the device of a group that has several.
const NOT_SINGLE: u32 = u32::MAX;

/// Which groups of a thread are due, which it claims, and how far the run has come: a worker
/// without its devices. Compiled once for all types of devices.
pub(crate) struct Schedule<'a> {
    pub(super) shared: RunShared<'a>,
    pub(super) thread: usize,
    /// The device of each group that has only one, else [`NOT_SINGLE`].
    single_device: Vec<u32>,
    /// When each of its groups is due.
    pub(super) queue: WakeQueue,
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
        let mine = |group: &u32| usize::from(shared.group_owner[*group as usize]) == thread;
        let single = |group: &Group| match group.devices.as_slice() {
            &[device] => device,
            _ => NOT_SINGLE,
        };
        Schedule {
            single_device: groups.iter().map(single).collect(),
            queue: WakeQueue::new(groups.len(), (0..groups.len() as u32).filter(mine)),
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
        self.queue.begin_window(window, [1, 2, 3, 4].map(|ahead| grid.start(window + ahead)));
        self.publish_due_groups(window, self.parity().other());
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
            self.records.recording_stopped_at =
                self.records.recording_stopped_at.min(self.queue.ends()[0]);
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
    fn publish_due_groups(&mut self, window: u64, parity: Parity) {
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
                self.queue.make_due(self.shared.group_of[packet.device as usize]);
            }
        }
        for sender in 0..self.shared.reports.len() {
            // SAFETY: the lists of this window's slot are complete since the last barrier, and this
            // one is for this thread.
            let touched = unsafe { mailboxes.touched(slot, sender, self.thread).get() };
            for device in touched.drain(..) {
                self.queue.make_due(self.shared.group_of[device as usize]);
            }
        }
        for by in 0..self.shared.reports.len() {
            // SAFETY: the list is for this thread. Its writer has passed the barrier, and writes
            // lists of the other parity in this window.
            let returned = unsafe { mailboxes.returned_groups(parity, by, self.thread).get() };
            for (group, wake) in returned.drain(..) {
                self.queue.set(group, wake);
            }
        }
        self.shared.ranges[self.thread].publish(self.windows, self.queue.take_due());
    }

    /// Returns the earliest time at which anything will happen that this worker knows of.
    pub(super) fn next_event(&self, sender: &MailSender<'_>) -> Time {
        let mut next = match sender.posted {
            // Nothing can be earlier.
            [true, _] => return sender.ends[0],
            [false, true] => sender.ends[1],
            [false, false] => sender.earliest_deferred,
        };
        next = next.min(self.next_elsewhere).min(self.queue.next());
        if let Some((&window, _)) = self.calendar.first_key_value() {
            next = next.min(self.shared.grid.start(window));
        }
        next
    }
}
