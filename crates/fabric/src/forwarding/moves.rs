//! How often a switch moved messages to another path.

/// How often a message was moved to another path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moves {
    /// The message.
    pub message: u32,
    /// How often.
    pub times: u32,
}

impl Moves {
    /// Nothing has moved.
    pub(crate) const NONE: Moves = Moves { message: 0, times: 0 };
}

/// The moves of a switch's flows. The last message of a flow that moved is kept with the flow.
#[derive(Debug, Default)]
pub(crate) struct MoveLog {
    moves: u64,
    /// Of messages that another one of their flow has followed.
    earlier: Vec<Moves>,
}

impl MoveLog {
    /// Counts a move of a message. `last` is that of its flow.
    #[inline]
    pub(crate) fn count(&mut self, message: u32, last: &mut Moves) {
        self.moves += 1;
        if last.message != message && last.times > 0 {
            self.earlier.push(*last);
            last.times = 0;
        }
        last.message = message;
        last.times += 1;
    }

    /// The number of all moves.
    pub(crate) fn total(&self) -> u64 {
        self.moves
    }

    /// All moves, with the last ones of all flows.
    pub(crate) fn all(&self, last: impl Iterator<Item = Moves>) -> Vec<Moves> {
        self.earlier.iter().copied().chain(last.filter(|moves| moves.times > 0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Messages of a flow follow each other, and each move counts for the one that moved.
        #[test]
        fn moves_are_counted_by_message(moved in prop::collection::vec(0u32..6, 0..40)) {
            let (mut last, mut log) = (Moves::NONE, MoveLog::default());
            let mut expected = BTreeMap::new();
            for &message in &moved {
                log.count(message, &mut last);
                *expected.entry(message).or_insert(0) += 1;
            }
            let mut counted = BTreeMap::new();
            for one in log.all([last].into_iter()) {
                *counted.entry(one.message).or_insert(0) += one.times;
            }
            prop_assert_eq!(counted, expected);
            prop_assert_eq!(log.total(), moved.len() as u64);
        }
    }
}
