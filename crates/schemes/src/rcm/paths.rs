//! The flows that SAR tracks (section 3.4).

use super::FlowId;
use units::splitmix::mix;
use units::{PortId, Time};

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    flow: FlowId,
    seen: Time,
    /// When another flow that found this place taken last sent.
    others_seen: Option<Time>,
    port: PortId,
    taken: bool,
}

/// The flows that pass a switch, with their ports. A flow that finds its place taken by a flow that
/// still sends is not tracked, and so not moved. When it gets the place later, it does not count as
/// new.
#[derive(Clone, Debug)]
pub struct FlowTable {
    entries: Vec<Entry>,
    gap: Time,
}

impl FlowTable {
    /// Returns an empty table. A flow without a packet for longer than `gap` is forgotten.
    pub fn new(entries: usize, gap: Time) -> FlowTable {
        FlowTable { entries: vec![Entry::default(); entries], gap }
    }

    /// Returns the port of a flow and whether the flow is new; `chosen` is the port of a new flow.
    /// Returns `None` if the flow is not tracked.
    #[inline]
    pub fn current(&mut self, now: Time, flow: FlowId, chosen: PortId) -> Option<(PortId, bool)> {
        let (place, gap) = (self.place(flow), self.gap);
        let entry = &mut self.entries[place];
        if !entry.taken || now > entry.seen + gap {
            // The table does not know which other flow found the place taken.
            let runs = entry.others_seen.is_some_and(|seen| now <= seen + gap);
            return Some((chosen, entry.flow == flow || !runs));
        }
        if entry.flow == flow {
            return Some((entry.port, false));
        }
        entry.others_seen = Some(now);
        None
    }

    /// Notes that a packet of a tracked flow takes a port.
    #[inline]
    pub fn take(&mut self, now: Time, flow: FlowId, port: PortId) {
        let place = self.place(flow);
        let entry = &mut self.entries[place];
        *entry = Entry { flow, seen: now, port, taken: true, ..*entry };
    }

    #[inline]
    fn place(&self, flow: FlowId) -> usize {
        let (hash, count) = (mix(flow.0), self.entries.len() as u64);
        // A division takes longer than the whole hash.
        (if count.is_power_of_two() { hash & (count - 1) } else { hash % count }) as usize
    }
}
