//! Disjoint sets of numbered things, such as the nodes of a network that links join.

/// Sets that are joined step by step. At first each number is a set of its own.
pub struct DisjointSets(Vec<usize>);

impl DisjointSets {
    /// The sets of the numbers below `count`.
    pub fn new(count: usize) -> DisjointSets {
        DisjointSets((0..count).collect())
    }

    /// The smallest number of the set that `number` is in.
    pub fn of(&mut self, mut number: usize) -> usize {
        while self.0[number] != number {
            self.0[number] = self.0[self.0[number]];
            number = self.0[number];
        }
        number
    }

    /// Joins the sets of two numbers.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b)] = a.min(b);
    }
}
