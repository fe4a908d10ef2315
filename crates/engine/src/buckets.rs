//! Puts the arrivals of a window into buckets that can be handled independently of each other.
//!
//! A switch uses one bucket for each port. Each bucket is sorted by itself, which is faster than
//! sorting all arrivals, and its packets stay in the cache while they are handled.

use crate::arena::Packets;
use crate::arrival_key::Entry;
use crate::sort::{PADDING, Sorter};

/// How a device wants the arrivals of a window for its buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucketing {
    /// It wants no buckets.
    None,
    /// In no order. The bucket of a packet follows from the packet alone.
    EachAlone,
    /// In the order of handling. The bucket of a packet may depend on those before it.
    InOrder,
}

/// How many arrivals ahead packets are prefetched.
const PREFETCH_DISTANCE: usize = 8;

/// The arrivals of a window by bucket, in order within each bucket.
#[derive(Default)]
pub struct Buckets {
    entries: Vec<Entry>,
    /// Where each bucket ends in `entries`.
    ends: Vec<u32>,
}

impl Buckets {
    /// The arrivals of a bucket, for
    /// [`Window::take_bucketed`](crate::Window::take_bucketed).
    #[inline]
    pub fn get(&self, bucket: usize) -> &[Entry] {
        let begin = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[begin as usize..self.ends[bucket] as usize]
    }
}

/// Fills buckets. Its lists are used again in each window, so nothing is allocated.
pub(crate) struct Bucketizer {
    pub(crate) sorter: Sorter,
    pub(crate) buckets: Buckets,
    /// Arrivals at a hub whose packets leave the group.
    pub(crate) kept: Vec<Entry>,
    /// Arrivals at a hub whose packets go to coupled devices of the group.
    pub(crate) for_coupled: Vec<Entry>,
    /// The bucket of each arrival.
    bucket_of: Vec<u16>,
    /// Arrivals by bucket, before they are sorted.
    unsorted: Vec<Entry>,
}

impl Bucketizer {
    pub(crate) fn new() -> Bucketizer {
        Bucketizer {
            sorter: Sorter::new(),
            buckets: Buckets::default(),
            kept: Vec::new(),
            for_coupled: Vec::new(),
            bucket_of: Vec::new(),
            unsorted: Vec::new(),
        }
    }

    /// Puts `arrivals` into `count` buckets. Returns whether each belongs to one of them. Buckets
    /// are sorted, unless `arrivals` are in order already: then they keep it.
    #[inline(never)]
    pub(crate) fn fill<P: Copy + Send>(
        &mut self,
        packets: &Packets<'_, P>,
        (arrivals, in_order): (&[Entry], bool),
        count: usize,
        mut bucket_of: impl FnMut(&P) -> u16,
    ) -> bool {
        let last = arrivals.len().saturating_sub(1);
        let Buckets { entries, ends } = &mut self.buckets;
        ends.clear();
        ends.resize(count, 0);
        let length = arrivals.len() + PADDING;
        if entries.len() < length {
            entries.resize(length, Entry::NONE);
            self.unsorted.resize(length, Entry::NONE);
            self.bucket_of.resize(length, 0);
        }
        let ends = &mut ends[..];
        let buckets = &mut self.bucket_of[..arrivals.len()];
        for (index, (&entry, bucket)) in arrivals.iter().zip(&mut *buckets).enumerate() {
            packets.prefetch(arrivals[(index + PREFETCH_DISTANCE).min(last)].handle());
            // SAFETY: `arrivals` are the mailbox of the device that fills the buckets.
            *bucket = bucket_of(unsafe { packets.peek(entry.handle()) });
            let Some(size) = ends.get_mut(usize::from(*bucket)) else { return false };
            *size += 1;
        }
        let mut begin = 0;
        for end in &mut *ends {
            begin += std::mem::replace(end, begin);
        }
        let unsorted = &mut self.unsorted[..arrivals.len()];
        for (&entry, &bucket) in arrivals.iter().zip(&*buckets) {
            let next = &mut ends[usize::from(bucket)];
            unsorted[*next as usize] = entry;
            *next += 1;
        }
        if in_order {
            std::mem::swap(&mut self.unsorted, entries);
        } else {
            self.sorter.sort_groups(&mut self.unsorted, entries, ends);
        }
        true
    }
}
