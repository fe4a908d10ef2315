//! Hooks of the congestion point, classes, roles, stacks.

use crate::common::{ACK, Build, FIRST, FULL, G100, LEAST, US, empty};
use crate::common::{balances, fct, line, pauses, port, run, star};
use crate::toy::{BYTE, LineRate, Log, Plain, WIRE};
use crate::toy::{ack_back, alone, no_cp, no_ctl, no_host, one_way, toy};
use fabric::{EcnConfig, EcnLaw, Probe, ProbeKind, ProbeTargets, Ready, Refusal, Threshold};
use schemes::contract::{
    Ack, Address, Allow, Body, ClassSpec, CodePoint, Cp, Emit, Emits, Flags, FlowObservable, Full,
    Gate, HostCx, HostPlace, Kind, Level, Local, NoCtl, Np, Packet, PathFacts, PlainReceiver,
    PlainSwitch, PortFacts, PortLocal, PortView, Ports, Room, Rp, Scheme, Stack, Strict,
    SwitchFacts, Target, Turn, Verdict, WireFacts,
};
use units::{Bytes, NodeId, PortId, Priority, Rate, Time};

fn is_data<S: Scheme>(packet: &Packet<S>) -> bool {
    packet.header.kind == Kind::Data
}

// ---- on_arrival: Consume; to_host, both ways ----

toy! {
    /// The sender asks, the first switch answers, and tells the receiver when data begins.
    Asking: Log<Time>, (), Word, (), Asker, Listener, Answering;
    no_host!();
    fn ctl_bytes(_: &Word) -> u32 {
        64
    }
    fn cp(_: &Plain<Log<Time>>, _: &SwitchFacts<'_>) -> Option<Answering> {
        Some(Answering)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Word {
    MayI,
    YouMay,
    Comes,
}

#[derive(Debug)]
struct Asker {
    window: Bytes,
}

impl Rp<Asking> for Asker {
    fn open(_: &Plain<Log<Time>>, _: &mut (), _: &PathFacts, _: Time) -> Asker {
        Asker { window: Bytes::ZERO }
    }
    fn allow(&self) -> Allow {
        Allow { window: self.window, ..Allow::EVERYTHING }
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Asking>, left: Bytes) {
        if left > Bytes::ZERO {
            cx.send(Word::MayI);
        }
    }
    fn on_ctl(&mut self, _: &mut HostCx<'_, Asking>, ctl: &Word) {
        assert_eq!(*ctl, Word::YouMay);
        self.window = Bytes::UNLIMITED;
    }
}

#[derive(Debug)]
struct Listener;

impl Np<Asking> for Listener {
    fn open(_: &Plain<Log<Time>>, _: &mut (), _: Time) -> Listener {
        Listener
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Asking>, ctl: &Word) {
        assert_eq!(*ctl, Word::Comes);
        cx.params.0.push(cx.now);
    }
}

#[derive(Debug)]
struct Answering;

impl Cp<Asking> for Answering {
    type Level = Emits;
    type Port = ();
    const SEES_ARRIVALS: bool = true;
    fn port(&self, _: &Plain<Log<Time>>, _: &PortFacts) {}
    fn on_arrival(
        &mut self,
        cx: &mut Emit<'_, Asking>,
        _: PortId,
        packet: &mut Packet<Asking>,
    ) -> Verdict {
        let address = packet.header.address;
        match packet.body {
            Body::Ctl(Word::MayI) => {
                cx.to_host(address, Target::Source, Word::YouMay);
                return Verdict::Consume;
            }
            Body::Meta(()) if is_data(packet) && packet.header.sequence == 0 => {
                cx.to_host(address, Target::Destination, Word::Comes);
            }
            _ => {}
        }
        Verdict::Forward
    }
}

/// Protects packets for the switch, and notifications from a switch to either end.
#[test]
fn a_switch_answers_the_sender_and_warns_the_receiver() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let log = Log::default();
    let output = run::<Asking>(&setup, Plain(log.clone()), 1);
    let asked = 2 * one_way(LEAST, 1);
    // The warning is of a strict class and goes before the packet that it warns of.
    assert_eq!(fct(&output, 0), asked + alone(1, 2) + LEAST * BYTE);
    let warned = asked + one_way(FIRST, 1) + one_way(LEAST, 1);
    assert_eq!(log.all(), [Time::from_ps(warned)]);
    assert_eq!(port(&output, 2, 1).tx_packets, 2, "the warning and the data, not the question");
    // The question was taken in.
    assert_eq!(output.audits[0].removed, LEAST);
    balances(&output).unwrap();
}

// ---- on_arrival: Hold ----

toy! {
    /// The switch holds data until the next whole 10 us.
    Holding: (), (), NoCtl, (), LineRate, PlainReceiver, Holder;
    no_ctl!();
    no_host!();
    fn cp(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<Holder> {
        Some(Holder)
    }
}

#[derive(Debug)]
struct Holder;

impl Cp<Holding> for Holder {
    type Level = PortLocal;
    type Port = ();
    const SEES_ARRIVALS: bool = true;
    const HOLDS: bool = true;
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
    fn on_arrival(&mut self, cx: &mut Local, _: PortId, packet: &mut Packet<Holding>) -> Verdict {
        if is_data(packet) && !packet.header.flags.contains(Flags::MARK) {
            packet.header.flags.set(Flags::MARK, true);
            return Verdict::Hold(cx.now.round_up(US * 10));
        }
        Verdict::Forward
    }
}

/// Protects held packets: they come again at the time named, in their order, and are counted once.
#[test]
fn packets_held_until_the_same_time_keep_their_order() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 20_000, Time::ZERO);
    let output = run::<Holding>(&setup, Plain(()), 1);
    let rest = (FIRST + 19 * FULL) * BYTE + WIRE + ack_back(2);
    assert_eq!(fct(&output, 0), 10_000_000 + rest);
    assert_eq!(output.flows[0].retransmitted_bytes, 0);
    // 20 data packets and 20 ACKs, each once.
    assert_eq!(output.audits[0].arrived, FIRST + 19 * FULL + 20 * ACK);
    balances(&output).unwrap();
}

// ---- route ----

toy! {
    /// Switches spread data packet by packet.
    Spraying: (), (), NoCtl, (), LineRate, PlainReceiver, Sprayer;
    no_ctl!();
    no_host!();
    fn cp(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<Sprayer> {
        Some(Sprayer)
    }
}

#[derive(Debug)]
struct Sprayer;

impl Cp<Spraying> for Sprayer {
    type Level = PortLocal;
    type Port = ();
    const ROUTES: bool = true;
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
    fn route(
        &mut self,
        _: &mut <Self::Level as Level>::Arrive<'_, Spraying>,
        packet: &Packet<Spraying>,
        equal: &[PortId],
    ) -> Option<PortId> {
        let packet = is_data(packet).then_some(packet.header.sequence / 1_000)?;
        Some(equal[packet as usize % equal.len()])
    }
}

/// Protects the choice of a path: packets alternate between two cables where the switch says so,
/// and stay on one by ECMP.
#[test]
fn a_congestion_point_may_choose_among_equal_paths() {
    let mut setup = empty();
    let (a, b) = (setup.host(), setup.host());
    let (left, right) = (setup.switch(1), setup.switch(1));
    setup.cable(a, left, G100, US);
    for _ in 0..2 {
        setup.cable(left, right, G100, US);
    }
    setup.cable(right, b, G100, US);
    setup.message(a, b, 20_000, Time::ZERO);
    let sprayed = run::<Spraying>(&setup, Plain(()), 1);
    let hashed =
        run::<schemes::none::NoControl>(&setup, schemes::none::NoParams { window: "none" }, 1);
    let split = |output| [1, 2].map(|at| port(output, left, at).tx_data_packets);
    assert_eq!(split(&sprayed), [10, 10]);
    let mut split = split(&hashed);
    split.sort_unstable();
    assert_eq!(split, [0, 20]);
    assert_eq!(sprayed.flows[0].retransmitted_bytes, 0);
}

// ---- sub_queue, gate, wake ----

toy! {
    /// Flow 1 may not leave the switch before the last packet of flow 0 has.
    Ordering: (), (), NoCtl, (), LineRate, PlainReceiver, FirstThenSecond;
    no_ctl!();
    no_host!();
    fn cp(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<FirstThenSecond> {
        Some(FirstThenSecond { open: false })
    }
}

#[derive(Debug)]
struct FirstThenSecond {
    open: bool,
}

impl Cp<Ordering> for FirstThenSecond {
    type Level = Strict;
    type Port = ();
    const SUB_QUEUES: bool = true;
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
    fn sub_queue(&self, _: PortId, _: PortId, packet: &Packet<Ordering>) -> u32 {
        if is_data(packet) { 1 + packet.header.address.flow } else { 0 }
    }
    fn gate(&self, _: &(), sub_queue: u32, head: &Packet<Ordering>, _: Time) -> Gate {
        assert_eq!(sub_queue, 1 + head.header.address.flow);
        if sub_queue == 1 || self.open { Gate::Open } else { Gate::Shut }
    }
    fn on_depart(
        &mut self,
        cx: &mut Full<'_, Ordering>,
        _: &mut (),
        view: &PortView,
        packet: &mut Packet<Ordering>,
    ) {
        if is_data(packet)
            && packet.header.address.flow == 0
            && packet.header.flags.contains(Flags::LAST)
        {
            self.open = true;
            cx.wake(view.port);
        }
    }
}

/// Protects queues apart from the ordinary one, shut gates and what opens them.
#[test]
fn a_shut_gate_waits_for_a_wake() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 10_000, Time::ZERO);
    setup.message(1, 2, 10_000, Time::ZERO);
    let output = run::<Ordering>(&setup, Plain(()), 1);
    assert_eq!(fct(&output, 0), alone(10, 2), "as if the other were not there");
    let free = (2 * FIRST + 9 * FULL) * BYTE + WIRE;
    let second = free + (FIRST + 9 * FULL) * BYTE + WIRE + ack_back(2);
    assert_eq!(fct(&output, 1), second, "then back to back");
}

toy! {
    /// Data may leave the switch at whole 5 us only.
    Ticking: (), (), NoCtl, (), LineRate, PlainReceiver, Ticker;
    no_ctl!();
    no_host!();
    fn cp(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<Ticker> {
        Some(Ticker)
    }
}

#[derive(Debug)]
struct Ticker;

impl Cp<Ticking> for Ticker {
    type Level = Strict;
    type Port = ();
    const SUB_QUEUES: bool = true;
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
    fn sub_queue(&self, _: PortId, _: PortId, packet: &Packet<Ticking>) -> u32 {
        u32::from(is_data(packet))
    }
    fn gate(&self, _: &(), _: u32, _: &Packet<Ticking>, now: Time) -> Gate {
        let next = now.round_up(US * 5);
        if next == now { Gate::Open } else { Gate::Until(next) }
    }
}

/// Protects gates that wait for a time.
#[test]
fn a_gate_opens_at_its_time() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 6_000, Time::ZERO);
    let output = run::<Ticking>(&setup, Plain(()), 1);
    assert_eq!(fct(&output, 0), 6 * 5_000_000 + one_way(FULL, 1) + ack_back(2));
}

// ---- turn ----

toy! {
    /// The first packet that is about to leave a port goes back to the tail.
    Returning: Turn, (), NoCtl, (), LineRate, PlainReceiver, Returner;
    no_ctl!();
    no_host!();
    fn cp(turn: &Plain<Turn>, _: &SwitchFacts<'_>) -> Option<Returner> {
        Some(Returner(turn.0))
    }
}

#[derive(Debug)]
struct Returner(Turn);

impl Cp<Returning> for Returner {
    type Level = PortLocal;
    type Port = bool;
    const RECIRCULATES: bool = true;
    fn port(&self, _: &Plain<Turn>, _: &PortFacts) -> bool {
        false
    }
    fn turn(&mut self, turned: &mut bool, packet: &Packet<Returning>, _: Time) -> Turn {
        if std::mem::replace(turned, true) || !is_data(packet) { Turn::Leaves } else { self.0 }
    }
}

/// Protects queues whose heads go back: the next one goes first, at the same instant; and ports that
/// rest then, until another packet joins.
#[test]
fn a_packet_may_go_back_to_the_tail() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(1, 2, 1_000, Time::ZERO);
    let fcts = |turn| {
        let output = run::<Returning>(&setup, Plain(turn), 1);
        balances(&output).unwrap();
        [fct(&output, 0), fct(&output, 1)]
    };
    let [first, second] = fcts(Turn::Leaves);
    assert_ne!(first, second);
    assert_eq!(fcts(Turn::GoesBack), [second, first]);

    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(1, 2, 1_000, US * 10);
    let output = run::<Returning>(&setup, Plain(Turn::GoesBackAndRests), 1);
    assert_eq!(fct(&output, 0), 10_000_000 + alone(1, 2), "it leaves as the other comes");
    assert_eq!(fct(&output, 1), FIRST * BYTE + alone(1, 2));
    balances(&output).unwrap();
}

toy! {
    /// Data goes back to the tail until two packets have joined the port.
    Gathering: (), (), NoCtl, (), LineRate, PlainReceiver, Gatherer;
    no_ctl!();
    no_host!();
    fn cp(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<Gatherer> {
        Some(Gatherer)
    }
}

#[derive(Debug)]
struct Gatherer;

impl Cp<Gathering> for Gatherer {
    type Level = PortLocal;
    type Port = u32;
    const RECIRCULATES: bool = true;
    fn port(&self, _: &Plain<()>, _: &PortFacts) -> u32 {
        0
    }
    fn on_enqueue(
        &mut self,
        _: &mut Local,
        joined: &mut u32,
        _: &PortView,
        _: &mut Packet<Gathering>,
    ) {
        *joined += 1;
    }
    fn turn(&mut self, joined: &mut u32, packet: &Packet<Gathering>, _: Time) -> Turn {
        if *joined < 2 && is_data(packet) { Turn::GoesBack } else { Turn::Leaves }
    }
}

/// Protects time: a port all of whose packets go back does not look at them for ever at one instant, but
/// rests until another joins.
#[test]
fn a_port_rests_where_all_goes_back() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(1, 2, 1_000, US * 10);
    let output = run::<Gathering>(&setup, Plain(()), 1);
    assert_eq!(fct(&output, 0), 10_000_000 + alone(1, 2), "it leaves as the other comes");
    assert_eq!(fct(&output, 1), FIRST * BYTE + alone(1, 2));
    balances(&output).unwrap();
}

// ---- on_enqueue ----

toy! {
    /// The switch marks what finds 5000 B waiting, or the second packet of each eight; the sender writes
    /// down the marks.
    Marking: Marks, (), NoCtl, (), MarkReader, PlainReceiver, Marker;
    no_ctl!();
    no_host!();
    fn cp(marks: &Plain<Marks>, _: &SwitchFacts<'_>) -> Option<Marker> {
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
    fn open(_: &Plain<Marks>, _: &mut (), _: &PathFacts, _: Time) -> MarkReader {
        MarkReader
    }
    fn allow(&self) -> Allow {
        Allow::EVERYTHING
    }
    fn on_ack(&mut self, cx: &mut HostCx<'_, Marking>, ack: &Ack<'_, Marking>) {
        if ack.echo == CodePoint::CongestionExperienced {
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
    fn port(&self, _: &Plain<Marks>, _: &PortFacts) {}
    fn on_enqueue(
        &mut self,
        _: &mut Local,
        _: &mut (),
        view: &PortView,
        packet: &mut Packet<Marking>,
    ) {
        assert!(view.class_bytes <= view.queue_bytes);
        let is_second = { packet.header.sequence } / 1_000 % 8 == 1;
        let wanted = if self.at_queue { view.class_bytes >= 5_000 } else { is_second };
        if is_data(packet) && wanted {
            packet.header.code_point = CodePoint::CongestionExperienced;
        }
    }
}

/// When packets of two hosts in step reach a switch, and when each begins to leave: (arrival,
/// begin, size), in ps and bytes, in order.
fn two_in_step(packets: u64) -> Vec<(u64, u64, u64)> {
    let mut free = 0;
    (0..2 * packets)
        .map(|number| {
            let (round, size) = (number / 2, if number < 2 { FIRST } else { FULL });
            let arrival = (FIRST + round * FULL) * BYTE + WIRE;
            let begin = arrival.max(free);
            free = begin + size * BYTE;
            (arrival, begin, size)
        })
        .collect()
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

// ---- on_depart with a look at another port ----

toy! {
    /// Data that leaves through port 4 writes down how long port 2's queue is.
    Peeking: Log<(u64, u64)>, (), NoCtl, (), LineRate, PlainReceiver, Peeker;
    no_ctl!();
    no_host!();
    fn cp(log: &Plain<Log<(u64, u64)>>, _: &SwitchFacts<'_>) -> Option<Peeker> {
        Some(Peeker(log.0.clone()))
    }
}

#[derive(Debug)]
struct Peeker(Log<(u64, u64)>);

impl Cp<Peeking> for Peeker {
    type Level = Strict;
    type Port = ();
    fn port(&self, _: &Plain<Log<(u64, u64)>>, _: &PortFacts) {}
    fn on_depart(
        &mut self,
        cx: &mut Full<'_, Peeking>,
        _: &mut (),
        view: &PortView,
        packet: &mut Packet<Peeking>,
    ) {
        if is_data(packet) && view.port == PortId::new(4) {
            self.0.push((cx.now.ps(), cx.peek(PortId::new(2)).queue_bytes));
        }
    }
}

/// Protects the strict order: what a departure sees of another port is that port at this time, not
/// at some earlier one.
#[test]
fn a_departure_sees_other_ports_as_they_are() {
    let mut setup = star(5, G100, US);
    setup.message(0, 2, 30_000, Time::ZERO);
    setup.message(1, 2, 30_000, Time::ZERO);
    // A little later, so that nothing happens at the same time on both ports; between hosts of its
    // own, so that no ACKs are in the way of either.
    setup.message(3, 4, 30_000, Time::from_ps(12_345));
    let log = Log::default();
    run::<Peeking>(&setup, Plain(log.clone()), 1);
    let seen = log.all();
    assert_eq!(seen.len(), 30);
    let packets = two_in_step(30);
    for (time, bytes) in seen {
        let waiting = packets.iter().filter(|packet| packet.0 < time && packet.1 > time);
        assert_eq!(bytes, waiting.map(|packet| packet.2).sum::<u64>(), "at {time} ps");
    }
}

// ---- on_pfc, to_link ----

toy! {
    /// A switch that is paused says so to the switch before it, by link control.
    Relaying: Log<(u32, bool)>, (), Paused, (), LineRate, PlainReceiver, Relay;
    no_host!();
    fn ctl_bytes(_: &Paused) -> u32 {
        64
    }
    fn cp(log: &Plain<Log<(u32, bool)>>, facts: &SwitchFacts<'_>) -> Option<Relay> {
        Some(Relay { node: facts.node.get(), log: log.0.clone(), previous: None })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Paused(bool);

#[derive(Debug)]
struct Relay {
    node: u32,
    log: Log<(u32, bool)>,
    previous: Option<bool>,
}

impl Cp<Relaying> for Relay {
    type Level = Emits;
    type Port = ();
    const SEES_ARRIVALS: bool = true;
    fn port(&self, _: &Plain<Log<(u32, bool)>>, _: &PortFacts) {}
    fn on_arrival(
        &mut self,
        _: &mut Emit<'_, Relaying>,
        in_port: PortId,
        packet: &mut Packet<Relaying>,
    ) -> Verdict {
        if let Body::Ctl(Paused(paused)) = packet.body {
            assert_eq!((packet.header.kind, in_port), (Kind::LinkCtl, PortId::new(1)));
            self.log.push((self.node, paused));
            return Verdict::Consume;
        }
        Verdict::Forward
    }
    fn on_pfc(
        &mut self,
        cx: &mut Emit<'_, Relaying>,
        _: &mut (),
        view: &PortView,
        priority: Priority,
        paused: bool,
    ) {
        assert_eq!((view.port, priority), (PortId::new(1), Priority::new(3)));
        assert_ne!(self.previous, Some(paused), "pause and resume alternate");
        self.previous = Some(paused);
        cx.to_link(PortId::new(0), Paused(paused));
    }
}

/// Protects what a congestion point hears of PFC, and link control between neighbours.
#[test]
fn a_pause_is_heard_and_passed_on_by_link_control() {
    // Hosts 0 and 1, switches 2, 3, 4; the last link is slow, so 4 pauses 3, and 3 pauses 2.
    let mut setup = line(3, G100, US);
    setup.cables.last_mut().unwrap().rate = Rate::from_gbps(10);
    let (xoff, xon) = (Bytes::new(40_000), Bytes::new(30_000));
    setup.pfc.threshold = Threshold::Static { xoff, xon };
    setup.message(0, 1, 400_000, Time::ZERO);
    let log = Log::default();
    let output = run::<Relaying>(&setup, Plain(log.clone()), 1);
    let heard = |node| log.all().iter().filter(|&&said| said == (node, true)).count() as u64;
    let received = port(&output, 3, 1).pause_frames_received;
    assert!(received > 1, "the case is one with pauses: {received}");
    assert_eq!(heard(2), received, "3 tells 2 of each");
    // 2 tells host 0, which has no ear for it; nobody tells 3 of anything.
    assert!(port(&output, 2, 1).pause_frames_received > 0);
    assert_eq!(heard(3), 0);
    balances(&output).unwrap();
    fct(&output, 0);
}

// ---- may_mark ----

toy! {
    /// RED may mark the second half of each message.
    Sparing: (), (), NoCtl, (), LineRate, PlainReceiver, Sparer;
    no_ctl!();
    no_host!();
    fn cp(_: &Plain<()>, facts: &SwitchFacts<'_>) -> Option<Sparer> {
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

// ---- on_timer with all ports, observe ----

toy! {
    /// Each port counts data; every 10 us the switch compares that with what the fabric counted; at
    /// 20 us it lets the sender go on.
    Timing: Log<(u64, u64)>, (), Go, (), Starter, PlainReceiver, Timer;
    no_host!();
    fn ctl_bytes(_: &Go) -> u32 {
        64
    }
    fn cp(log: &Plain<Log<(u64, u64)>>, _: &SwitchFacts<'_>) -> Option<Timer> {
        Some(Timer { log: log.0.clone(), next: US * 10, address: None })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Go;

#[derive(Debug)]
struct Starter {
    granted: u64,
}

impl Rp<Timing> for Starter {
    fn open(_: &Plain<Log<(u64, u64)>>, _: &mut (), _: &PathFacts, _: Time) -> Starter {
        Starter { granted: 1_000 }
    }
    fn allow(&self) -> Allow {
        Allow { granted: self.granted, ..Allow::EVERYTHING }
    }
    fn on_ctl(&mut self, _: &mut HostCx<'_, Timing>, _: &Go) {
        self.granted = u64::MAX;
    }
}

#[derive(Debug)]
struct Timer {
    log: Log<(u64, u64)>,
    next: Time,
    address: Option<Address>,
}

impl Cp<Timing> for Timer {
    type Level = Emits;
    /// Data bytes that left.
    type Port = u64;
    const SEES_ARRIVALS: bool = true;
    fn port(&self, _: &Plain<Log<(u64, u64)>>, _: &PortFacts) -> u64 {
        0
    }
    fn on_arrival(
        &mut self,
        _: &mut Emit<'_, Timing>,
        _: PortId,
        packet: &mut Packet<Timing>,
    ) -> Verdict {
        self.address = Some(packet.header.address);
        Verdict::Forward
    }
    fn on_depart(
        &mut self,
        _: &mut Local,
        sent: &mut u64,
        view: &PortView,
        packet: &mut Packet<Timing>,
    ) {
        if is_data(packet) {
            assert_eq!((view.port, view.tx_bytes), (PortId::new(1), *sent), "before this packet");
            *sent += u64::from(packet.header.size);
        }
    }
    fn next_timer(&self) -> Time {
        self.next
    }
    fn on_timer(&mut self, cx: &mut Emit<'_, Timing>, ports: &mut dyn Ports<u64>) {
        assert_eq!((cx.now, ports.count()), (self.next, 2));
        let (sent, view) = ports.port(PortId::new(1));
        assert_eq!(*sent, view.tx_bytes, "ports have caught up");
        self.log.push((cx.now.ps(), *sent));
        if cx.now == US * 20 {
            // What arrived last is an ACK: the address is that of its data's QP.
            cx.to_host(self.address.expect("a packet came"), Target::Source, Go);
        }
        self.next += US * 10;
    }
    fn observe(&self, sent: &u64, _: Time) -> Option<f64> {
        Some(*sent as f64)
    }
}

/// Protects timers of switches (ports have caught up when they fire), and what a probe gets.
#[test]
fn a_switch_timer_sees_all_ports_and_lets_a_sender_go() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 100_000, Time::ZERO);
    let targets = ProbeTargets::Ports(vec![(NodeId::new(2), PortId::new(1))]);
    let (interval, start) = (US * 3, US * 25);
    setup.probes = vec![Probe {
        kind: ProbeKind::PortState,
        priority: None,
        interval,
        start,
        end: US * 31,
        targets,
    }];
    let log = Log::default();
    let output = run::<Timing>(&setup, Plain(log.clone()), 1);
    // The other 99 packets leave the host when word has come, and the switch a microsecond and a
    // packet later.
    let go = 20_000_000 + one_way(LEAST, 1);
    let data = (99 + 1) * FULL * BYTE + 2 * WIRE;
    assert_eq!(fct(&output, 0), go + data + ack_back(2));
    // Begun to leave before or at `time`: departures come before probes and after timers.
    let first = go + FULL * BYTE + WIRE;
    let sent = |time: u64, at: u64| {
        let begun = (0..99).filter(|n| first + n * FULL * BYTE < time + at).count() as u64;
        (FIRST + begun * FULL) as f64
    };
    let samples: Vec<_> = output.samples.of(0).map(|s| (s.time.ps(), s.value)).collect();
    let expected = [25, 28, 31].map(|us| (us * 1_000_000, sent(us * 1_000_000, 1)));
    assert_eq!(samples, expected);
    let timers: Vec<_> = log.all().into_iter().map(|(time, sent)| (time, sent as f64)).collect();
    let expected = [10, 20, 30].map(|us| (us * 1_000_000, sent(us * 1_000_000, 0)));
    assert_eq!(timers[..3], expected);
}

// ---- hosts of SwitchFacts, observe_flow, counters ----

toy! {
    /// Tells what it knows of hosts.
    Mapped: Log<Vec<HostPlace>>, (), NoCtl, (), LineRate, PlainReceiver, Map;
    no_ctl!();
    no_host!();
    fn cp(log: &Plain<Log<Vec<HostPlace>>>, facts: &SwitchFacts<'_>) -> Option<Map> {
        log.0.push(facts.hosts.to_vec());
        Some(Map { node: facts.node, tier: facts.tier })
    }
}

#[derive(Debug)]
struct Map {
    node: NodeId,
    tier: u8,
}

impl Cp<Mapped> for Map {
    type Level = PortLocal;
    type Port = ();
    fn port(&self, _: &Plain<Log<Vec<HostPlace>>>, _: &PortFacts) {}
    fn observe_flow(&self, src: u32, dst: u32, now: Time, what: FlowObservable) -> Option<f64> {
        assert_eq!(now, US);
        let number = (self.node.get() * 100 + src * 10 + dst) as f64;
        (what == FlowObservable::Credits).then_some(number)
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("tiers", u64::from(self.tier))]
    }
}

/// Protects what a switch knows of racks and pods, that probes ask a flow's first switch, and that
/// switches' counts are summed.
#[test]
fn switches_know_racks_and_pods_and_are_asked_for_flows() {
    let mut setup = empty();
    let core = setup.switch(3);
    let mut tors = Vec::new();
    for _ in 0..2 {
        let agg = setup.switch(2);
        setup.cable(agg, core, G100, US);
        for _ in 0..2 {
            let tor = setup.switch(1);
            let host = setup.host();
            setup.cable(host, tor, Rate::from_gbps(25), US);
            setup.cable(tor, agg, G100, US);
            tors.push(tor);
        }
    }
    // The last host has a second port, to another rack.
    let last = setup.nodes.len() as u32 - 1;
    setup.cable(last, tors[0], G100, US);
    setup.message(2, 1, 1000, Time::ZERO);
    setup.messages[0].src = NodeId::new(tors[2] + 1);
    setup.messages[0].dst = NodeId::new(tors[1] + 1);
    let probe = |kind| {
        let targets = ProbeTargets::Flows(vec![units::FlowId::new(0)]);
        Probe { kind, priority: None, interval: US, start: US, end: US, targets }
    };
    setup.probes =
        [ProbeKind::FlowQueue, ProbeKind::FlowCredits, ProbeKind::FlowRate].map(probe).into();
    let log = Log::default();
    let output = run::<Mapped>(&setup, Plain(log.clone()), 1);
    let place = |host: usize, pod, ports| HostPlace {
        tor: NodeId::new(tors[host]),
        rack: host as u32,
        pod,
        rate: Rate::from_gbps(25),
        ports,
    };
    let expected = vec![place(0, 0, 1), place(1, 0, 1), place(2, 1, 1), place(3, 1, 2)];
    assert_eq!(log.all(), vec![expected; 7]);
    let samples = [0, 1, 2].map(|probe| Vec::from_iter(output.samples.of(probe).map(|s| s.value)));
    assert_eq!(samples, [vec![], vec![f64::from(tors[2] * 100 + 2 * 10 + 1)], vec![]]);
    assert_eq!(output.counters["tiers"], 3 + 2 * 2 + 4);
}

// ---- classes ----

toy! {
    /// Senders begin with eight notices in class 5, which keeps at most four waiting anywhere.
    Noisy: Log<Time>, (), Notice, (), Shouter, Counter, PlainSwitch;
    no_host!();
    no_cp!();
    fn ctl_bytes(_: &Notice) -> u32 {
        64
    }
    fn ctl_priority(_: &Plain<Log<Time>>, _: &Notice) -> Option<Priority> {
        Some(Priority::new(5))
    }
    const CLASSES: bool = true;
    fn classes(_: &Plain<Log<Time>>, _: &WireFacts) -> Vec<ClassSpec> {
        vec![ClassSpec { priority: Priority::new(5), room: Room::DropTail(4), share: 1.0, burst: 1 }]
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Notice;

#[derive(Debug)]
struct Shouter;

impl<S: Scheme<Ctl = Notice>> Rp<S> for Shouter {
    fn open(_: &S::Params, _: &mut S::Host, _: &PathFacts, _: Time) -> Shouter {
        Shouter
    }
    fn allow(&self) -> Allow {
        Allow::EVERYTHING
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, S>, left: Bytes) {
        if left > Bytes::ZERO {
            (0..8).for_each(|_| cx.send(Notice));
        }
    }
}

#[derive(Debug)]
struct Counter;

impl<S: Scheme<Params = Plain<Log<Time>>>> Np<S> for Counter {
    fn open(_: &S::Params, _: &mut S::Host, _: Time) -> Counter {
        Counter
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, S>, _: &S::Ctl) {
        cx.params.0.push(cx.now);
    }
}

/// Protects drop-tail classes, at hosts and at switches: what finds its class full is dropped and
/// counted, and is no loss of a lossless class.
#[test]
fn a_drop_tail_class_keeps_so_many_and_drops_the_rest() {
    let mut setup = star(5, G100, US);
    setup.classes.strict |= 1 << 5;
    for sender in 0..4 {
        setup.message(sender, 4, 1_000, Time::ZERO);
    }
    let log = Log::default();
    let output = run::<Noisy>(&setup, Plain(log.clone()), 1);
    // Of eight at once each host keeps four. At the switch these are four rounds of four: the first
    // four are kept; then one leaves a round, and one of four is kept.
    (0..4).for_each(|host| assert_eq!(port(&output, host, 0).dropped_packets, 4));
    assert_eq!(log.all().len(), 4 + 3);
    let dropped: u64 = (0..4).map(|at| port(&output, 5, at).dropped_packets).sum();
    assert_eq!((dropped, output.lossless_drops), (16 - 7, 0));
    assert_eq!(output.audits[0].removed, 9 * LEAST);
    balances(&output).unwrap();
    (0..4).for_each(|flow| assert!(fct(&output, flow) > 0));
}

toy! {
    /// Class 3 may take half of every link.
    Shaped: (), (), NoCtl, (), LineRate, PlainReceiver, PlainSwitch;
    no_ctl!();
    no_host!();
    no_cp!();
    const CLASSES: bool = true;
    fn classes(_: &Plain<()>, _: &WireFacts) -> Vec<ClassSpec> {
        vec![ClassSpec { priority: Priority::new(3), room: Room::Lossless, share: 0.5, burst: 1 }]
    }
}

/// Protects shaped classes, at hosts and at switches: each packet is followed by as much silence.
#[test]
fn a_shaped_class_takes_its_share() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 50_000, Time::ZERO);
    let output = run::<Shaped>(&setup, Plain(()), 1);
    let begins = 2 * (FIRST + 48 * FULL) * BYTE;
    // The switch's packet two waits for the silence after packet one, which is longer by as much
    // as the first packet is; nothing else waits.
    let expected = begins + one_way(FULL, 2) + ack_back(2);
    assert!((expected..=expected + 3 * (FIRST - FULL) * BYTE).contains(&fct(&output, 0)));
    let mut two = star(3, G100, US);
    two.message(0, 2, 50_000, Time::ZERO);
    two.message(1, 2, 50_000, Time::ZERO);
    let output = run::<Shaped>(&two, Plain(()), 1);
    // 100 packets at half the rate through one port.
    let last = fct(&output, 0).max(fct(&output, 1));
    let at_least = 2 * 99 * FULL * BYTE;
    assert!((at_least..at_least + 5_000_000).contains(&last), "{last}");
}

toy! {
    /// Senders begin with eight notices in class 5, which may take 84 of 1700 bytes, two at once.
    Bucket: Log<Time>, (), Notice, (), Shouter, Counter, PlainSwitch;
    no_host!();
    no_cp!();
    fn ctl_bytes(_: &Notice) -> u32 {
        64
    }
    fn ctl_priority(_: &Plain<Log<Time>>, _: &Notice) -> Option<Priority> {
        Some(Priority::new(5))
    }
    const CLASSES: bool = true;
    fn classes(_: &Plain<Log<Time>>, wire: &WireFacts) -> Vec<ClassSpec> {
        let sizes = [wire.packet_bytes, wire.ack_bytes, wire.least_bytes];
        assert_eq!(sizes, [FULL, ACK, LEAST].map(Bytes::new));
        let share = LEAST as f64 / SPACING as f64;
        vec![ClassSpec { priority: Priority::new(5), room: Room::Lossless, share, burst: 2 }]
    }
}

/// Bytes of link time from a notice to the next.
const SPACING: u64 = 1_700;

/// Protects the depth of a shaped class's bucket: two go at once, then one as often as its share
/// says: the wire's delays do not add up. A long silence saves up two again, no more.
#[test]
fn a_shaped_class_may_save_up_a_burst() {
    let mut setup = line(1, G100, US);
    setup.classes.strict |= 1 << 5;
    setup.message(0, 1, 1_000_000, Time::ZERO);
    setup.message(0, 1, 1_000_000, US * 50);
    let log = Log::default();
    run::<Bucket>(&setup, Plain(log.clone()), 1);
    let there = log.all();
    assert_eq!(there.len(), 16);
    let gap = (SPACING * BYTE) as i64;
    // Both wires are full of data: a notice waits up to a packet at each.
    let slack = (2 * FIRST * BYTE) as i64;
    for burst in there.chunks(8) {
        for (number, time) in burst.iter().enumerate() {
            let due = (number as i64 - 1).max(0) * gap;
            let late = (time.ps() - burst[0].ps()) as i64 - due;
            assert!(late.abs() <= slack, "{number}: {late} ps late");
        }
    }
}

// ---- roles ----

toy! {
    /// Only switches of tier 2 count hops; the sender stops when the count is not one.
    Roles: u64, u64, NoCtl, (), HopChecker, PlainReceiver, HopCounter;
    no_ctl!();
    no_host!();
    fn cp(_: &Plain<u64>, facts: &SwitchFacts<'_>) -> Option<HopCounter> {
        (facts.tier == 2).then_some(HopCounter)
    }
}

#[derive(Debug)]
struct HopChecker {
    window: Bytes,
}

impl Rp<Roles> for HopChecker {
    fn open(_: &Plain<u64>, _: &mut (), _: &PathFacts, _: Time) -> HopChecker {
        HopChecker { window: Bytes::new(1) }
    }
    fn allow(&self) -> Allow {
        Allow { window: self.window, ..Allow::EVERYTHING }
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
    fn port(&self, _: &Plain<u64>, _: &PortFacts) {}
    fn on_depart(&mut self, _: &mut Local, _: &mut (), _: &PortView, packet: &mut Packet<Roles>) {
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
    no_ctl!();
    no_host!();
    fn cp(_: &Plain<Log<u64>>, _: &SwitchFacts<'_>) -> Option<Stack<Digit<1>, Digit<2>>> {
        Some(Stack(Digit, Digit))
    }
}

#[derive(Debug)]
struct MetaReader;

impl Rp<Stacked> for MetaReader {
    fn open(_: &Plain<Log<u64>>, _: &mut (), _: &PathFacts, _: Time) -> MetaReader {
        MetaReader
    }
    fn allow(&self) -> Allow {
        Allow::EVERYTHING
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
    const SEES_ARRIVALS: bool = true;
    fn port(&self, _: &Plain<Log<u64>>, _: &PortFacts) {}
    fn on_arrival(&mut self, _: &mut Local, _: PortId, packet: &mut Packet<Stacked>) -> Verdict {
        Self::write(packet);
        Verdict::Forward
    }
    fn on_enqueue(&mut self, _: &mut Local, _: &mut (), _: &PortView, p: &mut Packet<Stacked>) {
        Self::write(p);
    }
    fn on_depart(&mut self, _: &mut Local, _: &mut (), _: &PortView, p: &mut Packet<Stacked>) {
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

// ---- MAX_HOPS, MAX_RATES ----

toy! {
    /// Its packets have room for two switches.
    Shallow: (), (), NoCtl, (), LineRate, PlainReceiver, PlainSwitch;
    no_ctl!();
    no_host!();
    no_cp!();
    const MAX_HOPS: usize = 2;
}

toy! {
    /// Its packets can tell of one rate beside those that INT has codes for.
    Coarse: (), (), NoCtl, (), LineRate, PlainReceiver, PlainSwitch;
    no_ctl!();
    no_host!();
    no_cp!();
    const MAX_RATES: usize = wire::int::RATES.len() + 1;
}

/// Protects drop-tail classes: what must not be dropped may not be in them.
#[test]
fn a_drop_tail_class_that_others_use_is_refused() {
    let taken = |change: fn(&mut fabric::Setup)| {
        let mut setup = line(1, G100, US);
        setup.message(0, 1, 1_000, Time::ZERO);
        change(&mut setup);
        Ready::<Noisy>::new(&setup, Plain(Log::default())).err()
    };
    let refused = Some(Refusal::ClassTaken { priority: 5 });
    assert_eq!(taken(|_| {}), None);
    assert_eq!(taken(|setup| setup.messages[0].priority = 5), refused);
    assert_eq!(taken(|setup| setup.classes.ack = Some(5)), refused);
    assert_eq!(taken(|setup| setup.classes.control = 5), refused);
    assert_eq!(taken(|setup| setup.pfc.lossless = 1 << 5 | 1 << 3), refused);
}

/// Protects packets from paths that are longer than they have room for.
#[test]
fn paths_that_are_too_long_are_refused() {
    let mut setup = line(3, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let refused = Ready::<Shallow>::new(&setup, Plain(())).err();
    assert_eq!(refused, Some(Refusal::LongPaths { switches: 3, room: 2 }));
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
        for (cable, gbps) in setup.cables.iter_mut().zip(rates) {
            cable.rate = Rate::from_gbps(*gbps);
        }
        setup.message(0, 1, 1_000, Time::ZERO);
        Ready::<Coarse>::new(&setup, Plain(())).err()
    };
    assert_eq!(with_rates(&[37, 37, 100, 400]), None);
    let refused = Some(Refusal::ManyRates { rates: 14, room: 13 });
    assert_eq!(with_rates(&[37, 38]), refused);
}
