//! The order in which a hash table of the GNU C++ library is walked.
//!
//! That simulator walks such tables in two places: a host's QPs after a link failure, and the ports
//! in the head of a trace. The keys are whole numbers, which are their own hashes. All elements are
//! in one list in which those of a bucket are neighbours.

/// Numbers of buckets. A table grows to the next one if it would have more elements than buckets.
const SIZES: [u64; 23] = [
    1, 13, 29, 59, 127, 257, 541, 1_109, 2_357, 5_087, 10_273, 20_753, 42_043, 85_229, 172_933,
    351_061, 712_697, 1_447_153, 2_938_679, 5_967_347, 12_117_689, 24_607_243, 49_969_847,
];

/// A table from keys to values, in the order in which it is walked.
#[derive(Clone, Debug)]
pub(crate) struct WalkOrder<T> {
    size: usize,
    elements: Vec<(u64, T)>,
}

impl<T: Copy> WalkOrder<T> {
    pub(crate) fn new() -> WalkOrder<T> {
        WalkOrder { size: 0, elements: Vec::new() }
    }

    fn buckets(&self) -> u64 {
        SIZES[self.size]
    }

    /// Sets the value of `key`. If it is in the table, it keeps its place.
    pub(crate) fn insert(&mut self, key: u64, value: T) {
        if let Some(element) = self.elements.iter_mut().find(|element| element.0 == key) {
            element.1 = value;
            return;
        }
        let is_full = self.elements.len() as u64 + 1 > self.buckets();
        if (self.size == 0 || is_full) && self.size + 1 < SIZES.len() {
            self.size += 1;
            for (key, value) in std::mem::take(&mut self.elements) {
                self.place(key, value);
            }
        }
        self.place(key, value);
    }

    /// Puts an element at the head of its bucket's part of the list, or of the whole list if the
    /// bucket is empty.
    fn place(&mut self, key: u64, value: T) {
        let buckets = self.buckets();
        let is_neighbour = |element: &(u64, T)| element.0 % buckets == key % buckets;
        let place = self.elements.iter().position(is_neighbour).unwrap_or(0);
        self.elements.insert(place, (key, value));
    }

    pub(crate) fn remove(&mut self, key: u64) {
        self.elements.retain(|element| element.0 != key);
    }

    /// The values in the order of the walk.
    pub(crate) fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.elements.iter().map(|element| element.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order that a program with that library printed.
    #[test]
    fn elements_are_walked_as_there() {
        let mut table = WalkOrder::new();
        let insert = |table: &mut WalkOrder<u64>, key| table.insert(key, key);
        (0..13).for_each(|n| insert(&mut table, 7 * n));
        assert!(table.values().eq((0..13).rev().map(|n| 7 * n)));
        insert(&mut table, 91);
        assert!(table.values().eq([91].into_iter().chain((0..13).map(|n| 7 * n))));
        table.remove(0);
        insert(&mut table, 0);
        assert!(table.values().eq([0, 91].into_iter().chain((1..13).map(|n| 7 * n))));
    }
}
