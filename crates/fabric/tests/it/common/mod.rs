//! Shared by the tests that drive the fabric directly: networks in a line, and what must hold of
//! every run.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod random;

use fabric::{
    Balance, ClassConfig, Headroom, HostConfig, Joins, Link, Message, Node, NodeKind, Paths,
    PauseTiming, PfcConfig, PortCounters, PortUse, Quirks, Recovery, RunOutput, Setup, Simulation,
    Spray, SwitchConfig, Threshold,
};
use schemes::contract::Scheme;
use units::splitmix;
use units::{Bytes, MixSide, NodeId, Rate, Time};

/// Wire bytes of a data packet with `payload` bytes: 14 Ethernet, 20 IPv4, 8 UDP, 12 BTH, 4 ICRC,
/// 4 FCS, 20 preamble and gap, and on the first of a WRITE 16 RETH; padded to four bytes.
pub const fn data_bytes(payload: u64, first: bool) -> u64 {
    82 + payload.next_multiple_of(4) + if first { 16 } else { 0 }
}
/// A packet of 1000 payload bytes.
pub const FULL: u64 = data_bytes(1000, false);
/// The first one of a message.
pub const FIRST: u64 = data_bytes(1000, true);
/// An ACK: 14 + 20 + 8 + 12 + 4 AETH + 4 + 4 = 66, and 20 preamble and gap.
pub const ACK: u64 = 86;
/// A PFC frame, and any other that is as short as a frame may be.
pub const LEAST: u64 = 84;

/// A setup without nodes: payload 1000, ACK per packet in class 6 (strict), data in class 3
/// (lossless, Xoff 320 KB), no timeout, no marking.
pub fn empty() -> Setup {
    Setup {
        nodes: Vec::new(),
        links: Vec::new(),
        outages: Vec::new(),
        impairments: Vec::new(),
        class_settings: Vec::new(),
        messages: Vec::new(),
        joins: Joins::default(),
        wire: wire::Profile::Rocev2,
        payload: 1000,
        host: HostConfig {
            ack_every: 1,
            retransmit_timeout: Time::NEVER,
            latency: Time::ZERO,
            nack: true,
            nack_interval: Time::NEVER,
            recovery: Recovery::GO_BACK_N,
            spray: Spray::Off,
            entropies: 1,
            ports: PortUse::Hash,
        },
        slow_receivers: Vec::new(),
        switch: SwitchConfig {
            buffer: Bytes::new(32_000_000),
            lossy_alpha: [None; 8],
            latency: Time::ZERO,
            cioq: None,
        },
        pfc: PfcConfig {
            timing: PauseTiming::default(),
            lossless: 1 << 3,
            threshold: Threshold::Static { xoff: Bytes::new(320_000), xon: Bytes::new(318_000) },
            of_class: [None; 8],
            headroom: Headroom::Auto,
        },
        ecn: None,
        classes: ClassConfig { ack: Some(6), control: 6, strict: 0b1100_0000, quanta: [1600; 8] },
        paths: Paths::FiveTuple,
        balance: Balance::Ecmp,
        quirks: Quirks::default(),
        seed: 1,
        stop: Time::from_ms(100),
        until_done: true,
        probes: Vec::new(),
        max_samples: u64::MAX,
        reference_mode: false,
        records: fabric::Records::default(),
        spill: fabric::Spill::default(),
    }
}

/// What the tests add to a setup.
pub trait Build {
    /// A host; its node.
    fn host(&mut self) -> u32;
    /// A switch of a tier; its node.
    fn switch(&mut self, tier: u8) -> u32;
    /// A cable.
    fn cable(&mut self, a: u32, b: u32, rate: Rate, delay: Time);
    /// A message of its own QP in class 3; its number.
    fn message(&mut self, src: u32, dst: u32, size: u64, start: Time) -> usize;
}

impl Build for Setup {
    fn host(&mut self) -> u32 {
        self.nodes.push(Node { kind: NodeKind::Host, tier: 0, buffer: None });
        self.nodes.len() as u32 - 1
    }
    fn switch(&mut self, tier: u8) -> u32 {
        self.nodes.push(Node { kind: NodeKind::Switch, tier, buffer: None });
        self.nodes.len() as u32 - 1
    }
    fn cable(&mut self, a: u32, b: u32, rate: Rate, delay: Time) {
        self.links.push(Link {
            a: NodeId::new(a),
            b: NodeId::new(b),
            rate,
            delay,
            pfc: true,
            error_rate: 0.0,
        });
    }
    fn message(&mut self, src: u32, dst: u32, size: u64, start: Time) -> usize {
        let qp = self.messages.len() as u32;
        self.messages.push(Message {
            src: NodeId::new(src),
            dst: NodeId::new(dst),
            size: Bytes::new(size),
            start,
            after: None,
            priority: 3,
            side: MixSide::First,
            tag: 0,
            qp,
            udp_ports: (0, 0),
        });
        qp as usize
    }
}

/// 100 Gb/s: 80 ps per byte.
pub const G100: Rate = Rate::from_gbps(100);
/// A microsecond.
pub const US: Time = Time::from_us(1);

/// Hosts 0 to n-1 around switch n, whose port i leads to host i.
pub fn star(hosts: u32, rate: Rate, delay: Time) -> Setup {
    let mut setup = empty();
    for _ in 0..hosts {
        setup.host();
    }
    let switch = setup.switch(1);
    for host in 0..hosts {
        setup.cable(host, switch, rate, delay);
    }
    setup
}

/// Host 0, switches 2 to n+1 in a row, host 1. Port 0 of a switch looks towards host 0.
pub fn line(switches: u32, rate: Rate, delay: Time) -> Setup {
    let mut setup = empty();
    let (a, b) = (setup.host(), setup.host());
    let mut before = a;
    for _ in 0..switches {
        let switch = setup.switch(1);
        setup.cable(before, switch, rate, delay);
        before = switch;
    }
    setup.cable(before, b, rate, delay);
    setup
}

/// Picoseconds of a byte at 100 Gb/s.
pub const BYTE: u64 = 80;
/// Picoseconds of a cable of 1 us.
pub const WIRE: u64 = 1_000_000;

/// Picoseconds from the start of a packet of `bytes` at a host to its arrival over `links` cables,
/// each of 100 Gb/s and 1 us.
pub const fn one_way(bytes: u64, links: u64) -> u64 {
    links * (bytes * BYTE + WIRE)
}

/// Picoseconds that an ACK takes over such cables.
pub const fn ack_back(links: u64) -> u64 {
    one_way(ACK, links)
}

/// FCT of a message of `packets` full packets alone on a line of `links` such cables. The packets
/// follow one another back to back. The first is longer, and all others wait for it on every link.
pub const fn alone(packets: u64, links: u64) -> u64 {
    (links * FIRST + (packets - 1) * FULL) * BYTE + links * WIRE + ack_back(links)
}

/// Builds and runs.
pub fn run<S: Scheme>(setup: &Setup, params: S::Params, threads: usize) -> RunOutput {
    Simulation::<S>::new(setup, params)
        .expect("paths fit")
        .run(threads, &|_| true)
        .expect("threads start")
}

/// The counters of a port.
pub fn port(output: &RunOutput, node: u32, port: u16) -> PortCounters {
    let found = output.ports.iter().find(|p| p.node.get() == node && p.port.get() == port);
    found.expect("there is such a port").counters
}

/// Time of a flow in ps.
pub fn fct(output: &RunOutput, flow: usize) -> u64 {
    let fct = output.flows[flow].fct;
    assert!(fct != Time::NEVER, "flow {flow} did not finish");
    fct.ps()
}

/// All that must be equal in runs that are the same.
pub fn essence(output: &RunOutput) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        output.flows.clone(),
        output.ports.iter().map(|port| port.counters).collect::<Vec<_>>(),
        output.audits.clone(),
        output.drops.clone(),
        output.outcome.end,
    )
}

/// What must hold of every run: what came into a switch went out, was removed or is there; pauses
/// and resumes alternate.
pub fn balances(output: &RunOutput) -> Result<(), String> {
    for (switch, audit) in output.audits.iter().enumerate() {
        if audit.arrived != audit.departed + audit.removed + audit.stored {
            return Err(format!("switch {switch} does not balance: {audit:?}"));
        }
        if audit.unmatched_pfc != 0 {
            return Err(format!("switch {switch} got pauses twice: {audit:?}"));
        }
    }
    Ok(())
}

/// What must hold of a lossless run that ends with its flows.
pub fn lossless(setup: &Setup, output: &RunOutput) -> Result<(), String> {
    balances(output)?;
    if let Some(drop) = output.drops.first() {
        return Err(format!("{} lossless drops, the first {drop:?}", output.lossless_drops));
    }
    if output.lossless_drops != 0 || output.audits.iter().any(|audit| audit.removed != 0) {
        return Err("drops that are not listed".to_owned());
    }
    for (flow, (outcome, &ideal)) in output.flows.iter().zip(&output.ideal).enumerate() {
        if outcome.fct == Time::NEVER {
            return Err(format!("flow {flow} did not finish: {:?}", setup.messages[flow]));
        }
        if outcome.fct < ideal {
            return Err(format!("flow {flow} took {}, less than {ideal} alone", outcome.fct));
        }
        if outcome.retransmitted_bytes != 0 {
            return Err(format!("flow {flow} sent {} B again", outcome.retransmitted_bytes));
        }
    }
    let payload = u64::from(setup.payload);
    let packets: u64 = setup.messages.iter().map(|m| m.size.get().div_ceil(payload)).sum();
    let mut sent = 0;
    for port in &output.ports {
        if port.counters.dropped_packets != 0 {
            return Err(format!("{port:?} dropped"));
        }
        if port.counters.max_queue_bytes > setup.switch.buffer.get() {
            return Err(format!("{port:?} queued more than the buffer"));
        }
        if setup.nodes[port.node.index()].kind == NodeKind::Host {
            sent += port.counters.tx_data_packets;
        }
    }
    if sent != packets {
        return Err(format!("hosts sent {sent} data packets, messages have {packets}"));
    }
    Ok(())
}

/// Pause frames sent by all ports.
pub fn pauses(output: &RunOutput) -> u64 {
    output.ports.iter().map(|port| port.counters.pause_frames_sent).sum()
}

/// A small generator (SplitMix64) for the details of a random case.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(splitmix::STEP);
        splitmix::mix(self.0)
    }
    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.word() % (high - low + 1)
    }
    pub fn one_in(&mut self, n: u64) -> bool {
        self.word().is_multiple_of(n)
    }
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.word() % list.len() as u64) as usize]
    }
    /// Without preference among permutations.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.between(0, last as u64) as usize);
        }
    }
}
