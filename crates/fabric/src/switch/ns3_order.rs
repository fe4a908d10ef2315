//! Handles arrivals of one nanosecond in the order of the HPCC simulator; see
//! [`compat::event_order`](crate::compat::event_order).

use super::Switch;
use crate::packet::{Packet, Scheme, Win};
use crate::switch::chassis::Chassis;
use engine::{Arrivals, Handle};
use units::Time;

impl<S: Scheme> Switch<S> {
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
        if self.emission_order.is_off() {
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

    /// Has packets leave that leave at `now`, and whose departure was scheduled before the packet
    /// that arrives now was sent.
    #[cold]
    pub(super) fn depart_first(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        arrival: &Handle,
    ) {
        let size = window.packets.get(arrival).header.size;
        let sent = self.emission_order.sent(in_port, now, size);
        if let Some(recorder) = &mut self.chassis.recorder {
            recorder.set_arrival(sent);
        }
        loop {
            let Chassis { ports, due, .. } = &self.chassis;
            let leave_now = ports.iter().enumerate().filter(|(port, _)| due.at(*port) == now);
            let scheduled = leave_now.map(|(port, this)| (this.last_departure, port));
            let Some((_, port)) = scheduled.filter(|(time, _)| *time < sent).min() else { return };
            self.depart(window, port);
        }
    }

    /// Reorders arrivals of the same instant by their sending.
    pub(crate) fn reorder_arrivals(&mut self, arrivals: &mut Arrivals<'_, '_, Packet<S>>) {
        self.emission_order.sort(arrivals);
    }
}
