//! Many times, by number, of which the earliest is known at once.

use std::hint::select_unpredictable;
use units::Time;

/// Times by number, [`Time::NEVER`] if there is none. Each node of a binary tree names the earlier
/// of the two times below it. Setting a time takes one step for each level, without a branch that
/// could be mispredicted.
#[derive(Debug, Default)]
pub(crate) struct Tournament {
    /// The leaves: a power of two of them, two at least.
    times: Vec<Time>,
    /// One for each leaf: the root is 1, below `node` are `2 node` and `2 node + 1`, then the
    /// leaves.
    nodes: Vec<u32>,
    /// Of the root.
    first: Entry,
}

/// A time and its number.
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
    /// The earlier of this entry, of node `place`, and its neighbour; the left one if they are
    /// equal.
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

    /// The number of the earliest time; the lowest one if there are several.
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
        // From left to right: each node is correct once the last leaf below it is set.
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
