//! The threads of a run, and whose work each of them does.
//!
//! Each thread does one worker's, window after window, and waits for the others in between. Where one
//! of them has lost its core to another process, each window takes as long as the system lets it wait.
//! Then the first thread does everybody's work for a spell, on the one core that it needs, and the others
//! sleep. It does so at the beginning, too, until they have come, and as long as other processes leave no
//! more than that core. No result depends on who does it.

use crate::barrier::{Barrier, Broken};
use crate::mailbox::Turns;
use crate::solo_policy;
use crate::sync::{AtomicBool, AtomicU64, Instant, Ordering};
use crate::window::Device;
use crate::worker::Worker;
use std::time::Duration;

/// One thread works alone for so many times what was lost. In the end all try again, which where the
/// core is still taken loses as much once more.
const SPELL: u32 = 128;
/// No spell is longer, so that it is soon noticed that the core is free again.
const LONGEST_SPELL: Duration = Duration::from_secs(1);
/// The spell at the beginning where other processes seem to leave one core: one that had work for a moment
/// has none by then.
const FIRST_SPELL: Duration = Duration::from_micros(500);
/// How often it looks after a spell whether there is more than one core. A look takes some 20 us.
const LOOK: Duration = Duration::from_millis(5);

/// The workers of a run, one for each thread.
pub(crate) struct Crew<'a, D: Device> {
    workers: Vec<Turns<Worker<'a, D>>>,
    barrier: &'a Barrier,
    /// The longest wait for a thread without a core since the first thread looked, ns.
    lost: AtomicU64,
    /// Whether the first thread goes on alone, by parity of the window.
    alone: [AtomicBool; 2],
    /// Other processes left one core when the run began.
    begins_alone: bool,
}

impl<'a, D: Device> Crew<'a, D> {
    pub(crate) fn new(workers: Vec<Worker<'a, D>>, barrier: &'a Barrier) -> Crew<'a, D> {
        Crew {
            workers: workers.into_iter().map(Turns::new).collect(),
            barrier,
            lost: AtomicU64::new(0),
            alone: Default::default(),
            begins_alone: barrier.is_shared() && solo_policy::leaves_one_core(),
        }
    }

    /// The workers, when the run is over.
    pub(crate) fn into_workers(self) -> Vec<Worker<'a, D>> {
        self.workers.into_iter().map(Turns::into_inner).collect()
    }

    /// What a thread does from the beginning of the run to its end.
    pub(crate) fn run(&self, thread: usize) -> Result<(), Broken> {
        let begun = Instant::now();
        let mut spells = 0;
        if self.begins_alone {
            spells += 1;
            self.take_a_spell(thread, spells, FIRST_SPELL);
        } else if thread == 0 && self.barrier.is_shared() {
            self.begin();
        }
        // A spell is no reason to be patient.
        self.barrier.wait(if spells == 0 { begun } else { Instant::now() })?;
        let mut pace = Pace::new(self.workers.len());
        for window in 0_usize.. {
            // SAFETY: a thread touches its own worker, but while the first thread works alone: then the
            // others do nothing between two meetings.
            let worker = || unsafe { self.workers[thread].get() };
            if !worker().goes_on() {
                break;
            }
            let begun = Instant::now();
            let alone = &self.alone[window & 1];
            if thread == 0 {
                let lost = Duration::from_nanos(self.lost.swap(0, Ordering::Relaxed));
                alone.store(pace.is_lost_on(lost), Ordering::Relaxed);
            }
            worker().open();
            worker().work(false);
            let lost = self.barrier.wait(begun)?;
            if !alone.load(Ordering::Relaxed) {
                worker().conclude();
                if worker().holds_much() {
                    if thread == 0 {
                        // SAFETY: devices are worked between `open` and the meeting before, and the
                        // others wait at the next one.
                        unsafe { worker().collect_records() };
                    }
                    self.barrier.wait(Instant::now())?;
                    worker().has_handed_over();
                }
            } else {
                spells += 1;
                if thread == 0 {
                    self.conclude_all();
                }
                self.take_a_spell(thread, spells, pace.spell);
                self.barrier.wait(Instant::now())?;
                pace.resume();
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
        while self.goes_on() && !self.barrier.is_last() && !self.barrier.is_broken() {
            self.work_for_all();
        }
    }

    /// The first thread works alone for so long, the others rest: it is the spell of this number.
    fn take_a_spell(&self, thread: usize, number: usize, spell: Duration) {
        if thread == 0 {
            self.work_alone(spell);
        } else {
            self.barrier.rest(number);
        }
    }

    /// Does everybody's work for so long, and on until the others have a core again.
    fn work_alone(&self, spell: Duration) {
        let begun = Instant::now();
        let mut looks_at = spell;
        let mut is_called = false;
        while self.goes_on() && !(is_called && self.barrier.is_last()) && !self.barrier.is_broken()
        {
            self.work_for_all();
            if is_called || begun.elapsed() < looks_at {
                continue;
            }
            if solo_policy::leaves_one_core() {
                looks_at = begun.elapsed() + LOOK;
            } else {
                self.barrier.call();
                is_called = true;
            }
        }
        if !is_called {
            self.barrier.call();
        }
    }

    /// Does everybody's work in the window at hand, and goes on to the next.
    fn work_for_all(&self) {
        self.each(Worker::open);
        // The first worker does it all, so that all mail is in its boxes; the others report.
        self.each(|worker| worker.work(true));
        self.conclude_all();
    }

    /// Concludes everybody's window, and collects records where there are many.
    fn conclude_all(&self) {
        self.each(Worker::conclude);
        // SAFETY: the first thread works alone.
        let first = unsafe { self.workers[0].get() };
        if first.holds_much() {
            // SAFETY: as above.
            unsafe { first.collect_records() };
            self.each(Worker::has_handed_over);
        }
    }

    fn each(&self, act: impl Fn(&mut Worker<'a, D>)) {
        // SAFETY: the first thread works alone: the others wait at the barrier, or are on their way from
        // one to the next.
        self.workers.iter().for_each(|worker| act(unsafe { worker.get() }));
    }

    /// The same for all workers.
    fn goes_on(&self) -> bool {
        // SAFETY: the first thread alone asks, while the others touch no worker: they have not come to
        // the first barrier, or rest until they are called.
        unsafe { self.workers[0].get() }.goes_on()
    }
}

/// When it is better that one thread works alone, and for how long.
struct Pace {
    threads: u32,
    /// When all began to work together, or lost time the last time.
    since: Instant,
    /// How long the first thread works alone when next it does.
    spell: Duration,
}

impl Pace {
    fn new(threads: usize) -> Pace {
        Pace { threads: threads as u32, since: Instant::now(), spell: Duration::ZERO }
    }

    /// So much time was lost. Whether that is more than what was gained by working together, of which
    /// each thread beyond the first counts half.
    fn is_lost_on(&mut self, lost: Duration) -> bool {
        if lost.is_zero() {
            return false;
        }
        let together = self.since.elapsed().saturating_sub(lost);
        self.resume();
        self.spell = (lost * SPELL).min(LONGEST_SPELL);
        together * (self.threads - 1) / 2 < lost
    }

    fn resume(&mut self) {
        self.since = Instant::now();
    }
}
