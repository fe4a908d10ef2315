//! A second simulator, as plain as can be: one heap of events for the whole network, nothing lazy,
//! no windows. On trees with the scheme `none` and PFC it must give every flow the same time, to
//! the picosecond.

use crate::common::{ACK, Build, Dice, LEAST, data_bytes, empty, lossless, pauses, run};
use fabric::{NodeKind, Setup, Threshold};
use schemes::none::{NoControl, NoParams};
use schemes::rate_window::WindowMode;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use units::{Bytes, Rate, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Pfc { pause: bool },
    Ack,
    Data { last: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Frame {
    what: What,
    size: u64,
    flow: usize,
    /// Where it goes, and the port through which it came to where it is.
    to: usize,
    ingress: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrive { node: usize, port: usize, frame: Frame },
    Post { flow: usize },
    Depart { node: usize, port: usize },
}

#[derive(Default)]
struct Port {
    peer: (usize, usize),
    rate: Rate,
    delay: u64,
    free_at: u64,
    paused: bool,
    /// PFC, ACKs, data.
    queues: [VecDeque<Frame>; 3],
    /// When it last began to send, and when a resume last joined: at the same instant their order
    /// is the fabric's affair.
    began: u64,
    /// As an ingress: data bytes stored, and whether its peer is paused.
    stored: u64,
    pausing: bool,
}

struct Oracle<'a> {
    setup: &'a Setup,
    ports: Vec<Vec<Port>>,
    /// By node and host: the port that leads there.
    next_hop: Vec<BTreeMap<usize, usize>>,
    /// Packets of each host's flows still to be sent, in turn.
    ready: BTreeMap<usize, VecDeque<usize>>,
    sent: Vec<u64>,
    fct: Vec<u64>,
    events: BinaryHeap<Reverse<(u64, u8, u64, Event)>>,
    number: u64,
    xoff: u64,
    xon: u64,
    /// Something happened of which the order is not the oracle's to say.
    tie: bool,
}

impl Oracle<'_> {
    fn new(setup: &Setup) -> Oracle<'_> {
        let Threshold::Static { xoff, xon } = setup.pfc.threshold else { panic!("static only") };
        let mut ports: Vec<Vec<Port>> = setup.nodes.iter().map(|_| Vec::new()).collect();
        for cable in &setup.links {
            let (a, b) = (cable.a.index(), cable.b.index());
            let (at, bt) = (ports[a].len(), ports[b].len());
            for (node, peer) in [(a, (b, bt)), (b, (a, at))] {
                let delay = cable.delay.ps();
                let began = u64::MAX;
                ports[node].push(Port { peer, rate: cable.rate, delay, began, ..Port::default() });
            }
        }
        let mut next_hop = vec![BTreeMap::new(); ports.len()];
        for host in 0..ports.len() {
            // On a tree there is one way: go out from the host, remember the way back.
            let mut open = vec![(host, usize::MAX)];
            while let Some((node, from)) = open.pop() {
                for port in &ports[node] {
                    let (peer, back) = port.peer;
                    if peer != from {
                        next_hop[peer].insert(host, back);
                        open.push((peer, node));
                    }
                }
            }
        }
        Oracle {
            setup,
            ports,
            next_hop,
            ready: BTreeMap::new(),
            sent: vec![0; setup.messages.len()],
            fct: vec![0; setup.messages.len()],
            events: BinaryHeap::new(),
            number: 0,
            xoff: xoff.get(),
            xon: xon.get(),
            tie: false,
        }
    }

    fn at(&mut self, time: u64, event: Event) {
        let class = match event {
            Event::Arrive { frame: Frame { what: What::Pfc { .. }, .. }, .. } => 0,
            Event::Arrive { frame: Frame { what: What::Ack, .. }, .. } => 1,
            Event::Arrive { .. } => 2,
            Event::Post { .. } => 3,
            Event::Depart { .. } => 4,
        };
        self.number += 1;
        self.events.push(Reverse((time, class, self.number, event)));
    }

    fn is_host(&self, node: usize) -> bool {
        self.setup.nodes[node].kind == NodeKind::Host
    }

    fn queue(&mut self, now: u64, node: usize, port: usize, frame: Frame) {
        let class = match frame.what {
            What::Pfc { .. } => 0,
            What::Ack => 1,
            What::Data { .. } => 2,
        };
        self.ports[node][port].queues[class].push_back(frame);
        self.at(now, Event::Depart { node, port });
    }

    fn pfc(&mut self, now: u64, node: usize, port: usize, pause: bool) {
        let what = What::Pfc { pause };
        self.queue(now, node, port, Frame { what, size: LEAST, flow: 0, to: 0, ingress: 0 });
    }

    fn arrive(&mut self, now: u64, node: usize, port: usize, mut frame: Frame) {
        if let What::Pfc { pause } = frame.what {
            self.ports[node][port].paused = pause;
            return self.at(now, Event::Depart { node, port });
        }
        if !self.is_host(node) {
            frame.ingress = port;
            let out = self.next_hop[node][&frame.to];
            self.queue(now, node, out, frame);
            if matches!(frame.what, What::Data { .. }) {
                let ingress = &mut self.ports[node][port];
                ingress.stored += frame.size;
                if ingress.stored >= self.xoff && !ingress.pausing {
                    ingress.pausing = true;
                    self.pfc(now, node, port, true);
                }
            }
            return;
        }
        let message = &self.setup.messages[frame.flow];
        match frame.what {
            What::Data { last } => {
                // The flow is done when the ACK of its last packet is back: that one carries a
                // mark.
                let to = message.src.index();
                let flow = if last { frame.flow } else { usize::MAX };
                self.queue(
                    now,
                    node,
                    0,
                    Frame { what: What::Ack, size: ACK, flow, to, ingress: 0 },
                );
            }
            _ => self.fct[frame.flow] = now - message.start.ps(),
        }
    }

    /// The next data packet of a host.
    fn data(&mut self, host: usize) -> Option<Frame> {
        let ready = self.ready.get_mut(&host)?;
        let flow = ready.pop_front()?;
        let message = &self.setup.messages[flow];
        let (size, payload) = (message.size.get(), u64::from(self.setup.payload));
        let first = self.sent[flow] == 0;
        let part = payload.min(size - self.sent[flow]);
        self.sent[flow] += part;
        let last = self.sent[flow] == size;
        if !last {
            ready.push_back(flow);
        }
        let (what, size) = (What::Data { last }, data_bytes(part, first));
        Some(Frame { what, size, flow, to: message.dst.index(), ingress: 0 })
    }

    fn depart(&mut self, now: u64, node: usize, number: usize) {
        let port = &mut self.ports[node][number];
        if port.free_at > now {
            return;
        }
        let paused = port.paused;
        let control = port.queues[0].pop_front().or_else(|| port.queues[1].pop_front());
        let frame = match control {
            Some(frame) => Some(frame),
            None if paused => None,
            None if self.is_host(node) => self.data(node),
            None => self.ports[node][number].queues[2].pop_front(),
        };
        let Some(frame) = frame else { return };
        let port = &mut self.ports[node][number];
        let end = now + port.rate.time_for(Bytes::new(frame.size)).ps();
        (port.free_at, port.began) = (end, now);
        let ((peer, back), arrival) = (port.peer, end + port.delay);
        self.at(arrival, Event::Arrive { node: peer, port: back, frame });
        self.at(end, Event::Depart { node, port: number });
        if !self.is_host(node) && matches!(frame.what, What::Data { .. }) {
            let ingress = &mut self.ports[node][frame.ingress];
            ingress.stored -= frame.size;
            if ingress.pausing && ingress.stored <= self.xon {
                ingress.pausing = false;
                // What that port sends at this very instant may go before the resume or after it.
                let waits = ingress.queues.iter().any(|queue| !queue.is_empty());
                self.tie |= ingress.began == now || ingress.free_at == now;
                self.tie |= ingress.free_at < now && waits;
                self.pfc(now, node, frame.ingress, false);
            }
        }
    }

    /// The time of each flow; `None` where the order of equals decided something.
    fn run(mut self) -> Option<Vec<u64>> {
        for (flow, message) in self.setup.messages.iter().enumerate() {
            self.at(message.start.ps(), Event::Post { flow });
        }
        let mut before = (u64::MAX, 0, usize::MAX, usize::MAX);
        while let Some(Reverse((now, class, _, event))) = self.events.pop() {
            match event {
                Event::Arrive { node, port, frame } => {
                    let this = (now, class, node, port);
                    self.tie |= before.0 == now && before.1 == class && before.2 == node;
                    before = this;
                    if frame.flow == usize::MAX && node == frame.to {
                        continue;
                    }
                    self.arrive(now, node, port, frame);
                }
                Event::Post { flow } => {
                    let host = self.setup.messages[flow].src.index();
                    self.ready.entry(host).or_default().push_back(flow);
                    self.at(now, Event::Depart { node: host, port: 0 });
                }
                Event::Depart { node, port } => self.depart(now, node, port),
            }
        }
        (!self.tie).then_some(self.fct)
    }
}

/// A random tree of switches with hosts, and flows at random times.
fn tree(dice: &mut Dice) -> Setup {
    let mut setup = empty();
    let switches: Vec<u32> = (0..dice.between(1, 4)).map(|_| setup.switch(1)).collect();
    let link = |dice: &mut Dice| {
        let rate = Rate::from_gbps(dice.pick(&[10, 25, 33, 40, 100, 170, 400]));
        (rate, Time::from_ps(dice.between(50_000, 3_000_000)))
    };
    for (number, &switch) in switches.iter().enumerate().skip(1) {
        let parent = switches[dice.between(0, number as u64 - 1) as usize];
        let (rate, delay) = link(dice);
        setup.cable(parent, switch, rate, delay);
    }
    let mut hosts = Vec::new();
    for &switch in &switches {
        for _ in 0..dice.between(1, 4) {
            let host = setup.host();
            let (rate, delay) = link(dice);
            setup.cable(host, switch, rate, delay);
            hosts.push(host);
        }
    }
    if hosts.len() == 1 {
        let host = setup.host();
        setup.cable(host, switches[0], Rate::from_gbps(25), Time::from_ps(777_777));
        hosts.push(host);
    }
    let hot = dice.pick(&hosts);
    let mut wanted: Vec<(Time, u32, u32, u64)> = (0..dice.between(2, 20))
        .filter_map(|_| {
            let (src, dst) = (dice.pick(&hosts), dice.pick(&hosts));
            let dst = if dice.one_in(2) { hot } else { dst };
            let start = Time::from_ps(dice.between(0, 8_000_000));
            (src != dst).then(|| (start, src, dst, dice.between(1, 60_000)))
        })
        .collect();
    wanted.push((Time::from_ps(17), hosts[0], hosts[1], 12_345));
    wanted.sort_unstable();
    for (start, src, dst, size) in wanted {
        setup.message(src, dst, size, start);
    }
    let xoff = dice.between(3_000, 40_000);
    let xon = Bytes::new(dice.between(0, xoff - 1));
    setup.pfc.threshold = Threshold::Static { xoff: Bytes::new(xoff), xon };
    setup.switch.buffer = Bytes::new(100_000_000);
    setup.stop = Time::from_ms(1_000);
    setup
}

/// Protects everything at once where the scheme does nothing: serialisation, propagation, queues,
/// the ACKs' precedence, round-robin at hosts, PFC's thresholds, frames and their time on the wire.
#[test]
fn flow_times_are_those_of_a_plain_simulation() {
    let (mut compared, mut paused) = (0, 0);
    for seed in 0..300 {
        let setup = tree(&mut Dice::new(seed));
        let Some(expected) = Oracle::new(&setup).run() else { continue };
        let output =
            run::<NoControl>(&setup, NoParams { window: WindowMode::None }, 1 + seed as usize % 3);
        lossless(&setup, &output).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let times: Vec<u64> = output.flows.iter().map(|flow| flow.fct.ps()).collect();
        assert_eq!(times, expected, "seed {seed}");
        compared += 1;
        paused += u32::from(pauses(&output) > 0);
    }
    assert!(compared >= 200, "only {compared} of 300 cases had an order of their own");
    assert!(paused >= 100, "only {paused} of them paused");
}
