//! What is asked of a network before it is run.

use crate::network::graph::LinkEnd;
use crate::packet::Scheme;
use crate::simulation::Simulation;
use units::{Bytes, NodeId, PortId, Rate, Time, cancel};

/// What a message has before it, with all links up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedPath {
    /// Switches that its data passes.
    pub switches: u32,
    /// The lowest rate on its way.
    pub bottleneck: Rate,
    /// A full packet there and an ACK back.
    pub base_rtt: Time,
    /// What it would take alone, as plain RoCE.
    pub ideal: Time,
}

/// What messages ask of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLoad {
    /// Whose it is.
    pub node: NodeId,
    /// Its number.
    pub port: PortId,
    /// The node at the other end.
    pub peer: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// Messages whose data leaves through it.
    pub messages: u32,
    /// Their data, as it is on the wire.
    pub data_bytes: u64,
    /// ACKs that leave through it, as they are on the wire.
    pub ack_bytes: u64,
}

impl PortLoad {
    /// How long the port takes to send all that.
    pub fn busy_time(&self) -> Time {
        self.rate.time_for(Bytes::new(self.data_bytes + self.ack_bytes))
    }
}

/// What the messages of a setup ask of its network, where each arrives whole and nothing is sent twice,
/// by the paths that ECMP (or the trees) gives them as long as no link fails. A scheme that chooses paths
/// itself may take others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// By message.
    pub paths: Vec<PlannedPath>,
    /// By node, then port.
    pub ports: Vec<PortLoad>,
}

impl<S: Scheme> Simulation<S> {
    /// What its messages ask of it.
    pub fn plan(&self) -> Plan {
        let (common, graph) = (&*self.common, &self.common.graph);
        let mut first_port = Vec::with_capacity(graph.nodes());
        let mut ports = Vec::new();
        for node in 0..graph.nodes() as u32 {
            first_port.push(ports.len());
            ports.extend(graph.ports(node).iter().enumerate().map(|(port, end)| PortLoad {
                node: NodeId::new(node),
                port: PortId::new(port as u16),
                peer: NodeId::new(end.peer),
                rate: end.rate,
                messages: 0,
                data_bytes: 0,
                ack_bytes: 0,
            }));
        }
        // The place of the port before a link, as told by the link's far end.
        let place = |end: &LinkEnd| {
            let here = graph.ports(end.peer)[end.peer_port as usize];
            first_port[here.peer as usize] + here.peer_port as usize
        };
        let ideals = common.ideal_fcts();
        let payload = u64::from(common.wire.payload);
        let mut path = Vec::new();
        let paths = common.flows.iter().zip(ideals).map(|(flow, ideal)| {
            cancel::check();
            let packets = flow.size.div_ceil(payload);
            let last = flow.size - (packets - 1) * payload;
            let size =
                |payload: u64, first| u64::from(common.wire.data_size(payload as u32, first));
            let data = match packets {
                1 => size(last, true),
                more => size(payload, true) + (more - 2) * size(payload, false) + size(last, false),
            };
            let acks = packets.div_ceil(u64::from(common.host.ack_every));
            let back = (flow.dst, flow.src);
            common.path(back, common.hash(flow, true), 0, &mut path);
            for end in &path {
                ports[place(end)].ack_bytes += acks * u64::from(common.wire.ack_size);
            }
            let there = (flow.src, flow.dst);
            common.path(there, common.hash(flow, false), 0, &mut path);
            for end in &path {
                let port = &mut ports[place(end)];
                port.messages += 1;
                port.data_bytes += data;
            }
            PlannedPath {
                switches: (path.len() - 1) as u32,
                bottleneck: path.iter().map(|end| end.rate).min().unwrap_or(Rate::ZERO),
                base_rtt: common.round_trip(&path),
                ideal,
            }
        });
        Plan { paths: paths.collect(), ports }
    }
}
