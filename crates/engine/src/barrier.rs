//! The end of a window: every thread waits for every other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Spins before the processor is offered to others: some hundred microseconds, longer than threads
/// that all run wait for each other. A core that was given away to another process comes back
/// milliseconds later; but a thread that only spins keeps the core from the one it waits for.
const SPINS: u32 = 10_000;

#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    spins: u32,
    arrived: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
}

/// A thread panicked and will not come.
#[derive(Debug)]
pub(crate) struct Broken;

impl Barrier {
    pub(crate) fn new(threads: usize) -> Barrier {
        // With more threads than cores somebody always waits for a core.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Barrier {
            threads,
            spins: if threads <= cores { SPINS } else { 0 },
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Returns when all threads have called it. What they wrote before is visible after.
    pub(crate) fn wait(&self) -> Result<(), Broken> {
        if self.threads == 1 {
            return Ok(());
        }
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round + 1, Ordering::Release);
            return Ok(());
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            if self.broken.load(Ordering::Relaxed) {
                return Err(Broken);
            }
            if spins < self.spins {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Lets the waiting threads go with an error.
    pub(crate) fn break_up(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }
}
