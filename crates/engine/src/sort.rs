//! Sorts the arrivals of a window.

use crate::arrival_key::Entry;

#[cfg(target_arch = "x86_64")]
mod rank_avx2;

/// Entries that the lists of [`Sorter::sort_groups`] have in addition at their end.
pub(crate) const PADDING: usize = 8;

/// Sorts entries, with AVX2 if the processor has it.
pub(crate) struct Sorter {
    #[cfg(target_arch = "x86_64")]
    rank_sorter: Option<Box<rank_avx2::RankSorter>>,
}

impl Sorter {
    pub(crate) fn new() -> Sorter {
        Sorter {
            #[cfg(target_arch = "x86_64")]
            rank_sorter: rank_avx2::RankSorter::new(),
        }
    }

    /// Sorts `entries`.
    #[inline]
    pub(crate) fn sort(&mut self, entries: &mut [Entry]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(rank_sorter) = &mut self.rank_sorter {
            return rank_sorter.sort(entries);
        }
        entries.sort_unstable();
    }

    /// Sorts each group of `from` into the same part of `to`. `ends` says where each group ends.
    /// Both lists have [`PADDING`] additional entries. The content of `from` is undefined
    /// afterwards.
    pub(crate) fn sort_groups(&mut self, from: &mut [Entry], to: &mut [Entry], ends: &[u32]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(rank_sorter) = &mut self.rank_sorter {
            return rank_sorter.sort_groups(from, to, ends);
        }
        let mut begin = 0;
        for end in ends.iter().map(|&end| end as usize) {
            to[begin..end].copy_from_slice(&from[begin..end]);
            to[begin..end].sort_unstable();
            begin = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_by_comparison(
            mut entries in prop_oneof![
                prop::collection::vec(any::<u64>(), 0..150),
                prop::collection::vec(any::<u64>(), 0..1200),
            ],
            few_keys: bool,
            crowded: bool,
            shift in 0u32..64,
            group_sizes in prop::collection::vec(0usize..20, 0..20),
        ) {
            if few_keys {
                entries.iter_mut().for_each(|entry| *entry &= 0xf000_0000_ffff_ffff);
            }
            if crowded {
                // Most of them within a short time.
                entries.iter_mut().skip(3).for_each(|entry| *entry >>= 6);
            }
            entries.iter_mut().for_each(|entry| *entry >>= shift);
            let mut entries: Vec<_> = entries.into_iter().map(Entry::from_bits).collect();
            let mut expected = entries.clone();
            expected.sort_unstable();
            let given = entries.clone();
            Sorter::new().sort(&mut entries);
            prop_assert_eq!(&entries, &expected);

            let ends: Vec<u32> = group_sizes
                .iter()
                .scan(0, |end, size| {
                    *end = (*end + size).min(given.len());
                    Some(*end as u32)
                })
                .collect();
            let mut expected = given.clone();
            let mut begin = 0;
            for &end in &ends {
                expected[begin..end as usize].sort_unstable();
                begin = end as usize;
            }
            let (mut from, mut to) = (given, vec![Entry::NONE; expected.len() + PADDING]);
            from.extend([Entry::NONE; PADDING]);
            Sorter::new().sort_groups(&mut from, &mut to, &ends);
            prop_assert_eq!(&to[..begin], &expected[..begin]);
        }
    }
}
