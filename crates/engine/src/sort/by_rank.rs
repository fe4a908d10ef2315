//! Sorting without guesses.
//!
//! Some dozens of packets arrive at a switch in a window. Sorting them by comparison spends most of its time
//! on guesses that fail. Counting for each how many come before it needs none, and a processor with AVX2
//! compares eight at once. Where there are hundreds, they are dealt out by time before.

use std::arch::x86_64::{
    __m256i, _mm256_cmpgt_epi32, _mm256_loadu_si256, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_storeu_si256, _mm256_sub_epi32,
};

/// Fewer than these are sorted faster by comparison.
const FEWEST: usize = 12;
/// More than these are dealt out before they are ranked.
const MOST: usize = 64;
/// More than these are sorted by comparison.
const MOST_DEALT: usize = 1024;
/// They are dealt out so that this many share a span of time, up to twice as many.
const FEWEST_IN_SPAN: usize = 16;
/// How many are counted for side by side: two vectors of them.
const BLOCK: usize = 16;
/// What is left of an entry says what comes first, but for packets of one link and class at one instant.
const KEY_SHIFT: u32 = 32;

/// Room to sort in, on a processor with AVX2.
pub(super) struct ByRank {
    ranks: [i32; MOST],
    dealt: [u64; MOST_DEALT],
    /// By span: where the next one goes.
    places: [usize; MOST_DEALT / FEWEST_IN_SPAN],
}

impl ByRank {
    /// `None` where the processor lacks AVX2.
    pub(super) fn new() -> Option<Box<ByRank>> {
        is_x86_feature_detected!("avx2").then(|| {
            Box::new(ByRank {
                ranks: [0; MOST],
                dealt: [0; MOST_DEALT],
                places: [0; MOST_DEALT / FEWEST_IN_SPAN],
            })
        })
    }

    /// Sorts `entries`.
    #[inline]
    pub(super) fn sort(&mut self, entries: &mut [u64]) {
        let count = entries.len();
        if !(FEWEST..=MOST_DEALT).contains(&count) {
            entries.sort_unstable();
        } else if count > MOST {
            self.deal(entries);
        } else {
            self.dealt[..count].copy_from_slice(entries);
            self.sort_span(0, entries);
        }
    }

    /// Deals `entries` out by time, and sorts each span.
    #[inline(never)]
    fn deal(&mut self, entries: &mut [u64]) {
        let span_bits = (entries.len() / FEWEST_IN_SPAN).ilog2();
        // The first bits that not all lack.
        let skipped = entries.iter().fold(1, |all, entry| all | entry).leading_zeros();
        let span = |entry: u64| (entry << skipped >> (u64::BITS - span_bits)) as usize;
        let places = &mut self.places[..1 << span_bits];
        places.fill(0);
        for &entry in &*entries {
            places[span(entry)] += 1;
        }
        let mut begin = 0;
        for place in &mut *places {
            begin += std::mem::replace(place, begin);
        }
        for &entry in &*entries {
            let place = &mut places[span(entry)];
            self.dealt[*place % MOST_DEALT] = entry;
            *place += 1;
        }
        let mut begin = 0;
        for span in 0..1 << span_bits {
            let end = self.places[span];
            self.sort_span(begin, &mut entries[begin..end]);
            begin = end;
        }
    }

    /// Sorts what was dealt out from `begin` on into `sorted`.
    #[inline]
    fn sort_span(&mut self, begin: usize, sorted: &mut [u64]) {
        let count = sorted.len();
        let span = &self.dealt[begin..][..count];
        if (FEWEST..=MOST).contains(&count) {
            // SAFETY: the processor has AVX2, or there were no `self`.
            unsafe { rank(span, &mut self.ranks) };
            // Two that have the same key have the same rank; then ranks add up to less than they should.
            let sum: i32 = self.ranks[..count].iter().sum();
            if sum as usize == count * (count - 1) / 2 {
                for (&entry, &rank) in span.iter().zip(&self.ranks) {
                    sorted[rank as usize] = entry;
                }
                return;
            }
        }
        sorted.copy_from_slice(span);
        sorted.sort_unstable();
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
