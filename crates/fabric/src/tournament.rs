//! Times of many, the earliest of them at hand.

use units::Time;

/// Times by number, [`Time::NEVER`] where there is none. Each node of a tree holds the earlier time of the
/// two below it. Setting one takes a step for each level, none of which need be guessed.
#[derive(Debug, Default)]
pub(crate) struct Tournament {
    /// The root at 1, below `node` come `2 node` and `2 node + 1`; the second half are the leaves.
    nodes: Vec<Time>,
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
        self.nodes.get(leaf).copied().unwrap_or(Time::NEVER)
    }

    #[inline]
    pub(crate) fn set(&mut self, number: u32, time: Time) {
        if number as usize >= self.leaves() {
            self.grow(number as usize + 1);
        }
        let mut node = self.leaves() + number as usize;
        let mut earliest = time;
        self.nodes[node] = time;
        while node > 1 {
            earliest = earliest.min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = earliest;
        }
    }

    /// The earliest time.
    #[inline]
    pub(crate) fn earliest(&self) -> Time {
        self.nodes.get(1).copied().unwrap_or(Time::NEVER)
    }

    /// Whose it is; of several, the one with the lowest number.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        let earliest = self.earliest();
        if earliest == Time::NEVER {
            return None;
        }
        let mut node = 1;
        while node < self.leaves() {
            node = 2 * node + usize::from(self.nodes[2 * node] != earliest);
        }
        Some((node - self.leaves()) as u32)
    }

    /// Forgets all times.
    pub(crate) fn clear(&mut self) {
        self.nodes.fill(Time::NEVER);
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let times = self.nodes.split_off(self.leaves());
        self.nodes.clear();
        self.nodes.resize(2 * count.next_power_of_two(), Time::NEVER);
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
