//! What other processes leave of the machine.

use std::fs::read_to_string;
use std::sync::OnceLock;

/// Whether other processes keep all cores busy but one, at this moment: threads that can run, as Linux counts
/// them, next to this one. Asked while this thread alone is awake. `false` where the system does not tell.
pub(crate) fn only_one_core_free() -> bool {
    if cfg!(loom) {
        return false;
    }
    static CORES: OnceLock<usize> = OnceLock::new();
    let read = |path| read_to_string(path).unwrap_or_default();
    let cores = *CORES.get_or_init(|| counted(&read("/sys/devices/system/cpu/online")));
    let others = running(&read("/proc/loadavg")).saturating_sub(1);
    cores > 1 && others + 1 >= cores
}

/// Threads that can run: the fourth word is their number, a slash, and that of all threads.
fn running(loadavg: &str) -> usize {
    let word = loadavg.split_whitespace().nth(3);
    let running = word.and_then(|word| word.split('/').next());
    running.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// How many numbers are in a list such as `0-3,8`; none where it is not one.
fn counted(list: &str) -> usize {
    let count = |range: &str| -> Option<usize> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some((last + 1).saturating_sub(first))
    };
    list.trim().split(',').map(count).sum::<Option<usize>>().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says_is_understood_and_anything_else_is_nothing() {
        assert_eq!(running("0.53 0.96 0.98 3/79 13805\n"), 3);
        assert_eq!(running("0.00 0.00"), 0);
        assert_eq!(running(""), 0);
        assert_eq!(counted("0-1\n"), 2);
        assert_eq!(counted("0-3,8,10-11\n"), 7);
        assert_eq!(counted("0"), 1);
        assert_eq!(counted(""), 0);
    }
}
