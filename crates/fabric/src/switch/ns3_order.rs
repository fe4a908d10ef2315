//! Handles arrivals of one nanosecond in the order of the HPCC simulator; see
//! [`compat::event_order`](crate::compat::event_order).

use super::Switch;
use crate::compat::event_order::EmissionKey;
use crate::packet::{Packet, Scheme, Win};
use engine::Arrivals;
use units::Time;

impl<S: Scheme> Switch<S> {
    /// Returns how long `size` bytes that came through `port` were on the wire.
    #[inline]
    fn wire_time(&self, port: u16, size: u16) -> Time {
        let otherwise = |size| self.chassis.ports[port as usize].serialisation(size);
        self.trains[port as usize].wire_time(size, otherwise)
    }

    /// Returns the lead that a packet which came through `port` is sent on with. At the earliest it
    /// leaves when it has arrived, and its sending was scheduled when it was sent here.
    #[inline]
    pub(super) fn lead_of(&self, port: u16, size: u16) -> u16 {
        self.trains[port as usize].lead_after(self.wire_time(port, size))
    }

    /// Returns whether a packet that joins `port` now leaves before anything else happens at this
    /// instant. It does if the wire is free, because then no departure is scheduled there. Drains
    /// the port first: until then, its state may be older than `now`.
    #[inline(always)]
    pub(super) fn sends_immediately(
        &mut self,
        window: &mut Win<'_, '_, S>,
        port: usize,
        now: Time,
    ) -> bool {
        if self.trains.is_empty() {
            return false;
        }
        self.drain(window, port, now);
        self.chassis.ports[port].free_at < now
    }

    /// Sends the packet for which [`sends_immediately`](Switch::sends_immediately) returned true.
    #[inline(never)]
    pub(super) fn send_immediately(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize) {
        if self.chassis.due.at(port) == now {
            self.depart(window, port);
        }
    }

    /// Reorders arrivals of the same instant by their sending; see [`compat::event_order`].
    ///
    /// [`compat::event_order`]: crate::compat::event_order
    pub(crate) fn reorder_arrivals(&mut self, arrivals: &mut Arrivals<'_, '_, Packet<S>>) {
        if self.trains.is_empty() {
            return;
        }
        let mut keys = std::mem::take(&mut self.emissions);
        let mut instant = Time::NEVER;
        for index in 0..arrivals.len() {
            arrivals.prefetch_ahead(index);
            let (time, port, packet) = arrivals.get(index);
            if time != instant {
                self.number(&mut keys);
                instant = time;
            }
            let wire_time = self.wire_time(port, packet.header.size);
            let train = &mut self.trains[port as usize];
            keys.push(train.add(time, port, &packet.header, wire_time));
            // Insertion sort: few packets arrive at one instant, and most of them in order.
            let mut rank = keys.len() - 1;
            let begin = index - rank;
            while rank > 0 && keys[rank - 1] > keys[rank] {
                keys.swap(rank - 1, rank);
                arrivals.swap(begin + rank - 1, begin + rank);
                rank -= 1;
            }
        }
        self.number(&mut keys);
        self.emissions = keys;
    }

    /// Numbers the arrivals of an instant in their order.
    fn number(&mut self, keys: &mut Vec<EmissionKey>) {
        for (.., port) in keys.drain(..) {
            self.reordered += 1;
            self.trains[port as usize].index = self.reordered;
        }
    }
}
