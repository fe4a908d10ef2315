//! THEMIS's external switch on sequences worked out by hand, and its order under random ones.

use crate::external::{AFAR, INSIDE, ports, us};
use proptest::prelude::*;
use schemes::contract::{
    Address, Cp, Departure, DequeueAction, EcnCodePoint, Flags, FullCx, Header, HoldVerdict, Level,
    LinkRates, OnArrivalOrHold, OnEnqueue, Packet, PacketKind, PortView, QpEnd, Scheme, Strict,
    SwitchEffect, SwitchFacts,
};
use schemes::dcqcn::Cnp;
use schemes::params::Value;
use schemes::registry::params_of;
use schemes::themis::prototype::Prototype;
use schemes::themis::{Either, LongHaulPort, Themis, ThemisParams};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::{Bytes, NodeId, PortId, Rate, Time};

/// 1048 bytes at 1.6 Tb/s.
const PACKET: Time = Time::from_ps(5_240);

fn params(preset: &str, changes: &[(&str, Value)]) -> ThemisParams {
    let changes: Vec<(String, Value)> =
        changes.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    params_of::<Themis>(preset, Rate::from_gbps(100), &changes).unwrap()
}

/// An external switch, and what it sends.
struct External {
    cp: Either,
    ports: Vec<LongHaulPort>,
    effects: Vec<SwitchEffect<Cnp>>,
}

impl External {
    fn new(params: &ThemisParams) -> External {
        let facts = ports();
        let switch = SwitchFacts {
            node: NodeId::new(48),
            tier: 3,
            ports: &facts,
            hosts: &[],
            network_rtt: us(1012),
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([]),
            seed: 1,
        };
        let cp = Themis::congestion_point(params, &switch).expect("it has a long link");
        let ports = facts.iter().map(|facts| cp.port(params, facts)).collect();
        External { cp, ports, effects: Vec::new() }
    }

    fn arrives(&mut self, now: Time, port: u16, packet: &mut Packet<Themis>) -> HoldVerdict {
        let mut cx = FullCx::new(now, &mut self.effects, &[]);
        self.cp.on_arrival(&mut cx, PortId::new(port), packet)
    }

    /// A packet from inside joins the queue of a port.
    fn joins(&mut self, now: Time, port: u16, packet: &mut Packet<Themis>) {
        assert_eq!(self.arrives(now, INSIDE, packet), HoldVerdict::Forward);
        let view = view(port);
        let mut cx = FullCx::new(now, &mut self.effects, &[]);
        self.cp.on_enqueue(&mut cx, &mut self.ports[usize::from(port)], &view, packet);
    }

    fn departs(&mut self, now: Time, port: u16, packet: &mut Packet<Themis>) {
        let view = view(port);
        let departure = Departure { now, effects: &mut self.effects, views: &[] };
        let mut cx = Strict::depart(departure);
        self.cp.on_depart(&mut cx, &mut self.ports[usize::from(port)], &view, packet);
    }

    /// CNPs made since the last call, all to the source.
    fn cnps(&mut self) -> usize {
        let made = self.effects.drain(..);
        made.map(|effect| match effect {
            SwitchEffect::ToHost(_, QpEnd::Sender, Cnp) => 1,
            other => panic!("{other:?}"),
        })
        .sum()
    }

    /// When a packet that comes from afar at `now` goes on, and after how many resubmissions.
    fn goes_on(&mut self, mut now: Time, packet: &mut Packet<Themis>) -> (Time, u32) {
        let mut passes = 0;
        while let HoldVerdict::Hold(until) = self.arrives(now, AFAR, packet) {
            assert!(until > now);
            (now, passes) = (until, passes + 1);
        }
        (now, passes)
    }
}

fn view(port: u16) -> PortView {
    PortView {
        port: PortId::new(port),
        rate: Rate::from_gbps(400),
        queue_bytes: 0,
        class_bytes: 0,
        tx_bytes: 0,
        last_departure: Time::ZERO,
    }
}

fn header(kind: PacketKind, flow: u32, sequence: u64) -> Header {
    Header {
        address: Address { src: 3, dst: 9, flow, receiver_slot: flow, ..Address::default() },
        sequence,
        sent_at: Time::ZERO,
        size: 1048,
        payload: 1000,
        ingress: 0,
        kind,
        priority: 3,
        code_point: EcnCodePoint::NotMarked,
        echo: EcnCodePoint::NotMarked,
        flags: Flags::ACK_REQUESTED | Flags::TO_SOURCE.when(kind != PacketKind::Data),
    }
}

fn data(flow: u32, sequence: u64) -> Packet<Themis> {
    Packet::with_meta(header(PacketKind::Data, flow, sequence), Default::default())
}

fn marked(flow: u32) -> Packet<Themis> {
    let mut packet = data(flow, 0);
    packet.header.code_point = EcnCodePoint::CongestionExperienced;
    packet
}

fn cnp(flow: u32) -> Packet<Themis> {
    Packet::with_ctl(header(PacketKind::Control, flow, 0), Cnp)
}

fn echo(flow: u32) -> Packet<Themis> {
    let mut packet = data(flow, 0);
    packet.header = header(PacketKind::Ack, flow, 0);
    packet.header.echo = EcnCodePoint::CongestionExperienced;
    packet
}

#[test]
fn only_switches_with_long_links_take_part() {
    let params = params("themis", &[]);
    let facts = &ports()[..1];
    let node = NodeId::new(1);
    let switch = SwitchFacts {
        node,
        tier: 1,
        ports: facts,
        hosts: &[],
        network_rtt: us(9),
        packet_bytes: Bytes::new(1_082),
        rates: &LinkRates::new([]),
        seed: 1,
    };
    assert!(Themis::congestion_point(&params, &switch).is_none());
}

#[test]
fn a_mark_on_its_way_out_is_cleared_and_notified_once_an_interval() {
    let mut external = External::new(&params("themis", &[]));
    for (at, made) in [(us(0), 1), (us(20), 0), (us(49), 0), (us(51), 1), (us(100), 0)] {
        let mut packet = marked(1);
        external.joins(at, AFAR, &mut packet);
        assert_eq!(packet.header.code_point, EcnCodePoint::NotMarked);
        assert_eq!(external.cnps(), made, "at {at}");
    }
    // Another flow has its own interval.
    external.joins(us(100), AFAR, &mut marked(2));
    assert_eq!(external.cnps(), 1);
    // What stays in this data centre keeps its mark.
    let mut packet = marked(5);
    external.joins(us(100), INSIDE, &mut packet);
    assert_eq!(
        (external.cnps(), packet.header.code_point),
        (0, EcnCodePoint::CongestionExperienced)
    );
    // Marks of this switch's own queue count where they leave, but not towards the hosts here.
    let mut packet = marked(3);
    external.departs(us(100), AFAR, &mut packet);
    assert_eq!((external.cnps(), packet.header.code_point), (1, EcnCodePoint::NotMarked));
    let mut packet = marked(4);
    external.departs(us(100), INSIDE, &mut packet);
    assert_eq!(
        (external.cnps(), packet.header.code_point),
        (0, EcnCodePoint::CongestionExperienced)
    );
}

#[test]
fn notifications_from_afar_keep_to_the_same_interval() {
    let mut external = External::new(&params("themis", &[]));
    external.joins(us(0), AFAR, &mut marked(1));
    assert_eq!(external.arrives(us(30), AFAR, &mut cnp(1)), HoldVerdict::Consume);
    assert_eq!(external.arrives(us(51), AFAR, &mut cnp(1)), HoldVerdict::Forward);
    assert_eq!(external.arrives(us(52), AFAR, &mut cnp(1)), HoldVerdict::Consume);
    external.cnps();
    external.joins(us(60), AFAR, &mut marked(1));
    assert_eq!(external.cnps(), 0, "the CNP let through at 51 us counts");

    let mut external = External::new(&params("themis", &[("notify", Value::Flag(false))]));
    let mut packet = marked(1);
    external.joins(us(0), AFAR, &mut packet);
    assert_eq!(
        (external.cnps(), packet.header.code_point),
        (0, EcnCodePoint::CongestionExperienced)
    );
    assert_eq!(external.arrives(us(1), AFAR, &mut cnp(1)), HoldVerdict::Forward);
    assert_eq!(external.arrives(us(2), AFAR, &mut cnp(1)), HoldVerdict::Forward);
}

#[test]
fn a_cnp_blocks_its_flow_until_the_passes_add_up() {
    let mut external = External::new(&params("themis", &[]));
    let mut word = cnp(1);
    assert_eq!(external.arrives(us(0), INSIDE, &mut word), HoldVerdict::Forward);
    assert!(word.header.flags.contains(Flags::MARK), "handled here");
    // T_block is 50 us. Alone in the queue a pass takes 1 us and 5.24 ns: 50 of them are 50.262 us,
    // 49 are not enough.
    let pass = us(1) + PACKET;
    assert_eq!(external.goes_on(us(10), &mut data(1, 0)), (us(10) + pass * 50, 50));
    assert_eq!(external.goes_on(us(10), &mut data(2, 0)), (us(10), 0), "another flow");
    // A marked CNP changes nothing, a second one adds 50 us: 100 passes are 100.524 us.
    external.arrives(us(100), INSIDE, &mut word);
    assert_eq!(external.goes_on(us(110), &mut data(1, 1000)).1, 50);
    external.arrives(us(200), INSIDE, &mut cnp(1));
    assert_eq!(external.goes_on(us(210), &mut data(1, 2000)).1, 100);
    // At most a millisecond, of which half is left 500 us after the last CNP, at 929 us: a packet
    // that came at 430 us has then waited 499.6 us, in 497 passes, and goes after the 498th.
    for at in 0..30 {
        external.arrives(us(400 + at), INSIDE, &mut cnp(1));
    }
    assert_eq!(external.goes_on(us(430), &mut data(1, 3000)).1, 498);
}

#[test]
fn an_echo_is_a_notification_where_receivers_send_no_cnps() {
    let blocks = |notification| {
        let mut external =
            External::new(&params("themis", &[("notification", Value::Choice(notification))]));
        let mut ack = echo(1);
        assert_eq!(external.arrives(us(0), INSIDE, &mut ack), HoldVerdict::Forward);
        let passes = external.goes_on(us(10), &mut data(1, 0)).1;
        // From afar it is let through, within the interval without its echo.
        external.joins(us(100), AFAR, &mut marked(1));
        let mut late = echo(1);
        assert_eq!(external.arrives(us(110), AFAR, &mut late), HoldVerdict::Forward);
        assert!(!late.header.flags.contains(Flags::MARK), "what comes from afar is not reacted to");
        (ack.header.flags.contains(Flags::MARK), passes, late.header.echo)
    };
    assert_eq!(blocks("ack-echo"), (true, 50, EcnCodePoint::NotMarked));
    assert_eq!(blocks("cnp"), (false, 0, EcnCodePoint::CongestionExperienced));
}

/// Receivers space their CNPs; marks that ACKs echo come with each packet, and are no more of a
/// reason to block.
#[test]
fn echoes_of_one_congestion_block_as_one_cnp() {
    let mut external =
        External::new(&params("themis", &[("notification", Value::Choice("ack-echo"))]));
    for at in 0..50 {
        let mut ack = echo(1);
        external.arrives(us(at), INSIDE, &mut ack);
        assert!(ack.header.flags.contains(Flags::MARK), "handled here all the same");
    }
    assert_eq!(external.goes_on(us(50), &mut data(1, 0)).1, 50);
    external.arrives(us(50), INSIDE, &mut echo(1));
    assert_eq!(external.goes_on(us(110), &mut data(1, 1000)).1, 100, "the next interval");
}

/// A flow that sends on while its blocking time falls is let go.
#[test]
fn a_flow_that_never_pauses_is_blocked_no_longer_than_the_law_says() {
    let mut external = External::new(&params("themis", &[]));
    for at in 0..10 {
        external.arrives(us(at), INSIDE, &mut cnp(1));
    }
    let mut queue = BinaryHeap::new();
    for number in 0..10_000 {
        queue.push(Reverse((us(10 + number), number)));
    }
    let mut packets: Vec<_> = (0..10_000).map(|number| data(1, number)).collect();
    let mut waited = vec![Time::ZERO; 10_000];
    while let Some(Reverse((now, number))) = queue.pop() {
        match external.arrives(now, AFAR, &mut packets[number as usize]) {
            HoldVerdict::Hold(until) => queue.push(Reverse((until, number))),
            _ => waited[number as usize] = now - us(10 + number),
        }
    }
    // 500 us at first; 250 from 509 us on; 0 after nine halvings.
    assert!(waited[0] >= us(499), "{}", waited[0]);
    assert!(waited[600] < us(300), "{}", waited[600]);
    assert_eq!(waited[5_500], Time::ZERO);
}

#[test]
fn a_quiet_time_halves_the_blocking_time_down_to_nothing() {
    let passes = |at: Time| {
        let mut external = External::new(&params("themis", &[]));
        external.arrives(us(0), INSIDE, &mut cnp(1));
        external.goes_on(at, &mut data(1, 0)).1
    };
    // 25, 12.5, 6.25, 3.125 and 1.5625 us, and then less than a pass.
    assert_eq!(
        [600, 1_000, 1_500, 2_000, 2_500, 3_000].map(|at| passes(us(at))),
        [25, 13, 7, 4, 2, 0]
    );
    assert_eq!(passes(us(449)), 50);
}

#[test]
fn a_longer_queue_needs_fewer_passes() {
    let mut external = External::new(&params("themis", &[]));
    external.arrives(us(0), INSIDE, &mut cnp(1));
    external.arrives(us(0), INSIDE, &mut cnp(2));
    // 1000 packets of another blocked flow come round one after the other.
    let mut others: Vec<_> = (0..1000).map(|sequence| data(2, sequence * 1000)).collect();
    let round = us(1) + PACKET + us(1);
    for other in &mut others {
        assert_eq!(external.arrives(us(1), AFAR, other), HoldVerdict::Hold(round));
    }
    for (place, other) in others.iter_mut().enumerate() {
        let queue = PACKET * (place as u64 + 1);
        assert_eq!(external.arrives(round, AFAR, other), HoldVerdict::Hold(round + queue + us(1)));
    }
    // They are a queue of 5.24 us.
    let first = external.arrives(round, AFAR, &mut data(1, 0));
    assert_eq!(first, HoldVerdict::Hold(round + PACKET * 1001 + us(1)));
}

/// Bytes leave the queue of resubmitted packets at the rate that the long link has.
#[test]
fn a_slower_link_needs_fewer_passes() {
    let params = params("themis", &[]);
    let mut external = External::new(&params);
    external.arrives(us(0), INSIDE, &mut cnp(1));
    let mut facts = ports()[usize::from(AFAR)];
    facts.rate = Rate::from_gbps(1);
    external.cp.on_rate(&params, &mut external.ports[usize::from(AFAR)], &facts);
    // A pass takes 1 us and 8.384 us, and T_block is 50 us.
    let pass = us(1) + Time::from_ns(8_384);
    assert_eq!(external.goes_on(us(10), &mut data(1, 0)), (us(10) + pass * 6, 6));
}

#[test]
fn the_prototype_notifies_each_marked_packet_and_more_every_10_us() {
    let mut external = External::new(&params("themis-prototype", &[]));
    for (at, made) in [(0, 2), (5, 1), (10, 1), (11, 2), (12, 1)] {
        let mut packet = marked(1);
        external.arrives(us(at), AFAR, &mut packet);
        assert_eq!(external.cnps(), 0, "not before it leaves");
        external.departs(us(at), INSIDE, &mut packet);
        assert_eq!((external.cnps(), packet.header.code_point), (made, EcnCodePoint::NotMarked));
    }
    // A mark that its own queue made stays.
    let mut packet = data(1, 0);
    external.arrives(us(20), INSIDE, &mut packet);
    packet.header.code_point = EcnCodePoint::CongestionExperienced;
    external.departs(us(20), AFAR, &mut packet);
    assert_eq!(
        (external.cnps(), packet.header.code_point),
        (0, EcnCodePoint::CongestionExperienced)
    );
    // And it holds nothing back.
    let mut ack = echo(1);
    assert_eq!(external.arrives(us(21), AFAR, &mut ack), HoldVerdict::Forward);
    assert_eq!(
        (ack.header.echo, ack.header.flags.contains(Flags::MARK)),
        (EcnCodePoint::CongestionExperienced, false)
    );
}

#[test]
fn the_prototypes_round_puts_back_what_comes_before_its_first_returns() {
    let mut prototype = Prototype::new(&params("themis-prototype", &[]).external);
    let leaves = |prototype: &mut Prototype, at: u64, sequence: u64| {
        let turn = prototype.turn(us(at), &header(PacketKind::Data, 1, sequence * 1000));
        assert_ne!(turn, DequeueAction::Requeue, "a port that puts a packet back rests");
        turn == DequeueAction::Send
    };
    let mut word = header(PacketKind::Ack, 1, 0);
    prototype.on_arrival(us(1), &mut word);
    assert!(leaves(&mut prototype, 1, 1), "an ACK without an echo");
    word.echo = EcnCodePoint::CongestionExperienced;
    prototype.on_arrival(us(2), &mut word);
    // The first notification arms for as long as it takes. 2, 3 and 4 go back; 5 joins before 4
    // does: the queue is then 2 3 5 4.
    assert_eq!([2, 3, 4].map(|packet| leaves(&mut prototype, 90, packet)), [false; 3]);
    assert_eq!([2, 3].map(|packet| leaves(&mut prototype, 91, packet)), [true; 2]);
    assert!(!leaves(&mut prototype, 91, 5), "4 must go first");
    assert_eq!([4, 5].map(|packet| leaves(&mut prototype, 92, packet)), [true; 2]);
    assert!(leaves(&mut prototype, 93, 6), "the notification was 90 us old as the round ended");
    prototype.on_arrival(us(100), &mut word);
    assert!(leaves(&mut prototype, 156, 7), "too old for another");
    assert!(leaves(&mut prototype, 157, 8));
}

/// A packet that leaves makes the flow ready for another round, and the next begins it, however
/// late it comes.
#[test]
fn the_prototypes_next_round_is_made_ready_by_a_packet_that_leaves() {
    let mut word = echo(1).header;
    let mut prototype = Prototype::new(&params("themis-prototype", &[]).external);
    let mut turns = |heard: Option<u64>, turns: &[(u64, u64)]| {
        if let Some(heard) = heard {
            prototype.on_arrival(us(heard), &mut word);
        }
        let leaves = |&(at, sequence)| {
            prototype.turn(us(at), &header(PacketKind::Data, 1, sequence * 1000))
                == DequeueAction::Send
        };
        turns.iter().map(leaves).collect::<Vec<_>>()
    };
    // A round of one packet is over 1 us after the notification, which is fresh: the next packet
    // goes back a millisecond later. As it leaves nothing is fresh.
    assert_eq!(turns(Some(0), &[(1, 1), (1, 1), (1000, 2), (1000, 2)]), [false, true, false, true]);
    assert_eq!(turns(None, &[(1001, 3), (1001, 4)]), [true, true]);
    // The first packet after the next notification leaves, 55 us later at most, and the one after
    // it goes back.
    assert_eq!(turns(Some(2000), &[(2055, 5), (3000, 6), (3000, 6)]), [true, false, true]);
    // In a round of two the one that ends it is the last that went back.
    assert_eq!(turns(Some(4000), &[(4010, 7), (4011, 8), (4011, 9)]), [true, false, false]);
    assert_eq!(turns(None, &[(4012, 8), (4012, 9), (5000, 10)]), [true, true, false]);
}

#[test]
fn the_prototype_blocks_for_no_cnps() {
    let mut prototype = Prototype::new(&params("themis-prototype", &[]).external);
    let begins = |prototype: &mut Prototype, mut word: Header| {
        prototype.on_arrival(us(0), &mut word);
        prototype.turn(us(1), &header(PacketKind::Data, 1, 1000)) != DequeueAction::Send
    };
    assert!(!begins(&mut prototype, cnp(1).header));
    assert!(begins(&mut prototype, Header { kind: PacketKind::Nack, ..echo(1).header }));
}

/// A flow whose next round only waits for a packet gives way, but not while places are unused.
#[test]
fn a_flow_of_the_prototype_gives_way_where_no_place_is_unused() {
    let params = params("themis-prototype", &[("flow_entries", Value::Count(16))]);
    // Of flows that hear of congestion once, a millisecond apart, those that are blocked
    // afterwards.
    let blocked = |flows: u32| {
        let mut prototype = Prototype::new(&params.external);
        for flow in 0..flows {
            prototype.on_arrival(us(u64::from(flow) * 1000), &mut echo(flow).header);
        }
        let now = us(u64::from(flows) * 1000);
        let mut turn = |flow| prototype.turn(now, &header(PacketKind::Data, flow, 1000));
        (0..flows).filter(|&flow| turn(flow) != DequeueAction::Send).collect::<Vec<_>>()
    };
    assert_eq!(blocked(8), [0, 1, 2, 3, 4, 5, 6, 7]);
    let blocked = blocked(1000);
    assert_eq!((blocked.len(), blocked.last()), (16, Some(&999)), "the last finds a place");
}

#[test]
fn a_round_of_the_prototype_ends_with_a_packet_that_it_waits_for() {
    let packet = |sequence: u64| header(PacketKind::Data, 1, sequence * 1000);
    let armed = || {
        let mut prototype = Prototype::new(&params("themis-prototype", &[]).external);
        prototype.on_arrival(us(0), &mut echo(1).header);
        prototype
    };
    let leaves = |prototype: &mut Prototype, sequence| {
        prototype.turn(us(90), &packet(sequence)) == DequeueAction::Send
    };
    // 1 to 3 went back; the first or the last of them is dropped. The notification is too old for
    // another.
    for (dropped, goes_on) in [(1, true), (2, false), (3, true)] {
        let mut prototype = armed();
        assert_eq!([1, 2, 3].map(|packet| leaves(&mut prototype, packet)), [false; 3]);
        prototype.on_drop(&packet(dropped));
        assert_eq!(leaves(&mut prototype, 4), goes_on, "{dropped}");
    }
    // The first has come round, and others wait for the last.
    let mut prototype = armed();
    assert_eq!(
        [1, 2, 1, 3].map(|packet| leaves(&mut prototype, packet)),
        [false, false, true, false]
    );
    prototype.on_drop(&packet(3));
    assert!(leaves(&mut prototype, 4));
}

proptest! {
    /// Flows leave in the order in which they came, whatever their blocking times do, and all
    /// leave.
    #[test]
    fn resubmission_keeps_the_order_of_a_flow(
        events in prop::collection::vec((0..3_u32, 0..3_u8, 0..40_000_000_u64), 1..300),
        step_us in 1..200_u64,
        quiet_us in 1..300_u64,
    ) {
        let params = params("themis", &[
            ("block_step", Value::Time(us(step_us))),
            ("quiet_time", Value::Time(us(quiet_us))),
        ]);
        let mut external = External::new(&params);
        let mut now = Time::ZERO;
        // What happens next: arrivals before what comes round.
        let mut queue = BinaryHeap::new();
        for (number, (flow, kind, gap)) in events.iter().enumerate() {
            now += Time::from_ps(*gap);
            queue.push(Reverse((now, 0, number, *flow, *kind == 0)));
        }
        let mut packets: Vec<Packet<Themis>> =
            (0..events.len()).map(|number| data(events[number].0, number as u64)).collect();
        let (mut left, mut rounds) = (vec![Vec::new(); 3], 0);
        while let Some(Reverse((now, _, number, flow, is_cnp))) = queue.pop() {
            if is_cnp {
                external.arrives(now, INSIDE, &mut cnp(flow));
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
        }
        let data = events.iter().filter(|(_, kind, _)| *kind != 0).count();
        prop_assert_eq!(left.iter().map(Vec::len).sum::<usize>(), data);
        for flow in left {
            prop_assert!(flow.is_sorted(), "{:?}", flow);
        }
    }

    /// The prototype's rounds, at a port that flows share, keep the order of each flow and let
    /// everything go in the end. The port does not rest here: that is the fabric's.
    #[test]
    fn rounds_keep_the_order_of_a_flow(
        events in prop::collection::vec((0..3_u32, 0..4_u8, 0..20_000_000_u64), 1..300),
        fresh_us in 1..200_u64,
    ) {
        let params = params("themis-prototype", &[
            ("fresh_time", Value::Time(us(fresh_us))),
            ("stall_after_requeue", Value::Flag(false)),
        ]);
        let mut prototype = Prototype::new(&params.external);
        let (mut queue, mut left) = (VecDeque::new(), vec![Vec::new(); 3]);
        let (mut now, mut free_at) = (Time::ZERO, Time::ZERO);
        let mut arrivals = events.iter().enumerate().peekable();
        let (mut data, mut turns) = (0, 0);
        while arrivals.peek().is_some() || !queue.is_empty() {
            // What is due first: the port's next turn, or an arrival.
            let next = arrivals.peek();
            let next = next.map_or(Time::NEVER, |(_, (_, _, gap))| now + Time::from_ps(*gap));
            let busy_until = if queue.is_empty() { Time::NEVER } else { free_at.max(now) };
            if next <= busy_until {
                let (number, (flow, kind, _)) = arrivals.next().expect("it was there");
                now = next;
                if *kind == 0 {
                    prototype.on_arrival(now, &mut echo(*flow).header);
                } else {
                    // Sequence numbers may begin at 0 and have gaps, as sizes differ.
                    queue.push_back((*flow, 1000 * number as u64));
                    data += 1;
                }
                continue;
            }
            now = busy_until;
            let (flow, sequence) = queue.pop_front().expect("it was there");
            match prototype.turn(now, &header(PacketKind::Data, flow, sequence)) {
                DequeueAction::Send => {
                    left[flow as usize].push(sequence);
                    free_at = now + Time::from_us(1);
                }
                DequeueAction::Requeue => queue.push_back((flow, sequence)),
                DequeueAction::RequeueAndStall => prop_assert!(false, "it does not rest"),
            }
            turns += 1;
            prop_assert!(turns < 100_000, "{} packets go round for ever", queue.len());
        }
        prop_assert_eq!(left.iter().map(Vec::len).sum::<usize>(), data);
        for flow in left {
            prop_assert!(flow.is_sorted(), "{:?}", flow);
        }
    }
}
