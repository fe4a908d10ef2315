//! Which probes each node has.

use crate::context::NetworkContext;
use crate::network::setup::Setup;
use crate::observe::probe::{ProbeClock, at_first_switch, is_counted_at_receiver};
use model::ProbeTargets;
use std::collections::BTreeMap;

/// Probes by node: what they sample, and the targets with their index in the probe's list.
pub(super) type ByNode = BTreeMap<u32, Vec<(ProbeClock, Vec<(u32, u32)>)>>;

/// Returns the probes of ports and those of flows.
pub(super) fn probes_by_node(setup: &Setup, common: &NetworkContext) -> (ByNode, ByNode) {
    let (mut ports, mut flows) = (ByNode::new(), ByNode::new());
    for (number, probe) in setup.probes.iter().enumerate() {
        let clock = ProbeClock {
            probe: number as u32,
            kind: probe.kind,
            priority: probe.priority,
            interval: probe.interval,
            end: probe.end,
            next: probe.start,
            instant: 0,
        };
        let mut targets: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        let by_node = match &probe.targets {
            ProbeTargets::Ports(list) => {
                for (target, (node, port)) in list.iter().enumerate() {
                    let entry = targets.entry(node.get()).or_default();
                    entry.push((target as u32, u32::from(port.get())));
                }
                &mut ports
            }
            ProbeTargets::Flows(list) => {
                // What arrives is counted at the receiver, everything else at the sender.
                let at_receiver = is_counted_at_receiver(probe.kind);
                let at_switch = at_first_switch(probe.kind).is_some();
                for (target, flow) in list.iter().enumerate() {
                    let row = &common.flows[flow.index()];
                    let host = if at_receiver { row.dst } else { row.src };
                    let mut node = common.graph.hosts[host as usize];
                    if at_switch {
                        let (ends, hash) = ((row.src, row.dst), common.data_hash(row));
                        let port = common.select_port(node, ends, hash, 0);
                        node = common.graph.ports(node)[port.index()].peer;
                    }
                    targets.entry(node).or_default().push((target as u32, flow.get()));
                }
                if at_switch { &mut ports } else { &mut flows }
            }
        };
        for (node, list) in targets {
            by_node.entry(node).or_default().push((clock, list));
        }
    }
    (ports, flows)
}
