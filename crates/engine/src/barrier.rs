//! The end of a window: every thread waits for every other.

use crate::sync::{
    AtomicBool, AtomicUsize, Condvar, Instant, Mutex, Ordering, seq_cst_fence, yield_now,
};
use std::sync::PoisonError;
use std::time::Duration;

/// How long a thread spins before it goes to sleep, beside the time that its own work took: longer
/// than threads that all run wait for each other. Who is still waited for then has lost its core to
/// another process, and a core that sleeps is where the system moves one of the two; one that is spun
/// on, or offered for a moment, is not. Linux moves nobody who ran less than half a millisecond ago: a core
/// that sleeps sooner sleeps until the next tick.
const SPIN_TIME: Duration = Duration::from_micros(550);
/// How often a thread offers its core before it goes to sleep, where there are fewer than threads.
const YIELDS: u32 = if cfg!(loom) { 1 } else { 16 };
/// Spins between two looks at the clock.
#[cfg(not(loom))]
const SPINS: u32 = 64;

#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    /// There are fewer cores than threads: somebody always waits for one.
    oversubscribed: bool,
    arrived: AtomicUsize,
    round: AtomicUsize,
    /// Threads that sleep, and what they sleep on.
    sleepers: AtomicUsize,
    park_lock: Mutex<()>,
    woken: Condvar,
    /// How often those that rest were called.
    calls: AtomicUsize,
    poisoned: AtomicBool,
}

/// A thread panicked and will not come.
#[derive(Debug)]
pub(crate) struct Poisoned;

impl Barrier {
    pub(crate) fn new(threads: usize) -> Barrier {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Barrier {
            threads,
            oversubscribed: threads > cores,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            park_lock: Mutex::new(()),
            woken: Condvar::new(),
            calls: AtomicUsize::new(0),
            poisoned: AtomicBool::new(false),
        }
    }

    /// A barrier that does not ask how many cores there are.
    #[cfg(all(test, loom))]
    pub(crate) fn modelled(threads: usize, oversubscribed: bool) -> Barrier {
        Barrier { oversubscribed, ..Barrier::new(threads) }
    }

    /// Whether there are several threads, and a core for each.
    pub(crate) fn has_core_each(&self) -> bool {
        self.threads > 1 && !self.oversubscribed
    }

    /// Whether all threads wait but the one that asks.
    #[inline]
    pub(crate) fn all_others_wait(&self) -> bool {
        self.arrived.load(Ordering::Relaxed) + 1 == self.threads
    }

    /// Returns when all threads have called it. What they wrote before is visible after. `begun`: when
    /// this thread began to work after the last time. Says how long it waited for one that had lost its
    /// core.
    pub(crate) fn wait(&self, begun: Instant) -> Result<Duration, Poisoned> {
        if self.threads == 1 {
            return Ok(Duration::ZERO);
        }
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // In one order with a sleeper's announcement: it sees the new round, or is seen here.
            self.round.store(round + 1, Ordering::SeqCst);
            self.wake();
            return Ok(Duration::ZERO);
        }
        let over = || self.round.load(Ordering::SeqCst) != round;
        let come = || over() || self.is_poisoned();
        let mut lost = Duration::ZERO;
        if self.oversubscribed {
            // Where other processes want the cores, too, to yield is not enough.
            let comes = || {
                yield_now();
                come()
            };
            if !(0..YIELDS).any(|_| comes()) {
                self.sleep(come);
            }
        } else {
            let arrived = Instant::now();
            if !spin(SPIN_TIME + (arrived - begun), come) {
                self.sleep(come);
                lost = arrived.elapsed();
            }
        }
        if over() { Ok(lost) } else { Err(Poisoned) }
    }

    /// Sleeps until all have been called so many times.
    pub(crate) fn park(&self, calls: usize) {
        self.sleep(|| self.calls.load(Ordering::SeqCst) >= calls || self.is_poisoned());
    }

    /// Wakes those that rest.
    pub(crate) fn unpark_all(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// Sleeps until `come`, which whoever brings it about says by a call of `wake`.
    fn sleep(&self, come: impl Fn() -> bool) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        seq_cst_fence();
        let mut park_lock = self.park_lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !come() {
            park_lock = self.woken.wait(park_lock).unwrap_or_else(PoisonError::into_inner);
        }
        drop(park_lock);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake(&self) {
        seq_cst_fence();
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // Whoever is about to sleep holds the lock from its last look until it sleeps.
            drop(self.park_lock.lock());
            self.woken.notify_all();
        }
    }

    /// Whether a thread is gone, so that nobody shall wait.
    #[inline]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::SeqCst)
    }

    /// Lets the waiting threads go with an error.
    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Ordering::SeqCst);
        self.wake();
    }
}

/// Looks once: in a model the others may have done anything by then.
#[cfg(loom)]
fn spin(_patience: Duration, come: impl Fn() -> bool) -> bool {
    come()
}

/// Spins until `come`, for so long at most; returns whether it did.
#[cfg(not(loom))]
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Two threads that meet `rounds` times: the counts that one sees, and how long it waited for the
    /// other, which comes late every tenth time.
    fn meet(barrier: &Barrier, rounds: usize) -> (Vec<[usize; 2]>, Duration) {
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
            let (mut all, mut waited) = (Vec::new(), Duration::ZERO);
            for _ in 0..rounds {
                let begun = Instant::now();
                counts[0].fetch_add(1, Ordering::Relaxed);
                waited += barrier.wait(begun).unwrap();
                all.push(seen());
                barrier.wait(begun).unwrap();
            }
            late.join().unwrap();
            (all, waited)
        })
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes real time")]
    fn who_sleeps_is_woken_and_nobody_passes_alone() {
        for oversubscribed in [false, true] {
            let barrier = Barrier { oversubscribed, ..Barrier::new(2) };
            let expected: Vec<[usize; 2]> = (1..=200).map(|round| [round, round]).collect();
            let (seen, waited) = meet(&barrier, 200);
            assert_eq!(seen, expected);
            assert_eq!(barrier.sleepers.load(Ordering::Relaxed), 0);
            // Where all should have a core, who is late that often is one without.
            assert_eq!(waited > Duration::from_millis(2), !oversubscribed);
        }
    }

    #[test]
    fn who_rests_comes_when_called() {
        let barrier = Barrier::new(2);
        let calls = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for call in 1..=20 {
                    barrier.park(call);
                    assert!(calls.load(Ordering::SeqCst) >= call);
                    barrier.wait(Instant::now()).unwrap();
                }
            });
            for call in 1..=20 {
                if call % 2 == 0 {
                    std::thread::sleep(Duration::from_micros(300));
                }
                calls.store(call, Ordering::SeqCst);
                barrier.unpark_all();
                barrier.wait(Instant::now()).unwrap();
            }
        });
    }

    #[test]
    fn a_break_wakes_sleepers() {
        let barrier = Barrier { oversubscribed: false, ..Barrier::new(2) };
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| barrier.wait(Instant::now()).is_err());
            while barrier.sleepers.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            barrier.poison();
            assert!(waits.join().unwrap());
        });
    }
}
