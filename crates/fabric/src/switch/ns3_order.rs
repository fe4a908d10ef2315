//! The order of arrivals at the same nanosecond where it is that of their sending
//! ([`Quirks::emission_order`](crate::Quirks::emission_order)).
//!
//! An event queue handles arrivals of one instant in the order in which they were scheduled, that
//! is, sent. Of two packets that were also sent at the same instant by different ports, the one
//! goes first whose sending was scheduled earlier: that of a packet in a train (it began when the one
//! before it ended) when the one before it began, that of another when what had it sent was sent
//! itself. Who sends tells how long before that was, in a field of the header that each switch writes
//! anew. Where that is the same too, a train that begins goes before those that go on: what started it
//! had been scheduled before their next packets were. Those that go on in step keep the order of their
//! last packets; those that begin did so with messages that were posted at the same instant, in their
//! order. (What had two packets sent that came another way may differ farther back than is known here.)

use super::Switch;
use crate::packet::{Header, Packet, Scheme, Win};
use crate::port::Port;
use engine::Arrivals;
use units::Time;

/// The packets that came through a port without a gap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArrivalTrain {
    /// When the last began to be sent, and when that ended.
    sent: Time,
    end: Time,
    /// Its place among all arrivals.
    place: u64,
    /// A host sends them.
    from_host: bool,
    /// Of the cable; and what the usual sizes take on it, those of data and of others, as the port has it.
    propagation: Time,
    usual: [(u64, Time); 2],
}

impl ArrivalTrain {
    pub(super) fn new(from_host: bool, port: &Port) -> ArrivalTrain {
        let (propagation, usual) = (port.propagation(), port.common_sizes());
        ArrivalTrain { from_host, propagation, usual, ..ArrivalTrain::default() }
    }
}

/// What decides among arrivals of one instant: when a packet was sent, when that was scheduled, whether its
/// train goes on; the place of the train's last packet, or the message with which it begins; its port.
pub(super) type Emission = (Time, Time, bool, u64, u16);

impl<S: Scheme> Switch<S> {
    /// How long bytes that came through a port were on the wire.
    #[inline]
    fn wire_time(&self, port: u16, size: u16) -> Time {
        let size = u64::from(size);
        match self.trains[port as usize].usual.iter().find(|(usual, _)| *usual == size) {
            Some(&(_, time)) => time,
            None => self.chassis.ports[port as usize].serialisation(size),
        }
    }

    /// What a packet that came through `port` tells where it goes: how long before it can leave at the
    /// earliest it was sent, ns.
    #[inline]
    pub(super) fn ns3_lead(&self, port: u16, size: u16) -> u16 {
        let on_the_way = self.trains[port as usize].propagation + self.wire_time(port, size);
        u16::try_from(on_the_way.ns()).unwrap_or(u16::MAX)
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

    /// Puts arrivals of the same instant into the order of their sending.
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
            let Header { ingress: lead, size, address, .. } = packet.header;
            let kind_priority_size = self.wire_time(port, size);
            let train = &mut self.trains[port as usize];
            let end = time.saturating_sub(train.propagation);
            let sent = end.saturating_sub(kind_priority_size);
            let in_train = sent == train.end;
            let scheduled = if in_train && !train.from_host {
                train.sent
            } else {
                sent.saturating_sub(Time::from_ns(lead.into()))
            };
            let rank = if in_train { train.place } else { u64::from(address.flow) };
            (train.sent, train.end) = (sent, end);
            keys.push((sent, scheduled, in_train, rank, port));
            // Few arrive at one instant, and most of them in order.
            let mut place = keys.len() - 1;
            let begin = index - place;
            while place > 0 && keys[place - 1] > keys[place] {
                keys.swap(place - 1, place);
                arrivals.swap(begin + place - 1, begin + place);
                place -= 1;
            }
        }
        self.number(&mut keys);
        self.emissions = keys;
    }

    /// Takes down in which order the arrivals of an instant came.
    fn number(&mut self, keys: &mut Vec<Emission>) {
        for (.., port) in keys.drain(..) {
            self.reordered += 1;
            self.trains[port as usize].place = self.reordered;
        }
    }
}
