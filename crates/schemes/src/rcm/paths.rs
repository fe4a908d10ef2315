//! SAR's memory of flows (section 3.4).

use super::FlowId;
use units::splitmix::mix;
use units::{PortId, Time};

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    flow: FlowId,
    seen: Time,
    port: PortId,
    taken: bool,
}

/// The flows that pass a switch, with the ports that they take. A flow that finds its place taken by
/// one that still sends is not followed, and so not moved.
#[derive(Clone, Debug)]
pub struct FlowTable {
    entries: Vec<Entry>,
    gap: Time,
}

impl FlowTable {
    /// An empty table. A flow of which nothing came for longer than `gap` is forgotten.
    pub fn new(entries: usize, gap: Time) -> FlowTable {
        FlowTable { entries: vec![Entry::default(); entries], gap }
    }

    /// The port that a flow takes, which would take `chosen` if it were new, and whether it is new;
    /// `None` where it is not followed.
    #[inline]
    pub fn current(&self, now: Time, flow: FlowId, chosen: PortId) -> Option<(PortId, bool)> {
        let entry = &self.entries[self.place(flow)];
        if !entry.taken || now > entry.seen + self.gap {
            return Some((chosen, true));
        }
        (entry.flow == flow).then_some((entry.port, false))
    }

    /// A packet of a flow that is followed takes a port.
    #[inline]
    pub fn take(&mut self, now: Time, flow: FlowId, port: PortId) {
        let place = self.place(flow);
        self.entries[place] = Entry { flow, seen: now, port, taken: true };
    }

    #[inline]
    fn place(&self, flow: FlowId) -> usize {
        let (hash, count) = (mix(flow.0), self.entries.len() as u64);
        // A division takes longer than all of the hash.
        (if count.is_power_of_two() { hash & (count - 1) } else { hash % count }) as usize
    }
}
