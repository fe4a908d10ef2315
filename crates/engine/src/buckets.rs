//! Dealing the arrivals of a window out into groups that have nothing to do with each other.

use crate::arena::Packets;
use crate::arrival_key;
use crate::sort::{PADDING, Sorter};

/// How many arrivals ahead packets are fetched.
const PREFETCH_DISTANCE: usize = 8;

/// Arrivals by group, in order within each.
#[derive(Default)]
pub struct Buckets {
    entries: Vec<u64>,
    /// Where each group ends among them.
    ends: Vec<u32>,
}

impl Buckets {
    /// The arrivals of a group, for [`Window::take_bucketed`](crate::Window::take_bucketed).
    #[inline]
    pub fn group(&self, group: usize) -> &[u64] {
        let begin = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[begin as usize..self.ends[group] as usize]
    }
}

/// Deals out, and sorts.
pub(crate) struct Bucketizer {
    pub(crate) sorter: Sorter,
    pub(crate) buckets: Buckets,
    /// Arrivals at a hub that go out of its group, and to tied devices of the group.
    pub(crate) kept: Vec<u64>,
    pub(crate) for_coupled: Vec<u64>,
    /// The group of each arrival.
    groups: Vec<u16>,
    /// Arrivals by group.
    unsorted: Vec<u64>,
}

impl Bucketizer {
    pub(crate) fn new() -> Bucketizer {
        Bucketizer {
            sorter: Sorter::new(),
            buckets: Buckets::default(),
            kept: Vec::new(),
            for_coupled: Vec::new(),
            groups: Vec::new(),
            unsorted: Vec::new(),
        }
    }

    /// Deals `arrivals` out into `count` groups; tells whether each belongs to one of them.
    #[inline(never)]
    pub(crate) fn deal<P: Copy + Send>(
        &mut self,
        packets: &Packets<'_, P>,
        arrivals: &[u64],
        count: usize,
        mut group_of: impl FnMut(&P) -> u16,
    ) -> bool {
        let last = arrivals.len().saturating_sub(1);
        let Buckets { entries, ends } = &mut self.buckets;
        ends.clear();
        ends.resize(count, 0);
        let length = arrivals.len() + PADDING;
        if entries.len() < length {
            entries.resize(length, 0);
            self.unsorted.resize(length, 0);
            self.groups.resize(length, 0);
        }
        let ends = &mut ends[..];
        let groups = &mut self.groups[..arrivals.len()];
        for (place, (&entry, group)) in arrivals.iter().zip(&mut *groups).enumerate() {
            packets.prefetch(arrival_key::handle(arrivals[(place + PREFETCH_DISTANCE).min(last)]));
            *group = group_of(packets.peek(arrival_key::handle(entry)));
            let Some(members) = ends.get_mut(usize::from(*group)) else { return false };
            *members += 1;
        }
        let mut begin = 0;
        for end in &mut *ends {
            begin += std::mem::replace(end, begin);
        }
        let unsorted = &mut self.unsorted[..arrivals.len()];
        for (&entry, &group) in arrivals.iter().zip(&*groups) {
            let place = &mut ends[usize::from(group)];
            unsorted[*place as usize] = entry;
            *place += 1;
        }
        self.sorter.sort_groups(&mut self.unsorted, entries, ends);
        true
    }
}
