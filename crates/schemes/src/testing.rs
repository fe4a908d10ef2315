//! Helpers for tests of schemes, in this crate and outside of the workspace (feature `testing`).
//!
//! - [`path`] and [`record`] make the values that a reaction point gets.
//! - [`World`] is a QP, its receiver and two switches, without a network.
//! - [`depart`] shows a packet to a congestion point as it leaves a port.
//! - [`check_invariants`] drives every preset of a scheme through random histories and checks what
//!   every scheme promises. [`check_growth`] and [`check_presets`] check the rest of it.
//! - [`invariants!`](crate::invariants!) makes tests of all three.

mod heap;
mod presets;
mod world;

pub use presets::check_presets;
pub use world::{Operation, PAYLOAD, World};

use crate::contract::{
    Cp, Departure, EcnCodePoint, Level, LinkRates, Packet, PacketKind, PathFacts, PortView, Rp,
    Scheme, SendLimits,
};
use crate::int::IntRecord;
use crate::random::Stream;
use units::{Bytes, MixSide, PortId, Rate, Time};

/// Returns the facts of a path of two switches: all links have the same rate, the round trip is the
/// network's longest, and full packets have 1000 bytes of payload in 1082 bytes on the wire.
pub fn path(line_rate: Rate, rtt: Time) -> PathFacts {
    PathFacts {
        side: MixSide::First,
        receiver: 1,
        line_rate,
        bottleneck_rate: line_rate,
        base_rtt: rtt,
        network_rtt: rtt,
        network_bdp: line_rate.bytes_in(rtt),
        switches: 2,
        payload: Bytes::new(1000),
        packet_bytes: Bytes::new(1082),
        rates: LinkRates::new([]),
    }
}

/// Returns the INT record of a port of this rate.
pub fn record(rate: Rate, time: Time, tx_bytes: u64, queue_bytes: u64) -> IntRecord {
    IntRecord { rate: LinkRates::new([rate]).code(rate), time, tx_bytes, queue_bytes }
}

/// Returns a full data packet whose first byte is `sequence` of its QP's stream.
pub fn data_packet<S: Scheme>(sequence: u64) -> Packet<S> {
    Packet::with_meta(world::header(PacketKind::Data, 1, sequence, Time::ZERO), S::Meta::default())
}

/// Shows `packet` to `cp` as it leaves a port of this rate, where `queue_bytes` stay.
pub fn depart<S: Scheme, C: Cp<S>>(
    cp: &mut C,
    port: &mut C::Port,
    rate: Rate,
    queue_bytes: u64,
    packet: &mut Packet<S>,
) {
    let view = PortView {
        port: PortId::new(0),
        rate,
        queue_bytes,
        class_bytes: queue_bytes,
        tx_bytes: 0,
        last_departure: Time::ZERO,
    };
    let departure = Departure { now: Time::ZERO, effects: &mut Vec::new(), views: &[view] };
    cp.on_depart(&mut C::Level::depart(departure), port, &view, packet);
}

/// Drives a QP of a preset through a history and checks the promises of a scheme after each step.
/// Returns the sender's limits after each step. With `probed`, the hooks of probes are called, too.
///
/// # Panics
///
/// If a promise is broken.
pub fn history<S: Scheme>(preset: &str, operations: &[Operation], probed: bool) -> Vec<SendLimits> {
    let mut world = World::<S>::new(preset);
    world.check();
    operations
        .iter()
        .map(|operation| {
            world.apply(operation);
            world.check();
            if probed {
                world.observe();
            }
            world.rp.limits()
        })
        .collect()
}

/// Sends `count` messages of a few packets, with marks, queues, pauses, losses and timeouts among
/// them. After each message, all packets have arrived.
///
/// # Panics
///
/// If a promise is broken.
pub fn messages<S: Scheme>(world: &mut World<S>, count: u32) {
    for number in 0..count {
        world.flow += 1;
        if number % 97 < 2 {
            world.apply(&Operation::Pfc { paused: number % 97 == 0 });
        }
        for _ in 0..4 {
            world.apply(&Operation::Send { payload: PAYLOAD });
        }
        if number % 50 == 49 {
            world.apply(&Operation::Lose);
        }
        for packet in 0..4 {
            let queue_bytes = u64::from(number) * 7_919 % 1_000_000 * u64::from(number / 8 % 2);
            let code_point = match (number + packet) % 5 {
                0 => EcnCodePoint::CongestionExperienced,
                1 => EcnCodePoint::Undetermined,
                _ => EcnCodePoint::NotMarked,
            };
            world.apply(&Operation::Deliver { queue_bytes, code_point });
            world.apply(&Operation::Acknowledge);
        }
        // A loss has one more answer.
        world.apply(&Operation::Acknowledge);
        if number % 100 == 99 {
            world.apply(&Operation::RetransmissionTimeout);
        }
        world.apply(&Operation::Wait(Time::from_us(if number % 10 == 9 { 200 } else { 3 })));
        while !(world.to_sender.is_empty() && world.to_receiver.is_empty()) {
            world.apply(&Operation::DeliverCtl);
        }
        world.check();
    }
}

/// Checks every preset of `S` with `histories` random histories: the promises of [`World::check`]
/// hold after each step, and probing changes nothing. Histories depend on nothing but their number.
///
/// # Panics
///
/// If a promise is broken.
pub fn check_invariants<S: Scheme>(histories: u64) {
    for number in 0..histories {
        let operations = random_operations(number);
        for preset in S::PRESETS {
            let plain = history::<S>(preset.name, &operations, false);
            let probed = history::<S>(preset.name, &operations, true);
            assert_eq!(plain, probed, "probing changed preset {}", preset.name);
        }
    }
}

/// Checks that no preset of `S` needs more memory after many messages than after some. `live_bytes`
/// returns how much is allocated now.
///
/// # Panics
///
/// If one does, or a promise is broken.
pub fn check_growth<S: Scheme>(live_bytes: fn() -> isize) {
    for preset in S::PRESETS {
        let mut world = World::<S>::new(preset.name);
        messages(&mut world, 2_000);
        let before = live_bytes();
        messages(&mut world, 8_000);
        let more = live_bytes() - before;
        // The capacity of queues may double once. A word for each message would be 64 KB.
        assert!(more < 16_000, "{} keeps {more} B more", preset.name);
        assert!(world.acknowledged > 1_000 * PAYLOAD, "{} sends nothing", preset.name);
    }
}

/// Returns up to 200 operations in a random order.
fn random_operations(number: u64) -> Vec<Operation> {
    let mut random = Stream::new(number, 0);
    let mut below = |end: u64| random.next() % end;
    let count = 1 + below(200);
    (0..count)
        .map(|_| match below(35) {
            0..8 => Operation::Send { payload: 1 + below(PAYLOAD) },
            8..15 => Operation::Deliver {
                queue_bytes: match below(3) {
                    0 => 0,
                    1 => below(100_000),
                    _ => below(20_000_000),
                },
                code_point: match below(7) {
                    0..4 => EcnCodePoint::NotMarked,
                    4 => EcnCodePoint::Undetermined,
                    _ => EcnCodePoint::CongestionExperienced,
                },
            },
            15 => Operation::Lose,
            16..23 => Operation::Acknowledge,
            23..27 => Operation::DeliverCtl,
            27 => Operation::RetransmissionTimeout,
            28 => Operation::Pfc { paused: below(2) == 0 },
            _ => Operation::Wait(Time::from_ps(match below(10) {
                0..4 => below(200_000),
                4..7 => below(10_000_000),
                7..9 => below(500_000_000),
                _ => below(50_000_000_000),
            })),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::dcqcn::Dcqcn;

    #[test]
    fn a_scheme_of_the_registry_keeps_its_promises() {
        super::check_invariants::<Dcqcn>(4);
    }
}
