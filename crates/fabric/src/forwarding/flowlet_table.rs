//! The flowlets of a switch: a flow keeps its port until it pauses.

use super::flow_table::FlowTable;
use super::{MoveLog, Moves};
use crate::packet::{Header, PacketKind};
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
    /// Routes have changed, so that a flow which had a choice may have a single next hop.
    has_rerouted: bool,
}

impl FlowletTable {
    pub(super) fn new(gap: Time) -> FlowletTable {
        let (flows, log) = (FlowTable::new(UNSEEN), MoveLog::default());
        FlowletTable { flows, gap, flowlets: 0, log, has_rerouted: false }
    }

    /// Has all flows choose again, because routes have changed.
    pub(super) fn forget_paths(&mut self) {
        self.has_rerouted = true;
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

    /// Notes that a packet takes `port` because its flow has no other. It is no flowlet, but after
    /// a failure it may be a move, and a later choice is compared with it.
    #[inline]
    pub(super) fn note_only_port(&mut self, header: &Header, port: PortId) {
        if self.has_rerouted && header.kind == PacketKind::Data {
            self.take_only_port(header, port);
        }
    }

    #[cold]
    fn take_only_port(&mut self, header: &Header, port: PortId) {
        let entry = self.flows.of(header);
        if entry.port != NO_PORT && entry.port != port.get() {
            self.log.count(header.address.flow, &mut entry.moves);
        }
        (entry.port, entry.last) = (port.get(), Time::NEVER);
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
    use crate::packet::{Address, blank};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Two ports, one of which fails and is repaired.
    #[test]
    fn moves_to_the_only_port_and_back_count() {
        let mut table = FlowletTable::new(Time::from_us(100));
        let header = blank(PacketKind::Data, Address::default(), 0, 1000);
        let ack = blank(PacketKind::Ack, Address::default(), 0, 60);
        let [a, b] = [PortId::new(1), PortId::new(2)];
        let mut moves = Vec::new();
        let mut note = |table: &FlowletTable| moves.push(table.log.total());
        table.note_only_port(&header, b);
        assert_eq!(table.flows.seen().count(), 0, "routes have not changed");
        table.port(&header, Time::from_us(1), |_| a);
        table.forget_paths();
        table.note_only_port(&ack, b);
        note(&table);
        table.note_only_port(&header, b);
        table.note_only_port(&header, b);
        note(&table);
        table.forget_paths();
        table.port(&header, Time::from_us(2), |before| {
            assert_eq!(before, Some(b));
            a
        });
        note(&table);
        assert_eq!(moves, [0, 1, 2]);
        assert_eq!(table.flowlets, 2);
    }

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
