//! What a congestion point sees of ports, PFC, time and hosts.

use super::{is_data, two_in_step};
use crate::common::{
    BYTE, Build, FIRST, FULL, G100, LEAST, US, WIRE, ack_back, balances, empty, fct, line, one_way,
    port, run, star,
};
use crate::toy::parts;
use crate::toy::{Basic, Emitting, Log, Port, Sender, Switch, Watching, Word};
use fabric::{Impairment, Probe, ProbeKind, ProbeTargets, Threshold};
use schemes::contract::{
    Address, EmitCx, FullCx, HoldVerdict, HostCx, HostLocation, LocalCx, Packet, PacketKind,
    PortFacts, PortView, Ports, QpEnd, SendLimits, Strict, SwitchFlowMetric,
};
use units::{Bytes, NodeId, PortId, Priority, Rate, Time};

// ---- on_depart with a look at another port ----

/// Data that leaves through port 4 writes down how long port 2's queue is.
struct Peeker(Log<(u64, u64)>);

impl Switch<Watching<Strict>> for Peeker {
    fn on_depart(
        &mut self,
        cx: &mut FullCx<'_, Watching<Strict>>,
        _: &mut Port,
        view: &PortView,
        packet: &mut Packet<Watching<Strict>>,
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
    let queues = log.clone();
    let toy = parts().switch(move |_| Some(Peeker(queues.clone())));
    run::<Watching<Strict>>(&setup, toy, 1);
    let seen = log.all();
    assert_eq!(seen.len(), 30);
    let packets = two_in_step(30);
    for (time, bytes) in seen {
        let waiting = packets.iter().filter(|packet| packet.0 < time && packet.1 > time);
        assert_eq!(bytes, waiting.map(|packet| packet.2).sum::<u64>(), "at {time} ps");
    }
}

// ---- on_pfc, to_link ----

/// A switch that is paused says so to the switch before it, by link control.
struct Relay {
    node: u32,
    log: Log<(u32, bool)>,
    previous: Option<bool>,
}

impl Switch<Emitting> for Relay {
    fn on_pfc(
        &mut self,
        cx: &mut EmitCx<'_, Emitting>,
        _: &mut Port,
        view: &PortView,
        priority: Priority,
        paused: bool,
    ) {
        assert_eq!((view.port, priority), (PortId::new(1), Priority::new(3)));
        assert_ne!(self.previous, Some(paused), "pause and resume alternate");
        self.previous = Some(paused);
        cx.to_link(PortId::new(0), Word("paused", paused.into()));
    }
    fn on_arrival(
        &mut self,
        _: &mut EmitCx<'_, Emitting>,
        in_port: PortId,
        packet: &mut Packet<Emitting>,
    ) -> HoldVerdict {
        if let Some(&Word("paused", paused)) = packet.ctl() {
            assert_eq!((packet.header.kind, in_port), (PacketKind::LinkControl, PortId::new(1)));
            self.log.push((self.node, paused == 1));
            return HoldVerdict::Consume;
        }
        HoldVerdict::Forward
    }
}

/// Protects the hook for PFC frames, and link control between neighbours.
#[test]
fn a_pause_is_heard_and_passed_on_by_link_control() {
    // Hosts 0 and 1, switches 2, 3, 4; the last link is slow, so 4 pauses 3, and 3 pauses 2.
    let mut setup = line(3, G100, US);
    setup.links.last_mut().unwrap().rate = Rate::from_gbps(10);
    let (xoff, xon) = (Bytes::new(40_000), Bytes::new(30_000));
    setup.pfc.threshold = Threshold::Static { xoff, xon };
    setup.message(0, 1, 400_000, Time::ZERO);
    let log = Log::default();
    let relayed = log.clone();
    let toy = parts().switch(move |facts| {
        Some(Relay { node: facts.node.get(), log: relayed.clone(), previous: None })
    });
    let output = run::<Emitting>(&setup, toy, 1);
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

// ---- on_rate ----

/// Writes down the rates of ports that change, and that of the last packet through port 1.
struct Clerk {
    log: Log<(u16, Rate)>,
    now: Log<Rate>,
}

impl Switch<Basic> for Clerk {
    fn on_rate(&mut self, _: &mut Port, facts: &PortFacts) {
        self.log.push((facts.port.get(), facts.rate));
    }
    fn on_depart(
        &mut self,
        _: &mut LocalCx,
        _: &mut Port,
        view: &PortView,
        packet: &mut Packet<Basic>,
    ) {
        if is_data(packet) && view.port == PortId::new(1) {
            self.now.push(view.rate);
        }
    }
}

/// Protects the hook for links that change, while packets wait at the port.
#[test]
fn a_congestion_point_hears_of_a_new_rate_and_of_the_old_one_again() {
    let mut setup = star(3, G100, US);
    setup.message(0, 1, 200_000, Time::ZERO);
    setup.message(2, 1, 200_000, Time::ZERO);
    let slow = Rate::from_gbps(10);
    setup.impairments.push(Impairment {
        link: 1,
        from: US * 10,
        until: US * 20,
        rate: Some(slow),
        error_rate: None,
    });
    let (log, now) = (Log::default(), Log::default());
    let (heard, seen) = (log.clone(), now.clone());
    let toy = parts().switch(move |_| Some(Clerk { log: heard.clone(), now: seen.clone() }));
    let output = run::<Basic>(&setup, toy, 1);
    assert_eq!(log.all(), [(1, slow), (1, G100)]);
    let rates = now.all();
    let changes = rates.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!((changes, rates[0], rates.last()), (2, G100, Some(&G100)));
    balances(&output).unwrap();
    fct(&output, 0);
}

// ---- on_timer with all ports, observe ----

const GO: Word = Word("go", 0);

/// Sends a packet, and the rest when it is let go.
struct Starter {
    granted: u64,
}

impl Sender<Emitting> for Starter {
    fn limits(&self) -> SendLimits {
        SendLimits { credit_limit: self.granted, ..SendLimits::UNLIMITED }
    }
    fn on_ctl(&mut self, _: &mut HostCx<'_, Emitting>, _: Word) {
        self.granted = u64::MAX;
    }
}

/// Each port counts data; every 10 us the switch compares that with what the fabric counted; at
/// 20 us it lets the sender go on.
struct Timer {
    log: Log<(u64, u64)>,
    next: Time,
    address: Option<Address>,
}

impl Switch<Emitting> for Timer {
    fn on_depart(
        &mut self,
        _: &mut LocalCx,
        [sent, ..]: &mut Port,
        view: &PortView,
        packet: &mut Packet<Emitting>,
    ) {
        if is_data(packet) {
            assert_eq!((view.port, view.tx_bytes), (PortId::new(1), *sent), "before this packet");
            *sent += u64::from(packet.header.size);
        }
    }
    fn observe(&self, [sent, ..]: &Port, _: Time) -> Option<f64> {
        Some(*sent as f64)
    }
    fn on_arrival(
        &mut self,
        _: &mut EmitCx<'_, Emitting>,
        _: PortId,
        packet: &mut Packet<Emitting>,
    ) -> HoldVerdict {
        self.address = Some(packet.header.address);
        HoldVerdict::Forward
    }
    fn next_timer(&self) -> Time {
        self.next
    }
    fn on_timer(&mut self, cx: &mut EmitCx<'_, Emitting>, ports: &mut dyn Ports<Port>) {
        assert_eq!((cx.now, ports.count()), (self.next, 2));
        let ([sent, ..], view) = ports.port(PortId::new(1));
        assert_eq!(*sent, view.tx_bytes, "ports have caught up");
        self.log.push((cx.now.ps(), *sent));
        if cx.now == US * 20 {
            // What arrived last is an ACK: the address is that of its data's QP.
            cx.to_host(self.address.expect("a packet came"), QpEnd::Sender, GO);
        }
        self.next += US * 10;
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
    let timers = log.clone();
    let toy = parts()
        .sender(|_, _, _| Starter { granted: 1_000 })
        .switch(move |_| Some(Timer { log: timers.clone(), next: US * 10, address: None }));
    let output = run::<Emitting>(&setup, toy, 1);
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
    let samples: Vec<_> =
        output.samples.of(0).map(Result::unwrap).map(|s| (s.time.ps(), s.value)).collect();
    let expected = [25, 28, 31].map(|us| (us * 1_000_000, sent(us * 1_000_000, 1)));
    assert_eq!(samples, expected);
    let timers: Vec<_> = log.all().into_iter().map(|(time, sent)| (time, sent as f64)).collect();
    let expected = [10, 20, 30].map(|us| (us * 1_000_000, sent(us * 1_000_000, 0)));
    assert_eq!(timers[..3], expected);
}

// ---- hosts of SwitchFacts, observe_flow, counters ----

/// Answers for flows with its node and their hosts, and counts tiers.
struct Map {
    node: NodeId,
    tier: u8,
}

impl Switch<Basic> for Map {
    fn observe_flow(&self, src: u32, dst: u32, now: Time, what: SwitchFlowMetric) -> Option<f64> {
        assert_eq!(now, US);
        let number = (self.node.get() * 100 + src * 10 + dst) as f64;
        (what == SwitchFlowMetric::Credits).then_some(number)
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
    let known = log.clone();
    let toy = parts().switch(move |facts| {
        known.push(facts.hosts.to_vec());
        Some(Map { node: facts.node, tier: facts.tier })
    });
    let output = run::<Basic>(&setup, toy, 1);
    let place = |host: usize, pod, ports| HostLocation {
        tor: NodeId::new(tors[host]),
        rack: host as u32,
        pod,
        rate: Rate::from_gbps(25),
        ports,
    };
    let expected = vec![place(0, 0, 1), place(1, 0, 1), place(2, 1, 1), place(3, 1, 2)];
    assert_eq!(log.all(), vec![expected; 7]);
    let samples = [0, 1, 2]
        .map(|probe| Vec::from_iter(output.samples.of(probe).map(Result::unwrap).map(|s| s.value)));
    assert_eq!(samples, [vec![], vec![f64::from(tors[2] * 100 + 2 * 10 + 1)], vec![]]);
    assert_eq!(output.counters["tiers"], 3 + 2 * 2 + 4);
}
