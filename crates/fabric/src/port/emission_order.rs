//! Puts arrivals of one nanosecond at a node into the order of the HPCC simulator; see
//! [`compat::event_order`](crate::compat::event_order).

use crate::compat::event_order::{ArrivalTrain, EmissionKey};
use crate::network::graph::{Graph, LinkEnd};
use crate::packet::{Packet, Scheme};
use crate::port::Port;
use engine::Arrivals;
use units::Time;

/// The order of arrivals at the ports of a node.
#[derive(Debug, Default)]
pub(crate) struct EmissionOrder {
    /// By port; empty unless arrivals of one instant are ordered by when they were sent.
    trains: Vec<ArrivalTrain>,
    /// Buffer for sorting arrivals of one instant.
    keys: Vec<EmissionKey>,
    /// How many arrivals earlier windows had.
    sorted: u64,
}

impl EmissionOrder {
    /// The order at the ports of a node.
    pub(crate) fn new<'a>(
        graph: &Graph,
        node: u32,
        ports: impl Iterator<Item = &'a Port>,
    ) -> EmissionOrder {
        let ends = graph.ports(node).iter().zip(ports);
        let train = |(end, port): (&LinkEnd, &Port)| {
            ArrivalTrain::new(graph.is_host(end.peer), port.train_wire())
        };
        EmissionOrder { trains: ends.map(train).collect(), ..EmissionOrder::default() }
    }

    /// Returns whether arrivals keep the order of their ports.
    #[inline(always)]
    pub(crate) fn is_off(&self) -> bool {
        self.trains.is_empty()
    }

    /// Returns the lead that a packet which came through a port is sent on with.
    #[inline]
    pub(crate) fn lead_of(&self, port: u16, size: u16) -> u16 {
        self.trains[usize::from(port)].lead_of(size)
    }

    /// Returns when a packet that arrives through a port at `time` began to be sent.
    pub(crate) fn sent(&self, port: u16, time: Time, size: u16) -> Time {
        time.saturating_sub(self.trains[usize::from(port)].time_of(size))
    }

    /// Returns the shortest time that a packet of `size` bytes takes to any port, from when it
    /// begins to be sent.
    pub(crate) fn shortest_way(&self, size: u16) -> Time {
        self.trains.iter().map(|train| train.time_of(size)).min().unwrap_or(Time::NEVER)
    }

    /// Reorders arrivals of the same instant by their sending.
    #[inline]
    pub(crate) fn sort<S: Scheme>(&mut self, arrivals: &mut Arrivals<'_, '_, Packet<S>>) {
        if self.is_off() {
            return;
        }
        let mut first = 0;
        while first < arrivals.len() {
            let end = arrivals.end_of_instant(first);
            if end > first + 1 {
                self.sort_instant(arrivals, first, end);
            } else {
                arrivals.prefetch_ahead(first);
                let (time, port, packet) = arrivals.get(first);
                let train = &mut self.trains[usize::from(port)];
                train.add(time, &packet.header);
                train.set_index(self.sorted + end as u64, || None);
            }
            first = end;
        }
        self.sorted += first as u64;
    }

    /// Sorts the arrivals of an instant, from index `first` to before `end`.
    #[inline(never)]
    fn sort_instant<S: Scheme>(
        &mut self,
        arrivals: &mut Arrivals<'_, '_, Packet<S>>,
        first: usize,
        end: usize,
    ) {
        self.keys.clear();
        for index in first..end {
            arrivals.prefetch_ahead(index);
            let (time, port, packet) = arrivals.get(index);
            let train = &mut self.trains[usize::from(port)];
            train.add(time, &packet.header);
            let keys = &mut self.keys;
            keys.push(train.key(port));
            // Insertion sort: few packets arrive at one instant, and most of them in order.
            let mut rank = index - first;
            while rank > 0 && keys[rank - 1] > keys[rank] {
                keys.swap(rank - 1, rank);
                arrivals.swap(first + rank - 1, first + rank);
                rank -= 1;
            }
        }
        let mut before: Option<(&EmissionKey, u64)> = None;
        for (index, key) in (first + 1..).zip(&self.keys) {
            let train = &mut self.trains[usize::from(key.port)];
            let peer = before.filter(|(other, _)| key.continues_with(other));
            let rank = train.set_index(self.sorted + index as u64, || peer.map(|(_, rank)| rank));
            before = Some((key, rank));
        }
    }
}
