//! Sorting without guesses.
//!
//! Some dozens of packets arrive at a switch in a window. Sorting them by comparison spends most of its time
//! on guesses that fail. Counting for each how many come before it needs none, and a processor with AVX2
//! compares eight at once.

use std::arch::x86_64::{
    __m256i, _mm256_cmpgt_epi32, _mm256_loadu_si256, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_storeu_si256, _mm256_sub_epi32,
};

/// Fewer or more than these are sorted faster by comparison.
const FEWEST: usize = 12;
const MOST: usize = 64;
/// How many are counted for side by side: two vectors of them.
const BLOCK: usize = 16;
/// What is left of an entry says what comes first, but for packets of one link and class at one instant.
const KEY_SHIFT: u32 = 32;

/// Room to sort in, on a processor with AVX2.
pub(super) struct ByRank {
    ranks: [i32; MOST],
    sorted: [u64; MOST],
}

impl ByRank {
    /// `None` where the processor lacks AVX2.
    pub(super) fn new() -> Option<ByRank> {
        is_x86_feature_detected!("avx2").then(|| ByRank { ranks: [0; MOST], sorted: [0; MOST] })
    }

    /// Sorts `entries`, or leaves them as they are and says so: where comparing them is faster, or two have
    /// the same key.
    #[inline]
    pub(super) fn sort(&mut self, entries: &mut [u64]) -> bool {
        let count = entries.len();
        if !(FEWEST..=MOST).contains(&count) {
            return false;
        }
        // SAFETY: the processor has AVX2, or there were no `self`.
        unsafe { rank(entries, &mut self.ranks) };
        // Two that have the same key have the same rank; then ranks add up to less than they should.
        let sum: i32 = self.ranks[..count].iter().sum();
        if sum as usize != count * (count - 1) / 2 {
            return false;
        }
        for (&entry, &rank) in entries.iter().zip(&self.ranks) {
            self.sorted[rank as usize % MOST] = entry;
        }
        entries.copy_from_slice(&self.sorted[..count]);
        true
    }
}

/// Counts for each of `entries`, at most [`MOST`], how many have a lower key.
#[target_feature(enable = "avx2")]
fn rank(entries: &[u64], ranks: &mut [i32; MOST]) {
    // Signed, as AVX2 compares.
    let mut keys = [i32::MAX; MOST];
    for (key, entry) in keys.iter_mut().zip(entries) {
        *key = ((entry >> KEY_SHIFT) as u32 ^ 1 << 31) as i32;
    }
    let blocks = ranks.chunks_exact_mut(BLOCK).zip(keys.chunks_exact(BLOCK));
    for (ranks, mine) in blocks.take(entries.len().div_ceil(BLOCK)) {
        let mine = mine.as_ptr().cast::<__m256i>();
        // SAFETY: a block is two vectors.
        let mine = unsafe { [_mm256_loadu_si256(mine), _mm256_loadu_si256(mine.add(1))] };
        let mut lower = [_mm256_setzero_si256(); 2];
        for &other in &keys[..entries.len()] {
            let other = _mm256_set1_epi32(other);
            // True is -1.
            lower[0] = _mm256_sub_epi32(lower[0], _mm256_cmpgt_epi32(mine[0], other));
            lower[1] = _mm256_sub_epi32(lower[1], _mm256_cmpgt_epi32(mine[1], other));
        }
        let ranks = ranks.as_mut_ptr().cast::<__m256i>();
        // SAFETY: as above.
        unsafe {
            _mm256_storeu_si256(ranks, lower[0]);
            _mm256_storeu_si256(ranks.add(1), lower[1]);
        }
    }
}
