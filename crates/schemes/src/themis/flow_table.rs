//! The flow table of an external switch.

use crate::contract::Address;

/// Number of places where a flow may be.
const PROBES: usize = 8;

/// State by flow. The number of entries is fixed, with a few places for each flow. If all of these
/// are in use, an idle entry is given to the new flow.
#[derive(Clone, Debug)]
pub(super) struct FlowTable<T> {
    entries: Vec<(u64, T)>,
}

/// Key of an unused entry: no flow has it.
const NONE: u64 = u64::MAX;

impl<T: Clone + Default> FlowTable<T> {
    /// Returns an empty table of `entries`, rounded up to a power of two.
    pub(super) fn new(entries: u64) -> FlowTable<T> {
        let entries = (entries as usize).next_power_of_two().max(PROBES);
        FlowTable { entries: vec![(NONE, T::default()); entries] }
    }

    /// Returns the entry of a flow, if it has one.
    #[inline]
    pub(super) fn get(&mut self, address: &Address) -> Option<&mut T> {
        let key = address.qp();
        let place = self.places(key).find(|&place| self.entries[place].0 == key)?;
        Some(&mut self.entries[place].1)
    }

    /// Returns the entry of a flow. Creates one in an unused place, or else in the place of an idle
    /// flow, if there is one.
    pub(super) fn get_or_make(
        &mut self,
        address: &Address,
        is_idle: impl Fn(&T) -> bool,
    ) -> Option<&mut T> {
        let key = address.qp();
        let of = |wanted| self.places(key).find(|&place| self.entries[place].0 == wanted);
        let idle = || self.places(key).find(|&place| is_idle(&self.entries[place].1));
        let place = match of(key) {
            Some(taken) => taken,
            None => {
                let free = of(NONE).or_else(idle)?;
                self.entries[free] = (key, T::default());
                free
            }
        };
        Some(&mut self.entries[place].1)
    }

    #[inline]
    fn places(&self, key: u64) -> impl Iterator<Item = usize> + use<T> {
        let mask = self.entries.len() - 1;
        let first = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        (0..PROBES).map(move |probe| first.wrapping_add(probe) & mask)
    }
}
