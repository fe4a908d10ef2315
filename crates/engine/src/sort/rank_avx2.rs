//! Sorting without guesses.
//!
//! Some dozens of packets arrive at a switch in a window. Sorting them by comparison spends most of its time
//! on guesses that fail. Counting for each how many come before it needs none, and a processor with AVX2
//! compares eight at once. Where there are hundreds, they are dealt out by time before.

use super::PADDING;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_blendv_epi8, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_cmpgt_epi32, _mm256_cmpgt_epi64, _mm256_loadu_si256, _mm256_maskload_epi64,
    _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setr_epi32, _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_shuffle_ps,
    _mm256_storeu_si256, _mm256_sub_epi32, _mm256_xor_si256,
};

/// Fewer than these are sorted as [`PADDING`] of them.
const MIN_RANKED: usize = PADDING + 1;
/// More than these are dealt out before they are ranked.
const MAX_RANKED: usize = 64;
/// More than these are sorted by comparison.
const MAX_SPREAD: usize = 1024;
/// They are dealt out so that this many share a span of time, up to twice as many.
const MIN_PER_SPAN: usize = 16;
/// How many are counted for side by side: two vectors of them.
const BLOCK: usize = 16;
/// What is left of an entry says what comes first, but for packets of one link and class at one instant.
const KEY_SHIFT: u32 = 32;

/// Room to sort in, on a processor with AVX2.
pub(super) struct RankSorter {
    ranks: [i32; MAX_RANKED],
    dealt: [u64; MAX_SPREAD],
    /// By span: where the next one goes.
    places: [usize; MAX_SPREAD / MIN_PER_SPAN],
}

impl RankSorter {
    /// `None` where the processor lacks AVX2.
    pub(super) fn new() -> Option<Box<RankSorter>> {
        is_x86_feature_detected!("avx2").then(|| {
            Box::new(RankSorter {
                ranks: [0; MAX_RANKED],
                dealt: [0; MAX_SPREAD],
                places: [0; MAX_SPREAD / MIN_PER_SPAN],
            })
        })
    }

    /// Sorts `entries`.
    #[inline]
    pub(super) fn sort(&mut self, entries: &mut [u64]) {
        let count = entries.len();
        if count < MIN_RANKED {
            // SAFETY: the processor has AVX2, or there were no `self`.
            unsafe { sort_few_in_place(entries) }
        } else if count > MAX_SPREAD {
            entries.sort_unstable();
        } else if count > MAX_RANKED {
            self.deal(entries);
        } else {
            self.dealt[..count].copy_from_slice(entries);
            self.sort_span(0, entries);
        }
    }

    /// Deals `entries` out by time, and sorts each span.
    #[inline(never)]
    fn deal(&mut self, entries: &mut [u64]) {
        let span_bits = (entries.len() / MIN_PER_SPAN).ilog2();
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
            self.dealt[*place % MAX_SPREAD] = entry;
            *place += 1;
        }
        let mut begin = 0;
        for span in 0..1 << span_bits {
            let end = self.places[span];
            self.sort_span(begin, &mut entries[begin..end]);
            begin = end;
        }
    }

    /// Sorts each group of `from`, where each of `ends` ends one, into the same place of `to`. Both have
    /// [`PADDING`] entries more.
    pub(super) fn sort_groups(&mut self, from: &mut [u64], to: &mut [u64], ends: &[u32]) {
        // SAFETY: the processor has AVX2, or there were no `self`.
        unsafe { self.sort_groups_fast(from, to, ends) }
    }

    #[target_feature(enable = "avx2")]
    fn sort_groups_fast(&mut self, from: &mut [u64], to: &mut [u64], ends: &[u32]) {
        let mut begin = 0;
        for end in ends.iter().map(|&end| end as usize) {
            let few = (from[begin..].first_chunk(), to[begin..].first_chunk_mut::<PADDING>());
            let (Some(few), Some(sorted)) = few else { panic!("there is room at the end") };
            let count = end - begin;
            let put = |rank: usize, entry| sorted[rank % PADDING] = entry;
            if count > 0 && (count > PADDING || !sort_few(few, count, put)) {
                self.sort(&mut from[begin..end]);
                to[begin..end].copy_from_slice(&from[begin..end]);
            }
            begin = end;
        }
    }

    /// Sorts what was dealt out from `begin` on into `sorted`.
    #[inline]
    fn sort_span(&mut self, begin: usize, sorted: &mut [u64]) {
        let count = sorted.len();
        let span = &self.dealt[begin..][..count];
        if (MIN_RANKED..=MAX_RANKED).contains(&count) {
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

/// Counts for each of the first `count` of `from` how many have a lower key; `count` for the others.
#[inline]
#[target_feature(enable = "avx2")]
fn rank_few(from: &[u64; PADDING], count: usize) -> [u32; PADDING] {
    let places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let counts = _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), places);
    let [low, high] = [0, 4].map(|half| {
        // SAFETY: a half is a vector.
        _mm256_castsi256_ps(unsafe { _mm256_loadu_si256(from.as_ptr().add(half).cast()) })
    });
    // The upper half of each, in order; what does not count comes last.
    let keys = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
    let keys = _mm256_permute4x64_epi64::<0b11_01_10_00>(keys);
    let keys = _mm256_xor_si256(keys, _mm256_set1_epi32(i32::MIN));
    let keys = _mm256_blendv_epi8(_mm256_set1_epi32(i32::MAX), keys, counts);
    let mut lower = _mm256_setzero_si256();
    let mut place = _mm256_setzero_si256();
    for _ in 0..PADDING {
        let other = _mm256_permutevar8x32_epi32(keys, place);
        // True is -1.
        lower = _mm256_sub_epi32(lower, _mm256_cmpgt_epi32(keys, other));
        place = _mm256_add_epi32(place, _mm256_set1_epi32(1));
    }
    let mut ranks = [0u32; PADDING];
    // SAFETY: they are a vector.
    unsafe { _mm256_storeu_si256(ranks.as_mut_ptr().cast(), lower) };
    ranks
}

/// Sorts the first `count` of `from`, and has `put` put each where its rank says; tells whether they have
/// different keys. Touches as many whatever the count, so that nothing depends on a guess of it.
#[inline]
#[target_feature(enable = "avx2")]
fn sort_few(from: &[u64; PADDING], count: usize, mut put: impl FnMut(usize, u64)) -> bool {
    let mut taken = 0u32;
    // What does not count goes first, and gives way.
    let ranks = rank_few(from, count);
    for (&entry, &rank) in from.iter().zip(&ranks).rev() {
        put(rank as usize, entry);
        taken |= 1 << rank;
    }
    // Those that have the same key have the same rank.
    taken | u32::MAX << count == u32::MAX
}

/// Sorts at most [`PADDING`] entries, also without a guess how many they are.
#[target_feature(enable = "avx2")]
fn sort_few_in_place(entries: &mut [u64]) {
    let count = entries.len();
    if count < 2 {
        return;
    }
    let counts = _mm256_set1_epi64x(count as i64);
    let places = [_mm256_setr_epi64x(0, 1, 2, 3), _mm256_setr_epi64x(4, 5, 6, 7)];
    let masks = places.map(|places| _mm256_cmpgt_epi64(counts, places));
    let halves = entries.as_mut_ptr().cast::<__m256i>();
    let mut few = [0; PADDING];
    for (half, mask) in masks.into_iter().enumerate() {
        // SAFETY: of a half nothing is read but entries, and `few` has two halves.
        unsafe {
            let values = _mm256_maskload_epi64(halves.wrapping_add(half).cast(), mask);
            _mm256_storeu_si256(few.as_mut_ptr().cast::<__m256i>().add(half), values);
        }
    }
    let last = count - 1;
    if !sort_few(&few, count, |rank, entry| entries[rank.min(last)] = entry) {
        entries.copy_from_slice(&few[..count]);
        entries.sort_unstable();
    }
}

/// The key of an entry. Signed, as AVX2 compares.
#[inline(always)]
fn signed_key(entry: u64) -> i32 {
    ((entry >> KEY_SHIFT) as u32 ^ 1 << 31) as i32
}

/// Counts for each of `entries`, at most [`MAX_RANKED`], how many have a lower key.
#[target_feature(enable = "avx2")]
fn rank(entries: &[u64], ranks: &mut [i32; MAX_RANKED]) {
    let mut keys = [i32::MAX; MAX_RANKED];
    for (key, &entry) in keys.iter_mut().zip(entries) {
        *key = signed_key(entry);
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
