//! A worker: what one thread does in each window.
//!
//! In each window it finds the groups that are due (`worker/schedule.rs`; `worker/wake_queue.rs` is
//! their queue) and claims them one by one (`worker/claim.rs`). It advances their devices: here
//! those of groups with one device, in `worker/group.rs` and `worker/hub.rs` those of others. Then
//! it reports to the other workers (`worker/report.rs`).

mod claim;
mod group;
mod hub;
mod report;
mod schedule;
mod wake_queue;

use self::group::{Inbox, indices_in_groups};
use self::hub::HubGroup;
pub(crate) use self::report::WorkerReport;
pub(crate) use self::schedule::Schedule;
use crate::arena::{Arena, Packets};
use crate::arrival_key::{Entry, Tail, TieBreak};
use crate::buckets::{Bucketing, Bucketizer};
use crate::config::{Collector, Group};
use crate::device::{Device, reorder_arrivals};
use crate::mailbox::{MailSender, PhaseCell, Slot};
use crate::run_state::RunShared;
use crate::sync::Ordering;
use crate::window::Window;
use units::Time;

/// A window of the run.
#[derive(Clone, Copy)]
struct Span {
    /// Its index.
    window: u64,
    begin: Time,
    until: Time,
}

/// The devices of a run and their packets, which all workers share.
pub(crate) struct RunDevices<'a, D: Device> {
    pub(crate) cells: &'a [PhaseCell<D>],
    pub(crate) arena: &'a Arena<D::Packet>,
    pub(crate) collector: Collector<'a, D>,
}

impl<D: Device> Clone for RunDevices<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D: Device> Copy for RunDevices<'_, D> {}

/// The state of one thread's part of a run. In a solo period the first thread runs all workers.
pub(crate) struct Worker<'a, D: Device> {
    /// Which groups are due, and how far the run has come.
    pub(crate) schedule: Schedule<'a>,
    devices: RunDevices<'a, D>,
    packets: Packets<'a, D::Packet>,
    arrivals: Vec<Entry>,
    bucketizer: Bucketizer,
    /// For a group of several devices: the arrivals of each device, by its index in the group.
    inbox: Vec<Inbox>,
    /// The index of each device in its group.
    index_in_group: Vec<u32>,
    /// For a group of several devices: what they sent to each other in a step.
    sent: Vec<(u32, Time, Tail)>,
    /// For a group with a hub: the couplings of each device, by its index in the group.
    couplings: Vec<i64>,
}

impl<'a, D: Device> Worker<'a, D> {
    pub(crate) fn new(
        shared: RunShared<'a>,
        devices: RunDevices<'a, D>,
        thread: usize,
    ) -> Worker<'a, D> {
        let largest =
            shared.layout.groups.iter().map(|group| group.devices.len()).max().unwrap_or(0);
        Worker {
            schedule: Schedule::new(shared, thread),
            packets: devices.arena.packets(),
            arrivals: Vec::new(),
            bucketizer: Bucketizer::new(),
            inbox: Inbox::several(largest),
            index_in_group: indices_in_groups(shared.layout, devices.cells.len()),
            sent: Vec::new(),
            couplings: Vec::new(),
            devices,
        }
    }

    /// Returns its free packet slots after the run.
    pub(crate) fn into_free_slots(self) -> Vec<u32> {
        self.packets.into_free_slots()
    }

    /// Runs groups that are due, and reports. Runs the groups of all workers if it is `alone`.
    pub(crate) fn run_window(&mut self, alone: bool) {
        let (window, parity) = (self.schedule.window, self.schedule.parity());
        let next_slots = [window + 1, window + 2].map(Slot::of);
        let [end, next, after, _] = *self.schedule.queue.ends();
        let ends = [end, next, after];
        let mut sender = MailSender {
            mailboxes: self.schedule.shared.mailboxes,
            owner: self.schedule.shared.owner,
            thread: self.schedule.thread,
            rotation: self.schedule.shared.layout.tie_break.rotation(),
            ends,
            span_ps: (ends[2] - ends[0]).ps(),
            next_slots,
            rows: next_slots
                .map(|slot| self.schedule.shared.mailboxes.row(slot, self.schedule.thread)),
            parity,
            posted: [self.schedule.carried, false],
            earliest_deferred: Time::NEVER,
            within: false,
        };
        let begin = self.schedule.shared.grid.start(window);
        let span = Span { window, begin, until: ends[0] };
        self.schedule.next_elsewhere = Time::NEVER;
        let (mut this, mut next) = (None, None);
        // A pipeline of three groups: one is run while the next two are prefetched. They lie far
        // apart in memory, and running one takes longer than a prefetch. Nothing is claimed after
        // the first failure.
        let mut finds = true;
        while finds || next.is_some() || this.is_some() {
            let later = if finds { self.schedule.claim_group(alone) } else { None };
            finds = later.is_some();
            if let Some(group) = later {
                self.prefetch_devices(group, window);
            }
            if let Some(group) = next {
                self.prefetch_work(group, window);
            }
            if let Some(group) = this {
                self.run_group(group, span, &mut sender);
            }
            (this, next) = (next, later);
        }
        self.schedule.end = ends[0];
        self.schedule.carried = sender.posted[1];
        self.schedule.report(parity, self.schedule.next_event(&sender));
    }

    /// Lets the collector take the records of all devices.
    ///
    /// # Safety
    /// No other thread touches a device during the call.
    #[cold]
    pub(crate) unsafe fn collect_records(&self) {
        let RunDevices { cells, collector, .. } = self.devices;
        // SAFETY: no other thread touches a device, and each is given out once.
        let mut all = cells.iter().map(|device| unsafe { device.get() });
        if !(collector.collect)(&mut all, self.schedule.queue.ends()[0]) {
            self.schedule.shared.refused.store(true, Ordering::Relaxed);
        }
    }

    /// Whether devices may put the arrivals of an instant into an order of their own. Then a hub
    /// can't separate its arrivals before they are in order.
    #[inline]
    fn has_device_order(&self) -> bool {
        self.schedule.shared.layout.tie_break == TieBreak::DeviceOrder
    }

    /// Runs the window of a group that it has claimed.
    fn run_group(&mut self, group: u32, span: Span, sender: &mut MailSender<'a>) {
        let wake = match self.schedule.single_device(group) {
            Some(device) => self.advance_single(device, span, sender),
            None => {
                let Group { devices, hub, .. } =
                    &self.schedule.shared.layout.groups[group as usize];
                hub.filter(|_| !self.has_device_order())
                    .and_then(|hub| {
                        let rack = HubGroup { group, hub, devices };
                        self.advance_hub_group(rack, span, sender)
                    })
                    .unwrap_or_else(|| self.advance_group(group, devices, span, sender))
            }
        };
        let owner = usize::from(self.schedule.shared.group_owner[group as usize]);
        if owner != self.schedule.thread {
            self.schedule.next_elsewhere = self.schedule.next_elsewhere.min(wake);
            // SAFETY: only this thread writes its lists of this parity in this window.
            unsafe {
                sender.mailboxes.returned_groups(sender.parity, self.schedule.thread, owner).get()
            }
            .push((group, wake));
            return;
        }
        self.schedule.queue.set(group, wake);
    }

    /// Runs the window of a group that has one device. Returns the time of its next event.
    #[inline]
    fn advance_single(&mut self, device: u32, span: Span, sender: &mut MailSender<'a>) -> Time {
        let mut gathered = std::mem::take(&mut self.arrivals);
        let mailboxes = self.schedule.shared.mailboxes;
        // SAFETY: this thread has claimed the device's group in this window.
        let arrivals = unsafe { mailboxes.arrived(span.window, device, &mut gathered) };
        let wake = self.advance_device(device, arrivals, span, sender);
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
        arrivals: &mut [Entry],
        span: Span,
        sender: &mut MailSender<'a>,
    ) -> Time {
        self.schedule.delivered += arrivals.len() as u64;
        // SAFETY: this thread has claimed the device's group in this window.
        let this = unsafe { self.devices.cells[device as usize].get() };
        let bucketing = this.wants_buckets(arrivals.len());
        // An order of the device's own concerns all arrivals, whatever bucket they go to.
        let in_order = self.has_device_order() || bucketing == Bucketing::InOrder;
        if in_order {
            self.bucketizer.sorter.sort(arrivals);
            let tie_break = self.schedule.shared.layout.tie_break;
            reorder_arrivals(this, tie_break, &self.packets, span.begin, arrivals);
        }
        if bucketing != Bucketing::None {
            let view = &mut self.window_of((arrivals, in_order), span, sender);
            if let Some(wake) = this.advance_bucketed(view) {
                return wake;
            }
            assert_eq!(view.remaining_arrivals(), arrivals.len(), "they are handled in order now");
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
        (arrivals, in_order): (&'w [Entry], bool),
        span: Span,
        sender: &'w mut MailSender<'a>,
    ) -> Window<'w, 'a, D::Packet> {
        Window {
            packets: &mut self.packets,
            begin: span.begin,
            until: span.until,
            arrivals,
            in_order,
            sender,
            group: None,
            bucketizer: &mut self.bucketizer,
            finished: &mut self.schedule.finished,
            records: &mut self.schedule.records,
        }
    }
}
