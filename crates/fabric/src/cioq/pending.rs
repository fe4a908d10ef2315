//! What is known about outputs between two checks of the crossbar.

use super::port_set::PortSet;
use std::hint::select_unpredictable;
use units::Time;

/// What is known about an output.
#[derive(Clone, Debug)]
pub(super) struct OutputState {
    /// When it must be checked: when it is worth asking, when a packet leaves for which others
    /// wait, or earlier.
    pub(super) check_at: Time,
    /// From when on it is worth asking. Not before it is free; [`Time::NEVER`] if nothing waits.
    pub(super) ask_at: Time,
    /// Number of the last check that drained it.
    pub(super) checked_in: u64,
    /// A waiting packet does not fit into the queue.
    pub(super) full: bool,
    /// No waiting packet fits. Asking is useless before a packet leaves or a smaller one arrives.
    pub(super) none_fits: bool,
    /// A waiting packet may cross when the queue is empty.
    pub(super) last: bool,
}

/// What is known about all outputs.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) outputs: Vec<OutputState>,
    /// Outputs that may still be matched at this instant.
    pub(super) open: PortSet,
    /// Number of checks so far.
    pub(super) checks: u64,
    /// Every output is asked at every check, and nothing crosses without being matched. Used in
    /// reference mode.
    pub(super) recheck_all: bool,
}

impl Pending {
    pub(super) fn new(ports: usize, recheck_all: bool) -> Pending {
        let (check_at, ask_at) = (Time::NEVER, Time::NEVER);
        let idle = OutputState {
            check_at,
            ask_at,
            checked_in: 0,
            full: false,
            none_fits: false,
            last: false,
        };
        Pending { outputs: vec![idle; ports], open: PortSet::new(ports), checks: 0, recheck_all }
    }

    /// Returns which outputs of `wanted`, the bit mask of 64 outputs with this word number, must be
    /// checked now. Also returns when the first of the others must be.
    #[inline]
    pub(super) fn outputs_to_match(&self, word: usize, wanted: u64, now: Time) -> (u64, Time) {
        if self.recheck_all {
            return (wanted, Time::NEVER);
        }
        let (mut left, mut due, mut next) = (wanted, 0, Time::NEVER);
        while left != 0 {
            let bit = left & left.wrapping_neg();
            let check_at = self.outputs[word * 64 + left.trailing_zeros() as usize].check_at;
            left ^= bit;
            // Without a branch, because which of the two it is would be mispredicted.
            let is_due = check_at <= now;
            due |= if is_due { bit } else { 0 };
            next = next.min(select_unpredictable(is_due, Time::NEVER, check_at));
        }
        (due, next)
    }
}
