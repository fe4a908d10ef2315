//! What is known of outputs between one look at the crossbar and the next.

use super::port_set::PortSet;
use std::hint::select_unpredictable;
use units::Time;

/// What is known of an output.
#[derive(Clone, Debug)]
pub(super) struct RunOutput {
    /// When it is to be looked at: when it is to be asked, or a packet leaves for which others wait; or
    /// earlier.
    pub(super) look_at: Time,
    /// From when on it is worth asking: not before it is free, [`Time::NEVER`] where nothing waits.
    pub(super) ask_at: Time,
    /// The number of the last look that had it send what was due.
    pub(super) looked: u64,
    /// Something that waits does not fit into the queue.
    pub(super) full: bool,
    /// Nothing does that waits: of no use to ask before a packet leaves, or a smaller one comes.
    pub(super) shut: bool,
    /// What waits may cross when the queue is empty.
    pub(super) last: bool,
}

/// What is known of all of them.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) outputs: Vec<RunOutput>,
    /// Those that may be matched yet at this instant.
    pub(super) open: PortSet,
    /// How many looks there were.
    pub(super) looks: u64,
    /// All are asked at all times; nothing crosses without being matched.
    pub(super) recheck_all: bool,
}

impl Pending {
    pub(super) fn new(ports: usize, recheck_all: bool) -> Pending {
        let (look_at, ask_at) = (Time::NEVER, Time::NEVER);
        let idle = RunOutput { look_at, ask_at, looked: 0, full: false, shut: false, last: false };
        Pending { outputs: vec![idle; ports], open: PortSet::new(ports), looks: 0, recheck_all }
    }

    /// Which of 64 outputs, by number of the word and of these `wanted` ones, are to be looked at now;
    /// and when the first of the others is.
    #[inline]
    pub(super) fn outputs_to_match(&self, word: usize, wanted: u64, now: Time) -> (u64, Time) {
        if self.recheck_all {
            return (wanted, Time::NEVER);
        }
        let (mut left, mut due, mut next) = (wanted, 0, Time::NEVER);
        while left != 0 {
            let bit = left & left.wrapping_neg();
            let look_at = self.outputs[word * 64 + left.trailing_zeros() as usize].look_at;
            left ^= bit;
            // Which it is can't be guessed.
            let is_due = look_at <= now;
            due |= if is_due { bit } else { 0 };
            next = next.min(select_unpredictable(is_due, Time::NEVER, look_at));
        }
        (due, next)
    }
}
