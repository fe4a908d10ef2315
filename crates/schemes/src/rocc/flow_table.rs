//! The flow table of an egress queue.

use crate::contract::Address;

/// The flows that have packets in a queue: number of packets and source address of each. The table
/// has a fixed size and open addressing. A flow is in the first free place from its home position
/// on, and its removal leaves no gap.
#[derive(Clone, Debug)]
pub struct FlowTable {
    /// Number of packets and address by place. A place without packets is free.
    places: Vec<(u32, Address)>,
    used: usize,
    /// Maximum number of flows. There are more places than that, so that a search ends soon.
    max_flows: usize,
}

impl FlowTable {
    /// Returns an empty table for `flows` flows.
    pub fn new(flows: usize) -> FlowTable {
        let places = (flows + flows / 2).next_power_of_two();
        FlowTable { places: vec![(0, Address::default()); places], used: 0, max_flows: flows }
    }

    /// Counts a packet of this QP that joined the queue. Returns whether it was counted: it is not
    /// if the table is full.
    #[inline]
    pub fn arrive(&mut self, address: &Address) -> bool {
        let place = self.find(address);
        if self.places[place].0 == 0 {
            if self.used == self.max_flows {
                return false;
            }
            self.used += 1;
            self.places[place].1 = *address;
        }
        self.places[place].0 += 1;
        true
    }

    /// Removes a packet of this QP that was counted and left the queue.
    #[inline]
    pub fn depart(&mut self, address: &Address) {
        let place = self.find(address);
        debug_assert!(self.places[place].0 != 0, "never counted");
        match self.places[place].0 {
            1 => self.erase(place),
            _ => self.places[place].0 -= 1,
        }
    }

    /// Returns the addresses of the flows in the queue, one each.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        let taken = self.places.iter().filter(|(packets, _)| *packets != 0);
        taken.map(|(_, address)| address).take(self.used)
    }

    /// Returns the place of a QP, or the free place that it would take.
    #[inline]
    fn find(&self, address: &Address) -> usize {
        let mut place = self.home(address);
        while self.places[place].0 != 0 && self.places[place].1.qp() != address.qp() {
            place = self.after(place);
        }
        place
    }

    /// Frees a place, and moves the flows that would no longer be found behind it.
    fn erase(&mut self, mut free: usize) {
        self.used -= 1;
        let mut place = free;
        loop {
            place = self.after(place);
            if self.places[place].0 == 0 {
                break;
            }
            // Compares its distance from home with its distance from the free place.
            let last = self.places.len() - 1;
            let from_home = place.wrapping_sub(self.home(&self.places[place].1)) & last;
            if from_home >= place.wrapping_sub(free) & last {
                self.places[free] = self.places[place];
                free = place;
            }
        }
        self.places[free].0 = 0;
    }

    #[inline]
    fn home(&self, address: &Address) -> usize {
        let mixed = address.qp().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.places.len() - 1)
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }
}
