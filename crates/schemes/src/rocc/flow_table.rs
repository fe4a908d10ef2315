use crate::contract::Address;

/// The flows that have packets in a queue: how many, and where their sources are. A table of fixed
/// size, made at set-up, with open addressing: a flow is in the first free place from where its key
/// points, and leaves no gap when it goes.
#[derive(Clone, Debug)]
pub struct FlowTable {
    /// Packets and address by place; no packets: a free place.
    places: Vec<(u32, Address)>,
    used: usize,
    /// Flows that it takes: less than there are places, so that a search ends soon.
    max_flows: usize,
}

impl FlowTable {
    /// A table for `flows` flows.
    pub fn new(flows: usize) -> FlowTable {
        let places = (flows + flows / 2).next_power_of_two();
        FlowTable { places: vec![(0, Address::default()); places], used: 0, max_flows: flows }
    }

    /// A packet of this QP joined the queue; whether it was counted, as it is where its flow finds room.
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

    /// A packet of this QP that was counted left the queue.
    #[inline]
    pub fn depart(&mut self, address: &Address) {
        let place = self.find(address);
        debug_assert!(self.places[place].0 != 0, "never counted");
        match self.places[place].0 {
            1 => self.erase(place),
            _ => self.places[place].0 -= 1,
        }
    }

    /// Where the sources of the flows in the queue are, one each.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        let taken = self.places.iter().filter(|(packets, _)| *packets != 0);
        taken.map(|(_, address)| address).take(self.used)
    }

    /// The place of a QP, or the free one that it would take.
    #[inline]
    fn find(&self, address: &Address) -> usize {
        let mut place = self.home(address);
        while self.places[place].0 != 0 && self.places[place].1.qp() != address.qp() {
            place = self.after(place);
        }
        place
    }

    /// Frees a place, and moves up whoever would not be found beyond it.
    fn erase(&mut self, mut free: usize) {
        self.used -= 1;
        let mut place = free;
        loop {
            place = self.after(place);
            if self.places[place].0 == 0 {
                break;
            }
            // How far it is from home, against how far the free place is behind it.
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
