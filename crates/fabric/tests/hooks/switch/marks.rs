//! Marks: what a hook at enqueue sees, and a congestion point's word on RED.

use super::{is_data, two_in_step};
use crate::common::{Build, FULL, G100, US, port, run, star};
use crate::toy::{BYTE, LineRate, Log, Plain, WIRE, no_host, toy};
use fabric::{EcnConfig, EcnLaw};
use schemes::contract::{
    Absent, Ack, Cp, EcnCodePoint, HostCx, LocalCx, NoCtl, OnEnqueue, Packet, PathFacts,
    PlainReceiver, PortFacts, PortLocal, PortView, Rp, SendLimits, SwitchFacts,
};
use units::{Bytes, Time};

// ---- on_enqueue ----

toy! {
    /// The switch marks what finds 5000 B waiting, or the second packet of each eight; the sender writes
    /// down the marks.
    Marking: Marks, (), NoCtl, (), MarkReader, PlainReceiver, Marker;
    no_host!();
    fn congestion_point(marks: &Plain<Marks>, _: &SwitchFacts<'_>) -> Option<Marker> {
        Some(Marker { at_queue: marks.0.at_queue })
    }
}

#[derive(Clone, Debug)]
struct Marks {
    log: Log<u64>,
    at_queue: bool,
}

#[derive(Debug)]
struct MarkReader;

impl Rp<Marking> for MarkReader {
    type Timer = Absent;
    fn open(_: &Plain<Marks>, _: &mut (), _: &PathFacts, _: Time) -> MarkReader {
        MarkReader
    }
    fn limits(&self) -> SendLimits {
        SendLimits::UNLIMITED
    }
    fn on_ack(&mut self, cx: &mut HostCx<'_, Marking>, ack: &Ack<'_, Marking>) {
        if ack.echo == EcnCodePoint::CongestionExperienced {
            cx.params.0.log.push(ack.next_expected);
        }
    }
}

#[derive(Debug)]
struct Marker {
    at_queue: bool,
}

impl Cp<Marking> for Marker {
    type Level = PortLocal;
    type Port = ();
    schemes::hooks!(enqueues);
    fn port(&self, _: &Plain<Marks>, _: &PortFacts) {}
}

impl OnEnqueue<Marking> for Marker {
    fn on_enqueue(
        &mut self,
        _: &mut LocalCx,
        _: &mut (),
        view: &PortView,
        packet: &mut Packet<Marking>,
    ) {
        assert!(view.class_bytes <= view.queue_bytes);
        let is_second = { packet.header.sequence } / 1_000 % 8 == 1;
        let wanted = if self.at_queue { view.class_bytes >= 5_000 } else { is_second };
        if is_data(packet) && wanted {
            packet.header.code_point = EcnCodePoint::CongestionExperienced;
        }
    }
}

/// Protects what a hook at enqueue sees (the packet at hand not counted, departures before now
/// gone, those at this very time not), and the mark's way back to the sender.
#[test]
fn a_mark_at_enqueue_reaches_the_sender() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 20_000, Time::ZERO);
    setup.message(1, 2, 20_000, Time::ZERO);
    let log = Log::default();
    run::<Marking>(&setup, Plain(Marks { log: log.clone(), at_queue: true }), 1);
    let packets = two_in_step(20);
    let marked = (0..packets.len())
        .filter(|&at| {
            let earlier = packets[..at].iter().filter(|packet| packet.1 >= packets[at].0);
            earlier.map(|packet| packet.2).sum::<u64>() >= 5_000
        })
        .count();
    assert!((20..36).contains(&marked), "the case is one where some are marked: {marked}");
    assert_eq!(log.all().len(), marked);
}

/// Protects marks where there is not an ACK for each packet.
#[test]
fn an_ack_echoes_the_marks_of_all_that_it_acknowledges() {
    for (ack_every, expected) in
        [(1, [2_000, 10_000, 18_000]), (4, [4_000, 12_000, 20_000]), (16, [16_000, 20_000, 0])]
    {
        let mut setup = star(2, G100, US);
        setup.host.ack_every = ack_every;
        setup.message(0, 1, 20_000, Time::ZERO);
        let log = Log::default();
        run::<Marking>(&setup, Plain(Marks { log: log.clone(), at_queue: false }), 1);
        let echoed: Vec<u64> = expected.into_iter().filter(|bytes| *bytes > 0).collect();
        assert_eq!(log.all(), echoed, "an ACK for {ack_every}");
    }
}

// ---- may_mark ----

toy! {
    /// RED may mark the second half of each message.
    Sparing: (), (), NoCtl, (), LineRate, PlainReceiver, Sparer;
    no_host!();
    fn congestion_point(_: &Plain<()>, facts: &SwitchFacts<'_>) -> Option<Sparer> {
        // What a scheme may know of a port, with fixed thresholds and RED as set up below.
        let port = &facts.ports[2];
        assert_eq!((port.resume_offset, port.kmin), (Bytes::new(2_000), Bytes::ZERO));
        assert_eq!(port.transit, Time::from_ps(FULL * BYTE + WIRE));
        Some(Sparer)
    }
}

#[derive(Debug)]
struct Sparer;

impl Cp<Sparing> for Sparer {
    type Level = PortLocal;
    type Port = ();
    schemes::hooks!();
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
    fn may_mark(&self, _: &(), _: &PortView, packet: &Packet<Sparing>, _: Time) -> bool {
        packet.header.sequence >= 10_000
    }
}

/// Protects a congestion point's word on RED, where marks are made on leaving and on joining.
#[test]
fn red_marks_only_where_the_congestion_point_lets_it() {
    for (at_enqueue, marked) in [(false, 19), (true, 20)] {
        let mut setup = star(3, G100, US);
        setup.message(0, 2, 20_000, Time::ZERO);
        setup.message(1, 2, 20_000, Time::ZERO);
        // All that see anything waiting; on leaving, the last packet sees nothing.
        let (kmin, kmax) = (Bytes::ZERO, Bytes::ZERO);
        setup.ecn = Some(EcnConfig {
            law: EcnLaw { kmin, kmax, pmax: 1.0 },
            at: None,
            by_rate: Vec::new(),
            at_enqueue,
        });
        let output = run::<Sparing>(&setup, Plain(()), 1);
        assert_eq!(port(&output, 3, 2).ecn_marked_packets, marked);
    }
}
