//! What a policy remembers of each flow: an open-addressing table with a key per QP.

use crate::packet::Header;

/// No QP has this key.
const FREE: u64 = u64::MAX;
const INITIAL_SIZE: usize = 64;

/// A value for each flow that a switch has seen.
#[derive(Debug)]
pub(super) struct FlowTable<T> {
    entries: Vec<(u64, T)>,
    used: usize,
    /// What is known of a flow that was never seen.
    unseen: T,
}

impl<T: Copy> FlowTable<T> {
    pub(super) fn new(unseen: T) -> FlowTable<T> {
        FlowTable { entries: Vec::new(), used: 0, unseen }
    }

    /// What is known of the flow of a packet.
    #[inline]
    pub(super) fn of(&mut self, header: &Header) -> &mut T {
        if self.used * 4 >= self.entries.len() * 3 {
            self.grow();
        }
        let key = header.address.qp();
        let place = self.place_of(key);
        let (kept, value) = &mut self.entries[place];
        self.used += usize::from(*kept == FREE);
        *kept = key;
        value
    }

    /// All flows that were seen, in no particular order.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        let seen = self.entries.iter_mut().filter(|(key, _)| *key != FREE);
        seen.map(|(_, value)| value)
    }

    /// What is known of all flows that were seen, in no particular order.
    pub(super) fn seen(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().filter(|(key, _)| *key != FREE).map(|(_, value)| value)
    }

    /// Where a key is, or where it belongs.
    #[inline]
    fn place_of(&self, key: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = units::splitmix::mix(key) as usize & mask;
        while self.entries[place].0 != key && self.entries[place].0 != FREE {
            place = (place + 1) & mask;
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.entries.len() * 2).max(INITIAL_SIZE);
        let entries = std::mem::replace(&mut self.entries, vec![(FREE, self.unseen); size]);
        for (key, value) in entries.into_iter().filter(|(key, _)| *key != FREE) {
            let place = self.place_of(key);
            self.entries[place] = (key, value);
        }
    }
}
