//! Sorts by rank, without branches that depend on the data.
//!
//! Some dozens of packets arrive at a switch in a window. A sort by comparison spends most of its
//! time on branch mispredictions. A sort by rank counts for each entry how many come before it.
//! That needs no such branch, and a processor with AVX2 compares eight entries at once. If there
//! are hundreds of entries, they are first divided into spans of time.

use super::PADDING;
use crate::arrival_key::Entry;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_blendv_epi8, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_cmpgt_epi32, _mm256_cmpgt_epi64, _mm256_loadu_si256, _mm256_maskload_epi64,
    _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setr_epi32, _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_shuffle_ps,
    _mm256_storeu_si256, _mm256_sub_epi32, _mm256_xor_si256,
};

/// Fewer entries than this are sorted as if there were [`PADDING`].
const MIN_RANKED: usize = PADDING + 1;
/// More entries than this are divided into spans before they are ranked.
const MAX_RANKED: usize = 64;
/// More entries than this are sorted by comparison.
const MAX_SPREAD: usize = 1024;
/// Mean number of entries in a span: at least this, less than twice as many.
const MIN_PER_SPAN: usize = 16;
/// Number of entries that are ranked side by side: two vectors.
const BLOCK: usize = 16;
/// The bits of an entry from here on are its key. They differ except for packets of one link and
/// rank at one instant.
const KEY_SHIFT: u32 = 32;

/// A sorter for a processor with AVX2, with the memory that it needs.
pub(super) struct RankSorter {
    ranks: [i32; MAX_RANKED],
    /// Entries by span.
    spread: [Entry; MAX_SPREAD],
    /// For each span, where its next entry goes.
    next: [usize; MAX_SPREAD / MIN_PER_SPAN],
}

impl RankSorter {
    /// Returns `None` if the processor lacks AVX2.
    pub(super) fn new() -> Option<Box<RankSorter>> {
        is_x86_feature_detected!("avx2").then(|| {
            Box::new(RankSorter {
                ranks: [0; MAX_RANKED],
                spread: [Entry::NONE; MAX_SPREAD],
                next: [0; MAX_SPREAD / MIN_PER_SPAN],
            })
        })
    }

    /// Sorts `entries`.
    #[inline]
    pub(super) fn sort(&mut self, entries: &mut [Entry]) {
        let count = entries.len();
        if count < MIN_RANKED {
            // SAFETY: the processor has AVX2, else there would be no `self`.
            unsafe { sort_few_in_place(entries) }
        } else if count > MAX_SPREAD {
            entries.sort_unstable();
        } else if count > MAX_RANKED {
            self.sort_by_span(entries);
        } else {
            self.spread[..count].copy_from_slice(entries);
            self.sort_span(0, entries);
        }
    }

    /// Divides `entries` into spans of time, and sorts each span.
    #[inline(never)]
    fn sort_by_span(&mut self, entries: &mut [Entry]) {
        let span_bits = (entries.len() / MIN_PER_SPAN).ilog2();
        // Skips the leading bits that are zero in all entries.
        let skipped = entries.iter().fold(1, |all, entry| all | entry.bits()).leading_zeros();
        let span = |entry: Entry| (entry.bits() << skipped >> (u64::BITS - span_bits)) as usize;
        let next = &mut self.next[..1 << span_bits];
        next.fill(0);
        for &entry in &*entries {
            next[span(entry)] += 1;
        }
        let mut begin = 0;
        for start in &mut *next {
            begin += std::mem::replace(start, begin);
        }
        for &entry in &*entries {
            let index = &mut next[span(entry)];
            self.spread[*index % MAX_SPREAD] = entry;
            *index += 1;
        }
        let mut begin = 0;
        for span in 0..1 << span_bits {
            let end = self.next[span];
            self.sort_span(begin, &mut entries[begin..end]);
            begin = end;
        }
    }

    /// Sorts each group of `from` into the same part of `to`. `ends` says where each group ends.
    /// Both lists have [`PADDING`] additional entries.
    pub(super) fn sort_groups(&mut self, from: &mut [Entry], to: &mut [Entry], ends: &[u32]) {
        // SAFETY: the processor has AVX2, else there would be no `self`.
        unsafe { self.sort_groups_fast(from, to, ends) }
    }

    #[target_feature(enable = "avx2")]
    fn sort_groups_fast(&mut self, from: &mut [Entry], to: &mut [Entry], ends: &[u32]) {
        let mut begin = 0;
        for end in ends.iter().map(|&end| end as usize) {
            let few = (from[begin..].first_chunk(), to[begin..].first_chunk_mut::<PADDING>());
            let (Some(few), Some(sorted)) = few else { panic!("lists are padded") };
            let count = end - begin;
            let put = |rank: usize, entry| sorted[rank % PADDING] = entry;
            if count > 0 && (count > PADDING || !sort_few(few, count, put)) {
                self.sort(&mut from[begin..end]);
                to[begin..end].copy_from_slice(&from[begin..end]);
            }
            begin = end;
        }
    }

    /// Sorts the entries of `spread` from `begin` on into `sorted`.
    #[inline]
    fn sort_span(&mut self, begin: usize, sorted: &mut [Entry]) {
        let count = sorted.len();
        let span = &self.spread[begin..][..count];
        if (MIN_RANKED..=MAX_RANKED).contains(&count) {
            // SAFETY: the processor has AVX2, else there would be no `self`.
            unsafe { rank(span, &mut self.ranks) };
            // Two entries with equal keys have equal ranks. Then the sum of all ranks is too small.
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

/// Counts for each of the first `count` entries how many have a lower key. The others get `count`.
#[inline]
#[target_feature(enable = "avx2")]
fn rank_few(from: &[Entry; PADDING], count: usize) -> [u32; PADDING] {
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let counts = _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), lanes);
    let [low, high] = [0, 4].map(|half| {
        // SAFETY: half of the list is one vector.
        _mm256_castsi256_ps(unsafe { _mm256_loadu_si256(from.as_ptr().add(half).cast()) })
    });
    // The upper half of each entry, in order. Entries beyond `count` get the largest key.
    let keys = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
    let keys = _mm256_permute4x64_epi64::<0b11_01_10_00>(keys);
    let keys = _mm256_xor_si256(keys, _mm256_set1_epi32(i32::MIN));
    let keys = _mm256_blendv_epi8(_mm256_set1_epi32(i32::MAX), keys, counts);
    let mut lower = _mm256_setzero_si256();
    let mut lane = _mm256_setzero_si256();
    for _ in 0..PADDING {
        let other = _mm256_permutevar8x32_epi32(keys, lane);
        // True is -1.
        lower = _mm256_sub_epi32(lower, _mm256_cmpgt_epi32(keys, other));
        lane = _mm256_add_epi32(lane, _mm256_set1_epi32(1));
    }
    let mut ranks = [0u32; PADDING];
    // SAFETY: the ranks are one vector.
    unsafe { _mm256_storeu_si256(ranks.as_mut_ptr().cast(), lower) };
    ranks
}

/// Sorts the first `count` entries: calls `put` with the rank of each. Returns whether all keys
/// differ. It always handles [`PADDING`] entries, so that no branch depends on `count`.
#[inline]
#[target_feature(enable = "avx2")]
fn sort_few(from: &[Entry; PADDING], count: usize, mut put: impl FnMut(usize, Entry)) -> bool {
    let mut taken = 0u32;
    // Entries beyond `count` are put first, so that others overwrite them.
    let ranks = rank_few(from, count);
    for (&entry, &rank) in from.iter().zip(&ranks).rev() {
        put(rank as usize, entry);
        taken |= 1 << rank;
    }
    // Entries with equal keys have equal ranks.
    taken | u32::MAX << count == u32::MAX
}

/// Sorts up to [`PADDING`] entries, without a branch that depends on their number.
#[target_feature(enable = "avx2")]
fn sort_few_in_place(entries: &mut [Entry]) {
    let count = entries.len();
    if count < 2 {
        return;
    }
    let counts = _mm256_set1_epi64x(count as i64);
    let lanes = [_mm256_setr_epi64x(0, 1, 2, 3), _mm256_setr_epi64x(4, 5, 6, 7)];
    let masks = lanes.map(|lanes| _mm256_cmpgt_epi64(counts, lanes));
    let halves = entries.as_mut_ptr().cast::<__m256i>();
    let mut few = [Entry::NONE; PADDING];
    for (half, mask) in masks.into_iter().enumerate() {
        // SAFETY: the mask limits the read to entries, and `few` has two halves.
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

/// Returns the key of an entry as a signed number, because AVX2 compares signed numbers.
#[inline(always)]
fn signed_key(entry: Entry) -> i32 {
    ((entry.bits() >> KEY_SHIFT) as u32 ^ 1 << 31) as i32
}

/// Counts for each of up to [`MAX_RANKED`] entries how many have a lower key.
#[target_feature(enable = "avx2")]
fn rank(entries: &[Entry], ranks: &mut [i32; MAX_RANKED]) {
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
        // SAFETY: a block of ranks is two vectors.
        unsafe {
            _mm256_storeu_si256(ranks, lower[0]);
            _mm256_storeu_si256(ranks.add(1), lower[1]);
        }
    }
}
