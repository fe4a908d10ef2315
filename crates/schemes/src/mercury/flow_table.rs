//! What a port knows of its flows, and whom it has notified.

use crate::contract::Address;
use std::collections::VecDeque;
use units::Time;
use units::splitmix::mix;

/// Entries that a flow may have; one that finds none of them free is not notified meanwhile.
const PROBES: usize = 8;

/// Bytes that wait at a port, by flow: a fixed number of entries, found by hash and linear probing.
/// A flow without bytes has no entry, but one that is not taken yet is still there when it returns; those of
/// flows that were told lately are taken last.
#[derive(Clone, Debug)]
pub struct FlowTable {
    entries: Vec<Entry>,
    /// Sum over all flows, those without an entry as well.
    total: u64,
    /// Places of flows that have not been told lately, in the order in which they came: they are the next to
    /// be. Some may have no bytes any more.
    pending: Vec<u32>,
    /// Until when a flow is left in peace, and its place, in order. Where the entry says another time it
    /// has been told again since, or is another flow's.
    notified: VecDeque<(Time, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: u64,
    bytes: u64,
    /// Of its last packet.
    address: Address,
    /// Not told again before this time.
    silent_until: Time,
    /// It is among the untold.
    pending: bool,
}

impl FlowTable {
    /// A table of `entries`, rounded up to a power of two.
    pub fn new(entries: usize) -> FlowTable {
        FlowTable {
            entries: vec![Entry::default(); entries.next_power_of_two()],
            total: 0,
            pending: Vec::new(),
            notified: VecDeque::new(),
        }
    }

    /// Bytes that wait, of all flows.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that wait of the flow `key`.
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

    /// Bytes of the flow `key` joined the queue, of a QP of this address.
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

    /// The port is congested: tells all flows that have bytes at it and have not been told for `silence`. Of
    /// each, `tell` gets an address and its bytes.
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

    /// Bytes of a flow left.
    #[inline]
    pub fn leave(&mut self, key: u64, bytes: u64) {
        self.total -= bytes;
        if let Some(at) = self.find(key) {
            // Some of them may have joined while the flow had no entry.
            self.entries[at].bytes = self.entries[at].bytes.saturating_sub(bytes);
        }
    }
}
