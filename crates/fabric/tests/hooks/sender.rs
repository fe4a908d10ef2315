//! Hooks of the reaction point, and what QPs of a host share.

use crate::common::{
    BYTE, Build, FIRST, FULL, US, WIRE, ack_back, alone, balances, fct, line, one_way, port, run,
    star,
};
use crate::toy::{Basic, Emitting, Limited, Log, Meta, Plain, Receiver, Sender};
use crate::toy::{Switch, ToyScheme, parts};
use schemes::contract::{
    Ack, EmitCx, Header, HoldVerdict, HostCx, LinkRates, Packet, PacketKind, PathFacts, SendLimits,
};
use units::{Bytes, MixSide, PortId, Rate, Time};

// ---- on_send, Np::on_kept_data, on_ack, window ----

/// Stamps what it sends, and never sends again when an ACK does not bring back what the receiver
/// should have made of it.
struct Stamper {
    window: Bytes,
    rtt: Time,
}

impl Sender<Basic> for Stamper {
    fn limits(&self) -> SendLimits {
        SendLimits { window: self.window, ..SendLimits::UNLIMITED }
    }
    fn on_send(&mut self, _: &mut HostCx<'_, Basic>, data: &mut Header, meta: &mut Meta) {
        assert_eq!(data.kind, PacketKind::Data);
        meta.number = data.sequence * 7;
    }
    fn on_ack(&mut self, _: &mut HostCx<'_, Basic>, ack: &Ack<'_, Basic>) {
        let first = ack.next_expected - ack.newly_acked.get();
        let first_rtt = first == 0 || ack.rtt == self.rtt;
        let stamped = ack.meta.number == first * 7 + 1;
        if !stamped || !first_rtt || ack.next_to_send != ack.next_expected {
            self.window = Bytes::ZERO;
        }
    }
}

struct Adder;

impl Receiver<Basic> for Adder {
    fn on_kept_data(&mut self, _: &mut HostCx<'_, Basic>, _: &Header, meta: &mut Meta) {
        meta.number += 1;
    }
}

/// Protects the meta's way (sender, receiver, ACK), what an ACK says, and the window: with room for
/// one packet, one goes per round trip.
#[test]
fn a_stamp_comes_back_and_a_window_of_one_sends_a_packet_a_round_trip() {
    let mut setup = line(2, Rate::from_gbps(100), US);
    setup.message(0, 1, 10_000, Time::ZERO);
    let rtt = |bytes| one_way(bytes, 3) + ack_back(3);
    let full = Time::from_ps(rtt(FULL));
    let toy = parts()
        .sender(move |_, _, _| Stamper { window: Bytes::new(1), rtt: full })
        .receiver(|| Adder);
    let output = run::<Basic>(&setup, toy, 1);
    assert_eq!(fct(&output, 0), rtt(FIRST) + 9 * rtt(FULL));
}

// ---- rate, pacing, on_timer, not_before ----

/// Sends at 1 Gb/s (8 ns a byte) until 3 us, then at 2 Gb/s (4 ns a byte).
struct Doubler {
    rate: Rate,
    timer: Time,
}

impl Doubler {
    fn new() -> Doubler {
        Doubler { rate: Rate::from_gbps(1), timer: US * 3 }
    }
}

impl<S: ToyScheme> Sender<S> for Doubler {
    fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate, ..SendLimits::UNLIMITED }
    }
    fn next_timer(&self) -> Time {
        self.timer
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, S>) {
        assert_eq!(cx.now, US * 3);
        self.rate = Rate::from_gbps(2);
        self.timer = Time::NEVER;
    }
}

/// Protects pacing and its two meanings: a new rate counts from the next packet on, or at once.
#[test]
fn a_rate_change_moves_the_waiting_packet_only_where_it_is_wanted() {
    let mut setup = line(1, Rate::from_gbps(100), US);
    setup.message(0, 1, 3_000, Time::ZERO);
    let rest = one_way(FULL, 2) + ack_back(2);
    let patient = run::<Basic>(&setup, parts().sender(|_, _, _| Doubler::new()), 1);
    assert_eq!(fct(&patient, 0), FIRST * 8_000 + FULL * 4_000 + rest);
    // A packet that waits is sent as if the rate had always been the new one.
    let eager = run::<Limited>(&setup, parts().sender(|_, _, _| Doubler::new()), 1);
    assert_eq!(fct(&eager, 0), FIRST * 4_000 + FULL * 4_000 + rest);
}

/// Sends nothing before `hold_until`, and nothing before its timer opens the window.
struct Waiter {
    hold_until: Time,
    opens: Time,
}

impl Sender<Basic> for Waiter {
    fn limits(&self) -> SendLimits {
        let window = if self.opens == Time::NEVER { Bytes::UNLIMITED } else { Bytes::ZERO };
        SendLimits { window, not_before: self.hold_until, ..SendLimits::UNLIMITED }
    }
    fn next_timer(&self) -> Time {
        self.opens
    }
    fn on_timer(&mut self, _: &mut HostCx<'_, Basic>) {
        self.opens = Time::NEVER;
    }
}

/// Protects `not_before` and timers of senders: the later of the two decides, to the picosecond.
#[test]
fn nothing_leaves_before_it_may() {
    for (hold, opens) in [(0, 7_000_001), (10_000_003, 7_000_001), (5_000_000, 9_999_999)] {
        let mut setup = line(1, Rate::from_gbps(100), US);
        setup.message(0, 1, 5_000, US * 2);
        let toy = parts().sender(move |_, _, now| Waiter {
            hold_until: now + Time::from_ps(hold),
            opens: now + Time::from_ps(opens),
        });
        let output = run::<Basic>(&setup, toy, 1);
        assert_eq!(fct(&output, 0), alone(5, 2) + hold.max(opens));
    }
}

// ---- on_backlog, QP reuse ----

/// Writes down what it has to send, and when.
struct Clerk(Log<(Time, Option<u64>)>);

impl Sender<Basic> for Clerk {
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Basic>, left: Bytes) {
        self.0.push((cx.now, Some(left.get())));
    }
}

/// Protects the reports of the backlog, and that messages of a QP share one reaction point and
/// follow one another.
#[test]
fn a_reaction_point_is_told_of_messages_and_of_the_last_byte() {
    let mut setup = line(1, Rate::from_gbps(100), US);
    setup.message(0, 1, 3_000, US);
    setup.message(0, 1, 2_000, US);
    setup.message(0, 1, 500, US * 50);
    for message in &mut setup.messages {
        message.qp = 0;
    }
    let log = Log::default();
    let opened = log.clone();
    let toy = parts().sender(move |_, _, now| {
        opened.push((now, None));
        Clerk(opened.clone())
    });
    let output = run::<Basic>(&setup, toy, 1);
    let last_leaves = US + Time::from_ps((2 * FIRST + 2 * FULL) * BYTE);
    let expected = [
        (US, None),
        (US, Some(3_000)),
        (US, Some(5_000)),
        (last_leaves, Some(0)),
        (US * 50, Some(500)),
        (US * 50, Some(0)),
    ];
    assert_eq!(log.all(), expected);
    // Three packets, the first long, then two, the first long: on the second link each long one
    // holds up what follows.
    assert_eq!(fct(&output, 0), alone(3, 2));
    let second = (3 * FIRST + 3 * FULL) * BYTE + 2 * WIRE + ack_back(2);
    assert_eq!(fct(&output, 1), second);
}

// ---- on_retransmission_timeout, NACK ----

/// Halves its rate on a timeout.
struct Careful {
    rate: Rate,
    nacks: u32,
}

impl Sender<Emitting> for Careful {
    fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate, ..SendLimits::UNLIMITED }
    }
    fn on_ack(&mut self, _: &mut HostCx<'_, Emitting>, ack: &Ack<'_, Emitting>) {
        self.nacks += u32::from(ack.nack);
        assert!(self.nacks <= 1, "one gap, one NACK");
        assert!(!ack.nack || ack.next_expected == 2_000);
    }
    fn on_retransmission_timeout(&mut self, _: &mut HostCx<'_, Emitting>) {
        self.rate = Rate::from_gbps(50);
    }
}

/// Drops the data packet with sequence 2000 once.
struct DropOne {
    dropped: bool,
}

impl Switch<Emitting> for DropOne {
    fn on_arrival(
        &mut self,
        _: &mut EmitCx<'_, Emitting>,
        _: PortId,
        packet: &mut Packet<Emitting>,
    ) -> HoldVerdict {
        let header = &packet.header;
        if header.kind == PacketKind::Data && header.sequence == 2_000 && !self.dropped {
            self.dropped = true;
            return HoldVerdict::Drop;
        }
        HoldVerdict::Forward
    }
}

/// Protects go-back-N both ways, `Verdict::Drop` and its accounts: the packet dropped and the two
/// behind it are sent again after a NACK, or after the timeout, at the times worked out here.
#[test]
fn a_drop_is_mended_by_a_nack_or_by_the_timeout() {
    let timeout = 50_000_000;
    for nack in [true, false] {
        let mut setup = line(1, Rate::from_gbps(100), US);
        setup.message(0, 1, 5_000, Time::ZERO);
        setup.host.nack = nack;
        setup.host.retransmit_timeout = Time::from_ps(timeout);
        let toy = parts()
            .sender(|_, _, _| Careful { rate: Rate::from_gbps(100), nacks: 0 })
            .switch(|_| Some(DropOne { dropped: false }));
        let output = run::<Emitting>(&setup, toy, 1);
        let (begins, gap) = if nack {
            // Packet 4 has nothing before it on the second link: it tells of the gap.
            ((FIRST + 4 * FULL) * BYTE + 2 * WIRE + ack_back(2), FULL * BYTE)
        } else {
            // The ACK of packet 2 was the last progress.
            let progress = (2 * FIRST + FULL) * BYTE + 2 * WIRE + ack_back(2);
            (progress + timeout, 2 * FULL * BYTE)
        };
        let expected = begins + 2 * gap + one_way(FULL, 2) + ack_back(2);
        assert_eq!(fct(&output, 0), expected, "nack = {nack}");
        assert_eq!(output.flows[0].retransmitted_bytes, 3_000);
        assert_eq!(port(&output, 2, 0).dropped_packets, 1);
        assert_eq!((output.lossless_drops, output.audits[0].removed), (0, FULL));
        balances(&output).unwrap();
    }
}

// ---- Host state ----

/// The QPs of a host queue up: each holds 10 us longer than the one opened before it.
struct Queued {
    hold_until: Time,
}

impl Sender<Basic> for Queued {
    fn limits(&self) -> SendLimits {
        SendLimits { not_before: self.hold_until, ..SendLimits::UNLIMITED }
    }
}

/// Protects the state that QPs of a host share, and that hosts do not share it.
#[test]
fn queue_pairs_of_a_host_share_state() {
    let mut setup = star(4, Rate::from_gbps(100), US);
    for (src, dst) in [(0, 1), (0, 2), (0, 3), (2, 1)] {
        setup.message(src, dst, 5_000, Time::ZERO);
    }
    let toy = parts().sender(|host, _, _| {
        assert_eq!(host.facts.line_rate, Rate::from_gbps(100));
        host.number += 1;
        Queued { hold_until: US * 10 * host.number }
    });
    let output = run::<Basic>(&setup, toy, 1);
    for (flow, turn) in [(0, 1), (1, 2), (2, 3), (3, 1)] {
        // Flows 0 and 3 end at host 1 at the same time: they are two on its link.
        let alone = alone(5, 2) + turn * 10_000_000;
        let slack = if turn == 1 { (FIRST + 4 * FULL) * BYTE } else { 0 };
        assert!((alone..=alone + slack).contains(&fct(&output, flow)), "flow {flow}");
    }
}

// ---- facts ----

/// Protects what windows are computed from: rates and base round trips, worked out by hand.
#[test]
fn the_facts_of_a_path_are_right() {
    let mut setup = line(2, Rate::from_gbps(100), US);
    // Host 1 hangs on a slower and longer cable.
    let last = setup.links.last_mut().unwrap();
    (last.rate, last.delay) = (Rate::from_gbps(40), US * 3);
    setup.message(0, 1, 1_000, Time::ZERO);
    setup.host.latency = Time::from_ps(11);
    setup.switch.latency = Time::from_ps(700);
    let log = Log::default();
    let known = log.clone();
    let toy = parts().sender(move |_, path, _| {
        known.push(path.clone());
        Plain
    });
    run::<Basic>(&setup, toy, 1);
    // 40 Gb/s: 200 ps a byte. Two switches and a host each way.
    let latencies = 2 * (2 * 700 + 11);
    let bytes = (FULL + 86) * (80 + 80 + 200);
    let rtt = Time::from_ps(bytes + 2 * 5_000_000 + latencies);
    let facts = PathFacts {
        side: MixSide::First,
        receiver: 1,
        line_rate: Rate::from_gbps(100),
        bottleneck_rate: Rate::from_gbps(40),
        base_rtt: rtt,
        network_rtt: rtt,
        network_bdp: Rate::from_gbps(100).bytes_in(rtt),
        switches: 2,
        payload: Bytes::new(1_000),
        packet_bytes: Bytes::new(FULL),
        rates: LinkRates::new([Rate::from_gbps(100), Rate::from_gbps(40)]),
    };
    assert_eq!(log.all(), [facts]);
}
