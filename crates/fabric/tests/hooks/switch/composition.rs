//! Schemes that live in some switches only, stacks of two, and limits on paths.

use super::is_data;
use crate::common::{Build, G100, US, fct, line, pauses, run};
use crate::toy::{LineRate, Log, Plain, alone, no_cp, no_host, toy};
use fabric::{SetupError, Simulation};
use schemes::contract::{
    Absent, Ack, Body, Cp, HostCx, LocalCx, Needs, NoCtl, OnArrival, OnEnqueue, Packet, PathFacts,
    PlainReceiver, PlainSwitch, PortFacts, PortLocal, PortView, Rp, SendLimits, Stack, SwitchFacts,
    Verdict,
};
use units::{Bytes, PortId, Rate, Time};

// ---- roles ----

toy! {
    /// Only switches of tier 2 count hops; the sender stops when the count is not one.
    Roles: u64, u64, NoCtl, (), HopChecker, PlainReceiver, HopCounter;
    no_host!();
    fn congestion_point(_: &Plain<u64>, facts: &SwitchFacts<'_>) -> Option<HopCounter> {
        (facts.tier == 2).then_some(HopCounter)
    }
}

#[derive(Debug)]
struct HopChecker {
    window: Bytes,
}

impl Rp<Roles> for HopChecker {
    type Timer = Absent;
    fn open(_: &Plain<u64>, _: &mut (), _: &PathFacts, _: Time) -> HopChecker {
        HopChecker { window: Bytes::new(1) }
    }
    fn limits(&self) -> SendLimits {
        SendLimits { window: self.window, ..SendLimits::UNLIMITED }
    }
    fn on_ack(&mut self, cx: &mut HostCx<'_, Roles>, ack: &Ack<'_, Roles>) {
        if *ack.meta != cx.params.0 {
            self.window = Bytes::ZERO;
        }
    }
}

#[derive(Debug)]
struct HopCounter;

impl Cp<Roles> for HopCounter {
    type Level = PortLocal;
    type Port = ();
    schemes::hooks!();
    fn port(&self, _: &Plain<u64>, _: &PortFacts) {}
    fn on_depart(&mut self, _: &mut LocalCx, _: &mut (), _: &PortView, packet: &mut Packet<Roles>) {
        if is_data(packet)
            && let Body::Meta(hops) = &mut packet.body
        {
            *hops += 1;
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
        let output = run::<Roles>(&setup, Plain(hops), 1);
        fct(&output, 0);
        let output = run::<Roles>(&setup, Plain(hops + 1), 1);
        assert_eq!(output.flows[0].fct, Time::NEVER, "the check bites");
    }
}

// ---- Stack ----

toy! {
    /// Two congestion points in each switch; the meta tells in which order they worked.
    Stacked: Log<u64>, u64, NoCtl, (), MetaReader, PlainReceiver, Stack<Digit<1>, Digit<2>>;
    no_host!();
    fn congestion_point(_: &Plain<Log<u64>>, _: &SwitchFacts<'_>) -> Option<Stack<Digit<1>, Digit<2>>> {
        Some(Stack(Digit, Digit))
    }
}

#[derive(Debug)]
struct MetaReader;

impl Rp<Stacked> for MetaReader {
    type Timer = Absent;
    fn open(_: &Plain<Log<u64>>, _: &mut (), _: &PathFacts, _: Time) -> MetaReader {
        MetaReader
    }
    fn limits(&self) -> SendLimits {
        SendLimits::UNLIMITED
    }
    fn on_ack(&mut self, cx: &mut HostCx<'_, Stacked>, ack: &Ack<'_, Stacked>) {
        cx.params.0.push(*ack.meta);
    }
}

/// Writes the digit N behind the number in a packet's meta.
#[derive(Debug)]
pub struct Digit<const N: u64>;

impl<const N: u64> Digit<N> {
    fn write(packet: &mut Packet<Stacked>) {
        if is_data(packet)
            && let Body::Meta(number) = &mut packet.body
        {
            *number = *number * 10 + N;
        }
    }
}

impl<const N: u64> Cp<Stacked> for Digit<N> {
    type Level = PortLocal;
    type Port = ();
    schemes::hooks!(arrivals, enqueues);
    fn port(&self, _: &Plain<Log<u64>>, _: &PortFacts) {}
    fn on_depart(&mut self, _: &mut LocalCx, _: &mut (), _: &PortView, p: &mut Packet<Stacked>) {
        Self::write(p);
    }
}

impl<const N: u64> OnArrival<Stacked> for Digit<N> {
    fn on_arrival(&mut self, _: &mut LocalCx, _: PortId, packet: &mut Packet<Stacked>) -> Verdict {
        Self::write(packet);
        Verdict::Forward
    }
}

impl<const N: u64> OnEnqueue<Stacked> for Digit<N> {
    fn on_enqueue(&mut self, _: &mut LocalCx, _: &mut (), _: &PortView, p: &mut Packet<Stacked>) {
        Self::write(p);
    }
}

/// Protects two congestion points in one switch: the upper sees a packet first on the way in, the
/// lower on the way out.
#[test]
fn stacked_congestion_points_work_in_their_order() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let log = Log::default();
    run::<Stacked>(&setup, Plain(log.clone()), 1);
    assert_eq!(log.all(), [12_12_21]);
}

// ---- NEEDS ----

toy! {
    /// Its packets have room for two switches.
    Shallow: (), (), NoCtl, (), LineRate, PlainReceiver, PlainSwitch;
    no_host!();
    no_cp!();
    const NEEDS: Needs = Needs { max_hops: 2, ..Needs::NONE };
}

toy! {
    /// Its packets can tell of one rate beside those that INT has codes for.
    Coarse: (), (), NoCtl, (), LineRate, PlainReceiver, PlainSwitch;
    no_host!();
    no_cp!();
    const NEEDS: Needs = Needs { max_link_rates: wire::int::RATES.len() + 1, ..Needs::NONE };
}

/// Protects packets from paths that are longer than they have room for.
#[test]
fn paths_that_are_too_long_are_refused() {
    let mut setup = line(3, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let refused = Simulation::<Shallow>::new(&setup, Plain(())).err();
    assert_eq!(refused, Some(SetupError::PathTooLong { switches: 3, room: 2 }));
    let mut setup = line(2, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let output = run::<Shallow>(&setup, Plain(()), 1);
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
        Simulation::<Coarse>::new(&setup, Plain(())).err()
    };
    assert_eq!(with_rates(&[37, 37, 100, 400]), None);
    let refused = Some(SetupError::TooManyLinkRates { rates: 14, room: 13 });
    assert_eq!(with_rates(&[37, 38]), refused);
}
