//! What comes out of a run.

use crate::build::NodeDevice;
use crate::context::RunContext;
use crate::host::FlowOutcome;
use crate::host::unfinished::Unfinished;
use crate::observe::recorder::{PacketEvent, PfcEvent, QueueBlock};
use crate::observe::samples::Samples;
use crate::observe::spill::{Gathered, Sequence, SpillError};
use crate::packet::Scheme;
use crate::port::Port;
use crate::switch::chassis::{Chassis, LosslessDrop, SwitchAudit};
use engine::Outcome;
use std::collections::BTreeMap;
use units::{Bytes, NodeId, PortId, Rate, Time};

/// A port at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct PortReport {
    /// Whose it is.
    pub node: NodeId,
    /// Its number.
    pub port: PortId,
    /// The node at the other end.
    pub peer: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// What it counted.
    pub counters: crate::port::PortCounters,
}

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct RunOutput {
    /// By message.
    pub flows: Vec<FlowOutcome>,
    /// The messages that were not finished, by number, and why.
    pub unfinished: Vec<(u32, Unfinished)>,
    /// The nodes of a circle of links that PFC pauses for ever, in its order, and since when all are paused.
    pub deadlock: Option<(Vec<NodeId>, Time)>,
    /// What each message would have taken alone.
    pub ideal: Vec<Time>,
    /// By node, then port.
    pub ports: Vec<PortReport>,
    /// What the probes saw.
    pub samples: Samples,
    /// PFC frames that arrived, by time and node.
    pub pfc_events: Sequence<PfcEvent>,
    /// What happened to packets, by time and node.
    pub packet_events: Sequence<PacketEvent>,
    /// Lengths of queues, by time and node.
    pub queue_blocks: Sequence<QueueBlock>,
    /// Why samples and events end before the run does, where they found no room on disk.
    pub spill_error: Option<SpillError>,
    /// Drops in lossless classes: the first of each switch, by time.
    pub drops: Vec<LosslessDrop>,
    /// All of them.
    pub lossless_drops: u64,
    /// Data packets that reached their receiver ahead of others of their QP.
    pub out_of_order: u64,
    /// Bytes in and out of each switch.
    pub audits: Vec<SwitchAudit>,
    /// What the scheme counted, summed over hosts and switches, by name.
    pub counters: BTreeMap<&'static str, u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The largest base round trip of any pair of hosts.
    pub network_rtt: Time,
    /// The largest base round trip times lowest rate of any pair, where paths are shortest.
    pub network_bdp: Option<Bytes>,
}

impl RunOutput {
    /// Takes what a switch leaves.
    fn add_switch<S: Scheme>(
        &mut self,
        chassis: Chassis<S>,
        audit: SwitchAudit,
        report: impl Fn(usize, &Port) -> PortReport,
    ) {
        for (name, count) in chassis.counters() {
            *self.counters.entry(name).or_default() += count;
        }
        let Chassis { ports, mut drops_listed, .. } = chassis;
        self.ports.extend(ports.iter().enumerate().map(|(port, this)| report(port, this)));
        self.drops.append(&mut drops_listed);
        self.lossless_drops += audit.lossless_drops;
        self.audits.push(audit);
    }
}

/// Takes what the nodes of a run have counted and recorded.
pub(crate) fn collect<S: Scheme>(
    common: &RunContext<S>,
    devices: Vec<NodeDevice<S>>,
    outcome: Outcome,
    gathered: Gathered,
) -> RunOutput {
    let Gathered { pfc, packets, queues, samples, failure } = gathered;
    let mut output = RunOutput {
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
        audits: Vec::new(),
        counters: BTreeMap::new(),
        outcome,
        network_rtt: common.routes.network_rtt,
        network_bdp: common.routes.network_bdp,
    };
    for (node, device) in devices.into_iter().enumerate() {
        let ends = common.graph.ports(node as u32);
        let report = |port: usize, this: &Port| PortReport {
            node: NodeId::new(node as u32),
            port: PortId::new(port as u16),
            peer: NodeId::new(ends[port].peer),
            rate: ends[port].rate,
            counters: this.final_counters(outcome.end),
        };
        match device {
            NodeDevice::Host(host) => {
                let nics = host.nics.iter().enumerate();
                output.ports.extend(nics.map(|(port, nic)| report(port, &nic.port)));
                for (place, &flow) in host.outgoing().iter().enumerate() {
                    output.flows[flow as usize] = host.outcomes[place];
                }
                output.out_of_order += host.out_of_order;
                for (name, count) in host.counters() {
                    *output.counters.entry(name).or_default() += count;
                }
            }
            NodeDevice::Switch(switch) => {
                let audit = switch.final_audit();
                output.add_switch(switch.chassis, audit, report);
            }
            NodeDevice::Cioq(switch) => {
                let audit = switch.final_audit();
                output.add_switch(switch.chassis, audit, report);
            }
        }
    }
    output.drops.sort_by_key(|drop| (drop.time, drop.node, drop.port));
    output
}
