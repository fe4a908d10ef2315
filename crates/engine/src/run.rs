//! Runs devices on threads, and puts the result together.

use crate::arena::{Arena, Undelivered};
use crate::barrier::{Barrier, Poisoned};
use crate::config::{Collector, Layout, Outcome, ProgressCallback, RunLimits};
use crate::device::Device;
use crate::mailbox::PhaseCell;
use crate::run_state::RunState;
use crate::worker::RunDevices;
use std::{io, thread};

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
    let state = RunState::new(layout, devices.len(), Barrier::new(layout.threads.max(1)));
    let devices: Vec<PhaseCell<D>> = devices.into_iter().map(PhaseCell::new).collect();
    let pool = state.pool(RunDevices { cells: &devices, arena: &arena, collector }, limits, watch);
    match state.threads() {
        1 => pool.run(0).expect("one thread waits for nobody"),
        threads => on_threads(threads, state.barrier(), &|thread| pool.run(thread))?,
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
