use crate::arena::{Arena, Undelivered};
use crate::arrival_key::TieBreak;
use crate::barrier::Barrier;
use crate::group_range::GroupRange;
use crate::mailbox::{Mailboxes, PhaseCell};
use crate::sync::AtomicU64;
use crate::window::Device;
use crate::window_grid::Grid;
use crate::worker::{RunShared, Worker};
use crate::worker_pool::WorkerPool;
use std::sync::atomic::AtomicBool;
use std::{io, thread};
use units::Time;

/// How devices are grouped and shared out among threads.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Each group's devices. A device is in exactly one group.
    pub groups: Vec<Vec<u32>>,
    /// The thread of each group. In the end others may work it, too, so that none waits for long.
    pub owner: Vec<u16>,
    /// How many threads there are.
    pub threads: usize,
    /// The shortest delay of any link between two groups.
    pub lookahead: Time,
    /// For each group how long a packet takes at least from one of its devices to another;
    /// [`Time::NEVER`] where no link is inside.
    pub internal_lookahead: Vec<Time>,
    /// For each group of several its hub, where it has one: the device that all others of the group are
    /// joined to, and to nothing else.
    pub hubs: Vec<Option<u32>>,
    /// Which port goes first among equal arrivals.
    pub tie_break: TieBreak,
}

impl Layout {
    /// Each device its own group, shared out among `threads` in blocks of equal number.
    pub fn one_group_per_device(devices: usize, threads: usize, lookahead: Time) -> Layout {
        let threads = threads.clamp(1, devices.max(1));
        Layout {
            groups: (0..devices as u32).map(|device| vec![device]).collect(),
            owner: (0..devices).map(|device| (device * threads / devices) as u16).collect(),
            threads,
            lookahead,
            internal_lookahead: vec![Time::NEVER; devices],
            hubs: vec![None; devices],
            tie_break: TieBreak::RotatePorts,
        }
    }
}

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Nothing at or after this time happens; rounded up to a whole microsecond.
    pub stop: Time,
    /// The run ends at the first whole microsecond at or after this many units are finished.
    pub goal: Option<u64>,
    /// From the first whole microsecond on at or after this many entries are recorded, there is no room for
    /// more ([`Window::may_record`](crate::Window::may_record)).
    pub max_records: u64,
}

/// How far a run has come, at the end of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub time: Time,
    /// Packets that arrived.
    pub packets_delivered: u64,
    /// Units of the goal done.
    pub finished: u64,
}

/// Told how far the run has come; says whether it goes on.
pub type ProgressCallback<'a> = &'a (dyn Fn(Progress) -> bool + Sync);

/// Takes records from devices that hold many of them, so that memory stays bounded.
pub struct Collector<'a, D> {
    /// Records are collected at the end of a window when they take more bytes than this in all.
    pub max_held_bytes: u64,
    /// Takes the records of all devices. They are complete up to the given time. `false` means that
    /// no more can be taken: there is no room for records from then on.
    pub collect: &'a (dyn Fn(&mut dyn Iterator<Item = &mut D>, Time) -> bool + Sync),
}

impl<D> Clone for Collector<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D> Copy for Collector<'_, D> {}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Simulated time at the end.
    pub end: Time,
    /// Units of the goal done.
    pub finished: u64,
    /// The watcher ended it.
    pub cancelled: bool,
    /// From when on there was no room for records; [`Time::NEVER`] where there was.
    pub recording_stopped_at: Time,
}

/// Runs `devices` until the limits, or until `watch` says no. Returns them as they then are, with the
/// packets that have not reached their end. Devices keep what they record.
///
/// # Errors
/// As [`run_collecting`].
///
/// # Panics
/// As [`run_collecting`].
pub fn run<D: Device>(
    devices: Vec<D>,
    layout: &Layout,
    limits: RunLimits,
    watch: ProgressCallback<'_>,
) -> io::Result<(Vec<D>, Outcome, Undelivered<D::Packet>)> {
    let collector = Collector { max_held_bytes: u64::MAX, collect: &|_, _| true };
    run_collecting(devices, layout, limits, watch, collector)
}

/// Runs `devices` as [`run()`] does, and has what they record collected whenever it is much. What they
/// recorded since the last time stays with them.
///
/// # Errors
/// Where the system does not start a thread.
///
/// # Panics
/// Where a device panics, on the calling thread, after all threads have stopped.
pub fn run_collecting<D: Device>(
    devices: Vec<D>,
    layout: &Layout,
    limits: RunLimits,
    watch: ProgressCallback<'_>,
    collector: Collector<'_, D>,
) -> io::Result<(Vec<D>, Outcome, Undelivered<D::Packet>)> {
    let arena = Arena::new();
    let mut group_of = vec![0; devices.len()];
    let mut owner = vec![0; devices.len()];
    for (number, group) in layout.groups.iter().enumerate() {
        for &device in group {
            group_of[device as usize] = number as u32;
            owner[device as usize] = layout.owner[number];
        }
    }
    let threads = layout.threads.max(1);
    let own = |thread| layout.owner.iter().filter(|owner| usize::from(**owner) == thread).count();
    let device_wake: Vec<AtomicU64> = devices.iter().map(|_| AtomicU64::new(0)).collect();
    let devices: Vec<PhaseCell<D>> = devices.into_iter().map(PhaseCell::new).collect();
    let shared = RunShared {
        devices: &devices,
        layout,
        group_of: &group_of,
        owner: &owner,
        mailboxes: &Mailboxes::new(devices.len(), threads),
        arena: &arena,
        ranges: &(0..threads).map(|thread| GroupRange::new(own(thread))).collect::<Vec<_>>(),
        device_wake: &device_wake,
        barrier: &Barrier::new(threads),
        grid: Grid::new(layout.lookahead),
        goal: limits.goal,
        max_records: limits.max_records,
        stop: limits.stop.min(Time::from_ps(u64::MAX / 4)).round_up(Time::from_us(1)),
        reports: &(0..threads).map(|_| Default::default()).collect::<Vec<_>>(),
        watch,
        collector,
        refused: &AtomicBool::new(false),
    };
    let workers = (0..threads).map(|thread| Worker::new(shared, thread)).collect();
    let pool = WorkerPool::new(workers, shared.barrier);
    if threads == 1 {
        pool.run(0).expect("one thread waits for nobody");
    } else {
        thread::scope(|scope| {
            let pool = &pool;
            let work = |thread| {
                move || {
                    let guard = PoisonOnPanic(shared.barrier);
                    let result = pool.run(thread);
                    std::mem::forget(guard);
                    result
                }
            };
            let mut started = Vec::with_capacity(threads);
            for thread in 0..threads {
                match thread::Builder::new().spawn_scoped(scope, work(thread)) {
                    Ok(handle) => started.push(handle),
                    Err(error) => {
                        // Those that have started wait for it.
                        shared.barrier.poison();
                        return Err(error);
                    }
                }
            }
            let ends: Vec<_> = started.into_iter().map(|thread| thread.join()).collect();
            if let Some(payload) = ends.into_iter().find_map(Result::err) {
                std::panic::resume_unwind(payload);
            }
            Ok(())
        })?;
    }
    let workers = pool.into_workers();
    // In the end all say the same.
    let outcome = workers.first().expect("there is a thread").outcome();
    let free = workers.into_iter().map(Worker::into_free_slots).collect();
    let devices = devices.into_iter().map(PhaseCell::into_inner).collect();
    Ok((devices, outcome, Undelivered::new(arena, free)))
}

struct PoisonOnPanic<'a>(&'a Barrier);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        self.0.poison();
    }
}
