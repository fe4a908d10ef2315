//! The results of a run.

use crate::build::NodeDevice;
use crate::context::{NetworkContext, RunContext};
use crate::forwarding::Router;
use crate::host::{FlowOutcome, Host, Timeouts};
use crate::network::graph::LinkEnd;
use crate::observe::lossless_drops::{LosslessDrop, LosslessDrops};
use crate::observe::recorder::{PacketEvent, PfcEvent, QueueBlock};
use crate::observe::samples::Samples;
use crate::observe::sequence::Sequence;
use crate::observe::spill::{Gathered, SpillError};
use crate::packet::Scheme;
use crate::port::Port;
use crate::port::pause_clock::PauseClock;
use crate::switch::chassis::{Chassis, SwitchAudit};
use engine::Outcome;
use model::{Cause, FlowRecovery};
use schemes::contract::add_counter;
use std::collections::BTreeMap;
use units::{Bytes, NodeId, PortId, Rate, Time};

/// A port, with its counters at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct PortReport {
    /// The node of the port.
    pub node: NodeId,
    /// The number of the port at its node.
    pub port: PortId,
    /// The node at the other end.
    pub peer: NodeId,
    /// The rate of the port.
    pub rate: Rate,
    /// Its counters.
    pub counters: crate::port::PortCounters,
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct RunOutput {
    /// The outcome of each message.
    pub flows: Vec<FlowOutcome>,
    /// The messages that were not finished, and why.
    pub unfinished: Vec<(u32, Cause)>,
    /// A deadlock: the nodes of a circle of paused links, in the order of the circle, and the time
    /// since which all of them are paused.
    pub deadlock: Option<(Vec<NodeId>, Time)>,
    /// The ideal completion time of each message.
    pub ideal: Vec<Time>,
    /// All ports, by node and then port.
    pub ports: Vec<PortReport>,
    /// The samples of the probes.
    pub samples: Samples,
    /// PFC frames that arrived, by time and node.
    pub pfc_events: Sequence<PfcEvent>,
    /// Events of packets, by time and node.
    pub packet_events: Sequence<PacketEvent>,
    /// Histograms of queue lengths, by time and node.
    pub queue_blocks: Sequence<QueueBlock>,
    /// Why samples and events end before the run does, if they could not be written.
    pub spill_error: Option<SpillError>,
    /// Drops in lossless classes: the first of each switch, by time.
    pub drops: Vec<LosslessDrop>,
    /// The number of all drops in lossless classes.
    pub lossless_drops: u64,
    /// Data packets that reached their receiver ahead of others of their QP.
    pub out_of_order: u64,
    /// What messages met of reordering and losses, by message; without those that met nothing.
    pub recovery: Vec<(u32, FlowRecovery)>,
    /// How often switches moved each message to another path. `None` if they remember no paths of
    /// flows.
    pub path_changes: Option<Vec<u32>>,
    /// Bytes into and out of each switch.
    pub audits: Vec<SwitchAudit>,
    /// Counters of the scheme, of load balancing and of pauses by name, put together over all nodes
    /// by [`add_counter`].
    pub counters: BTreeMap<&'static str, u64>,
    /// How the run ended.
    pub outcome: Outcome,
    /// The largest base round trip of any pair of hosts.
    pub network_rtt: Time,
    /// The largest product of base round trip and lowest rate of any pair, if paths are shortest.
    pub network_bdp: Option<Bytes>,
}

impl RunOutput {
    /// Returns the results of a run to which the nodes have added nothing yet.
    pub(crate) fn new(common: &NetworkContext, outcome: Outcome, gathered: Gathered) -> RunOutput {
        let Gathered { pfc, packets, queues, samples, failure } = gathered;
        RunOutput {
            flows: vec![FlowOutcome::NONE; common.flows.len()],
            unfinished: Vec::new(),
            deadlock: None,
            ideal: common.ideal_fcts(),
            ports: Vec::new(),
            samples,
            pfc_events: pfc,
            packet_events: packets,
            queue_blocks: queues,
            spill_error: failure,
            drops: Vec::new(),
            lossless_drops: 0,
            out_of_order: 0,
            recovery: Vec::new(),
            path_changes: common.moves_flows.then(|| vec![0; common.flows.len()]),
            audits: Vec::new(),
            counters: BTreeMap::new(),
            outcome,
            network_rtt: common.routes.network_rtt,
            network_bdp: common.routes.network_bdp,
        }
    }

    /// Adds what the nodes of a run have counted and recorded.
    pub(crate) fn add_devices<S: Scheme>(
        &mut self,
        common: &RunContext<S>,
        devices: Vec<NodeDevice<S>>,
    ) {
        self.recovery = recovery(common, &devices);
        for (node, mut device) in devices.into_iter().enumerate() {
            let ends = common.graph.ports(node as u32);
            match &mut device {
                NodeDevice::Host(host) => {
                    for (port, nic) in host.nics.iter().enumerate() {
                        self.add_port(node, port, &ends[port], &nic.port);
                    }
                    for (slot, &flow) in host.outgoing().iter().enumerate() {
                        self.flows[flow as usize] = host.outcomes[slot];
                    }
                    self.out_of_order += host.out_of_order;
                    self.add_counters(host.counters(), host.pause_clock.as_deref());
                    if let Some(buffer) = &mut host.receive_buffer {
                        self.add_drops(&mut buffer.lossless_drops);
                    }
                }
                NodeDevice::Switch(switch) => {
                    let audit = switch.final_audit();
                    self.add_switch(node, ends, &mut switch.chassis, audit);
                }
                NodeDevice::Cioq(switch) => {
                    let audit = switch.final_audit();
                    self.add_switch(node, ends, &mut switch.chassis, audit);
                }
            }
        }
        self.sort_drops();
    }

    // Not generic: the code of a sort is large, and there would be one for each scheme.
    fn sort_drops(&mut self) {
        self.drops.sort_by_key(|drop| (drop.time, drop.node, drop.port));
    }

    /// Adds the results of a switch.
    fn add_switch<S: Scheme>(
        &mut self,
        node: usize,
        ends: &[LinkEnd],
        chassis: &mut Chassis<S>,
        audit: SwitchAudit,
    ) {
        self.add_counters(chassis.counters(), chassis.pause_clock.as_deref());
        self.add_moves(&chassis.router);
        for (port, this) in chassis.ports.iter().enumerate() {
            self.add_port(node, port, &ends[port], this);
        }
        self.add_drops(&mut chassis.lossless_drops);
        self.audits.push(audit);
    }

    fn add_port(&mut self, node: usize, port: usize, end: &LinkEnd, this: &Port) {
        self.ports.push(PortReport {
            node: NodeId::new(node as u32),
            port: PortId::new(port as u16),
            peer: NodeId::new(end.peer),
            rate: end.rate,
            counters: this.final_counters(self.outcome.end),
        });
    }

    /// Adds the lossless drops of a node, and leaves none there.
    fn add_drops(&mut self, drops: &mut LosslessDrops) {
        self.lossless_drops += drops.count;
        self.drops.append(&mut drops.listed);
    }

    /// Adds what a node counted.
    fn add_counters(&mut self, counters: Vec<(&'static str, u64)>, pauses: Option<&PauseClock>) {
        let of_pauses = pauses.into_iter().flat_map(PauseClock::counters);
        for (name, count) in counters.into_iter().chain(of_pauses) {
            add_counter(self.counters.entry(name).or_default(), name, count);
        }
    }

    fn add_moves(&mut self, router: &Router) {
        if let Some(changes) = &mut self.path_changes {
            for moves in router.moved() {
                changes[moves.message as usize] += moves.times;
            }
        }
    }
}

/// What messages met of reordering and losses.
fn recovery<S: Scheme>(
    common: &RunContext<S>,
    devices: &[NodeDevice<S>],
) -> Vec<(u32, FlowRecovery)> {
    let host = |host: u32| -> &Host<S> {
        match &devices[common.graph.hosts[host as usize] as usize] {
            NodeDevice::Host(host) => host,
            NodeDevice::Switch(_) | NodeDevice::Cioq(_) => unreachable!("it is a host"),
        }
    };
    if (0..common.graph.hosts.len() as u32).map(host).all(Host::met_nothing) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (flow, row) in (0..).zip(&common.flows) {
        let at_receiver = host(row.dst).recovery_of(row.index_at_receiver);
        let Timeouts { count: timeouts, bytes: timeout_bytes } =
            host(row.src).timeouts.get(&flow).copied().unwrap_or_default();
        let at_receiver = at_receiver.copied().unwrap_or_default();
        let recovery = FlowRecovery { timeouts, timeout_bytes, ..at_receiver };
        if !recovery.is_empty() {
            found.push((flow, recovery));
        }
    }
    found
}
