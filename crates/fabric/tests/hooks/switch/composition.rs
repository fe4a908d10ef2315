//! Schemes that live in some switches only, stacks of two, and limits on paths.

use super::is_data;
use crate::common::{Build, G100, US, alone, fct, line, pauses, run};
use crate::toy::{Basic, Limited, Log, Port, Sender, Stacked, Switch, parts};
use fabric::{SetupError, Simulation};
use schemes::contract::{Ack, HoldVerdict, HostCx, LocalCx, Packet, PortView, SendLimits};
use units::{Bytes, PortId, Rate, Time};

// ---- roles ----

/// Stops when the count is not as expected.
struct HopChecker {
    window: Bytes,
    expected: u64,
}

impl Sender<Basic> for HopChecker {
    fn limits(&self) -> SendLimits {
        SendLimits { window: self.window, ..SendLimits::UNLIMITED }
    }
    fn on_ack(&mut self, _: &mut HostCx<'_, Basic>, ack: &Ack<'_, Basic>) {
        if ack.meta.number != self.expected {
            self.window = Bytes::ZERO;
        }
    }
}

struct HopCounter;

impl Switch<Basic> for HopCounter {
    fn on_depart(
        &mut self,
        _: &mut LocalCx,
        _: &mut Port,
        _: &PortView,
        packet: &mut Packet<Basic>,
    ) {
        if is_data(packet)
            && let Some(meta) = packet.meta_mut()
        {
            meta.number += 1;
        }
    }
}

/// Protects switches that take no part.
#[test]
fn a_scheme_may_live_in_some_switches_only() {
    for (tiers, hops) in [([1, 1, 1], 0), ([1, 2, 1], 1), ([2, 2, 2], 3)] {
        let mut setup = line(3, G100, US);
        for (node, tier) in setup.nodes[2..].iter_mut().zip(tiers) {
            node.tier = tier;
        }
        setup.message(0, 1, 3_000, Time::ZERO);
        // Only switches of tier 2 count hops.
        let toy = |expected| {
            parts()
                .sender(move |_, _, _| HopChecker { window: Bytes::new(1), expected })
                .switch(|facts| (facts.tier == 2).then_some(HopCounter))
        };
        let output = run::<Basic>(&setup, toy(hops), 1);
        fct(&output, 0);
        let output = run::<Basic>(&setup, toy(hops + 1), 1);
        assert_eq!(output.flows[0].fct, Time::NEVER, "the check bites");
    }
}

// ---- Stack ----

/// Writes down what the meta of an ACK says.
struct MetaReader(Log<u64>);

impl Sender<Stacked> for MetaReader {
    fn on_ack(&mut self, _: &mut HostCx<'_, Stacked>, ack: &Ack<'_, Stacked>) {
        self.0.push(ack.meta.number);
    }
}

/// Writes its digit behind the number in a packet's meta.
struct Digit(u64);

impl Digit {
    fn write(&self, packet: &mut Packet<Stacked>) {
        if is_data(packet)
            && let Some(meta) = packet.meta_mut()
        {
            meta.number = meta.number * 10 + self.0;
        }
    }
}

impl Switch<Stacked> for Digit {
    fn on_arrival(
        &mut self,
        _: &mut LocalCx,
        _: PortId,
        packet: &mut Packet<Stacked>,
    ) -> HoldVerdict {
        self.write(packet);
        HoldVerdict::Forward
    }
    fn on_enqueue(
        &mut self,
        _: &mut LocalCx,
        _: &mut Port,
        _: &PortView,
        packet: &mut Packet<Stacked>,
    ) {
        self.write(packet);
    }
    fn on_depart(
        &mut self,
        _: &mut LocalCx,
        _: &mut Port,
        _: &PortView,
        packet: &mut Packet<Stacked>,
    ) {
        self.write(packet);
    }
}

/// Protects two congestion points in one switch: the upper sees a packet first on the way in, the
/// lower on the way out.
#[test]
fn stacked_congestion_points_work_in_their_order() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let log = Log::default();
    let numbers = log.clone();
    let toy = parts()
        .sender(move |_, _, _| MetaReader(numbers.clone()))
        .switch(|_| Some(Digit(1)))
        .lower_switch(|_| Some(Digit(2)));
    run::<Stacked>(&setup, toy, 1);
    assert_eq!(log.all(), [12_12_21]);
}

// ---- NEEDS ----

/// Protects packets from paths that are longer than they have room for.
#[test]
fn paths_that_are_too_long_are_refused() {
    let mut setup = line(3, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let refused = Simulation::<Limited>::new(&setup, parts()).err();
    assert_eq!(refused, Some(SetupError::PathTooLong { switches: 3, room: 2 }));
    let mut setup = line(2, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let output = run::<Limited>(&setup, parts(), 1);
    assert_eq!(fct(&output, 0), alone(1, 3));
    assert_eq!(pauses(&output), 0);
}

/// Protects records of rates from links of which they could not tell.
#[test]
fn more_rates_than_packets_can_tell_are_refused() {
    let with_rates = |rates: &[u64]| {
        let mut setup = line(3, G100, US);
        for (cable, gbps) in setup.links.iter_mut().zip(rates) {
            cable.rate = Rate::from_gbps(*gbps);
        }
        setup.message(0, 1, 1_000, Time::ZERO);
        Simulation::<Basic>::new(&setup, parts()).err()
    };
    assert_eq!(with_rates(&[37, 37, 100, 400]), None);
    let refused = Some(SetupError::TooManyLinkRates { rates: 14, room: 13 });
    assert_eq!(with_rates(&[37, 38]), refused);
}
