//! The order of arrivals at the same nanosecond where it is that of their sending
//! ([`Quirks::emission_order`](crate::Quirks::emission_order)).
//!
//! An event queue handles arrivals of one instant in the order in which they were scheduled, that
//! is, sent. Of two packets that were also sent at the same instant by different ports, the one
//! goes first whose sending was scheduled earlier: that of a packet in a train (it began when the one
//! before it ended) when the one before it began, that of another at the latest when the one before
//! it ended; hosts tell, in a field of the header that switches write anew. Where that is the same
//! too, two ports send trains in step, and the younger train goes first: what started it had been
//! scheduled before the other port's next packet was.

use super::Switch;
use crate::packet::{Packet, Scheme};
use crate::port::Port;
use engine::Arrivals;
use std::cmp::Reverse;
use units::Time;

/// The packets that came through a port without a gap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Train {
    /// When the first began to be sent.
    start: Time,
    /// When the last began to be sent, and when that ended.
    sent: Time,
    end: Time,
    /// A host sends them.
    from_host: bool,
    /// Of the cable; and what the usual sizes take on it, those of data and of others, as the port has it.
    propagation: Time,
    usual: [(u64, Time); 2],
}

impl Train {
    pub(super) fn new(from_host: bool, port: &Port) -> Train {
        let (propagation, usual) = (port.propagation(), port.usual_sizes());
        Train { from_host, propagation, usual, ..Train::default() }
    }
}

/// What decides among arrivals of one instant: when a packet was sent, when that was scheduled, how
/// young its train is, its port.
pub(super) type Emission = (Time, Time, Reverse<Time>, u16);

impl<S: Scheme> Switch<S> {
    /// Puts arrivals of the same instant into the order of their sending.
    pub(crate) fn arrange(&mut self, arrivals: &mut Arrivals<'_, '_, Packet<S>>) {
        if self.trains.is_empty() {
            return;
        }
        let mut keys = std::mem::take(&mut self.emissions);
        let mut instant = Time::NEVER;
        for index in 0..arrivals.len() {
            arrivals.look_ahead(index);
            let (time, port, packet) = arrivals.get(index);
            if time != instant {
                keys.clear();
                instant = time;
            }
            let train = &mut self.trains[port as usize];
            let end = time.saturating_sub(train.propagation);
            let size = u64::from(packet.header.size);
            let on_the_wire = match train.usual.iter().find(|(usual, _)| *usual == size) {
                Some(&(_, time)) => time,
                None => self.chassis.ports[port as usize].serialisation(size),
            };
            let sent = end.saturating_sub(on_the_wire);
            let in_train = sent == train.end;
            if !in_train {
                train.start = sent;
            }
            let scheduled = if train.from_host {
                sent.saturating_sub(Time::from_ns(packet.header.ingress.into()))
            } else if in_train {
                train.sent
            } else {
                train.end
            };
            (train.sent, train.end) = (sent, end);
            keys.push((sent, scheduled, Reverse(train.start), port));
            // Few arrive at one instant, and most of them in order.
            let mut place = keys.len() - 1;
            let begin = index - place;
            while place > 0 && keys[place - 1] > keys[place] {
                keys.swap(place - 1, place);
                arrivals.swap(begin + place - 1, begin + place);
                place -= 1;
            }
        }
        self.emissions = keys;
    }
}
