//! THEMIS over HPCC on sequences worked out by hand, and its order under random ones.

use crate::external::{AFAR, INSIDE, ports, us};
use proptest::prelude::*;
use schemes::contract::{
    Ack, Address, Cp, Ctl, Departure, EcnCodePoint, Emits, Flags, FullCx, Header, HoldVerdict,
    HostCx, HostLocation, Level, LinkRates, OnArrivalOrHold, OnEnqueue, Packet, PacketKind,
    PathFacts, PortFacts, PortView, QpEnd, Rp, Scheme, SendLimits, SwitchEffect, SwitchFacts,
};
use schemes::hpcc::{self, BaseRtt, Hpcc, HpccParams};
use schemes::int::IntStack;
use schemes::params::{Params, Value};
use schemes::registry::params_of;
use schemes::testing::{self, record};
use schemes::themis::over_hpcc::{
    Notice, Port, Sender, Switch, ThemisHpcc, ThemisHpccParams, ThemisMeta,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{Bytes, NodeId, PortId, Rate, Time};

type Scheme8 = ThemisHpcc<8>;
type Int = IntStack<8>;

const LINE: Rate = Rate::from_gbps(100);
/// A resubmission of 1048 bytes at 1.6 Tb/s, alone.
const PASS: Time = Time::from_ps(1_005_240);

fn params(changes: &[(&str, Value)]) -> ThemisHpccParams {
    let changes: Vec<(String, Value)> =
        changes.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    params_of::<Scheme8>("themis+hpcc", LINE, &changes).unwrap()
}

fn header(kind: PacketKind, flow: u32, sequence: u64) -> Header {
    Header {
        address: Address { src: 1, dst: 0, flow, receiver_slot: flow, ..Address::default() },
        sequence,
        sent_at: Time::ZERO,
        size: 1048,
        payload: if kind == PacketKind::Data { 1000 } else { 0 },
        ingress: if kind == PacketKind::Data { AFAR } else { INSIDE },
        kind,
        priority: 3,
        code_point: EcnCodePoint::NotMarked,
        echo: EcnCodePoint::NotMarked,
        flags: Flags::ACK_REQUESTED | Flags::TO_SOURCE.when(kind != PacketKind::Data),
    }
}

fn packet(kind: PacketKind, flow: u32, sequence: u64, int: Int) -> Packet<Scheme8> {
    let mut carried = ThemisMeta::default();
    carried.int = int;
    Packet::with_meta(header(kind, flow, sequence), carried)
}

fn data(flow: u32, sequence: u64) -> Packet<Scheme8> {
    packet(PacketKind::Data, flow, sequence, Int::default())
}

fn int_of(packet: &Packet<Scheme8>) -> Int {
    packet.meta().expect("it carries records").int
}

/// The records of a path of one port of 100 Gb/s at node `node`.
fn one_hop(node: u32, time: Time, sent: u64, queue: u64) -> Int {
    let mut int = Int::default();
    int.push(NodeId::new(node), PortId::new(0), record(LINE, time, sent, queue));
    int
}

/// An external switch, and what it sends.
struct External {
    cp: Switch<8>,
    ports: Vec<Port>,
    effects: Vec<SwitchEffect<Notice<8>>>,
}

impl External {
    fn new(params: &ThemisHpccParams) -> External {
        External::with_ports(params, &ports())
    }

    fn with_ports(params: &ThemisHpccParams, facts: &[PortFacts]) -> External {
        let place = HostLocation {
            tor: NodeId::new(2),
            rack: 0,
            pod: 0,
            rate: Rate::from_gbps(400),
            ports: 1,
        };
        let switch = SwitchFacts {
            node: NodeId::new(48),
            tier: 3,
            ports: facts,
            // The sender has a port of 100 Gb/s, the receiver one of 400.
            hosts: &[place, HostLocation { rate: LINE, ..place }],
            network_rtt: us(1012),
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([]),
            seed: 1,
        };
        let cp = Scheme8::congestion_point(params, &switch).expect("all switches stamp");
        let ports = facts.iter().map(|facts| cp.port(params, facts)).collect();
        External { cp, ports, effects: Vec::new() }
    }

    fn arrives(&mut self, now: Time, port: u16, packet: &mut Packet<Scheme8>) -> HoldVerdict {
        packet.header.ingress = port;
        let mut cx = Emits::arrive(FullCx::new(now, &mut self.effects, &[]));
        self.cp.on_arrival(&mut cx, PortId::new(port), packet)
    }

    /// The packet joins the queue of a port, where 5000 bytes wait, and leaves 1 us later.
    fn leaves(&mut self, now: Time, port: u16, packet: &mut Packet<Scheme8>) {
        let view = PortView {
            port: PortId::new(port),
            rate: Rate::from_gbps(if port == AFAR { 1600 } else { 400 }),
            queue_bytes: 5_000,
            class_bytes: 5_000,
            tx_bytes: 77_000,
            last_departure: Time::ZERO,
        };
        let state = &mut self.ports[usize::from(port)];
        let mut cx = Emits::arrive(FullCx::new(now, &mut self.effects, &[]));
        self.cp.on_enqueue(&mut cx, state, &view, packet);
        let departure = Departure { now: now + us(1), effects: &mut self.effects, views: &[] };
        self.cp.on_depart(&mut Emits::depart::<Scheme8>(departure), state, &view, packet);
    }

    /// ACKs of its own since the last call, all to the source.
    fn notices(&mut self) -> Vec<Notice<8>> {
        let made = self.effects.drain(..);
        made.map(|effect| match effect {
            SwitchEffect::ToHost(_, QpEnd::Sender, notice) => notice,
            other => panic!("{other:?}"),
        })
        .collect()
    }

    /// An ACK from inside up to `next`, with these records; what it goes on with.
    fn acknowledged(&mut self, now: Time, flow: u32, next: u64, int: Int) -> Int {
        let mut ack = packet(PacketKind::Ack, flow, next, int);
        assert_eq!(self.arrives(now, INSIDE, &mut ack), HoldVerdict::Forward);
        int_of(&ack)
    }

    /// When a packet that comes from afar at `now` goes on, and after how many resubmissions.
    fn goes_on(&mut self, mut now: Time, packet: &mut Packet<Scheme8>) -> (Time, u32) {
        let mut passes = 0;
        while let HoldVerdict::Hold(until) = self.arrives(now, AFAR, packet) {
            assert!(until > now && passes < 10_000);
            (now, passes) = (until, passes + 1);
        }
        (now, passes)
    }

    /// Has flow 1 go through a loop of 6 us, whose only port is full and has `queue` bytes waiting.
    /// Ends at 12 us.
    fn meets(&mut self, queue: u64) {
        assert_eq!(self.goes_on(us(0), &mut data(1, 0)), (us(0), 0));
        assert_eq!(self.goes_on(us(6), &mut data(1, 1000)), (us(6), 0));
        self.acknowledged(us(6), 1, 1000, one_hop(7, us(3), 0, queue));
        let told = self.acknowledged(us(12), 1, 2000, one_hop(7, us(9), 75_000, queue));
        assert_eq!(told.hops(), 0, "it is handled here");
    }
}

#[test]
fn inner_switches_stamp_and_no_more() {
    let mut inner = External::with_ports(&params(&[]), &ports()[..1]);
    let mut packet = data(1, 0);
    assert_eq!(inner.arrives(us(1), INSIDE, &mut packet), HoldVerdict::Forward);
    inner.leaves(us(1), INSIDE, &mut packet);
    let record = record(Rate::from_gbps(400), us(2), 77_000, 5_000);
    assert!(int_of(&packet).records().eq([record]));
    assert_eq!(inner.notices().len(), 0);
}

#[test]
fn records_of_the_first_half_are_turned_round_and_emptied() {
    let mut external = External::new(&params(&[]));
    let before = record(LINE, us(1), 1_000, 2_000);
    let mut sent = packet(PacketKind::Data, 1, 4_000, one_hop(7, us(1), 1_000, 2_000));
    sent.header.sent_at = Time::from_ns(300);
    assert_eq!(external.arrives(us(4), INSIDE, &mut sent), HoldVerdict::Forward);
    external.leaves(us(4), AFAR, &mut sent);
    assert_eq!(int_of(&sent), Int::default(), "the other half begins with nothing");
    let notices = external.notices();
    let [notice] = &notices[..] else { panic!("one, not {}", notices.len()) };
    // The port of the long link is part of the first half.
    let own = record(Rate::from_gbps(1600), us(4), 77_000, 5_000);
    assert!(notice.int.records().eq([before, own]));
    assert_eq!((notice.end, notice.sent_at), (5_000, Time::from_ns(300)));
    assert_eq!(notice.frame_bytes(), 66 + 2 + 8 * 8, "as large as an ACK with INT");

    // As receivers do: where no ACK is asked for, none is made.
    let mut sent = packet(PacketKind::Data, 1, 5_000, one_hop(7, us(2), 2_000, 0));
    sent.header.flags.set(Flags::ACK_REQUESTED, false);
    external.arrives(us(5), INSIDE, &mut sent);
    external.leaves(us(5), AFAR, &mut sent);
    assert_eq!((int_of(&sent), external.notices().len()), (Int::default(), 0));

    // What only passes through keeps its records and gets one more.
    let mut passing = packet(PacketKind::Data, 2, 0, one_hop(7, us(1), 1_000, 2_000));
    external.arrives(us(6), AFAR, &mut passing);
    external.leaves(us(6), AFAR, &mut passing);
    assert_eq!((int_of(&passing).hops(), external.notices().len()), (2, 0));

    let mut external = External::new(&params(&[("notify", Value::Flag(false))]));
    let mut sent = packet(PacketKind::Data, 1, 0, one_hop(7, us(1), 1_000, 2_000));
    external.arrives(us(4), INSIDE, &mut sent);
    external.leaves(us(4), AFAR, &mut sent);
    assert_eq!((int_of(&sent).hops(), external.notices().len()), (2, 0));
}

#[test]
fn acks_from_inside_set_the_pace() {
    let mut external = External::new(&params(&[]));
    // T is 6 us and W_init 75,000 B. A full port, and a queue of a BDP: U = 2, and W is 75,000 / (2
    // / 0.95) and W_AI = 37.5, so 35,662.5 B: 47.55 Gb/s.
    external.meets(75_000);
    // 1048 B take 176.32 ns at that pace, and it is free at 20 us: of 7 packets at once the first
    // goes, those due within a pass after that, and the seventh, due at 1.058 us, after two.
    let packets: Vec<_> = (2..9).map(|number| data(1, number * 1_000)).collect();
    let mut waiting = Vec::new();
    for (number, mut packet) in packets.into_iter().enumerate() {
        match external.arrives(us(20), AFAR, &mut packet) {
            HoldVerdict::Forward => assert_eq!(number, 0),
            HoldVerdict::Hold(until) => waiting.push((until, packet)),
            other => panic!("{other:?}"),
        }
    }
    // One packet of them is resubmitted, the others wait for it.
    assert!(waiting.iter().all(|(until, _)| *until == us(20) + PASS), "{waiting:?}");
    let passes: Vec<u32> =
        waiting.iter_mut().map(|(until, packet)| external.goes_on(*until, packet).1).collect();
    assert_eq!(passes, [0, 0, 0, 0, 0, 1]);
    // Another flow is not blocked.
    assert_eq!(external.goes_on(us(30), &mut data(2, 0)), (us(30), 0));
}

#[test]
fn a_half_without_congestion_blocks_nothing() {
    let mut external = External::new(&params(&[]));
    assert_eq!(external.goes_on(us(0), &mut data(1, 0)).1, 0);
    external.acknowledged(us(6), 1, 1000, one_hop(7, us(3), 0, 0));
    for number in 1..20 {
        let at = us(6 * number);
        assert_eq!(external.goes_on(at, &mut data(1, 1_000 * number)).1, 0);
        assert_eq!(external.goes_on(at, &mut data(1, 1_000 * number)).1, 0, "nor two at once");
        let int = one_hop(7, us(3 + 6 * number), 1_048 * number, 0);
        external.acknowledged(us(6 + 6 * number), 1, 1_000 * (number + 1), int);
    }
}

#[test]
fn t_is_the_least_round_trip_and_no_retransmission_counts() {
    let mut external = External::new(&params(&[]));
    external.meets(0);
    // The sender goes back, and the ACK of what went before comes at once: no loop of a nanosecond.
    external.goes_on(us(13), &mut data(1, 2_000));
    external.goes_on(us(14), &mut data(1, 2_000));
    let now = us(14) + Time::from_ns(1);
    external.acknowledged(now, 1, 3_000, one_hop(7, us(12), 110_000, 75_000));
    // With T = 6 us a packet still takes less than a pass; with a nanosecond it would take 84 us,
    // that of the least rate.
    external.acknowledged(us(16), 1, 3_100, one_hop(7, us(13), 122_500, 75_000));
    assert_eq!(external.goes_on(us(20), &mut data(1, 3_000)).1, 0);
    assert_eq!(external.goes_on(us(20), &mut data(1, 4_000)).1, 1);
}

#[test]
fn without_a_reaction_point_acks_pass_as_they_are() {
    for (react, port) in [(false, INSIDE), (true, AFAR)] {
        let mut external = External::new(&params(&[("react", Value::Flag(react))]));
        let int = one_hop(7, us(3), 0, 75_000);
        for number in 0..4 {
            assert_eq!(external.goes_on(us(6 * number), &mut data(1, 1_000 * number)).1, 0);
            let mut ack = packet(PacketKind::Ack, 1, 1_000 * (number + 1), int);
            assert_eq!(external.arrives(us(6 * number + 6), port, &mut ack), HoldVerdict::Forward);
            assert_eq!(int_of(&ack), int);
        }
    }
}

#[test]
fn records_from_before_the_long_link_stay_on_acks() {
    // Without notification points data comes with the records of the first half.
    let mut external = External::new(&params(&[]));
    let first = one_hop(5, us(1), 9_000, 1_234);
    let second = |time, sent| {
        let mut both = first;
        both.push(NodeId::new(7), PortId::new(0), record(LINE, time, sent, 75_000));
        both
    };
    for number in 0..2 {
        let mut came = packet(PacketKind::Data, 1, 1_000 * number, first);
        assert_eq!(external.arrives(us(6 * number), AFAR, &mut came), HoldVerdict::Forward);
    }
    external.acknowledged(us(6), 1, 1_000, second(us(3), 0));
    let told = external.acknowledged(us(12), 1, 2_000, second(us(9), 75_000));
    assert_eq!(told, first);
    // A NACK's go as well, and move nothing.
    let mut nack = packet(PacketKind::Nack, 1, 2_000, second(us(15), 150_000));
    assert_eq!(external.arrives(us(18), INSIDE, &mut nack), HoldVerdict::Forward);
    assert_eq!(int_of(&nack), first);
    // The law saw the second half: a packet takes 176 ns.
    assert_eq!(external.goes_on(us(20), &mut data(1, 2_000)).1, 0);
    assert_eq!(external.goes_on(us(20), &mut data(1, 3_000)).1, 1);
}

// The sender.

fn path() -> PathFacts {
    PathFacts { switches: 6, packet_bytes: Bytes::new(1048), ..testing::path(LINE, us(1012)) }
}

struct Host {
    params: ThemisHpccParams,
    rp: Sender<8>,
    outbox: Vec<Notice<8>>,
}

impl Host {
    fn new() -> Host {
        let params = params(&[]);
        let rp = Sender::open(&params, &mut (), &path(), Time::ZERO);
        Host { params, rp, outbox: Vec::new() }
    }
    fn at(&mut self, now: Time, hook: impl FnOnce(&mut Sender<8>, &mut HostCx<'_, Scheme8>)) {
        let mut cx = HostCx { now, params: &self.params, host: &mut (), outbox: &mut self.outbox };
        hook(&mut self.rp, &mut cx);
    }
    fn sends(&mut self, now: Time, sequence: u64) {
        let mut header = header(PacketKind::Data, 1, sequence);
        self.at(now, |rp, cx| rp.on_send(cx, &mut header, &mut ThemisMeta::default()));
    }
    fn hears(&mut self, now: Time, sent_at: Time, end: u64, int: Int) -> SendLimits {
        self.at(now, |rp, cx| rp.on_ctl(cx, &Notice { int, end, sent_at }));
        self.rp.limits()
    }
    fn acknowledged(&mut self, now: Time, next: u64, int: Int) -> SendLimits {
        let mut meta = ThemisMeta::default();
        meta.int = int;
        let ack = Ack {
            next_expected: next,
            newly_acked: Bytes::new(1000),
            newly_lost: Bytes::ZERO,
            next_to_send: next + 10_000,
            nack: false,
            echo: EcnCodePoint::NotMarked,
            rtt: us(1012),
            meta: &meta,
        };
        self.at(now, |rp, cx| rp.on_ack(cx, &ack));
        self.rp.limits()
    }
}

#[test]
fn a_sender_keeps_to_the_lower_rate_with_a_window_of_the_whole_path() {
    let mut host = Host::new();
    let full = host.rp.limits();
    assert_eq!((full.rate, full.window), (LINE, Bytes::new(12_650_000)));
    host.sends(us(0), 0);
    host.sends(us(6), 1_000);
    assert_eq!(host.hears(us(6), us(0), 1_000, one_hop(7, us(3), 0, 75_000)), full);
    // T of the first half is 6 us; as at the external switch, 47.55 Gb/s.
    let limits = host.hears(us(12), us(6), 2_000, one_hop(7, us(9), 75_000, 75_000));
    let pace = Rate::from_mbps(47_550);
    assert_eq!((limits.rate, limits.window), (pace, pace.bytes_in(us(1012))));
    // ACKs have their own law, of 1012 us: 1012 us later, with 12.65 MB passed, half a BDP waits
    // there, so U is 1.5 and the rate 63.3 Gb/s: not the lower one, nor the window.
    host.acknowledged(us(2_000), 1_000, one_hop(9, us(1_500), 0, 6_325_000));
    let still = host.acknowledged(us(3_012), 20_000, one_hop(9, us(2_512), 12_650_000, 6_325_000));
    assert_eq!(still, limits);
    // A BDP and a half waits: U is 2.5, and 12.65 MB x 0.633 / (2.5 / 0.95) is 24 Gb/s or so.
    let slow = host.acknowledged(us(4_024), 40_000, one_hop(9, us(3_524), 25_300_000, 18_975_000));
    assert!(slow.rate < Rate::from_gbps(50) && slow.window < limits.window, "{slow:?}");
}

#[test]
fn a_shorter_round_trip_leaves_the_rate_as_it_is() {
    let mut host = Host::new();
    for number in 0..2 {
        host.sends(us(6 * number), 1_000 * number);
        host.hears(
            us(6 * number + 6),
            us(6 * number),
            1_000 * (number + 1),
            one_hop(7, us(6 * number + 3), 75_000 * number, 75_000),
        );
    }
    let before = host.rp.limits();
    // Records of the same instant say nothing; that it took 3 us alone does.
    let after = host.hears(us(12), us(9), 2_000, one_hop(7, us(9), 75_000, 75_000));
    assert!(after.rate.bps().abs_diff(before.rate.bps()) <= 1, "{after:?}");
}

#[test]
fn presets_are_those_of_hpcc_but_for_t() {
    let hpcc = HpccParams { base_rtt: BaseRtt::Path, ..hpcc::presets::paper(LINE) };
    let both = params(&[]);
    assert_eq!(both.hpcc, hpcc);
    assert_eq!(both.get("block_step"), None, "no parameter without an effect");
    assert_eq!(both.get("variant"), None);
    assert_eq!(Scheme8::meta_bytes(&both), Hpcc::<8>::meta_bytes(&hpcc));
}

proptest! {
    /// Flows leave in the order in which they came, whatever their halves of the path do, and all
    /// leave as fast as the least rate lets them at worst.
    #[test]
    fn resubmission_keeps_the_order_of_a_flow(
        events in prop::collection::vec(
            (0..3_u32, 0..3_u8, 0..20_000_000_u64, 0..400_000_u64),
            1..300,
        ),
    ) {
        let mut external = External::new(&params(&[]));
        let mut now = Time::ZERO;
        // What happens next: arrivals before what comes round.
        let mut queue = BinaryHeap::new();
        for (number, (flow, kind, gap, _)) in events.iter().enumerate() {
            now += Time::from_ps(*gap);
            queue.push(Reverse((now, 0, number, *flow, *kind == 0)));
        }
        let last = now;
        let mut packets: Vec<_> =
            (0..events.len()).map(|number| data(events[number].0, 1_000 * number as u64)).collect();
        let (mut left, mut rounds) = (vec![Vec::new(); 3], 0);
        while let Some(Reverse((now, _, number, flow, is_ack))) = queue.pop() {
            if is_ack {
                // All that is gone was received, through a port that is full and has a queue.
                let next = left[flow as usize].last().map_or(0, |last| 1_000 * (last + 1) as u64);
                let sent = LINE.bytes_in(now).get();
                external.acknowledged(now, flow, next, one_hop(7, now, sent, events[number].3));
                continue;
            }
            match external.arrives(now, AFAR, &mut packets[number]) {
                HoldVerdict::Forward => left[flow as usize].push(number),
                HoldVerdict::Hold(until) => {
                    rounds += 1;
                    queue.push(Reverse((until, rounds, number, flow, false)));
                }
                other => prop_assert!(false, "{:?}", other),
            }
            // A packet in 84 us at 100 Mb/s.
            prop_assert!(now < last + us(84) * 301 + us(301), "it waits for ever");
        }
        let data = events.iter().filter(|(_, kind, ..)| *kind != 0).count();
        prop_assert_eq!(left.iter().map(Vec::len).sum::<usize>(), data);
        for flow in left {
            prop_assert!(flow.is_sorted(), "{:?}", flow);
        }
    }
}
