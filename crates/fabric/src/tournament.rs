//! Times of many, the earliest of them at hand.

use std::hint::select_unpredictable;
use units::Time;

/// Times by number, [`Time::NEVER`] where there is none. Each node of a tree holds the earlier time of the
/// two below it. Setting one takes a step for each level, none of which need be guessed.
#[derive(Debug, Default)]
pub(crate) struct Tournament {
    /// The root at 1, below `node` come `2 node` and `2 node + 1`; the second half are the leaves.
    nodes: Vec<Entry>,
}

/// A time, and whose it is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    number: u32,
}

impl Entry {
    const NONE: Entry = Entry { time: Time::NEVER, number: 0 };
}

impl Tournament {
    #[inline]
    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// The time of `number`.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> Time {
        let leaf = self.leaves() + number as usize;
        self.nodes.get(leaf).map_or(Time::NEVER, |entry| entry.time)
    }

    #[inline]
    pub(crate) fn set(&mut self, number: u32, time: Time) {
        if number as usize >= self.leaves() {
            self.grow(number as usize + 1);
        }
        let mut node = self.leaves() + number as usize;
        let mut earliest = Entry { time, number };
        self.nodes[node] = earliest;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            let (own, is_right) = (earliest.time, node % 2 == 1);
            let wins = (other.time < own) | ((other.time == own) & is_right);
            earliest.time = select_unpredictable(wins, other.time, own);
            earliest.number = select_unpredictable(wins, other.number, earliest.number);
            node /= 2;
            self.nodes[node] = earliest;
        }
    }

    /// The earliest time.
    #[inline]
    pub(crate) fn earliest(&self) -> Time {
        self.nodes.get(1).map_or(Time::NEVER, |entry| entry.time)
    }

    /// Whose it is; of several, the one with the lowest number.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        let earliest = self.nodes.get(1)?;
        (earliest.time != Time::NEVER).then_some(earliest.number)
    }

    /// Forgets all times.
    pub(crate) fn clear(&mut self) {
        self.nodes.fill(Entry::NONE);
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let leaves = self.nodes.split_off(self.leaves());
        self.nodes.clear();
        self.nodes.resize(2 * count.next_power_of_two(), Entry::NONE);
        for (number, entry) in leaves.into_iter().enumerate() {
            self.set(number as u32, entry.time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_earliest_and_of_equals_the_lowest(
            changes in prop::collection::vec((0u32..70, prop::option::of(0u64..20)), 1..200),
        ) {
            let mut tournament = Tournament::default();
            let mut times = vec![Time::NEVER; 70];
            for (number, time) in changes {
                let time = time.map_or(Time::NEVER, Time::from_ns);
                tournament.set(number, time);
                times[number as usize] = time;
                let known: Vec<Time> = (0..70).map(|number| tournament.at(number)).collect();
                prop_assert_eq!(&known, &times);
                let (first, &earliest) =
                    times.iter().enumerate().min_by_key(|&(number, &time)| (time, number)).unwrap();
                prop_assert_eq!(tournament.earliest(), earliest);
                let expected = (earliest != Time::NEVER).then_some(first as u32);
                prop_assert_eq!(tournament.first(), expected);
            }
        }
    }
}
