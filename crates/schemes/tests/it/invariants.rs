//! Every scheme keeps its promises, whatever happens to a QP. Each scheme of the registry is driven
//! through arbitrary histories and through a long one.

use proptest::prelude::*;
use schemes::contract::{EcnCodePoint, Scheme};
use schemes::testing::{Operation, PAYLOAD, check_growth, history};
use units::Time;

schemes::count_heap!();

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

/// Every preset of `S` keeps the invariants, and probing changes nothing.
fn holds<S: Scheme>(operations: &[Operation]) -> Result<(), TestCaseError> {
    for preset in S::PRESETS {
        let plain = history::<S>(preset.name, operations, false);
        let probed = history::<S>(preset.name, operations, true);
        prop_assert_eq!(plain, probed, "probing changed {}", preset.name);
    }
    Ok(())
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
                    $(check_growth::<$scheme>(heap::live_bytes);)+
                }
            )*
        }
    };
}
schemes::for_each_scheme!(for_each);
