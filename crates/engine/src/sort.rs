//! Putting the arrivals of a window in order.

#[cfg(target_arch = "x86_64")]
mod by_rank;

/// Sorts a window's entries.
pub(crate) struct Sorter {
    #[cfg(target_arch = "x86_64")]
    by_rank: Option<Box<by_rank::ByRank>>,
}

impl Sorter {
    pub(crate) fn new() -> Sorter {
        Sorter {
            #[cfg(target_arch = "x86_64")]
            by_rank: by_rank::ByRank::new(),
        }
    }

    #[inline]
    pub(crate) fn sort(&mut self, entries: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(by_rank) = &mut self.by_rank {
            return by_rank.sort(entries);
        }
        entries.sort_unstable();
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
        ) {
            if few_keys {
                entries.iter_mut().for_each(|entry| *entry &= 0xf000_0000_ffff_ffff);
            }
            if crowded {
                // Most of them within a short time.
                entries.iter_mut().skip(3).for_each(|entry| *entry >>= 6);
            }
            entries.iter_mut().for_each(|entry| *entry >>= shift);
            let mut expected = entries.clone();
            expected.sort_unstable();
            Sorter::new().sort(&mut entries);
            prop_assert_eq!(entries, expected);
        }
    }
}
