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
    /// How many arrivals have been sorted.
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
        let mut keys = std::mem::take(&mut self.keys);
        let mut instant = Time::NEVER;
        for index in 0..arrivals.len() {
            arrivals.prefetch_ahead(index);
            let (time, number, packet) = arrivals.get(index);
            if time != instant {
                self.count(&mut keys);
                instant = time;
            }
            let train = &mut self.trains[number as usize];
            let key = train.add(time, number, &packet.header);
            let is_last = index + 1 == arrivals.len() || arrivals.get(index + 1).0 != time;
            if is_last && keys.is_empty() {
                self.sorted += 1;
                train.set_index(self.sorted, &key, None);
                continue;
            }
            keys.push(key);
            // Insertion sort: few packets arrive at one instant, and most of them in order.
            let mut rank = keys.len() - 1;
            let begin = index - rank;
            while rank > 0 && keys[rank - 1] > keys[rank] {
                keys.swap(rank - 1, rank);
                arrivals.swap(begin + rank - 1, begin + rank);
                rank -= 1;
            }
        }
        self.count(&mut keys);
        self.keys = keys;
    }

    /// Numbers the arrivals of an instant in their order.
    fn count(&mut self, keys: &mut Vec<EmissionKey>) {
        let mut before = None;
        for key in keys.iter() {
            self.sorted += 1;
            let train = &mut self.trains[key.port as usize];
            let rank = train.set_index(self.sorted, key, before);
            before = Some((key, rank));
        }
        keys.clear();
    }
}
