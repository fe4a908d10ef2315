//! Whatever happens to a QP, every scheme keeps its promises. One QP, its receiver and two switches
//! of each scheme in the registry are put through arbitrary histories, and through a long one.

use crate::heap;
use crate::world::{Operation, PAYLOAD, World};
use proptest::prelude::*;
use schemes::contract::{EcnCodePoint, Rp, Scheme, SendLimits};
use units::Time;

fn operation() -> impl Strategy<Value = Operation> {
    let queue = prop_oneof![Just(0), 0..100_000_u64, 0..20_000_000_u64];
    let code_point = prop_oneof![
        4 => Just(EcnCodePoint::NotMarked),
        1 => Just(EcnCodePoint::Undetermined),
        2 => Just(EcnCodePoint::CongestionExperienced),
    ];
    let wait = prop_oneof![
        4 => 0..200_000_u64,
        3 => 0..10_000_000_u64,
        2 => 0..500_000_000_u64,
        1 => 0..50_000_000_000_u64,
    ];
    prop_oneof![
        8 => (1..=PAYLOAD).prop_map(|payload| Operation::Send { payload }),
        7 => (queue, code_point)
            .prop_map(|(queue_bytes, code_point)| Operation::Deliver { queue_bytes, code_point }),
        1 => Just(Operation::Lose),
        7 => Just(Operation::Acknowledge),
        4 => Just(Operation::DeliverCtl),
        1 => Just(Operation::RetransmissionTimeout),
        1 => any::<bool>().prop_map(|paused| Operation::Pfc { paused }),
        6 => wait.prop_map(|ps| Operation::Wait(Time::from_ps(ps))),
    ]
}

/// What the sender was allowed after each operation.
fn history<S: Scheme>(preset: &str, operations: &[Operation], probed: bool) -> Vec<SendLimits> {
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

/// Every preset of `S` keeps the invariants, and probing changes nothing.
fn holds<S: Scheme>(operations: &[Operation]) -> Result<(), TestCaseError> {
    for preset in S::PRESETS {
        let plain = history::<S>(preset.name, operations, false);
        let probed = history::<S>(preset.name, operations, true);
        prop_assert_eq!(plain, probed, "probing changed {}", preset.name);
    }
    Ok(())
}

/// Message after message of a few packets, with marks, queues, pauses, losses and timeouts among
/// them; everything that was under way has arrived after each.
fn messages<S: Scheme>(world: &mut World<S>, count: u32) {
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
        // A loss has an answer more.
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

/// No preset of `S` keeps more after many messages than after some.
fn does_not_grow<S: Scheme>() {
    for preset in S::PRESETS {
        let mut world = World::<S>::new(preset.name);
        messages(&mut world, 2_000);
        let before = heap::live_bytes();
        messages(&mut world, 8_000);
        let more = heap::live_bytes() - before;
        // Room of queues may double once; a word for each message would be 64 KB.
        assert!(more < 16_000, "{} keeps {more} B more", preset.name);
        assert!(world.acknowledged > 1_000 * PAYLOAD, "{} sends nothing", preset.name);
    }
}

macro_rules! for_each {
    ($($name:ident: $($scheme:ty),+;)*) => {
        mod promises {
            use super::*;
            proptest! {
                $(
                    #[test]
                    fn $name(operations in proptest::collection::vec(operation(), 1..200)) {
                        $(holds::<$scheme>(&operations)?;)+
                    }
                )*
            }
        }
        mod growth {
            use super::*;
            $(
                #[test]
                fn $name() {
                    $(does_not_grow::<$scheme>();)+
                }
            )*
        }
    };
}
schemes::for_each_scheme!(for_each);
