//! The ports that messages pass.

use crate::context::NetworkContext;
use crate::packet::Scheme;
use crate::simulation::Simulation;
use units::{FlowId, NodeId, PortId, cancel};

/// A port that the data of a message leaves through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The message.
    pub flow: FlowId,
    /// The node of the port.
    pub node: NodeId,
    /// The number of the port at its node.
    pub port: PortId,
}

impl<S: Scheme> Simulation<S> {
    /// Returns the ports on the paths of all messages, by message and then from the sender on.
    /// Paths are those of ECMP or of the spanning trees, also where packets are spread over more.
    pub fn hops(&self) -> Vec<Hop> {
        self.common.hops()
    }
}

impl NetworkContext {
    fn hops(&self) -> Vec<Hop> {
        let mut hops = Vec::new();
        let mut path = Vec::new();
        for (flow, row) in self.flows.iter().enumerate() {
            cancel::check();
            self.path((row.src, row.dst), self.data_hash(row), 0, &mut path);
            hops.extend(path.iter().map(|end| {
                let here = &self.graph.ports(end.peer)[end.peer_port as usize];
                Hop {
                    flow: FlowId::new(flow as u32),
                    node: NodeId::new(here.peer),
                    port: PortId::new(here.peer_port),
                }
            }));
        }
        hops
    }
}
