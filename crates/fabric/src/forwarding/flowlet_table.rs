//! The flowlets of a switch: a flow keeps its port until it pauses.

use super::flow_table::FlowTable;
use super::{MoveLog, Moves};
use crate::packet::Header;
use units::{PortId, Time};

/// What is remembered of a flow.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When its last packet was forwarded.
    last: Time,
    /// The port that it took.
    port: u16,
    /// How often that was another one than before, in its last message that moved.
    moves: Moves,
}

/// The port of a flow that has sent nothing.
const NO_PORT: u16 = u16::MAX;
const UNSEEN: Entry = Entry { last: Time::ZERO, port: NO_PORT, moves: Moves::NONE };

/// The flows of a switch. A flow keeps its port until it pauses for longer than a gap.
#[derive(Debug)]
pub(super) struct FlowletTable {
    flows: FlowTable<Entry>,
    gap: Time,
    /// How often a flow chose a port.
    flowlets: u64,
    /// When that was another one than before.
    log: MoveLog,
}

impl FlowletTable {
    pub(super) fn new(gap: Time) -> FlowletTable {
        FlowletTable { flows: FlowTable::new(UNSEEN), gap, flowlets: 0, log: MoveLog::default() }
    }

    /// Has all flows choose again.
    pub(super) fn forget_paths(&mut self) {
        self.flows.all().for_each(|entry| entry.last = Time::NEVER);
    }

    /// The port of a flow's packet at `now`. `choose` selects one if the flow is new or has paused;
    /// it gets the port that the flow took before.
    #[inline]
    pub(super) fn port(
        &mut self,
        header: &Header,
        now: Time,
        choose: impl FnOnce(Option<PortId>) -> PortId,
    ) -> PortId {
        let entry = self.flows.of(header);
        let is_live = entry.port != NO_PORT
            && entry.last != Time::NEVER
            && now.saturating_sub(entry.last) <= self.gap;
        entry.last = now;
        if !is_live {
            let before = (entry.port != NO_PORT).then_some(PortId::new(entry.port));
            let port = choose(before);
            self.flowlets += 1;
            if before.is_some_and(|before| before != port) {
                self.log.count(header.address.flow, &mut entry.moves);
            }
            entry.port = port.get();
        }
        PortId::new(entry.port)
    }

    /// What was counted, for the summary of the run.
    pub(super) fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("flowlets", self.flowlets), ("path_changes", self.log.total())]
    }

    /// See [`Forwarding::moved`](super::Forwarding::moved).
    pub(super) fn moved(&self) -> Vec<Moves> {
        self.log.all(self.flows.seen().map(|entry| entry.moves))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Address, PacketKind, blank};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Compares with a general map.
        #[test]
        fn a_flow_keeps_its_port_until_it_pauses(
            packets in prop::collection::vec((0u32..200, 0u64..30), 1..600),
        ) {
            let gap = Time::from_ns(100);
            let (mut table, mut map) = (FlowletTable::new(gap), BTreeMap::new());
            let (mut now, mut flowlets, mut changes) = (Time::ZERO, 0, 0);
            for (count, (flow, step)) in packets.into_iter().enumerate() {
                now += Time::from_ns(step);
                let address = Address { dst: flow % 7, receiver_slot: flow, ..Address::default() };
                let header = blank(PacketKind::Data, address, 0, 1000);
                let choice = PortId::new(count as u16 % 5);
                let port = table.port(&header, now, |_| choice);
                let before = map.insert(flow, (now, port));
                let kept = before.filter(|&(last, _)| now - last <= gap);
                prop_assert_eq!(port, kept.map_or(choice, |(_, port)| port));
                flowlets += u64::from(kept.is_none());
                changes += u64::from(before.is_some_and(|(_, before)| before != port));
            }
            let counted = vec![("flowlets", flowlets), ("path_changes", changes)];
            prop_assert_eq!(table.counters(), counted);
        }
    }
}
