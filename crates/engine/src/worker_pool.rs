//! The threads of a run, and which of them does whose work.
//!
//! Normally each thread runs its own worker, window after window, and waits for the others at the
//! barrier in between. In a *solo period* the first thread runs all workers and the others sleep
//! ([`solo_policy`](crate::solo_policy) decides when). The first thread also works alone at the
//! start of a run, until the others have started. No result depends on which thread does the work.

use crate::barrier::{Barrier, Poisoned};
use crate::device::Device;
use crate::mailbox::PhaseCell;
use crate::solo_policy::{FIRST_SOLO, LOAD_CHECK_INTERVAL, SoloPolicy, only_one_core_free};
use crate::sync::{AtomicBool, AtomicU64, Instant, Ordering};
use crate::worker::Worker;
use crossbeam_utils::CachePadded;
use std::time::Duration;

/// The workers of a run, one for each thread.
pub(crate) struct WorkerPool<'a, D: Device> {
    workers: Vec<CachePadded<PhaseCell<Worker<'a, D>>>>,
    barrier: &'a Barrier,
    /// Nanoseconds of the longest wait for a thread that had lost its core, since the first thread
    /// last read it.
    lost: AtomicU64,
    /// Whether a solo period begins after the window, by parity of the window.
    alone: [AtomicBool; 2],
    /// Whether the first thread may work alone.
    may_go_solo: bool,
    /// Whether the run begins with a solo period: only one core was free.
    starts_solo: bool,
}

impl<'a, D: Device> WorkerPool<'a, D> {
    /// Makes a pool. `solo_periods` is [`Layout::solo_periods`](crate::Layout::solo_periods).
    pub(crate) fn new(
        workers: Vec<Worker<'a, D>>,
        barrier: &'a Barrier,
        solo_periods: bool,
    ) -> WorkerPool<'a, D> {
        let may_go_solo = solo_periods && barrier.has_core_each();
        let padded = |worker| CachePadded::new(PhaseCell::new(worker));
        WorkerPool {
            workers: workers.into_iter().map(padded).collect(),
            barrier,
            lost: AtomicU64::new(0),
            alone: Default::default(),
            may_go_solo,
            starts_solo: may_go_solo && only_one_core_free(),
        }
    }

    /// Returns the workers after the run.
    pub(crate) fn into_workers(self) -> Vec<Worker<'a, D>> {
        self.workers.into_iter().map(|worker| worker.into_inner().into_inner()).collect()
    }

    /// What each thread does from the beginning of the run to its end.
    pub(crate) fn run(&self, thread: usize) -> Result<(), Poisoned> {
        let begun = Instant::now();
        let mut solo_periods = 0;
        if self.starts_solo {
            solo_periods += 1;
            self.run_solo_period(thread, solo_periods, FIRST_SOLO);
        } else if thread == 0 && self.may_go_solo {
            self.run_until_others_start();
        }
        // A solo period was no work of this thread's, so it does not lengthen the spin time.
        self.barrier.wait(if solo_periods == 0 { begun } else { Instant::now() })?;
        let mut policy = SoloPolicy::new(self.workers.len(), self.may_go_solo);
        for window in 0_usize.. {
            // SAFETY: a thread touches its own worker only. While the first thread works alone, the
            // others touch no worker: they sleep between two barriers.
            let worker = || unsafe { self.workers[thread].get() };
            if !worker().schedule.should_continue() {
                break;
            }
            let begun = Instant::now();
            let alone = &self.alone[window & 1];
            if thread == 0 {
                let lost = Duration::from_nanos(self.lost.swap(0, Ordering::Relaxed));
                alone.store(policy.should_go_solo(lost), Ordering::Relaxed);
            }
            worker().schedule.begin_window();
            worker().run_window(false);
            let lost = self.barrier.wait(begun)?;
            if !alone.load(Ordering::Relaxed) {
                worker().schedule.finish_window();
                if worker().schedule.must_collect() {
                    if thread == 0 {
                        // SAFETY: devices are touched between `begin_window` and the barrier above
                        // only, and the others wait at the barrier below.
                        unsafe { worker().collect_records() };
                    }
                    self.barrier.wait(Instant::now())?;
                    worker().schedule.records_collected();
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

    /// Runs windows on the first thread until the others have started. The operating system may
    /// take milliseconds to give them a core.
    fn run_until_others_start(&self) {
        while self.should_continue()
            && !self.barrier.all_others_wait()
            && !self.barrier.is_poisoned()
        {
            self.run_all_workers();
        }
    }

    /// The first thread works alone for a solo period, the others sleep until it ends. `number`
    /// counts the solo periods of the run, from 1.
    fn run_solo_period(&self, thread: usize, number: usize, solo_period: Duration) {
        if thread == 0 {
            self.run_solo(solo_period);
        } else {
            self.barrier.park(number);
        }
    }

    /// Runs all workers on the first thread for a solo period, wakes the others as soon as a core
    /// is free for them, and continues until they have reached the barrier.
    fn run_solo(&self, solo_period: Duration) {
        let begun = Instant::now();
        let mut next_check = solo_period;
        let mut are_awake = false;
        while self.should_continue()
            && !(are_awake && self.barrier.all_others_wait())
            && !self.barrier.is_poisoned()
        {
            self.run_all_workers();
            if are_awake || begun.elapsed() < next_check {
                continue;
            }
            if only_one_core_free() {
                next_check = begun.elapsed() + LOAD_CHECK_INTERVAL;
            } else {
                self.barrier.unpark_all();
                are_awake = true;
            }
        }
        if !are_awake {
            self.barrier.unpark_all();
        }
    }

    /// Runs the current window of all workers and goes on to the next.
    fn run_all_workers(&self) {
        self.each(|worker| worker.schedule.begin_window());
        // The first worker runs all groups, so all packets are in its mailboxes. The others report.
        self.each(|worker| worker.run_window(true));
        self.finish_all();
    }

    /// Finishes the window of all workers, and collects records if they take much memory.
    fn finish_all(&self) {
        self.each(|worker| worker.schedule.finish_window());
        // SAFETY: the first thread works alone.
        let first = unsafe { self.workers[0].get() };
        if first.schedule.must_collect() {
            // SAFETY: the first thread works alone.
            unsafe { first.collect_records() };
            self.each(|worker| worker.schedule.records_collected());
        }
    }

    fn each(&self, act: impl Fn(&mut Worker<'a, D>)) {
        // SAFETY: the first thread works alone. The others wait at a barrier, or are on their way
        // from one barrier to the next.
        self.workers.iter().for_each(|worker| act(unsafe { worker.get() }));
    }

    /// Whether the run continues, which is equal for all workers.
    fn should_continue(&self) -> bool {
        // SAFETY: only the first thread asks, while the others touch no worker: they have not
        // reached the first barrier, or sleep until they are woken.
        unsafe { self.workers[0].get() }.schedule.should_continue()
    }
}
