//! A set of ports.

/// A bit for each port.
#[derive(Clone, Debug)]
pub(super) struct PortSet {
    words: Vec<u64>,
}

impl PortSet {
    pub(super) fn new(ports: usize) -> PortSet {
        PortSet { words: vec![0; ports.div_ceil(64)] }
    }

    #[inline]
    pub(super) fn insert(&mut self, port: usize) {
        self.words[port / 64] |= 1 << (port % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, port: usize) {
        self.words[port / 64] &= !(1 << (port % 64));
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The first member at or after `from`.
    #[inline]
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.words.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.words.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// The member after `member` on the way from `from` around; the first one after `None`.
    #[inline]
    pub(super) fn following(&self, from: usize, member: Option<usize>) -> Option<usize> {
        let low = |start| self.next(start).filter(|&port| port < from);
        match member {
            Some(member) if member < from => low(member + 1),
            Some(member) => self.next(member + 1).or_else(|| low(0)),
            None => self.next(from).or_else(|| low(0)),
        }
    }

    /// All members.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.next(0), |&port| self.next(port + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_goes_through_all_members_once_from_where_it_is_told() {
        let mut set = PortSet::new(130);
        for port in [0, 5, 63, 64, 129] {
            set.insert(port);
        }
        set.insert(7);
        set.remove(7);
        let around = |from| {
            let first = set.following(from, None);
            let ports = std::iter::successors(first, |&port| set.following(from, Some(port)));
            ports.collect::<Vec<_>>()
        };
        assert_eq!(around(0), [0, 5, 63, 64, 129]);
        assert_eq!(around(6), [63, 64, 129, 0, 5]);
        assert_eq!(around(64), [64, 129, 0, 5, 63]);
        assert_eq!(around(129), [129, 0, 5, 63, 64]);
        assert_eq!(set.iter().collect::<Vec<_>>(), around(0));
        assert!(PortSet::new(3).is_empty() && PortSet::new(3).following(2, None).is_none());
    }
}
