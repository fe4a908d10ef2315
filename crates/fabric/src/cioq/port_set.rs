//! Sets of ports.

/// A set: 64 ports a word.
pub(super) type Words = [u64];

/// Sets of the ports of one switch, side by side.
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

    #[inline]
    pub(super) fn set(&self, set: usize) -> &Words {
        &self.words[set * self.width..][..self.width]
    }

    /// Makes the only set the members of `of` that are in `either` and not in `other`.
    #[inline]
    pub(super) fn assign(&mut self, of: &Words, either: &PortSets, other: &Words) {
        let others = either.words.iter().zip(other);
        for (word, (of, (either, other))) in self.words.iter_mut().zip(of.iter().zip(others)) {
            *word = of & either & !other;
        }
    }

    /// Adds the members of `other` to the only set.
    #[inline]
    pub(super) fn add(&mut self, other: &Words) {
        for (word, other) in self.words.iter_mut().zip(other) {
            *word |= other;
        }
    }

    /// Empties all sets.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The first member at or after `from`.
    #[inline]
    pub(super) fn first(&self, set: usize, from: usize) -> Option<usize> {
        next_in_both(self.set(set), self.set(set), from)
    }

    #[inline]
    pub(super) fn contains(&self, set: usize, port: usize) -> bool {
        self.words[set * self.width + port / 64] & 1 << (port % 64) != 0
    }

    #[inline]
    pub(super) fn is_empty(&self, set: usize) -> bool {
        self.set(set).iter().all(|word| *word == 0)
    }
}

/// The first port at or after `from` that is in `set` and, where `than` is so, in `other`, else not
/// in it.
#[inline]
fn next(set: &Words, other: &Words, than: bool, from: usize) -> Option<usize> {
    // Most switches have no more than 64 ports.
    let ([set], [other]) = (set, other) else { return next_of_many(set, other, than, from) };
    let bits = if than { set & other } else { set & !other };
    let bits = bits & u64::MAX.checked_shl(from as u32)?;
    (bits != 0).then(|| bits.trailing_zeros() as usize)
}

/// [`next`], where a set has any number of words.
fn next_of_many(set: &Words, other: &Words, than: bool, from: usize) -> Option<usize> {
    let flip = if than { 0 } else { u64::MAX };
    let mut mask = u64::MAX << (from % 64);
    for word in from / 64..set.len() {
        let bits = set[word] & (other[word] ^ flip) & mask;
        if bits != 0 {
            return Some(word * 64 + bits.trailing_zeros() as usize);
        }
        mask = u64::MAX;
    }
    None
}

/// The first port at or after `from` that is in both sets.
#[inline]
pub(super) fn next_in_both(set: &Words, other: &Words, from: usize) -> Option<usize> {
    next(set, other, true, from)
}

/// The first port at or after `from` that is in `set` and not in `other`.
#[inline]
pub(super) fn next_but(set: &Words, other: &Words, from: usize) -> Option<usize> {
    next(set, other, false, from)
}

/// The member of `set` that is not in `other` which comes after `member` on the way from `from`
/// around; the first one after `None`.
#[inline]
pub(super) fn following_but(
    set: &Words,
    other: &Words,
    from: usize,
    member: Option<usize>,
) -> Option<usize> {
    let low = |start| next_but(set, other, start).filter(|&port| port < from);
    match member {
        Some(member) if member < from => low(member + 1),
        Some(member) => next_but(set, other, member + 1).or_else(|| low(0)),
        None => next_but(set, other, from).or_else(|| low(0)),
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
        sets.insert(1, 9);
        sets.remove(1, 9);
        for port in [7, 66, 100] {
            sets.insert(2, port);
        }
        let (set, other) = (sets.set(1), sets.set(2));
        let around = |from| {
            let first = following_but(set, other, from, None);
            let after = |&port: &usize| following_but(set, other, from, Some(port));
            std::iter::successors(first, after).collect::<Vec<_>>()
        };
        assert_eq!(around(0), [0, 5, 63, 64, 129]);
        assert_eq!(around(6), [63, 64, 129, 0, 5]);
        assert_eq!(around(64), [64, 129, 0, 5, 63]);
        assert_eq!(around(129), [129, 0, 5, 63, 64]);
        let both = std::iter::successors(next_in_both(set, other, 0), |&port| {
            next_in_both(set, other, port + 1)
        });
        assert_eq!(both.collect::<Vec<_>>(), [7, 66]);
        assert!(sets.is_empty(0) && !sets.is_empty(1));
        assert_eq!(following_but(sets.set(0), other, 2, None), None);
    }
}
