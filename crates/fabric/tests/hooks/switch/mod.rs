//! Hooks of the congestion point, classes, roles, stacks.

mod arrivals;
mod classes;
mod composition;
mod marks;
mod ports;
mod queues;

use crate::common::{BYTE, FIRST, FULL, WIRE};
use schemes::contract::{Packet, PacketKind, Scheme};

fn is_data<S: Scheme>(packet: &Packet<S>) -> bool {
    packet.header.kind == PacketKind::Data
}

/// When packets of two hosts in step reach a switch, and when each begins to leave: (arrival,
/// begin, size), in ps and bytes, in order.
fn two_in_step(packets: u64) -> Vec<(u64, u64, u64)> {
    let mut free = 0;
    (0..2 * packets)
        .map(|number| {
            let (round, size) = (number / 2, if number < 2 { FIRST } else { FULL });
            let arrival = (FIRST + round * FULL) * BYTE + WIRE;
            let begin = arrival.max(free);
            free = begin + size * BYTE;
            (arrival, begin, size)
        })
        .collect()
}
