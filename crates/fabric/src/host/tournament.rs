//! Times of many, the earliest of them at hand.

use std::hint::select_unpredictable;
use units::Time;

/// Times by number, [`Time::NEVER`] where there is none. Each node of a tree knows whose is the earlier of
/// the two times below it. Setting one takes a step for each level, none of which need be guessed.
#[derive(Debug, Default)]
pub(crate) struct Tournament {
    /// The leaves: a power of two of them, two at least.
    times: Vec<Time>,
    /// As many: the root at 1, below `node` come `2 node` and `2 node + 1`, and last the leaves.
    nodes: Vec<u32>,
    /// Of the root.
    first: Entry,
}

/// A time, and whose it is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    number: u32,
}

impl Default for Entry {
    fn default() -> Entry {
        Entry { time: Time::NEVER, number: 0 }
    }
}

impl Entry {
    /// The earlier of this one, of `place`, and its neighbour; of equals the left one.
    #[inline(always)]
    fn or(self, other: Entry, place: usize) -> Entry {
        let is_right = place % 2 == 1;
        let wins = (other.time < self.time) | ((other.time == self.time) & is_right);
        Entry {
            time: select_unpredictable(wins, other.time, self.time),
            number: select_unpredictable(wins, other.number, self.number),
        }
    }
}

impl Tournament {
    /// The time of `number`.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> Time {
        self.times.get(number as usize).copied().unwrap_or(Time::NEVER)
    }

    #[inline]
    pub(crate) fn set(&mut self, number: u32, time: Time) {
        let leaf = number as usize;
        if leaf >= self.times.len() {
            self.grow(leaf + 1);
        }
        self.times[leaf] = time;
        let other = Entry { time: self.times[leaf ^ 1], number: number ^ 1 };
        let mut earliest = Entry { time, number }.or(other, leaf);
        let mut node = (self.times.len() + leaf) / 2;
        self.nodes[node] = earliest.number;
        while node > 1 {
            let number = self.nodes[node ^ 1];
            let other = Entry { time: self.times[number as usize], number };
            earliest = earliest.or(other, node);
            node /= 2;
            self.nodes[node] = earliest.number;
        }
        self.first = earliest;
    }

    /// The earliest time.
    #[inline]
    pub(crate) fn earliest(&self) -> Time {
        self.first.time
    }

    /// Whose it is; of several, the one with the lowest number.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (self.first.time != Time::NEVER).then_some(self.first.number)
    }

    /// Forgets all times.
    pub(crate) fn clear(&mut self) {
        self.times.fill(Time::NEVER);
        self.first = Entry::default();
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let leaves = count.next_power_of_two().max(2);
        self.times.resize(leaves, Time::NEVER);
        self.nodes = vec![0; leaves];
        // From left to right: each node is right once the last leaf below it is.
        for number in 0..leaves {
            self.set(number as u32, self.times[number]);
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
