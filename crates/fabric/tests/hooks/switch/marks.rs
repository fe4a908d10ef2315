//! Marks: what a hook at enqueue sees, and a congestion point's word on RED.

use super::{is_data, two_in_step};
use crate::common::{BYTE, Build, FULL, G100, US, WIRE, port, run, star};
use crate::toy::{Basic, Enqueuing, Log, Parts, Port, Sender, Switch, parts};
use fabric::{EcnConfig, EcnLaw};
use schemes::contract::{Ack, EcnCodePoint, HostCx, LocalCx, Packet, PortView};
use units::{Bytes, Time};

// ---- on_enqueue ----

/// Writes down the marks.
struct MarkReader(Log<u64>);

impl Sender<Enqueuing> for MarkReader {
    fn on_ack(&mut self, _: &mut HostCx<'_, Enqueuing>, ack: &Ack<'_, Enqueuing>) {
        if ack.echo == EcnCodePoint::CongestionExperienced {
            self.0.push(ack.next_expected);
        }
    }
}

/// Marks what finds 5000 B waiting, or the second packet of each eight.
struct Marker {
    at_queue: bool,
}

impl Switch<Enqueuing> for Marker {
    fn on_enqueue(
        &mut self,
        _: &mut LocalCx,
        _: &mut Port,
        view: &PortView,
        packet: &mut Packet<Enqueuing>,
    ) {
        assert!(view.class_bytes <= view.queue_bytes);
        let is_second = { packet.header.sequence } / 1_000 % 8 == 1;
        let wanted = if self.at_queue { view.class_bytes >= 5_000 } else { is_second };
        if is_data(packet) && wanted {
            packet.header.code_point = EcnCodePoint::CongestionExperienced;
        }
    }
}

/// What switches mark, and the log of the marks that come back to the sender.
fn marking(at_queue: bool) -> (Parts<Enqueuing>, Log<u64>) {
    let log = Log::default();
    let marks = log.clone();
    let toy = parts()
        .sender(move |_, _, _| MarkReader(marks.clone()))
        .switch(move |_| Some(Marker { at_queue }));
    (toy, log)
}

/// Protects what a hook at enqueue sees (the packet at hand not counted, departures before now
/// gone, those at this very time not), and the mark's way back to the sender.
#[test]
fn a_mark_at_enqueue_reaches_the_sender() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 20_000, Time::ZERO);
    setup.message(1, 2, 20_000, Time::ZERO);
    let (toy, log) = marking(true);
    run::<Enqueuing>(&setup, toy, 1);
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
        let (toy, log) = marking(false);
        run::<Enqueuing>(&setup, toy, 1);
        let echoed: Vec<u64> = expected.into_iter().filter(|bytes| *bytes > 0).collect();
        assert_eq!(log.all(), echoed, "an ACK for {ack_every}");
    }
}

// ---- may_mark ----

/// RED may mark the second half of each message.
struct Sparer;

impl Switch<Basic> for Sparer {
    fn may_mark(&self, _: &PortView, packet: &Packet<Basic>) -> bool {
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
        let toy = parts().switch(|facts| {
            // What a scheme may know of a port, with fixed thresholds and RED as set up here.
            let port = &facts.ports[2];
            assert_eq!((port.resume_offset, port.kmin), (Bytes::new(2_000), [Bytes::ZERO; 8]));
            assert_eq!(port.transit, Time::from_ps(FULL * BYTE + WIRE));
            Some(Sparer)
        });
        let output = run::<Basic>(&setup, toy, 1);
        assert_eq!(port(&output, 3, 2).ecn_marked_packets, marked);
    }
}
