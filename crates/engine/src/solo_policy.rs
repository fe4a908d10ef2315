//! When the first thread does all work alone because other processes take the cores.
//!
//! Threads meet at a barrier after each window. If one of them has lost its core to another
//! process, each window takes as long as the operating system keeps that thread waiting. One thread
//! that does all work needs one core only, and is faster then.
//!
//! The policy compares two times: how long the threads worked together, and how much of it was lost
//! while they waited for a thread without a core. It never changes a result.
//! [`Layout::solo_periods`](crate::Layout::solo_periods) turns it off.

use crate::sync::Instant;
use std::fs::read_to_string;
use std::sync::OnceLock;
use std::time::Duration;

/// Length of a solo period as a multiple of the time just lost. When it ends, all workers resume.
/// If the core is still busy, the pool loses that time once more.
const SOLO_FACTOR: u32 = 128;
/// The longest solo period. It bounds how long a free core goes unnoticed.
const MAX_SOLO: Duration = Duration::from_secs(1);
/// Length of a solo period at the start of a run, if only one core seems to be free. A process that
/// was busy for a moment only has finished by then.
pub(crate) const FIRST_SOLO: Duration = Duration::from_micros(500);
/// How often the load is checked after a solo period. One check takes about 20 us.
pub(crate) const LOAD_CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Decides whether a solo period begins, and how long it is.
pub(crate) struct SoloPolicy {
    threads: u32,
    is_enabled: bool,
    /// When all threads began to work together, or lost time the last time.
    since: Instant,
    /// Length of the solo period that [`should_go_solo`](SoloPolicy::should_go_solo) asked for
    /// last.
    pub(crate) solo_period: Duration,
}

impl SoloPolicy {
    pub(crate) fn new(threads: usize, is_enabled: bool) -> SoloPolicy {
        SoloPolicy {
            threads: threads as u32,
            is_enabled,
            since: Instant::now(),
            solo_period: Duration::ZERO,
        }
    }

    /// Returns whether the time just `lost` exceeds what the threads gained by working together.
    /// Each thread beyond the first counts as a gain of half the time.
    pub(crate) fn should_go_solo(&mut self, lost: Duration) -> bool {
        if lost.is_zero() || !self.is_enabled {
            return false;
        }
        let together = self.since.elapsed().saturating_sub(lost);
        self.resume();
        self.solo_period = (lost * SOLO_FACTOR).min(MAX_SOLO);
        together * (self.threads - 1) / 2 < lost
    }

    /// All threads work together from now on.
    pub(crate) fn resume(&mut self) {
        self.since = Instant::now();
    }
}

/// Returns whether other processes keep all cores but one busy at this moment.
///
/// Counts the threads that can run, as Linux reports them, besides this one. So it must be called
/// while this thread is the only one of the run that is awake. Returns `false` if the operating
/// system does not report the load.
pub(crate) fn only_one_core_free() -> bool {
    if cfg!(loom) {
        return false;
    }
    static CORES: OnceLock<usize> = OnceLock::new();
    let read = |path| read_to_string(path).unwrap_or_default();
    let cores = *CORES.get_or_init(|| count_cores(&read("/sys/devices/system/cpu/online")));
    let others = runnable_threads(&read("/proc/loadavg")).saturating_sub(1);
    cores > 1 && others + 1 >= cores
}

/// Reads how many threads can run: the number before the slash in the fourth word.
fn runnable_threads(loadavg: &str) -> usize {
    let word = loadavg.split_whitespace().nth(3);
    let running = word.and_then(|word| word.split('/').next());
    running.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Counts the numbers in a list such as `0-3,8`. Returns 0 if the text is no such list.
fn count_cores(list: &str) -> usize {
    let count = |range: &str| -> Option<usize> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some((last + 1).saturating_sub(first))
    };
    list.trim().split(',').map(count).sum::<Option<usize>>().unwrap_or(0)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Protects the choice between waiting for a lost core and working alone: what was lost is
    /// compared with what two threads gain, half of the time that they worked together.
    #[test]
    fn a_loss_beyond_the_gain_begins_a_solo_period() {
        let policy = |together_ms, is_enabled| SoloPolicy {
            since: Instant::now() - Duration::from_millis(together_ms),
            ..SoloPolicy::new(2, is_enabled)
        };
        let lost = Duration::from_millis(4);
        let mut long_together = policy(1_000, true);
        assert!(!long_together.should_go_solo(lost));
        assert!(long_together.since.elapsed() < Duration::from_secs(1), "counts from here on");
        let mut just_begun = policy(4, true);
        assert!(just_begun.should_go_solo(lost));
        assert_eq!(just_begun.solo_period, lost * SOLO_FACTOR);
        assert!(!policy(4, true).should_go_solo(Duration::ZERO));
        assert!(!policy(4, false).should_go_solo(lost));
        let mut for_long = policy(60_000, true);
        for_long.should_go_solo(Duration::from_secs(60));
        assert_eq!(for_long.solo_period, MAX_SOLO);
    }

    #[test]
    fn what_linux_says_is_understood_and_anything_else_is_nothing() {
        assert_eq!(runnable_threads("0.53 0.96 0.98 3/79 13805\n"), 3);
        assert_eq!(runnable_threads("0.00 0.00"), 0);
        assert_eq!(runnable_threads(""), 0);
        assert_eq!(count_cores("0-1\n"), 2);
        assert_eq!(count_cores("0-3,8,10-11\n"), 7);
        assert_eq!(count_cores("0"), 1);
        assert_eq!(count_cores(""), 0);
    }
}
