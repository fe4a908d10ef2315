//! SAR's memory of flows (section 3.4).

use super::FlowId;
use units::splitmix::mix;
use units::{PortId, Time};

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    flow: FlowId,
    seen: Time,
    /// When a flow that finds its place taken last came.
    others_seen: Option<Time>,
    port: PortId,
    taken: bool,
}

/// The flows that pass a switch, with the ports that they take. A flow that finds its place taken by
/// one that still sends is not followed, and so not moved; nor is it new when it gets the place.
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
    pub fn current(&mut self, now: Time, flow: FlowId, chosen: PortId) -> Option<(PortId, bool)> {
        let (place, gap) = (self.place(flow), self.gap);
        let entry = &mut self.entries[place];
        if !entry.taken || now > entry.seen + gap {
            // Of others it is not known which they were.
            let runs = entry.others_seen.is_some_and(|seen| now <= seen + gap);
            return Some((chosen, entry.flow == flow || !runs));
        }
        if entry.flow == flow {
            return Some((entry.port, false));
        }
        entry.others_seen = Some(now);
        None
    }

    /// A packet of a flow that is followed takes a port.
    #[inline]
    pub fn take(&mut self, now: Time, flow: FlowId, port: PortId) {
        let place = self.place(flow);
        let entry = &mut self.entries[place];
        *entry = Entry { flow, seen: now, port, taken: true, ..*entry };
    }

    #[inline]
    fn place(&self, flow: FlowId) -> usize {
        let (hash, count) = (mix(flow.0), self.entries.len() as u64);
        // A division takes longer than all of the hash.
        (if count.is_power_of_two() { hash & (count - 1) } else { hash % count }) as usize
    }
}
