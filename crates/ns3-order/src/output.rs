//! What a run leaves behind.

use crate::Options;
use crate::event_list::NONE;
use crate::network::{self, Node, Port};
use crate::routes::{self, NeighbourOrder};
use crate::settings::Settings;
use crate::simulation::Simulation;
use crate::trace::{Trace, TraceRecords};
use crate::walk_order::WalkOrder;
use fabric::{Cause, FlowOutcome, PfcEvent, PortCounters, QueueBlock};
use hpcc_files::Experiment;
use hpcc_files::fct::FctRow;
use hpcc_files::packet_trace::{Header, PortRate};
use std::io;
use units::{NodeId, PortId, Rate, Time};

/// Maximum number of drops that are listed.
const MAX_DROPS: usize = 1000;
/// Time between two blocks of queue lengths, in nanoseconds.
const BLOCK_INTERVAL: u64 = 100_000_000;
/// Time between two samples.
const SAMPLE_INTERVAL: u64 = 100;

/// A packet that found no room in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedPacket {
    /// When.
    pub time: Time,
    /// At which switch.
    pub node: NodeId,
    /// Through which port it came in, counted from 0.
    pub port: u16,
    /// Its class.
    pub priority: u8,
    /// Its flow.
    pub flow: u32,
    /// Bytes on the wire.
    pub size: u16,
}

/// A port and its counters at the end.
#[derive(Clone, Copy, Debug)]
pub struct PortOutput {
    /// The node.
    pub node: NodeId,
    /// Its number there, counted from 0.
    pub port: u16,
    /// The node at the other end.
    pub peer: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// Its counters.
    pub counters: PortCounters,
}

/// What a run leaves behind.
#[derive(Debug)]
pub struct Output {
    /// By flow.
    pub flows: Vec<FlowOutcome>,
    /// By flow: the completion time of the flow alone, by that simulator's formula.
    pub ideal: Vec<Time>,
    /// The flows that finished, in that order.
    pub fct: Vec<FctRow>,
    /// Why the others did not.
    pub unfinished: Vec<(u32, Cause)>,
    /// How many of those that count as [`Cause::Lost`] lost nothing: their data arrived, and
    /// `L2_ACK_INTERVAL` keeps the receiver from acknowledging it.
    pub unacknowledged: u64,
    /// By node, then port.
    pub ports: Vec<PortOutput>,
    /// PFC frames that arrived, in that order.
    pub pfc: Vec<PfcEvent>,
    /// Queue lengths.
    pub queues: Vec<QueueBlock>,
    /// The packet trace.
    pub trace: TraceRecords,
    /// What its file begins with.
    pub trace_header: Header,
    /// When and why it ends, if it ends before the run does.
    pub trace_failure: Option<(Time, io::Error)>,
    /// Drops in switches: the first ones.
    pub drops: Vec<DroppedPacket>,
    /// Data packets that reached their receiver ahead of others of their flow.
    pub out_of_order: u64,
    /// Events of one node and nanosecond that are in the order of their numbers alone: they were
    /// scheduled at the same time, by events that were scheduled at the same time.
    pub unordered: u64,
    /// The largest base round trip of any two hosts.
    pub max_rtt: Time,
    /// The largest BDP of any two hosts, in bytes.
    pub max_bdp: u64,
    /// Simulated time at the end.
    pub end: Time,
    /// The caller ended the run.
    pub cancelled: bool,
}

/// What is collected during a run.
pub(crate) struct Collected<'a> {
    pub(crate) delivered: u64,
    pub(crate) out_of_order: u64,
    pub(crate) unordered: u64,
    pub(crate) posted: Vec<u64>,
    pub(crate) fct: Vec<FctRow>,
    /// By flow: its row.
    rows: Vec<u32>,
    pub(crate) pfc: Vec<PfcEvent>,
    queues: Vec<QueueBlock>,
    pub(crate) trace: Trace<'a>,
    drops: Vec<DroppedPacket>,
}

impl<'a> Collected<'a> {
    pub(crate) fn new(options: &Options<'a>, flows: usize) -> Collected<'a> {
        Collected {
            delivered: 0,
            out_of_order: 0,
            unordered: 0,
            posted: vec![u64::MAX; flows],
            fct: Vec::new(),
            rows: vec![NONE; flows],
            pfc: Vec::new(),
            queues: Vec::new(),
            trace: Trace::new(options.new_file, options.max_held_bytes),
            drops: Vec::new(),
        }
    }

    pub(crate) fn finish(&mut self, flow: u32, row: FctRow) {
        self.rows[flow as usize] = self.fct.len() as u32;
        self.fct.push(row);
    }

    pub(crate) fn note_drop(&mut self, port: &Port, now: u64, priority: u8, flow: u32, size: u16) {
        if self.drops.len() < MAX_DROPS {
            self.drops.push(DroppedPacket {
                time: Time::from_ns(now),
                node: NodeId::new(port.node),
                port: port.number - 1,
                priority,
                flow,
                size,
            });
        }
    }
}

impl Simulation<'_> {
    /// Takes a sample of all queues, and perhaps writes a block.
    pub(crate) fn sample_queues(&mut self) {
        self.samples += 1;
        let now = self.events.now();
        if now.is_multiple_of(BLOCK_INTERVAL) {
            self.add_block(now);
        }
        if now < self.settings.monitor_end {
            self.events.schedule(SAMPLE_INTERVAL, crate::event_list::Kind::Monitor, 0, 0);
        }
    }

    fn add_block(&mut self, now: u64) {
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.is_switch) {
            for &port in &node.ports {
                let port = &mut self.ports[port as usize];
                port.samples.count(self.samples);
                self.output.queues.push(QueueBlock {
                    time: Time::from_ns(now),
                    node: NodeId::new(number as u32),
                    port: PortId::new(port.number - 1),
                    counts: port.samples.histogram.clone(),
                });
            }
        }
    }

    pub(crate) fn finish(mut self, cancelled: bool) -> Output {
        let now = self.events.now();
        for port in self.ports.iter_mut().filter(|port| port.paused != 0) {
            port.counters.paused += Time::from_ns(now - port.paused_since);
        }
        let trace_header = self.trace_header();
        let unfinished = self.unfinished();
        let lost = unfinished.iter().filter(|(_, why)| *why == Cause::Lost);
        let unacknowledged = lost.filter(|(flow, _)| self.is_unacknowledged(*flow)).count() as u64;
        // A flow that did not finish has the formula's time over the links that are up.
        let ideal = (0..self.flows.len()).map(|index| match self.output.rows[index] {
            NONE => Time::from_ns(self.ideal_fct(index as u32)),
            row => self.output.fct[row as usize].ideal_fct,
        });
        let ideal = ideal.collect();
        let Collected { posted, fct, rows, pfc, queues, mut trace, drops, .. } = self.output;
        let (out_of_order, unordered) = (self.output.out_of_order, self.output.unordered);
        let time = |ns: u64| if ns == u64::MAX { Time::NEVER } else { Time::from_ns(ns) };
        let outcomes = posted.iter().zip(&rows).zip(&self.qps);
        let trace_failure = trace.failure.take();
        Output {
            flows: outcomes
                .map(|((&posted, &row), qp)| FlowOutcome {
                    posted: time(posted),
                    fct: fct.get(row as usize).map_or(Time::NEVER, |row| row.fct),
                    retransmitted_bytes: qp.resent,
                })
                .collect(),
            ideal,
            fct,
            unfinished,
            unacknowledged,
            ports: self
                .nodes
                .iter()
                .flat_map(|node| &node.ports)
                .map(|&port| {
                    let port = &self.ports[port as usize];
                    PortOutput {
                        node: NodeId::new(port.node),
                        port: port.number - 1,
                        peer: NodeId::new(self.ports[port.peer as usize].node),
                        rate: Rate::from_bps(port.rate),
                        counters: port.counters,
                    }
                })
                .collect(),
            pfc,
            queues,
            trace: trace.finish(),
            trace_header,
            trace_failure,
            drops,
            out_of_order,
            unordered,
            max_rtt: Time::from_ns(self.routes.max_rtt),
            max_bdp: self.routes.max_bdp,
            end: Time::from_ns(now),
            cancelled,
        }
    }

    /// Returns the time of a flow alone in the network. With more than 2.3 GB on the wire the
    /// product wraps around 64 bits, as in that simulator.
    pub(crate) fn ideal_fct(&self, index: u32) -> u64 {
        let flow = &self.flows[index as usize];
        let wire = flow.size + flow.size.div_ceil(self.settings.payload) * 48;
        let bits = u64::from(wire as u32).wrapping_mul(8_000_000_000);
        flow.base_rtt + bits / flow.bottleneck.max(1)
    }

    fn trace_header(&self) -> Header {
        let ports = table(&self.nodes, &self.ports);
        Header { ports, window: self.routes.max_bdp as u32 }
    }
}

/// The table of ports that a packet trace begins with.
pub fn port_table(experiment: &Experiment) -> Vec<PortRate> {
    let (nodes, ports) = network::build(experiment, &Settings::new(&experiment.config));
    table(&nodes, &ports)
}

/// The ports in the order of that simulator's tables. Nodes without a link are not in them, and of
/// several links between two nodes the last one is.
fn table(nodes: &[Node], ports: &[Port]) -> Vec<PortRate> {
    let mut linked = WalkOrder::new();
    let hosts = (0..nodes.len()).filter(|&node| !nodes[node].is_switch);
    let switches = (0..nodes.len()).rev().filter(|&node| nodes[node].is_switch);
    for node in hosts.chain(switches).filter(|&node| !nodes[node].ports.is_empty()) {
        linked.insert(node as u64, node);
    }
    let mut rates = Vec::new();
    for node in linked.values() {
        let mut used = WalkOrder::new();
        for (_, port) in routes::neighbours(node, nodes, ports, NeighbourOrder::HostsFirst) {
            used.insert(u64::from(ports[port as usize].number), port);
        }
        for port in used.values() {
            let port = &ports[port as usize];
            rates.push(PortRate {
                node: port.node as u16,
                port: port.number as u8,
                rate: Rate::from_bps(port.rate),
            });
        }
    }
    rates
}
