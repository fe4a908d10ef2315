//! The flows of each VOQ of a ToR.

use crate::contract::Address;
use units::Time;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Flow {
    address: Address,
    seen: Time,
    voq: u32,
    before: u32,
    after: u32,
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
    count: u32,
}

/// The flows of each VOQ, the least recently seen first. The ingress port of a flow and the number
/// of its QP at the sender identify it. Both count from zero.
///
/// The paper counts flows without saying how; these lists are exact. It does not say either which
/// flows a ToR stops. Our choice: these. A flow that sends at the minimum rate is still in the list
/// when its next packet comes. So is a flow that has ended since; its stop message has no effect.
#[derive(Clone, Debug)]
pub struct Flows {
    flows: Vec<Flow>,
    /// Index into `flows`, by port and then by QP.
    places: Vec<Vec<u32>>,
    lists: Vec<List>,
}

impl Flows {
    /// Returns empty lists for a switch with this number of ports.
    pub fn new(ports: usize) -> Flows {
        Flows { flows: Vec::new(), places: vec![Vec::new(); ports], lists: Vec::new() }
    }

    /// Adds a VOQ. VOQs are numbered in this order.
    pub fn add_voq(&mut self) {
        self.lists.push(List { first: NONE, last: NONE, count: 0 });
    }

    /// Records a packet of a flow that came through `port` for a VOQ.
    pub fn record_packet(&mut self, now: Time, port: usize, voq: u32, address: &Address) {
        let qp = address.sender_slot as usize;
        let places = &mut self.places[port];
        if places.len() <= qp {
            places.resize(qp + 1, NONE);
        }
        if places[qp] == NONE {
            places[qp] = self.flows.len() as u32;
            let (address, voq) = (*address, NONE);
            self.flows.push(Flow { address, seen: now, voq, before: NONE, after: NONE });
        }
        let place = places[qp];
        self.unlink(place);
        let list = &mut self.lists[voq as usize];
        let before = std::mem::replace(&mut list.last, place);
        list.count += 1;
        if before == NONE {
            list.first = place;
        } else {
            self.flows[before as usize].after = place;
        }
        self.flows[place as usize] =
            Flow { address: *address, seen: now, voq, before, after: NONE };
    }

    /// Removes the flows of a VOQ that were last seen before `then`.
    pub fn forget(&mut self, voq: u32, then: Time) {
        loop {
            let first = self.lists[voq as usize].first;
            if first == NONE || self.flows[first as usize].seen >= then {
                return;
            }
            self.unlink(first);
        }
    }

    /// Returns F, the number of flows of a VOQ.
    #[inline]
    pub fn count(&self, voq: u32) -> u32 {
        self.lists[voq as usize].count
    }

    /// Returns the addresses of the flows of a VOQ.
    pub fn of(&self, voq: u32) -> impl Iterator<Item = &Address> {
        let at = |place: u32| self.flows.get(place as usize);
        std::iter::successors(at(self.lists[voq as usize].first), move |flow| at(flow.after))
            .map(|flow| &flow.address)
    }

    fn unlink(&mut self, place: u32) {
        let Flow { voq, before, after, .. } = self.flows[place as usize];
        if voq == NONE {
            return;
        }
        let list = &mut self.lists[voq as usize];
        list.count -= 1;
        match before {
            NONE => list.first = after,
            before => self.flows[before as usize].after = after,
        }
        match after {
            NONE => list.last = before,
            after => self.flows[after as usize].before = before,
        }
        self.flows[place as usize].voq = NONE;
    }
}
