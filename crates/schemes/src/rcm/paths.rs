//! SAR's memory of flows (section 3.4).

use super::FlowId;
use crate::random::mix;
use units::{PortId, Time};

#[derive(Clone, Copy, Debug)]
struct Entry {
    flow: FlowId,
    port: PortId,
    seen: Time,
}

/// The flows that pass a switch, with the ports that they take. A flow that finds its place taken by
/// one that still sends is not followed, and so not moved.
#[derive(Clone, Debug)]
pub struct FlowTable {
    entries: Vec<Option<Entry>>,
    gap: Time,
}

impl FlowTable {
    /// An empty table. A flow of which nothing came for longer than `gap` is forgotten.
    pub fn new(entries: usize, gap: Time) -> FlowTable {
        FlowTable { entries: vec![None; entries], gap }
    }

    /// The port that a flow takes, which would take `chosen` if it were new, and whether it is new;
    /// `None` where it is not followed.
    pub fn current(&self, now: Time, flow: FlowId, chosen: PortId) -> Option<(PortId, bool)> {
        match self.entries[self.place(flow)].filter(|entry| now <= entry.seen + self.gap) {
            Some(known) if known.flow == flow => Some((known.port, false)),
            Some(_) => None,
            None => Some((chosen, true)),
        }
    }

    /// A packet of a flow that is followed takes a port.
    pub fn take(&mut self, now: Time, flow: FlowId, port: PortId) {
        let place = self.place(flow);
        self.entries[place] = Some(Entry { flow, port, seen: now });
    }

    fn place(&self, flow: FlowId) -> usize {
        (mix(flow.0) % self.entries.len() as u64) as usize
    }
}
