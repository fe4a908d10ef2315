//! Runs devices on threads, and puts the result together.

use crate::arena::{Arena, Undelivered};
use crate::barrier::{Barrier, Poisoned};
use crate::config::{Collector, Layout, Outcome, ProgressCallback, RunLimits};
use crate::device::Device;
use crate::group_range::GroupRange;
use crate::mailbox::{Mailboxes, PhaseCell};
use crate::sync::{AtomicBool, AtomicU64};
use crate::window_grid::Grid;
use crate::worker::{RunDevices, RunShared, Worker};
use crate::worker_pool::WorkerPool;
use crossbeam_utils::CachePadded;
use std::{io, thread};
use units::Time;

/// Runs `devices` until a limit is reached or `watch` returns `false`.
///
/// Returns the devices in their final state, and the packets that were still in the network. All
/// records stay in the devices.
///
/// # Errors
/// If the operating system does not start a thread.
///
/// # Panics
/// If a device panics: on the calling thread, after all threads have stopped.
pub fn run<D: Device>(
    devices: Vec<D>,
    layout: &Layout,
    limits: RunLimits,
    watch: ProgressCallback<'_>,
) -> io::Result<(Vec<D>, Outcome, Undelivered<D::Packet>)> {
    let collector = Collector { max_held_bytes: u64::MAX, collect: &|_, _| true };
    run_collecting(devices, layout, limits, watch, collector)
}

/// Runs `devices` like [`run()`], and lets `collector` take their records whenever they take much
/// memory. What was recorded since the last collection stays in the devices.
///
/// # Errors
/// If the operating system does not start a thread.
///
/// # Panics
/// If a device panics: on the calling thread, after all threads have stopped.
pub fn run_collecting<D: Device>(
    devices: Vec<D>,
    layout: &Layout,
    limits: RunLimits,
    watch: ProgressCallback<'_>,
    collector: Collector<'_, D>,
) -> io::Result<(Vec<D>, Outcome, Undelivered<D::Packet>)> {
    let arena = Arena::new().with_tags(layout.tags);
    let (group_of, owner) = groups_and_owners(layout, devices.len());
    let threads = layout.threads.max(1);
    let own = |thread| layout.owner.iter().filter(|owner| usize::from(**owner) == thread).count();
    let range = |thread| CachePadded::new(GroupRange::new(own(thread)));
    let device_wake: Vec<AtomicU64> = devices.iter().map(|_| AtomicU64::new(0)).collect();
    let devices: Vec<PhaseCell<D>> = devices.into_iter().map(PhaseCell::new).collect();
    let on_devices = RunDevices { cells: &devices, arena: &arena, collector };
    let shared = RunShared {
        layout,
        group_of: &group_of,
        owner: &owner,
        mailboxes: &Mailboxes::new(devices.len(), threads),
        ranges: &(0..threads).map(range).collect::<Vec<_>>(),
        device_wake: &device_wake,
        barrier: &Barrier::new(threads),
        grid: Grid::new(layout.lookahead),
        goal: limits.goal,
        max_records: limits.max_records,
        max_held_bytes: collector.max_held_bytes,
        stop: limits.stop.min(Time::from_ps(u64::MAX / 4)).round_up(Time::from_us(1)),
        reports: &(0..threads).map(|_| Default::default()).collect::<Vec<_>>(),
        watch,
        refused: &AtomicBool::new(false),
    };
    let workers = (0..threads).map(|thread| Worker::new(shared, on_devices, thread)).collect();
    let pool = WorkerPool::new(workers, shared.barrier, layout.solo_periods);
    if threads == 1 {
        pool.run(0).expect("one thread waits for nobody");
    } else {
        on_threads(threads, shared.barrier, &|thread| pool.run(thread))?;
    }
    let workers = pool.into_workers();
    // At the end every worker has the same outcome.
    let outcome = workers.first().expect("there is a thread").schedule.outcome();
    let mut free = Vec::with_capacity(workers.len());
    for worker in workers {
        free.push(worker.into_free_slots());
    }
    let devices = devices.into_iter().map(PhaseCell::into_inner).collect();
    Ok((devices, outcome, Undelivered::new(arena, free)))
}

/// Returns the group of each device, and the thread that owns it.
fn groups_and_owners(layout: &Layout, devices: usize) -> (Vec<u32>, Vec<u16>) {
    let (mut group_of, mut owner) = (vec![0; devices], vec![0; devices]);
    for (number, group) in layout.groups.iter().enumerate() {
        for &device in group {
            group_of[device as usize] = number as u32;
            owner[device as usize] = layout.owner[number];
        }
    }
    (group_of, owner)
}

/// Calls `work` with the number of each thread, on that thread. Not generic, because the code that
/// starts threads is large and there is an engine for each type of device.
fn on_threads(
    threads: usize,
    barrier: &Barrier,
    work: &(dyn Fn(usize) -> Result<(), Poisoned> + Sync),
) -> io::Result<()> {
    thread::scope(|scope| {
        let mut started = Vec::with_capacity(threads);
        for thread in 0..threads {
            let run = move || {
                let _guard = PoisonOnPanic(barrier);
                work(thread)
            };
            match thread::Builder::new().spawn_scoped(scope, run) {
                Ok(handle) => started.push(handle),
                Err(error) => {
                    // The threads that have started wait for this one at the barrier.
                    barrier.poison();
                    return Err(error);
                }
            }
        }
        let ends: Vec<_> = started.into_iter().map(|thread| thread.join()).collect();
        if let Some(payload) = ends.into_iter().find_map(Result::err) {
            std::panic::resume_unwind(payload);
        }
        Ok(())
    })
}

/// Releases the other threads from the barrier if this one panics.
struct PoisonOnPanic<'a>(&'a Barrier);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.poison();
        }
    }
}
