//! The barrier at the end of a window: every thread waits for every other.
//!
//! A thread spins first, and sleeps if the others do not come. Threads also *park* here during a
//! solo period, until the first thread wakes them.

use crate::sync::{
    AtomicBool, AtomicUsize, Condvar, Instant, Mutex, Ordering, seq_cst_fence, yield_now,
};
use std::sync::PoisonError;
use std::time::Duration;

/// How long a thread spins before it sleeps, in addition to the time that its own work took.
///
/// That is longer than threads that all run wait for each other. A thread that is still missing
/// then has lost its core to another process. The operating system moves one of the two to an idle
/// core, but not to one on which a thread spins or yields for a moment. Linux does not move a
/// thread that ran less than half a millisecond ago: a core that becomes idle sooner stays idle
/// until the next tick.
const SPIN_TIME: Duration = Duration::from_micros(550);
/// How often a thread yields its core before it sleeps, if there are fewer cores than threads.
const YIELDS: u32 = if cfg!(loom) { 1 } else { 16 };
/// Spins between two reads of the clock.
#[cfg(not(loom))]
const SPINS: u32 = 64;

/// The barrier of all threads of a run.
#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    /// Whether there are fewer cores than threads, so that some thread always waits for a core.
    oversubscribed: bool,
    /// Threads that have arrived in this round.
    arrived: AtomicUsize,
    /// Number of times that all threads have met.
    round: AtomicUsize,
    /// Number of threads that sleep.
    sleepers: AtomicUsize,
    /// Threads sleep on `woken` with this lock.
    park_lock: Mutex<()>,
    woken: Condvar,
    /// How often parked threads were woken.
    calls: AtomicUsize,
    poisoned: AtomicBool,
}

/// The error of a barrier that a thread will never reach, because it panicked or did not start.
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

    /// Makes a barrier for a model, which does not ask how many cores there are.
    #[cfg(all(test, loom))]
    pub(crate) fn modelled(threads: usize, oversubscribed: bool) -> Barrier {
        Barrier { oversubscribed, ..Barrier::new(threads) }
    }

    /// Whether there are several threads and a core for each of them.
    pub(crate) fn has_core_each(&self) -> bool {
        self.threads > 1 && !self.oversubscribed
    }

    /// Whether all threads but the calling one wait at the barrier.
    #[inline]
    pub(crate) fn all_others_wait(&self) -> bool {
        self.arrived.load(Ordering::Relaxed) + 1 == self.threads
    }

    /// Waits until all threads have called it. What they wrote before is visible afterwards.
    ///
    /// `begun` is when this thread began its work after the last barrier. Returns how long it slept
    /// for a thread that had lost its core.
    pub(crate) fn wait(&self, begun: Instant) -> Result<Duration, Poisoned> {
        if self.threads == 1 {
            return Ok(Duration::ZERO);
        }
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // Sequentially consistent with the counter of sleepers: a thread about to sleep sees
            // the new round, or it is seen here.
            self.round.store(round + 1, Ordering::SeqCst);
            self.wake();
            return Ok(Duration::ZERO);
        }
        let over = || self.round.load(Ordering::SeqCst) != round;
        let come = || over() || self.is_poisoned();
        let mut lost = Duration::ZERO;
        if self.oversubscribed {
            // If other processes want the cores, too, it is not enough to yield.
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

    /// Sleeps until [`unpark_all`](Barrier::unpark_all) has been called `calls` times in the run.
    pub(crate) fn park(&self, calls: usize) {
        self.sleep(|| self.calls.load(Ordering::SeqCst) >= calls || self.is_poisoned());
    }

    /// Wakes the threads that are parked.
    pub(crate) fn unpark_all(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// Sleeps until `come` returns `true`. The thread that changes its result calls `wake`.
    fn sleep(&self, come: impl Fn() -> bool) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        seq_cst_fence();
        let mut guard = self.park_lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !come() {
            guard = self.woken.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        drop(guard);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake(&self) {
        seq_cst_fence();
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // A thread that is about to sleep holds the lock from its last check until it sleeps.
            drop(self.park_lock.lock());
            self.woken.notify_all();
        }
    }

    /// Whether some thread will never arrive, so that no thread may wait.
    #[inline]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::SeqCst)
    }

    /// Releases all waiting threads with an error.
    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Ordering::SeqCst);
        self.wake();
    }
}

/// Checks once: in a model the other threads may have done anything by then.
#[cfg(loom)]
fn spin(_spin_time: Duration, come: impl Fn() -> bool) -> bool {
    come()
}

/// Spins until `come` returns `true`, or for `spin_time`. Returns whether it did.
#[cfg(not(loom))]
fn spin(spin_time: Duration, come: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..SPINS {
            if come() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() > spin_time {
            return false;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Two threads meet `rounds` times. Returns the counts that the first one sees, and how long it
    /// waited for the second one, which is late every tenth time.
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
    fn sleepers_are_woken_and_no_thread_passes_alone() {
        for oversubscribed in [false, true] {
            let barrier = Barrier { oversubscribed, ..Barrier::new(2) };
            let expected: Vec<[usize; 2]> = (1..=200).map(|round| [round, round]).collect();
            let (seen, waited) = meet(&barrier, 200);
            assert_eq!(seen, expected);
            assert_eq!(barrier.sleepers.load(Ordering::Relaxed), 0);
            // If each thread should have a core, one that is late counts as a thread without.
            assert_eq!(waited > Duration::from_millis(2), !oversubscribed);
        }
    }

    #[test]
    fn parked_threads_wake_when_called() {
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
    fn poison_wakes_sleepers() {
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
