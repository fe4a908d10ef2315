//! What the messages of a run ask of the network, computed without running it.

use crate::network::graph::LinkEnd;
use crate::packet::Scheme;
use crate::simulation::Simulation;
use units::{Bytes, NodeId, PortId, Rate, Time, cancel};

/// The path of a message, with all links up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedPath {
    /// The number of switches on it.
    pub switches: u32,
    /// The lowest rate of its links.
    pub bottleneck: Rate,
    /// The time of a full packet to the receiver and of its ACK back.
    pub base_rtt: Time,
    /// The ideal completion time of the message: alone, as plain RoCE.
    pub ideal: Time,
}

/// What the messages of a run ask of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLoad {
    /// The node of the port.
    pub node: NodeId,
    /// The number of the port at its node.
    pub port: PortId,
    /// The node at the other end.
    pub peer: NodeId,
    /// The rate of the port.
    pub rate: Rate,
    /// The number of messages whose data leaves through it.
    pub messages: u32,
    /// The bytes of their data on the wire.
    pub data_bytes: u64,
    /// The bytes on the wire of ACKs that leave through it.
    pub ack_bytes: u64,
}

impl PortLoad {
    /// The time that the port takes to send all of them.
    pub fn busy_time(&self) -> Time {
        self.rate.time_for(Bytes::new(self.data_bytes + self.ack_bytes))
    }
}

/// What the messages of a setup ask of its network, if all of them arrive and nothing is sent
/// twice. Paths are those of ECMP or of the spanning trees while all links work. A scheme that
/// reroutes may use others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The path of each message.
    pub paths: Vec<PlannedPath>,
    /// All ports, by node and then port.
    pub ports: Vec<PortLoad>,
}

impl<S: Scheme> Simulation<S> {
    /// Computes what the messages ask of the network.
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
        // The index in `ports` of the port at the near end of a link, found by its far end.
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
