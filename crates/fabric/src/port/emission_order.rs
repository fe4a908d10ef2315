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
    /// By port: the last arrivals that its train has not noted yet.
    recent: Vec<Recent>,
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
        let trains: Vec<_> = ends.map(train).collect();
        let recent = vec![Recent::default(); trains.len()];
        EmissionOrder { trains, recent, ..EmissionOrder::default() }
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
    ///
    /// Few arrivals share their instant. For the others it is enough to remember the last two of
    /// each port: what follows them in a train depends on no earlier ones.
    #[inline]
    pub(crate) fn sort<S: Scheme>(&mut self, arrivals: &mut Arrivals<'_, '_, Packet<S>>) {
        if self.is_off() {
            return;
        }
        let mut first = 0;
        loop {
            let recent = &mut self.recent;
            first =
                arrivals.pass_single(first, |index, port| recent[usize::from(port)].push(index));
            if first == arrivals.len() {
                break;
            }
            let end = arrivals.end_of_instant(first);
            self.sort_instant(arrivals, first, end);
            first = end;
        }
        for port in 0..self.trains.len() {
            self.catch_up(arrivals, port);
        }
        self.sorted += first as u64;
    }

    /// Has the train of a port note the arrivals that it has not noted yet.
    #[inline(always)]
    fn catch_up<S: Scheme>(&mut self, arrivals: &Arrivals<'_, '_, Packet<S>>, port: usize) {
        for index in self.recent[port].take() {
            let (time, _, packet) = arrivals.get(index);
            let train = &mut self.trains[port];
            train.add(time, &packet.header);
            train.set_index(self.sorted + index as u64 + 1, || None);
        }
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
            let (time, port, packet) = arrivals.get(index);
            self.catch_up(arrivals, usize::from(port));
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

/// The last two arrivals at a port that were alone at their instants: the older one in the higher
/// half. Each is the index in the window, and one more.
#[derive(Clone, Copy, Debug, Default)]
struct Recent(u64);

impl Recent {
    #[inline(always)]
    fn push(&mut self, index: usize) {
        self.0 = self.0 << 32 | (index as u64 + 1);
    }

    /// Returns their indices, and forgets them.
    #[inline(always)]
    fn take(&mut self) -> impl Iterator<Item = usize> + use<> {
        let Recent(both) = std::mem::take(self);
        [both >> 32, both & u64::from(u32::MAX)]
            .into_iter()
            .filter(|&one| one > 0)
            .map(|one| one as usize - 1)
    }
}
