//! How freely the fabric orders a switch's work must not show: the same law declared
//! [`PortLocal`], [`Emits`] and [`Strict`] gives the same run.

use crate::common::random::{Law, build, cases};
use crate::common::{essence, lossless, pauses, run};
use crate::toy::{Plain, no_host, toy};
use fabric::Headroom;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use schemes::contract::{
    Absent, Ack, Body, Cp, EcnCodePoint, Emits, Flags, HoldVerdict, HostCx, Level, NoCtl,
    OnArrivalOrHold, OnEnqueue, Packet, PacketKind, PathFacts, PlainReceiver, PortFacts, PortLocal,
    PortView, Rp, Scheme, SendLimits, Strict, SwitchFacts,
};
use std::cell::Cell;
use std::marker::PhantomData;
use units::{Bytes, PortId, Priority, Rate, Time};

/// A law that looks at everything a port-local one may: what it stamps decides the senders' rates
/// and windows, so a difference anywhere changes the whole run.
#[derive(Debug)]
struct Watcher<L> {
    /// Some packets are held a little on their way in.
    holds: bool,
    level: PhantomData<L>,
}

impl<L> Watcher<L> {
    fn new(holds: &Plain<bool>) -> Watcher<L> {
        Watcher { holds: holds.0, level: PhantomData }
    }
}

/// What it keeps per port.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    departures: u64,
    pauses: u64,
    busiest: u64,
}

impl<L: Level, S: Scheme<Meta = u64>> Cp<S> for Watcher<L>
where
    Watcher<L>: Send + 'static,
{
    type Level = L;
    type Port = Seen;
    schemes::hooks!(holding_arrivals, enqueues);
    fn port(&self, _: &S::Params, _: &PortFacts) -> Seen {
        Seen::default()
    }
    fn on_depart(
        &mut self,
        _: &mut L::Depart<'_, S>,
        seen: &mut Seen,
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        seen.departures += 1;
        let view = [view.queue_bytes, view.class_bytes, view.tx_bytes, view.last_departure.ps()];
        if let Body::Meta(meta) = &mut packet.body {
            for word in view.into_iter().chain([seen.departures, seen.pauses, seen.busiest]) {
                *meta = (*meta ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
            }
        }
    }
    fn on_pfc(
        &mut self,
        _: &mut L::Arrive<'_, S>,
        seen: &mut Seen,
        view: &PortView,
        _: Priority,
        paused: bool,
    ) {
        seen.pauses += u64::from(paused) + view.queue_bytes;
    }
}

impl<L: Level, S: Scheme<Meta = u64>> OnArrivalOrHold<S> for Watcher<L>
where
    Watcher<L>: Send + 'static,
{
    fn on_arrival(
        &mut self,
        cx: &mut L::Arrive<'_, S>,
        _: PortId,
        packet: &mut Packet<S>,
    ) -> HoldVerdict {
        // Now and then a packet waits a little; all of a QP do, or they would change order.
        let now = L::now::<S>(cx);
        let late = packet.header.kind == PacketKind::Data
            && packet.header.address.sender_slot.is_multiple_of(2);
        if self.holds && late && !packet.header.flags.contains(Flags::MARK) {
            packet.header.flags.set(Flags::MARK, true);
            return HoldVerdict::Hold(now + Time::from_ns(77));
        }
        packet.header.flags.set(Flags::MARK, false);
        HoldVerdict::Forward
    }
}

impl<L: Level, S: Scheme<Meta = u64>> OnEnqueue<S> for Watcher<L>
where
    Watcher<L>: Send + 'static,
{
    fn on_enqueue(
        &mut self,
        _: &mut L::Arrive<'_, S>,
        seen: &mut Seen,
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        seen.busiest = seen.busiest.max(view.queue_bytes);
        if view.class_bytes > 10_000 && packet.header.kind == PacketKind::Data {
            packet.header.code_point = EcnCodePoint::CongestionExperienced;
        }
    }
}

/// A sender that does what the stamps and marks say.
#[derive(Debug)]
struct Obedient {
    rate: Rate,
    line_rate: Rate,
    window: Bytes,
}

impl<S: Scheme<Meta = u64>> Rp<S> for Obedient {
    type Timer = Absent;
    fn open(_: &S::Params, _: &mut S::Host, path: &PathFacts, _: Time) -> Obedient {
        Obedient { rate: path.line_rate, line_rate: path.line_rate, window: Bytes::new(60_000) }
    }
    fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate, window: self.window, ..SendLimits::UNLIMITED }
    }
    fn on_ack(&mut self, _: &mut HostCx<'_, S>, ack: &Ack<'_, S>) {
        let share = 700 + ack.meta % 601;
        let bps = u128::from(self.line_rate.bps()) * u128::from(share) / 1_000;
        self.rate = Rate::from_bps(bps as u64);
        let marked = ack.echo == EcnCodePoint::CongestionExperienced;
        let (less, more) = (self.window.get() / 2, self.window.get() + 1_000);
        self.window = Bytes::new(if marked { less.max(5_000) } else { more });
    }
}

toy! {
    /// In lazy order.
    Lazy: bool, u64, NoCtl, (), Obedient, PlainReceiver, Watcher<PortLocal>;
    no_host!();
    fn congestion_point(holds: &Plain<bool>, _: &SwitchFacts<'_>) -> Option<Watcher<PortLocal>> {
        Some(Watcher::new(holds))
    }
}
toy! {
    /// In lazy order, and it might send.
    Sending: bool, u64, NoCtl, (), Obedient, PlainReceiver, Watcher<Emits>;
    no_host!();
    fn congestion_point(holds: &Plain<bool>, _: &SwitchFacts<'_>) -> Option<Watcher<Emits>> {
        Some(Watcher::new(holds))
    }
}
toy! {
    /// One departure after the other.
    Orderly: bool, u64, NoCtl, (), Obedient, PlainReceiver, Watcher<Strict>;
    no_host!();
    fn congestion_point(holds: &Plain<bool>, _: &SwitchFacts<'_>) -> Option<Watcher<Strict>> {
        Some(Watcher::new(holds))
    }
}

/// Protects the shortcut that makes switches fast: draining a port only when it is touched is the
/// same as working all departures in time order, with pauses and without, on any network.
#[test]
fn lazy_order_is_strict_order() {
    let config = Config { cases: 120, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let (paused, marked) = (Cell::new(0), Cell::new(false));
    let result = runner.run(&cases(), |mut case| {
        // Few ACKs and a window that shrinks are another test's matter.
        case.ack_every = 1;
        case.law = Law::DcqcnPaper;
        let mut setup = build(&case);
        // Held packets wait before they are stored: pauses come later by as much, which the
        // automatic headroom knows nothing of.
        let holds = !case.dynamic;
        if holds {
            setup.pfc.headroom = Headroom::Fixed(Bytes::new(1_000_000));
            setup.switch.buffer = Bytes::new(200_000_000);
        }
        let lazy = run::<Lazy>(&setup, Plain(holds), 1);
        lossless(&setup, &lazy).map_err(TestCaseError::fail)?;
        let counted = |port: &fabric::PortReport| port.counters.ecn_marked_packets > 0;
        marked.set(marked.get() || lazy.ports.iter().any(counted));
        paused.set(paused.get() + u32::from(pauses(&lazy) > 0));
        let sending = run::<Sending>(&setup, Plain(holds), 1);
        prop_assert_eq!(essence(&lazy), essence(&sending));
        let orderly = run::<Orderly>(&setup, Plain(holds), 2);
        prop_assert_eq!(essence(&lazy), essence(&orderly));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(paused.get() >= 40 && marked.get(), "{} of 120 paused", paused.get());
}
