//! How freely the fabric orders a switch's work must not show: the same law declared
//! [`PortLocal`], [`Emits`] and [`Strict`] gives the same run.

use crate::common::random::{Law, build, cases};
use crate::common::{essence, lossless, pauses, run};
use crate::toy::{Meta, Parts, Port, Sender, Switch, Watching, parts};
use fabric::{Headroom, RunOutput, Setup};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use schemes::contract::{
    Ack, EcnCodePoint, Emits, Flags, HoldVerdict, HostCx, Level, Packet, PacketKind, PathFacts,
    PortLocal, PortView, SendLimits, Strict,
};
use std::cell::Cell;
use units::{Bytes, PortId, Priority, Rate, Time};

/// A law that looks at everything a port-local one may: what it stamps decides the senders' rates
/// and windows, so a difference anywhere changes the whole run.
struct Watcher {
    /// Some packets are held a little on their way in.
    holds: bool,
}

impl<L: Level> Switch<Watching<L>> for Watcher {
    fn on_depart(
        &mut self,
        _: &mut L::Depart<'_, Watching<L>>,
        [departures, pauses, busiest]: &mut Port,
        view: &PortView,
        packet: &mut Packet<Watching<L>>,
    ) {
        *departures += 1;
        let view = [view.queue_bytes, view.class_bytes, view.tx_bytes, view.last_departure.ps()];
        if let Some(Meta { number, .. }) = packet.meta_mut() {
            for word in view.into_iter().chain([*departures, *pauses, *busiest]) {
                *number = (*number ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
            }
        }
    }
    fn on_pfc(
        &mut self,
        _: &mut L::Arrive<'_, Watching<L>>,
        [_, pauses, _]: &mut Port,
        view: &PortView,
        _: Priority,
        paused: bool,
    ) {
        *pauses += u64::from(paused) + view.queue_bytes;
    }
    fn on_arrival(
        &mut self,
        cx: &mut L::Arrive<'_, Watching<L>>,
        _: PortId,
        packet: &mut Packet<Watching<L>>,
    ) -> HoldVerdict {
        // Now and then a packet waits a little; all of a QP do, or they would change order.
        let now = L::now::<Watching<L>>(cx);
        let late = packet.header.kind == PacketKind::Data
            && packet.header.address.sender_slot.is_multiple_of(2);
        if self.holds && late && !packet.header.flags.contains(Flags::MARK) {
            packet.header.flags.set(Flags::MARK, true);
            return HoldVerdict::Hold(now + Time::from_ns(77));
        }
        packet.header.flags.set(Flags::MARK, false);
        HoldVerdict::Forward
    }
    fn on_enqueue(
        &mut self,
        _: &mut L::Arrive<'_, Watching<L>>,
        [_, _, busiest]: &mut Port,
        view: &PortView,
        packet: &mut Packet<Watching<L>>,
    ) {
        *busiest = (*busiest).max(view.queue_bytes);
        if view.class_bytes > 10_000 && packet.header.kind == PacketKind::Data {
            packet.header.code_point = EcnCodePoint::CongestionExperienced;
        }
    }
}

/// A sender that does what the stamps and marks say.
struct Obedient {
    rate: Rate,
    line_rate: Rate,
    window: Bytes,
}

impl Obedient {
    fn new(path: &PathFacts) -> Obedient {
        Obedient { rate: path.line_rate, line_rate: path.line_rate, window: Bytes::new(60_000) }
    }
}

impl<L: Level> Sender<Watching<L>> for Obedient {
    fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate, window: self.window, ..SendLimits::UNLIMITED }
    }
    fn on_ack(&mut self, _: &mut HostCx<'_, Watching<L>>, ack: &Ack<'_, Watching<L>>) {
        let share = 700 + ack.meta.number % 601;
        let bps = u128::from(self.line_rate.bps()) * u128::from(share) / 1_000;
        self.rate = Rate::from_bps(bps as u64);
        let marked = ack.echo == EcnCodePoint::CongestionExperienced;
        let (less, more) = (self.window.get() / 2, self.window.get() + 1_000);
        self.window = Bytes::new(if marked { less.max(5_000) } else { more });
    }
}

/// The run of the law declared to be of level `L`.
fn watched<L: Level>(setup: &Setup, holds: bool, threads: usize) -> RunOutput {
    let toy: Parts<Watching<L>> =
        parts().sender(|_, path, _| Obedient::new(path)).switch(move |_| Some(Watcher { holds }));
    run::<Watching<L>>(setup, toy, threads)
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
        let lazy = watched::<PortLocal>(&setup, holds, 1);
        lossless(&setup, &lazy).map_err(TestCaseError::fail)?;
        let counted = |port: &fabric::PortReport| port.counters.ecn_marked_packets > 0;
        marked.set(marked.get() || lazy.ports.iter().any(counted));
        paused.set(paused.get() + u32::from(pauses(&lazy) > 0));
        let sending = watched::<Emits>(&setup, holds, 1);
        prop_assert_eq!(essence(&lazy), essence(&sending));
        let orderly = watched::<Strict>(&setup, holds, 2);
        prop_assert_eq!(essence(&lazy), essence(&orderly));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(paused.get() >= 40 && marked.get(), "{} of 120 paused", paused.get());
}
