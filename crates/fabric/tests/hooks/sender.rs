//! Hooks of the reaction point, and what QPs of a host share.

use crate::common::{Build, FIRST, FULL, US, balances, fct, line, port, run, star};
use crate::toy::{BYTE, LineRate, Log, Plain, WIRE};
use crate::toy::{ack_back, alone, no_cp, no_host, one_way, toy};
use schemes::contract::{
    Absent, Ack, Cp, Header, HostCx, HostFacts, LinkRates, LocalCx, NoCtl, Np, OnArrival, Pacing,
    Packet, PacketKind, PathFacts, PlainReceiver, PlainSwitch, PortFacts, PortLocal, Present, Rp,
    RpTimer, Scheme, SendLimits, SwitchFacts, Verdict,
};
use units::{Bytes, PortId, Rate, Time};

// ---- on_send, Np::on_in_order_data, on_ack, window ----

toy! {
    /// Stamps what it sends, and never sends again when an ACK does not bring back what the
    /// receiver should have made of it.
    Stamping: Time, u64, NoCtl, (), Stamper, Adder, PlainSwitch;
    no_host!();
    no_cp!();
}

#[derive(Debug)]
struct Stamper {
    window: Bytes,
    rtt: Time,
}

impl Rp<Stamping> for Stamper {
    type Timer = Absent;
    fn open(rtt: &Plain<Time>, _: &mut (), _: &PathFacts, _: Time) -> Stamper {
        Stamper { window: Bytes::new(1), rtt: rtt.0 }
    }
    fn limits(&self) -> SendLimits {
        SendLimits { window: self.window, ..SendLimits::UNLIMITED }
    }
    fn on_send(&mut self, _: &mut HostCx<'_, Stamping>, data: &mut Header, meta: &mut u64) {
        assert_eq!(data.kind, PacketKind::Data);
        *meta = data.sequence * 7;
    }
    fn on_ack(&mut self, _: &mut HostCx<'_, Stamping>, ack: &Ack<'_, Stamping>) {
        let first = ack.next_expected - ack.newly_acked.get();
        let first_rtt = first == 0 || ack.rtt == self.rtt;
        if *ack.meta != first * 7 + 1 || !first_rtt || ack.next_to_send != ack.next_expected {
            self.window = Bytes::ZERO;
        }
    }
}

#[derive(Debug)]
struct Adder;

impl Np<Stamping> for Adder {
    type Timer = Absent;
    fn open(_: &Plain<Time>, _: &mut (), _: Time) -> Adder {
        Adder
    }
    fn on_in_order_data(&mut self, _: &mut HostCx<'_, Stamping>, _: &Header, meta: &mut u64) {
        *meta += 1;
    }
}

/// Protects the meta's way (sender, receiver, ACK), what an ACK says, and the window: with room for
/// one packet, one goes per round trip.
#[test]
fn a_stamp_comes_back_and_a_window_of_one_sends_a_packet_a_round_trip() {
    let mut setup = line(2, Rate::from_gbps(100), US);
    setup.message(0, 1, 10_000, Time::ZERO);
    let rtt = |bytes| one_way(bytes, 3) + ack_back(3);
    let output = run::<Stamping>(&setup, Plain(Time::from_ps(rtt(FULL))), 1);
    assert_eq!(fct(&output, 0), rtt(FIRST) + 9 * rtt(FULL));
}

// ---- rate, PACING, on_timer, not_before ----

toy! {
    /// Sends at 1 Gb/s (8 ns a byte) until 3 us, then at 2 Gb/s (4 ns a byte).
    Doubling: (), (), NoCtl, (), Doubler<false>, PlainReceiver, PlainSwitch;
    no_host!();
    no_cp!();
}
toy! {
    /// The same, and a packet that waits is sent as if the rate had always been the new one.
    Repacing: (), (), NoCtl, (), Doubler<true>, PlainReceiver, PlainSwitch;
    no_host!();
    no_cp!();
}

#[derive(Debug)]
struct Doubler<const REPACE: bool> {
    rate: Rate,
    timer: Time,
}

impl<S, const REPACE: bool> Rp<S> for Doubler<REPACE>
where
    S: Scheme,
{
    type Timer = Present;
    const PACING: Pacing = if REPACE { Pacing::Continuous } else { Pacing::FromNextPacket };
    fn open(_: &S::Params, _: &mut S::Host, _: &PathFacts, _: Time) -> Self {
        Doubler { rate: Rate::from_gbps(1), timer: US * 3 }
    }
    fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate, ..SendLimits::UNLIMITED }
    }
}

impl<S, const REPACE: bool> RpTimer<S> for Doubler<REPACE>
where
    S: Scheme,
{
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
    let patient = run::<Doubling>(&setup, Plain(()), 1);
    assert_eq!(fct(&patient, 0), FIRST * 8_000 + FULL * 4_000 + rest);
    let eager = run::<Repacing>(&setup, Plain(()), 1);
    assert_eq!(fct(&eager, 0), FIRST * 4_000 + FULL * 4_000 + rest);
}

toy! {
    /// Sends nothing before `not_before`, and nothing before its timer opens the window.
    Waiting: (Time, Time), (), NoCtl, (), Waiter, PlainReceiver, PlainSwitch;
    no_host!();
    no_cp!();
}

#[derive(Debug)]
struct Waiter {
    hold_until: Time,
    opens: Time,
}

impl Rp<Waiting> for Waiter {
    type Timer = Present;
    fn open(times: &Plain<(Time, Time)>, _: &mut (), _: &PathFacts, now: Time) -> Waiter {
        Waiter { hold_until: now + times.0.0, opens: now + times.0.1 }
    }
    fn limits(&self) -> SendLimits {
        let window = if self.opens == Time::NEVER { Bytes::UNLIMITED } else { Bytes::ZERO };
        SendLimits { window, not_before: self.hold_until, ..SendLimits::UNLIMITED }
    }
}

impl RpTimer<Waiting> for Waiter {
    fn next_timer(&self) -> Time {
        self.opens
    }
    fn on_timer(&mut self, _: &mut HostCx<'_, Waiting>) {
        self.opens = Time::NEVER;
    }
}

/// Protects `not_before` and timers of senders: the later of the two decides, to the picosecond.
#[test]
fn nothing_leaves_before_it_may() {
    for (hold, opens) in [(0, 7_000_001), (10_000_003, 7_000_001), (5_000_000, 9_999_999)] {
        let mut setup = line(1, Rate::from_gbps(100), US);
        setup.message(0, 1, 5_000, US * 2);
        let times = (Time::from_ps(hold), Time::from_ps(opens));
        let output = run::<Waiting>(&setup, Plain(times), 1);
        assert_eq!(fct(&output, 0), alone(5, 2) + hold.max(opens));
    }
}

// ---- on_backlog, QP reuse ----

toy! {
    /// Writes down when QPs open and what they have to send.
    Backlogged: Log<(Time, Option<u64>)>, (), NoCtl, (), Clerk, PlainReceiver, PlainSwitch;
    no_host!();
    no_cp!();
}

#[derive(Debug)]
struct Clerk;

impl Rp<Backlogged> for Clerk {
    type Timer = Absent;
    fn open(log: &<Backlogged as Scheme>::Params, _: &mut (), _: &PathFacts, now: Time) -> Clerk {
        log.0.push((now, None));
        Clerk
    }
    fn limits(&self) -> SendLimits {
        SendLimits::UNLIMITED
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Backlogged>, left: Bytes) {
        cx.params.0.push((cx.now, Some(left.get())));
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
    let output = run::<Backlogged>(&setup, Plain(log.clone()), 1);
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

toy! {
    /// The switch drops the data packet with sequence 2000 once; a sender that times out halves its
    /// rate.
    Losing: (), (), NoCtl, (), Careful, PlainReceiver, DropOne;
    no_host!();
    fn congestion_point(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<DropOne> {
        Some(DropOne { dropped: false })
    }
}

#[derive(Debug)]
struct Careful {
    rate: Rate,
    nacks: u32,
}

impl Rp<Losing> for Careful {
    type Timer = Absent;
    fn open(_: &Plain<()>, _: &mut (), _: &PathFacts, _: Time) -> Careful {
        Careful { rate: Rate::from_gbps(100), nacks: 0 }
    }
    fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate, ..SendLimits::UNLIMITED }
    }
    fn on_ack(&mut self, _: &mut HostCx<'_, Losing>, ack: &Ack<'_, Losing>) {
        self.nacks += u32::from(ack.nack);
        assert!(self.nacks <= 1, "one gap, one NACK");
        assert!(!ack.nack || ack.next_expected == 2_000);
    }
    fn on_retransmission_timeout(&mut self, _: &mut HostCx<'_, Losing>) {
        self.rate = Rate::from_gbps(50);
    }
}

#[derive(Debug)]
struct DropOne {
    dropped: bool,
}

impl Cp<Losing> for DropOne {
    type Level = PortLocal;
    type Port = ();
    schemes::hooks!(arrivals);
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
}

impl OnArrival<Losing> for DropOne {
    fn on_arrival(&mut self, _: &mut LocalCx, _: PortId, packet: &mut Packet<Losing>) -> Verdict {
        let header = &packet.header;
        if header.kind == PacketKind::Data && header.sequence == 2_000 && !self.dropped {
            self.dropped = true;
            return Verdict::Drop;
        }
        Verdict::Forward
    }
}

/// Protects go-back-N both ways, [`Verdict::Drop`] and its accounts: the packet dropped and the two
/// behind it are sent again after a NACK, or after the timeout, at the times worked out here.
#[test]
fn a_drop_is_mended_by_a_nack_or_by_the_timeout() {
    let timeout = 50_000_000;
    for nack in [true, false] {
        let mut setup = line(1, Rate::from_gbps(100), US);
        setup.message(0, 1, 5_000, Time::ZERO);
        setup.host.nack = nack;
        setup.host.retransmit_timeout = Time::from_ps(timeout);
        let output = run::<Losing>(&setup, Plain(()), 1);
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

toy! {
    /// The QPs of a host queue up: each holds 10 us longer than the one opened before it.
    Sharing: (), (), NoCtl, u64, Queued, PlainReceiver, PlainSwitch;
    no_cp!();
    fn host(_: &Plain<()>, facts: &HostFacts) -> u64 {
        assert_eq!(facts.line_rate, Rate::from_gbps(100));
        0
    }
}

#[derive(Debug)]
struct Queued {
    hold_until: Time,
}

impl Rp<Sharing> for Queued {
    type Timer = Absent;
    fn open(_: &Plain<()>, opened: &mut u64, _: &PathFacts, _: Time) -> Queued {
        *opened += 1;
        Queued { hold_until: US * 10 * *opened }
    }
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
    let output = run::<Sharing>(&setup, Plain(()), 1);
    for (flow, turn) in [(0, 1), (1, 2), (2, 3), (3, 1)] {
        // Flows 0 and 3 end at host 1 at the same time: they are two on its link.
        let alone = alone(5, 2) + turn * 10_000_000;
        let slack = if turn == 1 { (FIRST + 4 * FULL) * BYTE } else { 0 };
        assert!((alone..=alone + slack).contains(&fct(&output, flow)), "flow {flow}");
    }
}

// ---- facts ----

toy! {
    /// Writes down what a reaction point may know of its path.
    Knowing: Log<PathFacts>, (), NoCtl, (), Knower, PlainReceiver, PlainSwitch;
    no_host!();
    no_cp!();
}

#[derive(Debug)]
struct Knower(LineRate);

impl Rp<Knowing> for Knower {
    type Timer = Absent;
    fn open(log: &Plain<Log<PathFacts>>, host: &mut (), path: &PathFacts, now: Time) -> Knower {
        log.0.push(path.clone());
        Knower(<LineRate as Rp<Knowing>>::open(log, host, path, now))
    }
    fn limits(&self) -> SendLimits {
        <LineRate as Rp<Knowing>>::limits(&self.0)
    }
}

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
    run::<Knowing>(&setup, Plain(log.clone()), 1);
    // 40 Gb/s: 200 ps a byte. Two switches and a host each way.
    let latencies = 2 * (2 * 700 + 11);
    let bytes = (FULL + 86) * (80 + 80 + 200);
    let rtt = Time::from_ps(bytes + 2 * 5_000_000 + latencies);
    let facts = PathFacts {
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
