//! Times of many, the earliest of them at hand.

use std::hint::select_unpredictable;
use units::Time;

/// Times by number, [`Time::NEVER`] where there is none. Each node of a tree holds the earlier time of the
/// two below it. Setting one takes a step for each level, none of which need be guessed.
#[derive(Debug, Default)]
pub(crate) struct Tournament {
    /// The leaves: a power of two of them, two at least.
    times: Vec<Time>,
    /// As many: the root at 1, below `node` come `2 node` and `2 node + 1`, and last the leaves.
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
        self.nodes[node] = earliest;
        while node > 1 {
            earliest = earliest.or(self.nodes[node ^ 1], node);
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
        self.times.fill(Time::NEVER);
        self.nodes.fill(Entry::NONE);
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let leaves = count.next_power_of_two().max(2);
        let times = std::mem::replace(&mut self.times, vec![Time::NEVER; leaves]);
        self.nodes = vec![Entry::NONE; leaves];
        for (number, time) in times.into_iter().enumerate() {
            self.set(number as u32, time);
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
