//! What workers tell each other at the end of a window.

use super::Schedule;
use crate::mailbox::Parity;
use crate::run_state::RunShared;
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use units::Time;

/// What a worker reports at the end of a window.
///
/// There are two numbers of each kind, used in alternate windows: a worker may report the next
/// window while a slow one still reads the last.
#[derive(Default)]
pub(crate) struct WorkerReport {
    /// Time of the next event, ps.
    next: [AtomicU64; 2],
    finished: [AtomicU64; 2],
    delivered: [AtomicU64; 2],
    /// Entries recorded.
    recorded: [AtomicU64; 2],
    /// Bytes that records take since they were last collected.
    held: [AtomicU64; 2],
    /// Whether the progress callback ended the run.
    cancel: [AtomicBool; 2],
}

impl Schedule<'_> {
    /// Reports to the other workers. `next` is the time of this worker's next event.
    pub(super) fn report(&mut self, parity: Parity, next: Time) {
        let parity = parity.index();
        let RunShared { reports, watch, .. } = self.shared;
        let report = &reports[self.thread];
        report.next[parity].store(next.ps(), Ordering::Relaxed);
        report.finished[parity].store(self.finished, Ordering::Relaxed);
        report.delivered[parity].store(self.delivered, Ordering::Relaxed);
        report.recorded[parity].store(self.records.entries, Ordering::Relaxed);
        report.held[parity].store(self.records.held, Ordering::Relaxed);
        let cancel = self.thread == 0 && !watch(self.seen);
        report.cancel[parity].store(cancel, Ordering::Relaxed);
    }

    /// Adds up the reports of all workers. Returns the time of the next event of all.
    pub(super) fn read_reports(&mut self, parity: Parity) -> Time {
        let parity = parity.index();
        let mut next = u64::MAX;
        let (mut finished, mut delivered, mut recorded, mut held) = (0, 0, 0, 0);
        for report in self.shared.reports {
            next = next.min(report.next[parity].load(Ordering::Relaxed));
            finished += report.finished[parity].load(Ordering::Relaxed);
            delivered += report.delivered[parity].load(Ordering::Relaxed);
            recorded += report.recorded[parity].load(Ordering::Relaxed);
            held += report.held[parity].load(Ordering::Relaxed);
            self.cancelled |= report.cancel[parity].load(Ordering::Relaxed);
        }
        self.seen.finished = finished;
        self.seen.packets_delivered = delivered;
        self.records.limit(recorded, self.shared.max_records, self.end);
        self.must_collect = held > self.shared.max_held_bytes;
        if next != u64::MAX {
            self.seen.time = Time::from_ps(next);
        }
        Time::from_ps(next)
    }
}
