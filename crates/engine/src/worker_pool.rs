//! The threads of a run, and whose work each of them does.
//!
//! Each thread does one worker's, window after window, and waits for the others in between. Where one
//! of them has lost its core to another process, each window takes as long as the system lets it wait.
//! Then the first thread does everybody's work for a spell, on the one core that it needs, and the others
//! sleep. It does so at the beginning, too, until they have come, and as long as other processes leave no
//! more than that core. No result depends on who does it.

use crate::barrier::{Barrier, Poisoned};
use crate::mailbox::PhaseCell;
use crate::solo_policy;
use crate::sync::{AtomicBool, AtomicU64, Instant, Ordering};
use crate::window::Device;
use crate::worker::Worker;
use std::time::Duration;

/// One thread works alone for so many times what was lost. In the end all try again, which where the
/// core is still taken loses as much once more.
const SOLO_FACTOR: u32 = 128;
/// No spell is longer, so that it is soon noticed that the core is free again.
const MAX_SOLO: Duration = Duration::from_secs(1);
/// The spell at the beginning where other processes seem to leave one core: one that had work for a moment
/// has none by then.
const FIRST_SOLO: Duration = Duration::from_micros(500);
/// How often it looks after a spell whether there is more than one core. A look takes some 20 us.
const LOAD_CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// The workers of a run, one for each thread.
pub(crate) struct WorkerPool<'a, D: Device> {
    workers: Vec<PhaseCell<Worker<'a, D>>>,
    barrier: &'a Barrier,
    /// The longest wait for a thread without a core since the first thread looked, ns.
    lost: AtomicU64,
    /// Whether the first thread goes on alone, by parity of the window.
    alone: [AtomicBool; 2],
    /// Other processes left one core when the run began.
    starts_solo: bool,
}

impl<'a, D: Device> WorkerPool<'a, D> {
    pub(crate) fn new(workers: Vec<Worker<'a, D>>, barrier: &'a Barrier) -> WorkerPool<'a, D> {
        WorkerPool {
            workers: workers.into_iter().map(PhaseCell::new).collect(),
            barrier,
            lost: AtomicU64::new(0),
            alone: Default::default(),
            starts_solo: barrier.has_core_each() && solo_policy::only_one_core_free(),
        }
    }

    /// The workers, when the run is over.
    pub(crate) fn into_workers(self) -> Vec<Worker<'a, D>> {
        self.workers.into_iter().map(PhaseCell::into_inner).collect()
    }

    /// What a thread does from the beginning of the run to its end.
    pub(crate) fn run(&self, thread: usize) -> Result<(), Poisoned> {
        let begun = Instant::now();
        let mut solo_periods = 0;
        if self.starts_solo {
            solo_periods += 1;
            self.run_solo_period(thread, solo_periods, FIRST_SOLO);
        } else if thread == 0 && self.barrier.has_core_each() {
            self.begin();
        }
        // A spell is no reason to be patient.
        self.barrier.wait(if solo_periods == 0 { begun } else { Instant::now() })?;
        let mut policy = SoloPolicy::new(self.workers.len());
        for window in 0_usize.. {
            // SAFETY: a thread touches its own worker, but while the first thread works alone: then the
            // others do nothing between two meetings.
            let worker = || unsafe { self.workers[thread].get() };
            if !worker().should_continue() {
                break;
            }
            let begun = Instant::now();
            let alone = &self.alone[window & 1];
            if thread == 0 {
                let lost = Duration::from_nanos(self.lost.swap(0, Ordering::Relaxed));
                alone.store(policy.should_go_solo(lost), Ordering::Relaxed);
            }
            worker().begin_window();
            worker().run_window(false);
            let lost = self.barrier.wait(begun)?;
            if !alone.load(Ordering::Relaxed) {
                worker().finish_window();
                if worker().must_collect() {
                    if thread == 0 {
                        // SAFETY: devices are worked between `open` and the meeting before, and the
                        // others wait at the next one.
                        unsafe { worker().collect_records() };
                    }
                    self.barrier.wait(Instant::now())?;
                    worker().records_collected();
                }
            } else {
                solo_periods += 1;
                if thread == 0 {
                    self.finish_all();
                }
                self.run_solo_period(thread, solo_periods, policy.solo_period);
                self.barrier.wait(Instant::now())?;
                policy.resume();
            }
            if !lost.is_zero() {
                self.lost.fetch_max(lost.as_nanos() as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// The first thread begins before the others come: it may be milliseconds until the system gives them a
    /// core.
    fn begin(&self) {
        while self.should_continue()
            && !self.barrier.all_others_wait()
            && !self.barrier.is_poisoned()
        {
            self.run_all_workers();
        }
    }

    /// The first thread works alone for so long, the others rest: it is the spell of this number.
    fn run_solo_period(&self, thread: usize, number: usize, solo_period: Duration) {
        if thread == 0 {
            self.run_solo(solo_period);
        } else {
            self.barrier.park(number);
        }
    }

    /// Does everybody's work for so long, and on until the others have a core again.
    fn run_solo(&self, solo_period: Duration) {
        let begun = Instant::now();
        let mut looks_at = solo_period;
        let mut is_called = false;
        while self.should_continue()
            && !(is_called && self.barrier.all_others_wait())
            && !self.barrier.is_poisoned()
        {
            self.run_all_workers();
            if is_called || begun.elapsed() < looks_at {
                continue;
            }
            if solo_policy::only_one_core_free() {
                looks_at = begun.elapsed() + LOAD_CHECK_INTERVAL;
            } else {
                self.barrier.unpark_all();
                is_called = true;
            }
        }
        if !is_called {
            self.barrier.unpark_all();
        }
    }

    /// Does everybody's work in the window at hand, and goes on to the next.
    fn run_all_workers(&self) {
        self.each(Worker::begin_window);
        // The first worker does it all, so that all mail is in its boxes; the others report.
        self.each(|worker| worker.run_window(true));
        self.finish_all();
    }

    /// Concludes everybody's window, and collects records where there are many.
    fn finish_all(&self) {
        self.each(Worker::finish_window);
        // SAFETY: the first thread works alone.
        let first = unsafe { self.workers[0].get() };
        if first.must_collect() {
            // SAFETY: as above.
            unsafe { first.collect_records() };
            self.each(Worker::records_collected);
        }
    }

    fn each(&self, act: impl Fn(&mut Worker<'a, D>)) {
        // SAFETY: the first thread works alone: the others wait at the barrier, or are on their way from
        // one to the next.
        self.workers.iter().for_each(|worker| act(unsafe { worker.get() }));
    }

    /// The same for all workers.
    fn should_continue(&self) -> bool {
        // SAFETY: the first thread alone asks, while the others touch no worker: they have not come to
        // the first barrier, or rest until they are called.
        unsafe { self.workers[0].get() }.should_continue()
    }
}

/// When it is better that one thread works alone, and for how long.
struct SoloPolicy {
    threads: u32,
    /// When all began to work together, or lost time the last time.
    since: Instant,
    /// How long the first thread works alone when next it does.
    solo_period: Duration,
}

impl SoloPolicy {
    fn new(threads: usize) -> SoloPolicy {
        SoloPolicy { threads: threads as u32, since: Instant::now(), solo_period: Duration::ZERO }
    }

    /// So much time was lost. Whether that is more than what was gained by working together, of which
    /// each thread beyond the first counts half.
    fn should_go_solo(&mut self, lost: Duration) -> bool {
        if lost.is_zero() {
            return false;
        }
        let together = self.since.elapsed().saturating_sub(lost);
        self.resume();
        self.solo_period = (lost * SOLO_FACTOR).min(MAX_SOLO);
        together * (self.threads - 1) / 2 < lost
    }

    fn resume(&mut self) {
        self.since = Instant::now();
    }
}
