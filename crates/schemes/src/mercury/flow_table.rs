//! The flows of a port, and which of them it has notified.

use crate::contract::Address;
use std::collections::VecDeque;
use units::Time;
use units::splitmix::mix;

/// Number of entries where a flow may be. A flow that finds none of them free is not notified
/// meanwhile.
const PROBES: usize = 8;

/// Bytes that wait at a port, by flow. The number of entries is fixed; an entry is found by hash
/// and linear probing.
///
/// A flow without bytes has no claim to its entry, but keeps it until another flow takes it.
/// Entries of recently notified flows are taken last.
#[derive(Clone, Debug)]
pub struct FlowTable {
    entries: Vec<Entry>,
    /// Bytes of all flows, including those without an entry.
    total: u64,
    /// Entries of flows that were not notified recently, in the order in which they came. They are
    /// notified next. Some may have no bytes any more.
    pending: Vec<u32>,
    /// Notified flows: the end of the silence after the notification and the index of the entry, in
    /// order of time. If the entry has another time, it was notified again since, or belongs to
    /// another flow.
    notified: VecDeque<(Time, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: u64,
    bytes: u64,
    /// Addresses of its last packet.
    address: Address,
    /// No notification before this time.
    silent_until: Time,
    /// It is in `FlowTable::pending`.
    pending: bool,
}

impl FlowTable {
    /// Returns an empty table of `entries`, rounded up to a power of two.
    pub fn new(entries: usize) -> FlowTable {
        FlowTable {
            entries: vec![Entry::default(); entries.next_power_of_two()],
            total: 0,
            pending: Vec::new(),
            notified: VecDeque::new(),
        }
    }

    /// Returns the bytes that wait, of all flows.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the bytes of flow `key` that wait.
    pub fn bytes(&self, key: u64) -> u64 {
        self.find(key).map_or(0, |at| self.entries[at].bytes)
    }

    #[inline]
    fn places(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.entries.len() - 1;
        let first = mix(key) as usize;
        (0..PROBES.min(self.entries.len())).map(move |probe| first.wrapping_add(probe) & mask)
    }

    #[inline]
    fn find(&self, key: u64) -> Option<usize> {
        self.places(key).find(|&at| self.entries[at].key == key)
    }

    /// Adds bytes of flow `key` that joined the queue, from a QP of this address.
    #[inline]
    pub fn join(&mut self, now: Time, key: u64, address: Address, bytes: u64) {
        self.total += bytes;
        let place = self.find(key).or_else(|| {
            let free = self.places(key).filter(|&at| self.entries[at].bytes == 0);
            let free = free.min_by_key(|&at| self.entries[at].silent_until.max(now))?;
            let pending = self.entries[free].pending;
            self.entries[free] = Entry { key, pending, ..Entry::default() };
            Some(free)
        });
        let Some(place) = place else { return };
        let entry = &mut self.entries[place];
        entry.bytes += bytes;
        entry.address = address;
        if now >= entry.silent_until && !entry.pending {
            entry.pending = true;
            self.pending.push(place as u32);
        }
    }

    /// Notifies all flows that have bytes at the congested port and were not notified within the
    /// last `silence`. Calls `send` with an address and the bytes of each.
    #[inline]
    pub fn notify(&mut self, now: Time, silence: Time, mut send: impl FnMut(Address, u64)) {
        while let Some(&(until, place)) = self.notified.front()
            && until <= now
        {
            self.notified.pop_front();
            let entry = &mut self.entries[place as usize];
            if entry.silent_until == until && !entry.pending {
                entry.pending = true;
                self.pending.push(place);
            }
        }
        for place in self.pending.drain(..) {
            let entry = &mut self.entries[place as usize];
            entry.pending = false;
            if entry.bytes > 0 {
                entry.silent_until = now + silence;
                self.notified.push_back((entry.silent_until, place));
                send(entry.address, entry.bytes);
            }
        }
    }

    /// Removes bytes of a flow that left.
    #[inline]
    pub fn leave(&mut self, key: u64, bytes: u64) {
        self.total -= bytes;
        if let Some(at) = self.find(key) {
            // Some of them may have joined while the flow had no entry.
            self.entries[at].bytes = self.entries[at].bytes.saturating_sub(bytes);
        }
    }
}
