//! What the workers of a run share, and its state at the beginning.

use crate::barrier::Barrier;
use crate::config::{Layout, ProgressCallback, RunLimits};
use crate::device::Device;
use crate::group_range::GroupRange;
use crate::mailbox::Mailboxes;
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crate::window_grid::Grid;
use crate::worker::{RunDevices, Worker, WorkerReport};
use crate::worker_pool::WorkerPool;
use crossbeam_utils::CachePadded;
use units::Time;

/// Owns what all workers of a run share.
pub(crate) struct RunState<'a> {
    layout: &'a Layout,
    group_of: Vec<u32>,
    owner: Vec<u16>,
    group_owner: Vec<u16>,
    mailboxes: Mailboxes,
    ranges: Vec<CachePadded<GroupRange>>,
    device_wake: Vec<AtomicU64>,
    barrier: Barrier,
    reports: Vec<CachePadded<WorkerReport>>,
    refused: AtomicBool,
}

impl<'a> RunState<'a> {
    /// Makes the state of a run of this many devices, whose threads meet at `barrier`.
    ///
    /// # Panics
    /// If a device is in no group or in several, or a group has an owner that is no thread.
    pub(crate) fn new(layout: &'a Layout, devices: usize, barrier: Barrier) -> RunState<'a> {
        let threads = layout.threads.max(1);
        let (group_of, owner) = groups_and_owners(layout, devices, threads);
        let group_owner: Vec<u16> = layout.groups.iter().map(|group| group.owner).collect();
        let own =
            |thread| group_owner.iter().filter(|&&owner| usize::from(owner) == thread).count();
        let range = |thread| CachePadded::new(GroupRange::new(own(thread)));
        RunState {
            layout,
            group_of,
            owner,
            mailboxes: Mailboxes::new(devices, threads),
            ranges: (0..threads).map(range).collect(),
            group_owner,
            device_wake: (0..devices).map(|_| AtomicU64::new(0)).collect(),
            barrier,
            reports: (0..threads).map(|_| CachePadded::default()).collect(),
            refused: AtomicBool::new(false),
        }
    }

    /// Returns the number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the barrier at which the threads meet.
    pub(crate) fn barrier(&self) -> &Barrier {
        &self.barrier
    }

    /// Makes the workers, one for each thread, for `devices`.
    pub(crate) fn pool<'s, D: Device>(
        &'s self,
        devices: RunDevices<'s, D>,
        limits: RunLimits,
        watch: ProgressCallback<'s>,
    ) -> WorkerPool<'s, D> {
        let shared = RunShared {
            layout: self.layout,
            group_of: &self.group_of,
            owner: &self.owner,
            group_owner: &self.group_owner,
            mailboxes: &self.mailboxes,
            ranges: &self.ranges,
            device_wake: &self.device_wake,
            barrier: &self.barrier,
            grid: Grid::new(self.layout.lookahead),
            goal: limits.goal,
            max_records: limits.max_records,
            max_held_bytes: devices.collector.max_held_bytes,
            stop: limits.stop.min(Time::from_ps(u64::MAX / 4)).round_up(Time::from_us(1)),
            reports: &self.reports,
            watch,
            refused: &self.refused,
        };
        let worker = |thread| Worker::new(shared, devices, thread);
        let workers = (0..self.threads()).map(worker).collect();
        WorkerPool::new(workers, &self.barrier, self.layout.solo_periods)
    }
}

/// Returns the group of each device, and the thread that owns it.
fn groups_and_owners(layout: &Layout, devices: usize, threads: usize) -> (Vec<u32>, Vec<u16>) {
    let (mut group_of, mut owner) = (vec![u32::MAX; devices], vec![0; devices]);
    for (number, group) in layout.groups.iter().enumerate() {
        assert!(usize::from(group.owner) < threads, "group {number} has no thread as its owner");
        for &device in &group.devices {
            let known = &mut group_of[device as usize];
            assert!(*known == u32::MAX, "device {device} is in groups {known} and {number}");
            *known = number as u32;
            owner[device as usize] = group.owner;
        }
    }
    let lost = group_of.iter().position(|&group| group == u32::MAX);
    assert!(lost.is_none(), "device {lost:?} is in no group");
    (group_of, owner)
}

/// What all workers of a run share, but for the devices and their packets.
#[derive(Clone, Copy)]
pub(crate) struct RunShared<'a> {
    pub(crate) layout: &'a Layout,
    /// The group of each device.
    pub(crate) group_of: &'a [u32],
    /// The thread that owns each device.
    pub(crate) owner: &'a [u16],
    /// The thread that owns each group. Dense, because it is read for each group of a window.
    pub(crate) group_owner: &'a [u16],
    pub(crate) mailboxes: &'a Mailboxes,
    /// For each thread, the groups that it has to run in the current window.
    pub(crate) ranges: &'a [CachePadded<GroupRange>],
    /// The time of each device's next event, ps, if its group has several devices. Written by the
    /// thread that has claimed the group.
    pub(crate) device_wake: &'a [AtomicU64],
    pub(crate) barrier: &'a Barrier,
    pub(crate) grid: Grid,
    pub(crate) goal: Option<u64>,
    pub(crate) max_records: u64,
    /// Records are collected when they take more bytes than this.
    pub(crate) max_held_bytes: u64,
    pub(crate) stop: Time,
    /// By thread.
    pub(crate) reports: &'a [CachePadded<WorkerReport>],
    pub(crate) watch: ProgressCallback<'a>,
    /// Whether the collector takes no more records.
    pub(crate) refused: &'a AtomicBool,
}

impl RunShared<'_> {
    /// Returns when the next event of a device is.
    #[inline]
    pub(crate) fn device_wake(&self, device: u32) -> Time {
        Time::from_ps(self.device_wake[device as usize].load(Ordering::Relaxed))
    }

    /// Sets when the next event of a device is.
    #[inline]
    pub(crate) fn set_device_wake(&self, device: u32, wake: Time) {
        self.device_wake[device as usize].store(wake.ps(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Group;
    use std::panic::catch_unwind;

    /// Protects from a device that nobody advances, or that two threads do.
    #[test]
    fn a_layout_with_a_lost_or_doubled_device_is_refused() {
        let refused = |groups: Vec<Group>| {
            let layout = Layout { groups, ..Layout::one_group_per_device(2, 2, Time::from_us(1)) };
            catch_unwind(|| drop(groups_and_owners(&layout, 2, 2))).is_err()
        };
        let [first, second] = [0, 1].map(|device| Group::single(device, device as u16));
        assert!(!refused(vec![first.clone(), second.clone()]));
        assert!(refused(vec![first.clone()]), "no group has the second device");
        assert!(refused(vec![first.clone(), second, first.clone()]), "two have the first");
        assert!(refused(vec![first, Group::single(1, 2)]), "there are two threads");
    }
}
