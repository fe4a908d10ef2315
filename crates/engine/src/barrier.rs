//! The end of a window: every thread waits for every other.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread spins before it goes to sleep, beside the time that its own work took: longer
/// than threads that all run wait for each other. Who is still waited for then has lost its core to
/// another process, and a core that sleeps is where the system moves one of the two; one that is spun
/// on, or offered for a moment, is not.
const PATIENCE: Duration = Duration::from_micros(200);
/// The same while it is in doubt whether all threads have a core.
const PATIENCE_IN_DOUBT: Duration = Duration::from_micros(2);
/// Spins between two looks at the clock.
const SPINS: u32 = 64;
/// Each wait for one that has none adds so much to the doubt, each other wait takes 1 from it.
const LOST_CORE: u32 = 1024;
/// From here on it is in doubt.
const DOUBT: u32 = 2 * LOST_CORE;

#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    /// There are fewer cores than threads: somebody always waits for one.
    crowded: bool,
    /// How much it is in doubt whether all threads have a core.
    doubt: AtomicU32,
    arrived: AtomicUsize,
    round: AtomicUsize,
    /// Threads that sleep, and what they sleep on.
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    woken: Condvar,
    broken: AtomicBool,
}

/// A thread panicked and will not come.
#[derive(Debug)]
pub(crate) struct Broken;

impl Barrier {
    pub(crate) fn new(threads: usize) -> Barrier {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Barrier {
            threads,
            crowded: threads > cores,
            doubt: AtomicU32::new(0),
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            bed: Mutex::new(()),
            woken: Condvar::new(),
            broken: AtomicBool::new(false),
        }
    }

    /// Whether there are several threads, and a core for each.
    pub(crate) fn is_shared(&self) -> bool {
        self.threads > 1 && !self.crowded
    }

    /// Whether all threads wait but the one that asks.
    #[inline]
    pub(crate) fn is_last(&self) -> bool {
        self.arrived.load(Ordering::Relaxed) + 1 == self.threads
    }

    /// Returns when all threads have called it. What they wrote before is visible after. `begun`: when
    /// this thread began to work after the last time.
    pub(crate) fn wait(&self, begun: Instant) -> Result<(), Broken> {
        if self.threads == 1 {
            return Ok(());
        }
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // In one order with a sleeper's announcement: it sees the new round, or is seen here.
            self.round.store(round + 1, Ordering::SeqCst);
            self.wake();
            return Ok(());
        }
        let over = || self.round.load(Ordering::SeqCst) != round;
        let broken = || self.broken.load(Ordering::SeqCst);
        if self.crowded {
            while !over() && !broken() {
                std::thread::yield_now();
            }
        } else {
            self.wait_on_own_core(begun, || over() || broken());
        }
        if over() { Ok(()) } else { Err(Broken) }
    }

    fn wait_on_own_core(&self, begun: Instant, come: impl Fn() -> bool) {
        let doubt = self.doubt.load(Ordering::Relaxed);
        let patience = if doubt < DOUBT { PATIENCE + begun.elapsed() } else { PATIENCE_IN_DOUBT };
        let in_time = spin(patience, &come);
        if !in_time && doubt < DOUBT {
            self.doubt.store(doubt + LOST_CORE, Ordering::Relaxed);
        } else if doubt > 0 {
            self.doubt.store(doubt - 1, Ordering::Relaxed);
        }
        if !in_time {
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            let bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.woken.wait_while(bed, |()| !come()));
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // Whoever is about to sleep holds the lock from its last look until it sleeps.
            drop(self.bed.lock());
            self.woken.notify_all();
        }
    }

    /// Lets the waiting threads go with an error.
    pub(crate) fn break_up(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.wake();
    }
}

/// Spins until `come`, for so long at most; returns whether it did.
fn spin(patience: Duration, come: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..SPINS {
            if come() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() > patience {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of two threads that meet `rounds` times, one of which comes late every tenth time.
    fn meet(barrier: &Barrier, rounds: usize) -> Vec<[usize; 2]> {
        let counts = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let seen = || [0, 1].map(|thread: usize| counts[thread].load(Ordering::Relaxed));
        std::thread::scope(|scope| {
            let late = scope.spawn(|| {
                for round in 0..rounds {
                    let begun = Instant::now();
                    if round % 10 == 0 {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    counts[1].fetch_add(1, Ordering::Relaxed);
                    barrier.wait(begun).unwrap();
                    barrier.wait(begun).unwrap();
                }
            });
            let mut all = Vec::new();
            for _ in 0..rounds {
                let begun = Instant::now();
                counts[0].fetch_add(1, Ordering::Relaxed);
                barrier.wait(begun).unwrap();
                all.push(seen());
                barrier.wait(begun).unwrap();
            }
            late.join().unwrap();
            all
        })
    }

    #[test]
    fn who_sleeps_is_woken_and_nobody_passes_alone() {
        for crowded in [false, true] {
            let barrier = Barrier { crowded, ..Barrier::new(2) };
            let expected: Vec<[usize; 2]> = (1..=200).map(|round| [round, round]).collect();
            assert_eq!(meet(&barrier, 200), expected);
            assert_eq!(barrier.sleepers.load(Ordering::Relaxed), 0);
            // A thread that is late again and again is one without a core.
            assert_eq!(barrier.doubt.load(Ordering::Relaxed) >= LOST_CORE, !crowded);
        }
    }

    #[test]
    fn doubt_passes() {
        let barrier = Barrier { crowded: false, ..Barrier::new(2) };
        barrier.doubt.store(2 * DOUBT, Ordering::Relaxed);
        for _ in 0..3 * DOUBT {
            barrier.wait_on_own_core(Instant::now(), || true);
        }
        assert_eq!(barrier.doubt.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_break_wakes_sleepers() {
        let barrier = Barrier { crowded: false, ..Barrier::new(2) };
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| barrier.wait(Instant::now()).is_err());
            while barrier.sleepers.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            barrier.break_up();
            assert!(waits.join().unwrap());
        });
    }
}
