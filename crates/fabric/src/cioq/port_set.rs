//! Sets of ports.

/// Sets of the ports of one switch, side by side: 64 ports a word.
#[derive(Clone, Debug)]
pub(super) struct PortSets {
    width: usize,
    words: Vec<u64>,
}

impl PortSets {
    /// So many empty sets.
    pub(super) fn new(sets: usize, ports: usize) -> PortSets {
        let width = ports.div_ceil(64);
        PortSets { width, words: vec![0; sets * width] }
    }

    #[inline]
    pub(super) fn insert(&mut self, set: usize, port: usize) {
        self.words[set * self.width + port / 64] |= 1 << (port % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, set: usize, port: usize) {
        self.words[set * self.width + port / 64] &= !(1 << (port % 64));
    }

    /// Adds a port to the only set, or takes it out.
    #[inline]
    pub(super) fn put(&mut self, port: usize, member: bool) {
        if member { self.insert(0, port) } else { self.remove(0, port) }
    }

    /// The first member at or after `from`.
    #[inline]
    pub(super) fn first(&self, set: usize, from: usize) -> Option<usize> {
        // Most switches have no more than 64 ports.
        let &[word] = self.set(set) else { return self.first_of_many(set, from) };
        let bits = word & u64::MAX.checked_shl(from as u32)?;
        (bits != 0).then(|| bits.trailing_zeros() as usize)
    }

    /// [`first`](PortSets::first), where a set has any number of words.
    fn first_of_many(&self, set: usize, from: usize) -> Option<usize> {
        let mut mask = u64::MAX << (from % 64);
        for (word, bits) in self.set(set).iter().enumerate().skip(from / 64) {
            let bits = bits & mask;
            if bits != 0 {
                return Some(word * 64 + bits.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The member that comes after `member` on the way from `from` around; the first one after `None`.
    #[inline]
    pub(super) fn following(
        &self,
        set: usize,
        from: usize,
        member: Option<usize>,
    ) -> Option<usize> {
        let low = |start| self.first(set, start).filter(|&port| port < from);
        match member {
            Some(member) if member < from => low(member + 1),
            Some(member) => self.first(set, member + 1).or_else(|| low(0)),
            None => self.first(set, from).or_else(|| low(0)),
        }
    }

    #[inline]
    pub(super) fn contains(&self, set: usize, port: usize) -> bool {
        self.words[set * self.width + port / 64] & 1 << (port % 64) != 0
    }

    #[inline]
    pub(super) fn is_empty(&self, set: usize) -> bool {
        self.set(set).iter().all(|word| *word == 0)
    }

    #[inline]
    fn set(&self, set: usize) -> &[u64] {
        &self.words[set * self.width..][..self.width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_goes_through_all_members_once_from_where_it_is_told() {
        let mut sets = PortSets::new(3, 130);
        for port in [0, 5, 7, 63, 64, 66, 129] {
            sets.insert(1, port);
        }
        for port in [7, 66] {
            sets.remove(1, port);
        }
        sets.insert(2, 9);
        let around = |from| {
            let first = sets.following(1, from, None);
            let after = |&port: &usize| sets.following(1, from, Some(port));
            std::iter::successors(first, after).collect::<Vec<_>>()
        };
        assert_eq!(around(0), [0, 5, 63, 64, 129]);
        assert_eq!(around(6), [63, 64, 129, 0, 5]);
        assert_eq!(around(64), [64, 129, 0, 5, 63]);
        assert_eq!(around(129), [129, 0, 5, 63, 64]);
        assert!(sets.is_empty(0) && !sets.is_empty(1));
        assert_eq!(sets.following(0, 2, None), None);
    }
}
