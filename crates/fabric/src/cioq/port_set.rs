//! Sets of ports.

/// A set of the ports of a switch. The first 64 ports are stored inline: most switches have no
/// more.
#[derive(Clone, Debug)]
pub(super) struct PortSet {
    near: u64,
    far: Vec<u64>,
}

impl PortSet {
    /// Makes an empty set.
    pub(super) fn new(ports: usize) -> PortSet {
        PortSet { near: 0, far: vec![0; ports.div_ceil(64).saturating_sub(1)] }
    }

    #[inline]
    fn word_of(&mut self, port: usize) -> &mut u64 {
        match port / 64 {
            0 => &mut self.near,
            word => &mut self.far[word - 1],
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, port: usize) {
        *self.word_of(port) |= 1 << (port % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, port: usize) {
        *self.word_of(port) &= !(1 << (port % 64));
    }

    #[inline]
    pub(super) fn contains(&self, port: usize) -> bool {
        let word = if port < 64 { self.near } else { self.far[port / 64 - 1] };
        word & 1 << (port % 64) != 0
    }

    /// Returns the only member; `None` if there are none or several.
    #[inline]
    pub(super) fn only(&self) -> Option<usize> {
        if self.far.is_empty() {
            let one = self.near.is_power_of_two();
            return one.then(|| self.near.trailing_zeros() as usize);
        }
        self.only_of_many()
    }

    #[cold]
    fn only_of_many(&self) -> Option<usize> {
        let mut members = Members::default();
        let first = members.next(|word| self.word(word))?;
        members.next(|word| self.word(word)).is_none().then_some(first)
    }

    /// Returns the first member.
    #[inline]
    pub(super) fn first(&self) -> Option<usize> {
        Members::default().next(|word| self.word(word))
    }

    /// Returns the members among 64 ports, as a bit mask, by number of the word.
    #[inline]
    pub(super) fn word(&self, word: usize) -> Option<u64> {
        if word == 0 { Some(self.near) } else { self.far.get(word - 1).copied() }
    }
}

/// Several sets of the ports of one switch, with 64 ports in a word.
#[derive(Clone, Debug)]
pub(super) struct PortSets {
    width: usize,
    words: Vec<u64>,
}

impl PortSets {
    /// Makes `sets` empty sets.
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

    #[inline]
    pub(super) fn contains(&self, set: usize, port: usize) -> bool {
        self.words[set * self.width + port / 64] & 1 << (port % 64) != 0
    }

    #[inline]
    pub(super) fn is_empty(&self, set: usize) -> bool {
        if self.width == 1 {
            return self.words[set] == 0;
        }
        self.set(set).iter().all(|word| *word == 0)
    }

    /// Returns the members of a set among 64 ports, as a bit mask, by number of the word.
    #[inline]
    pub(super) fn word(&self, set: usize, word: usize) -> Option<u64> {
        (word < self.width).then(|| self.words[set * self.width + word])
    }

    /// Returns the member that follows `member` in cyclic order from `from`; the first one if
    /// `member` is `None`.
    #[inline]
    pub(super) fn following(
        &self,
        set: usize,
        from: usize,
        member: Option<usize>,
    ) -> Option<usize> {
        if self.width != 1 {
            return self.following_in_many(set, from, member);
        }
        let turned = self.words[set].rotate_right(from as u32);
        let passed = member.map_or(0, |member| (member.wrapping_sub(from) % 64) as u32 + 1);
        let coming = turned & u64::MAX.checked_shl(passed).unwrap_or(0);
        (coming != 0).then(|| (coming.trailing_zeros() as usize + from) % 64)
    }

    /// Does what [`following`](PortSets::following) does if a set has several words.
    #[cold]
    fn following_in_many(&self, set: usize, from: usize, member: Option<usize>) -> Option<usize> {
        let low = |start| self.first(set, start).filter(|&port| port < from);
        match member {
            Some(member) if member < from => low(member + 1),
            Some(member) => self.first(set, member + 1).or_else(|| low(0)),
            None => self.first(set, from).or_else(|| low(0)),
        }
    }

    /// Returns the first member at or after `from`.
    fn first(&self, set: usize, from: usize) -> Option<usize> {
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

    #[inline]
    fn set(&self, set: usize) -> &[u64] {
        &self.words[set * self.width..][..self.width]
    }
}

/// Iterates over a set that may change meanwhile. Each word is read when the iteration reaches it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Members {
    bits: u64,
    words: usize,
}

impl Members {
    /// Returns the next member of the set whose words `word` returns.
    #[inline]
    pub(super) fn next(&mut self, word: impl Fn(usize) -> Option<u64>) -> Option<usize> {
        while self.bits == 0 {
            self.bits = word(self.words)?;
            self.words += 1;
        }
        let bit = self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some((self.words - 1) * 64 + bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn members(word: impl Fn(usize) -> Option<u64>) -> Vec<usize> {
        let mut members = Members::default();
        std::iter::from_fn(|| members.next(&word)).collect()
    }

    proptest! {
        #[test]
        fn as_a_list_of_ports(
            ports in prop_oneof![1usize..65, 65usize..200],
            changes in prop::collection::vec((0usize..200, any::<bool>()), 0..60),
            from in 0usize..200,
        ) {
            let (mut one, mut several) = (PortSet::new(ports), PortSets::new(3, ports));
            let mut list = std::collections::BTreeSet::new();
            for (port, joins) in changes.into_iter().map(|(port, joins)| (port % ports, joins)) {
                if joins {
                    one.insert(port);
                    several.insert(1, port);
                    list.insert(port);
                } else {
                    one.remove(port);
                    several.remove(1, port);
                    list.remove(&port);
                }
                prop_assert_eq!((one.contains(port), several.contains(1, port)), (joins, joins));
            }
            let in_order: Vec<usize> = list.iter().copied().collect();
            prop_assert_eq!(&members(|word| one.word(word)), &in_order);
            prop_assert_eq!(&members(|word| several.word(1, word)), &in_order);
            prop_assert_eq!(one.first(), list.first().copied());
            prop_assert_eq!(several.is_empty(1), list.is_empty());
            prop_assert_eq!(one.only(), list.first().copied().filter(|_| list.len() == 1));
            prop_assert!(several.is_empty(0) && several.is_empty(2));

            let from = from % ports;
            let around = list.range(from..).chain(list.range(..from));
            let around: Vec<usize> = around.copied().collect();
            let first = several.following(1, from, None);
            let after = |&port: &usize| several.following(1, from, Some(port));
            prop_assert_eq!(std::iter::successors(first, after).collect::<Vec<_>>(), around);
            let mut emptied = one.clone();
            while let Some(port) = emptied.first() {
                emptied.remove(port);
            }
            in_order.iter().for_each(|&port| emptied.insert(port));
            prop_assert_eq!(members(|word| emptied.word(word)), in_order);
        }
    }
}
